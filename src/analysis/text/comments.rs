//! Comments that speak to the machine or to the reviewer's eye.

use crate::analysis::facts::Facts;
use crate::analysis::rules;
use crate::analysis::scan::Outline;

/// Glyphs that the review screen puts before a verdict or a state, and those words.
const GLYPHS: &[char] = &['●', '▲', '■', '✓', '✗', '⧗', '▮'];
const STATES: &[&str] = &[
    "clear",
    "flagged",
    "blocked",
    "granted",
    "denied",
    "expired",
    "seen",
    "durable",
    "unanalyzable",
];
/// What only somebody would write who wants to be taken for the interface or the reviewer.
const WORDS: &[&str] = &[
    "verdict:",
    "countersign",
    "a grant  d deny",
    "press a to grant",
    "press y",
    "already reviewed",
    "already granted",
    "pre-approved",
    "preapproved",
    "approved by",
    "granted by",
    "no findings",
    "safe to run",
    "safe to grant",
    "ignore previous instructions",
];

pub(super) fn check(text: &str, outline: &Outline, facts: &mut Facts) {
    for range in &outline.comments {
        let Some(comment) = text.get(range.clone()) else {
            continue;
        };
        let at = (range.start, range.end);
        let lower = comment.to_lowercase();
        let line = text
            .get(..range.start)
            .map_or(0, |s| s.matches('\n').count());
        if line < 2
            && let Some(name) = cookie(comment)
        {
            match name.to_ascii_lowercase().replace('_', "-").as_str() {
                "utf-8" | "utf8" | "ascii" | "us-ascii" => {}
                _ => {
                    facts.add(&rules::TEXT_COOKIE, at, name);
                }
            }
        }
        if modeline(&lower) {
            facts.add(&rules::TEXT_MODELINE, at, "");
        }
        let state = comment.contains(GLYPHS) && STATES.iter().any(|w| lower.contains(w));
        if state || WORDS.iter().any(|w| lower.contains(w)) {
            facts.add(&rules::TEXT_IMITATION, at, "");
        }
    }
}

/// The encoding that a comment declares (PEP 263).
fn cookie(comment: &str) -> Option<&str> {
    let rest = comment.split_once("coding")?.1;
    let rest = rest
        .strip_prefix([':', '='])?
        .trim_start_matches([' ', '\t']);
    let end = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)))
        .unwrap_or(rest.len());
    rest.get(..end).filter(|name| !name.is_empty())
}

/// Instructions to vim and Emacs.
fn modeline(lower: &str) -> bool {
    let vim = ["vim:", "vi:", "ex:"].iter().any(|m| {
        lower
            .split_once(m)
            .is_some_and(|(before, _)| before.ends_with([' ', '\t', '#']))
    });
    let emacs = lower
        .split_once("-*-")
        .is_some_and(|(_, rest)| rest.contains("-*-") && !lower.contains("coding"));
    vim || emacs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_read_as_pep_263_says() {
        assert_eq!(cookie("# -*- coding: utf-7 -*-"), Some("utf-7"));
        assert_eq!(cookie("# vim: set fileencoding=latin_1 :"), Some("latin_1"));
        assert_eq!(cookie("# about encoding of things"), None);
    }
}
