//! The second child of a contract that promises something about its result: a fresh one, confined
//! like the first, that runs no snippet and looks at what the first handed over.
//!
//! The first child's word is a claim: its snippet could have patched whatever says so.

use serde_json::Value;

use crate::broker::ExecNote;
use crate::model::{BoundInput, Digest, Exit, Run, RunError, RunErrorKind};
use crate::policy::Contract;

use super::spec::RunSpec;

/// Why columns that keep the contract are not handed back.
const WITHHELD: &str = "made from a private data set";

/// What comes of a run whose first child ended so; `again` runs one more child to its end.
pub fn after(
    spec: &RunSpec,
    first: ExecNote,
    again: impl FnOnce(&RunSpec) -> ExecNote,
) -> ExecNote {
    let ExecNote::Ended(mut run) = first else {
        return first;
    };
    if spec.policy.contract != Contract::Feature || run.error.is_some() {
        return ExecNote::Ended(run);
    }
    let claimed = run.result.take();
    let Some(columns) = claimed.get("arrow").and_then(|arrow| arrow.as_str()) else {
        run.error = Some(RunError {
            kind: RunErrorKind::SandboxError,
            message: "the child handed no columns over".to_owned(),
            line: None,
            exception: None,
        });
        return ExecNote::Ended(run);
    };
    let second = RunSpec {
        code: "".into(),
        digest: Digest::of(b""),
        handed: Some(columns.into()),
        ..spec.clone()
    };
    let private = spec.inputs.iter().any(BoundInput::is_private);
    match again(&second) {
        ExecNote::Ended(certified) => {
            take(&mut run, *certified, private);
            ExecNote::Ended(run)
        }
        failed => failed,
    }
}

/// The second child's word on the result, and both children's time.
fn take(run: &mut Run, certified: Run, private: bool) {
    run.duration_ms += certified.duration_ms;
    run.timing_us.grant_to_exit = certified.timing_us.grant_to_exit;
    run.limit = certified.limit;
    run.error = certified.error;
    if run.error.is_none() && certified.exit == Exit::Code(0) {
        run.result = certified.result;
        if private {
            // Nobody can look for a value in packed columns.
            run.result["arrow"] = Value::Null;
            run.result["withheld"] = WITHHELD.into();
        }
    } else {
        run.exit = certified.exit;
    }
}
