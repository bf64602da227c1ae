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
use crate::model::unseen::{is_bidi, is_invisible};

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
