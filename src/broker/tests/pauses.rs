//! A person pauses an agent: what is refused then, what goes on, and when it ends.

use super::super::effect::RpcError;
use super::super::event::{Event, HumanAct, Request};
use super::world::*;
use crate::model::{AgentClaim, AgentId, ConnId, Draft, LogEvent, Reviewer, State, VerdictKind};

/// The process of connection A under this name.
fn agent(name: &str) -> AgentId {
    AgentId {
        uid: 1000,
        pid: 10,
        name: name.to_owned(),
        gateway: None,
    }
}

fn named(code: &str, name: &str) -> Draft {
    Draft {
        agent: Some(AgentClaim {
            name: name.to_owned(),
            ..AgentClaim::default()
        }),
        ..draft(code)
    }
}

fn pause(w: &mut World, name: &str) {
    let by = Reviewer::default();
    let agent = agent(name);
    w.send(Event::Human(HumanAct::Pause { agent, by }));
}

fn resume(w: &mut World, name: &str) {
    let by = Reviewer::default();
    let agent = agent(name);
    w.send(Event::Human(HumanAct::Resume { agent, by }));
}

fn assert_paused(error: &RpcError) {
    assert_eq!(error.code, RpcError::TOO_MANY);
    assert!(
        error.message.contains("a person paused"),
        "{}",
        error.message
    );
    assert!(
        error.data["retry_after_ms"]
            .as_u64()
            .is_some_and(|ms| ms > 0)
    );
}

#[test]
fn a_paused_agent_cannot_propose_under_another_name_or_from_another_connection() {
    let mut w = World::new();
    pause(&mut w, "etl-bot");
    w.durable();
    assert_paused(&w.propose_refused(A, named("1", "etl-bot")));
    assert_paused(&w.propose_refused(A, named("1", "somebody else")));
    assert_paused(&w.propose_refused(A, draft("1")));
    // Its process connects anew.
    w.disconnect(A);
    w.connect(ConnId(7), 1000, 10);
    assert_paused(&w.propose_refused(ConnId(7), named("1", "somebody else")));
    // Another process uses its name, in the proposal or in `hello`.
    assert_paused(&w.propose_refused(B, named("1", "etl-bot")));
    let hello = Request::Hello {
        agent: named("1", "etl-bot").agent,
        resume: None,
        fresh: "t".to_owned(),
    };
    w.ask(B, hello).unwrap();
    assert_paused(&w.propose_refused(B, draft("1")));
    assert!(w.jobs.is_empty(), "nothing is analysed for a paused agent");
    // Other names of other processes and other uids are not affected.
    w.pending(B, named("1", "notebook"));
    w.pending(C, named("1", "etl-bot"));
}

#[test]
fn a_pause_without_a_claimed_name_covers_the_program_s_name() {
    let mut w = World::new();
    pause(&mut w, "python3");
    w.durable();
    assert_paused(&w.propose_refused(B, draft("1")));
    w.pending(B, named("1", "notebook"));
}

#[test]
fn what_a_paused_agent_has_pending_stays_and_everything_but_propose_goes_on() {
    let mut w = World::new();
    let id = w.pending(A, keyed("1", "k"));
    let other = w.pending(A, draft("2"));
    pause(&mut w, "python3");
    w.durable();
    assert_eq!(w.state_of(id), State::Pending);
    w.ask(A, Request::Status { id }).unwrap();
    w.request(A, Request::Withdraw { id: other });
    w.durable();
    assert_eq!(w.state_of(other), State::Withdrawn);
    let check = w.request(
        A,
        Request::Check {
            code: "1".into(),
            profile: None,
            inputs: None,
        },
    );
    w.analyse(VerdictKind::Clear);
    assert!(w.answer(A, check).unwrap().is_ok());
    // The same key attaches to the proposal that is there.
    let (_, call) = w.propose(A, keyed("1", "k"));
    assert!(w.answer(A, call).unwrap().is_ok());
    w.start(id);
    w.exec(
        id,
        super::super::event::ExecNote::Ended(Box::new(run("1\n"))),
    );
    w.durable();
    assert_eq!(w.outcome_of(A, id).state, State::Succeeded);
}

#[test]
fn a_resumed_agent_may_propose_again_once_the_record_is_durable() {
    let mut w = World::new();
    pause(&mut w, "etl-bot");
    w.durable();
    // Resuming the process under another name ends the pause that covers it.
    resume(&mut w, "another name");
    assert_paused(&w.propose_refused(A, draft("1")));
    w.durable();
    assert!(w.state.pauses().is_empty());
    w.pending(A, named("1", "etl-bot"));
    let kinds: Vec<_> = w.log.iter().map(LogEvent::kind).collect();
    assert_eq!(kinds, ["paused", "resumed", "refused", "proposed"]);
    let LogEvent::Resumed { agent: ended, .. } = &w.log[1] else {
        panic!("{:?}", w.log[1]);
    };
    assert_eq!(*ended, agent("etl-bot"));
}

#[test]
fn an_agent_hears_of_its_pause_only_once_the_record_is_durable() {
    let mut w = World::new();
    pause(&mut w, "etl-bot");
    let early = w.propose_refused(A, draft("1"));
    assert_eq!(early.code, RpcError::TOO_MANY);
    assert!(!early.message.contains("paused"), "{}", early.message);
    w.durable();
    assert_paused(&w.propose_refused(A, draft("1")));
}

#[test]
fn a_pause_is_recorded_once_and_can_begin_again_while_its_end_is_written() {
    let mut w = World::new();
    pause(&mut w, "etl-bot");
    pause(&mut w, "etl-bot");
    resume(&mut w, "etl-bot");
    resume(&mut w, "etl-bot");
    pause(&mut w, "etl-bot");
    w.durable();
    let kinds: Vec<_> = w.log.iter().map(LogEvent::kind).collect();
    assert_eq!(kinds, ["paused", "resumed", "paused"]);
    assert_paused(&w.propose_refused(A, draft("1")));
    assert!(w.state.is_paused(1000, 10, "x"));
}

#[test]
fn the_refusal_names_no_reviewer() {
    let mut w = World::new();
    let by = Reviewer {
        uid: 4711,
        login: Some("maria".to_owned()),
        ..Reviewer::default()
    };
    let agent = agent("etl-bot");
    w.send(Event::Human(HumanAct::Pause { agent, by }));
    w.durable();
    let error = w.propose_refused(A, draft("1"));
    let told = format!("{} {}", error.message, error.data);
    assert!(!told.contains("maria") && !told.contains("4711"), "{told}");
}

#[test]
fn a_closing_dashboard_and_one_without_a_log_take_no_pause() {
    let mut w = World::new();
    w.pending(A, draft("1"));
    w.quit();
    pause(&mut w, "etl-bot");
    assert!(w.state.pauses().is_empty());
    let mut w = World::new();
    w.audit_down();
    pause(&mut w, "etl-bot");
    assert!(w.state.pauses().is_empty());
}
