//! One proposal in the core, from its arrival until it is forgotten.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use crate::clock::Now;
use crate::model::{BoundInput, Decision, Digest, Proposal, Run, RunEvent, State, Verdict};

use super::audience::Audience;
use super::phase::{Ended, Granted, LiveOutput, Phase, Ran, Telling};
use super::session::Session;

/// One proposal and what became of it. What differs from phase to phase is in `phase` alone.
#[derive(Debug)]
pub struct Entry {
    pub proposal: Arc<Proposal>,
    pub received: Now,
    /// Boot time at which it expires; a tie denies.
    pub deadline: Duration,
    pub expires_at: Timestamp,
    /// The session it belongs to: the server's token, or the connection where none was asked for.
    pub(super) session: Session,
    /// SHA-256 of the params, to recognise the same proposal under the same key.
    pub(super) params: Digest,
    /// Arrival number.
    pub(super) seq: u64,
    pub(super) audience: Audience,
    pub(super) phase: Phase,
}

impl Entry {
    pub fn state(&self) -> State {
        self.phase.state()
    }

    /// Whether it is waiting for a person.
    pub fn awaits_decision(&self) -> bool {
        matches!(self.phase, Phase::Waiting(_))
    }

    /// `None` while the analyser has not answered.
    pub fn verdict(&self) -> Option<&Arc<Verdict>> {
        self.phase.verdict()
    }

    /// `None` while contents are being read.
    pub fn inputs(&self) -> Option<&Arc<[BoundInput]>> {
        self.phase.inputs()
    }

    pub fn decision(&self) -> Option<&Decision> {
        match &self.phase {
            Phase::Granted(granted) => Some(&granted.decision),
            Phase::Ended(ended) => ended.decision.as_ref(),
            Phase::Arriving(_) | Phase::Recording(_) | Phase::Waiting(_) => None,
        }
    }

    pub fn run(&self) -> Option<&Run> {
        self.ending()?.run()
    }

    /// What was printed while it ran and, where no result has it, since.
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
                Ran::Not | Ran::Whole(_) => &NONE,
            },
            Phase::Arriving(_) | Phase::Recording(_) | Phase::Waiting(_) => &NONE,
        }
    }

    /// What the person and the log are told of its private data sets. No outcome has it.
    pub fn noted(&self) -> &[RunEvent] {
        match &self.phase {
            Phase::Granted(granted) => &granted.noted,
            Phase::Ended(ended) => &ended.noted,
            Phase::Arriving(_) | Phase::Recording(_) | Phase::Waiting(_) => &[],
        }
    }

    /// Since when its child runs.
    pub fn released(&self) -> Option<Now> {
        self.granted()?.live()?.released
    }

    /// When it became final.
    pub fn ended(&self) -> Option<Now> {
        self.ending().map(|ended| ended.at)
    }

    /// Why it ended as it did, in one sentence; nothing before.
    pub fn message(&self) -> &str {
        self.ending()
            .map_or("", |ended| ended.text.message.as_str())
    }

    /// Seconds it was given to be decided in.
    pub fn ttl_s(&self) -> u64 {
        self.deadline.saturating_sub(self.received.boot).as_secs()
    }

    /// Time left to decide; zero when over.
    pub fn left(&self, now: Now) -> Duration {
        self.deadline.saturating_sub(now.boot)
    }

    /// Whether its `proposed` record is durable and the agent was told; only then is it shown.
    pub(super) fn announced(&self) -> bool {
        self.phase.announced()
    }

    /// The last state agents may hear.
    pub(super) fn heard(&self) -> State {
        self.phase.heard()
    }

    /// Whether its end is durable, and everybody who waited heard.
    pub(super) fn told(&self) -> bool {
        let telling = self.ending().map(|ended| ended.telling);
        matches!(telling, Some(Telling::Told { .. }))
    }

    /// Whether its child was let go, or asked to be.
    pub(super) fn let_go(&self) -> bool {
        match &self.phase {
            Phase::Granted(granted) => granted.live().is_some(),
            Phase::Ended(ended) => !matches!(ended.ran, Ran::Not),
            Phase::Arriving(_) | Phase::Recording(_) | Phase::Waiting(_) => false,
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
