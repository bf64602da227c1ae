//! What each agent did since the dashboard started, for the person who looks at screen 3. Decides nothing.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::model::{AgentId, State};

/// Agents that are remembered. One that has something undecided is never forgotten.
const AGENTS: usize = 1_000;
/// The rate counts the proposals of the minutes that begin in this time.
const MINUTES: u64 = 5;

/// One agent's proposals, counted.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Not decided yet, announced or not.
    pub undecided: usize,
    pub granted: u64,
    pub denied: u64,
    pub blocked: u64,
    /// Boot time of its last proposal.
    pub last: Duration,
    /// Proposals of the last minutes, the current one last.
    minutes: [u32; MINUTES as usize],
    /// The number of the current minute.
    minute: u64,
    first: Duration,
}

impl Tally {
    /// Proposals per minute over the last minutes, or since the first one.
    pub fn per_minute(&self, now: Duration) -> f64 {
        let mut counted = self.clone();
        counted.go_to(minute_of(now));
        let since = now.saturating_sub(self.first).as_secs_f64() / 60.0;
        let all: u32 = counted.minutes.iter().sum();
        f64::from(all) / since.clamp(1.0, MINUTES as f64)
    }

    fn go_to(&mut self, minute: u64) {
        let ahead = minute.saturating_sub(self.minute).min(MINUTES);
        for _ in 0..ahead {
            self.minutes.rotate_left(1);
            self.minutes[MINUTES as usize - 1] = 0;
        }
        self.minute = self.minute.max(minute);
    }
}

fn minute_of(boot: Duration) -> u64 {
    boot.as_secs() / 60
}

#[derive(Clone, Debug, Default)]
pub(super) struct Ledger {
    pub agents: BTreeMap<AgentId, Tally>,
    /// How many agents were forgotten.
    pub forgotten: u64,
}

impl Ledger {
    pub fn proposed(&mut self, agent: AgentId, now: Duration) {
        if !self.agents.contains_key(&agent) && self.agents.len() >= AGENTS {
            self.forget_one();
        }
        let tally = self.agents.entry(agent).or_insert_with(|| Tally {
            first: now,
            minute: minute_of(now),
            ..Tally::default()
        });
        tally.go_to(minute_of(now));
        tally.minutes[MINUTES as usize - 1] += 1;
        tally.undecided += 1;
        tally.last = now;
    }

    /// When this agent proposed last.
    pub fn last(&self, agent: &AgentId) -> Option<Duration> {
        self.agents.get(agent).map(|tally| tally.last)
    }

    /// Takes back what [`Self::proposed`] counted at `at`. `before`: when the agent had proposed last before that.
    pub fn uncount(&mut self, agent: &AgentId, at: Duration, before: Option<Duration>) {
        let Some(tally) = self.agents.get_mut(agent) else {
            return;
        };
        tally.undecided = tally.undecided.saturating_sub(1);
        let ago = tally.minute.saturating_sub(minute_of(at));
        let index = (MINUTES - 1).checked_sub(ago);
        if let Some(count) = index.and_then(|i| tally.minutes.get_mut(i as usize)) {
            *count = count.saturating_sub(1);
        }
        if tally.last == at {
            tally.last = before.unwrap_or(at);
        }
    }

    /// One of its proposals is not undecided any more.
    pub fn left(&mut self, agent: &AgentId) {
        if let Some(tally) = self.agents.get_mut(agent) {
            tally.undecided = tally.undecided.saturating_sub(1);
        }
    }

    /// One of its proposals is in this state now.
    pub fn became(&mut self, agent: &AgentId, state: State) {
        let Some(tally) = self.agents.get_mut(agent) else {
            return;
        };
        match state {
            State::Granted => tally.granted += 1,
            State::Denied => tally.denied += 1,
            State::Blocked => tally.blocked += 1,
            _ => {}
        }
    }

    /// Forgets the agent that was quiet the longest.
    fn forget_one(&mut self) {
        let idle = self.agents.iter().filter(|(_, tally)| tally.undecided == 0);
        let oldest = idle.min_by_key(|(_, tally)| tally.last);
        if let Some(agent) = oldest.map(|(agent, _)| agent.clone()) {
            self.agents.remove(&agent);
            self.forgotten += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    fn agent(name: &str) -> AgentId {
        AgentId {
            uid: 1,
            pid: 1,
            name: name.to_owned(),
            gateway: None,
        }
    }

    #[test]
    fn the_rate_is_of_the_last_five_minutes() {
        let mut ledger = Ledger::default();
        for at in [600, 601, 602] {
            ledger.proposed(agent("a"), s(at));
        }
        let rate = |ledger: &Ledger, at| ledger.agents[&agent("a")].per_minute(s(at));
        let about = |a: f64, b: f64| (a - b).abs() < 0.01;
        assert!(about(rate(&ledger, 602), 3.0), "one minute at least");
        assert!(about(rate(&ledger, 720), 1.5));
        ledger.proposed(agent("a"), s(800));
        assert!(about(rate(&ledger, 800), 1.2));
        // The first minute is over, the proposal of 800 is still counted.
        assert!(about(rate(&ledger, 960), 0.2));
        assert!(about(rate(&ledger, 10_000), 0.0));
    }

    #[test]
    fn names_without_end_cost_bounded_memory_and_hide_nobody_who_waits() {
        let mut ledger = Ledger::default();
        ledger.proposed(agent("waits"), s(0));
        for n in 0..2 * AGENTS as u64 {
            let name = agent(&n.to_string());
            ledger.proposed(name.clone(), s(n));
            ledger.left(&name);
        }
        assert_eq!(ledger.agents.len(), AGENTS);
        assert_eq!(ledger.agents[&agent("waits")].undecided, 1);
        assert_eq!(ledger.forgotten, AGENTS as u64 + 1);
    }
}
