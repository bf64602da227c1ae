//! What reached the interpreter, memory, a library for everybody or a file outside the run once
//! (`tests/data/reaching.jsonl`): run by a real child, and without its effect.

use super::{TIER, run_spec};
use crate::executor::spec::RunSpec;
use crate::executor::tests::bench::*;
use crate::policy::Policy;

#[derive(serde::Deserialize)]
struct Row {
    expect: String,
    code: String,
}

/// What a row prints where it got what it was after.
const TOOK: &str = "TOOK";

#[test]
fn what_took_effect_once_takes_none() {
    if !available(TIER) {
        return;
    }
    let policy = Policy {
        tier: TIER,
        ..profile("analysis")
    };
    let rows = include_str!("../../../tests/data/reaching.jsonl").lines();
    let rows = rows.map(|line| serde_json::from_str::<Row>(line).unwrap());
    let (mut ran, mut wrong) = (0, Vec::new());
    // A person is asked about the others, with what they do.
    for row in rows.filter(|row| row.expect == "clear") {
        let told = run_spec(RunSpec {
            env: pandas(),
            ..spec(&row.code, policy.clone())
        });
        let run = told.run();
        ran += 1;
        // A row that crashed the interpreter got to memory too.
        if run.stdout.contains(TOOK) || matches!(run.exit, crate::model::Exit::Signal(_)) {
            wrong.push(format!("{}\n{run:?}", row.code));
        }
    }
    assert!(ran >= 50, "{ran}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The token is what a row prints where nothing keeps it from doing so.
#[test]
fn a_row_that_gets_there_says_so() {
    if !available(TIER) {
        return;
    }
    let told = run_spec(spec(
        "def took():\n    print(\"TOOK\")\nif len('a'): took()",
        profile("analysis"),
    ));
    assert!(told.run().stdout.contains(TOOK), "{:?}", told.run());
}
