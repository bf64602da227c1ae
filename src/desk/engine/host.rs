//! What hosts and the gateways of agents elsewhere do.

use std::collections::BTreeSet;

use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::model::{Person, ProposalId, VoteKind};

use super::Engine;
use super::error::{EngineError, cut};
use super::held::{Held, Param};
use super::page::{List, Page, Seen, get, number};
use super::rows::{
    BODY_MAX, OfferRow, RequestRow, SIGNATURE_MAX, SMALL_MAX, StatementRow, VoteRow,
};

impl Engine {
    /// Offers a proposal. Refused if another offer stands under the same host, proposal and version.
    pub async fn publish_offer(&self, offer: &OfferRow) -> Result<(), EngineError> {
        fits("an offer", &offer.body, BODY_MAX)?;
        fits("a signature", offer.signature.as_bytes(), SIGNATURE_MAX)?;
        let version = small(offer.version)?;
        self.held()
            .await?
            .put(
                "INSERT INTO desk.offer (host, proposal, version, roles, deadline, body, signature) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7)",
                "desk.offer WHERE host = $1 AND proposal = $2 AND version = $3 AND roles = $4 \
                 AND deadline = $5 AND body = $6 AND signature = $7",
                &[
                    (&offer.host, Type::TEXT),
                    (&offer.proposal.uuid(), Type::UUID),
                    (&version, Type::INT4),
                    (&offer.roles, Type::TEXT_ARRAY),
                    (&offer.deadline, Type::TIMESTAMPTZ),
                    (&offer.body, Type::BYTEA),
                    (&offer.signature, Type::TEXT),
                ],
            )
            .await
    }

    /// The newest versions of this host's offers whose deadline is not past by the engine's clock. The engine lets a host
    /// have at most 1,000.
    pub async fn own_open(&self, host: &str) -> Result<Vec<(ProposalId, u32)>, EngineError> {
        let mut held = self.held().await?;
        let rows = held
            .rows(
                "SELECT proposal, max(version) AS version FROM desk.offer \
                 WHERE host = $1 AND deadline > now() GROUP BY proposal LIMIT 2000",
                &[(&host, Type::TEXT)],
            )
            .await?;
        let mut open = Vec::new();
        for row in rows {
            if let Some(version) = number(&row, "version")? {
                open.push((ProposalId::from_uuid(get(&row, "proposal")?), version));
            }
        }
        Ok(open)
    }

    /// Which of these offers of this host are there.
    pub async fn kept(
        &self,
        host: &str,
        offers: &[(ProposalId, u32)],
    ) -> Result<BTreeSet<(ProposalId, u32)>, EngineError> {
        let (proposals, versions) = columns(offers)?;
        let mut held = self.held().await?;
        let rows = held
            .rows(
                "SELECT proposal, version FROM desk.offer WHERE host = $1 \
                 AND (proposal, version) IN (SELECT * FROM unnest($2::uuid[], $3::integer[]))",
                &[
                    (&host, Type::TEXT),
                    (&proposals, Type::UUID_ARRAY),
                    (&versions, Type::INT4_ARRAY),
                ],
            )
            .await?;
        let mut kept = BTreeSet::new();
        for row in rows {
            if let Some(version) = number(&row, "version")? {
                kept.insert((ProposalId::from_uuid(get(&row, "proposal")?), version));
            }
        }
        Ok(kept)
    }

    /// Which of these statements of this host, by proposal and number, are there.
    pub async fn kept_statements(
        &self,
        host: &str,
        told: &[(ProposalId, u64)],
    ) -> Result<BTreeSet<(ProposalId, u64)>, EngineError> {
        let proposals: Vec<Uuid> = told.iter().map(|(proposal, _)| proposal.uuid()).collect();
        let numbers: Result<Vec<i64>, _> = told.iter().map(|(_, n)| large(*n)).collect();
        let mut held = self.held().await?;
        let rows = held
            .rows(
                "SELECT proposal, seq FROM desk.statement WHERE host = $1 \
                 AND (proposal, seq) IN (SELECT * FROM unnest($2::uuid[], $3::bigint[]))",
                &[
                    (&host, Type::TEXT),
                    (&proposals, Type::UUID_ARRAY),
                    (&numbers?, Type::INT8_ARRAY),
                ],
            )
            .await?;
        let mut kept = BTreeSet::new();
        for row in rows {
            if let Ok(number) = u64::try_from(get::<i64>(&row, "seq")?) {
                kept.insert((ProposalId::from_uuid(get(&row, "proposal")?), number));
            }
        }
        Ok(kept)
    }

    /// Whether this host has said anything to a request of a gateway.
    pub async fn has_answered(
        &self,
        host: &str,
        gateway: &str,
        request: Uuid,
    ) -> Result<bool, EngineError> {
        let mut held = self.held().await?;
        let rows = held
            .rows(
                "SELECT seq FROM desk.statement WHERE host = $1 AND gateway = $2 AND proposal = $3 LIMIT 1",
                &[
                    (&host, Type::TEXT),
                    (&gateway, Type::TEXT),
                    (&request, Type::UUID),
                ],
            )
            .await?;
        Ok(!rows.is_empty())
    }

    /// The votes on these offers that came since, in one snapshot, whatever their signatures are worth.
    pub async fn votes_for(
        &self,
        host: &str,
        open: &[(ProposalId, u32)],
        since: Option<Seen>,
    ) -> Result<Page<VoteRow>, EngineError> {
        let (proposals, versions) = columns(open)?;
        let list = List {
            table: "vote",
            columns: "host, proposal, version, kind, voter, body, login",
            filter: "host = $3 AND (proposal, version) IN (SELECT * FROM unnest($4::uuid[], $5::integer[]))",
            key: "(proposal::text || ' ' || version || ' ' || login || ' ' || kind || ' ' || encode(digest, 'hex'))",
            bytes: "octet_length(body)",
            most: SMALL_MAX,
        };
        let mut held = self.held().await?;
        held.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY")
            .await?;
        let page = held
            .list(
                &list,
                since,
                &[
                    (&host, Type::TEXT),
                    (&proposals, Type::UUID_ARRAY),
                    (&versions, Type::INT4_ARRAY),
                ],
                vote,
            )
            .await?;
        held.commit().await?;
        Ok(page)
    }

    /// Says something about a proposal. Refused if something else stands under the same host, proposal and number.
    pub async fn publish_statement(&self, said: &StatementRow) -> Result<(), EngineError> {
        fits("a statement", &said.body, BODY_MAX)?;
        fits("a signature", said.signature.as_bytes(), SIGNATURE_MAX)?;
        let seq = large(said.seq)?;
        let to = said.to.as_ref().map(Person::as_str);
        self.held()
            .await?
            .put(
                "INSERT INTO desk.statement (host, proposal, seq, kind, body, signature, person, gateway) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                "desk.statement WHERE host = $1 AND proposal = $2 AND seq = $3 AND kind = $4 \
                 AND body = $5 AND signature = $6 AND person IS NOT DISTINCT FROM $7 \
                 AND gateway IS NOT DISTINCT FROM $8",
                &[
                    (&said.host, Type::TEXT),
                    (&said.proposal.uuid(), Type::UUID),
                    (&seq, Type::INT8),
                    (&said.occasion.as_str(), Type::TEXT),
                    (&said.body, Type::BYTEA),
                    (&said.signature, Type::TEXT),
                    (&to, Type::TEXT),
                    (&said.gateway, Type::TEXT),
                ],
            )
            .await
    }

    /// What agents elsewhere ask of this host and is not past its deadline.
    pub async fn requests(
        &self,
        host: &str,
        since: Option<Seen>,
    ) -> Result<Page<RequestRow>, EngineError> {
        let list = List {
            table: "request",
            columns: "host, id, deadline, body, login",
            filter: "host = $3 AND deadline > now()",
            key: "(login || ' ' || id)",
            bytes: "octet_length(body)",
            most: BODY_MAX,
        };
        let mut held = self.held().await?;
        held.list(&list, since, &[(&host, Type::TEXT)], |row| {
            request(row).map(Some)
        })
        .await
    }

    /// The request of this login at this host under this name, also one whose deadline passed. A gateway finds its own only.
    pub async fn request_by(
        &self,
        host: &str,
        login: Option<&str>,
        id: Uuid,
    ) -> Result<Option<RequestRow>, EngineError> {
        let mut held = self.held().await?;
        let rows = held
            .rows(
                "SELECT host, id, deadline, body, login FROM desk.request \
                 WHERE host = $1 AND id = $2 AND login = coalesce($3, current_user::text)",
                &[(&host, Type::TEXT), (&id, Type::UUID), (&login, Type::TEXT)],
            )
            .await?;
        rows.first().map(request).transpose()
    }

    /// Asks something of a host, as a gateway.
    pub async fn request(&self, request: &RequestRow) -> Result<(), EngineError> {
        fits("a request", &request.body, BODY_MAX)?;
        self.held()
            .await?
            .put(
                "INSERT INTO desk.request (host, id, deadline, body) VALUES ($1, $2, $3, $4)",
                "desk.request WHERE host = $1 AND id = $2 AND deadline = $3 AND body = $4",
                &[
                    (&request.host, Type::TEXT),
                    (&request.id, Type::UUID),
                    (&request.deadline, Type::TIMESTAMPTZ),
                    (&request.body, Type::BYTEA),
                ],
            )
            .await
    }
}

impl Held {
    /// Adds a row unless it is there. `same` is the table and the condition that finds this very row.
    pub(super) async fn put(
        &mut self,
        insert: &str,
        same: &str,
        params: &[Param<'_>],
    ) -> Result<(), EngineError> {
        let added = format!(
            "WITH put AS ({insert} ON CONFLICT DO NOTHING RETURNING 1) \
             SELECT (SELECT count(*) FROM put) + (SELECT count(*) FROM {same}) AS n"
        );
        // The first does not see a row that another session adds meanwhile.
        for sql in [added, format!("SELECT count(*) AS n FROM {same}")] {
            let rows = self.rows(&sql, params).await?;
            let Some(row) = rows.first() else {
                return Err(EngineError::Protocol(
                    "it counts without a number".to_owned(),
                ));
            };
            if get::<i64>(row, "n")? > 0 {
                return Ok(());
            }
        }
        Err(EngineError::Refused(
            "something else is there under the same name".to_owned(),
        ))
    }
}

fn request(row: &tokio_postgres::Row) -> Result<RequestRow, EngineError> {
    Ok(RequestRow {
        host: get(row, "host")?,
        id: get(row, "id")?,
        deadline: get(row, "deadline")?,
        body: get(row, "body")?,
        login: cut(get(row, "login")?),
    })
}

pub(super) fn vote(row: &tokio_postgres::Row) -> Result<Option<VoteRow>, EngineError> {
    let kind: &str = get(row, "kind")?;
    let kind = VoteKind::ALL.into_iter().find(|k| k.as_str() == kind);
    let voter = Person::new(get(row, "voter")?).ok();
    let (Some(kind), Some(voter), Some(version)) = (kind, voter, number(row, "version")?) else {
        return Ok(None);
    };
    Ok(Some(VoteRow {
        host: get(row, "host")?,
        proposal: ProposalId::from_uuid(get(row, "proposal")?),
        version,
        kind,
        voter,
        body: get(row, "body")?,
        login: cut(get(row, "login")?),
    }))
}

pub(super) fn fits(what: &str, bytes: &[u8], most: usize) -> Result<(), EngineError> {
    match bytes.len() <= most {
        true => Ok(()),
        false => Err(EngineError::TooLarge(format!(
            "{what} of {} bytes, where {most} is the most",
            bytes.len()
        ))),
    }
}

/// Proposals and versions as two arrays of one length.
fn columns(offers: &[(ProposalId, u32)]) -> Result<(Vec<Uuid>, Vec<i32>), EngineError> {
    let proposals = offers.iter().map(|(proposal, _)| proposal.uuid()).collect();
    let versions: Result<Vec<i32>, _> = offers.iter().map(|(_, n)| small(*n)).collect();
    Ok((proposals, versions?))
}

pub(super) fn small(n: u32) -> Result<i32, EngineError> {
    i32::try_from(n).map_err(|_| EngineError::TooLarge(format!("the number {n}")))
}

pub(super) fn large(n: u64) -> Result<i64, EngineError> {
    i64::try_from(n).map_err(|_| EngineError::TooLarge(format!("the number {n}")))
}
