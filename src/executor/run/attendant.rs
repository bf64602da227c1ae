//! Attends the child of one run: collects output and report, and ends the run on request.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::broker::ExecNote;
use crate::child::{Client, Held, Meter, Source, Wish};
use crate::clock::Now;
use crate::model::{RunEvent, StreamName, Usage};
use crate::sandbox::{raw, scratch};

use super::checked::{Answer, Checked};
use super::given::PrivateData;
use super::output::{Redactor, Stream};
use super::pipe::Pipe;
use crate::executor::control::Switch;
use crate::executor::fault::{Fault, Why};
use crate::executor::report::Report;
use crate::executor::spec::{REPORT_MAX, RunSpec};

/// How long a guard that was asked to stop may take to report where.
const GRACE: Duration = Duration::from_millis(100);

/// How often the run's processes are measured.
const MEASURE: Duration = Duration::from_secs(1);

/// Why the run has to end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    Cancelled,
    Output,
    /// The environment is not the one that was granted.
    Changed,
}

/// The progress of ending a run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Course {
    GoesOn,
    /// The guard was asked first, so that it can report where the snippet was.
    Asked {
        until: Instant,
        cause: Cause,
    },
    Ends(Cause),
}

/// Attends one run.
pub struct Attendant<'a> {
    pub spec: &'a RunSpec,
    switch: &'a Arc<Switch>,
    pub note: &'a dyn Fn(ExecNote),
    pub paths: Redactor,
    pub stdout: Pipe,
    pub stderr: Pipe,
    pub report: Report,
    /// CLOCK_BOOTTIME of the first byte that the snippet printed.
    pub first_output: Option<Duration>,
    course: Course,
    /// Checks that the environment is still the granted one; started once the child has loaded it.
    checked: Option<Checked>,
    /// What changed in the environment, for the local log.
    pub changed: Option<String>,
    /// The pidfd of the payload, if its guard can be asked to stop.
    guarded: Option<OwnedFd>,
    runs: bool,
    meter: Option<Meter>,
    /// When to measure next; set while the snippet runs.
    measure_at: Option<Instant>,
    /// The last measurement.
    pub used: Usage,
}

impl<'a> Attendant<'a> {
    pub fn new(
        spec: &'a RunSpec,
        private: &PrivateData,
        folder: Option<&PathBuf>,
        switch: &'a Arc<Switch>,
        note: &'a dyn Fn(ExecNote),
    ) -> Result<Self, Fault> {
        if switch.fd().is_none() {
            return Err(Fault::new(Why::NoDescriptor, "eventfd"));
        }
        let paths = Redactor::new(private_paths(spec, folder), private.cells.clone());
        let cap = spec.limits().output_bytes;
        let pipe = |name| Pipe::new(name, Stream::new(cap, paths.clone()));
        Ok(Self {
            stdout: pipe(StreamName::Stdout),
            stderr: pipe(StreamName::Stderr),
            paths,
            spec,
            switch,
            note,
            report: Report::new(REPORT_MAX),
            first_output: None,
            course: Course::GoesOn,
            checked: None,
            changed: None,
            guarded: None,
            runs: false,
            meter: None,
            measure_at: None,
            used: Usage::default(),
        })
    }

    /// Called when the child is held: reports its confinement and starts the check of the
    /// environment.
    pub fn holds(&mut self, held: &Held) {
        if self.spec.policy.guard && self.spec.handed.is_none() {
            self.guarded = held.payload();
        }
        self.meter = held.meter();
        tracing::info!(start = held.start(), profile = %self.spec.policy.name, "a run is ready");
        // Started only now, so that everything loaded so far is checked.
        let measured = self.spec.measured.clone();
        self.checked = measured.map(|measured| Checked::begin(measured, self.switch.clone()));
        (self.note)(ExecNote::Prepared(held.isolation().clone()));
    }

    /// Called when the snippet is released.
    pub fn goes(&mut self) {
        self.runs = true;
        self.measure_at = Some(Instant::now() + MEASURE);
        (self.note)(ExecNote::Released);
    }

    /// Measures the run's processes if that is due.
    fn measure(&mut self) {
        let now = Instant::now();
        if self.measure_at.is_none_or(|at| now < at) {
            return;
        }
        let found = self.meter.and_then(|meter| meter.read());
        self.measure_at = found.map(|_| now + MEASURE);
        if let Some(found) = found {
            self.used = Usage {
                peak_kib: found.peak_kib.max(self.used.peak_kib),
                output_bytes: self.printed(),
                ..found
            };
            (self.note)(ExecNote::Used(self.used));
        }
    }

    /// Bytes of the fuller stream.
    pub fn printed(&self) -> u64 {
        self.stdout.stream.bytes().max(self.stderr.stream.bytes())
    }

    /// Why the broker ended the run, if it did.
    pub const fn cause(&self) -> Option<Cause> {
        match self.course {
            Course::GoesOn => None,
            Course::Asked { cause, .. } | Course::Ends(cause) => Some(cause),
        }
    }

    /// Ends the run, once. A guard is asked first, so that it can report where the snippet was.
    fn end(&mut self, cause: Cause) {
        if self.course != Course::GoesOn {
            return;
        }
        let asked = cause == Cause::Cancelled
            && self.runs
            && self
                .guarded
                .as_ref()
                .is_some_and(|it| raw::pidfd_signal(it.as_fd(), Signal::SIGUSR1).is_ok());
        self.course = if asked {
            let until = Instant::now() + GRACE;
            Course::Asked { until, cause }
        } else {
            Course::Ends(cause)
        };
    }

    /// Passes on the due output of both streams, or the rest if `last`.
    pub fn pass_output(&mut self, last: bool) {
        let now = Instant::now();
        for pipe in [&mut self.stdout, &mut self.stderr] {
            let text = if last {
                pipe.stream.finish()
            } else {
                pipe.stream.due(now)
            };
            if let Some(text) = text {
                (self.note)(ExecNote::Output {
                    stream: pipe.name,
                    text,
                });
            }
        }
    }
}

impl Client for Attendant<'_> {
    fn take(&mut self, from: Source, bytes: &[u8], released: bool) {
        let pipe = match from {
            Source::Report => return self.report.feed(bytes),
            Source::Stdout => &mut self.stdout,
            Source::Stderr => &mut self.stderr,
        };
        let had_output = pipe.stream.any();
        pipe.take(bytes, released);
        if !had_output && pipe.stream.any() {
            self.first_output.get_or_insert_with(|| Now::read().boot);
        }
    }

    fn tick(&mut self) {
        self.pass_output(false);
        self.measure();
    }

    fn wish(&mut self) -> Wish {
        if self.switch.killed() {
            self.end(Cause::Cancelled);
        }
        let over = self.stdout.stream.over() || self.stderr.stream.over();
        if (over && !self.spec.cuts_output()) || self.report.flooded() {
            self.end(Cause::Output);
        }
        if let Course::Asked { until, cause } = self.course
            && (Instant::now() >= until || self.report.stopped().is_some())
        {
            self.course = Course::Ends(cause);
        }
        match self.course {
            Course::Ends(_) => Wish::Kill,
            Course::GoesOn | Course::Asked { .. } => Wish::GoOn,
        }
    }

    fn is_ready(&mut self) -> bool {
        self.report.take_ready()
    }

    fn may_release(&mut self) -> bool {
        if !self.switch.released() || self.course != Course::GoesOn {
            return false;
        }
        match self.checked.as_ref().map_or(Answer::Same, Checked::answer) {
            Answer::Open => false,
            Answer::Same => true,
            Answer::Changed(what) => {
                (self.note)(ExecNote::Noted(vec![RunEvent {
                    kind: RunEvent::ENVIRONMENT.to_owned(),
                    message: what.clone(),
                    line: None,
                }]));
                self.changed = Some(what);
                self.end(Cause::Changed);
                false
            }
        }
    }

    fn due(&self) -> Option<Instant> {
        let grace = match self.course {
            Course::Asked { until, .. } => Some(until),
            _ => None,
        };
        [
            grace,
            self.measure_at,
            self.stdout.stream.next_due(),
            self.stderr.stream.next_due(),
        ]
        .into_iter()
        .flatten()
        .min()
    }

    fn bell(&self) -> Option<BorrowedFd<'_>> {
        self.switch.fd()
    }

    fn quiet(&mut self) {
        self.switch.quiet();
    }
}

/// Paths that reveal something of this machine: those of the environment and of the run's folder.
/// `/usr` and the like reveal nothing and occur in honest output.
fn private_paths(spec: &RunSpec, folder: Option<&PathBuf>) -> Vec<(String, &'static str)> {
    let env = &spec.env;
    let mut paths: Vec<(String, &'static str)> = [&env.executable, &env.base_prefix, &env.prefix]
        .into_iter()
        .chain(&env.sys_path)
        .filter(|path| path.components().count() > 3)
        .map(|path| (path.display().to_string(), "<python>"))
        .collect();
    for (name, shown) in [(scratch::OUTPUT, "<output>"), (scratch::HOME, "<home>")] {
        paths.extend(folder.map(|folder| (folder.join(name).display().to_string(), shown)));
    }
    paths
}
