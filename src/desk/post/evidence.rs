//! Carries a host's evidence to the engine, and looks at that of others.
//!
//! A task of its own: offers and votes wait for nothing here. An engine that is away costs time only.

mod others;
mod own;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use crate::audit::Store;
use crate::desk::Board;
use crate::desk::engine::{Engine, EngineError};
use crate::desk::hosts::Hosts;
use crate::model::Digest;

/// Between two looks.
const PACE: Duration = Duration::from_secs(5);
/// Between two looks at all that is there, and not only at what came of late.
const ALL: Duration = Duration::from_secs(600);
/// What of one host is not believed is told at most so often.
const ODD: Duration = Duration::from_secs(60);
/// Other hosts that are looked at.
const HOSTS_MAX: usize = 256;
/// Rows that were looked at and need not be again.
const JUDGED_MAX: usize = 8192;

/// The file of hosts, read anew.
pub type ReadHosts = Box<dyn Fn() -> Result<Hosts, String> + Send + Sync>;

/// A host's evidence at the engine.
pub struct Evidence {
    pub engine: Engine,
    pub host: String,
    pub host_key: String,
    pub board: Board,
    pub state_dir: PathBuf,
    pub store: Store,
    /// Whose checkpoints are looked at.
    pub hosts: ReadHosts,
}

/// What the operator, or who sits at the screen, is to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// What a host signed contradicts what it signed before. `is_own`: it is this one.
    Doubted {
        host: String,
        why: String,
        is_own: bool,
        /// Whether it was known before this start.
        known: bool,
    },
    /// Others do not hear that this host's log is doubted, and why; `None` once they do.
    Unheard(Option<String>),
    /// Something is not as it should be, and nothing contradicts itself.
    Odd(String),
}

/// What is known since the start.
struct Round {
    own: own::Known,
    sight: Result<crate::desk::evidence::Sight, String>,
    hosts: Hosts,
    /// Not before this is everything looked at again.
    all_at: Option<Instant>,
    /// Of rows of other hosts that need not be looked at again.
    judged: BTreeSet<Digest>,
    /// Signed at the engine, since this start.
    cosigned: BTreeMap<String, (u64, Digest)>,
    /// Of whom it was told that they are doubted.
    doubted: BTreeSet<String>,
    /// What was told of a host, and when.
    told: BTreeMap<String, (String, Instant)>,
}

impl Evidence {
    /// Carries until it is dropped.
    pub async fn carry(self, tell: impl Fn(Word)) {
        let mut round = Round {
            own: own::Known::open(&self.state_dir, &self.host_key),
            sight: crate::desk::evidence::read_seen(&self.state_dir),
            hosts: Hosts::default(),
            all_at: None,
            judged: BTreeSet::new(),
            cosigned: BTreeMap::new(),
            doubted: BTreeSet::new(),
            told: BTreeMap::new(),
        };
        if let Err(why) = &round.sight {
            let why = format!(
                "no checkpoint of another host is signed: what was seen of them is lost, {why}"
            );
            tell(Word::Odd(why));
        }
        if let Some(why) = &round.own.broken {
            let why = format!("no checkpoint is published: what was published is lost, {why}");
            tell(Word::Odd(why));
        }
        loop {
            let now = Instant::now();
            let all = round.all_at.is_none_or(|at| now >= at);
            // Both are tried: one that fails must not keep the other from its turn.
            let own = self.own(&mut round, all, &tell).await;
            let others = self.others(&mut round, all, &tell).await;
            for failed in [own.as_ref().err(), others.as_ref().err()]
                .into_iter()
                .flatten()
            {
                tracing::info!("evidence at the engine: {failed}");
            }
            // Where the log is doubted, that others do not hear so was said.
            if let (Err(EngineError::Refused(why)), false) = (&own, round.own.is_doubted()) {
                let why = format!("no checkpoint of this log is published: {why}");
                round.odd(&self.host, why, &tell);
            }
            if lost(&own, &others) {
                // What came meanwhile is more than what came of late.
                round.all_at = None;
            } else if all {
                round.all_at = Some(now + ALL);
            }
            tokio::time::sleep(PACE).await;
        }
    }
}

fn lost(own: &Result<(), EngineError>, others: &Result<(), EngineError>) -> bool {
    let lost = |done: &Result<(), EngineError>| matches!(done, Err(EngineError::Unreachable(_)));
    lost(own) || lost(others)
}

impl Round {
    /// Tells something of a host, the same at most once in [`ALL`] and anything at most once in [`ODD`].
    fn odd(&mut self, host: &str, what: String, tell: &impl Fn(Word)) {
        let now = Instant::now();
        let is_new = self.told.get(host).is_none_or(|(last, at)| {
            let after = if *last == what { ALL } else { ODD };
            now >= *at + after
        });
        if is_new {
            tracing::warn!("{what}");
            self.told.insert(host.to_owned(), (what.clone(), now));
            tell(Word::Odd(what));
        }
    }
}

/// The time that is signed.
fn now() -> Timestamp {
    Timestamp::now()
}
