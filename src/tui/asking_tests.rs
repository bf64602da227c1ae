//! Screen 2's question.

use crossterm::event::KeyCode;

use super::bench::*;
use super::snapshot_tests::audit_page;
use super::{Action, AuditPage};

fn on_log() -> Bench {
    let mut b = Bench::new(100, 30);
    b.keys("2");
    b.ui.set_audit(audit_page());
    b.draw();
    b
}

/// The question that was asked for last.
fn asked(b: &mut Bench) -> Option<String> {
    b.press(KeyCode::Enter)
        .into_iter()
        .find_map(|action| match action {
            Action::LoadAudit { query, .. } => Some(query),
            _ => None,
        })
}

#[test]
fn a_question_is_asked_for_its_rows_and_esc_asks_for_all_again() {
    let mut b = on_log();
    b.keys("/state:denied ");
    assert_eq!(asked(&mut b).as_deref(), Some("state:denied"));
    // Rows that were asked for before are not this question's.
    b.ui.set_audit(audit_page());
    assert!(!b.draw().contains("proposal 1"));
    b.ui.set_audit(AuditPage {
        query: "state:denied".to_owned(),
        total: 1,
        rows: vec![audit_page().rows.remove(1)],
        ..AuditPage::default()
    });
    let screen = b.draw();
    assert!(
        screen.contains("1 proposal  query: state:denied"),
        "{screen}"
    );
    assert!(
        screen.contains("proposal 1") && !screen.contains("proposal 0"),
        "{screen}"
    );
    // Its records are asked for with it.
    let actions = b.press(KeyCode::Enter);
    assert!(
        matches!(&actions[..], [Action::ShowRecord { query, .. }] if query == "state:denied"),
        "{actions:?}"
    );
    // The field has it.
    b.press(KeyCode::Esc);
    b.keys("/");
    assert_eq!(asked(&mut b).as_deref(), Some("state:denied"));
    let actions = b.press(KeyCode::Esc);
    assert!(
        matches!(&actions[..], [Action::LoadAudit { query, .. }] if query.is_empty()),
        "{actions:?}"
    );
    assert!(b.draw().contains("AUDIT"));
    b.press(KeyCode::Esc);
    assert!(!b.draw().contains("AUDIT  "));
}

#[test]
fn what_cannot_be_read_stays_in_the_field_with_marks_below_what_is_wrong() {
    let mut b = on_log();
    b.keys("/verdict:clear stat:denied");
    assert_eq!(asked(&mut b), None);
    let screen = b.draw();
    let rows: Vec<&str> = screen.lines().collect();
    let at = rows.iter().position(|row| row.contains("^^^^")).unwrap();
    assert_eq!(
        rows[at - 1].find("stat:"),
        rows[at].find("^^^^"),
        "{screen}"
    );
    assert!(rows[at + 1].contains("column 15: there is no key `stat`; did you mean `state`?"));
    assert!(
        rows.last()
            .unwrap()
            .contains("query: verdict:clear stat:denied"),
        "{screen}"
    );
    // Corrected in place.
    for _ in 0..":denied".len() {
        b.press(KeyCode::Left);
    }
    b.keys("e");
    assert!(!b.draw().contains("^^^^"));
    assert_eq!(asked(&mut b).as_deref(), Some("verdict:clear state:denied"));
}

#[test]
fn tab_completes_keys_and_values() {
    let mut b = on_log();
    for (typed, tabs, becomes) in [
        ("ver", 1, "verdict:"),
        ("agent:", 1, "agent:etl-bot"),
        ("edited:y", 1, "edited:yes"),
        ("by:", 1, "by:ana"),
        ("state:de", 1, "state:denied"),
        // All that begin so share nothing more: one after the other.
        ("state:", 1, "state:blocked"),
        ("state:", 2, "state:denied"),
        ("un", 1, "until:"),
        ("x", 1, "x"),
    ] {
        b.keys("/");
        b.keys(typed);
        for _ in 0..tabs {
            b.press(KeyCode::Tab);
        }
        let field = b.draw().lines().last().unwrap().to_owned();
        let field = field.split("query: ").nth(1).unwrap_or_default().to_owned();
        assert!(field.starts_with(becomes), "{typed}: {field}");
        b.press(KeyCode::Esc);
    }
}

#[test]
fn a_word_that_is_a_state_comes_with_a_hint_and_the_empty_field_lists_the_keys() {
    let mut b = on_log();
    b.keys("/");
    let screen = b.draw();
    for part in ["state:", "agent:", "what became of it", " ran since until"] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    b.keys("denied");
    assert_eq!(asked(&mut b).as_deref(), Some("denied"));
    assert!(
        b.draw().contains("state:denied asks for the state"),
        "{}",
        b.draw()
    );
}

/// While a long log is read, the newest rows are there, and nothing says that they are sound.
#[test]
fn rows_that_are_not_checked_yet_are_told_as_such() {
    let page = || AuditPage {
        reading: Some(943_000_000),
        ..audit_page()
    };
    let mut b = Bench::new(120, 30);
    b.keys("2");
    b.ui.set_audit(page());
    let screen = b.draw();
    let told = "reading all of the log (943 MB): the newest rows, not checked yet";
    assert!(screen.contains(told), "{screen}");
    assert!(
        screen.contains("proposal 0") && !screen.contains("consistent"),
        "{screen}"
    );
    b.ui.set_audit(audit_page());
    assert!(!b.draw().contains("not checked yet"));
    // Even if there are none.
    b.ui.set_audit(AuditPage {
        reading: Some(943_000_000),
        ..AuditPage::default()
    });
    assert!(b.draw().contains(told));
}

#[test]
fn anchors_that_begin_later_are_told_as_such() {
    let mut b = Bench::new(120, 30);
    b.keys("2");
    b.ui.set_audit(AuditPage {
        anchored_from: 1_001,
        ..audit_page()
    });
    let screen = b.draw();
    assert!(
        screen.contains("anchored from seq 1,001 through 1,284"),
        "{screen}"
    );
}
