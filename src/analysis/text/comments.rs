//! Comments that give instructions to software or imitate the review screen.

use crate::analysis::facts::Facts;
use crate::analysis::rules;
use crate::analysis::scan::Outline;
use crate::model::Action;
use crate::model::for_editors::instructs;

/// Glyphs that the review screen puts before a verdict or a state, and the words for these.
pub(super) const GLYPHS: &[char] = &['●', '▲', '■', '✓', '✗', '⧗', '▮'];
pub(super) const STATES: &[&str] = &[
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
/// Phrases that are only written to imitate the interface or the reviewer.
pub(super) const WORDS: &[&str] = &[
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
    "ignore previous",
    "ignore all previous",
    "disregard previous",
    "disregard all previous",
    "reviewer: ",
    "note to reviewer",
    "dear reviewer",
    "please approve",
    "please grant",
    "safe to approve",
    "approved for execution",
    "already approved",
    "already checked",
    "already verified",
    "reviewed and approved",
    "reviewed and safe",
    "end of snippet",
    "end of proposal",
    "0 findings",
    "findings: none",
    "grant   d deny",
];
/// Phrases that make a reader stop, although more code follows.
pub(super) const ENDS: &[&str] = &[
    "end of code",
    "end of file",
    "end of script",
    "end of program",
];
/// Parts of modelines that run code when the text is opened in an editor.
const RUNNING: &[&str] = &[
    "eval:",
    "expr=",
    "system(",
    "makeprg",
    "equalprg",
    "shell",
    "exec",
    "mode: compilation",
];

/// Whether a comment, or a text used like one, imitates the review screen.
pub fn imitates(text: &str) -> bool {
    let lower = text.to_lowercase();
    let state = text.contains(GLYPHS) && STATES.iter().any(|w| lower.contains(w));
    let sheet = lower.contains("type ") && lower.contains(" to grant");
    state || sheet || verdict(&lower) || WORDS.iter().any(|w| lower.contains(w))
}

/// Whether the text states a verdict: `verdict: clear`, `VERDICT ─ clear`, or a bare `verdict:` at
/// the end.
pub(super) fn verdict(lower: &str) -> bool {
    lower.split("verdict").skip(1).any(|rest| {
        let word = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let gap = rest.len() - word.len();
        gap > 0
            && gap < 40
            && (word.is_empty() && rest.starts_with(':')
                || STATES.iter().any(|state| word.starts_with(state)))
    })
}

/// Reports modelines, which work in the first and last lines of a text, inside any syntax.
pub(super) fn modelines(text: &str, outline: &Outline, facts: &mut Facts) {
    const LINES: usize = 5;
    let lines = text.split('\n').count();
    let mut start = 0;
    for (i, line) in text.split('\n').enumerate() {
        let at = (start, start + line.len());
        start += line.len() + 1;
        if i >= LINES && i + LINES < lines {
            continue;
        }
        let inside = outline
            .comments
            .iter()
            .any(|c| c.start >= at.0 && c.start <= at.1);
        let lower = line.to_lowercase();
        let runs = instructs(line) && RUNNING.iter().any(|w| lower.contains(w));
        // What follows `Local Variables:` is obeyed too.
        if !inside && (runs || lower.contains("local variables:")) {
            facts.add(&rules::TEXT_MODELINE, at, "").at_least = Some(Action::Flag);
        }
    }
}

pub(super) fn check(text: &str, outline: &Outline, facts: &mut Facts) {
    let mut local = false;
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
        if instructs(comment) {
            let fact = facts.add(&rules::TEXT_MODELINE, at, "");
            if RUNNING.iter().any(|w| lower.contains(w)) {
                fact.at_least = Some(Action::Flag);
            }
        } else if local && lower.trim_start_matches(['#', ' ']).starts_with("eval:") {
            facts.add(&rules::TEXT_MODELINE, at, "").at_least = Some(Action::Flag);
        }
        local |= lower.contains("local variables:");
        let stops =
            ENDS.iter().any(|w| lower.contains(w)) && text.get(range.end..).is_some_and(has_code);
        if stops || imitates(comment) {
            facts.add(&rules::TEXT_IMITATION, at, "");
        }
    }
}

/// Whether anything but whitespace and comments follows.
fn has_code(rest: &str) -> bool {
    rest.lines()
        .any(|l| !l.trim().is_empty() && !l.trim_start().starts_with('#'))
}

/// The encoding that a comment declares (PEP 263): the first `coding` followed by `:` or `=`.
fn cookie(comment: &str) -> Option<&str> {
    comment.match_indices("coding").find_map(|(at, word)| {
        let rest = comment.get(at + word.len()..)?;
        let rest = rest
            .strip_prefix([':', '='])?
            .trim_start_matches([' ', '\t']);
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c)))
            .unwrap_or(rest.len());
        rest.get(..end).filter(|name| !name.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_read_as_pep_263_says() {
        assert_eq!(cookie("# -*- coding: utf-7 -*-"), Some("utf-7"));
        assert_eq!(cookie("# vim: set fileencoding=latin_1 :"), Some("latin_1"));
        assert_eq!(cookie("# the coding of coding: cp437"), Some("cp437"));
        assert_eq!(cookie("# about encoding of things"), None);
    }
}
