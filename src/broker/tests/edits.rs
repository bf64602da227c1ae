//! A person edits a proposal's code. The watch checks in every test that what runs is what was there to read, and
//! that an agent learns of an edit only with a grant of it.

use super::super::decision::Refused;
use super::super::event::{Event, Request};
use super::super::grant_digest;
use super::world::*;
use crate::model::{
    BoundInput, Digest, Lane, LogEvent, ProposalId, State, Ticket, Verdict, VerdictKind,
};

fn pending() -> (World, ProposalId) {
    let mut w = World::new();
    let id = w.pending(A, draft("proposed"));
    (w, id)
}

fn code(w: &World, id: ProposalId) -> String {
    w.entry(id).code().text().to_string()
}

#[test]
fn an_edit_is_analysed_recorded_and_then_what_a_grant_binds() {
    let (mut w, id) = pending();
    let before = w.digest(id);
    w.edit(id, "edited");
    // Neither the old nor the new code can be granted meanwhile.
    assert_eq!(code(&w, id), "proposed");
    assert_eq!(grant_digest(&w.state, w.entry(id)), Err(Refused::Revising));
    w.confirm(id, before);
    assert_eq!(w.state.refusal(id), Some(&Refused::Revising));
    assert_eq!(w.jobs.len(), 1);
    w.analyse(VerdictKind::Flagged);
    assert_eq!(w.kinds(id), ["proposed", "edited"]);
    assert_eq!(w.records.front().map(|r| r.0), Some(Lane::Person));
    assert_eq!(w.blobs.last().unwrap()[0].sha256, Digest::of(b"edited"));
    w.confirm(id, before);
    assert_eq!(w.state.refusal(id), Some(&Refused::Revising));
    w.durable();
    assert_eq!(code(&w, id), "edited");
    assert_eq!(w.entry(id).verdict().unwrap().verdict, VerdictKind::Flagged);
    assert_ne!(w.digest(id), before);
    // What the sheet showed before the edit.
    w.confirm(id, before);
    assert_eq!(w.state.refusal(id), Some(&Refused::Changed));
    w.start(id);
    assert_eq!(w.grants[0].code().text().to_string(), "edited");
    let call = w.wait(A, id);
    w.exec(id, super::super::ExecNote::Ended(Box::new(run("1\n"))));
    w.durable();
    let outcome = w.outcome(A, call);
    let decision = outcome.decision.unwrap();
    assert_eq!(outcome.digest, Digest::of(b"proposed"));
    assert!(decision.edited);
    assert_eq!(decision.code.as_deref(), Some("edited"));
    assert_eq!(decision.diff.as_deref(), Some("to edited"));
    assert_eq!(
        outcome.verdict.unwrap().source.sha256,
        Digest::of(b"edited").hex()
    );
    let kept = &w.kept[0];
    assert_eq!(
        (&*kept.code, kept.digest),
        ("edited", Digest::of(b"edited"))
    );
}

#[test]
fn an_edit_is_judged_by_the_same_policy_for_the_same_inputs() {
    let mut w = World::new();
    let (id, _) = w.propose(
        A,
        crate::model::Draft {
            inputs: json_input(serde_json::json!({"n": 1})),
            ..draft("proposed")
        },
    );
    let inputs: Vec<BoundInput> = vec![bound("threshold", "{\"n\":1}")];
    w.send(Event::InputsBound {
        id,
        inputs: Ok(inputs),
    });
    w.analyse(VerdictKind::Clear);
    w.durable();
    w.edited(id, "edited", VerdictKind::Clear);
    assert_eq!(w.known.len(), 2);
    assert_eq!(w.known[0], w.known[1]);
    assert_eq!(w.entry(id).inputs().unwrap().len(), 1);
}

#[test]
fn an_edit_that_is_blocked_cannot_be_granted_and_can_be_edited_again_or_denied() {
    for kind in [VerdictKind::Blocked, VerdictKind::Unanalyzable] {
        let (mut w, id) = pending();
        w.edited(id, "worse", kind);
        assert_eq!(w.state_of(id), State::Pending);
        let digest = w.digest(id);
        w.confirm(id, digest);
        assert_eq!(w.state.refusal(id), Some(&Refused::Verdict));
        w.edited(id, "better", VerdictKind::Clear);
        w.start(id);
        assert_eq!(w.kinds(id)[..3], ["proposed", "edited", "edited"]);
        let (mut w, id) = pending();
        w.edited(id, "worse", kind);
        w.deny(id, None);
        w.durable();
        assert_eq!(w.state_of(id), State::Denied);
    }
}

#[test]
fn code_that_is_restored_to_what_was_proposed_is_not_edited() {
    let (mut w, id) = pending();
    let before = w.digest(id);
    w.edited(id, "edited", VerdictKind::Flagged);
    assert!(w.entry(id).is_edited());
    w.edited(id, "proposed", VerdictKind::Flagged);
    assert!(!w.entry(id).is_edited());
    assert_eq!(w.entry(id).verdict().unwrap().verdict, VerdictKind::Clear);
    assert_eq!(w.digest(id), before);
    w.start(id);
    w.exec(id, super::super::ExecNote::Ended(Box::new(run(""))));
    w.durable();
    let decision = w.outcome_of(A, id).decision.unwrap();
    assert_eq!((decision.edited, decision.code), (false, None));
}

#[test]
fn code_that_did_not_change_is_empty_or_too_long_changes_nothing() {
    let (mut w, id) = pending();
    for text in ["proposed", "", &"x".repeat(64 * 1024 + 1)] {
        w.edit(id, text);
        assert!(!w.entry(id).is_revising() && w.jobs.is_empty());
    }
    w.state.settings.profiles[0] = {
        let mut small = policy("analysis");
        small.limits.code_bytes = 9;
        super::super::Profile {
            policy: small.into(),
            given: Vec::new(),
            base: None,
        }
    };
    w.edit(id, "ten bytes!");
    assert!(!w.entry(id).is_revising());
    w.edit(id, "9 bytes!!");
    assert!(w.entry(id).is_revising());
}

#[test]
fn what_is_no_longer_pending_is_not_edited() {
    let (mut w, id) = pending();
    w.grant(id);
    w.edit(id, "edited");
    assert_eq!(
        w.state.refusal(id),
        Some(&Refused::NotPending(State::Granted))
    );
    let (mut w, id) = pending();
    w.deny(id, None);
    w.edit(id, "edited");
    assert_eq!(
        w.state.refusal(id),
        Some(&Refused::NotPending(State::Denied))
    );
    let (mut w, id) = pending();
    w.pass(s(1800));
    w.edit(id, "edited");
    assert_eq!(
        w.state.refusal(id),
        Some(&Refused::NotPending(State::Expired))
    );
    let (mut w, id) = pending();
    w.edit(id, "one");
    w.edit(id, "two");
    assert_eq!(w.state.refusal(id), Some(&Refused::Revising));
    w.analyse(VerdictKind::Clear);
    w.durable();
    assert_eq!(code(&w, id), "one");
    let unknown = w.fresh_id();
    w.edit(unknown, "edited");
    assert_eq!(w.state.refusal(unknown), Some(&Refused::Unknown));
}

#[test]
fn a_proposal_that_ends_while_its_edit_is_analysed_ends_as_proposed() {
    type Ends = fn(&mut World, ProposalId);
    let ends: [(Ends, State); 5] = [
        (|w, _| w.tick(s(1800)), State::Expired),
        (|w, id| w.deny(id, None), State::Denied),
        (
            |w, id| {
                w.ask_later(Request::Withdraw { id });
            },
            State::Withdrawn,
        ),
        (|w, _| w.disconnect(A), State::Withdrawn),
        (|w, _| w.quit(), State::Unattended),
    ];
    for (end, state) in ends {
        for recorded in [false, true] {
            let (mut w, id) = pending();
            w.edit(id, "edited");
            if recorded {
                w.analyse(VerdictKind::Clear);
            }
            end(&mut w, id);
            assert_eq!(w.state_of(id), state);
            // In the log too the end comes after the edit.
            let lane = w.records.back().map(|r| r.0);
            assert_eq!(lane, Some(Lane::Person), "{state}");
            w.analyse(VerdictKind::Clear);
            w.durable();
            assert_eq!(
                (w.state_of(id), code(&w, id)),
                (state, "proposed".to_owned())
            );
            assert!(w.executed.is_empty());
        }
    }
}

#[test]
fn an_agent_hears_nothing_of_an_edit_that_was_not_granted() {
    let (mut w, id) = pending();
    w.edited(id, "secret of the reviewer", VerdictKind::Flagged);
    let call = w.wait(A, id);
    let told = |answer: &dyn std::fmt::Debug| format!("{answer:?}");
    let status = w.ask(A, Request::Status { id });
    assert!(!told(&status).contains("EXEC001"), "{status:?}");
    w.deny(id, Some("no"));
    w.durable();
    let outcome = w.outcome(A, call);
    assert!(!told(&outcome).contains("secret"), "{outcome:?}");
    assert_eq!(outcome.verdict.unwrap().verdict, VerdictKind::Clear);
    assert!(!outcome.decision.unwrap().edited);
}

#[test]
fn an_edit_that_cannot_be_recorded_leaves_the_code_as_it_was() {
    let (mut w, id) = pending();
    w.edit(id, "edited");
    w.analyse(VerdictKind::Clear);
    assert!(w.unkept(0).is_some());
    assert_eq!(
        (w.state_of(id), code(&w, id)),
        (State::Pending, "proposed".to_owned())
    );
    assert_eq!(w.state.refusal(id), Some(&Refused::Unrecorded));
    assert!(!w.state.audit.is_down());
    w.start(id);
    let (mut w, id) = pending();
    w.edit(id, "edited");
    w.analyse(VerdictKind::Clear);
    w.audit_down();
    assert_eq!(w.state_of(id), State::Error);
}

#[test]
fn a_persons_edit_is_analysed_before_the_work_of_agents_and_at_nobodys_cost() {
    let (mut w, id) = pending();
    for n in 0..20 {
        w.propose(B, draft(&format!("other {n}")));
    }
    w.edit(id, "edited");
    let (job, _) = w.jobs.pop_front().unwrap();
    let verdict_of = |code: &str| {
        Box::new(Verdict {
            elapsed_us: 1_000_000,
            ..verdict(VerdictKind::Clear, code)
        })
    };
    w.send(Event::Analysed {
        job,
        verdict: verdict_of("other 0"),
    });
    let (job, next) = w.jobs.pop_front().unwrap();
    assert_eq!(next, "edited");
    w.pass(s(100));
    w.send(Event::Analysed {
        job,
        verdict: verdict_of("edited"),
    });
    // Six seconds would exceed what a peer may use.
    for n in 0..6 {
        w.durable();
        w.analyse(VerdictKind::Clear);
        w.durable();
        w.edit(id, &format!("edited {n}"));
        let (job, code) = w.jobs.pop_back().unwrap();
        w.pass(s(1));
        w.send(Event::Analysed {
            job,
            verdict: verdict_of(&code),
        });
    }
    let (_, call) = w.propose(A, draft("2"));
    assert!(w.answer(A, call).is_none(), "it was accepted");
}

#[test]
fn an_answer_for_another_edit_is_not_taken() {
    let (mut w, id) = pending();
    w.edit(id, "one");
    w.deny(id, None);
    w.durable();
    w.analyse(VerdictKind::Clear);
    assert_eq!(w.kinds(id), ["proposed", "denied"]);
    let stray = Ticket::Core(u64::MAX);
    w.send(Event::Durable { ticket: stray });
    assert!(w.log.iter().all(|e| !matches!(e, LogEvent::Edited(_))));
}

#[test]
fn an_environment_that_changes_during_an_edit_closes_the_grant_like_any() {
    let (mut w, id) = pending();
    w.edit(id, "edited");
    w.send(Event::Environment(crate::model::Environment::Failed {
        message: "gone".to_owned(),
    }));
    w.analyse(VerdictKind::Clear);
    w.durable();
    assert_eq!(
        grant_digest(&w.state, w.entry(id)),
        Err(Refused::NoEnvironment)
    );
    w.send(Event::Environment(ready()));
    w.start(id);
}
