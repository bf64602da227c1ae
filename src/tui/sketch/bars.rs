//! Bars, one a row: bar charts, histograms, shares, and the shades of a heat map.

use serde_json::Value;

use crate::chart::{self, Bins, number, short};

use super::super::flow::Para;
use super::super::text;
use super::super::theme::Role;
use super::marks::{bar as mark, shade};
use super::{POINTS, Room, fitted, list, name};

/// Bars that a histogram is cut into.
const BINS: usize = 10;

pub fn bar(trace: &Value, room: Room) -> Vec<Para> {
    let rows = if chart::lies(trace) {
        chart::sizes(trace, "y", "x", POINTS)
    } else {
        chart::sizes(trace, "x", "y", POINTS)
    };
    drawn(trace, rows, room)
}

pub fn pie(trace: &Value, room: Room) -> Vec<Para> {
    drawn(trace, chart::sizes(trace, "labels", "values", POINTS), room)
}

/// Counts, by equal ranges of numbers or by text.
pub fn histogram(trace: &Value, room: Room) -> Vec<Para> {
    let rows = match chart::bins(trace, POINTS, |_| BINS.min(room.rows)) {
        Bins::Names(rows) => rows,
        Bins::Ranges { low, step, counts } => counts
            .into_iter()
            .enumerate()
            .map(|(i, count)| (format!("{} –", short(low + step * i as f64)), count))
            .collect(),
    };
    drawn(trace, rows, room)
}

fn drawn(trace: &Value, rows: Vec<(String, f64)>, room: Room) -> Vec<Para> {
    let mut out: Vec<Para> = name(trace)
        .map(|name| Para::new(name, Role::Dim))
        .into_iter()
        .collect();
    let shown = &rows[..rows.len().min(room.rows)];
    let names = shown.iter().map(|(name, _)| text::width(name)).max();
    let names = names.unwrap_or(0).min(room.columns / 3);
    let sizes: Vec<String> = shown.iter().map(|(_, size)| short(*size)).collect();
    let digits = sizes.iter().map(String::len).max().unwrap_or(0);
    let long = room.columns.saturating_sub(names + digits + 2).max(1);
    let most = shown.iter().map(|(_, n)| n.abs()).fold(0.0, f64::max);
    for ((name, size), digits_of) in shown.iter().zip(&sizes) {
        let share = if most > 0.0 { size.abs() / most } else { 0.0 };
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
    out
}

/// Each row of `z` as one of shades, the first row at the bottom as plotly has it.
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
