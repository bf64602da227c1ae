//! What the screen says where rows are few, and what it says before it does something that could surprise.

use crossterm::event::KeyCode;

use crate::model::{Action as Does, Capability, ColumnSummary, Place, Severity, Summary};

use super::SHEET_GRACE;
use super::bench::*;
use super::snapshot_tests::at_sizes;

/// Reads, changes and prints more columns than there is room for.
fn much() -> Making {
    let columns: Vec<String> = (0..24).map(|i| format!("a_long_column_{i}")).collect();
    let each: String = columns
        .iter()
        .take(20)
        .map(|c| {
            format!("df[\"{c}\"] = df[\"{c}\"].where(df[\"{c}\"] > 3, 0)\nprint(df[\"{c}\"])\n")
        })
        .collect();
    Making {
        title: Some("A title".to_owned()),
        reason: Some(
            "A reason that has words enough for two rows of a screen that is narrow, and more."
                .into(),
        ),
        private: true,
        columns,
        ..Making::clear(&each)
    }
}

#[test]
fn a_list_that_is_too_long_takes_no_row_from_the_other_questions() {
    at_sizes("much_is_touched", |b| {
        b.propose(much());
        b.settle();
    });
    for (columns, rows) in [(80, 24), (60, 24), (100, 27), (80, 16), (120, 40)] {
        let mut b = Bench::new(columns, rows);
        b.propose(much());
        let text = b.settle();
        let body = text.split(" CODE ").next().unwrap();
        for label in ["READS", "WRITES", "NET", "RUNS", "ALTERS", "RETURNS", "NEW"] {
            assert!(body.contains(label), "{columns}x{rows} {label}:\n{text}");
        }
    }
    let mut b = Bench::new(80, 16);
    b.propose(much());
    let text = b.settle();
    assert!(text.contains("… i shows all"), "{text}");
    let mut b = Bench::new(80, 24);
    b.propose(much());
    b.settle();
    b.keys("iz");
    let text = b.draw();
    assert!(
        text.contains("a_long_column_19") && !text.contains("more of 24"),
        "{text}"
    );
}

#[test]
fn a_number_stands_for_no_name_that_is_shorter() {
    let making = |last: &str| {
        let columns: Vec<String> = (0..8)
            .map(|i| format!("c{i}"))
            .chain([last.to_owned()])
            .collect();
        let each: String = columns
            .iter()
            .map(|c| format!("x = df[\"{c}\"]\n"))
            .collect();
        Making {
            columns: columns.into_iter().chain(["other".to_owned()]).collect(),
            ..Making::clear(&each)
        }
    };
    let said = |last: &str| {
        let mut b = Bench::new(200, 60);
        b.propose(making(last));
        b.settle()
    };
    let text = said("c8");
    assert!(
        text.contains("c7, c8 of 10") && !text.contains("more"),
        "{text}"
    );
    let text = said("a_longer_name");
    assert!(text.contains("c7 and 1 more of 10"), "{text}");
}

#[test]
fn a_clear_sheet_with_much_on_it_shortens_the_reason_before_it_scrolls() {
    let code = "df.to_csv(\"a.csv\")\ndf.to_csv(\"b.csv\")\nprint(df.groupby(\"dept\")[\"salary\"].sum())\n";
    let making = || Making {
        title: Some(
            "An export of all the people with their salaries and departments, in two files".into(),
        ),
        reason: Some(
            "Finance needs one row for each of them in its template, with the department, and the \
                      totals of each department besides, as it does every year."
                .into(),
        ),
        findings: [1, 2]
            .map(|line| finding(line, "FS001", Severity::Info, Does::Note))
            .into(),
        places: [(1, "a.csv"), (2, "b.csv")]
            .map(|(line, file)| Place {
                capability: Capability::FsWrite,
                detail: "to_csv, literal argument".to_owned(),
                lines: vec![line],
                files: vec![file.to_owned()],
            })
            .into(),
        ..people(code)
    };
    at_sizes("sheet_with_much", |b| {
        b.propose(making());
        b.settle();
        b.read();
        b.keys("a");
    });
    let mut b = Bench::new(80, 24);
    b.propose(making());
    b.settle();
    b.keys("a");
    let text = b.draw();
    assert!(
        text.contains("GRANT?") && !text.contains("Space scrolls"),
        "{text}"
    );
    assert!(
        text.contains("digest") && text.contains("and why"),
        "{text}"
    );
}

/// A private data set in which no two rows share a name.
fn people(code: &str) -> Making {
    let about = |distinct| ColumnSummary {
        distinct: Some(distinct),
        ..ColumnSummary::default()
    };
    Making {
        private: true,
        columns: ["name", "email", "salary", "dept"]
            .map(str::to_owned)
            .into(),
        summary: Some(Summary {
            columns: vec![about(3_360), about(3_359), about(8_400), about(7)],
            head: Vec::new(),
        }),
        ..Making::clear(code)
    }
}

#[test]
fn what_will_be_redacted_is_told_before_the_grant() {
    let said = |code: &str| {
        let mut b = Bench::new(200, 60);
        b.propose(people(code));
        let text = b.settle().replace('│', " ");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = said("print(df[\"name\"].tolist(), df[\"email\"].tolist())\n");
    assert!(
        text.contains("expect [REDACTED] for name; redacted of sales: values of under 5 rows"),
        "{text}"
    );
    // Whole numbers can be too short.
    let text = said("print(df[\"salary\"].tolist())\n");
    assert!(!text.contains("expect"), "{text}");
    let text = said("print(df.groupby(\"dept\")[\"salary\"].mean())\n");
    assert!(
        text.contains("redacted of sales: values and sums of under 5 rows"),
        "{text}"
    );
    let mut b = Bench::new(200, 60);
    b.propose(Making {
        private: false,
        ..people("print(df[\"name\"].tolist())\n")
    });
    assert!(!b.settle().contains("edacted"));
}

#[test]
fn figures_of_private_data_are_named_although_they_are_thrown_away() {
    let code = "import matplotlib.pyplot as plt\nplt.plot(df[\"salary\"])\nplt.show()\n";
    let mut b = Bench::new(200, 60);
    b.propose(people(code));
    let text = b.settle();
    assert!(text.contains("figure line "), "{text}");
    assert!(text.contains("figures and files are thrown away"), "{text}");
}

#[test]
fn the_key_that_denies_elsewhere_says_that_it_types_a_character_here() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::flagged());
    b.settle();
    b.open_sheet();
    assert!(b.draw().contains("Esc goes back, then d denies"));
    b.keys("4d");
    assert_eq!(b.ui.typed_digits(), Some("4d"));
    assert_eq!(notice(&b), "d is a character here; Esc, then d denies");
    assert!(b.draw().contains("d is a character here"));
    b.press(KeyCode::Backspace);
    // Another character, and the same one where it is right, need no word.
    b.keys("7");
    assert_eq!(notice(&b), "");
    let mut b = Bench::new(80, 24);
    b.ui = b.ui.with_digits(|| Some(0x0d0d));
    b.propose(Making::flagged());
    b.settle();
    b.open_sheet();
    b.keys("0d");
    assert_eq!(notice(&b), "");
    // A clear proposal's sheet takes no digits.
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear("x = 1\n"));
    b.settle();
    b.keys("a");
    b.advance(SHEET_GRACE.as_millis() as u64);
    assert!(b.draw().contains("Esc goes back, decides nothing"));
}

#[test]
fn a_search_that_goes_round_says_so() {
    let mut b = Bench::new(80, 24);
    b.propose(Making::clear("x = 1\ny = 2\nx = 3\n"));
    b.settle();
    b.press(KeyCode::Enter);
    b.keys("/x");
    b.press(KeyCode::Enter);
    b.keys("n");
    assert_eq!(notice(&b), "");
    b.keys("n");
    assert_eq!(notice(&b), "from the top again");
    b.keys("N");
    assert_eq!(notice(&b), "from the end again");
    let mut b = Bench::new(120, 40);
    for title in ["One row", "Two", "Three rows"] {
        b.propose(Making {
            title: Some(title.to_owned()),
            ..Making::clear(&format!("print(\"{title}\")\n"))
        });
    }
    b.settle();
    b.keys("1/row");
    b.press(KeyCode::Enter);
    assert_eq!(notice(&b), "");
    b.keys("n");
    assert_eq!(notice(&b), "from the top again");
}

#[test]
fn a_denial_says_where_it_went_on() {
    let mut b = Bench::new(80, 24);
    let mut propose = |code: &str, ttl_s| {
        b.propose(Making {
            ttl_s,
            ..Making::clear(code)
        })
    };
    propose("first = 1\n", 600);
    propose("second()\n", 900);
    let urgent = propose("third[1]\n", 60);
    b.settle();
    b.keys("d");
    b.press(KeyCode::Enter);
    b.carry_out();
    assert_eq!(b.ui.selected(), Some(urgent));
    assert_eq!(notice(&b), "denied; selected now: the next waiting one");
}

#[test]
fn what_is_read_of_the_environment_is_in_the_queue_and_in_what_returns() {
    let mut b = Bench::new(120, 40);
    b.propose(Making {
        places: vec![Place {
            capability: Capability::FsRead,
            detail: "os.environ.get".to_owned(),
            lines: vec![2],
            files: Vec::new(),
        }],
        ..Making::clear("import os\nprint(os.environ.get(\"HOME\"))\n")
    });
    let text = b.settle();
    assert!(
        text.contains("and variables of the environment, line 2"),
        "{text}"
    );
    let row = text.lines().find(|row| row.contains("▸")).unwrap();
    let row = row.split('│').next().unwrap();
    assert!(row.trim_end().ends_with(" R"), "{row}");
}
