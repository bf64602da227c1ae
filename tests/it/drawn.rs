//! Text that terminals draw differently, in a terminal: marks stay in their own cells; text drawn
//! by the terminal gets its own rows and affects nothing else; nothing of it remains when another
//! proposal is selected.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use common::dash::{Dash, Options, progress};
use countersign::tui::text;
use serde_json::json;

const LABEL: &str = "as drawn:";

/// Strings followed by code that a terminal must not paint over.
fn strings() -> Vec<String> {
    vec![
        "கா".repeat(13),
        "\u{3248}".repeat(16),
        "\u{2630}".repeat(9),
        "বাংলা কি কী".to_owned(),
        "ที่นี่ กำลัง".to_owned(),
        "\u{2764}\u{fe0f}\u{263a}\u{fe0e}1\u{fe0f}\u{20e3}".to_owned(),
        "\u{1fa75}\u{1fa75}".to_owned(),
    ]
}

fn code(string: &str) -> String {
    format!("keep = 10\ndrop = 666\nlabel = \"{string}\"; keep = drop\nprint(keep)\n")
}

/// The rows of a line of code, drawn as marks.
fn wrapped(line: &str, columns: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    let mut used = 0;
    for piece in text::pieces(line) {
        if used + piece.width > columns {
            rows.push(String::new());
            used = 0;
        }
        used += piece.width;
        rows.last_mut().unwrap().push_str(piece.text());
    }
    rows
}

type Cells = Vec<Vec<String>>;

fn joined(cells: &[String]) -> String {
    cells.concat().trim_end().to_owned()
}

/// The cells without digits and blanks, which change with time.
fn still(cells: &[String]) -> Vec<String> {
    let digit = |c: &String| c.chars().all(|c| c.is_ascii_digit() || c == ' ');
    cells.iter().filter(|c| !digit(c)).cloned().collect()
}

/// The first row of the code pane below its heading, and its rows that contain code or its text.
fn code_rows_of(cells: &Cells, pane: usize) -> (usize, Vec<&[String]>) {
    let heading = |row: &Vec<String>| joined(&row[pane..]).starts_with("─ CODE");
    let from = cells.iter().position(heading).map_or(0, |y| y + 1);
    let rows = cells[from..].iter().map(|row| &row[pane..]);
    let rows = rows.take_while(|r| !joined(r).is_empty() && !r[0].starts_with(['─', '━', '├']));
    (from, rows.collect())
}

fn is_drawn(row: &[String]) -> bool {
    joined(row).trim_start().starts_with(LABEL)
}

/// Whether a cell holds text that only appears when the terminal draws it unmarked.
fn shows_unmarked(cells: &Cells) -> bool {
    cells.concat().iter().any(|c| text::plain(c) != *c)
}

#[test]
fn text_that_terminals_draw_differently_harms_no_other_cell_and_leaves_nothing_behind() {
    for (columns, rows) in [(120, 40), (80, 24)] {
        let mut dash = Dash::with(&Options {
            size: (columns, rows),
            ..Options::default()
        });
        for string in strings() {
            check_one(&mut dash, columns, &string);
        }
    }
}

fn check_one(dash: &mut Dash, columns: u16, string: &str) {
    let mut agent = dash.agent();
    let code = code(string);
    let hostile = agent.propose(json!({"code": code, "title": "\u{3248}".repeat(16)}));
    dash.go_to_urgent();
    dash.wait_text("drop = 666");
    if shows_unmarked(&dash.cells()) {
        dash.until("m", "the code as marks", |d, _| !shows_unmarked(&d.cells()));
    }
    let pane = if columns >= 100 { 37 } else { 0 };
    // Left: number, blank, finding, private data, effect, blank. One blank at the right edge.
    let margin = 7;
    let room = usize::from(columns) - pane - margin - 1;
    let rows = code.lines().flat_map(|line| wrapped(line, room));
    let expected: Vec<String> = rows.map(|row| row.trim_end().to_owned()).collect();
    let uid = nix::unistd::getuid();
    // Beside a title that is cut the uid stands alone; a title in a row of its own begins with whose words it has.
    let (beside, above) = (format!("… uid {uid}"), format!(" uid {uid}"));

    // As marks: every cell of the code, and the facts from the kernel beside the title. All of it,
    // because half a frame may show the code and panes of another proposal.
    let mut last = Vec::new();
    dash.wait_for("the code as marks", |d, text| {
        let cells = d.cells();
        let now: Vec<_> = cells.iter().map(|row| still(row)).collect();
        let whole = std::mem::replace(&mut last, now) == last;
        let shown = code_rows_of(&cells, pane).1;
        let shown = shown.iter().map(|row| joined(&row[margin..]));
        let title = text.lines().find(|l| l.contains(" says: \\u{3248}"));
        let words = title.map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "));
        let vouched = words.is_some_and(|words| {
            let own =
                words.starts_with("says: ") && text.lines().any(|l| l.trim_end().ends_with(&above));
            own || words.contains(&beside)
        });
        shown.eq(expected.iter().cloned())
            && vouched
            && progress(text).is_some_and(|(have, all)| have == all)
            && !shows_unmarked(&cells)
            && whole
    });
    let marks = dash.cells();

    // As the terminal draws it: in its own rows, and every other cell unchanged.
    dash.until("m", "rows of their own and all else as it was", |d, _| {
        let cells = d.cells();
        let (from, before) = code_rows_of(&marks, pane);
        let (_, rows) = code_rows_of(&cells, pane);
        let drawn: Vec<_> = rows.iter().filter(|r| is_drawn(r)).collect();
        let code_rows = rows.iter().filter(|r| !is_drawn(r));
        let text: String = drawn
            .iter()
            .map(|r| joined(&r[margin + LABEL.len()..]))
            .collect();
        let line = code.lines().nth(2).unwrap();
        let bare = |text: &str| text.replace(' ', "");
        let inside = from..from + rows.len().max(before.len());
        let all_else = (0..cells.len() - 1).all(|y| {
            let upto = if inside.contains(&y) {
                pane
            } else {
                cells[y].len()
            };
            still(&cells[y][..upto]) == still(&marks[y][..upto])
        });
        // Rows without room were pushed below the pane's edge.
        let in_order = code_rows.zip(&before).all(|(row, was)| row == was);
        let whole = drawn.is_empty() || bare(line).starts_with(&bare(&text));
        !drawn.is_empty() && whole && shows_unmarked(&cells) && all_else && in_order
    });

    // With another proposal selected, nothing of this one remains.
    let another = agent.propose(json!({"code": "second = 2\n", "title": "another"}));
    agent.call("withdraw", json!({"id": hostile["id"]}));
    dash.until("u", "another proposal and nothing else", |d, text| {
        text.contains("second = 2") && text.contains("1/1 rows") && !shows_unmarked(&d.cells())
    });
    // All that comes by itself has come: where one left, when a grant key counts, and the rest of a frame.
    let mut since = (std::time::Instant::now(), Vec::new());
    dash.wait_for("a screen that stays", |d, text| {
        let now: Vec<_> = d.cells().iter().map(|row| still(row)).collect();
        if now != since.1 {
            since = (std::time::Instant::now(), now);
        }
        text.contains("a grant") && since.0.elapsed().as_millis() > 700
    });
    let other = dash.cells();
    let written = dash.raw().len();
    dash.until("\x0c", "the same, drawn anew", |d, _| {
        let anew = String::from_utf8_lossy(&d.raw()[written..]).contains("\x1b[2J");
        let cells = d.cells();
        anew && (0..cells.len()).all(|y| still(&cells[y]) == still(&other[y]))
    });
    // The next one is not beside it, not for a moment either.
    agent.call("withdraw", json!({"id": another["id"]}));
}
