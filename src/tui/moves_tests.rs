//! Movements that happen without a key and those that need one; denial, kill and quit (protocol.md
//! §7).

use std::time::Duration;

use crossterm::event::{KeyCode, KeyEventKind, KeyModifiers};

use crate::model::ProposalId;

use super::bench::*;
use super::*;

#[test]
fn other_screens_decide_nothing() {
    for key in ["2", "3"] {
        let mut b = ready();
        b.keys(key);
        b.draw();
        b.actions.clear();
        b.keys("adx");
        assert!(b.ui.sheet().is_none() && b.ui.prompt().is_none() && b.actions.is_empty());
    }
}

#[test]
fn enter_opens_and_never_grants() {
    let mut b = ready();
    b.press(KeyCode::Enter);
    assert_eq!(b.ui.queue.focus, ui::Pane::Code);
    b.open_sheet();
    b.press(KeyCode::Enter);
    assert!(grants(&b).is_empty() && b.ui.sheet().is_some());
}

#[test]
fn a_new_proposal_never_moves_selection_or_focus() {
    let mut b = ready();
    let id = b.ui.selected();
    b.press(KeyCode::Enter);
    for _ in 0..5 {
        b.propose(Making {
            ttl_s: 2,
            ..Making::flagged()
        });
    }
    assert_eq!((b.ui.selected(), b.ui.queue.focus), (id, ui::Pane::Code));
}

#[test]
fn the_lists_follow_every_change_of_the_core() {
    let mut b = Bench::new(80, 24);
    let check = |b: &Bench| {
        let id = |e: &crate::broker::Entry| e.proposal.id;
        let live: Vec<_> = b.state.running().chain(b.state.pending()).map(id).collect();
        let decided: Vec<_> = b.state.decided().map(id).collect();
        // Pending ones are alike here: one row, and the others folded under it.
        let listed: Vec<_> = b.ui.queue.lists.walk().collect();
        assert_eq!(listed, [live.clone(), decided.clone()].concat());
        assert_eq!(b.ui.queue.lists.shown, live.len());
        assert_eq!(b.ui.queue.lists.decided, decided);
    };
    for i in 0..20 {
        b.propose(Making {
            ttl_s: 1 + i % 7,
            ..Making::clear("x = 1\n")
        });
        check(&b);
        if i % 5 == 0 {
            b.propose(Making::blocked());
            check(&b);
        }
        if i % 3 == 0 {
            b.tick(900);
            check(&b);
        }
        if i == 10 {
            let id = b.propose(Making::clear("x = 2\n"));
            b.ui.select(id, b.now);
            b.ui.sync(&b.state, b.now);
            b.start();
            check(&b);
        }
    }
}

#[test]
fn a_denial_selects_the_most_urgent_proposal_with_a_fresh_grace() {
    let mut b = ready();
    let other = b.propose(Making {
        ttl_s: 600,
        ..Making::clear("x = 1\n")
    });
    let urgent = b.propose(Making {
        ttl_s: 30,
        ..Making::clear("x = 2\n")
    });
    b.settle();
    b.keys("d");
    b.press(KeyCode::Enter);
    b.carry_out();
    assert_eq!(b.ui.selected(), Some(urgent));
    assert_ne!(b.ui.selected(), Some(other));
    b.draw();
    b.advance(499);
    b.keys("a");
    assert!(b.ui.sheet().is_none());
}

#[test]
fn a_proposal_that_ends_while_selected_stays_and_u_goes_on() {
    let mut b = Bench::new(120, 40);
    let first = b.propose(Making {
        ttl_s: 5,
        ..Making::clear("x = 1\n")
    });
    let second = b.propose(Making::clear("x = 2\n"));
    b.settle();
    b.tick(6_000);
    assert_eq!(b.ui.selected(), Some(first));
    assert!(b.draw().contains("⧗ expired"));
    b.keys("u");
    assert_eq!(b.ui.selected(), Some(second));
}

#[test]
fn the_deny_reason_has_no_grace_and_is_what_was_typed() {
    let mut b = Bench::new(80, 24);
    let id = b.propose(Making::clear("x = 1\n"));
    b.keys("d");
    b.keys("too broad, q y a");
    b.press(KeyCode::Esc);
    assert!(b.actions.is_empty());
    b.keys("d");
    b.keys("no");
    b.press(KeyCode::Enter);
    match &b.actions[..] {
        [
            Action::Deny {
                id: denied, reason, ..
            },
        ] => {
            assert_eq!((*denied, reason.as_deref()), (id, Some("no")));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn quit_asks_only_when_something_would_be_lost() {
    let mut b = Bench::new(80, 24);
    b.code(
        KeyCode::Char('c'),
        KeyModifiers::CONTROL,
        KeyEventKind::Press,
    );
    assert_eq!(b.actions, [Action::Quit]);
    for quit in ["q", "ctrl-c"] {
        let mut b = ready();
        let ask = |b: &mut Bench| match quit {
            "q" => b.keys("q"),
            _ => b.code(
                KeyCode::Char('c'),
                KeyModifiers::CONTROL,
                KeyEventKind::Press,
            ),
        };
        for stays in ["n", "q", "Y"] {
            ask(&mut b);
            b.keys(stays);
            assert!(
                b.actions.is_empty() && b.ui.prompt().is_none(),
                "{quit} {stays}"
            );
        }
        ask(&mut b);
        ask(&mut b);
        assert!(b.actions.is_empty());
        ask(&mut b);
        b.keys("y");
        assert_eq!(b.actions, [Action::Quit]);
    }
}

#[test]
fn x_kills_a_run_and_nothing_else() {
    let mut b = ready();
    b.keys("x");
    assert!(b.actions.is_empty());
    let id = b.start();
    b.keys("x");
    assert_eq!(b.actions, [Action::Kill { id }]);
}

#[test]
fn the_screen_says_when_it_changes_by_itself() {
    let mut b = Bench::new(80, 24);
    assert_eq!(
        b.ui.next_wake(&b.state, b.now),
        None,
        "an idle dashboard sleeps"
    );
    b.propose(Making::clear("x = 1\n"));
    b.draw();
    assert_eq!(b.ui.next_wake(&b.state, b.now), Some(GRACE + DWELL));
    b.advance(650);
    b.draw();
    // The next wake is the countdown's next second.
    assert_eq!(
        b.ui.next_wake(&b.state, b.now),
        Some(Duration::from_millis(350))
    );
    b.keys("a");
    assert_eq!(b.ui.next_wake(&b.state, b.now), Some(SHEET_GRACE));
}

/// More rows than any screen has.
fn print_rows(b: &mut Bench, id: ProposalId) -> String {
    let printed: String = (0..300).map(|n| format!("row {n}\n")).collect();
    b.output(id, crate::model::StreamName::Stdout, &printed);
    printed
}

/// The screen with the first row of the output, and the focus there.
fn top_of_output(b: &mut Bench) -> String {
    b.ui.queue.focus = ui::Pane::Output;
    b.draw();
    b.press(KeyCode::Home);
    let first = b.draw();
    assert!(first.contains("row 0"), "{first}");
    first
}

#[test]
fn space_pages_the_focused_output_of_a_run_and_the_code_before_it() {
    let mut b = ready();
    b.advance(500);
    let id = b.start();
    let printed = print_rows(&mut b, id);
    b.end(id, run(&printed));
    let first = top_of_output(&mut b);
    b.keys(" ");
    let second = b.draw();
    assert!(
        !second.contains("row 0\u{20}") && second.contains("row "),
        "{second}"
    );
    assert_ne!(first, second);
    // From another pane, Space still moves in the code.
    b.ui.queue.focus = ui::Pane::Code;
    b.keys(" ");
    assert_eq!(b.draw().contains("row 0 "), second.contains("row 0 "));
}

#[test]
fn space_leaves_the_output_of_a_run_that_goes_on() {
    let mut b = Bench::new(140, 60);
    b.propose(Making::clear("print(len(df))\n"));
    b.settle();
    b.advance(500);
    let id = b.start();
    print_rows(&mut b, id);
    let first = top_of_output(&mut b);
    b.keys(" ");
    assert_eq!(b.draw().contains("row 0"), first.contains("row 0"));
}

#[test]
fn a_reason_has_at_most_a_thousand_characters() {
    let mut b = ready();
    b.keys("d");
    b.input(&crossterm::event::Event::Paste("ä".repeat(1_001)));
    let actions = b.press(KeyCode::Enter);
    let [
        Action::Deny {
            reason: Some(reason),
            ..
        },
    ] = &actions[..]
    else {
        panic!("{actions:?}");
    };
    assert_eq!(reason.chars().count(), 1_000);
}

#[test]
fn suspending_works_wherever_the_person_is() {
    let places: [fn(&mut Bench); 8] = [
        |_| {},
        |b| b.open_sheet(),
        |b| drop(b.keys("?")),
        |b| drop(b.keys("d")),
        |b| drop(b.keys("/")),
        |b| drop(b.keys("q")),
        |b| drop(b.keys("2")),
        |b| drop(b.keys("3")),
    ];
    for (n, go) in places.into_iter().enumerate() {
        let mut b = ready();
        go(&mut b);
        b.draw();
        let control = KeyModifiers::CONTROL;
        let actions = b.code(KeyCode::Char('z'), control, KeyEventKind::Press);
        assert!(matches!(actions[..], [Action::Suspend]), "{n}: {actions:?}");
    }
}

#[test]
fn leaving_the_log_screen_forgets_its_page() {
    let mut b = Bench::new(80, 24);
    let page = |line: &str| AuditPage {
        detail: Some(vec![line.to_owned()]),
        ..AuditPage::default()
    };
    b.keys("2");
    let text = b.draw();
    assert!(text.contains("AUDIT"), "{text}");
    assert!(
        !text.contains("No record") && !text.contains("0 proposals"),
        "a screen without rows claims nothing: {text}"
    );
    b.ui.set_audit(AuditPage::default());
    assert!(b.draw().contains("No record yet."));
    b.ui.set_audit(page("the first record"));
    assert!(b.draw().contains("the first record"));
    b.keys("1");
    // A late answer arrives for a screen that is no longer shown.
    b.ui.set_audit(page("a late record"));
    b.keys("2");
    assert!(!b.draw().contains("record"));
    b.ui.set_audit(AuditPage::default());
    b.ui.set_audit(page("another record"));
    let text = b.draw();
    assert!(text.contains("another record"), "{text}");
}
