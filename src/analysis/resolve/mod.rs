//! What names and expressions may stand for, as far as the text tells.
//!
//! Flow is ignored and every possibility kept: a name stands for everything that is bound to it
//! anywhere in its scope. `scopes` collects the bindings, `eval` evaluates.

mod calls;
mod eval;
mod handed;
mod members;
mod parts;
mod reads;
mod scopes;
mod value;

pub use calls::{BUFFER, PARSED, makes_path};
pub use eval::Resolver;
pub use scopes::{ScopeId, Scopes, address};
pub use value::{Set, Standing, Val, Vals};
