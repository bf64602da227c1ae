//! How far the numbers over small groups of a private data set were looked for, where that was not
//! all the way, and how that is told.
//!
//! Told to whoever watches the run and to the log, never to the agent: which of its columns has so
//! many values, and where looking ended, would only say where to aim.

use serde::Deserialize;

use crate::model::{RunEvent, grouped};

/// One bound of `assets/runner/values.py` that was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "bound", rename_all = "lowercase", deny_unknown_fields)]
pub enum Bound {
    /// Plain data without a list of records.
    Shape {},
    /// Columns of more different values than are grouped by.
    Kinds { columns: u64, most: u64 },
    /// Columns whose values are lists or objects.
    Lists { columns: u64 },
    /// Of more columns not every two were grouped by.
    Pairs { most: u64 },
    /// Numbers.
    Numbers { most: u64 },
    /// Seconds of processor time.
    Seconds { most: u64 },
}

impl Bound {
    /// No value of the data set is in it.
    pub fn event(self, dataset: &str) -> RunEvent {
        let columns = |n: u64| match n {
            1 => "1 column".to_owned(),
            n => format!("{} columns", grouped(n)),
        };
        let so_far = match self {
            Self::Shape {} => {
                format!("were not compared: it is no table and no list of records; {NONE}")
            }
            Self::Kinds { columns: n, most } => {
                let (n, most) = (columns(n), grouped(most));
                format!("by {n} of more than {most} different values were not compared; {NONE}")
            }
            Self::Lists { columns: n } => {
                let n = columns(n);
                format!("by {n} of lists or objects were not compared; {NONE}")
            }
            Self::Pairs { most } => {
                let most = grouped(most);
                format!(
                    "by two columns were compared for the {most} columns of the fewest values; \
                     {BEYOND}"
                )
            }
            Self::Numbers { most } => {
                let most = grouped(most);
                format!("were compared up to {most} numbers; {BEYOND}")
            }
            Self::Seconds { most } => {
                let most = grouped(most);
                format!("were compared for {most} s; {BEYOND}")
            }
        };
        let name: String = dataset.chars().take(NAME_MAX).collect();
        RunEvent {
            kind: RunEvent::PRIVATE.to_owned(),
            message: format!("group numbers of `{name}` {so_far}"),
            line: None,
        }
    }
}

const NONE: &str = "they are not recognised";
const BEYOND: &str = "what lies beyond is not recognised";

/// Characters of a data set's name.
const NAME_MAX: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bound_is_read_and_told_by_the_data_sets_name() {
        for (text, says) in [
            (r#"{"bound":"shape"}"#, "no list of records"),
            (
                r#"{"bound":"kinds","columns":1,"most":10000}"#,
                "by 1 column of more than 10,000 different values were not compared",
            ),
            (r#"{"bound":"lists","columns":3}"#, "by 3 columns of lists"),
            (r#"{"bound":"pairs","most":8}"#, "for the 8 columns"),
            (
                r#"{"bound":"numbers","most":1000000}"#,
                "group numbers of `people` were compared up to 1,000,000 numbers; what lies beyond",
            ),
            (r#"{"bound":"seconds","most":40}"#, "for 40 s"),
        ] {
            let bound: Bound = serde_json::from_str(text).unwrap();
            let event = bound.event("people");
            assert_eq!(event.kind, "private");
            assert!(event.message.contains(says), "{event:?}");
        }
        for odd in [
            r#"{"bound":"other"}"#,
            r#"{"bound":"pairs"}"#,
            r#"{"bound":"pairs","most":-1}"#,
            r#"{"bound":"shape","value":"Ann Ferrer"}"#,
        ] {
            assert!(serde_json::from_str::<Bound>(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn a_message_has_at_most_as_many_characters_as_every_event() {
        let event = Bound::Kinds {
            columns: u64::MAX,
            most: u64::MAX,
        }
        .event(&"é".repeat(4000));
        assert!(event.message.chars().count() <= RunEvent::MESSAGE_MAX);
    }
}
