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
    /// Points that a logarithmic axis has no place for.
    pub left_out: usize,
}

/// What positions mean: numbers, moments, or names in the order in which they come.
pub enum Axis {
    Numbers,
    /// Numbers on a logarithmic axis: a place is the power of ten.
    Powers,
    Times,
    Names(Vec<String>),
}

impl Axis {
    /// Of all positions of an axis together. `log`: whether it is logarithmic, if they are numbers.
    pub fn of(positions: &[&Value], log: bool) -> Self {
        let known = || positions.iter().filter(|x| !x.is_null());
        if known().all(|x| number(x).is_some()) {
            return Self::numbers(log);
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

    pub fn numbers(log: bool) -> Self {
        if log { Self::Powers } else { Self::Numbers }
    }

    /// Where a number lies: on a logarithmic axis, zero and what is below lie nowhere.
    pub fn at(&self, n: f64) -> Option<f64> {
        match self {
            Self::Powers => (n > 0.0).then(|| n.log10()),
            Self::Numbers | Self::Times | Self::Names(_) => Some(n),
        }
    }

    /// Whether a position is a number, and has no place on this axis.
    fn lacks(&self, position: Option<&Value>, count: usize) -> bool {
        let n = position.map_or(Some(count as f64), number);
        n.is_some_and(|n| self.at(n).is_none())
    }

    /// Where a position lies; without one, it is counted.
    pub fn place(&self, position: Option<&Value>, count: usize) -> Option<f64> {
        match (position, self) {
            (None, _) => self.at(count as f64),
            (Some(x), Self::Numbers | Self::Powers) => self.at(number(x)?),
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
    /// `x` and `y` name its lists of positions and of values, and what each means; values are numbers.
    pub fn of(trace: &Value, x: (&str, &Axis), y: (&str, &Axis), most: usize) -> Self {
        let (xs, ys) = (list(trace, x.0, most), list(trace, y.0, most));
        let mode = trace.get("mode").and_then(Value::as_str);
        let mut left_out = 0;
        let points = ys.iter().enumerate().map(|(i, value)| {
            let position = xs.get(i).copied();
            let point = (x.1.place(position, i), y.1.place(Some(value), i));
            let known = position.is_none_or(|x| !x.is_null()) && number(value).is_some();
            left_out += usize::from(known && (x.1.lacks(position, i) || y.1.lacks(Some(value), i)));
            point.0.zip(point.1)
        });
        Self {
            points: points.collect(),
            joined: mode.is_none_or(|mode| mode.contains("lines")),
            marked: mode.is_some_and(|mode| mode.contains("markers")),
            left_out,
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
    /// Places on their axis: from where, how wide, how many in each, and how many it has no place for.
    Ranges {
        low: f64,
        step: f64,
        counts: Vec<f64>,
        left_out: usize,
    },
    /// Texts, in the order in which they come.
    Names(Vec<(String, f64)>),
}

/// Counts of a histogram's values along their axis; `bins` says into how many ranges so many numbers
/// are cut, which are equally wide on it.
pub fn bins(trace: &Value, log: bool, most: usize, bins: impl Fn(usize) -> usize) -> Bins {
    let key = if trace.get("x").is_some() { "x" } else { "y" };
    let values = list(trace, key, most);
    let numbers: Vec<f64> = values.iter().filter_map(|v| number(v)).collect();
    if numbers.is_empty() {
        return Bins::Names(counted(&values));
    }
    let axis = Axis::numbers(log);
    let places: Vec<f64> = numbers.iter().filter_map(|n| axis.at(*n)).collect();
    let left_out = numbers.len() - places.len();
    let (low, high) = span(places.iter().copied()).unwrap_or((0.0, 0.0));
    let bins = if high > low {
        bins(places.len()).max(1)
    } else {
        1
    };
    // Divided first: the distance of the two largest numbers is none.
    let step = high / bins as f64 - low / bins as f64;
    let mut counts = vec![0.0; if places.is_empty() { 0 } else { bins }];
    for n in places {
        let at = if step > 0.0 {
            (n / step - low / step) as usize
        } else {
            0
        };
        counts[at.min(bins - 1)] += 1.0;
    }
    Bins::Ranges {
        low,
        step,
        counts,
        left_out,
    }
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
