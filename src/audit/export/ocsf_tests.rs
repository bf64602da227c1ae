//! Every event is one of the schema: `tests/data/ocsf-1.8.0.json` is an excerpt of its own files.

use serde_json::{Map, Value, json};

use super::super::Log;
use super::super::samples::{
    CODE, EDITED, denied, drilled, edited, finished, granted_as, proposed, proposed_drill, started,
};
use super::tests::{exported, write};
use super::*;
use crate::model::{DrillEnd, LogEvent, ProposalId, State};

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../tests/data/ocsf-1.8.0.json")).unwrap()
}

/// What is wrong with an event.
fn faults(schema: &Value, event: &Value) -> Vec<String> {
    let classes = schema["classes"].as_object().unwrap();
    let Some(class) = classes.values().find(|c| c["uid"] == event["class_uid"]) else {
        return vec![format!("no such class: {}", event["class_uid"])];
    };
    let listed = &event["metadata"]["profiles"];
    let profiles: Vec<&str> = listed.as_array().map_or(Vec::new(), |all| {
        all.iter().filter_map(Value::as_str).collect()
    });
    let mut found = Vec::new();
    for profile in &profiles {
        if !class["profiles"]
            .as_array()
            .unwrap()
            .contains(&json!(profile))
        {
            found.push(format!("the class has no profile {profile}"));
        }
    }
    object(schema, &profiles, class, event, "", &mut found);
    let (class, activity) = (event["class_uid"].as_u64(), event["activity_id"].as_u64());
    let kind = class
        .zip(activity)
        .map(|(class, activity)| class * 100 + activity);
    if event["type_uid"].as_u64() != kind {
        found.push("type_uid is not class_uid * 100 + activity_id".to_owned());
    }
    found
}

fn object(
    schema: &Value,
    profiles: &[&str],
    kind: &Value,
    value: &Value,
    path: &str,
    found: &mut Vec<String>,
) {
    let Some(fields) = value.as_object() else {
        found.push(format!("{path} is no object"));
        return;
    };
    let empty = Map::new();
    let attributes = kind["attributes"].as_object().unwrap_or(&empty);
    let in_force = |attribute: &Value| {
        attribute["profiles"].as_array().is_none_or(|of| {
            of.iter()
                .filter_map(Value::as_str)
                .any(|of| profiles.contains(&of))
        })
    };
    for (name, attribute) in attributes.iter().filter(|(_, a)| in_force(a)) {
        if attribute["requirement"] == "required" && !fields.contains_key(name) {
            found.push(format!("{path}.{name} is missing"));
        }
    }
    if let Some(any) = kind["constraints"]["at_least_one"].as_array() {
        let has = |name: &Value| fields.contains_key(name.as_str().unwrap());
        if !any.iter().any(has) {
            found.push(format!("{path} has none of {any:?}"));
        }
    }
    for (name, value) in fields {
        let path = format!("{path}.{name}");
        let Some(attribute) = attributes.get(name).filter(|a| in_force(a)) else {
            found.push(format!("{path} is unknown"));
            continue;
        };
        let one = std::slice::from_ref(value);
        let values = match attribute["is_array"] == true {
            true => value.as_array().map_or(&[][..], Vec::as_slice),
            false => one,
        };
        if attribute["is_array"] == true && !value.is_array() {
            found.push(format!("{path} is no array"));
        }
        for value in values {
            attribute_of(schema, profiles, attribute, value, &path, found);
        }
        let caption = attribute["enum"][value.to_string()].as_str();
        let sibling = attribute["sibling"].as_str().and_then(|s| fields.get(s));
        // The name of 99, Other, is the source's own.
        if let (Some(caption), Some(sibling)) = (caption, sibling)
            && *value != json!(99)
            && sibling != caption
        {
            found.push(format!("{path} is {caption}, and its sibling is {sibling}"));
        }
    }
}

fn attribute_of(
    schema: &Value,
    profiles: &[&str],
    attribute: &Value,
    value: &Value,
    path: &str,
    found: &mut Vec<String>,
) {
    let of = attribute["type"].as_str().unwrap();
    let base = schema["types"][of]["type"].as_str().unwrap_or(of);
    let right = match base {
        "object_t" => {
            let name = attribute["object_type"].as_str().unwrap();
            if name != "object" {
                let kind = &schema["objects"][name];
                if kind.is_null() {
                    found.push(format!("{path}: the excerpt has no {name}"));
                }
                object(schema, profiles, kind, value, path, found);
            }
            value.is_object()
        }
        "integer_t" | "long_t" => value.is_i64() || value.is_u64(),
        "boolean_t" => value.is_boolean(),
        "string_t" => value.is_string(),
        "json_t" => true,
        other => panic!("{path} is a {other}"),
    };
    if !right {
        found.push(format!("{path} is no {of}: {value}"));
    }
    let allowed = attribute["enum"].as_object();
    if allowed.is_some_and(|allowed| !allowed.contains_key(&value.to_string())) {
        found.push(format!("{path} cannot be {value}"));
    }
}

fn plain(event: LogEvent) -> (LogEvent, Vec<crate::model::Blob>) {
    (event, Vec::new())
}

fn events(question: &str, records: Vec<(LogEvent, Vec<crate::model::Blob>)>) -> Vec<Value> {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), records);
    let mut answers = Log::open(dir.path()).unwrap().answers().unwrap();
    let (text, _) = exported(&mut answers, question, Format::Ocsf);
    assert!(answers.faults().first().is_none(), "{:?}", answers.faults());
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn every_event_is_one_of_the_schema_and_one_id_joins_decision_and_run() {
    let ids: Vec<ProposalId> = (0..8).map(|_| ProposalId::new()).collect();
    let mut traced = proposed(ids[7], "traced");
    if let LogEvent::Proposed(p) = &mut traced.0 {
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        p.traceparent = Some(trace.to_owned());
    }
    let mut records = vec![
        traced,
        plain(denied(ids[7])),
        proposed(ids[0], "ran"),
        plain(granted_as(ids[0], CODE)),
        plain(started(ids[0])),
        finished(ids[0]),
        proposed(ids[1], "denied"),
        plain(denied(ids[1])),
        proposed(ids[2], "expired"),
        plain(LogEvent::Expired { id: ids[2] }),
        proposed_drill(ids[3]),
        plain(drilled(ids[3], DrillEnd::Caught)),
        proposed(ids[4], "withdrawn"),
        plain(LogEvent::Withdrawn {
            id: ids[4],
            disconnected: true,
        }),
        proposed(ids[5], "edited"),
        edited(ids[5], CODE, EDITED),
        plain(granted_as(ids[5], EDITED)),
        plain(started(ids[5])),
    ];
    records.push(plain(LogEvent::Failed {
        id: ids[5],
        state: State::Error,
        message: "gone".to_owned(),
    }));
    records.push(proposed(ids[6], "waits"));
    let events = events("", records);
    let schema = schema();
    for event in &events {
        assert_eq!(faults(&schema, event), Vec::<String>::new(), "{event:#}");
    }
    let of = |id: ProposalId| {
        let id = id.to_string();
        let uid = |event: &&Value| event["metadata"]["correlation_uid"] == id;
        events.iter().filter(uid).collect::<Vec<_>>()
    };
    let ran = of(ids[0]);
    assert_eq!(ran.len(), 2);
    assert_eq!(
        (&ran[0]["class_uid"], &ran[0]["action"]),
        (&json!(6003), &json!("Allowed"))
    );
    assert_eq!(ran[0]["authorizations"][0]["policy"]["name"], "analysis");
    assert_eq!(
        (&ran[1]["class_uid"], &ran[1]["script"]["type_id"]),
        (&json!(1009), &json!(3))
    );
    assert_eq!(ran[1]["script"]["script_content"]["value"], "print(1)\n");
    assert_eq!(ran[1]["status"], "Success");
    assert_eq!(
        of(ids[5])[1]["script"]["script_content"]["value"],
        "print(2)\n"
    );
    assert_eq!(of(ids[5])[1]["status"], "Failure");
    for (n, what, action) in [
        (1, "Deny", "Denied"),
        (2, "Expire", "Denied"),
        (3, "Catch drill", "Denied"),
        (4, "Withdraw", "Denied"),
    ] {
        let events = of(ids[n]);
        assert_eq!(events.len(), 1, "{what}");
        assert_eq!(events[0]["activity_name"], what);
        assert_eq!(events[0]["action"], action, "{what}");
    }
    let traced = of(ids[7])[0];
    assert_eq!(traced["trace"]["uid"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(traced["metadata"]["profiles"][1], "trace");
    // Nothing is said of what nobody has decided.
    assert!(of(ids[6]).is_empty());
}

#[test]
fn the_check_of_the_schema_finds_each_kind_of_fault() {
    let id = ProposalId::new();
    let records = vec![
        proposed(id, "ran"),
        plain(granted_as(id, CODE)),
        plain(started(id)),
        finished(id),
    ];
    let events = events("", records);
    let schema = schema();
    let with = |n: usize, pointer: &str, value: Value| {
        let mut event = events[n].clone();
        let (path, name) = pointer.rsplit_once('/').unwrap();
        let fields = event.pointer_mut(path).unwrap().as_object_mut().unwrap();
        match value {
            Value::Null => drop(fields.remove(name)),
            value => drop(fields.insert(name.to_owned(), value)),
        }
        faults(&schema, &event).join("; ")
    };
    for (n, pointer, value, said) in [
        (0, "/colour", json!(1), ".colour is unknown"),
        (
            0,
            "/api/operation",
            json!(null),
            ".api.operation is missing",
        ),
        (0, "/action_id", json!(77), ".action_id cannot be 77"),
        (
            0,
            "/severity_id",
            json!("1"),
            ".severity_id is no integer_t",
        ),
        (0, "/severity", json!("High"), "its sibling is \"High\""),
        (0, "/type_uid", json!(600_301), "type_uid is not"),
        (0, "/resources", json!({}), ".resources is no array"),
        (
            0,
            "/metadata/profiles",
            json!([]),
            ".authorizations is unknown",
        ),
        (
            0,
            "/metadata/product",
            json!({}),
            ".metadata.product has none of",
        ),
        (1, "/device", json!(null), ".device is missing"),
        (
            1,
            "/script/type_id",
            json!(12),
            ".script.type_id cannot be 12",
        ),
    ] {
        let found = with(n, pointer, value);
        assert!(found.contains(said), "{pointer}: {found}");
    }
}
