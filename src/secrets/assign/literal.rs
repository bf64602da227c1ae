//! Strings as code, JSON, markup and shells write them.

use std::ops::Range;

use super::super::scan;

/// Longest string that is read, in bytes.
const STRING: usize = 600;
/// Most blanks between two parts of an assignment.
const BLANKS: usize = 200;
/// Most strings of a list, and the most bytes of it.
const LIST: (usize, usize) = (32, 1024);

/// A quote as it stands in a text: in JSON in a string it has backslashes before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quote {
    pub sign: u8,
    pub slashes: usize,
    pub triple: bool,
}

const fn is_quote(b: u8) -> bool {
    matches!(b, b'"' | b'\'' | b'`')
}

pub(super) fn byte(text: &str, at: usize) -> u8 {
    scan::read(1);
    text.as_bytes().get(at).copied().unwrap_or_default()
}

/// Behind blanks, and behind line ends too if they may stand here.
pub(super) fn skip(text: &str, from: usize, lines: bool) -> usize {
    let mut at = from;
    while at < from + BLANKS {
        at += match byte(text, at) {
            b' ' | b'\t' => 1,
            b'\n' | b'\r' if lines => 1,
            b'\\' if byte(text, at + 1) == b'\n' => 2,
            // A comment behind an opened bracket.
            b'#' if lines && at > from => scan::ahead(text, at, BLANKS, |b| b != b'\n'),
            _ => break,
        };
    }
    at
}

/// The quote that begins here, and where the string behind it does.
pub(super) fn opens(text: &str, at: usize) -> Option<(Quote, usize)> {
    let slashes = scan::ahead(text, at, 8, |b| b == b'\\');
    let sign = byte(text, at + slashes);
    if !is_quote(sign) {
        return None;
    }
    let begin = at + slashes + 1;
    let one = |at: usize| {
        (0..slashes).all(|n| byte(text, at + n) == b'\\') && byte(text, at + slashes) == sign
    };
    let triple = one(begin) && one(begin + slashes + 1);
    let begin = begin + if triple { 2 * (slashes + 1) } else { 0 };
    let quote = Quote {
        sign,
        slashes,
        triple,
    };
    Some((quote, begin))
}

/// The quote that ends right before this place.
pub(super) fn before(text: &str, at: usize) -> Option<Quote> {
    let sign = byte(text, at.checked_sub(1)?);
    let slashes = scan::behind(text, at - 1, 8, |b| b == b'\\');
    is_quote(sign).then_some(Quote {
        sign,
        slashes,
        triple: false,
    })
}

/// Whether this quote closes here; the end of it.
pub(super) fn closes(text: &str, at: usize, quote: Quote) -> Option<usize> {
    let slashes = (0..quote.slashes).all(|n| byte(text, at + n) == b'\\');
    (slashes && byte(text, at + quote.slashes) == quote.sign).then_some(at + quote.slashes + 1)
}

/// The content of a string that begins here, with or without a prefix, and the end of its quotes.
pub(super) fn string(text: &str, at: usize) -> Option<(Range<usize>, usize)> {
    let prefix = scan::ahead(text, at, 2, |b| b"rRbBuUfFtT@$".contains(&b));
    let (quote, begin) = opens(text, at + prefix)?;
    let end = text.len().min(begin + STRING);
    let mut here = begin;
    let mut slashes = 0;
    while here < end {
        let b = byte(text, here);
        match b {
            b'\\' => slashes += 1,
            b'\n' if !quote.triple && quote.sign != b'`' && slashes == 0 => return None,
            _ if b == quote.sign => {
                let real = if quote.slashes == 0 {
                    slashes % 2 == 0
                } else {
                    slashes <= quote.slashes
                };
                let behind = here + 1;
                let triple = !quote.triple
                    || byte(text, behind) == b && byte(text, behind + 1) == b
                    || quote.slashes > 0 && closes(text, behind, quote).is_some();
                if real && triple {
                    let content = begin..here - slashes.min(quote.slashes);
                    let rest = if quote.triple {
                        2 * (quote.slashes + 1)
                    } else {
                        0
                    };
                    return Some((trimmed(text, content), behind + rest));
                }
                slashes = 0;
            }
            _ => slashes = 0,
        }
        here += 1;
    }
    None
}

/// Without blanks around it and line ends that are written at its end.
fn trimmed(text: &str, at: Range<usize>) -> Range<usize> {
    let Some(content) = text.get(at.clone()) else {
        return at;
    };
    let start = at.start + content.len() - content.trim_start().len();
    let mut content = content.trim();
    while let Some(less) = content
        .strip_suffix("\\n")
        .or_else(|| content.strip_suffix("\\r"))
    {
        content = less.trim_end();
    }
    start..start + content.len()
}

/// Strings that stand together: `"a" "b"`, `"a" + "b"`, also on several lines.
pub(super) fn strings(text: &str, at: usize, lines: bool) -> Option<(Vec<Range<usize>>, usize)> {
    let (first, mut end) = string(text, at)?;
    let mut all = vec![first];
    while all.len() < LIST.0 && end < at + LIST.1 {
        let mut next = skip(text, end, lines);
        if matches!(byte(text, next), b'+' | b'.') && byte(text, next + 1) != b'=' {
            next = skip(text, next + 1, lines);
        }
        let Some((content, behind)) = string(text, next) else {
            break;
        };
        // A string right behind another one is the end of three quotes, or no string.
        if next == end && opens(text, next).is_none() {
            break;
        }
        all.push(content);
        end = behind;
    }
    Some((all, end))
}

/// An element of a list.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub strings: Vec<Range<usize>>,
    /// `:` follows: a name for the next one.
    pub names: bool,
}

/// The elements of a list up to its end, a line end outside of brackets, or the bound. What is no string has none.
pub(super) fn elements(text: &str, from: usize, lines: bool) -> (Vec<Element>, usize) {
    let mut all = Vec::new();
    let mut at = skip(text, from, lines);
    let end = text.len().min(from + LIST.1);
    while at < end && all.len() < LIST.0 {
        let mut strings = Vec::new();
        if let Some((found, behind)) = self::strings(text, at, lines) {
            (strings, at) = (found, behind);
        }
        // To the next comma.
        let mut depth = 0_u32;
        while at < end {
            match byte(text, at) {
                b',' | b':' if depth == 0 => break,
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' if depth == 0 => break,
                b')' | b']' | b'}' => depth -= 1,
                b'\n' if !lines => break,
                b if is_quote(b) => match string(text, at) {
                    Some((_, behind)) => at = behind - 1,
                    None => return (all, at),
                },
                _ => {}
            }
            at += 1;
        }
        let names = byte(text, at) == b':';
        all.push(Element { strings, names });
        if !matches!(byte(text, at), b',' | b':') {
            break;
        }
        at = skip(text, at + 1, lines);
    }
    (all, at)
}
