//! Explains syntax errors: recognizes common mistakes in generated code, and describes them in
//! CPython's words together with the correct form.

use super::parse::{Cause, SyntaxFault, Token, tokens};
use super::text::shown;

/// A mistake: its position, a description and the correct form.
#[derive(Debug, PartialEq, Eq)]
pub struct Slip {
    pub offset: usize,
    pub message: String,
    pub hint: Option<String>,
}

fn slip(offset: usize, message: impl Into<String>, hint: impl Into<String>) -> Slip {
    Slip {
        offset,
        message: message.into(),
        hint: Some(hint.into()),
    }
}

const BLOCKS: &[&str] = &[
    "async", "case", "class", "def", "elif", "else", "except", "finally", "for", "if", "match",
    "try", "while", "with",
];

const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// Describes the mistake behind a syntax error.
pub fn explain(text: &str, fault: SyntaxFault) -> Slip {
    let found = of(text, fault);
    Slip {
        hint: found.hint.as_deref().map(shown),
        ..found
    }
}

fn of(text: &str, fault: SyntaxFault) -> Slip {
    if let Some(found) = around(text, &fault) {
        return found;
    }
    let found = match fault.cause {
        Cause::Character(c) => character(text, &fault, c),
        Cause::Number => Some(slip(
            start_of_number(text, fault.offset),
            "leading zeros in decimal integer literals are not permitted",
            "write the number without zeros before it, or as a text in quotes",
        )),
        Cause::String => Some(open_string(text, "unterminated string literal")),
        Cause::Token | Cause::End | Cause::Nesting => Line::new(text, &fault).slip(),
        Cause::Block => Some(slip(
            fault.offset,
            fault.message.clone(),
            "indent the lines that belong to the block, or write pass",
        )),
        Cause::Indent => Some(slip(
            fault.offset,
            fault.message.clone(),
            "begin the line where the lines around it begin, and indent with four blanks",
        )),
        Cause::Other => None,
    };
    found.unwrap_or(Slip {
        offset: fault.offset,
        message: fault.message,
        hint: None,
    })
}

/// Recognizes text copied along with code from a chat or a console.
fn around(text: &str, fault: &SyntaxFault) -> Option<Slip> {
    let start = text.get(..fault.offset)?.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(start..)?.lines().next().unwrap_or("");
    let blanks = line.len() - line.trim_start().len();
    let at = start + blanks;
    if line.trim_start().starts_with(">>>") {
        let hint =
            "delete the prompts '>>> ' and '... ', and what was printed: send the code alone";
        return Some(slip(at, "'>>>' is the prompt of a console", hint));
    }
    let is_fence = |line: &str| line.trim_start().starts_with("```");
    if is_fence(line) {
        let hint = "delete the line: send the code alone";
        return Some(slip(at, "'```' is a fence of Markdown", hint));
    }
    // Text before or after a code fence.
    if text.lines().any(is_fence) {
        let hint = "send the code alone, without the text and the fences '```' around it";
        return Some(slip(fault.offset, fault.message.clone(), hint));
    }
    None
}

/// Recognizes a character that starts no token. The lexer has already passed it, except for `!`.
fn character(text: &str, fault: &SyntaxFault, c: char) -> Option<Slip> {
    let at = match text.get(fault.offset..)?.starts_with(c) {
        true if c == '!' => fault.offset,
        _ => text.get(..fault.offset)?.rfind(c)?,
    };
    let code = format!("U+{:04X}", u32::from(c));
    Some(match c {
        '\u{201c}' | '\u{201d}' | '\u{2018}' | '\u{2019}' | '\u{ab}' | '\u{bb}' => slip(
            at,
            format!("invalid character '{c}' ({code})"),
            "write straight quotes, \" or '",
        ),
        '!' => slip(at, "unexpected character '!'", "write not: if not x"),
        '?' => slip(
            at,
            "unexpected character '?'",
            "write a choice as: a if test else b",
        ),
        c if c.is_ascii() => Slip {
            offset: at,
            message: format!("unexpected character '{c}'"),
            hint: None,
        },
        c if c.is_whitespace() || c.is_control() => slip(
            at,
            format!("invalid non-printable character {code}"),
            "write an ordinary blank",
        ),
        c => slip(
            at,
            format!("invalid character '{c}' ({code})"),
            "outside of quotes and comments code is made of letters, digits and ASCII signs",
        ),
    })
}

fn start_of_number(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or("");
    before.trim_end_matches(|c: char| c.is_ascii_digit()).len()
}

/// Finds the unterminated string: it starts where the lexer failed after its last token.
fn open_string(text: &str, message: &str) -> Slip {
    let (all, _) = tokens(text);
    let mut at = all.last().map_or(0, |t| t.end);
    loop {
        let rest = text.get(at..).unwrap_or("");
        at += rest.len() - rest.trim_start().len();
        match text.get(at..) {
            Some(rest) if rest.starts_with('#') => at += rest.find('\n').unwrap_or(rest.len()),
            _ => break,
        }
    }
    let hint = "close it with the quote that it begins with; a text of several lines takes three";
    slip(at, message, hint)
}

/// The line where the parser stopped.
struct Line<'t> {
    text: &'t str,
    fault: &'t SyntaxFault,
    /// The tokens from the beginning of the statement up to the unexpected one.
    tokens: Vec<Token<'t>>,
    /// The unexpected token.
    at: Option<Token<'t>>,
    /// The innermost open bracket, and whether it is closed later.
    open: Option<(Token<'t>, bool)>,
    /// Whether the lexer stopped early, at an unterminated string.
    cut: bool,
}

impl<'t> Line<'t> {
    fn new(text: &'t str, fault: &'t SyntaxFault) -> Self {
        let (all, ended) = tokens(text);
        let mut open: Vec<Token<'t>> = Vec::new();
        let mut there = None;
        let mut line = Vec::new();
        let mut at = None;
        for token in all {
            if at.is_none() {
                if token.start >= fault.offset && fault.cause != Cause::Nesting {
                    at = Some(token);
                    there = open.last().copied();
                } else if token.ends_line {
                    line.clear();
                } else {
                    line.push(token);
                }
            }
            match token.text {
                "(" | "[" | "{" => open.push(token),
                ")" | "]" | "}" => drop(open.pop()),
                _ => {}
            }
        }
        if at.is_none() {
            there = open.last().copied();
        }
        let closed = |one: &Token<'_>| !open.iter().any(|o| o.start == one.start);
        Self {
            text,
            fault,
            tokens: line,
            at,
            open: there.map(|one| (one, closed(&one))),
            cut: !ended,
        }
    }

    fn slip(&self) -> Option<Slip> {
        if self.fault.cause == Cause::Nesting {
            return self.unmatched();
        }
        let Some(at) = self.at else {
            return self.at_the_end();
        };
        self.bracket(at)
            .or_else(|| self.condition(at))
            .or_else(|| self.foreign(at))
            .or_else(|| self.missing(at))
            .or_else(|| self.beside(at))
            .or_else(|| self.too_early(at))
    }

    fn last(&self) -> Option<Token<'t>> {
        self.tokens.last().copied()
    }

    fn first(&self) -> &'t str {
        self.tokens.first().map_or("", |t| t.text)
    }

    fn never_closed(&self) -> Option<Slip> {
        let (one, closed) = self.open?;
        let right = closing(one.text);
        (!closed).then(|| {
            slip(
                one.start,
                format!("'{}' was never closed", one.text),
                format!("write the '{right}' that is missing"),
            )
        })
    }

    fn at_the_end(&self) -> Option<Slip> {
        if self.cut {
            return Some(open_string(
                self.text,
                "unterminated triple-quoted string literal",
            ))
            .filter(|found| {
                let rest = self.text.get(found.offset..).unwrap_or("");
                let rest = rest.trim_start_matches(|c: char| c.is_ascii_alphabetic());
                rest.starts_with("'''") || rest.starts_with("\"\"\"")
            })
            .or_else(|| self.never_closed());
        }
        self.never_closed()
    }

    /// Recognizes `)` without an open bracket.
    fn unmatched(&self) -> Option<Slip> {
        let at = self.fault.offset.checked_sub(1)?;
        let bracket = self.text.get(at..self.fault.offset)?;
        Some(slip(
            at,
            format!("unmatched '{bracket}'"),
            "delete it, or write the bracket that opens it",
        ))
    }

    fn bracket(&self, at: Token<'t>) -> Option<Slip> {
        let (one, closed) = self.open?;
        if matches!(at.text, ")" | "]" | "}") && at.text != closing(one.text) {
            return Some(slip(
                at.start,
                format!(
                    "closing parenthesis '{}' does not match opening parenthesis '{}'",
                    at.text, one.text
                ),
                format!("write '{}'", closing(one.text)),
            ));
        }
        let between = self.text.get(one.start..at.start)?;
        (!closed && between.contains('\n')).then(|| self.never_closed())?
    }

    fn condition(&self, at: Token<'t>) -> Option<Slip> {
        let first = self.first();
        if at.text == "=" && matches!(first, "if" | "elif" | "while") && self.open.is_none() {
            let hint = "write '==' to compare, or ':=' to assign";
            return Some(slip(at.start, "'=' in a condition", hint));
        }
        if first == "else" && self.tokens.len() == 1 && at.text == "if" {
            let start = self.tokens[0].start;
            return Some(slip(start, "unexpected 'else if'", "write elif"));
        }
        if matches!(first, "elseif" | "elsif") && self.tokens.len() == 1 {
            let start = self.tokens[0].start;
            let message = format!("unexpected '{first}'");
            return Some(slip(start, message, "write elif"));
        }
        None
    }

    /// Recognizes syntax of other languages.
    fn foreign(&self, at: Token<'t>) -> Option<Slip> {
        let before = self.last();
        let twice = before.is_some_and(|b| b.text == at.text && b.end == at.start);
        let start = before.map_or(at.start, |b| b.start);
        if twice && at.text == "&" {
            return Some(slip(start, "unexpected '&&'", "write and"));
        }
        if twice && at.text == "|" {
            return Some(slip(start, "unexpected '||'", "write or"));
        }
        if self.tokens.is_empty() && at.text == "//" {
            let hint = "a comment begins with '#'";
            return Some(slip(at.start, "'//' begins no comment", hint));
        }
        if at.text == "{" && BLOCKS.contains(&self.first()) && self.open.is_none() {
            let hint = "end the line with ':', and indent the lines of the block";
            return Some(slip(at.start, "'{' begins no block", hint));
        }
        if let (true, [.., a, b]) = (at.ends_line, self.tokens.as_slice())
            && a.text == b.text
            && matches!(a.text, "+" | "-")
            && a.end == b.start
        {
            let sign = a.text;
            return Some(slip(
                a.start,
                format!("unexpected '{sign}{sign}'"),
                format!("write x {sign}= 1"),
            ));
        }
        if before.is_some_and(|b| matches!(b.text, "print" | "exec"))
            && self.tokens.len() == 1
            && (begins_value(at) && at.text != "(")
        {
            return Some(slip(
                start,
                "missing parentheses in the call of 'print'",
                "print is a function: write print(x)",
            ))
            .filter(|_| before.is_some_and(|b| b.text == "print"));
        }
        if self.first() == "except" && at.text == "," && self.open.is_none() {
            return Some(slip(
                self.tokens.get(1).map_or(at.start, |t| t.start),
                "multiple exception types must be parenthesized",
                "write except (A, B): for two types, and except A as e: for a name",
            ));
        }
        if matches!(
            self.first(),
            "function" | "func" | "var" | "let" | "const" | "public"
        ) && self.tokens.len() == 1
            && is_word(at.text)
        {
            return Some(slip(
                start,
                format!("unexpected '{}'", self.first()),
                "write a function as def f(x): and assign with x = 1",
            ));
        }
        None
    }

    /// Recognizes a missing colon, or another missing part that the statement requires.
    fn missing(&self, at: Token<'t>) -> Option<Slip> {
        let first = self.first();
        if !BLOCKS.contains(&first) || self.open.is_some() {
            return None;
        }
        let last = self.last()?;
        let word = |word: &str| self.tokens.iter().any(|t| t.text == word);
        if first == "for" && !word("in") && self.tokens.len() > 1 && at.text != "in" {
            let hint = "write for x in values:";
            return Some(slip(at.start, "expected 'in'", hint));
        }
        if first == "def" && self.tokens.len() == 2 && at.text == ":" {
            return Some(slip(at.start, "expected '('", "write def f():"));
        }
        let alone = self.tokens.len() == 1 && matches!(first, "else" | "finally" | "try");
        let whole = alone || (self.tokens.len() > 1 && ends_value(last));
        let begins = at.ends_line || matches!(at.text, "return" | "pass" | "print");
        let soft = matches!(first, "match" | "case") && !at.ends_line;
        (begins && whole && !soft && !self.has_colon()).then(|| {
            let line: String = self.written(last).chars().take(80).collect();
            slip(
                last.end,
                "expected ':'",
                format!("end it with a colon: {line}:"),
            )
        })
    }

    /// Whether the statement has its own colon.
    fn has_colon(&self) -> bool {
        let (mut depth, mut lambdas) = (0_usize, 0_usize);
        for token in &self.tokens {
            match token.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                "lambda" if depth == 0 => lambdas += 1,
                ":" if depth == 0 && lambdas == 0 => return true,
                ":" if depth == 0 => lambdas -= 1,
                _ => {}
            }
        }
        false
    }

    /// The statement up to a token, on one line.
    fn written(&self, last: Token<'t>) -> String {
        let start = self.tokens.first().map_or(last.start, |t| t.start);
        let text = self.text.get(start..last.end).unwrap_or("");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Recognizes two adjacent values.
    fn beside(&self, at: Token<'t>) -> Option<Slip> {
        let last = self.last()?;
        if KEYWORDS.contains(&last.text) && at.text == "=" {
            let message = format!("'{}' is a keyword", last.text);
            let hint = format!("use another name, as {}_", last.text);
            return Some(slip(last.start, message, hint));
        }
        let string = last.text.ends_with(['"', '\'']);
        if string && last.end == at.start && is_word(at.text) {
            let hint = "use the other quotes inside the text, or put \\ before the quote";
            return Some(slip(at.start, "a quote inside a string ends it", hint));
        }
        let value = begins_value(at) && !matches!(at.text, "(" | "[" | "not" | "lambda");
        if !ends_value(last) || !value || self.first() == "import" {
            return None;
        }
        let what = named(at);
        if self.open.is_some() {
            let hint = "perhaps a comma is missing before it, or an operator";
            return Some(slip(at.start, format!("unexpected {what}"), hint));
        }
        let words = self.tokens.len() < 4 && self.tokens.iter().all(|t| is_word(t.text));
        (words && is_word(at.text)).then(|| {
            let hint = "text that is no code stands behind '#', or in quotes";
            slip(at.start, format!("unexpected {what}"), hint)
        })
    }

    fn too_early(&self, at: Token<'t>) -> Option<Slip> {
        if let Some(last) = self.last()
            && at.ends_line
            && !ends_value(last)
        {
            let message = format!("the line ends behind {}", named(last));
            let hint = "write what is missing; a line goes on inside brackets only";
            return Some(slip(last.end, message, hint));
        }
        if matches!(at.text, "return" | "raise" | "pass" | "for" | "while")
            && self.tokens.iter().any(|t| t.text == "lambda")
        {
            let hint = "a lambda is one expression: write a function with def";
            return Some(slip(at.start, format!("'{}' in a lambda", at.text), hint));
        }
        let what = match at.ends_line {
            true => "unexpected end of the line".to_owned(),
            false => format!("unexpected {}", named(at)),
        };
        Some(Slip {
            offset: at.start,
            message: format!("invalid syntax, {what}"),
            hint: None,
        })
    }
}

fn closing(open: &str) -> &'static str {
    match open {
        "(" => ")",
        "[" => "]",
        _ => "}",
    }
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_') && !text.ends_with(['"', '\''])
}

fn named(token: Token<'_>) -> String {
    let text: String = token.text.chars().take(40).collect();
    match text.ends_with(['"', '\'']) {
        true => format!("string {text}"),
        false => format!("'{text}'"),
    }
}

/// Whether the token is a name, a literal or a closing bracket.
fn ends_value(token: Token<'_>) -> bool {
    match token.text {
        ")" | "]" | "}" | "..." | "None" | "True" | "False" => true,
        text if KEYWORDS.contains(&text) => false,
        text => text.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\'')),
    }
}

/// Whether the token is a name, a literal or an opening bracket.
fn begins_value(token: Token<'_>) -> bool {
    match token.text {
        "(" | "[" | "{" | "None" | "True" | "False" | "not" | "lambda" => true,
        text if KEYWORDS.contains(&text) => false,
        text => text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\'')),
    }
}
