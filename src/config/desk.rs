//! `[desk]`: where people vote together, who they are, and the engine that carries it between machines.
//!
//! The administrator's file binds whom a machine believes: if it has `[desk]`, the names of the files of people and keys are its
//! own, those that it leaves out too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::model::{ALL_DATA, Role, Routes, did_you_mean};

use super::error::{ConfigError, Origin};
use super::keys;
use super::merge::fixed;
use super::table::{Set, Table};

const FOLDER: &str = "/etc/countersign/desk";
/// `sun_path` has room for these bytes and a zero.
const SOCKET_BYTES_MAX: usize = 107;
/// A day.
const ESCALATE_MAX: u64 = 24 * 60;
const ESCALATE: u64 = 10;

/// `[desk]`. It only names things; what reads a file checks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeskConfig {
    /// Where PostgreSQL is; without it only `socket` is used. It holds no password.
    pub url: Option<String>,
    /// The password of the URL's user, in a file that only its reader can read.
    pub password_file: Option<PathBuf>,
    /// Certificates of authorities beside this machine's, for the engine.
    pub ca: Option<PathBuf>,
    /// This host's name: 1 to 64 of `A-Z a-z 0-9 . _ -`.
    pub name: Option<String>,
    /// Whose keys count, as `allowed_signers` of OpenSSH.
    pub signers: PathBuf,
    /// Who they are: roles and uids.
    pub people: PathBuf,
    /// Keys that no longer count.
    pub revoked: PathBuf,
    /// Which host key is which host, for reviewers.
    pub hosts: PathBuf,
    /// What a reviewer signs with.
    pub key: Option<DeskKey>,
    /// Where other people of this machine vote.
    pub socket: Option<PathBuf>,
    /// After how many minutes everybody else who may decide is asked too; 0 for never.
    pub escalate_min: u64,
    /// Which roles see what uses which data set.
    pub routes: Routes,
}

/// A reviewer's key, as `ssh-keygen -Y sign -f` and git's `user.signingKey` take one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeskKey {
    /// What follows `key::`: a public key whose private one an agent has.
    Agent(String),
    File(PathBuf),
}

/// `[desk]` of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct DeskLayer {
    /// Whether the file has the table, if only an empty one.
    table: Option<Origin>,
    url: Option<Set<String>>,
    password_file: Option<Set<PathBuf>>,
    ca: Option<Set<PathBuf>>,
    name: Option<Set<String>>,
    signers: Option<Set<PathBuf>>,
    people: Option<Set<PathBuf>>,
    revoked: Option<Set<PathBuf>>,
    hosts: Option<Set<PathBuf>>,
    key: Option<Set<DeskKey>>,
    socket: Option<Set<PathBuf>>,
    escalate_min: Option<Set<u64>>,
    routes: BTreeMap<String, Set<BTreeSet<Role>>>,
}

impl DeskLayer {
    /// The table of a file whose relative paths begin at `folder`.
    pub fn read(top: &Table<'_>, folder: &Path) -> Result<Self, ConfigError> {
        let Some(desk) = top.table("desk")? else {
            return Ok(Self::default());
        };
        desk.only(&[&keys::in_table("desk")[..], &["routes"]].concat())?;
        let path = |key: &str| -> Result<Option<Set<PathBuf>>, ConfigError> {
            let text = desk.filled(key)?;
            text.map(|set| at_home(&desk, key, set, folder)).transpose()
        };
        Ok(Self {
            table: top.key_span("desk").map(|span| top.source.origin(&span)),
            url: desk.filled("url")?.map(checked_url).transpose()?,
            password_file: path("password_file")?,
            ca: path("ca")?,
            name: desk.filled("name")?.map(checked_name).transpose()?,
            signers: path("signers")?,
            people: path("people")?,
            revoked: path("revoked")?,
            hosts: path("hosts")?,
            key: match desk.filled("key")? {
                None => None,
                Some(set) => Some(match set.value.strip_prefix("key::") {
                    Some(key) => key_of_agent(key, set.origin.clone())?,
                    None => at_home(&desk, "key", set, folder)?.map(DeskKey::File),
                }),
            },
            socket: path("socket")?.map(checked_socket).transpose()?,
            escalate_min: desk.integer("escalate_min", 0..=ESCALATE_MAX)?,
            routes: routes(&desk)?,
        })
    }

    pub fn over(below: Self, above: Self) -> Self {
        Self {
            table: above.table.or(below.table),
            url: above.url.or(below.url),
            password_file: above.password_file.or(below.password_file),
            ca: above.ca.or(below.ca),
            name: above.name.or(below.name),
            signers: above.signers.or(below.signers),
            people: above.people.or(below.people),
            revoked: above.revoked.or(below.revoked),
            hosts: above.hosts.or(below.hosts),
            key: above.key.or(below.key),
            socket: above.socket.or(below.socket),
            escalate_min: above.escalate_min.or(below.escalate_min),
            routes: below.routes.into_iter().chain(above.routes).collect(),
        }
    }

    /// `None` if neither has the table. `datasets`: the names of the configured ones. `note` hears where the URL was set.
    pub fn merge(
        admin: Self,
        mine: Self,
        datasets: &BTreeSet<&str>,
        note: &mut impl FnMut(&str, Option<&Origin>),
    ) -> Result<Option<DeskConfig>, ConfigError> {
        if admin.table.is_none() && mine.table.is_none() {
            return Ok(None);
        }
        let show = |path: &PathBuf| path.display().to_string();
        let bound = |key: &str, admin: &Option<Set<PathBuf>>, mine: &Option<Set<PathBuf>>| {
            fixed(&format!("desk.{key}"), admin, mine, show)
        };
        // Whoever could name another list of people would decide who counts.
        let file = |key: &str, admins: &Option<Set<PathBuf>>, mine: &Option<Set<PathBuf>>| {
            let standard = Path::new(FOLDER).join(match key {
                "signers" => "allowed_signers",
                "people" => "people.toml",
                "revoked" => "revoked_keys",
                _ => "hosts",
            });
            let own = admin.table.clone().map(|origin| Set {
                value: standard.clone(),
                origin,
            });
            let set = bound(key, &admins.clone().or(own), mine)?;
            Ok::<_, ConfigError>(set.map_or(standard, |set| set.value))
        };
        let url = fixed("desk.url", &admin.url, &mine.url, String::clone)?;
        let ca = bound("ca", &admin.ca, &mine.ca)?;
        let name = fixed("desk.name", &admin.name, &mine.name, String::clone)?;
        let socket = bound("socket", &admin.socket, &mine.socket)?;
        let escalate = fixed(
            "desk.escalate_min",
            &admin.escalate_min,
            &mine.escalate_min,
            u64::to_string,
        )?;
        let password_file = mine.password_file.or(admin.password_file);
        if url.is_none() {
            for (key, set) in [("password_file", &password_file), ("ca", &ca)] {
                if let Some(set) = set {
                    return Err(ConfigError::value(
                        set.origin.clone(),
                        format!(
                            "`desk.{key}` does nothing without an engine; set `desk.url` to where PostgreSQL is, such as \
                             postgresql://host_lab1@db.example.org/desk, or leave `{key}` out"
                        ),
                    ));
                }
            }
        }
        for (name, set) in &mine.routes {
            let known = name == ALL_DATA || datasets.contains(name.as_str());
            if !known {
                let names = datasets.iter().copied();
                return Err(ConfigError::value(
                    set.origin.clone(),
                    format!(
                        "`desk.routes.{name}` is of no data set of [datasets]{}; `\"*\"` is for all that this host offers",
                        did_you_mean(name, names)
                    ),
                ));
            }
        }
        let mut routes = BTreeMap::new();
        for name in admin.routes.keys().chain(mine.routes.keys()) {
            let both = (
                admin.routes.get(name).cloned(),
                mine.routes.get(name).cloned(),
            );
            let listed = |roles: &BTreeSet<Role>| {
                let roles: Vec<&str> = roles.iter().map(Role::as_str).collect();
                format!("{roles:?}")
            };
            let set = fixed(&format!("desk.routes.{name}"), &both.0, &both.1, listed)?;
            routes.extend(set.map(|set| (name.clone(), set.value)));
        }
        note("desk.url", url.as_ref().map(|set| &set.origin));
        note("desk.ca", ca.as_ref().map(|set| &set.origin));
        let password = password_file.as_ref();
        note("desk.password_file", password.map(|set| &set.origin));
        let value = |set: Option<Set<PathBuf>>| set.map(|set| set.value);
        Ok(Some(DeskConfig {
            url: url.map(|set| set.value),
            password_file: value(password_file),
            ca: value(ca),
            name: name.map(|set| set.value),
            signers: file("signers", &admin.signers, &mine.signers)?,
            people: file("people", &admin.people, &mine.people)?,
            revoked: file("revoked", &admin.revoked, &mine.revoked)?,
            hosts: file("hosts", &admin.hosts, &mine.hosts)?,
            key: mine.key.or(admin.key).map(|set| set.value),
            socket: value(socket),
            escalate_min: escalate.map_or(ESCALATE, |set| set.value),
            routes: Routes(routes),
        }))
    }
}

/// `[desk.routes]`: lists of roles by data set.
fn routes(desk: &Table<'_>) -> Result<BTreeMap<String, Set<BTreeSet<Role>>>, ConfigError> {
    let mut all = BTreeMap::new();
    let Some(table) = desk.table("routes")? else {
        return Ok(all);
    };
    for (key, _) in table.entries() {
        let name: &str = key.get_ref();
        let wanted = "a list of roles, as in [\"clinical\"]";
        let role = |v: &toml::de::DeValue<'_>| Role::new(v.as_str()?).ok();
        let Some(list) = table.list(name, wanted, role)? else {
            continue;
        };
        if list.value.is_empty() {
            let name = table.full(name).escape_debug().to_string();
            return Err(ConfigError::value(
                list.origin,
                format!(
                    "`{name}` has no role, so nobody would see it; write {wanted}, or leave it out for everybody"
                ),
            ));
        }
        let roles = list.map(|list| list.into_iter().map(|set| set.value).collect());
        all.insert(name.to_owned(), roles);
    }
    Ok(all)
}

/// A path; `~/` is the home folder, else a relative one begins at `folder`.
fn at_home(
    desk: &Table<'_>,
    key: &str,
    set: Set<String>,
    folder: &Path,
) -> Result<Set<PathBuf>, ConfigError> {
    if set.value.contains('\0') {
        let what = format!("`{}` has a zero byte, which no path has", desk.full(key));
        return Err(ConfigError::value(set.origin, what));
    }
    let Some(below) = set.value.strip_prefix("~/") else {
        return Ok(set.map(|path| folder.join(path)));
    };
    match etcetera::home_dir() {
        Ok(home) => Ok(Set {
            value: home.join(below),
            origin: set.origin,
        }),
        Err(_) => Err(ConfigError::value(
            set.origin,
            format!(
                "`{}` begins with `~/`, and no home folder is known: set HOME, or write the whole path",
                desk.full(key)
            ),
        )),
    }
}

/// Only what must not even be kept; the engine's client reads the rest.
fn checked_url(url: Set<String>) -> Result<Set<String>, ConfigError> {
    let error = |what: &str| Err(ConfigError::value(url.origin.clone(), what));
    let schemes = ["postgresql://", "postgres://"];
    let Some(rest) = schemes.iter().find_map(|s| url.value.strip_prefix(s)) else {
        return error(
            "`desk.url` must begin with postgresql://, as in postgresql://host_lab1@db.example.org/desk",
        );
    };
    if !rest.bytes().all(|b| b.is_ascii_graphic()) {
        return error(
            "`desk.url` has a blank or a character that is not ASCII; write such as %20, two digits for each byte",
        );
    }
    let (before, options) = rest.split_once('?').unwrap_or((rest, ""));
    let user = before.rsplit_once('@').map_or("", |(user, _)| user);
    let mut names = options.split('&').map(|o| o.split('=').next());
    if user.contains(':') || names.any(|name| name == Some("password")) {
        return error(
            "`desk.url` has a password; write it into a file that only you can read, and name that by `desk.password_file`",
        );
    }
    Ok(url)
}

fn checked_name(name: Set<String>) -> Result<Set<String>, ConfigError> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    match name.value.len() <= 64 && name.value.bytes().all(fits) {
        true => Ok(name),
        false => Err(ConfigError::value(
            name.origin,
            format!(
                "`desk.name` is `{}`; a host's name is 1 to 64 of A-Z a-z 0-9 . _ -",
                name.value
                    .chars()
                    .take(80)
                    .collect::<String>()
                    .escape_debug()
            ),
        )),
    }
}

fn key_of_agent(key: &str, origin: Origin) -> Result<Set<DeskKey>, ConfigError> {
    let kind = key.split(' ').next().unwrap_or_default();
    let known = ["ssh-", "sk-ssh-", "ecdsa-", "sk-ecdsa-"];
    let is_key = known.iter().any(|start| kind.starts_with(start)) && key.contains(' ');
    match is_key && !key.contains(char::is_control) {
        true => Ok(Set {
            value: DeskKey::Agent(key.to_owned()),
            origin,
        }),
        false => Err(ConfigError::value(
            origin,
            "`desk.key` has no public key behind `key::`, as in \"key::ssh-ed25519 AAAA…\", one line of a file that ends with .pub",
        )),
    }
}

fn checked_socket(path: Set<PathBuf>) -> Result<Set<PathBuf>, ConfigError> {
    let bytes = path.value.as_os_str().len();
    match bytes <= SOCKET_BYTES_MAX {
        true => Ok(path),
        false => Err(ConfigError::value(
            path.origin,
            format!(
                "`desk.socket` has {bytes} bytes; the path of a socket has {SOCKET_BYTES_MAX} at most"
            ),
        )),
    }
}
