//! Patterns of `re` that can take exponential time.

use super::Inspector;
use super::calls::Arguments;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{Constant, Expr};
use crate::analysis::resolve::Val;
use crate::analysis::rules;

impl<'a> Inspector<'a> {
    pub(super) fn pattern_call(&mut self, path: &str, arguments: Arguments<'a>, at: TextRange) {
        if !path.starts_with("re.") {
            return;
        }
        let Some(e) = arguments.given(0, &["pattern"]) else {
            return;
        };
        if self.is_slow(e) {
            self.add(&rules::DOS_REGEX, at, path.to_owned());
        }
    }

    /// Judges `series.str.contains(pattern)` and similar methods.
    pub(super) fn text_pattern(&mut self, arguments: Arguments<'a>, at: TextRange) {
        let pattern = arguments.given(0, &["pat"]);
        if let Some(e) = pattern
            && self.is_slow(e)
        {
            self.add(&rules::DOS_REGEX, at, "str");
        }
    }

    /// Judges the keyword `regex` of `filter` and `replace`.
    pub(super) fn regex(&mut self, e: &'a Expr, at: TextRange) {
        if self.is_slow(e) {
            self.add(&rules::DOS_REGEX, at, "regex");
        }
    }

    fn is_slow(&self, e: &'a Expr) -> bool {
        if let Expr::Constant(c) = e
            && let Constant::Bytes(bytes) = &c.value
        {
            return nested_repeat(&String::from_utf8_lossy(bytes));
        }
        self.r
            .eval(e, self.here())
            .iter()
            .any(|v| matches!(v, Val::Text(t) if nested_repeat(t) || ambiguous(t)))
    }
}

/// The number of repetitions of an unbounded group from which backtracking takes too long.
const ROUNDS: u32 = 10;
/// A counted repeat above this takes noticeable time and memory to compile.
const COUNTED: u32 = 100_000;

/// Whether a group that repeats without bound is itself repeated without bound: `(a+)+`.
fn nested_repeat(pattern: &str) -> bool {
    let mut groups: Vec<bool> = Vec::new();
    let mut chars = pattern.chars().peekable();
    let mut class = false;
    // Whether the previous token closed a group that contains a repeat.
    let mut closed = false;
    // Whitespace means nothing in a verbose pattern.
    let verbose = pattern.starts_with("(?x");
    while let Some(c) = chars.next() {
        if verbose && c.is_whitespace() && !class {
            continue;
        }
        let was_closed = std::mem::take(&mut closed);
        match c {
            '\\' => {
                chars.next();
            }
            '[' if !class => {
                class = true;
                // A leading `]` is a member of the class.
                if chars.peek() == Some(&'^') {
                    chars.next();
                }
                if chars.peek() == Some(&']') {
                    chars.next();
                }
            }
            ']' if class => class = false,
            _ if class => {}
            '(' => groups.push(false),
            ')' => {
                let inner = groups.pop().unwrap_or(false);
                if let Some(outer) = groups.last_mut() {
                    *outer |= inner;
                }
                closed = inner;
            }
            '*' | '+' => {
                if was_closed {
                    return true;
                }
                if let Some(group) = groups.last_mut() {
                    *group = true;
                }
            }
            '{' => {
                let body: String = chars.clone().take_while(|c| *c != '}').collect();
                let unbounded = body.ends_with(',');
                let most = body
                    .split(',')
                    .filter_map(|n| n.trim().parse::<u32>().ok())
                    .max();
                // `(.*,){11}`: the ways to split the text grow exponentially with the repetitions.
                if was_closed && (unbounded || most.is_some_and(|n| n >= ROUNDS)) {
                    return true;
                }
                if most.is_some_and(|n| n > COUNTED) {
                    return true;
                }
                if unbounded && let Some(group) = groups.last_mut() {
                    *group = true;
                }
            }
            _ => {}
        }
    }
    false
}

/// Whether a repeated group has an alternative that is a sequence of other alternatives: `(a|aa)*`.
fn ambiguous(pattern: &str) -> bool {
    pattern.match_indices('(').any(|(at, _)| {
        let Some((inner, after)) = pattern.get(at + 1..).and_then(|rest| rest.split_once(')'))
        else {
            return false;
        };
        if !after.starts_with(['*', '+']) {
            return false;
        }
        let inner = inner.strip_prefix("?:").unwrap_or(inner);
        if inner.len() > 80 || !inner.chars().all(|c| c.is_alphanumeric() || c == '|') {
            return false;
        }
        let words: Vec<&str> = inner.split('|').collect();
        words.iter().enumerate().any(|(i, word)| {
            let others = words.iter().enumerate().filter(|(j, _)| *j != i);
            let others: Vec<&str> = others.map(|(_, w)| *w).collect();
            adds_up(word, &others)
        })
    })
}

/// Whether a word is a concatenation of others.
fn adds_up(word: &str, others: &[&str]) -> bool {
    let mut reached = vec![false; word.len() + 1];
    reached[0] = true;
    for at in 0..word.len() {
        if !reached[at] {
            continue;
        }
        for other in others.iter().filter(|o| !o.is_empty()) {
            if word.get(at..).is_some_and(|rest| rest.starts_with(other)) {
                reached[at + other.len()] = true;
            }
        }
    }
    !word.is_empty() && reached[word.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_that_add_up_are_ambiguous() {
        for p in ["(a|aa)+$", "(?:a|b|ab)*c", "x(a|a)*"] {
            assert!(ambiguous(p), "{p}");
        }
        for p in ["(foo|bar)+", "(a|b)*", "(foo|foobar)+", "(a|aa)", "(x"] {
            assert!(!ambiguous(p), "{p}");
        }
    }

    #[test]
    fn only_a_repeat_of_a_repeat_is_slow() {
        for p in [
            "(a+)+$",
            "(a*)*",
            "((ab)*c)+",
            "(\\d+,){2,}",
            "(?:x+)*y",
            "(.*a){20}",
            "a{9999999}",
        ] {
            assert!(nested_repeat(p), "{p}");
        }
        for p in [
            "a+b*",
            "(abc)+",
            "[(a+)]+",
            "(a\\+)+",
            "(a+)b",
            "(\\d{4})-(\\d{2})",
            "(a+)?",
            "(\\d+\\.){3}",
        ] {
            assert!(!nested_repeat(p), "{p}");
        }
    }
}
