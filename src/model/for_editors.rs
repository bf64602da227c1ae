//! Text that acts where it is opened: instructions to editors, and characters that a terminal obeys or nobody sees.
//!
//! One rule for the analyser, for the editor that a person opens on code, and for other programs that get a file.
//! vim reads modelines (`:help modeline`), Emacs `-*-` lines and `Local Variables:`, Kakoune `kak:`.

use super::unseen::{is_bidi, is_invisible};

/// What a line of a text could do where it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hazard {
    /// An editor could obey it.
    Instruction,
    /// A terminal could obey it.
    Control,
    /// It is shown in another order than it has.
    Bidi,
    Invisible,
}

impl Hazard {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Instruction => "could instruct an editor",
            Self::Control => "has a control character",
            Self::Bidi => "has a character that reorders text",
            Self::Invisible => "has an invisible character",
        }
    }
}

/// The lines with a hazard, counted from 1, each with the worst. Every line counts: an editor decides how many it
/// looks at.
pub fn hazards(text: &str) -> impl Iterator<Item = (usize, Hazard)> + '_ {
    // A byte-order mark at the beginning is no character of the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.split('\n').zip(1..);
    lines.filter_map(|(line, number)| Some((number, hazard(line)?)))
}

fn hazard(line: &str) -> Option<Hazard> {
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.contains(|c: char| c.is_control() && c != '\t') {
        return Some(Hazard::Control);
    }
    if line.contains(is_bidi) {
        return Some(Hazard::Bidi);
    }
    if instructs(line) {
        return Some(Hazard::Instruction);
    }
    let pairs = line.chars().zip(std::iter::once(' ').chain(line.chars()));
    pairs
        .into_iter()
        .any(|(c, before)| is_unseen(c, before))
        .then_some(Hazard::Invisible)
}

/// Joiners and selectors inside an emoji, or in a script that needs them, are seen.
fn is_unseen(c: char, before: char) -> bool {
    match c {
        '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' => before.is_ascii(),
        '\u{e0000}'..='\u{e007f}' => true,
        c => is_invisible(c),
    }
}

/// Whether a line could instruct vim, Emacs or Kakoune.
pub fn instructs(line: &str) -> bool {
    let lower = line.to_lowercase();
    lower.contains("local variables:") || vim(&lower) || emacs(&lower) || kakoune(&lower)
}

/// `vi:`, `vim:`, `vim700:`, `vim>600:` or `ex:` behind a blank, and options.
fn vim(lower: &str) -> bool {
    let begins = |at: usize| {
        let before = lower[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && c != '_')
    };
    let numbered = |rest: &str| {
        let rest = rest.trim_start_matches(['<', '>', '=']);
        let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.strip_prefix(':').is_some_and(sets)
    };
    let of_vim = lower
        .match_indices("vim")
        .any(|(at, word)| begins(at) && numbered(&lower[at + word.len()..]));
    of_vim
        || ["vi:", "ex:"].iter().any(|word| {
            lower
                .match_indices(word)
                .any(|(at, _)| begins(at) && sets(&lower[at + word.len()..]))
        })
}

/// Whether vim would take the beginning of what follows as an option; it obeys the options before the first that it
/// does not know.
fn sets(rest: &str) -> bool {
    /// What Python code has behind `as ex:` or `vi:`, and vim does not know.
    const PYTHON: [&str; 22] = [
        "any", "bool", "break", "bytes", "continue", "dict", "false", "float", "int", "list",
        "none", "object", "optional", "pass", "raise", "return", "set", "str", "true", "tuple",
        "type", "yield",
    ];
    let rest = rest.trim_start();
    if rest.starts_with("set ") || rest.starts_with("se ") {
        return true;
    }
    let first = rest.split([' ', '\t', ':']).next().unwrap_or_default();
    let end = first
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(first.len());
    let (name, value) = first.split_at(end);
    let valued = value.starts_with(['=', '^', '&', '!', '+', '-', '<', '?']);
    !name.is_empty() && (valued || value.is_empty() && !PYTHON.contains(&name))
}

/// A `-*-` line that says more than that the text is UTF-8.
fn emacs(lower: &str) -> bool {
    let Some((_, rest)) = lower.split_once("-*-") else {
        return false;
    };
    let Some((said, _)) = rest.split_once("-*-") else {
        return false;
    };
    let coding = said.trim().trim_end_matches(';').trim_end();
    let coding = coding.strip_prefix("coding:").map(str::trim);
    !coding.is_some_and(|name| ["utf-8", "utf8", "utf-8-unix", "us-ascii", "ascii"].contains(&name))
}

fn kakoune(lower: &str) -> bool {
    lower.match_indices("kak:").any(|(at, _)| {
        let before = lower[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && c != '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_editor_could_obey_is_found_wherever_it_stands() {
        for line in [
            "# vim: set ts=4:",
            "vim:ft=python",
            "x = ' vim: fdm=expr fde=system(\"id\")'",
            "vi:noai:sw=3 ts=6",
            "#\tvi: noai )",
            "\tvi:noai fde=x() )",
            "# ex: se ts=4",
            "# ex: ts=4 sw=4 expandtab",
            "# vim700: set foldmethod=marker:",
            "# vim<700: set foldmethod=marker:",
            "# vim>600: set et",
            "# vim=900: set et",
            "\"x vim: set makeprg=rm: \"",
            "# -*- mode: compilation -*-",
            "# -*- mode: python; eval: (x) -*-",
            "# -*- coding: utf-8; eval: (shell-command \"id\") -*-",
            "# -*- coding: utf-7 -*-",
            "# Local Variables:",
            "# kak: set-option",
        ] {
            let text = format!("a = 1\n{line}\nb = 2\n");
            let found: Vec<_> = hazards(&text).collect();
            assert_eq!(found, [(2, Hazard::Instruction)], "{line}");
        }
        for line in [
            "index: int = 1",
            "d = {vi_: 1, 'apex': 2}",
            "lambda complex: complex",
            "with threadpoolexecutor(4) as ex:",
            "with threadpoolexecutor(4) as ex: run(ex, shell)",
            "    with executor() as ex: print(exec_all(ex))",
            "with executor() as ex: pass",
            "for vi: ",
            "def f(vi: int, ex: str): exec",
            "complex: ts=4",
            "kayak: 1",
            "# -*- coding: utf-8 -*-",
            "\tx = 1\r",
        ] {
            assert_eq!(hazard(line), None, "{line}");
        }
    }

    #[test]
    fn what_a_terminal_obeys_and_what_nobody_sees_is_found() {
        for (line, found) in [
            ("# \u{1b}[2J", Hazard::Control),
            ("# \u{9b}2J", Hazard::Control),
            ("a\rb", Hazard::Control),
            ("a\u{c}b", Hazard::Control),
            ("a\u{202e}b", Hazard::Bidi),
            ("a\u{200b}b", Hazard::Invisible),
            ("a\u{feff}b", Hazard::Invisible),
        ] {
            let text = format!("x\n{line}\ny");
            assert_eq!(hazards(&text).next(), Some((2, found)), "{line:?}");
        }
        assert_eq!(hazards("\u{feff}a,b\r\n1,ü ❤\u{fe0f}\r\n").next(), None);
    }
}
