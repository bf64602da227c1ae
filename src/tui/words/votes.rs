//! What is said of proposals whose policy asks for signed votes.

use crate::ballot::{Missing, Standing};
use crate::model::{Digest, Person, State, VoteKind};

/// In the queue's rows: people have to vote on it; the person's own vote is in.
pub const VOTE: &str = "VOTE";
pub const VOTED: &str = "VOTED";
/// Others are asked first; the person may vote too.
pub const OTHERS: &str = "OTHERS";
/// No votes can grant it.
pub const STUCK: &str = "STUCK";
/// In a row: somebody else reads it at the moment.
pub const READING: &str = "READING";
/// Labels.
pub const HOST: &str = "host";
pub const NEEDS: &str = "needs";
pub const YOUR_VOTE: &str = "your vote";
pub const VOTE_ROW: &str = "vote";
pub const READERS: &str = "readers";
pub const ASKS: &str = "asks";
pub const SIGNING: &str = "signing… touch your security key if it blinks";
pub const NOT_OPEN: &str = "yours is not in yet; nobody sees the others' before";
/// What the sheet's key does.
pub const TO_SIGN: &str = "to sign a grant";
pub const TO_SIGN_SHORT: &str = "to sign";

/// Whose vote the sheet asks for.
pub fn votes_as(person: &Person) -> String {
    format!("as {person}, signed with your key")
}

/// A host's name for a row that has other things too.
pub fn short_host(name: &str) -> String {
    const MOST: usize = 20;
    match name.chars().count() > MOST {
        false => name.to_owned(),
        true => format!("{}…", name.chars().take(MOST).collect::<String>()),
    }
}

/// Of a host's Python, a seat has the digest.
pub fn python_at(digest: &Digest) -> String {
    format!("the host's Python {}", digest.short(8))
}

/// Where it would run.
pub fn runs_at(host: &str, key: &str) -> String {
    format!("it runs at {host} · its key {key}")
}

/// `ana is reading this`, `ana, ben are reading this`.
pub fn reading(people: &[&Person]) -> String {
    let names: Vec<&str> = people.iter().map(|person| person.as_str()).collect();
    let are = if names.len() == 1 { "is" } else { "are" };
    format!("{} {are} reading this", names.join(", "))
}

/// `ana (you), ben`, and when everybody else was asked too.
pub fn asks(people: &[Person], me: Option<&Person>, escalated: Option<&str>) -> String {
    let names: Vec<String> = people
        .iter()
        .map(|person| match Some(person) == me {
            true => format!("{person} (you)"),
            false => person.to_string(),
        })
        .collect();
    let all = escalated.map_or_else(String::new, |at| {
        format!("; since {at} everybody who may decide it")
    });
    format!("{}{all}", names.join(", "))
}

pub const fn voted(kind: VoteKind) -> &'static str {
    match kind {
        VoteKind::Grant => "granted",
        VoteKind::Deny => "denied",
        VoteKind::Veto => "vetoed",
    }
}

pub fn not_in(why: &str) -> String {
    format!("your vote is not in: {why}")
}

/// It is signed, and its host has not said that it counts.
pub fn sent(kind: VoteKind) -> String {
    format!("you {}; it is not counted yet", voted(kind))
}

pub fn impossible(why: &str) -> String {
    format!("no votes can grant it: {why}")
}

/// Its host says that it is not asked about any more, and has not ended it.
pub fn at_host(state: State, may_veto: bool) -> String {
    match may_veto {
        true => format!("its host says: {state}; your veto ends it until it is let go"),
        false => format!("its host says: {state}"),
    }
}

/// The field of the reason for a veto.
pub fn veto_reason(whom: &str) -> String {
    format!("veto, reason for {whom}")
}

/// The same where there is little room.
pub fn short_veto_reason(whom: &str) -> String {
    format!("veto {whom}")
}

/// The person's own vote is in the log.
pub fn counted(kind: VoteKind, standing: &Standing) -> String {
    let rest = match standing {
        Standing::Open { missing } if missing.is_empty() => "nobody is missing".to_owned(),
        Standing::Open { missing } => missing_words(missing),
        Standing::Met { .. } => "enough people did".to_owned(),
        Standing::Ended { by, kind, .. } => format!("{by} {} it", voted(*kind)),
        Standing::Impossible(why) => impossible(why),
    };
    format!("you {}; {rest}", voted(kind))
}

/// `1 more of data is missing; 2 more people are missing`. Of a host's words, others than these stand as they are.
fn missing_words(missing: &[Missing]) -> String {
    let said = |missing: &Missing| {
        let words = missing.to_string();
        match words.split_once(" more") {
            Some(("1", _)) => format!("{words} is missing"),
            Some((many, _)) if many.parse::<usize>().is_ok() => format!("{words} are missing"),
            _ => words,
        }
    };
    missing.iter().map(said).collect::<Vec<_>>().join("; ")
}

/// `granted at 10:41 with SHA256:Ab12Cd34…, touched`.
pub fn cast(kind: VoteKind, at: &str, key: &str, touched: Option<bool>) -> String {
    let touched = match touched {
        Some(true) => ", touched",
        Some(false) => ", not touched",
        None => "",
    };
    let key = match key.char_indices().nth(SHORT) {
        Some((cut, _)) => format!("{}…", &key[..cut]),
        None => key.to_owned(),
    };
    format!(" {} at {at} with {key}{touched}", voted(kind))
}

/// Characters of a key's fingerprint: `SHA256:` and eight.
const SHORT: usize = 15;
