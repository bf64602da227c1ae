//! How the engine stands, as one login sees it.

use jiff::Timestamp;

use super::Engine;
use super::error::{EngineError, cut};
use super::page::get;
use super::schema;

/// Rows are counted up to this.
const COUNT_MAX: i64 = 100_000;

/// What `countersign desk status` shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The server's version, in its words.
    pub version: String,
    pub login: String,
    /// The desk's groups that the login is in.
    pub groups: Vec<String>,
    /// Whether no rule of the desk binds the login.
    pub free: bool,
    /// `None` if the tables are this program's.
    pub migration: Option<EngineError>,
    /// Name of a table and rows that this login may read; at most one more than [`Standing::COUNT_MAX`].
    pub counts: Vec<(&'static str, i64)>,
    pub hosts: Vec<HostSeen>,
}

/// When a host was heard of last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSeen {
    pub host: String,
    pub last_statement: Option<Timestamp>,
    /// Seconds since anything of it came, by the engine's clock.
    pub silent_s: i64,
}

impl Standing {
    pub const COUNT_MAX: i64 = COUNT_MAX;
}

impl Engine {
    pub async fn standing(&self) -> Result<Standing, EngineError> {
        let mut held = self.held().await?;
        let rows = held
            .rows(
                "SELECT current_setting('server_version') AS version, current_user::text AS login, \
                 r.rolsuper OR r.rolbypassrls AS free, \
                 ARRAY(SELECT g.rolname::text FROM pg_roles g WHERE g.rolname LIKE 'desk\\_%' \
                   AND pg_has_role(r.oid, g.oid, 'member') ORDER BY 1) AS groups \
                 FROM pg_roles r WHERE r.rolname = current_user",
                &[],
            )
            .await?;
        let Some(row) = rows.first() else {
            return Err(EngineError::Protocol("a login without a role".to_owned()));
        };
        let groups: Vec<String> = get(row, "groups")?;
        let mut standing = Standing {
            version: cut(get(row, "version")?),
            login: cut(get(row, "login")?),
            groups: groups.iter().map(|group| cut(group)).collect(),
            free: get(row, "free")?,
            migration: None,
            counts: Vec::new(),
            hosts: Vec::new(),
        };
        standing.migration = match held.have().await {
            Ok(have) if have == schema::latest() => None,
            Ok(have) => Some(EngineError::NotMigrated {
                have,
                want: schema::latest(),
            }),
            Err(e @ EngineError::Unreachable(_)) => return Err(e),
            Err(e) => Some(e),
        };
        if standing.migration.is_some() {
            return Ok(standing);
        }
        let mut reads = Vec::new();
        for (table, shown) in [
            ("offer", "offers"),
            ("vote", "votes"),
            ("statement", "statements"),
            ("request", "requests"),
            ("checkpoint", "checkpoints"),
        ] {
            let may = format!("SELECT has_table_privilege('desk.{table}', 'SELECT') AS may");
            let rows = held.rows(&may, &[]).await?;
            if !rows.first().map_or(Ok(false), |row| get(row, "may"))? {
                continue;
            }
            reads.push(table);
            let open = match table {
                "offer" | "request" => "WHERE deadline > now()",
                _ => "",
            };
            let most = COUNT_MAX + 1;
            let sql = format!(
                "SELECT count(*) AS n FROM (SELECT FROM desk.{table} {open} LIMIT {most}) t"
            );
            let rows = held.rows(&sql, &[]).await?;
            let n = rows.first().map_or(Ok(0), |row| get(row, "n"))?;
            standing.counts.push((shown, n));
        }
        let says = ["statement", "offer", "checkpoint"];
        let of: Vec<String> = says
            .iter()
            .filter(|table| reads.contains(table))
            .map(|table| {
                let said = *table == "statement";
                format!(
                    "SELECT host, max(at) AS at, {said} AS said FROM desk.{table} GROUP BY host"
                )
            })
            .collect();
        if of.is_empty() {
            return Ok(standing);
        }
        let sql = format!(
            "SELECT host, max(at) FILTER (WHERE said) AS last, \
             extract(epoch FROM now() - max(at))::bigint AS silent \
             FROM ({}) t GROUP BY host ORDER BY host LIMIT 1000",
            of.join(" UNION ALL ")
        );
        for row in held.rows(&sql, &[]).await? {
            standing.hosts.push(HostSeen {
                host: cut(get(&row, "host")?),
                last_statement: get(&row, "last")?,
                silent_s: get(&row, "silent")?,
            });
        }
        Ok(standing)
    }
}
