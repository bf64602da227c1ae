//! What a loop around the core has, with a screen or without one: the core's state, the hands that carry out its effects,
//! and the keepers of the log.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Duration, Instant, timeout_at};

use crate::analysis::Analyser;
use crate::audit::kept::Keeper;
use crate::audit::{self, Anchoring, Checked, Feeder, Notary, NotaryEvent, Store};
use crate::broker::before::{CODES_MAX, Remembered};
use crate::broker::{BrokerState, Effect, Event, HumanAct, Settings, update};
use crate::clock::Now;
use crate::error::Failure;
use crate::executor::{Executor, Sources, Wish};
use crate::ipc::{self, Bounds, Entrance, Gate, Listener, Router, SocketConfig};
use crate::model::{Digest, DrillPlan, Lane, LogEvent, Past, Reviewer, Ticket, Tier};
use crate::policy::Policy;
use crate::tui::{Header, LogCheck};

use super::analyst::Analyst;
use super::effects::Hands;
use super::inputs::Inputs;
use super::startup::Role;
use super::voters::{self, Desk};
use super::{Input, environment, memory, record, replicate, review, reviewer, signing};

/// How long events are processed before keys and the screen get their turn. The limit is a time,
/// not a count, because agents choose what one event costs.
const TURN: Duration = Duration::from_millis(2);
/// The longest sleep: the timer's clock stops during suspend, the clock of the deadlines does not.
pub const LONGEST_SLEEP: Duration = Duration::from_secs(1);
/// Codes whose shapes are read for what offers say, the newest.
const SHAPES: usize = 5_000;
/// How long closing may take before the program exits anyway. Children die with it.
pub const CLOSING: Duration = Duration::from_secs(10);
/// How long agents have to read how their proposals ended.
pub const FAREWELL: Duration = Duration::from_secs(1);
/// How long no request may arrive before the dashboard stops listening.
const QUIET: Duration = Duration::from_millis(50);

/// Everything that works are made of, before they start.
pub struct Parts {
    pub settings: Settings,
    pub log: audit::Opened,
    /// Days for which the code of runs is kept as files; 0 keeps it forever.
    pub retention_days: u64,
    /// Keeps the code of succeeded runs as files, if the configuration says so.
    pub keeper: Option<Keeper>,
    pub anchoring: Anchoring,
    pub state_dir: PathBuf,
    pub data_dir: PathBuf,
    pub python: Option<PathBuf>,
    pub socket: SocketConfig,
    pub bounds: Bounds,
    pub executor: Executor,
    pub analyser: Analyser,
    pub sources: Arc<Sources>,
    pub header: Header,
    /// The drills that the log says are made.
    pub drills: Option<DrillPlan>,
    /// Set if a policy in force asks for votes.
    pub desk: Option<Desk>,
    pub role: Role,
}

/// What runs behind a loop.
pub struct Works {
    pub state: BrokerState,
    pub hands: Hands,
    /// How the log and its checkpoints fare, and what the configuration says.
    pub header: Header,
    pub by: Reviewer,
    pub state_dir: PathBuf,
    pub checkpoints: Store,
    /// The default profile's policy and tier, for proposals that name no profile.
    usual: Option<(Arc<Policy>, Tier)>,
    notary: Notary,
    /// Keeps the index of the log; `None` if there was no thread for it.
    feeder: Option<Feeder>,
    /// What this host tells others of its log, once it is not the one that it signed.
    pub(super) own_doubt: Option<String>,
}

/// What is reported to the loop: the consequences of decisions first, then everything else, then agents.
pub struct Inboxes {
    pub decided: UnboundedReceiver<Input>,
    pub rest: UnboundedReceiver<Input>,
    pub agents: ipc::Inbox,
}

/// The socket for agents, bound and not yet served. A reviewer's seat has none.
pub struct Door {
    listener: Option<Listener>,
    entrance: Entrance,
    router: Router,
}

/// Works that run, and what the log says of earlier proposals unless that is still being read.
pub struct Started {
    pub works: Works,
    pub inboxes: Inboxes,
    pub door: Door,
    pub past: Option<Past>,
}

/// What a check of the whole log came to.
pub struct Reading {
    pub event: Event,
    /// What it says of earlier proposals, and the records that were added to end some of them. `None` if it must not be
    /// believed.
    pub past: Option<(Past, Vec<LogEvent>)>,
}

impl Works {
    /// Binds the socket for agents and starts all that reports to the loop. The first records follow.
    ///
    /// # Errors
    /// What prevented it, in a sentence for a person.
    pub async fn start(parts: Parts) -> Result<Started, Failure> {
        let listener = listen(&parts).await?;
        let (decided_in, decided) = unbounded_channel();
        let (rest_in, rest) = unbounded_channel();
        let (entrance, agents) = ipc::inbox();
        let router = Router::with_bounds(parts.bounds);
        let gate = Gate::new(entrance.clone(), router.clone());
        let (works, past) = Self::with(parts, router.clone(), gate, &decided_in, rest_in)
            .map_err(|e| Failure::general(format!("cannot start: {e}")))?;
        Ok(Started {
            works,
            inboxes: Inboxes {
                decided,
                rest,
                agents,
            },
            door: Door {
                listener,
                entrance,
                router,
            },
            past,
        })
    }

    fn with(
        mut parts: Parts,
        router: Router,
        gate: Gate,
        decided: &UnboundedSender<Input>,
        inbox: UnboundedSender<Input>,
    ) -> Result<(Self, Option<Past>), Box<dyn std::error::Error>> {
        let by = reviewer::here();
        let is_seat = matches!(parts.role, Role::Seat(_));
        let desk = desk(&mut parts, &by, gate, decided)?;
        let notary = signing::start(&parts, inbox.clone());
        let feeder = record::feeder(&parts.state_dir);
        let informer = notary.informer();
        let log = record::start(parts.log.writer, feeder.as_ref(), decided, &inbox, informer);
        let opened = LogEvent::Opened {
            version: parts.settings.version.clone(),
            by: by.clone(),
            tier: parts.settings.tier,
            environment: None,
            preflight: parts.header.tiers.clone(),
            drills: parts.drills,
        };
        for event in std::iter::once(opened).chain(record::closing_records(&parts.log.unfinished)) {
            parts.log.past.learn(Now::read().wall, &event, None);
            // First of all: in the chain, the opening precedes everything that happens in this
            // dashboard.
            log.submit_in(Lane::Person, Ticket::Unawaited, event, Vec::new());
        }
        let answers = inbox.clone();
        let analyst = Analyst::start(parts.analyser, move |event| {
            let _ = answers.send(Input::Core(event));
        })?;
        let reports = inbox.clone();
        let listed = environment::listed(&parts.settings);
        let watch = match is_seat {
            true => environment::nowhere(),
            false => environment::prepare(parts.python, parts.data_dir, listed, move |report| {
                let _ = reports.send(Input::Python(report));
            })?,
        };
        let past = match parts.log.unread {
            Some(unread) => {
                memory::read_on(unread, &inbox);
                None
            }
            None => {
                review::check(parts.state_dir.clone(), inbox.clone());
                Some(parts.log.past)
            }
        };
        replicate::forget(&parts.state_dir, parts.retention_days);
        let mut works = Self {
            usual: environment::usual(&parts.settings),
            state: BrokerState::new(
                parts.settings,
                environment::at_first(is_seat),
                parts.log.durable,
            ),
            hands: Hands {
                inbox,
                decided: decided.clone(),
                outbox: router,
                analyst,
                inputs: Inputs::new(parts.sources),
                log,
                keeper: parts.keeper,
                executor: parts.executor,
                python: None,
                environment: watch,
                controls: std::collections::HashMap::new(),
                desk,
            },
            header: parts.header,
            own_doubt: None,
            by,
            checkpoints: parts.anchoring.store(&parts.state_dir),
            state_dir: parts.state_dir,
            notary,
            feeder,
        };
        if let Some(past) = &past {
            works.remember(past, &[]);
        }
        if is_seat {
            let voted = memory::voted(&works.state_dir);
            update(&mut works.state, Event::VotedBefore(voted), Now::read());
        }
        Ok((works, past))
    }

    /// Passes an event to the core. Its effects are the caller's to carry out.
    pub fn update(&mut self, event: Event, now: Now) -> Vec<Effect> {
        self.hands.forget(&event);
        let effects = update(&mut self.state, event, now);
        if self.state.settings.is_host() {
            let granted = effects.iter().filter_map(|effect| match effect {
                Effect::Record { event, .. } => match &**event {
                    LogEvent::Granted(granted) => Some(granted.digest),
                    _ => None,
                },
                _ => None,
            });
            let granted: Vec<Digest> = granted.collect();
            if !granted.is_empty() {
                self.read_for_offers(Vec::new(), granted);
            }
        }
        effects
    }

    /// Hands the core what the log says of the time before the start. `closing`: what was added to it since.
    fn remember(&mut self, past: &Past, closing: &[LogEvent]) {
        if !self.state.settings.is_host() {
            return;
        }
        let (mut past, now) = (past.clone(), Now::read());
        closing.iter().for_each(|e| past.learn(now.wall, e, None));
        self.read_for_offers(past.shapeless(SHAPES), past.granted_codes(CODES_MAX));
        let past = Remembered::Past(Box::new(past));
        update(&mut self.state, Event::Remembered(past), now);
    }

    fn read_for_offers(&self, shapeless: Vec<Digest>, granted: Vec<Digest>) {
        let (dir, inbox) = (self.state_dir.clone(), self.hands.inbox.clone());
        memory::read_for_offers(dir, shapeless, granted, inbox);
    }

    /// Takes over a Python environment, or that there is none at the moment.
    pub fn python(&mut self, report: environment::Report) -> Event {
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
        }
        Event::Environment(report.environment)
    }

    /// Takes note of how checkpoints fare. Returns what that means for grants, if anything.
    pub fn signed(&mut self, event: NotaryEvent) -> Option<Event> {
        // What others read of it has been told here too, and stays.
        if matches!(event, NotaryEvent::Contradiction(_)) && self.own_doubt.is_some() {
            return None;
        }
        let doubt = signing::tell(event, &mut self.header, &self.hands.log);
        if let (Some(_), Some(desk)) = (&doubt, &self.hands.desk) {
            desk.doubted();
        }
        doubt.map(Event::LogDoubted)
    }

    /// A log that would have stopped a start that reads it stops everything now.
    pub fn checked(&mut self, checked: Result<Box<Checked>, String>) -> Reading {
        let checked = match checked {
            Ok(checked) => *checked,
            Err(reason) => {
                tracing::error!("{reason}");
                self.header.log = LogCheck::Damaged(reason.clone());
                self.hands.log.down();
                return Reading {
                    event: Event::AuditDown { reason },
                    past: None,
                };
            }
        };
        if let Some(first) = checked.faults.first() {
            self.header.log = LogCheck::Damaged(first.to_string());
        } else if self.header.log == LogCheck::Running {
            self.header.log = LogCheck::Sound;
        }
        let closing: Vec<LogEvent> = record::closing_records(&checked.missed).collect();
        for event in closing.clone() {
            let log = &self.hands.log;
            log.submit_in(Lane::Person, Ticket::Unawaited, event, Vec::new());
        }
        self.remember(&checked.past, &closing);
        review::check(self.state_dir.clone(), self.hands.inbox.clone());
        Reading {
            event: Event::LogRead,
            past: Some((checked.past, closing)),
        }
    }

    pub fn quits(&self) -> Event {
        let by = self.by.clone();
        Event::Human(HumanAct::Quit { by })
    }

    /// Ends whatever still runs, and closes the log.
    pub fn close(self) {
        drop(self.hands.controls);
        self.hands.log.close();
        self.notary.close();
        if let Some(feeder) = self.feeder {
            feeder.finish();
        }
    }
}

impl Inboxes {
    /// Requests already sent are still answered: a `wait` learns how its proposal ended.
    pub async fn last(&mut self, mut take: impl FnMut(Event)) {
        let last = Instant::now() + FAREWELL;
        while let Ok(Some(event)) =
            timeout_at(last.min(Instant::now() + QUIET), self.agents.recv()).await
        {
            take(event);
        }
    }

    /// The next of everything that no person decided, unless a decision has consequences to be heard first.
    pub fn next_rest(&mut self) -> Option<Input> {
        match self.decided.is_empty() {
            true => self.rest.try_recv().ok(),
            false => None,
        }
    }

    /// The next request of an agent, by the same rule.
    pub fn next_agent(&mut self) -> Option<Event> {
        match self.decided.is_empty() {
            true => self.agents.try_recv(),
            false => None,
        }
    }
}

impl Door {
    /// Serves agents from now on. Returns the path that they connect to.
    pub fn open(self) -> Option<PathBuf> {
        let listener = self.listener?;
        let path = listener.path().to_path_buf();
        tokio::spawn(ipc::serve(listener, self.entrance, self.router));
        Some(path)
    }
}

/// Repeats until there is nothing more or the time of one turn is up.
pub fn take_turn(mut next: impl FnMut() -> bool) {
    let begun = Instant::now();
    while begun.elapsed() < TURN && next() {}
}

async fn listen(parts: &Parts) -> Result<Option<Listener>, Failure> {
    if matches!(parts.role, Role::Seat(_)) {
        return Ok(None);
    }
    let bound = Listener::bind(&parts.socket).await;
    bound.map(Some).map_err(|e| Failure::general(e.to_string()))
}

/// At a host, the socket for those who vote; in a seat, the conversation with its host.
fn desk(
    parts: &mut Parts,
    by: &Reviewer,
    gate: Gate,
    decided: &UnboundedSender<Input>,
) -> Result<Option<voters::Hands>, Failure> {
    match std::mem::replace(&mut parts.role, Role::Dashboard) {
        Role::Seat(sitting) => {
            let hands = voters::Hands::sit(sitting, by.clone(), decided.clone());
            Ok(Some(hands))
        }
        Role::Dashboard | Role::Demo | Role::Host => {
            let desk = parts.desk.take();
            desk.map(|desk| desk.open(by.clone(), decided.clone(), gate))
                .transpose()
        }
    }
}
