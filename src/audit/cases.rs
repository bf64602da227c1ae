//! What became of each proposal, from its records in their order: what statistics count, and what a question about
//! decisions selects from. Judges nothing: records are taken as the reader of the log gives them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::voters::{self, Voter};
use crate::model::{
    About, Accesses, Capability, Digest, DrillEnd, DrillPlan, FinishedLog, Harm, InputKind,
    LimitKind, LogEvent, ProposalId, ProposedLog, Reviewer, State, Tier, Verdict, VerdictKind, Via,
    Viewed, VoteKind, VotedLog, agent_name,
};

/// One proposal.
#[derive(Clone, Debug)]
pub struct Case {
    pub id: ProposalId,
    /// The agent's uid and its name, a claim. A drill has those of another proposal.
    pub agent: (u32, Arc<str>),
    /// What is wrong with it, if the dashboard itself made it.
    pub drill: Option<Harm>,
    pub asked: Asked,
    /// What a person made of the code, if they granted that.
    pub edited: Option<Edit>,
    pub state: State,
    pub course: Course,
    /// When it took this course.
    pub at: Timestamp,
    /// The record of that, which orders the cases.
    pub seq: u64,
    /// Who decided; if nobody did, who had the dashboard open.
    pub by: Option<Person>,
    pub viewed: Option<Viewed>,
    /// The machine on which a person decided; in a reviewer's log, the host that asked.
    pub host: Option<Arc<str>>,
    /// The tier that was granted.
    pub tier: Option<Tier>,
    /// The numbers of its records.
    pub seqs: Vec<u64>,
    /// The votes on it, in the order in which they came.
    pub votes: Vec<Voter>,
    /// The reason of a denial.
    pub denial: Option<Arc<str>>,
    pub ran: Option<Ran>,
}

/// What was asked for. The texts are the agent's.
#[derive(Clone, Debug)]
pub struct Asked {
    pub at: Timestamp,
    pub title: Option<Arc<str>>,
    pub reason: Option<Arc<str>>,
    pub profile: Arc<str>,
    /// Of the code as the log has it.
    pub digest: Digest,
    pub judged: Judged,
    /// The names of data sets.
    pub data: Vec<Arc<str>>,
    /// Whether one of them is private.
    pub private: bool,
}

/// A person's version of the code.
#[derive(Clone, Debug)]
pub struct Edit {
    pub digest: Digest,
    pub judged: Judged,
}

/// A verdict. Each rule and each capability once.
#[derive(Clone, Debug)]
pub struct Judged {
    pub verdict: VerdictKind,
    pub rules: Vec<Arc<str>>,
    pub caps: Vec<Capability>,
    /// How many findings there are.
    pub findings: u64,
}

/// A run that ended.
#[derive(Clone, Debug)]
pub struct Ran {
    pub time: Duration,
    pub limit: Option<LimitKind>,
    /// The type of its error, and the exception.
    pub errors: Vec<Arc<str>>,
    /// The names of the files that it left.
    pub files: Vec<Arc<str>>,
    /// The contents that it printed or returned, if they are kept.
    pub printed: Vec<Digest>,
    /// What it asked of scopes and core functions; only of runs of the contract `scoped`.
    pub accesses: BTreeMap<String, Accesses>,
}

impl Case {
    /// Nobody is to be told of it before it is decided.
    pub fn is_waiting_drill(&self) -> bool {
        self.drill.is_some() && self.course == Course::Waits
    }

    /// The verdict on what was granted, else on what was proposed.
    pub fn judged(&self) -> &Judged {
        self.edited
            .as_ref()
            .map_or(&self.asked.judged, |edit| &edit.judged)
    }

    /// From the proposal to the decision, by the wall clock.
    pub fn took(&self) -> Option<Duration> {
        self.viewed?;
        self.at.duration_since(self.asked.at).try_into().ok()
    }

    /// How long it was looked at: with the terminal focused, if the terminal reports that.
    pub fn looked(&self) -> Option<Duration> {
        let viewed = self.viewed?;
        let ms = viewed.focused_ms.unwrap_or(viewed.selected_ms);
        Some(Duration::from_millis(ms))
    }

    /// How many findings of what was decided on the person had seen.
    pub fn shown(&self) -> Option<Shown> {
        let (shown, all) = (self.viewed?.findings_shown, self.judged().findings);
        Some(match shown {
            shown if shown >= all => Shown::All,
            0 => Shown::None,
            _ => Shown::Some,
        })
    }
}

/// How many findings stood on the screen before a decision. Where there is none, all did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    All,
    Some,
    None,
}

impl Shown {
    pub const ALL: [Self; 3] = [Self::All, Self::Some, Self::None];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Some => "some",
            Self::None => "none",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.as_str() == name)
    }
}

/// What became of a proposal as far as a person is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    Waits,
    Granted,
    Denied,
    Expired,
    /// A drill, which was neither granted nor denied nor expired.
    Drilled(DrillEnd),
    /// Blocked, withdrawn, left open, or not executable.
    Other,
}

/// A reviewer: the same uid under another login name is another one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Person {
    pub uid: u32,
    pub login: Option<Arc<str>>,
}

/// The cases of a log, in the order in which they were proposed.
#[derive(Clone, Debug, Default)]
pub struct Cases {
    pub all: Vec<Case>,
    /// The last dashboard that made drills: when it was opened, and its plan.
    pub plan: Option<(Timestamp, DrillPlan)>,
    known: HashMap<ProposalId, usize>,
    /// The digests that grants name, and the edits.
    edits: HashMap<ProposalId, (Digest, Edit)>,
    names: HashSet<Arc<str>>,
    /// Who opened the dashboard that wrote the last record.
    pub(super) here: Option<Person>,
}

impl Cases {
    /// No cases yet, after records that are no part of one.
    pub(super) fn after(here: Option<Person>, plan: Option<(Timestamp, DrillPlan)>) -> Self {
        Self {
            plan,
            here,
            ..Self::default()
        }
    }

    /// Takes in the next record.
    pub fn learn(&mut self, seq: u64, at: Timestamp, event: &LogEvent) {
        match event {
            LogEvent::Opened { by, drills, .. } => {
                self.here = Some(self.person(by));
                self.plan = drills.map(|plan| (at, plan)).or(self.plan);
            }
            LogEvent::Closed => self.here = None,
            LogEvent::Proposed(p) if !self.known.contains_key(&p.id) => {
                let name = self.name(agent_name(p.agent.as_ref(), &p.peer));
                let asked = self.asked(at, p);
                self.known.insert(p.id, self.all.len());
                self.all.push(Case {
                    id: p.id,
                    agent: (p.peer.uid, name),
                    drill: p.drill.as_ref().map(|drill| drill.harm),
                    asked,
                    edited: None,
                    state: State::Pending,
                    course: Course::Waits,
                    at,
                    seq,
                    by: None,
                    viewed: None,
                    host: None,
                    tier: None,
                    seqs: Vec::new(),
                    votes: Vec::new(),
                    denial: None,
                    ran: None,
                });
            }
            LogEvent::Edited(e) => {
                let judged = self.judged(&e.verdict);
                let digest = e.code();
                self.edits.insert(e.id, (e.digest, Edit { digest, judged }));
            }
            LogEvent::Granted(g) => {
                let by = self.person(&g.by);
                let edit = self.edits.remove(&g.id).filter(|e| e.0 == g.digest);
                let edit = edit.map(|(_, edit)| edit);
                let host = self.host(&g.by);
                if let Some(case) = self.case(g.id) {
                    (case.edited, case.host, case.tier) = (edit, host, Some(g.tier));
                    voters::granted(&mut case.votes, g);
                }
                self.took(g.id, Course::Granted, Some((by, g.viewed)), (seq, at));
            }
            LogEvent::Denied {
                id,
                by,
                viewed,
                reason,
            } => {
                let reason = reason.as_deref().map(|reason| self.name(reason));
                let host = self.host(by);
                let by = self.person(by);
                if let Some(case) = self.case(*id) {
                    (case.denial, case.host) = (reason, host);
                    voters::denied(&mut case.votes);
                }
                self.took(*id, Course::Denied, Some((by, *viewed)), (seq, at));
            }
            LogEvent::Voted(v) => {
                if let (Some(about), Via::Terminal(by)) = (&v.about, &v.via) {
                    self.elsewhere((seq, at), v, about, by);
                }
                if let Some(case) = self.case(v.id) {
                    case.votes.push(Voter::of(v, at));
                }
            }
            LogEvent::Finished(f) => {
                let ran = self.ran(f);
                if let Some(case) = self.case(f.id) {
                    case.ran = Some(ran);
                }
            }
            LogEvent::Drilled(d) => {
                let host = d.by.as_ref().and_then(|by| self.host(by));
                let by = d.by.as_ref().map(|by| self.person(by)).zip(d.viewed);
                if let Some(case) = self.case(d.id) {
                    case.host = host;
                }
                self.took(d.id, Course::Drilled(d.end), by, (seq, at));
            }
            LogEvent::Expired { id } => self.took(*id, Course::Expired, None, (seq, at)),
            ended => {
                let end = ended.state().filter(|state| state.is_final());
                if let Some(id) = ended.id().filter(|_| end.is_some()) {
                    self.took(id, Course::Other, None, (seq, at));
                }
            }
        }
        if let Some(case) = event.id().and_then(|id| self.case(id)) {
            case.seqs.push(seq);
        }
        let state = event
            .state()
            .filter(|_| !matches!(event, LogEvent::Proposed(_)));
        if let Some((id, state)) = event.id().zip(state) {
            if state.is_final() {
                self.edits.remove(&id);
            }
            if let Some(case) = self.case(id) {
                case.state = state;
            }
        }
    }

    /// The reviewer whose log it is voted on what another host has: their vote is its course here, and the host is where it
    /// would run. The last one counts.
    fn elsewhere(
        &mut self,
        (seq, at): (u64, Timestamp),
        v: &VotedLog,
        about: &About,
        by: &Reviewer,
    ) {
        let course = match v.vote.kind {
            VoteKind::Grant => Course::Granted,
            VoteKind::Deny | VoteKind::Veto => Course::Denied,
        };
        let (by, host) = (self.person(by), self.name(&v.host));
        let denial = v.vote.reason.as_deref().map(|reason| self.name(reason));
        if let Some(case) = self.case(v.id) {
            (case.course, case.at, case.seq) = (course, at, seq);
            (case.viewed, case.denial) = (Some(v.vote.viewed), denial);
            return;
        }
        let asked = Asked {
            at: about.proposed_at,
            title: about.title.as_deref().map(|title| self.name(title)),
            reason: None,
            profile: self.name(&about.profile),
            digest: v.code,
            judged: Judged {
                verdict: about.verdict,
                rules: Vec::new(),
                caps: Vec::new(),
                findings: about.findings,
            },
            data: about.data.iter().map(|name| self.name(name)).collect(),
            private: about.private,
        };
        let agent = (about.uid, self.name(&about.agent));
        self.known.insert(v.id, self.all.len());
        self.all.push(Case {
            id: v.id,
            agent,
            drill: None,
            asked,
            edited: None,
            state: State::Pending,
            course,
            at,
            seq,
            by: Some(by),
            viewed: Some(v.vote.viewed),
            host: Some(host),
            tier: None,
            seqs: Vec::new(),
            votes: Vec::new(),
            denial,
            ran: None,
        });
    }

    pub(super) fn get(&self, id: ProposalId) -> Option<&Case> {
        self.known.get(&id).and_then(|n| self.all.get(*n))
    }

    /// Corrects who had the dashboard open when it ended, which its own records do not say.
    pub(super) fn set_by(&mut self, id: ProposalId, by: Option<Person>) {
        if let Some(case) = self.case(id).filter(|case| case.viewed.is_none()) {
            case.by = by;
        }
    }

    /// Removes a case. The order of the others changes.
    pub(super) fn take(&mut self, id: ProposalId) -> Option<Case> {
        let at = self.known.remove(&id)?;
        let case = self.all.swap_remove(at);
        if let Some(moved) = self.all.get(at) {
            self.known.insert(moved.id, at);
        }
        self.edits.remove(&id);
        if self.names.len() > 8 * self.all.len() + 1024 {
            self.names.retain(|name| Arc::strong_count(name) > 1);
        }
        Some(case)
    }

    fn case(&mut self, id: ProposalId) -> Option<&mut Case> {
        self.known.get(&id).and_then(|n| self.all.get_mut(*n))
    }

    fn asked(&mut self, at: Timestamp, p: &ProposedLog) -> Asked {
        let data = p.inputs.iter().filter_map(|input| match &input.kind {
            InputKind::Dataset { dataset, .. } => Some(self.name(dataset)),
            _ => None,
        });
        Asked {
            data: data.collect(),
            private: p.inputs.iter().any(|input| input.is_private()),
            at,
            title: p.title.as_deref().map(|title| self.name(title)),
            reason: p.reason.as_deref().map(|reason| self.name(reason)),
            profile: self.name(&p.profile),
            digest: p.code(),
            judged: self.judged(&p.verdict),
        }
    }

    fn judged(&mut self, verdict: &Verdict) -> Judged {
        let mut rules: Vec<Arc<str>> = Vec::new();
        for finding in &verdict.findings {
            let rule = self.name(&finding.rule);
            if !rules.contains(&rule) {
                rules.push(rule);
            }
        }
        let mut caps: Vec<Capability> = Vec::new();
        for used in &verdict.capabilities {
            if !caps.contains(&used.capability) {
                caps.push(used.capability);
            }
        }
        Judged {
            verdict: verdict.verdict,
            rules,
            caps,
            findings: verdict.findings.len() as u64,
        }
    }

    fn ran(&mut self, f: &FinishedLog) -> Ran {
        let errors = f.error.iter().flat_map(|error| {
            std::iter::once(error.kind.as_str()).chain(error.exception.as_deref())
        });
        Ran {
            printed: f.printed().map(|(_, digest)| digest).collect(),
            time: Duration::from_millis(f.duration_ms),
            limit: f.limit,
            errors: errors.map(|name| self.name(name)).collect(),
            files: f.artifacts.iter().map(|a| self.name(&a.name)).collect(),
            accesses: f.accesses.clone(),
        }
    }

    /// The first course counts: a run that failed was granted all the same.
    fn took(
        &mut self,
        id: ProposalId,
        course: Course,
        by: Option<(Person, Viewed)>,
        (seq, at): (u64, Timestamp),
    ) {
        let here = self.here.clone();
        let Some(case) = self.case(id) else {
            return;
        };
        if case.course != Course::Waits {
            return;
        }
        case.course = match (course, case.drill) {
            // What was left open by a killed dashboard.
            (Course::Other, Some(_)) => Course::Drilled(DrillEnd::Unanswered),
            (course, _) => course,
        };
        (case.seq, case.at) = (seq, at);
        case.viewed = by.as_ref().map(|(_, viewed)| *viewed);
        case.by = by.map(|(by, _)| by).or(here);
    }

    fn person(&mut self, by: &Reviewer) -> Person {
        Person {
            uid: by.uid,
            login: by.login.as_deref().map(|login| self.name(login)),
        }
    }

    fn host(&mut self, by: &Reviewer) -> Option<Arc<str>> {
        by.host.as_deref().map(|host| self.name(host))
    }

    /// Each text is kept once.
    fn name(&mut self, text: &str) -> Arc<str> {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let name: Arc<str> = text.into();
        self.names.insert(name.clone());
        name
    }
}
