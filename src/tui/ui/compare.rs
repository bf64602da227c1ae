//! The diff: which earlier code is compared, and the keys while it is open. It covers the code and shows none of
//! it, so nothing on it counts as seen (invariant 5).

use std::sync::Arc;

use jiff::Timestamp;

use crate::broker::BrokerState;
use crate::clock::Now;
use crate::model::{Digest, Earlier, GrantedBefore, ProposalId};

use super::super::action::{Action, Comparison};
use super::super::diff::Diff;
use super::super::keys::{Command, Key, Meaning};
use super::super::novelty;
use super::super::seat_news;
use super::super::words;
use super::{Notice, Over, UiState};

/// The number of earlier codes that can be chosen.
const CHOICES: usize = 50;

/// An earlier code to compare with.
#[derive(Clone, Debug)]
pub(in crate::tui) struct Choice {
    pub id: ProposalId,
    pub code: Digest,
    /// If it is at hand. Else the log has it.
    pub text: Option<Arc<str>>,
    pub was: Was,
    pub agent: Arc<str>,
    pub title: Option<Arc<str>>,
    /// The names of its data sets.
    pub data: Box<[Arc<str>]>,
}

impl Choice {
    fn of(earlier: &Earlier) -> Option<Self> {
        Some(Self {
            id: earlier.id,
            code: earlier.code,
            text: None,
            was: Was::Granted(earlier.decided.as_ref().filter(|d| d.granted)?.at),
            agent: earlier.agent.clone(),
            title: earlier.title.clone(),
            data: earlier.data.clone(),
        })
    }

    /// By the word of a host, if it sent the code.
    fn told(earlier: &GrantedBefore) -> Option<Self> {
        Some(Self {
            id: earlier.proposal,
            code: earlier.code,
            text: Some(earlier.checked()?.clone()),
            was: Was::Granted(earlier.at),
            agent: earlier.agent.clone(),
            title: earlier.title.clone(),
            data: earlier.data.clone().into(),
        })
    }
}

/// What an earlier code is to the one on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tui) enum Was {
    /// What a person edited since.
    Proposed,
    Granted(Timestamp),
}

/// An open diff.
#[derive(Debug)]
pub(in crate::tui) struct Compared {
    pub choices: Vec<Choice>,
    pub at: usize,
    /// `None` until the log has answered.
    pub answer: Option<Result<Arc<Diff>, String>>,
    /// Tells this comparison from all others.
    pub number: u64,
    /// First row shown.
    pub top: usize,
}

impl Compared {
    pub fn choice(&self) -> Option<&Choice> {
        self.choices.get(self.at)
    }
}

impl UiState {
    /// `v`: opens the diff, against what the agent proposed if the code was edited, else against the last granted
    /// code.
    pub(super) fn ask_diff(&mut self, state: &BrokerState, now: Now) -> Vec<Action> {
        let Some(entry) = self.entry(state) else {
            self.remarks.notice = Some(Notice::NothingSelected);
            return Vec::new();
        };
        let proposal = &entry.proposal;
        let granted = self.memory.past.granted_like(
            proposal.id,
            (proposal.peer.uid, proposal.agent_name()),
            proposal.title.as_deref(),
            None,
            CHOICES,
        );
        let proposed = entry.is_edited().then(|| Choice {
            id: proposal.id,
            code: proposal.proposed.digest(),
            text: Some(proposal.proposed.text().clone()),
            was: Was::Proposed,
            agent: proposal.agent_name().into(),
            title: proposal.title.as_deref().map(Arc::from),
            data: novelty::data_sets(entry)
                .into_iter()
                .map(Arc::from)
                .collect(),
        });
        let granted = granted.into_iter().filter_map(Choice::of);
        // A seat's own log has no code: its host's word counts there.
        let offer = entry.offered().map(|offered| &offered.offer);
        let before = offer.and_then(|offer| offer.before.as_ref());
        let told = before.into_iter().flat_map(|before| &before.granted);
        let granted = granted.chain(told.filter_map(Choice::told));
        let choices: Vec<Choice> = proposed.into_iter().chain(granted).collect();
        if choices.is_empty() {
            let why = match (offer, self.memory.is_read()) {
                (Some(offer), _) => {
                    seat_news::no_diff(offer, |at| words::when(at, now.wall, &self.common.zone))
                }
                (None, true) => words::NO_DIFF.to_owned(),
                (None, false) => words::DIFF_UNREAD.to_owned(),
            };
            self.remarks.notice = Some(why.into());
            return Vec::new();
        }
        self.compare(state, choices, 0)
    }

    fn compare(&mut self, state: &BrokerState, choices: Vec<Choice>, at: usize) -> Vec<Action> {
        let (Some(choice), Some(entry)) = (choices.get(at), self.entry(state)) else {
            self.over.close();
            return Vec::new();
        };
        let action = Action::Compare(Comparison {
            earlier: choice.code,
            text: choice.text.clone(),
            code: entry.code().text().clone(),
            number: self.memory.compared + 1,
        });
        self.memory.compared += 1;
        self.over = Over::Diff(Compared {
            choices,
            at,
            answer: None,
            number: self.memory.compared,
            top: 0,
        });
        vec![action]
    }

    /// The number of the diff that is open.
    pub(in crate::tui) const fn diff_number(&self) -> Option<u64> {
        match &self.over {
            Over::Diff(compared) => Some(compared.number),
            _ => None,
        }
    }

    /// Takes in the log's answer to [`Action::Compare`]; an error says why there is no earlier code.
    pub fn set_diff(&mut self, number: u64, answer: Result<Diff, String>) {
        if let Over::Diff(compared) = &mut self.over
            && compared.number == number
        {
            compared.answer = Some(answer.map(Arc::new));
        }
    }

    /// Handles a key on the diff. `None`: the diff closed, and the key is for what it covered.
    pub(super) fn on_diff(&mut self, state: &BrokerState, key: Key) -> Option<Vec<Action>> {
        let meaning = self.common.keys.meaning(self.attention.before, key);
        if let Meaning::Does(Command::Grant | Command::Deny | Command::Edit) = meaning {
            self.over.close();
            return None;
        }
        self.attention.before = None;
        match meaning {
            Meaning::Does(Command::Diff) => {
                if let Over::Diff(compared) = std::mem::take(&mut self.over) {
                    // After the last one there is none: it closes.
                    return Some(self.compare(state, compared.choices, compared.at + 1));
                }
            }
            Meaning::Does(Command::Back | Command::Quit) => self.over.close(),
            Meaning::Does(Command::Suspend) => return Some(vec![Action::Suspend]),
            Meaning::Does(Command::TimeLeft) => self.say_time_left(),
            Meaning::Does(command) => self.scroll_over(command),
            Meaning::Begins => self.attention.before = Some(key),
            Meaning::Nothing => {}
        }
        Some(Vec::new())
    }
}
