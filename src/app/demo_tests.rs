//! The bundle is complete, and its agents work on a real socket.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;

use super::*;
use crate::model::{InputRequest, VerdictKind};

#[test]
fn the_bundle_is_read_whole() {
    let manifest: Manifest = toml::from_str(MANIFEST).unwrap();
    assert_eq!(manifest.proposal.len(), proposals().len());
    let used: BTreeSet<_> = manifest
        .proposal
        .iter()
        .filter_map(|i| i.file.clone())
        .collect();
    let known: BTreeSet<_> = SNIPPETS
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .collect();
    assert_eq!(used, known, "each snippet is used, each name is known");
}

#[test]
fn at_least_eight_proposals_of_two_agents_parse_as_params_of_propose() {
    let all = proposals();
    assert!(all.len() >= 8);
    for p in &all {
        let wire = serde_json::to_string(&p.draft).unwrap();
        assert!(wire.len() < 64 * 1024);
        assert_eq!(serde_json::from_str::<Draft>(&wire).unwrap(), p.draft);
        assert!(p.draft.title.is_some() && p.draft.reason.is_some());
    }
    let agents: BTreeSet<_> = all.iter().map(|p| p.agent.as_str()).collect();
    assert!(agents.len() >= 2);
}

#[test]
fn three_arrive_at_once_and_the_others_one_by_one() {
    let after: Vec<_> = proposals().iter().map(|p| p.after).collect();
    assert!(after.is_sorted());
    assert_eq!(after.iter().filter(|a| a.is_zero()).count(), 3);
    let later = &after[3..];
    assert!(
        later
            .windows(2)
            .all(|w| w[1] >= w[0] + Duration::from_secs(2))
    );
}

#[test]
fn every_kind_is_in_the_demo() {
    let all = proposals();
    let count = |kind| all.iter().filter(|p| p.verdict == kind).count();
    assert!(count(VerdictKind::Clear) >= 2);
    assert!(count(VerdictKind::Flagged) >= 2);
    assert!(count(VerdictKind::Blocked) >= 2);
    assert!(
        all.iter().any(|p| p.draft.ttl_s == Some(20)),
        "one proposal expires quickly"
    );
    let long = |p: &DemoProposal| p.draft.code.lines().count() >= 150;
    assert!(all.iter().any(long), "one proposal is longer than a screen");
    let brings = |matches: fn(&InputRequest) -> bool| {
        all.iter()
            .flat_map(|p| p.draft.inputs.values())
            .any(matches)
    };
    assert!(brings(|i| matches!(i, InputRequest::Json { .. })));
    assert!(brings(|i| matches!(i, InputRequest::Text { .. })));
    let hostile = all.iter().filter(|p| {
        let title = p.draft.title.as_deref().unwrap_or_default();
        title.contains('\u{1b}') || p.draft.code.contains('\u{202e}')
    });
    assert!(hostile.count() >= 2);
}

#[test]
fn data_sets_are_known_and_have_the_columns_that_the_code_uses() {
    let columns: BTreeMap<&str, Vec<String>> = dataset_files()
        .iter()
        .map(|(name, text)| {
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let header = reader
                .headers()
                .unwrap()
                .iter()
                .map(str::to_owned)
                .collect();
            assert_eq!(reader.records().map(Result::unwrap).count(), 344);
            (*name, header)
        })
        .collect();
    assert!(dataset_files().iter().map(|(_, t)| t.len()).sum::<usize>() < 200_000);
    let uses = [
        (
            "penguins",
            "species island bill_length_mm bill_depth_mm flipper_length_mm body_mass_g sex year",
            ' ',
        ),
        (
            "penguins_raw",
            "studyName|Sample Number|Species|Island|Individual ID|Date Egg|Culmen Length (mm)|\
             Culmen Depth (mm)|Flipper Length (mm)|Body Mass (g)|Sex|Delta 15 N (o/oo)|\
             Delta 13 C (o/oo)|Comments",
            '|',
        ),
    ];
    for (name, used, by) in uses {
        for column in used.split(by) {
            assert!(columns[name].iter().any(|c| c == column), "{name}.{column}");
            let quoted = format!("\"{column}\"");
            let code: String = proposals()
                .iter()
                .map(|p| p.draft.code.to_string())
                .collect();
            assert!(code.contains(&quoted), "{column} is not used");
        }
    }
    for p in proposals() {
        for (input, request) in &p.draft.inputs {
            assert!(p.draft.code.contains(input.as_str()), "{input} is not used");
            if let InputRequest::Dataset { dataset } = request {
                assert!(columns.contains_key(dataset.as_str()), "{dataset}");
            }
        }
    }
}

#[test]
fn the_data_sets_are_written_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let written = write_datasets(dir.path()).unwrap();
    assert_eq!(written.len(), dataset_files().len());
    for (name, text) in dataset_files() {
        assert_eq!(std::fs::read_to_string(&written[*name]).unwrap(), *text);
    }
    assert!(write_datasets(&dir.path().join("missing")).is_err());
}

/// Plays the dashboard for one connection: answers each request and passes it on to the test.
async fn serve(stream: UnixStream, seen: mpsc::UnboundedSender<Value>) {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    let mut ids = 0;
    while let Ok(Some(line)) = lines.next_line().await {
        let request: Value = serde_json::from_str(&line).unwrap();
        let result = match request["method"].as_str().unwrap() {
            "hello" => json!({"protocol": 1}),
            "propose" => {
                ids += 1;
                json!({"id": ids.to_string(), "state": "pending", "expires_at": "soon"})
            }
            "wait" => json!({"id": request["params"]["id"], "state": "expired"}),
            other => panic!("{other}"),
        };
        let note = json!({"jsonrpc": "2.0", "method": "state", "params": {}});
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        seen.send(request).unwrap();
        let text = format!("{note}\n{answer}\n");
        if write.write_all(text.as_bytes()).await.is_err() {
            return;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn every_agent_greets_proposes_in_time_and_waits_for_each_outcome() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("agent.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let (seen, mut requests) = mpsc::unbounded_channel();
    let server = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(serve(stream, seen.clone()));
        }
    });
    feed(path).await;
    server.abort();
    let _ = server.await;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut codes = BTreeSet::new();
    while let Some(request) = requests.recv().await {
        let method = request["method"].as_str().unwrap().to_owned();
        if method == "propose" {
            let draft: Draft = serde_json::from_value(request["params"].clone()).unwrap();
            codes.insert(draft.code.to_string());
        }
        *counts.entry(method).or_default() += 1;
    }
    let all = proposals();
    let agents: BTreeSet<_> = all.iter().map(|p| &p.agent).collect();
    assert_eq!(
        counts["hello"],
        agents.len(),
        "one connection for each agent"
    );
    assert_eq!(counts["propose"], all.len());
    assert_eq!(counts["wait"], all.len());
    assert_eq!(codes.len(), all.len());
}

#[tokio::test(start_paused = true)]
async fn a_dashboard_that_closes_ends_the_demo() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("agent.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let feeding = tokio::spawn(feed(path));
    for _ in 0..3 {
        let (stream, _) = listener.accept().await.unwrap();
        drop(stream);
    }
    feeding.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_dashboard_that_never_listens_ends_the_demo() {
    let dir = tempfile::tempdir().unwrap();
    feed(dir.path().join("agent.sock")).await;
}

#[tokio::test(start_paused = true)]
async fn refused_proposals_and_garbage_do_not_keep_an_agent() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("agent.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let feeding = tokio::spawn(feed(path));
    let server = tokio::spawn(async move {
        for n in 0..3 {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(async move {
                let (read, mut write) = stream.into_split();
                let mut lines = BufReader::new(read).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    let id = serde_json::from_str::<Value>(&line).unwrap()["id"].clone();
                    let error = json!({"code": -32002, "message": "full"});
                    let answer = json!({"jsonrpc": "2.0", "id": id, "error": error});
                    let text = match n {
                        0 => "this is no JSON\n".to_owned(),
                        _ => format!("{answer}\n"),
                    };
                    if write.write_all(text.as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    feeding.await.unwrap();
    server.await.unwrap();
}

#[test]
fn every_proposal_gets_its_intended_verdict() {
    let policies = crate::policy::builtin().unwrap();
    let policy = policies.iter().find(|p| p.name == "analysis").unwrap();
    for p in proposals() {
        let verdict = crate::analysis::analyse(p.draft.code.as_bytes(), policy);
        let title = p.draft.title.unwrap_or_default();
        assert_eq!(
            verdict.verdict, p.verdict,
            "{title}: {:?}",
            verdict.findings
        );
    }
}
