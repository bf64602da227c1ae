//! A run's recorded output, played in its timing: faster or slower, with long waits cut, paused. Nothing ticks while it is
//! paused or over.

use std::sync::Arc;
use std::time::Duration;

use crate::audit::Playback;

use super::super::flow::{Flow, Para};
use super::super::gutter::Gutter;
use super::super::theme::Role;
use super::words;

/// What a wait becomes when waits are cut.
const CUT: Duration = Duration::from_secs(1);
/// Speeds in halves of the recorded one.
const SPEEDS: [u32; 5] = [1, 2, 4, 8, 16];
const NORMAL: usize = 1;
/// Lines that are laid out, from the end.
const LINES: usize = 500;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tui) struct Replay {
    played: Arc<Playback>,
    /// How many pieces were printed.
    shown: usize,
    /// How long the next one was waited for, in the run's time.
    waited: Duration,
    /// The boot time up to which that counts; `None` while it is paused or over.
    since: Option<Duration>,
    speed: usize,
    cuts: bool,
}

impl Replay {
    pub fn start(played: Arc<Playback>, now: Duration) -> Self {
        let mut replay = Self {
            played,
            shown: 0,
            waited: Duration::ZERO,
            since: Some(now),
            speed: NORMAL,
            cuts: false,
        };
        replay.advance(now);
        replay
    }

    /// How long the run printed nothing before its next piece.
    fn gap(&self) -> Option<Duration> {
        let steps = &self.played.steps;
        let next = steps.get(self.shown)?.at;
        let before = self
            .shown
            .checked_sub(1)
            .map_or(Duration::ZERO, |i| steps[i].at);
        let gap = next.saturating_sub(before);
        Some(if self.cuts { gap.min(CUT) } else { gap })
    }

    /// Prints what is due.
    pub fn advance(&mut self, now: Duration) {
        let Some(since) = self.since else {
            return;
        };
        let passed = now.saturating_sub(since).saturating_mul(SPEEDS[self.speed]) / 2;
        self.waited = self.waited.saturating_add(passed);
        self.since = Some(now);
        while let Some(gap) = self.gap() {
            let Some(rest) = self.waited.checked_sub(gap) else {
                return;
            };
            self.waited = rest;
            self.shown += 1;
        }
        self.since = None;
    }

    /// Time until the next piece; `None` while it is paused or over.
    pub fn next_wake(&self, now: Duration) -> Option<Duration> {
        let since = self.since?;
        let left = self.gap()?.saturating_sub(self.waited);
        let left = left.saturating_mul(2) / SPEEDS[self.speed];
        let due = since.saturating_add(left).saturating_sub(now);
        // A wait is never shorter than the clock can tell.
        Some(due.max(Duration::from_millis(1)))
    }

    pub fn is_over(&self) -> bool {
        self.shown >= self.played.steps.len()
    }

    /// Pauses or goes on; begins anew once it is over.
    pub fn turn(&mut self, now: Duration) {
        if self.is_over() {
            return self.restart(now);
        }
        self.since = match self.since {
            Some(_) => None,
            None => Some(now),
        };
    }

    pub fn restart(&mut self, now: Duration) {
        (self.shown, self.waited, self.since) = (0, Duration::ZERO, Some(now));
        self.advance(now);
    }

    pub const fn faster(&mut self) {
        if self.speed + 1 < SPEEDS.len() {
            self.speed += 1;
        }
    }

    pub const fn slower(&mut self) {
        self.speed = self.speed.saturating_sub(1);
    }

    /// Cuts waits to a second, or plays them.
    pub const fn cut(&mut self) {
        self.cuts = !self.cuts;
    }

    /// What tells one state from another.
    pub const fn stand(&self) -> (usize, usize, bool, bool) {
        (self.shown, self.speed, self.cuts, self.since.is_some())
    }

    /// `2×, playing, 3.2 s of 41.0 s`.
    pub fn said(&self) -> String {
        let steps = &self.played.steps;
        let at = self
            .shown
            .checked_sub(1)
            .map_or(Duration::ZERO, |i| steps[i].at);
        let all = steps.last().map_or(Duration::ZERO, |step| step.at);
        let doing = match self.since {
            Some(_) => words::PLAYING,
            None if self.is_over() => words::OVER,
            None => words::PAUSED,
        };
        let timed = if self.played.timed {
            ""
        } else {
            words::UNTIMED
        };
        let cuts = if self.cuts { words::CUT } else { "" };
        let speed = match SPEEDS[self.speed] {
            1 => "0.5".to_owned(),
            halves => (halves / 2).to_string(),
        };
        format!(
            "{speed}×, {doing}, {:.1} s of {:.1} s{cuts}{timed}",
            at.as_secs_f64(),
            all.as_secs_f64()
        )
    }

    /// What was printed so far, behind the gutter; as many lines as a person looks back.
    pub fn flow(&self, width: u16) -> Flow {
        let mut lines: Vec<(Gutter, String)> = Vec::new();
        let mut open = None;
        for step in &self.played.steps[..self.shown] {
            for part in step.text.split_inclusive('\n') {
                let text = part.trim_end_matches('\n');
                match lines.last_mut() {
                    Some((_, line)) if open == Some(step.stream) => line.push_str(text),
                    _ => lines.push((Gutter::of(step.stream, 0), text.to_owned())),
                }
                open = (!part.ends_with('\n')).then_some(step.stream);
            }
        }
        let late = lines.len().saturating_sub(LINES);
        let para = |(gutter, text): (Gutter, String)| {
            Para::default().given(text, Role::Text).behind(gutter)
        };
        let paras: Vec<Para> = lines.into_iter().skip(late).map(para).collect();
        Flow::new(&paras, width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Step;
    use crate::model::StreamName::{self, Stderr, Stdout};

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn played(steps: &[(u64, StreamName, &str)]) -> Replay {
        let step = |(at, stream, text): &(u64, StreamName, &str)| Step {
            at: ms(*at),
            stream: *stream,
            text: (*text).to_owned(),
        };
        let steps = steps.iter().map(step).collect();
        Replay::start(Arc::new(Playback { steps, timed: true }), ms(1000))
    }

    #[test]
    fn pieces_come_in_their_time_at_each_speed() {
        let mut replay = played(&[
            (0, Stdout, "a\n"),
            (400, Stdout, "b\n"),
            (5400, Stderr, "c\n"),
        ]);
        assert_eq!(
            (replay.shown, replay.next_wake(ms(1000))),
            (1, Some(ms(400)))
        );
        replay.advance(ms(1399));
        assert_eq!(replay.shown, 1);
        replay.advance(ms(1400));
        assert_eq!(
            (replay.shown, replay.next_wake(ms(1400))),
            (2, Some(ms(5000)))
        );
        (0..9).for_each(|_| replay.faster());
        assert_eq!(replay.next_wake(ms(1400)), Some(ms(625)));
        (0..9).for_each(|_| replay.slower());
        assert_eq!(replay.next_wake(ms(1400)), Some(ms(10_000)));
        replay.faster();
        replay.cut();
        assert_eq!(replay.next_wake(ms(1400)), Some(ms(1000)));
        replay.advance(ms(2400));
        assert!(replay.is_over());
    }

    #[test]
    fn nothing_ticks_while_it_is_paused_or_over() {
        let mut replay = played(&[(100, Stdout, "a\n"), (200, Stdout, "b\n")]);
        replay.advance(ms(1050));
        replay.turn(ms(1050));
        replay.advance(ms(90_000));
        assert_eq!((replay.shown, replay.next_wake(ms(90_000))), (0, None));
        replay.turn(ms(90_000));
        assert_eq!(replay.next_wake(ms(90_000)), Some(ms(50)));
        replay.advance(ms(99_000));
        assert_eq!(
            (replay.is_over(), replay.next_wake(ms(99_000))),
            (true, None)
        );
        replay.turn(ms(99_000));
        assert_eq!(
            (replay.shown, replay.next_wake(ms(99_000))),
            (0, Some(ms(100)))
        );
    }

    #[test]
    fn pieces_of_one_line_are_one_row_and_streams_are_not_mixed() {
        let mut replay = played(&[(0, Stdout, "a"), (1, Stdout, "b\nc"), (2, Stderr, "d\n")]);
        replay.advance(ms(2000));
        let flow = replay.flow(40);
        let text = |i: usize| flow.rows[i].spans[0].0.as_str();
        assert_eq!(
            (text(0), text(1), text(2), flow.rows.len()),
            ("ab", "c", "d", 3)
        );
    }
}
