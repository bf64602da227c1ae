//! The child's own confinement: our binary, started again as a helper, closes the payload in and outlives it.
//!
//! Knows the kernel and the wire to whoever started it ([`protocol`]). Knows no proposal, no grant and no
//! policy, and reads no byte that came from an agent beyond hashing it.

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
