//! The reader of a log: whatever its records say, every reader ends, agrees with the others and tells nothing raw.

use std::fs;

use countersign::audit::Log;
use sha2::{Digest as _, Sha256};

/// Writes each line as a record that is sealed as the writer does: `!` before a line leaves it as it is.
pub fn check(data: &[u8]) {
    let dir = tempfile::tempdir().expect("a folder");
    let log = dir.path().join("log");
    fs::create_dir(&log).expect("a folder");
    let mut prev = "0".repeat(64);
    let mut bytes = Vec::new();
    let header = b"{\"v\":1,\"segment\":1,\"first_seq\":1,\"ts\":\"2026-01-01T00:00:00Z\"";
    let lines = data.split(|b| *b == b'\n');
    for (n, line) in std::iter::once(&header[..]).chain(lines).enumerate() {
        match line.strip_prefix(b"!").filter(|_| n > 0) {
            Some(raw) => bytes.extend_from_slice(raw),
            None => {
                let mut body = line.to_vec();
                body.extend_from_slice(format!(",\"prev\":\"{prev}\"").as_bytes());
                prev = Sha256::digest(&body)
                    .iter()
                    .map(|b| format!("{b:02x}"))
                    .collect();
                bytes.extend_from_slice(&body);
                bytes.extend_from_slice(format!(",\"hash\":\"{prev}\"}}").as_bytes());
            }
        }
        bytes.push(b'\n');
    }
    fs::write(log.join("00000001.jsonl"), bytes).expect("a file");
    let log = Log::open(dir.path()).expect("a log");
    let report = log.verify().expect("a report");
    let listed = log.proposals().expect("a list");
    let first = report.first().map(ToString::to_string);
    assert_eq!(report.damage, listed.faults.chain, "readers disagree");
    assert_eq!(report.consistent, first.is_none());
    if let Some(first) = first {
        assert!(!first.chars().any(char::is_control), "{first:?}");
    }
}
