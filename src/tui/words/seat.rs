//! What is said in a reviewer's seat, which has no agents, no Python and nothing that runs.

use super::super::action::{Followed, Seated};

/// Nothing is there to decide.
pub const AS: &str = "You vote as";
pub const FROM: &str = "Proposals come from";
pub const HOSTS: &str = "Hosts";

/// `as ana`.
pub fn sits_as(seat: &Seated) -> String {
    format!("as {}", seat.person)
}

/// Whether a host is there: `✓ lab-1`.
pub fn host(host: &Followed) -> String {
    let mark = if host.away.is_none() {
        super::well()
    } else {
        "✗"
    };
    format!("{mark} {}", host.name)
}

/// `✓ lab-1  reached at /run/countersign/desk.sock`.
pub fn reached(at: &Followed) -> String {
    let place = match &at.away {
        None => format!("reached at {}", at.place),
        Some(_) => format!("not reached at {}", at.place),
    };
    format!("{}  {place}", host(at))
}

/// An alarm.
pub fn away(host: &Followed) -> Option<(String, String)> {
    let why = host.away.as_ref()?;
    Some((format!(" ▲ {}: ", host.name), why.clone()))
}
