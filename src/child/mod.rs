//! One confined child in states, each of which is used up by the next:
//!
//! ```text
//! Launched ──▶ Confined ──▶ Held(Isolation) ──▶ Released ──▶ Ended
//!     └────────────┴──────────────┴── killed or gone ───────────▲
//! ```
//!
//! - [`Launched`]: a helper has its order, and nothing else is known.
//! - [`Confined`]: the helper says that the payload has closed itself in. The interpreter loads.
//! - [`Held`]: what confines the payload was read from outside and is what its tier asks for. Only
//!   [`Confined::held`] makes one, and only a `Held` can be released.
//! - [`Released`]: the payload reads what it is to run. The wall clock runs.
//! - [`Ended`]: nothing of it runs any more. Its folder is there until this value is dropped.
//!
//! Dropping any of them ends the child and leaves nothing of it. A child that is to stay after its run and to be
//! held again would be a step from `Ended` back to `Confined`: through the look, like every other.
//!
//! Who looks after a child is a [`Host`]: today a helper of its own or a zygote's. A wall that is no process
//! tree, as a container or a micro-VM is, would be another host with a look of its own.
//!
//! Releasing what was not looked at does not compile:
//!
//! ```compile_fail,E0599
//! # use countersign::child::{Client, Confined};
//! fn early(confined: Confined, client: &mut dyn Client) {
//!     let _ = confined.released(client);
//! }
//! ```
//!
//! The same words on what was looked at do:
//!
//! ```
//! # use countersign::child::{Client, Held};
//! fn in_time(held: Held, client: &mut dyn Client) {
//!     let _ = held.released(client);
//! }
//! ```
//!
//! A `Held` is not made by hand, not copied and not released twice:
//!
//! ```compile_fail,E0382
//! # use countersign::child::{Client, Held};
//! fn twice(held: Held, client: &mut dyn Client) {
//!     let _ = held.released(client);
//!     let _ = held.released(client);
//! }
//! ```
//!
//! ```compile_fail,E0451
//! # use countersign::child::{Confined, Held};
//! # use countersign::model::Isolation;
//! fn by_hand(confined: Confined, isolation: Isolation) -> Held {
//!     Held { alive: confined.alive, isolation, pid: 1, resident_kib: 0 }
//! }
//! ```

mod alive;
mod confinement;
mod fault;
mod host;
mod launch;
mod leftovers;
mod outside;
mod states;
mod surroundings;
#[cfg(test)]
pub(crate) mod testing;

pub use alive::{Client, Source, Wish};
pub use confinement::Confinement;
pub use fault::{Fault, Why};
pub use host::Host;
pub use launch::{Files, Handed, ROLE, Slot};
#[cfg(test)]
pub(crate) use leftovers::groups_of;
pub use leftovers::remove_stale;
pub use states::{Confined, Ended, Held, Launched, Released, Step};

pub(crate) use host::Helper;
pub(crate) use launch::{cold, helper, output_pipe, warm};
