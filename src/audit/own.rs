//! Records of the dashboard itself, and those that say what was removed: searched for in the log, since an index can hide
//! rows, and there are few of them.

use std::fs::File;
use std::io::{self, Read as _};

use regex::bytes::Regex;

use super::error::AuditError;
use super::layout::open_regular;
use super::line::{LINE_MAX, Record, unseal};
use super::log::Log;
use super::query::Own;
use crate::model::{AgentId, LogEvent, Peer, Reviewer, grouped};

/// Read at once.
const CHUNK: usize = 4 * 1024 * 1024;

impl Log {
    /// The records that are asked for, the newest first. Each line has the hash that it says; the chain is not read.
    ///
    /// # Errors
    /// When a segment cannot be read.
    pub fn own(&self, asked: &Own) -> Result<Vec<Record>, AuditError> {
        let log = self.layout.log();
        let failed = |e: io::Error| AuditError::io(&log, "read", e);
        let kinds = asked.kinds();
        let Ok(wanted) = Regex::new(&format!("\"kind\":\"(?:{})\"", kinds.join("|"))) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for number in self.layout.segments().map_err(failed)? {
            let file = match open_regular(&self.layout.segment(number)) {
                // Retention went on meanwhile.
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                file => file.map_err(failed)?,
            };
            search(file, &wanted, &mut |line| {
                let record = unseal(line).ok().and_then(|_| Record::parse(line).ok());
                found.extend(record.filter(|record| {
                    kinds.contains(&record.event.kind()) && asked.takes_time(record.ts)
                }));
            })
            .map_err(failed)?;
        }
        found.sort_by_key(|record| std::cmp::Reverse(record.seq));
        found.dedup_by_key(|record| record.seq);
        Ok(found)
    }
}

/// Visits each line that has what is wanted.
fn search(mut file: File, wanted: &Regex, visit: &mut dyn FnMut(&[u8])) -> io::Result<()> {
    let mut bytes = Vec::new();
    loop {
        let had = bytes.len();
        let read = file.by_ref().take(CHUNK as u64).read_to_end(&mut bytes)?;
        let end = match read {
            // The last line may lack its line feed.
            0 => bytes.len(),
            _ => bytes
                .iter()
                .rposition(|b| *b == b'\n')
                .map_or(0, |at| at + 1),
        };
        let mut after = 0;
        for hit in wanted.find_iter(&bytes[..end]) {
            if hit.start() < after {
                continue;
            }
            let from = bytes[..hit.start()].iter().rposition(|b| *b == b'\n');
            let from = from.map_or(0, |at| at + 1);
            let to = bytes[hit.end()..end].iter().position(|b| *b == b'\n');
            let to = to.map_or(end, |at| hit.end() + at);
            visit(&bytes[from..to]);
            after = to;
        }
        if read == 0 {
            return Ok(());
        }
        bytes.drain(..end);
        // No line is so long: what goes on like that is none.
        if had > LINE_MAX && end == 0 {
            bytes.clear();
        }
    }
}

/// Who did it, if a person did.
pub fn own_by(event: &LogEvent) -> Option<&Reviewer> {
    match event {
        LogEvent::Opened { by, .. }
        | LogEvent::Paused { by, .. }
        | LogEvent::Resumed { by, .. }
        | LogEvent::Pruned { by, .. }
        | LogEvent::Erased { by, .. } => Some(by),
        LogEvent::Recovered { by, .. } => by.as_ref(),
        _ => None,
    }
}

/// What such a record says, in words. `given` writes a text that is not the program's, in quotes; `at` a time.
pub fn own_said(
    record: &Record,
    given: &dyn Fn(&str) -> String,
    at: &dyn Fn(jiff::Timestamp) -> String,
) -> String {
    let named = |agent: &AgentId| format!("{} ({})", given(&agent.name), agent.process(", "));
    let peer = |peer: &Peer| peer.process(", ");
    let some = |n: u64, what: &str| {
        let s = if n == 1 { "" } else { "s" };
        format!("{} {what}{s}", grouped(n))
    };
    match &record.event {
        LogEvent::Opened {
            version,
            tier,
            drills,
            ..
        } => {
            let drills = drills.map_or(String::new(), |plan| {
                format!(", drills about every {}", some(plan.every, "decision"))
            });
            format!(
                "a dashboard of version {} in tier {tier}{drills}",
                given(version)
            )
        }
        LogEvent::Closed => "the dashboard closed the log".to_owned(),
        LogEvent::Paused { agent, .. } => format!("the agent {}", named(agent)),
        LogEvent::Resumed { agent, .. } => format!("the agent {} again", named(agent)),
        LogEvent::Refused {
            peer: of,
            message,
            count,
            ..
        } => {
            format!(
                "{} of {}: {}",
                some(*count, "request"),
                peer(of),
                given(message)
            )
        }
        LogEvent::EnvironmentChanged { what, .. } => {
            format!("files of the Python environment: {}", given(what))
        }
        LogEvent::Unanchored { reason } => format!("checkpoints lack something: {}", given(reason)),
        LogEvent::Doubted { host, reason } => {
            format!("the log of the host {}: {}", given(host), given(reason))
        }
        LogEvent::Recovered {
            segment,
            offset,
            bytes,
            quarantined,
            lost,
            ..
        } => {
            let lost = match lost {
                Some(lost) => format!("lost: {}", given(lost)),
                None => "nothing that was acknowledged is lost".to_owned(),
            };
            format!(
                "{} of {} from byte {offset} on lie in quarantine as {}; {lost}",
                some(*bytes, "byte"),
                given(segment),
                given(quarantined)
            )
        }
        LogEvent::Pruned {
            through_seq,
            retention_days,
            gap,
            ..
        } => match gap {
            Some(gap) => format!(
                "records {}-{} ({} to {}) and {}, {}",
                grouped(gap.first_seq),
                grouped(*through_seq),
                at(gap.oldest),
                at(gap.newest),
                some(gap.contents, "content"),
                match gap.retention_bytes {
                    Some(bytes) => format!("retention of {}", some(bytes, "byte")),
                    None => format!("retention of {}", some(*retention_days, "day")),
                }
            ),
            None => format!(
                "records up to {}, retention of {}",
                grouped(*through_seq),
                some(*retention_days, "day")
            ),
        },
        LogEvent::Erased {
            id,
            contents,
            reason,
            ..
        } => {
            format!(
                "{} of {id}: {}",
                some(contents.len() as u64, "content"),
                given(reason)
            )
        }
        other => other.kind().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::open::open_with;
    use super::super::query::Query;
    use super::super::samples;
    use super::super::written::write;
    use super::*;
    use crate::model::ProposalId;

    fn asked(query: &str) -> Own {
        Query::parse(query, Timestamp::now())
            .unwrap()
            .own()
            .unwrap()
    }

    #[test]
    fn records_of_the_dashboard_are_found_in_every_segment_and_no_text_passes_for_one() {
        let state = tempfile::tempdir().unwrap();
        let few = [
            "paused",
            "resumed",
            "refused",
            "unanchored",
            "environment_changed",
        ];
        for last in [false, false, true] {
            let id = ProposalId::new();
            let all = samples::every_kind(id).into_iter();
            // Nobody opens the log after what cannot have happened to it.
            let some = all.filter(|event| event.id().is_none());
            let some = some.filter(|event| last || few.contains(&event.kind()));
            let mut events = vec![samples::proposed(id, "\"kind\":\"pruned\"")];
            events.extend(some.map(|event| (event, Vec::new())));
            write(open_with(state.path(), 2_500).unwrap(), events);
        }
        let log = Log::open(state.path()).unwrap();
        assert!(log.layout.segments().unwrap().len() > 1);
        let kinds = |query: &str| -> Vec<&str> {
            let found = log.own(&asked(query)).unwrap();
            assert!(
                found.is_sorted_by(|a, b| a.seq > b.seq),
                "the newest is first"
            );
            found.iter().map(|record| record.event.kind()).collect()
        };
        let all = kinds("kind:own");
        for (kind, least) in [
            ("opened", 1),
            ("pruned", 1),
            ("recovered", 1),
            ("paused", 3),
        ] {
            let some = kinds(&format!("kind:{kind}"));
            assert!(
                some.len() >= least && some.iter().all(|is| *is == kind),
                "{kind}: {some:?}"
            );
            assert_eq!(all.iter().filter(|is| **is == kind).count(), some.len());
        }
        assert_eq!(kinds("kind:opened since:2999-01-01"), [""; 0]);
        assert_eq!(
            kinds("kind:removed").len(),
            kinds("kind:pruned,recovered").len()
        );
        // Whole sentences, and no text of others without quotes.
        let given = |text: &str| format!("<{text}>");
        for record in log.own(&asked("kind:own")).unwrap() {
            let said = own_said(&record, &given, &|_| "T".to_owned());
            assert!(!said.is_empty(), "{said}");
        }
    }
}
