//! Carries what a host offers and says to the engine, and brings the votes from there.
//!
//! The engine may be away as long as it likes: what stands on the board is carried as soon as it is back, and nothing is granted
//! meanwhile, because votes are all that grants.

pub mod evidence;
mod lines;
mod requests;
mod taken;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::broker::offer::{Says, Statement, StatementFormat};
use crate::model::{Digest, ProposalId, Role, State, Via, Vote, visible};

use super::Board;
use super::board::{Letter, Letters};
use super::engine::{Duty, Engine, EngineError, Listener, Occasion, OfferRow, Seen, StatementRow};
use super::local::Voters;
use super::wire::{FromHost, Signed};

pub use requests::Requests;

/// Between two attempts to reach the engine.
const AGAIN: Duration = Duration::from_secs(2);

/// How often the engine is asked what it still has of what it took. After a failover that may be less.
const RECALL: Duration = Duration::from_secs(60);

/// Votes on one version that are handed on. Everybody has one or two; who can add rows without end gets no more of this host.
const VOTES_MAX: usize = 1024;

/// What was said before this start of what nobody decides any more.
const GONE: &str = "the host was started anew before anything was decided here; what had been granted is in its own log";

/// A host's place at the engine.
pub struct Post<V> {
    pub engine: Engine,
    pub host: String,
    pub host_key: String,
    pub board: Board,
    pub voters: V,
    /// What agents elsewhere ask; `None` if this host takes nothing from them.
    pub requests: Option<Requests>,
}

/// What is known of the engine.
#[derive(Default)]
struct Done {
    /// Whether the login is this host's, and what an earlier start left there is over.
    greeted: bool,
    offered: BTreeSet<(ProposalId, u32)>,
    told: BTreeSet<(ProposalId, u64)>,
    /// Votes that were handed on, by the digest of their login and bytes.
    cast: BTreeMap<(ProposalId, u32), BTreeSet<Digest>>,
    /// How far votes were read.
    seen: Option<Seen>,
    /// Whether the engine may have lost what it took: another server may stand in, with a clock of its own.
    is_doubted: bool,
}

impl<V: Voters> Post<V> {
    /// Carries until it is dropped. `news` hears that the engine is there (`None`) or why not, whenever that changes.
    pub async fn carry(mut self, news: impl Fn(Option<String>)) {
        let mut listener = Listener::for_host(&self.engine, &self.host);
        let mut changed = self.board.changed();
        let mut requests = self.requests.take();
        let mut answers = requests.as_ref().map(Requests::changed);
        let mut done = Done::default();
        let mut last = None;
        let mut recall = Instant::now() + RECALL;
        loop {
            changed.mark_unchanged();
            if Instant::now() >= recall {
                done.is_doubted = true;
                recall = Instant::now() + RECALL;
            }
            if let Some(answers) = &mut answers {
                answers.mark_unchanged();
            }
            let mut more = false;
            let mut why = self.round(&mut done).await.err();
            if let (Some(requests), true) = (&mut requests, done.greeted) {
                // What the engine refuses of the rest holds up no answer.
                match requests.round().await {
                    Ok(left) => more = left,
                    Err(e) => why = why.or(Some(e)),
                }
            }
            let why = why.map(|e| e.to_string());
            let lost = why.is_some();
            done.is_doubted |= lost;
            if let (Some(requests), true) = (&mut requests, lost) {
                requests.anew();
            }
            if last.as_ref() != Some(&why) {
                news(why.clone());
                last = Some(why);
            }
            match lost {
                true => tokio::time::sleep(AGAIN).await,
                false if more => {}
                false => wait(&mut listener, &mut changed, answers.as_mut()).await,
            }
            done.is_doubted |= listener.is_anew();
        }
    }

    async fn round(&self, done: &mut Done) -> Result<(), EngineError> {
        if !done.greeted {
            self.greet().await?;
            done.greeted = true;
        }
        if done.is_doubted {
            let offered: Vec<_> = done.offered.iter().copied().collect();
            let told: Vec<_> = done.told.iter().copied().collect();
            // Forgets what the engine has not: it is stored again, and votes are read from their first on.
            done.offered = self.engine.kept(&self.host, &offered).await?;
            done.told = self.engine.kept_statements(&self.host, &told).await?;
            done.seen = None;
            done.is_doubted = false;
        }
        let all = self.board.letters();
        let refused = self.publish(&all, done).await?;
        self.votes(&all, done).await?;
        refused.map_or(Ok(()), Err)
    }

    /// Checks whose login it is, and ends what an earlier start of this host left open.
    async fn greet(&self) -> Result<(), EngineError> {
        match self.engine.me().await? {
            Some(Duty::Host(name)) if name == self.host => {}
            Some(Duty::Host(name)) => {
                return Err(EngineError::Refused(format!(
                    "this login is the one of the host `{}`, and this host is `{}`: set `desk.name`, or use its own login",
                    visible(&name),
                    self.host
                )));
            }
            Some(other) => {
                return Err(EngineError::Refused(format!(
                    "this login is one of {}, and a host needs one of its own: `countersign desk member add LOGIN --host {}`",
                    other.whose(),
                    self.host
                )));
            }
            None => {
                return Err(EngineError::Refused(format!(
                    "this login is no member of the desk: `countersign desk member add LOGIN --host {}`",
                    self.host
                )));
            }
        }
        let here: BTreeSet<ProposalId> = self.board.letters().iter().map(|l| l.proposal).collect();
        for (proposal, version) in self.engine.own_open(&self.host).await? {
            if here.contains(&proposal) {
                continue;
            }
            let statement = Statement {
                format: StatementFormat::V1,
                host: self.host.clone(),
                host_key: self.host_key.clone(),
                proposal,
                version,
                number: 0,
                at: Timestamp::now(),
                to: None,
                says: Says::State {
                    state: State::Unattended,
                    message: GONE.to_owned(),
                },
            };
            let signed = self.board.word(statement).map_err(EngineError::Refused)?;
            let (number, Signed { body, signature }) = signed;
            self.engine
                .publish_statement(&StatementRow {
                    host: self.host.clone(),
                    proposal,
                    seq: number,
                    to: None,
                    gateway: None,
                    occasion: Occasion::Decision,
                    body: body.into_bytes(),
                    signature,
                })
                .await?;
        }
        Ok(())
    }

    /// Stores what is not there yet. What the engine refuses is tried again at the next round; it does not hold up the rest.
    async fn publish(
        &self,
        all: &[Letters],
        done: &mut Done,
    ) -> Result<Option<EngineError>, EngineError> {
        let stands: BTreeSet<(ProposalId, u32)> =
            all.iter().map(|l| (l.proposal, l.version)).collect();
        let said: BTreeSet<(ProposalId, u64)> = all
            .iter()
            .flat_map(|l| l.said.iter().map(|letter| (l.proposal, letter.number)))
            .collect();
        done.offered.retain(|key| stands.contains(key));
        done.told.retain(|key| said.contains(key));
        let (mut refused, mut is_full) = (None, false);
        for letters in all {
            let key = (letters.proposal, letters.version);
            if !done.offered.contains(&key) {
                // One that ended before the engine knew it concerns nobody there, and behind a refused one others would be too.
                if letters.has_ended || is_full {
                    continue;
                }
                match self.engine.publish_offer(&self.offer(letters)?).await {
                    Ok(()) => done.offered.insert(key),
                    Err(e @ (EngineError::Refused(_) | EngineError::TooLarge(_))) => {
                        (refused, is_full) = (Some(e), true);
                        continue;
                    }
                    Err(e) => return Err(e),
                };
            }
            for letter in &letters.said {
                let key = (letters.proposal, letter.number);
                if done.told.contains(&key) {
                    continue;
                }
                let row = self.statement(letters, letter)?;
                match self.engine.publish_statement(&row).await {
                    Ok(()) => {
                        done.told.insert(key);
                    }
                    Err(e @ (EngineError::Refused(_) | EngineError::TooLarge(_))) => {
                        refused = Some(e);
                    }
                    Err(e) => return Err(e),
                }
            }
        }
        Ok(refused)
    }

    fn offer(&self, letters: &Letters) -> Result<OfferRow, EngineError> {
        let Signed { body, signature } = signed(&letters.offer)?.clone();
        Ok(OfferRow {
            host: self.host.clone(),
            proposal: letters.proposal,
            version: letters.version,
            roles: letters.roles.iter().map(Role::to_string).collect(),
            deadline: letters.deadline,
            body: body.into_bytes(),
            signature,
        })
    }

    fn statement(&self, letters: &Letters, letter: &Letter) -> Result<StatementRow, EngineError> {
        let Signed { body, signature } = signed(&letter.line)?.clone();
        Ok(StatementRow {
            host: self.host.clone(),
            proposal: letters.proposal,
            seq: letter.number,
            to: letter.to.clone(),
            gateway: None,
            occasion: match (&letter.to, letters.has_ended) {
                (Some(_), _) => Occasion::Ack,
                (None, true) => Occasion::Outcome,
                (None, false) => Occasion::Decision,
            },
            body: body.into_bytes(),
            signature,
        })
    }

    /// Hands on the votes that came. Whether they count is found out where they are counted.
    async fn votes(&self, all: &[Letters], done: &mut Done) -> Result<(), EngineError> {
        let open: Vec<(ProposalId, u32)> = all
            .iter()
            .filter(|letters| !letters.has_ended)
            .map(|letters| (letters.proposal, letters.version))
            .filter(|key| done.offered.contains(key))
            .collect();
        done.cast.retain(|key, _| open.contains(key));
        if open.is_empty() {
            return Ok(());
        }
        loop {
            let page = self.engine.votes_for(&self.host, &open, done.seen).await?;
            for row in page.rows {
                let bytes = [row.login.as_bytes(), b"\0", &row.body].concat();
                let key = (row.proposal, row.version);
                if !open.contains(&key) {
                    continue;
                }
                let cast = done.cast.entry(key).or_default();
                if cast.len() >= VOTES_MAX || !cast.insert(Digest::of(&bytes)) {
                    continue;
                }
                match serde_json::from_slice::<Vote>(&row.body) {
                    Ok(vote) => {
                        let via = Via::Engine { login: row.login };
                        self.voters.vote(row.proposal, row.version, vote, via);
                    }
                    Err(e) => tracing::warn!(
                        "{} sent what is no vote on {}: {e}",
                        row.login,
                        row.proposal
                    ),
                }
            }
            done.seen = page.seen;
            if !page.more {
                return Ok(());
            }
        }
    }
}

async fn wait(
    listener: &mut Listener,
    changed: &mut watch::Receiver<u64>,
    answers: Option<&mut watch::Receiver<u64>>,
) {
    let answered = async {
        match answers {
            // Its sender is held by the requests.
            Some(answers) => drop(answers.changed().await),
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        () = listener.next() => {}
        // The board is ours, so its sender is there.
        _ = changed.changed() => {}
        () = answered => {}
    }
}

fn signed(line: &FromHost) -> Result<&Signed, EngineError> {
    match line {
        FromHost::Offer(signed) | FromHost::Statement(signed) => Ok(signed),
        FromHost::Hello { .. } | FromHost::Claim { .. } | FromHost::Refused { .. } => Err(
            EngineError::Protocol("a line that is not signed stands on the board".to_owned()),
        ),
    }
}
