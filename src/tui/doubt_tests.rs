//! A log in doubt: it cannot be read, or is not the one that was signed.

use crate::broker::{Event, LogDoubt};

use super::bench::*;
use super::snapshot_tests::{at_sizes, snap};
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

/// A host that was rolled back: one alarm with its numbers, and that others do not hear it.
#[test]
fn log_that_was_rolled_back() {
    for (columns, rows) in [(80, 24), (100, 30)] {
        let mut b = Bench::new(columns, rows);
        let why = crate::desk::evidence::Admitted {
            number: 1,
            at: jiff::Timestamp::UNIX_EPOCH,
            has: 16,
            signed: (58, crate::model::Digest::of(b"x")),
            base: None,
        }
        .here();
        b.apply(Event::LogDoubted(LogDoubt::Contradicted(why)));
        let text = b.draw();
        let numbers = "ROLLED BACK: this log has 16 records after 58 had been signed";
        let said = |text: &str| {
            let words: Vec<&str> = text.split_whitespace().collect();
            words.join(" ").matches(numbers).count()
        };
        assert_eq!(said(&text), 1, "{text}");
        snap(&format!("log_rolled_back_{columns}x{rows}"), &text);
        b.facts.unheard = Some("OTHERS DO NOT HEAR IT: the engine refuses".to_owned());
        let text = b.draw();
        assert!(text.contains("OTHERS DO NOT HEAR IT"), "{text}");
    }
}
