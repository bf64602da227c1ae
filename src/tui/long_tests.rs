//! Long inputs: a plain stretch takes one row; everything else must be seen (invariant 5).

use crossterm::event::KeyCode;

use super::bench::*;
use super::*;

/// A CSV input of plain rows, optionally with one odd row.
fn table(rows: usize, odd: Option<(usize, &str)>) -> String {
    let mut out = "id,price,region\n".to_owned();
    for i in 0..rows {
        match odd {
            Some((at, row)) if at == i => out.push_str(row),
            _ => out.push_str(&format!("{i},{}.5,{}\n", i % 90, ["north", "south"][i % 2])),
        }
    }
    out
}

fn propose_table(b: &mut Bench, table: String) {
    b.propose(Making {
        brought: vec![("rows", table)],
        ..Making::clear("print(rows)\n")
    });
}

#[test]
fn two_thousand_plain_rows_cost_no_hundred_key_presses() {
    for size in [(80, 24), (120, 40)] {
        let mut b = Bench::new(size.0, size.1);
        propose_table(&mut b, table(2_000, None));
        b.settle();
        let mut presses = 0;
        while b.look().contains("not seen") {
            b.keys(" ");
            presses += 1;
        }
        assert!(presses <= 3, "{presses}");
        b.advance(250);
        b.keys("a");
        assert!(b.ui.sheet().is_some());
    }
}

#[test]
fn the_row_for_plain_rows_and_the_odd_rows_among_them_must_be_seen() {
    let mut b = Bench::new(120, 40);
    propose_table(&mut b, table(2_000, Some((1_234, "1234,1e999,north\n"))));
    b.settle();
    b.press(KeyCode::Enter);
    let text = b.look();
    assert!(
        text.contains("▸     lines 10 to 1,235: 1,226 plain records"),
        "{text}"
    );
    assert!(text.contains("1234,1e999,north"), "{text}");
    b.read();
    b.keys("a");
    assert!(b.ui.sheet().is_some());
    // If the screen cannot hold the whole input, the rest must still be viewed.
    let mut b = Bench::new(60, 14);
    propose_table(&mut b, table(2_000, Some((1_234, "1234,1e999,north\n"))));
    b.settle();
    b.keys("a");
    assert!(notice(&b).contains("input rows: line"), "{}", notice(&b));
}

#[test]
fn enter_opens_condensed_rows_and_a_search_finds_text_in_them() {
    let mut b = Bench::new(120, 40);
    propose_table(&mut b, table(2_000, None));
    b.settle();
    let seen = |b: &Bench| b.ui.looked(b.ui.selected().unwrap()).unwrap().seen.clone();
    b.read();
    let before = seen(&b);
    b.keys("p");
    while !b.draw().contains("▾") {
        b.keys("j");
        b.press(KeyCode::Enter);
        assert!(b.now.boot.as_secs() < 1_100, "{}", b.draw());
        b.advance(1);
    }
    let text = b.draw();
    assert!(text.contains("8,8.5,north"), "{text}");
    // An opened stretch need not be seen again and can be closed.
    assert!(!text.contains("not seen"), "{text}");
    b.press(KeyCode::Enter);
    let text = b.draw();
    assert!(
        text.contains("▸") && !text.contains("8,8.5,north"),
        "{text}"
    );
    assert_eq!(seen(&b), before);
    b.keys("/");
    b.keys("1500,60.5");
    b.press(KeyCode::Enter);
    let text = b.draw();
    assert!(
        text.contains("1500,60.5,north") && !text.contains("not seen"),
        "{text}"
    );
}

#[test]
fn p_goes_from_input_to_input_or_to_what_is_given() {
    let mut b = Bench::new(80, 24);
    b.propose(Making {
        brought: vec![("first", lines(50)), ("second", lines(50))],
        ..Making::clear(&lines(50))
    });
    b.settle();
    for name in ["first", "second"] {
        b.keys("p");
        let text = b.draw();
        assert!(text.contains(&format!("── input {name} (csv")), "{text}");
    }
    b.keys("p");
    assert_eq!(b.ui.queue.focus, ui::Pane::Given);
    let mut b = ready();
    b.keys("p");
    assert_eq!(b.ui.queue.focus, ui::Pane::Given);
}
