//! `countersign hook`: answers an agent's hook before a call of a tool.
//!
//! Whatever goes wrong in an answer blocks the call: exit code 2 does, any other error would not.

mod install;

use std::io::{IsTerminal as _, Read as _};
use std::panic::catch_unwind;
use std::sync::mpsc;
use std::time::Duration;

use crate::error::Failure;
use crate::hook::{Agent, Answer, BYTES_MAX, REASON};

use super::out::hand_over;

/// How long the call may take to arrive.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Debug, clap::Args)]
#[command(
    after_help = "A call that runs no Python gets no answer: the agent's own rules decide. A call that would is refused, with the \
                  reason \"use the tool run_python of countersign\". Exit code 2, which blocks the call: it is not known what it runs."
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// Answer a PreToolUse hook of Claude Code, given on standard input
    ClaudeCode,
    /// Answer a PreToolUse hook of Codex, given on standard input
    Codex,
    /// Answer a BeforeTool hook of Gemini CLI, given on standard input
    Gemini,
    /// Write the hook into an agent's settings, or take it out again
    Install(install::Args),
}

/// Runs the command and returns the exit code.
pub fn run(args: &Args) -> Result<u8, Failure> {
    match &args.command {
        Command::ClaudeCode => answer(Agent::ClaudeCode),
        Command::Codex => answer(Agent::Codex),
        Command::Gemini => answer(Agent::Gemini),
        Command::Install(args) => install::run(args),
    }
}

fn answer(agent: Agent) -> Result<u8, Failure> {
    if std::io::stdin().is_terminal() {
        return Err(Failure::usage(
            "a hook reads the call of a tool as JSON from standard input",
        ));
    }
    let given = given()?;
    // A fault of ours must not let a call pass.
    let answer = catch_unwind(|| agent.judge(&given))
        .unwrap_or_else(|_| Answer::Unclear("the hook failed".to_owned()));
    match answer {
        Answer::Silent => Ok(0),
        Answer::Python(what) => {
            let denial = agent.denial(&what).to_string();
            hand_over(&denial).map_err(|e| {
                Failure::usage(format!("{REASON}; the answer cannot be written: {e}"))
            })?;
            Ok(0)
        }
        Answer::Unclear(why) => Err(Failure::usage(format!(
            "blocked, because nobody can tell what this call runs: {why}"
        ))
        .and(format!(
            "to run Python, {REASON}; for anything else, write the command out plainly"
        ))),
    }
}

fn given() -> Result<Vec<u8>, Failure> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let limit = BYTES_MAX as u64 + 1;
        let read = std::io::stdin().lock().take(limit).read_to_end(&mut bytes);
        // Nobody waits any more after the time limit.
        let _ = sender.send(read.map(|_| bytes));
    });
    match receiver.recv_timeout(PATIENCE) {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(e)) => Err(Failure::usage(format!("the call cannot be read: {e}"))),
        Err(_) => Err(Failure::usage(format!(
            "the call did not arrive within {} s",
            PATIENCE.as_secs()
        ))),
    }
}
