//! A control group for the run, where this system lets one be made: then memory and processes are
//! bounded for the whole tree, and not for each process only.
//!
//! Version 2 where it is delegated (a systemd session does), version 1 as root. By writing the
//! files; nothing is installed and no daemon is asked. Where it cannot be had, the layer is
//! missing from what the broker reads, and the screen says so.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::model::Limits;

use super::super::cgroup::{Owner, Places};
use super::super::protocol::OutOfMemory;
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
        let Ok(name) = Owner::this_process().map(|owner| owner.group(serial)) else {
            return Self::default();
        };
        let memory = (limits.memory_mb.saturating_add(BASELINE_MIB))
            .saturating_mul(MIB)
            .saturating_add(scratch_bytes(limits));
        let processes = limits.processes.max(1).saturating_add(EXTRA_PROCESSES);
        let Ok(places) = Places::read() else {
            return Self::default();
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

    /// Set if the kernel ended a process of the run because its group had no memory left. It does not
    /// say how much the group had before Linux 5.19 (version 2).
    pub fn out_of_memory(&self) -> Option<OutOfMemory> {
        let (group, killed) = self
            .groups
            .iter()
            .map(|group| (group, group.killed_for_memory()))
            .find(|(_, killed)| *killed > 0)?;
        let peak = ["memory.peak", "memory.max_usage_in_bytes"]
            .into_iter()
            .find_map(|file| {
                std::fs::read_to_string(group.file(file))
                    .ok()?
                    .trim()
                    .parse()
                    .ok()
            });
        Some(OutOfMemory {
            peak: peak.unwrap_or(0),
            killed,
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

    /// The limits of version 2.
    fn bound(&self, memory: u64, processes: u64) -> io::Result<()> {
        self.write("memory.max", &memory.to_string())?;
        self.write("pids.max", &processes.to_string())?;
        // Missing where the kernel has no swap accounting; then swap is not bounded, and memory is.
        let _ = self.write("memory.swap.max", "0");
        // Missing where that controller is not handed on; then processor time is each process's own
        // limit, and the wall clock's.
        let _ = self.write("cpu.max", &cpu_max());
        Ok(())
    }

    /// How many processes of the group the kernel ended because it had no memory left.
    fn killed_for_memory(&self) -> u64 {
        ["memory.events", "memory.oom_control"]
            .into_iter()
            .filter_map(|file| std::fs::read_to_string(self.file(file)).ok())
            .flat_map(|text| {
                text.lines()
                    .filter_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
                    .collect::<Vec<u64>>()
            })
            .max()
            .unwrap_or(0)
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

/// Microseconds of processor time in each tenth of a second: all processors but one, which is left to
/// whoever has to end the run.
fn cpu_max() -> String {
    const PERIOD: usize = 100_000;
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!("{} {PERIOD}", PERIOD * processors.saturating_sub(1).max(1))
}

fn version_2(places: &Places, name: &str, memory: u64, processes: u64) -> Option<Cgroup> {
    places.of_version_2().find_map(|parent| {
        let cgroup = Cgroup {
            groups: vec![Group::make(parent, name).ok()?],
        };
        cgroup.groups.first()?.bound(memory, processes).ok()?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::given::is_given_to_root;

    /// What version 2 makes in a new group, as far as it is written or read; the kernel of this
    /// machine may have given these controllers to version 1.
    fn fake(files: &[&str]) -> (tempfile::TempDir, Cgroup) {
        let parent = tempfile::tempdir().unwrap();
        let group = Group::make(parent.path(), "group").unwrap();
        for file in files {
            std::fs::write(parent.path().join("group").join(file), "").unwrap();
        }
        (
            parent,
            Cgroup {
                groups: vec![group],
            },
        )
    }

    #[test]
    fn the_limits_of_version_2_are_written_where_they_belong() {
        let all = [
            "memory.max",
            "pids.max",
            "memory.swap.max",
            "cpu.max",
            "cgroup.procs",
        ];
        let (parent, cgroup) = fake(&all);
        let read = |file: &str| std::fs::read_to_string(parent.path().join("group").join(file));
        cgroup.groups[0].bound(1 << 30, 64).unwrap();
        cgroup.take(77).unwrap();
        let written = all.map(|file| read(file).unwrap());
        assert_eq!(written[..3], ["1073741824", "64", "0"]);
        let (quota, period) = written[3].split_once(' ').unwrap();
        assert!(quota.parse::<u64>().unwrap() >= period.parse::<u64>().unwrap());
        assert_eq!(written[4], "77");

        // What cannot be had is not made up for: without memory or processes there is no group.
        let (_parent, cgroup) = fake(&all[..2]);
        cgroup.groups[0].bound(1, 1).unwrap();
        for lacks in [&all[1..], &all[..1]] {
            let (parent, cgroup) = fake(lacks);
            assert!(cgroup.groups[0].bound(1, 1).is_err());
            let files = std::fs::read_dir(parent.path().join("group")).unwrap();
            assert_eq!(files.count(), lacks.len());
        }
    }

    #[test]
    fn a_kill_for_memory_is_read_in_both_versions() {
        for (file, peak, text, killed) in [
            (
                "memory.events",
                "memory.peak",
                "low 0\noom 1\noom_kill 1\noom_group_kill 0\n",
                1,
            ),
            (
                "memory.events",
                "memory.peak",
                "low 0\noom 3\noom_kill 0\n",
                0,
            ),
            (
                "memory.oom_control",
                "memory.max_usage_in_bytes",
                "under_oom 0\noom_kill 2\n",
                2,
            ),
            (
                "memory.oom_control",
                "memory.max_usage_in_bytes",
                "oom_kill_disable 0\nunder_oom 1\noom_kill 0\n",
                0,
            ),
        ] {
            let (parent, cgroup) = fake(&[]);
            assert_eq!(cgroup.out_of_memory(), None);
            let write = |file: &str, text: &str| {
                std::fs::write(parent.path().join("group").join(file), text).unwrap();
            };
            write(file, text);
            let told = |peak| (killed > 0).then_some(OutOfMemory { peak, killed });
            assert_eq!(cgroup.out_of_memory(), told(0), "{file} {text}");
            write(peak, "4096\n");
            assert_eq!(cgroup.out_of_memory(), told(4096), "{file}");
        }
    }

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
        }
        for parent in parents {
            let name = format!("countersign-test-{}", std::process::id());
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
        let places = Places::read().unwrap_or_default();
        let parents = [places.unified, places.memory, places.pids];
        let mut tried = 0;
        for parent in parents.into_iter().flatten() {
            let name = format!("countersign-move-{}", std::process::id());
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
        is_given_to_root(tried > 0, "control group can be made");
    }
}
