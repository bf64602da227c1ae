//! Who may vote, whether a vote is theirs, and what the votes come to.
//!
//! Pure: bytes of three files, a ballot, votes and the time go in; an answer or the reason against it comes out. Nothing
//! here reads a file or a clock, and everything fails closed: one bad line refuses its file, and what is not understood in
//! a signature makes it invalid.
//!
//! - [`signers`], [`people`], [`revoked`]: the three files, together an [`Electorate`];
//! - [`signature`]: a vote becomes a [`Checked`], which nothing else makes;
//! - [`count`]: checked votes and the terms become a [`Standing`];
//! - `ask`: whose votes to ask for, which changes none of that.

mod ask;
pub mod count;
mod electorate;
mod error;
mod key;
mod lines;
pub mod people;
pub mod revoked;
pub mod signature;
pub mod signers;
#[cfg(test)]
pub(crate) mod testing;
mod vain;

pub use ask::{Turns, able, ask};
pub use count::{Missing, Question, Standing, Why, hopeless, may_vote, standing};
pub use electorate::{Account, Electorate, FileDigests};
pub use error::{BallotError, VotingFile};
pub use key::{Key, KeyError};
pub use signature::{Checked, Invalid, SecurityKey, key_of, signed_by, verify};
pub use vain::{Vain, told_in_vain};

#[cfg(test)]
mod count_tests;
#[cfg(test)]
mod files_tests;
#[cfg(test)]
mod signature_tests;
