//! Patterns of the configuration.

use std::sync::Arc;

use regex::{Regex, RegexBuilder};

/// Longest expression, in bytes.
const EXPRESSION: usize = 1_000;
/// Largest compiled expression, in bytes. Its search takes time in proportion to it and to the text.
const COMPILED: usize = 1 << 20;
/// Fewest bytes that an expression may match. Shorter texts occur by chance, and the log would lose what it is for.
const SHORTEST: usize = 4;
/// Longest name.
const NAME: usize = 40;

/// An expression, and the kind of what it finds.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub kind: Arc<str>,
    pub(super) regex: Regex,
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        (&self.kind, self.regex.as_str()) == (&other.kind, other.regex.as_str())
    }
}

impl Eq for Pattern {}

/// Why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The byte of the expression at which that is.
    pub at: Option<usize>,
    pub why: String,
}

impl Pattern {
    /// # Errors
    /// An expression that is none, or that is too long, too large or matches too short a text.
    pub fn new(kind: &str, expression: &str) -> Result<Self, Fault> {
        let fault = |at, why: String| Fault { at, why };
        if expression.len() > EXPRESSION {
            let why = format!("an expression has at most {EXPRESSION} bytes");
            return Err(fault(Some(EXPRESSION), why));
        }
        let parsed = regex_syntax::Parser::new().parse(expression);
        let parsed = parsed.map_err(|e| match e {
            regex_syntax::Error::Parse(e) => {
                fault(Some(e.span().start.offset), e.kind().to_string())
            }
            regex_syntax::Error::Translate(e) => {
                fault(Some(e.span().start.offset), e.kind().to_string())
            }
            other => fault(None, other.to_string()),
        })?;
        // Without a length it matches nothing at all.
        if parsed
            .properties()
            .minimum_len()
            .is_none_or(|bytes| bytes < SHORTEST)
        {
            let why = format!(
                "it matches texts of fewer than {SHORTEST} bytes, which occur by chance; what it matches goes from the log"
            );
            return Err(fault(None, why));
        }
        let regex = RegexBuilder::new(expression).size_limit(COMPILED).build();
        let regex = regex.map_err(|_| {
            let why =
                "it is too large; a repetition such as `{1,1000}` of many letters takes the most";
            fault(None, why.to_owned())
        })?;
        Ok(Self {
            kind: kind.into(),
            regex,
        })
    }

    /// The rule that a name breaks. It stands in records and in the names of files.
    pub fn check_name(name: &str) -> Option<&'static str> {
        let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
        let sound = begins && name.len() <= NAME && name.bytes().all(fits);
        (!sound).then_some("a name has small letters, digits and `-`, begins with a letter, and has at most 40 of them")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_bounded_and_faults_have_their_place() {
        let at = |expression: &str| Pattern::new("staff", expression).map_err(|fault| fault.at);
        assert!(at("EMP-[0-9]{6}").is_ok());
        assert_eq!(at("EMP-([0-9]{6}").unwrap_err(), Some(4));
        assert_eq!(at(r"EMP-\p{Nothing}").unwrap_err(), Some(4));
        assert_eq!(at(&"a".repeat(1_001)).unwrap_err(), Some(1_000));
        for short in ["", "a*", "x|EMP-[0-9]{6}", r"\b", "[0-9]{3}"] {
            let why = Pattern::new("staff", short).unwrap_err().why;
            assert!(why.contains("by chance"), "{short}: {why}");
        }
        let large = Pattern::new("staff", r"\w{4,1000}\w{4,1000}").unwrap_err();
        assert!(large.why.contains("too large"), "{large:?}");
    }

    #[test]
    fn names_are_words_of_small_letters() {
        for name in ["staff", "a", "employee-number-2"] {
            assert_eq!(Pattern::check_name(name), None, "{name}");
        }
        for name in ["", "Staff", "2a", "-a", "a_b", "a]b", "ä", &"a".repeat(41)] {
            assert!(Pattern::check_name(name).is_some(), "{name}");
        }
    }
}
