//! Whitespace that pushes code off the screen, to the right or down.

use crate::analysis::facts::Facts;
use crate::analysis::rules;
use crate::analysis::scan::Outline;

/// The column after which a line cannot be read without scrolling or wrapping far.
const LONG: usize = 1_000;
/// The limit on consecutive blanks within a line.
const BLANKS: usize = 60;
/// The width of a common screen: code beyond it, after a gap, is out of the reader's sight.
const SCREEN: usize = 80;
/// The gap that hides code beyond the screen. Aligned tables of code have smaller gaps.
const GAP: usize = 8;
/// The width of a tab in a run of blanks.
const TAB: usize = 4;
/// The distance between tab stops.
const STOP: usize = 8;
/// The limit on empty lines before further text; people leave two.
const LINES: usize = 12;

pub(super) fn check(text: &str, outline: Option<&Outline>, facts: &mut Facts) {
    let mut start = 0;
    for line in text.split('\n') {
        let content = line.trim_end();
        if content.chars().count() > LONG {
            facts.add(&rules::TEXT_LONG_LINE, (start, start + content.len()), "");
        }
        let indent = content.len() - content.trim_start().len();
        // Deep indentation pushes code as far right as blanks inside a line do.
        if columns(content.get(..indent).unwrap_or("")) > SCREEN {
            facts.add(&rules::TEXT_BLANK_RUN, (start, start + indent), "");
        }
        if !wide_run(content, indent, start, facts)
            && let Some(outline) = outline
            && let Some(at) = code_past_screen(content, indent, start, outline)
        {
            facts.add(&rules::TEXT_BLANK_RUN, (at - 1, at), "");
        }
        start += line.len() + 1;
    }
    blank_lines(text, facts);
}

fn columns(text: &str) -> usize {
    text.chars().fold(0, advance)
}

fn advance(column: usize, c: char) -> usize {
    match c {
        '\t' => (column / STOP + 1) * STOP,
        _ => column + 1,
    }
}

/// Reports a run of blanks that is too long, whatever follows it.
fn wide_run(content: &str, indent: usize, start: usize, facts: &mut Facts) -> bool {
    let mut run = 0;
    let mut any = false;
    for (at, c) in content.char_indices().filter(|(at, _)| *at >= indent) {
        let wide = match c {
            '\t' => TAB,
            _ => usize::from(c.is_whitespace()),
        };
        if wide == 0 {
            run = 0;
            continue;
        }
        if run <= BLANKS && run + wide > BLANKS {
            let at = start + at;
            facts.add(&rules::TEXT_BLANK_RUN, (at, at + c.len_utf8()), "");
            any = true;
        }
        run += wide;
    }
    any
}

/// Where code begins after a gap and beyond the screen. A comment is no code. Neither is the rest
/// of a string, unless the string ends on this line and more follows.
fn code_past_screen(
    content: &str,
    indent: usize,
    start: usize,
    outline: &Outline,
) -> Option<usize> {
    let end = start + content.len();
    let mut column = 0;
    let mut gap = 0;
    for (at, c) in content.char_indices() {
        let before = column;
        column = advance(column, c);
        if c.is_whitespace() && at >= indent {
            gap += column - before;
            continue;
        }
        if gap >= GAP && before > SCREEN && is_code(start + at, content, (start, end), outline) {
            return Some(start + at);
        }
        gap = 0;
    }
    None
}

fn is_code(at: usize, content: &str, line: (usize, usize), outline: &Outline) -> bool {
    let comment = outline.comments.partition_point(|c| c.start <= at);
    if comment > 0 && outline.comments[comment - 1].end > at {
        return false;
    }
    let string = outline.strings.partition_point(|s| s.start < at);
    let inside = string > 0 && outline.strings[string - 1].end > at;
    if !inside {
        return true;
    }
    let ends = outline.strings[string - 1].end;
    let rest = content.get(ends.saturating_sub(line.0)..).unwrap_or("");
    let code = rest.split('#').next().unwrap_or("");
    ends <= line.1 && code.chars().any(char::is_alphanumeric)
}

/// Reports empty lines that push the following code off the screen; a bare `#` counts as empty.
fn blank_lines(text: &str, facts: &mut Facts) {
    let mut run = 0;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if matches!(line.trim(), "" | "#" | "\\" | ";") {
            run += 1;
        } else {
            if run > LINES {
                facts.add(&rules::TEXT_BLANK_RUN, (start - 1, start), "");
            }
            run = 0;
        }
        start += line.len();
    }
}
