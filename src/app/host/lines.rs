//! What an operator reads on standard error: one line each, without code or data.
//!
//! What happened to a proposal is told once its record is durable, as agents are.

use std::collections::BTreeMap;
use std::path::Path;

use crate::ballot::{Electorate, Standing};
use crate::broker::offer::Publication;
use crate::broker::{BrokerState, Event, LogDoubt};
use crate::clock::Now;
use crate::config::Config;
use crate::model::{Environment, LogEvent, ProposalId, Ticket, VoteKind};
use crate::tui::{Header, LogCheck};

use super::super::vain;
use super::super::works::Parts;
use super::Tell;

/// Lines that wait for their records, and what was said last.
#[derive(Default)]
pub struct Lines {
    held: BTreeMap<Ticket, String>,
    voters: Option<String>,
    python: Option<String>,
    log: Option<String>,
    doubt: Option<String>,
    checkpoints: Option<String>,
}

/// What there is before anything can happen.
pub fn opening(config: &Config, parts: &Parts) -> Vec<String> {
    let shown = |path: Option<&Path>| {
        path.map_or_else(|| "none".to_owned(), |path| path.display().to_string())
    };
    let desk = config.desk.as_ref();
    let url = desk.and_then(|desk| desk.url.as_deref());
    let settings = &parts.settings;
    let host = settings.voting.as_ref().map(|v| v.host.as_str());
    let voters = parts.desk.as_ref().map(|desk| desk.electorate());
    let asked = |name: &str| {
        let named = |p: &&crate::broker::Profile| p.policy.name == name;
        let profile = settings.profiles.iter().find(named);
        profile.is_some_and(|p| !p.policy.grant.is_empty())
    };
    let names = settings.profiles.iter().map(|p| p.policy.name.as_str());
    let profiles: Vec<&str> = names.filter(|name| asked(name)).collect();
    let mut lines = vec![
        format!(
            "countersign {} host {}",
            settings.version,
            host.unwrap_or_default()
        ),
        format!("agents: {}", parts.header.socket),
        format!(
            "reviewers: {}",
            shown(desk.and_then(|d| d.socket.as_deref()))
        ),
        // The configuration refuses a password in it.
        format!("engine: {}", url.unwrap_or("none")),
        format!("profiles: {}", profiles.join(", ")),
        format!(
            "people who may vote: {}",
            voters.map_or(0, Electorate::voters)
        ),
        format!("tier: {}", parts.header.tier),
    ];
    for profile in &settings.profiles {
        let (never, _) = voters.map_or_else(Default::default, |electorate| {
            vain::sentences(&profile.policy, electorate, config)
        });
        let name = &profile.policy.name;
        lines.extend(never.into_iter().map(|why| format!("{name}: {why}")));
    }
    if let Some(program) = config.notify.command.first() {
        lines.push(format!("notices: {program}"));
    }
    if !asked(&settings.profile) {
        lines.push(format!(
            "proposals that name no profile are refused: `{}` asks no reviewers",
            settings.profile
        ));
    }
    if config.drills.every > 0 {
        lines.push("no drills are made: nobody sits here".to_owned());
    }
    if !parts.header.absent.is_empty() {
        let absent = parts.header.absent.join(", ");
        lines.push(format!("data sets that cannot be read: {absent}"));
    }
    let recovered = parts.header.log_recovered.as_ref();
    lines.extend(recovered.map(|what| format!("the log was recovered: {what}")));
    lines.extend(damage(&parts.header));
    lines
}

fn damage(header: &Header) -> Option<String> {
    match &header.log {
        LogCheck::Damaged(first) => Some(format!("the log is damaged: {first}")),
        _ => None,
    }
}

/// Tells of an offer, and returns what it is of.
pub fn offered(publication: &Publication, tell: Tell<'_>) -> Option<ProposalId> {
    let Publication::Offer {
        id,
        version,
        deadline,
        roles,
        ..
    } = publication
    else {
        return None;
    };
    let roles: Vec<&str> = roles.iter().map(|role| role.as_str()).collect();
    let whom = match roles.is_empty() {
        true => "everybody".to_owned(),
        false => roles.join(", "),
    };
    tell(&format!(
        "{id} offered to {whom}, version {version}, until {deadline:.0}"
    ));
    Some(*id)
}

/// Why no votes could grant an offer, as things are.
pub fn hopeless(state: &BrokerState, id: ProposalId, now: Now) -> Option<String> {
    match state.standing(state.entry(id)?, now)? {
        Standing::Impossible(why) => Some(format!("{id} cannot be granted: {why}")),
        _ => None,
    }
}

/// What is told of a record.
fn line(event: &LogEvent) -> Option<String> {
    let id = |id: &ProposalId, what: &str| Some(format!("{id} {what}"));
    match event {
        LogEvent::Voted(voted) => {
            let does = match voted.vote.kind {
                VoteKind::Grant => "grants",
                VoteKind::Deny => "denies",
                VoteKind::Veto => "vetoes",
            };
            id(&voted.id, &format!("vote: {} {does}", voted.vote.voter))
        }
        LogEvent::VoteRefused {
            id: of,
            voter,
            why,
            count,
            ..
        } => {
            let times = match count {
                1 => String::new(),
                _ => format!(" ({count} times)"),
            };
            id(
                of,
                &format!("a vote of {voter} does not count{times}: {why}"),
            )
        }
        LogEvent::Escalated { id: of, also, .. } => {
            let also: Vec<&str> = also.iter().map(|person| person.as_str()).collect();
            id(of, &format!("asked too: {}", also.join(", ")))
        }
        LogEvent::Granted(granted) => {
            let by = granted.votes.iter().flat_map(|votes| &votes.by);
            let by: Vec<&str> = by.map(|person| person.as_str()).collect();
            id(&granted.id, &format!("granted by {}", by.join(", ")))
        }
        LogEvent::Failed {
            id: of,
            state,
            message,
        } => id(of, &format!("{state}: {message}")),
        LogEvent::EnvironmentChanged { what, .. } => {
            Some(format!("the Python environment changed: {what}"))
        }
        LogEvent::Proposed(_) => None,
        other => id(&other.id()?, other.state()?.as_str()),
    }
}

impl Lines {
    /// Keeps the line of a record until that is durable.
    pub fn hold(&mut self, ticket: Ticket, event: &LogEvent) {
        if let Some(line) = line(event) {
            self.held.insert(ticket, line);
        }
    }

    /// Tells what an event means.
    pub fn hear(&mut self, event: &Event, tell: Tell<'_>) {
        match event {
            Event::Durable { ticket } => {
                if let Some(line) = self.held.remove(ticket) {
                    tell(&line);
                }
            }
            Event::Unrecorded { ticket, reason } => {
                self.held.remove(ticket);
                tell(&format!("a record was left out of the log: {reason}"));
            }
            Event::AuditDown { reason } => {
                self.held.clear();
                tell(&format!(
                    "the log is down, and nothing is granted or runs any more before a restart: {reason}"
                ));
            }
            Event::LogDoubted(LogDoubt::Unreadable(why)) => tell(&format!(
                "nothing is granted until the log can be read: {why}"
            )),
            // The notary finds it again and again.
            Event::LogDoubted(LogDoubt::Contradicted(why)) => again(
                &mut self.doubt,
                format!(
                    "nothing is granted, offered or taken any more: the log is not the one that was signed: {why}"
                ),
                tell,
            ),
            Event::Environment(Environment::Ready { label, .. }) => {
                again(&mut self.python, format!("Python: {label}"), tell);
            }
            Event::Environment(Environment::Making { .. }) => {
                let line =
                    "no Python yet: nothing is offered before it is made and its files are read";
                again(&mut self.python, line.to_owned(), tell);
            }
            Event::Environment(Environment::Failed { message }) => {
                let line = format!("no Python, and nothing can run: {message}");
                again(&mut self.python, line, tell);
            }
            Event::Electorate(Err(why)) => {
                again(&mut self.voters, format!("nobody can vote: {why}"), tell);
            }
            Event::Electorate(Ok(electorate)) => {
                let line = format!("people who may vote: {}", electorate.voters());
                match &self.voters {
                    // The opening said it.
                    None => self.voters = Some(line),
                    Some(_) => again(&mut self.voters, line, tell),
                }
            }
            _ => {}
        }
    }

    /// Tells how the log and its checkpoints fare, if that is new.
    pub fn log(&mut self, header: &Header, tell: Tell<'_>) {
        let told = |why: &String| self.doubt.as_ref().is_some_and(|line| line.ends_with(why));
        let is_told = matches!(&header.log, LogCheck::Damaged(why) if told(why));
        if let Some(line) = damage(header).filter(|_| !is_told) {
            again(&mut self.log, line, tell);
        }
        match &header.unanchored {
            Some(why) => again(&mut self.checkpoints, format!("checkpoints: {why}"), tell),
            None => self.checkpoints = None,
        }
    }
}

/// Tells a line unless it is the one that was told last.
fn again(last: &mut Option<String>, line: String, tell: Tell<'_>) {
    if last.as_ref() != Some(&line) {
        tell(&line);
        *last = Some(line);
    }
}
