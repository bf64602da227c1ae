//! The points of traces, and the meaning of their positions.

use jiff::civil::DateTime;
use serde_json::Value;

use super::{label, list, number};

/// Most names on one axis; all further ones share the last place.
const NAMES: usize = 500;

/// One trace. A point is `None` where a value is missing, which interrupts the line.
pub struct Trace {
    pub points: Vec<Option<(f64, f64)>>,
    pub joined: bool,
    pub marked: bool,
    /// Number of points that a logarithmic axis cannot show.
    pub left_out: usize,
}

/// The meaning of positions: numbers, times, or names in order of appearance.
pub enum Axis {
    Numbers,
    /// Numbers on a logarithmic axis: a place is an exponent of ten.
    Powers,
    Times,
    Names(Vec<String>),
}

impl Axis {
    /// The axis for all its `positions`. `log` says whether it is logarithmic if they are numbers.
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

    /// The place of a number; `None` for zero and negative numbers on a logarithmic axis.
    pub fn at(&self, n: f64) -> Option<f64> {
        match self {
            Self::Powers => (n > 0.0).then(|| n.log10()),
            Self::Numbers | Self::Times | Self::Names(_) => Some(n),
        }
    }

    /// Whether a position is a number without a place on this axis.
    fn lacks(&self, position: Option<&Value>, count: usize) -> bool {
        let n = position.map_or(Some(count as f64), number);
        n.is_some_and(|n| self.at(n).is_none())
    }

    /// The place of a position; without a position, that of `count`.
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

/// The seconds of a date or time. A missing zone is taken as UTC, which is enough to place it.
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
    /// Reads a trace. `x` and `y` are the names of its lists of positions and values, each with its axis.
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
    /// Numbers: the start and width of the ranges on their axis, the count in each, and the number of values
    /// that the axis cannot show.
    Ranges {
        low: f64,
        step: f64,
        counts: Vec<f64>,
        left_out: usize,
    },
    /// Texts, in order of appearance.
    Names(Vec<(String, f64)>),
}

/// Counts a histogram's values. `bins` returns the number of ranges for a number of values; the ranges have the
/// same width on the axis.
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
    // Divide first, so that the difference of two huge numbers does not overflow.
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
            // No more names can be drawn, so count only the known ones.
            None if known < 1000 => rows.push((name, 1.0)),
            None => {}
        }
    }
    rows
}
