//! Rows of code, diffs and records in plain lines: exact, with what nobody hears said before the text.

use super::super::diff::{Diff, Spoken};
use super::super::plain::{SaidRow, exact, plain};
use super::super::words;
use super::spoken::{WIDE, claimed};

/// Before the lines of a text in a record.
pub(super) const RECORD_TEXT: &str = "      ";

/// The rows of a diff, each as exact as a row of code.
pub(super) fn spoken_rows(diff: &Diff) -> Vec<SaidRow> {
    let mut out = Vec::new();
    let mut push = |text: String| {
        let finding = None;
        out.push(SaidRow { text, finding });
    };
    if diff.is_same() {
        push(words::SAME_CODE.to_owned());
    }
    for row in diff.spoken() {
        match row {
            Spoken::Alike(lines) => push(plain(&words::alike(lines))),
            Spoken::Line {
                tag,
                number,
                text,
                endless,
            } => {
                for (first, part, last) in cuts(&text) {
                    let head = Head {
                        first,
                        endless: endless && last,
                        tags: tag,
                    };
                    push(line_of_code(number, head, part));
                }
            }
        }
    }
    out
}

/// Rows of at most [`WIDE`] bytes: whether each is the first, and the last.
pub(super) fn cuts(text: &str) -> Vec<(bool, &str, bool)> {
    let mut out = Vec::new();
    let mut rest = text;
    while rest.len() > usize::from(WIDE) {
        let mut cut = usize::from(WIDE);
        while !rest.is_char_boundary(cut) {
            cut -= 1;
        }
        out.push((out.is_empty(), &rest[..cut], false));
        rest = &rest[cut..];
    }
    out.push((out.is_empty(), rest, true));
    out
}

/// A proposal's records. Lines of code and output are numbered, with their blanks counted.
pub(in crate::tui) fn record(lines: &[String]) -> Vec<SaidRow> {
    let mut out = Vec::new();
    let mut number = 0;
    for line in lines {
        let text = line.trim_start_matches(' ');
        let indent = line.len() - text.len();
        // Fields stand four columns in, and the lines of a text two more.
        if let Some(line) = line.strip_prefix(RECORD_TEXT) {
            number += 1;
            for (first, part, _) in cuts(line) {
                let head = Head {
                    first,
                    ..Head::default()
                };
                let said = line_of_code(number, head, part);
                out.push(format!("line {said}"));
            }
            continue;
        }
        number = 0;
        if indent == 0 {
            // A sentence is one row, however long; a gap between parts is nothing to be heard.
            out.extend((!text.is_empty()).then(|| claimed(text)));
            continue;
        }
        let before = "field ";
        out.extend(cuts(text).into_iter().map(|(first, part, _)| {
            let before = if first { before } else { "field goes on: " };
            let said = match part.starts_with("agent: ") || part.starts_with("title: ") {
                true => claimed(part),
                false => exact(part).0,
            };
            format!("{before}{said}")
        }));
    }
    let row = |text| SaidRow {
        text,
        finding: None,
    };
    out.into_iter().map(row).collect()
}

/// What is said before a row's text, beside its number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Head<'a> {
    /// Whether the row begins its line.
    pub first: bool,
    /// Whether the line has no end.
    pub endless: bool,
    pub tags: &'a str,
}

/// `12, high finding, indent 4: text`. What nobody hears is said before the text, where no code can imitate it: blanks
/// at either end, marks, a missing end of the line. Different rows stay different.
pub(super) fn line_of_code(number: usize, of: Head<'_>, text: &str) -> String {
    let mut head = match of.first {
        true => format!("{number}{}", of.tags),
        false => format!("{number} goes on"),
    };
    let solid = text.trim_start_matches([' ', '\t']);
    head.push_str(&words::plain::indent(&text[..text.len() - solid.len()]));
    let said = solid.trim_end_matches(' ');
    if said.len() < solid.len() {
        head.push_str(&words::plain::ends_blank(solid.len() - said.len()));
    }
    let (said, marked) = exact(said);
    if marked > 0 {
        head.push_str(&words::plain::marked(marked));
    }
    if of.endless {
        head.push_str(&format!(", {}", words::NO_LINE_END));
    }
    match (said.is_empty(), text.is_empty()) {
        (true, true) => format!("{head} blank"),
        (true, false) => format!("{head}, nothing else"),
        (false, _) => format!("{head}: {said}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_is_as_exact_as_code() {
        let diff = Diff::between(
            "a\n  x  = '·'\nb\n",
            "a\n\tx = ','  \nb",
            std::time::Duration::from_secs(60),
        );
        let rows: Vec<String> = spoken_rows(&diff).into_iter().map(|r| r.text).collect();
        assert_eq!(
            rows,
            [
                "1, same: a",
                "2, gone, indent 2: x  = '·'",
                "3, gone: b",
                "2, new, indent 1 tab, ends with 2 blanks: x = ','",
                "3, new, no line end: b",
            ]
        );
    }

    #[test]
    fn a_line_of_code_tells_what_nobody_hears() {
        let line = |text| {
            let first = true;
            line_of_code(
                7,
                Head {
                    first,
                    ..Head::default()
                },
                text,
            )
        };
        assert_eq!(line("    x = 1"), "7, indent 4: x = 1");
        assert_eq!(line("\t\t  x = 1"), "7, indent 2 tabs and 2: x = 1");
        assert_eq!(line("x = 1   "), "7, ends with 3 blanks: x = 1");
        assert_eq!(
            line("\tx = \"\t\u{202e}\""),
            "7, indent 1 tab, 2 characters marked: x = \"\\u{tab}\\u{202E}\""
        );
        assert_eq!(line(""), "7 blank");
        assert_eq!(line("  "), "7, indent 2, nothing else");
        assert_eq!(
            line_of_code(7, Head::default(), " x"),
            "7 goes on, indent 1: x"
        );
    }
}
