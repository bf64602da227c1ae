//! The filter narrows the queue to rows that say some words, and hides nothing silently.

use crossterm::event::KeyCode;

use super::bench::*;
use super::snapshot_tests::at_sizes;

fn named(agent: &'static str, title: &str, ttl_s: u64) -> Making {
    Making {
        agent: Some(agent),
        title: Some(title.to_owned()),
        ttl_s,
        ..Making::clear(&format!("print({title:?})\n"))
    }
}

/// Four proposals of three agents; one reads private data and writes.
fn four(b: &mut Bench) {
    b.propose(named("notebook", "Orders by month", 1_200));
    b.propose(Making::more_than_it_says());
    b.propose(named("etl-bot", "Write the report", 45));
    b.propose(named("etl-bot", "Orders by week", 900));
    b.settle();
}

fn filter(b: &mut Bench, words: &str) {
    b.keys("f");
    for _ in 0..40 {
        b.press(KeyCode::Backspace);
    }
    b.keys(words);
    b.press(KeyCode::Enter);
}

/// The titles in the queue's column.
fn rows(b: &mut Bench) -> Vec<&'static str> {
    let titles = [
        "Orders by month",
        "Head count",
        "Write the",
        "Orders by week",
    ];
    let text = b.draw();
    let column = |line: &str| line.chars().take(36).collect::<String>();
    let lines: Vec<String> = text.lines().map(column).collect();
    titles
        .into_iter()
        .filter(|title| lines.iter().any(|line| line.contains(title)))
        .collect()
}

#[test]
fn a_filter_is_told_with_what_it_hides() {
    at_sizes("filter", |b| {
        four(b);
        filter(b, "orders");
        b.settle();
    });
    at_sizes("filter_prompt", |b| {
        four(b);
        b.keys("ford");
    });
}

#[test]
fn rows_are_narrowed_to_what_they_say_and_esc_shows_all_again() {
    let mut b = Bench::new(160, 40);
    four(&mut b);
    let all = rows(&mut b).len();
    assert_eq!(all, 4);
    for (words, expected) in [
        ("etl orders", &["Orders by week"][..]),
        ("PRIVATE", &["Head count"][..]),
        ("PRIV W", &["Head count"][..]),
        ("flagged", &["Head count"][..]),
        ("W", &["Head count"][..]),
        ("etl", &["Write the", "Orders by week"][..]),
    ] {
        filter(&mut b, words);
        assert_eq!(rows(&mut b), expected, "{words}");
        assert!(
            b.draw().contains(&format!("{} of 4", expected.len())),
            "{words}"
        );
    }
    // The keys that move go through the rows that are shown.
    b.keys("jj");
    assert!(rows(&mut b).len() == 2);
    b.press(KeyCode::Esc);
    assert_eq!(notice(&b), "the filter is off");
    assert_eq!(rows(&mut b).len(), 4);
}

#[test]
fn the_first_row_is_selected_with_a_fresh_grace_if_the_selected_one_is_hidden() {
    let mut b = Bench::new(160, 40);
    four(&mut b);
    let first = b.ui.selected();
    b.keys("fetl");
    assert_eq!(b.ui.selected(), first, "typing moves nothing");
    b.press(KeyCode::Enter);
    assert_ne!(b.ui.selected(), first);
    b.keys("a");
    assert!(b.ui.sheet().is_none(), "the grace is fresh");
    // A filter that shows nothing moves nothing.
    let now = b.ui.selected();
    filter(&mut b, "nobody says this");
    assert_eq!(b.ui.selected(), now);
    assert!(notice(&b).contains("not found"), "{}", notice(&b));
    assert!(b.draw().contains("filter \"nobody says"), "{}", b.draw());
}

#[test]
fn a_filter_that_shows_nothing_says_so_in_words() {
    let shown = |b: &mut Bench, said: &str| {
        let text = b.draw();
        assert!(text.contains(said), "{said}: {text}");
        assert!(!text.contains("0 of "), "{text}");
    };
    let mut b = Bench::new(80, 24);
    four(&mut b);
    b.keys("fxyz");
    shown(&mut b, "filter \"xyz\" hides all 4\n");
    b.press(KeyCode::Enter);
    shown(&mut b, "filter \"xyz\" hides all 4; Esc clears");
    b.press(KeyCode::Esc);
    assert_eq!(notice(&b), "the filter is off");
    // Nothing waits any more.
    let mut b = Bench::new(80, 24);
    b.propose(named("notebook", "Orders by month", 1_200));
    b.settle();
    b.keys("d");
    b.press(KeyCode::Enter);
    b.carry_out();
    filter(&mut b, "xyz");
    shown(&mut b, "filter \"xyz\": nothing waits; Esc clears");
}

#[test]
fn a_search_while_nothing_waits_says_so() {
    let mut b = Bench::new(80, 24);
    b.draw();
    for key in ["/", "f"] {
        b.keys(key);
        assert!(b.ui.prompt().is_none(), "{key}");
        assert_eq!(notice(&b), "nothing is pending", "{key}");
    }
    b.propose(named("notebook", "Orders by month", 1_200));
    b.settle();
    b.keys("d");
    b.press(KeyCode::Enter);
    b.carry_out();
    b.keys("/");
    assert!(b.draw().contains("search, nothing waits: "));
}

#[test]
fn leaving_the_prompt_restores_the_filter_that_was_on() {
    let mut b = Bench::new(160, 40);
    four(&mut b);
    filter(&mut b, "etl");
    b.keys("fx");
    assert_eq!(b.ui.queue.lists.filter.words(), "etlx");
    assert_eq!(rows(&mut b).len(), 0);
    b.press(KeyCode::Esc);
    assert_eq!(b.ui.queue.lists.filter.words(), "etl");
    assert_eq!(rows(&mut b).len(), 2);
}

#[test]
fn a_hidden_proposal_that_expires_soon_is_told_and_u_reaches_it() {
    let mut b = Bench::new(160, 40);
    four(&mut b);
    filter(&mut b, "orders");
    let text = b.settle();
    assert!(text.contains("a hidden one has 0:4"), "{text}");
    b.keys("u");
    assert_eq!(notice(&b), "the filter hid it and is off now");
    let text = b.settle();
    assert!(text.contains("Write the report"), "{text}");
    assert_eq!(rows(&mut b).len(), 4);
    // What the filter shows needs no dropping.
    filter(&mut b, "etl");
    b.keys("u");
    assert_eq!(rows(&mut b).len(), 2);
}

#[test]
fn new_proposals_are_filtered_too_and_counted() {
    let mut b = Bench::new(160, 40);
    four(&mut b);
    filter(&mut b, "etl");
    b.propose(named("etl-bot", "One more", 100));
    b.propose(named("notebook", "Hidden", 100));
    let text = b.settle();
    assert!(text.contains("3 of 6, 3 hidden"), "{text}");
    assert!(
        text.contains("One more") && !text.contains("Hidden"),
        "{text}"
    );
}

#[test]
fn after_a_denial_the_next_one_that_is_shown_comes_first() {
    let mut b = Bench::new(160, 40);
    four(&mut b);
    filter(&mut b, "orders");
    b.settle();
    b.keys("d");
    b.press(KeyCode::Enter);
    b.carry_out();
    let text = b.settle();
    assert!(text.contains("1 of 3, 2 hidden"), "{text}");
    assert!(text.contains("says: Orders by week") || text.contains("Orders by week"));
    // The last one that is shown is gone: the filter goes too, and says so.
    b.keys("d");
    b.press(KeyCode::Enter);
    b.carry_out();
    assert_eq!(notice(&b), "the filter hid it and is off now");
    assert_eq!(b.state.pending_count(), 2);
}

#[test]
fn an_imitated_name_is_found_by_its_marks_and_not_by_the_name_that_it_imitates() {
    let mut b = Bench::new(160, 40);
    b.propose(named("cl\u{430}ude", "Orders by month", 1_200));
    b.propose(named("claude", "Orders by week", 1_200));
    b.settle();
    filter(&mut b, "claude");
    assert_eq!(rows(&mut b), ["Orders by week"]);
    filter(&mut b, "\\u{0430}");
    assert_eq!(rows(&mut b), ["Orders by month"]);
}

#[test]
fn search_in_the_queue_works_on_what_its_rows_say() {
    let mut b = Bench::new(160, 40);
    four(&mut b);
    for (words, found) in [("PRIVATE", "Head count"), ("flagged", "Head count")] {
        b.press(KeyCode::Home);
        b.keys("/");
        b.keys(words);
        b.press(KeyCode::Enter);
        let entry = b.state.entry(b.ui.selected().unwrap()).unwrap();
        let title = entry.proposal.title.clone().unwrap();
        assert!(title.starts_with(found), "{words}: {title}");
    }
}

#[test]
fn a_text_field_shows_what_is_typed_before_its_keys() {
    let text = "forty columns of a text, each one of them";
    for (open, keys) in [
        ("f", "Enter keeps it"),
        ("/", "Enter searches"),
        (":", "Enter does it"),
        ("d", "Enter sends"),
    ] {
        let mut b = Bench::new(80, 24);
        b.propose(Making {
            agent: Some("hr-insights"),
            ..Making::clear("print(len(df))\n")
        });
        b.settle();
        b.keys(open);
        assert!(b.draw().contains(&format!("{keys}  Esc")), "{}", b.draw());
        for (at, c) in text.char_indices().take(40) {
            b.keys(&c.to_string());
            let screen = b.draw();
            assert!(
                screen.contains(&format!(": {}", text[..=at].trim_end())),
                "{screen}"
            );
        }
    }
}
