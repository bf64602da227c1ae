//! What is new about a proposal, in a person's words: what the log says of this code, this title, these data
//! sets and this agent. Agents' and reviewers' texts are drawn as claims.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::broker::Entry;
use crate::clock::Now;
use crate::model::{But, Like, News, Than};

use super::claim;
use super::theme::Role;
use super::words;

pub use crate::broker::news::data_sets;

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

/// Most of these a line each. Of another program's there may be more.
const LINES: usize = 64;

/// Says what is new, in the order of the facts.
///
/// `compare`: the key that shows what changed.
pub fn said(
    news: &[News],
    entry: &Entry,
    whose: Whose,
    (zone, now): (&TimeZone, Now),
    compare: &str,
) -> Vec<Line> {
    let agent = entry.proposal.agent_name();
    let time = |at: Timestamp| words::when(at, now.wall, zone);
    let maybe = |at: &Option<Timestamp>| at.map(time).unwrap_or_default();
    let lines = news.iter().take(LINES).map(|one| match one {
        News::Denied {
            what,
            at,
            other,
            reason,
        } => denial(*what, &maybe(at), other.as_deref(), reason.as_deref()),
        News::FirstRead { dataset, private } => first_read(dataset, *private, agent, whose),
        News::DeniedData { data, at } => denied_data(agent, data, &maybe(at)),
        News::Same { times, at } => {
            let words = words::same_code(*times, at.map(time).as_deref());
            vec![(words, Role::Text)]
        }
        News::SameBut { at, than } => {
            let words = words::same_code_but(&maybe(at), &told(than));
            vec![(words, Role::Flagged)]
        }
        News::OtherData { data } => {
            vec![(words::other_data(data), Role::Flagged)]
        }
        News::Alike { but, at, than } => {
            let (what, plain) = match but {
                But::Spacing => ("spacing", Role::Text),
                But::Numbers => ("numbers", Role::Text),
                // Something can obey a comment, and what stands between quotes can be a column or a path, so these are
                // said aloud.
                But::Comments => ("comments", Role::Strong),
                But::Texts => ("texts", Role::Strong),
            };
            let words = words::same_shape(at.map(time).as_deref(), what);
            let differs = told(than);
            vec![match differs.is_empty() {
                true => (words, plain),
                false => (format!("{words}, {differs}"), Role::Flagged),
            }]
        }
        News::Titled { at } => vec![(words::same_title(&time(*at), compare), Role::Strong)],
        News::Never { titled } => {
            let words = match titled {
                true => words::CODE_NEVER_GRANTED,
                false => words::NEVER_GRANTED,
            };
            vec![(words.to_owned(), Role::Strong)]
        }
        News::OfAgent {
            granted,
            denied,
            blocked,
        } => {
            let mut line = claim::spans(&claim::named(agent, NAME), Role::Text);
            let decided = granted.saturating_add(*denied);
            line.push((
                words::agent_granted(*granted, decided, *blocked),
                Role::Text,
            ));
            line
        }
    });
    lines.collect()
}

/// Columns of an agent's name in a line.
const NAME: usize = 24;

fn told(than: &Than) -> String {
    words::differs(&than.differs, &than.profile, &than.data)
}

fn first_read(dataset: &str, private: bool, agent: &str, whose: Whose) -> Line {
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
    line
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

/// `other`: the data sets that it was about, if they are others.
fn denial(what: Like, when: &str, other: Option<&[Arc<str>]>, reason: Option<&str>) -> Line {
    let what = match what {
        Like::Code => words::CODE_DENIED,
        Like::Title => words::TITLE_DENIED,
        Like::Shape => words::ALIKE_DENIED,
    };
    let mut line = vec![(format!("{what}denied {when}"), Role::Flagged)];
    if let Some(other) = other {
        line.push((words::denied_for(other), Role::Flagged));
    }
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
