//! What is new about a proposal, in a person's words: what the log says of this code, this title, these data
//! sets and this agent. Agents' and reviewers' texts are drawn as claims.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::broker::Entry;
use crate::clock::Now;
use crate::model::{BoundInput, Earlier, InputKind, Of, Past, ProposalId, Shape, Tally};

use super::claim;
use super::theme::Role;
use super::words;

/// A short text in spans, ready to draw.
pub type Line = Vec<(String, Role)>;

/// How the agent of a proposal is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// By its name.
    Named,
    /// Its name stands nearby.
    Its,
}

/// What is new, the most useful first: an earlier denial of this code, title or shape, private data that this agent
/// reads for the first time, whether this code, its shape or its title was granted before, other data that it reads for
/// the first time, data that it was denied, and how its earlier proposals were decided.
///
/// `compare`: the key that shows what changed.
pub fn novelty(
    past: &Past,
    entry: &Entry,
    whose: Whose,
    (zone, now): (&TimeZone, Now),
    compare: &str,
) -> Vec<Line> {
    let proposal = &entry.proposal;
    let own = Some(proposal.id);
    let (uid, agent) = (proposal.peer.uid, proposal.agent_name());
    let shape = past.about(proposal.id).and_then(|own| own.shape);
    let time = |at: Timestamp| words::when(at, now.wall, zone);
    let code = past.tally(&Of::Code(entry.code().digest()), own);
    let shaped_like = |of: fn(Shape) -> Of<'static>| {
        shape.map_or_else(Tally::default, |s| past.tally(&of(s), own))
    };
    let tokens = shaped_like(Of::Tokens);
    let numbers = shaped_like(Of::Numbers);
    let texts = shaped_like(Of::Texts);
    let title = proposal.title.as_deref().map_or_else(Tally::default, |t| {
        past.tally(&Of::Titled(uid, agent, t), own)
    });
    let mut out = Vec::new();
    let mut later = Vec::new();
    let mut last = Vec::new();

    let denials = [
        (&code, words::CODE_DENIED),
        (&title, words::TITLE_DENIED),
        (&tokens, words::ALIKE_DENIED),
        (&numbers, words::ALIKE_DENIED),
    ];
    let denied = denials
        .iter()
        .find_map(|(tally, what)| Some((denied_last(tally)?, *what)));
    let data = data_sets(entry);
    if let Some((earlier, what)) = denied {
        let elsewhere = !earlier.data.iter().map(|d| &**d).eq(data.iter().copied());
        out.push(denial(earlier, what, elsewhere, time));
    }

    let inputs = entry.inputs().map_or(&[][..], |inputs| inputs);
    let mut denials: Vec<ProposalId> = Vec::new();
    for dataset in &data {
        let read = past.tally(&Of::Reads(uid, agent, dataset), own);
        let private = inputs.iter().any(|i| i.is_private() && is_of(i, dataset));
        if let Some(earlier) = denied_last(&read) {
            if denials.contains(&earlier.id) {
                continue;
            }
            denials.push(earlier.id);
            // It is true of everything that this agent asks of this data, so it says the least of this code.
            let when = at(earlier).map(time).unwrap_or_default();
            last.push(denied_data(agent, &earlier.data, &when));
        } else if read.granted == 0 {
            let role = if private { Role::Private } else { Role::Strong };
            let mut line = match whose {
                Whose::Its => vec![(words::FIRST_READ.to_owned(), Role::Text)],
                Whose::Named => {
                    let mut line = vec![(words::FIRST_TIME.to_owned(), Role::Text)];
                    line.extend(claim::spans(&claim::named(agent, NAME), Role::Text));
                    line.push((words::READS.to_owned(), Role::Text));
                    line
                }
            };
            line.extend(claim::spans(dataset, role));
            // Private data that this agent never had comes before what its code was before.
            match private {
                true => out.push(line),
                false => later.push(line),
            }
        }
    }

    let granted = |earlier: &&Earlier| earlier.decided.as_ref().is_some_and(|d| d.granted);
    let me = past.about(proposal.id);
    let others = |earlier: &Earlier| me.map_or_else(Vec::new, |me| me.others(earlier));
    let here = |earlier: &Earlier| {
        let of_this = earlier.data.iter().map(|d| &**d).eq(data.iter().copied());
        of_this && me.is_some()
    };
    let told =
        |earlier: &Earlier| words::differs(&others(earlier), &earlier.profile, &earlier.data);
    let found = past.found(&Of::Code(entry.code().digest()));
    let found: Vec<&Earlier> = found
        .filter(|earlier| earlier.id != proposal.id)
        .filter(granted)
        .collect();
    let same: Vec<&Earlier> = found
        .iter()
        .copied()
        .filter(|earlier| here(earlier) && others(earlier).is_empty())
        .collect();
    let alike = |tally: &Tally<'_>| tally.last_granted.is_some_and(here);
    let shaped = |tally: &Tally<'_>, what: &str, plain: Role| {
        let when = tally.last_granted.and_then(at).map(time);
        let words = words::same_shape(when.as_deref(), what);
        let differs = tally.last_granted.map(told).unwrap_or_default();
        match differs.is_empty() {
            true => (words, plain),
            false => (format!("{words}, {differs}"), Role::Flagged),
        }
    };
    let with_shape = |tally: &Tally<'_>, same: fn(&Shape, &Shape) -> bool| {
        let other = tally.last_granted.and_then(|earlier| earlier.shape);
        shape.zip(other).is_some_and(|(a, b)| same(&a, &b))
    };
    let titled = title.last_granted.and_then(at);
    let (words, role) = if let Some(newest) = same.first() {
        let when = at(newest).map(time);
        let words = words::same_code(same.len() as u32, when.as_deref());
        (words, Role::Text)
    } else if let Some(newest) = found.iter().find(|earlier| here(earlier)) {
        // A person who knows the code does not know what it does under other conditions.
        let when = at(newest).map(time).unwrap_or_default();
        (words::same_code_but(&when, &told(newest)), Role::Flagged)
    } else if let Some(elsewhere) = code.last_granted {
        (words::other_data(&elsewhere.data), Role::Flagged)
    } else if alike(&tokens) {
        match with_shape(&tokens, |a, b| a.same_comments(b)) {
            true => shaped(&tokens, "spacing", Role::Text),
            // Something can obey a comment, so this is said aloud.
            false => shaped(&tokens, "comments", Role::Strong),
        }
    } else if alike(&numbers) {
        shaped(&numbers, "numbers", Role::Text)
    } else if alike(&texts) {
        // What stands between quotes can be a column or a path, so this is said aloud.
        shaped(&texts, "texts", Role::Strong)
    } else if let Some(when) = titled {
        let words = words::same_title(&time(when), compare);
        out.push(vec![(words, Role::Strong)]);
        (words::CODE_NEVER_GRANTED.to_owned(), Role::Strong)
    } else {
        (words::NEVER_GRANTED.to_owned(), Role::Strong)
    };
    out.push(vec![(words, role)]);
    out.extend(later);
    out.extend(last);

    let of_agent = past.tally(&Of::Agent(uid, agent), own);
    let mut line = claim::spans(&claim::named(agent, NAME), Role::Text);
    let decided = of_agent.granted + of_agent.denied;
    line.push((
        words::agent_granted(of_agent.granted, decided, of_agent.blocked),
        Role::Text,
    ));
    out.push(line);
    out
}

/// Columns of an agent's name in a line.
const NAME: usize = 24;

/// The names of its data sets, each once, in order.
pub fn data_sets(entry: &Entry) -> Vec<&str> {
    let inputs = entry.inputs().into_iter().flat_map(|inputs| inputs.iter());
    let mut names: Vec<&str> = inputs
        .filter_map(|input| match &input.kind {
            InputKind::Dataset { dataset, .. } => Some(dataset.as_str()),
            _ => None,
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn is_of(input: &BoundInput, name: &str) -> bool {
    matches!(&input.kind, InputKind::Dataset { dataset, .. } if dataset == name)
}

/// The last denial, unless a later grant of the same outweighs it.
fn denied_last<'a>(tally: &Tally<'a>) -> Option<&'a Earlier> {
    let denied = tally.last_denied?;
    let granted = tally.last_granted.and_then(at);
    granted
        .is_none_or(|granted| Some(granted) < at(denied))
        .then_some(denied)
}

fn at(earlier: &Earlier) -> Option<Timestamp> {
    earlier.decided.as_ref().map(|decided| decided.at)
}

/// Nobody knows which of several data sets a person denied, so all of them are named.
fn denied_data(agent: &str, data: &[Arc<str>], when: &str) -> Line {
    let mut line = claim::spans(&claim::named(agent, NAME), Role::Flagged);
    line.push((words::was_denied(data.len()).to_owned(), Role::Flagged));
    let names: Vec<&str> = data.iter().map(|d| &**d).collect();
    line.extend(claim::spans(&names.join(", "), Role::Flagged));
    line.push((format!(" {when}"), Role::Flagged));
    line
}

/// `elsewhere`: whether it was of other data sets.
fn denial(
    earlier: &Earlier,
    what: &str,
    elsewhere: bool,
    time: impl Fn(Timestamp) -> String,
) -> Line {
    let when = at(earlier).map(time).unwrap_or_default();
    let mut line = vec![(format!("{what}denied {when}"), Role::Flagged)];
    if elsewhere {
        line.push((words::denied_for(&earlier.data), Role::Flagged));
    }
    let reason = earlier.decided.as_ref().and_then(|d| d.reason.as_deref());
    if let Some(reason) = reason {
        line.push((": \"".to_owned(), Role::Flagged));
        line.extend(claim::spans(reason, Role::Flagged));
        line.push(("\"".to_owned(), Role::Flagged));
    }
    line
}

#[cfg(test)]
#[path = "novelty_tests.rs"]
mod tests;
