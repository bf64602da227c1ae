//! Describes a data set and converts it to Arrow in a jail of its own: the broker parses no file.
//!
//! The helper, tier and interpreter are those of a run, but there is no snippet and no policy. The
//! runner's own script reads one sealed copy of the file, writes Arrow to its standard output and
//! the description into its report. Both are limited in size; the Arrow bytes are sealed once the
//! process is dead.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Seek as _, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::child::{self, Client, Confinement, Files, Handed, Launched, Source, Step, Wish};
use crate::model::{BoundInput, Column, DataFormat, Digest, Limits, Summary, Tier};
use crate::runtime::PythonEnv;
use crate::sandbox::memfd;
use crate::sandbox::protocol::Purpose;

use crate::executor::control::Switch;
use crate::executor::fault::{Fault, Why};
use crate::executor::python::bundle;
use crate::executor::python::runner::{self, Task};
use crate::executor::report::Report;
use crate::executor::spec::REPORT_MAX;

use super::bounds::Bound;

/// Memory for a conversion in mebibytes: pandas needs a few times the size of the data set.
const MEMORY_MB: u64 = 16 * 1024;

/// Bytes of the converter's other output that are kept for the local log.
const NOISE_MAX: usize = 4096;

/// Maximum Arrow size of one data set, equal to the limit of all kept ones together. A larger table
/// is described as usual, and each run reads its file itself.
pub const FRAME_MAX: u64 = 4 << 30;

/// Time limit for starting the interpreter, and for converting the file.
const PATIENCE: Duration = Duration::from_secs(120);

/// How often a thread that waits for a Python checks whether it is still needed.
const LOOK: Duration = Duration::from_millis(100);

/// The result of converting one data set.
#[derive(Clone, Debug)]
pub struct Converted {
    pub columns: Vec<Column>,
    /// The columns that are surely text.
    pub texts: BTreeSet<String>,
    pub rows: u64,
    /// `None` if the script's is larger than a summary may be.
    pub summary: Option<Arc<Summary>>,
    /// The table as a sealed Arrow file; `None` for plain data, and for a table that Arrow cannot
    /// represent exactly as pandas does.
    pub frame: Option<Arc<OwnedFd>>,
    pub frame_bytes: u64,
    /// The bounds that the search for numbers over groups reached, if values were counted.
    bounds: Vec<Bound>,
}

/// The counted values of a private data set.
#[derive(Clone, Debug)]
pub struct Counted {
    /// Lines for [`Cells::add_values`](crate::executor::data::cells::Cells::add_values).
    pub lines: Arc<[u8]>,
    pub bounds: Arc<[Bound]>,
}

/// Starts converter processes.
#[derive(Debug)]
pub struct Converter {
    exe: Arc<OwnedFd>,
    env: Arc<PythonEnv>,
    tier: Tier,
    frame_max: u64,
}

/// The converter, available once there is a Python to run it.
#[derive(Debug, Default)]
pub struct Converters {
    slot: Mutex<Option<Arc<Converter>>>,
    ready: Condvar,
    /// Whether the first Python is more than seconds away.
    far: AtomicBool,
    /// Ordered from oldest to newest.
    counted: Mutex<Vec<(CountedKey, Counted)>>,
}

type CountedKey = (Digest, DataFormat);

/// Number of private data sets whose counted values are kept, and the maximum bytes of each.
const COUNTED: usize = 4;
const COUNTED_BYTES: usize = 64 << 20;

impl Converters {
    pub fn set(&self, converter: Converter) {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        *slot = Some(Arc::new(converter));
        self.ready.notify_all();
    }

    /// Whether a Python can be expected within seconds.
    pub fn expect(&self, soon: bool) {
        self.far.store(!soon, Ordering::SeqCst);
    }

    /// The counted values of a private data set, by the digest of its content. The last few are
    /// kept, so that their runs start as fast as others.
    pub fn values(
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
            .ok_or_else(|| Fault::new(Why::EnvironmentNotReady, "converter"))?;
        let counted = converter.values(input, file, switch)?;
        let mut known = known();
        if counted.lines.len() <= COUNTED_BYTES {
            known.push((key, counted.clone()));
            let over = known.len().saturating_sub(COUNTED);
            known.drain(..over);
        }
        Ok(counted)
    }

    /// Number of private data sets whose counted values are kept.
    #[cfg(test)]
    pub fn counted(&self) -> usize {
        let known = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        known.len()
    }

    /// Waits for the converter that describes data sets of these formats, for at most `patience`. What can be described without one
    /// does not wait for packages that are being downloaded.
    pub fn get_for(
        &self,
        formats: impl Iterator<Item = DataFormat>,
        patience: Duration,
    ) -> Option<Arc<Converter>> {
        let formats: BTreeSet<DataFormat> = formats.collect();
        let plain = |format: &DataFormat| matches!(format, DataFormat::Csv | DataFormat::Tsv);
        let alone = formats.iter().all(plain);
        let patience = if formats.is_empty() {
            Duration::ZERO
        } else {
            patience
        };
        self.get_unless(patience, &|| alone && self.far.load(Ordering::SeqCst))
    }

    /// Waits for the converter, for at most `patience`, but gives up once it is no longer needed.
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

/// The script's report.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptReport {
    columns: Vec<Column>,
    #[serde(default)]
    texts: BTreeSet<String>,
    rows: u64,
    frame: bool,
    #[serde(default)]
    summary: Option<Summary>,
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

    /// Converts no table of more bytes.
    #[cfg(test)]
    pub fn at_most(self, frame_max: u64) -> Self {
        Self { frame_max, ..self }
    }

    /// Converts the sealed copy of a data set. The message of a fault has no path in it.
    pub(super) fn convert(&self, input: &BoundInput, file: OwnedFd) -> Result<Converted, Fault> {
        let frame_max = self.frame_max;
        self.work(Task::Convert { frame_max }, input, file, None)
    }

    /// Counts the values of a private data set's sealed copy.
    fn values(&self, input: &BoundInput, file: OwnedFd, switch: &Switch) -> Result<Counted, Fault> {
        let made = self.work(Task::Values, input, file, Some(switch))?;
        let mut lines = Vec::new();
        if let Some(frame) = made.frame {
            let mut file = File::from(frame.try_clone().map_err(Fault::of(Why::Unkept))?);
            file.rewind()
                .and_then(|()| file.read_to_end(&mut lines))
                .map_err(Fault::of(Why::Unkept))?;
        }
        Ok(Counted {
            lines: lines.into(),
            bounds: made.bounds.into(),
        })
    }

    /// `switch` belongs to the run that the work is for, if any.
    fn work(
        &self,
        task: Task,
        input: &BoundInput,
        file: OwnedFd,
        switch: Option<&Switch>,
    ) -> Result<Converted, Fault> {
        let frame_max = self.frame_max;
        let mut work = Work {
            switch,
            frame: memfd::create("frame").map_err(Fault::of(Why::Files))?,
            frame_max,
            bytes: 0,
            report: Report::new(REPORT_MAX),
            noise: Vec::new(),
            unkept: None,
        };
        let launched = self.launch(task, input, file)?;
        let confined = launched.confined(PATIENCE, &mut work)?;
        let confined = work.on(confined)?;
        let held = confined.held(&mut work)?;
        let held = work.on(held)?;
        let released = held.released(&mut work)?;
        let released = work.on(released)?;
        let ended = released.within(PATIENCE).ended(&mut work);
        let ended = ended.map_err(|fault| work.slow(fault))?;
        let status = ended.ending.status;
        // Ends the child, so that nobody can write to its output any more.
        drop(ended);
        work.converted(status)
    }

    fn launch(&self, task: Task, input: &BoundInput, file: OwnedFd) -> Result<Launched, Fault> {
        let sealed = |name: &str, bytes: io::Result<Vec<u8>>| {
            bytes
                .and_then(|bytes| memfd::of_bytes(name, &bytes))
                .map_err(Fault::of(Why::Files))
        };
        let limits = Limits {
            memory_mb: MEMORY_MB,
            ..Limits::default()
        };
        let memory = MEMORY_MB << 20;
        let setup = runner::task_setup(task, &self.env, self.tier, memory);
        let files = Files {
            setup: sealed("setup", setup)?,
            bundle: bundle::file(&self.env).map_err(Fault::of(Why::Files))?,
            handed: Handed {
                job: sealed("job", runner::task_job(input))?,
                code: sealed("code", Ok(Vec::new()))?,
                digest: Digest::of(b""),
                inputs: vec![file],
            },
        };
        let confinement = Confinement {
            tier: self.tier,
            executable: self.env.executable.clone(),
            needs: self.env.needs(),
            limits,
            mapped: 0,
            inputs: 1,
            purpose: Purpose::Run,
        };
        Ok(child::cold(self.exe.as_fd(), confinement, files)?)
    }
}

/// Attends one conversion.
struct Work<'a> {
    /// The switch of the run that the conversion is for.
    switch: Option<&'a Switch>,
    frame: File,
    frame_max: u64,
    bytes: u64,
    report: Report,
    noise: Vec<u8>,
    /// Why the output could not be kept.
    unkept: Option<io::Error>,
}

impl Client for Work<'_> {
    fn take(&mut self, from: Source, bytes: &[u8], released: bool) {
        match from {
            Source::Stdout if released => {
                self.bytes += bytes.len() as u64;
                if self.bytes <= self.frame_max && self.unkept.is_none() {
                    self.unkept = self.frame.write_all(bytes).err();
                }
            }
            Source::Report => self.report.feed(bytes),
            Source::Stdout | Source::Stderr => {
                let room = NOISE_MAX - self.noise.len().min(NOISE_MAX);
                self.noise
                    .extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
        }
    }

    fn wish(&mut self) -> Wish {
        if self.is_stopped() || self.is_over() || self.unkept.is_some() {
            Wish::Kill
        } else {
            Wish::GoOn
        }
    }

    fn is_ready(&mut self) -> bool {
        self.report.take_ready()
    }

    fn bell(&self) -> Option<BorrowedFd<'_>> {
        self.switch.and_then(Switch::fd)
    }

    fn quiet(&mut self) {
        // The switches are checked before the next wait.
        self.switch.into_iter().for_each(Switch::quiet);
    }
}

impl Work<'_> {
    fn is_stopped(&self) -> bool {
        self.switch.is_some_and(Switch::killed)
    }

    fn is_over(&self) -> bool {
        self.bytes > self.frame_max || self.report.flooded()
    }

    /// The next state; an earlier end is a fault.
    fn on<T>(&self, step: Step<T>) -> Result<T, Fault> {
        match step {
            Step::On(next) => Ok(next),
            Step::Ended(_) if self.is_stopped() => Err(Fault::new(Why::ConverterStopped, "killed")),
            Step::Ended(ended) => Err(Fault::new(
                Why::ConverterFailed,
                format!("status {}: {}", ended.ending.status, self.noise()),
            )),
        }
    }

    /// Reports a conversion that takes too long as such, not as a slow start of the interpreter.
    fn slow(&self, fault: child::Fault) -> Fault {
        match fault.why {
            child::Why::NotReady(patience) => {
                Fault::new(Why::ConverterSlow(patience), fault.detail)
            }
            _ => fault.into(),
        }
    }

    fn noise(&self) -> String {
        String::from_utf8_lossy(&self.noise).into_owned()
    }

    fn converted(self, status: i32) -> Result<Converted, Fault> {
        let noise = self.noise();
        if self.is_stopped() {
            return Err(Fault::new(Why::ConverterStopped, "killed"));
        }
        if self.is_over() {
            return Err(Fault::new(Why::ConverterFlooded, self.bytes));
        }
        if let Some(e) = self.unkept {
            return Err(Fault::new(Why::Unkept, e));
        }
        let failed = |detail: String| Fault::new(Why::ConverterFailed, detail);
        let claim = self
            .report
            .claim()
            .map_err(|why| failed(format!("{why}: {noise}")))?;
        if let Some(error) = claim.error {
            return Err(Fault::new(Why::Unconvertible(error.message), noise));
        }
        let report: ScriptReport =
            serde_json::from_value(claim.result).map_err(|e| failed(e.to_string()))?;
        if status != 0 {
            return Err(failed(format!("status {status}: {noise}")));
        }
        let frame = (report.frame && self.bytes > 0)
            .then(|| memfd::seal(self.frame).map(Arc::new))
            .transpose()
            .map_err(Fault::of(Why::Unkept))?;
        Ok(Converted {
            columns: report.columns,
            texts: report.texts,
            rows: report.rows,
            summary: report.summary.filter(Summary::is_sound).map(Arc::new),
            frame_bytes: frame.as_ref().map_or(0, |_| self.bytes),
            frame,
            bounds: report.bounds,
        })
    }
}
