//! Grants that come faster than code can be read, and what the screen says of a session's decisions.

use crossterm::event::KeyCode;

use super::bench::*;
use super::snapshot_tests::at_sizes;
use super::ui::{Challenge, SHEET_GRACE};

/// Flagged code of 120 words: 24 seconds at 300 words a minute.
fn long() -> Making {
    let line = |n: usize| format!("total_{n} = frame_{n}.sum() + {n}\n");
    Making {
        code: (0..30).map(line).collect(),
        ttl_s: 1_800,
        ..Making::flagged()
    }
}

/// Opens the sheet of a flagged proposal and types its digits.
fn grant_at_once(b: &mut Bench, making: Making) {
    let id = b.propose(making);
    b.choose(id);
    b.read();
    b.open_sheet();
    type_digits(b);
}

fn type_digits(b: &mut Bench) {
    b.keys("4f1c");
    b.advance(300);
    b.press(KeyCode::Enter);
    b.look();
}

fn asks_again(b: &Bench) -> bool {
    let challenge = b.ui.sheet().map(|sheet| &sheet.challenge);
    matches!(challenge, Some(Challenge::Digits { hurry: Some(_), typed, wanted }) if typed == wanted)
}

#[test]
fn flagged_code_granted_faster_than_it_can_be_read_asks_once_more() {
    let mut b = Bench::new(120, 40);
    grant_at_once(&mut b, long());
    assert!(grants(&b).is_empty());
    assert!(asks_again(&b));
    let text = b.draw();
    assert!(text.contains("▲ 120 words in"), "{text}");
    assert!(text.contains("reading takes 24 s"), "{text}");
    assert!(
        text.contains("Read on, then Enter again, after 2 s"),
        "{text}"
    );
    // The digits stay. A key that can still be down grants nothing.
    b.advance(1_500);
    b.press(KeyCode::Enter);
    assert!(grants(&b).is_empty());
    b.advance(2_000);
    let text = b.draw();
    assert!(text.contains("Read on, then Enter again"), "{text}");
    assert!(!text.contains("after"), "{text}");
    b.press(KeyCode::Enter);
    let granted = grants(&b);
    assert_eq!(granted.len(), 1);
    assert!(granted[0].viewed.asked_again);
}

#[test]
fn who_took_the_time_to_read_is_not_asked_again() {
    let mut b = Bench::new(120, 40);
    let id = b.propose(long());
    b.choose(id);
    b.read();
    b.tick(24_000);
    b.open_sheet();
    type_digits(&mut b);
    assert_eq!(grants(&b).len(), 1);
    assert!(!grants(&b)[0].viewed.asked_again);
}

#[test]
fn lines_that_were_decided_on_before_need_no_second_reading() {
    let mut b = Bench::new(120, 40);
    let id = b.propose(long());
    b.deny(id, "not this one");
    grant_at_once(&mut b, long());
    assert_eq!(grants(&b).len(), 1);
}

#[test]
fn a_clear_proposal_is_never_asked_for_twice() {
    let mut b = Bench::new(120, 40);
    let clear = Making::clear(&long().code);
    let id = b.propose(Making {
        ttl_s: 1_800,
        ..clear
    });
    b.grant(id);
}

#[test]
fn the_second_question() {
    at_sizes("asked_again", |b| grant_at_once(b, long()));
}

#[test]
fn a_row_of_grants_is_pointed_out() {
    at_sizes("streak", |b| {
        let id = b.propose(Making::clear("print(0)\n"));
        b.deny(id, "no");
        for n in 1..=10 {
            let id = b.propose(Making::clear(&format!("print({n})\n")));
            b.grant(id);
        }
        let id = b.propose(Making::clear("print(df)\n"));
        b.choose(id);
        b.read();
        b.open_sheet();
    });
}

#[test]
fn the_record_says_what_was_on_the_screen_beside_the_code() {
    use crate::model::Part;
    let mut b = Bench::new(120, 40);
    let id = b.propose(Making::clear("print(len(df))\n"));
    b.choose(id);
    b.read();
    b.open_sheet();
    b.keys("i");
    b.draw();
    b.advance(SHEET_GRACE.as_millis() as u64);
    b.look();
    b.press(KeyCode::PageDown);
    b.look();
    b.advance(2_000);
    b.keys("y");
    let opened = grants(&b)[0].viewed.opened;
    assert!(opened.contains(Part::WholeSheet));
    assert!(!opened.contains(Part::Diff));
}

#[test]
fn the_key_of_a_command_is_no_digit_before_the_first_one() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::flagged());
    b.settle();
    b.read();
    b.open_sheet();
    for (key, said) in [
        ("d", "d (deny) works outside the sheet: press Esc first"),
        ("a", "a (grant) works outside the sheet: press Esc first"),
        ("e", "e (edit) works outside the sheet: press Esc first"),
        ("b", "b is not taken: the first one is 0–9"),
    ] {
        b.keys(key);
        assert_eq!(b.ui.typed_digits(), Some(""), "{key}");
        assert_eq!(notice(&b), said);
    }
    b.advance(2_000);
    type_digits(&mut b);
    assert_eq!(grants(&b).len(), 1);
    for _ in 0..1_000 {
        let digits = format!("{:04x}", super::ui::random_digits().unwrap());
        assert!(digits.as_bytes()[0].is_ascii_digit(), "{digits}");
    }
}
