//! A host at which nobody sits: only votes grant, so what no votes are asked about is refused or ends at once. It never
//! waits for a person who is not there.

use crate::clock::Now;
use crate::model::{ProposalId, Terms, Verdict};

use super::decision::Refused;
use super::effect::{Effect, RpcError};
use super::outcome::OutcomeText;
use super::refusals::not_asked;
use super::state::{Attendance, BrokerState, Profile};

impl BrokerState {
    pub(super) const fn is_unattended(&self) -> bool {
        matches!(self.settings.attendance, Attendance::Nobody)
    }

    /// The profiles under which something can be granted here.
    pub(super) fn profiles_asked(&self) -> impl Iterator<Item = &Profile> {
        let profiles = self.settings.profiles.iter();
        profiles.filter(|p| !self.is_unattended() || !p.policy.grant.is_empty())
    }

    /// Refuses a profile whose policy never asks for votes, where nobody else could decide.
    pub(super) fn check_asked(&self, profile: &str) -> Result<(), RpcError> {
        if !self.is_unattended() {
            return Ok(());
        }
        let asked = self.profiles_asked().map(|p| p.policy.name.as_str());
        let asked: Vec<&str> = asked.collect();
        match asked.contains(&profile) {
            true => Ok(()),
            false => Err(not_asked(profile, &asked)),
        }
    }

    /// Whether nobody is asked about code with this verdict, and nobody sits here either.
    pub(super) fn is_unasked(&self, profile: &str, verdict: &Verdict) -> bool {
        let grant = self.profile(profile).map(|p| &p.policy.grant);
        self.is_unattended() && grant.is_none_or(|grant| Terms::of(grant, verdict).is_empty())
    }

    /// Ends what cannot be put to the vote. Where a person sits, they may shorten or deny it.
    pub(super) fn end_unoffered(
        &mut self,
        id: ProposalId,
        why: Refused,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        if !self.is_unattended() {
            self.refusal = Some((id, why));
            return;
        }
        let message = why.to_string();
        self.end_failed(id, OutcomeText::never(&message), message, now, fx);
    }
}
