//! The report of the child, over a pipe of its own.
//!
//! Native code in the child can write to the pipe too, so everything is a claim, limited in size
//! and parsed strictly. How the process ended and which limit it reached is known from outside.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::model::{Accesses, LimitKind, RunError, RunErrorKind, RunEvent};

const MESSAGE_MAX: usize = 4000;
const EXCEPTION_MAX: usize = 200;

/// The bytes read from the pipe so far.
pub struct Report {
    max: usize,
    bytes: Vec<u8>,
    flooded: bool,
}

/// The runner's claim about how the snippet ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    pub error: Option<RunError>,
    pub limit: Option<LimitKind>,
    /// The errno(3) of the system call that reached the limit.
    pub errno: Option<i32>,
    pub result: Value,
    /// The files that the contract's code claims to have left; `None` if the contract keeps no
    /// list.
    pub manifest: Option<Vec<Claimed>>,
    /// Figures that were shown and are not files, since there were too many.
    pub figures_unkept: u64,
}

/// Where the snippet was when it was stopped, at a checkpoint of the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// `Cancelled` or `Timeout`. The truth is known from outside.
    pub by: RunErrorKind,
    pub line: Option<u32>,
}

/// A file as the child describes it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claimed {
    pub name: String,
    pub bytes: u64,
}

/// A line with an event that the guard observed during the run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EventLine {
    event: Event,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Event {
    kind: String,
    message: String,
    line: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ready {
    ready: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Final {
    error: Option<FinalError>,
    #[serde(default)]
    result: Value,
    #[serde(default)]
    manifest: Option<Vec<Claimed>>,
    #[serde(default)]
    figures_unkept: u32,
    /// Number of events over the maximum.
    #[serde(default)]
    more: u32,
    #[serde(default)]
    accesses: Option<BTreeMap<String, Accesses>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FinalError {
    #[serde(rename = "type")]
    kind: RunErrorKind,
    message: String,
    line: Option<u32>,
    exception: Option<String>,
    limit: Option<LimitKind>,
    #[serde(default)]
    errno: Option<i32>,
}

impl Report {
    /// `max` is the maximum size in bytes.
    pub fn new(max: usize) -> Self {
        Self {
            max,
            bytes: Vec::new(),
            flooded: false,
        }
    }

    pub fn feed(&mut self, bytes: &[u8]) {
        let room = self.max.saturating_sub(self.bytes.len());
        self.flooded |= bytes.len() > room;
        self.bytes
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    pub fn flooded(&self) -> bool {
        self.flooded
    }

    /// Removes the line that reports that the runner is confined and waits. Nothing untrusted is
    /// read before the release, so this line is the runner's own.
    pub fn take_ready(&mut self) -> bool {
        let Some(end) = self.bytes.iter().position(|b| *b == b'\n') else {
            return false;
        };
        let line: Vec<u8> = self.bytes.drain(..=end).collect();
        serde_json::from_slice::<Ready>(&line).is_ok_and(|r| r.ready)
    }

    /// The events that the guard reported until now: at most [`RunEvent::MOST`], cut and without
    /// control characters.
    pub fn events(&self) -> Vec<RunEvent> {
        let mut events: Vec<RunEvent> = self
            .lines()
            .filter_map(|line| serde_json::from_slice::<EventLine>(line).ok())
            .map(|line| line.event.checked())
            .take(RunEvent::MOST)
            .collect();
        if let Some(Final {
            more: more @ 1.., ..
        }) = self.last()
        {
            events.push(RunEvent {
                kind: "more".to_owned(),
                message: format!("{more} more events"),
                line: None,
            });
        }
        events
    }

    /// The guard's counts of the snippet's accesses, if it got to its report.
    pub fn accesses(&self) -> BTreeMap<String, Accesses> {
        let mut counted = self
            .last()
            .and_then(|report| report.accesses)
            .unwrap_or_default();
        counted.retain(|of, _| Accesses::OF.contains(&of.as_str()));
        counted
    }

    /// The last line, if it is a report.
    fn last(&self) -> Option<Final> {
        serde_json::from_slice(self.lines().last()?).ok()
    }

    /// Where the guard claims to have stopped the snippet.
    pub fn stopped(&self) -> Option<Stopped> {
        let error = self.last()?.error?;
        matches!(
            (error.kind, error.limit),
            (RunErrorKind::Cancelled, None) | (RunErrorKind::Timeout, Some(LimitKind::Wall))
        )
        .then_some(Stopped {
            by: error.kind,
            line: error.line,
        })
    }

    /// The complete lines, without a rest after the last newline.
    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let end = self.bytes.iter().rposition(|b| *b == b'\n').unwrap_or(0);
        self.bytes[..end].split(|b| *b == b'\n')
    }

    /// The report line, which must be last and preceded only by events; or why it is invalid.
    pub fn claim(&self) -> Result<Claim, &'static str> {
        if self.flooded {
            return Err("the child's report is too long");
        }
        if self.bytes.last() != Some(&b'\n') {
            return Err("the child ended without its report");
        }
        let mut lines: Vec<&[u8]> = self.lines().collect();
        let line = lines.pop().unwrap_or_default();
        if lines
            .iter()
            .any(|line| serde_json::from_slice::<EventLine>(line).is_err())
        {
            return Err("the child reported more than once");
        }
        let report: Final =
            serde_json::from_slice(line).map_err(|_| "the child's report is malformed")?;
        let (error, limit, errno) = match report.error {
            None => (None, None, None),
            Some(error) => {
                // Only the outside can know these, so the child must not claim them.
                if error.kind.is_from_outside()
                    || matches!(
                        error.limit,
                        Some(LimitKind::Wall | LimitKind::Cpu | LimitKind::Output)
                    )
                {
                    return Err("the child's report is malformed");
                }
                (
                    Some(RunError {
                        kind: error.kind,
                        message: cut(error.message, MESSAGE_MAX),
                        line: error.line,
                        exception: error.exception.map(|e| cut(e, EXCEPTION_MAX)),
                    }),
                    error.limit,
                    error.errno,
                )
            }
        };
        Ok(Claim {
            error,
            limit,
            errno,
            result: report.result,
            manifest: report.manifest,
            figures_unkept: report.figures_unkept.into(),
        })
    }
}

impl Event {
    /// Makes the event short and printable; an unknown kind becomes `other`.
    fn checked(self) -> RunEvent {
        let known = [
            "refused",
            "text",
            "system",
            "files",
            "scope",
            RunEvent::CROSSING,
            "limit",
            "facts",
        ];
        let kind = known.into_iter().find(|kind| *kind == self.kind);
        let printable = |c: char| if c.is_control() { '\u{fffd}' } else { c };
        let message = self.message.chars().map(printable).collect();
        RunEvent {
            kind: kind.unwrap_or("other").to_owned(),
            message: cut(message, RunEvent::MESSAGE_MAX),
            line: self.line,
        }
    }
}

fn cut(mut text: String, max: usize) -> String {
    if let Some((at, _)) = text.char_indices().nth(max) {
        text.truncate(at);
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const BYTES_MAX: usize = 1024 * 1024;

    fn claim(bytes: &[u8]) -> Result<Claim, &'static str> {
        let mut report = Report::new(BYTES_MAX);
        report.feed(bytes);
        report.claim()
    }

    #[test]
    fn counts_are_read_from_the_last_line_and_for_known_names_only() {
        let counted = |line: &str| {
            let mut report = Report::new(BYTES_MAX);
            report.feed(line.as_bytes());
            report.feed(b"\n");
            report.accesses()
        };
        let one = r#"{"allowed":18446744073709551615,"blocked":18446744073709551615}"#;
        let report = counted(&format!(
            r#"{{"error":null,"accesses":{{"public":{one},"\u001b[2J":{one}}}}}"#
        ));
        assert_eq!(report.keys().collect::<Vec<_>>(), ["public"]);
        assert_eq!(
            Accesses::line(&report),
            "public 18,446,744,073,709,551,615 allowed, 18,446,744,073,709,551,615 blocked"
        );
        for line in [
            r#"{"error":null}"#,
            r#"{"error":null,"accesses":null}"#,
            r#"{"error":null,"accesses":{"public":{"allowed":-1,"blocked":0}}}"#,
            r#"{"error":null,"accesses":{"public":{"allowed":1}}}"#,
            r#"{"event":{"kind":"scope","message":"x","line":1}}"#,
        ] {
            assert!(counted(line).is_empty(), "{line}");
        }
    }

    #[test]
    fn a_lying_report_is_an_error_and_never_a_crash() {
        let deep = [vec![b'['; 100_000], vec![b'\n']].concat();
        for lie in [
            &b""[..],
            b"\n",
            b"{}\n{}\n",
            b"{\"error\":null}",
            b"{\"error\":null,\"exit\":0}\n",
            b"{\"error\":{\"type\":\"Timeout\",\"message\":\"\",\"line\":1,\"exception\":null,\"limit\":null}}\n",
            b"{\"error\":{\"type\":\"SnippetError\",\"message\":\"\",\"line\":-1,\"exception\":null,\"limit\":null}}\n",
            b"{\"error\":{\"type\":\"SnippetError\",\"message\":\"\",\"line\":1,\"exception\":null,\"limit\":\"wall\"}}\n",
            b"\xff\n",
            &deep,
        ] {
            assert!(claim(lie).is_err());
        }
        assert!(claim(&vec![b'x'; BYTES_MAX + 1]).is_err());
    }

    #[test]
    fn a_claim_is_accepted_and_cut() {
        let report = claim(b"{\"error\":null,\"result\":{\"value\":1}}\n").unwrap();
        assert_eq!(report.error, None);
        let long = serde_json::json!({"error": {"type": "SnippetError", "message": "x".repeat(9000),
            "line": 3, "exception": "ValueError", "limit": null}, "result": null});
        let report = claim(format!("{long}\n").as_bytes()).unwrap();
        assert_eq!(
            report.error.unwrap().message.chars().count(),
            MESSAGE_MAX + 1
        );
    }

    #[test]
    fn events_are_bounded_and_cleaned_and_precede_the_report() {
        let event = |kind: &str, message: &str| {
            serde_json::json!({"event": {"kind": kind, "message": message, "line": 2}}).to_string()
        };
        let end = "{\"error\":null,\"result\":null,\"more\":3}\n";
        let mut report = Report::new(BYTES_MAX);
        let mut text =
            event("refused", "a\u{1b}[2Jb") + "\n" + &event("x\ny", &"é".repeat(900)) + "\n";
        report.feed(text.as_bytes());
        // If it is killed at this point, these events count.
        assert_eq!(report.events().len(), 2);
        assert!(report.claim().is_err());
        for _ in 0..200 {
            text.push_str(&(event("scope", "c") + "\n"));
        }
        let mut report = Report::new(BYTES_MAX);
        report.feed((text + end).as_bytes());
        let events = report.events();
        assert_eq!(events.len(), RunEvent::MOST + 1);
        assert_eq!(events[0].message, "a\u{fffd}[2Jb");
        assert_eq!(
            (events[1].kind.as_str(), events[1].message.chars().count()),
            ("other", 301)
        );
        assert_eq!(events[RunEvent::MOST].message, "3 more events");
        assert!(report.claim().is_ok());
        let mut report = Report::new(BYTES_MAX);
        report.feed((end.to_owned() + &event("scope", "after") + "\n").as_bytes());
        assert!(report.claim().is_err());
    }

    #[test]
    fn the_place_of_a_stop_is_read_but_never_as_the_end() {
        let line = |kind: &str, limit: serde_json::Value| {
            let error = serde_json::json!({"type": kind, "message": "", "line": 3,
                "exception": null, "limit": limit});
            format!("{}\n", serde_json::json!({ "error": error })).into_bytes()
        };
        for (kind, limit, by) in [
            (
                "Timeout",
                serde_json::json!("wall"),
                Some(RunErrorKind::Timeout),
            ),
            (
                "Cancelled",
                serde_json::Value::Null,
                Some(RunErrorKind::Cancelled),
            ),
            ("Timeout", serde_json::json!("cpu"), None),
            ("TickLimit", serde_json::json!("ticks"), None),
        ] {
            let mut report = Report::new(BYTES_MAX);
            report.feed(&line(kind, limit));
            let stopped = report.stopped();
            assert_eq!(stopped.map(|one| one.by), by, "{kind}");
            assert!(stopped.is_none_or(|one| one.line == Some(3)), "{kind}");
            assert_eq!(report.claim().is_err(), kind != "TickLimit", "{kind}");
        }
    }

    #[test]
    fn readiness_is_one_exact_line() {
        for (text, expected) in [
            ("{\"ready\":true}\nrest", true),
            ("{\"ready\":true}", false),
            ("hello\n", false),
        ] {
            let mut report = Report::new(BYTES_MAX);
            report.feed(text.as_bytes());
            assert_eq!(report.take_ready(), expected, "{text}");
        }
    }
}
