//! A run's output as an asciicast of version 3: a header, then one event a line, each with the seconds since the one
//! before it. The texts have no hidden characters, so a player is made to do nothing but print.

use std::io::{self, Write};

use serde_json::json;

use super::super::playback::Playback;
use super::super::{Log, Told};
use super::ExportError;
use crate::model::{Exit, FinishedLog, LogEvent, visible};

/// Columns and rows; the output of a run knows none.
const SIZE: (u16, u16) = (100, 30);

/// The record that it ended.
pub(super) fn finished(told: &Told) -> Option<&FinishedLog> {
    told.records.iter().find_map(|r| match &r.event {
        LogEvent::Finished(f) => Some(&**f),
        _ => None,
    })
}

/// Writes the recording of a run.
pub(super) fn recording(out: &mut dyn Write, told: &Told, log: &Log) -> Result<(), ExportError> {
    let id = told.case.id;
    let finished = finished(told).ok_or_else(|| ExportError::Not(format!("{id} did not run")))?;
    let playback = Playback::of(finished, &told.records, log)
        .map_err(|why| ExportError::Not(format!("{id}: {why}")))?;
    Ok(written(out, told, finished, &playback)?)
}

fn written(
    out: &mut dyn Write,
    told: &Told,
    finished: &FinishedLog,
    playback: &Playback,
) -> io::Result<()> {
    let title = told.case.asked.title.as_deref().unwrap_or("a run");
    let header = json!({
        "version": 3,
        "term": {"cols": SIZE.0, "rows": SIZE.1},
        "timestamp": told.case.at.as_second(),
        "title": visible(title),
    });
    writeln!(out, "{header}")?;
    writeln!(out, "# Countersign: the output of {}", told.case.id)?;
    if !playback.timed {
        writeln!(out, "# The log does not say when it was printed.")?;
    }
    let mut before = 0;
    let mut event = |ms: u64, code: &str, text: &str| {
        let since = ms.saturating_sub(before);
        before = before.max(ms);
        writeln!(out, "{}", json!([since as f64 / 1000.0, code, text]))
    };
    for step in &playback.steps {
        let ms = u64::try_from(step.at.as_millis()).unwrap_or(u64::MAX);
        event(ms, "o", &step.text.replace('\n', "\r\n"))?;
    }
    let status = match &finished.exit {
        Exit::Code(code) => code.to_string(),
        Exit::Signal(_) => "1".to_owned(),
    };
    event(finished.duration_ms, "x", &status)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::tests::{exported, query, write};
    use super::super::{Format, export};
    use super::*;
    use crate::audit::samples::{CODE, finished, granted_as, proposed, started};
    use crate::model::{Blob, LogEvent, ProposalId, StreamName};

    fn ran(title: &str, text: &str) -> (ProposalId, Vec<(LogEvent, Vec<Blob>)>) {
        let id = ProposalId::new();
        let (mut event, mut blobs) = finished(id);
        if let LogEvent::Finished(f) = &mut event {
            blobs[0] = Blob::of(text.as_bytes());
            f.stdout_sha256 = blobs[0].sha256;
            f.stdout_bytes = text.len() as u64;
            f.duration_ms = 2_500;
            f.pace.push(100, StreamName::Stdout, 6);
            f.pace
                .push(2_100, StreamName::Stdout, text.len() as u64 - 6);
        }
        let records = vec![
            proposed(id, title),
            (granted_as(id, CODE), Vec::new()),
            (started(id), Vec::new()),
            (event, blobs),
        ];
        (id, records)
    }

    #[test]
    fn a_terminal_shows_the_output_and_obeys_nothing_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let text = "first\n\u{1b}[2J\u{1b}]0;owned\u{7}second\u{9b}31m\r\u{202e}\n";
        let (id, records) = ran("\u{1b}]0;t\u{7}", text);
        write(dir.path(), records);
        let mut answers = Log::open(dir.path()).unwrap().answers().unwrap();
        let (cast, _) = exported(&mut answers, "", Format::Asciicast);
        let hidden = |c: char| c != '\n' && crate::model::escape(c).is_some();
        assert!(!cast.contains(hidden), "{cast}");
        let mut lines = cast.lines().filter(|line| !line.starts_with('#'));
        let header: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
        assert_eq!(
            (&header["version"], &header["term"]["cols"]),
            (&json!(3), &json!(100))
        );
        assert!(header["timestamp"].is_i64());
        let events: Vec<(f64, String, String)> = lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let times: Vec<f64> = events.iter().map(|(at, ..)| *at).collect();
        assert_eq!(times, [0.1, 2.0, 0.4], "each since the one before it");
        assert_eq!(events[2].1, "x");
        let mut terminal = avt::Terminal::new(100, 30).unwrap();
        for (_, code, data) in &events {
            if code == "o" {
                assert!(!data.contains('\u{1b}'));
                terminal.feed([data.as_str()]);
            }
        }
        let screen = terminal.screen();
        let row = |y| screen.line(y).unwrap().text().trim_end().to_owned();
        let rows: Vec<String> = (0..30).map(row).collect();
        assert_eq!(rows[0], "first");
        assert_eq!(rows[1], "␛[2J␛]0;owned␇second\\u{009B}31m␍\\u{202E}");
        assert!(rows[2..].iter().all(String::is_empty), "{rows:?}");
        assert!(cast.contains(&id.to_string()));
    }

    #[test]
    fn a_cast_is_of_one_run_or_says_why_not() {
        let dir = tempfile::tempdir().unwrap();
        let (one, mut records) = ran("one", "output\n");
        let (_, more) = ran("two", "output\n");
        records.extend(more);
        records.push(proposed(ProposalId::new(), "waits"));
        write(dir.path(), records);
        let mut answers = Log::open(dir.path()).unwrap().answers().unwrap();
        for (question, said) in [
            ("", "the query selects several"),
            ("title:waits", "no run that ended"),
        ] {
            let mut out = Vec::new();
            let done = export(
                &mut answers,
                &query(question),
                Format::Asciicast,
                &mut out,
                &mut |_| true,
            );
            let error = done.unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
            assert!(out.is_empty());
        }
        let (cast, _) = exported(&mut answers, &format!("id:{one}"), Format::Asciicast);
        assert!(cast.contains("output"), "{cast}");
    }
}
