//! The second child of a contract that promises something about its result: a fresh one, confined
//! like the first, that runs no snippet and looks at what the first handed over.
//!
//! The first child's word is a claim: its snippet could have patched whatever says so. Each hands
//! over in a file of its output folder; what the first left is never told.

use std::cell::RefCell;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::broker::ExecNote;
use crate::model::{Artifact, Blob, Digest, Exit, Run, RunError, RunErrorKind};
use crate::policy::Contract;

use crate::executor::spec::RunSpec;

/// The file in which columns are handed over, and the artifact in which they come back.
const FILE: &str = "columns.arrow";

/// Bytes of columns that the result carries itself: beside everything else in a frame of 1 MiB.
const INLINE_MAX: usize = 300_000;

/// Why columns that keep the contract are not handed back.
const WITHHELD: &str = "made from a private data set";

/// Whether what comes of a run is looked at by a second child.
pub fn is_needed(spec: &RunSpec) -> bool {
    spec.policy.contract == Contract::Feature
}

/// One child after the other, by `once`; what they left is kept here until it is certified.
pub fn run(
    spec: &RunSpec,
    note: &dyn Fn(ExecNote),
    once: impl Fn(&RunSpec, &dyn Fn(ExecNote)) -> ExecNote,
) -> ExecNote {
    let held = RefCell::new(Vec::new());
    let first = once(spec, &|said| match said {
        ExecNote::Left(blobs) => *held.borrow_mut() = blobs,
        other => note(other),
    });
    let ExecNote::Ended(mut run) = first else {
        return first;
    };
    let (handed, left) = apart(&mut run.artifacts, held.take());
    let last = if run.error.is_some() {
        Certified::none()
    } else if let Some((_, columns)) = handed {
        let second = RunSpec {
            code: "".into(),
            digest: Digest::of(b""),
            handed: Some(columns.bytes),
            ..spec.clone()
        };
        match certified(&second, &mut run, &once) {
            Ok(certified) => certified,
            Err(failed) => return failed,
        }
    } else {
        run.result = Value::Null;
        run.error = Some(RunError {
            kind: RunErrorKind::SandboxError,
            message: "the child handed no columns over".to_owned(),
            line: None,
            exception: None,
        });
        Certified::none()
    };
    let mut blobs = left;
    if spec.hides_any() {
        withhold(&mut run, &mut blobs, &last);
    } else if let Some((file, columns)) = last.columns {
        let inline = (columns.bytes.len() <= INLINE_MAX).then(|| STANDARD.encode(&columns.bytes));
        run.result["arrow"] = inline.into();
        run.result["artifact"] = FILE.into();
        run.artifacts.push(file);
        blobs.push(columns);
    }
    if !blobs.is_empty() {
        note(ExecNote::Left(blobs));
    }
    ExecNote::Ended(run)
}

/// What the second child left.
struct Certified {
    columns: Option<(Artifact, Blob)>,
}

impl Certified {
    const fn none() -> Self {
        Self { columns: None }
    }
}

/// The second child's word on the result, and both children's time.
fn certified(
    second: &RunSpec,
    run: &mut Run,
    once: impl Fn(&RunSpec, &dyn Fn(ExecNote)) -> ExecNote,
) -> Result<Certified, ExecNote> {
    let held = RefCell::new(Vec::new());
    let ended = once(second, &|said| {
        if let ExecNote::Left(blobs) = said {
            *held.borrow_mut() = blobs;
        }
    });
    let ExecNote::Ended(mut certified) = ended else {
        return Err(ended);
    };
    let (columns, _) = apart(&mut certified.artifacts, held.take());
    run.duration_ms += certified.duration_ms;
    run.timing_us.grant_to_exit = certified.timing_us.grant_to_exit;
    run.limit = certified.limit;
    run.error = certified.error;
    if run.error.is_some() || certified.exit != Exit::Code(0) {
        run.exit = certified.exit;
        run.result = Value::Null;
        return Ok(Certified::none());
    }
    run.result = certified.result;
    if run.result.is_object() {
        // Not adopted, or put there by who has the file.
        run.result["arrow"] = Value::Null;
    }
    Ok(Certified { columns })
}

/// Takes the file of the columns out of what a child left; the rest stays.
fn apart(files: &mut Vec<Artifact>, blobs: Vec<Blob>) -> (Option<(Artifact, Blob)>, Vec<Blob>) {
    let (columns, rest): (Vec<_>, Vec<_>) = std::mem::take(files)
        .into_iter()
        .zip(blobs)
        .partition(|(file, _)| file.name == FILE);
    let (rest, blobs) = rest.into_iter().unzip();
    *files = rest;
    (columns.into_iter().next(), blobs)
}

/// Nobody can look for a value in packed columns or another file.
fn withhold(run: &mut Run, blobs: &mut Vec<Blob>, last: &Certified) {
    run.withhold_files();
    blobs.clear();
    if last.columns.is_some() {
        run.result["withheld"] = WITHHELD.into();
    }
}
