//! Who decided and what was on their screen: for the audit log, never for an agent.

use serde::de::Deserializer;
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

/// The person at the dashboard's terminal, as far as the system knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reviewer {
    pub uid: u32,
    pub login: Option<String>,
    /// `/proc/self/loginuid`; `None` if it is not set (4294967295).
    pub loginuid: Option<u32>,
    pub host: Option<String>,
    pub tty: Option<String>,
    /// `SSH_CONNECTION`, if the session uses ssh.
    pub ssh: Option<String>,
}

/// What the person saw before a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Viewed {
    /// Milliseconds for which the proposal was selected.
    pub selected_ms: u64,
    /// Milliseconds of that with the terminal focused; `None` if the terminal does not report focus.
    pub focused_ms: Option<u64>,
    pub lines_seen: u64,
    pub findings_shown: u64,
    /// What stood on the screen beside the code.
    #[serde(default, skip_serializing_if = "Opened::is_empty")]
    pub opened: Opened,
    /// Whether the sheet asked a second time because the code had been shown for less time than
    /// reading takes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asked_again: bool,
}

/// A part of the screen beside the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    Verdict,
    Capabilities,
    Given,
    Details,
    Claims,
    Past,
    Diff,
    /// The sheet with every digest.
    WholeSheet,
}

impl Part {
    const ALL: [Self; 8] = [
        Self::Verdict,
        Self::Capabilities,
        Self::Given,
        Self::Details,
        Self::Claims,
        Self::Past,
        Self::Diff,
        Self::WholeSheet,
    ];
}

/// A set of parts; in JSON a list of their names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opened(u8);

impl Opened {
    pub const fn insert(&mut self, part: Part) {
        self.0 |= 1 << part as u8;
    }

    pub const fn contains(self, part: Part) -> bool {
        self.0 & (1 << part as u8) != 0
    }

    #[allow(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes a reference"
    )]
    pub const fn is_empty(&self) -> bool {
        self.0 == 0
    }
}

impl Serialize for Opened {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(Part::ALL.into_iter().filter(|part| self.contains(*part)))
    }
}

impl<'de> Deserialize<'de> for Opened {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut opened = Self::default();
        for part in Vec::<Part>::deserialize(deserializer)? {
            opened.insert(part);
        }
        Ok(opened)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_without_the_new_fields_is_read_and_what_was_opened_is_a_list_of_names() {
        let old = r#"{"selected_ms":5,"focused_ms":null,"lines_seen":1,"findings_shown":0}"#;
        let mut viewed: Viewed = serde_json::from_str(old).unwrap();
        assert_eq!(serde_json::to_string(&viewed).unwrap(), old);
        viewed.opened.insert(Part::Diff);
        viewed.opened.insert(Part::Given);
        let text = serde_json::to_string(&viewed).unwrap();
        assert!(text.ends_with(r#""opened":["given","diff"]}"#), "{text}");
        assert_eq!(serde_json::from_str::<Viewed>(&text).unwrap(), viewed);
    }
}
