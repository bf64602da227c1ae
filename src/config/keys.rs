//! Every key of `config.toml`: the files are read by this table, and each key has a variable.

/// How a variable's text becomes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// A whole number, or true or false.
    Literal,
    /// Separated by commas, or as in the file.
    Texts,
    Literals,
}

/// A key; the table is empty for those at the top.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub table: &'static str,
    pub name: &'static str,
    pub kind: Kind,
}

const fn key(table: &'static str, name: &'static str, kind: Kind) -> Key {
    Key { table, name, kind }
}

pub(super) const KEYS: [Key; 15] = [
    key("", "profile", Kind::Text),
    key("", "profiles", Kind::Texts),
    key("", "tier", Kind::Text),
    key("", "theme", Kind::Text),
    key("", "python", Kind::Text),
    key("", "ttl_s", Kind::Literal),
    key("", "ttl_max_s", Kind::Literal),
    key("queue", "max_pending", Kind::Literal),
    key("queue", "max_pending_per_peer", Kind::Literal),
    key("socket", "allow_uids", Kind::Literals),
    key("socket", "group", Kind::Text),
    key("run", "kill_on_disconnect", Kind::Literal),
    key("audit", "retention_days", Kind::Literal),
    key("audit", "keep_code", Kind::Literal),
    key("feature.lift", "enabled", Kind::Literal),
];

/// The tables, those whose keys a person makes up among them.
const TABLES: [&str; 7] = [
    "datasets", "queue", "socket", "run", "keys", "audit", "feature",
];

/// The keys of one data set.
pub(super) const DATASET: [&str; 2] = ["path", "sensitivity"];

/// The keys of one table.
pub(super) fn of(table: &str) -> Vec<&'static str> {
    let its = KEYS.iter().filter(|key| key.table == table);
    its.map(|key| key.name).collect()
}

/// The keys and the tables at the top.
pub(super) fn of_top() -> Vec<&'static str> {
    let mut all = of("");
    all.extend(TABLES);
    all
}

impl Key {
    /// `COUNTERSIGN_QUEUE_MAX_PENDING`.
    pub fn variable(&self) -> String {
        let table = match self.table {
            "" => String::new(),
            table => format!("{}_", table.to_uppercase().replace('.', "_")),
        };
        format!("COUNTERSIGN_{table}{}", self.name.to_uppercase())
    }
}
