//! `countersign status --watch`: a line for tmux, waybar and the like at each change. The lines have counts and times
//! only, nothing of an agent's.

use std::path::Path;

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use serde_json::json;

use crate::audit::{Counts, Log};
use crate::error::Failure;

use super::super::out::{is_closed_within, print, print_json};
use super::Format;

/// How often the log is looked at, in milliseconds.
const EVERY_MS: u16 = 1000;

/// Prints until nobody reads the output any more; a dashboard that goes away is one more change.
pub fn watch(state_dir: &Path, format: Format) -> Result<u8, Failure> {
    let mut watch = Log::watch(state_dir);
    let mut last = String::new();
    loop {
        let counts = watch.look().map_err(|e| Failure::general(e.to_string()))?;
        let now = Timestamp::now().to_zoned(TimeZone::system());
        let line = match format {
            Format::Text => text(counts, &now),
            Format::Json => object(counts, &now),
        };
        if line != last {
            match format {
                Format::Text => print(|out| writeln!(out, "{line}"))?,
                Format::Json => print_json(&line)?,
            }
            last = line;
        }
        if is_closed_within(EVERY_MS) {
            return Ok(0);
        }
    }
}

/// The state of the log in one word.
fn log(counts: &Counts) -> &'static str {
    match counts {
        Counts { log: false, .. } => "none",
        Counts {
            dashboard: Some(d), ..
        } if d.down => "down",
        Counts { damaged: true, .. } => "damaged",
        _ => "ok",
    }
}

fn text(counts: &Counts, now: &Zoned) -> String {
    let log = log(counts);
    if counts.dashboard.is_none() {
        return format!("no dashboard · log {log}");
    }
    let mut line = format!("{} pending", counts.pending);
    if counts.flagged > 0 {
        line.push_str(&format!(" ({} flagged)", counts.flagged));
    }
    line.push_str(&format!(" · {} running", counts.running));
    if let Some(at) = counts.expires_at {
        line.push_str(&format!(" · first expires {}", time(at, now)));
    }
    line.push_str(&format!(" · log {log}"));
    line
}

/// `14:05`, or with its day if that is not today.
fn time(at: Timestamp, now: &Zoned) -> String {
    let at = at.to_zoned(now.time_zone().clone());
    let form = match at.date() == now.date() {
        true => "%H:%M",
        false => "%Y-%m-%d %H:%M",
    };
    at.strftime(form).to_string()
}

/// What waybar calls a class: the one thing that matters most.
fn class(counts: &Counts) -> &'static str {
    match log(counts) {
        bad @ ("down" | "damaged") => return bad,
        _ if counts.dashboard.is_none() => return "none",
        _ => {}
    }
    match counts {
        c if c.flagged > 0 => "flagged",
        c if c.pending > 0 => "pending",
        c if c.running > 0 => "running",
        _ => "idle",
    }
}

fn object(counts: &Counts, now: &Zoned) -> String {
    let class = class(counts);
    let text = match class {
        "none" => "–".to_owned(),
        "down" | "damaged" => format!("log {class}"),
        _ if counts.running > 0 => format!("{} ▸{}", counts.pending, counts.running),
        _ => counts.pending.to_string(),
    };
    let mut tooltip = self::text(counts, now).replace(" · ", "\n");
    if matches!(class, "down" | "damaged") {
        tooltip.push_str("\nthe dashboard and `countersign audit verify` say why");
    }
    json!({"text": text, "tooltip": tooltip, "class": class}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Dashboard;

    fn counts(pending: u64, flagged: u64, running: u64) -> Counts {
        Counts {
            dashboard: Some(Dashboard {
                pid: Some(1),
                down: false,
            }),
            log: true,
            damaged: false,
            pending,
            flagged,
            running,
            expires_at: (pending > 0).then_some(Timestamp::UNIX_EPOCH),
        }
    }

    fn now() -> Zoned {
        Timestamp::from_second(60).unwrap().to_zoned(TimeZone::UTC)
    }

    #[test]
    fn a_line_says_what_waits_what_runs_and_the_state_of_the_log() {
        let down = Counts {
            dashboard: Some(Dashboard {
                pid: None,
                down: true,
            }),
            ..counts(0, 0, 0)
        };
        let damaged = Counts {
            damaged: true,
            ..counts(0, 0, 0)
        };
        for (counts, line, class) in [
            (
                counts(3, 1, 1),
                "3 pending (1 flagged) · 1 running · first expires 00:00 · log ok",
                "flagged",
            ),
            (
                counts(2, 0, 0),
                "2 pending · 0 running · first expires 00:00 · log ok",
                "pending",
            ),
            (counts(0, 0, 1), "0 pending · 1 running · log ok", "running"),
            (counts(0, 0, 0), "0 pending · 0 running · log ok", "idle"),
            (down, "0 pending · 0 running · log down", "down"),
            (damaged, "0 pending · 0 running · log damaged", "damaged"),
            (Counts::default(), "no dashboard · log none", "none"),
        ] {
            assert_eq!(text(&counts, &now()), line);
            let object: serde_json::Value = serde_json::from_str(&object(&counts, &now())).unwrap();
            assert_eq!(object["class"], class);
            // Markup of a bar: nothing that begins an element or an entity.
            let shown = format!("{}{}", object["text"], object["tooltip"]);
            assert!(!shown.contains(['<', '&']), "{shown}");
        }
    }

    #[test]
    fn a_deadline_of_another_day_has_its_date() {
        let at = Timestamp::from_second(2 * 86_400 + 300).unwrap();
        assert_eq!(time(at, &now()), "1970-01-03 00:05");
    }
}
