//! What of Python code may be replaced: what stands in its strings and comments, and never what it does.
//!
//! Whoever writes code chooses what looks like a secret in it. If all places of a value were replaced, a statement that
//! equals the value could run and would not be in the log. What stands in the fields of an f-string runs too.

use std::ops::Range;

use super::{Span, scan};

/// What strings say, without the fields of f-strings, and comments, in their order.
pub(super) struct Python<'t> {
    text: &'t str,
    said: Said,
}

#[derive(Clone, Copy)]
enum Where {
    Text,
    Field,
}

#[derive(Default)]
struct Said {
    text: Vec<Range<usize>>,
    /// The same of strings in fields of f-strings.
    in_fields: Vec<Range<usize>>,
}

impl Said {
    fn add(&mut self, place: Where, at: Range<usize>) {
        match place {
            Where::Text => self.text.push(at),
            Where::Field => self.in_fields.push(at),
        }
    }
}

impl<'t> Python<'t> {
    /// `None` for a string without an end: that is no Python and never runs. Strings end where Python's grammar lets them
    /// (<https://docs.python.org/3/reference/lexical_analysis.html#strings>), an f-string
    /// where Python 3.11 ends it, as the analyser does: later ones take more, which no verdict lets run.
    pub fn of(text: &'t str) -> Option<Self> {
        let bytes = text.as_bytes();
        scan::read(text.len());
        let (mut said, mut at) = (Said::default(), 0);
        while let Some(next) = memchr::memchr3(b'"', b'\'', b'#', &bytes[at..]) {
            let begin = at + next;
            at = match bytes[begin] {
                b'#' => {
                    let rest = &bytes[begin..];
                    let end = memchr::memchr2(b'\n', b'\r', rest).map_or(text.len(), |n| begin + n);
                    said.text.push(begin + 1..end);
                    end
                }
                _ => string(bytes, begin, Where::Text, &mut said)?,
            };
        }
        Some(Self { text, said })
    }

    /// What was found as it stands: what strings and comments say of it, and what is in neither if it can do nothing.
    pub fn direct(&self, found: Vec<Span>) -> Vec<Span> {
        let mut kept = Vec::with_capacity(found.len());
        for span in found {
            if is_one_of(&self.said.in_fields, &span.at) {
                kept.push(span);
                continue;
            }
            let parts = parts(&self.said.text, &span.at);
            if parts.is_empty() && self.is_bound_by_nothing(&span.at) {
                kept.push(span);
                continue;
            }
            kept.extend(parts.into_iter().map(|at| Span {
                at,
                kind: span.kind.clone(),
            }));
        }
        kept
    }

    /// What was found for its value: what one string or comment says.
    pub fn again(&self, mut found: Vec<Span>) -> Vec<Span> {
        let said = [&self.said.text, &self.said.in_fields];
        found.retain(|span| said.into_iter().any(|said| is_one_of(said, &span.at)));
        found
    }

    /// Whether it consists of numbers, and of names that stand nowhere else: such a name is no value, and a line with it ends
    /// with an error.
    fn is_bound_by_nothing(&self, at: &Range<usize>) -> bool {
        let all = &self.text[at.clone()];
        let is_of_name = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80;
        let signs = all.bytes().all(|b| is_of_name(b) || b"-/+%$".contains(&b));
        let mut names = all.split(|c: char| c.is_ascii() && !is_of_name(c as u8));
        let once = |name: &str| {
            name.is_empty()
                || name.starts_with(|c: char| c.is_ascii_digit())
                || memchr::memmem::find_iter(self.text.as_bytes(), name)
                    .nth(1)
                    .is_none()
        };
        signs && names.all(once)
    }
}

/// Whether a place is within one of these, or all of it.
fn is_one_of(said: &[Range<usize>], at: &Range<usize>) -> bool {
    parts(said, at).first() == Some(at)
}

/// What these have of a place.
fn parts(said: &[Range<usize>], of: &Range<usize>) -> Vec<Range<usize>> {
    let first = said.partition_point(|said| said.end <= of.start);
    let said = said.get(first..).unwrap_or_default().iter();
    let said = said.take_while(|said| said.start < of.end);
    said.map(|said| said.start.max(of.start)..said.end.min(of.end))
        .filter(|part| !part.is_empty())
        .collect()
}

/// Adds what the string says that begins with this quote. Returns where it ends; `None` if it has no end.
fn string(bytes: &[u8], begin: usize, place: Where, said: &mut Said) -> Option<usize> {
    let sign = bytes[begin];
    let triple = bytes[begin..].starts_with(&[sign; 3]);
    let signs = if triple { 3 } else { 1 };
    let mut at = begin + signs;
    loop {
        match *bytes.get(at)? {
            b'\\' => {
                at += if bytes[at + 1..].starts_with(b"\r\n") {
                    3
                } else {
                    2
                }
            }
            b'\n' | b'\r' if !triple => return None,
            b if b == sign && (!triple || bytes[at..].starts_with(&[sign; 3])) => break,
            _ => at += 1,
        }
    }
    let content = begin + signs..at;
    match has_fields(&bytes[..begin]) {
        true => text_of(bytes, content, place, said),
        false => said.add(place, content),
    }
    Some(at + signs)
}

/// Whether the string behind this text has a prefix with which it has fields: `f`, `rf`, `t` and the like.
fn has_fields(before: &[u8]) -> bool {
    let letters = before.iter().rev().take(3);
    letters
        .take_while(|b| b.is_ascii_alphabetic())
        .any(|b| matches!(b, b'f' | b'F' | b't' | b'T'))
}

/// What an f-string says besides its fields (<https://docs.python.org/3/reference/lexical_analysis.html#f-strings>). The
/// strings in a field are strings; all else of it is code.
fn text_of(bytes: &[u8], content: Range<usize>, place: Where, said: &mut Said) {
    let (mut at, mut from) = (content.start, content.start);
    while at < content.end {
        at += match (bytes[at], bytes.get(at + 1)) {
            (b'{', Some(b'{')) | (b'}', Some(b'}')) => 2,
            (b'{', _) => {
                said.add(place, from..at);
                from = field(bytes, at + 1, content.end, said);
                from - at
            }
            _ => 1,
        };
    }
    said.add(place, from.min(content.end)..content.end);
}

/// Where the field ends that begins here, at `end` at last.
fn field(bytes: &[u8], begin: usize, end: usize, said: &mut Said) -> usize {
    let mut at = begin;
    // How many brackets are open in the field and in those around it, in whose formats it stands; in a format, where there
    // are no strings but fields, none.
    let mut fields = vec![Some(0_usize)];
    while at < end {
        match (bytes[at], fields.last_mut()) {
            (b'"' | b'\'', Some(Some(_))) => match string(&bytes[..end], at, Where::Field, said) {
                Some(behind) => {
                    at = behind;
                    continue;
                }
                None => return end,
            },
            (b'{', Some(None)) => fields.push(Some(0)),
            (b'}', Some(None | Some(0))) => {
                fields.pop();
                if fields.is_empty() {
                    return at + 1;
                }
            }
            (b':', Some(in_it @ Some(0))) => *in_it = None,
            (b'(' | b'[' | b'{', Some(Some(open))) => *open += 1,
            (b')' | b']' | b'}', Some(Some(open))) => *open = open.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    end
}

#[cfg(test)]
#[path = "python_tests.rs"]
mod tests;
