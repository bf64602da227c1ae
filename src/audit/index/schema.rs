//! The tables of the index, and how its file is opened.
//!
//! The file may have been damaged or replaced, so SQLite is told to trust nothing in it, as its authors recommend for
//! files from elsewhere (<https://sqlite.org/security.html>, section 2).

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::OFlag;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::IndexError;

/// Changes with every change of the tables or of what they mean.
const VERSION: i64 = 4;

/// Texts are in lower case but where a name is shown from here. Times are nanoseconds since 1970, spans too.
const TABLES: &str = "
CREATE TABLE stopped (only INTEGER PRIMARY KEY CHECK (only = 1), at TEXT NOT NULL) STRICT;
CREATE TABLE proposals (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    seq INTEGER NOT NULL,
    asked INTEGER NOT NULL,
    at INTEGER NOT NULL,
    uid INTEGER NOT NULL,
    agent TEXT NOT NULL,
    agent_shown TEXT NOT NULL,
    profile TEXT NOT NULL,
    title TEXT,
    says TEXT,
    reason TEXT,
    verdict TEXT NOT NULL,
    state TEXT NOT NULL,
    course TEXT NOT NULL,
    drill TEXT,
    private INTEGER NOT NULL,
    edited INTEGER NOT NULL,
    by_uid INTEGER,
    by_login TEXT,
    by_shown TEXT,
    took INTEGER,
    look INTEGER,
    asked_again INTEGER NOT NULL,
    ran INTEGER,
    ended_by TEXT,
    accesses TEXT,
    tier TEXT,
    host TEXT,
    shown TEXT
) STRICT;
CREATE TABLE facts (
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (kind, value, n)
) STRICT, WITHOUT ROWID;
CREATE TABLE records (
    seq INTEGER PRIMARY KEY,
    n INTEGER,
    kind TEXT,
    segment INTEGER NOT NULL,
    line INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT;
CREATE INDEX open_ones ON proposals (state) WHERE state IN ('pending', 'granted', 'running');
CREATE INDEX facts_of ON facts (n);
CREATE INDEX records_of ON records (n, seq) WHERE n IS NOT NULL;
CREATE INDEX records_apart ON records (kind, seq) WHERE n IS NULL;
CREATE VIRTUAL TABLE words USING fts5(
    title, says, code, edited, output,
    content='', contentless_delete=1,
    tokenize=\"ascii tokenchars '_'\"
);
";

/// Makes an empty index.
pub(super) fn create(path: &Path) -> Result<Connection, IndexError> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(OFlag::O_NOFOLLOW.bits())
        .open(path)?;
    empty(connect(path)?)
}

/// Makes an empty index in a file without a name, which only this connection has.
pub(super) fn private() -> Result<Connection, IndexError> {
    // An empty name asks for such a file (<https://sqlite.org/inmemorydb.html>, "temporary databases").
    let flags = FLAGS.union(OpenFlags::SQLITE_OPEN_CREATE);
    empty(set_up(Connection::open_with_flags("", flags)?)?)
}

fn empty(connection: Connection) -> Result<Connection, IndexError> {
    // Whoever finds the file cut off throws it away, so nothing of it is synced.
    connection.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -16384;",
    )?;
    connection.execute_batch(TABLES)?;
    connection.pragma_update(None, "user_version", VERSION)?;
    Ok(connection)
}

/// Opens an index that [`create`] made and closed.
pub(super) fn open(path: &Path) -> Result<Connection, IndexError> {
    let connection = connect(path)?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version != VERSION || tables(&connection)? != expected()? {
        return Err(IndexError::Other("it has other tables".to_owned()));
    }
    connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")?;
    Ok(connection)
}

const FLAGS: OpenFlags = OpenFlags::SQLITE_OPEN_READ_WRITE
    .union(OpenFlags::SQLITE_OPEN_NO_MUTEX)
    .union(OpenFlags::SQLITE_OPEN_NOFOLLOW)
    .union(OpenFlags::SQLITE_OPEN_PRIVATE_CACHE);

fn connect(path: &Path) -> Result<Connection, IndexError> {
    set_up(Connection::open_with_flags(path, FLAGS)?)
}

fn set_up(connection: Connection) -> Result<Connection, IndexError> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.busy_timeout(std::time::Duration::from_secs(30))?;
    connection.execute_batch(
        "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -4096;",
    )?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// What was said to make each table.
fn tables(connection: &Connection) -> Result<Vec<String>, IndexError> {
    let mut statement =
        connection.prepare("SELECT coalesce(sql, '') FROM sqlite_schema ORDER BY type, name")?;
    let rows = statement.query_map([], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn expected() -> Result<Vec<String>, IndexError> {
    let empty = Connection::open_in_memory()?;
    empty.execute_batch(TABLES)?;
    tables(&empty)
}
