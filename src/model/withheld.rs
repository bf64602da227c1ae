//! How much of a run its agent does not get.

use super::Run;

/// What stands for a hidden value in what a run gives back.
pub const REDACTED: &str = "[REDACTED]";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Withheld {
    /// How often [`REDACTED`] stands in what the run printed and returned. The run can have written it itself.
    pub values: usize,
    /// Files that were thrown away because private data was given.
    pub files: u64,
}

impl Withheld {
    pub const fn is_nothing(self) -> bool {
        self.values == 0 && self.files == 0
    }
}

impl Run {
    /// Reads all of its output: not for every frame.
    pub fn withheld(&self) -> Withheld {
        let result = match self.result.is_null() {
            true => String::new(),
            false => self.result.to_string(),
        };
        let texts = [&self.stdout, &self.stderr, &result];
        Withheld {
            values: texts.iter().map(|t| t.matches(REDACTED).count()).sum(),
            files: self.artifacts_withheld,
        }
    }
}
