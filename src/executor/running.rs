//! What was launched, while it runs: looks at the held payload, waits for the release, gathers
//! output and report, and ends the run when that is asked for.

#[path = "finish.rs"]
mod finish;

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;

use crate::broker::{ExecNote, StreamName};
use crate::clock::Now;
use crate::model::{Isolation, RunEvent};

use super::checked::{Answer, Checked};
use super::control::Switch;
use super::handover::{self, Command, Ending, Says};
use super::launch::{self, Host, Launched};
use super::output::{Redactor, Stream};
use super::pipe::{Pipe, is_nothing};
use super::report::Report;
use super::spec::{Fault, REPORT_MAX, RunSpec, needs};
use super::surroundings::{self, Given};
use super::{outside, raw, scratch};

/// How long pipes are read after everything that could write to them is dead.
const DRAIN_MAX: Duration = Duration::from_secs(2);

/// How long a guard that is told to stop may take to say where.
const GRACE: Duration = Duration::from_millis(100);

/// What the agent hears of it. What changed is this machine's business: the person and the log have it.
const CHANGED: &str =
    "the Python environment is not the one that was granted: it changed meanwhile";

/// Why the broker asked the helper to end the run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cause {
    Cancelled,
    Output,
    /// A fault of the machinery, told when the run is over.
    Fault,
}

/// One child, from its launch to its end.
pub(super) struct Running<'a> {
    spec: &'a RunSpec,
    switch: &'a Arc<Switch>,
    note: &'a dyn Fn(ExecNote),
    /// Whether the environment is still the one that was granted; asked once it was loaded.
    checked: Option<Checked>,
    launched: Option<Launched>,
    paths: Redactor,
    stdout: Pipe,
    stderr: Pipe,
    report_pipe: Option<File>,
    report: Report,
    payload: Option<(i32, Vec<String>)>,
    /// Its layers that are mounts, read before it was ready.
    mounted: Vec<&'static str>,
    /// The run's output folder.
    output: Option<OwnedFd>,
    isolation: Option<Isolation>,
    /// Kibibytes that the payload had in memory while it was held.
    held_kib: u64,
    /// Whether inputs are mapped into its memory.
    mapped: bool,
    released: Option<(Instant, Duration)>,
    first_output: Option<Duration>,
    cause: Option<Cause>,
    /// The payload, where its guard can be told to stop, and until when it may take.
    guarded: Option<OwnedFd>,
    grace: Option<Instant>,
    fault: Option<Fault>,
    /// How long Python may take until it waits for its release.
    patience: Duration,
    /// When to stop waiting for what comes next.
    deadline: Option<Instant>,
    ending: Option<(Ending, Instant, Duration)>,
}

impl<'a> Running<'a> {
    pub(super) fn new(
        spec: &'a RunSpec,
        mut launched: Launched,
        patience: Duration,
        switch: &'a Arc<Switch>,
        note: &'a dyn Fn(ExecNote),
    ) -> Self {
        let paths = Redactor::new(private_paths(spec, &launched), launched.cells.clone());
        let cap = spec.limits().output_bytes;
        let pipe = |name, fd| Pipe::new(name, fd, Stream::new(cap, paths.clone()));
        Self {
            stdout: pipe(StreamName::Stdout, launched.stdout.take()),
            stderr: pipe(StreamName::Stderr, launched.stderr.take()),
            report_pipe: launched.report.take().map(File::from),
            paths,
            spec,
            switch,
            note,
            checked: None,
            launched: Some(launched),
            report: Report::new(REPORT_MAX),
            payload: None,
            mounted: Vec::new(),
            output: None,
            isolation: None,
            held_kib: 0,
            mapped: false,
            released: None,
            first_output: None,
            cause: None,
            guarded: None,
            grace: None,
            fault: None,
            patience,
            deadline: Some(Instant::now() + patience),
            ending: None,
        }
    }

    /// To its end. The value is the last note.
    pub(super) fn run(&mut self) -> Result<ExecNote, Fault> {
        while !self.is_over() {
            self.obey();
            if let Some(until) = self.grace
                && (Instant::now() >= until || self.report.stopped().is_some())
            {
                self.kill();
            }
            if let Some(deadline) = self.deadline
                && Instant::now() >= deadline
                && !self.overdue()
            {
                break;
            }
            self.step()?;
            self.look()?;
            self.pass_output(false);
        }
        self.finish()
    }

    /// Whether it got as far as waiting for its release.
    pub(super) const fn is_held(&self) -> bool {
        self.isolation.is_some()
    }

    /// Ended, and every pipe at its end.
    fn is_over(&self) -> bool {
        self.ending.is_some()
            && self.stdout.file.is_none()
            && self.stderr.file.is_none()
            && self.report_pipe.is_none()
    }

    /// What the switches ask for.
    fn obey(&mut self) {
        if self.switch.killed() {
            self.end(Cause::Cancelled);
        } else if self.switch.released()
            && self.isolation.is_some()
            && self.released.is_none()
            && self.cause.is_none()
            && self.ending.is_none()
        {
            match self.checked.as_ref().map_or(Answer::Same, Checked::answer) {
                Answer::Open => {}
                Answer::Same => self.release(),
                Answer::Changed(what) => {
                    (self.note)(ExecNote::Noted(vec![RunEvent {
                        kind: RunEvent::ENVIRONMENT.to_owned(),
                        message: what.clone(),
                        line: None,
                    }]));
                    self.fault = Some(Fault::new(CHANGED, what));
                    self.end(Cause::Fault);
                }
            }
        }
    }

    fn release(&mut self) {
        if self.send(Command::Release) {
            self.released = Some((Instant::now(), Now::read().boot));
            (self.note)(ExecNote::Released);
        }
    }

    /// Ends the run, once. A guard that is told first can say where the snippet was.
    fn end(&mut self, cause: Cause) {
        if self.cause.is_none() && self.ending.is_none() {
            self.cause = Some(cause);
            let told = cause == Cause::Cancelled
                && self.released.is_some()
                && self.guarded.as_ref().is_some_and(|payload| {
                    raw::pidfd_signal(payload.as_fd(), Signal::SIGUSR1).is_ok()
                });
            if told {
                self.grace = Some(Instant::now() + GRACE);
            } else {
                self.kill();
            }
        }
    }

    /// Asks the helper to end the run.
    fn kill(&mut self) {
        self.grace = None;
        self.send(Command::Kill);
        self.deadline = Some(Instant::now() + launch::HELPER_MAX);
    }

    /// A helper that is gone shows as the end of its socket.
    fn send(&self, command: Command) -> bool {
        self.launched
            .as_ref()
            .is_some_and(|l| handover::send(&l.socket, &command).is_ok())
    }

    /// What to do when the time for the next thing to happen is over. `false`: stop waiting.
    fn overdue(&mut self) -> bool {
        if self.ending.is_some() || self.cause.is_some() {
            // The pipes' writers are dead or will be with the helper.
            return false;
        }
        self.fault = Some(Fault::new(
            format!("Python was not ready within {} s", self.patience.as_secs()),
            "prepare",
        ));
        self.end(Cause::Fault);
        true
    }

    /// Waits for something and takes it in.
    fn step(&mut self) -> Result<(), Fault> {
        let Some(launched) = &self.launched else {
            return Err(Fault::new("the run is closed", "launched"));
        };
        let wake = self
            .switch
            .fd()
            .ok_or_else(|| Fault::new("no descriptor is left", "eventfd"))?;
        let files = [
            self.stdout.file.as_ref(),
            self.stderr.file.as_ref(),
            self.report_pipe.as_ref(),
        ];
        let mut fds = vec![PollFd::new(wake, PollFlags::POLLIN)];
        let socket = self.ending.is_none();
        if socket {
            fds.push(PollFd::new(launched.socket.as_fd(), PollFlags::POLLIN));
        }
        fds.extend(
            files
                .into_iter()
                .flatten()
                .map(|file| PollFd::new(file.as_fd(), PollFlags::POLLIN)),
        );
        match poll(&mut fds, self.time_left()) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(e) => return Err(Fault::new("could not wait for the child", e)),
        }
        let mut ready = fds
            .iter()
            .map(|fd| fd.revents().is_some_and(|events| !events.is_empty()))
            .collect::<Vec<_>>()
            .into_iter();
        if ready.next() == Some(true) {
            self.switch.quiet();
        }
        let helper_spoke = socket && ready.next() == Some(true);
        // Read before the helper's word is taken: what was printed before the end comes first.
        let live = self.released.is_some();
        for pipe in [&mut self.stdout, &mut self.stderr] {
            if pipe.file.is_some() && ready.next() == Some(true) {
                let had = pipe.stream.any();
                pipe.read(live);
                if !had && pipe.stream.any() {
                    self.first_output.get_or_insert_with(|| Now::read().boot);
                }
            }
        }
        if self.report_pipe.is_some() && ready.next() == Some(true) {
            self.read_report();
        }
        if helper_spoke {
            self.listen()?;
        }
        let over = self.stdout.stream.over() || self.stderr.stream.over();
        if (over && !self.spec.cuts_output()) || self.report.flooded() {
            self.end(Cause::Output);
        }
        Ok(())
    }

    fn time_left(&self) -> PollTimeout {
        let next = [
            self.deadline,
            self.grace,
            self.stdout.stream.next_due(),
            self.stderr.stream.next_due(),
        ]
        .into_iter()
        .flatten()
        .min();
        match next {
            None => PollTimeout::NONE,
            Some(at) => {
                let left = at.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
                PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)
            }
        }
    }

    fn read_report(&mut self) {
        let mut buffer = [0u8; 16 * 1024];
        if let Some(file) = &mut self.report_pipe {
            match file.read(&mut buffer) {
                Ok(0) => self.report_pipe = None,
                Ok(n) => self.report.feed(&buffer[..n]),
                Err(e) if is_nothing(&e) => {}
                Err(_) => self.report_pipe = None,
            }
        }
    }

    fn listen(&mut self) -> Result<(), Fault> {
        let Some(launched) = &self.launched else {
            return Ok(());
        };
        match handover::receive_folder::<Says>(&launched.socket) {
            Ok(Some((Says::Started { pid, layers }, folder))) => {
                // It has closed itself in; meanwhile it goes on getting ready.
                let needs = needs(&self.spec.env);
                self.mounted = surroundings::mounted(pid, &Given::of(self.spec, &needs));
                self.payload = Some((pid, layers));
                self.output = folder;
                Ok(())
            }
            Ok(Some((Says::Refused { message, detail }, _))) => Err(Fault { message, detail }),
            Ok(Some((Says::Place, _))) => {
                Err(Fault::new("the sandbox helper is out of order", "place"))
            }
            Ok(Some((Says::Ended(ending), _))) => {
                if !ending.clean {
                    tracing::error!("the helper could not clean up after a run");
                }
                self.ending = Some((ending, Instant::now(), Now::read().boot));
                self.grace = None;
                self.deadline = Some(Instant::now() + DRAIN_MAX);
                Ok(())
            }
            Ok(None) | Err(_) => Err(Fault::new(
                "the sandbox helper ended without a word; the child went with it",
                "end of socket",
            )),
        }
    }

    /// The payload says that it waits: look at it from outside.
    fn look(&mut self) -> Result<(), Fault> {
        if self.isolation.is_some() || self.ending.is_some() || self.cause.is_some() {
            return Ok(());
        }
        let (Some((pid, told)), Some(launched)) = (&self.payload, &self.launched) else {
            return Ok(());
        };
        if !self.report.take_ready() {
            return Ok(());
        }
        let needs = needs(&self.spec.env);
        let expected = outside::Expected::of(
            self.spec,
            Given::of(self.spec, &needs),
            std::mem::take(&mut self.mounted),
            launched.host.between(),
            launched.mapped,
        );
        let found = outside::examine(*pid, told, launched.host.helper(), &expected)?;
        self.held_kib = found.resident_kib;
        self.mapped = launched.mapped > 0;
        let isolation = found.isolation;
        if self.spec.policy.guard && self.spec.handed.is_none() {
            // It is held, so its number is still its own.
            self.guarded = raw::pidfd_open(*pid).ok();
        }
        let start = match launched.host {
            Host::Own { .. } => "cold",
            Host::Zygote(_) => "warm",
        };
        tracing::info!(start, profile = %self.spec.policy.name, "a run is ready");
        self.deadline = None;
        // Not before: what it loaded until now is what is looked at.
        let measured = self.spec.measured.clone();
        self.checked = measured.map(|measured| Checked::begin(measured, self.switch.clone()));
        self.isolation = Some(isolation.clone());
        (self.note)(ExecNote::Prepared(isolation));
        Ok(())
    }

    fn pass_output(&mut self, last: bool) {
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
    /// Nothing of the run stays: the lifeline goes first, and with it the helper.
    pub(super) fn close(&mut self) {
        let Some(launched) = self.launched.take() else {
            return;
        };
        // The helper of a zygote ends a run whose socket is closed.
        drop(launched.socket);
        let Host::Own {
            helper,
            lifeline,
            scratch: folder,
        } = launched.host
        else {
            return;
        };
        drop(lifeline);
        launch::dismiss(helper);
        if let Err(e) = scratch::Held::open(&folder).and_then(|held| held.remove()) {
            tracing::error!("the run's folder could not be removed: {e}");
        }
    }
}

/// Paths that say something of this machine: where the environment is, where the run was.
/// `/usr` and the like say nothing and occur in honest output.
fn private_paths(spec: &RunSpec, launched: &Launched) -> Vec<(String, &'static str)> {
    let env = &spec.env;
    let mut paths: Vec<(String, &'static str)> = [&env.executable, &env.base_prefix, &env.prefix]
        .into_iter()
        .chain(&env.sys_path)
        .filter(|path| path.components().count() > 3)
        .map(|path| (path.display().to_string(), "<python>"))
        .collect();
    if let Host::Own { scratch, .. } = &launched.host {
        for (name, shown) in [(scratch::OUTPUT, "<output>"), (scratch::HOME, "<home>")] {
            paths.push((scratch.join(name).display().to_string(), shown));
        }
    }
    paths
}
