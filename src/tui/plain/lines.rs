//! Text as lines for a terminal that only appends: no escape sequence, no cursor movement, no sign that only an eye
//! can read. Every character goes through [`plain`] or [`exact`]; a line that is wider than the terminal continues in
//! rows that begin with `..` and the number of blanks at the break, so that an agent's text never begins a line and no
//! blank is lost.

use crate::model::columns;

use super::super::charset::{self, Charset, is_ascii};
use super::super::flow::FlowRow;
use super::super::text::{Shown, foreign};
use super::super::theme::Role;
use super::super::words;

/// The beginning of a row that continues a line. No line begins like this.
const GOES_ON: &str = ".. ";
/// The beginning of a mark, and how a text says it that has it itself.
const MARK: &str = "\\u{";
const MARK_ITSELF: &str = "\\u{005C}u{";
/// Columns if the terminal does not say, and the fewest with which anything is read out.
const USUAL: usize = 80;
pub(super) const FEWEST: u16 = 20;

/// Text of an agent with its marks in ASCII: a character that cannot be shown is its number, and so is the backslash
/// of a text that looks like a mark. Different texts stay different. Returns how many marks there are too.
pub(in crate::tui) fn exact(text: &str) -> (String, usize) {
    let mut parts = text.split(MARK);
    let (mut out, mut marked) = visible(parts.next().unwrap_or(""));
    for part in parts {
        out.push_str(MARK_ITSELF);
        let (part, more) = visible(part);
        out.push_str(&part);
        marked += more + 1;
    }
    (out, marked)
}

/// The same for text that can have marks already: they stay as they are.
fn visible(text: &str) -> (String, usize) {
    let mut out = String::with_capacity(text.len());
    let mut marked = 0;
    for piece in foreign(text) {
        match &piece.shown {
            Shown::Plain(text) => out.push_str(text),
            Shown::StandIn(text) => out.push_str(text),
            Shown::Tab => {
                marked += 1;
                out.push_str("\\u{tab}");
            }
            Shown::Mark(mark) => {
                marked += 1;
                match (mark.as_str(), text[piece.start..piece.end].chars().next()) {
                    (mark, _) if mark.is_ascii() => out.push_str(mark),
                    (_, Some(c)) => out.push_str(&format!("\\u{{{:04X}}}", c as u32)),
                    (_, None) => {}
                }
            }
        }
    }
    (out, marked)
}

/// A sentence of the screen: its signs in words, its columns closed up. What stands in quotes is not the program's and
/// stays as it is. On a terminal without UTF-8, any other character that is not ASCII is its number.
pub(in crate::tui) fn plain(text: &str) -> String {
    let mut out = Sentence::default();
    let (mut quoted, mut escaped, mut from) = (false, false, 0);
    for (at, c) in text.char_indices() {
        if c == '"' && !escaped {
            out.add(&text[from..at], quoted);
            (quoted, from) = (!quoted, at);
        }
        escaped = c == '\\' && !escaped;
    }
    out.add(&text[from..], quoted);
    out.text.trim().to_owned()
}

/// Own words and given text behind each other.
#[derive(Default)]
struct Sentence {
    text: String,
    /// Up to here it is given text.
    given: usize,
}

impl Sentence {
    fn add(&mut self, text: &str, given: bool) {
        if given {
            self.text.push_str(&visible(text).0);
            self.given = self.text.len();
        } else {
            self.own(text);
        }
    }

    fn own(&mut self, text: &str) {
        let ascii = is_ascii();
        let text = words::plain::and_more(text);
        let (text, _) = charset::scope(Charset::Utf8, || visible(&text));
        for c in text.chars() {
            match words::plain::sign(c) {
                Some(mark @ ("," | ";")) => self.pause(mark),
                Some(words::plain::WARNING) => {
                    self.pause(",");
                    self.text.push_str(words::plain::WARNING);
                }
                Some(word) => self.text.push_str(word),
                None if c == ' ' && (self.text.is_empty() || self.text.ends_with(' ')) => {}
                None if ascii && !c.is_ascii() => {
                    self.text.push_str(&format!("\\u{{{:04X}}}", c as u32));
                }
                None => self.text.push(c),
            }
        }
    }
}

impl Sentence {
    /// A sign between two statements, unless there is one.
    fn pause(&mut self, mark: &str) {
        let own = self.text[self.given..].trim_end().len();
        self.text.truncate(self.given + own);
        if self.text.is_empty() {
            return;
        }
        let paused = own > 0 && self.text.ends_with([',', ';', ':', '(']);
        self.text.push_str(if paused { "" } else { mark });
        self.text.push(' ');
    }
}

/// A row of a flow as one line. A gap between columns is said as a semicolon, one before a remark as a comma.
fn row(row: &FlowRow) -> String {
    let mut out = Sentence::default();
    for (i, (text, role)) in row.spans.iter().enumerate() {
        match (text.given, *role) {
            // These are marks already.
            (true, Role::Mark) => out.add(text, true),
            (true, _) => out.add(&exact(text).0, true),
            (false, _) if text.as_str() == "  " => out.own(" \u{2502} "),
            (false, _) if i > 0 && text.starts_with("  ") && !text.trim().is_empty() => {
                out.pause(",");
                out.own(text.trim_start());
            }
            (false, _) => out.own(text),
        }
    }
    let before = match &row.gutter {
        Some(gutter) => gutter.said(),
        // What is indented belongs to the line above, and can begin with an agent's words.
        None if row.goes_on || row.indent > 0 => GOES_ON,
        None => "",
    };
    format!("{before}{}", out.text.trim_end())
}

/// A row of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::tui) struct Said {
    pub text: String,
    pub finding: Option<usize>,
}

impl From<&FlowRow> for Said {
    fn from(of: &FlowRow) -> Self {
        Self {
            text: row(of),
            finding: of.finding,
        }
    }
}

/// What is about to be written.
#[derive(Debug)]
pub(super) struct Lines {
    width: usize,
    out: String,
    /// The column of the cursor; 0 at the start of a line.
    at: usize,
}

impl Lines {
    /// `columns`: the terminal's, 0 if unknown. `at`: where the last text ended.
    pub fn new(columns: u16, at: usize) -> Self {
        let width = match usize::from(columns) {
            0 => USUAL,
            // The last column stays free: some terminals break the line there.
            more => (more - 1).max(usize::from(FEWEST) - 1),
        };
        Self {
            width,
            out: String::new(),
            at,
        }
    }

    pub const fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// How much was said.
    pub const fn len(&self) -> usize {
        self.out.len()
    }

    /// A place to go back to.
    pub const fn mark(&self) -> (usize, usize) {
        (self.out.len(), self.at)
    }

    /// What was said since.
    pub fn since(&self, (from, _): (usize, usize)) -> &str {
        self.out.get(from..).unwrap_or_default()
    }

    /// Takes back what was said since.
    pub fn back_to(&mut self, (from, at): (usize, usize)) {
        self.out.truncate(from);
        self.at = at;
    }

    /// Whether the cursor is at the start of a line.
    pub const fn at_start(&self) -> bool {
        self.at == 0
    }

    pub fn into_text(self) -> (String, usize) {
        (self.out, self.at)
    }

    /// One whole line. Breaks at blanks where a row has any, and says how many it took there. Blanks at the end are
    /// left out.
    pub fn line(&mut self, text: &str) {
        self.end();
        let (text, _) = visible(text);
        let mut blanks = 0;
        for (i, word) in text.split(' ').enumerate() {
            blanks += usize::from(i > 0);
            if !word.is_empty() {
                self.word(std::mem::take(&mut blanks), word);
            }
        }
        self.end_always();
    }

    fn word(&mut self, blanks: usize, word: &str) {
        let wide: usize = word.chars().filter_map(columns).sum();
        if self.at + blanks + wide <= self.width {
            self.out.extend(std::iter::repeat_n(' ', blanks));
            self.at += blanks;
        } else if self.at + blanks > 0 {
            self.goes_on(blanks);
        }
        self.push(word);
    }

    /// What a person types, behind what they typed before.
    pub fn typed(&mut self, text: &str) {
        let (text, _) = visible(text);
        self.push(&text);
    }

    /// Ends a line that was begun.
    pub fn end(&mut self) {
        if self.at > 0 {
            self.end_always();
        }
    }

    fn end_always(&mut self) {
        self.out.truncate(self.out.trim_end_matches(' ').len());
        self.out.push_str("\r\n");
        self.at = 0;
    }

    fn push(&mut self, text: &str) {
        for c in text.chars() {
            // `visible` left nothing else; a control character would be dropped here.
            let Some(wide) = columns(c) else { continue };
            if self.at + wide > self.width {
                self.goes_on(0);
            }
            self.out.push(c);
            self.at += wide;
        }
    }

    /// Begins a row that goes on. `blanks`: those that the break takes.
    fn goes_on(&mut self, blanks: usize) {
        self.end_always();
        let mark = words::plain::goes_on(blanks);
        self.at = mark.len();
        self.out.push_str(&mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn line(text: &str, columns: u16) -> String {
        let mut lines = Lines::new(columns, 0);
        lines.line(text);
        lines.into_text().0
    }

    /// A byte of a character can be a control of its own to a terminal that does not take UTF-8.
    #[test]
    fn a_terminal_without_utf_8_gets_ascii_only() {
        let (said, whole) = charset::scope(Charset::Ascii, || {
            (exact("print('\u{db}', 'x')").0, plain("▲ caf\u{e9} · ≈ 3"))
        });
        assert_eq!(said, "print('\\u{00DB}', 'x')");
        assert_eq!(whole, "warning: caf\\u{00E9}, about 3");
    }

    #[test]
    fn marks_are_ascii_and_counted() {
        for (raw, said, marked) in [
            ("a\x1b[2Jb", "a\\u{001B}[2Jb", 1),
            ("a\tb\rc", "a\\u{tab}b\\u{000D}c", 2),
            ("a\\tb \\u{202e}", "a\\tb \\u{005C}u{202e}", 1),
            ("x\u{202e}y\u{200b}", "x\\u{202E}y\\u{200B}", 2),
            ("é 漢 ю", "é 漢 ю", 0),
            ("\u{7f}\u{9b}", "\\u{007F}\\u{009B}", 2),
        ] {
            assert_eq!(exact(raw), (said.to_owned(), marked), "{raw:?}");
        }
    }

    #[test]
    fn signs_are_words_and_columns_are_closed_up() {
        let said = plain("limits   wall 60 s · cpu 5 s  ▲ flagged  12 × 8,400 lines 3–5 …");
        assert_eq!(
            said,
            "limits wall 60 s, cpu 5 s, warning: flagged 12 by 8,400 lines 3 to 5 ..."
        );
        assert_eq!(plain("✓ succeeded"), "succeeded");
    }

    #[test]
    fn long_lines_break_after_blanks_and_go_on_marked() {
        assert_eq!(
            line("one two three four five six", 21),
            "one two three four\r\n.. five six\r\n"
        );
        assert_eq!(
            line(&"x".repeat(30), 21),
            format!("{}\r\n..+ {}\r\n", "x".repeat(20), "x".repeat(10))
        );
        assert_eq!(
            line("one two three four     five", 21),
            "one two three four\r\n..5 blanks five\r\n"
        );
    }

    proptest! {
        /// Nothing but whole characters and line ends leaves, and each row but the first begins with the mark.
        #[test]
        fn no_control_character_leaves_and_no_row_begins_with_what_was_given(
            text in any::<String>(), columns in 0_u16..120,
        ) {
            let said = line(&text, columns);
            prop_assert!(said.ends_with("\r\n"));
            let rows: Vec<&str> = said.strip_suffix("\r\n").unwrap_or("").split("\r\n").collect();
            let width = match columns { 0 => 80, n => usize::from(n - 1).max(19) };
            for (i, row) in rows.iter().enumerate() {
                prop_assert!(row.chars().all(|c| super::columns(c).is_some()), "{row:?}");
                prop_assert!(row.chars().filter_map(super::columns).sum::<usize>() <= width);
                prop_assert!(i == 0 || row.starts_with(".."));
            }
        }
    }
}
