//! What a record bears on its way to the disk.

/// Who waits for a record on its way to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ticket {
    /// The core does, and goes on when it hears this number again. Only `broker::record` counts them.
    Core(u64),
    /// Nobody does: the shell's own records, and those of a log that no core is behind.
    Unawaited,
}

/// The way of a record to the disk. Each is kept in order; what a person decided overtakes what
/// agents asked for. Records of one proposal keep their order all the same: what a person decides
/// was shown, and what is shown is on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lane {
    /// What a person decided, and what became of it.
    Person,
    /// What agents asked for, and what ended without a person.
    Agents,
}
