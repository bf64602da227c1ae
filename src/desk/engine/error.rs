//! What can go wrong with the engine. Its words are a stranger's: they are cut and made visible.

use std::error::Error as _;
use std::io;

use tokio_postgres::error::SqlState;

use crate::model::visible;

use super::budget::Counted;

/// Characters of a server's message that are kept.
const MESSAGE_MAX: usize = 300;

/// Why a call did nothing, or nobody knows what it did: each call may be sent again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// Not reached, cut, or silent for too long. It may have done what it was asked.
    #[error("the engine cannot be reached: {0}")]
    Unreachable(String),
    /// In the server's words.
    #[error("the engine refuses: {0}")]
    Refused(String),
    #[error("too large for the engine: {0}")]
    TooLarge(String),
    /// `have` is 0 if there is no desk in that database.
    #[error("{}", not_migrated(*have, *want))]
    NotMigrated { have: u32, want: u32 },
    /// It does not speak as PostgreSQL does, or its rows are not what was asked for.
    #[error("the engine answers what PostgreSQL does not: {0}")]
    Protocol(String),
}

fn not_migrated(have: u32, want: u32) -> String {
    match have {
        0 => "the database has no desk: its owner runs `countersign desk init`".to_owned(),
        _ if have < want => format!(
            "the desk of the database is at migration {have} and this program needs {want}: its owner runs `countersign desk migrate`"
        ),
        _ => format!(
            "the desk of the database is at migration {have} and this program knows {want}: install the newer program"
        ),
    }
}

/// A stranger's text as one short, visible line.
pub(super) fn cut(text: &str) -> String {
    let mut short: String = text.chars().take(MESSAGE_MAX).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    visible(&short).into_owned()
}

impl EngineError {
    /// `before` and `now`: what connections of this engine had died of when the call began, and have.
    pub(super) fn of(e: &tokio_postgres::Error, before: Counted, now: Counted) -> Self {
        if now.overruns != before.overruns {
            return Self::TooLarge("it sent more than 8 MiB at once".to_owned());
        }
        if let Some(db) = e.as_db_error() {
            return Self::said(db.code(), db.message());
        }
        let mut words = vec![e.to_string()];
        let mut source = e.source();
        while let Some(inner) = source {
            let word = inner.to_string();
            // The driver's own words have their source's in them.
            if !words.iter().any(|before| before.contains(&word)) {
                words.push(word);
            }
            source = inner.source();
        }
        let mut words = cut(&words.join(": "));
        if words.contains("password missing") {
            words.push_str(
                "; name a file that has nothing but the login's password by `desk.password_file`",
            );
        }
        let closed = e.is_closed() && now.garbled == before.garbled;
        let broken = closed || inner_io(e).is_some_and(|io| !says_garbled(io));
        match broken || words.contains("TLS") {
            true => Self::Unreachable(words),
            false => Self::Protocol(words),
        }
    }

    fn said(code: &SqlState, message: &str) -> Self {
        let message = cut(message);
        let class = code.code().get(..2).unwrap_or_default();
        let gone = [
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::DATABASE_DROPPED,
            SqlState::QUERY_CANCELED,
            SqlState::LOCK_NOT_AVAILABLE,
            SqlState::READ_ONLY_SQL_TRANSACTION,
            SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
        ];
        let none = [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME];
        match () {
            () if none.contains(code) => Self::NotMigrated {
                have: 0,
                want: super::schema::latest(),
            },
            // A column that a later migration adds.
            () if *code == SqlState::UNDEFINED_COLUMN => Self::NotMigrated {
                have: super::schema::latest().saturating_sub(1),
                want: super::schema::latest(),
            },
            // 08: connection exception; 53: insufficient resources, such as too many connections.
            () if gone.contains(code) || ["08", "53"].contains(&class) => {
                Self::Unreachable(message)
            }
            () => Self::Refused(match remedy(code) {
                Some(remedy) => format!("{message}; {remedy}"),
                None => message,
            }),
        }
    }
}

/// What would be right, where the server's words do not say it.
fn remedy(code: &SqlState) -> Option<&'static str> {
    if *code == SqlState::INVALID_PASSWORD {
        return Some(
            "`desk.password_file` has to have the password that `\\password LOGIN` of psql set",
        );
    }
    (*code == SqlState::INSUFFICIENT_PRIVILEGE).then_some(
        "is this login a member of the desk, with this duty? `countersign desk member add` makes it one",
    )
}

/// The stream's error behind the driver's.
fn inner_io(e: &tokio_postgres::Error) -> Option<&io::Error> {
    let mut source = e.source();
    while let Some(inner) = source {
        if let Some(io) = inner.downcast_ref() {
            return Some(io);
        }
        source = inner.source();
    }
    None
}

/// A message that cannot be read; errors of TLS have the same kind.
fn says_garbled(io: &io::Error) -> bool {
    let tls = io
        .get_ref()
        .is_some_and(|inner| inner.is::<rustls::Error>());
    !tls && [io::ErrorKind::InvalidInput, io::ErrorKind::InvalidData].contains(&io.kind())
}

/// Whether a connection ended with what no PostgreSQL sends.
pub(super) fn is_garbled(e: &tokio_postgres::Error) -> bool {
    match inner_io(e) {
        Some(io) => says_garbled(io),
        None => e.as_db_error().is_none() && !e.is_closed(),
    }
}
