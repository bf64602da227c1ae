//! Random sequences: requests, keys, reports and clock jumps in any order, each step checked by the
//! watch.

use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::event::{Event, ExecNote, HumanAct, Request};
use super::super::{LogDoubt, grant_digest, next_deadline};
use super::world::*;
use crate::clock::Now;
use crate::model::{
    ConnId, Digest, Draft, Environment, GrantDigest, LogEvent, ProposalId, Reviewer, RunErrorKind,
    State, StreamName, VerdictKind,
};

/// Which proposal an operation is about: any, the latest, or one that does not exist.
#[derive(Clone, Copy, Debug)]
enum Which {
    Nth(u8),
    Latest,
    /// One that waits for a person or runs, if there is one.
    Open(u8),
    Unknown,
}

#[derive(Clone, Copy, Debug)]
enum Sheet {
    Right,
    Wrong,
    /// The digest from when the proposal first became pending.
    Stale,
}

/// What a person makes of a code.
#[derive(Clone, Copy, Debug)]
enum Text {
    Other,
    /// Another one for the same proposal each time.
    Shared,
    AsProposed,
    AsBefore,
    Empty,
    TooLong,
}

#[derive(Clone, Debug)]
enum Op {
    Hello(u8),
    Propose {
        conn: u8,
        key: Option<u8>,
        input: bool,
        ttl: Option<u16>,
        stream: bool,
        same: bool,
    },
    Check(u8),
    Analyse(VerdictKind),
    /// A job that nobody gave out.
    AnalyseStray,
    Bind(bool),
    BindStray(Which),
    Durable,
    DurableNth(u8),
    DurableAll,
    /// The blobs of a record cannot be kept.
    Unkept(u8),
    Grant(Which, Sheet),
    Deny(Which),
    /// Edits one of the proposals that wait for a person.
    Edit(u8, Text),
    Kill(Which),
    Pause(u8),
    Drill,
    Resume(u8),
    Exec(Which, u8),
    /// The executor takes the next expected step.
    Proceed(Which),
    Wait(u8, Which, Option<u16>),
    Status(u8, Which),
    Withdraw(u8, Which),
    Disconnect(u8),
    Connect(u8),
    Pass(u32),
    PassToDeadline,
    Suspend,
    Environment(u8),
    AuditDown,
    /// The log cannot be read, contradicts what was signed, or is read again.
    Log(u8),
    Quit,
}

fn which() -> impl Strategy<Value = Which> {
    prop_oneof![
        5 => any::<u8>().prop_map(Which::Nth),
        2 => Just(Which::Latest),
        12 => any::<u8>().prop_map(Which::Open),
        1 => Just(Which::Unknown),
    ]
}

fn kind() -> impl Strategy<Value = VerdictKind> {
    prop_oneof![
        7 => Just(VerdictKind::Clear),
        4 => Just(VerdictKind::Flagged),
        1 => Just(VerdictKind::Blocked),
        1 => Just(VerdictKind::Unanalyzable),
    ]
}

fn text() -> impl Strategy<Value = Text> {
    prop_oneof![
        6 => Just(Text::Other),
        2 => Just(Text::Shared),
        2 => Just(Text::AsProposed),
        1 => Just(Text::AsBefore),
        1 => Just(Text::Empty),
        1 => Just(Text::TooLong),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let conn = 0..5_u8;
    let sheet = prop_oneof![
        6 => Just(Sheet::Right), 1 => Just(Sheet::Wrong), 1 => Just(Sheet::Stale)
    ];
    let propose = (
        conn.clone(),
        proptest::option::weighted(0.4, 0..3_u8),
        proptest::bool::weighted(0.3),
        proptest::option::weighted(0.5, 0..90_u16),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(conn, key, input, ttl, stream, same)| Op::Propose {
            conn,
            key,
            input,
            ttl,
            stream,
            same,
        });
    prop_oneof![
        1 => conn.clone().prop_map(Op::Hello),
        18 => propose,
        2 => conn.clone().prop_map(Op::Check),
        18 => kind().prop_map(Op::Analyse),
        1 => Just(Op::AnalyseStray),
        5 => proptest::bool::weighted(0.8).prop_map(Op::Bind),
        1 => which().prop_map(Op::BindStray),
        10 => Just(Op::Durable),
        2 => any::<u8>().prop_map(Op::DurableNth),
        16 => Just(Op::DurableAll),
        3 => any::<u8>().prop_map(Op::Unkept),
        18 => (which(), sheet).prop_map(|(w, s)| Op::Grant(w, s)),
        3 => which().prop_map(Op::Deny),
        10 => (any::<u8>(), text()).prop_map(|(n, t)| Op::Edit(n, t)),
        3 => which().prop_map(Op::Kill),
        1 => conn.clone().prop_map(Op::Pause),
        4 => Just(Op::Drill),
        2 => conn.clone().prop_map(Op::Resume),
        4 => (which(), 0..6_u8).prop_map(|(w, n)| Op::Exec(w, n)),
        24 => which().prop_map(Op::Proceed),
        6 => (conn.clone(), which(), proptest::option::of(0..60_u16))
            .prop_map(|(c, w, t)| Op::Wait(c, w, t)),
        3 => (conn.clone(), which()).prop_map(|(c, w)| Op::Status(c, w)),
        3 => (conn.clone(), which()).prop_map(|(c, w)| Op::Withdraw(c, w)),
        2 => conn.clone().prop_map(Op::Disconnect),
        2 => conn.prop_map(Op::Connect),
        4 => (0..15_000_u32).prop_map(Op::Pass),
        2 => Just(Op::PassToDeadline),
        1 => Just(Op::Suspend),
        1 => (0..10_u8).prop_map(Op::Environment),
        1 => (0..20_u8).prop_map(Op::Log),
        1 => proptest::bool::weighted(0.2).prop_map(|down| if down { Op::AuditDown } else { Op::Durable }),
        1 => proptest::bool::weighted(0.2).prop_map(|quit| if quit { Op::Quit } else { Op::Durable }),
    ]
}

/// A world, plus what the generator has to remember.
pub(super) struct Play {
    pub world: World,
    ids: Vec<ProposalId>,
    stale: HashMap<ProposalId, GrantDigest>,
    verdicts: HashMap<String, VerdictKind>,
    /// Connection numbers are never reused: slot → the number in use.
    conns: [ConnId; 5],
    next_conn: u64,
    n: u64,
}

impl Play {
    fn new(kill_on_disconnect: bool) -> Self {
        let mut world = World::with(super::super::Settings {
            kill_on_disconnect,
            max_pending: 12,
            max_pending_per_peer: 5,
            max_pending_per_uid: 8,
            ..settings()
        });
        world.connect(ConnId(4), 1001, 21);
        world.connect(ConnId(5), 1000, 10);
        Self {
            world,
            ids: Vec::new(),
            stale: HashMap::new(),
            verdicts: HashMap::new(),
            conns: [A, B, C, ConnId(4), ConnId(5)],
            next_conn: 6,
            n: 0,
        }
    }

    fn id(&mut self, which: Which) -> ProposalId {
        match (which, self.ids.len()) {
            (Which::Unknown, _) | (_, 0) => ProposalId::from_uuid(uuid::Uuid::max()),
            (Which::Nth(n), len) => self.ids[usize::from(n) % len],
            (Which::Latest, len) => self.ids[len - 1],
            (Which::Open(n), len) => {
                let open = |id: &&ProposalId| {
                    let entry = self.world.state.entry(**id);
                    entry.is_some_and(|e| e.announced() && !e.state().is_final())
                };
                let open: Vec<_> = self.ids.iter().filter(open).collect();
                match open.len() {
                    0 => self.ids[len - 1],
                    m => *open[usize::from(n) % m],
                }
            }
        }
    }

    fn propose(&mut self, op: &Op) {
        let Op::Propose {
            conn,
            key,
            input,
            ttl,
            stream,
            same,
        } = op
        else {
            return;
        };
        self.n += 1;
        let code = match key {
            Some(key) if *same => format!("keyed = {key}"),
            _ => format!("print({})", self.n),
        };
        let draft = Draft {
            inputs: match input {
                true => json_input(serde_json::json!({"n": 1})),
                false => Default::default(),
            },
            title: Some("a title".to_owned()),
            ttl_s: ttl.map(u64::from),
            stream: *stream,
            idempotency_key: key.map(|k| format!("key {k}")),
            ..draft(&code)
        };
        let (id, _) = self.world.propose(self.conns[usize::from(*conn)], draft);
        if self.world.state.entry(id).is_some() {
            self.ids.push(id);
        }
    }

    fn grant(&mut self, id: ProposalId, sheet: Sheet) {
        let state = &self.world.state;
        let current = state.entry(id).and_then(|e| grant_digest(state, e).ok());
        let digest = match sheet {
            Sheet::Right => current,
            Sheet::Wrong => None,
            Sheet::Stale => self.stale.get(&id).copied(),
        };
        let wrong = GrantDigest(Digest::of(b"another sheet"));
        self.world.confirm(id, digest.unwrap_or(wrong));
    }

    fn edit(&mut self, id: ProposalId, text: Text) {
        self.n += 1;
        let entry = self.world.state.entry(id);
        let code = match text {
            Text::Other => format!("edited({})", self.n),
            Text::Shared => "edited".to_owned(),
            Text::AsProposed => {
                entry.map_or_else(String::new, |e| e.proposal.proposed.text().to_string())
            }
            Text::AsBefore => entry.map_or_else(String::new, |e| e.code().text().to_string()),
            Text::Empty => String::new(),
            Text::TooLong => "x".repeat(64 * 1024 + 1),
        };
        self.world.edit(id, &code);
    }

    fn proceed(&mut self, id: ProposalId) {
        let Some(state) = self.world.state.entry(id).map(|e| e.state()) else {
            return;
        };
        let note = if self.world.killed.contains(&id) || state == State::Running {
            ExecNote::Ended(Box::new(run("42\n")))
        } else if self.world.released.contains(&id) {
            ExecNote::Released
        } else if self.world.executed.contains(&id) {
            ExecNote::Prepared(isolation())
        } else {
            return;
        };
        self.world.exec(id, note);
    }

    fn exec(&mut self, id: ProposalId, note: u8) {
        let note = match note {
            0 => ExecNote::Prepared(isolation()),
            1 => ExecNote::Released,
            2 => ExecNote::Output {
                stream: StreamName::Stdout,
                text: "42\n".to_owned(),
            },
            3 => ExecNote::Ended(Box::new(run("42\n"))),
            4 => ExecNote::Ended(Box::new(failed_run(RunErrorKind::SnippetError))),
            _ => ExecNote::Failed {
                message: "the interpreter did not start".to_owned(),
            },
        };
        self.world.exec(id, note);
    }

    fn play(&mut self, op: &Op) {
        if self.world.exited {
            return;
        }
        let w = &mut self.world;
        match *op {
            Op::Hello(c) => {
                let (agent, resume, fresh) = (None, None, format!("token {}", self.n));
                w.request(
                    self.conns[usize::from(c)],
                    Request::Hello {
                        agent,
                        resume,
                        fresh,
                    },
                );
            }
            Op::Propose { .. } => self.propose(op),
            Op::Check(c) => {
                let (code, profile) = ("1 + 1".into(), None);
                w.request(
                    self.conns[usize::from(c)],
                    Request::Check {
                        code,
                        profile,
                        inputs: None,
                    },
                );
            }
            Op::Analyse(kind) => {
                if let Some((job, code)) = w.jobs.pop_front() {
                    // The same code gets the same verdict, as from the real analyser.
                    let kind = *self.verdicts.entry(code.clone()).or_insert(kind);
                    let verdict = Box::new(verdict(kind, &code));
                    w.send(Event::Analysed { job, verdict });
                }
            }
            Op::AnalyseStray => {
                let job = crate::model::JobId(u64::MAX);
                let verdict = Box::new(verdict(VerdictKind::Clear, ""));
                w.send(Event::Analysed { job, verdict });
            }
            Op::Bind(good) => {
                if let Some(id) = w.binds.pop_front() {
                    let fault = || "data set `penguins` vanished".to_owned();
                    let inputs = good
                        .then(|| vec![bound("threshold", "{\"n\":1}")])
                        .ok_or_else(fault);
                    w.send(Event::InputsBound { id, inputs });
                }
            }
            Op::BindStray(which) => {
                let id = self.id(which);
                if !self.world.binds.contains(&id) {
                    let inputs = Ok(vec![bound("threshold", "{\"n\":2}")]);
                    self.world.send(Event::InputsBound { id, inputs });
                }
            }
            Op::Durable => drop(w.durable_one()),
            Op::DurableNth(n) => {
                let len = w.records.len().max(1);
                if let Some((_, ticket, _)) = w.records.remove(usize::from(n) % len) {
                    w.send(Event::Durable { ticket });
                }
            }
            Op::DurableAll => w.durable(),
            Op::Unkept(n) => drop(w.unkept(usize::from(n))),
            Op::Grant(which, sheet) => {
                let id = self.id(which);
                self.grant(id, sheet);
            }
            Op::Deny(which) => {
                let id = self.id(which);
                self.world.deny(id, Some("not today"));
            }
            Op::Edit(n, text) => {
                let pending = |e: &super::super::Entry| e.proposal.id;
                let all: Vec<_> = w.state.pending().map(pending).collect();
                let id = match all.is_empty() {
                    true => self.id(Which::Nth(n)),
                    false => all[usize::from(n) % all.len()],
                };
                self.edit(id, text);
            }
            Op::Kill(which) => {
                let id = self.id(which);
                self.world.kill(id);
            }
            Op::Drill => {
                self.n += 1;
                let id = w.drill(&format!("drill\nprint({})", self.n));
                if w.state.entry(id).is_some() {
                    self.ids.push(id);
                }
            }
            Op::Pause(c) => {
                let (agent, by) = (slot_agent(c), Reviewer::default());
                w.send(Event::Human(HumanAct::Pause { agent, by }));
            }
            Op::Resume(c) => {
                let (agent, by) = (slot_agent(c), Reviewer::default());
                w.send(Event::Human(HumanAct::Resume { agent, by }));
            }
            Op::Exec(which, note) => {
                let id = self.id(which);
                self.exec(id, note);
            }
            Op::Proceed(which) => {
                let id = self.id(which);
                self.proceed(id);
            }
            Op::Wait(c, which, timeout) => {
                let id = self.id(which);
                let timeout = timeout.map(|t| s(u64::from(t)));
                let conn = self.conns[usize::from(c)];
                self.world.request(conn, Request::Wait { id, timeout });
            }
            Op::Status(c, which) => {
                let id = self.id(which);
                self.world
                    .request(self.conns[usize::from(c)], Request::Status { id });
            }
            Op::Withdraw(c, which) => {
                let id = self.id(which);
                self.world
                    .request(self.conns[usize::from(c)], Request::Withdraw { id });
            }
            Op::Disconnect(c) => w.disconnect(self.conns[usize::from(c)]),
            Op::Connect(c) => {
                let slot = usize::from(c);
                w.disconnect(self.conns[slot]);
                self.conns[slot] = ConnId(self.next_conn);
                self.next_conn += 1;
                let (uid, pid) = PEERS[slot];
                self.world.connect(self.conns[slot], uid, pid);
            }
            Op::Pass(millis) => w.tick(ms(u64::from(millis))),
            Op::PassToDeadline => {
                if let Some(at) = next_deadline(&w.state) {
                    // No tick: the next event arrives exactly at the deadline.
                    w.pass(at.saturating_sub(w.now.boot));
                }
            }
            Op::Suspend => w.pass(s(40_000)),
            Op::Environment(n) => w.send(Event::Environment(match n {
                0 => Environment::Failed {
                    message: "no venv module".to_owned(),
                },
                1 => Environment::Ready {
                    digest: Digest::of(b"another environment"),
                    label: String::new(),
                    installed: crate::model::Installed::default(),
                },
                _ => ready(),
            })),
            Op::AuditDown => w.audit_down(),
            Op::Log(0) => w.send(Event::LogDoubted(LogDoubt::Contradicted("x".to_owned()))),
            Op::Log(1..=3) => w.send(Event::LogDoubted(LogDoubt::Unreadable("x".to_owned()))),
            Op::Log(_) => w.send(Event::LogRead),
            Op::Quit => w.quit(),
        }
        for id in &self.ids {
            if let Some(e) = self.world.state.entry(*id)
                && let Ok(digest) = grant_digest(&self.world.state, e)
            {
                self.stale.entry(*id).or_insert(digest);
            }
        }
    }

    /// Every pending effect is completed and the person quits: the core must settle.
    fn settle(&mut self) {
        let w = &mut self.world;
        while !w.exited && (!w.jobs.is_empty() || !w.records.is_empty() || !w.binds.is_empty()) {
            w.analyse(VerdictKind::Flagged);
            while let Some(id) = w.binds.pop_front() {
                let inputs = Ok(vec![bound("threshold", "{\"n\":1}")]);
                w.send(Event::InputsBound { id, inputs });
            }
            w.durable();
        }
        if !w.exited {
            w.quit();
        }
        for _ in 0..4 {
            w.durable();
            let open: Vec<_> = w.state.running().map(|e| e.proposal.id).collect();
            for id in open {
                let message = "killed".to_owned();
                w.exec(id, ExecNote::Failed { message });
            }
        }
        assert!(w.exited, "the dashboard did not exit");
        for e in w.state.entries.values() {
            assert!(e.told(), "the end was never reported: {e:?}");
            assert_eq!(e.audience.calls().count(), 0, "{e:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Invariants 1, 3, 8 and 10 in random sequences; see [`super::watch::Watch`] for what is
    /// asserted at each effect and [`super::consistency::check`] for the model check.
    #[test]
    fn no_run_without_a_grant(
        ops in vec(op(), 1..120),
        kill_on_disconnect in any::<bool>(),
    ) {
        let mut play = Play::new(kill_on_disconnect);
        for op in &ops {
            play.play(op);
        }
        play.settle();
    }
}

/// Random sequences, the same ones at every call.
pub(super) fn lives(count: usize) -> impl Iterator<Item = Play> {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    (0..count).map(move |_| {
        let ops = vec(op(), 60..120).new_tree(&mut runner).unwrap().current();
        let mut play = Play::new(false);
        for op in &ops {
            play.play(op);
        }
        play
    })
}

/// The records of random sequences, in orders that a log can have.
pub(crate) fn random_logs(count: usize) -> impl Iterator<Item = Vec<LogEvent>> {
    let events = |log: Vec<(Now, LogEvent)>| log.into_iter().map(|(_, event)| event).collect();
    random_timed_logs(count).map(events)
}

/// The same, with what the clocks said when each record was handed over.
pub(crate) fn random_timed_logs(count: usize) -> impl Iterator<Item = Vec<(Now, LogEvent)>> {
    lives(count).flat_map(|mut play| {
        if !play.world.exited {
            play.settle();
        }
        std::mem::take(&mut play.world.chain).orders()
    })
}
