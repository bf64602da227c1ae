//! The rules of the screen hold in plain lines, and what is said is whole lines of visible characters.

use std::time::Duration;

use crossterm::event::{Event as Input, KeyCode};

use crate::broker::ExecNote;
use crate::model::StreamName;

use super::super::bench::*;
use super::super::ui::{DWELL, GRACE, QUIET, SHEET_GRACE};
use super::*;

mod elsewhere;
mod exact;
mod gaps;
mod given;
mod heard;
mod hostile;
mod output;
mod secrets;
mod sheet;
mod signs;
mod told;

/// A bench with the front end in plain lines.
struct Voice {
    b: Bench,
    plain: Plain,
    columns: u16,
    /// Everything that was said.
    all: String,
}

impl Voice {
    /// Reads the selected clear proposal, grants it, and starts its run.
    fn start(&mut self) -> ProposalId {
        self.wait(600);
        self.read();
        self.ask();
        let id = self.b.ui.selected().unwrap();
        self.keys("y");
        self.b.carry_out();
        self.b.exec(id, ExecNote::Prepared(isolation()));
        self.b.exec(id, ExecNote::Released);
        id
    }

    fn new() -> Self {
        let mut b = Bench::new(80, 24);
        b.ui = std::mem::replace(&mut b.ui, Bench::new(80, 24).ui).spoken();
        Self {
            b,
            plain: Plain::default(),
            columns: 100,
            all: String::new(),
        }
    }

    fn of(making: Making) -> Self {
        let mut voice = Self::new();
        voice.b.propose(making);
        voice.speak();
        voice
    }

    /// Says what is to be said now.
    fn speak(&mut self) -> String {
        for event in std::mem::take(&mut self.b.events) {
            self.plain.hear(&event);
        }
        let b = &mut self.b;
        b.ui.count(b.now);
        b.ui.sync(&b.state, b.now);
        if let Some(search) = b.ui.wants_search() {
            search.run();
        }
        let (text, drawn) = self
            .plain
            .speak(&b.state, &b.ui, &b.facts, self.columns, b.now);
        b.ui.drawn(&b.state, drawn, b.now);
        self.all.push_str(&text);
        text.replace("\r\n", "\n")
    }

    /// Lets time pass in steps in which the front end may speak.
    fn wait(&mut self, ms: u64) -> String {
        let mut said = String::new();
        for _ in 0..ms.div_ceil(25) {
            self.b.advance(25);
            said.push_str(&self.speak());
        }
        said
    }

    fn key(&mut self, code: KeyCode) -> String {
        self.b.press(code);
        self.speak()
    }

    fn keys(&mut self, keys: &str) -> String {
        keys.chars().map(|c| self.key(KeyCode::Char(c))).collect()
    }

    /// Hears all of the selected proposal.
    fn read(&mut self) -> String {
        let mut said = String::new();
        for _ in 0..200 {
            let page = self.keys(" ");
            said.push_str(&page);
            said.push_str(&self.wait(5_000));
            if page.contains("asks to grant") {
                return said;
            }
        }
        panic!("never read to the end: {said}");
    }

    /// Opens the sheet and hears it to its question.
    fn ask(&mut self) -> String {
        self.wait(2_500);
        let mut said = self.keys("a");
        for _ in 0..20 {
            said.push_str(&self.wait(5_000));
            if said.contains(" to grant; ") {
                return said;
            }
            said.push_str(&self.keys(" "));
        }
        panic!("no question: {said}");
    }
}

const CODE: &str = "total = df[\"a\"].sum()\nprint(total)\n";

#[test]
fn a_clear_proposal_is_granted_by_space_a_and_y() {
    let mut v = Voice::of(Making::clear(CODE));
    v.wait(600);
    assert!(v.read().contains("2: print(total)\n"));
    let sheet = v.ask();
    assert!(sheet.contains("GRANT? clear"), "{sheet}");
    assert!(grants(&v.b).is_empty());
    v.keys("y");
    assert_eq!(grants(&v.b).len(), 1);
    assert_eq!(grants(&v.b)[0].viewed.lines_seen, 2);
}

#[test]
fn a_key_before_the_question_was_read_out_never_grants() {
    for early in (0..8_000).step_by(100) {
        let mut v = Voice::of(Making::clear(CODE));
        v.wait(600);
        v.read();
        v.keys("a");
        let before = v.wait(early);
        let asked = before.contains("Press y to grant");
        let answer = v.keys("y");
        if !grants(&v.b).is_empty() {
            assert!(asked, "{early} ms");
            return;
        }
        assert!(!answer.is_empty(), "{early} ms");
    }
    panic!("the question never came");
}

#[test]
fn nothing_is_granted_before_each_row_had_its_time() {
    let mut v = Voice::of(Making::clear(&lines(30)));
    v.wait(600);
    for _ in 0..10 {
        v.keys(" ");
        v.wait(100);
    }
    let answer = v.keys("a");
    assert!(v.b.ui.sheet().is_none());
    assert!(answer.contains("not seen"), "{answer}");
    v.read();
    v.keys("a");
    assert!(v.b.ui.sheet().is_some());
}

#[test]
fn rows_count_one_after_the_other_and_not_all_at_once() {
    let mut v = Voice::of(Making::clear(&lines(10)));
    v.wait(600);
    v.keys(" ");
    let introduced = v.plain.page.as_ref().unwrap().due().unwrap();
    let introduced = introduced.saturating_sub(v.b.now.boot);
    v.wait(introduced.as_millis() as u64 + 10 * DWELL.as_millis() as u64 - 50);
    assert!(
        v.b.ui
            .obstacle(&v.b.state, v.b.now)
            .unwrap()
            .contains("line 10 not seen")
    );
    v.wait(2 * DWELL.as_millis() as u64);
    assert_eq!(v.b.ui.obstacle(&v.b.state, v.b.now), None);
}

#[test]
fn typed_ahead_and_pasted_lines_grant_nothing() {
    let mut v = Voice::new();
    v.keys(" ay");
    v.b.propose(Making::clear(CODE));
    v.keys(" ayay");
    v.wait(600);
    v.read();
    let together = super::super::Span {
        alone: false,
        ..super::super::Span::at(v.b.now.boot)
    };
    v.b.typed("grant\ny\n", together);
    v.speak();
    assert!(v.b.ui.sheet().is_none());
    v.b.input(&Input::Paste("ay".to_owned()));
    v.wait(1_000);
    v.ask();
    let together = super::super::Span {
        alone: false,
        ..super::super::Span::at(v.b.now.boot)
    };
    v.b.typed("y", together);
    v.b.input(&Input::Paste("y\n".to_owned()));
    v.wait(1_000);
    assert!(grants(&v.b).is_empty());
    assert!(v.b.ui.sheet().is_some());
}

#[test]
fn a_flagged_proposal_takes_its_digits_and_echoes_them() {
    let mut v = Voice::of(Making::flagged());
    v.wait(600);
    let said = v.read();
    assert!(
        said.contains("verdict flagged, 1 finding:\nline 3: DYN003"),
        "{said}"
    );
    assert!(said.contains("\n3, medium finding"), "{said}");
    let sheet = v.ask();
    assert!(
        sheet.contains("Type 4f1c, that is 4 f 1 c, then Enter, to grant"),
        "{sheet}"
    );
    v.keys("y");
    assert_eq!(v.keys("4f1"), "4f1");
    v.wait(300);
    assert!(v.key(KeyCode::Enter).contains("wrong characters"));
    assert_eq!(v.keys("4f1c"), "4f1c");
    v.wait(QUIET.as_millis() as u64);
    v.key(KeyCode::Enter);
    assert_eq!(grants(&v.b).len(), 1);
}

#[test]
fn whoever_is_too_fast_hears_why_and_what_to_do() {
    let mut v = Voice::of(Making {
        code: (0..40)
            .map(|i| format!("x{i} = a{i} + b{i} + c{i} + d{i} + e{i}\n"))
            .collect::<String>(),
        ttl_s: 1_800,
        ..Making::flagged()
    });
    v.wait(600);
    v.read();
    v.ask();
    v.keys("4f1c");
    v.wait(300);
    let said = v.key(KeyCode::Enter);
    assert!(
        said.contains("Read on, then Enter again, after 2 s\n4f1c stays typed; Enter again grants"),
        "{said}"
    );
    assert!(grants(&v.b).is_empty());
    v.wait(600);
    v.key(KeyCode::Enter);
    assert!(grants(&v.b).is_empty(), "too early");
    v.wait(2_000);
    v.key(KeyCode::Enter);
    assert!(grants(&v.b)[0].viewed.asked_again);
}

#[test]
fn a_denial_echoes_its_reason_and_goes_on_to_the_next() {
    let mut v = Voice::of(Making::clear(CODE));
    let next = v.b.propose(Making {
        title: Some("another".to_owned()),
        ..Making::clear(CODE)
    });
    v.speak();
    assert!(
        v.keys("d")
            .starts_with("deny, reason for notebook: Enter sends, Esc goes back.\n")
    );
    assert_eq!(v.keys("not toy"), "not toy");
    v.key(KeyCode::Backspace);
    v.keys("day");
    assert_eq!(v.wait(600), "\nnot today");
    v.key(KeyCode::Enter);
    v.b.carry_out();
    let said = v.speak();
    assert!(
        said.contains("Denied: agent notebook says: row count\n"),
        "{said}"
    );
    assert!(said.contains("1 of 1, clear"), "{said}");
    assert_eq!(v.b.ui.selected(), Some(next));
    let reason =
        v.b.state
            .decided()
            .next()
            .unwrap()
            .decision()
            .unwrap()
            .reason
            .clone();
    assert_eq!(reason.as_deref(), Some("not today"));
}

#[test]
fn news_wait_for_a_pause_and_are_whole_lines() {
    let mut v = Voice::of(Making::clear(&lines(30)));
    v.wait(3_000);
    v.keys(" ");
    v.b.propose(Making::clear(CODE));
    // In the middle of a text they wait long.
    assert_eq!(v.wait(10_000), "");
    assert!(v.keys(" ").contains("1 piece of news waits, 1 tells it."));
    v.keys("d");
    assert_eq!(v.wait(60_000), "");
    v.key(KeyCode::Esc);
    let said = v.wait(20_000);
    assert!(said.starts_with("New: 2 of 2, clear"), "{said}");
    for _ in 0..9 {
        v.b.propose(Making::clear(CODE));
    }
    let said = v.keys("1");
    assert!(
        said.starts_with("9 new proposals; 1 lists what waits.\nselected, 1 of 2"),
        "{said}"
    );
}

#[test]
fn the_last_minute_and_the_end_of_the_selected_proposal_are_told() {
    let mut v = Voice::of(Making::clear(CODE));
    let told: String = (0..129)
        .map(|_| {
            v.b.tick(1_000);
            v.speak()
        })
        .collect();
    assert!(!told.contains("Only"), "{told}");
    v.b.tick(1_000);
    let told = v.speak();
    assert!(
        told.contains("Only 59 seconds left") || told.contains("Only 60 seconds left"),
        "{told}"
    );
    let mut told = String::new();
    for _ in 0..70 {
        v.b.tick(1_000);
        told.push_str(&v.speak());
    }
    assert_eq!(
        told,
        "Only 10 seconds left for the selected proposal, agent notebook says: row count\n\
         Expired: agent notebook says: row count\n"
    );
}

#[test]
fn a_sheet_that_closes_by_itself_says_why() {
    let mut v = Voice::of(Making::clear(CODE));
    v.wait(600);
    v.read();
    v.ask();
    v.b.tick(200_000);
    let said = v.speak();
    assert!(said.contains("already expired"), "{said}");
}

#[test]
fn output_streams_in_lines_at_a_pace_and_the_end_is_told() {
    let mut v = Voice::of(Making::clear(CODE));
    let id = v.start();
    let said = v.speak();
    assert!(said.contains("Granted"), "{said}");
    v.b.output(id, StreamName::Stdout, "one\ntw");
    assert_eq!(v.speak(), "out: one\n");
    v.b.output(id, StreamName::Stderr, "10%\r20%\x1b[2J\n");
    v.b.output(id, StreamName::Stdout, "o\n");
    assert_eq!(v.speak(), "err: 20%\\u{001B}[2J\nout: two\n");
    v.b.output(id, StreamName::Stdout, &lines(500));
    v.wait(50);
    let said = v.wait(2_000);
    assert!(v.all.matches("out: x").count() <= 20, "{}", v.all);
    assert!(
        said.contains("lines not read out; OUTPUT has them\n"),
        "{said}"
    );
    v.b.end(id, run("one\ntwo\n"));
    let said = v.speak();
    assert!(
        said.starts_with("succeeded\n") && said.contains("exit code 0, after 41 ms"),
        "{said}"
    );
}

#[test]
fn hidden_values_of_an_output_are_counted() {
    let mut v = Voice::of(Making::clear(CODE));
    let id = v.start();
    v.b.end(
        id,
        run("[REDACTED] and [REDACTED]\none [REDACTED]\n[REDACTED] hidden [REDACTED]\n"),
    );
    let said = v.speak();
    let rows = "out, 2 hidden: hidden and hidden\nout: one [REDACTED]\nout: [REDACTED] hidden [REDACTED]\n";
    assert!(said.contains(&format!("{rows}5 values redacted")), "{said}");
    while !v.key(KeyCode::Tab).starts_with("OUTPUT") {}
    assert!(
        v.key(KeyCode::Home).contains(rows)
            || v.all.replace("\r\n", "\n").matches(rows).count() == 2
    );
}

#[test]
fn edited_code_is_read_out_anew_and_counts_anew() {
    let mut v = Voice::of(Making::clear(CODE));
    let id = v.b.ui.selected().unwrap();
    v.wait(600);
    v.read();
    v.b.edit(id, &Making::clear("total = 2\nprint(total)\n"));
    v.wait(3_000);
    assert!(v.keys("a").contains("not seen"));
    let said = v.read();
    assert!(said.contains("1: total = 2\n2: print(total)\n"), "{said}");
    assert!(v.keys("k").contains("edited by you"), "{}", v.all);
    v.ask();
    v.keys("y");
    assert_eq!(grants(&v.b).len(), 1);
}

#[test]
fn every_key_is_answered() {
    for key in "jkGuspi[]dDx23:?/nNtwzm vb".chars() {
        let mut v = Voice::of(Making::flagged());
        v.wait(3_000);
        assert_ne!(v.keys(&key.to_string()), "", "{key}");
    }
    for code in [
        KeyCode::Enter,
        KeyCode::Tab,
        KeyCode::Esc,
        KeyCode::PageDown,
        KeyCode::Home,
    ] {
        let mut v = Voice::of(Making::flagged());
        v.wait(3_000);
        assert_ne!(v.key(code), "", "{code:?}");
    }
}

#[test]
fn enter_goes_into_the_code_and_goes_line_by_line() {
    let mut v = Voice::of(Making::clear("for a in df:\n    print(a)\nx = 1\n"));
    v.wait(600);
    assert!(
        v.key(KeyCode::Enter)
            .contains("\n2, indent 4: print(a)\n3: x = 1\nEnd of the code.")
    );
    assert_eq!(v.keys("k"), "2, indent 4: print(a)\n");
    assert_eq!(v.keys("k"), "1: for a in df:\n");
    assert_eq!(v.keys("j"), "2, indent 4: print(a)\n");
    assert!(v.key(KeyCode::Esc).starts_with("1 of 1, clear"));
    v.keys("/x =");
    assert!(v.key(KeyCode::Enter).contains("not found") || v.all.contains("3: x = 1"));
}

#[test]
fn a_whole_session() {
    let mut v = Voice::new();
    v.speak();
    v.b.propose(Making::more_than_it_says());
    v.wait(600);
    v.read();
    v.keys("]");
    v.key(KeyCode::Tab);
    v.key(KeyCode::Tab);
    v.key(KeyCode::Esc);
    v.keys("?");
    v.key(KeyCode::Esc);
    v.keys(":kil");
    v.wait(1_000);
    v.key(KeyCode::Enter);
    v.ask();
    v.key(KeyCode::Esc);
    v.keys("q");
    v.keys("n");
    v.keys("dno");
    v.key(KeyCode::Enter);
    v.b.carry_out();
    v.wait(3_000);
    v.keys("j");
    insta::assert_snapshot!(v.all.replace("\r\n", "\n"));
}

#[test]
fn the_graces_are_those_of_the_screen() {
    assert_eq!(
        (GRACE, SHEET_GRACE),
        (Duration::from_millis(500), Duration::from_millis(300))
    );
    let mut v = Voice::of(Making::clear(CODE));
    // Read out within the grace: it counts from the grace's end.
    v.keys(" ");
    v.wait(400);
    assert!(v.keys("a").contains("not seen"));
}
