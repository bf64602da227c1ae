//! Invariant 10: no agent crowds out others; a refusal says when to retry and what would be
//! accepted.

use std::collections::BTreeMap;

use super::super::Settings;
use super::super::effect::RpcError;
use super::super::event::{Event, ExecNote, Request};
use super::world::*;
use crate::model::{CallId, ConnId, Draft, InputRequest, LogEvent, State, VerdictKind};

fn small_quotas() -> World {
    World::with(Settings {
        max_pending: 6,
        max_pending_per_peer: 2,
        max_pending_per_uid: 4,
        ..settings()
    })
}

fn assert_too_many(error: &RpcError) {
    assert_eq!(error.code, RpcError::TOO_MANY);
    assert!(error.data["retry_after_ms"].as_u64().is_some_and(|n| n > 0));
}

#[test]
fn peers_uids_and_the_total_have_their_bounds() {
    let mut w = small_quotas();
    for _ in 0..2 {
        w.pending(A, draft("1"));
    }
    assert_too_many(&w.propose_refused(A, draft("1")));
    for _ in 0..2 {
        w.pending(B, draft("1"));
    }
    w.connect(ConnId(4), 1000, 12);
    let error = w.propose_refused(ConnId(4), draft("1"));
    assert_too_many(&error);
    assert!(error.message.contains("uid"), "{}", error.message);
    for _ in 0..2 {
        w.pending(C, draft("another uid is not affected"));
    }
    w.connect(ConnId(5), 1002, 30);
    let error = w.propose_refused(ConnId(5), draft("1"));
    assert_too_many(&error);
    assert!(error.message.contains("in all"), "{}", error.message);
}

#[test]
fn proposals_without_a_verdict_count_too() {
    let mut w = small_quotas();
    for _ in 0..2 {
        w.propose(A, draft("1"));
    }
    assert_too_many(&w.propose_refused(A, draft("1")));
    w.request(
        A,
        Request::Withdraw {
            id: w.state.entries.keys().next().copied().unwrap(),
        },
    );
    assert_too_many(&w.propose_refused(A, draft("withdrawing unjudged work frees nothing")));
}

#[test]
fn every_end_of_a_waiting_proposal_frees_its_place() {
    let mut w = small_quotas();
    type End = fn(&mut World, crate::model::ProposalId);
    let ends: [End; 4] = [
        |w, id| w.deny(id, None),
        |w, id| w.grant(id),
        |w, id| {
            w.request(A, Request::Withdraw { id });
        },
        |w, _| w.tick(s(1800)),
    ];
    for end in ends {
        let ids = [w.pending(A, draft("1")), w.pending(A, draft("2"))];
        assert_too_many(&w.propose_refused(A, draft("3")));
        for id in ids {
            end(&mut w, id);
        }
        w.durable();
    }
    let (id, _) = w.propose(A, draft("blocked"));
    w.analyse(VerdictKind::Blocked);
    w.durable();
    assert_eq!(w.state_of(id), State::Blocked);
    assert_eq!(w.state.undecided.total, 0);
}

#[test]
fn a_second_connection_of_a_peer_shares_its_quota() {
    let mut w = small_quotas();
    w.connect(ConnId(7), 1000, 10);
    w.pending(A, draft("1"));
    w.pending(ConnId(7), draft("2"));
    assert_too_many(&w.propose_refused(ConnId(7), draft("3")));
    w.disconnect(A);
    w.durable();
    w.pending(ConnId(7), draft("3"));
}

#[test]
fn reattaching_by_key_takes_no_place() {
    let mut w = small_quotas();
    w.pending(A, keyed("1", "k"));
    w.pending(A, draft("2"));
    let (_, call) = w.propose(A, keyed("1", "k"));
    assert!(w.answer(A, call).unwrap().is_ok());
}

#[test]
fn analysis_time_is_a_budget_and_comes_back() {
    let mut w = World::new();
    let slow = |w: &mut World| {
        let (id, _) = w.propose(A, draft("1"));
        w.pass(s(1));
        let (job, code) = w.jobs.pop_front().unwrap();
        let mut verdict = Box::new(verdict(VerdictKind::Clear, &code));
        verdict.elapsed_us = 1_000_000;
        w.send(Event::Analysed { job, verdict });
        w.durable();
        id
    };
    let mut used = 0;
    let error = loop {
        let (_, call) = w.propose(A, draft("probe"));
        if let Some(Err(error)) = w.answer(A, call) {
            break error.clone();
        }
        w.analyse(VerdictKind::Clear);
        slow(&mut w);
        used += 1;
        assert!(used < 20, "the budget has no end");
    };
    assert_too_many(&error);
    assert!(error.message.contains("analysis"), "{}", error.message);
    let (code, profile) = ("1".into(), None);
    assert_too_many(&w.refused(
        A,
        Request::Check {
            code,
            profile,
            inputs: None,
        },
    ));
    w.pending(C, draft("another uid may still ask"));
    let retry_after_ms = error.data["retry_after_ms"].as_u64().unwrap();
    w.tick(ms(retry_after_ms + 1000));
    w.pending(A, draft("again"));
}

#[test]
fn other_work_of_the_machine_costs_no_agent_its_budget() {
    let mut w = World::new();
    for n in 0..100 {
        w.propose(A, draft(&n.to_string()));
        w.pass(s(1));
        w.analyse(VerdictKind::Blocked);
        w.durable();
    }
    w.pending(A, draft("again"));
    // If the analyser gave no answer, the whole elapsed time counts.
    let error = loop {
        let (_, call) = w.propose(A, draft("1"));
        if let Some(Err(error)) = w.answer(A, call) {
            break error.clone();
        }
        w.pass(s(1));
        let (job, code) = w.jobs.pop_front().unwrap();
        let mut verdict = Box::new(verdict(VerdictKind::Unanalyzable, &code));
        verdict.elapsed_us = 0;
        w.send(Event::Analysed { job, verdict });
        w.durable();
    };
    assert_too_many(&error);
}

#[test]
fn a_peer_that_uses_little_is_served_while_another_of_its_uid_uses_all() {
    let mut w = World::new();
    let boot = w.now.boot;
    // The other two peers together have used up their uid's allowance.
    for pid in [10, 12] {
        w.state.quotas.charge_analysis((1000, pid), s(6), boot);
        w.state.quotas.charge_log((1000, pid), 150 << 20, boot);
    }
    assert_too_many(&w.propose_refused(A, draft("one of them")));
    w.pending(B, draft("polite"));
}

/// The figures of internals.md, to the byte and the microsecond. No peer has used up its own
/// allowance, but their total has used up the uid's; those that used more than their share must
/// wait.
#[test]
fn the_allowances_of_peers_and_uids_match_the_table() {
    const MIB: u64 = 1 << 20;
    const LOG: (&str, u64, u64, u64) = ("log bytes", 64 * MIB, 256 * MIB, MIB);
    const ANALYSIS: (&str, u64, u64, u64) = ("analysis time", 5_000_000, 10_000_000, 250_000);
    for (budget, of_peer, of_uid, regained) in [LOG, ANALYSIS] {
        let mut w = World::new();
        let boot = w.now.boot;
        let charge = |w: &mut World, pid: i32, amount: u64| match budget {
            "log bytes" => w.state.quotas.charge_log((1000, pid), amount, boot),
            _ => {
                let spent = std::time::Duration::from_micros(amount);
                w.state.quotas.charge_analysis((1000, pid), spent, boot);
            }
        };
        let exhausted = |w: &World, uid: u32, pid: i32, after: std::time::Duration| {
            w.state.quotas.exhausted((uid, pid), boot + after)
        };
        let peers = i32::try_from(of_uid / of_peer).unwrap();
        for pid in 0..peers {
            charge(&mut w, pid, of_peer - 1);
            assert_eq!(
                exhausted(&w, 1000, pid, ms(0)),
                None,
                "{budget}: below its own"
            );
        }
        charge(&mut w, peers, u64::try_from(peers).unwrap());
        for pid in 0..peers {
            assert_eq!(
                exhausted(&w, 1000, pid, ms(0)),
                Some((budget, 1)),
                "{budget}"
            );
            assert_eq!(exhausted(&w, 1000, pid, ms(1)), None, "{budget}: regained");
        }
        assert_eq!(
            exhausted(&w, 1000, peers, ms(0)),
            None,
            "{budget}: its share"
        );
        assert_eq!(
            exhausted(&w, 1001, 20, ms(0)),
            None,
            "{budget}: another uid"
        );
        charge(&mut w, 0, 1 + regained);
        assert_eq!(
            exhausted(&w, 1000, 0, ms(999)),
            Some((budget, 1)),
            "{budget}"
        );
        assert_eq!(exhausted(&w, 1000, 0, ms(1001)), None, "{budget}");
        // Beyond twice the uid's allowance, staying below its share helps no peer.
        charge(&mut w, 99, of_uid - regained - 1);
        assert!(
            exhausted(&w, 1000, peers, ms(0)).is_some(),
            "{budget}: beyond twice"
        );
    }
}

#[test]
fn a_suspended_machine_costs_no_agent_its_budget() {
    let mut w = World::new();
    let ttl_s = Some(28_800);
    w.propose(
        A,
        Draft {
            ttl_s,
            ..draft("1")
        },
    );
    w.pass(s(8 * 3600 - 1));
    w.analyse(VerdictKind::Clear);
    w.pending(A, draft("2"));
}

#[test]
fn log_bytes_are_a_budget_over_everything_an_agent_sends() {
    let big = "x".repeat(60 * 1024);
    let inputs: BTreeMap<String, InputRequest> = (0..10)
        .map(|n| {
            let json = serde_json::json!(big);
            (format!("i{n}"), InputRequest::Json { json })
        })
        .collect();
    let heavy = [
        Draft {
            reason: Some(big.clone()),
            ..draft("1")
        },
        draft(&big),
        Draft {
            inputs,
            ..draft("1")
        },
    ];
    for draft in heavy {
        let mut w = World::new();
        // Most of the 64 MiB are used; the rest holds about seventy of these.
        w.state.quotas.charge_log((1000, 10), 60 << 20, w.now.boot);
        let mut accepted = 0;
        let error = loop {
            // Nothing is analysed or recorded meanwhile: the charge comes in advance.
            let (_, call) = w.propose(A, draft.clone());
            if let Some(Err(error)) = w.answer(A, call) {
                break error.clone();
            }
            accepted += 1;
            assert!(accepted < 100, "the budget has no end");
        };
        assert_too_many(&error);
        assert!(error.message.contains("log bytes"), "{}", error.message);
    }
}

#[test]
fn waiting_checks_are_bounded_per_peer_and_per_uid() {
    let mut w = World::new();
    let mut refused = 0;
    for pid in 0..8 {
        let conn = ConnId(100 + pid);
        w.connect(conn, 1000, 100 + pid as i32);
        for _ in 0..300 {
            let (code, profile) = ("1".into(), None);
            let call = w.request(
                conn,
                Request::Check {
                    code,
                    profile,
                    inputs: None,
                },
            );
            if let Some(answer) = w.answer(conn, call) {
                assert_too_many(answer.as_ref().unwrap_err());
                refused += 1;
            }
        }
        assert!(refused > 0, "a peer's waiting checks are not bounded");
    }
    assert!(w.state.desks.of_uid(1000) <= 1024);
}

#[test]
fn the_bounds_on_waiting_requests_match_the_table() {
    let check = || Request::Check {
        code: "1".into(),
        profile: None,
        inputs: None,
    };
    let accepted = |w: &mut World, conn: ConnId| {
        let calls: Vec<_> = (0..2_000).map(|_| w.request(conn, check())).collect();
        let refused = |call: &CallId| w.answer(conn, *call).is_some();
        calls.iter().filter(|call| !refused(call)).count()
    };
    let mut w = World::new();
    w.thorough = false;
    let accepted_per_peer: Vec<usize> = (0..6)
        .map(|pid| {
            let conn = ConnId(100 + pid);
            w.connect(conn, 1000, 100 + pid as i32);
            accepted(&mut w, conn)
        })
        .collect();
    // The very first is already being analysed.
    assert_eq!(accepted_per_peer, [1 + 256, 256, 256, 256, 0, 0]);
    assert_eq!(w.state.desks.of_uid(1000), 1024);
    assert_eq!(accepted(&mut w, C), 256, "another uid has its own");
    let row = "| requests that wait for a verdict or, then, for the disk | 256 | 1024 |";
    let table = include_str!("../../../assets/docs/internals.md");
    assert!(
        table.lines().any(|line| line == row),
        "the table lacks the row {row}"
    );
}

#[test]
fn refusals_are_coalesced_into_few_records() {
    let mut w = small_quotas();
    for _ in 0..2 {
        w.pending(A, draft("1"));
    }
    for _ in 0..500 {
        w.propose_refused(A, draft("1"));
    }
    w.durable();
    let refused = |w: &World| -> Vec<u64> {
        let count = |e: &LogEvent| match e {
            LogEvent::Refused { count, .. } => Some(*count),
            _ => None,
        };
        w.log.iter().filter_map(count).collect()
    };
    assert_eq!(refused(&w), [1], "the first refusal is recorded at once");
    w.tick(s(10));
    assert_eq!(refused(&w), [1, 499], "the other refusals share one record");
    w.tick(s(60));
    assert_eq!(refused(&w), [1, 499], "no further record follows");
}

#[test]
fn unknown_ids_and_names_are_recorded_as_refusals_of_their_peer() {
    let mut w = World::new();
    let id = w.fresh_id();
    w.refused(C, Request::Status { id });
    let profile = Some("walled".to_owned());
    w.propose_refused(
        C,
        Draft {
            profile,
            ..draft("1")
        },
    );
    let codes: Vec<_> = w
        .log
        .iter()
        .filter_map(|e| match e {
            LogEvent::Refused { peer, code, .. } => Some((peer.uid, *code)),
            _ => None,
        })
        .collect();
    assert_eq!(
        codes,
        [(1001, RpcError::UNKNOWN_ID), (1001, RpcError::UNKNOWN_NAME)]
    );
}

#[test]
fn ten_thousand_pending_are_taken_listed_and_ended() {
    let mut w = World::with(Settings {
        max_pending_per_peer: 10_000,
        max_pending_per_uid: 10_000,
        ..settings()
    });
    w.thorough = false;
    let ids: Vec<_> = (0..10_000)
        .map(|n| {
            // Time for the log quota to recover.
            w.pass(ms(10));
            w.pending(A, draft(&format!("print({n})")))
        })
        .collect();
    assert_eq!(w.state.pending_count(), 10_000);
    assert!(
        w.state
            .pending()
            .map(|e| e.proposal.id)
            .eq(ids.iter().copied())
    );
    assert_eq!(
        super::super::selection::most_urgent(&w.state, &Default::default()),
        Some(ids[0])
    );
    super::consistency::check(&w.state, w.now);
    w.grant(ids[5_000]);
    w.durable();
    assert_eq!(w.executed, [ids[5_000]]);
    w.exec(
        ids[5_000],
        ExecNote::Failed {
            message: "no child".to_owned(),
        },
    );
    w.pass(s(3600));
    w.send(Event::Tick);
    w.durable();
    assert_eq!(w.state.pending_count(), 0);
    assert!(w.state.entries.len() <= 2_000);
    super::consistency::check(&w.state, w.now);
}

#[test]
fn a_flood_is_refused_before_any_work_is_done_for_it() {
    let mut w = World::with(Settings {
        max_pending: 10_000,
        max_pending_per_peer: 5_000,
        max_pending_per_uid: 10_000,
        ..settings()
    });
    w.thorough = false;
    let mut refused = 0;
    for n in 0..400 {
        let (_, call) = w.propose(A, draft(&n.to_string()));
        if let Some(answer) = w.answer(A, call) {
            let error = answer.as_ref().unwrap_err();
            assert_too_many(error);
            assert!(
                error.message.contains("wait for a verdict"),
                "{}",
                error.message
            );
            refused += 1;
        }
    }
    assert_eq!(refused, 400 - 256);
    // Nothing remains of the refused requests: no entry, no work, and one record for all.
    assert_eq!(w.state.entries.len(), 256);
    assert!(w.state.desks.of_peer((1000, 10)) <= 256);
    assert_eq!(w.log.len(), 1);
    let code: std::sync::Arc<str> = "1".into();
    let check = Request::Check {
        code,
        profile: None,
        inputs: None,
    };
    assert_too_many(&w.refused(A, check));
    // Another peer of the same uid is answered after one turn of the flooding peer.
    let (polite, call) = w.propose(B, draft("polite"));
    for _ in 0..3 {
        let (job, code) = w.jobs.pop_front().unwrap();
        let verdict = Box::new(super::world::verdict(VerdictKind::Clear, &code));
        w.send(Event::Analysed { job, verdict });
    }
    w.durable();
    assert!(w.answer(B, call).unwrap().is_ok());
    assert!(w.entry(polite).awaits_decision());
}

#[test]
fn proposals_that_wait_for_the_disk_count_against_their_peer_too() {
    let mut w = World::with(Settings {
        max_pending: 10_000,
        max_pending_per_peer: 5_000,
        max_pending_per_uid: 10_000,
        ..settings()
    });
    w.thorough = false;
    // The proposals are blocked at once, so nobody decides on them; no record becomes durable.
    for n in 0..256 {
        w.propose(A, draft(&n.to_string()));
        w.analyse(VerdictKind::Blocked);
    }
    assert_eq!(w.state.unannounced.total, 256);
    assert_too_many(&w.propose_refused(A, draft("one more")));
    w.pending(C, draft("another uid is not affected"));
    assert_eq!(w.state.unannounced.total, 0, "every record is durable");
    assert_eq!(
        w.state.undecided.total, 1,
        "a blocked proposal is still pending"
    );
    w.pending(A, draft("again"));
}
