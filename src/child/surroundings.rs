//! The surroundings of the held payload, read from outside: its mounts, its `/proc`, its
//! descriptors and its environment variables.
//!
//! What cannot be read is unknown, and unknown layers are not listed: only root can read
//! descriptors and variables of a payload that is not dumpable. If something can be read and is not
//! as it was given, the run is refused in every tier.

use std::io;
use std::path::{Path, PathBuf};

use crate::sandbox::{helper, interpreter, procfs, scratch};

use super::confinement::Confinement;

/// Null, both output streams, gate, report, setup, bundle, job and code.
const DESCRIPTORS: usize = 9;

/// The layers that are on, except those that are mounts or read in [`super::outside`]; the error
/// names a wrong layer.
pub fn layers(pid: i32, inputs: usize) -> Result<Vec<&'static str>, (&'static str, String)> {
    let mut layers = Vec::new();
    if let Ok(links) = descriptors(pid) {
        if !are_given(&links, inputs) {
            return Err(("descriptors", format!("{links:?}")));
        }
        layers.push("descriptors");
    }
    if let Ok(names) = variables(pid) {
        if !are_ours(&names) {
            return Err(("environment", format!("{} variables", names.len())));
        }
        layers.push("environment");
    }
    Ok(layers)
}

/// The layers that are mounts. A confined payload can no longer change them, so this is read while
/// it gets ready.
pub fn mounted(pid: i32, given: &Confinement) -> Vec<&'static str> {
    let mut layers = Vec::new();
    if let Ok(mounts) = procfs::mounts(pid) {
        if root_is_made(&mounts, given) {
            layers.push("root");
        }
        let ours = procfs::mounts(std::process::id() as i32).unwrap_or_default();
        if proc_is_fresh(&mounts, &ours) {
            layers.push("proc");
        }
    }
    layers
}

/// Whether the mounts are exactly those of the jail, at the same paths, and read-only where the
/// payload must not write.
fn root_is_made(mounts: &[procfs::Mount], given: &Confinement) -> bool {
    let bound = helper::bound(&given.executable, &given.needs);
    let mut roots = mounts.iter().filter(|mount| mount.at == Path::new("/"));
    let root = roots.next();
    root.is_some_and(|root| root.kind == "tmpfs" && root.has("ro") && root.has("nosuid"))
        && roots.next().is_none()
        && mounts.iter().all(|mount| {
            let own = |at: &str| mount.at == Path::new(at);
            let device = |name: &&str| mount.at == Path::new("/dev").join(name);
            let inert = ((own(helper::SCRATCH) || own("/dev/shm")) && mount.kind == "tmpfs")
                || helper::DEVICES.iter().any(device);
            own("/")
                || (own("/proc") && mount.kind == "proc")
                || (inert && mount.has("nosuid") && mount.has("noexec"))
                || (mount.has("ro")
                    && mount.has("nosuid")
                    && bound.iter().any(|path| mount.at.starts_with(path)))
        })
}

/// Whether there is one `/proc` at the top that is not our own file system, and none that shows
/// data of the machine.
fn proc_is_fresh(mounts: &[procfs::Mount], ours: &[procfs::Mount]) -> bool {
    let mut procs = mounts
        .iter()
        .filter(|mount| mount.kind == "proc")
        .peekable();
    procs.peek().is_some()
        && procs.all(|mount| {
            mount.at == Path::new("/proc")
                && mount.has("nosuid")
                && mount.has("noexec")
                && mount.is_made_with(helper::PROCESSES_ONLY)
                && !ours.iter().any(|our| our.device == mount.device)
        })
}

fn descriptors(pid: i32) -> io::Result<Vec<PathBuf>> {
    std::fs::read_dir(format!("/proc/{pid}/fd"))?
        .map(|entry| std::fs::read_link(entry?.path()))
        .collect()
}

/// Whether these are only pipes, memory files and the run's own folder, and no more than were
/// placed: no other folder, no socket, no file of the machine.
fn are_given(links: &[PathBuf], inputs: usize) -> bool {
    links.len() <= DESCRIPTORS + inputs
        && links.iter().filter(|link| !is_output(link)).all(|link| {
            let link = link.to_string_lossy();
            link == "/dev/null" || link.starts_with("pipe:[") || link.starts_with("/memfd:")
        })
}

/// Whether this is the run's own output folder, which the runner keeps open.
fn is_output(link: &Path) -> bool {
    let own = |folder: &Path| {
        folder == Path::new(helper::SCRATCH)
            || folder
                .file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with(scratch::PREFIX))
    };
    link.file_name().is_some_and(|name| name == scratch::OUTPUT) && link.parent().is_some_and(own)
}

fn variables(pid: i32) -> io::Result<Vec<Vec<u8>>> {
    let text = std::fs::read(format!("/proc/{pid}/environ"))?;
    let name = |one: &[u8]| {
        one.split(|byte| *byte == b'=')
            .next()
            .unwrap_or_default()
            .to_vec()
    };
    Ok(text
        .split(|byte| *byte == 0)
        .filter(|one| !one.is_empty())
        .map(name)
        .collect())
}

fn are_ours(names: &[Vec<u8>]) -> bool {
    let ours = interpreter::environment(Path::new(helper::SCRATCH));
    !names.is_empty()
        && names.len() <= ours.len()
        && names
            .iter()
            .all(|name| ours.iter().any(|(our, _)| our.as_bytes() == name))
}

#[cfg(test)]
mod tests {
    use crate::model::{Limits, Tier};
    use crate::sandbox::protocol::Purpose;

    use super::*;

    fn mounts(text: &str) -> Vec<procfs::Mount> {
        text.lines()
            .map(|l| procfs::Mount::parse(l).unwrap())
            .collect()
    }

    const JAIL: &str = "1 0 0:50 / / ro,nosuid,nodev - tmpfs tmpfs rw\n\
        2 1 8:1 /lib /usr/lib ro,nosuid,nodev - ext4 /dev/sda rw\n\
        3 1 0:51 / /proc rw,nosuid,nodev,noexec - proc proc rw,subset=pid\n\
        4 1 0:52 / /scratch rw,nosuid,nodev,noexec - tmpfs tmpfs rw\n\
        5 1 0:6 /null /dev/null rw,nosuid,noexec - devtmpfs udev rw";

    #[test]
    fn a_root_with_an_additional_mount_is_rejected() {
        let given = Confinement {
            tier: Tier::Kernel,
            executable: PathBuf::from("/bin/sh"),
            needs: vec![PathBuf::from("/usr/lib")],
            limits: Limits::default(),
            mapped: 0,
            inputs: 0,
            purpose: Purpose::Run,
        };
        assert!(
            given.needs[0].exists(),
            "a missing path is not bound, so it must exist"
        );
        assert!(root_is_made(&mounts(JAIL), &given));
        for more in [
            "9 1 8:1 /etc /etc ro,nosuid - ext4 /dev/sda rw",
            "9 1 8:1 / / ro,nosuid - ext4 /dev/sda rw",
            "9 1 8:1 /x /usr/lib/x rw,nosuid - ext4 /dev/sda rw",
            "9 1 8:1 /x /scratch rw - ext4 /dev/sda rw",
            "9 1 8:1 /dev /dev ro,nosuid - devtmpfs udev rw",
        ] {
            let odd = mounts(&format!("{JAIL}\n{more}"));
            assert!(!root_is_made(&odd, &given), "{more}");
        }
        for (mount, changed) in [
            ("/ / ro,nosuid,nodev - tmpfs", "/ / rw,nosuid,nodev - tmpfs"),
            ("/ / ro,nosuid,nodev - tmpfs", "/ / ro,nodev - tmpfs"),
            ("/ / ro,nosuid,nodev - tmpfs", "/ / ro,nosuid,nodev - ext4"),
            ("/usr/lib ro,nosuid", "/usr/lib rw,nosuid"),
            ("/usr/lib ro,nosuid", "/usr/lib ro"),
            ("noexec - proc", "noexec - tmpfs"),
            (
                "/scratch rw,nosuid,nodev,noexec",
                "/scratch rw,nodev,noexec",
            ),
            (
                "/scratch rw,nosuid,nodev,noexec",
                "/scratch rw,nosuid,nodev",
            ),
            ("noexec - tmpfs", "noexec - ext4"),
            ("/null /dev/null", "/sda /dev/sda"),
            ("/dev/null rw,nosuid,noexec", "/dev/null rw,noexec"),
            ("/dev/null rw,nosuid,noexec", "/dev/null rw,nosuid"),
        ] {
            assert!(JAIL.contains(mount), "{mount}");
            let odd = mounts(&JAIL.replace(mount, changed));
            assert!(!root_is_made(&odd, &given), "{changed}");
        }
        assert!(!root_is_made(&[], &given));
    }

    #[test]
    fn the_machines_proc_is_not_a_fresh_one() {
        let ours = mounts("7 6 0:22 / /proc rw - proc proc rw");
        assert!(proc_is_fresh(&mounts(JAIL), &ours));
        let same = mounts("3 1 0:22 / /proc rw - proc proc rw,subset=pid");
        assert!(!proc_is_fresh(&same, &ours));
        let whole = mounts("3 1 0:51 / /proc rw - proc proc rw");
        assert!(!proc_is_fresh(&whole, &ours));
        let both = [mounts(JAIL), same].concat();
        assert!(!proc_is_fresh(&both, &ours));
        for (from, to) in [
            ("/proc rw,nosuid", "/usr/lib/proc rw,nosuid"),
            ("/proc rw,nosuid,nodev,noexec", "/proc rw,nosuid,nodev"),
            ("/proc rw,nosuid,nodev,noexec", "/proc rw,nodev,noexec"),
        ] {
            let odd = mounts(&JAIL.replace(from, to));
            assert!(!proc_is_fresh(&odd, &ours), "{to}");
        }
        assert!(!proc_is_fresh(&[], &ours));
    }

    #[test]
    fn descriptors_are_judged_by_kind_and_number() {
        let links = |list: &[&str]| list.iter().map(PathBuf::from).collect::<Vec<_>>();
        let mut all = links(&[
            "/dev/null",
            "pipe:[7]",
            "/memfd:code (deleted)",
            "/scratch/out",
            "/tmp/countersign-run-Ab/out",
        ]);
        assert!(are_given(&all, 0));
        for odd in [
            "socket:[9]",
            "/root",
            "/scratch",
            "/home/x/out",
            "/dev/tty",
            "anon_inode:[eventfd]",
        ] {
            assert!(!are_given(&links(&[odd]), 0), "{odd}");
        }
        all.resize(DESCRIPTORS + 2, PathBuf::from("pipe:[7]"));
        assert!(!are_given(&all, 1) && are_given(&all, 2));
    }

    #[test]
    fn variables_are_judged_by_name() {
        let names = |list: &[&str]| {
            list.iter()
                .map(|n| n.as_bytes().to_vec())
                .collect::<Vec<_>>()
        };
        assert!(are_ours(&names(&["HOME", "PATH"])));
        assert!(!are_ours(&names(&["HOME", "LD_PRELOAD"])));
        assert!(!are_ours(&[]));
        // A name that occurs again may hide another value.
        let ours = interpreter::environment(Path::new(helper::SCRATCH));
        let mut all: Vec<Vec<u8>> = ours.iter().map(|(n, _)| n.as_bytes().to_vec()).collect();
        assert!(are_ours(&all));
        all.push(all[0].clone());
        assert!(!are_ours(&all));
    }
}
