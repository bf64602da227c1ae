//! What is new about a proposal, in a person's words: what the log says of this code, this title, these data
//! sets and this agent. Agents' and reviewers' texts are drawn as claims.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::broker::Entry;
use crate::clock::Now;
use crate::model::{Earlier, InputKind, Of, Past, Tally};

use super::claim;
use super::theme::Role;
use super::words;

/// A short text in spans, ready to draw.
pub type Line = Vec<(String, Role)>;

/// What is new, the most important first: an earlier denial, whether this code was granted before, data sets
/// that this agent reads for the first time, and how the agent's earlier proposals were decided.
pub fn novelty(past: &Past, entry: &Entry, zone: &TimeZone, now: Now) -> Vec<Line> {
    let proposal = &entry.proposal;
    let own = Some(proposal.id);
    let (uid, agent) = (proposal.peer.uid, proposal.agent_name());
    let shape = past.about(proposal.id).and_then(|own| own.shape);
    let time = |at: Timestamp| words::when(at, now.wall, zone);
    let code = past.tally(&Of::Code(proposal.digest), own);
    let numbers = shape.map_or_else(Tally::default, |s| past.tally(&Of::Numbers(s), own));
    let texts = shape.map_or_else(Tally::default, |s| past.tally(&Of::Texts(s), own));
    let title = proposal.title.as_deref().map_or_else(Tally::default, |t| {
        past.tally(&Of::Titled(uid, agent, t), own)
    });
    let mut out = Vec::new();

    let denials = [
        (&code, words::CODE_DENIED),
        (&title, words::TITLE_DENIED),
        (&numbers, words::ALIKE_DENIED),
    ];
    let denied = denials
        .iter()
        .find_map(|(tally, what)| Some((denied_last(tally)?, *what)));
    if let Some((earlier, what)) = denied {
        out.push(denial(earlier, what, time));
    }

    let last = |tally: &Tally<'_>| tally.last_granted.and_then(at).map(time);
    let (words, role) = if code.granted > 0 {
        let words = words::same_code(code.granted, last(&code).as_deref());
        (words, Role::Text)
    } else if numbers.granted > 0 {
        let words = words::same_shape(last(&numbers).as_deref(), "numbers");
        (words, Role::Text)
    } else if texts.granted > 0 {
        // What stands between quotes can be a column or a path, so this is said aloud.
        let words = words::same_shape(last(&texts).as_deref(), "texts");
        (words, Role::Strong)
    } else {
        (words::NEVER_GRANTED.to_owned(), Role::Strong)
    };
    out.push(vec![(words, role)]);

    let inputs = entry.inputs().into_iter().flat_map(|inputs| inputs.iter());
    let mut read: Vec<&str> = Vec::new();
    for input in inputs {
        if let InputKind::Dataset { dataset, .. } = &input.kind
            && !read.contains(&dataset.as_str())
        {
            read.push(dataset);
            if past.tally(&Of::Reads(uid, agent, dataset), own).granted == 0 {
                let mut line = vec![(words::FIRST_TIME.to_owned(), Role::Text)];
                line.extend(claim::spans(agent, Role::Text));
                line.push((words::READS.to_owned(), Role::Text));
                line.extend(claim::spans(dataset, Role::Strong));
                out.push(line);
            }
        }
    }

    let of_agent = past.tally(&Of::Agent(uid, agent), own);
    let mut line = claim::spans(agent, Role::Text);
    let decided = of_agent.granted + of_agent.denied;
    line.push((words::agent_granted(of_agent.granted, decided), Role::Text));
    out.push(line);
    out
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

fn denial(earlier: &Earlier, what: &str, time: impl Fn(Timestamp) -> String) -> Line {
    let when = at(earlier).map(time).unwrap_or_default();
    let mut line = vec![(format!("{what}denied {when}"), Role::Flagged)];
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
