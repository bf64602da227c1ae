//! One run from the broker's side, from the grant to its last note: a warm start if a slot waits,
//! otherwise a cold one.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

use crate::broker::ExecNote;

use crate::child::{self, Files, Handed, Launched, Slot, Step};
use crate::executor::control::Switch;
use crate::executor::data::datasets::Sources;
use crate::executor::fault::{Fault, Why};
use crate::executor::python::{bundle, runner};
use crate::executor::spec::RunSpec;
use crate::executor::warm::Pool;

use super::attendant::Attendant;
use super::finish::Seen;
use super::given::{self, Given, PrivateData};
use crate::executor::run::certify;
use crate::executor::run::ending;

/// Time limit for starting interpreter and libraries; a cold disk needs a while.
const PREPARE_MAX: Duration = Duration::from_secs(120);

/// The same for a warm start, where they are loaded; after it the run is started cold.
const WARM_MAX: Duration = Duration::from_secs(10);

/// Runs the run to its end and returns the last note.
pub fn drive(
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
    // Both children share the switches: the release counts for both, and a kill ends the current
    // one.
    certify::run(spec, note, |spec, note| {
        once(spec, exe, warm, sources, switch, note)
    })
}

/// Runs one child to its end.
fn once(
    spec: &RunSpec,
    exe: BorrowedFd<'_>,
    warm: Option<&Pool>,
    sources: &Sources,
    switch: &Arc<Switch>,
    note: &dyn Fn(ExecNote),
) -> ExecNote {
    let mut start = Start {
        spec,
        sources,
        switch,
        note,
        held: false,
    };
    if let Some(slot) = warm.and_then(|pool| pool.take(spec)) {
        match start.warm(slot) {
            Ok(last) => return last,
            Err(_) if switch.killed() && !start.held => return ending::never_launched(spec),
            Err(fault) if start.held => return failed(&fault),
            // The failed start was not reported and read nothing of the run, so a cold start can
            // replace it.
            Err(fault) => tracing::warn!(detail = %fault.detail, "no warm start: {fault}"),
        }
    }
    let result = start.cold(exe);
    if let Some(pool) = warm {
        // The next run should find a slot.
        pool.want(spec);
    }
    match result {
        Ok(last) => last,
        Err(fault) => failed(&fault),
    }
}

fn failed(fault: &Fault) -> ExecNote {
    tracing::warn!(detail = %fault.detail, "run failed: {fault}");
    ExecNote::Failed {
        message: fault.to_string(),
    }
}

/// Only the cold start.
#[cfg(test)]
pub fn launched(
    spec: &RunSpec,
    exe: BorrowedFd<'_>,
    sources: &Sources,
    switch: &Arc<Switch>,
) -> Result<Launched, Fault> {
    let start = Start {
        spec,
        sources,
        switch,
        note: &|_| {},
        held: false,
    };
    start.launch(exe).map(|(launched, _)| launched)
}

/// One attempt to start the child of a run, and everything that follows.
struct Start<'a> {
    spec: &'a RunSpec,
    sources: &'a Sources,
    switch: &'a Arc<Switch>,
    note: &'a dyn Fn(ExecNote),
    /// Whether the run got as far as waiting for its release.
    held: bool,
}

impl Start<'_> {
    fn warm(&mut self, slot: Slot) -> Result<ExecNote, Fault> {
        let given = Given::make(self.spec, self.sources, self.switch)?;
        let confinement = self.spec.confinement(given.mapped, given.inputs.len());
        // Setup and bundle come from the zygote.
        let files = Handed {
            job: given.job,
            code: given.code,
            digest: self.spec.digest,
            inputs: given.inputs,
        };
        let launched = child::warm(slot, confinement, &files)?;
        self.attend(launched, &given.private, WARM_MAX)
    }

    fn cold(&mut self, exe: BorrowedFd<'_>) -> Result<ExecNote, Fault> {
        let launched = self.launch(exe);
        if launched.is_err() && self.switch.killed() {
            return Ok(ending::never_launched(self.spec));
        }
        let (launched, private) = launched?;
        self.attend(launched, &private, PREPARE_MAX)
    }

    fn launch(&self, exe: BorrowedFd<'_>) -> Result<(Launched, PrivateData), Fault> {
        let given = Given::make(self.spec, self.sources, self.switch)?;
        let confinement = self.spec.confinement(given.mapped, given.inputs.len());
        let files = Files {
            setup: given::file("setup", runner::setup(self.spec, given.mapped))?,
            bundle: bundle::file(&self.spec.env).map_err(Fault::of(Why::Files))?,
            handed: Handed {
                job: given.job,
                code: given.code,
                digest: self.spec.digest,
                inputs: given.inputs,
            },
        };
        Ok((child::cold(exe, confinement, files)?, given.private))
    }

    /// Attends a launched child to its end and returns the last note.
    fn attend(
        &mut self,
        launched: Launched,
        private: &PrivateData,
        patience: Duration,
    ) -> Result<ExecNote, Fault> {
        if !private.noted.is_empty() {
            (self.note)(ExecNote::Noted(private.noted.clone()));
        }
        let mut run = Attendant::new(
            self.spec,
            private,
            launched.folder(),
            self.switch,
            self.note,
        )?;
        let confined = match launched.confined(patience, &mut run)? {
            Step::On(confined) => confined,
            Step::Ended(ended) => return run.unreleased(&ended, None),
        };
        let held = match confined.held(&mut run)? {
            Step::On(held) => held,
            Step::Ended(ended) => return run.unreleased(&ended, None),
        };
        self.held = true;
        let seen = Seen::of(&held);
        run.holds(&held);
        let released = match held.released(&mut run)? {
            Step::On(released) => released,
            Step::Ended(ended) => return run.unreleased(&ended, Some(&seen)),
        };
        run.goes();
        let at = released.at();
        let ended = released.ended(&mut run)?;
        run.finish(&ended, &seen, at)
    }
}
