//! One run from the broker's side, from the grant to its last note: warm where a place waits, cold
//! otherwise.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

use crate::broker::ExecNote;

use super::control::Switch;
use super::datasets::Sources;
use super::launch::{self, Launched};
use super::running::Running;
use super::spec::{Fault, RunSpec};
use super::zygote::Pool;
use super::{certify, ending};

/// How long interpreter and libraries may take to start; a cold disk needs a while.
const PREPARE_MAX: Duration = Duration::from_secs(120);

/// The same where they are loaded already; after it the run is started cold.
const WARM_MAX: Duration = Duration::from_secs(10);

/// Runs it to its end. The value is the last note.
pub(super) fn drive(
    spec: &RunSpec,
    exe: BorrowedFd<'_>,
    warm: Option<&Pool>,
    sources: &Sources,
    switch: &Arc<Switch>,
    note: &dyn Fn(ExecNote),
) -> ExecNote {
    if !certify::is_needed(spec) {
        return once(spec, exe, warm, sources, switch, note);
    }
    // The switches hold for both: it was released, and a kill ends whichever runs.
    certify::run(spec, note, |spec, note| {
        once(spec, exe, warm, sources, switch, note)
    })
}

/// One child to its end.
fn once(
    spec: &RunSpec,
    exe: BorrowedFd<'_>,
    warm: Option<&Pool>,
    sources: &Sources,
    switch: &Arc<Switch>,
    note: &dyn Fn(ExecNote),
) -> ExecNote {
    if let Some(place) = warm.and_then(|pool| pool.take(spec)) {
        let mut held = false;
        let launched = launch::launch_in(place, spec, sources, switch);
        if launched.is_err() && switch.killed() {
            return ending::never_launched(spec);
        }
        let result =
            launched.and_then(|launched| attend(spec, launched, WARM_MAX, switch, note, &mut held));
        match result {
            Ok(last) => return last,
            Err(fault) if held => return failed(&fault),
            // Nothing was told of it and nothing of the run was read: as if it had not been tried.
            Err(fault) => {
                tracing::warn!(detail = %fault.detail, "no warm start: {}", fault.message);
            }
        }
    }
    let launched = launch::launch(spec, exe, sources, switch);
    if launched.is_err() && switch.killed() {
        return ending::never_launched(spec);
    }
    let result =
        launched.and_then(|launched| attend(spec, launched, PREPARE_MAX, switch, note, &mut false));
    if let Some(pool) = warm {
        // The next one is to find a place.
        pool.want(spec);
    }
    match result {
        Ok(last) => last,
        Err(fault) => failed(&fault),
    }
}

fn failed(fault: &Fault) -> ExecNote {
    tracing::warn!(detail = %fault.detail, "run failed: {}", fault.message);
    ExecNote::Failed {
        message: fault.message.clone(),
    }
}

/// From the start to the end of what was launched. `held`: whether the run got as far as waiting for
/// its release.
fn attend(
    spec: &RunSpec,
    launched: Launched,
    patience: Duration,
    switch: &Arc<Switch>,
    note: &dyn Fn(ExecNote),
    held: &mut bool,
) -> Result<ExecNote, Fault> {
    if !launched.noted.is_empty() {
        note(ExecNote::Noted(launched.noted.clone()));
    }
    let mut run = Running::new(spec, launched, patience, switch, note);
    let result = run.run();
    *held = run.is_held();
    run.close();
    result
}
