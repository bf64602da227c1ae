//! All hosts that offer on the engine. It can hold back and repeat; what it says is believed as far as a host signed it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use crate::broker::Event;
use crate::desk::Hosts;
use crate::desk::engine::{
    CheckpointRow, ClaimRow, Engine, EngineError, Listener, OfferRow, Seen, StatementRow, VoteRow,
};
use crate::desk::evidence::{Book, Fault, Gathered};
use crate::model::{Digest, Person, ProposalId, visible};

use super::super::Input;
use super::{Outgoing, heard};

/// Between two attempts to reach the engine.
const AGAIN: Duration = Duration::from_secs(2);
/// How long after its deadline a proposal's end is still asked for: its host's clock may be behind, and its run takes time.
const AFTER: SignedDuration = SignedDuration::from_hours(2);
/// How often everything is read anew, for what had no room when it came.
const ANEW: Duration = Duration::from_secs(60);
/// How long a reader who was told of is not told of again: rows of the last minute come again.
const SAME: SignedDuration = SignedDuration::from_secs(50);
/// Hosts of which that is remembered.
const HOSTS_MAX: usize = 256;
/// Votes that are kept for an engine that lost them.
const TAKEN_MAX: usize = 256;
/// How long what is wrong with one host is not told again.
const ODD: SignedDuration = SignedDuration::from_mins(1);

pub struct Talk {
    pub person: Person,
    pub engine: Engine,
    pub hosts: Arc<Hosts>,
    /// Which host offered what is read here.
    pub whose: Mutex<BTreeMap<ProposalId, String>>,
    /// Votes that the engine took and no host has answered yet.
    pub taken: Mutex<Vec<VoteRow>>,
}

/// What was read and handed on.
#[derive(Default)]
struct Read {
    offers: Option<Seen>,
    statements: Option<Seen>,
    claims: Option<Seen>,
    /// Who was told of as reading, and until when that is not told again.
    readers: BTreeMap<(ProposalId, Person), Timestamp>,
    /// Offers by the digest of their bytes, and until when their ends are asked for.
    open: BTreeMap<(ProposalId, Digest), Timestamp>,
    /// Proposals whose statements were asked for from their first on.
    known: BTreeSet<ProposalId>,
    said: BTreeSet<(ProposalId, Digest)>,
    /// Hosts that sent what is not believed, and until when that is not told again.
    odd: BTreeMap<String, Timestamp>,
    /// What is wrong with the logs of hosts, as it was told.
    doubted: Vec<(String, String)>,
    /// Whether the hosts' logs were looked at since everything was read anew.
    is_watched: bool,
}

impl Talk {
    pub async fn follow(self, inbox: UnboundedSender<Input>, votes: UnboundedReceiver<Outgoing>) {
        // Neither waits for the other.
        tokio::select! {
            () = self.read_on(&inbox) => {}
            () = self.send_on(&inbox, votes) => {}
        }
    }

    async fn read_on(&self, inbox: &UnboundedSender<Input>) {
        let mut listener = Listener::for_people(&self.engine);
        let mut read = Read::default();
        let mut anew = tokio::time::Instant::now() + ANEW;
        let mut last = None;
        let mut is_lost = false;
        loop {
            // After a lost session another server may stand in, which has less.
            if tokio::time::Instant::now() >= anew || listener.is_anew() || is_lost {
                read = Read {
                    odd: read.odd,
                    doubted: read.doubted,
                    ..Read::default()
                };
                anew = tokio::time::Instant::now() + ANEW;
            }
            let why = self
                .round(&mut read, inbox)
                .await
                .err()
                .map(|e| e.to_string());
            is_lost = why.is_some();
            if last.as_ref() != Some(&why) {
                let _ = inbox.send(Input::Host(why.clone()));
                last = Some(why);
            }
            match is_lost {
                true => tokio::time::sleep(AGAIN).await,
                false => listener.next().await,
            }
        }
    }

    async fn round(
        &self,
        read: &mut Read,
        inbox: &UnboundedSender<Input>,
    ) -> Result<(), EngineError> {
        loop {
            let page = self.engine.offers(read.offers).await?;
            for row in page.rows {
                self.offered(&row, read, inbox);
            }
            read.offers = page.seen;
            if !page.more {
                break;
            }
        }
        let now = Timestamp::now();
        read.open.retain(|_, until| *until > now);
        let open: BTreeSet<ProposalId> = read.open.keys().map(|(id, _)| *id).collect();
        self.whose().retain(|id, _| open.contains(id));
        read.known.retain(|id| open.contains(id));
        read.said.retain(|(id, _)| open.contains(id));
        let (known, new): (Vec<ProposalId>, Vec<ProposalId>) =
            open.into_iter().partition(|id| read.known.contains(id));
        let since = read.statements;
        self.statements(&known, since, read, inbox).await?;
        self.statements(&new, None, read, inbox).await?;
        self.again(&new).await?;
        read.known.extend(new);
        if !read.is_watched {
            self.doubts(read, inbox).await?;
            read.is_watched = true;
        }
        self.claims(read, inbox).await
    }

    /// Tells whose logs are doubted, all of them whenever that changes: nothing of such a host can be granted, and what it said may be
    /// gone from its log.
    async fn doubts(
        &self,
        read: &mut Read,
        inbox: &UnboundedSender<Input>,
    ) -> Result<(), EngineError> {
        let names: Vec<String> = self.hosts.names().map(str::to_owned).collect();
        let mut newest: BTreeMap<String, Vec<CheckpointRow>> = BTreeMap::new();
        for row in self.engine.newest_checkpoints(&names).await? {
            newest.entry(row.host.clone()).or_default().push(row);
        }
        let mut book = Book::new((*self.hosts).clone());
        for (host, rows) in newest {
            let Some(key) = self.hosts.key(&host) else {
                continue;
            };
            let mut alone = Book::new((*self.hosts).clone());
            rows.iter().for_each(|row| alone.checkpoint(row));
            // What ends a doubt must not be hidden behind noise.
            let gathered = match alone.doubts().next() {
                Some(_) => Gathered::of(&self.engine, &host, key, rows).await?.rows,
                None => rows,
            };
            gathered.iter().for_each(|row| book.checkpoint(row));
        }
        // A host may have several.
        let mut doubts: Vec<(String, String)> = Vec::new();
        for Fault { host, what } in book.doubts() {
            match doubts.last_mut().filter(|(last, _)| *last == host) {
                Some((_, said)) => said.push_str(&format!(". {what}")),
                None => doubts.push((host, what)),
            }
        }
        if doubts != read.doubted {
            for (host, what) in doubts.iter().filter(|one| !read.doubted.contains(one)) {
                tracing::error!("{host}: {what}");
            }
            let _ = inbox.send(Input::Doubts(doubts.clone()));
            read.doubted = doubts;
        }
        Ok(())
    }

    /// Hands in anew what the engine took and no host has answered, in case it lost that. What it has changes nothing there.
    async fn again(&self, on: &[ProposalId]) -> Result<(), EngineError> {
        let mut rows = self.taken().clone();
        rows.retain(|row| on.contains(&row.proposal));
        for row in rows {
            match self.engine.cast(&row).await {
                Ok(()) => {}
                Err(e @ EngineError::Unreachable(_)) => return Err(e),
                Err(e) => tracing::warn!("a vote on {} is not there any more: {e}", row.proposal),
            }
        }
        Ok(())
    }

    fn taken(&self) -> std::sync::MutexGuard<'_, Vec<VoteRow>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hints of who else reads: the engine's word, which nothing follows from.
    async fn claims(
        &self,
        read: &mut Read,
        inbox: &UnboundedSender<Input>,
    ) -> Result<(), EngineError> {
        let page = self.engine.claims(read.claims).await?;
        read.claims = page.seen;
        let now = Timestamp::now();
        read.readers.retain(|_, until| *until > now);
        for ClaimRow {
            proposal, person, ..
        } in page.rows
        {
            let key = (proposal, person);
            if key.1 == self.person
                || !read.known.contains(&proposal)
                || read.readers.contains_key(&key)
            {
                continue;
            }
            let _ = inbox.send(Input::Claim(proposal, key.1.clone()));
            read.readers
                .insert(key, now.checked_add(SAME).unwrap_or(Timestamp::MAX));
        }
        Ok(())
    }

    async fn statements(
        &self,
        of: &[ProposalId],
        mut since: Option<Seen>,
        read: &mut Read,
        inbox: &UnboundedSender<Input>,
    ) -> Result<(), EngineError> {
        if of.is_empty() {
            return Ok(());
        }
        loop {
            let page = self.engine.statements_for(of, since).await?;
            for row in page.rows {
                self.stated(&row, read, inbox);
            }
            since = page.seen;
            read.statements = read.statements.max(since);
            if !page.more {
                return Ok(());
            }
        }
    }

    fn offered(&self, row: &OfferRow, read: &mut Read, inbox: &UnboundedSender<Input>) {
        if self.hosts.key(&row.host).is_none() {
            let why = "the file of hosts does not name it; add its line, and open this seat again";
            return self.odd(&row.host, why, read, inbox);
        }
        let digest = Digest::of(&row.body);
        if read.open.contains_key(&(row.proposal, digest)) {
            return;
        }
        match heard::offer(&self.hosts, &row.host, &row.body, &row.signature) {
            Ok(Event::Offered { offer, bytes }) if offer.proposal == row.proposal => {
                let until = offer.deadline.checked_add(AFTER).unwrap_or(Timestamp::MAX);
                read.open.insert((row.proposal, digest), until);
                self.whose().insert(row.proposal, row.host.clone());
                let _ = inbox.send(Input::Core(Event::Offered { offer, bytes }));
            }
            Ok(_) => self.odd(&row.host, "an offer under another name", read, inbox),
            Err(why) => self.odd(&row.host, &why, read, inbox),
        }
    }

    fn stated(&self, row: &StatementRow, read: &mut Read, inbox: &UnboundedSender<Input>) {
        if self.hosts.key(&row.host).is_none() {
            return;
        }
        let bytes = [row.host.as_bytes(), b"\0", &row.body].concat();
        if !read.said.insert((row.proposal, Digest::of(&bytes))) {
            return;
        }
        match heard::statement(&self.hosts, &row.host, &row.body, &row.signature) {
            Ok(event) => {
                if let Event::Stated(said) = &event
                    && said.answers()
                {
                    let (host, id) = (&said.host, said.proposal);
                    self.taken()
                        .retain(|vote| vote.host != *host || vote.proposal != id);
                }
                let _ = inbox.send(Input::Core(event));
            }
            Err(why) => self.odd(&row.host, &why, read, inbox),
        }
    }

    /// Tells of what is not believed, for each host at most once a minute.
    fn odd(&self, host: &str, why: &str, read: &mut Read, inbox: &UnboundedSender<Input>) {
        let now = Timestamp::now();
        read.odd.retain(|_, until| *until > now);
        if !read.odd.contains_key(host) && read.odd.len() < HOSTS_MAX {
            let until = now.checked_add(ODD).unwrap_or(Timestamp::MAX);
            read.odd.insert(host.to_owned(), until);
            tracing::warn!("not believed, of `{}`: {why}", visible(host));
            let why = format!(
                "the engine has something of `{}` that is not believed: {why}",
                visible(host)
            );
            let _ = inbox.send(Input::Odd(why));
        }
    }

    fn whose(&self) -> std::sync::MutexGuard<'_, BTreeMap<ProposalId, String>> {
        self.whose.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells others that this person reads it. A hint: where it does not arrive, nothing is missing.
    async fn claim(&self, proposal: ProposalId) {
        let Some(host) = self.whose().get(&proposal).cloned() else {
            return;
        };
        let claim = ClaimRow {
            host,
            proposal,
            person: self.person.clone(),
        };
        if let Err(e) = self.engine.claim(&claim).await {
            tracing::info!("that {proposal} is read was not told: {e}");
        }
    }

    async fn send_on(
        &self,
        inbox: &UnboundedSender<Input>,
        mut votes: UnboundedReceiver<Outgoing>,
    ) {
        while let Some(outgoing) = votes.recv().await {
            let (host, id, version, vote) = match outgoing {
                Outgoing::Vote {
                    host,
                    id,
                    version,
                    vote,
                } => (host, id, version, vote),
                Outgoing::Claim(proposal) => {
                    self.claim(proposal).await;
                    continue;
                }
            };
            let row = VoteRow {
                host,
                proposal: id,
                version,
                kind: vote.kind,
                voter: self.person.clone(),
                // Strings, numbers and words: serialising cannot fail.
                body: serde_json::to_vec(&vote).unwrap_or_default(),
                login: String::new(),
            };
            let why = match self.engine.cast(&row).await {
                Ok(()) => {
                    let mut taken = self.taken();
                    if taken.len() >= TAKEN_MAX {
                        taken.remove(0);
                    }
                    taken.push(row);
                    continue;
                }
                // It may have arrived: the host's word will tell.
                Err(EngineError::Unreachable(why)) => format!("no acknowledgement: {why}"),
                Err(other) => other.to_string(),
            };
            let _ = inbox.send(Input::Core(Event::NotSent { id, why }));
        }
    }
}
