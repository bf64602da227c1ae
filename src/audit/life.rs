//! The order in which records of a proposal may follow each other.
//!
//! The chain proves that nobody changed what was written. These rules check that it can have happened: no run
//! without a grant, one grant, one end. The broker's records keep these rules (its random lives are tested
//! against them), and so do the records that a start adds for a killed dashboard.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use crate::model::{
    Digest, Exit, FinishedLog, LogEvent, ProposalId, State, Tier, Verdict, Via, VoteKind,
};

/// What a person decides on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct What {
    grantable: bool,
    code: Digest,
    /// The code and the policy; see [`bound`].
    bound: Digest,
    /// Whether it is a drill, of which nothing is ever granted; `None` if the record that says so was removed.
    drill: Option<bool>,
}

impl What {
    fn of(
        code: &Digest,
        profile: &str,
        policy: &str,
        verdict: &Verdict,
        drill: Option<bool>,
    ) -> Self {
        Self {
            grantable: verdict.verdict.grantable(),
            code: *code,
            bound: bound(code, profile, policy),
            drill,
        }
    }
}

/// The stage of a proposal after the records so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Pending(What),
    /// It waits for a decision on what a person made of it.
    Edited(What),
    Granted {
        /// The tier in which it must be started.
        tier: Tier,
        veto: Veto,
    },
    Started(Veto),
    /// A kill was recorded, the end not yet.
    Killed {
        started: bool,
    },
    Ended(State),
    /// A record of a later version names it.
    Unjudged,
    /// In a seat's log: the proposal is another program's, and only votes from here and its end are recorded.
    Elsewhere,
}

/// Whether somebody's veto came after the grant. Only then it can end as denied, until it is let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Veto {
    None,
    Came,
}

impl Stage {
    fn state(self) -> Option<State> {
        match self {
            Self::Pending(_) | Self::Edited(_) => Some(State::Pending),
            Self::Granted { .. } | Self::Killed { started: false } => Some(State::Granted),
            Self::Started(_) | Self::Killed { started: true } => Some(State::Running),
            Self::Ended(state) => Some(state),
            Self::Unjudged | Self::Elsewhere => None,
        }
    }

    /// Words for a person that follow "a proposal that".
    fn words(self) -> &'static str {
        match self {
            Self::Pending(What {
                drill: Some(true), ..
            })
            | Self::Edited(What {
                drill: Some(true), ..
            }) => "is a drill",
            Self::Pending(What {
                grantable: true, ..
            })
            | Self::Edited(What {
                grantable: true, ..
            }) => "waits for a decision",
            Self::Pending(_) | Self::Edited(_) => "its verdict blocks",
            Self::Granted { .. } => "was granted and not started",
            Self::Started(_) => "was started",
            Self::Killed { started: false } => "was killed before it was started",
            Self::Killed { started: true } => "was killed",
            Self::Ended(State::Succeeded) => "had succeeded",
            Self::Ended(State::Failed) => "had failed",
            Self::Ended(State::Denied) => "was denied",
            Self::Ended(State::Expired) => "had expired",
            Self::Ended(State::Withdrawn) => "was withdrawn",
            Self::Ended(State::Blocked) => "was blocked",
            Self::Ended(State::Unattended) => "ended unattended",
            Self::Ended(State::Drilled) => "was a drill",
            Self::Ended(_) => "had ended with an error",
            Self::Unjudged => "a later version wrote of",
            Self::Elsewhere => "another program has",
        }
    }
}

/// The lives of all proposals of a log.
#[derive(Debug, Default)]
pub(super) struct Lives {
    stages: HashMap<ProposalId, Stage>,
    /// Those that ended, apart: most did, and nothing else is known of them. A long log has many, so they are known by eight
    /// bytes, see [`Self::key`].
    ended: HashMap<[u8; 8], State>,
    keys: RandomState,
    /// Old segments were removed, so a life may begin with any record.
    cut: bool,
}

impl Lives {
    /// Retention removed the records before the first one.
    pub fn begins_later(&mut self) {
        self.cut = true;
    }

    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Stops judging a proposal that a record of a later version names.
    pub fn unjudged(&mut self, id: ProposalId) {
        self.set(id, Stage::Unjudged);
    }

    fn stage(&self, id: ProposalId) -> Option<Stage> {
        let ended = || {
            let state = self.ended.get(&self.key(id));
            state.map(|state| Stage::Ended(*state))
        };
        self.stages.get(&id).copied().or_else(ended)
    }

    /// Nobody who does not know the keys of this reader can make two ids alike, and by chance no two are.
    fn key(&self, id: ProposalId) -> [u8; 8] {
        self.keys.hash_one(id).to_le_bytes()
    }

    fn set(&mut self, id: ProposalId, stage: Stage) {
        self.forget(id);
        match stage {
            Stage::Ended(state) => {
                self.ended.insert(self.key(id), state);
            }
            stage => {
                self.stages.insert(id, stage);
            }
        }
    }

    /// Whether there was a record of it.
    pub fn knows(&self, id: ProposalId) -> bool {
        self.stage(id).is_some()
    }

    /// Drops a proposal whose records can be read again before its next one is judged.
    pub fn forget(&mut self, id: ProposalId) {
        self.stages.remove(&id);
        self.ended.remove(&self.key(id));
    }

    /// Judges the next record.
    ///
    /// # Errors
    /// A description, when the record cannot follow the earlier ones. The life then continues from the stage
    /// that the record claims, so that one wrong record is reported once.
    pub fn step(&mut self, event: &LogEvent) -> Result<(), String> {
        let Some(id) = event.id() else { return Ok(()) };
        let before = self.stage(id);
        let after = claimed(event, before);
        let sound = match before {
            _ if !names_possible_state(event) => Err(format!(
                "`{}` cannot leave a proposal {}",
                event.kind(),
                event.state().map_or("so", State::as_str)
            )),
            Some(Stage::Unjudged) => return Ok(()),
            Some(Stage::Pending(what) | Stage::Edited(what))
                if grants_other_binding(event, what.bound) =>
            {
                Err(format!(
                    "`granted` names other code or another policy than was proposed ({id})"
                ))
            }
            Some(Stage::Pending(what) | Stage::Edited(what)) if edits_other(event, what.code) => {
                Err(format!(
                    "`edited` names other code than there was to edit ({id})"
                ))
            }
            Some(Stage::Granted { tier, .. }) if starts_in_other_tier(event, tier) => Err(format!(
                "`started` names another tier than {tier}, for which it was granted ({id})"
            )),
            Some(stage) if follows(event, stage) => Ok(()),
            None if matches!(event, LogEvent::Proposed(_)) || self.cut => Ok(()),
            None if votes_elsewhere(event) => Ok(()),
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
            self.set(id, after);
        }
        sound
    }

    /// The state of a proposal according to its records; `None` without records or if unjudged.
    pub fn state(&self, id: ProposalId) -> Option<State> {
        self.stage(id).and_then(Stage::state)
    }

    /// Proposals without a final state, oldest first.
    pub fn open(&self) -> Vec<(ProposalId, State)> {
        let mut open: Vec<_> = self
            .stages
            .iter()
            .filter_map(|(id, stage)| Some((*id, stage.state()?)))
            .filter(|(_, state)| !state.is_final())
            .collect();
        open.sort_unstable_by_key(|(id, _)| *id);
        open
    }
}

/// Whether it is the first that a seat records of a proposal: a vote from its own terminal.
fn votes_elsewhere(event: &LogEvent) -> bool {
    matches!(event, LogEvent::Voted(v) if matches!(v.via, Via::Terminal(_)))
}

/// Whether the record may follow at this stage.
fn follows(event: &LogEvent, stage: Stage) -> bool {
    let killed = matches!(stage, Stage::Killed { .. });
    if let Stage::Pending(what) | Stage::Edited(what) = stage
        && what.drill == Some(true)
    {
        // A killed dashboard leaves one open.
        return matches!(
            event,
            LogEvent::Edited(_) | LogEvent::Drilled(_) | LogEvent::Unattended { .. }
        );
    }
    match (event, stage) {
        (
            LogEvent::Granted(_) | LogEvent::Denied { .. } | LogEvent::Edited(_),
            Stage::Pending(What {
                grantable: true, ..
            })
            | Stage::Edited(What {
                grantable: true, ..
            }),
        )
        // Only a person's own edit can wait although its verdict blocks.
        | (LogEvent::Denied { .. } | LogEvent::Edited(_), Stage::Edited(_))
        | (
            LogEvent::Blocked { .. },
            Stage::Pending(What {
                grantable: false, ..
            }),
        )
        | (
            LogEvent::Expired { .. },
            Stage::Pending(_) | Stage::Edited(_) | Stage::Granted { .. } | Stage::Started(_),
        )
        | (
            LogEvent::Withdrawn { .. } | LogEvent::Unattended { .. },
            Stage::Pending(_) | Stage::Edited(_),
        )
        | (
            LogEvent::Escalated { .. },
            Stage::Pending(What {
                grantable: true, ..
            })
            | Stage::Edited(_),
        )
        // A veto can come until the release.
        | (
            LogEvent::Voted(_),
            Stage::Pending(What {
                grantable: true, ..
            })
            | Stage::Edited(_)
            | Stage::Granted { .. }
            | Stage::Started(_),
        )
        | (
            LogEvent::Denied { .. },
            Stage::Granted {
                veto: Veto::Came, ..
            }
            | Stage::Started(Veto::Came),
        )
        | (LogEvent::VoteRefused { .. }, _)
        | (LogEvent::Voted(_) | LogEvent::Settled { .. }, Stage::Elsewhere)
        | (
            LogEvent::Settled { .. },
            Stage::Pending(What {
                grantable: true, ..
            }),
        )
        | (LogEvent::Drilled(_), Stage::Edited(What { drill: None, .. }))
        | (LogEvent::Started { .. }, Stage::Granted { .. })
        | (LogEvent::Killed { .. }, Stage::Granted { .. } | Stage::Started(_))
        | (LogEvent::Finished(_), Stage::Started(_) | Stage::Killed { started: true })
        | (LogEvent::Replicated { .. }, Stage::Ended(State::Succeeded))
        | (LogEvent::Erased { .. }, Stage::Ended(_)) => true,
        // A run can fail by itself (`Error`), or because it was killed.
        (LogEvent::Failed { state, .. }, stage) => {
            killed || (*state == State::Error && stage.state().is_some_and(|s| !s.is_final()))
        }
        _ => false,
    }
}

/// Whether `finished` and `failed`, the kinds that name a state, name one that they can lead to.
fn names_possible_state(event: &LogEvent) -> bool {
    match event {
        LogEvent::Finished(f) if f.unkept.is_some() => f.state == State::Error,
        LogEvent::Finished(f) => match f.state {
            State::Succeeded => succeeded(f),
            State::Failed => !succeeded(f),
            _ => false,
        },
        LogEvent::Failed { state, .. } => matches!(state, State::Failed | State::Error),
        _ => true,
    }
}

fn succeeded(f: &FinishedLog) -> bool {
    f.error.is_none() && f.limit.is_none() && f.exit == Exit::Code(0)
}

/// Identifies what a grant must repeat: the code, the profile and its policy.
fn bound(digest: &Digest, profile: &str, policy: &str) -> Digest {
    Digest::of(format!("{digest} {policy} {profile}").as_bytes())
}

fn grants_other_binding(event: &LogEvent, what: Digest) -> bool {
    match event {
        LogEvent::Granted(g) => bound(&g.digest, &g.profile, &g.policy_sha256) != what,
        _ => false,
    }
}

fn edits_other(event: &LogEvent, code: Digest) -> bool {
    matches!(event, LogEvent::Edited(e) if e.from != code)
}

fn starts_in_other_tier(event: &LogEvent, tier: Tier) -> bool {
    matches!(event, LogEvent::Started { isolation, .. } if isolation.tier != tier)
}

/// The stage that a record claims; `None` if it changes nothing.
fn claimed(event: &LogEvent, before: Option<Stage>) -> Option<Stage> {
    Some(match event {
        event if before.is_none() && votes_elsewhere(event) => Stage::Elsewhere,
        LogEvent::Voted(_) | LogEvent::Settled { .. } if before == Some(Stage::Elsewhere) => {
            return None;
        }
        LogEvent::Proposed(p) => Stage::Pending(What::of(
            &p.digest,
            &p.profile,
            &p.policy_sha256,
            &p.verdict,
            Some(p.drill.is_some()),
        )),
        LogEvent::Edited(e) => Stage::Edited(What::of(
            &e.digest,
            &e.profile,
            &e.policy_sha256,
            &e.verdict,
            match before {
                Some(Stage::Pending(what) | Stage::Edited(what)) => what.drill,
                _ => None,
            },
        )),
        LogEvent::Granted(g) => Stage::Granted {
            tier: g.tier,
            veto: Veto::None,
        },
        LogEvent::Started { .. } => Stage::Started(match before {
            Some(Stage::Granted { veto, .. }) => veto,
            _ => Veto::None,
        }),
        LogEvent::Voted(v) if v.vote.kind == VoteKind::Veto => match before {
            Some(Stage::Granted { tier, .. }) => Stage::Granted {
                tier,
                veto: Veto::Came,
            },
            Some(Stage::Started(_)) => Stage::Started(Veto::Came),
            _ => return None,
        },
        LogEvent::Killed { .. } => match before {
            // Retention may have removed everything before the kill of a run.
            None => Stage::Killed { started: true },
            Some(Stage::Granted { .. }) => Stage::Killed { started: false },
            Some(Stage::Started(_)) => Stage::Killed { started: true },
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
