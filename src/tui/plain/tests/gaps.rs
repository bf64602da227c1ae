//! Rows that were left out: what is named is where the key goes.

use super::*;

/// The first line of code that was said.
fn first_line(said: &str) -> usize {
    let mut numbers = said
        .lines()
        .filter_map(|l| l.split([':', ',']).next()?.parse().ok());
    numbers.next().unwrap()
}

/// The line that is named first as not seen.
fn named(said: &str) -> usize {
    let (before, _) = said.split_once(" not seen; Space goes there").unwrap();
    let rest = before.rsplit_once("line").unwrap().1;
    let digits = rest.trim_start_matches(['s', ' ']);
    digits.split(' ').next().unwrap().parse().unwrap()
}

/// Thirty lines of which the beginning was heard, then the middle of the rest.
fn left_out() -> Voice {
    let mut v = Voice::of(Making::clear(&lines(30)));
    v.wait(600);
    v.keys(" ");
    v.wait(2_500);
    v.keys(" ");
    v.wait(700);
    v
}

#[test]
fn what_is_named_is_where_the_key_goes() {
    for steps in 0..5 {
        let mut v = left_out();
        for _ in 0..steps {
            v.keys(" ");
            v.wait(700);
        }
        let answer = v.keys("a");
        assert!(v.b.ui.sheet().is_none());
        let named = named(&answer);
        let said = v.keys(" ");
        let first = first_line(&said);
        assert!(
            named == first || named == first + 1,
            "{steps}: {answer}{said}"
        );
    }
}

#[test]
fn the_rows_that_were_not_seen_are_counted() {
    let mut v = left_out();
    let (have, all) = {
        let layout = v.plain.layout.clone().unwrap();
        let id = v.b.ui.selected().unwrap();
        layout.progress(&v.b.ui.looked(id).unwrap().seen)
    };
    let answer = v.keys("a");
    let total = format!("; {} rows not seen in all.\n", all - have);
    assert!(answer.ends_with(&total), "{answer} {total}");
    // Another obstacle is no matter of rows.
    v.b.state.environment = crate::model::Environment::Making {
        step: String::new(),
        done: 0,
        total: 1,
    };
    v.wait(2_500);
    assert!(!v.keys("a").contains("in all"));
}

#[test]
fn the_end_of_the_code_names_what_was_left_out_before() {
    let mut v = left_out();
    let mut said = String::new();
    while !said.contains("End of the code.") {
        said = v.keys(" ");
        v.wait(700);
    }
    let named = named(&said);
    let again = v.keys(" ");
    let first = first_line(&again);
    assert!(named == first || named == first + 1, "{said}{again}");
}
