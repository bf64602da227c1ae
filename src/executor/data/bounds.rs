//! The limits that the search for numbers over small groups of a private data set reached, and
//! their messages.
//!
//! The messages go to the person who watches the run and to the log, never to the agent: which
//! column has so many values, and where the search ended, would only show where to attack.

use serde::Deserialize;

use crate::model::{RunEvent, grouped};

/// A bound of `assets/runner/values.py` that was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "bound", rename_all = "lowercase", deny_unknown_fields)]
pub enum Bound {
    /// The data is plain and has no list of records.
    Shape {},
    /// Columns with too many different values to group by.
    Kinds { columns: u64, most: u64 },
    /// Columns that contain lists or objects.
    Lists { columns: u64 },
    /// Maximum of numbers.
    Numbers { most: u64 },
    /// Maximum of processor time in seconds.
    Seconds { most: u64 },
}

impl Bound {
    /// The message for the person. It contains no value of the data set.
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

/// Maximum number of characters of a data set's name.
const NAME_MAX: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bound_is_parsed_and_reported_with_the_data_sets_name() {
        for (text, says) in [
            (r#"{"bound":"shape"}"#, "no list of records"),
            (
                r#"{"bound":"kinds","columns":1,"most":10000}"#,
                "by 1 column of more than 10,000 different values were not compared",
            ),
            (r#"{"bound":"lists","columns":3}"#, "by 3 columns of lists"),
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
            r#"{"bound":"seconds"}"#,
            r#"{"bound":"seconds","most":-1}"#,
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
