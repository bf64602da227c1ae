//! What the index finds, and what the log says of it.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, params_from_iter};
use serde::Deserialize;

use super::super::cases::{Case, Cases, Course, Person, Shown};
use super::super::contents::{Contents, Look};
use super::super::error::Damage;
use super::super::line::Record;
use super::super::query::Query;
use super::super::scan::Line;
use super::super::stats::Decision;
use super::hidden::{Lines, named};
use super::lines::Place;
use super::select::Sql;
use super::{Index, IndexError, row};
use crate::model::{Harm, ProposalId};

/// Some of the proposals that a question selects, the newest first.
#[derive(Default)]
pub(in crate::audit) struct Found {
    pub cases: Vec<Case>,
    /// The number of the last one that was looked at; `None` if there are no more.
    pub oldest: Option<i64>,
    /// What is wrong with their contents.
    pub faults: Vec<Damage>,
}

impl Index {
    /// The numbers of the proposals that the index picks for a question. `rest` follows the question's own condition and
    /// has a place for each of `values`.
    pub(super) fn picked<const N: usize>(
        &self,
        query: &Query,
        rest: &str,
        values: [i64; N],
    ) -> Result<Vec<i64>, IndexError> {
        let mut sql = Sql::of(query.root());
        sql.values.extend(values.map(Into::into));
        let text = format!("SELECT n FROM proposals WHERE {} AND {rest}", sql.text);
        let mut statement = self.connection.prepare_cached(&text)?;
        let rows = statement.query_map(params_from_iter(sql.values), |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The proposals that a question selects, the newest first: at most `most`, older than the number `before`, after
    /// the first `skip`.
    pub fn found(
        &mut self,
        query: &Query,
        before: Option<i64>,
        skip: u64,
        most: usize,
    ) -> Result<Found, IndexError> {
        let before = before.unwrap_or(i64::MAX);
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rest = "n < ? ORDER BY n DESC LIMIT ? OFFSET ?";
        let rows = self.picked(query, rest, [before, most, skip.cast_signed()])?;
        let mut found = Found {
            oldest: rows.last().copied(),
            ..Found::default()
        };
        let mut contents = Contents::of(&self.log.layout, Look::There);
        // What is not closed could go on behind its last line that the index names.
        let mut open = Lines::default();
        for n in rows {
            let mut lines = Lines::default();
            let case = self.case(n, &mut |line, record| {
                found.faults.extend(contents.named(line, &record.event));
                if let Some(id) = record.event.id() {
                    let at = line.boundary.segment;
                    lines.add(id, at, line.offset, line.bytes.len());
                }
            })?;
            if case.as_ref().is_some_and(|case| !case.state.is_final()) {
                open.take_in(lines);
            }
            // The index picks, and the log has the last word.
            let case = case.filter(|case| query.matches(case, &self.log));
            found.cases.extend(case);
        }
        if !self.is_sure()
            && let Some(id) = self.hidden(&open)?
        {
            return Err(IndexError::Lies(id));
        }
        found.faults.extend(contents.missing());
        Ok(found)
    }

    /// How many proposals a question selects.
    pub fn count(&self, query: &Query) -> Result<u64, IndexError> {
        let sql = Sql::of(query.root());
        let text = format!("SELECT count(*) FROM proposals WHERE {}", sql.text);
        let mut statement = self.connection.prepare_cached(&text)?;
        let count: i64 = statement.query_one(params_from_iter(sql.values), |row| row.get(0))?;
        Ok(count.cast_unsigned())
    }

    /// The number of a proposal, by which they are ordered.
    pub(super) fn number(&self, id: ProposalId) -> Result<Option<i64>, IndexError> {
        let known = self
            .connection
            .prepare_cached("SELECT n FROM proposals WHERE id = ?1")?
            .query_one([id.to_string()], |row| row.get(0))
            .optional()?;
        Ok(known)
    }

    /// How many of the proposals that a question selects arrived after this one.
    pub fn newer(&self, query: &Query, id: ProposalId) -> Result<Option<u64>, IndexError> {
        let mut sql = Sql::of(query.root());
        let Some(n) = self.number(id)? else {
            return Ok(None);
        };
        sql.values.push(n.into());
        let text = format!(
            "SELECT count(*) FROM proposals WHERE {} AND n > ?",
            sql.text
        );
        let mut statement = self.connection.prepare_cached(&text)?;
        let count: i64 = statement.query_one(params_from_iter(sql.values), |row| row.get(0))?;
        Ok(Some(count.cast_unsigned()))
    }

    /// What became of the proposals that a question selects, as the index has it.
    pub fn decisions(&self, query: &Query) -> Result<Vec<Decision>, IndexError> {
        let mut decisions = Vec::new();
        self.each_decision(query, |_, decision| decisions.push(decision))?;
        Ok(decisions)
    }

    /// The same one by one, each with its number, in one pass over the proposals.
    pub(super) fn each_decision(
        &self,
        query: &Query,
        mut visit: impl FnMut(i64, Decision),
    ) -> Result<(), IndexError> {
        let sql = Sql::of(query.root());
        let text = format!(
            "SELECT n, seq, uid, agent_shown, drill, course, by_uid, by_shown, look, asked_again, state, verdict, \
             profile, asked, at, ended_by, accesses, shown FROM proposals WHERE {}",
            sql.text
        );
        let mut names = Names::default();
        let mut statement = self.connection.prepare_cached(&text)?;
        let mut rows = statement.query(params_from_iter(sql.values))?;
        while let Some(row) = rows.next()? {
            let by: Option<u32> = row.get(6)?;
            let accesses = maybe(row, 16)?.map(serde_json::from_str).transpose()?;
            let decision = Decision {
                seq: row.get::<_, i64>(1)?.cast_unsigned(),
                agent: (row.get(2)?, names.one(text_of(row, 3)?)),
                drill: match maybe(row, 4)? {
                    Some(name) => Some(Harm::named(name).ok_or(IndexError::Odd)?),
                    None => None,
                },
                course: row::course_named(text_of(row, 5)?).ok_or(IndexError::Odd)?,
                by: match by {
                    Some(uid) => Some(Person {
                        uid,
                        login: maybe(row, 7)?.map(|login| names.one(login)),
                    }),
                    None => None,
                },
                look_ms: row
                    .get::<_, Option<i64>>(8)?
                    .map(|ns| ns.cast_unsigned() / 1_000_000),
                shown: match maybe(row, 17)? {
                    Some(name) => Some(Shown::named(name).ok_or(IndexError::Odd)?),
                    None => None,
                },
                asked_again: row.get(9)?,
                state: word(text_of(row, 10)?)?,
                verdict: word(text_of(row, 11)?)?,
                profile: names.one(text_of(row, 12)?),
                asked: time(row.get(13)?)?,
                at: time(row.get(14)?)?,
                limit: maybe(row, 15)?.map(word).transpose()?,
                accesses: accesses.unwrap_or_default(),
            };
            visit(row.get(0)?, decision);
        }
        Ok(())
    }

    /// The ids that begin or end with these digits, two at most.
    pub fn ids(&self, digits: &str) -> Result<Vec<ProposalId>, IndexError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id FROM proposals WHERE id GLOB ?1 || '*' OR id GLOB '*' || ?1 ORDER BY n DESC LIMIT 2",
        )?;
        let rows = statement.query_map([digits], |row| row.get::<_, String>(0))?;
        rows.map(|id| id?.parse().map_err(|_| IndexError::Odd))
            .collect()
    }

    /// A proposal from its records, of which the index must say the same.
    pub(super) fn case(
        &mut self,
        n: i64,
        visit: &mut dyn FnMut(&Line<'_>, Record),
    ) -> Result<Option<Case>, IndexError> {
        let mut cases = Cases::default();
        let mut lives = self.resume.judged.lives();
        let mut of = None;
        for place in Place::all_of(&self.connection, n)? {
            let Some(record) = self.kept.record(&self.log.layout, &place)? else {
                if let Some(id) = of {
                    lives.unjudged(id);
                }
                continue;
            };
            let id = *of.get_or_insert(record.event.id().ok_or(IndexError::Odd)?);
            if record.event.id() != Some(id) {
                return Err(IndexError::Lies(id));
            }
            // If the log has no impossible lives, a record is missing here.
            let lived = lives.step(&record.event).is_ok() || self.faults.lives.count > 0;
            if !lived || record.seq != place.seq.cast_unsigned() {
                return Err(IndexError::Lies(id));
            }
            cases.learn(record.seq, record.ts, &record.event);
            let bytes = record.line.clone();
            visit(&place.line(&place.file(), bytes.as_bytes()), record);
        }
        let Some(id) = of else { return Ok(None) };
        if let Some(case) = cases.get(id).filter(|case| case.course != Course::Waits) {
            let here = self.here_before(case.seq)?;
            cases.set_by(id, here);
        }
        let Some(case) = cases.take(id) else {
            return Ok(None);
        };
        let ended = lives.state(id).filter(|state| state.is_final());
        let columns = row::columns(&case, ended.unwrap_or(case.state))?;
        match row::kept(&self.connection, n)? == Some(columns) {
            true => Ok(Some(case)),
            false => Err(IndexError::Lies(id)),
        }
    }

    /// Who had the dashboard open before this record.
    fn here_before(&mut self, seq: u64) -> Result<Option<Person>, IndexError> {
        let mut last = None;
        for kind in ["opened", "closed"] {
            let place = Place::last_apart(&self.connection, kind, seq.cast_signed())?;
            if place.as_ref().map(|place| place.seq) > last.as_ref().map(|place: &Place| place.seq)
            {
                last = place;
            }
        }
        let Some(place) = last else { return Ok(None) };
        let mut cases = Cases::default();
        if let Some(record) = self.kept.record(&self.log.layout, &place)? {
            cases.learn(record.seq, record.ts, &record.event);
        }
        Ok(cases.here)
    }

    /// All lines of a proposal, the oldest first, with their places.
    ///
    /// # Errors
    /// If the index names a line of another one, or leaves out one that the log has from the first one on.
    pub fn lines(&mut self, id: ProposalId) -> Result<Vec<(Place, Vec<u8>)>, IndexError> {
        let places = match self.number(id)? {
            Some(n) => Place::all_of(&self.connection, n)?,
            None => Vec::new(),
        };
        let lines = self.read(places)?;
        let own = |(place, line): &(Place, Vec<u8>)| named(line) == Some(id) && place.is_of(line);
        if !lines.iter().all(own) {
            return Err(IndexError::Lies(id));
        }
        if !self.is_sure() && self.hidden(&Lines::of(id, &lines))?.is_some() {
            return Err(IndexError::Lies(id));
        }
        Ok(lines)
    }

    /// The lines of these kinds that belong to no proposal, the newest first.
    pub fn apart(&mut self, kinds: [&str; 2]) -> Result<Vec<(Place, Vec<u8>)>, IndexError> {
        let places = Place::all_apart(&self.connection, kinds)?;
        self.read(places)
    }

    fn read(&mut self, places: Vec<Place>) -> Result<Vec<(Place, Vec<u8>)>, IndexError> {
        let layout = self.log.layout.clone();
        let lines = places.into_iter().map(|place| {
            let bytes = self.kept.bytes(&layout, &place)?;
            Ok((place, bytes))
        });
        lines.collect()
    }

    /// How many proposals wait, and how many are granted or run.
    pub fn open_ones(&self) -> Result<(u64, u64), IndexError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT state, count(*) FROM proposals WHERE state IN ('pending', 'granted', 'running') GROUP BY state",
        )?;
        let mut rows = statement.query([])?;
        let (mut pending, mut running) = (0, 0);
        while let Some(row) = rows.next()? {
            let count = row.get::<_, i64>(1)?.cast_unsigned();
            match row.get_ref(0)?.as_str() {
                Ok("pending") => pending += count,
                _ => running += count,
            }
        }
        Ok((pending, running))
    }
}

pub(super) fn maybe<'r>(row: &'r Row<'_>, column: usize) -> Result<Option<&'r str>, IndexError> {
    let text = row.get_ref(column)?.as_str_or_null();
    text.map_err(|_| IndexError::Odd)
}

pub(super) fn text_of<'r>(row: &'r Row<'_>, column: usize) -> Result<&'r str, IndexError> {
    maybe(row, column)?.ok_or(IndexError::Odd)
}

/// The value that is written as this word.
pub(super) fn word<'w, T: Deserialize<'w>>(word: &'w str) -> Result<T, IndexError> {
    let word = serde::de::value::BorrowedStrDeserializer::<serde::de::value::Error>::new(word);
    T::deserialize(word).map_err(|_| IndexError::Odd)
}

pub(super) fn time(nanos: i64) -> Result<Timestamp, IndexError> {
    Timestamp::from_nanosecond(nanos.into()).map_err(|_| IndexError::Odd)
}

/// Each text once.
#[derive(Default)]
pub(super) struct Names(HashSet<Arc<str>>);

impl Names {
    pub fn one(&mut self, text: &str) -> Arc<str> {
        if let Some(name) = self.0.get(text) {
            return name.clone();
        }
        let name: Arc<str> = text.into();
        self.0.insert(name.clone());
        name
    }
}
