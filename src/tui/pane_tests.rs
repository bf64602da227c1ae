//! The panes below the code: their contents, and a pane that fills the whole body.

use crossterm::event::KeyCode;

use crate::model::{Action as Does, Finding, Severity, StreamName};

use super::bench::*;
use super::snapshot_tests::{SIZES, at_sizes};
use super::ui;

/// A note whose rule asks for no change has no hint; another finding has one when it is at hand, and in the details.
#[test]
fn no_remedy_is_shown_where_there_is_nothing_to_do() {
    let mut b = Bench::new(120, 40);
    let mut note = finding(2, "FS001", Severity::Info, Does::Note);
    note.hint = Finding::NO_REMEDY.to_owned();
    let kept = finding(3, "DYN003", Severity::Medium, Does::Flag);
    b.propose(Making {
        findings: vec![note, kept],
        ..Making::flagged()
    });
    let text = b.settle();
    assert!(text.contains("FS001") && text.contains("DYN003"), "{text}");
    assert!(!text.contains("nothing to do"), "{text}");
    assert!(!text.contains("hint"), "the agent gets it: {text}");
    let hints: Vec<usize> = (0..6)
        .map(|_| {
            b.keys("]");
            b.draw().matches("hint:").count()
        })
        .collect();
    assert!(
        hints.contains(&1) && hints.iter().all(|n| *n <= 1),
        "{hints:?}"
    );
    b.keys("iz");
    let text = b.draw();
    assert_eq!(text.matches("\n hint ").count(), 1, "{text}");
    // The constant must match the rules' own hint.
    let mut rules = crate::analysis::rules::all();
    assert!(rules.any(|rule| rule.hint == Finding::NO_REMEDY));
}

#[test]
fn the_trace_that_an_agent_names_stands_in_the_details_as_its_claim() {
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    for named in [Some(trace), None] {
        let mut b = Bench::new(120, 40);
        b.propose(Making {
            traceparent: named.map(str::to_owned),
            ..Making::clear("1")
        });
        b.settle();
        b.keys("iz");
        let text = b.draw();

        assert_eq!(text.contains(trace), named.is_some(), "{text}");
    }
}

#[test]
fn notes_of_one_rule_share_a_row_until_one_is_stepped_to() {
    let mut b = Bench::new(80, 24);
    let note = |line| finding(line, "FS001", Severity::Info, Does::Note);
    b.propose(Making {
        findings: vec![note(1), note(2), note(4)],
        ..Making::flagged()
    });
    let text = b.settle();
    assert_eq!(text.matches("FS001").count(), 1, "{text}");
    assert!(text.contains("note, lines 1, 2, 4"), "{text}");
    b.keys("]");
    let text = b.draw();
    assert!(text.contains("note, lines 2, 4"), "{text}");
    assert!(text.contains("· 1:"), "{text}");
}

#[test]
fn a_with_nothing_selected_says_so() {
    let mut b = Bench::new(80, 24);
    b.draw();
    b.keys("a");
    assert_eq!(notice(&b), super::words::NOTHING_SELECTED);
}

/// A run with more output than its pane below the code can show.
fn run_with_much_output(b: &mut Bench) {
    b.propose(Making::clear("print(df.to_string())\n"));
    b.settle();
    let id = b.start();
    let rows: String = (1..=60).map(|i| format!("row {i}\n")).collect();
    b.output(id, StreamName::Stdout, &rows);
    b.end(id, run(&rows));
}

#[test]
fn output_zoomed() {
    at_sizes("output_zoomed", |b| {
        run_with_much_output(b);
        b.focus_on(ui::Pane::Output);
        b.keys("z");
    });
}

#[test]
fn z_gives_the_focused_pane_the_body_and_z_esc_or_tab_gives_it_back() {
    for back in [KeyCode::Char('z'), KeyCode::Esc, KeyCode::Tab] {
        let mut b = Bench::new(80, 24);
        b.propose(Making::clear("print(len(df))\n"));
        b.settle();
        let id = b.start();
        let rows = lines(60);
        b.output(id, StreamName::Stdout, &rows);
        b.end(id, run(&rows));
        b.focus_on(ui::Pane::Output);
        let small = b.draw().matches(" = ").count();
        b.keys("z");
        let text = b.draw();
        assert!(text.matches(" = ").count() > small, "{text}");
        assert!(!text.contains("CODE"), "{text}");
        // The code still scrolls.
        b.keys("gg");
        assert!(b.draw().contains("x1 = 1"));
        b.press(KeyCode::PageDown);
        assert!(!b.draw().contains("x1 = 1"));
        b.press(back);
        let text = b.draw();
        assert!(text.contains("CODE") && text.contains("OUTPUT"), "{text}");
    }
}

#[test]
fn a_larger_pane_shows_no_code_and_makes_none_of_it_seen() {
    for pane in [
        ui::Pane::Verdict,
        ui::Pane::Can,
        ui::Pane::Given,
        ui::Pane::Details,
        ui::Pane::Says,
    ] {
        let mut b = Bench::new(80, 24);
        b.propose(Making::clear(&lines(80)));
        b.draw();
        b.focus_on(pane);
        b.keys("z");
        b.draw();
        let before = b.ui.looked(b.ui.selected().unwrap()).unwrap().seen.clone();
        b.look();
        b.advance(5_000);
        b.look();
        let looked = b.ui.looked(b.ui.selected().unwrap()).unwrap();
        assert_eq!(looked.seen, before);
        b.keys("a");
        assert!(b.ui.sheet().is_none());
        assert!(
            notice(&b).ends_with("not seen; Space goes there"),
            "{}",
            notice(&b)
        );
        // The code is visible again, and viewing it counts as usual.
        b.keys(" ");
        assert!(b.look().contains("CODE"));
        b.advance(2_000);
        b.keys("a");
        assert!(notice(&b).ends_with("–80 not seen; Space goes there"));
    }
}

/// Which tab is open shows without colours too, whether or not the focus is on it, and also where not all have room.
#[test]
fn the_open_tab_has_a_mark_of_its_own() {
    for (columns, rows) in SIZES {
        let mut b = Bench::new(columns, rows);
        b.propose(Making::flagged());
        b.settle();
        for (pane, tab) in [
            (ui::Pane::Verdict, "[FINDINGS]"),
            (ui::Pane::Can, "[CAN]"),
            (ui::Pane::Given, "[GIVEN]"),
            (ui::Pane::Details, "[DETAILS]"),
            (ui::Pane::Says, "[SAYS]"),
        ] {
            b.focus_on(pane);
            let text = b.draw();
            assert!(text.contains(tab), "{columns}x{rows} {tab}:\n{text}");
        }
        b.focus_on(ui::Pane::Can);
        b.press(KeyCode::Esc);
        let text = b.draw();
        let gone = columns == 40;
        assert_eq!(!text.contains("[CAN]"), gone, "{columns}x{rows}:\n{text}");
    }
}

/// At the narrowest, the time left and every mark have their room.
#[test]
fn the_folded_line_never_loses_the_deadline() {
    for columns in 40..100 {
        let mut b = Bench::new(columns, 10);
        for number in [1, 2] {
            b.propose(Making {
                private: true,
                agent: Some("forecaster-of-very-long-names"),
                ttl_s: 3_599,
                code: format!("print({number})\n"),
                ..Making::flagged()
            });
        }
        b.settle();
        b.keys("D");
        b.press(KeyCode::Tab);
        b.carry_out();
        b.settle();
        let text = b.draw();
        let line = text.lines().nth(1).unwrap();
        for part in ["59:5", "+1", "PAUSED", "PRIV", "X"] {
            assert!(line.contains(part), "{columns} {part}:\n{text}");
        }
    }
}
