//! What a command reads: redirections, here-documents, and how a command is judged once all of it was read.

use super::shell::{Scan, Stdin};
use super::tables;
use super::words::{Word, is_blank};

/// A here-document whose lines are still to come.
pub(super) struct Document {
    pub(super) delimiter: String,
    pub(super) tabs: bool,
    pub(super) quoted: bool,
    pub(super) used: Option<Stdin>,
}

/// One command as far as it was read.
#[derive(Default)]
pub(super) struct Simple {
    pub(super) words: Vec<Word>,
    pub(super) assigned: bool,
    pub(super) documents: usize,
    pub(super) strings: Vec<Word>,
}

impl Scan<'_, '_> {
    pub(super) fn redirect(&mut self, now: &mut Simple) {
        let kind = self.take();
        if kind == Some(b'<') && self.peek() == Some(b'<') {
            self.skip(1);
            if self.counting > 0 {
                return;
            }
            if self.peek() == Some(b'<') {
                self.skip(1);
                let word = self.target();
                now.strings.push(word);
                return;
            }
            let tabs = self.peek() == Some(b'-');
            if tabs {
                self.skip(1);
            }
            while self.peek().is_some_and(is_blank) {
                self.skip(1);
            }
            let from = self.at;
            let word = self.target();
            let known = |b: &u8| b.is_ascii_alphanumeric() || b"_-.!'\"\\".contains(b);
            let raw = &self.bytes[from..self.at];
            if raw.is_empty() || !raw.iter().all(known) {
                self.unclear("where a here-document ends is not written out");
            }
            now.documents += 1;
            let Word {
                text: delimiter,
                quoted,
                ..
            } = word;
            self.documents.push(Document {
                delimiter,
                tabs,
                quoted,
                used: None,
            });
            return;
        }
        while matches!(self.peek(), Some(b'>' | b'|' | b'&')) {
            self.skip(1);
        }
        self.target();
    }

    /// The word behind a redirection.
    pub(super) fn target(&mut self) -> Word {
        while self.peek().is_some_and(is_blank) {
            self.skip(1);
        }
        let word = self.word();
        if word.text.is_empty() && !word.quoted && self.counting == 0 {
            self.unclear("a redirection to nothing");
        }
        word
    }

    /// Judges what was read of one command.
    pub(super) fn finish(&mut self, now: &mut Simple) {
        let now = std::mem::take(now);
        let used = match now.words.is_empty() {
            true => Stdin::Data,
            false => self.command(&now.words, false),
        };
        let open = self.documents.iter_mut().rev().take(now.documents);
        open.for_each(|d| d.used = Some(used));
        for word in &now.strings {
            self.given(used, &word.text);
        }
        if used == Stdin::Commands && now.documents == 0 && now.strings.is_empty() {
            self.unclear("a shell that reads commands from elsewhere");
        }
    }

    /// Text on a command's standard input.
    fn given(&mut self, used: Stdin, text: &str) {
        match used {
            Stdin::Data => {}
            Stdin::Commands => self.text_of_commands(text),
            Stdin::Other if tables::names_python(text, self.found) => {
                self.unclear("a Python is named in what a program is given to read");
            }
            Stdin::Other => {}
        }
    }

    /// Reads the here-documents that begin on this line.
    pub(super) fn bodies(&mut self) {
        for document in std::mem::take(&mut self.documents) {
            let start = self.at;
            let text = loop {
                if self.peek().is_none() {
                    return self.unclear("a here-document does not end");
                }
                let from = self.at;
                while self.peek().is_some_and(|b| b != b'\n') {
                    self.skip(1);
                }
                let mut line = &self.bytes[from..self.at];
                self.skip(1);
                while document.tabs && line.first() == Some(&b'\t') {
                    line = &line[1..];
                }
                if line == document.delimiter.as_bytes() {
                    break String::from_utf8_lossy(&self.bytes[start..from]).into_owned();
                }
            };
            if !document.quoted {
                self.inner(&text, |scan| scan.expanded());
            }
            // Of a loop or a group, whose commands read it.
            let used = document.used.unwrap_or(Stdin::Other);
            self.given(used, &text);
        }
    }
}
