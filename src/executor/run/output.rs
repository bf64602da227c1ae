//! The output of the child: counted, cut at the cap, decoded without splitting characters, and
//! without this machine's paths.
//!
//! Escape sequences are kept; the code that draws the text makes them visible.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::executor::data::cells::{Before, Cells};

/// A chunk is passed on at this size or this age of its first byte, so that a flood of tiny writes
/// becomes a limited number of notes.
const CHUNK_BYTES: usize = 4096;
const CHUNK_AGE: Duration = Duration::from_millis(50);

/// One of stdout and stderr.
pub struct Stream {
    cap: u64,
    /// Bytes that the child wrote, whether kept or not.
    total: u64,
    /// The first bytes of a character that is not complete yet.
    partial: Vec<u8>,
    redactor: Redactor,
    text: String,
    /// Length of the part of `text` that was passed on.
    passed: usize,
    since: Option<Instant>,
}

/// The result of a stream.
pub struct Captured {
    pub text: String,
    pub bytes: u64,
    pub truncated: bool,
}

impl Stream {
    pub fn new(cap: u64, redactor: Redactor) -> Self {
        Self {
            cap,
            total: 0,
            partial: Vec::new(),
            redactor,
            text: String::new(),
            passed: 0,
            since: None,
        }
    }

    /// Adds the bytes that were read. Bytes over the cap are counted and dropped.
    pub fn feed(&mut self, bytes: &[u8], now: Instant) {
        let room = self.cap.saturating_sub(self.total);
        self.total += bytes.len() as u64;
        let kept = &bytes[..bytes.len().min(usize::try_from(room).unwrap_or(usize::MAX))];
        self.partial.extend_from_slice(kept);
        let decoded = decode(&mut self.partial);
        self.redactor.push(&decoded, &mut self.text);
        if self.since.is_none() && self.text.len() > self.passed {
            self.since = Some(now);
        }
    }

    pub fn over(&self) -> bool {
        self.total > self.cap
    }

    /// Bytes that the child wrote.
    pub const fn bytes(&self) -> u64 {
        self.total
    }

    pub fn any(&self) -> bool {
        self.total > 0
    }

    /// The next piece to pass on, if one is due. The first piece is due at once.
    pub fn due(&mut self, now: Instant) -> Option<String> {
        let waiting = self.text.len() - self.passed;
        let old = self.since.is_some_and(|since| now - since >= CHUNK_AGE);
        if waiting == 0 || (waiting < CHUNK_BYTES && !old && self.passed > 0) {
            return None;
        }
        Some(self.pass())
    }

    /// When the waiting piece becomes due.
    pub fn next_due(&self) -> Option<Instant> {
        self.since.map(|since| since + CHUNK_AGE)
    }

    /// Ends the stream and returns the text held back.
    pub fn finish(&mut self) -> Option<String> {
        let rest = String::from_utf8_lossy(&std::mem::take(&mut self.partial)).into_owned();
        // The cap may have cut a character or a hidden value; the remaining part of it is not shown
        // at all.
        if self.over() {
            self.redactor.cut(&mut self.text);
        } else {
            self.redactor.push(&rest, &mut self.text);
            self.redactor.finish(&mut self.text);
        }
        (self.text.len() > self.passed).then(|| self.pass())
    }

    pub fn captured(self) -> Captured {
        Captured {
            bytes: self.total,
            truncated: self.total > self.cap,
            text: self.text,
        }
    }

    fn pass(&mut self) -> String {
        let piece = self.text[self.passed..].to_owned();
        self.passed = self.text.len();
        self.since = None;
        piece
    }
}

/// Removes all complete characters from the front; invalid bytes become U+FFFD.
fn decode(bytes: &mut Vec<u8>) -> String {
    let mut text = String::new();
    let mut used = 0;
    loop {
        match std::str::from_utf8(&bytes[used..]) {
            Ok(rest) => {
                text.push_str(rest);
                used = bytes.len();
                break;
            }
            Err(e) => {
                let valid = used + e.valid_up_to();
                // The error guarantees that this part is valid.
                text.push_str(&String::from_utf8_lossy(&bytes[used..valid]));
                match e.error_len() {
                    None => {
                        used = valid;
                        break;
                    }
                    Some(odd) => {
                        text.push('\u{fffd}');
                        used = valid + odd;
                    }
                }
            }
        }
    }
    bytes.drain(..used);
    text
}

/// Replaces this machine's paths in a stream of text, even across chunks.
#[derive(Clone, Debug, Default)]
pub struct Redactor {
    /// Patterns with their replacements, longest first.
    patterns: Vec<(String, &'static str)>,
    held: String,
    /// The hidden values of private data sets, and text that may still become one.
    cells: Arc<Cells>,
    uncertain: String,
    before: Before,
}

impl Redactor {
    pub fn new(mut patterns: Vec<(String, &'static str)>, cells: Arc<Cells>) -> Self {
        patterns.sort_by_key(|(pattern, _)| std::cmp::Reverse(pattern.len()));
        patterns.dedup();
        Self {
            patterns,
            cells,
            ..Self::default()
        }
    }

    /// Whether a number is a hidden value.
    pub fn hides(&self, number: f64) -> bool {
        self.cells.hides(number)
    }

    /// Cleans a complete text.
    pub fn clean(&self, text: &str) -> String {
        let mut fresh = Self {
            patterns: self.patterns.clone(),
            cells: self.cells.clone(),
            ..Self::default()
        };
        let mut out = String::with_capacity(text.len());
        fresh.push(text, &mut out);
        fresh.finish(&mut out);
        out
    }

    fn push(&mut self, text: &str, out: &mut String) {
        if self.cells.is_empty() {
            return self.push_paths(text, out);
        }
        let mut rest = std::mem::take(&mut self.uncertain);
        self.push_paths(text, &mut rest);
        self.cells.pass(&mut rest, &mut self.before, false, out);
        self.uncertain = rest;
    }

    fn finish(&mut self, out: &mut String) {
        if self.cells.is_empty() {
            return self.finish_paths(out);
        }
        let mut rest = std::mem::take(&mut self.uncertain);
        self.finish_paths(&mut rest);
        self.cells.pass(&mut rest, &mut self.before, true, out);
    }

    /// Ends a text whose rest is not shown.
    fn cut(&mut self, out: &mut String) {
        if self.cells.is_empty() {
            self.finish_paths(out);
        }
        self.uncertain.clear();
    }

    fn push_paths(&mut self, text: &str, out: &mut String) {
        self.held.push_str(text);
        let mut rest = self.held.as_str();
        // Every pattern begins with `/`, so only there is anything to compare.
        while let Some(at) = rest.find('/') {
            out.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some((pattern, name)) = self.patterns.iter().find(|(p, _)| rest.starts_with(p)) {
                // A longer pattern may still match.
                let longer = self
                    .patterns
                    .iter()
                    .any(|(p, _)| p.len() > rest.len() && p.starts_with(rest));
                if longer {
                    self.held = rest.to_owned();
                    return;
                }
                out.push_str(name);
                rest = &rest[pattern.len()..];
            } else if self.patterns.iter().any(|(p, _)| p.starts_with(rest)) {
                self.held = rest.to_owned();
                return;
            } else {
                out.push('/');
                rest = &rest[1..];
            }
        }
        out.push_str(rest);
        self.held.clear();
    }

    fn finish_paths(&mut self, out: &mut String) {
        let held = std::mem::take(&mut self.held);
        match self.patterns.iter().find(|(p, _)| held.starts_with(p)) {
            Some((pattern, name)) => {
                out.push_str(name);
                out.push_str(&held[pattern.len()..]);
            }
            None => out.push_str(&held),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::control::Switch;

    fn feed_all(chunks: &[&[u8]], cap: u64) -> (Vec<String>, Captured) {
        let paths = Redactor::new(
            vec![
                ("/root/env".to_owned(), "<python>"),
                ("/root/env/lib".to_owned(), "<library>"),
            ],
            Arc::default(),
        );
        let mut stream = Stream::new(cap, paths);
        let now = Instant::now();
        let mut pieces = Vec::new();
        for chunk in chunks {
            stream.feed(chunk, now);
            pieces.extend(stream.due(now));
        }
        pieces.extend(stream.finish());
        (pieces, stream.captured())
    }

    #[test]
    fn characters_are_never_split_and_nothing_is_lost() {
        let text = "añ€𝄞z";
        for cut in 0..=text.len() {
            let (a, b) = text.as_bytes().split_at(cut);
            let (pieces, all) = feed_all(&[a, b], 100);
            assert_eq!(pieces.concat(), text, "{cut}");
            assert_eq!(all.text, text);
        }
        assert_eq!(
            feed_all(&[b"a\xff", b"\xe2\x82"], 100).1.text,
            "a\u{fffd}\u{fffd}"
        );
    }

    #[test]
    fn the_cap_cuts_at_a_character_and_counts_on() {
        let (_, all) = feed_all(&["aé".as_bytes(), b"xyz"], 2);
        assert_eq!(
            (all.text.as_str(), all.bytes, all.truncated),
            ("a", 6, true)
        );
        let (_, all) = feed_all(&[b"abc"], 3);
        assert!(!all.truncated);
    }

    #[test]
    fn the_cap_leaves_no_beginning_of_a_hidden_value() {
        let mut cells = Cells::default();
        let lines = &b"[\"Ann Ferrer\", 1]"[..];
        cells.add_values(lines, &Switch::new()).unwrap();
        let cells = Arc::new(cells);
        let text = "Ann Ferrer and ".repeat(20);
        for cap in 0..text.len() as u64 {
            let redactor = Redactor::new(Vec::new(), cells.clone());
            let mut stream = Stream::new(cap, redactor);
            stream.feed(text.as_bytes(), Instant::now());
            stream.finish();
            let shown = stream.captured().text;
            let rest = shown.replace("[REDACTED]", "").replace("and", "");
            assert_eq!(rest.trim_matches([' ', 'a', 'n']), "", "{cap}: {shown}");
        }
    }

    #[test]
    fn a_path_is_redacted_wherever_the_chunks_end() {
        let text = b"at /root/env/lib/x.py and /root/env!/root/other/";
        let expected = "at <library>/x.py and <python>!/root/other/";
        for cut in 0..=text.len() {
            let (a, b) = text.split_at(cut);
            assert_eq!(feed_all(&[a, b], 1000).1.text, expected, "{cut}");
        }
        assert_eq!(feed_all(&[b"/root/e"], 100).1.text, "/root/e");
        assert_eq!(feed_all(&[b"/root/env"], 100).1.text, "<python>");
    }

    #[test]
    fn a_flood_of_bytes_is_a_bounded_number_of_pieces() {
        let chunks: Vec<&[u8]> = std::iter::repeat_n(&b"x"[..], 10_000).collect();
        let (pieces, _) = feed_all(&chunks, 100_000);
        assert!(pieces.len() < 10, "{}", pieces.len());
    }
}
