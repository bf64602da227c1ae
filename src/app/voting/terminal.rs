//! Runs `ssh-keygen` in the foreground of the terminal, where it asks for passphrases and PINs itself.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Read, Write as _};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::model::visible_lines;

use super::refused::SignError;
use super::sign::SAID_MAX;

/// How long a person may take for a passphrase.
const LIMIT: Duration = Duration::from_secs(120);
const LOOK: Duration = Duration::from_millis(20);

/// `ssh-keygen` says it only if its errors go to a terminal.
const HINT: &str =
    "Signing with ssh-keygen: answer what it asks, and touch the security key when it blinks.\n";

/// What came of it.
pub struct Ended {
    pub success: bool,
    pub answer: Vec<u8>,
    pub complaint: Vec<u8>,
}

/// Runs the command with pipes, in a process group of its own that `lend` moves into the foreground. What it complains
/// about is shown as it comes.
pub fn run(mut command: Command, text: &[u8], lend: impl FnOnce(Pid)) -> Result<Ended, SignError> {
    let mut terminal = OpenOptions::new()
        .write(true)
        .custom_flags(nix::libc::O_NOCTTY)
        .open("/dev/tty")
        .map_err(|_| SignError::NoTerminal)?;
    let _ = terminal.write_all(HINT.as_bytes());
    let mut child = command
        .process_group(0)
        .spawn()
        .map_err(SignError::System)?;
    let group = Pid::from_raw(child.id().cast_signed());
    lend(group);
    if let Some(mut stdin) = child.stdin.take() {
        // Shorter than a pipe, so nothing blocks.
        let _ = stdin.write_all(text);
    }
    let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
    for pipe in [
        stdout.as_ref().map(AsFd::as_fd),
        stderr.as_ref().map(AsFd::as_fd),
    ] {
        let set = pipe.map(|pipe| fcntl(pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)));
        if let Some(Err(e)) = set {
            end(group);
            return Err(SignError::System(e.into()));
        }
    }
    let until = Instant::now() + LIMIT;
    let (mut answer, mut complaint) = (Vec::new(), Vec::new());
    loop {
        // Before its pipes are read: what it wrote before it ended is then read as a whole.
        let status = waitpid(group, Some(WaitPidFlag::WNOHANG | WaitPidFlag::WUNTRACED));
        read_on(stdout.as_mut(), &mut answer);
        let before = complaint.len();
        read_on(stderr.as_mut(), &mut complaint);
        if let Some(new) = complaint.get(before..).filter(|new| !new.is_empty()) {
            let new = String::from_utf8_lossy(new);
            let _ = terminal.write_all(visible_lines(&new).as_bytes());
        }
        match status {
            Ok(WaitStatus::Exited(_, code)) => {
                return Ok(Ended {
                    success: code == 0,
                    answer,
                    complaint,
                });
            }
            Ok(WaitStatus::Signaled(..)) => return Err(SignError::Interrupted),
            // No shell is there to continue it.
            Ok(WaitStatus::Stopped(..)) => {
                std::thread::sleep(LOOK);
                let _ = killpg(group, Signal::SIGCONT);
            }
            Ok(_) | Err(Errno::EINTR) if Instant::now() < until => std::thread::sleep(LOOK),
            Ok(_) | Err(Errno::EINTR) => {
                end(group);
                return Err(SignError::TimedOut(LIMIT.as_secs()));
            }
            Err(e) => return Err(SignError::System(e.into())),
        }
    }
}

fn end(group: Pid) {
    let _ = killpg(group, Signal::SIGKILL);
    let _ = waitpid(group, None);
}

/// Reads what is there, up to the most that is kept.
fn read_on(pipe: Option<&mut impl Read>, kept: &mut Vec<u8>) {
    let Some(pipe) = pipe else { return };
    let mut piece = [0; 1024];
    while (kept.len() as u64) < SAID_MAX {
        match pipe.read(&mut piece) {
            Ok(n) if n > 0 => kept.extend_from_slice(&piece[..n]),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            // Its end, or nothing yet.
            _ => return,
        }
    }
}
