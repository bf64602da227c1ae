//! Each key press changes the screen, does something, or gets a short answer: on all screens, for all keys.

use crossterm::event::{KeyCode, KeyModifiers};

use super::bench::*;
use super::ui::{Pane, Stand};
use super::{AuditPage, AuditRow, Background, Depth, TerminalCaps};
use crate::broker::ExecNote;
use crate::model::{Artifact, Digest, ProposalId, StreamName};

type Screen = (&'static str, fn(&mut Bench));

/// All keys of a keyboard, and some with Control.
fn keys() -> Vec<(KeyCode, KeyModifiers)> {
    let plain = |code| (code, KeyModifiers::NONE);
    let named = [
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::Tab,
        KeyCode::Backspace,
        KeyCode::Delete,
        KeyCode::Insert,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::F(1),
        KeyCode::F(12),
    ];
    let typed = (' '..='~').chain(['é', 'Ж', '€']).map(KeyCode::Char);
    let control = ['a', 'c', 'l', 'x', 'z'].map(|c| (KeyCode::Char(c), KeyModifiers::CONTROL));
    let shifted = [(KeyCode::BackTab, KeyModifiers::SHIFT)];
    let all = typed.chain(named).map(plain);
    all.chain(control).chain(shifted).collect()
}

fn clear(b: &mut Bench) {
    b.propose(Making::clear("print(len(df))\n"));
    b.settle();
}

fn long(b: &mut Bench) {
    b.propose(Making::clear(&lines(90)));
    b.settle();
}

fn two(b: &mut Bench) {
    clear(b);
    clear(b);
}

fn in_code(b: &mut Bench) {
    long(b);
    b.press(KeyCode::Enter);
}

fn pane(b: &mut Bench, pane: Pane) {
    long(b);
    b.focus_on(pane);
}

fn running(b: &mut Bench) -> ProposalId {
    clear(b);
    let id = b.start();
    b.output(id, StreamName::Stdout, "one\ntwo\n");
    id
}

fn ended(b: &mut Bench) {
    let id = running(b);
    let mut ended = run("one\ntwo\n");
    let file = |name: &str| Artifact {
        name: name.to_owned(),
        media_type: "text/csv".to_owned(),
        bytes: 12,
        sha256: Digest::of(name.as_bytes()).hex(),
    };
    ended.artifacts = vec![file("a.csv"), file("b.csv")];
    b.end(id, ended);
}

fn sheet(b: &mut Bench, making: Making) {
    b.propose(making);
    b.settle();
    b.open_sheet();
}

fn log(b: &mut Bench, rows: usize) {
    b.keys("2");
    let row = AuditRow {
        time: "2026-01-02 10:59:07".to_owned(),
        agent: "notebook".to_owned(),
        ..AuditRow::default()
    };
    b.ui.set_audit(AuditPage {
        rows: vec![row; rows],
        total: rows,
        ..AuditPage::default()
    });
}

fn record(b: &mut Bench) {
    log(b, 2);
    b.ui.set_audit(AuditPage {
        detail: Some(vec!["proposed".to_owned()]),
        ..AuditPage::default()
    });
}

/// The queue in its states, and its panes.
const QUEUE: [Screen; 18] = [
    ("empty", |_| {}),
    ("clear", clear),
    ("two", two),
    ("long, unread", long),
    ("flagged", |b| {
        b.propose(Making::flagged());
        b.settle();
    }),
    ("blocked", |b| {
        b.propose(Making::blocked());
        b.settle();
    }),
    ("in the code", in_code),
    ("not wrapped", |b| {
        in_code(b);
        b.keys("w");
    }),
    ("findings", |b| pane(b, Pane::Verdict)),
    ("given", |b| pane(b, Pane::Given)),
    ("details", |b| pane(b, Pane::Details)),
    ("zoomed", |b| {
        in_code(b);
        b.keys("z");
    }),
    ("zoomed list", |b| {
        two(b);
        b.keys("z");
    }),
    ("filtered", |b| {
        two(b);
        b.keys("frow");
        b.press(KeyCode::Enter);
    }),
    ("searched", |b| {
        in_code(b);
        b.keys("/x7 ");
        b.press(KeyCode::Enter);
    }),
    ("running", |b| {
        running(b);
    }),
    ("output", |b| {
        running(b);
        b.focus_on(Pane::Output);
    }),
    ("ended", ended),
];

/// What covers the queue, and the text fields.
const OVER: [Screen; 15] = [
    ("sheet", |b| sheet(b, Making::clear("print(len(df))\n"))),
    ("sheet, early", |b| {
        clear(b);
        b.keys("a");
    }),
    ("sheet, digits", |b| {
        sheet(b, Making::flagged());
        b.keys("4f");
    }),
    ("sheet, too many digits", |b| {
        sheet(b, Making::flagged());
        b.keys("4f1c4f1c");
    }),
    ("sheet, early digits", |b| {
        b.propose(Making::flagged());
        b.settle();
        b.read();
        b.keys("a");
    }),
    ("help", |b| {
        b.keys("?");
    }),
    ("palette", |b| {
        b.keys(":");
    }),
    ("palette, unknown", |b| {
        b.keys(":zzzz");
    }),
    ("themes", |b| {
        *b = Bench::with_caps(
            80,
            24,
            TerminalCaps {
                depth: Depth::True,
                background: Background::Dark,
            },
        );
        clear(b);
        b.keys("t");
    }),
    ("deny", |b| {
        clear(b);
        b.keys("dno");
    }),
    ("deny all", |b| {
        clear(b);
        b.keys("D");
    }),
    ("search", |b| {
        clear(b);
        b.keys("/x");
    }),
    ("filter", |b| {
        clear(b);
        b.keys("fx");
    }),
    ("open", |b| {
        ended(b);
        b.keys("o");
    }),
    ("quit", |b| {
        clear(b);
        b.keys("q");
    }),
];

/// The other screens.
const OTHERS: [Screen; 7] = [
    ("diff", |b| {
        let id = b.propose(Making::clear("x = 1\n"));
        b.grant(id);
        let id = b.propose(Making::clear("x = 2\n"));
        b.choose(id);
        b.keys("v");
        b.carry_out();
    }),
    ("log, being read", |b| {
        b.keys("2");
    }),
    ("log, empty", |b| log(b, 0)),
    ("log", |b| log(b, 2)),
    ("record", record),
    ("agents", |b| {
        clear(b);
        b.keys("3");
    }),
    ("policies", |b| {
        clear(b);
        b.keys("3");
        b.press(KeyCode::Tab);
    }),
];

fn frame(b: &mut Bench) -> (String, String) {
    let text = b.draw();
    (text, b.styled())
}

struct Made {
    b: Bench,
    frame: (String, String),
    stand: Stand,
    redraws: u64,
}

fn make(screen: fn(&mut Bench)) -> Made {
    let mut b = Bench::new(80, 24);
    screen(&mut b);
    b.draw();
    let frame = frame(&mut b);
    b.actions.clear();
    Made {
        stand: b.ui.stand(),
        redraws: b.ui.asked_anew,
        frame,
        b,
    }
}

/// Presses every key on every screen, and returns the presses that nothing on the screen answered.
fn unanswered(screens: &[Screen]) -> Vec<String> {
    let mut out = Vec::new();
    for (name, screen) in screens {
        let mut made = make(*screen);
        for (code, modifiers) in keys() {
            let done = made
                .b
                .code(code, modifiers, crossterm::event::KeyEventKind::Press);
            let redrawn = made.b.ui.asked_anew != made.redraws;
            let same = frame(&mut made.b) == made.frame;
            if done.is_empty() && !redrawn && same {
                out.push(format!("{name}: {code:?} {modifiers:?}"));
            }
            if !done.is_empty() || made.b.ui.stand() != made.stand {
                made = make(*screen);
            }
        }
    }
    out
}

#[test]
fn every_key_is_answered_in_the_queue() {
    assert_eq!(unanswered(&QUEUE), [""; 0]);
}

#[test]
fn every_key_is_answered_over_the_queue() {
    assert_eq!(unanswered(&OVER), [""; 0]);
}

#[test]
fn every_key_is_answered_on_the_other_screens() {
    assert_eq!(unanswered(&OTHERS), [""; 0]);
}

fn after(screen: fn(&mut Bench), keys: &str) -> String {
    let mut b = Bench::new(80, 24);
    screen(&mut b);
    b.draw();
    b.keys(keys);
    notice(&b)
}

#[test]
fn a_key_that_works_elsewhere_says_where() {
    let of_sheet: fn(&mut Bench) = |b| sheet(b, Making::clear("print(len(df))\n"));
    for (screen, keys, said) in [
        (
            clear as fn(&mut Bench),
            "y",
            "y confirms on the sheet: press a first",
        ),
        (clear, "é", "no key é here; ? lists them"),
        (clear, "u", "the next waiting one is selected"),
        (clear, "w", "long lines are cut; ← and → scroll them"),
        (clear, "ww", "long lines wrap"),
        (
            of_sheet,
            "d",
            "d (deny) works outside the sheet: press Esc first",
        ),
        (of_sheet, "é", "no key é here; Esc goes back"),
        (record, "a", "a (grant) works in the queue: press 1 first"),
        (record, "y", "y confirms on the sheet: press 1 a first"),
        (
            |b| sheet(b, Making::flagged()),
            "4x",
            "x is not taken: only 0–9 and a–f, then Enter",
        ),
        (
            |b| sheet(b, Making::flagged()),
            "x",
            "x (kill) works outside the sheet: press Esc first",
        ),
        (
            |b| sheet(b, Making::flagged()),
            "y",
            "y is not taken: the first one is 0–9",
        ),
        (
            |b| {
                record(b);
                b.keys("?");
            },
            "a",
            "a (grant) works in the queue: press Esc 1 first",
        ),
    ] {
        assert_eq!(after(screen, keys), said, "{keys}");
    }
}

/// The key belongs to this sheet, which still has rows to be seen.
#[test]
fn a_confirmation_of_a_sheet_that_was_not_seen_says_what_is_missing() {
    let mut b = Bench::new(80, 14);
    clear(&mut b);
    b.keys("a");
    b.draw();
    b.advance(2_000);
    b.draw();
    b.keys("y");
    let text = b.draw();
    assert!(text.contains("not yet · rows "), "{text}");
    assert!(grants(&b).is_empty());
}

#[test]
fn a_second_p_goes_back_to_the_code() {
    let mut b = Bench::new(120, 40);
    clear(&mut b);
    b.keys("p");
    assert_eq!(b.ui.queue.focus, Pane::Given);
    b.keys("p");
    assert_eq!(b.ui.queue.focus, Pane::Code);
}

#[test]
fn keys_typed_ahead_of_a_decision_leave_one_notice() {
    let mut b = Bench::new(80, 24);
    clear(&mut b);
    b.open_sheet();
    b.keys("y");
    b.carry_out();
    b.keys("yyyyé");
    assert_eq!(notice(&b), "no key é here; ? lists them");
    assert_eq!(grants(&b).len(), 0);
    let text = b.draw();
    assert_eq!(text.matches("no key").count(), 1, "{text}");
}

#[test]
fn a_command_that_does_not_exist_names_the_nearest_and_stays_to_be_mended() {
    let mut b = Bench::new(80, 24);
    clear(&mut b);
    b.keys(":gramt!");
    b.press(KeyCode::Enter);
    assert!(
        notice(&b).starts_with("no command \"gramt!\"; nearest: grant"),
        "{}",
        notice(&b)
    );
    assert!(b.draw().contains("nearest: grant"));
    b.keys("d");
    assert!(
        b.ui.prompt().is_none(),
        "a letter typed behind it is no command"
    );
    let mut b = Bench::new(80, 24);
    clear(&mut b);
    b.keys(":verify");
    b.press(KeyCode::Enter);
    assert_eq!(notice(&b), "in a shell: countersign audit verify");
}

/// Letters typed quickly, of a word that is no command: they stand in the description of one.
#[test]
fn enter_runs_no_command_of_another_name_before_it_named_it() {
    let mut b = Bench::new(80, 24);
    clear(&mut b);
    for typed in [":hist", ":"] {
        b.keys(typed);
        b.press(KeyCode::Enter);
        b.carry_out();
        assert!(notice(&b).contains("Enter again: "), "{}", notice(&b));
        assert!(b.draw().contains("Enter again: "));
        assert!(b.ui.prompt().is_none() && b.state.pauses().is_empty());
        b.press(KeyCode::Esc);
    }
    // A second Enter, the beginning of a name or of a word of it, and an arrow choose.
    for typed in [":plcs", ":pol", ":next-f"] {
        b.keys(typed);
        b.press(KeyCode::Enter);
        if notice(&b).contains("Enter again: ") {
            assert_eq!(typed, ":plcs");
            b.press(KeyCode::Enter);
        }
        assert!(!b.draw().contains("Enter again"), "{typed}");
        b.keys("1");
    }
}

#[test]
fn a_command_chosen_by_name_says_where_it_works_too() {
    let mut b = Bench::new(80, 24);
    record(&mut b);
    b.keys(":");
    b.keys("zoom");
    b.press(KeyCode::Enter);
    assert_eq!(notice(&b), "z (zoom) works in the queue: press 1 first");
}

/// A held key is one press.
#[test]
fn a_repeat_that_counts_for_nothing_keeps_the_answer() {
    let mut b = Bench::new(80, 24);
    clear(&mut b);
    b.keys("y");
    b.code(
        KeyCode::Char('y'),
        KeyModifiers::NONE,
        crossterm::event::KeyEventKind::Repeat,
    );
    assert!(notice(&b).starts_with("y confirms"));
}

#[test]
fn the_run_of_a_proposal_answers_too() {
    let mut b = Bench::new(80, 24);
    let id = running(&mut b);
    b.exec(
        id,
        ExecNote::Output {
            stream: StreamName::Stdout,
            text: "three\n".to_owned(),
        },
    );
    b.keys("y");
    assert!(b.draw().contains("y confirms on the sheet"));
}
