//! What is new about a proposal: what the log says of its code, its title, its data sets and its agent.

use std::sync::Arc;

use jiff::Timestamp;

use crate::model::{
    BoundInput, But, Earlier, InputKind, Like, News, Of, Past, ProposalId, Shape, Tally, Than,
};

use super::entry::Entry;

/// The most useful first: an earlier denial of this code, title or shape, private data that this agent reads for the first
/// time, whether this code, its shape or its title was granted before, other data that it reads for the first time, data
/// that it was denied, and how its earlier proposals were decided.
///
/// `may_see`: which earlier proposals those may see who are told; the others are as if they never were. `None`: all.
pub fn news(past: &Past, entry: &Entry, may_see: Option<&dyn Fn(&Earlier) -> bool>) -> Vec<News> {
    let tally = |of: &Of<'_>| match may_see {
        None => past.tally(of, Some(entry.proposal.id)),
        Some(may_see) => past.tally_seen(of, Some(entry.proposal.id), may_see),
    };
    let is_seen = |earlier: &&Earlier| may_see.is_none_or(|may_see| may_see(earlier));
    let proposal = &entry.proposal;
    let (uid, agent) = (proposal.peer.uid, proposal.agent_name());
    let me = past.about(proposal.id);
    let shape = me.and_then(|own| own.shape);
    let code = tally(&Of::Code(entry.code().digest()));
    let shaped_like =
        |of: fn(Shape) -> Of<'static>| shape.map_or_else(Tally::default, |s| tally(&of(s)));
    let tokens = shaped_like(Of::Tokens);
    let numbers = shaped_like(Of::Numbers);
    let texts = shaped_like(Of::Texts);
    let title = proposal
        .title
        .as_deref()
        .map_or_else(Tally::default, |t| tally(&Of::Titled(uid, agent, t)));
    let data = data_sets(entry);
    let has_same_data =
        |earlier: &Earlier| earlier.data.iter().map(|d| &**d).eq(data.iter().copied());
    let mut out = Vec::new();
    let mut later = Vec::new();
    let mut last = Vec::new();

    let denials = [
        (&code, Like::Code),
        (&title, Like::Title),
        (&tokens, Like::Shape),
        (&numbers, Like::Shape),
    ];
    let denied = denials
        .iter()
        .find_map(|(tally, what)| Some((denied_last(tally)?, *what)));
    if let Some((earlier, what)) = denied {
        let reason = earlier.decided.as_ref().and_then(|d| d.reason.clone());
        out.push(News::Denied {
            what,
            at: at(earlier),
            other: (!has_same_data(earlier)).then(|| earlier.data.to_vec()),
            reason,
        });
    }

    let inputs = entry.inputs().map_or(&[][..], |inputs| inputs);
    let mut denials: Vec<ProposalId> = Vec::new();
    for dataset in &data {
        let read = tally(&Of::Reads(uid, agent, dataset));
        let private = inputs.iter().any(|i| i.is_private() && is_of(i, dataset));
        if let Some(earlier) = denied_last(&read) {
            if denials.contains(&earlier.id) {
                continue;
            }
            denials.push(earlier.id);
            // It is true of everything that this agent asks of this data, so it says the least of this code.
            last.push(News::DeniedData {
                data: earlier.data.to_vec(),
                at: at(earlier),
            });
        } else if read.granted == 0 {
            let dataset = Arc::from(*dataset);
            // Private data that this agent never had comes before what its code was before.
            match private {
                true => out.push(News::FirstRead { dataset, private }),
                false => later.push(News::FirstRead { dataset, private }),
            }
        }
    }

    let granted = |earlier: &&Earlier| earlier.decided.as_ref().is_some_and(|d| d.granted);
    let others = |earlier: &Earlier| me.map_or_else(Vec::new, |me| me.others(earlier));
    let here = |earlier: &Earlier| has_same_data(earlier) && me.is_some();
    // Only of what had the same data sets as this one.
    let than = |earlier: &Earlier| Than {
        differs: others(earlier),
        profile: earlier.profile.clone(),
        data: earlier.data.to_vec(),
    };
    let found = past.found(&Of::Code(entry.code().digest()));
    let found: Vec<&Earlier> = found
        .filter(|earlier| earlier.id != proposal.id)
        .filter(is_seen)
        .filter(granted)
        .collect();
    let same: Vec<&Earlier> = found
        .iter()
        .copied()
        .filter(|earlier| here(earlier) && others(earlier).is_empty())
        .collect();
    let alike = |tally: &Tally<'_>| tally.last_granted.is_some_and(here);
    let shaped = |tally: &Tally<'_>, but| News::Alike {
        but,
        at: tally.last_granted.and_then(at),
        than: tally.last_granted.map(than).unwrap_or_default(),
    };
    let has_same_comments = |tally: &Tally<'_>| {
        let other = tally.last_granted.and_then(|earlier| earlier.shape);
        shape.zip(other).is_some_and(|(a, b)| a.same_comments(&b))
    };
    let titled = title.last_granted.and_then(at);
    let main = if let Some(newest) = same.first() {
        News::Same {
            times: same.len() as u32,
            at: at(newest),
        }
    } else if let Some(newest) = found.iter().find(|earlier| here(earlier)) {
        // A person who knows the code does not know what it does under other conditions.
        News::SameBut {
            at: at(newest),
            than: than(newest),
        }
    } else if let Some(elsewhere) = code.last_granted {
        News::OtherData {
            data: elsewhere.data.to_vec(),
        }
    } else if alike(&tokens) {
        match has_same_comments(&tokens) {
            true => shaped(&tokens, But::Spacing),
            false => shaped(&tokens, But::Comments),
        }
    } else if alike(&numbers) {
        shaped(&numbers, But::Numbers)
    } else if alike(&texts) {
        shaped(&texts, But::Texts)
    } else {
        out.extend(titled.map(|at| News::Titled { at }));
        News::Never {
            titled: titled.is_some(),
        }
    };
    out.push(main);
    out.extend(later);
    out.extend(last);
    let of_agent = tally(&Of::Agent(uid, agent));
    out.push(News::OfAgent {
        granted: of_agent.granted,
        denied: of_agent.denied,
        blocked: of_agent.blocked,
    });
    out
}

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
