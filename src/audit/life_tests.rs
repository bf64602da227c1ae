use super::super::samples::{
    CODE, EDITED, drilled, edited, finished, granted, granted_as, proposed, proposed_drill, started,
};
use super::*;
use crate::broker::tests::random_logs;
use crate::model::{DrillEnd, LogEvent, Reviewer, VerdictKind, Viewed};

/// The first impossible record, and why it is impossible.
fn first_impossible(log: &[LogEvent]) -> Option<(usize, String)> {
    let mut lives = Lives::default();
    let mut each = log.iter().enumerate();
    each.find_map(|(at, event)| lives.step(event).err().map(|why| (at, why)))
}

/// The records that the next start adds to the log of a killed dashboard.
fn closings(log: &[LogEvent]) -> Vec<LogEvent> {
    let mut lives = Lives::default();
    for event in log {
        lives.step(event).unwrap();
    }
    let open = lives.open().into_iter();
    open.map(|(id, state)| match state {
        State::Pending => LogEvent::Unattended { id },
        _ => error(id),
    })
    .collect()
}

fn error(id: ProposalId) -> LogEvent {
    LogEvent::Failed {
        id,
        state: State::Error,
        message: "x".to_owned(),
    }
}

fn stopped(id: ProposalId) -> LogEvent {
    LogEvent::Failed {
        id,
        state: State::Failed,
        message: "x".to_owned(),
    }
}

fn denied(id: ProposalId) -> LogEvent {
    LogEvent::Denied {
        id,
        reason: None,
        by: Reviewer::default(),
        viewed: Viewed::default(),
    }
}

fn replicated(id: ProposalId) -> LogEvent {
    LogEvent::Replicated {
        id,
        digest: crate::model::Digest::of(b""),
        by: Reviewer::default(),
    }
}

fn killed(id: ProposalId) -> LogEvent {
    LogEvent::Killed { id, by: None }
}

fn judged(id: ProposalId, kind: VerdictKind) -> LogEvent {
    let (mut event, _) = proposed(id, "t");
    if let LogEvent::Proposed(p) = &mut event {
        p.verdict.verdict = kind;
    }
    event
}

/// A person's edit with this verdict.
fn edits(id: ProposalId, from: &[u8], to: &[u8], kind: VerdictKind) -> LogEvent {
    let (mut event, _) = edited(id, from, to);
    if let LogEvent::Edited(e) = &mut event {
        e.verdict.verdict = kind;
    }
    event
}

fn ended(id: ProposalId, state: State, unkept: bool) -> LogEvent {
    let (mut event, _) = finished(id);
    if let LogEvent::Finished(f) = &mut event {
        f.state = state;
        if state == State::Failed {
            f.exit = crate::model::Exit::Code(1);
        }
        f.unkept = unkept.then(|| "no room".to_owned());
    }
    event
}

#[test]
fn everything_the_broker_records_is_a_valid_life() {
    let (mut records, mut closed) = (0, 0);
    for log in random_logs(150) {
        assert_eq!(first_impossible(&log), None, "{log:#?}");
        records += log.len();
        // The dashboard may be killed after any record.
        for cut in [log.len() / 3, log.len() / 2, log.len() * 3 / 4] {
            let mut log = log[..cut].to_vec();
            let closing = closings(&log);
            closed += closing.len();
            log.extend(closing);
            assert_eq!(first_impossible(&log), None, "{log:#?}");
            assert_eq!(closings(&log), [], "no proposal is open");
        }
    }
    assert!(records > 2_000 && closed > 100, "{records} {closed}");
}

#[test]
fn every_possible_course_of_a_proposal_is_a_valid_life() {
    let id = ProposalId::new();
    let p = || proposed(id, "t").0;
    let blocks = || judged(id, VerdictKind::Blocked);
    let unparsable = || judged(id, VerdictKind::Unanalyzable);
    let flagged = || judged(id, VerdictKind::Flagged);
    let withdrawn = LogEvent::Withdrawn {
        id,
        disconnected: true,
    };
    let edit = || edits(id, CODE, EDITED, VerdictKind::Clear);
    let worse = || edits(id, CODE, EDITED, VerdictKind::Blocked);
    let back = || edits(id, EDITED, CODE, VerdictKind::Clear);
    let worse_after = || edits(id, EDITED, CODE, VerdictKind::Blocked);
    let drill = || proposed_drill(id).0;
    for log in [
        vec![p()],
        vec![blocks(), LogEvent::Blocked { id }],
        vec![unparsable(), LogEvent::Blocked { id }],
        // Withdrawn or expired before the verdict that blocks it was durable.
        vec![blocks(), LogEvent::Expired { id }],
        vec![blocks(), withdrawn.clone()],
        vec![blocks(), LogEvent::Unattended { id }],
        vec![p(), denied(id)],
        vec![p(), LogEvent::Expired { id }],
        vec![p(), withdrawn.clone()],
        vec![p(), LogEvent::Unattended { id }],
        vec![p(), error(id)],
        vec![flagged(), granted(id), started(id), finished(id).0],
        vec![p(), granted(id), LogEvent::Expired { id }],
        vec![p(), granted(id), error(id)],
        vec![p(), granted(id), killed(id), stopped(id)],
        vec![p(), granted(id), killed(id), error(id)],
        vec![p(), granted(id), started(id), LogEvent::Expired { id }],
        vec![p(), granted(id), started(id), error(id)],
        vec![p(), granted(id), started(id), killed(id), error(id)],
        vec![p(), granted(id), started(id), killed(id), stopped(id)],
        vec![
            p(),
            granted(id),
            started(id),
            killed(id),
            ended(id, State::Failed, false),
        ],
        vec![p(), granted(id), started(id), ended(id, State::Error, true)],
        vec![
            p(),
            granted(id),
            started(id),
            finished(id).0,
            replicated(id),
            replicated(id),
        ],
        vec![p(), edit(), granted_as(id, EDITED), started(id)],
        vec![p(), edit(), back(), granted(id), started(id)],
        vec![p(), edit(), denied(id)],
        vec![p(), edit(), LogEvent::Expired { id }],
        vec![p(), edit(), withdrawn.clone()],
        vec![p(), edit(), LogEvent::Unattended { id }],
        vec![p(), edit(), error(id)],
        // Only an edit waits although its verdict blocks.
        vec![p(), worse(), denied(id)],
        vec![p(), worse(), back(), granted(id)],
        vec![drill(), drilled(id, DrillEnd::Caught)],
        vec![drill(), drilled(id, DrillEnd::Granted)],
        vec![
            drill(),
            edit(),
            worse_after(),
            drilled(id, DrillEnd::Caught),
        ],
        vec![drill(), LogEvent::Unattended { id }],
        vec![drill(), edit(), LogEvent::Unattended { id }],
    ] {
        assert_eq!(first_impossible(&log), None, "{log:#?}");
    }
}

#[test]
fn each_kind_of_impossible_life_is_reported() {
    let id = ProposalId::new();
    let p = || proposed(id, "t").0;
    let ran = || vec![p(), granted(id), started(id), finished(id).0];
    let after = |mut log: Vec<LogEvent>, event| {
        log.push(event);
        log
    };
    let edit = || edits(id, CODE, EDITED, VerdictKind::Clear);
    let drill = || proposed_drill(id).0;
    let for_another = |change: fn(&mut crate::model::GrantedLog)| {
        let mut event = granted(id);
        if let LogEvent::Granted(g) = &mut event {
            change(g);
        }
        vec![p(), event]
    };
    let ends = |change: fn(&mut FinishedLog)| {
        let (mut event, _) = finished(id);
        if let LogEvent::Finished(f) = &mut event {
            change(f);
        }
        vec![p(), granted(id), started(id), event]
    };
    for (log, why) in [
        (
            for_another(|g| g.digest = Digest::of(b"other")),
            "other code or another policy",
        ),
        (
            for_another(|g| g.policy_sha256 = "1".repeat(64)),
            "other code or another policy",
        ),
        (
            for_another(|g| g.profile = "script".to_owned()),
            "other code or another policy",
        ),
        (
            ends(|f| f.exit = Exit::Code(1)),
            "cannot leave a proposal succeeded",
        ),
        (
            ends(|f| f.limit = Some(crate::model::LimitKind::Memory)),
            "cannot leave a proposal succeeded",
        ),
        (
            ends(|f| f.state = State::Failed),
            "cannot leave a proposal failed",
        ),
        (
            vec![p(), edit(), granted(id)],
            "other code or another policy",
        ),
        (
            vec![p(), granted_as(id, EDITED)],
            "other code or another policy",
        ),
        (
            vec![p(), edit(), edit()],
            "`edited` names other code than there was to edit",
        ),
        (
            vec![edit()],
            "`edited` of a proposal that was never proposed",
        ),
        (
            vec![p(), granted(id), edit()],
            "`edited` of a proposal that was granted",
        ),
        (
            vec![p(), denied(id), edit()],
            "`edited` of a proposal that was denied",
        ),
        (
            vec![judged(id, VerdictKind::Blocked), edit()],
            "its verdict blocks",
        ),
        (
            vec![
                p(),
                edits(id, CODE, EDITED, VerdictKind::Blocked),
                granted_as(id, EDITED),
            ],
            "its verdict blocks",
        ),
        (
            vec![
                p(),
                edits(id, CODE, EDITED, VerdictKind::Blocked),
                LogEvent::Blocked { id },
            ],
            "`blocked` of a proposal that its verdict blocks",
        ),
        (
            vec![drill(), granted(id)],
            "`granted` of a proposal that is a drill",
        ),
        (
            vec![drill(), edit(), granted_as(id, EDITED)],
            "`granted` of a proposal that is a drill",
        ),
        (
            vec![drill(), denied(id)],
            "`denied` of a proposal that is a drill",
        ),
        (
            vec![drill(), started(id)],
            "`started` of a proposal that is a drill",
        ),
        (
            vec![drill(), LogEvent::Expired { id }],
            "`expired` of a proposal that is a drill",
        ),
        (
            vec![drill(), drilled(id, DrillEnd::Granted), granted(id)],
            "`granted` of a proposal that was a drill",
        ),
        (
            vec![p(), drilled(id, DrillEnd::Granted)],
            "`drilled` of a proposal that waits",
        ),
        (
            vec![p(), granted(id), drilled(id, DrillEnd::Granted)],
            "`drilled` of a proposal that was granted",
        ),
        (
            vec![p(), edit(), drilled(id, DrillEnd::Caught)],
            "`drilled` of a proposal that waits",
        ),
        (
            vec![granted(id)],
            "`granted` of a proposal that was never proposed",
        ),
        (
            vec![finished(id).0],
            "`finished` of a proposal that was never",
        ),
        (vec![replicated(id)], "never proposed"),
        (vec![p(), p()], "`proposed` of a proposal that waits"),
        (
            after(ran(), p()),
            "`proposed` of a proposal that had succeeded",
        ),
        (vec![p(), started(id)], "`started` of a proposal that waits"),
        (
            vec![p(), finished(id).0],
            "`finished` of a proposal that waits",
        ),
        (
            vec![p(), granted(id), finished(id).0],
            "was granted and not started",
        ),
        (
            vec![p(), granted(id), granted(id)],
            "`granted` of a proposal that was granted",
        ),
        (
            vec![p(), granted(id), started(id), granted(id)],
            "was started",
        ),
        (
            vec![p(), granted(id), started(id), started(id)],
            "was started",
        ),
        (
            vec![p(), granted(id), denied(id)],
            "`denied` of a proposal that was granted",
        ),
        (
            vec![p(), denied(id), granted(id)],
            "`granted` of a proposal that was denied",
        ),
        (
            vec![p(), LogEvent::Expired { id }, granted(id)],
            "had expired",
        ),
        (
            vec![p(), LogEvent::Unattended { id }, denied(id)],
            "ended unattended",
        ),
        (
            after(ran(), granted(id)),
            "`granted` of a proposal that had succeeded",
        ),
        (
            after(ran(), finished(id).0),
            "`finished` of a proposal that had succeeded",
        ),
        (
            after(ran(), error(id)),
            "`failed` of a proposal that had succeeded",
        ),
        (
            after(ran(), killed(id)),
            "`killed` of a proposal that had succeeded",
        ),
        (vec![p(), killed(id)], "`killed` of a proposal that waits"),
        (
            vec![p(), granted(id), killed(id), started(id)],
            "killed before it was started",
        ),
        (
            vec![p(), granted(id), killed(id), finished(id).0],
            "killed before it was started",
        ),
        (
            vec![p(), granted(id), started(id), stopped(id)],
            "`failed` of a proposal that was started",
        ),
        (vec![p(), stopped(id)], "`failed` of a proposal that waits"),
        (
            vec![p(), LogEvent::Blocked { id }],
            "`blocked` of a proposal that waits",
        ),
        (
            vec![p(), error(id), replicated(id)],
            "had ended with an error",
        ),
        (
            vec![judged(id, VerdictKind::Blocked), granted(id)],
            "its verdict blocks",
        ),
        (
            vec![judged(id, VerdictKind::Unanalyzable), denied(id)],
            "its verdict blocks",
        ),
        (
            vec![
                p(),
                granted(id),
                started(id),
                ended(id, State::Denied, false),
            ],
            "`finished` cannot leave a proposal denied",
        ),
        (
            vec![
                p(),
                granted(id),
                started(id),
                ended(id, State::Succeeded, true),
            ],
            "`finished` cannot leave a proposal succeeded",
        ),
        (
            vec![
                p(),
                granted(id),
                started(id),
                ended(id, State::Running, false),
            ],
            "cannot leave a proposal running",
        ),
    ] {
        let (at, error) = first_impossible(&log).unwrap_or_else(|| panic!("{why}: {log:#?}"));
        assert_eq!(at + 1, log.len(), "{error}");
        assert!(error.contains(why), "{error} is not {why}");
        // Records of another proposal do not change the result.
        let other = ProposalId::new();
        let mut with_other = log.clone();
        with_other.insert(0, proposed(other, "t").0);
        with_other.insert(log.len(), granted(other));
        assert_eq!(
            first_impossible(&with_other).map(|(at, _)| at),
            Some(log.len() + 1)
        );
    }
}

/// Removes one record of a random log. Skips the cases in which the rest is a possible life by itself.
#[test]
fn a_record_removed_from_a_life_is_found() {
    let mut all = 0;
    for log in random_logs(30) {
        for (at, event) in log.iter().enumerate() {
            // Without its last record, or without a kill, a life is still possible.
            let later = log[at + 1..].iter().any(|e| e.id() == event.id());
            if event.id().is_none() || !later || matches!(event, LogEvent::Killed { .. }) {
                continue;
            }
            let mut without = log.clone();
            without.remove(at);
            let after: Vec<&str> = log[at + 1..]
                .iter()
                .filter(|e| e.id() == event.id())
                .map(LogEvent::kind)
                .collect();
            // A child that was held and never released leaves the same records as one that was never made.
            if matches!(event, LogEvent::Started { .. }) && after[0] != "finished" {
                continue;
            }
            if matches!(event, LogEvent::Granted(_)) && matches!(after[0], "failed" | "expired") {
                continue;
            }
            // An edit that was not granted leaves no other trace.
            if matches!(event, LogEvent::Edited(_)) && !matches!(after[0], "edited" | "granted") {
                continue;
            }
            assert!(
                first_impossible(&without).is_some(),
                "{event:?} before {after:?}"
            );
            all += 1;
        }
    }
    assert!(all > 100, "{all}");
}

/// After retention removed the beginning of a life, the rest is judged by itself.
#[test]
fn a_life_whose_beginning_was_removed_may_begin_anywhere() {
    let id = ProposalId::new();
    let whole = [
        proposed(id, "t").0,
        granted(id),
        started(id),
        killed(id),
        stopped(id),
    ];
    for from in 1..whole.len() {
        let mut lives = Lives::default();
        lives.begins_later();
        for event in &whole[from..] {
            lives.step(event).unwrap();
        }
        assert!(lives.step(&granted(id)).is_err());
        assert!(lives.step(&whole[0]).is_err());
    }
    let mut lives = Lives::default();
    lives.begins_later();
    lives.step(&replicated(id)).unwrap();
    lives.step(&finished(ProposalId::new()).0).unwrap();
    let id = ProposalId::new();
    lives
        .step(&edits(id, CODE, EDITED, VerdictKind::Clear))
        .unwrap();
    lives.step(&drilled(id, DrillEnd::Caught)).unwrap();
    lives
        .step(&drilled(ProposalId::new(), DrillEnd::Caught))
        .unwrap();
}

#[test]
fn each_bad_record_is_reported_once() {
    let id = ProposalId::new();
    let mut lives = Lives::default();
    for event in [granted(id), started(id), finished(id).0] {
        let is_impossible = lives.step(&event).is_err();
        assert_eq!(is_impossible, matches!(event, LogEvent::Granted(_)));
    }
}
