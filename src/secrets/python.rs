//! What of Python code may be replaced: what stands in its strings and comments, and never what it does.
//!
//! Whoever writes code chooses what looks like a secret in it. If all places of a value were replaced, a statement that
//! equals the value could run and would not be in the log.

use std::ops::Range;

use super::{Span, scan};

/// Contents of strings, and comments, in their order.
pub(super) struct Python<'t> {
    text: &'t str,
    said: Vec<Range<usize>>,
}

impl<'t> Python<'t> {
    /// `None` for a string without an end: that is no Python and never runs. Strings end where Python's grammar lets them
    /// (<https://docs.python.org/3/reference/lexical_analysis.html#strings>); in an f-string all is text.
    pub fn of(text: &'t str) -> Option<Self> {
        let bytes = text.as_bytes();
        scan::read(text.len());
        let (mut said, mut at) = (Vec::new(), 0);
        while let Some(next) = memchr::memchr3(b'"', b'\'', b'#', &bytes[at..]) {
            let begin = at + next;
            let (content, end) = match bytes[begin] {
                b'#' => {
                    let rest = &bytes[begin..];
                    let end = memchr::memchr2(b'\n', b'\r', rest).map_or(text.len(), |n| begin + n);
                    (begin..end, end)
                }
                sign => string(bytes, begin, sign)?,
            };
            said.push(content);
            at = end;
        }
        Some(Self { text, said })
    }

    /// What was found as it stands: all of it if what is no string only names something, else what strings say of it.
    pub fn direct(&self, found: Vec<Span>) -> Vec<Span> {
        let names = |b: u8| b.is_ascii_alphanumeric() || b >= 0x80 || b"_-./+%$".contains(&b);
        let mut kept = Vec::with_capacity(found.len());
        for span in found {
            let parts = self.parts(&span.at);
            let ends = parts.iter().map(|part| part.start).chain([span.at.end]);
            let begins = [span.at.start]
                .into_iter()
                .chain(parts.iter().map(|part| part.end));
            let outside = begins.zip(ends).map(|(begin, end)| &self.text[begin..end]);
            match outside.flat_map(str::bytes).all(names) {
                true => kept.push(span),
                false => kept.extend(parts.into_iter().map(|at| Span {
                    at,
                    kind: span.kind.clone(),
                })),
            }
        }
        kept
    }

    /// What was found for its value: what one string or comment says.
    pub fn again(&self, mut found: Vec<Span>) -> Vec<Span> {
        found.retain(|span| self.parts(&span.at).first() == Some(&span.at));
        found
    }

    /// What strings and comments have of a place.
    fn parts(&self, of: &Range<usize>) -> Vec<Range<usize>> {
        let first = self.said.partition_point(|said| said.end <= of.start);
        let said = self.said.get(first..).unwrap_or_default().iter();
        let said = said.take_while(|said| said.start < of.end);
        said.map(|said| said.start.max(of.start)..said.end.min(of.end))
            .filter(|part| !part.is_empty())
            .collect()
    }
}

/// The content of the string that begins here, and where it ends.
fn string(bytes: &[u8], begin: usize, sign: u8) -> Option<(Range<usize>, usize)> {
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
            b if b == sign && (!triple || bytes[at..].starts_with(&[sign; 3])) => {
                return Some((begin + signs..at, at + signs));
            }
            _ => at += 1,
        }
    }
}

#[cfg(test)]
#[path = "python_tests.rs"]
mod tests;
