//! The user's command that takes each checkpoint to where it is kept, such as another machine.

use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::model::visible;

/// Bytes of the command's errors that are told.
const SAID_MAX: usize = 300;

/// How long the command may take, and how long once a person waits for the end.
const WITHIN: Duration = Duration::from_secs(30);
const AT_THE_END: Duration = Duration::from_secs(5);

/// Gives a checkpoint to the command on its standard input.
///
/// # Errors
/// Why it was not taken, in words.
pub(super) fn hand_over(
    command: &[String],
    note: &str,
    ends: impl Fn() -> bool,
) -> Result<(), String> {
    hand_over_within(WITHIN, command, note, ends)
}

fn hand_over_within(
    within: Duration,
    command: &[String],
    note: &str,
    ends: impl Fn() -> bool,
) -> Result<(), String> {
    let Some((program, args)) = command.split_first() else {
        return Ok(());
    };
    let name = visible(program).into_owned();
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        // A command that reads the terminal must not take the person's keys.
        .process_group(0)
        .spawn()
        .map_err(|e| format!("anchor_command: `{name}` cannot be started: {e}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // Whether it read the note is for the command to say. It is shorter than a pipe, so nothing blocks.
        let _ = stdin.write_all(note.as_bytes());
    }
    let status = wait(&mut child, Instant::now() + within, ends)
        .map_err(|why| format!("anchor_command: `{name}` {why}"))?;
    if !status.success() {
        let mut said = Vec::new();
        if let Some(stderr) = child.stderr.take() {
            let _ = nonblocking(&stderr);
            let _ = stderr.take(SAID_MAX as u64).read_to_end(&mut said);
        }
        let said = String::from_utf8_lossy(&said);
        let said = match said.trim().lines().next() {
            Some(line) if !line.is_empty() => format!(": {}", visible(line)),
            _ => String::new(),
        };
        return Err(format!("anchor_command: `{name}` failed, {status}{said}"));
    }
    Ok(())
}

/// What a process that outlived the command holds open must not be waited for.
fn nonblocking(file: &impl std::os::fd::AsFd) -> nix::Result<()> {
    use nix::fcntl::{FcntlArg, OFlag, fcntl};
    fcntl(file, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map(drop)
}

fn wait(
    child: &mut Child,
    mut until: Instant,
    ends: impl Fn() -> bool,
) -> Result<std::process::ExitStatus, String> {
    const LOOK: Duration = Duration::from_millis(10);
    let mut hurried = false;
    loop {
        if !hurried && ends() {
            hurried = true;
            until = until.min(Instant::now() + AT_THE_END);
        }
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if Instant::now() < until => std::thread::sleep(LOOK),
            Ok(None) => {
                let group = Pid::from_raw(child.id().cast_signed());
                let _ = killpg(group, Signal::SIGKILL);
                let _ = child.wait();
                return Err("took too long, and was stopped".to_owned());
            }
            Err(e) => return Err(format!("cannot be waited for: {e}")),
        }
    }
}

#[cfg(test)]
#[path = "anchor_tests.rs"]
mod tests;
