//! Erasure: contents of a proposal go, and the chain stays as it is.
//!
//! Records name contents by digest, so a content can be removed without changing a line. A record that says so is
//! durable before the first of them goes. A note (`erasing`) in the state folder is durable before the record: the
//! next start then reads the whole log and removes what is recorded and still there. A content that a later record
//! names again is that record's, and stays.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::io;
use std::path::PathBuf;

use jiff::Timestamp;
use memchr::memmem;

use super::contents::{Look, named_by};
use super::disk::write_whole;
use super::error::AuditError;
use super::index;
use super::judge::{self, Read};
use super::kept;
use super::layout::{Layout, open_regular, sync_dir};
use super::open::{Opened, failed, open};
use super::{Log, Record, life::Lives};
use crate::model::{Digest, ErasedContent, ErasedPart, LogEvent, ProposalId, Reviewer, State};
use crate::secrets::Secrets;

/// What is to be erased.
#[derive(Clone, Debug)]
pub struct ErasureOrder {
    pub id: ProposalId,
    pub parts: BTreeSet<ErasedPart>,
    /// Also for the other proposals that have the same contents.
    pub everywhere: bool,
    /// What a legal hold keeps.
    pub held: HashSet<ProposalId>,
}

/// Why nothing is erased.
#[derive(Debug, thiserror::Error)]
pub enum ErasureError {
    #[error(transparent)]
    Log(#[from] AuditError),
    #[error("the log knows no proposal {0}")]
    Unknown(ProposalId),
    #[error("{0} is {state}: only what ended can be erased", state = .1.as_str())]
    Open(ProposalId, State),
    #[error("{0} is on hold (`hold` under `[audit]`)")]
    Held(ProposalId),
    #[error("the log keeps nothing of it that was not erased before")]
    Nothing,
    #[error("the same contents belong to {}; --everywhere erases them there too", named(.0))]
    Shared(Vec<ProposalId>),
}

fn named(ids: &[ProposalId]) -> String {
    const NAMED: usize = 5;
    let first: Vec<String> = ids.iter().take(NAMED).map(ToString::to_string).collect();
    match ids.len().saturating_sub(NAMED) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

/// A planned erasure. Nothing changes before [`Erasure::carry_out`]. The log is locked, so nobody else can write.
#[derive(Debug)]
pub struct Erasure {
    layout: Layout,
    /// `None` for a dry run.
    opened: Option<Opened>,
    /// For each proposal what goes, the ordered one first.
    pub each: Vec<(ProposalId, Vec<ErasedContent>)>,
    /// How many contents that is, and their bytes.
    pub contents: u64,
    pub bytes: u64,
    /// Kept runs of these proposals.
    pub kept: Vec<PathBuf>,
    /// Files in `quarantine` that have some of these bytes. They stay.
    pub quarantined: Vec<PathBuf>,
    secrets: Option<Secrets>,
}

/// What the log says of contents.
#[derive(Default)]
struct Reading {
    /// What each proposal has, in the log's order.
    has: BTreeMap<ProposalId, Vec<ErasedContent>>,
    /// The proposals that need a content.
    owners: HashMap<Digest, BTreeSet<ProposalId>>,
    /// Recorded as erased, and not named since.
    erased: HashSet<Digest>,
    /// Proposals of which code was erased.
    codes: HashSet<ProposalId>,
    /// When the last record of each proposal was written.
    at: HashMap<ProposalId, Timestamp>,
}

impl Reading {
    fn learn(&mut self, at: Timestamp, event: &LogEvent) {
        if let LogEvent::Erased { id, contents, .. } = event {
            for content in contents {
                self.erased.insert(content.sha256);
                self.owners.remove(&content.sha256);
            }
            if contents.iter().any(|c| c.part == ErasedPart::Code) {
                self.codes.insert(*id);
            }
            return;
        }
        let Some(id) = event.id() else { return };
        self.at.insert(id, at);
        for named in named_by(event).into_iter().filter(|named| named.required) {
            self.erased.remove(&named.digest);
            self.owners.entry(named.digest).or_default().insert(id);
        }
        self.has.entry(id).or_default().extend(event.parts());
    }

    fn of(layout: &Layout) -> Result<(Self, Lives), AuditError> {
        let mut reading = Self::default();
        let judged = judge::judge(layout, Look::There, &mut |read: Read<'_>| {
            if let Read::Record(_, record) = read {
                reading.learn(record.ts, &record.event);
            }
        })?;
        match judged.faults.chain {
            Some(damage) => Err(AuditError::Damaged {
                dir: layout.state.clone(),
                damage,
            }),
            None => Ok((reading, judged.lives)),
        }
    }
}

impl Log {
    /// Plans an erasure.
    ///
    /// # Errors
    /// When a dashboard has the log open, the log is damaged, or nothing may be erased.
    pub fn erasure(&self, order: &ErasureOrder) -> Result<Erasure, ErasureError> {
        let layout = self.layout.clone();
        let opened = open(&layout.state)?;
        let (reading, lives) = Reading::of(&layout)?;
        let Some(has) = reading.has.get(&order.id) else {
            return Err(ErasureError::Unknown(order.id));
        };
        let nothing = Digest::of(b"");
        let goes: BTreeSet<Digest> = has
            .iter()
            .filter(|content| order.parts.contains(&content.part) && content.sha256 != nothing)
            .map(|content| content.sha256)
            .filter(|digest| reading.owners.contains_key(digest))
            .collect();
        if goes.is_empty() {
            return Err(ErasureError::Nothing);
        }
        let owners = goes.iter().filter_map(|digest| reading.owners.get(digest));
        let others: BTreeSet<ProposalId> = owners
            .flatten()
            .copied()
            .filter(|id| *id != order.id)
            .collect();
        for id in std::iter::once(&order.id).chain(&others) {
            match lives.state(*id) {
                Some(state) if !state.is_final() => return Err(ErasureError::Open(*id, state)),
                _ if order.held.contains(id) => return Err(ErasureError::Held(*id)),
                _ => {}
            }
        }
        if !others.is_empty() && !order.everywhere {
            return Err(ErasureError::Shared(others.into_iter().collect()));
        }
        let all = std::iter::once(order.id).chain(others);
        Ok(Erasure::of(layout, Some(opened), &reading, &goes, all)?)
    }

    /// Plans the erasure of contents whose proposals all ended before the limit of their kind. `None` if there are none.
    /// A dry run needs no lock, and cannot be carried out.
    ///
    /// # Errors
    /// When a dashboard has the log open, or the log is damaged.
    pub fn outdated_contents(
        &self,
        limits: &BTreeMap<ErasedPart, Timestamp>,
        held: &HashSet<ProposalId>,
        dry_run: bool,
    ) -> Result<Option<Erasure>, AuditError> {
        let layout = self.layout.clone();
        let opened = match dry_run {
            true => None,
            false => Some(open(&layout.state)?),
        };
        let (reading, lives) = Reading::of(&layout)?;
        let nothing = Digest::of(b"");
        let is_old = |id: &ProposalId, digest: &Digest| {
            let ended = lives.state(*id).is_some_and(State::is_final);
            let at = reading.at.get(id);
            let has = reading.has.get(id).into_iter().flatten();
            let mut has = has.filter(|content| content.sha256 == *digest);
            let before = |part| {
                limits
                    .get(part)
                    .zip(at)
                    .is_some_and(|(limit, at)| at < limit)
            };
            ended && !held.contains(id) && has.all(|content| before(&content.part))
        };
        let owned = reading.owners.iter();
        let goes: BTreeSet<Digest> = owned
            .filter(|(digest, ids)| **digest != nothing && ids.iter().all(|id| is_old(id, digest)))
            .map(|(digest, _)| *digest)
            .collect();
        let ids = goes.iter().filter_map(|digest| reading.owners.get(digest));
        let ids: BTreeSet<ProposalId> = ids.flatten().copied().collect();
        match goes.is_empty() {
            true => Ok(None),
            false => Erasure::of(layout, opened, &reading, &goes, ids.into_iter()).map(Some),
        }
    }
}

impl Erasure {
    fn of(
        layout: Layout,
        opened: Option<Opened>,
        reading: &Reading,
        goes: &BTreeSet<Digest>,
        ids: impl Iterator<Item = ProposalId>,
    ) -> Result<Self, AuditError> {
        let each: Vec<_> = ids
            .map(|id| {
                let has = reading.has.get(&id).into_iter().flatten();
                let mut has: Vec<_> = has.filter(|c| goes.contains(&c.sha256)).copied().collect();
                has.sort_unstable_by_key(|c| (c.part, *c.sha256.as_bytes()));
                has.dedup();
                (id, has)
            })
            .collect();
        let bytes = |digest: &Digest| {
            let file = fs::symlink_metadata(layout.blob(digest).1);
            file.map_or(0, |file| file.len())
        };
        let read = |e| AuditError::io(&layout.state, "read", e);
        Ok(Self {
            contents: goes.len() as u64,
            bytes: goes.iter().map(bytes).sum(),
            kept: kept::all_of(&layout.state, &with_code(&each)).map_err(read)?,
            quarantined: quarantined(&layout, goes).map_err(read)?,
            layout,
            opened,
            each,
            secrets: None,
        })
    }
}

/// The proposals of which code goes.
fn with_code(each: &[(ProposalId, Vec<ErasedContent>)]) -> HashSet<ProposalId> {
    let code = |contents: &[ErasedContent]| contents.iter().any(|c| c.part == ErasedPart::Code);
    each.iter()
        .filter(|(_, contents)| code(contents))
        .map(|(id, _)| *id)
        .collect()
}

/// One step of an erasure, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Note,
    Record,
    Remove,
    Forget,
}

const STEPS: [Step; 4] = [Step::Note, Step::Record, Step::Remove, Step::Forget];

impl Erasure {
    /// What its records are searched for.
    #[must_use]
    pub fn redacts(mut self, secrets: Secrets) -> Self {
        self.secrets = Some(secrets);
        self
    }

    /// Carries out the erasure. `by` is the person who saw it and agreed.
    ///
    /// # Errors
    /// When a file cannot be written or removed. The next start completes what was recorded.
    pub fn carry_out(self, reason: &str, by: &Reviewer) -> Result<(), AuditError> {
        self.steps(reason, by, usize::MAX, usize::MAX)
    }

    /// The first steps; of the removals only the first ones.
    fn steps(
        self,
        reason: &str,
        by: &Reviewer,
        steps: usize,
        removals: usize,
    ) -> Result<(), AuditError> {
        /// Records that one sync makes durable.
        const TOGETHER: usize = 1000;
        let layout = &self.layout;
        let io = |e| AuditError::io(&layout.state, "erased", e);
        let mut opened = match self.opened {
            Some(opened) => opened,
            None => open(&layout.state)?,
        };
        if let Some(secrets) = self.secrets {
            opened.writer.redacts(secrets);
        }
        for step in STEPS.iter().take(steps) {
            match step {
                Step::Note => note(layout).map_err(io)?,
                Step::Record => {
                    for some in self.each.chunks(TOGETHER) {
                        let records = some.iter().map(|(id, contents)| LogEvent::Erased {
                            id: *id,
                            contents: contents.clone(),
                            reason: reason.to_owned(),
                            by: by.clone(),
                        });
                        let written = opened.writer.write_together(records.collect());
                        written.map_err(|why| failed(&layout.state, why))?;
                    }
                }
                Step::Remove => {
                    let goes = self.each.iter().flat_map(|(_, contents)| contents);
                    let goes: BTreeSet<Digest> = goes.map(|content| content.sha256).collect();
                    remove(
                        layout,
                        goes.into_iter().take(removals),
                        &with_code(&self.each),
                    )
                    .map_err(io)?;
                }
                Step::Forget => forget(layout).map_err(io)?,
            }
        }
        Ok(())
    }
}

fn note(layout: &Layout) -> io::Result<()> {
    write_whole(&layout.erasing(), b"")?;
    sync_dir(&layout.state)
}

fn remove(
    layout: &Layout,
    contents: impl Iterator<Item = Digest>,
    codes: &HashSet<ProposalId>,
) -> io::Result<()> {
    for path in kept::all_of(&layout.state, codes)? {
        gone(fs::remove_file(&path))?;
        sync_dir(&layout.state.join("kept"))?;
    }
    for id in codes {
        let salt = layout.salt(*id);
        if fs::symlink_metadata(&salt).is_ok() {
            gone(fs::remove_file(&salt))?;
            sync_dir(&layout.salts())?;
        }
    }
    let mut folders = BTreeSet::new();
    for digest in contents {
        let (folder, path) = layout.blob(&digest);
        gone(fs::remove_file(&path))?;
        folders.insert(folder);
    }
    for folder in folders {
        gone(sync_dir(&folder))?;
    }
    index::forget(layout)
}

fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn forget(layout: &Layout) -> io::Result<()> {
    gone(fs::remove_file(layout.erasing()))?;
    sync_dir(&layout.state)
}

/// Completes an erasure that was cut short. The caller must hold the lock, and the journal must be empty. Says whether
/// there was one. Of a damaged log nothing is removed.
pub(super) fn finish(layout: &Layout) -> Result<bool, AuditError> {
    let io = |e| AuditError::io(&layout.state, "erased", e);
    match fs::symlink_metadata(layout.erasing()) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(io(e)),
        Ok(_) => {}
    }
    let (reading, _) = match Reading::of(layout) {
        Err(AuditError::Damaged { .. }) => return Ok(false),
        read => read?,
    };
    remove(layout, reading.erased.into_iter(), &reading.codes).map_err(io)?;
    forget(layout).map_err(io)?;
    Ok(true)
}

/// The files in quarantine that have the bytes of one of these contents.
fn quarantined(layout: &Layout, goes: &BTreeSet<Digest>) -> io::Result<Vec<PathBuf>> {
    /// What is shorter is found everywhere.
    const SHORTEST: usize = 8;
    let mut found = Vec::new();
    let mut files = Vec::new();
    for entry in fs::read_dir(layout.quarantine())? {
        files.push(entry?.path());
    }
    if files.is_empty() {
        return Ok(found);
    }
    files.sort();
    let contents = goes.iter().filter_map(|d| fs::read(layout.blob(d).1).ok());
    let contents: Vec<_> = contents.filter(|c| c.len() >= SHORTEST).collect();
    for path in files {
        let mut bytes = Vec::new();
        if let Ok(mut file) = open_regular(&path) {
            io::Read::read_to_end(&mut file, &mut bytes)?;
        }
        if contents.iter().any(|c| memmem::find(&bytes, c).is_some()) {
            found.push(path);
        }
    }
    Ok(found)
}

/// Why a content is not there, if one of these records says that it was erased.
pub fn erased(
    records: &[Record],
    digest: &Digest,
    at: &dyn Fn(Timestamp) -> String,
) -> Option<String> {
    records.iter().rev().find_map(|record| {
        let LogEvent::Erased { contents, by, .. } = &record.event else {
            return None;
        };
        let has = contents.iter().any(|content| content.sha256 == *digest);
        has.then(|| {
            let (seq, uid, at) = (record.seq, by.uid, at(record.ts));
            format!("erased by uid {uid} at {at}, as seq {seq} says")
        })
    })
}

#[cfg(test)]
#[path = "erase_tests.rs"]
mod tests;
