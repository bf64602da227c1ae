//! What a run reads of its own confinement, compared as a whole with one table: a right, limit or mount flag
//! that no attack of the other suites needs is looked at here.

use std::collections::{BTreeMap, BTreeSet};

use nix::unistd::{Gid, Uid};
use serde::Deserialize;

use super::{TIER, run_spec};
use crate::executor::tests::bench::*;
use crate::model::Tier;

const CODE: &str = "import json, os\n\
    def text(name): return open('/proc/' + name).read()\n\
    def mount(line):\n\
    \x20   before, after = [half.split() for half in line.split(' - ')]\n\
    \x20   return {'at': before[4], 'flags': before[5].split(','), 'kind': after[0],\n\
    \x20           'options': after[2].split(','),\n\
    \x20           'own': before[4] == os.path.dirname(os.readlink('/proc/self/cwd'))}\n\
    def status(pid):\n\
    \x20   return dict(l.split(':\\t', 1) for l in text(f'{pid}/status').splitlines() if ':\\t' in l)\n\
    print(json.dumps({\n\
    'own': status('self'), 'parent': status(os.getppid()),\n\
    'limits': {l[:26].strip(): l[26:].split()[:2] for l in text('self/limits').splitlines()[1:]},\n\
    'mounts': [mount(l) for l in text('self/mountinfo').splitlines()],\n\
    'maps': [text('self/' + name).split() for name in ('uid_map', 'gid_map', 'setgroups')]}))";

#[derive(Debug, Deserialize)]
struct Inside {
    /// `/proc/self/status` and that of the parent process.
    own: BTreeMap<String, String>,
    parent: BTreeMap<String, String>,
    /// Soft and hard, by the names of `/proc/self/limits`.
    limits: BTreeMap<String, (String, String)>,
    mounts: Vec<Mounted>,
    /// Users, groups, and whether groups may be changed.
    maps: [Vec<String>; 3],
}

#[derive(Debug, Deserialize)]
struct Mounted {
    at: String,
    flags: Vec<String>,
    kind: String,
    options: Vec<String>,
    /// Whether it is the run's own folder, whose path is not in any output.
    own: bool,
}

impl Mounted {
    /// The flags of `which` that this mount has.
    fn flags(&self, which: &[&str]) -> String {
        let has = |flag: &&&str| self.flags.iter().any(|one| one == **flag);
        which
            .iter()
            .filter(has)
            .copied()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The options that bound what the file system holds and shows.
    fn bounds(&self) -> String {
        let bounds = ["size=", "nr_inodes=", "mode=", "subset="];
        let is = |option: &&String| bounds.iter().any(|bound| option.starts_with(bound));
        let all: Vec<&str> = self.options.iter().filter(is).map(String::as_str).collect();
        all.join(" ")
    }
}

fn is_root() -> bool {
    Uid::effective().is_root()
}

fn inside() -> Inside {
    let mut policy = raw_policy(TIER);
    policy.limits.cpu_s = 31;
    policy.limits.open_files = 97;
    policy.limits.file_size_mb = 13;
    policy.limits.processes = 7;
    let outcome = run_spec(spec(CODE, policy));
    serde_json::from_str(&outcome.run().stdout).unwrap_or_else(|e| panic!("{e}: {outcome:?}"))
}

#[test]
fn every_right_limit_and_mount_that_a_run_reads_is_the_one_of_the_table() {
    if !available(TIER) {
        return;
    }
    let inside = inside();
    let (uid, gid) = if is_root() {
        let uid: u32 = inside.own["Uid"]
            .split('\t')
            .next()
            .unwrap()
            .parse()
            .unwrap();
        assert!((61_184..=65_519).contains(&uid), "{uid}");
        (uid, uid)
    } else {
        (Uid::effective().as_raw(), Gid::effective().as_raw())
    };
    let table = rights(uid, gid);
    assert_eq!(of_table(&inside.own, &table), table, "its own rights");
    // The C library keeps 32 and 33 to itself. Python ignores SIGPIPE and SIGXFSZ.
    let ignored = u64::from_str_radix(&inside.own["SigIgn"], 16).unwrap() & !(0b11 << 31);
    assert_eq!(ignored, 1 << 12 | 1 << 24, "ignored signals");
    if TIER == Tier::Kernel {
        let table = rights_of_pid_1(uid, gid);
        assert_eq!(of_table(&inside.parent, &table), table, "those of pid 1");
        let map = |id: u32| vec![id.to_string(), id.to_string(), "1".to_owned()];
        assert_eq!(inside.maps, [map(uid), map(gid), vec!["deny".to_owned()]]);
    }
    let table = limits();
    assert_eq!(of_table(&inside.limits, &table), table, "limits");
    let kib = |text: &str| text.trim_end_matches(" kB").trim().parse::<u64>().unwrap();
    let (soft, hard) = &inside.limits["Max address space"];
    let [soft, hard] = [soft, hard].map(|limit| limit.parse::<u64>().unwrap());
    // The allowance, and on top of it what the runner keeps to report with.
    let most = (kib(&inside.own["VmSize"]) + 256 * 1024) * 1024;
    assert!(
        soft <= most && hard == soft + (32 << 20),
        "{soft} {hard} {most}"
    );
    if TIER == Tier::Kernel {
        let found: BTreeSet<String> = inside.mounts.iter().map(of_the_jail).collect();
        assert_eq!(found, KERNEL_MOUNTS.iter().map(|&l| l.to_owned()).collect());
    } else if is_root() {
        let found: BTreeSet<String> = inside
            .mounts
            .iter()
            .map(|m| of_the_view(m, &inside))
            .collect();
        assert_eq!(
            found,
            PROCESS_MOUNTS.iter().map(|&l| l.to_owned()).collect()
        );
    }
}

/// Becomes a dashboard that has more than most: groups, limits, signals that are ignored or blocked, an open
/// umask, every capability ambient. Then runs the test named in its arguments.
const RICHER: &str = "import ctypes, os, resource, signal, sys\n\
    C = ctypes.CDLL(None)\n\
    version, sets = (ctypes.c_uint32 * 2)(0x20080522), (ctypes.c_uint32 * 6)()\n\
    C.capget(version, sets)\n\
    sets[2], sets[5] = sets[1], sets[4]\n\
    C.capset(version, sets)\n\
    for capability in range(64): C.prctl(47, 2, capability, 0, 0)\n\
    os.setgroups([27, 4242])\n\
    os.umask(0)\n\
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)\n\
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2})\n\
    for name in 'CORE', 'MEMLOCK', 'MSGQUEUE', 'NICE', 'NOFILE', 'RTPRIO', 'SIGPENDING':\n\
    \x20   number = getattr(resource, 'RLIMIT_' + name)\n\
    \x20   most = max(resource.getrlimit(number)[1], 40)\n\
    \x20   try: resource.setrlimit(number, (most, most))\n\
    \x20   except (OSError, ValueError): pass\n\
    os.execv(sys.argv[1], sys.argv[1:])";

#[test]
fn a_run_has_nothing_more_where_its_dashboard_has_more() {
    if !available(TIER) || !is_root() {
        return;
    }
    let output = std::process::Command::new(&python().executable)
        .args(["-I", "-c", RICHER])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &name_of_the_table(), "--nocapture"])
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stdout.contains("1 passed"), "{stdout}\n{stderr}");
}

#[test]
fn the_table_holds_for_an_ordinary_user_too() {
    as_an_ordinary_user(&[&name_of_the_table()]);
}

/// The test of the table, as the test binary calls it.
fn name_of_the_table() -> String {
    let (_, module) = module_path!().split_once("::").unwrap();
    format!("{module}::every_right_limit_and_mount_that_a_run_reads_is_the_one_of_the_table")
}

/// The entries that the table has too.
fn of_table<T: Clone>(
    found: &BTreeMap<String, T>,
    table: &BTreeMap<String, T>,
) -> BTreeMap<String, T> {
    let found = found.iter().filter(|(name, _)| table.contains_key(*name));
    found
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn rights_of_pid_1(uid: u32, gid: u32) -> BTreeMap<String, String> {
    let none = "0000000000000000";
    let four = |id: u32| {
        [
            id.to_string(),
            id.to_string(),
            id.to_string(),
            id.to_string(),
        ]
        .join("\t")
    };
    let (uids, gids) = (four(uid), four(gid));
    let mut table = BTreeMap::from([
        ("Uid", &*uids),
        ("Gid", &*gids),
        ("CapInh", none),
        ("CapPrm", none),
        ("CapEff", none),
        ("CapBnd", none),
        ("CapAmb", none),
        ("NoNewPrivs", "1"),
        ("Threads", "1"),
    ]);
    if is_root() {
        table.insert("Groups", " ");
    }
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    table.into_iter().map(owned).collect()
}

fn rights(uid: u32, gid: u32) -> BTreeMap<String, String> {
    let mut table = rights_of_pid_1(uid, gid);
    let mut is = |name: &str, value: &str| table.insert(name.to_owned(), value.to_owned());
    is("SigBlk", "0000000000000000");
    is("Umask", "0077");
    is("TracerPid", "0");
    if TIER == Tier::Kernel {
        is("Pid", "2");
        is("PPid", "1");
        is("NSpid", "2");
        is("NSsid", "2");
        is("Seccomp", "2");
    } else if !is_root() {
        // An ordinary user cannot empty it.
        table.remove("CapBnd");
    }
    table
}

fn limits() -> BTreeMap<String, (String, String)> {
    let mut table = vec![
        ("Max cpu time", 31, 32),
        ("Max file size", 13_631_488, 13_631_488),
        ("Max core file size", 0, 0),
        ("Max open files", 97, 97),
        ("Max locked memory", 0, 0),
        ("Max pending signals", 256, 256),
        ("Max msgqueue size", 0, 0),
        ("Max nice priority", 0, 0),
        ("Max realtime priority", 0, 0),
    ];
    // Pid 1 counts too. Of an ordinary user, the kernel counts whatever else that user runs.
    if TIER == Tier::Kernel {
        table.push(("Max processes", 8, 8));
    } else if is_root() {
        table.push(("Max processes", 7, 7));
    }
    let owned = |(name, soft, hard): (&str, u64, u64)| {
        (name.to_owned(), (soft.to_string(), hard.to_string()))
    };
    table.into_iter().map(owned).collect()
}

const ALL: &[&str] = &["ro", "rw", "nosuid", "nodev", "noexec"];

const KERNEL_MOUNTS: &[&str] = &[
    "/: ro nosuid nodev noexec tmpfs size=4096k nr_inodes=8192 mode=755",
    "/dev/*: rw nosuid noexec",
    "/dev/shm: rw nosuid nodev noexec tmpfs size=16384k nr_inodes=256",
    "/proc: rw nosuid nodev noexec proc subset=pid",
    "/scratch: rw nosuid nodev noexec tmpfs size=53248k nr_inodes=8192 mode=700",
    "of the machine: ro nosuid nodev",
];

fn of_the_jail(mount: &Mounted) -> String {
    let Mounted { at, kind, .. } = mount;
    match at.as_str() {
        "/" | "/proc" | "/scratch" | "/dev/shm" => {
            format!("{at}: {} {kind} {}", mount.flags(ALL), mount.bounds())
        }
        // A device must stay one. Some machines mount all of them without programs anyway.
        device if device.starts_with("/dev/") => format!("/dev/*: {}", mount.flags(ALL)),
        _ => format!(
            "of the machine: {}",
            mount.flags(&["ro", "rw", "nosuid", "nodev"])
        ),
    }
}

const PROCESS_MOUNTS: &[&str] = &[
    "/dev/shm: rw nosuid nodev noexec tmpfs size=16384k nr_inodes=256",
    "of the machine: ro nosuid",
    "of the run: rw nosuid nodev noexec tmpfs size=53248k nr_inodes=8192 mode=700",
];

fn of_the_view(mount: &Mounted, inside: &Inside) -> String {
    let all = || format!("{} {} {}", mount.flags(ALL), mount.kind, mount.bounds());
    let hidden = |one: &&Mounted| one.at == mount.at;
    let is_top = inside
        .mounts
        .iter()
        .rfind(hidden)
        .is_some_and(|top| std::ptr::eq(top, mount));
    if mount.at == "/dev/shm" && is_top {
        format!("/dev/shm: {}", all())
    } else if mount.own {
        format!("of the run: {}", all())
    } else {
        format!("of the machine: {}", mount.flags(&["ro", "rw", "nosuid"]))
    }
}
