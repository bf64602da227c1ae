//! Reading `/proc`: which processes there are, and what the kernel says confines one of them.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// What `/proc/<pid>/stat` says of a process's place in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    pub pid: i32,
    pub parent: i32,
    pub state: char,
    /// Clock ticks after boot; with the pid it names one process for good.
    pub started: u64,
}

/// The process as it is now; an error when there is none of that number.
pub fn stat(pid: i32) -> io::Result<Stat> {
    parse_stat(pid, &std::fs::read_to_string(format!("/proc/{pid}/stat"))?)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "unexpected /proc/<pid>/stat"))
}

/// The name is in brackets and may hold anything, brackets too: fields count from the last one.
fn parse_stat(pid: i32, text: &str) -> Option<Stat> {
    let rest = &text[text.rfind(')')? + 1..];
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    // Field 22 of proc(5); state is field 3.
    let started = fields.nth(17)?.parse().ok()?;
    Some(Stat {
        pid,
        parent,
        state,
        started,
    })
}

/// The numbers of all processes.
pub fn pids() -> io::Result<Vec<i32>> {
    Ok(std::fs::read_dir("/proc")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect())
}

/// All processes below `root` (not itself), as far as they could be read.
pub fn descendants(root: i32) -> io::Result<Vec<Stat>> {
    let mut children: BTreeMap<i32, Vec<Stat>> = BTreeMap::new();
    for found in pids()?.into_iter().filter_map(|pid| stat(pid).ok()) {
        children.entry(found.parent).or_default().push(found);
    }
    let mut below = Vec::new();
    let mut next = vec![root];
    while let Some(parent) = next.pop() {
        // Each list is taken out once, so a parent chain that changed while it was read cannot
        // make this go round.
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
        let text = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
        Ok(Self(
            text.lines()
                .filter_map(|line| {
                    let (name, value) = line.split_once(':')?;
                    Some((name.to_owned(), value.trim().to_owned()))
                })
                .collect(),
        ))
    }

    pub fn get(&self, field: &str) -> &str {
        self.0.get(field).map_or("", String::as_str)
    }

    /// A capability set; a missing or odd field counts as every capability.
    pub fn capabilities(&self, field: &str) -> u64 {
        u64::from_str_radix(self.get(field), 16).unwrap_or(u64::MAX)
    }

    /// Real, effective, saved and file system uid.
    pub fn uids(&self) -> Option<[u32; 4]> {
        ids(self.get("Uid"))
    }

    pub fn gids(&self) -> Option<[u32; 4]> {
        ids(self.get("Gid"))
    }
}

fn ids(text: &str) -> Option<[u32; 4]> {
    let list: Vec<u32> = text
        .split_ascii_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()
        .ok()?;
    list.try_into().ok()
}

/// Soft and hard limit by the name `/proc/<pid>/limits` gives it; `u64::MAX` is unlimited.
pub fn limits(pid: i32) -> io::Result<BTreeMap<String, (u64, u64)>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/limits"))?;
    let number = |text: &str| match text {
        "unlimited" => Some(u64::MAX),
        digits => digits.parse().ok(),
    };
    Ok(text
        .lines()
        .skip(1)
        .filter_map(|line| {
            // Names hold spaces; the columns are 26 and 21 characters wide.
            let (name, values) = line.split_at_checked(26)?;
            let mut values = values.split_ascii_whitespace();
            Some((
                name.trim().to_owned(),
                (number(values.next()?)?, number(values.next()?)?),
            ))
        })
        .collect())
}

/// Bytes of address space a process has mapped.
pub fn address_space(pid: i32) -> io::Result<u64> {
    let kib: Option<u64> = Status::read(pid)?
        .get("VmSize")
        .trim_end_matches(" kB")
        .parse()
        .ok();
    kib.map(|kib| kib * 1024)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no VmSize"))
}

/// Which namespace a process is in, such as `mnt:[4026531841]`.
pub fn namespace(pid: i32, kind: &str) -> io::Result<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/ns/{kind}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_named_like_its_own_fields_is_read_right() {
        let text = "7 (a) R 1 (x) S 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 99 0";
        let stat = parse_stat(7, text).unwrap();
        assert_eq!((stat.parent, stat.state, stat.started), (3, 'S', 21));
    }

    #[test]
    fn this_process_is_found_below_its_parent() {
        let me = std::process::id() as i32;
        let parent = stat(me).unwrap().parent;
        assert!(descendants(parent).unwrap().iter().any(|s| s.pid == me));
        assert!(limits(me).unwrap().contains_key("Max open files"));
        assert!(limits(me).unwrap().contains_key("Max msgqueue size"));
        assert!(Status::read(me).unwrap().uids().is_some());
        assert!(address_space(me).unwrap() > 0);
    }
}
