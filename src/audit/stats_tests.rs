//! Statistics from records.

use super::super::cases::Cases;
use super::super::samples::{
    denied, drilled, edited, finding, finished, granted, proposed, proposed_drill, started,
};
use super::*;
use crate::model::{LogEvent, ProposalId, Reviewer, State, Tier, Viewed};

fn at(minute: i64) -> Timestamp {
    Timestamp::from_second(minute * 60).unwrap()
}

fn opened(by: &str, drills: Option<DrillPlan>) -> LogEvent {
    LogEvent::Opened {
        version: "0".to_owned(),
        by: reviewer(by),
        tier: Tier::Process,
        environment: None,
        preflight: Vec::new(),
        drills,
    }
}

fn reviewer(login: &str) -> Reviewer {
    Reviewer {
        uid: 1000,
        login: Some(login.to_owned()),
        ..Reviewer::default()
    }
}

/// The decision by this person after a look of so many milliseconds.
fn by(login: &str, ms: u64, mut event: LogEvent) -> LogEvent {
    let look = Viewed {
        selected_ms: ms + 10_000,
        focused_ms: Some(ms),
        ..Viewed::default()
    };
    match &mut event {
        LogEvent::Granted(g) => (g.by, g.viewed) = (reviewer(login), look),
        LogEvent::Denied { by, viewed, .. } => (*by, *viewed) = (reviewer(login), look),
        LogEvent::Drilled(d) => (d.by, d.viewed) = (Some(reviewer(login)), Some(look)),
        _ => {}
    }
    event
}

fn hurried(mut event: LogEvent) -> LogEvent {
    if let LogEvent::Granted(g) = &mut event {
        g.viewed.asked_again = true;
    }
    event
}

fn of(cases: &Cases, wanted: impl Fn(&Case) -> bool) -> Stats {
    let wanted = cases.all.iter().filter(|case| wanted(case));
    Stats::of(
        wanted.map(Decision::of).collect(),
        cases.plan,
        &TimeZone::UTC,
    )
}

/// One record each minute.
fn cases(log: &[LogEvent]) -> Cases {
    let mut cases = Cases::default();
    for (n, event) in log.iter().enumerate() {
        cases.learn(n as u64 + 1, at(n as i64), event);
    }
    cases
}

fn stats(log: &[LogEvent]) -> Stats {
    of(&cases(log), |_| true)
}

/// A life that ends with this record.
fn life(decide: impl Fn(ProposalId) -> LogEvent) -> Vec<LogEvent> {
    let id = ProposalId::new();
    vec![proposed(id, "t").0, decide(id)]
}

fn drill(decide: impl Fn(ProposalId) -> LogEvent) -> Vec<LogEvent> {
    let id = ProposalId::new();
    vec![proposed_drill(id).0, decide(id)]
}

#[test]
fn decisions_are_counted_by_reviewer_and_agent() {
    let mut log = vec![opened("ana", None)];
    for ms in [3_000, 1_000, 8_000] {
        log.extend(life(|id| by("ana", ms, granted(id))));
    }
    log.extend(life(|id| by("ana", 2_000, denied(id))));
    log.extend(life(|id| hurried(by("ana", 500, granted(id)))));
    log.extend(life(|id| LogEvent::Expired { id }));
    log.extend(life(|id| LogEvent::Withdrawn {
        id,
        disconnected: true,
    }));
    log.push(LogEvent::Closed);
    log.push(opened("bo", None));
    log.extend(life(|id| by("bo", 700, denied(id))));
    log.extend(life(|id| LogEvent::Expired { id }));
    log.extend(life(|id| LogEvent::Expired { id }));
    let all = stats(&log);
    assert_eq!(all.proposals, 10);
    let [ana, bo] = &all.reviewers[..] else {
        panic!("{:?}", all.reviewers);
    };
    assert_eq!(
        ana.login.as_deref(),
        Some("ana"),
        "who decided more is first"
    );
    assert_eq!((ana.granted, ana.denied, ana.expired), (4, 1, 1));
    assert_eq!(ana.median_look_ms, Some(2_000));
    assert_eq!((ana.asked_again, ana.streak), (1, Some(3)));
    assert_eq!(
        (bo.granted, bo.denied, bo.expired, bo.streak),
        (0, 1, 2, Some(0))
    );
    assert_eq!(ana.drills, Count::default());
    let [agent] = &all.agents[..] else {
        panic!("{:?}", all.agents);
    };
    assert_eq!((agent.uid, agent.name.as_str()), (1000, "etl-bot"));
    assert_eq!(
        (agent.proposed, agent.granted, agent.denied, agent.expired),
        (10, 4, 2, 3)
    );
    assert_eq!(
        agent.median_look_ms,
        Some(2_000),
        "of an even number the greater"
    );
}

#[test]
fn drills_are_no_proposals_of_an_agent_and_their_rate_is_of_those_that_were_answered() {
    let plan = DrillPlan { every: 25, seed: 7 };
    let mut log = vec![opened("ana", Some(plan))];
    log.extend(life(|id| by("ana", 100, granted(id))));
    log.extend(life(|id| by("ana", 100, granted(id))));
    log.extend(drill(|id| by("ana", 9_000, drilled(id, DrillEnd::Caught))));
    log.extend(life(|id| by("ana", 100, granted(id))));
    log.extend(drill(|id| by("ana", 9_000, drilled(id, DrillEnd::Granted))));
    log.extend(drill(|id| by("ana", 9_000, drilled(id, DrillEnd::Caught))));
    log.extend(drill(|id| drilled(id, DrillEnd::Unanswered)));
    // The dashboard was killed, and the next one closed what it left.
    log.extend(drill(|id| LogEvent::Unattended { id }));
    log.push(proposed_drill(ProposalId::new()).0);
    let all = stats(&log);
    let count = Count {
        shown: 5,
        caught: 2,
        granted: 1,
        unanswered: 2,
        rate: Some(2.0 / 3.0),
    };
    assert_eq!(all.drills.all, count, "one that waits is not told");
    assert_eq!(all.drills.by_harm, BTreeMap::from([(Harm::Write, count)]));
    assert_eq!(all.drills.plan.map(|p| p.plan), Some(plan));
    let ana = &all.reviewers[0];
    assert_eq!(ana.drills, count);
    assert_eq!(
        (ana.granted, ana.denied, ana.streak),
        (3, 0, Some(2)),
        "a caught drill ends a row"
    );
    assert_eq!(ana.median_look_ms, Some(100));
    assert_eq!(
        (all.proposals, all.agents[0].proposed),
        (4, 4),
        "one that waits is told apart from no proposal"
    );
}

#[test]
fn a_rate_without_an_answer_is_none() {
    let log = drill(|id| drilled(id, DrillEnd::Unanswered));
    assert_eq!(stats(&log).drills.all.rate, None);
}

#[test]
fn the_first_decision_counts_whatever_became_of_the_run() {
    let id = ProposalId::new();
    let (edit, _) = edited(id, b"print(1)\n", b"print(2)\n");
    let log = [
        proposed(id, "t").0,
        edit,
        by("ana", 5, granted(id)),
        started(id),
        finished(id).0,
    ];
    assert_eq!(stats(&log).agents[0].granted, 1);
    let log = [
        proposed(id, "t").0,
        by("ana", 5, granted(id)),
        LogEvent::Expired { id },
    ];
    let late = &stats(&log).agents[0];
    assert_eq!((late.granted, late.expired), (1, 0));
    let failed = life(|id| LogEvent::Failed {
        id,
        state: State::Error,
        message: "m".to_owned(),
    });
    assert_eq!(stats(&failed).agents[0].granted, 0);
}

#[test]
fn grants_before_all_findings_were_seen_are_counted_by_reviewer() {
    let seen = |shown: u64, all: usize| {
        let id = ProposalId::new();
        let (mut asked, _) = proposed(id, "t");
        if let LogEvent::Proposed(p) = &mut asked {
            p.verdict.findings = vec![finding(); all];
        }
        let mut grant = by("ana", 9_000, granted(id));
        if let LogEvent::Granted(g) = &mut grant {
            g.viewed.findings_shown = shown;
        }
        [asked, grant]
    };
    let log = [seen(2, 2), seen(1, 2), seen(0, 2), seen(0, 0)].concat();
    let all = stats(&log);
    let ana = &all.reviewers[0];
    assert_eq!((ana.granted, ana.not_all_seen), (4, 2));
    assert_eq!(ana.not_all_seen_rate, Some(0.5));
}

#[test]
fn rows_are_forgotten_where_decisions_between_may_be_left_out() {
    let log = life(|id| by("ana", 1, granted(id)));
    let mut some = stats(&log);
    some.forget_rows();
    let ana = &some.reviewers[0];
    assert_eq!((ana.granted, ana.streak, ana.fast_streak), (1, None, None));
}

/// What a question about the log selects is counted, and the row of grants is that of the selection.
#[test]
fn only_selected_cases_count() {
    let mut log = Vec::new();
    for ms in [1, 2, 3] {
        log.extend(life(|id| by("ana", ms, granted(id))));
    }
    let some = of(&cases(&log), |case| case.at >= at(3));
    assert_eq!((some.proposals, some.reviewers[0].streak), (2, Some(2)));
}

#[test]
fn fast_decisions_and_their_rows_are_counted_and_hours_and_days_by_the_time_zone() {
    let mut log = vec![opened("ana", None)];
    for ms in [100, 4_999, 5_000, 1, 2, 3] {
        log.extend(life(|id| by("ana", ms, granted(id))));
    }
    log.extend(life(|id| by("ana", 9, denied(id))));
    let all = stats(&log);
    let ana = &all.reviewers[0];
    assert_eq!(
        (ana.fast, ana.fast_streak),
        (6, Some(4)),
        "5 s are not fast"
    );
    assert_eq!(ana.grant_rate, Some(6.0 / 7.0));
    assert_eq!((ana.hours[0], ana.hours.iter().sum::<u64>()), (7, 7));
    let day = Day {
        day: jiff::civil::date(1970, 1, 1),
        proposals: 7,
        granted: 6,
    };
    assert_eq!(all.days, [day]);
    let west = TimeZone::fixed(jiff::tz::offset(-10));
    let known = cases(&log);
    let all = Stats::of(known.all.iter().map(Decision::of).collect(), None, &west);
    assert_eq!(all.days[0].day, jiff::civil::date(1969, 12, 31));
    assert_eq!(all.reviewers[0].hours[14], 7);
}

#[test]
fn runs_are_counted_with_their_limits_and_what_they_asked_of_scopes() {
    let ended = |scopes: &[(&str, u64, u64)], limit: Option<LimitKind>| {
        let id = ProposalId::new();
        let mut end = finished(id).0;
        if let LogEvent::Finished(f) = &mut end {
            f.limit = limit;
            f.state = match limit {
                Some(_) => State::Failed,
                None => State::Succeeded,
            };
            for (name, allowed, blocked) in scopes {
                let counts = Accesses {
                    allowed: *allowed,
                    blocked: *blocked,
                };
                f.accesses.insert((*name).to_owned(), counts);
            }
        }
        vec![
            proposed(id, "t").0,
            by("ana", 5, granted(id)),
            started(id),
            end,
        ]
    };
    let mut log = Vec::new();
    log.extend(ended(&[("private", 3, 1), ("public", 2, 0)], None));
    log.extend(ended(
        &[("private", 1, 0), ("made up", 7, 7)],
        Some(LimitKind::Ticks),
    ));
    log.extend(ended(&[], Some(LimitKind::Wall)));
    log.extend(ended(&[], None));
    let all = stats(&log);
    assert_eq!((all.runs.ended, all.runs.counted), (4, 2));
    let limits = [("ticks", 1), ("wall", 1)];
    assert_eq!(all.runs.limits, limits.into_iter().collect());
    let scope = |runs, allowed, blocked| OfScope {
        runs,
        allowed,
        blocked,
    };
    let scopes = [("private", scope(2, 4, 1)), ("public", scope(1, 2, 0))];
    assert_eq!(all.runs.scopes, scopes.into_iter().collect());
    assert_eq!(all.agents[0].failed, 2);
}

#[test]
fn since_is_a_time_ago_or_a_day_and_its_error_says_so() {
    let now = at(1_000_000);
    let since = |text: &str| text.parse::<Since>().map(|since| since.at(now));
    let ago = |hours: i64| Ok(at(1_000_000 - 60 * hours));
    assert_eq!(since("12h"), ago(12));
    assert_eq!(since("7d"), ago(168));
    assert_eq!(since("2w"), ago(336));
    assert_eq!(since("90m"), Ok(at(999_910)));
    assert_eq!(since("60s"), Ok(at(999_999)));
    assert_eq!(since("1970-01-02T00:00:00Z"), Ok(at(24 * 60)));
    // Without a zone it is a time of here, of which nothing is left out.
    let midnight = since("1970-01-02").unwrap();
    for (text, minutes) in [("1970-01-02T06:30", 390), ("1970-01-02 14:00:00", 840)] {
        let later = since(text).unwrap().as_second() - midnight.as_second();
        assert_eq!(later, minutes * 60, "{text}");
    }
    for wrong in [
        "",
        "d",
        "7",
        "7 d",
        "yesterday",
        "-7d",
        "1.5h",
        "99999999999999999999d",
        "é",
    ] {
        let error = since(wrong).unwrap_err();
        assert!(
            error.contains("7d") && error.contains("2026-11-01"),
            "{wrong}"
        );
    }
    assert_eq!(since("18446744073709551s"), Ok(Timestamp::MIN));
}
