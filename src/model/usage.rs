//! The resources that a run uses.

/// What a run uses, as the kernel counts it: the child has no say in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processor time in milliseconds of the busiest process: the limit holds for each process.
    pub cpu_ms: u64,
    /// Resident memory in kibibytes of the largest process, beyond what Python and its libraries
    /// took before the release.
    pub memory_kib: u64,
    /// The largest `memory_kib` so far.
    pub peak_kib: u64,
    pub processes: usize,
    /// Bytes printed on the fuller of the two streams: the limit holds for each stream.
    pub output_bytes: u64,
}
