//! `e`: a person edits the code of the selected proposal. What comes back is other code: nothing of it was
//! seen yet, and what was open on the code before closes.

use crate::broker::BrokerState;
use crate::clock::Now;
use crate::model::{Digest, ProposalId};

use super::super::action::{Action, EditNews};
use super::super::words;
use super::{Frame, Notice, UiState};

impl UiState {
    /// `e`: asks for an editor on the code, or says what prevents it.
    pub(super) fn ask_edit(&mut self, state: &BrokerState, now: Now) -> Vec<Action> {
        let Some(entry) = self.entry(state) else {
            self.remarks.notice = Some(Notice::NothingSelected);
            return Vec::new();
        };
        let id = entry.proposal.id;
        if let Err(why) = state.editable(id, now) {
            self.remarks.notice = Some(words::cannot_edit(&why.to_string()).into());
            return Vec::new();
        }
        // A person's own text was in their editor already.
        let proposed = !entry.is_edited();
        if let Some(line) = words_to_editors(entry.code().text()).filter(|_| proposed) {
            self.remarks.notice = Some(words::not_for_editors(line).into());
            return Vec::new();
        }
        vec![Action::Edit { id }]
    }

    /// Call before another program gets the terminal: nothing on it counts as seen, and the time there is no
    /// time at this screen.
    pub fn lend(&mut self, now: Now) {
        self.accrue(now);
        self.out_of_sight(now);
    }

    /// Call when the terminal is the dashboard's again. What was typed for the other program decides nothing.
    pub fn take_back(&mut self, now: Now) {
        self.attention.accrued = Some(now.boot);
        // The other program may have changed the reports, and they can come again.
        self.attention.focused = None;
        self.flush_input(now);
    }

    /// Says what became of an edit.
    pub fn tell_of_edit(&mut self, news: &EditNews) {
        self.remarks.notice = Some(words::edit_news(news).into());
    }

    /// The selected proposal has other code than was on the screen.
    pub(super) fn begin_anew(&mut self, id: ProposalId, code: Digest, now: Now) {
        self.over.close_sheet();
        self.frame = Frame::default();
        self.kept.flows.clear();
        self.queue.looked.entry(id).or_default().turn_to(code);
        self.fresh_grace(now);
    }
}

/// The first line that an editor could obey, or that could drive a terminal, counted from 1. Anything that looks
/// like an instruction counts, wherever it stands: an editor decides how many lines it looks at.
fn words_to_editors(text: &str) -> Option<usize> {
    let plain = |c: char| !c.is_control() || matches!(c, '\t' | '\r' | '\x0c');
    let obeyed = |line: &str| {
        let lower = line.to_lowercase();
        let vim = ["vim:", "vi:", "ex:", "vim>", "vim<", "vim="]
            .iter()
            .any(|word| {
                lower.match_indices(word).any(|(at, _)| {
                    !lower[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
                })
            });
        let numbered = lower.match_indices("vim").any(|(at, word)| {
            let rest = lower[at + word.len()..].trim_start_matches(['<', '>', '=']);
            rest.trim_start_matches(|c: char| c.is_ascii_digit())
                .starts_with(':')
        });
        let emacs = lower.matches("-*-").count() > 1 || lower.contains("local variables:");
        let kakoune = lower.contains("kak:");
        vim || numbered || emacs || kakoune
    };
    let hazard = |line: &str| !line.chars().all(plain) || obeyed(line);
    text.split('\n').position(hazard).map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_editor_could_obey_is_found_wherever_it_stands() {
        for line in [
            "# vim: set ts=4:",
            "x = ' vim: fdm=expr fde=system(\"id\")'",
            "vi:noai:sw=3 ts=6",
            "# ex: se ts=4",
            "# vim700: set foldmethod=marker:",
            "# vim<700: set foldmethod=marker:",
            "# -*- mode: compilation -*-",
            "# -*- coding: utf-8; eval: (shell-command \"id\") -*-",
            "# Local Variables:",
            "# kak: set-option",
            "# \u{1b}[2J",
            "# \u{9b}2J",
        ] {
            let text = format!("a = 1\n{line}\nb = 2\n");
            assert_eq!(words_to_editors(&text), Some(2), "{line}");
        }
        for line in [
            "index: int = 1",
            "d = {vi_: 1, 'apex': 2}",
            "lambda complex: complex",
            "\tx = 1\r",
        ] {
            assert_eq!(words_to_editors(line), None, "{line}");
        }
    }
}
