//! Shows what cannot be seen: agents' text as plain text that every terminal draws alike.
//!
//! Terminals act on control characters, reorder text after bidirectional ones, draw nothing for
//! invisible ones and disagree on the width of many others; each of them would let an agent's text
//! look like something it is not. [`super::glyphs`] is the table of what is drawn.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::glyphs::{Mark, columns};

/// What stands for `c`, or `None` where it may be shown as it is.
///
/// C0 controls become their control pictures (U+2400 block), everything else `\u{…}` with its code
/// point. Tab, line feed and carriage return are escaped too: text that may have lines is split
/// before it is shown.
pub fn escape(c: char) -> Option<String> {
    is_hidden(c).then(|| Mark::of(c).as_str().to_owned())
}

fn is_hidden(c: char) -> bool {
    columns(c).is_none()
}

/// `text` with every character that cannot be seen, that a terminal would act on, or that
/// terminals draw differently, replaced by something that can be seen. What it returns it leaves
/// as it is.
pub fn visible(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(is_hidden) else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len() + 8);
    let (plain, rest) = text.split_at(first);
    out.push_str(plain);
    for c in rest.chars() {
        if is_hidden(c) {
            out.push_str(Mark::of(c).as_str());
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// JSON text with every hidden character inside its strings written as `\\uXXXX`: the same JSON,
/// safe on a terminal. Line feeds and spaces between values stay.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    // Below U+0020 valid JSON has nothing but the white space between values.
    let hidden = |c: char| c > '\x1f' && is_hidden(c);
    if !json.contains(hidden) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_a_terminal_acts_on_survives() {
        assert_eq!(visible("plain ünïcödé 漢字"), "plain ünïcödé 漢字");
        assert!(matches!(visible("plain"), Cow::Borrowed(_)));
        assert_eq!(visible("a\x1b[2Jb\r\n\tc\x7f"), "a␛[2Jb␍␊␉c␡");
        assert_eq!(visible("\u{9b}31m"), "\\u{009B}31m");
        assert_eq!(visible("a\u{202e}b\u{2066}"), "a\\u{202E}b\\u{2066}");
        assert_eq!(visible("\u{e0041}\u{fe0f}"), "\\u{E0041}\\u{FE0F}");
        assert_eq!(visible("a\u{a0}b\u{3164}"), "a\\u{00A0}b\\u{3164}");
    }

    #[test]
    fn nothing_that_joins_its_neighbour_is_left_to_do_so() {
        assert_eq!(visible("e\u{301}"), "e\\u{0301}");
        assert_eq!(visible("\u{b95}\u{bbe}"), "\\u{0B95}\\u{0BBE}");
        assert_eq!(visible("🇩🇪"), "\\u{1F1E9}\\u{1F1EA}");
        assert_eq!(visible("1\u{fe0f}\u{20e3}"), "1\\u{FE0F}\\u{20E3}");
    }

    proptest! {
        #[test]
        fn json_stays_the_same_and_becomes_harmless(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            let shown = visible_json(&json).into_owned();
            prop_assert!(shown.chars().all(|c| escape(c).is_none()));
            prop_assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        }

        #[test]
        fn shown_text_holds_nothing_hidden_and_is_stable(text in any::<String>()) {
            let shown = visible(&text).into_owned();
            prop_assert!(shown.chars().all(|c| escape(c).is_none() && !c.is_control()));
            let again = visible(&shown);
            prop_assert_eq!(again.as_ref(), shown.as_str());
        }
    }
}
