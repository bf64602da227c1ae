//! Code that once reached the interpreter, memory, a shared library or a file outside the run
//! (`tests/data/reaching.jsonl`): run by a real child, without its effect.

use std::collections::BTreeMap;

use super::{TIER, run_spec};
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
/// Of each category these run, and of the rest every eighth.
const FIRST: usize = 8;
const EACH: usize = 8;

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
    // Of a category with many rows a part, as each takes a while; all with `CS_REACHING=all`.
    let whole = std::env::var("CS_REACHING").is_ok_and(|all| all == "all");
    let mut of = BTreeMap::<String, usize>::new();
    for row in rows.filter(runs) {
        let nth = of.entry(row.category.clone()).or_default();
        *nth += 1;
        if !whole && *nth > FIRST && !nth.is_multiple_of(EACH) {
            continue;
        }
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
    assert!(ran >= 50, "{ran}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Shows that a row prints the token if nothing prevents it.
#[test]
fn a_row_that_succeeds_prints_the_token() {
    if !available(TIER) {
        return;
    }
    let policy = Policy {
        tier: TIER,
        ..profile("analysis")
    };
    let outcome = run_spec(spec(
        "def took():\n    print(\"TOOK\")\nif len('a'): took()",
        policy,
    ));
    assert!(outcome.run().stdout.contains(TOOK), "{:?}", outcome.run());
}
