//! Questions about what was seen and printed, and those that are to last.

use super::*;

/// What stood on the screen of who denied: a grant needs all of it.
#[test]
fn decisions_are_found_by_how_many_findings_the_person_saw() {
    let mut log = sample();
    let flagged = Draft {
        title: "j",
        finding: NET,
        verdict: VerdictKind::Flagged,
        ..PLAIN
    };
    let id = log.propose(ago(1), &flagged);
    log.deny(ago(1), id, "no", "ana", 900);
    assert_eq!(log.found("shown:none"), "j");
    assert_eq!(log.found("shown:all state:denied"), "c");
    let id = log.propose(
        ago(1),
        &Draft {
            title: "k",
            ..flagged
        },
    );
    let judged = &mut log.cases.all.last_mut().unwrap().asked.judged;
    judged.findings = 3;
    let viewed = Viewed {
        findings_shown: 2,
        ..look(900)
    };
    let denied = LogEvent::Denied {
        id,
        reason: None,
        by: reviewer("ana"),
        viewed,
    };
    log.write(ago(1), &denied);
    assert_eq!(log.found("shown:some"), "k");
    assert_eq!(log.found("shown:all,some,none"), "abcdijk");
}

/// A legal hold that goes along with the clock would hold nothing some day.
#[test]
fn a_question_that_is_to_last_takes_no_time_before_now() {
    for (question, column) in [("since:1s", 7), ("state:denied until:4w", 20)] {
        assert!(Query::parse(question, now()).is_ok());
        let error = Query::parse_lasting(question).expect_err(question);
        assert_eq!(error.column, column, "{error}");
        assert!(error.what.contains("such as 2026-11-01"), "{error}");
    }
    let lasting = "since:2026-11-01 until:2026-11-12T14:00 took:<5s by:ana";
    let same = Query::parse(lasting, now()).unwrap();
    assert_eq!(Query::parse_lasting(lasting).unwrap(), same);
}

#[test]
fn only_the_beginning_of_an_output_is_looked_at() {
    let mut log = sample();
    let all = |log: &mut Sample, text: String| {
        let ran = log.cases.all[3].ran.as_ref().unwrap();
        let digest = *ran.printed.last().unwrap();
        log.codes.insert(digest, text);
    };
    all(&mut log, format!("{} needle", "x".repeat(OUTPUT - 10)));
    assert_eq!(log.found("output:needle"), "d");
    all(&mut log, format!("{} needle", "x".repeat(OUTPUT)));
    assert_eq!(log.found("output:needle"), "");
}

#[test]
fn decisions_are_neighbours_only_where_reviewer_and_time_select_them() {
    let keeps = |question: &str| Query::parse(question, now()).unwrap().keeps_rows();
    for question in [
        "",
        "since:7d",
        "by:ana",
        "-by:ana until:1d",
        "by:ana,bo since:2d",
    ] {
        assert!(keeps(question), "{question}");
    }
    for question in [
        "state:granted",
        "by:ana verdict:flagged",
        "since:7d OR by:ana",
        "-since:7d",
        "read_csv",
        "agent:x",
    ] {
        assert!(!keeps(question), "{question}");
    }
    assert!(!Query::default().since(now()).is_empty());
    assert!(Query::default().since(now()).keeps_rows());
}

#[test]
fn records_of_no_proposal_are_asked_for_alone_and_select_no_proposal() {
    let own = |question: &str| Query::parse(question, now()).map(|query| query.own());
    for question in [
        "kind:own",
        "kind:opened,closed since:7d",
        "until:1d kind:removed",
    ] {
        assert!(own(question).unwrap().is_some(), "{question}");
        assert_eq!(sample().found(question), "", "{question}");
    }
    assert_eq!(own("state:denied since:7d").unwrap(), None);
    for (question, what) in [
        ("kind:opened agent:x", "only since:, until: and one on:"),
        ("-kind:opened", "only since:, until: and one on:"),
        ("kind:proposed", "`kind` takes one of own, removed"),
    ] {
        let error = own(question).unwrap_err();
        assert!(error.what.contains(what), "{question}: {error}");
    }
    let hold = Query::parse_lasting("kind:own").unwrap_err();
    assert!(hold.what.contains("about proposals"), "{hold}");
}
