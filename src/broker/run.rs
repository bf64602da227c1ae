//! From the durable grant to the durable outcome: execute, release, stream, end, kill.

use crate::clock::Now;
use crate::model::{
    Artifact, Blob, DecisionKind, Digest, Environment, Exit, FinishedLog, LogEvent, ProposalId,
    Reviewer, Run, RunEvent, State, StreamName,
};

use super::effect::{Effect, Note};
use super::entry::{Entry, LiveOutput, Stage};
use super::event::ExecNote;
use super::outcome::{OutcomeText, Stop, decided};
use super::state::{BrokerState, Then};

/// Bytes of stdout that one frame carries (protocol.md §4).
pub const FRAME_STDOUT: usize = 200_000;
/// The same as JSON writes it, beside everything else of an outcome.
const FRAME_STDOUT_ESCAPED: usize = 600_000;

impl BrokerState {
    /// The grant is durable: the child may be made.
    pub(super) fn execute(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) {
        let Some(entry) = self
            .entries
            .get_mut(&id)
            .filter(|e| e.state == State::Granted)
        else {
            return;
        };
        let Some(grant) = entry.armed.take() else {
            return;
        };
        if let Some(why) = entry.stopped {
            entry.text = OutcomeText::stopped(why, false);
            return self.end_unrun(id, State::Failed, "stopped before it started", now, fx);
        }
        // The disk may have taken its time, or the machine slept: the deadline counts here too.
        if now.boot >= grant.deadline() {
            return self.end_late(id, now, fx);
        }
        let same = match &self.environment {
            Environment::Ready { digest, .. } => grant.is_for(*digest),
            Environment::Making { .. }
            | Environment::Changed { .. }
            | Environment::Failed { .. } => false,
        };
        if !same {
            let message = "the Python environment is no longer the one that was granted";
            entry.text = OutcomeText::error(message);
            return self.end_unrun(id, State::Error, message, now, fx);
        }
        entry.stage = Stage::Made;
        self.hear(id, State::Granted, fx);
        fx.push(Effect::Execute(grant));
    }

    /// Ends what was granted in time, but could not be let go in time.
    fn end_late(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        if entry.stage != Stage::Idle {
            fx.push(Effect::Kill { id });
        }
        entry.text = OutcomeText::late(entry.ttl_s());
        entry.decision = Some(decided(DecisionKind::Expired, now));
        self.set_final(id, State::Expired, now);
        let event = LogEvent::Expired { id };
        self.record_decided(event, Vec::new(), Then::Tell(id), now, fx);
    }

    /// `started` is durable: the held child may run.
    pub(super) fn let_go(&mut self, id: ProposalId, now: Now, fx: &mut Vec<Effect>) {
        let Some(entry) = self
            .entries
            .get_mut(&id)
            .filter(|e| e.state == State::Granted && e.stage == Stage::Held)
        else {
            return;
        };
        // What is to be killed stays held; the executor reports its end.
        if entry.stopped.is_some() {
            return;
        }
        if now.boot >= entry.deadline {
            return self.end_late(id, now, fx);
        }
        entry.stage = Stage::LetGo;
        fx.push(Effect::Release { id });
    }

    /// What the executor says, believed only where it follows from what it was asked to do.
    pub(super) fn exec(&mut self, id: ProposalId, note: ExecNote, now: Now, fx: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get_mut(&id).filter(|e| {
            matches!(e.state, State::Granted | State::Running) && e.stage != Stage::Idle
        }) else {
            return;
        };
        let let_go = entry.stage == Stage::LetGo;
        match note {
            ExecNote::Noted(events) => {
                if entry.stage == Stage::Made {
                    entry.noted = events;
                } else if entry.state == State::Granted {
                    // Of what is held, only why it is not let go.
                    let why = |event: &RunEvent| event.kind == RunEvent::ENVIRONMENT;
                    entry.noted.extend(events.into_iter().filter(why));
                }
            }
            ExecNote::Prepared(isolation) => {
                if entry.stage != Stage::Made || entry.stopped.is_some() {
                    return;
                }
                if now.boot >= entry.deadline {
                    return self.end_late(id, now, fx);
                }
                entry.stage = Stage::Held;
                let event = LogEvent::Started { id, isolation };
                self.record_decided(event, Vec::new(), Then::Release(id), now, fx);
            }
            ExecNote::Released => {
                if !let_go || entry.state != State::Granted {
                    return;
                }
                entry.state = State::Running;
                entry.released = Some(now);
                self.hear(id, State::Running, fx);
            }
            ExecNote::Output { stream, text } => {
                if !let_go {
                    return;
                }
                entry.output.push(stream, &text);
                for conn in &entry.streams {
                    let note = Note::Output {
                        id,
                        stream,
                        text: text.clone(),
                    };
                    fx.push(Effect::Notify { conn: *conn, note });
                }
            }
            ExecNote::Left(blobs) => {
                if let_go {
                    entry.left = blobs;
                }
            }
            ExecNote::Ended(run) if let_go => self.end_run(id, *run, now, fx),
            ExecNote::Ended(_) => {
                let message = match entry.stopped {
                    Some(_) => "stopped before it was let go",
                    None => "its process ended before it was let go",
                };
                self.exec_failed(id, message, now, fx);
            }
            ExecNote::Failed { message } => self.exec_failed(id, &message, now, fx),
        }
    }

    /// It came to no result: stopped, or for a reason that is not the snippet's.
    fn exec_failed(&mut self, id: ProposalId, message: &str, now: Now, fx: &mut Vec<Effect>) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        // Asked for is not done: what the executor looks at last can still be against it.
        let ran = entry.state == State::Running;
        let (state, text) = match entry.stopped {
            Some(why) => (State::Failed, OutcomeText::stopped(why, ran)),
            None if ran => (State::Error, OutcomeText::broken(message)),
            None => (State::Error, OutcomeText::error(message)),
        };
        entry.text = text;
        let noted: String = entry
            .noted
            .iter()
            .filter(|event| event.kind == RunEvent::ENVIRONMENT)
            .map(|event| format!(": {}", event.message))
            .collect();
        self.end_unrun(id, state, &format!("{message}{noted}"), now, fx);
    }

    fn end_run(&mut self, id: ProposalId, mut run: Run, now: Now, fx: &mut Vec<Effect>) {
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
        if let Some(entry) = self.entries.get_mut(&id) {
            blobs.append(&mut entry.left);
            entry.run = Some(run);
            entry.output = LiveOutput::default();
        }
        self.set_final(id, state, now);
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        entry.text = OutcomeText::ran(state, entry.run.as_ref(), entry.stopped);
        if let Some(log) = finished(entry, None) {
            let event = LogEvent::Finished(Box::new(log));
            self.record_decided(event, blobs, Then::Tell(id), now, fx);
        }
    }

    /// What it printed and left could not be kept. The record says how it ended and of which output;
    /// nobody is told a result that the log does not have.
    pub(super) fn end_unkept(
        &mut self,
        id: ProposalId,
        reason: &str,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        entry.state = State::Error;
        entry.text = OutcomeText::unkept();
        let log = finished(entry, Some(reason.to_owned()));
        entry.run = None;
        if let Some(log) = log {
            let event = LogEvent::Finished(Box::new(log));
            self.record_decided(event, Vec::new(), Then::Tell(id), now, fx);
        }
    }

    fn end_unrun(
        &mut self,
        id: ProposalId,
        state: State,
        message: &str,
        now: Now,
        fx: &mut Vec<Effect>,
    ) {
        self.set_final(id, state, now);
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
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        if !matches!(entry.state, State::Granted | State::Running) || entry.stopped.is_some() {
            return;
        }
        entry.stopped = Some(why);
        // The kill comes first: a record that takes long must not let the child live on. What
        // is still armed has no child; `execute` sees the request.
        if entry.stage != Stage::Idle {
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
fn finished(entry: &Entry, unkept: Option<String>) -> Option<FinishedLog> {
    let run = entry.run.as_ref()?;
    let noted = entry.noted.iter().chain(&run.events);
    Some(FinishedLog {
        id: entry.proposal.id,
        state: entry.state,
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
        result_sha256: result_of(run).map(|blob| blob.sha256),
        error: run.error.clone(),
        artifacts: run.artifacts.clone(),
        events: noted.cloned().collect(),
        accesses: run.accesses.clone(),
        unkept,
    })
}

/// What the agent is given beside what was printed.
pub(super) fn result_of(run: &Run) -> Option<Blob> {
    let bytes = serde_json::to_vec(&run.result).ok()?;
    (!run.result.is_null()).then(|| Blob::of(&bytes))
}

/// What a frame does not carry of stdout is an artifact. Escapes make a frame full sooner.
fn keep_stdout(run: &mut Run, blob: &Blob) {
    let escaped = |c: char| if c.is_control() { 6 } else { c.len_utf8() };
    let text = &run.stdout;
    if text.len() <= FRAME_STDOUT
        && text.chars().map(escaped).sum::<usize>() <= FRAME_STDOUT_ESCAPED
    {
        return;
    }
    // No file is called so: see `Artifact::OWN`.
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

impl LiveOutput {
    fn push(&mut self, stream: StreamName, text: &str) {
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
