//! Screen 2: what its rows come to.

use std::collections::BTreeMap;
use std::sync::Arc;

use crossterm::event::{Event, KeyCode};
use jiff::civil::date;

use super::action::{Action, AuditPage, ExportAs, ExportGoes, Exporting, Sum, Summed, Sums};
use super::bench::Bench;
use super::snapshot_tests::{at_sizes, audit_page};
use crate::audit::{
    By, Count, Day, Facet, Facets, OfAgent, OfReviewer, OfScope, Runs, Stats, Value,
};

/// An agent's name that looks like a count with its bar.
pub(super) const HOSTILE: &str = "granted 99 ████";

pub(super) fn stats() -> Stats {
    let drills = Count {
        shown: 5,
        caught: 3,
        granted: 1,
        unanswered: 1,
        rate: Some(0.75),
    };
    let mut hours = [0; 24];
    (hours[9], hours[10], hours[14]) = (80, 160, 12);
    let agent = |name: &str, proposed| OfAgent {
        uid: 1000,
        name: name.to_owned(),
        proposed,
        granted: proposed / 2,
        denied: 21,
        expired: 3,
        blocked: 4,
        flagged: proposed / 5,
        failed: 2,
        median_look_ms: Some(6_240),
    };
    let day = |d, proposals, granted| Day {
        day: date(2026, 11, d),
        proposals,
        granted,
    };
    Stats {
        proposals: 1_312,
        expired: 6,
        zone: "Europe/Vienna".to_owned(),
        reviewers: vec![OfReviewer {
            uid: 1000,
            login: Some("ana".to_owned()),
            granted: 231,
            denied: 21,
            expired: 12,
            grant_rate: Some(231.0 / 252.0),
            median_look_ms: Some(6_240),
            asked_again: 2,
            not_all_seen: 12,
            not_all_seen_rate: Some(12.0 / 231.0),
            streak: Some(40),
            fast: 41,
            fast_streak: Some(7),
            hours,
            drills,
        }],
        agents: vec![agent("etl-bot", 1_200), agent(HOSTILE, 112)],
        days: vec![day(1, 40, 30), day(3, 900, 150), day(27, 372, 51)],
        runs: Runs {
            ended: 231,
            limits: BTreeMap::from([("memory", 1), ("wall", 3)]),
            counted: 9,
            scopes: BTreeMap::from([(
                "private",
                OfScope {
                    runs: 9,
                    allowed: 312,
                    blocked: 4,
                },
            )]),
        },
        drills: crate::audit::Stats::of(Vec::new(), None, &jiff::tz::TimeZone::UTC).drills,
    }
}

fn on_log(b: &mut Bench) {
    b.keys("2");
    b.ui.set_audit(audit_page());
    b.draw();
}

fn answer(b: &mut Bench, query: &str, answer: Result<Summed, String>) {
    let query = query.to_owned();
    b.ui.set_sums(Sums { query, answer });
}

#[test]
fn statistics_are_bars_with_their_numbers() {
    at_sizes("audit_statistics_asked", |b| {
        on_log(b);
        b.keys("B");
    });
    at_sizes("audit_statistics", |b| {
        on_log(b);
        b.keys("B");
        answer(b, "", Ok(Summed::Statistics(Arc::new(stats()))));
    });
    at_sizes("audit_statistics_end", |b| {
        on_log(b);
        b.keys("B");
        answer(b, "", Ok(Summed::Statistics(Arc::new(stats()))));
        b.draw();
        b.keys("G");
    });
}

#[test]
fn statistics_are_of_the_present_question_and_say_why_there_are_none() {
    let mut b = Bench::new(80, 24);
    on_log(&mut b);
    b.keys("/state:denied");
    b.press(KeyCode::Enter);
    let asked = b.keys("B");
    let wanted = Action::SumUp {
        query: "state:denied".to_owned(),
        what: Sum::Statistics,
    };
    assert_eq!(asked, [wanted]);
    answer(&mut b, "", Ok(Summed::Statistics(Arc::new(stats()))));
    let text = b.draw();
    assert!(
        text.contains("reads the log"),
        "of another question: {text}"
    );
    answer(&mut b, "state:denied", Err("no log \x1b[31m".to_owned()));
    let text = b.draw();
    assert!(text.contains("no log ␛[31m"), "{text}");
    assert!(text.contains("query: state:denied"), "{text}");
    b.keys("B");
    assert!(b.draw().contains("AUDIT"), "the key closes what it opened");
}

#[test]
fn the_keys_of_the_log_s_sums_say_elsewhere_where_they_work() {
    let mut b = Bench::new(80, 24);
    b.keys("B");
    let text = b.draw();
    assert!(
        text.contains("B (statistics) works on the audit log: press 2 first"),
        "{text}"
    );
}

fn value(shown: &str, count: u64, term: &str, chosen: bool) -> Value {
    Value {
        shown: shown.to_owned(),
        count,
        term: term.to_owned(),
        chosen,
    }
}

pub(super) fn facets(chosen: bool) -> Facets {
    let all = vec![
        Facet {
            by: By::State,
            values: vec![
                value("granted", 3, "state:granted", false),
                value("denied", 2, "state:denied", chosen),
            ],
            more: 0,
        },
        Facet {
            by: By::Agent,
            values: vec![
                value("etl-bot", 4, "agent:etl-bot", false),
                value(HOSTILE, 1, "agent:\"granted 99 ████\"", false),
                value("granted", 1, "agent:granted", false),
                value("cl\u{430}ude", 1, "agent:\"cl\u{430}ude\"", false),
            ],
            more: 12,
        },
        Facet {
            by: By::Day,
            values: (1..=8)
                .map(|d| {
                    let day = format!("2026-11-{:02}", 28 - d);
                    value(&day, d, &format!("since:{day}"), false)
                })
                .collect(),
            more: 3,
        },
    ];
    Facets { proposals: 5, all }
}

#[test]
fn facets_stand_beside_the_rows_where_there_is_room_and_else_in_their_place() {
    at_sizes("audit_facets", |b| {
        on_log(b);
        b.keys("F");
        answer(b, "", Ok(Summed::Facets(facets(false))));
        b.draw();
        b.keys("jjj");
    });
    at_sizes("audit_facets_end", |b| {
        on_log(b);
        b.keys("F");
        answer(b, "", Ok(Summed::Facets(facets(false))));
        b.draw();
        b.keys("G");
    });
}

#[test]
fn enter_puts_the_term_of_a_value_into_the_question_and_takes_it_out_again() {
    let mut b = Bench::new(120, 40);
    on_log(&mut b);
    b.keys("/by:ana");
    b.press(KeyCode::Enter);
    b.keys("F");
    answer(&mut b, "by:ana", Ok(Summed::Facets(facets(false))));
    b.draw();
    b.keys("j");
    let asked = b.press(KeyCode::Enter);
    let narrowed = "by:ana state:denied";
    let sum = Action::SumUp {
        query: narrowed.to_owned(),
        what: Sum::Facets,
    };
    assert!(
        matches!(&asked[..], [Action::LoadAudit { query, .. }, last] if query == narrowed && *last == sum),
        "{asked:?}"
    );
    answer(&mut b, narrowed, Ok(Summed::Facets(facets(true))));
    let text = b.draw();
    assert!(
        text.contains("▸✓ denied") || text.contains("✓ denied"),
        "{text}"
    );
    // The field goes on from the question.
    b.keys("/");
    assert!(b.draw().contains("query: by:ana state:denied"));
    b.press(KeyCode::Esc);
    let asked = b.press(KeyCode::Enter);
    assert!(
        matches!(&asked[..], [Action::LoadAudit { query, .. }, _] if query == "by:ana"),
        "{asked:?}"
    );
    b.keys("F");
    assert!(!b.draw().contains("FACETS"));
}

/// The first row of the list names the kind of the values below it, wherever the list is.
#[test]
fn no_value_stands_without_its_kind() {
    let mut b = Bench::new(80, 24);
    on_log(&mut b);
    b.keys("F");
    let mut all = facets(false);
    all.all[1].values = (0..30)
        .map(|n| value("granted", 1, &format!("agent:granted{n}"), false))
        .collect();
    answer(&mut b, "", Ok(Summed::Facets(all)));
    for _ in 0..25 {
        b.keys("j");
        let text = b.draw();
        let first = text.lines().position(|line| line.contains("granted"));
        let head = text
            .lines()
            .position(|line| line.trim() == "STATE" || line.trim() == "AGENT");
        assert!(head < first && head.is_some(), "{text}");
    }
}

#[test]
fn an_export_is_asked_for_with_its_format_and_folder_and_told_while_it_goes_on() {
    at_sizes("audit_export", |b| {
        on_log(b);
        b.keys("E");
        b.press(KeyCode::Tab);
    });
    let mut b = Bench::new(80, 24);
    on_log(&mut b);
    b.keys("E");
    b.press(KeyCode::Tab);
    b.press(KeyCode::Tab);
    let asked = b.press(KeyCode::Enter);
    let [
        Action::Export(Exporting {
            query,
            format,
            folder,
        }),
    ] = &asked[..]
    else {
        panic!("{asked:?}");
    };
    assert_eq!((query.as_str(), *format), ("", ExportAs::Ocsf));
    assert!(folder.starts_with("~/countersign-export-20"), "{folder}");
    let text = b.draw();
    assert!(text.contains("export under way"), "{text}");
    b.keys("E");
    assert!(b.draw().contains("the next can follow when it is done"));
    b.ui.exported("wrote \x1b[31m".to_owned());
    let text = b.draw();
    assert!(
        text.contains("wrote ␛[31m") && !text.contains("under way"),
        "{text}"
    );
    // Esc writes nothing.
    b.keys("E");
    assert!(b.press(KeyCode::Esc).is_empty());
}

#[test]
fn an_export_says_how_far_it_is_and_a_quit_asks_before_it_is_dropped() {
    let mut b = Bench::new(120, 40);
    on_log(&mut b);
    b.keys("E");
    b.press(KeyCode::Enter);
    let of = 1_000_000;
    for (goes, said) in [
        (
            ExportGoes::Reads {
                read: 120_000_000,
                of: 800_000_000,
            },
            "export under way: reads the log, 120 of 800 MB",
        ),
        (
            ExportGoes::Records { done: 12_000, of },
            "export under way: 12,000 of 1,000,000 records written",
        ),
        (
            ExportGoes::Proposals { done: 1, of: 0 },
            "export under way: 1 proposal written",
        ),
    ] {
        b.ui.export_goes(goes);
        let text = b.draw();
        assert!(text.contains(said), "{text}");
    }
    assert_eq!(b.keys("q"), []);
    let text = b.draw();
    assert!(
        text.contains(
            "Quit and drop the export? 1 proposal written.  y quits, any other key stays"
        ),
        "{text}"
    );
    assert_eq!(b.keys("n"), []);
    assert!(b.draw().contains("not quit"));
    b.keys("q");
    assert_eq!(b.keys("y"), [Action::Quit]);
    b.ui.exported("wrote it".to_owned());
    assert_eq!(b.keys("q"), [Action::Quit], "nothing is dropped");
}

#[test]
fn what_is_typed_replaces_the_folder_that_is_offered_and_an_edit_keeps_it() {
    let typed = |keys: &dyn Fn(&mut Bench)| {
        let mut b = Bench::new(120, 40);
        on_log(&mut b);
        b.keys("E");
        b.press(KeyCode::Tab);
        keys(&mut b);
        let asked = b.press(KeyCode::Enter);
        match asked.into_iter().next() {
            Some(Action::Export(Exporting { folder, .. })) => folder,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(typed(&|b| drop(b.keys("/srv/x"))), "/srv/x");
    assert_eq!(
        typed(&|b| drop(b.input(&Event::Paste("/srv/y".to_owned())))),
        "/srv/y"
    );
    let kept = typed(&|b| {
        b.press(KeyCode::End);
        b.keys("-2");
    });
    assert!(
        kept.starts_with("~/countersign-export-2") && kept.ends_with("-2"),
        "{kept}"
    );
    let cut = typed(&|b| {
        b.press(KeyCode::Backspace);
        b.keys("x");
    });
    assert!(
        cut.starts_with("~/countersign-export-2") && cut.ends_with('x'),
        "{cut}"
    );
}

#[test]
fn an_export_does_not_wait_for_the_rows_and_a_bundle_of_too_many_is_refused_at_once() {
    let mut b = Bench::new(120, 40);
    on_log(&mut b);
    b.keys("/by:ana");
    b.press(KeyCode::Enter);
    let page = AuditPage {
        query: "by:ana".to_owned(),
        ..audit_page()
    };
    b.ui.set_audit(page);
    b.draw();
    // The rows of all are asked for again, and are not there yet.
    b.press(KeyCode::Esc);
    b.keys("E");
    let text = b.draw();
    assert!(text.contains("records into"), "{text}");
    assert!(!text.contains("0 proposals"), "{text}");
    b.ui.set_audit(AuditPage {
        total: 1_001,
        ..audit_page()
    });
    for _ in 0..3 {
        b.press(KeyCode::Tab);
    }
    assert_eq!(b.press(KeyCode::Enter), []);
    let text = b.draw();
    assert!(text.contains("bundle into: ~/countersign-export"), "{text}");
    assert!(text.contains("selects 1,001 proposals"), "{text}");
    b.press(KeyCode::Tab);
    assert!(matches!(b.press(KeyCode::Enter)[..], [Action::Export(_)]));
}
