//! One confined child, in states each of which is consumed by the next:
//!
//! ```text
//! Launched ──▶ Confined ──▶ Held(Isolation) ──▶ Released ──▶ Ended
//!     └────────────┴──────────────┴── killed or gone ───────────▲
//! ```
//!
//! - [`Launched`]: a helper has its order; nothing else is known.
//! - [`Confined`]: the helper reports that the payload has confined itself. The interpreter loads.
//! - [`Held`]: the payload's confinement was read from outside and is what its tier requires. Only
//!   [`Confined::held`] makes one, and only a `Held` can be released.
//! - [`Released`]: the payload reads what it is to run. The wall clock runs.
//! - [`Ended`]: no process of it is left. Its folder exists until this value is dropped.
//!
//! Dropping any state ends the child and removes everything of it. A child that stays after its run
//! and is held again would be a step from `Ended` back to `Confined`, so it would be examined like
//! every other.
//!
//! A [`Host`] looks after a child: a helper of its own or that of a zygote. Confinement that is not
//! a process tree, such as a container or a micro-VM, would be another host with its own
//! examination.
//!
//! Releasing a child that was not examined does not compile:
//!
//! ```compile_fail,E0599
//! # use countersign::child::{Client, Confined};
//! fn early(confined: Confined, client: &mut dyn Client) {
//!     let _ = confined.released(client);
//! }
//! ```
//!
//! The same call on an examined child compiles:
//!
//! ```
//! # use countersign::child::{Client, Held};
//! fn in_time(held: Held, client: &mut dyn Client) {
//!     let _ = held.released(client);
//! }
//! ```
//!
//! A `Held` cannot be constructed by hand, copied or released twice:
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
mod meter;
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
pub use meter::Meter;
pub use outside::LAYERS;
pub use states::{Confined, Ended, Held, Launched, Released, Step};

pub(crate) use host::Helper;
pub(crate) use launch::{cold, helper, output_pipe, warm};
