//! Decisions, and deadlines without one: how long somebody looked, whether all was shown, whether it was in time.

use std::time::Duration;

use super::{LATE, ROUNDING, Told, millis};
use crate::model::{LogEvent, Viewed, grouped};

impl Told {
    pub(super) fn granted(&self, viewed: &Viewed, since: Duration) -> Option<String> {
        let shown = viewed.findings_shown;
        if shown < self.findings {
            let s = if self.findings == 1 { "" } else { "s" };
            return Some(format!(
                "`granted` although {shown} of {} finding{s} had been shown",
                self.findings
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
        looked("drilled", d.viewed.as_ref()?, since)
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
