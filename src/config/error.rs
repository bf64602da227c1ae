//! Configuration errors, worded so that the reader can fix them.

use std::fmt;
use std::path::PathBuf;

use crate::paths::{NoHome, UntrustedFile};

/// Where a value was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `line` counts from 1.
    File { path: PathBuf, line: usize },
    /// A flag or its environment variable.
    Flag(&'static str),
    /// An environment variable without a flag.
    Variable(String),
    /// Not set anywhere.
    Builtin,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Flag(name) => {
                let variable = name.trim_start_matches('-').replace('-', "_");
                write!(f, "{name} (or COUNTERSIGN_{})", variable.to_uppercase())
            }
            Self::Variable(name) => f.write_str(name),
            Self::Builtin => f.write_str("built-in default"),
        }
    }
}

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// `config.toml:3: unknown key `theem`; did you mean `theme`?`
    #[error("{origin}: {message}")]
    Value { origin: Origin, message: String },
    #[error(transparent)]
    File(#[from] UntrustedFile),
    #[error(transparent)]
    NoHome(#[from] NoHome),
    #[error("COUNTERSIGN_ENV is `{name}`, so {} must exist, but it does not", path.display())]
    NoOverlay { name: String, path: PathBuf },
    #[error("COUNTERSIGN_ENV is `{0}`; only letters, digits, `-` and `_` may occur in it")]
    OverlayName(String),
    #[error("{flag}: cannot be made an absolute path: {source}")]
    Relative {
        flag: &'static str,
        source: std::io::Error,
    },
}

impl ConfigError {
    pub(super) fn value(origin: Origin, message: impl Into<String>) -> Self {
        Self::Value {
            origin,
            message: message.into(),
        }
    }
}
