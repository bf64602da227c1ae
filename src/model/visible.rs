//! Shows what cannot be seen: agents' text as plain text that every terminal draws alike.
//!
//! Terminals act on control characters, reorder text after bidirectional ones, draw nothing for
//! invisible ones and disagree on the width of many others; each of them would let an agent's text
//! look like something it is not. [`super::glyphs`] is the table of what is drawn.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

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

/// [`visible`], but for line feeds and tabs: for text that may have lines.
pub fn visible_lines(text: &str) -> Cow<'_, str> {
    let stays = |c: char| matches!(c, '\n' | '\t');
    if !text.contains(|c| !stays(c) && is_hidden(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for piece in text.split_inclusive(stays) {
        let body = piece.trim_end_matches(stays);
        out.push_str(&visible(body));
        out.push_str(piece.get(body.len()..).unwrap_or_default());
    }
    Cow::Owned(out)
}

/// A writer in front of a terminal or of a file that one will show: what goes through it comes
/// out as [`visible_lines`] has it, and what is not UTF-8 as U+FFFD's mark.
#[derive(Debug)]
pub struct VisibleWriter<W: Write> {
    inner: W,
    /// The beginning of a character whose rest is yet to come.
    part: Vec<u8>,
}

impl<W: Write> VisibleWriter<W> {
    pub const fn new(inner: W) -> Self {
        Self {
            inner,
            part: Vec::new(),
        }
    }

    fn broken(&mut self) -> io::Result<()> {
        let mark = visible("\u{fffd}");
        self.inner.write_all(mark.as_bytes())
    }
}

impl<W: Write> Write for VisibleWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.part);
        all.extend_from_slice(bytes);
        let mut rest = all.as_slice();
        while !rest.is_empty() {
            let (sound, left) = match std::str::from_utf8(rest) {
                Ok(text) => (text, None),
                Err(e) => {
                    let (sound, left) = rest.split_at(e.valid_up_to());
                    let sound = std::str::from_utf8(sound).unwrap_or_default();
                    (sound, Some((left, e.error_len())))
                }
            };
            self.inner.write_all(visible_lines(sound).as_bytes())?;
            rest = match left {
                None => &[],
                Some((left, None)) => {
                    self.part = left.to_vec();
                    &[]
                }
                Some((left, Some(bad))) => {
                    self.broken()?;
                    left.get(bad..).unwrap_or_default()
                }
            };
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.part).is_empty() {
            self.broken()?;
        }
        self.inner.flush()
    }
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
        fn a_writer_shows_what_it_gets_however_it_is_cut(
            bytes in any::<Vec<u8>>(),
            text in any::<String>(),
            cut in 1_usize..9,
        ) {
            for whole in [bytes.as_slice(), text.as_bytes()] {
                let mut writer = VisibleWriter::new(Vec::new());
                for piece in whole.chunks(cut) {
                    writer.write_all(piece).unwrap();
                }
                writer.flush().unwrap();
                let shown = String::from_utf8(writer.inner).unwrap();
                let hidden = |c| c != '\n' && c != '\t' && escape(c).is_some();
                prop_assert!(!shown.contains(hidden));
                let lossy = String::from_utf8_lossy(whole).into_owned();
                prop_assert_eq!(shown, visible_lines(&lossy).into_owned());
            }
        }

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
