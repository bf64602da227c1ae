//! Counts for facets: one pass over the proposals that a question selects, one over what is known of them.

use std::collections::HashSet;

use rusqlite::params_from_iter;

use super::super::cases::Person;
use super::super::facets::{By, Counted, Counter};
use super::super::query::Query;
use super::find::{Names, maybe, text_of, time, word};
use super::select::Sql;
use super::{Index, IndexError, row as columns};

/// The kinds of facts that facets count.
const KINDS: [(&str, By); 3] = [
    ("rule", By::Rule),
    ("cap", By::Capability),
    ("data", By::Data),
];
/// Facts of the whole index, by value.
const WHOLE: &str = "SELECT value, count(*) FROM facts WHERE kind = ?1 GROUP BY value";
/// The same with the number of each proposal.
const EACH: &str = "SELECT value, n FROM facts WHERE kind = ?1 ORDER BY value";
/// Facts of one proposal.
const OF_ONE: &str = "SELECT kind, value FROM facts WHERE n = ?1";
/// If the question selects less than one in so many, each is looked up.
const FEW: u64 = 16;

impl Index {
    /// Counts what a question selects.
    pub fn divide(&self, query: &Query, counter: &mut Counter) -> Result<(), IndexError> {
        let selected = self.count_each(query, counter)?;
        let all: i64 = self
            .connection
            .query_one("SELECT count(*) FROM proposals", [], |row| row.get(0))?;
        let (all, some) = (all.cast_unsigned(), selected.len() as u64);
        match some {
            some if some == all => self.divide_whole(counter),
            some if some < all / FEW => self.divide_few(&selected, counter),
            _ => self.divide_some(&selected.into_iter().collect(), counter),
        }
    }

    /// Reads of each proposal only what is counted; returns their numbers.
    fn count_each(&self, query: &Query, counter: &mut Counter) -> Result<Vec<i64>, IndexError> {
        let sql = Sql::of(query.root());
        let text = format!(
            "SELECT n, state, course, agent_shown, profile, by_uid, by_shown, at FROM proposals WHERE {}",
            sql.text
        );
        let mut selected = Vec::new();
        let mut names = Names::default();
        let mut statement = self.connection.prepare_cached(&text)?;
        let mut rows = statement.query(params_from_iter(sql.values))?;
        while let Some(row) = rows.next()? {
            let by = match row.get::<_, Option<u32>>(5)? {
                Some(uid) => Some(Person {
                    uid,
                    login: maybe(row, 6)?.map(|login| names.one(login)),
                }),
                None => None,
            };
            counter.count(&Counted {
                state: word(text_of(row, 1)?)?,
                course: columns::course_named(text_of(row, 2)?).ok_or(IndexError::Odd)?,
                agent: &names.one(text_of(row, 3)?),
                profile: &names.one(text_of(row, 4)?),
                by: by.as_ref(),
                at: time(row.get(7)?)?,
            });
            selected.push(row.get(0)?);
        }
        Ok(selected)
    }

    fn divide_whole(&self, counter: &mut Counter) -> Result<(), IndexError> {
        let mut statement = self.connection.prepare_cached(WHOLE)?;
        for (kind, by) in KINDS {
            let mut rows = statement.query([kind])?;
            while let Some(row) = rows.next()? {
                let value = row.get_ref(0)?.as_str().map_err(|_| IndexError::Odd)?;
                counter.fact(by, value, row.get::<_, i64>(1)?.cast_unsigned());
            }
        }
        Ok(())
    }

    fn divide_some(
        &self,
        selected: &HashSet<i64>,
        counter: &mut Counter,
    ) -> Result<(), IndexError> {
        let mut statement = self.connection.prepare_cached(EACH)?;
        for (kind, by) in KINDS {
            let mut rows = statement.query([kind])?;
            while let Some(row) = rows.next()? {
                if selected.contains(&row.get(1)?) {
                    let value = row.get_ref(0)?.as_str().map_err(|_| IndexError::Odd)?;
                    counter.fact(by, value, 1);
                }
            }
        }
        Ok(())
    }

    fn divide_few(&self, selected: &[i64], counter: &mut Counter) -> Result<(), IndexError> {
        let mut statement = self.connection.prepare_cached(OF_ONE)?;
        for n in selected {
            let mut rows = statement.query([n])?;
            while let Some(row) = rows.next()? {
                let text = |column| row.get_ref(column)?.as_str().map_err(|_| IndexError::Odd);
                let kind = text(0)?;
                if let Some((_, by)) = KINDS.iter().find(|(name, _)| *name == kind) {
                    counter.fact(*by, text(1)?, 1);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::index::schema;

    /// No pass sorts, and each goes along an index that has all that it reads.
    #[test]
    fn facts_are_counted_along_their_indexes() {
        let folder = tempfile::tempdir().unwrap();
        let connection = schema::create(&folder.path().join("x")).unwrap();
        for (sql, expected) in [
            (WHOLE, "SEARCH facts USING PRIMARY KEY (kind=?)"),
            (EACH, "SEARCH facts USING PRIMARY KEY (kind=?)"),
            (OF_ONE, "SEARCH facts USING COVERING INDEX facts_of (n=?)"),
        ] {
            let mut plan = connection
                .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
                .unwrap();
            let steps = plan
                .query_map(["1"], |row| row.get::<_, String>(3))
                .unwrap();
            let steps: Vec<String> = steps.map(Result::unwrap).collect();
            assert_eq!(steps, [expected], "{sql}");
        }
    }
}
