//! The grant before: of the same agent under the same title, the newest one before a proposal was decided.

use jiff::Timestamp;

use super::answers::Answers;
use super::error::AuditError;
use super::log::History;
use super::query::{Query, terms};
use crate::model::{Digest, LogEvent, ProposalId, agent_name};

/// Proposals that are looked at before it is given up: a title is a part of others', and a name is used under other uids.
const MOST: usize = 50;
/// Nearly always it is among the first.
const FIRST: usize = 3;

/// An earlier grant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    pub id: ProposalId,
    /// When it was granted.
    pub at: Timestamp,
    /// The blob of its code, as it was granted.
    pub code: Digest,
}

/// Who asks for what: the uid, the agent's name, which is a claim, and the title.
fn asked(history: &History) -> Option<(u32, String, String)> {
    let proposed = history.records.iter().find_map(|r| match &r.event {
        LogEvent::Proposed(p) => Some(p),
        _ => None,
    })?;
    let title = proposed.title.clone().filter(|title| !title.is_empty())?;
    let name = agent_name(proposed.agent.as_ref(), &proposed.peer);
    Some((proposed.peer.uid, name.to_owned(), title))
}

/// What was granted, and when.
fn granted(history: &History) -> Option<(Timestamp, Digest)> {
    let mut code = None;
    for record in &history.records {
        match &record.event {
            LogEvent::Proposed(p) => code = Some(p.code()),
            LogEvent::Edited(e) => code = Some(e.code()),
            LogEvent::Granted(_) => return code.map(|code| (record.ts, code)),
            _ => {}
        }
    }
    None
}

impl Answers {
    /// The last grant before this proposal was decided, of the same agent under the same title; none for one without a
    /// title. A proposal that waits is compared with the last grant of all.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn earlier_grant(&mut self, history: &History) -> Result<Option<Earlier>, AuditError> {
        let wanted = asked(history);
        let Some((_, name, title)) = &wanted else {
            return Ok(None);
        };
        let decided = history
            .records
            .iter()
            .find(|record| matches!(record.event, LogEvent::Granted(_) | LogEvent::Denied { .. }));
        let until = decided.or(history.records.last()).map(|record| record.ts);
        let own = history.records.first().and_then(|record| record.event.id());
        let question = format!(
            "{} {} state:granted until:{}",
            terms::term("agent", name),
            terms::term("title", title),
            until.unwrap_or(Timestamp::MAX)
        );
        // A title that no question can have finds nothing.
        let Ok(query) = Query::parse(&question, Timestamp::now()) else {
            return Ok(None);
        };
        for (skip, most) in [(0, FIRST), (FIRST, MOST - FIRST)] {
            let some = self.page(&query, skip, most)?;
            for id in some.iter().map(|logged| logged.id) {
                if Some(id) == own {
                    continue;
                }
                let earlier = self.records(id)?;
                if asked(&earlier) == wanted
                    && let Some((at, code)) = granted(&earlier)
                {
                    return Ok(Some(Earlier { id, at, code }));
                }
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{denied, edited, granted_as, proposed};
    use super::super::written::write;
    use super::super::{Log, open};
    use super::*;
    use crate::model::Blob;

    /// Proposes code under a title, and grants it if `grants`.
    fn add(state: &std::path::Path, title: &str, code: &str, uid: u32, grants: bool) -> ProposalId {
        let id = ProposalId::new();
        let (mut event, mut blobs) = proposed(id, title);
        if let LogEvent::Proposed(p) = &mut event {
            let blob = Blob::of(code.as_bytes());
            (p.digest, p.peer.uid) = (blob.sha256, uid);
            blobs.push(blob);
        }
        let end = match grants {
            true => granted_as(id, code.as_bytes()),
            false => denied(id),
        };
        write(
            open(state).unwrap(),
            vec![(event, blobs), (end, Vec::new())],
        );
        id
    }

    #[test]
    fn the_last_grant_of_the_same_agent_and_title_before_the_decision_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path();
        let first = add(state, "sum", "print(1)\n", 1000, true);
        let others = [
            add(state, "sum of others", "print(2)\n", 1000, true),
            add(state, "sum", "print(3)\n", 4242, true),
            add(state, "sum", "print(4)\n", 1000, false),
        ];
        let second = add(state, "sum", "print(5)\n", 1000, true);
        let third = add(state, "sum", "print(6)\n", 1000, false);
        let mut answers = Log::open(state).unwrap().answers().unwrap();
        let mut before = |id| {
            let history = answers.records(id).unwrap();
            let earlier = answers.earlier_grant(&history).unwrap();
            earlier.map(|earlier| (earlier.id, earlier.code))
        };
        let code = |text: &str| Digest::of(text.as_bytes());
        assert_eq!(before(first), None);
        assert_eq!(before(others[0]), None);
        assert_eq!(before(others[1]), None);
        assert_eq!(before(others[2]), Some((first, code("print(1)\n"))));
        assert_eq!(before(second), Some((first, code("print(1)\n"))));
        assert_eq!(before(third), Some((second, code("print(5)\n"))));
    }

    #[test]
    fn what_a_person_edited_is_what_was_granted() {
        let dir = tempfile::tempdir().unwrap();
        let id = ProposalId::new();
        let (mut event, mut blobs) = proposed(id, "sum");
        let blob = Blob::of(b"print(1)\n");
        if let LogEvent::Proposed(p) = &mut event {
            p.digest = blob.sha256;
            p.peer.uid = 1000;
            blobs.push(blob);
        }
        let events = vec![
            (event, blobs),
            edited(id, b"print(1)\n", b"print(2)\n"),
            (granted_as(id, b"print(2)\n"), Vec::new()),
        ];
        write(open(dir.path()).unwrap(), events);
        let second = add(dir.path(), "sum", "print(3)\n", 1000, false);
        let mut answers = Log::open(dir.path()).unwrap().answers().unwrap();
        let history = answers.records(second).unwrap();
        let earlier = answers.earlier_grant(&history).unwrap().unwrap();
        assert_eq!((earlier.id, earlier.code), (id, Digest::of(b"print(2)\n")));
    }
}
