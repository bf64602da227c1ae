//! Random values in charts, for tests.

use proptest::prelude::*;
use serde_json::{Value, json};

/// A single value, a list or a list of lists, with values of every kind and size.
pub fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|n| json!(n)),
        prop::sample::select(vec![
            "2024-01-02",
            "x",
            "",
            "1e308",
            "-1e308",
            "1e999",
            "漢\u{1b}[2J<br>\n",
            "-9999-01-01",
            "9999-12-31",
        ])
        .prop_map(Value::from),
    ];
    prop_oneof![
        leaf.clone(),
        prop::collection::vec(leaf.clone(), 0..12).prop_map(Value::from),
        prop::collection::vec(prop::collection::vec(leaf, 0..4), 0..4).prop_map(|v| json!(v)),
    ]
}
