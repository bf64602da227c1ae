//! What is to be told to whom, and when: what comes meanwhile is told together, and whoever is told much is told seldom.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use crate::broker::notice::{Notice, NoticeEvent};
use crate::model::{Person, ProposalId};

/// The longest that a person waits for a notice because they had others.
const LONGEST: Duration = Duration::from_secs(15 * 60);
/// Proposals that one message counts.
const COUNTED_MAX: usize = 10_000;
/// How often a message is tried.
const TRIES: u8 = 3;

/// Whom a message is for, and what it says.
type About = (Person, NoticeEvent);

/// One message to one person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub event: NoticeEvent,
    pub host: String,
    pub person: Person,
    pub logins: Vec<String>,
    /// What it is about, with its deadline; at least one.
    pub proposals: BTreeMap<ProposalId, Timestamp>,
    tries: u8,
}

#[derive(Debug)]
pub struct Queue {
    every: Duration,
    /// What is told at all.
    told: Vec<NoticeEvent>,
    waiting: BTreeMap<About, Message>,
    /// When the last one went, and how long the next waits.
    sent: BTreeMap<About, (Duration, Duration)>,
}

impl Message {
    /// The proposal whose deadline is the next, and that.
    pub fn first(&self) -> Option<(ProposalId, Timestamp)> {
        let all = self.proposals.iter();
        let first = all.min_by_key(|(_, deadline)| **deadline)?;
        Some((*first.0, *first.1))
    }

    /// One line, without anything that an agent chose.
    pub fn line(&self) -> String {
        let host = &self.host;
        let count = self.proposals.len();
        let until = self.first().map(|(_, deadline)| seconds(deadline));
        let until = until.unwrap_or_default();
        match (self.event, count) {
            (NoticeEvent::Waits, 1) => {
                format!("{host}: 1 proposal waits for your vote until {until}")
            }
            (NoticeEvent::Waits, _) => {
                format!("{host}: {count} proposals wait for your vote, the first until {until}")
            }
            (NoticeEvent::Escalated, 1) => format!(
                "{host}: 1 proposal waits for your vote too, because those asked first have not decided it; until {until}"
            ),
            (NoticeEvent::Escalated, _) => format!(
                "{host}: {count} proposals wait for your vote too, because those asked first have not decided them; the first \
                 until {until}"
            ),
            (NoticeEvent::Ended, 1) => {
                format!("{host}: 1 proposal waits for your vote no longer")
            }
            (NoticeEvent::Ended, _) => {
                format!("{host}: {count} proposals wait for your vote no longer")
            }
        }
    }
}

/// As the text that is signed has it.
pub fn seconds(at: Timestamp) -> String {
    Timestamp::from_second(at.as_second())
        .unwrap_or(at)
        .to_string()
}

impl Queue {
    pub const fn new(every: Duration, told: Vec<NoticeEvent>) -> Self {
        Self {
            every,
            told,
            waiting: BTreeMap::new(),
            sent: BTreeMap::new(),
        }
    }

    pub fn add(&mut self, notice: Notice) {
        let Notice {
            event,
            host,
            proposal,
            deadline,
            to,
        } = notice;
        for one in to {
            let taken_back = event == NoticeEvent::Ended && self.take_back(&one.person, proposal);
            if taken_back || !self.told.contains(&event) {
                continue;
            }
            let message = Message {
                event,
                host: host.clone(),
                person: one.person.clone(),
                logins: one.logins,
                proposals: BTreeMap::new(),
                tries: 0,
            };
            let message = self.waiting.entry((one.person, event)).or_insert(message);
            if message.proposals.len() < COUNTED_MAX {
                message.proposals.insert(proposal, deadline);
            }
        }
    }

    /// Whether it ended before the person was told that it waits: then they need not hear that it ended.
    fn take_back(&mut self, person: &Person, proposal: ProposalId) -> bool {
        let mut was_there = false;
        for event in [NoticeEvent::Waits, NoticeEvent::Escalated] {
            let about = (person.clone(), event);
            if let Some(message) = self.waiting.get_mut(&about) {
                was_there |= message.proposals.remove(&proposal).is_some();
                if message.proposals.is_empty() {
                    self.waiting.remove(&about);
                }
            }
        }
        was_there
    }

    /// When a message of this kind may go again.
    fn from(&self, about: &About) -> Duration {
        let sent = self.sent.get(about);
        sent.map_or(Duration::ZERO, |(at, gap)| at.saturating_add(*gap))
    }

    /// When the next message is due.
    pub fn due(&self) -> Option<Duration> {
        self.waiting.keys().map(|about| self.from(about)).min()
    }

    /// The message that is due first. Each one to the same person makes the next wait twice as long, until there is a pause.
    pub fn next(&mut self, now: Duration) -> Option<Message> {
        let due = self.waiting.keys().map(|about| (self.from(about), about));
        let (from, about) = due.min().filter(|(from, _)| *from <= now)?;
        let about = about.clone();
        let message = self.waiting.remove(&about)?;
        let longest = LONGEST.max(self.every);
        let gap = match self.sent.get(&about) {
            Some((_, gap)) if now.saturating_sub(from) < *gap => gap.saturating_mul(2).min(longest),
            _ => self.every,
        };
        self.sent.insert(about, (now, gap));
        // What went so long ago delays nothing.
        let open = |_: &About, (at, gap): &mut (Duration, Duration)| {
            at.saturating_add(gap.saturating_mul(2)) > now
        };
        self.sent.retain(open);
        Some(message)
    }

    /// It was not told: again with what comes meanwhile, a few times.
    pub fn failed(&mut self, mut message: Message, now: Duration) {
        message.tries += 1;
        if message.tries >= TRIES {
            return;
        }
        let about = (message.person.clone(), message.event);
        let gap = self.every;
        self.sent.entry(about.clone()).or_insert((now, gap));
        match self.waiting.get_mut(&about) {
            Some(newer) => {
                newer.tries = message.tries;
                newer.proposals.extend(message.proposals);
            }
            None => drop(self.waiting.insert(about, message)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::notice::Addressee;

    fn notice(event: NoticeEvent, n: u128, people: &[&str]) -> Notice {
        let to = people.iter().map(|name| Addressee {
            person: Person::new(name).unwrap(),
            logins: vec![format!("rev_{name}")],
        });
        Notice {
            event,
            host: "lab-1".to_owned(),
            proposal: ProposalId::from_uuid(uuid::Uuid::from_u128(n)),
            deadline: Timestamp::from_second(1_800_000_000 + i64::try_from(n).unwrap()).unwrap(),
            to: to.collect(),
        }
    }

    const fn secs(s: u64) -> Duration {
        Duration::from_secs(s)
    }

    /// All that goes out until then, with the times.
    fn drain(queue: &mut Queue, until: Duration) -> Vec<(u64, String, String)> {
        let mut out = Vec::new();
        while let Some(due) = queue.due().filter(|due| *due <= until) {
            let message = queue.next(due).unwrap();
            out.push((due.as_secs(), message.person.to_string(), message.line()));
        }
        out
    }

    #[test]
    fn a_flood_of_proposals_is_a_few_messages_that_say_how_many_there_are() {
        let mut queue = Queue::new(secs(60), NoticeEvent::ALL.into());
        let mut out = Vec::new();
        // One agent, a proposal a second for three hours, each gone after ten.
        for s in 0..3 * 3600_u64 {
            queue.add(notice(NoticeEvent::Waits, u128::from(s), &["ana", "ben"]));
            if let Some(gone) = s.checked_sub(10) {
                queue.add(notice(
                    NoticeEvent::Ended,
                    u128::from(gone),
                    &["ana", "ben"],
                ));
            }
            while let Some(message) = queue.next(secs(s)) {
                out.push((s, message));
            }
        }
        let to_ana = |event| {
            let ana = out
                .iter()
                .filter(move |(_, m)| m.person.as_str() == "ana" && m.event == event);
            ana.collect::<Vec<_>>()
        };
        let waits = to_ana(NoticeEvent::Waits);
        assert_eq!(waits[0].0, 0, "the first is told at once");
        let times: Vec<u64> = waits.iter().map(|(s, _)| *s).collect();
        assert_eq!(times[..5], [0, 60, 180, 420, 900]);
        assert!(times.len() <= 18, "{times:?}");
        // Only what still waits is counted, and what nobody was told of ends without a word.
        assert!(
            waits[1..].iter().all(|(_, m)| m.proposals.len() == 10),
            "{waits:?}"
        );
        assert!(to_ana(NoticeEvent::Ended).len() <= 18);
        assert!(queue.waiting.len() <= 4 && queue.sent.len() <= 4);
    }

    #[test]
    fn an_event_that_is_not_told_still_takes_back_what_was_not_told_yet() {
        let mut queue = Queue::new(secs(60), vec![NoticeEvent::Waits]);
        queue.add(notice(NoticeEvent::Waits, 1, &["ana"]));
        assert_eq!(drain(&mut queue, secs(10)).len(), 1);
        queue.add(notice(NoticeEvent::Waits, 2, &["ana"]));
        for (event, n) in [
            (NoticeEvent::Ended, 1),
            (NoticeEvent::Ended, 2),
            (NoticeEvent::Escalated, 3),
        ] {
            queue.add(notice(event, n, &["ana"]));
        }
        assert_eq!(drain(&mut queue, secs(1000)), []);
    }

    #[test]
    fn a_pause_ends_the_delays() {
        let mut queue = Queue::new(secs(60), NoticeEvent::ALL.into());
        for s in [0, 1, 61] {
            queue.add(notice(NoticeEvent::Waits, s, &["ana"]));
            drain(&mut queue, secs(200));
        }
        // The last went at 180, and made the next wait until 420.
        queue.add(notice(NoticeEvent::Waits, 9, &["ana"]));
        assert!(queue.next(secs(1000)).is_some());
        queue.add(notice(NoticeEvent::Waits, 10, &["ana"]));
        assert_eq!(queue.due(), Some(secs(1060)));
    }

    #[test]
    fn each_event_has_one_fixed_line() {
        let line = |event, ids: &[u128]| {
            let mut queue = Queue::new(secs(60), NoticeEvent::ALL.into());
            for id in ids {
                queue.add(notice(event, *id, &["ana"]));
            }
            let message = queue.next(Duration::ZERO).unwrap();
            assert_eq!(message.logins, ["rev_ana"]);
            message.line()
        };
        let until = "2027-01-15T08:00:05Z";
        for (event, ids, said) in [
            (
                NoticeEvent::Waits,
                &[5][..],
                "1 proposal waits for your vote until",
            ),
            (
                NoticeEvent::Waits,
                &[9, 5],
                "2 proposals wait for your vote, the first until",
            ),
            (
                NoticeEvent::Escalated,
                &[5],
                "because those asked first have not decided it; until",
            ),
            (
                NoticeEvent::Escalated,
                &[6, 5],
                "have not decided them; the first until",
            ),
        ] {
            let line = line(event, ids);
            assert!(
                line.starts_with("lab-1: ") && line.ends_with(&format!("{said} {until}")),
                "{line}"
            );
        }
        assert_eq!(
            line(NoticeEvent::Ended, &[5]),
            "lab-1: 1 proposal waits for your vote no longer"
        );
    }

    #[test]
    fn what_could_not_be_told_is_told_with_the_next_and_given_up_after_three_times() {
        let mut queue = Queue::new(secs(60), NoticeEvent::ALL.into());
        queue.add(notice(NoticeEvent::Waits, 1, &["ana"]));
        let mut now = Duration::ZERO;
        for tries in 1..=TRIES {
            let message = queue.next(now).unwrap();
            assert_eq!(message.proposals.len(), usize::from(tries));
            queue.failed(message, now);
            assert_eq!(queue.next(now), None, "not again at once");
            if tries == TRIES {
                break;
            }
            queue.add(notice(NoticeEvent::Waits, 1 + u128::from(tries), &["ana"]));
            now = queue.due().unwrap();
        }
        assert_eq!(queue.due(), None);
    }
}
