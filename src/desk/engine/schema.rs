//! The tables: made and brought up to date by the database's owner, compared by everybody else, and pruned.

use tokio_postgres::types::Type;

use crate::model::Digest;

use super::Engine;
use super::error::{EngineError, cut};
use super::held::Held;
use super::page::get;

const ROLES: &str = include_str!("../../../assets/desk/roles.sql");
/// Each is applied once. One that was published never changes: its digest is in the database.
const MIGRATIONS: [&str; 2] = [
    include_str!("../../../assets/desk/0001.sql"),
    include_str!("../../../assets/desk/0002.sql"),
];

/// Two migrators wait for each other: this number is the desk's alone, by being drawn at random.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7235816045913205117)";

/// The migration that this program needs.
pub const fn latest() -> u32 {
    MIGRATIONS.len() as u32
}

fn digest(sql: &str) -> Digest {
    Digest::of(sql.as_bytes())
}

/// All that [`Engine::init`] runs on an empty database, for people who read before they run.
pub fn script() -> String {
    let mut all = format!("BEGIN;\n{LOCK};\n{ROLES}COMMIT;\n");
    for (n, sql) in (1..).zip(MIGRATIONS) {
        all.push_str(&format!(
            "BEGIN;\n{LOCK};\nSET LOCAL ROLE desk_owner;\n{sql}{};\nCOMMIT;\n",
            record(n, sql)
        ));
    }
    all
}

/// Numbers and hex digits only.
fn record(n: u32, sql: &str) -> String {
    let hex = digest(sql).hex();
    format!("INSERT INTO desk.migration (n, sha256) VALUES ({n}, '\\x{hex}')")
}

/// Rows that a pruning removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    pub offers: u64,
    pub votes: u64,
    pub claims: u64,
    pub statements: u64,
    pub requests: u64,
}

impl Engine {
    /// Makes roles, schema and tables where they are missing; gives the migrations that were applied.
    pub async fn init(&self) -> Result<Vec<u32>, EngineError> {
        let mut held = self.held().await?;
        held.begin("").await?;
        held.run(LOCK).await?;
        let others = held
            .rows(
                "SELECT n.nspname || '.' || c.relname AS name FROM pg_class c \
                 JOIN pg_namespace n ON n.oid = c.relnamespace \
                 WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname !~ '^(pg_|information_schema$|desk$)' \
                 AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e') \
                 ORDER BY 1 LIMIT 1",
                &[],
            )
            .await?;
        if let Some(row) = others.first() {
            let name = cut(get(row, "name")?);
            return Err(EngineError::Refused(format!(
                "the database has another program's {name}, and the desk takes rights from everybody: \
                 make a database of its own, as CREATE DATABASE desk"
            )));
        }
        held.run(ROLES).await?;
        held.commit().await?;
        drop(held);
        self.migrate().await
    }

    /// Applies the migrations that are missing, each in a transaction; gives their numbers.
    pub async fn migrate(&self) -> Result<Vec<u32>, EngineError> {
        let mut applied = Vec::new();
        for (n, sql) in (1..).zip(MIGRATIONS) {
            let mut held = self.held().await?;
            held.begin("").await?;
            held.run(LOCK).await?;
            held.as_owner().await?;
            if held.have().await? < n {
                held.run(sql).await?;
                held.run(&record(n, sql)).await?;
                applied.push(n);
            }
            held.commit().await?;
        }
        Ok(applied)
    }

    /// Whether the tables are those that this program was made for.
    pub async fn migrated(&self) -> Result<(), EngineError> {
        let have = self.held().await?.have().await?;
        let want = latest();
        match have == want {
            true => Ok(()),
            false => Err(EngineError::NotMigrated { have, want }),
        }
    }

    /// Removes what belongs to proposals and requests whose deadline passed this many days ago. Checkpoints stay.
    pub async fn prune(&self, days: u32) -> Result<Pruned, EngineError> {
        let days = i32::try_from(days).unwrap_or(i32::MAX);
        let mut held = self.held().await?;
        held.begin("").await?;
        held.as_owner().await?;
        let past = "now() - make_interval(days => $1)";
        let offer =
            "EXISTS (SELECT FROM desk.offer o WHERE o.host = t.host AND o.proposal = t.proposal";
        let request =
            "EXISTS (SELECT FROM desk.request r WHERE r.host = t.host AND r.id = t.proposal)";
        let mut counts = [0; 5];
        for (count, sql) in counts.iter_mut().zip([
            format!("desk.offer t WHERE NOT {offer} AND o.deadline >= {past})"),
            format!("desk.request t WHERE t.deadline < {past}"),
            format!("desk.vote t WHERE t.at < {past} AND NOT {offer})"),
            format!("desk.claim t WHERE t.at < {past} AND NOT {offer})"),
            format!("desk.statement t WHERE t.at < {past} AND NOT {offer}) AND NOT {request}"),
        ]) {
            let sql = format!(
                "WITH gone AS (DELETE FROM {sql} RETURNING 1) SELECT count(*) AS n FROM gone"
            );
            let rows = held.rows(&sql, &[(&days, Type::INT4)]).await?;
            let n = rows.first().map(|row| get::<i64>(row, "n")).transpose()?;
            *count = u64::try_from(n.unwrap_or(0)).unwrap_or(0);
        }
        held.commit().await?;
        let [offers, requests, votes, claims, statements] = counts;
        Ok(Pruned {
            offers,
            votes,
            claims,
            statements,
            requests,
        })
    }
}

impl Held {
    /// Within a transaction: what follows is done as the owner of the tables.
    pub(super) async fn as_owner(&mut self) -> Result<(), EngineError> {
        let there = self
            .rows("SELECT FROM pg_roles WHERE rolname = 'desk_owner'", &[])
            .await?;
        if there.is_empty() {
            return Err(EngineError::NotMigrated {
                have: 0,
                want: latest(),
            });
        }
        match self.run("SET LOCAL ROLE desk_owner").await {
            Err(EngineError::Refused(_)) => Err(EngineError::Refused(
                "this is for the owner of the database: give the URL with its owner's login"
                    .to_owned(),
            )),
            done => done,
        }
    }

    /// The last migration of the database, each of which is this program's.
    pub(super) async fn have(&mut self) -> Result<u32, EngineError> {
        let applied = self
            .rows(
                "SELECT n, sha256 FROM desk.migration ORDER BY n LIMIT 1000",
                &[],
            )
            .await?;
        let want = latest();
        let mut have = 0;
        for row in &applied {
            let n = u32::try_from(get::<i32>(row, "n")?).unwrap_or(0);
            let ours = usize::try_from(n)
                .ok()
                .and_then(|n| MIGRATIONS.get(n.checked_sub(1)?));
            match ours {
                None if n > want => return Err(EngineError::NotMigrated { have: n, want }),
                Some(sql) if digest(sql).as_bytes()[..] == *get::<&[u8]>(row, "sha256")? => {
                    have = n;
                }
                _ => {
                    return Err(EngineError::Refused(format!(
                        "migration {n} of the database is not this program's: its tables may be other ones. Nothing is used there"
                    )));
                }
            }
        }
        match applied.len() == have as usize {
            true => Ok(have),
            false => Err(EngineError::Refused(format!(
                "the database has migration {have} and lacks one before it"
            ))),
        }
    }
}
