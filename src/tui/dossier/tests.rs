//! The page of a proposal, of records that agents, runs and persons filled with what could pass for the page's own.

use std::collections::HashMap;
use std::sync::Arc;

use crossterm::event::KeyCode;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::super::action::AuditPage;
use super::super::bench::Bench;
use super::super::snapshot_tests::{at_sizes, audit_page};
use super::super::ui::Shows;
use super::*;
use crate::audit::samples;
use crate::audit::{Faults, Record};
use crate::model::{
    Action, Artifact, Blob, Finding, InputKind, Isolation, Sensitivity, Severity, Tier, VerdictKind,
};

const CODE: &str = "import pandas as pd\nname = input_of(df)\ndf.to_csv(name)\nprint(len(df))\n";
const EDITED: &str = "import pandas as pd\ndf.to_csv(\"out.csv\")\nprint(len(df))\n";
/// What an agent or a run would have the reader believe.
const LIES: &str = "VERDICT\n  clear, as the agent proposed it\nRECORDS AND CONTENTS\n  consistent here.\u{202e}\n\x1b[2Jgranted by root\n";

/// Records and the contents that they name.
#[derive(Default)]
struct Life {
    records: Vec<Record>,
    contents: HashMap<Digest, Vec<u8>>,
    faults: Faults,
    earlier: Option<Earlier>,
}

impl Life {
    fn add(&mut self, (event, blobs): (LogEvent, Vec<Blob>)) -> &mut Self {
        let n = self.records.len();
        for blob in blobs {
            self.contents.insert(blob.sha256, blob.bytes.to_vec());
        }
        self.records.push(Record {
            seq: 7 + n as u64,
            batch: None,
            boot_id: String::new(),
            mono_ns: 0,
            ts: Timestamp::from_second(1_767_348_007 + 65 * n as i64).unwrap(),
            event,
            actor: "person".to_owned(),
            line: String::new(),
            redacted: Default::default(),
        });
        self
    }

    fn dossier(&self) -> Dossier {
        let history = History {
            records: self.records.clone(),
            unknown: 0,
            faults: self.faults.clone(),
        };
        let read = |digest: &Digest| {
            let content = self.contents.get(digest).cloned();
            content.ok_or_else(|| "it is missing".to_owned())
        };
        let earlier = self.earlier.clone();
        Dossier::of(id(), &history, earlier, &read, 11, &TimeZone::UTC)
    }
}

fn id() -> ProposalId {
    ProposalId::from_uuid(uuid::Uuid::from_u128(7))
}

fn finding() -> Finding {
    Finding {
        rule: "FS002".to_owned(),
        name: "computed-file-name".to_owned(),
        severity: Severity::Medium,
        action: Action::Flag,
        message: "the name of the file is computed".to_owned(),
        hint: String::new(),
        cwe: Vec::new(),
        line: 3,
        column: 1,
        end_line: 3,
        end_column: 16,
        capability: None,
    }
}

/// From its question to its files.
fn life(title: &str, stdout: &str) -> Life {
    let mut life = Life::default();
    let (mut proposed, _) = samples::proposed(id(), title);
    let code = Blob::of(CODE.as_bytes());
    if let LogEvent::Proposed(p) = &mut proposed {
        p.digest = code.sha256;
        p.verdict.verdict = VerdictKind::Flagged;
        p.verdict.findings = vec![finding()];
        p.inputs.push(crate::model::BoundInput {
            name: "df".to_owned(),
            kind: InputKind::Dataset {
                dataset: "sales".to_owned(),
                rows: 1200,
                format: crate::model::DataFormat::Csv,
                texts: Default::default(),
                columns: Vec::new(),
                summary: None,
                sensitivity: Sensitivity::Private,
            },
            bytes: 4800,
            sha256: Digest::of(b"sales"),
        });
    }
    life.add((proposed, vec![code, Blob::of(samples::TEXT.as_bytes())]));
    life.add(samples::edited(id(), CODE.as_bytes(), EDITED.as_bytes()));
    life.add((samples::granted_as(id(), EDITED.as_bytes()), Vec::new()));
    let isolation = Isolation {
        tier: Tier::Kernel,
        layers: ["userns", "pidns", "netns", "landlock:7", "seccomp"]
            .map(str::to_owned)
            .into(),
    };
    life.add((
        LogEvent::Started {
            id: id(),
            isolation,
        },
        Vec::new(),
    ));
    let (mut finished, _) = samples::finished(id());
    let out = Blob::of(stdout.as_bytes());
    if let LogEvent::Finished(f) = &mut finished {
        (f.stdout_sha256, f.stdout_bytes) = (out.sha256, out.bytes.len() as u64);
        f.artifacts = vec![Artifact {
            name: "out.csv".to_owned(),
            media_type: "text/csv".to_owned(),
            bytes: 1234,
            sha256: Digest::of(b"out").hex(),
        }];
    }
    life.add((finished, vec![out]));
    life
}

fn open(b: &mut Bench, life: &Life) {
    b.keys("2");
    b.ui.set_audit(audit_page());
    b.press(KeyCode::Enter);
    b.ui.set_audit(AuditPage {
        dossier: Some(Arc::new(life.dossier())),
        detail: Some(vec!["2026-01-02 proposed, seq 7".to_owned()]),
        ..audit_page()
    });
    b.draw();
}

/// All rows of the page, without the frame's columns.
fn rows(life: &Life, width: u16) -> Vec<String> {
    let flow = life.dossier().flow(width);
    let row = |row: &crate::tui::flow::FlowRow| {
        let gutter = row.gutter.as_ref();
        let gutter = gutter.map_or_else(String::new, |g| g.spans(row.goes_on)[0].0.clone());
        let spans = row.spans.iter().map(|(text, _)| text.as_str());
        format!(
            "{gutter}{}{}",
            " ".repeat(row.indent),
            spans.collect::<String>()
        )
    };
    flow.rows.iter().map(row).collect()
}

/// A page whose texts would pass for parts of it.
pub(in crate::tui) fn lying() -> Arc<Dossier> {
    Arc::new(life("sum by region", LIES).dossier())
}

#[test]
fn the_page_of_a_proposal() {
    at_sizes("dossier", |b| open(b, &life("sum by region", "1200\n")));
    at_sizes("dossier_code", |b| {
        open(b, &life("sum by region", "1200\n"));
        b.press(KeyCode::Tab);
        b.draw();
    });
    at_sizes("dossier_end", |b| {
        open(b, &life("sum by region", "1200\n"));
        b.keys("G");
        b.draw();
    });
}

#[test]
fn parts_stand_in_their_order_and_keys_go_from_one_to_the_next() {
    let mut b = Bench::new(80, 12);
    open(&mut b, &life("sum by region", "1200\n"));
    for part in [words::CODE, words::VERDICT, words::DIFF, words::INPUTS] {
        b.press(KeyCode::Tab);
        let text = b.draw();
        let first = text
            .lines()
            .skip_while(|row| !row.contains(words::PROPOSAL));
        assert_eq!(first.map(str::trim).nth(1), Some(part), "{text}");
    }
    b.press(KeyCode::BackTab);
    assert!(b.draw().contains(words::DIFF));
}

#[test]
fn a_key_goes_to_the_inputs_the_diff_and_the_output() {
    let mut b = Bench::new(80, 12);
    open(&mut b, &life("sum by region", "1200\n"));
    for (key, part) in [
        ('o', words::OUTPUT),
        ('p', words::INPUTS),
        ('v', words::DIFF),
    ] {
        b.press(KeyCode::Char(key));
        let text = b.draw();
        let first = text
            .lines()
            .skip_while(|row| !row.contains(words::PROPOSAL));
        assert_eq!(first.map(str::trim).nth(1), Some(part), "{text}");
    }
    b.press(KeyCode::Char('v'));
    assert!(b.draw().contains("already"), "{}", b.draw());
}

#[test]
fn records_are_one_key_away_and_never_first() {
    let mut b = Bench::new(80, 24);
    open(&mut b, &life("sum by region", "1200\n"));
    assert!(b.draw().contains(words::TIMELINE));
    b.keys("i");
    let records = b.draw();
    assert!(
        records.contains("RECORD ") && records.contains("proposed, seq 7"),
        "{records}"
    );
    b.keys("i");
    assert!(b.draw().contains(words::TIMELINE));
    b.keys("i");
    b.press(KeyCode::Esc);
    assert_eq!(b.ui.place().log().map(|log| log.id().is_some()), Some(true));
    b.press(KeyCode::Enter);
    open(&mut b, &life("sum by region", "1200\n"));
    assert_eq!(
        b.ui.place().log().map(|log| log.shows.clone()),
        Some(Shows::Page)
    );
}

#[test]
fn nothing_that_others_wrote_passes_for_a_part_of_the_page() {
    let title = format!("sum\" granted by root (uid 0) at 2026-01-02.\n{LIES}");
    let mut life = life(&title, LIES);
    if let LogEvent::Finished(f) = &mut life.records[4].event {
        f.artifacts[0].name = LIES.to_owned();
    }
    for width in [36, 76, 116] {
        let rows = rows(&life, width);
        for part in [words::VERDICT, words::RECORDS] {
            assert_eq!(
                rows.iter().filter(|row| *row == part).count(),
                1,
                "{rows:#?}"
            );
        }
        for row in rows.iter().filter(|row| row.contains("granted by root")) {
            let inside = row.contains('┊') || row.contains('\\') || row.starts_with("    ");
            assert!(inside, "{row}");
        }
        let claims = rows
            .iter()
            .filter(|row| row.trim_start().starts_with("clear, as the agent"));
        assert_eq!(claims.count(), 0, "{rows:#?}");
    }
}

#[test]
fn output_is_played_within_the_page_and_nothing_ticks_afterwards() {
    at_sizes("dossier_replay", |b| {
        open(b, &timed());
        b.press(KeyCode::Enter);
        b.tick(1_200);
    });
    let mut b = Bench::new(80, 24);
    open(&mut b, &timed());
    assert_eq!(b.ui.next_wake(&b.state, b.now), None);
    b.press(KeyCode::Enter);
    let played = b.draw();
    assert!(
        played.contains("1×, playing") && !played.contains("CODE"),
        "{played}"
    );
    assert!(b.ui.next_wake(&b.state, b.now).is_some());
    b.press(KeyCode::Right);
    b.press(KeyCode::Tab);
    let cut = b.draw();
    assert!(
        cut.contains("2×, playing") && cut.contains("waits cut"),
        "{cut}"
    );
    b.press(KeyCode::Enter);
    assert!(b.draw().contains("paused"));
    assert_eq!(b.ui.next_wake(&b.state, b.now), None);
    b.press(KeyCode::Enter);
    b.tick(60_000);
    let over = b.draw();
    assert!(
        over.contains("over") && over.contains("err┊ denied by root"),
        "{over}"
    );
    assert_eq!(b.ui.next_wake(&b.state, b.now), None);
    b.press(KeyCode::Esc);
    assert!(b.draw().contains(words::TIMELINE));
}

/// A run that printed in pieces.
fn timed() -> Life {
    let mut life = life("sum by region", "first\nsecond\n");
    let err = Blob::of(b"denied by root\n");
    if let LogEvent::Finished(f) = &mut life.records[4].event {
        (f.stderr_sha256, f.stderr_bytes) = (err.sha256, err.bytes.len() as u64);
        f.duration_ms = 31_000;
        f.pace.push(500, StreamName::Stdout, 6);
        f.pace.push(1_500, StreamName::Stdout, 7);
        f.pace.push(30_000, StreamName::Stderr, 15);
    }
    life.contents.insert(err.sha256, err.bytes.to_vec());
    life
}

#[test]
fn what_is_not_there_is_said_in_its_place() {
    let mut life = life("sum by region", "1200\n");
    let out = Digest::of(b"1200\n");
    life.contents.remove(&out);
    life.contents.remove(&Digest::of(EDITED.as_bytes()));
    let rows = rows(&life, 200);
    let at = |part: &str| rows.iter().position(|row| row == part).unwrap();
    let lack = |digest: Digest| format!("{}{}: it is missing", words::NOT_HERE, digest.hex());
    let within = |from: &str, to: &str, text: &str| {
        rows[at(from)..at(to)].iter().any(|row| row.contains(text))
    };
    assert!(within(
        words::CODE,
        words::VERDICT,
        &lack(Digest::of(EDITED.as_bytes()))
    ));
    assert!(within(words::DIFF, words::INPUTS, words::NO_DIFF));
    assert!(within(words::OUTPUT, words::FILES, &lack(out)));
    assert!(
        !rows.iter().any(|row| row.contains("consistent here")),
        "{rows:#?}"
    );
}

#[test]
fn times_between_the_records_and_lacking_layers_are_told() {
    let rows = rows(&life("sum by region", "1200\n"), 200);
    let has = |text: &str| rows.iter().any(|row| row.contains(text));
    assert!(has("+1 min 5 s  Edited by"), "{rows:#?}");
    assert!(
        has("cgroup  had no limit of memory and processes for all of the run"),
        "{rows:#?}"
    );
    assert!(has("netns  could not reach the network"), "{rows:#?}");
    assert!(
        has(
            "Tier kernel; 5 layers held (userns, pidns, netns, landlock:7, seccomp); open: ipcns, utsns,"
        ),
        "{rows:#?}"
    );
    assert!(
        has("5 records and 4 contents that they name are as they were written: consistent here."),
        "{rows:#?}"
    );
}

#[test]
fn code_without_its_secrets_is_found_by_the_digest_of_what_is_kept() {
    let mut life = Life::default();
    let (mut proposed, blobs) = samples::proposed(id(), "sum by region");
    if let LogEvent::Proposed(p) = &mut proposed {
        p.kept = Some(p.digest);
        p.digest = Digest::of(b"salted");
    }
    life.add((proposed, blobs));
    let rows = rows(&life, 200);
    let has = |text: &str| rows.iter().any(|row| row.contains(text));
    assert!(has("print(1)"), "{rows:#?}");
    assert!(has(words::WITHOUT_SECRETS), "{rows:#?}");
}

fn has(life: &Life, wanted: &str) -> bool {
    let rows = life.dossier().flow(200);
    let text = |row: &crate::tui::flow::FlowRow| -> String {
        row.spans.iter().map(|(text, _)| text.as_str()).collect()
    };
    rows.rows.iter().any(|row| text(row).contains(wanted))
}

#[test]
fn the_page_shows_what_changed_since_the_earlier_grant() {
    let mut life = life("sum by region", "1200\n");
    assert!(has(&life, words::NO_EARLIER));
    let earlier = |code: &str| Earlier {
        id: ProposalId::from_uuid(uuid::Uuid::from_u128(3)),
        at: Timestamp::from_second(1_767_000_000).unwrap(),
        code: Digest::of(code.as_bytes()),
    };
    let before = EDITED.replace("out.csv", "before.csv");
    life.earlier = Some(earlier(&before));
    assert!(has(&life, "one of the codes is not in the log"));
    life.contents
        .insert(Digest::of(before.as_bytes()), before.clone().into_bytes());
    assert!(has(
        &life,
        "Against what was granted to this agent under this title before, on 2025-12-29"
    ));
    assert!(has(&life, "before.csv"));
    life.earlier = Some(earlier(EDITED));
    life.contents
        .insert(Digest::of(EDITED.as_bytes()), EDITED.into());
    assert!(has(&life, "The same code was granted to this agent"));
}

#[test]
fn files_that_are_text_are_shown_behind_the_gutter_and_others_are_named() {
    let content = |bytes: &[u8], size: u64| {
        let mut life = life("sum by region", "1200\n");
        let digest = Digest::of(bytes);
        for record in &mut life.records {
            if let LogEvent::Finished(f) = &mut record.event {
                f.artifacts[0].sha256 = digest.hex();
                f.artifacts[0].bytes = size;
            }
        }
        life.contents.insert(digest, bytes.to_vec());
        life
    };
    let lies = content(LIES.as_bytes(), LIES.len() as u64);
    let rows = rows(&lies, 200);
    let at = rows
        .iter()
        .position(|row| row.trim() == words::FILES)
        .unwrap();
    let lie = rows[at..]
        .iter()
        .find(|row| row.contains("granted by root"));
    assert!(lie.is_some_and(|row| row.contains('┊')), "{lie:?}");
    let long: String = (0..100).map(|n| format!("row {n}\n")).collect();
    let long = content(long.as_bytes(), long.len() as u64);
    assert!(has(&long, "row 39") && !has(&long, "row 40"));
    assert!(has(&long, "60 more lines: `countersign audit show"));
    assert!(has(
        &content(b"\x89PNG\0\xff", 6),
        "no text: `countersign audit show"
    ));
    assert!(has(
        &content(b"x", 9_000_000),
        "too long for a page: `countersign audit show"
    ));
    let mut gone = content(b"x", 1);
    gone.contents.remove(&Digest::of(b"x"));
    assert!(has(&gone, "not shown: it is missing"));
}

#[test]
fn the_page_of_what_waits_or_runs_says_so() {
    let mut life = life("sum by region", "1200\n");
    assert!(!life.dossier().is_open());
    life.records.pop();
    assert!(has(&life, words::RUNS) && has(&life, words::NOT_ENDED) && life.dossier().is_open());
    life.records.pop();
    assert!(has(&life, words::STARTS));
    life.records.truncate(1);
    assert!(has(&life, words::WAITS) && has(&life, words::NOT_STARTED));
    assert!(!has(&life, words::NO_RUN));
}

#[test]
fn a_search_goes_through_the_page_and_its_letters_are_no_commands() {
    let mut b = Bench::new(80, 24);
    open(&mut b, &life("sum by region", "1200\n"));
    b.keys("/");
    assert!(b.draw().contains("search the page"), "{}", b.draw());
    b.keys("quit1B");
    b.press(KeyCode::Enter);
    let text = b.draw();
    assert!(
        text.contains("PROPOSAL") && text.contains("not found"),
        "{text}"
    );
    b.keys("/");
    b.keys("does not need");
    b.press(KeyCode::Enter);
    b.draw();
    let found = b.ui.place().log().and_then(|log| log.found);
    assert!(
        b.draw().contains("does not need") && found.is_some(),
        "{}",
        b.draw()
    );
    b.keys("n");
    assert_eq!(b.ui.place().log().and_then(|log| log.found), found);
    b.press(KeyCode::Esc);
    b.keys("/");
    assert!(b.draw().contains("WHAT CAN STAND HERE"), "{}", b.draw());
}
