//! Decisions, and deadlines without one: how long somebody looked, whether all was shown, whether it was in time.

use std::time::Duration;

use super::{LATE, ROUNDING, Told, millis};
use crate::model::{BoundInput, InputKind, LogEvent, ProposedLog, Verdict, Viewed, grouped};

/// The most that could be shown so far.
#[derive(Debug)]
pub(super) struct Shown {
    findings: u64,
    /// Of code, and of what its agent brought. No byte ends two lines.
    code: u64,
    brought: u64,
    texts: u64,
}

impl Shown {
    pub fn of(p: &ProposedLog) -> Self {
        let is_brought = |input: &&BoundInput| !matches!(input.kind, InputKind::Dataset { .. });
        let brought = p.inputs.iter().filter(is_brought).map(|input| input.bytes);
        Self {
            findings: p.verdict.findings.len() as u64,
            code: p.verdict.source.bytes,
            brought: brought.fold(0, u64::saturating_add),
            texts: 1 + p.inputs.len() as u64,
        }
    }

    pub fn edited(&mut self, verdict: &Verdict) {
        self.findings = self.findings.max(verdict.findings.len() as u64);
        self.code = self.code.max(verdict.source.bytes);
    }
}

impl Told {
    /// Whether more was seen than there was. What was shown is not what is kept where secrets are replaced.
    pub(super) fn seen(&self, kind: &str, viewed: &Viewed) -> Option<String> {
        let (all, shown) = (self.shown.findings, viewed.findings_shown);
        if shown > all {
            return Some(format!(
                "`{kind}` after {} findings had been shown, of {}",
                grouped(shown),
                grouped(all)
            ));
        }
        let bytes = self.shown.code.saturating_add(self.shown.brought);
        (viewed.lines_seen > bytes.saturating_add(self.shown.texts) && !self.is_redacted).then(
            || {
                format!(
                    "`{kind}` after {} lines had been seen, in {} bytes",
                    grouped(viewed.lines_seen),
                    grouped(bytes)
                )
            },
        )
    }

    pub(super) fn granted(&self, viewed: &Viewed, since: Duration) -> Option<String> {
        let shown = viewed.findings_shown;
        if shown < self.findings {
            let s = if self.findings == 1 { "" } else { "s" };
            return Some(format!(
                "`granted` although {shown} of {} finding{s} had been shown",
                self.findings
            ));
        }
        // No line of code can be granted unseen, and none is counted twice.
        if viewed.lines_seen < self.lines {
            return Some(format!(
                "`granted` although {} of {} line{} had been seen",
                grouped(viewed.lines_seen),
                grouped(self.lines),
                if self.lines == 1 { "" } else { "s" }
            ));
        }
        if let Some(time) = self.time.filter(|time| since > *time + LATE) {
            return Some(format!(
                "`granted` {} s after its time of {} s was over",
                grouped(since.saturating_sub(time).as_secs()),
                grouped(time.as_secs())
            ));
        }
        looked("granted", viewed, since)
    }

    /// Whether its time was over. A run that was let go does not expire.
    pub(super) fn expired(&self, since: Duration) -> Option<String> {
        let time = self.time?;
        if since + ROUNDING < time {
            return Some(format!(
                "`expired` after {} s of {} s",
                grouped(since.as_secs()),
                grouped(time.as_secs())
            ));
        }
        let started = self.allowed.started?.saturating_sub(self.asked);
        (started + LATE < time).then(|| {
            format!(
                "`expired` although it was started {} s before its time was over",
                grouped(time.saturating_sub(started).as_secs())
            )
        })
    }

    /// Whether the same drill ended as began.
    pub(super) fn drilled(&self, event: &LogEvent, since: Duration) -> Option<String> {
        let LogEvent::Drilled(d) = event else {
            return None;
        };
        if self.drill.as_ref().is_some_and(|drill| *drill != d.drill) {
            return Some("`drilled` names another drill than was proposed".to_owned());
        }
        let viewed = d.viewed.as_ref()?;
        looked("drilled", viewed, since).or_else(|| self.seen("drilled", viewed))
    }
}

pub(super) fn looked(kind: &str, viewed: &Viewed, since: Duration) -> Option<String> {
    let ms = viewed.selected_ms.max(viewed.focused_ms.unwrap_or(0));
    if Duration::from_millis(ms) > since + ROUNDING {
        return Some(format!(
            "`{kind}` after a look of {} ms, {} ms after it was proposed",
            grouped(ms),
            grouped(millis(since))
        ));
    }
    let focused = viewed.focused_ms.filter(|ms| *ms > viewed.selected_ms)?;
    Some(format!(
        "`{kind}` after {} ms of a look with the focus, in {} ms of a look",
        grouped(focused),
        grouped(viewed.selected_ms)
    ))
}
