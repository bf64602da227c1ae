//! What the child says of itself, over a pipe of its own.
//!
//! Native code in the child can write there too: everything is a claim, bounded in size and
//! parsed strictly. How the process ended and which limit it met is known from outside.

use serde::Deserialize;
use serde_json::Value;

use crate::model::{LimitKind, RunError, RunErrorKind};

const MESSAGE_MAX: usize = 4000;
const EXCEPTION_MAX: usize = 200;

/// The bytes of the pipe so far.
pub struct Report {
    max: usize,
    bytes: Vec<u8>,
    flooded: bool,
}

/// The runner's word on how the snippet ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    pub error: Option<RunError>,
    pub limit: Option<LimitKind>,
    pub result: Value,
    /// The files that the contract's code says it left; `None` where the contract keeps no list.
    pub manifest: Option<Vec<Claimed>>,
}

/// One file as the child names it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claimed {
    pub name: String,
    pub bytes: u64,
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
}

impl Report {
    /// `max`: bytes it may have.
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

    /// Takes the line off with which the runner says that it is confined and waits. Before its
    /// release nothing untrusted was read, so this line is the runner's own.
    pub fn take_ready(&mut self) -> bool {
        let Some(end) = self.bytes.iter().position(|b| *b == b'\n') else {
            return false;
        };
        let line: Vec<u8> = self.bytes.drain(..=end).collect();
        serde_json::from_slice::<Ready>(&line).is_ok_and(|r| r.ready)
    }

    /// The one line that must be all there is at the end, or why it is not.
    pub fn claim(&self) -> Result<Claim, &'static str> {
        if self.flooded {
            return Err("the child's report is too long");
        }
        let Some((b'\n', line)) = self.bytes.split_last() else {
            return Err("the child ended without its report");
        };
        if line.contains(&b'\n') {
            return Err("the child reported more than once");
        }
        let said: Final =
            serde_json::from_slice(line).map_err(|_| "the child's report is malformed")?;
        let (error, limit) = match said.error {
            None => (None, None),
            Some(error) => {
                // What only the outside can know is not for the child to say.
                if matches!(
                    error.kind,
                    RunErrorKind::Timeout | RunErrorKind::OutputLimit | RunErrorKind::Cancelled
                ) || matches!(
                    error.limit,
                    Some(LimitKind::Wall | LimitKind::Cpu | LimitKind::Output)
                ) {
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
                )
            }
        };
        Ok(Claim {
            error,
            limit,
            result: said.result,
            manifest: said.manifest,
        })
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
    fn a_lying_report_is_an_error_and_never_a_crash() {
        let deep = [vec![b'['; 100_000], vec![b'\n']].concat();
        for bad in [
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
            assert!(claim(bad).is_err());
        }
        assert!(claim(&vec![b'x'; BYTES_MAX + 1]).is_err());
    }

    #[test]
    fn a_claim_is_taken_and_cut() {
        let said = claim(b"{\"error\":null,\"result\":{\"value\":1}}\n").unwrap();
        assert_eq!(said.error, None);
        let long = serde_json::json!({"error": {"type": "SnippetError", "message": "x".repeat(9000),
            "line": 3, "exception": "ValueError", "limit": null}, "result": null});
        let said = claim(format!("{long}\n").as_bytes()).unwrap();
        assert_eq!(said.error.unwrap().message.chars().count(), MESSAGE_MAX + 1);
    }

    #[test]
    fn readiness_is_one_exact_line() {
        for (text, want) in [
            ("{\"ready\":true}\nrest", true),
            ("{\"ready\":true}", false),
            ("hello\n", false),
        ] {
            let mut report = Report::new(BYTES_MAX);
            report.feed(text.as_bytes());
            assert_eq!(report.take_ready(), want, "{text}");
        }
    }
}
