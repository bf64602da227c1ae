//! Invariant 10: what an agent's connection can and cannot do, and who may use an id.

use super::super::effect::{Note, Reply, RpcError};
use super::super::event::{Event, ExecNote, Request};
use super::world::*;
use crate::model::{
    AgentClaim, BoundInput, CallId, ConnId, Draft, Environment, Form, InputKind, InputRequest,
    Installed, ProposalId, State, TextFormat, VerdictKind,
};

/// Every request that names an id.
fn requests_about(id: ProposalId) -> [Request; 3] {
    let timeout = None;
    [
        Request::Wait { id, timeout },
        Request::Status { id },
        Request::Withdraw { id },
    ]
}

#[test]
fn a_socket_cannot_decide() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    let (agent, fresh) = (None, "t".to_owned());
    let (code, profile) = ("1".into(), None);
    let mut all = vec![
        Request::Hello {
            agent,
            resume: None,
            fresh,
        },
        Request::Check {
            code,
            profile,
            inputs: None,
        },
        Request::Datasets,
        Request::Propose {
            id: w.fresh_id(),
            draft: Box::new(draft("2")),
        },
    ];
    all.extend(requests_about(id).into_iter().take(2));
    for conn in [A, B, C] {
        for request in all.clone() {
            let request = match request {
                Request::Propose { draft, .. } => Request::Propose {
                    id: w.fresh_id(),
                    draft,
                },
                other => other,
            };
            w.request(conn, request);
            w.analyse(VerdictKind::Clear);
            w.durable();
        }
    }
    assert_eq!(w.state_of(id), State::Pending);
    assert!(w.executed.is_empty());
    let harmless = ["proposed", "refused"];
    assert!(w.log.iter().all(|e| harmless.contains(&e.kind())));
}

#[test]
fn another_agents_id_looks_like_an_unknown_one() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    let unknown = w.fresh_id();
    for conn in [B, C] {
        for (foreign, nonexistent) in requests_about(id).into_iter().zip(requests_about(unknown)) {
            let (foreign_error, unknown_error) =
                (w.refused(conn, foreign), w.refused(conn, nonexistent));
            assert_eq!(foreign_error.code, RpcError::UNKNOWN_ID);
            assert_eq!(
                foreign_error, unknown_error,
                "the answers must not reveal whether the id exists"
            );
            assert!(foreign_error.data["expected"].is_string());
        }
    }
    assert_eq!(w.state_of(id), State::Pending);
}

#[test]
fn another_agents_id_stays_unknown_after_its_end() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    w.deny(id, None);
    w.durable();
    let timeout = None;
    assert_eq!(
        w.refused(B, Request::Wait { id, timeout }).code,
        RpcError::UNKNOWN_ID
    );
}

#[test]
fn a_second_connection_of_the_same_peer_owns_nothing_of_the_first() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    let second = ConnId(9);
    w.connect(second, 1000, 10);
    assert_eq!(
        w.refused(second, Request::Status { id }).code,
        RpcError::UNKNOWN_ID
    );
}

#[test]
fn requests_of_a_closed_connection_are_ignored() {
    let mut w = World::new();
    w.disconnect(A);
    let (_, call) = w.propose(A, draft("1"));
    assert!(w.answer(A, call).is_none());
    assert!(w.state.entries.is_empty());
}

#[test]
fn a_disconnect_withdraws_pending_proposals_without_a_key() {
    let mut w = World::new();
    let shown = w.pending(A, draft("shown"));
    let (unjudged, _) = w.propose(A, draft("not judged yet"));
    w.disconnect(A);
    w.analyse(VerdictKind::Clear);
    w.durable();
    for id in [shown, unjudged] {
        assert_eq!(w.state_of(id), State::Withdrawn);
        assert_eq!(w.kinds(id), ["proposed", "withdrawn"]);
        assert_eq!(
            w.entry(id).message(),
            "Its connection closed before a decision; it did not run."
        );
    }
    assert_eq!(w.state.connected(), 2);
}

#[test]
fn a_key_keeps_a_proposal_pending_without_its_connection() {
    let mut w = World::new();
    let id = w.pending(A, keyed("1", "nightly"));
    w.disconnect(A);
    assert_eq!(w.state_of(id), State::Pending);
    w.start(id);
    w.exec(id, ExecNote::Ended(Box::new(run("42\n"))));
    w.durable();
    let (_, call) = w.propose(B, keyed("1", "nightly"));
    assert!(matches!(
        w.answer(B, call),
        Some(Ok(Reply::Proposed { id: same, state: State::Succeeded, .. })) if *same == id
    ));
    assert_eq!(w.outcome_of(B, id).run.unwrap().stdout, "42\n");
}

#[test]
fn the_same_key_and_params_reattach_and_do_not_propose_twice() {
    let mut w = World::new();
    let (id, first) = w.propose(A, keyed("1", "k"));
    let (other_id, second) = w.propose(B, keyed("1", "k"));
    assert!(w.state.entry(other_id).is_none());
    assert!(
        w.answer(B, second).is_none(),
        "both are answered after the record"
    );
    w.analyse(VerdictKind::Clear);
    w.durable();
    for (conn, call) in [(A, first), (B, second)] {
        match w.answer(conn, call) {
            Some(Ok(Reply::Proposed { id: heard, .. })) => assert_eq!(*heard, id),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(w.state.pending_count(), 1);
    w.disconnect(A);
    assert!(w.ask(B, Request::Status { id }).is_ok());
}

#[test]
fn the_stream_flag_is_not_part_of_the_params() {
    let mut w = World::new();
    let id = w.pending(A, keyed("1", "k"));
    let stream = true;
    let (_, call) = w.propose(
        B,
        Draft {
            stream,
            ..keyed("1", "k")
        },
    );
    assert!(w.answer(B, call).unwrap().is_ok());
    w.deny(id, None);
    w.durable();
    assert_eq!(
        w.notes,
        [(
            B,
            Note::State {
                id,
                state: State::Denied
            }
        )]
    );
}

#[test]
fn the_same_key_with_other_params_is_refused() {
    let mut w = World::new();
    let id = w.pending(A, keyed("1", "k"));
    let others = [
        keyed("2", "k"),
        Draft {
            title: Some("t".to_owned()),
            ..keyed("1", "k")
        },
        Draft {
            ttl_s: Some(60),
            ..keyed("1", "k")
        },
        Draft {
            inputs: json_input(serde_json::json!(1)),
            ..keyed("1", "k")
        },
    ];
    for other in others {
        let error = w.propose_refused(A, other);
        assert_eq!(error.code, RpcError::INVALID_PARAMS);
        assert_eq!(error.data["param"], "idempotency_key");
    }
    assert_eq!(w.state_of(id), State::Pending);
}

#[test]
fn a_key_belongs_to_a_uid() {
    let mut w = World::new();
    let one = w.pending(A, keyed("1", "k"));
    let two = w.pending(C, keyed("1", "k"));
    assert_ne!(one, two);
    assert_eq!(
        w.refused(C, Request::Status { id: one }).code,
        RpcError::UNKNOWN_ID
    );
}

#[test]
fn a_disconnect_does_not_stop_a_run() {
    let mut w = World::new();
    let id = w.running(A, draft("1"));
    w.disconnect(A);
    assert!(w.killed.is_empty());
    w.exec(id, ExecNote::Ended(Box::new(run(""))));
    w.durable();
    assert_eq!(w.state_of(id), State::Succeeded);
}

#[test]
fn kill_on_disconnect_kills_runs_without_a_key() {
    let mut w = World::with(super::super::Settings {
        kill_on_disconnect: true,
        ..settings()
    });
    let (plain, with_key) = (w.running(A, draft("1")), w.running(A, keyed("2", "k")));
    let armed = w.pending(A, draft("granted, not on the disk"));
    w.grant(armed);
    w.disconnect(A);
    assert_eq!(w.killed, [plain]);
    w.durable();
    assert!(
        !w.executed.contains(&armed),
        "a run without an owner must not start"
    );
    let message = "killed".to_owned();
    w.exec(plain, ExecNote::Failed { message });
    w.durable();
    assert_eq!(w.state_of(plain), State::Failed);
    assert!(
        !w.entry(plain).message().contains("person"),
        "no person stopped it"
    );
    assert_eq!(w.state_of(with_key), State::Running);
}

#[test]
fn a_session_is_resumed_by_its_token_and_by_its_uid_only() {
    let mut w = World::new();
    let hello = |w: &mut World, conn, resume: Option<&str>, fresh: &str| {
        let (agent, fresh) = (None, fresh.to_owned());
        let resume = resume.map(str::to_owned);
        match w.ask(
            conn,
            Request::Hello {
                agent,
                resume,
                fresh,
            },
        ) {
            Ok(Reply::Hello { session, .. }) => session,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(hello(&mut w, A, None, "one"), "one");
    assert_eq!(hello(&mut w, B, Some("one"), "two"), "one", "same uid");
    assert_eq!(
        hello(&mut w, C, Some("one"), "three"),
        "three",
        "another uid"
    );
    assert_eq!(hello(&mut w, A, Some("never given"), "four"), "four");
    for n in 0..10_000 {
        hello(&mut w, C, None, &format!("flood {n}"));
    }
    assert!(w.state.sessions.len() <= 4096);
    assert_eq!(
        hello(&mut w, A, Some("one"), "five"),
        "one",
        "a flood costs only its own uid"
    );
}

#[test]
fn hello_says_what_is_accepted() {
    let mut w = World::new();
    let (agent, resume, fresh) = (None, None, "t".to_owned());
    let reply = w
        .ask(
            A,
            Request::Hello {
                agent,
                resume,
                fresh,
            },
        )
        .unwrap();
    let value = serde_json::to_value(&reply).unwrap();
    assert_eq!(value["protocol"], 1);
    assert_eq!(value["server"]["name"], "countersign");
    assert_eq!(value["session"], "t");
    assert_eq!(value["profiles"][0]["name"], "analysis");
    assert_eq!(value["profiles"][0]["given"][0], "pd");
    assert_eq!(value["profiles"][0]["imports"][0], "math");
    assert_eq!(value["profiles"][0]["limits"]["wall_s"], 290);
    assert_eq!(value["limits"]["frame_bytes"], 1_048_576);
    assert_eq!(value["limits"]["code_bytes"], 65_536);
    assert_eq!(value["limits"]["ttl_max_s"], 28_800);
}

/// The only policy of these tests lists `math`.
#[test]
fn hello_names_only_what_is_installed() {
    let imports = |environment: Environment| {
        let mut w = World::new();
        w.send(Event::Environment(environment));
        let (agent, resume, fresh) = (None, None, "t".to_owned());
        let hello = Request::Hello {
            agent,
            resume,
            fresh,
        };
        let reply = serde_json::to_value(w.ask(A, hello).unwrap()).unwrap();
        reply["profiles"][0]["imports"].as_array().unwrap().len()
    };
    let Environment::Ready { digest, label, .. } = ready() else {
        panic!("the environment is not ready");
    };
    let installed = Installed {
        present: [].into(),
        version: (3, 11),
        missing: ["math".to_owned()].into(),
        ..Installed::default()
    };
    let without = Environment::Ready {
        digest,
        label,
        installed,
    };
    let making = Environment::Making {
        step: "asking".to_owned(),
        done: 0,
        total: 1,
    };
    let counts = [ready(), without, making].map(imports);
    assert_eq!(counts, [1, 0, 1]);
}

#[test]
fn the_analyser_gets_everything_known_about_the_run() {
    let mut w = World::new();
    let mut with_input = draft("print(table)");
    let text = InputRequest::Text {
        text: "a\n1\n".to_owned(),
        format: TextFormat::Csv,
    };
    with_input.inputs.insert("table".to_owned(), text);
    let id = w.fresh_id();
    let propose = Request::Propose {
        id,
        draft: Box::new(with_input),
    };
    w.request(A, propose);
    assert!(w.jobs.is_empty(), "the columns are not known yet");
    let table = BoundInput {
        kind: InputKind::Text {
            text: "a\n1\n".to_owned(),
            format: TextFormat::Csv,
        },
        ..bound("table", "")
    };
    w.send(Event::InputsBound {
        id,
        inputs: Ok(vec![table]),
    });
    w.analyse(VerdictKind::Clear);
    let check = Request::Check {
        code: "print(table)".into(),
        profile: None,
        inputs: None,
    };
    w.request(A, check);
    let [proposed, checked] = w.known.as_slice() else {
        panic!("{:?}", w.known);
    };
    assert_eq!(proposed.inputs, Some(["table".to_owned()].into()));
    let value = proposed.values.get("table").expect("the header is known");
    assert_eq!(value.form, Form::Table);
    let names: Vec<&str> = value.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["a"]);
    assert!(checked.values.is_empty());
    assert_eq!(checked.inputs, None, "a check declares no inputs");
    for known in [proposed, checked] {
        assert_eq!(known.tier, Some(w.state.settings.tier));
        assert_eq!(known.datasets, w.state.settings.datasets);
        assert_eq!(known.python, Some(Installed::default()));
    }
}

#[test]
fn an_agents_description_of_itself_is_a_bounded_claim() {
    let mut w = World::new();
    let claim = |name: &str| AgentClaim {
        name: name.to_owned(),
        ..AgentClaim::default()
    };
    let (agent, resume, fresh) = (Some(claim("etl-bot")), None, "t".to_owned());
    w.ask(
        A,
        Request::Hello {
            agent,
            resume,
            fresh,
        },
    )
    .unwrap();
    let id = w.pending(A, draft("1"));
    assert_eq!(w.entry(id).proposal.agent_name(), "etl-bot");
    let agent = Some(claim("notebook"));
    let id = w.pending(
        A,
        Draft {
            agent,
            ..draft("1")
        },
    );
    assert_eq!(
        w.entry(id).proposal.agent_name(),
        "notebook",
        "a proposal's own name takes precedence"
    );
    let agent = Some(claim(&"x".repeat(257)));
    let error = w.propose_refused(
        A,
        Draft {
            agent,
            ..draft("1")
        },
    );
    assert_eq!(error.code, RpcError::INVALID_PARAMS);
    assert_eq!(error.data["param"], "agent.name");
}

#[test]
fn an_id_that_is_taken_is_not_given_again() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    w.thorough = false;
    let call = CallId(u64::MAX);
    let draft = Box::new(draft("2"));
    let request = Request::Propose { id, draft };
    let effects = super::super::update(
        &mut w.state,
        Event::Request {
            conn: B,
            call,
            request,
        },
        w.now,
    );
    assert!(matches!(
        &effects[..],
        [super::super::Effect::Reply { reply: Err(_), .. }]
    ));
    assert_eq!(&**w.entry(id).code().text(), "1");
}
