//! What an agent hears about a proposal's end: one sentence, whether asking again makes sense, and
//! the outcome object. It contains nothing about the host, the reviewer or the reviewer's time.

use crate::clock::Now;
use crate::model::{
    Action, Decision, DecisionKind, Drill, DrillEnd, Finding, Retry, Run, RunErrorKind, State,
    Verdict, VerdictKind, grouped,
};

/// Why a run was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Person,
    Closing,
    Disconnect,
}

/// The sentence and the retry advice for a final state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OutcomeText {
    pub message: String,
    pub retry: Retry,
}

impl OutcomeText {
    fn new(retry: Retry, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            retry,
        }
    }

    pub fn denied(reason: Option<&str>) -> Self {
        Self::new(
            Retry::Changed,
            match reason {
                Some(reason) => format!("A person denied it: {reason}"),
                None => "A person denied it and gave no reason.".to_owned(),
            },
        )
    }

    /// `granted`: whether somebody granted it, but too few did. `reached`: whether its reviewers elsewhere could be reached at the
    /// end.
    pub fn expired(ttl_s: u64, granted: bool, reached: bool) -> Self {
        let who = match granted {
            true => "Too few people granted it",
            false => "Nobody decided",
        };
        let cut_off = match reached {
            true => "",
            false => ", and the reviewers elsewhere could not be reached",
        };
        Self::new(
            Retry::Same,
            format!("{who} in {ttl_s} s{cut_off}; not refused; you may propose it again."),
        )
    }

    pub fn withdrawn(disconnected: bool) -> Self {
        Self::new(
            Retry::Same,
            if disconnected {
                "Its connection closed before a decision; it did not run."
            } else {
                "Withdrawn before a decision; it did not run."
            },
        )
    }

    pub fn unattended() -> Self {
        Self::new(
            Retry::Same,
            "The dashboard closed before anybody decided; not refused; you may propose it again.",
        )
    }

    /// For the person alone: no agent waits for a drill.
    pub fn drilled(drill: &Drill, end: DrillEnd) -> Self {
        let told = match end {
            DrillEnd::Caught => "Caught: that was a drill",
            DrillEnd::Granted => "That was a drill, and nothing ran",
            DrillEnd::Unanswered => "That was a drill, and nobody answered it",
        };
        Self::new(
            Retry::No,
            format!("{told}; line {} {}.", drill.line, drill.does),
        )
    }

    pub fn blocked(verdict: &Verdict) -> Self {
        let profile = &verdict.policy.profile;
        let what = match named(&verdict.findings) {
            Some(f) => {
                let remedy = f
                    .remedy()
                    .map_or_else(String::new, |hint| format!("; hint: {hint}"));
                let more = others(f, &verdict.findings);
                format!("line {}: {} ({}){remedy}{more}", f.line, f.message, f.rule)
            }
            None => "no finding was named".to_owned(),
        };
        Self::new(
            Retry::Changed,
            if verdict.verdict == VerdictKind::Unanalyzable {
                format!("It could not be analysed and did not run: {what}")
            } else {
                format!("The policy `{profile}` blocks it; it did not run: {what}")
            },
        )
    }

    pub fn error(message: &str) -> Self {
        Self::new(Retry::Same, format!("It could not be run: {message}"))
    }

    /// Nobody can be asked about it as it is.
    pub fn never(message: &str) -> Self {
        Self::new(Retry::Changed, format!("It could not be run: {message}"))
    }

    /// No votes can grant it as people and keys are.
    pub fn in_vain(why: &str, retry: Retry) -> Self {
        Self::new(
            retry,
            format!("It could not be granted by any votes and did not run: {why}."),
        )
    }

    /// In a reviewer's seat: what its host said.
    pub fn settled(message: &str) -> Self {
        Self::new(Retry::No, message)
    }

    /// It was granted in time, but its deadline passed before it could be released.
    pub fn late(ttl_s: u64) -> Self {
        Self::new(
            Retry::Same,
            format!(
                "It was granted, but could not start within its {ttl_s} s; it did not run; you \
                 may propose it again."
            ),
        )
    }

    /// It ran, and something other than the snippet or a limit ended it.
    pub fn broken(message: &str) -> Self {
        Self::new(
            Retry::Same,
            format!("It was stopped while it ran: {message}"),
        )
    }

    /// It ran, but the log could not keep its output and files.
    pub fn unkept() -> Self {
        Self::new(
            Retry::Same,
            "It ran, but what it printed and left could not be recorded, and no result is told \
             that is not.",
        )
    }

    pub fn stopped(why: Stop, ran: bool) -> Self {
        let when = if ran {
            "while it ran"
        } else {
            "before it started"
        };
        match why {
            Stop::Person => Self::new(Retry::No, format!("A person stopped it {when}.")),
            Stop::Closing => Self::new(
                Retry::Same,
                format!("The dashboard closed and stopped it {when}."),
            ),
            Stop::Disconnect => Self::new(
                Retry::Same,
                format!("Its connection closed, which stopped it {when}."),
            ),
        }
    }

    /// For a run that has a result: its final state, and why it was stopped, if it was.
    pub fn ran(state: State, run: &Run, stopped: Option<Stop>) -> Self {
        match (state, &run.error) {
            (State::Succeeded, _) => succeeded(run),
            (_, Some(e)) if e.kind == RunErrorKind::Cancelled => {
                Self::stopped(stopped.unwrap_or(Stop::Person), true)
            }
            (_, Some(e)) => {
                // The snippet's own exception says more than the fact that it raised one.
                let exception = match e.kind {
                    RunErrorKind::SnippetError => e.exception.as_deref(),
                    _ => None,
                };
                let what = exception.unwrap_or(e.kind.as_str());
                let mut message = format!("It ran and failed with {what}: {}", e.message);
                let losses = run.losses();
                if !losses.is_empty() && !message.ends_with(['.', '?', '!']) {
                    message.push('.');
                }
                for loss in losses {
                    message.push(' ');
                    message.push_str(&loss);
                }
                Self::new(Retry::Changed, message)
            }
            (_, None) => Self::new(Retry::Changed, "It ran and failed."),
        }
    }
}

/// The finding that gives the reason: the first that blocks, or one at the same place that is
/// certain to fail. An unbound name or a missing package also triggers earlier rules, whose
/// findings suggest a bigger problem than there is.
fn named(findings: &[Finding]) -> Option<&Finding> {
    let blocks = |f: &&Finding| f.action == Action::Block;
    let first = findings.iter().find(blocks)?;
    let fails = |f: &&Finding| match f.rule.as_str() {
        "RUN001" => f.line == first.line && first.rule.starts_with("IMPORT"),
        "RUN002" | "RUN003" => (f.line, f.column) == (first.line, first.column),
        _ => false,
    };
    findings.iter().filter(blocks).find(fails).or(Some(first))
}

/// How many further blocking findings a message names.
const OTHERS_NAMED: usize = 3;

/// The blocking findings besides the named one, each with its hint unless that is said already, so
/// that an agent corrects all of them at once. A finding at the same place has the same cause, and
/// so has the import of a package that is not installed.
fn others(named: &Finding, findings: &[Finding]) -> String {
    let same_cause = |f: &Finding| {
        (f.line, f.column) == (named.line, named.column)
            || (f.line == named.line && named.rule == "RUN001" && f.rule.starts_with("IMPORT"))
    };
    let blocking = findings.iter().filter(|f| f.action == Action::Block);
    let mut places: Vec<&Finding> = blocking.filter(|f| !same_cause(f)).collect();
    places.dedup_by(|a, b| (a.line, &a.rule, a.remedy()) == (b.line, &b.rule, b.remedy()));
    if places.is_empty() {
        return String::new();
    }
    let mut hints: Vec<&str> = named.remedy().into_iter().collect();
    // Those with hints of their own come before those that would repeat one.
    let (mut told, mut others) = (Vec::new(), Vec::new());
    for (at, finding) in places.iter().enumerate() {
        let hint = finding.remedy().filter(|hint| !hints.contains(hint));
        let place = format!("{} line {}", finding.rule, finding.line);
        match hint {
            Some(hint) => {
                hints.push(hint);
                told.push((at, format!("{place}: {hint}")));
            }
            None => others.push((at, place)),
        }
    }
    told.extend(others);
    told.truncate(OTHERS_NAMED);
    told.sort_unstable();
    let separator = match hints.len() > usize::from(named.remedy().is_some()) {
        true => "; ",
        false => ", ",
    };
    let said: Vec<String> = told.into_iter().map(|(_, said)| said).collect();
    let cut = match places.len() > OTHERS_NAMED {
        true => format!("{separator}…"),
        false => String::new(),
    };
    let said = said.join(separator);
    format!(" (and {} more: {said}{cut})", places.len())
}

/// The message for a run that succeeded.
fn succeeded(run: &Run) -> OutcomeText {
    if let Some(message) = not_adopted(run) {
        return OutcomeText::new(Retry::Changed, message);
    }
    let mut message = "It ran and succeeded.".to_owned();
    if run.stdout_truncated {
        let bytes = grouped(run.stdout_bytes);
        message.push_str(&format!(
            " It printed {bytes} bytes, and only the first of them are kept."
        ));
    }
    for note in run.notes_on_files() {
        message.push(' ');
        message.push_str(&note);
    }
    OutcomeText::new(Retry::No, message)
}

/// Why the columns of a successful run are not handed back: their lift was too small.
fn not_adopted(run: &Run) -> Option<String> {
    let lift = run.result.get("lift")?;
    if lift.get("adopted")?.as_bool()? {
        return None;
    }
    let score = |key: &str| lift.get(key).and_then(serde_json::Value::as_f64);
    Some(format!(
        "It ran, and its columns were not adopted: {} {} without them and {} with them.",
        lift.get("metric")?.as_str()?,
        score("before").unwrap_or(f64::NAN),
        score("after").unwrap_or(f64::NAN),
    ))
}

/// A decision of this kind without further details.
pub(super) fn decided(kind: DecisionKind, now: Now) -> Decision {
    Decision {
        kind,
        at: now.wall,
        reason: None,
        edited: false,
        code: None,
        diff: None,
    }
}
