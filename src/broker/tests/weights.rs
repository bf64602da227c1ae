//! The exact bounds of what is taken and of what stays in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

use super::super::effect::RpcError;
use super::super::event::{Event, ExecNote, Request};
use super::super::state::Profile;
use super::world::*;
use crate::model::{Draft, InputRequest, Limits, ProposalId, Run, State, VerdictKind};
use crate::policy::{Contract, Policy};

/// The most that ended proposals hold together.
const ENDED_BYTES_MAX: usize = 64 * 1024 * 1024;

fn world_with(contract: Contract) -> World {
    let profile = Profile {
        policy: Arc::new(Policy {
            contract,
            ..policy("special")
        }),
        given: Vec::new(),
        base: None,
    };
    let mut settings = settings();
    settings.profiles.push(profile);
    World::with(settings)
}

fn draft_with_inputs(names: &[&str]) -> Draft {
    let json = json!({"target": "y"});
    let input = |name: &&str| {
        let json = json.clone();
        ((*name).to_owned(), InputRequest::Json { json })
    };
    Draft {
        profile: Some("special".to_owned()),
        inputs: names.iter().map(input).collect(),
        ..draft("1")
    }
}

fn denied(w: &mut World, draft: Draft) -> ProposalId {
    let id = w.pending(A, draft);
    w.deny(id, None);
    w.durable();
    id
}

#[test]
fn the_contract_feature_takes_one_table() {
    let mut w = world_with(Contract::Feature);
    w.propose(A, draft_with_inputs(&["df", "lift"]));
    assert_eq!(w.jobs.len(), 1, "one table is analysed");
    let error = w.propose_refused(A, draft_with_inputs(&["first", "second"]));
    assert_eq!(error.code, RpcError::INVALID_PARAMS);
    assert!(error.message.contains("one table"), "{}", error.message);
}

#[test]
fn no_input_takes_a_name_of_the_contract_scoped_but_private() {
    let mut w = world_with(Contract::Scoped);
    w.propose(A, draft_with_inputs(&["private"]));
    assert_eq!(w.jobs.len(), 1, "`private` is analysed");
    let names = Contract::Scoped.names().iter();
    let taken: Vec<_> = names.filter(|name| **name != "private").collect();
    assert!(!taken.is_empty());
    for name in taken {
        let error = w.propose_refused(A, draft_with_inputs(&[name]));
        assert_eq!(error.code, RpcError::INVALID_PARAMS);
        assert!(error.message.contains("of the profile's own"), "{name}");
    }
}

#[test]
fn inputs_are_accepted_up_to_their_number() {
    let mut w = World::new();
    let draft_with = |n: usize| {
        let json = json!(1);
        let input = |at| (format!("x{at}"), InputRequest::Json { json: json.clone() });
        Draft {
            inputs: (0..n).map(input).collect(),
            ..draft("1")
        }
    };
    w.propose(A, draft_with(Limits::INPUTS_MAX));
    assert_eq!(w.jobs.len(), 1, "as many as the limit are analysed");
    let error = w.propose_refused(A, draft_with(Limits::INPUTS_MAX + 1));
    assert_eq!(error.code, RpcError::INVALID_PARAMS);
}

#[test]
fn an_ended_proposal_weighs_what_it_holds() {
    let mut w = World::new();
    let (code, brought) = ("print(df)", r#"{"a": [1, 2, 3]}"#);
    let json = json!({"a": [1, 2, 3]});
    let (id, _) = w.propose(
        A,
        Draft {
            title: Some("a title".to_owned()),
            reason: Some("a longer reason".to_owned()),
            inputs: BTreeMap::from([("df".to_owned(), InputRequest::Json { json })]),
            ..draft(code)
        },
    );
    w.analyse(VerdictKind::Flagged);
    w.send(Event::InputsBound {
        id,
        inputs: Ok(vec![bound("df", brought)]),
    });
    w.durable();
    let verdict = w.entry(id).verdict().unwrap();
    let findings = super::super::announce::findings_bytes(verdict);
    assert!(findings > 0);
    w.start(id);
    w.exec(
        id,
        ExecNote::Ended(Box::new(Run {
            stderr: "err".to_owned(),
            ..run("output")
        })),
    );
    w.durable();
    let words = "a title".len() + "a longer reason".len();
    let run = "output".len() + "err".len();
    let held = 2048 + code.len() + words + run + 2 * brought.len() + findings;
    assert_eq!(w.state.ended_bytes, held);
}

/// The bytes of other ended proposals are set, so that the bound is met to the byte.
#[test]
fn ended_proposals_are_forgotten_beyond_the_bound_and_not_at_it() {
    for (beyond, is_known) in [(0, true), (1, false)] {
        let mut w = World::new();
        w.thorough = false;
        let first = denied(&mut w, draft("1"));
        let weight = w.state.ended_bytes;
        w.state.ended_bytes = ENDED_BYTES_MAX - weight + beyond;
        let second = denied(&mut w, draft("2"));
        let status = w.ask(A, Request::Status { id: first });
        assert_eq!(status.is_ok(), is_known, "{beyond} beyond the bound");
        assert_eq!(w.state_of(second), State::Denied);
    }
}

#[test]
fn the_last_ended_proposal_stays_however_heavy() {
    let mut w = World::new();
    w.thorough = false;
    w.state.ended_bytes = ENDED_BYTES_MAX;
    let id = denied(&mut w, draft("1"));
    w.tick(ms(1));
    assert_eq!(w.state_of(id), State::Denied);
}

#[test]
fn forgetting_an_announced_proposal_leaves_the_count_of_the_unannounced() {
    let mut w = World::new();
    w.thorough = false;
    let first = denied(&mut w, draft("1"));
    let second = w.pending(A, draft("2"));
    w.propose(A, draft("not announced"));
    assert_eq!(w.state.unannounced.total, 1);
    w.state.ended_bytes = ENDED_BYTES_MAX;
    w.deny(second, None);
    w.durable();
    w.tick(ms(1));
    assert!(w.ask(A, Request::Status { id: first }).is_err());
    assert_eq!(w.state.unannounced.total, 1);
}
