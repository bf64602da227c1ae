//! Finds the control groups of runs and recognises them by name, from inside and from outside.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::procfs;

/// Prefix of the name of a run's group.
const PREFIX: &str = "countersign-run-";

/// The helper that made a group. The group's name identifies the helper for good. A pid alone is
/// not enough: the kernel reuses pids, and in a container that shares the groups the same pid is
/// another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Inode of the helper's pid namespace.
    namespace: u64,
    pid: i32,
    /// Clock ticks after boot.
    started: u64,
}

impl Owner {
    pub fn this_process() -> io::Result<Self> {
        Self::of(std::process::id() as i32)
    }

    /// The process that currently has this pid in our own pid namespace.
    pub fn of(pid: i32) -> io::Result<Self> {
        Ok(Self {
            namespace: namespace()?,
            pid,
            started: procfs::stat(pid)?.started,
        })
    }

    /// The name of this helper's group. `serial` distinguishes the runs of one helper.
    pub fn group(&self, serial: u64) -> String {
        let Self {
            namespace,
            pid,
            started,
        } = self;
        format!("{PREFIX}{namespace}-{pid}-{started}-{serial}")
    }

    /// The owner of the group with this name; `None` if the group is not a run's.
    pub fn parse(group: &str) -> Option<Self> {
        let mut fields = group.strip_prefix(PREFIX)?.split('-');
        let owner = Self {
            namespace: fields.next()?.parse().ok()?,
            pid: fields.next()?.parse().ok()?,
            started: fields.next()?.parse().ok()?,
        };
        let _: u64 = fields.next()?.parse().ok()?;
        fields.next().is_none().then_some(owner)
    }

    /// Whether the owner is dead. False for other PID namespaces, whose processes cannot be seen
    /// from here.
    pub fn is_gone(&self) -> bool {
        namespace().is_ok_and(|ours| ours == self.namespace)
            && match procfs::stat(self.pid) {
                Ok(now) => now.started != self.started || matches!(now.state, 'Z' | 'X'),
                Err(e) => e.kind() == io::ErrorKind::NotFound,
            }
    }
}

fn namespace() -> io::Result<u64> {
    Ok(std::fs::metadata("/proc/self/ns/pid")?.ino())
}

/// Whether this text of `/proc/<pid>/cgroup` puts the process into groups of a run, for memory and
/// for processes.
pub fn is_own(groups: &str) -> bool {
    let own = |controller: &str| {
        groups.lines().any(|line| {
            let mut fields = line.splitn(3, ':').skip(1);
            let controllers = fields.next().unwrap_or_default();
            let path = fields.next().unwrap_or_default();
            controllers.split(',').any(|one| one == controller)
                && path
                    .rsplit('/')
                    .next()
                    .is_some_and(|name| name.starts_with(PREFIX))
        })
    };
    // Version 2 has an empty controller list, because one group holds every controller.
    own("") || (own("memory") && own("pids"))
}

/// Paths of our own groups in the file system.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Places {
    pub unified: Option<PathBuf>,
    pub memory: Option<PathBuf>,
    pub pids: Option<PathBuf>,
}

impl Places {
    pub fn read() -> io::Result<Self> {
        Ok(Self::parse(
            &std::fs::read_to_string("/proc/self/cgroup")?,
            &std::fs::read_to_string("/proc/self/mountinfo")?,
        ))
    }

    /// Folders where a version 2 group may be made. The parent of our own group comes first,
    /// because a group that contains processes cannot delegate controllers.
    pub fn of_version_2(&self) -> impl Iterator<Item = &Path> {
        let own = self.unified.as_deref();
        [own.and_then(Path::parent), own].into_iter().flatten()
    }

    /// Every folder that may contain a run's group. The folder of the `pids` controller comes
    /// first.
    pub fn all(&self) -> impl Iterator<Item = &Path> {
        [&self.pids, &self.memory]
            .into_iter()
            .filter_map(|place| place.as_deref())
            .chain(self.of_version_2())
    }

    /// `groups` has the format of cgroups(7), `mounts` that of proc(5).
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
    fn a_group_names_its_owner_and_nobody_else() {
        let own_pid = Owner::this_process().unwrap();
        assert_eq!(Owner::parse(&own_pid.group(7)), Some(own_pid));
        assert!(!own_pid.is_gone());
        for other in [
            Owner {
                pid: i32::MAX,
                ..own_pid
            },
            Owner {
                started: own_pid.started + 1,
                ..own_pid
            },
        ] {
            assert!(other.is_gone(), "{other:?}");
        }
        // In another namespace the same pid is another process.
        assert!(
            !Owner {
                namespace: 1,
                pid: i32::MAX,
                ..own_pid
            }
            .is_gone()
        );
        for name in [
            "countersign-run-7",
            "countersign-run-1-2-3",
            "countersign-run-1-2-3-4-5",
            "countersign-run-1-2-3-x",
            "countersign-run-1--3-4",
            "other-1-2-3-4",
            "countersign-run-1-2-3-4.scope",
        ] {
            assert_eq!(Owner::parse(name), None, "{name}");
        }
    }

    #[test]
    fn memory_and_processes_must_both_be_in_a_run_group() {
        assert!(is_own("0::/a/countersign-run-7\n"));
        assert!(is_own(
            "9:pids:/countersign-run-7\n4:memory:/x/countersign-run-7\n0::/\n"
        ));
        assert!(!is_own("9:pids:/countersign-run-7\n4:memory:/\n0::/\n"));
        assert!(!is_own("0::/countersign-run-7/elsewhere\n"));
        assert!(!is_own(""));
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
