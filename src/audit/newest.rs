//! The newest proposals from the log's last lines alone, to have something to show while the whole log is read.

use std::os::unix::fs::FileExt as _;

use super::AuditError;
use super::cases::Cases;
use super::layout::open_regular;
use super::line::{Record, unseal};
use super::log::{Log, Logged};

/// How much of the log's end is read.
const WINDOW: u64 = 2 * 1024 * 1024;

impl Log {
    /// The newest proposals, at most `most`, that began within the last lines of the log: each line follows the one
    /// before it, and nothing else was checked.
    ///
    /// # Errors
    /// When the last segments cannot be read.
    pub fn newest(&self, most: usize) -> Result<Vec<Logged>, AuditError> {
        let log = self.layout.log();
        let lines = self
            .last_lines()
            .map_err(|e| AuditError::io(log, "read", e))?;
        let (mut cases, mut last) = (Cases::default(), None);
        for line in lines.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
            let Ok(sealed) = unseal(line) else { break };
            if last.is_some_and(|hash| hash != sealed.prev) {
                break;
            }
            last = Some(sealed.hash);
            // A header is no record.
            if let Ok(record) = Record::parse(line) {
                cases.learn(record.seq, record.ts, &record.event);
            }
        }
        Ok(cases.all.iter().rev().take(most).map(Logged::of).collect())
    }

    /// The last whole lines of the last two segments.
    fn last_lines(&self) -> std::io::Result<Vec<u8>> {
        let segments = self.layout.segments()?;
        let mut lines = Vec::new();
        for number in segments.iter().rev().take(2) {
            let left = WINDOW.saturating_sub(lines.len() as u64);
            let file = open_regular(&self.layout.segment(*number))?;
            let length = file.metadata()?.len();
            let from = length.saturating_sub(left);
            let mut bytes = vec![0; usize::try_from(length - from).unwrap_or(0)];
            file.read_exact_at(&mut bytes, from)?;
            if from > 0 {
                let whole = bytes.iter().position(|b| *b == b'\n').map(|at| at + 1);
                bytes.drain(..whole.unwrap_or(bytes.len()));
            }
            bytes.append(&mut lines);
            lines = bytes;
        }
        Ok(lines)
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::open::open_with;
    use super::super::query::Query;
    use super::super::samples::{denied, proposed};
    use super::super::written::write;
    use super::*;
    use crate::model::ProposalId;

    #[test]
    fn the_newest_rows_are_those_of_the_whole_log_as_far_as_the_chain_goes() {
        let state = tempfile::tempdir().unwrap();
        for title in ["one", "two", "three", "four"] {
            let id = ProposalId::new();
            let events = vec![proposed(id, title), (denied(id), Vec::new())];
            write(open_with(state.path(), 2_500).unwrap(), events);
        }
        let log = Log::open(state.path()).unwrap();
        let everything = Query::parse("", Timestamp::now()).unwrap();
        let all = log.answers_without_index().unwrap().page(&everything, 0, 9);
        let newest = log.newest(2).unwrap();
        assert_eq!(newest, all.unwrap()[..2]);
        // What does not follow the line before it is not shown.
        let last = log.layout.segments().unwrap().pop().unwrap();
        let path = log.layout.segment(last);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replacen("four", "FOUR", 1)).unwrap();
        let titles: Vec<_> = log
            .newest(9)
            .unwrap()
            .into_iter()
            .filter_map(|one| one.title)
            .collect();
        assert!(!titles.iter().any(|title| title == "FOUR"), "{titles:?}");
    }
}
