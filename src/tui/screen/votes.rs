//! What a grant needs where a policy asks for signed votes, and what there is of it.

use crate::ballot::Standing;
use crate::broker::Entry;
use crate::broker::poll::Cast;
use crate::model::VoteKind;

use super::super::flow::Para;
use super::super::theme::Role;
use super::super::ui::votes::{going, seen};
use super::super::words;
use super::super::words::votes as said;
use super::Screen;
use super::panes::{environment, said as claimed, told_of};

impl Screen<'_> {
    /// Whether a grant of this takes signed votes.
    pub(super) fn takes_votes(&self, entry: &Entry) -> bool {
        !self.state.terms_of(entry).is_empty()
    }

    /// What the sheet's key does. `wide`: whether there is room for all of it.
    pub(super) fn key_does(&self, entry: &Entry, wide: bool) -> &'static str {
        match (self.takes_votes(entry), wide) {
            (false, _) => "to grant",
            (true, true) => said::TO_SIGN,
            (true, false) => said::TO_SIGN_SHORT,
        }
    }

    /// The Python that it would run in: in a seat, the one that its host named.
    pub(super) fn python_of(&self, entry: &Entry) -> String {
        match entry.offered() {
            None => environment(&self.state.environment),
            Some(offered) => said::python_at(&offered.offer.environment),
        }
    }

    /// The account of the agent's side, and in a seat the host that it is on.
    pub(super) fn uid_of(entry: &Entry) -> String {
        let account = entry.proposal.peer.account();
        match entry.offered() {
            None => account,
            Some(offered) => format!("{account} at {}", said::short_host(&offered.offer.host)),
        }
    }

    /// The first rows of the sheet: in a seat the host, what a grant needs, and whose vote this will be.
    pub(super) fn needs(&self, entry: &Entry) -> Vec<Para> {
        let terms = self.state.terms_of(entry);
        if terms.is_empty() {
            return Vec::new();
        }
        let rules = terms.0.iter().enumerate();
        let mut out: Vec<Para> = rules
            .map(|(i, rule)| self.row_of(i, said::NEEDS, &rule.to_string()))
            .collect();
        if let Some(Standing::Impossible(why)) = self.state.standing(entry, self.now) {
            out.push(self.flagged(0, said::NEEDS, &said::impossible(&why)));
        }
        if let Some(offered) = entry.offered() {
            let (host, key) = (&offered.offer.host, &offered.offer.host_key);
            out.insert(0, self.row(said::HOST, &said::runs_at(host, key)));
        }
        out.push(match self.state.voter_here(entry) {
            Ok(person) => self.row(said::YOUR_VOTE, &said::votes_as(person)),
            Err(why) => self.flagged(0, said::YOUR_VOTE, &why.to_string()),
        });
        out
    }

    /// How the person's own vote goes.
    pub(super) fn vote_goes(&self) -> Option<(String, Role)> {
        going(self.state, self.entry?, self.now)
    }

    /// The same in the details, with the votes of others once the person's own is in.
    pub(super) fn votes(&self, entry: &Entry) -> Vec<Para> {
        let rules = self.state.terms_of(entry).0;
        let needs = rules.iter().map(ToString::to_string);
        let host = entry.offered().map(|offered| {
            let (host, key) = (&offered.offer.host, &offered.offer.host_key);
            told_of(said::HOST, &said::runs_at(host, key))
        });
        let needs = needs.map(|rule| told_of(said::NEEDS, &rule));
        let mut out: Vec<Para> = host.into_iter().chain(needs).collect();
        if !entry.asked().is_empty() {
            let at = entry
                .escalated()
                .map(|at| words::when(at, self.now.wall, &self.ui.common.zone));
            let me = self.state.person_here().ok();
            let asks = said::asks(entry.asked(), me, at.as_deref());
            out.push(told_of(said::ASKS, &asks));
        }
        if let Some((words, role)) = going(self.state, entry, self.now) {
            let label = format!("{:<8} ", said::VOTE_ROW);
            out.push(Para::new(words, role).after(&label).hang(9));
        }
        let readers = self.ui.readers(entry.proposal.id, self.now);
        if entry.awaits_decision() && !readers.is_empty() {
            out.push(told_of(said::READERS, &said::reading(&readers)));
        }
        match (seen(self.state, entry), entry.poll()) {
            (Some(all), _) => {
                let findings = entry.verdict().map_or(0, |verdict| verdict.findings.len());
                out.extend(
                    all.into_iter()
                        .flat_map(|cast| self.vote_of(cast, findings)),
                );
            }
            (None, Some(_)) if entry.awaits_decision() => {
                out.push(told_of("votes", said::NOT_OPEN));
            }
            (None, _) => {}
        }
        if !out.is_empty() {
            out.push(Para::default());
        }
        out
    }

    /// One vote: whose, what, when, with which key, and what they looked at.
    fn vote_of(&self, cast: &Cast, findings: usize) -> Vec<Para> {
        let at = words::when(cast.at, self.now.wall, &self.ui.common.zone);
        let role = match cast.vote.kind {
            VoteKind::Grant => Role::Text,
            VoteKind::Deny | VoteKind::Veto => Role::Flagged,
        };
        let head = format!("{:<8} ", "votes");
        let mut out = vec![
            Para::new(head, Role::Dim)
                .and(cast.vote.voter.to_string(), Role::Strong)
                .and(
                    said::cast(cast.vote.kind, &at, &cast.key, cast.touched),
                    role,
                )
                .hang(9),
        ];
        let looked = crate::audit::looked(&cast.vote.viewed, findings);
        out.extend(
            looked
                .into_iter()
                .map(|line| Para::new(line, Role::Dim).indent(9)),
        );
        out.extend(cast.vote.reason.iter().map(|why| claimed("reason", why)));
        out
    }
}
