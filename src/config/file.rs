//! Reads and checks one configuration file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use crate::model::{DataFormat, Sensitivity, Tier};

use super::desk::DeskLayer;
use super::error::ConfigError;
use super::identifier::check_identifier;
use super::keys;
use super::notify::NotifyLayer;
use super::table::{Set, Source, SourceKind, Table};
use super::{Dataset, PublicKey};
use crate::model::did_you_mean;
use crate::secrets::Pattern;

/// Each text of a record is searched for each of them.
const SECRETS_MAX: usize = 32;
/// One year: longer than any reasonable wait, short enough that no clock overflows.
const SECONDS_MAX: u64 = 365 * 24 * 3600;
const PENDING_MAX: u64 = 1_000_000;
/// Each connection is an open file.
const CONNECTIONS_MAX: u64 = 16_384;
const RETENTION_DAYS_MAX: u64 = 36_500;
const RETENTION_BYTES_MAX: u64 = 1 << 50;
/// With more decisions between them, drills would tell nothing.
const DRILLS_EVERY_MAX: u64 = 10_000;
/// The largest number of TOML.
const SEED_MAX: u64 = i64::MAX as u64;

/// The values that one file sets; `None` for those that it does not.
#[derive(Clone, Debug, Default)]
pub(super) struct Layer {
    pub profile: Option<Set<String>>,
    pub profiles: Option<Set<Vec<Set<String>>>>,
    pub tier: Option<Set<Tier>>,
    pub theme: Option<Set<String>>,
    pub charset: Option<Set<String>>,
    pub mouse: Option<Set<bool>>,
    pub python: Option<Set<PathBuf>>,
    pub ttl_s: Option<Set<u64>>,
    pub ttl_max_s: Option<Set<u64>>,
    pub datasets: BTreeMap<String, Set<Dataset>>,
    pub max_pending: Option<Set<u64>>,
    pub max_pending_per_peer: Option<Set<u64>>,
    pub max_connections: Option<Set<u64>>,
    pub allow_uids: Option<Set<Vec<u32>>>,
    pub group: Option<Set<String>>,
    pub kill_on_disconnect: Option<Set<bool>>,
    pub keys: BTreeMap<String, Set<String>>,
    pub retention_days: Option<Set<u64>>,
    pub code_days: Option<Set<u64>>,
    pub output_days: Option<Set<u64>>,
    pub files_days: Option<Set<u64>>,
    pub retention_bytes: Option<Set<u64>>,
    pub keep_code: Option<Set<bool>>,
    pub checkpoints: Option<Set<PathBuf>>,
    pub anchor_command: Option<Set<Vec<String>>>,
    pub key_command: Option<Set<Vec<String>>>,
    pub key_public: Option<Set<PublicKey>>,
    pub witnesses: Option<Set<Vec<String>>>,
    pub witness_ca: Option<Set<PathBuf>>,
    pub hold: Option<Set<String>>,
    pub secrets: BTreeMap<String, Pattern>,
    pub notify: NotifyLayer,
    pub drills_every: Option<Set<u64>>,
    pub drills_seed: Option<Set<u64>>,
    pub lift: Option<Set<bool>>,
    pub desk: DeskLayer,
}

impl Layer {
    /// Parses the text of the file at `path`, which must be absolute: paths in the text are relative to its
    /// folder.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let folder = path.parent().unwrap_or(Path::new("/"));
        let place = SourceKind::File(path);
        Self::read(Source { place, text }, folder)
    }

    /// Parses `source`; paths in it are relative to `folder`.
    pub fn read(source: Source<'_>, folder: &Path) -> Result<Self, ConfigError> {
        let document = DeTable::parse(source.text).map_err(|e| {
            let span = e.span().unwrap_or(0..0);
            source.error(&span, e.message().trim_end())
        })?;
        let top = Table::new(source, "", document.get_ref());
        if let Some(span) = top.key_span("modules") {
            return Err(source.error(
                &span,
                "[modules] is reserved for later and does nothing yet; leave it out",
            ));
        }
        top.only(&keys::top_level())?;
        let mut layer = Self {
            profile: top.filled("profile")?,
            profiles: profiles(&top)?,
            tier: tier(&top)?,
            theme: top.filled("theme")?,
            charset: charset(&top)?,
            mouse: top.boolean("mouse")?,
            python: top.filled("python")?.map(|set| set.map(|p| folder.join(p))),
            ttl_s: top.integer("ttl_s", 1..=SECONDS_MAX)?,
            ttl_max_s: top.integer("ttl_max_s", 1..=SECONDS_MAX)?,
            datasets: datasets(&top, folder)?,
            desk: DeskLayer::read(&top, folder)?,
            notify: NotifyLayer::read(&top)?,
            ..Self::default()
        };
        if let Some(queue) = top.table("queue")? {
            queue.only(&keys::in_table("queue"))?;
            layer.max_pending = queue.integer("max_pending", 1..=PENDING_MAX)?;
            layer.max_pending_per_peer = queue.integer("max_pending_per_peer", 1..=PENDING_MAX)?;
        }
        if let Some(socket) = top.table("socket")? {
            socket.only(&keys::in_table("socket"))?;
            layer.allow_uids = allow_uids(&socket)?;
            layer.max_connections = socket.integer("max_connections", 2..=CONNECTIONS_MAX)?;
            // May be empty: that is the documented default, the user's own group.
            layer.group = socket.string("group")?;
        }
        if let Some(run) = top.table("run")? {
            run.only(&keys::in_table("run"))?;
            layer.kill_on_disconnect = run.boolean("kill_on_disconnect")?;
        }
        if let Some(keys) = top.table("keys")? {
            for (name, _) in keys.entries() {
                if let Some(key) = keys.filled(name.get_ref())? {
                    layer.keys.insert(name.get_ref().clone().into_owned(), key);
                }
            }
        }
        if let Some(audit) = top.table("audit")? {
            audit.only(&[&keys::in_table("audit")[..], &["retention", "secrets"]].concat())?;
            layer.secrets = secrets(&audit)?;
            if let Some(kinds) = audit.table("retention")? {
                kinds.only(&keys::in_table("audit.retention"))?;
                let days = |key| kinds.integer(key, 0..=RETENTION_DAYS_MAX);
                layer.code_days = days("code_days")?;
                layer.output_days = days("output_days")?;
                layer.files_days = days("files_days")?;
            }
            layer.keep_code = audit.boolean("keep_code")?;
            let checkpoints = audit.filled("checkpoints")?;
            layer.checkpoints = checkpoints.map(|set| set.map(|p| folder.join(p)));
            layer.anchor_command = command(&audit, "anchor_command")?;
            layer.key_command = command(&audit, "key_command")?;
            let key = audit.filled("key_public")?;
            layer.key_public = key.map(|set| set.map(|text| PublicKey::of(text, folder)));
            layer.witnesses = texts(&audit, "witnesses", "a list of `https://host/prefix KEY`")?;
            let authorities = audit.filled("witness_ca")?;
            layer.witness_ca = authorities.map(|set| set.map(|p| folder.join(p)));
            layer.hold = audit.string("hold")?;
            layer.retention_bytes = audit.integer("retention_bytes", 0..=RETENTION_BYTES_MAX)?;
            layer.retention_days = audit.integer("retention_days", 0..=RETENTION_DAYS_MAX)?;
        }
        if let Some(drills) = top.table("drills")? {
            drills.only(&keys::in_table("drills"))?;
            layer.drills_every = drills.integer("every", 0..=DRILLS_EVERY_MAX)?;
            layer.drills_seed = drills.integer("seed", 0..=SEED_MAX)?;
        }
        if let Some(feature) = top.table("feature")? {
            feature.only(&["lift"])?;
            if let Some(lift) = feature.table("lift")? {
                lift.only(&keys::in_table("feature.lift"))?;
                layer.lift = lift.boolean("enabled")?;
            }
        }
        Ok(layer)
    }
}

/// What the terminal can be sent.
const CHARSETS: [&str; 3] = ["auto", "utf-8", "ascii"];

fn charset(top: &Table<'_>) -> Result<Option<Set<String>>, ConfigError> {
    let set = top.string("charset")?;
    match set {
        Some(set) if !CHARSETS.contains(&set.value.as_str()) => {
            let message = format!(
                "unknown charset `{}`{}; there are {}",
                set.value.escape_debug(),
                did_you_mean(&set.value, CHARSETS),
                CHARSETS.join(", ")
            );
            Err(ConfigError::value(set.origin, message))
        }
        set => Ok(set),
    }
}

fn tier(top: &Table<'_>) -> Result<Option<Set<Tier>>, ConfigError> {
    top.string("tier")?.map(known_tier).transpose()
}

/// The tier of this name.
pub(super) fn known_tier(set: Set<String>) -> Result<Set<Tier>, ConfigError> {
    match set.value.parse::<Tier>() {
        Ok(tier) => Ok(set.map(|_| tier)),
        Err(unknown) => {
            let hint = did_you_mean(&set.value, Tier::ALL.map(Tier::as_str));
            Err(ConfigError::value(set.origin, format!("{unknown}{hint}")))
        }
    }
}

fn profiles(top: &Table<'_>) -> Result<Option<Set<Vec<Set<String>>>>, ConfigError> {
    let list = top.list("profiles", "a list of profile names", |v| {
        v.as_str().filter(|s| !s.is_empty()).map(str::to_owned)
    })?;
    let Some(list) = list else { return Ok(None) };
    if list.value.is_empty() {
        return Err(ConfigError::value(
            list.origin,
            "`profiles` is empty, so no proposal could be made; name at least one",
        ));
    }
    for (i, profile) in list.value.iter().enumerate() {
        if list.value[..i].iter().any(|p| p.value == profile.value) {
            return Err(ConfigError::value(
                profile.origin.clone(),
                format!("`profiles` names `{}` twice", profile.value.escape_debug()),
            ));
        }
    }
    Ok(Some(list))
}

fn allow_uids(socket: &Table<'_>) -> Result<Option<Set<Vec<u32>>>, ConfigError> {
    let list = socket.list("allow_uids", "a list of user ids, such as [1001]", |v| {
        let DeValue::Integer(number) = v else {
            return None;
        };
        // 4294967295 means "no user" to the kernel.
        u32::from_str_radix(number.as_str(), number.radix())
            .ok()
            .filter(|uid| *uid != u32::MAX)
    })?;
    Ok(list.map(|set| set.map(|uids| uids.into_iter().map(|uid| uid.value).collect())))
}

/// A program and its arguments; none if the list is empty.
pub(super) fn command(
    table: &Table<'_>,
    key: &str,
) -> Result<Option<Set<Vec<String>>>, ConfigError> {
    let list = texts(table, key, "a program and its arguments, each a text")?;
    match list {
        Some(list) if list.value.first().is_some_and(String::is_empty) => {
            let name = table.full(key);
            let what = format!("the first item of `{name}` names the program, and it is empty");
            Err(ConfigError::value(list.origin, what))
        }
        list => Ok(list),
    }
}

fn texts(
    table: &Table<'_>,
    key: &str,
    wanted: &str,
) -> Result<Option<Set<Vec<String>>>, ConfigError> {
    let list = table.list(key, wanted, |v| {
        v.as_str().filter(|s| !s.contains('\0')).map(str::to_owned)
    })?;
    let plain = |all: Vec<Set<String>>| all.into_iter().map(|one| one.value).collect();
    Ok(list.map(|list| list.map(plain)))
}

/// `[audit.secrets]`: expressions by the kind that takes the place of what they match.
fn secrets(audit: &Table<'_>) -> Result<BTreeMap<String, Pattern>, ConfigError> {
    let mut all = BTreeMap::new();
    let Some(table) = audit.table("secrets")? else {
        return Ok(all);
    };
    for (key, _) in table.entries() {
        let name: &str = key.get_ref();
        let error = |what: String| table.source.error(&key.span(), what);
        if let Some(rule) = Pattern::check_name(name) {
            let name = name.escape_debug();
            return Err(error(format!(
                "`{name}` cannot name a kind of secrets: {rule}"
            )));
        }
        if all.len() == SECRETS_MAX {
            return Err(error(format!(
                "`{}` has more than {SECRETS_MAX} patterns",
                table.name
            )));
        }
        let Some(expression) = table.filled(name)? else {
            continue;
        };
        let pattern = Pattern::new(name, &expression.value).map_err(|fault| {
            let span = table.value_span(name).unwrap_or_default();
            let place = fault
                .at
                .map(|at| table.source.place_in(&span, &expression.value, at));
            let place = place.map_or_else(String::new, |place| format!(", {place}"));
            let what = format!("`{}`{place}: {}", table.full(name), fault.why);
            ConfigError::value(expression.origin.clone(), what)
        })?;
        all.insert(name.to_owned(), pattern);
    }
    Ok(all)
}

fn datasets(top: &Table<'_>, folder: &Path) -> Result<BTreeMap<String, Set<Dataset>>, ConfigError> {
    let mut all = BTreeMap::new();
    let Some(section) = top.table("datasets")? else {
        return Ok(all);
    };
    for (key, _) in section.entries() {
        let name: &str = key.get_ref();
        if let Err(why) = check_identifier(name) {
            return Err(section.source.error(
                &key.span(),
                format!(
                    "`{}` cannot name a data set: {why}; code uses it as a Python name",
                    name.escape_debug()
                ),
            ));
        }
        let Some(table) = section.table(name)? else {
            continue;
        };
        let set = Set {
            value: dataset(&table, folder, &key.span())?,
            origin: section.source.origin(&key.span()),
        };
        all.insert(name.to_owned(), set);
    }
    Ok(all)
}

fn dataset(
    table: &Table<'_>,
    folder: &Path,
    key: &std::ops::Range<usize>,
) -> Result<Dataset, ConfigError> {
    table.only(&keys::DATASET)?;
    let Some(path) = table.filled("path")? else {
        return Err(table
            .source
            .error(key, format!("[{}] has no `path`", table.name)));
    };
    let extension = Path::new(&path.value)
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default()
        .to_lowercase();
    let mut known = DataFormat::DATASETS.into_iter();
    let Some(format) = known.find(|format| format.as_str() == extension) else {
        return Err(ConfigError::value(
            path.origin,
            format!(
                "`{}`: the file's extension decides how it is read and must be .csv, .tsv, .json, \
                 .jsonl or .parquet",
                table.full("path")
            ),
        ));
    };
    let sensitivity = match table.string("sensitivity")? {
        None => Sensitivity::default(),
        Some(set) => match set.value.as_str() {
            "public" => Sensitivity::Public,
            "private" => Sensitivity::Private,
            other => {
                return Err(ConfigError::value(
                    set.origin,
                    format!(
                        "`{}` is \"public\" or \"private\", not \"{}\"{}",
                        table.full("sensitivity"),
                        other.escape_debug(),
                        did_you_mean(other, ["public", "private"])
                    ),
                ));
            }
        },
    };
    Ok(Dataset {
        path: folder.join(&path.value),
        format,
        sensitivity,
    })
}
