use proptest::prelude::*;
use serde_json::{Value, json};

use super::samples::any_value;
use super::*;

/// The pixels of a chart's picture.
fn pixels_of(chart: &Value) -> Vec<[u8; 3]> {
    let bytes = draw(chart).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
        .read_info()
        .unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width as usize, info.height as usize), (WIDE, HIGH));
    pixels.chunks(3).map(|p| [p[0], p[1], p[2]]).collect()
}

fn count(pixels: &[[u8; 3]], colour: [u8; 3]) -> usize {
    pixels.iter().filter(|p| **p == colour).count()
}

const FIRST: [u8; 3] = picture::COLOURS[0];
const SECOND: [u8; 3] = picture::COLOURS[1];

#[test]
fn the_area_of_a_bar_is_proportional_to_its_value() {
    for lying in [false, true] {
        let (names, sizes) = if lying { ("y", "x") } else { ("x", "y") };
        let chart = |a: f64, b: f64| {
            let mut trace = json!({"type": "bar"});
            trace[names] = json!(["p", "q"]);
            trace[sizes] = json!([a, b]);
            if lying {
                trace["orientation"] = "h".into();
            }
            count(&pixels_of(&json!({"data": [trace]})), FIRST)
        };
        let (both, one) = (chart(4.0, 4.0), chart(4.0, 0.0));
        assert!(
            one > 10_000 && both.abs_diff(2 * one) < both / 50,
            "{both} {one}"
        );
    }
    // Grouped next to each other, or stacked.
    let two_bars = |mode: &str| {
        let bar = |n: u32| json!({"type": "bar", "x": ["p"], "y": [n]});
        pixels_of(&json!({"data": [bar(1), bar(1)], "layout": {"barmode": mode}}))
    };
    for mode in ["group", "stack"] {
        let pixels = two_bars(mode);
        let (a, b) = (count(&pixels, FIRST), count(&pixels, SECOND));
        assert!(a > 10_000 && a.abs_diff(b) < a / 20, "{mode}: {a} {b}");
    }
    let column = |pixels: &[[u8; 3]], colour| {
        let at = pixels.iter().position(|p| *p == colour).unwrap();
        at % WIDE
    };
    let stacked = two_bars("stack");
    assert_eq!(column(&stacked, FIRST), column(&stacked, SECOND));
    let grouped = two_bars("group");
    assert!(column(&grouped, FIRST) < column(&grouped, SECOND));
}

#[test]
fn lines_points_histograms_pies_and_heat_maps_are_drawn() {
    let line = pixels_of(
        &json!({"data": [{"mode": "lines", "x": ["2024-01-01", "2024-02-01"], "y": [0, 1]}]}),
    );
    let dots = pixels_of(&json!({"data": [{"mode": "markers", "x": [0, 1], "y": [0, 1]}]}));
    assert!(count(&line, FIRST) > 10 * count(&dots, FIRST) && count(&dots, FIRST) > 20);
    // A rising line is lower on the left.
    let row = |pick: fn(&mut dyn Iterator<Item = usize>) -> Option<usize>, from: usize| {
        let mut rows = line.iter().enumerate().filter(|(_, p)| **p == FIRST);
        let mut rows = rows.by_ref().filter(|(i, _)| i % WIDE / (WIDE / 2) == from);
        pick(&mut rows.by_ref().map(|(i, _)| i / WIDE)).unwrap()
    };
    assert!(row(|rows| rows.min(), 0) >= row(|rows| rows.max(), 1));
    let counts = pixels_of(&json!({"data": [{"type": "histogram", "x": [1, 1, 1, 2, 5]}]}));
    assert!(count(&counts, FIRST) > 10_000);
    let words = pixels_of(&json!({"data": [{"type": "histogram", "y": ["a", "b", "a"]}]}));
    assert!(count(&words, FIRST) > 10_000);
    let pie =
        pixels_of(&json!({"data": [{"type": "pie", "labels": ["a", "b"], "values": [3, 1]}]}));
    let (a, b) = (count(&pie, FIRST), count(&pie, SECOND));
    assert!(a.abs_diff(3 * b) < a / 50, "{a} {b}");
    let heat = pixels_of(&json!({"data": [{"type": "heatmap", "z": [[0, 1], [null, 2]]}]}));
    assert!(count(&heat, [8, 64, 129]) > 10_000 && count(&heat, [235, 243, 250]) > 10_000);
}

#[test]
fn a_logarithmic_axis_is_drawn_logarithmically() {
    let log = json!({"type": "log"});
    let middle_of = |layout: Value| {
        let dots = json!({"mode": "markers", "x": [1, 2, 3], "y": [1, 10, 100]});
        let pixels = pixels_of(&json!({"data": [dots], "layout": layout}));
        let rows: Vec<usize> = (0..HIGH)
            .filter(|row| pixels[row * WIDE..(row + 1) * WIDE].contains(&FIRST))
            .collect();
        let (top, bottom) = (rows[0], rows[rows.len() - 1]);
        let middle = rows.iter().find(|row| **row > top + 20).unwrap();
        (middle - top) as f64 / (bottom - top) as f64
    };
    assert!(middle_of(json!({})) > 0.8);
    let middle = middle_of(json!({"yaxis": log}));
    assert!((0.45..0.55).contains(&middle), "{middle}");
    // The axis begins a decade below the smaller bar, so a bar of a tenth of the value is half as high.
    let bars = json!({"type": "bar", "x": ["a", "b"], "y": [10, 100]});
    let pixels = pixels_of(&json!({"data": [bars], "layout": {"yaxis": log}}));
    let tall = |from: usize, to: usize| {
        let columns =
            (from..to).map(|x| (0..HIGH).filter(|y| pixels[y * WIDE + x] == FIRST).count());
        columns.max().unwrap_or(0)
    };
    let (small, large) = (tall(100, WIDE / 2), tall(WIDE / 2, WIDE));
    assert!(small.abs_diff(large / 2) < large / 10, "{small} {large}");
    // The picture notes values that the axis cannot show.
    let ink = |y: i32| {
        let dots = json!({"mode": "markers", "y": [1, y, 100]});
        let pixels = pixels_of(&json!({"data": [dots], "layout": {"yaxis": log}}));
        pixels
            .iter()
            .filter(|p| ![[255; 3], FIRST].contains(p))
            .count()
    };
    assert!(ink(0) > ink(10) + 100);
}

#[test]
fn decades_are_marked() {
    let labels = |low: f64, high: f64, about| -> Vec<String> {
        let marks = decades(low.log10(), high.log10(), about);
        marks.into_iter().map(|(_, text)| text).collect()
    };
    assert_eq!(labels(1.0, 1000.0, 5), ["1", "10", "100", "1000"]);
    assert_eq!(
        labels(0.0001, 1e9, 5),
        ["0.001", "1", "1000", "1000000", "1e9"]
    );
    assert_eq!(labels(20.0, 80.0, 5), ["20", "50"]);
    assert_eq!(labels(3.0, 8.0, 5), ["3", "4", "5", "6", "7", "8"]);
    assert_eq!(labels(31.0, 38.0, 5), ["31", "38"]);
    assert_eq!(labels(5e-324, 1.7e308, 3).len(), 3);
}

#[test]
fn the_picture_names_what_is_not_drawn() {
    let ink = |chart: Value| pixels_of(&chart).iter().filter(|p| **p != [255; 3]).count();
    let nothing = ink(json!({"data": []}));
    let named = ink(json!({"data": [{"type": "violin", "y": [1, 2]}]}));
    let both = json!({"data": [{"type": "violin"}, {"type": "bar", "x": ["a"], "y": [1]}]});
    assert!(named > nothing, "{named} {nothing}");
    assert!(count(&pixels_of(&both), SECOND) > 10_000);
}

#[test]
fn numbers_are_shortened_to_four_digits() {
    for (n, expected) in [
        (0.0, "0"),
        (3.0, "3"),
        (0.125, "0.125"),
        (1234.5678, "1235"),
        (-45.25, "-45.25"),
        (1e9, "1.00e9"),
        (0.000_012, "1.20e-5"),
    ] {
        assert_eq!(short(n), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn no_chart_breaks_the_drawing(
        kinds in prop::collection::vec(
            prop::sample::select(vec!["scatter", "bar", "histogram", "pie", "heatmap", "no such"]), 0..5),
        x in any_value(), y in any_value(), other in any_value(),
        mode in prop::sample::select(vec!["stack", "group", "markers", "lines+markers"]),
        along in prop::sample::select(vec!["log", "-"]), across in prop::sample::select(vec!["log", "-"]),
    ) {
        let traces: Vec<Value> = kinds.iter().enumerate().map(|(i, kind)| json!({
            "type": kind, "x": x, "y": y, "z": other, "labels": other, "values": y, "hole": other,
            "name": other, "mode": mode, "orientation": if i % 2 == 0 { json!("h") } else { other.clone() },
            "xaxis": if i > 2 { json!("xé") } else { Value::Null }})).collect();
        let chart = json!({"data": traces,
            "layout": {"title": x, "barmode": mode, "xaxis": {"title": y, "type": along}, "yaxis": {"type": across}}});
        prop_assert!(draw(&chart).unwrap().starts_with(b"\x89PNG"));
    }
}
