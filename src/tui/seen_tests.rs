//! Unseen code cannot be granted, and untrusted text is never drawn raw (invariants 4 and 5).

use std::time::Duration;

use crossterm::event::{Event as Input, KeyCode};

use super::bench::*;
use super::document::Document;
use super::*;
use crate::model::Code;

#[test]
fn lines_that_were_not_drawn_cannot_be_granted_and_the_footer_says_which() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear(&lines(80)));
    let text = b.settle();
    assert!(text.contains("lines 17–80 not seen"), "{text}");
    b.keys("a");
    assert!(b.ui.sheet().is_none());
    assert_eq!(notice(&b), "lines 17–80 not seen; Space goes there");
    // Viewing only the end is not enough.
    b.press(KeyCode::Enter);
    b.keys("G");
    b.look();
    b.advance(2_000);
    b.keys("a");
    assert_eq!(notice(&b), "lines 17–61 not seen; Space goes there");
    b.keys("gg");
    for _ in 0..7 {
        b.look();
        b.keys(" ");
    }
    b.look();
    b.advance(2_000);
    b.keys("a");
    assert!(b.ui.sheet().is_some(), "{}", notice(&b));
}

#[test]
fn rows_paged_past_faster_than_150_ms_do_not_count() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear(&lines(5_000)));
    b.settle();
    // 700 presses in one write; the loop draws a frame for each. A row that stays on the screen as
    // the next page's first row is shown for two frames.
    for ms in [0, 1, 74] {
        for _ in 0..700 {
            b.keys(" ");
            b.draw();
            b.advance(ms);
        }
        b.keys("gg");
        b.draw();
        assert!(b.ui.obstacle(&b.state, b.now).is_some());
        let doc = b.ui.queue.doc.clone().unwrap();
        let seen = &b.ui.looked(doc.id).unwrap().seen;
        let missing = doc.missing(seen, None).unwrap();
        assert_eq!(missing, "lines 17–5,000 not seen");
    }
}

#[test]
fn a_row_counts_after_150_ms_and_the_screen_says_so_at_once() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear(&lines(20)));
    b.settle();
    b.keys(" ");
    assert!(b.draw().contains("lines 17–20 not seen"));
    let wait = |b: &Bench| b.ui.next_wake(&b.state, b.now).unwrap();
    assert_eq!(wait(&b), DWELL);
    b.advance(149);
    assert!(b.draw().contains("lines 17–20 not seen"));
    assert_eq!(wait(&b).as_millis(), 1);
    b.advance(1);
    let text = b.draw();
    assert!(!text.contains("not seen"), "{text}");
    // It wakes when the key of a grant counts. An idle screen sleeps until the countdown's next second.
    assert_eq!(wait(&b).as_millis(), 100);
    b.advance(200);
    b.draw();
    assert!(wait(&b) > DWELL);
}

#[test]
fn space_pages_the_code_from_any_pane() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear(&lines(80)));
    b.settle();
    for _ in 0..5 {
        b.press(KeyCode::Tab);
        b.look();
        b.keys(" ");
    }
    let text = b.draw();
    assert!(text.contains("x60 = 60"), "{text}");
}

#[test]
fn pages_skipped_between_two_frames_are_not_seen() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear(&lines(127)));
    b.settle();
    // Seven pages between two frames: only the page in a frame counts.
    b.keys("       ");
    b.look();
    b.advance(250);
    b.keys("a");
    // Those that come next are named, then the others.
    assert_eq!(notice(&b), "lines 125–127 not seen; Space goes there");
    for _ in 0..2 {
        b.keys(" ");
        b.look();
    }
    b.advance(250);
    b.keys("a");
    assert_eq!(notice(&b), "lines 35–105 not seen; Space goes there");
}

#[test]
fn rows_shown_during_the_grace_do_not_count() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear(&lines(51)));
    b.press(KeyCode::Enter);
    // Each page is shown for longer than 150 ms, but within the grace period.
    for _ in 0..2 {
        b.draw();
        b.advance(160);
        b.press(KeyCode::PageDown);
    }
    b.draw();
    b.advance(500 - 2 * 160 + 149);
    let text = b.draw();
    assert!(text.contains("lines 1–51 not seen"), "{text}");
    b.advance(1);
    let text = b.draw();
    assert!(text.contains("lines 1–32 not seen"), "{text}");
}

#[test]
fn a_fresh_grace_restarts_the_150_ms() {
    type Fresh = fn(&mut Bench);
    let all: [Fresh; 3] = [
        |b| drop(b.input(&Input::Resize(80, 24))),
        |b| b.ui.flush_input(b.now),
        |b| {
            b.input(&Input::FocusLost);
            b.advance(10_000);
            b.draw();
            b.input(&Input::FocusGained);
        },
    ];
    for fresh in all {
        let mut b = Bench::new(80, 24);
        b.propose(Making::clear("x = 1\n"));
        b.draw();
        b.advance(500 + 149);
        fresh(&mut b);
        b.draw();
        b.advance(500 + 149);
        assert!(b.draw().contains("line 1 not seen"));
        b.advance(1);
        assert!(!b.draw().contains("not seen"));
    }
}

#[test]
fn nothing_is_seen_while_the_terminal_has_no_focus_or_something_covers_the_code() {
    type Covers = fn(&mut Bench);
    let all: [Covers; 4] = [
        |b| drop(b.input(&Input::FocusLost)),
        |b| drop(b.keys("?")),
        |b| drop(b.keys("2")),
        |b| b.size = (30, 8),
    ];
    for covers in all {
        let mut b = Bench::new(80, 24);
        b.propose(Making::clear("x = 1\n"));
        b.advance(600);
        covers(&mut b);
        b.draw();
        b.advance(10_000);
        b.draw();
        let id = b.ui.selected().unwrap();
        assert!(b.ui.looked(id).unwrap().seen.iter().next().is_none());
        assert_eq!(
            b.ui.next_wake(&b.state, b.now).map(|d| d > DWELL),
            Some(true)
        );
    }
}

#[test]
fn rows_of_the_sheet_need_150_ms_outside_its_grace_too() {
    let mut b = ready();
    b.keys("a");
    b.draw();
    let missing = |b: &Bench| b.ui.sheet().unwrap().missing().is_some();
    b.advance(300 + 149);
    b.draw();
    assert!(missing(&b));
    // An overlay on the sheet hides its rows, so they no longer count as shown.
    b.size = (30, 8);
    b.draw();
    b.advance(1_000);
    b.draw();
    assert!(missing(&b));
    b.size = (120, 40);
    b.draw();
    b.advance(149);
    b.draw();
    assert!(missing(&b));
    b.advance(1);
    b.draw();
    assert!(!missing(&b));
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
    assert!(text.contains("20/20 rows"), "{text}");
    b.keys("a");
    assert!(b.ui.sheet().is_some());
}

#[test]
fn columns_off_the_screen_are_unseen_with_wrapping_off() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear("y = 1\n"));
    b.propose(Making::clear(&format!("x = '{}'\n", "a".repeat(200))));
    b.keys("w");
    b.keys("j");
    b.settle();
    b.keys("a");
    assert_eq!(notice(&b), "line 1 not seen; w wraps");
    b.press(KeyCode::Enter);
    for _ in 0..20 {
        b.press(KeyCode::Right);
        b.look();
    }
    b.advance(2_000);
    b.keys("a");
    assert!(b.ui.sheet().is_some(), "{}", notice(&b));
}

#[test]
fn all_rows_of_a_very_long_line_must_be_seen() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear(&format!("x = '{}'", "a".repeat(60_000))));
    let text = b.settle();
    assert!(text.contains("line 1, rows 17–834 not seen"), "{text}");
    let mut pages = 0;
    while b.look().contains("not seen") {
        b.keys(" ");
        pages += 1;
        assert!(pages < 200);
    }
    assert!(pages > 40, "{pages}");
    b.advance(250);
    b.keys("a");
    assert!(b.ui.sheet().is_some());
}

#[test]
fn inputs_from_the_agent_must_be_seen_too() {
    let mut b = Bench::new(80, 24);
    b.propose(Making {
        brought: vec![("rows", lines(40))],
        ..Making::clear("print(rows)\n")
    });
    let text = b.settle();
    assert!(text.contains("input rows: lines 14–40 not seen"), "{text}");
    b.keys("a");
    assert!(b.ui.sheet().is_none());
}

/// Opens a sheet of thirty findings, which is longer than the screen.
fn open_long_sheet(b: &mut Bench) {
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
    b.read();
    b.advance(250);
    b.keys("a");
    b.draw();
    b.advance(300);
}

#[test]
fn a_sheet_longer_than_the_screen_takes_nothing_until_all_of_it_was_shown() {
    let mut b = Bench::new(80, 24);
    open_long_sheet(&mut b);
    b.look();
    b.keys("4f1c");
    b.advance(250);
    b.press(KeyCode::Enter);
    assert!(grants(&b).is_empty() && b.ui.sheet().is_some());
    let text = b.draw();
    assert!(text.contains("of this sheet not seen"), "{text}");
    // Jumping to the end skips findings, which must have been on the screen too.
    b.keys("G");
    b.look();
    b.keys("4f1c");
    b.advance(250);
    b.press(KeyCode::Enter);
    assert!(grants(&b).is_empty());
    b.keys("gg");
    for _ in 0..10 {
        b.look();
        b.keys(" ");
    }
    b.look();
    b.keys("4f1c");
    b.advance(250);
    b.press(KeyCode::Enter);
    assert_eq!(grants(&b).len(), 1);
    assert_eq!(grants(&b)[0].viewed.findings_shown, 30);
}

#[test]
fn a_terminal_that_is_too_small_shows_and_grants_nothing() {
    let mut b = Bench::new(20, 5);
    b.propose(Making::clear("x = 1\n"));
    b.settle();
    b.keys("a");
    assert!(b.ui.sheet().is_none());
    // A sheet that was open before the screen shrank accepts no input either.
    b.size = (120, 40);
    b.advance(2_000);
    b.open_sheet();
    b.size = (20, 5);
    b.draw();
    b.advance(1000);
    b.keys("y");
    assert!(grants(&b).is_empty());
}

#[test]
fn the_viewed_rows_are_recorded() {
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
    assert_eq!(viewed.selected_ms, 650 + 2_000 + 650 + 450 + 250);
    assert_eq!(viewed.focused_ms, Some(650 + 650 + 450 + 250));
}

#[test]
fn time_with_the_focus_is_unknown_until_the_terminal_reports_it() {
    let grant = |b: &mut Bench| {
        b.open_sheet();
        b.keys("y");
        grants(b)[0].viewed
    };
    // A terminal, or a multiplexer, that reports nothing.
    let mut b = ready();
    assert_eq!(grant(&mut b).focused_ms, None);
    // The first report says that the focus came: it was elsewhere before.
    let mut b = ready();
    b.advance(5_000);
    b.input(&Input::FocusGained);
    b.advance(3_000);
    let viewed = grant(&mut b);
    let with = viewed.focused_ms.unwrap();
    assert!(
        (3_000..5_000).contains(&with) && viewed.selected_ms > 8_000,
        "{viewed:?}"
    );
    // The first report says that it went: it was here before.
    let mut b = ready();
    b.advance(5_000);
    b.input(&Input::FocusLost);
    b.advance(60_000);
    b.input(&Input::FocusGained);
    let with = grant(&mut b).focused_ms.unwrap();
    assert!((5_000..60_000).contains(&with), "{with}");
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
    assert_eq!(notice(&b), "not found in CODE: nowhere");
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

#[test]
fn space_goes_to_the_next_unseen_row_and_up_again_after_a_resize() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear(&lines(100)));
    b.settle();
    b.press(KeyCode::Enter);
    // First to the end, then back: Space skips the parts seen at either end.
    b.keys("G");
    b.look();
    b.keys(" ");
    let text = b.look();
    assert!(text.contains(" 16 ") && text.contains("x17 = 17"), "{text}");
    b.read();
    assert!(b.draw().contains("100/100 rows"));
    // Once everything is seen, Space pages.
    b.keys("gg");
    b.draw();
    b.keys(" ");
    assert!(b.draw().contains("x16 = 16"));

    // A line seen with wrapping off does not count as seen once wrapped: the rows above are next.
    let mut b = Bench::new(80, 24);
    let long = format!("y = '{}'\n", "a".repeat(2_000));
    b.propose(Making::clear(&format!("{long}{}", lines(60))));
    b.settle();
    b.keys("w");
    b.look();
    b.press(KeyCode::Up);
    let text = b.draw();
    assert!(text.contains("line 1 not seen; w wraps"), "{text}");
    b.keys("w");
    b.draw();
    b.keys(" ");
    let text = b.draw();
    assert!(text.contains("line 1, rows "), "{text}");
    assert!(text.contains("aaaa"), "{text}");
    b.read();
}

#[test]
fn the_refusal_ends_when_the_row_was_seen() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear("x = 1\n"));
    b.draw();
    b.advance(550);
    b.keys("a");
    assert_eq!(notice(&b), "line 1 not seen for long enough yet");
    b.advance(100);
    let text = b.draw();
    assert!(!text.contains("not seen"), "{text}");
}

#[test]
fn space_on_the_sheet_goes_back_to_rows_paged_past() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::flagged());
    b.settle();
    b.read();
    b.keys("a");
    b.draw();
    // Too early: the first page was not shown for long enough.
    b.keys(" ");
    b.draw();
    b.advance(300);
    for _ in 0..6 {
        b.look();
        b.keys(" ");
    }
    assert!(b.ui.sheet().unwrap().missing().is_none());
}

/// The screen would otherwise go on to say that rows are missing which were on it long enough.
#[test]
fn the_screen_wakes_when_a_row_of_the_sheet_counts() {
    let mut b = Bench::new(80, 24);
    open_long_sheet(&mut b);
    b.keys("G");
    // The countdown's next second is a whole one away.
    b.advance(2_000 - u64::from(b.now.boot.subsec_millis()));
    b.draw();
    assert_eq!(b.ui.next_wake(&b.state, b.now), Some(DWELL));
    b.advance(100);
    assert_eq!(
        b.ui.next_wake(&b.state, b.now),
        Some(Duration::from_millis(50))
    );
    // Nobody looks at it.
    b.input(&Input::FocusLost);
    assert_ne!(
        b.ui.next_wake(&b.state, b.now),
        Some(Duration::from_millis(50))
    );
}

#[test]
fn keys_are_watched_while_one_of_them_may_decide() {
    let mut b = Bench::new(120, 40);
    b.draw();
    assert!(!b.ui.watches_keys(&b.state), "nothing is selected");
    b.propose(Making::clear("x = 1\n"));
    assert!(b.ui.watches_keys(&b.state), "the proposal waits");
    b.open_sheet();
    assert!(b.ui.watches_keys(&b.state), "its sheet is open");
    b.keys("y");
    b.carry_out();
    assert!(!b.ui.watches_keys(&b.state), "it is granted");
}

#[test]
fn nothing_is_granted_on_a_document_without_the_inputs_or_of_another_proposal_or_code() {
    let mut b = ready();
    let id = b.ui.selected().unwrap();
    assert_eq!(b.ui.obstacle(&b.state, b.now), None);
    let entry = b.state.entry(id).unwrap();
    let (code, edited) = (entry.code(), Code::new("1"));
    let other = crate::model::ProposalId::new();
    for (id, code, inputs) in [
        (id, code, None),
        (other, code, entry.inputs()),
        (id, &edited, entry.inputs()),
    ] {
        let doc = Document::new(id, code, inputs);
        b.ui.queue.doc = Some(std::sync::Arc::new(doc));
        let why = b.ui.obstacle(&b.state, b.now);
        assert_eq!(why.as_deref(), Some("its inputs are not read yet"));
    }
}
