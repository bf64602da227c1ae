//! The agents' socket: JSON-RPC 2.0, one object a line, over a Unix socket (protocol.md §2).
//!
//! ```text
//! Listener ─▶ serve ─▶ Connection: FrameReader ─▶ pace ─▶ envelope ─▶ request ─▶ Inbox ─▶ core
//!                          ▲                                                             │
//!                          └──── Router ◀── encode ◀── Effect::Reply, Notify ◀───────────┘
//! ```
//!
//! Turns bytes into requests and answers into bytes, separates peers and enforces their bounds.
//! Decides nothing: no method here grants, and the core gets each peer's identity from the kernel.
//! [`Client`] is the other end, for the program's own commands.

mod calls;
mod client;
mod connection;
mod encode;
mod envelope;
mod frame;
mod gate;
mod inbox;
mod pace;
mod params;
mod peer;
mod request;
mod router;
mod server;
mod shares;
mod socket;

pub use calls::Calls;
pub use client::{Client, ClientError, Heard};
pub use frame::{FRAME_MAX, FrameReader, Next};
pub use gate::Gate;
pub use inbox::{Entrance, Inbox, inbox};
pub use request::{CLAIM, INPUT, METHODS, params_of};
pub use router::{Bounds, Router};
pub use server::serve;
pub use socket::{Listener, SocketConfig, SocketError};
