//! What an export reads: proposals with all of their records, the oldest first, and the lines of a whole log.

use super::super::answers::Told;
use super::super::contents::{Contents, Look};
use super::super::error::Damage;
use super::super::query::Query;
use super::lines::Place;
use super::{Index, IndexError};

/// Some of the proposals that a question selects, the oldest first.
#[derive(Default)]
pub(in crate::audit) struct FoundTold {
    pub told: Vec<Told>,
    /// The number of the last one that was looked at; `None` if there are no more.
    pub newest: Option<i64>,
    /// What is wrong with their contents.
    pub faults: Vec<Damage>,
}

impl Index {
    /// The proposals that a question selects, at most `most`, newer than the number `after`.
    pub fn told(
        &mut self,
        query: &Query,
        after: i64,
        most: usize,
    ) -> Result<FoundTold, IndexError> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let rows = self.picked(query, "n > ? ORDER BY n LIMIT ?", [after, most])?;
        let mut found = FoundTold {
            newest: rows.last().copied(),
            ..FoundTold::default()
        };
        let mut contents = Contents::of(&self.log.layout, Look::There);
        for n in rows {
            let mut records = Vec::new();
            let case = self.case(n, &mut |line, record| {
                found.faults.extend(contents.named(line, &record.event));
                records.push(record);
            })?;
            let told = case.map(|case| Told { case, records });
            // The index picks, and the log has the last word.
            let told = told.filter(|told| query.matches(&told.case, &self.log));
            found.told.extend(told);
        }
        found.faults.extend(contents.missing());
        Ok(found)
    }

    /// The ids of drills that wait.
    pub fn waiting_drills(&self) -> Result<Vec<String>, IndexError> {
        let mut select = self.connection.prepare_cached(
            "SELECT id FROM proposals WHERE state = 'pending' AND drill IS NOT NULL",
        )?;
        let rows = select.query_map([], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    pub fn lines_in_all(&self) -> Result<u64, IndexError> {
        let count = "SELECT count(*) FROM records";
        let count: i64 = self.connection.query_one(count, [], |row| row.get(0))?;
        Ok(count.cast_unsigned())
    }

    /// The lines of all records after this one, the oldest first, at most `most`.
    pub fn lines_after(
        &mut self,
        seq: u64,
        most: usize,
    ) -> Result<Vec<(u64, Vec<u8>)>, IndexError> {
        let places = Place::all_after(&self.connection, seq.cast_signed(), most)?;
        let layout = self.log.layout.clone();
        let lines = places.into_iter().map(|place| {
            let bytes = self.kept.bytes(&layout, &place)?;
            Ok((place.seq.cast_unsigned(), bytes))
        });
        lines.collect()
    }
}
