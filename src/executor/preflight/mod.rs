//! Determines which tiers this machine provides, and what a tier does not stop.
//!
//! It tries it: our own binary is confined like a payload and examined from outside. A start may
//! use the result of an earlier preflight (`memory`).

mod memory;

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::unistd::Uid;

use crate::child::{
    self, Client, Confinement, Fault, Files, Handed, Held, Source, Step, Why, Wish,
};
use crate::model::{Digest, Limits, Preflight, Tier};
use crate::sandbox::protocol::Purpose;
use crate::sandbox::remedy::{Need, remedy};
use crate::sandbox::{memfd, raw};

use memory::Circumstances;

/// A tier that this machine cannot provide. No weaker tier replaces it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("tier {tier} is not available: {missing}; {remedy}")]
pub struct Unavailable {
    pub tier: Tier,
    pub missing: String,
    pub remedy: String,
}

/// Whether this machine provides the tier, found by trying it. Takes about ten milliseconds.
pub fn preflight(tier: Tier) -> Result<Preflight, Unavailable> {
    look(tier, own_binary(tier)?.as_fd())
}

/// The same, but uses an earlier result if nothing it depends on has changed. Makes a start faster;
/// every run is still examined from outside.
pub fn preflight_recalled(tier: Tier, cache: &Path) -> Result<Preflight, Unavailable> {
    let exe = own_binary(tier)?;
    let Ok(now) = Circumstances::now(&exe) else {
        return look(tier, exe.as_fd());
    };
    if let Some(found) = memory::recall(cache, &now, tier) {
        return Ok(found);
    }
    let found = look(tier, exe.as_fd())?;
    if let Err(e) = memory::keep(cache, &now, &found) {
        tracing::warn!("the preflight's result could not be kept: {e}");
    }
    Ok(found)
}

fn own_binary(tier: Tier) -> Result<File, Unavailable> {
    File::open("/proc/self/exe").map_err(|e| Unavailable {
        tier,
        missing: format!("its own binary cannot be opened ({e})"),
        remedy: "mount /proc".to_owned(),
    })
}

/// Ignores earlier results.
pub(super) fn look(tier: Tier, exe: BorrowedFd<'_>) -> Result<Preflight, Unavailable> {
    if !matches!(tier, Tier::Process | Tier::Kernel) {
        return Err(Unavailable {
            tier,
            missing: "it is not complete yet".to_owned(),
            remedy: "use tier = \"kernel\" or \"process\"".to_owned(),
        });
    }
    let tried = own_needs().and_then(|()| probe(tier, exe));
    let layers = tried.map_err(|fault| {
        tracing::warn!(%tier, detail = %fault.detail, "preflight failed: {fault}");
        Unavailable {
            tier,
            remedy: remedy(tier, fault.need()),
            missing: fault.to_string(),
        }
    })?;
    let counted = layers.iter().any(|layer| layer == "cgroup");
    Ok(Preflight {
        tier,
        layers,
        does_not_stop: does_not_stop(tier, counted)
            .into_iter()
            .map(str::to_owned)
            .collect(),
    })
}

/// Checks what the dashboard itself needs for a run, since no helper could report that.
fn own_needs() -> Result<(), Fault> {
    let lacks = |need| move |e: std::io::Error| Fault::new(Why::Lacks(need), e);
    raw::pidfd_open(std::process::id() as i32).map_err(lacks(Need::PidfdOpen))?;
    memfd::of_bytes("probe", b"").map_err(lacks(Need::MemfdCreate))?;
    socketpair(
        AddressFamily::Unix,
        SockType::SeqPacket,
        None,
        SockFlag::SOCK_CLOEXEC,
    )
    .map_err(|e| lacks(Need::Socketpair)(e.into()))?;
    Ok(())
}

fn does_not_stop(tier: Tier, counted: bool) -> Vec<&'static str> {
    const MEMORY: &str = "memory of many processes together";
    let mut open = Vec::new();
    if tier == Tier::Kernel {
        if !counted {
            // No control group could be made.
            open.push(MEMORY);
        }
        return open;
    }
    open.extend([
        "network and sockets",
        "file reads",
        "listing of processes and of what the machine does",
        "unusual system calls",
    ]);
    if !Uid::effective().is_root() {
        open.extend([
            "writes and deletions as you",
            "signals to and memory of your processes",
            "an exact count of processes",
        ]);
    }
    if !counted {
        open.push(MEMORY);
    }
    open
}

/// Time limit, for a machine under load.
const PATIENCE: Duration = Duration::from_secs(20);

/// Confines our own binary as a payload of this tier and reads what confines it.
fn probe(tier: Tier, exe: BorrowedFd<'_>) -> Result<Vec<String>, Fault> {
    let doing = |e| Fault::new(Why::NotLaunched, e);
    let link = format!("/proc/self/fd/{}", exe.as_raw_fd());
    let executable = std::fs::read_link(link).map_err(doing)?;
    let confinement = Confinement {
        tier,
        // Mounted where the run's user can reach it, like a Python in root's home.
        needs: vec![executable.clone()],
        executable,
        limits: Limits::default(),
        mapped: 0,
        inputs: 0,
        purpose: Purpose::Probe,
    };
    let empty = || memfd::of_bytes("probe", b"").map_err(doing);
    let files = Files {
        setup: empty()?,
        bundle: empty()?,
        handed: Handed {
            job: empty()?,
            code: empty()?,
            digest: Digest::of(b""),
            inputs: Vec::new(),
        },
    };
    let launched = child::cold(exe, confinement, files)?;
    let Step::On(confined) = launched.confined(PATIENCE, &mut Nobody)? else {
        return Err(Fault::new(Why::Silent, "preflight"));
    };
    settled(confined).map(|held| held.isolation().layers.clone())
}

/// How long to retry the examination. Our own binary is still starting then, and a file that the C
/// library opens for that is closed in a moment; one that stays open longer is refused.
const SETTLE: Duration = Duration::from_secs(5);
const STARTING: Why = Why::Unconfined("descriptors");

fn settled(mut confined: child::Confined) -> Result<Held, Fault> {
    let until = Instant::now() + SETTLE;
    loop {
        match confined.look() {
            Ok(held) => return Ok(held),
            Err(found) if found.fault.why == STARTING && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(10));
                confined = found.confined;
            }
            Err(found) => return Err(found.fault),
        }
    }
}

/// Attends a probe, which has no output and is never released.
struct Nobody;

impl Client for Nobody {
    fn take(&mut self, _: Source, _: &[u8], _: bool) {}

    fn wish(&mut self) -> Wish {
        Wish::GoOn
    }

    fn is_ready(&mut self) -> bool {
        false
    }

    fn may_release(&mut self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::tests::bench::exe;

    #[test]
    fn a_tier_is_read_from_outside_or_refused_by_name() {
        let exe = exe();
        for tier in [Tier::Process, Tier::Kernel] {
            let preflight = look(tier, exe.as_fd()).unwrap();
            for layer in ["nocaps", "no_new_privs", "rlimits"] {
                assert!(preflight.layers.iter().any(|l| l == layer), "{preflight:?}");
            }
            let weak = tier == Tier::Process;
            assert!(
                !weak || !preflight.does_not_stop.is_empty(),
                "{preflight:?}"
            );
            let jailed = preflight.layers.iter().any(|l| l == "seccomp");
            assert_eq!(jailed, tier == Tier::Kernel);
        }
        for tier in [Tier::Container, Tier::Microvm] {
            let error = look(tier, exe.as_fd()).unwrap_err().to_string();
            assert!(error.contains(tier.as_str()), "{error}");
        }
    }

    /// Runs the preflight in a process without a certain system call, which the next test starts.
    #[test]
    fn preflight_without_a_system_call() {
        use seccompiler::{SeccompAction, SeccompFilter};
        let Ok(number) = std::env::var("CS_TEST_LACKS") else {
            return;
        };
        let number: i64 = number.parse().unwrap();
        let filter = SeccompFilter::new(
            [(number, Vec::new())].into(),
            SeccompAction::Allow,
            SeccompAction::Errno(nix::libc::ENOSYS as u32),
            std::env::consts::ARCH.try_into().unwrap(),
        )
        .unwrap();
        let program: seccompiler::BpfProgram = filter.try_into().unwrap();
        let exe = exe();
        seccompiler::apply_filter(&program).unwrap();
        match look(Tier::Kernel, exe.as_fd()) {
            Ok(found) => println!("\nfound {found:?}"),
            Err(e) => println!("\nrefused {e}"),
        }
    }

    #[test]
    fn a_machine_that_lacks_a_layer_does_not_get_the_tier() {
        use crate::executor::tests::bench::available;
        use nix::libc;
        if !available(Tier::Kernel) {
            return;
        }
        // The call, the layer or step that is named, and the remedy.
        let cases = [
            (libc::SYS_clone, "namespaces", "make user namespaces"),
            (libc::SYS_mount, "keep mounts private", "mount_setattr"),
            (libc::SYS_pivot_root, "enter the jail", "pivot_root"),
            (libc::SYS_umount2, "enter the jail", "umount2"),
            (
                libc::SYS_mount_setattr,
                "close the jail's mounts",
                "Linux 5.12",
            ),
            (libc::SYS_landlock_create_ruleset, "Landlock is not", "lsm="),
            (
                libc::SYS_landlock_restrict_self,
                "file access",
                "CONFIG_SECURITY_LANDLOCK",
            ),
            (
                libc::SYS_seccomp,
                "system call filter",
                "CONFIG_SECCOMP_FILTER",
            ),
            (libc::SYS_capset, "drop the capabilities", "capset"),
            (libc::SYS_prlimit64, "set the limits", "prlimit64"),
            (libc::SYS_close_range, "close_range", "Linux 5.9"),
            (libc::SYS_pidfd_open, "pidfd_open", "Linux 5.3"),
            (libc::SYS_sethostname, "set the host name", "sethostname"),
            (libc::SYS_setsid, "leave the session", "setsid"),
            (libc::SYS_prctl, "reading the helper", "prctl"),
            (libc::SYS_memfd_create, "memory files", "memfd_create"),
            (libc::SYS_socketpair, "pairs of sockets", "socketpair"),
        ];
        for (number, missing, remedy) in cases {
            let output = std::process::Command::new(std::env::current_exe().unwrap())
                .args([
                    "--exact",
                    "executor::preflight::tests::preflight_without_a_system_call",
                    "--nocapture",
                ])
                .env("CS_TEST_LACKS", number.to_string())
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&output.stdout);
            let said = text.lines().find(|l| l.starts_with("refused "));
            let (says, remedies) = said
                .and_then(|said| said.split_once("; "))
                .unwrap_or_else(|| panic!("{number} {missing}: {text}"));
            assert!(says.contains(missing), "{number} {missing}: {says}");
            assert!(remedies.contains(remedy), "{number} {remedy}: {remedies}");
        }
    }

    #[test]
    fn a_binary_in_a_folder_that_others_may_not_enter_gives_the_tier() {
        use crate::executor::tests::bench::{available, binary};
        use std::os::unix::fs::PermissionsExt;
        if !available(Tier::Kernel) {
            return;
        }
        let home = tempfile::tempdir().unwrap();
        std::fs::set_permissions(home.path(), PermissionsExt::from_mode(0o700)).unwrap();
        let path = home.path().join("countersign");
        // Another process copies it: a file that this process has open for writing may still be
        // open in a child of another thread, and then it cannot be executed.
        let copied = std::process::Command::new("cp")
            .arg(binary())
            .arg(&path)
            .status();
        assert!(copied.unwrap().success());
        let exe = File::open(&path).unwrap();
        for tier in [Tier::Kernel, Tier::Process] {
            look(tier, exe.as_fd()).unwrap();
        }
    }

    #[test]
    fn a_binary_that_is_no_helper_gives_no_tier() {
        let other = File::open("/bin/true").unwrap();
        assert!(look(Tier::Kernel, other.as_fd()).is_err());
    }
}
