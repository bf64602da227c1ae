//! Messages about the limit that ended a run and how much of it was used: the person and the agent
//! see the numbers beside the error.

use crate::model::{LimitKind, Limits};

use crate::sandbox::helper;
use crate::sandbox::protocol::OutOfMemory;

const MIB: u64 = 1024 * 1024;

/// The memory of a run, read from outside.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// Memory of its largest process in kibibytes, beyond what that had before its release.
    pub kib: u64,
    /// Whether that includes pages of inputs, which the limit does not count.
    pub mapped: bool,
}

/// The limit that the child claims to have reached.
#[derive(Clone, Copy, Debug)]
pub struct Met {
    pub limit: LimitKind,
    /// The errno(3) of the system call: three limits concern files.
    pub errno: Option<i32>,
}

impl Met {
    /// The child's unchanged claim, followed by the policy's numbers. Counted limits fail only when
    /// exhausted.
    pub fn with_numbers(self, message: &str, limits: &Limits, memory: Memory) -> String {
        let given = match self.limit {
            LimitKind::Memory => format!("{} MB{}", limits.memory_mb, memory.reached()),
            LimitKind::Processes => {
                let processes = limits.processes.max(1);
                format!("{processes} processes and threads, all in use")
            }
            LimitKind::Files => self.files(limits),
            // The parent measures and reports these.
            _ => return message.to_owned(),
        };
        format!("{message} (the policy gives {given})")
    }

    fn files(self, limits: &Limits) -> String {
        let open = format!("{} open files", limits.open_files);
        let size = format!("{} MB for one file", limits.file_size_mb);
        let all = format!("{} MB for all files", helper::scratch_bytes(limits) / MIB);
        match self.errno {
            Some(nix::libc::EMFILE) => format!("{open}, all in use"),
            Some(nix::libc::EFBIG) => size,
            Some(nix::libc::ENOSPC) => format!("{all}, all in use"),
            _ => format!("{open}, {size} and {all}"),
        }
    }
}

impl Memory {
    /// The address space is exhausted before the memory is, so less than the limit is normal.
    fn reached(self) -> String {
        let inputs = if self.mapped { ", inputs among it" } else { "" };
        match self.kib / 1024 {
            0 => "; less than 1 MB was in use when more was asked for".to_owned(),
            mib => format!("; at most {mib} MB were in use{inputs}, when more was asked for"),
        }
    }
}

/// The message for a control group that ran out of memory.
pub fn together(met: OutOfMemory, limits: &Limits) -> String {
    let peak = match met.peak / MIB {
        0 => String::new(),
        mib => format!(" at {mib} MB"),
    };
    format!(
        "all processes together reached the memory limit{peak}, and the kernel ended {} (the policy \
         gives {} MB beyond what Python and its libraries take)",
        processes(met.killed),
        limits.memory_mb
    )
}

/// The message for processes other than the first that a limit killed.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_reported_with_its_number() {
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
        use nix::libc::{EAGAIN, EFBIG, EMFILE, ENOSPC};
        for (limit, errno, number) in [
            (LimitKind::Memory, None, "gives 7 MB; at most 5 MB were"),
            (
                LimitKind::Processes,
                Some(EAGAIN),
                "3 processes and threads, all",
            ),
            (
                LimitKind::Files,
                Some(EMFILE),
                "gives 40 open files, all in use)",
            ),
            (LimitKind::Files, Some(EFBIG), "gives 9 MB for one file)"),
            (
                LimitKind::Files,
                Some(ENOSPC),
                "gives 36 MB for all files, all in use)",
            ),
            (LimitKind::Files, None, "40 open files, 9 MB"),
        ] {
            // The text is the snippet's, so a number in it must not select a limit.
            let message = "[Errno 24] x";
            let text = Met { limit, errno }.with_numbers(message, &limits, memory);
            assert!(text.starts_with(message) && text.contains(number), "{text}");
        }
        let met = |limit, memory| Met { limit, errno: None }.with_numbers("x", &limits, memory);
        assert_eq!(met(LimitKind::Wall, memory), "x");
        let little = Memory {
            kib: 1000,
            mapped: true,
        };
        let text = met(LimitKind::Memory, little);
        assert!(text.contains("less than 1 MB"), "{text}");
        let inputs = Memory {
            kib: 9000,
            mapped: true,
        };
        let text = met(LimitKind::Memory, inputs);
        assert!(
            text.contains("at most 8 MB were in use, inputs among it"),
            "{text}"
        );
    }

    #[test]
    fn limits_that_the_parent_measures_are_reported_with_the_amount_used() {
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
        let message = met(600 * MIB, 1);
        assert!(
            message
                .contains("limit at 600 MB, and the kernel ended 1 process (the policy gives 7 MB")
        );
        assert!(met(0, 2).contains("limit, and the kernel ended 2 processes (the policy"));
    }
}
