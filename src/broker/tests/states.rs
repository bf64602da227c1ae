//! What protocol.md §2 says about proposals: what is accepted, and what each end reports.

use std::collections::BTreeMap;

use super::super::effect::{Reply, RpcError};
use super::super::event::{Event, Request};
use super::super::outcome::OutcomeText;
use super::super::selection::{first_pending, most_urgent};
use super::world::*;
use crate::model::{Action, DecisionKind, Digest, Draft, InputRequest, Retry, State, VerdictKind};

#[test]
fn propose_answers_id_digest_state_verdict_and_expiry() {
    let mut w = World::new();
    let (id, call) = w.propose(A, draft("print('é')"));
    w.analyse(VerdictKind::Flagged);
    w.durable();
    let value = serde_json::to_value(w.answer(A, call).unwrap().clone().unwrap()).unwrap();
    assert_eq!(value["id"], id.to_string());
    let digest = Digest::of("print('é')".as_bytes()).to_string();
    assert_eq!(value["digest"], digest, "over the exact UTF-8 bytes");
    assert!(digest.starts_with("sha256:"));
    assert_eq!(value["state"], "pending");
    assert_eq!(value["verdict"]["verdict"], "flagged");
    assert_eq!(value["expires_at"], "2026-01-01T00:30:00Z");
    assert_eq!(value.as_object().unwrap().len(), 5);
}

/// `json.dumps({})` without its import is first taken for a pickle.
#[test]
fn a_blocked_proposal_names_the_certain_failure_first_and_then_the_rest() {
    /// Rule, line and column of each finding.
    type Found = (&'static str, u32, u32);
    let rows: [(&[Found], &str); 9] = [
        (&[("DESER002", 1, 1), ("RUN002", 1, 1)], "(RUN002)"),
        (&[("RUN002", 1, 1), ("DESER002", 1, 1)], "(RUN002)"),
        (&[("IMPORT001", 2, 8), ("RUN001", 2, 1)], "(RUN001)"),
        (&[("SYNTAX001", 1, 1), ("RUN003", 1, 1)], "(RUN003)"),
        // A rule that blocks by itself, with a certain failure inside it, after it and elsewhere.
        (
            &[("BUILTIN001", 1, 1), ("RUN002", 1, 6)],
            "(BUILTIN001) (and 1 more: RUN002 line 1)",
        ),
        (
            &[("EXEC001", 1, 1), ("RUN001", 1, 20)],
            "(EXEC001) (and 1 more: RUN001 line 1)",
        ),
        (
            &[("IMPORT001", 1, 8), ("RUN001", 2, 8)],
            "(IMPORT001) (and 1 more: RUN001 line 2)",
        ),
        // A rule that two names of one line break counts once.
        (
            &[
                ("NET001", 1, 1),
                ("IMPORT003", 4, 3),
                ("IMPORT003", 4, 9),
                ("FS007", 9, 1),
            ],
            "(NET001) (and 2 more: IMPORT003 line 4, FS007 line 9)",
        ),
        (
            &[
                ("A001", 1, 1),
                ("B001", 2, 1),
                ("C001", 3, 1),
                ("D001", 4, 1),
                ("E001", 5, 1),
            ],
            "(A001) (and 4 more: B001 line 2, C001 line 3, D001 line 4, …)",
        ),
    ];
    for (found, end) in rows {
        let mut verdict = verdict(VerdictKind::Blocked, "x");
        let sample = verdict.findings[0].clone();
        let findings = found.iter().map(|(rule, line, column)| {
            let mut finding = sample.clone();
            (finding.rule, finding.line, finding.column) = ((*rule).to_owned(), *line, *column);
            finding
        });
        verdict.findings = findings.collect();
        // A finding that is only flagged does not explain why the proposal was blocked.
        let mut flagged = sample.clone();
        (flagged.rule, flagged.action, flagged.line, flagged.column) =
            ("RUN002".to_owned(), Action::Flag, found[0].1, found[0].2);
        verdict.findings.insert(0, flagged);
        let message = OutcomeText::blocked(&verdict).message;
        assert!(message.ends_with(end), "{message}");
    }
}

#[test]
fn a_blocked_proposal_reports_the_different_hints_of_all_its_findings() {
    let ends = |found: &[(&str, u32, &str)]| {
        let mut verdict = verdict(VerdictKind::Blocked, "x");
        let sample = verdict.findings[0].clone();
        let findings = found.iter().map(|(rule, line, hint)| {
            let mut finding = sample.clone();
            (finding.rule, finding.line, finding.hint) =
                ((*rule).to_owned(), *line, (*hint).to_owned());
            finding
        });
        verdict.findings = findings.collect();
        OutcomeText::blocked(&verdict).message
    };
    for (found, end) in [
        (
            &[
                ("A001", 1, "use pandas"),
                ("B001", 2, "write it out"),
                ("C001", 3, "use pandas"),
            ][..],
            "(A001); hint: use pandas (and 2 more: B001 line 2: write it out; C001 line 3)",
        ),
        // Of more than three those with new hints.
        (
            &[
                ("A001", 1, "use pandas"),
                ("B001", 2, "use pandas"),
                ("C001", 3, "leave it out"),
                ("D001", 4, "nothing to do"),
                ("E001", 5, "write it out"),
                ("F001", 6, "leave it out"),
            ],
            "(A001); hint: use pandas (and 5 more: B001 line 2; C001 line 3: leave it out; E001 line 5: write it out; …)",
        ),
        (
            &[("A001", 1, ""), ("B001", 2, "leave it out")],
            "(A001) (and 1 more: B001 line 2: leave it out)",
        ),
    ] {
        let message = ends(found);
        assert!(message.ends_with(end), "{message}");
    }
}

/// Agents that read only `message` must find the remedy there.
#[test]
fn a_blocked_proposal_reports_the_remedy_of_the_named_finding() {
    for (kind, hint, end) in [
        (
            VerdictKind::Blocked,
            "use the inputs",
            "(EXEC001); hint: use the inputs",
        ),
        (
            VerdictKind::Unanalyzable,
            "correct the syntax",
            "(EXEC001); hint: correct the syntax",
        ),
        (VerdictKind::Blocked, "", "(EXEC001)"),
        (VerdictKind::Blocked, "nothing to do", "(EXEC001)"),
    ] {
        let mut verdict = verdict(kind, "x");
        let mut flagged = verdict.findings[0].clone();
        verdict.findings[0].action = Action::Block;
        verdict.findings[0].hint = hint.to_owned();
        (flagged.action, flagged.hint) = (Action::Flag, "of another finding".to_owned());
        verdict.findings.insert(0, flagged);
        let message = OutcomeText::blocked(&verdict).message;
        assert!(message.ends_with(end), "{message}");
    }
}

#[test]
fn blocked_and_unanalyzable_proposals_are_final_at_once() {
    let mut w = World::new();
    for (kind, words) in [
        (VerdictKind::Blocked, "The policy `analysis` blocks it"),
        (VerdictKind::Unanalyzable, "It could not be analysed"),
    ] {
        let (id, call) = w.propose(A, draft(kind.as_str()));
        w.analyse(kind);
        w.durable();
        assert!(matches!(
            w.answer(A, call),
            Some(Ok(Reply::Proposed {
                state: State::Blocked,
                ..
            }))
        ));
        let outcome = w.outcome_of(A, id);
        assert_eq!(
            (outcome.state, outcome.retry),
            (State::Blocked, Retry::Changed)
        );
        assert_eq!(outcome.decision.unwrap().kind, DecisionKind::Blocked);
        assert!(outcome.message.starts_with(words), "{}", outcome.message);
        assert!(
            outcome
                .message
                .contains("line 3: starts a process (EXEC001)"),
            "it names the finding: {}",
            outcome.message
        );
        assert_eq!(w.kinds(id), ["proposed", "blocked"]);
        if let Ok(digest) = super::super::decision::grant::grant_digest(&w.state, w.entry(id)) {
            w.confirm(id, digest);
        }
    }
    w.durable();
    assert!(w.executed.is_empty(), "no person can grant it");
    assert_eq!(w.attention, 0);
}

#[test]
fn a_denial_gives_the_agent_the_reason() {
    let mut w = World::new();
    for (reason, message) in [
        (
            Some("use the public table"),
            "A person denied it: use the public table",
        ),
        (Some("  "), "A person denied it and gave no reason."),
        (None, "A person denied it and gave no reason."),
    ] {
        let id = w.pending(A, draft("1"));
        w.deny(id, reason);
        w.durable();
        let outcome = w.outcome_of(A, id);
        assert_eq!(
            (outcome.state, outcome.retry),
            (State::Denied, Retry::Changed)
        );
        assert_eq!(outcome.message, message);
        let reported = outcome.decision.unwrap().reason;
        assert_eq!(reported.as_deref(), reason.filter(|r| !r.trim().is_empty()));
    }
}

#[test]
fn proposals_that_did_not_run_report_no_run() {
    let mut w = World::new();
    let ids = [(); 3].map(|()| w.pending(A, draft("1")));
    w.deny(ids[0], None);
    w.request(A, Request::Withdraw { id: ids[1] });
    w.tick(s(1800));
    w.durable();
    for id in ids {
        let outcome = w.outcome_of(A, id);
        let value = serde_json::to_value(&outcome).unwrap();
        assert!(value["run"].is_null() && !value["message"].as_str().unwrap().is_empty());
    }
}

#[test]
fn unreadable_inputs_end_a_proposal_as_an_error_with_the_reason() {
    let mut w = World::new();
    let inputs = BTreeMap::from([(
        "df".to_owned(),
        InputRequest::Dataset {
            dataset: "penguins".to_owned(),
        },
    )]);
    let (id, call) = w.propose(
        A,
        Draft {
            inputs,
            ..draft("df")
        },
    );
    w.analyse(VerdictKind::Clear);
    w.durable();
    assert!(
        w.answer(A, call).is_none(),
        "a proposal is not shown before its inputs are bound"
    );
    assert_eq!(w.state.pending_count(), 0);
    let fault = Err("data set `penguins` cannot be read: no such file".to_owned());
    w.send(Event::InputsBound { id, inputs: fault });
    w.analyse(VerdictKind::Clear);
    w.durable();
    let outcome = w.outcome_of(A, id);
    assert_eq!((outcome.state, outcome.retry), (State::Error, Retry::Same));
    assert!(outcome.message.contains("no such file"));
    assert!(w.answer(A, call).unwrap().is_ok());
}

#[test]
fn inputs_are_bound_once() {
    let mut w = World::new();
    let inputs = json_input(serde_json::json!(1));
    let (id, _) = w.propose(
        A,
        Draft {
            inputs,
            ..draft("1")
        },
    );
    w.analyse(VerdictKind::Clear);
    let first = Ok(vec![bound("threshold", "1")]);
    w.send(Event::InputsBound { id, inputs: first });
    w.durable();
    let shown = w.digest(id);
    let second = Ok(vec![bound("threshold", "2")]);
    w.send(Event::InputsBound { id, inputs: second });
    assert_eq!(
        w.digest(id),
        shown,
        "inputs that were shown cannot be replaced"
    );
}

#[test]
fn an_unknown_profile_or_data_set_names_the_known_ones() {
    let mut w = World::new();
    let profile = Some("walled".to_owned());
    let error = w.propose_refused(
        A,
        Draft {
            profile,
            ..draft("1")
        },
    );
    assert_eq!(error.code, RpcError::UNKNOWN_NAME);
    assert_eq!(
        error.data["expected"],
        serde_json::json!(["analysis", "chart"])
    );
    let inputs = BTreeMap::from([(
        "df".to_owned(),
        InputRequest::Dataset {
            dataset: "sales".to_owned(),
        },
    )]);
    let error = w.propose_refused(
        A,
        Draft {
            inputs,
            ..draft("1")
        },
    );
    assert_eq!(error.code, RpcError::UNKNOWN_NAME);
    assert_eq!(error.data["expected"], serde_json::json!(["penguins"]));
    let (code, profile) = ("1".into(), Some("walled".to_owned()));
    let error = w.refused(
        A,
        Request::Check {
            code,
            profile,
            inputs: None,
        },
    );
    assert_eq!(error.code, RpcError::UNKNOWN_NAME);
}

#[test]
fn a_proposal_without_a_profile_gets_the_configured_one() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    assert_eq!(w.entry(id).proposal.profile, "analysis");
    let profile = Some("chart".to_owned());
    let id = w.pending(
        A,
        Draft {
            profile,
            ..draft("1")
        },
    );
    assert_eq!(w.entry(id).proposal.profile, "chart");
}

#[test]
fn code_is_accepted_up_to_the_limit_and_not_empty() {
    let mut w = World::new();
    w.pending(A, draft(&"#".repeat(64 * 1024)));
    let error = w.propose_refused(A, draft(&"#".repeat(64 * 1024 + 1)));
    assert_eq!(error.code, RpcError::TOO_LARGE);
    assert_eq!(error.data["limit_bytes"], 65_536);
    let error = w.propose_refused(A, draft(""));
    assert_eq!(error.code, RpcError::INVALID_PARAMS);

    let profile = &mut w.state.settings.profiles[0];
    let mut policy = (*profile.policy).clone();
    policy.limits.code_bytes = 10;
    profile.policy = std::sync::Arc::new(policy);
    let error = w.propose_refused(A, draft("print(12345)"));
    assert_eq!(
        (error.code, &error.data["limit_bytes"]),
        (RpcError::TOO_LARGE, &10.into())
    );
    let (code, profile) = ("print(12345)".into(), None);
    let error = w.refused(
        A,
        Request::Check {
            code,
            profile,
            inputs: None,
        },
    );
    assert_eq!(error.code, RpcError::TOO_LARGE);
}

#[test]
fn a_ttl_is_accepted_from_one_second_to_the_maximum() {
    let mut w = World::new();
    for ttl_s in [1, 28_800] {
        let ttl_s = Some(ttl_s);
        w.pending(
            A,
            Draft {
                ttl_s,
                ..draft("1")
            },
        );
    }
    for ttl_s in [0, 28_801, u64::MAX] {
        let ttl_s = Some(ttl_s);
        let error = w.propose_refused(
            A,
            Draft {
                ttl_s,
                ..draft("1")
            },
        );
        assert_eq!(error.code, RpcError::INVALID_PARAMS);
        assert_eq!(error.data["expected"], "1 to 28800");
    }
}

#[test]
fn titles_reasons_and_keys_have_their_bounds() {
    let mut w = World::new();
    let text = |n: usize| Some("x".repeat(n));
    let largest = Draft {
        title: text(16 * 1024),
        reason: text(64 * 1024),
        idempotency_key: text(256),
        ..draft("1")
    };
    w.pending(A, largest);
    let too_large = [
        (
            "title",
            Draft {
                title: text(16 * 1024 + 1),
                ..draft("1")
            },
        ),
        (
            "reason",
            Draft {
                reason: text(64 * 1024 + 1),
                ..draft("1")
            },
        ),
        ("idempotency_key", keyed("1", &"x".repeat(257))),
        ("idempotency_key", keyed("1", "")),
        (
            "traceparent",
            Draft {
                traceparent: Some("00-x".to_owned()),
                ..draft("1")
            },
        ),
    ];
    for (param, draft) in too_large {
        let error = w.propose_refused(A, draft);
        assert_eq!(error.code, RpcError::INVALID_PARAMS);
        assert_eq!(error.data["param"], param);
        assert!(error.data["expected"].is_string());
    }
}

#[test]
fn an_inputs_name_is_one_the_code_can_use() {
    let mut w = World::new();
    let draft_with_input = |name: &str| Draft {
        inputs: BTreeMap::from([(
            name.to_owned(),
            InputRequest::Json {
                json: serde_json::json!(1),
            },
        )]),
        ..draft("1")
    };
    for name in ["df", "sales_2024", "X"] {
        let (_, call) = w.propose(A, draft_with_input(name));
        assert!(w.answer(A, call).is_none(), "{name} was refused");
    }
    let long = "x".repeat(65);
    for name in [
        "",
        "1st",
        "_hidden",
        "__builtins__",
        "pd",
        "np",
        "lambda",
        "None",
        "a b",
        "é",
        "a.b",
        &long,
    ] {
        let error = w.propose_refused(A, draft_with_input(name));
        assert_eq!(error.code, RpcError::INVALID_PARAMS, "{name}");
    }
    let inputs = (0..33).map(|n| {
        let json = serde_json::json!(n);
        (format!("i{n}"), InputRequest::Json { json })
    });
    let inputs = inputs.collect();
    let error = w.propose_refused(
        A,
        Draft {
            inputs,
            ..draft("1")
        },
    );
    assert_eq!(error.code, RpcError::INVALID_PARAMS);
}

#[test]
fn check_answers_the_verdict_and_queues_nothing() {
    let mut w = World::new();
    let (code, profile) = ("1 +".into(), None);
    let call = w.request(
        A,
        Request::Check {
            code,
            profile,
            inputs: None,
        },
    );
    w.analyse(VerdictKind::Unanalyzable);
    match w.answer(A, call) {
        Some(Ok(Reply::Verdict(v))) => assert_eq!(v.verdict, VerdictKind::Unanalyzable),
        other => panic!("{other:?}"),
    }
    assert!(w.state.entries.is_empty() && w.log.is_empty() && w.records.is_empty());
}

#[test]
fn a_new_proposal_is_shown_only_after_its_record() {
    let mut w = World::new();
    let (id, _) = w.propose(A, draft("1"));
    w.analyse(VerdictKind::Clear);
    assert_eq!(w.state.shown().count(), 0);
    w.durable();
    let shown: Vec<_> = w.state.shown().map(|e| e.proposal.id).collect();
    assert_eq!(shown, [id]);
    assert_eq!(w.attention, 1);
}

#[test]
fn selection_goes_to_the_first_and_to_the_earliest_to_expire() {
    let mut w = World::new();
    assert_eq!(
        (
            first_pending(&w.state),
            most_urgent(&w.state, &Default::default())
        ),
        (None, None)
    );
    let ids = [60, 20, 20].map(|ttl_s| {
        let ttl_s = Some(ttl_s);
        w.pending(
            A,
            Draft {
                ttl_s,
                ..draft("1")
            },
        )
    });
    assert_eq!(first_pending(&w.state), Some(ids[0]));
    assert_eq!(
        most_urgent(&w.state, &Default::default()),
        Some(ids[1]),
        "the first of equal deadlines"
    );
    w.deny(ids[1], None);
    assert_eq!(most_urgent(&w.state, &Default::default()), Some(ids[2]));
}

#[test]
fn lists_keep_their_order() {
    let mut w = World::new();
    let ids = [(); 4].map(|()| w.pending(A, draft("1")));
    w.start(ids[2]);
    w.start(ids[1]);
    w.deny(ids[3], None);
    w.deny(ids[0], None);
    w.durable();
    let id = |e: &super::super::Entry| e.proposal.id;
    assert_eq!(
        w.state.running().map(id).collect::<Vec<_>>(),
        [ids[1], ids[2]]
    );
    assert_eq!(
        w.state.decided().map(id).collect::<Vec<_>>(),
        [ids[0], ids[3]]
    );
    assert_eq!(w.state.running_count(), 2);
}
