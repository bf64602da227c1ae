//! `countersign doctor`: what this machine offers, what is missing, and how to fix it.

mod agents;
mod desk;
mod engine;
mod fix;
mod folders;
mod machine;
mod trial;

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;
use serde_json::json;

use crate::app::descriptors;
use crate::app::{Written, absent};
use crate::audit::{AuditError, Log};
use crate::config::{self, Config, ConfigError};
use crate::error::Failure;
use crate::executor::{preflight, try_warm};
use crate::ipc::Bounds;
use crate::model::{Tier, visible};
use crate::runtime::{Managed, PythonEnv, find_python};
use crate::tui::TerminalCaps;

use super::Globals;
use super::out::{is_seen, print, print_json, state_dir};

use fix::Fix;
pub use trial::Trial;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print a JSON object instead
    #[arg(long)]
    json: bool,
    /// Do what needs no root, after a question, and print the rest as commands
    #[arg(long, conflicts_with_all = ["json", "trial"])]
    fix: bool,
    /// With --fix, do it without asking
    #[arg(long, requires = "fix")]
    yes: bool,
    /// Try one thing on this very process and print what came of it
    #[arg(long, hide = true, value_name = "WHAT")]
    trial: Option<Trial>,
}

/// How serious a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    /// Optional, or merely information.
    Note,
    /// Something that is needed is not available.
    Missing,
}

#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    state: State,
    found: String,
    /// How to fix it.
    #[serde(rename = "mend")]
    remedy: Option<String>,
    /// What of it needs no root.
    #[serde(skip)]
    fixes: Vec<Fix>,
    /// What of it does.
    #[serde(skip)]
    commands: Vec<String>,
}

impl Check {
    fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self {
            name,
            state: State::Ok,
            found: found.into(),
            remedy: None,
            fixes: Vec::new(),
            commands: Vec::new(),
        }
    }

    fn note(name: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            state: State::Note,
            remedy: Some(remedy.into()).filter(|m| !m.is_empty()),
            ..Self::ok(name, found)
        }
    }

    fn missing(name: &'static str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            state: State::Missing,
            ..Self::note(name, found, remedy)
        }
    }

    fn fixed_by(mut self, fix: impl IntoIterator<Item = Fix>) -> Self {
        self.fixes.extend(fix);
        self
    }

    /// By a command that needs root, without `sudo`.
    fn by_root(mut self, command: impl Into<String>) -> Self {
        let command = command.into();
        self.commands.push(match nix::unistd::geteuid().is_root() {
            true => command,
            false => format!("sudo {command}"),
        });
        self
    }
}

/// Runs the command and returns the exit code: 1 if something is missing.
pub fn run(args: &Args, globals: &Globals) -> Result<u8, Failure> {
    if let Some(trial) = args.trial {
        let said = trial::run(trial);
        print_json(&json!(said).to_string())?;
        return Ok(0);
    }
    let checks = look(globals)?;
    if args.json {
        let sound = is_sound(&checks);
        let json = json!({"ok": sound, "checks": checks});
        print_json(&format!("{json:#}"))?;
        return Ok(u8::from(!sound));
    }
    show(&checks)?;
    let mut sound = is_sound(&checks);
    if args.fix && fix::run(&checks, args.yes, globals)? {
        sound = is_sound(&look(globals)?);
        let what = if sound { "nothing" } else { "something" };
        print(|out| writeln!(out, "{what} is missing now"))?;
    }
    Ok(u8::from(!sound))
}

fn is_sound(checks: &[Check]) -> bool {
    checks.iter().all(|c| c.state != State::Missing)
}

fn look(globals: &Globals) -> Result<Vec<Check>, Failure> {
    let config = super::check_variables().and_then(|()| config::load(&globals.options()));
    let (found, wanted) = configuration(&config);
    let mut tiers = BTreeSet::from([Tier::Kernel, Tier::Process]);
    tiers.extend(wanted);
    let bounds = config
        .as_ref()
        .map_or_else(|_| Bounds::default(), descriptors::bounds);
    let mut checks = machine::checks(&bounds);
    checks.extend(tiers.into_iter().rev().map(tier));
    checks.push(found);
    let has_kernel = checks
        .iter()
        .any(|c| c.name == KERNEL && c.state != State::Missing);
    if let Ok(config) = &config {
        let (found, env) = python(config);
        checks.extend(found);
        checks.push(warm_starts(has_kernel, env));
        checks.extend(datasets(config));
        checks.push(socket(&config.paths.socket));
        checks.extend(folders::check(&config.paths));
        checks.push(agents::check(&config.socket));
        checks.extend(desk::notices(config));
        checks.extend(engine::checks(config));
        checks.extend(engine::doubted(config));
        checks.extend(desk::vain(config));
        // What it concludes follows from the rows above.
        checks.extend(desk::check(config, &checks));
    }
    checks.push(log(&state_dir(globals)?));
    checks.push(colours());
    Ok(checks)
}

fn show(checks: &[Check]) -> Result<(), Failure> {
    print(|out| {
        for check in checks {
            let mark = match check.state {
                State::Ok => "ok",
                State::Note => "note",
                State::Missing => "MISSING",
            };
            writeln!(out, "{mark:8}{:20}{}", check.name, visible(&check.found))?;
            if let Some(remedy) = &check.remedy {
                writeln!(out, "{:28}→ {}", "", visible(remedy))?;
            }
        }
        Ok(())
    })
}

const KERNEL: &str = "tier kernel";

/// Tests the tier with a real confined child instead of guessing from the system's settings.
fn tier(tier: Tier) -> Check {
    let name = match tier {
        Tier::Process => "tier process",
        Tier::Kernel => KERNEL,
        Tier::Container => "tier container",
        Tier::Microvm => "tier microvm",
    };
    match preflight(tier) {
        Ok(found) if found.does_not_stop.is_empty() => Check::ok(name, found.layers.join(", ")),
        Ok(found) => {
            let mut remedy = format!("does not stop: {}", found.does_not_stop.join(", "));
            if !found.layers.iter().any(|layer| layer == "cgroup") {
                // Without a control group, memory is limited for each process only, not for the
                // whole run.
                remedy.push_str(
                    "; for memory, start it with: systemd-run --user --scope -p Delegate=yes \
                     countersign",
                );
            }
            Check::note(name, found.layers.join(", "), remedy)
        }
        Err(lacks) => Check::missing(name, lacks.missing, lacks.remedy),
    }
}

/// Checks the configuration as a start would, and returns the tiers that it asks for.
fn configuration(config: &Result<Config, ConfigError>) -> (Check, BTreeSet<Tier>) {
    const NAME: &str = "configuration";
    let config = match config {
        Ok(config) => config,
        Err(e) => {
            let check = Check::missing(NAME, e.to_string(), "fix that; nothing starts before");
            let check = match e {
                ConfigError::File(file) => folders::of_file(check, file),
                _ => check,
            };
            return (check, BTreeSet::new());
        }
    };
    let env = std::env::vars().collect();
    let tiers = match Written::of(config, TerminalCaps::from_env(&env)) {
        Ok(written) => written.tiers,
        Err(e) => {
            let remedy = "fix that; the dashboard does not start before";
            return (Check::missing(NAME, e.to_string(), remedy), BTreeSet::new());
        }
    };
    let file = config.paths.config_file.display();
    let found = if config.paths.config_file.exists() {
        file.to_string()
    } else {
        format!("none, defaults ({file})")
    };
    (Check::ok(NAME, found), tiers)
}

/// The environment that runs would use, if there is one already.
fn python(config: &Config) -> (Vec<Check>, Option<PythonEnv>) {
    const NAME: &str = "python";
    const MANAGED: &str = "managed environment";
    if let Some(own) = &config.python {
        return match find_python(Some(own)) {
            Ok(env) => {
                let found = format!("your own: {}, {}", env.label(), env.executable.display());
                (vec![Check::ok(NAME, found)], Some(env))
            }
            Err(e) => {
                let check = Check::missing(NAME, "your own cannot be used", e.to_string());
                (vec![check], None)
            }
        };
    }
    if let Some(env) = Managed::at(&config.paths.data_dir).ready() {
        let found = format!("{}, {}", env.label(), env.prefix.display());
        return (vec![Check::ok(MANAGED, found)], Some(env));
    }
    let mut fix = None;
    let base = match find_python(None) {
        Ok(env) => {
            fix = Some(Fix::Environment);
            let found = format!("{}, {}", env.label(), env.executable.display());
            Check::ok(NAME, found)
        }
        Err(e) => Check::missing(NAME, "none that can be used", e.to_string()),
    };
    let found = match Managed::at(&config.paths.data_dir).other() {
        Some(_) => "of another version; it is replaced, which takes the network",
        None => "not made yet",
    };
    let managed = Check::note(
        MANAGED,
        found,
        "run `countersign setup`, or let the dashboard make it when it starts",
    )
    .fixed_by(fix);
    (vec![base, managed], None)
}

/// Whether runs can start with interpreter and libraries already loaded: found out by trying.
fn warm_starts(has_kernel: bool, env: Option<PythonEnv>) -> Check {
    const NAME: &str = "warm starts";
    const COLD: &str = "none: every run starts cold";
    if !has_kernel {
        return Check::note(NAME, format!("{COLD}; they need tier kernel"), "");
    }
    let Some(env) = env else {
        let remedy = "make the Python environment first: `countersign setup`";
        return Check::note(NAME, "not known without a Python environment", remedy);
    };
    match try_warm(env) {
        Ok(took) => Check::ok(
            NAME,
            format!("a place for a run was ready after {} ms", took.as_millis()),
        ),
        Err(why) => {
            let remedy = if why.contains("ctypes") {
                "use a Python that has ctypes; `countersign setup` makes one from such a Python"
            } else if why.contains("thread") {
                "keep the libraries of that Python from starting threads when they are imported"
            } else {
                ""
            };
            let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
            Check::note(NAME, format!("{COLD}; {why}"), remedy)
        }
    }
}

fn socket(path: &Path) -> Check {
    const NAME: &str = "socket";
    match std::fs::symlink_metadata(path) {
        Ok(meta) if std::os::unix::fs::FileTypeExt::is_socket(&meta.file_type()) => {
            Check::ok(NAME, path.display().to_string())
        }
        Ok(_) => Check::missing(
            NAME,
            format!("{} is something else", path.display()),
            "move it away: the dashboard does not start beside it",
        ),
        Err(_) => Check::ok(NAME, format!("{} (none now)", path.display())),
    }
}

/// Whether the configured data sets can be read; `None` if there are none.
fn datasets(config: &Config) -> Option<Check> {
    const NAME: &str = "data sets";
    let absent = absent(config);
    match (config.datasets.len(), absent.len()) {
        (0, _) => None,
        (all, 0) => Some(Check::ok(NAME, format!("{all} can be read"))),
        (all, n) => Some(Check::missing(
            NAME,
            format!("{n} of {all} cannot be read: {}", absent.join(", ")),
            "put the file there, or correct its `path` under [datasets]",
        )),
    }
}

fn log(dir: &Path) -> Check {
    const NAME: &str = "state folder";
    let shown = dir.display();
    match Log::open(dir).and_then(|log| log.writer()) {
        Ok(None) => Check::ok(NAME, format!("{shown}, no dashboard open")),
        Ok(Some(here)) => {
            let pid = here
                .pid
                .map_or(String::new(), |pid| format!(" (pid {pid})"));
            let open = format!("{shown}, dashboard open{pid}");
            if here.down {
                let remedy = "close the dashboard, do what it says, and start it again";
                return Check::missing(NAME, format!("{open}, and its log is down"), remedy);
            }
            Check::ok(NAME, open)
        }
        Err(AuditError::None { .. }) => nearest(dir),
        Err(e) => Check::missing(NAME, format!("{shown} cannot be read"), e.to_string()),
    }
}

/// Whether the folder can be created: its nearest existing ancestor must be writable.
fn nearest(dir: &Path) -> Check {
    const NAME: &str = "state folder";
    let there = dir.ancestors().find(|d| d.is_dir()).unwrap_or(dir);
    match nix::unistd::access(there, nix::unistd::AccessFlags::W_OK) {
        Ok(()) => Check::ok(NAME, format!("{} (no log yet)", dir.display())),
        Err(e) => Check::missing(
            NAME,
            format!("{} cannot be made: {}", dir.display(), e.desc()),
            "name a folder of your own with --state-dir",
        ),
    }
}

fn colours() -> Check {
    const NAME: &str = "colours";
    let set = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
    let term = set("TERM").unwrap_or_default();
    let depth = match (set("NO_COLOR"), set("COLORTERM")) {
        (Some(_), _) => "none (NO_COLOR)",
        (_, Some(c)) if c == "truecolor" || c == "24bit" => "true colour",
        _ if term == "dumb" || term.is_empty() => "none (TERM)",
        _ if term.contains("256color") => "256",
        _ => "16",
    };
    if is_seen() {
        Check::ok(NAME, depth)
    } else {
        Check::note(NAME, format!("{depth}; this is no terminal"), "")
    }
}
