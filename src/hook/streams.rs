//! What a command reads: redirections, here-documents, and how a command is judged once all of it was read.

use super::shell::{Scan, Stdin};
use super::tables::{self, base};
use super::words::{HIDDEN, Word, is_blank};

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
    /// Its standard input is a file.
    pub(super) redirected: bool,
}

/// What comes through a pipe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Feed {
    /// There is no pipe.
    #[default]
    None,
    /// What `echo` was given.
    Text(String),
    /// The here-document that comes last.
    Document,
    Elsewhere,
}

impl Feed {
    /// What a command writes into a pipe.
    fn of(now: &Simple) -> Self {
        let Some((first, rest)) = now.words.split_first() else {
            return Self::Elsewhere;
        };
        let texts: Vec<&str> = rest.iter().map(|w| w.text.as_str()).collect();
        let written = match first.text.as_str() {
            "echo" => texts.strip_prefix(&["-n"]).unwrap_or(&texts),
            "printf" if texts.len() == 1 => &texts,
            "printf" if texts.len() == 2 && ["%s", "%s\\n"].contains(&texts[0]) => &texts[1..],
            "cat"
                if now.documents == 1
                    && now.strings.is_empty()
                    && (texts.is_empty() || texts == ["-"]) =>
            {
                return Self::Document;
            }
            _ => return Self::Elsewhere,
        };
        let text = written.join(" ");
        let text = if first.text == "printf" {
            text.replace("\\n", "\n")
        } else {
            text
        };
        if text.contains([HIDDEN, '\\', '%']) || text.starts_with('-') {
            return Self::Elsewhere;
        }
        Self::Text(text)
    }
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
        let word = self.target();
        if kind == Some(b'<') {
            let from = base(&word.text);
            now.redirected = !word.process && !word.text.starts_with("/dev/");
            if tables::is_interpreter(from) && word.text.contains("bin/") {
                self.unclear("a Python is read as a file");
            }
            if word.process {
                self.feed = Feed::Elsewhere;
            }
        }
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

    /// Judges what was read of one command, which ends a pipe.
    pub(super) fn finish(&mut self, now: &mut Simple) {
        self.finish_into(now, false);
    }

    /// The same; `pipes`: what it writes goes to the next command.
    pub(super) fn finish_into(&mut self, now: &mut Simple, pipes: bool) {
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
        let own = now.documents > 0 || !now.strings.is_empty();
        let feed = std::mem::take(&mut self.feed);
        if !own && !now.words.is_empty() {
            self.fed(used, feed, now.redirected);
        }
        self.feed = match pipes {
            true => Feed::of(&now),
            false => self.group_feed.clone(),
        };
    }

    /// A command without text of its own to read.
    fn fed(&mut self, used: Stdin, feed: Feed, redirected: bool) {
        let elsewhere = "a shell that reads commands from elsewhere";
        match (used, feed) {
            (Stdin::Data | Stdin::Other, _) => {}
            (Stdin::Commands, _) if redirected => self.unclear(elsewhere),
            // A file: what is in it is not read anywhere.
            (_, _) if redirected => {}
            (_, Feed::Text(text)) => self.given(used, &text),
            (_, Feed::Document) => {
                if let Some(document) = self.documents.last_mut() {
                    document.used = Some(used);
                }
            }
            (Stdin::Commands, _) => self.unclear(elsewhere),
            (Stdin::Code(language), Feed::Elsewhere) if !language.is_mostly_data() => {
                self.unclear("a program that reads its text from elsewhere");
            }
            (Stdin::Code(_), _) => {}
        }
    }

    /// Every command of a group may read what is piped into it.
    pub(super) fn fed_as_a_group(&mut self) {
        if self.feed != Feed::None {
            self.feed = Feed::Elsewhere;
            self.group_feed = Feed::Elsewhere;
        }
    }

    /// Text on a command's standard input.
    fn given(&mut self, used: Stdin, text: &str) {
        match used {
            Stdin::Data => {}
            Stdin::Commands => self.text_of_commands(text),
            Stdin::Code(language) => self.code(language, text),
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
