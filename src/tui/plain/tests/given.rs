//! What is not the program's is said as it is: only own words have their signs in words.

use super::super::super::action::{AuditPage, AuditRow};
use super::exact::whole;
use super::*;

/// Every sign that the program says in words.
const SIGNS: &str = "r · s × t ▲ u ≈ – — … ⋯ ↑ ↓ ← → ■ ● ○ ✓ ✗ ─ │ █ v  w";

fn said(text: &str) -> String {
    exact(SIGNS).0 + text
}

/// The signs in a claim, where two blanks are a mark.
fn claimed() -> String {
    exact(SIGNS).0.replace("v  w", "v\\u{20}x2w")
}

fn lines_of(text: &str) -> String {
    whole(&text.replace("\r\n", "\n")).join("\n")
}

#[test]
fn signs_in_claims_code_data_and_output_stay_signs() {
    let mut v = Voice::of(Making {
        title: Some(format!("{SIGNS}title")),
        reason: Some(format!("{SIGNS}reason")),
        agent: Some("r · s"),
        brought: vec![("extra", "name,n\na · b × c,1\n".to_owned())],
        ..Making::clear(&format!("x = 1  # {SIGNS}code\n"))
    });
    let id = v.start();
    v.b.output(id, StreamName::Stdout, &format!("{SIGNS}live\n"));
    v.speak();
    v.b.end(id, run(&format!("{SIGNS}live\n{SIGNS}out\n")));
    for _ in 0..10 {
        v.speak();
        v.key(KeyCode::Tab);
    }
    let all = lines_of(&v.all);
    for end in ["code", "live", "out"] {
        assert!(all.contains(&said(end)), "{end}: {all}");
    }
    for end in ["title", "reason"] {
        assert!(all.contains(&(claimed() + end)), "{end}: {all}");
    }
    // Cells have something between them that is heard, and a name has quotes.
    for text in [
        "agent \"r · s\" says: ",
        "\n2: a · b × c,1\n",
        " first row name; n a · b × c; 1\n",
    ] {
        assert!(all.contains(text), "{text}: {all}");
    }
}

#[test]
fn a_record_of_the_log_is_exact() {
    let mut v = Voice::new();
    v.speak();
    v.keys("2");
    v.b.ui.set_audit(AuditPage {
        rows: vec![AuditRow::default()],
        total: 1,
        detail: Some(vec![
            "2026-01-02 10:59:07 proposed, seq 1".to_owned(),
            format!("    title: {SIGNS}"),
            "    code:".to_owned(),
            "      for i in x:".to_owned(),
            format!("          y  =  '{SIGNS}'"),
            String::new(),
        ]),
        ..AuditPage::default()
    });
    let all = lines_of(&v.speak());
    assert!(
        all.contains(&format!("field title: {}\n", claimed())),
        "{all}"
    );
    assert!(all.contains("\nline 1: for i in x:\n"), "{all}");
    let row = format!("\nline 2, indent 4: y  =  '{}'", exact(SIGNS).0);
    assert!(all.ends_with(&row), "{all}");
}

#[test]
fn the_page_of_a_proposal_is_told_by_its_parts() {
    let mut v = Voice::new();
    v.speak();
    v.keys("2");
    v.b.ui.set_audit(AuditPage {
        rows: vec![AuditRow::default()],
        total: 1,
        dossier: Some(crate::tui::dossier::tests::lying()),
        detail: Some(vec!["2026-01-02 10:59:07 proposed, seq 1".to_owned()]),
        ..AuditPage::default()
    });
    let page = lines_of(&v.speak());
    assert!(page.contains("\nTIMELINE\n"), "{page}");
    assert!(page.contains("\n+1 min 5 s: Edited by uid 0"), "{page}");
    assert!(page.contains("\n1: import pandas as pd\n"), "{page}");
    // The output: no row of it is a part, whatever it says.
    let output = v.key(KeyCode::Enter);
    assert!(output.contains("run: line 1: VERDICT\n"), "{output}");
    assert!(!output.contains("\nVERDICT\n"), "{output}");
    let records = v.keys("i");
    assert!(records.contains("proposed, seq 1"), "{records}");
}

#[test]
fn a_quote_in_a_name_stays_one() {
    for (name, said) in [
        ("q\" says", "agent \"q\\\" says\" says:"),
        ("q' says", "agent \"q' says\" says:"),
    ] {
        let v = Voice::of(Making {
            agent: Some(name),
            ..Making::clear(CODE)
        });
        assert!(v.all.contains(said), "{}", v.all);
    }
}

#[test]
fn a_terminal_that_is_too_narrow_reads_out_nothing_and_grants_nothing() {
    let mut v = Voice::of(Making::clear(CODE));
    v.wait(600);
    v.read();
    v.ask();
    v.columns = 19;
    assert_eq!(
        lines_of(&v.speak()),
        "Too narrow: 19 columns, 20 are needed. Nothing can be granted."
    );
    assert_eq!(v.keys("y"), "");
    assert!(grants(&v.b).is_empty());
    v.columns = 80;
    assert!(v.speak().contains("Back. "));
    assert!(grants(&v.b).is_empty());
}

#[test]
fn a_key_held_down_too_early_is_answered_once() {
    let mut v = Voice::of(Making::clear(CODE));
    v.wait(600);
    v.read();
    v.keys("a");
    let mut said = v.keys("y");
    for _ in 0..40 {
        said.push_str(&v.wait(25));
        said.push_str(&v.keys("y"));
    }
    assert_eq!(said.matches("too early").count(), 1, "{said}");
    assert!(!said.contains("Granted"), "{said}");
}
