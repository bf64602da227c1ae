//! Why a payload was not made: a step that failed or a thing that is missing, each with its remedy.
//!
//! The text of a refusal goes to the agent and to the person, so it contains no path of this
//! machine; the detail is for the local log. A refusal crosses the wire between helper and broker
//! as data, never as a sentence.

use std::fmt;
use std::io;

use serde::{Deserialize, Serialize};

use crate::model::Tier;

use super::remedy::Need;

/// Why a payload was not made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    pub reason: Reason,
    /// For the local log.
    pub detail: String,
}

impl Refusal {
    pub fn new(reason: impl Into<Reason>, detail: impl fmt::Display) -> Self {
        Self {
            reason: reason.into(),
            detail: detail.to_string(),
        }
    }
}

/// The cause of a refusal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// A step that the system did not allow.
    Step(Step),
    Namespaces,
    FreshProc,
    Landlock,
    FilterNotMade,
    RootKept,
    RootFolderClosed,
    EnvironmentOutOfReach,
    EnvironmentUnreadable,
    InterpreterIsScript,
    InterpreterUnreadable,
    InterpreterNotStarted,
    PathWithNul,
    TooFewFiles {
        limit: u64,
        needed: u64,
    },
    NoUserId,
    FileNotSealed,
    OtherCode,
    TierIncomplete(Tier),
    HelperKilled,
    HelperGone,
    DashboardGone,
    PythonEnded,
    NotConfined,
    SlotNotMade,
    SlotUnexpected,
    SlotWithoutFolder,
    SlotGone,
    DescriptorsMissing,
    ZygoteEnded,
    /// The payload's report could not be parsed.
    Unknown,
}

impl From<Step> for Reason {
    fn from(step: Step) -> Self {
        Self::Step(step)
    }
}

impl Reason {
    /// The facility that the system lacks.
    pub const fn need(&self) -> Option<Need> {
        match self {
            Self::Step(step) => step.need(),
            Self::Namespaces => Some(Need::Namespaces),
            Self::FreshProc => Some(Need::FreshProc),
            Self::Landlock => Some(Need::Landlock),
            Self::FilterNotMade => Some(Need::Seccomp),
            _ => None,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Step(step) => return write!(f, "could not {}", step.doing()),
            Self::Namespaces => {
                "this system does not give namespaces to this user; see sysctl \
                 user.max_user_namespaces, kernel.unprivileged_userns_clone and \
                 kernel.apparmor_restrict_unprivileged_userns"
            }
            Self::FreshProc => {
                "a fresh /proc cannot be mounted (a container that hides parts of its own does not \
                 allow it)"
            }
            Self::Landlock => {
                "Landlock is not available: the kernel needs CONFIG_SECURITY_LANDLOCK and `landlock` \
                 in its list of security modules (boot option lsm=)"
            }
            Self::FilterNotMade => "could not make the system call filter",
            Self::RootKept => "could not give up root for good",
            Self::RootFolderClosed => "the root folder is closed to other users",
            Self::EnvironmentOutOfReach => {
                "the run's own user cannot reach the Python environment, and without the right to \
                 mount (CAP_SYS_ADMIN) it cannot be brought to where it can: put the environment \
                 below a folder that other users may enter"
            }
            Self::EnvironmentUnreadable => {
                "the run's user may not read the Python environment; its files and folders must be \
                 readable for other users (chmod -R o+rX)"
            }
            Self::InterpreterIsScript => {
                "the configured Python is a script, not an interpreter (a version manager's shim?); \
                 name the interpreter itself"
            }
            Self::InterpreterUnreadable => "the Python interpreter cannot be read",
            Self::InterpreterNotStarted => "could not start the Python interpreter",
            Self::PathWithNul => "a path contains a NUL byte",
            Self::TooFewFiles { limit, needed } => {
                return write!(
                    f,
                    "the policy's limit of {limit} open files is too small to start Python with \
                     these inputs; it takes {needed}"
                );
            }
            Self::NoUserId => "no user id is free for the run",
            Self::FileNotSealed => "a file of the run is not sealed",
            Self::OtherCode => {
                "the code is not the code that was shown: the sandbox helper read other code"
            }
            Self::TierIncomplete(tier) => {
                return write!(f, "tier {tier} is not complete yet");
            }
            Self::HelperKilled => "the sandbox helper was killed; the child went with it",
            Self::HelperGone => "the helper is gone",
            Self::DashboardGone => "the dashboard is gone",
            Self::PythonEnded => "Python ended before it was ready",
            Self::NotConfined => "could not confine the run",
            Self::SlotNotMade => "a warm slot could not be made",
            Self::SlotUnexpected => "a warm slot sent an unexpected message",
            Self::SlotWithoutFolder => "a warm slot has no folder",
            Self::SlotGone => "the warm slot is gone",
            Self::DescriptorsMissing => "descriptors are missing",
            Self::ZygoteEnded => "the zygote ended",
            Self::Unknown => "the payload could not be made",
        };
        f.write_str(text)
    }
}

/// Declares the steps: the name, the text after `could not`, and the facility that the step needs.
macro_rules! steps {
    ($($name:ident = $doing:literal $(needs $need:ident)?;)*) => {
        /// A step on the way to a confined payload.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        pub enum Step {
            $($name,)*
        }

        impl Step {
            #[cfg(test)]
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The step in words that follow `could not`.
            pub const fn doing(self) -> &'static str {
                match self {
                    $(Self::$name => $doing,)*
                }
            }

            /// The facility without which the step fails; `None` if it depends on no single one.
            pub const fn need(self) -> Option<Need> {
                match self {
                    $(Self::$name => steps!(@need $($need)?),)*
                }
            }
        }
    };
    (@need) => { None };
    (@need $need:ident) => { Some(Need::$need) };
}

steps! {
    AskZygote = "ask the zygote";
    BecomeReaper = "become the reaper of the run" needs Prctl;
    RaiseOomScore = "raise the payload's OOM score";
    BringBackEnvironment = "bring back the Python environment" needs Mounts;
    BringEnvironmentIn = "bring the Python environment into the jail" needs Jail;
    ChangeGroup = "change to the run's group";
    ChangeUser = "change to the run's user";
    CloseDescriptors = "close descriptors" needs CloseRange;
    CloseMounts = "close the jail's mounts" needs Mounts;
    CloseRange = "close descriptors (close_range, Linux 5.9 or newer)" needs CloseRange;
    CountProcesses = "count processes";
    CoverClosedFolder = "cover a closed folder" needs Mounts;
    DropCapabilities = "drop the capabilities" needs Capabilities;
    EnterFolder = "enter the run's folder";
    EnterJail = "enter the jail" needs Jail;
    FindPayload = "find the payload";
    Fork = "fork";
    GiveUpPrivileges = "give up new privileges" needs Prctl;
    HandRunOver = "hand the run over";
    FillSlot = "start the payload of a warm slot";
    ReceiveRun = "receive a run";
    HoldDescriptor = "hold a descriptor";
    HoldSlot = "hold a warm slot" needs PidfdOpen;
    InstallFilter = "install the system call filter" needs Seccomp;
    KeepHelperUnread = "keep others from reading the helper" needs Prctl;
    KeepInitUnread = "keep others from reading the jail's pid 1" needs Prctl;
    KeepMountsPrivate = "keep mounts private" needs Mounts;
    KeepRoot = "keep root";
    LeaveFolder = "leave the folder";
    LeaveGroups = "leave all groups";
    LeaveSession = "leave the session" needs Session;
    MakeDevices = "make the devices" needs Jail;
    MakeFolder = "make the run's folder";
    MakeJailFolder = "make a folder of the jail" needs Jail;
    MakeMemoryFiles = "make a file system in memory" needs Mounts;
    MakeMountNamespace = "make a mount namespace" needs Namespaces;
    MakeNamespaces = "make namespaces" needs Namespaces;
    MakePipe = "make a pipe";
    MakeReadOnly = "make the file system read-only" needs Mounts;
    MakeRules = "make the rules of a run";
    MakeSharedMemory = "make shared memory" needs Jail;
    MakeSocket = "make a socket" needs Socketpair;
    MapUsers = "map the users of the jail" needs Namespaces;
    SetHostName = "set the host name" needs Hostname;
    SetParentDeathSignal = "set the parent-death signal" needs Prctl;
    OfferSlot = "offer a warm slot";
    OpenDevNull = "open /dev/null";
    OpenEnvironment = "open the Python environment";
    OpenFolder = "open the run's folder";
    OpenProc = "open /proc";
    PlaceDescriptors = "place descriptors";
    PutIntoControlGroup = "put the run into its control group";
    ReadCode = "read the code";
    ReadGroupId = "read the group id";
    ReadRoot = "read the root";
    ReadUserId = "read the user id";
    ReadUsers = "read which users have processes";
    ReceiveOrder = "receive the order";
    RemoveFolder = "remove the run's folder";
    RemoveZygoteFolder = "remove the zygote's folder";
    ResetSignals = "reset signals";
    RestrictFiles = "restrict file access" needs Landlock;
    SetLimits = "set the limits" needs Rlimits;
    StartJail = "start the jail" needs Jail;
    StartPython = "start Python";
    DrawNumber = "draw a random number";
    WaitForHelper = "wait for the helper";
    WaitForSignals = "wait for signals";
    WaitForZygote = "wait for the zygote";
}

/// Turns a failed call into the refusal of the step that made it.
pub trait Attempt<T> {
    fn step(self, step: Step) -> Result<T, Refusal>;
}

impl<T, E: Into<io::Error>> Attempt<T> for Result<T, E> {
    fn step(self, step: Step) -> Result<T, Refusal> {
        self.map_err(|e| {
            let e: io::Error = e.into();
            Refusal::new(step, e)
        })
    }
}
