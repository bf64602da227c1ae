//! Answers to questions about a log: from its index, or from the log alone where the index cannot be used.
//!
//! Both find the same. The index was read once and then only what was written since; a line that is shown is read and
//! hashed again. Contents (blobs) are looked at when their record is first read and when they are shown, not at each look.
//! Where the two are found to differ, the log answers, and the index is a fault of its own ([`Faults::index`]).

mod told;

use std::collections::HashSet;

use super::cases::Cases;
use super::contents::{Contents, Look};
use super::error::{AuditError, Faults};
use super::facets::{Counter, Facets};
use super::index::{self, Index, IndexError, Noted, SHORT, Telling};
use super::judge::{self, Read};
use super::line::{Record, VERSION, unseal};
use super::log::{History, Log, Logged, PauseLogged, Pauses, Summary};
use super::plausible::Plausible;
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
    /// The index said something else than the log. What is asked next reads the log.
    Distrusted,
}

/// What answers rest on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The log was read for them.
    Log,
    /// All of the index was compared with all of the log before.
    Compared,
    /// The index. When it was last compared with the log, as a note beside it says: a convenience, and no proof.
    Index(Option<Noted>),
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
        let telling = |read, of| {
            if read == 0 {
                reading(of);
            }
        };
        self.answered(&telling, |_| Ok(()))
    }

    /// Like [`Log::answers`]; the index of a short log is compared with all of it first (`by` says what does), and where
    /// they differ, the log is what answers. `telling` hears how far a reading of a whole log is.
    ///
    /// # Errors
    /// When the log cannot be read at all.
    pub fn answers_compared(&self, by: &str, telling: Telling<'_>) -> Result<Answers, AuditError> {
        self.answered(telling, |index| match self.is_short() {
            true => index.compare(by),
            false => Ok(()),
        })
    }

    /// Like [`Log::answers_compared`] for this question. The words of codes in an index are not compared: a short log
    /// itself is asked for them, and the index has no part in it.
    ///
    /// # Errors
    /// When the log cannot be read at all.
    pub fn answers_to(
        &self,
        query: &Query,
        by: &str,
        telling: Telling<'_>,
    ) -> Result<Answers, AuditError> {
        match self.is_short() && query.asks_for_words() {
            true => self.answers_without_index(),
            false => self.answers_compared(by, telling),
        }
    }

    fn is_short(&self) -> bool {
        self.layout
            .segment_bytes()
            .is_ok_and(|bytes| bytes <= SHORT)
    }

    fn answered(
        &self,
        telling: Telling<'_>,
        checks: impl FnOnce(&mut Index) -> Result<(), IndexError>,
    ) -> Result<Answers, AuditError> {
        match Index::open(self, telling, checks) {
            Ok(index) => self.answered_by(index),
            Err(IndexError::Log(e)) => Err(e),
            Err(e @ IndexError::Differs(_)) => {
                let mut answers = self.answers_by_none();
                answers.distrusts(&e);
                answers.ready()?;
                Ok(answers)
            }
            Err(e) => {
                tracing::warn!("{e}");
                // If it is broken, the next look makes another.
                let _ = index::forget(&self.layout);
                self.answers_without_index()
            }
        }
    }

    fn answers_by_none(&self) -> Answers {
        Answers {
            log: self.clone(),
            source: Source::Distrusted,
            faults: Faults::default(),
        }
    }

    /// For what others are to rely on: an index that this process makes from the log for itself, since rows of the one in
    /// the state folder can be hidden. `telling` hears how far that is.
    ///
    /// # Errors
    /// When the log cannot be read at all.
    pub fn answers_anew(&self, telling: Telling<'_>) -> Result<Answers, AuditError> {
        match Index::anew(self, telling) {
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
    /// What they rest on.
    pub fn basis(&self) -> Basis {
        match &self.source {
            Source::Index(index) if !index.is_kept() => Basis::Log,
            Source::Index(index) if index.is_sure() => Basis::Compared,
            Source::Index(index) => Basis::Index(index.noted()),
            Source::Read(_) | Source::Distrusted => Basis::Log,
        }
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
            Source::Distrusted => 0,
        }
    }

    /// The last record that they are about.
    pub fn records_read(&self) -> Option<u64> {
        match &self.source {
            Source::Index(index) => Some(index.records),
            Source::Read(_) | Source::Distrusted => None,
        }
    }

    /// Removes an index that does not say what the log says. What is asked next reads the log.
    fn distrusts(&mut self, error: &IndexError) {
        let damage = error.damage();
        tracing::warn!("{damage}");
        index::distrust(&self.log.layout);
        self.source = Source::Distrusted;
        self.faults.index.get_or_insert(damage);
    }

    /// Reads the log if the index is of no use any more.
    fn ready(&mut self) -> Result<(), AuditError> {
        if !matches!(self.source, Source::Distrusted) {
            return Ok(());
        }
        let read = self.log.answers_anew(&|_, _| {})?;
        let index = self.faults.index.take();
        self.faults = Faults {
            index,
            ..read.faults
        };
        self.source = read.source;
        Ok(())
    }

    /// What was found; `None` if the index said something else than the log, which is to be asked then.
    fn or_log<T: Default>(
        &mut self,
        found: Result<T, IndexError>,
    ) -> Result<Option<T>, AuditError> {
        let kept = matches!(&self.source, Source::Index(index) if index.is_kept());
        match found {
            Ok(found) => Ok(Some(found)),
            Err(IndexError::Log(e)) => Err(e),
            Err(e) if kept => {
                self.distrusts(&e);
                Ok(None)
            }
            // The log changed while it was read.
            Err(IndexError::Changed(damage)) => {
                self.faults.chain.get_or_insert(damage);
                Ok(Some(T::default()))
            }
            Err(e) => {
                let folder = self.log.layout.index();
                Err(AuditError::io(folder, "read", std::io::Error::other(e)))
            }
        }
    }

    /// What the index finds; `None` if there is none, or it said something else than the log.
    fn of_index<T: Default>(
        &mut self,
        ask: impl FnOnce(&mut Index) -> Result<T, IndexError>,
    ) -> Result<Option<T>, AuditError> {
        match &mut self.source {
            Source::Index(index) => {
                let found = ask(index);
                self.or_log(found)
            }
            Source::Read(_) | Source::Distrusted => Ok(None),
        }
    }

    /// What the index finds, or the whole log if there is none.
    fn find<T: Default>(
        &mut self,
        mut by_index: impl FnMut(&mut Index) -> Result<T, IndexError>,
        by_log: impl FnOnce(&Whole, &Log) -> T,
    ) -> Result<T, AuditError> {
        loop {
            self.ready()?;
            let found = match &mut self.source {
                Source::Index(index) => by_index(index),
                Source::Read(whole) => return Ok(by_log(whole, &self.log)),
                Source::Distrusted => continue,
            };
            if let Some(found) = self.or_log(found)? {
                return Ok(found);
            }
        }
    }

    /// The proposals that a question selects, the newest first, at most `most`: each as soon as it is found. The
    /// visitor's error ends it. If the log takes the word in between, what it has beside follows.
    pub fn each<E>(
        &mut self,
        query: &Query,
        most: usize,
        mut visit: impl FnMut(Logged) -> Result<(), E>,
    ) -> Result<Result<(), E>, AuditError> {
        const AT_ONCE: usize = 200;
        let (mut before, mut left) = (None, most);
        let mut visited = HashSet::new();
        loop {
            self.ready()?;
            let some = match &mut self.source {
                Source::Index(index) => index.found(query, before, 0, left.min(AT_ONCE)),
                Source::Read(whole) => {
                    let found = whole.cases.all.iter().rev();
                    let found = found.filter(|case| query.matches(case, &self.log));
                    let found = found.filter(|case| !visited.contains(&case.id));
                    return Ok(found.take(left).map(Logged::of).try_for_each(visit));
                }
                Source::Distrusted => continue,
            };
            let Some(some) = self.or_log(some)? else {
                before = None;
                continue;
            };
            let Some(oldest) = some.oldest else {
                return Ok(Ok(()));
            };
            self.faults.blobs.add_new(some.faults);
            before = Some(oldest);
            for case in &some.cases {
                if left > 0 && visited.insert(case.id) {
                    left -= 1;
                    if let Err(e) = visit(Logged::of(case)) {
                        return Ok(Err(e));
                    }
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
        let mut faults = Vec::new();
        let rows = self.find(
            |index| {
                let found = index.found(query, None, skip as u64, most)?;
                faults = found.faults;
                Ok(found.cases.iter().map(Logged::of).collect::<Vec<_>>())
            },
            |whole, log| {
                let found = whole.cases.all.iter().rev();
                let found = found.filter(|case| query.matches(case, log));
                found.skip(skip).take(most).map(Logged::of).collect()
            },
        )?;
        self.faults.blobs.add_new(faults);
        Ok(rows)
    }

    /// How many proposals a question selects.
    pub fn count(&mut self, query: &Query) -> Result<usize, AuditError> {
        self.find(
            |index| Ok(usize::try_from(index.count(query)?).unwrap_or(usize::MAX)),
            |whole, log| {
                let found = whole.cases.all.iter();
                found.filter(|case| query.matches(case, log)).count()
            },
        )
    }

    /// How many of the proposals that a question selects are newer than this one; `None` if there is no such proposal.
    pub fn newer(&mut self, query: &Query, id: ProposalId) -> Result<Option<usize>, AuditError> {
        self.find(
            |index| {
                let newer = index.newer(query, id)?;
                Ok(newer.map(|n| usize::try_from(n).unwrap_or(usize::MAX)))
            },
            |whole, log| {
                let at = whole.cases.all.iter().position(|case| case.id == id)?;
                let newer = whole.cases.all[at + 1..].iter();
                Some(newer.filter(|case| query.matches(case, log)).count())
            },
        )
    }

    /// Counts what a question selects.
    pub fn stats(&mut self, query: &Query) -> Result<Stats, AuditError> {
        let (decisions, plan) = self.find(
            |index| Ok((index.decisions(query)?, index.plan())),
            |whole, log| {
                let found = whole.cases.all.iter();
                let found = found.filter(|case| query.matches(case, log));
                (found.map(Decision::of).collect(), whole.cases.plan)
            },
        )?;
        let mut stats = Stats::of(decisions, plan, &jiff::tz::TimeZone::system());
        if !query.keeps_rows() {
            stats.forget_rows();
        }
        Ok(stats)
    }

    /// How what a question selects divides; `asked` is its text.
    pub fn facets(&mut self, query: &Query, asked: &str) -> Result<Facets, AuditError> {
        let counter = self.find(
            |index| {
                let mut counter = Counter::default();
                index.divide(query, &mut counter)?;
                Ok(counter)
            },
            |whole, log| {
                let mut counter = Counter::default();
                let cases = whole.cases.all.iter();
                for case in cases.filter(|case| query.matches(case, log)) {
                    counter.count_case(case);
                }
                counter
            },
        )?;
        Ok(counter.end(asked, &jiff::tz::TimeZone::system()))
    }

    /// The open proposals, counted.
    pub fn summary(&mut self) -> Result<Summary, AuditError> {
        let open = match &self.source {
            Source::Index(index) => index.open_ones(),
            Source::Read(_) | Source::Distrusted => return self.log.summary(),
        };
        let Some((pending, running)) = self.or_log(open)? else {
            return self.log.summary();
        };
        Ok(Summary {
            pending,
            running,
            records: self.records_read().unwrap_or_default(),
            unknown: self.unknown(),
            dashboard: self.log.writer()?,
            faults: self.faults.clone(),
        })
    }

    /// Every record of one proposal, the oldest first, with its contents checked. Empty if the log does not have the
    /// proposal. The index says where they are, and the log is searched for what it leaves out: if it does, the log is
    /// what answers.
    pub fn records(&mut self, id: ProposalId) -> Result<History, AuditError> {
        let lines = self.of_index(|index| index.lines(id))?;
        let Some(lines) = lines else {
            return self.records_of_log(id);
        };
        let mut contents = Contents::of(&self.log.layout, Look::ReadOf(id));
        let mut faults = self.faults.clone();
        let mut history = Vec::new();
        let mut unknown = 0;
        let mut plausible = Plausible::of_one(&self.log.layout);
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
            plausible.read(&line, &record);
            history.push(record);
        }
        faults.blobs.add_new(contents.missing());
        faults.lives.join(plausible.odd);
        Ok(History {
            records: history,
            unknown,
            faults,
        })
    }

    fn records_of_log(&self, id: ProposalId) -> Result<History, AuditError> {
        let history = self.log.records(id)?;
        Ok(History {
            faults: Faults {
                index: self.faults.index.clone(),
                ..history.faults
            },
            ..history
        })
    }

    /// When agents were paused and resumed, the newest first.
    pub fn pauses(&mut self) -> Result<Pauses, AuditError> {
        let lines = self.of_index(|index| index.apart(["paused", "resumed"]))?;
        let Some(lines) = lines else {
            let pauses = self.log.pauses()?;
            self.faults.chain = pauses.faults.chain.clone();
            return Ok(pauses);
        };
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
        let lines = self.of_index(|index| index.apart(["pruned", "pruned"]))?;
        let mut all = Vec::new();
        if let Some(lines) = lines {
            let records = lines.iter();
            all.extend(records.filter_map(|(_, bytes)| Record::parse(bytes).ok()));
            return Ok(all);
        }
        judge::read(&self.log.layout, Look::There, |read| {
            if let Read::Record(_, record) = read
                && let LogEvent::Pruned { .. } = record.event
            {
                all.push(*record);
            }
        })?;
        all.reverse();
        Ok(all)
    }

    /// The ids that begin or end with these digits, two at most.
    pub fn ids(&mut self, digits: &str) -> Result<Vec<ProposalId>, AuditError> {
        self.find(
            |index| match index.ids(digits) {
                // The log has the last word.
                Ok(none) if none.is_empty() && !index.is_sure() => index.ids_in_lines(digits),
                found => found,
            },
            |whole, _| {
                let ids = whole.cases.all.iter().rev().map(|case| case.id);
                let has = |id: &ProposalId| {
                    let id = id.to_string();
                    id.starts_with(digits) || id.ends_with(digits)
                };
                ids.filter(has).take(2).collect()
            },
        )
    }
}
