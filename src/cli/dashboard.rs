//! `countersign dashboard` and `countersign demo`.

use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use crate::app::{self, Role};
use crate::config::{self, Options, Surroundings, Variables};
use crate::error::Failure;

use super::Globals;
use super::out::{is_seen, needs_size, tell};

#[derive(Debug, Default, clap::Args)]
pub struct Args {
    /// Plain lines for screen readers and Braille displays, instead of a drawn screen
    #[arg(long)]
    pub plain: bool,
}

/// Opens the dashboard and returns the exit code.
pub fn run(args: &Args, globals: &Globals) -> Result<u8, Failure> {
    open(&globals.options(), Role::Dashboard, args.plain)
}

/// Opens the dashboard on a temporary state folder with the bundled proposals and data. Only the
/// theme, the tier, the Python and the managed environment's location come from the user.
pub fn demo(args: &Args, globals: &Globals) -> Result<u8, Failure> {
    let failed = |e: std::io::Error| Failure::general(format!("cannot prepare the demo: {e}"));
    let folder = demo_folder().map_err(failed)?;
    let config = demo_config(folder.path()).map_err(failed)?;
    let options = Options {
        config: Some(config),
        socket: Some(demo_socket(folder.path())),
        state_dir: Some(folder.path().join("state")),
        policy_dir: Some(folder.path().join("policies")),
        // A bundled proposal without a profile is meant for the built-in default.
        profile: None,
        ..globals.options()
    };
    let code = open(&options, Role::Demo, args.plain)?;
    tell(NEXT);
    Ok(code)
}

/// How an agent of one's own reaches Countersign, once the demo was seen.
const NEXT: &str = "To let your agent ask: claude mcp add countersign -- countersign mcp (the same command is for every \
                    agent that speaks MCP), then open `countersign` beside it.";

fn open(options: &Options, role: Role, plain: bool) -> Result<u8, Failure> {
    if !std::io::stdin().is_terminal() || !is_seen() {
        let lines = if plain { ", in plain lines too" } else { "" };
        return Err(Failure::usage(format!(
            "the dashboard needs a terminal on standard input and output{lines}: only keys pressed \
             there can grant"
        )));
    }
    if !plain {
        needs_size(", and --plain needs none")?;
    }
    // No other process of our uid may attach to us or read our memory (as far as guide.md
    // promises).
    nix::sys::prctl::set_dumpable(false)
        .map_err(|e| Failure::general(format!("cannot shut others out of this process: {e}")))?;
    let mut around = Surroundings::of_process().map_err(|e| Failure::usage(e.to_string()))?;
    if matches!(role, Role::Demo) {
        // These belong to the user's own configuration, which the demo ignores.
        around.overlay = None;
        around.variables = Variables::default();
    }
    let config = config::load_in(options, &around).map_err(|e| Failure::usage(e.to_string()))?;
    app::descriptors::make_room(&app::descriptors::bounds(&config))?;
    let reading = |bytes: u64| {
        tell(&format!(
            "reading the whole log ({} MB): there is no index that is of it",
            bytes / 1_000_000
        ));
    };
    app::run(app::prepare(&config, role, plain, &reading)?)
}

/// Prefix of the name of a demo's folder.
const DEMO: &str = "countersign-demo-";

fn demo_folder() -> std::io::Result<tempfile::TempDir> {
    tempfile::Builder::new().prefix(DEMO).tempdir()
}

fn demo_socket(folder: &Path) -> PathBuf {
    folder.join("run").join("agent.sock")
}

/// The sockets of this user's demos that answer now.
pub fn demos() -> Vec<PathBuf> {
    let uid = nix::unistd::geteuid().as_raw();
    // Any user can create a folder with this name there.
    let own = |path: &Path| {
        std::fs::symlink_metadata(path).is_ok_and(|at| at.is_dir() && at.uid() == uid)
    };
    let Ok(folders) = std::fs::read_dir(std::env::temp_dir()) else {
        return Vec::new();
    };
    let mut found: Vec<PathBuf> = folders
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(DEMO))
        .map(|entry| demo_socket(&entry.path()))
        .filter(|socket| {
            let folders = socket.ancestors().skip(1).take(2);
            { folders }.all(own) && UnixStream::connect(socket).is_ok()
        })
        .collect();
    found.sort();
    found
}

/// Creates the demo's folders, data sets and configuration file, all private to the user.
fn demo_config(folder: &Path) -> std::io::Result<PathBuf> {
    let private = |name: &str| {
        std::fs::DirBuilder::new()
            .mode(0o700)
            .create(folder.join(name))
    };
    private("run")?;
    private("policies")?;
    private("data")?;
    let mut text = String::new();
    for (name, path) in app::demo::write_datasets(&folder.join("data"))? {
        let path = path.display().to_string();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "[datasets.{name}]\npath = {path:?}");
    }
    let config = folder.join("config.toml");
    std::fs::write(&config, text)?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&config, mode)?;
    Ok(config)
}
