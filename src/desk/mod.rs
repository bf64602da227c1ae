//! The desk: people who vote, here and on other machines.
//!
//! Nothing here decides. What comes from outside is bytes that somebody signed; who counts is decided by the host that runs the
//! code, from its own files.

pub mod engine;
