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
