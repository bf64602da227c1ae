//! The core: the life of a proposal as one pure function.
//!
//! `update(&mut BrokerState, Event, Now) -> Vec<Effect>` has no I/O, no clock, no task and no
//! screen. The shell (`app`) turns outside input into events and carries out the effects; the
//! dashboard (`tui`) reads the state.

mod accept;
mod announce;
mod artifacts;
mod asking;
mod audience;
pub mod before;
mod census;
mod changed;
mod counting;
mod decide;
mod decision;
mod desks;
mod doubted;
mod drill;
mod effect;
mod ends;
mod entry;
mod event;
mod fair;
mod heard;
mod ledger;
mod lift;
pub mod news;
pub mod notice;
pub mod offer;
mod outcome;
mod pause;
mod phase;
pub mod poll;
mod pump;
mod quota;
mod record;
mod refusals;
mod requests;
mod revise;
mod run;
pub mod seat;
pub mod selection;
mod session;
mod shared;
mod state;
mod unattended;
mod update;
mod vain;
mod voting;

pub use decision::grant::grant_digest;
pub use decision::{Confirmation, Grant, Refused};
pub use desks::Desk;
pub use effect::{Effect, Note, ProfileInfo, Reply, RpcError};
pub use entry::Entry;
pub use event::{Event, ExecNote, HumanAct, Request};
pub use fair::FairQueue;
pub use ledger::Tally;
pub use pause::Pause;
pub use phase::LiveOutput;
pub use quota::QuotaUse;
pub use run::FRAME_STDOUT;
pub use state::{Attendance, AuditHealth, BrokerState, LogDoubt, Profile, Settings};
pub use update::{next_deadline, update};

#[cfg(test)]
pub(crate) mod tests;
