//! Many runs in a row leave nothing behind: no process, descriptor, mount, control group, System V
//! object or file. Counts what the whole machine has, so it has to be
//! alone: `COUNTERSIGN_SOAK=1000 cargo test --lib soak`; without the variable it does nothing.

use super::TIER;
use crate::executor::test_bench::*;

/// What could leak, counted.
#[derive(Debug, PartialEq, Eq)]
struct Census {
    processes: usize,
    descriptors: usize,
    mounts: usize,
    groups: usize,
    files: usize,
    shared: usize,
}

fn count(folder: &str) -> usize {
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

impl Census {
    /// Once no thread of a run is left: this one, the test's, and its harness.
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
        Self::take()
    }

    fn take() -> Self {
        let me = std::process::id() as i32;
        let own = |name: &str| name.starts_with("countersign-run-");
        let groups = ["memory", "pids", "unified", ""];
        Self {
            processes: crate::executor::procfs::descendants(me).unwrap().len(),
            descriptors: count("/proc/self/fd"),
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
        }
    }
}

fn walk(folder: &str, depth: usize) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 0;
    };
    entries
        .filter_map(Result::ok)
        .filter(|e| e.file_type().is_ok_and(|t| t.is_dir()))
        .map(|e| {
            let mine = e
                .file_name()
                .to_string_lossy()
                .starts_with("countersign-run-");
            let below = if depth > 0 {
                walk(&e.path().to_string_lossy(), depth - 1)
            } else {
                0
            };
            usize::from(mine) + below
        })
        .sum()
}

#[test]
fn many_runs_leave_nothing_behind() {
    let Ok(runs) = std::env::var("COUNTERSIGN_SOAK") else {
        return;
    };
    let runs: usize = runs.parse().unwrap();
    let attacks = [
        "print(1)",
        "import os\nos.fork()\nos.fork()",
        "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)",
        "import os\nos._exit(3)",
        "import os\nos.kill(os.getpid(), 11)",
        "open('x', 'w').write('y')\nimport os\nos.mkdir('d')",
        "import os\nwhile True: os.write(1, b'x' * 65536)",
        "import multiprocessing\nmultiprocessing.Value('i')\nmultiprocessing.Queue()",
    ];
    // The first run makes what stays: the log, the held binary. Its thread may still be ending.
    run_spec(spec("print(1)", raw_policy(TIER)));
    let before = Census::settled();
    for run in 0..runs {
        let two: Vec<_> = (0..2)
            .map(|i| {
                let code = attacks[(run + i) % attacks.len()];
                begin(spec(code, raw_policy(TIER)), Default::default())
            })
            .collect();
        if run % 7 == 0 {
            two[0].control.kill();
        }
        for live in two {
            live.finish();
        }
    }
    // A run's thread ends a moment after its last note.
    assert_eq!(Census::settled(), before);
}
