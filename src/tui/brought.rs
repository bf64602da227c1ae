//! What stands out in a table that an agent brought: its first and last rows, values far from the
//! others or of another kind, and the longest text. Bounded by the size of a request.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::model::DataFormat;

/// Columns that are looked through.
const COLUMNS: usize = 40;
/// Rows shown from the start and from the end.
const ENDS: usize = 3;
/// Unusual values named for each column.
const NAMED: usize = 3;
/// Numbers needed before one can be far from the others.
const ENOUGH: usize = 8;
/// A number is far when it lies this many times the middle half's width outside of that half
/// (Tukey's outer fence).
const FENCE: f64 = 3.0;

/// A table of texts. Rows count from 1, without the header.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Brought {
    pub names: Vec<String>,
    pub rows: usize,
    pub columns: Vec<Column>,
    pub head: Vec<Vec<String>>,
    pub tail: Vec<Vec<String>>,
}

/// What one column has in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    pub numbers: usize,
    pub texts: usize,
    pub missing: usize,
    pub distinct: usize,
    /// Of its numbers, as they are written.
    pub least: Option<String>,
    pub greatest: Option<String>,
    /// Values to look at, with their rows.
    pub far: Vec<(usize, String)>,
    /// Values of the rarer kind, if there are both numbers and texts.
    pub odd: Vec<(usize, String)>,
    /// The row and the characters of its longest text.
    pub longest: Option<(usize, usize)>,
}

impl Brought {
    /// `None` if the text is no table of this format.
    pub fn read(text: &str, format: DataFormat) -> Option<Self> {
        match format {
            DataFormat::Csv => Self::separated(text, b','),
            DataFormat::Tsv => Self::separated(text, b'\t'),
            DataFormat::Json => Self::objects(serde_json::from_str(text).ok()?),
            DataFormat::Jsonl => {
                let lines = text.lines().filter(|line| !line.trim().is_empty());
                let all: Result<Vec<Value>, _> = lines.map(serde_json::from_str).collect();
                Self::objects(Value::Array(all.ok()?))
            }
            _ => None,
        }
    }

    fn separated(text: &str, delimiter: u8) -> Option<Self> {
        let mut reader = csv::ReaderBuilder::new()
            .delimiter(delimiter)
            .flexible(true)
            .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
        let header = reader.headers().ok()?.clone();
        let names: Vec<String> = header.iter().take(COLUMNS).map(str::to_owned).collect();
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.ok()?;
            let cell = |at: usize| record.get(at).unwrap_or("").to_owned();
            rows.push((0..names.len()).map(cell).collect());
        }
        (!names.is_empty()).then(|| Self::of(names, &rows))
    }

    fn objects(value: Value) -> Option<Self> {
        let Value::Array(records) = value else {
            return None;
        };
        let mut names: Vec<String> = Vec::new();
        for name in records
            .iter()
            .filter_map(Value::as_object)
            .flat_map(|one| one.keys())
        {
            if names.len() < COLUMNS && !names.contains(name) {
                names.push(name.clone());
            }
        }
        let written = |value: Option<&Value>| match value {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let records = records.iter().filter_map(Value::as_object);
        let row = |one: &serde_json::Map<String, Value>| {
            names.iter().map(|name| written(one.get(name))).collect()
        };
        let rows: Vec<Vec<String>> = records.map(row).collect();
        (!names.is_empty()).then(|| Self::of(names, &rows))
    }

    fn of(names: Vec<String>, rows: &[Vec<String>]) -> Self {
        let columns = (0..names.len()).map(|at| {
            let cells = rows
                .iter()
                .map(|row| row.get(at).map_or("", String::as_str));
            Column::of(cells)
        });
        let last = rows.len().saturating_sub(ENDS).max(ENDS.min(rows.len()));
        Self {
            columns: columns.collect(),
            rows: rows.len(),
            head: rows.iter().take(ENDS).cloned().collect(),
            tail: rows[last..].to_vec(),
            names,
        }
    }
}

impl Column {
    fn of<'a>(cells: impl Iterator<Item = &'a str>) -> Self {
        let mut column = Self::default();
        let mut numbers: Vec<(usize, f64, &str)> = Vec::new();
        let mut texts: Vec<(usize, &str)> = Vec::new();
        let mut known: BTreeSet<&str> = BTreeSet::new();
        for (row, cell) in (1..).zip(cells) {
            let bare = cell.trim();
            if bare.is_empty() {
                column.missing += 1;
                continue;
            }
            known.insert(cell);
            match bare.parse::<f64>() {
                Ok(number) => numbers.push((row, number, cell)),
                Err(_) => texts.push((row, cell)),
            }
        }
        column.distinct = known.len();
        (column.numbers, column.texts) = (numbers.len(), texts.len());
        // The first of the longest.
        let longest = texts
            .iter()
            .rev()
            .max_by_key(|(_, text)| text.chars().count());
        column.longest = longest.map(|(row, text)| (*row, text.chars().count()));
        if !numbers.is_empty() && !texts.is_empty() {
            column.odd = match numbers.len() < texts.len() {
                true => named(numbers.iter().map(|(row, _, text)| (*row, *text))),
                false => named(texts.iter().copied()),
            };
        }
        let mut sorted = numbers.clone();
        sorted.retain(|(_, number, _)| number.is_finite());
        sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
        column.least = sorted.first().map(|(_, _, text)| text.trim().to_owned());
        column.greatest = sorted.last().map(|(_, _, text)| text.trim().to_owned());
        let fences = fences(&sorted);
        let is_far = |number: f64| {
            // `nan` and infinities are read as numbers and are always worth a look.
            !number.is_finite() || fences.is_some_and(|(low, high)| number < low || number > high)
        };
        let far = numbers.iter().filter(|(_, number, _)| is_far(*number));
        column.far = named(far.map(|(row, _, text)| (*row, *text)));
        column
    }
}

fn named<'a>(values: impl Iterator<Item = (usize, &'a str)>) -> Vec<(usize, String)> {
    let named = values.take(NAMED);
    named.map(|(row, text)| (row, text.to_owned())).collect()
}

/// Below and above which a number is far from the others.
fn fences(sorted: &[(usize, f64, &str)]) -> Option<(f64, f64)> {
    if sorted.len() < ENOUGH {
        return None;
    }
    let (low, high) = (sorted[sorted.len() / 4].1, sorted[sorted.len() * 3 / 4].1);
    let wide = high - low;
    // With the same number in the whole middle half, any other number would be far.
    (wide > 0.0).then_some((low - FENCE * wide, high + FENCE * wide))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn csv(text: &str) -> Brought {
        Brought::read(text, DataFormat::Csv).unwrap()
    }

    #[test]
    fn far_values_other_kinds_and_long_texts_are_named_with_their_rows() {
        let mut text = "n,mixed,note\n".to_owned();
        for row in 1..=20 {
            let n = if row == 7 { 90_000 } else { row };
            let mixed = if row == 3 {
                "n/a".to_owned()
            } else {
                row.to_string()
            };
            let note = if row == 9 {
                "a much longer note"
            } else {
                "short"
            };
            text.push_str(&format!("{n},{mixed},{note}\n"));
        }
        let found = csv(&text);
        assert_eq!((found.rows, found.head.len(), found.tail.len()), (20, 3, 3));
        let [n, mixed, note] = &found.columns[..] else {
            panic!("{found:?}")
        };
        assert_eq!(n.far, [(7, "90000".to_owned())]);
        assert_eq!(
            (n.least.as_deref(), n.greatest.as_deref()),
            (Some("1"), Some("90000"))
        );
        assert_eq!((mixed.numbers, mixed.texts), (19, 1));
        assert_eq!(mixed.odd, [(3, "n/a".to_owned())]);
        assert_eq!((note.longest, note.distinct), (Some((9, 18)), 2));
        assert!(note.far.is_empty() && note.odd.is_empty());
    }

    #[test]
    fn json_objects_are_a_table_and_other_json_is_none() {
        let found = Brought::read(r#"[{"a": 1}, {"a": null, "b": [1]}, 3]"#, DataFormat::Json);
        let found = found.unwrap();
        assert_eq!(found.names, ["a", "b"]);
        assert_eq!((found.rows, found.columns[0].missing), (2, 1));
        assert_eq!(found.head[1], ["", "[1]"]);
        for other in ["{\"a\": 1}", "[1, 2]", "[]", "nothing"] {
            assert_eq!(Brought::read(other, DataFormat::Json), None, "{other}");
        }
        let lines = Brought::read("{\"a\": 1}\n\n{\"a\": 2}\n", DataFormat::Jsonl).unwrap();
        assert_eq!(lines.rows, 2);
    }

    #[test]
    fn short_and_even_columns_have_no_far_value() {
        assert!(csv("a\n1\n2\n1000\n").columns[0].far.is_empty());
        let even = format!("a\n{}9\n", "5\n".repeat(30));
        assert!(csv(&even).columns[0].far.is_empty());
        assert_eq!(csv("a\nnan\ninf\n3\n").columns[0].far.len(), 2);
        assert_eq!(csv("a,b\n").rows, 0);
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in "[a-z0-9,\"\\n\\t{}\\[\\]:. ]{0,200}") {
            for format in [DataFormat::Csv, DataFormat::Tsv, DataFormat::Json, DataFormat::Jsonl] {
                if let Some(found) = Brought::read(&text, format) {
                    prop_assert!(found.head.len() <= ENDS && found.tail.len() <= ENDS);
                    prop_assert!(found.head.len() + found.tail.len() <= found.rows);
                    prop_assert!(found.columns.len() <= COLUMNS);
                }
            }
        }
    }
}
