use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::ipc::envelope;
use crate::model::{
    Action, Capability, CapabilityUse, Digest, Exit, Finding, Isolation, Outcome, PolicyRef,
    ProposalId, Retry, Run, Severity, SourceStats, State, StreamName, Tier, Timing, Verdict,
    VerdictKind,
};

fn id(text: &str) -> Id {
    let line = format!(r#"{{"jsonrpc":"2.0","id":{text},"method":"x"}}"#);
    envelope::decode(line.as_bytes()).id.unwrap()
}

fn run(stdout: String, result: Value) -> Run {
    Run {
        exit: Exit::Code(0),
        limit: None,
        duration_ms: 1,
        timing_us: Timing::default(),
        stdout_bytes: stdout.len() as u64,
        stdout,
        stderr: String::new(),
        stderr_bytes: 0,
        stdout_truncated: false,
        stderr_truncated: false,
        isolation: Isolation {
            tier: Tier::Process,
            layers: vec!["rlimits".to_owned()],
        },
        error: None,
        result,
        artifacts: Vec::new(),
        artifacts_left_out: 0,
        artifacts_refused: Vec::new(),
        artifacts_unkept: Vec::new(),
        artifacts_renamed: Vec::new(),
        artifacts_withheld: 0,
        figures_unkept: 0,
        events: Vec::new(),
        accesses: BTreeMap::new(),
    }
}

fn outcome(run: Option<Run>, verdict: Option<Verdict>) -> Reply {
    Reply::Outcome(Box::new(Outcome {
        id: ProposalId::new(),
        digest: Digest::of(b"x"),
        state: State::Succeeded,
        message: "It ran.".to_owned(),
        retry: Retry::No,
        verdict,
        decision: None,
        run,
    }))
}

fn verdict(findings: usize, lines: u32) -> Verdict {
    let finding = Finding {
        rule: "ATTR001".to_owned(),
        name: "dunder".to_owned(),
        severity: Severity::High,
        action: Action::Block,
        message: "reads `__class__`".to_owned(),
        hint: "leave it out".to_owned(),
        cwe: vec![693],
        line: 1,
        column: 1,
        end_line: 1,
        end_column: 2,
        capability: Some(Capability::Reflect),
    };
    Verdict {
        verdict: VerdictKind::Blocked,
        policy: PolicyRef {
            profile: "analysis".to_owned(),
            sha256: "0".repeat(64),
        },
        findings: vec![finding; findings],
        capabilities: vec![CapabilityUse {
            capability: Capability::Reflect,
            lines: (0..lines).collect(),
            detail: "x".to_owned(),
        }],
        source: SourceStats::of(b"x"),
        elapsed_us: 1,
        facts: None,
        places: Vec::new(),
        flows: Default::default(),
    }
}

/// The frame as the peer reads it; checks what must hold for every frame.
fn parse_frame(line: &[u8]) -> Value {
    assert!(line.len() <= FRAME_MAX + 1, "{} bytes", line.len());
    assert_eq!(line.iter().filter(|b| **b == b'\n').count(), 1);
    assert_eq!(line.last(), Some(&b'\n'));
    let value: Value = serde_json::from_slice(line).unwrap();
    assert_eq!(value["jsonrpc"], "2.0");
    value
}

#[test]
fn an_answer_echoes_the_id_byte_for_byte() {
    let reply = Ok(Reply::State {
        id: ProposalId::new(),
        state: State::Pending,
    });
    for text in [
        "1.0",
        "123456789012345678901234567890",
        r#""a\u0062""#,
        "null",
    ] {
        let line = String::from_utf8(response(&id(text), &reply)).unwrap();
        assert!(
            line.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{text},"result":{{"#)),
            "{line}"
        );
    }
    let error = parse_frame(&response(
        &Id::null(),
        &Err(RpcError::new(RpcError::PARSE, "no")),
    ));
    assert_eq!(error["id"], Value::Null);
    assert_eq!(error["error"]["code"], RpcError::PARSE);
    assert!(error.get("result").is_none());
}

#[test]
fn a_frame_carries_at_most_200_kb_of_stdout_cut_between_characters() {
    let text = "é".repeat(300_000);
    let answer = parse_frame(&response(
        &id("1"),
        &Ok(outcome(Some(run(text, Value::Null)), None)),
    ));
    let run = &answer["result"]["run"];
    assert_eq!(run["stdout"].as_str().unwrap().len(), 200_000);
    assert_eq!(run["stdout_truncated"], true);
    assert_eq!(run["stderr_truncated"], false);
    assert_eq!(run["stdout_bytes"], 600_000);
}

#[test]
fn output_within_the_limit_arrives_whole() {
    let text = "x".repeat(200_000);
    let answer = parse_frame(&response(
        &id("1"),
        &Ok(outcome(Some(run(text.clone(), json!({"a": 1}))), None)),
    ));
    assert_eq!(answer["result"]["run"]["stdout"], text);
    assert_eq!(answer["result"]["run"]["stdout_truncated"], false);
    assert_eq!(answer["result"]["run"]["result"], json!({"a": 1}));
}

#[test]
fn escapes_that_inflate_a_frame_cut_the_output_and_not_the_answer() {
    let answer = parse_frame(&response(
        &id("1"),
        &Ok(outcome(
            Some(run("\u{1}".repeat(200_000), json!({"kept": true}))),
            None,
        )),
    ));
    let run = &answer["result"]["run"];
    assert_eq!(run["stdout"].as_str().unwrap().len(), 100_000);
    assert_eq!(run["stdout_truncated"], true);
    assert_eq!(run["result"]["kept"], true);
}

#[test]
fn a_result_or_findings_beyond_a_frame_are_cut_and_marked() {
    let huge = json!({"output": "x".repeat(2_000_000)});
    let answer = parse_frame(&response(
        &id("1"),
        &Ok(outcome(Some(run("out".to_owned(), huge)), None)),
    ));
    assert_eq!(answer["result"]["state"], "succeeded");
    assert_eq!(answer["result"]["run"]["result"], Value::Null);
    assert!(answer["result"]["run"]["result_left_out"].is_string());

    let many = verdict(20_000, 0);
    let whole = parse_frame(&response(
        &id("1"),
        &Ok(Reply::Verdict(Arc::new(many.clone()))),
    ));
    assert_eq!(whole["result"]["verdict"], "blocked");
    assert_eq!(whole["result"]["findings"].as_array().unwrap().len(), 1_000);
    assert_eq!(whole["result"]["findings_left_out"], 19_000);
    let inside = parse_frame(&response(&id("1"), &Ok(outcome(None, Some(many)))));
    assert_eq!(inside["result"]["verdict"]["findings_left_out"], 19_000);

    let lines = parse_frame(&response(
        &id("1"),
        &Ok(Reply::Verdict(Arc::new(verdict(1, 500_000)))),
    ));
    let first = &lines["result"]["capabilities"][0];
    assert_eq!(first["lines_left_out"], 499_000);
}

#[test]
fn an_error_is_never_larger_than_a_frame() {
    let error = RpcError::new(RpcError::INVALID_PARAMS, "é".repeat(1_000_000))
        .with_data(json!({"a": "x".repeat(2_000_000)}));
    let answer = parse_frame(&response(&id("1"), &Err(error)));
    assert_eq!(answer["error"]["code"], RpcError::INVALID_PARAMS);
}

#[test]
fn long_output_becomes_several_notifications_that_add_up() {
    let text = "\u{1}é".repeat(200_000);
    let frames = note(&Note::Output {
        id: ProposalId::new(),
        stream: StreamName::Stderr,
        text: text.clone(),
    });
    assert!(frames.len() > 1);
    let joined: String = frames
        .iter()
        .map(|f| {
            let value = parse_frame(f);
            assert_eq!(value["method"], "output");
            assert_eq!(value["params"]["stream"], "stderr");
            assert!(value.get("id").is_none());
            value["params"]["text"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(joined, text);

    let state = note(&Note::State {
        id: ProposalId::new(),
        state: State::Running,
    });
    assert_eq!(parse_frame(&state[0])["params"]["state"], "running");
}

proptest::proptest! {
    // Each case writes up to a few megabytes.
    #![proptest_config(proptest::test_runner::Config::with_cases(24))]

    #[test]
    fn no_answer_is_ever_longer_than_a_frame(
        stdout in proptest::collection::vec(proptest::prelude::any::<char>(), 0..50),
        repeat in 0usize..20_000,
        findings in 0usize..3_000,
    ) {
        let text: String = stdout.iter().collect::<String>().repeat(repeat);
        let reply = outcome(Some(run(text, Value::Null)), Some(verdict(findings, 10)));
        let answer = parse_frame(&response(&id("1"), &Ok(reply)));
        proptest::prop_assert_eq!(&answer["result"]["state"], "succeeded");
    }
}
