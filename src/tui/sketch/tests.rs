use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::chart::samples::any_value;
use crate::tui::bench::{Bench, Making, run};
use crate::tui::flow::Flow;
use crate::tui::snapshot_tests::SIZES;

const ROOM: Room = Room {
    columns: 40,
    rows: 8,
};

fn rows_of(result: &Value, room: Room) -> Vec<String> {
    let flow = Flow::new(&sketch(result, room), room.columns as u16);
    flow.rows
        .iter()
        .map(|row| {
            let text: String = row.spans.iter().map(|(t, _)| t.as_str()).collect();
            format!("{}{text}", " ".repeat(row.indent))
        })
        .collect()
}

/// Snapshots the screen after a run with these charts, at the promised sizes.
fn snap(name: &str, result: &Value) {
    for (columns, rows) in SIZES {
        let mut bench = Bench::new(columns, rows);
        bench.propose(Making::clear("result = {\"chart\": fig}\n"));
        let id = bench.start();
        let mut ended = run("mean 3\n");
        ended.result = result.clone();
        bench.end(id, ended);
        let text = bench.draw();
        insta::with_settings!({ snapshot_path => "../snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("{name}_{columns}x{rows}"), text);
        });
    }
}

#[test]
fn chart_bars() {
    snap(
        "chart_bars",
        &json!({"output": "mean 3\n", "chart": {
            "data": [{"type": "bar", "name": "rate", "x": ["north", "south", "a region with a long name", "west"],
                "y": [0.12, 0.31, -0.05, null]}],
            "layout": {"title": {"text": "Rate by region"}}}}),
    );
}

#[test]
fn chart_lines() {
    let days: Vec<String> = (1..=28)
        .map(|d| format!("2024-02-{d:02}T00:00:00"))
        .collect();
    let wave =
        |by: f64| -> Vec<f64> { (0..28).map(|i| (f64::from(i) / by).sin() * 40.0).collect() };
    snap(
        "chart_lines",
        &json!({"output": null, "chart": [{
            "data": [
                {"type": "scatter", "mode": "lines", "name": "T1", "x": days, "y": wave(4.0)},
                {"mode": "markers", "name": "T2 \u{1b}[31m", "x": days, "y": wave(9.0)}],
            "layout": {"title": "T1 trend"}}]}),
    );
}

#[test]
fn chart_log() {
    let x: Vec<f64> = (0..60).map(|i| 10f64.powf(f64::from(i) / 12.0)).collect();
    let y: Vec<f64> = x.iter().map(|x| 3.0 * x * x).collect();
    let log = json!({"type": "log"});
    snap(
        "chart_log",
        &json!({"output": null, "chart": [
            {"data": [{"mode": "lines", "name": "3x²", "x": x, "y": y}, {"name": "with a zero", "x": [1, 10, 100], "y": [0, 50, -3]}],
                "layout": {"title": "both axes", "xaxis": log, "yaxis": log}},
            {"data": [{"type": "bar", "x": ["a", "b", "c", "d"], "y": [1, 100, 10000, 0]}],
                "layout": {"title": "bars", "yaxis": log}}]}),
    );
}

#[test]
fn a_logarithmic_axis_is_drawn_as_one() {
    let log = json!({"type": "log"});
    // On a logarithmic axis, a tenth of the largest value is in the middle, not at the bottom.
    let rows_with = |layout: Value| {
        let chart = json!({"data": [{"mode": "markers", "y": [1, 10, 100]}], "layout": layout});
        rows_of(&json!({"chart": chart}), ROOM)
    };
    let rows = rows_with(json!({"yaxis": log}));
    assert_eq!(rows.len(), 9, "{rows:?}");
    assert!(rows[1].starts_with("100│"), "{rows:?}");
    assert!(rows[3].starts_with(" 10│") && rows[3].trim_end_matches('⠀').len() > " 10│".len());
    assert!(rows[6].starts_with("  1│"), "{rows:?}");
    assert!(
        rows_with(json!({}))
            .iter()
            .all(|row| !row.starts_with(" 10│"))
    );
    // On the x axis, values of zero or below have no position, and the sketch says so.
    let x = json!({"data": [{"x": [-1, 0, 1, 10, 1000], "y": [1, 2, 3, 4, 5]}], "layout": {"xaxis": log}});
    let rows = rows_of(&json!({"chart": x}), ROOM);
    assert!(
        rows[7].contains('┴') && rows[8].split_whitespace().eq(["1", "10", "100", "1000"]),
        "{rows:?}"
    );
    assert_eq!(rows[9], "log axis: 2 values of 0 or less left out");
    let second = json!({"data": [{"y": [1, 10, 100], "yaxis": "y2"}], "layout": {"yaxis2": log}});
    assert!(rows_of(&json!({"chart": second}), ROOM)[3].starts_with(" 10│"));
    let bars = json!({"data": [{"type": "bar", "x": ["a", "b", "c"], "y": [1, 10, -1]}], "layout": {"yaxis": log}});
    let rows = rows_of(&json!({"chart": bars}), ROOM);
    let long = |row: &str| row.matches('█').count();
    assert_eq!((long(&rows[1]), long(&rows[2])), (17, 35), "{rows:?}");
    assert_eq!(rows[3..], ["log axis: 1 value of 0 or less left out"]);
    let counted = json!({"data": [{"type": "histogram", "x": [1, 10, 10, 100, 0]}], "layout": {"xaxis": log}});
    let rows = rows_of(&json!({"chart": counted}), ROOM);
    assert!(
        rows[1].starts_with("1 – ") && rows[8].starts_with("56.2"),
        "{rows:?}"
    );
    assert_eq!(rows[9], "log axis: 1 value of 0 or less left out");
    let none = json!({"data": [{"y": [0, -1]}], "layout": {"yaxis": log}});
    assert_eq!(
        rows_of(&json!({"chart": none}), ROOM)[1..],
        ["no points", "log axis: 2 values of 0 or less left out"]
    );
}

#[test]
fn shapes_are_recognised() {
    let heat = json!({"chart": {"data": [{"type": "heatmap", "z": [[0, 1, 2], [2, null, 0]]}]}});
    assert_eq!(rows_of(&heat, ROOM), ["chart", "█ ·", "·▒█", "· 0 █ 2"]);
    let pie = json!({"chart": {"data": [{"type": "pie", "labels": ["a", "b"], "values": [1, 2]}]}});
    assert_eq!(
        rows_of(&pie, ROOM),
        [
            "chart".to_owned(),
            format!("a {} 1", "█".repeat(18)),
            format!("b {} 2", "█".repeat(36))
        ]
    );
    let counted = json!({"chart": {"data": [{"type": "histogram", "x": ["u", "v", "u"]}]}});
    assert!(rows_of(&counted, ROOM)[1].starts_with("u ████"));
    let lying =
        json!({"chart": {"data": [{"type": "bar", "orientation": "h", "x": [4], "y": ["k"]}]}});
    assert!(
        rows_of(&lying, ROOM)[1].starts_with("k █") && rows_of(&lying, ROOM)[1].ends_with(" 4")
    );
    let line = json!({"chart": {"data": [{"y": [0, 1, 2, 3]}]}});
    let rows = rows_of(&line, ROOM);
    assert_eq!(rows.len(), 9);
    assert!(
        rows[1].starts_with("3│") && rows[6].starts_with("0│⣀"),
        "{rows:?}"
    );
    assert!(
        rows[8].starts_with("  0") && rows[8].ends_with('3'),
        "{rows:?}"
    );
    let box_plot = json!({"chart": {"data": [{"type": "box", "y": [1]}]}});
    assert_eq!(
        rows_of(&box_plot, ROOM)[1],
        "a trace of type box is not sketched"
    );
    assert_eq!(
        rows_of(&json!({"chart": {"data": 5}}), ROOM),
        ["chart", "no data"]
    );
    assert!(sketch(&json!({"chart": null}), ROOM).is_empty());
    assert!(sketch(&Value::Null, ROOM).is_empty());
}

proptest! {
    #[test]
    fn no_chart_breaks_the_screen(
        kind in prop::sample::select(vec!["scatter", "bar", "histogram", "pie", "heatmap", "no such"]),
        x in any_value(), y in any_value(), z in prop::collection::vec(any_value(), 0..6),
        columns in 1_usize..60, rows in 1_usize..20,
        along in prop::sample::select(vec!["log", "-"]), across in prop::sample::select(vec!["log", "-"]),
    ) {
        let trace = json!({"type": kind, "x": x, "y": y, "z": z, "labels": x, "values": y, "name": "n"});
        let room = Room { columns, rows };
        let layout = json!({"xaxis": {"type": along}, "yaxis": {"type": across}});
        let count = rows_of(&json!({"chart": {"data": [trace], "layout": layout}}), room).len();
        prop_assert!(columns < 45 || count <= rows + 7, "{count} rows");
    }
}
