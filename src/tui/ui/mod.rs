//! The screen's own state: selection, scroll positions, what was seen, what is open. Keys change it
//! in `events`; each frame reports what it drew through [`UiState::drawn`].

mod agents;
mod all;
mod asking;
mod compare;
mod decide;
mod edit;
mod events;
mod exporting;
mod facets;
mod figures;
mod files;
mod filter;
mod groups;
mod heard;
mod idle;
mod kept;
mod lists;
mod looked;
mod memory;
mod mouse;
mod moving;
mod notice;
mod palette;
mod pane;
mod pausing;
mod picker;
mod points;
mod quiet;
mod readers;
mod reasons;
mod replaying;
mod reviewing;
mod searching;
mod sheet;
mod standing;
mod states;
mod sums;
mod vigilance;
pub(super) mod votes;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use ratatui::layout::Rect;

use crate::broker::{BrokerState, Entry, selection};
use crate::clock::Now;
use crate::model::{Digest, ProposalId};
use crate::secrets::Secrets;

use super::as_drawn::adds;
use super::caps::TerminalCaps;
use super::charset::{self, Charset};
use super::document::{Document, Layout, Search};
use super::highlight::Highlights;
use super::keys::Keymap;
use super::program::Program;
use super::screen::Drawn;
use super::theme::{Theme, Themes};
use super::words;

pub(super) use agents::{AgentRow, AgentsScreen, Part, agent_rows};
pub(super) use all::{AllOf, of_namesakes};
pub(super) use asking::Asking;
pub(super) use compare::{Compared, Was};
pub(super) use decide::REVIEW_QUITS;
pub(super) use exporting::ExportField;
pub(super) use facets::FacetList;
pub(super) use groups::{Differs, Unlike};
use heard::Heard;
pub(super) use idle::Stand;
pub use kept::FlowKey;
pub(super) use looked::Looked;
use memory::Memory;
use mouse::Click;
pub(super) use mouse::Place;
pub(super) use notice::Notice;
pub(super) use palette::Palette;
pub use pane::Pane;
pub(super) use pane::has_output;
use pane::lower;
pub(super) use pausing::is_paused;
pub(super) use picker::Picker;
pub use quiet::{HELD, QUIET, Span};
pub(super) use searching::Searched;
#[cfg(test)]
pub(in crate::tui) use sheet::random_digits;
pub use sheet::{Challenge, Detail, Sheet};
pub use standing::DWELL;
use standing::Standing;
use states::{Attention, Common, MadeBefore, QueueScreen, Remarks};
pub(super) use states::{LogScreen, OnScreen, Over, Prompt, Shows};
pub(super) use sums::Beside;
pub use vigilance::Hurry;
pub(super) use vigilance::{STREAK, Tally};

/// Grace period after the selected proposal changes: no key decides, and no row counts as seen.
pub const GRACE: Duration = Duration::from_millis(500);
/// Grace period after the sheet appears.
pub const SHEET_GRACE: Duration = Duration::from_millis(300);

/// The number of snippets whose colours are cached.
const COLOURED: usize = 32;

/// The three screens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum View {
    Queue,
    Audit,
    Agents,
}

/// What the last frame showed; replaced by the next frame.
#[derive(Debug, Default)]
struct Frame {
    /// The proposal whose code is on the screen.
    id: Option<ProposalId>,
    /// The digest of that code.
    code: Option<Digest>,
    /// Its document's bytes on the screen; `findings` holds its findings there.
    ranges: Standing,
    findings: Standing,
    /// Whose findings they are.
    findings_of: Option<(ProposalId, Digest)>,
    layout: Option<Arc<Layout>>,
    code_rows: usize,
    code_columns: usize,
    panes: BTreeMap<Pane, (usize, usize)>,
    over: Option<(usize, usize)>,
    /// The rows on which its parts begin.
    starts: Vec<usize>,
    list_rows: usize,
    output_goes_on: bool,
    places: Vec<(Rect, Place)>,
    too_small: bool,
}

/// The screen's own state; see the module documentation.
pub struct UiState {
    pub(super) common: Common,
    pub(super) queue: QueueScreen,
    place: OnScreen,
    over: Over,
    remarks: Remarks,
    attention: Attention,
    kept: MadeBefore,
    frame: Frame,
    memory: Memory,
    /// How often a person asked for a complete redraw.
    pub(super) asked_anew: u64,
    clicked: Option<Click>,
    pub(super) heard: Heard,
    digits: fn() -> Option<u16>,
}

impl std::fmt::Debug for UiState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UiState")
            .field("view", &self.place.view())
            .field("selected", &self.queue.selected)
            .field("focus", &self.queue.focus)
            .finish_non_exhaustive()
    }
}

impl UiState {
    pub fn new(keys: Keymap, themes: Themes, caps: TerminalCaps) -> Self {
        Self {
            common: Common {
                program: Program::Dashboard,
                keys,
                themes,
                caps,
                zone: TimeZone::system(),
                spoken: false,
                found: String::new(),
                saved_to: String::new(),
                charset: Charset::Utf8,
                secrets: Secrets::default(),
            },
            queue: QueueScreen::default(),
            place: OnScreen::Queue,
            over: Over::Nothing,
            remarks: Remarks::default(),
            attention: Attention::default(),
            kept: MadeBefore::default(),
            frame: Frame::default(),
            memory: Memory::default(),
            asked_anew: 0,
            clicked: None,
            heard: Heard::default(),
            digits: sheet::random_digits,
        }
    }

    /// Sets the time zone for times of day; the default is the system's.
    #[must_use]
    pub fn with_zone(mut self, zone: TimeZone) -> Self {
        self.common.zone = zone;
        self
    }

    /// Fixed digits for snapshots, in unit tests only.
    #[cfg(test)]
    pub(super) fn with_digits(mut self, digits: fn() -> Option<u16>) -> Self {
        self.digits = digits;
        self
    }

    #[cfg(test)]
    pub(super) fn set_themes(&mut self, themes: Themes) -> Themes {
        std::mem::replace(&mut self.common.themes, themes)
    }

    pub fn theme(&self) -> &Theme {
        self.common.themes.current()
    }

    /// Whether the terminal has the focus, if it reports it. The bell rings unless it has.
    pub const fn is_focused(&self) -> Option<bool> {
        self.attention.focused
    }

    pub const fn selected(&self) -> Option<ProposalId> {
        self.queue.selected
    }

    /// The proposal whose sheet is open.
    pub fn sheet_for(&self) -> Option<ProposalId> {
        self.sheet().map(Sheet::id)
    }

    pub(super) const fn view(&self) -> View {
        self.place.view()
    }

    pub(super) const fn place(&self) -> &OnScreen {
        &self.place
    }

    pub(super) const fn over(&self) -> &Over {
        &self.over
    }

    pub(super) const fn sheet(&self) -> Option<&Sheet> {
        self.over.sheet()
    }

    pub(super) const fn prompt(&self) -> Option<&Prompt> {
        self.over.prompt()
    }

    pub(super) fn looked(&self, id: ProposalId) -> Option<&Looked> {
        self.queue.looked.get(&id)
    }

    fn entry<'s>(&self, state: &'s BrokerState) -> Option<&'s Entry> {
        self.queue.selected.and_then(|id| state.entry(id))
    }

    /// Call after every change of the core's state: makes the two automatic selection moves and
    /// updates everything that depends on changed proposals.
    pub fn sync(&mut self, state: &BrokerState, now: Now) {
        charset::scope(self.common.charset, || self.follow(state, now));
    }

    fn follow(&mut self, state: &BrokerState, now: Now) {
        self.accrue(now);
        self.relist(state);
        self.move_on(state, now);
        let open = |id: &ProposalId| state.entry(*id).is_some_and(|e| !e.state().is_final());
        self.queue.denied.retain(open);
        if self.entry(state).is_none() {
            self.queue.selected = None;
            if let Some(first) = selection::first_pending(state) {
                self.select(first, now);
                self.unhide(state, first);
            }
        }
        self.show_new_run(state);
        self.close_stale(state, now);
        self.redocument(state, now);
        self.keep_agent(state, now);
        self.hear_refusal(state);
        self.hear_vote(state, now);
        self.count_votes(state);
        self.tell_drill(state);
        if self.notice(state, now).is_none() {
            self.remarks.notice = None;
        }
    }

    /// A run that just began shows its output, whatever pane was open before.
    fn show_new_run(&mut self, state: &BrokerState) {
        let runs = self.entry(state).filter(|entry| has_output(entry));
        let Some(id) = runs.map(|entry| entry.proposal.id) else {
            return;
        };
        if self.queue.ran == Some(id) {
            return;
        }
        self.queue.ran = Some(id);
        self.queue.recent.clear();
        self.queue.zoom = false;
        if !matches!(self.queue.focus, Pane::Queue | Pane::Code) {
            self.queue.focus = Pane::Code;
        }
    }

    /// Closes the sheet of a proposal that changed. A person may keep typing for a moment, so the
    /// next input must not act on the proposal shown now. A text field stays open for the same
    /// reason; see [`too_late`].
    fn close_stale(&mut self, state: &BrokerState, now: Now) {
        if let Some(sheet) = self.sheet()
            && let Err(why) = sheet.holds(state)
        {
            let id = sheet.id();
            self.over.close();
            self.remarks.notice = Some(closed(state, id, why));
            self.fresh_grace(now);
        }
    }

    fn redocument(&mut self, state: &BrokerState, now: Now) {
        let Some(entry) = self.entry(state) else {
            self.queue.doc = None;
            self.queue.search = None;
            self.queue.unlike = None;
            return;
        };
        let (id, code) = (entry.proposal.id, entry.code().digest());
        let before = self.queue.doc.as_ref().filter(|d| d.id == id);
        let same = before.is_some_and(|d| d.code == code);
        let edited = before.is_some() && !same;
        if same && before.is_some_and(|d| d.has_inputs == entry.inputs().is_some()) {
            return;
        }
        let doc = Arc::new(Document::new(id, entry.code(), entry.inputs()));
        let search = Search::new(&doc, entry.proposal.claims(), &self.common.secrets);
        self.queue.search = if search.is_short() {
            search.run();
            None
        } else {
            Some(search)
        };
        self.queue.doc = Some(doc);
        self.compare_with_read(entry);
        if edited {
            self.begin_anew(id, code, now);
        }
    }

    /// Selects a proposal; a change starts a new grace period.
    pub(in crate::tui) fn select(&mut self, id: ProposalId, now: Now) {
        if self.queue.selected == Some(id) {
            return;
        }
        self.accrue(now);
        self.note_read();
        self.queue.selected = Some(id);
        self.attention.grace = now.boot.saturating_add(GRACE);
        self.remarks.notice = None;
        self.over.close_sheet();
        self.queue.looked.entry(id).or_default();
        if !matches!(self.queue.focus, Pane::Queue | Pane::Code) {
            return;
        }
        self.queue.recent.clear();
    }

    /// Records what a frame, completely written at `now`, showed. Only what is reported here can
    /// count as seen. [`UiState::count`] counted the previous frame when this frame began.
    pub fn drawn(&mut self, state: &BrokerState, drawn: Drawn, now: Now) {
        self.accrue(now);
        // A frame of code that was edited since shows nothing that counts.
        let code = drawn.layout.as_ref().map(|layout| layout.doc.code);
        let has = |id: ProposalId, code: Option<Digest>| {
            let entry = state.entry(id);
            entry.is_some_and(|entry| Some(entry.code().digest()) == code)
        };
        let id = drawn.id.filter(|id| has(*id, code));
        for (key, flow) in drawn.flows {
            let stale = drawn.id.is_some() && id.is_none();
            if !stale {
                self.keep_flow(key, flow);
            }
        }
        if let Some(sheet) = self.over.sheet_mut() {
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
        self.queue.lists.tops = drawn.tops;
        if let OnScreen::Agents(screen) = &mut self.place {
            screen.first = drawn.first_agent;
        }
        // The number of rows may have shrunk since: store the position that was shown, unless a key moved it while
        // the frame was on its way.
        if let (Some(id), Some(top), Some(cursor)) = (id, drawn.top, drawn.cursor)
            && let Some(looked) = self.queue.looked.get_mut(&id)
            && drawn
                .wanted
                .is_none_or(|wanted| wanted == (looked.top, looked.cursor))
        {
            looked.top = top;
            looked.cursor = cursor;
        }
        let code = id.and(code);
        self.stay_at(drawn.output_top);
        let current = |(id, code): &(ProposalId, Digest)| has(*id, Some(*code));
        let findings_of = drawn.findings_of.filter(current).or(id.zip(code));
        let before = std::mem::take(&mut self.frame);
        let mut ranges = match (before.id, before.code) == (id, code) {
            true => before.ranges,
            false => Standing::default(),
        };
        let mut findings = match before.findings_of == findings_of {
            true => before.findings,
            false => Standing::default(),
        };
        ranges.show(drawn.ranges, now.boot);
        findings.show(drawn.findings.into_iter().map(|i| i..i + 1), now.boot);
        self.frame = Frame {
            id,
            code,
            ranges,
            findings,
            findings_of,
            layout: drawn.layout,
            code_rows: drawn.code_rows,
            code_columns: drawn.code_columns,
            panes: drawn.panes,
            over: drawn.over,
            starts: drawn.starts,
            list_rows: drawn.list_rows,
            output_goes_on: drawn.output_goes_on,
            places: drawn.places,
            too_small: drawn.too_small,
        };
        self.note_opened();
    }

    /// Call after suspend: does what [`Self::stalled`] does, and closes the sheet, because the
    /// reviewer must look again.
    pub fn flush_input(&mut self, now: Now) {
        self.over.close_sheet();
        self.stalled(now);
    }

    /// Call when the terminal accepts no output: its screen is unknown, so nothing on it counts as
    /// seen.
    pub fn out_of_sight(&mut self, now: Now) {
        self.frame = Frame::default();
        self.flush_input(now);
    }

    /// Call after the program was stopped or could not read its input: keys typed meanwhile were
    /// discarded, and a key may still be down.
    pub fn stalled(&mut self, now: Now) {
        self.attention.quiet.lost(now.boot);
        self.fresh_grace(now);
    }

    /// Whether the timing of a key decides whether it counts; input is then polled closely.
    pub fn watches_keys(&self, state: &BrokerState) -> bool {
        self.sheet().is_some()
            || self.entry(state).is_some_and(Entry::awaits_decision)
            || self.attention.quiet.awaits_pause()
    }

    /// Call after an interruption: a stall, a resize, a paste, or a lost focus. Leaves the sheet
    /// open.
    pub(super) fn fresh_grace(&mut self, now: Now) {
        self.attention.grace = self.attention.grace.max(now.boot.saturating_add(GRACE));
        self.attention.before = None;
        if let Some(sheet) = self.over.sheet_mut() {
            sheet.hold(now.boot.saturating_add(SHEET_GRACE));
        }
    }

    /// The search for secrets that the selected proposal needs, once.
    pub fn wants_search(&mut self) -> Option<Search> {
        self.queue.search.take()
    }

    /// The selected code for the highlighter, once, if its colours are unknown.
    pub fn wants_highlight(&mut self, state: &BrokerState) -> Option<(Digest, Arc<str>)> {
        let code = self.entry(state)?.code();
        let digest = code.digest();
        if self.kept.coloured.iter().any(|(d, _)| *d == digest) {
            return None;
        }
        self.kept.coloured.push_front((digest, None));
        self.kept.coloured.truncate(COLOURED);
        Some((digest, code.text().clone()))
    }

    pub fn set_highlight(&mut self, digest: Digest, colours: Highlights) {
        if let Some((_, slot)) = self.kept.coloured.iter_mut().find(|(d, _)| *d == digest) {
            *slot = Some(Arc::new(colours));
        }
    }

    pub(super) fn highlights(&self, digest: Digest) -> Option<&Highlights> {
        self.kept
            .coloured
            .iter()
            .find(|(d, _)| *d == digest)
            .and_then(|(_, h)| h.as_deref())
    }

    pub(super) fn layout(&self) -> Option<&Arc<Layout>> {
        self.frame.layout.as_ref()
    }

    /// Time until the screen changes by itself: the countdown's next second, the end of the sheet's
    /// grace period, or the moment when a row counts as seen.
    pub fn next_wake(&self, state: &BrokerState, now: Now) -> Option<Duration> {
        let mut wake: Option<Duration> = None;
        let mut at = |time: Duration| {
            if let Some(left) = time.checked_sub(now.boot)
                && !left.is_zero()
            {
                wake = Some(wake.map_or(left, |w| w.min(left)));
            }
        };
        if let Some(replay) = self.place.log().and_then(LogScreen::replay) {
            let due = replay.next_wake(now.boot);
            at(due.map_or(Duration::ZERO, |due| now.boot.saturating_add(due)));
        }
        if let Some(sheet) = self.sheet() {
            at(sheet.ready_at());
            at(self.confirmable_from().unwrap_or_default());
        }
        if self.obstacle(state, now).is_none() {
            at(self.askable_from().unwrap_or_default());
        }
        if let Some(Notice::TooEarly(key)) = &self.remarks.notice {
            at(self.counts_from(*key));
        }
        if state.pending_count() + state.running_count() > 0 {
            at(Duration::from_secs(now.boot.as_secs().saturating_add(1)));
        }
        // Ranges already due count with the next frame; a failed clock makes nothing due.
        let due = self.due().filter(|due| *due < Duration::MAX);
        let due = due.map(|due| due.saturating_sub(now.boot));
        wake.into_iter().chain(due).min()
    }

    /// Whether the selected proposal has marks for characters that the terminal could draw.
    pub(super) fn hides(&self, state: &BrokerState) -> bool {
        let proposal = self.entry(state).map(|e| &e.proposal);
        let mut claims = proposal
            .into_iter()
            .flat_map(|p| p.title.iter().chain(&p.reason));
        self.queue.doc.as_ref().is_some_and(|doc| doc.hides) || claims.any(|text| adds(text))
    }

    /// The pane that receives keys: the focused one, or the code if the focused one is absent.
    pub(super) fn focus_now(&self, entry: Option<&Entry>) -> Pane {
        let focus = self.queue.focus;
        let is_there = match focus {
            Pane::Queue | Pane::Code => true,
            Pane::Past => self.has_past(entry),
            _ => lower(entry).contains(&focus),
        };
        if is_there { focus } else { Pane::Code }
    }
}

/// Why this proposal can no longer be decided. A reason being typed for it stays in its field:
/// without the field, its letters would act as commands on another proposal.
pub(super) fn too_late(state: &BrokerState, id: ProposalId) -> Option<String> {
    match state.entry(id) {
        Some(entry) if entry.awaits_decision() => None,
        Some(entry) => Some(words::already(entry.state())),
        None => Some(words::GONE.to_owned()),
    }
}

/// A notice why something open on a proposal was closed; true while the proposal stays in its new
/// state.
fn closed(state: &BrokerState, id: ProposalId, why: String) -> Notice {
    match state.entry(id) {
        Some(entry) => Notice::While(id, entry.state(), why.into()),
        None => why.into(),
    }
}
