//! Configuration files as a person writes them: every file under `tests/configs/valid` loads, every
//! file under `invalid` stops the start with the message beside it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use countersign::app::Written;
use countersign::config::{
    Config, DeskConfig, DeskKey, Options, Surroundings, Variables, check_variables, load_in,
};
use countersign::model::{DataFormat, Sensitivity, Tier};
use countersign::paths::Folders;
use countersign::secrets::{Counts, Secrets};
use countersign::tui::TerminalCaps;
use nix::unistd::geteuid;
use tempfile::TempDir;

use given::is_given_to_root;

use crate::common::given;

/// A separate home, so that none of the machine's configuration is read.
struct Home {
    dir: TempDir,
    options: Options,
    overlay: Option<String>,
    variables: Vec<(&'static str, &'static str)>,
}

impl Home {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["config", "admin"] {
            std::fs::create_dir(dir.path().join(folder)).unwrap();
        }
        Self {
            dir,
            options: Options::default(),
            overlay: None,
            variables: Vec::new(),
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.at(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        path
    }

    fn with(text: &str) -> Self {
        let home = Self::new();
        home.write("config/config.toml", text);
        home
    }

    fn load(&self) -> Result<Config, String> {
        let around = Surroundings {
            folders: Folders {
                config: self.at("config"),
                state: self.at("state"),
                data: self.at("data"),
                cache: self.at("cache"),
                runtime: None,
            },
            admin_dir: self.at("admin"),
            overlay: self.overlay.clone(),
            variables: variables(&self.variables),
        };
        load_in(&self.options, &around).map_err(|e| {
            e.to_string()
                .replace(&format!("{}/", self.dir.path().display()), "")
        })
    }

    fn load_error(&self) -> String {
        self.load().expect_err("the configuration must not load")
    }
}

fn variables(all: &[(&str, &str)]) -> Variables {
    all.iter().map(|(n, v)| (n.into(), v.into())).collect()
}

fn cases(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/configs")
        .join(kind);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    files
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn every_valid_file_loads() {
    let files = cases("valid");
    assert!(files.len() >= 5);
    for file in files {
        let loaded = Home::with(&read(&file)).load();
        assert!(loaded.is_ok(), "{}: {loaded:?}", file.display());
    }
}

#[test]
fn every_invalid_file_stops_the_start_with_its_recorded_error() {
    let files = cases("invalid");
    assert!(files.len() >= 30);
    let mut failures = Vec::new();
    for file in files {
        let error = Home::with(&read(&file)).load_error();
        assert!(error.starts_with("config/config.toml:"), "{error}");
        let beside = file.with_extension("txt");
        if std::env::var_os("CS_BLESS").is_some() {
            std::fs::write(&beside, format!("{error}\n")).unwrap();
        }
        if read(&beside).trim_end() != error {
            failures.push(format!("{}\n  {error}", file.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_documented_file_has_its_documented_meaning() {
    let home = Home::with(&read(
        &cases("valid")
            .iter()
            .find(|p| p.ends_with("full.toml"))
            .unwrap()
            .clone(),
    ));
    let config = home.load().unwrap();
    assert_eq!(config.profiles.as_ref().unwrap().len(), 5);
    assert_eq!(config.tier, Some(Tier::Kernel));
    assert_eq!(
        config.python.as_deref(),
        Some(Path::new("/usr/bin/python3"))
    );
    assert_eq!((config.ttl_s, config.ttl_max_s), (600, 28_800));
    let sales = &config.datasets["sales"];
    assert_eq!(sales.path, home.at("config/sales.csv"));
    assert_eq!(
        (sales.format, sales.sensitivity),
        (DataFormat::Csv, Sensitivity::Public)
    );
    let staff = &config.datasets["staff"];
    assert_eq!(staff.path, Path::new("/srv/data/staff.TSV"));
    assert_eq!(
        (staff.format, staff.sensitivity),
        (DataFormat::Tsv, Sensitivity::Private)
    );
    assert_eq!(
        (config.queue.max_pending, config.queue.max_pending_per_peer),
        (20, 5)
    );
    assert_eq!(config.socket.allow_uids, [1001, 1002]);
    assert_eq!(config.socket.max_connections, 1_000);
    assert_eq!(config.socket.group.as_deref(), Some("agents"));
    assert!(config.run.kill_on_disconnect);
    assert_eq!(config.keys["quit"], "ctrl-q");
    assert_eq!(config.audit.retention_days, 30);
    assert_eq!(config.audit.retention_bytes, 5_000_000_000);
    assert_eq!(config.audit.retention.output, 7);
    assert_eq!(found(&config, "EMP-123456"), "[REDACTED:employee]");
    assert!(!config.notify.bell);
    assert_eq!(
        config.notify.command,
        ["/usr/local/bin/desk-mail", "mail.example.org:25"]
    );
    assert_eq!((config.notify.within_s, config.notify.every_s), (5, 300));
    let told: Vec<_> = config.notify.events.iter().map(|e| e.as_str()).collect();
    assert_eq!(told, ["waits"]);
    assert_eq!((config.drills.every, config.drills.seed), (25, Some(7)));
    let desk = desk(&config);
    assert_eq!(desk.name.as_deref(), Some("lab-1"));
    let Some(DeskKey::File(key)) = desk.key else {
        panic!("{:?}", desk.key)
    };
    assert!(key.is_absolute() && key.ends_with(".ssh/id_ed25519_sk"));
    assert_eq!(desk.ca, Some(home.at("config/ca.pem")));
    assert_eq!(desk.hosts, Path::new("/etc/countersign/desk/hosts"));
}

#[test]
fn the_documented_defaults_hold_without_any_file() {
    let home = Home::new();
    let config = home.load().unwrap();
    assert_eq!(
        (config.profile.as_str(), config.theme.as_str()),
        ("analysis", "auto")
    );
    assert_eq!(
        (config.profiles, config.tier, config.python),
        (None, None, None)
    );
    assert_eq!((config.ttl_s, config.ttl_max_s), (1_800, 28_800));
    assert_eq!(
        (config.queue.max_pending, config.queue.max_pending_per_peer),
        (10_000, 1_000)
    );
    assert!(!config.run.kill_on_disconnect && config.datasets.is_empty());
    assert!(config.notify.bell && config.notify.command.is_empty());
    assert_eq!(config.desk, None);
    assert_eq!((config.drills.every, config.drills.seed), (0, None));
    assert_eq!(config.paths.socket, home.at("state/run/agent.sock"));
    assert_eq!(config.paths.policy_dir, home.at("config/policies"));
}

#[test]
fn f6_a_flag_outranks_the_overlay_which_outranks_the_file() {
    let mut home =
        Home::with("theme = \"dark\"\nttl_s = 10\n[keys]\ngrant = \"g\"\ndeny = \"x\"\n");
    home.write(
        "config/config.ci.toml",
        "theme = \"light\"\n[keys]\ngrant = \"G\"\n[datasets.a]\npath = \"a.csv\"\n",
    );
    assert_eq!(home.load().unwrap().theme, "dark");
    home.overlay = Some("ci".to_owned());
    let config = home.load().unwrap();
    assert_eq!((config.theme.as_str(), config.ttl_s), ("light", 10));
    assert_eq!(
        (config.keys["grant"].as_str(), config.keys["deny"].as_str()),
        ("G", "x")
    );
    assert_eq!(config.datasets["a"].path, home.at("config/a.csv"));
    home.options.theme = Some("mono".to_owned());
    assert_eq!(home.load().unwrap().theme, "mono");
}

#[test]
fn drills_are_off_until_they_are_asked_for_and_errors_say_what_is_right() {
    let on = Home::with("[drills]\nevery = 25\nseed = 7\n")
        .load()
        .unwrap();
    assert_eq!((on.drills.every, on.drills.seed), (25, Some(7)));
    let rows = [
        (
            "[drills]\nevery = \"often\"\n",
            "config/config.toml:2",
            "every",
        ),
        ("[drills]\nevery = 20000\n", "config/config.toml:2", "10000"),
        (
            "[drills]\nseed = 7\n",
            "config/config.toml:2",
            "set `drills.every`",
        ),
        ("[drills]\nevry = 25\n", "config/config.toml:2", "`every`"),
        ("[drill]\nevery = 25\n", "config/config.toml:1", "drills"),
    ];
    for (text, place, what) in rows {
        let error = Home::with(text).load_error();
        assert!(
            error.contains(place) && error.contains(what),
            "{text}: {error}"
        );
    }
}

#[test]
fn drills_without_a_profile_that_they_are_made_for_are_refused() {
    let caps = || TerminalCaps::detect(&[("TERM".to_owned(), "xterm-256color".to_owned())].into());
    let home = Home::with("profiles = [\"chart\"]\n[drills]\nevery = 25\n");
    let error = Written::of(&home.load().unwrap(), caps()).err().unwrap();
    let error = error.to_string();
    assert!(
        error.contains("config/config.toml:3") && error.contains("contract `analysis`"),
        "{error}"
    );
    let home = Home::with("profiles = [\"chart\", \"analysis\"]\n[drills]\nevery = 25\n");
    assert!(Written::of(&home.load().unwrap(), caps()).is_ok());
}

/// No agent and no user's file can switch off the measuring that the owner wants.
#[test]
fn f8_the_lift_gate_is_the_owners() {
    let on = "[feature.lift]\nenabled = true\n";
    let off = "[feature.lift]\nenabled = false\n";
    assert!(!Home::with("").load().unwrap().feature.lift);
    assert!(!Home::with(off).load().unwrap().feature.lift);
    assert!(Home::with(on).load().unwrap().feature.lift);
    let home = Home::with(off);
    home.write("admin/config.toml", on);
    assert!(home.load().unwrap().feature.lift);
    let error = Home::with("[feature.lift]\nenable = true\n").load_error();
    assert!(
        error.contains("config/config.toml:2") && error.contains("enabled"),
        "{error}"
    );
    let error = Home::with("[feature.lft]\nenabled = true\n").load_error();
    assert!(error.contains("lift"), "{error}");
}

/// Only the screen knows its keys and palettes; the error still says where they were set.
#[test]
fn unknown_keys_and_themes_are_named_with_their_line() {
    let rows = [
        (
            "ttl_s = 5\ntheme = \"pink\"\n",
            "config/config.toml:2",
            "pink",
        ),
        ("[keys]\ngrant = \"d\"\n", "config/config.toml:2", "both"),
        ("[keys]\ngrnt = \"z\"\n", "config/config.toml:2", "`grant`"),
        (
            "[keys]\ngrant = \"z\"\ndeny = \"hyper-q\"\n",
            "config/config.toml:3",
            "hyper-q",
        ),
    ];
    for (text, place, what) in rows {
        let home = Home::with(text);
        let config = home.load().unwrap();
        let caps = TerminalCaps::detect(&[("TERM".to_owned(), "xterm-256color".to_owned())].into());
        let error = Written::of(&config, caps).err().unwrap().to_string();
        assert!(
            error.contains(place) && error.contains(what),
            "{text}: {error}"
        );
    }
}

#[test]
fn a_missing_overlay_or_one_outside_the_folder_stops_the_start() {
    let mut home = Home::with("");
    home.overlay = Some("prod".to_owned());
    assert!(
        home.load_error()
            .contains("config/config.prod.toml must exist"),
        "{}",
        home.load_error()
    );
    home.overlay = Some("../../evil".to_owned());
    assert!(
        home.load_error().contains("only letters"),
        "{}",
        home.load_error()
    );
}

#[test]
fn a_file_named_by_a_flag_must_exist_and_is_the_base_of_relative_paths() {
    let mut home = Home::new();
    std::fs::create_dir(home.at("elsewhere")).unwrap();
    home.options.config = Some(home.at("elsewhere/my.toml"));
    assert!(
        home.load_error()
            .contains("elsewhere/my.toml: cannot be read"),
        "{}",
        home.load_error()
    );
    home.write("elsewhere/my.toml", "[datasets.a]\npath = \"b/a.tsv\"\n");
    assert_eq!(
        home.load().unwrap().datasets["a"].path,
        home.at("elsewhere/b/a.tsv")
    );
}

#[test]
fn a_file_that_others_own_or_can_write_stops_the_start() {
    let home = Home::with("theme = \"dark\"");
    let path = home.at("config/config.toml");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o646)).unwrap();
    assert!(
        home.load_error().contains("chmod go-w"),
        "{}",
        home.load_error()
    );
    if geteuid().is_root() {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::chown(&path, Some(12_345), None).unwrap();
        assert!(
            home.load_error().contains("owned by uid 12345"),
            "{}",
            home.load_error()
        );
    }
}

#[test]
fn the_administrators_file_must_be_roots_even_for_the_user() {
    let home = Home::new();
    let path = home.write("admin/config.toml", "tier = \"kernel\"\n");
    if geteuid().is_root() {
        assert_eq!(home.load().unwrap().tier, Some(Tier::Kernel));
        std::os::unix::fs::chown(&path, Some(12_345), None).unwrap();
    }
    assert!(
        home.load_error().contains("it must belong to root"),
        "{}",
        home.load_error()
    );
}

/// Loads with an administrator's file; `None` if the test does not run as root and cannot make one.
fn load_under(admin: &str, user: &str) -> Option<(Home, Result<Config, String>)> {
    if !is_given_to_root(geteuid().is_root(), "root to play the administrator") {
        return None;
    }
    let home = Home::with(user);
    home.write("admin/config.toml", admin);
    let loaded = home.load();
    Some((home, loaded))
}

#[test]
fn settings_of_the_administrator_cannot_be_loosened() {
    let admin = "profiles = [\"analysis\", \"chart\"]\ntier = \"kernel\"\nttl_max_s = 100\n\
                 python = \"/usr/bin/python3\"\n[queue]\nmax_pending = 50\n[socket]\nmax_connections = 100\n[audit]\nretention_days = 0\n";
    let Some((mut home, loaded)) = load_under(
        admin,
        "tier = \"process\"\nttl_s = 5000\nttl_max_s = 9000\nprofiles = [\"chart\"]\n\
         [queue]\nmax_pending = 9999\nmax_pending_per_peer = 7\n[socket]\nmax_connections = 101\n",
    ) else {
        return;
    };
    let config = loaded.unwrap();
    assert_eq!(config.tier, Some(Tier::Kernel));
    assert_eq!((config.ttl_s, config.ttl_max_s), (100, 100));
    assert_eq!(
        (config.queue.max_pending, config.queue.max_pending_per_peer),
        (50, 7)
    );
    assert_eq!(config.socket.max_connections, 100);
    assert_eq!(config.profiles.unwrap(), ["chart"]);
    assert_eq!(config.profile, "chart");
    home.options.python = Some("/tmp/python3".into());
    assert!(
        home.load_error()
            .contains("--python (or COUNTERSIGN_PYTHON): `python` is fixed to /usr/bin/python3 by admin/config.toml:4"),
        "{}",
        home.load_error()
    );

    for (user, words) in [
        (
            "profiles = [\"chart\", \"script\"]\n",
            "profile `script` is not among those of admin/config.toml:1",
        ),
        (
            "profile = \"script\"\n",
            "profile `script` is not among those of admin/config.toml:1",
        ),
        (
            "python = \"/tmp/python3\"\n",
            "`python` is fixed to /usr/bin/python3 by admin/config.toml:4",
        ),
        (
            "[audit]\nretention_days = 1\n",
            "`audit.retention_days` is fixed to 0 by admin/config.toml:10",
        ),
        (
            // Whoever keeps every day keeps every byte.
            "[audit]\nretention_bytes = 1\n",
            "`audit.retention_bytes` is fixed to 0 by admin/config.toml:10",
        ),
        (
            "[audit.retention]\ncode_days = 1\n",
            "`audit.retention.code_days` is fixed to 0 by admin/config.toml:10",
        ),
    ] {
        let (_home, loaded) = load_under(admin, user).unwrap();
        let error = loaded.unwrap_err();
        assert!(
            error.contains(words) && error.starts_with("config/config.toml:"),
            "{error}"
        );
    }
}

/// The files that say who counts are the administrator's if the table is, by name or not; a person's own key is not.
#[test]
fn whom_a_machine_believes_is_bound_by_the_table_of_the_administrator() {
    let signers = "/etc/countersign/desk/allowed_signers";
    for (admin, user, words) in [
        ("[desk]\n", "[desk]\nsigners = \"/tmp/s\"\n", "signers"),
        ("[desk]\n", "[desk]\npeople = \"/tmp/s\"\n", "people"),
        ("[desk]\n", "[desk]\nrevoked = \"/tmp/s\"\n", "revoked"),
        ("[desk]\n", "[desk]\nhosts = \"/tmp/s\"\n", "hosts"),
        (
            "[desk]\nurl = \"postgresql://h@a/d\"\nca = \"/a\"\nname = \"a\"\nsocket = \"/a\"\n",
            "[desk]\nurl = \"postgresql://h@b/d\"\n",
            "url",
        ),
        ("[desk]\nname = \"a\"\n", "[desk]\nname = \"b\"\n", "name"),
        (
            "[desk]\nsocket = \"/a\"\n",
            "[desk]\nsocket = \"/b\"\n",
            "socket",
        ),
    ] {
        let Some((_home, loaded)) = load_under(admin, user) else {
            return;
        };
        let error = loaded.unwrap_err();
        let bound = format!("`desk.{words}` is fixed to ");
        assert!(
            error.starts_with("config/config.toml:2: ") && error.contains(&bound),
            "{error}"
        );
    }
    let user = format!("[desk]\nkey = \"/k\"\nsigners = \"{signers}\"\n");
    let (_home, loaded) = load_under("[desk]\nkey = \"/a\"\n", &user).unwrap();
    assert_eq!(desk(&loaded.unwrap()).key, Some(DeskKey::File("/k".into())));
}

#[test]
fn suggestions_of_the_administrator_can_be_changed() {
    let admin = "theme = \"light\"\nprofile = \"chart\"\nttl_s = 77\n";
    let Some((_home, loaded)) = load_under(admin, "theme = \"dark\"\n") else {
        return;
    };
    let config = loaded.unwrap();
    assert_eq!(
        (config.theme.as_str(), config.profile.as_str(), config.ttl_s),
        ("dark", "chart", 77)
    );
}

#[test]
fn an_unknown_profile_or_theme_is_named_with_its_place_and_the_nearest_name() {
    let home = Home::with("theme = \"drak\"\nprofiles = [\n  \"analysis\",\n  \"fature\",\n]\n");
    let config = home.load().unwrap();
    let prefix = format!("{}/", home.dir.path().display());
    let text = |e: countersign::config::ConfigError| e.to_string().replace(&prefix, "");
    let known = ["analysis", "feature", "chart"];
    assert_eq!(
        text(config.check_profiles(&known).unwrap_err()),
        "config/config.toml:4: unknown profile `fature`; did you mean `feature`?; there are analysis, feature, chart"
    );
    assert_eq!(
        text(config.check_theme(&["dark", "light"]).unwrap_err()),
        "config/config.toml:1: unknown theme `drak`; did you mean `dark`?; there are auto, dark, light"
    );
    assert!(config.check_theme(&["drak"]).is_ok());
    let mut flagged = Home::new();
    flagged.options.theme = Some("x\u{1b}".to_owned());
    let error = flagged
        .load()
        .unwrap()
        .check_theme(&["dark"])
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("--theme (or COUNTERSIGN_THEME): unknown theme `x\\u{1b}`"),
        "{error}"
    );
}

/// A key of `config.toml`, its value in a file and in another layer, and how a flag sets it.
struct KeyCase {
    variable: &'static str,
    file: &'static str,
    value: &'static str,
    flag: Option<fn(&mut Options, &str)>,
    read: fn(&Config) -> String,
    /// The resulting value if the file sets it, and if the variable or the flag does.
    is: [&'static str; 2],
}

fn key_cases() -> Vec<KeyCase> {
    fn case(
        variable: &'static str,
        file: &'static str,
        value: &'static str,
        read: fn(&Config) -> String,
        is: [&'static str; 2],
    ) -> KeyCase {
        KeyCase {
            variable,
            file,
            value,
            flag: None,
            read,
            is,
        }
    }
    let flagged = |case: KeyCase, flag: fn(&mut Options, &str)| KeyCase {
        flag: Some(flag),
        ..case
    };
    vec![
        flagged(
            case(
                "TIER",
                "tier = \"process\"",
                "kernel",
                |c| format!("{:?}", c.tier),
                ["Some(Process)", "Some(Kernel)"],
            ),
            |o, v| o.tier = Some(v.to_owned()),
        ),
        flagged(
            case(
                "PROFILE",
                "profile = \"chart\"",
                "walled",
                |c| c.profile.clone(),
                ["chart", "walled"],
            ),
            |o, v| o.profile = Some(v.to_owned()),
        ),
        flagged(
            case(
                "THEME",
                "theme = \"dark\"",
                "light",
                |c| c.theme.clone(),
                ["dark", "light"],
            ),
            |o, v| o.theme = Some(v.to_owned()),
        ),
        case(
            "CHARSET",
            "charset = \"ascii\"",
            "utf-8",
            |c| c.charset.clone(),
            ["ascii", "utf-8"],
        ),
        case(
            "MOUSE",
            "mouse = false",
            "true",
            |c| c.mouse.to_string(),
            ["false", "true"],
        ),
        flagged(
            case(
                "PYTHON",
                "python = \"/a\"",
                "/b",
                |c| format!("{:?}", c.python),
                ["Some(\"/a\")", "Some(\"/b\")"],
            ),
            |o, v| o.python = Some(v.into()),
        ),
        case(
            "PROFILES",
            "profiles = [\"analysis\"]",
            "chart, analysis",
            |c| format!("{:?}", c.profiles),
            ["Some([\"analysis\"])", "Some([\"chart\", \"analysis\"])"],
        ),
        case(
            "TTL_S",
            "ttl_s = 7",
            "8",
            |c| c.ttl_s.to_string(),
            ["7", "8"],
        ),
        case(
            "TTL_MAX_S",
            "ttl_max_s = 7",
            "8",
            |c| c.ttl_max_s.to_string(),
            ["7", "8"],
        ),
        case(
            "QUEUE_MAX_PENDING",
            "[queue]\nmax_pending = 7",
            "8",
            |c| c.queue.max_pending.to_string(),
            ["7", "8"],
        ),
        case(
            "QUEUE_MAX_PENDING_PER_PEER",
            "[queue]\nmax_pending_per_peer = 7",
            "8",
            |c| c.queue.max_pending_per_peer.to_string(),
            ["7", "8"],
        ),
        case(
            "SOCKET_MAX_CONNECTIONS",
            "[socket]\nmax_connections = 7",
            "8",
            |c| c.socket.max_connections.to_string(),
            ["7", "8"],
        ),
        case(
            "SOCKET_ALLOW_UIDS",
            "[socket]\nallow_uids = [7]",
            "8,9",
            |c| format!("{:?}", c.socket.allow_uids),
            ["[7]", "[8, 9]"],
        ),
        case(
            "SOCKET_ALLOW_UIDS",
            "[socket]\nallow_uids = [7]",
            "[]",
            |c| format!("{:?}", c.socket.allow_uids),
            ["[7]", "[]"],
        ),
        case(
            "SOCKET_GROUP",
            "[socket]\ngroup = \"a\"",
            "b",
            |c| format!("{:?}", c.socket.group),
            ["Some(\"a\")", "Some(\"b\")"],
        ),
        case(
            "RUN_KILL_ON_DISCONNECT",
            "[run]\nkill_on_disconnect = false",
            "true",
            |c| c.run.kill_on_disconnect.to_string(),
            ["false", "true"],
        ),
        case(
            "NOTIFY_BELL",
            "[notify]\nbell = false",
            "true",
            |c| c.notify.bell.to_string(),
            ["false", "true"],
        ),
        case(
            "NOTIFY_COMMAND",
            "[desk]\n[notify]\ncommand = [\"/bin/mail\", \"-q\"]",
            "/bin/send,it",
            |c| c.notify.command.join(" "),
            ["/bin/mail -q", "/bin/send it"],
        ),
        case(
            "NOTIFY_WITHIN_S",
            "[notify]\nwithin_s = 5",
            "6",
            |c| c.notify.within_s.to_string(),
            ["5", "6"],
        ),
        case(
            "NOTIFY_EVERY_S",
            "[notify]\nevery_s = 5",
            "6",
            |c| c.notify.every_s.to_string(),
            ["5", "6"],
        ),
        case(
            "NOTIFY_EVENTS",
            "[notify]\nevents = [\"waits\"]",
            "ended,waits",
            |c| format!("{:?}", c.notify.events),
            ["[Waits]", "[Ended, Waits]"],
        ),
        case(
            "DRILLS_EVERY",
            "[drills]\nevery = 25",
            "10",
            |c| c.drills.every.to_string(),
            ["25", "10"],
        ),
        case(
            "DRILLS_SEED",
            "[drills]\nevery = 25\nseed = 7",
            "8",
            |c| format!("{:?}", c.drills.seed),
            ["Some(7)", "Some(8)"],
        ),
        case(
            "AUDIT_RETENTION_DAYS",
            "[audit]\nretention_days = 7",
            "8",
            |c| c.audit.retention_days.to_string(),
            ["7", "8"],
        ),
        case(
            "AUDIT_RETENTION_BYTES",
            "[audit]\nretention_bytes = 7",
            "8",
            |c| c.audit.retention_bytes.to_string(),
            ["7", "8"],
        ),
        case(
            "AUDIT_RETENTION_CODE_DAYS",
            "[audit.retention]\ncode_days = 7",
            "8",
            |c| c.audit.retention.code.to_string(),
            ["7", "8"],
        ),
        case(
            "AUDIT_RETENTION_OUTPUT_DAYS",
            "[audit.retention]\noutput_days = 7",
            "8",
            |c| c.audit.retention.output.to_string(),
            ["7", "8"],
        ),
        case(
            "AUDIT_RETENTION_FILES_DAYS",
            "[audit.retention]\nfiles_days = 7",
            "8",
            |c| c.audit.retention.files.to_string(),
            ["7", "8"],
        ),
        case(
            "AUDIT_KEEP_CODE",
            "[audit]\nkeep_code = true",
            "false",
            |c| c.audit.keep_code.to_string(),
            ["true", "false"],
        ),
        case(
            "AUDIT_CHECKPOINTS",
            "[audit]\ncheckpoints = \"/srv/a\"",
            "/srv/b",
            |c| c.audit.checkpoints.as_ref().unwrap().display().to_string(),
            ["/srv/a", "/srv/b"],
        ),
        case(
            "AUDIT_ANCHOR_COMMAND",
            "[audit]\nanchor_command = [\"keep\", \"-q\"]",
            "send,it",
            |c| c.audit.anchor_command.join(" "),
            ["keep -q", "send it"],
        ),
        case(
            "AUDIT_KEY_COMMAND",
            "[audit]\nkey_command = [\"sign\", \"-q\"]",
            "card,it",
            |c| c.audit.key_command.join(" "),
            ["sign -q", "card it"],
        ),
        case(
            "AUDIT_KEY_PUBLIC",
            "[audit]\nkey_public = \"a+b+c\"",
            "/srv/key.pub",
            |c| c.audit.key_public.as_ref().unwrap().to_string(),
            ["a+b+c", "/srv/key.pub"],
        ),
        case(
            "AUDIT_WITNESSES",
            "[audit]\nwitnesses = [\"http://w.example a+b+c\"]",
            "http://x.example d+e+f",
            |c| c.audit.witnesses.join(" "),
            ["http://w.example a+b+c", "http://x.example d+e+f"],
        ),
        case(
            "AUDIT_WITNESS_CA",
            "[audit]\nwitness_ca = \"/srv/a.pem\"",
            "/srv/ca.pem",
            |c| c.audit.witness_ca.as_ref().unwrap().display().to_string(),
            ["/srv/a.pem", "/srv/ca.pem"],
        ),
        case(
            "AUDIT_HOLD",
            "[audit]\nhold = \"agent:etl\"",
            "data:staff",
            |c| c.audit.hold.join(" "),
            ["agent:etl", "data:staff"],
        ),
        case(
            "AUDIT_SECRETS_STAFF_NUMBER",
            "[audit.secrets]\nstaff-number = \"EMP-[0-9]{6}\"",
            "STAFF-[0-9]{6}",
            |c| found(c, "EMP-123456 STAFF-123456"),
            [
                "[REDACTED:staff-number] STAFF-123456",
                "EMP-123456 [REDACTED:staff-number]",
            ],
        ),
        case(
            "FEATURE_LIFT_ENABLED",
            "[feature.lift]\nenabled = false",
            "true",
            |c| c.feature.lift.to_string(),
            // The stricter value wins.
            ["false", "true"],
        ),
        case(
            "DESK_URL",
            "[desk]\nurl = \"postgresql://h@a/desk\"",
            "postgresql://h@b/desk",
            |c| desk(c).url.unwrap(),
            ["postgresql://h@a/desk", "postgresql://h@b/desk"],
        ),
        case(
            "DESK_NAME",
            "[desk]\nname = \"lab-1\"",
            "lab-2",
            |c| desk(c).name.unwrap(),
            ["lab-1", "lab-2"],
        ),
        case(
            "DESK_SIGNERS",
            "[desk]\nsigners = \"/srv/a\"",
            "/srv/b",
            |c| desk(c).signers.display().to_string(),
            ["/srv/a", "/srv/b"],
        ),
        case(
            "DESK_PEOPLE",
            "[desk]\npeople = \"/srv/a\"",
            "/srv/b",
            |c| desk(c).people.display().to_string(),
            ["/srv/a", "/srv/b"],
        ),
        case(
            "DESK_REVOKED",
            "[desk]\nrevoked = \"/srv/a\"",
            "/srv/b",
            |c| desk(c).revoked.display().to_string(),
            ["/srv/a", "/srv/b"],
        ),
        case(
            "DESK_HOSTS",
            "[desk]\nhosts = \"/srv/a\"",
            "/srv/b",
            |c| desk(c).hosts.display().to_string(),
            ["/srv/a", "/srv/b"],
        ),
        case(
            "DESK_SOCKET",
            "[desk]\nsocket = \"/srv/a\"",
            "/srv/b",
            |c| desk(c).socket.unwrap().display().to_string(),
            ["/srv/a", "/srv/b"],
        ),
        case(
            "DESK_PASSWORD_FILE",
            "[desk]\nurl = \"postgres://h@a/d\"\npassword_file = \"/srv/a\"",
            "/srv/b",
            |c| desk(c).password_file.unwrap().display().to_string(),
            ["/srv/a", "/srv/b"],
        ),
        case(
            "DESK_CA",
            "[desk]\nurl = \"postgres://h@a/d\"\nca = \"/srv/a\"",
            "/srv/b",
            |c| desk(c).ca.unwrap().display().to_string(),
            ["/srv/a", "/srv/b"],
        ),
        case(
            "DESK_KEY",
            "[desk]\nkey = \"/srv/id\"",
            "key::ssh-ed25519 AAAA",
            |c| format!("{:?}", desk(c).key.unwrap()),
            ["File(\"/srv/id\")", "Agent(\"ssh-ed25519 AAAA\")"],
        ),
        case(
            "DESK_ESCALATE_MIN",
            "[desk]\nescalate_min = 5",
            "7",
            |c| desk(c).escalate_min.to_string(),
            ["5", "7"],
        ),
        case(
            "KEYS_NEXT_PANE",
            "[keys]\nnext-pane = \"f2\"",
            "f3",
            |c| c.keys["next-pane"].clone(),
            ["f2", "f3"],
        ),
        case(
            "DATASETS_SALES_PATH",
            "[datasets.Sales]\npath = \"/a.csv\"\nsensitivity = \"private\"",
            "/b.tsv",
            |c| {
                format!(
                    "{:?} {:?}",
                    c.datasets["Sales"].path, c.datasets["Sales"].sensitivity
                )
            },
            ["\"/a.csv\" Private", "\"/b.tsv\" Private"],
        ),
        case(
            "DATASETS_SALES_SENSITIVITY",
            "[datasets.sales]\npath = \"/a.csv\"",
            "private",
            |c| {
                format!(
                    "{:?} {:?}",
                    c.datasets["sales"].path, c.datasets["sales"].sensitivity
                )
            },
            ["\"/a.csv\" Public", "\"/a.csv\" Private"],
        ),
    ]
}

/// A text as the log would keep it.
fn found(config: &Config, text: &str) -> String {
    let secrets = Secrets::of([], config.audit.secrets.iter().cloned());
    secrets.redact(text, &mut Counts::new()).into_owned()
}

fn desk(config: &Config) -> DeskConfig {
    config.desk.clone().unwrap()
}

fn suffix_of(variable: &'static str) -> &'static str {
    Box::leak(format!("COUNTERSIGN_{variable}").into_boxed_str())
}

#[test]
fn every_key_has_a_variable_that_outranks_the_files_and_a_flag_that_outranks_both() {
    for case in key_cases() {
        let name = case.variable;
        let mut home = Home::with(&format!("{}\n", case.file));
        let value_of =
            |home: &Home| (case.read)(&home.load().unwrap_or_else(|e| panic!("{name}: {e}")));
        assert_eq!(value_of(&home), case.is[0], "{name}: the file");
        if let Some(flag) = case.flag {
            // Clap merges a flag and its variable into one option; only the order remains to be
            // tested.
            flag(&mut home.options, case.value);
            assert_eq!(value_of(&home), case.is[1], "{name}: the flag");
            continue;
        }
        home.variables = vec![(suffix_of(name), "")];
        assert_eq!(value_of(&home), case.is[0], "{name}: empty is unset");
        home.variables = vec![(suffix_of(name), case.value)];
        assert_eq!(value_of(&home), case.is[1], "{name}: the variable");
        // An overlay is a file too.
        let over = Home::new();
        over.write("config/config.ci.toml", &format!("{}\n", case.file));
        let over = Home {
            overlay: Some("ci".to_owned()),
            variables: home.variables.clone(),
            ..over
        };
        assert_eq!(value_of(&over), case.is[1], "{name}: over the overlay");
    }
}

/// Every new key of the files needs a variable and a row in this table.
#[test]
fn every_key_of_the_files_is_among_the_cases() {
    let cases = key_cases();
    for (table, probe) in [
        ("", "x = 1\n"),
        ("queue", "[queue]\nx = 1\n"),
        ("socket", "[socket]\nx = 1\n"),
        ("run", "[run]\nx = 1\n"),
        ("audit", "[audit]\nx = 1\n"),
        ("audit.retention", "[audit.retention]\nx = 1\n"),
        ("notify", "[notify]\nx = 1\n"),
        ("drills", "[drills]\nx = 1\n"),
        ("feature.lift", "[feature.lift]\nx = 1\n"),
        ("desk", "[desk]\nx = 1\n"),
    ] {
        let error = Home::with(probe).load_error();
        let keys = error.rsplit(" are ").next().unwrap();
        for key in keys.split(", ") {
            let variable = match table {
                "" => key.to_uppercase(),
                table => format!(
                    "{}_{}",
                    table.to_uppercase().replace('.', "_"),
                    key.to_uppercase()
                ),
            };
            let tables = [
                "datasets",
                "queue",
                "socket",
                "run",
                "keys",
                "audit",
                "notify",
                "drills",
                "feature",
                "desk",
                "retention",
                "routes",
                "secrets",
            ];
            let known = cases.iter().any(|c| c.variable == variable);
            assert!(known || tables.contains(&key), "{variable}: {error}");
        }
    }
}

/// Each may add, and neither takes from the other, not even under the same name.
#[test]
fn patterns_of_the_administrator_and_of_the_user_are_both_looked_for() {
    let admin = "[audit.secrets]\nstaff = \"EMP-[0-9]{6}\"\n";
    let user = "[audit.secrets]\nstaff = \"STAFF-[0-9]{6}\"\nroom = \"ROOM-[0-9]{3}\"\n";
    let Some((mut home, loaded)) = load_under(admin, user) else {
        return;
    };
    let text = "EMP-123456 STAFF-123456 ROOM-123";
    let all = "[REDACTED:staff] [REDACTED:staff] [REDACTED:room]";
    assert_eq!(found(&loaded.unwrap(), text), all);
    home.variables = vec![("COUNTERSIGN_AUDIT_SECRETS_STAFF", "nothing")];
    let config = home.load().unwrap();
    assert!(found(&config, text).starts_with("[REDACTED:staff] STAFF-"));
}

#[test]
fn a_pattern_of_a_variable_that_is_none_is_named_with_its_character() {
    let mut home = Home::new();
    home.variables = vec![("COUNTERSIGN_AUDIT_SECRETS_STAFF", "EMP-(")];
    assert_eq!(
        home.load_error(),
        "COUNTERSIGN_AUDIT_SECRETS_STAFF: `audit.secrets.staff`, character 5: unclosed group"
    );
}

#[test]
fn the_administrator_binds_variables_and_flags_like_files() {
    let admin = "profiles = [\"analysis\"]\ntier = \"kernel\"\nttl_max_s = 100\n\
                 python = \"/usr/bin/python3\"\n[queue]\nmax_pending = 50\n[audit]\nretention_days = 3\n";
    let Some((mut home, loaded)) = load_under(admin, "") else {
        return;
    };
    loaded.unwrap();
    home.options.tier = Some("process".to_owned());
    home.variables = vec![
        ("COUNTERSIGN_TTL_MAX_S", "9000"),
        ("COUNTERSIGN_TTL_S", "5000"),
        ("COUNTERSIGN_QUEUE_MAX_PENDING", "9999"),
    ];
    let config = home.load().unwrap();
    assert_eq!(config.tier, Some(Tier::Kernel));
    assert_eq!((config.ttl_s, config.ttl_max_s), (100, 100));
    assert_eq!(config.queue.max_pending, 50);
    for (variable, value, words) in [
        (
            "COUNTERSIGN_PROFILES",
            "analysis,script",
            "profile `script` is not among those of admin/config.toml:1",
        ),
        (
            "COUNTERSIGN_AUDIT_RETENTION_DAYS",
            "1",
            "`audit.retention_days` is fixed to 3 by admin/config.toml:8",
        ),
    ] {
        home.variables = vec![(variable, value)];
        let error = home.load_error();
        assert!(
            error.starts_with(&format!("{variable}: ")) && error.contains(words),
            "{error}"
        );
    }
    home.variables = Vec::new();
    home.options.profile = Some("script".to_owned());
    let error = home.load_error();
    assert!(
        error.contains("--profile (or COUNTERSIGN_PROFILE): profile `script` is not among"),
        "{error}"
    );
}

#[test]
fn a_variable_without_a_meaning_stops_the_start_with_the_nearest_name() {
    for (name, near) in [
        ("COUNTERSIGN_TEIR", "COUNTERSIGN_TIER"),
        ("COUNTERSIGN_TIER_", "COUNTERSIGN_TIER"),
        ("COUNTERSIGN_tier", "COUNTERSIGN_TIER"),
        (
            "COUNTERSIGN_QUEUE_MAXPENDING",
            "COUNTERSIGN_QUEUE_MAX_PENDING",
        ),
        ("COUNTERSIGN_MAX_PENDING", "COUNTERSIGN_QUEUE_MAX_PENDING"),
        ("COUNTERSIGN_KEYS_GRNT", "COUNTERSIGN_KEYS_GRANT"),
        ("COUNTERSIGN_STATEDIR", "COUNTERSIGN_STATE_DIR"),
        ("COUNTERSIGN_DATASETS_SALES", ""),
        ("COUNTERSIGN_DATASETS__PATH", ""),
        ("COUNTERSIGN_", ""),
        ("COUNTERSIGN_QQQ", ""),
        ("COUNTERSIGN_\u{1b}[2J", ""),
    ] {
        let error = check_variables(&variables(&[(name, "x")]), &["grant", "next-pane"])
            .unwrap_err()
            .to_string();
        let start = format!("{}: unknown variable; ", name.escape_debug());
        assert!(
            error.starts_with(&start) && !error.contains('\u{1b}'),
            "{error}"
        );
        let hint = if near.is_empty() {
            ""
        } else {
            &format!("did you mean `{near}`?")
        };
        assert!(error.contains(hint), "{name}: {error}");
        // An empty variable counts as unset.
        check_variables(&variables(&[(name, "")]), &["grant"]).unwrap();
    }
    for known in [
        "COUNTERSIGN_ENV",
        "COUNTERSIGN_CONFIG",
        "COUNTERSIGN_KEYS_NEXT_PANE",
        "COUNTERSIGNED",
        "CS_TIER",
    ] {
        check_variables(&variables(&[(known, "x")]), &["grant", "next-pane"]).unwrap();
    }
    let mut home = Home::new();
    home.variables = vec![("COUNTERSIGN_TEIR", "kernel")];
    assert!(
        home.load_error()
            .contains("did you mean `COUNTERSIGN_TIER`?")
    );
}

#[test]
fn a_variable_meets_the_checks_of_its_key_and_is_named() {
    for (name, value, words) in [
        (
            "COUNTERSIGN_TTL_S",
            "0",
            "`ttl_s` must be a whole number from 1",
        ),
        (
            "COUNTERSIGN_TTL_S",
            "soon",
            "`ttl_s` must be a whole number from 1",
        ),
        (
            "COUNTERSIGN_TTL_S",
            "7\ntier = \"process\"",
            "`ttl_s` must be a whole number",
        ),
        (
            "COUNTERSIGN_RUN_KILL_ON_DISCONNECT",
            "yes",
            "must be true or false",
        ),
        ("COUNTERSIGN_SOCKET_ALLOW_UIDS", "1,x", "a list of user ids"),
        (
            "COUNTERSIGN_SOCKET_ALLOW_UIDS",
            "[1]\nx = 1",
            "a list of user ids",
        ),
        ("COUNTERSIGN_PROFILES", "chart,chart", "names `chart` twice"),
        (
            "COUNTERSIGN_DATASETS_SALES_PATH",
            "sales.xlsx",
            "extension decides",
        ),
        (
            "COUNTERSIGN_DATASETS_SALES_SENSITIVITY",
            "private",
            "has no `path`",
        ),
        (
            "COUNTERSIGN_DATASETS_TWO_SENSITIVITY",
            "private",
            "it stands for each of the data sets TWO, two",
        ),
    ] {
        let mut home =
            Home::with("[datasets.two]\npath = \"/a.csv\"\n[datasets.TWO]\npath = \"/b.csv\"\n");
        home.variables = vec![(name, value)];
        let error = home.load_error();
        assert!(
            error.starts_with(&format!("{name}: ")) && error.contains(words),
            "{error}"
        );
    }
    let mut home = Home::new();
    home.options.tier = Some("kernal".to_owned());
    let error = home.load_error();
    assert!(
        error.contains("--tier (or COUNTERSIGN_TIER)") && error.contains("did you mean `kernel`?"),
        "{error}"
    );
}
