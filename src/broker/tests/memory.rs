//! What stays in memory: everything open, and a limited number of ended proposals.

use super::super::event::{ExecNote, Request};
use super::world::*;
use crate::model::{Draft, State};

#[test]
fn old_ended_proposals_are_forgotten_and_open_ones_never() {
    let mut w = World::new();
    w.thorough = false;
    let pending = w.pending(A, draft("the oldest of all"));
    let running = w.running(A, draft("runs"));
    let mut first = None;
    for n in 0..2_100 {
        w.pass(ms(20));
        let id = w.pending(A, keyed("1", &format!("key {n}")));
        first.get_or_insert(id);
        w.deny(id, None);
        w.durable();
    }
    super::consistency::check(&w.state, w.now);
    assert_eq!(w.state.ended.len(), 2_000);
    assert_eq!(w.state.entries.len(), 2_002);
    assert_eq!(
        w.state.keys.len(),
        2_000,
        "keys are forgotten with their proposals"
    );
    assert_eq!(w.state.connections[&A].owned.len(), 2_002);
    assert_eq!(w.state_of(pending), State::Pending);
    assert_eq!(w.state_of(running), State::Running);
    let id = first.unwrap();
    assert!(w.ask(A, Request::Status { id }).is_err());
    let again = w.pending(A, keyed("other params", "key 0"));
    assert_eq!(w.state_of(again), State::Pending, "a forgotten key is free");
}

#[test]
fn big_outputs_are_forgotten_sooner() {
    let mut w = World::new();
    w.thorough = false;
    let text = "x".repeat(1024 * 1024);
    for _ in 0..80 {
        let id = w.running(A, draft("1"));
        w.exec(id, ExecNote::Ended(Box::new(run(&text))));
        w.durable();
    }
    super::consistency::check(&w.state, w.now);
    let kept = w.state.ended.len();
    assert!((32..=64).contains(&kept), "{kept} megabytes kept");
}

#[test]
fn long_reasons_count() {
    let mut w = World::new();
    let reason = Some("why ".repeat(10_000));
    let id = w.pending(
        A,
        Draft {
            reason,
            ..draft("1")
        },
    );
    w.deny(id, None);
    w.durable();
    assert!(w.state.ended_bytes > 40_000);
}

#[test]
fn live_output_is_bounded() {
    let mut w = World::new();
    w.thorough = false;
    let id = w.running(A, draft("1"));
    let streams = [
        crate::model::StreamName::Stdout,
        crate::model::StreamName::Stderr,
    ];
    for n in 0..600 {
        let text = "y".repeat(4096);
        let stream = streams[n % 2];
        w.exec(id, ExecNote::Output { stream, text });
    }
    for n in 0..1000 {
        let stream = streams[n % 2];
        let text = String::new();
        w.exec(id, ExecNote::Output { stream, text });
    }
    let output = w.entry(id).output();
    assert!(output.stdout.len() <= super::super::LiveOutput::CAP);
    assert!(output.stderr.len() <= super::super::LiveOutput::CAP);
    assert!(output.order.len() <= 600, "empty pieces are not counted");
}
