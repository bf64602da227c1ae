//! What was proposed and edited, and when.

use jiff::{SignedDuration, Timestamp};

use super::clock::SET;
use crate::model::{EditedLog, ProposedLog, Verdict, VerdictKind, grouped};

/// How long a proposal that was accepted can wait for its record: a machine may sleep.
const WAITS: SignedDuration = SignedDuration::from_hours(24);

/// A verdict that names so many findings names no more, and the strongest of all.
const FINDINGS: usize = 500;

pub(super) fn proposed(p: &ProposedLog) -> Option<String> {
    let of_code = p.verdict.source.sha256 == p.code().hex();
    let by = (p.profile.as_str(), p.policy_sha256.as_str());
    judged("proposed", &p.verdict, of_code, by, p.kept.is_some())
}

pub(super) fn edited(e: &EditedLog) -> Option<String> {
    let of_code = e.verdict.source.sha256 == e.code().hex();
    let by = (e.profile.as_str(), e.policy_sha256.as_str());
    judged("edited", &e.verdict, of_code, by, e.kept.is_some())
}

/// Whether a verdict is one on this code by this profile and its policy, and what its findings give. `is_replaced`: the kept
/// code has other lines than what was judged.
fn judged(
    kind: &str,
    verdict: &Verdict,
    of_code: bool,
    (profile, policy): (&str, &str),
    is_replaced: bool,
) -> Option<String> {
    if !of_code {
        return Some(format!("`{kind}` has a verdict on other code"));
    }
    if verdict.policy.sha256 != policy {
        return Some(format!("`{kind}` has a verdict by another policy"));
    }
    // Nobody could judge: there is no policy, and nothing is said.
    if verdict.verdict == VerdictKind::Unanalyzable
        && policy.is_empty()
        && verdict.findings.is_empty()
    {
        return None;
    }
    if verdict.policy.profile != profile {
        return Some(format!("`{kind}` has a verdict by another profile"));
    }
    concludes(kind, verdict).or_else(|| match is_replaced {
        true => None,
        false => placed(kind, verdict),
    })
}

/// Whether the verdict is that of its strongest finding.
fn concludes(kind: &str, verdict: &Verdict) -> Option<String> {
    let mut rules = verdict.findings.iter().map(|found| &found.rule);
    let is_unread = rules.any(|rule| rule.starts_with("PARSE"));
    let gives = match is_unread {
        true => VerdictKind::Unanalyzable,
        false => Verdict::kind_of(&verdict.findings),
    };
    // The finding that says so may be one of those that are left out.
    let is_cut = verdict.findings.len() >= FINDINGS;
    let is_left_out = is_cut && verdict.verdict == VerdictKind::Unanalyzable;
    (verdict.verdict != gives && !is_left_out).then(|| {
        format!(
            "`{kind}` has the verdict {}, and its findings give {gives}",
            verdict.verdict
        )
    })
}

/// Whether the code has the lines that are named.
fn placed(kind: &str, verdict: &Verdict) -> Option<String> {
    let (lines, bytes) = (verdict.source.lines, verdict.source.bytes);
    if lines > bytes {
        return Some(format!(
            "`{kind}` counts {} lines of code in {} bytes",
            grouped(lines),
            grouped(bytes)
        ));
    }
    let found = verdict.findings.iter().map(|found| found.line);
    let used = verdict.capabilities.iter().flat_map(|used| &used.lines);
    let mut named = found.chain(used.copied()).map(u64::from);
    // What is missing at the end stands behind the last line.
    let beyond = named.find(|line| *line > lines.saturating_add(1))?;
    Some(format!(
        "`{kind}` has a verdict about line {} of {}",
        grouped(beyond),
        grouped(lines)
    ))
}

/// Whether its id, which has the time of its arrival, its deadline and its record can belong together. Only where nobody set
/// the clock.
pub(super) fn timed(p: &ProposedLog, at: Timestamp) -> Option<String> {
    let arrived = p.id.made_at()?;
    let passed = at.duration_since(arrived);
    if passed <= -SET || passed >= WAITS {
        return Some(format!(
            "`proposed` at {at:.0}, and its id was made at {arrived:.0}"
        ));
    }
    (p.expires_at.duration_since(arrived) <= -SET).then(|| {
        format!(
            "`proposed` with a deadline of {:.0}, before it arrived at {arrived:.0}",
            p.expires_at
        )
    })
}
