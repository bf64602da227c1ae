//! A question to the person at the terminal. The answer never comes from a pipe, nor from what was typed before the question.

use std::io::{self, BufRead as _, IsTerminal as _};

use nix::sys::termios::{FlushArg, tcflush};

use crate::error::Failure;

use super::out::{is_seen, tell};

/// Whether a person can be asked at all.
pub(super) fn can_be_asked() -> bool {
    io::stdin().is_terminal() && is_seen()
}

/// Whether the person says yes to what was shown. `undone` says what is so without that.
pub(super) fn agrees(question: &str, undone: &str) -> Result<bool, Failure> {
    let said = line(
        &format!("{question} y for yes, anything else for no"),
        undone,
    )?;
    Ok(matches!(said.as_str(), "y" | "yes"))
}

/// One line of the person's, without the spaces around it.
pub(super) fn line(question: &str, undone: &str) -> Result<String, Failure> {
    if !can_be_asked() {
        return Err(Failure::usage(format!(
            "{undone}: there is no terminal to ask on; --yes does it without asking"
        )));
    }
    let failed = |e: io::Error| Failure::general(format!("{undone}: the terminal: {e}"));
    let stdin = io::stdin();
    tcflush(&stdin, FlushArg::TCIFLUSH).map_err(|e| failed(e.into()))?;
    tell(question);
    let mut said = String::new();
    stdin.lock().read_line(&mut said).map_err(failed)?;
    Ok(said.trim().to_owned())
}
