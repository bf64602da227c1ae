//! Derives the outcome's `run` from how the run ended, as known from outside, and from the child's
//! claims.

use std::collections::BTreeMap;

use nix::sys::signal::Signal;
use nix::sys::wait::WaitStatus;
use nix::unistd::Pid;

use serde_json::Value;

use crate::broker::ExecNote;
use crate::clock::Now;
use crate::model::{
    Accesses, Artifact, Exit, Isolation, LimitKind, Limits, Run, RunError, RunErrorKind, RunEvent,
    Timing, visible,
};
use crate::policy::Contract;

use crate::executor::data::cells;
use crate::executor::report::{Claim, Claimed, Stopped};
use crate::executor::run::collect::Collected;
use crate::executor::run::output::{Captured, Redactor};
use crate::executor::run::reached;
use crate::executor::spec::RunSpec;
use crate::sandbox::protocol::{EndedBy, Ending};

/// The message of a run that a person or the end of its agent's connection ended.
const KILLED: &str = "killed by the reviewer";

/// The message of a run some of whose processes survived.
const NOT_CLEAN: &str = "not every process of the run could be ended; look for what is left of it";

/// Everything known at the end of a run.
pub struct Facts<'a> {
    pub ending: Ending,
    /// Resident memory of the payload in kibibytes before its release.
    pub held_kib: u64,
    /// Whether inputs are mapped into its memory.
    pub mapped: bool,
    /// Whether a person asked for a kill.
    pub cancelled: bool,
    pub claim: Result<Claim, &'static str>,
    /// Where the child claims it was stopped; used only if the end is known from outside.
    pub stopped: Option<Stopped>,
    /// The events that the child's guard reported.
    pub events: Vec<RunEvent>,
    /// The accesses that the child counted.
    pub accesses: BTreeMap<String, Accesses>,
    pub stdout: Captured,
    pub stderr: Captured,
    pub duration_ms: u64,
    pub timing: Timing,
    pub isolation: Isolation,
    pub limits: &'a Limits,
    pub contract: Contract,
    pub paths: &'a Redactor,
    /// The files in its output folder.
    pub collected: Collected,
}

impl Facts<'_> {
    /// The error with the line at which the child claims it occurred.
    fn stopped(&self, mut error: RunError) -> RunError {
        let met = self.stopped.filter(|stopped| stopped.by == error.kind);
        error.line = met.and_then(|stopped| stopped.line);
        error
    }
}

/// The run as the outcome reports it.
pub fn run(facts: Facts<'_>) -> Run {
    let exit = exit(facts.ending.status);
    let (limit, error, result) = judge(&facts, &exit);
    let events = events(&facts, limit);
    let error = error.map(|mut error| {
        error.message = facts.paths.clean(&error.message);
        error
    });
    let figures_unkept = facts.claim.as_ref().map_or(0, |claim| claim.figures_unkept);
    let mut result = cleaned(result, facts.paths);
    if facts.contract == Contract::Chart {
        say_output(&mut result, &facts.stdout.text);
    }
    Run {
        exit,
        limit,
        duration_ms: facts.duration_ms,
        timing_us: facts.timing,
        stdout: facts.stdout.text,
        stderr: facts.stderr.text,
        stdout_bytes: facts.stdout.bytes,
        stderr_bytes: facts.stderr.bytes,
        stdout_truncated: facts.stdout.truncated,
        stderr_truncated: facts.stderr.truncated,
        isolation: facts.isolation,
        error,
        result,
        artifacts: facts.collected.artifacts,
        artifacts_left_out: facts.collected.left_out,
        artifacts_refused: facts.collected.refused,
        artifacts_unkept: facts.collected.unkept,
        artifacts_renamed: facts.collected.renamed,
        artifacts_withheld: 0,
        figures_unkept,
        events,
        accesses: facts.accesses,
    }
}

/// The end of a run that was killed while its inputs were still being read or counted: like that of
/// a run killed before its release.
pub fn never_launched(spec: &RunSpec) -> ExecNote {
    let since = Now::read().boot.saturating_sub(spec.granted_at);
    let since = u64::try_from(since.as_micros()).unwrap_or(u64::MAX);
    ExecNote::Ended(Box::new(Run {
        exit: Exit::Signal(Signal::SIGKILL.as_str().to_owned()),
        limit: None,
        duration_ms: 0,
        timing_us: Timing {
            grant_to_start: since,
            grant_to_first_output: None,
            grant_to_exit: since,
        },
        stdout: String::new(),
        stderr: String::new(),
        stdout_bytes: 0,
        stderr_bytes: 0,
        stdout_truncated: false,
        stderr_truncated: false,
        isolation: Isolation {
            tier: spec.tier,
            layers: Vec::new(),
        },
        error: Some(error(RunErrorKind::Cancelled, KILLED)),
        result: Value::Null,
        artifacts: Vec::new(),
        artifacts_left_out: 0,
        artifacts_refused: Vec::new(),
        artifacts_unkept: Vec::new(),
        artifacts_renamed: Vec::new(),
        artifacts_withheld: 0,
        figures_unkept: 0,
        events: Vec::new(),
        accesses: BTreeMap::new(),
    }))
}

/// Also removes this machine's data from the texts of the result.
fn cleaned(mut value: Value, paths: &Redactor) -> Value {
    match &mut value {
        Value::String(text) => *text = paths.clean(text),
        Value::Array(list) => {
            for one in list {
                *one = cleaned(one.take(), paths);
            }
        }
        Value::Object(map) => {
            *map = std::mem::take(map)
                .into_iter()
                .map(|(key, one)| (paths.clean(&key), cleaned(one, paths)))
                .collect();
        }
        Value::Number(n) if n.as_f64().is_some_and(|n| paths.hides(n)) => {
            value = cells::REDACTED.into();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
    value
}

/// Uses the printed text as the output of a chart's result that has none.
fn say_output(result: &mut Value, stdout: &str) {
    let charted = result.get("chart").is_some_and(|chart| !chart.is_null());
    if let Some(output) = result.get_mut("output")
        && output.is_null()
        && !(charted && stdout.is_empty())
    {
        *output = stdout.into();
    }
}

/// The child's events, and the limit that ended the run if only the outside saw it.
fn events(facts: &Facts<'_>, limit: Option<LimitKind>) -> Vec<RunEvent> {
    let mut events = facts.events.clone();
    for event in &mut events {
        event.message = facts.paths.clean(&event.message);
    }
    if let Some(limit) = limit {
        // Another limit may have been reached and caught before.
        let words = format!("the {} limit is reached", limit.as_str());
        let is_reported =
            |event: &RunEvent| event.kind == "limit" && event.message.starts_with(&words);
        if !events.iter().any(is_reported) {
            events.push(RunEvent {
                kind: "limit".to_owned(),
                message: words,
                line: None,
            });
        }
    }
    events
}

/// Why an interpreter ended while it was still starting.
pub fn never_ready(ending: &Ending, limits: &Limits) -> String {
    // The limit of processor time counts from the interpreter's first instruction on.
    let spent = ending.cpu_us >= limits.cpu_s.saturating_mul(1_000_000);
    if spent || exit(ending.status) == Exit::Signal(Signal::SIGXCPU.as_str().to_owned()) {
        return format!(
            "the policy's limit of {} s of processor time is too small to start Python with its \
             libraries",
            limits.cpu_s
        );
    }
    "Python ended before it was ready; `countersign doctor` checks the environment".to_owned()
}

type Judgement = (Option<LimitKind>, Option<RunError>, Value);

/// Decides how the run ended. Facts from outside take precedence over the child's claims.
fn judge(facts: &Facts<'_>, exit: &Exit) -> Judgement {
    let limits = facts.limits;
    let none = Value::Null;
    let by = facts.ending.by;
    if !facts.ending.clean {
        let error = error(RunErrorKind::SandboxError, NOT_CLEAN);
        return (None, Some(error), none);
    }
    if facts.cancelled && by == EndedBy::Command {
        let error = facts.stopped(error(RunErrorKind::Cancelled, KILLED));
        return (None, Some(error), none);
    }
    let cut = facts.stdout.truncated || facts.stderr.truncated;
    if cut && facts.contract != Contract::Chart {
        let text = format!(
            "{} bytes of output came, and the policy gives {} bytes",
            facts.stdout.bytes + facts.stderr.bytes,
            limits.output_bytes
        );
        let error = error(RunErrorKind::OutputLimit, text);
        return (Some(LimitKind::Output), Some(error), none);
    }
    if by == EndedBy::Wall {
        let text = format!("still running after {} s", limits.wall_s);
        let error = facts.stopped(error(RunErrorKind::Timeout, text));
        return (Some(LimitKind::Wall), Some(error), none);
    }
    if let Some(met) = facts.ending.out_of_memory {
        // However the first process ended: a run that lost a part of itself is not the run that was
        // written.
        let error = error(RunErrorKind::MemoryLimit, reached::together(met, limits));
        return (Some(LimitKind::Memory), Some(error), none);
    }
    if by == EndedBy::Command
        && let Err(why) = &facts.claim
    {
        // The broker itself ended the run, because of its report.
        return (None, Some(error(RunErrorKind::SandboxError, *why)), none);
    }
    if let Exit::Signal(name) = exit {
        let given = limits.cpu_s.saturating_mul(1_000_000);
        let used = facts.ending.cpu_us;
        return match name.as_str() {
            // The signal alone proves nothing, because a snippet can send it to itself. Half of the
            // time is required, because the limit counts clock ticks, which differ from the used
            // time on a busy machine.
            "SIGXCPU" if used >= given / 2 => cpu_limit(used, limits),
            "SIGKILL" if used >= given => cpu_limit(used, limits),
            "SIGXFSZ" => {
                let text = format!(
                    "the child was ended by SIGXFSZ, the signal of a file of more than {} MB",
                    limits.file_size_mb
                );
                let error = error(RunErrorKind::SnippetError, text);
                (Some(LimitKind::Files), Some(error), none)
            }
            _ => {
                let text = format!("the child was ended by {name}");
                (None, Some(error(RunErrorKind::SandboxError, text)), none)
            }
        };
    }
    if let Some((limit, error)) = lost(facts) {
        return (Some(limit), Some(error), none);
    }
    match (&facts.claim, exit) {
        (Ok(claim), Exit::Code(code)) => match (&claim.error, code) {
            (None, 0) => left(facts, claim),
            (None, code) => {
                let text = format!("the child ended with exit code {code}");
                (None, Some(error(RunErrorKind::SandboxError, text)), none)
            }
            (Some(claimed), _) => {
                let mut claimed = claimed.clone();
                if let Some(limit) = claim.limit {
                    let memory = reached::Memory {
                        kib: facts.ending.peak_kib.saturating_sub(facts.held_kib),
                        mapped: facts.mapped,
                    };
                    let met = reached::Met {
                        limit,
                        errno: claim.errno,
                    };
                    claimed.message = met.with_numbers(&claimed.message, limits, memory);
                }
                (claim.limit, Some(claimed), claim.result.clone())
            }
        },
        (Err(why), _) => (None, Some(error(RunErrorKind::SandboxError, *why)), none),
        // Signals were handled above.
        (Ok(_), Exit::Signal(_)) => (None, None, none),
    }
}

/// The limit that killed a process of the run other than the first.
fn lost(facts: &Facts<'_>) -> Option<(LimitKind, RunError)> {
    let (lost, limits) = (facts.ending.lost, facts.limits);
    if lost.cpu > 0 {
        let text = reached::lost(lost.cpu, &format!("{} s of processor time", limits.cpu_s));
        return Some((LimitKind::Cpu, error(RunErrorKind::Timeout, text)));
    }
    if lost.files > 0 {
        let text = reached::lost(
            lost.files,
            &format!("{} MB for one file", limits.file_size_mb),
        );
        return Some((LimitKind::Files, error(RunErrorKind::SnippetError, text)));
    }
    None
}

fn cpu_limit(used: u64, limits: &Limits) -> Judgement {
    let error = error(RunErrorKind::Timeout, reached::processor_time(used, limits));
    (Some(LimitKind::Cpu), Some(error), Value::Null)
}

/// The snippet ran to its end: its files must keep to the limits and match the child's list.
fn left(facts: &Facts<'_>, claim: &Claim) -> Judgement {
    let broken = |text| error(RunErrorKind::ContractViolation, text);
    if let Some(why) = &facts.collected.unread {
        return (
            None,
            Some(error(RunErrorKind::SandboxError, why)),
            Value::Null,
        );
    }
    if let Some(excess) = &facts.collected.excess {
        let error = broken(excess.clone());
        return (Some(LimitKind::Files), Some(error), claim.result.clone());
    }
    if let Some(lie) = claim
        .manifest
        .as_deref()
        .and_then(|manifest| disagreement(manifest, &facts.collected))
    {
        return (None, Some(broken(lie)), serde_json::Value::Null);
    }
    (None, None, claim.result.clone())
}

/// The difference between the child's list of its files and the files found.
fn disagreement(manifest: &[Claimed], collected: &Collected) -> Option<String> {
    let found = &collected.artifacts;
    let unkept = |claimed: &&Claimed| collected.unkept.contains(&claimed.name);
    let same = |claimed: &Claimed, file: &Artifact| claimed.name == collected.left_as(&file.name);
    for claimed in manifest.iter().filter(|claimed| !unkept(claimed)) {
        match found.iter().find(|file| same(claimed, file)) {
            None => {
                return Some(format!(
                    "the child says it left {}, and there is no such file",
                    visible(&claimed.name)
                ));
            }
            Some(file) if file.bytes != claimed.bytes => {
                return Some(format!(
                    "the child says it left {} bytes in {}, and there are {}",
                    claimed.bytes, file.name, file.bytes
                ));
            }
            Some(_) => {}
        }
    }
    let unnamed = found
        .iter()
        .find(|file| !manifest.iter().any(|claimed| same(claimed, file)))?;
    Some(format!(
        "the child left {} and does not say so",
        unnamed.name
    ))
}

fn error(kind: RunErrorKind, message: impl Into<String>) -> RunError {
    RunError {
        kind,
        message: message.into(),
        line: None,
        exception: None,
    }
}

fn exit(status: i32) -> Exit {
    match WaitStatus::from_raw(Pid::from_raw(0), status) {
        Ok(WaitStatus::Exited(_, code)) => Exit::Code(code),
        Ok(WaitStatus::Signaled(_, signal, _)) => Exit::Signal(signal.as_str().to_owned()),
        // A real-time signal, which has no name; any other status is not the end of a process.
        _ => match status & 0x7f {
            0 => Exit::Signal(Signal::SIGKILL.as_str().to_owned()),
            number => Exit::Signal(format!("SIG{number}")),
        },
    }
}
