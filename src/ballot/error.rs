//! What is wrong in a file about who may vote, for the person who wrote it.

use std::fmt;

/// One of the three files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VotingFile {
    Signers,
    People,
    Revoked,
}

impl fmt::Display for VotingFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Signers => "allowed_signers",
            Self::People => "people.toml",
            Self::Revoked => "revoked_keys",
        })
    }
}

/// Why a file is not used: the file, the line counted from 1, what was wrong and what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BallotError {
    pub file: VotingFile,
    pub line: Option<usize>,
    pub message: String,
}

impl BallotError {
    pub(super) fn new(file: VotingFile, message: impl Into<String>) -> Self {
        Self {
            file,
            line: None,
            message: message.into(),
        }
    }

    pub(super) fn at(file: VotingFile, line: usize, message: impl Into<String>) -> Self {
        Self {
            line: Some(line),
            ..Self::new(file, message)
        }
    }
}

impl fmt::Display for BallotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for BallotError {}
