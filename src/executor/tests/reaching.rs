//! Code that once reached the interpreter, memory, a shared library or a file outside the run
//! (`tests/data/reaching.jsonl`): run by a real child, without its effect.

use super::{TIER, WARM, run_spec};
use crate::executor::spec::RunSpec;
use crate::executor::tests::bench::*;
use crate::policy::Policy;

#[derive(serde::Deserialize)]
struct Row {
    category: String,
    expect: String,
    code: String,
}

/// Printed by a row that succeeds.
const TOOK: &str = "TOOK";

#[test]
fn former_escapes_have_no_effect() {
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
    // For the other rows a person is asked, with what they do; but nobody sees what fills the gaps of
    // a computed text.
    let runs = |row: &Row| {
        row.expect == "clear" || (row.expect == "flagged" && row.category == "computed text")
    };
    // All of them warm, where there is more to reach; some cold.
    let step = if WARM { 1 } else { 8 };
    for row in rows.filter(runs).step_by(step) {
        let outcome = run_spec(RunSpec {
            env: pandas(),
            ..spec(&row.code, policy.clone())
        });
        let run = outcome.run();
        ran += 1;
        // A row that crashed the interpreter reached memory too.
        if run.stdout.contains(TOOK) || matches!(run.exit, crate::model::Exit::Signal(_)) {
            wrong.push(format!("{}\n{run:?}", row.code));
        }
    }
    assert!(ran >= 50 / step, "{ran}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Shows that a row prints the token if nothing prevents it.
#[test]
fn a_row_that_succeeds_prints_the_token() {
    if !available(TIER) {
        return;
    }
    let outcome = run_spec(spec(
        "def took():\n    print(\"TOOK\")\nif len('a'): took()",
        profile("analysis"),
    ));
    assert!(outcome.run().stdout.contains(TOOK), "{:?}", outcome.run());
}
