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
        let Some(e) = arguments
            .keyword(&["pattern"])
            .or_else(|| arguments.positional(0))
        else {
            return;
        };
        if self.is_slow(e) {
            self.add(&rules::DOS_REGEX, at, path.to_owned());
        }
    }

    /// `series.str.contains(pattern)` and its kind.
    pub(super) fn text_pattern(&mut self, arguments: Arguments<'a>, at: TextRange) {
        let pattern = arguments
            .keyword(&["pat"])
            .or_else(|| arguments.positional(0));
        if let Some(e) = pattern
            && self.is_slow(e)
        {
            self.add(&rules::DOS_REGEX, at, "str");
        }
    }

    /// The keyword `regex` of `filter` and `replace`.
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
            .any(|v| matches!(v, Val::Text(t) if nested_repeat(t)))
    }
}

/// Whether a group that repeats without bound is itself repeated without bound: `(a+)+`.
fn nested_repeat(pattern: &str) -> bool {
    let mut groups: Vec<bool> = Vec::new();
    let mut chars = pattern.chars().peekable();
    let mut class = false;
    // Whether the last thing read was a group that holds a repeat.
    let mut closed = false;
    // Blanks mean nothing in a verbose pattern.
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
                // A `]` that comes first is a member of the class.
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
                if unbounded && was_closed {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_repeat_of_a_repeat_is_slow() {
        for p in ["(a+)+$", "(a*)*", "((ab)*c)+", "(\\d+,){2,}", "(?:x+)*y"] {
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
        ] {
            assert!(!nested_repeat(p), "{p}");
        }
    }
}
