//! The one judgement of a log: whoever reads it, the start of the dashboard included, sees the same
//! records, and calls the same record the first bad one.
//!
//! Three things can be wrong. The chain, or a line in it that is no record of its version: nothing
//! after that counts, and the dashboard does not start. The life of a proposal, in a chain that is
//! intact; and a content that is missing or changed: both are named by everybody, and the log goes on,
//! since a record that says so is worth more than none.

use serde::Deserialize;

use super::contents::{Contents, Look};
use super::error::{AuditError, Damage, Faults};
use super::layout::Layout;
use super::life::Lives;
use super::line::{Record, VERSION, actor};
use super::lock;
use super::put_back;
use super::scan::{Line, Scanned, scan};
use super::span::Spans;
use crate::model::ProposalId;

/// What a reader of a whole log found.
pub(super) struct Judged {
    pub scanned: Scanned,
    pub faults: Faults,
    pub lives: Lives,
    /// Contents that are right, as far as they were looked at.
    pub blobs: u64,
    /// Records of a later version; the chain covers them all the same.
    pub later: u64,
}

/// A record in its place.
pub(super) enum Read<'a> {
    Record(&'a Line<'a>, Box<Record>),
    /// Of a later version, and the proposal that it may be of.
    Later(&'a Line<'a>, Option<ProposalId>),
}

/// Of a record of a later version.
#[derive(Deserialize)]
struct Later {
    id: Option<ProposalId>,
}

/// Reads a log from its first line to its end, or to the first thing that is wrong with the chain.
///
/// # Errors
/// When a file cannot be read at all.
pub(super) fn judge(
    layout: &Layout,
    look: Look,
    mut visit: impl FnMut(Read<'_>),
) -> Result<Judged, AuditError> {
    let mut lives = Lives::default();
    let mut spans = Spans::default();
    let mut contents = Contents::of(layout, look);
    let mut faults = Faults::default();
    let (mut first, mut later) = (true, 0);
    let scanned = scan(layout, |line| {
        if std::mem::take(&mut first) && line.seq > 1 {
            lives.begins_later();
            spans.unknown();
        }
        if line.v > VERSION {
            later += 1;
            spans.unknown();
            let id = serde_json::from_slice(line.bytes).ok();
            let id = id.and_then(|later: Later| later.id);
            if let Some(id) = id {
                lives.unjudged(id);
            }
            visit(Read::Later(line, id));
            return Ok(());
        }
        let record = Record::parse(line.bytes)?;
        let by = actor(&record.event);
        let actor = match record.actor == by {
            true => Ok(()),
            false => Err(format!(
                "`{}` is a record of the {by}, and this one names another",
                record.event.kind()
            )),
        };
        // Each takes the record; a record is named once.
        let (lived, written) = (lives.step(&record.event), spans.step(&record));
        if let Err(what) = lived.and(actor).and(written) {
            faults.lives.add(Damage {
                file: line.file.to_owned(),
                line: Some(line.number),
                seq: Some(line.seq),
                what,
            });
        }
        for damage in contents.named(line, &record.event) {
            faults.blobs.add(damage);
        }
        visit(Read::Record(line, Box::new(record)));
        Ok(())
    })?;
    faults.chain.clone_from(&scanned.damage);
    Ok(Judged {
        blobs: contents.good,
        scanned,
        faults,
        lives,
        later,
    })
}

/// The same for somebody who only reads: what a crash left at the end is damage too, unless a writer
/// may be in the middle of it.
///
/// # Errors
/// As above, and when there is no log.
pub(super) fn read(
    layout: &Layout,
    look: Look,
    visit: impl FnMut(Read<'_>),
) -> Result<Judged, AuditError> {
    let mut judged = judge(layout, look, visit)?;
    if judged.scanned.head.segment == 0 && judged.faults.chain.is_none() {
        return Err(AuditError::None {
            dir: layout.state.clone(),
        });
    }
    judged.faults.chain = at_the_end(layout, &judged.scanned)?;
    Ok(judged)
}

/// The first thing wrong with the chain. An incomplete last line is, and so is what only the journal has.
fn at_the_end(layout: &Layout, scanned: &Scanned) -> Result<Option<Damage>, AuditError> {
    let holder = lock::holder(layout).map_err(|e| AuditError::io(layout.lock(), "read", e))?;
    if !holder.writes_nothing() {
        return Ok(scanned.damage.clone());
    }
    // A writer may have begun since.
    let alone = || lock::holder(layout).is_ok_and(lock::Holder::writes_nothing);
    if let Some(damage) = put_back::check(layout, scanned)?.filter(|_| alone()) {
        return Ok(Some(damage));
    }
    Ok(scanned.damage.clone())
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
