//! Charts of snippets: JSON in plotly's format, read within bounds and drawn as pictures.
//!
//! The JSON comes from the child and is not trusted: lists are thinned, texts are cut, values that are not
//! finite numbers are left out, and no length or size in the JSON is relied upon.

mod axis;
mod canvas;
mod panel;
mod picture;
mod points;

pub use axis::decades;
pub use picture::{HIGH, Undrawn, WIDE, draw};
pub use points::{Axis, Bins, Trace, bins, moment, span};

use serde_json::Value;

/// Longest title or name in characters; longer ones are cut.
pub const WORDS: usize = 200;

/// The charts in a run's result.
pub fn charts(result: &Value) -> Vec<&Value> {
    match result.get("chart") {
        Some(Value::Array(list)) => list.iter().collect(),
        Some(chart @ Value::Object(_)) => vec![chart],
        _ => Vec::new(),
    }
}

pub fn traces(chart: &Value) -> &[Value] {
    match chart.get("data") {
        Some(Value::Array(list)) => list,
        _ => &[],
    }
}

/// The type of a trace; `scatter` by default, as in plotly.
pub fn kind(trace: &Value) -> &str {
    let named = trace.get("type").and_then(Value::as_str);
    named.unwrap_or("scatter")
}

/// The layout of a trace's axis, where `usual` is `x` or `y`: an axis named `x2` is laid out by `xaxis2`.
pub fn layout<'a>(chart: &'a Value, trace: &Value, usual: &str) -> Option<&'a Value> {
    let named = trace.get(format!("{usual}axis")).and_then(Value::as_str);
    let number = named.and_then(|name| name.get(1..)).unwrap_or("");
    chart.pointer(&format!("/layout/{usual}axis{number}"))
}

/// Whether the axis is logarithmic.
pub fn is_log(chart: &Value, trace: &Value, usual: &str) -> bool {
    let kind = layout(chart, trace, usual).and_then(|axis| axis.get("type"));
    kind.and_then(Value::as_str) == Some("log")
}

/// A note about values that a logarithmic axis cannot show; `None` if there are none.
pub fn left_out(count: usize) -> Option<String> {
    let s = if count == 1 { "" } else { "s" };
    (count > 0).then(|| format!("log axis: {count} value{s} of 0 or less left out"))
}

pub fn title(chart: &Value) -> Option<&str> {
    words(chart.pointer("/layout/title"))
}

/// A title given as a string or as an object with `text`.
pub fn words(title: Option<&Value>) -> Option<&str> {
    let text = title.and_then(|t| t.get("text")).or(title);
    text.and_then(Value::as_str)
        .filter(|text| !text.is_empty())
        .map(|text| cut(text, WORDS))
}

pub fn name(trace: &Value) -> Option<&str> {
    words(trace.get("name"))
}

/// A list of the trace, thinned to at most `most` values.
pub fn list<'a>(trace: &'a Value, key: &str, most: usize) -> Vec<&'a Value> {
    let Some(Value::Array(all)) = trace.get(key) else {
        return Vec::new();
    };
    let step = all.len().div_ceil(most.max(1)).max(1);
    all.iter().step_by(step).collect()
}

/// A finite number, also one that is written as text.
pub fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Number(n) => n.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    number.filter(|n| n.is_finite())
}

/// The label of a value.
pub fn label(value: &Value) -> String {
    match value {
        Value::String(text) => cut(text, WORDS).to_owned(),
        Value::Number(n) => n.as_f64().map_or_else(|| n.to_string(), short),
        Value::Bool(b) => b.to_string(),
        Value::Null => "–".to_owned(),
        Value::Array(_) | Value::Object(_) => "…".to_owned(),
    }
}

/// Names and sizes of a bar or pie trace; entries without a size are left out.
pub fn sizes(trace: &Value, names: &str, sizes: &str, most: usize) -> Vec<(String, f64)> {
    let names = list(trace, names, most);
    list(trace, sizes, most)
        .iter()
        .enumerate()
        .filter_map(|(i, size)| {
            let name = names.get(i).map_or_else(|| i.to_string(), |n| label(n));
            Some((name, number(size)?))
        })
        .collect()
}

/// Whether bars are horizontal: names along `y`, sizes along `x`.
pub fn lies(trace: &Value) -> bool {
    trace.get("orientation").and_then(Value::as_str) == Some("h")
}

/// A number with four significant digits, without trailing zeros.
pub fn short(n: f64) -> String {
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

/// The first `most` characters.
pub fn cut(text: &str, most: usize) -> &str {
    text.char_indices()
        .nth(most)
        .map_or(text, |(at, _)| &text[..at])
}

#[cfg(test)]
pub mod samples;
#[cfg(test)]
mod tests;
