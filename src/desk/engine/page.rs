//! Lists, read in pieces that fit into the budget, in the order in which rows arrived.

use jiff::{SignedDuration, Timestamp};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};

use super::error::{EngineError, cut};
use super::held::{Held, Param};

/// Rows of a piece, and bytes of their bodies with some for what stands beside them.
const ROWS_MAX: usize = 2048;
const BYTES_MAX: i64 = 6 * 1024 * 1024;
const BESIDE: i64 = 1024;
/// Pieces of one list.
const PIECES_MAX: usize = 16;
/// A row is stamped when it is added and seen when its transaction ends, which its login's limits keep below this.
const LATE: SignedDuration = SignedDuration::from_secs(60);

/// How far a list was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    at: Timestamp,
    /// There was more: the next call goes on from there. Otherwise it gives some of the last minute again.
    goes_on: bool,
}

/// Rows in the order of their arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    pub rows: Vec<T>,
    /// To be handed over at the next call, which then gives what came since.
    pub seen: Option<Seen>,
    /// Whether there is more than one call gives.
    pub more: bool,
    /// Rows that no client of this program wrote. They are left out.
    pub odd: usize,
}

/// What to list.
pub(super) struct List {
    pub table: &'static str,
    pub columns: &'static str,
    /// Of `$3` and those behind it.
    pub filter: &'static str,
    /// Tells rows of one time apart; a text.
    pub key: &'static str,
    /// Bytes of what is long in a row; where that is more than `most`, it is left out.
    pub bytes: &'static str,
    pub most: usize,
}

impl List {
    fn sql(&self) -> String {
        let Self {
            table,
            columns,
            filter,
            key,
            bytes,
            most,
        } = self;
        format!(
            "SELECT * FROM (\
               SELECT p.*, sum(p.bytes + {BESIDE}) OVER (ORDER BY p.at, p.key) AS run FROM (\
                 SELECT {columns}, at, {key} AS key, {bytes}::bigint AS bytes FROM desk.{table} \
                 WHERE {filter} AND {bytes} <= {most} AND at >= $1 AND (at, {key}) > ($1, $2) \
                 ORDER BY at, {key} LIMIT {ROWS_MAX}) p) q \
             WHERE run <= {BYTES_MAX} ORDER BY at, key"
        )
    }
}

impl Held {
    /// `read` gives `None` for a row that no client of this program wrote.
    pub async fn list<T>(
        &mut self,
        list: &List,
        since: Option<Seen>,
        params: &[Param<'_>],
        read: impl Fn(&Row) -> Result<Option<T>, EngineError>,
    ) -> Result<Page<T>, EngineError> {
        let sql = list.sql();
        let early = since.map_or(Timestamp::UNIX_EPOCH, Seen::early);
        let mut from = (early, String::new());
        let mut at = since.map(|seen| seen.at);
        let mut page = Page {
            rows: Vec::new(),
            seen: since,
            more: true,
            odd: 0,
        };
        for _ in 0..PIECES_MAX {
            let mut all: Vec<Param<'_>> = vec![(&from.0, Type::TIMESTAMPTZ), (&from.1, Type::TEXT)];
            all.extend(params.iter().cloned());
            let rows = self.rows(&sql, &all).await?;
            let mut bytes = 0;
            let mut last = None;
            for row in &rows {
                bytes += get::<i64>(row, "bytes")?.saturating_add(BESIDE);
                last = Some((get::<Timestamp>(row, "at")?, get::<String>(row, "key")?));
                // A value that is none here, as the time `infinity`, is its row's alone.
                match read(row) {
                    Ok(Some(one)) => page.rows.push(one),
                    Ok(None) | Err(EngineError::Protocol(_)) => page.odd += 1,
                    Err(e) => return Err(e),
                }
            }
            let most = i64::try_from(list.most).unwrap_or(i64::MAX);
            let full = rows.len() >= ROWS_MAX || bytes + most + BESIDE > BYTES_MAX;
            match last {
                // A server that answers the same again would be asked for ever.
                Some(last) if last > from => {
                    at = at.max(Some(last.0));
                    from = last;
                }
                Some(_) => return Err(EngineError::Protocol("rows out of their order".to_owned())),
                None => {}
            }
            if !full {
                page.more = false;
                break;
            }
        }
        // Where there is more, the rows of the last minute alone may be more than one call gives.
        let goes_on = page.more;
        let at = if goes_on { Some(from.0) } else { at };
        page.seen = at.map(|at| Seen { at, goes_on });
        Ok(page)
    }
}

impl Seen {
    fn early(self) -> Timestamp {
        match self.goes_on {
            true => self.at,
            false => self.at.checked_sub(LATE).unwrap_or(Timestamp::UNIX_EPOCH),
        }
    }
}

/// A column of a row of a server that may send anything.
pub(super) fn get<'r, T: FromSql<'r>>(row: &'r Row, name: &str) -> Result<T, EngineError> {
    let odd = |e: tokio_postgres::Error| EngineError::Protocol(cut(&e.to_string()));
    row.try_get(name).map_err(odd)
}

/// A count, or a number that this program wrote as one.
pub(super) fn number(row: &Row, name: &str) -> Result<Option<u32>, EngineError> {
    get::<i32>(row, name).map(|n| u32::try_from(n).ok())
}
