//! The dashboard's binary under limits of open files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;

use common::dash::{Dash, Options};
use serde_json::{Value, json};

/// The number of descriptors that the dashboard needs, as README says.
const NEEDED: u64 = 512;

fn with(soft: u64, hard: u64) -> Options<'static> {
    Options {
        open_files: Some((soft, hard)),
        ..Options::default()
    }
}

/// The soft and the hard limit of a process.
fn limits(pid: u32) -> (u64, u64) {
    let text = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let line = text.lines().find(|l| l.starts_with("Max open files"));
    let mut numbers = line
        .unwrap()
        .split_whitespace()
        .filter_map(|w| w.parse().ok());
    (numbers.next().unwrap(), numbers.next().unwrap())
}

/// An accepted connection, or the line with the reason for its refusal.
fn connect(dash: &Dash) -> Result<UnixStream, String> {
    let mut stream = UnixStream::connect(&dash.socket).unwrap();
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "datasets"});
    let refused = |e: std::io::Error| e.to_string();
    stream
        .write_all(format!("{hello}\n").as_bytes())
        .map_err(refused)?;
    let mut line = String::new();
    BufReader::new(&stream)
        .read_line(&mut line)
        .map_err(refused)?;
    let answer: Value = serde_json::from_str(&line).map_err(|e| format!("{line:?}: {e}"))?;
    match answer["result"].is_array() {
        true => Ok(stream),
        false => Err(line),
    }
}

#[test]
fn the_soft_limit_is_raised_and_every_connection_that_is_promised_fits() {
    let mut dash = Dash::with(&with(64, NEEDED));
    assert_eq!(limits(dash.pid()), (NEEDED, NEEDED));
    // All connections that one user may have, including the agent of the run.
    let mut agent = dash.agent();
    let mut all = Vec::new();
    while all.len() < 127 {
        all.push(connect(&dash).unwrap_or_else(|reason| panic!("{}: {reason}", all.len())));
    }
    let reason = connect(&dash).unwrap_err();
    assert!(reason.contains("128"), "{reason}");
    let proposal = agent.code("print('in' + ' time')\n");
    dash.grant(&mut agent, &proposal);
    let outcome = agent.outcome(&proposal["id"]);
    assert_eq!(outcome["run"]["stdout"], "in time\n", "{outcome}");
    let layers = outcome["run"]["isolation"]["layers"].as_array().unwrap();
    assert!(layers.contains(&"rlimits".into()), "{layers:?}");
    // There is room for as many connections of other users.
    let open = std::fs::read_dir(format!("/proc/{}/fd", dash.pid()))
        .unwrap()
        .count() as u64;
    assert!(open + 128 + 64 < NEEDED, "{open}");
}

#[test]
fn a_hard_limit_that_is_too_low_is_named_with_the_needed_number() {
    for hard in [64, 256, NEEDED - 1] {
        let mut dash = Dash::launch(&with(64, hard));
        let screen = dash.wait_text("ulimit -Hn");
        let text = screen.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("limit of open files is too low"), "{screen}");
        assert!(
            text.contains(&format!("{hard} open files at most")),
            "{screen}"
        );
        assert!(text.contains(&format!("{NEEDED} are needed")), "{screen}");
        assert!(!text.contains("tier"), "{screen}");
        assert_eq!(dash.wait_exit().exit_code(), 1);
    }
}
