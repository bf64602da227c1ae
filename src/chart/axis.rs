//! Maps values to pixels, and chooses the marks along an axis.

use super::points::Axis;
use super::short;

/// Maps values from `low` to `high` to pixels from `start` to `end`.
#[derive(Clone, Copy)]
pub struct Scale {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// If `low` and `high` are equal, the range is widened around them.
    pub fn new(low: f64, high: f64, start: f64, end: f64) -> Self {
        let (low, high) = if high > low {
            (low, high)
        } else {
            let room = (low.abs() * 0.1).max(0.5);
            (low - room, high + room)
        };
        Self {
            low: low.max(f64::MIN),
            high: high.min(f64::MAX),
            start,
            end,
        }
    }

    pub fn at(&self, value: f64) -> f64 {
        // Halve first, so that the difference of two huge numbers does not overflow.
        let whole = self.high / 2.0 - self.low / 2.0;
        let share = (value / 2.0 - self.low / 2.0) / whole;
        self.start + (self.end - self.start) * share.clamp(0.0, 1.0)
    }

    /// About `about` round values with their labels.
    pub fn ticks(&self, axis: &Axis, about: usize) -> Vec<(f64, String)> {
        match axis {
            Axis::Numbers => self.numbers(about),
            Axis::Powers => decades(self.low, self.high, about),
            Axis::Times => self.times(about),
            Axis::Names(names) => {
                let step = names.len().div_ceil(about.max(1)).max(1);
                let all = names.iter().enumerate().step_by(step);
                all.map(|(i, name)| (i as f64, name.clone())).collect()
            }
        }
    }

    fn numbers(&self, about: usize) -> Vec<(f64, String)> {
        let rough = (self.high / 2.0 - self.low / 2.0) / about.max(1) as f64 * 2.0;
        let size = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .into_iter()
            .map(|n| n * size)
            .find(|step| *step >= rough)
            .unwrap_or(rough);
        let first = (self.low / step).ceil();
        if !(step.is_normal() && first.is_finite()) {
            return Vec::new();
        }
        (0..=about * 2)
            .map(|i| (first + i as f64) * step)
            .take_while(|n| *n <= self.high)
            .map(|n| (n, short(n)))
            .collect()
    }

    fn times(&self, about: usize) -> Vec<(f64, String)> {
        const DAY: f64 = 86_400.0;
        let days = (self.high - self.low) / DAY;
        let form = if days > about as f64 {
            "%Y-%m-%d"
        } else {
            "%m-%d %H:%M"
        };
        let about = about.max(2);
        (0..about)
            .filter_map(|i| {
                let share = i as f64 / (about - 1) as f64;
                let at = self.low + (self.high - self.low) * share;
                let moment = jiff::Timestamp::from_second(at as i64).ok()?;
                Some((at, moment.strftime(form).to_string()))
            })
            .collect()
    }
}

/// The marks of a logarithmic axis from one power of ten to another: about `about` decades; if there are fewer
/// than two, also numbers between them; otherwise the ends of the axis.
pub fn decades(low: f64, high: f64, about: usize) -> Vec<(f64, String)> {
    const BETWEEN: [&[f64]; 3] = [
        &[1.0],
        &[1.0, 2.0, 5.0],
        &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
    ];
    let text = |at: f64| {
        let n = 10f64.powf(at);
        if (1e-3..1e7).contains(&n) {
            short(n)
        } else {
            format!("{n:.0e}")
        }
    };
    let (first, last) = (low.floor() as i32, high.floor() as i32);
    let whole = (high.floor() - low.ceil()).max(0.0) as usize + 1;
    let step = i32::try_from(whole.div_ceil(about.max(1))).unwrap_or(i32::MAX);
    for digits in BETWEEN {
        let step = if digits.len() == 1 { step } else { 1 };
        let marks: Vec<(f64, String)> = (first..=last)
            .filter(|power| power.rem_euclid(step) == 0)
            .flat_map(|power| digits.iter().map(move |n| f64::from(power) + n.log10()))
            .filter(|at| (low..=high).contains(at))
            .map(|at| (at, text(at)))
            .collect();
        if marks.len() > 1 {
            return marks;
        }
    }
    vec![(low, text(low)), (high, text(high))]
}
