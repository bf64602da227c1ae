//! What a person is shown of a data set before a run reads it.

use serde::{Deserialize, Serialize};

/// A summary of a data set's first columns and rows. Made in a confined process; plain data here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// In the order of the data set's columns.
    pub columns: Vec<ColumnSummary>,
    /// The first rows, each with a cell for each column; `None` is a missing value. Empty for
    /// private data.
    pub head: Vec<Vec<Option<String>>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnSummary {
    /// Rows without a value.
    pub missing: u64,
    /// The number of different values, if they were counted.
    pub distinct: Option<u64>,
    /// The smallest and the greatest value, of numbers and times of public data.
    pub least: Option<String>,
    pub greatest: Option<String>,
}

impl Summary {
    /// The most columns and rows of a summary, and bytes of a value.
    pub const COLUMNS: usize = 60;
    pub const ROWS: usize = 5;
    pub const VALUE: usize = 256;

    /// Whether it is as small as a summary is.
    pub fn is_sound(&self) -> bool {
        let short = |value: &Option<String>| value.as_ref().is_none_or(|v| v.len() <= Self::VALUE);
        self.columns.len() <= Self::COLUMNS
            && self.head.len() <= Self::ROWS
            && self.head.iter().all(|row| row.len() == self.columns.len())
            && self.head.iter().flatten().all(short)
            && self
                .columns
                .iter()
                .all(|c| short(&c.least) && short(&c.greatest))
    }

    /// The same without any value.
    #[must_use]
    pub fn masked(&self) -> Self {
        let columns = self.columns.iter().map(|column| ColumnSummary {
            missing: column.missing,
            distinct: column.distinct,
            least: None,
            greatest: None,
        });
        Self {
            columns: columns.collect(),
            head: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary() -> Summary {
        Summary {
            columns: vec![ColumnSummary {
                missing: 1,
                distinct: Some(2),
                least: Some("3".to_owned()),
                greatest: Some("4".to_owned()),
            }],
            head: vec![vec![Some("3".to_owned())], vec![None]],
        }
    }

    #[test]
    fn only_a_small_summary_is_sound() {
        assert!(summary().is_sound());
        let mut many = summary();
        many.columns = vec![ColumnSummary::default(); Summary::COLUMNS + 1];
        many.head.clear();
        let mut long = summary();
        long.columns[0].least = Some("x".repeat(Summary::VALUE + 1));
        let mut wide = summary();
        wide.head[0].push(None);
        let mut high = summary();
        high.head = vec![vec![None]; Summary::ROWS + 1];
        for wrong in [many, long, wide, high] {
            assert!(!wrong.is_sound(), "{wrong:?}");
        }
    }

    #[test]
    fn a_masked_summary_has_no_value() {
        let text = serde_json::to_string(&summary().masked()).unwrap();
        assert!(!text.contains("\"3\"") && !text.contains("\"4\""), "{text}");
        assert_eq!(summary().masked().columns[0].missing, 1);
    }
}
