//! Words of a shell's command line: quotes are taken off, expansions are marked, and what stands in a substitution is read as
//! commands of its own.

use super::shell::Scan;

/// Stands in a word for what only the shell will know.
pub(super) const HIDDEN: char = '\0';

#[derive(Clone, Debug, Default)]
pub(super) struct Word {
    /// Without its quotes.
    pub text: String,
    /// The same, with [`HIDDEN`] for patterns and braces as well.
    pub name: String,
    pub quoted: bool,
    /// A process writes what it names: `<(…)`.
    pub process: bool,
    /// A substitution in it looked up where a Python is.
    pub looked: bool,
    /// The name of the variable that is all of it.
    pub variable: Option<String>,
}

impl Word {
    pub fn plain(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            name: text.to_owned(),
            ..Self::default()
        }
    }

    pub fn is_hidden(&self) -> bool {
        self.text.contains(HIDDEN)
    }

    /// An unquoted word that the shell itself knows.
    pub fn is(&self, word: &str) -> bool {
        !self.quoted && self.text == word
    }
}

#[derive(Default)]
struct Bytes {
    text: Vec<u8>,
    name: Vec<u8>,
    quoted: bool,
}

impl Bytes {
    fn push(&mut self, byte: u8) {
        self.text.push(byte);
        self.name.push(byte);
    }

    fn pattern(&mut self, byte: u8) {
        self.text.push(byte);
        self.name.push(0);
    }
}

pub(super) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// `$NAME`, `${NAME}`, and the same in quotes.
fn variable(raw: &[u8]) -> Option<String> {
    let raw = std::str::from_utf8(raw).ok()?;
    let inner = raw
        .strip_prefix('"')
        .and_then(|r| r.strip_suffix('"'))
        .unwrap_or(raw);
    let name = inner.strip_prefix('$')?;
    let name = name
        .strip_prefix('{')
        .and_then(|n| n.strip_suffix('}'))
        .unwrap_or(name);
    let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    (!name.is_empty() && name.chars().all(part)).then(|| name.to_owned())
}

impl Scan<'_, '_> {
    /// Reads the word that begins here.
    pub(super) fn word(&mut self) -> Word {
        let mut out = Bytes::default();
        let from = self.at;
        let looked = self.found.looked;
        let mut process = false;
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' => break,
                b'(' => match out.text.last() {
                    // A pattern such as `@(a|b)`, or the negation of a subshell.
                    Some(b'@' | b'?' | b'*' | b'+' | b'!') => {
                        self.take();
                        self.group();
                        out.push(0);
                    }
                    _ => break,
                },
                b'<' | b'>' if self.at(1) == Some(b'(') => {
                    self.skip(2);
                    self.substitution();
                    out.push(0);
                    process = true;
                }
                b'<' | b'>' => break,
                b'\\' => {
                    self.take();
                    match self.take() {
                        // A line that goes on: nothing is quoted by it.
                        Some(b'\n') => {}
                        Some(escaped) => {
                            out.push(escaped);
                            out.quoted = true;
                        }
                        None => self.unclear("the command ends with a backslash"),
                    }
                }
                b'\'' => {
                    self.take();
                    self.single(&mut out);
                }
                b'"' => {
                    self.take();
                    self.double(&mut out);
                }
                b'$' => self.dollar(&mut out, false),
                b'`' => self.backticks(&mut out, false),
                b'*' | b'?' | b'[' | b'{' | b'}' => {
                    self.take();
                    out.pattern(byte);
                }
                _ => {
                    self.take();
                    out.push(byte);
                }
            }
            if self.is_over() {
                break;
            }
        }
        let text = String::from_utf8_lossy(&out.text).into_owned();
        let name = String::from_utf8_lossy(&out.name).into_owned();
        // `[`, `{` and `{}` are words of their own.
        let own = matches!(text.as_str(), "[" | "[[" | "{" | "}" | "{}");
        Word {
            name: if own { text.clone() } else { name },
            text,
            quoted: out.quoted,
            process,
            looked: self.found.looked > looked,
            variable: variable(&self.bytes[from..self.at]),
        }
    }

    fn single(&mut self, out: &mut Bytes) {
        out.quoted = true;
        loop {
            match self.take() {
                Some(b'\'') => return,
                Some(byte) => out.push(byte),
                None => return self.unclear("a quote is not closed"),
            }
        }
    }

    fn double(&mut self, out: &mut Bytes) {
        out.quoted = true;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.take();
                    return;
                }
                b'\\' => {
                    self.take();
                    match self.take() {
                        Some(b'\n') => {}
                        Some(byte @ (b'$' | b'`' | b'"' | b'\\')) => out.push(byte),
                        Some(byte) => {
                            out.push(b'\\');
                            out.push(byte);
                        }
                        None => {}
                    }
                }
                b'$' => self.dollar(out, true),
                b'`' => self.backticks(out, true),
                _ => {
                    self.take();
                    out.push(byte);
                }
            }
            if self.is_over() {
                return;
            }
        }
        self.unclear("a quote is not closed");
    }

    /// Text that the shell expands as in double quotes: the body of a here-document.
    pub(super) fn expanded(&mut self) {
        let mut out = Bytes::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' => self.skip(2),
                b'$' => self.dollar(&mut out, true),
                b'`' => self.backticks(&mut out, true),
                _ => self.skip(1),
            }
            if self.is_over() {
                return;
            }
        }
    }

    fn dollar(&mut self, out: &mut Bytes, in_quotes: bool) {
        self.take();
        match self.peek() {
            Some(b'(') => {
                self.take();
                if self.peek() == Some(b'(') {
                    self.take();
                    self.arithmetic(true);
                } else {
                    self.substitution();
                }
                out.push(0);
            }
            Some(b'{') => {
                self.take();
                out.push(0);
                self.parameter(in_quotes);
            }
            Some(b'\'') if !in_quotes => {
                self.take();
                self.ansi(out);
            }
            Some(b'"') if !in_quotes => {
                self.take();
                self.double(out);
            }
            Some(b'[') => {
                self.unclear("`$[` is arithmetic that is not read");
                self.skip(1);
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                while self
                    .peek()
                    .is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_')
                {
                    self.take();
                }
                out.push(0);
            }
            Some(byte) if byte.is_ascii_digit() || b"@*#?$!-".contains(&byte) => {
                self.take();
                out.push(0);
            }
            _ => out.push(b'$'),
        }
    }

    /// `${name…}`: the rest may hold substitutions.
    fn parameter(&mut self, in_quotes: bool) {
        if self
            .peek()
            .is_none_or(|b| is_blank(b) || b == b'\n' || b == b'|')
        {
            return self.unclear("`${ …}` runs commands and is not read");
        }
        if !self.enter() {
            return;
        }
        let mut inner = Bytes::default();
        loop {
            match self.peek() {
                Some(b'}') => {
                    self.take();
                    break;
                }
                Some(b'\\') => self.skip(2),
                // Shells differ in what a quote means here.
                Some(b'\'' | b'"') if in_quotes => {
                    self.unclear("quotes in `${…}` in quotes are not read");
                    break;
                }
                Some(b'\'') => {
                    self.take();
                    self.single(&mut inner);
                }
                Some(b'"') => {
                    self.take();
                    self.double(&mut inner);
                }
                Some(b'$') => self.dollar(&mut inner, in_quotes),
                Some(b'`') => self.backticks(&mut inner, in_quotes),
                Some(b'<' | b'>') if self.at(1) == Some(b'(') => {
                    self.skip(2);
                    self.substitution();
                }
                Some(_) => self.skip(1),
                None => {
                    self.unclear("`${` is not closed");
                    break;
                }
            }
            if self.is_over() {
                break;
            }
        }
        self.leave();
    }

    fn backticks(&mut self, out: &mut Bytes, in_quotes: bool) {
        self.take();
        let mut inner = Vec::new();
        let mut escaped = false;
        loop {
            match self.take() {
                Some(b'`') => break,
                Some(b'\\') => {
                    escaped = true;
                    match self.take() {
                        Some(byte @ (b'`' | b'\\' | b'$')) => inner.push(byte),
                        Some(byte) => inner.extend([b'\\', byte]),
                        None => {}
                    }
                }
                Some(byte) => inner.push(byte),
                None => return self.unclear("a backtick is not closed"),
            }
        }
        if in_quotes && escaped {
            self.unclear("backslashes in backticks in quotes are not read");
        }
        let text = String::from_utf8_lossy(&inner).into_owned();
        self.within_substitution(|scan| scan.text_of_commands(&text));
        out.push(0);
    }

    /// `$'…'` with its escapes.
    fn ansi(&mut self, out: &mut Bytes) {
        out.quoted = true;
        loop {
            let byte = match self.take() {
                None => return self.unclear("a quote is not closed"),
                Some(b'\'') => return,
                Some(b'\\') => match self.take() {
                    // Some shells end the quote here.
                    Some(b'\'') => return self.unclear("a quote in `$'…'` is not read"),
                    Some(b'n') => b'\n',
                    Some(b't') => b'\t',
                    Some(b'r') => b'\r',
                    Some(byte @ (b'\\' | b'"' | b'?')) => byte,
                    Some(b'x') => self.number(16, 2, 0),
                    Some(byte @ b'0'..=b'7') => self.number(8, 2, u32::from(byte - b'0')),
                    Some(b'u') => self.number(16, 4, 0),
                    Some(b'U') => self.number(16, 8, 0),
                    _ => 0,
                },
                Some(byte) => byte,
            };
            // What is not ASCII or not known stays hidden.
            out.push(byte);
        }
    }

    fn number(&mut self, base: u32, digits: usize, first: u32) -> u8 {
        let mut value = first;
        for _ in 0..digits {
            let digit = self.peek().and_then(|b| char::from(b).to_digit(base));
            let Some(digit) = digit else { break };
            self.take();
            value = value.saturating_mul(base).saturating_add(digit);
        }
        u8::try_from(value).ok().filter(u8::is_ascii).unwrap_or(0)
    }
}
