//! What stands in strings, as texts of their own: a table, a netrc or a sentence may begin right behind a quote.

use std::ops::Range;

use super::assign::QUESTIONS;
use super::scan;
use super::views::View;

/// Fewest bytes of a string that is read as a text.
const SHORTEST: usize = 12;

/// A text of all contents of strings, each on lines of its own; `None` if there are none.
pub(super) fn literals(text: &str) -> Option<View> {
    let mut view = View::default();
    let mut ends = Ends::default();
    let mut at = 0;
    scan::read(2 * text.len());
    while let Some(next) = memchr::memchr2(b'"', b'\'', &text.as_bytes()[at..]) {
        let quote = at + next;
        let Some((content, end)) = ends.content(text, quote) else {
            at = quote + 1;
            continue;
        };
        if content.len() >= SHORTEST && !asks(text, quote) {
            // Nothing goes on from one string to the next.
            for c in ['\n', '~', '\n'] {
                view.push(c, quote..quote + 1);
            }
            let raw = prefix(text, quote).is_some_and(|prefix| prefix.contains(['r', 'R']));
            push(&mut view, text, content, raw);
            view.push('\n', end - 1..end);
        }
        at = end;
    }
    (!view.text.is_empty()).then_some(view)
}

/// Whether a text is a question about columns.
fn asks(text: &str, quote: usize) -> bool {
    let signs = scan::behind(text, quote, 10, |b| b"rRbBuUfF \n".contains(&b));
    let before = &text[..quote - signs];
    before.ends_with('(') && QUESTIONS.iter().any(|question| before.ends_with(question))
}

/// The letters before a quote that belong to its string; `None` if it stands in a word.
fn prefix(text: &str, quote: usize) -> Option<&str> {
    let is_part = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80;
    let length = scan::behind(text, quote, 3, is_part);
    let prefix = text.get(quote - length..quote)?;
    (length < 3 && prefix.chars().all(|c| "rRbBuUfF".contains(c))).then_some(prefix)
}

/// Up to where quotes are known to have no end, so that each end is looked for once: `"`, `'`, and three of each.
#[derive(Default)]
struct Ends {
    none: [usize; 4],
}

impl Ends {
    /// What stands in the quotes that open here, and where they end.
    fn content(&mut self, text: &str, quote: usize) -> Option<(Range<usize>, usize)> {
        prefix(text, quote)?;
        let bytes = text.as_bytes();
        let sign = bytes[quote];
        let number = usize::from(sign == b'\'');
        let triple = bytes[quote..].starts_with(&[sign; 3]);
        let kinds = if triple { &[true, false][..] } else { &[false] };
        for &triple in kinds {
            let none = &mut self.none[number + 2 * usize::from(triple)];
            if quote < *none {
                continue;
            }
            let begin = quote + if triple { 3 } else { 1 };
            let mut at = begin;
            loop {
                match bytes.get(at) {
                    None => break,
                    Some(b'\n') if !triple => break,
                    Some(b'\\') => at += 2,
                    Some(b) if *b == sign && !triple => return Some((begin..at, at + 1)),
                    Some(b) if *b == sign && bytes[at..].starts_with(&[sign; 3]) => {
                        return Some((begin..at, at + 3));
                    }
                    Some(_) => at += 1,
                }
            }
            *none = at;
        }
        None
    }
}

/// The content as code means it.
fn push(view: &mut View, text: &str, content: Range<usize>, raw: bool) {
    let mut at = content.start;
    let all = &text[..content.end];
    while let Some(c) = all.get(at..).and_then(|rest| rest.chars().next()) {
        let next = all[at + c.len_utf8()..].chars().next();
        let meant = match next {
            _ if c != '\\' || raw => None,
            Some('n' | 'r') => Some('\n'),
            Some('t') => Some('\t'),
            Some('"') => Some('"'),
            Some('\'') => Some('\''),
            Some('\\') => Some('\\'),
            _ => None,
        };
        let end = at + c.len_utf8() + usize::from(meant.is_some());
        view.push(meant.unwrap_or(c), at..end);
        at = end;
    }
}
