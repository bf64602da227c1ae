//! What happened while a dashboard was open, for the lines that it leaves behind.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::broker::AuditHealth;
use crate::model::{LogEvent, State, grouped};

/// Counts of one session, from its records.
#[derive(Debug)]
pub struct Session {
    began: Instant,
    granted: u64,
    succeeded: u64,
    failed: u64,
    denied: u64,
    expired: u64,
    withdrawn: u64,
    blocked: u64,
    undecided: u64,
    /// How many drills were caught, granted and not answered.
    drills: [u64; 3],
}

impl Default for Session {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            granted: 0,
            succeeded: 0,
            failed: 0,
            denied: 0,
            expired: 0,
            withdrawn: 0,
            blocked: 0,
            undecided: 0,
            drills: [0; 3],
        }
    }
}

impl Session {
    pub fn learn(&mut self, event: &LogEvent) {
        if let LogEvent::Drilled(drilled) = event {
            self.drills[drilled.end as usize] += 1;
        }
        match event.state() {
            Some(State::Granted) => self.granted += 1,
            Some(State::Succeeded) => self.succeeded += 1,
            Some(State::Failed | State::Error) => self.failed += 1,
            Some(State::Denied) => self.denied += 1,
            Some(State::Expired) => self.expired += 1,
            Some(State::Withdrawn) => self.withdrawn += 1,
            Some(State::Blocked) => self.blocked += 1,
            Some(State::Unattended) => self.undecided += 1,
            Some(State::Pending | State::Running | State::Drilled) | None => {}
        }
    }

    /// The lines after the screen: what happened, and where it is written. `dir`: the state
    /// folder, `None` for a demo, whose folder goes.
    pub fn farewell(&self, audit: &AuditHealth, dir: Option<&Path>) -> String {
        let mut out = format!("countersign, {}.\n", self.after(self.began.elapsed()));
        out.extend(self.drilled());
        if let AuditHealth::Down { reason } = audit {
            out.push_str(&format!(
                "The log went down, and nothing ran any more: {reason}\n"
            ));
        }
        match dir {
            Some(dir) => out.push_str(&format!(
                "Its log: {} (`countersign audit list` shows it)\n",
                dir.display()
            )),
            None => out.push_str(
                "The demo's log and data are gone. Next: `countersign` here opens your own dashboard;\n\
                 then, from another shell: countersign submit FILE\n",
            ),
        }
        out
    }

    /// What became of the drills, if there were any.
    fn drilled(&self) -> Option<String> {
        let [caught, granted, unanswered] = self.drills.map(grouped);
        let all = self.drills.iter().sum();
        let of = match all {
            0 => return None,
            1 => "1 drill".to_owned(),
            more => format!("{} drills", grouped(more)),
        };
        let mut line = format!("{of}: {caught} caught, {granted} granted");
        if self.drills[2] > 0 {
            line.push_str(&format!(", {unanswered} not answered"));
        }
        Some(format!("{line}; none of them ran.\n"))
    }

    fn after(&self, time: Duration) -> String {
        let n = grouped;
        let mut parts = Vec::new();
        if self.granted > 0 {
            let mut runs = Vec::new();
            for (count, what) in [(self.succeeded, "succeeded"), (self.failed, "failed")] {
                if count > 0 {
                    runs.push(format!("{} {what}", n(count)));
                }
            }
            let runs = match runs.is_empty() {
                true => String::new(),
                false => format!(" ({})", runs.join(", ")),
            };
            parts.push(format!("{} granted{runs}", n(self.granted)));
        }
        for (count, what) in [
            (self.denied, "denied"),
            (self.blocked, "blocked by rules"),
            (self.expired, "expired"),
            (self.withdrawn, "withdrawn by agents"),
            (self.undecided, "left undecided; they did not run"),
        ] {
            if count > 0 {
                parts.push(format!("{} {what}", n(count)));
            }
        }
        let what = match parts.is_empty() {
            true => "no proposal came".to_owned(),
            false => parts.join(", "),
        };
        format!("in {}: {what}", spent(time))
    }
}

/// `40 s`, `12 min`, `3 h 5 min`.
fn spent(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        ..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", grouped(seconds / 3600), seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Drill, DrillEnd, DrilledLog, Harm, ProposalId};

    #[test]
    fn drills_are_told_apart_from_what_agents_proposed() {
        let mut session = Session::default();
        assert_eq!(session.drilled(), None);
        for end in [DrillEnd::Caught, DrillEnd::Granted, DrillEnd::Caught] {
            session.learn(&LogEvent::Drilled(Box::new(DrilledLog {
                id: ProposalId::new(),
                end,
                drill: Drill {
                    template: "t".to_owned(),
                    harm: Harm::Write,
                    line: 2,
                    does: "writes".to_owned(),
                    wording: Default::default(),
                },
                by: None,
                viewed: None,
            })));
        }
        assert_eq!(
            session.drilled().as_deref(),
            Some("3 drills: 2 caught, 1 granted; none of them ran.\n")
        );
        assert_eq!(session.after(Duration::ZERO), "in 0 s: no proposal came");
    }

    #[test]
    fn a_session_says_what_happened_and_nothing_of_what_did_not() {
        let mut session = Session::default();
        let minutes = |n: u64| Duration::from_secs(60 * n);
        assert_eq!(
            session.after(Duration::from_secs(40)),
            "in 40 s: no proposal came"
        );
        let id = ProposalId::new();
        session.learn(&LogEvent::Expired { id });
        assert_eq!(session.after(minutes(12)), "in 12 min: 1 expired");
        session.granted = 3;
        session.failed = 1;
        session.succeeded = 2;
        session.learn(&LogEvent::Unattended { id });
        session.learn(&LogEvent::Closed);
        assert_eq!(
            session.after(minutes(185)),
            "in 3 h 5 min: 3 granted (2 succeeded, 1 failed), 1 expired, 1 left undecided; they did not run"
        );
    }
}
