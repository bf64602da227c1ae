//! Many runs in a row leave nothing behind: no process, descriptor, mount, control group, System V
//! object or file, and no memory of the dashboard.
//!
//! The suite makes a few runs, in a process and a folder of their own, and counts what belongs to
//! them. The long soak counts the whole machine and takes its time: `CS_SOAK=10000 CS_SOAK_EACH=200
//! cargo test --lib kernel_tests::soak -- --nocapture` makes 10,000 grants and 200 of each attack
//! in the table, two at once. It waits for the changes of other processes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::table::{all_attacks, is_left_open, one_run};
use super::{TIER, begin, run_spec};
use crate::executor::tests::bench::*;
use crate::sandbox::cgroup::Owner;
use crate::sandbox::procfs::Status;

/// Counts of everything that could leak.
#[derive(Debug, PartialEq, Eq)]
struct Census {
    processes: usize,
    /// The number of each kind.
    descriptors: BTreeMap<String, usize>,
    mounts: usize,
    /// Control groups whose helper is gone.
    groups: usize,
    files: usize,
    shared: usize,
    objects: usize,
}

fn count(folder: &str) -> usize {
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

/// Longer than a zygote takes to make the next slot on a busy machine.
const QUIET: std::time::Duration = std::time::Duration::from_secs(3);

/// How long to wait for the changes of other processes and for pending work.
const OTHERS: std::time::Duration = std::time::Duration::from_secs(300);

impl Census {
    /// Counts once only this thread and that of the test harness are left and nothing is pending: a
    /// zygote makes the slot for the next run a moment after a run.
    fn settled() -> Self {
        let threads = || {
            std::fs::read_dir("/proc/self/task")
                .unwrap()
                .filter_map(|t| std::fs::read_to_string(t.ok()?.path().join("comm")).ok())
                .filter(|name| name.trim() == "run")
                .count()
        };
        while threads() > 0 {
            std::thread::yield_now();
        }
        let mut found = Self::take();
        let mut since = std::time::Instant::now();
        while since.elapsed() < QUIET {
            std::thread::yield_now();
            let now = Self::take();
            if now != found {
                (found, since) = (now, std::time::Instant::now());
            }
        }
        found
    }

    /// Whether no count has grown; leftovers of other processes may have disappeared.
    fn is_within(&self, before: &Self) -> bool {
        let numbers = |one: &Self| {
            [
                one.processes,
                one.mounts,
                one.groups,
                one.files,
                one.shared,
                one.objects,
            ]
        };
        self.descriptors == before.descriptors
            && std::iter::zip(numbers(self), numbers(before)).all(|(now, then)| now <= then)
    }

    /// Without the counts that include other processes of this machine.
    fn own(self) -> Self {
        Self {
            groups: 0,
            shared: 0,
            objects: 0,
            ..self
        }
    }

    fn take() -> Self {
        let own_pid = std::process::id() as i32;
        let own = |name: &str| name.starts_with("countersign-run-");
        let groups = ["memory", "pids", "unified", ""];
        Self {
            processes: crate::sandbox::procfs::descendants(own_pid).unwrap().len(),
            descriptors: descriptors(),
            mounts: std::fs::read_to_string("/proc/self/mountinfo")
                .unwrap()
                .lines()
                .count(),
            groups: groups
                .iter()
                .map(|group| walk(&format!("/sys/fs/cgroup/{group}"), 4))
                .sum(),
            files: std::fs::read_dir(std::env::temp_dir())
                .unwrap()
                .filter(|e| own(&e.as_ref().unwrap().file_name().to_string_lossy()))
                .count(),
            shared: count("/dev/shm"),
            objects: ["shm", "sem", "msg"]
                .iter()
                .filter_map(|kind| std::fs::read_to_string(format!("/proc/sysvipc/{kind}")).ok())
                .map(|text| text.lines().count())
                .sum(),
        }
    }
}

fn descriptors() -> BTreeMap<String, usize> {
    let mut kinds = BTreeMap::new();
    for entry in std::fs::read_dir("/proc/self/fd").unwrap() {
        let link = std::fs::read_link(entry.unwrap().path()).unwrap_or_default();
        let link = link.to_string_lossy();
        // `socket:[123]`
        let kind = link.split(":[").next().unwrap_or_default();
        *kinds.entry(kind.to_owned()).or_default() += 1;
    }
    kinds
}

fn walk(folder: &str, depth: usize) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 0;
    };
    entries
        .filter_map(Result::ok)
        .filter(|e| e.file_type().is_ok_and(|t| t.is_dir()))
        .map(|e| {
            let is_leftover = e
                .file_name()
                .to_str()
                .and_then(Owner::parse)
                .is_some_and(|owner| owner.is_gone());
            let below = if depth > 0 {
                walk(&e.path().to_string_lossy(), depth - 1)
            } else {
                0
            };
            usize::from(is_leftover) + below
        })
        .sum()
}

/// Resident memory of this process in kibibytes.
fn resident() -> u64 {
    let status = Status::read(std::process::id() as i32).unwrap();
    status.resident_kib()
}

/// Growth allowed for the allocator and threads after the first tenth of the runs.
const GROWTH_KIB: u64 = 8 * 1024;

const SNIPPETS: &[&str] = &[
    "print(1)",
    "import os\nos.fork()\nos.fork()",
    "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)",
    "import os\nos._exit(3)",
    "import os\nos.kill(os.getpid(), 11)",
    "open('x', 'w').write('y')\nimport os\nos.mkdir('d')",
    "import os\nwhile True: os.write(1, b'x' * 65536)",
    "import multiprocessing\nmultiprocessing.Value('i')\nmultiprocessing.Queue()",
];

/// `grants` runs of all kinds, then each attack of the table `each` times; two at once.
fn soak(grants: usize, each: usize) {
    let started = std::time::Instant::now();
    let log = |what: &str| eprintln!("{what}, {:?}, {} KiB", started.elapsed(), resident());
    two_at_once(grants, |run| {
        let live = begin(
            spec(SNIPPETS[run % SNIPPETS.len()], raw_policy(TIER)),
            Default::default(),
        );
        if run % 7 == 0 {
            live.control.kill();
        }
        live.finish();
        if run % 1000 == 999 {
            log(&format!("{} grants", run + 1));
        }
    });
    let table = crate::executor::tests::attack_table::table();
    let rows: Vec<_> = table.run.iter().filter(|row| !is_left_open(row)).collect();
    // One snippet tries all attacks that end with an errno.
    let kinds = rows.len() + 1;
    two_at_once(each * kinds, |run| {
        match rows.get(run % kinds) {
            Some(row) => one_run(row),
            None => all_attacks(),
        }
        if (run + 1) % (10 * kinds) == 0 {
            log(&format!("{} of each", (run + 1) / kinds));
        }
    });
    log(&format!("{grants} grants and {each} of each attack"));
}

/// Runs every number below `runs` once; memory in use after the first tenth may stay.
fn two_at_once(runs: usize, one: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    let early = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let run = next.fetch_add(1, Ordering::Relaxed);
                    if run >= runs {
                        return;
                    }
                    one(run);
                    if run == runs / 10 {
                        early.store(resident(), Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let (early, late) = (early.into_inner(), resident());
    if runs > 0 {
        assert!(late <= early + GROWTH_KIB, "{early} KiB, then {late} KiB");
    }
}

/// Set in the process that the short soak starts.
const ALONE: &str = "CS_TEST_SOAK";

#[test]
fn many_runs_leave_nothing_behind() {
    if !available(TIER) {
        return;
    }
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        Some(text.parse::<usize>().expect("CS_SOAK is a number of runs"))
    };
    // The first run makes what stays: the log, the open binary, the descriptor that attacks target.
    let settled = || {
        targets();
        run_spec(spec("print(1)", raw_policy(TIER)));
        Census::settled()
    };
    if let Some(grants) = number("CS_SOAK") {
        let before = settled();
        soak(grants, number("CS_SOAK_EACH").unwrap_or(0));
        let deadline = std::time::Instant::now() + OTHERS;
        let mut after = Census::settled();
        while !after.is_within(&before) && std::time::Instant::now() < deadline {
            after = Census::settled();
        }
        assert!(after.is_within(&before), "{before:?}, then {after:?}");
        eprintln!("{before:?}, then {after:?}");
        return;
    }
    if std::env::var_os(ALONE).is_some() {
        let before = settled().own();
        soak(24, 0);
        let deadline = std::time::Instant::now() + OTHERS;
        let mut after = Census::settled().own();
        while after != before && std::time::Instant::now() < deadline {
            after = Census::settled().own();
        }
        assert_eq!(after, before);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (_, path) = module_path!().split_once("::").unwrap();
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .arg(format!("{path}::many_runs_leave_nothing_behind"))
        .args(["--exact", "--nocapture"])
        .env(ALONE, "1")
        .env("TMPDIR", folder.path())
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && stdout.contains("1 passed"),
        "{stdout}{stderr}"
    );
    // A zygote's helper removes its folder once it has noticed that nobody uses it.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(120);
    while count(&folder.path().to_string_lossy()) > 0 {
        assert!(std::time::Instant::now() < deadline, "files are left");
        std::thread::yield_now();
    }
}
