//! What can be wrong with a Python, each with its remedy.

use std::io;
use std::path::{Path, PathBuf};

use super::{PythonEnv, lock};

/// Why there is no usable Python. The text tells a person what is wrong and what to do.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    #[error(
        "no Python 3.11 or later was found on PATH ({tried}); install one, or name it with \
         --python PATH"
    )]
    NotFound { tried: String },
    #[error("{} cannot be started: {source}; name a Python 3.11 or later with --python PATH", python.display())]
    Start { python: PathBuf, source: io::Error },
    #[error(
        "{} did not answer within {seconds} s when asked for its version; name another Python \
         with --python PATH", python.display()
    )]
    TimedOut { python: PathBuf, seconds: u64 },
    #[error(
        "{} ended with {status} when asked for its version{}; it must be a working Python 3.11 \
         or later", python.display(), quoted(stderr)
    )]
    Crashed {
        python: PathBuf,
        status: String,
        stderr: String,
    },
    #[error(
        "{} did not answer as Python does ({why}); name a Python 3.11 or later with --python \
         PATH, the interpreter itself rather than a script that starts one", python.display()
    )]
    Garbage { python: PathBuf, why: String },
    #[error(
        "{} is Python {version}; 3.11 or later is needed: install one, or name one with --python \
         PATH", python.display()
    )]
    TooOld { python: PathBuf, version: String },
    #[error("{} is {implementation}; CPython 3.11 or later is needed", python.display())]
    NotCPython {
        python: PathBuf,
        implementation: String,
    },
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error(
        "the Python environment changes while it is read ({what}); stop what changes it; it is tried \
         again every few seconds"
    )]
    Restless { what: String },
    #[error("{} cannot make environments: its {missing} module is missing; {remedy}", python.display())]
    NoVenv {
        python: PathBuf,
        missing: &'static str,
        remedy: String,
    },
    #[error("{} {problem}; {remedy}", path.display())]
    Folder {
        path: PathBuf,
        problem: String,
        remedy: String,
    },
    #[error(
        "there is no room left for the Python environment in {} (about 1.5 GB with what pip \
         downloads to {}); free some space and run `countersign setup` again",
        folder.display(), std::env::temp_dir().display()
    )]
    DiskFull { folder: PathBuf },
    #[error(
        "the packages cannot be downloaded: {why}. Check the network and, behind a proxy or a \
         mirror, pip's own settings (HTTPS_PROXY, PIP_INDEX_URL, PIP_CERT, pip.conf: all are \
         honoured), then run `countersign setup` again. All of pip's output: {}", log.display()
    )]
    Network { why: String, log: PathBuf },
    #[error(
        "a downloaded package is not the one that was locked (its SHA-256 differs); nothing of it \
         was installed. A mirror may be changing packages, or somebody is: run `countersign setup` \
         from another network. All of pip's output: {}", log.display()
    )]
    Hash { log: PathBuf },
    #[error(
        "{} (Python {version}) has no prebuilt package of {package} for this machine; put Python \
         3.11, 3.12, 3.13 or 3.14 first on PATH and run `countersign setup` again. All of pip's \
         output: {}", python.display(), log.display()
    )]
    NoWheel {
        python: PathBuf,
        version: String,
        package: String,
        log: PathBuf,
    },
    #[error("{step} ended with {status}. Its last words: {last}. All of its output: {}", log.display())]
    Step {
        step: &'static str,
        status: String,
        last: String,
        log: PathBuf,
    },
    #[error(
        "pip quoted it was done, and yet {missing} is not in the new environment; does pip's \
         configuration (`pip config list`) send packages elsewhere? All of its output: {}",
        log.display()
    )]
    Incomplete { missing: String, log: PathBuf },
    #[error(
        "this version needs another Python environment than the one that is there, which {lacks}. \
         Making it failed: {source}. The old one was left as it is: to go on with it meanwhile, name \
         it with --python {}", python.display()
    )]
    Beside {
        source: Box<RuntimeError>,
        python: PathBuf,
        lacks: String,
    },
}

impl RuntimeError {
    /// The same error, for when an environment of another version exists.
    pub(super) fn beside(self, other: &PythonEnv) -> Self {
        let there = |name: &&str| other.distributions.iter().any(|(have, _)| have == name);
        let lacks: Vec<&str> = lock::libraries()
            .into_iter()
            .filter(|name| !there(name))
            .collect();
        Self::Beside {
            source: Box::new(self),
            python: other.prefix.join("bin/python"),
            lacks: match &lacks[..] {
                [] => "has other versions of the packages".to_owned(),
                _ => format!("lacks {}", lacks.join(", ")),
            },
        }
    }

    /// An error about a file or folder of the managed environment.
    pub(super) fn folder(path: &Path, doing: &str, source: &io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull {
                folder: path.to_owned(),
            },
            _ => Self::Folder {
                path: path.to_owned(),
                problem: format!("cannot be {doing}: {source}"),
                remedy: "the environment needs a folder of your own, under $XDG_DATA_HOME or \
                       ~/.local/share"
                    .to_owned(),
            },
        }
    }
}

fn quoted(stderr: &str) -> String {
    if stderr.is_empty() {
        String::new()
    } else {
        format!(", saying: {stderr}")
    }
}
