//! The child's confinement: our binary, started again as a helper, confines the payload and
//! outlives it.
//!
//! It depends only on the kernel and on the protocol with the process that started it
//! ([`protocol`]). It knows no proposal, grant or policy; it hashes the bytes that came from an
//! agent and never interprets them.

pub(crate) mod cgroup;
pub(crate) mod events;
pub(crate) mod helper;
pub(crate) mod interpreter;
pub(crate) mod memfd;
pub(crate) mod procfs;
pub mod protocol;
pub(crate) mod raw;
pub mod refusal;
pub mod remedy;
pub mod roles;
pub(crate) mod scratch;
