//! The screen's state, grouped by lifetime: for every screen, for the queue, for the log, and for
//! overlays. At most one overlay is open at a time.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;

use crate::broker::Refused;
use crate::clock::Now;
use crate::model::{Digest, ProposalId};
use crate::secrets::Secrets;

use super::super::action::{AuditPage, ExportGoes};
use super::super::caps::TerminalCaps;
use super::super::charset::Charset;
use super::super::document::{Document, Search};
use super::super::dossier::{Dossier, Replay};
use super::super::flow::Flow;
use super::super::highlight::Highlights;
use super::super::keys::{Key, Keymap};
use super::super::program::Program;
use super::super::theme::{Role, Themes};
use super::all::AllOf;
use super::asking::Asking;
use super::compare::Compared;
use super::figures::Figure;
use super::filter::Filter;
use super::groups::{Groups, Unlike};
use super::quiet::Quiet;
use super::readers::Readers;
use super::reasons::{Denial, Reason};
use super::vigilance::Vigilance;
use super::{
    AgentsScreen, Beside, ExportField, FlowKey, Looked, Notice, Palette, Pane, Picker, Sheet,
    UiState, View, lists,
};

/// State shared by all screens.
pub(in crate::tui) struct Common {
    pub program: Program,
    pub keys: Keymap,
    pub themes: Themes,
    pub caps: TerminalCaps,
    pub zone: TimeZone,
    /// Whether the dashboard speaks in lines; nothing is drawn then.
    pub spoken: bool,
    /// The last search text.
    pub found: String,
    /// The folder that files were saved into last, as it was typed.
    pub saved_to: String,
    pub charset: Charset,
    /// What the log replaces, to mark it before.
    pub secrets: Secrets,
}

impl UiState {
    /// Sets what the terminal can be sent; the default is UTF-8.
    #[must_use]
    pub fn with_charset(mut self, charset: Charset) -> Self {
        self.common.charset = charset;
        self
    }

    /// Sets what the log replaces; the default are the formats alone.
    #[must_use]
    pub fn with_secrets(mut self, secrets: Secrets) -> Self {
        self.common.secrets = secrets;
        self
    }
}

/// The queue and the selected proposal. Kept while another screen is shown.
pub(in crate::tui) struct QueueScreen {
    pub lists: Lists,
    pub selected: Option<ProposalId>,
    pub looked: HashMap<ProposalId, Looked>,
    pub doc: Option<Arc<Document>>,
    /// What nobody has begun to search of it.
    pub search: Option<Search>,
    /// What differs from the code of its group that was read last.
    pub unlike: Option<Arc<Unlike>>,
    /// Proposals that are being denied; the selection moves on from them.
    pub denied: BTreeSet<ProposalId>,
    /// The last selected proposal whose run was shown.
    pub ran: Option<ProposalId>,
    pub focus: Pane,
    /// Lower panes by last focus, the latest first.
    pub recent: Vec<Pane>,
    /// The focused pane fills the whole body.
    pub zoom: bool,
    pub wrap: bool,
    /// Whether marked text is also drawn below its marks, as the terminal draws it.
    pub as_drawn: bool,
    /// Who else reads.
    pub readers: Readers,
}

impl Default for QueueScreen {
    fn default() -> Self {
        Self {
            lists: Lists::default(),
            selected: None,
            looked: HashMap::new(),
            doc: None,
            search: None,
            unlike: None,
            denied: BTreeSet::new(),
            ran: None,
            focus: Pane::Queue,
            recent: Vec::new(),
            zoom: false,
            wrap: true,
            as_drawn: false,
            readers: Readers::default(),
        }
    }
}

/// The rows of the queue.
#[derive(Default)]
pub(in crate::tui) struct Lists {
    /// Granted and running proposals, then pending ones; without those that are folded under another.
    pub live: Vec<ProposalId>,
    pub decided: Vec<ProposalId>,
    /// How many there are of both, shown or hidden by the filter.
    pub all: (usize, usize),
    /// How many of the live ones the filter shows, folded ones among them.
    pub shown: usize,
    pub filter: Filter,
    pub groups: Groups,
    /// How many pending proposals have a code of this shape, numbers aside; also those that the filter hides.
    pub alike: HashMap<[u8; 16], usize>,
    /// The earliest boot time at which a hidden proposal expires.
    pub hidden_until: Option<Duration>,
    /// How many pending proposals are flagged.
    pub flagged: usize,
    pub order: lists::Order,
    /// First rows shown of the two lists.
    pub tops: (usize, usize),
    pub stamp: Option<lists::Stamp>,
}

/// Screen 2.
#[derive(Default)]
pub(in crate::tui) struct LogScreen {
    /// The question that selects the rows; empty for all.
    pub query: String,
    pub page: AuditPage,
    /// How many proposals there are besides the question.
    pub all: usize,
    /// The index of the selected proposal; 0 is the newest.
    pub row: usize,
    /// How often `page` was set; 0 until the first rows arrive.
    pub set: u64,
    /// First row shown of an open page or of statistics.
    pub top: usize,
    /// The row of an open page that a search found last.
    pub found: Option<usize>,
    pub beside: Beside,
    /// What an open page shows.
    pub shows: Shows,
    /// The proposal whose page was asked for and is not there yet.
    pub opening: Option<ProposalId>,
}

/// What screen 2 shows of one proposal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::tui) enum Shows {
    #[default]
    Page,
    /// The records' fields, as they were written.
    Records,
    /// What the run printed, in its timing.
    Replay(Box<Replay>),
}

impl Shows {
    /// What tells one state from another.
    pub fn stand(&self) -> (usize, Option<(usize, usize, bool, bool)>) {
        match self {
            Self::Page => (0, None),
            Self::Records => (1, None),
            Self::Replay(replay) => (2, Some(replay.stand())),
        }
    }
}

impl LogScreen {
    /// Takes in what was read. The page of a proposal that nobody waits for any more is left out.
    pub fn take(&mut self, mut page: AuditPage) {
        let open = self
            .page
            .dossier
            .as_ref()
            .filter(|_| self.page.detail.is_some());
        let open = open.map(|dossier| dossier.id);
        let wanted = page.asked.is_none() || page.asked == self.opening || page.asked == open;
        if !wanted {
            return;
        }
        if page.asked.is_some() {
            // It comes without rows, even if it could not be read.
            let rows = std::mem::take(&mut self.page.rows);
            (page.rows, page.offset, page.total) = (rows, self.page.offset, self.page.total);
            page.reading = self.page.reading;
        }
        if page.asked.is_some() || page.detail.is_some() {
            self.opening = None;
        }
        self.set(page);
    }

    pub fn set(&mut self, page: AuditPage) {
        if page.detail.is_some() != self.page.detail.is_some() {
            self.top = 0;
            self.found = None;
            self.shows = Shows::Page;
        }
        if self.query.is_empty() {
            self.all = page.total;
        }
        let selected = self.id();
        self.page = page;
        self.set += 1;
        // The cursor stays on its proposal while newer ones come.
        let moved =
            selected.and_then(|id| self.page.rows.iter().position(|row| row.id == Some(id)));
        self.row = moved.map_or(self.row, |at| self.page.offset + at);
        self.row = self.row.min(self.page.total.saturating_sub(1));
    }

    /// How many proposals the question selects, once that is known.
    pub fn total(&self) -> Option<usize> {
        (self.set > 0 && self.page.reading.is_none()).then_some(self.page.total)
    }

    /// The page that is open, if it is not left for the records.
    pub fn dossier(&self) -> Option<&Arc<Dossier>> {
        let dossier = self.page.dossier.as_ref();
        dossier.filter(|_| self.page.detail.is_some() && self.shows == Shows::Page)
    }

    /// Turns to the records, or back.
    pub fn turn(&mut self) {
        if self.page.dossier.is_some() {
            self.top = 0;
            self.found = None;
            self.shows = match self.shows {
                Shows::Page => Shows::Records,
                Shows::Records | Shows::Replay(_) => Shows::Page,
            };
        }
    }

    pub fn replay(&self) -> Option<&Replay> {
        match &self.shows {
            Shows::Replay(replay) if self.page.detail.is_some() => Some(replay),
            _ => None,
        }
    }

    pub fn replay_mut(&mut self) -> Option<&mut Replay> {
        match &mut self.shows {
            Shows::Replay(replay) if self.page.detail.is_some() => Some(replay),
            _ => None,
        }
    }

    /// The fields of the selected row's record, if it belongs to no proposal.
    pub fn own(&self) -> Option<&Vec<String>> {
        let row = self
            .page
            .rows
            .get(self.row.checked_sub(self.page.offset)?)?;
        Some(&row.own).filter(|own| !own.is_empty())
    }

    /// The proposal of the selected row.
    pub fn id(&self) -> Option<ProposalId> {
        let row = self.row.checked_sub(self.page.offset)?;
        self.page.rows.get(row).and_then(|row| row.id)
    }
}

/// The current screen with its own state. There is one of it, so its size does not matter.
#[derive(Default)]
#[allow(clippy::large_enum_variant)]
pub(in crate::tui) enum OnScreen {
    #[default]
    Queue,
    Audit(LogScreen),
    Agents(AgentsScreen),
}

impl OnScreen {
    pub const fn view(&self) -> View {
        match self {
            Self::Queue => View::Queue,
            Self::Audit(_) => View::Audit,
            Self::Agents(_) => View::Agents,
        }
    }

    pub const fn log(&self) -> Option<&LogScreen> {
        match self {
            Self::Audit(log) => Some(log),
            Self::Queue | Self::Agents(_) => None,
        }
    }
}

/// The overlay that covers the screen and receives its keys.
#[derive(Default)]
pub(in crate::tui) enum Over {
    #[default]
    Nothing,
    Help {
        /// First row shown.
        top: usize,
    },
    Sheet(Sheet),
    Palette(Palette),
    Picker(Picker),
    Diff(Compared),
    Prompt(Prompt),
}

/// A text field or a question in the footer.
#[derive(Debug)]
pub(in crate::tui) enum Prompt {
    Deny {
        id: ProposalId,
        reason: Reason,
    },
    /// Whether more than one proposal is to be denied.
    AskAll(AllOf),
    /// The reason for all of them, or the agent is paused.
    DenyAll {
        all: AllOf,
        reason: Reason,
    },
    Search {
        input: tui_input::Input,
    },
    /// Which file of this run to open outside.
    Open {
        of: ProposalId,
        input: tui_input::Input,
    },
    /// The folder to save this run's files into.
    Save {
        of: ProposalId,
        input: tui_input::Input,
    },
    /// A question about the log.
    Query(Asking),
    /// The folder for what the question selects.
    Export(ExportField),
    /// Narrows the queue as it is typed.
    Filter {
        input: tui_input::Input,
        /// The words that `Esc` restores.
        before: String,
    },
    Quit,
}

impl Prompt {
    /// The text field; a question has none.
    pub const fn input(&self) -> Option<&tui_input::Input> {
        match self {
            Self::Deny { reason, .. } | Self::DenyAll { reason, .. } => Some(&reason.input),
            Self::Query(Asking { input, .. })
            | Self::Export(ExportField { input, .. })
            | Self::Search { input }
            | Self::Open { input, .. }
            | Self::Save { input, .. }
            | Self::Filter { input, .. } => Some(input),
            Self::Quit | Self::AskAll(_) => None,
        }
    }

    pub const fn input_mut(&mut self) -> Option<&mut tui_input::Input> {
        match self {
            Self::Deny { reason, .. } | Self::DenyAll { reason, .. } => Some(&mut reason.input),
            Self::Query(Asking { input, .. })
            | Self::Export(ExportField { input, .. })
            | Self::Search { input }
            | Self::Open { input, .. }
            | Self::Save { input, .. }
            | Self::Filter { input, .. } => Some(input),
            Self::Quit | Self::AskAll(_) => None,
        }
    }

    /// The field of a reason.
    pub const fn reason_mut(&mut self) -> Option<&mut Reason> {
        match self {
            Self::Deny { reason, .. } | Self::DenyAll { reason, .. } => Some(reason),
            Self::Query(_)
            | Self::Search { .. }
            | Self::Open { .. }
            | Self::Save { .. }
            | Self::Export(_)
            | Self::Filter { .. }
            | Self::Quit
            | Self::AskAll(_) => None,
        }
    }
}

impl Over {
    pub const fn sheet(&self) -> Option<&Sheet> {
        match self {
            Self::Sheet(sheet) => Some(sheet),
            Self::Nothing
            | Self::Help { .. }
            | Self::Palette(_)
            | Self::Picker(_)
            | Self::Diff(_)
            | Self::Prompt(_) => None,
        }
    }

    pub const fn sheet_mut(&mut self) -> Option<&mut Sheet> {
        match self {
            Self::Sheet(sheet) => Some(sheet),
            Self::Nothing
            | Self::Help { .. }
            | Self::Palette(_)
            | Self::Picker(_)
            | Self::Diff(_)
            | Self::Prompt(_) => None,
        }
    }

    pub const fn prompt(&self) -> Option<&Prompt> {
        match self {
            Self::Prompt(prompt) => Some(prompt),
            Self::Nothing
            | Self::Help { .. }
            | Self::Sheet(_)
            | Self::Palette(_)
            | Self::Picker(_)
            | Self::Diff(_) => None,
        }
    }

    pub fn close(&mut self) {
        *self = Self::Nothing;
    }

    /// Closes what shows one proposal, a sheet or a diff; leaves any other overlay.
    pub fn close_sheet(&mut self) {
        if matches!(self, Self::Sheet(_) | Self::Diff(_)) {
            self.close();
        }
    }
}

/// The footer's messages beside the keys.
#[derive(Default)]
pub(in crate::tui) struct Remarks {
    pub notice: Option<Notice>,
    /// How far the export under way is.
    pub exporting: Option<ExportGoes>,
    /// A drill that ended and is to be told of.
    pub drilled: Option<ProposalId>,
    /// The refusal that was shown last.
    pub refused: Option<(ProposalId, Refused)>,
    /// How the vote on the selected proposal went last.
    pub vote: Option<(ProposalId, Option<(String, Role)>)>,
}

/// Whether a person is looking, and whether a key counts.
#[derive(Default)]
pub(in crate::tui) struct Attention {
    /// Boot time until which nothing counts towards a grant.
    pub grace: Duration,
    /// Boot time up to which viewing time was counted.
    pub accrued: Option<Duration>,
    /// `None` until the terminal reports its focus.
    pub focused: Option<bool>,
    /// When the terminal lost its focus.
    pub left_at: Option<Now>,
    /// The first key of a two-key chord.
    pub before: Option<Key>,
    pub quiet: Quiet,
    pub denial: Option<Denial>,
    pub vigilance: Vigilance,
    pub shared_uid: SharedUid,
}

/// Whether a sheet said that agents share the uid of this dashboard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::tui) enum SharedUid {
    #[default]
    Untold,
    Told,
}

/// A cache of expensive results for the next frame.
#[derive(Default)]
pub(in crate::tui) struct MadeBefore {
    pub coloured: VecDeque<(Digest, Option<Arc<Highlights>>)>,
    pub flows: VecDeque<(FlowKey, Arc<Flow>)>,
    pub figures: VecDeque<(Digest, Figure)>,
}
