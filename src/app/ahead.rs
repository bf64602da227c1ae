//! Prepares for the selected proposal while a person reads it: what its run starts from is ready
//! before it is granted.

use crate::broker::BrokerState;
use crate::executor::Wish;
use crate::model::{ProposalId, State};

use super::effects::Hands;

/// The last request, so that the same one is not made twice.
#[derive(Debug, Default)]
pub struct Ahead(Option<(ProposalId, Wish)>);

impl Ahead {
    /// `wish`: whether a person just acted on the proposal, or it was only selected.
    pub fn get_ready(
        &mut self,
        selected: Option<ProposalId>,
        state: &BrokerState,
        hands: &Hands,
        wish: Wish,
    ) {
        let Some(id) = selected else { return };
        if self
            .0
            .is_some_and(|(last, asked)| last == id && asked >= wish)
        {
            return;
        }
        let entry = state.entry(id).filter(|e| e.state() == State::Pending);
        let Some((entry, inputs)) = entry.and_then(|e| Some((e, e.inputs()?))) else {
            return;
        };
        let (Some(policy), Some(python)) = (state.policy_of(entry), hands.python.clone()) else {
            return;
        };
        let tier = state.tier_for(&policy);
        self.0 = Some((id, wish));
        let env = python.env.clone();
        hands.executor.prepare(policy, tier, env, inputs, wish);
    }
}
