//! The only sanitiser: it splits untrusted text into pieces that every terminal draws the same way.
//! Nothing else in the dashboard turns text into cells. Text sent unchanged on request belongs to
//! [`super::as_drawn`].
//!
//! A piece is one character that every terminal draws alike, or the mark that replaces a character
//! (`␛`, `\u{202E}`), drawn in the theme's warning style. Width is measured on the drawn text,
//! never on the source.

use crate::model::{Mark, columns};

use super::charset::{is_ascii, stand_in};
use super::theme::Role;

/// How a tab is drawn.
const TAB: &str = "→   ";
/// The same in ASCII.
const TAB_ASCII: &str = ">   ";

/// How one character of the source is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown<'a> {
    /// The character itself.
    Plain(&'a str),
    /// A visible replacement.
    Mark(Mark),
    /// One of the program's own signs, in ASCII.
    StandIn(&'static str),
    /// The replacement for a tab.
    Tab,
}

/// A range of the source and how it is drawn.
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
    /// The drawn text.
    pub fn text(&'a self) -> &'a str {
        match &self.shown {
            Shown::Plain(text) => text,
            Shown::StandIn(text) => text,
            Shown::Mark(mark) => mark.as_str(),
            Shown::Tab if is_ascii() => TAB_ASCII,
            Shown::Tab => TAB,
        }
    }

    pub const fn is_mark(&self) -> bool {
        !matches!(self.shown, Shown::Plain(_) | Shown::StandIn(_))
    }
}

/// Splits text into pieces; in ASCII, the program's own signs become their stand-ins. Starting again at any piece's `start` gives the same remaining pieces,
/// so a wrapped row can be drawn without the text before it.
pub fn pieces(text: &str) -> Pieces<'_> {
    let foreign = false;
    Pieces {
        text,
        at: 0,
        foreign,
    }
}

/// Splits code and input: in ASCII, nothing in it may pass for a sign of the program.
pub fn foreign(text: &str) -> Pieces<'_> {
    Pieces {
        foreign: true,
        ..pieces(text)
    }
}

/// Spans of text that is not the program's, for paragraphs: in ASCII, what is not ASCII is a mark already.
pub fn spans(text: &str, role: Role) -> Vec<(String, Role)> {
    if !is_ascii() || text.is_ascii() {
        return vec![(text.to_owned(), role)];
    }
    let mut out: Vec<(String, Role)> = Vec::new();
    for c in text.chars() {
        let (piece, role) = match c.is_ascii() {
            true => (c.to_string(), role),
            false => (Mark::spelled(c).as_str().to_owned(), Role::Mark),
        };
        match out.last_mut() {
            Some((text, last)) if *last == role => text.push_str(&piece),
            _ => out.push((piece, role)),
        }
    }
    out
}

#[derive(Clone, Debug)]
pub struct Pieces<'a> {
    text: &'a str,
    at: usize,
    /// Whether the text is not the program's own.
    foreign: bool,
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let c = self.text.get(self.at..)?.chars().next()?;
        let start = self.at;
        let end = start + c.len_utf8();
        let plain = columns(c).filter(|_| c.is_ascii() || !is_ascii());
        let (shown, width) = match plain {
            Some(width) => (Shown::Plain(&self.text[start..end]), width),
            None if c == '\t' => (Shown::Tab, TAB.chars().count()),
            None if is_ascii() => match stand_in(c).filter(|_| !self.foreign) {
                Some(text) => (Shown::StandIn(text), 1),
                None => {
                    let mark = Mark::spelled(c);
                    (Shown::Mark(mark), mark.columns())
                }
            },
            None => {
                let mark = Mark::of(c);
                (Shown::Mark(mark), mark.columns())
            }
        };
        self.at = end;
        Some(Piece {
            start,
            end,
            shown,
            width,
        })
    }
}

/// Columns the drawn text takes.
pub fn width(text: &str) -> usize {
    pieces(text).map(|p| p.width).sum()
}

/// The same for code and input.
pub fn foreign_width(text: &str) -> usize {
    foreign(text).map(|p| p.width).sum()
}

/// The text as drawn, without the warning style: for titles in plain strings.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text) {
        out.push_str(piece.text());
    }
    out
}

/// The start of the text that fits in `columns` when drawn, before `…` for the rest. Reads only the
/// part of a long text that is drawn.
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

    proptest! {
        #[test]
        fn only_characters_that_every_terminal_draws_alike_are_written(text in any::<String>()) {
            let drawn = plain(&text);
            prop_assert!(drawn.chars().all(|c| columns(c).is_some()), "{drawn:?}");
            let wide: usize = drawn.chars().filter_map(columns).sum();
            prop_assert_eq!(wide, width(&text));
        }

        #[test]
        fn pieces_cover_the_source_and_each_is_visible(text in "\\PC*|[\\x00-\\x1f\\u{300}-\\u{36f}a\\u{200b}-\\u{202f}א]*") {
            let mut at = 0;
            for piece in pieces(&text) {
                prop_assert_eq!(piece.start, at);
                prop_assert!(piece.width >= 1);
                // Starting again here gives the same piece: rows do not depend on the text before
                // them.
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
    fn every_scalar_value_is_one_character_of_its_width_or_a_mark() {
        for c in '\0'..=char::MAX {
            let text = c.to_string();
            let all: Vec<Piece<'_>> = pieces(&text).collect();
            assert_eq!(all.len(), 1, "{c:?}");
            let piece = all[0];
            let wide: usize = piece.text().chars().filter_map(columns).sum();
            assert_eq!(piece.width, wide, "{c:?}");
            assert!(piece.width >= 1, "{c:?}");
            assert_eq!(piece.is_mark(), piece.text() != text, "{c:?}");
        }
    }

    #[test]
    fn hostile_characters_become_visible() {
        for (raw, shown) in [
            ("\x1b[2J", "␛[2J"),
            ("a\rb", "a␍b"),
            ("a\tb", "a→   b"),
            ("\u{202e}x", "\\u{202E}x"),
            ("x\u{200b}y", "x\\u{200B}y"),
            ("\u{85}\u{2028}", "\\u{0085}\\u{2028}"),
            ("\u{e0041}", "\\u{E0041}"),
            ("\u{10ffff}", "\\u{10FFFF}"),
            ("a\u{301}\u{301}", "a\\u{0301}\\u{0301}"),
            (" \u{301}", " \\u{0301}"),
            ("\u{a0}", "\\u{00A0}"),
            ("\u{7f}", "␡"),
            ("👍🏽", "\\u{1F44D}\\u{1F3FD}"),
            ("கா", "\\u{0B95}\\u{0BBE}"),
            ("㉈", "\\u{3248}"),
            ("א", "\\u{05D0}"),
            ("é 漢 ю", "é 漢 ю"),
        ] {
            assert_eq!(plain(raw), shown);
        }
    }
}
