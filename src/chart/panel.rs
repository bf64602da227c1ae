//! Draws one pair of axes with points, lines and bars.

use std::collections::BTreeMap;

use serde_json::Value;

use super::axis::Scale;
use super::canvas::{Anchor, Canvas, DIM, INK, RULE, TextStyle};
use super::picture::COLOURS;
use super::points::{Axis, Bins, Trace, bins, span};
use super::{cut, is_log, kind, layout, left_out, lies, list, name, words};

/// A rectangle of the picture, in pixels.
pub struct Area {
    pub x: f64,
    pub y: f64,
    pub wide: f64,
    pub high: f64,
}

impl Area {
    /// The area without titles and marks.
    pub fn inner(&self) -> Self {
        Self {
            x: self.x + 84.0,
            y: self.y + 26.0,
            wide: (self.wide - 108.0).max(10.0),
            high: (self.high - 76.0).max(10.0),
        }
    }

    pub fn below(&self, canvas: &mut Canvas, x: f64, text: &str) {
        let y = self.y + self.high + 12.0;
        canvas.text(x, y, cut(text, 16), Anchor::Middle, TextStyle::Plain, DIM);
    }

    pub fn beside(&self, canvas: &mut Canvas, y: f64, text: &str) {
        canvas.text(
            self.x - 6.0,
            y,
            cut(text, 10),
            Anchor::End,
            TextStyle::Plain,
            DIM,
        );
    }

    pub fn above(&self, canvas: &mut Canvas, text: &str) {
        let room = (self.wide / TextStyle::Plain.pitch()) as usize;
        let y = self.y - 14.0;
        canvas.text(
            self.x,
            y,
            cut(text, room),
            Anchor::Start,
            TextStyle::Plain,
            DIM,
        );
    }
}

pub fn nothing(canvas: &mut Canvas, area: &Area) {
    let (x, y) = (area.x + area.wide / 2.0, area.y + area.high / 2.0);
    canvas.text(x, y, "no data", Anchor::Middle, TextStyle::Plain, DIM);
}

/// A bar from one value to another around its position.
struct Bar {
    at: f64,
    wide: f64,
    from: f64,
    to: f64,
}

enum Shape {
    Points(Trace),
    Bars(Vec<Bar>),
}

/// Draws the traces, each given with its index in the chart. `points` limits the points of all traces together.
pub fn axes(
    canvas: &mut Canvas,
    area: &Area,
    chart: &Value,
    traces: &[(usize, &Value)],
    points: usize,
) {
    let most = (points / traces.len().max(1)).max(2);
    let lying = traces.iter().any(|(_, trace)| is_horizontal(trace));
    let (along, across) = if lying { ("y", "x") } else { ("x", "y") };
    let positions: Vec<&Value> = traces
        .iter()
        .filter(|(_, trace)| kind(trace) != "histogram" || has_names(trace, most))
        .flat_map(|(_, trace)| list(trace, along, most))
        .collect();
    let log = |key| traces.iter().any(|(_, trace)| is_log(chart, trace, key));
    let axis = Axis::of(&positions, log(along));
    let values = Axis::numbers(log(across));
    let (shapes, missing) = shapes(chart, traces, (along, &axis), (across, &values), most);
    let inner = area.inner();
    let note = left_out(missing);
    let say = |canvas: &mut Canvas| {
        if let Some(note) = &note {
            let (x, y) = (inner.x + inner.wide - 4.0, inner.y + 10.0);
            canvas.text(x, y, note, Anchor::End, TextStyle::Plain, DIM);
        }
    };
    let Some((place, value)) = ends(&shapes, &axis, &values) else {
        say(canvas);
        return nothing(canvas, area);
    };
    let (left, right) = (inner.x, inner.x + inner.wide);
    let (top, bottom) = (inner.y, inner.y + inner.high);
    let (place, value) = if lying {
        // The first name is at the top, as in a table.
        (
            Scale::new(place.0, place.1, top, bottom),
            Scale::new(value.0, value.1, left, right),
        )
    } else {
        (
            Scale::new(place.0, place.1, left, right),
            Scale::new(value.0, value.1, bottom, top),
        )
    };
    let (x, y) = if lying {
        ((value, &values), (place, &axis))
    } else {
        ((place, &axis), (value, &values))
    };
    marks(canvas, &inner, x, y);
    for ((i, _), shape) in traces.iter().zip(&shapes) {
        let colour = COLOURS[i % COLOURS.len()];
        let spot = |at: f64, n: f64| {
            let (at, n) = (place.at(at), value.at(n));
            if lying { (n, at) } else { (at, n) }
        };
        match shape {
            Shape::Bars(bars) => {
                for bar in bars {
                    let a = spot(bar.at - bar.wide / 2.0, bar.from);
                    let b = spot(bar.at + bar.wide / 2.0, bar.to);
                    let (x, y) = (a.0.min(b.0), a.1.min(b.1));
                    // A minimum size keeps very small bars visible.
                    let (wide, high) = ((a.0 - b.0).abs().max(0.5), (a.1 - b.1).abs().max(0.5));
                    canvas.rect(x, y, wide, high, colour);
                }
            }
            Shape::Points(trace) => {
                let mut last = None;
                for point in &trace.points {
                    let here = point.map(|(at, n)| spot(at, n));
                    if let Some(to) = here {
                        match last.filter(|_| trace.joined) {
                            Some(from) => canvas.line(from, to, 2.0, colour),
                            None if trace.joined && !trace.marked => {
                                canvas.disc(to.0, to.1, 1.0, colour);
                            }
                            None => {}
                        }
                        if trace.marked || !trace.joined {
                            canvas.disc(to.0, to.1, 3.0, colour);
                        }
                    }
                    last = here;
                }
            }
        }
    }
    say(canvas);
    titles(canvas, area, &inner, chart, traces);
}

fn is_horizontal(trace: &Value) -> bool {
    match kind(trace) {
        "bar" => lies(trace),
        "histogram" => trace.get("x").is_none(),
        _ => false,
    }
}

fn has_names(trace: &Value, most: usize) -> bool {
    matches!(bins(trace, false, most, |_| 1), Bins::Names(_))
}

/// The shapes, and the number of values that a logarithmic axis cannot show.
fn shapes(
    chart: &Value,
    traces: &[(usize, &Value)],
    (along, axis): (&str, &Axis),
    (across, values): (&str, &Axis),
    most: usize,
) -> (Vec<Shape>, usize) {
    let mode = chart.pointer("/layout/barmode").and_then(Value::as_str);
    let stacked = matches!(mode, Some("stack" | "relative"));
    let bars = traces.iter().filter(|(_, t)| kind(t) == "bar").count();
    let group = if stacked { 1 } else { bars.max(1) };
    let gap = gap(traces, axis, along, most);
    let wide = gap * 0.8 / group as f64;
    let mut place = 0;
    // The heights of the stacks at each position, upwards and downwards.
    let mut piled: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    let mut missing = 0;
    let shapes = traces
        .iter()
        .map(|(_, trace)| match kind(trace) {
            "bar" => {
                let shift = if stacked {
                    0.0
                } else {
                    wide * (f64::from(place) - (group - 1) as f64 / 2.0)
                };
                place += 1;
                // Stack raw values; take logarithms only afterwards.
                let read = Trace::of(trace, (along, axis), (across, &Axis::Numbers), most);
                missing += read.left_out;
                let bar = |(at, n): (f64, f64)| {
                    let pile = piled.entry(at.to_bits()).or_default();
                    let pile = if n < 0.0 { &mut pile.1 } else { &mut pile.0 };
                    let from = if stacked { *pile } else { 0.0 };
                    *pile = (*pile + n).clamp(f64::MIN, f64::MAX);
                    let to = if stacked { *pile } else { n };
                    let Some(to) = values.at(to) else {
                        missing += 1;
                        return None;
                    };
                    Some(Bar {
                        at: at + shift,
                        wide,
                        // On a logarithmic axis, bars begin below everything.
                        from: values.at(from).unwrap_or(f64::NEG_INFINITY),
                        to,
                    })
                };
                Shape::Bars(read.points.into_iter().flatten().filter_map(bar).collect())
            }
            "histogram" => {
                let (bars, left_out) = counted(trace, axis, values, most);
                missing += left_out;
                Shape::Bars(bars)
            }
            _ => {
                let read = Trace::of(trace, (along, axis), (across, values), most);
                missing += read.left_out;
                Shape::Points(read)
            }
        })
        .collect();
    (shapes, missing)
}

/// The smallest distance between two bars.
fn gap(traces: &[(usize, &Value)], axis: &Axis, along: &str, most: usize) -> f64 {
    let mut places: Vec<f64> = traces
        .iter()
        .filter(|(_, trace)| kind(trace) == "bar")
        .flat_map(|(_, trace)| list(trace, along, most))
        .filter_map(|x| axis.place(Some(x), 0))
        .collect();
    places.sort_by(f64::total_cmp);
    let gaps = places.windows(2).map(|two| two[1] - two[0]);
    let least = gaps.filter(|gap| *gap > 0.0).fold(f64::INFINITY, f64::min);
    if least.is_finite() { least } else { 1.0 }
}

/// The bars of a histogram, and the number of values that its axis cannot show.
fn counted(trace: &Value, axis: &Axis, values: &Axis, most: usize) -> (Vec<Bar>, usize) {
    let bar = |at, wide, to| {
        Some(Bar {
            at,
            wide,
            from: values.at(0.0).unwrap_or(f64::NEG_INFINITY),
            to: values.at(to)?,
        })
    };
    let log = matches!(axis, Axis::Powers);
    match bins(trace, log, most, |n| {
        (n as f64).sqrt().ceil().clamp(5.0, 40.0) as usize
    }) {
        Bins::Ranges {
            low,
            step,
            counts,
            left_out,
        } => {
            let middle = |i: usize| low + step * (i as f64 + 0.5);
            let all = counts.iter().enumerate();
            let bars = all.filter_map(|(i, count)| bar(middle(i), step * 0.96, *count));
            (bars.collect(), left_out)
        }
        Bins::Names(rows) => {
            let bars = rows.iter().filter_map(|(name, count)| {
                let place = axis.place(Some(&Value::from(name.as_str())), 0)?;
                bar(place, 0.8, *count)
            });
            (bars.collect(), 0)
        }
    }
}

/// The ranges of positions and values, with some margin.
fn ends(shapes: &[Shape], axis: &Axis, values_on: &Axis) -> Option<((f64, f64), (f64, f64))> {
    let mut places = Vec::new();
    let mut values = Vec::new();
    let mut bars = false;
    for shape in shapes {
        match shape {
            Shape::Points(trace) => {
                places.extend(trace.points.iter().flatten().map(|(x, _)| *x));
                values.extend(trace.points.iter().flatten().map(|(_, y)| *y));
            }
            Shape::Bars(all) => {
                bars |= !all.is_empty();
                places.extend(
                    all.iter()
                        .flat_map(|b| [b.at - b.wide / 2.0, b.at + b.wide / 2.0]),
                );
                values.extend(all.iter().flat_map(|b| [b.from, b.to]));
            }
        }
    }
    let finite = |n: &f64| n.is_finite();
    let (low, high) = span(values.into_iter().filter(finite))?;
    let room = (high / 2.0 - low / 2.0) * 0.1;
    let (bottom, top) = match values_on {
        // Begin a decade below the smallest bar, so that it is visible.
        Axis::Powers if bars => (low.ceil() - 1.0, high + room),
        Axis::Powers => (low - room, high + room),
        Axis::Numbers | Axis::Times | Axis::Names(_) => (
            if bars && low >= 0.0 { low } else { low - room },
            if bars && high <= 0.0 {
                high
            } else {
                high + room
            },
        ),
    };
    let place = match axis {
        Axis::Names(names) => (-0.5, names.len().max(1) as f64 - 0.5),
        Axis::Numbers | Axis::Powers | Axis::Times => {
            let (low, high) = span(places.into_iter().filter(finite))?;
            let room = (high / 2.0 - low / 2.0) * 0.04;
            (low - room, high + room)
        }
    };
    Some((place, (bottom, top)))
}

fn marks(canvas: &mut Canvas, inner: &Area, x: (Scale, &Axis), y: (Scale, &Axis)) {
    let (right, bottom) = (inner.x + inner.wide, inner.y + inner.high);
    for (value, text) in x.0.ticks(x.1, (inner.wide / 110.0).max(2.0) as usize) {
        let at = x.0.at(value);
        canvas.line((at, inner.y), (at, bottom), 1.0, RULE);
        inner.below(canvas, at, &text);
    }
    let about = match y.1 {
        Axis::Names(_) => inner.high / 16.0,
        Axis::Numbers | Axis::Powers | Axis::Times => inner.high / 50.0,
    };
    for (value, text) in y.0.ticks(y.1, about.max(2.0) as usize) {
        let at = y.0.at(value);
        canvas.line((inner.x, at), (right, at), 1.0, RULE);
        inner.beside(canvas, at, &text);
    }
    canvas.line((inner.x, bottom), (right, bottom), 1.0, DIM);
    canvas.line((inner.x, inner.y), (inner.x, bottom), 1.0, DIM);
}

/// Draws the axes' titles, and a legend of the traces' names.
fn titles(
    canvas: &mut Canvas,
    area: &Area,
    inner: &Area,
    chart: &Value,
    traces: &[(usize, &Value)],
) {
    let axis_title = |usual: &str| {
        let (_, trace) = traces.first()?;
        words(layout(chart, trace, usual)?.get("title"))
    };
    if let Some(text) = axis_title("x") {
        let room = (inner.wide / TextStyle::Plain.pitch()) as usize;
        let (x, y) = (inner.x + inner.wide / 2.0, area.y + area.high - 14.0);
        canvas.text(x, y, cut(text, room), Anchor::Middle, TextStyle::Plain, INK);
    }
    let mut x = inner.x;
    let y = inner.y - 14.0;
    if let Some(text) = axis_title("y") {
        let text = cut(text, 40);
        canvas.text(area.x + 8.0, y, text, Anchor::Start, TextStyle::Plain, INK);
        let end = area.x + 8.0 + TextStyle::Plain.pitch() * (text.chars().count() + 2) as f64;
        x = x.max(end);
    }
    for (i, trace) in traces {
        let Some(text) = name(trace) else { continue };
        let text = cut(text, 30);
        let next = x + 16.0 + TextStyle::Plain.pitch() * (text.chars().count() + 2) as f64;
        if next > area.x + area.wide {
            canvas.text(x, y, "...", Anchor::Start, TextStyle::Plain, DIM);
            break;
        }
        canvas.rect(x, y - 5.0, 10.0, 10.0, COLOURS[i % COLOURS.len()]);
        canvas.text(x + 14.0, y, text, Anchor::Start, TextStyle::Plain, INK);
        x = next;
    }
}
