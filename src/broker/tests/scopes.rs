//! The scope `public`: what a run leaves there is an input of the session's next run.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::event::{ExecNote, Request};
use super::super::state::Profile;
use super::world::*;
use crate::model::{ConnId, Draft, InputRequest, ProposalId, Run, RunErrorKind, VerdictKind};
use crate::policy::{Contract, Policy};

fn world() -> World {
    let scoped = Profile {
        policy: Arc::new(Policy {
            contract: Contract::Scoped,
            ..policy("scoped")
        }),
        given: Vec::new(),
        base: None,
    };
    let mut settings = settings();
    settings.profiles.push(scoped);
    let mut w = World::with(settings);
    for conn in [A, B, C] {
        let fresh = format!("session of {conn:?}");
        let hello = Request::Hello {
            agent: None,
            resume: None,
            fresh,
        };
        w.ask(conn, hello).unwrap();
    }
    w
}

fn scoped(code: &str) -> Draft {
    Draft {
        profile: Some("scoped".to_owned()),
        ..draft(code)
    }
}

/// Proposes, binds the inputs as requested, and grants.
fn start_run(w: &mut World, conn: ConnId, draft: Draft) -> ProposalId {
    let (id, _) = w.propose(conn, draft);
    w.analyse(VerdictKind::Clear);
    if let Some((asked, _)) = w.asked.get(&id) {
        let inputs = asked.iter().map(|(name, input)| match input {
            InputRequest::Json { json } => bound(name, &json.to_string()),
            other => panic!("{other:?}"),
        });
        let inputs = Ok(inputs.collect());
        w.send(super::super::Event::InputsBound { id, inputs });
    }
    w.durable();
    w.start(id);
    id
}

fn ended_with(result: Value) -> ExecNote {
    ExecNote::Ended(Box::new(Run { result, ..run("") }))
}

/// The `public` values that the next proposal of this connection is given.
fn given_public(w: &mut World, conn: ConnId, draft: Draft) -> Option<Value> {
    let (id, _) = w.propose(conn, draft);
    w.analyse(VerdictKind::Clear);
    let input = w.asked.get(&id)?.0.get("public")?;
    let known = w.known.last().unwrap().inputs.clone().unwrap();
    assert!(known.contains("public"), "the analyser knows the name");
    match input {
        InputRequest::Json { json } => Some(json.clone()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn public_values_of_a_run_are_given_only_to_its_session() {
    let mut w = world();
    let id = start_run(&mut w, A, scoped("1"));
    assert_eq!(
        given_public(&mut w, A, scoped("2")),
        None,
        "no run has left a value yet"
    );
    w.exec(id, ended_with(json!({"public": {"seen": 1}, "other": 2})));
    assert_eq!(
        given_public(&mut w, A, scoped("3")),
        None,
        "the end is not recorded"
    );
    w.durable();
    let expected = Some(json!({"seen": 1}));
    assert_eq!(given_public(&mut w, A, scoped("4")), expected);
    assert_eq!(
        given_public(&mut w, A, draft("5")),
        None,
        "another contract"
    );
    assert_eq!(
        given_public(&mut w, B, scoped("6")),
        None,
        "another session"
    );
    let hello = Request::Hello {
        agent: None,
        resume: Some(format!("session of {A:?}")),
        fresh: "unused".to_owned(),
    };
    w.ask(B, hello).unwrap();
    assert_eq!(given_public(&mut w, B, scoped("7")), expected, "resumed");
}

#[test]
fn only_a_succeeded_run_of_the_contract_leaves_anything_in_public() {
    let result = json!({"public": {"seen": 1}});
    let failed = Run {
        result: result.clone(),
        ..failed_run(RunErrorKind::PolicyViolation)
    };
    for (draft, end) in [
        (scoped("1"), ExecNote::Ended(Box::new(failed))),
        (draft("1"), ended_with(result)),
        (scoped("1"), ended_with(json!({"public": [1]}))),
        (scoped("1"), ended_with(json!({}))),
    ] {
        let mut w = world();
        let id = start_run(&mut w, A, draft);
        w.exec(id, end);
        w.durable();
        assert_eq!(given_public(&mut w, A, scoped("2")), None);
    }
}

/// Values that a run was given and left unchanged do not overwrite what another run changed
/// meanwhile.
#[test]
fn a_run_changes_of_public_only_what_it_changed() {
    let mut w = world();
    let first = start_run(&mut w, A, scoped("1"));
    w.exec(first, ended_with(json!({"public": {"a": 1, "b": 1}})));
    w.durable();
    let (slow, quick) = (
        start_run(&mut w, A, scoped("2")),
        start_run(&mut w, A, scoped("3")),
    );
    w.exec(quick, ended_with(json!({"public": {"a": 2, "b": 1}})));
    w.durable();
    w.exec(slow, ended_with(json!({"public": {"a": 1, "c": 3}})));
    w.durable();
    let expected = Some(json!({"a": 2, "c": 3}));
    assert_eq!(given_public(&mut w, A, scoped("4")), expected);
}

#[test]
fn a_connection_without_a_session_that_closed_leaves_nothing_in_public() {
    let mut w = world();
    let stranger = ConnId(9);
    for closes in [false, true] {
        w.connect(stranger, 1000, 30);
        let id = start_run(&mut w, stranger, scoped("1"));
        if closes {
            w.disconnect(stranger);
        }
        w.exec(id, ended_with(json!({"public": {"seen": 1}})));
        w.durable();
        if closes {
            w.connect(stranger, 1000, 30);
            assert_eq!(given_public(&mut w, stranger, scoped("2")), None);
        } else {
            assert!(given_public(&mut w, stranger, scoped("2")).is_some());
            w.disconnect(stranger);
        }
    }
}
