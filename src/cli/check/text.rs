//! Verdicts for people: place, rule, message, the line with carets, the hint.

use std::io::{self, Write};

use super::Checked;
use crate::model::{Finding, visible};

/// Writes one file's findings, capabilities and verdict.
pub(super) fn write(checked: &Checked, out: &mut dyn Write) -> io::Result<()> {
    let text = String::from_utf8_lossy(&checked.code);
    let lines: Vec<&str> = text.split('\n').collect();
    for f in &checked.verdict.findings {
        writeln!(
            out,
            "{}:{}:{}: {} [{}] {}",
            visible(&checked.path),
            f.line,
            f.column,
            f.rule,
            f.action.as_str(),
            visible(&f.message)
        )?;
        let line = usize::try_from(f.line).unwrap_or(1).saturating_sub(1);
        if let Some(line) = lines.get(line).filter(|l| !l.is_empty()) {
            let (shown, carets) = excerpt(line, f);
            writeln!(out, "{:>5} | {shown}\n      | {carets}", f.line)?;
        }
        writeln!(out, "      = {}", visible(&f.hint))?;
    }
    for c in &checked.verdict.capabilities {
        let lines: Vec<String> = c.lines.iter().take(8).map(u32::to_string).collect();
        writeln!(
            out,
            "{}: can {} ({}) on line {}",
            visible(&checked.path),
            c.capability,
            visible(&c.detail),
            lines.join(", ")
        )?;
    }
    writeln!(
        out,
        "{}: {}",
        visible(&checked.path),
        checked.verdict.verdict
    )
}

/// The marked part of a line, at most one screen wide, with carets below it.
fn excerpt(line: &str, f: &Finding) -> (String, String) {
    const WIDTH: usize = 100;
    let column = usize::try_from(f.column).unwrap_or(1).max(1) - 1;
    let end = if f.end_line == f.line {
        usize::try_from(f.end_column).unwrap_or(1).max(1) - 1
    } else {
        usize::MAX
    };
    let skip = column.saturating_sub(WIDTH / 2);
    let mut shown = String::new();
    let mut carets = String::new();
    if skip > 0 {
        shown.push('…');
        carets.push(' ');
    }
    let mut buffer = [0; 4];
    let mut chars = line.chars().enumerate().skip(skip);
    for (i, c) in chars.by_ref().take(WIDTH) {
        let piece = if c == '\t' {
            " ".into()
        } else {
            visible(c.encode_utf8(&mut buffer))
        };
        let mark = if i >= column && i < end.max(column + 1) {
            '^'
        } else {
            ' '
        };
        let width = unicode_width::UnicodeWidthStr::width(piece.as_ref());
        carets.extend(std::iter::repeat_n(mark, width));
        shown.push_str(&piece);
    }
    if chars.next().is_some() {
        shown.push('…');
    }
    (shown, carets.trim_end().to_owned())
}
