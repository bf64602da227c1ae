//! Why a child could not be made or attended to its end, for reasons other than the snippet.

use std::fmt;
use std::time::Duration;

use crate::sandbox::refusal::{Reason, Refusal};
use crate::sandbox::remedy::Need;

/// A failure that the snippet did not cause.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Fault {
    pub why: Why,
    /// For the local log.
    pub detail: String,
}

impl Fault {
    pub(crate) fn new(why: Why, detail: impl fmt::Display) -> Self {
        Self {
            why,
            detail: detail.to_string(),
        }
    }

    /// The facility that the system lacks.
    pub fn need(&self) -> Option<Need> {
        match &self.why {
            Why::Refused(reason) => reason.need(),
            Why::Lacks(need) => Some(*need),
            Why::Unconfined(layer) => match *layer {
                "landlock" => Some(Need::Landlock),
                "seccomp" | "noexec" => Some(Need::Seccomp),
                "rlimits" => Some(Need::Rlimits),
                "nocaps" | "bounding" => Some(Need::Capabilities),
                "root" => Some(Need::Jail),
                "proc" => Some(Need::FreshProc),
                layer if layer.ends_with("ns") => Some(Need::Namespaces),
                _ => None,
            },
            _ => None,
        }
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self {
            why: Why::Refused(refusal.reason),
            detail: refusal.detail,
        }
    }
}

/// The kind of failure. Its text also goes to the agent, so it contains no path of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// The helper refused.
    Refused(Reason),
    /// The broker itself lacks something.
    Lacks(Need),
    /// A layer of the tier is missing, as read from outside.
    Unconfined(&'static str),
    /// The child had ended before it was examined.
    EndedEarly,
    NotReady(Duration),
    /// The helper's socket ended.
    Silent,
    OutOfOrder,
    /// The helper did not end in time.
    NoAnswer,
    NotLaunched,
    NotWaited,
    NoPipe,
    NoFolder,
    /// The folder for temporary files has no room.
    FolderFull,
    NotHandedOver,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Refused(reason) => return reason.fmt(f),
            Self::Lacks(need) => return write!(f, "{need} are missing"),
            Self::Unconfined(layer) => {
                return write!(
                    f,
                    "the child is not confined as its tier asks: {layer} is missing"
                );
            }
            Self::NotReady(patience) => {
                return write!(f, "Python was not ready within {} s", patience.as_secs());
            }
            Self::EndedEarly => "the child ended before it was ready",
            Self::Silent => "the sandbox helper ended without a word; the child went with it",
            Self::OutOfOrder => "the sandbox helper is out of order",
            Self::NoAnswer => "the sandbox helper did not answer and was killed",
            Self::NotLaunched => "the sandbox helper cannot be started",
            Self::NotWaited => "could not wait for the child",
            Self::NoPipe => "could not make a pipe",
            Self::NoFolder => {
                "could not make the run's folder: the folder for temporary files cannot be used: fix \
                 it, or name another one with TMPDIR"
            }
            Self::FolderFull => {
                "could not make the run's folder: the folder for temporary files is full: free some \
                 space, or name another one with TMPDIR"
            }
            Self::NotHandedOver => "could not hand the run over",
        };
        f.write_str(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_that_is_missing_names_the_facility_that_it_needs() {
        for (layer, need) in [
            ("landlock", Some(Need::Landlock)),
            ("seccomp", Some(Need::Seccomp)),
            ("userns", Some(Need::Namespaces)),
            ("cgroupns", Some(Need::Namespaces)),
            ("proc", Some(Need::FreshProc)),
            ("bounding", Some(Need::Capabilities)),
            ("no_new_privs", None),
        ] {
            let fault = Fault::new(Why::Unconfined(layer), "");
            assert_eq!(fault.need(), need, "{layer}");
            assert!(fault.to_string().contains(layer), "{fault}");
        }
    }
}
