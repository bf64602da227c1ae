//! What a person looked at before a decision.

use super::{count, spelled};
use crate::model::{Viewed, grouped};

/// What somebody looked at before a decision on what has so many findings.
pub fn looked(v: &Viewed, findings: usize) -> Vec<String> {
    let focused = match v.focused_ms {
        Some(ms) if ms != v.selected_ms => format!(", {} of that in focus", spelled(ms)),
        _ => String::new(),
    };
    let opened = serde_json::to_value(v.opened).unwrap_or_default();
    let opened: Vec<String> = opened
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|part| Some(part.as_str()?.replace('_', " ")))
        .collect();
    let opened = match opened.is_empty() {
        true => String::new(),
        false => format!("; also opened: {}", opened.join(", ")),
    };
    let all = count(findings, "finding");
    let shown = match (v.findings_shown, findings) {
        (0, 0) => all,
        // A seat's log has no verdict.
        (shown, 0) => count(shown as usize, "finding"),
        (shown, _) => format!("{} of {all}", grouped(shown)),
    };
    let mut lines = vec![format!(
        "It was selected for {}{focused}: {} of code seen, {shown} shown{opened}.",
        spelled(v.selected_ms),
        count(v.lines_seen as usize, "line")
    )];
    if v.asked_again {
        lines.push(
            "The sheet asked a second time: the grant came sooner than the code can be read."
                .to_owned(),
        );
    }
    lines
}
