//! The second child of a contract that guarantees something about its result: a new child, confined
//! like the first, that runs no snippet and checks what the first handed over.
//!
//! The first child's report is a claim, because its snippet could have patched the code that makes
//! it. Each child hands over a file in its output folder; the first child's file is never
//! disclosed.

use std::cell::RefCell;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::broker::ExecNote;
use crate::model::{Artifact, Blob, Digest, Exit, Run, RunError, RunErrorKind};
use crate::policy::Contract;

use crate::executor::spec::RunSpec;

/// The file in which a child hands columns over, and the artifact in which they are returned.
const FILE: &str = "columns.arrow";

/// Maximum size of columns inside the result, which has to fit into a frame of 1 MiB.
const INLINE_MAX: usize = 300_000;

/// Why columns that satisfy the contract are not returned.
const WITHHELD: &str = "made from a private data set";

/// Whether a second child checks the result of this run.
pub fn is_needed(spec: &RunSpec) -> bool {
    spec.policy.contract == Contract::Feature
}

/// Runs one child after the other with `once`; their files are kept here until they are certified.
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

/// The certified files of the second child.
struct Certified {
    columns: Option<(Artifact, Blob)>,
}

impl Certified {
    const fn none() -> Self {
        Self { columns: None }
    }
}

/// The second child's result, with the time of both children.
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
        // The columns are not returned here: they were not adopted, or they are in the file.
        run.result["arrow"] = Value::Null;
    }
    Ok(Certified { columns })
}

/// Separates the file of the columns from the other files of a child.
fn apart(files: &mut Vec<Artifact>, blobs: Vec<Blob>) -> (Option<(Artifact, Blob)>, Vec<Blob>) {
    let (columns, rest): (Vec<_>, Vec<_>) = std::mem::take(files)
        .into_iter()
        .zip(blobs)
        .partition(|(file, _)| file.name == FILE);
    let (rest, blobs) = rest.into_iter().unzip();
    *files = rest;
    (columns.into_iter().next(), blobs)
}

/// Withholds columns and files, because values cannot be searched for in packed data.
fn withhold(run: &mut Run, blobs: &mut Vec<Blob>, last: &Certified) {
    run.withhold_files();
    blobs.clear();
    if last.columns.is_some() {
        run.result["withheld"] = WITHHELD.into();
    }
}
