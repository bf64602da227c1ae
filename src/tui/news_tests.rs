//! What is the same for most proposals takes no row of its own, and what was told once stands behind its key.

use crossterm::event::KeyCode;

use super::bench::*;
use super::snapshot_tests::at_sizes;

fn by(agent: &'static str, title: &str, code: &str) -> Making {
    Making {
        agent: Some(agent),
        title: Some(title.to_owned()),
        ttl_s: 3_000,
        ..Making::clear(code)
    }
}

/// The rows above the code that answer NEW.
fn new(text: &str) -> Option<&str> {
    let mut above = text.lines().take_while(|line| !line.contains("─ CODE"));
    above.find(|line| line.contains("NEW "))
}

/// Long code, so that rows are few, with much that leaves.
fn long(name: &str) -> String {
    let rest: String = (0..40).map(|i| format!("{name}_{i} = {i}\n")).collect();
    format!("rate = df.mean()\nprint(\"{name}\", rate)\n{rest}")
}

#[test]
fn that_a_code_is_new_has_no_row_of_its_own_once_its_agent_had_others_granted() {
    let mut b = Bench::new(80, 24);
    let first = b.propose(by("hr-bot", "pay", "x = 1\n"));
    let text = b.settle();
    assert!(
        new(&text).unwrap().contains("never granted before"),
        "{text}"
    );
    b.grant(first);
    let ordinary = b.propose(by("hr-bot", "age", &long("age")));
    b.choose(ordinary);
    let text = b.draw();
    assert!(!text.contains("never granted"), "no row has room: {text}");
    let short = b.propose(by("hr-bot", "age", &lines(40)));
    b.choose(short);
    let text = b.draw();
    assert!(
        text.contains("RETURNS output  NEW never granted\n"),
        "{text}"
    );
    // Another agent, whose first it is; data that the agent never read; a title that was granted.
    for (making, said) in [
        (
            by("etl", "load", &long("load")),
            " NEW     nothing of this agent was granted before",
        ),
        (
            Making {
                dataset: false,
                ..by("hr-bot", "pay", &long("other"))
            },
            " NEW     same title granted",
        ),
    ] {
        let id = b.propose(making);
        b.choose(id);
        let text = b.draw();
        assert!(new(&text).unwrap().starts_with(said), "{text}");
    }
    let mut b = Bench::new(80, 24);
    let first = b.propose(Making {
        dataset: false,
        ..by("hr-bot", "pay", "x = 1\n")
    });
    b.choose(first);
    b.grant(first);
    let reads = b.propose(by("hr-bot", "age", &long("age")));
    b.choose(reads);
    let text = b.draw();
    assert!(
        new(&text)
            .unwrap()
            .starts_with(" NEW     first read of sales"),
        "{text}"
    );
}

#[test]
fn the_shared_uid_stands_behind_its_key_once_a_sheet_said_it() {
    at_sizes("uid_told", |b| {
        b.propose(Making::clear("print(1)\n"));
        b.settle();
        b.open_sheet();
        b.press(KeyCode::Esc);
        b.settle();
    });
    let mut b = Bench::new(120, 40);
    b.propose(Making::clear("print(1)\n"));
    let text = b.settle();
    assert!(text.contains("▲ agents share your uid"), "{text}");
    b.open_sheet();
    assert!(
        b.draw().contains("▲ agents share your uid   process"),
        "the sheet is still open"
    );
    b.press(KeyCode::Esc);
    let text = b.draw();
    assert!(text.contains("▲ uid (i)"), "{text}");
    b.keys("i");
    let text = b.draw();
    assert!(text.contains("▲ agents share your uid: one"), "{text}");
}

#[test]
fn a_clear_verdict_has_the_rule_of_its_pane_where_code_has_no_room() {
    let mut b = Bench::new(80, 24);
    b.propose(by("hr-bot", "age", &long("age")));
    let text = b.settle();
    assert!(
        text.contains("─ [FINDINGS] ● clear: no proof of safety  CAN "),
        "{text}"
    );
    assert!(!text.contains("No rule matched"), "{text}");
    // Whoever goes there reads the sentence.
    b.focus_on(super::ui::Pane::Verdict);
    assert!(
        b.draw()
            .contains("No rule matched. That does not make it safe.")
    );
}

#[test]
fn the_key_that_goes_on_has_one_name_and_is_offered_where_it_goes_somewhere() {
    let mut b = Bench::new(120, 40);
    b.propose(Making {
        ttl_s: 100,
        ..by("hr-bot", "a", "x = 1\n")
    });
    let other = b.propose(by("etl", "b", "y = z\n"));
    let text = b.settle();
    assert!(!text.contains("next waiting"), "it is selected: {text}");
    b.choose(other);
    assert!(b.draw().contains("u next waiting"));
    b.keys("u");
    b.keys("u");
    assert_eq!(notice(&b), "the next waiting one is selected");
}

#[test]
fn files_come_back_only_from_code_that_may_write_some() {
    let said = |making: Making| {
        let mut b = Bench::new(200, 60);
        b.propose(making);
        b.settle()
    };
    assert!(said(Making::clear("print(1)\n")).contains("RETURNS output\n"));
    let flagged = said(Making::flagged());
    assert!(
        flagged.contains("as is; files"),
        "eval may write: {flagged}"
    );
}
