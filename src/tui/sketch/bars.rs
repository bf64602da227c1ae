//! Bars, one per row: bar charts, histograms, pie shares, and the shades of a heat map.

use serde_json::Value;

use crate::chart::{self, Bins, number, short};

use super::super::flow::Para;
use super::super::text;
use super::super::theme::Role;
use super::marks::{bar as mark, shade};
use super::{POINTS, Room, fitted, list, name};

/// The number of bars in a histogram.
const BINS: usize = 10;

pub fn bar(chart: &Value, trace: &Value, room: Room) -> Vec<Para> {
    let (names, sizes) = if chart::lies(trace) {
        ("y", "x")
    } else {
        ("x", "y")
    };
    let rows = chart::sizes(trace, names, sizes, POINTS);
    drawn(trace, rows, chart::is_log(chart, trace, sizes), 0, room)
}

pub fn pie(trace: &Value, room: Room) -> Vec<Para> {
    let rows = chart::sizes(trace, "labels", "values", POINTS);
    drawn(trace, rows, false, 0, room)
}

/// Counts values by equal numeric ranges or by text.
pub fn histogram(chart: &Value, trace: &Value, room: Room) -> Vec<Para> {
    let (along, across) = if trace.get("x").is_some() {
        ("x", "y")
    } else {
        ("y", "x")
    };
    let log = chart::is_log(chart, trace, along);
    let number = |at: f64| if log { 10f64.powf(at) } else { at };
    let (rows, left_out) = match chart::bins(trace, log, POINTS, |_| BINS.min(room.rows)) {
        Bins::Names(rows) => (rows, 0),
        Bins::Ranges {
            low,
            step,
            counts,
            left_out,
        } => {
            let from = |i: usize| short(number(low + step * i as f64));
            let rows = counts.into_iter().enumerate();
            let rows = rows.map(|(i, count)| (format!("{} –", from(i)), count));
            (rows.collect(), left_out)
        }
    };
    let log = chart::is_log(chart, trace, across);
    // On a logarithmic scale, a range without values has no bar; this leaves no value out.
    let rows = rows.into_iter().filter(|(_, n)| !log || *n > 0.0).collect();
    drawn(trace, rows, log, left_out, room)
}

/// `log`: whether bar lengths are logarithmic. `left_out`: the number of values without a row.
fn drawn(
    trace: &Value,
    mut rows: Vec<(String, f64)>,
    log: bool,
    mut left_out: usize,
    room: Room,
) -> Vec<Para> {
    let mut out: Vec<Para> = name(trace)
        .map(|name| Para::new(name, Role::Dim))
        .into_iter()
        .collect();
    if log {
        let all = rows.len();
        rows.retain(|(_, size)| *size > 0.0);
        left_out += all - rows.len();
    }
    let shown = &rows[..rows.len().min(room.rows)];
    let names = shown.iter().map(|(name, _)| text::width(name)).max();
    let names = names.unwrap_or(0).min(room.columns / 3);
    let sizes: Vec<String> = shown.iter().map(|(_, size)| short(*size)).collect();
    let digits = sizes.iter().map(String::len).max().unwrap_or(0);
    let long = room.columns.saturating_sub(names + digits + 2).max(1);
    let most = shown.iter().map(|(_, n)| n.abs()).fold(0.0, f64::max);
    let least = shown
        .iter()
        .map(|(_, n)| n.log10())
        .fold(f64::INFINITY, f64::min);
    for ((name, size), digits_of) in shown.iter().zip(&sizes) {
        let share = if log {
            // Start at the decade below the smallest value, so that its bar is visible.
            let from = least.ceil() - 1.0;
            (size.log10() - from) / (most.log10() - from)
        } else if most > 0.0 {
            size.abs() / most
        } else {
            0.0
        };
        let role = if *size < 0.0 {
            Role::Flagged
        } else {
            Role::Accent
        };
        out.push(
            Para::new(fitted(name, names), Role::Text)
                .and(format!(" {}", mark(share, long, *size < 0.0)), role)
                .and(format!(" {digits_of}"), Role::Dim),
        );
    }
    if rows.len() > shown.len() {
        let more = format!("and {} more bars", rows.len() - shown.len());
        out.push(Para::new(more, Role::Dim));
    }
    out.extend(chart::left_out(left_out).map(|said| Para::new(said, Role::Dim)));
    out
}

/// Draws each row of `z` as a row of shades, with the first row at the bottom as in plotly.
pub fn heatmap(trace: &Value, room: Room) -> Vec<Para> {
    let z: Vec<Vec<Option<f64>>> = list(trace, "z")
        .iter()
        .filter_map(|row| row.as_array())
        .map(|row| {
            let step = row.len().div_ceil(room.columns.max(1)).max(1);
            row.iter().step_by(step).map(number).collect()
        })
        .collect();
    let every = || z.iter().flatten().flatten().copied();
    let low = every().fold(f64::INFINITY, f64::min);
    let high = every().fold(f64::NEG_INFINITY, f64::max);
    let step = z.len().div_ceil(room.rows.max(1)).max(1);
    let mut out: Vec<Para> = z
        .iter()
        .rev()
        .step_by(step)
        .map(|row| {
            let shades: String = row
                .iter()
                .map(|cell| match cell {
                    Some(n) if high > low => shade((n - low) / (high - low)),
                    Some(_) => shade(1.0),
                    None => ' ',
                })
                .collect();
            Para::new(shades, Role::Accent)
        })
        .collect();
    if low <= high {
        let scale = format!(
            "{} {} {} {}",
            shade(0.0),
            short(low),
            shade(1.0),
            short(high)
        );
        out.push(Para::new(scale, Role::Dim));
    }
    out
}
