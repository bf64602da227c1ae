//! The key that pages the code never leaves rows behind that do not count yet, and says so.

use super::bench::*;
use super::snapshot_tests::at_sizes;
use super::ui::GRACE;
use super::{DWELL, QUIET};

const LINES: usize = 80;

/// A long code that was just selected: its rows do not count before the grace and the dwell are over.
fn just_selected(b: &mut Bench) {
    b.propose(Making::clear(&lines(LINES)));
    b.draw();
    b.advance(QUIET.as_millis() as u64);
}

fn first_line(b: &mut Bench) -> usize {
    let text = b.draw();
    let code = text.lines().skip_while(|line| !line.contains("─ CODE"));
    let first = code.skip(1).find_map(|line| line.split_whitespace().next());
    first.and_then(|number| number.parse().ok()).unwrap()
}

#[test]
fn a_page_asked_for_too_early_turns_by_itself_once_its_rows_count() {
    at_sizes("page_waits", |b| {
        just_selected(b);
        b.keys(" ");
    });
    let mut b = Bench::new(80, 24);
    just_selected(&mut b);
    b.keys(" ");
    assert_eq!(notice(&b), "not counted yet; goes on in a moment");
    assert_eq!(first_line(&mut b), 1);
    let wake = b.ui.next_wake(&b.state, b.now).unwrap();
    assert!(wake <= GRACE + DWELL, "{wake:?}");
    b.advance((GRACE + DWELL).as_millis() as u64);
    let text = b.draw();
    assert!(
        text.contains("lines 33–80 not seen") || first_line(&mut b) > 10,
        "{text}"
    );
    assert!(!text.contains("not counted"), "{text}");
    // Nothing was left behind.
    let doc = b.ui.queue.doc.clone().unwrap();
    let missing = doc.missing(&b.ui.looked(doc.id).unwrap().seen, None);
    assert_eq!(missing.as_deref(), Some("lines 17–80 not seen"));
}

#[test]
fn any_other_key_takes_the_waiting_page_back() {
    let mut b = Bench::new(80, 24);
    just_selected(&mut b);
    b.keys(" ");
    b.keys("w");
    b.keys("w");
    b.advance(2_000);
    assert_eq!(first_line(&mut b), 1);
}

#[test]
fn the_key_held_down_turns_no_page_and_lets_the_rows_begin_anew() {
    let mut b = Bench::new(80, 24);
    just_selected(&mut b);
    for _ in 0..100 {
        b.keys(" ");
        b.advance(33);
        assert_eq!(first_line(&mut b), 1);
    }
    assert_eq!(notice(&b), "not counted yet; wait a moment, then Space");
    b.advance(DWELL.as_millis() as u64);
    b.draw();
    assert_eq!(notice(&b), "");
    b.keys(" ");
    assert!(first_line(&mut b) > 10);
}
