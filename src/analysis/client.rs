//! The client of one worker process.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

use super::{frames, rules, unanalyzable};
use crate::model::{Digest, Setting, Verdict};
use crate::policy::Policy;

/// The time limit for a verdict. On a busy machine the worker may wait longer than it works. The
/// worker also ends itself, one second later.
const ANSWER: Patience = Patience {
    cpu: Duration::from_millis(500),
    wall: Duration::from_secs(4),
};
/// The time limit for starting a worker.
const START: Patience = Patience {
    cpu: Duration::from_secs(10),
    wall: Duration::from_secs(10),
};

/// The CPU time a worker may use and the total time to wait for it. `wall` is never less than
/// `cpu`.
#[derive(Clone, Copy)]
struct Patience {
    cpu: Duration,
    wall: Duration,
}

/// Asks a worker process for verdicts, one at a time, and blocks meanwhile. The worker is started
/// on first use and restarted after it was killed.
pub struct Analyser {
    exe: PathBuf,
    policies: Vec<Arc<Policy>>,
    worker: Option<Worker>,
}

impl Analyser {
    /// `exe` is a lasting path of this program: `/proc/self/exe` or an open descriptor.
    pub fn new(exe: PathBuf, policies: Vec<Arc<Policy>>) -> Self {
        Self {
            exe,
            policies,
            worker: None,
        }
    }

    /// Another client for the same program, with other policies.
    #[must_use]
    pub fn with_policies(&self, policies: Vec<Arc<Policy>>) -> Self {
        Self::new(self.exe.clone(), policies)
    }

    /// Another client for the same program and policies, with its own worker.
    #[must_use]
    pub fn another(&self) -> Self {
        Self::new(self.exe.clone(), self.policies.clone())
    }

    /// The verdict on a snippet without further information; see [`Analyser::verdict_in`].
    pub fn verdict(&mut self, code: &[u8], profile: &str) -> Verdict {
        self.verdict_in(code, profile, &Setting::default())
    }

    /// The verdict on a snippet. Never fails: a crash, a time-out or a protocol error makes this
    /// snippet `unanalyzable`, and the worker is replaced.
    ///
    /// A worker may end for unrelated reasons (it is killed, or memory is short), so a second one
    /// is asked. If that one ends too, the snippet is the cause.
    pub fn verdict_in(&mut self, code: &[u8], profile: &str, setting: &Setting) -> Verdict {
        let asked = match self.ask(code, profile, setting) {
            Err(fault) if ended(&fault) => {
                self.worker = None;
                self.ask(code, profile, setting)
                    .map_err(|again| match again {
                        again if ended(&again) => io::Error::new(
                            again.kind(),
                            format!("two workers ended on this snippet, {again}"),
                        ),
                        again => again,
                    })
            }
            asked => asked,
        };
        asked.unwrap_or_else(|fault| {
            self.worker = None;
            self.failed(code, profile, &fault.to_string())
        })
    }

    /// The worker's process id, if one is running.
    pub fn worker_pid(&self) -> Option<u32> {
        self.worker.as_ref().map(|w| w.child.id())
    }

    fn failed(&self, code: &[u8], profile: &str, fault: &str) -> Verdict {
        match self.policies.iter().find(|p| p.name == profile) {
            Some(policy) => unanalyzable(code, policy, &rules::NO_ANSWER, fault),
            None => Verdict {
                policy: crate::model::PolicyRef {
                    profile: profile.to_owned(),
                    sha256: String::new(),
                },
                ..match self.policies.first() {
                    Some(policy) => {
                        unanalyzable(code, policy, &rules::NO_ANSWER, "no such profile")
                    }
                    None => nothing(code),
                }
            },
        }
    }

    fn ask(&mut self, code: &[u8], profile: &str, setting: &Setting) -> io::Result<Verdict> {
        if !self.policies.iter().any(|p| p.name == profile) {
            return Err(io::Error::new(io::ErrorKind::NotFound, "no such profile"));
        }
        // Neither snippet is to blame if a worker ends between them.
        if self.worker.as_mut().is_some_and(Worker::is_gone) {
            self.worker = None;
        }
        let worker = match &mut self.worker {
            Some(worker) => worker,
            none => none.insert(Worker::start(&self.exe, &self.policies)?),
        };
        let request = frames::request(profile, setting, code)?;
        let answer = worker.exchange(&frames::framed(&request), ANSWER)?;
        let (verdict, facts, places, flows): (Verdict, _, _, _) = serde_json::from_slice(&answer)?;
        // An answer to another question would be worse than none.
        let same =
            verdict.policy.profile == profile && verdict.source.sha256 == Digest::of(code).hex();
        if !same {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the worker answered something else",
            ));
        }
        Ok(Verdict {
            facts,
            places,
            flows,
            ..verdict
        })
    }
}

/// The verdict without any policy to judge by.
fn nothing(code: &[u8]) -> Verdict {
    Verdict {
        verdict: crate::model::VerdictKind::Unanalyzable,
        policy: crate::model::PolicyRef {
            profile: String::new(),
            sha256: String::new(),
        },
        findings: Vec::new(),
        capabilities: Vec::new(),
        source: crate::model::SourceStats::of(code),
        elapsed_us: 0,
        facts: None,
        places: Vec::new(),
        flows: crate::model::Flows::default(),
    }
}

/// A running worker; dropping it kills and reaps it.
struct Worker {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
}

impl Worker {
    fn start(exe: &std::path::Path, policies: &[Arc<Policy>]) -> io::Result<Self> {
        let mut child = Command::new(exe)
            .arg("__analyse")
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            let _ = child.kill();
            let _ = child.wait();
            return Err(io::Error::other("the worker has no pipes"));
        };
        let mut worker = Self {
            child,
            input,
            output,
        };
        // Nonblocking, so that neither side waits for the other on a full pipe.
        nonblocking(&worker.input)?;
        nonblocking(&worker.output)?;
        let first = frames::framed(&serde_json::to_vec(&policies)?);
        let ready = worker.exchange(&first, START)?;
        if !ready.is_empty() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the worker did not become ready",
            ));
        }
        Ok(worker)
    }

    /// Whether the worker has ended.
    fn is_gone(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Writes a request and reads one frame. If the worker ends instead, the error says how.
    fn exchange(&mut self, request: &[u8], patience: Patience) -> io::Result<Vec<u8>> {
        self.transfer(request, patience).map_err(|fault| {
            if ended(&fault) {
                io::Error::new(fault.kind(), self.ending())
            } else {
                fault
            }
        })
    }

    fn ending(&mut self) -> String {
        // The closed pipes show that the worker is ending; the kill only affects one that lingers.
        let _ = self.child.kill();
        let status = self.child.wait();
        let signal = status.as_ref().ok().and_then(ExitStatusExt::signal);
        match (signal.map(Signal::try_from), status) {
            (Some(Ok(signal)), _) => format!("the last one by {signal}"),
            (_, Ok(status)) => format!("the last one with {status}"),
            (_, Err(_)) => "the last one nobody knows how".to_owned(),
        }
    }

    /// Writes and reads until the time limit.
    fn transfer(&mut self, request: &[u8], patience: Patience) -> io::Result<Vec<u8>> {
        let (started, spent) = (Instant::now(), self.spent());
        let mut unsent = request;
        let mut got = Vec::new();
        let mut buffer = [0u8; 16 * 1024];
        loop {
            if let Some(payload) = complete(&got)? {
                return Ok(payload);
            }
            let left = self.left(patience, started.elapsed(), spent);
            if left.is_zero() {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "out of time"));
            }
            self.wait(!unsent.is_empty(), left)?;
            if !unsent.is_empty() {
                match self.input.write(unsent) {
                    Ok(n) => unsent = unsent.get(n..).unwrap_or_default(),
                    Err(error) if retry(&error) => {}
                    Err(error) => return Err(error),
                }
            }
            match self.output.read(&mut buffer) {
                Ok(0) => {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "the worker ended",
                    ));
                }
                Ok(n) => got.extend_from_slice(buffer.get(..n).unwrap_or_default()),
                Err(error) if retry(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The shortest time after which the limit can be reached: one thread uses no more CPU time
    /// than passes. If its CPU time is unknown, all the passed time counts.
    fn left(&self, patience: Patience, passed: Duration, before: Option<Duration>) -> Duration {
        let used = match (before, passed < patience.cpu) {
            (Some(before), false) => self.spent().map(|now| now.saturating_sub(before)),
            _ => None,
        };
        let wall = patience.wall.saturating_sub(passed);
        patience
            .cpu
            .saturating_sub(used.unwrap_or(passed))
            .min(wall)
    }

    /// The CPU time the worker has used so far.
    fn spent(&self) -> Option<Duration> {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).ok()?);
        let clock = clock_getcpuclockid(pid).ok()?;
        clock_gettime(clock).ok().map(Duration::from)
    }

    /// Waits until a pipe is ready or the time is over.
    fn wait(&self, to_write: bool, left: Duration) -> io::Result<()> {
        let mut fds = vec![PollFd::new(self.output.as_fd(), PollFlags::POLLIN)];
        if to_write {
            fds.push(PollFd::new(self.input.as_fd(), PollFlags::POLLOUT));
        }
        // Rounded up to avoid busy waiting in the last millisecond.
        let millis = u16::try_from(left.as_millis() + 1).unwrap_or(u16::MAX);
        match poll(&mut fds, PollTimeout::from(millis)) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether the error means that the worker ended before it answered.
fn ended(fault: &io::Error) -> bool {
    matches!(
        fault.kind(),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe
    )
}

/// The first frame of the received bytes, once it is complete. Only one request is in progress at a
/// time, so further bytes are an error.
fn complete(got: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let Some((length, rest)) = got.split_first_chunk::<4>() else {
        return Ok(None);
    };
    let length = u32::from_le_bytes(*length) as usize;
    if length > frames::MOST || rest.len() > length {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the worker's answer makes no sense",
        ));
    }
    Ok((rest.len() == length).then(|| rest.to_vec()))
}

fn retry(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}

fn nonblocking(fd: &impl AsFd) -> io::Result<()> {
    let flags = OFlag::from_bits_truncate(fcntl(fd, FcntlArg::F_GETFL)?);
    fcntl(fd, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
    Ok(())
}
