//! What was proposed and edited, and when.

use jiff::{SignedDuration, Timestamp};

use super::clock::SET;
use crate::model::{Digest, EditedLog, ProposedLog, Verdict};

/// How long a proposal that was accepted can wait for its record: a machine may sleep.
const WAITS: SignedDuration = SignedDuration::from_hours(24);

pub(super) fn proposed(p: &ProposedLog) -> Option<String> {
    judged("proposed", &p.verdict, &p.code(), &p.policy_sha256)
}

pub(super) fn edited(e: &EditedLog) -> Option<String> {
    judged("edited", &e.verdict, &e.code(), &e.policy_sha256)
}

/// Whether a verdict is one on this code.
fn judged(kind: &str, verdict: &Verdict, code: &Digest, policy: &str) -> Option<String> {
    if verdict.source.sha256 != code.hex() {
        return Some(format!("`{kind}` has a verdict on other code"));
    }
    (verdict.policy.sha256 != policy).then(|| format!("`{kind}` has a verdict by another policy"))
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
