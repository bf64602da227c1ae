//! What is said in a reviewer's seat, which has no agents, no Python and nothing that runs.

use super::super::action::{Followed, Seated};

/// Nothing is there to decide.
pub const AS: &str = "You vote as";
pub const FROM: &str = "Proposals come from";
/// Above the names of hosts whose logs are doubted.
pub const DOUBTED: &str = "Nothing is granted at";
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

/// Alarms about logs that are not the ones that hosts signed: what the first says, ` ✗ lab-1: `, and which others there are. More
/// would take the room of what waits.
pub fn doubts(seat: &Seated) -> Vec<(String, String)> {
    let Some(((host, why), more)) = seat.doubted.split_first() else {
        return Vec::new();
    };
    let mut all = vec![(format!(" ✗ {host}: "), why.clone())];
    if !more.is_empty() {
        let more: Vec<&str> = more.iter().map(|(host, _)| host.as_str()).collect();
        let why = "their logs are not the ones that they signed".to_owned();
        all.push((format!(" ✗ {}: ", more.join(", ")), why));
    }
    all
}

/// In the header, whose logs are doubted: `✗ lab-1 DOUBTED`.
pub fn doubted(seat: &Seated) -> Option<String> {
    match seat.doubted.as_slice() {
        [] => None,
        [(host, _)] => Some(format!("✗ {host} DOUBTED")),
        all => Some(format!(
            "✗ {} hosts DOUBTED",
            super::number(all.len() as u64)
        )),
    }
}

/// An alarm.
pub fn away(host: &Followed) -> Option<(String, String)> {
    let why = host.away.as_ref()?;
    Some((format!(" ▲ {}: ", host.name), why.clone()))
}
