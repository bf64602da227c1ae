//! `countersign init`: three questions, and from the answers a configuration, data sets, a policy and an agent's entry.
//!
//! Files of ours that are there are shown and stay. An agent's file gets one more entry, if nothing else in it changes.

mod data;
mod entry;
mod texts;

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::app::Written;
use crate::config;
use crate::error::Failure;
use crate::model::visible;
use crate::tui::TerminalCaps;

use super::Globals;
use super::ask::{agrees, can_be_asked, line};
use super::edit;
use super::out::{print, tell};
use entry::Entry;
use texts::{Agent, Level};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Each option answers its question. Without a terminal all three are needed, and --yes to write."
)]
pub struct Args {
    /// The folder whose tables agents may use
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Agents get no data sets
    #[arg(long, conflicts_with = "data")]
    no_data: bool,
    /// How strict it is
    #[arg(long, value_name = "LEVEL")]
    level: Option<Level>,
    /// The agent that gets an entry for MCP
    #[arg(long, value_name = "NAME")]
    agent: Option<Agent>,
    /// Write without asking
    #[arg(long)]
    yes: bool,
}

const UNDONE: &str = "nothing was written";

/// A file that is to be made.
struct Planned {
    path: PathBuf,
    text: String,
}

/// Runs the command and returns the exit code.
pub fn run(args: &Args, globals: &Globals) -> Result<u8, Failure> {
    let paths = config::paths(&globals.options()).map_err(|e| Failure::usage(e.to_string()))?;
    complete(args)?;
    let tables = match args.no_data {
        true => data::Tables::new(),
        false => data::tables(args.data.as_deref())?,
    };
    let level = match args.level {
        Some(level) => level,
        None => choice("how strict?", &Level::ALL, Level::shown)?,
    };
    let agent = match args.agent {
        Some(agent) => agent,
        None => choice("which agent?", &Agent::ALL, Agent::shown)?,
    };
    let mut planned = vec![Planned {
        path: paths.config_file.clone(),
        text: texts::config(level, &tables),
    }];
    if let Some((name, text)) = texts::policy(level) {
        planned.push(Planned {
            path: paths.policy_dir.join(name),
            text: text.to_owned(),
        });
    }
    let (there, new): (Vec<_>, Vec<_>) = planned
        .into_iter()
        .partition(|one| one.path.symlink_metadata().is_ok());
    let program = std::env::current_exe().unwrap_or_else(|_| "countersign".into());
    let command = texts::command(&program, globals.socket.as_deref());
    let entry = Entry::of(agent, &command)?;
    show(&there, &new)?;
    show_entry(&entry)?;
    if !new.is_empty() || matches!(entry, Entry::New { .. }) {
        if !args.yes && !agrees("write this?", UNDONE)? {
            return Err(Failure::usage(UNDONE));
        }
        for one in &new {
            let shown = one.path.display();
            make(one).map_err(|e| Failure::general(format!("{shown} is not written: {e}")))?;
            tell(&format!("written: {shown}"));
        }
        if let Entry::New {
            path,
            before,
            after,
        } = &entry
        {
            let shown = path.display();
            edit::write(path, before.as_deref(), after)
                .map_err(|e| Failure::general(format!("{shown} is left as it is: {e}")))?;
            tell(&format!("written: {shown}"));
        }
        // What was left may not go together with what is new.
        starts(globals).map_err(|e| e.and("the files written above are still there"))?;
    }
    let differs =
        |one: &&Planned| std::fs::read(&one.path).ok().as_deref() != Some(one.text.as_bytes());
    let differing: Vec<&Planned> = there.iter().filter(differs).collect();
    print(|out| {
        for one in &differing {
            let path = one.path.display().to_string();
            writeln!(
                out,
                "not in force: {} says something else than you answered; change it by hand",
                visible(&path)
            )?;
        }
        if matches!(entry, Entry::Unknown | Entry::ByHand { .. }) {
            write!(out, "{}", lines(&texts::by_hand(agent, &command), ""))?;
        }
        write!(out, "{}", texts::further(agent))?;
        writeln!(out, "next: open the dashboard with `countersign`")
    })?;
    Ok(0)
}

/// Whether a dashboard would start with what is there now.
fn starts(globals: &Globals) -> Result<(), Failure> {
    let config = globals.load()?;
    let env = std::env::vars().collect();
    Written::of(&config, TerminalCaps::from_env(&env)).map(drop)
}

/// Without a terminal nothing can be asked, so everything has to be said.
fn complete(args: &Args) -> Result<(), Failure> {
    let given = [
        (
            "--data DIR or --no-data",
            args.no_data || args.data.is_some(),
        ),
        ("--level LEVEL", args.level.is_some()),
        ("--agent NAME", args.agent.is_some()),
    ];
    let lacks: Vec<&str> = given
        .iter()
        .filter(|(_, is)| !is)
        .map(|(n, _)| *n)
        .collect();
    if can_be_asked() || lacks.is_empty() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{UNDONE}: there is no terminal to ask on; give {}",
        lacks.join(", ")
    )))
}

/// One of a few, by its number; the first for an empty line.
fn choice<T: Copy>(
    question: &str,
    all: &[T],
    shown: fn(T) -> (&'static str, &'static str),
) -> Result<T, Failure> {
    for (number, one) in (1..).zip(all) {
        let (name, what) = shown(*one);
        tell(&format!("  {number}  {name}: {what}"));
    }
    loop {
        let said = line(&format!("{question} a number; Enter for 1"), UNDONE)?;
        let number = if said.is_empty() {
            Ok(1)
        } else {
            said.parse::<usize>()
        };
        match number.ok().and_then(|n| all.get(n.checked_sub(1)?)) {
            Some(one) => return Ok(*one),
            None => tell(&format!("`{said}` is no number from 1 to {}", all.len())),
        }
    }
}

fn show(there: &[Planned], new: &[Planned]) -> Result<(), Failure> {
    print(|out| {
        for one in there {
            writeln!(
                out,
                "left as it is: {}",
                visible(&one.path.display().to_string())
            )?;
            let text = std::fs::read_to_string(&one.path);
            let text = text.unwrap_or_else(|e| format!("(it cannot be read: {e})"));
            write!(out, "{}", indented(&edit::without_secrets(&text)))?;
            writeln!(out, "what would have been new:")?;
            write!(out, "{}", indented(&one.text))?;
        }
        for one in new {
            writeln!(out, "new: {}", visible(&one.path.display().to_string()))?;
            write!(out, "{}", indented(&one.text))?;
        }
        Ok(())
    })
}

fn show_entry(entry: &Entry) -> Result<(), Failure> {
    print(|out| match entry {
        Entry::Unknown => Ok(()),
        Entry::There { path, text } => {
            let path = path.display().to_string();
            writeln!(
                out,
                "left as it is: {} has an entry `countersign`",
                visible(&path)
            )?;
            write!(out, "{}", indented(&edit::without_secrets(text)))
        }
        Entry::ByHand { path, why } => {
            let path = path.display().to_string();
            writeln!(out, "left as it is: {}: {}", visible(&path), visible(why))
        }
        Entry::New {
            path,
            before,
            after,
        } => {
            let diff = edit::diff(path, before.as_deref().unwrap_or_default(), after);
            write!(out, "{diff}")
        }
    })
}

fn indented(text: &str) -> String {
    lines(text, "  ")
}

/// Each line as it may stand on a terminal.
fn lines(text: &str, before: &str) -> String {
    let shown = text
        .lines()
        .map(|line| [before, &visible(line), "\n"].concat());
    shown.collect()
}

/// Makes the file for this user alone. It replaces nothing, not even what came since it was shown.
fn make(one: &Planned) -> io::Result<()> {
    let folder = one.path.parent().unwrap_or(Path::new("."));
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&one.path)?;
    file.write_all(one.text.as_bytes())?;
    file.sync_all()
}
