//! One proposal in the core, from its arrival until it is forgotten.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::clock::Now;
use crate::model::{
    BoundInput, Code, Decision, Digest, Proposal, Readers, Run, RunEvent, State, Usage, Verdict,
    Withheld,
};

use super::asking::Asking;
use super::audience::Audience;
use super::phase::{Ended, Granted, LiveOutput, Phase, Ran, Telling};
use super::poll::Poll;
use super::quota::{PeerKey, key};
use super::seat::Offered;
use super::session::Session;
use super::vain::Prospect;
use super::voting::Refusals;

/// One proposal and its history. Everything that depends on the phase is in `phase`.
#[derive(Debug)]
pub struct Entry {
    pub proposal: Arc<Proposal>,
    pub received: Now,
    /// Boot time at which it expires. A decision at exactly that time is too late.
    pub deadline: Duration,
    pub expires_at: Timestamp,
    /// The session it belongs to: the server's token, or the connection if there is no token.
    pub(super) session: Session,
    /// SHA-256 of the params, to recognise a repeated proposal under the same key.
    pub(super) params: Digest,
    /// Arrival number.
    pub(super) seq: u64,
    pub(super) audience: Audience,
    pub(super) phase: Phase,
    /// How many versions of it were offered to other people.
    pub(super) offers: u32,
    pub(super) refused_votes: Refusals,
    pub(super) asking: Asking,
    /// What votes can come to, where votes are asked for.
    pub(super) prospect: Prospect,
    /// Who may see it, by what it uses.
    pub(super) readers: Readers,
    /// Set in a reviewer's seat.
    pub(super) offered: Option<Offered>,
}

impl Entry {
    pub fn state(&self) -> State {
        self.phase.state()
    }

    /// Whether the dashboard itself made it.
    pub fn is_drill(&self) -> bool {
        self.proposal.drill.is_some()
    }

    /// The peer that its quotas are charged to; a drill is nobody's.
    pub(super) fn counts_for(&self) -> Option<PeerKey> {
        (!self.is_drill()).then(|| key(&self.proposal.peer))
    }

    /// Whether it waits for a person's decision.
    pub fn awaits_decision(&self) -> bool {
        matches!(self.phase, Phase::Waiting(_) | Phase::Revising(_))
    }

    /// What would run, or ran: the code as proposed, or what a person made of it.
    pub fn code(&self) -> &Code {
        match self.phase.edit() {
            Some(edit) => &edit.code,
            None => &self.proposal.proposed,
        }
    }

    /// Whether a person edited the code.
    pub fn is_edited(&self) -> bool {
        self.phase.edit().is_some()
    }

    /// Whether a person's edit is being analysed or recorded. [`Self::code`] is then still the one
    /// before the edit.
    pub fn is_revising(&self) -> bool {
        matches!(self.phase, Phase::Revising(_))
    }

    /// The verdict on [`Self::code`]; `None` while the analyser has not answered.
    pub fn verdict(&self) -> Option<&Arc<Verdict>> {
        self.phase.verdict()
    }

    /// The verdict on the code as proposed, for the agent.
    pub(super) fn proposed_verdict(&self) -> Option<&Arc<Verdict>> {
        self.phase.proposed_verdict()
    }

    /// `None` while the contents are being read.
    pub fn inputs(&self) -> Option<&Arc<[BoundInput]>> {
        self.phase.inputs()
    }

    pub fn decision(&self) -> Option<&Decision> {
        match &self.phase {
            Phase::Granted(granted) => Some(&granted.decision),
            Phase::Ended(ended) => ended.decision.as_ref(),
            Phase::Arriving(_) | Phase::Recording(_) | Phase::Waiting(_) | Phase::Revising(_) => {
                None
            }
        }
    }

    /// The offer that it is, in a reviewer's seat.
    pub const fn offered(&self) -> Option<&Offered> {
        self.offered.as_ref()
    }

    /// The votes on it, where its policy asks for some and it waits or is granted.
    pub fn poll(&self) -> Option<&Poll> {
        self.phase.review()?.poll.as_deref()
    }

    pub(super) fn poll_mut(&mut self) -> Option<&mut Poll> {
        self.phase.review_mut()?.poll.as_deref_mut()
    }

    pub fn run(&self) -> Option<&Run> {
        self.ending()?.run()
    }

    /// What of its run its agent does not get, counted once.
    pub fn withheld(&self) -> Withheld {
        self.ending().map(Ended::withheld).unwrap_or_default()
    }

    /// Output so far; after the end, the output of a run without a result.
    pub fn output(&self) -> &LiveOutput {
        static NONE: LiveOutput = LiveOutput {
            stdout: String::new(),
            stderr: String::new(),
            order: Vec::new(),
        };
        match &self.phase {
            Phase::Granted(granted) => granted.live().map_or(&NONE, |live| &live.output),
            Phase::Ended(ended) => match &ended.ran {
                Ran::Cut(output) => output,
                Ran::Not | Ran::Whole(..) => &NONE,
            },
            Phase::Arriving(_) | Phase::Recording(_) | Phase::Waiting(_) | Phase::Revising(_) => {
                &NONE
            }
        }
    }

    /// Notes about private data sets, for the person and the log. Outcomes do not contain them.
    pub fn noted(&self) -> &[RunEvent] {
        match &self.phase {
            Phase::Granted(granted) => &granted.noted,
            Phase::Ended(ended) => &ended.noted,
            Phase::Arriving(_) | Phase::Recording(_) | Phase::Waiting(_) | Phase::Revising(_) => {
                &[]
            }
        }
    }

    /// What its run uses or used, for the person. Outcomes do not contain it.
    pub fn used(&self) -> Option<Usage> {
        match &self.phase {
            Phase::Granted(granted) => granted.live()?.used,
            Phase::Ended(ended) => ended.used,
            Phase::Arriving(_) | Phase::Recording(_) | Phase::Waiting(_) | Phase::Revising(_) => {
                None
            }
        }
    }

    /// When its child began to run.
    pub fn released(&self) -> Option<Now> {
        self.granted()?.live()?.released
    }

    /// When it became final.
    pub fn ended(&self) -> Option<Now> {
        self.ending().map(|ended| ended.at)
    }

    /// Why it ended, in one sentence; empty before the end.
    pub fn message(&self) -> &str {
        self.ending()
            .map_or("", |ended| ended.text.message.as_str())
    }

    /// Seconds allowed for a decision.
    pub fn ttl_s(&self) -> u64 {
        self.deadline.saturating_sub(self.received.boot).as_secs()
    }

    /// Time left to decide; zero once it is over.
    pub fn left(&self, now: Now) -> Duration {
        self.deadline.saturating_sub(now.boot)
    }

    /// Whether its `proposed` record is durable and the agent was answered; only then is it shown.
    pub(super) fn announced(&self) -> bool {
        self.phase.announced()
    }

    /// The last state that agents may know.
    pub(super) fn heard(&self) -> State {
        self.phase.heard()
    }

    /// Whether its end is in the log, with the files that its run left.
    pub fn is_recorded(&self) -> bool {
        self.told()
    }

    /// Whether its end is durable and was reported to every waiting call.
    pub(super) fn told(&self) -> bool {
        let telling = self.ending().map(|ended| ended.telling);
        matches!(telling, Some(Telling::Told { .. }))
    }

    /// Whether its child was released, or a release was requested.
    pub(super) fn let_go(&self) -> bool {
        match &self.phase {
            Phase::Granted(granted) => granted.live().is_some(),
            Phase::Ended(ended) => !matches!(ended.ran, Ran::Not),
            Phase::Arriving(_) | Phase::Recording(_) | Phase::Waiting(_) | Phase::Revising(_) => {
                false
            }
        }
    }

    pub(super) fn granted(&self) -> Option<&Granted> {
        match &self.phase {
            Phase::Granted(granted) => Some(granted),
            _ => None,
        }
    }

    pub(super) fn granted_mut(&mut self) -> Option<&mut Granted> {
        match &mut self.phase {
            Phase::Granted(granted) => Some(granted),
            _ => None,
        }
    }

    pub(super) fn ending(&self) -> Option<&Ended> {
        match &self.phase {
            Phase::Ended(ended) => Some(ended),
            _ => None,
        }
    }

    pub(super) fn ending_mut(&mut self) -> Option<&mut Ended> {
        match &mut self.phase {
            Phase::Ended(ended) => Some(ended),
            _ => None,
        }
    }
}
