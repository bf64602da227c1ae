//! Reads the confinement of the held payload from outside: from `/proc`, never from the child.

use std::collections::BTreeMap;
use std::io;

use nix::unistd::Uid;

use crate::model::{Isolation, Tier};
use crate::sandbox::procfs::{self, Status};
use crate::sandbox::{cgroup, helper};

use super::confinement::Confinement;
use super::fault::{Fault, Why};
use super::host::Host;
use super::surroundings;

const MIB: u64 = 1024 * 1024;

/// How far the address space limit may exceed the allowance: the runner reserves this much to
/// report a memory error with, and a few pages come and go between its reading and ours.
const SLACK: u64 = 64 * MIB;

/// The properties read from a held payload.
#[derive(Clone, Debug)]
pub struct Found {
    pub isolation: Isolation,
    /// Its resident memory in kibibytes.
    pub resident_kib: u64,
}

/// Reads the payload's confinement and returns an error if a required layer of the tier is missing.
/// `reported` are the layers that the kernel does not show, as reported by the helper's own code.
/// `mounted` are the layers that are mounts, as [`surroundings::mounted`] found them.
pub fn examine(
    pid: i32,
    reported: &[String],
    host: &dyn Host,
    expected: &Confinement,
    mounted: &[&'static str],
) -> Result<Found, Fault> {
    let read = || -> io::Result<(i32, Status, Vec<String>)> {
        let mut parent = procfs::stat(pid)?.parent;
        for _ in 0..host.between() {
            parent = procfs::stat(parent)?.parent;
        }
        let status = Status::read(pid)?;
        let layers = layers(pid, &status, expected)?;
        Ok((parent, status, layers))
    };
    // A zombie has no address space, so reading it fails.
    let (parent, status, mut layers) = read().map_err(|e| Fault::new(Why::EndedEarly, e))?;
    if parent != host.helper() {
        return Err(Fault::new(Why::EndedEarly, format!("parent {parent}")));
    }
    let around = surroundings::layers(pid, expected.inputs).map_err(|(layer, found)| {
        tracing::warn!(%found, "{layer} are not as they were placed");
        missing(layer)
    })?;
    layers.extend(mounted.iter().chain(&around).map(|&l| l.to_owned()));
    layers.extend(reported.iter().cloned());
    if status.uids().is_none_or(|uids| uids.contains(&0)) {
        return Err(missing("a user that is not root"));
    }
    for &layer in required(expected.tier) {
        // `landlock` matches every version, such as `landlock:7`.
        let is = |have: &String| have.split(':').next() == Some(layer);
        if !layers.iter().any(is) {
            return Err(missing(layer));
        }
    }
    Ok(Found {
        isolation: Isolation {
            tier: expected.tier,
            layers,
        },
        resident_kib: status.resident_kib(),
    })
}

fn missing(layer: &'static str) -> Fault {
    Fault::new(Why::Unconfined(layer), layer)
}

/// Every layer that is read from outside, by its name in records. `landlock` has its version behind it.
pub const LAYERS: [&str; 20] = [
    "uid",
    "userns",
    "pidns",
    "netns",
    "ipcns",
    "utsns",
    "mntns",
    "cgroupns",
    "nocaps",
    "bounding",
    "no_new_privs",
    "seccomp",
    "noexec",
    "cgroup",
    "rlimits",
    "root",
    "proc",
    "environment",
    "descriptors",
    "landlock",
];

/// The layers of a tier. All of them are required.
fn required(tier: Tier) -> &'static [&'static str] {
    match tier {
        Tier::Process if Uid::effective().is_root() => {
            &["uid", "nocaps", "bounding", "no_new_privs", "rlimits"]
        }
        Tier::Process => &["nocaps", "no_new_privs", "rlimits"],
        _ => &[
            "userns",
            "pidns",
            "netns",
            "ipcns",
            "utsns",
            "mntns",
            "cgroupns",
            "root",
            "proc",
            "nocaps",
            "bounding",
            "no_new_privs",
            "seccomp",
            "rlimits",
            "landlock",
        ],
    }
}

fn layers(pid: i32, status: &Status, expected: &Confinement) -> io::Result<Vec<String>> {
    let mut layers = Vec::new();
    let mut have = |yes: bool, name: &str| {
        if yes {
            layers.push(name.to_owned());
        }
    };
    let own = is_of_its_own(status, Uid::current());
    have(own, "uid");
    for (kind, name) in [
        ("user", "userns"),
        ("pid", "pidns"),
        ("net", "netns"),
        ("ipc", "ipcns"),
        ("uts", "utsns"),
        ("mnt", "mntns"),
        ("cgroup", "cgroupns"),
    ] {
        let ours = procfs::namespace(std::process::id() as i32, kind)?;
        // A layer that cannot be read is unknown, and unknown layers are not listed.
        have(
            procfs::namespace(pid, kind).is_ok_and(|theirs| theirs != ours),
            name,
        );
    }
    let none = |field| status.capabilities(field) == 0;
    have(
        ["CapInh", "CapPrm", "CapEff", "CapAmb"]
            .into_iter()
            .all(none),
        "nocaps",
    );
    have(none("CapBnd"), "bounding");
    have(status.get("NoNewPrivs") == "1", "no_new_privs");
    have(status.get("Seccomp") == "2", "seccomp");
    if expected.tier != Tier::Process {
        // The dashboard may be confined too, and the child inherits that confinement.
        let programs = |status: &Status| status.get("Seccomp_filters").parse::<usize>();
        let ours = Status::read(std::process::id() as i32)?;
        let sealed = programs(status).is_ok_and(|theirs| {
            programs(&ours).is_ok_and(|ours| theirs >= ours + helper::PROGRAMS)
        });
        have(sealed, "noexec");
    }
    if cgroup::is_own(&std::fs::read_to_string(format!("/proc/{pid}/cgroup"))?) {
        layers.push("cgroup".to_owned());
    }
    // The kernel counts processes by user and user namespace.
    let own = own || layers.iter().any(|layer| layer == "userns");
    let mapped = status.address_space()?;
    if are_limited(&procfs::limits(pid)?, mapped, expected, own) {
        layers.push("rlimits".to_owned());
    }
    Ok(layers)
}

/// Whether a process has one user, which is not ours, one group, and no further groups.
fn is_of_its_own(status: &Status, ours: Uid) -> bool {
    let same = |ids: Option<[u32; 4]>| ids.filter(|ids| ids.iter().all(|id| *id == ids[0]));
    same(status.uids()).is_some_and(|ids| ids[0] != ours.as_raw())
        && same(status.gids()).is_some()
        && status.get("Groups").is_empty()
}

/// Whether every soft and hard limit is set. `mapped`: the process's address space in bytes. `own`: the user
/// is the run's own, so the limit of processes is exact.
fn are_limited(
    found: &BTreeMap<String, (u64, u64)>,
    mapped: u64,
    expected: &Confinement,
    own: bool,
) -> bool {
    let limits = &expected.limits;
    let at_most = |name: &str, soft: u64, hard: u64| {
        found
            .get(name)
            .is_some_and(|(s, h)| *s <= soft && *h <= hard)
    };
    let memory = mapped.saturating_add(expected.address_space());
    let file = limits.file_size_mb.saturating_mul(MIB);
    let signals = helper::SIGNALS_MAX;
    let processes = if own {
        limits.processes.max(1) + u64::from(expected.tier != Tier::Process)
    } else {
        u64::MAX - 1
    };
    at_most("Max cpu time", limits.cpu_s, limits.cpu_s + 1)
        && at_most("Max address space", memory + SLACK, memory + 2 * SLACK)
        && at_most("Max open files", limits.open_files, limits.open_files)
        && at_most("Max file size", file, file)
        && at_most("Max processes", processes, processes)
        && at_most("Max core file size", 0, 0)
        && at_most("Max locked memory", 0, 0)
        && at_most("Max msgqueue size", 0, 0)
        && at_most("Max pending signals", signals, signals)
}

#[cfg(test)]
#[path = "outside_tests.rs"]
mod tests;
