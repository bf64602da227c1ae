//! Invariant 8: every step is durable before it is taken or reported.

use super::super::effect::{Note, Reply};
use super::super::event::{Event, ExecNote};
use super::world::*;
use crate::model::{
    Digest, Draft, InputKind, Lane, LogEvent, RunErrorKind, State, Ticket, Tier, VerdictKind,
};

#[test]
fn granted_is_durable_before_the_child_is_made_and_started_before_it_is_let_go() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    w.grant(id);
    assert!(w.executed.is_empty());
    assert_eq!(w.durable_one().unwrap().kind(), "granted");
    assert_eq!(w.executed, [id]);
    w.exec(id, ExecNote::Prepared(isolation()));
    assert!(w.released.is_empty());
    assert_eq!(w.durable_one().unwrap().kind(), "started");
    assert_eq!(w.released, [id]);
    w.exec(id, ExecNote::Released);
    w.exec(id, ExecNote::Ended(Box::new(run("42\n"))));
    let call = w.wait(A, id);
    assert!(w.answer(A, call).is_none());
    assert_eq!(w.durable_one().unwrap().kind(), "finished");
    assert_eq!(w.outcome(A, call).state, State::Succeeded);
    assert_eq!(w.kinds(id), ["proposed", "granted", "started", "finished"]);
}

#[test]
fn the_agent_hears_of_its_proposal_after_the_record() {
    let mut w = World::new();
    for kind in [
        VerdictKind::Clear,
        VerdictKind::Flagged,
        VerdictKind::Blocked,
        VerdictKind::Unanalyzable,
    ] {
        let (_, call) = w.propose(A, draft(kind.as_str()));
        w.analyse(kind);
        assert!(w.answer(A, call).is_none());
        w.durable();
        assert!(w.answer(A, call).unwrap().is_ok());
    }
}

#[test]
fn a_record_counts_only_after_every_earlier_one_is_durable() {
    let mut w = World::new();
    let (one, two) = (w.pending(A, draft("1")), w.pending(A, draft("2")));
    w.grant(one);
    w.grant(two);
    let (_, first, _) = w.records.pop_front().unwrap();
    let (_, second, _) = w.records.pop_front().unwrap();
    w.send(Event::Durable { ticket: second });
    assert!(
        w.executed.is_empty(),
        "a record behind a gap is not durable"
    );
    w.send(Event::Durable { ticket: first });
    assert_eq!(w.executed, [one, two]);
    w.send(Event::Durable { ticket: first });
    w.send(Event::Durable { ticket: second });
    assert_eq!(w.executed.len(), 2, "a record is durable once");
}

/// The dashboard's header shows the count that a check of the log would give.
#[test]
fn records_that_the_shell_writes_at_its_start_count_too() {
    use super::super::state::AuditHealth;
    let mut w = World::new();
    let durable = |w: &World| match w.state.audit {
        AuditHealth::Up { durable } => durable,
        AuditHealth::Down { .. } => panic!("the log is up"),
    };
    let before = durable(&w);
    for _ in 0..2 {
        let ticket = Ticket::Unawaited;
        w.send(Event::Durable { ticket });
    }
    assert_eq!(durable(&w), before + 2);
    // A ticket number that the core never issued is not counted.
    let ticket = Ticket::Core(u64::MAX);
    w.send(Event::Durable { ticket });
    assert_eq!(durable(&w), before + 2);
}

#[test]
fn a_persons_decisions_proceed_while_agents_records_wait_for_the_disk() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    let denied = w.pending(A, draft("2"));
    // A flood of records that do not become durable.
    for n in 0..100 {
        w.propose(C, draft(&n.to_string()));
    }
    w.analyse(VerdictKind::Clear);
    let waiting = w.records.len();
    assert_eq!(waiting, 100);
    w.grant(id);
    assert_eq!(w.durable_in(Lane::Person).unwrap().kind(), "granted");
    assert_eq!(w.executed, [id]);
    w.exec(id, ExecNote::Prepared(isolation()));
    assert_eq!(w.durable_in(Lane::Person).unwrap().kind(), "started");
    assert_eq!(w.released, [id]);
    w.exec(id, ExecNote::Released);
    w.kill(id);
    assert_eq!(w.durable_in(Lane::Person).unwrap().kind(), "killed");
    w.exec(id, ExecNote::Ended(Box::new(run("42\n"))));
    assert_eq!(w.durable_in(Lane::Person).unwrap().kind(), "finished");
    w.deny(denied, None);
    assert_eq!(w.durable_in(Lane::Person).unwrap().kind(), "denied");
    assert!(w.outcome_of(A, id).run.is_some());
    assert_eq!(w.outcome_of(A, denied).state, State::Denied);
    // None of the flood's records became durable meanwhile.
    assert_eq!(w.records.len(), waiting);
    assert_eq!(w.state.pending_count(), 0);
    w.durable();
    assert_eq!(w.state.pending_count(), 100);
}

#[test]
fn a_streaming_agent_hears_states_in_the_order_of_the_records() {
    let mut w = World::new();
    let stream = true;
    let id = w.running(
        A,
        Draft {
            stream,
            ..draft("1")
        },
    );
    let text = "42\n".to_owned();
    let stream = crate::model::StreamName::Stdout;
    w.exec(id, ExecNote::Output { stream, text });
    w.exec(id, ExecNote::Ended(Box::new(run("42\n"))));
    w.durable();
    let notes: Vec<_> = w.notes.iter().map(|(_, note)| note.clone()).collect();
    let state = |state| Note::State { id, state };
    assert_eq!(
        notes,
        [
            state(State::Granted),
            state(State::Running),
            Note::Output {
                id,
                stream,
                text: "42\n".to_owned()
            },
            state(State::Succeeded)
        ]
    );
}

#[test]
fn agents_that_do_not_ask_for_the_stream_get_no_notes() {
    let mut w = World::new();
    let id = w.running(A, draft("1"));
    w.exec(id, ExecNote::Ended(Box::new(run(""))));
    w.durable();
    assert!(w.notes.is_empty());
}

#[test]
fn the_log_has_what_was_granted_and_contents_as_blobs() {
    let mut w = World::new();
    let inputs = json_input(serde_json::json!({"bill": 40}));
    let (id, _) = w.propose(
        A,
        Draft {
            inputs,
            ..draft("print(threshold)")
        },
    );
    w.analyse(VerdictKind::Flagged);
    let text = "{\"bill\":40}";
    let inputs = Ok(vec![bound("threshold", text)]);
    w.send(Event::InputsBound { id, inputs });
    w.durable();
    let digest = w.digest(id);
    w.grant(id);
    let granted = w.log.last().unwrap().clone();
    let LogEvent::Granted(granted) = granted else {
        panic!("{granted:?}")
    };
    let inputs = &granted.inputs;
    assert_eq!(granted.grant_digest, digest);
    assert_eq!(granted.digest, Digest::of(b"print(threshold)"));
    let policy = policy("analysis");
    assert_eq!(granted.profile, policy.name);
    assert_eq!(granted.policy_sha256, policy.sha256.hex());
    assert_eq!(granted.limits, policy.limits);
    assert_eq!(granted.tier, Tier::Process);
    assert_eq!(granted.environment, Digest::of(b"environment"));
    assert_eq!(inputs[0].sha256, Digest::of(text.as_bytes()));
    assert_eq!(
        inputs[0].kind,
        InputKind::Json {
            text: String::new()
        }
    );
}

#[test]
fn the_log_says_where_private_values_are_told() {
    for (private, tell) in [(true, true), (true, false), (false, true)] {
        let mut w = World::new();
        let profile = &mut w.state.settings.profiles[0];
        let mut policy = (*profile.policy).clone();
        if tell {
            policy.private = crate::policy::PrivateValues::Tell;
        }
        profile.policy = std::sync::Arc::new(policy);
        let (id, _) = w.propose(
            A,
            Draft {
                inputs: json_input(serde_json::json!(1)),
                ..draft("print(1)")
            },
        );
        w.analyse(VerdictKind::Clear);
        let mut input = bound("df", "a\n1\n");
        input.kind = InputKind::Dataset {
            dataset: "penguins".to_owned(),
            format: crate::model::DataFormat::Csv,
            rows: 1,
            columns: Vec::new(),
            sensitivity: match private {
                true => crate::model::Sensitivity::Private,
                false => crate::model::Sensitivity::Public,
            },
            texts: std::collections::BTreeSet::new(),
            summary: None,
        };
        let inputs = Ok(vec![input]);
        w.send(Event::InputsBound { id, inputs });
        w.durable();
        w.grant(id);
        let granted = w.log.last().unwrap();
        let LogEvent::Granted(log) = granted else {
            panic!("{granted:?}")
        };
        assert_eq!(log.private_told, private && tell);
        // Records of earlier versions are read as before.
        let json = serde_json::to_value(granted).unwrap();
        assert_eq!(json.get("private_told").is_some(), private && tell);
        assert_eq!(&serde_json::from_value::<LogEvent>(json).unwrap(), granted);
    }
}

#[test]
fn notes_on_private_data_reach_the_log_and_the_screen_and_not_the_agent() {
    let event = |kind: &str, message: &str| crate::model::RunEvent {
        kind: kind.to_owned(),
        message: message.to_owned(),
        line: None,
    };
    let noted = |message: &str| ExecNote::Noted(vec![event("private", message)]);
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    w.exec(id, noted("before the grant"));
    w.grant(id);
    w.durable();
    // A failed warm start reported the same note before.
    w.exec(id, noted("compared up to 7"));
    w.exec(id, noted("compared up to 7"));
    w.exec(id, ExecNote::Prepared(isolation()));
    w.exec(id, noted("while it is held"));
    w.durable();
    w.exec(id, ExecNote::Released);
    w.exec(id, noted("while it runs"));
    let mut ended = run("");
    ended.events = vec![event("refused", "by the guard")];
    w.exec(id, ExecNote::Ended(Box::new(ended)));
    w.durable();
    let LogEvent::Finished(finished) = w.log.last().unwrap() else {
        panic!("{:?}", w.log.last())
    };
    let logged: Vec<_> = finished.events.iter().map(|e| e.message.as_str()).collect();
    assert_eq!(logged, ["compared up to 7", "by the guard"]);
    assert_eq!(w.entry(id).noted()[0].message, "compared up to 7");
    let outcome = serde_json::to_string(&w.outcome_of(A, id)).unwrap();
    assert!(outcome.contains("by the guard"), "{outcome}");
    assert!(!outcome.contains("compared"), "{outcome}");
}

/// The result that the agent gets is evidence too: a chart's text need not be printed.
#[test]
fn a_result_for_the_agent_is_kept_as_a_blob() {
    for (result, kept) in [
        (serde_json::Value::Null, false),
        (serde_json::json!({"output": "two bars"}), true),
    ] {
        let mut w = World::new();
        let id = w.pending(A, draft("1"));
        w.grant(id);
        w.durable();
        w.exec(id, ExecNote::Prepared(isolation()));
        w.durable();
        w.exec(id, ExecNote::Released);
        let mut ended = run("");
        ended.result = result.clone();
        w.exec(id, ExecNote::Ended(Box::new(ended)));
        let (_, _, event) = w.records.back().unwrap();
        let LogEvent::Finished(log) = event else {
            panic!("{event:?}")
        };
        let bytes = serde_json::to_vec(&result).unwrap();
        assert_eq!(log.result_sha256, kept.then(|| Digest::of(&bytes)));
        let blobs = w.blobs.last().unwrap();
        assert_eq!(blobs.iter().any(|b| *b.bytes == bytes[..]), kept);
    }
}

#[test]
fn code_and_brought_inputs_are_kept_as_blobs() {
    let mut w = World::new();
    let id = w.fresh_id();
    let inputs = json_input(serde_json::json!(1));
    let draft = Box::new(Draft {
        inputs,
        ..draft("print(1)")
    });
    let mut blobs = Vec::new();
    let mut send = |w: &mut World, event: Event| {
        let effects = super::super::update(&mut w.state, event, w.now);
        let mut tickets = Vec::new();
        for effect in effects {
            match effect {
                super::super::Effect::Record {
                    ticket, blobs: b, ..
                } => {
                    blobs.extend(b.into_iter().map(|b| b.bytes.to_vec()));
                    tickets.push(ticket);
                }
                super::super::Effect::Analyse { job, code, .. } => {
                    w.jobs.push_back((job, code.to_string()));
                }
                _ => {}
            }
        }
        tickets
    };
    let call = crate::model::CallId(1);
    let request = super::super::Request::Propose { id, draft };
    send(
        &mut w,
        Event::Request {
            conn: A,
            call,
            request,
        },
    );
    let inputs = Ok(vec![bound("threshold", "1")]);
    send(&mut w, Event::InputsBound { id, inputs });
    let (job, code) = w.jobs.pop_front().unwrap();
    let verdict = Box::new(verdict(VerdictKind::Clear, &code));
    send(&mut w, Event::Analysed { job, verdict });
    assert_eq!(blobs, [b"print(1)".to_vec(), b"1".to_vec()]);
}

#[test]
fn an_outcome_says_nothing_about_the_reviewer_or_the_host() {
    let mut w = World::new();
    let id = w.running(A, draft("1"));
    w.exec(
        id,
        ExecNote::Ended(Box::new(failed_run(RunErrorKind::SnippetError))),
    );
    w.durable();
    let call = w.wait(A, id);
    let reply = w.answer(A, call).unwrap().clone().unwrap();
    assert!(matches!(reply, Reply::Outcome(_)));
    let text = serde_json::to_string(&reply).unwrap();
    for word in ["\"by\"", "viewed", "login", "tty", "selected_ms", "uid"] {
        assert!(!text.contains(word), "{word} in {text}");
    }
}
