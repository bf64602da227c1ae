//! A sketch of a chart in text: enough to see its shape beside the code that made it. The whole
//! chart is in the outcome.
//!
//! The chart is the child's word. It is read as JSON, every number and list in it is bounded, and
//! its texts are paragraphs like any other: drawing makes them safe.

mod bars;
mod marks;
mod plot;

use serde_json::Value;

use crate::chart;

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
const WORDS: usize = chart::WORDS;

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
    let charts = chart::charts(result);
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
    let traces = chart::traces(chart);
    let mut out = vec![Para::new(title(chart), Role::Strong)];
    let mut points = Vec::new();
    for trace in traces.iter().take(TRACES) {
        match chart::kind(trace) {
            "scatter" | "scattergl" => points.push(trace),
            "bar" | "waterfall" | "funnel" => out.extend(bars::bar(chart, trace, room)),
            "histogram" => out.extend(bars::histogram(chart, trace, room)),
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
        out.extend(plot::plot(chart, &points, room));
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
    let title = chart::title(chart).unwrap_or("chart");
    text::cut(title, WORDS).to_owned()
}

fn name(trace: &Value) -> Option<&str> {
    chart::name(trace).map(|name| text::cut(name, WORDS))
}

/// A list of the trace, thinned to what a sketch can use.
fn list<'a>(trace: &'a Value, key: &str) -> Vec<&'a Value> {
    chart::list(trace, key, POINTS)
}

/// What stands beside a mark.
fn label(value: &Value) -> String {
    text::cut(&chart::label(value), WORDS).to_owned()
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
