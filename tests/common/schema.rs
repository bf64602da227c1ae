//! `assets/schema/socket.json`, and the check that agents of tests make of every line.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::{Value, json};

pub static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../assets/schema/socket.json")).expect("it is JSON")
});

/// What a value of this definition has wrong; empty if nothing.
pub fn faults(definition: &str, value: &Value) -> Vec<String> {
    static BUILT: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    let mut built = BUILT.lock().unwrap();
    let validator = built.entry(definition.to_owned()).or_insert_with(|| {
        let one = json!({
            "$schema": SCHEMA["$schema"],
            "$ref": format!("#/$defs/{definition}"),
            "$defs": SCHEMA["$defs"],
        });
        Arc::new(jsonschema::validator_for(&one).expect("the definition is a schema"))
    });
    let validator = validator.clone();
    drop(built);
    let faults = validator.iter_errors(value);
    faults
        .map(|e| format!("{} at {}", e, e.instance_path()))
        .collect()
}

/// Checks a line from the dashboard: the answer to `request`, or a notification. A request that was served must be one
/// that the schema describes.
pub fn check(request: Option<&Value>, line: &Value) {
    let valid = |definition: &str, value: &Value| {
        let faults = faults(definition, value);
        assert!(faults.is_empty(), "{definition}: {faults:?}\n{value}");
    };
    match (request, line.get("result")) {
        (Some(request), Some(_)) => {
            let method = request["method"].as_str().expect("it was served");
            valid(&format!("{method}.request"), request);
            valid(&format!("{method}.answer"), line);
        }
        (_, None) if line.get("method").is_some() => {
            let method = line["method"].as_str().unwrap_or("?");
            valid(&format!("{method}.notification"), line);
        }
        (_, None) => valid("refusal", line),
        // The answer to a line that the test wrote byte by byte.
        (None, Some(_)) => valid("from_dashboard", line),
    }
}
