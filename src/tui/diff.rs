//! What differs between an earlier code and the one that is proposed: lines, and words within changed lines.

use std::time::Duration;

use similar::{Algorithm, DiffTag, TextDiff, capture_diff_slices};

use super::flow::Para;
use super::theme::Role;
use super::words;

/// Lines shown around a change.
const AROUND: usize = 3;

/// The most words of one changed stretch that are compared: comparing takes their square at worst.
const WORDS: usize = 2_000;
/// Lines that share less than one in so many of their words differ as a whole.
const LIKENESS: usize = 2;

/// A row of a diff.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Row {
    /// A line, its number in the code that has it, its parts (`true`: this part differs), and whether to say that it has
    /// no end.
    Line(Sign, usize, Vec<(bool, String)>, bool),
    /// Lines that are alike and not shown.
    Alike(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Both,
    /// Only in the earlier code.
    Gone,
    /// Only in the proposed code.
    New,
}

/// A row of a diff for plain lines.
pub(super) enum Spoken {
    Alike(usize),
    Line {
        /// Which code has it.
        tag: &'static str,
        number: usize,
        text: String,
        endless: bool,
    },
}

/// The differences of two codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    rows: Vec<Row>,
    /// Lines that only the proposed code has, and that only the earlier one has.
    pub new: usize,
    pub gone: usize,
}

impl Diff {
    /// Compares for at most this long; after that, the rest is shown as changed as a whole.
    pub fn between(earlier: &str, proposed: &str, within: Duration) -> Self {
        let diff = TextDiff::configure()
            .timeout(within)
            .diff_lines(earlier, proposed);
        let mut rows = Vec::new();
        let (mut all_gone, mut all_new) = (0, 0);
        let mut at = 0;
        for group in diff.grouped_ops(AROUND) {
            let begins = group.first().map_or(at, |op| op.new_range().start);
            if begins > at {
                rows.push(Row::Alike(begins - at));
            }
            at = group.last().map_or(at, |op| op.new_range().end);
            for op in &group {
                let (old, new) = (op.old_range(), op.new_range());
                if op.tag() == DiffTag::Equal {
                    rows.extend(new.map(|i| plain(Sign::Both, i, diff.new_slices()[i])));
                    continue;
                }
                let lines = [
                    &diff.old_slices()[old.clone()],
                    &diff.new_slices()[new.clone()],
                ];
                rows.extend(changed(lines, [old.start, new.start]));
                let [less, more] = lines.map(<[&str]>::len);
                (all_gone, all_new) = (all_gone + less, all_new + more);
            }
        }
        let lines = proposed.lines().count();
        if lines > at && !rows.is_empty() {
            rows.push(Row::Alike(lines - at));
        }
        Self {
            rows,
            new: all_new,
            gone: all_gone,
        }
    }

    pub(super) fn is_same(&self) -> bool {
        self.rows.is_empty()
    }

    /// Its rows for plain lines.
    pub(super) fn spoken(&self) -> impl Iterator<Item = Spoken> {
        self.rows.iter().map(|row| match row {
            Row::Alike(lines) => Spoken::Alike(*lines),
            Row::Line(sign, number, parts, endless) => Spoken::Line {
                tag: match sign {
                    Sign::Both => ", same",
                    Sign::Gone => ", gone",
                    Sign::New => ", new",
                },
                number: *number,
                text: parts.iter().map(|(_, text)| text.as_str()).collect(),
                endless: *endless,
            },
        })
    }

    /// One paragraph for each row. The signs say without colours what the colours say, and so do the lines under
    /// changed words.
    pub(super) fn paras(&self) -> Vec<Para> {
        if self.rows.is_empty() {
            return vec![Para::new(words::SAME_CODE, Role::Text)];
        }
        let largest = self.rows.iter().map(|row| match row {
            Row::Line(_, number, ..) => *number,
            Row::Alike(_) => 1,
        });
        let wide = largest.max().unwrap_or(1).to_string().len();
        self.rows.iter().map(|row| para(row, wide)).collect()
    }
}

/// A line without differing parts.
fn plain(sign: Sign, index: usize, line: &str) -> Row {
    row(sign, index, &[(false, line)])
}

fn row(sign: Sign, index: usize, parts: &[(bool, &str)]) -> Row {
    let mut joined: Vec<(bool, String)> = Vec::new();
    for (differs, text) in parts {
        let text = text.trim_end_matches('\n');
        match joined.last_mut() {
            Some((last, all)) if last == differs => all.push_str(text),
            _ if text.is_empty() => {}
            _ => joined.push((*differs, text.to_owned())),
        }
    }
    let ended = parts.last().is_some_and(|(_, text)| text.ends_with('\n'));
    Row::Line(sign, index + 1, joined, !ended && sign != Sign::Both)
}

/// The rows of lines that were replaced by others: first the earlier ones, then the new ones. Words that they do
/// not share differ; if they share little, the lines differ as a whole.
fn changed(lines: [&[&str]; 2], starts: [usize; 2]) -> Vec<Row> {
    let words = lines.map(|lines| {
        lines
            .iter()
            .flat_map(|line| tokens(line))
            .collect::<Vec<_>>()
    });
    let mut differs = [vec![false; words[0].len()], vec![false; words[1].len()]];
    if words.iter().all(|words| words.len() <= WORDS) {
        let ops = capture_diff_slices(Algorithm::Myers, &words[0], &words[1]);
        let mut shared = 0;
        for op in &ops {
            if op.tag() == DiffTag::Equal {
                let same = words[0][op.old_range()].iter();
                shared += same.filter(|word| is_word(word)).count();
            } else {
                differs[0][op.old_range()].fill(true);
                differs[1][op.new_range()].fill(true);
            }
        }
        let count = |words: &Vec<&str>| words.iter().filter(|word| is_word(word)).count();
        let fewest = words.iter().map(count).min().unwrap_or(0);
        if fewest == 0 || shared * LIKENESS < fewest {
            differs.iter_mut().for_each(|differs| differs.fill(false));
        }
    }
    let mut rows = Vec::new();
    for (side, sign) in [(0, Sign::Gone), (1, Sign::New)] {
        let mut at = 0;
        for (i, line) in lines[side].iter().enumerate() {
            let count = tokens(line).count();
            let parts: Vec<(bool, &str)> = differs[side][at..at + count]
                .iter()
                .copied()
                .zip(words[side][at..at + count].iter().copied())
                .collect();
            rows.push(row(sign, starts[side] + i, &parts));
            at += count;
        }
    }
    rows
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// A name, a number, or one other character.
fn tokens(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let named = |c: char| c.is_alphanumeric() || c == '_';
        let end = match named(first) {
            true => rest.find(|c| !named(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        let (token, after) = rest.split_at(end);
        rest = after;
        Some(token)
    })
}

fn para(row: &Row, wide: usize) -> Para {
    let (sign, number, parts, endless) = match row {
        Row::Alike(lines) => {
            return Para::new(format!("{:wide$}   ", ""), Role::Gutter)
                .and(words::alike(*lines), Role::Dim);
        }
        Row::Line(sign, number, parts, endless) => (sign, number, parts, *endless),
    };
    let (mark, plain, differs) = match sign {
        Sign::Both => (' ', Role::Text, Role::Text),
        Sign::Gone => ('-', Role::Gone, Role::GoneWord),
        Sign::New => ('+', Role::New, Role::NewWord),
    };
    let para = Para::new(format!("{number:wide$} "), Role::Gutter).and(format!("{mark} "), plain);
    // A line that differs as a whole needs no emphasis within.
    let some = parts.iter().any(|(differs, _)| !differs);
    let emphasis = |changed: bool| if changed && some { differs } else { plain };
    let para = parts.iter().fold(para, |para, (changed, text)| {
        para.given(text, emphasis(*changed))
    });
    let para = match endless {
        true => para.and(format!(" ({})", words::NO_LINE_END), emphasis(true)),
        false => para,
    };
    para.hang(wide + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(earlier: &str, proposed: &str) -> Vec<String> {
        let diff = Diff::between(earlier, proposed, Duration::from_secs(60));
        let line = |row: &Row| match row {
            Row::Alike(lines) => format!("= {lines}"),
            Row::Line(sign, number, parts, endless) => {
                let mark = match sign {
                    Sign::Both => ' ',
                    Sign::Gone => '-',
                    Sign::New => '+',
                };
                let parts = parts.iter().map(|(differs, text)| match differs {
                    true => format!("[{text}]"),
                    false => text.clone(),
                });
                let end = if *endless { words::NO_LINE_END } else { "" };
                format!("{mark}{number} {}{end}", parts.collect::<String>())
            }
        };
        diff.rows.iter().map(line).collect()
    }

    #[test]
    fn words_that_differ_within_a_line_are_told_apart() {
        assert_eq!(
            shown(
                "a = 1\nprint(df[\"dept\"].mean())\n",
                "a = 1\nprint(df[\"email\"].mean())\n"
            ),
            [
                " 1 a = 1",
                "-2 print(df[\"[dept]\"].mean())",
                "+2 print(df[\"[email]\"].mean())",
            ]
        );
    }

    #[test]
    fn lines_that_share_only_signs_differ_as_a_whole() {
        assert_eq!(
            shown(
                "known = f.dropna(a=[\"b\"])\n",
                "many = g.isna(c=[\"d\"])\n"
            ),
            [
                "-1 known = f.dropna(a=[\"b\"])",
                "+1 many = g.isna(c=[\"d\"])",
            ]
        );
    }

    #[test]
    fn lines_that_are_alike_far_from_a_change_are_counted_and_left_out() {
        let code = |x: &str| -> String {
            let line = |i: i32| match i {
                10 => format!("x = {x}\n"),
                _ => format!("line{i}\n"),
            };
            (1..=20).map(line).collect()
        };
        assert_eq!(
            shown(&code("1"), &code("2")),
            [
                "= 6",
                " 7 line7",
                " 8 line8",
                " 9 line9",
                "-10 x = [1]",
                "+10 x = [2]",
                " 11 line11",
                " 12 line12",
                " 13 line13",
                "= 7",
            ]
        );
    }

    #[test]
    fn a_line_that_only_lost_its_end_is_shown() {
        let rows = shown("a\nb\n", "a\nb");
        assert_eq!(rows.len(), 3);
        assert!(rows[2].contains(words::NO_LINE_END), "{rows:?}");
        assert!(shown("a\n", "a\n").is_empty());
        assert_eq!(shown("", "a\n"), ["+1 a"]);
    }

    #[test]
    fn a_comparison_that_takes_too_long_ends_with_all_lines() {
        let code = |k: u64| -> String {
            let line = |i: u64| format!("{}\n", (i * k) % 10_007);
            (0..10_000).map(line).collect()
        };
        let diff = Diff::between(&code(3), &code(7), Duration::ZERO);
        let lines = |sign| {
            let has = |row: &&Row| matches!(row, Row::Line(s, ..) if *s == sign);
            diff.rows.iter().filter(has).count()
        };
        assert_eq!(lines(Sign::New), diff.new);
        assert_eq!(lines(Sign::Gone), diff.gone);
        assert!(diff.new > 9_000 && diff.new == diff.gone);
    }
}
