//! Statistics of a log: a pure function over its [`Case`]s. Whoever asks selects the cases.

mod runs;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::cases::{Case, Course, Person, Shown};
use crate::model::{Accesses, DrillEnd, DrillPlan, Harm, LimitKind, State, VerdictKind};
pub use runs::{OfScope, Runs};

/// Decisions after a look shorter than this are counted apart.
pub const FAST: Duration = Duration::from_secs(5);

/// Every offset of a time zone is a multiple of so many seconds.
pub(super) const QUARTER: i64 = 15 * 60;

/// What the cases that were asked about come to. Names of agents are claims.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stats {
    /// How many proposals of agents there are; drills that ended are none.
    pub proposals: u64,
    /// Those of them that expired before anybody decided.
    pub expired: u64,
    /// The time zone of its days and hours.
    pub zone: String,
    /// Those with the most decisions first.
    pub reviewers: Vec<OfReviewer>,
    /// Those with the most proposals first.
    pub agents: Vec<OfAgent>,
    /// The days on which something was proposed or granted, in order.
    pub days: Vec<Day>,
    pub runs: Runs,
    pub drills: Drills,
}

/// A day of the time zone in which it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Day {
    pub day: Date,
    /// Proposed on this day.
    pub proposals: u64,
    /// Granted on this day, whenever it was proposed.
    pub granted: u64,
}

/// One person's decisions. Drills are counted apart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OfReviewer {
    pub uid: u32,
    pub login: Option<String>,
    pub granted: u64,
    pub denied: u64,
    /// Expired while this person had the dashboard open.
    pub expired: u64,
    /// Of what this person granted or denied, the share that was granted.
    pub grant_rate: Option<f64>,
    /// How long what was decided had been looked at.
    pub median_look_ms: Option<u64>,
    /// Flagged code that was granted faster than it can be read, so that the sheet asked again.
    pub asked_again: u64,
    /// Grants before all findings stood on the screen, and their share of the grants.
    pub not_all_seen: u64,
    pub not_all_seen_rate: Option<f64>,
    /// The most grants in a row. A denial and a caught drill end a row. `None` if decisions between those that are counted
    /// may be left out.
    pub streak: Option<u64>,
    /// Decisions after a look of less than [`FAST`], and the most of them in a row, as with `streak`.
    pub fast: u64,
    pub fast_streak: Option<u64>,
    /// Decisions by the hour of the day.
    pub hours: [u64; 24],
    pub drills: Count,
}

/// One agent's proposals: a uid and a name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OfAgent {
    pub uid: u32,
    pub name: String,
    pub proposed: u64,
    pub granted: u64,
    pub denied: u64,
    pub expired: u64,
    pub blocked: u64,
    /// Proposals with the verdict flagged.
    pub flagged: u64,
    /// Runs that failed.
    pub failed: u64,
    pub median_look_ms: Option<u64>,
}

/// Drills that ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Count {
    pub shown: u64,
    pub caught: u64,
    pub granted: u64,
    pub unanswered: u64,
    /// Of those that were answered, the share that was caught.
    pub rate: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Drills {
    #[serde(flatten)]
    pub all: Count,
    pub by_harm: BTreeMap<Harm, Count>,
    /// The last dashboard that made drills: when it was opened, and with which plan.
    pub plan: Option<Plan>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Plan {
    pub opened: Timestamp,
    #[serde(flatten)]
    pub plan: DrillPlan,
}

/// Decisions while they are counted.
#[derive(Default)]
struct Tally {
    proposed: u64,
    granted: u64,
    denied: u64,
    expired: u64,
    asked_again: u64,
    not_all_seen: u64,
    in_a_row: u64,
    streak: u64,
    fast: u64,
    fast_in_a_row: u64,
    fast_streak: u64,
    hours: [u64; 24],
    blocked: u64,
    flagged: u64,
    failed: u64,
    looks: Vec<u64>,
    drills: Count,
}

/// What is counted of a [`Case`].
#[derive(Clone, Debug)]
pub struct Decision {
    pub seq: u64,
    pub agent: (u32, Arc<str>),
    pub drill: Option<Harm>,
    pub course: Course,
    pub by: Option<Person>,
    pub look_ms: Option<u64>,
    /// How many of the findings had been seen.
    pub shown: Option<Shown>,
    pub asked_again: bool,
    pub state: State,
    pub verdict: VerdictKind,
    /// In lower case.
    pub profile: Arc<str>,
    /// When it was proposed.
    pub asked: Timestamp,
    /// When it took its course.
    pub at: Timestamp,
    /// The limit that ended the run.
    pub limit: Option<LimitKind>,
    pub accesses: BTreeMap<String, Accesses>,
}

impl Decision {
    pub fn of(case: &Case) -> Self {
        let look = case.viewed.as_ref();
        Self {
            seq: case.seq,
            agent: case.agent.clone(),
            drill: case.drill,
            course: case.course,
            by: case.by.clone(),
            look_ms: look.map(|viewed| viewed.focused_ms.unwrap_or(viewed.selected_ms)),
            shown: case.shown(),
            asked_again: look.is_some_and(|viewed| viewed.asked_again),
            state: case.state,
            verdict: case.judged().verdict,
            profile: case.asked.profile.to_lowercase().into(),
            asked: case.asked.at,
            at: case.at,
            limit: case.ran.as_ref().and_then(|ran| ran.limit),
            accesses: case
                .ran
                .as_ref()
                .map_or_else(BTreeMap::new, |ran| ran.accesses.clone()),
        }
    }
}

impl Stats {
    /// Counts, by the days and hours of a time zone. The plan is that of the last dashboard that made drills, and when it
    /// was opened.
    pub fn of(
        mut decisions: Vec<Decision>,
        plan: Option<(Timestamp, DrillPlan)>,
        zone: &TimeZone,
    ) -> Self {
        // Grants in a row are those that were made one after the other.
        decisions.sort_by_key(|one| one.seq);
        let mut reviewers: BTreeMap<&Person, Tally> = BTreeMap::new();
        let mut agents: BTreeMap<(u32, &str), Tally> = BTreeMap::new();
        let mut drills = Drills {
            plan: plan.map(|(opened, plan)| Plan { opened, plan }),
            ..Drills::default()
        };
        let (mut days, mut runs) = (Days::default(), Runs::default());
        let mut calendar = Calendar::of(zone);
        let mut proposals = 0;
        for case in &decisions {
            if let Some(by) = &case.by {
                reviewers.entry(by).or_default().count(case, &mut calendar);
            }
            match (case.drill, case.course) {
                (Some(harm), Course::Drilled(end)) => {
                    drills.all.add(end);
                    drills.by_harm.entry(harm).or_default().add(end);
                }
                // Until it ends, no number tells it apart from a proposal.
                (Some(_), course) if course != Course::Waits => {}
                _ => {
                    proposals += 1;
                    let agent = (case.agent.0, &*case.agent.1);
                    agents.entry(agent).or_default().count(case, &mut calendar);
                    days.count(case, &mut calendar);
                    runs.count(case);
                }
            }
        }
        let mut reviewers: Vec<OfReviewer> = reviewers
            .into_iter()
            .map(|(person, tally)| tally.of_reviewer(person))
            .collect();
        reviewers.sort_by_key(|r| std::cmp::Reverse(r.granted + r.denied));
        let mut agents: Vec<OfAgent> = agents
            .into_iter()
            .map(|((uid, name), tally)| tally.of_agent(uid, name))
            .collect();
        agents.sort_by_key(|a| std::cmp::Reverse(a.proposed));
        Self {
            proposals,
            expired: agents.iter().map(|agent| agent.expired).sum(),
            zone: named(zone),
            reviewers,
            agents,
            days: days.0.into_values().collect(),
            runs,
            drills,
        }
    }

    /// For a question that leaves out decisions between others: what it selects is no row.
    pub fn forget_rows(&mut self) {
        for reviewer in &mut self.reviewers {
            (reviewer.streak, reviewer.fast_streak) = (None, None);
        }
    }
}

/// Days and hours of a time zone. The last quarters of an hour are remembered: what is counted together happened together.
struct Calendar<'z> {
    zone: &'z TimeZone,
    known: [Option<(i64, Date, usize)>; 64],
}

impl<'z> Calendar<'z> {
    fn of(zone: &'z TimeZone) -> Self {
        let known = [None; 64];
        Self { zone, known }
    }

    fn day_and_hour(&mut self, at: Timestamp) -> (Date, usize) {
        let quarter = at.as_second().div_euclid(QUARTER);
        let place = &mut self.known[quarter.rem_euclid(64).cast_unsigned() as usize];
        match place {
            Some((known, day, hour)) if *known == quarter => (*day, *hour),
            _ => {
                let here = self.zone.to_datetime(at);
                let hour = usize::from(here.hour().cast_unsigned());
                *place = Some((quarter, here.date(), hour));
                (here.date(), hour)
            }
        }
    }
}

#[derive(Default)]
struct Days(BTreeMap<Date, Day>);

impl Days {
    fn count(&mut self, case: &Decision, calendar: &mut Calendar<'_>) {
        self.on(calendar.day_and_hour(case.asked).0).proposals += 1;
        if case.course == Course::Granted {
            self.on(calendar.day_and_hour(case.at).0).granted += 1;
        }
    }

    fn on(&mut self, day: Date) -> &mut Day {
        self.0.entry(day).or_insert(Day {
            day,
            proposals: 0,
            granted: 0,
        })
    }
}

impl OfReviewer {
    /// Whether this person decided something, or met a drill. Of others it is only known that they had a dashboard open.
    pub const fn has_decided(&self) -> bool {
        self.granted + self.denied + self.drills.shown > 0
    }
}

impl Tally {
    fn count(&mut self, case: &Decision, calendar: &mut Calendar<'_>) {
        self.proposed += 1;
        self.blocked += u64::from(case.state == State::Blocked);
        self.failed += u64::from(case.state == State::Failed);
        self.flagged += u64::from(case.verdict == VerdictKind::Flagged);
        if matches!(case.course, Course::Granted | Course::Denied) {
            self.pace(case, calendar);
        }
        match case.course {
            Course::Granted => {
                self.granted += 1;
                let unseen = matches!(case.shown, Some(Shown::Some | Shown::None));
                self.not_all_seen += u64::from(unseen);
                self.in_a_row += 1;
                self.streak = self.streak.max(self.in_a_row);
            }
            Course::Denied => {
                self.denied += 1;
                self.in_a_row = 0;
            }
            Course::Expired => self.expired += 1,
            Course::Drilled(end) => {
                self.drills.add(end);
                if end == DrillEnd::Caught {
                    self.in_a_row = 0;
                }
            }
            Course::Waits | Course::Other => {}
        }
        if let (Some(look), Course::Granted | Course::Denied) = (case.look_ms, case.course) {
            self.looks.push(look);
            self.asked_again += u64::from(case.asked_again && case.course == Course::Granted);
        }
    }

    fn pace(&mut self, case: &Decision, calendar: &mut Calendar<'_>) {
        self.hours[calendar.day_and_hour(case.at).1 % 24] += 1;
        let look = case.look_ms.map(Duration::from_millis);
        if look.is_some_and(|look| look < FAST) {
            self.fast += 1;
            self.fast_in_a_row += 1;
            self.fast_streak = self.fast_streak.max(self.fast_in_a_row);
        } else {
            self.fast_in_a_row = 0;
        }
    }

    fn median(&mut self) -> Option<u64> {
        let middle = self.looks.len() / 2;
        let has_one = !self.looks.is_empty();
        has_one.then(|| *self.looks.select_nth_unstable(middle).1)
    }

    fn of_reviewer(mut self, person: &Person) -> OfReviewer {
        OfReviewer {
            uid: person.uid,
            login: person.login.as_deref().map(str::to_owned),
            granted: self.granted,
            denied: self.denied,
            expired: self.expired,
            grant_rate: share(self.granted, self.granted + self.denied),
            median_look_ms: self.median(),
            asked_again: self.asked_again,
            not_all_seen: self.not_all_seen,
            not_all_seen_rate: share(self.not_all_seen, self.granted),
            streak: Some(self.streak),
            fast: self.fast,
            fast_streak: Some(self.fast_streak),
            hours: self.hours,
            drills: self.drills,
        }
    }

    fn of_agent(mut self, uid: u32, name: &str) -> OfAgent {
        OfAgent {
            uid,
            name: name.to_owned(),
            proposed: self.proposed,
            granted: self.granted,
            denied: self.denied,
            expired: self.expired,
            blocked: self.blocked,
            flagged: self.flagged,
            failed: self.failed,
            median_look_ms: self.median(),
        }
    }
}

impl Count {
    fn add(&mut self, end: DrillEnd) {
        self.shown += 1;
        match end {
            DrillEnd::Caught => self.caught += 1,
            DrillEnd::Granted => self.granted += 1,
            DrillEnd::Unanswered => self.unanswered += 1,
        }
        self.rate = share(self.caught, self.answered());
    }

    pub const fn answered(&self) -> u64 {
        self.caught + self.granted
    }
}

/// The name of a time zone.
fn named(zone: &TimeZone) -> String {
    match zone.iana_name() {
        None | Some("Etc/Unknown") => zone.to_offset(Timestamp::now()).to_string(),
        Some(name) => name.to_owned(),
    }
}

fn share(some: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| some as f64 / all as f64)
}

/// From which time on cases count: `90s`, `30m`, `12h`, `7d` or `4w` ago, or a day or time as RFC 3339 writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    Ago(Duration),
    At(Timestamp),
}

impl Since {
    pub fn at(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Ago(time) => now.checked_sub(time).unwrap_or(Timestamp::MIN),
            Self::At(at) => at,
        }
    }
}

impl std::str::FromStr for Since {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unit = match text.as_bytes().last() {
            Some(b's') => 1,
            Some(b'm') => 60,
            Some(b'h') => 3600,
            Some(b'd') => 24 * 3600,
            Some(b'w') => 7 * 24 * 3600,
            _ => 0,
        };
        let number = text.get(..text.len().saturating_sub(1));
        if let Some(seconds) = number.and_then(|n| n.parse::<u64>().ok()?.checked_mul(unit))
            && unit > 0
        {
            return Ok(Self::Ago(Duration::from_secs(seconds)));
        }
        // A day begins at midnight here, and a time without a zone is one of here.
        let here = || {
            let first = || Some(super::query::first_day(text)?.at(0, 0, 0, 0));
            let at = text.parse::<jiff::civil::DateTime>().ok().or_else(first)?;
            let at = at.to_zoned(jiff::tz::TimeZone::system()).ok()?;
            Some(at.timestamp())
        };
        let at = text.parse::<Timestamp>().ok().or_else(here);
        at.map(Self::At).ok_or_else(|| {
            "give a time before now, such as 90s, 30m, 12h, 7d or 4w, a day such as 2026-11-01, a month such as 2026-11, or 2026-11-01T14:00 here".to_owned()
        })
    }
}

#[cfg(test)]
#[path = "stats_tests.rs"]
mod tests;
