//! The dashboard in plain lines, for screen readers and Braille displays: a second front end on the same
//! [`UiState`]. It only appends lines, at the request of a key or after a pause.
//!
//! What it reads out it reports as drawn ([`Drawn`]), row after row, so every rule of the screen holds by the same code:
//! what must be seen, the grace, the quiet before a deciding key, digits, expiry. The sheet's last row is its question;
//! it is read out once the rest was heard and its key would count, so no key typed before it can grant.

mod answer;
mod field;
mod lines;
mod news;
mod page;
mod reading;
mod run;
#[cfg(test)]
mod tests;
mod turn;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use crate::broker::{BrokerState, Entry};
use crate::clock::Now;
use crate::model::{AgentId, Digest, LogEvent, ProposalId};

use super::action::Header;
use super::charset;
use super::document::Layout;
use super::flow::{Flow, FlowRow};
use super::keys::Command;
use super::screen::{Drawn, Screen, SheetShown, WIDE, whole_findings};
use super::ui::{LogScreen, Notice, Pane, Stand, UiState};
use super::words;

use field::Field;
use lines::{FEWEST, Lines};
pub(super) use lines::{Said as SaidRow, exact, plain};
use news::News;
use page::{Page, ROWS, ROWS_OVER, What};
use run::Telling;
use turn::{Place, Turn};

/// News wait until nobody typed or was read to for this long, and longer in the middle of a text.
const PAUSE: Duration = Duration::from_secs(2);
const LONG_PAUSE: Duration = Duration::from_secs(15);
/// How often to look whether the pause is long enough.
const LOOK: Duration = Duration::from_millis(500);
/// Introductions that are remembered.
const HEARD: usize = 64;
/// The selected proposal's last minute is told, and its last seconds.
const LAST: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(10)];
/// Nothing interrupts a person who typed less than this ago.
const TYPING: Duration = Duration::from_secs(1);

/// What was said last of the state.
#[derive(Debug, Default)]
struct Said {
    presses: u64,
    place: Option<Place>,
    selected: Option<ProposalId>,
    notice: Option<Notice>,
    /// When a key that came too early was answered last.
    too_early: Option<Duration>,
    alarms: Vec<String>,
    /// The proposal whose introduction came last.
    introduced: Option<What>,
    /// What it said, and whether it was heard to its end.
    introduction: Vec<SaidRow>,
    introduction_heard: bool,
    /// The introductions that were heard to their ends, the latest last.
    heard: Vec<(What, Vec<SaidRow>)>,
    /// How many of the warnings of its end the selected proposal had.
    warned: usize,
    log_row: usize,
    agent: Option<AgentId>,
    /// Offset of the row of code that was read out last.
    cursor: Option<usize>,
    redraws: u64,
    closing: bool,
    /// Whether a reason was being typed, or its denial has not moved the selection yet.
    denying: bool,
    /// What a field or a question covers.
    behind: Option<Page>,
    /// The selected proposal's code.
    code: Option<(ProposalId, Digest)>,
    /// The sheet's question, and whether it was asked for the second time.
    question: Option<(String, bool)>,
    /// The chosen command of the palette, and when to tell the next.
    chosen: Option<Command>,
    /// The letters that were explained last.
    explained: String,
    /// The filter's words, and when to tell those that are being typed.
    filter: String,
    filter_due: Option<Duration>,
    chosen_due: Option<Duration>,
}

impl Said {
    /// Takes in that the introduction was heard to its end.
    fn keep_introduction(&mut self) {
        self.introduction_heard = true;
        let Some(what) = self.introduced else { return };
        self.heard.retain(|(of, _)| *of != what);
        self.heard.push((what, self.introduction.clone()));
        let many = self.heard.len().saturating_sub(HEARD);
        self.heard.drain(..many);
    }

    /// What was heard before this code, to its end.
    fn heard_of(&self, what: What) -> Option<&[SaidRow]> {
        let mut all = self.heard.iter();
        all.find(|(of, _)| *of == what).map(|(_, rows)| &rows[..])
    }
}

/// The front end's state.
#[derive(Debug, Default)]
pub struct Plain {
    said: Said,
    page: Option<Page>,
    idle: Option<Idle>,
    /// The rows of the page, unless it is code.
    rows: Vec<SaidRow>,
    layout: Option<Arc<Layout>>,
    news: News,
    run: Telling,
    field: Field,
    greeted: bool,
    interrupted: bool,
    /// Whether the terminal was said to be too narrow.
    narrow: bool,
    /// The column of the cursor.
    at: usize,
    /// When something was said last.
    spoke: Duration,
}

/// The answer to the last key, if it went no further.
#[derive(Debug)]
struct Idle {
    said: String,
    at: Duration,
    /// What keys had changed until then.
    stand: Stand,
    command: Option<Command>,
}

/// How many warnings are due with so much time left.
fn warnings(left: Duration) -> usize {
    LAST.iter().filter(|from| left <= **from).count()
}

impl Plain {
    /// Takes in a record that is about to be written.
    pub fn hear(&mut self, event: &LogEvent) {
        self.news.hear(event);
    }

    /// Call after something else was written to the terminal: what was read out may be out of reach.
    pub fn interrupted(&mut self) {
        self.page = None;
        self.at = 0;
        self.said.place = None;
        self.interrupted = true;
    }

    /// Ends the line that was begun, so that other lines can follow.
    pub fn end_line(&mut self) -> String {
        let mut out = Lines::new(0, self.at);
        out.end();
        let (text, at) = out.into_text();
        self.at = at;
        text
    }

    /// What is to be appended now, and what it shows.
    pub fn speak(
        &mut self,
        state: &BrokerState,
        ui: &UiState,
        facts: &Header,
        columns: u16,
        now: Now,
    ) -> (String, Drawn) {
        charset::scope(ui.common.charset, || {
            self.say(state, ui, facts, columns, now)
        })
    }

    fn say(
        &mut self,
        state: &BrokerState,
        ui: &UiState,
        facts: &Header,
        columns: u16,
        now: Now,
    ) -> (String, Drawn) {
        let screen = Screen::new(state, ui, facts, now);
        let mut out = Lines::new(columns, self.at);
        if (1..FEWEST).contains(&columns) {
            let said = ui.common.program.too_narrow(columns, FEWEST);
            return self.too_narrow(&said, out);
        }
        if std::mem::take(&mut self.narrow) {
            self.interrupted();
        }
        self.lay_out(ui);
        if std::mem::take(&mut self.interrupted) {
            out.line(words::plain::WENT_ON);
        }
        self.greet(&screen, ui, &mut out);
        let turn = Turn {
            screen: &screen,
            state,
            ui,
            now,
            pressed: ui.heard.presses != self.said.presses,
        };
        self.said.presses = ui.heard.presses;
        let mark = out.mark();
        self.answer(&turn, &mut out);
        self.say_once(&turn, mark, &mut out);
        self.by_itself(&turn, &mut out);
        self.field.echo(ui, &mut out, now.boot);
        if !out.is_empty() {
            self.spoke = now.boot;
        }
        if let Some(page) = &mut self.page {
            if page.opened(now.boot) {
                self.said.keep_introduction();
            }
            page.reveal(now.boot);
        }
        let drawn = self.drawn(&turn);
        self.said.cursor = drawn.cursor.or_else(|| turn.looked().map(|l| l.cursor));
        let (text, at) = out.into_text();
        self.at = at;
        (text, drawn)
    }

    /// A row has no room for what begins it: nothing is read out, so nothing can be granted.
    fn too_narrow(&mut self, said: &str, mut out: Lines) -> (String, Drawn) {
        if !std::mem::replace(&mut self.narrow, true) {
            out.line(said);
        }
        self.page = None;
        let (text, at) = out.into_text();
        self.at = at;
        let drawn = Drawn {
            too_small: true,
            ..Drawn::default()
        };
        (text, drawn)
    }

    /// Time until [`Self::speak`] has something to do although nothing happens.
    pub fn next_wake(&self, now: Now) -> Option<Duration> {
        let news = (!self.news.is_empty()).then(|| now.boot.saturating_add(LOOK));
        let page = self.page.as_ref().and_then(Page::due);
        let all = [
            page,
            news,
            self.field.due(),
            self.run.due(),
            self.said.chosen_due,
            self.said.filter_due,
        ];
        let first = all.into_iter().flatten().min()?;
        Some(first.saturating_sub(now.boot))
    }

    fn lay_out(&mut self, ui: &UiState) {
        let Some(doc) = &ui.queue.doc else {
            self.layout = None;
            return;
        };
        let none = BTreeSet::new();
        let open = ui.looked(doc.id).map_or(&none, |l| &l.open);
        let fits = |layout: &&Arc<Layout>| layout.fits(doc, WIDE, true, open, false);
        let known = ui
            .layout()
            .filter(fits)
            .or(self.layout.as_ref().filter(fits));
        self.layout = Some(match known {
            Some(layout) => layout.clone(),
            None => Arc::new(Layout::new(doc.clone(), WIDE, true, open, false)),
        });
    }

    fn greet(&mut self, screen: &Screen<'_>, ui: &UiState, out: &mut Lines) {
        let greeted = std::mem::replace(&mut self.greeted, true);
        if !greeted && ui.reviewed().is_some() {
            out.line(&words::reviewed::plain::greeting(&ui.key(Command::Help)));
            out.line(&screen.spoken_header());
        } else if !greeted {
            let (help, list) = (ui.key(Command::Help), ui.key(Command::Queue));
            out.line(&words::plain::greeting(
                &help,
                &list,
                &ui.key(Command::PageCode),
            ));
            out.line(&screen.spoken_header());
            if screen.selected().is_none() {
                out.line(words::EMPTY);
            }
        }
        let alarms = screen.spoken_alarms();
        if alarms == self.said.alarms {
            return;
        }
        for alarm in alarms
            .iter()
            .filter(|alarm| !self.said.alarms.contains(alarm))
        {
            out.line(alarm);
        }
        let making = |all: &[String]| all.iter().any(|alarm| alarm == words::plain::PYTHON_MADE);
        if making(&self.said.alarms) && alarms.is_empty() {
            out.line(words::plain::PYTHON_READY);
        }
        self.said.alarms = alarms;
    }

    /// What is told without a key: a run, the last minute, news.
    fn by_itself(&mut self, turn: &Turn<'_>, out: &mut Lines) {
        let quiet = turn.now.boot.saturating_sub(turn.ui.heard.at);
        // A person who types is not interrupted.
        if self.field.is_open(turn.ui) && quiet < TYPING {
            return;
        }
        if let Some(entry) = turn.screen.selected() {
            let silent = out.is_empty();
            let ended = self.run.tell(turn.screen, entry, out, turn.now.boot);
            self.run.catch_up(out, turn.now.boot);
            if silent && !out.is_empty() {
                self.page = None;
            }
            if ended {
                self.news.told(entry.proposal.id);
            }
            if ended {
                let waiting = turn.state.pending_count();
                out.line(&words::plain::next(waiting, &turn.ui.key(Command::Urgent)));
            }
            self.tell_last_minute(turn, entry, out);
        }
        let idle = quiet.min(turn.now.boot.saturating_sub(self.spoke));
        let reads = self.page.is_some() && turn.place() != Place::Queue || self.in_the_middle();
        let pause = if reads { LONG_PAUSE } else { PAUSE };
        let free = !matches!(
            turn.place(),
            Place::Prompt(..) | Place::Page(What::Sheet(..))
        );
        let counted = self.page.as_ref().is_none_or(|page| page.due().is_none());
        if free && counted && idle >= pause && out.is_empty() {
            self.tell_news(turn, out);
        }
    }

    fn tell_last_minute(&mut self, turn: &Turn<'_>, entry: &Entry, out: &mut Lines) {
        let left = entry.left(turn.now);
        let due = warnings(left);
        if !entry.awaits_decision() || due <= self.said.warned {
            return;
        }
        self.said.warned = due;
        out.line(&words::plain::last_minute(
            left,
            &turn.screen.spoken_claim(entry),
        ));
    }

    fn tell_news(&mut self, turn: &Turn<'_>, out: &mut Lines) {
        let list = turn.ui.key(Command::Queue);
        for line in self
            .news
            .tell(turn.screen, turn.state, turn.ui.selected(), &list)
        {
            out.line(&line);
        }
    }

    /// The findings of rows of which these were shown.
    fn findings(all: &[SaidRow], shown: &Range<usize>) -> Vec<usize> {
        let of = |row: &SaidRow| FlowRow {
            finding: row.finding,
            ..FlowRow::default()
        };
        let flow = Flow {
            rows: all.iter().map(of).collect(),
            ..Flow::default()
        };
        whole_findings(&flow, shown)
    }

    /// What counts as shown.
    fn drawn(&self, turn: &Turn<'_>) -> Drawn {
        let mut drawn = Drawn {
            list_rows: ROWS,
            tops: turn.ui.queue.lists.tops,
            ..Drawn::default()
        };
        let Some(page) = &self.page else {
            return drawn;
        };
        match page.what {
            What::Code(id, code) => {
                let Some(layout) = self
                    .layout
                    .as_ref()
                    .filter(|l| (l.doc.id, l.doc.code) == (id, code))
                else {
                    return drawn;
                };
                let rows = page.shown().filter_map(|i| layout.row(i));
                drawn.ranges = rows.map(|row| row.at..row.to).collect();
                let introduction = self.said.heard_of(page.what).unwrap_or_default();
                drawn.findings = Self::findings(introduction, &(0..introduction.len()));
                drawn.id = Some(id);
                drawn.code_rows = page.rows.len();
                drawn.code_columns = usize::from(WIDE);
                drawn.top = Some(layout.offset_of(page.rows.start));
                drawn.cursor = Some(layout.offset_of(page.rows.end.saturating_sub(1)));
                drawn.layout = Some(layout.clone());
            }
            What::Sheet(digest, _) => {
                let shown = page.shown();
                let rows = shown.start..shown.end.min(self.rows.len());
                drawn.over = Some((ROWS_OVER, self.rows.len() + 1));
                drawn.sheet = turn
                    .ui
                    .sheet()
                    .filter(|s| s.digest() == digest)
                    .map(|sheet| SheetShown {
                        id: sheet.id(),
                        digest,
                        width: WIDE,
                        total: self.rows.len() + 1,
                        findings: Self::findings(&self.rows, &rows),
                        rows: shown,
                    });
            }
            What::Pane(pane, id) => {
                if pane == Pane::Verdict {
                    let code = self.layout.as_ref().filter(|layout| layout.doc.id == id);
                    drawn.findings_of = code.map(|layout| (id, layout.doc.code));
                    drawn.findings = Self::findings(&self.rows, &page.shown());
                }
                let height = match pane {
                    Pane::Output => page.rows.len().max(1),
                    _ => ROWS_OVER,
                };
                drawn.panes.insert(pane, (height, self.rows.len()));
                drawn.output_top = (pane == Pane::Output).then_some(page.rows.start);
            }
            What::Help
            | What::Policies(_)
            | What::Record(..)
            | What::Statistics
            | What::Diff(..) => {
                drawn.over = Some((ROWS_OVER, self.rows.len()));
                let dossier = turn.ui.place().log().and_then(LogScreen::dossier);
                drawn.starts = dossier.map_or_else(Vec::new, |dossier| dossier.said().1);
            }
        }
        drawn
    }
}
