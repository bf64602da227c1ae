//! Drills: what they look like, how they end, and that nothing of them can run.

use super::super::decision::{Consent, grant};
use super::super::event::{Event, Request};
use super::super::{Confirmation, Refused};
use super::world::*;
use crate::model::{
    AgentClaim, Draft, DrillEnd, Environment, InputRequest, LogEvent, ProposalId, Reviewer, State,
    VerdictKind, Viewed,
};

const CODE: &str = "total = 1\nsend(total)\nprint(total)\n";

fn named(code: &str, name: &str) -> Draft {
    Draft {
        agent: Some(AgentClaim {
            name: name.to_owned(),
            ..AgentClaim::default()
        }),
        title: Some("a title".to_owned()),
        ..draft(code)
    }
}

/// A world in which a real proposal waits, and a drill.
fn drilled() -> (World, ProposalId, ProposalId) {
    let mut w = World::new();
    let real = w.pending(C, named("print(1)", "etl-bot"));
    let id = w.drill(CODE);
    w.analyse(VerdictKind::Clear);
    w.durable();
    assert!(w.entry(id).awaits_decision());
    (w, real, id)
}

fn ends(w: &World) -> Vec<DrillEnd> {
    let end = |event: &LogEvent| match event {
        LogEvent::Drilled(drilled) => Some(drilled.end),
        _ => None,
    };
    w.log.iter().filter_map(end).collect()
}

fn deny_after(w: &mut World, id: ProposalId, selected_ms: u64) {
    w.send(Event::Human(super::super::HumanAct::Deny {
        id,
        reason: Some("it sends".to_owned()),
        viewed: Viewed {
            selected_ms,
            ..Viewed::default()
        },
        by: Reviewer::default(),
    }));
}

/// The broker itself refuses, whatever asks for it: there is no grant to be executed.
#[test]
fn a_drill_cannot_run() {
    let (mut w, _, id) = drilled();
    let confirmation = Confirmation {
        id,
        digest: w.digest(id),
        by: Reviewer::default(),
        viewed: Viewed::default(),
    };
    let refused = grant::grant(&w.state, Consent::Person(&confirmation), w.now);
    assert_eq!(refused.unwrap_err(), Refused::Drill);
    w.grant(id);
    w.durable();
    assert_eq!(w.state_of(id), State::Drilled);
    assert!(w.executed.is_empty() && w.released.is_empty() && w.killed.is_empty());
    assert_eq!(w.kinds(id), ["proposed", "drilled"]);
    assert_eq!(ends(&w), [DrillEnd::Granted]);
    // Nothing that is reported of a run is believed, and nothing is decided twice.
    w.exec(id, super::super::event::ExecNote::Prepared(isolation()));
    w.exec(
        id,
        super::super::event::ExecNote::Ended(Box::new(run("1\n"))),
    );
    w.confirm(id, confirmation.digest);
    w.deny(id, None);
    w.kill(id);
    w.durable();
    assert_eq!(w.kinds(id), ["proposed", "drilled"]);
    assert_eq!(w.state.running_count(), 0);
    assert!(
        w.entry(id)
            .message()
            .starts_with("That was a drill, and nothing ran; line 2 writes")
    );
}

#[test]
fn a_grant_that_would_have_been_refused_anyway_does_not_end_a_drill() {
    let (mut w, _, id) = drilled();
    let digest = w.digest(id);
    w.confirm(
        id,
        crate::model::GrantDigest(crate::model::Digest::of(b"another sheet")),
    );
    assert_eq!(w.state.refusal(id), Some(&Refused::Changed));
    w.send(Event::Environment(Environment::Changed {
        what: "lib".to_owned(),
    }));
    w.confirm(id, digest);
    assert_eq!(w.state_of(id), State::Pending);
    assert_eq!(w.state.refusal(id), Some(&Refused::NoEnvironment));
}

#[test]
fn a_denied_drill_is_caught_unless_nobody_looked() {
    for (selected_ms, end) in [(900, DrillEnd::Caught), (0, DrillEnd::Unanswered)] {
        let (mut w, _, id) = drilled();
        deny_after(&mut w, id, selected_ms);
        w.durable();
        assert_eq!((w.state_of(id), ends(&w)), (State::Drilled, vec![end]));
        let Some(LogEvent::Drilled(drilled)) = w.log.last() else {
            panic!("{:?}", w.log.last());
        };
        assert_eq!(drilled.viewed.map(|v| v.selected_ms), Some(selected_ms));
        assert!(drilled.by.is_some());
    }
}

#[test]
fn a_drill_that_expires_or_is_left_open_at_the_end_is_unanswered() {
    let (mut w, real, id) = drilled();
    w.tick(s(1800));
    w.durable();
    assert_eq!(
        (w.state_of(real), w.state_of(id)),
        (State::Expired, State::Drilled)
    );
    assert_eq!(ends(&w), [DrillEnd::Unanswered]);
    let (mut w, _, id) = drilled();
    w.quit();
    w.durable();
    assert!(w.exited);
    assert_eq!(w.kinds(id), ["proposed", "drilled"]);
    assert_eq!(ends(&w), [DrillEnd::Unanswered]);
}

#[test]
fn who_edits_the_harm_away_has_caught_it_and_still_nothing_runs() {
    let rows = [
        ("total = 1\nprint(total)\n", DrillEnd::Caught),
        ("if 1:\n  send(total)\n", DrillEnd::Granted),
        ("total = 1  # x\nsend(total)  # x\n", DrillEnd::Granted),
        ("t = 1\nprint(t)\nresend(str(t + 0))\n", DrillEnd::Granted),
    ];
    for (edited, end) in rows {
        let (mut w, _, id) = drilled();
        w.edited(id, edited, VerdictKind::Clear);
        w.grant(id);
        w.durable();
        assert_eq!(ends(&w), [end]);
        assert_eq!(w.kinds(id), ["proposed", "edited", "drilled"]);
        assert!(w.executed.is_empty());
    }
}

/// An agent that left proposes nothing, and what it proposed is withdrawn.
#[test]
fn a_drill_comes_and_goes_with_its_agent() {
    let (mut w, real, id) = drilled();
    w.disconnect(C);
    w.durable();
    assert_eq!(
        (w.state_of(real), w.state_of(id)),
        (State::Withdrawn, State::Drilled)
    );
    assert_eq!(ends(&w), [DrillEnd::Unanswered]);
    let late = w.drill(CODE);
    assert!(w.state.entry(late).is_none(), "its agent is gone");
    let mut w = World::new();
    w.pending(C, named("print(1)", "etl-bot"));
    let records = w.log.len();
    let id = w.drill(CODE);
    w.disconnect(C);
    w.analyse(VerdictKind::Clear);
    w.durable();
    assert!(w.state.entry(id).is_none(), "nobody saw it");
    assert!(!w.log[records..].iter().any(|event| event.id() == Some(id)));
}

#[test]
fn a_drill_is_like_what_its_agent_proposes() {
    let mut w = World::new();
    let own = Draft {
        ttl_s: Some(77),
        ..named("print(1)", "etl-bot")
    };
    w.pending(C, own.clone());
    let hides = |w: &World, profile: &str| w.state.hides_drills(profile, w.now);
    assert!(hides(&w, "analysis"));
    assert!(!hides(&w, "script"), "it never proposed under that profile");
    let (id, drill) = (w.fresh_id(), World::sample_drill());
    let draft = Box::new(Draft {
        title: Some("a drill".to_owned()),
        reason: Some("because".to_owned()),
        ..draft(CODE)
    });
    w.send(Event::Drill { id, draft, drill });
    w.analyse(VerdictKind::Clear);
    w.durable();
    let entry = w.entry(id);
    assert_eq!(entry.left(w.now), s(77), "it expires as its agent's do");
    assert_eq!(entry.proposal.title.as_deref(), Some("a drill"));
    assert_eq!(entry.proposal.reason, None, "its agent gives none");
    assert!(!hides(&w, "analysis"), "one waits");
    for unlike in [
        Draft {
            title: None,
            ..own.clone()
        },
        Draft {
            idempotency_key: Some("k".to_owned()),
            ..own
        },
    ] {
        let mut w = World::new();
        w.pending(C, unlike);
        assert!(!hides(&w, "analysis"));
    }
}

#[test]
fn no_drill_comes_under_the_name_of_an_agent_that_is_paused() {
    let mut w = World::new();
    let id = w.pending(C, named("print(1)", "etl-bot"));
    let agent = w.entry(id).proposal.agent_id();
    let by = Reviewer::default();
    w.send(Event::Human(super::super::HumanAct::Pause { agent, by }));
    w.durable();
    assert!(!w.state.hides_drills("analysis", w.now));
}

#[test]
fn a_drill_has_the_name_of_the_latest_agent_and_the_log_says_what_it_is() {
    let (w, _, id) = drilled();
    let proposal = &w.entry(id).proposal;
    assert_eq!(
        (proposal.agent_name(), proposal.peer.uid),
        ("etl-bot", 1001)
    );
    let Some(LogEvent::Proposed(proposed)) = w.log.last() else {
        panic!("{:?}", w.log.last());
    };
    assert_eq!(proposed.drill.as_ref().map(|d| d.line), Some(2));
}

#[test]
fn a_drill_counts_for_no_agent() {
    let (mut w, real, id) = drilled();
    let counted = |w: &World| {
        let (agents, _) = w.state.agents();
        let tally = agents.values().next().unwrap();
        (tally.undecided, tally.granted, tally.denied)
    };
    let used = |w: &World| format!("{:?}", w.state.usage(1001, 20, w.now));
    let all = |w: &World| format!("{:?}", w.state.agents());
    // While it waits, the screen counts it like the others: else it would be the one that is not counted.
    assert_eq!(counted(&w), (2, 0, 0));
    assert!(used(&w).contains("pending: (2, "), "{}", used(&w));
    deny_after(&mut w, id, 5);
    w.durable();
    assert_eq!(counted(&w), (1, 0, 0));
    let mut without = World::new();
    without.pending(C, named("print(1)", "etl-bot"));
    let (before, tally) = (used(&w), all(&w));
    assert_eq!((&before, &tally), (&used(&without), &all(&without)));
    let second = w.drill(CODE);
    w.analyse(VerdictKind::Flagged);
    w.durable();
    w.grant(second);
    w.durable();
    assert_eq!(counted(&w), (1, 0, 0));
    assert_eq!((used(&w), all(&w)), (before, tally), "nothing is charged");
    // The agent's own proposal is answered as always; of a drill it never hears.
    assert!(w.ask(C, Request::Status { id }).is_err());
    w.disconnect(C);
    w.durable();
    assert_eq!(w.state_of(real), State::Withdrawn);
    assert!(w.notes.iter().all(|(conn, _)| *conn == C));
}

#[test]
fn a_drill_that_no_real_proposal_hides_or_that_the_policy_blocks_is_never_shown() {
    let mut w = World::new();
    let id = w.drill(CODE);
    assert!(w.state.entry(id).is_none(), "nobody has proposed anything");
    w.pending(A, named("1", "a"));
    let records = w.log.len();
    let id = w.drill(CODE);
    let second = w.drill(CODE);
    assert!(w.state.entry(second).is_none(), "one is enough");
    w.analyse(VerdictKind::Blocked);
    w.durable();
    assert!(w.state.entry(id).is_none() && w.log.len() == records);
    let id = w.drill(CODE);
    w.analyse(VerdictKind::Clear);
    w.durable();
    assert!(w.entry(id).awaits_decision(), "the next one is shown");
    w.quit();
    let late = w.drill(CODE);
    assert!(
        w.state.entry(late).is_none(),
        "nothing is asked while closing"
    );
}

#[test]
fn a_drill_whose_inputs_cannot_be_read_is_dropped() {
    let mut w = World::new();
    w.pending(A, named("1", "a"));
    let (id, records) = (w.fresh_id(), w.log.len());
    let drill = World::sample_drill();
    let dataset = "penguins".to_owned();
    let draft = Box::new(Draft {
        inputs: [("penguins".to_owned(), InputRequest::Dataset { dataset })].into(),
        ..draft(CODE)
    });
    w.send(Event::Drill { id, draft, drill });
    let inputs = Err("the file vanished".to_owned());
    w.send(Event::InputsBound { id, inputs });
    w.analyse(VerdictKind::Clear);
    w.durable();
    assert!(w.state.entry(id).is_none() && w.log.len() == records);
}
