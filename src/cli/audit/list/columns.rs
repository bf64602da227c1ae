//! The rows of a list for a person: as many columns as the terminal has room for, so that a row stays one row.

use std::io::{self, Write};
use std::time::Duration;

use jiff::Timestamp;

use crate::audit::deciders;

use super::{AGENT, Logged, TITLE, claim, seconds, state, title};

/// A title is not cut shorter than this: the row goes on below.
const SHORTEST: usize = 12;
/// From how many columns on a form is taken: its own, and a title that says something.
const ALL: usize = 177;
const MOST: usize = 118;
/// Characters shown of an agent's name where room is short.
const NAME: usize = 12;
/// Characters of an id's end, which `id:` and `audit show` take; they are its random part.
const END: usize = 12;

/// Which columns a row has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// When it was asked and decided, id, agent, profile, verdict, look, state.
    All(usize),
    /// When it was decided, id, agent, verdict, look, state.
    Most(usize),
    /// When it was decided, the end of the id, agent, state.
    Few(usize),
}

impl Form {
    /// `columns`: of the terminal.
    pub(super) fn of(columns: usize) -> Self {
        match columns {
            ALL.. => Self::All(columns),
            MOST.. => Self::Most(columns),
            _ => Self::Few(columns),
        }
    }

    pub(super) fn heading(self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::All(_) => writeln!(
                out,
                "{:20}  {:36}  {:AGENT$}  {:8}  {:12}  {:20}  {:>7}  {:16}  title",
                "asked (UTC)",
                "id",
                "agent",
                "profile",
                "verdict",
                "decided (UTC)",
                "looked",
                "state"
            ),
            Self::Most(_) => writeln!(
                out,
                "{:16}  {:36}  {:NAME$}  {:8}  {:>6}  {:14}  title",
                "decided (UTC)", "id", "agent", "verdict", "looked", "state"
            ),
            Self::Few(_) => writeln!(
                out,
                "{:16}  {:END$}  {:NAME$}  {:14}  title",
                "decided (UTC)", "end of id", "agent", "state"
            ),
        }
    }

    pub(super) fn row(self, out: &mut dyn Write, p: &Logged) -> io::Result<()> {
        let decided = p.settled.as_ref();
        let looked = decided.and_then(|settled| settled.looked);
        let looked = looked.map_or_else(String::new, look);
        let waits = || "waits".to_owned();
        let minutes = || decided.map_or_else(waits, |settled| minutes(settled.at));
        let name = |most| claim(&p.agent, most);
        let (columns, row) = match self {
            Self::All(columns) => {
                let at = decided.map_or_else(waits, |settled| seconds(settled.at));
                let row = format!(
                    "{}  {}  {:AGENT$}  {:8}  {:12}  {at:20}  {looked:>7}  {:16}  ",
                    seconds(p.time),
                    p.id,
                    name(AGENT),
                    claim(&p.profile, AGENT),
                    p.verdict,
                    told(p)
                );
                (columns, row)
            }
            Self::Most(columns) => {
                let row = format!(
                    "{:16}  {}  {:NAME$}  {:8}  {looked:>6}  {:14}  ",
                    minutes(),
                    p.id,
                    name(NAME),
                    p.verdict,
                    told(p)
                );
                (columns, row)
            }
            Self::Few(columns) => {
                let id = p.id.to_string();
                let end = &id[id.len() - END..];
                let row = format!(
                    "{:16}  {end}  {:NAME$}  {:14}  ",
                    minutes(),
                    name(NAME),
                    told(p)
                );
                (columns, row)
            }
        };
        let left = columns.saturating_sub(row.chars().count());
        writeln!(out, "{row}{}", title(p, left.clamp(SHORTEST, TITLE)))
    }
}

/// `granted by ana, edited`; by votes, `granted by ana, ben`.
fn told(p: &Logged) -> String {
    let by = p.settled.as_ref().and_then(|settled| settled.by.as_ref());
    let by = by.map_or_else(String::new, |by| match &by.login {
        Some(login) => format!(" by {}", claim(login, AGENT)),
        None => format!(" by uid {}", by.uid),
    });
    let voters = deciders(&p.votes);
    let by = match voters.is_empty() {
        true => by,
        false => {
            let names: Vec<String> = voters
                .iter()
                .map(|one| claim(one.as_str(), AGENT))
                .collect();
            format!(" by {}", names.join(", "))
        }
    };
    let edited = if p.edited { ", edited" } else { "" };
    format!("{}{by}{edited}", state(p))
}

/// `2026-11-27 14:05`, UTC.
fn minutes(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

/// `3.2 s`, `4 min`: cut and not rounded, so that what `look:<5s` selects never says `5.0 s`.
fn look(time: Duration) -> String {
    match time.as_secs() {
        s @ 0..10 => format!("{s}.{} s", time.subsec_millis() / 100),
        s @ 10..600 => format!("{s} s"),
        s => format!("{} min", s / 60),
    }
}
