//! Labels of a record on its way to the disk.

/// Who waits for a record to become durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ticket {
    /// The core, which continues when this number is reported. Only `broker::record` issues numbers.
    Core(u64),
    /// Nobody: records of the shell, and of commands without a core.
    Unawaited,
}

/// The queue of a record on its way to the disk. Each lane keeps its order, and the person's lane overtakes the
/// agents'. Records of one proposal still keep their order: a person decides only what was shown, and what is
/// shown is already on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lane {
    /// A person's decisions and their results.
    Person,
    /// Agents' requests, and what ended without a person.
    Agents,
}
