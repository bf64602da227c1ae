//! The `COUNTERSIGN_…` variables. Every key of `config.toml` has one. An unknown variable stops the start.
//!
//! A variable is translated into an equivalent line of a file, so that both go through the same checks.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use super::Dataset;
use super::error::{ConfigError, Origin};
use super::file::Layer;
use super::keys::{DATASET, KEYS, Key, ValueSyntax};
use super::merge::over;
use super::table::{Set, Source, SourceKind};
use crate::model::Sensitivity;
use crate::model::nearest;

const PREFIX: &str = "COUNTERSIGN_";

/// Variables that are read elsewhere: those of the global flags, and `COUNTERSIGN_ENV`.
const ELSEWHERE: [&str; 9] = [
    "CONFIG",
    "SOCKET",
    "STATE_DIR",
    "POLICY_DIR",
    "PYTHON",
    "TIER",
    "PROFILE",
    "THEME",
    "ENV",
];

/// The variables whose names begin with `COUNTERSIGN_`. An empty one counts as unset.
#[derive(Clone, Debug, Default)]
pub struct Variables(Vec<(String, OsString)>);

/// What a variable sets.
enum Meaning {
    Elsewhere,
    Key(Key),
    /// The key binding of this action.
    Binding(String),
    /// The pattern of this name.
    Pattern(String),
    /// A data set, by its name in capitals, and the key of its table.
    Dataset(String, &'static str),
}

impl Variables {
    /// The variables of this process.
    pub fn of_process() -> Self {
        std::env::vars_os().collect()
    }

    /// The layer that the variables set. `below` are the data sets of the layers below, the weakest first: a
    /// variable may change a single key of a data set.
    pub(super) fn layer<'a>(
        &self,
        below: impl Iterator<Item = &'a BTreeMap<String, Set<Dataset>>>,
    ) -> Result<Layer, ConfigError> {
        let mut datasets = BTreeMap::new();
        for (name, set) in below.flatten() {
            datasets.insert(name.as_str(), &set.value);
        }
        // Relative paths start at the working directory.
        let here = std::path::absolute(".").unwrap_or_else(|_| "/".into());
        let mut layer = Layer::default();
        let mut described: BTreeMap<String, Described> = BTreeMap::new();
        for (name, value) in &self.0 {
            let Some(meaning) = meaning(name) else {
                return Err(unknown(name, &[]));
            };
            if matches!(meaning, Meaning::Elsewhere) {
                continue;
            }
            let Some(value) = value.to_str() else {
                return Err(refuse(name, "it is not UTF-8"));
            };
            let line = match meaning {
                Meaning::Elsewhere => continue,
                Meaning::Key(key) => line(key.table, key.name, &literal(key.kind, value)),
                Meaning::Binding(action) => {
                    line("keys", &text(&action), &literal(ValueSyntax::Text, value))
                }
                Meaning::Pattern(pattern) => {
                    let value = literal(ValueSyntax::Text, value);
                    line("audit.secrets", &text(&pattern), &value)
                }
                Meaning::Dataset(upper, key) => {
                    let known = dataset_name(name, &upper, datasets.keys().copied())?;
                    let one = described.entry(known).or_default();
                    one.variable.clone_from(name);
                    match key {
                        "path" => one.path = Some(here.join(value).display().to_string()),
                        _ => one.sensitivity = Some(value.to_owned()),
                    }
                    continue;
                }
            };
            layer = over(layer, read(name, &line, &here)?);
        }
        for (name, one) in described {
            let line = one.line(&name, datasets.get(name.as_str()).copied());
            layer = over(layer, read(&one.variable, &line, &here)?);
        }
        Ok(layer)
    }
}

impl FromIterator<(OsString, OsString)> for Variables {
    fn from_iter<T: IntoIterator<Item = (OsString, OsString)>>(all: T) -> Self {
        let mut ours: Vec<_> = all
            .into_iter()
            .map(|(name, value)| (name.to_string_lossy().into_owned(), value))
            .filter(|(name, value)| name.starts_with(PREFIX) && !value.is_empty())
            .collect();
        ours.sort();
        Self(ours)
    }
}

/// Refuses an unknown variable. `actions` are the names that `[keys]` knows.
pub fn check(variables: &Variables, actions: &[&str]) -> Result<(), ConfigError> {
    for (name, _) in &variables.0 {
        match meaning(name) {
            Some(Meaning::Binding(action)) if !actions.contains(&action.as_str()) => {}
            Some(_) => continue,
            None => {}
        }
        return Err(unknown(name, actions));
    }
    Ok(())
}

fn meaning(name: &str) -> Option<Meaning> {
    let rest = name.strip_prefix(PREFIX)?;
    if ELSEWHERE.contains(&rest) {
        return Some(Meaning::Elsewhere);
    }
    if let Some(key) = KEYS.iter().find(|key| key.variable() == name) {
        return Some(Meaning::Key(*key));
    }
    let capitals = |text: &str| {
        let one = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
        !text.is_empty() && text.bytes().all(one)
    };
    if let Some(action) = rest.strip_prefix("KEYS_").filter(|a| capitals(a)) {
        return Some(Meaning::Binding(action.to_lowercase().replace('_', "-")));
    }
    if let Some(pattern) = rest.strip_prefix("AUDIT_SECRETS_").filter(|p| capitals(p)) {
        return Some(Meaning::Pattern(pattern.to_lowercase().replace('_', "-")));
    }
    let of_dataset = rest.strip_prefix("DATASETS_")?;
    DATASET.into_iter().find_map(|key| {
        let upper = of_dataset.strip_suffix(&format!("_{}", key.to_uppercase()))?;
        capitals(upper).then(|| Meaning::Dataset(upper.to_owned(), key))
    })
}

fn unknown(name: &str, actions: &[&str]) -> ConfigError {
    let binding = |action: &&str| action.to_uppercase().replace('-', "_");
    let all: Vec<String> = ELSEWHERE
        .iter()
        .map(|name| format!("{PREFIX}{name}"))
        .chain(KEYS.iter().map(Key::variable))
        .chain(
            actions
                .iter()
                .map(|a| format!("{PREFIX}KEYS_{}", binding(a))),
        )
        .collect();
    // Compare without the common prefix, which would make all names similar.
    let bare = |name: &str| name.strip_prefix(PREFIX).unwrap_or(name).to_owned();
    let hint = match nearest(&bare(name), all.iter().map(|name| &name[PREFIX.len()..])) {
        Some(near) => format!("did you mean `{PREFIX}{near}`?"),
        None => format!(
            "`{PREFIX}<KEY>` and `{PREFIX}<TABLE>_<KEY>` set the keys of config.toml, as \
             `{PREFIX}TTL_S` and `{PREFIX}QUEUE_MAX_PENDING`"
        ),
    };
    refuse(name, format!("unknown variable; {hint}"))
}

fn refuse(name: &str, message: impl Into<String>) -> ConfigError {
    ConfigError::value(
        Origin::Variable(name.escape_debug().to_string()),
        message.into(),
    )
}

fn read(name: &str, line: &str, folder: &Path) -> Result<Layer, ConfigError> {
    let place = SourceKind::Variable(name);
    Layer::read(Source { place, text: line }, folder)
}

/// One line that sets one key.
fn line(table: &str, key: &str, value: &str) -> String {
    match table {
        "" => format!("{key} = {value}"),
        table => format!("{table}.{key} = {value}"),
    }
}

/// A TOML string.
fn text(value: &str) -> String {
    let mut quoted = String::with_capacity(value.len() + 2);
    quoted.push('"');
    for c in value.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The value in TOML syntax. A value of the wrong type becomes a string, so that the reader of the file reports
/// the type it expects. The result never contains a line break.
fn literal(kind: ValueSyntax, value: &str) -> String {
    let one = |value: &str| {
        let digits = value.strip_prefix('-').unwrap_or(value);
        let whole = !digits.is_empty()
            && digits.bytes().all(|b| b.is_ascii_digit())
            && (digits == "0" || !digits.starts_with('0'));
        if whole || ["true", "false"].contains(&value) {
            value.to_owned()
        } else {
            text(value)
        }
    };
    let many = |each: &dyn Fn(&str) -> String| {
        let trimmed = value.trim();
        if trimmed.starts_with('[') && !trimmed.contains(char::is_control) {
            return trimmed.to_owned();
        }
        let each: Vec<String> = trimmed.split(',').map(|item| each(item.trim())).collect();
        format!("[{}]", each.join(", "))
    };
    match kind {
        ValueSyntax::Text => text(value),
        ValueSyntax::Literal => one(value.trim()),
        ValueSyntax::Texts => many(&text),
        ValueSyntax::Literals => many(&one),
    }
}

/// What the variables set of one data set.
#[derive(Default)]
struct Described {
    /// One of the variables, for messages.
    variable: String,
    path: Option<String>,
    sensitivity: Option<String>,
}

impl Described {
    /// The data set as one line. Keys without a variable are taken from `below`.
    fn line(&self, name: &str, below: Option<&Dataset>) -> String {
        let path = self
            .path
            .clone()
            .or_else(|| below.map(|d| d.path.display().to_string()));
        let sensitivity = self
            .sensitivity
            .clone()
            .or_else(|| below.map(|d| sensitivity(d.sensitivity).to_owned()));
        let pairs: Vec<String> = [("path", path), ("sensitivity", sensitivity)]
            .into_iter()
            .filter_map(|(key, value)| Some(format!("{key} = {}", text(&value?))))
            .collect();
        format!("datasets.{} = {{ {} }}", text(name), pairs.join(", "))
    }
}

fn sensitivity(value: Sensitivity) -> &'static str {
    match value {
        Sensitivity::Public => "public",
        Sensitivity::Private => "private",
    }
}

/// The data set whose name in capitals is `upper`; the name of a new one is in lower case.
fn dataset_name<'a>(
    variable: &str,
    upper: &str,
    known: impl Iterator<Item = &'a str>,
) -> Result<String, ConfigError> {
    let alike: Vec<&str> = known
        .filter(|name| name.to_ascii_uppercase() == upper)
        .collect();
    match alike[..] {
        [] => Ok(upper.to_ascii_lowercase()),
        [one] => Ok(one.to_owned()),
        _ => Err(refuse(
            variable,
            format!(
                "it stands for each of the data sets {}; set that one in a file",
                alike.join(", ")
            ),
        )),
    }
}
