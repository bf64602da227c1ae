//! The child's side: the runner's files, what its interpreter loads ahead, and what it is told.

pub mod bundle;
pub mod libraries;
pub mod runner;
