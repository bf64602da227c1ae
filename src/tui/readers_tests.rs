//! Who else reads, and what counts as decided while a vote is signed.

use std::time::Duration;

use super::bench::*;
use super::votes_tests::{asks_for_two, confirms, details, poll, signed, vote};
use crate::broker::poll::Own;
use crate::model::{Person, VoteKind};

fn ben() -> Person {
    "ben".parse().unwrap()
}

#[test]
fn who_else_reads_is_shown_for_a_minute_and_changes_nothing_else() {
    let mut b = asks_for_two(120, 40);
    let id = b.propose(Making::clear("print(len(df))\n"));
    let before = b.settle();
    assert!(!before.contains("READING"), "{before}");
    b.ui.somebody_reads(id, ben(), b.now);
    let row = b.draw();
    assert!(row.contains("READING"), "{row}");
    let shown = details(&mut b);
    assert!(shown.contains("ben is reading this"), "{shown}");
    assert!(shown.contains("nobody sees the others' before"), "{shown}");
    b.advance(59_000);
    assert!(b.draw().contains("READING"));
    // Said again, it goes on.
    b.ui.somebody_reads(id, ben(), b.now);
    b.advance(59_000);
    assert!(b.draw().contains("READING"));
    b.advance(2_000);
    let after = b.draw();
    assert!(!after.contains("READING"), "{after}");
    assert!(!details(&mut b).contains("is reading this"));
    b.ui.somebody_reads(id, ben(), b.now);
    confirms(&mut b);
    let own = poll(&b, id).own();
    assert!(
        matches!(own, Own::Signing(_)),
        "the keys are the same: {own:?}"
    );
}

#[test]
fn the_others_are_told_of_one_proposal_every_twenty_seconds_at_most() {
    let mut b = asks_for_two(120, 40);
    let first = b.propose(Making::clear("print(len(df))\n"));
    let second = b.propose(Making::clear("print(1)\n"));
    b.choose(first);
    assert_eq!(b.ui.reads(&b.state, b.now), Some(first));
    assert_eq!(b.ui.reads(&b.state, b.now), None);
    b.choose(second);
    assert_eq!(b.ui.reads(&b.state, b.now), Some(second));
    b.now.boot += Duration::from_secs(19);
    assert_eq!(b.ui.reads(&b.state, b.now), None);
    b.now.boot += Duration::from_secs(1);
    assert_eq!(b.ui.reads(&b.state, b.now), Some(second));
    // What takes no votes is nobody else's.
    let mut b = Bench::new(120, 40);
    b.propose(Making::clear("print(len(df))\n"));
    b.settle();
    assert_eq!(b.ui.reads(&b.state, b.now), None);
}

#[test]
fn a_confirmation_counts_as_a_grant_once_its_vote_is_in() {
    let mut b = asks_for_two(120, 40);
    let id = b.propose(Making::clear("print(len(df))\n"));
    b.settle();
    confirms(&mut b);
    assert!(b.ui.tally().is_none(), "it is being signed");
    signed(&mut b, id, Err("the agent refused".to_owned()));
    assert!(b.ui.tally().is_none(), "it was not signed");
    confirms(&mut b);
    let own = vote(&b, id, VoteKind::Grant, "ana", None);
    signed(&mut b, id, Ok(own));
    assert_eq!(b.ui.tally().map(|tally| tally.granted), Some(1));
}
