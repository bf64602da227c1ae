//! A control group for the run, where this system lets one be made: then memory and processes are
//! bounded for the whole tree, and not for each process only.
//!
//! Version 2 where it is delegated (a systemd session does), version 1 as root. By writing the
//! files; nothing is installed and no daemon is asked. Where it cannot be had, the layer is
//! missing from what the broker reads, and the screen says so.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::model::Limits;

use super::super::cgroup::PREFIX;
use super::layer::{Layer, on};
use super::view::scratch_bytes;

const MIB: u64 = 1024 * 1024;

/// What interpreter, libraries and small file systems may take besides the snippet's allowance.
/// Pages that really are in memory: less than the address space they are mapped in.
const BASELINE_MIB: u64 = 512;

/// Pid 1 of the jail and a little air.
const EXTRA_PROCESSES: u64 = 4;

/// The groups of a run: one in version 2, one for each controller in version 1. Removed with
/// the value.
#[derive(Debug, Default)]
pub struct Cgroup {
    groups: Vec<Group>,
}

#[derive(Debug)]
struct Group {
    /// Both are held: the helper's view of the file system becomes read-only, they do not.
    parent: OwnedFd,
    folder: OwnedFd,
    name: String,
}

impl Cgroup {
    /// Makes the groups and sets their limits, or makes none. `serial` tells the runs of one
    /// helper apart.
    pub fn make(limits: &Limits, serial: u64) -> Self {
        if !on(Layer::Cgroup) {
            return Self::default();
        }
        let name = format!("{PREFIX}{}-{serial}", std::process::id());
        let memory = (limits.memory_mb.saturating_add(BASELINE_MIB))
            .saturating_mul(MIB)
            .saturating_add(scratch_bytes(limits));
        let processes = limits.processes.max(1).saturating_add(EXTRA_PROCESSES);
        let places = match Places::read() {
            Ok(places) => places,
            Err(_) => return Self::default(),
        };
        version_2(&places, &name, memory, processes)
            .or_else(|| version_1(&places, &name, memory, processes))
            .unwrap_or_default()
    }

    /// Moves a process in; what it forks from then on is in it too.
    pub fn take(&self, pid: i32) -> io::Result<()> {
        self.groups
            .iter()
            .try_for_each(|group| group.write("cgroup.procs", &pid.to_string()))
    }

    /// Whether the kernel ended a process of the run because its group had no memory left.
    pub fn out_of_memory(&self) -> bool {
        self.groups.iter().any(|group| {
            ["memory.events", "memory.oom_control"]
                .into_iter()
                .filter_map(|file| std::fs::read_to_string(group.file(file)).ok())
                .any(|text| {
                    text.lines()
                        .filter_map(|line| line.strip_prefix("oom_kill "))
                        .any(|count| count.trim() != "0")
                })
        })
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        for group in &self.groups {
            // What was reaped a moment ago may still be counted.
            for _ in 0..100 {
                let removed =
                    unlinkat(&group.parent, group.name.as_str(), UnlinkatFlags::RemoveDir);
                if removed != Err(nix::errno::Errno::EBUSY) {
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

impl Group {
    fn make(parent: &Path, name: &str) -> io::Result<Self> {
        let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let parent = open(parent, flags, Mode::empty())?;
        mkdirat(&parent, name, Mode::from_bits_truncate(0o755))?;
        match openat(&parent, name, flags, Mode::empty()) {
            Ok(folder) => Ok(Self {
                parent,
                folder,
                name: name.to_owned(),
            }),
            Err(e) => {
                let _ = unlinkat(&parent, name, UnlinkatFlags::RemoveDir);
                Err(e.into())
            }
        }
    }

    fn file(&self, name: &str) -> String {
        format!("/proc/self/fd/{}/{name}", self.folder.as_raw_fd())
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        // Not created where it is missing: a controller that is not there must fail.
        use std::io::Write;
        std::fs::File::options()
            .write(true)
            .open(self.file(file))?
            .write_all(text.as_bytes())
    }
}

/// Below the parent of our own group first: a group with processes in it cannot hand controllers
/// on, its parent does.
fn version_2(places: &Places, name: &str, memory: u64, processes: u64) -> Option<Cgroup> {
    let own = places.unified.as_deref()?;
    [own.parent(), Some(own)]
        .into_iter()
        .flatten()
        .find_map(|parent| {
            let cgroup = Cgroup {
                groups: vec![Group::make(parent, name).ok()?],
            };
            let group = cgroup.groups.first()?;
            group.write("memory.max", &memory.to_string()).ok()?;
            group.write("pids.max", &processes.to_string()).ok()?;
            // Missing where the kernel has no swap accounting; then swap is not bounded, and
            // memory is.
            let _ = group.write("memory.swap.max", "0");
            Some(cgroup)
        })
}

fn version_1(places: &Places, name: &str, memory: u64, processes: u64) -> Option<Cgroup> {
    let mut cgroup = Cgroup::default();
    let group = Group::make(places.memory.as_deref()?, name).ok()?;
    cgroup.groups.push(group);
    let group = Group::make(places.pids.as_deref()?, name).ok()?;
    cgroup.groups.push(group);
    let (memory, processes) = (memory.to_string(), processes.to_string());
    cgroup.groups[0]
        .write("memory.limit_in_bytes", &memory)
        .ok()?;
    let _ = cgroup.groups[0].write("memory.memsw.limit_in_bytes", &memory);
    cgroup.groups[1].write("pids.max", &processes).ok()?;
    Some(cgroup)
}

/// Where our own groups are in the file system.
#[derive(Debug, Default, PartialEq, Eq)]
struct Places {
    unified: Option<PathBuf>,
    memory: Option<PathBuf>,
    pids: Option<PathBuf>,
}

impl Places {
    fn read() -> io::Result<Self> {
        Ok(Self::parse(
            &std::fs::read_to_string("/proc/self/cgroup")?,
            &std::fs::read_to_string("/proc/self/mountinfo")?,
        ))
    }

    /// `groups` as in cgroups(7), `mounts` as in proc(5).
    fn parse(groups: &str, mounts: &str) -> Self {
        let mounts: Vec<Mount<'_>> = mounts.lines().filter_map(Mount::parse).collect();
        let place = |kind: &str, controller: &str, path: &str| {
            mounts
                .iter()
                .find(|m| m.kind == kind && (controller.is_empty() || m.has(controller)))
                .and_then(|m| {
                    let below = Path::new(path).strip_prefix(m.root).ok()?;
                    Some(Path::new(m.point).join(below))
                })
        };
        let mut places = Self::default();
        for line in groups.lines() {
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
                continue;
            };
            if controllers.is_empty() {
                places.unified = place("cgroup2", "", path);
            }
            for controller in controllers.split(',') {
                match controller {
                    "memory" => places.memory = place("cgroup", controller, path),
                    "pids" => places.pids = place("cgroup", controller, path),
                    _ => {}
                }
            }
        }
        places
    }
}

struct Mount<'a> {
    root: &'a str,
    point: &'a str,
    kind: &'a str,
    options: &'a str,
}

impl<'a> Mount<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let mut after = after.split(' ');
        Some(Self {
            root: before.next()?,
            point: before.next()?,
            kind: after.next()?,
            options: after.nth(1)?,
        })
    }

    fn has(&self, controller: &str) -> bool {
        self.options.split(',').any(|option| option == controller)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_without_its_controllers_is_none_and_nothing_is_left_of_it() {
        let plain = tempfile::tempdir().unwrap();
        // Version 2 beside version 1: it is there, and every controller is the other's.
        let beside = Path::new("/sys/fs/cgroup/unified");
        let bare = std::fs::read_to_string(beside.join("cgroup.controllers"))
            .is_ok_and(|all| all.trim().is_empty());
        let mut parents = vec![plain.path()];
        if bare && nix::unistd::access(beside, nix::unistd::AccessFlags::W_OK).is_ok() {
            parents.push(beside);
        } else {
            eprintln!("skipped: no version 2 without controllers here");
        }
        for parent in parents {
            let name = format!("{PREFIX}test-{}", std::process::id());
            let places = Places {
                unified: Some(parent.join("own")),
                ..Places::default()
            };
            assert!(version_2(&places, &name, 1 << 30, 64).is_none());
            assert!(!parent.join(&name).exists());
        }
    }

    #[test]
    fn a_process_moves_into_a_group_and_the_group_goes_when_the_process_is_gone() {
        let Ok(places) = Places::read() else { return };
        let parents = [places.unified, places.memory, places.pids];
        let mut tried = 0;
        for parent in parents.into_iter().flatten() {
            let name = format!("{PREFIX}move-{}", std::process::id());
            let Ok(group) = Group::make(&parent, &name) else {
                continue;
            };
            let cgroup = Cgroup {
                groups: vec![group],
            };
            let mut child = std::process::Command::new("sleep")
                .arg("600")
                .spawn()
                .unwrap();
            let pid = child.id() as i32;
            cgroup.take(pid).unwrap();
            let groups = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap();
            assert!(groups.contains(&name), "{groups}");
            child.kill().unwrap();
            child.wait().unwrap();
            drop(cgroup);
            assert!(!parent.join(&name).exists());
            tried += 1;
        }
        if tried == 0 {
            eprintln!("skipped: no control group can be made here");
        }
    }

    #[test]
    fn our_own_groups_are_found_in_both_versions() {
        let mounts = "24 1 0:22 / /proc rw - proc proc rw\n\
            30 23 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
            31 23 0:27 /outer /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
            32 23 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let places = Places::parse("8:pids:/outer/x\n4:memory:/a/b\n0::/user.slice/s\n", mounts);
        assert_eq!(
            places,
            Places {
                unified: Some("/sys/fs/cgroup/unified/user.slice/s".into()),
                memory: Some("/sys/fs/cgroup/memory/a/b".into()),
                pids: Some("/sys/fs/cgroup/pids/x".into()),
            }
        );
        assert_eq!(Places::parse("garbage", "garbage"), Places::default());
    }
}
