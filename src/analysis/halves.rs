//! Halves of surrogate pairs that a literal spells out, as in `'[\ud800-\udfff]'`.
//!
//! Python strings can contain them, Rust strings cannot: the parser would turn each into U+FFFD, so
//! different literals would become equal. Each half is therefore replaced by the private-use
//! character `0x1000` higher. The escapes keep their length, so all positions stay valid. The
//! runner does the same for the constants it compares (`facts.py`).

use std::borrow::Cow;
use std::ops::RangeInclusive;

use rustpython_parser::lexer::lex;
use rustpython_parser::{Mode, StringKind, Tok};

/// The characters that replace halves.
const STANDS: RangeInclusive<char> = '\u{e800}'..='\u{efff}';

/// The text with all halves replaced, or the offset of a half that could be confused with a
/// character of the text.
pub fn replaced(text: &str) -> Result<Cow<'_, str>, usize> {
    let halves = find(text);
    let Some(first) = halves.first() else {
        return Ok(Cow::Borrowed(text));
    };
    if text.chars().any(|c| STANDS.contains(&c)) || escapes(text, b"eE").next().is_some() {
        return Err(*first);
    }
    let mut bytes = text.as_bytes().to_vec();
    for at in halves {
        // The first digit after any leading zeros.
        bytes[at] = b'e';
    }
    Ok(String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned))
}

/// Whether a parsed text contains replaced halves, given that the code spells some out.
pub fn is_in(text: &str) -> bool {
    text.chars().any(|c| STANDS.contains(&c))
}

/// The offsets of the digit `d` of every half, in literals that process escapes.
pub fn find(text: &str) -> Vec<usize> {
    // Skip tokenizing, which nearly every text does not need.
    if escapes(text, b"dD").next().is_none() {
        return Vec::new();
    }
    lex(text, Mode::Module)
        .map_while(Result::ok)
        .filter(|(token, _)| {
            let Tok::String { kind, .. } = token else {
                return false;
            };
            matches!(
                kind,
                StringKind::String | StringKind::FString | StringKind::Unicode
            )
        })
        .flat_map(|(_, range)| {
            let start = range.start().to_usize();
            let literal = &text[range];
            escapes(literal, b"dD").map(move |at| start + at)
        })
        .collect()
}

/// The offsets of the first digit of `\uD8…` to `\uDF…`, including the eight-digit form, with
/// `letters` in place of `D`.
fn escapes<'a>(text: &'a str, letters: &'a [u8; 2]) -> impl Iterator<Item = usize> + 'a {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at + 1 < bytes.len() {
            if bytes[at] != b'\\' {
                at += 1;
                continue;
            }
            let digits = match &bytes[at + 1..] {
                [b'u', ..] => at + 2,
                [b'U', b'0', b'0', b'0', b'0', ..] => at + 6,
                _ => 0,
            };
            at += 2;
            if let Some([first, second, third, fourth]) = bytes.get(digits..digits + 4)
                && digits > 0
                && letters.contains(first)
                && matches!(second, b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F')
                && third.is_ascii_hexdigit()
                && fourth.is_ascii_hexdigit()
            {
                return Some(digits);
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_half_is_another_character_and_stays_in_its_place() {
        for (text, read) in [
            (r"x = 'a\ud800'", r"x = 'a\ue800'"),
            (r"x = u'\uDFff' f'\udABC{y}'", r"x = u'\ueFff' f'\ueABC{y}'"),
            (r"x = '\U0000d8aB'", r"x = '\U0000e8aB'"),
            (r"x = '\\\ud800'", r"x = '\\\ue800'"),
        ] {
            assert_eq!(replaced(text).unwrap(), read);
        }
        for same in [
            r"x = '\\ud800'",
            r"x = r'\ud800'",
            r"x = b'\ud800' rb'\ud800'",
            r"x = '\ud7ff' '\ud8' '\ue800'  # \ud800",
            "x = '\u{e800}'",
            r"x = rf'\ud800{y}'",
        ] {
            assert_eq!(replaced(same).unwrap(), same);
        }
    }

    #[test]
    fn what_a_half_could_be_taken_for_is_refused() {
        for text in [
            "x = '\\ud800' '\u{e800}'",
            r"x = '\ud800' == '\ue800'",
            r"x = {'\ud800': 1, '\U0000EfFF': 2}",
        ] {
            assert_eq!(replaced(text), Err(7 + usize::from(text.contains('{'))));
        }
    }
}
