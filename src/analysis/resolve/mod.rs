//! The possible values of names and expressions, as far as the text shows them.
//!
//! Control flow is ignored and every possibility kept: a name has every value bound to it anywhere
//! in its scope. `scopes` collects the bindings, `eval` evaluates them.

mod calls;
mod counts;
mod eval;
mod handed;
mod members;
mod parts;
mod reads;
mod scopes;
mod sums;
mod value;

pub use calls::{BUFFER, PARSED, makes_path};
pub use eval::Resolver;
pub use scopes::{ScopeId, ScopeKind, Scopes, address};
pub use value::{Set, Standing, Val, Vals};
