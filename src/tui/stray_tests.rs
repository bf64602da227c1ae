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

/// However the terminal cuts it into reads.
#[test]
fn what_is_pasted_behind_enter_acts_on_nothing() {
    for reads in [
        &["dno\nexD1?ly"][..],
        &["dno\n", "exD1?ly"],
        &["dno", "\nexD", "1?ly"],
        &["dno", "\n", "exD1?ly"],
    ] {
        for ms in [0, 40] {
            let mut b = waiting(3);
            for text in reads {
                b.advance(ms);
                match *text {
                    "\n" => drop(b.press(KeyCode::Enter)),
                    text => paste(&mut b, text),
                }
                b.carry_out();
                b.ui.sync(&b.state, b.now);
            }
            assert!(b.ui.prompt().is_none(), "{reads:?}");
            assert_eq!(denied(&b), 1, "{reads:?}");
            assert_eq!(notice(&b), crate::tui::words::REST_OF_PASTE, "{reads:?}");
            // After a pause, keys are keys.
            b.advance(300);
            b.keys("?");
            assert!(b.draw().contains("HELP"), "{reads:?}");
        }
    }
}

#[test]
fn what_is_pasted_behind_a_command_of_the_palette_or_a_search_acts_on_nothing() {
    for text in [":time\nexD", "/df\nexD", "fdf\nexD", ":deny\nno\n"] {
        let mut b = waiting(3);
        paste(&mut b, text);
        assert_eq!(denied(&b), 0, "{text:?}");
        // The field that the command opened stays empty.
        let field =
            b.ui.prompt()
                .map(|prompt| prompt.input().unwrap().value().to_owned());
        assert_eq!(field.as_deref(), text.starts_with(":deny").then_some(""));
        assert_eq!(notice(&b), crate::tui::words::REST_OF_PASTE, "{text:?}");
    }
}

#[test]
fn a_pasted_line_feed_is_a_blank_of_the_reason() {
    let mut b = waiting(2);
    let when = Span {
        alone: false,
        ..Span::at(b.now.boot)
    };
    b.keys("d");
    b.typed("no", when);
    let feed = KeyEvent::new(KeyCode::Char('j'), KeyModifiers::CONTROL);
    b.ui.on_typed(&b.state, &Event::Key(feed), when, b.now);
    b.typed("rows", when);
    assert!(b.draw().contains("no rows"));
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

/// Without a watch no key would be known to come after a pause, and none would ever act again.
#[test]
fn keys_are_watched_until_the_pause_behind_a_paste() {
    let mut b = Bench::new(120, 40);
    b.settle();
    assert!(!b.ui.watches_keys(&b.state));
    paste(&mut b, ":time\nexD");
    assert_eq!(notice(&b), crate::tui::words::REST_OF_PASTE);
    assert!(b.ui.watches_keys(&b.state));
    b.advance(300);
    b.keys("?");
    assert!(b.draw().contains("HELP"));
    assert!(!b.ui.watches_keys(&b.state));
}
