//! Checks of the text itself for anything a reader could misread, before and in addition to the
//! tree.

mod blanks;
pub(super) mod comments;
mod names;
mod strings;

use super::facts::Facts;
use super::rules;
use super::scan::Outline;
use crate::model::Action;

/// The limit on combining marks per character.
const MARKS: usize = 3;

/// Adds the findings of the text. `outline` is `None` if the scan refused the text.
pub fn check(text: &str, outline: Option<&Outline>, facts: &mut Facts) {
    characters(text, facts);
    blanks::check(text, outline, facts);
    if let Some(outline) = outline {
        comments::check(text, outline, facts);
        comments::modelines(text, outline, facts);
        names::check(text, outline, facts);
        strings::check(text, outline, facts);
    }
}

/// A piece of the snippet, fit for a message: no longer than a line, and without invisible
/// characters.
pub fn shown(piece: &str) -> String {
    const MOST: usize = 120;
    let mut out = String::new();
    for (i, c) in piece.chars().enumerate() {
        if i == MOST {
            out.push('…');
            break;
        }
        let hidden = c.is_control()
            || is_bidi(c)
            || is_invisible(c)
            || ('\u{e0000}'..='\u{e0fff}').contains(&c);
        if hidden {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

fn characters(text: &str, facts: &mut Facts) {
    if text
        .bytes()
        .all(|b| b == b'\n' || (b' '..0x7f).contains(&b))
    {
        return;
    }
    let mut marks = 0;
    let mut chars = text.char_indices().peekable();
    let mut before = ' ';
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        let next = chars.peek().map(|(_, c)| *c);
        let here = (at, end);
        let code = || format!("U+{:04X}", u32::from(c));
        match c {
            '\n' | '\t' | ' '..='~' => {}
            '\r' if next == Some('\n') => {}
            '\r' => {
                let fact = facts.add(&rules::TEXT_CR, here, "");
                // The text after the CR looks like part of the comment but is code.
                let line = text[..at].rsplit(['\n', '\r']).next().unwrap_or_default();
                let hidden = text[end..].split(['\n', '\r']).next().unwrap_or_default();
                if line.contains('#')
                    && !matches!(hidden.trim_start().as_bytes().first(), None | Some(b'#'))
                {
                    fact.at_least = Some(Action::Block);
                }
            }
            '\u{c}' => {
                facts.add(&rules::TEXT_FORM_FEED, here, "");
            }
            _ if is_bidi(c) => {
                facts.add(&rules::TEXT_BIDI, here, code());
            }
            '\u{e0000}'..='\u{e007f}' => {
                facts.add(&rules::TEXT_TAG, here, code());
            }
            // Joiners and selectors inside an emoji, or in a script that needs them.
            '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' if !before.is_ascii() => {}
            _ if is_invisible(c) => {
                facts.add(&rules::TEXT_INVISIBLE, here, code());
            }
            _ if c.is_control() => {
                facts.add(&rules::TEXT_CONTROL, here, code());
            }
            _ => {}
        }
        if unicode_normalization::char::is_combining_mark(c) {
            marks += 1;
            if marks == MARKS + 1 {
                facts.add(&rules::TEXT_STACKED, here, "");
            }
        } else {
            marks = 0;
        }
        before = c;
    }
}

/// Bidirectional controls (UAX 9): embeddings, overrides, isolates and marks.
fn is_bidi(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

/// Characters without a glyph. Spaces with a width, such as U+00A0, are visible as spaces, and
/// Python refuses them outside strings and comments anyway.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{34f}'
            | '\u{115f}'
            | '\u{1160}'
            | '\u{17b4}'
            | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200d}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{2060}'..='\u{2065}'
            | '\u{206a}'..='\u{206f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffc}'
            | '\u{13430}'..='\u{1343f}'
            | '\u{16fe4}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d159}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0080}'..='\u{e0fff}'
    ) || is_nobodys(c)
}

/// Noncharacters and private-use characters, which every screen shows differently or not at all.
fn is_nobodys(c: char) -> bool {
    u32::from(c) & 0xfffe == 0xfffe
        || matches!(c, '\u{fdd0}'..='\u{fdef}' | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..)
}
