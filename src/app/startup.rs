//! From the configuration to everything the dashboard needs. Each part is checked before the screen
//! is taken over: anything that cannot work stops the start with a sentence.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::absent::absent;
use super::anchoring::anchoring;
use super::descriptors;
use super::drills::{Drills, Means, fresh_seed};
use super::host;
use super::seat::Sitting;
use super::voters::Desk;
use super::works::Parts;
use crate::analysis::Analyser;
use crate::audit;
use crate::audit::kept::Keeper;
use crate::broker::{Attendance, Profile, Settings};
use crate::config::{Config, ConfigError};
use crate::error::Failure;
use crate::executor::{DatasetSource, Executor, Sources, preflight_recalled};
use crate::ipc::SocketConfig;
use crate::model::{DataFormat, DrillPlan, Preflight, Sensitivity, Tier, VisibleWriter};
use crate::paths::{Folders, Paths};
use crate::policy::{self, Contract, Policy};
use crate::secrets::Secrets;
use crate::tui::{Calls, Charset, Header, Keymap, LogCheck, TerminalCaps, Themes};

/// Everything that this program consists of, before it starts.
pub struct Setup {
    pub parts: Parts,
    pub screen: Screen,
}

/// What is in front of a person. A host has none of it.
pub struct Screen {
    /// What no file below the state folder holds.
    pub secrets: Secrets,
    /// A lasting path of this program, for its workers.
    pub worker: PathBuf,
    pub sources: Arc<Sources>,
    pub keymap: Keymap,
    pub themes: Themes,
    pub caps: TerminalCaps,
    pub charset: Charset,
    pub mouse: bool,
    pub calls: Calls,
    /// The drills that the configuration asks for.
    pub drills: Option<Drills>,
    /// Whether to speak in lines instead of drawing frames.
    pub plain: bool,
}

/// What this program is to be.
pub enum Role {
    Dashboard,
    /// With the bundled proposals.
    Demo,
    /// A dashboard without a screen: only signed votes grant.
    Host,
    /// A reviewer's: it has no socket for agents, no Python and nothing to run.
    Seat(Sitting),
}

impl Role {
    fn attendance(&self) -> Attendance {
        match self {
            Self::Dashboard | Self::Demo => Attendance::Person,
            Self::Host => Attendance::Nobody,
            Self::Seat(sitting) => Attendance::Reviewer(sitting.seat()),
        }
    }
}

/// Checks everything and opens the log, without touching the terminal yet. `reading` is told before a long log is read,
/// with its bytes.
///
/// # Errors
/// The first thing that cannot work: exit code 2 for a user's mistake, 1 for something the machine
/// lacks.
pub fn prepare(
    config: &Config,
    role: Role,
    plain: bool,
    reading: &dyn Fn(u64),
) -> Result<Setup, Failure> {
    let env: BTreeMap<String, String> = std::env::vars().collect();
    let caps = match plain {
        // Nothing is drawn, and a query would be read out.
        true => TerminalCaps::NONE,
        false => TerminalCaps::detect(&env),
    };
    let written = Written::of(config, caps)?;
    if matches!(role, Role::Host) {
        written.can_host(config)?;
    }
    let Written {
        policies,
        in_force,
        tiers,
        keymap,
        themes,
        drills,
        anchoring,
    } = written;
    let tier = config.least_tier();
    let (tiers, desk) = match &role {
        Role::Seat(_) => (Vec::new(), None),
        Role::Dashboard | Role::Demo | Role::Host => (
            checked_tiers(tiers, &config.paths.cache_dir)?,
            Desk::prepare(config, &in_force)?,
        ),
    };
    // A drill is for the person at the terminal.
    let drills = drills.filter(|_| !matches!(role, Role::Host));
    let exe = own_binary()?;
    // Workers are started through this descriptor, so that an update that replaces the file does
    // not mix versions, and a file put in its place is not run.
    let analyser_exe = PathBuf::from(format!("/proc/self/fd/{}", exe.as_raw_fd()));
    let mut log = audit::start(&config.paths.state_dir, reading)
        .map_err(|e| Failure::general(format!("the audit log cannot be opened: {e}")))?;
    let secrets = Secrets::here(config.audit.secrets.iter().cloned());
    diagnostics(&config.paths.state_dir, secrets.clone())?;
    let kept_as = log.writer.redacts(secrets.clone());
    let keeper = config.audit.keep_code.then(|| {
        let state = config.paths.state_dir.clone();
        Keeper::new(state, secrets.clone(), kept_as.clone())
    });
    let kept = audit::Log::open(&config.paths.state_dir)
        .map_err(|e| Failure::general(format!("the audit log cannot be read: {e}")))?;
    let sources = Arc::new(Sources {
        datasets: datasets(config),
        left: Box::new(move |digest| kept.blob(&kept_as.of(digest))),
        converters: Default::default(),
    });
    let mut header = header(config, tier, tiers, &in_force);
    if let Role::Seat(sitting) = &role {
        header.seat = Some(sitting.seated());
        header.agents_share_uid = false;
    }
    header.absent = absent(config);
    header.log_recovered.clone_from(&log.recovered);
    header.log = match (log.faults.first(), &log.unread) {
        (Some(first), _) => LogCheck::Damaged(first.to_string()),
        (None, Some(_)) => LogCheck::Running,
        (None, None) => LogCheck::Sound,
    };
    let voting = desk.as_ref().map(|desk| desk.voting.clone());
    let (plan, drills) = drills.unzip();
    Ok(Setup {
        parts: Parts {
            settings: Settings {
                voting,
                attendance: role.attendance(),
                ..settings(config, tier, &in_force, &policies)
            },
            desk,
            log,
            // What a hold selects, only `audit prune` asks.
            retention_days: match config.audit.hold.is_empty() {
                true => config.audit.retention_days,
                false => 0,
            },
            keeper,
            anchoring,
            state_dir: config.paths.state_dir.clone(),
            data_dir: config.paths.data_dir.clone(),
            python: config.python.clone(),
            socket: SocketConfig {
                path: config.paths.socket.clone(),
                allow_uids: config.socket.allow_uids.clone(),
                group: config.socket.group.clone(),
            },
            bounds: descriptors::bounds(config),
            executor: Executor::new(exe, sources.clone()),
            analyser: Analyser::new(analyser_exe.clone(), policies),
            sources: sources.clone(),
            header,
            drills: plan,
            role,
        },
        screen: Screen {
            secrets,
            worker: analyser_exe,
            sources,
            keymap,
            themes,
            caps,
            mouse: config.mouse,
            charset: Charset::of(&config.charset, &env),
            calls: Calls::detect(&env, config.notify.bell),
            drills,
            plain,
        },
    })
}

/// What the configuration and policy files ask for, with every name resolved. `doctor` and the
/// start share it, so that neither accepts what the other refuses.
pub struct Written {
    policies: Vec<Arc<Policy>>,
    in_force: Vec<Arc<Policy>>,
    /// Every tier that some profile needs.
    pub tiers: BTreeSet<Tier>,
    keymap: Keymap,
    themes: Themes,
    drills: Option<(DrillPlan, Drills)>,
    anchoring: audit::Anchoring,
}

impl Written {
    /// # Errors
    /// The first thing that the files ask for but cannot have, with the place where it was set.
    pub fn of(config: &Config, caps: TerminalCaps) -> Result<Self, Failure> {
        let usage = |e: &dyn std::fmt::Display| Failure::usage(e.to_string());
        let policies = policy::load(&policy::Places::of(&config.paths)).map_err(|e| usage(&e))?;
        let names: Vec<&str> = policies.iter().map(|p| p.name.as_str()).collect();
        config.check_profiles(&names).map_err(|e| usage(&e))?;
        let in_force = in_force(config, &policies);
        bound(config, &in_force)?;
        let least = config.least_tier();
        let mut tiers: BTreeSet<Tier> = in_force.iter().map(|p| p.tier.max(least)).collect();
        tiers.insert(least);
        let (keymap, themes) = screen(config, caps).map_err(|e| usage(&e))?;
        let drills = drills(config, &in_force)?;
        let anchoring = anchoring(config).map_err(|e| usage(&e))?;
        Ok(Self {
            policies,
            in_force,
            tiers,
            keymap,
            themes,
            drills,
            anchoring,
        })
    }

    /// # Errors
    /// Why nothing could ever be granted at a host.
    pub fn can_host(&self, config: &Config) -> Result<(), Failure> {
        host::can_start(config, &self.in_force)
    }

    /// How many people may vote; `None` if no policy in force asks them. It makes nothing.
    ///
    /// # Errors
    /// Why votes that a policy asks for could not be counted.
    pub fn voters(&self, config: &Config) -> Result<Option<usize>, Failure> {
        let desk = Desk::look(config, &self.in_force)?;
        Ok(desk.map(|(_, electorate)| electorate.voters()))
    }

    /// The policies that proposals can name.
    pub fn in_force(&self) -> &[Arc<Policy>] {
        &self.in_force
    }
}

/// The keys and palettes that the configuration asks for.
fn screen(config: &Config, caps: TerminalCaps) -> Result<(Keymap, Themes), ConfigError> {
    let keymap = Keymap::from_config(&config.keys).map_err(|e| {
        let keys: Vec<String> = e.actions().iter().map(|a| format!("keys.{a}")).collect();
        config.fault(&keys, e.to_string())
    })?;
    let themes = Themes::new(&config.theme, caps)
        .map_err(|e| config.fault(&["theme".to_owned()], e.to_string()))?;
    Ok((keymap, themes))
}

/// Details for the machine's owner go to `dashboard.log` in the state folder, because the dashboard
/// occupies the screen and agents must not see paths.
fn diagnostics(state_dir: &Path, secrets: Secrets) -> Result<(), Failure> {
    let path = state_dir.join("dashboard.log");
    let file = File::options()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(&path)
        .map_err(|e| Failure::general(format!("cannot write {}: {e}", path.display())))?;
    // An existing subscriber, as in tests, stays.
    let _ = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_env_filter("warn,countersign::executor=info")
        .with_writer(std::sync::Mutex::new(
            secrets.writer(VisibleWriter::new(file)),
        ))
        .try_init();
    Ok(())
}

/// The policies that a proposal may name: the configured list, else every built-in one.
fn in_force(config: &Config, policies: &[Arc<Policy>]) -> Vec<Arc<Policy>> {
    let builtin = |p: &&Arc<Policy>| p.origin == policy::Origin::Builtin;
    let usual = |p: &&Arc<Policy>| p.contract != Contract::Script;
    let named = |name: &String| policies.iter().find(|p| &p.name == name).cloned();
    let mut chosen: Vec<Arc<Policy>> = match &config.profiles {
        Some(list) => list.iter().filter_map(named).collect(),
        None => policies
            .iter()
            .filter(builtin)
            .filter(usual)
            .cloned()
            .collect(),
    };
    // The default profile can always be named.
    if !chosen.iter().any(|p| p.name == config.profile) {
        chosen.extend(named(&config.profile));
    }
    chosen
}

/// The administrator's list names policies, and a user must not redefine what such a name means.
fn bound(config: &Config, in_force: &[Arc<Policy>]) -> Result<(), Failure> {
    let Some(by) = &config.profiles_bound else {
        return Ok(());
    };
    match in_force.iter().find(|p| p.set_by == policy::SetBy::User) {
        None => Ok(()),
        Some(p) => Err(Failure::usage(format!(
            "profile `{}` is listed by {by}, so it must be built in or a file of {}; a user's \
             file does not count",
            p.name,
            config.paths.admin_policy_dir.display()
        ))),
    }
}

/// Refuses the start if a tier that some profile needs is not available here.
fn checked_tiers(wanted: BTreeSet<Tier>, cache: &Path) -> Result<Vec<Preflight>, Failure> {
    wanted
        .into_iter()
        .map(|tier| preflight_recalled(tier, cache).map_err(|e| Failure::general(e.to_string())))
        .collect()
}

fn own_binary() -> Result<OwnedFd, Failure> {
    File::open("/proc/self/exe")
        .map(OwnedFd::from)
        .map_err(|e| Failure::general(format!("cannot open our own binary: {e}")))
}

fn datasets(config: &Config) -> BTreeMap<String, DatasetSource> {
    let source = |d: &crate::config::Dataset| DatasetSource {
        path: d.path.clone(),
        format: d.format,
        sensitivity: d.sensitivity,
    };
    config
        .datasets
        .iter()
        .map(|(name, d)| (name.clone(), source(d)))
        .collect()
}

/// The drills that the configuration asks for, made of what it has.
fn drills(
    config: &Config,
    in_force: &[Arc<Policy>],
) -> Result<Option<(DrillPlan, Drills)>, Failure> {
    let every = config.drills.every;
    if every == 0 {
        return Ok(None);
    }
    let usual = in_force.iter().filter(|p| p.name == config.profile);
    let mut means = Means::default();
    for policy in usual.chain(in_force) {
        let name = means.profiles.entry(policy.contract);
        name.or_insert_with(|| policy.name.clone());
    }
    let is_table = |d: &&crate::config::Dataset| {
        matches!(
            d.format,
            DataFormat::Csv | DataFormat::Tsv | DataFormat::Parquet
        )
    };
    let tables = config.datasets.iter().filter(|(_, d)| is_table(d));
    means.tables = tables
        .map(|(name, d)| (name.clone(), d.sensitivity == Sensitivity::Private))
        .collect();
    let Some(seed) = config.drills.seed.or_else(fresh_seed) else {
        return Err(Failure::general(
            "the system gives no random numbers for drills; set `drills.seed`",
        ));
    };
    let plan = DrillPlan { every, seed };
    let Some(drills) = Drills::new(plan, means) else {
        let why = "drills need a profile with the contract `analysis` or `script`, and `profiles` lists none";
        let fault = config.fault(&["drills.every".to_owned()], why);
        return Err(Failure::usage(fault.to_string()));
    };
    Ok(Some((plan, drills)))
}

/// `in_force`: of `all`, those that a proposal may name.
fn settings(
    config: &Config,
    tier: Tier,
    in_force: &[Arc<Policy>],
    all: &[Arc<Policy>],
) -> Settings {
    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let max_pending = count(config.queue.max_pending);
    // One uid may fill the queue only if no other uid can connect.
    let alone = config.socket.allow_uids.is_empty();
    Settings {
        profile: config.profile.clone(),
        profiles: in_force
            .iter()
            .map(|p| Profile {
                policy: p.clone(),
                given: given(p),
                base: all.iter().find(|base| p.extends(base)).cloned(),
            })
            .collect(),
        tier,
        ttl: Duration::from_secs(config.ttl_s),
        ttl_max: Duration::from_secs(config.ttl_max_s),
        datasets: config.datasets.keys().cloned().collect(),
        max_pending,
        max_pending_per_peer: count(config.queue.max_pending_per_peer),
        max_pending_per_uid: if alone {
            max_pending
        } else {
            max_pending.div_ceil(2)
        },
        kill_on_disconnect: config.run.kill_on_disconnect,
        lift: config.feature.lift,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        voting: None,
        attendance: Attendance::Person,
    }
}

/// What a snippet finds in its namespace (protocol.md §5), for `hello`.
fn given(policy: &Policy) -> Vec<String> {
    let given: &[&str] = match policy.contract {
        Contract::Feature => &["df", "pd", "np"],
        Contract::Analysis => &["each input under its name", "pd", "np", "open"],
        Contract::Chart => &["data"],
        Contract::Scoped => Contract::Scoped.names(),
        Contract::Walled | Contract::Script => &[],
    };
    given.iter().map(|s| (*s).to_owned()).collect()
}

/// What the header and the sheet say about this dashboard.
fn header(config: &Config, tier: Tier, tiers: Vec<Preflight>, policies: &[Arc<Policy>]) -> Header {
    let default = policies.iter().find(|p| p.name == config.profile);
    Header {
        policy: default.map_or_else(|| config.profile.clone(), |p| p.label()),
        policy_digest: default.map_or_else(String::new, |p| p.sha256.short(8)),
        tier: default.map_or(tier, |p| p.tier.max(tier)),
        tiers,
        agents_share_uid: config.socket.allow_uids.is_empty(),
        socket: config.paths.socket.display().to_string(),
        submit: submit(&config.paths),
        absent: Vec::new(),
        log_recovered: None,
        log: LogCheck::Sound,
        unanchored: None,
        unreached: None,
        unheard: None,
        seat: None,
    }
}

/// The command that reaches this dashboard's socket from another shell.
fn submit(paths: &Paths) -> String {
    let usual = Folders::from_environment()
        .is_ok_and(|folders| Paths::default_socket(&folders, &folders.state) == paths.socket);
    if usual {
        return "countersign submit FILE".to_owned();
    }
    let path = paths.socket.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let path = match path.chars().all(plain) {
        true => path,
        false => format!("'{}'", path.replace('\'', r"'\''")),
    };
    format!("countersign submit --socket {path} FILE")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::config::{Options, Surroundings, load_in};

    #[test]
    fn a_uid_may_fill_half_of_the_queue_where_others_can_connect() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir(at("config")).unwrap();
        let around = Surroundings::below(dir.path());
        let bounds = |socket: &str| {
            let path = at("config").join("config.toml");
            let text = format!(
                "[queue]\nmax_pending = 10\nmax_pending_per_peer = 3\n[socket]\n{socket}\n"
            );
            std::fs::write(&path, text).unwrap();
            let mode = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(path, mode).unwrap();
            let config = load_in(&Options::default(), &around).unwrap();
            let policies = policy::load(&policy::Places::of(&config.paths)).unwrap();
            let s = settings(&config, Tier::Process, &policies, &policies);
            (s.max_pending, s.max_pending_per_uid, s.max_pending_per_peer)
        };
        assert_eq!(bounds(""), (10, 10, 3));
        assert_eq!(bounds("allow_uids = [4242]"), (10, 5, 3));
        let row = "| pending proposals | `max_pending_per_peer` | `max_pending`, half of it where other uids may connect |";
        let table = include_str!("../../assets/docs/internals.md");
        assert!(
            table.lines().any(|line| line == row),
            "the table lacks the row {row}"
        );
    }

    /// The administrator lists `corp`: only the administrator may define it.
    #[test]
    fn a_profile_that_the_administrator_lists_is_never_a_users_file() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for folder in ["config/policies", "admin/policies"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        let write = |name: &str, text: &str| {
            std::fs::write(at(name), text).unwrap();
            std::fs::set_permissions(at(name), std::fs::Permissions::from_mode(0o644)).unwrap();
        };
        write("admin/config.toml", "profiles = [\"analysis\", \"corp\"]\n");
        let corp = "name = \"corp\"\nextends = \"analysis\"\n";
        write("config/policies/corp.toml", corp);
        let around = Surroundings::below(dir.path());
        let start = || {
            let config = load_in(&Options::default(), &around).map_err(|e| e.to_string())?;
            let policies = policy::load(&policy::Places::of(&config.paths)).unwrap();
            bound(&config, &in_force(&config, &policies)).map_err(|e| e.to_string())
        };
        let error = start().unwrap_err();
        if !nix::unistd::geteuid().is_root() {
            assert!(error.contains("must belong to root"), "{error}");
            crate::given::is_given_to_root(false, "root to play the administrator");
            return;
        }
        assert!(
            error.contains("profile `corp` is listed by") && error.contains("admin/config.toml:1"),
            "{error}"
        );
        std::fs::rename(
            at("config/policies/corp.toml"),
            at("admin/policies/corp.toml"),
        )
        .unwrap();
        start().unwrap();
    }
}
