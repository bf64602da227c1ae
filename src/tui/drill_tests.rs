//! Drills on the screen: like any other proposal before the decision, and told afterwards.

use crossterm::event::KeyCode;
use uuid::Uuid;

use crate::broker::Event;
use crate::model::{Draft, Drill, Harm, LogEvent, ProposalId, State};

use super::bench::*;
use super::snapshot_tests::at_sizes;

const CODE: &str = "total = 3\nopen(\"copy.txt\", \"w\").write(str(total))\nprint(total)\n";

fn making() -> Making {
    Making {
        title: Some("the total".to_owned()),
        dataset: false,
        ttl_s: 1_900,
        ..Making::clear(CODE)
    }
}

fn drill(b: &mut Bench) -> ProposalId {
    let id = ProposalId::from_uuid(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_00dd_dddd));
    b.verdicts.push_back(making().verdict());
    b.apply(Event::Drill {
        id,
        draft: Box::new(Draft {
            code: CODE.into(),
            profile: None,
            title: making().title,
            reason: None,
            agent: None,
            inputs: Default::default(),
            ttl_s: None,
            stream: false,
            idempotency_key: None,
            traceparent: None,
        }),
        drill: Drill {
            template: "sample".to_owned(),
            harm: Harm::Write,
            line: 2,
            does: "writes a file that the title does not speak of".to_owned(),
            wording: Default::default(),
        },
    });
    id
}

fn real(b: &mut Bench) -> ProposalId {
    b.propose(Making {
        ttl_s: 1_900,
        ..Making::clear("print(len(df))\n")
    })
}

/// The screen with a drill or with the same proposal of a real agent: nothing tells them apart.
#[test]
fn a_pending_drill_looks_like_any_other_proposal() {
    let see = |b: &mut Bench, id: ProposalId| {
        b.choose(id);
        b.read();
        let text = b.draw();
        b.open_sheet();
        [text, b.draw()].map(|text| hide_digest(&text))
    };
    let mut drilled = Bench::new(120, 40);
    real(&mut drilled);
    let id = drill(&mut drilled);
    let with_drill = see(&mut drilled, id);
    let mut proposed = Bench::new(120, 40);
    real(&mut proposed);
    let id = proposed.propose(making());
    assert_eq!(with_drill, see(&mut proposed, id));
}

/// Without what depends on the id: the grant's digest and the end of the id itself.
fn hide_digest(text: &str) -> String {
    let digits = |word: &str| {
        let word = word.trim_start_matches("sha256:");
        word.len() >= 4 && word.chars().all(|c| c.is_ascii_hexdigit())
    };
    let words = |line: &str| {
        let words = line.split(' ').map(|word| match digits(word) {
            true => "#".repeat(word.len()),
            false => word.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    };
    text.lines().map(words).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_granted_drill_is_told_and_nothing_was_asked_of_the_executor() {
    at_sizes("drill_granted", |b| {
        real(b);
        let id = drill(b);
        b.choose(id);
        b.read();
        b.open_sheet();
        b.keys("y");
        b.carry_out();
        assert_eq!(b.state.entry(id).unwrap().state(), State::Drilled);
        let granted = |event: &LogEvent| matches!(event, LogEvent::Granted(_));
        assert!(!b.events.iter().any(granted));
    });
}

#[test]
fn a_denied_drill_is_told_as_caught_and_counted() {
    at_sizes("drill_caught", |b| {
        let id = real(b);
        b.deny(id, "no");
        real(b);
        let id = drill(b);
        b.choose(id);
        b.read();
        b.deny(id, "it writes");
    });
}

#[test]
fn a_drill_that_nobody_answered_is_told_too() {
    let mut b = Bench::new(120, 40);
    real(&mut b);
    drill(&mut b);
    b.tick(1_900_000);
    let text = b.draw();
    assert!(
        text.contains("That was a drill, and nobody answered it; line 2 writes"),
        "{text}"
    );
    b.press(KeyCode::Char('j'));
    let said = b.ui.notice(&b.state, b.now);
    let is_of_it = said.is_some_and(|said| said.contains("drill"));
    assert!(!is_of_it, "until the next key");
}

/// What is said comes after the selection moved on.
#[test]
fn a_drill_among_all_of_an_agent_is_told_after_they_were_denied_together() {
    let mut b = Bench::new(120, 40);
    let id = real(&mut b);
    drill(&mut b);
    b.choose(id);
    b.deny_all("no");
    b.press(KeyCode::Enter);
    b.carry_out();
    let text = b.draw();
    assert!(text.contains("nobody answered it; line 2"), "{text}");
}
