//! What to do about a tier that this machine cannot give: by the facility that is missing, and by what the
//! system's settings say of it.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::model::Tier;

/// A facility of the system that confining a payload needs.
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

    /// How the facility is called where it is said to be missing.
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

    /// What brings the facility back, by what the settings under `sys` (`/proc/sys`) say.
    fn remedy(self, sys: &Path) -> &'static str {
        match self {
            Self::Namespaces => namespaces(sys),
            Self::Landlock => {
                "boot a kernel with CONFIG_SECURITY_LANDLOCK and `landlock` in lsm=, and let nothing \
                 forbid its calls"
            }
            Self::Seccomp => "boot a kernel with CONFIG_SECCOMP_FILTER",
            Self::FreshProc => "in a container, start it with a /proc of which nothing is hidden",
            Self::Mounts => {
                "boot Linux 5.12 or newer; in a container, allow it mount, mount_setattr, umount2 and \
                 pivot_root"
            }
            Self::Jail => {
                "in a container, allow it mount, umount2 and pivot_root, and a root that is no ramfs"
            }
            Self::CloseRange => "boot Linux 5.9 or newer, and let nothing forbid close_range",
            Self::PidfdOpen => "boot Linux 5.3 or newer, and let nothing forbid pidfd_open",
            Self::MemfdCreate => "let nothing (a container's seccomp profile) forbid memfd_create",
            Self::Socketpair => "let nothing (a container's seccomp profile) forbid socketpair",
            Self::Rlimits => "let nothing (a container's seccomp profile) forbid prlimit64",
            Self::Capabilities => {
                "let nothing (a container's seccomp profile) forbid capset and prctl"
            }
            Self::Hostname => "let nothing (a container's seccomp profile) forbid sethostname",
            Self::Session => "let nothing (a container's seccomp profile) forbid setsid",
            Self::Prctl => "let nothing (a container's seccomp profile) forbid prctl",
        }
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Where no single facility is missing.
const UNKNOWN: &str = "see the local log for what the system answered";

/// What a person may do where the tier is not to be had.
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
            assert!(seen.insert(need.remedy(empty.path())), "{need} shares one");
        }
    }

    #[test]
    fn what_fails_names_the_facility_that_it_needs() {
        // The reason, a word of what a person reads, a word of the remedy.
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
            (Reason::FreshProc, "fresh /proc", "nothing is hidden"),
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
            (Step::NameMachine.into(), "name the machine", "sethostname"),
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
            let told = remedy_by(empty.path(), Tier::Kernel, reason.need());
            assert!(told.contains(remedy), "{text}: {told}");
            assert!(told.contains("tier = \"process\""), "{told}");
            let weak = remedy_by(empty.path(), Tier::Process, reason.need());
            assert!(!weak.contains("tier = \"process\""), "{weak}");
        }
        for step in Step::ALL {
            assert!(!step.doing().is_empty() && !step.doing().ends_with('.'));
        }
    }

    #[test]
    fn the_settings_say_how_namespaces_come_back() {
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
            let told = remedy_by(sys.path(), Tier::Kernel, Some(Need::Namespaces));
            assert!(told.contains(remedy), "{path} {value}: {told}");
        }
    }
}
