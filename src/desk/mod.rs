//! The desk: what hosts ask reviewers, and what reviewers answer, on its way between programs.
//!
//! ```text
//! core ── Publication ──▶ Board: signs ──▶ local::serve ──▶ reviewers of this machine
//!   ▲                                                            │
//!   └────────────── Vote ◀── peer credentials ◀──────────────────┘
//! ```
//!
//! Nothing here decides. What leaves is signed by the host's key; what comes in is handed to the core, which checks it
//! against its own bytes and files.

pub mod asking;
pub mod board;
pub mod engine;
pub mod evidence;
pub mod gateway;
pub mod host_key;
pub mod hosts;
pub mod local;
pub mod post;
pub mod roles;
pub mod wire;

pub use board::{Board, Reading};
pub use gateway::{Gateway, GatewayError};
pub use host_key::{HostKey, HostKeyError};
pub use hosts::{Hosts, HostsError};
pub use post::Post;
pub use post::evidence::{Evidence, Word};
