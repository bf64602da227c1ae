//! From the durable grant to the durable outcome: execute, release, stream, end, kill.

use crate::clock::Now;
use crate::model::{
    Artifact, Blob, DecisionKind, Digest, Environment, Exit, FinishedLog, LogEvent, ProposalId,
    Reviewer, Run, RunEvent, State,
};

use super::decision::Refused;
use super::effect::{Effect, Note};
use super::entry::Entry;
use super::event::ExecNote;
use super::outcome::{OutcomeText, Stop, decided};
use super::phase::{End, Ended, Granted, Live, Phase, Stage};
use super::state::{BrokerState, Then};

/// Bytes of stdout that one frame carries (protocol.md §4).
pub const FRAME_STDOUT: usize = 200_000;
/// The same limit for stdout as escaped in JSON, beside everything else in an outcome.
const FRAME_STDOUT_ESCAPED: usize = 600_000;

impl BrokerState {
    /// The grant is durable: the child may be created.
    pub(super) fn execute(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) {
        let entry = self.entries.get_mut(&id);
        let Some(granted) = entry.and_then(Entry::granted_mut) else {
            return;
        };
        let Stage::Armed(grant) = &granted.stage else {
            return;
        };
        if let Some(why) = granted.stopped {
            let text = OutcomeText::stopped(why, false);
            let message = "stopped before it started";
            return self.end_unrun(id, State::Failed, text, message, now, fx);
        }
        // The disk may have been slow or the machine asleep, so the deadline is checked here too.
        if now.boot >= grant.deadline() {
            return self.end_late(id, now, fx);
        }
        if let Some(doubt) = &self.log_doubt {
            let message = Refused::from(doubt).to_string();
            let text = OutcomeText::error(&message);
            return self.end_unrun(id, State::Error, text, &message, now, fx);
        }
        let same = match &self.environment {
            Environment::Ready { digest, .. } => grant.is_for(*digest),
            Environment::Making { .. }
            | Environment::Changed { .. }
            | Environment::Failed { .. } => false,
        };
        if !same {
            let message = "the Python environment is no longer the one that was granted";
            let text = OutcomeText::error(message);
            return self.end_unrun(id, State::Error, text, message, now, fx);
        }
        if let Some(grant) = granted.take_grant() {
            self.hear(id, State::Granted, now, fx);
            fx.push(Effect::Execute(grant));
        }
    }

    /// Ends a proposal that was granted in time, but could not be released in time.
    pub(super) fn end_late(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get(&id) else {
            return;
        };
        if entry.granted().is_some_and(Granted::has_child) {
            fx.push(Effect::Kill { id });
        }
        let end = End {
            state: State::Expired,
            text: OutcomeText::late(entry.ttl_s()),
            decision: Some(decided(DecisionKind::Expired, now)),
            run: None,
        };
        self.set_final(id, end, now);
        let event = LogEvent::Expired { id };
        self.record_decided(event, Vec::new(), Then::Tell(id), now, fx);
    }

    /// The `started` record is durable: the held child may run.
    pub(super) fn let_go(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        let late = now.boot >= entry.deadline;
        let Some(granted) = entry.granted_mut() else {
            return;
        };
        // A child that is to be killed stays held; the executor reports its end.
        if !matches!(granted.stage, Stage::Held) || granted.stopped.is_some() {
            return;
        }
        if late {
            return self.end_late(id, now, fx);
        }
        if granted.review.poll.is_some() {
            granted.stage = Stage::Looking;
            fx.push(Effect::LookAgain { id });
            return;
        }
        granted.stage = Stage::LetGo(Live::default());
        fx.push(Effect::Release { id });
    }

    /// Handles the executor's reports; accepted only if they follow from what it was asked to do.
    pub(super) fn exec(&mut self, id: ProposalId, note: ExecNote, now: Now, fx: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        let late = now.boot >= entry.deadline;
        let Phase::Granted(granted) = &mut entry.phase else {
            return;
        };
        match (note, &mut granted.stage) {
            (_, Stage::Armed(_)) => {}
            (ExecNote::Noted(events), Stage::Made) => granted.noted = events,
            (
                ExecNote::Noted(events),
                Stage::Held | Stage::Looking | Stage::LetGo(Live { released: None, .. }),
            ) => {
                // About a held child, only notes on why it is not released are accepted.
                let why = |event: &RunEvent| event.kind == RunEvent::ENVIRONMENT;
                granted.noted.extend(events.into_iter().filter(why));
            }
            (ExecNote::Prepared(isolation), Stage::Made) if granted.stopped.is_none() => {
                if late {
                    return self.end_late(id, now, fx);
                }
                granted.stage = Stage::Held;
                let event = LogEvent::Started { id, isolation };
                self.record_decided(event, Vec::new(), Then::Release(id), now, fx);
            }
            (ExecNote::Released, Stage::LetGo(live)) if live.released.is_none() => {
                live.released = Some(now);
                self.hear(id, State::Running, now, fx);
            }
            (ExecNote::Output { stream, text }, Stage::LetGo(live)) => {
                live.output.push(stream, &text);
                if let Some(released) = live.released {
                    let since = now.boot.saturating_sub(released.boot);
                    let ms = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
                    live.pace.push(ms, stream, text.len() as u64);
                }
                for conn in &entry.audience.streams {
                    let note = Note::Output {
                        id,
                        stream,
                        text: text.clone(),
                    };
                    fx.push(Effect::Notify { conn: *conn, note });
                }
            }
            (ExecNote::Used(usage), Stage::LetGo(live)) => live.used = Some(usage),
            (ExecNote::Left(blobs), Stage::LetGo(live)) => live.left = blobs,
            (ExecNote::Ended(run), Stage::LetGo(live)) => {
                let left = std::mem::take(&mut live.left);
                self.end_run(id, *run, left, now, fx);
            }
            (ExecNote::Ended(_), Stage::Made | Stage::Held | Stage::Looking) => {
                let message = match granted.stopped {
                    Some(_) => "stopped before it was let go",
                    None => "its process ended before it was let go",
                };
                self.exec_failed(id, message, now, fx);
            }
            (ExecNote::Failed { message }, _) => self.exec_failed(id, &message, now, fx),
            (
                ExecNote::Noted(_)
                | ExecNote::Prepared(_)
                | ExecNote::Released
                | ExecNote::Output { .. }
                | ExecNote::Used(_)
                | ExecNote::Left(_),
                Stage::Made | Stage::Held | Stage::Looking | Stage::LetGo(_),
            ) => {}
        }
    }

    /// The run has no result: it was stopped, or failed for a reason outside the snippet.
    fn exec_failed(&mut self, id: ProposalId, message: &str, now: Now, fx: &mut Vec<Effect>) {
        let Some(granted) = self.entries.get(&id).and_then(Entry::granted) else {
            return;
        };
        // A requested release may not have happened: the executor's last check can still refuse it.
        let ran = granted.live().is_some_and(|live| live.released.is_some());
        let (state, text) = match granted.stopped {
            Some(why) => (State::Failed, OutcomeText::stopped(why, ran)),
            None if ran => (State::Error, OutcomeText::broken(message)),
            None => (State::Error, OutcomeText::error(message)),
        };
        let noted: String = granted
            .noted
            .iter()
            .filter(|event| event.kind == RunEvent::ENVIRONMENT)
            .map(|event| format!(": {}", event.message))
            .collect();
        self.end_unrun(id, state, text, &format!("{message}{noted}"), now, fx);
    }

    fn end_run(
        &mut self,
        id: ProposalId,
        mut run: Run,
        mut left: Vec<Blob>,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let Some(granted) = self.entries.get(&id).and_then(Entry::granted) else {
            return;
        };
        let good = run.error.is_none() && run.limit.is_none() && run.exit == Exit::Code(0);
        let state = if good {
            State::Succeeded
        } else {
            State::Failed
        };
        let stdout = Blob::of(run.stdout.as_bytes());
        let stderr = Blob::of(run.stderr.as_bytes());
        keep_stdout(&mut run, &stdout);
        let mut blobs = vec![stdout, stderr];
        blobs.extend(result_of(&run));
        blobs.append(&mut left);
        let end = End {
            state,
            text: OutcomeText::ran(state, &run, granted.stopped),
            decision: None,
            run: Some(run),
        };
        self.set_final(id, end, now);
        let ended = self.entries.get(&id).and_then(Entry::ending);
        if let Some(log) = ended.and_then(|ended| finished(id, ended, None)) {
            let event = LogEvent::Finished(Box::new(log));
            self.record_decided(event, blobs, Then::Tell(id), now, fx);
        }
    }

    /// The log could not keep the run's output and files. The record says how the run ended and the
    /// digests of its output; no result is reported that the log does not have.
    pub(super) fn end_unkept(
        &mut self,
        id: ProposalId,
        reason: &str,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let Some(ended) = self.entries.get_mut(&id).and_then(Entry::ending_mut) else {
            return;
        };
        ended.state = State::Error;
        ended.text = OutcomeText::unkept();
        let log = finished(id, ended, Some(reason.to_owned()));
        ended.lose_run();
        if let Some(log) = log {
            let event = LogEvent::Finished(Box::new(log));
            self.record_decided(event, Vec::new(), Then::Tell(id), now, fx);
        }
    }

    pub(super) fn end_unrun(
        &mut self,
        id: ProposalId,
        state: State,
        text: OutcomeText,
        message: &str,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let end = End {
            state,
            text,
            decision: None,
            run: None,
        };
        self.set_final(id, end, now);
        let event = LogEvent::Failed {
            id,
            state,
            message: message.to_owned(),
        };
        self.record_decided(event, Vec::new(), Then::Tell(id), now, fx);
    }

    pub(super) fn kill(
        &mut self,
        id: ProposalId,
        why: Stop,
        by: Option<Reviewer>,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let entry = self.entries.get_mut(&id);
        let Some(granted) = entry.and_then(Entry::granted_mut) else {
            return;
        };
        if granted.stopped.is_some() {
            return;
        }
        granted.stopped = Some(why);
        // The kill comes first: a slow record must not let the child live on. An armed run has no
        // child yet; `execute` sees that it was stopped.
        if granted.has_child() {
            fx.push(Effect::Kill { id });
        }
        self.record_decided(
            LogEvent::Killed { id, by },
            Vec::new(),
            Then::Nothing,
            now,
            fx,
        );
    }
}

/// The record of a run that ended; `unkept` says why its output is not in the log.
fn finished(id: ProposalId, ended: &Ended, unkept: Option<String>) -> Option<FinishedLog> {
    let run = ended.run()?;
    let noted = ended.noted.iter().chain(&run.events);
    Some(FinishedLog {
        id,
        state: ended.state,
        exit: run.exit.clone(),
        limit: run.limit,
        duration_ms: run.duration_ms,
        timing_us: run.timing_us,
        stdout_sha256: Digest::of(run.stdout.as_bytes()),
        stderr_sha256: Digest::of(run.stderr.as_bytes()),
        stdout_bytes: run.stdout_bytes,
        stderr_bytes: run.stderr_bytes,
        stdout_truncated: run.stdout_truncated,
        stderr_truncated: run.stderr_truncated,
        pace: ended.pace.clone(),
        result_sha256: result_of(run).map(|blob| blob.sha256),
        error: run.error.clone(),
        artifacts: run.artifacts.clone(),
        events: noted.cloned().collect(),
        accesses: run.accesses.clone(),
        unkept,
        unsearched: Vec::new(),
    })
}

/// The result that the agent is given besides the output.
pub(super) fn result_of(run: &Run) -> Option<Blob> {
    let bytes = serde_json::to_vec(&run.result).ok()?;
    (!run.result.is_null()).then(|| Blob::of(&bytes))
}

/// Stdout that does not fit into a frame becomes an artifact. Escapes fill a frame sooner.
fn keep_stdout(run: &mut Run, blob: &Blob) {
    let escaped = |c: char| if c.is_control() { 6 } else { c.len_utf8() };
    let text = &run.stdout;
    if text.len() <= FRAME_STDOUT
        && text.chars().map(escaped).sum::<usize>() <= FRAME_STDOUT_ESCAPED
    {
        return;
    }
    // No file of a run can have this name: see `Artifact::OWN`.
    run.artifacts.insert(
        0,
        Artifact {
            name: Artifact::STDOUT.to_owned(),
            media_type: "text/plain".to_owned(),
            bytes: blob.bytes.len() as u64,
            sha256: blob.sha256.hex(),
        },
    );
}
