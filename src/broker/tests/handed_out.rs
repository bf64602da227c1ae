//! A grant for the executor's tests, made like any other by a person's confirmation.

use std::sync::Arc;

use super::super::Grant;
use super::super::event::Event;
use super::super::state::Profile;
use super::world::*;
use crate::model::{CodeFacts, Environment, Verdict, VerdictKind};
use crate::policy::Policy;

/// A grant as the executor receives it: confirmed by a person, with a durable record.
pub fn handed_out(policy: Policy, facts: Option<CodeFacts>, environment: Environment) -> Grant {
    let mut settings = settings();
    policy.name.clone_into(&mut settings.profile);
    settings.profiles = vec![Profile {
        policy: Arc::new(policy),
        given: Vec::new(),
        base: None,
    }];
    let mut w = World::with(settings);
    w.send(Event::Environment(environment));
    let (id, _) = w.propose(A, draft("1"));
    let (job, code) = w.jobs.pop_front().expect("a job waits for the analyser");
    let verdict = Box::new(Verdict {
        facts,
        ..verdict(VerdictKind::Clear, &code)
    });
    w.send(Event::Analysed { job, verdict });
    w.durable();
    w.grant(id);
    w.durable();
    w.grants.pop().expect("a grant was handed out")
}
