//! What stands above the code gives way to code that has no room, and no word of what it does is lost.

use std::collections::BTreeSet;

use crossterm::event::KeyCode;

use crate::model::{Capability, Place, State};

use super::bench::*;
use super::caps::{Background, Depth};
use super::snapshot_tests::at_sizes;
use super::theme::Role;
use super::*;

/// Code of so many lines that reads a private column and prints a part of it.
fn long(lines: usize) -> Making {
    let filler: String = (0..lines - 2)
        .map(|i| format!("step_{i} = {i}\n"))
        .collect();
    Making {
        private: true,
        title: Some("Head count by department, with the shares of each site".to_owned()),
        reason: Some("For the quarterly report, which wants counts and nothing else.".to_owned()),
        columns: ["email", "dept", "age"].map(str::to_owned).into(),
        ..Making::clear(&format!(
            "people = df[[\"email\", \"dept\"]]\n{filler}print(people[\"email\"].tolist())\n"
        ))
    }
}

fn with_effects(mut making: Making) -> Making {
    making.places.extend([
        Place {
            capability: Capability::FsWrite,
            detail: "to_csv, literal argument".to_owned(),
            lines: vec![9],
            files: vec!["people.csv".to_owned()],
        },
        Place {
            capability: Capability::NetworkOut,
            detail: "requests.post".to_owned(),
            lines: vec![10],
            files: Vec::new(),
        },
        Place {
            capability: Capability::Exec,
            detail: "os.system".to_owned(),
            lines: vec![11],
            files: Vec::new(),
        },
    ]);
    making
}

/// The rows above the code, below the queue's line.
fn block(text: &str) -> Vec<String> {
    let rows = text.lines().skip(2);
    let rows = rows.take_while(|row| !row.contains(" CODE "));
    rows.map(str::to_owned).collect()
}

#[test]
fn the_second_page_of_long_code() {
    at_sizes("folded", |b| {
        b.propose(with_effects(long(90)));
        b.settle();
        b.keys(" ");
        b.look();
    });
}

#[test]
fn a_clear_one_of_22_lines_takes_three_keys() {
    let mut b = Bench::new(80, 24);
    let id = b.propose(long(22));
    b.settle();
    b.keys(" ");
    let text = b.look();
    assert!(!text.contains("not seen"), "{text}");
    b.advance(QUIET.as_millis() as u64);
    b.keys("a");
    b.look();
    b.advance(SHEET_GRACE.as_millis() as u64);
    b.keys("y");
    b.carry_out();
    assert_ne!(b.state.entry(id).unwrap().state(), State::Pending);
}

/// The words of some roles in the rows above the code.
fn coloured(b: &Bench, rows: usize) -> BTreeSet<String> {
    let roles = [Role::Flagged, Role::Private, Role::Blocked];
    let colours = roles.map(|role| b.ui.theme().style(role).fg);
    let mut words = BTreeSet::new();
    for y in 2..2 + rows as u16 {
        let mut word = String::new();
        for x in 0..b.size.0 {
            let cell = &b.buffer[(x, y)];
            let told = colours.contains(&Some(cell.fg)) && cell.symbol() != " ";
            match told {
                true => word.push_str(cell.symbol()),
                false => {
                    words.insert(std::mem::take(&mut word));
                }
            }
        }
        words.insert(word);
    }
    words.remove("");
    words
}

#[test]
fn no_word_of_what_it_does_goes_by_folding() {
    let caps = TerminalCaps {
        depth: Depth::True,
        background: Background::Dark,
    };
    let filler: String = (0..40).map(|i| format!("step_{i} = {i}\n")).collect();
    let altering = format!(
        "pd.set_option(\"display.float_format\", lambda v: f\"{{v * 80}}\")\n\
         df[\"c1\"] = df[\"c1\"].where(df[\"c3\"] > 3, df[\"c1\"] / 0.97)\n\
         {filler}print(df.groupby(\"c2\")[\"c1\"].mean())\n"
    );
    let lost = format!(
        "class A:\n    def __str__(self):\n        return str(df[\"c1\"].tolist())\n{filler}print(A())\n"
    );
    for making in [
        with_effects(long(40)),
        Making::clear(&altering),
        Making {
            private: true,
            ..Making::clear(&lost)
        },
    ] {
        let mut b = Bench::with_caps(80, 24, caps);
        b.propose(making);
        let whole = block(&b.settle()).len();
        let told = coloured(&b, whole);
        assert!(!told.is_empty());
        b.keys(" ");
        let text = b.look();
        let folded = block(&text);
        assert!(folded.len() < whole, "{text}");
        let left = coloured(&b, folded.len());
        for word in told {
            // One word stands for the other where rows are few.
            let word = if word == "PRIVATE" {
                "PRIV"
            } else {
                word.as_str()
            };
            let word = word.trim_end_matches([',', ';']);
            assert!(
                left.iter().any(|other| other.contains(word)),
                "{word}:\n{text}"
            );
        }
    }
}

#[test]
fn a_page_skips_no_row_when_the_pane_grows() {
    for (columns, rows) in [(80, 24), (60, 24), (80, 16), (120, 40)] {
        for lines in [8, 12, 19, 22, 31, 60] {
            for (key, presses) in [(' ', 12), ('j', lines)] {
                let mut b = Bench::new(columns, rows);
                b.propose(long(lines));
                b.settle();
                b.press(KeyCode::Enter);
                b.look();
                let mut end = b.drawn.ranges.last().unwrap().end;
                for _ in 0..presses {
                    b.keys(&key.to_string());
                    b.look();
                    let first = b.drawn.ranges.first().unwrap().start;
                    assert!(first <= end, "{columns}x{rows}, {lines} lines, {key:?}");
                    end = b.drawn.ranges.last().unwrap().end;
                }
                assert!(
                    !b.draw().contains("not seen"),
                    "{columns}x{rows} {lines} {key:?}"
                );
            }
        }
    }
}

#[test]
fn back_at_the_top_it_unfolds() {
    let mut b = Bench::new(80, 24);
    b.propose(long(60));
    let whole = block(&b.settle());
    b.press(KeyCode::Enter);
    for (on, back) in [
        (KeyCode::Char('j'), KeyCode::Char('k')),
        (KeyCode::Char(' '), KeyCode::PageUp),
        (KeyCode::PageDown, KeyCode::Home),
    ] {
        b.press(on);
        assert!(block(&b.look()).len() <= 3, "{on:?}:\n{}", b.draw());
        b.press(back);
        assert_eq!(block(&b.look()), whole, "{back:?}");
    }
}

#[test]
fn code_that_has_room_folds_nothing() {
    let mut b = Bench::new(80, 24);
    b.propose(long(7));
    let before = block(&b.settle());
    b.press(KeyCode::Enter);
    b.keys("jjj");
    assert_eq!(block(&b.look()), before);
}

#[test]
fn a_title_without_room_in_the_line_is_told_once() {
    let mut b = Bench::new(80, 24);
    let title = "Head count by department, with the shares of each site";
    b.propose(long(40));
    let text = b.settle();
    assert_eq!(text.matches("Head count").count(), 1, "{text}");
    assert!(text.contains(title), "{text}");
    b.keys(" ");
    let text = b.look();
    assert_eq!(text.matches("Head count").count(), 1, "{text}");
}
