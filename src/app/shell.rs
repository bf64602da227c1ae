//! The loop: passes one event after another to the core, carries out the effects, and draws the
//! screen when something changed.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::audit::{Feeder, Notary, Store};
use crate::broker::{BrokerState, Confirmation, Effect, Event, HumanAct, next_deadline, update};
use crate::clock::Now;
use crate::error::Failure;
use crate::executor::Wish;
use crate::ipc::{self, Router};
use crate::model::{Lane, LogEvent, Reviewer, Ticket, Tier};
use crate::policy::Policy;
use crate::tui::keyboard::{Keyboard, Typed};
use crate::tui::terminal::{Heard, Terminal, has_job_control};
use crate::tui::{
    Action, GrantRequest, Header, Highlighter, LogCheck, Plain, Searcher, UiState, copied,
};

use super::ahead::Ahead;
use super::analyst::Analyst;
use super::drills::Drills;
use super::effects::{Hands, Next};
use super::environment;
use super::exporting::Underway;
use super::files::Files;
use super::inputs::Inputs;
use super::memory;
use super::pulse::{BEAT, Pulse};
use super::session::Session;
use super::signals::{Asked, Signals};
use super::startup::{Role, Setup};
use super::{Input, record, replicate, review, reviewer, signing};

mod checked;
mod drilling;
mod editing;
mod following;
mod hearing;
mod opening;
mod reading;
mod redraw;
mod voting;

use editing::Editing;
pub use editing::Returned;
use redraw::Redraw;

/// How long events are processed before keys and the screen get their turn. The limit is a time,
/// not a count, because agents choose what one event costs.
const TURN: Duration = Duration::from_millis(2);
/// How soon to check again whether the terminal has taken a frame.
const TAKING: Duration = Duration::from_millis(20);
/// The longest sleep: the timer's clock stops during suspend, the clock of the deadlines does not.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);
/// How long closing may take before the dashboard exits anyway. Children die with it.
const CLOSING: Duration = Duration::from_secs(10);
/// How long agents have to read how their proposals ended.
const FAREWELL: Duration = Duration::from_secs(1);
/// How long no request may arrive before the dashboard stops listening.
const QUIET: Duration = Duration::from_millis(50);

mod frames;

struct Shell {
    state: BrokerState,
    ui: UiState,
    hands: Hands,
    ahead: Ahead,
    header: Header,
    terminal: Terminal,
    /// The front end that speaks in lines, instead of drawn frames.
    plain: Option<Plain>,
    keyboard: Keyboard,
    pulse: Pulse,
    highlighter: Highlighter,
    searcher: Searcher,
    files: Files,
    by: Reviewer,
    state_dir: std::path::PathBuf,
    checkpoints: Store,
    editing: Editing,
    /// The default profile's policy and tier, for proposals that name no profile.
    usual: Option<(Arc<Policy>, Tier)>,
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
    notary: Notary,
    drills: Option<Drills>,
    /// The terminal takes no output at the moment: nobody could see what they decide on.
    stuck: bool,
    /// Keeps the index of the log; `None` if there was no thread for it.
    feeder: Option<Feeder>,
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

/// The consequences of a person's decisions, and everything else that is reported to the loop.
struct Inboxes {
    decided: UnboundedReceiver<Input>,
    rest: UnboundedReceiver<Input>,
    agents: ipc::Inbox,
}

/// Opens the socket and the screen and runs until everything is settled after a quit.
pub async fn run(setup: Setup) -> Result<u8, Failure> {
    let failed = |what: &str, e: &dyn std::fmt::Display| Failure::general(format!("{what}: {e}"));
    let mut signals = Signals::listen().map_err(|e| failed("cannot listen for signals", &e))?;
    let listener = opening::listen(&setup).await?;
    let (decided_in, decided) = unbounded_channel();
    let (rest_in, rest) = unbounded_channel();
    let (entrance, agents) = ipc::inbox();
    let inboxes = Inboxes {
        decided,
        rest,
        agents,
    };
    let router = Router::with_bounds(setup.bounds);
    let is_demo = matches!(setup.role, Role::Demo);
    let mut shell = Shell::start(setup, router.clone(), decided_in, rest_in)
        .map_err(|e| failed("cannot start", &e))?;
    if let Some(listener) = listener {
        if is_demo {
            tokio::spawn(super::demo::feed(listener.path().to_path_buf()));
        }
        tokio::spawn(ipc::serve(listener, entrance, router.clone()));
    }
    let ended = shell.serve(inboxes, &mut signals).await;
    shell.end_editor();
    let dir = (!is_demo).then_some(shell.state_dir.as_path());
    let lines = shell.session.farewell(&shell.state.audit, dir);
    shell.end_line();
    shell.terminal.leave(&lines);
    router.drain(FAREWELL).await;
    // Dropping the controls ends whatever still runs.
    let Shell {
        hands,
        feeder,
        notary,
        ..
    } = shell;
    drop(hands.controls);
    hands.log.close();
    notary.close();
    if let Some(feeder) = feeder {
        feeder.finish();
    }
    ended
}

impl Shell {
    fn start(
        mut setup: Setup,
        router: Router,
        decided: UnboundedSender<Input>,
        inbox: UnboundedSender<Input>,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let by = reviewer::here();
        let is_seat = matches!(setup.role, Role::Seat(_));
        let desk = opening::desk(&mut setup, &by, &decided)?;
        let notary = signing::start(&setup, inbox.clone());
        let feeder = record::feeder(&setup.state_dir);
        let informer = notary.informer();
        let log = record::start(
            setup.log.writer,
            feeder.as_ref(),
            &decided,
            &inbox,
            informer,
        );
        let opened = LogEvent::Opened {
            version: setup.settings.version.clone(),
            by: by.clone(),
            tier: setup.settings.tier,
            environment: None,
            preflight: setup.header.tiers.clone(),
            drills: setup.drills.as_ref().map(|(plan, _)| *plan),
        };
        for event in std::iter::once(opened).chain(record::closing_records(&setup.log.unfinished)) {
            setup.log.past.learn(Now::read().wall, &event, None);
            // First of all: in the chain, the opening precedes everything that happens in this
            // dashboard.
            log.submit_in(Lane::Person, Ticket::Unawaited, event, Vec::new());
        }
        let answers = inbox.clone();
        let analyst = Analyst::start(setup.analyser, move |event| {
            let _ = answers.send(Input::Core(event));
        })?;
        let reports = inbox.clone();
        let listed = environment::listed(&setup.settings);
        let watch = match is_seat {
            true => environment::nowhere(),
            false => environment::prepare(setup.python, setup.data_dir, listed, move |report| {
                let _ = reports.send(Input::Python(report));
            })?,
        };
        let coloured = inbox.clone();
        let highlighter = Highlighter::spawn(move || {
            let _ = coloured.send(Input::Highlighted);
        })?;
        let searched = inbox.clone();
        let searcher = Searcher::spawn(move || {
            let _ = searched.send(Input::Highlighted);
        })?;
        let usual = environment::usual(&setup.settings);
        let state = BrokerState::new(
            setup.settings,
            environment::at_first(is_seat),
            setup.log.durable,
        );
        let mut ui =
            UiState::new(setup.keymap, setup.themes, setup.caps).with_charset(setup.charset);
        ui = ui.with_secrets(setup.secrets.clone());
        if setup.plain {
            ui = ui.spoken();
        }
        match setup.log.unread {
            Some(unread) => memory::awaited(&mut ui, by.uid, unread, &inbox),
            None => {
                ui.set_past(setup.log.past, by.uid);
                checked::look_further(&setup.state_dir, &ui, &inbox);
            }
        }
        // Discards keys typed before the screen was there.
        ui.stalled(Now::read());
        replicate::forget(&setup.state_dir, setup.retention_days);
        let mut terminal = match setup.plain {
            true => Terminal::enter_in_lines(setup.calls, setup.charset)?,
            false => Terminal::enter(setup.calls, setup.charset, setup.mouse)?,
        };
        let keyboard = Keyboard::listen()?;
        if keyboard.hears_answers() {
            terminal.ask_for_answers();
        }
        Ok(Self {
            state,
            ui,
            files: Files::new(setup.worker, setup.sources.clone(), inbox.clone()),
            hands: Hands {
                inbox,
                decided,
                outbox: router,
                analyst,
                inputs: Inputs::new(setup.sources),
                log,
                keeper: setup.keeper,
                executor: setup.executor,
                python: None,
                environment: watch,
                controls: std::collections::HashMap::new(),
                desk,
            },
            ahead: Ahead::default(),
            header: setup.header,
            terminal,
            plain: setup.plain.then(Plain::default),
            keyboard,
            pulse: Pulse::default(),
            highlighter,
            searcher,
            by,
            checkpoints: setup.anchoring.store(&setup.state_dir),
            state_dir: setup.state_dir,
            usual,
            editing: Editing::default(),
            redraw: Redraw::Soon,
            behind: false,
            drawn_at: None,
            leave_by: None,
            leaving: false,
            gone: false,
            session: Session::default(),
            notary,
            drills: setup.drills.map(|(_, drills)| drills),
            stuck: false,
            feeder,
            exporting: None,
        })
    }

    async fn serve(&mut self, mut inboxes: Inboxes, signals: &mut Signals) -> Result<u8, Failure> {
        while !self.leaving {
            self.hear_terminal();
            self.drill_when_due();
            self.draw_when_due();
            let beats = self.ui.watches_keys(&self.state) && !self.editing.is_away();
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
                    self.take_turn(|shell| {
                        let input = inboxes.decided.try_recv();
                        input.map(|input| shell.input(input)).is_ok()
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
                    self.take_turn(|shell| {
                        let input = match inboxes.decided.is_empty() {
                            true => inboxes.rest.try_recv().ok(),
                            false => None,
                        };
                        input.map(|input| shell.input(input)).is_some()
                    });
                }
                Woken::Agent(event) => {
                    self.core(event);
                    self.take_turn(|shell| {
                        let event = match inboxes.decided.is_empty() {
                            true => inboxes.agents.try_recv(),
                            false => None,
                        };
                        event.map(|event| shell.core(event)).is_some()
                    });
                }
            }
            if self.leave_by.is_some_and(|limit| Instant::now() >= limit) {
                self.leaving = true;
            }
        }
        // Requests already sent are still answered: a `wait` learns how its proposal ended.
        let last = Instant::now() + FAREWELL;
        while let Ok(Some(event)) =
            timeout_at(last.min(Instant::now() + QUIET), inboxes.agents.recv()).await
        {
            self.core(event);
        }
        Ok(u8::from(self.gone))
    }

    /// Processes further events of one kind, until there are none or the time is up.
    fn take_turn(&mut self, mut next: impl FnMut(&mut Self) -> bool) {
        let begun = Instant::now();
        while begun.elapsed() < TURN && next(self) {}
    }

    /// When the loop must wake although nothing arrives.
    fn wake(&self) -> Instant {
        let now = Now::read();
        let deadline = next_deadline(&self.state).map(|t| t.saturating_sub(now.boot));
        let dark = self.gone || self.editing.is_away();
        let screen = self.ui.next_wake(&self.state, now);
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
        self.hands.forget(&event);
        let effects = update(&mut self.state, event, now);
        for effect in effects {
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
            match self.hands.carry_out(effect) {
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
                // Every report means that the old environment is no longer valid.
                self.hands.leave_python();
                self.hands.executor.expect_python(report.soon);
                if let Some(python) = report.python {
                    let (env, tier) = (python.env.clone(), self.state.settings.tier);
                    self.hands.executor.convert_in(env.clone(), tier);
                    if let Some((policy, tier)) = self.usual.clone() {
                        let wish = Wish::Surely;
                        self.hands.executor.prepare(policy, tier, env, &[], wish);
                    }
                    self.hands.python = Some(python);
                    self.ahead = Ahead::default();
                }
                self.core(Event::Environment(report.environment));
            }
            Input::Audit(page) => self.take_page(page),
            Input::Sums(sums) => {
                self.ui.set_sums(sums);
                self.redraw = Redraw::Soon;
            }
            Input::Damaged(first) => {
                self.header.log = LogCheck::Damaged(first);
                self.redraw = Redraw::Soon;
            }
            Input::Checked(checked) => {
                self.checked(checked);
                self.redraw = Redraw::Soon;
            }
            Input::Notary(event) => {
                self.signed(event);
                self.redraw = Redraw::Soon;
            }
            Input::Edited(returned) => self.edited(*returned),
            Input::Host(news) => self.heard_of_host(news),
            // Who else reads is not shown yet.
            Input::Claim(..) => {}
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
        let actions = self.ui.on_typed(&self.state, event, typed.when, now);
        if self.ui.sheet_for().is_some_and(|id| asked != Some(id)) {
            // Checked while the person reads the sheet; a change closes the sheet.
            self.hands.environment.look();
        }
        let grants = actions.iter().any(|a| matches!(a, Action::Grant(_)));
        for action in actions {
            self.act(action);
        }
        self.catch_up(now);
        self.get_ready(Wish::Surely);
        self.redraw = Redraw::Soon;
        // The effect of a key is shown at once, but a granted run must not wait for a frame.
        self.drawn_at = grants.then(Instant::now);
    }

    fn act(&mut self, action: Action) {
        let by = self.by.clone();
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
                let text = copied(&self.state, &self.ui, &self.header, Now::read());
                self.ui.tell(self.terminal.copy(&text));
            }
            Action::Compare(wanted) => {
                memory::compare(self.state_dir.clone(), wanted, self.hands.inbox.clone());
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
        self.core(Event::Human(HumanAct::Quit {
            by: self.by.clone(),
        }));
    }
}
