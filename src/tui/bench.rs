//! A dashboard for tests: the real core, driven by events, and the real screen, drawn into a
//! buffer. The shell's effects (analyse, bind, make durable) complete immediately.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{Event as Input, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use jiff::tz::TimeZone;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use uuid::Uuid;

pub use super::made::*;
use super::*;
use crate::broker::{
    self, BrokerState, Confirmation, Effect, Entry, Event, ExecNote, HumanAct, Profile, Request,
    Settings,
};
use crate::clock::Now;
use crate::model::{
    AgentClaim, BoundInput, CallId, Code, Column, ConnId, DataFormat, Digest, Draft, Environment,
    InputKind, InputRequest, LogEvent, Peer, Preflight, ProposalId, Reviewer, Run, Sensitivity,
    State, StreamName, TextFormat, Tier, Verdict,
};
use crate::policy::{Policy, PrivateValues};

pub struct Bench {
    pub state: BrokerState,
    pub ui: UiState,
    pub facts: Header,
    pub now: Now,
    pub size: (u16, u16),
    pub buffer: Buffer,
    pub drawn: Drawn,
    /// The actions that the screen requested, in order.
    pub actions: Vec<Action>,
    pub verdicts: VecDeque<Verdict>,
    inputs: Vec<BoundInput>,
    next: u128,
    /// The records that were written.
    pub events: Vec<LogEvent>,
    /// The codes in the log.
    codes: BTreeMap<Digest, Arc<[u8]>>,
}

pub const PLAIN: TerminalCaps = TerminalCaps {
    depth: Depth::None,
    background: Background::Unknown,
};

impl Bench {
    pub fn new(columns: u16, rows: u16) -> Self {
        Self::with_caps(columns, rows, PLAIN)
    }

    pub fn with_caps(columns: u16, rows: u16, caps: TerminalCaps) -> Self {
        let policy = policy();
        let facts = Header {
            policy: policy.label(),
            policy_digest: policy.sha256.short(4),
            tier: Tier::Process,
            tiers: vec![Preflight {
                tier: Tier::Process,
                layers: ["uid 65534", "no_new_privs", "rlimits"]
                    .map(str::to_owned)
                    .to_vec(),
                does_not_stop: vec!["network".to_owned(), "reading files".to_owned()],
            }],
            agents_share_uid: true,
            socket: "/run/user/1000/countersign/agent.sock".to_owned(),
            submit: "countersign submit FILE".to_owned(),
            absent: Vec::new(),
            log_recovered: None,
            log: LogCheck::Sound,
            unanchored: None,
            unreached: None,
            unheard: None,
            seat: None,
        };
        let settings = Settings {
            voting: None,
            attendance: broker::Attendance::Person,
            profile: "analysis".to_owned(),
            profiles: vec![Profile {
                policy: Arc::new(policy),
                given: vec!["pd".to_owned(), "np".to_owned()],
                base: None,
            }],
            tier: Tier::Process,
            ttl: Duration::from_secs(1800),
            ttl_max: Duration::from_secs(28800),
            datasets: BTreeSet::from(["sales".to_owned()]),
            max_pending: 20_000,
            max_pending_per_peer: 20_000,
            max_pending_per_uid: 20_000,
            kill_on_disconnect: false,
            lift: false,
            version: "0.1.0".to_owned(),
        };
        let environment = Environment::Ready {
            digest: Digest::of(b"environment"),
            label: "Python 3.11.7, 27 packages".to_owned(),
            installed: crate::model::Installed::default(),
        };
        let themes = Themes::new("auto", caps).unwrap();
        let keys = Keymap::from_config(&BTreeMap::new()).unwrap();
        let ui = UiState::new(keys, themes, caps)
            .with_zone(TimeZone::UTC)
            .with_digits(|| Some(0x4f1c));
        let mut bench = Self {
            state: BrokerState::new(settings, environment, 1284),
            ui,
            facts,
            now: Now {
                boot: Duration::from_secs(1000),
                wall: "2026-01-02T10:40:00Z".parse().unwrap(),
            },
            size: (columns, rows),
            buffer: Buffer::empty(Rect::ZERO),
            drawn: Drawn::default(),
            actions: Vec::new(),
            verdicts: VecDeque::new(),
            inputs: Vec::new(),
            next: 1,
            events: Vec::new(),
            codes: BTreeMap::new(),
        };
        let (conn, exe) = (ConnId(1), Some("python3".to_owned()));
        let peer = Peer {
            uid: 1000,
            gid: 1000,
            pid: 4312,
            exe,
            gateway: None,
        };
        bench.apply(Event::Connected { conn, peer });
        bench
    }

    /// From now on the policy discloses the values of private data sets.
    pub fn tell_private(&mut self) {
        let profile = &mut self.state.settings.profiles[0];
        let mut policy = Policy::clone(&profile.policy);
        policy.private = PrivateValues::Tell;
        profile.policy = Arc::new(policy);
    }

    /// Feeds the core an event and carries out the resulting effects.
    pub fn apply(&mut self, event: Event) {
        let mut queue = VecDeque::from([event]);
        while let Some(event) = queue.pop_front() {
            for effect in broker::update(&mut self.state, event, self.now) {
                match effect {
                    Effect::Analyse { job, .. } => {
                        let verdict = Box::new(self.verdicts.pop_front().unwrap());
                        queue.push_back(Event::Analysed { job, verdict });
                    }
                    Effect::BindInputs { id, .. } => {
                        let inputs = Ok(std::mem::take(&mut self.inputs));
                        queue.push_back(Event::InputsBound { id, inputs });
                    }
                    Effect::Record {
                        ticket,
                        event,
                        blobs,
                        ..
                    } => {
                        self.ui.learn(self.now.wall, &event, &blobs);
                        self.events.push(LogEvent::clone(&event));
                        let blobs = blobs.into_iter();
                        self.codes.extend(blobs.map(|b| (b.sha256, b.bytes)));
                        queue.push_back(Event::Durable { ticket });
                    }
                    Effect::LookAgain { id }
                        if self.state.entry(id).is_some_and(Entry::awaits_decision) =>
                    {
                        let electorate = self.state.electorate().clone();
                        queue.push_back(Event::LookedAgain { id, electorate });
                    }
                    _ => {}
                }
            }
        }
        self.ui.sync(&self.state, self.now);
    }

    pub fn propose(&mut self, making: Making) -> ProposalId {
        let id = ProposalId::from_uuid(Uuid::from_u128(
            0x0190_0000_0000_7000_8000_0000_0000_0000 + self.next,
        ));
        self.next += 1;
        self.verdicts.push_back(making.verdict());
        let mut requests = BTreeMap::new();
        if making.dataset {
            requests.insert(
                "df".to_owned(),
                InputRequest::Dataset {
                    dataset: "sales".to_owned(),
                },
            );
            self.inputs.push(BoundInput {
                name: "df".to_owned(),
                kind: InputKind::Dataset {
                    dataset: "sales".to_owned(),
                    format: DataFormat::Csv,
                    rows: 8400,
                    columns: making
                        .columns
                        .into_iter()
                        .map(|name| Column {
                            dtype: match name.as_str() {
                                "name" | "email" => "object".to_owned(),
                                _ => "int64".to_owned(),
                            },
                            name,
                        })
                        .collect(),
                    sensitivity: if making.private {
                        Sensitivity::Private
                    } else {
                        Sensitivity::Public
                    },
                    texts: BTreeSet::new(),
                    summary: making.summary.map(Arc::new),
                },
                bytes: 1_234_567,
                sha256: Digest::of(b"sales"),
            });
        }
        for (name, text) in making.brought {
            requests.insert(
                name.to_owned(),
                InputRequest::Text {
                    text: text.clone(),
                    format: TextFormat::Csv,
                },
            );
            self.inputs.push(BoundInput {
                name: name.to_owned(),
                bytes: text.len() as u64,
                sha256: Digest::of(text.as_bytes()),
                kind: InputKind::Text {
                    text,
                    format: TextFormat::Csv,
                },
            });
        }
        let call = CallId(self.next as u64);
        self.apply(Event::Request {
            conn: ConnId(1),
            call,
            request: Request::Propose {
                id,
                draft: Box::new(Draft {
                    code: making.code.into(),
                    profile: None,
                    title: making.title,
                    reason: making.reason,
                    agent: making.agent.map(|name| AgentClaim {
                        name: name.to_owned(),
                        ..AgentClaim::default()
                    }),
                    inputs: requests,
                    ttl_s: Some(making.ttl_s),
                    stream: false,
                    idempotency_key: None,
                    traceparent: making.traceparent,
                }),
            },
        });
        id
    }

    /// A person's editor leaves this code, and the analyser gives it this verdict.
    pub fn edit(&mut self, id: ProposalId, making: &Making) {
        self.verdicts.push_back(making.verdict());
        self.apply(Event::Human(HumanAct::Edit {
            id,
            code: Code::new(making.code.as_str()),
            diff: "".into(),
            by: Reviewer::default(),
        }));
    }

    pub fn advance(&mut self, ms: u64) {
        let by = Duration::from_millis(ms);
        self.now.boot += by;
        self.now.wall += by;
    }

    /// Lets time pass and sends the core a tick.
    pub fn tick(&mut self, ms: u64) {
        self.advance(ms);
        self.apply(Event::Tick);
    }

    /// Draws a frame and reports it back to the UI.
    pub fn draw(&mut self) -> String {
        let area = Rect::new(0, 0, self.size.0, self.size.1);
        self.ui.count(self.now);
        if let Some(search) = self.ui.wants_search() {
            search.run();
        }
        self.buffer = Buffer::empty(area);
        self.drawn = render(
            &self.state,
            &self.ui,
            &self.facts,
            area,
            &mut self.buffer,
            self.now,
        );
        self.ui.drawn(&self.state, self.drawn.clone(), self.now);
        self.text()
    }

    /// Selects a proposal, as the keys of a person would, and looks at it.
    pub fn choose(&mut self, id: ProposalId) {
        self.ui.select(id, self.now);
        self.ui.sync(&self.state, self.now);
        self.settle();
    }

    /// Highlights the selected code, as the shell would.
    pub fn colour(&mut self) {
        let (done, answer) = std::sync::mpsc::channel();
        let highlighter = Highlighter::spawn(move || {
            let _ = done.send(());
        })
        .unwrap();
        let (digest, code) = self.ui.wants_highlight(&self.state).unwrap();
        highlighter.request(digest, code);
        answer.recv_timeout(Duration::from_secs(60)).unwrap();
        let (digest, colours) = highlighter.poll().unwrap();
        self.ui.set_highlight(digest, colours);
    }

    /// Draws, waits until the selection's grace period and the dwell time are over, and draws
    /// again.
    pub fn settle(&mut self) -> String {
        self.draw();
        self.advance((GRACE + DWELL).as_millis() as u64);
        self.draw()
    }

    /// Draws, and lets the frame stand for the dwell time.
    pub fn look(&mut self) -> String {
        self.draw();
        self.advance(DWELL.as_millis() as u64);
        self.draw()
    }

    /// Pages through the rest of the document, looking at each page.
    pub fn read(&mut self) {
        for _ in 0..2_000 {
            let text = self.look();
            if !text.contains("not seen") && !text.contains("not counted") {
                self.advance(QUIET.as_millis() as u64);
                return;
            }
            self.keys(" ");
        }
        panic!("not to be seen in full:\n{}", self.text());
    }

    fn text(&self) -> String {
        let mut out = String::new();
        let area = self.buffer.area;
        for y in area.top()..area.bottom() {
            let mut line = String::new();
            let mut x = area.left();
            while x < area.right() {
                let symbol = self.buffer[(x, y)].symbol();
                line.push_str(symbol);
                x += unicode_width::UnicodeWidthStr::width(symbol).max(1) as u16;
            }
            if let Some(placed) = self.drawn.as_drawn.iter().find(|p| p.y == y) {
                line.truncate(line.trim_end().len());
                line.push_str(placed.text.as_str());
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }

    /// The frame with a letter for the style of each run of cells.
    pub fn styled(&self) -> String {
        let mut out = String::new();
        let area = self.buffer.area;
        for y in area.top()..area.bottom() {
            let mut last = None;
            let mut run = String::new();
            for x in area.left()..area.right() {
                let cell = &self.buffer[(x, y)];
                let style = (cell.fg, cell.bg, cell.modifier);
                if last != Some(style) {
                    flush(&mut out, last, &run);
                    run.clear();
                    last = Some(style);
                }
                run.push_str(cell.symbol());
            }
            flush(&mut out, last, &run);
            out.push_str("--\n");
        }
        out
    }

    pub fn input(&mut self, event: &Input) -> Vec<Action> {
        let actions = self.ui.on_event(&self.state, event, self.now);
        self.actions.extend(actions.iter().cloned());
        actions
    }

    pub fn code(
        &mut self,
        code: KeyCode,
        modifiers: KeyModifiers,
        kind: KeyEventKind,
    ) -> Vec<Action> {
        self.input(&Input::Key(KeyEvent::new_with_kind(code, modifiers, kind)))
    }

    pub fn press(&mut self, code: KeyCode) -> Vec<Action> {
        self.code(code, KeyModifiers::NONE, KeyEventKind::Press)
    }

    /// Types each character as a press.
    pub fn keys(&mut self, keys: &str) -> Vec<Action> {
        keys.chars()
            .flat_map(|c| self.press(KeyCode::Char(c)))
            .collect()
    }

    /// Like [`Self::keys`], but read later than the keys may have been typed.
    pub fn typed(&mut self, keys: &str, when: Span) {
        for c in keys.chars() {
            let event = Input::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
            let actions = self.ui.on_typed(&self.state, &event, when, self.now);
            self.actions.extend(actions);
        }
    }

    /// Carries out the requested grants, denials, kills and comparisons.
    pub fn carry_out(&mut self) {
        for action in std::mem::take(&mut self.actions) {
            let by = Reviewer::default();
            let act = match action {
                Action::Grant(GrantRequest { id, digest, viewed }) => {
                    HumanAct::Grant(Confirmation {
                        id,
                        digest,
                        by,
                        viewed,
                    })
                }
                Action::Deny { id, reason, viewed } => HumanAct::Deny {
                    id,
                    reason,
                    viewed,
                    by,
                },
                Action::Kill { id } => HumanAct::Kill { id, by },
                Action::Pause(agent) => HumanAct::Pause { agent, by },
                Action::Resume(agent) => HumanAct::Resume { agent, by },
                Action::Compare(wanted) => {
                    let logged = || String::from_utf8_lossy(&self.codes[&wanted.earlier]).into();
                    let earlier = wanted.text.unwrap_or_else(logged);
                    let diff = Diff::between(&earlier, &wanted.code, Duration::from_secs(60));
                    self.ui.set_diff(wanted.number, Ok(diff));
                    continue;
                }
                Action::Quit => HumanAct::Quit { by },
                _ => continue,
            };
            self.apply(Event::Human(act));
        }
    }

    /// Reads a clear proposal, grants it, and lets a minute pass.
    pub fn grant(&mut self, id: ProposalId) {
        self.choose(id);
        self.read();
        self.open_sheet();
        self.keys("y");
        self.carry_out();
        let state = self.state.entry(id).map(crate::broker::Entry::state);
        assert_eq!(state, Some(State::Granted));
        self.tick(60_000);
    }

    /// Denies a proposal, and lets a minute pass.
    pub fn deny(&mut self, id: ProposalId, reason: &str) {
        self.choose(id);
        self.keys("d");
        self.keys(reason);
        self.press(KeyCode::Enter);
        self.carry_out();
        self.tick(60_000);
    }

    /// Answers the question of `D`, and types the reason for all of the agent's proposals.
    pub fn deny_all(&mut self, reason: &str) {
        self.keys("D");
        self.advance(QUIET.as_millis() as u64);
        self.keys("y");
        self.keys(reason);
    }

    /// Opens the sheet, waits until its grace period is over, and shows all of it.
    pub fn open_sheet(&mut self) {
        self.settle();
        self.keys("a");
        let why = self.ui.notice(&self.state, self.now);
        assert!(self.ui.sheet().is_some(), "no sheet: {why:?}");
        self.draw();
        self.advance(SHEET_GRACE.as_millis() as u64);
        self.look();
        while self.ui.sheet().is_some_and(|s| s.missing().is_some()) {
            self.press(KeyCode::PageDown);
            self.look();
        }
        self.advance(QUIET.as_millis() as u64);
    }

    /// Moves the focus to a pane of the selected proposal with the keys a person uses.
    pub fn focus_on(&mut self, pane: super::ui::Pane) {
        for _ in 0..8 {
            if self.ui.queue.focus == pane {
                return;
            }
            self.press(KeyCode::Tab);
        }
        panic!("no pane {pane:?}");
    }

    pub fn exec(&mut self, id: ProposalId, note: ExecNote) {
        self.apply(Event::Exec { id, note });
    }

    /// Grants the selected clear proposal and starts it.
    pub fn start(&mut self) -> ProposalId {
        let id = self.ui.selected().unwrap();
        self.open_sheet();
        self.keys("y");
        self.carry_out();
        self.exec(id, ExecNote::Prepared(isolation()));
        self.exec(id, ExecNote::Released);
        id
    }

    pub fn output(&mut self, id: ProposalId, stream: StreamName, text: &str) {
        let text = text.to_owned();
        self.exec(id, ExecNote::Output { stream, text });
    }

    pub fn end(&mut self, id: ProposalId, run: Run) {
        self.exec(id, ExecNote::Ended(Box::new(run)));
    }
}

fn flush(out: &mut String, style: Option<(Color, Color, Modifier)>, run: &str) {
    if let Some((fg, bg, modifier)) = style {
        if run.trim().is_empty() && bg == Color::Reset && modifier.is_empty() {
            return;
        }
        out.push_str(&format!("{fg} on {bg} {modifier:?}: {run}\n"));
    }
}

pub fn lines(n: usize) -> String {
    (1..=n).map(|i| format!("x{i} = {i}\n")).collect()
}

pub fn grants(bench: &Bench) -> Vec<GrantRequest> {
    bench
        .actions
        .iter()
        .filter_map(|a| match a {
            Action::Grant(g) => Some(*g),
            _ => None,
        })
        .collect()
}

pub fn notice(bench: &Bench) -> String {
    bench.ui.notice(&bench.state, bench.now).unwrap_or_default()
}

/// A clear proposal that is selected and seen, with its grace period over.
pub fn ready() -> Bench {
    let mut b = Bench::new(120, 40);
    b.propose(Making::clear("print(len(df))\n"));
    b.settle();
    b
}
