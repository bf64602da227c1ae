use std::path::Path;

use super::super::open::open_with;
use super::super::samples::{denied, granted, proposed, started};
use super::super::writer::WriterHandle;
use super::*;
use crate::model::Ticket;

struct Writing {
    handle: WriterHandle,
    reports: std::sync::mpsc::Receiver<crate::audit::WriterEvent>,
}

impl Writing {
    fn start(state: &Path, segment_bytes: u64) -> Self {
        let (report, reports) = std::sync::mpsc::channel();
        let opened = open_with(state, segment_bytes).unwrap();
        let handle = opened.writer.start(Box::new(move |said| {
            let _ = report.send(said);
        }));
        Self { handle, reports }
    }

    fn write(&self, event: LogEvent, blobs: Vec<crate::model::Blob>) {
        self.handle.submit(Ticket::Core(1), event, blobs);
        self.reports.recv().unwrap();
    }

    fn propose(&self, flagged: bool, expires: i64) -> ProposalId {
        let id = ProposalId::new();
        let (mut event, blobs) = proposed(id, "t");
        if let LogEvent::Proposed(p) = &mut event {
            p.expires_at = Timestamp::from_second(expires).unwrap();
            if flagged {
                p.verdict.verdict = VerdictKind::Flagged;
            }
        }
        self.write(event, blobs);
        id
    }
}

#[test]
fn a_watch_counts_as_the_summary_does_and_reads_only_what_is_new() {
    let dir = tempfile::tempdir().unwrap();
    let mut watch = Log::watch(dir.path());
    assert_eq!(watch.look().unwrap(), &Counts::default());
    // Small segments: the watch goes on in the next one.
    let writing = Writing::start(dir.path(), 4096);
    let agrees = |watch: &mut Watch| {
        let counts = watch.look().unwrap().clone();
        let summary = Log::open(dir.path()).unwrap().summary().unwrap();
        assert_eq!(
            (counts.pending, counts.running, counts.dashboard),
            (summary.pending, summary.running, summary.dashboard)
        );
        assert!(!counts.damaged && counts.log);
        counts
    };
    let first = writing.propose(false, 500);
    let flagged = writing.propose(true, 300);
    let counts = agrees(&mut watch);
    assert_eq!((counts.pending, counts.flagged), (2, 1));
    assert_eq!(counts.expires_at.unwrap().as_second(), 300);
    let before = watch.reading.as_ref().unwrap().walk.scanned().head;
    for _ in 0..20 {
        writing.propose(false, 900);
    }
    writing.write(denied(flagged), Vec::new());
    writing.write(granted(first), Vec::new());
    writing.write(started(first), Vec::new());
    let counts = agrees(&mut watch);
    assert_eq!((counts.pending, counts.running, counts.flagged), (20, 1, 0));
    assert_eq!(counts.expires_at.unwrap().as_second(), 900);
    let after = watch.reading.as_ref().unwrap().walk.scanned().head;
    assert!(after.segment > before.segment, "{after:?}");
    writing.handle.close();
    let counts = watch.look().unwrap();
    assert_eq!((counts.dashboard, counts.pending), (None, 0));
    assert!(counts.log && !counts.damaged);
}

#[test]
fn a_watch_sees_a_break_of_the_chain_and_a_log_that_begins_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut watch = Log::watch(dir.path());
    let writing = Writing::start(dir.path(), 1 << 20);
    writing.propose(false, 500);
    assert!(!watch.look().unwrap().damaged);
    let segment = Layout::at(dir.path()).segment(1);
    let whole = std::fs::read(&segment).unwrap();
    std::fs::write(&segment, [&whole[..], b"{}\n"].concat()).unwrap();
    assert!(watch.look().unwrap().damaged);
    std::fs::write(&segment, &whole).unwrap();
    let counts = watch.look().unwrap();
    assert!(!counts.damaged);
    assert_eq!(counts.pending, 1);
    writing.handle.close();
}

/// An index that begins the watch changes nothing of what it counts.
#[test]
fn a_watch_that_begins_with_the_index_counts_as_one_that_read_everything() {
    use super::super::samples::finished;
    let dir = tempfile::tempdir().unwrap();
    let writing = Writing::start(dir.path(), 4096);
    let ran = writing.propose(false, 500);
    writing.write(granted(ran), Vec::new());
    writing.write(started(ran), Vec::new());
    let (end, blobs) = finished(ran);
    writing.write(end, blobs);
    let waits = writing.propose(true, 300);
    writing.propose(false, 900);
    let mut long = Log::watch(dir.path());
    long.long = 0;
    let mut whole = Log::watch(dir.path());
    let agree = |long: &mut Watch, whole: &mut Watch| {
        assert_eq!(long.look().unwrap(), whole.look().unwrap());
        assert!(long.reading.as_ref().unwrap().begun_later);
        long.look().unwrap().clone()
    };
    let counts = agree(&mut long, &mut whole);
    assert_eq!(
        (counts.pending, counts.flagged, counts.damaged),
        (2, 1, false)
    );
    writing.write(denied(waits), Vec::new());
    let third = writing.propose(false, 100);
    writing.write(granted(third), Vec::new());
    let counts = agree(&mut long, &mut whole);
    assert_eq!((counts.pending, counts.running), (1, 1));
    // A record of one that ended before the watch began, as a later replication leaves it.
    let replicated = super::super::samples::every_kind(ran)
        .into_iter()
        .find(|event| matches!(event, LogEvent::Replicated { .. }))
        .unwrap();
    writing.write(replicated, Vec::new());
    assert!(!agree(&mut long, &mut whole).damaged);
    // One that cannot have happened.
    writing.write(granted(ran), Vec::new());
    assert!(agree(&mut long, &mut whole).damaged);
    writing.handle.close();
    assert_eq!(long.look().unwrap(), whole.look().unwrap());
}
