//! The sheet: one confirmation, bound to one proposal and one grant digest, accepted only after the
//! whole sheet was on the screen and its grace period is over.

use std::ops::Range;
use std::time::Duration;

use crate::broker::BrokerState;
use crate::broker::grant_digest;
use crate::model::{Environment, GrantDigest, ProposalId};

use super::super::interval::IntervalSet;
use super::super::screen::SheetShown;
use super::super::words;
use super::standing::Standing;
use super::vigilance::Hurry;

/// The confirmation that the sheet requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Challenge {
    /// One key.
    Key,
    /// Four hex digits to type.
    Digits {
        wanted: String,
        typed: String,
        /// Why they are to be confirmed once more.
        hurry: Option<Hurry>,
    },
}

/// How much of the plumbing the sheet shows: limits as the profile gives them, layers, whole digests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Detail {
    #[default]
    Folded,
    Whole,
}

impl Detail {
    pub const fn other(self) -> Self {
        match self {
            Self::Folded => Self::Whole,
            Self::Whole => Self::Folded,
        }
    }
}

/// An open sheet.
#[derive(Clone, Debug)]
pub struct Sheet {
    id: ProposalId,
    digest: GrantDigest,
    pub(in crate::tui) challenge: Challenge,
    /// The boot time from which the sheet accepts a confirmation.
    ready_at: Duration,
    /// First row shown.
    pub(in crate::tui) top: usize,
    pub(in crate::tui) detail: Detail,
    /// The sheet's rows on the screen. `found` holds its findings there.
    standing: Standing,
    found: Standing,
    /// Rows that were on the screen long enough. `findings` likewise.
    seen: IntervalSet,
    findings: IntervalSet,
    rows: Option<(u16, usize)>,
    complete: bool,
}

impl Sheet {
    pub fn new(
        id: ProposalId,
        digest: GrantDigest,
        challenge: Challenge,
        ready_at: Duration,
    ) -> Self {
        Self {
            id,
            digest,
            challenge,
            ready_at,
            top: 0,
            detail: Detail::default(),
            standing: Standing::default(),
            found: Standing::default(),
            seen: IntervalSet::default(),
            findings: IntervalSet::default(),
            rows: None,
            complete: false,
        }
    }

    pub const fn id(&self) -> ProposalId {
        self.id
    }

    pub const fn digest(&self) -> GrantDigest {
        self.digest
    }

    pub const fn ready_at(&self) -> Duration {
        self.ready_at
    }

    /// Whether any frame showed the sheet.
    pub const fn appeared(&self) -> bool {
        self.rows.is_some()
    }

    /// Folds or unfolds the details. The rows change, so they must be seen again.
    pub fn turn_details(&mut self) {
        self.detail = self.detail.other();
        self.top = 0;
        self.rows = None;
        self.complete = false;
        self.seen.clear();
        self.findings.clear();
        self.hidden();
    }

    /// Refuses confirmations before this boot time.
    pub fn hold(&mut self, until: Duration) {
        self.ready_at = self.ready_at.max(until);
    }

    /// The indices of the findings that the sheet showed.
    pub fn findings(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.findings.iter()
    }

    /// The first unseen rows outside `glass`, the rows on the screen; counted from 1.
    pub fn missing_beside(&self, glass: &Range<usize>, total: usize) -> Option<(usize, usize)> {
        if self.complete {
            return None;
        }
        let mut seen = self.seen.clone();
        seen.insert(glass.clone());
        let gap = seen.first_gap(total)?;
        Some((gap.start + 1, gap.end))
    }

    /// The first unseen rows, counted from 1.
    pub fn missing(&self) -> Option<(usize, usize)> {
        if self.complete {
            return None;
        }
        let total = self.rows.map_or(1, |(_, total)| total);
        let gap = self.seen.first_gap(total)?;
        Some((gap.start + 1, gap.end))
    }

    /// Records what a frame, completely written at `at`, showed of the sheet. A new width changes
    /// the rows, so they must be seen again.
    pub fn shown(&mut self, shown: &SheetShown, at: Duration) {
        if shown.id != self.id || shown.digest != self.digest {
            return;
        }
        let rows = (shown.width, shown.total);
        if self.rows != Some(rows) {
            self.rows = Some(rows);
            self.seen.clear();
            self.hidden();
        }
        self.top = shown.rows.start;
        self.standing.show([shown.rows.clone()], at);
        self.found
            .show(shown.findings.iter().map(|i| *i..i + 1), at);
    }

    /// Records that a frame showed something else instead of the sheet.
    pub fn hidden(&mut self) {
        self.standing.clear();
        self.found.clear();
    }

    /// Counts the rows and findings that were on the screen long enough outside the grace period.
    pub fn count(&mut self, now: Duration) {
        for rows in self.standing.settled(self.ready_at, now) {
            self.seen.insert(rows);
        }
        for findings in self.found.settled(self.ready_at, now) {
            self.findings.insert(findings);
        }
        if let Some((_, total)) = self.rows
            && total > 0
            && self.seen.first_gap(total).is_none()
        {
            self.complete = true;
        }
    }

    /// When the next row or finding will count as seen.
    pub fn due(&self) -> Option<Duration> {
        let rows = self.standing.due(self.ready_at, &self.seen);
        let findings = self.found.due(self.ready_at, &self.findings);
        rows.into_iter().chain(findings).min()
    }

    /// Checks that the sheet still matches what a grant would bind; otherwise returns why it
    /// closes.
    pub fn holds(&self, state: &BrokerState) -> Result<(), String> {
        let Some(entry) = state.entry(self.id) else {
            return Err(words::GONE.to_owned());
        };
        if !entry.awaits_decision() {
            return Err(words::already(entry.state()));
        }
        if let Environment::Changed { what } = &state.environment {
            return Err(words::environment_changed(what));
        }
        match grant_digest(state, entry) {
            Ok(digest) if digest == self.digest => Ok(()),
            Ok(_) => Err(words::CHANGED.to_owned()),
            Err(why) => Err(words::cannot_grant(&why.to_string())),
        }
    }
}

impl super::UiState {
    /// The digits that were typed on the sheet.
    pub(in crate::tui) fn typed_digits(&self) -> Option<&str> {
        match &self.sheet()?.challenge {
            Challenge::Digits { typed, .. } => Some(typed),
            Challenge::Key => None,
        }
    }

    pub(super) fn clear_digits(&mut self) {
        let challenge = self.over.sheet_mut().map(|sheet| &mut sheet.challenge);
        if let Some(Challenge::Digits { typed, .. }) = challenge {
            typed.clear();
        }
    }

    /// Whether the sheet asks once more.
    pub(super) fn is_hurried(&self) -> bool {
        let challenge = self.sheet().map(|sheet| &sheet.challenge);
        matches!(challenge, Some(Challenge::Digits { hurry: Some(_), .. }))
    }
}

/// Digits from the system's random generator, of which the first is no letter; without it `None`, and then no sheet opens.
pub(in crate::tui) fn random_digits() -> Option<u16> {
    getrandom::u32().ok().map(|n| (n % 0xa000) as u16)
}
