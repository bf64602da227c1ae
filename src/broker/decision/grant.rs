//! The only place where a grant is created.
//!
//! It reads the core's state and checks all of it itself. It is a submodule of `decision` because
//! only such a module sees the fields of a [`Grant`]; the state, which keeps a grant until its
//! record is durable, needs the type but must not construct one.

use super::super::entry::Entry;
use super::super::phase::Phase;
use super::super::state::BrokerState;
use super::{Consent, Grant, Refused};
use crate::ballot::Standing;
use crate::clock::Now;
use crate::model::{Bound, Environment, GrantDigest, State};

/// What a grant of this entry would bind right now, or why none is possible. The sheet shows the
/// digest; [`grant`] compares it.
pub fn grant_digest(state: &BrokerState, entry: &Entry) -> Result<GrantDigest, Refused> {
    // What its host binds, computed again from what the offer says.
    if let Some(offered) = entry.offered() {
        return Ok(offered.offer.grant);
    }
    let Environment::Ready {
        digest: environment,
        ..
    } = &state.environment
    else {
        return Err(Refused::NoEnvironment);
    };
    if entry.is_revising() {
        return Err(Refused::Revising);
    }
    let (Some(policy), Some(inputs)) = (state.policy_of(entry), entry.inputs()) else {
        return Err(Refused::Verdict);
    };
    let bound = Bound {
        id: entry.proposal.id,
        code: entry.code().digest(),
        inputs,
        told: policy.tells_private(),
        profile: &policy.name,
        policy: policy.sha256,
        limits: &policy.limits,
        tier: state.tier_for(&policy),
        environment: *environment,
    };
    Ok(bound.digest())
}

/// Turns a consent into a grant, or says why not: the confirmation of the person at the terminal, or, where the policy asks
/// for votes, enough of them. The only constructor of [`Grant`].
///
/// The deadline is checked here on boot time, because timers miss suspend. At the exact deadline it
/// denies.
pub(in crate::broker) fn grant(
    state: &BrokerState,
    consent: Consent<'_>,
    now: Now,
) -> Result<Grant, Refused> {
    let entry = state.entry(consent.id()).ok_or(Refused::Unknown)?;
    if state.is_closing() {
        return Err(Refused::Closing);
    }
    if state.audit.is_down() {
        return Err(Refused::AuditDown);
    }
    if let Some(doubt) = &state.log_doubt {
        return Err(doubt.into());
    }
    if entry.state() != State::Pending {
        return Err(Refused::NotPending(entry.state()));
    }
    if now.boot >= entry.deadline {
        return Err(Refused::TooLate);
    }
    let review = match &entry.phase {
        Phase::Waiting(review) => review,
        Phase::Revising(_) => return Err(Refused::Revising),
        _ => return Err(Refused::Verdict),
    };
    if !review.verdict().verdict.grantable() {
        return Err(Refused::Verdict);
    }
    let digest = match consent {
        Consent::Person(confirmation) => confirmation.digest,
        Consent::Votes(_) => review.poll.as_ref().ok_or(Refused::NoDesk)?.ballot.grant,
    };
    if grant_digest(state, entry)? != digest {
        return Err(Refused::Changed);
    }
    let (
        Some(policy),
        Environment::Ready {
            digest: environment,
            ..
        },
    ) = (state.policy_of(entry), &state.environment)
    else {
        return Err(Refused::NoEnvironment);
    };
    if entry.proposal.drill.is_some() {
        return Err(Refused::Drill);
    }
    // A seat has nothing to run.
    if state.settings.seat().is_some() || entry.offered().is_some() {
        return Err(Refused::Votes);
    }
    match (state.terms_of(entry), consent) {
        (terms, Consent::Person(_)) if terms.is_empty() && !state.is_unattended() => {}
        (_, Consent::Person(_)) => return Err(Refused::Votes),
        (terms, Consent::Votes(_)) => {
            let poll = review.poll.as_ref().ok_or(Refused::NoDesk)?;
            let met = matches!(state.standing(entry, now), Some(Standing::Met { .. }));
            let same = !terms.is_empty()
                && poll.terms == terms
                && poll.ballot.code == entry.code().digest();
            if !met || !same {
                return Err(Refused::Votes);
            }
        }
    }
    Ok(Grant {
        proposal: entry.proposal.clone(),
        code: entry.code().clone(),
        inputs: review.inputs.clone(),
        tier: state.tier_for(&policy),
        policy,
        environment: *environment,
        facts: review.verdict().facts,
        digest,
        at: now,
        deadline: entry.deadline,
    })
}
