//! Describing a data set and turning it into Arrow, in a jail of its own: the broker parses no file.
//!
//! The same helper, tier and interpreter as for a run, but no snippet: the runner's own script reads
//! one sealed copy of the file, writes Arrow to its standard output and the description into its
//! report. Both are bounded; the Arrow bytes are sealed once the process is dead.

use std::fs::File;
use std::io::{Read, Seek as _, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::Deserialize;

use crate::model::{BoundInput, Column, DataFormat, Digest, Tier};
use crate::runtime::PythonEnv;

use super::bounds::Bound;
use super::control::Switch;
use super::given::{self, doing};
use super::handover::{self, Command, Descriptors, Says};
use super::pipe::is_nothing;
use super::report::Report;
use super::runner::Task;
use super::spec::{Fault, REPORT_MAX, RunSpec, needs};
use super::surroundings::{self, Given};
use super::{bundle, launch, memfd, outside, runner, scratch};

/// Bytes of Arrow of one data set: as many as are kept of all together. A larger table is described
/// like every other, and read from its file by each run itself.
pub const FRAME_MAX: u64 = 4 << 30;

/// How long the interpreter may take to start and the file to be converted, each.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often somebody who waits for a Python looks whether it is still wanted.
const LOOK: Duration = Duration::from_millis(100);

/// What is made of one data set.
#[derive(Clone, Debug)]
pub struct Converted {
    pub columns: Vec<Column>,
    pub rows: u64,
    /// The table as an Arrow file, sealed; `None` for plain data, and for a table that Arrow does
    /// not hold exactly as pandas does.
    pub frame: Option<Arc<OwnedFd>>,
    pub frame_bytes: u64,
    /// Of values that were counted: where looking for numbers over groups ended.
    bounds: Vec<Bound>,
}

/// The counted values of a private data set.
#[derive(Clone, Debug)]
pub(super) struct Counted {
    /// Lines for [`Cells::add_values`](super::cells::Cells::add_values).
    pub lines: Arc<[u8]>,
    pub bounds: Arc<[Bound]>,
}

/// Makes converters' processes.
#[derive(Debug)]
pub struct Converter {
    exe: Arc<OwnedFd>,
    env: Arc<PythonEnv>,
    tier: Tier,
    frame_max: u64,
}

/// The converter, once there is a Python to run it.
#[derive(Debug, Default)]
pub struct Converters {
    slot: Mutex<Option<Arc<Converter>>>,
    ready: Condvar,
    /// The oldest first.
    counted: Mutex<Vec<(CountedKey, Counted)>>,
}

type CountedKey = (Digest, DataFormat);

/// Private data sets whose values are kept counted, and bytes of one of them.
const COUNTED: usize = 4;
const COUNTED_BYTES: usize = 64 << 20;

impl Converters {
    pub fn set(&self, converter: Converter) {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        *slot = Some(Arc::new(converter));
        self.ready.notify_all();
    }

    /// The counted values of a private data set, by the digest of its content. The last few are
    /// kept: their runs start as fast as others.
    pub(super) fn values(
        &self,
        input: &BoundInput,
        file: OwnedFd,
        switch: &Switch,
    ) -> Result<Counted, Fault> {
        let known = || self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (input.sha256, input.format());
        if let Some((_, counted)) = known().iter().find(|(have, _)| *have == key) {
            return Ok(counted.clone());
        }
        let converter = self
            .get_unless(PATIENCE, &|| switch.killed())
            .ok_or_else(|| Fault::new("the Python environment is not ready", "converter"))?;
        let counted = converter.values(input.clone(), file, switch)?;
        let mut known = known();
        if counted.lines.len() <= COUNTED_BYTES {
            known.push((key, counted.clone()));
            let over = known.len().saturating_sub(COUNTED);
            known.drain(..over);
        }
        Ok(counted)
    }

    /// How many private data sets are kept counted.
    #[cfg(test)]
    pub fn counted(&self) -> usize {
        let known = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        known.len()
    }

    /// Waits that long at most.
    pub fn get(&self, patience: Duration) -> Option<Arc<Converter>> {
        self.get_unless(patience, &|| false)
    }

    /// The same, given up once it is not wanted any more, which is looked at now and then.
    fn get_unless(
        &self,
        patience: Duration,
        given_up: &dyn Fn() -> bool,
    ) -> Option<Arc<Converter>> {
        let until = Instant::now() + patience;
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if slot.is_some() || left.is_zero() || given_up() {
                return slot.clone();
            }
            (slot, _) = self
                .ready
                .wait_timeout(slot, left.min(LOOK))
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// What the script reports.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    columns: Vec<Column>,
    rows: u64,
    frame: bool,
    #[serde(default)]
    bounds: Vec<Bound>,
}

impl Converter {
    pub const fn new(exe: Arc<OwnedFd>, env: Arc<PythonEnv>, tier: Tier) -> Self {
        Self {
            exe,
            env,
            tier,
            frame_max: FRAME_MAX,
        }
    }

    /// Hands over no table of more bytes.
    #[cfg(test)]
    pub fn at_most(self, frame_max: u64) -> Self {
        Self { frame_max, ..self }
    }

    /// Converts the sealed copy of a data set. The message of a fault has no path in it.
    pub(super) fn convert(&self, input: BoundInput, file: OwnedFd) -> Result<Converted, Fault> {
        let frame_max = self.frame_max;
        self.work(Task::Convert { frame_max }, input, file, None)
    }

    /// Counts the values of a private data set's sealed copy.
    fn values(&self, input: BoundInput, file: OwnedFd, switch: &Switch) -> Result<Counted, Fault> {
        let made = self.work(Task::Values, input, file, Some(switch))?;
        let mut lines = Vec::new();
        if let Some(frame) = made.frame {
            let mut file = File::from(frame.try_clone().map_err(doing("keep the values"))?);
            file.rewind()
                .and_then(|()| file.read_to_end(&mut lines))
                .map_err(doing("keep the values"))?;
        }
        Ok(Counted {
            lines: lines.into(),
            bounds: made.bounds.into(),
        })
    }

    /// `switch`: of the run that it is for, where it is for one.
    fn work(
        &self,
        task: Task,
        input: BoundInput,
        file: OwnedFd,
        switch: Option<&Switch>,
    ) -> Result<Converted, Fault> {
        let spec = RunSpec::of_converter(input, self.tier, self.env.clone())?;
        let mut work = Work::start(&spec, task, self.exe.as_fd(), file, self.frame_max)?;
        let done = work.run(&spec, switch);
        work.close();
        done?;
        work.converted()
    }
}

struct Work {
    helper: Option<(std::process::Child, OwnedFd, OwnedFd)>,
    scratch: std::path::PathBuf,
    pipes: [Option<File>; 3],
    frame: Option<File>,
    frame_max: u64,
    bytes: u64,
    report: Report,
    noise: Vec<u8>,
    ended: Option<i32>,
    killed: Option<&'static str>,
}

const STDOUT: usize = 0;
const REPORT: usize = 2;

impl Work {
    fn start(
        spec: &RunSpec,
        task: Task,
        exe: std::os::fd::BorrowedFd<'_>,
        file: OwnedFd,
        frame_max: u64,
    ) -> Result<Self, Fault> {
        let sealed = |name: &str, bytes: std::io::Result<Vec<u8>>| {
            bytes
                .and_then(|bytes| memfd::of_bytes(name, &bytes))
                .map_err(doing("make the converter's files"))
        };
        let [lifeline_read, lifeline] = given::pipe()?;
        let [stdout, stdout_write] = given::output_pipe()?;
        let [stderr, stderr_write] = given::output_pipe()?;
        let [report, report_write] = given::output_pipe()?;
        let descriptors = Descriptors {
            lifeline: lifeline_read,
            stdout: stdout_write,
            stderr: stderr_write,
            report: report_write,
            setup: sealed("setup", runner::setup(spec, task, 0))?,
            bundle: bundle::file(&spec.env).map_err(doing("make the converter's files"))?,
            job: sealed("job", runner::job(spec, &[]))?,
            code: sealed("code", Ok(Vec::new()))?,
            inputs: vec![file],
        };
        let scratch = scratch::make().map_err(doing("make the converter's folder"))?;
        let order = spec.order(scratch.clone());
        let started = launch::start(exe, &order, &descriptors);
        let (helper, socket) = started.inspect_err(|_| {
            let _ = std::fs::remove_dir(&scratch);
        })?;
        Ok(Self {
            helper: Some((helper, socket, lifeline)),
            scratch,
            pipes: [stdout, stderr, report].map(|fd| Some(File::from(fd))),
            frame: Some(memfd::create("frame").map_err(doing("make the converter's files"))?),
            frame_max,
            bytes: 0,
            report: Report::new(REPORT_MAX),
            noise: Vec::new(),
            ended: None,
            killed: None,
        })
    }

    fn run(&mut self, spec: &RunSpec, switch: Option<&Switch>) -> Result<(), Fault> {
        let mut payload = None;
        let mut released = false;
        let mut until = Instant::now() + PATIENCE;
        while self.ended.is_none() || self.pipes.iter().any(Option::is_some) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Fault::new(
                    format!("it could not be read within {} s", PATIENCE.as_secs()),
                    "patience",
                ));
            }
            if switch.is_some_and(Switch::killed) {
                return Err(Fault::new("it was stopped", "killed"));
            }
            let ready = self.wait(left, switch)?;
            for (which, ready) in ready.pipes.into_iter().enumerate() {
                if ready {
                    self.read(which, released)?;
                }
            }
            if ready.socket {
                payload = self.listen()?.or(payload);
            }
            if !released
                && let Some((pid, told)) = &payload
                && let Some((helper, socket, _)) = &self.helper
                && self.report.take_ready()
            {
                let needed = needs(&spec.env);
                let given = Given::of(spec, &needed);
                let mounted = surroundings::mounted(*pid, &given);
                let expected = outside::Expected::of(spec, given, mounted, launch::BETWEEN, 0);
                outside::examine(*pid, told, helper.id() as i32, &expected)?;
                handover::send(socket, &Command::Release).map_err(doing("start the converter"))?;
                released = true;
                until = Instant::now() + PATIENCE;
            }
            if self.killed.is_none() && (self.bytes > self.frame_max || self.report.flooded()) {
                self.killed = Some("its converter handed over more than it may");
                if let Some((_, socket, _)) = &self.helper {
                    let _ = handover::send(socket, &Command::Kill);
                }
            }
        }
        Ok(())
    }

    fn wait(&self, left: Duration, switch: Option<&Switch>) -> Result<Ready, Fault> {
        let mut fds = Vec::new();
        for pipe in self.pipes.iter().flatten() {
            fds.push(PollFd::new(pipe.as_fd(), PollFlags::POLLIN));
        }
        let socket = self.helper.as_ref().filter(|_| self.ended.is_none());
        if let Some((_, socket, _)) = socket {
            fds.push(PollFd::new(socket.as_fd(), PollFlags::POLLIN));
        }
        let woken = switch.and_then(Switch::fd);
        if let Some(wake) = woken {
            fds.push(PollFd::new(wake, PollFlags::POLLIN));
        }
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
        match poll(&mut fds, timeout) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => {}
            Err(e) => return Err(Fault::new("could not wait for the converter", e)),
        }
        let mut happened = fds
            .iter()
            .map(|fd| fd.revents().is_some_and(|events| !events.is_empty()));
        let mut pipes = [false; 3];
        for (which, pipe) in self.pipes.iter().enumerate() {
            pipes[which] = pipe.is_some() && happened.next() == Some(true);
        }
        let spoke = socket.is_some() && happened.next() == Some(true);
        if woken.is_some() && happened.next() == Some(true) {
            // What was thrown is looked at before the next wait.
            switch.into_iter().for_each(Switch::quiet);
        }
        Ok(Ready {
            pipes,
            socket: spoke,
        })
    }

    fn read(&mut self, which: usize, released: bool) -> Result<(), Fault> {
        let mut buffer = [0u8; 256 * 1024];
        let Some(pipe) = &mut self.pipes[which] else {
            return Ok(());
        };
        let n = match pipe.read(&mut buffer) {
            Err(e) if is_nothing(&e) => return Ok(()),
            Ok(0) | Err(_) => {
                self.pipes[which] = None;
                return Ok(());
            }
            Ok(n) => n,
        };
        let piece = &buffer[..n];
        match which {
            STDOUT if released => {
                self.bytes += n as u64;
                if self.bytes <= self.frame_max
                    && let Some(frame) = &mut self.frame
                {
                    frame
                        .write_all(piece)
                        .map_err(doing("keep the converted data"))?;
                }
            }
            REPORT => self.report.feed(piece),
            _ => {
                let room = 4096 - self.noise.len().min(4096);
                self.noise.extend_from_slice(&piece[..n.min(room)]);
            }
        }
        Ok(())
    }

    fn listen(&mut self) -> Result<Option<(i32, Vec<String>)>, Fault> {
        let Some((_, socket, _)) = &self.helper else {
            return Ok(None);
        };
        match handover::receive_folder::<Says>(socket) {
            Ok(Some((Says::Started { pid, layers }, _))) => Ok(Some((pid, layers))),
            Ok(Some((Says::Refused { message, detail }, _))) => Err(Fault { message, detail }),
            Ok(Some((Says::Ended(ending), _))) => {
                self.ended = Some(ending.status);
                Ok(None)
            }
            Ok(None | Some((Says::Place, _))) | Err(_) => {
                Err(Fault::new("the converter ended without a word", "socket"))
            }
        }
    }

    /// Nothing of it stays: the lifeline goes, and with it the helper and whatever it started.
    fn close(&mut self) {
        if let Some((helper, socket, lifeline)) = self.helper.take() {
            drop((lifeline, socket));
            launch::dismiss(helper);
            if let Err(e) = scratch::Held::open(&self.scratch).and_then(|held| held.remove()) {
                tracing::error!("the converter's folder could not be removed: {e}");
            }
        }
    }

    fn converted(&mut self) -> Result<Converted, Fault> {
        let noise = String::from_utf8_lossy(&self.noise).into_owned();
        if let Some(why) = self.killed {
            return Err(Fault::new(why, self.bytes));
        }
        let claim = self
            .report
            .claim()
            .map_err(|why| Fault::new("its converter failed", format!("{why}: {noise}")))?;
        if let Some(error) = claim.error {
            return Err(Fault::new(error.message, noise));
        }
        let said: Said = serde_json::from_value(claim.result)
            .map_err(|e| Fault::new("its converter failed", e))?;
        if self.ended != Some(0) {
            return Err(Fault::new(
                "its converter failed",
                format!("status {:?}: {noise}", self.ended),
            ));
        }
        let frame = self
            .frame
            .take()
            .filter(|_| said.frame && self.bytes > 0)
            .map(|file| memfd::seal(file).map(Arc::new))
            .transpose()
            .map_err(doing("keep the converted data"))?;
        Ok(Converted {
            columns: said.columns,
            rows: said.rows,
            frame_bytes: frame.as_ref().map_or(0, |_| self.bytes),
            frame,
            bounds: said.bounds,
        })
    }
}

struct Ready {
    pipes: [bool; 3],
    socket: bool,
}

impl Drop for Work {
    fn drop(&mut self) {
        self.close();
    }
}
