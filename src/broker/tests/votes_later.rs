//! Grants by votes: between vote and run, at the terminal, and where nobody is asked.

use super::voters::*;

#[test]
fn who_was_removed_or_revoked_between_vote_and_run_counts_no_more() {
    let gone: [(&str, Result<Arc<Electorate>, String>); 3] = [
        ("removed", Ok(electorate_of(&["ana", "cyd", "dee"], &[]))),
        (
            "revoked",
            Ok(electorate_of(&["ana", "ben", "cyd"], &["ben"])),
        ),
        ("unreadable", Err("people.toml:3: unknown key".to_owned())),
    ];
    for (what, electorate) in gone {
        let mut w = host();
        let id = w.pending(A, draft("1\n"));
        grants(&mut w, id, "ana");
        grants(&mut w, id, "ben");
        hold(&mut w, id);
        look_again(&mut w, id, electorate.clone());
        assert_eq!(w.state_of(id), State::Error, "{what}");
        assert!(w.released.is_empty() && w.killed == [id], "{what}");
        // The same before the grant.
        let mut w = host();
        let id = w.pending(A, draft("1\n"));
        grants(&mut w, id, "ana");
        let late = vote(&w, id, VoteKind::Grant, "ben");
        w.send(Event::Electorate(electorate));
        cast(&mut w, id, late, via("ben"));
        assert_eq!(w.state_of(id), State::Pending, "{what}");
    }
}

#[test]
fn a_veto_ends_what_is_granted_until_it_is_let_go() {
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    grants(&mut w, id, "ana");
    grants(&mut w, id, "ben");
    votes(&mut w, id, VoteKind::Deny, "cyd");
    assert!(refusal(&w).contains("only a veto"), "{}", refusal(&w));
    hold(&mut w, id);
    votes(&mut w, id, VoteKind::Veto, "dee");
    assert_eq!(w.state_of(id), State::Denied);
    assert_eq!(w.killed, [id]);
    look_again(&mut w, id, Ok(everybody()));
    assert!(w.released.is_empty());
    // Then it is too late.
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    grants(&mut w, id, "ana");
    grants(&mut w, id, "ben");
    hold(&mut w, id);
    look_again(&mut w, id, Ok(everybody()));
    let veto = vote(&w, id, VoteKind::Veto, "dee");
    w.send(Event::Cast {
        id,
        version: 1,
        vote: Box::new(veto),
        via: via("dee"),
    });
    assert!(w.killed.is_empty());
}

#[test]
fn votes_that_come_at_the_deadline_are_too_late_and_so_is_their_run() {
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    grants(&mut w, id, "ana");
    let late = vote(&w, id, VoteKind::Grant, "ben");
    w.pass(s(1800));
    w.send(Event::Cast {
        id,
        version: 1,
        vote: Box::new(late),
        via: via("ben"),
    });
    w.durable();
    assert_eq!(w.state_of(id), State::Expired);
    let id = w.pending(A, draft("1\n"));
    grants(&mut w, id, "ana");
    grants(&mut w, id, "ben");
    hold(&mut w, id);
    w.pass(s(1800));
    look_again(&mut w, id, Ok(everybody()));
    assert_eq!(w.state_of(id), State::Expired);
    assert!(w.released.is_empty());
}

#[test]
fn votes_are_sealed_until_ones_own_is_in() {
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    grants(&mut w, id, "ana");
    let told: Vec<_> = statements(&w).into_iter().map(|s| s.to).collect();
    assert_eq!(told, [Some(person("ana"))]);
    assert!(poll(&w, id).votes_for(&person("ben")).is_none());
    let dee = vote(&w, id, VoteKind::Grant, "dee");
    cast(&mut w, id, dee, via("dee"));
    assert!(
        poll(&w, id).votes_for(&person("dee")).is_none(),
        "it was refused"
    );
    let seen = poll(&w, id)
        .votes_for(&person("ana"))
        .expect("her own is in");
    assert_eq!(seen.len(), 1);
}

/// The person at this program's own terminal: `a` and `y` ask for a signature, and that is a vote like any other.
#[test]
fn the_person_at_the_terminal_signs_and_alone_grants_nothing() {
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    let signs = |w: &mut World, uid: u32| {
        let digest = w.digest(id);
        let viewed = all_of_it(w, id);
        let by = Reviewer {
            uid,
            ..Reviewer::default()
        };
        w.send(Event::Human(super::super::HumanAct::Grant(
            super::super::Confirmation {
                id,
                digest,
                by: by.clone(),
                viewed,
            },
        )));
        let (_, version, unsigned) = w.signing.pop_front()?;
        let name = unsigned.voter.to_string();
        let armour = key(&name).sign(NAMESPACE, unsigned.text.as_bytes());
        Some((version, unsigned.signed(armour), by))
    };
    assert!(signs(&mut w, 4242).is_none());
    assert!(
        w.state
            .refusal(id)
            .unwrap()
            .to_string()
            .contains("uid 4242 is nobody's")
    );
    assert!(signs(&mut w, 1504).is_none(), "Eve has no role");
    let (version, vote, by) = signs(&mut w, 1500).unwrap();
    assert_eq!(*poll(&w, id).own(), Own::Signing(VoteKind::Grant));
    assert!(signs(&mut w, 1500).is_none(), "one signature at a time");
    let failed = Err("the agent refused".to_owned());
    w.send(Event::Signed {
        id,
        version,
        vote: failed,
        by: by.clone(),
    });
    assert!(matches!(poll(&w, id).own(), Own::Failed(_)));
    let (version, again, _) = signs(&mut w, 1500).unwrap();
    assert_eq!(vote.viewed, again.viewed);
    w.send(Event::Signed {
        id,
        version,
        vote: Ok(again),
        by,
    });
    w.durable();
    assert_eq!(*poll(&w, id).own(), Own::Counted(VoteKind::Grant));
    assert_eq!(w.state_of(id), State::Pending);
    assert!(w.executed.is_empty());
    grants(&mut w, id, "ben");
    assert_eq!(w.state_of(id), State::Granted);
}

/// A policy that asks for votes, on a program that has no desk: nothing runs.
#[test]
fn without_a_desk_nothing_that_asks_for_votes_is_granted() {
    let mut w = World::with(Settings {
        voting: None,
        ..with_rules(vec![rule()])
    });
    let id = w.pending(A, draft("1\n"));
    w.grant(id);
    assert_eq!(w.state_of(id), State::Pending);
    assert!(w.state.refusal(id).unwrap().to_string().contains("[desk]"));
    assert!(w.published.is_empty() && w.signing.is_empty());
}

#[test]
fn a_rule_for_flagged_code_leaves_clear_code_to_one_person() {
    let flagged = Rule {
        when: When::Verdict(VerdictKind::Flagged),
        ..rule()
    };
    let mut w = World::with(with_rules(vec![flagged]));
    w.send(Event::Electorate(Ok(everybody())));
    let id = w.pending(A, draft("1\n"));
    assert!(w.entry(id).poll().is_none() && w.published.is_empty());
    w.grant(id);
    w.durable();
    assert_eq!(w.executed, [id]);
    let (id, _) = w.propose(A, draft("2\n"));
    w.analyse(VerdictKind::Flagged);
    w.durable();
    assert_eq!(poll(&w, id).terms().0.len(), 1);
}

#[test]
fn a_flood_of_votes_that_do_not_count_is_summed_up_in_the_log() {
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    for _ in 0..250 {
        let forged = signed_by(&w, id, VoteKind::Grant, "ben", &key("ana"));
        cast(&mut w, id, forged, via("ben"));
    }
    let counts: Vec<u64> = w
        .log
        .iter()
        .filter_map(|e| match e {
            LogEvent::VoteRefused { count, .. } => Some(*count),
            _ => None,
        })
        .collect();
    assert_eq!(counts, [1, 10, 100]);
    w.tick(ms(1));
}

/// The record of a vote on an earlier version makes no vote on this one count.
#[test]
fn each_vote_waits_for_its_own_record() {
    let mut w = host();
    let id = w.pending(A, draft("1\n"));
    let cast_only = |w: &mut World, name: &str| {
        let (vote, version) = (vote(w, id, VoteKind::Grant, name), poll(w, id).version());
        w.send(Event::Cast {
            id,
            version,
            vote: Box::new(vote),
            via: via(name),
        });
    };
    cast_only(&mut w, "cyd");
    another_python(&mut w);
    cast_only(&mut w, "ana");
    w.durable_one();
    assert!(poll(&w, id).votes_for(&person("ana")).is_none());
    w.durable();
    assert!(poll(&w, id).votes_for(&person("ana")).is_some());
    assert_eq!(w.state_of(id), State::Pending);
}
