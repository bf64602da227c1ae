//! From pieces to a question.

use jiff::Timestamp;

use super::keys::Key;
use super::lex::{Fault, Piece, What, pieces};
use super::own::Own;
use super::period;
use super::test::Test;
use super::words::Words;
use super::{Node, QueryError};

/// Brackets within brackets.
const DEPTH: usize = 32;

/// Without `now`, a time before now cannot be read.
pub(super) fn parse(question: &str, now: Option<Timestamp>) -> Result<Node, QueryError> {
    let read = || {
        let pieces = pieces(question)?;
        let term = |piece: &&Piece| matches!(piece.what, What::Word(_) | What::Quoted(_));
        if let Some(piece) = pieces.iter().filter(term).nth(MOST) {
            return Err(fault(piece, TOO_MANY));
        }
        let mut parser = Parser {
            pieces: &pieces,
            next: 0,
            end: question.chars().count(),
            now,
        };
        let root = parser.any(0)?;
        match parser.peek() {
            Some(piece) => Err(fault(piece, "no bracket was opened before this one")),
            None => Ok(root),
        }
        .and_then(|root| {
            let wrong = mixed(&root, now).map(|why| (KIND, why));
            match wrong.or_else(|| period::is_empty(&root).then_some((UNTIL, period::NONE))) {
                None => Ok(root),
                Some((named, why)) => {
                    let key = |piece: &&Piece| matches!(&piece.what, What::Key(name) if named.contains(&name.as_str()));
                    let piece = pieces.iter().rev().find(key).or(pieces.first());
                    Err(piece.map_or((0, 1, why.to_owned()), |piece| fault(piece, why)))
                }
            }
        })
    };
    read().map_err(|(at, length, what)| QueryError {
        question: question.to_owned(),
        column: at + 1,
        length,
        what,
    })
}

/// Why records of the dashboard cannot be asked for in this way.
fn mixed(root: &Node, now: Option<Timestamp>) -> Option<&'static str> {
    match (root.names_kind(), now) {
        (false, _) => None,
        (true, None) => Some("`kind` lists records of no proposal, and this is about proposals"),
        (true, Some(_)) if Own::of(root).is_none() => Some(
            "`kind` lists records of no proposal: beside it only since:, until: and one on: can stand",
        ),
        (true, Some(_)) => None,
    }
}

struct Parser<'p> {
    pieces: &'p [Piece],
    next: usize,
    /// The length of the question.
    end: usize,
    now: Option<Timestamp>,
}

fn fault(piece: &Piece, what: impl Into<String>) -> Fault {
    (piece.at, piece.length, what.into())
}

impl<'p> Parser<'p> {
    fn peek(&self) -> Option<&'p Piece> {
        self.pieces.get(self.next)
    }

    fn take(&mut self) -> Option<&'p Piece> {
        let piece = self.peek()?;
        self.next += 1;
        Some(piece)
    }

    fn any(&mut self, depth: usize) -> Result<Node, Fault> {
        let mut any = vec![self.all(depth)?];
        while let Some(or) = self.peek().filter(|piece| piece.what == What::Or) {
            self.next += 1;
            let right = self.all(depth)?;
            for side in [any.last(), Some(&right)].into_iter().flatten() {
                if matches!(side, Node::All(none) if none.is_empty()) {
                    return Err(fault(or, "OR stands between two terms"));
                }
            }
            any.push(right);
        }
        match any.len() {
            1 => Ok(any.remove(0)),
            _ => Ok(Node::Any(any)),
        }
    }

    fn all(&mut self, depth: usize) -> Result<Node, Fault> {
        let mut all = Vec::new();
        while let Some(piece) = self.peek() {
            match piece.what {
                What::Or | What::Close => break,
                _ => all.push(self.one(depth)?),
            }
        }
        match all.len() {
            1 => Ok(all.remove(0)),
            _ => Ok(Node::All(all)),
        }
    }

    fn one(&mut self, depth: usize) -> Result<Node, Fault> {
        let Some(piece) = self.take() else {
            return Err((self.end, 1, "a term is missing here".to_owned()));
        };
        match &piece.what {
            What::Not if depth >= DEPTH => Err(fault(piece, TOO_DEEP)),
            What::Not => Ok(Node::Not(Box::new(self.one(depth + 1)?))),
            What::Open if depth >= DEPTH => Err(fault(piece, TOO_DEEP)),
            What::Open => {
                let inner = self.any(depth + 1)?;
                match self.take().map(|piece| &piece.what) {
                    Some(What::Close) => Ok(inner),
                    _ => Err(fault(piece, "this bracket is not closed")),
                }
            }
            What::Key(name) => self.term(piece, name),
            What::Word(text) | What::Quoted(text) => match Words::of(text) {
                Some(words) => Ok(Node::Says(words)),
                None => Err(fault(piece, NO_WORD)),
            },
            What::Close | What::Or => Err(fault(piece, "a term is missing before this")),
            What::Comma => Err(fault(piece, "a comma stands between the values of a key")),
        }
    }

    fn term(&mut self, named: &Piece, name: &str) -> Result<Node, Fault> {
        let key = Key::named(name).map_err(|why| {
            let (at, length) = (named.at, named.length - 1);
            (at, length, why)
        })?;
        let mut any = Vec::new();
        let mut end = named.at + named.length;
        while let Some(value) = self.peek().filter(|piece| piece.at == end) {
            let (text, is_quoted) = match &value.what {
                What::Word(text) => (text, false),
                What::Quoted(text) => (text, true),
                _ => break,
            };
            self.next += 1;
            any.push(
                self.value(key, text, is_quoted)
                    .map_err(|why| fault(value, why))?,
            );
            end = value.at + value.length;
            let comma = self.peek().filter(|c| c.at == end && c.what == What::Comma);
            let Some(comma) = comma else { break };
            self.next += 1;
            end = comma.at + comma.length;
            let more = self.peek().is_some_and(|piece| {
                piece.at == end && matches!(piece.what, What::Word(_) | What::Quoted(_))
            });
            if !more {
                return Err(fault(comma, "a value is missing after this comma"));
            }
        }
        match any.len() {
            0 => Err(fault(
                named,
                format!("a value is missing: {}", key.example()),
            )),
            1 => Ok(any.remove(0)),
            _ => Ok(Node::Any(any)),
        }
    }
}

impl Parser<'_> {
    fn value(&self, key: Key, text: &str, is_quoted: bool) -> Result<Node, String> {
        if key == Key::Output {
            let words = Words::of(text).ok_or(NO_WORD)?;
            return Ok(Node::Printed(words));
        }
        if key == Key::On {
            let (from, to) = period::of(text)?;
            return Ok(Node::All(vec![
                Node::Is(Test::Since(from)),
                Node::Is(Test::Until(to)),
            ]));
        }
        Test::of(key, text, is_quoted, self.now).map(Node::Is)
    }
}

/// Keys under which a question can be wrong as a whole.
const KIND: &[&str] = &["kind"];
const UNTIL: &[&str] = &["until", "on"];
const NO_WORD: &str = "there is no word in it to look for";
/// Terms of one question. The index reads no expression that is much deeper.
const MOST: usize = 500;
const TOO_MANY: &str =
    "a question has at most 500 terms, values counted one by one; ask in several";
const TOO_DEEP: &str = "there are too many brackets within brackets";
