#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::mpsc::unbounded_channel;

use super::*;

/// How often the log is read in vain, and what a reading fails with.
async fn reports(in_vain: usize, end: fn() -> AuditError) -> Vec<String> {
    let (inbox, mut reports) = unbounded_channel();
    let read = AtomicUsize::new(0);
    let check = move || match read.fetch_add(1, Ordering::Relaxed) < in_vain {
        true => Err(unreadable()),
        false => Err(end()),
    };
    checked(check, Duration::ZERO, inbox).await;
    let mut said = Vec::new();
    while let Some(report) = reports.recv().await {
        said.push(match report {
            Input::Core(Event::LogDoubted(LogDoubt::Unreadable(why))) => format!("doubt: {why}"),
            Input::Checked(Err(why)) => format!("down: {why}"),
            _ => "another report".to_owned(),
        });
    }
    said
}

fn unreadable() -> AuditError {
    AuditError::Io {
        path: "log/00000001.jsonl".into(),
        action: "read",
        source: io::Error::from_raw_os_error(nix::libc::EIO),
    }
}

fn no_log() -> AuditError {
    AuditError::None {
        dir: "state".into(),
    }
}

#[tokio::test]
async fn a_log_that_cannot_be_read_is_read_again_and_brings_nothing_down() {
    let said = reports(2, no_log).await;
    let doubt = "doubt: log/00000001.jsonl cannot be read: Input/output error (os error 5)";
    assert_eq!(said, [doubt, doubt, "down: there is no audit log in state"]);
    assert_eq!(
        reports(0, no_log).await,
        ["down: there is no audit log in state"]
    );
}
