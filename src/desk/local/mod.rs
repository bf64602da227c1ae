//! Reviewers of the same machine, over a Unix socket of its own: agents are not served there, and the agents' socket takes
//! no votes.

mod client;
mod server;

pub use client::{Client, ClientError};
pub use server::{LocalListener, Voters, serve};
