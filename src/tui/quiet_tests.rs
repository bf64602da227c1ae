//! A deciding key counts only if it was deliberate (protocol.md §7): not typed early, in a burst,
//! held down, after a paste, or while nobody looks.

use std::time::Duration;

use crossterm::event::{Event as Input, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::bench::*;
use super::*;

#[test]
fn a_key_that_was_read_with_others_neither_asks_nor_confirms() {
    let crowded = |b: &Bench| Span {
        alone: false,
        ..Span::at(b.now.boot)
    };
    let mut b = ready();
    let span = crowded(&b);
    b.typed("a", span);
    assert!(b.ui.sheet().is_none());
    let mut b = ready();
    b.open_sheet();
    let span = crowded(&b);
    b.typed("yes please\n", span);
    assert!(b.ui.sheet().is_some() && grants(&b).is_empty());
    // The last key may still be held down.
    b.advance(2_500);
    b.draw();
    b.keys("y");
    assert_eq!(grants(&b).len(), 1);
}

#[test]
fn early_keys_on_the_sheet_are_dropped_leave_it_open_and_the_quiet_begins_anew() {
    let mut b = ready();
    b.keys("a");
    b.draw();
    b.advance(299);
    b.keys("y");
    assert!(b.ui.sheet().is_some() && grants(&b).is_empty());
    assert!(notice(&b).contains("too early"), "{}", notice(&b));
    // Another key, less than 250 ms after the first.
    b.advance(249);
    b.keys("n");
    b.advance(249);
    b.keys("y");
    assert!(b.ui.sheet().is_some() && grants(&b).is_empty());
    b.keys("n");
    b.advance(250);
    b.keys("y");
    assert_eq!(grants(&b).len(), 1);
}

#[test]
fn repeats_and_releases_do_not_grant() {
    let mut b = ready();
    for kind in [KeyEventKind::Repeat, KeyEventKind::Release] {
        b.advance(3_000);
        b.code(KeyCode::Char('a'), KeyModifiers::NONE, kind);
        assert!(b.ui.sheet().is_none());
    }
    b.advance(3_000);
    b.open_sheet();
    for kind in [KeyEventKind::Repeat, KeyEventKind::Release] {
        b.advance(3_000);
        b.code(KeyCode::Char('y'), KeyModifiers::NONE, kind);
    }
    assert!(grants(&b).is_empty());
}

/// A key held down: its press, the first repeat after `delay`, then 30 repeats a second for a
/// while.
fn hold_key(b: &mut Bench, key: &str, delay: u64) {
    b.keys(key);
    b.draw();
    b.advance(delay);
    for _ in 0..120 {
        b.keys(key);
        b.draw();
        b.advance(33);
    }
}

#[test]
fn a_confirm_key_held_since_before_it_counted_never_grants() {
    for delay in [180, 250, 300, 500, 660, 1_000, 1_800] {
        for early in [0, 50, 299] {
            let mut b = ready();
            b.keys("a");
            b.draw();
            b.advance(early);
            hold_key(&mut b, "y", delay);
            assert!(b.ui.sheet().is_some() && grants(&b).is_empty(), "{delay}");
            // After release, the same key counts once the longest repeat delay has passed; another
            // key proves at once that the first one was released.
            b.advance(1_900);
            b.keys("y");
            assert!(grants(&b).is_empty(), "{delay}");
            b.keys("n");
            b.advance(250);
            b.keys("y");
            assert_eq!(grants(&b).len(), 1, "{delay}");
        }
    }
}

#[test]
fn the_key_that_came_too_early_counts_again_after_two_seconds() {
    let mut b = ready();
    b.keys("a");
    b.draw();
    b.keys("y");
    b.advance(1_999);
    b.keys("y");
    assert!(grants(&b).is_empty());
    b.advance(2_000);
    b.keys("y");
    assert_eq!(grants(&b).len(), 1);
}

#[test]
fn a_grant_key_held_down_opens_no_sheet() {
    for delay in [250, 500, 1_000, 1_800] {
        let mut b = Bench::new(120, 40);
        b.propose(Making::clear("x = 1\n"));
        b.draw();
        // The key was held since before the proposal could be granted.
        b.advance(400);
        hold_key(&mut b, "a", delay);
        assert!(b.ui.sheet().is_none(), "{delay}");
        b.keys("w");
        b.advance(250);
        b.keys("a");
        assert!(b.ui.sheet().is_some(), "{delay}");
        // Still held: its repeats do not confirm, and neither does another key among them.
        b.draw();
        hold_key(&mut b, "a", delay);
        b.keys("y");
        assert!(grants(&b).is_empty(), "{delay}");
    }
}

#[test]
fn no_report_of_repeats_or_releases_loosens_the_rule() {
    for kind in [KeyEventKind::Repeat, KeyEventKind::Release] {
        let mut b = ready();
        b.keys("a");
        b.draw();
        b.code(KeyCode::Char('j'), KeyModifiers::NONE, kind);
        b.keys("y");
        b.code(KeyCode::Char('y'), KeyModifiers::NONE, kind);
        b.advance(500);
        for _ in 0..60 {
            b.keys("y");
            b.code(KeyCode::Char('y'), KeyModifiers::NONE, kind);
            b.advance(33);
        }
        b.advance(500);
        b.keys("y");
        assert!(grants(&b).is_empty(), "{kind:?}");
    }
}

#[test]
fn any_input_from_the_keyboard_ends_the_quiet() {
    let press = |kind| {
        let event = KeyEvent::new_with_kind(KeyCode::Char('j'), KeyModifiers::NONE, kind);
        Input::Key(event)
    };
    for event in [
        press(KeyEventKind::Press),
        press(KeyEventKind::Repeat),
        press(KeyEventKind::Release),
        Input::Paste("hello ".to_owned()),
        Input::Resize(120, 40),
        Input::FocusGained,
    ] {
        let mut b = ready();
        b.open_sheet();
        b.advance(5_000);
        b.input(&event);
        b.advance(249);
        b.keys("y");
        assert!(grants(&b).is_empty() && b.ui.sheet().is_some(), "{event:?}");
    }
    // Bytes that are not a key.
    let mut b = ready();
    b.open_sheet();
    b.ui.on_noise(Span::at(b.now.boot));
    b.advance(249);
    b.keys("y");
    assert!(grants(&b).is_empty());
}

#[test]
fn a_key_behind_a_paste_does_not_grant() {
    let mut b = ready();
    b.open_sheet();
    // The pasted text ended the paste itself: `hello \e[201~y`.
    b.input(&Input::Paste("hello ".to_owned()));
    b.keys("y");
    b.advance(299);
    b.keys("jy");
    assert!(b.ui.sheet().is_some() && grants(&b).is_empty());
    b.keys("j");
    b.advance(300);
    b.keys("y");
    assert_eq!(grants(&b).len(), 1);
}

#[test]
fn a_burst_grants_nothing_however_long_the_loop_takes_for_it() {
    let mut b = ready();
    let span = Span {
        since: b.now.boot,
        until: b.now.boot + Duration::from_millis(3),
        alone: true,
    };
    b.typed("a", span);
    assert!(b.ui.sheet().is_some());
    for _ in 0..4_000 {
        b.advance(4);
        b.typed("j", span);
    }
    b.draw();
    b.typed("y", span);
    assert!(b.ui.sheet().is_some() && grants(&b).is_empty());
}

#[test]
fn a_key_is_dated_by_when_it_could_have_been_typed() {
    // The key waited in the buffer while the sheet was opened and shown.
    let mut b = ready();
    let before = b.now.boot;
    b.open_sheet();
    b.advance(5_000);
    let waited = Span {
        since: before,
        until: b.now.boot,
        alone: true,
    };
    b.typed("y", waited);
    assert!(b.ui.sheet().is_some() && grants(&b).is_empty());

    // The key waited since before the proposal was selected.
    let mut b = Bench::new(120, 40);
    let before = b.now.boot;
    b.propose(Making::clear("x = 1\n"));
    b.settle();
    let waited = Span {
        since: before,
        until: b.now.boot,
        alone: true,
    };
    b.typed("a", waited);
    assert!(b.ui.sheet().is_none());
}

#[test]
fn a_stall_leaves_the_sheet_open_with_a_fresh_grace() {
    let mut b = ready();
    b.open_sheet();
    b.advance(5_000);
    b.ui.stalled(b.now);
    b.keys("y");
    assert!(b.ui.sheet().is_some() && grants(&b).is_empty());

    // The key was pressed while the process was stopped, and its first repeat comes late.
    for delay in [300, 500, 1_000, 1_800] {
        let mut b = ready();
        b.open_sheet();
        b.ui.stalled(b.now);
        b.advance(delay);
        b.keys("y");
        assert!(b.ui.sheet().is_some() && grants(&b).is_empty(), "{delay}");
    }
    let mut b = ready();
    b.open_sheet();
    b.ui.stalled(b.now);
    b.keys("n");
    b.advance(300);
    b.keys("y");
    assert_eq!(grants(&b).len(), 1);
}

#[test]
fn nothing_is_granted_without_the_focus_and_its_return_restarts_the_grace() {
    let mut b = ready();
    b.input(&Input::FocusLost);
    b.advance(5_000);
    b.keys("a");
    assert!(b.ui.sheet().is_none() && notice(&b).contains("focus"));
    b.input(&Input::FocusGained);
    b.advance(499);
    b.keys("wa");
    assert!(b.ui.sheet().is_none());
    b.keys("w");
    b.open_sheet();
    b.input(&Input::FocusLost);
    b.advance(5_000);
    b.keys("y");
    assert!(b.ui.sheet().is_some() && grants(&b).is_empty());
    assert!(notice(&b).contains("focus"), "{}", notice(&b));
    b.input(&Input::FocusGained);
    b.keys("n");
    b.advance(299);
    b.keys("y");
    assert!(grants(&b).is_empty());
    b.keys("n");
    b.advance(300);
    b.keys("y");
    assert_eq!(grants(&b).len(), 1);
}
