//! Answers to questions about a log: from its index, or from the log alone where the index cannot be used.
//!
//! Both find the same. The index was read once and then only what was written since; a line that is shown is read and
//! hashed again. Contents (blobs) are looked at when their record is first read and when they are shown, not at each look.

mod told;

use super::cases::{Case, Cases};
use super::contents::{Contents, Look};
use super::error::{AuditError, Faults};
use super::facets::{Counter, Facets};
use super::index::{self, Index, IndexError};
use super::judge::{self, Read};
use super::line::{Record, VERSION, unseal};
use super::log::{History, Log, Logged, PauseLogged, Pauses, Summary};
use super::query::Query;
use super::stats::{Decision, Stats};
use crate::model::{LogEvent, ProposalId};

pub use told::Told;

/// A log as it is now, for questions.
pub struct Answers {
    log: Log,
    source: Source,
    faults: Faults,
}

enum Source {
    Index(Box<Index>),
    Read(Box<Whole>),
}

/// The whole log, read.
struct Whole {
    cases: Cases,
    later: u64,
}

impl Log {
    /// Opens the index and reads what was written since; the first time, and after the log changed, the whole log.
    ///
    /// # Errors
    /// When the log cannot be read at all.
    pub fn answers(&self) -> Result<Answers, AuditError> {
        self.answers_telling(&|_| {})
    }

    /// Like [`Log::answers`]; `reading` is told before a whole log is read, with its bytes.
    pub fn answers_telling(&self, reading: &dyn Fn(u64)) -> Result<Answers, AuditError> {
        match Index::open(self, reading) {
            Ok(index) => self.answered_by(index),
            Err(IndexError::Log(e)) => Err(e),
            Err(e) => {
                tracing::warn!("{e}");
                // If it is broken, the next look makes another.
                let _ = index::forget(&self.layout);
                self.answers_without_index()
            }
        }
    }

    /// For what others are to rely on: an index that this process makes from the log for itself, since rows of the one in
    /// the state folder can be hidden. `reading` is told before, with the bytes of the log.
    ///
    /// # Errors
    /// When the log cannot be read at all.
    pub fn answers_anew(&self, reading: &dyn Fn(u64)) -> Result<Answers, AuditError> {
        match Index::anew(self, reading) {
            Ok(index) => self.answered_by(index),
            Err(IndexError::Log(e)) => Err(e),
            Err(e) => {
                tracing::warn!("{e}");
                self.answers_without_index()
            }
        }
    }

    fn answered_by(&self, index: Index) -> Result<Answers, AuditError> {
        let mut faults = index.faults.clone();
        self.vouch(index.records, &mut faults)?;
        Ok(Answers {
            log: self.clone(),
            faults,
            source: Source::Index(Box::new(index)),
        })
    }

    /// Reads the whole log, for answers on which something depends that cannot be undone: rows of the index can be hidden
    /// by whoever can write the state folder.
    ///
    /// # Errors
    /// When the log cannot be read at all.
    pub fn answers_without_index(&self) -> Result<Answers, AuditError> {
        let (cases, later, faults) = self.cases()?;
        Ok(Answers {
            log: self.clone(),
            source: Source::Read(Box::new(Whole { cases, later })),
            faults,
        })
    }
}

impl Answers {
    /// Whether they rest on an index that others can write.
    pub fn from_kept_index(&self) -> bool {
        matches!(&self.source, Source::Index(index) if index.is_kept())
    }

    /// What stands in the way of believing the answers so far.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// How many records are of a later version. They may concern these proposals or others.
    pub fn unknown(&self) -> u64 {
        match &self.source {
            Source::Index(index) => index.later(),
            Source::Read(whole) => whole.later,
        }
    }

    /// What the index found; nothing where a line is not the one that was indexed, which is a fault of the log.
    fn or_fault<T: Default>(&mut self, found: Result<T, IndexError>) -> Result<T, AuditError> {
        match found {
            Ok(found) => Ok(found),
            Err(IndexError::Changed(damage)) => {
                self.faults.chain.get_or_insert(damage);
                Ok(T::default())
            }
            Err(IndexError::Log(e)) => Err(e),
            Err(e) => {
                if matches!(&self.source, Source::Index(index) if index.is_kept()) {
                    let _ = index::forget(&self.log.layout);
                }
                let folder = self.log.layout.index();
                Err(AuditError::io(folder, "read", std::io::Error::other(e)))
            }
        }
    }

    /// The proposals that a question selects, the newest first, at most `most`: each as soon as it is found. The
    /// visitor's error ends it.
    pub fn each<E>(
        &mut self,
        query: &Query,
        most: usize,
        mut visit: impl FnMut(Logged) -> Result<(), E>,
    ) -> Result<Result<(), E>, AuditError> {
        const AT_ONCE: usize = 200;
        let (mut before, mut left) = (None, most);
        loop {
            let some = match &mut self.source {
                Source::Index(index) => {
                    let found = index.found(query, before, 0, left.min(AT_ONCE));
                    self.or_fault(found)?
                }
                Source::Read(whole) => {
                    let found = whole.cases.all.iter().rev();
                    let found = found.filter(|case| query.matches(case, &self.log));
                    return Ok(found.take(most).map(Logged::of).try_for_each(visit));
                }
            };
            let Some(oldest) = some.oldest else {
                return Ok(Ok(()));
            };
            self.faults.blobs.add_new(some.faults);
            before = Some(oldest);
            left = left.saturating_sub(some.cases.len());
            for case in &some.cases {
                if let Err(e) = visit(Logged::of(case)) {
                    return Ok(Err(e));
                }
            }
        }
    }

    /// A part of the list: after the first `skip`, at most `most`.
    pub fn page(
        &mut self,
        query: &Query,
        skip: usize,
        most: usize,
    ) -> Result<Vec<Logged>, AuditError> {
        match &mut self.source {
            Source::Index(index) => {
                let found = index.found(query, None, skip as u64, most);
                let found = self.or_fault(found)?;
                self.faults.blobs.add_new(found.faults);
                Ok(found.cases.iter().map(Logged::of).collect())
            }
            Source::Read(whole) => {
                let found = whole.cases.all.iter().rev();
                let found = found.filter(|case| query.matches(case, &self.log));
                Ok(found.skip(skip).take(most).map(Logged::of).collect())
            }
        }
    }

    /// How many proposals a question selects.
    pub fn count(&mut self, query: &Query) -> Result<usize, AuditError> {
        match &self.source {
            Source::Index(index) => {
                let count = index.count(query);
                Ok(usize::try_from(self.or_fault(count)?).unwrap_or(usize::MAX))
            }
            Source::Read(whole) => {
                let found = whole.cases.all.iter();
                Ok(found.filter(|case| query.matches(case, &self.log)).count())
            }
        }
    }

    /// How many of the proposals that a question selects are newer than this one; `None` if there is no such proposal.
    pub fn newer(&mut self, query: &Query, id: ProposalId) -> Result<Option<usize>, AuditError> {
        match &self.source {
            Source::Index(index) => {
                let newer = index.newer(query, id);
                let newer = self.or_fault(newer)?;
                Ok(newer.map(|n| usize::try_from(n).unwrap_or(usize::MAX)))
            }
            Source::Read(whole) => {
                let Some(at) = whole.cases.all.iter().position(|case| case.id == id) else {
                    return Ok(None);
                };
                let newer = whole.cases.all[at + 1..].iter();
                let newer = newer.filter(|case| query.matches(case, &self.log));
                Ok(Some(newer.count()))
            }
        }
    }

    /// Counts what a question selects.
    pub fn stats(&mut self, query: &Query) -> Result<Stats, AuditError> {
        let zone = jiff::tz::TimeZone::system();
        let mut stats = match &self.source {
            Source::Index(index) => {
                let plan = index.plan();
                let decisions = index.decisions(query);
                Stats::of(self.or_fault(decisions)?, plan, &zone)
            }
            Source::Read(whole) => {
                let wanted = |case: &&Case| query.matches(case, &self.log);
                let decisions = whole
                    .cases
                    .all
                    .iter()
                    .filter(wanted)
                    .map(Decision::of)
                    .collect();
                Stats::of(decisions, whole.cases.plan, &zone)
            }
        };
        if !query.keeps_rows() {
            stats.forget_rows();
        }
        Ok(stats)
    }

    /// How what a question selects divides; `asked` is its text.
    pub fn facets(&mut self, query: &Query, asked: &str) -> Result<Facets, AuditError> {
        let zone = jiff::tz::TimeZone::system();
        let mut counter = Counter::default();
        match &self.source {
            Source::Index(index) => {
                let counted = index.divide(query, &mut counter);
                self.or_fault(counted)?;
            }
            Source::Read(whole) => {
                let cases = whole.cases.all.iter();
                for case in cases.filter(|case| query.matches(case, &self.log)) {
                    counter.count_case(case);
                }
            }
        }
        Ok(counter.end(asked, &zone))
    }

    /// The open proposals, counted.
    pub fn summary(&mut self) -> Result<Summary, AuditError> {
        let Source::Index(index) = &self.source else {
            return self.log.summary();
        };
        let (records, unknown) = (index.records, index.later());
        let open = index.open_ones();
        let (pending, running) = self.or_fault(open)?;
        Ok(Summary {
            pending,
            running,
            records,
            unknown,
            dashboard: self.log.writer()?,
            faults: self.faults.clone(),
        })
    }

    /// Every record of one proposal, the oldest first, with its contents checked. Empty if the log does not have the
    /// proposal.
    pub fn records(&mut self, id: ProposalId) -> Result<History, AuditError> {
        let Source::Index(index) = &mut self.source else {
            return self.log.records(id);
        };
        let lines = index.lines(id);
        let lines = self.or_fault(lines)?;
        if lines.is_empty() && self.hides(id)? {
            return self.log.records(id);
        }
        let mut contents = Contents::of(&self.log.layout, Look::ReadOf(id));
        let mut faults = self.faults.clone();
        let mut history = Vec::new();
        let mut unknown = 0;
        for (place, bytes) in &lines {
            if unseal(bytes).is_ok_and(|sealed| sealed.v > VERSION) {
                unknown += 1;
                continue;
            }
            // It was a record when it was indexed, and has the same hash.
            let Ok(record) = Record::parse(bytes) else {
                continue;
            };
            let file = place.file();
            let line = place.line(&file, bytes);
            faults.blobs.add_new(contents.named(&line, &record.event));
            history.push(record);
        }
        faults.blobs.add_new(contents.missing());
        Ok(History {
            records: history,
            unknown,
            faults,
        })
    }

    /// The same for what others are to rely on: the log is searched for records that the index hides.
    pub fn records_whole(&mut self, id: ProposalId) -> Result<History, AuditError> {
        match self.hides(id)? {
            true => self.log.records(id),
            false => self.records(id),
        }
    }

    /// Whether the log has a record of this proposal that the index in the state folder does not name. Such an index is
    /// removed.
    fn hides(&mut self, id: ProposalId) -> Result<bool, AuditError> {
        let hides = match &self.source {
            Source::Index(index) if index.is_kept() => index.hides(id),
            _ => return Ok(false),
        };
        let hides = self.or_fault(hides)?;
        if hides {
            tracing::warn!("the index hides a record of {id}, and is removed");
            let _ = index::forget(&self.log.layout);
        }
        Ok(hides)
    }

    /// When agents were paused and resumed, the newest first.
    pub fn pauses(&mut self) -> Result<Pauses, AuditError> {
        let Source::Index(index) = &mut self.source else {
            return self.log.pauses();
        };
        let lines = index.apart(["paused", "resumed"]);
        let lines = self.or_fault(lines)?;
        let all = lines.iter().filter_map(|(_, bytes)| {
            let record = Record::parse(bytes).ok()?;
            PauseLogged::of(record.ts, &record.event)
        });
        Ok(Pauses {
            all: all.collect(),
            unknown: self.unknown(),
            faults: self.faults.clone(),
        })
    }

    /// The records of what retention removed, the newest first.
    pub fn removals(&mut self) -> Result<Vec<Record>, AuditError> {
        let mut all = Vec::new();
        match &mut self.source {
            Source::Index(index) => {
                let lines = index.apart(["pruned", "pruned"]);
                let lines = self.or_fault(lines)?;
                all.extend(
                    lines
                        .iter()
                        .filter_map(|(_, bytes)| Record::parse(bytes).ok()),
                );
            }
            Source::Read(_) => {
                judge::read(&self.log.layout, Look::There, |read| {
                    if let Read::Record(_, record) = read
                        && let LogEvent::Pruned { .. } = record.event
                    {
                        all.push(*record);
                    }
                })?;
                all.reverse();
            }
        }
        Ok(all)
    }

    /// The ids that begin or end with these digits, two at most.
    pub fn ids(&mut self, digits: &str) -> Result<Vec<ProposalId>, AuditError> {
        match &self.source {
            Source::Index(index) => {
                let found = match index.ids(digits) {
                    // The log has the last word.
                    Ok(none) if none.is_empty() && index.is_kept() => index.ids_in_lines(digits),
                    found => found,
                };
                self.or_fault(found)
            }
            Source::Read(whole) => {
                let ids = whole.cases.all.iter().rev().map(|case| case.id);
                let has = |id: &ProposalId| {
                    let id = id.to_string();
                    id.starts_with(digits) || id.ends_with(digits)
                };
                Ok(ids.filter(has).take(2).collect())
            }
        }
    }
}
