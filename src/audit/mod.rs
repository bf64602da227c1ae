//! The audit log: hash-chained JSON lines. Each record is durable before the action it allows.
//!
//! A state folder contains `log/NNNNNNNN.jsonl` (the segments), `blobs/<aa>/<sha256>` (code, inputs that
//! agents brought, output), `salts/<id>` (of code with secrets), `journal-*` (durable data not yet synced in these), `quarantine/` (bytes that a
//! crash left incomplete) and `lock`. One process writes, under a lock; any number may read, also from a copy
//! of the folder.
//!
//! Every byte read back is treated as hostile: a copied log may be crafted. This module makes no decisions
//! and draws nothing.

mod ahead;
mod answers;
mod apart;
mod aside;
pub mod bundle;
mod cases;
mod contents;
mod disk;
mod earlier;
mod erase;
mod error;
pub mod export;
mod facets;
mod feeder;
mod frame;
mod index;
mod journal;
mod judge;
pub mod kept;
mod lanes;
mod layout;
mod life;
mod line;
mod lines;
mod lock;
mod log;
mod mark;
mod newest;
mod open;
mod orders;
mod own;
mod own_time;
mod place;
mod plausible;
mod playback;
mod prune;
mod put_back;
pub mod query;
mod repair;
mod salts;
mod salvage;
mod scan;
mod settler;
mod span;
mod stats;
mod story;
mod tail;
mod tlog;
mod traces;
mod unread;
mod verify;
mod voters;
mod vouched;
mod watch;
mod withheld;
mod writer;

#[cfg(test)]
mod attacks_tests;
#[cfg(test)]
mod elsewhere_tests;
#[cfg(test)]
mod gap_attacks_tests;
#[cfg(test)]
mod hidden_tests;
#[cfg(test)]
mod past_tests;
#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod secrets_tests;
#[cfg(test)]
mod written;

pub use answers::{Answers, Basis, Told};
pub use apart::{Apart, Stage};
pub use cases::{Case, Cases, Course, Person};
pub use earlier::Earlier;
pub use erase::{Erasure, ErasureError, ErasureOrder, erased};
pub use error::{AuditError, Damage, Faults, Named};
pub use facets::{By, Facet, Facets, Value};
pub use feeder::{Fed, Feeder};
pub use index::{Noted, Telling};
pub use line::Record;
pub use log::{
    Dashboard, History, Listing, Log, Logged, PauseLogged, Pauses, Settled, Summary, index_of,
};
pub use open::{Opened, append, open, start};
pub use own::{own_by, own_said};
pub use own_time::own_time;
pub use plausible::ClockSet;
pub use playback::{Playback, Step};
pub use prune::{HeldBack, OldSegment, Order, Pruned, older_than, outdated_segments, prune};
pub use repair::{Loss, LostFile, LostRecord, Repair};
pub use stats::{Count, Day, Decision, FAST, OfAgent, OfReviewer, OfScope, Runs, Since, Stats};
pub use story::{Moment, Teller, looked, spelled, story, timeline};
pub use tlog::{
    Anchoring, Begun, Checkpoint, Ends, Informer, KeyCommand, Notary, NotaryEvent, ProofError,
    Prover, Signed, Store, StoreError, TlogError, Tree, Trust, VerifierKey, Witness, extends,
    includes,
};
pub use unread::{Checked, Unread};
pub use verify::{ErasedBy, Removed, Repaired, Report, SetAside, gap};
pub use voters::{Voter, deciders};
pub use vouched::Vouched;
pub use watch::{Counts, Watch};
pub use withheld::withheld;
pub use writer::{Writer, WriterEvent, WriterHandle};
