//! Not seen, not granted; and nothing untrusted is drawn raw (invariants 4 and 5).

use crossterm::event::{Event as Input, KeyCode};

use super::bench::*;

#[test]
fn lines_that_were_not_drawn_cannot_be_granted_and_the_footer_says_which() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear(&lines(80)));
    let text = b.settle();
    assert!(text.contains("lines 12–80 not seen"), "{text}");
    b.keys("a");
    assert!(b.ui.sheet.is_none());
    assert_eq!(notice(&b), "lines 12–80 not seen");
    // The end alone is not enough.
    b.press(KeyCode::Enter);
    b.keys("G");
    b.draw();
    b.advance(200);
    b.keys("a");
    assert_eq!(notice(&b), "lines 12–69 not seen");
    b.keys("gg");
    for _ in 0..9 {
        b.draw();
        b.keys(" ");
    }
    b.draw();
    b.advance(200);
    b.keys("a");
    assert!(b.ui.sheet.is_some(), "{}", notice(&b));
}

#[test]
fn space_pages_the_code_from_any_pane() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear(&lines(80)));
    b.settle();
    for _ in 0..5 {
        b.press(KeyCode::Tab);
        b.draw();
        b.keys(" ");
    }
    let text = b.draw();
    assert!(text.contains("x51 = 51"), "{text}");
}

#[test]
fn pages_drawn_but_skipped_in_one_frame_are_not_seen() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear(&lines(80)));
    b.settle();
    // Ten pages between two frames: only what a frame showed counts.
    b.keys("          ");
    b.draw();
    b.keys("a");
    assert_eq!(notice(&b), "lines 12–69 not seen");
}

#[test]
fn what_was_drawn_in_the_grace_counts_when_it_is_over() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear(&lines(33)));
    for _ in 0..5 {
        b.draw();
        b.keys(" ");
        b.advance(99);
    }
    b.draw();
    b.keys("a");
    assert!(
        b.ui.sheet.is_none(),
        "nothing counts before the grace is over"
    );
    b.advance(105);
    b.draw();
    b.keys("a");
    assert!(b.ui.sheet.is_some());
}

#[test]
fn seen_lines_stay_seen_when_moving_away_and_back() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear(&lines(20)));
    b.propose(Making::clear("x = 1\n"));
    b.settle();
    b.keys(" ");
    b.settle();
    b.keys("j");
    b.settle();
    b.keys("k");
    let text = b.settle();
    assert!(text.contains("20/20"), "{text}");
    b.keys("a");
    assert!(b.ui.sheet.is_some());
}

#[test]
fn with_wrapping_off_columns_off_the_screen_are_unseen() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear("y = 1\n"));
    b.propose(Making::clear(&format!("x = '{}'\n", "a".repeat(200))));
    b.keys("w");
    b.keys("j");
    b.settle();
    b.keys("a");
    assert_eq!(notice(&b), "line 1 not seen");
    b.press(KeyCode::Enter);
    for _ in 0..20 {
        b.press(KeyCode::Right);
        b.draw();
    }
    b.advance(200);
    b.keys("a");
    assert!(b.ui.sheet.is_some(), "{}", notice(&b));
}

#[test]
fn all_rows_of_a_very_long_line_must_be_seen() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear(&format!("x = '{}'", "a".repeat(60_000))));
    let text = b.settle();
    assert!(text.contains("line 1 not seen"), "{text}");
    let mut pages = 0;
    while b.draw().contains("not seen") {
        b.keys(" ");
        pages += 1;
        assert!(pages < 200);
    }
    assert!(pages > 60, "{pages}");
    b.keys("a");
    assert!(b.ui.sheet.is_some());
}

#[test]
fn what_the_agent_brought_must_be_seen_too() {
    let mut b = Bench::new(80, 24);
    b.propose(Making {
        brought: vec![("rows", lines(40))],
        ..Making::clear("print(rows)\n")
    });
    let text = b.settle();
    assert!(text.contains("input rows: lines 10–40 not seen"), "{text}");
    b.keys("a");
    assert!(b.ui.sheet.is_none());
}

#[test]
fn a_sheet_longer_than_the_screen_takes_nothing_until_all_of_it_was_shown() {
    let mut b = Bench::new(80, 24);
    let findings = (0..30)
        .map(|i| {
            finding(
                i + 1,
                "DYN003",
                crate::model::Severity::Medium,
                crate::model::Action::Flag,
            )
        })
        .collect();
    b.propose(Making {
        findings,
        ..Making::flagged()
    });
    b.settle();
    b.keys(" ");
    b.draw();
    b.keys("a");
    b.draw();
    b.advance(300);
    b.keys("4f1c");
    b.press(KeyCode::Enter);
    assert!(grants(&b).is_empty() && b.ui.sheet.is_some());
    assert!(notice(&b).contains("not seen"), "{}", notice(&b));
    // Jumping to the end skips findings: they must have been on the screen as well.
    b.keys("G");
    b.draw();
    b.keys("4f1c");
    b.press(KeyCode::Enter);
    assert!(grants(&b).is_empty());
    b.keys("gg");
    for _ in 0..10 {
        b.draw();
        b.keys(" ");
    }
    b.draw();
    b.keys("4f1c");
    b.press(KeyCode::Enter);
    assert_eq!(grants(&b).len(), 1);
    assert_eq!(grants(&b)[0].viewed.findings_shown, 30);
}

#[test]
fn on_a_terminal_too_small_nothing_is_seen_and_nothing_granted() {
    let mut b = Bench::new(20, 5);
    b.propose(Making::clear("x = 1\n"));
    b.settle();
    b.keys("a");
    assert!(b.ui.sheet.is_none());
    // A sheet that was open before it shrank takes nothing either.
    b.size = (120, 40);
    b.advance(200);
    b.open_sheet();
    b.size = (20, 5);
    b.draw();
    b.advance(1000);
    b.keys("y");
    assert!(grants(&b).is_empty());
}

#[test]
fn what_was_looked_at_is_recorded() {
    let mut b = Bench::new(120, 40);
    b.propose(Making::clear(&lines(3)));
    b.settle();
    b.input(&Input::FocusLost);
    b.advance(2_000);
    b.input(&Input::FocusGained);
    b.open_sheet();
    b.keys("y");
    let viewed = grants(&b)[0].viewed;
    assert_eq!(viewed.lines_seen, 3);
    assert_eq!(viewed.selected_ms, 500 + 2_000 + 500 + 300);
    assert_eq!(viewed.focused_ms, Some(500 + 500 + 300));
}

#[test]
fn a_title_cannot_forge_what_the_dashboard_says() {
    let mut b = Bench::new(120, 40);
    b.propose(Making {
        title: Some("\x1b[2J\x1b[H● clear\r\n\u{202e}x\u{200b}".repeat(400)),
        agent: Some("a\u{2066}b\x07"),
        reason: Some("\x1b]52;c;cHduZWQ=\x07".to_owned()),
        ..Making::flagged()
    });
    b.settle();
    for keys in ["", "z", "z?", "\x1b3", "1a"] {
        for c in keys.chars() {
            match c {
                '\x1b' => b.press(KeyCode::Esc),
                c => b.press(KeyCode::Char(c)),
            };
        }
        b.draw();
        for cell in b.buffer.content() {
            for c in cell.symbol().chars() {
                assert!(
                    !c.is_control() && !matches!(c, '\u{200b}' | '\u{202e}' | '\u{2066}'),
                    "{c:?}"
                );
            }
        }
    }
}

#[test]
fn search_finds_code_and_wraps_round() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear(&lines(80)));
    b.settle();
    b.press(KeyCode::Enter);
    b.keys("/");
    b.keys("X7");
    b.press(KeyCode::Enter);
    assert!(b.draw().contains("x7 = 7"));
    b.keys("n");
    assert!(b.draw().contains("x70 = 70"));
    b.keys("N");
    b.keys("N");
    assert!(b.draw().contains("x79 = 79"));
    b.keys("/");
    b.keys("nowhere");
    b.press(KeyCode::Enter);
    assert_eq!(notice(&b), "not found: nowhere");
}

#[test]
fn an_agents_words_cannot_push_the_facts_off_the_sheet() {
    let mut b = Bench::new(120, 40);
    b.propose(Making {
        title: Some("t".repeat(10_000)),
        reason: Some("because\n".repeat(5_000)),
        ..Making::clear("x = 1\n")
    });
    b.settle();
    b.keys("a");
    let text = b.draw();
    assert!(
        text.contains("kernel says") && text.contains("policy"),
        "{text}"
    );
}
