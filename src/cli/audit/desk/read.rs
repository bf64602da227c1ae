//! Everything that the engine has, checked row by row. What does not hold is a fault and not an answer.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::ballot::Key;
use crate::broker::offer::{Offer, Says, Statement};
use crate::desk::engine::{
    CheckpointRow, Engine, EngineError, Occasion, OfferRow, Page, Seen, StatementRow,
};
use crate::desk::evidence::{Book, Proved};
use crate::desk::hosts::Hosts;
use crate::model::{Person, ProposalId, State, VoteKind};

/// What was asked, and what is not believed of it.
pub(super) struct Asked {
    pub book: Book,
    /// The newest first.
    pub proposals: Vec<Proposal>,
}

/// A proposal that a host offered.
pub(super) struct Proposal {
    pub host: String,
    pub id: ProposalId,
    pub at: Timestamp,
    pub profile: String,
    /// How many versions of it were offered.
    pub versions: usize,
    pub votes: BTreeSet<(Person, VoteKind)>,
    pub proved: Option<Proved>,
    /// The last that the host said of it, with its number.
    told: Option<(u64, State)>,
}

impl Proposal {
    pub fn state(&self) -> State {
        let told = self.told.map_or(State::Pending, |(_, state)| state);
        self.proved.as_ref().map_or(told, |proved| proved.state)
    }

    pub fn is_final(&self) -> bool {
        self.state().is_final()
    }
}

type Proposals = BTreeMap<(String, ProposalId), Proposal>;

impl Asked {
    pub async fn read(engine: &Engine, hosts: Hosts) -> Result<Self, EngineError> {
        let mut book = Book::new(hosts);
        let mut proposals = Proposals::new();
        let mut odd = 0;
        let each = |row: CheckpointRow| book.checkpoint(&row);
        odd += all(async |seen| engine.checkpoints(seen).await, each).await?;
        let each = |row| book.cosignature(row);
        odd += all(async |seen| engine.cosignatures(seen).await, each).await?;
        let each = |row: OfferRow| {
            let name = format!("the offer of {}", row.proposal);
            if book.hosts().key(&row.host).is_none() {
                book.unknown(&row.host);
            } else if book.is_signed(&row.host, &row.body, &row.signature, &name)
                && let Err(why) = offered(&book, &mut proposals, &row)
            {
                book.fault(&row.host, format!("{name}: {why}"));
            }
        };
        odd += all(async |seen| engine.every_offer(seen).await, each).await?;
        let each = |row: StatementRow| {
            let name = format!("what it says of {}", row.proposal);
            if book.hosts().key(&row.host).is_none() {
                book.unknown(&row.host);
            } else if book.is_signed(&row.host, &row.body, &row.signature, &name)
                && let Err(why) = said(&book, &mut proposals, &row)
            {
                book.fault(&row.host, format!("{name}: {why}"));
            }
        };
        odd += all(async |seen| engine.every_statement(seen).await, each).await?;
        if odd > 0 {
            book.fault(
                "?",
                format!("{odd} rows that no client of this program wrote"),
            );
        }
        for proposal in proposals.values() {
            contradicts(proposal, &mut book);
        }
        book.close(true);
        let mut proposals: Vec<Proposal> = proposals.into_values().collect();
        proposals.sort_by_key(|one| std::cmp::Reverse((one.at, one.id)));
        Ok(Self { book, proposals })
    }

    pub fn only(&mut self, host: Option<&str>) {
        let Some(host) = host else { return };
        self.proposals.retain(|proposal| proposal.host == host);
        self.book.chains.retain(|name, _| name == host);
        self.book
            .faults
            .retain(|fault| fault.host == host || fault.host == "?");
    }
}

/// Hands on each row of a list, page after page. Returns how many were left out.
async fn all<T>(
    read: impl AsyncFn(Option<Seen>) -> Result<Page<T>, EngineError>,
    mut each: impl FnMut(T),
) -> Result<usize, EngineError> {
    let (mut seen, mut odd) = (None, 0);
    loop {
        let page = read(seen).await?;
        page.rows.into_iter().for_each(&mut each);
        odd += page.odd;
        // A server that gives the same again would be asked for ever.
        if !page.more || page.seen <= seen {
            return Ok(odd);
        }
        seen = page.seen;
    }
}

fn offered(book: &Book, proposals: &mut Proposals, row: &OfferRow) -> Result<(), String> {
    let offer = Offer::read(&row.body).map_err(|e| e.to_string())?;
    is_its_own(book, &row.host, (&offer.host, &offer.host_key))?;
    let place = (offer.proposal, offer.version, offer.deadline);
    // The engine keeps microseconds.
    let deadline = |at: Timestamp| at.as_microsecond();
    if (place.0, place.1, deadline(place.2)) != (row.proposal, row.version, deadline(row.deadline))
    {
        return Err("it was moved: it is signed for another proposal, version or time".to_owned());
    }
    let key = (row.host.clone(), row.proposal);
    let proposal = proposals.entry(key).or_insert_with(|| Proposal {
        host: row.host.clone(),
        id: row.proposal,
        at: offer.proposed_at,
        profile: offer.policy.name.clone(),
        versions: 0,
        votes: BTreeSet::new(),
        proved: None,
        told: None,
    });
    proposal.versions = proposal
        .versions
        .max(usize::try_from(row.version).unwrap_or(0));
    Ok(())
}

fn said(book: &Book, proposals: &mut Proposals, row: &StatementRow) -> Result<(), String> {
    let place = (row.host.as_str(), row.proposal);
    if row.occasion == Occasion::Proof {
        let proved = Proved::read(book.hosts(), place, &row.body, &row.signature)?;
        if proved.record.seq != row.seq {
            return Err("its proof was moved".to_owned());
        }
        if let Some(proposal) = proposals.get_mut(&(row.host.clone(), row.proposal)) {
            proposal.proved = Some(proved);
            return Ok(());
        }
        return Err("its record is proved, and its offer is gone from the engine".to_owned());
    }
    let statement = Statement::read(&row.body)?;
    is_its_own(book, &row.host, (&statement.host, &statement.host_key))?;
    if (statement.proposal, statement.number, &statement.to) != (row.proposal, row.seq, &row.to) {
        return Err("it was moved: it is signed for another proposal, number or person".to_owned());
    }
    let Some(proposal) = proposals.get_mut(&(row.host.clone(), row.proposal)) else {
        return Err("its offer is gone from the engine".to_owned());
    };
    match statement.says {
        Says::Counted { votes, .. } => {
            let votes = votes.into_iter().map(|vote| (vote.voter, vote.vote));
            proposal.votes.extend(votes);
        }
        Says::State { state, .. } if proposal.told.is_none_or(|(n, _)| n < statement.number) => {
            proposal.told = Some((statement.number, state));
        }
        Says::NotCounted { .. }
        | Says::Escalated { .. }
        | Says::MayVote(_)
        | Says::State { .. } => {}
    }
    Ok(())
}

fn is_its_own(book: &Book, host: &str, (name, key): (&str, &str)) -> Result<(), String> {
    match name == host && book.hosts().key(host).map(Key::fingerprint) == Some(key) {
        true => Ok(()),
        false => Err("it is signed for another host".to_owned()),
    }
}

/// What a host told against what its log has.
fn contradicts(proposal: &Proposal, book: &mut Book) {
    let Some(proved) = &proposal.proved else {
        return;
    };
    let (id, host) = (proposal.id, proposal.host.as_str());
    let chain = book.chains.get(host);
    if !chain.is_some_and(|chain| chain.has(proved.checkpoint)) {
        let what = format!(
            "the checkpoint of {} records in which {id} is proved is gone from the engine",
            proved.checkpoint.0
        );
        return book.fault(host, what);
    }
    if let Some((_, told)) = proposal.told
        && told.is_final()
        && told != proved.state
        // A host that was started anew says so of all that was open.
        && told != State::Unattended
    {
        let what = format!(
            "it told that {id} is {told}, and its log has {}",
            proved.state
        );
        book.fault(host, what);
    }
}
