//! Logs that tests write through the writer.

use std::sync::mpsc;

use super::WriterEvent;
use super::open::Opened;
use crate::model::{Blob, LogEvent, Ticket};

/// Writes events, each once the one before it is durable.
pub fn write(opened: Opened, events: Vec<(LogEvent, Vec<Blob>)>) {
    let (report, reports) = mpsc::channel();
    let handle = opened.writer.start(Box::new(move |event| {
        let _ = report.send(event);
    }));
    for (event, blobs) in events {
        handle.submit(Ticket::Unawaited, event, blobs);
        let done = reports.recv().unwrap();
        assert!(matches!(done, WriterEvent::Durable { .. }), "{done:?}");
    }
    handle.close();
}
