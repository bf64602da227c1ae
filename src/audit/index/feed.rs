//! Takes records into the index.

use std::collections::HashMap;
use std::rc::Rc;

use rusqlite::{Connection, OptionalExtension, params};

use super::super::cases::{Case, Cases, Course, Judged, Shown};
use super::super::judge::{Read, Reader};
use super::super::life::Lives;
use super::super::log::Log;
use super::super::query::Texts as _;
use super::super::scan::Line;
use super::lines::{Kept, Place};
use super::{IndexError, nanos, person};
use crate::model::{DrillEnd, ProposalId, Tier};

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
}

impl Feed {
    pub fn new(
        connection: Rc<Connection>,
        log: Log,
        kept: Kept,
        cases: Cases,
    ) -> Result<Self, IndexError> {
        let next =
            connection.query_one("SELECT coalesce(max(n), 0) + 1 FROM proposals", [], |row| {
                row.get(0)
            })?;
        Ok(Self {
            connection,
            log,
            kept,
            cases,
            open: HashMap::new(),
            next,
            failed: None,
        })
    }

    /// Writes down what still waits.
    pub fn end(mut self) -> Result<(Cases, Kept), IndexError> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        for (id, (n, again)) in std::mem::take(&mut self.open) {
            if let Some(case) = self.cases.take(id) {
                self.write(n, again, &case, None)?;
            }
        }
        Ok((self.cases, self.kept))
    }

    fn try_to(&mut self, what: impl FnOnce(&mut Self) -> Result<(), IndexError>) {
        if self.failed.is_none()
            && let Err(error) = what(self)
        {
            self.failed = Some(error);
        }
    }

    /// Reads the records of a proposal that was forgotten.
    fn recall(&mut self, id: ProposalId, lives: &mut Lives) -> Result<(), IndexError> {
        let known = self
            .connection
            .prepare_cached("SELECT n, by_uid, by_shown FROM proposals WHERE id = ?1")?
            .query_one([id.to_string()], |row| Ok((row.get(0)?, person(row, 1)?)))
            .optional()?;
        let Some((n, by)) = known else {
            return Ok(());
        };
        for place in Place::all_of(&self.connection, n)? {
            match self.kept.record(&self.log.layout, &place)? {
                Some(record) => {
                    // It was judged when it was read first.
                    let _ = lives.step(&record.event);
                    self.cases.learn(record.seq, record.ts, &record.event);
                }
                None => lives.unjudged(id),
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
            lives.forget(id);
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

    fn write(
        &self,
        n: i64,
        again: bool,
        case: &Case,
        lives: Option<&Lives>,
    ) -> Result<(), IndexError> {
        let lower = |text: &str| text.to_lowercase();
        let state = lives
            .and_then(|lives| lives.state(case.id))
            .unwrap_or(case.state);
        let (title, says) = (&case.asked.title, &case.asked.reason);
        let judged = case.judged();
        let counted = case.ran.as_ref().map(|ran| &ran.accesses);
        let accesses = match counted.filter(|counted| !counted.is_empty()) {
            Some(counted) => Some(serde_json::to_string(counted)?),
            None => None,
        };
        let span = |time: Option<std::time::Duration>| time.map(|t| t.as_nanos() as i64);
        self.connection
            .prepare_cached(
                "INSERT OR REPLACE INTO proposals (n, id, seq, at, uid, agent, agent_shown, profile, title, says, \
                 reason, verdict, state, course, drill, private, edited, by_uid, by_login, by_shown, took, look, \
                 asked_again, ran, ended_by, asked, accesses, tier, host, shown) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, \
                 ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30)",
            )?
            .execute(params![
                n,
                case.id.to_string(),
                case.seq.cast_signed(),
                nanos(case.at),
                case.agent.0,
                lower(&case.agent.1),
                &*case.agent.1,
                lower(&case.asked.profile),
                title.as_deref().map(lower),
                says.as_deref().map(lower),
                case.denial.as_deref().map(lower),
                judged.verdict.as_str(),
                state.as_str(),
                course(case.course),
                case.drill.map(|harm| harm.as_str()),
                case.asked.private,
                case.edited.is_some(),
                case.by.as_ref().map(|by| by.uid),
                case.by.as_ref().and_then(|by| by.login.as_deref()).map(lower),
                case.by.as_ref().and_then(|by| by.login.as_deref()),
                span(case.took()),
                span(case.looked()),
                case.viewed.is_some_and(|viewed| viewed.asked_again),
                span(case.ran.as_ref().map(|ran| ran.time)),
                case.ran.as_ref().and_then(|ran| ran.limit).map(|limit| limit.as_str()),
                nanos(case.asked.at),
                accesses,
                case.tier.map(Tier::as_str),
                case.host.as_deref().map(lower),
                case.shown().map(Shown::as_str),
            ])?;
        self.facts(n, again, case, judged)?;
        // Texts that were written before are all there is.
        match again && case.edited.is_none() && case.ran.is_none() {
            true => Ok(()),
            false => self.words(n, again, case),
        }
    }

    fn facts(&self, n: i64, again: bool, case: &Case, judged: &Judged) -> Result<(), IndexError> {
        if again {
            self.connection
                .prepare_cached("DELETE FROM facts WHERE n = ?1")?
                .execute([n])?;
        }
        let mut insert = self
            .connection
            .prepare_cached("INSERT OR IGNORE INTO facts (kind, value, n) VALUES (?1, ?2, ?3)")?;
        let ran = || case.ran.iter();
        let codes = [
            Some(case.asked.digest),
            case.edited.as_ref().map(|e| e.digest),
        ];
        let all = (judged
            .rules
            .iter()
            .map(|rule| ("rule", rule.to_lowercase())))
        .chain(
            judged
                .caps
                .iter()
                .map(|cap| ("cap", cap.as_str().to_lowercase())),
        )
        .chain(
            case.asked
                .data
                .iter()
                .map(|name| ("data", name.to_lowercase())),
        )
        .chain(
            ran()
                .flat_map(|ran| &ran.files)
                .map(|name| ("file", name.to_lowercase())),
        )
        .chain(
            ran()
                .flat_map(|ran| &ran.errors)
                .map(|name| ("error", name.to_lowercase())),
        )
        .chain(codes.into_iter().flatten().map(|code| ("code", code.hex())));
        for (kind, value) in all {
            insert.execute(params![kind, value, n])?;
        }
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
            self.try_to(|feed| feed.recall(id, lives));
        }
    }

    fn reads(&mut self, read: Read<'_>, lives: &mut Lives) {
        self.try_to(|feed| feed.take_in(&read, lives));
    }
}

/// A course as a word.
pub(super) fn course(course: Course) -> &'static str {
    match course {
        Course::Waits => "waits",
        Course::Granted => "granted",
        Course::Denied => "denied",
        Course::Expired => "expired",
        Course::Drilled(DrillEnd::Caught) => "caught",
        Course::Drilled(DrillEnd::Granted) => "drill granted",
        Course::Drilled(DrillEnd::Unanswered) => "unanswered",
        Course::Other => "other",
    }
}

/// The course that [`course`] gives as this word.
pub(super) fn course_named(word: &str) -> Option<Course> {
    Some(match word {
        "waits" => Course::Waits,
        "granted" => Course::Granted,
        "denied" => Course::Denied,
        "expired" => Course::Expired,
        "caught" => Course::Drilled(DrillEnd::Caught),
        "drill granted" => Course::Drilled(DrillEnd::Granted),
        "unanswered" => Course::Drilled(DrillEnd::Unanswered),
        "other" => Course::Other,
        _ => return None,
    })
}
