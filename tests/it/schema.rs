//! `assets/schema/`: the schema of the socket names what the program takes and sends, no more and no less, and refuses
//! what it would not send. That real lines fit it is checked by every agent of every test (`common::schema`).
//!
//! `CS_WRITE_SCHEMA=1 cargo test --test it schema` writes `asyncapi.json` anew from `socket.json`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use countersign::broker::{Note, ProfileInfo, Reply, RpcError};
use countersign::ipc::{CLAIM, INPUT, METHODS, params_of};
use countersign::model::{
    Accesses, Action, AgentClaim, Artifact, ArtifactRef, Capability, CapabilityUse, Column,
    DatasetInfo, Decision, DecisionKind, Digest, Draft, Finding, Isolation, LeftOut, LimitKind,
    Limits, Outcome, PolicyRef, ProposalId, Reason, Retry, Run, RunError, RunErrorKind, RunEvent,
    Sensitivity, Severity, SourceStats, State, StreamName, TextFormat, Tier, Timing, Verdict,
    VerdictKind,
};
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};
use serde_json::{Value, json};

use crate::common::schema::{SCHEMA, faults};

/// Ends a deserialization with the names that the type asks for: a struct's fields or an enum's variants.
struct Ask;

#[derive(Debug)]
struct Names(&'static [&'static str]);

impl std::error::Error for Names {}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl de::Error for Names {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self(&[])
    }
}

impl<'de> Deserializer<'de> for Ask {
    type Error = Names;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Names> {
        Err(Names(&[]))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Names> {
        Err(Names(fields))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Names> {
        Err(Names(variants))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}

fn names<T: for<'de> Deserialize<'de>>() -> BTreeSet<String> {
    let names = T::deserialize(Ask).err().map_or(&[][..], |names| names.0);
    assert!(!names.is_empty(), "{}", std::any::type_name::<T>());
    set(names)
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// The schema at `definition` or below it, as in `run/properties/limit`.
fn schema(place: &str) -> &'static Value {
    SCHEMA
        .pointer(&format!("/$defs/{place}"))
        .unwrap_or_else(|| panic!("the schema lacks {place}"))
}

fn properties(place: &str) -> BTreeSet<String> {
    schema(place)["properties"]
        .as_object()
        .unwrap()
        .keys()
        .cloned()
        .collect()
}

/// The texts of an `enum`, or of the one in `anyOf` that may also be null.
fn texts(place: &str) -> BTreeSet<String> {
    let at = schema(place);
    let list = at.get("enum").unwrap_or(&at["anyOf"][0]["enum"]);
    list.as_array()
        .unwrap()
        .iter()
        .map(|text| text.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_schema_names_every_method_and_every_param() {
    let definitions = SCHEMA["$defs"].as_object().unwrap().keys();
    let requests = definitions.filter_map(|name| name.strip_suffix(".request"));
    assert_eq!(
        requests.collect::<BTreeSet<_>>(),
        METHODS.into_iter().collect()
    );
    for method in METHODS {
        assert_eq!(
            properties(&format!("{method}.params")),
            set(params_of(method)),
            "{method}"
        );
        assert_eq!(
            schema(&format!("{method}.request"))["properties"]["method"]["const"],
            method
        );
    }
    assert_eq!(set(params_of("propose")), names::<Draft>());
    assert_eq!(properties("agent"), set(CLAIM));
    assert_eq!(set(CLAIM), names::<AgentClaim>());
    assert_eq!(properties("input"), set(INPUT));
    assert_eq!(properties("artifact_ref"), names::<ArtifactRef>());
    assert_eq!(texts("input/properties/format"), names::<TextFormat>());
}

#[test]
fn the_schema_names_every_field_and_every_value_that_the_dashboard_sends() {
    type Known = fn() -> BTreeSet<String>;
    // With the fields that say what was cut off because a frame has an end.
    let objects: [(&str, Known, &[&str]); 22] = [
        ("outcome", names::<Outcome>, &[]),
        ("decision", names::<Decision>, &[]),
        ("run", names::<Run>, &["result_left_out"]),
        ("run/properties/timing_us", names::<Timing>, &[]),
        ("run/properties/isolation", names::<Isolation>, &[]),
        ("run/properties/artifacts/items", names::<Artifact>, &[]),
        (
            "run/properties/artifacts_renamed/items",
            || set(&["left", "kept"]),
            &[],
        ),
        (
            "run/properties/artifacts_refused/items",
            names::<LeftOut>,
            &[],
        ),
        ("run/properties/events/items", names::<RunEvent>, &[]),
        (
            "run/properties/accesses/additionalProperties",
            names::<Accesses>,
            &[],
        ),
        ("run_error", names::<RunError>, &[]),
        (
            "verdict",
            names::<Verdict>,
            &["findings_left_out", "capabilities_left_out"],
        ),
        ("verdict/properties/policy", names::<PolicyRef>, &[]),
        ("verdict/properties/source", names::<SourceStats>, &[]),
        ("finding", names::<Finding>, &[]),
        (
            "capability_use",
            names::<CapabilityUse>,
            &["lines_left_out"],
        ),
        ("dataset", names::<DatasetInfo>, &[]),
        ("dataset/properties/columns/items", names::<Column>, &[]),
        ("limits", names::<Limits>, &[]),
        ("error", names::<RpcError>, &[]),
        ("run/properties/exit/oneOf/0", || set(&["code"]), &[]),
        ("run/properties/exit/oneOf/1", || set(&["signal"]), &[]),
    ];
    for (place, known, cut) in objects {
        let known: BTreeSet<String> = known().union(&set(cut)).cloned().collect();
        assert_eq!(properties(place), known, "{place}");
        let closed = &schema(place)["additionalProperties"];
        assert_eq!(*closed, json!(false), "{place}");
    }
    let ran = |state: &String| !["pending", "granted", "running"].contains(&state.as_str());
    let states: BTreeSet<String> = names::<State>()
        .into_iter()
        .filter(|state| state != "drilled")
        .collect();
    assert_eq!(texts("state"), states);
    assert_eq!(
        texts("outcome/properties/state"),
        states.into_iter().filter(ran).collect()
    );
    let values: [(&str, BTreeSet<String>); 12] = [
        (
            "run/properties/artifacts_refused/items/properties/reason",
            names::<Reason>(),
        ),
        ("outcome/properties/retry", names::<Retry>()),
        ("decision/properties/kind", names::<DecisionKind>()),
        ("run/properties/limit", names::<LimitKind>()),
        ("run/properties/isolation/properties/tier", names::<Tier>()),
        ("run_error/properties/type", names::<RunErrorKind>()),
        ("verdict/properties/verdict", names::<VerdictKind>()),
        ("finding/properties/severity", names::<Severity>()),
        ("finding/properties/action", names::<Action>()),
        ("capability", names::<Capability>()),
        ("dataset/properties/sensitivity", names::<Sensitivity>()),
        (
            "output.notification/properties/params/properties/stream",
            names::<StreamName>(),
        ),
    ];
    for (place, known) in values {
        assert_eq!(texts(place), known, "{place}");
    }
}

/// The definition of a reply's value, and whether the sample below must have each of its fields.
fn definition(reply: &Reply) -> &'static str {
    match reply {
        Reply::Hello { .. } => "hello.result",
        Reply::Proposed { .. } => "propose.result",
        Reply::Outcome(_) => "outcome",
        Reply::Status { .. } => "status.result",
        Reply::State { .. } => "id_and_state",
        Reply::Vain { .. } => "waits_in_vain",
        Reply::Verdict(_) => "check.result",
        Reply::Datasets(_) => "datasets.result",
        Reply::Artifact { .. } => "artifact.result",
    }
}

fn verdict() -> Verdict {
    let sha256 = Digest::of(b"x").hex();
    serde_json::from_value(json!({
        "verdict": "flagged", "policy": {"profile": "analysis", "sha256": sha256},
        "findings": [{
            "rule": "DYN001", "name": "dynamic-code", "severity": "high", "action": "flag", "message": "m", "hint": "",
            "cwe": [95], "line": 1, "column": 1, "end_line": 1, "end_column": 2, "capability": null,
        }],
        "capabilities": [{"capability": "FS_READ", "lines": [1], "detail": "d"}],
        "source": {"bytes": 1, "lines": 1, "sha256": sha256}, "elapsed_us": 1,
    }))
    .unwrap()
}

#[test]
fn every_kind_of_answer_fits_with_all_of_its_fields() {
    let (id, state, time) = (ProposalId::new(), State::Pending, jiff::Timestamp::now());
    let text = || "x".to_owned();
    let digest = Digest::of(b"x");
    let replies = [
        Reply::Proposed {
            id,
            digest,
            state,
            verdict: Arc::new(verdict()),
            expires_at: time,
        },
        Reply::Status {
            id,
            state,
            verdict: Some(Arc::new(verdict())),
            expires_at: Some(time),
            before: Some(2),
            shown: Some(true),
            hopeless: Some(text()),
        },
        Reply::Vain {
            id,
            state,
            hopeless: text(),
        },
        Reply::State { id, state },
        Reply::Artifact {
            base64: text(),
            next_offset: Some(1),
        },
        Reply::Hello {
            protocol: 1,
            server: BTreeMap::from([("name", "countersign".to_owned()), ("version", text())]),
            session: digest.hex(),
            profiles: Vec::new(),
            limits: Value::Null,
        },
    ];
    for reply in replies {
        let place = definition(&reply);
        let value = serde_json::to_value(&reply).unwrap();
        let given: BTreeSet<String> = value.as_object().unwrap().keys().cloned().collect();
        assert_eq!(properties(place), given, "{place}");
        if !matches!(reply, Reply::Hello { .. }) {
            assert_eq!(faults(place, &value), [""; 0], "{place}");
        }
    }
    let limits: Limits = serde_json::from_value(json!({
        "wall_s": 1, "cpu_s": 1, "memory_mb": 1, "processes": 1, "open_files": 1, "file_size_mb": 1, "output_bytes": 1,
        "artifacts": 1, "artifact_bytes": 1, "ticks": 0, "code_bytes": 1,
    }))
    .unwrap();
    let profile = ProfileInfo {
        name: text(),
        imports: Vec::new(),
        given: Vec::new(),
        limits,
    };
    let given = serde_json::to_value(profile).unwrap();
    let given: BTreeSet<String> = given.as_object().unwrap().keys().cloned().collect();
    assert_eq!(properties("hello.result/properties/profiles/items"), given);
    for note in [
        Note::State { id, state },
        Note::Output {
            id,
            stream: StreamName::Stdout,
            text: text(),
        },
    ] {
        let mut line = serde_json::to_value(&note).unwrap();
        line["jsonrpc"] = json!("2.0");
        let method = line["method"].as_str().unwrap();
        assert_eq!(faults(&format!("{method}.notification"), &line), [""; 0]);
    }
}

#[test]
fn what_the_dashboard_never_sends_and_never_takes_does_not_fit() {
    let id = ProposalId::new();
    let all = |from: &Value, name: &str, to: Value| {
        let mut other = from.clone();
        match to {
            Value::Null => drop(other.as_object_mut().unwrap().remove(name)),
            to => other[name] = to,
        }
        other
    };
    let verdict = serde_json::to_value(verdict()).unwrap();
    let proposed = json!({
        "id": id, "digest": Digest::of(b"x"), "state": "pending", "verdict": verdict,
        "expires_at": "2026-01-01T00:00:00Z",
    });
    let busy = json!({"code": -32002, "message": "later", "data": {"retry_after_ms": 1000}});
    let propose = json!({"code": "x", "inputs": {"d": {"dataset": "sales"}}});
    let good = [
        ("verdict", &verdict),
        ("propose.result", &proposed),
        ("error", &busy),
        ("propose.params", &propose),
    ];
    for (place, value) in good {
        assert_eq!(faults(place, value), [""; 0], "{place}");
    }
    let bad = [
        ("verdict", all(&verdict, "verdict", json!("safe"))),
        ("verdict", all(&verdict, "elapsed_us", Value::Null)),
        ("verdict", all(&verdict, "path", json!("/etc/passwd"))),
        ("propose.result", all(&proposed, "id", json!("1"))),
        ("propose.result", all(&proposed, "digest", json!("md5:0"))),
        ("propose.result", all(&proposed, "state", json!("drilled"))),
        (
            "propose.result",
            all(&proposed, "expires_at", json!("tomorrow")),
        ),
        ("propose.result", all(&proposed, "by", json!("somebody"))),
        ("error", all(&busy, "code", json!(1))),
        ("error", all(&busy, "data", json!({"retry_after_ms": 0}))),
        // A refusal for now says when to ask again.
        ("error", all(&busy, "data", json!({}))),
        ("error", all(&busy, "data", Value::Null)),
        ("propose.params", json!({})),
        ("propose.params", all(&propose, "code", json!(1))),
        ("propose.params", all(&propose, "ttl_s", json!(0))),
        (
            "propose.params",
            all(&propose, "idempotency_key", json!("")),
        ),
        (
            "propose.params",
            all(&propose, "inputs", json!({"1d": {"dataset": "sales"}})),
        ),
        (
            "propose.params",
            all(
                &propose,
                "inputs",
                json!({"d": {"dataset": "s", "json": 1}}),
            ),
        ),
        (
            "propose.params",
            all(&propose, "inputs", json!({"d": {"text": "a"}})),
        ),
        (
            "from_agent",
            json!({"jsonrpc": "2.0", "id": 1, "method": "approve", "params": {"id": id}}),
        ),
        (
            "from_agent",
            json!({"jsonrpc": "1.0", "id": 1, "method": "datasets"}),
        ),
        (
            "from_agent",
            json!({"jsonrpc": "2.0", "id": 1, "method": "wait"}),
        ),
        (
            "from_dashboard",
            json!({"jsonrpc": "2.0", "id": 1, "result": {"id": id, "state": "approved"}}),
        ),
        (
            "from_dashboard",
            json!({"jsonrpc": "2.0", "id": 1, "result": proposed, "error": busy}),
        ),
        (
            "wait.result",
            json!({"id": id, "state": "succeeded", "message": "m"}),
        ),
    ];
    for (place, value) in bad {
        assert!(!faults(place, &value).is_empty(), "{place} takes {value}");
    }
    // What an agent sends may have more.
    let newer = all(&propose, "priority", json!(1));
    assert_eq!(faults("propose.params", &newer), [""; 0]);
    let rows = json!({"d": {"dataset": "sales", "rows": 5}});
    assert!(!faults("propose.params", &all(&propose, "inputs", rows)).is_empty());
}

/// The page for tools that read AsyncAPI, as the schema gives it.
fn asyncapi() -> Value {
    let definitions = SCHEMA["$defs"].as_object().unwrap();
    let channel = json!({"$ref": "#/channels/socket"});
    let on_channel = |name: &str| json!({"$ref": format!("#/channels/socket/messages/{name}")});
    let (mut listed, mut messages, mut operations) = (json!({}), json!({}), json!({}));
    for name in definitions.keys() {
        let (of, kind) = name.rsplit_once('.').unwrap_or((name.as_str(), ""));
        let about = match kind {
            "request" => schema(&format!("{of}.params"))["description"].clone(),
            "notification" => definitions[name]["description"].clone(),
            "answer" => json!(format!("What `{of}` answers.")),
            _ if name == "refusal" => definitions[name]["description"].clone(),
            _ => continue,
        };
        listed[name] = json!({"$ref": format!("#/components/messages/{name}")});
        messages[name] = json!({
            "name": name,
            "summary": about,
            "payload": {"$ref": format!("./socket.json#/$defs/{name}")},
        });
        match kind {
            "request" => {
                messages[name]["correlationId"] = json!({"location": "$message.payload#/id"});
                let answer = on_channel(&format!("{of}.answer"));
                operations[of] = json!({
                    "action": "receive", "channel": channel, "summary": about, "messages": [on_channel(name)],
                    "reply": {"channel": channel, "messages": [answer, on_channel("refusal")]},
                });
            }
            "notification" => {
                operations[of] = json!({
                    "action": "send", "channel": channel, "summary": about, "messages": [on_channel(name)],
                });
            }
            _ => messages[name]["correlationId"] = json!({"location": "$message.payload#/id"}),
        }
    }
    json!({
        "asyncapi": "3.0.0",
        "id": "urn:countersign:socket",
        "info": {"title": SCHEMA["title"], "version": "1.0.0", "description": SCHEMA["description"]},
        "defaultContentType": "application/json",
        "servers": {"dashboard": {
            "host": "localhost",
            "protocol": "unix",
            "description": "A Unix socket at $XDG_RUNTIME_DIR/countersign/agent.sock, one JSON object a line.",
        }},
        "channels": {"socket": {"servers": [{"$ref": "#/servers/dashboard"}], "messages": listed}},
        "operations": operations,
        "components": {"messages": messages},
    })
}

#[test]
fn the_asyncapi_page_is_the_one_that_the_schema_gives() {
    let page = serde_json::to_string_pretty(&asyncapi()).unwrap() + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/schema/asyncapi.json");
    if std::env::var_os("CS_WRITE_SCHEMA").is_some_and(|v| !v.is_empty()) {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        written, page,
        "run `CS_WRITE_SCHEMA=1 cargo test --test it schema`"
    );
    assert!(jsonschema::meta::is_valid(&SCHEMA));
}
