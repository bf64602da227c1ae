//! What a run may use.

use serde::{Deserialize, Serialize};

/// Limits of one run, as a policy file's `[limits]` names them (protocol.md §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Wall-clock seconds from release to kill.
    pub wall_s: u64,
    /// CPU seconds (RLIMIT_CPU).
    pub cpu_s: u64,
    /// Mebibytes the snippet may add to the interpreter and its libraries.
    pub memory_mb: u64,
    /// Processes and threads (RLIMIT_NPROC).
    pub processes: u64,
    /// Open descriptors (RLIMIT_NOFILE).
    pub open_files: u64,
    /// Mebibytes of one written file (RLIMIT_FSIZE).
    pub file_size_mb: u64,
    /// Bytes of stdout, and as many again of stderr.
    pub output_bytes: u64,
    /// Files that are collected.
    pub artifacts: u64,
    /// Bytes of one collected file.
    pub artifact_bytes: u64,
    /// Checkpoints before the run ends; 0 for none.
    pub ticks: u64,
    /// Bytes of code; 65,536 is the most the socket takes.
    pub code_bytes: u64,
}

impl Limits {
    /// What a proposal's code may never exceed, whatever a policy says (protocol.md §2).
    pub const CODE_BYTES_MAX: u64 = 64 * 1024;
    /// Inputs one proposal may have: `hello` tells it, and a person has to look at all of them.
    pub const INPUTS_MAX: usize = 32;
    /// Inputs that are read from one request at all. It is more than a proposal may have, so that
    /// what is a little too much is refused by the core, by its rules; this only bounds the reading.
    pub const INPUTS_READ_MAX: usize = 64;
}

// What a run can be handed is bounded once more, by the descriptors of one message
// (`sandbox::protocol`); `executor::run::given` compares the two when it is built.
const _: () = assert!(Limits::INPUTS_MAX <= Limits::INPUTS_READ_MAX);

impl Default for Limits {
    fn default() -> Self {
        Self {
            wall_s: 300,
            cpu_s: 300,
            memory_mb: 1024,
            processes: 64,
            open_files: 64,
            file_size_mb: 64,
            output_bytes: 200_000,
            artifacts: 20,
            artifact_bytes: 20_000_000,
            ticks: 0,
            code_bytes: Self::CODE_BYTES_MAX,
        }
    }
}
