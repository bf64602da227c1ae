//! What a blind person would otherwise have to guess: where a key went, what an edit came to, what stands in a field,
//! which letters only look alike.

use std::sync::Arc;

use crossterm::event::{KeyEvent, KeyModifiers};

use crate::model::{Action as Does, Artifact, Capability, Digest, Place, Severity, VerdictKind};

use super::super::super::{Summed, Sums};
use super::*;

fn control(v: &mut Voice, c: char) -> String {
    let key = KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL);
    v.b.input(&Input::Key(key));
    v.speak()
}

#[test]
fn home_reads_code_from_its_first_line_and_end_its_last_page() {
    let mut v = Voice::of(Making::clear(&lines(30)));
    v.wait(600);
    v.read();
    for place in ["\t", "\u{1b}\t", "\n"] {
        for c in place.chars() {
            match c {
                '\t' => v.key(KeyCode::Tab),
                '\n' => v.key(KeyCode::Enter),
                _ => v.key(KeyCode::Esc),
            };
        }
        for _ in 0..2 {
            let said = v.key(KeyCode::Home);
            assert!(said.starts_with("1: x1 = 1\n2: x2"), "{place:?}: {said}");
            assert!(said.ends_with("More: Space. Row 10 of 30.\n"), "{said}");
        }
        v.keys("jj");
        let said = v.key(KeyCode::End);
        assert!(
            said.starts_with("21: x21") && said.contains("\n30: x30"),
            "{said}"
        );
        v.keys("kk");
    }
}

#[test]
fn a_key_that_goes_no_further_says_so() {
    let mut v = Voice::of(Making::clear("a = 1\nb = 2\n"));
    v.b.propose(Making::clear("c = 3\n"));
    v.wait(3_000);
    assert!(v.keys("k").starts_with("first row: 1 of 2, clear"));
    assert!(v.keys("j").starts_with("2 of 2, clear"));
    assert!(v.keys("j").starts_with("last row: 2 of 2, clear"));
    v.keys("k");
    v.key(KeyCode::Enter);
    assert_eq!(v.keys("j"), "last row: 2: b = 2\n");
    assert_eq!(v.keys("k"), "1: a = 1\n");
    assert_eq!(v.keys("k"), "first row: 1: a = 1\n");
    v.key(KeyCode::Esc);
    v.keys("3");
    assert!(
        v.keys("j")
            .starts_with("last row: 1 of 1, agent \"notebook\", 2 wait, ")
    );
}

#[test]
fn a_search_that_goes_around_says_so() {
    let mut v = Voice::of(Making::clear("a = 1\nb = 2\na = 3\n"));
    v.wait(600);
    v.key(KeyCode::Enter);
    v.key(KeyCode::Home);
    v.keys("/a =");
    v.key(KeyCode::Enter);
    let said = [v.keys("n"), v.keys("n"), v.keys("n"), v.keys("N")];
    assert!(
        said.contains(&"from the top again\n1: a = 1\n".to_owned())
            && said.contains(&"3: a = 3\n".to_owned()),
        "{said:?}"
    );
    assert!(said[3].starts_with("from the end") || !said[2].starts_with("from the top"));
}

#[test]
fn an_edit_says_its_verdict_why_it_blocks_and_the_next_keys() {
    let mut v = Voice::of(Making::clear(CODE));
    let id = v.b.ui.selected().unwrap();
    v.wait(600);
    v.b.edit(id, &Making::clear("total = 2\n"));
    let said = v.speak();
    assert_eq!(
        said,
        "Your edit is judged:\nverdict clear. No rule matched. That does not make it safe.\n\
         Space reads all of it anew, v what you changed; then a asks to grant.\n"
    );
    v.b.edit(
        id,
        &Making {
            kind: VerdictKind::Blocked,
            findings: vec![finding(2, "EXEC001", Severity::Critical, Does::Block)],
            ..Making::clear("total = 2\neval(total)\n")
        },
    );
    let said = v.speak();
    assert!(
        said.starts_with("Your edit is judged:\nverdict blocked, 1 finding:\nline 2: EXEC001 evaluates-text, critical, block: "),
        "{said}"
    );
    assert!(
        said.ends_with(
            "So it cannot be granted: e edits it again, v reads what you changed, d denies.\n"
        ),
        "{said}"
    );
    v.wait(3_000);
    assert_eq!(
        v.keys("a"),
        "this cannot be granted: its verdict blocks it: line 2 EXEC001 evaluates-text\n"
    );
    v.b.edit(id, &Making::clear(CODE));
    assert!(
        v.speak()
            .starts_with("The code is again as it was proposed.\nverdict clear")
    );
    // Another proposal is no edit of this one.
    v.b.propose(Making::clear("c = 3\n"));
    v.wait(3_000);
    assert!(!v.keys("j").contains("edit"));
}

#[test]
fn a_field_says_what_it_holds_is_cleared_by_a_key_and_its_answer_comes_first() {
    let mut v = Voice::of(Making::clear(CODE));
    let id = v.start();
    let mut ended = run(&lines(40));
    ended.artifacts = vec![Artifact {
        name: "a.csv".to_owned(),
        media_type: "text/csv".to_owned(),
        bytes: 8,
        sha256: Digest::of(b"a").hex(),
    }];
    v.b.end(id, ended);
    v.wait(3_000);
    while !v.key(KeyCode::Tab).starts_with("OUTPUT") {}
    let said = v.keys("S").replace("\n.. ", " ");
    for part in [
        "save 1 file into a folder: in a new folder of their own there: countersign-",
        "; 1 file: \"a.csv\". The field begins with \"~/\" (your home folder): type on",
        "\n~/",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(control(&mut v, 'u'), "\nempty\n");
    v.keys("/tmp x");
    control(&mut v, 'w');
    assert!(v.wait(600).ends_with("\n/tmp "));
    v.key(KeyCode::Backspace);
    v.wait(600);
    // What was read before is not read again before the answer.
    let said = v.key(KeyCode::Enter);
    assert_eq!(said.trim(), "");
    assert!(
        matches!(v.b.actions.last(), Some(super::super::super::Action::Save(s)) if s.folder == "/tmp")
    );
    v.b.ui.tell("saved 1 file in /tmp/x".to_owned());
    assert_eq!(v.speak(), "saved 1 file in /tmp/x\n");
    // The pane is where it was left.
    assert!(v.key(KeyCode::PageUp).contains("out: x1 = 1\n"));
    v.keys("S");
    assert_eq!(v.key(KeyCode::Esc), "\nOUTPUT\n");
}

#[test]
fn the_question_about_all_of_an_agent_is_a_sentence_and_offers_earlier_reasons() {
    let mut v = Voice::of(Making::clear(CODE));
    for code in ["a = 1\n", "b = 2\n"] {
        v.b.propose(Making::clear(code));
    }
    v.wait(3_000);
    assert_eq!(
        v.keys("D"),
        "Deny all 3 of notebook? y goes on to the reason, Tab pauses the agent, Esc goes back.\n"
    );
    v.key(KeyCode::Esc);
    v.keys("dtoo much");
    v.key(KeyCode::Enter);
    v.b.carry_out();
    v.wait(3_000);
    v.keys("D");
    v.wait(600);
    assert_eq!(
        v.keys("y"),
        "deny all 2 of notebook, reason: Enter sends, Up offers earlier reasons, Tab pauses the agent, Esc\n\
         .. goes back.\n"
    );
    assert!(v.key(KeyCode::Up).contains("too much"));
    v.key(KeyCode::Enter);
    v.b.carry_out();
    assert!(v.speak().contains("Denied: "));
    assert_eq!(v.b.state.pending_count(), 0);
    assert_eq!(
        v.keys("D"),
        "nothing of notebook waits: Tab pauses the agent, Esc goes back.\n"
    );
}

#[test]
fn letters_that_only_look_alike_are_named() {
    let write = |line: u32, file: &str| Place {
        capability: Capability::FsWrite,
        detail: "to_csv, literal argument".to_owned(),
        lines: vec![line],
        files: vec![file.to_owned()],
    };
    let mut odd = finding(3, "TEXT010", Severity::High, Does::Flag);
    (odd.column, odd.end_column) = (5, 12);
    let mut v = Voice::of(Making {
        kind: VerdictKind::Flagged,
        findings: vec![odd],
        places: vec![write(1, "orders_clean.csv"), write(2, "orders_cIean.csv")],
        ..Making::clear(
            "df.to_csv(\"orders_clean.csv\")\ndf.to_csv(\"orders_cIean.csv\")\nx = \"sc\u{43e}pe\"\n",
        )
    });
    v.wait(600);
    v.read();
    let said = v.all.replace("\r\n.. ", " ").replace("\r\n", "\n");
    for part in [
        "\"orders_clean.csv\", warning: LOOKS LIKE \"orders_cIean.csv\"",
        "\nLOOKS LIKE: \"orders_clean.csv\" looks like \"orders_cIean.csv\" and has small l where the other has capital I, at letter 9\n",
        "; \"scope\" with Cyrillic o, U+043E, at letter 3. Hint: ",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(said.matches("LOOKS LIKE: ").count(), 1, "{said}");
}

#[test]
fn lines_beyond_the_first_are_counted_in_words() {
    let mut v = Voice::of(Making::clear(
        "print(df[\"c1\"])\nprint(df[\"c1\"])\nprint(df[\"c1\"])\n",
    ));
    v.wait(600);
    v.read();
    assert!(
        v.all.contains("RETURNS output line 1 and 2 more: "),
        "{}",
        v.all
    );
}

#[test]
fn an_agent_s_row_has_all_that_its_row_on_the_screen_has() {
    let mut v = Voice::of(Making::clear(CODE));
    v.wait(3_000);
    let said = v.keys("3").replace("\n.. ", " ");
    assert!(
        said.starts_with("AGENTS, Tab goes to POLICIES\n1 of 1, agent \"notebook\", 1 waits, in this session 0 granted, 0 denied, 0 blocked, "),
        "{said}"
    );
    assert!(said.contains("% of its quota used, uid 1000"), "{said}");
}

#[test]
fn a_search_says_where_it_looks_and_what_it_found() {
    let mut v = Voice::of(Making::clear("a = 1\nb = 2\na = 3\n"));
    v.wait(600);
    assert!(
        v.keys("/")
            .starts_with("search in the proposals' titles and agents: Enter")
    );
    v.key(KeyCode::Esc);
    v.key(KeyCode::Enter);
    v.key(KeyCode::Home);
    assert_eq!(
        v.keys("/"),
        "search in CODE: Enter searches, Esc goes back.\n"
    );
    v.keys("b =");
    let said = v.key(KeyCode::Enter);
    assert!(
        said.ends_with("\nfound \"b =\" in CODE, 1 of 1:\n2: b = 2\n"),
        "{said}"
    );
}

#[test]
fn a_decision_says_what_is_selected_then_and_that_nothing_waits() {
    let mut v = Voice::of(Making::clear(CODE));
    v.b.propose(Making {
        title: Some("another".to_owned()),
        ..Making::clear("b = 2\n")
    });
    v.wait(3_000);
    v.keys("dno");
    let mut said = v.key(KeyCode::Enter);
    v.b.carry_out();
    said += &v.speak();
    assert!(
        said.contains("\nselected now, the next waiting one: 1 of 1, clear, "),
        "{said}"
    );
    assert!(!said.contains("Nothing waits"), "{said}");
    let id = v.start();
    v.b.end(id, run("2\n"));
    let said = v.speak();
    assert!(
        said.ends_with("\nNothing waits any more. This one stays selected.\n"),
        "{said}"
    );
    assert!(
        v.keys("1")
            .contains("No proposal waits.\nselected now: decided 1 of 2, succeeded")
    );
    v.b.propose(Making::clear("c = 3\n"));
    v.wait(3_000);
    v.keys("u");
    v.keys("dno");
    let mut said = v.key(KeyCode::Enter);
    v.b.carry_out();
    said += &v.speak();
    assert!(said.contains("\nNothing waits any more.\n"), "{said}");
}

#[test]
fn the_end_of_a_diff_and_a_second_key_are_named() {
    let mut v = Voice::of(Making::clear(CODE));
    v.wait(3_000);
    assert_eq!(
        v.keys("g"),
        "a second key belongs to this one: g g goes to the top\n"
    );
    v.key(KeyCode::Esc);
    v.keys("?");
    for _ in 0..20 {
        v.key(KeyCode::PageDown);
    }
    let said = v.keys(" ");
    assert!(
        said.starts_with("End of HELP, ") && said.ends_with(" rows; Esc goes back.\n"),
        "{said}"
    );
}

#[test]
fn an_earlier_reason_is_said_to_stand_in_the_field() {
    let mut v = Voice::of(Making::clear(CODE));
    v.b.propose(Making::clear("b = 2\n"));
    v.wait(3_000);
    v.keys("dtoo much");
    v.key(KeyCode::Enter);
    v.b.carry_out();
    v.wait(3_000);
    v.keys("dmine");
    let up = v.key(KeyCode::Up);
    assert_eq!(up, "\nan earlier reason stands in the field: too much");
    assert_eq!(v.key(KeyCode::Down), "\nin the field: mine");
    assert_eq!(v.keys("!"), "!");
    v.key(KeyCode::Up);
    assert_eq!(control(&mut v, 'u'), "\nempty\n");
    assert_eq!(v.keys("own"), "own");
    v.key(KeyCode::Esc);
    v.keys("fb");
    v.key(KeyCode::Enter);
    assert!(
        v.keys("f")
            .replace("\n.. ", " ")
            .contains("The field begins with \"b\": type on")
    );
}

#[test]
fn a_word_that_is_explained_runs_no_command() {
    let mut v = Voice::of(Making::clear(CODE));
    v.wait(3_000);
    v.keys(":tier");
    let said = v.wait(600);
    assert!(
        said.contains("tier means: ") && !said.contains("save"),
        "{said}"
    );
    for _ in 0..2 {
        let said = v.key(KeyCode::Enter);
        assert!(said.contains("no command; tier means: "), "{said}");
        v.wait(1_000);
    }
    assert!(v.b.actions.is_empty());
}

#[test]
fn private_columns_are_said_to_be_masked_once() {
    let mut v = Voice::of(Making {
        private: true,
        ..Making::clear(CODE)
    });
    v.wait(3_000);
    let mut said = v.keys("p");
    if !said.contains("GIVEN") {
        said = v.keys("p");
    }
    assert!(
        !said.contains("; masked") && !said.contains("masked to"),
        "{said}"
    );
    assert!(
        said.contains("every value is masked: the data is private, of "),
        "{said}"
    );
}

#[test]
fn a_row_of_the_log_says_who_decided_and_a_question_is_answered_or_explained() {
    let mut v = Voice::of(Making::clear(CODE));
    v.wait(3_000);
    v.keys("2");
    v.b.ui
        .set_audit(super::super::super::snapshot_tests::audit_page());
    let said = v.speak().replace("\n.. ", " ");
    assert!(
        said.contains("\n1 of 5, succeeded, asked 01-02 10:59:07, decided 01-02 11:59:09 by ana after 1 h, ran 41 ms, clear, "),
        "{said}"
    );
    v.keys("jj");
    assert!(
        v.keys("j")
            .contains("expired, asked 01-02 10:56:07, ended 01-02 11:56:09 after 1 h, clear")
    );
    assert!(v.keys("/").starts_with("query, such as state:denied "));
    v.keys("stat:x");
    let said = v.key(KeyCode::Enter).replace("\n.. ", " ");
    assert!(
        said.contains("column 1: there is no key `stat`; did you mean `state`?"),
        "{said}"
    );
    v.key(KeyCode::Esc);
    v.keys("/state:");
    let said = v.key(KeyCode::Tab).replace("\n.. ", " ");
    assert!(said.contains(" begin so: blocked denied "), "{said}");
    v.wait(600);
    v.key(KeyCode::Enter);
    v.b.ui.set_audit(super::super::super::AuditPage {
        query: "state:blocked".to_owned(),
        ..Default::default()
    });
    let said = v.speak();
    assert!(
        said.contains("AUDIT, 0 proposals of the query \"state:blocked\", ")
            && said.contains("None of 5 proposals match; Esc lists all."),
        "{said}"
    );
}

#[test]
fn statistics_and_facets_are_sentences() {
    let mut v = Voice::of(Making::clear(CODE));
    v.wait(3_000);
    v.keys("2");
    v.b.ui
        .set_audit(super::super::super::snapshot_tests::audit_page());
    v.speak();
    assert!(v.keys("B").contains(words::plain::READING_LOG));
    let stats = Summed::Statistics(Arc::new(super::super::super::sums_tests::stats()));
    v.b.ui.set_sums(Sums {
        query: String::new(),
        answer: Ok(stats),
    });
    let said = v.speak().replace("\n.. ", " ");
    assert!(said.contains("STATISTICS"), "{said}");
    assert!(
        said.contains("6 expired before anybody decided; days and hours of Europe/Vienna")
            && said.contains("252: 231 granted, 21 denied"),
        "{said}"
    );
    assert!(
        said.contains("41 of 252 decisions, 7 of them in a row"),
        "{said}"
    );
    let own = said.replace(super::super::super::sums_tests::HOSTILE, "");
    assert!(!own.contains(['█', '▁', '·']), "no bars: {said}");
    assert!(v.key(KeyCode::Esc).contains("AUDIT, 5 proposals"));
    assert!(v.keys("F").contains("FACETS"));
    let facets = Summed::Facets(super::super::super::sums_tests::facets(true));
    v.b.ui.set_sums(Sums {
        query: String::new(),
        answer: Ok(facets),
    });
    let said = v.speak().replace("\n.. ", " ");
    assert!(
        said.contains("FACETS of 5 proposals: 14 values\n1 of 14, state \"granted\": 3 proposals"),
        "{said}"
    );
    let said = v.keys("j").replace("\n.. ", " ");
    assert!(
        said.contains("2 of 14, state \"denied\": 2 proposals, the query asks for it"),
        "{said}"
    );
    v.keys("jj");
    let said = v.keys("j").replace("\n.. ", " ");
    assert!(
        said.contains("5 of 14, agent \"granted\": 1 proposal"),
        "{said}"
    );
    let asked = v.b.press(KeyCode::Enter);
    assert!(
        matches!(&asked[..], [super::super::super::Action::LoadAudit { query, .. }, _] if query == "agent:granted"),
        "{asked:?}"
    );
    v.key(KeyCode::Esc);
    v.b.ui.set_audit(super::super::super::AuditPage {
        query: "agent:granted".to_owned(),
        ..super::super::super::snapshot_tests::audit_page()
    });
    v.speak();
    let said = v.keys("E").replace("\n.. ", " ");
    assert!(
        said.contains("export 5 proposals as records (the records as the log has them"),
        "{said}"
    );
    assert!(
        v.key(KeyCode::Tab).contains("csv: one row"),
        "the format is told"
    );
    let said = v.key(KeyCode::Enter);
    assert!(said.contains("the export is under way"), "{said}");
}
