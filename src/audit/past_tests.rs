//! The start of a dashboard fills the memory of earlier proposals in the walk that checks the log.

use crate::audit::samples::{finished, granted, proposed, started};
use crate::model::{Blob, Lane, LogEvent, Of, ProposalId, Reviewer, State, Ticket, Viewed};

fn write(state: &std::path::Path, events: Vec<(LogEvent, Vec<Blob>)>) {
    let (report, reports) = std::sync::mpsc::channel();
    let count = events.len();
    let log = super::open(state)
        .unwrap()
        .writer
        .start(Box::new(move |said| {
            let _ = report.send(said);
        }));
    for (event, blobs) in events {
        log.submit_in(Lane::Agents, Ticket::Unawaited, event, blobs);
    }
    for _ in 0..count {
        reports.recv().unwrap();
    }
    log.close();
}

#[test]
fn a_start_remembers_what_the_log_says_of_earlier_proposals() {
    let state = tempfile::tempdir().unwrap();
    let (a, b, c) = (ProposalId::new(), ProposalId::new(), ProposalId::new());
    let denied = LogEvent::Denied {
        id: b,
        reason: Some("why e-mail?".to_owned()),
        by: Reviewer::default(),
        viewed: Viewed::default(),
    };
    let plain = |event| (event, Vec::new());
    write(
        state.path(),
        vec![
            proposed(a, "one"),
            plain(granted(a)),
            plain(started(a)),
            finished(a),
            proposed(b, "two"),
            plain(denied),
            proposed(c, "two"),
        ],
    );
    let past = super::open(state.path()).unwrap().past;
    assert_eq!(past.len(), 3);
    let agent = past.tally(&Of::Agent(1000, "etl-bot"), None);
    assert_eq!((agent.granted, agent.denied), (1, 1));
    let ended = past.about(a).unwrap();
    assert_eq!(ended.state, State::Succeeded);
    assert!(ended.decided.as_ref().unwrap().granted);
    let two = past.tally(&Of::Title("two"), None).last_denied.unwrap();
    let reason = two.decided.as_ref().unwrap().reason.as_deref();
    assert_eq!(reason, Some("why e-mail?"));
    assert_eq!(past.about(c).unwrap().state, State::Pending);
    assert_eq!(past.shapeless(9).len(), 1);
}

/// Prints how long a start takes with a log of 200,000 records, and how much of it the memory takes:
/// `cargo test --lib -- --ignored --nocapture how_long_a_start`.
#[test]
#[ignore = "a measurement"]
fn how_long_a_start_with_200_000_records_takes() {
    let state = tempfile::tempdir().unwrap();
    let mut events = Vec::new();
    for n in 0..50_000 {
        let id = ProposalId::new();
        let (event, blobs) = proposed(id, &format!("title {n}"));
        let (end, _) = finished(id);
        let blobs = if n == 0 { blobs } else { Vec::new() };
        events.push((event, blobs));
        events.extend([granted(id), started(id), end].map(|event| (event, Vec::new())));
    }
    let copies: Vec<LogEvent> = events.iter().map(|(event, _)| event.clone()).collect();
    write(state.path(), events);
    let begun = std::time::Instant::now();
    let opened = super::open(state.path()).unwrap();
    let whole = begun.elapsed();
    assert_eq!(opened.past.len(), 50_000);
    let begun = std::time::Instant::now();
    let mut past = crate::model::Past::default();
    for event in &copies {
        past.learn(jiff::Timestamp::UNIX_EPOCH, event, None);
    }
    let learning = begun.elapsed();
    println!("the start: {whole:?}, of this the memory: {learning:?}");
}
