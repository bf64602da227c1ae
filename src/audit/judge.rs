//! The only code that judges a log: every reader, including the start of the dashboard, sees the same records
//! and reports the same record as the first bad one.
//!
//! Three things can be wrong. If the chain is broken, or a line is not a record of its version, nothing after
//! it counts and the dashboard does not start. If an intact chain states an impossible life of a proposal, or
//! a blob is missing or changed, every reader reports it and the log continues: a record of a fault is worth
//! more than no record.

use serde::{Deserialize, Serialize};

use super::ahead::Parallel;
use super::contents::{Contents, Look};
use super::error::{AuditError, Damage, Faults};
use super::layout::Layout;
use super::life::Lives;
use super::line::{GENESIS, Record, VERSION, actor};
use super::lines::{Lines, OneByOne};
use super::lock;
use super::open::LONG;
use super::put_back;
use super::scan::{Boundary, Line, Scanned, scan};
use super::span::Spans;
use crate::model::{Digest, LogEvent, ProposalId};

/// What a reader of a whole log found.
pub(super) struct Judged {
    pub scanned: Scanned,
    pub faults: Faults,
    pub lives: Lives,
    /// How many contents are gone as recorded, and which are there although recorded as erased.
    pub erased: u64,
    pub unerased: Vec<Digest>,
    /// How many blobs passed the checks that were asked for.
    pub blobs: u64,
    /// How many records, the last ones, are only in the journal until the next start restores them.
    pub in_journal: u64,
    /// How many records are of a later version; the chain covers them as well.
    pub later: u64,
}

/// A record as its readers see it.
pub(super) enum Read<'a> {
    Record(&'a Line<'a>, Box<Record>),
    /// A record of a later version, and the proposal it names, if any.
    Later(&'a Line<'a>, Option<ProposalId>),
}

/// Whoever reads a log record by record.
pub(super) trait Reader {
    /// The next record is about this proposal. `lives` may have forgotten it.
    fn meets(&mut self, _id: ProposalId, _lives: &mut Lives) {}

    fn reads(&mut self, read: Read<'_>, lives: &mut Lives);
}

impl<F: FnMut(Read<'_>)> Reader for F {
    fn reads(&mut self, read: Read<'_>, _lives: &mut Lives) {
        self(read);
    }
}

/// What is read of a record of a later version.
#[derive(Deserialize)]
struct Later {
    id: Option<ProposalId>,
}

/// What must be known to go on judging where it was stopped, beside the lives of proposals.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Stopped {
    spans: Spans,
    pub faults: Faults,
    begun: bool,
    /// Whether lives may begin with any record.
    cut: bool,
    pub later: u64,
    #[serde(default)]
    removed_through: Option<u64>,
}

impl Stopped {
    /// The lives of no proposals yet.
    pub fn lives(&self) -> Lives {
        let mut lives = Lives::default();
        if self.cut {
            lives.begins_later();
        }
        lives
    }
}

/// The judgement of the lines read so far.
pub(super) struct Judging {
    pub lives: Lives,
    spans: Spans,
    contents: Contents,
    faults: Faults,
    layout: Layout,
    begun: bool,
    pub later: u64,
    /// Where the last removal ended, by its record.
    removed_through: Option<u64>,
    /// Where the segments that were read end so far.
    ends: Vec<Boundary>,
}

impl Judging {
    pub fn new(layout: &Layout, look: Look) -> Self {
        Self {
            lives: Lives::default(),
            spans: Spans::default(),
            contents: Contents::of(layout, look),
            faults: Faults::default(),
            layout: layout.clone(),
            begun: false,
            later: 0,
            removed_through: None,
            ends: Vec::new(),
        }
    }

    /// Goes on where another judgement stopped. Whoever reads must recall the lives of proposals.
    pub fn resumed(layout: &Layout, look: Look, stopped: Stopped) -> Self {
        let mut new = Self::new(layout, look);
        if stopped.cut {
            new.lives.begins_later();
        }
        Self {
            spans: stopped.spans,
            faults: stopped.faults,
            begun: stopped.begun,
            later: stopped.later,
            removed_through: stopped.removed_through,
            ..new
        }
    }

    /// Everything that is wrong with what was read so far.
    pub fn faults(&self) -> Faults {
        let mut faults = self.faults.clone();
        faults.blobs.and(self.contents.missing());
        faults
    }

    pub fn stopped(&self) -> Stopped {
        Stopped {
            spans: self.spans.clone(),
            faults: self.faults(),
            begun: self.begun,
            cut: self.lives.is_cut(),
            later: self.later,
            removed_through: self.removed_through,
        }
    }

    /// Call before lines that were written since: the journal may have other blobs by now.
    pub fn looks_again(&mut self) {
        self.contents.looks_again();
    }

    /// Judges the next line of the chain. The error says why the line is not a record.
    pub fn line(&mut self, line: &Line<'_>, reader: &mut impl Reader) -> Result<(), String> {
        if !std::mem::replace(&mut self.begun, true) && line.seq > 1 {
            self.lives.begins_later();
            self.spans.unknown();
        }
        match self.ends.last_mut() {
            Some(end) if end.segment == line.boundary.segment => *end = line.boundary,
            _ => self.ends.push(line.boundary),
        }
        if line.v > VERSION {
            self.later += 1;
            self.spans.unknown();
            let id = serde_json::from_slice(line.bytes).ok();
            let id = id.and_then(|later: Later| later.id);
            if let Some(id) = id {
                reader.meets(id, &mut self.lives);
                self.lives.unjudged(id);
            }
            reader.reads(Read::Later(line, id), &mut self.lives);
            return Ok(());
        }
        let ahead = line.ahead.record.take();
        let record = ahead.unwrap_or_else(|| Record::parse(line.bytes).map(Box::new))?;
        let by = actor(&record.event);
        let actor = match record.actor == by {
            true => Ok(()),
            false => Err(format!(
                "`{}` is a record of the {by}, and this one names another",
                record.event.kind()
            )),
        };
        if let Some(id) = record.event.id() {
            reader.meets(id, &mut self.lives);
        }
        // Both must see every record, and a record is reported only once.
        let (lived, written) = (self.lives.step(&record.event), self.spans.step(&record));
        let joined = self.gap(&record);
        if let Err(what) = lived.and(actor).and(written).and(joined) {
            self.faults.lives.add(Damage {
                file: line.file.to_owned(),
                line: Some(line.number),
                seq: Some(line.seq),
                what,
            });
        }
        for damage in self.contents.named(line, &record.event) {
            self.faults.blobs.add(damage);
        }
        let read = Read::Record(line, record);
        reader.reads(read, &mut self.lives);
        Ok(())
    }

    /// Whether what a removal says of itself can be, after the removals before it.
    fn gap(&mut self, record: &Record) -> Result<(), String> {
        let LogEvent::Pruned {
            through_segment,
            through_seq,
            head,
            gap,
            ..
        } = &record.event
        else {
            return Ok(());
        };
        let here = self.ends.last().map_or(0, |end| end.segment);
        if *through_segment >= here {
            return Err(format!(
                "`pruned` of segment {through_segment}, and it stands in segment {here}"
            ));
        }
        // A crash can leave what was to be removed.
        let left = self.ends.iter().find(|end| end.segment == *through_segment);
        if left.is_some_and(|end| (end.seq, end.hash) != (*through_seq, *head)) {
            return Err(format!(
                "`pruned` names another end of segment {through_segment}, which is there"
            ));
        }
        let before = self.removed_through.replace(*through_seq);
        let Some(gap) = gap else {
            return Ok(());
        };
        let counted = gap.first_seq.checked_add(gap.records);
        if gap.first_seq == 0 || gap.records == 0 || counted != through_seq.checked_add(1) {
            return Err(format!(
                "`pruned` counts {} records from seq {} through seq {through_seq}",
                gap.records, gap.first_seq
            ));
        }
        if *through_seq >= record.seq || gap.oldest > gap.newest {
            return Err("`pruned` of records that cannot be before it".to_owned());
        }
        if (gap.first_seq == 1) != (gap.before == GENESIS) {
            return Err("`pruned` names another line before the removed records".to_owned());
        }
        match before {
            Some(end) if gap.first_seq > end + 1 => Err(format!(
                "`pruned` begins at seq {}, and the removal before it ended at seq {end}",
                gap.first_seq
            )),
            _ => Ok(()),
        }
    }

    fn done(self, scanned: Scanned, chain: Option<Damage>) -> Judged {
        let is_there =
            |digest: &Digest| std::fs::symlink_metadata(self.layout.blob(digest).1).is_ok();
        let erased = self.contents.erased();
        let unerased: Vec<_> = erased.iter().copied().filter(is_there).collect();
        Judged {
            faults: Faults {
                chain,
                ..self.faults()
            },
            erased: (erased.len() - unerased.len()) as u64,
            unerased,
            blobs: self.contents.good,
            scanned,
            lives: self.lives,
            in_journal: 0,
            later: self.later,
        }
    }
}

/// Reads a log from its first line to its end, or to where the chain breaks.
///
/// # Errors
/// When a file cannot be read at all.
pub(super) fn judge(
    layout: &Layout,
    look: Look,
    reader: &mut impl Reader,
) -> Result<Judged, AuditError> {
    judge_lines(layout, look, &mut *lines(layout, look), reader)
}

/// Like [`judge`], with the log's lines from elsewhere.
pub(super) fn judge_lines(
    layout: &Layout,
    look: Look,
    lines: &mut dyn Lines,
    reader: &mut impl Reader,
) -> Result<Judged, AuditError> {
    let mut judging = Judging::new(layout, look);
    let scanned = scan(layout, lines, |line| judging.line(line, reader))?;
    let chain = scanned.damage.clone();
    Ok(judging.done(scanned, chain))
}

/// A long log is read with all processors.
pub(super) fn lines(layout: &Layout, look: Look) -> Box<dyn Lines> {
    if layout.segment_bytes().is_ok_and(|bytes| bytes >= LONG)
        && let Ok(lines) = Parallel::of(layout, look)
    {
        return Box::new(lines);
    }
    Box::new(OneByOne::default())
}

/// Like [`judge`], for commands that only read. Records that are only in the journal count as well. An
/// incomplete end is damage, unless a writer may be writing it now.
///
/// # Errors
/// When a file cannot be read at all, or there is no log.
pub(super) fn read(
    layout: &Layout,
    look: Look,
    mut visit: impl FnMut(Read<'_>),
) -> Result<Judged, AuditError> {
    read_by(layout, look, &mut visit)
}

/// Like [`read`], for readers that are told more.
pub(super) fn read_by(
    layout: &Layout,
    look: Look,
    reader: &mut impl Reader,
) -> Result<Judged, AuditError> {
    let mut judging = Judging::new(layout, look);
    let mut lines = lines(layout, look);
    let mut scanned = scan(layout, &mut *lines, |line| judging.line(line, reader))?;
    if scanned.head.segment == 0 && scanned.damage.is_none() {
        return Err(AuditError::None {
            dir: layout.state.clone(),
        });
    }
    let holder = lock::holder(layout).map_err(|e| AuditError::io(layout.lock(), "read", e))?;
    if !holder.writes_nothing() {
        let chain = scanned.damage.clone();
        return Ok(judging.done(scanned, chain));
    }
    let before = scanned.head.seq;
    let damage = put_back::check(layout, &mut scanned, |line| judging.line(line, reader))?;
    // A writer may have started in the meantime.
    let alone = || lock::holder(layout).is_ok_and(lock::Holder::writes_nothing);
    let chain = damage.filter(|_| alone()).or(scanned.damage.clone());
    let in_journal = scanned.head.seq - before;
    Ok(Judged {
        in_journal,
        ..judging.done(scanned, chain)
    })
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
