//! The model check: every index and count of the core, recomputed from its entries.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::entry::Entry;
use super::super::phase::{Early, Phase, Stage, Telling};
use super::super::quota::key;
use super::super::state::{BrokerState, Then};
use crate::clock::Now;
use crate::model::State;

/// Everything that `update` keeps besides the entries must follow from them.
pub fn check(state: &BrokerState, now: Now) {
    let entries = || state.entries.values();
    let id = |e: &Entry| e.proposal.id;

    let waiting: BTreeMap<_, _> = entries()
        .filter(|e| e.awaits_decision())
        .map(|e| (e.seq, id(e)))
        .collect();
    assert_eq!(state.waiting, waiting, "waiting");
    let active: BTreeMap<_, _> = entries()
        .filter(|e| matches!(e.state(), State::Granted | State::Running))
        .map(|e| (e.seq, id(e)))
        .collect();
    assert_eq!(state.active, active, "active");
    let ended: BTreeSet<_> = entries()
        .filter(|e| e.state().is_final() && e.announced())
        .map(id)
        .collect();
    assert_eq!(
        state.ended.len(),
        ended.len(),
        "an ended proposal is listed twice"
    );
    assert_eq!(
        state.ended.iter().copied().collect::<BTreeSet<_>>(),
        ended,
        "ended"
    );
    let bytes: usize = entries()
        .filter(|e| e.state().is_final() && e.announced())
        .filter_map(|e| Some(e.ending()?.telling.weight()))
        .sum();
    assert_eq!(state.ended_bytes, bytes, "bytes of ended proposals");

    let deadlines: BTreeSet<_> = entries()
        .filter(|e| e.state() == State::Pending && e.deadline > now.boot)
        .map(|e| (e.deadline, id(e)))
        .collect();
    assert_eq!(state.deadlines, deadlines, "deadlines");
    for e in entries().filter(|e| e.state() == State::Pending && e.deadline <= now.boot) {
        assert!(
            !e.announced() && e.phase.early().is_some(),
            "an overdue proposal still awaits a decision"
        );
    }
    let timeouts: BTreeSet<_> = entries()
        .flat_map(|e| e.audience.waiters.iter().map(move |w| (e, w)))
        .filter_map(|(e, (conn, call, until))| until.map(|t| (t, *conn, *call, id(e))))
        .collect();
    assert_eq!(state.timeouts, timeouts, "time-outs");
    assert!(
        timeouts.iter().all(|(t, ..)| *t > now.boot),
        "an expired wait is still registered"
    );

    let (mut peers, mut uids) = (HashMap::<_, usize>::new(), HashMap::<_, usize>::new());
    // A drill is charged to no agent, and is counted among an agent's only while it waits.
    let pending = || entries().filter(|e| e.state() == State::Pending);
    let drills = pending().filter(|e| e.is_drill()).map(id);
    let hidden: Vec<_> = state.hidden.iter().map(|hidden| hidden.id).collect();
    assert_eq!(drills.collect::<Vec<_>>(), hidden, "the drill that waits");
    let undecided = pending().filter(|e| !e.is_drill());
    let undecided: Vec<_> = undecided.collect();
    for e in &undecided {
        *peers.entry(key(&e.proposal.peer)).or_default() += 1;
        *uids.entry(e.proposal.peer.uid).or_default() += 1;
    }
    let mut agents = BTreeMap::<_, usize>::new();
    for e in pending() {
        *agents.entry(e.proposal.agent_id()).or_default() += 1;
    }
    let counted = state.ledger.agents.iter();
    let counted = counted.filter(|(_, tally)| tally.undecided > 0);
    let counted: BTreeMap<_, _> = counted
        .map(|(agent, tally)| (agent.clone(), tally.undecided))
        .collect();
    assert_eq!(counted, agents, "undecided of each agent");
    assert_eq!(state.undecided.total, undecided.len(), "undecided in all");
    for (peer, n) in peers {
        assert_eq!(state.undecided.of_peer(peer), n, "undecided of a peer");
    }
    for (uid, n) in uids {
        assert_eq!(state.undecided.of_uid(uid), n, "undecided of a uid");
    }

    for e in entries().filter(|e| e.is_drill()) {
        assert_eq!(e.audience.calls().count() + e.audience.owners.len(), 0);
        assert!(!matches!(e.phase, Phase::Granted(_)), "a drill was granted");
        assert!(e.run().is_none() && e.decision().is_none());
    }
    for e in entries() {
        let (audience, told) = (&e.audience, e.told());
        assert!(
            !told || audience.waiters.is_empty() && audience.withdrawers.is_empty(),
            "a reported end still has waiters"
        );
        assert!(
            !e.announced() || audience.proposers.is_empty(),
            "an announced proposal has unanswered calls"
        );
        assert!(
            e.phase.early() != Some(Early::Expired) || e.deadline <= now.boot,
            "a proposal expired early"
        );
        if let Some(ended) = e.ending() {
            assert!(ended.state.is_final(), "ended as {}", ended.state);
            assert_eq!(ended.telling.weight() > 0, e.announced(), "weight");
        }
        let awaited = awaited(e);
        for then in state.tickets.values() {
            let concerns_entry = match then {
                // A proposal that waited for its release, or for an edit, may have ended meanwhile.
                Then::Nothing
                | Then::Release(_)
                | Then::Revise(_)
                | Then::Count(..)
                | Then::SendVote(_)
                | Then::TellPause(_)
                | Then::EndPause(_) => false,
                Then::EndUnseen(other)
                | Then::Announce(other)
                | Then::Execute(other)
                | Then::Tell(other) => *other == id(e),
            };
            assert!(
                !concerns_entry || awaited.contains(then),
                "{then:?} belongs to another phase"
            );
        }
        let is_written = state.tickets.values().any(|then| awaited.contains(then));
        assert_eq!(
            is_written,
            !awaited.is_empty(),
            "{e:?} awaits a record that is not being written"
        );
        for conn in &audience.owners {
            let owner = state.connections.get(conn).expect("an owner is connected");
            assert!(owner.owned.contains(&id(e)), "an owner lacks its proposal");
        }
        assert!(
            audience.streams.is_subset(&audience.owners),
            "a stream goes to a connection that is no owner"
        );
        for (conn, _) in audience.calls() {
            assert!(
                audience.owners.contains(&conn),
                "an answer goes to a connection that is no owner"
            );
        }
        if let Some(name) = &e.proposal.idempotency_key {
            let known = state.keys.get(&(e.proposal.peer.uid, name.clone()));
            assert_eq!(known, Some(&id(e)), "a key leads to another proposal");
        }
    }
    for (conn, connection) in &state.connections {
        for id in &connection.owned {
            let e = state.entries.get(id).expect("an owned proposal exists");
            assert!(
                e.audience.owners.contains(conn),
                "a connection lists a proposal that it does not own"
            );
        }
    }
    for id in state.keys.values() {
        assert!(state.entries.contains_key(id), "a key leads to no proposal");
    }
    for then in state.tickets.values() {
        if let Then::EndUnseen(id)
        | Then::Announce(id)
        | Then::Revise(id)
        | Then::Execute(id)
        | Then::Release(id)
        | Then::Tell(id) = then
        {
            assert!(
                state.entries.contains_key(id),
                "a record names a forgotten proposal"
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
        "a proposal is shown twice"
    );
}

/// The records that this phase waits for: one of them is being written.
fn awaited(e: &Entry) -> Vec<Then> {
    let id = e.proposal.id;
    match &e.phase {
        Phase::Arriving(_) | Phase::Waiting(_) => vec![],
        Phase::Recording(_) => vec![Then::Announce(id), Then::EndUnseen(id)],
        Phase::Revising(revising) => match revising.verdict {
            Some(_) => vec![Then::Revise(id)],
            None => vec![],
        },
        Phase::Granted(granted) => match granted.stage {
            Stage::Armed(_) => vec![Then::Execute(id)],
            Stage::Held if granted.stopped.is_none() => vec![Then::Release(id)],
            Stage::Made | Stage::Held | Stage::Looking | Stage::LetGo(_) => vec![],
        },
        Phase::Ended(ended) => match ended.telling {
            Telling::Unannounced => vec![Then::Announce(id)],
            Telling::Shown { .. } => vec![Then::Tell(id)],
            Telling::Told { .. } => vec![],
        },
    }
}
