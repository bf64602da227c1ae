//! Draws a chart as a picture: points, lines, bars, histograms, pies and heat maps. The picture names what is
//! not drawn.

use std::collections::BTreeMap;

use serde_json::Value;

use super::canvas::{Anchor, Canvas, Colour, DIM, INK, TextStyle, WHITE};
use super::panel::{self, Area};
use super::{cut, kind, label, list, name, number, short, sizes, title, traces};

/// Size of the picture in pixels.
pub const WIDE: usize = 960;
pub const HIGH: usize = 600;

/// Most traces of one chart.
const TRACES: usize = 24;
/// Most points of all traces of one chart together.
const POINTS: usize = 6000;
/// Most panels of one chart: pairs of axes, pies, heat maps.
const PANELS: usize = 6;
/// Most lines of a pie's legend.
const PIECES: usize = 20;
/// Most rows and most columns of a heat map.
const CELLS: usize = 200;

/// Colours that people with red-green colour blindness can also distinguish (Okabe and Ito, 2008).
pub const COLOURS: [Colour; 7] = [
    [0, 114, 178],
    [213, 94, 0],
    [0, 158, 115],
    [204, 121, 167],
    [230, 159, 0],
    [86, 180, 233],
    [0, 0, 0],
];

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
#[error("the picture could not be encoded: {0}")]
pub struct Undrawn(#[from] png::EncodingError);

enum Panel<'a> {
    Axes(Vec<(usize, &'a Value)>),
    Pie(&'a Value),
    Heat(&'a Value),
}

/// Draws the chart as PNG of [`WIDE`] by [`HIGH`] pixels.
///
/// # Errors
/// Those of the encoder.
pub fn draw(chart: &Value) -> Result<Vec<u8>, Undrawn> {
    let mut canvas = Canvas::new(WIDE, HIGH);
    let (panels, notes) = panels(chart);
    let middle = WIDE as f64 / 2.0;
    let heading = cut(title(chart).unwrap_or("chart"), WIDE / 10);
    canvas.text(middle, 20.0, heading, Anchor::Middle, TextStyle::Title, INK);
    let bottom = HIGH as f64 - 8.0 - 16.0 * notes.len() as f64;
    for (i, note) in notes.iter().enumerate() {
        let y = bottom + 12.0 + 16.0 * i as f64;
        canvas.text(middle, y, note, Anchor::Middle, TextStyle::Plain, DIM);
    }
    let columns = match panels.len() {
        0 | 1 => 1,
        2..=4 => 2,
        _ => 3,
    };
    let rows = panels.len().div_ceil(columns).max(1);
    let (wide, high) = (WIDE as f64 / columns as f64, (bottom - 40.0) / rows as f64);
    for (i, panel) in panels.iter().enumerate() {
        let area = Area {
            x: wide * (i % columns) as f64,
            y: 40.0 + high * (i / columns) as f64,
            wide,
            high,
        };
        match panel {
            Panel::Axes(traces) => panel::axes(&mut canvas, &area, chart, traces, POINTS),
            Panel::Pie(trace) => pie(&mut canvas, &area, trace),
            Panel::Heat(trace) => heat(&mut canvas, &area, trace),
        }
    }
    if panels.is_empty() && notes.is_empty() {
        canvas.text(
            middle,
            80.0,
            "no data",
            Anchor::Middle,
            TextStyle::Plain,
            DIM,
        );
    }
    Ok(canvas.png()?)
}

/// The panels, and notes about what is not drawn.
fn panels(chart: &Value) -> (Vec<Panel<'_>>, Vec<String>) {
    let all = traces(chart);
    let mut panels: Vec<Panel<'_>> = Vec::new();
    let mut axes: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut undrawn: BTreeMap<&str, usize> = BTreeMap::new();
    let mut over = all.len().saturating_sub(TRACES);
    for (i, trace) in all.iter().take(TRACES).enumerate() {
        let panel = match kind(trace) {
            "scatter" | "scattergl" | "bar" | "histogram" => {
                let axis = |key, usual| trace.get(key).and_then(Value::as_str).unwrap_or(usual);
                let key = (axis("xaxis", "x"), axis("yaxis", "y"));
                if let Some(Panel::Axes(traces)) = axes.get(&key).and_then(|at| panels.get_mut(*at))
                {
                    traces.push((i, trace));
                    continue;
                }
                axes.insert(key, panels.len());
                Panel::Axes(vec![(i, trace)])
            }
            "pie" => Panel::Pie(trace),
            "heatmap" => Panel::Heat(trace),
            other => {
                *undrawn.entry(cut(other, 40)).or_default() += 1;
                continue;
            }
        };
        panels.push(panel);
    }
    for panel in panels.drain(panels.len().min(PANELS)..) {
        over += if let Panel::Axes(traces) = panel {
            traces.len()
        } else {
            1
        };
    }
    let mut notes: Vec<String> = undrawn
        .into_iter()
        .take(3)
        .map(|(kind, count)| match count {
            1 => format!("a trace of type {kind} is not drawn"),
            n => format!("{n} traces of type {kind} are not drawn"),
        })
        .collect();
    if over > 0 {
        notes.push(format!("{over} more traces are not drawn"));
    }
    (panels, notes)
}

fn pie(canvas: &mut Canvas, area: &Area, trace: &Value) {
    let pieces: Vec<(String, f64)> = sizes(trace, "labels", "values", POINTS)
        .into_iter()
        .filter(|(_, size)| *size > 0.0)
        .collect();
    let most = pieces.iter().map(|(_, size)| *size).fold(0.0, f64::max);
    // Sum fractions of the largest, so that huge numbers do not overflow.
    let whole: f64 = pieces.iter().map(|(_, size)| size / most).sum();
    if pieces.is_empty() {
        return panel::nothing(canvas, area);
    }
    let radius = (area.high / 2.0 - 12.0).min(area.wide / 4.0).max(1.0);
    let middle = (area.x + radius + 24.0, area.y + area.high / 2.0);
    let mut from = 0.0;
    for (i, (_, size)) in pieces.iter().enumerate() {
        let to = from + size / most / whole;
        // The last piece closes the circle despite rounding errors.
        let end = if i + 1 == pieces.len() { 2.0 } else { to };
        canvas.wedge(middle, radius, from, end, COLOURS[i % COLOURS.len()]);
        from = to;
    }
    if let Some(hole) = trace.get("hole").and_then(number) {
        let hole = hole.clamp(0.0, 0.95) * radius;
        canvas.disc(middle.0, middle.1, hole, WHITE);
    }
    let x = middle.0 + radius + 24.0;
    let room = ((area.x + area.wide - x) / TextStyle::Plain.pitch()) as usize;
    let lines = PIECES.min((area.high / 18.0) as usize).max(1);
    let top = middle.1 - 9.0 * pieces.len().min(lines) as f64;
    for (i, (name, size)) in pieces.iter().take(lines).enumerate() {
        let y = top + 18.0 * i as f64 + 9.0;
        canvas.rect(x, y - 5.0, 10.0, 10.0, COLOURS[i % COLOURS.len()]);
        let share = size / most / whole * 100.0;
        let numbers = format!("  {}  {share:.1} %", short(*size));
        let name = cut(name, room.saturating_sub(numbers.len() + 3));
        let line = format!("{name}{numbers}");
        canvas.text(x + 16.0, y, &line, Anchor::Start, TextStyle::Plain, INK);
    }
    if pieces.len() > lines {
        let more = format!("and {} more", pieces.len() - lines);
        let y = top + 18.0 * lines as f64 + 9.0;
        canvas.text(x + 16.0, y, &more, Anchor::Start, TextStyle::Plain, DIM);
    }
}

/// Draws a heat map with the first row at the bottom, as plotly does.
fn heat(canvas: &mut Canvas, area: &Area, trace: &Value) {
    let z: Vec<Vec<Option<f64>>> = list(trace, "z", CELLS)
        .iter()
        .filter_map(|row| row.as_array())
        .map(|row| {
            let step = row.len().div_ceil(CELLS).max(1);
            row.iter().step_by(step).map(number).collect()
        })
        .collect();
    let ends = super::span(z.iter().flatten().flatten().copied());
    let columns = z.iter().map(Vec::len).max().unwrap_or(0);
    let Some((low, high)) = ends else {
        return panel::nothing(canvas, area);
    };
    let inner = area.inner();
    let (wide, tall) = (inner.wide / columns as f64, inner.high / z.len() as f64);
    for (row, cells) in z.iter().enumerate() {
        for (column, cell) in cells.iter().enumerate() {
            let Some(n) = cell else { continue };
            let share = if high > low {
                (n / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0)
            } else {
                1.0
            };
            let x = inner.x + wide * column as f64;
            let y = inner.y + inner.high - tall * (row + 1) as f64;
            canvas.rect(x, y, wide, tall, shade(share));
        }
    }
    let names = |key: &str, count: usize, about: usize| -> Vec<(f64, String)> {
        let names = list(trace, key, CELLS);
        let step = count.div_ceil(about).max(1);
        (0..count)
            .step_by(step)
            .map(|i| {
                let name = names.get(i).map_or_else(|| i.to_string(), |n| label(n));
                ((i as f64 + 0.5) / count as f64, name)
            })
            .collect()
    };
    for (share, text) in names("x", columns, 8) {
        inner.below(canvas, inner.x + inner.wide * share, &text);
    }
    for (share, text) in names("y", z.len(), 10) {
        inner.beside(canvas, inner.y + inner.high * (1.0 - share), &text);
    }
    let mut said = format!("{} to {}", short(low), short(high));
    if let Some(name) = name(trace) {
        said = format!("{}: {said}", cut(name, 60));
    }
    inner.above(canvas, &said);
}

fn shade(share: f64) -> Colour {
    let (pale, deep) = ([235.0, 243.0, 250.0], [8.0, 64.0, 129.0]);
    let share = share.clamp(0.0, 1.0);
    std::array::from_fn(|i| (pale[i] + (deep[i] - pale[i]) * share) as u8)
}
