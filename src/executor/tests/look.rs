//! Releases a run whatever the examination from outside finds, which no product code can do. With a
//! layer off it shows both that the examination refuses the run and what the attack then does.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use crate::child::{Client, Handed, Launched, Source, Step, Wish};
use crate::executor::control::Switch;
use crate::executor::fault::{Fault, Why};
use crate::executor::python::runner;
use crate::executor::report::Report;
use crate::executor::run::{drive, given};
use crate::executor::spec::{REPORT_MAX, RunSpec};
use crate::model::{Digest, Isolation, RunError};
use crate::sandbox::protocol::Ending;

use super::bench;

/// The files of a run, with code other than the spec's.
pub fn handed(spec: &RunSpec, code: &str, digest: Digest) -> Handed {
    Handed {
        job: given::file("job", runner::job(spec, &[])).unwrap(),
        code: given::file("code", Ok(code.into())).unwrap(),
        digest,
        inputs: Vec::new(),
    }
}

/// The result of such a run.
pub struct Looked {
    pub outside: Result<Isolation, Fault>,
    pub stdout: String,
    pub stderr: String,
    pub ending: Ending,
    /// The error in its report.
    pub error: Option<RunError>,
}

impl Looked {
    /// The layer that the examination reports as missing.
    pub fn refused(&self) -> &'static str {
        match &self.outside {
            Err(Fault {
                why: Why::Child(crate::child::Why::Unconfined(layer)),
                ..
            }) => layer,
            Err(fault) => panic!("another fault: {fault} ({})", fault.detail),
            Ok(isolation) => panic!("the child is not refused: {:?}", isolation.layers),
        }
    }
}

/// Accepts all output and permits every release.
struct Listener {
    report: Report,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Client for Listener {
    fn take(&mut self, from: Source, bytes: &[u8], _: bool) {
        match from {
            Source::Stdout => self.stdout.extend_from_slice(bytes),
            Source::Stderr => self.stderr.extend_from_slice(bytes),
            Source::Report => self.report.feed(bytes),
        }
    }

    fn wish(&mut self) -> Wish {
        Wish::GoOn
    }

    fn is_ready(&mut self) -> bool {
        self.report.take_ready()
    }
}

/// Runs the spec through the given helper. `compare` is the spec that the examination compares
/// with, if that is not the run's own.
pub fn look(spec: &RunSpec, exe: &OwnedFd, compare: Option<&RunSpec>) -> Result<Looked, Fault> {
    let sources = bench::sources(Default::default());
    let launched = drive::launched(spec, exe.as_fd(), &sources, &Switch::new())?;
    look_at(launched, compare)
}

/// The same for a launched child.
pub fn look_at(launched: Launched, compare: Option<&RunSpec>) -> Result<Looked, Fault> {
    const PATIENCE: Duration = Duration::from_secs(300);
    let mut listener = Listener {
        report: Report::new(REPORT_MAX),
        stdout: Vec::new(),
        stderr: Vec::new(),
    };
    let ended_early = |listener: &Listener, ending: Ending| {
        let message = String::from_utf8_lossy(&listener.stderr);
        Fault::new(Why::NeverReady(format!("{ending:?}")), message)
    };
    let Step::On(mut confined) = launched.confined(PATIENCE, &mut listener)? else {
        panic!("the child ended without a request");
    };
    if let Some(other) = compare {
        let inputs = other.inputs.len();
        confined = confined.compared_with(other.confinement(0, inputs));
    }
    let confined = match confined.ready(&mut listener)? {
        Step::On(confined) => confined,
        Step::Ended(ended) => return Err(ended_early(&listener, ended.ending)),
    };
    let (outside, held) = match confined.look() {
        Ok(held) => (Ok(held.isolation().clone()), held),
        Err(found) => (
            Err(Fault::from(found.fault)),
            found.confined.held_despite_missing_layers(),
        ),
    };
    let Step::On(released) = held.released(&mut listener)? else {
        panic!("the child ended without a request");
    };
    let ended = released.ended(&mut listener)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Looked {
        outside,
        stdout: text(&listener.stdout),
        stderr: text(&listener.stderr),
        ending: ended.ending,
        error: listener.report.claim().ok().and_then(|claim| claim.error),
    })
}

/// Knows already that the runner is ready, and counts how often it is waited for.
struct Knowing {
    waits: usize,
}

impl Client for Knowing {
    fn take(&mut self, _: Source, _: &[u8], _: bool) {}

    fn tick(&mut self) {
        self.waits += 1;
    }

    fn wish(&mut self) -> Wish {
        Wish::GoOn
    }

    fn is_ready(&mut self) -> bool {
        true
    }
}

/// How often a child is waited for whose readiness was read together with its confinement.
pub fn waits_for_known_readiness(spec: &RunSpec, exe: &OwnedFd) -> Result<usize, Fault> {
    const PATIENCE: Duration = Duration::from_secs(300);
    let sources = bench::sources(Default::default());
    let launched = drive::launched(spec, exe.as_fd(), &sources, &Switch::new())?;
    let mut listener = Listener {
        report: Report::new(REPORT_MAX),
        stdout: Vec::new(),
        stderr: Vec::new(),
    };
    let Step::On(confined) = launched.confined(PATIENCE, &mut listener)? else {
        panic!("the child ended without a request");
    };
    let Step::On(confined) = confined.ready(&mut listener)? else {
        panic!("the child ended before it was ready");
    };
    let mut client = Knowing { waits: 0 };
    let Step::On(_) = confined.held(&mut client)? else {
        panic!("the child ended without a request");
    };
    Ok(client.waits)
}
