//! What the kernel and the system offer for confining a run.

use std::fs;
use std::path::Path;
use std::process::Command;

use nix::sys::utsname::uname;
use nix::unistd::geteuid;

use super::Check;
use super::trial::{Said, Trial};
use crate::app::descriptors;
use crate::ipc::Bounds;
use crate::runtime::open_files;

pub(super) fn checks(bounds: &Bounds) -> Vec<Check> {
    vec![
        kernel(),
        user(),
        files(bounds),
        namespaces(),
        landlock(),
        seccomp(),
    ]
}

fn files(bounds: &Bounds) -> Check {
    const NAME: &str = "open files";
    match descriptors::lacking(bounds) {
        Some((what, remedy)) => {
            let most = descriptors::needed(bounds);
            // Of the shell that it is typed into.
            let command = format!("prlimit --pid $$ --nofile={most}:{most}");
            Check::missing(NAME, what, remedy).by_root(command)
        }
        None => Check::ok(NAME, format!("{} can be had", number(open_files().1))),
    }
}

fn number(most: u64) -> String {
    match most {
        u64::MAX => "any number".to_owned(),
        most => most.to_string(),
    }
}

/// Landlock came with Linux 5.13; everything else that is needed is older.
const OLDEST: (u32, u32) = (5, 13);

fn kernel() -> Check {
    const NAME: &str = "kernel";
    let Ok(names) = uname() else {
        return Check::note(NAME, "unknown", "");
    };
    let release = names.release().to_string_lossy().into_owned();
    let found = format!("Linux {release} {}", names.machine().to_string_lossy());
    match version(&release) {
        Some(v) if v >= OLDEST => Check::ok(NAME, found),
        _ => Check::missing(NAME, found, "tier kernel needs Linux 5.13 or later"),
    }
}

fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn user() -> Check {
    let uid = geteuid();
    if uid.is_root() {
        Check::note(
            "user",
            "root: runs are handed to an unprivileged uid",
            "open the dashboard as an ordinary user where you can",
        )
    } else {
        Check::ok("user", format!("uid {uid}"))
    }
}

/// Runs the trial in a separate process, because it cannot be undone.
fn tried(trial: Trial) -> Said {
    let output = Command::new("/proc/self/exe")
        .args(["doctor", "--trial", trial.name()])
        .output();
    let failed = |why: String| Said {
        works: false,
        detail: why,
    };
    match output {
        Ok(output) => serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| failed(format!("the trial ended with {}", output.status))),
        Err(e) => failed(format!("the trial cannot be started: {e}")),
    }
}

fn namespaces() -> Check {
    const NAME: &str = "user namespaces";
    let said = tried(Trial::Namespaces);
    if said.works {
        return Check::ok(NAME, said.detail);
    }
    let sysctl = |path: &str, bad: &str| {
        fs::read_to_string(Path::new("/proc/sys").join(path)).is_ok_and(|v| v.trim() == bad)
    };
    let remedy = if sysctl("kernel/apparmor_restrict_unprivileged_userns", "1") {
        "AppArmor forbids them: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or a profile \
         that allows userns for countersign"
    } else if sysctl("kernel/unprivileged_userns_clone", "0") {
        "sysctl kernel.unprivileged_userns_clone=1"
    } else if sysctl("user/max_user_namespaces", "0") {
        "sysctl user.max_user_namespaces=10000"
    } else {
        "in a container, start it so that it may make user namespaces; until then only tier process \
         can be had"
    };
    let setting = remedy
        .split_once("sysctl ")
        .map(|(_, rest)| rest.split(',').next().unwrap_or(rest));
    let check = Check::missing(NAME, said.detail, remedy);
    match setting {
        Some(setting) => check.by_root(format!("sysctl -w {setting}")),
        None => check,
    }
}

fn landlock() -> Check {
    let said = tried(Trial::Landlock);
    if said.works {
        Check::ok("landlock", said.detail)
    } else {
        Check::missing(
            "landlock",
            said.detail,
            "a kernel with CONFIG_SECURITY_LANDLOCK, and `landlock` in the lsm= boot parameter",
        )
    }
}

fn seccomp() -> Check {
    let said = tried(Trial::Seccomp);
    if said.works {
        Check::ok("seccomp", said.detail)
    } else {
        Check::missing(
            "seccomp",
            said.detail,
            "a kernel with CONFIG_SECCOMP_FILTER",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_releases_of_every_form_are_read() {
        assert_eq!(version("6.18.44-fc-v669"), Some((6, 18)));
        assert_eq!(version("5.4.0-rc1"), Some((5, 4)));
        assert_eq!(version("6.1"), Some((6, 1)));
        assert_eq!(version("unknown"), None);
        assert!(version("5.12.9") < Some(OLDEST));
    }
}
