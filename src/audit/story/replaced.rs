//! What is said of what was replaced before a record was kept.

use super::{NAMED, Teller};
use crate::audit::Record;
use crate::model::{Capability, LogEvent, grouped};

/// What is not in this record and in its contents.
pub(super) fn sentences(record: &Record, teller: Teller<'_>) -> Vec<String> {
    let counts = &record.redacted;
    let all: u64 = counts.values().fold(0, |sum, n| sum.saturating_add(*n));
    if all == 0 {
        return Vec::new();
    }
    let kinds = counts.keys().take(NAMED).map(|kind| teller.name(kind));
    let kinds = kinds.collect::<Vec<_>>().join(", ");
    let secrets = if all == 1 {
        "secret was"
    } else {
        "secrets were"
    };
    let mut said = vec![format!(
        "{} {secrets} replaced before this was kept: {kinds}.",
        grouped(all)
    )];
    let verdict = match &record.event {
        LogEvent::Proposed(p) => Some(&p.verdict),
        LogEvent::Edited(e) => Some(&e.verdict),
        _ => None,
    };
    // An agent chooses what looks like a secret.
    let acts = |used: Capability| {
        matches!(
            used,
            Capability::DynamicCode
                | Capability::Exec
                | Capability::Deserialize
                | Capability::Native
        )
    };
    let used = verdict.map_or(&[][..], |verdict| &verdict.capabilities);
    if used.iter().any(|used| acts(used.capability)) {
        let may_be = "This code runs text or data, and what it runs may be among what was replaced: then it cannot be read \
                      here.";
        said.push(may_be.to_owned());
    }
    said
}
