//! What confines the held payload, read from outside: from `/proc`, never from the child.

use std::io;

use nix::unistd::Uid;

use crate::model::{Isolation, Limits, Tier};

use super::helper;
use super::procfs::{self, Status};
use super::spec::{Fault, RunSpec};
use super::surroundings::{self, Given};

const MIB: u64 = 1024 * 1024;

/// What the address space may exceed the allowance by: the runner keeps this much to report a
/// memory error with, and a few pages come and go between its reading and ours.
const SLACK: u64 = 64 * MIB;

/// What a payload is compared with.
pub struct Expected<'a> {
    pub tier: Tier,
    pub limits: &'a Limits,
    /// Bytes of address space beyond what the process has mapped.
    pub address_space: u64,
    pub given: Given<'a>,
    /// How many processes stand between the helper and the payload.
    pub between: usize,
    /// The layers that are mounts, as [`surroundings::mounted`] found them.
    pub mounted: Vec<&'static str>,
}

impl<'a> Expected<'a> {
    /// Of a payload whose interpreter and libraries are up. `mapped`: bytes of inputs that it maps
    /// and that do not count as its own.
    pub fn of(
        spec: &'a RunSpec,
        given: Given<'a>,
        mounted: Vec<&'static str>,
        between: usize,
        mapped: u64,
    ) -> Self {
        Self {
            between,
            mounted,
            tier: spec.tier,
            limits: spec.limits(),
            address_space: spec
                .limits()
                .memory_mb
                .saturating_mul(MIB)
                .saturating_add(mapped),
            given,
        }
    }
}

/// What was read of a held payload.
#[derive(Clone, Debug)]
pub struct Found {
    pub isolation: Isolation,
    /// Kibibytes that it has in memory.
    pub resident_kib: u64,
}

/// Reads the payload's confinement and refuses what the tier does not allow to be missing.
/// `told`: layers that the kernel shows nobody, as the helper's own code put them on.
pub fn examine(
    pid: i32,
    told: &[String],
    helper: i32,
    expected: &Expected<'_>,
) -> Result<Found, Fault> {
    let read = || -> io::Result<(procfs::Stat, Status, Vec<String>)> {
        let mut stat = procfs::stat(pid)?;
        for _ in 0..expected.between {
            stat.parent = procfs::stat(stat.parent)?.parent;
        }
        let status = Status::read(pid)?;
        let layers = layers(pid, &status, expected)?;
        Ok((stat, status, layers))
    };
    let (stat, status, mut layers) =
        read().map_err(|e| Fault::new("the child ended before it was ready", e))?;
    let around = surroundings::layers(pid, &expected.given).map_err(|(layer, found)| {
        tracing::warn!(%found, "{layer} are not as they were given");
        missing(layer)
    })?;
    layers.extend(
        expected
            .mounted
            .iter()
            .chain(&around)
            .map(|&l| l.to_owned()),
    );
    layers.extend(told.iter().cloned());
    if stat.parent != helper || stat.state == 'Z' {
        return Err(Fault::new(
            "the child ended before it was ready",
            format!("parent {} state {}", stat.parent, stat.state),
        ));
    }
    if status.uids().is_none_or(|uids| uids.contains(&0)) {
        return Err(missing("a user that is not root"));
    }
    for &layer in required(expected.tier) {
        // `landlock` stands for whatever version: `landlock:7`.
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

fn missing(layer: &str) -> Fault {
    Fault::new(
        format!("the child is not confined as its tier asks: {layer} is missing"),
        layer,
    )
}

/// A tier is all of its layers or it is not that tier.
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

fn layers(pid: i32, status: &Status, expected: &Expected<'_>) -> io::Result<Vec<String>> {
    let mut layers = Vec::new();
    let mut have = |yes: bool, name: &str| {
        if yes {
            layers.push(name.to_owned());
        }
    };
    let same = |ids: Option<[u32; 4]>| ids.filter(|ids| ids.iter().all(|id| *id == ids[0]));
    let own = same(status.uids()).is_some_and(|ids| ids[0] != Uid::current().as_raw())
        && same(status.gids()).is_some()
        && status.get("Groups").is_empty();
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
        // Not readable means not known, and not known is not listed.
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
        // The dashboard may be confined itself, and what confines it is inherited.
        let programs = |status: &Status| status.get("Seccomp_filters").parse::<usize>();
        let ours = Status::read(std::process::id() as i32)?;
        let sealed = programs(status).is_ok_and(|theirs| {
            programs(&ours).is_ok_and(|ours| theirs >= ours + helper::PROGRAMS)
        });
        have(sealed, "noexec");
    }
    if super::cgroup::is_own(&std::fs::read_to_string(format!("/proc/{pid}/cgroup"))?) {
        layers.push("cgroup".to_owned());
    }
    // The kernel counts processes by user and user namespace.
    let own = own || layers.iter().any(|layer| layer == "userns");
    if limited(pid, status, expected, own)? {
        layers.push("rlimits".to_owned());
    }
    Ok(layers)
}

/// Whether every limit is on, soft and hard. `own`: the user is the run's own, so the limit of
/// processes is exact.
fn limited(pid: i32, status: &Status, expected: &Expected<'_>, own: bool) -> io::Result<bool> {
    let limits = expected.limits;
    let found = procfs::limits(pid)?;
    let at_most = |name: &str, soft: u64, hard: u64| {
        found
            .get(name)
            .is_some_and(|(s, h)| *s <= soft && *h <= hard)
    };
    let memory = status
        .address_space()?
        .saturating_add(expected.address_space);
    let file = limits.file_size_mb.saturating_mul(MIB);
    let signals = helper::SIGNALS_MAX;
    let processes = if own {
        limits.processes.max(1) + u64::from(expected.tier != Tier::Process)
    } else {
        u64::MAX - 1
    };
    Ok(at_most("Max cpu time", limits.cpu_s, limits.cpu_s + 1)
        && at_most("Max address space", memory + SLACK, memory + 2 * SLACK)
        && at_most("Max open files", limits.open_files, limits.open_files)
        && at_most("Max file size", file, file)
        && at_most("Max processes", processes, processes)
        && at_most("Max core file size", 0, 0)
        && at_most("Max locked memory", 0, 0)
        && at_most("Max msgqueue size", 0, 0)
        && at_most("Max pending signals", signals, signals))
}
