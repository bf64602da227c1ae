//! One run of the command: no shell, no terminal, a fixed environment, a process group of its own and a time.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::Command;

use crate::model::visible;

use super::super::group::Group;
use super::queue::{Message, seconds};

/// Bytes of its errors that are told.
const SAID_MAX: u64 = 300;
/// How long its errors are waited for after it ended: what it left running may hold them open.
const REST: Duration = Duration::from_millis(200);
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

pub struct Errand {
    program: String,
    args: Vec<String>,
    within: Duration,
}

impl Errand {
    /// `None` if there is no program.
    pub fn of(command: &[String], within: Duration) -> Option<Self> {
        let (program, args) = command.split_first()?;
        Some(Self {
            program: program.clone(),
            args: args.to_vec(),
            within,
        })
    }

    /// Runs it with one line on its standard input. What it writes is dropped, but the first line of its errors if it failed.
    ///
    /// # Errors
    /// Why it failed, in words for a person.
    pub async fn run(&self, message: &Message) -> Result<(), String> {
        let named = format!("notices: `{}`", visible(&self.program));
        let spawned = self.command(message).spawn();
        let mut child = spawned.map_err(|e| format!("{named} cannot be started: {e}"))?;
        let mut group = Group::of(child.id());
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
        let line = format!("{}\n", message.line());
        let work = async {
            if let Some(mut stdin) = stdin {
                // Whether it read the line is for its exit code to say. It is shorter than a pipe, so nothing blocks.
                let _ = stdin.write_all(line.as_bytes()).await;
            }
            child.wait().await
        };
        let mut complaint = Vec::new();
        let read = read_on(stderr, &mut complaint);
        let ended = tokio::time::timeout(self.within, async {
            tokio::pin!(work, read);
            tokio::select! {
                ended = &mut work => {
                    let _ = tokio::time::timeout(REST, read).await;
                    ended
                }
                () = &mut read => work.await,
            }
        });
        let ended = ended.await;
        if ended.is_ok() {
            group.ended();
        }
        match ended {
            Err(_) => Err(format!(
                "{named} took longer than {} s, and was stopped",
                self.within.as_secs()
            )),
            Ok(Err(e)) => Err(format!("{named} cannot be waited for: {e}")),
            Ok(Ok(status)) if status.success() => Ok(()),
            Ok(Ok(status)) => Err(format!("{named} failed, {status}{}", first(&complaint))),
        }
    }

    fn command(&self, message: &Message) -> Command {
        let first = message.first();
        let (id, deadline) = first.map_or_else(Default::default, |(id, deadline)| {
            (id.to_string(), seconds(deadline))
        });
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .env_clear()
            .env("PATH", PATH)
            .env("LC_ALL", "C.UTF-8")
            .env("DESK_EVENT", message.event.as_str())
            .env("DESK_HOST", &message.host)
            .env("DESK_TO", message.person.as_str())
            .env("DESK_LOGINS", message.logins.join(" "))
            .env("DESK_COUNT", message.proposals.len().to_string())
            .env("DESK_PROPOSAL", id)
            .env("DESK_DEADLINE", deadline)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        command
    }
}

async fn read_on(pipe: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) {
    if let Some(mut pipe) = pipe {
        // What could not be read is not there. The rest is read, so that the command does not wait for us.
        let _ = (&mut pipe).take(SAID_MAX).read_to_end(into).await;
        let _ = tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await;
    }
}

/// The first line, after a colon.
fn first(said: &[u8]) -> String {
    let said = String::from_utf8_lossy(said);
    match said.trim().lines().next() {
        Some(line) if !line.is_empty() => format!(": {}", visible(line)),
        _ => String::new(),
    }
}
