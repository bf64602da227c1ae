//! The parser and its tree; nothing outside `analysis` may name either.
//!
//! `scan` must have passed the text first: the parser accepts nesting whose tree cannot be
//! walked or dropped on an ordinary stack.

pub use rustpython_parser::ast;
pub use rustpython_parser::text_size::TextRange;
use rustpython_parser::{Mode, parse};

use super::halves;

/// Why the text is not Python, and at which byte.
#[derive(Debug, PartialEq, Eq)]
pub struct SyntaxFault {
    pub offset: usize,
    pub message: String,
}

/// Parses a whole snippet. What [`halves`] finds in its literals is read as they say.
pub fn module(text: &str) -> Result<Vec<ast::Stmt>, SyntaxFault> {
    let text = halves::replaced(text).map_err(|offset| SyntaxFault {
        offset,
        message: "half of a surrogate pair stands beside characters of private use (U+E800 to U+EFFF), and \
                  cannot be told from them: make one of the two with chr()"
            .to_owned(),
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
    }
}

fn unexpected() -> SyntaxFault {
    SyntaxFault {
        offset: 0,
        message: "not a module".to_owned(),
    }
}
