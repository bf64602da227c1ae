//! The output of a run in the timing in which it was printed.

use std::time::Duration;

use super::{Log, Record, erased};
use crate::model::{Digest, FinishedLog, StreamName, visible_lines};

/// What a run printed, in its order. The texts have no hidden characters but line feeds and tabs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Playback {
    pub steps: Vec<Step>,
    /// Whether the log says when it was printed.
    pub timed: bool,
}

/// A piece of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Since the run was let go.
    pub at: Duration,
    pub stream: StreamName,
    pub text: String,
}

impl Playback {
    /// Reads the output of a run, of which these are the records.
    ///
    /// # Errors
    /// Why the log does not have it.
    pub fn of(finished: &FinishedLog, records: &[Record], log: &Log) -> Result<Self, String> {
        Self::reading(finished, records, &|digest| log.blob(digest))
    }

    /// The same with contents that come from `read`.
    ///
    /// # Errors
    /// Why they are not there.
    pub fn reading(
        finished: &FinishedLog,
        records: &[Record],
        read: &dyn Fn(&Digest) -> Result<Vec<u8>, String>,
    ) -> Result<Self, String> {
        if let Some(why) = &finished.unkept {
            return Err(format!("its output is not in the log: {why}"));
        }
        let text = |name, digest: &Digest, bytes| -> Result<String, String> {
            if bytes == 0 {
                return Ok(String::new());
            }
            let content = read(digest);
            let content = content.map_err(|why| {
                let erased = erased(records, digest, &|at| at.to_string());
                erased.map_or_else(
                    || format!("{name} is damaged: {why}"),
                    |erased| format!("{name} is {erased}"),
                )
            })?;
            Ok(String::from_utf8_lossy(&content).into_owned())
        };
        let stdout = text("stdout", &finished.stdout_sha256, finished.stdout_bytes)?;
        let stderr = text("stderr", &finished.stderr_sha256, finished.stderr_bytes)?;
        Ok(Self::timed(finished, &stdout, &stderr))
    }

    fn timed(finished: &FinishedLog, stdout: &str, stderr: &str) -> Self {
        let (mut stdout, mut stderr) = (stdout, stderr);
        let timed = !finished.pace.is_empty() || stdout.is_empty() && stderr.is_empty();
        let mut steps = Vec::new();
        let mut add = |ms, stream, text: &str| {
            if !text.is_empty() {
                steps.push(Step {
                    at: Duration::from_millis(ms),
                    stream,
                    text: visible_lines(text).into_owned(),
                });
            }
        };
        for piece in finished.pace.pieces() {
            let rest = match piece.1 {
                StreamName::Stdout => &mut stdout,
                StreamName::Stderr => &mut stderr,
            };
            let bytes = usize::try_from(piece.2).unwrap_or(usize::MAX);
            let (now, later) = rest.split_at(rest.floor_char_boundary(bytes));
            *rest = later;
            add(piece.0, piece.1, now);
        }
        // What has no time: a log of an earlier version, or text that was cut or redacted at the end.
        let last = match timed {
            true => finished.duration_ms,
            false => 0,
        };
        add(last, StreamName::Stdout, stdout);
        add(last, StreamName::Stderr, stderr);
        Self { steps, timed }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use crate::model::{LogEvent, Pace, ProposalId};

    fn played(pace: &[(u64, StreamName, u64)], stdout: &str, stderr: &str) -> Playback {
        let (LogEvent::Finished(mut finished), _) = samples::finished(ProposalId::new()) else {
            panic!("no run");
        };
        finished.pace = Pace::default();
        for (ms, stream, bytes) in pace {
            finished.pace.push(*ms, *stream, *bytes);
        }
        Playback::timed(&finished, stdout, stderr)
    }

    #[test]
    fn each_piece_comes_at_its_time_and_nothing_hidden_is_left() {
        use StreamName::{Stderr, Stdout};
        let pace = [(5, Stdout, 4), (300, Stderr, 3), (900, Stdout, 3)];
        let done = played(&pace, "one\n\u{1b}[2", "no\n");
        let step = |ms, stream, text: &str| Step {
            at: Duration::from_millis(ms),
            stream,
            text: text.to_owned(),
        };
        assert_eq!(
            done.steps,
            [
                step(5, Stdout, "one\n"),
                step(300, Stderr, "no\n"),
                step(900, Stdout, "␛[2"),
            ]
        );
        assert!(done.timed);
    }

    #[test]
    fn no_text_is_lost_whatever_the_timing_says() {
        use StreamName::{Stderr, Stdout};
        for pace in [
            &[][..],
            &[(1, Stdout, 1)],
            &[(1, Stdout, u64::MAX), (2, Stderr, 1), (3, Stdout, 9)],
        ] {
            let done = played(pace, "ä\nö", "e\n");
            let of = |stream| -> String {
                let steps = done.steps.iter().filter(|step| step.stream == stream);
                steps.map(|step| step.text.as_str()).collect()
            };
            assert_eq!(
                (of(Stdout), of(Stderr)),
                ("ä\nö".to_owned(), "e\n".to_owned())
            );
            assert_eq!(done.timed, !pace.is_empty());
        }
    }
}
