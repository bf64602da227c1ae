//! Every state of the screen, at the promised sizes and colour depths.

use crossterm::event::KeyCode;

use crate::broker::{Event, ExecNote};
use crate::model::{
    Artifact, Digest, Environment, Exit, LimitKind, ProposalId, RunErrorKind, RunEvent, StreamName,
};

use super::bench::*;
use super::contrast_tests::assert_readable;
use super::{AuditPage, AuditRow, LogCheck};

pub(super) fn snap(name: &str, text: &str) {
    insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}

pub(super) const SIZES: [(u16, u16); 4] = [(80, 24), (40, 10), (120, 40), LARGE];
const LARGE: (u16, u16) = (200, 60);

/// Snapshots one state at the promised sizes, and reads it in every palette. What is drawn on the largest screen has the
/// colours of the others.
pub(super) fn at_sizes(name: &str, make: impl Fn(&mut Bench)) {
    for (columns, rows) in SIZES {
        let mut bench = Bench::new(columns, rows);
        make(&mut bench);
        let text = bench.draw();
        snap(&format!("{name}_{columns}x{rows}"), &text);
        if (columns, rows) != LARGE {
            assert_readable(&mut bench);
        }
    }
}

#[test]
fn empty() {
    at_sizes("empty", |_| {});
}

#[test]
fn one_clear() {
    at_sizes("one_clear", |b| {
        b.propose(Making::clear("print(len(df))\n"));
        b.settle();
    });
}

#[test]
fn flagged() {
    at_sizes("flagged", |b| {
        b.propose(Making::flagged());
        b.settle();
    });
}

/// A queue with proposals of every kind.
fn crowd(b: &mut Bench) {
    b.propose(Making::flagged());
    b.propose(Making::clear("print(len(df))\n"));
    for i in 0..30 {
        b.propose(Making {
            ttl_s: 300 + i * 61,
            agent: Some(["notebook", "etl-bot", "forecaster-of-very-long-names"][i as usize % 3]),
            ..Making::clear("x = 1\n")
        });
    }
    b.propose(Making::blocked());
    b.settle();
    b.keys("d");
    b.keys("not today");
    b.press(KeyCode::Enter);
    b.carry_out();
    b.settle();
}

#[test]
fn many() {
    at_sizes("many", crowd);
}

#[test]
fn blocked() {
    at_sizes("blocked", |b| {
        b.propose(Making::clear("x = 1\n"));
        b.propose(Making::blocked());
        b.settle();
        b.press(KeyCode::Down);
        b.settle();
        b.keys("a");
    });
}

#[test]
fn sheet_clear() {
    at_sizes("sheet_clear", |b| {
        b.propose(Making::clear("print(len(df))\n"));
        b.settle();
        b.keys("a");
        b.draw();
    });
}

#[test]
fn sheet_flagged() {
    at_sizes("sheet_flagged", |b| {
        b.propose(Making::flagged());
        b.settle();
        b.keys("  ");
        b.draw();
        b.open_sheet();
        b.keys("4f");
    });
}

#[test]
fn private_values_that_will_be_told() {
    let mut wide = Bench::new(120, 40);
    wide.tell_private();
    wide.propose(Making {
        private: true,
        ..Making::clear("print(df)\n")
    });
    snap("private_told_120x40", &wide.settle());
    assert_readable(&mut wide);
    at_sizes("sheet_private_told", |b| {
        b.tell_private();
        b.propose(Making {
            private: true,
            ..Making::clear("print(df)\n")
        });
        b.settle();
        b.keys("a");
        b.draw();
        if b.size.1 < 40 {
            b.press(KeyCode::PageDown);
        }
    });
}

#[test]
fn disclosure_is_announced_only_where_values_are_disclosed() {
    const TOLD: &str = "WILL BE TOLD";
    for (private, tell) in [(false, false), (true, false), (false, true)] {
        let mut b = Bench::new(120, 40);
        if tell {
            b.tell_private();
        }
        b.propose(Making {
            private,
            ..Making::clear("print(df)\n")
        });
        assert!(!b.settle().contains(TOLD), "{private} {tell}");
        b.keys("a");
        let sheet = b.draw();
        assert!(sheet.contains("GRANT?") && !sheet.contains(TOLD), "{sheet}");
    }
}

#[test]
fn deny_prompt() {
    at_sizes("deny_prompt", |b| {
        b.propose(Making::flagged());
        b.settle();
        b.keys("d");
        b.keys("write the expression itself, please, and say what the formula is");
    });
}

#[test]
fn quit_question() {
    at_sizes("quit_question", |b| {
        b.propose(Making::flagged());
        b.settle();
        b.keys("q");
    });
}

#[test]
fn help() {
    at_sizes("help", |b| {
        b.propose(Making::flagged());
        b.settle();
        b.keys("?");
    });
}

#[test]
fn search() {
    at_sizes("search", |b| {
        b.propose(Making::flagged());
        b.settle();
        b.press(KeyCode::Enter);
        b.keys("/");
        b.keys("RATE");
        b.press(KeyCode::Enter);
        b.keys("n");
    });
}

#[test]
fn unseen_lines() {
    at_sizes("unseen_lines", |b| {
        let code: String = (1..=200).map(|i| format!("x{i} = {i}\n")).collect();
        b.propose(Making::clear(&code));
        b.settle();
        b.keys("a");
    });
}

#[test]
fn long_line_and_brought_input() {
    at_sizes("long_line_and_brought_input", |b| {
        let code = format!("x = '{}'\n", "long ".repeat(60));
        b.propose(Making {
            brought: vec![("rows", "region,rate\nnorth,1\nsouth,2\n".to_owned())],
            ..Making::clear(&code)
        });
        b.settle();
        b.press(KeyCode::Enter);
        b.keys("G");
    });
}

#[test]
fn condensed_input() {
    let mut table = "id,price,region\n".to_owned();
    for i in 0..2_000 {
        match i {
            1_234 => table.push_str("1234,1e999,=cmd()\n"),
            _ => table.push_str(&format!("{i},{}.5,{}\n", i % 90, ["north", "south"][i % 2])),
        }
    }
    at_sizes("condensed_input", |b| {
        b.propose(Making {
            brought: vec![("rows", table.clone())],
            ..Making::clear("print(rows)\n")
        });
        b.settle();
        b.press(KeyCode::Enter);
        b.keys("p");
        b.look();
        b.keys(" ");
    });
}

#[test]
fn not_wrapped() {
    at_sizes("not_wrapped", |b| {
        b.propose(Making::clear(&format!(
            "x = '{}'\ny = 1\n",
            "long ".repeat(60)
        )));
        b.settle();
        b.keys("w");
        b.press(KeyCode::Enter);
        b.press(KeyCode::Right);
    });
}

#[test]
fn hostile_text() {
    at_sizes("hostile_text", |b| {
        b.propose(Making {
            agent: Some("root\u{202e}toob\x1b[31m"),
            title: Some(format!("\x1b]0;pwned\x07{}", "A\x1b[2J\n\u{200b}".repeat(1500))),
            reason: Some("first line\n\x1b[H● clear\r".to_owned()),
            ..Making::clear("x = 1 # \x1b[2K\u{202e}tnemmoc\u{2066}\u{200b}\ta\u{301}\u{301}\u{301}\rimport os\n")
        });
        b.settle();
    });
}

#[test]
fn running() {
    at_sizes("running", |b| {
        b.propose(Making::clear("print(len(df))\n"));
        let id = b.start();
        b.output(id, StreamName::Stdout, "region  rate\nnorth   0.12\nso");
        b.output(
            id,
            StreamName::Stdout,
            "uth   0.31\nprogress 10%\r\x1b[2Jprogress 20%\r",
        );
        b.output(id, StreamName::Stderr, "FutureWarning: soon\n");
        b.tick(3_000);
    });
}

#[test]
fn succeeded() {
    at_sizes("succeeded", |b| {
        b.propose(Making::clear("print(len(df))\n"));
        b.propose(Making::clear("x = 1\n"));
        let id = b.start();
        b.output(id, StreamName::Stdout, "8400\n");
        let mut ended = run("8400\n");
        ended.artifacts.push(Artifact {
            name: "fig1.png".to_owned(),
            media_type: "image/png".to_owned(),
            bytes: 12_345,
            sha256: Digest::of(b"fig").hex(),
        });
        b.end(id, ended);
    });
}

#[test]
fn private_data_not_compared_to_its_end() {
    at_sizes("private_noted", |b| {
        b.propose(Making {
            private: true,
            ..Making::clear("print(len(df))\n")
        });
        let id = b.ui.selected().unwrap();
        b.open_sheet();
        b.keys("y");
        b.carry_out();
        let event = |message: &str| RunEvent {
            kind: RunEvent::PRIVATE.to_owned(),
            message: format!("{message}; what lies beyond is not recognised"),
            line: None,
        };
        let events = vec![
            event(
                "group numbers of `sales` by 1 column of more than 10,000 different values were not compared",
            ),
            event("group numbers of `sales` were compared up to 1,000,000 numbers"),
        ];
        b.exec(id, ExecNote::Noted(events));
        b.exec(id, ExecNote::Prepared(isolation()));
        b.exec(id, ExecNote::Released);
        b.output(id, StreamName::Stdout, "8400\n");
        b.end(id, run("8400\n"));
    });
}

#[test]
fn failed_with_a_limit() {
    at_sizes("failed_with_a_limit", |b| {
        b.propose(Making::clear("while True: pass\n"));
        let id = b.start();
        let mut ended = failed(RunErrorKind::Timeout, "stopped after 300 s of wall time");
        ended.exit = Exit::Signal("SIGKILL".to_owned());
        ended.limit = Some(LimitKind::Wall);
        ended.duration_ms = 300_012;
        b.end(id, ended);
    });
}

#[test]
fn refused_by_the_guard() {
    at_sizes("refused_by_the_guard", |b| {
        b.propose(Making::clear("x = getattr(v, name)\n"));
        let id = b.start();
        let mut ended = failed(
            RunErrorKind::PolicyViolation,
            "the attribute __class__ is not allowed",
        );
        let event = |kind: &str, message: &str, line| RunEvent {
            kind: kind.to_owned(),
            message: message.to_owned(),
            line,
        };
        ended.events = vec![
            event(
                "system",
                "starting a program by a library was refused",
                Some(1),
            ),
            event(
                "refused",
                "the attribute __class__ is not allowed\u{1b}[2J",
                Some(3),
            ),
            event("more", "7 more events", None),
        ];
        b.end(id, ended);
    });
}

#[test]
fn expired_while_selected() {
    at_sizes("expired_while_selected", |b| {
        b.propose(Making::flagged());
        b.propose(Making::clear("x = 1\n"));
        b.settle();
        b.tick(60_000);
    });
}

#[test]
fn environment_being_made() {
    at_sizes("environment_being_made", |b| {
        b.apply(Event::Environment(Environment::Making {
            step: "installing numpy 2.1.0".to_owned(),
            done: 12,
            total: 27,
        }));
        b.propose(Making::clear("print(len(df))\n"));
        b.settle();
        b.keys("a");
    });
}

#[test]
fn environment_failed() {
    at_sizes("environment_failed", |b| {
        b.apply(Event::Environment(Environment::Failed {
            message:
                "Python 3.9 is too old; install Python 3.11 or newer, or name one with --python."
                    .to_owned(),
        }));
        b.propose(Making::clear("print(len(df))\n"));
        b.settle();
        b.keys("a");
    });
}

#[test]
fn audit_down() {
    at_sizes("audit_down", |b| {
        b.propose(Making::clear("print(len(df))\n"));
        b.settle();
        b.apply(Event::AuditDown {
            reason: "no space left on device".to_owned(),
        });
        b.keys("a");
    });
}

/// The log continues, and the screen shows the damage.
#[test]
fn damaged_log() {
    at_sizes("damaged_log", |b| {
        b.facts.log = LogCheck::Damaged(
            "log/00000001.jsonl line 5 (seq 4): `granted` of a proposal that was denied (x)"
                .to_owned(),
        );
        b.propose(Making::clear("print(len(df))\n"));
        b.settle();
    });
}

/// Grants go on: only the proof for others lacks something.
#[test]
fn checkpoints_that_are_not_taken() {
    at_sizes("checkpoints_that_are_not_taken", |b| {
        b.facts.unanchored =
            Some("anchor_command: `ssh` failed, exit status: 255: no route to host".to_owned());
        b.propose(Making::clear("print(len(df))\n"));
        b.settle();
    });
}

pub(super) fn audit_page() -> AuditPage {
    let row = |n: usize, state: &str, verdict: &str| AuditRow {
        time: format!("01-02 10:{:02}:07", 59 - n),
        decided: format!("01-02 11:{:02}:09", 59 - n),
        by: match state {
            "blocked" | "expired" => String::new(),
            _ => "ana".to_owned(),
        },
        after: "1 h".to_owned(),
        ran: match state {
            "succeeded" | "failed" => "41 ms".to_owned(),
            _ => String::new(),
        },
        id: Some(ProposalId::from_uuid(uuid::Uuid::from_u128(n as u128))),
        agent: "etl-bot".to_owned(),
        profile: "analysis".to_owned(),
        verdict: verdict.to_owned(),
        state: state.to_owned(),
        title: format!("proposal {n} \x1b[31m"),
        ..AuditRow::default()
    };
    AuditPage {
        rows: vec![
            row(0, "succeeded", "clear"),
            row(1, "denied", "flagged"),
            row(2, "blocked", "blocked"),
            row(3, "expired", "clear"),
            row(4, "failed", "flagged"),
        ],
        offset: 0,
        total: 5,
        anchored: 1_284,
        ..AuditPage::default()
    }
}

#[test]
fn audit_screen() {
    at_sizes("audit_screen", |b| {
        b.keys("2");
        b.ui.set_audit(audit_page());
        b.draw();
        b.keys("j");
    });
}

#[test]
fn audit_question() {
    at_sizes("audit_question", |b| {
        b.keys("2");
        b.ui.set_audit(audit_page());
        b.keys("/");
    });
    at_sizes("audit_question_values", |b| {
        b.keys("2");
        b.ui.set_audit(audit_page());
        b.keys("/agent:etl* state:");
        b.press(KeyCode::Tab);
        b.press(KeyCode::Tab);
    });
    at_sizes("audit_question_wrong", |b| {
        b.keys("2");
        b.ui.set_audit(audit_page());
        b.keys("/verdict:clear stat:denied");
        b.press(KeyCode::Enter);
    });
    at_sizes("audit_question_answered", |b| {
        b.keys("2");
        b.ui.set_audit(audit_page());
        b.keys("/agent:nobody");
        b.press(KeyCode::Enter);
        b.ui.set_audit(AuditPage {
            query: "agent:nobody".to_owned(),
            ..AuditPage::default()
        });
    });
}

#[test]
fn audit_record() {
    at_sizes("audit_record", |b| {
        b.keys("2");
        b.ui.set_audit(audit_page());
        b.press(KeyCode::Enter);
        let detail = (0..30)
            .map(|i| format!("{i} granted by uid 1000 \x1b[0m"))
            .collect();
        b.ui.set_audit(AuditPage {
            detail: Some(detail),
            ..audit_page()
        });
    });
}

#[test]
fn policies_and_agents() {
    at_sizes("policies_and_agents", |b| {
        b.propose(Making::flagged());
        b.keys("3");
    });
}

#[test]
fn zoomed() {
    at_sizes("zoomed", |b| {
        b.propose(Making::flagged());
        b.settle();
        b.focus_on(super::ui::Pane::Code);
        b.keys("z");
    });
}

#[test]
fn lower_panes_as_tabs() {
    at_sizes("lower_panes_as_tabs", |b| {
        b.propose(Making::flagged());
        b.settle();
        for _ in 0..5 {
            b.press(KeyCode::Tab);
        }
    });
}

#[test]
fn too_small() {
    for (columns, rows) in [(20, 5), (39, 24), (80, 9), (3, 2)] {
        let mut bench = Bench::new(columns, rows);
        bench.propose(Making::clear("x = 1\n"));
        snap(&format!("too_small_{columns}x{rows}"), &bench.draw());
        assert_readable(&mut bench);
    }
}

#[test]
fn closing() {
    at_sizes("closing", |b| {
        b.propose(Making::clear("x = 1\n"));
        b.start();
        b.keys("qy");
        b.carry_out();
    });
}
