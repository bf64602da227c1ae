//! Why a run could not be made or attended to its end, for reasons other than the snippet.

use std::fmt;
use std::time::Duration;

use crate::child;
use crate::model::Tier;

/// A failure that the snippet did not cause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Fault {
    pub why: Why,
    /// For the local log.
    pub detail: String,
}

impl Fault {
    pub fn new(why: Why, detail: impl fmt::Display) -> Self {
        Self {
            why,
            detail: detail.to_string(),
        }
    }

    /// Wraps an error of the system.
    pub fn of<E: fmt::Display>(why: Why) -> impl FnOnce(E) -> Self {
        move |e| Self::new(why, e)
    }
}

impl From<child::Fault> for Fault {
    fn from(fault: child::Fault) -> Self {
        Self {
            why: Why::Child(fault.why),
            detail: fault.detail,
        }
    }
}

/// The kind of failure. Its text also goes to the agent, so it contains no path of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    Child(child::Why),
    OtherEnvironment,
    EnvironmentChanged,
    EnvironmentNotReady,
    GuardlessTier(Tier),
    NoFacts,
    OtherCode,
    Files,
    TooManyInputs {
        most: usize,
    },
    InputChanged {
        input: String,
    },
    DatasetChanged {
        dataset: String,
    },
    DatasetGone {
        dataset: String,
    },
    ArtifactGone {
        artifact: String,
    },
    NotHidden {
        dataset: String,
        because: String,
    },
    NoDescriptor,
    /// The child ended before it was ready, with the reason as known from outside.
    NeverReady(String),
    NoFolder,
    FolderUnread,
    FileUnread,
    ConverterSlow(Duration),
    ConverterStopped,
    ConverterFailed,
    ConverterFlooded,
    /// The converter's message about the file, cut and cleaned.
    Unconvertible(String),
    Unkept,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Child(why) => return why.fmt(f),
            Self::GuardlessTier(_) => {
                "a policy without the guard runs in tier kernel or stronger only"
            }
            Self::TooManyInputs { most } => {
                return write!(f, "a run takes at most {most} inputs");
            }
            Self::InputChanged { input } => {
                return write!(f, "input {input} changed since it was shown");
            }
            Self::DatasetChanged { dataset } => {
                return write!(f, "data set {dataset} changed since it was shown");
            }
            Self::DatasetGone { dataset } => {
                return write!(f, "data set {dataset} cannot be read any more");
            }
            Self::ArtifactGone { artifact } => {
                return write!(f, "the log's copy of {artifact} cannot be read any more");
            }
            Self::NotHidden { dataset, because } => {
                return write!(
                    f,
                    "data set {dataset} is private, and its values cannot be hidden: {because}"
                );
            }
            Self::NeverReady(message) | Self::Unconvertible(message) => message,
            Self::ConverterSlow(patience) => {
                return write!(f, "it could not be read within {} s", patience.as_secs());
            }
            Self::OtherEnvironment => "the Python environment is not the one that was granted",
            // The message omits what changed, which concerns this machine: the person and the log
            // have it.
            Self::EnvironmentChanged => {
                "the Python environment is not the one that was granted: it changed meanwhile"
            }
            Self::EnvironmentNotReady => "the Python environment is not ready",
            Self::NoFacts => "the analyser reported nothing that the guard could compare",
            Self::OtherCode => "the code is not the code that was shown: its child was not made",
            Self::Files => "could not make the run's files",
            Self::NoDescriptor => "no descriptor is left",
            Self::NoFolder => "the run's folder was not handed over",
            Self::FolderUnread => "the run's folder could not be read",
            Self::FileUnread => "a file that the run left could not be read",
            Self::ConverterStopped => "it was stopped",
            Self::ConverterFailed => "its converter failed",
            Self::ConverterFlooded => "its converter handed over more than it may",
            Self::Unkept => "could not keep the converted data",
        };
        f.write_str(text)
    }
}
