//! Runs a short command that may hang, flood or crash, and returns its output.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, waitid};
use nix::unistd::Pid;

use super::descriptors;

/// The result of a command that ended.
#[derive(Debug)]
pub(super) struct Ran {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Why a command gave no answer.
#[derive(Debug)]
pub(super) enum Trouble {
    Start(io::Error),
    Read(io::Error),
    TimedOut,
    TooMuch,
}

/// Runs `command` on `input` in its own process group, for at most `limit`, reading at most `cap`
/// bytes of each stream. In every case no process of the group is left.
pub(super) fn run(
    command: &mut Command,
    input: Stdio,
    limit: Duration,
    cap: usize,
) -> Result<Ran, Trouble> {
    let deadline = Instant::now() + limit;
    let mut child = command
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(Trouble::Start)?;
    descriptors::give_back(&child);
    let output = read_both(&mut child, deadline, cap);
    // The process may go on after it closed its streams.
    let ended = output.is_ok() && ends_before(&child, deadline);
    // Kills the processes that the leader left behind. The leader is not reaped yet, so its pid
    // cannot have been reused.
    kill_group(&child);
    let status = child.wait().map_err(Trouble::Read)?;
    let (stdout, stderr) = output?;
    if !ended {
        return Err(Trouble::TimedOut);
    }
    Ok(Ran {
        status,
        stdout,
        stderr,
    })
}

/// What a program prints, if it ends well within the limit.
pub fn said(command: &mut Command, limit: Duration, cap: usize) -> Option<Vec<u8>> {
    let ran = run(command, Stdio::null(), limit, cap).ok()?;
    ran.status.success().then_some(ran.stdout)
}

fn kill_group(child: &Child) {
    let _ = killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
}

/// Waits for the end of the process without reaping it.
fn ends_before(child: &Child, deadline: Instant) -> bool {
    let pid = Pid::from_raw(child.id().cast_signed());
    let (tell, ended_signal) = mpsc::channel();
    // The thread ends with the process, which `run` kills if this returns false.
    let waiter = std::thread::Builder::new()
        .name("wait".to_owned())
        .spawn(move || {
            let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
            while waitid(Id::Pid(pid), flags) == Err(Errno::EINTR) {}
            let _ = tell.send(());
        });
    waiter.is_ok() && ended_signal.recv_timeout(left(deadline)).is_ok()
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

/// Reads standard output and standard error to their ends.
fn read_both(
    child: &mut Child,
    deadline: Instant,
    cap: usize,
) -> Result<(Vec<u8>, Vec<u8>), Trouble> {
    let mut out = Stream::new(child.stdout.take());
    let mut err = Stream::new(child.stderr.take());
    while out.open() || err.open() {
        let rest = left(deadline);
        if rest.is_zero() {
            return Err(Trouble::TimedOut);
        }
        let (out_ready, err_ready) = ready(out.fd(), err.fd(), rest)?;
        if out_ready {
            out.read(cap)?;
        }
        if err_ready {
            err.read(cap)?;
        }
    }
    Ok((out.bytes, err.bytes))
}

/// Waits until one of the two is readable; both are `false` on time-out.
fn ready(
    a: Option<BorrowedFd<'_>>,
    b: Option<BorrowedFd<'_>>,
    rest: Duration,
) -> Result<(bool, bool), Trouble> {
    let mut fds: Vec<PollFd<'_>> = [a, b]
        .into_iter()
        .flatten()
        .map(|fd| PollFd::new(fd, PollFlags::POLLIN))
        .collect();
    let timeout =
        PollTimeout::try_from(rest + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX);
    match poll(&mut fds, timeout) {
        Ok(_) | Err(Errno::EINTR) => {}
        Err(e) => return Err(Trouble::Read(e.into())),
    }
    let mut answers = fds.iter().map(|fd| fd.any().unwrap_or(false));
    let mut next = |there: bool| there && answers.next().unwrap_or(false);
    Ok((next(a.is_some()), next(b.is_some())))
}

/// One stream of a child, read until its end.
struct Stream<R> {
    source: Option<R>,
    bytes: Vec<u8>,
}

impl<R: Read + AsFd> Stream<R> {
    fn new(source: Option<R>) -> Self {
        Self {
            source,
            bytes: Vec::new(),
        }
    }

    fn open(&self) -> bool {
        self.source.is_some()
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.source.as_ref().map(AsFd::as_fd)
    }

    fn read(&mut self, cap: usize) -> Result<(), Trouble> {
        let Some(source) = &mut self.source else {
            return Ok(());
        };
        let mut chunk = [0u8; 16 * 1024];
        match source.read(&mut chunk) {
            Ok(0) => self.source = None,
            Ok(n) => self.bytes.extend_from_slice(&chunk[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Trouble::Read(e)),
        }
        if self.bytes.len() > cap {
            return Err(Trouble::TooMuch);
        }
        Ok(())
    }
}

/// How a process ended, in words.
pub(super) fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => match Signal::try_from(signal) {
            Ok(signal) => format!("signal {}", signal.as_str()),
            Err(_) => format!("signal {signal}"),
        },
        (None, None) => "an unknown end".to_owned(),
    }
}

/// The last non-empty lines of `bytes`: at most `lines` lines and 2,000 characters, with control
/// characters made visible for the terminal.
pub(super) fn tail(bytes: &[u8], lines: usize) -> String {
    let text = String::from_utf8_lossy(bytes);
    let all: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
    let from = all.len().saturating_sub(lines);
    let joined = all[from..].join("\n");
    let skip = joined.chars().count().saturating_sub(2_000);
    let shown: String = joined.chars().skip(skip).collect();
    crate::model::visible(&shown).into_owned()
}
