//! The inputs of the contract `feature`: one table, and the settings for measuring the lift of new
//! columns.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::config::nearest;
use crate::model::InputRequest;

use super::effect::RpcError;
use super::refusals::invalid;

const EXPECTED: &str = "one table as `df`, and as `lift` {\"json\": {\"target\", \"metric\"?, \
                        \"estimator\"?}} where its lift is to be measured";

/// The keys of `lift`, and the allowed words of some of them. The child's `lift.py` has the same
/// lists.
const KEYS: [&str; 3] = ["target", "metric", "estimator"];
const WORDS: [(&str, &[&str]); 2] = [
    (
        "metric",
        &[
            "r2",
            "neg_mean_absolute_error",
            "neg_root_mean_squared_error",
            "accuracy",
            "balanced_accuracy",
            "f1_macro",
            "roc_auc",
            "neg_log_loss",
        ],
    ),
    ("estimator", &["linear", "forest"]),
];

/// Requires one table, and optionally a `lift` that says what to measure; if the owner requires
/// `measured` columns, `lift` is mandatory. Anything that cannot be measured is refused before a
/// person is asked.
pub(super) fn check_table(
    inputs: &BTreeMap<String, InputRequest>,
    measured: bool,
) -> Result<(), RpcError> {
    let tables = inputs.keys().filter(|name| *name != "lift").count();
    if tables != 1 {
        let message = format!("the profile takes one table, and {tables} are given");
        return Err(refuse(message));
    }
    match inputs.get("lift") {
        None if measured => Err(refuse(
            "the owner of this dashboard keeps columns only where their lift was measured: say what to \
             measure it by"
                .to_owned(),
        )),
        None => Ok(()),
        Some(InputRequest::Json {
            json: Value::Object(lift),
        }) => check_lift(lift),
        Some(_) => Err(no_target()),
    }
}

fn check_lift(lift: &Map<String, Value>) -> Result<(), RpcError> {
    if !lift.get("target").is_some_and(Value::is_string) {
        return Err(no_target());
    }
    if let Some(key) = lift.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let shown: String = key.chars().take(40).collect();
        let near = hint(key, &KEYS);
        return Err(refuse(format!(
            "`lift` has no `{}`{near}",
            shown.escape_debug()
        )));
    }
    for (key, words) in WORDS {
        match lift.get(key) {
            None | Some(Value::Null) => {}
            Some(Value::String(word)) if words.contains(&word.as_str()) => {}
            Some(other) => {
                let near = hint(other.as_str().unwrap_or_default(), words);
                let message = format!("`lift` takes no such {key}{near}");
                return Err(invalid("inputs", message, &words.join(", ")));
            }
        }
    }
    Ok(())
}

fn no_target() -> RpcError {
    refuse("the input `lift` does not say which column is the target".to_owned())
}

fn refuse(message: String) -> RpcError {
    invalid("inputs", message, EXPECTED)
}

fn hint(name: &str, known: &[&'static str]) -> String {
    nearest(name, known.iter().copied())
        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(lift: Value, measured: bool) -> Result<(), String> {
        let dataset = "sales".to_owned();
        let table = InputRequest::Dataset { dataset };
        let mut inputs = BTreeMap::from([("df".to_owned(), table)]);
        if !lift.is_null() {
            inputs.insert("lift".to_owned(), InputRequest::Json { json: lift });
        }
        check_table(&inputs, measured).map_err(|e| e.message)
    }

    #[test]
    fn f8_what_cannot_be_measured_is_refused_before_a_person_is_asked() {
        for (lift, words) in [
            (Value::Null, "the owner of this dashboard"),
            (json!({}), "which column is the target"),
            (json!({"target": 1}), "which column is the target"),
            (json!(["y"]), "which column is the target"),
            (
                json!({"target": "y", "enabled": false}),
                "`lift` has no `enabled`",
            ),
            (
                json!({"target": "y", "metrik": "r2"}),
                "did you mean `metric`?",
            ),
            (
                json!({"target": "y", "metric": "acuracy"}),
                "did you mean `accuracy`?",
            ),
            (json!({"target": "y", "metric": 3}), "no such metric"),
            (
                json!({"target": "y", "estimator": "tree"}),
                "no such estimator",
            ),
        ] {
            let said = said(lift, true).unwrap_err();
            assert!(said.contains(words), "{said}");
        }
        assert_eq!(said(Value::Null, false), Ok(()));
        for fine in [
            json!({"target": "y"}),
            json!({"target": "y", "metric": null, "estimator": "forest"}),
            json!({"target": "y", "metric": "roc_auc"}),
        ] {
            assert_eq!(said(fine, true), Ok(()));
        }
    }

    /// The core and the child both read `lift` and must agree on its meaning.
    #[test]
    fn the_child_knows_the_same_words() {
        let child = include_str!("../../assets/runner/lift.py");
        let listed = |name: &str| -> Vec<&str> {
            let begins = format!("{name} = (");
            let line = child.lines().find(|l| l.starts_with(&begins)).unwrap();
            line.split('"').skip(1).step_by(2).collect()
        };
        assert_eq!(listed("KEYS"), KEYS);
        let metrics = [listed("REGRESSION"), listed("CLASSIFICATION")].concat();
        assert_eq!(WORDS[0].1, metrics);
        assert_eq!(WORDS[1].1, listed("ESTIMATORS"));
    }
}
