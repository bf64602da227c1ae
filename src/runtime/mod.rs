//! The Python that runs snippets: finds it, makes the managed environment and checks it.
//!
//! Blocking code of the standard library. Starts interpreters, pip and uv; never runs the code of a
//! proposal.

mod command;
mod contents;
mod descriptors;
mod environment;
mod error;
mod fault;
mod find;
mod install;
mod lock;
mod managed;
mod meter;
mod probe;
mod slim;
mod stamp;
#[cfg(test)]
pub mod testing;
mod uv;

pub use command::said;
pub use contents::{Change, Measured};
pub use descriptors::{give_back, open_files, raise_open_files};
pub use environment::PythonEnv;
pub use error::RuntimeError;
pub use find::find_python;
pub use lock::libraries;
pub use managed::{Held, Managed, Progress};
pub use probe::{answer, probe};
