//! Which records of a proposal may follow which.
//!
//! The chain says that nobody changed what was written; this says that what was written can have
//! happened: no run without a grant, one grant, one end. What the broker records is inside these rules
//! (its random lives are tested against them), and so is what a start adds for a dashboard that was killed.

use std::collections::HashMap;

use crate::model::{Digest, Exit, FinishedLog, LogEvent, ProposalId, State, Tier};

/// Where a proposal stands after the records so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Pending {
        grantable: bool,
        /// Which code under which policy; see [`bound`].
        what: Digest,
    },
    Granted {
        /// In which it has to be started.
        tier: Tier,
    },
    Started,
    /// A kill was asked for; the end is still to come.
    Killed {
        started: bool,
    },
    Ended(State),
    /// A later version wrote of it.
    Unjudged,
}

impl Stage {
    fn state(self) -> Option<State> {
        match self {
            Self::Pending { .. } => Some(State::Pending),
            Self::Granted { .. } | Self::Killed { started: false } => Some(State::Granted),
            Self::Started | Self::Killed { started: true } => Some(State::Running),
            Self::Ended(state) => Some(state),
            Self::Unjudged => None,
        }
    }

    /// For a person, after "a proposal that".
    fn words(self) -> &'static str {
        match self {
            Self::Pending {
                grantable: true, ..
            } => "waits for a decision",
            Self::Pending {
                grantable: false, ..
            } => "its verdict blocks",
            Self::Granted { .. } => "was granted and not started",
            Self::Started => "was started",
            Self::Killed { started: false } => "was killed before it was started",
            Self::Killed { started: true } => "was killed",
            Self::Ended(State::Succeeded) => "had succeeded",
            Self::Ended(State::Failed) => "had failed",
            Self::Ended(State::Denied) => "was denied",
            Self::Ended(State::Expired) => "had expired",
            Self::Ended(State::Withdrawn) => "was withdrawn",
            Self::Ended(State::Blocked) => "was blocked",
            Self::Ended(State::Unattended) => "ended unattended",
            Self::Ended(_) => "had ended with an error",
            Self::Unjudged => "a later version wrote of",
        }
    }
}

/// The lives of all proposals of a log.
#[derive(Debug, Default)]
pub(super) struct Lives {
    of: HashMap<ProposalId, Stage>,
    /// Old segments were removed: a life may begin with any record.
    cut: bool,
}

impl Lives {
    /// The records before the first one were removed under retention.
    pub fn begins_later(&mut self) {
        self.cut = true;
    }

    /// Nothing is known of a proposal that a later version wrote of.
    pub fn unjudged(&mut self, id: ProposalId) {
        self.of.insert(id, Stage::Unjudged);
    }

    /// Takes the next record.
    ///
    /// # Errors
    /// In words, when it cannot have happened after the ones before. The life then goes on from what
    /// the record says, so that each wrong record is named once.
    pub fn step(&mut self, event: &LogEvent) -> Result<(), String> {
        let Some(id) = event.id() else { return Ok(()) };
        let before = self.of.get(&id).copied();
        let after = claimed(event, before);
        let sound = match before {
            _ if !says_an_end_it_can_have(event) => Err(format!(
                "`{}` cannot leave a proposal {}",
                event.kind(),
                event.state().map_or("so", State::as_str)
            )),
            Some(Stage::Unjudged) => return Ok(()),
            Some(Stage::Pending { what, .. }) if grants_another(event, what) => Err(format!(
                "`granted` names other code or another policy than was proposed ({id})"
            )),
            Some(Stage::Granted { tier }) if starts_in_another(event, tier) => Err(format!(
                "`started` names another tier than {tier}, for which it was granted ({id})"
            )),
            Some(stage) if follows(event, stage) => Ok(()),
            None if matches!(event, LogEvent::Proposed(_)) || self.cut => Ok(()),
            Some(stage) => Err(format!(
                "`{}` of a proposal that {} ({id})",
                event.kind(),
                stage.words()
            )),
            None => Err(format!(
                "`{}` of a proposal that was never proposed ({id})",
                event.kind()
            )),
        };
        if let Some(after) = after {
            self.of.insert(id, after);
        }
        sound
    }

    /// The state of a proposal as its records say, if they say any.
    pub fn state(&self, id: ProposalId) -> Option<State> {
        self.of.get(&id).and_then(|stage| stage.state())
    }

    /// Proposals without a final state, oldest first.
    pub fn open(&self) -> Vec<(ProposalId, State)> {
        let mut open: Vec<_> = self
            .of
            .iter()
            .filter_map(|(id, stage)| Some((*id, stage.state()?)))
            .filter(|(_, state)| !state.is_final())
            .collect();
        open.sort_unstable_by_key(|(id, _)| *id);
        open
    }
}

/// Whether the record may stand after those that led to this stage.
fn follows(event: &LogEvent, stage: Stage) -> bool {
    let killed = matches!(stage, Stage::Killed { .. });
    match (event, stage) {
        (
            LogEvent::Granted(_) | LogEvent::Denied { .. },
            Stage::Pending {
                grantable: true, ..
            },
        )
        | (
            LogEvent::Blocked { .. },
            Stage::Pending {
                grantable: false, ..
            },
        )
        | (
            LogEvent::Expired { .. },
            Stage::Pending { .. } | Stage::Granted { .. } | Stage::Started,
        )
        | (LogEvent::Withdrawn { .. } | LogEvent::Unattended { .. }, Stage::Pending { .. })
        | (LogEvent::Started { .. }, Stage::Granted { .. })
        | (LogEvent::Killed { .. }, Stage::Granted { .. } | Stage::Started)
        | (LogEvent::Finished(_), Stage::Started | Stage::Killed { started: true })
        | (LogEvent::Replicated { .. }, Stage::Ended(State::Succeeded)) => true,
        // It fails by itself, or because somebody stopped it.
        (LogEvent::Failed { state, .. }, stage) => {
            killed || (*state == State::Error && stage.state().is_some_and(|s| !s.is_final()))
        }
        _ => false,
    }
}

/// The two kinds that name a state name one of those that they can bring about.
fn says_an_end_it_can_have(event: &LogEvent) -> bool {
    match event {
        LogEvent::Finished(f) if f.unkept.is_some() => f.state == State::Error,
        LogEvent::Finished(f) => match f.state {
            State::Succeeded => went_well(f),
            State::Failed => !went_well(f),
            _ => false,
        },
        LogEvent::Failed { state, .. } => matches!(state, State::Failed | State::Error),
        _ => true,
    }
}

fn went_well(f: &FinishedLog) -> bool {
    f.error.is_none() && f.limit.is_none() && f.exit == Exit::Code(0)
}

/// What a grant must name again: the code, the profile and its policy.
fn bound(digest: &Digest, profile: &str, policy: &str) -> Digest {
    Digest::of(format!("{digest} {policy} {profile}").as_bytes())
}

fn grants_another(event: &LogEvent, what: Digest) -> bool {
    match event {
        LogEvent::Granted(g) => bound(&g.digest, &g.profile, &g.policy_sha256) != what,
        _ => false,
    }
}

fn starts_in_another(event: &LogEvent, tier: Tier) -> bool {
    matches!(event, LogEvent::Started { isolation, .. } if isolation.tier != tier)
}

/// The stage after a record, as far as the record is believed; `None` where it changes none.
fn claimed(event: &LogEvent, before: Option<Stage>) -> Option<Stage> {
    Some(match event {
        LogEvent::Proposed(p) => Stage::Pending {
            grantable: p.verdict.verdict.grantable(),
            what: bound(&p.digest, &p.profile, &p.policy_sha256),
        },
        LogEvent::Granted(g) => Stage::Granted { tier: g.tier },
        LogEvent::Started { .. } => Stage::Started,
        LogEvent::Killed { .. } => match before {
            // The last that is left of a removed beginning may be the kill of what ran.
            None => Stage::Killed { started: true },
            Some(Stage::Granted { .. }) => Stage::Killed { started: false },
            Some(Stage::Started) => Stage::Killed { started: true },
            Some(_) => return None,
        },
        LogEvent::Replicated { .. } => match before {
            None => Stage::Ended(State::Succeeded),
            Some(_) => return None,
        },
        ended => Stage::Ended(ended.state()?),
    })
}

#[cfg(test)]
#[path = "life_tests.rs"]
mod tests;
