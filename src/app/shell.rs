//! The loop: passes one event after another to the core, carries out the effects, and draws the
//! screen when something changed.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::broker::{Confirmation, Effect, Event, HumanAct, next_deadline};
use crate::clock::Now;
use crate::error::Failure;
use crate::executor::Wish;
use crate::model::Past;
use crate::tui::keyboard::{Keyboard, Typed};
use crate::tui::terminal::{Heard, Terminal, has_job_control};
use crate::tui::{Action, GrantRequest, Highlighter, LogCheck, Plain, Searcher, UiState, copied};

use super::ahead::Ahead;
use super::drills::Drills;
use super::effects::Next;
use super::exporting::Underway;
use super::files::Files;
use super::memory;
use super::pulse::{BEAT, Pulse};
use super::session::Session;
use super::signals::{Asked, Signals};
use super::startup::{Role, Screen, Setup};
use super::works::{CLOSING, FAREWELL, Inboxes, LONGEST_SLEEP, Started, Works, take_turn};
use super::{Input, review};

mod checked;
mod drilling;
mod editing;
mod following;
mod frames;
mod hearing;
mod reading;
mod redraw;
mod voting;

use editing::Editing;
pub use editing::Returned;
use redraw::Redraw;

/// How soon to check again whether the terminal has taken a frame.
const TAKING: Duration = Duration::from_millis(20);

struct Shell {
    works: Works,
    ui: UiState,
    ahead: Ahead,
    terminal: Terminal,
    /// The front end that speaks in lines, instead of drawn frames.
    plain: Option<Plain>,
    keyboard: Keyboard,
    pulse: Pulse,
    highlighter: Highlighter,
    searcher: Searcher,
    files: Files,
    editing: Editing,
    /// The pending redraw, if any.
    redraw: Redraw,
    /// The core's state changed since the interface last read it.
    behind: bool,
    drawn_at: Option<Instant>,
    leave_by: Option<Instant>,
    leaving: bool,
    /// The terminal is closed: it takes no more frames and sends no more keys.
    gone: bool,
    session: Session,
    drills: Option<Drills>,
    /// The terminal takes no output at the moment: nobody could see what they decide on.
    stuck: bool,
    exporting: Option<Underway>,
}

/// What ended a wait of the loop.
enum Woken {
    Typed(Option<Typed>),
    Asked(Asked),
    Decided(Input),
    Time,
    Rest(Input),
    Agent(Event),
}

/// Opens the socket and the screen and runs until everything is settled after a quit.
pub async fn run(setup: Setup) -> Result<u8, Failure> {
    let failed = |what: &str, e: &dyn std::fmt::Display| Failure::general(format!("{what}: {e}"));
    let mut signals = Signals::listen().map_err(|e| failed("cannot listen for signals", &e))?;
    let is_demo = matches!(setup.parts.role, Role::Demo);
    let Started {
        works,
        mut inboxes,
        door,
        past,
    } = Works::start(setup.parts).await?;
    let router = works.hands.outbox.clone();
    let mut shell =
        Shell::start(works, setup.screen, past).map_err(|e| failed("cannot start", &e))?;
    if let Some(path) = door.open().filter(|_| is_demo) {
        tokio::spawn(super::demo::feed(path));
    }
    let ended = shell.serve(&mut inboxes, &mut signals).await;
    shell.end_editor();
    let dir = (!is_demo).then_some(shell.works.state_dir.as_path());
    let lines = shell.session.farewell(&shell.works.state.audit, dir);
    shell.end_line();
    shell.terminal.leave(&lines);
    router.drain(FAREWELL).await;
    shell.works.close();
    ended
}

impl Shell {
    /// `past`: `None` if the log is still being read.
    fn start(
        works: Works,
        screen: Screen,
        past: Option<Past>,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let inbox = works.hands.inbox.clone();
        let coloured = inbox.clone();
        let highlighter = Highlighter::spawn(move || {
            let _ = coloured.send(Input::Highlighted);
        })?;
        let searched = inbox.clone();
        let searcher = Searcher::spawn(move || {
            let _ = searched.send(Input::Highlighted);
        })?;
        let mut ui =
            UiState::new(screen.keymap, screen.themes, screen.caps).with_charset(screen.charset);
        ui = ui.with_secrets(screen.secrets);
        if screen.plain {
            ui = ui.spoken();
        }
        match past {
            None => ui.awaits_past(works.by.uid),
            Some(past) => {
                ui.set_past(past, works.by.uid);
                memory::read_shapes(works.state_dir.clone(), ui.shapeless(), inbox.clone());
            }
        }
        // Discards keys typed before the screen was there.
        ui.stalled(Now::read());
        let mut terminal = match screen.plain {
            true => Terminal::enter_in_lines(screen.calls, screen.charset)?,
            false => Terminal::enter(screen.calls, screen.charset, screen.mouse)?,
        };
        let keyboard = Keyboard::listen()?;
        if keyboard.hears_answers() {
            terminal.ask_for_answers();
        }
        Ok(Self {
            works,
            ui,
            files: Files::new(screen.worker, screen.sources, inbox),
            ahead: Ahead::default(),
            terminal,
            plain: screen.plain.then(Plain::default),
            keyboard,
            pulse: Pulse::default(),
            highlighter,
            searcher,
            editing: Editing::default(),
            redraw: Redraw::Soon,
            behind: false,
            drawn_at: None,
            leave_by: None,
            leaving: false,
            gone: false,
            session: Session::default(),
            drills: screen.drills,
            stuck: false,
            exporting: None,
        })
    }

    async fn serve(&mut self, inboxes: &mut Inboxes, signals: &mut Signals) -> Result<u8, Failure> {
        while !self.leaving {
            self.hear_terminal();
            self.drill_when_due();
            self.draw_when_due();
            let beats = self.ui.watches_keys(&self.works.state) && !self.editing.is_away();
            self.keyboard.watch(beats);
            self.pulse.waits(beats);
            let due = self.wake();
            let beat = beats.then(|| Instant::now() + BEAT);
            let wake = beat.map_or(due, |beat| beat.min(due));
            // Priority order: the person, the consequences of their decisions, then everybody else.
            let woken = tokio::select! {
                biased;
                typed = self.keyboard.next(), if !self.gone => Woken::Typed(typed),
                asked = signals.next() => Woken::Asked(asked),
                Some(input) = inboxes.decided.recv() => Woken::Decided(input),
                () = sleep_until(wake) => Woken::Time,
                Some(input) = inboxes.rest.recv() => Woken::Rest(input),
                Some(event) = inboxes.agents.recv() => Woken::Agent(event),
            };
            let stalled = self.pulse.stalled(Now::read().boot);
            if stalled && !self.editing.is_away() {
                self.flush();
            }
            match woken {
                // A key pressed during a stall did not refer to what the screen shows now.
                Woken::Typed(Some(_)) if stalled => {}
                Woken::Typed(Some(typed)) => self.typed(&typed),
                Woken::Typed(None) => self.lose_terminal("it ended"),
                Woken::Asked(Asked::Close) => self.quit(),
                // The terminal is the editor's, and so are its modes.
                Woken::Asked(Asked::Suspend | Asked::GoOn) if self.editing.is_away() => {}
                Woken::Asked(Asked::Suspend) => self.suspend(),
                Woken::Asked(Asked::GoOn) => {
                    self.terminal.went_on();
                    self.interrupted();
                    self.flush();
                }
                Woken::Asked(Asked::Fit) => {
                    self.keyboard.resized();
                    self.redraw = Redraw::Soon;
                }
                Woken::Decided(input) => {
                    self.input(input);
                    take_turn(|| {
                        let input = inboxes.decided.try_recv();
                        input.map(|input| self.input(input)).is_ok()
                    });
                    self.redraw = Redraw::Soon;
                }
                Woken::Time if wake < due => {}
                Woken::Time => {
                    self.core(Event::Tick);
                    self.redraw = Redraw::Soon;
                }
                Woken::Rest(input) => {
                    self.input(input);
                    take_turn(|| inboxes.next_rest().map(|input| self.input(input)).is_some());
                }
                Woken::Agent(event) => {
                    self.core(event);
                    take_turn(|| inboxes.next_agent().map(|event| self.core(event)).is_some());
                }
            }
            if self.leave_by.is_some_and(|limit| Instant::now() >= limit) {
                self.leaving = true;
            }
        }
        inboxes.last(|event| self.core(event)).await;
        Ok(u8::from(self.gone))
    }

    /// When the loop must wake although nothing arrives.
    fn wake(&self) -> Instant {
        let now = Now::read();
        let deadline = next_deadline(&self.works.state).map(|t| t.saturating_sub(now.boot));
        let dark = self.gone || self.editing.is_away();
        let screen = self.ui.next_wake(&self.works.state, now);
        let line = self.plain.as_ref().and_then(|plain| plain.next_wake(now));
        let screen = screen.into_iter().chain(line).min().filter(|_| !dark);
        let frame = self.redraw.after().filter(|_| !dark);
        let frame = frame.map(|least| match self.drawn_at {
            Some(at) => least.saturating_sub(at.elapsed()),
            None => Duration::ZERO,
        });
        let frame = frame.map(|least| least.max(self.terminal.settles_in()));
        // If a frame is due anyway, it also serves what the screen waits for.
        let screen = match (self.redraw, screen, frame) {
            (Redraw::Soon, Some(screen), Some(frame)) => Some(screen.max(frame)),
            _ => screen,
        };
        let frame = match self.terminal.owes() {
            Some(_) if !dark => Some(TAKING),
            _ => frame,
        };
        let closing = self.leave_by.map(|_| LONGEST_SLEEP);
        let drill = self.drills.as_ref().and_then(Drills::due);
        let least = [
            deadline.map(|d| d.min(LONGEST_SLEEP)),
            screen,
            frame,
            closing,
            drill.map(|t| t.saturating_sub(now.boot).min(LONGEST_SLEEP)),
        ];
        let least = least.into_iter().flatten().min();
        // With nothing to wait for, sleep long: an idle dashboard uses no CPU.
        Instant::now() + least.unwrap_or(Duration::from_secs(3600))
    }

    fn core(&mut self, event: Event) {
        let now = Now::read();
        for effect in self.works.update(event, now) {
            if let Effect::Record { event, blobs, .. } = &effect {
                self.ui.learn(now.wall, event, blobs);
                self.session.learn(event);
                if let Some(drills) = &mut self.drills {
                    drills.learn(event, now.boot);
                }
                if let Some(plain) = &mut self.plain {
                    plain.hear(event);
                }
            }
            match self.works.hands.carry_out(effect) {
                Next::Continue => {}
                Next::Attention if self.editing.is_away() => {}
                Next::Attention => self.terminal.attention(self.ui.is_focused()),
                Next::Exit => self.leaving = true,
            }
        }
        self.settle_edit();
        self.behind = true;
        self.redraw = self.redraw.max(Redraw::Calmly);
    }

    fn input(&mut self, input: Input) {
        match input {
            Input::Core(event) => self.core(event),
            Input::Python(report) => {
                if report.python.is_some() {
                    self.ahead = Ahead::default();
                }
                let event = self.works.python(report);
                self.core(event);
            }
            Input::Audit(page) => self.take_page(page),
            Input::Sums(sums) => {
                self.ui.set_sums(sums);
                self.redraw = Redraw::Soon;
            }
            Input::Damaged(first) => {
                self.works.header.log = LogCheck::Damaged(first);
                self.redraw = Redraw::Soon;
            }
            Input::Checked(checked) => {
                self.checked(checked);
                self.redraw = Redraw::Soon;
            }
            Input::Notary(event) => {
                if let Some(event) = self.works.signed(event) {
                    self.core(event);
                }
                self.redraw = Redraw::Soon;
            }
            Input::Edited(returned) => self.edited(*returned),
            Input::Host(news) => self.heard_of_host(news),
            Input::Engine(news) => self.heard_of_engine(news),
            Input::Evidence(word) => self.heard_of_evidence(word),
            Input::Notices(news) => self.heard_of_notices(news),
            Input::Odd(what) => self.ui.tell(what),
            Input::Doubts(doubts) => self.heard_of_doubts(doubts),
            Input::Claim(id, by) => self.somebody_reads(id, by),
            Input::Sign(ask) => self.sign_in_terminal(*ask),
            Input::SignedInTerminal => self.signed_in_terminal(),
            Input::Recalled(recalled) => {
                recalled.tell(&mut self.ui);
                self.redraw = Redraw::Soon;
            }
            Input::Highlighted => self.coloured(),
        }
    }

    fn typed(&mut self, typed: &Typed) {
        let now = Now::read();
        let event = match self.terminal.hear(&typed.read) {
            Heard::Event(event) => event,
            Heard::Noise => {
                self.ui.on_noise(typed.when);
                return;
            }
            Heard::Answer => return,
        };
        if self.stuck {
            self.ui.on_noise(typed.when);
            return;
        }
        self.catch_up(now);
        let asked = self.ui.sheet_for();
        let actions = self.ui.on_typed(&self.works.state, event, typed.when, now);
        if self.ui.sheet_for().is_some_and(|id| asked != Some(id)) {
            // Checked while the person reads the sheet; a change closes the sheet.
            self.sheet_opened();
        }
        let grants = actions.iter().any(|a| matches!(a, Action::Grant(_)));
        for action in actions {
            self.act(action);
        }
        self.catch_up(now);
        self.tell_reading(now);
        self.get_ready(Wish::Surely);
        self.redraw = Redraw::Soon;
        // The effect of a key is shown at once, but a granted run must not wait for a frame.
        self.drawn_at = grants.then(Instant::now);
    }

    fn act(&mut self, action: Action) {
        let by = self.works.by.clone();
        match action {
            Action::Grant(GrantRequest { id, digest, viewed }) => {
                let confirmation = Confirmation {
                    id,
                    digest,
                    by,
                    viewed,
                };
                self.core(Event::Human(HumanAct::Grant(confirmation)));
            }
            Action::Deny { id, reason, viewed } => {
                self.core(Event::Human(HumanAct::Deny {
                    id,
                    reason,
                    viewed,
                    by,
                }));
            }
            Action::Edit { id } => self.edit(id),
            Action::Kill { id } => self.core(Event::Human(HumanAct::Kill { id, by })),
            Action::Pause(agent) => self.core(Event::Human(HumanAct::Pause { agent, by })),
            Action::Resume(agent) => self.core(Event::Human(HumanAct::Resume { agent, by })),
            Action::Quit => self.quit(),
            // Without a shell to resume it, the dashboard would hang the terminal forever.
            Action::Suspend if has_job_control() => self.suspend(),
            Action::Suspend => {}
            Action::LoadAudit {
                query,
                offset,
                count,
            } => self.review(query, review::Wanted::Page { offset, count }),
            Action::Open(file) => self.files.open(file),
            Action::Save(wanted) => self.files.save(wanted),
            Action::Copy => {
                let text = copied(&self.works.state, &self.ui, &self.works.header, Now::read());
                self.ui.tell(self.terminal.copy(&text));
            }
            Action::Compare(wanted) => {
                memory::compare(
                    self.works.state_dir.clone(),
                    wanted,
                    self.works.hands.inbox.clone(),
                );
            }
            Action::Export(wanted) => self.export(wanted),
            Action::SumUp { query, what } => self.sum_up(query, what),
            Action::ShowRecord { query, id } => self.review(query, review::Wanted::Record(id)),
        }
    }

    fn quit(&mut self) {
        if self.leave_by.is_none() {
            self.leave_by = Some(Instant::now() + CLOSING);
        }
        self.core(self.works.quits());
    }
}
