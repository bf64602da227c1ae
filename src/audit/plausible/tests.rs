//! What a sound chain says although the program never writes it.

use jiff::Timestamp;

use super::super::line::GENESIS;
use super::super::lines::Ahead;
use super::super::samples::{
    CODE, EDITED, denied, drilled, edited, finding, finished, granted, granted_as, proposed,
    proposed_drill, started,
};
use super::super::scan::Boundary;
use super::*;
use crate::broker::tests::random_timed_logs;
use crate::model::{DrillEnd, Reviewer, Tier, Verdict, VerdictKind, Viewed};

/// Where a record stands.
pub fn line(seq: u64) -> Line<'static> {
    Line {
        file: "log/00000001.jsonl",
        number: seq + 1,
        offset: 0,
        seq,
        v: 1,
        boundary: Boundary {
            segment: 1,
            seq,
            hash: GENESIS,
        },
        bytes: b"",
        ahead: Ahead::default(),
    }
}

/// Reads events as records of these milliseconds and boots, the first one as record 1.
pub fn read_from(mut judge: Plausible, events: Vec<(u64, &str, LogEvent)>) -> Vec<String> {
    for (n, (ms, boot, event)) in events.into_iter().enumerate() {
        let seq = n as u64 + 1;
        let record = Record {
            seq,
            batch: None,
            boot_id: boot.to_owned(),
            mono_ns: ms * 1_000_000,
            ts: Timestamp::from_millisecond(ms as i64).unwrap(),
            event,
            actor: String::new(),
            redacted: Default::default(),
            line: String::new(),
        };
        judge.read(&line(seq), &record);
    }
    assert_eq!(judge.odd.count, judge.odd.first.len() as u64);
    let odd = judge.odd.first.iter();
    odd.map(|d| format!("{}: {}", d.seq.unwrap(), d.what))
        .collect()
}

/// What clocks say at records: seconds of the wall, milliseconds since the boot, the boot.
fn clocks(all: &[(i64, u64, &str)]) -> Vec<(u64, i64)> {
    let mut judge = clock::Clocks::default();
    for (n, (wall, mono, boot)) in all.iter().enumerate() {
        judge.read(&Record {
            seq: n as u64 + 1,
            batch: None,
            boot_id: (*boot).to_owned(),
            mono_ns: mono * 1_000_000,
            ts: Timestamp::from_second(*wall).unwrap(),
            event: LogEvent::Closed,
            actor: String::new(),
            redacted: Default::default(),
            line: String::new(),
        });
    }
    judge.set.iter().map(|set| (set.seq, set.seconds)).collect()
}

#[test]
fn a_clock_that_was_set_is_told_and_one_that_runs_is_not() {
    // It runs, is corrected by 59 s, and the machine starts again.
    assert_eq!(
        clocks(&[
            (0, 0, "a"),
            (10, 10_000, "a"),
            (80, 21_000, "a"),
            (900, 5, "b")
        ]),
        []
    );
    // Put back, and forward, by a minute and by days.
    assert_eq!(
        clocks(&[
            (5_000, 0, "a"),
            (4_950, 10_000, "a"),
            (177_760, 20_000, "a"),
            (177_761, 21_000, "a")
        ]),
        [(2, -60), (3, 172_800)]
    );
    // Of two boots nobody knows how long it was off, but not less than nothing.
    assert_eq!(
        clocks(&[(100, 0, "a"), (99, 5, "b"), (100_000, 6, "c")]),
        [(2, -1)]
    );
}

/// Judges the records of a log, without its contents.
fn whole() -> Plausible {
    Plausible {
        layout: None,
        ..Plausible::of_log(&Layout::at("/nowhere".as_ref()))
    }
}

fn read(events: Vec<(u64, &str, LogEvent)>) -> Vec<String> {
    read_from(Plausible::default(), events)
}

/// A proposal with so many findings that can be granted for 30 s.
fn asked(id: ProposalId, at: u64, findings: usize) -> LogEvent {
    let (mut event, _) = proposed(id, "t");
    if let LogEvent::Proposed(p) = &mut event {
        p.expires_at = Timestamp::from_millisecond(at as i64 + 30_000).unwrap();
        found(&mut p.verdict, findings);
    }
    event
}

fn found(verdict: &mut Verdict, findings: usize) {
    verdict.findings = vec![finding(); findings];
    verdict.verdict = Verdict::kind_of(&verdict.findings);
}

/// Sets what was seen before a decision.
fn seen(
    mut event: LogEvent,
    selected_ms: u64,
    focused_ms: Option<u64>,
    findings_shown: u64,
) -> LogEvent {
    let viewed = |lines_seen| Viewed {
        selected_ms,
        focused_ms,
        lines_seen,
        findings_shown,
        ..Viewed::default()
    };
    match &mut event {
        LogEvent::Granted(g) => g.viewed = viewed(g.viewed.lines_seen),
        LogEvent::Denied { viewed: v, .. } => *v = viewed(0),
        LogEvent::Drilled(d) => d.viewed = Some(viewed(0)),
        other => panic!("{other:?}"),
    }
    event
}

fn ran(id: ProposalId, ms: u64) -> LogEvent {
    let (mut event, _) = finished(id);
    if let LogEvent::Finished(f) = &mut event {
        f.duration_ms = ms;
    }
    event
}

#[test]
fn each_field_that_cannot_be_is_named_by_its_rule_and_what_can_be_is_not() {
    let id = ProposalId::new();
    let (mut twice, _) = edited(id, CODE, EDITED);
    if let LogEvent::Edited(e) = &mut twice {
        found(&mut e.verdict, 2);
    }
    let mut unseen = seen(granted(id), 900, None, 1);
    if let LogEvent::Granted(g) = &mut unseen {
        g.viewed.lines_seen = 0;
    }
    let edit = |shown| {
        vec![
            (0, "a", asked(id, 0, 1)),
            (9, "a", twice.clone()),
            (99, "a", seen(granted_as(id, EDITED), 50, None, shown)),
        ]
    };
    let drill = |ms| {
        vec![
            (0, "a", proposed_drill(id).0),
            (5_000, "a", seen(drilled(id, DrillEnd::Caught), ms, None, 0)),
        ]
    };
    let two = |at: u64, boot: &'static str, event: LogEvent| {
        vec![(1_000, "a", asked(id, 1_000, 1)), (at, boot, event)]
    };
    for (name, events, odd) in [
        (
            "a look",
            two(6_000, "a", seen(denied(id), 5_000, None, 0)),
            None,
        ),
        (
            "a look that is rounded",
            two(6_000, "a", seen(denied(id), 5_900, None, 0)),
            None,
        ),
        (
            "a look before the question",
            two(6_000, "a", seen(denied(id), 34_000, None, 0)),
            Some("2: `denied` after a look of 34,000 ms, 5,000 ms after it was proposed"),
        ),
        (
            "a look in focus before the question",
            two(6_000, "a", seen(granted(id), 1, Some(34_000), 1)),
            Some("2: `granted` after a look of 34,000 ms"),
        ),
        (
            "more focus than look",
            two(6_000, "a", seen(granted(id), 1_000, Some(1_001), 1)),
            Some("2: `granted` after 1,001 ms of a look with the focus, in 1,000 ms of a look"),
        ),
        (
            "all of a look with the focus",
            two(6_000, "a", seen(granted(id), 1_000, Some(1_000), 1)),
            None,
        ),
        ("a drill", drill(5_000), None),
        (
            "a drill before the question",
            drill(50_000),
            Some("2: `drilled` after a look of 50,000 ms"),
        ),
        (
            "another boot",
            two(2, "b", seen(denied(id), 34_000, None, 0)),
            None,
        ),
        (
            "a grant",
            two(6_000, "a", seen(granted(id), 900, None, 1)),
            None,
        ),
        (
            "more was shown than there is",
            two(6_000, "a", seen(granted(id), 900, None, 7)),
            Some("2: `granted` after 7 findings had been shown, of 1"),
        ),
        (
            "a grant of what was not shown",
            two(6_000, "a", seen(granted(id), 900, None, 0)),
            Some("2: `granted` although 0 of 1 finding had been shown"),
        ),
        (
            "a grant of a line that was not seen",
            two(6_000, "a", unseen),
            Some("2: `granted` although 0 of 1 line had been seen"),
        ),
        (
            "a denial of what was not shown",
            two(6_000, "a", seen(denied(id), 900, None, 0)),
            None,
        ),
        ("a grant of an edit", edit(2), None),
        (
            "a grant of half an edit",
            edit(1),
            Some("3: `granted` although 1 of 2 findings had been shown"),
        ),
        (
            "in time, and late on the disk",
            two(75_000, "a", seen(granted(id), 900, None, 1)),
            None,
        ),
        (
            "a grant after the deadline",
            two(131_000, "a", seen(granted(id), 900, None, 1)),
            Some("2: `granted` 100 s after its time of 30 s was over"),
        ),
        (
            "a clock that goes back",
            two(400, "a", seen(granted(id), 0, None, 1)),
            Some("2: `granted` is 600 ms older than the proposal's record before it"),
        ),
        (
            "a run",
            vec![
                (0, "a", asked(id, 0, 0)),
                (1, "a", granted(id)),
                (2, "a", started(id)),
                (50, "a", ran(id, 41)),
            ],
            None,
        ),
        (
            "a run that is longer than it was",
            vec![
                (0, "a", asked(id, 0, 0)),
                (1, "a", granted(id)),
                (2, "a", started(id)),
                (50, "a", ran(id, 41_000)),
            ],
            Some("4: `finished` after 41,000 ms, 48 ms after it was started"),
        ),
        (
            "no question",
            vec![
                (0, "a", seen(granted(id), 9_000, None, 0)),
                (1, "a", started(id)),
            ],
            None,
        ),
    ] {
        let found = read(events);
        match odd {
            None => assert_eq!(found, [""; 0], "{name}"),
            Some(words) => {
                assert_eq!(found.len(), 1, "{name}: {found:?}");
                assert!(found[0].starts_with(words), "{name}: {found:?}");
            }
        }
    }
    // A time that was over at once is what a clock that was set can leave, and earlier versions: nothing is judged by it.
    let (old, _) = proposed(id, "t");
    assert_eq!(
        read(vec![(0, "a", old), (500_000, "a", granted(id))]),
        [""; 0]
    );
}

#[test]
fn what_only_a_dashboard_writes_stands_behind_its_opening() {
    // An id without a time.
    let id = ProposalId::from_uuid(uuid::Uuid::from_u128(7));
    let opened = || LogEvent::Opened {
        version: "0".to_owned(),
        by: Reviewer::default(),
        tier: Tier::Process,
        environment: None,
        preflight: Vec::new(),
        drills: None,
    };
    let log = |events: Vec<LogEvent>| {
        let events = events.into_iter().map(|event| (0, "a", event)).collect();
        read_from(whole(), events)
    };
    let one = || proposed(id, "t").0;
    assert_eq!(
        log(vec![
            opened(),
            one(),
            denied(id),
            opened(),
            LogEvent::Closed
        ]),
        [""; 0]
    );
    assert_eq!(
        log(vec![one(), denied(id), opened(), one()]),
        [
            "1: `proposed` before a dashboard opened the log",
            "2: `denied` before a dashboard opened the log",
        ]
    );
    // What a crash left of the beginning is in quarantine.
    let aside = LogEvent::Recovered {
        segment: "00000001.jsonl".to_owned(),
        offset: 1,
        bytes: 2,
        sha256: GENESIS,
        quarantined: "q".to_owned(),
        lost: None,
        by: None,
    };
    assert_eq!(log(vec![aside, one(), opened()]), [""; 0]);
    // Other programs than the dashboard write with the library.
    assert_eq!(log(vec![one(), denied(id)]), [""; 0]);
}

/// What the core records of random lives contradicts itself nowhere.
#[test]
fn the_records_of_random_lives_are_plausible() {
    let mut kinds = std::collections::BTreeMap::<_, u64>::new();
    for log in random_timed_logs(150) {
        let mut judge = whole();
        let boot = "b".to_owned();
        let mut findings = HashMap::new();
        for (n, (now, mut event)) in log.into_iter().enumerate() {
            *kinds.entry(event.kind()).or_default() += 1;
            // What was on a screen is the screen's to say.
            if let LogEvent::Granted(g) = &mut event {
                g.viewed.findings_shown = findings[&g.id];
            }
            // The core is given verdicts on other code.
            let verdict = match &mut event {
                LogEvent::Proposed(p) => Some((p.id, &mut p.verdict)),
                LogEvent::Edited(e) => Some((e.id, &mut e.verdict)),
                _ => None,
            };
            if let Some((id, verdict)) = verdict {
                for finding in &mut verdict.findings {
                    finding.line = 1;
                    if verdict.verdict == VerdictKind::Unanalyzable {
                        finding.rule = "PARSE001".to_owned();
                    }
                }
                findings.insert(id, verdict.findings.len() as u64);
            }
            let seq = n as u64 + 1;
            let record = Record {
                seq,
                batch: None,
                boot_id: boot.clone(),
                mono_ns: now.boot.as_nanos() as u64,
                ts: now.wall,
                event,
                actor: String::new(),
                redacted: Default::default(),
                line: String::new(),
            };
            judge.read(&line(seq), &record);
        }
        // These times are those of the handing over, which is not always in the order of the log.
        let odd = judge.odd.first.iter();
        let odd = odd.filter(|d| !d.what.contains("older than the record before it"));
        assert_eq!(odd.collect::<Vec<_>>(), [] as [&Damage; 0]);
    }
    for kind in [
        "edited", "granted", "finished", "expired", "drilled", "killed",
    ] {
        assert!(
            kinds.get(kind).is_some_and(|n| *n > 20),
            "{kind}: {kinds:?}"
        );
    }
}
