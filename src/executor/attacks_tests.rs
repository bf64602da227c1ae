//! The real child under attack, from the operating system's side: no guard inside it.

use super::TIER;
use crate::broker::{ExecNote, StreamName};
use crate::executor::test_bench::*;
use crate::model::{Exit, LimitKind, Limits, RunErrorKind, Tier};
use crate::policy::Policy;

fn raw(code: &str) -> Told {
    run_spec(spec(code, raw_policy(TIER)))
}

fn limited(change: impl FnOnce(&mut Limits)) -> Policy {
    let mut policy = raw_policy(TIER);
    change(&mut policy.limits);
    policy
}

#[test]
fn hello_world_runs_and_is_told() {
    if !available(TIER) {
        return;
    }
    let told = raw("print('hello')");
    let run = told.run();
    assert_eq!(run.stdout, "hello\n", "{run:?}");
    assert_eq!(run.exit, Exit::Code(0));
    assert_eq!((&run.error, run.limit), (&None, None));
    assert!(run.timing_us.grant_to_start > 0);
    assert!(run.timing_us.grant_to_first_output.unwrap() <= run.timing_us.grant_to_exit);
    assert_eq!(told.streamed(StreamName::Stdout), "hello\n");
    assert!(matches!(told.notes[0], ExecNote::Prepared(_)));
    assert!(matches!(told.notes[1], ExecNote::Released));
}

#[test]
fn the_child_is_confined_as_it_was_told_to_be() {
    if !available(TIER) {
        return;
    }
    let told = raw("import os, json\n\
         status = dict(l.split(':', 1) for l in open('/proc/self/status').read().splitlines())\n\
         print(json.dumps({'uid': status['Uid'].split(), 'cap': status['CapBnd'].strip(),\n\
         'env': len(os.environ), 'keys': [k for k in os.environ if 'KEY' in k or 'TOKEN' in k],\n\
         'fds': sorted(map(int, os.listdir('/proc/self/fd'))), 'sid': os.getsid(0) == os.getpid(),\n\
         'umask': status['Umask'].strip(), 'mode': os.stat('.').st_mode & 0o777,\n\
         'files': os.listdir('.'), 'oom': open('/proc/self/oom_score_adj').read().strip()}))");
    let said: serde_json::Value = serde_json::from_str(&told.run().stdout).unwrap();
    let root = nix::unistd::Uid::effective().is_root();
    if root {
        let uid: u32 = said["uid"][0].as_str().unwrap().parse().unwrap();
        assert!((61_184..=65_519).contains(&uid), "{said}");
        assert_eq!(said["cap"], "0000000000000000");
    }
    let uids = said["uid"].as_array().unwrap();
    assert!(uids.iter().all(|u| *u == uids[0] && *u != "0"), "{said}");
    assert!(said["env"].as_u64().unwrap() <= 12, "{said}");
    assert_eq!(said["keys"], serde_json::json!([]));
    // Standard streams, the report, the held output folder, and the one that lists them.
    assert!(said["fds"].as_array().unwrap().len() <= 6, "{said}");
    assert_eq!(said["sid"], true);
    assert_eq!(said["umask"], "0077");
    assert_eq!(said["mode"], 0o700);
    assert_eq!(said["files"], serde_json::json!([]));
    assert_eq!(said["oom"], "1000");
    let layers = &told.isolation().layers;
    for layer in ["nocaps", "no_new_privs", "rlimits"] {
        assert!(layers.iter().any(|l| l == layer), "{layers:?}");
    }
    if root {
        for layer in ["uid", "bounding", "mntns"] {
            assert!(layers.iter().any(|l| l == layer), "{layers:?}");
        }
    }
}

#[test]
fn root_cannot_be_had_back_and_others_files_cannot_be_read() {
    if !available(TIER) {
        return;
    }
    if !nix::unistd::Uid::effective().is_root() || TIER != Tier::Process {
        eprintln!("skipped: not root, or a tier with a suite of its own");
        return;
    }
    let told = raw("import os\n\
         def tried(f):\n\
         \x20   try:\n\
         \x20       f()\n\
         \x20       return 'DONE'\n\
         \x20   except OSError as e:\n\
         \x20       return type(e).__name__\n\
         print(tried(lambda: os.setuid(0)), tried(lambda: os.setgid(0)),\n\
         tried(lambda: os.setgroups([0])), tried(lambda: os.kill(os.getppid(), 9)),\n\
         tried(lambda: open('/etc/shadow')), tried(lambda: open('/tmp/x', 'w')),\n\
         tried(lambda: open('/dev/shm/x', 'w')), tried(lambda: os.nice(-1)),\n\
         tried(lambda: os.open('/proc/1/mem', 2)), tried(lambda: os.chown('.', 0, 0)))");
    let said = &told.run().stdout;
    assert!(!said.contains("DONE"), "{said}");
    assert_eq!(said.split_whitespace().count(), 10, "{:?}", told.run());
}

/// What a limit or a death looks like in the outcome.
struct Case {
    name: &'static str,
    code: &'static str,
    limits: fn(&mut Limits),
    limit: Option<LimitKind>,
    error: RunErrorKind,
}

const NO_CHANGE: fn(&mut Limits) = |_| {};

const CASES: &[Case] = &[
    Case {
        name: "sleeping past the wall",
        code: "import time\ntime.sleep(600)",
        limits: |l| l.wall_s = 1,
        limit: Some(LimitKind::Wall),
        error: RunErrorKind::Timeout,
    },
    Case {
        name: "a spin that ignores every signal it can",
        code: "import signal\nfor s in range(1, 65):\n    try: signal.signal(s, signal.SIG_IGN)\n    \
               except (OSError, ValueError): pass\nwhile True: pass",
        limits: |l| l.wall_s = 1,
        limit: Some(LimitKind::Wall),
        error: RunErrorKind::Timeout,
    },
    Case {
        name: "a spin",
        code: "while True: pass",
        limits: |l| l.cpu_s = 1,
        limit: Some(LimitKind::Cpu),
        error: RunErrorKind::Timeout,
    },
    Case {
        name: "a spin that ignores SIGXCPU",
        code: "import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass",
        limits: |l| l.cpu_s = 1,
        limit: Some(LimitKind::Cpu),
        error: RunErrorKind::Timeout,
    },
    Case {
        name: "a memory bomb",
        code: "x = []\nwhile True: x.append(bytearray(1 << 20))",
        limits: |l| l.memory_mb = 64,
        limit: Some(LimitKind::Memory),
        error: RunErrorKind::MemoryLimit,
    },
    Case {
        name: "one huge allocation",
        code: "x = bytearray(1 << 40)",
        limits: NO_CHANGE,
        limit: Some(LimitKind::Memory),
        error: RunErrorKind::MemoryLimit,
    },
    Case {
        name: "an output flood",
        code: "import os\nwhile True: os.write(1, b'x' * 65536)",
        limits: |l| l.output_bytes = 100_000,
        limit: Some(LimitKind::Output),
        error: RunErrorKind::OutputLimit,
    },
    Case {
        name: "a flood of stderr",
        code: "import os\nwhile True: os.write(2, b'\\xff' * 65536)",
        limits: |l| l.output_bytes = 100_000,
        limit: Some(LimitKind::Output),
        error: RunErrorKind::OutputLimit,
    },
    Case {
        name: "a fork bomb",
        code: "import os\nwhile True: os.fork()",
        limits: |l| l.wall_s = 2,
        limit: None,
        error: RunErrorKind::SnippetError,
    },
    Case {
        name: "a thread bomb",
        code: "import threading, time\n\
               while True: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
        limits: |l| {
            l.processes = 20;
            l.memory_mb = 1024;
        },
        limit: Some(LimitKind::Processes),
        error: RunErrorKind::SnippetError,
    },
    Case {
        name: "a file that is too large",
        code: "f = open('big', 'wb')\nfor _ in range(99): f.write(bytes(1 << 20)); f.flush()",
        limits: |l| l.file_size_mb = 2,
        limit: Some(LimitKind::Files),
        error: RunErrorKind::SnippetError,
    },
    Case {
        name: "too many open files",
        code: "x = [open('/dev/null') for _ in range(999)]",
        limits: |l| l.open_files = 40,
        limit: Some(LimitKind::Files),
        error: RunErrorKind::SnippetError,
    },
    Case {
        name: "death by a signal of its own",
        code: "import os\nos.kill(os.getpid(), 11)",
        limits: NO_CHANGE,
        limit: None,
        error: RunErrorKind::SandboxError,
    },
    Case {
        name: "abort",
        code: "import os\nos.abort()",
        limits: NO_CHANGE,
        limit: None,
        error: RunErrorKind::SandboxError,
    },
    Case {
        name: "leaving without a report",
        code: "import os\nos._exit(0)",
        limits: NO_CHANGE,
        limit: None,
        error: RunErrorKind::SandboxError,
    },
    Case {
        name: "a forged report",
        code: "import os\nos.write(4, b'{\"error\":null,\"result\":1}\\n')",
        limits: NO_CHANGE,
        limit: None,
        error: RunErrorKind::SandboxError,
    },
    Case {
        name: "a flood of reports",
        code: "import os\nwhile True: os.write(4, b'x' * 65536)",
        limits: |l| l.wall_s = 10,
        limit: None,
        error: RunErrorKind::SandboxError,
    },
    Case {
        name: "a closed report",
        code: "import os\nos.close(4)",
        limits: NO_CHANGE,
        limit: None,
        error: RunErrorKind::SandboxError,
    },
    Case {
        name: "recursion",
        code: "def f(): f()\nf()",
        limits: NO_CHANGE,
        limit: None,
        error: RunErrorKind::SnippetError,
    },
];

#[test]
fn every_attack_meets_its_limit_and_leaves_nothing_behind() {
    if !available(TIER) {
        return;
    }
    for case in CASES {
        let (mark, code) = marked(case.code);
        let told = run_spec(spec(&code, limited(case.limits)));
        let run = told.run();
        let error = run.error.as_ref();
        if case.name == "a fork bomb" {
            // Whose fork fails first is chance: the wall or the first process's own error.
            assert!(error.is_some(), "{}: {run:?}", case.name);
        } else {
            assert_eq!(
                (run.limit, error.map(|e| e.kind)),
                (case.limit, Some(case.error)),
                "{}: {run:?}",
                case.name
            );
        }
        assert_eq!(processes_marked(&mark), Vec::<i32>::new(), "{}", case.name);
    }
}

#[test]
fn a_cpu_limit_names_its_signal() {
    if !available(TIER) {
        return;
    }
    let told = run_spec(spec("while True: pass", limited(|l| l.cpu_s = 1)));
    assert_eq!(told.run().exit, Exit::Signal("SIGXCPU".to_owned()));
}

#[test]
fn an_output_flood_is_cut_counted_and_streamed_in_bounded_notes() {
    if !available(TIER) {
        return;
    }
    let told = run_spec(spec(
        "import os\nwhile True: os.write(1, '€'.encode() * 1000)",
        limited(|l| l.output_bytes = 100_000),
    ));
    let run = told.run();
    assert!(run.stdout_truncated && !run.stderr_truncated);
    assert!(run.stdout_bytes > 100_000);
    assert_eq!(run.stdout.len(), 99_999);
    assert_eq!(told.streamed(StreamName::Stdout), run.stdout);
    assert!(told.notes.len() < 60, "{}", told.notes.len());
}

#[test]
fn many_processes_together_meet_the_memory_limit_too() {
    if !available(TIER) {
        return;
    }
    let mut policy = limited(|l| l.memory_mb = 64);
    policy.limits.file_size_mb = 4;
    let told = run_spec(spec(
        "import os, time\n\
         for i in range(60):\n\
         \x20   if os.fork() == 0:\n\
         \x20       x = bytearray(b'x') * (50 << 20)\n\
         \x20       time.sleep(60)\n\
         print(os.WTERMSIG(os.wait()[1]))",
        policy,
    ));
    let run = told.run();
    if !run.isolation.layers.iter().any(|layer| layer == "cgroup") {
        eprintln!("skipped: no control group can be made here");
        return;
    }
    // The kernel chooses among those that should go first: a child, or the first process.
    let first = (run.limit, run.stdout.as_str());
    assert!(
        first == (Some(LimitKind::Memory), "") || first == (None, "9\n"),
        "{run:?}"
    );
}
