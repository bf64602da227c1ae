//! What of each proposal was on the screen, and for how long.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::broker::BrokerState;
use crate::clock::Now;
use crate::model::{ProposalId, Viewed};

use super::super::interval::IntervalSet;
use super::{Pane, Sheet, UiState, View};

/// What is kept of each proposal that was looked at.
#[derive(Clone, Debug, Default)]
pub(in crate::tui) struct Looked {
    pub seen: IntervalSet,
    /// Findings that were on the screen whole.
    pub findings: BTreeSet<usize>,
    /// Offset of the first row in the code pane.
    pub top: usize,
    /// Offset of the current row.
    pub cursor: usize,
    /// Columns scrolled to the right, with wrapping off.
    pub across: usize,
    /// Where the last match was.
    pub found: Option<usize>,
    /// First rows of the lower panes; the output's is absent while it follows its end.
    pub scroll: BTreeMap<Pane, usize>,
    selected: Duration,
    focused: Duration,
}

impl UiState {
    /// Counts what the last frame showed as seen, once nothing stands against it.
    pub(super) fn count(&mut self, now: Now) {
        let Some(id) = self.frame.id.filter(|id| self.selected == Some(*id)) else {
            return;
        };
        if now.boot < self.grace {
            return;
        }
        let looked = self.looked.entry(id).or_default();
        for range in self.frame.ranges.drain(..) {
            looked.seen.insert(range);
        }
        looked.findings.extend(self.frame.findings.drain(..));
    }

    /// Adds the time since the last call to the selected proposal's.
    pub(super) fn accrue(&mut self, now: Now) {
        let since = self.accrued.replace(now.boot);
        let (Some(since), Some(id), View::Queue) = (since, self.selected, self.view) else {
            return;
        };
        let time = now.boot.saturating_sub(since);
        let looked = self.looked.entry(id).or_default();
        looked.selected = looked.selected.saturating_add(time);
        if self.focused != Some(false) {
            looked.focused = looked.focused.saturating_add(time);
        }
    }

    /// What was looked at, for the record.
    pub(super) fn viewed(&self, state: &BrokerState, id: ProposalId) -> Viewed {
        let none = Looked::default();
        let looked = self.looked.get(&id).unwrap_or(&none);
        let ms = |d: Duration| u64::try_from(d.as_millis()).unwrap_or(u64::MAX);
        let doc = self.doc.as_ref().filter(|d| d.id == id);
        let sheet = self.sheet.as_ref().filter(|s| s.id() == id);
        let mut findings = looked.findings.clone();
        findings.extend(sheet.into_iter().flat_map(Sheet::findings));
        // A finding may stand across two pages of a sheet that was shown to its end.
        if sheet.is_some_and(|s| s.missing().is_none()) {
            let verdict = state.entry(id).and_then(|e| e.verdict.as_ref());
            findings.extend(0..verdict.map_or(0, |v| v.findings.len()));
        }
        Viewed {
            selected_ms: ms(looked.selected),
            focused_ms: self.focused.map(|_| ms(looked.focused)),
            lines_seen: doc.map_or(0, |d| d.lines_seen(&looked.seen)) as u64,
            findings_shown: findings.len() as u64,
        }
    }
}
