//! A run's output while it runs, and its outcome.

use ratatui::layout::Rect;
use serde_json::Value;

use crate::broker::Entry;
use crate::model::{Accesses, DecisionKind, Exit, Run, RunEvent, State, StreamName};

use super::super::flow::Para;
use super::super::sketch::{Room, sketch};
use super::super::theme::Role;
use super::super::words;
use super::Screen;
use super::panes::labelled;
use super::printed::{self, Line, TAIL, tail};

impl Screen<'_> {
    /// The end of the output in the order it was written; standard error is marked. Charts follow
    /// the printed output.
    pub(super) fn output(&self, entry: &Entry, area: Rect) -> Vec<Para> {
        let live = entry.output();
        let mut out = if live.order.is_empty() {
            entry.run().map(kept).unwrap_or_default()
        } else {
            streamed(entry)
        };
        if let Some(run) = entry.run() {
            out.extend(given(run));
            out.extend(sketch(&run.result, chart_room(area)));
        }
        let private = |event: &&RunEvent| event.kind == RunEvent::PRIVATE;
        out.extend(
            entry
                .noted()
                .iter()
                .filter(|event| !private(event))
                .map(|event| told("python", event)),
        );
        if entry.noted().iter().any(|event| private(&event)) {
            out.push(Para::new(format!("▲ {}", words::NOTED), Role::Flagged).hang(2));
        }
        if out.is_empty() {
            let words = match entry.state() {
                State::Granted => words::STARTING,
                State::Running => words::NO_OUTPUT_YET,
                _ => words::NO_OUTPUT,
            };
            out.push(Para::new(words, Role::Dim));
        }
        if entry.state().is_final() && entry.state() != State::Succeeded {
            let (glyph, word, role) = words::state(entry.state());
            let why = format!("  {}", entry.message());
            out.push(
                Para::new(format!("{glyph} {word}"), role)
                    .and(why, Role::Text)
                    .hang(2),
            );
        }
        out
    }

    /// The state, the reason, and the run's facts.
    pub(super) fn outcome(&self, entry: &Entry) -> Vec<Para> {
        let (glyph, word, role) = words::state(entry.state());
        let mut out = vec![Para::new(format!("{glyph} {word}"), role)];
        if entry.state().is_final() {
            out.push(Para::new(entry.message(), Role::Text));
        }
        if let Some(decision) = entry.decision() {
            let at = decision.at.to_zoned(self.ui.common.zone.clone());
            // A proposal that expired, was withdrawn or was blocked had no decision.
            let label = match decision.kind {
                DecisionKind::Granted | DecisionKind::Denied => "decided",
                DecisionKind::Expired
                | DecisionKind::Withdrawn
                | DecisionKind::Blocked
                | DecisionKind::Unattended => "ended",
            };
            out.push(labelled(label, &at.strftime("%H:%M:%S").to_string()));
        }
        out.extend(entry.noted().iter().map(|event| {
            let of = match event.kind.as_str() {
                RunEvent::PRIVATE => "private",
                _ => "python",
            };
            told(of, event)
        }));
        if let Some(run) = entry.run() {
            out.extend(facts(run, entry.message()));
        }
        out
    }
}

/// A chart must fit into its pane as a whole, with its title and names.
fn chart_room(area: Rect) -> Room {
    Room {
        columns: usize::from(area.width),
        rows: usize::from(area.height.saturating_sub(2).clamp(4, 16)),
    }
}

fn facts(run: &Run, said: &str) -> Vec<Para> {
    let mut out = Vec::new();
    if let Some(limit) = run.limit {
        out.push(
            Para::new("limit    ", Role::Dim)
                .and(
                    format!("▲ {} limit ended it", limit.as_str()),
                    Role::Flagged,
                )
                .hang(9),
        );
    }
    if let Some(error) = &run.error {
        let mut place = String::new();
        if let Some(exception) = &error.exception {
            place.push_str(&format!(" {exception}"));
        }
        if let Some(line) = error.line {
            place.push_str(&format!(" line {line}"));
        }
        out.push(
            Para::new("error    ", Role::Dim)
                .and(error.kind.as_str(), Role::Bad)
                .and(place, Role::Text)
                .hang(9),
        );
        if !said.contains(&error.message) {
            out.push(Para::new(error.message.clone(), Role::Text).indent(9));
        }
    }
    out.extend(events(run));
    out.extend(accesses(run));
    let exit = match &run.exit {
        Exit::Code(code) => format!("code {code}"),
        Exit::Signal(signal) => signal.clone(),
    };
    out.push(labelled(
        "exit",
        &format!("{exit}, after {}", words::took(run.duration_ms)),
    ));
    let stream = |name: &str, bytes: u64, cut: bool| {
        let cut = if cut { ", cut" } else { "" };
        format!("{name} {}{cut}", words::bytes(bytes))
    };
    out.push(labelled(
        "printed",
        &format!(
            "{} · {}",
            stream("stdout", run.stdout_bytes, run.stdout_truncated),
            stream("stderr", run.stderr_bytes, run.stderr_truncated)
        ),
    ));
    for artifact in &run.artifacts {
        out.push(labelled(
            "file",
            &format!(
                "{}, {}, {}",
                artifact.name,
                artifact.media_type,
                words::bytes(artifact.bytes)
            ),
        ));
    }
    // The message of a run that succeeded has them already.
    let notes = run.notes_on_files().into_iter();
    for note in notes.filter(|note| !said.contains(note)) {
        out.push(labelled("files", &note));
    }
    out.push(labelled(
        "confined",
        &format!(
            "{}: {}",
            run.isolation.tier,
            run.isolation.layers.join(", ")
        ),
    ));
    out
}

/// The events that the guard inside the child reported, one per line.
fn events(run: &Run) -> Vec<Para> {
    run.events
        .iter()
        .map(|event| told("guard", event))
        .collect()
}

/// Counts of the run's accesses to scopes and core functions.
fn accesses(run: &Run) -> Option<Para> {
    let line = Accesses::line(&run.accesses);
    let blocked = run.accesses.values().any(|of| of.blocked > 0);
    let mark = if blocked { "▲ " } else { "" };
    (!line.is_empty()).then(|| {
        Para::new("accesses ", Role::Dim)
            .and(mark, Role::Flagged)
            .and(line, Role::Text)
            .hang(9)
    })
}

fn told(by: &str, event: &RunEvent) -> Para {
    let place = event
        .line
        .map_or_else(String::new, |n| format!("line {n}  "));
    Para::new(format!("{by:<8} "), Role::Dim)
        .and(
            match event.kind.as_str() {
                RunEvent::PRIVATE | RunEvent::ENVIRONMENT => "▲ ".to_owned(),
                RunEvent::CROSSING => "· crossing  ".to_owned(),
                kind => format!("▲ {kind}  "),
            },
            match event.kind.as_str() {
                RunEvent::CROSSING => Role::Dim,
                _ => Role::Flagged,
            },
        )
        .and(format!("{place}{}", event.message), Role::Text)
        .hang(9)
}

fn cut_note(cut: bool) -> Vec<Para> {
    if cut {
        vec![Para::new(words::CUT_OUTPUT, Role::Dim)]
    } else {
        Vec::new()
    }
}

/// The output given to the agent, if it differs from what was printed: in full, rewritten lines
/// included.
fn given(run: &Run) -> Vec<Para> {
    let text = run.result.get("output").and_then(Value::as_str);
    let Some(text) = text.filter(|text| !text.is_empty() && *text != run.stdout) else {
        return Vec::new();
    };
    let mut out = vec![Para::new(words::GIVEN_OUTPUT, Role::Dim)];
    out.extend(cut_note(text.len() > TAIL));
    let end = tail(text, TAIL);
    let lines = end.strip_suffix('\n').unwrap_or(end).split('\n');
    out.extend(lines.map(|line| Para::new(line, Role::Text)));
    out
}

/// The streams one after the other, from the outcome.
fn kept(run: &Run) -> Vec<Para> {
    let stream = |name, text| printed::lines(std::iter::once((name, text)));
    let (stdout, cut) = stream(StreamName::Stdout, run.stdout.as_str());
    let (stderr, cut_too) = stream(StreamName::Stderr, run.stderr.as_str());
    let mut out = cut_note(cut || cut_too);
    out.extend(stdout.into_iter().chain(stderr).map(Line::para));
    out
}

/// The output in the order it arrived.
fn streamed(entry: &Entry) -> Vec<Para> {
    let live = entry.output();
    let pieces = live.order.iter().enumerate().rev();
    let (lines, cut) = printed::lines(pieces.map(|(i, (stream, end))| {
        let before = live.order[..i].iter().rev();
        let start = before
            .into_iter()
            .find(|(other, _)| other == stream)
            .map_or(0, |(_, end)| *end);
        let text = match stream {
            StreamName::Stdout => &live.stdout,
            StreamName::Stderr => &live.stderr,
        };
        (*stream, text.get(start..*end).unwrap_or(""))
    }));
    let mut out = cut_note(cut);
    out.extend(lines.into_iter().map(Line::para));
    out
}

#[cfg(test)]
mod tests {
    use crate::model::RunErrorKind;

    use super::super::super::bench::{Making, failed};
    use super::super::super::snapshot_tests::at_sizes;
    use super::*;

    #[test]
    fn scopes_counted() {
        at_sizes("scopes_counted", |b| {
            b.propose(Making::clear("print(public.status, private.other)\n"));
            let id = b.start();
            let mut ended = failed(
                RunErrorKind::SnippetError,
                "the scope `private` has no `other`",
            );
            if let Some(error) = &mut ended.error {
                error.exception = Some("AttributeError".to_owned());
            }
            let event = |kind: &str, message: &str| RunEvent {
                kind: kind.to_owned(),
                message: message.to_owned(),
                line: Some(1),
            };
            ended.events = vec![
                event(
                    RunEvent::CROSSING,
                    "public.status from before this run: read",
                ),
                event("scope", "the scope `private` has no `other`"),
            ];
            let count = |of: &str, allowed, blocked| (of.to_owned(), Accesses { allowed, blocked });
            ended.accesses = [
                count("functions", 0, 0),
                count("private", 0, 1),
                count("public", 1234, 0),
            ]
            .into();
            b.end(id, ended);
        });
    }
}
