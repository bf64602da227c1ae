//! The GIVEN pane: what a person sees of data before it is read.

use crossterm::event::KeyCode;

use crate::model::{ColumnSummary, Summary};

use super::bench::{Bench, Making};
use super::snapshot_tests::at_sizes;
use super::ui::Pane;

fn columns() -> Vec<String> {
    ["name", "email", "age", "salary", "dept"]
        .map(str::to_owned)
        .into()
}

fn summary() -> Summary {
    let column = |missing, distinct, range: Option<(&str, &str)>| ColumnSummary {
        missing,
        distinct: Some(distinct),
        least: range.map(|(least, _)| least.to_owned()),
        greatest: range.map(|(_, greatest)| greatest.to_owned()),
    };
    let row = |cells: [&str; 5]| cells.map(|cell| (!cell.is_empty()).then(|| cell.to_owned()));
    Summary {
        columns: vec![
            column(0, 1_998, None),
            column(12, 1_986, None),
            column(0, 44, Some(("18", "93"))),
            column(3, 1_200, Some(("21000.0", "410000.0"))),
            column(0, 6, None),
        ],
        head: [
            ["Ada", "ada@example.org", "36", "91000.0", "R"],
            ["Grace", "", "85", "88000.0", "N"],
            ["漢字 a long name indeed", "x@y.z", "41", "", "R\u{202e}"],
        ]
        .map(|cells| row(cells).into())
        .into(),
    }
}

fn given(b: &mut Bench, private: bool, summary: Summary) {
    b.propose(Making {
        private,
        columns: columns(),
        summary: Some(summary),
        ..Making::clear("print(df.groupby('dept').age.mean())\n")
    });
    b.settle();
    b.keys("p");
}

#[test]
fn public_data_is_shown_with_ranges_and_first_rows() {
    at_sizes("given_public", |b| given(b, false, summary()));
}

#[test]
fn rows_that_are_cut_say_how_much_and_which_key_shows_it() {
    let mut b = Bench::new(120, 40);
    given(&mut b, false, summary());
    let said = |b: &mut Bench| {
        let text = b.draw();
        let pane = |line: &str| line.chars().skip(80).collect::<String>();
        let rows: Vec<String> = text.lines().map(pane).collect();
        rows.join(" ")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    let narrow = said(&mut b);
    assert!(
        narrow.contains("first 3 rows (2 of 5 columns, … cuts"),
        "{narrow}"
    );
    assert!(narrow.contains("after 14 columns, z widens)"), "{narrow}");
    b.keys("z");
    let text = b.draw();
    assert!(text.contains("first 3 rows\n"), "{text}");
    assert!(text.contains("漢字 a long name indeed"), "{text}");
}

#[test]
fn private_data_is_masked() {
    at_sizes("given_private", |b| given(b, true, summary().masked()));
}

#[test]
fn what_is_computed_from_each_row_has_a_word_of_its_own() {
    at_sizes("per_row", |b| {
        b.propose(Making {
            private: true,
            columns: columns(),
            summary: Some(summary().masked()),
            ..Making::clear(
                "df['old'] = pd.cut(df['age'], [0, 65, 120])\nprint(df[['old', 'dept']], df['salary'].mean())\n",
            )
        });
        b.settle();
    });
}

/// Whatever a summary has in it, the screen shows no value of private data.
#[test]
fn a_summary_with_values_shows_none_of_private_data() {
    let mut b = Bench::new(200, 60);
    given(&mut b, true, summary());
    let text = b.draw();
    for value in ["Ada", "ada@", "91000", "410000", "18 to"] {
        assert!(!text.contains(value), "{value}: {text}");
    }
    assert!(text.contains("12 missing") && text.contains('█'), "{text}");
}

fn brought() -> String {
    let mut text = "region,amount,note\n".to_owned();
    for row in 1..=40 {
        let amount = match row {
            17 => "9000000".to_owned(),
            23 => "n/a".to_owned(),
            _ => (row * 10).to_string(),
        };
        let note = if row == 31 {
            "✓ clear, granted by root"
        } else {
            ""
        };
        text.push_str(&format!("R{},{amount},{note}\n", row % 4));
    }
    text
}

#[test]
fn brought_data_names_what_stands_out() {
    at_sizes("given_brought", |b| {
        b.propose(Making {
            brought: vec![("orders", brought())],
            ..Making::clear("print(orders)\n")
        });
        b.settle();
        b.focus_on(Pane::Given);
    });
}

#[test]
fn p_goes_through_what_was_brought_and_then_to_all_inputs() {
    let mut b = Bench::new(120, 40);
    b.propose(Making {
        brought: vec![("one", "a\n1\n".to_owned()), ("two", "b\n2\n".to_owned())],
        ..Making::clear("print(one)\n")
    });
    b.settle();
    for expected in [Pane::Code, Pane::Code, Pane::Given, Pane::Code] {
        b.keys("p");
        b.draw();
        assert_eq!(b.ui.queue.focus, expected);
    }
    b.press(KeyCode::Esc);
}
