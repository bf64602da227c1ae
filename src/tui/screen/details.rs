//! The plumbing of a proposal: what is the same nearly every time, or means something to few.

use crate::broker::Entry;

use super::super::flow::Para;
use super::super::theme::Role;
use super::super::words;
use super::Screen;
use super::lengths::{Lengths, Room};
use super::outcome::confined;
use super::panes::{hints, labelled, limits, peer, said, told_of};

impl Screen<'_> {
    /// Limits, tier and layers, environment, digests, and the effects in full.
    pub(super) fn details(&self, entry: &Entry) -> Vec<Para> {
        let p = &entry.proposal;
        let mut out = self.votes(entry);
        out.extend(self.effects(entry, Room::Each, 0, Lengths::WHOLE));
        out.push(Para::default());
        if let Some(policy) = self.state.policy_of(entry) {
            out.push(limits(&policy.limits).after(&format!("{:<8} ", "limits")));
            out.push(labelled(
                "profile",
                &format!("{} sha256 {}", policy.label(), policy.sha256.hex()),
            ));
            let tier = self.state.tier_for(&policy);
            let (layers, does_not_stop) = self.facts.of(tier);
            // In a seat nobody knows the layers of another machine.
            let tier = match layers.is_empty() {
                true => tier.to_string(),
                false => format!("{tier}: {}", layers.join(", ")),
            };
            out.push(labelled("tier", &tier));
            for what in does_not_stop {
                out.push(Para::new(format!("▲ does not stop {what}"), Role::Flagged).indent(9));
            }
        }
        out.extend(entry.run().map(confined));
        out.push(labelled("python", &self.python_of(entry)));
        out.extend(peer(&p.peer));
        if self.facts.agents_share_uid {
            let shared = format!("▲ {}", words::SHARED_UID);
            let means = Para::new(shared, Role::Flagged).and(words::SHARED_UID_MEANS, Role::Text);
            out.push(means.indent(9).hang(9));
        }
        out.push(labelled("id", &p.id.to_string()));
        out.push(labelled(
            "code",
            &format!(
                "{} {}",
                entry.code().digest(),
                words::bytes(entry.code().bytes())
            ),
        ));
        if entry.is_edited() {
            let proposed = &p.proposed;
            let digest = format!("{} {}", proposed.digest(), words::bytes(proposed.bytes()));
            out.push(told_of("edited", words::EDITED));
            out.push(labelled("proposed", &digest));
        }
        for input in entry.inputs().into_iter().flat_map(|i| i.iter()) {
            out.push(labelled(
                "input",
                &format!("{} {}", input.name, input.sha256),
            ));
        }
        if let Some(key) = &p.idempotency_key {
            out.push(labelled("key", key));
        }
        if let Some(trace) = &p.traceparent {
            out.push(said("trace", trace));
        }
        if let Some(verdict) = entry.verdict() {
            out.extend(hints(verdict));
        }
        if let Some(tally) = self.ui.tally() {
            out.push(told_of("session", &words::tally(&tally, usize::MAX)));
        }
        out
    }
}
