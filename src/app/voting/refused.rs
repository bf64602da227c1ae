//! Why a vote was not signed, and what would help.

use std::io;
use std::path::{Path, PathBuf};

use crate::model::visible;

/// The longest complaint of `ssh-keygen` that is told in its own words.
const SAID_MAX: usize = 200;

/// Why there is no signature.
#[derive(Debug, thiserror::Error)]
pub enum SignError {
    #[error("ssh-keygen is not installed; install the client of OpenSSH, 8.4 or newer")]
    NoProgram,
    #[error("ssh-keygen is too old to sign; install the client of OpenSSH, 8.4 or newer")]
    TooOld,
    #[error("the key cannot sign votes: {0}")]
    Key(String),
    #[error(
        "there is no key at {}; make one with `ssh-keygen -t ed25519-sk -O verify-required -f {}`, or name another",
        .0.display(), .0.display()
    )]
    NoFile(PathBuf),
    #[error("{path}.pub is missing; `ssh-keygen -y -f {path} > {path}.pub` makes it", path = .0.display())]
    NoPublicKey(PathBuf),
    #[error(
        "no agent answers; start one, add the key with `ssh-add`, and start countersign with its SSH_AUTH_SOCK"
    )]
    NoAgent,
    #[error("the agent does not have the key; add it with `ssh-add`")]
    NotInAgent,
    #[error("{} is a public key only, and no agent has its private one; add it with `ssh-add`", .0.display())]
    NoPrivateKey(PathBuf),
    #[error("others can read the private key {path}, so ssh-keygen does not use it; run `chmod 600 {path}`", path = .0.display())]
    Permissions(PathBuf),
    #[error("{} wants its passphrase or PIN", .0.display())]
    Passphrase(PathBuf),
    #[error("the passphrase or PIN was wrong; try again")]
    WrongPassphrase,
    #[error(
        "the agent refused to sign: it may have wanted a confirmation, a touch or a PIN, or allows no signatures of this kind"
    )]
    AgentRefused {
        /// Whether the key may be in a file, which needs no agent.
        has_file: bool,
    },
    #[error("the security key is not plugged in; plug it in and try again")]
    NoDevice,
    #[error(
        "nothing was signed within {0} s; try again, and touch the security key when it blinks"
    )]
    TimedOut(u64),
    #[error("signing was interrupted")]
    Interrupted,
    #[error("there is no terminal on which ssh-keygen could ask")]
    NoTerminal,
    #[error("there are {0} bytes to sign, more than a vote has")]
    TooLong(usize),
    #[error(
        "what ssh-keygen answered is not this key's signature of this vote, so it is not used: {0}"
    )]
    NotOurs(String),
    #[error("ssh-keygen did not sign: {said}")]
    Failed { said: String, has_file: bool },
    #[error("ssh-keygen cannot be run: {0}")]
    System(io::Error),
}

/// Leave to sign in the terminal after a quiet attempt failed; only [`SignError::terminal`] gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    pub(super) without_agent: bool,
}

impl SignError {
    /// Whether another attempt with the terminal may help. `None`: nothing but what the error says.
    pub fn terminal(&self) -> Option<Terminal> {
        let without_agent = match self {
            Self::Passphrase(_) | Self::WrongPassphrase => false,
            Self::Failed { has_file: true, .. } => false,
            Self::AgentRefused { has_file: true } => true,
            _ => return None,
        };
        Some(Terminal { without_agent })
    }

    /// What `ssh-keygen` complained about, in the words of OpenSSH 8.4 to 10. `file` is the key's, if it has one.
    pub(super) fn of(complaint: &str, file: Option<&Path>) -> Self {
        let has = |words: &str| complaint.contains(words);
        let path = || file.unwrap_or(Path::new("the key")).to_owned();
        let has_file = file.is_some();
        match () {
            () if has("usage:") || has("Unsupported operation") => Self::TooOld,
            () if has("UNPROTECTED PRIVATE KEY FILE") || has("bad permissions") => {
                Self::Permissions(path())
            }
            () if has("agent refused operation") => Self::AgentRefused { has_file },
            () if has("Couldn't get agent socket") => Self::NoAgent,
            () if has("Couldn't find key in agent") => Self::NotInAgent,
            () if has("No private key found") => Self::NoPrivateKey(path()),
            () if has("incorrect passphrase") => Self::Passphrase(path()),
            () if has("device not found") => Self::NoDevice,
            () if has("Couldn't load public key") && has("No such file") => Self::NoFile(path()),
            () => Self::Failed {
                said: last_line(complaint),
                has_file,
            },
        }
    }
}

fn last_line(complaint: &str) -> String {
    let line = complaint
        .lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty());
    let line: String = line
        .unwrap_or("it did not say why")
        .chars()
        .take(SAID_MAX)
        .collect();
    visible(&line).into_owned()
}
