//! One run from the broker's side, from the grant to its last note: warm where a place waits, cold
//! otherwise.

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
use super::given::{self, Given, Told};
use crate::executor::run::certify;
use crate::executor::run::ending;

/// How long interpreter and libraries may take to start; a cold disk needs a while.
const PREPARE_MAX: Duration = Duration::from_secs(120);

/// The same where they are loaded already; after it the run is started cold.
const WARM_MAX: Duration = Duration::from_secs(10);

/// Runs it to its end. The value is the last note.
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
            // Nothing was told of it and nothing of the run was read: as if it had not been tried.
            Err(fault) => tracing::warn!(detail = %fault.detail, "no warm start: {fault}"),
        }
    }
    let result = start.cold(exe);
    if let Some(pool) = warm {
        // The next one is to find a slot.
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

/// A cold start alone.
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
        // Of a zygote's run the setup and the bundle are the zygote's.
        let files = Handed {
            job: given.job,
            code: given.code,
            digest: self.spec.digest,
            inputs: given.inputs,
        };
        let launched = child::warm(slot, confinement, &files)?;
        self.attend(launched, &given.told, WARM_MAX)
    }

    fn cold(&mut self, exe: BorrowedFd<'_>) -> Result<ExecNote, Fault> {
        let launched = self.launch(exe);
        if launched.is_err() && self.switch.killed() {
            return Ok(ending::never_launched(self.spec));
        }
        let (launched, told) = launched?;
        self.attend(launched, &told, PREPARE_MAX)
    }

    fn launch(&self, exe: BorrowedFd<'_>) -> Result<(Launched, Told), Fault> {
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
        Ok((child::cold(exe, confinement, files)?, given.told))
    }

    /// From the start to the end of what was launched. The value is the last note.
    fn attend(
        &mut self,
        launched: Launched,
        told: &Told,
        patience: Duration,
    ) -> Result<ExecNote, Fault> {
        if !told.noted.is_empty() {
            (self.note)(ExecNote::Noted(told.noted.clone()));
        }
        let mut run = Attendant::new(self.spec, told, launched.folder(), self.switch, self.note)?;
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
