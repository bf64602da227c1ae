//! Keeps the result of an earlier preflight as long as nothing it depends on has changed: boot,
//! kernel, binary, user, and the confinement of the dashboard itself.
//!
//! Only successes are kept. The file is a hint that makes a start faster, never a permission: every
//! run is examined from outside before it is released, whatever the file contains.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::fcntl::OFlag;
use nix::unistd::{Uid, geteuid};
use serde::{Deserialize, Serialize};

use crate::model::{Preflight, Tier};

const NAME: &str = "preflight.json";

/// The layers of both tiers take about a kilobyte.
const BYTES_MAX: u64 = 64 * 1024;

/// The circumstances that a result depends on. If any differs, the preflight is repeated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Circumstances {
    boot: String,
    kernel: String,
    uid: u32,
    /// Device, inode, size and change time, which nobody can set.
    binary: (u64, u64, u64, i64, i64),
    /// The dashboard's namespaces, capabilities and filters, which its children inherit.
    standing: Vec<String>,
    /// The system settings that control namespaces.
    settings: Vec<Option<String>>,
}

impl Circumstances {
    /// The current circumstances for a helper started from this binary.
    pub fn now(exe: impl AsFd) -> io::Result<Self> {
        let kernel = |name: &str| std::fs::read_to_string(format!("/proc/sys/kernel/{name}"));
        let binary = File::from(exe.as_fd().try_clone_to_owned()?).metadata()?;
        let mut standing: Vec<String> = std::fs::read_to_string("/proc/self/status")?
            .lines()
            .filter(|line| {
                ["Cap", "NoNewPrivs", "Seccomp"]
                    .iter()
                    .any(|field| line.starts_with(field))
            })
            .map(str::to_owned)
            .collect();
        for kind in ["user", "pid", "net", "mnt", "ipc", "uts", "cgroup"] {
            let place = std::fs::read_link(format!("/proc/self/ns/{kind}"))?;
            standing.push(place.to_string_lossy().into_owned());
        }
        standing.push(std::fs::read_to_string("/proc/self/cgroup")?);
        let settings = [
            "user/max_user_namespaces",
            "kernel/unprivileged_userns_clone",
            "kernel/apparmor_restrict_unprivileged_userns",
        ]
        .map(|path| std::fs::read_to_string(Path::new("/proc/sys").join(path)).ok());
        Ok(Self {
            boot: kernel("random/boot_id")?,
            kernel: format!("{} {}", kernel("osrelease")?, kernel("version")?),
            uid: geteuid().as_raw(),
            binary: (
                binary.dev(),
                binary.ino(),
                binary.size(),
                binary.ctime(),
                binary.ctime_nsec(),
            ),
            standing,
            settings: settings.into(),
        })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    circumstances: Circumstances,
    found: Vec<Preflight>,
}

/// The result kept for the same circumstances. Any irregularity of the file counts as no result.
pub fn recall(folder: &Path, now: &Circumstances, tier: Tier) -> Option<Preflight> {
    let kept = read(folder).ok()?;
    if kept.circumstances != *now {
        return None;
    }
    kept.found.into_iter().find(|found| found.tier == tier)
}

/// Keeps a result beside those of other tiers for the same circumstances. If that fails, the next
/// start repeats the preflight.
pub fn keep(folder: &Path, now: &Circumstances, found: &Preflight) -> io::Result<()> {
    let mut all = read(folder)
        .ok()
        .filter(|kept| kept.circumstances == *now)
        .map_or_else(Vec::new, |kept| kept.found);
    all.retain(|other| other.tier != found.tier);
    all.push(found.clone());
    let text = serde_json::to_vec(&Kept {
        circumstances: now.clone(),
        found: all,
    })?;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    // Temporary files have mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&text)?;
    file.persist(folder.join(NAME))?;
    Ok(())
}

/// Reads the file if it is a regular one of this user that nobody else could have written.
fn read(folder: &Path) -> io::Result<Kept> {
    let file = File::options()
        .read(true)
        .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
        .open(folder.join(NAME))?;
    let meta = file.metadata()?;
    let own = meta.is_file()
        && Uid::from_raw(meta.uid()) == geteuid()
        && meta.mode() & 0o077 == 0
        && meta.nlink() == 1;
    if !own {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "somebody else could have written it",
        ));
    }
    let mut text = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn preflight_of(tier: Tier) -> Preflight {
        Preflight {
            tier,
            layers: vec!["seccomp".to_owned()],
            does_not_stop: Vec::new(),
        }
    }

    fn circumstances() -> Circumstances {
        Circumstances::now(File::open("/proc/self/exe").unwrap()).unwrap()
    }

    #[test]
    fn a_result_is_recalled_only_in_the_same_circumstances() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("a/b");
        let now = circumstances();
        assert_eq!(now, self::circumstances());
        assert_eq!(recall(&cache, &now, Tier::Kernel), None);
        keep(&cache, &now, &preflight_of(Tier::Kernel)).unwrap();
        keep(&cache, &now, &preflight_of(Tier::Process)).unwrap();
        for tier in [Tier::Kernel, Tier::Process] {
            assert_eq!(recall(&cache, &now, tier), Some(preflight_of(tier)));
        }
        let change = |change: fn(&mut Circumstances)| {
            let mut other = now.clone();
            change(&mut other);
            other
        };
        for other in [
            change(|c| c.boot.push('x')),
            change(|c| c.kernel.push('x')),
            change(|c| c.uid += 1),
            change(|c| c.binary.3 += 1),
            change(|c| c.standing.clear()),
            change(|c| c.settings[0] = Some("0\n".to_owned())),
        ] {
            assert_eq!(recall(&cache, &other, Tier::Kernel), None, "{other:?}");
        }
    }

    #[test]
    fn a_file_that_others_could_have_written_is_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let now = circumstances();
        keep(folder.path(), &now, &preflight_of(Tier::Kernel)).unwrap();
        let path = folder.path().join(NAME);
        let known = || recall(folder.path(), &now, Tier::Kernel).is_some();
        assert!(known());
        let mode = |mode| std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        mode(0o620);
        assert!(!known());
        mode(0o600);
        assert!(known());
        let other = folder.path().join("other");
        std::fs::hard_link(&path, &other).unwrap();
        assert!(!known());
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&other, &path).unwrap();
        assert!(!known());
        std::fs::remove_file(&path).unwrap();
        std::fs::rename(&other, &path).unwrap();
        assert!(known());
        if geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(12), None).unwrap();
            assert!(!known());
        }
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "not json").unwrap();
        mode(0o600);
        assert!(!known());
        nix::unistd::mkfifo(&folder.path().join("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        std::fs::rename(folder.path().join("fifo"), &path).unwrap();
        assert!(!known());
    }
}
