//! A log in doubt: it cannot be read, or is not the one that was signed.

use crate::broker::{Event, LogDoubt};

use super::bench::*;
use super::snapshot_tests::at_sizes;
use super::*;

/// Records are written, and nothing is granted.
#[test]
fn log_that_is_not_the_signed_one() {
    at_sizes("log_that_is_not_the_signed_one", |b| {
        let why = "another root at size 8: it is in state-checkpoints";
        b.facts.log = LogCheck::Damaged(why.to_owned());
        b.propose(Making::clear("print(len(df))\n"));
        b.settle();
        b.apply(Event::LogDoubted(LogDoubt::Contradicted(why.to_owned())));
        b.keys("a");
    });
}

#[test]
fn log_that_cannot_be_read() {
    at_sizes("log_that_cannot_be_read", |b| {
        b.facts.log = LogCheck::Running;
        b.propose(Making::clear("print(len(df))\n"));
        b.settle();
        let why = "log/00000001.jsonl cannot be read: Input/output error (os error 5)";
        b.apply(Event::LogDoubted(LogDoubt::Unreadable(why.to_owned())));
        b.keys("a");
    });
}
