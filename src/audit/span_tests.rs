use super::super::line;
use super::super::samples::{agent, every_kind, finished, granted, proposed, started};
use super::*;
use crate::clock::Now;
use crate::model::{Digest, ProposalId, Reviewer, Tier};

fn opened() -> LogEvent {
    LogEvent::Opened {
        version: "0".to_owned(),
        by: Reviewer::default(),
        tier: Tier::Process,
        environment: None,
        preflight: Vec::new(),
        drills: None,
    }
}

/// A record as parsed from its line.
fn record_at(event: LogEvent, boot: &str, mono_ns: u64) -> Record {
    let mut now = Now::read();
    now.boot = std::time::Duration::from_nanos(mono_ns);
    let event = crate::secrets::Redactor::default().redact(event, vec![]);
    let (line, _) = line::record(1, None, boot, now, &event, &Digest::of(b"")).unwrap();
    Record::parse(line.strip_suffix(b"\n").unwrap()).unwrap()
}

/// The error of each record, in order.
fn errors_of(records: &[Record]) -> Vec<Option<String>> {
    let mut spans = Spans::default();
    records.iter().map(|r| spans.step(r).err()).collect()
}

fn one_run() -> Vec<LogEvent> {
    let id = ProposalId::new();
    vec![
        opened(),
        proposed(id, "t").0,
        granted(id),
        started(id),
        finished(id).0,
        LogEvent::Closed,
    ]
}

fn records(events: Vec<LogEvent>) -> Vec<Record> {
    let numbered = events.into_iter().zip(1..);
    numbered
        .map(|(event, ns)| record_at(event, "b", ns))
        .collect()
}

#[test]
fn a_dashboard_opens_writes_and_closes_unless_it_is_killed() {
    let mut events = one_run();
    events.extend(one_run());
    assert!(
        errors_of(&records(events.clone()))
            .iter()
            .all(Option::is_none)
    );
    // The first dashboard is killed before it closes the log.
    events.remove(5);
    assert!(errors_of(&records(events)).iter().all(Option::is_none));
}

#[test]
fn a_dashboards_records_after_closed_are_reported() {
    let outside = ["opened", "recovered", "pruned", "replicated", "erased"];
    for event in every_kind(ProposalId::new()) {
        let kind = event.kind();
        let mut events = one_run();
        events.push(event.clone());
        let errors = errors_of(&records(events));
        match outside.contains(&kind) {
            true => assert_eq!(errors[6], None, "{kind}"),
            false => assert_eq!(
                errors[6].as_deref(),
                Some(format!("`{kind}` while no dashboard had the log open").as_str())
            ),
        }
    }
}

#[test]
fn the_clock_of_one_dashboard_does_not_go_back() {
    let times = |ns: [u64; 3]| {
        let id = ProposalId::new();
        let events = [
            opened(),
            proposed(id, "t").0,
            LogEvent::Withdrawn {
                id,
                disconnected: true,
            },
        ];
        let timed = events.into_iter().zip(ns);
        errors_of(
            &timed
                .map(|(event, ns)| record_at(event, "b", ns))
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(times([5, 5, 7]), [None, None, None]);
    let back = times([5, 7, 6]);
    let why =
        "`withdrawn` is 1 ns older than the record before it, by a clock that does not go back";
    assert_eq!(back[2].as_deref(), Some(why));
}

#[test]
fn a_dashboard_cannot_span_two_boots_but_the_next_one_may_be_in_another() {
    let id = ProposalId::new();
    let records = [
        record_at(opened(), "a", 9),
        record_at(proposed(id, "t").0, "b", 10),
        record_at(LogEvent::Closed, "b", 11),
        record_at(opened(), "c", 1),
    ];
    let errors = errors_of(&records);
    assert!(errors[1].as_ref().unwrap().contains("in another boot"));
    assert_eq!([&errors[0], &errors[2], &errors[3]], [&None, &None, &None]);
}

#[test]
fn records_after_a_quarantined_part_or_a_later_version_are_not_judged() {
    let recovered = every_kind(ProposalId::new())
        .into_iter()
        .find(|e| matches!(e, LogEvent::Recovered { .. }));
    let mut events = one_run();
    let id = ProposalId::new();
    events.extend([recovered.unwrap(), proposed(id, "t").0, LogEvent::Closed]);
    assert!(errors_of(&records(events)).iter().all(Option::is_none));
    let mut spans = Spans::default();
    for record in records(one_run()) {
        spans.step(&record).unwrap();
    }
    spans.unknown();
    assert_eq!(spans.step(&record_at(granted(id), "b", 1)), Ok(()));
}

#[test]
fn a_pause_begins_once_ends_only_if_it_began_and_ends_with_its_dashboard() {
    let paused = || LogEvent::Paused {
        agent: agent(),
        by: Reviewer::default(),
    };
    let resumed = || LogEvent::Resumed {
        agent: agent(),
        by: Reviewer::default(),
    };
    let sound = vec![
        opened(),
        paused(),
        resumed(),
        paused(),
        LogEvent::Closed,
        opened(),
        paused(),
    ];
    assert!(errors_of(&records(sound)).iter().all(Option::is_none));
    let twice = errors_of(&records(vec![opened(), paused(), paused(), resumed()]));
    assert_eq!(
        twice[2].as_deref(),
        Some("`paused` of an agent that was paused")
    );
    assert_eq!(twice[3], None);
    let why = "`resumed` of an agent that was not paused";
    let other_dashboard = vec![opened(), paused(), LogEvent::Closed, opened(), resumed()];
    assert_eq!(
        errors_of(&records(other_dashboard))[4].as_deref(),
        Some(why)
    );
    assert_eq!(
        errors_of(&records(vec![opened(), resumed()]))[1].as_deref(),
        Some(why)
    );
    // After retention the beginning of a pause may be missing.
    let mut spans = Spans::default();
    assert_eq!(spans.step(&record_at(resumed(), "b", 1)), Ok(()));
}
