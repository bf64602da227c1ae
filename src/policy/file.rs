//! A policy file as written (protocol.md §5).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use super::error::{PolicyError, key_of};
use super::grant::Grants;
use super::resolved::{Contract, PrivateValues};
use crate::model::nearest;
use crate::model::{Action, Capability, Tier};

type Imports = BTreeMap<String, BTreeSet<String>>;

/// The whole file. Missing values come from the policy that it extends, or are empty.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub name: String,
    pub extends: Option<String>,
    pub contract: Option<Contract>,
    pub guard: Option<bool>,
    pub imports: Option<Imports>,
    pub widen: Option<Widen>,
    pub builtins: Option<Allow>,
    pub attributes: Option<Attributes>,
    pub nodes: Option<Allow>,
    pub capabilities: Option<BTreeMap<Capability, Action>>,
    pub limits: Option<Limits>,
    pub isolation: Option<Isolation>,
    pub data: Option<Data>,
    pub grant: Option<Grants>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Widen {
    pub imports: Imports,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Allow {
    pub allow: BTreeSet<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Attributes {
    pub deny: Option<BTreeSet<String>>,
    pub allow_dunder: Option<BTreeSet<String>>,
    pub define_dunder: Option<BTreeSet<String>>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Limits {
    pub wall_s: Option<u64>,
    pub cpu_s: Option<u64>,
    pub memory_mb: Option<u64>,
    pub processes: Option<u64>,
    pub open_files: Option<u64>,
    pub file_size_mb: Option<u64>,
    pub output_bytes: Option<u64>,
    pub artifacts: Option<u64>,
    pub artifact_bytes: Option<u64>,
    pub ticks: Option<u64>,
    pub code_bytes: Option<u64>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Isolation {
    pub tier: Tier,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Data {
    pub private: PrivateValues,
}

/// Parses a file's text. An error names the line and, for a misspelt key, the nearest valid one.
pub(super) fn read(path: &Path, text: &str) -> Result<File, PolicyError> {
    toml::from_str(text).map_err(|error| {
        let message = error.message().to_owned();
        let line = error
            .span()
            .and_then(|span| text.get(..span.start))
            .and_then(|before| u32::try_from(before.matches('\n').count() + 1).ok());
        // serde lists the valid names: "unknown field `x`, expected one of `a`, `b`".
        let (wrong, right) = message
            .split_once("expected")
            .unwrap_or((message.as_str(), ""));
        let word = quoted(wrong).next().map(str::to_owned);
        let near = word
            .as_deref()
            .and_then(|word| nearest(word, quoted(right)).map(str::to_owned));
        let missing = message.starts_with("missing field");
        PolicyError {
            file: path.to_path_buf(),
            line,
            key: match line
                .filter(|_| !missing)
                .and_then(|line| key_of(text, line))
            {
                Some(key) => Some(key),
                None => word,
            },
            message: message.lines().next().unwrap_or_default().to_owned(),
            nearest: near,
        }
    })
}

/// The texts in back quotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}
