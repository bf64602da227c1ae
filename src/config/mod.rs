//! Configuration: reads files, variables and flags, checks them, and remembers where each value was set.
//!
//! Precedence, the strongest first: binding values of `/etc/countersign/config.toml`, a flag, an environment
//! variable, `config.<NAME>.toml` chosen by `COUNTERSIGN_ENV`, `config.toml`, the built-in value. Files and the
//! environment are read once, at the start. This module knows no policies or palettes, so the modules that do
//! must call [`Config::check_profiles`] and [`Config::check_theme`].

mod desk;
mod error;
mod file;
mod identifier;
mod keys;
mod merge;
mod notify;
mod table;
mod variables;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::model::{DataFormat, Sensitivity, Tier, did_you_mean};
use crate::paths::{ADMIN_DIR, Folders, Paths, Trust, read_trusted};
use crate::secrets::Pattern;

pub use desk::{DeskConfig, DeskKey};
pub use error::{ConfigError, Origin};
pub use notify::NotifySection;
// Re-exported for the broker.
pub use crate::model::nearest;
pub use identifier::check_identifier;
pub use variables::{Variables, check as check_variables};

use file::{Layer, known_tier};
use table::Set;

const DEFAULT_PROFILE: &str = "analysis";
const DEFAULT_THEME: &str = "auto";
const DEFAULT_CHARSET: &str = "auto";
/// Seconds that a proposal waits for a decision by default.
const TTL_S: u64 = 1800;
/// Most seconds that a proposal may ask for, by default.
const TTL_MAX_S: u64 = 28_800;

/// The values of the command line's flags and their environment variables; `None` if not set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub config: Option<PathBuf>,
    pub socket: Option<PathBuf>,
    pub state_dir: Option<PathBuf>,
    pub policy_dir: Option<PathBuf>,
    pub python: Option<PathBuf>,
    pub tier: Option<String>,
    pub profile: Option<String>,
    pub theme: Option<String>,
}

/// A data set that agents may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataset {
    /// Absolute; never shown to an agent.
    pub path: PathBuf,
    pub format: DataFormat,
    pub sensitivity: Sensitivity,
}

/// `[queue]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    pub max_pending: u64,
    pub max_pending_per_peer: u64,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            max_pending: 10_000,
            max_pending_per_peer: 1_000,
        }
    }
}

/// `[socket]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketSection {
    /// Uids besides the user's own that may connect.
    pub allow_uids: Vec<u32>,
    /// The group that may reach the socket; `None` for the user's own.
    pub group: Option<String>,
    /// Connections of all uids together; one uid has half of them at most.
    pub max_connections: u64,
}

impl Default for SocketSection {
    fn default() -> Self {
        Self {
            allow_uids: Vec::new(),
            group: None,
            max_connections: 256,
        }
    }
}

/// `[run]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunSection {
    pub kill_on_disconnect: bool,
}

/// `[audit.retention]`: days after which contents are erased although their records stay; 0 for never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentDays {
    pub code: u64,
    pub output: u64,
    pub files: u64,
}

/// `[audit]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditSection {
    /// Days after which whole segments are removed; 0 keeps everything.
    pub retention_days: u64,
    /// Bytes of segments, contents and kept code beyond which the oldest segments are removed; 0 for no bound.
    pub retention_bytes: u64,
    pub retention: ContentDays,
    /// Whether the code of a successful run is also kept as a separate file.
    pub keep_code: bool,
    /// Where checkpoints are kept; `None` for the folder beside the state folder.
    pub checkpoints: Option<PathBuf>,
    /// A program and its arguments that get each checkpoint on standard input; empty for none.
    pub anchor_command: Vec<String>,
    /// A program and its arguments that sign checkpoints; empty if a key in the folder of checkpoints does.
    pub key_command: Vec<String>,
    /// Checks what that command signed, unchecked.
    pub key_public: Option<PublicKey>,
    /// `https://host/prefix KEY` of each witness, unchecked.
    pub witnesses: Vec<String>,
    /// Certificates of authorities beside the machine's own, for witnesses.
    pub witness_ca: Option<PathBuf>,
    /// Queries: what one of them selects is never removed. The administrator's and the user's own.
    pub hold: Vec<String>,
    /// What the log replaces beside what it knows. The administrator's and the user's own.
    pub secrets: Vec<Pattern>,
}

/// A key in the configuration: itself, or the file that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublicKey {
    Text(String),
    File(PathBuf),
}

impl PublicKey {
    /// A key has a plus sign. A path is relative to `folder`.
    fn of(text: String, folder: &Path) -> Self {
        match text.contains('+') {
            true => Self::Text(text),
            false => Self::File(folder.join(text)),
        }
    }
}

impl std::fmt::Display for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// `[drills]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrillsSection {
    /// About how many decisions pass between two drills; 0: no drills.
    pub every: u64,
    /// `None`: one from the system.
    pub seed: Option<u64>,
}

/// `[feature]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FeatureSection {
    /// Whether only columns with a measured lift are kept (`[feature.lift]`). Proposals cannot override this.
    pub lift: bool,
}

/// The complete configuration, checked, with defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub profile: String,
    /// The profiles that a proposal may name; `None` for the built-in list.
    pub profiles: Option<Vec<String>>,
    /// Where the administrator listed the profiles, if so. The list then excludes users' policies.
    pub profiles_bound: Option<Origin>,
    /// The weakest tier allowed for a run; `None` if not set.
    pub tier: Option<Tier>,
    pub theme: String,
    /// What the terminal can be sent: `auto`, `utf-8` or `ascii`.
    pub charset: String,
    /// Whether the dashboard hears the mouse.
    pub mouse: bool,
    /// An interpreter to use instead of the managed environment.
    pub python: Option<PathBuf>,
    pub ttl_s: u64,
    pub ttl_max_s: u64,
    pub datasets: BTreeMap<String, Dataset>,
    pub queue: Queue,
    pub socket: SocketSection,
    pub run: RunSection,
    /// Action → key, unchecked; the dashboard's key map checks names and conflicts.
    pub keys: BTreeMap<String, String>,
    pub audit: AuditSection,
    pub notify: NotifySection,
    pub drills: DrillsSection,
    pub feature: FeatureSection,
    /// `None` without `[desk]`: nothing of it is started.
    pub desk: Option<DeskConfig>,
    pub paths: Paths,
    origins: BTreeMap<String, Origin>,
}

/// A [`Config`] without its paths.
struct Built {
    profile: String,
    profiles: Option<Vec<String>>,
    profiles_bound: Option<Origin>,
    tier: Option<Tier>,
    theme: Option<String>,
    charset: Option<String>,
    mouse: bool,
    python: Option<PathBuf>,
    ttl_s: u64,
    ttl_max_s: u64,
    datasets: BTreeMap<String, Dataset>,
    queue: Queue,
    socket: SocketSection,
    run: RunSection,
    keys: BTreeMap<String, String>,
    audit: AuditSection,
    notify: NotifySection,
    drills: DrillsSection,
    feature: FeatureSection,
    desk: Option<DeskConfig>,
    origins: BTreeMap<String, Origin>,
}

/// The sources of a configuration besides the command line.
#[derive(Clone, Debug)]
pub struct Surroundings {
    pub folders: Folders,
    /// [`ADMIN_DIR`]; only tests may use another folder.
    pub admin_dir: PathBuf,
    /// `COUNTERSIGN_ENV`, if set and not empty.
    pub overlay: Option<String>,
    pub variables: Variables,
}

impl Surroundings {
    /// A test's own, with a folder each below this one.
    #[cfg(test)]
    pub fn below(root: &std::path::Path) -> Self {
        let at = |name: &str| root.join(name);
        Self {
            folders: Folders {
                config: at("config"),
                state: at("state"),
                data: at("data"),
                cache: at("cache"),
                runtime: None,
            },
            admin_dir: at("admin"),
            overlay: None,
            variables: Variables::default(),
        }
    }

    /// The surroundings of this process.
    pub fn of_process() -> Result<Self, ConfigError> {
        let overlay = std::env::var_os("COUNTERSIGN_ENV")
            .filter(|name| !name.is_empty())
            .map(|name| name.to_string_lossy().into_owned());
        Ok(Self {
            folders: Folders::from_environment()?,
            admin_dir: PathBuf::from(ADMIN_DIR),
            overlay,
            variables: Variables::of_process(),
        })
    }
}

/// Reads the configuration of this process.
pub fn load(options: &Options) -> Result<Config, ConfigError> {
    load_in(options, &Surroundings::of_process()?)
}

/// Only the paths, for commands that talk to a dashboard: the dashboard may run with another user's
/// configuration, and mistakes in this user's do not matter.
pub fn paths(options: &Options) -> Result<Paths, ConfigError> {
    resolve(options, &Folders::from_environment()?, Path::new(ADMIN_DIR))
}

/// Reads the configuration in the given surroundings.
pub fn load_in(options: &Options, around: &Surroundings) -> Result<Config, ConfigError> {
    let paths = resolve(options, &around.folders, &around.admin_dir)?;
    let admin = read_layer(&around.admin_dir.join("config.toml"), Trust::Root, false)?;
    let mut user = Vec::new();
    user.extend(read_layer(
        &paths.config_file,
        Trust::RootOrUser,
        options.config.is_some(),
    )?);
    if let Some(name) = &around.overlay {
        user.push(read_overlay(&paths.config_file, name)?);
    }
    let files = admin.iter().chain(&user).map(|layer| &layer.datasets);
    user.push(around.variables.layer(files)?);
    user.push(flags(options)?);
    Ok(finish(merge::merge(admin, user)?, paths))
}

/// The layer of the command line. clap has already resolved each flag and its variable.
fn flags(options: &Options) -> Result<Layer, ConfigError> {
    let text = |flag, value: &Option<String>| {
        value.clone().map(|value| Set {
            value,
            origin: Origin::Flag(flag),
        })
    };
    let python = match options.python.as_deref() {
        None => None,
        Some(path) => Some(Set {
            value: absolute("--python", path)?,
            origin: Origin::Flag("--python"),
        }),
    };
    Ok(Layer {
        profile: text("--profile", &options.profile),
        tier: text("--tier", &options.tier).map(known_tier).transpose()?,
        theme: text("--theme", &options.theme),
        python,
        ..Layer::default()
    })
}

fn finish(built: Built, paths: Paths) -> Config {
    Config {
        profile: built.profile,
        profiles: built.profiles,
        profiles_bound: built.profiles_bound,
        tier: built.tier,
        theme: built.theme.unwrap_or_else(|| DEFAULT_THEME.to_owned()),
        charset: built.charset.unwrap_or_else(|| DEFAULT_CHARSET.to_owned()),
        mouse: built.mouse,
        python: built.python,
        ttl_s: built.ttl_s,
        ttl_max_s: built.ttl_max_s,
        datasets: built.datasets,
        queue: built.queue,
        socket: built.socket,
        run: built.run,
        keys: built.keys,
        audit: built.audit,
        notify: built.notify,
        drills: built.drills,
        feature: built.feature,
        desk: built.desk,
        paths,
        origins: built.origins,
    }
}

impl Config {
    /// Where a key was set: `theme`, `keys.grant`, `datasets.sales`, `profiles.team`.
    pub fn origin(&self, key: &str) -> Origin {
        self.origins.get(key).cloned().unwrap_or(Origin::Builtin)
    }

    /// An error for a value that another module checked, with the place where it was set: that of the first of
    /// `keys` that is set.
    pub fn fault(&self, keys: &[String], message: impl Into<String>) -> ConfigError {
        let mut origins = keys.iter().map(|key| self.origin(key));
        let origin = origins.find(|origin| *origin != Origin::Builtin);
        ConfigError::value(origin.unwrap_or(Origin::Builtin), message)
    }

    /// The weakest tier allowed for a run.
    pub fn least_tier(&self) -> Tier {
        self.tier.unwrap_or(Tier::Kernel)
    }

    /// Refuses a profile without a policy. `known` are the names of all policies.
    pub fn check_profiles(&self, known: &[&str]) -> Result<(), ConfigError> {
        let listed = self
            .profiles
            .iter()
            .flatten()
            .map(|name| (format!("profiles.{name}"), name));
        // Check the list first: if the default profile was taken from it, the list's line is the better origin.
        for (key, name) in listed.chain([("profile".to_owned(), &self.profile)]) {
            self.check_name("profile", &key, name, known)?;
        }
        Ok(())
    }

    /// Refuses an unknown palette. `known` are the names of all palettes; `auto` is always valid.
    pub fn check_theme(&self, known: &[&str]) -> Result<(), ConfigError> {
        let mut all = vec![DEFAULT_THEME];
        all.extend(known.iter().filter(|name| **name != DEFAULT_THEME));
        self.check_name("theme", "theme", &self.theme, &all)
    }

    fn check_name(
        &self,
        what: &str,
        key: &str,
        name: &str,
        known: &[&str],
    ) -> Result<(), ConfigError> {
        if known.contains(&name) {
            return Ok(());
        }
        Err(ConfigError::value(
            self.origin(key),
            format!(
                "unknown {what} `{}`{}; there are {}",
                name.escape_debug(),
                did_you_mean(name, known.iter().copied()),
                known.join(", ")
            ),
        ))
    }
}

fn resolve(options: &Options, folders: &Folders, admin_dir: &Path) -> Result<Paths, ConfigError> {
    let or = |flag, given: &Option<PathBuf>, default: PathBuf| match given {
        Some(path) => absolute(flag, path),
        None => Ok(default),
    };
    let state_dir = or("--state-dir", &options.state_dir, folders.state.clone())?;
    Ok(Paths {
        config_file: or(
            "--config",
            &options.config,
            folders.config.join("config.toml"),
        )?,
        policy_dir: or(
            "--policy-dir",
            &options.policy_dir,
            folders.config.join("policies"),
        )?,
        admin_policy_dir: admin_dir.join("policies"),
        socket: or(
            "--socket",
            &options.socket,
            Paths::default_socket(folders, &state_dir),
        )?,
        data_dir: folders.data.clone(),
        cache_dir: folders.cache.clone(),
        state_dir,
    })
}

fn absolute(flag: &'static str, path: &Path) -> Result<PathBuf, ConfigError> {
    std::path::absolute(path).map_err(|source| ConfigError::Relative { flag, source })
}

/// `None` if the file does not exist and was not explicitly requested.
fn read_layer(path: &Path, trust: Trust, wanted: bool) -> Result<Option<Layer>, ConfigError> {
    match read_trusted(path, trust) {
        Ok(text) => Layer::parse(path, &text).map(Some),
        Err(e) if e.is_missing() && !wanted => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// `config.<NAME>.toml` beside the configuration file.
fn read_overlay(config_file: &Path, name: &str) -> Result<Layer, ConfigError> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if !name.bytes().all(plain) {
        return Err(ConfigError::OverlayName(name.escape_debug().to_string()));
    }
    let path = config_file.with_file_name(format!("config.{name}.toml"));
    match read_layer(&path, Trust::RootOrUser, false)? {
        Some(layer) => Ok(layer),
        None => Err(ConfigError::NoOverlay {
            name: name.to_owned(),
            path,
        }),
    }
}
