//! A sketch of a chart in text: enough to see its shape beside the code that made it. The whole
//! chart is in the outcome.
//!
//! The chart is the child's word. It is read as JSON, every number and list in it is bounded, and
//! its texts are paragraphs like any other: drawing makes them safe.

mod bars;
mod marks;
mod plot;

use serde_json::Value;

use super::flow::Para;
use super::text;
use super::theme::Role;

/// Charts of one result that are sketched.
const CHARTS: usize = 4;
/// Traces of one chart that are sketched.
const TRACES: usize = 8;
/// Points of one trace that are looked at; of more, every second, third, … one.
const POINTS: usize = 1000;
/// Columns of a title or name; of more, the beginning.
const WORDS: usize = 200;

/// Traces are told apart by colour where there is one.
const ROLES: [Role; 4] = [Role::Accent, Role::Number, Role::Str, Role::Keyword];

/// The room for one chart, in columns and rows.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    pub columns: usize,
    pub rows: usize,
}

/// The charts of a run's result, or nothing.
pub fn sketch(result: &Value, room: Room) -> Vec<Para> {
    let charts: Vec<&Value> = match result.get("chart") {
        Some(Value::Array(list)) => list.iter().collect(),
        Some(chart @ Value::Object(_)) => vec![chart],
        _ => Vec::new(),
    };
    let mut out = Vec::new();
    for chart in charts.iter().take(CHARTS) {
        out.extend(one(chart, room));
    }
    if charts.len() > CHARTS {
        let more = format!("and {} more charts", charts.len() - CHARTS);
        out.push(Para::new(more, Role::Dim));
    }
    out
}

fn one(chart: &Value, room: Room) -> Vec<Para> {
    let none = Vec::new();
    let traces = match chart.get("data") {
        Some(Value::Array(list)) => list,
        _ => &none,
    };
    let mut out = vec![Para::new(title(chart), Role::Strong)];
    let kind = |trace: &Value| {
        let named = trace.get("type").and_then(Value::as_str);
        named.unwrap_or("scatter").to_owned()
    };
    let mut points = Vec::new();
    for trace in traces.iter().take(TRACES) {
        match kind(trace).as_str() {
            "scatter" | "scattergl" => points.push(trace),
            "bar" | "waterfall" | "funnel" => out.extend(bars::bar(trace, room)),
            "histogram" => out.extend(bars::histogram(trace, room)),
            "pie" | "funnelarea" => out.extend(bars::pie(trace, room)),
            "heatmap" => out.extend(bars::heatmap(trace, room)),
            other => out.push(Para::new(
                format!(
                    "a trace of type {} is not sketched",
                    text::cut(other, WORDS)
                ),
                Role::Dim,
            )),
        }
    }
    if !points.is_empty() {
        out.extend(plot::plot(&points, room));
    }
    if traces.len() > TRACES {
        let more = format!("and {} more traces", traces.len() - TRACES);
        out.push(Para::new(more, Role::Dim));
    }
    if out.len() == 1 {
        out.push(Para::new("no data", Role::Dim));
    }
    out
}

fn title(chart: &Value) -> String {
    let title = chart.pointer("/layout/title");
    let text = title.and_then(|t| t.get("text")).or(title);
    match text.and_then(Value::as_str) {
        Some(text) if !text.is_empty() => text::cut(text, WORDS).to_owned(),
        _ => "chart".to_owned(),
    }
}

fn name(trace: &Value) -> Option<&str> {
    let name = trace.get("name").and_then(Value::as_str);
    name.filter(|name| !name.is_empty())
        .map(|name| text::cut(name, WORDS))
}

/// A list of the trace, thinned to what a sketch can use.
fn list<'a>(trace: &'a Value, key: &str) -> Vec<&'a Value> {
    let Some(Value::Array(all)) = trace.get(key) else {
        return Vec::new();
    };
    let step = all.len().div_ceil(POINTS).max(1);
    all.iter().step_by(step).collect()
}

/// A number, also where it is written as text.
fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(n) => n.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    number.filter(|n| n.is_finite())
}

/// What stands beside a mark.
fn label(value: &Value) -> String {
    match value {
        Value::String(text) => text::cut(text, WORDS).to_owned(),
        Value::Number(n) => n.as_f64().map_or_else(|| n.to_string(), short),
        Value::Bool(b) => b.to_string(),
        Value::Null => "–".to_owned(),
        Value::Array(_) | Value::Object(_) => "…".to_owned(),
    }
}

/// Four significant digits, without a tail of zeros.
fn short(n: f64) -> String {
    let size = n.abs();
    if n == 0.0 {
        return "0".to_owned();
    }
    if !(1e-3..1e7).contains(&size) {
        return format!("{n:.2e}");
    }
    let before = size.log10().floor() as i32 + 1;
    let digits = usize::try_from(4 - before).unwrap_or(0);
    let text = format!("{n:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// The text in exactly so many columns, cut or filled up.
fn fitted(raw: &str, columns: usize) -> String {
    let mut text = if text::width(raw) > columns {
        let head = text::cut(raw, columns.saturating_sub(1));
        format!("{head}…")
    } else {
        raw.to_owned()
    };
    let wide = text::width(&text);
    text.extend(std::iter::repeat_n(' ', columns.saturating_sub(wide)));
    text
}

#[cfg(test)]
mod tests;
