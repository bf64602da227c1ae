//! The child's side: the runner's files, the libraries it loads in advance, and its settings.

pub mod bundle;
pub mod libraries;
pub mod runner;
