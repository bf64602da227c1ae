//! Sets values that change from run to run to fixed ones, so that two runs of the same scene give
//! the same frames. Values that change from machine to machine stay in the recording, and are left
//! out when a run is compared with it.

use super::frame::{Cell, Frame, Style, text};

const DIGEST: &str = "75ba51963c693df5bcee50f22b7af8f5cb0bfbfe6d0e570ac0bb9cb943aab129";

/// A frame in its recorded form. `socket` is where the scene's agents connect.
pub fn fixed(mut frame: Frame, socket: &str) -> Frame {
    let mut decided = false;
    for row in &mut frame.rows {
        // A marker stands before the heading of the pane that has the focus.
        decided |= text(row)
            .trim_start_matches([' ', '▸'])
            .starts_with("DECIDED");
        replace_text(
            row,
            socket,
            "",
            |_| true,
            "/run/user/1000/countersign/agent.sock",
        );
        replace_text(row, "uid ", "", digit, "1000");
        replace_text(row, "gid ", "", digit, "1000");
        replace_text(row, "pid ", "", digit, "4242");
        replace_text(row, "after ", "", took, "41 ms");
        replace_text(row, "look ", "", took, "4 s");
        replace_text(row, "at most ", "", digit, "2");
        replace_text(row, "up to ", " MB beside", digit, "1");
        replace_text(row, "used     ", "", seconds, "0.0");
        replace_text(row, "decided  ", "", clock, "14:05:27");
        replace_text(
            row,
            "proposal    ",
            "",
            |c| hex(c) || c == '-',
            "01900000-0000-7000-8000-000000000001",
        );
        replace_text(row, "  sha256:", "", hex, DIGEST);
        replace_text(row, "digest ", "", hex, DIGEST);
        replace_text(row, "digest      ", "", hex, DIGEST);
        for name in ["analysis ", "chart ", "policy ", "environment "] {
            replace_text(row, name, "", hex, &DIGEST[..8]);
        }
        replace_text(row, "packages ", "", hex, &DIGEST[..8]);
        replace_text(row, "type ", " to grant", hex, "4f1c");
        replace_text(row, "to grant [", "", hex, "4f1c");
        replace_text(row, "landlock:", "", digit, "7");
        fix_times(row, decided);
    }
    frame
}

fn digit(c: char) -> bool {
    c.is_ascii_digit()
}

fn hex(c: char) -> bool {
    c.is_ascii_digit() || ('a'..='f').contains(&c)
}

/// `97 ms`, `1.2 s`.
fn took(c: char) -> bool {
    digit(c) || matches!(c, '.' | ',' | ' ' | 'm' | 's')
}

fn seconds(c: char) -> bool {
    digit(c) || c == '.'
}

fn clock(c: char) -> bool {
    digit(c) || c == ':'
}

/// Fixes times: the remaining time of a proposal, as if just proposed, and the hour of a decision.
fn fix_times(row: &mut [Cell], decided: bool) {
    let is = |cells: &[Cell]| {
        let [a, b, colon, c, d, after] = cells else {
            return false;
        };
        let is_digit = |cell: &Cell| cell.text.chars().all(digit);
        let opens = is_digit(a) || a.text == " ";
        opens && is_digit(b) && colon.text == ":" && is_digit(c) && is_digit(d) && after.text == " "
    };
    // With seconds it is another clock.
    let whole = |at: &usize| *at == 0 || row[at - 1].text != ":";
    let mut found = (0..row.len().saturating_sub(5)).filter(|at| is(&row[*at..*at + 6]));
    let Some(at) = found.find(whole) else {
        return;
    };
    let minutes: u32 = text(&row[at..at + 2]).trim().parse().unwrap();
    let shown = match decided {
        true => "14:05".to_owned(),
        false => format!("{}:00", (minutes + 1).next_multiple_of(5)),
    };
    for (cell, c) in row[at..].iter_mut().zip(format!("{shown:>5}").chars()) {
        cell.text = c.to_string();
    }
}

/// Replaces the text of `class` characters between `before` and `after` by `wanted`; with an empty
/// class, replaces `before` itself. Text behind it, or before it if there is no room behind, keeps
/// its place.
fn replace_text(
    row: &mut Vec<Cell>,
    before: &str,
    after: &str,
    class: fn(char) -> bool,
    wanted: &str,
) {
    let letters: Vec<char> = row
        .iter()
        .map(|c| c.text.chars().next().unwrap_or('\0'))
        .collect();
    let before: Vec<char> = before.chars().collect();
    let Some(found) = letters.windows(before.len()).position(|w| *w == before) else {
        return;
    };
    let whole = before[0] == '/';
    let from = if whole { found } else { found + before.len() };
    let to = match whole {
        true => found + before.len(),
        false => from + letters[from..].iter().take_while(|c| class(**c)).count(),
    };
    let to = to
        - letters[from..to]
            .iter()
            .rev()
            .take_while(|c| **c == ' ')
            .count();
    let ends = letters[to..].iter().collect::<String>().starts_with(after);
    // Only a whole word counts, not the end of a longer one.
    let begins = !letters[..found].last().is_some_and(|c| c.is_alphanumeric());
    if from == to || !ends || !begins {
        return;
    }
    let style = row[from].style;
    let cells = wanted.chars().map(|c| Cell {
        text: c.to_string(),
        style,
    });
    let (had, has) = (to - from, wanted.chars().count());
    row.splice(from..to, cells);
    make_room(row, from, from + has, had as isize - has as isize);
}

/// Makes room for `more` cells, or removes room, where there are blanks.
fn make_room(row: &mut Vec<Cell>, from: usize, to: usize, more: isize) {
    if more == 0 {
        return;
    }
    let need = usize::try_from(-more).unwrap_or(0) + 1;
    let blank = |cells: &[Cell]| cells.iter().all(|c| c.text == " ");
    let gap = need.max(2);
    let behind = (to..row.len().saturating_sub(gap - 1)).find(|at| blank(&row[*at..at + gap]));
    let ahead = || {
        (0..from.saturating_sub(gap))
            .rev()
            .find(|at| blank(&row[*at..at + gap]))
    };
    let at = behind.or_else(ahead).expect("the row has blanks");
    if more < 0 {
        row.drain(at..at + more.unsigned_abs());
    } else {
        let cell = row[at].clone();
        row.splice(at..at, std::iter::repeat_n(cell, more.unsigned_abs()));
    }
}

/// The first row in which two frames differ, except for differences between machines.
pub fn difference(old: &Frame, new: &Frame) -> Option<String> {
    let (old, new) = (everywhere(old), everywhere(new));
    let pairs = old.iter().zip(&new);
    let differs = pairs.clone().find(|(old, new)| old != new);
    let differs = differs.map(|(old, new)| (text(old), text(new)));
    match differs {
        Some((old, new)) if old == new => Some(format!("{old:?} has other colours")),
        Some((old, new)) => Some(format!("it was {old:?} and is {new:?}")),
        None if old.len() != new.len() => Some("it has another number of rows".to_owned()),
        None => None,
    }
}

/// Tracks, row by row, whether a row is in the pane CODE, and from which column.
#[derive(Default)]
struct CodePane(Option<usize>);

impl CodePane {
    fn holds(&mut self, row: &str) -> Option<usize> {
        let column = |what: &str| row.find(what).map(|at| row[..at].chars().count());
        if let Some(at) = column("─ CODE ") {
            self.0 = Some(at + 1);
            return None;
        }
        if row.contains("├─") {
            self.0 = None;
        }
        self.0
    }
}

/// The rows without what depends on kernel and Python: the layers, the version, and how much is therefore below the
/// edge of a pane.
fn everywhere(frame: &Frame) -> Vec<Vec<Cell>> {
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    let (mut runs_as, mut confined, mut code) = (None, None, CodePane::default());
    for row in &frame.rows {
        let words = text(row);
        let label = words.trim_start();
        if words.trim().is_empty() {
            continue;
        }
        let mut row = row.clone();
        // On the sheet: tier, layers and Python, from their label to the next one.
        let column = words.find("runs as ").map(|at| words[..at].chars().count());
        let next = |at: &usize| row.get(*at).is_some_and(|cell| cell.text != " ");
        runs_as = column.or(runs_as.filter(|at| !next(at)));
        row.truncate(runs_as.unwrap_or(row.len()));
        // Colouring of code stops after a fifth of a second, so its extent varies.
        if let Some(pane) = code.holds(&words) {
            let plain = row[pane].style.ink;
            row[pane..].iter_mut().for_each(|c| {
                c.style = Style {
                    ink: plain,
                    bold: false,
                    italic: false,
                    ..c.style
                };
            });
        }
        // In the outcome: the layers, to the end of the pane.
        let at = |what: &str| words.find(what).map(|at| words[..at].chars().count());
        confined = match at("confined kernel:") {
            None if words.contains("sha256 ") || label.starts_with("Tab pane") => None,
            None => confined,
            there => there,
        };
        row.truncate(confined.unwrap_or(row.len()));
        row.truncate(at("↓").unwrap_or(row.len()));
        // The number of blanks around uid and pid depends on how many digits they had.
        if words.contains("pid 4242") {
            row.dedup_by(|next, cell| next.text == " " && cell.text == " ");
        }
        while row
            .last()
            .is_some_and(|c| matches!(c.text.as_str(), " " | "─"))
        {
            row.pop();
        }
        rows.push(row);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str) -> Vec<Cell> {
        let cell = |c: char| Cell {
            text: c.to_string(),
            style: Style::default(),
        };
        text.chars().map(cell).collect()
    }

    fn fixed_line(line: &str) -> String {
        let frame = Frame {
            rows: vec![row(line)],
        };
        text(&fixed(frame, "/tmp/x/agent.sock").rows[0])
    }

    #[test]
    fn values_that_change_from_run_to_run_are_fixed_and_the_rest_keeps_its_place() {
        assert_eq!(
            fixed_line(" says: a         uid 0 · pid 16594 (x) "),
            " says: a       uid 1000 · pid 4242 (x) "
        );
        assert_eq!(
            fixed_line(" ● clear   notebook  14:56 │ x"),
            " ● clear   notebook  15:00 │ x"
        );
        assert_eq!(
            fixed_line(" ● clear   notebook   4:56 │ x"),
            " ● clear   notebook   5:00 │ x"
        );
        assert_eq!(fixed_line(" decided  10:41:59 x"), " decided  14:05:27 x");
        assert_eq!(
            fixed_line(" exit code 0, after 1234 ms    │"),
            " exit code 0, after 41 ms      │"
        );
        assert_eq!(
            fixed_line(" x │  · up to 12 MB beside   "),
            " x │  · up to 1 MB beside    "
        );
        assert_eq!(
            fixed_line(" type 9075 to grant [90__]   "),
            " type 4f1c to grant [4f1c__] "
        );
    }

    #[test]
    fn a_decision_has_the_same_hour_whenever_the_scene_is_played() {
        for heading in [" DECIDED      1 │", "▸DECIDED      1 │"] {
            for hour in ["00:04", "14:05", "23:20"] {
                let rows = [heading, &format!(" ■ {hour} etl-bot   Find… │ x")].map(row);
                let frame = fixed(
                    Frame {
                        rows: rows.to_vec(),
                    },
                    "/tmp/x/agent.sock",
                );
                assert_eq!(text(&frame.rows[1]), " ■ 14:05 etl-bot   Find… │ x");
            }
        }
    }

    #[test]
    fn a_changed_word_or_colour_is_a_difference_and_another_machine_is_none() {
        let frame = |lines: [&str; 3]| Frame {
            rows: lines.map(row).to_vec(),
        };
        let lines = [
            "   │  RETURNS     output",
            "   │  runs as     profile analysis · tier kernel, 18 layers ·",
            "   │              Python 3.11.7",
        ];
        let old = frame(lines);
        let machine = frame([
            lines[0],
            "   │  runs as     profile analysis · tier kernel, 19 layers ·",
            "   │              Python 3.14.0",
        ]);
        assert_eq!(difference(&old, &machine), None);
        let who = |uid, pid| {
            let gap = " ".repeat(24 - format!("{uid}{pid}").len());
            let line =
                format!(" QUEUE    2 │ ✓ succeeded  says: Mass{gap}uid {uid} · pid {pid} (x)");
            let frame = Frame {
                rows: vec![row(&line)],
            };
            fixed(frame, "/tmp/x/agent.sock")
        };
        for (uid, pid) in [(0, 470), (0, 16_594), (1000, 4_194_303)] {
            assert_eq!(difference(&who(1000, 4242), &who(uid, pid)), None);
        }
        let other = frame(["   │  RETURNS     nothing", lines[1], lines[2]]);
        assert!(difference(&old, &other).unwrap().contains("nothing"));
        let mut coloured = old.clone();
        coloured.rows[0][13].style.bold = true;
        assert!(difference(&old, &coloured).unwrap().contains("colours"));
    }
}
