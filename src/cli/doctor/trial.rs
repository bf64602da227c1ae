//! Tries a mechanism and checks its effect, in a process that ends afterwards.

use landlock::{ABI, Access, AccessFs, LandlockStatus, Ruleset, RulesetAttr};
use nix::sched::{CloneFlags, unshare};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use serde::{Deserialize, Serialize};

/// What can be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Trial {
    Namespaces,
    Landlock,
    Seccomp,
}

impl Trial {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Namespaces => "namespaces",
            Self::Landlock => "landlock",
            Self::Seccomp => "seccomp",
        }
    }
}

/// The result of a trial.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Said {
    pub works: bool,
    pub detail: String,
}

pub(super) fn run(trial: Trial) -> Said {
    let done = match trial {
        Trial::Namespaces => namespaces(),
        Trial::Landlock => landlock(),
        Trial::Seccomp => seccomp(),
    };
    match done {
        Ok(detail) => Said {
            works: true,
            detail,
        },
        Err(detail) => Said {
            works: false,
            detail,
        },
    }
}

/// All namespaces at once, as an unprivileged process would: the user namespace owns the others.
fn namespaces() -> Result<String, String> {
    let all = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS
        | CloneFlags::CLONE_NEWCGROUP;
    unshare(all).map_err(|e| format!("cannot be made: {}", e.desc()))?;
    std::fs::write("/proc/self/setgroups", "deny")
        .map_err(|e| format!("made, but their groups cannot be closed: {e}"))?;
    Ok("with pid, net, mount, ipc, uts and cgroup namespaces".to_owned())
}

/// Denies every write and checks that one fails.
fn landlock() -> Result<String, String> {
    let status = Ruleset::default()
        .handle_access(AccessFs::from_all(ABI::V1))
        .and_then(|r| r.create())
        .and_then(|r| r.restrict_self())
        .map_err(|e| e.to_string())?;
    match status.landlock {
        LandlockStatus::NotEnabled => Err("built in, but not enabled at boot".to_owned()),
        LandlockStatus::NotImplemented => Err("not built into this kernel".to_owned()),
        LandlockStatus::Available {
            effective_abi,
            kernel_abi,
        } => {
            if std::fs::File::open("/proc/self/status").is_ok() {
                return Err("enabled, but it confines nothing".to_owned());
            }
            let abi = kernel_abi.unwrap_or(effective_abi as i32);
            Ok(format!("ABI {abi}"))
        }
    }
}

/// Forbids one system call and checks that it fails.
fn seccomp() -> Result<String, String> {
    const REFUSED: i32 = nix::libc::EDOM;
    let arch = std::env::consts::ARCH
        .try_into()
        .map_err(|e| format!("{e}"))?;
    let rules = [(nix::libc::SYS_sysinfo, Vec::new())].into();
    let filter: BpfProgram = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(REFUSED.cast_unsigned()),
        arch,
    )
    .and_then(TryInto::try_into)
    .map_err(|e| e.to_string())?;
    seccompiler::apply_filter(&filter).map_err(|e| e.to_string())?;
    match nix::sys::sysinfo::sysinfo() {
        Err(e) if e == nix::errno::Errno::from_raw(REFUSED) => Ok("filters take effect".to_owned()),
        _ => Err("a filter was taken but refuses nothing".to_owned()),
    }
}
