//! Both sides of the rule: plain values are condensed, and nothing else hides among them.

use proptest::prelude::*;

use super::*;

/// The bytes that a reviewer must see.
fn visible_text(text: &str, format: DataFormat) -> String {
    let mut out = String::new();
    let mut at = 0;
    for fold in folds(text, format) {
        out.push_str(&text[at..fold.range.start]);
        out.push_str(&format!("<{}>", fold.summary));
        at = fold.range.end;
    }
    out.push_str(&text[at..]);
    out
}

fn csv_rows(n: usize) -> Vec<String> {
    (0..n)
        .map(|i| {
            let region = ["north", "south"][i % 2];
            format!("{i},{}.5,2024-01-{:02},{region}", i * 7 % 100, i % 28 + 1)
        })
        .collect()
}

fn csv(rows: &[String]) -> String {
    format!("id,price,day,region\n{}\n", rows.join("\n"))
}

fn json_rows(n: usize) -> Vec<String> {
    (0..n)
        .map(|i| {
            format!(
                "{{\"id\":{i},\"at\":[{}.25,{i}],\"ok\":{}}}",
                i % 9,
                i % 3 == 0
            )
        })
        .collect()
}

#[test]
fn two_thousand_plain_rows_are_a_head_one_row_and_a_tail() {
    let text = csv(&csv_rows(2_000));
    let seen = visible_text(&text, DataFormat::Csv);
    assert_eq!(seen.lines().count(), 1 + HEAD + 1 + TAIL - 1, "{seen}");
    let summary = &folds(&text, DataFormat::Csv)[0].summary;
    assert_eq!(
        summary,
        "lines 10 to 1,998: 1,989 plain records like those above, nothing unusual; \
         id 8 to 1996; price 0.5 to 99.5; day 2024-01-01 to 2024-01-28; \
         region north ×995, south ×994."
    );
}

#[test]
fn arrays_of_json_are_condensed_wherever_they_stand() {
    let rows = json_rows(500);
    let list = format!("[{}]", rows.join(","));
    assert_eq!(
        folds(&list, DataFormat::Json)[0].summary,
        "elements 9 to 497: 489 plain records like those above, nothing unusual; \
         id 8 to 496; at[0] 0.25 to 8.25; at[1] 8 to 496; ok false ×326, true ×163."
    );
    let numbers: Vec<String> = (0..500).map(|i| i.to_string()).collect();
    let columns = format!("{{\"x\": [{0}], \"y\": [{0}]}}", numbers.join(", "));
    let found = folds(&columns, DataFormat::Json);
    assert_eq!(found.len(), 2);
    assert!(
        found[0].summary.ends_with("; value 8 to 496."),
        "{}",
        found[0].summary
    );
    let lines = rows.join("\n");
    assert_eq!(folds(&lines, DataFormat::Jsonl).len(), 1);
    assert!(folds(&lines, DataFormat::Json).is_empty());
    assert!(folds(&lines, DataFormat::Text).is_empty());
}

#[test]
fn unusual_rows_are_shown_wherever_they_hide() {
    for unusual in [
        "1000,1e999,2024-01-01,north",
        "1000,0x1f,2024-01-01,north",
        "1000,ignore the rules,2024-01-01,north",
        "1000,NaN,2024-01-01,north",
        "1000,Infinity,2024-01-01,north",
        "1000,-0,2024-01-01,north",
        "1000,-0.0,2024-01-01,north",
        "1000,007,2024-01-01,north",
        "1000, 1.5,2024-01-01,north",
        "1000,1.5 ,2024-01-01,north",
        "1000,1.5,2024-01-01,=cmd()",
        "1000,1.5,2024-01-01,east",
        "1000,1.5,2024-01-01,N\u{43e}rth",
        "1000,1.5,2024-01-01,nor;th",
        "1000,1.5,2024-01-01",
        "1000,,2024-01-01,north",
        "1000,1.5,2024-01-01T00:00,north",
        "1000,1.5,2024-99-01,north",
        "1000,1.5,2024-01-01,\"north\"",
        "1000.5,1.5,2024-01-01,north",
        "1000,1.5,2024-01-01,north\r",
        "1000,1.5,2024-01-01,nor\u{200b}th",
        "",
        "# 1,2,3,4",
    ] {
        let mut rows = csv_rows(2_000);
        rows[1_000] = unusual.to_owned();
        let seen = visible_text(&csv(&rows), DataFormat::Csv);
        assert!(
            seen.contains(&format!("\n{unusual}\n")) || seen.contains(&format!(">{unusual}\n")),
            "{unusual}"
        );
        assert_eq!(folds(&csv(&rows), DataFormat::Csv).len(), 2, "{unusual}");
    }
    let long = format!("1000,{},2024-01-01,north", "9".repeat(400));
    let mut rows = csv_rows(2_000);
    rows[700] = long.clone();
    assert!(visible_text(&csv(&rows), DataFormat::Csv).contains(&long));
}

#[test]
fn odd_records_of_json_are_shown() {
    for unusual in [
        "{\"id\":1,\"at\":[1.25,1],\"ok\":\"true\"}",
        "{\"id\":1,\"at\":[1.25,1],\"ok\":null}",
        "{\"id\":1,\"at\":[1.25,1],\"ok\":true,\"id\":7}",
        "{\"id\":1,\"at\":[1.25,1]}",
        "{\"at\":[1.25,1],\"id\":1,\"ok\":true}",
        "{\"id\":1,\"at\":[1.25,[1]],\"ok\":true}",
        "{\"id\":1,\"at\":[1.25,1], \"ok\":true}",
        "{\"\\u0069d\":1,\"at\":[1.25,1],\"ok\":true}",
        "{\"id\":1e999,\"at\":[1.25,1],\"ok\":true}",
        "{\"id\":NaN,\"at\":[1.25,1],\"ok\":true}",
        "{\"id\":-Infinity,\"at\":[1.25,1],\"ok\":true}",
        "{\"id\":\"1\",\"at\":[1.25,1],\"ok\":true}",
        "{\"id\":{\"x\":1},\"at\":[1.25,1],\"ok\":true}",
        "\"__import__\"",
        "[]",
    ] {
        let mut rows = json_rows(500);
        rows[250] = unusual.to_owned();
        let list = format!("[{}]", rows.join(","));
        assert!(
            visible_text(&list, DataFormat::Json).contains(unusual),
            "{unusual}"
        );
        assert_eq!(folds(&list, DataFormat::Json).len(), 2, "{unusual}");
        let lines = rows.join("\n");
        assert!(
            visible_text(&lines, DataFormat::Jsonl).contains(unusual),
            "{unusual}"
        );
    }
}

#[test]
fn text_that_two_readers_could_cut_differently_is_shown_whole() {
    let rows = csv_rows(2_000);
    let with = |at: usize, row: &str| {
        let mut rows = rows.clone();
        rows[at] = row.to_owned();
        csv(&rows)
    };
    for text in [
        with(0, "1,\"1.5"),
        with(5, "1,1.5,2024-01-01,no\"rth"),
        with(5, "1,1.5,2024-01-01,\"no\"rth"),
        with(1_990, "1,1.5,2024-01-01,\"a\nb\""),
        with(5, "1,1.5,2024-01-01,north\r2"),
        // A cell more than in the header: some readers then use the first column as an index.
        with(5, "1,1.5,2024-01-01,north,1"),
        csv(&rows).replace('\n', ",7\n").replacen(",7", "", 1),
    ] {
        assert_eq!(folds(&text, DataFormat::Csv), []);
    }
    let list = format!("[{}]", json_rows(500).join(","));
    for text in [
        format!("\u{feff}{list}"),
        format!("{list} x"),
        list.replacen("\"ok\"", "\"id\"", 500),
        list.replace("ok", "o\\u006b"),
        list.replace(',', ",\u{b}"),
        format!("{}{list}{}", "[".repeat(16), "]".repeat(16)),
        format!("[{}1]", "1,".repeat(CELLS)),
    ] {
        assert_eq!(folds(&text, DataFormat::Json), [], "{}", &text[..80]);
    }
}

#[test]
fn a_byte_order_mark_and_other_line_ends_are_shown() {
    let text = format!("\u{feff}{}", csv(&csv_rows(200)));
    assert!(visible_text(&text, DataFormat::Csv).starts_with('\u{feff}'));
    let mut rows = csv_rows(200);
    for row in &mut rows[100..110] {
        row.push('\r');
    }
    let text = csv(&rows);
    for row in &rows[100..110] {
        assert!(visible_text(&text, DataFormat::Csv).contains(row.as_str()));
    }
}

#[test]
fn words_are_condensed_only_if_all_of_them_are_listed() {
    let rows = |of: &dyn Fn(usize) -> String| {
        let rows: Vec<String> = (0..400).map(|i| format!("{i},{}", of(i))).collect();
        format!("id,word\n{}\n", rows.join("\n"))
    };
    // Nine words are too many, as is one word per row; a rare word is shown.
    let nine = rows(&|i| format!("word{}", i % 9));
    let each = rows(&|i| format!("word{i}"));
    assert_eq!(folds(&nine, DataFormat::Csv), []);
    assert_eq!(folds(&each, DataFormat::Csv), []);
    let rare = rows(&|i| {
        if i % 50 == 30 {
            "seldom".to_owned()
        } else {
            "often".to_owned()
        }
    });
    let seen = visible_text(&rare, DataFormat::Csv);
    assert_eq!(seen.matches(",seldom\n").count(), 8, "{seen}");
    let eight = rows(&|i| format!("word{}", i % 8));
    let seen = visible_text(&eight, DataFormat::Csv);
    for i in 0..8 {
        assert!(seen.contains(&format!("word{i} ×")), "{seen}");
    }
}

#[test]
fn the_row_states_the_extremes_and_the_missing_values() {
    let mut rows: Vec<String> = (0..400).map(|i| format!("{i},{},7", i % 10)).collect();
    for row in rows.iter_mut().step_by(4) {
        let id = row.split(',').next().unwrap().to_owned();
        *row = format!("{id},,7");
    }
    rows[200] = "200,-999999999999999,7".to_owned();
    rows[201] = "201,999999999999999,7".to_owned();
    let text = format!("id,some name!,k\n{}\n", rows.join("\n"));
    let found = folds(&text, DataFormat::Csv);
    assert!(
        found[0]
            .summary
            .contains("column 2 -999999999999999 to 999999999999999, missing ×97; k always 7."),
        "{}",
        found[0].summary
    );
}

/// Classifies a cell independently of the code under test.
fn plain_cell(cell: &str) -> bool {
    let number = cell.parse::<f64>().is_ok_and(|n| {
        n.is_finite() && n.abs() < 1e15 && cell.bytes().all(|b| b"-.0123456789".contains(&b))
    });
    let date = cell.trim_matches('"').len() >= 10 && cell.trim_matches('"').as_bytes()[4] == b'-';
    let word = ["a", "b", "\"a\"", "true", "false"].contains(&cell);
    cell.is_empty() || cell == "null" || number || date || word
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// For any cells: a condensed stretch has only plain cells, in records shaped like the first
    /// ones, and never includes the first and last records.
    #[test]
    fn every_byte_that_is_not_a_plain_value_must_be_seen(
        odd in prop::collection::vec((0_usize..120, 0_usize..3, "[-0-9a-z.,\"\\r\\n =eE+x\u{e9}]{0,6}"), 0..6),
        kinds in prop::collection::vec(0_usize..4, 3),
        rows in 40_usize..120,
    ) {
        let cell = |kind: usize, i: usize| match kind {
            0 => i.to_string(),
            1 => format!("{}.{}", i % 50, i % 7),
            2 => format!("2024-{:02}-11", i % 12 + 1),
            _ => ["a", "b"][i % 2].to_owned(),
        };
        let mut table: Vec<Vec<String>> = (0..rows)
            .map(|i| kinds.iter().map(|k| cell(*k, i)).collect())
            .collect();
        for (row, column, text) in odd {
            if let Some(row) = table.get_mut(row) {
                row[column] = text;
            }
        }
        let lines: Vec<String> = table.iter().map(|row| row.join(",")).collect();
        let text = format!("x,y,z\n{}\n", lines.join("\n"));
        let head = text.lines().take(1 + HEAD).map(|l| l.len() + 1).sum::<usize>();
        for fold in folds(&text, DataFormat::Csv) {
            prop_assert!(fold.range.start >= head.min(text.len()));
            prop_assert!(text[fold.range.end..].lines().count() >= TAIL);
            let inside = &text[fold.range.clone()];
            prop_assert!(inside.ends_with('\n') && inside.lines().count() >= RUN);
            prop_assert!(!inside.contains(['"', '\r']));
            for line in inside.split_terminator('\n') {
                prop_assert_eq!(line.matches(',').count(), 2);
                for cell in line.split(',') {
                    prop_assert!(plain_cell(cell), "{cell:?} in {line:?}");
                }
            }
            prop_assert!(fold.summary.len() * 2 <= inside.len());
        }
    }

    /// The same property for JSON, checked with serde_json.
    #[test]
    fn every_condensed_element_of_json_is_plain_and_like_the_first(
        odd in prop::collection::vec((0_usize..120, prop_oneof![
            Just("null"), Just("\"text here!\""), Just("[1]"), Just("{\"k\":1}"), Just("1e999"),
            Just("-0"), Just("\"\\u0061\""), Just("12345678901234567890"), Just("true"), Just("\"a\""),
        ]), 0..5),
        pretty in any::<bool>(),
        rows in 40_usize..120,
    ) {
        let mut values: Vec<String> = (0..rows).map(|i| (i * 3).to_string()).collect();
        for (at, text) in odd {
            if let Some(value) = values.get_mut(at) {
                *value = text.to_owned();
            }
        }
        let (open, between) = if pretty { ("[\n  ", ",\n  ") } else { ("[", ",") };
        let records: Vec<String> = values.iter().map(|v| format!("{{\"n\":{v},\"w\":\"a\"}}")).collect();
        let text = format!("{open}{}]", records.join(between));
        let mut at = 0;
        let mut rest = String::new();
        for fold in folds(&text, DataFormat::Json) {
            rest.push_str(&text[at..fold.range.start]);
            at = fold.range.end;
            let inside = text[fold.range].trim_end().trim_end_matches(',');
            let list: Vec<serde_json::Value> = serde_json::from_str(&format!("[{inside}]")).unwrap();
            prop_assert!(list.len() >= RUN);
            for one in list {
                // Up to a tenth of a short list may be missing.
                let n = one["n"].as_i64().unwrap_or(i64::from(!one["n"].is_null()));
                prop_assert!(n % 3 == 0 && n < 360, "{one}");
                prop_assert_eq!(&one["w"], "a");
            }
        }
        rest.push_str(&text[at..]);
        // The remaining text is valid JSON too, so no fold cuts a value.
        if !text.contains("1e999") {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&rest).is_ok());
        }
    }
}
