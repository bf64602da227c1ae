//! The payload's root: an empty file system of a few kilobytes that contains only the interpreter,
//! its libraries, the environment and the shared libraries, each read-only at its real path.
//!
//! The machine's own root is not mounted, not even read-only, because a socket on a read-only mount
//! still accepts connections. There is no `/etc`, `/home`, `/run`, `/sys`, `/tmp` or `/var`, and no
//! program but the interpreter.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};

use nix::libc::{MOUNT_ATTR_NODEV, MOUNT_ATTR_NOEXEC, MOUNT_ATTR_NOSUID, MOUNT_ATTR_RDONLY};
use nix::mount::{MntFlags, MsFlags, umount2};
use nix::sys::stat::{Mode, umask};
use nix::unistd::{chdir, pivot_root};

use super::super::layer::{Layer, on};
use super::super::mounts::{attributes, mount_at};
use super::super::view::scratch_bytes;
use super::super::{Attempt, Reason, Refusal, Step};
use crate::sandbox::protocol::Order;
use crate::sandbox::scratch;

const CLOSING: Step = Step::CloseMounts;

/// The folder in the jail that the payload may write to.
pub const SCRATCH: &str = "/scratch";

/// Mount options of `/dev/shm`. It is small because no other limit counts it.
pub const SHARED_MEMORY: &str = "mode=1777,size=16m,nr_inodes=256";

/// Mount options of `/scratch`; `size` in bytes.
pub fn scratch_options(size: u64) -> String {
    format!("mode=0700,size={size},nr_inodes=8192")
}

/// Mount option of `/proc` (Linux 5.8) that shows only processes. The rest of `/proc` describes the
/// machine: its locks, command line, load and interrupts reveal what other people do on it.
pub const PROCESSES_ONLY: &str = "subset=pid";

/// Devices without state or reach.
pub const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom"];

/// Prefixes that belong to the machine and contain more than a Python.
const SHARED_PREFIXES: &[&str] = &["/", "/usr", "/usr/local"];

/// Makes the root and enters it. The calling process is pid 1 of its namespaces.
pub fn make(order: &Order) -> Result<(), Refusal> {
    umask(Mode::from_bits_truncate(0o022));
    mount_at(
        None,
        Path::new("/"),
        None,
        MsFlags::MS_REC | MsFlags::MS_PRIVATE,
        None,
    )
    .step(Step::KeepMountsPrivate)?;
    // The broker made this folder for the run; it only serves as the place where the root is
    // assembled.
    let root = &order.scratch;
    tmpfs(root, "mode=0755,size=4m,nr_inodes=8192")?;
    for path in bound(&order.executable, &order.needs) {
        bind(
            root,
            &path,
            MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
        )?;
    }
    #[cfg(test)]
    if !on(Layer::Root) {
        bind_whole_machine(root)?;
    }
    devices(root)?;
    let proc = root.join("proc");
    folder(&proc, 0o555)?;
    if on(Layer::Proc) {
        fresh_proc(&proc)?;
    } else {
        bind(root, Path::new("/proc"), 0)?;
    }
    let inner = root.join(SCRATCH.trim_start_matches('/'));
    folder(&inner, 0o700)?;
    let size = scratch_bytes(&order.limits);
    tmpfs(&inner, &scratch_options(size))?;
    for name in [scratch::OUTPUT, scratch::HOME] {
        folder(&inner.join(name), 0o700)?;
    }
    enter(root)?;
    umask(Mode::from_bits_truncate(0o077));
    attributes(
        Path::new("/"),
        MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
        false,
        CLOSING,
    )
}

fn fresh_proc(proc: &Path) -> Result<(), Refusal> {
    mount_at(
        Some(OsStr::new("proc")),
        proc,
        Some("proc"),
        MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC,
        Some(PROCESSES_ONLY),
    )
    .map_err(|e| Refusal::new(Reason::FreshProc, e))
}

/// Used when a test leaves the layer off: binds the whole machine.
#[cfg(test)]
fn bind_whole_machine(root: &Path) -> Result<(), Refusal> {
    for entry in std::fs::read_dir("/").step(Step::ReadRoot)? {
        let path = entry.step(Step::ReadRoot)?.path();
        if !["/proc", "/dev", "/scratch"]
            .iter()
            .any(|own| path == Path::new(own))
            && path.exists()
        {
            bind(root, &path, 0)?;
        }
    }
    Ok(())
}

/// The real paths that exist in the jail; none is below another.
pub fn bound(executable: &Path, needs: &[PathBuf]) -> Vec<PathBuf> {
    let shared = |path: &Path| {
        SHARED_PREFIXES
            .iter()
            .any(|prefix| path == Path::new(prefix))
    };
    let mut all: BTreeSet<PathBuf> = needs.iter().filter(|path| !shared(path)).cloned().collect();
    all.insert(executable.to_path_buf());
    all.extend(libraries());
    if executable.starts_with("/nix/store") {
        // On Nix every library has its own path, which is named inside the files.
        all.insert(PathBuf::from("/nix/store"));
    }
    let zones = Path::new("/usr/share/zoneinfo");
    if zones.exists() {
        all.insert(zones.to_path_buf());
    }
    let mut outer: Vec<PathBuf> = Vec::new();
    // Sorted, so that a folder comes before its contents.
    for path in all {
        if path.exists() && !outer.iter().any(|have| path.starts_with(have)) {
            outer.push(path);
        }
    }
    outer
}

/// Folders that the dynamic loader searches, by their built-in names and by their real paths.
fn libraries() -> Vec<PathBuf> {
    let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
    let mut found = Vec::new();
    for base in ["/lib", "/usr/lib"] {
        let multiarch = Path::new(base).join(&triplet);
        if multiarch.is_dir() {
            found.push(multiarch);
        } else {
            // Without multiarch the whole folder contains only libraries.
            found.push(PathBuf::from(base));
        }
    }
    found.extend(["/lib64", "/usr/lib64"].map(PathBuf::from));
    let real: Vec<PathBuf> = found
        .iter()
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    found.extend(real);
    found
}

fn devices(root: &Path) -> Result<(), Refusal> {
    let dev = root.join("dev");
    folder(&dev, 0o755)?;
    for name in DEVICES {
        bind(
            root,
            &Path::new("/dev").join(name),
            MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
        )?;
    }
    for (name, target) in [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
    ] {
        symlink(target, dev.join(name)).step(Step::MakeDevices)?;
    }
    // multiprocessing keeps its semaphores here.
    let shm = dev.join("shm");
    folder(&shm, 0o1777)?;
    tmpfs(&shm, SHARED_MEMORY)
}

/// Mounts `path` into the root at the same path.
fn bind(root: &Path, path: &Path, set: u64) -> Result<(), Refusal> {
    const DOING: Step = Step::BringEnvironmentIn;
    let target = root.join(path.strip_prefix("/").unwrap_or(path));
    if path.metadata().step(DOING)?.is_dir() {
        folder(&target, 0o755)?;
    } else {
        if let Some(parent) = target.parent() {
            folder(parent, 0o755)?;
        }
        std::fs::File::create(&target).step(DOING)?;
    }
    mount_at(
        Some(path.as_os_str()),
        &target,
        None,
        MsFlags::MS_BIND | MsFlags::MS_REC,
        None,
    )
    .step(DOING)?;
    attributes(&target, set, true, CLOSING)
}

/// Makes the new root the only one. The old one is detached with everything mounted in it.
fn enter(root: &Path) -> Result<(), Refusal> {
    const DOING: Step = Step::EnterJail;
    chdir(root).step(DOING)?;
    // With the same folder for both, the old root ends up on top of the new one and can be
    // unmounted.
    pivot_root(".", ".").step(DOING)?;
    umount2(".", MntFlags::MNT_DETACH).step(DOING)?;
    chdir("/").step(DOING)
}

fn tmpfs(target: &Path, options: &str) -> Result<(), Refusal> {
    mount_at(
        Some(OsStr::new("tmpfs")),
        target,
        Some("tmpfs"),
        MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC,
        Some(options),
    )
    .step(Step::MakeMemoryFiles)
}

fn folder(path: &Path, mode: u32) -> Result<(), Refusal> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(mode)
        .create(path)
        .step(Step::MakeJailFolder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_own_folders_are_not_mounted_whole() {
        let needs = ["/usr", "/usr/lib/python3", "/etc"].map(PathBuf::from);
        let bound = bound(Path::new("/bin/sh"), &needs[..2]);
        for whole in ["/", "/usr", "/usr/local", "/etc", "/home", "/run"] {
            assert!(!bound.iter().any(|p| p == Path::new(whole)), "{bound:?}");
        }
        for (i, path) in bound.iter().enumerate() {
            assert!(bound[..i].iter().all(|outer| !path.starts_with(outer)));
        }
    }
}
