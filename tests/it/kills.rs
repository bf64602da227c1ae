//! Kills the whole dashboard at several moments of a grant: the log contains everything that an
//! agent was told, is consistent at once, and the next start ends what was open.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::collections::BTreeSet;
use std::time::Duration;

use common::dash::Dash;
use nix::sys::signal::Signal;
use serde_json::Value;

/// Kinds of the records that a proposal has.
fn kinds(log: &str, id: &Value) -> BTreeSet<String> {
    log.lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|record| record["id"] == *id)
        .filter_map(|record| record["kind"].as_str().map(str::to_owned))
        .collect()
}

#[test]
fn the_log_of_a_killed_dashboard_is_sound_and_has_everything_that_was_reported() {
    let mut dash = Dash::start();
    let mut reported = Vec::new();
    // Moments from before the grant is on disk until after the run's end.
    for wait_ms in [0, 2, 5, 15, 60, 150, 400] {
        let mut agent = dash.agent();
        let granted = agent.code(&format!("print({wait_ms})\n"));
        let waits = agent.code(&format!("print({wait_ms}, 'waits')\n"));
        reported.extend([granted["id"].clone(), waits["id"].clone()]);
        match wait_ms {
            // The last run has time to end, and a key that a stall discarded is pressed again.
            400 => {
                dash.grant(&mut agent, &granted);
                let finished =
                    |d: &Dash, _: &str| kinds(&d.log_text(), &granted["id"]).contains("finished");
                dash.wait_for("its end", finished);
            }
            _ => {
                dash.open_sheet();
                dash.wait_text("press y to grant");
                dash.keys("y");
                std::thread::sleep(Duration::from_millis(wait_ms));
            }
        }
        dash.signal(Signal::SIGKILL);
        dash.then(&[]);
        dash.wait_text("log ✓");
        let verify = dash.cli(&["audit", "verify"]);
        let stdout = String::from_utf8_lossy(&verify.stdout).into_owned();
        assert_eq!(verify.status.code(), Some(0), "{wait_ms} ms: {stdout}");
        dash.wait_for("an end of everything", |d, _| {
            let log = d.log_text();
            reported.iter().all(|id| {
                let kinds = kinds(&log, id);
                let ended = ["finished", "failed", "unattended"]
                    .iter()
                    .any(|end| kinds.contains(*end));
                kinds.contains("proposed") && ended
            })
        });
    }
    let log = dash.log_text();
    assert_eq!(reported.len(), 14);
    for id in &reported {
        let kinds = kinds(&log, id);
        let ran = kinds.contains("started") || kinds.contains("finished");
        assert!(!ran || kinds.contains("granted"), "{id}: {kinds:?}");
    }
    assert!(kinds(&log, &reported[12]).contains("finished"), "{log}");
}
