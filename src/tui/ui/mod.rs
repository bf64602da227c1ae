//! The screen's own state: what is selected, where it is scrolled to, what was seen, what is
//! open. Keys change it in `events`; what was drawn comes back through [`UiState::drawn`].

mod decide;
mod events;
mod lists;
mod looked;
mod moving;
mod notice;
mod quiet;
mod searching;
mod sheet;
mod standing;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;

use crate::broker::Refused;
use crate::broker::{BrokerState, Entry, selection};
use crate::clock::Now;
use crate::model::{Digest, ProposalId, State};

use super::action::AuditPage;
use super::as_drawn::adds;
use super::caps::TerminalCaps;
use super::document::{Document, Layout};
use super::flow::Flow;
use super::highlight::Highlights;
use super::keys::{Command, Key, Keymap};
use super::screen::Drawn;
use super::theme::{Theme, Themes};
use super::words;

pub(super) use looked::Looked;
pub(super) use notice::Notice;
pub use quiet::{HELD, QUIET, Span};
#[cfg(test)]
pub(super) use sheet::random_digits;
pub use sheet::{Challenge, Sheet};
pub use standing::DWELL;
use standing::Standing;

/// How long nothing counts after the selected proposal changed.
pub const GRACE: Duration = Duration::from_millis(500);
/// How long nothing counts after the sheet appeared.
pub const SHEET_GRACE: Duration = Duration::from_millis(300);

/// Snippets whose colours are kept.
const COLOURED: usize = 32;
/// Wrapped pane contents that are kept.
const FLOWS: usize = 12;

/// The three screens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum View {
    Queue,
    Audit,
    Policies,
}

/// A part of the queue screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pane {
    Queue,
    Code,
    Output,
    Outcome,
    Verdict,
    Can,
    Given,
    Says,
}

/// A text field or a question in the footer.
#[derive(Debug)]
pub enum Prompt {
    Deny {
        id: ProposalId,
        input: tui_input::Input,
    },
    Search {
        input: tui_input::Input,
    },
    Quit,
}

/// Which wrapped content a kept [`Flow`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowKey {
    Pane(Pane, ProposalId, u16),
    Sheet(ProposalId, crate::model::GrantDigest, u16),
    /// The records shown on screen 2, by how often they were set.
    Record(u64, u16),
}

/// What the last frame showed, until the next.
#[derive(Debug, Default)]
struct Frame {
    /// The proposal whose code stands on the glass.
    id: Option<ProposalId>,
    /// Which bytes of its document do, and which of its findings.
    ranges: Standing,
    findings: Standing,
    layout: Option<Arc<Layout>>,
    code_rows: usize,
    code_columns: usize,
    panes: BTreeMap<Pane, (usize, usize)>,
    over: Option<(usize, usize)>,
    list_rows: usize,
    too_small: bool,
}

/// See the module.
pub struct UiState {
    pub(super) keys: Keymap,
    themes: Themes,
    pub(super) caps: TerminalCaps,
    pub(super) zone: TimeZone,
    pub(super) view: View,
    pub(super) selected: Option<ProposalId>,
    pub(super) focus: Pane,
    /// Lower panes in the order they were focused, the latest first.
    pub(super) recent: Vec<Pane>,
    pub(super) wrap: bool,
    pub(super) zoom: bool,
    /// Whether what marks stand for is drawn below them, as the terminal draws it.
    pub(super) as_drawn: bool,
    pub(super) prompt: Option<Prompt>,
    pub(super) sheet: Option<Sheet>,
    /// First row of the help, where it is open.
    pub(super) help: Option<usize>,
    /// How often a person asked for a new screen.
    pub(super) asked_anew: u64,
    notice: Option<Notice>,
    /// The refusal that was said last.
    refused: Option<(ProposalId, Refused)>,
    pub(super) found: String,
    pub(super) audit: AuditPage,
    pub(super) audit_row: usize,
    /// How often `audit` was set.
    pub(super) audit_set: u64,
    /// First row of screen 3, and of a record on screen 2.
    pub(super) scroll: usize,
    pub(super) doc: Option<Arc<Document>>,
    /// Granted and running, waiting, and how many of them; then the decided.
    pub(super) live: Vec<ProposalId>,
    pub(super) decided: Vec<ProposalId>,
    /// First rows shown of the two lists.
    pub(super) tops: (usize, usize),
    stamp: Option<lists::Stamp>,
    looked: HashMap<ProposalId, Looked>,
    coloured: VecDeque<(Digest, Option<Arc<Highlights>>)>,
    flows: VecDeque<(FlowKey, Arc<Flow>)>,
    frame: Frame,
    /// Boot time until which nothing counts toward a grant.
    grace: Duration,
    /// Boot time up to which the time of looking is counted.
    accrued: Option<Duration>,
    /// `None` until the terminal reports one.
    focused: Option<bool>,
    before: Option<Key>,
    quiet: quiet::Quiet,
    /// The denial that selection follows.
    denied: Option<ProposalId>,
    digits: fn() -> Option<u16>,
}

impl std::fmt::Debug for UiState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UiState")
            .field("view", &self.view)
            .field("selected", &self.selected)
            .field("focus", &self.focus)
            .finish_non_exhaustive()
    }
}

impl UiState {
    pub fn new(keys: Keymap, themes: Themes, caps: TerminalCaps) -> Self {
        Self {
            keys,
            themes,
            caps,
            zone: TimeZone::system(),
            view: View::Queue,
            selected: None,
            focus: Pane::Queue,
            recent: Vec::new(),
            wrap: true,
            zoom: false,
            as_drawn: false,
            prompt: None,
            sheet: None,
            help: None,
            asked_anew: 0,
            notice: None,
            refused: None,
            found: String::new(),
            audit: AuditPage::default(),
            audit_row: 0,
            audit_set: 0,
            scroll: 0,
            doc: None,
            live: Vec::new(),
            decided: Vec::new(),
            tops: (0, 0),
            stamp: None,
            looked: HashMap::new(),
            coloured: VecDeque::new(),
            flows: VecDeque::new(),
            frame: Frame::default(),
            grace: Duration::ZERO,
            accrued: None,
            focused: None,
            before: None,
            quiet: quiet::Quiet::default(),
            denied: None,
            digits: sheet::random_digits,
        }
    }

    /// The zone in which times of day are shown; the system's unless said otherwise.
    pub fn with_zone(mut self, zone: TimeZone) -> Self {
        self.zone = zone;
        self
    }

    /// Fixed digits for snapshots. Exists in this crate's unit tests only.
    #[cfg(test)]
    pub(super) fn with_digits(mut self, digits: fn() -> Option<u16>) -> Self {
        self.digits = digits;
        self
    }

    #[cfg(test)]
    pub(super) fn set_themes(&mut self, themes: Themes) -> Themes {
        std::mem::replace(&mut self.themes, themes)
    }

    pub fn theme(&self) -> &Theme {
        self.themes.current()
    }

    /// Whether the terminal has the focus, where it reports that: the bell rings where not.
    pub const fn is_focused(&self) -> Option<bool> {
        self.focused
    }

    pub const fn selected(&self) -> Option<ProposalId> {
        self.selected
    }

    /// The proposal that a sheet is open for.
    pub fn sheet_for(&self) -> Option<ProposalId> {
        self.sheet.as_ref().map(Sheet::id)
    }

    pub(super) fn looked(&self, id: ProposalId) -> Option<&Looked> {
        self.looked.get(&id)
    }

    fn entry<'s>(&self, state: &'s BrokerState) -> Option<&'s Entry> {
        self.selected.and_then(|id| state.entry(id))
    }

    /// After every change of the core: the two selection moves that happen by themselves, and
    /// what follows from proposals that changed.
    pub fn sync(&mut self, state: &BrokerState, now: Now) {
        self.accrue(now);
        self.relist(state);
        if let Some(id) = self.denied
            && state.entry(id).is_none_or(|e| e.state.is_final())
        {
            self.denied = None;
            if self.selected == Some(id)
                && state.entry(id).is_some_and(|e| e.state == State::Denied)
                && let Some(next) = selection::most_urgent(state)
            {
                self.select(next, now);
            }
        }
        if self.entry(state).is_none() {
            self.selected = None;
            if let Some(first) = selection::first_pending(state) {
                self.select(first, now);
            }
        }
        self.close_stale(state, now);
        self.redocument(state);
        self.hear_refusal(state);
        if self.notice(state, now).is_none() {
            self.notice = None;
        }
    }

    /// Closes the sheet of a proposal that is no longer what it was. What is being typed may go on
    /// for a while: it was not meant for what stands there now. A text field stays for the same
    /// reason; see [`too_late`].
    fn close_stale(&mut self, state: &BrokerState, now: Now) {
        if let Some(sheet) = &self.sheet
            && let Err(why) = sheet.holds(state)
        {
            let id = sheet.id();
            self.sheet = None;
            self.notice = Some(closed(state, id, why));
            self.fresh_grace(now);
        }
    }

    fn redocument(&mut self, state: &BrokerState) {
        let Some(entry) = self.entry(state) else {
            self.doc = None;
            return;
        };
        let current = self
            .doc
            .as_ref()
            .is_some_and(|d| d.id == entry.proposal.id && d.has_inputs == entry.inputs.is_some());
        if !current {
            self.doc = Some(Arc::new(Document::new(
                entry.proposal.id,
                entry.proposal.code.clone(),
                entry.inputs.as_ref(),
            )));
        }
    }

    /// Selects a proposal; a change begins a fresh grace.
    pub(in crate::tui) fn select(&mut self, id: ProposalId, now: Now) {
        if self.selected == Some(id) {
            return;
        }
        self.accrue(now);
        self.selected = Some(id);
        self.grace = now.boot.saturating_add(GRACE);
        self.notice = None;
        self.sheet = None;
        self.looked.entry(id).or_default();
        if !matches!(self.focus, Pane::Queue | Pane::Code) {
            return;
        }
        self.recent.clear();
    }

    /// What a frame showed that was completely written at `now`. Nothing counts as seen that this
    /// was not told. What the frame before showed was counted when this one began
    /// ([`UiState::count`]).
    pub fn drawn(&mut self, state: &BrokerState, drawn: Drawn, now: Now) {
        self.accrue(now);
        for (key, flow) in drawn.flows {
            if self.flow(&key).is_none() {
                self.flows.push_front((key, flow));
                self.flows.truncate(FLOWS);
            }
        }
        if let Some(sheet) = &mut self.sheet {
            match &drawn.sheet {
                Some(shown) => {
                    if !sheet.appeared() {
                        sheet.hold(now.boot.saturating_add(SHEET_GRACE));
                    }
                    sheet.shown(shown, now.boot);
                }
                None => sheet.hidden(),
            }
        }
        self.tops = drawn.tops;
        // Rows may have become fewer since: what is remembered follows what was shown.
        if let (Some(id), Some(top), Some(cursor)) = (drawn.id, drawn.top, drawn.cursor)
            && let Some(looked) = self.looked.get_mut(&id)
        {
            looked.top = top;
            looked.cursor = cursor;
        }
        let id = drawn.id.filter(|id| state.entry(*id).is_some());
        let (mut ranges, mut findings) = match std::mem::take(&mut self.frame) {
            before if before.id == id => (before.ranges, before.findings),
            _ => (Standing::default(), Standing::default()),
        };
        ranges.show(drawn.ranges, now.boot);
        findings.show(drawn.findings.into_iter().map(|i| i..i + 1), now.boot);
        self.frame = Frame {
            id,
            ranges,
            findings,
            layout: drawn.layout,
            code_rows: drawn.code_rows,
            code_columns: drawn.code_columns,
            panes: drawn.panes,
            over: drawn.over,
            list_rows: drawn.list_rows,
            too_small: drawn.too_small,
        };
    }

    /// After suspend: what [`Self::stalled`] does, and no sheet. Whoever comes back looks again.
    pub fn flush_input(&mut self, now: Now) {
        self.sheet = None;
        self.stalled(now);
    }

    /// The terminal takes nothing: what stands on its glass is not known, and nothing of it counts.
    pub fn out_of_sight(&mut self, now: Now) {
        self.frame = Frame::default();
        self.flush_input(now);
    }

    /// After the program did not run, or did not come to its input: what was typed meanwhile was
    /// thrown away, and the key may still be down.
    pub fn stalled(&mut self, now: Now) {
        self.quiet.lost(now.boot);
        self.fresh_grace(now);
    }

    /// Whether time decides whether a key counts: then input is watched closely.
    pub fn watches_keys(&self, state: &BrokerState) -> bool {
        self.sheet.is_some() || self.entry(state).is_some_and(Entry::awaits_decision)
    }

    /// After whatever takes the screen or the keys from the person for a moment: a stall, a
    /// resize, a paste, the focus elsewhere. Leaves the sheet open.
    pub(super) fn fresh_grace(&mut self, now: Now) {
        self.grace = self.grace.max(now.boot.saturating_add(GRACE));
        self.before = None;
        if let Some(sheet) = &mut self.sheet {
            sheet.hold(now.boot.saturating_add(SHEET_GRACE));
        }
    }

    pub fn set_audit(&mut self, page: AuditPage) {
        if page.detail.is_some() != self.audit.detail.is_some() {
            self.scroll = 0;
        }
        self.audit = page;
        self.audit_set += 1;
        self.audit_row = self.audit_row.min(self.audit.total.saturating_sub(1));
    }

    /// The selected code, once, when its colours are not known: for the highlighter.
    pub fn wants_highlight(&mut self, state: &BrokerState) -> Option<(Digest, Arc<str>)> {
        let proposal = &self.entry(state)?.proposal;
        let digest = proposal.digest;
        if self.coloured.iter().any(|(d, _)| *d == digest) {
            return None;
        }
        self.coloured.push_front((digest, None));
        self.coloured.truncate(COLOURED);
        Some((digest, proposal.code.clone()))
    }

    pub fn set_highlight(&mut self, digest: Digest, colours: Highlights) {
        if let Some((_, slot)) = self.coloured.iter_mut().find(|(d, _)| *d == digest) {
            *slot = Some(Arc::new(colours));
        }
    }

    pub(super) fn highlights(&self, digest: Digest) -> Option<&Highlights> {
        self.coloured
            .iter()
            .find(|(d, _)| *d == digest)
            .and_then(|(_, h)| h.as_deref())
    }

    pub(super) fn flow(&self, key: &FlowKey) -> Option<&Arc<Flow>> {
        self.flows.iter().find(|(k, _)| k == key).map(|(_, f)| f)
    }

    pub(super) fn layout(&self) -> Option<&Arc<Layout>> {
        self.frame.layout.as_ref()
    }

    /// How long until the screen changes by itself: a countdown's second, the end of the sheet's
    /// grace, the moment when a row has stood long enough to count as seen.
    pub fn next_wake(&self, state: &BrokerState, now: Now) -> Option<Duration> {
        let mut wake: Option<Duration> = None;
        let mut at = |time: Duration| {
            if time > now.boot {
                let left = time - now.boot;
                wake = Some(wake.map_or(left, |w| w.min(left)));
            }
        };
        if let Some(sheet) = &self.sheet {
            at(sheet.ready_at());
            at(self.confirmable_from().unwrap_or_default());
        }
        if let Some(Notice::TooEarly(key)) = &self.notice {
            at(self.counts_from(*key));
        }
        if state.pending_count() + state.running_count() > 0 {
            at(Duration::from_secs(now.boot.as_secs().saturating_add(1)));
        }
        // What is due already counts with the next frame; a clock that fails makes nothing due.
        let due = self.due().filter(|due| *due < Duration::MAX);
        let due = due.map(|due| due.saturating_sub(now.boot));
        wake.into_iter().chain(due).min()
    }

    /// Whether anything of the selected proposal stands as marks that the terminal could draw.
    pub(super) fn hides(&self, state: &BrokerState) -> bool {
        let proposal = self.entry(state).map(|e| &e.proposal);
        let mut claims = proposal
            .into_iter()
            .flat_map(|p| p.title.iter().chain(&p.reason));
        self.doc.as_ref().is_some_and(|doc| doc.hides) || claims.any(|text| adds(text))
    }

    /// The pane that keys go to: the focused one, or the code where that is not there.
    pub(super) fn focus_now(&self, entry: Option<&Entry>) -> Pane {
        if panes(entry).contains(&self.focus) {
            self.focus
        } else {
            Pane::Code
        }
    }

    /// Whether a pane below the code has the whole body.
    pub(super) fn covers_code(&self, state: &BrokerState) -> bool {
        let focus = self.focus_now(self.entry(state));
        self.zoom && !matches!(focus, Pane::Queue | Pane::Code)
    }

    pub(super) fn key(&self, command: Command) -> String {
        self.keys.first(command)
    }
}

/// Why something that was open on a proposal is not any more: true while that is in the state
/// it came to.
/// Why this proposal cannot be decided any more. A reason that is being typed for it stays in its
/// field: without the field its letters would be commands for another one.
pub(super) fn too_late(state: &BrokerState, id: ProposalId) -> Option<String> {
    match state.entry(id) {
        Some(entry) if entry.awaits_decision() => None,
        Some(entry) => Some(words::already(entry.state)),
        None => Some(words::GONE.to_owned()),
    }
}

fn closed(state: &BrokerState, id: ProposalId, why: String) -> Notice {
    match state.entry(id) {
        Some(entry) => Notice::While(id, entry.state, why.into()),
        None => why.into(),
    }
}

/// The panes that a proposal has, in the order of Tab.
pub(super) fn panes(entry: Option<&Entry>) -> Vec<Pane> {
    let mut panes = vec![Pane::Queue, Pane::Code];
    panes.extend(lower(entry));
    panes
}

/// Those below the code.
pub(super) fn lower(entry: Option<&Entry>) -> Vec<Pane> {
    let Some(entry) = entry else {
        return Vec::new();
    };
    let mut panes = Vec::new();
    if has_output(entry) {
        panes.push(Pane::Output);
    }
    if entry.state != State::Pending {
        panes.push(Pane::Outcome);
    }
    panes.extend([Pane::Verdict, Pane::Can, Pane::Given, Pane::Says]);
    panes
}

/// Whether it runs, ran, or is about to.
pub(super) fn has_output(entry: &Entry) -> bool {
    matches!(entry.state, State::Granted | State::Running) || entry.run.is_some()
}
