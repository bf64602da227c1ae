//! When the dashboard makes a drill, and which one: both follow from the seed and from a person's decisions, so the same
//! seed and the same decisions give the same drills. What a drill is: [`crate::model::Drill`].

mod dice;
mod template;

use std::time::Duration;

use crate::model::{Draft, Drill, DrillPlan, LogEvent};

use dice::Dice;
pub use template::Means;
use template::{Template, templates};

/// How many seconds after a decision a drill comes: at once, it would be told by that.
const AFTER: (u64, u64) = (1, 20);

/// How long a drill waits for an agent among whose proposals it can stand, before it looks again.
const LATER: Duration = Duration::from_secs(20);

/// The drills of one dashboard.
#[derive(Debug)]
pub struct Drills {
    every: u64,
    dice: Dice,
    means: Means,
    /// How many decisions are left until the next drill.
    left: u64,
    /// Boot time at which it comes.
    due: Option<Duration>,
    /// The templates that fit here, in the order in which they come.
    deck: Vec<&'static Template>,
}

impl Drills {
    /// `None` if no template fits what is configured.
    pub fn new(plan: DrillPlan, means: Means) -> Option<Self> {
        if !templates().iter().any(|t| t.fits(&means)) {
            return None;
        }
        let mut drills = Self {
            every: plan.every.max(1),
            dice: Dice::new(plan.seed),
            means,
            left: 0,
            due: None,
            deck: Vec::new(),
        };
        drills.left = drills.gap();
        Some(drills)
    }

    /// Call for every record: a person's decision brings the next drill closer.
    pub fn learn(&mut self, event: &LogEvent, boot: Duration) {
        if !matches!(event, LogEvent::Granted(_) | LogEvent::Denied { .. }) {
            return;
        }
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.left = self.gap();
            let wait = Duration::from_secs(self.dice.between(AFTER.0, AFTER.1));
            self.due.get_or_insert(boot.saturating_add(wait));
        }
    }

    /// Boot time at which the next drill comes, if that is known.
    pub const fn due(&self) -> Option<Duration> {
        self.due
    }

    /// The next drill, if its time has come and an agent is there whose proposals it can stand among: `hides` says so
    /// of a profile. Else it comes later.
    pub fn take(&mut self, boot: Duration, hides: impl Fn(&str) -> bool) -> Option<(Draft, Drill)> {
        self.due.filter(|due| *due <= boot)?;
        self.due = None;
        let means = &self.means;
        let fits = |t: &&Template| t.profile(means).is_some_and(&hides);
        if !self.deck.iter().any(fits) {
            let mut all: Vec<&Template> = templates().iter().filter(|t| t.fits(means)).collect();
            if !all.iter().any(fits) {
                self.due = Some(boot.saturating_add(LATER));
                return None;
            }
            self.dice.shuffle(&mut all);
            self.deck = all;
        }
        let next = self.deck.iter().rposition(fits)?;
        self.deck.remove(next).make(&self.means, &mut self.dice)
    }

    /// Decisions until the next drill: on average `every`, at least half and at most one and a half times as many.
    fn gap(&mut self) -> u64 {
        let least = self.every.div_ceil(2);
        self.dice.between(least, self.every + self.every / 2)
    }
}

/// A seed from the system; `None` if it has no random numbers.
pub fn fresh_seed() -> Option<u64> {
    // A configuration file takes no larger number.
    getrandom::u32().ok().map(u64::from)
}

#[cfg(test)]
#[path = "drills_tests.rs"]
mod tests;
