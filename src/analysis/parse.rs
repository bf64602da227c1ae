//! The parser and its tree; code outside `analysis` must not name either.
//!
//! `scan` must accept the text first: the parser accepts nesting whose tree cannot be walked or
//! dropped on an ordinary stack.

pub use rustpython_parser::ast;
use rustpython_parser::lexer::{LexicalErrorType, lex};
pub use rustpython_parser::text_size::TextRange;
use rustpython_parser::{Mode, ParseErrorType, Tok, parse};

use super::halves;

/// A syntax error: why the text is not Python, and the byte offset.
#[derive(Debug, PartialEq, Eq)]
pub struct SyntaxFault {
    pub offset: usize,
    pub message: String,
    pub cause: Cause,
}

/// The kind of input at which the parser stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Token,
    /// The end of the text.
    End,
    /// A character that starts no token; the offset is after it.
    Character(char),
    /// A closing bracket without an opening one; the offset is after it.
    Nesting,
    /// A string that is not closed on its line; the offset is the end of the line.
    String,
    /// A number with leading zeros.
    Number,
    /// An empty block.
    Block,
    /// The indentation of a line.
    Indent,
    Other,
}

/// A token, as written in the text.
#[derive(Clone, Copy, Debug)]
pub struct Token<'t> {
    pub text: &'t str,
    pub start: usize,
    pub end: usize,
    /// The end of a line, outside of brackets.
    pub ends_line: bool,
}

/// The readable tokens of a text, and whether they reach its end.
pub fn tokens(text: &str) -> (Vec<Token<'_>>, bool) {
    let mut found = Vec::new();
    for token in lex(text, Mode::Module) {
        let Ok((token, range)) = token else {
            return (found, false);
        };
        if matches!(token, Tok::Indent | Tok::Dedent | Tok::EndOfFile) {
            continue;
        }
        let (start, end) = (range.start().to_usize(), range.end().to_usize());
        found.push(Token {
            text: text.get(start..end).unwrap_or(""),
            start,
            end,
            ends_line: token == Tok::Newline,
        });
    }
    (found, true)
}

/// Parses a whole snippet. Surrogate halves in its literals are replaced as [`halves`] describes.
pub fn module(text: &str) -> Result<Vec<ast::Stmt>, SyntaxFault> {
    let text = halves::replaced(text).map_err(|offset| SyntaxFault {
        offset,
        message: "half of a surrogate pair stands beside characters of private use (U+E800 to U+EFFF), and \
                  cannot be told from them: make one of the two with chr()"
            .to_owned(),
        cause: Cause::Other,
    })?;
    match parse(&text, Mode::Module, "") {
        Ok(ast::Mod::Module(module)) => Ok(module.body),
        Ok(_) => Err(unexpected()),
        Err(error) => Err(fault(&error)),
    }
}

/// Parses one expression, as `eval` would.
pub fn expression(text: &str) -> Result<ast::Expr, SyntaxFault> {
    match parse(text, Mode::Expression, "") {
        Ok(ast::Mod::Expression(expression)) => Ok(*expression.body),
        Ok(_) => Err(unexpected()),
        Err(error) => Err(fault(&error)),
    }
}

fn fault(error: &rustpython_parser::ParseError) -> SyntaxFault {
    SyntaxFault {
        offset: error.offset.to_usize(),
        message: error.error.to_string(),
        cause: cause(&error.error),
    }
}

fn cause(error: &ParseErrorType) -> Cause {
    use LexicalErrorType as Lexical;
    match error {
        ParseErrorType::Eof | ParseErrorType::Lexical(Lexical::Eof) => Cause::End,
        ParseErrorType::UnrecognizedToken(Tok::Indent, _) => Cause::Indent,
        ParseErrorType::UnrecognizedToken(_, Some(wanted)) if wanted == "Indent" => Cause::Block,
        ParseErrorType::ExtraToken(_) | ParseErrorType::UnrecognizedToken(..) => Cause::Token,
        ParseErrorType::Lexical(Lexical::UnrecognizedToken { tok }) => Cause::Character(*tok),
        ParseErrorType::Lexical(Lexical::NestingError) => Cause::Nesting,
        ParseErrorType::Lexical(
            Lexical::IndentationError | Lexical::TabError | Lexical::TabsAfterSpaces,
        ) => Cause::Indent,
        ParseErrorType::Lexical(Lexical::OtherError(text)) => match text.as_str() {
            "EOL while scanning string literal" => Cause::String,
            "Invalid Token" => Cause::Number,
            _ => Cause::Other,
        },
        ParseErrorType::InvalidToken | ParseErrorType::Lexical(_) => Cause::Other,
    }
}

fn unexpected() -> SyntaxFault {
    SyntaxFault {
        offset: 0,
        message: "not a module".to_owned(),
        cause: Cause::Other,
    }
}
