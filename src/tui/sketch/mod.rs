//! A sketch of a chart in text, to show its shape beside the code that made it. The outcome has the
//! whole chart.
//!
//! The chart comes from the untrusted child. It is read as JSON with limits on every number and
//! list, and its texts are paragraphs like any other, which drawing sanitises.

mod bars;
pub mod marks;
mod plot;

use serde_json::Value;

use crate::chart;

use super::flow::Para;
use super::text;
use super::theme::Role;

/// The most charts of one result to sketch.
const CHARTS: usize = 4;
/// The most traces of one chart to sketch.
const TRACES: usize = 8;
/// The most points of one trace to read; longer traces are thinned to every second, third, … point.
const POINTS: usize = 1000;
/// The most columns of a title or name; longer text is cut.
const WORDS: usize = chart::WORDS;

/// Colours distinguish the traces if the terminal has any.
const ROLES: [Role; 4] = [Role::Accent, Role::Number, Role::Str, Role::Keyword];

/// The space for one chart.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    pub columns: usize,
    pub rows: usize,
}

/// Sketches the charts in a run's result, if any.
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

/// A list of the trace, thinned to the number of points a sketch can use.
fn list<'a>(trace: &'a Value, key: &str) -> Vec<&'a Value> {
    chart::list(trace, key, POINTS)
}

/// The text beside a mark.
fn label(value: &Value) -> String {
    text::cut(&chart::label(value), WORDS).to_owned()
}

/// The text in exactly this many columns, cut or padded.
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
