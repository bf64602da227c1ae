//! What proves to others that the log is the one that was written: a Merkle tree over the records, and checkpoints of
//! it that are signed and kept elsewhere. The formats are those of C2SP (c2sp.org): `signed-note`, `tlog-checkpoint`,
//! `tlog-proof`, `tlog-witness`, `tlog-cosignature`.
//!
//! Nothing here decides, and the writer of the log waits for none of it.

mod anchor;
mod begun;
mod checkpoint;
mod command;
mod compare;
mod error;
mod http;
mod keys;
mod last;
mod notary;
mod note;
mod proof;
mod shown;
mod signer;
mod store;
mod tls;
mod tree;
mod witness;

pub use begun::Begun;
pub use checkpoint::{Checkpoint, Signed};
pub(super) use compare::root_of;
pub(super) use compare::{Comparing, compare};
pub use compare::{ProofError, Prover};
pub use error::TlogError;
pub use keys::VerifierKey;
pub(super) use last::ends_as_signed;
pub use notary::{Anchoring, Informer, Notary, NotaryEvent};
pub use shown::{Ends, Tree, extends, includes};
pub use signer::KeyCommand;
pub use store::{Store, StoreError};
pub use tls::Trust;
pub use witness::Witness;
