//! Verdicts for people: place, rule, message, the line with carets, the hint.

use std::io::Write;

use super::Checked;
use crate::error::Failure;
use crate::model::Finding;

/// Writes one file's findings, capabilities and verdict.
pub(super) fn write(checked: &Checked, out: &mut impl Write) -> Result<(), Failure> {
    let fault = |error: std::io::Error| Failure::general(error.to_string());
    let text = String::from_utf8_lossy(&checked.code);
    let lines: Vec<&str> = text.split('\n').collect();
    for f in &checked.verdict.findings {
        writeln!(
            out,
            "{}:{}:{}: {} [{}] {}",
            printable(&checked.path),
            f.line,
            f.column,
            f.rule,
            f.action.as_str(),
            printable(&f.message)
        )
        .map_err(fault)?;
        let line = usize::try_from(f.line).unwrap_or(1).saturating_sub(1);
        if let Some(line) = lines.get(line).filter(|l| !l.is_empty()) {
            let (shown, carets) = excerpt(line, f);
            writeln!(out, "{:>5} | {shown}\n      | {carets}", f.line).map_err(fault)?;
        }
        writeln!(out, "      = {}", printable(&f.hint)).map_err(fault)?;
    }
    for c in &checked.verdict.capabilities {
        let lines: Vec<String> = c.lines.iter().take(8).map(u32::to_string).collect();
        writeln!(
            out,
            "{}: can {} ({}) on line {}",
            printable(&checked.path),
            c.capability,
            printable(&c.detail),
            lines.join(", ")
        )
        .map_err(fault)?;
    }
    writeln!(
        out,
        "{}: {}",
        printable(&checked.path),
        checked.verdict.verdict
    )
    .map_err(fault)
}

/// The marked part of a line, at most a screen wide, and carets under it.
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
    let mut chars = line.chars().enumerate().skip(skip);
    for (i, c) in chars.by_ref().take(WIDTH) {
        let piece = printable(&c.to_string());
        let mark = if i >= column && i < end.max(column + 1) {
            '^'
        } else {
            ' '
        };
        let width = unicode_width::UnicodeWidthStr::width(piece.as_str());
        carets.extend(std::iter::repeat_n(mark, width));
        shown.push_str(&piece);
    }
    if chars.next().is_some() {
        shown.push('…');
    }
    (shown, carets.trim_end().to_owned())
}

/// Untrusted text for a terminal: what is not printable is written as its code point.
fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\t' {
            out.push(' ');
        } else if (' '..='~').contains(&c)
            || (c.is_alphanumeric()
                && unicode_width::UnicodeWidthChar::width(c).is_some_and(|w| w > 0))
            || "…—–’‘“”·×°µ".contains(c)
        {
            out.push(c);
        } else {
            use std::fmt::Write as _;
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
    }
    out
}
