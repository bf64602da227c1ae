//! The footer's message beside the keys. Each message is tied to a state and disappears with that
//! state or with the next key.

use std::borrow::Cow;

use crate::broker::BrokerState;
use crate::clock::Now;
use crate::model::{ProposalId, State};

use super::super::keys::{Command, Key};
use super::super::words;
use super::{UiState, View};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tui) enum Notice {
    /// Answers the last key; true until the next key.
    Said(Cow<'static, str>),
    /// The same for a key that did nothing.
    Idle(Cow<'static, str>),
    /// Why this proposal's sheet cannot be opened; the words follow the current state.
    CannotAsk(ProposalId),
    /// The rows of this proposal's code on the screen do not count yet; the page turns once they do.
    PageWaits(ProposalId),
    /// The same, and it does not turn.
    NotCounted(ProposalId),
    /// True while this proposal is in this state.
    While(ProposalId, State, Cow<'static, str>),
    /// How long this proposal can still be decided.
    TimeLeft(ProposalId),
    NothingSelected,
    NothingPending,
    /// True while the loaded rows of screen 2 stay the same.
    OfAuditRows(u64, Cow<'static, str>),
    /// True while the number of listed proposals stays the same.
    OfList(usize, Cow<'static, str>),
    /// Shown on the open sheet.
    WrongDigits,
    /// This key was dropped, and would still be dropped if pressed again.
    TooEarly(Key),
}

impl From<&'static str> for Notice {
    fn from(words: &'static str) -> Self {
        Self::Said(Cow::Borrowed(words))
    }
}

impl From<String> for Notice {
    fn from(words: String) -> Self {
        Self::Said(Cow::Owned(words))
    }
}

impl Notice {
    /// Whether it says that the filter was taken away.
    pub(in crate::tui) fn is_of_filter(&self) -> bool {
        [words::FILTER_OFF, words::FILTER_DROPPED]
            .into_iter()
            .any(|words| *self == Self::from(words))
    }
}

impl UiState {
    /// What the current message is about; it stays the same while its words count down.
    pub(in crate::tui) const fn remark(&self) -> Option<&Notice> {
        self.remarks.notice.as_ref()
    }

    /// What is said of a key that did nothing.
    pub(in crate::tui) fn idle(&self) -> Option<&str> {
        match self.remarks.notice.as_ref()? {
            Notice::Idle(words) => Some(words),
            _ => None,
        }
    }

    /// The current message.
    pub(in crate::tui) fn notice(&self, state: &BrokerState, now: Now) -> Option<String> {
        let words = match self.remarks.notice.as_ref()? {
            Notice::Said(words) | Notice::Idle(words) => words.clone(),
            Notice::CannotAsk(id) => {
                let asks = self.queue.selected == Some(*id) && self.view() == View::Queue;
                self.obstacle(state, now).filter(|_| asks)?
            }
            Notice::PageWaits(id) | Notice::NotCounted(id) => {
                let here = self.queue.selected == Some(*id) && self.view() == View::Queue;
                self.uncounted().filter(|_| here)?;
                match self.remarks.notice {
                    Some(Notice::PageWaits(_)) => words::PAGE_WAITS.into(),
                    _ => words::not_counted(&self.key(Command::PageCode)).into(),
                }
            }
            Notice::While(id, of, words) => {
                let holds = self.queue.selected == Some(*id)
                    && state.entry(*id).is_some_and(|e| e.state() == *of);
                holds.then(|| words.clone())?
            }
            Notice::TimeLeft(id) => match state.entry(*id) {
                _ if self.queue.selected != Some(*id) => return None,
                Some(entry) if entry.awaits_decision() => {
                    words::plain::left(entry.left(now)).into()
                }
                Some(entry) => words::already(entry.state()).into(),
                None => words::GONE.into(),
            },
            Notice::NothingSelected if self.queue.selected.is_none() => {
                words::NOTHING_SELECTED.into()
            }
            Notice::NothingPending if state.pending_count() == 0 => words::NOTHING_PENDING.into(),
            Notice::OfAuditRows(set, words)
                if self.place.log().is_some_and(|log| log.set == *set) =>
            {
                words.clone()
            }
            Notice::OfList(length, words) if *length == self.listed() => words.clone(),
            Notice::WrongDigits if self.sheet().is_some() => words::WRONG_DIGITS.into(),
            Notice::TooEarly(_) if self.attention.focused == Some(false) => words::NO_FOCUS.into(),
            Notice::TooEarly(key) if now.boot < self.counts_from(*key) => {
                let left = self.counts_from(*key).saturating_sub(now.boot);
                words::too_early(&key.to_string(), left).into()
            }
            _ => return None,
        };
        Some(words.into_owned())
    }

    /// When this key starts to count, if no other input comes.
    pub(super) fn counts_from(&self, key: Key) -> std::time::Duration {
        match self.confirmable_from() {
            Some(at) => at,
            None => self
                .attention
                .grace
                .max(self.attention.quiet.asks_from(key)),
        }
    }

    /// Says how long the selected proposal can still be decided.
    pub(super) fn say_time_left(&mut self) {
        let selected = self.queue.selected.map(Notice::TimeLeft);
        self.remarks.notice = Some(selected.unwrap_or(Notice::NothingSelected));
    }

    /// The number of proposals in the lists.
    pub(super) fn listed(&self) -> usize {
        self.queue.lists.live.len() + self.queue.lists.decided.len()
    }

    /// Says that a proposal was a drill, and what was wrong with it. Call after the selection moved.
    pub(super) fn tell_drill(&mut self, state: &BrokerState) {
        let ended = self.remarks.drilled.take().and_then(|id| state.entry(id));
        if let Some(entry) = ended {
            self.remarks.notice = Some(entry.message().to_owned().into());
        }
    }

    /// Shows once why the last confirmation was refused.
    pub(super) fn hear_refusal(&mut self, state: &BrokerState) {
        let refusal = self
            .entry(state)
            .filter(|e| e.awaits_decision())
            .and_then(|e| state.refusal(e.proposal.id).map(|why| (e.proposal.id, why)));
        let heard = self.remarks.refused.as_ref().map(|(id, why)| (*id, why));
        if refusal == heard {
            return;
        }
        if let Some((id, why)) = refusal {
            let words = words::cannot_grant(&why.to_string());
            self.remarks.notice = Some(Notice::While(id, State::Pending, words.into()));
        }
        self.remarks.refused = refusal.map(|(id, why)| (id, why.clone()));
    }
}
