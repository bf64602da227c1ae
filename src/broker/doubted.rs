//! A log that cannot be read, or is not the one that was signed.
//!
//! What was signed stays contradicted until this program ends, so where people vote, nothing waits for them any more: they would read
//! and sign in vain. At a dashboard without voters the person sees what is wrong, and decides what becomes of what waits.

use crate::clock::Now;
use crate::model::ProposalId;

use super::effect::{Effect, RpcError};
use super::outcome::OutcomeText;
use super::phase::Phase;
use super::refusals::log_is_doubted;
use super::state::{BrokerState, LogDoubt};

impl BrokerState {
    /// Withholds grants. What was signed stays contradicted.
    pub(super) fn doubted(&mut self, doubt: LogDoubt, now: Now, fx: &mut Vec<Effect>) {
        if matches!(self.log_doubt, Some(LogDoubt::Contradicted(_))) {
            // The same, in the words that others read too.
            if matches!(doubt, LogDoubt::Contradicted(_)) {
                self.log_doubt = Some(doubt);
            }
            return;
        }
        self.log_doubt = Some(doubt);
        if !self.offers_nothing() {
            return;
        }
        let open: Vec<(ProposalId, bool)> = self
            .entries
            .values()
            .filter(|e| e.awaits_decision() || matches!(e.phase, Phase::Arriving(_)))
            .map(|e| (e.proposal.id, e.awaits_decision()))
            .collect();
        for (id, has_record) in open {
            match has_record {
                true => self.end_doubted(id, now, fx),
                // The log does not have it yet.
                false => self.drop_unknown(id, &log_is_doubted(), fx),
            }
        }
    }

    pub(super) fn log_read(&mut self) {
        self.log_doubt
            .take_if(|doubt| matches!(doubt, LogDoubt::Unreadable(_)));
    }

    /// Whether this is a host whose log is not the one that it signed.
    pub(super) fn offers_nothing(&self) -> bool {
        self.settings.is_host() && matches!(self.log_doubt, Some(LogDoubt::Contradicted(_)))
    }

    /// Refuses what nobody could grant here before another start.
    pub(super) fn check_log(&self) -> Result<(), RpcError> {
        match self.offers_nothing() {
            true => Err(log_is_doubted()),
            false => Ok(()),
        }
    }

    /// Ends a proposal that waits for votes which could not grant it.
    pub(super) fn end_doubted(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        if entry.is_drill() {
            return self.drill_unanswered(id, now, fx);
        }
        let message = log_is_doubted().message;
        self.end_failed(id, OutcomeText::settled(&message), message, now, fx);
    }
}
