//! The OUTPUT pane: following and leaving the end, search, wide tables, and why values are missing.

use crossterm::event::KeyCode;

use crate::broker::ExecNote;
use crate::model::{ProposalId, Run, StreamName, Usage};

use super::bench::{Bench, Making, run};
use super::shown;
use super::snapshot_tests::at_sizes;
use super::ui::Pane;

fn numbered(from: usize, to: usize) -> String {
    (from..to).map(|n| format!("line {n}\n")).collect()
}

/// A run that has printed 200 lines and goes on, with the focus on its output.
fn printing(b: &mut Bench) -> ProposalId {
    b.propose(Making::clear("for n in range(9): print(n)\n"));
    let id = b.start();
    b.output(id, StreamName::Stdout, &numbered(0, 200));
    b.focus_on(Pane::Output);
    b.draw();
    id
}

fn table() -> String {
    let mut out = format!("{:>4}", "");
    for column in 0..14 {
        out.push_str(&format!("  {:>10}", format!("column{column}")));
    }
    out.push('\n');
    for row in 0..90 {
        out.push_str(&format!("{row:<4}"));
        for column in 0..14 {
            out.push_str(&format!("  {:>10}", row * 100 + column));
        }
        out.push('\n');
    }
    out
}

#[test]
fn the_output_is_followed_until_a_person_scrolls_back() {
    let mut b = Bench::new(80, 24);
    let id = printing(&mut b);
    assert!(b.draw().contains("line 199"));
    b.output(id, StreamName::Stdout, &numbered(200, 210));
    assert!(b.draw().contains("line 209"));
    b.press(KeyCode::PageUp);
    let page = b.draw();
    assert!(!page.contains("line 209"), "{page}");
    assert!(page.contains("paused, 0 new lines · End follows"), "{page}");
    b.output(id, StreamName::Stdout, &numbered(210, 330));
    let same = b.draw();
    assert!(same.contains("paused, 120 new lines"), "{same}");
    let shown = |text: &str| {
        let lines = text
            .lines()
            .filter(|l| l.contains("line ") && !l.contains("paused"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(shown(&page), shown(&same));
    b.press(KeyCode::End);
    let end = b.draw();
    assert!(end.contains("line 329") && !end.contains("paused"), "{end}");
}

#[test]
fn all_of_the_output_can_be_scrolled_to() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear("print(1)\n"));
    let id = b.start();
    b.output(id, StreamName::Stdout, &numbered(0, 20_000));
    b.focus_on(Pane::Output);
    b.draw();
    b.press(KeyCode::Home);
    assert!(b.draw().contains("line 0"));
    b.end(id, run(&numbered(0, 20_000)));
    assert!(
        b.draw().contains("line 0"),
        "the end of the run moves nothing"
    );
    b.press(KeyCode::End);
    assert!(b.draw().contains("line 19999"));
}

/// The rows of the pane, without what says how it is read.
fn read_lines(text: &str) -> Vec<String> {
    let lines = text
        .lines()
        .filter(|l| l.contains("line ") && !l.contains("paused"));
    lines.map(|l| l.trim().to_owned()).collect()
}

#[test]
fn the_first_key_in_long_output_lays_out_no_more_than_its_rows_need() {
    use super::ui::FlowKey;
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear("print(1)\n"));
    let id = b.start();
    for part in 0..8 {
        let from = part * 10_000;
        b.output(id, StreamName::Stdout, &numbered(from, from + 10_000));
    }
    b.focus_on(Pane::Output);
    b.draw();
    let laid_out = |b: &Bench| {
        let flows = b.drawn.flows.iter();
        let output = flows.filter(|(key, _)| matches!(key, FlowKey::Output { .. }));
        output.map(|(_, flow)| flow.rows.len()).sum::<usize>()
    };
    b.press(KeyCode::Up);
    let up = b.draw();
    assert!(
        up.contains("line 79998") && !up.contains("line 79999"),
        "{up}"
    );
    assert!((1..5_000).contains(&laid_out(&b)), "{}", laid_out(&b));
    b.draw();
    assert_eq!(laid_out(&b), 0, "it is kept");
    // Page by page, nothing is missed or shown twice where more is laid out.
    let mut before = read_lines(&b.draw());
    let mut most = 0;
    for _ in 0..600 {
        b.press(KeyCode::PageUp);
        let page = read_lines(&b.draw());
        assert_eq!(page.last(), before.first());
        most = most.max(laid_out(&b));
        before = page;
    }
    assert!((5_000..50_000).contains(&most), "{most}");
    // The run goes on and ends: nothing moves.
    b.output(id, StreamName::Stdout, &numbered(80_000, 80_100));
    assert_eq!(read_lines(&b.draw()), before);
    b.end(id, run(&numbered(0, 80_100)));
    // The pane is another row high.
    assert_eq!(read_lines(&b.draw()).last(), before.last());
    b.press(KeyCode::End);
    assert!(b.draw().contains("line 80099"));
    b.press(KeyCode::Home);
    assert!(b.draw().contains("line 0"));
    assert!(laid_out(&b) > 80_000);
}

#[test]
fn two_pages_back_between_two_frames_are_two_pages() {
    let mut b = Bench::new(80, 24);
    printing(&mut b);
    b.press(KeyCode::Up);
    b.press(KeyCode::Up);
    let two = b.draw();
    assert!(
        two.contains("line 197") && !two.contains("line 198"),
        "{two}"
    );
}

#[test]
fn a_search_goes_through_the_output() {
    let mut b = Bench::new(80, 24);
    let id = printing(&mut b);
    let find = |b: &mut Bench, what: &str| {
        b.keys(what);
        b.draw()
    };
    b.keys("/LINE 12");
    b.press(KeyCode::Enter);
    assert!(b.draw().contains("line 12\n"));
    assert!(find(&mut b, "n").contains("line 120"));
    assert!(find(&mut b, "N").contains("line 12\n"));
    b.output(id, StreamName::Stdout, "line 12 again\n");
    // What waits is not searched; at the end it is.
    assert!(find(&mut b, "N").contains("line 129"));
    b.keys("/nowhere");
    b.press(KeyCode::Enter);
    assert!(b.draw().contains("not found in OUTPUT: nowhere"));
}

#[test]
fn a_header_is_that_of_its_table_only() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear("print(1)\n"));
    let id = b.start();
    b.output(
        id,
        StreamName::Stdout,
        &format!("{}total 1234\n{}", table(), numbered(0, 60)),
    );
    b.keys("w");
    b.focus_on(Pane::Output);
    b.draw();
    b.press(KeyCode::Home);
    b.draw();
    for _ in 0..3 {
        b.press(KeyCode::PageDown);
        let text = b.draw();
        assert_eq!(text.matches("column1").count(), 1, "{text}");
    }
    b.keys("/total");
    b.press(KeyCode::Enter);
    b.draw();
    for _ in 0..30 {
        b.press(KeyCode::Down);
    }
    let text = b.draw();
    assert!(!text.contains("column1"), "{text}");
}

#[test]
fn output_paused() {
    at_sizes("output_paused", |b| {
        let id = printing(b);
        b.press(KeyCode::PageUp);
        b.draw();
        b.output(id, StreamName::Stdout, &numbered(200, 320));
        b.advance(4_000);
        let used = Usage {
            cpu_ms: 800,
            memory_kib: 3 << 10,
            peak_kib: 3 << 10,
            processes: 1,
            output_bytes: 2_900,
        };
        b.exec(id, ExecNote::Used(used));
    });
}

#[test]
fn output_found() {
    at_sizes("output_found", |b| {
        printing(b);
        b.keys("/line 12");
        b.press(KeyCode::Enter);
        b.draw();
    });
}

#[test]
fn a_wide_table_scrolls_sideways_and_keeps_its_header() {
    at_sizes("output_table", |b| {
        b.propose(Making::clear("print(df)\n"));
        let id = b.start();
        b.output(id, StreamName::Stdout, &table());
        b.end(id, run(&table()));
        b.keys("w");
        b.focus_on(Pane::Output);
        b.draw();
        for code in [KeyCode::PageUp, KeyCode::Right, KeyCode::Right] {
            b.press(code);
            b.draw();
        }
    });
}

#[test]
fn redacted_values_are_counted_and_explained() {
    at_sizes("redacted", |b| {
        b.propose(Making {
            private: true,
            ..Making::clear("print(df.head(2))\n")
        });
        let id = b.start();
        b.end(id, run("0  [REDACTED]  41\n1  [REDACTED]  33\n"));
        b.focus_on(Pane::Outcome);
    });
}

#[test]
fn text_that_only_looks_redacted_is_not_called_private() {
    let mut b = Bench::new(200, 60);
    b.propose(Making::clear("print('[REDACTED]')\n"));
    let id = b.start();
    b.end(id, run("[REDACTED]\n"));
    b.focus_on(Pane::Outcome);
    let text = b.draw();
    assert!(text.contains("so the code wrote it"), "{text}");
}

/// A run on private data whose names were redacted and whose figure was thrown away.
fn without_what_it_asked_for(b: &mut Bench) {
    b.propose(Making {
        private: true,
        title: Some("Long-service list".to_owned()),
        ..Making::clear("print(df.head(2))\n")
    });
    let id = b.start();
    let printed = "0  [REDACTED]  41\n1  [REDACTED]  33\n".repeat(300);
    b.end(
        id,
        Run {
            artifacts_withheld: 1,
            artifacts_left_out: 1,
            ..run(&printed)
        },
    );
    b.focus_on(Pane::Outcome);
}

#[test]
fn a_run_whose_agent_does_not_get_all_of_it_does_not_end_plainly() {
    at_sizes("withheld", without_what_it_asked_for);
    let mut b = Bench::new(80, 24);
    without_what_it_asked_for(&mut b);
    let text = b.draw();
    let said = "600 redacted, 1 file thrown away";
    assert!(text.contains(&format!("✓ succeeded  ▲ {said}")), "{text}");
    let line = text.lines().nth(1).unwrap_or_default();
    assert!(line.ends_with("▲ redacted, thrown away"), "{line}");
    // The filter finds it by these words.
    let entry = b.state.entry(b.ui.selected().unwrap()).unwrap();
    assert!(shown::has_all(
        &shown::text(&b.state, entry),
        "redacted thrown"
    ));
}
