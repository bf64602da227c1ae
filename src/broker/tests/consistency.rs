//! The model check: every index and count of the core, recomputed from its entries.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::entry::Early;
use super::super::quota::key;
use super::super::state::{BrokerState, Then};
use crate::clock::Now;
use crate::model::State;

/// Everything that `update` keeps beside the entries must follow from them.
pub fn check(state: &BrokerState, now: Now) {
    let entries = || state.entries.values();
    let id = |e: &super::super::Entry| e.proposal.id;

    let waiting: BTreeMap<_, _> = entries()
        .filter(|e| e.awaits_decision())
        .map(|e| (e.seq, id(e)))
        .collect();
    assert_eq!(state.waiting, waiting, "waiting");
    let active: BTreeMap<_, _> = entries()
        .filter(|e| matches!(e.state, State::Granted | State::Running))
        .map(|e| (e.seq, id(e)))
        .collect();
    assert_eq!(state.active, active, "active");
    let ended: BTreeSet<_> = entries()
        .filter(|e| e.state.is_final() && e.announced)
        .map(id)
        .collect();
    assert_eq!(state.ended.len(), ended.len(), "ended twice");
    assert_eq!(
        state.ended.iter().copied().collect::<BTreeSet<_>>(),
        ended,
        "ended"
    );
    let bytes: usize = entries()
        .filter(|e| e.state.is_final() && e.announced)
        .map(|e| e.weight)
        .sum();
    assert_eq!(state.ended_bytes, bytes, "bytes of the ended ones");

    let deadlines: BTreeSet<_> = entries()
        .filter(|e| e.state == State::Pending && e.deadline > now.boot)
        .map(|e| (e.deadline, id(e)))
        .collect();
    assert_eq!(state.deadlines, deadlines, "deadlines");
    for e in entries().filter(|e| e.state == State::Pending && e.deadline <= now.boot) {
        assert!(
            !e.announced && e.early.is_some(),
            "overdue and still to be decided"
        );
    }
    let timeouts: BTreeSet<_> = entries()
        .flat_map(|e| e.waiters.iter().map(move |w| (e, w)))
        .filter_map(|(e, (conn, call, until))| until.map(|t| (t, *conn, *call, id(e))))
        .collect();
    assert_eq!(state.timeouts, timeouts, "time-outs");
    assert!(
        timeouts.iter().all(|(t, ..)| *t > now.boot),
        "a wait that ran out"
    );

    let (mut peers, mut uids) = (HashMap::<_, usize>::new(), HashMap::<_, usize>::new());
    let undecided: Vec<_> = entries().filter(|e| e.state == State::Pending).collect();
    for e in &undecided {
        *peers.entry(key(&e.proposal.peer)).or_default() += 1;
        *uids.entry(e.proposal.peer.uid).or_default() += 1;
    }
    assert_eq!(state.undecided.total, undecided.len(), "undecided in all");
    for (peer, n) in peers {
        assert_eq!(state.undecided.of_peer(peer), n, "undecided of a peer");
    }
    for (uid, n) in uids {
        assert_eq!(state.undecided.of_uid(uid), n, "undecided of a uid");
    }

    for e in entries() {
        assert!(
            e.armed.is_none() || e.state == State::Granted,
            "armed, but not granted"
        );
        assert!(!e.told || e.state.is_final(), "told, but not final");
        assert!(
            !e.told || e.waiters.is_empty(),
            "told, and still waited for"
        );
        assert!(
            !e.told || e.withdrawers.is_empty(),
            "told, and still waited for"
        );
        assert!(
            !e.announced || e.proposers.is_empty(),
            "announced, but not answered"
        );
        assert!(
            e.early != Some(Early::Expired) || e.deadline <= now.boot,
            "expired early"
        );
        assert_eq!(e.weight > 0, e.state.is_final() && e.announced, "weight");
        assert_eq!(e.ended.is_some(), e.state.is_final(), "when it ended");
        for conn in &e.owners {
            let owner = state.connections.get(conn).expect("an owner is connected");
            assert!(
                owner.owned.contains(&id(e)),
                "an owner that does not know it"
            );
        }
        assert!(e.streams.is_subset(&e.owners), "streams to a stranger");
        let callers = e.proposers.iter().chain(&e.withdrawers).map(|(c, _)| c);
        for conn in callers.chain(e.waiters.iter().map(|(c, ..)| c)) {
            assert!(e.owners.contains(conn), "answers a stranger");
        }
        if let Some(name) = &e.proposal.idempotency_key {
            let known = state.keys.get(&(e.proposal.peer.uid, name.clone()));
            assert_eq!(known, Some(&id(e)), "its key leads elsewhere");
        }
    }
    for (conn, connection) in &state.connections {
        for id in &connection.owned {
            let e = state.entries.get(id).expect("owns what is known");
            assert!(e.owners.contains(conn), "owns what it does not own");
        }
    }
    for id in state.keys.values() {
        assert!(state.entries.contains_key(id), "a key that leads nowhere");
    }
    for then in state.tickets.values() {
        if let Then::EndUnseen(id)
        | Then::Announce(id)
        | Then::Execute(id)
        | Then::Release(id)
        | Then::Tell(id) = then
        {
            assert!(
                state.entries.contains_key(id),
                "a record of what is forgotten"
            );
        }
    }
    if state.audit.is_down() {
        assert!(state.tickets.is_empty() && state.active.is_empty() && state.waiting.is_empty());
    }
    let shown: Vec<_> = state.shown().map(id).collect();
    assert_eq!(
        shown.len(),
        shown.iter().collect::<BTreeSet<_>>().len(),
        "shown twice"
    );
}
