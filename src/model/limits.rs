//! The limits of a run.

use serde::{Deserialize, Serialize};

/// Limits of one run, with the field names of a policy file's `[limits]` (protocol.md §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Wall-clock seconds from release to kill.
    pub wall_s: u64,
    /// CPU seconds (RLIMIT_CPU).
    pub cpu_s: u64,
    /// Mebibytes that the snippet may use in addition to the interpreter and its libraries.
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
    /// Bytes of code, at most [`Self::CODE_BYTES_MAX`].
    pub code_bytes: u64,
}

impl Limits {
    /// Each limit has another number, so that a test notices when one is taken for another.
    #[cfg(test)]
    pub const DISTINCT: Self = Self {
        wall_s: 2,
        cpu_s: 3,
        memory_mb: 5,
        processes: 7,
        open_files: 11,
        file_size_mb: 13,
        output_bytes: 17,
        artifacts: 19,
        artifact_bytes: 23,
        ticks: 29,
        code_bytes: 31,
    };

    /// Every limit by its name in a policy file.
    pub const fn named(&self) -> [(&'static str, u64); 11] {
        [
            ("wall_s", self.wall_s),
            ("cpu_s", self.cpu_s),
            ("memory_mb", self.memory_mb),
            ("processes", self.processes),
            ("open_files", self.open_files),
            ("file_size_mb", self.file_size_mb),
            ("output_bytes", self.output_bytes),
            ("artifacts", self.artifacts),
            ("artifact_bytes", self.artifact_bytes),
            ("ticks", self.ticks),
            ("code_bytes", self.code_bytes),
        ]
    }

    /// Longest code that the socket accepts, whatever a policy says (protocol.md §2).
    pub const CODE_BYTES_MAX: u64 = 64 * 1024;
    /// Most inputs of one proposal. `hello` reports it. Limited because a person must look at all of them.
    pub const INPUTS_MAX: usize = 32;
    /// Most inputs that are read from one request. Higher than [`Self::INPUTS_MAX`], so that the core refuses a
    /// moderate excess by its own rules; this limit only bounds the reading.
    pub const INPUTS_READ_MAX: usize = 64;
}

// A run's inputs are also limited by the descriptors of one message (`sandbox::protocol`).
// `executor::run::given` compares both limits at compile time.
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
