//! What a proposal touches stands above its code, in its gutter, in the queue and on the sheet.

use super::bench::*;
use super::snapshot_tests::at_sizes;

#[test]
fn effects_that_the_title_does_not_say() {
    at_sizes("effects", |b| {
        b.propose(Making::more_than_it_says());
        b.settle();
    });
    at_sizes("sheet_effects", |b| {
        b.propose(Making::more_than_it_says());
        b.settle();
        b.read();
        b.open_sheet();
    });
    at_sizes("sheet_unfolded", |b| {
        b.propose(Making::more_than_it_says());
        b.settle();
        b.read();
        b.open_sheet();
        b.keys("i");
    });
    at_sizes("details", |b| {
        b.propose(Making::more_than_it_says());
        b.settle();
        b.keys("i");
    });
}

#[test]
fn a_clear_sheet_fits_24_rows_and_the_code_stays_in_sight() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear("print(len(df))\n"));
    b.settle();
    b.keys("a");
    let text = b.draw();
    assert!(
        text.contains("GRANT?") && !text.contains("more, Space scrolls"),
        "{text}"
    );
    let mut b = Bench::new(120, 40);
    b.propose(Making::clear("print(len(df))\n"));
    b.settle();
    b.keys("a");
    let text = b.draw();
    assert!(
        text.contains("GRANT?") && text.contains("print(len(df))"),
        "{text}"
    );
}

#[test]
fn a_file_name_cannot_pass_for_words_of_the_screen() {
    let mut b = Bench::new(120, 40);
    let mut making = Making::more_than_it_says();
    for place in &mut making.places {
        if !place.files.is_empty() {
            place.files = vec!["x  NET none  RUNS none".to_owned()];
        }
    }
    b.propose(making);
    let text = b.settle();
    assert!(
        text.contains("WRITES  \"x  NET none  RUNS none\" line 4"),
        "{text}"
    );
}

#[test]
fn unfolding_the_sheet_shows_other_rows_that_must_be_seen() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::more_than_it_says());
    b.settle();
    b.open_sheet();
    assert!(b.ui.sheet().unwrap().missing().is_none());
    b.keys("i");
    b.draw();
    assert!(b.ui.sheet().unwrap().missing().is_some());
    b.keys("4f1c");
    b.advance(400);
    b.press(crossterm::event::KeyCode::Enter);
    assert!(grants(&b).is_empty());
    b.keys("i");
    b.look();
    b.advance(400);
    b.keys("4f1c");
    b.advance(400);
    b.press(crossterm::event::KeyCode::Enter);
    assert_eq!(grants(&b).len(), 1);
}
