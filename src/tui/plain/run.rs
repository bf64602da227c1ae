//! The selected proposal's run: its output as it comes, a few lines a second, and how it ended.

use std::time::Duration;

use crate::broker::Entry;
use crate::model::{DecisionKind, ProposalId, State, StreamName};

use super::super::screen::Screen;
use super::super::ui::Pane;
use super::super::words;
use super::SaidRow;
use super::lines::{Lines, exact};

/// Lines of output read out within [`EVERY`]; more of them are counted.
const LINES: usize = 10;
const EVERY: Duration = Duration::from_secs(1);
/// The longest line that is read out whole, in bytes; OUTPUT has it all.
const LONGEST: usize = 400;
/// What stands for a hidden value.
const REDACTED: &str = "[REDACTED]";

/// How far a run was told.
#[derive(Debug, Default)]
pub(super) struct Telling {
    id: Option<ProposalId>,
    state: Option<State>,
    /// The piece of the output at hand, and how much of each stream was taken.
    piece: usize,
    taken: [usize; 2],
    /// A line of each stream that has no end yet.
    open: [String; 2],
    left: usize,
    refilled: Duration,
    left_out: usize,
}

const fn at(stream: StreamName) -> usize {
    match stream {
        StreamName::Stdout => 0,
        StreamName::Stderr => 1,
    }
}

fn is_run(state: State) -> bool {
    matches!(state, State::Granted | State::Running)
}

/// Whether a person granted it and it is over, however it ended.
pub(super) fn is_run_over(entry: &Entry) -> bool {
    let granted = entry
        .decision()
        .is_some_and(|d| d.kind == DecisionKind::Granted);
    entry.state().is_final() && granted
}

impl Telling {
    /// Tells what is new of the selected proposal; returns whether its run just ended.
    pub fn tell(
        &mut self,
        screen: &Screen<'_>,
        entry: &Entry,
        out: &mut Lines,
        now: Duration,
    ) -> bool {
        let (id, state) = (entry.proposal.id, entry.state());
        if self.id != Some(id) {
            *self = Self {
                id: Some(id),
                state: Some(state),
                ..Self::default()
            };
            if !is_run(state) {
                return false;
            }
        }
        let before = self.state.replace(state);
        if is_run(state) && !before.is_some_and(is_run) {
            out.line(words::STARTING);
        }
        if before.is_some_and(is_run) || is_run(state) {
            self.output(entry, out, now);
        }
        let ended = is_run_over(entry) && before.is_some_and(|before| !before.is_final());
        if ended {
            self.end(screen, entry, out, now);
        }
        ended
    }

    fn output(&mut self, entry: &Entry, out: &mut Lines, now: Duration) {
        let live = entry.output();
        while let Some((stream, end)) = live.order.get(self.piece) {
            let text = match stream {
                StreamName::Stdout => &live.stdout,
                StreamName::Stderr => &live.stderr,
            };
            let taken = self.taken[at(*stream)];
            self.take(*stream, text.get(taken..*end).unwrap_or(""), out, now);
            self.taken[at(*stream)] = *end;
            if self.piece + 1 == live.order.len() {
                // The last piece can still grow.
                break;
            }
            self.piece += 1;
        }
    }

    fn take(&mut self, stream: StreamName, text: &str, out: &mut Lines, now: Duration) {
        let mut parts = text.split('\n').peekable();
        while let Some(part) = parts.next() {
            self.open[at(stream)].push_str(part);
            if parts.peek().is_some() {
                let line = std::mem::take(&mut self.open[at(stream)]);
                self.line(stream, &line, out, now);
            }
        }
    }

    fn line(&mut self, stream: StreamName, line: &str, out: &mut Lines, now: Duration) {
        if now >= self.refilled.saturating_add(EVERY) {
            self.refilled = now;
            self.left = LINES;
        }
        if self.left == 0 {
            self.left_out += 1;
            return;
        }
        self.tell_left_out(out);
        self.left -= 1;
        // Of a line that was written over, such as a progress bar, the last state counts.
        let last = line
            .rsplit('\r')
            .find(|state| !state.is_empty())
            .unwrap_or("");
        let mut cut = last.len().min(LONGEST);
        while !last.is_char_boundary(cut) {
            cut -= 1;
        }
        let more = if cut < last.len() { " ..." } else { "" };
        let name = match stream {
            StreamName::Stdout => "out",
            StreamName::Stderr => "err",
        };
        let said = &last[..cut];
        out.line(&match words::plain::hidden(said) {
            Some((values, said)) => {
                let hides = words::plain::hides(values);
                format!("{name}, {hides}: {}{more}", exact(&said).0)
            }
            None => format!("{name}: {}{more}", exact(said).0),
        });
    }

    fn tell_left_out(&mut self, out: &mut Lines) {
        if self.left_out > 0 {
            out.line(&words::plain::not_said(std::mem::take(&mut self.left_out)));
        }
    }

    fn end(&mut self, screen: &Screen<'_>, entry: &Entry, out: &mut Lines, now: Duration) {
        if let Some(run) = entry.run() {
            for (stream, text) in [
                (StreamName::Stdout, &run.stdout),
                (StreamName::Stderr, &run.stderr),
            ] {
                let rest = text.get(self.taken[at(stream)]..).unwrap_or("");
                self.take(stream, rest, out, now);
                let open = std::mem::take(&mut self.open[at(stream)]);
                if !open.is_empty() {
                    self.line(stream, &open, out, now);
                }
            }
            self.tell_left_out(out);
            let hidden =
                run.stdout.matches(REDACTED).count() + run.stderr.matches(REDACTED).count();
            if hidden > 0 {
                out.line(&words::plain::redacted(hidden));
            }
        }
        let (_, rows) = screen.spoken_pane(Pane::Outcome, entry);
        // The plumbing stays in the pane; the layers come last.
        let layers = rows
            .iter()
            .rposition(|row| row.text.starts_with("confined "));
        let told = rows.iter().take(layers.unwrap_or(rows.len()));
        // A message that only says the state again is left out.
        let (_, state, _) = words::state(entry.state());
        let again = format!("It ran and {state}.");
        let news = |row: &&SaidRow| !row.text.starts_with("decided ") && row.text != again;
        for said in told.filter(news) {
            out.line(&said.text);
        }
    }

    /// When to look again for lines that were held back.
    pub fn due(&self) -> Option<Duration> {
        (self.left_out > 0).then(|| self.refilled.saturating_add(EVERY))
    }

    /// Tells how many lines were held back, once lines may be said again.
    pub fn catch_up(&mut self, out: &mut Lines, now: Duration) {
        if self.due().is_some_and(|due| now >= due) {
            self.tell_left_out(out);
        }
    }
}
