//! Where in its life a proposal is. Each phase holds what is known in it and nothing else, so that
//! a grant before a verdict, or an outcome of what still waits, cannot be written down.

use std::sync::Arc;

use crate::clock::Now;
use crate::model::{
    Blob, BoundInput, Decision, Outcome, Proposal, Run, RunEvent, State, StreamName, Verdict,
};

use super::decision::Grant;
use super::outcome::{OutcomeText, Stop};

/// The phases, in the order in which they can follow. Each of them can be followed by `Ended`.
#[derive(Debug)]
pub(super) enum Phase {
    /// The verdict is missing, or contents are being read.
    Arriving(Arriving),
    /// Its `proposed` record is on the way to the disk.
    Recording(Recording),
    /// The record is durable, the agent was told and a person sees it.
    Waiting(Review),
    /// A person granted it; the grant's record or the run is under way.
    Granted(Box<Granted>),
    Ended(Box<Ended>),
}

#[derive(Debug, Default)]
pub(super) struct Arriving {
    /// `None` while the analyser has not answered.
    pub verdict: Option<Arc<Verdict>>,
    /// `None` while contents are being read.
    pub inputs: Option<Contents>,
    pub early: Option<Early>,
}

/// What was read of its inputs.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    pub inputs: Arc<[BoundInput]>,
    /// Why they could not be read; there are none then.
    pub fault: Option<String>,
}

#[derive(Debug)]
pub(super) struct Recording {
    pub review: Review,
    /// Why the inputs could not be read.
    pub fault: Option<String>,
    pub early: Option<Early>,
}

/// What a person decides on.
#[derive(Clone, Debug)]
pub(super) struct Review {
    pub verdict: Arc<Verdict>,
    pub inputs: Arc<[BoundInput]>,
}

/// What ended a proposal before it was announced. Its end is recorded after `proposed` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Early {
    Expired,
    Withdrawn { disconnected: bool },
}

#[derive(Debug)]
pub(super) struct Granted {
    pub review: Review,
    pub decision: Decision,
    pub stage: Stage,
    /// Why its child is to be killed, once it is.
    pub stopped: Option<Stop>,
    /// What the person and the log are told of its private data sets. No outcome has it.
    pub noted: Vec<RunEvent>,
}

/// How far a run has come. The executor's reports are believed only where they follow from
/// what it was asked to do.
#[derive(Debug)]
pub(super) enum Stage {
    /// The grant's record is on the way to the disk; nothing was asked of the executor.
    Armed(Box<Grant>),
    /// A child was asked for.
    Made,
    /// It is held; the `started` record is on its way.
    Held,
    /// It was asked to let go.
    LetGo(Live),
}

/// A child that may run.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// When the executor let it go.
    pub released: Option<Now>,
    pub output: LiveOutput,
    /// The contents of the files it left, between the executor's word and the record.
    pub left: Vec<Blob>,
}

/// What a child printed so far, for the screen; the outcome has the whole.
#[derive(Clone, Debug, Default)]
pub struct LiveOutput {
    pub stdout: String,
    pub stderr: String,
    /// The order in which pieces came: stream and end offset in that stream's text.
    pub order: Vec<(StreamName, usize)>,
}

#[derive(Debug)]
pub(super) struct Ended {
    /// One of the final ones.
    pub state: State,
    pub at: Now,
    /// Why it ended so, for the agent and the screen.
    pub text: OutcomeText,
    pub decision: Option<Decision>,
    /// Missing where the log failed before the analyser answered.
    pub verdict: Option<Arc<Verdict>>,
    /// Missing where the log failed before they were read.
    pub inputs: Option<Arc<[BoundInput]>>,
    pub ran: Ran,
    pub noted: Vec<RunEvent>,
    /// What agents heard before the end; they hear of the end once its record is durable.
    pub heard: State,
    pub telling: Telling,
}

/// What there is of a run.
#[derive(Debug)]
pub(super) enum Ran {
    /// It was never let go.
    Not,
    /// It was let go and came to no result, or to none that was kept.
    Cut(LiveOutput),
    Whole(Box<Run>),
}

/// Who knows of an end. `weight`: bytes that it counts for among the ended ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    /// It came before the announcement; its record is on the way.
    Unannounced,
    /// It is on the screen; its record is on the way.
    Shown { weight: usize },
    /// Its record is durable, and everybody who waited heard.
    Told { weight: usize },
}

/// How a proposal ends.
#[derive(Debug)]
pub(super) struct End {
    pub state: State,
    pub text: OutcomeText,
    /// `None`: what was decided before stands.
    pub decision: Option<Decision>,
    pub run: Option<Run>,
}

impl Default for Phase {
    fn default() -> Self {
        Self::Arriving(Arriving::default())
    }
}

impl Phase {
    /// Follows with the end. What has ended does not end again.
    pub fn ended(self, end: End, at: Now) -> Self {
        let heard = self.heard();
        let (verdict, inputs) = (self.verdict().cloned(), self.inputs().cloned());
        let (decision, noted, live) = match self {
            Self::Arriving(_) | Self::Recording(_) | Self::Waiting(_) => (None, Vec::new(), None),
            Self::Granted(granted) => {
                let Granted {
                    decision,
                    stage,
                    noted,
                    ..
                } = *granted;
                (Some(decision), noted, stage.live())
            }
            Self::Ended(_) => return self,
        };
        let ran = match (end.run, live) {
            (Some(run), _) => Ran::Whole(Box::new(run)),
            (None, Some(live)) => Ran::Cut(live.output),
            (None, None) => Ran::Not,
        };
        Self::Ended(Box::new(Ended {
            state: end.state,
            at,
            text: end.text,
            decision: end.decision.or(decision),
            verdict,
            inputs,
            ran,
            noted,
            heard,
            telling: Telling::Unannounced,
        }))
    }

    pub fn state(&self) -> State {
        match self {
            Self::Arriving(_) | Self::Recording(_) | Self::Waiting(_) => State::Pending,
            Self::Granted(granted) => match granted.live().and_then(|live| live.released) {
                None => State::Granted,
                Some(_) => State::Running,
            },
            Self::Ended(ended) => ended.state,
        }
    }

    /// The last state that agents may hear: it follows the durable record.
    pub fn heard(&self) -> State {
        match self {
            Self::Arriving(_) | Self::Recording(_) | Self::Waiting(_) => State::Pending,
            Self::Granted(granted) if !granted.has_child() => State::Pending,
            Self::Granted(_) => self.state(),
            Self::Ended(ended) => match ended.telling {
                Telling::Unannounced | Telling::Shown { .. } => ended.heard,
                Telling::Told { .. } => ended.state,
            },
        }
    }

    pub fn announced(&self) -> bool {
        match self {
            Self::Arriving(_) | Self::Recording(_) => false,
            Self::Waiting(_) | Self::Granted(_) => true,
            Self::Ended(ended) => ended.telling != Telling::Unannounced,
        }
    }

    pub fn verdict(&self) -> Option<&Arc<Verdict>> {
        match self {
            Self::Arriving(arriving) => arriving.verdict.as_ref(),
            Self::Ended(ended) => ended.verdict.as_ref(),
            _ => self.review().map(|review| &review.verdict),
        }
    }

    pub fn inputs(&self) -> Option<&Arc<[BoundInput]>> {
        match self {
            Self::Arriving(arriving) => arriving.inputs.as_ref().map(|read| &read.inputs),
            Self::Ended(ended) => ended.inputs.as_ref(),
            _ => self.review().map(|review| &review.inputs),
        }
    }

    fn review(&self) -> Option<&Review> {
        match self {
            Self::Recording(Recording { review, .. }) | Self::Waiting(review) => Some(review),
            Self::Granted(granted) => Some(&granted.review),
            Self::Arriving(_) | Self::Ended(_) => None,
        }
    }

    /// The end that came before the announcement and is not recorded yet.
    pub fn early(&self) -> Option<Early> {
        match self {
            Self::Arriving(Arriving { early, .. }) | Self::Recording(Recording { early, .. }) => {
                *early
            }
            Self::Waiting(_) | Self::Granted(_) | Self::Ended(_) => None,
        }
    }

    /// Notes an end that comes before the announcement. The first one counts.
    pub fn end_early(&mut self, end: Early) {
        if let Self::Arriving(Arriving { early, .. }) | Self::Recording(Recording { early, .. }) =
            self
        {
            early.get_or_insert(end);
        }
    }
}

impl Arriving {
    /// What is to be recorded, once verdict and inputs are known.
    pub fn complete(&self) -> Option<Recording> {
        let (verdict, read) = (self.verdict.as_ref()?, self.inputs.as_ref()?);
        Some(Recording {
            review: Review {
                verdict: verdict.clone(),
                inputs: read.inputs.clone(),
            },
            fault: read.fault.clone(),
            early: self.early,
        })
    }
}

impl Contents {
    /// Of a proposal that names no inputs.
    pub fn none() -> Self {
        Self {
            inputs: Arc::from([]),
            fault: None,
        }
    }
}

impl From<Result<Vec<BoundInput>, String>> for Contents {
    fn from(read: Result<Vec<BoundInput>, String>) -> Self {
        match read {
            Ok(inputs) => Self {
                inputs: inputs.into(),
                fault: None,
            },
            Err(why) => Self {
                fault: Some(why),
                ..Self::none()
            },
        }
    }
}

impl Stage {
    fn live(self) -> Option<Live> {
        match self {
            Self::LetGo(live) => Some(live),
            Self::Armed(_) | Self::Made | Self::Held => None,
        }
    }
}

impl Granted {
    /// Whether a child was asked for.
    pub fn has_child(&self) -> bool {
        !matches!(self.stage, Stage::Armed(_))
    }

    pub fn live(&self) -> Option<&Live> {
        match &self.stage {
            Stage::LetGo(live) => Some(live),
            Stage::Armed(_) | Stage::Made | Stage::Held => None,
        }
    }

    /// Hands the grant out, once, for a child to be made.
    pub fn take_grant(&mut self) -> Option<Box<Grant>> {
        match std::mem::replace(&mut self.stage, Stage::Made) {
            Stage::Armed(grant) => Some(grant),
            other => {
                self.stage = other;
                None
            }
        }
    }
}

impl Ended {
    pub fn run(&self) -> Option<&Run> {
        match &self.ran {
            Ran::Whole(run) => Some(run),
            Ran::Not | Ran::Cut(_) => None,
        }
    }

    /// Forgets a result that the log does not have.
    pub fn lose_run(&mut self) {
        if matches!(self.ran, Ran::Whole(_)) {
            self.ran = Ran::Cut(LiveOutput::default());
        }
    }

    /// The outcome object of protocol.md §4.
    pub fn outcome(&self, proposal: &Proposal) -> Outcome {
        Outcome {
            id: proposal.id,
            digest: proposal.digest,
            state: self.state,
            message: self.text.message.clone(),
            retry: self.text.retry,
            verdict: self.verdict.as_deref().cloned(),
            decision: self.decision.clone(),
            run: self.run().cloned(),
        }
    }
}

impl Telling {
    pub fn weight(self) -> usize {
        match self {
            Self::Unannounced => 0,
            Self::Shown { weight } | Self::Told { weight } => weight,
        }
    }
}

impl LiveOutput {
    /// Bytes kept of each stream; a run's own cap ends it long before.
    pub const CAP: usize = 1024 * 1024;

    pub(super) fn push(&mut self, stream: StreamName, text: &str) {
        let kept = match stream {
            StreamName::Stdout => &mut self.stdout,
            StreamName::Stderr => &mut self.stderr,
        };
        if text.is_empty() || kept.len() + text.len() > Self::CAP {
            return;
        }
        kept.push_str(text);
        let end = kept.len();
        match self.order.last_mut() {
            Some((last, at)) if *last == stream => *at = end,
            _ => self.order.push((stream, end)),
        }
    }
}
