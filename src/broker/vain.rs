//! What no votes can grant, as people and keys are. Where nobody sits it ends at once; where somebody does, they may still
//! deny it, and its agent hears why it waits in vain.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::ballot::{self, Electorate, Question};
use crate::clock::Now;
use crate::model::{Person, ProposalId, Readers, Retry, Terms, When};

use super::decision::Refused;
use super::effect::Effect;
use super::entry::Entry;
use super::offer::MayVote;
use super::outcome::OutcomeText;
use super::state::BrokerState;

/// What votes can come to for one proposal, as people and keys were when they were last read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Prospect {
    /// Why no votes can grant it.
    vain: Option<Vain>,
    /// Everybody whose grant could count; `None` if that is not known.
    pub(super) able: Option<BTreeSet<Person>>,
    /// What reviewers elsewhere were told of it last.
    pub(super) told: Option<MayVote>,
    look: Look,
    /// Since when it waits in vain, because who may vote changed.
    since: Option<Duration>,
}

/// How long what was offered waits after the files changed so that no votes can grant it. Files are replaced one after another, and
/// mistakes are mended.
pub(super) const GRACE: Duration = Duration::from_secs(30);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Vain {
    /// For people. It can name some.
    why: String,
    /// For agents. It names nobody.
    told: String,
    retry: Retry,
}

/// Whether the files were read for the offer that is to be made: what is known of them may be older than it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Look {
    #[default]
    None,
    Asked,
    Done,
}

impl Prospect {
    /// In a seat: by its host's word.
    pub(super) fn told(able: Option<BTreeSet<Person>>) -> Self {
        Self {
            able,
            ..Self::default()
        }
    }

    fn set(&mut self, terms: &Terms, electorate: &Electorate, question: Question<'_>) {
        let why = ballot::hopeless(terms, electorate, question);
        let told = ballot::told_in_vain(terms, electorate, question);
        let depends = terms.0.iter().any(|rule| rule.when != When::Always);
        // Other code, or other data, may be asked about otherwise.
        let retry = match depends || *question.readers != Readers::EVERYBODY {
            true => Retry::Changed,
            false => Retry::No,
        };
        self.vain = why.zip(told).map(|(why, told)| Vain { why, told, retry });
        let able = ballot::able(terms, electorate, question).into_iter();
        self.able = Some(able.cloned().collect());
    }
}

impl Entry {
    /// Why no votes can grant it. In a seat, by its host's word.
    pub fn hopeless(&self) -> Option<&str> {
        match self.offered() {
            Some(offered) => offered.offer.hopeless.as_deref(),
            None => self.prospect.vain.as_ref().map(|vain| vain.why.as_str()),
        }
    }

    /// The same for its agent, while it waits.
    pub(super) fn told_hopeless(&self) -> Option<String> {
        let vain = self.prospect.vain.as_ref()?;
        self.awaits_decision()
            .then(|| format!("No votes can grant it as things are: {}.", vain.told))
    }

    /// What its agent hears if it expired in vain.
    pub(super) fn expired_in_vain(&self) -> Option<OutcomeText> {
        let vain = self.prospect.vain.as_ref()?;
        Some(OutcomeText::in_vain(&vain.told, vain.retry))
    }

    /// Whether this person's grant could count, as far as that is known.
    pub fn may_count(&self, person: &Person) -> bool {
        let able = self.prospect.able.as_ref();
        able.is_none_or(|able| able.contains(person))
    }
}

impl BrokerState {
    /// Looks at what votes can come to for it. Without people nothing is known.
    pub(super) fn weigh(&mut self, id: ProposalId) {
        let Some(entry) = self.entries.get(&id).filter(|e| e.offered().is_none()) else {
            return;
        };
        let terms = self.terms_of(entry);
        let (Some(entry), false) = (self.entries.get_mut(&id), terms.is_empty()) else {
            return;
        };
        let proposal = entry.proposal.clone();
        let question = Question {
            asker: (&proposal.peer).into(),
            readers: &entry.readers,
        };
        match &self.electorate {
            Ok(electorate) => entry.prospect.set(&terms, electorate, question),
            Err(_) => {
                (entry.prospect.vain, entry.prospect.able) = (None, None);
            }
        }
    }

    /// Where nobody sits: ends what waits and no votes can grant any more, by files that were just read. Whether it ended.
    pub(super) fn ends_in_vain(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) -> bool {
        let entry = self.entries.get(&id).filter(|_| self.is_unattended());
        let Some(vain) = entry.and_then(|entry| entry.prospect.vain.clone()) else {
            return false;
        };
        let text = OutcomeText::in_vain(&vain.told, vain.retry);
        self.end_failed(id, text, Refused::Vain(vain.why).to_string(), now, fx);
        true
    }

    /// The same of what was offered, if it was so for [`GRACE`].
    pub(super) fn stays_in_vain(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) -> bool {
        let waits = |entry: &&mut Entry| entry.awaits_decision() && entry.poll().is_some();
        let Some(entry) = self.entries.get_mut(&id).filter(waits) else {
            return false;
        };
        let prospect = &mut entry.prospect;
        if prospect.vain.is_none() {
            prospect.since = None;
            return false;
        }
        let since = *prospect.since.get_or_insert(now.boot);
        now.boot.saturating_sub(since) >= GRACE && self.ends_in_vain(id, now, fx)
    }

    /// Whether the files were read for the offer that is to be made. If not, they will be.
    pub(super) fn is_looked_for(&mut self, id: ProposalId, fx: &mut Vec<Effect>) -> bool {
        let Some(prospect) = self.entries.get_mut(&id).map(|entry| &mut entry.prospect) else {
            return false;
        };
        if prospect.look == Look::None {
            prospect.look = Look::Asked;
            fx.push(Effect::LookAgain { id });
        }
        prospect.look == Look::Done
    }

    /// The files were read for what is to be offered.
    pub(super) fn looked_to_offer(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) {
        let prospect = self.entries.get_mut(&id).map(|entry| &mut entry.prospect);
        let Some(prospect) = prospect.filter(|prospect| prospect.look == Look::Asked) else {
            return;
        };
        prospect.look = Look::Done;
        self.put_to_vote(id, now, fx);
        if let Some(entry) = self.entries.get_mut(&id) {
            entry.prospect.look = Look::None;
        }
    }
}
