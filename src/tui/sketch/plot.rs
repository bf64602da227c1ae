//! Points and lines in braille, with the ends of both axes.

use serde_json::Value;

use crate::chart::{Axis, Trace, moment, short, span};

use super::super::flow::Para;
use super::super::text;
use super::super::theme::Role;
use super::marks::Dots;
use super::{POINTS, ROLES, Room, fitted, label, list, name};

pub fn plot(traces: &[&Value], room: Room) -> Vec<Para> {
    let xs: Vec<&Value> = traces.iter().flat_map(|t| list(t, "x")).collect();
    let axis = Axis::of(&xs);
    let read: Vec<Trace> = traces
        .iter()
        .map(|trace| Trace::of(trace, "x", "y", &axis, POINTS))
        .collect();
    let all = || read.iter().flat_map(|t| t.points.iter().flatten().copied());
    let Some(x) = span(all().map(|(x, _)| x)) else {
        return vec![Para::new("no points", Role::Dim)];
    };
    let Some(y) = span(all().map(|(_, y)| y)) else {
        return Vec::new();
    };
    let (top, bottom) = (short(y.1), short(y.0));
    let gutter = text::width(&top).max(text::width(&bottom));
    let columns = room.columns.saturating_sub(gutter + 1).max(2);
    let rows = room.rows.saturating_sub(2).max(2);
    let mut dots = Dots::new(columns, rows);
    for (i, trace) in read.iter().enumerate() {
        draw(&mut dots, trace, i, x, y);
    }
    let mut out: Vec<Para> = (0..rows)
        .map(|row| {
            let side = match row {
                0 => top.as_str(),
                r if r == rows - 1 => bottom.as_str(),
                _ => "",
            };
            let pad = " ".repeat(gutter - text::width(side));
            let mut para = Para::new(format!("{pad}{side}│"), Role::Dim);
            for (marks, trace) in dots.row(row) {
                para = para.and(marks, ROLES[trace % ROLES.len()]);
            }
            para
        })
        .collect();
    out.push(Para::new(
        format!("{}└{}", " ".repeat(gutter), "─".repeat(columns)),
        Role::Dim,
    ));
    out.push(ends(traces, &axis, x, gutter + 1, columns));
    let named: Vec<(usize, &str)> = traces
        .iter()
        .enumerate()
        .filter_map(|(i, t)| Some((i, name(t)?)))
        .collect();
    if !named.is_empty() {
        let mut para = Para::default();
        for (i, name) in named {
            para = para.and(format!("━ {name}  "), ROLES[i % ROLES.len()]);
        }
        out.push(para);
    }
    out
}

fn draw(dots: &mut Dots, trace: &Trace, index: usize, x: (f64, f64), y: (f64, f64)) {
    let (wide, high) = (dots.wide(), dots.high());
    let scale = |n: f64, (low, up): (f64, f64), most: usize| {
        // Halved, so that the distance of the two largest numbers is still a number.
        let whole = up / 2.0 - low / 2.0;
        let share = if whole > 0.0 {
            (n / 2.0 - low / 2.0) / whole
        } else {
            0.5
        };
        ((share * (most - 1) as f64).round() as usize).min(most - 1)
    };
    let mut last = None;
    for point in &trace.points {
        let Some((px, py)) = point else {
            last = None;
            continue;
        };
        let at = (scale(*px, x, wide), high - 1 - scale(*py, y, high));
        match last.filter(|_| trace.joined) {
            Some(from) => dots.line(from, at, index),
            None => dots.set(at.0, at.1, index),
        }
        last = Some(at);
    }
}

/// The first and the last position, under the ends of the axis.
fn ends(traces: &[&Value], axis: &Axis, x: (f64, f64), indent: usize, columns: usize) -> Para {
    let (first, last) = match axis {
        Axis::Numbers => (short(x.0), short(x.1)),
        Axis::Times => (when(traces, x.0), when(traces, x.1)),
        Axis::Names(names) => (
            names.first().cloned().unwrap_or_default(),
            names.last().cloned().unwrap_or_default(),
        ),
    };
    let right = columns / 2;
    let last = text::cut(&last, right).to_owned();
    let left = columns - text::width(&last);
    Para::new(format!("{}{last}", fitted(&first, left)), Role::Dim).indent(indent)
}

/// The text of the moment that lies there.
fn when(traces: &[&Value], at: f64) -> String {
    let mut xs = traces.iter().flat_map(|t| list(t, "x"));
    let found = xs.find(|x| moment(x) == Some(at));
    let text = found.map(label).unwrap_or_default();
    text.strip_suffix("T00:00:00").unwrap_or(&text).to_owned()
}
