//! Makes a control group for a run where the system allows it. The group limits memory and
//! processes for the whole process tree; without it only single processes are limited.
//!
//! Version 2 works where it is delegated (a systemd session does that), version 1 works as root.
//! Only files are written: nothing is installed and no daemon is asked. Without a group, the layer
//! is missing from what the broker reads, and the screen says so.

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

/// Memory for the interpreter, the libraries and small file systems, on top of the snippet's
/// allowance. Only resident pages count, so this is less than the address space.
const BASELINE_MIB: u64 = 512;

/// Pid 1 of the jail and a small margin.
const EXTRA_PROCESSES: u64 = 4;

/// The groups of a run: one in version 2, one per controller in version 1. Dropping the value
/// removes them.
#[derive(Debug, Default)]
pub struct Cgroup {
    groups: Vec<Group>,
}

#[derive(Debug)]
struct Group {
    /// Both stay open: they remain writable when the helper's view of the file system becomes
    /// read-only.
    parent: OwnedFd,
    folder: OwnedFd,
    name: String,
}

impl Cgroup {
    /// Makes the groups and sets their limits; makes no group if any of that fails. `serial`
    /// distinguishes the runs of one helper.
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

    /// Moves a process into the group. Its later forks are in the group too.
    pub fn take(&self, pid: i32) -> io::Result<()> {
        self.groups
            .iter()
            .try_for_each(|group| group.write("cgroup.procs", &pid.to_string()))
    }

    /// Set if the kernel killed a process of the run because the group was out of memory. The peak
    /// is unknown in version 2 before Linux 5.19.
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
            // The kernel may still count a process that was just reaped.
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
        // The file is missing if the kernel has no swap accounting. Memory is limited even then.
        let _ = self.write("memory.swap.max", "0");
        // The file is missing if the controller is not delegated. Then only the limit of each
        // process and the wall clock bound processor time.
        let _ = self.write("cpu.max", &cpu_max());
        Ok(())
    }

    /// How many processes of the group the kernel killed because the group was out of memory.
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
        // Opens without creating: a missing controller must be an error.
        use std::io::Write;
        std::fs::File::options()
            .write(true)
            .open(self.file(file))?
            .write_all(text.as_bytes())
    }
}

/// Microseconds of processor time per tenth of a second: all processors but one, which stays free
/// for the processes that have to end the run.
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

    /// The files of a new version 2 group that are written or read. They are faked because the
    /// kernel of the test machine may have given these controllers to version 1.
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
    fn version_2_limits_are_written_to_their_files() {
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
        // One processor stays free, unless there is only one.
        let processors = std::thread::available_parallelism().unwrap().get();
        let tenths = if processors == 1 { 1 } else { processors - 1 };
        assert_eq!(written[3], format!("{tenths}00000 100000"));
        assert_eq!(written[4], "77");

        // Both the memory and the process controller are required: without either there is no
        // group.
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
    fn an_out_of_memory_kill_is_read_in_both_versions() {
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
            let expected = |peak| (killed > 0).then_some(OutOfMemory { peak, killed });
            assert_eq!(cgroup.out_of_memory(), expected(0), "{file} {text}");
            write(peak, "4096\n");
            assert_eq!(cgroup.out_of_memory(), expected(4096), "{file}");
        }
    }

    #[test]
    fn a_group_without_controllers_is_refused_and_removed() {
        let plain = tempfile::tempdir().unwrap();
        // Version 2 is mounted, but version 1 has all controllers.
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

    /// The kernel's own files, of whichever version has the controllers here.
    #[test]
    fn a_run_has_its_allowance_of_memory_and_processes_in_numbers() {
        let serial = u64::MAX - u64::from(std::process::id());
        let cgroup = Cgroup::make(&Limits::DISTINCT, serial);
        if !is_given_to_root(!cgroup.groups.is_empty(), "control group can be made") {
            return;
        }
        let read = |file: &str| {
            let found = cgroup.groups.iter().map(|group| group.file(file));
            let mut found = found.filter_map(|file| std::fs::read_to_string(file).ok());
            found.next().map(|text| text.trim().to_owned())
        };
        let memory = read("memory.max").or_else(|| read("memory.limit_in_bytes"));
        // 512 MiB for libraries, 5 MiB for the snippet, and four files of 13 MiB.
        assert_eq!(memory.as_deref(), Some("596639744"));
        // With swap, where the kernel counts it.
        let swap = read("memory.swap.max").map(|text| (text, "0"));
        let both = read("memory.memsw.limit_in_bytes").map(|text| (text, "596639744"));
        for (found, expected) in [swap, both].into_iter().flatten() {
            assert_eq!(found, expected);
        }
        assert_eq!(read("pids.max").as_deref(), Some("11"));
    }

    #[test]
    fn a_group_takes_a_process_and_is_removed_after_it_ended() {
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
