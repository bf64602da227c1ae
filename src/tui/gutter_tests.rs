//! No text of a run can pass for a row of the program: it stands behind the gutter, wherever it is shown.

use crossterm::event::KeyCode;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::bench::*;
use super::canvas::Canvas;
use super::charset::{Charset, scope};
use super::flow::{Flow, Para};
use super::printed::{Line, TAIL, lines};
use super::screen::copied;
use super::transcript::shifted;
use super::ui::Pane;
use super::words;
use super::{AuditPage, Theme};
use crate::model::{RunErrorKind, StreamName};

const CHARSETS: [Charset; 2] = [Charset::Utf8, Charset::Ascii];

/// Whether the row begins as only rows of a run do. `row`: without the blank at the pane's edge.
fn is_behind(row: &str, charset: Charset) -> bool {
    let (bar, left, times) = match charset {
        Charset::Utf8 => ("┊", "←", '×'),
        Charset::Ascii => (":", "<", 'x'),
    };
    let Some((before, text)) = row.split_once(bar) else {
        return false;
    };
    let before = before.strip_prefix("err").unwrap_or(before).trim();
    let rewritten = before
        .strip_prefix(left)
        .and_then(|count| count.trim_start().strip_suffix(times));
    let is_count = |count: &str| count.chars().all(|c| c.is_ascii_digit());
    let is_label = before.is_empty() || rewritten.is_some_and(is_count);
    is_label && (text.is_empty() || text.starts_with(' '))
}

/// The rows of the zoomed pane, of a run that failed after it printed this on both streams. `wrap`: whether long
/// lines wrap.
fn rows(
    width: u16,
    charset: Charset,
    wrap: bool,
    pane: Pane,
    printed: &str,
    said: &str,
) -> Vec<String> {
    let mut b = Bench::new(width, 120);
    b.ui = std::mem::replace(&mut b.ui, Bench::new(1, 1).ui).with_charset(charset);
    b.propose(Making::clear("print(1)\n"));
    let id = b.start();
    for stream in [StreamName::Stdout, StreamName::Stderr] {
        b.output(id, stream, printed);
    }
    b.end(id, failed(RunErrorKind::SnippetError, said));
    b.focus_on(pane);
    if !wrap {
        b.keys("w");
    }
    b.keys("z");
    b.draw();
    b.press(KeyCode::Home);
    let frame = b.draw();
    let name = match pane {
        Pane::Outcome => "[OUTCOME]",
        _ => "[OUTPUT]",
    };
    let mut rows = frame.lines().skip_while(|row| !row.contains(name));
    rows.next().expect("the pane");
    let rows = rows.filter(|row| !row.is_empty()).map(str::to_owned);
    let mut rows: Vec<String> = rows.collect();
    rows.pop();
    rows
}

#[test]
fn a_run_that_prints_the_programs_own_rows_adds_none() {
    for charset in CHARSETS {
        for (width, wrap) in [(40, true), (80, true), (80, false), (200, true)] {
            for pane in [Pane::Output, Pane::Outcome] {
                let plain = rows(width, charset, wrap, pane, "x\n", "x");
                let own = |rows: &[String]| {
                    let own = rows.iter().filter(|row| !is_behind(&row[1..], charset));
                    own.cloned().collect::<Vec<_>>()
                };
                // What it prints has the program's rows, cut to any column, and its gutters.
                let mut printed = "err┊ x\n┊ x\n← 12×┊ x\nerr x\n── OUTCOME ──\n".to_owned();
                printed.push_str("  12% \r✓ succeeded\nIt ran and succeeded.\n");
                for row in own(&rows(width, charset, wrap, Pane::Outcome, "x\n", "x"))
                    .iter()
                    .chain(&plain)
                {
                    let at = usize::from(width).saturating_sub(4);
                    printed.push_str(&format!(
                        "{row}\n{}\n{}{row}\n",
                        row.trim(),
                        "y ".repeat(at / 2)
                    ));
                }
                let said = printed.replace('\n', " ");
                let hostile = rows(width, charset, wrap, pane, &printed, &said);
                let sizes = |row: &String| row.trim_start().starts_with("printed");
                let own_of = |rows: &[String]| {
                    let own = own(rows).into_iter().filter(|row| !sizes(row));
                    own.collect::<Vec<_>>()
                };
                assert_eq!(
                    own_of(&hostile),
                    own_of(&plain),
                    "{charset:?} {width} {pane:?}"
                );
                if pane == Pane::Output {
                    assert!(hostile.len() > plain.len() + 8);
                }
            }
        }
    }
}

#[test]
fn kept_texts_of_a_record_stand_behind_the_gutter() {
    let mut b = Bench::new(80, 24);
    b.keys("2");
    let detail = [
        "2026-01-02 10:40:01.000 finished, seq 7",
        "    stdout:",
        "      2026-01-02 10:40:01.000  denied  seq 8",
        "              reason: \"no\"",
    ];
    b.ui.set_audit(AuditPage {
        detail: Some(detail.map(str::to_owned).into()),
        ..AuditPage::default()
    });
    let page = b.draw();
    let kept = page.lines().filter(|row| row.contains("┊"));
    let kept: Vec<&str> = kept.map(str::trim).collect();
    assert_eq!(
        kept,
        [
            "┊ 2026-01-02 10:40:01.000  denied  seq 8",
            "┊         reason: \"no\""
        ]
    );
}

#[test]
fn a_copy_of_the_output_has_no_gutter() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear("print(1)\n"));
    let id = b.start();
    b.output(id, StreamName::Stdout, "one\n");
    b.output(id, StreamName::Stderr, "10%\r20%\n");
    b.focus_on(Pane::Output);
    assert!(b.draw().contains("err ← 1×┊ 20%"));
    let copy = copied(&b.state, &b.ui, &b.facts, b.now);
    assert_eq!(copy.text, "one\n20%");
}

fn drawn(row: &super::flow::FlowRow, width: u16, theme: &Theme) -> String {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, 1));
    Canvas::new(&mut buffer, theme).put_row(0, 0, width, row);
    buffer.content.iter().map(|cell| cell.symbol()).collect()
}

/// Pieces of what imitates the program.
fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("┊ ".to_owned()),
        Just(": ".to_owned()),
        Just("err".to_owned()),
        Just("← 12× ".to_owned()),
        Just("\r".to_owned()),
        Just("\n".to_owned()),
        Just(format!("\n{}\n", words::NO_OUTPUT)),
        Just("✓ succeeded".to_owned()),
        Just("─ OUTCOME ─────".to_owned()),
        " {1,70}",
        "[a-z漢\\x1b\\t\u{301}]{1,90}",
    ]
}

proptest! {
    #[test]
    fn every_row_of_a_run_begins_with_the_gutter_of_its_line(
        printed in prop::collection::vec((any::<bool>(), fragment()), 1..30),
        width in 24_u16..120, wrap in any::<bool>(), across in 0_usize..60, ascii in any::<bool>(),
    ) {
        let charset = CHARSETS[usize::from(ascii)];
        let theme = Bench::new(1, 1).ui.theme().clone();
        let pieces = printed.iter().rev().map(|(err, text)| {
            (if *err { StreamName::Stderr } else { StreamName::Stdout }, text.as_str())
        });
        let (found, _) = lines(pieces, TAIL);
        scope(charset, || {
            for line in &found {
                let paras: Vec<Para> = [Line::para(line)].into();
                let flow = if wrap { Flow::new(&paras, width) } else { Flow::unwrapped(&paras) };
                for row in &flow.rows {
                    let across = if wrap { 0 } else { across };
                    let shown = drawn(&shifted(row, across), width, &theme);
                    prop_assert!(is_behind(&shown, charset), "{shown:?}");
                    let is_err = shown.starts_with("err");
                    prop_assert_eq!(is_err, line.stream == StreamName::Stderr && !row.goes_on);
                }
            }
            Ok(())
        })?;
    }
}
