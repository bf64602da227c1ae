//! How what a question selects divides: by state, rule, agent and so on. Each value has the term that asks for it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::cases::{Case, Course, Person};
use super::query::terms;
use super::stats::QUARTER;
use crate::model::State;

/// The values that are told of each facet, besides those that the question names.
pub const VALUES: usize = 8;

/// What proposals are divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    State,
    Rule,
    Capability,
    Agent,
    Reviewer,
    Data,
    Profile,
    /// Of the decision, or of the proposal while it waits.
    Day,
}

impl By {
    pub const ALL: [Self; 8] = [
        Self::State,
        Self::Rule,
        Self::Capability,
        Self::Agent,
        Self::Reviewer,
        Self::Data,
        Self::Profile,
        Self::Day,
    ];
}

/// All facets of what a question selects, in the order of [`By::ALL`]; those without a value are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Facets {
    pub proposals: u64,
    pub all: Vec<Facet>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Facet {
    pub by: By,
    /// The most frequent first, days the newest first.
    pub values: Vec<Value>,
    /// How many values are not among them.
    pub more: usize,
}

/// A value, which may be an agent's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Value {
    pub shown: String,
    pub count: u64,
    /// Asks for it, in the language of questions.
    pub term: String,
    /// Whether the question asks for it already.
    pub chosen: bool,
}

/// What is counted of a proposal.
pub(super) struct Counted<'c> {
    pub state: State,
    pub course: Course,
    pub agent: &'c Arc<str>,
    pub profile: &'c Arc<str>,
    pub by: Option<&'c Person>,
    pub at: Timestamp,
}

/// Counts one proposal after the other.
#[derive(Default)]
pub(super) struct Counter {
    proposals: u64,
    states: HashMap<&'static str, u64>,
    granted: u64,
    agents: HashMap<Arc<str>, u64>,
    reviewers: HashMap<Arc<str>, u64>,
    profiles: HashMap<Arc<str>, u64>,
    /// By quarters of an hour since 1970.
    quarters: HashMap<i64, u64>,
    facts: HashMap<By, HashMap<String, u64>>,
}

impl Counter {
    pub fn count(&mut self, one: &Counted<'_>) {
        self.proposals += 1;
        // `state:granted` asks for whatever was granted.
        if one.state != State::Granted {
            *self.states.entry(one.state.as_str()).or_default() += 1;
        }
        self.granted += u64::from(one.course == Course::Granted);
        add(&mut self.agents, one.agent);
        add(&mut self.profiles, one.profile);
        if let Some(by) = one.by {
            match &by.login {
                Some(login) => add(&mut self.reviewers, login),
                None => add(&mut self.reviewers, &by.uid.to_string().into()),
            }
        }
        let quarter = one.at.as_second().div_euclid(QUARTER);
        *self.quarters.entry(quarter).or_default() += 1;
    }

    /// So many proposals have this value, in lower case, of a rule, a capability or a data set.
    pub fn fact(&mut self, by: By, value: &str, count: u64) {
        let facts = self.facts.entry(by).or_default();
        match facts.get_mut(value) {
            Some(known) => *known += count,
            None => {
                facts.insert(value.to_owned(), count);
            }
        }
    }

    /// A case with its facts.
    pub fn count_case(&mut self, case: &Case) {
        self.count(&Counted {
            state: case.state,
            course: case.course,
            agent: &case.agent.1,
            profile: &case.asked.profile.to_lowercase().into(),
            by: case.by.as_ref(),
            at: case.at,
        });
        let judged = case.judged();
        let rules = judged.rules.iter().map(|rule| (By::Rule, &**rule));
        let caps = judged.caps.iter().map(|cap| (By::Capability, cap.as_str()));
        let data = case.asked.data.iter().map(|name| (By::Data, &**name));
        let all = rules.chain(caps).chain(data);
        let all: BTreeSet<(By, String)> = all.map(|(by, v)| (by, v.to_lowercase())).collect();
        for (by, value) in &all {
            self.fact(*by, value, 1);
        }
    }

    /// The facets of the question whose proposals were counted.
    pub fn end(mut self, question: &str, zone: &TimeZone) -> Facets {
        let granted = self.granted;
        let states = self.states.iter().map(|(state, n)| (*state, *n));
        let states = states.chain((granted > 0).then_some(("granted", granted)));
        let states: Vec<_> = states
            .map(|(state, count)| Value::of(state.to_owned(), count, "state", state))
            .collect();
        let mut all = BTreeMap::from([
            (By::State, states),
            (By::Agent, named(&self.agents, "agent")),
            (By::Reviewer, named(&self.reviewers, "by")),
            (By::Profile, named(&self.profiles, "profile")),
            (By::Day, days(&self.quarters, zone)),
        ]);
        let facts = [
            (By::Rule, "rule"),
            (By::Capability, "cap"),
            (By::Data, "data"),
        ];
        for (by, key) in facts {
            let values = self.facts.remove(&by).unwrap_or_default().into_iter();
            let shown = |value: &str| match by {
                By::Data => value.to_owned(),
                _ => value.to_uppercase(),
            };
            let values = values.map(|(value, count)| Value::of(shown(&value), count, key, &value));
            all.insert(by, values.collect());
        }
        Facets {
            proposals: self.proposals,
            all: all
                .into_iter()
                .filter(|(_, values)| !values.is_empty())
                .map(|(by, values)| Facet::of(by, values, question))
                .collect(),
        }
    }
}

impl Value {
    fn of(shown: String, count: u64, key: &str, value: &str) -> Self {
        Self {
            shown,
            count,
            term: terms::term(key, value),
            chosen: false,
        }
    }
}

impl Facet {
    fn of(by: By, mut values: Vec<Value>, question: &str) -> Self {
        match by {
            By::Day => values.sort_by(|a, b| b.shown.cmp(&a.shown)),
            _ => values.sort_by(|a, b| b.count.cmp(&a.count).then(a.term.cmp(&b.term))),
        }
        let all = values.len();
        let mut n = 0;
        values.retain_mut(|value| {
            n += 1;
            value.chosen = terms::has(question, &value.term);
            n <= VALUES || value.chosen
        });
        let more = all - values.len();
        Self { by, values, more }
    }
}

fn add(counts: &mut HashMap<Arc<str>, u64>, name: &Arc<str>) {
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None => {
            counts.insert(name.clone(), 1);
        }
    }
}

/// A question does not tell names apart by case, so they count together.
fn named(counts: &HashMap<Arc<str>, u64>, key: &str) -> Vec<Value> {
    let mut all: BTreeMap<String, (String, u64)> = BTreeMap::new();
    for (name, count) in counts {
        let lower = name.to_lowercase();
        all.entry(lower.clone())
            .and_modify(|(shown, sum)| {
                *shown = lower;
                *sum += count;
            })
            .or_insert_with(|| ((**name).to_owned(), *count));
    }
    all.into_iter()
        .map(|(lower, (shown, count))| Value::of(shown, count, key, &lower))
        .collect()
}

fn days(quarters: &HashMap<i64, u64>, zone: &TimeZone) -> Vec<Value> {
    let mut days: BTreeMap<Date, u64> = BTreeMap::new();
    for (quarter, count) in quarters {
        let second = quarter.saturating_mul(QUARTER);
        let at = Timestamp::from_second(second).unwrap_or(Timestamp::MIN);
        *days.entry(zone.to_datetime(at).date()).or_default() += count;
    }
    let value = |(day, count): (Date, u64)| Value {
        shown: day.to_string(),
        count,
        term: format!("on:{day}"),
        chosen: false,
    };
    days.into_iter().map(value).collect()
}
