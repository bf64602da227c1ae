//! A command of the user's that gets a note on its standard input, within a time.

use std::io::{ErrorKind, Read, Write as _};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::model::visible;

/// Bytes of the command's errors that are told.
const SAID_MAX: usize = 300;

/// How long a command may take, and how long once a person waits for the end.
pub(super) const WITHIN: Duration = Duration::from_secs(30);
const AT_THE_END: Duration = Duration::from_secs(5);

/// What is asked of a command.
pub(super) struct Errand<'a> {
    /// The key of the configuration that names the command.
    pub key: &'static str,
    pub argv: &'a [String],
    pub within: Duration,
    /// The variables that it gets; `None` for all.
    pub only: Option<&'a [&'a str]>,
    /// Most bytes that it may answer. What it writes is dropped if there is no bound.
    pub answer: Option<usize>,
}

impl Errand<'_> {
    /// Runs the command, and returns what it answered. It takes less time once `ends`.
    ///
    /// # Errors
    /// Why it failed, in words.
    pub fn run(&self, note: &str, ends: impl Fn() -> bool) -> Result<Vec<u8>, String> {
        let Some((program, args)) = self.argv.split_first() else {
            return Ok(Vec::new());
        };
        let named = format!("{}: `{}`", self.key, visible(program));
        let mut command = Command::new(program);
        command.args(args).stdin(Stdio::piped());
        command.stdout(match self.answer {
            Some(_) => Stdio::piped(),
            None => Stdio::null(),
        });
        // A command that reads the terminal must not take the person's keys.
        command.stderr(Stdio::piped()).process_group(0);
        if let Some(only) = self.only {
            let kept = only
                .iter()
                .filter_map(|name| Some((name, std::env::var_os(name)?)));
            command.env_clear().envs(kept);
        }
        let mut child = command
            .spawn()
            .map_err(|e| format!("{named} cannot be started: {e}"))?;
        if let Some(mut stdin) = child.stdin.take() {
            // Whether it read the note is for the command to say. It is shorter than a pipe, so nothing blocks.
            let _ = stdin.write_all(note.as_bytes());
        }
        let (status, answer) = self
            .wait(&mut child, ends)
            .map_err(|why| format!("{named} {why}"))?;
        match status.success() {
            true => Ok(answer),
            false => Err(format!("{named} failed, {status}{}", said(&mut child))),
        }
    }

    fn wait(
        &self,
        child: &mut Child,
        ends: impl Fn() -> bool,
    ) -> Result<(ExitStatus, Vec<u8>), String> {
        const LOOK: Duration = Duration::from_millis(10);
        let mut until = Instant::now() + self.within;
        let mut hurried = false;
        let mut answer = Vec::new();
        let mut stdout = child.stdout.take();
        if let Some(stdout) = &stdout {
            nonblocking(stdout).map_err(|e| format!("cannot be read: {e}"))?;
        }
        let why = loop {
            if !hurried && ends() {
                hurried = true;
                until = until.min(Instant::now() + AT_THE_END);
            }
            // Before its output is read: what it wrote before it ended is then read as a whole.
            let ended = child.try_wait();
            if let (Some(stdout), Some(most)) = (&mut stdout, self.answer) {
                read_on(stdout, most, &mut answer);
                if answer.len() > most {
                    break format!("answers with more than {most} bytes, and was stopped");
                }
            }
            match ended {
                Ok(Some(status)) => return Ok((status, answer)),
                Ok(None) if Instant::now() < until => std::thread::sleep(LOOK),
                Ok(None) => break "took too long, and was stopped".to_owned(),
                Err(e) => break format!("cannot be waited for: {e}"),
            }
        };
        let group = Pid::from_raw(child.id().cast_signed());
        let _ = killpg(group, Signal::SIGKILL);
        let _ = child.wait();
        Err(why)
    }
}

/// Reads what is there, and at most one byte more than `most` in all.
fn read_on(stdout: &mut impl Read, most: usize, answer: &mut Vec<u8>) {
    let mut piece = [0; 4096];
    while answer.len() <= most {
        match stdout.read(&mut piece) {
            Ok(n) if n > 0 => answer.extend_from_slice(&piece[..n]),
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            // Its end, or nothing yet.
            _ => return,
        }
    }
}

/// The first line of the command's errors.
fn said(child: &mut Child) -> String {
    let mut said = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = nonblocking(&stderr);
        let _ = stderr.take(SAID_MAX as u64).read_to_end(&mut said);
    }
    let said = String::from_utf8_lossy(&said);
    match said.trim().lines().next() {
        Some(line) if !line.is_empty() => format!(": {}", visible(line)),
        _ => String::new(),
    }
}

/// What a process that outlived the command holds open must not be waited for.
fn nonblocking(file: &impl AsFd) -> nix::Result<()> {
    fcntl(file, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map(drop)
}
