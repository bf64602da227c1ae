//! Shows what cannot be seen: the one table of characters that never reach a terminal as they are.
//!
//! Terminals act on control characters, reorder text after bidirectional ones and draw nothing for
//! invisible ones; each of them would let an agent's text look like something it is not.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Combining marks on one base character that are shown as they are; more of them are escaped, since
/// a stack of them climbs over neighbouring lines.
const STACK: usize = 2;

/// What stands for `c`, or `None` where it may be shown as it is.
///
/// C0 controls become their control pictures (U+2400 block), everything else `\u{…}` with its code
/// point. Tab, line feed and carriage return are escaped too: text that may have lines is split
/// before it is shown.
pub fn escape(c: char) -> Option<String> {
    let hidden = match c {
        '\0'..='\x1f' => return char::from_u32(0x2400 + c as u32).map(String::from),
        '\x7f' => return Some('\u{2421}'.to_string()),
        // C1 controls: some terminals take them for escape sequences.
        '\u{80}'..='\u{9f}' => true,
        // No-break and other spaces that are not U+0020, and blanks that are not spaces at all.
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
            true
        }
        '\u{2800}' | '\u{3164}' | '\u{ffa0}' | '\u{115f}' | '\u{1160}' => true,
        // Soft hyphen, grapheme joiner, Khmer inherent vowels, Mongolian separators.
        '\u{ad}' | '\u{34f}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' => true,
        // Arabic letter mark; prefixed format characters.
        '\u{61c}' | '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' => true,
        '\u{8e2}' | '\u{110bd}' | '\u{110cd}' => true,
        // Zero width, line and paragraph separators, bidirectional controls, invisible operators.
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        // Variation selectors, byte order mark, interlinear annotation, object replacement.
        '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffc}' => true,
        // Shorthand and musical format characters, tags, variation selectors supplement.
        '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => true,
        // Egyptian hieroglyph format controls.
        '\u{13430}'..='\u{1343f}' => true,
        // Private use draws whatever the font likes; non-characters draw anything.
        '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}' => true,
        '\u{fdd0}'..='\u{fdef}' => true,
        _ => (c as u32) & 0xfffe == 0xfffe,
    };
    hidden.then(|| format!("\\u{{{:x}}}", c as u32))
}

/// Whether the text is drawn on top of the character before it.
fn combines(c: char) -> bool {
    unicode_normalization::char::is_combining_mark(c)
}

/// `text` with every character that cannot be seen, or that a terminal would act on, replaced by
/// something that can be seen. Idempotent in effect: what it returns holds none of them.
pub fn visible(text: &str) -> Cow<'_, str> {
    let mut out: Option<String> = None;
    let mut stack = 0;
    let mut first = true;
    for (at, c) in text.char_indices() {
        let mark = combines(c);
        stack = if mark { stack + 1 } else { 0 };
        // A mark with nothing before it would sit on whatever the program drew there.
        let instead = escape(c).or_else(|| {
            (mark && (stack > STACK || first)).then(|| format!("\\u{{{:x}}}", c as u32))
        });
        first = false;
        match (instead, &mut out) {
            (None, None) => {}
            (None, Some(out)) => out.push(c),
            (Some(instead), out) => {
                let out = out.get_or_insert_with(|| text[..at].to_owned());
                // Writing to a String cannot fail.
                let _ = out.write_str(&instead);
            }
        }
    }
    out.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// JSON text with every hidden character inside its strings written as `\\uXXXX`: the same JSON,
/// safe on a terminal. Line feeds and spaces between values stay.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    // Below U+0020 valid JSON has nothing but the white space between values.
    let hidden = |c: char| c > '\x1f' && escape(c).is_some();
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
        assert_eq!(visible("\u{9b}31m"), "\\u{9b}31m");
        assert_eq!(visible("a\u{202e}b\u{2066}"), "a\\u{202e}b\\u{2066}");
        assert_eq!(visible("\u{e0041}\u{fe0f}"), "\\u{e0041}\\u{fe0f}");
        assert_eq!(visible("a\u{a0}b\u{3164}"), "a\\u{a0}b\\u{3164}");
    }

    #[test]
    fn marks_may_sit_on_a_letter_but_not_pile_up() {
        assert_eq!(visible("e\u{301}"), "e\u{301}");
        assert_eq!(visible("\u{301}x"), "\\u{301}x");
        let pile = format!("e{}", "\u{301}".repeat(5));
        assert_eq!(visible(&pile), "e\u{301}\u{301}\\u{301}\\u{301}\\u{301}");
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
