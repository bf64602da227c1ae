//! Takes records into the index.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::super::cases::{Case, Cases};
use super::super::judge::{Read, Reader};
use super::super::life::Lives;
use super::super::log::Log;
use super::super::query::Texts as _;
use super::super::scan::Line;
use super::compare::Differences;
use super::lines::{Kept, Place};
use super::{IndexError, person, row};
use crate::model::ProposalId;

/// A word that no question has: words of two outputs never stand one after the other.
const BETWEEN: &str = " \u{1}\u{80} ";

/// Reads on from where the index ends. Proposals that ended are forgotten and, if another record names them, read again.
pub(super) struct Feed {
    connection: Rc<Connection>,
    log: Log,
    kept: Kept,
    pub cases: Cases,
    /// The proposals in `cases`: their numbers, and whether they were written before.
    open: HashMap<ProposalId, (i64, bool)>,
    next: i64,
    /// The first error; nothing is taken in after it.
    failed: Option<IndexError>,
    to: To,
    differences: Differences,
}

/// What becomes of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum To {
    Write,
    /// They are compared with those that are there.
    Compare,
}

/// With a place for `n` and one for each column.
const INSERT: &str = "INSERT OR REPLACE INTO proposals (n, id, seq, at, uid, agent, agent_shown, profile, title, says, \
     reason, verdict, state, course, drill, private, edited, took, look, asked_again, ran, ended_by, asked, accesses, \
     tier, host, shown, by_uid, by_login, by_shown) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, \
     ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30)";

impl Feed {
    pub fn new(
        connection: Rc<Connection>,
        log: Log,
        kept: Kept,
        cases: Cases,
        to: To,
    ) -> Result<Self, IndexError> {
        let next = match to {
            To::Write => {
                let select = "SELECT coalesce(max(n), 0) + 1 FROM proposals";
                connection.query_one(select, [], |row| row.get(0))?
            }
            To::Compare => 1,
        };
        Ok(Self {
            connection,
            log,
            kept,
            cases,
            open: HashMap::new(),
            next,
            failed: None,
            to,
            differences: Differences::default(),
        })
    }

    /// Writes down what still waits.
    pub fn end(mut self) -> Result<(Cases, Kept), IndexError> {
        self.write_open()?;
        Ok((self.cases, self.kept))
    }

    fn write_open(&mut self) -> Result<(), IndexError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        for (id, (n, again)) in std::mem::take(&mut self.open) {
            if let Some(case) = self.cases.take(id) {
                self.write(n, again, &case, None)?;
            }
        }
        Ok(())
    }

    /// What differs, after everything was compared.
    pub fn compared(mut self) -> Result<Option<String>, IndexError> {
        self.write_open()?;
        let found = self.differences;
        if let Some(first) = found.first.or(found.rows.into_values().next()) {
            return Ok(Some(first));
        }
        let facts: u64 = found.facts.values().sum();
        let proposals = (self.next - 1).cast_unsigned();
        for (table, expected) in [
            ("records", found.records),
            ("proposals", proposals),
            ("facts", facts),
            ("words_docsize", proposals),
        ] {
            let select = format!("SELECT count(*) FROM {table}");
            let count: i64 = self.connection.query_one(&select, [], |row| row.get(0))?;
            if count.cast_unsigned() != expected {
                return Ok(Some(format!("{table}: {count} rows instead of {expected}")));
            }
        }
        Ok(None)
    }

    /// A record of this proposal follows: what ended is taken up again, from records that were compared.
    pub fn meets_again(&mut self, id: ProposalId, through: u64, lives: &Lives) {
        if lives.knows(id) && !self.open.contains_key(&id) {
            self.try_to(|feed| feed.recall(id, through, None));
        }
    }

    pub fn compares(&mut self, read: &Read<'_>, lives: &mut Lives) {
        self.try_to(|feed| feed.take_in(read, lives));
    }

    fn try_to(&mut self, what: impl FnOnce(&mut Self) -> Result<(), IndexError>) {
        if self.failed.is_none()
            && let Err(error) = what(self)
        {
            self.failed = Some(error);
        }
    }

    /// Reads the records of a proposal that was forgotten, up to this one; they are judged if `lives` are given.
    fn recall(
        &mut self,
        id: ProposalId,
        through: u64,
        mut lives: Option<&mut Lives>,
    ) -> Result<(), IndexError> {
        let known = self
            .connection
            .prepare_cached("SELECT n, by_uid, by_shown FROM proposals WHERE id = ?1")?
            .query_one([id.to_string()], |row| Ok((row.get(0)?, person(row, 1)?)))
            .optional()?;
        let Some((n, by)) = known else {
            return Ok(());
        };
        let places = Place::all_of(&self.connection, n)?;
        let mut places = places.into_iter();
        let before = |place: &Place| place.seq.cast_unsigned() <= through;
        while let Some(place) = places.next().filter(before) {
            match (self.kept.record(&self.log.layout, &place)?, &mut lives) {
                (Some(record), lives) => {
                    // It was judged when it was read first.
                    if let Some(lives) = lives {
                        let _ = lives.step(&record.event);
                    }
                    self.cases.learn(record.seq, record.ts, &record.event);
                }
                (None, Some(lives)) => lives.unjudged(id),
                (None, None) => {}
            }
        }
        // Who had the dashboard open then.
        self.cases.set_by(id, by);
        self.open.insert(id, (n, true));
        Ok(())
    }

    fn take_in(&mut self, read: &Read<'_>, lives: &mut Lives) -> Result<(), IndexError> {
        let (line, id, kind) = match read {
            Read::Record(line, record) => {
                self.cases.learn(record.seq, record.ts, &record.event);
                (*line, record.event.id(), record.event.kind())
            }
            Read::Later(line, id) => (*line, *id, "later"),
        };
        let n = match id {
            Some(id) => self.number(id),
            None => None,
        };
        self.record(line, n, kind)?;
        let Some((id, n)) = id.zip(n) else {
            return Ok(());
        };
        // One that a later version wrote of stays as it is.
        let ended = lives.state(id).is_some_and(|state| state.is_final());
        if ended && let Some(case) = self.cases.take(id) {
            let again = self.open.remove(&id).is_some_and(|(_, again)| again);
            self.write(n, again, &case, Some(lives))?;
            if self.to == To::Write {
                lives.forget(id);
            }
        }
        Ok(())
    }

    /// The number of a proposal; a new one if `cases` has just learnt of it.
    fn number(&mut self, id: ProposalId) -> Option<i64> {
        if let Some((n, _)) = self.open.get(&id) {
            return Some(*n);
        }
        self.cases.get(id)?;
        let n = self.next;
        self.next += 1;
        self.open.insert(id, (n, false));
        Some(n)
    }

    fn record(&mut self, line: &Line<'_>, n: Option<i64>, kind: &str) -> Result<(), IndexError> {
        let place = self.kept.place_of(line)?;
        if self.to == To::Compare {
            return self.compare_record(&place, n, kind);
        }
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO records (seq, n, kind, segment, line, offset, length, hash) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?;
        insert.execute(params![
            line.seq.cast_signed(),
            n,
            n.is_none().then_some(kind),
            place.segment,
            place.line,
            place.offset,
            place.length,
            place.hash,
        ])?;
        Ok(())
    }

    /// Compares the row of a record with the one that is there.
    fn compare_record(
        &mut self,
        place: &Place,
        n: Option<i64>,
        kind: &str,
    ) -> Result<(), IndexError> {
        let there = Place::owned(&self.connection, place.seq)?;
        let kind = n.is_none().then(|| kind.to_owned());
        self.differences.records += 1;
        if there.is_none_or(|there| there != (place.clone(), n, kind)) {
            let seq = place.seq;
            self.differences
                .note(|| format!("the record seq {seq} is hidden or changed in it"));
        }
        Ok(())
    }

    fn write(
        &mut self,
        n: i64,
        again: bool,
        case: &Case,
        lives: Option<&Lives>,
    ) -> Result<(), IndexError> {
        let state = lives.and_then(|lives| lives.state(case.id));
        let columns = row::columns(case, state.unwrap_or(case.state))?;
        if self.to == To::Compare {
            return self.compare(n, again, case, &columns);
        }
        let mut insert = self.connection.prepare_cached(INSERT)?;
        insert.execute(params_from_iter(
            [Value::from(n)].into_iter().chain(columns),
        ))?;
        self.facts(n, again, case)?;
        // Texts that were written before are all there is.
        match again && case.edited.is_none() && case.ran.is_none() {
            true => Ok(()),
            false => self.words(n, again, case),
        }
    }

    fn facts(&self, n: i64, again: bool, case: &Case) -> Result<(), IndexError> {
        if again {
            self.connection
                .prepare_cached("DELETE FROM facts WHERE n = ?1")?
                .execute([n])?;
        }
        let mut insert = self
            .connection
            .prepare_cached("INSERT INTO facts (kind, value, n) VALUES (?1, ?2, ?3)")?;
        for (kind, value) in row::facts(case) {
            insert.execute(params![kind, value, n])?;
        }
        Ok(())
    }

    /// Compares the row and the facts of a proposal with those that are there.
    fn compare(
        &mut self,
        n: i64,
        again: bool,
        case: &Case,
        columns: &[Value],
    ) -> Result<(), IndexError> {
        let there = row::kept(&self.connection, n)?;
        let there = there.as_deref().unwrap_or_default();
        let mut facts = BTreeSet::new();
        let mut select = self
            .connection
            .prepare_cached("SELECT kind, value FROM facts WHERE n = ?1")?;
        let mut rows = select.query([n])?;
        while let Some(row) = rows.next()? {
            facts.insert((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
        }
        let expected = row::facts(case);
        let same = facts.len() == expected.len()
            && expected
                .iter()
                .all(|(kind, value)| facts.contains(&((*kind).to_owned(), value.clone())));
        let found = &mut self.differences;
        let what = || {
            format!(
                "proposal {} (seq {}) is hidden or changed in it",
                case.id, case.seq
            )
        };
        // Who had the dashboard open, the records of the proposal do not say again.
        if !again && there.get(row::OWN..) != columns.get(row::OWN..) {
            found.note(what);
        }
        match same && there == columns {
            true => drop(found.rows.remove(&n)),
            false => drop(found.rows.insert(n, what())),
        }
        // It may be written again.
        found.facts.insert(n, expected.len() as u64);
        Ok(())
    }

    fn words(&self, n: i64, again: bool, case: &Case) -> Result<(), IndexError> {
        if again {
            self.connection
                .prepare_cached("DELETE FROM words WHERE rowid = ?1")?
                .execute([n])?;
        }
        let text = |digest| self.log.blob(&digest).ok();
        let text = |digest| text(digest).map(|b| String::from_utf8_lossy(&b).to_lowercase());
        let output: Vec<String> = self
            .log
            .output(case)
            .iter()
            .map(|t| t.to_lowercase())
            .collect();
        self.connection
            .prepare_cached(
                "INSERT INTO words (rowid, title, says, code, edited, output) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![
                n,
                case.asked.title.as_deref().map(str::to_lowercase),
                case.asked.reason.as_deref().map(str::to_lowercase),
                text(case.asked.digest),
                case.edited.as_ref().and_then(|edit| text(edit.digest)),
                (!output.is_empty()).then(|| output.join(BETWEEN)),
            ])?;
        Ok(())
    }
}

impl Reader for Feed {
    fn meets(&mut self, id: ProposalId, lives: &mut Lives) {
        if !lives.knows(id) {
            self.try_to(|feed| feed.recall(id, u64::MAX, Some(lives)));
        }
    }

    fn reads(&mut self, read: Read<'_>, lives: &mut Lives) {
        self.try_to(|feed| feed.take_in(&read, lives));
    }
}
