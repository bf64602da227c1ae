//! Policies: what a profile allows. They are read from TOML; the built-in ones are embedded.
//!
//! The analyser and the child's runner both take their lists from here.

mod changes;
mod closed;
mod computes;
mod error;
mod file;
mod folder;
mod grant;
mod keywords;
mod load;
mod members;
mod nodes;
mod packages;
mod reach;
mod resolve;
mod resolved;

pub use changes::{Changes, ListOf, Names};
pub use error::PolicyError;
pub use load::{Places, builtin, load, load_file};
pub use members::{Library, library};
pub use nodes::{Handling, NodeKind};
pub use reach::{DRAWS, is_given, member_capability, module_capability, stays_inside};
pub use resolved::{Attributes, Contract, Origin, Policy, PrivateValues, SetBy};
