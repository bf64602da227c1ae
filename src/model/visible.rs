//! Makes agents' text visible, as plain text that every terminal draws alike.
//!
//! Terminals act on control characters, reorder text after bidirectional ones, draw nothing for invisible ones
//! and disagree on the width of many others. Each of these could make an agent's text look like something else.
//! [`super::glyphs`] is the table of drawn characters.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

use super::glyphs::{Mark, columns};

/// The replacement for `c`, or `None` if `c` may be shown.
///
/// C0 controls become their control pictures (U+2400 block), other characters `\u{…}` with the code point. Tab,
/// line feed and carriage return are replaced too: text with lines must be split before it is shown.
pub fn escape(c: char) -> Option<String> {
    is_hidden(c).then(|| Mark::of(c).as_str().to_owned())
}

fn is_hidden(c: char) -> bool {
    columns(c).is_none()
}

/// `text` with a visible replacement for every character that is invisible, that terminals act on or draw
/// differently. Idempotent.
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

/// Like [`visible`], but keeps line feeds and tabs: for text with lines.
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

/// A writer for a terminal, or for a file that a terminal will show: applies [`visible_lines`], and replaces
/// invalid UTF-8 with the mark of U+FFFD.
#[derive(Debug)]
pub struct VisibleWriter<W: Write> {
    inner: W,
    /// An incomplete character whose rest has not been written yet.
    part: Vec<u8>,
}

impl<W: Write> VisibleWriter<W> {
    pub const fn new(inner: W) -> Self {
        Self {
            inner,
            part: Vec::new(),
        }
    }

    fn write_invalid(&mut self) -> io::Result<()> {
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
                    self.write_invalid()?;
                    left.get(bad..).unwrap_or_default()
                }
            };
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !std::mem::take(&mut self.part).is_empty() {
            self.write_invalid()?;
        }
        self.inner.flush()
    }
}

/// JSON text with every hidden character in its strings written as `\\uXXXX`: equal JSON that is safe on a
/// terminal. White space between values stays.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    // In valid JSON, characters below U+0020 are only white space between values.
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
    fn characters_that_join_their_neighbour_are_replaced() {
        assert_eq!(visible("e\u{301}"), "e\\u{0301}");
        assert_eq!(visible("\u{b95}\u{bbe}"), "\\u{0B95}\\u{0BBE}");
        assert_eq!(visible("🇩🇪"), "\\u{1F1E9}\\u{1F1EA}");
        assert_eq!(visible("1\u{fe0f}\u{20e3}"), "1\\u{FE0F}\\u{20E3}");
    }

    proptest! {
        #[test]
        fn a_writer_shows_the_same_text_however_the_bytes_are_split(
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
        fn visible_json_is_equal_and_harmless(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            let shown = visible_json(&json).into_owned();
            prop_assert!(shown.chars().all(|c| escape(c).is_none()));
            prop_assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        }

        #[test]
        fn visible_text_has_nothing_hidden_and_is_stable(text in any::<String>()) {
            let shown = visible(&text).into_owned();
            prop_assert!(shown.chars().all(|c| escape(c).is_none() && !c.is_control()));
            let again = visible(&shown);
            prop_assert_eq!(again.as_ref(), shown.as_str());
        }
    }
}
