//! Rows of a terminal: a line that is too long continues in a row that is marked as a continuation.
//!
//! A terminal breaks a long line at the edge, so spaces in a name, a title or a line of code could
//! move the text after them to where a new line seems to begin.

use std::io::{self, Write};

use crate::model::columns;

/// The beginning of a continuation row. No printed line begins like this.
const GOES_ON: &str = "    ↳ ";
/// The width of this marker in columns.
const INDENT: usize = 6;
/// Columns if the terminal does not report any, and the smallest number that is accepted.
const USUAL: usize = 80;
const FEWEST: usize = 20;

/// A writer in front of a terminal. Its input must have no hidden characters except newlines and
/// tabs.
pub(super) struct Rows<W: Write> {
    inner: W,
    /// Columns of a row; `None` if the output is not a terminal.
    width: Option<usize>,
    at: usize,
}

/// The columns of the terminal's rows.
pub(super) fn terminal_columns() -> usize {
    match crossterm::terminal::size() {
        Ok((0, _)) | Err(_) => USUAL,
        Ok((said, _)) => usize::from(said).max(FEWEST),
    }
}

impl<W: Write> Rows<W> {
    pub(super) fn new(inner: W, is_terminal: bool) -> Self {
        let width = is_terminal.then(terminal_columns);
        Self {
            inner,
            width,
            at: 0,
        }
    }
}

impl<W: Write> Write for Rows<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(width) = self.width else {
            return self.inner.write(bytes);
        };
        let text = String::from_utf8_lossy(bytes);
        let mut out = String::with_capacity(text.len() + 16);
        for c in text.chars() {
            let wide = match c {
                '\n' => 0,
                '\t' => 8 - self.at % 8,
                _ => columns(c).unwrap_or(1),
            };
            if self.at + wide > width {
                out.push('\n');
                out.push_str(GOES_ON);
                self.at = INDENT;
            }
            self.at = if c == '\n' { 0 } else { self.at + wide };
            out.push(c);
        }
        self.inner.write_all(out.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::visible_lines;

    fn rows(text: &str, width: Option<usize>, cut: usize) -> String {
        let mut rows = Rows {
            inner: Vec::new(),
            width,
            at: 0,
        };
        let chars: Vec<char> = text.chars().collect();
        for piece in chars.chunks(cut) {
            let piece: String = piece.iter().collect();
            rows.write_all(piece.as_bytes()).unwrap();
        }
        rows.flush().unwrap();
        String::from_utf8(rows.inner).unwrap()
    }

    #[test]
    fn a_long_line_continues_in_marked_rows() {
        let output = rows("short\n0123456789abcdefghijKLM\nend\n", Some(20), 3);
        assert_eq!(output, "short\n0123456789abcdefghij\n    ↳ KLM\nend\n");
        let forged = format!("title {}run      granted", " ".repeat(34));
        assert!(!rows(&forged, Some(40), 9).contains("\nrun"));
        assert_eq!(rows(&forged, None, 9), forged);
        assert_eq!(
            rows("漢字漢字漢字漢字漢字漢\n", Some(20), 1)
                .lines()
                .count(),
            2
        );
    }

    proptest! {
        #[test]
        fn no_row_is_wider_than_the_terminal_and_nothing_is_lost(
            text in any::<String>(),
            width in FEWEST..60,
            cut in 1_usize..9,
        ) {
            let text = visible_lines(&text).into_owned();
            let output = rows(&text, Some(width), cut);
            for row in output.lines() {
                let mut at = 0;
                for c in row.chars() {
                    at += if c == '\t' { 8 - at % 8 } else { columns(c).unwrap_or(1) };
                }
                prop_assert!(at <= width, "{row:?}");
            }
            prop_assert_eq!(output.replace(&format!("\n{GOES_ON}"), ""), text);
        }
    }
}
