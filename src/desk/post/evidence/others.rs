//! What other hosts published: whether it fits what was seen of them, and this host's signature on it.

use std::collections::BTreeMap;

use crate::ballot::Key;
use crate::desk::engine::{CheckpointRow, CosignatureRow, EngineError};
use crate::desk::evidence::{Chain, Extent, Gathered, Said, Seen, Sight, cosigned_text};
use crate::model::{Digest, visible};

use super::{Evidence, HOSTS_MAX, JUDGED_MAX, Round, Word};

impl Evidence {
    pub(super) async fn others(
        &self,
        round: &mut Round,
        all: bool,
        tell: &impl Fn(Word),
    ) -> Result<(), EngineError> {
        if round.sight.is_err() {
            return Ok(());
        }
        if all {
            round.judged.clear();
            // The engine may have lost what it had.
            round.cosigned.clear();
            match (self.hosts)() {
                Ok(hosts) => round.hosts = hosts,
                Err(why) => {
                    let why = format!("checkpoints of other hosts are not looked at: {why}");
                    round.odd("", why, tell);
                    round.hosts = Default::default();
                }
            }
        }
        let mut names: Vec<String> = round.hosts.names().map(str::to_owned).collect();
        names.retain(|name| *name != self.host);
        if names.len() > HOSTS_MAX {
            names.truncate(HOSTS_MAX);
            let why = format!(
                "checkpoints of the first {HOSTS_MAX} hosts are looked at, and not of the others"
            );
            round.odd("", why, tell);
        }
        if names.is_empty() {
            return Ok(());
        }
        let rows = match all {
            true => self.engine.newest_checkpoints(&names).await?,
            false => self.engine.late_checkpoints(&names).await?,
        };
        let mut by_host: BTreeMap<String, Vec<CheckpointRow>> = BTreeMap::new();
        if all {
            by_host.extend(names.iter().map(|name| (name.clone(), Vec::new())));
        }
        for row in rows {
            if names.contains(&row.host) {
                by_host.entry(row.host.clone()).or_default().push(row);
            }
        }
        let mut failed = None;
        for (host, rows) in by_host {
            match self.judge(round, &host, &rows, all, tell).await {
                // Others go on.
                Err(e @ (EngineError::Refused(_) | EngineError::TooLarge(_))) => failed = Some(e),
                done => done?,
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// Compares what one host published with what was seen of it, and signs the newest that fits.
    async fn judge(
        &self,
        round: &mut Round,
        host: &str,
        rows: &[CheckpointRow],
        all: bool,
        tell: &impl Fn(Word),
    ) -> Result<(), EngineError> {
        let Some(key) = round.hosts.key(host).cloned() else {
            return Ok(());
        };
        let before = self.seen(round, host, &key, tell);
        if let Some(why) = before.as_ref().and_then(|seen| seen.doubt.clone()) {
            // Told once a start.
            if round.doubted.insert(host.to_owned()) {
                self.doubt(host, why, true, tell);
            }
            return Ok(());
        }
        let mut chain = Chain::default();
        if let Some(seen) = &before {
            seen.tell(&mut chain);
        }
        let mut extent = Extent::Newest;
        let mut gathered = rows.to_vec();
        if all {
            let whole = Gathered::of(&self.engine, host, &key, gathered).await?;
            if let Some(what) = whole.intrusion() {
                round.odd(host, format!("{}: {what}", visible(host)), tell);
            }
            (gathered, extent) = (whole.rows, whole.extent);
        }
        self.believe(round, &key, &gathered, &mut chain, tell);
        let mut seen = match before.clone() {
            Some(seen) => seen,
            None => match chain.newest() {
                Some(((size, root), point)) => Seen {
                    key: key.fingerprint().to_owned(),
                    size,
                    root,
                    number: point.numbers.1,
                    at: point.at,
                    earlier: Vec::new(),
                    doubt: None,
                    admitted: None,
                },
                None => return Ok(()),
            },
        };
        follow(&mut seen, &chain);
        let newest = chain.newest().map_or(0, |((size, _), _)| size);
        if newest > seen.size && chain.doubts().is_empty() {
            let rows = self.engine.checkpoints_from(host, seen.size).await?;
            self.believe(round, &key, &rows, &mut chain, tell);
            follow(&mut seen, &chain);
        }
        if let Some(doubt) = chain.doubts().first() {
            let why = doubt.to_string();
            seen.doubt = Some(why.clone());
            self.remember(round, host, seen)?;
            round.doubted.insert(host.to_owned());
            self.doubt(host, why, false, tell);
            return Ok(());
        }
        seen.admitted = chain.admitted().cloned();
        if let Some(admitted) = &seen.admitted {
            let why = admitted.to_string();
            let known = before.as_ref().is_some_and(|seen| seen.admitted.is_some());
            if before.as_ref() != Some(&seen) {
                self.remember(round, host, seen)?;
            }
            // Told once a start.
            if round.doubted.insert(host.to_owned()) {
                self.doubt(host, why, known, tell);
            }
            return Ok(());
        }
        if before.as_ref().is_some_and(|seen| seen.admitted.is_some()) {
            round.doubted.remove(host);
            tell(Word::Odd(format!(
                "{host}: its log is again the one that it signed"
            )));
        }
        if newest > seen.size {
            let why = format!(
                "{host}: its checkpoint of {newest} records is not signed: nothing on the engine proves that it extends the one of {} \
                 that was seen",
                seen.size
            );
            round.odd(host, why, tell);
        } else if all && !has(&key, &gathered, seen.size) {
            let why = format!(
                "{host}: its checkpoint of {} records was seen, and {}",
                seen.size,
                extent.missing()
            );
            round.odd(host, why, tell);
            return Ok(());
        }
        if before.as_ref() != Some(&seen) {
            self.remember(round, host, seen.clone())?;
        }
        self.cosign(round, host, &seen).await
    }

    /// What was seen of the host with this key.
    fn seen(&self, round: &mut Round, host: &str, key: &Key, tell: &impl Fn(Word)) -> Option<Seen> {
        let seen = round.sight.as_ref().ok()?.0.get(host)?.clone();
        if seen.key == key.fingerprint() {
            return Some(seen);
        }
        let why = format!(
            "{host} has another key in the file of hosts than before: its log is followed anew, and {} records of the old key are not \
             compared with it",
            seen.size
        );
        round.odd(host, why, tell);
        None
    }

    /// Takes the rows that the host signed.
    fn believe(
        &self,
        round: &mut Round,
        key: &Key,
        rows: &[CheckpointRow],
        chain: &mut Chain,
        tell: &impl Fn(Word),
    ) {
        for row in rows {
            let digest = Digest::of(&[&row.body, row.signature.as_bytes()].concat());
            if round.judged.contains(&digest) {
                continue;
            }
            match Said::read(key, row) {
                Ok(Said::Checkpoint(published)) => chain.add(&published),
                Ok(Said::Doubt(admitted)) => chain.admit(admitted),
                Err(why) => {
                    if round.judged.len() < JUDGED_MAX {
                        round.judged.insert(digest);
                    }
                    let host = visible(&row.host);
                    let why = format!(
                        "the engine has a checkpoint of `{host}` that is not believed: {}",
                        visible(&why)
                    );
                    round.odd(&row.host, why, tell);
                }
            }
        }
    }

    fn doubt(&self, host: &str, why: String, known: bool, tell: &impl Fn(Word)) {
        tracing::error!("{host}: {why}");
        tell(Word::Doubted {
            host: host.to_owned(),
            why,
            is_own: false,
            known,
        });
    }

    /// Writes down what was seen, before anything is signed.
    fn remember(&self, round: &mut Round, host: &str, seen: Seen) -> Result<(), EngineError> {
        let Ok(sight) = &mut round.sight else {
            return Ok(());
        };
        let mut new = Sight(sight.0.clone());
        new.0.insert(host.to_owned(), seen);
        new.keep(&self.state_dir).map_err(EngineError::Refused)?;
        *sight = new;
        Ok(())
    }

    async fn cosign(&self, round: &mut Round, host: &str, seen: &Seen) -> Result<(), EngineError> {
        if round.cosigned.get(host) == Some(&seen.link()) {
            return Ok(());
        }
        let text = cosigned_text((host, &seen.key), seen.link(), &self.host);
        let row = CosignatureRow {
            host: host.to_owned(),
            size: seen.size,
            root: seen.root,
            cosigner: self.host.clone(),
            signature: self.board.sign(&text).map_err(EngineError::Refused)?,
        };
        self.engine.cosign(&row).await?;
        round.cosigned.insert(host.to_owned(), seen.link());
        Ok(())
    }
}

/// Whether one of these is a checkpoint of the host, of so many records or more.
fn has(key: &Key, rows: &[CheckpointRow], size: u64) -> bool {
    let mut large = rows.iter().filter(|row| row.size >= size);
    large.any(|row| matches!(Said::read(key, row), Ok(Said::Checkpoint(_))))
}

/// Goes on as far as proofs lead.
fn follow(seen: &mut Seen, chain: &Chain) {
    while let Some((link, point)) = chain.after(seen.link()) {
        seen.goes_on(link, point.numbers.1, point.at);
    }
}
