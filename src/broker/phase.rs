//! The phases of a proposal's life. Each phase holds only what is known in it, so that a grant
//! before a verdict, or an outcome of a waiting proposal, cannot be represented.

use std::sync::Arc;

use crate::clock::Now;
use crate::model::{
    Blob, BoundInput, Code, Decision, DecisionKind, Outcome, Pace, Proposal, Reviewer, Run,
    RunEvent, State, StreamName, Usage, Verdict, Withheld,
};

use super::decision::Grant;
use super::desks::Work;
use super::outcome::{OutcomeText, Stop};
use super::poll::Poll;

/// The phases, in the order in which they can follow each other. `Ended` can follow each of them.
#[derive(Debug)]
pub(super) enum Phase {
    /// The verdict is missing, or contents are being read.
    Arriving(Arriving),
    /// The `proposed` record is being written.
    Recording(Recording),
    /// The record is durable, the agent was answered, and a person sees the proposal.
    Waiting(Review),
    /// A person edited the code; nothing can be granted before the edit is analysed and recorded.
    Revising(Box<Revising>),
    /// A person granted it; the grant's record or the run is under way.
    Granted(Box<Granted>),
    Ended(Box<Ended>),
}

#[derive(Debug, Default)]
pub(super) struct Arriving {
    /// `None` while the analyser has not answered.
    pub verdict: Option<Arc<Verdict>>,
    /// `None` while the contents are being read.
    pub inputs: Option<Contents>,
    /// The analyser's work, if it waits for the columns of the inputs.
    pub work: Option<Box<Work>>,
    pub early: Option<Early>,
}

/// The contents that were read for the inputs.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    pub inputs: Arc<[BoundInput]>,
    /// Why they could not be read; `inputs` is then empty.
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
    /// The verdict on the code as proposed, the only one that agents hear before a grant.
    pub proposed: Arc<Verdict>,
    pub inputs: Arc<[BoundInput]>,
    /// `None`: the code is as its agent proposed it.
    pub edit: Option<Arc<Edit>>,
    /// What other people are asked; `None` if one person decides, or nothing could be offered yet.
    pub poll: Option<Box<Poll>>,
}

/// What a person made of a proposed code.
#[derive(Debug)]
pub(super) struct Edit {
    pub code: Code,
    pub verdict: Arc<Verdict>,
    /// What the person changed in the code as proposed, as a unified diff.
    pub diff: Arc<str>,
}

#[derive(Debug)]
pub(super) struct Revising {
    /// What stands if the edit cannot be recorded, and until then.
    pub review: Review,
    pub code: Code,
    pub diff: Arc<str>,
    pub by: Reviewer,
    /// `None` while the analyser has not answered; then the edit's record is being written.
    pub verdict: Option<Arc<Verdict>>,
}

/// An end before the announcement. It is recorded after the `proposed` record.
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
    /// Why its child is to be killed, if it is.
    pub stopped: Option<Stop>,
    /// Notes about private data sets, for the person and the log. Outcomes do not contain them.
    pub noted: Vec<RunEvent>,
}

/// How far a run has come. The executor's reports are accepted only if they follow from what it was
/// asked to do.
#[derive(Debug)]
pub(super) enum Stage {
    /// The grant's record is being written; nothing was asked of the executor yet.
    Armed(Box<Grant>),
    /// A child was requested.
    Made,
    /// The child is held; the `started` record is being written.
    Held,
    /// The files of who may vote are read once more.
    Looking,
    /// The release of the child was requested.
    LetGo(Live),
}

/// A child whose release was requested.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// When the executor released it.
    pub released: Option<Now>,
    pub output: LiveOutput,
    pub pace: Pace,
    /// The last measurement.
    pub used: Option<Usage>,
    /// The contents of the files it left, between the executor's report and the record.
    pub left: Vec<Blob>,
}

/// The output of a child so far, for the screen; the outcome has all of it.
#[derive(Clone, Debug, Default)]
pub struct LiveOutput {
    pub stdout: String,
    pub stderr: String,
    /// The order in which the pieces arrived: stream, and end offset in that stream's text.
    pub order: Vec<(StreamName, usize)>,
}

#[derive(Debug)]
pub(super) struct Ended {
    /// Always a final state.
    pub state: State,
    pub at: Now,
    /// Why it ended, for the agent and the screen.
    pub text: OutcomeText,
    pub decision: Option<Decision>,
    /// The verdict on the code as proposed; `None` if the log failed before the analyser answered.
    pub proposed: Option<Arc<Verdict>>,
    pub edit: Option<Arc<Edit>>,
    /// `None` if the log failed before the inputs were read.
    pub inputs: Option<Arc<[BoundInput]>>,
    pub ran: Ran,
    pub pace: Pace,
    pub noted: Vec<RunEvent>,
    /// What a run used, for the person. Outcomes do not contain it.
    pub used: Option<Usage>,
    /// The last state that agents heard; they hear of the end once its record is durable.
    pub heard: State,
    pub telling: Telling,
}

/// What is known of a run.
#[derive(Debug)]
pub(super) enum Ran {
    /// It was never released.
    Not,
    /// It was released, but it has no result or none that was kept.
    Cut(LiveOutput),
    Whole(Box<Run>, Withheld),
}

/// Who knows of an end. `weight`: the bytes it counts for among the ended proposals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Telling {
    /// It ended before the announcement; its record is being written.
    Unannounced,
    /// The end is on the screen; its record is being written.
    Shown { weight: usize },
    /// The record is durable, and every waiting call was answered.
    Told { weight: usize },
}

/// How a proposal ends.
#[derive(Debug)]
pub(super) struct End {
    pub state: State,
    pub text: OutcomeText,
    /// `None`: the earlier decision stands.
    pub decision: Option<Decision>,
    pub run: Option<Run>,
}

impl Default for Phase {
    fn default() -> Self {
        Self::Arriving(Arriving::default())
    }
}

impl Phase {
    /// Moves to the ended phase. A proposal that has ended does not end again.
    pub fn ended(self, end: End, at: Now) -> Self {
        let heard = self.heard();
        let (proposed, inputs) = (self.proposed_verdict().cloned(), self.inputs().cloned());
        let edit = self.edit().cloned();
        let (decision, noted, live) = match self {
            Self::Arriving(_) | Self::Recording(_) | Self::Waiting(_) | Self::Revising(_) => {
                (None, Vec::new(), None)
            }
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
        let used = live.as_ref().and_then(|live| live.used);
        let pace = live
            .as_ref()
            .map(|live| live.pace.clone())
            .unwrap_or_default();
        let ran = match (end.run, live) {
            (Some(run), _) => {
                let withheld = run.withheld();
                Ran::Whole(Box::new(run), withheld)
            }
            (None, Some(live)) => Ran::Cut(live.output),
            (None, None) => Ran::Not,
        };
        Self::Ended(Box::new(Ended {
            state: end.state,
            at,
            text: end.text,
            decision: end.decision.or(decision),
            proposed,
            edit,
            inputs,
            ran,
            pace,
            noted,
            used,
            heard,
            telling: Telling::Unannounced,
        }))
    }

    pub fn state(&self) -> State {
        match self {
            Self::Arriving(_) | Self::Recording(_) | Self::Waiting(_) | Self::Revising(_) => {
                State::Pending
            }
            Self::Granted(granted) => match granted.live().and_then(|live| live.released) {
                None => State::Granted,
                Some(_) => State::Running,
            },
            Self::Ended(ended) => ended.state,
        }
    }

    /// The last state that agents may know: one whose record is durable.
    pub fn heard(&self) -> State {
        match self {
            Self::Arriving(_) | Self::Recording(_) | Self::Waiting(_) | Self::Revising(_) => {
                State::Pending
            }
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
            Self::Waiting(_) | Self::Revising(_) | Self::Granted(_) => true,
            Self::Ended(ended) => ended.telling != Telling::Unannounced,
        }
    }

    /// The verdict on the code as proposed.
    pub fn proposed_verdict(&self) -> Option<&Arc<Verdict>> {
        match self {
            Self::Arriving(arriving) => arriving.verdict.as_ref(),
            Self::Ended(ended) => ended.proposed.as_ref(),
            _ => self.review().map(|review| &review.proposed),
        }
    }

    /// The verdict on what would run, or ran.
    pub fn verdict(&self) -> Option<&Arc<Verdict>> {
        match self.edit() {
            Some(edit) => Some(&edit.verdict),
            None => self.proposed_verdict(),
        }
    }

    /// A person's edit, once it is recorded.
    pub fn edit(&self) -> Option<&Arc<Edit>> {
        match self {
            Self::Ended(ended) => ended.edit.as_ref(),
            _ => self.review()?.edit.as_ref(),
        }
    }

    pub fn inputs(&self) -> Option<&Arc<[BoundInput]>> {
        match self {
            Self::Arriving(arriving) => arriving.inputs.as_ref().map(|read| &read.inputs),
            Self::Ended(ended) => ended.inputs.as_ref(),
            _ => self.review().map(|review| &review.inputs),
        }
    }

    pub fn review_mut(&mut self) -> Option<&mut Review> {
        match self {
            Self::Recording(Recording { review, .. }) | Self::Waiting(review) => Some(review),
            Self::Revising(revising) => Some(&mut revising.review),
            Self::Granted(granted) => Some(&mut granted.review),
            Self::Arriving(_) | Self::Ended(_) => None,
        }
    }

    pub fn review(&self) -> Option<&Review> {
        match self {
            Self::Recording(Recording { review, .. }) | Self::Waiting(review) => Some(review),
            Self::Revising(revising) => Some(&revising.review),
            Self::Granted(granted) => Some(&granted.review),
            Self::Arriving(_) | Self::Ended(_) => None,
        }
    }

    /// An end before the announcement that is not recorded yet.
    pub fn early(&self) -> Option<Early> {
        match self {
            Self::Arriving(Arriving { early, .. }) | Self::Recording(Recording { early, .. }) => {
                *early
            }
            Self::Waiting(_) | Self::Revising(_) | Self::Granted(_) | Self::Ended(_) => None,
        }
    }

    /// Notes an end before the announcement. Only the first one counts.
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
                proposed: verdict.clone(),
                inputs: read.inputs.clone(),
                edit: None,
                poll: None,
            },
            fault: read.fault.clone(),
            early: self.early,
        })
    }
}

impl Review {
    /// The verdict on what would run.
    pub fn verdict(&self) -> &Arc<Verdict> {
        match &self.edit {
            Some(edit) => &edit.verdict,
            None => &self.proposed,
        }
    }
}

impl Contents {
    /// The contents for a proposal without inputs.
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
            Self::Armed(_) | Self::Made | Self::Held | Self::Looking => None,
        }
    }
}

impl Granted {
    /// Whether a child was requested.
    pub fn has_child(&self) -> bool {
        !matches!(self.stage, Stage::Armed(_))
    }

    pub fn live(&self) -> Option<&Live> {
        match &self.stage {
            Stage::LetGo(live) => Some(live),
            Stage::Armed(_) | Stage::Made | Stage::Held | Stage::Looking => None,
        }
    }

    /// Takes the grant out, once, to create a child.
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
            Ran::Whole(run, _) => Some(run),
            Ran::Not | Ran::Cut(_) => None,
        }
    }

    /// What of the run its agent does not get.
    pub fn withheld(&self) -> Withheld {
        match self.ran {
            Ran::Whole(_, withheld) => withheld,
            Ran::Not | Ran::Cut(_) => Withheld::default(),
        }
    }

    /// Drops a result that the log does not have.
    pub fn lose_run(&mut self) {
        if matches!(self.ran, Ran::Whole(..)) {
            self.ran = Ran::Cut(LiveOutput::default());
        }
    }

    /// The outcome object of protocol.md §4. It says nothing of an edit that was not granted.
    pub fn outcome(&self, proposal: &Proposal) -> Outcome {
        let granted = self
            .decision
            .as_ref()
            .is_some_and(|decision| decision.kind == DecisionKind::Granted);
        let edit = self.edit.as_ref().filter(|_| granted);
        let verdict = edit.map(|edit| &edit.verdict).or(self.proposed.as_ref());
        Outcome {
            id: proposal.id,
            digest: proposal.proposed.digest(),
            state: self.state,
            message: self.text.message.clone(),
            retry: self.text.retry,
            verdict: verdict.map(|verdict| Verdict::clone(verdict)),
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
    /// Bytes kept of each stream; a run's own cap stops it long before.
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
