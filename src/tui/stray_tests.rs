//! Stray typing with line breaks, as of a paste into a terminal without brackets or of somebody in the wrong window: it
//! denies one proposal and not the next ones. A denial that was meant is never asked for twice.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

use super::Span;
use super::bench::*;

fn waiting(n: usize) -> Bench {
    let mut b = Bench::new(120, 40);
    for i in 0..n {
        b.propose(Making {
            ttl_s: 1_800,
            ..Making::clear(&format!("x = df['c{i}']\n"))
        });
    }
    b.settle();
    b.advance(2_000);
    b
}

/// Types with this pause before each key; returns how many denials it came to.
fn type_at(b: &mut Bench, text: &str, ms: u64) -> usize {
    let before = denied(b);
    for c in text.chars() {
        b.advance(ms);
        b.draw();
        match c {
            '\n' => b.press(KeyCode::Enter),
            '\u{1b}' => b.press(KeyCode::Esc),
            c => b.press(KeyCode::Char(c)),
        };
        b.carry_out();
    }
    denied(b) - before
}

fn denied(b: &Bench) -> usize {
    let denied = |e: &&crate::broker::Entry| e.state() == crate::model::State::Denied;
    b.state.decided().filter(denied).count()
}

const STRAY: &str = "did you see the new board?\nadd the date, and do it today\ndone already\n\
                     hello and good bye\ndd\nd\n\nd\n";

#[test]
fn stray_lines_deny_one_proposal_and_not_the_next_ones() {
    for ms in [0, 5, 90, 240] {
        let mut b = waiting(9);
        assert_eq!(type_at(&mut b, STRAY, ms), 1, "{ms} ms");
    }
}

#[test]
fn a_denial_alone_is_sent_at_once_however_fast_it_is_typed() {
    for ms in [0, 90, 400] {
        let mut b = waiting(2);
        assert_eq!(type_at(&mut b, "dnot today\n", ms), 1, "{ms} ms");
        // One key after a grant or a look is no run of denials either.
        b.advance(3_000);
        b.draw();
        assert_eq!(type_at(&mut b, "dnor this\n", ms), 1, "{ms} ms");
    }
}

#[test]
fn one_after_another_needs_a_pause_an_arrow_or_enter_again() {
    // A quarter of a second before `d`.
    let mut b = waiting(3);
    type_at(&mut b, "done\n", 90);
    b.advance(200);
    assert_eq!(type_at(&mut b, "dtwo\n", 90), 1);
    // Earlier reasons are chosen with arrows.
    let mut b = waiting(3);
    type_at(&mut b, "done\n", 90);
    type_at(&mut b, "d", 90);
    b.press(KeyCode::Up);
    assert_eq!(type_at(&mut b, "\n", 90), 1);
    // `Enter` again, after a pause.
    let mut b = waiting(3);
    type_at(&mut b, "done\n", 90);
    assert_eq!(type_at(&mut b, "dtwo\n", 90), 0);
    assert_eq!(notice(&b), "denied one just now: Enter again sends");
    assert!(b.draw().contains("denied one just now: Enter again sends"));
    assert_eq!(type_at(&mut b, "\n", 90), 0);
    assert_eq!(type_at(&mut b, "\n", 300), 1);
    // What is typed in between is asked for again.
    let mut b = waiting(3);
    type_at(&mut b, "done\n", 90);
    type_at(&mut b, "dtwo\n", 90);
    type_at(&mut b, "more", 90);
    assert_eq!(type_at(&mut b, "\n", 300), 0);
    assert_eq!(type_at(&mut b, "\n", 300), 1);
    // `Esc` decides nothing.
    let mut b = waiting(3);
    assert_eq!(type_at(&mut b, "done\ndtwo\n\u{1b}", 90), 1);
}

#[test]
fn the_same_holds_for_the_only_one_of_an_agent() {
    let mut b = waiting(1);
    b.propose(Making {
        agent: Some("other"),
        ttl_s: 1_800,
        ..Making::clear("y = 2\n")
    });
    b.settle();
    assert_eq!(type_at(&mut b, "done\n", 90), 1);
    assert_eq!(type_at(&mut b, "Dtwo\n", 90), 0);
    assert_eq!(type_at(&mut b, "\n", 300), 1);
}

/// Keys that were read together at this moment.
fn paste(b: &mut Bench, text: &str) {
    let when = Span {
        since: b.now.boot,
        until: b.now.boot,
        alone: false,
    };
    for c in text.chars() {
        let code = match c {
            '\n' => KeyCode::Enter,
            '\u{1b}' => KeyCode::Esc,
            c => KeyCode::Char(c),
        };
        let event = Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
        let actions = b.ui.on_typed(&b.state, &event, when, b.now);
        b.actions.extend(actions);
        b.carry_out();
    }
}

#[test]
fn lines_that_were_read_together_deny_one_proposal() {
    let mut b = waiting(4);
    paste(&mut b, "done\ndtwo\ndthree\n\n");
    assert_eq!(denied(&b), 1);
}

#[test]
fn a_program_that_waits_for_each_denial_is_asked_for_none_again() {
    let mut b = waiting(4);
    for (i, ms) in [3_000, 20, 120].into_iter().enumerate() {
        b.advance(ms);
        b.draw();
        b.keys("u");
        b.advance(40);
        paste(&mut b, "dno\n");
        assert_eq!(denied(&b), i + 1, "{ms} ms");
    }
}
