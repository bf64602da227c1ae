//! Evidence across hosts: what a host publishes about its log, so that others notice if it is rewritten, cut or rolled back.
//!
//! ```text
//! notary's checkpoint ─▶ Published (signed by the host's key) ─▶ engine ─▶ other hosts: Chain, Seen ─▶ their signatures
//! final record ────────▶ Proved (in a published checkpoint) ───▶ engine ─▶ auditors: Book
//! ```
//!
//! The engine can withhold all of that. It can change nothing of it, because every reader checks the signatures of hosts by
//! its own file of hosts, and it accuses nobody: only two things that one host signed can contradict each other.

mod admitted;
mod book;
mod chain;
mod gathered;
mod memory;
mod proved;
mod published;
mod signers;

pub use admitted::{Admitted, REMEDY, Said};
pub use book::{Book, Fault};
pub use chain::{Chain, Doubt, Point};
pub use gathered::{Extent, Gathered};
pub use memory::{Last, Own, OwnDoubt, Seen, Sight, read_seen};
pub use proved::{Proved, RECORD_MAX};
pub use published::{FROM_MAX, Link, Published, cosigned_text};
