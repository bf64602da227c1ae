//! Whose work is analysed next: taking turns between uids, then between the peers of a uid.

use super::super::event::{Event, Request};
use super::world::*;
use crate::model::{ConnId, VerdictKind};

/// Lets the analyser do one piece of work at a time. Returns the code of each, in order.
fn analyse_all(w: &mut World) -> Vec<String> {
    let mut seen = Vec::new();
    while let Some((job, code)) = w.jobs.pop_front() {
        assert!(w.jobs.is_empty(), "the analyser has one job at a time");
        seen.push(code.clone());
        let verdict = Box::new(verdict(VerdictKind::Clear, &code));
        w.send(Event::Analysed { job, verdict });
    }
    seen
}

#[test]
fn a_flood_delays_another_uid_and_another_peer_by_one_turn() {
    let mut w = World::new();
    for n in 0..50 {
        w.propose(A, draft(&format!("flood {n}")));
    }
    w.propose(B, draft("another peer"));
    w.propose(C, draft("another uid"));
    let order = analyse_all(&mut w);
    let at = |code: &str| order.iter().position(|c| c == code).unwrap();
    assert!(at("another uid") <= 2, "{order:?}");
    assert!(at("another peer") <= 3, "{order:?}");
    assert_eq!(order.len(), 52);
    assert!(
        at("flood 1") < at("flood 2"),
        "a peer's proposals keep their order"
    );
}

#[test]
fn a_uid_with_many_peers_gets_no_more_turns_than_a_uid_with_one() {
    let mut w = World::new();
    for pid in 0..20 {
        let conn = ConnId(100 + pid);
        w.connect(conn, 1000, 100 + pid as i32);
        w.propose(conn, draft(&format!("fork {pid}")));
    }
    for n in 0..5 {
        w.propose(C, draft(&format!("single {n}")));
    }
    let order = analyse_all(&mut w);
    let last = order.iter().position(|c| c == "single 4").unwrap();
    assert!(last <= 11, "{order:?}");
}

#[test]
fn checks_queue_like_proposals() {
    let mut w = World::new();
    w.propose(A, draft("first"));
    for n in 0..20 {
        let (code, profile) = (format!("check {n}").into(), None);
        w.request(
            A,
            Request::Check {
                code,
                profile,
                inputs: None,
            },
        );
    }
    w.propose(C, draft("another uid"));
    let order = analyse_all(&mut w);
    assert!(order.iter().position(|c| c == "another uid").unwrap() <= 2);
}

/// The longest code takes twenty times as long as an ordinary snippet.
#[test]
fn short_code_does_not_wait_for_long_code() {
    let mut w = World::new();
    let long = "x = 1\n".repeat(1_000);
    for n in 0..20 {
        w.propose(A, draft(&format!("{long}print({n})\n")));
    }
    w.propose(B, draft("short"));
    let analysed: Vec<String> = w.jobs.iter().map(|(_, code)| code.clone()).collect();
    assert_eq!(analysed.len(), 2, "one at each desk");
    assert_eq!(analysed[1], "short");
    // Both desks count towards a peer's limit.
    assert_eq!(w.state.desks.of_peer((1000, 10)), 19);
    w.propose(B, draft("second"));
    assert_eq!(w.jobs.len(), 2, "one at a time at each desk");
    // The jobs may end in any order.
    for (job, code) in w.jobs.drain(..).rev().collect::<Vec<_>>() {
        let verdict = Box::new(verdict(VerdictKind::Clear, &code));
        w.send(Event::Analysed { job, verdict });
    }
    let next: Vec<&str> = w.jobs.iter().map(|(_, code)| code.as_str()).collect();
    assert_eq!(next.len(), 2);
    assert_eq!(next[0], "second");
    assert!(next[1].ends_with("print(1)\n"));
}

#[test]
fn work_of_a_closed_connection_is_dropped() {
    let mut w = World::new();
    w.propose(C, draft("occupies the analyser"));
    for n in 0..20 {
        let (code, profile) = (format!("check {n}").into(), None);
        w.request(
            A,
            Request::Check {
                code,
                profile,
                inputs: None,
            },
        );
    }
    w.disconnect(A);
    assert_eq!(analyse_all(&mut w), ["occupies the analyser"]);
}

#[test]
fn an_answer_to_another_job_changes_nothing() {
    let mut w = World::new();
    let (id, _) = w.propose(A, draft("1"));
    let (job, _) = w.jobs[0].clone();
    let stray = crate::model::JobId(job.0 + 1);
    let verdict = Box::new(verdict(VerdictKind::Clear, "1"));
    w.send(Event::Analysed {
        job: stray,
        verdict,
    });
    assert!(w.entry(id).verdict().is_none());
}
