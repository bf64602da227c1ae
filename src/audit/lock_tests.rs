use super::super::samples::proposed;
use super::super::{AuditError, Dashboard, Log, WriterEvent, open};
use super::*;
use crate::model::{ProposalId, Ticket};

fn layout() -> (tempfile::TempDir, Layout) {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::at(dir.path());
    layout.make().unwrap();
    (dir, layout)
}

fn refused(layout: &Layout) -> Option<i32> {
    match Lock::take(layout) {
        Err(AuditError::Locked { pid, .. }) => pid,
        other => panic!("a second writer got {other:?}"),
    }
}

#[test]
fn a_second_writer_is_refused_even_if_the_lock_file_is_removed_or_replaced() {
    let (_dir, layout) = layout();
    let lock = Lock::take(&layout).unwrap();
    let own_pid = Some(std::process::id().cast_signed());
    assert_eq!(refused(&layout), own_pid);
    fs::remove_file(layout.lock()).unwrap();
    assert_eq!(refused(&layout), None);
    // No new file or copy is the one that is locked.
    fs::write(layout.state.join("mine"), "1\n").unwrap();
    for another in ["lock", "copy"] {
        fs::copy(layout.state.join("mine"), layout.state.join(another)).unwrap();
        fs::rename(layout.state.join(another), layout.lock()).unwrap();
        assert_eq!(refused(&layout), None);
    }
    assert_eq!(
        holder(&layout).unwrap(),
        Holder::Somebody {
            pid: None,
            down: true
        }
    );
    drop(lock);
    assert_eq!(holder(&layout).unwrap(), Holder::Nobody);
    drop(Lock::take(&layout).unwrap());
}

/// A reader that tests the folder's lock holds it for a moment.
#[test]
fn readers_never_make_a_starting_dashboard_fail() {
    let (_dir, layout) = layout();
    let done = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    holder(&layout).unwrap();
                }
            });
        }
        for _ in 0..300 {
            let lock = Lock::take(&layout).unwrap();
            assert!(matches!(
                holder(&layout).unwrap(),
                Holder::Somebody { down: false, .. }
            ));
            drop(lock);
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn a_log_that_went_down_is_reported_and_stays_locked() {
    let (dir, layout) = layout();
    let (report, reports) = std::sync::mpsc::channel();
    let handle = open(dir.path())
        .unwrap()
        .writer
        .start(Box::new(move |said| {
            let _ = report.send(said);
        }));
    let id = ProposalId::new();
    let (event, blobs) = proposed(id, "t");
    handle.submit(Ticket::Unawaited, event, blobs);
    reports.recv().unwrap();
    let log = Log::open(dir.path()).unwrap();
    let own_pid = Some(std::process::id().cast_signed());
    let dashboard = |down| Some(Dashboard { pid: own_pid, down });
    assert_eq!(log.writer().unwrap(), dashboard(false));
    fs::rename(layout.segment(1), layout.log().join("gone")).unwrap();
    handle.submit(
        Ticket::Core(1),
        crate::model::LogEvent::Unattended { id },
        Vec::new(),
    );
    assert!(matches!(reports.recv().unwrap(), WriterEvent::Down { .. }));
    // Even with the segment back in place nobody else may write until the first dashboard ends.
    fs::rename(layout.log().join("gone"), layout.segment(1)).unwrap();
    assert_eq!(log.writer().unwrap(), dashboard(true));
    assert_eq!(refused(&layout), own_pid);
    handle.close();
    assert_eq!(log.writer().unwrap(), None);
    drop(open(dir.path()).unwrap());
}
