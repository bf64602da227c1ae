//! The command line: one file per subcommand; prints, no logic.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::config::{self, Config, ConfigError};
use crate::error::Failure;
use crate::model::nearest;
use crate::model::{Tier, escape};
use crate::tui::Keymap;

pub mod amounts;
mod ask;
mod audit;
pub mod check;
pub mod completions;
pub mod dashboard;
pub mod desk;
pub mod doctor;
mod edit;
mod folder;
pub mod hook;
pub mod host;
pub mod init;
pub mod man;
pub mod mcp;
mod out;
pub mod policy;
pub mod replicate;
pub mod review;
mod rows;
pub mod setup;
pub mod status;
pub mod submit;

pub use out::{print_usage, tell_error};

/// A person decides whether agent-written Python runs.
#[derive(Debug, Parser)]
#[command(name = "countersign", version, about)]
pub struct Cli {
    #[command(flatten)]
    pub globals: Globals,
    #[command(flatten)]
    pub dashboard: dashboard::Args,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Flags of every command; each is also `COUNTERSIGN_<NAME>`, where an empty one counts as unset.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct Globals {
    /// Configuration file
    #[arg(long, global = true, env = "COUNTERSIGN_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Where agents connect
    #[arg(long, global = true, env = "COUNTERSIGN_SOCKET", value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Where the audit log is kept
    #[arg(long, global = true, env = "COUNTERSIGN_STATE_DIR", value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
    /// Where policy files are read from
    #[arg(
        long,
        global = true,
        env = "COUNTERSIGN_POLICY_DIR",
        value_name = "DIR"
    )]
    pub policy_dir: Option<PathBuf>,
    /// The Python that runs snippets, instead of the managed environment
    #[arg(long, global = true, env = "COUNTERSIGN_PYTHON", value_name = "PATH")]
    pub python: Option<PathBuf>,
    /// The weakest isolation of any run; a policy may ask for more
    #[arg(long, global = true, env = "COUNTERSIGN_TIER", value_name = "TIER", value_parser = tier)]
    pub tier: Option<String>,
    /// The profile to judge and run by, where a proposal names none
    #[arg(long, global = true, env = "COUNTERSIGN_PROFILE", value_name = "NAME")]
    pub profile: Option<String>,
    /// Palette: auto, dark, light, or another name in themes/
    #[arg(long, global = true, env = "COUNTERSIGN_THEME", value_name = "NAME")]
    pub theme: Option<String>,
}

impl Globals {
    /// The options that the configuration takes from the command line.
    pub fn options(&self) -> config::Options {
        config::Options {
            config: self.config.clone(),
            socket: self.socket.clone(),
            state_dir: self.state_dir.clone(),
            policy_dir: self.policy_dir.clone(),
            python: self.python.clone(),
            tier: self.tier.clone(),
            profile: self.profile.clone(),
            theme: self.theme.clone(),
        }
    }

    /// Reads the configuration; an error in it ends the command with code 2.
    pub fn load(&self) -> Result<Config, Failure> {
        config::load(&self.options()).map_err(|e| Failure::usage(e.to_string()))
    }
}

/// Refused here, so that no command continues with an unknown tier.
fn tier(name: &str) -> Result<String, String> {
    match name.parse::<Tier>() {
        Ok(_) => Ok(name.to_owned()),
        Err(unknown) => Err(match nearest(name, Tier::ALL.map(Tier::as_str)) {
            Some(near) => format!("{unknown}; did you mean `{near}`?"),
            None => unknown.to_string(),
        }),
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Open the dashboard and the socket (the default)
    Dashboard(dashboard::Args),
    /// The dashboard with bundled proposals arriving on bundled data
    Demo(dashboard::Args),
    /// Propose a snippet, wait for the decision, print what it printed
    Submit(submit::Args),
    /// Static verdicts only; executes nothing
    Check(check::Args),
    /// Serve an agent that speaks the Model Context Protocol on standard input and output
    Mcp(mcp::Args),
    /// The policies in force
    Policy(policy::Args),
    /// A dashboard without a screen, where only signed votes grant
    Host,
    /// Vote on what a host asks about, from another terminal
    Review(review::Args),
    /// Review the audit log: a screen that only reads it, or one of the commands below
    Audit(audit::Args),
    /// The engine that carries votes between machines: its tables, its members, how it stands
    Desk(desk::Args),
    /// One line for a status bar
    Status(status::Args),
    /// Run the code of a kept run again, for yourself and unconfined
    Replicate(replicate::Args),
    /// Refuse calls of an agent's own tools that would run Python
    Hook(hook::Args),
    /// Three questions, and a configuration, a policy and an agent's entry from the answers
    Init(init::Args),
    /// Make or repair the managed Python environment
    Setup(setup::Args),
    /// What this machine offers and what is missing
    Doctor(doctor::Args),
    /// Print shell completions
    Completions(completions::Args),
    /// Print the man page
    Man,
}

/// The command tree, for parsing, completions and the man page.
pub fn tree() -> clap::Command {
    Cli::command()
}

fn is_hidden(value: &OsStr) -> bool {
    value
        .to_str()
        .is_none_or(|text| text.chars().any(|c| escape(c).is_some()))
}

/// Parses a command line. The error is clap's own: it knows how to print usage, help and version,
/// and which exit code each has.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let tree = tree().mut_args(|arg| {
        match arg.get_env().and_then(std::env::var_os) {
            // An empty variable counts as unset, but clap would take it as an empty value.
            Some(value) if value.is_empty() => arg.env(None::<&'static str>),
            // The help prints values, and this one has hidden characters.
            Some(value) if is_hidden(&value) => arg.hide_env_values(true),
            _ => arg,
        }
    });
    let arguments = audit::not_for_hyphens(arguments.into_iter().collect());
    let matches = tree.try_get_matches_from(arguments)?;
    Cli::from_arg_matches(&matches)
}

/// Refuses an unknown variable of ours, so that nobody relies on it by mistake.
fn check_variables() -> Result<(), ConfigError> {
    config::check_variables(&config::Variables::of_process(), &Keymap::actions())
}

const ONLY_DASHBOARD: &str = "`--plain` belongs to the dashboard and the review screen: `countersign --plain`, `countersign demo --plain` or \
     `countersign audit --plain`";

/// Runs the chosen command and returns the exit code.
pub fn run(cli: Cli) -> Result<u8, Failure> {
    let globals = &cli.globals;
    match cli.command {
        // `doctor` lists errors itself, including these. Help and version never come here.
        Some(Command::Doctor(_)) => {}
        _ => check_variables().map_err(|e| Failure::usage(e.to_string()))?,
    }
    let plain = cli.dashboard.plain;
    let opened = |args: &dashboard::Args| dashboard::Args {
        plain: plain || args.plain,
    };
    match &cli.command {
        None | Some(Command::Dashboard(_) | Command::Demo(_) | Command::Audit(_)) => {}
        Some(_) if !plain => {}
        Some(_) => return Err(Failure::usage(ONLY_DASHBOARD.to_owned())),
    }
    match cli.command {
        None => dashboard::run(&cli.dashboard, globals),
        Some(Command::Dashboard(args)) => dashboard::run(&opened(&args), globals),
        Some(Command::Demo(args)) => dashboard::demo(&opened(&args), globals),
        Some(Command::Submit(args)) => submit::run(&args, globals),
        Some(Command::Check(args)) => check::run(&args, globals),
        Some(Command::Mcp(args)) => mcp::run(&args, globals),
        Some(Command::Host) => host::run(globals),
        Some(Command::Review(args)) => review::run(&args, globals),
        Some(Command::Policy(args)) => policy::run(&args, globals),
        Some(Command::Audit(args)) => {
            let plain = plain || args.plain;
            audit::run(&audit::Args { plain, ..args }, globals)
        }
        Some(Command::Desk(args)) => desk::run(&args, globals),
        Some(Command::Status(args)) => status::run(&args, globals),
        Some(Command::Replicate(args)) => replicate::run(&args, globals),
        Some(Command::Hook(args)) => hook::run(&args),
        Some(Command::Init(args)) => init::run(&args, globals),
        Some(Command::Setup(args)) => setup::run(&args, globals),
        Some(Command::Doctor(args)) => doctor::run(&args, globals),
        Some(Command::Completions(args)) => completions::run(&args),
        Some(Command::Man) => man::run(),
    }
}
