//! Text as the terminal draws it, placed at the end of a row with nothing behind it.
//!
//! Elsewhere, characters that terminals draw differently are replaced by marks ([`super::text`]).
//! Here they are sent unchanged and in one piece, so that they join correctly and a person can read
//! them. Control characters, characters that change the text direction, invisible characters and
//! tall stacks of marks are left out. Every non-ASCII character gets two columns, so nothing leaves
//! its row.

use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

use crate::model::columns;

use super::charset::is_ascii;

/// The label in front of the text.
pub const LABEL: &str = "as drawn:";

/// Columns that the label and the blank after it take.
pub const BEFORE: usize = LABEL.len() + 1;

/// Most combining marks on one character: in total, and stacked above or below each other by a
/// font.
const MARKS: usize = 4;
const STACKED: usize = 2;

/// Harmless text that takes at most `columns` columns on any terminal. Starts with a blank, so that
/// a leading combining mark joins the blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsDrawn {
    text: String,
    columns: u16,
}

/// Text with the position where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    pub x: u16,
    pub y: u16,
    pub text: AsDrawn,
}

impl AsDrawn {
    /// The longest prefix of `raw` that is certain to fit.
    pub fn new(raw: &str, columns: u16) -> Self {
        let mut drawn = Self {
            text: " ".to_owned(),
            columns: 1,
        };
        for c in Kept::new(raw).filter_map(|(_, c)| c) {
            let wide = most(c) as u16;
            if wide > columns.saturating_sub(drawn.columns) {
                break;
            }
            drawn.text.push(c);
            drawn.columns += wide;
        }
        drawn
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The most columns that any terminal can use for the text.
    pub const fn columns(&self) -> u16 {
        self.columns
    }
}

/// Whether drawing the text shows anything that its marks do not.
pub fn adds(text: &str) -> bool {
    !is_ascii() && !text.is_ascii() && text.chars().any(|c| columns(c).is_none() && is_seen(c))
}

/// Byte length of the prefix that fits, at least one character. Cuts after a blank in the second
/// half of the row if there is one, and avoids cutting before a character that joins backwards.
pub fn fits(text: &str, columns: usize) -> usize {
    let (mut used, mut cut, mut blank) = (0, 0, false);
    for (at, c) in Kept::new(text) {
        let wide = c.map_or(0, most);
        let late = used >= columns / 2;
        let begins = at > 0 && text[..at].ends_with(' ');
        if !c.is_none_or(joins) && (begins && late || !blank) {
            (cut, blank) = (at, begins && late);
        }
        if used + wide > columns && at > 0 {
            return if cut > 0 { cut } else { at };
        }
        used += wide;
    }
    text.len()
}

const fn most(c: char) -> usize {
    if c.is_ascii() { 1 } else { 2 }
}

fn joins(c: char) -> bool {
    is_combining_mark(c)
}

/// Each character's offset, and the character drawn for it, if any.
struct Kept<'a> {
    chars: std::str::CharIndices<'a>,
    /// The combining marks since the last base character.
    marks: Vec<char>,
}

impl<'a> Kept<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            chars: text.char_indices(),
            marks: Vec::new(),
        }
    }

    fn keeps(&mut self, c: char) -> bool {
        if !joins(c) {
            self.marks.clear();
            return true;
        }
        let stacks = |c: char| canonical_combining_class(c) >= 200;
        let stacked = self.marks.iter().filter(|m| stacks(**m)).count();
        let room = self.marks.len() < MARKS && (!stacks(c) || stacked < STACKED);
        let keeps = room && !self.marks.contains(&c);
        if keeps {
            self.marks.push(c);
        }
        keeps
    }
}

impl Iterator for Kept<'_> {
    type Item = (usize, Option<char>);

    fn next(&mut self) -> Option<Self::Item> {
        let (at, c) = self.chars.next()?;
        let drawn = match c {
            _ if columns(c).is_some() => Some(c),
            '\u{2028}' | '\u{2029}' => None,
            '\t' => Some(' '),
            _ if c.is_control() => None,
            _ if c.is_whitespace() => Some(' '),
            '\u{fe0e}' | '\u{fe0f}' => Some(c),
            _ => is_seen(c).then_some(c),
        };
        Some((at, drawn.filter(|c| self.keeps(*c))))
    }
}

/// False for controls and format characters (general categories Cc, Cf, Zl, Zp), blanks, invisible
/// characters, private use and noncharacters.
fn is_seen(c: char) -> bool {
    let hidden = c.is_control()
        || c.is_whitespace()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{600}'..='\u{605}'
                | '\u{61c}'
                | '\u{6dd}'
                | '\u{70f}'
                | '\u{890}'..='\u{891}'
                | '\u{8e2}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{e000}'..='\u{f8ff}'
                | '\u{fdd0}'..='\u{fdef}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffc}'
                | '\u{110bd}'
                | '\u{110cd}'
                | '\u{13430}'..='\u{1345f}'
                | '\u{16fe4}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d159}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..
        )
        || u32::from(c) & 0xfffe == 0xfffe;
    !hidden
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn as_drawn_text(raw: &str) -> String {
        AsDrawn::new(raw, 200).as_str()[1..].to_owned()
    }

    #[test]
    fn readable_text_is_written_unchanged() {
        for text in [
            "label = \"காகா\"; keep = drop",
            "বাংলা ที่นี่ ក្រ မြန်မာ",
            "שלום سلام 한국어 漢字",
            "👍🏽 \u{2764}\u{fe0f} 🇩🇪 1\u{fe0f}\u{20e3} ㉈ ☰ \u{1fa75}",
            "e\u{301} o\u{302}\u{323}",
        ] {
            assert_eq!(as_drawn_text(text), text);
        }
    }

    #[test]
    fn control_and_reordering_characters_are_left_out() {
        for (raw, shown) in [
            ("a\u{1b}[2Jb", "a[2Jb"),
            ("a\u{9b}2Jb\r\n\u{7f}\u{85}", "a2Jb"),
            ("a\u{202e}b\u{2066}\u{200f}", "ab"),
            ("a\u{2028}b\u{200b}\u{feff}", "ab"),
            ("a\tb\u{a0}c\u{3000}d", "a b c d"),
            ("👩\u{200d}👧\u{e0041}", "👩👧"),
            ("\u{10eeee}\u{e000}\u{fdd0}\u{10ffff}", ""),
        ] {
            assert_eq!(as_drawn_text(raw), shown, "{raw:?}");
        }
    }

    #[test]
    fn stacked_marks_stay_within_their_row() {
        let tower = format!("a{}", "\u{301}\u{302}\u{303}\u{304}".repeat(100));
        assert_eq!(as_drawn_text(&tower), "a\u{301}\u{302}");
        let thai = format!("ก{}", "\u{e47}".repeat(100));
        assert_eq!(as_drawn_text(&thai), "ก\u{e47}");
        let broken = format!("a{}", "\u{301}\u{200b}".repeat(100));
        assert_eq!(as_drawn_text(&broken), "a\u{301}");
    }

    #[test]
    fn only_text_behind_a_mark_gets_a_row() {
        for text in [
            "",
            "plain",
            "é 漢 ю",
            "a\tb\r",
            "\u{1b}[2J\u{202e}\u{200b}",
            "a\u{fe0f}",
        ] {
            assert!(!adds(text), "{text:?}");
        }
        for text in ["க", "x 👍", "א", "e\u{301}", "\u{3248}"] {
            assert!(adds(text), "{text:?}");
        }
    }

    #[test]
    fn a_row_is_not_cut_before_a_joining_character() {
        let text = "காகாகா";
        assert_eq!(fits(text, 6), "கா".len());
        assert_eq!(fits(text, 7), "கா".len());
        assert_eq!(fits(text, 8), "காகா".len());
        assert_eq!(fits(text, 100), text.len());
        assert_eq!(fits(text, 0), "க".len());
        assert_eq!(fits("a b cc ddd eeee", 9), "a b cc ".len());
        assert_eq!(fits("a bbbbbbbbbbbb", 9), "a bbbbbbb".len());
        // If every character joins, the text is cut anyway.
        let marks = "\u{bbe}\u{bbf}\u{bc0}\u{bc1}";
        assert_eq!(fits(marks, 4), "\u{bbe}\u{bbf}".len());
    }

    proptest! {
        #[test]
        fn written_text_has_nothing_hidden_and_fits(raw in any::<String>(), columns in 1_u16..60) {
            let text = AsDrawn::new(&raw, columns);
            let most: usize = text.as_str().chars().map(most).sum();
            prop_assert!(most <= usize::from(columns));
            prop_assert_eq!(usize::from(text.columns()), most);
            prop_assert!(text.as_str().starts_with(' '));
            let fine = |c: char| is_seen(c) || matches!(c, ' ' | '\u{fe0e}' | '\u{fe0f}');
            prop_assert!(text.as_str().chars().all(fine));
        }

        #[test]
        fn controls_and_format_characters_are_hidden(
            c in "[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Co}\\p{Zs}]"
        ) {
            prop_assert!(!c.chars().any(is_seen), "{c:?}");
        }

        #[test]
        fn rows_cover_the_text(
            text in "\\PC{0,40}|[\\x00-\\x1fa\\u{300}-\\u{36f}\\u{b80}-\\u{bff}]{0,40}",
            columns in 0_usize..12,
        ) {
            let mut at = 0;
            while at < text.len() {
                let rest = &text[at..];
                let upto = fits(rest, columns);
                prop_assert!(upto > 0 && rest.is_char_boundary(upto));
                let shown = AsDrawn::new(&rest[..upto], u16::MAX);
                let room = usize::from(shown.columns()) - 1;
                prop_assert!(room <= columns.max(2), "{room} of {columns}");
                at += upto;
            }
        }
    }
}
