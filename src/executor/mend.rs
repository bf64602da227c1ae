//! What to do about a tier that cannot be had: by what is missing, and by what this system's settings
//! say of it.

use crate::model::Tier;

/// What a message that names what is missing contains, and the mend. The first that fits counts.
const MENDS: &[(&str, &str)] = &[
    (
        "andlock",
        "boot a kernel with CONFIG_SECURITY_LANDLOCK and `landlock` in lsm=",
    ),
    (
        "file access",
        "boot a kernel with CONFIG_SECURITY_LANDLOCK and `landlock` in lsm=, and let nothing forbid \
         its calls",
    ),
    (
        "system call filter",
        "boot a kernel with CONFIG_SECCOMP_FILTER",
    ),
    ("seccomp", "boot a kernel with CONFIG_SECCOMP_FILTER"),
    (
        "fresh /proc",
        "in a container, start it with a /proc of which nothing is hidden",
    ),
    (
        "mounts",
        "boot Linux 5.12 or newer; in a container, allow it mount, mount_setattr, umount2 and \
         pivot_root",
    ),
    (
        "the jail",
        "in a container, allow it mount, umount2 and pivot_root, and a root that is no ramfs",
    ),
    (
        "close_range",
        "boot Linux 5.9 or newer, and let nothing forbid close_range",
    ),
    (
        "pidfd_open",
        "boot Linux 5.3 or newer, and let nothing forbid pidfd_open",
    ),
    (
        "memfd_create",
        "let nothing (a container's seccomp profile) forbid memfd_create",
    ),
    (
        "socketpair",
        "let nothing (a container's seccomp profile) forbid socketpair",
    ),
    (
        "limits",
        "let nothing (a container's seccomp profile) forbid prlimit64",
    ),
    (
        "capabilities",
        "let nothing (a container's seccomp profile) forbid capset and prctl",
    ),
    (
        "name the machine",
        "let nothing (a container's seccomp profile) forbid sethostname",
    ),
    (
        "leave the session",
        "let nothing (a container's seccomp profile) forbid setsid",
    ),
    (
        "reading the helper",
        "let nothing (a container's seccomp profile) forbid prctl",
    ),
];

/// For a message that [`MENDS`] does not know.
const UNKNOWN: &str = "see the local log for what the system answered";

pub fn mend(tier: Tier, missing: &str) -> String {
    const ELSE: &str = "or choose tier = \"process\" knowing what it does not stop";
    let known = || {
        let fits = MENDS.iter().find(|(word, _)| missing.contains(word));
        fits.map_or(UNKNOWN, |(_, mend)| mend)
    };
    if tier == Tier::Process {
        return format!(
            "it needs Linux 5.12 or newer with /proc mounted; {}",
            known()
        );
    }
    let first = if missing.contains("namespaces") {
        namespaces()
    } else {
        known()
    };
    format!("{first}, {ELSE}")
}

fn namespaces() -> &'static str {
    let set = |path: &str, to: &str| {
        std::fs::read_to_string(std::path::Path::new("/proc/sys").join(path))
            .is_ok_and(|value| value.trim() == to)
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
