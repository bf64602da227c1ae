//! What of Python code may be replaced: what stands in its strings and comments, and never what it does.
//!
//! Whoever writes code chooses what looks like a secret in it. If all places of a value were replaced, a statement that
//! equals the value could run and would not be in the log. What stands in the fields of an f-string runs too.

use std::ops::Range;

use super::statements::{is_number, is_word, may_run, only_binds};
use super::{Span, scan};

/// What strings say, without the fields of f-strings, and comments, in their order.
pub(super) struct Python<'t> {
    text: &'t str,
    said: Said,
    /// All it does is bind names.
    only_binds: bool,
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
    /// What stands for one character or, at a line's end, for none. Half of one means something else.
    escapes: Vec<Range<usize>>,
    /// Those at the end of a line that a string needs to go on.
    joints: Vec<Range<usize>>,
    has_fields: bool,
}

/// How a string is written.
#[derive(Clone, Copy)]
struct Form {
    raw: bool,
    triple: bool,
    place: Where,
}

impl Said {
    fn add(&mut self, place: Where, at: Range<usize>) {
        match place {
            Where::Text => self.text.push(at),
            Where::Field => self.in_fields.push(at),
        }
    }

    /// Notes the escape that begins here. Returns where it ends.
    fn escape(&mut self, bytes: &[u8], at: usize, form: Form) -> usize {
        let end = escaped(bytes, at, form.raw);
        let is_line = matches!(bytes.get(at + 1), Some(b'\n' | b'\r'));
        self.escapes.push(at..end);
        if is_line && !form.triple {
            self.joints.push(at..end);
        }
        end
    }

    /// A part without halves of escapes, cut where the string goes on in the next line.
    fn whole(&self, mut part: Range<usize>, add: &mut impl FnMut(Range<usize>)) {
        let around = |at: usize| {
            let next = self.escapes.partition_point(|escape| escape.end <= at);
            let escape = self.escapes.get(next);
            escape.filter(|escape| escape.start < at).cloned()
        };
        part.start = around(part.start).map_or(part.start, |escape| escape.end);
        part.end = around(part.end).map_or(part.end, |escape| escape.start);
        let first = self.joints.partition_point(|joint| joint.end <= part.start);
        let joints = self.joints.get(first..).unwrap_or_default();
        for joint in joints.iter().take_while(|joint| joint.start < part.end) {
            if part.start < joint.start {
                add(part.start..joint.start);
            }
            part.start = joint.end;
        }
        if part.start < part.end {
            add(part);
        }
    }
}

/// Where an escape ends
/// (<https://docs.python.org/3/reference/lexical_analysis.html#escape-sequences>); in a raw string it is only a backslash
/// and what the string does not end with.
fn escaped(bytes: &[u8], at: usize, raw: bool) -> usize {
    let digits = |from: usize, most: usize, is: fn(&u8) -> bool| {
        let behind = bytes.get(from..).unwrap_or_default();
        from + behind.iter().take(most).take_while(|b| is(b)).count()
    };
    let end = match bytes.get(at + 1) {
        Some(b'\r') if bytes.get(at + 2) == Some(&b'\n') => at + 3,
        Some(b'x') if !raw => digits(at + 2, 2, u8::is_ascii_hexdigit),
        Some(b'u') if !raw => digits(at + 2, 4, u8::is_ascii_hexdigit),
        Some(b'U') if !raw => digits(at + 2, 8, u8::is_ascii_hexdigit),
        Some(b'0'..=b'7') if !raw => digits(at + 1, 3, |b| (b'0'..=b'7').contains(b)),
        Some(b'N') if !raw && bytes.get(at + 2) == Some(&b'{') => {
            let name = digits(at + 3, NAME, |b| {
                b.is_ascii_alphanumeric() || b" -()".contains(b)
            });
            name + usize::from(bytes.get(name) == Some(&b'}'))
        }
        // A character has several bytes.
        Some(_) => digits(at + 2, 3, |b| (0x80..0xc0).contains(b)),
        None => at + 1,
    };
    end.min(bytes.len())
}

/// Longest name of a character that is read.
const NAME: usize = 128;

impl<'t> Python<'t> {
    /// `None` for a string without an end and for other code that no Python reads: it never runs. Strings end where Python's grammar lets them
    /// (<https://docs.python.org/3/reference/lexical_analysis.html#strings>), an f-string
    /// where Python 3.11 ends it, as the analyser does: later ones take more, which no verdict lets run.
    pub fn of(text: &'t str) -> Option<Self> {
        let bytes = text.as_bytes();
        scan::read(text.len());
        let (mut said, mut at, mut all_bind) = (Said::default(), 0, true);
        while let Some(next) = memchr::memchr3(b'"', b'\'', b'#', &bytes[at..]) {
            let begin = at + next;
            may_run(&bytes[at..begin])?;
            all_bind &= only_binds(&bytes[at..begin]);
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
        may_run(&bytes[at..])?;
        let only_binds = all_bind && only_binds(&bytes[at..]) && !said.has_fields;
        Some(Self {
            text,
            said,
            only_binds,
        })
    }

    /// What was found as it stands: what strings and comments say of it, and what is in neither if it can do nothing.
    pub fn direct(&self, found: Vec<Span>) -> Vec<Span> {
        let mut kept = Vec::with_capacity(found.len());
        for span in found {
            let mut add = |at| {
                let kind = span.kind.clone();
                kept.push(Span { at, kind });
            };
            if is_one_of(&self.said.in_fields, &span.at) {
                self.said.whole(span.at.clone(), &mut add);
                continue;
            }
            let parts = parts(&self.said.text, &span.at);
            if parts.is_empty() && self.is_bound_by_nothing(&span.at) {
                add(span.at.clone());
                continue;
            }
            for part in parts {
                self.said.whole(part, &mut add);
            }
        }
        kept
    }

    /// What was found for its value: what one string or comment says.
    pub fn again(&self, mut found: Vec<Span>) -> Vec<Span> {
        let said = [&self.said.text, &self.said.in_fields];
        found.retain(|span| said.into_iter().any(|said| is_one_of(said, &span.at)));
        let mut kept = Vec::with_capacity(found.len());
        for Span { at, kind } in found {
            self.said.whole(at, &mut |at| {
                let kind = kind.clone();
                kept.push(Span { at, kind });
            });
        }
        kept
    }

    /// Whether it is one number, or one name where code only binds names, and that stands nowhere else: nothing can have
    /// given it a value, and nobody uses what it is given to. Any other name may be what runs.
    fn is_bound_by_nothing(&self, at: &Range<usize>) -> bool {
        let bytes = self.text.as_bytes();
        let name = &bytes[at.clone()];
        let once = || memchr::memmem::find_iter(bytes, name).nth(1).is_none();
        is_number(bytes, at) || self.only_binds && is_word(bytes, at) && once()
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
            // A quote behind it does not end the string, nor does a line.
            b'\\' => at = escaped(bytes, at, true),
            b'\n' | b'\r' if !triple => return None,
            b if b == sign && (!triple || bytes[at..].starts_with(&[sign; 3])) => break,
            _ => at += 1,
        }
    }
    let content = begin + signs..at;
    let form = Form {
        raw: has_prefix(&bytes[..begin], b"rR"),
        triple,
        place,
    };
    // `f`, `rf`, `t` and the like have fields.
    match has_prefix(&bytes[..begin], b"fFtT") {
        true => text_of(bytes, content, form, said),
        false => {
            let mut at = content.start;
            while let Some(next) = memchr::memchr(b'\\', &bytes[at..content.end]) {
                at = said.escape(&bytes[..content.end], at + next, form);
            }
            said.add(place, content);
        }
    }
    Some(at + signs)
}

/// Whether the string behind this text has one of these letters in its prefix.
fn has_prefix(before: &[u8], of: &[u8]) -> bool {
    let letters = before.iter().rev().take(3);
    letters
        .take_while(|b| b.is_ascii_alphabetic())
        .any(|b| of.contains(b))
}

/// What an f-string says besides its fields (<https://docs.python.org/3/reference/lexical_analysis.html#f-strings>). The
/// strings in a field are strings; all else of it is code.
fn text_of(bytes: &[u8], content: Range<usize>, form: Form, said: &mut Said) {
    let bytes = &bytes[..content.end];
    let (mut at, mut from) = (content.start, content.start);
    while at < content.end {
        at = match (bytes[at], bytes.get(at + 1)) {
            // One is no field; half of two is.
            (b'{', Some(b'{')) | (b'}', Some(b'}')) => {
                said.escapes.push(at..at + 2);
                at + 2
            }
            (b'{', _) => {
                said.has_fields = true;
                said.add(form.place, from..at);
                from = field(bytes, at + 1, content.end, said);
                from
            }
            // No escape: what is behind it begins or ends a field all the same.
            (b'\\', Some(b'{' | b'}')) => at + 1,
            (b'\\', _) => said.escape(bytes, at, form),
            _ => at + 1,
        };
    }
    said.add(form.place, from.min(content.end)..content.end);
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
