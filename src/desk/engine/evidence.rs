//! What shows that no host's log was rewritten: checkpoints, the hosts' signatures on each other's, and what auditors read.

use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::model::{Digest, ProposalId};

use super::Engine;
use super::error::EngineError;
use super::held::Param;
use super::host::{fits, large};
use super::page::{List, Page, Seen, get};
use super::reviewer::{OFFERS, STATEMENTS, offer, statement};
use super::rows::{
    CheckpointRow, CosignatureRow, OfferRow, SIGNATURE_MAX, SMALL_MAX, StatementRow,
};

/// Hosts in one question, and rows of each by one order. So many of the largest rows fit into an answer.
const HOSTS_AT_ONCE: usize = 16;
const EACH: usize = 8;
/// Rows of one host from a size on.
const ROWS_MAX: usize = 256;
/// Rows that came of late, and how many of one host are read.
const LATE: &str = "c.at > now() - interval '90 seconds'";
const LATE_EACH: usize = 2 * EACH;
/// Bytes of a doubt with its signature, as the tables have it, and doubts of a host that are read: the newest, and the oldest.
const DOUBT_MAX: usize = 2048;
const DOUBTS_NEW: usize = 128;
const DOUBTS_OLD: usize = 32;
/// A cosignature has no body, so more of them fit.
const COSIGNED_EACH: usize = 64;
/// Rows among which they are: one cosigner's do not take the place of all others'.
const COSIGNED_MAX: usize = 4096;

impl Engine {
    /// Publishes a checkpoint. Two of one size both stay: of two roots, they prove that the log was rewritten.
    pub async fn publish_checkpoint(&self, row: &CheckpointRow) -> Result<(), EngineError> {
        fits("a checkpoint", &row.body, SMALL_MAX)?;
        fits("a signature", row.signature.as_bytes(), SIGNATURE_MAX)?;
        let size = large(row.size)?;
        self.held()
            .await?
            .put(
                "INSERT INTO desk.checkpoint (host, size, body, signature) VALUES ($1, $2, $3, $4)",
                "desk.checkpoint WHERE host = $1 AND size = $2 AND body = $3 AND signature = $4",
                &[
                    (&row.host, Type::TEXT),
                    (&size, Type::INT8),
                    (&row.body, Type::BYTEA),
                    (&row.signature, Type::TEXT),
                ],
            )
            .await
    }

    /// Signs another host's checkpoint. A host signs each once.
    pub async fn cosign(&self, row: &CosignatureRow) -> Result<(), EngineError> {
        fits("a signature", row.signature.as_bytes(), SIGNATURE_MAX)?;
        let size = large(row.size)?;
        self.held()
            .await?
            .put(
                "INSERT INTO desk.cosignature (host, size, root, cosigner, signature) \
                 VALUES ($1, $2, $3, $4, $5)",
                "desk.cosignature WHERE host = $1 AND size = $2 AND root = $3 AND cosigner = $4 \
                 AND signature = $5",
                &[
                    (&row.host, Type::TEXT),
                    (&size, Type::INT8),
                    (&&row.root.as_bytes()[..], Type::BYTEA),
                    (&row.cosigner, Type::TEXT),
                    (&row.signature, Type::TEXT),
                ],
            )
            .await
    }

    /// All hosts' checkpoints.
    pub async fn checkpoints(
        &self,
        since: Option<Seen>,
    ) -> Result<Page<CheckpointRow>, EngineError> {
        let list = List {
            table: "checkpoint",
            columns: "host, size, body, signature",
            filter: "true",
            key: "(host || ' ' || size || ' ' || encode(digest, 'hex'))",
            bytes: "(octet_length(body) + octet_length(signature))",
            most: SMALL_MAX + SIGNATURE_MAX,
        };
        self.held().await?.list(&list, since, &[], checkpoint).await
    }

    /// All hosts' signatures on each other's checkpoints.
    pub async fn cosignatures(
        &self,
        since: Option<Seen>,
    ) -> Result<Page<CosignatureRow>, EngineError> {
        let list = List {
            table: "cosignature",
            columns: "host, size, root, cosigner, signature",
            filter: "true",
            key: "(host || ' ' || size || ' ' || cosigner || ' ' || encode(root, 'hex'))",
            bytes: "octet_length(signature)",
            most: SIGNATURE_MAX,
        };
        self.held()
            .await?
            .list(&list, since, &[], cosignature)
            .await
    }

    /// Some checkpoints of each of these hosts, the largest and those that came last, and its [doubts](Self::doubts).
    pub async fn newest_checkpoints(
        &self,
        hosts: &[String],
    ) -> Result<Vec<CheckpointRow>, EngineError> {
        let some = |order: &str| {
            format!(
                "(SELECT c.host, c.size, c.body, c.signature, c.digest FROM desk.checkpoint c \
                 WHERE c.host = h.host AND NOT c.doubt AND octet_length(c.body) <= {SMALL_MAX} \
                 AND octet_length(c.signature) <= {SIGNATURE_MAX} ORDER BY c.{order} DESC LIMIT {EACH})"
            )
        };
        let sql = format!(
            "SELECT c.host, c.size, c.body, c.signature FROM unnest($1::text[]) AS h(host) \
             CROSS JOIN LATERAL ({} UNION {}) c",
            some("size"),
            some("at"),
        );
        let mut rows = self.of_hosts(&sql, hosts, checkpoint).await?;
        rows.extend(self.doubts(hosts, "true").await?);
        Ok(rows)
    }

    /// What stands there as hosts' words that their logs are not the ones that they signed. There are few: noise takes other room, and
    /// between the oldest and the newest of them lies noise of hours.
    async fn doubts(
        &self,
        hosts: &[String],
        which: &str,
    ) -> Result<Vec<CheckpointRow>, EngineError> {
        let some = |order: &str, most: usize| {
            format!(
                "(SELECT c.host, c.size, c.body, c.signature, c.digest FROM desk.checkpoint c \
                 WHERE c.host = h.host AND c.doubt AND {which} \
                 AND octet_length(c.body) + octet_length(c.signature) <= {DOUBT_MAX} ORDER BY c.at {order} LIMIT {most})"
            )
        };
        let sql = format!(
            "SELECT c.host, c.size, c.body, c.signature FROM unnest($1::text[]) AS h(host) \
             CROSS JOIN LATERAL ({} UNION {}) c",
            some("DESC", DOUBTS_NEW),
            some("ASC", DOUBTS_OLD),
        );
        self.of_hosts(&sql, hosts, checkpoint).await
    }

    /// Checkpoints and doubts of these hosts that came within the last minute and a half, by the engine's clock. One host's do not take
    /// the place of another one's.
    pub async fn late_checkpoints(
        &self,
        hosts: &[String],
    ) -> Result<Vec<CheckpointRow>, EngineError> {
        let sql = format!(
            "SELECT c.host, c.size, c.body, c.signature FROM unnest($1::text[]) AS h(host) CROSS JOIN LATERAL (\
               SELECT * FROM desk.checkpoint c WHERE c.host = h.host AND NOT c.doubt AND {LATE} \
               AND octet_length(c.body) <= {SMALL_MAX} AND octet_length(c.signature) <= {SIGNATURE_MAX} \
               ORDER BY c.at DESC LIMIT {LATE_EACH}) c"
        );
        let mut rows = self.of_hosts(&sql, hosts, checkpoint).await?;
        rows.extend(self.doubts(hosts, LATE).await?);
        Ok(rows)
    }

    /// Checkpoints of a host from this size on, the smallest first.
    pub async fn checkpoints_from(
        &self,
        host: &str,
        size: u64,
    ) -> Result<Vec<CheckpointRow>, EngineError> {
        let sql = format!(
            "SELECT c.host, c.size, c.body, c.signature FROM desk.checkpoint c WHERE c.host = $1 \
             AND c.size >= $2 AND octet_length(c.body) <= {SMALL_MAX} \
             AND octet_length(c.signature) <= {SIGNATURE_MAX} ORDER BY c.size, c.digest LIMIT {ROWS_MAX}"
        );
        let size = large(size)?;
        self.some(
            &sql,
            &[(&host, Type::TEXT), (&size, Type::INT8)],
            checkpoint,
        )
        .await
    }

    /// Signatures on the largest checkpoints of each of these hosts.
    pub async fn newest_cosignatures(
        &self,
        hosts: &[String],
    ) -> Result<Vec<CosignatureRow>, EngineError> {
        let sql = format!(
            "SELECT c.host, c.size, c.root, c.cosigner, c.signature FROM unnest($1::text[]) AS h(host) \
             CROSS JOIN LATERAL (SELECT p.*, row_number() OVER (PARTITION BY p.cosigner ORDER BY p.size DESC, p.at DESC) AS n \
               FROM (SELECT * FROM desk.cosignature c WHERE c.host = h.host \
                 AND octet_length(c.signature) <= {SIGNATURE_MAX} ORDER BY c.size DESC LIMIT {COSIGNED_MAX}) p \
               ORDER BY n LIMIT {COSIGNED_EACH}) c"
        );
        self.of_hosts(&sql, hosts, cosignature).await
    }

    /// Which of these proposals this host offered, and has proved nothing about.
    pub async fn unproved(
        &self,
        host: &str,
        proposals: &[ProposalId],
    ) -> Result<Vec<ProposalId>, EngineError> {
        let proposals: Vec<Uuid> = proposals.iter().map(ProposalId::uuid).collect();
        let sql = "SELECT DISTINCT o.proposal FROM desk.offer o WHERE o.host = $1 AND o.proposal = ANY($2) \
                   AND NOT EXISTS (SELECT FROM desk.statement s WHERE s.host = o.host \
                   AND s.proposal = o.proposal AND s.kind = 'proof')";
        let params = [
            (&host as _, Type::TEXT),
            (&proposals as _, Type::UUID_ARRAY),
        ];
        self.some(sql, &params, |row| {
            Ok(Some(ProposalId::from_uuid(get(row, "proposal")?)))
        })
        .await
    }

    /// All offers that this login may read, those that are over too.
    pub async fn every_offer(&self, since: Option<Seen>) -> Result<Page<OfferRow>, EngineError> {
        let list = List {
            filter: "true",
            ..OFFERS
        };
        self.held().await?.list(&list, since, &[], offer).await
    }

    /// All statements about offers that this login may read. Answers to gateways are about none.
    pub async fn every_statement(
        &self,
        since: Option<Seen>,
    ) -> Result<Page<StatementRow>, EngineError> {
        let list = List {
            filter: "gateway IS NULL",
            ..STATEMENTS
        };
        self.held().await?.list(&list, since, &[], statement).await
    }

    async fn of_hosts<T>(
        &self,
        sql: &str,
        hosts: &[String],
        read: impl Fn(&Row) -> Result<Option<T>, EngineError> + Copy,
    ) -> Result<Vec<T>, EngineError> {
        let mut all = Vec::new();
        for some in hosts.chunks(HOSTS_AT_ONCE) {
            all.extend(self.some(sql, &[(&some, Type::TEXT_ARRAY)], read).await?);
        }
        Ok(all)
    }

    /// What no client of this program wrote is left out.
    async fn some<T>(
        &self,
        sql: &str,
        params: &[Param<'_>],
        read: impl Fn(&Row) -> Result<Option<T>, EngineError>,
    ) -> Result<Vec<T>, EngineError> {
        let rows = self.held().await?.rows(sql, params).await?;
        let mut all = Vec::new();
        for row in &rows {
            match read(row) {
                Ok(one) => all.extend(one),
                Err(EngineError::Protocol(_)) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(all)
    }
}

pub(super) fn checkpoint(row: &Row) -> Result<Option<CheckpointRow>, EngineError> {
    let Ok(size) = u64::try_from(get::<i64>(row, "size")?) else {
        return Ok(None);
    };
    Ok(Some(CheckpointRow {
        host: get(row, "host")?,
        size,
        body: get(row, "body")?,
        signature: get(row, "signature")?,
    }))
}

fn cosignature(row: &Row) -> Result<Option<CosignatureRow>, EngineError> {
    let root: Result<[u8; 32], _> = get::<&[u8]>(row, "root")?.try_into();
    let size = u64::try_from(get::<i64>(row, "size")?);
    let (Ok(root), Ok(size)) = (root, size) else {
        return Ok(None);
    };
    Ok(Some(CosignatureRow {
        host: get(row, "host")?,
        size,
        root: Digest::from_bytes(root),
        cosigner: get(row, "cosigner")?,
        signature: get(row, "signature")?,
    }))
}
