//! Which answer of the terminal belongs to which frame. After each frame the terminal is asked whether it is ready;
//! answers come in the order of the queries, but one that arrives together with a key is lost with it.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// The minimum wait before asking again.
const ASK_AGAIN: Duration = Duration::from_millis(200);
/// The same after a key, which may have come together with the answer.
const AFTER_KEY: Duration = Duration::from_millis(5);
/// The least time after which an answer no longer comes.
const LOST: Duration = Duration::from_millis(10);

/// The last frame and the queries whose answers are due.
#[derive(Debug, Default)]
pub struct Queries {
    frame: Option<Asked>,
    /// When each was sent, the oldest first.
    due: VecDeque<Instant>,
    /// How long an answer takes.
    took: Duration,
}

/// A frame about which the terminal was asked.
#[derive(Debug)]
struct Asked {
    since: Instant,
    last: Instant,
    answered: bool,
    /// Whether an answer since the last query may have been lost.
    lossy: bool,
}

impl Queries {
    /// How long the next frame must wait, so that no answer about this one can be taken for its own.
    pub fn settles_in(&self, now: Instant) -> Duration {
        let last = self.due.back().filter(|_| self.is_answered());
        last.map_or(Duration::ZERO, |sent| {
            self.lost_after().saturating_sub(now - *sent)
        })
    }

    /// The terminal is asked about a new frame.
    pub fn begin(&mut self, now: Instant) {
        self.forget_lost(now);
        self.due.push_back(now);
        self.frame = Some(Asked {
            since: now,
            last: now,
            answered: false,
            lossy: false,
        });
    }

    /// An event was read, perhaps together with an answer.
    pub const fn key(&mut self) {
        if let Some(frame) = &mut self.frame {
            frame.lossy = true;
        }
    }

    /// Takes an answer. False if none was due.
    pub fn answer(&mut self, now: Instant) -> bool {
        self.forget_lost(now);
        let alone = self.due.len() == 1;
        let Some(sent) = self.due.pop_front() else {
            return false;
        };
        // With several queries it is not known which of them was answered.
        if alone {
            self.took = now - sent;
        }
        match &mut self.frame {
            Some(frame) if sent >= frame.since => frame.answered = true,
            // An answer about an earlier frame, or one about this frame after a lost one.
            Some(frame) => frame.lossy = true,
            None => {}
        }
        true
    }

    /// Whether the frame's answer has come.
    pub fn is_answered(&self) -> bool {
        self.frame.as_ref().is_some_and(|frame| frame.answered)
    }

    /// Whether the terminal must be asked again, because the answer is late; counts that query.
    pub fn ask_again(&mut self, now: Instant) -> bool {
        let Some(frame) = self.frame.as_mut().filter(|frame| !frame.answered) else {
            return false;
        };
        let least = if frame.lossy { AFTER_KEY } else { ASK_AGAIN };
        if now - frame.last < least.max(self.took * 3) {
            return false;
        }
        (frame.last, frame.lossy) = (now, false);
        self.forget_lost(now);
        self.due.push_back(now);
        true
    }

    /// Whether the terminal may still answer.
    pub fn is_due(&self) -> bool {
        !self.due.is_empty()
    }

    fn lost_after(&self) -> Duration {
        LOST.max(self.took * 3)
    }

    /// The oldest query stays while its frame waits: a slow terminal answers it late.
    fn forget_lost(&mut self, now: Instant) {
        let lost = self.lost_after();
        let since = self.frame.as_ref().filter(|frame| !frame.answered);
        let since = since.map(|frame| frame.since);
        self.due
            .retain(|sent| now - *sent < lost || since.is_some_and(|since| *sent >= since));
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// A terminal that answered its first frame after a millisecond.
    fn quick() -> (Queries, Instant) {
        let mut queries = Queries::default();
        let now = Instant::now();
        queries.begin(now);
        assert!(queries.answer(now + MS));
        assert!(queries.is_answered());
        assert!(!queries.is_due());
        (queries, now + 100 * MS)
    }

    #[test]
    fn an_answer_that_a_key_took_with_it_is_asked_for_again_at_once() {
        let (mut queries, now) = quick();
        queries.begin(now);
        assert!(!queries.ask_again(now + 6 * MS), "no key came");
        queries.key();
        assert!(queries.ask_again(now + 6 * MS));
        assert!(!queries.is_answered());
        assert!(!queries.ask_again(now + 12 * MS), "asked once for one key");
        assert!(queries.ask_again(now + 206 * MS));
        assert!(queries.answer(now + 207 * MS));
        assert!(queries.is_answered());
    }

    #[test]
    fn an_answer_for_an_earlier_frame_shows_no_later_one() {
        let (mut queries, now) = quick();
        queries.begin(now);
        queries.key();
        assert!(queries.ask_again(now + 6 * MS));
        assert!(queries.answer(now + 8 * MS));
        assert!(queries.is_answered());
        assert_eq!(queries.settles_in(now + 9 * MS), 7 * MS);
        assert!(queries.answer(now + 9 * MS), "the other of the two");
        assert_eq!(queries.settles_in(now + 9 * MS), Duration::ZERO);
        queries.begin(now + 9 * MS);
        assert!(!queries.is_answered());
        assert!(queries.answer(now + 10 * MS));
        assert!(queries.is_answered());
    }

    /// One answer was lost, so that one more is thought to be due than comes.
    #[test]
    fn a_lost_answer_delays_the_next_frame_once() {
        let (mut queries, mut now) = quick();
        queries.begin(now);
        queries.key();
        assert!(queries.ask_again(now + 6 * MS));
        assert!(queries.answer(now + 7 * MS));
        now += 7 * MS + queries.settles_in(now + 7 * MS);
        for _ in 0..100 {
            assert_eq!(queries.settles_in(now), Duration::ZERO);
            queries.begin(now);
            now += MS;
            assert!(!queries.ask_again(now));
            assert!(queries.answer(now));
            assert!(queries.is_answered());
        }
    }

    proptest! {
        /// A terminal that answers each query after some time, or that loses an answer to a key. Frames are drawn as
        /// soon as possible.
        #[test]
        fn each_frame_is_answered_by_its_own_query_and_soon(
            turns in vec((1_u64..9, 0_u64..9, any::<bool>()), 1..60),
        ) {
            let (mut queries, start) = quick();
            let mut now = start;
            // Answers on their way: when each comes, and the frame that it proves; of one that is lost, only when.
            let mut coming: Vec<(Instant, Option<usize>)> = Vec::new();
            for (frame, (took, also_took, lost)) in turns.into_iter().enumerate() {
                now += queries.settles_in(now);
                let begun = now;
                queries.begin(now);
                coming.push((now + MS * u32::try_from(took)?, (!lost).then_some(frame)));
                let mut proved = None;
                while !queries.is_answered() {
                    now += MS;
                    let (here, later) = coming.into_iter().partition(|(at, _)| *at <= now);
                    coming = later;
                    let here: Vec<(Instant, Option<usize>)> = here;
                    for (_, proves) in here {
                        match proves {
                            Some(of) => {
                                queries.answer(now);
                                proved = proved.max(Some(of));
                            }
                            None => queries.key(),
                        }
                    }
                    if queries.ask_again(now) {
                        coming.push((now + MS * u32::try_from(also_took)?, Some(frame)));
                    }
                    let most = if lost { 40 } else { u32::try_from(took)? };
                    prop_assert!(now - begun <= most * MS, "frame {} waits", frame);
                }
                prop_assert_eq!(proved, Some(frame));
            }
        }
    }

    /// Keys come together with each answer, for a minute; waiting for answers does not grow.
    #[test]
    fn lost_answers_do_not_make_the_terminal_count_as_slow() {
        let (mut queries, mut now) = quick();
        for _ in 0..1000 {
            queries.begin(now);
            queries.key();
            now += 20 * MS;
            assert!(queries.ask_again(now));
            now += MS;
            assert!(queries.answer(now));
            assert!(queries.is_answered());
            now += 40 * MS;
        }
    }

    #[test]
    fn a_slow_terminal_answers_late() {
        let (mut queries, now) = quick();
        queries.begin(now);
        assert!(!queries.ask_again(now + 150 * MS));
        assert!(queries.answer(now + 150 * MS));
        assert!(queries.is_answered());
        // Three times as long as the last answer took.
        queries.begin(now + 200 * MS);
        assert!(!queries.ask_again(now + 600 * MS));
        assert!(queries.answer(now + 620 * MS));
        assert!(queries.is_answered());
    }

    #[test]
    fn noise_is_no_answer() {
        let (mut queries, now) = quick();
        assert!(!queries.answer(now), "nothing was asked");
        queries.begin(now);
        assert!(queries.answer(now + MS));
        assert!(!queries.answer(now + 2 * MS));
    }
}
