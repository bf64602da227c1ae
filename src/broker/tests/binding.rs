//! Invariant 2: the grant's digest covers everything that changes what a run means.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::Confirmation;
use super::super::decision::grant::{grant, grant_digest};
use super::super::decision::{Consent, Refused};
use super::super::event::{Event, ExecNote};
use super::super::phase::Phase;
use super::world::*;
use crate::clock::Now;
use crate::model::{
    BoundInput, Column, DataFormat, Digest, Environment, GrantDigest, InputKind, LogEvent,
    ProposalId, Reviewer, RunEvent, Sensitivity, State, TextFormat, Tier, VerdictKind, Viewed,
};

/// The digest of the same proposal, by id, in a world altered by `change`.
fn digest_with(
    code: &str,
    inputs: Vec<BoundInput>,
    change: impl FnOnce(&mut World),
) -> GrantDigest {
    let mut w = World::new();
    let (id, _) = w.propose(
        A,
        crate::model::Draft {
            inputs: json_input(serde_json::json!(1)),
            ..draft(code)
        },
    );
    w.analyse(VerdictKind::Clear);
    w.binds.clear();
    let inputs = Ok(inputs);
    w.send(Event::InputsBound { id, inputs });
    w.durable();
    change(&mut w);
    w.digest(id)
}

fn json_inputs() -> Vec<BoundInput> {
    vec![bound("threshold", "1")]
}

fn dataset_input(content: &[u8], rows: u64) -> Vec<BoundInput> {
    vec![BoundInput {
        name: "df".to_owned(),
        kind: InputKind::Dataset {
            dataset: "penguins".to_owned(),
            format: DataFormat::Csv,
            rows,
            columns: vec![Column {
                name: "species".to_owned(),
                dtype: "object".to_owned(),
            }],
            sensitivity: Sensitivity::Public,
            texts: BTreeSet::new(),
            summary: None,
        },
        bytes: content.len() as u64,
        sha256: Digest::of(content),
    }]
}

fn private_dataset_input() -> Vec<BoundInput> {
    let mut inputs = dataset_input(b"species\nAdelie\n", 1);
    if let InputKind::Dataset { sensitivity, .. } = &mut inputs[0].kind {
        *sensitivity = Sensitivity::Private;
    }
    inputs
}

fn policy_with(w: &mut World, change: impl FnOnce(&mut crate::policy::Policy)) {
    let profile = &mut w.state.settings.profiles[0];
    let mut policy = (*profile.policy).clone();
    change(&mut policy);
    profile.policy = Arc::new(policy);
}

#[test]
fn the_grant_digest_changes_with_everything_it_binds() {
    let base = digest_with("print(1)", json_inputs(), |_| {});
    assert_eq!(
        base,
        digest_with("print(1)", json_inputs(), |_| {}),
        "equal content has an equal digest"
    );
    let text = |text: &str, format| {
        vec![BoundInput {
            kind: InputKind::Text {
                text: text.to_owned(),
                format,
            },
            ..bound("threshold", text)
        }]
    };
    let none = |_: &mut World| {};
    let others = [
        ("code", digest_with("print(2)", json_inputs(), none)),
        (
            "edited code",
            digest_with("print(1)", json_inputs(), |w| {
                let id = w.state.pending().next().unwrap().proposal.id;
                w.edited(id, "print(3)", VerdictKind::Clear);
            }),
        ),
        (
            "input content",
            digest_with("print(1)", vec![bound("threshold", "2")], none),
        ),
        (
            "input name",
            digest_with("print(1)", vec![bound("limit", "1")], none),
        ),
        (
            "input kind",
            digest_with("print(1)", text("1", TextFormat::Csv), none),
        ),
        (
            "input format",
            digest_with("print(1)", text("1", TextFormat::Tsv), none),
        ),
        (
            "one input more",
            digest_with(
                "print(1)",
                [json_inputs(), vec![bound("x", "1")]].concat(),
                none,
            ),
        ),
        ("no input", digest_with("print(1)", vec![], none)),
        (
            "data set content",
            digest_with("print(1)", dataset_input(b"species\nAdelie\n", 1), none),
        ),
        (
            "other data set content",
            digest_with("print(1)", dataset_input(b"species\nGentoo\n", 1), none),
        ),
        (
            "rows",
            digest_with("print(1)", dataset_input(b"species\nGentoo\n", 2), none),
        ),
        (
            "policy text",
            digest_with("print(1)", json_inputs(), |w| {
                policy_with(w, |p| p.sha256 = Digest::of(b"edited"));
            }),
        ),
        (
            "limits",
            digest_with("print(1)", json_inputs(), |w| {
                policy_with(w, |p| p.limits.wall_s += 1);
            }),
        ),
        (
            "code limit",
            digest_with("print(1)", json_inputs(), |w| {
                policy_with(w, |p| p.limits.ticks = 1);
            }),
        ),
        (
            "private",
            digest_with("print(1)", private_dataset_input(), none),
        ),
        (
            "private values told",
            digest_with("print(1)", private_dataset_input(), |w| {
                policy_with(w, |p| p.private = crate::policy::PrivateValues::Tell);
            }),
        ),
        (
            "policy's tier",
            digest_with("print(1)", json_inputs(), |w| {
                policy_with(w, |p| p.tier = Tier::Kernel);
            }),
        ),
        (
            "configured tier",
            digest_with("print(1)", json_inputs(), |w| {
                w.state.settings.tier = Tier::Container;
            }),
        ),
        (
            "environment",
            digest_with("print(1)", json_inputs(), |w| {
                w.send(Event::Environment(Environment::Ready {
                    digest: Digest::of(b"one package more"),
                    label: String::new(),
                    installed: crate::model::Installed::default(),
                }));
            }),
        ),
    ];
    let mut all = vec![("base", base)];
    all.extend(others);
    for (i, (a, one)) in all.iter().enumerate() {
        for (b, other) in &all[..i] {
            assert_ne!(one, other, "{a} and {b} have the same digest");
        }
    }
}

#[test]
fn the_profile_is_bound() {
    let digest_for = |profile: &str| {
        let mut w = World::new();
        for p in &mut w.state.settings.profiles {
            let mut policy = (*p.policy).clone();
            policy.sha256 = Digest::of(b"the same text");
            p.policy = Arc::new(policy);
        }
        let profile = Some(profile.to_owned());
        let id = w.pending(
            A,
            crate::model::Draft {
                profile,
                ..draft("1")
            },
        );
        w.digest(id)
    };
    assert_ne!(digest_for("analysis"), digest_for("chart"));
}

#[test]
fn two_proposals_of_the_same_code_bind_differently() {
    let mut w = World::new();
    let (one, two) = (w.pending(A, draft("1")), w.pending(A, draft("1")));
    assert_ne!(w.digest(one), w.digest(two));
    let digest = w.digest(one);
    w.confirm(two, digest);
    assert_eq!(w.state_of(two), State::Pending);
    assert_eq!(w.state.refusal(two), Some(&Refused::Changed));
}

#[test]
fn a_confirmation_of_a_changed_proposal_is_refused_with_the_reason() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    let shown = w.digest(id);
    w.send(Event::Environment(Environment::Ready {
        digest: Digest::of(b"upgraded"),
        label: String::new(),
        installed: crate::model::Installed::default(),
    }));
    w.confirm(id, shown);
    assert_eq!(w.state.refusal(id), Some(&Refused::Changed));
    assert_eq!(w.state_of(id), State::Pending);
    w.grant(id);
    assert_eq!(w.state.refusal(id), None);
    assert_eq!(w.state_of(id), State::Granted);
}

#[test]
fn a_refused_grant_says_why() {
    let mut w = World::new();
    let stranger = ProposalId::from_uuid(uuid::Uuid::max());
    let digest = GrantDigest(Digest::of(b""));
    w.confirm(stranger, digest);
    assert_eq!(w.state.refusal(stranger), Some(&Refused::Unknown));

    let (waiting, _) = w.propose(A, draft("waits for its verdict"));
    w.confirm(waiting, digest);
    assert_eq!(w.state.refusal(waiting), Some(&Refused::Verdict));
    w.analyse(VerdictKind::Clear);
    let digest_shown = w.digest(waiting);
    w.confirm(waiting, digest_shown);
    assert_eq!(
        w.state.refusal(waiting),
        Some(&Refused::Verdict),
        "an unrecorded proposal is not shown"
    );
    w.durable();

    w.send(Event::Environment(Environment::Failed {
        message: "no venv module".to_owned(),
    }));
    assert_eq!(
        grant_digest(&w.state, w.entry(waiting)),
        Err(Refused::NoEnvironment)
    );
    w.confirm(waiting, digest_shown);
    assert_eq!(w.state.refusal(waiting), Some(&Refused::NoEnvironment));
    assert_eq!(
        w.state_of(waiting),
        State::Pending,
        "the proposal waits for the environment"
    );
    w.send(Event::Environment(ready()));

    w.deny(waiting, None);
    w.confirm(waiting, digest_shown);
    assert_eq!(
        w.state.refusal(waiting),
        Some(&Refused::NotPending(State::Denied))
    );
}

/// The core and the executor call the same function with different environments.
#[test]
fn a_grant_is_for_the_environment_that_was_shown_and_no_other() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    let confirmation = Confirmation {
        id,
        digest: w.digest(id),
        by: Reviewer::default(),
        viewed: Viewed::default(),
    };
    let grant = grant(&w.state, Consent::Person(&confirmation), w.now).unwrap();
    assert!(grant.is_for(grant.environment()));
    assert!(!grant.is_for(Digest::of(b"another")));
}

#[test]
fn a_grant_whose_environment_changes_before_the_start_does_not_run() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    w.grant(id);
    w.send(Event::Environment(Environment::Ready {
        digest: Digest::of(b"upgraded meanwhile"),
        label: String::new(),
        installed: crate::model::Installed::default(),
    }));
    w.durable();
    assert!(w.executed.is_empty());
    let outcome = w.outcome_of(A, id);
    assert_eq!(outcome.state, State::Error);
    assert_eq!(
        outcome.message,
        "It could not be run: the Python environment is no longer the one that was granted"
    );
}

/// Each change of an environment that could be granted is recorded once, and nothing is granted
/// until the environment was read again.
#[test]
fn a_changed_environment_is_recorded_with_the_name_of_the_changed_file() {
    let mut w = World::new();
    let (waiting, granted) = (w.pending(A, draft("1")), w.pending(A, draft("2")));
    let digest_shown = w.digest(waiting);
    w.grant(granted);
    let what = "lib/x.py was changed".to_owned();
    for _ in 0..2 {
        w.send(Event::Environment(Environment::Changed {
            what: what.clone(),
        }));
    }
    let recorded: Vec<_> = w
        .records
        .iter()
        .filter_map(|(_, _, event)| match event {
            LogEvent::EnvironmentChanged { environment, what } => {
                Some((*environment, what.clone()))
            }
            _ => None,
        })
        .collect();
    let Environment::Ready { digest, .. } = ready() else {
        panic!("the environment is not ready");
    };
    assert_eq!(recorded, [(digest, what)]);
    w.durable();
    assert!(w.executed.is_empty());
    assert_eq!(w.outcome_of(A, granted).state, State::Error);
    w.confirm(waiting, digest_shown);
    assert_eq!(w.state.refusal(waiting), Some(&Refused::NoEnvironment));
    w.send(Event::Environment(ready()));
    w.confirm(waiting, digest_shown);
    assert_eq!(w.state_of(waiting), State::Granted);
}

/// The executor does its last check after it was asked to release the child.
#[test]
fn a_run_refused_at_its_release_did_not_run() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    w.grant(id);
    w.durable();
    w.exec(id, ExecNote::Prepared(isolation()));
    w.durable();
    assert_eq!(w.released.last(), Some(&id));
    w.exec(
        id,
        ExecNote::Noted(vec![RunEvent {
            kind: RunEvent::ENVIRONMENT.to_owned(),
            message: "lib/x.py was changed".to_owned(),
            line: None,
        }]),
    );
    let message = "it changed meanwhile".to_owned();
    w.exec(id, ExecNote::Failed { message });
    let recorded = w.records.iter().any(|(_, _, event)| {
        matches!(event, LogEvent::Failed { message, .. }
            if message == "it changed meanwhile: lib/x.py was changed")
    });
    assert!(recorded, "{:?}", w.records);
    w.durable();
    let outcome = w.outcome_of(A, id);
    assert_eq!(outcome.state, State::Error);
    assert_eq!(outcome.message, "It could not be run: it changed meanwhile");
    assert_eq!(outcome.run, None);
}

/// `update` expires due proposals and ends blocked ones before it looks at a confirmation. The
/// function that makes grants does not rely on that.
#[test]
fn the_constructor_of_a_grant_checks_everything_itself() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    let confirmation = Confirmation {
        id,
        digest: w.digest(id),
        by: Reviewer::default(),
        viewed: Viewed::default(),
    };
    let at = |boot| Now { boot, ..w.now };
    let deadline = w.entry(id).deadline;
    assert!(
        grant(
            &w.state,
            Consent::Person(&confirmation),
            at(deadline.saturating_sub(ms(1)))
        )
        .is_ok()
    );
    for late in [deadline, deadline + ms(1), std::time::Duration::MAX] {
        let refused = grant(&w.state, Consent::Person(&confirmation), at(late)).unwrap_err();
        assert_eq!(refused, Refused::TooLate);
    }
    let entry = w.state.entries.get_mut(&id).unwrap();
    let Phase::Waiting(review) = &mut entry.phase else {
        panic!("not waiting: {entry:?}");
    };
    review.proposed = Arc::new(verdict(VerdictKind::Blocked, "1"));
    let refused = grant(&w.state, Consent::Person(&confirmation), w.now).unwrap_err();
    assert_eq!(refused, Refused::Verdict);
    w.state.closing = true;
    let refused = grant(&w.state, Consent::Person(&confirmation), w.now).unwrap_err();
    assert_eq!(refused, Refused::Closing);
}
