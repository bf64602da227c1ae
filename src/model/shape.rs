//! The shape of code: what it is besides its numbers and texts, to recognise code that is alike.
//!
//! Rule: every name, keyword, operator and indentation stays, byte for byte. A number becomes one mark, and so
//! does what stands between the quotes of a string. Comments stay, since editors and systems obey some (`#!`,
//! modelines); empty lines and blanks between two tokens do not count. What stands in the braces of an f-string (or a t-string) is code, so its names stay. Code is alike in
//! its numbers if nothing but numbers differs, and alike in its texts if nothing but numbers and strings
//! differs. Bytes that are no token of Python stay, so that a mistake of this reader never makes two codes alike.

use std::ops::Range;

use sha2::{Digest as _, Sha256};

/// Longest code that has a shape, in bytes: the dashboard's loop makes it (64 KiB take about a millisecond).
const LONGEST: usize = 64 * 1024;
/// Deepest f-string in an f-string that is read; deeper code has no shape.
const DEEPEST: usize = 16;

/// What stands in place of a number or of the content of a string. No Python code has these bytes outside of a
/// string.
const NUMBER: u8 = 1;
const TEXT: u8 = 2;

/// The shape of one piece of code, as the first half of two SHA-256 digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Equal if only numbers differ.
    pub numbers: [u8; 16],
    /// Equal if only numbers and contents of strings differ.
    pub texts: [u8; 16],
    /// Equal if only comments, empty lines and blanks differ. Decides nothing: comments can be obeyed.
    pub tokens: [u8; 16],
    comments: [u8; 16],
}

impl Shape {
    /// `None` for code that is too long or too deep.
    pub fn of(code: &str) -> Option<Self> {
        let reader = Reader::read(code)?;
        Some(Self {
            numbers: half(&reader.numbers),
            texts: half(&reader.texts),
            tokens: half(reader.tokens.trim_ascii_end()),
            comments: half(&reader.comments),
        })
    }

    /// Whether the comments are the same too, for code that differs in comments and blanks at most.
    pub fn same_comments(&self, other: &Self) -> bool {
        self.comments == other.comments
    }

    /// Where the code's numbers stand, in order. Codes that are alike in all but their numbers have as many.
    pub fn numbers_in(code: &str) -> Option<Vec<Range<usize>>> {
        Some(Reader::read(code)?.spans)
    }
}

/// The first 16 bytes of a SHA-256 digest.
fn half(bytes: &[u8]) -> [u8; 16] {
    let digest: [u8; 32] = Sha256::digest(bytes).into();
    let mut out = [0; 16];
    out.copy_from_slice(&digest[..16]);
    out
}

struct Reader<'a> {
    code: &'a [u8],
    at: usize,
    numbers: Vec<u8>,
    texts: Vec<u8>,
    /// The code without comments and without lines that have nothing else.
    tokens: Vec<u8>,
    /// Where the line begins in it.
    line: usize,
    comments: Vec<u8>,
    /// The numbers read so far.
    spans: Vec<Range<usize>>,
}

/// How a string was opened: its quote, and whether there are three.
#[derive(Clone, Copy)]
struct Opened {
    quote: u8,
    long: bool,
}

fn is_name(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80
}

impl<'a> Reader<'a> {
    /// `None` for code that is too long or too deep.
    fn read(code: &'a str) -> Option<Self> {
        if code.len() > LONGEST {
            return None;
        }
        let mut reader = Self {
            code: code.as_bytes(),
            at: 0,
            numbers: Vec::with_capacity(code.len()),
            texts: Vec::with_capacity(code.len()),
            tokens: Vec::with_capacity(code.len()),
            line: 0,
            comments: Vec::new(),
            spans: Vec::new(),
        };
        reader.code(false, 0)?;
        Some(reader)
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.code.get(self.at + ahead).copied()
    }

    fn all(&mut self, bytes: &[u8]) {
        self.both(bytes);
        self.tokens.extend_from_slice(bytes);
    }

    /// What differs without a number or a comment being another token.
    fn both(&mut self, bytes: &[u8]) {
        self.numbers.extend_from_slice(bytes);
        self.texts.extend_from_slice(bytes);
    }

    /// The end of a line, which is no token behind a comment that stands alone.
    fn end_line(&mut self) {
        self.both(b"\n");
        match self.tokens[self.line..].trim_ascii().is_empty() {
            true => self.tokens.truncate(self.line),
            false => self.tokens.push(b'\n'),
        }
        self.line = self.tokens.len();
    }

    /// Reads code: to its end, or, in the braces of an f-string, to the brace or colon that ends the expression.
    fn code(&mut self, braced: bool, deep: usize) -> Option<()> {
        if deep > DEEPEST {
            return None;
        }
        let mut brackets = 0_usize;
        if !braced {
            self.begin_line();
        }
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' | b'\r' => {
                    self.at += 1;
                    self.end_line();
                    if !braced {
                        self.begin_line();
                    }
                }
                b' ' | b'\t' | 0x0c => {
                    self.skip_blanks();
                    // A blank separates names, and quotes that would be others without it; everywhere else it says
                    // nothing.
                    let parts = |b: Option<u8>| b.is_some_and(|b| is_name(b) || b == NUMBER);
                    let quotes = |b: Option<u8>| matches!(b, Some(b'"' | b'\''));
                    let (before, behind) = (self.numbers.last().copied(), self.peek(0));
                    if parts(before) && parts(behind) || quotes(before) && quotes(behind) {
                        self.all(b" ");
                    }
                }
                b'#' => self.comment(),
                b'"' | b'\'' => self.string(b"", deep)?,
                b'0'..=b'9' => self.number(),
                b'.' if self.peek(1).is_some_and(|b| b.is_ascii_digit()) => self.number(),
                byte if is_name(byte) => self.name(deep)?,
                b'}' | b':' if braced && brackets == 0 => return Some(()),
                other => {
                    match other {
                        b'(' | b'[' | b'{' => brackets += 1,
                        b')' | b']' | b'}' => brackets = brackets.saturating_sub(1),
                        _ => {}
                    }
                    self.at += 1;
                    self.all(&[other]);
                }
            }
        }
        Some(())
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(0), Some(b' ' | b'\t' | 0x0c)) {
            self.at += 1;
        }
    }

    fn comment(&mut self) {
        let from = self.at;
        while self.peek(0).is_some_and(|b| b != b'\n' && b != b'\r') {
            self.at += 1;
        }
        let comment = &self.code[from..self.at];
        self.both(comment);
        self.comments.extend_from_slice(comment);
        self.comments.push(b'\n');
    }

    /// Skips lines without code; the indentation of the first line with code counts.
    fn begin_line(&mut self) {
        loop {
            let from = self.at;
            self.skip_blanks();
            let to = self.at;
            match self.peek(0) {
                Some(b'\n' | b'\r') => self.at += 1,
                None => return,
                Some(_) => {
                    self.all(&self.code[from..to]);
                    return;
                }
            }
        }
    }

    /// A name or keyword, or the prefix of a string with it.
    fn name(&mut self, deep: usize) -> Option<()> {
        let from = self.at;
        while self.peek(0).is_some_and(is_name) {
            self.at += 1;
        }
        let name = &self.code[from..self.at];
        if matches!(self.peek(0), Some(b'"' | b'\'')) && name.len() <= 2 {
            return self.string(name, deep);
        }
        self.all(name);
        Some(())
    }

    /// `1_000`, `0xff`, `1.5e-3`, `2j`; the sign before a number is an operator and stays.
    fn number(&mut self) {
        let hex = self.peek(0) == Some(b'0') && matches!(self.peek(1), Some(b'x' | b'X'));
        let from = self.at;
        while let Some(byte) = self.peek(0) {
            let exponent = !hex && matches!(byte, b'e' | b'E') && self.is_exponent();
            let part = match byte {
                b'0'..=b'9' | b'_' | b'.' => true,
                b'a'..=b'f' | b'A'..=b'F' if hex => true,
                b'x' | b'X' if hex => self.at == from + 1,
                b'o' | b'O' | b'b' | b'B' => self.at == from + 1 && self.code[from] == b'0',
                b'j' | b'J' => true,
                _ => exponent,
            };
            // `1if x`: the number ends before a keyword.
            if !part {
                break;
            }
            self.at += if exponent { 2 } else { 1 };
        }
        self.spans.push(from..self.at);
        self.both(&[NUMBER]);
        self.tokens.extend_from_slice(&self.code[from..self.at]);
    }

    /// Whether the `e` here is followed by a digit or a sign.
    fn is_exponent(&self) -> bool {
        match self.peek(1) {
            Some(b'+' | b'-') => self.peek(2).is_some_and(|b| b.is_ascii_digit()),
            next => next.is_some_and(|b| b.is_ascii_digit()),
        }
    }

    /// A string from its quote on. `prefix` was read.
    fn string(&mut self, prefix: &[u8], deep: usize) -> Option<()> {
        let formatted = prefix
            .iter()
            .any(|b| matches!(b, b'f' | b'F' | b't' | b'T'));
        let quote = self.peek(0)?;
        let long = self.peek(1) == Some(quote) && self.peek(2) == Some(quote);
        let opened = Opened { quote, long };
        self.all(prefix);
        self.quotes(opened);
        self.texts.push(TEXT);
        while let Some(byte) = self.peek(0) {
            if self.closes(opened) {
                self.quotes(opened);
                return Some(());
            }
            match byte {
                // Like Python, ends a short string at the end of its line.
                b'\n' | b'\r' if !long => return Some(()),
                b'\\' if !matches!(self.peek(1), Some(b'{' | b'}')) => self.content(2),
                b'{' if formatted && self.peek(1) == Some(b'{') => self.content(2),
                b'{' if formatted => self.braces(opened, deep)?,
                _ => self.content(1),
            }
        }
        Some(())
    }

    /// An expression of an f-string with its format.
    fn braces(&mut self, opened: Opened, deep: usize) -> Option<()> {
        self.at += 1;
        self.all(b"{");
        self.code(true, deep + 1)?;
        if self.peek(0) == Some(b':') {
            self.at += 1;
            self.all(b":");
            self.texts.push(TEXT);
            while let Some(byte) = self.peek(0) {
                match byte {
                    b'}' => break,
                    _ if self.closes(opened) => return Some(()),
                    b'{' => self.braces(opened, deep + 1)?,
                    _ => self.content(1),
                }
            }
        }
        if self.peek(0) == Some(b'}') {
            self.at += 1;
            self.all(b"}");
            self.texts.push(TEXT);
        }
        Some(())
    }

    fn closes(&self, opened: Opened) -> bool {
        let Opened { quote, long } = opened;
        let quotes = if long { 3 } else { 1 };
        (0..quotes).all(|ahead| self.peek(ahead) == Some(quote))
    }

    fn quotes(&mut self, opened: Opened) {
        let quotes = if opened.long { 3 } else { 1 };
        self.at += quotes;
        self.all(&[opened.quote; 3][..quotes]);
    }

    /// Bytes of a string's content.
    fn content(&mut self, bytes: usize) {
        let end = (self.at + bytes).min(self.code.len());
        self.numbers.extend_from_slice(&self.code[self.at..end]);
        self.tokens.extend_from_slice(&self.code[self.at..end]);
        self.at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(code: &str) -> Shape {
        Shape::of(code).unwrap()
    }

    #[track_caller]
    fn compare(a: &str, b: &str, numbers: bool, texts: bool) {
        let (x, y) = (shape(a), shape(b));
        assert_eq!(x.numbers == y.numbers, numbers, "numbers of\n{a}\n{b}");
        assert_eq!(x.texts == y.texts, texts, "texts of\n{a}\n{b}");
    }

    #[test]
    fn code_with_other_numbers_has_the_same_shape() {
        for (a, b) in [
            ("x = df[df.amount > 100]", "x = df[df.amount > 1_200.5e-3]"),
            ("f(0xff, 1j, .5)", "f(7, 0b1, 2.)"),
            ("1 if x else 2", "10 if x else 0o7"),
            ("a = 1  # above\n\n\nb = 2", "a=3# above\n\nb  =  4"),
            ("print(1)\r\nprint(2)\r\n", "print(1)\nprint(2)\n"),
            ("f\"{x[1]}\"", "f\"{x[2]}\""),
        ] {
            compare(a, b, true, true);
        }
    }

    #[test]
    fn the_numbers_of_code_are_found_where_they_stand() {
        for (code, expected) in [
            ("df[df.x1 > 1_0.5e-3]  # 7", vec!["1_0.5e-3"]),
            ("f'{x[1]:02d} 3' + '4'", vec!["1"]),
            ("a = -1; b = 0xff", vec!["1", "0xff"]),
            ("x", vec![]),
        ] {
            let spans = Shape::numbers_in(code).unwrap();
            let found: Vec<&str> = spans.into_iter().map(|span| &code[span]).collect();
            assert_eq!(found, expected, "{code}");
        }
    }

    #[test]
    fn code_with_other_texts_is_alike_only_in_its_texts() {
        for (a, b) in [
            ("df['dept']", "df['email']"),
            ("x = 'a\\'b'", "x = 'c'"),
            ("x = r'\\\\'", "x = r''"),
            ("x = \"\"\"a\n'b' \"c\" \"\"\"", "x = \"\"\"\"\"\""),
            ("f'a {x:.2f} b'", "f'{x:>9} {{}}'"),
            ("f'{d[\"a\"]}'", "f'{d[\"b\"]}'"),
        ] {
            compare(a, b, false, true);
        }
    }

    #[test]
    fn what_differs_is_told_apart_by_tokens() {
        // Whether the tokens and the comments are the same.
        for (a, b, tokens, comments) in [
            ("x = 1\ny = 2\n", "x = 1\n\n  \ny  =  2\n", true, true),
            ("x = 1\n", "x = 1", true, true),
            ("x = 1\n", "x = 1  # one\n", true, false),
            ("x = 1\n", "# one\nx = 1\n", true, false),
            (
                "if x:\n    y = 1\n",
                "if x:\n    # one\n    y = 1\n    # two",
                true,
                false,
            ),
            ("f(1,\n  2)", "f(1,  # one\n  # two\n  2)", true, false),
            ("x = 1\n", "x = 2\n", false, true),
            ("x = 1\n", "x = 2  # two\n", false, false),
            ("x = '# one'", "x = '# two'", false, true),
            ("x = 11, 1", "x = 1, 11", false, true),
            (
                "if x:\n    y = 1\nz",
                "if x:\n    y = 1\n    z",
                false,
                true,
            ),
            ("f('' '', a)", "f('''', a)", false, true),
        ] {
            let (x, y) = (shape(a), shape(b));
            assert_eq!(x.tokens == y.tokens, tokens, "tokens of\n{a}\n{b}");
            assert_eq!(x.same_comments(&y), comments, "comments of\n{a}\n{b}");
        }
    }

    #[test]
    fn names_are_kept_wherever_they_can_run() {
        for (a, b) in [
            ("a = x", "a = y"),
            ("x.head(1)", "x.tail(1)"),
            ("if x:\n    y = 1", "if x:\n  y = 1"),
            ("x = -1", "x = 1"),
            ("x1 = 1", "x2 = 1"),
            ("b'a'", "'a'"),
            // Code in the braces of an f-string, also behind quotes like its own and a backslash.
            ("f'{a(1)}'", "f'{b(1)}'"),
            ("f'{{a}}{a}'", "f'{{a}}{b}'"),
            ("f\"{d[\"a\"]} {f(\"x\")}\"", "f\"{d[\"a\"]} {g(\"x\")}\""),
            ("rf'\\{a}'", "rf'\\{b}'"),
            ("f'\\{a}'", "f'\\{b}'"),
            ("f'{x:{a}}'", "f'{x:{b}}'"),
            ("f'{x!r:{a}}'", "f'{x!r:{b}}'"),
            ("f'''{\na}'''", "f'''{\nb}'''"),
            ("t'{a}'", "t'{b}'"),
            ("F\"{a}\"", "F\"{b}\""),
            // What looks like the inside of a string and is not.
            ("x = 'a'\ny = a", "x = 'a'\ny = b"),
            ("x = 'open\ny = a", "x = 'open\ny = b"),
            ("x = '\\\\'; a", "x = '\\\\'; b"),
            ("'''x''' ; a", "'''x''' ; b"),
            ("'' ; a", "'' ; b"),
            // Quotes that a blank keeps apart begin no long string.
            ("'' '';a;'' ''", "'''';a;''' ''"),
            ("# it's\na", "# it's\nb"),
            ("1if a else 2", "1if b else 2"),
            // Comments that something could obey.
            ("x = 1", "x = 1  # vim: set et:"),
            ("#!/bin/sh\nx", "# x\nx"),
            ("x = 1  # above 1", "x = 1  # above 2"),
            ("# a\nx = 1", "x = 1\n# a"),
            ("0xfor a", "0xfor b"),
        ] {
            compare(a, b, false, false);
        }
    }

    #[test]
    fn code_that_is_too_long_or_too_deep_has_no_shape() {
        assert!(Shape::of(&"x".repeat(LONGEST)).is_some());
        assert!(Shape::of(&"x".repeat(LONGEST + 1)).is_none());
        for open in ["f'{", "f'{x:{"] {
            assert!(Shape::of(&open.repeat(10_000)).is_none());
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_to_its_end_without_a_panic(code in "[ -~\n\r\té]{0,200}") {
            let _ = Shape::of(&code);
        }

        #[test]
        fn quotes_and_braces_in_any_order_cause_no_panic(
            code in "(f'|\"|'|\"\"\"|\\{|\\}|:|\\\\|a|1|\n|rf\"){0,60}",
        ) {
            let _ = Shape::of(&code);
        }
    }
}
