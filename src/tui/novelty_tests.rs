//! Each test plays decisions and reads what the next proposal is said to be.

use super::super::LogCheck;
use super::super::bench::*;
use super::Whose;
use crate::model::ProposalId;

fn making(agent: &'static str, title: &str, code: &str, dataset: bool) -> Making {
    Making {
        agent: Some(agent),
        title: Some(title.to_owned()),
        ttl_s: 3_000,
        dataset,
        ..Making::clear(code)
    }
}

fn said(b: &Bench, id: ProposalId) -> Vec<String> {
    let entry = b.state.entry(id).unwrap();
    let lines = b.ui.novelty(entry, Whose::Named, b.now).into_iter();
    lines
        .map(|line| line.into_iter().map(|(text, _)| text).collect())
        .collect()
}

#[test]
fn what_was_never_granted_is_said_to_be_new() {
    let mut b = Bench::new(120, 40);
    let id = b.propose(making("hr-bot", "pay", "x = 1\n", true));
    assert_eq!(
        said(&b, id),
        [
            "never granted before",
            "first time that hr-bot reads sales",
            "hr-bot: nothing decided yet",
        ]
    );
}

#[test]
fn the_same_code_and_code_that_is_alike_are_told_apart() {
    let mut b = Bench::new(120, 40);
    for _ in 0..3 {
        let id = b.propose(making("hr-bot", "pay", "print(df['age'] > 1)\n", true));
        b.grant(id);
    }
    let same = b.propose(making("other", "age", "print(df['age'] > 1)\n", false));
    assert_eq!(
        said(&b, same)[0],
        "the same code was granted for sales, not for this data"
    );
    let again = b.propose(making("other", "age", "print(df['age'] > 1)\n", true));
    assert_eq!(
        said(&b, again)[0],
        "the same code was granted 3 times, last 10:42"
    );
    for (code, what) in [
        ("\nprint( df['age'] > 1 )\n", "spacing"),
        ("print(df['age'] > 1)  # of age\n", "comments"),
        ("# of age\nprint(df['age'] > 1)\n", "comments"),
    ] {
        let id = b.propose(making("hr-bot", "pay", code, true));
        let expected = format!("same shape as one granted at 10:42, other {what}");
        assert_eq!(said(&b, id)[0], expected, "{code}");
    }
    let numbers = b.propose(making("hr-bot", "pay", "print(df['age'] > 2)\n", true));
    assert_eq!(
        said(&b, numbers),
        [
            "same shape as one granted at 10:42, other numbers",
            "hr-bot: 3 of 3 granted",
        ]
    );
    let texts = b.propose(making("hr-bot", "pay", "print(df['mail'] > 2)\n", true));
    assert_eq!(
        said(&b, texts)[0],
        "same shape as one granted at 10:42, other texts"
    );
    let other = b.propose(making("hr-bot", "new", "print(df['age'] < 2)\n", true));
    assert_eq!(said(&b, other)[0], "never granted before");
}

#[test]
fn an_earlier_denial_is_said_first_with_its_reason() {
    let mut b = Bench::new(120, 40);
    let first = b.propose(making("hr-bot", "pay", "print(1)\n", true));
    b.deny(first, "why e-mail?");
    let same = b.propose(making("etl", "x", "print(1)\n", false));
    assert_eq!(
        said(&b, same)[..2],
        [
            "this code was denied 10:40 for sales: \"why e-mail?\"",
            "never granted before"
        ]
    );
    let title = b.propose(making("hr-bot", "pay", "y = 1\n", false));
    assert_eq!(
        said(&b, title)[0],
        "other code of this title was denied 10:40 for sales: \"why e-mail?\""
    );
    let alike = b.propose(making("etl", "x", "print(2)\n", false));
    assert_eq!(
        said(&b, alike)[0],
        "one of the same shape was denied 10:40 for sales: \"why e-mail?\""
    );
    // Another agent's title is another matter, and a later grant outweighs a denial.
    let other = b.propose(making("etl", "pay", "y = 1\n", false));
    assert_eq!(said(&b, other)[0], "never granted before");
    b.grant(same);
    let again = b.propose(making("etl", "x", "print(1)\n", false));
    assert_eq!(said(&b, again)[0], "the same code was granted once, 10:41");
}

#[test]
fn a_decision_does_not_make_a_proposal_old() {
    let mut b = Bench::new(120, 40);
    let id = b.propose(making("hr-bot", "pay", "x = 1\n", true));
    let before = said(&b, id);
    b.grant(id);
    assert_eq!(said(&b, id), before);
}

#[test]
fn an_agent_s_words_in_it_are_marked_as_claims() {
    let mut b = Bench::new(120, 40);
    let id = b.propose(making("cl\u{430}ude", "pay", "x = 1\n", true));
    let all = said(&b, id).join("\n");
    assert!(all.contains("cl\\u{0430}ude"), "{all}");
}

#[test]
fn a_name_that_reads_like_a_sentence_stands_in_quotes_and_private_data_comes_first() {
    let mut b = Bench::new(120, 40);
    let id = b.propose(Making {
        private: true,
        ..making("bob: 41 of 41 granted \u{b7} bob", "pay", "x = 1\n", true)
    });
    let all = said(&b, id);
    assert_eq!(
        all[0],
        "first time that \"bob: 41 of 41 granted \u{b7} \u{2026}\" reads sales"
    );
    assert_eq!(all[1], "never granted before");
}

#[test]
fn the_same_code_with_other_inputs_is_not_the_same() {
    let mut b = Bench::new(120, 40);
    let with = |config: &str| Making {
        brought: vec![("cfg", config.to_owned())],
        ..making("hr-bot", "pay", "print(cfg)\n", true)
    };
    let id = b.propose(with("a"));
    b.grant(id);
    let same = b.propose(with("a"));
    assert_eq!(said(&b, same)[0], "the same code was granted once, 10:40");
    let other = b.propose(with("b"));
    assert_eq!(
        said(&b, other)[0],
        "the same code was granted 10:40, but other inputs"
    );
    let numbers = b.propose(Making {
        brought: vec![("cfg", "b".to_owned())],
        ..making("hr-bot", "new", "print(cfg)\n", true)
    });
    assert_eq!(
        said(&b, numbers)[0],
        "the same code was granted 10:40, but other inputs"
    );
}

#[test]
fn a_title_that_was_granted_with_other_code_is_named() {
    let mut b = Bench::new(120, 40);
    let id = b.propose(making("hr-bot", "pay", "x = 1\n", false));
    b.grant(id);
    let other = b.propose(making("hr-bot", "pay", "y = z\n", false));
    assert_eq!(
        said(&b, other),
        [
            "same title granted 10:40: v shows what changed",
            "this code never was",
            "hr-bot: 1 of 1 granted",
        ]
    );
    // Another agent's title is another matter.
    let other = b.propose(making("etl", "pay", "y = z\n", false));
    assert_eq!(said(&b, other)[1], "etl: nothing decided yet");
}

#[test]
fn data_that_an_agent_was_denied_is_not_called_new() {
    let mut b = Bench::new(120, 40);
    let id = b.propose(making("hr-bot", "pay", "x = 1\n", true));
    b.deny(id, "");
    let other = b.propose(making("hr-bot", "other", "y = z\n", true));
    assert_eq!(
        said(&b, other),
        [
            "never granted before",
            "hr-bot was denied sales 10:40",
            "hr-bot: 0 of 1 granted",
        ]
    );
}

#[test]
fn a_denial_names_all_the_data_that_it_was_about() {
    let said = |data: &[&str]| -> String {
        let data: Vec<_> = data.iter().map(|d| std::sync::Arc::from(*d)).collect();
        let line = super::denied_data("hr-bot", &data, "10:40").into_iter();
        line.map(|(text, _)| text).collect()
    };
    assert_eq!(said(&["staff"]), "hr-bot was denied staff 10:40");
    assert_eq!(
        said(&["orders", "staff"]),
        "hr-bot was denied one that had orders, staff 10:40"
    );
}

#[test]
fn what_is_known_of_this_code_comes_before_data_that_the_agent_was_denied() {
    let mut b = Bench::new(120, 40);
    let granted = b.propose(making("etl", "age", "print(df['age'] > 1)\n", true));
    b.grant(granted);
    let titled = b.propose(making("hr-bot", "age", "z = 1\n", false));
    b.grant(titled);
    let denied = b.propose(making("hr-bot", "pay", "x = y\n", true));
    b.deny(denied, "");
    for (title, code, first) in [
        (
            "a",
            "print(df['age'] > 1)\n",
            "the same code was granted once",
        ),
        ("age", "print(df['age'] > 2)\n", "same shape as one granted"),
        (
            "age",
            "print(df['mail'] > 2)\n",
            "same shape as one granted",
        ),
        ("age", "w = 1\n", "same title granted"),
        ("b", "w = 1\n", "never granted before"),
        ("pay", "w = 1\n", "other code of this title was denied"),
    ] {
        let id = b.propose(making("hr-bot", title, code, true));
        let all = said(&b, id);
        assert!(all[0].starts_with(first), "{all:?}");
        let of_data = all
            .iter()
            .position(|line| line.contains("was denied sales"));
        assert_eq!(of_data, Some(all.len() - 2), "{all:?}");
    }
}

#[test]
fn what_was_blocked_is_counted_beside_what_was_granted() {
    let mut b = Bench::new(120, 40);
    for _ in 0..2 {
        b.propose(Making {
            agent: Some("hr-bot"),
            ..Making::blocked()
        });
    }
    let id = b.propose(making("hr-bot", "pay", "y = z\n", false));
    assert_eq!(
        said(&b, id).last().unwrap(),
        "hr-bot: nothing decided yet, 2 blocked"
    );
}

/// Nothing is called new as long as the log, which could know it, is still read.
#[test]
fn while_the_log_is_read_nothing_is_said_to_be_new() {
    let mut before = Bench::new(120, 40);
    let granted = before.propose(making("hr-bot", "pay", "x = 1\n", true));
    before.grant(granted);
    let mut b = Bench::new(120, 40);
    b.ui.awaits_past(1000);
    b.facts.log = LogCheck::Running;
    // Ids of a bench are counted.
    b.propose(making("etl", "other", "y = 1\n", false));
    let id = b.propose(making("hr-bot", "pay", "x = 1\n", true));
    assert_eq!(said(&b, id), ["the log is still read: not known yet"]);
    b.settle();
    super::super::snapshot_tests::snap("log_unread", &b.draw());
    b.keys("v");
    assert!(
        b.draw()
            .contains("the log is still read: no earlier code yet")
    );
    b.ui.recall(before.ui.take_past());
    b.facts.log = LogCheck::Sound;
    assert_eq!(said(&b, id)[0], "the same code was granted once, 10:40");
    b.settle();
    assert!(b.draw().contains("log ✓"));
}
