//! What a limit was, in words, beside the error that met it: the person and the agent see the
//! number, not only that there was one.

use crate::model::{LimitKind, Limits};

use super::helper;

const MIB: u64 = 1024 * 1024;

/// Adds to the child's own words what the policy gives. `said` is a claim and stays as it is.
pub fn with_limit(said: &str, limit: LimitKind, limits: &Limits) -> String {
    let given = match limit {
        LimitKind::Memory => format!("{} MB", limits.memory_mb),
        LimitKind::Processes => format!("{} processes and threads", limits.processes.max(1)),
        LimitKind::Files => files(said, limits),
        // Known from outside only, and told there.
        _ => return said.to_owned(),
    };
    format!("{said} (the policy gives {given})")
}

/// Three limits are of files; Python's text begins with the number of the one that was met.
fn files(said: &str, limits: &Limits) -> String {
    let open = format!("{} open files", limits.open_files);
    let size = format!("{} MB for one file", limits.file_size_mb);
    let all = format!("{} MB for all files", helper::scratch_bytes(limits) / MIB);
    let met = |number: i32| said.starts_with(&format!("[Errno {number}]"));
    if met(nix::libc::EMFILE) {
        open
    } else if met(nix::libc::EFBIG) {
        size
    } else if met(nix::libc::ENOSPC) {
        all
    } else {
        format!("{open}, {size} and {all}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_told_with_its_number() {
        let limits = Limits {
            memory_mb: 7,
            processes: 3,
            open_files: 40,
            file_size_mb: 9,
            ..Limits::default()
        };
        for (said, limit, number) in [
            ("no memory", LimitKind::Memory, "gives 7 MB"),
            ("[Errno 11] x", LimitKind::Processes, "3 processes"),
            ("[Errno 24] x", LimitKind::Files, "gives 40 open files)"),
            ("[Errno 27] x", LimitKind::Files, "gives 9 MB for one file)"),
            (
                "[Errno 28] x",
                LimitKind::Files,
                "gives 36 MB for all files)",
            ),
            ("odd", LimitKind::Files, "40 open files, 9 MB"),
        ] {
            let text = with_limit(said, limit, &limits);
            assert!(text.starts_with(said) && text.contains(number), "{text}");
        }
        assert_eq!(with_limit("x", LimitKind::Wall, &limits), "x");
    }
}
