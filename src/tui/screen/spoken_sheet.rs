//! The sheet in plain lines: its rows, its question, and why it asks once more.

use crate::broker::Entry;

use super::super::document::Held;
use super::super::flow::Para;
use super::super::keys::Command;
use super::super::plain::{SaidRow, plain};
use super::super::shown;
use super::super::theme::Role;
use super::super::ui::{Challenge, Detail, STREAK, Sheet};
use super::super::words;
use super::Screen;
use super::sheet::REASON;
use super::spoken::{FINDINGS, WIDE, flow};

impl Screen<'_> {
    /// The rows of the sheet, but for its question. `heard`: what was heard before the code, to its end. If it still
    /// holds, the facts are named and not told again.
    pub(in crate::tui) fn spoken_sheet(
        &self,
        sheet: &Sheet,
        heard: Option<&[SaidRow]>,
    ) -> Vec<SaidRow> {
        let Some(entry) = self.state.entry(sheet.id()) else {
            return Vec::new();
        };
        let holds = heard.is_some_and(|heard| self.all_before(entry).as_deref() == Some(heard));
        let mut rows = flow(&match sheet.detail {
            Detail::Whole => self.whole(entry, sheet, WIDE),
            Detail::Folded if holds => {
                let mut out = self.claims(entry, WIDE, REASON);
                out.truncate(1);
                out.splice(0..0, self.needs(entry));
                out.extend(self.edited(entry));
                out.push(self.as_before(entry));
                out.extend(self.bindings(entry, sheet, WIDE, self.kernel_warns()));
                out
            }
            Detail::Folded => self.folded(entry, sheet, WIDE),
        });
        // A gap between parts is nothing to be heard.
        rows.retain(|row| !row.text.is_empty());
        rows
    }

    /// The introduction, if it leaves no fact out.
    fn all_before(&self, entry: &Entry) -> Option<Vec<SaidRow>> {
        let all = entry.verdict()?.findings.len() <= FINDINGS;
        all.then(|| self.introduction(entry))
    }

    /// What was heard already, in few words. What is told to the agent although it is private is told each time.
    fn as_before(&self, entry: &Entry) -> Para {
        let mut parts = Self::touched(entry);
        let verdict = entry.verdict();
        let findings = verdict.map_or(&[][..], |v| &v.findings);
        parts.push(match findings {
            [] => words::plain::NO_FINDINGS.to_owned(),
            all => {
                let each = all.iter().map(|f| format!("{} line {}", f.rule, f.line));
                let each = each.collect::<Vec<_>>().join(", ");
                format!("{}: {each}", words::count(all.len(), "finding"))
            }
        });
        let held = self.held().map_or(0, Held::count);
        parts.extend((held > 0).then(|| words::count(held, "secret")));
        let inputs = entry.inputs().map_or(0, |inputs| inputs.len());
        parts.push(words::count(inputs, "input"));
        let policy = self.state.policy_of(entry);
        if entry.inputs().is_some_and(|all| {
            all.iter()
                .any(|input| policy.as_ref().is_some_and(|policy| policy.tells(input)))
        }) {
            parts.push(format!("▲ {}", words::plain::TOLD));
        }
        let key = self.ui.key(Command::Details);
        let facts = parts.join(" · ");
        Para::new(
            words::plain::as_before(words::plain::BEFORE, &facts, &key),
            Role::Text,
        )
    }

    pub(in crate::tui) fn spoken_sheet_heading(&self, sheet: &Sheet) -> String {
        let Some(entry) = self.state.entry(sheet.id()) else {
            return words::GONE.to_owned();
        };
        let (_, word, _) = shown::badge(entry);
        let left = words::plain::left(entry.left(self.now));
        format!("GRANT? {word}, {left}.")
    }

    /// The sheet's last line. Who hears it may answer.
    pub(in crate::tui) fn spoken_question(&self, sheet: &Sheet) -> String {
        let back = self.ui.key(Command::Back);
        let entry = self.state.entry(sheet.id());
        let grants = entry.map_or("to grant", |entry| self.key_does(entry, true));
        match &sheet.challenge {
            Challenge::Key => words::plain::press(&self.ui.key(Command::Confirm), grants, &back),
            Challenge::Digits {
                wanted,
                typed,
                hurry: Some(_),
            } if typed == wanted => words::plain::enter_again(wanted, &back),
            Challenge::Digits { wanted, .. } => words::plain::type_digits(wanted, grants, &back),
        }
    }

    /// Why the sheet asks once more.
    pub(in crate::tui) fn spoken_hurry(&self, sheet: &Sheet) -> Option<String> {
        match &sheet.challenge {
            Challenge::Digits { hurry, .. } => {
                let said = hurry
                    .as_ref()
                    .map(|h| words::hurried(h, self.until_confirmable(), usize::MAX));
                said.map(|said| plain(&said))
            }
            Challenge::Key => None,
        }
    }

    /// How many grants came in a row, if they were many.
    pub(in crate::tui) fn spoken_streak(&self) -> Option<String> {
        let tally = self.ui.tally().filter(|tally| tally.in_a_row >= STREAK)?;
        Some(plain(&words::streak(&tally)))
    }
}
