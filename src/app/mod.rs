//! The shell around the core: turns the outside world (agents, keys, clocks, disks, children) into
//! events, and is the only interpreter of effects.
//!
//! One loop owns the core's state. Anything that blocks lives in its own thread or task and reports
//! back through one of two inboxes; the one for a person's decisions and their consequences comes
//! first.

mod absent;
mod ahead;
mod analyst;
mod anchoring;
pub mod demo;
pub mod descriptors;
mod draft;
mod drills;
mod editor;
mod effects;
mod environment;
mod evidence;
mod exporting;
mod files;
mod group;
mod host;
mod inputs;
mod memory;
mod notices;
mod pulse;
mod record;
pub mod replicate;
mod review;
pub mod reviewer;
pub mod reviewing;
pub mod seat;
mod session;
mod shell;
mod signals;
mod signing;
mod startup;
mod summing;
pub mod vain;
mod voters;
pub mod voting;
mod works;

pub use absent::absent;
pub use anchoring::anchoring;
pub use startup::{Role, Setup, Written, prepare};
pub use voters::signing_key;

use crate::audit::{Checked, NotaryEvent};
use crate::broker::Event;
use crate::tui::{AuditPage, Sums};

/// What the loop's own helpers send it.
pub enum Input {
    Core(Event),
    Python(environment::Report),
    Audit(AuditPage),
    /// What the rows of screen 2 come to.
    Sums(Sums),
    /// The first bad record of the log, found by a check that includes the contents.
    Damaged(String),
    /// How the log's checkpoints fare.
    Notary(NotaryEvent),
    /// What the start left unread of the log was read, or why it must not be believed.
    Checked(Result<Box<Checked>, String>),
    /// The log says something about earlier codes.
    Recalled(memory::Recalled),
    /// The person's editor has ended.
    Edited(Box<shell::Returned>),
    /// A host is reached, or why it is not, or what of it is not believed.
    Host(Option<String>),
    /// Something that is not believed came.
    Odd(String),
    /// All hosts whose logs are not the ones that they signed, with what they say; in a seat.
    Doubts(Vec<(String, String)>),
    /// What the hosts' logs say of each other.
    Evidence(crate::desk::Word),
    /// The engine of this host's reviewers is reached, or why it is not.
    Engine(Option<String>),
    /// The command that tells people works again, or why it failed.
    Notices(Option<String>),
    /// A hint of a host: somebody else reads this.
    Claim(crate::model::ProposalId, crate::model::Person),
    /// A vote takes the terminal to be signed.
    Sign(Box<voters::AskTerminal>),
    /// `ssh-keygen` has ended and the terminal is free.
    SignedInTerminal,
    /// Code colours are ready to be fetched, or the secrets of a long proposal are known.
    Highlighted,
}

/// Opens the dashboard and serves agents until a person quits. Returns the exit code.
///
/// # Errors
/// What prevented the start, in a sentence for a person.
pub fn run(setup: Setup) -> Result<u8, crate::error::Failure> {
    served(shell::run(setup))
}

/// Serves agents and reviewers without a screen until a signal. `tell` writes one line for the operator.
///
/// # Errors
/// What prevented the start, in a sentence for a person.
pub fn host(
    config: &crate::config::Config,
    setup: Setup,
    tell: &dyn Fn(&str),
) -> Result<u8, crate::error::Failure> {
    served(host::run(config, setup, tell))
}

fn served(
    serving: impl Future<Output = Result<u8, crate::error::Failure>>,
) -> Result<u8, crate::error::Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|e| crate::error::Failure::general(format!("cannot start: {e}")))?;
    let ended = runtime.block_on(serving);
    // A data set on a stuck file system must not keep a closed dashboard alive.
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    ended
}
