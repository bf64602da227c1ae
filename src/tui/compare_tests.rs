//! The diff and the pane of earlier proposals.

use crossterm::event::KeyCode;

use super::bench::*;
use super::snapshot_tests::at_sizes;
use super::ui::{Over, Pane};
use super::{Action, Comparison};
use crate::model::ProposalId;

const BEFORE: &str = "staff = df.copy()\nfor name, part in staff.groupby(\"dept\"):\n    print(name, len(part))\nprint(\"done\")\n";
const AFTER: &str = "staff = df.copy()\nfor name, part in staff.groupby(\"dept\"):\n    print(name, part[\"email\"].head(2).tolist())\nprint(\"done\")\n";

fn making(agent: &'static str, title: &str, code: &str) -> Making {
    Making {
        agent: Some(agent),
        title: Some(title.to_owned()),
        ttl_s: 3_000,
        ..Making::clear(code)
    }
}

fn grant(b: &mut Bench, making: Making) -> ProposalId {
    let id = b.propose(making);
    b.grant(id);
    id
}

fn deny(b: &mut Bench, making: Making, reason: &str) -> ProposalId {
    let id = b.propose(making);
    b.deny(id, reason);
    id
}

/// A proposal after a granted and a denied one.
fn after(b: &mut Bench) -> ProposalId {
    grant(b, making("hr-bot", "Head count per department", BEFORE));
    deny(b, making("hr-bot", "Pay", "print(df)\n"), "why e-mail?");
    let id = b.propose(making("hr-bot", "Head count per department", AFTER));
    b.choose(id);
    id
}

fn against(b: &mut Bench) -> String {
    let text = b.draw();
    text.lines()
        .find(|l| l.contains("against "))
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn diff() {
    at_sizes("diff", |b| {
        after(b);
        b.keys("v");
        b.carry_out();
    });
}

#[test]
fn past() {
    at_sizes("past", |b| {
        after(b);
        b.focus_on(Pane::Past);
    });
}

#[test]
fn deny_prompt_with_an_earlier_reason() {
    at_sizes("deny_prompt_earlier", |b| {
        after(b);
        b.keys("d");
        b.press(KeyCode::Up);
    });
}

/// Invariant 5: what a diff shows is not what is granted.
#[test]
fn a_diff_never_counts_as_seen() {
    let mut b = Bench::new(120, 40);
    grant(&mut b, making("hr-bot", "t", &lines(200)));
    let id = b.propose(making("hr-bot", "t", &lines(201)));
    b.choose(id);
    let seen = |b: &Bench| b.ui.looked(id).map(|l| l.seen.clone());
    let before = seen(&b);
    b.keys("v");
    b.carry_out();
    for _ in 0..50 {
        b.look();
        b.advance(1_000);
        b.keys(" ");
    }
    assert!(b.draw().contains("x201 = 201"), "{}", b.draw());
    assert!(b.drawn.ranges.is_empty() && b.drawn.findings.is_empty());
    assert_eq!(seen(&b), before);
    // `a` leads back to the code and says what is missing of it.
    b.keys("a");
    let screen = b.draw();
    assert!(
        b.ui.sheet().is_none() && screen.contains("not seen"),
        "{screen}"
    );
}

#[test]
fn a_key_that_asks_to_grant_on_a_diff_goes_by_the_rows_of_the_code() {
    let mut b = Bench::new(120, 40);
    let id = after(&mut b);
    b.read();
    b.keys("v");
    b.carry_out();
    b.draw();
    // Too early is too early here as well.
    b.advance(10);
    b.keys("a");
    assert!(b.ui.sheet().is_none());
    b.keys("v");
    b.carry_out();
    b.look();
    b.advance(1_000);
    b.keys("a");
    assert_eq!(b.ui.sheet_for(), Some(id));
}

#[test]
fn v_goes_from_the_agents_title_to_the_agent_and_to_the_same_shape_and_then_closes() {
    let mut b = Bench::new(120, 40);
    grant(&mut b, making("other", "x", "print(df[\"dept\"])\n"));
    grant(&mut b, making("hr-bot", "Age", "y = 2\n"));
    grant(&mut b, making("hr-bot", "Pay", "y = 1\n"));
    grant(&mut b, making("hr-bot", "Pay", "z = 1\n"));
    deny(&mut b, making("hr-bot", "Pay", "w = 1\n"), "no");
    let id = b.propose(making("hr-bot", "Pay", "print(df[\"email\"])\n"));
    b.choose(id);
    b.keys("v");
    for (agent, title, code) in [
        ("hr-bot", "Pay", "z = 1"),
        ("hr-bot", "Pay", "y = 1"),
        ("hr-bot", "Age", "y = 2"),
        ("other", "x", "dept"),
    ] {
        b.carry_out();
        let line = against(&mut b);
        assert!(line.contains(agent) && line.contains(title), "{line}");
        assert!(b.draw().contains(code), "{}", b.draw());
        b.keys("v");
    }
    assert!(matches!(b.ui.over(), Over::Nothing));
    b.keys("v");
    b.press(KeyCode::Esc);
    assert!(matches!(b.ui.over(), Over::Nothing));
}

#[test]
fn a_diff_says_when_there_is_nothing_to_compare_or_the_log_cannot_give_it() {
    let mut b = Bench::new(120, 40);
    let id = b.propose(making("hr-bot", "Pay", "y = 1\n"));
    b.choose(id);
    assert!(b.keys("v").is_empty());
    assert!(notice(&b).contains("no code to compare with"));
    let mut b = Bench::new(120, 40);
    after(&mut b);
    let Some(Action::Compare(Comparison { number, .. })) = b.keys("v").pop() else {
        panic!("no question to the log");
    };
    // An answer to an earlier question is not shown.
    b.ui.set_diff(number - 1, Err("another".to_owned()));
    assert!(!b.draw().contains("another"));
    b.ui.set_diff(number, Err("it is missing".to_owned()));
    assert!(
        b.draw()
            .contains("cannot be read from the log: it is missing")
    );
}

#[test]
fn a_diff_closes_when_the_selection_moves() {
    let mut b = Bench::new(120, 40);
    let first = after(&mut b);
    let other = b.propose(making("hr-bot", "Pay", "y = 1\n"));
    b.keys("v");
    b.carry_out();
    assert!(matches!(b.ui.over(), Over::Diff(_)));
    b.ui.select(other, b.now);
    assert!(matches!(b.ui.over(), Over::Nothing));
    b.ui.select(first, b.now);
    assert!(matches!(b.ui.over(), Over::Nothing));
}

#[test]
fn the_pane_of_earlier_proposals_is_there_only_if_there_are_any() {
    let mut b = ready();
    assert!(!b.draw().contains("PAST"));
    after(&mut b);
    assert!(b.draw().contains("PAST"));
}
