//! Who is told by the host's own command that a vote is asked of them, and that it is no more.
//!
//! A notice has nothing that an agent chose: no code, title, reason, name of a data set or profile.

use jiff::Timestamp;

use crate::model::{Person, ProposalId, State};

pub use crate::model::NoticeEvent;

use super::effect::Effect;
use super::state::BrokerState;

/// What is to be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub event: NoticeEvent,
    /// The host's name.
    pub host: String,
    pub proposal: ProposalId,
    pub deadline: Timestamp,
    pub to: Vec<Addressee>,
}

/// One person, as `people.toml` names them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addressee {
    pub person: Person,
    /// Their roles of the engine.
    pub logins: Vec<String>,
}

impl BrokerState {
    /// Has these people told.
    pub(super) fn notify(
        &self,
        id: ProposalId,
        event: NoticeEvent,
        people: &[Person],
        fx: &mut Vec<Effect>,
    ) {
        let (Some(voting), Some(entry)) = (&self.settings.voting, self.entries.get(&id)) else {
            return;
        };
        if people.is_empty() || entry.is_drill() || self.offers_nothing() {
            return;
        }
        let electorate = self.electorate.as_ref().ok();
        let to = people.iter().map(|person| Addressee {
            person: person.clone(),
            logins: electorate.map_or_else(Vec::new, |e| e.logins(person).cloned().collect()),
        });
        fx.push(Effect::Notice(Notice {
            event,
            host: voting.host.clone(),
            proposal: id,
            deadline: entry.expires_at,
            to: to.collect(),
        }));
    }

    /// Tells those who were asked that nothing is asked any more, once; not what this host ends by its own end.
    pub(super) fn notify_end(&mut self, id: ProposalId, fx: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        if entry.awaits_decision() || std::mem::replace(&mut entry.asking.is_over, true) {
            return;
        }
        if entry.state() == State::Unattended {
            return;
        }
        let asked = entry.asked().to_vec();
        self.notify(id, NoticeEvent::Ended, &asked, fx);
    }
}
