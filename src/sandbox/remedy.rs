//! Remedies for a tier that this machine cannot provide, by the missing facility and by the
//! system's settings.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::model::Tier;

/// A facility of the system that is needed to confine a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Need {
    Namespaces,
    Landlock,
    Seccomp,
    FreshProc,
    Mounts,
    Jail,
    CloseRange,
    PidfdOpen,
    MemfdCreate,
    Socketpair,
    Rlimits,
    Capabilities,
    Hostname,
    Session,
    Prctl,
}

impl Need {
    #[cfg(test)]
    pub const ALL: &[Self] = &[
        Self::Namespaces,
        Self::Landlock,
        Self::Seccomp,
        Self::FreshProc,
        Self::Mounts,
        Self::Jail,
        Self::CloseRange,
        Self::PidfdOpen,
        Self::MemfdCreate,
        Self::Socketpair,
        Self::Rlimits,
        Self::Capabilities,
        Self::Hostname,
        Self::Session,
        Self::Prctl,
    ];

    /// The name of the facility in messages about its absence.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Landlock => "Landlock",
            Self::Seccomp => "seccomp",
            Self::FreshProc => "a fresh /proc",
            Self::Mounts => "mounts",
            Self::Jail => "a root of the jail's own",
            Self::CloseRange => "close_range",
            Self::PidfdOpen => "process descriptors (pidfd_open)",
            Self::MemfdCreate => "sealed memory files (memfd_create)",
            Self::Socketpair => "pairs of sockets (socketpair)",
            Self::Rlimits => "resource limits",
            Self::Capabilities => "capabilities",
            Self::Hostname => "host names",
            Self::Session => "sessions",
            Self::Prctl => "prctl",
        }
    }

    /// What makes the facility available, depending on the settings under `sys` (`/proc/sys`).
    fn remedy(self, sys: &Path) -> &'static str {
        match self {
            Self::Namespaces => namespaces(sys),
            Self::Landlock => {
                "boot a kernel with CONFIG_SECURITY_LANDLOCK and `landlock` in lsm=, and allow \
                  its system calls"
            }
            Self::Seccomp => "boot a kernel with CONFIG_SECCOMP_FILTER",
            Self::FreshProc => "in a container, start it with a /proc without masked paths",
            Self::Mounts => {
                "boot Linux 5.12 or newer; in a container, allow it mount, mount_setattr, umount2 and \
                 pivot_root"
            }
            Self::Jail => {
                "in a container, allow it mount, umount2 and pivot_root, and a root that is not a ramfs"
            }
            Self::CloseRange => "boot Linux 5.9 or newer, and allow close_range",
            Self::PidfdOpen => "boot Linux 5.3 or newer, and allow pidfd_open",
            Self::MemfdCreate => {
                "allow memfd_create, which a container's seccomp profile may forbid"
            }
            Self::Socketpair => "allow socketpair, which a container's seccomp profile may forbid",
            Self::Rlimits => "allow prlimit64, which a container's seccomp profile may forbid",
            Self::Capabilities => {
                "allow capset and prctl, which a container's seccomp profile may forbid"
            }
            Self::Hostname => "allow sethostname, which a container's seccomp profile may forbid",
            Self::Session => "allow setsid, which a container's seccomp profile may forbid",
            Self::Prctl => "allow prctl, which a container's seccomp profile may forbid",
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The remedy if no single facility is missing.
const UNKNOWN: &str = "see the local log for what the system answered";

/// What a person can do if the tier is not available.
pub fn remedy(tier: Tier, need: Option<Need>) -> String {
    remedy_by(Path::new("/proc/sys"), tier, need)
}

fn remedy_by(sys: &Path, tier: Tier, need: Option<Need>) -> String {
    let known = need.map_or(UNKNOWN, |need| need.remedy(sys));
    if tier == Tier::Process {
        return format!("it needs Linux 5.12 or newer with /proc mounted; {known}");
    }
    format!("{known}, or choose tier = \"process\" knowing what it does not stop")
}

fn namespaces(sys: &Path) -> &'static str {
    let set = |path: &str, to: &str| {
        std::fs::read_to_string(sys.join(path)).is_ok_and(|value| value.trim() == to)
    };
    if set("user/max_user_namespaces", "0") {
        "sysctl user.max_user_namespaces=10000"
    } else if set("kernel/unprivileged_userns_clone", "0") {
        "sysctl kernel.unprivileged_userns_clone=1"
    } else if set("kernel/apparmor_restrict_unprivileged_userns", "1") {
        "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile that allows \
         userns for countersign"
    } else {
        "in a container, start it so that it may make user namespaces"
    }
}

#[cfg(test)]
mod tests {
    use super::super::refusal::{Reason, Step};
    use super::*;

    #[test]
    fn each_facility_has_a_remedy_of_its_own() {
        let empty = tempfile::tempdir().unwrap();
        let mut seen = std::collections::BTreeSet::new();
        for need in Need::ALL {
            assert!(
                seen.insert(need.remedy(empty.path())),
                "{need} has the remedy of another facility"
            );
        }
    }

    #[test]
    fn a_failed_step_names_the_facility_it_needs() {
        // The reason, a part of its text, a part of its remedy.
        let table = [
            (Reason::Landlock, "Landlock is not", "lsm="),
            (
                Step::RestrictFiles.into(),
                "file access",
                "SECURITY_LANDLOCK",
            ),
            (
                Step::InstallFilter.into(),
                "system call filter",
                "SECCOMP_FILTER",
            ),
            (
                Reason::FilterNotMade,
                "system call filter",
                "SECCOMP_FILTER",
            ),
            (Reason::FreshProc, "fresh /proc", "masked paths"),
            (
                Step::KeepMountsPrivate.into(),
                "mounts private",
                "mount_setattr",
            ),
            (Step::CloseMounts.into(), "the jail's mounts", "Linux 5.12"),
            (Step::EnterJail.into(), "enter the jail", "pivot_root"),
            (Step::CloseRange.into(), "close_range", "Linux 5.9"),
            (
                Step::CloseDescriptors.into(),
                "close descriptors",
                "Linux 5.9",
            ),
            (Step::HoldSlot.into(), "warm slot", "Linux 5.3"),
            (Step::MakeSocket.into(), "socket", "socketpair"),
            (Step::SetLimits.into(), "limits", "prlimit64"),
            (Step::DropCapabilities.into(), "capabilities", "capset"),
            (Step::SetHostName.into(), "set the host name", "sethostname"),
            (Step::LeaveSession.into(), "leave the session", "setsid"),
            (Step::KeepHelperUnread.into(), "reading the helper", "prctl"),
            (
                Step::MapUsers.into(),
                "users of the jail",
                "user namespaces",
            ),
            (Reason::Namespaces, "namespaces", "user namespaces"),
            (Reason::NoUserId, "no user id", "local log"),
        ];
        let empty = tempfile::tempdir().unwrap();
        for (reason, says, remedy) in table {
            let text = reason.to_string();
            assert!(text.contains(says), "{text}");
            let remedy_text = remedy_by(empty.path(), Tier::Kernel, reason.need());
            assert!(remedy_text.contains(remedy), "{text}: {remedy_text}");
            assert!(remedy_text.contains("tier = \"process\""), "{remedy_text}");
            let weak = remedy_by(empty.path(), Tier::Process, reason.need());
            assert!(!weak.contains("tier = \"process\""), "{weak}");
        }
        for step in Step::ALL {
            assert!(!step.doing().is_empty() && !step.doing().ends_with('.'));
        }
    }

    #[test]
    fn the_settings_determine_the_remedy_for_namespaces() {
        let cases = [
            ("user/max_user_namespaces", "0", "max_user_namespaces=10000"),
            ("kernel/unprivileged_userns_clone", "0", "userns_clone=1"),
            (
                "kernel/apparmor_restrict_unprivileged_userns",
                "1",
                "AppArmor profile",
            ),
            ("user/max_user_namespaces", "100", "in a container"),
        ];
        for (path, value, remedy) in cases {
            let sys = tempfile::tempdir().unwrap();
            let file = sys.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, format!("{value}\n")).unwrap();
            let remedy_text = remedy_by(sys.path(), Tier::Kernel, Some(Need::Namespaces));
            assert!(
                remedy_text.contains(remedy),
                "{path} {value}: {remedy_text}"
            );
        }
    }
}
