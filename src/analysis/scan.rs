//! The scan before the parser: checks nesting depth, chains and digit runs in one pass over the
//! bytes.
//!
//! The parser accepts nesting whose tree overflows any stack when it is walked or dropped, and
//! takes quadratic time for a run of digits. CPython's own limits are 200 parentheses, 100 indents
//! and 4,300 digits.

use std::ops::Range;

/// The limit on nested brackets.
const BRACKETS: usize = 200;
const INDENTS: usize = 100;
/// The limit on operators, calls, attributes and subscripts in a row.
const CHAIN: usize = 1_000;
/// The limit on all of these together, i.e. the depth of the tree.
const DEPTH: usize = 3_000;
const DIGITS: usize = 4_300;
const ELIFS: usize = 400;
/// The limit on tokens in one replacement field of an f-string.
const FIELD_TOKENS: usize = 2_000;

/// The limit on the size of an analysed text, whatever the policy says; the benchmark's file has 1
/// MB.
pub const MOST_BYTES: usize = 16 * 1024 * 1024;

/// An exceeded limit and its position.
#[derive(Debug, PartialEq, Eq)]
pub struct Excess {
    pub offset: usize,
    pub what: String,
}

/// What the scan collects.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outline {
    pub comments: Vec<Range<usize>>,
    /// Words of the code with non-ASCII characters.
    pub foreign_words: Vec<Range<usize>>,
    /// String literals, including the quotes.
    pub strings: Vec<Range<usize>>,
    /// An upper bound on the depth of the tree.
    pub depth: usize,
}

/// Scans a text of at most `most` bytes.
pub fn scan(text: &str, most: usize) -> Result<Outline, Excess> {
    if text.len() > most {
        return Err(Excess {
            offset: 0,
            what: format!("{} bytes; the limit is {most}", text.len()),
        });
    }
    let mut scanner = Scanner {
        bytes: text.as_bytes(),
        at: 0,
        levels: vec![Level::default()],
        indents: vec![0],
        elifs: vec![0],
        total: 0,
        outline: Outline::default(),
    };
    scanner.run()?;
    Ok(scanner.outline)
}

/// The chain inside one bracket.
#[derive(Clone, Copy, Default)]
struct Level {
    /// Links since the last comma.
    chain: usize,
    /// Open lambdas, whose parameters contain commas of their own.
    lambdas: usize,
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    levels: Vec<Level>,
    indents: Vec<usize>,
    elifs: Vec<usize>,
    /// The number of links in all open levels.
    total: usize,
    outline: Outline,
}

impl Scanner<'_> {
    fn run(&mut self) -> Result<(), Excess> {
        self.line_start()?;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\n' | b'\r' => {
                    self.at += 1;
                    if self.levels.len() == 1 {
                        self.reset();
                        self.line_start()?;
                    }
                }
                b'#' => {
                    let start = self.at;
                    self.skip_while(|b| b != b'\n' && b != b'\r');
                    self.outline.comments.push(start..self.at);
                }
                b'\\' => {
                    // A continuation: the next line does not start a statement.
                    self.at += 1;
                    if self.peek(0) == Some(b'\r') {
                        self.at += 1;
                    }
                    if self.peek(0).is_some_and(|b| b.is_ascii()) {
                        self.at += 1;
                    }
                }
                b'"' | b'\'' => self.string("")?,
                b'0'..=b'9' => self.number()?,
                b'_' | b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => self.word()?,
                b'(' | b'[' | b'{' => {
                    self.at += 1;
                    self.levels.push(Level::default());
                    self.total += 1;
                    if self.levels.len() > BRACKETS {
                        return self.excess("more than 200 brackets inside each other");
                    }
                    self.depth()?;
                }
                b')' | b']' | b'}' => {
                    self.at += 1;
                    if self.levels.len() > 1
                        && let Some(level) = self.levels.pop()
                    {
                        self.total -= level.chain + level.lambdas + 1;
                    }
                    self.link()?;
                }
                b',' => {
                    self.at += 1;
                    self.total -= self.level().chain;
                    self.level().chain = 0;
                }
                b';' => {
                    self.at += 1;
                    self.reset();
                }
                b'+' | b'-' | b'*' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^' | b'~' | b'<'
                | b'>' | b'!' | b'.' => {
                    self.at += 1;
                    self.link()?;
                }
                _ => self.at += 1,
            }
        }
        Ok(())
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn skip_while(&mut self, keep: impl Fn(u8) -> bool) {
        while self.peek(0).is_some_and(&keep) {
            self.at += 1;
        }
    }

    fn level(&mut self) -> &mut Level {
        if self.levels.is_empty() {
            self.levels.push(Level::default());
        }
        let last = self.levels.len() - 1;
        &mut self.levels[last]
    }

    fn excess<T>(&self, what: &str) -> Result<T, Excess> {
        Err(Excess {
            offset: self.at.saturating_sub(1),
            what: what.to_owned(),
        })
    }

    /// Adds one link to the chain at this level.
    fn link(&mut self) -> Result<(), Excess> {
        let level = self.level();
        level.chain += 1;
        let chain = level.chain;
        self.total += 1;
        if chain > CHAIN {
            return self.excess("more than 1,000 operators, calls or attributes in a row");
        }
        self.depth()
    }

    /// A new statement starts: the last one no longer adds depth.
    fn reset(&mut self) {
        let level = std::mem::take(self.level());
        self.total -= level.chain + level.lambdas;
    }

    fn depth(&mut self) -> Result<(), Excess> {
        let elifs: usize = self.elifs.last().copied().unwrap_or(0);
        let depth = self.total + self.indents.len() + elifs;
        self.outline.depth = self.outline.depth.max(depth);
        if depth > DEPTH {
            return self.excess("nested more than 3,000 deep");
        }
        Ok(())
    }

    /// Reads the indentation and the first word of a statement.
    fn line_start(&mut self) -> Result<(), Excess> {
        let mut column = 0;
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' => column += 1,
                b'\t' => column = (column / 8 + 1) * 8,
                b'\x0c' => column = 0,
                _ => break,
            }
            self.at += 1;
        }
        if matches!(self.peek(0), None | Some(b'\n' | b'\r' | b'#')) {
            return Ok(());
        }
        while self.indents.len() > 1 && self.indents.last().is_some_and(|i| *i > column) {
            self.indents.pop();
            self.elifs.pop();
        }
        if self.indents.last().is_some_and(|i| *i < column) {
            self.indents.push(column);
            self.elifs.push(0);
            if self.indents.len() > INDENTS {
                return self.excess("more than 100 indents");
            }
        }
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        if let Some(elifs) = self.elifs.last_mut() {
            if rest.starts_with(b"elif") {
                *elifs += 1;
            } else if !rest.starts_with(b"else") {
                *elifs = 0;
            }
        }
        let elifs = self.elifs.iter().sum::<usize>();
        self.outline.depth = self.outline.depth.max(elifs + self.indents.len());
        if elifs > ELIFS {
            return self.excess("more than 400 elif in a row");
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Excess> {
        let start = self.at;
        self.skip_while(|b| b.is_ascii_alphanumeric() || b == b'_');
        if self.at - start > DIGITS {
            return self.excess("more than 4,300 digits");
        }
        Ok(())
    }

    fn word(&mut self) -> Result<(), Excess> {
        let start = self.at;
        self.skip_while(|b| b.is_ascii_alphanumeric() || b == b'_' || !b.is_ascii());
        let word = self.bytes.get(start..self.at).unwrap_or_default();
        let prefix = word.len() <= 2 && word.iter().all(|b| b"rRbBuUfF".contains(b));
        if prefix && matches!(self.peek(0), Some(b'"' | b'\'')) {
            let prefix = String::from_utf8_lossy(word).to_ascii_lowercase();
            return self.string(&prefix);
        }
        if !word.is_ascii() {
            self.outline.foreign_words.push(start..self.at);
        }
        match word {
            b"lambda" => {
                let level = self.level();
                level.lambdas += 1;
                let lambdas = level.lambdas;
                self.total += 1;
                if lambdas > CHAIN {
                    return self.excess("more than 1,000 lambdas in a row");
                }
                self.depth()
            }
            b"not" | b"and" | b"or" | b"if" | b"else" | b"in" | b"is" | b"await" | b"yield" => {
                self.link()
            }
            _ => Ok(()),
        }
    }

    /// Reads a string from its first quote, ending where the parser does.
    fn string(&mut self, prefix: &str) -> Result<(), Excess> {
        let start = self.at - prefix.len();
        let Some(quote) = self.peek(0) else {
            return Ok(());
        };
        let triple = self.peek(1) == Some(quote) && self.peek(2) == Some(quote);
        self.at += if triple { 3 } else { 1 };
        let inside = self.at;
        while let Some(byte) = self.peek(0) {
            if byte == b'\\' {
                self.at += 2;
                continue;
            }
            if byte == b'\n' && !triple {
                break;
            }
            if byte == quote
                && (!triple || (self.peek(1) == Some(quote) && self.peek(2) == Some(quote)))
            {
                break;
            }
            self.at += 1;
        }
        let end = self.at.min(self.bytes.len());
        self.at = if self.peek(0) == Some(quote) {
            end + if triple { 3 } else { 1 }
        } else {
            end
        };
        self.outline.strings.push(start..self.at);
        if prefix.contains('f') {
            self.fields(inside..end)?;
        }
        Ok(())
    }

    /// Checks the replacement fields of an f-string with a rough count that never counts too
    /// little.
    fn fields(&mut self, range: Range<usize>) -> Result<(), Excess> {
        let mut depth = 0usize;
        let mut tokens = 0usize;
        let mut digits = 0usize;
        let mut in_word = false;
        let bytes = self.bytes;
        for byte in bytes.get(range).unwrap_or_default() {
            match byte {
                b'{' | b'(' | b'[' if depth > 0 || *byte == b'{' => {
                    depth += 1;
                    tokens += 1;
                }
                b'}' | b')' | b']' if depth > 0 => {
                    depth -= 1;
                    if depth == 0 {
                        tokens = 0;
                    }
                }
                _ => {}
            }
            digits = if byte.is_ascii_digit() || *byte == b'_' {
                digits + 1
            } else {
                0
            };
            if depth > 0 {
                let word = byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
                if word && !in_word || (!word && byte.is_ascii_punctuation()) {
                    tokens += 1;
                }
                in_word = word;
                self.outline.depth = self.outline.depth.max(tokens);
            }
            if depth > BRACKETS {
                return self.excess("more than 200 brackets inside each other in an f-string");
            }
            if tokens > FIELD_TOKENS {
                return self.excess("a replacement field of more than 2,000 tokens");
            }
            if digits > DIGITS {
                return self.excess("more than 4,300 digits in an f-string");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> bool {
        scan(text, MOST_BYTES).is_err()
    }

    #[test]
    fn depth_in_every_spelling_is_refused() {
        for text in [
            "(".repeat(100_000),
            "[".repeat(300),
            "1+".repeat(2_000),
            "a.".repeat(2_000),
            "f()".repeat(2_000),
            "x[0]".repeat(2_000),
            "not ".repeat(2_000),
            "-".repeat(2_000),
            "lambda a, b: ".repeat(2_000),
            "x if y else ".repeat(2_000),
            "a < ".repeat(2_000),
            "(".repeat(190) + &"1+(".repeat(190),
            format!("if a: b\n{}", "elif a: b\n".repeat(1_000)),
            (0..200)
                .map(|i| format!("{}if x:\n", " ".repeat(i)))
                .collect(),
            format!("f\"{{{}\"", "(".repeat(1_000)),
            format!("f\"{{{}x}}\"", "not ".repeat(9_000)),
            "9".repeat(5_000),
            format!("f\"{{{}}}\"", "9".repeat(5_000)),
            ["(((1+", &"1+".repeat(900), "("].concat().repeat(4),
        ] {
            assert!(refused(&text), "{}", &text[..40.min(text.len())]);
        }
    }

    #[test]
    fn honest_code_is_accepted() {
        for text in [
            "x = [\n".to_owned() + &"1 + 2, \n".repeat(5_000) + "]\n",
            "'".to_owned() + &"9".repeat(9_000) + "'",
            "# ".to_owned() + &"(".repeat(9_000),
            "a = 1 + 2\n".repeat(5_000),
            "f'{x:.2f} and {y}'".to_owned(),
            "'''\n".to_owned() + &"((((\n".repeat(300) + "'''",
        ] {
            assert!(!refused(&text), "{}", &text[..20]);
        }
        assert!(scan("x = 1", 3).is_err());
    }

    #[test]
    fn strings_comments_and_foreign_words_are_distinguished() {
        let text = "é = 'ü' # ö\nrb'\\'' + f\"{x}\"\n";
        let outline = scan(text, 100).unwrap();
        let words: Vec<_> = outline
            .foreign_words
            .iter()
            .map(|r| &text[r.clone()])
            .collect();
        assert_eq!(words, ["é"]);
        let comments: Vec<_> = outline.comments.iter().map(|r| &text[r.clone()]).collect();
        assert_eq!(comments, ["# ö"]);
        let strings: Vec<_> = outline.strings.iter().map(|r| &text[r.clone()]).collect();
        assert_eq!(strings, ["'ü'", "rb'\\''", "f\"{x}\""]);
    }
}
