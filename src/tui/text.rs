//! The one sanitiser: text from anywhere becomes pieces that a terminal draws as exactly what
//! they are. Nothing else in the dashboard turns text into cells.
//!
//! What is not plainly visible (controls, escapes, bidi controls, zero-width and invisible
//! characters, tag characters, tabs, odd blanks, private use, unassigned, stacked combining
//! marks) becomes a visible mark such as `␛` or `⟨U+202E⟩`, drawn in the theme's warning style.
//! Width is measured on what is drawn, never on the source.

use unicode_normalization::char::is_combining_mark;
use unicode_security::mixed_script::AugmentedScriptSet;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Combining marks that may sit on one letter; more of them climb over neighbouring rows.
const STACK: usize = 2;

/// How one piece of the source is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown<'a> {
    /// The source text itself: one character, and the combining marks that sit on it.
    Plain(&'a str),
    /// A visible stand-in.
    Mark(Mark),
}

/// The stand-in for a character that a terminal would hide or obey.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    bytes: [u8; 16],
    len: u8,
}

impl Mark {
    fn of(c: char) -> Self {
        match c {
            '\t' => Self::text("→   "),
            '\0'..='\u{1f}' => Self::char(control_picture(c)),
            '\u{7f}' => Self::char('␡'),
            _ => {
                // At most `⟨U+10FFFF⟩`: 14 bytes.
                let mut mark = Self {
                    bytes: [0; 16],
                    len: 0,
                };
                mark.push("⟨U+");
                let hex = c as u32;
                let digits = (8 - hex.leading_zeros() / 4).max(4);
                for i in (0..digits).rev() {
                    let nibble = (hex >> (4 * i)) & 0xf;
                    mark.push(&"0123456789ABCDEF"[nibble as usize..=nibble as usize]);
                }
                mark.push("⟩");
                mark
            }
        }
    }

    fn char(c: char) -> Self {
        Self::text(c.encode_utf8(&mut [0; 4]))
    }

    fn text(text: &str) -> Self {
        let mut mark = Self {
            bytes: [0; 16],
            len: 0,
        };
        mark.push(text);
        mark
    }

    fn push(&mut self, text: &str) {
        let from = usize::from(self.len);
        if let Some(room) = self.bytes.get_mut(from..from + text.len()) {
            room.copy_from_slice(text.as_bytes());
            self.len += text.len() as u8;
        }
    }

    pub fn as_str(&self) -> &str {
        // Only whole `str`s were pushed, so this is always UTF-8.
        std::str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or("?")
    }
}

/// Unicode's pictures of the control characters, U+2400 onwards.
fn control_picture(c: char) -> char {
    char::from_u32(0x2400 + c as u32).unwrap_or('?')
}

/// A stretch of the source and how it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    /// Byte offset in the source.
    pub start: usize,
    /// One past the last byte in the source.
    pub end: usize,
    pub shown: Shown<'a>,
    /// Columns it takes.
    pub width: usize,
}

impl<'a> Piece<'a> {
    /// What is drawn.
    pub fn text(&'a self) -> &'a str {
        match &self.shown {
            Shown::Plain(text) => text,
            Shown::Mark(mark) => mark.as_str(),
        }
    }

    pub const fn is_mark(&self) -> bool {
        matches!(self.shown, Shown::Mark(_))
    }
}

/// Splits text into pieces. Starting again at any piece's `start` gives the same rest, so a
/// wrapped row can be drawn without what precedes it.
pub fn pieces(text: &str) -> Pieces<'_> {
    Pieces { text, at: 0 }
}

#[derive(Clone, Debug)]
pub struct Pieces<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let rest = self.text.get(self.at..)?;
        let mut chars = rest.chars();
        let first = chars.next()?;
        let start = self.at;
        let mut end = start + first.len_utf8();
        let piece = match class(first) {
            Class::Plain(width) => {
                let mut width = width;
                if first.is_alphabetic() && !first.is_ascii_control() {
                    for mark in chars.take(STACK) {
                        if !matches!(class(mark), Class::Combining) {
                            break;
                        }
                        let with = &self.text[start..end + mark.len_utf8()];
                        let wide = UnicodeWidthStr::width(with);
                        if !(width..=2).contains(&wide) {
                            break;
                        }
                        width = wide;
                        end += mark.len_utf8();
                    }
                }
                Piece {
                    start,
                    end,
                    shown: Shown::Plain(&self.text[start..end]),
                    width,
                }
            }
            Class::Combining | Class::Marked => {
                let mark = Mark::of(first);
                Piece {
                    start,
                    end,
                    shown: Shown::Mark(mark),
                    width: UnicodeWidthStr::width(mark.as_str()),
                }
            }
        };
        self.at = end;
        Some(piece)
    }
}

enum Class {
    /// Drawn as it is, this many columns wide.
    Plain(usize),
    /// Drawn only on a letter.
    Combining,
    /// Replaced.
    Marked,
}

fn class(c: char) -> Class {
    if matches!(c, ' '..='~') {
        return Class::Plain(1);
    }
    if is_listed(c) || AugmentedScriptSet::for_char(c).is_empty() {
        return Class::Marked;
    }
    if is_combining_mark(c) {
        return Class::Combining;
    }
    match UnicodeWidthChar::width(c) {
        Some(width @ 1..=2) => Class::Plain(width),
        _ => Class::Marked,
    }
}

/// Characters that have a width, or are marks, and still must not be drawn: format characters
/// (Cf), blanks that look like a space, fillers, variation selectors, tags, and those that
/// terminals join with their neighbours (flags, skin tones, enclosing marks).
const fn is_listed(c: char) -> bool {
    matches!(c,
        '\u{00}'..='\u{1f}' | '\u{7f}'..='\u{a0}' | '\u{ad}' | '\u{34f}'
        | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
        | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{1680}'
        | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}'
        | '\u{20dd}'..='\u{20e0}' | '\u{20e2}'..='\u{20e4}' | '\u{2800}' | '\u{3000}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffc}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{1f1e6}'..='\u{1f1ff}' | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Columns the drawn text takes.
pub fn width(text: &str) -> usize {
    pieces(text).map(|p| p.width).sum()
}

/// The text as it is drawn, without the warning style: for titles in plain strings.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text) {
        out.push_str(piece.text());
    }
    out
}

/// At most `columns` of the drawn text; what does not fit is replaced by `…`. Looks only at as
/// much of a long text as is drawn.
pub fn cut(text: &str, columns: usize) -> &str {
    let mut used = 0;
    for piece in pieces(text) {
        if used + piece.width > columns {
            return &text[..piece.start];
        }
        used += piece.width;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The general rule, told another way than the code under test tells it.
    fn harmless(c: char) -> bool {
        !c.is_control()
            && !matches!(c as u32,
                0xad | 0x61c | 0x180e | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f
                | 0xfeff | 0xfe00..=0xfe0f | 0xe000..=0xf8ff | 0xe0000..=0x10ffff | 0xfff9..=0xfffb)
    }

    proptest! {
        #[test]
        fn nothing_hidden_or_obeyed_by_a_terminal_comes_out(text in any::<String>()) {
            let drawn = plain(&text);
            prop_assert!(drawn.chars().all(harmless), "{drawn:?}");
        }

        #[test]
        fn pieces_cover_the_source_and_each_is_visible(text in "\\PC*|[\\x00-\\x1f\\u{300}-\\u{36f}a\\u{200b}-\\u{202f}א]*") {
            let mut at = 0;
            for piece in pieces(&text) {
                prop_assert_eq!(piece.start, at);
                prop_assert!(piece.width >= 1);
                prop_assert!(piece.text().chars().filter(|c| is_combining_mark(*c)).count() <= STACK);
                // Drawing again from here gives the same piece: rows do not depend on what precedes.
                prop_assert_eq!(pieces(&text[at..]).next().map(|p| p.shown), Some(piece.shown));
                at = piece.end;
            }
            prop_assert_eq!(at, text.len());
        }

        #[test]
        fn a_cut_text_fits(text in any::<String>(), columns in 0_usize..40) {
            prop_assert!(width(cut(&text, columns)) <= columns);
        }
    }

    #[test]
    fn every_scalar_value_is_shown_or_marked() {
        for c in '\0'..=char::MAX {
            let text = c.to_string();
            let piece = pieces(&text).next().unwrap();
            assert!(piece.width >= 1, "{c:?}");
            assert!(piece.text().chars().all(harmless), "{c:?}");
            if !piece.is_mark() {
                assert!(piece.width <= 2, "{c:?}");
            }
        }
    }

    #[test]
    fn hostile_characters_become_what_can_be_seen() {
        for (raw, shown) in [
            ("\x1b[2J", "␛[2J"),
            ("a\rb", "a␍b"),
            ("a\tb", "a→   b"),
            ("\u{202e}x", "⟨U+202E⟩x"),
            ("x\u{200b}y", "x⟨U+200B⟩y"),
            ("\u{85}\u{2028}", "⟨U+0085⟩⟨U+2028⟩"),
            ("\u{e0041}", "⟨U+E0041⟩"),
            ("\u{10ffff}", "⟨U+10FFFF⟩"),
            (
                "a\u{301}\u{301}\u{301}\u{301}",
                "a\u{301}\u{301}⟨U+0301⟩⟨U+0301⟩",
            ),
            (" \u{301}", " ⟨U+0301⟩"),
            ("\u{a0}", "⟨U+00A0⟩"),
            ("\u{7f}", "␡"),
            ("👍🏽", "👍⟨U+1F3FD⟩"),
            ("é 漢 ю", "é 漢 ю"),
        ] {
            assert_eq!(plain(raw), shown);
        }
    }
}
