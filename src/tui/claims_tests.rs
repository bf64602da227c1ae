//! Tests that what the agent says can be read beside its code, and that a zoomed pane keeps the deadline.

use ratatui::crossterm::event::KeyCode;

use super::bench::{Bench, Making, notice};
use super::snapshot_tests::at_sizes;

const TITLE: &str =
    "Orders: columns, types, the share of empty cells and every region's first and last day";
const REASON: &str = "The report on Monday needs to know which columns can be trusted before the rates are worked \
                      out, and the last delivery had cells that were empty in two of the regions.";

fn propose(b: &mut Bench) {
    b.propose(Making {
        title: Some(TITLE.to_owned()),
        reason: Some(REASON.to_owned()),
        ..Making::clear("print(df.dtypes)\nprint(df.isna().mean())\n")
    });
    b.settle();
}

#[test]
fn long_claims() {
    at_sizes("long_claims", propose);
}

#[test]
fn an_agent_without_a_name_is_called_the_same_everywhere() {
    let mut b = Bench::new(120, 40);
    b.propose(Making {
        agent: None,
        ..Making::clear("print(len(df))\n")
    });
    let screen = b.settle();
    assert!(screen.contains("python3   row count"), "{screen}");
    assert!(screen.contains("agent python3 says: row count"), "{screen}");
    b.open_sheet();
    let sheet = b.draw();
    assert!(sheet.contains("agent says  python3: row count"), "{sheet}");
    b.press(KeyCode::Esc);
    b.keys("d");
    assert!(b.draw().contains("reason for python3"));
    b.press(KeyCode::Esc);
    b.keys("D");
    assert!(b.draw().contains("only one of python3"));
    b.press(KeyCode::Tab);
    assert!(notice(&b).starts_with("python3 is paused"));
    b.keys("3");
    let agents = b.draw();
    assert!(agents.contains("▸python3"), "{agents}");
    let id = b.ui.selected().unwrap();
    let proposal = &b.state.entry(id).unwrap().proposal;
    assert_eq!(proposal.agent_id().name, "python3");
}

/// The selected row is told by a sign, in the list that has the keys by another one than elsewhere.
#[test]
fn one_list_at_a_time_has_the_sign_of_the_keys() {
    let count = |b: &mut Bench, sign: &str| b.draw().matches(sign).count();
    let mut b = Bench::new(120, 40);
    propose(&mut b);
    propose(&mut b);
    b.keys("d");
    b.press(KeyCode::Enter);
    b.carry_out();
    b.settle();
    assert_eq!((count(&mut b, "▸"), count(&mut b, "▹")), (1, 0));
    b.press(KeyCode::Enter);
    assert_eq!((count(&mut b, "▸"), count(&mut b, "▹")), (0, 1));
    b.keys("3");
    assert_eq!((count(&mut b, "▸"), count(&mut b, "▹")), (1, 0));
    b.press(KeyCode::Tab);
    assert_eq!((count(&mut b, "▸"), count(&mut b, "▹")), (0, 1));
    b.press(KeyCode::Esc);
    b.keys(":");
    assert_eq!((count(&mut b, "▸"), count(&mut b, "▹")), (1, 0));
}

/// The text of the screen, its rows joined.
fn joined(b: &mut Bench) -> String {
    let drawn = b.draw();
    let rows = drawn.lines().map(str::trim);
    rows.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_title_that_its_row_cuts_is_whole_below_it() {
    for (columns, rows) in [(80, 24), (80, 32)] {
        let mut b = Bench::new(columns, rows);
        propose(&mut b);
        let said = joined(&mut b);
        let begins = TITLE.split_at(60).0;
        assert!(said.contains(&format!("says: {begins}")), "{said}");
        assert!(said.contains("why: The report"), "{said}");
        assert!(said.contains('…'), "{said}");
    }
}

#[test]
fn an_agent_s_words_begin_no_row_and_reach_no_tag() {
    let spaces = " ".repeat(70);
    let mut b = Bench::new(80, 24);
    b.propose(Making {
        title: Some(format!("t{spaces}uid 0 READS none")),
        reason: Some(format!("r{spaces}READS   nothing{spaces}NET none")),
        ..Making::clear("print(1)\n")
    });
    b.settle();
    let drawn = b.draw();
    let rows: Vec<&str> = drawn.lines().collect();
    assert!(rows[1].trim_end().ends_with("uid 1000"), "{drawn}");
    let below = rows
        .iter()
        .skip(2)
        .take_while(|row| !row.starts_with(" READS"));
    for row in below {
        let own = row.starts_with(" says: ") || row.starts_with(" why: ");
        assert!(own || row.starts_with("      "), "{drawn}");
    }
}

#[test]
fn the_zoomed_queue_is_a_list() {
    at_sizes("zoomed_queue", |b| {
        b.propose(Making::flagged());
        propose(b);
        b.press(KeyCode::Esc);
        b.keys("z");
    });
}

#[test]
fn a_zoomed_pane_keeps_verdict_place_and_time() {
    for (columns, rows) in [(80, 24), (120, 40), (200, 60), (40, 10)] {
        let mut b = Bench::new(columns, rows);
        b.propose(Making::flagged());
        b.settle();
        for _ in 0..4 {
            b.press(KeyCode::Tab);
            b.keys("z");
            let drawn = b.draw();
            assert!(drawn.contains("0:41"), "{drawn}");
            assert!(drawn.contains('▲'), "{drawn}");
            b.keys("z");
        }
    }
}
