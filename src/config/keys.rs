//! The table of all keys of `config.toml`, used for reading files and for the variable of each key.

/// How a variable's text becomes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueSyntax {
    Text,
    /// A whole number, `true` or `false`.
    Literal,
    /// A list: separated by commas, or in TOML syntax.
    Texts,
    Literals,
}

/// A key. `table` is empty for top-level keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    pub table: &'static str,
    pub name: &'static str,
    pub kind: ValueSyntax,
}

const fn key(table: &'static str, name: &'static str, kind: ValueSyntax) -> Key {
    Key { table, name, kind }
}

pub(super) const KEYS: [Key; 47] = [
    key("", "profile", ValueSyntax::Text),
    key("", "profiles", ValueSyntax::Texts),
    key("", "tier", ValueSyntax::Text),
    key("", "theme", ValueSyntax::Text),
    key("", "charset", ValueSyntax::Text),
    key("", "mouse", ValueSyntax::Literal),
    key("", "python", ValueSyntax::Text),
    key("", "ttl_s", ValueSyntax::Literal),
    key("", "ttl_max_s", ValueSyntax::Literal),
    key("queue", "max_pending", ValueSyntax::Literal),
    key("queue", "max_pending_per_peer", ValueSyntax::Literal),
    key("socket", "max_connections", ValueSyntax::Literal),
    key("socket", "allow_uids", ValueSyntax::Literals),
    key("socket", "group", ValueSyntax::Text),
    key("run", "kill_on_disconnect", ValueSyntax::Literal),
    key("audit", "retention_days", ValueSyntax::Literal),
    key("audit", "retention_bytes", ValueSyntax::Literal),
    key("audit.retention", "code_days", ValueSyntax::Literal),
    key("audit.retention", "output_days", ValueSyntax::Literal),
    key("audit.retention", "files_days", ValueSyntax::Literal),
    key("audit", "keep_code", ValueSyntax::Literal),
    key("audit", "checkpoints", ValueSyntax::Text),
    key("audit", "anchor_command", ValueSyntax::Texts),
    key("audit", "key_command", ValueSyntax::Texts),
    key("audit", "key_public", ValueSyntax::Text),
    key("audit", "witnesses", ValueSyntax::Texts),
    key("audit", "witness_ca", ValueSyntax::Text),
    key("audit", "hold", ValueSyntax::Text),
    key("notify", "bell", ValueSyntax::Literal),
    key("notify", "command", ValueSyntax::Texts),
    key("notify", "within_s", ValueSyntax::Literal),
    key("notify", "every_s", ValueSyntax::Literal),
    key("notify", "events", ValueSyntax::Texts),
    key("drills", "every", ValueSyntax::Literal),
    key("drills", "seed", ValueSyntax::Literal),
    key("feature.lift", "enabled", ValueSyntax::Literal),
    key("desk", "url", ValueSyntax::Text),
    key("desk", "password_file", ValueSyntax::Text),
    key("desk", "ca", ValueSyntax::Text),
    key("desk", "name", ValueSyntax::Text),
    key("desk", "signers", ValueSyntax::Text),
    key("desk", "people", ValueSyntax::Text),
    key("desk", "revoked", ValueSyntax::Text),
    key("desk", "hosts", ValueSyntax::Text),
    key("desk", "key", ValueSyntax::Text),
    key("desk", "socket", ValueSyntax::Text),
    key("desk", "escalate_min", ValueSyntax::Literal),
];

/// All tables, including those with user-defined keys.
const TABLES: [&str; 10] = [
    "datasets", "queue", "socket", "run", "keys", "audit", "notify", "drills", "feature", "desk",
];

/// The keys of one data set.
pub(super) const DATASET: [&str; 2] = ["path", "sensitivity"];

/// The keys of one table.
pub(super) fn in_table(table: &str) -> Vec<&'static str> {
    let keys = KEYS.iter().filter(|key| key.table == table);
    keys.map(|key| key.name).collect()
}

/// The top-level keys and tables.
pub(super) fn top_level() -> Vec<&'static str> {
    let mut all = in_table("");
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
