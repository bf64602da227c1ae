use super::super::index::Known;
use super::super::samples::proposed;
use super::super::{WriterEvent, open};
use super::*;
use crate::model::{ProposalId, Ticket};

#[test]
fn the_index_follows_the_log_and_is_up_to_date_when_the_log_is_closed() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path();
    let feeder = Feeder::start_with(state, 0, Duration::from_millis(1)).unwrap();
    let fed = feeder.fed();
    let (report, reports) = channel();
    let handle = open(state).unwrap().writer.start(Box::new(move |event| {
        if let WriterEvent::Durable { .. } = event {
            fed.wrote();
        }
        let _ = report.send(event);
    }));
    let layout = Layout::at(state);
    let write = || {
        let (event, blobs) = proposed(ProposalId::new(), "t");
        handle.submit(Ticket::Unawaited, event, blobs);
        reports.recv().unwrap();
    };
    write();
    let read = || Known::of(&layout).map(|known| known.walk().scanned().head.seq);
    while read().ok() != Some(1) {
        thread::sleep(Duration::from_millis(1));
    }
    (0..20).for_each(|_| write());
    handle.close();
    feeder.finish();
    assert_eq!(read().unwrap(), 21);
}

#[test]
fn a_short_log_has_no_index_of_the_dashboards_making() {
    let dir = tempfile::tempdir().unwrap();
    let state = dir.path();
    drop(open(state).unwrap());
    let feeder = Feeder::start(state).unwrap();
    feeder.fed().wrote();
    feeder.finish();
    assert!(!Layout::at(state).index().exists());
}
