//! What became of each proposal, from its records in their order: what statistics count, and what a question about
//! decisions selects from. Judges nothing: records are taken as the reader of the log gives them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;

use crate::model::{DrillEnd, DrillPlan, Harm, LogEvent, ProposalId, Reviewer, Viewed, agent_name};

/// One proposal.
#[derive(Clone, Debug)]
pub struct Case {
    pub id: ProposalId,
    /// The agent's uid and its name, a claim. A drill has those of another proposal.
    pub agent: (u32, Arc<str>),
    /// What is wrong with it, if the dashboard itself made it.
    pub drill: Option<Harm>,
    pub course: Course,
    /// When it took this course.
    pub at: Timestamp,
    /// The record of that, which orders the cases.
    pub seq: u64,
    /// Who decided; if nobody did, who had the dashboard open.
    pub by: Option<Person>,
    pub viewed: Option<Viewed>,
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
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    names: HashSet<Arc<str>>,
    /// Who opened the dashboard that wrote the last record.
    here: Option<Person>,
}

impl Cases {
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
                self.known.insert(p.id, self.all.len());
                self.all.push(Case {
                    id: p.id,
                    agent: (p.peer.uid, name),
                    drill: p.drill.as_ref().map(|drill| drill.harm),
                    course: Course::Waits,
                    at,
                    seq,
                    by: None,
                    viewed: None,
                });
            }
            LogEvent::Granted(g) => {
                let by = self.person(&g.by);
                self.took(g.id, Course::Granted, Some((by, g.viewed)), (seq, at));
            }
            LogEvent::Denied { id, by, viewed, .. } => {
                let by = self.person(by);
                self.took(*id, Course::Denied, Some((by, *viewed)), (seq, at));
            }
            LogEvent::Drilled(d) => {
                let by = d.by.as_ref().map(|by| self.person(by)).zip(d.viewed);
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
    }

    /// The first course counts: a run that failed was granted all the same.
    fn took(
        &mut self,
        id: ProposalId,
        course: Course,
        by: Option<(Person, Viewed)>,
        (seq, at): (u64, Timestamp),
    ) {
        let Some(case) = self.known.get(&id).and_then(|n| self.all.get_mut(*n)) else {
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
        case.by = by.map(|(by, _)| by).or_else(|| self.here.clone());
    }

    fn person(&mut self, by: &Reviewer) -> Person {
        Person {
            uid: by.uid,
            login: by.login.as_deref().map(|login| self.name(login)),
        }
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
