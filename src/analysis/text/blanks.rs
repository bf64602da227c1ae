//! Blanks that push code off the screen, to the right or down.

use crate::analysis::facts::Facts;
use crate::analysis::rules;
use crate::analysis::scan::Outline;

/// Columns after which a line cannot be read without scrolling or wrapping far.
const LONG: usize = 1_000;
/// Blanks between anything and anything on one line.
const BLANKS: usize = 60;
/// The columns of a common screen: what stands behind blanks and past them is not beside what a
/// person reads.
const SCREEN: usize = 80;
/// Blanks before code that is past the screen. Tables of code are aligned by fewer.
const GAP: usize = 8;
/// Columns that a tab may take in a run.
const TAB: usize = 4;
/// Columns between the stops of tabs.
const STOP: usize = 8;
/// Empty lines before more; people leave two.
const LINES: usize = 12;

pub(super) fn check(text: &str, outline: Option<&Outline>, facts: &mut Facts) {
    let mut start = 0;
    for line in text.split('\n') {
        let content = line.trim_end();
        if content.chars().count() > LONG {
            facts.add(&rules::TEXT_LONG_LINE, (start, start + content.len()), "");
        }
        let indent = content.len() - content.trim_start().len();
        // Deep indentation pushes code as far as blanks inside a line do.
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

/// A run that is long by itself, whatever stands behind it.
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

/// Where code begins behind a gap and past the screen. A comment is no code, nor is the rest of
/// a text, unless the text ends on this line and more comes.
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

/// Empty lines that push what follows off the screen; a bare `#` is as good as empty.
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
