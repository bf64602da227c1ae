//! `countersign audit playback`.

use std::time::Duration;

use crate::audit::{Log, Playback, Step};
use crate::error::Failure;
use crate::model::{Exit, LogEvent, StreamName, grouped, visible};

use super::super::out::{Pieces, is_closed_within, is_seen, tell};
use super::show::resolve;
use super::{answers, failed, whole};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The proposal's id, or its beginning or end (at least four digits)
    id: String,
    /// Play N times as fast
    #[arg(long, value_name = "N", default_value = "1", value_parser = speed)]
    speed: f64,
    /// Wait no longer than half a second for the next output
    #[arg(long)]
    skip_idle: bool,
}

const IDLE: Duration = Duration::from_millis(500);

fn speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(speed) if (0.01..=1000.0).contains(&speed) => Ok(speed),
        _ => Err("a speed is a number from 0.01 to 1000, such as 2".to_owned()),
    }
}

pub fn run(args: &Args, log: &Log) -> Result<u8, Failure> {
    let mut answers = answers(log, "playback")?;
    let id = resolve(&args.id, &mut answers)?;
    let history = answers.records(id).map_err(|e| failed(&e))?;
    let finished = history.records.iter().find_map(|r| match &r.event {
        LogEvent::Finished(f) => Some(f),
        _ => None,
    });
    let Some(finished) = finished else {
        whole(&history.faults)?;
        return Err(Failure::general(match history.records.is_empty() {
            true => format!("the log knows no proposal {id}"),
            false => format!("{id} has no output: the log has no record that it ran to an end"),
        }));
    };
    let playback = Playback::of(finished, &history.records, log)
        .map_err(|why| Failure::general(format!("{id}: {}", visible(&why))))?;
    if !playback.timed {
        tell("the log does not say when this was printed: all of it comes at once");
    }
    play(args, &playback.steps)?;
    for (name, cut, bytes) in [
        ("stdout", finished.stdout_truncated, finished.stdout_bytes),
        ("stderr", finished.stderr_truncated, finished.stderr_bytes),
    ] {
        if cut {
            let bytes = grouped(bytes);
            tell(&format!("{name} was cut: the run printed {bytes} bytes"));
        }
    }
    let exit = match &finished.exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(name) => format!("signal {name}"),
    };
    let ms = grouped(finished.duration_ms);
    tell(&format!("{} after {ms} ms, {exit}", finished.state));
    whole(&history.faults)
}

/// Prints each piece at its time; at once where nobody watches. Each row says its stream, so that no output passes for
/// words of this program.
fn play(args: &Args, steps: &[Step]) -> Result<(), Failure> {
    let mut out = Pieces::new();
    let mut rows = Gutter::default();
    let mut at = Duration::ZERO;
    for step in steps {
        if is_seen() {
            let wait = step.at.saturating_sub(at).div_f64(args.speed);
            let wait = if args.skip_idle { wait.min(IDLE) } else { wait };
            if waited(wait) {
                return Ok(());
            }
        }
        at = step.at;
        let text = rows.next(step);
        if !out.print(|out| out.write_all(text.as_bytes()))? {
            return Ok(());
        }
    }
    let end = rows.end();
    out.print(|out| out.write_all(end.as_bytes()))?;
    Ok(())
}

/// Waits this long; true at once if nobody reads any more.
fn waited(mut left: Duration) -> bool {
    const MOST: Duration = Duration::from_secs(60);
    while !left.is_zero() {
        let now = left.min(MOST);
        let ms = u16::try_from(now.as_millis()).unwrap_or(u16::MAX);
        if is_closed_within(ms.max(1)) {
            return true;
        }
        left = left.saturating_sub(now);
    }
    false
}

/// Before each row stands the stream that it is of.
#[derive(Default)]
struct Gutter {
    /// The stream whose row is not ended.
    open: Option<StreamName>,
}

impl Gutter {
    fn next(&mut self, step: &Step) -> String {
        let mut text = String::new();
        if self.open.is_some_and(|open| open != step.stream) {
            text.push('\n');
            self.open = None;
        }
        for line in step.text.split_inclusive('\n') {
            if self.open.is_none() {
                text.push_str(match step.stream {
                    StreamName::Stdout => "out │ ",
                    StreamName::Stderr => "err │ ",
                });
            }
            text.push_str(line);
            self.open = (!line.ends_with('\n')).then_some(step.stream);
        }
        text
    }

    fn end(&mut self) -> &'static str {
        match self.open.take() {
            Some(_) => "\n",
            None => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_says_its_stream_however_it_was_cut() {
        let mut rows = Gutter::default();
        let step = |stream, text: &str| Step {
            at: Duration::ZERO,
            stream,
            text: text.to_owned(),
        };
        let mut text = String::new();
        for (stream, piece) in [
            (StreamName::Stdout, "a"),
            (StreamName::Stdout, "b\nc"),
            (StreamName::Stderr, "no\n"),
            (StreamName::Stdout, "\nd"),
        ] {
            text += &rows.next(&step(stream, piece));
        }
        text += rows.end();
        assert_eq!(text, "out │ ab\nout │ c\nerr │ no\nout │ \nout │ d\n");
    }

    #[test]
    fn a_speed_is_a_number_that_makes_sense() {
        assert_eq!(speed("2.5"), Ok(2.5));
        for wrong in ["0", "-1", "nan", "inf", "fast", "1e9"] {
            assert!(speed(wrong).unwrap_err().contains("such as 2"), "{wrong}");
        }
    }
}
