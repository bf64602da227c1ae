//! Points of traces, and what their positions mean.

use jiff::civil::DateTime;
use serde_json::Value;

use super::{label, list, number};

/// Names on one axis; what comes after them shares the last place.
const NAMES: usize = 500;

/// One trace: each point, or none where a value is missing and the line breaks.
pub struct Trace {
    pub points: Vec<Option<(f64, f64)>>,
    pub joined: bool,
    pub marked: bool,
}

/// What positions mean: numbers, moments, or names in the order in which they come.
pub enum Axis {
    Numbers,
    Times,
    Names(Vec<String>),
}

impl Axis {
    /// Of all positions of an axis together.
    pub fn of(positions: &[&Value]) -> Self {
        let known = || positions.iter().filter(|x| !x.is_null());
        if known().all(|x| number(x).is_some()) {
            return Self::Numbers;
        }
        if known().all(|x| moment(x).is_some()) {
            return Self::Times;
        }
        let mut names: Vec<String> = Vec::new();
        for x in known() {
            let name = label(x);
            if names.len() < NAMES && !names.contains(&name) {
                names.push(name);
            }
        }
        Self::Names(names)
    }

    /// Where a position lies; without one, it is counted.
    pub fn place(&self, position: Option<&Value>, count: usize) -> Option<f64> {
        match (position, self) {
            (None, _) => Some(count as f64),
            (Some(x), Self::Numbers) => number(x),
            (Some(x), Self::Times) => moment(x),
            (Some(x), Self::Names(names)) => {
                let name = label(x);
                let at = names.iter().position(|have| *have == name);
                Some(at.unwrap_or(names.len()) as f64)
            }
        }
    }
}

/// Seconds of a date or time without its zone: enough to place it.
pub fn moment(value: &Value) -> Option<f64> {
    let text = value.as_str()?;
    if let Ok(at) = text.parse::<jiff::Timestamp>() {
        return Some(at.as_second() as f64);
    }
    let at: DateTime = text.parse().ok()?;
    let at = at.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(at.timestamp().as_second() as f64)
}

impl Trace {
    /// `x` and `y` name its lists of positions and of values.
    pub fn of(trace: &Value, x: &str, y: &str, axis: &Axis, most: usize) -> Self {
        let (xs, ys) = (list(trace, x, most), list(trace, y, most));
        let mode = trace.get("mode").and_then(Value::as_str);
        Self {
            points: ys
                .iter()
                .enumerate()
                .map(|(i, y)| Some((axis.place(xs.get(i).copied(), i)?, number(y)?)))
                .collect(),
            joined: mode.is_none_or(|mode| mode.contains("lines")),
            marked: mode.is_some_and(|mode| mode.contains("markers")),
        }
    }
}

pub fn span(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |ends, n| match ends {
        None => Some((n, n)),
        Some((low, high)) => Some((low.min(n), high.max(n))),
    })
}

/// How often values occur.
pub enum Bins {
    /// Numbers: from where, how wide, and how many in each.
    Ranges {
        low: f64,
        step: f64,
        counts: Vec<f64>,
    },
    /// Texts, in the order in which they come.
    Names(Vec<(String, f64)>),
}

/// Counts of a histogram's values; `bins` says into how many ranges so many numbers are cut.
pub fn bins(trace: &Value, most: usize, bins: impl Fn(usize) -> usize) -> Bins {
    let key = if trace.get("x").is_some() { "x" } else { "y" };
    let values = list(trace, key, most);
    let numbers: Vec<f64> = values.iter().filter_map(|v| number(v)).collect();
    let Some((low, high)) = span(numbers.iter().copied()) else {
        return Bins::Names(counted(&values));
    };
    let bins = if high > low {
        bins(numbers.len()).max(1)
    } else {
        1
    };
    // Divided first: the distance of the two largest numbers is none.
    let step = high / bins as f64 - low / bins as f64;
    let mut counts = vec![0.0; bins];
    for n in numbers {
        let at = if step > 0.0 {
            (n / step - low / step) as usize
        } else {
            0
        };
        counts[at.min(bins - 1)] += 1.0;
    }
    Bins::Ranges { low, step, counts }
}

fn counted(values: &[&Value]) -> Vec<(String, f64)> {
    let mut rows: Vec<(String, f64)> = Vec::new();
    for value in values {
        let name = label(value);
        let known = rows.len();
        match rows.iter_mut().find(|(have, _)| *have == name) {
            Some((_, count)) => *count += 1.0,
            // Beyond what can be drawn only the known ones are counted on.
            None if known < 1000 => rows.push((name, 1.0)),
            None => {}
        }
    }
    rows
}
