//! What a limit was and what of it was reached, in words, beside the error that met it: the person
//! and the agent see the numbers, not only that there was one.

use crate::model::{LimitKind, Limits};

use crate::sandbox::helper;
use crate::sandbox::protocol::OutOfMemory;

const MIB: u64 = 1024 * 1024;

/// What a run had in memory, read from outside.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// Kibibytes of its largest process, beyond what that had before it was let go.
    pub kib: u64,
    /// Whether that counts pages of inputs, which the limit does not.
    pub mapped: bool,
}

/// Adds to the child's own words what was reached of what the policy gives. `said` is a claim and
/// stays as it is. Of what is counted in pieces all was in use, or there were no error.
pub fn with_limit(said: &str, limit: LimitKind, limits: &Limits, memory: Memory) -> String {
    let given = match limit {
        LimitKind::Memory => format!("{} MB{}", limits.memory_mb, memory.reached()),
        LimitKind::Processes => {
            let processes = limits.processes.max(1);
            format!("{processes} processes and threads, all in use")
        }
        LimitKind::Files => files(said, limits),
        // Known from outside only, and told there.
        _ => return said.to_owned(),
    };
    format!("{said} (the policy gives {given})")
}

impl Memory {
    /// An address space is full before its memory is: less than the limit is the rule.
    fn reached(self) -> String {
        let inputs = if self.mapped { ", inputs among it" } else { "" };
        match self.kib / 1024 {
            0 => "; less than 1 MB was in use when more was asked for".to_owned(),
            mib => format!("; at most {mib} MB were in use{inputs}, when more was asked for"),
        }
    }
}

/// Of a control group that had no memory left.
pub fn together(met: OutOfMemory, limits: &Limits) -> String {
    let had = match met.peak / MIB {
        0 => String::new(),
        mib => format!(" at {mib} MB"),
    };
    format!(
        "all processes together reached the memory limit{had}, and the kernel ended {} (the policy \
         gives {} MB beyond what Python and its libraries take)",
        processes(met.killed),
        limits.memory_mb
    )
}

/// Of processes beside the first one that a limit of their own ended.
pub fn lost(count: u32, given: &str) -> String {
    let processes = processes(u64::from(count));
    format!("a limit ended {processes} of the run (the policy gives each {given})")
}

fn processes(count: u64) -> String {
    match count {
        1 => "1 process".to_owned(),
        more => format!("{more} processes"),
    }
}

/// `used` in microseconds.
pub fn processor_time(used: u64, limits: &Limits) -> String {
    let given = limits.cpu_s;
    let tenths = used.saturating_add(50_000) / 100_000;
    format!(
        "used {}.{} s (the policy gives {given} s of processor time)",
        tenths / 10,
        tenths % 10
    )
}

/// Three limits are of files; Python's text begins with the number of the one that was met.
fn files(said: &str, limits: &Limits) -> String {
    let open = format!("{} open files, all in use", limits.open_files);
    let size = format!("{} MB for one file", limits.file_size_mb);
    let all = format!(
        "{} MB for all files, all in use",
        helper::scratch_bytes(limits) / MIB
    );
    let met = |number: i32| said.starts_with(&format!("[Errno {number}]"));
    if met(nix::libc::EMFILE) {
        open
    } else if met(nix::libc::EFBIG) {
        size
    } else if met(nix::libc::ENOSPC) {
        all
    } else {
        format!(
            "{} open files, {size} and {} MB for all files",
            limits.open_files,
            helper::scratch_bytes(limits) / MIB
        )
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
        let memory = Memory {
            kib: 5 * 1024 + 9,
            mapped: false,
        };
        for (said, limit, number) in [
            (
                "no memory",
                LimitKind::Memory,
                "gives 7 MB; at most 5 MB were",
            ),
            (
                "[Errno 11] x",
                LimitKind::Processes,
                "3 processes and threads, all",
            ),
            (
                "[Errno 24] x",
                LimitKind::Files,
                "gives 40 open files, all in use)",
            ),
            ("[Errno 27] x", LimitKind::Files, "gives 9 MB for one file)"),
            (
                "[Errno 28] x",
                LimitKind::Files,
                "gives 36 MB for all files, all in use)",
            ),
            ("odd", LimitKind::Files, "40 open files, 9 MB"),
        ] {
            let text = with_limit(said, limit, &limits, memory);
            assert!(text.starts_with(said) && text.contains(number), "{text}");
        }
        assert_eq!(with_limit("x", LimitKind::Wall, &limits, memory), "x");
        let little = Memory {
            kib: 1000,
            mapped: true,
        };
        let text = with_limit("x", LimitKind::Memory, &limits, little);
        assert!(text.contains("less than 1 MB"), "{text}");
        let inputs = Memory {
            kib: 9000,
            mapped: true,
        };
        let text = with_limit("x", LimitKind::Memory, &limits, inputs);
        assert!(
            text.contains("at most 8 MB were in use, inputs among it"),
            "{text}"
        );
    }

    #[test]
    fn what_is_known_from_outside_is_told_with_what_was_reached() {
        let limits = Limits {
            memory_mb: 7,
            cpu_s: 2,
            ..Limits::default()
        };
        assert_eq!(
            processor_time(2_340_000, &limits),
            "used 2.3 s (the policy gives 2 s of processor time)"
        );
        assert!(processor_time(1_960_000, &limits).starts_with("used 2.0 s"));
        let met = |peak, killed| together(OutOfMemory { peak, killed }, &limits);
        let said = met(600 * MIB, 1);
        assert!(
            said.contains("limit at 600 MB, and the kernel ended 1 process (the policy gives 7 MB")
        );
        assert!(met(0, 2).contains("limit, and the kernel ended 2 processes (the policy"));
    }
}
