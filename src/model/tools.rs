//! The tools that agents see.

/// The names of all tools of `countersign mcp`: it offers them, and its hooks let them pass.
pub const TOOLS: [&str; 6] = [
    "run_python",
    "wait_for_run",
    "check_python",
    "list_datasets",
    "proposal_status",
    "read_artifact",
];
