//! Reads `/proc`: which processes exist, and how the kernel confines one of them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use nix::unistd::{SysconfVar, sysconf};

/// The place of a process in the tree, from `/proc/<pid>/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    pub pid: i32,
    pub parent: i32,
    pub state: char,
    /// Start time in clock ticks after boot; with the pid it identifies one process for good.
    pub started: u64,
    /// Processor time in clock ticks.
    ticks: u64,
}

impl Stat {
    /// Processor time in milliseconds, without that of its children.
    pub fn cpu_ms(&self) -> u64 {
        let second = sysconf(SysconfVar::CLK_TCK).ok().flatten();
        let second = second.and_then(|ticks| u64::try_from(ticks).ok());
        self.ticks.saturating_mul(1000) / second.unwrap_or(100).max(1)
    }
}

/// Size that nearly every file of a process fits into. The files report a size of 0, and readers
/// that trust it read each file in eight small pieces.
const ROOM: usize = 4096;

/// A process may set a name of any bytes; the file must be readable anyway.
fn text(pid: i32, name: &str) -> io::Result<String> {
    let mut bytes = Vec::with_capacity(ROOM);
    File::open(format!("/proc/{pid}/{name}"))?.read_to_end(&mut bytes)?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|odd| String::from_utf8_lossy(odd.as_bytes()).into_owned()))
}

/// The current state of the process; an error if no process has this pid.
pub fn stat(pid: i32) -> io::Result<Stat> {
    parse_stat(pid, &text(pid, "stat")?)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "unexpected /proc/<pid>/stat"))
}

/// The name is in brackets and may contain anything, even brackets: fields count from the last
/// bracket.
fn parse_stat(pid: i32, text: &str) -> Option<Stat> {
    let rest = &text[text.rfind(')')? + 1..];
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    // By proc(5), the state is field 3, the processor times are 14 and 15, the start time is 22.
    let user: u64 = fields.nth(9)?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    let started = fields.nth(6)?.parse().ok()?;
    Some(Stat {
        pid,
        parent,
        state,
        started,
        ticks: user.saturating_add(system),
    })
}

/// The pids of all processes.
pub fn pids() -> io::Result<Vec<i32>> {
    Ok(std::fs::read_dir("/proc")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect())
}

/// A process's only child. If the kernel does not list children (CONFIG_PROC_CHILDREN), searches
/// all processes by their parent.
pub fn only_child(pid: i32) -> io::Result<Option<i32>> {
    if let Ok(listed) = text(pid, &format!("task/{pid}/children"))
        && let Ok(child) = listed.trim().parse()
    {
        return Ok(Some(child));
    }
    let mut below = descendants(pid)?.into_iter();
    Ok(below
        .find(|found| found.parent == pid)
        .map(|found| found.pid))
}

/// All readable processes below `root`, without `root` itself.
pub fn descendants(root: i32) -> io::Result<Vec<Stat>> {
    let mut children: BTreeMap<i32, Vec<Stat>> = BTreeMap::new();
    for found in pids()?.into_iter().filter_map(|pid| stat(pid).ok()) {
        children.entry(found.parent).or_default().push(found);
    }
    let mut below = Vec::new();
    let mut next = vec![root];
    while let Some(parent) = next.pop() {
        // Each list is removed when visited, so that a parent chain that changed during the read
        // cannot cause an endless loop.
        for child in children.remove(&parent).unwrap_or_default() {
            next.push(child.pid);
            below.push(child);
        }
    }
    Ok(below)
}

/// The fields of `/proc/<pid>/status` by name.
pub struct Status(BTreeMap<String, String>);

impl Status {
    pub fn read(pid: i32) -> io::Result<Self> {
        Ok(Self::parse(&text(pid, "status")?))
    }

    pub fn parse(text: &str) -> Self {
        Self(
            text.lines()
                .filter_map(|line| {
                    let (name, value) = line.split_once(':')?;
                    Some((name.to_owned(), value.trim().to_owned()))
                })
                .collect(),
        )
    }

    pub fn get(&self, field: &str) -> &str {
        self.0.get(field).map_or("", String::as_str)
    }

    /// A capability set; a missing or malformed field counts as every capability.
    pub fn capabilities(&self, field: &str) -> u64 {
        u64::from_str_radix(self.get(field), 16).unwrap_or(u64::MAX)
    }

    /// Resident memory in kibibytes; 0 if the kernel does not report it.
    pub fn resident_kib(&self) -> u64 {
        let text = self.get("VmRSS").trim_end_matches(" kB");
        text.parse().unwrap_or(0)
    }

    /// Mapped address space in bytes.
    pub fn address_space(&self) -> io::Result<u64> {
        let kib: Option<u64> = self.get("VmSize").trim_end_matches(" kB").parse().ok();
        kib.map(|kib| kib * 1024)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no VmSize"))
    }

    /// Real, effective, saved and file system uid.
    pub fn uids(&self) -> Option<[u32; 4]> {
        ids(self.get("Uid"))
    }

    pub fn gids(&self) -> Option<[u32; 4]> {
        ids(self.get("Gid"))
    }
}

/// Real, effective, saved and file system uid of a process; `None` if no process has this pid.
pub fn uids(pid: i32) -> Option<[u32; 4]> {
    let text = text(pid, "status").ok()?;
    ids(text.lines().find_map(|line| line.strip_prefix("Uid:"))?)
}

fn ids(text: &str) -> Option<[u32; 4]> {
    let list: Vec<u32> = text
        .split_ascii_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()
        .ok()?;
    list.try_into().ok()
}

/// Soft and hard limits by their names in `/proc/<pid>/limits`; `u64::MAX` means unlimited.
pub fn limits(pid: i32) -> io::Result<BTreeMap<String, (u64, u64)>> {
    let text = text(pid, "limits")?;
    let number = |text: &str| match text {
        "unlimited" => Some(u64::MAX),
        digits => digits.parse().ok(),
    };
    Ok(text
        .lines()
        .skip(1)
        .filter_map(|line| {
            // Names contain spaces; the columns are 26 and 21 characters wide.
            let (name, values) = line.split_at_checked(26)?;
            let mut values = values.split_ascii_whitespace();
            Some((
                name.trim().to_owned(),
                (number(values.next()?)?, number(values.next()?)?),
            ))
        })
        .collect())
}

/// The namespace of a process, such as `mnt:[4026531841]`.
pub fn namespace(pid: i32, kind: &str) -> io::Result<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/ns/{kind}"))
}

/// One line of `/proc/<pid>/mountinfo` (proc(5)), with the fields that are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The mount point as the process sees it.
    pub at: PathBuf,
    /// Identifies the file system: equal numbers mean the same file system.
    pub device: String,
    pub kind: String,
    options: String,
    /// Options of the file system itself, the same wherever it is mounted.
    made_with: String,
}

impl Mount {
    pub fn parse(line: &str) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let mut fields = before.split(' ').skip(2);
        let device = fields.next()?.to_owned();
        let at = unescaped(fields.nth(1)?);
        let mut after = after.split(' ');
        Some(Self {
            at,
            device,
            options: fields.next()?.to_owned(),
            kind: after.next()?.to_owned(),
            made_with: after.nth(1)?.to_owned(),
        })
    }

    /// Whether the mount has this option.
    pub fn has(&self, option: &str) -> bool {
        self.options.split(',').any(|one| one == option)
    }

    /// Whether the file system itself has this option.
    pub fn is_made_with(&self, option: &str) -> bool {
        self.made_with.split(',').any(|one| one == option)
    }
}

/// Decodes space, tab, line feed and backslash, which are written as three octal digits.
fn unescaped(text: &str) -> PathBuf {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, more)) = rest.split_first() {
        let escape = (first == b'\\')
            .then(|| more.get(..3))
            .flatten()
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        match escape {
            Some(byte) => {
                bytes.push(byte);
                rest = &more[3..];
            }
            None => {
                bytes.push(first);
                rest = more;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

/// Every mount that a process sees. A line that cannot be parsed is an error and not skipped.
pub fn mounts(pid: i32) -> io::Result<Vec<Mount>> {
    text(pid, "mountinfo")?
        .lines()
        .map(|line| {
            Mount::parse(line).ok_or_else(|| {
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    "unexpected /proc/<pid>/mountinfo",
                )
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    use super::*;

    #[test]
    fn what_a_status_does_not_say_counts_for_the_worst() {
        let status = Status::parse(
            "Name:\tx\nCapEff:\t00000000a80425fb\nCapBnd:\t0\nCapInh:\tx\nVmSize:\t  12 kB\nVmRSS:\t  7 kB\n",
        );
        assert_eq!(status.capabilities("CapEff"), 0xa804_25fb);
        assert_eq!(status.capabilities("CapBnd"), 0);
        assert_eq!(status.capabilities("CapInh"), u64::MAX);
        assert_eq!(status.capabilities("CapPrm"), u64::MAX);
        assert_eq!(status.address_space().unwrap(), 12_288);
        assert_eq!(status.resident_kib(), 7);
        let nothing = Status::parse("");
        assert!(nothing.address_space().is_err() && nothing.uids().is_none());
        assert_eq!(nothing.resident_kib(), 0);
    }

    #[test]
    fn a_process_name_that_looks_like_fields_is_parsed_correctly() {
        let text = "7 (a) R 1 (x) S 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 99 0";
        let stat = parse_stat(7, text).unwrap();
        assert_eq!((stat.parent, stat.state, stat.started), (3, 'S', 21));
        assert_eq!(stat.ticks, 13 + 14);
    }

    #[test]
    fn a_mount_is_read_with_its_odd_characters() {
        let mount = Mount::parse(
            r"36 35 98:0 /mnt1 /a\040b\134 rw,noatime master:1 - ext3 /dev/root rw,errors=continue",
        )
        .unwrap();
        assert_eq!(mount.at, PathBuf::from(r"/a b\"));
        assert_eq!(
            (mount.device.as_str(), mount.kind.as_str()),
            ("98:0", "ext3")
        );
        assert!(mount.has("noatime") && !mount.has("ro"));
        assert!(mount.is_made_with("errors=continue") && !mount.is_made_with("noatime"));
        assert!(Mount::parse("36 35 98:0 /mnt1").is_none());
        assert!(!mounts(std::process::id() as i32).unwrap().is_empty());
    }

    #[test]
    fn this_process_is_found_below_its_parent() {
        let own_pid = std::process::id() as i32;
        let parent = stat(own_pid).unwrap().parent;
        assert!(
            descendants(parent)
                .unwrap()
                .iter()
                .any(|s| s.pid == own_pid)
        );
        assert!(limits(own_pid).unwrap().contains_key("Max open files"));
        assert!(limits(own_pid).unwrap().contains_key("Max msgqueue size"));
        assert!(Status::read(own_pid).unwrap().uids().is_some());
        assert!(Status::read(own_pid).unwrap().address_space().unwrap() > 0);
    }

    #[test]
    fn an_only_child_is_found_by_either_way() {
        let mut shell = Command::new("sh")
            .args(["-c", "sleep 600 & echo $!; wait"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = [0u8; 16];
        let n = shell.stdout.take().unwrap().read(&mut output).unwrap();
        let child: i32 = std::str::from_utf8(&output[..n])
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        let parent = shell.id() as i32;
        let found = only_child(parent).unwrap();
        let below: Vec<i32> = descendants(parent).unwrap().iter().map(|s| s.pid).collect();
        kill(Pid::from_raw(child), Signal::SIGKILL).unwrap();
        shell.wait().unwrap();
        assert_eq!(found, Some(child));
        assert_eq!(below, [child]);
        assert_eq!(only_child(child).ok().flatten(), None);
    }
}
