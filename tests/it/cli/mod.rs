//! The command line as a script sees it: exit codes, stdout and stderr, and `submit` with a real
//! socket and a scripted core.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod fixes;
mod hooks;
mod hostile;
mod init;
mod scripted;
pub mod submit;
mod tree;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use countersign::broker::{Event, Reply, Request, RpcError};
use countersign::ipc::{Listener, Router, SocketConfig, inbox, serve};
use countersign::model::{
    Artifact, CallId, ConnId, Decision, DecisionKind, Digest, Draft, Exit, InputRequest, Isolation,
    Outcome, PolicyRef, ProposalId, Retry, Run, SourceStats, State, TextFormat, Tier, Timing,
    Verdict, VerdictKind,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::sync::Notify;

const PATIENCE: Duration = Duration::from_secs(30);

/// The program in its own home, without this machine's environment.
struct Home {
    dir: TempDir,
}

impl Home {
    fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    fn socket(&self) -> PathBuf {
        self.dir.path().join("run/agent.sock")
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command
            .args(args)
            .env_clear()
            .env("HOME", self.dir.path())
            .current_dir(self.dir.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    async fn run(&self, args: &[&str]) -> Finished {
        Finished::of(self.command(args).output().await.unwrap())
    }

    /// `submit` with the socket of this home.
    fn submit(&self, args: &[&str]) -> Command {
        let mut command = self.command(&["submit"]);
        command.env("COUNTERSIGN_SOCKET", self.socket()).args(args);
        command
    }
}

#[derive(Debug)]
struct Finished {
    code: i32,
    out: String,
    err: String,
}

impl Finished {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
