//! Every line on the screen is true: the footer's notice disappears with the state it describes.

use crossterm::event::KeyCode;

use crate::broker::Event;
use crate::model::{Digest, Environment, State};

use super::action::AuditPage;
use super::bench::*;
use super::snapshot_tests::at_sizes;

/// The last row.
fn footer(b: &mut Bench) -> String {
    b.draw().lines().last().unwrap_or_default().to_owned()
}

#[test]
fn wrong_digits_are_reported_until_the_next_key_and_not_beside_a_run() {
    let mut b = Bench::new(120, 40);
    b.propose(Making::flagged());
    b.open_sheet();
    b.keys("0000");
    b.advance(250);
    b.press(KeyCode::Enter);
    assert_eq!(notice(&b), "wrong characters, nothing granted");
    assert!(footer(&mut b).contains("nothing granted"));
    b.keys("4");
    assert_eq!(notice(&b), "");
    b.keys("f1c");
    // An extra digit is wrong too, and the field shows it.
    b.keys("7");
    assert!(b.draw().contains("[4f1c7]"));
    b.advance(250);
    b.press(KeyCode::Enter);
    b.carry_out();
    assert_eq!(notice(&b), "wrong characters, nothing granted");
    assert_eq!(grants_state(&b), State::Pending);
    b.keys("4f1c");
    b.advance(250);
    b.press(KeyCode::Enter);
    b.carry_out();
    assert_eq!(grants_state(&b), State::Granted);
    assert!(!b.draw().contains("nothing granted"));
}

fn grants_state(b: &Bench) -> State {
    b.state.entry(b.ui.selected().unwrap()).unwrap().state()
}

#[test]
fn the_notice_of_a_kill_ends_with_the_run() {
    let mut b = ready();
    let id = b.start();
    b.keys("x");
    assert!(footer(&mut b).contains("killing it"));
    b.end(id, run("1\n"));
    assert!(!b.draw().contains("killing it"));
    assert!(grants_state(&b).is_final());
}

#[test]
fn the_kill_key_reports_the_state_that_it_finds() {
    let mut b = ready();
    b.keys("x");
    assert_eq!(notice(&b), "it does not run yet");
    b.advance(500);
    let id = b.start();
    assert_eq!(notice(&b), "");
    b.end(id, run("1\n"));
    b.keys("x");
    assert_eq!(notice(&b), "already succeeded");
}

#[test]
fn an_obstacle_to_a_grant_is_shown_as_long_as_it_lasts() {
    let mut b = ready();
    b.apply(Event::Environment(Environment::Making {
        step: "numpy".to_owned(),
        done: 1,
        total: 2,
    }));
    b.keys("a");
    assert!(footer(&mut b).contains("environment is being made"));
    b.keys("Q");
    assert!(!footer(&mut b).contains("a grant"));
    b.advance(250);
    b.keys("a");
    b.apply(Event::Environment(Environment::Ready {
        digest: Digest::of(b"environment"),
        label: "Python 3.11.7, 27 packages".to_owned(),
        installed: crate::model::Installed::default(),
    }));
    assert_eq!(notice(&b), "");
    assert!(footer(&mut b).contains("a waits"), "the key may be down");
    b.advance(2_000);
    assert!(footer(&mut b).contains("a grant"));
    // The count of unseen rows decreases as they are seen.
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear(&lines(40)));
    b.settle();
    b.keys("a");
    let first = notice(&b);
    assert!(first.contains("not seen"), "{first}");
    b.apply(Event::Tick);
    assert_eq!(notice(&b), first);
}

#[test]
fn a_screen_without_the_focus_is_named_before_the_rows_that_it_keeps_unseen() {
    let mut b = Bench::new(120, 40);
    b.propose(Making::clear(&lines(200)));
    b.input(&crossterm::event::Event::FocusLost);
    b.advance(1_000);
    b.draw();
    b.keys("a");
    assert_eq!(notice(&b), "without the focus nothing is granted");
}

#[test]
fn an_early_key_is_reported_until_it_counts() {
    let mut b = ready();
    b.keys("a");
    b.draw();
    b.keys("y");
    assert!(notice(&b).contains("too early"));
    assert!(b.draw().contains("wait: y to grant"));
    b.advance(1_999);
    assert!(b.draw().contains("wait: y to grant"));
    assert!(notice(&b).contains("too early"));
    let wake = b.ui.next_wake(&b.state, b.now).unwrap();
    assert!(wake.as_millis() <= 1, "{wake:?}");
    b.advance(1);
    let text = b.draw();
    assert!(
        text.contains("press y to grant") && !text.contains("too early"),
        "{text}"
    );
}

#[test]
fn the_sheet_names_its_key_only_while_it_would_count() {
    let mut b = ready();
    b.keys("a");
    assert!(b.draw().contains("wait: y to grant"));
    b.advance(449);
    assert!(b.draw().contains("wait: y to grant"));
    b.advance(1);
    assert!(b.draw().contains("press y to grant"));
    b.input(&crossterm::event::Event::FocusLost);
    b.advance(60_000);
    let text = b.draw();
    assert!(
        text.contains("wait: y to grant") && text.contains("without the focus"),
        "{text}"
    );
    // If rows were not shown, the notice does not appear.
    let mut b = Bench::new(80, 14);
    b.propose(Making::clear("x = 1\n"));
    b.settle();
    b.keys("a");
    b.draw();
    b.advance(5_000);
    let text = b.draw();
    assert!(
        text.contains("wait: y to grant") && text.contains("not seen"),
        "{text}"
    );
    // Enter is told before, and named once there is something to confirm.
    let mut b = Bench::new(120, 40);
    b.propose(Making::flagged());
    b.settle();
    b.keys("a");
    assert!(b.draw().contains("wait: 4f1c to grant [____]"));
    b.keys("4f");
    b.advance(449);
    assert!(b.draw().contains("wait: 4f1c to grant [____]"));
    b.advance(1);
    assert!(b.draw().contains("type 4f1c to grant [____], Enter"));
    assert!(!b.draw().contains("] Enter"));
    b.keys("4f1c");
    assert!(b.draw().contains("] wait"));
    b.advance(250);
    assert!(b.draw().contains("] Enter"));
}

#[test]
fn the_key_that_the_sheet_names_leads_to_every_row_that_was_paged_past() {
    let mut b = Bench::new(80, 14);
    b.propose(Making::clear("x = 1\n"));
    b.settle();
    b.keys("a");
    b.draw();
    // Pages to the end within the grace period, in which no frame counts as seen.
    for _ in 0..10 {
        b.press(KeyCode::PageDown);
        b.draw();
    }
    b.advance(500);
    let text = b.draw();
    assert!(
        text.contains("of this sheet not seen; Space scrolls"),
        "{text}"
    );
    for _ in 0..20 {
        if b.look().contains("not seen") {
            b.keys(" ");
        }
    }
    b.advance(250);
    let text = b.draw();
    assert!(text.contains("press y to grant"), "{text}");
}

#[test]
fn an_early_grant_key_reports_every_other_obstacle() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear(&lines(80)));
    b.settle();
    b.keys("wwa");
    assert!(notice(&b).contains("not seen"), "{}", notice(&b));
}

#[test]
fn notices_call_nothing_pending_or_absent_that_is_not() {
    let mut b = Bench::new(120, 40);
    b.draw();
    b.keys("u");
    assert_eq!(notice(&b), "nothing is pending");
    b.propose(Making::clear("x = 1\n"));
    assert_eq!(notice(&b), "");

    let mut b = Bench::new(120, 40);
    b.draw();
    b.keys("d");
    assert_eq!(notice(&b), "nothing is selected");
    b.propose(Making::clear("x = 1\n"));
    assert_eq!(notice(&b), "");

    let mut b = Bench::new(120, 40);
    assert!(b.draw().contains("No proposal yet."));
    b.propose(Making::blocked());
    let screen = b.draw();
    assert!(screen.contains("DECIDED"), "{screen}");
    assert!(screen.contains("No proposal waits."), "{screen}");

    let mut b = ready();
    b.keys("/zebra");
    assert!(footer(&mut b).contains("Enter searches"));
    b.press(KeyCode::Enter);
    assert_eq!(
        notice(&b),
        "not found in the proposals' titles and agents: zebra"
    );
    b.propose(Making {
        title: Some("zebra".to_owned()),
        ..Making::clear("x = 1\n")
    });
    assert_eq!(notice(&b), "");
}

/// Without the kernel's uid on the line, the agent's own words could be mistaken for it.
#[test]
fn the_uid_stands_beside_the_title_however_narrow_the_screen() {
    for columns in 40..130 {
        let mut b = Bench::new(columns, 24);
        b.propose(Making {
            title: Some(format!("uid 0 · pid 1 root {}", "x".repeat(200))),
            ..Making::clear("x = 1\n")
        });
        let screen = b.draw();
        let row = screen.lines().find(|l| l.contains("uid 1000")).unwrap();
        let (title, vouched) = row.rsplit_once("uid 1000").unwrap();
        assert!(title.ends_with("  "), "{columns}: {row}");
        assert!(!vouched.contains('x'), "{columns}: {row}");
        assert!(title.contains("notebook"), "{columns}: {row}");
        // A row of its own begins with whose words it has.
        let claim = screen.lines().find(|l| l.contains("uid 0")).unwrap();
        let own = claim.trim_start().starts_with("says: ");
        assert!(own || claim.contains("uid 1000"), "{columns}: {claim}");
    }
}

#[test]
fn the_name_of_an_agents_program_does_not_pass_for_the_kernels_word() {
    for exe in ["uid 0 · pid 1", ") uid 0 · pid 1 ("] {
        let mut b = Bench::new(120, 40);
        b.apply(Event::Connected {
            conn: crate::model::ConnId(1),
            peer: crate::model::Peer {
                uid: 1000,
                gid: 1000,
                pid: 4312,
                exe: Some(exe.to_owned()),
                gateway: None,
            },
        });
        b.propose(Making::clear("x = 1\n"));
        let screen = b.draw();
        let row = screen.lines().find(|l| l.contains("says: ")).unwrap();
        let vouched = row.split_once("uid 1000 · pid 4312 (").unwrap().1;
        assert!(vouched.trim_end().ends_with(')'), "{row}");
        assert_eq!(vouched.matches(['(', ')']).count(), 1, "{row}");
    }
}

#[test]
fn screens_without_a_search_say_so() {
    let mut b = ready();
    b.keys("3/");
    assert!(
        b.ui.prompt().is_none() && notice(&b) == "/ (search) works in the queue: press 1 first",
        "{}",
        notice(&b)
    );
    b.keys("1/");
    assert!(b.ui.prompt().is_some());
}

#[test]
fn a_refusal_by_the_core_is_shown_until_the_next_key() {
    let mut b = ready();
    b.open_sheet();
    b.keys("y");
    // The environment became unavailable between the key press and the core's handling of it.
    b.apply(Event::Environment(Environment::Making {
        step: "numpy".to_owned(),
        done: 1,
        total: 2,
    }));
    b.carry_out();
    assert!(
        notice(&b).contains("environment is not ready"),
        "{}",
        notice(&b)
    );
    b.apply(Event::Tick);
    assert!(notice(&b).contains("environment is not ready"));
    b.keys("w");
    let wraps = notice(&b);
    assert!(wraps.starts_with("long lines"), "{wraps}");
    b.apply(Event::Tick);
    assert_eq!(notice(&b), wraps, "the notice is shown once");
}

#[test]
fn every_notice_ends_with_the_next_key() {
    for keys in ["x", "N", "2d", "2a", "3x"] {
        let mut b = ready();
        b.keys(keys);
        assert_ne!(notice(&b), "", "{keys}");
        // A key without a meaning has its own.
        b.keys("Q");
        assert_eq!(notice(&b), "no key Q here; ? lists them", "{keys}");
    }
}

#[test]
fn sheet_ready() {
    at_sizes("sheet_ready", |b| {
        b.propose(Making::clear("print(len(df))\n"));
        b.open_sheet();
    });
}

#[test]
fn sheet_key_too_early() {
    at_sizes("sheet_key_too_early", |b| {
        b.propose(Making::clear("print(len(df))\n"));
        b.open_sheet();
        b.keys("jy");
    });
}

#[test]
fn sheet_without_focus() {
    at_sizes("sheet_without_focus", |b| {
        b.propose(Making::clear("print(len(df))\n"));
        b.open_sheet();
        b.input(&crossterm::event::Event::FocusLost);
    });
}

#[test]
fn sheet_wrong_digits() {
    at_sizes("sheet_wrong_digits", |b| {
        b.propose(Making::flagged());
        b.settle();
        b.keys("  ");
        b.draw();
        b.open_sheet();
        b.keys("0000");
        b.advance(250);
        b.press(KeyCode::Enter);
    });
}

#[test]
fn killing() {
    at_sizes("killing", |b| {
        b.propose(Making::clear("print(len(df))\n"));
        b.start();
        b.keys("x");
    });
}

/// No line below the headline contradicts it.
#[test]
fn audit_damaged() {
    at_sizes("audit_damaged", |b| {
        b.keys("2");
        b.ui.set_audit(AuditPage {
            damage: Some(
                "log/00000001.jsonl (seq 1): this segment is missing, and `lock` says that a log was begun"
                    .to_owned(),
            ),
            ..AuditPage::default()
        });
    });
}

#[test]
fn the_footer_offers_a_grant_exactly_when_its_key_works() {
    let read_two = || {
        let mut b = Bench::new(120, 40);
        for code in ["x = 1\n", "y[0]\n"] {
            let id = b.propose(Making::clear(code));
            b.choose(id);
        }
        b
    };
    // After another key, after the selection moved to code that was read, and after the key itself came too early.
    for before in ["t", "k", "ka"] {
        for ms in (0..=2_400).step_by(100) {
            let mut b = read_two();
            for key in before.chars() {
                b.keys(&key.to_string());
                b.press(KeyCode::Esc);
                if key == 'a' {
                    b.keys("a");
                }
                b.draw();
            }
            b.advance(ms);
            let text = b.draw();
            let offered = text.contains("a grant");
            assert!(
                offered || text.contains("a waits"),
                "{before} {ms}:\n{text}"
            );
            b.keys("a");
            assert_eq!(offered, b.ui.sheet().is_some(), "{before} {ms}:\n{text}");
        }
    }
}

#[test]
fn what_goes_on_after_a_decision_is_said_at_once() {
    let mut b = Bench::new(80, 24);
    let first = b.propose(Making::clear("x = 1\n"));
    let second = b.propose(Making::clear("y[0]\n"));
    b.choose(first);
    b.grant(first);
    let text = b.draw();
    assert!(text.contains("u next waiting"), "{text}");
    b.choose(second);
    b.keys("d");
    b.press(KeyCode::Enter);
    b.carry_out();
    assert_eq!(notice(&b), "denied; nothing waits");
    b.press(KeyCode::Tab);
    let text = b.draw();
    assert!(text.contains("nothing waits  "), "{text}");
}

#[test]
fn the_key_of_the_queue_lists_all_where_the_queue_is_a_line() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear("x = 1\n"));
    b.propose(Making::clear("y[0]\n"));
    b.settle();
    b.keys("1");
    let text = b.draw();
    assert!(
        text.contains("PENDING by arrival") && text.contains("▸●"),
        "{text}"
    );
    b.press(KeyCode::Esc);
    assert!(b.draw().contains("CODE"));
}
