//! What reviewers do, and what gateways and auditors read.

use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::model::{Person, ProposalId};

use super::Engine;
use super::error::EngineError;
use super::host::{fits, small};
use super::page::{List, Page, Seen, get, number};
use super::rows::{
    BODY_MAX, ClaimRow, Occasion, OfferRow, ROLES_MAX, SIGNATURE_MAX, SMALL_MAX, StatementRow,
    VoteRow,
};

/// Offers whose deadline is not past by the engine's clock.
pub(super) const OFFERS: List = List {
    table: "offer",
    columns: "host, proposal, version, roles, deadline, body, signature",
    filter: "deadline > now()",
    key: "(host || ' ' || proposal || ' ' || version)",
    // Each role has a length of four bytes beside it.
    bytes: "(octet_length(body) + octet_length(signature) + 4 * octet_length(array_to_string(roles, ',')))",
    most: BODY_MAX + SIGNATURE_MAX + 4 * ROLES_MAX,
};

/// Statements on some proposals, but not what is for auditors.
pub(super) const STATEMENTS: List = List {
    table: "statement",
    columns: "host, proposal, seq, person, gateway, kind, body, signature",
    filter: "proposal = ANY($3) AND kind <> 'proof'",
    key: "(host || ' ' || proposal || ' ' || seq)",
    bytes: "(octet_length(body) + octet_length(signature))",
    most: BODY_MAX + SIGNATURE_MAX,
};

impl Engine {
    /// The offers that this login may read and whose deadline is not past by the engine's clock.
    pub async fn offers(&self, since: Option<Seen>) -> Result<Page<OfferRow>, EngineError> {
        self.held().await?.list(&OFFERS, since, &[], offer).await
    }

    /// What hosts say about these proposals, or in answer to these requests.
    pub async fn statements_for(
        &self,
        proposals: &[ProposalId],
        since: Option<Seen>,
    ) -> Result<Page<StatementRow>, EngineError> {
        let proposals: Vec<Uuid> = proposals.iter().map(ProposalId::uuid).collect();
        let mut held = self.held().await?;
        held.list(
            &STATEMENTS,
            since,
            &[(&proposals, Type::UUID_ARRAY)],
            statement,
        )
        .await
    }

    /// Hands in a vote.
    pub async fn cast(&self, vote: &VoteRow) -> Result<(), EngineError> {
        fits("a vote", &vote.body, SMALL_MAX)?;
        let version = small(vote.version)?;
        self.held()
            .await?
            .put(
                "INSERT INTO desk.vote (host, proposal, version, kind, voter, body) \
                 VALUES ($1, $2, $3, $4, $5, $6)",
                "desk.vote WHERE host = $1 AND proposal = $2 AND version = $3 AND kind = $4 \
                 AND voter = $5 AND body = $6",
                &[
                    (&vote.host, Type::TEXT),
                    (&vote.proposal.uuid(), Type::UUID),
                    (&version, Type::INT4),
                    (&vote.kind.as_str(), Type::TEXT),
                    (&vote.voter.as_str(), Type::TEXT),
                    (&vote.body, Type::BYTEA),
                ],
            )
            .await
    }

    /// Says that this person reads a proposal.
    pub async fn claim(&self, claim: &ClaimRow) -> Result<(), EngineError> {
        self.held()
            .await?
            .put(
                "INSERT INTO desk.claim (host, proposal, person) VALUES ($1, $2, $3)",
                "desk.claim WHERE host = $1 AND proposal = $2 AND person = $3",
                &[
                    (&claim.host, Type::TEXT),
                    (&claim.proposal.uuid(), Type::UUID),
                    (&claim.person.as_str(), Type::TEXT),
                ],
            )
            .await
    }

    /// Who read what within the last minute and a half, of the offers that this login may read.
    pub async fn claims(&self, since: Option<Seen>) -> Result<Page<ClaimRow>, EngineError> {
        let list = List {
            table: "claim",
            columns: "host, proposal, person",
            filter: "at > now() - interval '90 seconds'",
            key: "(host || ' ' || proposal || ' ' || login || ' ' || minute)",
            bytes: "octet_length(person)",
            most: 128,
        };
        let mut held = self.held().await?;
        held.list(&list, since, &[], |row| {
            let Ok(person) = Person::new(get(row, "person")?) else {
                return Ok(None);
            };
            Ok(Some(ClaimRow {
                host: get(row, "host")?,
                proposal: ProposalId::from_uuid(get(row, "proposal")?),
                person,
            }))
        })
        .await
    }
}

pub(super) fn offer(row: &Row) -> Result<Option<OfferRow>, EngineError> {
    let Some(version) = number(row, "version")? else {
        return Ok(None);
    };
    Ok(Some(OfferRow {
        host: get(row, "host")?,
        proposal: ProposalId::from_uuid(get(row, "proposal")?),
        version,
        roles: get(row, "roles")?,
        deadline: get(row, "deadline")?,
        body: get(row, "body")?,
        signature: get(row, "signature")?,
    }))
}

pub(super) fn statement(row: &Row) -> Result<Option<StatementRow>, EngineError> {
    let kind: &str = get(row, "kind")?;
    let occasion = Occasion::ALL.into_iter().find(|o| o.as_str() == kind);
    let seq = u64::try_from(get::<i64>(row, "seq")?);
    let to = get::<Option<&str>>(row, "person")?
        .map(Person::new)
        .transpose();
    let (Some(occasion), Ok(seq), Ok(to)) = (occasion, seq, to) else {
        return Ok(None);
    };
    Ok(Some(StatementRow {
        host: get(row, "host")?,
        proposal: ProposalId::from_uuid(get(row, "proposal")?),
        seq,
        to,
        gateway: get(row, "gateway")?,
        occasion,
        body: get(row, "body")?,
        signature: get(row, "signature")?,
    }))
}
