//! A person's own editor: found in their variables, run without a shell in a process group of its own, in the
//! foreground of their terminal.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::runtime::give_back;

/// The variables that name an editor; the first that is not empty counts.
const VARIABLES: [&str; 2] = ["VISUAL", "EDITOR"];
/// How long an editor has to end when the dashboard closes.
const FAREWELL: Duration = Duration::from_secs(1);
/// How long a stopped editor stays so.
const STOPPED: Duration = Duration::from_millis(20);

/// Why there is no editor's command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoCommand {
    NotSet,
    /// A quote is not closed.
    BadQuotes,
}

/// The editor's command, in words.
pub fn command() -> Result<Vec<String>, NoCommand> {
    let named = |name: &&str| std::env::var(name).ok();
    let set = VARIABLES.iter().filter_map(named);
    words(set)
}

fn words(mut set: impl Iterator<Item = String>) -> Result<Vec<String>, NoCommand> {
    let command = set.find(|command| !command.trim().is_empty());
    let command = command.ok_or(NoCommand::NotSet)?;
    let words = shlex::split(&command).ok_or(NoCommand::BadQuotes)?;
    match words.is_empty() {
        true => Err(NoCommand::NotSet),
        false => Ok(words),
    }
}

/// Starts the editor on a file, with the terminal as its input and output. Returns its process group, which the
/// caller moves into the foreground and passes to [`wait`].
pub fn start(command: &[String], file: &Path) -> io::Result<Pid> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    // Opened anew: the dashboard's own input does not block.
    let terminal = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(nix::libc::O_NOCTTY)
        .open("/proc/self/fd/0")?;
    let child = Command::new(program)
        .args(arguments)
        .arg(file)
        .stdin(Stdio::from(terminal.try_clone()?))
        .stdout(Stdio::from(terminal.try_clone()?))
        .stderr(Stdio::from(terminal))
        .process_group(0)
        .spawn()
        .map_err(|e| io::Error::new(e.kind(), format!("{program}: {e}")))?;
    give_back(&child);
    Ok(Pid::from_raw(child.id().cast_signed()))
}

/// Waits until the editor has ended. One that stops is continued at once: no shell is there to do it.
///
/// # Errors
/// How it ended, if not with success.
pub fn wait(editor: Pid) -> Result<(), String> {
    loop {
        match waitpid(editor, Some(WaitPidFlag::WUNTRACED)) {
            Ok(WaitStatus::Exited(_, 0)) => return Ok(()),
            Ok(WaitStatus::Exited(_, code)) => {
                return Err(format!("the editor ended with exit code {code}"));
            }
            Ok(WaitStatus::Signaled(_, signal, _)) => {
                return Err(format!("the editor was ended by {signal}"));
            }
            Ok(WaitStatus::Stopped(..)) => {
                std::thread::sleep(STOPPED);
                let _ = killpg(editor, Signal::SIGCONT);
            }
            Ok(_) | Err(Errno::EINTR) => {}
            Err(e) => return Err(format!("the editor cannot be waited for: {e}")),
        }
    }
}

/// Ends the editor, because the dashboard closes: asks first, so that it can save what is typed. [`wait`] must
/// be waiting.
pub fn end(editor: Pid) {
    let _ = killpg(editor, Signal::SIGTERM);
    let _ = killpg(editor, Signal::SIGCONT);
    let until = Instant::now() + FAREWELL;
    while killpg(editor, None).is_ok() && Instant::now() < until {
        std::thread::sleep(STOPPED);
    }
    let _ = killpg(editor, Signal::SIGKILL);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_that_is_set_counts_and_is_split_like_a_shell_splits_words() {
        let of = |set: &[&str]| words(set.iter().map(|s| (*s).to_owned()));
        let code = |words: &[&str]| Ok(words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&[]), Err(NoCommand::NotSet));
        assert_eq!(of(&["", " "]), Err(NoCommand::NotSet));
        assert_eq!(of(&["", "vi"]), code(&["vi"]));
        assert_eq!(of(&["code --wait", "vi"]), code(&["code", "--wait"]));
        assert_eq!(
            of(&["'/opt/my editor' -n"]),
            code(&["/opt/my editor", "-n"])
        );
        // Nothing of it is a shell's.
        assert_eq!(of(&["vi; rm $HOME"]), code(&["vi;", "rm", "$HOME"]));
        assert_eq!(of(&["vi 'x"]), Err(NoCommand::BadQuotes));
    }
}
