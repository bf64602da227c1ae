//! `countersign hook install`: shows the change of an agent's settings, asks, and writes it.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::error::Failure;
use crate::hook::{Agent, settings};
use crate::runtime::said;

use super::super::out::{print, tell};
use super::super::{ask, edit};

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Name {
    ClaudeCode,
    Codex,
    Gemini,
}

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent whose settings change
    agent: Name,
    /// The project whose settings change; without it and without --user, the current folder
    #[arg(long, value_name = "DIR", conflicts_with = "user")]
    project: Option<PathBuf>,
    /// Your own settings, for every project
    #[arg(long)]
    user: bool,
    /// Take the hook out again
    #[arg(long)]
    remove: bool,
    /// Write without asking
    #[arg(long)]
    yes: bool,
}

/// The first version of Claude Code that can block when a hook fails.
const BLOCKS: [u32; 3] = [2, 1, 295];
/// How long it may take to say its version.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn run(args: &Args) -> Result<u8, Failure> {
    let agent = match args.agent {
        Name::ClaudeCode => Agent::ClaudeCode,
        Name::Codex => Agent::Codex,
        Name::Gemini => Agent::Gemini,
    };
    let path = place(agent, args)?;
    let shown = path.display();
    let before = edit::read(&path)?;
    let text = before.as_deref().unwrap_or_default();
    let after = match args.remove {
        true => settings::without(agent, text),
        false => settings::with(agent, text, &entry(agent)?),
    };
    let after = after.map_err(|e| Failure::usage(format!("{shown} is left as it is: {e}")))?;
    if after == text {
        let how = if args.remove { "is not" } else { "is already" };
        tell(&format!("nothing to do: the hook {how} in {shown}"));
        return Ok(0);
    }
    print(|out| out.write_all(edit::diff(&path, text, &after).as_bytes()))?;
    let left = format!("{shown} is left as it is");
    if !args.yes && !ask::agrees("write this?", &left)? {
        return Err(Failure::usage(left));
    }
    edit::write(&path, before.as_deref(), &after)
        .map_err(|e| Failure::general(format!("{shown} is left as it is: {e}")))?;
    let done = match after.is_empty() {
        true => "removed, because nothing else was in it",
        false => "written",
    };
    tell(&format!("{done}: {shown}"));
    if let Some(off) = settings::switched_off(agent, &after).filter(|_| !args.remove) {
        tell(&format!("the hook does not run: {shown} has {off}"));
    }
    if agent == Agent::Codex && !args.remove {
        tell("Codex runs the hook only after you trusted it: type /hooks there");
    }
    Ok(0)
}

/// The file of the settings. Behind a link, what it leads to: the link stays.
fn place(agent: Agent, args: &Args) -> Result<PathBuf, Failure> {
    let (folder, file, own) = match agent {
        Agent::ClaudeCode => (".claude", "settings.json", Some("CLAUDE_CONFIG_DIR")),
        Agent::Codex => (".codex", "hooks.json", Some("CODEX_HOME")),
        Agent::Gemini => (".gemini", "settings.json", Some("GEMINI_CLI_HOME")),
    };
    let set = |name: &str| {
        std::env::var_os(name)
            .filter(|v| !v.is_empty())
            .map(PathBuf::from)
    };
    let folder = match (args.user, own.and_then(set)) {
        // Gemini CLI's names the folder above.
        (true, Some(own)) if agent == Agent::Gemini => own.join(folder),
        (true, Some(own)) => own,
        (true, None) => match set("HOME") {
            Some(home) => home.join(folder),
            None => {
                return Err(Failure::usage(
                    "HOME is not set: name a folder with --project",
                ));
            }
        },
        (false, _) => {
            let project = args.project.clone().unwrap_or_else(|| PathBuf::from("."));
            if !project.is_dir() {
                return Err(Failure::usage(format!(
                    "{} is no folder",
                    project.display()
                )));
            }
            project.join(folder)
        }
    };
    let path = folder.join(file);
    edit::behind(path)
}

fn entry(agent: Agent) -> Result<serde_json::Value, Failure> {
    let program = std::env::current_exe()
        .map_err(|e| Failure::general(format!("where this program is: {e}")))?;
    let Some(program) = program.to_str() else {
        return Err(Failure::general("the path of this program is not UTF-8"));
    };
    if !settings::is_known(program) {
        return Err(Failure::usage(format!(
            "{program} would not be found again by --remove: name the program `countersign`"
        )));
    }
    Ok(agent.entry(program, agent == Agent::ClaudeCode && blocks()))
}

/// Whether the installed Claude Code blocks a call whose hook fails.
fn blocks() -> bool {
    let known = match version() {
        Some(version) if version >= BLOCKS => return true,
        Some([a, b, c]) => format!("Claude Code {a}.{b}.{c} does not know it, 2.1.295 does"),
        None => "`claude --version` did not say 2.1.295 or newer".to_owned(),
    };
    tell(&format!(
        "left out: \"onFailure\": \"block\" ({known}). A call passes if its hook fails"
    ));
    false
}

/// What `claude --version` says, if it says it in time.
fn version() -> Option<[u32; 3]> {
    let mut command = Command::new("claude");
    let said = said(command.arg("--version"), PATIENCE, 4096)?;
    let said = String::from_utf8(said).ok()?;
    let mut numbers = said.split_whitespace().next()?.split('.').map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some([next()?, next()?, next()?])
}
