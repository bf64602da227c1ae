//! The exit codes of the commands (protocol.md §1) and the error that carries one.

use std::fmt;

/// An error that ends a command with a given exit code. The message tells a person what was wrong and what to
/// do.
#[derive(Debug)]
pub struct Failure {
    pub code: u8,
    pub message: String,
    /// Further lines, shown below the message.
    pub more: Vec<String>,
}

impl Failure {
    /// A mistake in the command line or in a configuration file: exit code 2.
    pub fn usage(message: impl Into<String>) -> Self {
        Self {
            code: 2,
            message: message.into(),
            more: Vec::new(),
        }
    }

    /// Any other error that stops a command: exit code 1.
    pub fn general(message: impl Into<String>) -> Self {
        Self {
            code: 1,
            message: message.into(),
            more: Vec::new(),
        }
    }

    pub fn with_code(code: u8, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            more: Vec::new(),
        }
    }

    /// Adds a line below the message.
    #[must_use]
    pub fn and(mut self, line: impl Into<String>) -> Self {
        self.more.push(line.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
