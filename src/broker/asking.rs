//! Whose votes are asked for, and when others are asked too. It changes neither who may vote nor what a rule asks.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use crate::ballot::{self, Question};
use crate::clock::Now;
use crate::model::{InputRequest, LogEvent, Person, ProposalId, Readers, Terms};

use super::effect::Effect;
use super::entry::Entry;
use super::notice::NoticeEvent;
use super::offer::Says;
use super::state::{BrokerState, Then};

/// Whom a proposal asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asking {
    /// In the order in which they were asked.
    pub(super) people: Vec<Person>,
    /// Boot time at which all others are asked too, until that was done.
    pub(super) escalates: Option<Duration>,
    /// When they were.
    pub(super) escalated: Option<Timestamp>,
    /// The people were told that it is over.
    pub(super) is_over: bool,
}

impl Entry {
    /// Whose votes it asks for, by its host's word in a seat. Nobody where no votes are asked for, or none could grant it.
    pub fn asked(&self) -> &[Person] {
        &self.asking.people
    }

    /// Whether it asks only others.
    pub fn asks_others(&self, person: &Person) -> bool {
        !self.asking.people.is_empty() && !self.asking.people.contains(person)
    }

    /// When everybody else who may decide it was asked too.
    pub const fn escalated(&self) -> Option<Timestamp> {
        self.asking.escalated
    }
}

impl BrokerState {
    /// Whom another version of a proposal asks beside those whom an earlier one asked. They have their turn by that.
    pub(super) fn pick(&mut self, id: ProposalId, terms: &Terms, now: Now) -> Vec<Person> {
        let (Ok(electorate), Some(entry)) = (&self.electorate, self.entries.get(&id)) else {
            return Vec::new();
        };
        let is_drill = entry.is_drill();
        let question = Question {
            asker: (&entry.proposal.peer).into(),
            readers: &entry.readers,
        };
        let mut turns = self.turns.clone();
        let fresh = ballot::ask(
            terms,
            electorate,
            question,
            now.wall,
            entry.asked(),
            &mut turns,
        );
        // A drill takes nobody's turn.
        if !is_drill {
            self.turns = turns;
        }
        fresh
    }

    /// The version is offered: these are asked, and told.
    pub(super) fn ask(
        &mut self,
        id: ProposalId,
        fresh: Vec<Person>,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let after = self.settings.voting.as_ref().map(|v| v.escalate);
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        entry.asking.people.extend(fresh.iter().cloned());
        let is_first = entry.asking.escalated.is_none() && entry.asking.escalates.is_none();
        if let Some(after) = after.filter(|after| !after.is_zero())
            && is_first
            && !entry.is_drill()
        {
            // Whoever is asked late still has as long as those before.
            let half = entry.deadline.saturating_sub(now.boot) / 2;
            let at = now.boot.saturating_add(after.min(half));
            entry.asking.escalates = Some(at);
            self.escalations.insert((at, id));
        }
        self.notify(id, NoticeEvent::Waits, &fresh, fx);
    }

    /// Asks everybody else who may decide what has waited long enough.
    pub(super) fn escalate_due(&mut self, now: Now, fx: &mut Vec<Effect>) {
        while let Some((at, id)) = self.escalations.first().copied() {
            if at > now.boot {
                break;
            }
            self.escalations.pop_first();
            self.escalate(id, now, fx);
        }
    }

    /// It is decided or over: nobody else is asked any more.
    pub(super) fn leave_escalation(&mut self, id: ProposalId) {
        let entry = self.entries.get_mut(&id);
        if let Some(at) = entry.and_then(|entry| entry.asking.escalates.take()) {
            self.escalations.remove(&(at, id));
        }
    }

    fn escalate(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) {
        let Ok(electorate) = self.electorate.clone() else {
            return;
        };
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        entry.asking.escalates = None;
        let Some(poll) = entry.poll().filter(|_| entry.awaits_decision()) else {
            return;
        };
        let question = poll.question((&entry.proposal.peer).into());
        let able = ballot::able(poll.terms(), &electorate, question);
        let voted: Vec<Person> = poll.voters().cloned().collect();
        let asked = entry.asked().to_vec();
        let also: Vec<Person> = able
            .into_iter()
            .filter(|person| !asked.contains(person))
            .cloned()
            .collect();
        if also.is_empty() {
            return;
        }
        entry.asking.people.extend(also.iter().cloned());
        entry.asking.escalated = Some(now.wall);
        let all = entry.asked().to_vec();
        let event = LogEvent::Escalated {
            id,
            asked,
            also: also.clone(),
        };
        self.record_decided(event, Vec::new(), Then::Nothing, now, fx);
        self.publish(id, None, Says::Escalated { asks: all }, now, fx);
        // Each of them is told alone, so nobody learns by that who voted.
        let waits = |person: &&Person| !voted.contains(person);
        let told: Vec<Person> = also.iter().filter(waits).cloned().collect();
        self.notify(id, NoticeEvent::Escalated, &told, fx);
    }
}

impl BrokerState {
    /// Who may see what uses these: the data sets by their routes, and what runs left as those runs.
    pub(super) fn readers_of(&self, inputs: &BTreeMap<String, InputRequest>) -> Readers {
        let Some(voting) = &self.settings.voting else {
            return Readers::EVERYBODY;
        };
        let datasets = inputs.values().filter_map(|input| match input {
            InputRequest::Dataset { dataset } => Some(dataset.as_str()),
            _ => None,
        });
        let left = inputs.values().filter_map(|input| match input {
            InputRequest::Artifact { artifact } => self.entries.get(&artifact.id),
            _ => None,
        });
        left.fold(voting.routes.of(datasets), |readers, entry| {
            readers.and(&entry.readers)
        })
    }
}
