//! A host at which nobody sits: votes grant, and nothing waits for anybody else.

use super::super::decision::{Confirmation, Consent, Refused, grant};
use super::super::effect::{Reply, RpcError};
use super::super::event::{HumanAct, Request};
use super::super::offer::OFFER_MAX;
use super::super::state::Attendance;
use super::voters::*;
use crate::model::{Code, Draft, Retry};

fn without_anybody(settings: Settings) -> World {
    let mut w = World::with(Settings {
        attendance: Attendance::Nobody,
        ..settings
    });
    w.send(Event::Electorate(Ok(everybody())));
    w
}

/// Two profiles, of which `chart` asks nobody.
fn one_of_two() -> Settings {
    let mut settings = with_rules(vec![rule()]);
    let chart = &mut settings.profiles[1].policy;
    *chart = Arc::new(Policy {
        grant: Vec::new(),
        ..(**chart).clone()
    });
    settings
}

#[test]
fn votes_grant_at_a_host_without_anybody() {
    let mut w = without_anybody(with_rules(vec![rule()]));
    let id = w.pending(A, draft("1\n"));
    grants(&mut w, id, "ana");
    grants(&mut w, id, "ben");
    hold(&mut w, id);
    look_again(&mut w, id, Ok(everybody()));
    assert_eq!(w.released, [id]);
}

#[test]
fn a_profile_that_asks_nobody_is_refused_by_the_names_of_those_that_ask() {
    let chart = || Draft {
        profile: Some("chart".to_owned()),
        ..draft("1\n")
    };
    let mut w = without_anybody(one_of_two());
    let refused = w.propose_refused(A, chart());
    assert_eq!(refused.code, RpcError::UNKNOWN_NAME);
    assert_eq!(refused.data["expected"][0], "analysis");
    assert!(
        refused.message.contains("`chart` asks no reviewers"),
        "{}",
        refused.message
    );
    let hello = Request::Hello {
        agent: None,
        resume: None,
        fresh: "t".to_owned(),
    };
    let Ok(Reply::Hello { profiles, .. }) = w.ask(A, hello) else {
        panic!("`hello` is answered");
    };
    let names: Vec<&str> = profiles.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["analysis"]);
    // Where a person sits, they decide on it.
    World::with(one_of_two()).pending(A, chart());
}

#[test]
fn what_no_votes_are_asked_about_ends_at_once_and_waits_for_nobody() {
    let rows = [
        (VerdictKind::Clear, State::Error),
        (VerdictKind::Flagged, State::Pending),
        (VerdictKind::Blocked, State::Blocked),
    ];
    for (kind, state) in rows {
        let flagged = Rule {
            when: When::Verdict(VerdictKind::Flagged),
            ..rule()
        };
        let mut w = without_anybody(with_rules(vec![flagged]));
        let (id, call) = w.propose(A, draft("1\n"));
        w.analyse(kind);
        w.durable();
        assert_eq!(w.state_of(id), state);
        assert_eq!(offers(&w).len(), usize::from(state == State::Pending));
        let Some(Ok(Reply::Proposed { state: told, .. })) = w.answer(A, call) else {
            panic!("a {kind} proposal is answered");
        };
        assert_eq!(*told, state);
        if state != State::Error {
            continue;
        }
        assert_eq!(w.kinds(id), ["proposed", "failed"]);
        let outcome = w.outcome_of(A, id);
        assert_eq!(outcome.retry, Retry::Changed);
        assert_eq!(
            outcome.message,
            "It could not be run: no policy of this host asks reviewers about it, and the host has no screen where a person \
             could decide"
        );
    }
}

#[test]
fn what_is_too_long_for_an_offer_ends_at_once_where_nobody_could_deny_it() {
    // Six bytes of an offer each.
    let long = "\u{1}".repeat(OFFER_MAX / 12);
    let draft = || Draft {
        reason: Some(long.clone()),
        ..draft(&long)
    };
    let mut w = without_anybody(with_rules(vec![rule()]));
    let (id, _) = w.propose(A, draft());
    w.analyse(VerdictKind::Clear);
    w.durable();
    assert_eq!(w.state_of(id), State::Error);
    assert_eq!(w.kinds(id), ["proposed", "failed"]);
    let outcome = w.outcome_of(A, id);
    assert_eq!(outcome.retry, Retry::Changed);
    assert!(
        outcome.message.contains("too long to be offered"),
        "{}",
        outcome.message
    );
    // At a dashboard a person may still deny it.
    host().pending(A, draft());
}

#[test]
fn nobody_acts_where_nobody_sits() {
    let mut w = without_anybody(with_rules(vec![rule()]));
    let id = w.pending(A, draft("1\n"));
    let by = Reviewer::default();
    w.grant(id);
    w.deny(id, None);
    w.send(Event::Human(HumanAct::Edit {
        id,
        code: Code::new("2\n"),
        diff: "".into(),
        by: by.clone(),
    }));
    w.durable();
    assert_eq!(w.state_of(id), State::Pending);
    assert_eq!(w.kinds(id), ["proposed"]);
    assert!(w.signing.is_empty() && w.jobs.is_empty());
    w.quit();
    w.durable();
    assert_eq!(w.state_of(id), State::Unattended);
    assert!(w.exited);
}

#[test]
fn the_constructor_of_a_grant_takes_no_key_where_nobody_sits() {
    let mut w = World::new();
    let id = w.pending(A, draft("1\n"));
    let confirmation = Confirmation {
        id,
        digest: w.digest(id),
        by: Reviewer::default(),
        viewed: Viewed::default(),
    };
    let granted = |w: &World| grant::grant(&w.state, Consent::Person(&confirmation), w.now);
    assert!(granted(&w).is_ok());
    w.state.settings.attendance = Attendance::Nobody;
    assert_eq!(granted(&w).unwrap_err(), Refused::Votes);
}
