//! Questions and their answers, over one small log.

use std::collections::HashMap;

use jiff::SignedDuration;
use proptest::prelude::*;

use super::super::cases::Cases;
use super::super::samples;
use super::*;
use crate::model::{
    Artifact, BoundInput, Capability, CapabilityUse, Column, DataFormat, Digest, DrillEnd, Finding,
    InputKind, LimitKind, LogEvent, ProposalId, Reviewer, RunError, RunErrorKind, Sensitivity,
    State, Tier, Verdict, VerdictKind, Viewed,
};

#[path = "looked_tests.rs"]
mod looked;

fn now() -> Timestamp {
    "2026-11-26T12:00:00Z".parse().unwrap()
}

fn ago(hours: i64) -> Timestamp {
    now() - SignedDuration::from_hours(hours)
}

/// The cases of a log, and the texts of its codes.
struct Sample {
    cases: Cases,
    codes: HashMap<Digest, String>,
    seq: u64,
}

impl Texts for Sample {
    fn code(&self, case: &Case) -> Vec<String> {
        let edited = case.edited.as_ref().map(|edit| edit.digest);
        let codes = [Some(case.asked.digest), edited].into_iter().flatten();
        codes
            .filter_map(|code| self.codes.get(&code).cloned())
            .collect()
    }

    fn output(&self, case: &Case) -> Vec<String> {
        let printed = case.ran.iter().flat_map(|ran| &ran.printed);
        let printed = printed.filter_map(|digest| self.codes.get(digest));
        printed.map(|text| beginning(text.as_bytes())).collect()
    }
}

/// A proposal before it is proposed.
struct Draft {
    title: &'static str,
    agent: (u32, &'static str),
    code: &'static str,
    finding: Option<(&'static str, Capability)>,
    verdict: VerdictKind,
    data: Option<(&'static str, Sensitivity)>,
}

const PLAIN: Draft = Draft {
    title: "",
    agent: (1000, "etl-bot"),
    code: "print(1)\n",
    finding: None,
    verdict: VerdictKind::Clear,
    data: None,
};

fn judge(verdict: &mut Verdict, kind: VerdictKind, finding: Option<(&str, Capability)>) {
    verdict.verdict = kind;
    let Some((rule, capability)) = finding else {
        return;
    };
    verdict.findings = vec![Finding {
        rule: rule.to_owned(),
        capability: Some(capability),
        ..samples::finding()
    }];
    verdict.capabilities = vec![CapabilityUse {
        capability,
        lines: vec![1],
        detail: "d".to_owned(),
    }];
}

fn reviewer(login: &str) -> Reviewer {
    Reviewer {
        uid: 1001,
        login: Some(login.to_owned()),
        host: Some(format!("Desk-{login}")),
        ..Reviewer::default()
    }
}

fn look(ms: u64) -> Viewed {
    Viewed {
        selected_ms: ms,
        ..Viewed::default()
    }
}

impl Sample {
    fn write(&mut self, at: Timestamp, event: &LogEvent) {
        self.seq += 1;
        self.cases.learn(self.seq, at, event);
    }

    fn propose(&mut self, at: Timestamp, draft: &Draft) -> ProposalId {
        let id = ProposalId::new();
        let (mut event, _) = samples::proposed(id, draft.title);
        if let LogEvent::Proposed(p) = &mut event {
            p.digest = Digest::of(draft.code.as_bytes());
            p.peer.uid = draft.agent.0;
            if let Some(claim) = &mut p.agent {
                draft.agent.1.clone_into(&mut claim.name);
            }
            judge(&mut p.verdict, draft.verdict, draft.finding);
            if let Some((name, sensitivity)) = draft.data {
                p.inputs = vec![BoundInput {
                    name: name.to_owned(),
                    kind: InputKind::Dataset {
                        dataset: name.to_owned(),
                        format: DataFormat::Csv,
                        rows: 3,
                        columns: Vec::<Column>::new(),
                        sensitivity,
                        texts: Default::default(),
                        summary: None,
                    },
                    bytes: 1,
                    sha256: Digest::of(b"x"),
                }];
            }
            self.codes.insert(p.digest, draft.code.to_owned());
        }
        self.write(at, &event);
        id
    }

    fn grant(&mut self, at: Timestamp, id: ProposalId, code: &str, login: &str, ms: u64) {
        let mut event = samples::granted_as(id, code.as_bytes());
        if let LogEvent::Granted(g) = &mut event {
            (g.by, g.viewed) = (reviewer(login), look(ms));
            g.viewed.findings_shown = 1;
            g.tier = Tier::Kernel;
        }
        self.write(at, &event);
    }

    fn deny(&mut self, at: Timestamp, id: ProposalId, reason: &str, login: &str, ms: u64) {
        self.write(
            at,
            &LogEvent::Denied {
                id,
                reason: Some(reason.to_owned()),
                by: reviewer(login),
                viewed: look(ms),
            },
        );
    }

    /// The titles of what is found, in the order of proposals.
    fn found(&self, question: &str) -> String {
        let query = Query::parse(question, now()).unwrap_or_else(|e| panic!("{e}"));
        let found = self
            .cases
            .all
            .iter()
            .filter(|case| query.matches(case, self));
        found
            .filter_map(|case| case.asked.title.as_deref())
            .collect()
    }
}

const NET: Option<(&str, Capability)> = Some(("NET001", Capability::NetworkOut));

/// Proposals `a` to `i`; each title is one letter.
fn sample() -> Sample {
    let mut log = Sample {
        cases: Cases::default(),
        codes: HashMap::new(),
        seq: 0,
    };
    let seconds = SignedDuration::from_secs;
    // `a`: 30 days ago; ended by a limit, and left a figure.
    let limited = Draft {
        title: "a",
        finding: NET,
        verdict: VerdictKind::Flagged,
        code: "import requests\n",
        ..PLAIN
    };
    let id = log.propose(ago(720), &limited);
    log.grant(ago(720) + seconds(90), id, limited.code, "bo", 60_000);
    let (mut end, _) = samples::finished(id);
    if let LogEvent::Finished(f) = &mut end {
        (f.state, f.limit, f.duration_ms) = (State::Failed, Some(LimitKind::Wall), 300_000);
        f.artifacts = vec![Artifact {
            name: "out/fig1.png".to_owned(),
            media_type: "image/png".to_owned(),
            bytes: 1,
            sha256: "0".repeat(64),
        }];
    }
    log.write(ago(719), &end);
    // `b`: granted within three seconds, after a look of two.
    let hasty = Draft {
        title: "b",
        finding: NET,
        verdict: VerdictKind::Flagged,
        code: "df = pd.read_csv('x.csv')\n",
        ..PLAIN
    };
    let id = log.propose(ago(72), &hasty);
    log.grant(ago(72) + seconds(3), id, hasty.code, "ana", 2_000);
    log.write(ago(71), &samples::finished(id).0);
    // `c`: private data, denied.
    let staff = Some(("staff", Sensitivity::Private));
    let denied = Draft {
        title: "c",
        agent: (1000, "etl-bot-2"),
        data: staff,
        code: "print(staff.email)\n",
        ..PLAIN
    };
    let id = log.propose(ago(48), &denied);
    log.deny(ago(47), id, "why e-mail?", "ana", 4_000);
    // `d`: private data, edited and granted, failed.
    let changed = Draft {
        title: "d",
        agent: (1000, "hr-bot"),
        data: staff,
        code: "print(staff)\n",
        ..PLAIN
    };
    let id = log.propose(ago(40), &changed);
    let (mut edit, _) = samples::edited(id, changed.code.as_bytes(), b"print(len(staff))\n");
    if let LogEvent::Edited(e) = &mut edit {
        judge(
            &mut e.verdict,
            VerdictKind::Flagged,
            Some(("DYN001", Capability::DynamicCode)),
        );
    }
    log.codes.insert(
        Digest::of(b"print(len(staff))\n"),
        "print(len(staff))\n".to_owned(),
    );
    log.write(ago(40), &edit);
    log.grant(ago(39), id, "print(len(staff))\n", "bo", 9_000);
    let (mut end, _) = samples::finished(id);
    if let LogEvent::Finished(f) = &mut end {
        let printed = "Traceback: total 42\n";
        (f.stderr_sha256, f.stderr_bytes) = (Digest::of(printed.as_bytes()), 20);
        log.codes.insert(f.stderr_sha256, printed.to_owned());
        f.state = State::Failed;
        f.error = Some(RunError {
            kind: RunErrorKind::SnippetError,
            message: "m".to_owned(),
            line: None,
            exception: Some("ZeroDivisionError".to_owned()),
        });
    }
    log.write(ago(39), &end);
    // `e`: blocked. `f`: expired. `g`: withdrawn. `h`: waits.
    let sales = Some(("sales", Sensitivity::Public));
    let blocked = Draft {
        title: "e",
        agent: (2000, "hr-bot"),
        finding: Some(("IMPORT001", Capability::Exec)),
        verdict: VerdictKind::Blocked,
        ..PLAIN
    };
    let id = log.propose(ago(30), &blocked);
    log.write(ago(30), &LogEvent::Blocked { id });
    let plain = Draft {
        title: "f",
        agent: (2000, "loop-bot"),
        data: sales,
        ..PLAIN
    };
    let id = log.propose(ago(20), &plain);
    log.write(ago(19), &LogEvent::Expired { id });
    let id = log.propose(
        ago(10),
        &Draft {
            title: "g",
            ..plain
        },
    );
    log.write(
        ago(10),
        &LogEvent::Withdrawn {
            id,
            disconnected: false,
        },
    );
    log.propose(
        ago(1),
        &Draft {
            title: "h",
            ..plain
        },
    );
    // A drill.
    let (mut event, _) = samples::proposed_drill(ProposalId::new());
    let LogEvent::Proposed(p) = &mut event else {
        unreachable!("it is a proposal")
    };
    p.title = Some("i".to_owned());
    let id = p.id;
    log.write(ago(5), &event);
    log.write(ago(5), &samples::drilled(id, DrillEnd::Caught));
    log
}

#[test]
fn questions_have_their_answers() {
    let log = sample();
    for (question, answer) in [
        ("", "abcdefghi"),
        // What auditors ask.
        ("rule:NET* state:granted since:7d", "b"),
        ("cap:NETWORK_OUT state:granted since:7d", "b"),
        ("agent:hr-bot", "de"),
        ("state:granted took:<5s", "b"),
        ("state:granted look:<5s", "b"),
        ("by:ana", "bc"),
        ("by:1001 state:denied", "c"),
        ("state:denied data:staff private:yes", "c"),
        ("private:yes state:granted", "d"),
        ("private:no state:granted", "ab"),
        ("edited:yes", "d"),
        ("edited:yes rule:DYN001", "d"),
        ("verdict:flagged -edited:yes", "ab"),
        ("state:failed limit:wall", "a"),
        ("error:zerodivision*", "d"),
        ("error:SnippetError", "d"),
        ("file:*.png", "a"),
        ("ran:>=5m", "a"),
        ("reason:e-mail", "c"),
        ("reason:\"why e-mail\"", "c"),
        ("state:expired,withdrawn", "fg"),
        ("state:pending", "h"),
        ("uid:2000 verdict:blocked", "e"),
        ("since:24h", "fghi"),
        ("until:2026-11-01", "a"),
        ("since:2026-11-25 until:2026-11-26T06:00:00Z", "efg"),
        ("on:2026-11", "bcdefghi"),
        ("-on:2026-11", "a"),
        ("on:2026-11-25 -by:x", "ef"),
        ("on:2026 until:2026-11", "a"),
        ("drill:yes", "i"),
        ("-drill:yes since:8h", "h"),
        ("read_csv", "b"),
        ("\"pd.read_csv(\"", "b"),
        ("READ_*", "b"),
        ("\"read_csv pd\"", ""),
        ("ead_csv", ""),
        ("staff", "cd"),
        ("len(staff)", "d"),
        ("agent:etl*", "abci"),
        ("agent:etl-bot", "abi"),
        ("agent:ETL-BOT-?", "c"),
        ("NOT agent:etl* NOT state:pending", "defg"),
        ("state:denied AND by:ana AND staff", "c"),
        ("\"AND\"", ""),
        ("state:denied OR limit:wall", "ac"),
        ("(state:denied OR limit:wall) by:ana", "c"),
        ("-(state:denied OR state:granted) data:sales", "fgh"),
        ("profile:analysis title:A", "a"),
        ("title:\"*\"", ""),
        ("digest:sha256:0000", ""),
        ("tier:kernel", "abd"),
        ("-tier:kernel state:granted", ""),
        ("host:desk-ana", "bc"),
        ("host:DESK-*", "abcd"),
        ("output:\"total 42\"", "d"),
        ("output:TRACE*", "d"),
        ("output:otal", ""),
        ("traceback", ""),
        ("output:print", ""),
        ("shown:all verdict:flagged", "abd"),
        ("seq:1,4", "ab"),
        ("seq:3", "a"),
        ("seq:999", ""),
    ] {
        assert_eq!(log.found(question), answer, "{question}");
    }
    let some = &log.cases.all[3];
    let (id, code) = (some.id.to_string(), some.asked.digest.hex());
    assert_eq!(log.found(&format!("id:{id}")), "d");
    assert_eq!(log.found(&format!("id:{}", &id[24..])), "d");
    assert_eq!(log.found(&format!("digest:{}", &code[..9])), "d");
    let edited = Digest::of(b"print(len(staff))\n").to_string();
    assert_eq!(log.found(&format!("digest:{edited}")), "d");
}

#[test]
fn an_edit_that_was_not_granted_counts_for_nothing() {
    let mut log = sample();
    let id = log.propose(
        ago(1),
        &Draft {
            title: "j",
            ..PLAIN
        },
    );
    let (mut edit, _) = samples::edited(id, PLAIN.code.as_bytes(), b"import socket\n");
    if let LogEvent::Edited(e) = &mut edit {
        judge(&mut e.verdict, VerdictKind::Flagged, NET);
    }
    log.write(ago(1), &edit);
    assert_eq!(log.found("verdict:clear title:j"), "j");
    log.grant(ago(1), id, PLAIN.code, "bo", 1);
    assert_eq!(log.found("edited:no rule:NET* title:j"), "");
    assert_eq!(log.found("edited:no verdict:clear title:j"), "j");
}

#[test]
fn an_error_names_the_column_and_what_would_be_right() {
    for (question, column, length, words) in [
        ("state:denyed", 7, 6, "did you mean `denied`?"),
        ("by:ana stat:denied", 8, 4, "did you mean `state`?"),
        ("colour:red", 1, 6, "the keys are state, verdict"),
        ("state:", 1, 6, "a value is missing: state:denied"),
        (
            "state:denied,",
            13,
            1,
            "a value is missing after this comma",
        ),
        ("took:5s", 6, 2, "takes <, <=, > or >="),
        ("took:<5", 6, 2, "with ms, s, m, h or d"),
        ("since:soon", 7, 4, "such as 90s, 30m"),
        ("on:7d", 4, 2, "`on` takes a day, a month or a year"),
        (
            "since:2026-11-05 until:2026-11-05",
            18,
            6,
            "on:2026-11-30 is a whole day",
        ),
        (
            "by:ana on:2026-11 until:2026-10",
            19,
            6,
            "no time lies between",
        ),
        ("private:maybe", 9, 5, "takes yes or no"),
        ("cap:NETWORK", 5, 7, "did you mean `NETWORK_OUT`?"),
        ("limit:time", 7, 4, "one of wall, cpu"),
        ("tier:kernal", 6, 6, "did you mean `kernel`?"),
        ("shown:most", 7, 4, "one of all, some, none"),
        ("by:ana seq:x", 12, 1, "the number of a record"),
        ("seq:0", 5, 1, "the number of a record"),
        ("output:\"--\"", 8, 4, "no word in it"),
        ("output:", 1, 7, "a value is missing: output:"),
        ("id:xyz", 4, 3, "hexadecimal digits"),
        ("uid:ana", 5, 3, "a uid is a number"),
        ("title:\"head", 7, 5, "quotation mark"),
        ("(state:denied", 1, 1, "not closed"),
        ("\"é\" state:x", 11, 1, "there is no state"),
        ("a OR", 3, 2, "OR stands between two terms"),
        ("OR a", 1, 2, "OR stands between two terms"),
        ("a )", 3, 1, "no bracket was opened"),
        ("- a", 1, 1, "no word in it"),
        ("NOT", 4, 1, "a term is missing"),
    ] {
        let error = Query::parse(question, now()).expect_err(question);
        assert_eq!((error.column, error.length), (column, length), "{error}");
        assert!(error.what.contains(words), "{error}");
    }
    let error = Query::parse("by:ana stat:denied", now()).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("column 8: there is no key `stat`")
    );
    assert_eq!(error.marked(), ["by:ana stat:denied", "       ^^^^"]);
}

#[test]
fn every_key_has_one_name_and_an_example_that_is_read() {
    let mut names: Vec<_> = KEYS.iter().map(|entry| entry.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), KEYS.len());
    for entry in &KEYS {
        assert_eq!(entry.key.name(), entry.name);
        assert!(entry.example.starts_with(&format!("{}:", entry.name)));
        Query::parse(entry.example, now()).unwrap_or_else(|e| panic!("{e}"));
    }
}

proptest! {
    #[test]
    fn any_text_is_a_question_or_an_error_with_a_place(text in any::<String>()) {
        if let Err(error) = Query::parse(&text, now()) {
            prop_assert!((1..=text.chars().count() + 1).contains(&error.column), "{}", error);
            let _ = error.to_string();
        }
    }

    #[test]
    fn pieces_of_the_language_are_a_question_or_an_error(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "state:", "denied", ",", "(", ")", "\"", "-", " ", "OR", "NOT", "took:", "<5s", "x*",
                "agent:", "since:7d", ":", "\\",
            ]),
            0..40,
        ),
    ) {
        let text = pieces.concat();
        let log = sample();
        match Query::parse(&text, now()) {
            Ok(query) => drop(log.cases.all.iter().filter(|case| query.matches(case, &log)).count()),
            Err(error) => {
                prop_assert!((1..=text.chars().count() + 1).contains(&error.column), "{}", error);
            }
        }
    }
}

#[test]
fn too_many_brackets_are_refused() {
    for deep in [
        "(".repeat(10_000),
        "-".repeat(10_000),
        "NOT ".repeat(10_000),
    ] {
        let error = Query::parse(&format!("{deep}a"), now()).unwrap_err();
        assert!(error.what.contains("too many"), "{}", error.what);
    }
}

#[test]
fn a_question_names_its_own_limit() {
    let many = |terms: usize| vec!["state:denied"; terms].join(" OR ");
    assert!(Query::parse(&many(500), now()).is_ok());
    for question in [many(501), format!("agent:{}", vec!["a"; 501].join(","))] {
        let error = Query::parse(&question, now()).unwrap_err();
        assert!(error.what.contains("at most 500 terms"), "{error}");
    }
}

#[test]
fn a_word_that_is_a_state_or_a_verdict_comes_with_a_hint() {
    let hint = |question: &str| Query::parse(question, now()).unwrap().hint();
    for (question, says) in [
        ("denied", "state:denied asks for the state"),
        (
            "agent:x -(Flagged OR y)",
            "verdict:flagged asks for the verdict",
        ),
        ("granted by:ana", "state:granted asks for the state"),
    ] {
        let said = hint(question).unwrap_or_default();
        assert!(said.contains(says), "{question}: {said}");
    }
    for question in ["", "state:denied", "read_csv", "\"was denied\""] {
        assert_eq!(hint(question), None, "{question}");
    }
}
