//! Removes control groups whose helper was killed before it could remove them, and kills the
//! processes of the run that are still in them.
//!
//! The process that outlives a helper removes the helper's groups; groups that outlived the
//! dashboard too are removed at its next start. Only groups that a dead helper of this user made
//! are touched.

use std::fs;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::geteuid;

use crate::sandbox::cgroup::{Owner, Places};
use crate::sandbox::raw;

/// How long the processes of one group may take to die. Only processes stuck in the kernel need
/// this long.
const PATIENCE: Duration = Duration::from_secs(5);

/// Removes the groups of this dead helper and kills the processes in them.
pub fn remove_of(helper: Owner) {
    remove_where(|owner| owner == helper);
}

/// The same for every dead helper of any dashboard.
pub fn remove_stale() {
    remove_where(|owner| owner.is_gone());
}

fn remove_where(is_left: impl Fn(Owner) -> bool) {
    let Ok(places) = Places::read() else {
        return;
    };
    for parent in places.all() {
        for name in groups_in(parent, &is_left) {
            if let Err(e) = remove(parent, &name) {
                tracing::warn!(group = %name, "a control group could not be removed: {e}");
            }
        }
    }
}

/// The names of the groups to remove.
fn groups_in(parent: &Path, is_left: impl Fn(Owner) -> bool) -> Vec<String> {
    let Ok(entries) = fs::read_dir(parent) else {
        return Vec::new();
    };
    entries
        .filter_map(Result::ok)
        .filter(|entry| {
            entry
                .metadata()
                .is_ok_and(|meta| meta.is_dir() && meta.uid() == geteuid().as_raw())
        })
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| Owner::parse(name).is_some_and(&is_left))
        .collect()
}

fn remove(parent: &Path, name: &str) -> io::Result<()> {
    let group = parent.join(name);
    let until = Instant::now() + PATIENCE;
    // Forbids forks first, so that killing does not race with forking.
    let _ = set(&group.join("pids.max"), "0");
    loop {
        end_all(&group, name);
        match fs::remove_dir(&group) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(e) if e.kind() == io::ErrorKind::ResourceBusy && Instant::now() < until => {}
            result => return result,
        }
        // Version 1 does not announce that a group is empty.
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn end_all(group: &Path, name: &str) {
    // Version 2 kills the whole group in one step since Linux 5.14.
    if set(&group.join("cgroup.kill"), "1").is_ok() {
        return;
    }
    let listed = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    for pid in listed.lines().filter_map(|line| line.parse::<i32>().ok()) {
        // The pid may have been reused. The pidfd keeps its process, so its group is checked after
        // opening.
        let Ok(pidfd) = raw::pidfd_open(pid) else {
            continue;
        };
        let is_in = fs::read_to_string(format!("/proc/{pid}/cgroup")).is_ok_and(|groups| {
            groups
                .lines()
                .any(|line| line.ends_with(&format!("/{name}")))
        });
        if is_in {
            // A process that has ended meanwhile needs no signal.
            let _ = raw::pidfd_signal(pidfd.as_fd(), Signal::SIGKILL);
        }
    }
}

/// Writes an existing file; a missing one is an error.
fn set(file: &Path, text: &str) -> io::Result<()> {
    fs::File::options()
        .write(true)
        .open(file)?
        .write_all(text.as_bytes())
}

/// The groups of one helper.
#[cfg(test)]
pub fn groups_of(helper: Owner) -> Vec<std::path::PathBuf> {
    groups(|owner| owner == helper)
}

#[cfg(test)]
fn groups(of: impl Fn(Owner) -> bool) -> Vec<std::path::PathBuf> {
    let Ok(places) = Places::read() else {
        return Vec::new();
    };
    let found = |parent: &Path| {
        groups_in(parent, &of)
            .into_iter()
            .map(|name| parent.join(name))
            .collect::<Vec<_>>()
    };
    places.all().flat_map(found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Version 2 has one file for killing; it is tried first and not created if missing.
    #[test]
    fn a_group_of_version_2_is_ended_in_one_step() {
        let group = tempfile::tempdir().unwrap();
        let file = group.path().join("cgroup.kill");
        end_all(group.path(), "group");
        assert!(!file.exists());
        fs::write(&file, "").unwrap();
        end_all(group.path(), "group");
        assert_eq!(fs::read_to_string(&file).unwrap(), "1");
    }

    /// The list of a group may name a process that has left it, or a reused pid.
    #[test]
    fn a_process_outside_the_group_is_not_killed() {
        let group = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("sleep")
            .arg("600")
            .spawn()
            .unwrap();
        fs::write(
            group.path().join("cgroup.procs"),
            format!("{}\n0\nx\n", child.id()),
        )
        .unwrap();
        end_all(group.path(), "countersign-run-1-2-3-4");
        assert_eq!(child.try_wait().unwrap(), None);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn only_groups_of_ended_helpers_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        let own_pid = Owner::this_process().unwrap();
        let mut child = std::process::Command::new("sleep")
            .arg("600")
            .spawn()
            .unwrap();
        let dead = Owner::of(child.id() as i32).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        for name in [
            own_pid.group(0),
            dead.group(0),
            dead.group(1),
            "countersign-run-7-0".to_owned(),
            "elsewhere".to_owned(),
        ] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join(dead.group(2)), "").unwrap();
        let mut stale = groups_in(folder.path(), |owner| owner.is_gone());
        stale.sort();
        assert_eq!(stale, [dead.group(0), dead.group(1)]);
        for name in stale {
            remove(folder.path(), &name).unwrap();
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    }
}
