//! What a text says to whoever sees it on a terminal or decodes it: without colours, invisible characters and accents,
//! and with written escapes as the characters that they stand for. Each byte knows where it stands in the text.

use std::ops::Range;

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

use super::scan;
use crate::model::unseen::{is_bidi, is_invisible};

/// How often an escape is looked for in what an escape became: `%2541`.
const DEEP: usize = 3;
/// Longest sequence for a terminal that is skipped, in bytes. A longer one is text that begins with an escape.
const SEQUENCE: usize = 4096;

/// A text made of another one.
#[derive(Debug, Default)]
pub(super) struct View {
    pub text: String,
    /// For each byte of it: the bytes that it was made of.
    from: Vec<(u32, u32)>,
}

impl View {
    pub fn push(&mut self, c: char, from: Range<usize>) {
        self.text.push(c);
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let from = (place(from.start), place(from.end));
        self.from.resize(self.text.len(), from);
    }

    /// Where this byte came from.
    fn origin(&self, at: usize) -> Range<usize> {
        let (start, end) = self.from.get(at).copied().unwrap_or_default();
        start as usize..end as usize
    }

    /// The parts of the first text that became these bytes: one, or those without what was skipped if one would be longer
    /// than `most` bytes.
    pub fn origins(&self, of: Range<usize>, most: usize, mut add: impl FnMut(Range<usize>)) {
        let (Some(last), first) = (of.end.checked_sub(1), self.origin(of.start)) else {
            return;
        };
        let whole = first.start..self.origin(last).end;
        if whole.len() <= most {
            return add(whole);
        }
        let mut part = first;
        for at in of {
            let next = self.origin(at);
            if next.start > part.end || next.end - part.start > most {
                add(part);
                part = next;
            } else {
                part.end = part.end.max(next.end);
            }
        }
        add(part);
    }

    /// The parts of the first text that became these bytes, without what was skipped between them.
    pub fn parts(&self, of: Range<usize>, mut add: impl FnMut(Range<usize>)) {
        let mut part = self.origin(of.start);
        for at in of {
            let next = self.origin(at);
            if next.start > part.end {
                add(part);
                part = next;
            } else {
                part.end = part.end.max(next.end);
            }
        }
        add(part);
    }

    /// The same bytes with the places that they have in what `below` was made of.
    fn over(mut self, below: &Self) -> Self {
        for (start, end) in &mut self.from {
            let last = (*end as usize).saturating_sub(1);
            let first = below.from.get(*start as usize).copied().unwrap_or_default();
            let last = below.from.get(last).copied().unwrap_or_default();
            (*start, *end) = (first.0, last.1);
        }
        self
    }
}

/// The views of a text that differ from it.
pub(super) fn views(text: &str) -> Vec<View> {
    let mut all: Vec<View> = visible(text).into_iter().collect();
    for _ in 0..DEEP {
        let next = match all.last() {
            Some(below) => unescaped(&below.text).map(|view| view.over(below)),
            None => unescaped(text),
        };
        let Some(next) = next else { break };
        all.push(next);
    }
    all
}

/// The text with strings that code puts together as one, and without the line ends that a backslash takes away; `None` if
/// it has neither.
pub(super) fn joined(text: &str) -> Option<View> {
    let mut view = View::default();
    let mut changed = false;
    let mut at = 0;
    scan::read(text.len());
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        if let Some(end) = seam(text, at) {
            changed = true;
            at = end;
            continue;
        }
        let end = at + c.len_utf8();
        view.push(c, at..end);
        at = end;
    }
    changed.then_some(view)
}

/// The end of what stands between two strings that are one, or of a line end that is taken away.
fn seam(text: &str, at: usize) -> Option<usize> {
    const BLANKS: usize = 80;
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
    if byte(at) == b'\\' && byte(at + 1) == b'\n' {
        return Some(at + 2);
    }
    let is_letter = |b: u8| b.is_ascii_alphanumeric() || b"_-.+/=:".contains(&b);
    let is_quote = |b: u8| matches!(b, b'"' | b'\'');
    if !is_quote(byte(at)) || at == 0 || !is_letter(byte(at - 1)) {
        return None;
    }
    let blanks = |at: usize| scan::ahead(text, at, BLANKS, |b| b" \t\r\n\\".contains(&b));
    let mut next = at + 1 + blanks(at + 1);
    let plus = byte(next) == b'+';
    if plus {
        next += 1 + blanks(next + 1);
    } else if byte(next - 1) == b'\n' || next == at + 1 {
        // Lines of quoted texts are no parts of one; neither is what quotes of another kind begin.
        return None;
    }
    next += scan::ahead(text, next, 2, |b| b"rRbBfFuU".contains(&b));
    (is_quote(byte(next)) && is_letter(byte(next + 1))).then_some(next + 1)
}

/// The text as a reader sees it.
pub(super) fn seen(text: &str) -> String {
    visible(text).map_or_else(|| text.to_owned(), |view| view.text)
}

fn is_plain(b: u8) -> bool {
    matches!(b, b' '..=b'~' | b'\t' | b'\n' | b'\r')
}

fn visible(text: &str) -> Option<View> {
    scan::read(text.len());
    let first = text.bytes().position(|b| !is_plain(b))?;
    let mut view = View::default();
    let mut changed = false;
    let mut at = 0;
    let mut strings = Strings::default();
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let end = at + c.len_utf8();
        let skipped = match c {
            '\u{1b}' | '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}'..='\u{9f}' => {
                Some(sequence(text, at, &mut strings))
            }
            '\u{8}' => {
                if view.text.pop().is_some() {
                    view.from.truncate(view.text.len());
                }
                Some(end)
            }
            _ if c.is_control() && !matches!(c, '\t' | '\n' | '\r') => Some(end),
            _ if at >= first && (is_bidi(c) || is_invisible(c) || is_combining_mark(c)) => {
                Some(end)
            }
            _ => None,
        };
        if let Some(to) = skipped {
            changed = true;
            at = to;
            continue;
        }
        match c.is_ascii() {
            true => view.push(c, at..end),
            false => decompose_compatible(c, |part| {
                changed |= part != c;
                if !is_combining_mark(part) {
                    view.push(part, at..end);
                }
            }),
        }
        at = end;
    }
    changed.then_some(view)
}

/// The ends of strings for a terminal (BEL or ST), each of which is looked for once.
#[derive(Default)]
struct Strings {
    /// Where the last one that was found begins and ends.
    last: Option<(usize, usize)>,
}

impl Strings {
    /// The first end behind this place; places come in their order.
    fn end(&mut self, bytes: &[u8], from: usize) -> usize {
        let (begin, end) = self.last.unwrap_or_default();
        if self.last.is_some() && begin >= from {
            return end;
        }
        let from = from.max(end);
        let is_end = |n: &usize| match bytes[*n] {
            0x07 => true,
            0x1b => bytes.get(*n + 1) == Some(&b'\\'),
            _ => false,
        };
        let none = usize::MAX / 2;
        let begin = (from..bytes.len()).find(is_end).unwrap_or(none);
        scan::read(begin.min(bytes.len()).saturating_sub(from));
        let length = if bytes.get(begin) == Some(&0x1b) {
            2
        } else {
            1
        };
        self.last = Some((begin, begin + length));
        begin + length
    }
}

/// The end of the sequence for a terminal that begins here (ECMA-48). An escape without one is a control character.
fn sequence(text: &str, at: usize, strings: &mut Strings) -> usize {
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
    // C1, two bytes in UTF-8, is the same with 0x40 less.
    let (kind, alone) = match byte(at) {
        0x1b => (byte(at + 1), at + 1),
        _ => (byte(at + 1).saturating_sub(0x40), at + 2),
    };
    let body = at + 2;
    // Up to its last byte, among bytes that it may have.
    let first = |is_last: fn(u8) -> bool| {
        let has = |b: u8| !is_last(b) && b < 0x80 && b != 0x1b;
        let length = scan::ahead(text, body, SEQUENCE, has);
        is_last(byte(body + length)).then_some(length + 1)
    };
    let end = match kind {
        b'[' => first(|b| (0x40..=0x7e).contains(&b)),
        b']' | b'P' | b'X' | b'^' | b'_' => {
            let length = strings.end(bytes, body) - body;
            (length <= SEQUENCE).then_some(length)
        }
        b' '..=b'/' => first(|b| (0x30..=0x7e).contains(&b)),
        0x30..=0x7e => Some(0),
        _ => None,
    };
    let end = end.map_or(alone, |n| body + n);
    text.floor_char_boundary(end).max(alone)
}

/// `%41`, `\x41`, `\101`, `\u0041`, `\U00000041`, `\u{41}`, `&#65;` and `&#x41;` as what they stand for.
fn unescaped(text: &str) -> Option<View> {
    scan::read(text.len());
    let mut begins = text.bytes().enumerate();
    let is_one = |(at, b): (usize, u8)| {
        matches!(b, b'%' | b'\\' | b'&')
            && text.get(at..).is_some_and(|rest| escape(rest).is_some())
    };
    if !begins.any(is_one) {
        return None;
    }
    let mut view = View::default();
    // Bytes that together may be one character.
    let mut bytes: Vec<(u8, Range<usize>)> = Vec::new();
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        match escape(&text[at..]) {
            Some((Meant::Byte(byte), length)) => {
                bytes.push((byte, at..at + length));
                at += length;
            }
            Some((Meant::Char(meant), length)) => {
                flush(&mut bytes, &mut view);
                view.push(meant, at..at + length);
                at += length;
            }
            None => {
                flush(&mut bytes, &mut view);
                let end = at + c.len_utf8();
                view.push(c, at..end);
                at = end;
            }
        }
    }
    flush(&mut bytes, &mut view);
    Some(view)
}

/// What markup names.
const NAMED: [(&str, char); 5] = [
    ("quot;", '"'),
    ("apos;", '\''),
    ("lt;", '<'),
    ("gt;", '>'),
    ("amp;", '&'),
];

enum Meant {
    Byte(u8),
    Char(char),
}

/// What the escape at the start of a text stands for, and its length.
fn escape(text: &str) -> Option<(Meant, usize)> {
    let digits = |from: usize, count: usize, radix: u32| -> Option<u32> {
        let all = text.get(from..from + count)?;
        let sound = all.chars().all(|c| c.is_digit(radix));
        sound
            .then(|| u32::from_str_radix(all, radix).ok())
            .flatten()
    };
    let byte = |value: Option<u32>, length| {
        let value = value.and_then(|value| u8::try_from(value).ok())?;
        Some((Meant::Byte(value), length))
    };
    let char =
        |value: Option<u32>, length| Some((Meant::Char(value.and_then(char::from_u32)?), length));
    // Up to a closing sign, of at most eight digits.
    let closed = |from: usize, sign: u8, radix: u32| {
        let rest = text.get(from..)?;
        let count = scan::next(rest, 0, 9, sign).filter(|count| *count > 0)?;
        char(digits(from, count, radix), from + count + 1)
    };
    match text.as_bytes() {
        [b'%', ..] => byte(digits(1, 2, 16), 3),
        [b'\\', b'x', ..] => byte(digits(2, 2, 16), 4),
        [b'\\', b'0'..=b'3', ..] => byte(digits(1, 3, 8), 4),
        [b'\\', b'u', b'{', ..] => closed(3, b'}', 16),
        [b'\\', b'u', ..] => char(digits(2, 4, 16), 6),
        [b'\\', b'U', ..] => char(digits(2, 8, 16), 10),
        [b'&', b'#', b'x' | b'X', ..] => closed(3, b';', 16),
        [b'&', b'#', ..] => closed(2, b';', 10),
        [b'&', rest @ ..] => NAMED.iter().find_map(|(name, c)| {
            let meant = Meant::Char(*c);
            rest.starts_with(name.as_bytes())
                .then_some((meant, name.len() + 1))
        }),
        _ => None,
    }
}

fn flush(bytes: &mut Vec<(u8, Range<usize>)>, view: &mut View) {
    let all: Vec<u8> = bytes.iter().map(|(byte, _)| *byte).collect();
    let mut at = 0;
    let mut push = |c, length: usize| {
        let last = (at + length).saturating_sub(1);
        if let (Some(first), Some(last)) = (bytes.get(at), bytes.get(last)) {
            view.push(c, first.1.start..last.1.end);
        }
        at += length;
    };
    for chunk in all.utf8_chunks() {
        chunk.valid().chars().for_each(|c| push(c, c.len_utf8()));
        match chunk.invalid().len() {
            0 => {}
            odd => push(char::REPLACEMENT_CHARACTER, odd),
        }
    }
    bytes.clear();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn colours_invisible_characters_and_accents_are_not_seen() {
        for (text, expected) in [
            ("\u{1b}[31mgh\u{1b}[0;1mp_a\u{1b}[0m", "ghp_a"),
            ("g\u{200b}h\u{feff}p\u{ad}_\u{2060}a", "ghp_a"),
            ("g\u{301}h\u{20dd}p_\u{fe0f}a", "ghp_a"),
            ("\u{1b}]8;;http://x\u{1b}\\ghp\u{1b}]8;;\u{7}_a", "ghp_a"),
            ("g\u{8}gh\u{8}hp_\0a", "ghp_a"),
            ("\u{9b}1mghp_a\u{1b}(B", "ghp_a"),
            ("ｇｈｐ＿ａ", "ghp_a"),
            ("\u{1b}", ""),
            ("a\u{1b}[", "a["),
        ] {
            assert_eq!(seen(text), expected, "{text:?}");
        }
        assert!(visible("plain\r\n\ttext").is_none());
    }

    #[test]
    fn written_escapes_are_what_they_stand_for() {
        for (text, expected) in [
            ("%67hp%5F", "ghp_"),
            (r"\x67\150p\u005f", "ghp_"),
            (r"\U00000067\u{68}p_", "ghp_"),
            ("&#103;&#x68;p_", "ghp_"),
            ("%2567hp_", "ghp_"),
            ("%c3%bc", "ü"),
            ("%ff%67", "\u{fffd}g"),
        ] {
            let all = views(text);
            assert_eq!(all.last().unwrap().text, expected, "{text}");
        }
        assert!(views(r"100% of \n & \d &#;").is_empty());
    }

    proptest! {
        #[test]
        fn each_byte_of_a_view_comes_from_whole_characters(
            text in r"([a-z%é\x1b\[\]\\;&#\x{8}\x{200b}\x{301}\n]|\x1b\[1m|%[0-9a-f]{2}|\\x[0-9a-f]{2}|\\u00[0-9a-f]{2}|\u{9b}){0,40}",
        ) {
            for view in views(&text) {
                prop_assert_eq!(view.text.len(), view.from.len());
                for at in 0..view.text.len() {
                    let from = view.origin(at);
                    prop_assert!(text.get(from.clone()).is_some_and(|from| !from.is_empty()), "{:?}", from);
                }
                view.origins(0..view.text.len(), 8, |part| assert!(text.get(part).is_some()));
            }
        }
    }
}
