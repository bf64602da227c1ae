//! The loop: one event after the other into the core, its effects carried out, the screen drawn
//! when something changed.

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{Event as TermEvent, EventStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{Receiver, UnboundedReceiver, UnboundedSender, channel, unbounded_channel};
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_stream::StreamExt as _;

use crate::audit::WriterEvent;
use crate::broker::{
    BrokerState, Confirmation, Event, HumanAct, Settings, Ticket, next_deadline, update,
};
use crate::clock::Now;
use crate::error::Failure;
use crate::executor::Wish;
use crate::ipc::{self, Listener, Router};
use crate::model::{LogEvent, Reviewer, State, Tier};
use crate::policy::Policy;
use crate::tui::terminal::{Terminal, has_job_control};
use crate::tui::{Action, GrantRequest, Header, Highlighter, UiState, render};

use super::ahead::Ahead;
use super::analyst::Analyst;
use super::effects::{Hands, Next};
use super::environment;
use super::inputs::Inputs;
use super::startup::Setup;
use super::{Input, replicate, review, reviewer};

/// Agents' events that may wait for the loop; their connections wait with them.
const AGENTS_WAITING: usize = 256;
/// Events taken in before the screen gets its turn.
const BATCH: usize = 64;
/// The least time between two frames that no key asked for.
const FRAME: Duration = Duration::from_millis(16);
/// A sleep is cut to this: the timer's clock stops in suspend, the deadlines' does not.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);
/// How long closing may take before the dashboard leaves all the same. Children die with it.
const CLOSING: Duration = Duration::from_secs(10);
/// How long agents get to read how their proposals ended.
const FAREWELL: Duration = Duration::from_secs(1);
/// How long no request has to come before the dashboard stops listening.
const QUIET: Duration = Duration::from_millis(50);

struct Shell {
    state: BrokerState,
    ui: UiState,
    hands: Hands,
    ahead: Ahead,
    header: Header,
    terminal: Terminal,
    highlighter: Highlighter,
    by: Reviewer,
    state_dir: std::path::PathBuf,
    /// What proposals that name no profile run in.
    usual: Option<(Arc<Policy>, Tier)>,
    dirty: bool,
    drawn_at: Option<Instant>,
    leave_by: Option<Instant>,
    leaving: bool,
}

/// Signals that ask the dashboard to do something.
struct Signals {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
    stop: Signal,
}

impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            stop: signal(SignalKind::from_raw(nix::libc::SIGTSTP))?,
        })
    }

    /// `true` when the dashboard is to close, `false` when it is to suspend.
    async fn next(&mut self) -> bool {
        tokio::select! {
            _ = self.terminate.recv() => true,
            _ = self.hang_up.recv() => true,
            _ = self.interrupt.recv() => true,
            _ = self.stop.recv() => false,
        }
    }
}

/// Opens the socket and the screen and runs until everything is settled after a quit.
pub async fn run(setup: Setup) -> Result<u8, Failure> {
    let failed = |what: &str, e: &dyn std::fmt::Display| Failure::general(format!("{what}: {e}"));
    let mut signals = Signals::listen().map_err(|e| failed("cannot listen for signals", &e))?;
    let listener = Listener::bind(&setup.socket)
        .await
        .map_err(|e| Failure::general(e.to_string()))?;
    let (inbox_in, inbox) = unbounded_channel();
    let (agents_in, agents) = channel(AGENTS_WAITING);
    let router = Router::default();
    let demo = setup.demo.then(|| listener.path().to_path_buf());
    let mut shell =
        Shell::start(setup, router.clone(), inbox_in).map_err(|e| failed("cannot start", &e))?;
    tokio::spawn(ipc::serve(listener, agents_in, router.clone()));
    if let Some(socket) = demo {
        tokio::spawn(super::demo::feed(socket));
    }
    let ended = shell.serve(inbox, agents, &mut signals).await;
    shell.terminal.leave();
    router.drain(FAREWELL).await;
    // Dropping the controls ends whatever still runs.
    let Shell { hands, .. } = shell;
    drop(hands.controls);
    hands.log.close();
    ended
}

impl Shell {
    fn start(
        setup: Setup,
        router: Router,
        inbox: UnboundedSender<Input>,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let by = reviewer::here();
        let log = start_log(setup.log.writer, &inbox);
        let opened = LogEvent::Opened {
            version: setup.settings.version.clone(),
            by: by.clone(),
            tier: setup.settings.tier,
            environment: None,
            preflight: setup.header.tiers.clone(),
        };
        // The core did not issue these tickets and takes no notice of their answers.
        let mut tickets = (0..u64::MAX).rev().map(Ticket);
        for event in std::iter::once(opened).chain(closing_records(&setup.log.unfinished)) {
            if let Some(ticket) = tickets.next() {
                log.submit(ticket, event, Vec::new());
            }
        }
        let answers = inbox.clone();
        let analyst = Analyst::start(setup.analyser, move |event| {
            let _ = answers.send(Input::Core(event));
        })?;
        let reports = inbox.clone();
        environment::prepare(setup.python, setup.data_dir, move |report| {
            let _ = reports.send(Input::Python(report));
        })?;
        let coloured = inbox.clone();
        let highlighter = Highlighter::spawn(move || {
            let _ = coloured.send(Input::Highlighted);
        })?;
        let usual = usual(&setup.settings);
        let state = BrokerState::new(setup.settings, environment::at_first(), setup.log.durable);
        let ui = UiState::new(setup.keymap, setup.themes, setup.caps);
        replicate::forget(&setup.state_dir, setup.retention_days);
        let terminal = Terminal::enter()?;
        Ok(Self {
            state,
            ui,
            hands: Hands {
                inbox,
                outbox: router,
                analyst,
                inputs: Inputs::new(setup.sources),
                log,
                state_dir: setup.state_dir.clone(),
                executor: setup.executor,
                python: None,
                controls: std::collections::HashMap::new(),
            },
            ahead: Ahead::default(),
            header: setup.header,
            terminal,
            highlighter,
            by,
            state_dir: setup.state_dir,
            usual,
            dirty: true,
            drawn_at: None,
            leave_by: None,
            leaving: false,
        })
    }

    async fn serve(
        &mut self,
        mut inbox: UnboundedReceiver<Input>,
        mut agents: Receiver<Event>,
        signals: &mut Signals,
    ) -> Result<u8, Failure> {
        let mut keys = EventStream::new();
        while !self.leaving {
            self.draw_when_due()?;
            let wake = self.wake();
            tokio::select! {
                event = keys.next() => match event {
                    Some(Ok(event)) => self.key(&event),
                    // The terminal is gone: nobody can decide any more.
                    Some(Err(_)) | None => self.quit(),
                },
                Some(input) = inbox.recv() => {
                    self.input(input);
                    for _ in 0..BATCH {
                        let Ok(input) = inbox.try_recv() else { break };
                        self.input(input);
                    }
                }
                Some(event) = agents.recv() => {
                    self.core(event);
                    for _ in 0..BATCH {
                        let Ok(event) = agents.try_recv() else { break };
                        self.core(event);
                    }
                }
                close = signals.next() => if close { self.quit() } else { self.suspend() },
                () = sleep_until(wake) => {
                    self.core(Event::Tick);
                    self.dirty = true;
                }
            }
            if self.leave_by.is_some_and(|limit| Instant::now() >= limit) {
                self.leaving = true;
            }
        }
        // A request that was on its way is still answered: a wait hears how its proposal ended.
        let last = Instant::now() + FAREWELL;
        while let Ok(Some(event)) =
            timeout_at(last.min(Instant::now() + QUIET), agents.recv()).await
        {
            self.core(event);
        }
        Ok(0)
    }

    /// When something has to happen although nothing arrives.
    fn wake(&self) -> Instant {
        let now = Now::read();
        let deadline = next_deadline(&self.state).map(|t| t.saturating_sub(now.boot));
        let screen = self.ui.next_wake(&self.state, now);
        let frame = self.dirty.then_some(FRAME);
        let closing = self.leave_by.map(|_| LONGEST_SLEEP);
        let least = [
            deadline.map(|d| d.min(LONGEST_SLEEP)),
            screen,
            frame,
            closing,
        ];
        let least = least.into_iter().flatten().min();
        // With nothing to wait for, wait long; an idle dashboard uses no CPU.
        Instant::now() + least.unwrap_or(Duration::from_secs(3600))
    }

    fn core(&mut self, event: Event) {
        let now = Now::read();
        self.hands.forget(&event);
        let effects = update(&mut self.state, event, now);
        for effect in effects {
            match self.hands.carry_out(effect) {
                Next::Continue => {}
                Next::Attention => self.terminal.attention(self.ui.is_focused()),
                Next::Exit => self.leaving = true,
            }
        }
        self.ui.sync(&self.state, now);
        self.get_ready(Wish::IfRoom);
        self.dirty = true;
    }

    fn get_ready(&mut self, wish: Wish) {
        let selected = self.ui.selected();
        self.ahead
            .get_ready(selected, &self.state, &self.hands, wish);
    }

    fn input(&mut self, input: Input) {
        match input {
            Input::Core(event) => self.core(event),
            Input::Python(report) => {
                if let Some(python) = report.python {
                    let tier = self.state.settings.tier;
                    self.hands.executor.convert_in(python.clone(), tier);
                    if let Some((policy, tier)) = self.usual.clone() {
                        let python = python.clone();
                        let wish = Wish::Surely;
                        self.hands.executor.prepare(policy, tier, python, &[], wish);
                    }
                    self.hands.python = Some(python);
                }
                self.core(Event::Environment(report.environment));
            }
            Input::Audit(page) => {
                self.ui.set_audit(page);
                self.dirty = true;
            }
            Input::Highlighted => {
                while let Some((digest, colours)) = self.highlighter.poll() {
                    self.ui.set_highlight(digest, colours);
                }
                self.dirty = true;
            }
        }
    }

    fn key(&mut self, event: &TermEvent) {
        let now = Now::read();
        let actions = self.ui.on_event(&self.state, event, now);
        let grants = actions.iter().any(|a| matches!(a, Action::Grant(_)));
        for action in actions {
            self.act(action);
        }
        self.get_ready(Wish::Surely);
        self.dirty = true;
        // What a key did is shown at once; but a run that was granted is not to wait for a frame.
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
            Action::Kill { id } => self.core(Event::Human(HumanAct::Kill { id, by })),
            Action::Quit => self.quit(),
            // Without a shell to continue us the terminal would hang for ever.
            Action::Suspend if has_job_control() => self.suspend(),
            Action::Suspend => {}
            Action::LoadAudit { offset, count } => {
                let wanted = review::Wanted::Page { offset, count };
                review::load(self.state_dir.clone(), wanted, self.hands.inbox.clone());
            }
            Action::ShowRecord { id } => {
                let wanted = review::Wanted::Record(id);
                review::load(self.state_dir.clone(), wanted, self.hands.inbox.clone());
            }
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

    /// Gives the terminal back and stops, as a shell expects of Ctrl-Z; what was typed
    /// meanwhile is not for us.
    fn suspend(&mut self) {
        self.terminal.suspend();
        self.ui.flush_input(Now::read());
        self.core(Event::Tick);
        self.drawn_at = None;
    }

    fn draw_when_due(&mut self) -> Result<(), Failure> {
        let due = self.drawn_at.is_none_or(|at| at.elapsed() >= FRAME);
        if !self.dirty || !due {
            return Ok(());
        }
        let now = Now::read();
        if let Some((digest, code)) = self.ui.wants_highlight(&self.state) {
            self.highlighter.request(digest, code);
        }
        let (state, ui, header) = (&self.state, &self.ui, &self.header);
        let drawn = self
            .terminal
            .draw(|area, buffer| render(state, ui, header, area, buffer, now))
            .map_err(|e| Failure::general(format!("the terminal cannot be written: {e}")))?;
        self.ui.drawn(&self.state, drawn, now);
        self.dirty = false;
        self.drawn_at = Some(Instant::now());
        Ok(())
    }
}

/// The default profile and the tier its runs get.
fn usual(settings: &Settings) -> Option<(Arc<Policy>, Tier)> {
    let profile = settings
        .profiles
        .iter()
        .find(|profile| profile.policy.name == settings.profile)?;
    let tier = profile.policy.tier.max(settings.tier);
    Some((profile.policy.clone(), tier))
}

fn start_log(
    writer: crate::audit::Writer,
    inbox: &UnboundedSender<Input>,
) -> crate::audit::WriterHandle {
    let inbox = inbox.clone();
    writer.start(Box::new(move |event| {
        let event = match event {
            WriterEvent::Durable { ticket, .. } => Event::Durable { ticket },
            WriterEvent::Down { reason } => Event::AuditDown { reason },
        };
        let _ = inbox.send(Input::Core(event));
    }))
}

/// What an earlier dashboard left open when it was killed: nothing of it resumes.
fn closing_records(
    unfinished: &[(crate::model::ProposalId, State)],
) -> impl Iterator<Item = LogEvent> + '_ {
    unfinished.iter().map(|(id, state)| match state {
        State::Pending => LogEvent::Unattended { id: *id },
        _ => LogEvent::Failed {
            id: *id,
            state: State::Error,
            message: "the dashboard stopped before this ended".to_owned(),
        },
    })
}
