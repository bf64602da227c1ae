//! Bars, one a row: bar charts, histograms, shares, and the shades of a heat map.

use serde_json::Value;

use super::super::flow::Para;
use super::super::text;
use super::super::theme::Role;
use super::marks::{bar as mark, shade};
use super::{Room, fitted, label, list, name, number, short};

/// Bars that a histogram is cut into.
const BINS: usize = 10;

pub fn bar(trace: &Value, room: Room) -> Vec<Para> {
    let lying = trace.get("orientation").and_then(Value::as_str) == Some("h");
    let (names, sizes) = if lying { ("y", "x") } else { ("x", "y") };
    let names = list(trace, names);
    let rows: Vec<(String, f64)> = list(trace, sizes)
        .iter()
        .enumerate()
        .filter_map(|(i, size)| {
            let name = names.get(i).map_or_else(|| i.to_string(), |n| label(n));
            Some((name, number(size)?))
        })
        .collect();
    drawn(trace, rows, room)
}

pub fn pie(trace: &Value, room: Room) -> Vec<Para> {
    let names = list(trace, "labels");
    let rows = list(trace, "values")
        .iter()
        .enumerate()
        .filter_map(|(i, size)| {
            let name = names.get(i).map_or_else(|| i.to_string(), |n| label(n));
            Some((name, number(size)?))
        })
        .collect();
    drawn(trace, rows, room)
}

/// Counts, by equal ranges of numbers or by text.
pub fn histogram(trace: &Value, room: Room) -> Vec<Para> {
    let key = if trace.get("x").is_some() { "x" } else { "y" };
    let values = list(trace, key);
    let numbers: Vec<f64> = values.iter().filter_map(|v| number(v)).collect();
    let mut rows: Vec<(String, f64)> = Vec::new();
    if numbers.is_empty() {
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
        return drawn(trace, rows, room);
    }
    let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let bins = if high > low {
        BINS.min(room.rows.max(1))
    } else {
        1
    };
    let step = (high - low) / bins as f64;
    let mut counts = vec![0.0; bins];
    for n in numbers {
        let at = if step > 0.0 {
            ((n - low) / step) as usize
        } else {
            0
        };
        counts[at.min(bins - 1)] += 1.0;
    }
    for (i, count) in counts.into_iter().enumerate() {
        let from = low + step * i as f64;
        rows.push((format!("{} –", short(from)), count));
    }
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
