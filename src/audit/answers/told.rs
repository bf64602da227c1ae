//! What an export is made of: each proposal with all of its records, or every line of the log.

use std::collections::{HashMap, HashSet};

use super::super::cases::Case;
use super::super::contents::Look;
use super::super::error::AuditError;
use super::super::judge::{self, Read};
use super::super::line::Record;
use super::super::log::Log;
use super::super::query::Query;
use super::{Answers, Source};
use crate::model::ProposalId;

/// A proposal: what became of it, and its records, the oldest first.
#[derive(Clone, Debug)]
pub struct Told {
    pub case: Case,
    pub records: Vec<Record>,
}

impl Answers {
    /// The log, for contents.
    pub(in crate::audit) fn log(&self) -> Log {
        self.log.clone()
    }

    /// How many lines of records there are; 0 if that is not known.
    pub fn lines(&mut self) -> Result<u64, AuditError> {
        self.find(|index| index.lines_in_all(), |_, _| 0)
    }

    /// The ids of drills that wait. No other record than their own names them.
    pub(in crate::audit) fn waiting_drills(&mut self) -> Result<Vec<String>, AuditError> {
        self.find(
            |index| index.waiting_drills(),
            |whole, _| {
                let cases = whole.cases.all.iter();
                let waiting = cases.filter(|case| case.is_waiting_drill());
                waiting.map(|case| case.id.to_string()).collect()
            },
        )
    }

    /// The proposals that a question selects, the oldest first, each as soon as it is read. The visitor's error ends it.
    pub fn each_told<E>(
        &mut self,
        query: &Query,
        mut visit: impl FnMut(&Told) -> Result<(), E>,
    ) -> Result<Result<(), E>, AuditError> {
        const AT_ONCE: usize = 100;
        let mut after = i64::MIN;
        let mut visited = HashSet::new();
        loop {
            self.ready()?;
            let found = match &mut self.source {
                Source::Index(index) => index.told(query, after, AT_ONCE),
                Source::Read(_) | Source::Distrusted => {
                    let mut rest = self.selected(query)?;
                    rest.retain(|told| !visited.contains(&told.case.id));
                    return Ok(rest.iter().try_for_each(visit));
                }
            };
            let Some(found) = self.or_log(found)? else {
                after = i64::MIN;
                continue;
            };
            let Some(newest) = found.newest else {
                return Ok(Ok(()));
            };
            self.faults.blobs.add_new(found.faults);
            after = newest;
            for told in &found.told {
                if visited.insert(told.case.id)
                    && let Err(e) = visit(told)
                {
                    return Ok(Err(e));
                }
            }
        }
    }

    /// Without an index: the records are collected in one more walk.
    fn selected(&self, query: &Query) -> Result<Vec<Told>, AuditError> {
        let Source::Read(whole) = &self.source else {
            return Ok(Vec::new());
        };
        let wanted = |case: &&Case| query.matches(case, &self.log);
        let cases: Vec<&Case> = whole.cases.all.iter().filter(wanted).collect();
        let mut records: HashMap<ProposalId, Vec<Record>> =
            cases.iter().map(|case| (case.id, Vec::new())).collect();
        judge::read(&self.log.layout, Look::There, |read| {
            if let Read::Record(_, record) = read
                && let Some(id) = record.event.id()
                && let Some(records) = records.get_mut(&id)
            {
                records.push(*record);
            }
        })?;
        let told = cases.into_iter().map(|case| Told {
            case: case.clone(),
            records: records.remove(&case.id).unwrap_or_default(),
        });
        Ok(told.collect())
    }

    /// Every line of a record, the oldest first, without its line feed. The visitor's error ends it.
    pub fn each_line<E>(
        &mut self,
        mut visit: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<Result<(), E>, AuditError> {
        const AT_ONCE: usize = 500;
        let mut after = 0;
        loop {
            let lines = match &mut self.source {
                Source::Index(index) => index.lines_after(after, AT_ONCE),
                Source::Read(_) | Source::Distrusted => {
                    let mut ended = Ok(());
                    judge::read(&self.log.layout, Look::There, |read| {
                        let (Read::Record(line, _) | Read::Later(line, _)) = read;
                        if ended.is_ok() && line.seq > after {
                            ended = visit(line.bytes);
                        }
                    })?;
                    return Ok(ended);
                }
            };
            let Some(lines) = self.or_log(lines)? else {
                continue;
            };
            let Some((newest, _)) = lines.last() else {
                return Ok(Ok(()));
            };
            after = *newest;
            if let Err(e) = lines.iter().try_for_each(|(_, line)| visit(line)) {
                return Ok(Err(e));
            }
        }
    }
}
