//! The language of questions about proposals: one for lists, statistics, exports and the screen.
//!
//! ```text
//! any   := all ("OR" all)*
//! all   := one ("AND"? one)*
//! one   := "-" one | "(" any ")" | key ":" value ("," value)* | text
//! value := ["<" | "<=" | ">" | ">="] word | "\"" … "\""
//! ```
//!
//! Terms that follow each other must all hold; values with commas between them are alternatives. What stands without
//! a key is looked for in the code, the title and the agent's reason, as words ([`words`]); so is `output:` in what the
//! run printed and returned. Letters' case never matters. [`keys`] is the table of keys.
//!
//! A question is answered from records that the reader of the log has verified ([`Case`]): no index decides.

mod complete;
mod keys;
mod lex;
mod own;
mod parse;
mod period;
pub mod terms;
pub(super) mod test;
pub(super) mod words;

use std::fmt;

use jiff::Timestamp;

use super::cases::Case;
use crate::model::State;
pub use complete::{Offer, Offers, offers};
pub use keys::{KEYS, Key};
pub use own::Own;
pub(in crate::audit) use period::first as first_day;
use test::Test;
use words::Words;

/// A question about proposals. The empty one is about all.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    root: Node,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Node {
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
    Is(Test),
    /// Words of the code, the title or the agent's reason.
    Says(Words),
    /// Words of what the run printed or returned.
    Printed(Words),
}

/// A question that cannot be read: where, what is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryError {
    pub question: String,
    /// The first character of what is wrong, counted from 1.
    pub column: usize,
    /// How many characters are wrong; at least 1.
    pub length: usize,
    pub what: String,
}

/// The texts in which a question without a key looks, read only when they are needed.
pub trait Texts {
    /// The code as proposed and, if a person edited it, as decided on.
    fn code(&self, case: &Case) -> Vec<String>;
    /// What the run printed and its result, each up to [`OUTPUT`] bytes.
    fn output(&self, case: &Case) -> Vec<String>;
}

/// So many bytes of each output are looked at.
pub const OUTPUT: usize = 64 * 1024;

/// The beginning of an output, for questions.
pub(super) fn beginning(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(OUTPUT)]).into_owned()
}

impl Default for Query {
    fn default() -> Self {
        Self {
            root: Node::All(Vec::new()),
        }
    }
}

impl Query {
    /// Reads a question. Times before now are taken from `now`.
    ///
    /// # Errors
    /// Names the column, what is wrong there, and what would be right.
    pub fn parse(question: &str, now: Timestamp) -> Result<Self, QueryError> {
        parse::parse(question, Some(now)).map(|root| Self { root })
    }

    /// Reads a question that is to select the same tomorrow: it takes no time before now.
    ///
    /// # Errors
    /// Like [`Query::parse`], and names a time that goes along with the clock.
    pub fn parse_lasting(question: &str) -> Result<Self, QueryError> {
        parse::parse(question, None).map(|root| Self { root })
    }

    /// The same question about what was decided or ended since, or waits and was proposed since.
    #[must_use]
    pub fn since(self, at: Timestamp) -> Self {
        Self {
            root: Node::All(vec![Node::Is(Test::Since(at)), self.root]),
        }
    }

    /// The same question, which finds no drill that waits by `drill:`: nobody is to look for one there.
    #[must_use]
    pub fn without_waiting_drills(self) -> Self {
        Self {
            root: self.root.without_waiting_drills(),
        }
    }

    pub(super) fn root(&self) -> &Node {
        &self.root
    }

    /// A remark if a word that is looked for in texts is a state or a verdict.
    pub fn hint(&self) -> Option<String> {
        self.root.hint()
    }

    /// The records of the dashboard itself that it asks for; `None` if it asks for proposals.
    pub fn own(&self) -> Option<Own> {
        Own::of(&self.root)
    }

    /// Whether no decision of a reviewer lies between two that it selects without being selected itself: it tells
    /// decisions apart by reviewer and by a span of time alone.
    pub fn keeps_rows(&self) -> bool {
        self.root.keeps_rows()
    }

    /// Whether it asks about everything.
    pub fn is_empty(&self) -> bool {
        matches!(&self.root, Node::All(all) if all.is_empty())
    }

    /// Whether it looks for words of texts.
    pub fn asks_for_words(&self) -> bool {
        self.root.asks_for_words()
    }

    /// Whether the case is one that is asked for.
    pub fn matches(&self, case: &Case, texts: &impl Texts) -> bool {
        self.root.holds(case, texts)
    }
}

impl Node {
    fn asks_for_words(&self) -> bool {
        match self {
            Self::All(some) | Self::Any(some) => some.iter().any(Self::asks_for_words),
            Self::Not(one) => one.asks_for_words(),
            Self::Says(_) | Self::Printed(_) => true,
            Self::Is(_) => false,
        }
    }

    /// What needs no file is looked at first.
    fn holds(&self, case: &Case, texts: &impl Texts) -> bool {
        match self {
            Self::All(all) => {
                let (dear, cheap): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.is_dear());
                cheap
                    .into_iter()
                    .chain(dear)
                    .all(|one| one.holds(case, texts))
            }
            Self::Any(any) => {
                let (dear, cheap): (Vec<_>, Vec<_>) = any.iter().partition(|one| one.is_dear());
                cheap
                    .into_iter()
                    .chain(dear)
                    .any(|one| one.holds(case, texts))
            }
            Self::Not(one) => !one.holds(case, texts),
            Self::Is(test) => test.holds(case),
            Self::Says(words) => {
                let claims = [&case.asked.title, &case.asked.reason];
                claims
                    .into_iter()
                    .flatten()
                    .any(|text| words.stand_in(text))
                    || texts.code(case).iter().any(|code| words.stand_in(code))
            }
            Self::Printed(words) => {
                let output = texts.output(case);
                output.iter().any(|text| words.stand_in(text))
            }
        }
    }

    fn without_waiting_drills(self) -> Self {
        let waits = || Self::Is(Test::State(State::Pending));
        let each = |some: Vec<Self>| some.into_iter().map(Self::without_waiting_drills).collect();
        match self {
            Self::All(all) => Self::All(each(all)),
            Self::Any(any) => Self::Any(each(any)),
            Self::Not(one) => Self::Not(Box::new(one.without_waiting_drills())),
            Self::Is(Test::Flag(Key::Drill, true)) => Self::All(vec![
                Self::Is(Test::Flag(Key::Drill, true)),
                Self::Not(Box::new(waits())),
            ]),
            Self::Is(Test::Flag(Key::Drill, false)) => {
                Self::Any(vec![Self::Is(Test::Flag(Key::Drill, false)), waits()])
            }
            other @ (Self::Is(_) | Self::Says(_) | Self::Printed(_)) => other,
        }
    }

    /// Whether a term asks for records that belong to no proposal.
    fn names_kind(&self) -> bool {
        match self {
            Self::All(some) | Self::Any(some) => some.iter().any(Self::names_kind),
            Self::Not(one) => one.names_kind(),
            Self::Is(test) => matches!(test, Test::Kind(_)),
            Self::Says(_) | Self::Printed(_) => false,
        }
    }

    fn keeps_rows(&self) -> bool {
        match self {
            Self::All(all) => all.iter().all(Self::keeps_rows),
            Self::Is(Test::Since(_) | Test::Until(_)) => true,
            other => other.is_of_reviewers(),
        }
    }

    fn is_of_reviewers(&self) -> bool {
        match self {
            Self::All(some) | Self::Any(some) => some.iter().all(Self::is_of_reviewers),
            Self::Not(one) => one.is_of_reviewers(),
            Self::Is(test) => matches!(test, Test::Text(Key::By, _)),
            Self::Says(_) | Self::Printed(_) => false,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::All(some) | Self::Any(some) => some.iter().find_map(Self::hint),
            Self::Not(one) => one.hint(),
            Self::Is(_) | Self::Printed(_) => None,
            Self::Says(words) => {
                let [word] = words.all() else { return None };
                let mut keys = [Key::State, Key::Verdict].into_iter();
                let key = keys.find(|key| test::values(*key).contains(&word.as_str()))?;
                Some(format!(
                    "`{word}` is looked for as a word of code and texts; {}:{word} asks for the {}",
                    key.name(),
                    key.name()
                ))
            }
        }
    }

    fn is_dear(&self) -> bool {
        match self {
            Self::All(some) | Self::Any(some) => some.iter().any(Self::is_dear),
            Self::Not(one) => one.is_dear(),
            Self::Is(_) => false,
            Self::Says(_) | Self::Printed(_) => true,
        }
    }
}

impl QueryError {
    /// The question, and a row with marks below what is wrong.
    pub fn marked(&self) -> [String; 2] {
        let marks = " ".repeat(self.column - 1) + &"^".repeat(self.length.max(1));
        [self.question.clone(), marks]
    }
}

impl fmt::Display for QueryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column {}: {}", self.column, self.what)
    }
}

impl std::error::Error for QueryError {}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
