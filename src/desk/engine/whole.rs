//! Everything that stands among the checkpoints of one host, the newest first: where rows that it did not sign take the place of its
//! own, the few newest say nothing about what is there.

use jiff::Timestamp;
use tokio_postgres::types::Type;

use super::Engine;
use super::error::EngineError;
use super::evidence::checkpoint;
use super::held::Param;
use super::page::get;
use super::rows::{CheckpointRow, SIGNATURE_MAX, SMALL_MAX};

/// Rows of one question, so that the largest ones fit into an answer, and questions.
const PIECE: usize = 256;
const PIECES_MAX: usize = 16;

/// What was read of one host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whole {
    /// The newest first, doubts among them.
    pub rows: Vec<CheckpointRow>,
    /// Whether that is all that there is.
    pub is_all: bool,
}

impl Engine {
    /// All checkpoints of a host, or the newest 4,096 of them.
    pub async fn whole(&self, host: &str) -> Result<Whole, EngineError> {
        let sql = format!(
            "SELECT c.host, c.size, c.body, c.signature, c.at, encode(c.digest, 'hex') AS key FROM desk.checkpoint c \
             WHERE c.host = $1 AND c.at <= $2 AND (c.at, c.size, encode(c.digest, 'hex')) < ($2, $3, $4) \
             AND octet_length(c.body) <= {SMALL_MAX} AND octet_length(c.signature) <= {SIGNATURE_MAX} \
             ORDER BY c.at DESC, c.size DESC, encode(c.digest, 'hex') DESC LIMIT {PIECE}"
        );
        let mut whole = Whole::default();
        let mut from = (far(), i64::MAX, String::new());
        for _ in 0..PIECES_MAX {
            let params: [Param<'_>; 4] = [
                (&host, Type::TEXT),
                (&from.0, Type::TIMESTAMPTZ),
                (&from.1, Type::INT8),
                (&from.2, Type::TEXT),
            ];
            let rows = self.held().await?.rows(&sql, &params).await?;
            for row in &rows {
                match checkpoint(row) {
                    Ok(one) => whole.rows.extend(one),
                    Err(EngineError::Protocol(_)) => {}
                    Err(e) => return Err(e),
                }
            }
            let Some(last) = rows.last() else {
                whole.is_all = true;
                break;
            };
            let next = (get(last, "at")?, get(last, "size")?, get(last, "key")?);
            // A server that answers the same again would be asked for ever.
            if next >= from {
                return Err(EngineError::Protocol("rows out of their order".to_owned()));
            }
            from = next;
            if rows.len() < PIECE {
                whole.is_all = true;
                break;
            }
        }
        Ok(whole)
    }
}

/// After all rows, within what a server takes.
fn far() -> Timestamp {
    Timestamp::from_second(200_000_000_000).unwrap_or(Timestamp::MAX)
}
