//! Which parts of each proposal were on the screen, and for how long.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::broker::BrokerState;
use crate::clock::Now;
use crate::model::{Digest, Opened, Part, ProposalId, Viewed};

use super::super::interval::IntervalSet;
use super::super::transcript::Reading;
use super::sheet::Detail;
use super::states::SharedUid;
use super::{Over, Pane, Sheet, UiState, View};

/// The state kept for each proposal that was viewed.
#[derive(Clone, Debug, Default)]
pub(in crate::tui) struct Looked {
    /// The digest of the code that all of this is about; `None` until some of it was on the screen.
    code: Option<Digest>,
    pub seen: IntervalSet,
    /// Findings that were wholly on the screen, by index.
    pub findings: IntervalSet,
    /// Offset of the first row in the code pane.
    pub top: usize,
    /// Offset of the current row.
    pub cursor: usize,
    /// Columns scrolled to the right, with wrapping off.
    pub across: usize,
    /// The open condensed stretches of the inputs.
    pub open: BTreeSet<usize>,
    /// The offset of the last match.
    pub found: Option<usize>,
    /// The finding or effect that was stepped to last, see `points`.
    pub point: Option<usize>,
    /// First rows of the lower panes, except the output.
    pub scroll: BTreeMap<Pane, usize>,
    pub reading: Reading,
    opened: Opened,
    selected: Duration,
    focused: Duration,
    /// The two times when a person last edited the code: reading other code starts anew.
    before: (Duration, Duration),
}

impl Looked {
    /// Turns to this code. If it is other code than before, nothing of it was seen.
    pub fn turn_to(&mut self, code: Digest) {
        if self.code.is_some_and(|before| before != code) {
            *self = Self {
                selected: self.selected,
                focused: self.focused,
                before: (self.selected, self.focused),
                ..Self::default()
            };
        }
        self.code = Some(code);
    }

    /// Whether a person moved on in the code.
    pub const fn moved_on(&self) -> bool {
        self.top > 0 || self.cursor > 0
    }

    /// Whether this is about the code with this digest.
    pub fn is_of(&self, code: Digest) -> bool {
        self.code == Some(code)
    }
}

impl UiState {
    /// Counts as seen the ranges that have been on the screen long enough. Call this before each
    /// frame and event, because either may change the screen.
    pub fn count(&mut self, now: Now) {
        self.play_on(now);
        // The terminal reports that it lost the focus, so nobody looks at it.
        if self.attention.focused == Some(false) {
            return;
        }
        if let Some(sheet) = self.over.sheet_mut() {
            sheet.count(now.boot);
        }
        if let (Some(id), Some(code)) = (self.on_glass(), self.frame.code) {
            let looked = self.queue.looked.entry(id).or_default();
            looked.turn_to(code);
            for range in self.frame.ranges.settled(self.attention.grace, now.boot) {
                looked.seen.insert(range);
            }
        }
        let Some((id, code)) = self.findings_on_glass() else {
            return;
        };
        let looked = self.queue.looked.entry(id).or_default();
        looked.turn_to(code);
        for range in self.frame.findings.settled(self.attention.grace, now.boot) {
            looked.findings.insert(range);
        }
        self.turn_page();
    }

    /// When the first row of code on the screen will count that does not yet; `None` if all do or none will.
    pub(in crate::tui) fn uncounted(&self) -> Option<Duration> {
        let id = self
            .on_glass()
            .filter(|_| self.attention.focused != Some(false))?;
        let none = IntervalSet::default();
        let seen = self
            .queue
            .looked
            .get(&id)
            .map_or(&none, |looked| &looked.seen);
        self.frame.ranges.due(self.attention.grace, seen)
    }

    /// When the next displayed range will count as seen.
    pub(super) fn due(&self) -> Option<Duration> {
        if self.attention.focused == Some(false) {
            return None;
        }
        let none = Looked::default();
        let looked = |id: &ProposalId| self.queue.looked.get(id).unwrap_or(&none);
        let (frame, grace) = (&self.frame, self.attention.grace);
        let rows = self.on_glass();
        let rows = rows.and_then(|id| frame.ranges.due(grace, &looked(&id).seen));
        let findings = self.findings_on_glass();
        let findings =
            findings.and_then(|(id, _)| frame.findings.due(grace, &looked(&id).findings));
        let sheet = self.sheet().and_then(Sheet::due);
        [rows, findings, sheet].into_iter().flatten().min()
    }

    /// The selected proposal with its code's digest, if the last frame showed findings of it.
    fn findings_on_glass(&self) -> Option<(ProposalId, Digest)> {
        let of = self.frame.findings_of;
        of.filter(|(id, _)| self.queue.selected == Some(*id))
    }

    /// The selected proposal, if the last frame showed its code.
    fn on_glass(&self) -> Option<ProposalId> {
        self.frame.id.filter(|id| self.queue.selected == Some(*id))
    }

    /// Adds the time since the last call to the selected proposal's viewing time.
    pub(super) fn accrue(&mut self, now: Now) {
        let since = self.attention.accrued.replace(now.boot);
        let (Some(since), Some(id), View::Queue) = (since, self.queue.selected, self.view()) else {
            return;
        };
        let time = now.boot.saturating_sub(since);
        let looked = self.queue.looked.entry(id).or_default();
        looked.selected = looked.selected.saturating_add(time);
        if self.attention.focused != Some(false) {
            looked.focused = looked.focused.saturating_add(time);
        }
    }

    /// Whether a person was told that agents share the uid: the sheet, which says it, is closed again.
    pub(in crate::tui) fn knows_shared_uid(&self) -> bool {
        self.attention.shared_uid == SharedUid::Told && self.sheet().is_none()
    }

    /// Records which parts beside the code the last frame showed.
    pub(super) fn note_opened(&mut self) {
        if self.sheet().is_some_and(|sheet| sheet.missing().is_none()) {
            self.attention.shared_uid = SharedUid::Told;
        }
        let Some(id) = self.queue.selected else {
            return;
        };
        let looked = self.queue.looked.entry(id).or_default();
        for part in self.frame.panes.keys().filter_map(|pane| part(*pane)) {
            looked.opened.insert(part);
        }
        match &self.over {
            Over::Diff(_) => looked.opened.insert(Part::Diff),
            Over::Sheet(sheet) if sheet.detail == Detail::Whole => {
                looked.opened.insert(Part::WholeSheet);
            }
            _ => {}
        }
    }

    /// How long the proposal was selected with the code that it has now, with the terminal focused if it reports that.
    pub(super) fn look_at(&self, id: ProposalId) -> Duration {
        let looked = self.queue.looked.get(&id);
        looked.map_or(Duration::ZERO, |l| match self.attention.focused {
            Some(_) => l.focused.saturating_sub(l.before.1),
            None => l.selected.saturating_sub(l.before.0),
        })
    }

    /// Takes back all viewing time with the focus.
    pub(super) fn forget_focus(&mut self) {
        for looked in self.queue.looked.values_mut() {
            looked.focused = Duration::ZERO;
        }
    }

    /// What the reviewer viewed, for the audit record.
    pub(super) fn viewed(&self, state: &BrokerState, id: ProposalId) -> Viewed {
        let none = Looked::default();
        let looked = self.queue.looked.get(&id).unwrap_or(&none);
        let ms = |d: Duration| u64::try_from(d.as_millis()).unwrap_or(u64::MAX);
        let doc = self.queue.doc.as_ref().filter(|d| d.id == id);
        let doc = doc.filter(|d| looked.is_of(d.code));
        let sheet = self.sheet().filter(|s| s.id() == id);
        let mut findings = looked.findings.clone();
        for range in sheet.into_iter().flat_map(Sheet::findings) {
            findings.insert(range);
        }
        // A finding may span two pages of a sheet that was shown to its end.
        if sheet.is_some_and(|s| s.missing().is_none()) {
            let verdict = state.entry(id).and_then(|e| e.verdict());
            findings.insert(0..verdict.map_or(0, |v| v.findings.len()));
        }
        Viewed {
            selected_ms: ms(looked.selected),
            focused_ms: self.attention.focused.map(|_| ms(looked.focused)),
            lines_seen: doc.map_or(0, |d| d.lines_seen(&looked.seen)) as u64,
            findings_shown: findings.iter().map(|r| r.len() as u64).sum(),
            opened: looked.opened,
            asked_again: sheet.is_some() && self.is_hurried(),
        }
    }
}

/// The name of a pane in the log; the list, the code and a run's own panes have none.
const fn part(pane: Pane) -> Option<Part> {
    match pane {
        Pane::Queue | Pane::Code | Pane::Output | Pane::Outcome => None,
        Pane::Verdict => Some(Part::Verdict),
        Pane::Can => Some(Part::Capabilities),
        Pane::Given => Some(Part::Given),
        Pane::Details => Some(Part::Details),
        Pane::Says => Some(Part::Claims),
        Pane::Past => Some(Part::Past),
    }
}
