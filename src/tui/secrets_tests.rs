//! Secrets are marked before the grant, and cost no key.

use ratatui::style::Modifier;

use super::bench::{Bench, Making};
use super::snapshot_tests::{at_sizes, snap};
use super::ui::{QUIET, SHEET_GRACE};
use crate::model::State;
use crate::secrets::Secrets;

const VALUE: &str = "zQ8pa-77wo0rD-x1y";

/// Secrets in the code, in an input and in the reason.
fn propose(b: &mut Bench) {
    let variable = ("PARTNER_TOKEN".to_owned(), VALUE.to_owned());
    let ui = std::mem::replace(&mut b.ui, Bench::new(80, 24).ui);
    b.ui = ui.with_secrets(Secrets::of([variable], []));
    b.propose(Making {
        reason: Some(format!("The partner's rates, with {VALUE}.")),
        brought: vec![("extra", format!("a,b\n1,{VALUE}\n"))],
        ..Making::clear(&format!(
            "rates = partner('{VALUE}')\ndb(user='etl', password='correct-horse-battery')\nprint(len(df))\n"
        ))
    });
    b.settle();
}

/// Presses the keys of a grant, each when it counts.
fn asks_and_confirms(b: &mut Bench) {
    b.keys("a");
    b.look();
    b.advance(SHEET_GRACE.as_millis() as u64);
    b.keys("y");
    b.carry_out();
}

#[test]
fn secrets() {
    at_sizes("secrets", propose);
}

#[test]
fn secrets_on_the_sheet() {
    for (columns, rows) in [(80, 24), (120, 40)] {
        let mut b = Bench::new(columns, rows);
        propose(&mut b);
        b.read();
        b.open_sheet();
        b.settle();
        let text = b.draw();
        assert!(text.contains("[REDACTED:kind]"), "{text}");
        snap(&format!("secrets_sheet_{columns}x{rows}"), &text);
    }
}

/// Exactly the secrets, with the colours that they have anyway.
#[test]
fn each_secret_is_marked_where_it_stands_at_every_width() {
    for columns in [40, 80, 120] {
        let mut b = Bench::new(columns, 40);
        propose(&mut b);
        b.draw();
        let mut marked = String::new();
        for y in 0..40 {
            for x in 0..columns {
                let cell = &b.buffer[(x, y)];
                if cell.modifier.contains(Modifier::UNDERLINED) {
                    marked.push_str(cell.symbol());
                }
            }
        }
        let expected = format!("{VALUE}correct-horse-battery{VALUE}");
        assert_eq!(marked, expected, "{columns}");
    }
}

#[test]
fn a_clear_one_with_secrets_takes_three_keys() {
    let mut b = Bench::new(80, 24);
    propose(&mut b);
    let id = b.ui.selected().unwrap();
    b.keys(" ");
    let text = b.look();
    assert!(!text.contains("not seen"), "{text}");
    b.advance(QUIET.as_millis() as u64);
    asks_and_confirms(&mut b);
    assert_ne!(b.state.entry(id).unwrap().state(), State::Pending);
}

/// The search of a long text runs elsewhere: keys work meanwhile, and none of them grants.
#[test]
fn nothing_is_granted_before_its_secrets_are_known() {
    let mut b = Bench::new(80, 24);
    let rows = "1,2\n".repeat(8_000);
    b.propose(Making {
        brought: vec![("extra", format!("a,b\n{rows}"))],
        ..Making::clear("db(user='etl', password='correct-horse-battery')\n")
    });
    let id = b.ui.selected().unwrap();
    let search = b.ui.wants_search().unwrap();
    let text = b.settle();
    assert!(text.contains("CODE  searching for secrets"), "{text}");
    b.read();
    b.keys("a");
    let text = b.look();
    assert!(
        text.contains("a grant must wait: searching for secrets"),
        "{text}"
    );
    b.keys("y");
    b.carry_out();
    assert_eq!(b.state.entry(id).unwrap().state(), State::Pending);
    b.keys("?");
    assert!(!b.look().contains("CODE"));
    b.press(crossterm::event::KeyCode::Esc);

    search.run();
    let text = b.settle();
    assert!(text.contains("1 secret, marked"), "{text}");
    asks_and_confirms(&mut b);
    assert_ne!(b.state.entry(id).unwrap().state(), State::Pending);
}

#[test]
fn what_has_no_secret_says_nothing_of_them() {
    let mut b = Bench::new(120, 40);
    b.propose(Making::clear("print(len(df))\n"));
    b.settle();
    b.open_sheet();
    assert!(!b.draw().contains("secret"));
}
