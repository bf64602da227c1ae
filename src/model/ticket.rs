//! What a record bears on its way to the disk.

/// One record on its way to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

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
