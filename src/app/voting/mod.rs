//! Votes at the edge of the program: the files that say who may vote, and the process that signs one.

pub mod files;
mod programs;
mod refused;
mod sign;
mod terminal;

pub use refused::{SignError, Terminal};
pub use sign::Signer;
