//! Points and lines in braille, with labels at the ends of both axes.

use serde_json::Value;

use crate::chart::{Axis, Trace, decades, is_log, left_out, moment, short, span};

use super::super::flow::Para;
use super::super::text;
use super::super::theme::Role;
use super::marks::Dots;
use super::{POINTS, ROLES, Room, fitted, label, list, name};

pub fn plot(chart: &Value, traces: &[&Value], room: Room) -> Vec<Para> {
    let log = |key| traces.iter().any(|trace| is_log(chart, trace, key));
    let xs: Vec<&Value> = traces.iter().flat_map(|t| list(t, "x")).collect();
    let axis = Axis::of(&xs, log("x"));
    let values = Axis::numbers(log("y"));
    let read: Vec<Trace> = traces
        .iter()
        .map(|trace| Trace::of(trace, ("x", &axis), ("y", &values), POINTS))
        .collect();
    let missing = left_out(read.iter().map(|trace| trace.left_out).sum());
    let missing = missing.map(|said| Para::new(said, Role::Dim));
    let all = || read.iter().flat_map(|t| t.points.iter().flatten().copied());
    let ends = span(all().map(|(x, _)| x)).zip(span(all().map(|(_, y)| y)));
    let Some((x, y)) = ends else {
        let nothing = Para::new("no points", Role::Dim);
        return std::iter::once(nothing).chain(missing).collect();
    };
    let rows = room.rows.saturating_sub(2).max(2);
    let sides = sides(&values, y, rows);
    let gutter = sides
        .iter()
        .map(|side| text::width(side))
        .max()
        .unwrap_or(0);
    let columns = room.columns.saturating_sub(gutter + 1).max(2);
    let mut dots = Dots::new(columns, rows);
    for (i, trace) in read.iter().enumerate() {
        draw(&mut dots, trace, i, x, y);
    }
    let mut out: Vec<Para> = sides
        .iter()
        .enumerate()
        .map(|(row, side)| {
            let pad = " ".repeat(gutter - text::width(side));
            let mut para = Para::new(format!("{pad}{side}│"), Role::Dim);
            for (marks, trace) in dots.row(row) {
                para = para.and(marks, ROLES[trace % ROLES.len()]);
            }
            para
        })
        .collect();
    let (line, below) = foot(traces, &axis, x, columns);
    out.push(Para::new(
        format!("{}└{line}", " ".repeat(gutter)),
        Role::Dim,
    ));
    out.push(Para::new(below, Role::Dim).indent(gutter + 1));
    out.extend(missing);
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

/// Maps a number between `low` and `up` to one of the steps.
fn step(n: f64, (low, up): (f64, f64), most: usize) -> usize {
    // Halved, so that the difference of the two largest numbers stays finite.
    let whole = up / 2.0 - low / 2.0;
    let share = if whole > 0.0 {
        (n / 2.0 - low / 2.0) / whole
    } else {
        0.5
    };
    ((share * (most - 1) as f64).round() as usize).min(most - 1)
}

/// The labels beside each row: the axis ends, or the decades of a logarithmic axis.
fn sides(values: &Axis, y: (f64, f64), rows: usize) -> Vec<String> {
    let mut sides = vec![String::new(); rows];
    if matches!(values, Axis::Powers) {
        for (at, said) in decades(y.0, y.1, rows / 2) {
            sides[rows - 1 - step(at, y, rows)] = said;
        }
    } else {
        sides[rows - 1] = short(y.0);
        sides[0] = short(y.1);
    }
    sides
}

fn draw(dots: &mut Dots, trace: &Trace, index: usize, x: (f64, f64), y: (f64, f64)) {
    let (wide, high) = (dots.wide(), dots.high());
    let mut last = None;
    for point in &trace.points {
        let Some((px, py)) = point else {
            last = None;
            continue;
        };
        let at = (step(*px, x, wide), high - 1 - step(*py, y, high));
        match last.filter(|_| trace.joined) {
            Some(from) => dots.line(from, at, index),
            None => dots.set(at.0, at.1, index),
        }
        last = Some(at);
    }
}

/// The axis line and its labels: the first and last position, or the decades of a logarithmic axis.
fn foot(traces: &[&Value], axis: &Axis, x: (f64, f64), columns: usize) -> (String, String) {
    let (first, last) = match axis {
        Axis::Powers => return powers(x, columns),
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
    let below = format!("{}{last}", fitted(&first, left));
    ("─".repeat(columns), below)
}

/// A logarithmic axis with a mark at each decade whose label fits.
fn powers(x: (f64, f64), columns: usize) -> (String, String) {
    let mut line = vec!['─'; columns];
    let mut below = String::new();
    for (at, said) in decades(x.0, x.1, columns / 8) {
        let column = step(at, x, columns);
        // The last label ends where the axis ends.
        let from = column.min(columns.saturating_sub(said.len()));
        if below.is_empty() || from > below.len() {
            below.extend(std::iter::repeat_n(' ', from - below.len()));
            below.push_str(&said);
            line[column] = '┴';
        }
    }
    (line.into_iter().collect(), below)
}

/// The original text of the moment at this position.
fn when(traces: &[&Value], at: f64) -> String {
    let mut xs = traces.iter().flat_map(|t| list(t, "x"));
    let found = xs.find(|x| moment(x) == Some(at));
    let text = found.map(label).unwrap_or_default();
    text.strip_suffix("T00:00:00").unwrap_or(&text).to_owned()
}
