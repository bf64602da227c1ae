//! Accidental input does not grant (invariant 6; protocol.md §7): each test tries to break one rule
//! by a person's typing, by the terminal or by an agent.

use std::time::Duration;

use crossterm::event::{Event as Input, KeyCode, KeyEventKind, KeyModifiers};
use proptest::prelude::*;

use crate::broker::Event;
use crate::model::{Digest, Environment, State};

use super::bench::*;
use super::ui::Challenge;
use super::*;

#[test]
fn a_clear_proposal_is_granted_by_a_then_y_and_the_digest_is_the_sheets() {
    let mut b = ready();
    let id = b.ui.selected().unwrap();
    b.open_sheet();
    let digest = b.ui.sheet().unwrap().digest();
    b.keys("y");
    let all = grants(&b);
    assert_eq!((all[0].id, all[0].digest, all.len()), (id, digest, 1));
    b.carry_out();
    assert_eq!(b.state.entry(id).unwrap().state(), State::Granted);
    // The selection stays with the run.
    assert_eq!(b.ui.selected(), Some(id));
}

#[test]
fn keys_typed_before_a_proposal_appeared_do_not_grant_it() {
    let mut b = Bench::new(120, 40);
    b.propose(Making::clear("x = 1\n"));
    b.draw();
    b.keys("ay");
    b.advance(499);
    b.draw();
    b.keys("ay");
    assert!(b.ui.sheet().is_none());
    b.advance(250);
    b.draw();
    // Now `a` counts, but a `y` typed along with it does not.
    b.keys("ay");
    assert!(b.ui.sheet().is_some());
    assert!(grants(&b).is_empty());
}

#[test]
fn a_held_grant_key_can_not_confirm_whatever_is_bound() {
    // Startup refuses the same key for both.
    let keys = [("grant".to_owned(), "y".to_owned())].into();
    assert!(Keymap::from_config(&keys).is_err());
}

#[test]
fn modifiers_must_match_exactly() {
    let mut b = ready();
    for m in [
        KeyModifiers::CONTROL,
        KeyModifiers::ALT,
        KeyModifiers::SHIFT,
        KeyModifiers::SUPER,
    ] {
        b.code(KeyCode::Char('a'), m, KeyEventKind::Press);
        assert!(b.ui.sheet().is_none(), "{m:?}");
    }
    b.keys("A");
    assert!(b.ui.sheet().is_none());
    b.open_sheet();
    for m in [
        KeyModifiers::CONTROL,
        KeyModifiers::ALT,
        KeyModifiers::SHIFT,
        KeyModifiers::META,
    ] {
        b.advance(200);
        b.code(KeyCode::Char('y'), m, KeyEventKind::Press);
    }
    b.keys("Y");
    b.press(KeyCode::Enter);
    assert!(grants(&b).is_empty());
}

#[test]
fn a_paste_is_inert_outside_text_fields() {
    let mut b = ready();
    b.input(&Input::Paste("a".to_owned()));
    assert!(b.ui.sheet().is_none());
    b.open_sheet();
    b.input(&Input::Paste("y\n".to_owned()));
    assert!(b.ui.sheet().is_some() && grants(&b).is_empty());
    b.press(KeyCode::Esc);
    b.keys("q");
    b.input(&Input::Paste("y".to_owned()));
    assert!(!b.actions.contains(&Action::Quit));
    b.keys("n");
    b.keys("d");
    b.input(&Input::Paste("not\nthis\x1b[2J".to_owned()));
    b.press(KeyCode::Enter);
    let reason = b.actions.iter().find_map(|a| match a {
        Action::Deny { reason, .. } => reason.clone(),
        _ => None,
    });
    assert_eq!(reason.unwrap(), "not this[2J");
}

#[test]
fn digits_are_not_taken_from_a_paste() {
    let mut b = Bench::new(120, 40);
    b.propose(Making::flagged());
    b.open_sheet();
    b.input(&Input::Paste("4f1c\n".to_owned()));
    b.press(KeyCode::Enter);
    assert!(grants(&b).is_empty());
}

#[test]
fn a_flagged_proposal_takes_its_four_digits_and_nothing_else() {
    let mut b = Bench::new(120, 40);
    b.propose(Making::flagged());
    b.open_sheet();
    b.keys("y");
    b.press(KeyCode::Enter);
    assert!(grants(&b).is_empty());
    let typed = |b: &Bench| match &b.ui.sheet().unwrap().challenge {
        Challenge::Digits { typed, .. } => typed.clone(),
        Challenge::Key => panic!("the sheet asks for no digits"),
    };
    // Wrong digits clear the field, Backspace edits, and a fifth digit makes the code wrong.
    b.keys("4f1d");
    b.advance(250);
    b.press(KeyCode::Enter);
    assert_eq!((typed(&b), grants(&b).len()), (String::new(), 0));
    b.keys("4f1dd");
    b.press(KeyCode::Backspace);
    b.press(KeyCode::Backspace);
    b.keys("Cc");
    assert_eq!(typed(&b), "4f1c");
    // Digits may be typed fast, but Enter may not come early; the digits stay.
    b.advance(249);
    b.press(KeyCode::Enter);
    assert_eq!((typed(&b), grants(&b).len()), ("4f1c".to_owned(), 0));
    assert!(notice(&b).contains("too early"), "{}", notice(&b));
    b.advance(2_000);
    b.press(KeyCode::Enter);
    assert_eq!(grants(&b).len(), 1);
}

#[test]
fn early_digits_are_dropped() {
    let mut b = Bench::new(120, 40);
    b.propose(Making::flagged());
    b.settle();
    b.keys("a");
    b.draw();
    b.keys("4f1c");
    b.advance(300);
    b.press(KeyCode::Enter);
    assert!(grants(&b).is_empty());
    // Digits may be typed fast: all four at once.
    b.keys("4f1c");
    b.advance(250);
    b.press(KeyCode::Enter);
    assert_eq!(grants(&b).len(), 1);
}

#[test]
fn every_sheet_has_its_own_digits() {
    let all: std::collections::BTreeSet<_> = (0..64).filter_map(|_| ui::random_digits()).collect();
    assert!(all.len() > 32);
}

#[test]
fn expiry_while_the_sheet_is_open_closes_it() {
    let mut b = Bench::new(120, 40);
    b.propose(Making {
        ttl_s: 5,
        ..Making::clear("x = 1\n")
    });
    b.open_sheet();
    b.tick(5_000);
    assert!(b.ui.sheet().is_none());
    assert_eq!(notice(&b), "already expired");
    b.keys("y");
    assert!(grants(&b).is_empty());
}

/// An agent chooses when its proposal ends; text typed then must not act on another proposal.
#[test]
fn a_reason_that_is_being_typed_is_no_command_once_its_proposal_is_over() {
    let mut b = ready();
    let other = b.ui.selected().unwrap();
    let blocked = b.propose(Making {
        ttl_s: 5,
        ..Making::clear("x = 2\n")
    });
    b.keys("u");
    assert_eq!(b.ui.selected(), Some(blocked));
    b.keys("d");
    b.keys("untested");
    b.tick(5_000);
    let screen = b.draw();
    assert!(
        screen.contains("already expired, nothing is sent: untested"),
        "{screen}"
    );
    assert!(screen.contains("Enter or Esc goes back"), "{screen}");
    for key in "unsafely d u a y x q".chars() {
        b.advance(300);
        b.draw();
        b.keys(&key.to_string());
    }
    assert_eq!(b.ui.selected(), Some(blocked));
    b.press(KeyCode::Enter);
    assert!(b.actions.is_empty(), "{:?}", b.actions);
    assert_eq!(notice(&b), "already expired");
    assert!(b.state.entry(other).unwrap().awaits_decision());
}

#[test]
fn a_deadline_that_no_timer_noticed_denies_nevertheless() {
    let mut b = Bench::new(120, 40);
    b.propose(Making {
        ttl_s: 5,
        ..Making::clear("x = 1\n")
    });
    b.open_sheet();
    // As after a system suspend: the deadline passed, but no tick came. Reaching the deadline
    // denies.
    let remaining = b.state.pending().next().unwrap().left(b.now);
    b.now.boot += remaining;
    b.keys("y");
    assert!(grants(&b).is_empty());
    assert!(
        notice(&b).contains("time to decide is over"),
        "{}",
        notice(&b)
    );
}

#[test]
fn a_changed_environment_closes_the_sheet_by_its_name() {
    let mut b = ready();
    b.open_sheet();
    let changed = Environment::Changed {
        what: "lib/sklearn/__init__.py was changed".to_owned(),
    };
    b.apply(Event::Environment(changed));
    assert!(b.ui.sheet().is_none());
    assert!(
        notice(&b).contains("lib/sklearn/__init__.py was changed"),
        "{}",
        notice(&b)
    );
    b.keys("y");
    b.advance(QUIET.as_millis() as u64);
    b.keys("a");
    assert!(b.ui.sheet().is_none() && grants(&b).is_empty());
    assert!(notice(&b).contains("sklearn"), "{}", notice(&b));
}

#[test]
fn a_change_of_what_would_run_closes_the_sheet() {
    let mut b = ready();
    b.open_sheet();
    b.apply(Event::Environment(Environment::Ready {
        digest: Digest::of(b"another"),
        label: "Python 3.12".to_owned(),
        installed: crate::model::Installed::default(),
    }));
    assert!(b.ui.sheet().is_none());
    assert!(notice(&b).contains("changed"));
    b.keys("y");
    assert!(grants(&b).is_empty());
}

#[test]
fn a_clock_that_fails_denies_and_does_not_stop_the_screen() {
    let mut b = ready();
    b.open_sheet();
    b.now.boot = Duration::MAX;
    b.draw();
    b.keys("y");
    b.input(&Input::Resize(80, 24));
    b.keys("jkua y");
    b.draw();
    assert!(b.ui.next_wake(&b.state, b.now).is_none() && grants(&b).is_empty());
}

#[test]
fn resize_gives_a_fresh_grace_to_selection_and_sheet() {
    let mut b = ready();
    b.input(&Input::Resize(100, 40));
    b.keys("aw");
    assert!(b.ui.sheet().is_none());
    b.open_sheet();
    b.input(&Input::Resize(90, 30));
    b.size = (90, 30);
    b.draw();
    b.keys("yn");
    assert!(grants(&b).is_empty() && b.ui.sheet().is_some());
    b.advance(300);
    b.keys("y");
    assert_eq!(grants(&b).len(), 1);
}

#[test]
fn a_suspend_closes_the_sheet_and_restarts_the_grace() {
    let mut b = ready();
    b.open_sheet();
    b.ui.flush_input(b.now);
    b.keys("y");
    b.keys("ay");
    assert!(b.ui.sheet().is_none() && b.actions.is_empty());
}

#[test]
fn nothing_that_is_not_ready_can_be_granted() {
    let mut b = ready();
    b.apply(Event::Environment(Environment::Making {
        step: "numpy".to_owned(),
        done: 1,
        total: 2,
    }));
    b.keys("a");
    assert!(b.ui.sheet().is_none() && notice(&b).contains("being made"));

    let mut b = Bench::new(120, 40);
    b.propose(Making::blocked());
    b.press(KeyCode::Down);
    b.settle();
    b.keys("a");
    assert!(
        b.ui.sheet().is_none() && notice(&b).contains("blocks"),
        "{}",
        notice(&b)
    );

    let mut b = ready();
    b.apply(Event::AuditDown {
        reason: "full".to_owned(),
    });
    b.keys("a");
    assert!(b.ui.sheet().is_none());
}

#[test]
fn escape_closes_the_sheet_and_decides_nothing() {
    let mut b = ready();
    b.open_sheet();
    b.keys("dqxu1t");
    assert!(b.ui.sheet().is_some(), "other keys do nothing");
    b.press(KeyCode::Esc);
    assert!(b.ui.sheet().is_none() && b.actions.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// For any keys at any time: a grant concerns the selected, pending and wholly seen proposal,
    /// at least 500 ms after its selection, 300 ms after its sheet appeared and 250 ms after any
    /// other input.
    #[test]
    fn no_sequence_of_keys_grants_early_or_unseen(
        steps in prop::collection::vec((0_usize..16, 0_u64..400), 1..120),
    ) {
        let mut b = Bench::new(80, 24);
        b.propose(Making::clear(&lines(25)));
        b.propose(Making::clear("x = 1\n"));
        b.propose(Making::flagged());
        b.draw();
        let mut selected = (b.ui.selected(), b.now.boot);
        let mut sheet = None;
        // The time of the last input before this step.
        let (mut last, mut heard) = (Duration::ZERO, Duration::ZERO);
        for (step, ms) in steps {
            b.advance(ms);
            if step < 13 {
                last = std::mem::replace(&mut heard, b.now.boot);
            }
            match step {
                0 | 1 => drop(b.keys("a")),
                2 | 3 => drop(b.keys("y")),
                4 => drop(b.keys("j")),
                5 => drop(b.keys("k")),
                6 | 7 => drop(b.keys(" ")),
                8 => drop(b.keys("4f1c")),
                9 => drop(b.press(KeyCode::Enter)),
                10 => drop(b.press(KeyCode::Esc)),
                11 => drop(b.keys("w")),
                12 => drop(b.input(&Input::Paste("ay4f1c\n".to_owned()))),
                13 => b.apply(Event::Tick),
                _ => drop(b.draw()),
            }
            if selected.0 != b.ui.selected() {
                selected = (b.ui.selected(), b.now.boot);
            }
            for grant in grants(&b) {
                let entry = b.state.entry(grant.id).unwrap();
                prop_assert_eq!(Some(grant.id), selected.0);
                prop_assert!(b.now.boot >= selected.1 + GRACE);
                prop_assert!(b.now.boot >= last + QUIET);
                prop_assert!(sheet.is_some_and(|at| b.now.boot >= at + SHEET_GRACE));
                prop_assert_eq!(grant.viewed.lines_seen as usize, entry.code().text().lines().count());
                prop_assert!(entry.left(b.now) > Duration::ZERO);
            }
            b.carry_out();
            match (b.ui.sheet(), sheet) {
                (Some(_), None) => sheet = Some(b.now.boot),
                (None, _) => sheet = None,
                _ => {}
            }
        }
    }

    /// Drawing never panics and stays within the screen at any size and in any state.
    #[test]
    fn drawing_never_panics(
        columns in 1_u16..220, rows in 1_u16..70,
        keys in "[ajkwzGug23?/ nNdqt1\t\n\u{1b}]{0,24}",
    ) {
        let mut b = Bench::new(columns, rows);
        b.propose(Making::flagged());
        b.propose(Making {
            brought: vec![("rows", "a\u{202e}\tb\n".repeat(30))],
            ..Making::clear(&"漢字 = '\x1b[31m'\r".repeat(40))
        });
        b.propose(Making::blocked());
        b.draw();
        for c in keys.chars() {
            b.advance(200);
            match c {
                '\t' => b.press(KeyCode::Tab),
                '\n' => b.press(KeyCode::Enter),
                '\u{1b}' => b.press(KeyCode::Esc),
                c => b.press(KeyCode::Char(c)),
            };
            b.draw();
        }
        prop_assert_eq!(b.buffer.area.width, columns);
    }
}
