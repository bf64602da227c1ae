//! What the screen reads from an entry in each phase.

use super::super::effect::Reply;
use super::super::event::{Event, ExecNote, Request};
use super::world::*;
use crate::model::{
    DecisionKind, Draft, ProposalId, Run, RunErrorKind, RunEvent, State, StreamName, VerdictKind,
};

/// State, kind of decision, whether it runs, whether it ended, what was printed, what was noted.
type Snapshot = (State, Option<DecisionKind>, bool, bool, String, Vec<String>);

fn read(w: &World, id: ProposalId) -> Snapshot {
    let e = w.entry(id);
    (
        e.state(),
        e.decision().map(|d| d.kind),
        e.released().is_some(),
        e.ended().is_some(),
        e.output().stdout.clone(),
        e.noted()
            .iter()
            .map(|event| event.message.clone())
            .collect(),
    )
}

fn noted(kind: &str, message: &str) -> ExecNote {
    ExecNote::Noted(vec![RunEvent {
        kind: kind.to_owned(),
        message: message.to_owned(),
        line: None,
    }])
}

fn prints(text: &str) -> ExecNote {
    ExecNote::Output {
        stream: StreamName::Stdout,
        text: text.to_owned(),
    }
}

/// A proposal whose child runs and has printed `7`, with a note about it.
fn run_that_printed(w: &mut World) -> ProposalId {
    let nothing = || (String::new(), Vec::<String>::new());
    let (id, _) = w.propose(A, draft("1"));
    let step =
        |w: &World, state, decision, runs, (run_that_printed, noted): (String, Vec<String>)| {
            assert_eq!(
                read(w, id),
                (state, decision, runs, false, run_that_printed, noted)
            );
        };
    let granted = Some(DecisionKind::Granted);
    step(w, State::Pending, None, false, nothing());
    assert_eq!(
        (w.entry(id).verdict(), w.entry(id).awaits_decision()),
        (None, false)
    );
    w.analyse(VerdictKind::Clear);
    assert!(w.entry(id).verdict().is_some() && !w.entry(id).awaits_decision());
    w.durable();
    step(w, State::Pending, None, false, nothing());
    assert!(w.entry(id).awaits_decision() && w.entry(id).message().is_empty());
    w.grant(id);
    step(w, State::Granted, granted, false, nothing());
    w.durable();
    let expected = (String::new(), vec!["compared up to 7".to_owned()]);
    w.exec(id, noted(RunEvent::PRIVATE, "compared up to 7"));
    step(w, State::Granted, granted, false, expected.clone());
    w.exec(id, ExecNote::Prepared(isolation()));
    // About a held child, notes on private data are no longer accepted.
    w.exec(id, noted(RunEvent::PRIVATE, "too late"));
    step(w, State::Granted, granted, false, expected.clone());
    w.exec(id, noted(RunEvent::ENVIRONMENT, "x.py was changed"));
    let expected = (
        String::new(),
        [expected.1, vec!["x.py was changed".to_owned()]].concat(),
    );
    step(w, State::Granted, granted, false, expected.clone());
    w.durable();
    w.exec(id, ExecNote::Released);
    step(w, State::Running, granted, true, expected.clone());
    assert_eq!(w.entry(id).released().unwrap().boot, w.now.boot);
    w.exec(id, noted(RunEvent::ENVIRONMENT, "of a run that runs"));
    w.exec(id, prints("7"));
    step(
        w,
        State::Running,
        granted,
        true,
        ("7".to_owned(), expected.1),
    );
    w.pass(s(5));
    id
}

#[test]
fn a_run_that_ends_has_its_result_and_its_notes() {
    let mut w = World::new();
    let id = run_that_printed(&mut w);
    w.exec(id, ExecNote::Ended(Box::new(run("7\n"))));
    let (state, decision, runs, ended, output, notes) = read(&w, id);
    assert_eq!((state, runs, ended), (State::Succeeded, false, true));
    assert_eq!(decision, Some(DecisionKind::Granted));
    assert_eq!((output.as_str(), notes.len()), ("", 2));
    let e = w.entry(id);
    assert_eq!(e.run().unwrap().stdout, "7\n");
    assert_eq!(e.message(), "It ran and succeeded.");
    assert_eq!(e.ended().unwrap().boot, w.now.boot);
}

/// What a run lost is said where the agent and the person read its end, not only among its events.
#[test]
fn a_run_that_lost_something_says_so_in_its_message() {
    let ended = |run: Run| {
        let mut w = World::new();
        let id = run_that_printed(&mut w);
        w.exec(id, ExecNote::Ended(Box::new(run)));
        w.entry(id).message().to_owned()
    };
    let figures = Run {
        figures_unkept: 5,
        ..run("")
    };
    assert_eq!(
        ended(figures),
        "It ran and succeeded. 5 figures are not kept: a run keeps no more figures than the policy keeps files; draw \
         several into one with `plt.subplots`."
    );
    let files = Run {
        artifacts_unkept: vec!["b.csv".to_owned(), "c.csv".to_owned()],
        ..run("")
    };
    assert_eq!(
        ended(files),
        "It ran and succeeded. It left more files than the 0 that are kept, and 2 of them are not: b.csv, c.csv."
    );
    let failed = Run {
        figures_unkept: 1,
        ..failed_run(RunErrorKind::SnippetError)
    };
    assert_eq!(
        ended(failed),
        "It ran and failed with ZeroDivisionError: division by zero. 1 figure is not kept: a run keeps no more figures \
         than the policy keeps files; draw several into one with `plt.subplots`."
    );
    let output = Run {
        stdout_bytes: 120_000,
        stdout_truncated: true,
        ..run("")
    };
    assert_eq!(
        ended(output),
        "It ran and succeeded. It printed 120,000 bytes, and only the first of them are kept."
    );
}

/// The output stays on the screen if there is no result that has it.
#[test]
fn an_interrupted_run_keeps_its_output() {
    let mut w = World::new();
    let id = run_that_printed(&mut w);
    let message = "it was lost".to_owned();
    w.exec(id, ExecNote::Failed { message });
    let (state, decision, runs, ended, output, notes) = read(&w, id);
    assert_eq!((state, runs, ended), (State::Error, false, true));
    assert_eq!(decision, Some(DecisionKind::Granted));
    assert_eq!((output.as_str(), notes.len()), ("7", 2));
    assert_eq!(w.entry(id).run(), None);
    assert_eq!(
        w.entry(id).message(),
        "It was stopped while it ran: it was lost"
    );
    assert_eq!(
        (w.entry(id).ttl_s(), w.entry(id).left(w.now)),
        (1800, s(1795))
    );
}

/// The log fails between the end of a run and its record: the result is lost, but the run did
/// happen.
#[test]
fn a_result_that_is_lost_with_the_log_leaves_no_run_behind() {
    let mut w = World::new();
    let id = run_that_printed(&mut w);
    w.exec(
        id,
        ExecNote::Ended(Box::new(failed_run(RunErrorKind::SnippetError))),
    );
    w.audit_down();
    let e = w.entry(id);
    assert_eq!((e.state(), e.run()), (State::Error, None));
    assert!(
        e.message()
            .starts_with("It was stopped while it ran: the audit log")
    );
    let decision = e.decision().map(|d| d.kind);
    assert_eq!(decision, Some(DecisionKind::Granted));
}

/// The analyser and the reader of inputs may answer after the log failed. The person sees their
/// answers, but nobody can decide on the proposal.
#[test]
fn answers_after_a_log_failure_are_shown_and_lead_to_nothing() {
    let mut w = World::new();
    let inputs = json_input(serde_json::json!(1));
    let (id, call) = w.propose(
        A,
        Draft {
            inputs,
            ..draft("1")
        },
    );
    w.audit_down();
    assert!(matches!(w.answer(A, call), Some(Err(_))));
    assert_eq!((w.entry(id).verdict(), w.entry(id).inputs()), (None, None));
    w.analyse(VerdictKind::Clear);
    let inputs = Ok(vec![bound("threshold", "1")]);
    w.send(Event::InputsBound { id, inputs });
    let e = w.entry(id);
    assert!(e.verdict().is_some());
    assert_eq!(e.inputs().map(|i| i.len()), Some(1));
    assert_eq!(e.state(), State::Error);
    assert!(w.log.is_empty() && !w.entry(id).awaits_decision());
    // A second answer about the inputs is ignored.
    w.send(Event::InputsBound {
        id,
        inputs: Ok(Vec::new()),
    });
    assert_eq!(w.entry(id).inputs().map(|i| i.len()), Some(1));
    let Ok(Reply::Status { verdict, state, .. }) = w.ask(A, Request::Status { id }) else {
        panic!("no status");
    };
    assert_eq!((verdict.is_some(), state), (true, State::Error));
}

#[test]
fn the_first_answer_is_shown_while_the_other_is_awaited() {
    for verdict_first in [true, false] {
        let mut w = World::new();
        let inputs = json_input(serde_json::json!(1));
        let draft = Draft {
            inputs,
            ..draft("1")
        };
        let (id, _) = w.propose(A, draft);
        if verdict_first {
            w.analyse(VerdictKind::Clear);
        } else {
            let inputs = Ok(vec![bound("threshold", "1")]);
            w.send(Event::InputsBound { id, inputs });
            // A second answer about the inputs is ignored.
            let inputs = Ok(Vec::new());
            w.send(Event::InputsBound { id, inputs });
        }
        let e = w.entry(id);
        assert_eq!(e.verdict().is_some(), verdict_first);
        let input_count = e.inputs().map(|inputs| inputs.len());
        assert_eq!(input_count, (!verdict_first).then_some(1));
    }
}
