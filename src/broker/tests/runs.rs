//! From the grant to the end of the run: the executor's reports are accepted only if they follow
//! from what it was asked to do.

use super::super::event::ExecNote;
use super::world::*;
use crate::model::{DecisionKind, Draft, Exit, LimitKind, Retry, Run, RunErrorKind, State, Usage};

#[test]
fn a_run_succeeds_only_with_exit_zero_no_limit_and_no_error() {
    let unsuccessful = [
        Run {
            exit: Exit::Code(1),
            ..run("")
        },
        Run {
            exit: Exit::Signal("SIGXCPU".to_owned()),
            ..run("")
        },
        Run {
            limit: Some(LimitKind::Output),
            ..run("")
        },
        failed_run(RunErrorKind::ContractViolation),
    ];
    let mut w = World::new();
    for run in unsuccessful {
        let id = w.running(A, draft("1"));
        w.exec(id, ExecNote::Ended(Box::new(run)));
        w.durable();
        let outcome = w.outcome_of(A, id);
        assert_eq!(
            (outcome.state, outcome.retry),
            (State::Failed, Retry::Changed)
        );
        assert_eq!(outcome.decision.unwrap().kind, DecisionKind::Granted);
    }
}

#[test]
fn only_code_with_a_durable_success_is_kept() {
    let mut w = World::new();
    let succeeded = w.running(A, draft("1"));
    w.exec(succeeded, ExecNote::Ended(Box::new(run(""))));
    assert!(w.kept.is_empty());
    w.durable();
    let failed = w.running(A, draft("2"));
    w.exec(
        failed,
        ExecNote::Ended(Box::new(failed_run(RunErrorKind::SnippetError))),
    );
    let stopped = w.running(A, draft("3"));
    w.kill(stopped);
    w.durable();
    w.pending(A, draft("4"));
    let kept: Vec<_> = w.kept.iter().map(|k| (k.id, &*k.code)).collect();
    assert_eq!(kept, [(succeeded, "1")]);
}

#[test]
fn a_failed_run_names_its_error() {
    let mut w = World::new();
    let id = w.running(A, draft("1/0"));
    w.exec(
        id,
        ExecNote::Ended(Box::new(failed_run(RunErrorKind::SnippetError))),
    );
    w.durable();
    assert_eq!(
        w.outcome_of(A, id).message,
        "It ran and failed with ZeroDivisionError: division by zero"
    );
}

#[test]
fn a_grant_is_used_once() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    let digest = w.digest(id);
    w.confirm(id, digest);
    w.confirm(id, digest);
    w.durable();
    w.confirm(id, digest);
    w.durable();
    assert_eq!(w.executed, [id]);
    w.exec(id, ExecNote::Prepared(isolation()));
    w.exec(id, ExecNote::Prepared(isolation()));
    w.durable();
    assert_eq!(w.released, [id]);
    w.exec(id, ExecNote::Released);
    w.exec(id, ExecNote::Ended(Box::new(run(""))));
    w.exec(id, ExecNote::Ended(Box::new(run("again"))));
    w.durable();
    w.confirm(id, digest);
    w.durable();
    assert_eq!(w.executed.len(), 1);
    assert_eq!(w.kinds(id), ["proposed", "granted", "started", "finished"]);
}

#[test]
fn unrequested_reports_change_nothing() {
    let notes = || {
        [
            ExecNote::Prepared(isolation()),
            ExecNote::Released,
            ExecNote::Output {
                stream: crate::model::StreamName::Stdout,
                text: "forged".to_owned(),
            },
            ExecNote::Ended(Box::new(run("forged"))),
            ExecNote::Failed {
                message: "forged".to_owned(),
            },
        ]
    };
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    for note in notes() {
        w.exec(id, note);
    }
    assert_eq!(w.state_of(id), State::Pending);
    w.grant(id);
    for note in notes() {
        w.exec(id, note);
    }
    assert_eq!(
        w.state_of(id),
        State::Granted,
        "the grant is not on the disk yet"
    );
    w.durable();
    for note in notes().into_iter().skip(1).take(2) {
        w.exec(id, note);
    }
    assert_eq!(w.state_of(id), State::Granted, "the child was not released");
    assert!(w.entry(id).output().stdout.is_empty());
    w.exec(id, ExecNote::Ended(Box::new(run("forged"))));
    w.durable();
    let outcome = w.outcome_of(A, id);
    assert_eq!((outcome.state, outcome.run), (State::Error, None));
}

#[test]
fn a_child_that_cannot_be_made_is_an_error_that_may_be_asked_again() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    w.grant(id);
    w.durable();
    let message = "tier `kernel` needs user namespaces".to_owned();
    w.exec(id, ExecNote::Failed { message });
    w.durable();
    let outcome = w.outcome_of(A, id);
    assert_eq!((outcome.state, outcome.retry), (State::Error, Retry::Same));
    assert_eq!(
        outcome.message,
        "It could not be run: tier `kernel` needs user namespaces"
    );
}

#[test]
fn an_interrupted_run_is_reported_as_stopped_while_it_ran() {
    let mut w = World::new();
    let id = w.running(A, draft("1"));
    let message = "the data set changed".to_owned();
    w.exec(id, ExecNote::Failed { message });
    w.durable();
    let outcome = w.outcome_of(A, id);
    assert_eq!(outcome.state, State::Error);
    assert!(
        outcome.message.contains("while it ran"),
        "{}",
        outcome.message
    );
}

#[test]
fn the_kill_key_kills_at_once_and_is_recorded() {
    let mut w = World::new();
    let id = w.running(A, draft("while True: pass"));
    w.kill(id);
    w.kill(id);
    assert_eq!(w.killed, [id], "the kill is sent once, before any record");
    w.exec(
        id,
        ExecNote::Ended(Box::new(failed_run(RunErrorKind::Cancelled))),
    );
    w.durable();
    let outcome = w.outcome_of(A, id);
    assert_eq!((outcome.state, outcome.retry), (State::Failed, Retry::No));
    assert_eq!(outcome.message, "A person stopped it while it ran.");
    assert_eq!(
        w.kinds(id),
        ["proposed", "granted", "started", "killed", "finished"]
    );
}

#[test]
fn a_run_killed_before_its_grant_is_durable_never_starts() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    w.grant(id);
    w.kill(id);
    w.durable();
    assert!(w.executed.is_empty() && w.killed.is_empty());
    let outcome = w.outcome_of(A, id);
    assert_eq!((outcome.state, outcome.retry), (State::Failed, Retry::No));
    assert_eq!(outcome.message, "A person stopped it before it started.");
}

#[test]
fn a_held_child_that_is_killed_is_not_released() {
    for prepared_first in [false, true] {
        let mut w = World::new();
        let id = w.pending(A, draft("1"));
        w.grant(id);
        w.durable();
        if prepared_first {
            w.exec(id, ExecNote::Prepared(isolation()));
            w.kill(id);
        } else {
            w.kill(id);
            w.exec(id, ExecNote::Prepared(isolation()));
        }
        w.durable();
        assert!(w.released.is_empty());
        assert_eq!(w.killed, [id]);
        let message = "killed".to_owned();
        w.exec(id, ExecNote::Failed { message });
        w.durable();
        assert_eq!(
            w.outcome_of(A, id).message,
            "A person stopped it before it started."
        );
        // No `started` record is written for a child that is to be killed.
        let started = w.kinds(id).contains(&"started");
        assert_eq!(started, prepared_first);
    }
}

/// A release that is reported twice counts as one release, at the time of the first report.
#[test]
fn a_release_counts_once() {
    let mut w = World::new();
    let draft = Draft {
        stream: true,
        ..draft("1")
    };
    let id = w.running(A, draft);
    let first = w.entry(id).released();
    let note_count = w.notes.len();
    w.pass(s(1));
    w.exec(id, ExecNote::Released);
    assert_eq!((w.entry(id).released(), w.notes.len()), (first, note_count));
}

#[test]
fn the_kill_key_does_nothing_without_a_run() {
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    w.kill(id);
    assert_eq!(w.state_of(id), State::Pending);
    w.deny(id, None);
    w.kill(id);
    w.durable();
    assert_eq!(w.kinds(id), ["proposed", "denied"]);
}

#[test]
fn live_output_keeps_the_order_of_its_pieces() {
    use crate::model::StreamName::{Stderr, Stdout};
    let mut w = World::new();
    let id = w.running(A, draft("1"));
    for (stream, text) in [(Stdout, "a"), (Stdout, "b"), (Stderr, "!"), (Stdout, "c")] {
        let text = text.to_owned();
        w.exec(id, ExecNote::Output { stream, text });
    }
    let output = w.entry(id).output();
    assert_eq!(
        (output.stdout.as_str(), output.stderr.as_str()),
        ("abc", "!")
    );
    assert_eq!(output.order, [(Stdout, 2), (Stderr, 1), (Stdout, 3)]);
}

#[test]
fn what_a_run_uses_is_known_while_it_runs_and_afterwards() {
    let used = Usage {
        cpu_ms: 7,
        ..Usage::default()
    };
    let mut w = World::new();
    let id = w.pending(A, draft("1"));
    w.exec(id, ExecNote::Used(used));
    assert_eq!(w.state.entry(id).unwrap().used(), None);
    let id = w.running(A, draft("2"));
    w.exec(id, ExecNote::Used(used));
    assert_eq!(w.state.entry(id).unwrap().used(), Some(used));
    w.exec(id, ExecNote::Ended(Box::new(run(""))));
    w.durable();
    assert_eq!(w.state.entry(id).unwrap().used(), Some(used));
    let outcome = serde_json::to_string(&w.outcome_of(A, id)).unwrap();
    assert!(!outcome.contains("cpu_ms"), "{outcome}");
}
