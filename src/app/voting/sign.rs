//! Has `ssh-keygen` sign a vote: with a key's file, an agent or a security key, as git does.
//!
//! First quietly, without the terminal: that is enough for an agent, for a key without a passphrase, and for a security key
//! that wants a touch only. If a passphrase or a PIN is asked for, the terminal is lent to `ssh-keygen`: no secret passes
//! through this process. Whatever came back is checked over our own bytes before anybody sees it, because a `ssh-keygen`
//! without a terminal may read the first line of what it signs as a passphrase.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};

use crate::ballot::{Key, signed_by};
use crate::config::DeskKey;

use super::super::group::Group;
use super::refused::{SignError, Terminal};
use super::{programs, terminal};

/// How long a quiet attempt may take: a person has to find the security key and touch it.
const QUIET: Duration = Duration::from_secs(60);
/// Most bytes that are read of what it answers, and of what it complains about.
pub(super) const SAID_MAX: u64 = 8 << 10;

/// A vote has less than 2 KiB, and a pipe takes 64.
const TEXT_MAX: usize = 32 << 10;

/// What `ssh-keygen` needs: it finds the user's files, an agent, and libraries for keys.
const VARIABLES: [&str; 9] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "XDG_RUNTIME_DIR",
    "SSH_SK_PROVIDER",
    "SSH_SK_HELPER",
    "SSH_PKCS11_HELPER",
    "TERM",
];

/// Where the key is.
#[derive(Debug)]
enum Source {
    /// A private key's file, or a public one's whose private half is in the agent.
    File(PathBuf),
    /// In the agent only. The public key is in a file of ours, because `ssh-keygen` takes files.
    Agent(tempfile::NamedTempFile),
}

/// Who signs votes here.
#[derive(Debug)]
pub struct Signer {
    source: Source,
    key: Key,
    keygen: PathBuf,
    /// The agent's socket.
    agent: Option<OsString>,
}

impl Signer {
    /// Finds `ssh-keygen` and reads the public key; nothing is signed yet.
    pub fn new(key: &DeskKey) -> Result<Self, SignError> {
        let keygen = programs::find("ssh-keygen").ok_or(SignError::NoProgram)?;
        let read = |line: &str| Key::read(line).map_err(|why| SignError::Key(why.to_string()));
        let (source, key) = match key {
            DeskKey::File(path) => (Source::File(path.clone()), read(&public_line(path)?)?),
            DeskKey::Agent(line) => {
                let key = read(line)?;
                let file = in_a_file(&key).map_err(SignError::System)?;
                (Source::Agent(file), key)
            }
        };
        Ok(Self {
            source,
            key,
            keygen,
            agent: std::env::var_os("SSH_AUTH_SOCK"),
        })
    }

    pub fn public_key(&self) -> &Key {
        &self.key
    }

    /// Signs without the terminal and returns the armour. If this future is dropped, `ssh-keygen` is killed.
    ///
    /// # Errors
    /// Why not. [`SignError::terminal`] says whether [`Self::in_terminal`] may help.
    pub async fn quietly(&self, text: &[u8], namespace: &str) -> Result<String, SignError> {
        check_length(text)?;
        let mut command = tokio::process::Command::from(self.detached(namespace));
        command.kill_on_drop(true);
        let mut child = command.spawn().map_err(SignError::System)?;
        // Before the child is dropped, its group is killed: what it started holds the security key.
        let mut group = Group::of(child.id());
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let work = async {
            let write = async {
                if let Some(mut stdin) = stdin {
                    // Whether it read the text is for its answer to say.
                    let _ = stdin.write_all(text).await;
                }
            };
            let ((), answer, complaint) = tokio::join!(write, said(stdout), said(stderr));
            let status = child.wait().await.map_err(SignError::System)?;
            Ok((status, answer, complaint))
        };
        let (status, answer, complaint) = tokio::time::timeout(QUIET, work)
            .await
            .map_err(|_| SignError::TimedOut(QUIET.as_secs()))??;
        group.ended();
        match status.success() {
            true => self.own(answer, namespace, text),
            false => Err(self.refused(&complaint)),
        }
    }

    /// Signs with the terminal in the hands of `ssh-keygen`, which may ask there for a passphrase or a PIN. Blocks until it
    /// has ended. The caller has given the terminal away; `lend` moves the process group into its foreground.
    pub fn in_terminal(
        &self,
        permit: Terminal,
        text: &[u8],
        namespace: &str,
        lend: impl FnOnce(Pid),
    ) -> Result<String, SignError> {
        check_length(text)?;
        let mut command = self.command(Command::new(&self.keygen), namespace);
        command.env("SSH_ASKPASS_REQUIRE", "never");
        // It would refuse again.
        if permit.without_agent {
            command.env_remove("SSH_AUTH_SOCK");
        }
        let ended = terminal::run(command, text, lend)?;
        match ended.success {
            true => self.own(ended.answer, namespace, text),
            false => Err(match self.refused(&ended.complaint) {
                SignError::Passphrase(_) => SignError::WrongPassphrase,
                other => other,
            }),
        }
    }

    /// The command, with what it must not ask on the terminal answered by a program that fails.
    fn detached(&self, namespace: &str) -> Command {
        let program = match programs::find("setsid") {
            Some(setsid) => {
                // It becomes the session's leader itself, and then `ssh-keygen`.
                let mut command = Command::new(setsid);
                command.arg(&self.keygen);
                command
            }
            None => {
                let mut command = Command::new(&self.keygen);
                command.process_group(0);
                command
            }
        };
        let mut command = self.command(program, namespace);
        let fails = programs::find("false").unwrap_or_else(|| PathBuf::from("/bin/false"));
        command
            .env("SSH_ASKPASS_REQUIRE", "force")
            .env("SSH_ASKPASS", fails);
        command
    }

    fn command(&self, mut command: Command, namespace: &str) -> Command {
        command.args(["-q", "-Y", "sign", "-n", namespace, "-f"]);
        match &self.source {
            Source::File(path) => command.arg(path),
            Source::Agent(file) => command.arg(file.path()).arg("-U"),
        };
        let kept = VARIABLES
            .iter()
            .filter_map(|name| Some((name, std::env::var_os(name)?)));
        command
            .env_clear()
            .envs(kept)
            .envs(self.agent.iter().map(|socket| ("SSH_AUTH_SOCK", socket)))
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// What was answered, if it is this key's signature over these bytes.
    fn own(&self, answer: Vec<u8>, namespace: &str, text: &[u8]) -> Result<String, SignError> {
        let armour = String::from_utf8(answer)
            .map_err(|_| SignError::NotOurs("it is no text".to_owned()))?;
        match signed_by(&self.key, &armour, namespace, text) {
            Ok(_) => Ok(armour),
            Err(why) => Err(SignError::NotOurs(why.to_string())),
        }
    }

    fn refused(&self, complaint: &[u8]) -> SignError {
        let path = match &self.source {
            Source::File(path) => Some(path.as_path()),
            Source::Agent(_) => None,
        };
        SignError::of(&String::from_utf8_lossy(complaint), path)
    }
}

fn check_length(text: &[u8]) -> Result<(), SignError> {
    match text.len() <= TEXT_MAX {
        true => Ok(()),
        false => Err(SignError::TooLong(text.len())),
    }
}

/// The line of the public key that belongs to a file: its `.pub` file, or the file itself.
fn public_line(path: &Path) -> Result<String, SignError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".pub");
    match first_line(Path::new(&beside)).or_else(|| first_line(path)) {
        Some(line) => Ok(line),
        None if path.exists() => Err(SignError::NoPublicKey(path.to_owned())),
        None => Err(SignError::NoFile(path.to_owned())),
    }
}

/// The first line of a file, unless it is a private key's: of that, only the first bytes are read.
fn first_line(path: &Path) -> Option<String> {
    const MOST: u64 = 16 << 10;
    const PRIVATE: &[u8] = b"-----";
    let mut file = std::fs::File::options()
        .read(true)
        .custom_flags(nix::libc::O_NONBLOCK)
        .open(path)
        .ok()?;
    let mut text = vec![0; PRIVATE.len()];
    file.read_exact(&mut text).ok()?;
    if text == PRIVATE {
        return None;
    }
    file.take(MOST).read_to_end(&mut text).ok()?;
    let text = String::from_utf8(text).ok()?;
    text.lines().next().map(str::to_owned)
}

fn in_a_file(key: &Key) -> std::io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new()
        .prefix("countersign-")
        .suffix(".pub")
        .tempfile()?;
    writeln!(file, "{}", key.line())?;
    file.flush()?;
    Ok(file)
}

async fn said(pipe: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        // What could not be read is not there.
        let _ = pipe.take(SAID_MAX).read_to_end(&mut bytes).await;
    }
    bytes
}

#[cfg(test)]
#[path = "sign_tests.rs"]
mod tests;
