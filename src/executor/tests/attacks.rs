//! Attacks by the real child on the operating system, without a guard inside it.

use super::{TIER, run_spec};
use crate::broker::ExecNote;
use crate::executor::tests::bench::*;
use crate::model::{Exit, LimitKind, Limits, RunErrorKind, StreamName};
use crate::policy::Policy;

fn run_unguarded(code: &str) -> Outcome {
    run_spec(spec(code, raw_policy(TIER)))
}

fn policy_with_limits(change: impl FnOnce(&mut Limits)) -> Policy {
    let mut policy = raw_policy(TIER);
    change(&mut policy.limits);
    policy
}

#[test]
fn hello_world_runs_and_is_reported() {
    if !available(TIER) {
        return;
    }
    let outcome = run_unguarded("print('hello')");
    let run = outcome.run();
    assert_eq!(run.stdout, "hello\n", "{run:?}");
    assert_eq!(run.exit, Exit::Code(0));
    assert_eq!((&run.error, run.limit), (&None, None));
    assert!(run.timing_us.grant_to_start > 0);
    assert!(run.timing_us.grant_to_first_output.unwrap() <= run.timing_us.grant_to_exit);
    assert_eq!(outcome.streamed(StreamName::Stdout), "hello\n");
    assert!(matches!(outcome.notes[0], ExecNote::Prepared(_)));
    assert!(matches!(outcome.notes[1], ExecNote::Released));
}

#[test]
fn the_child_is_confined_as_ordered() {
    if !available(TIER) {
        return;
    }
    let outcome = run_unguarded(
        "import os, json\n\
         status = dict(l.split(':', 1) for l in open('/proc/self/status').read().splitlines())\n\
         print(json.dumps({'uid': status['Uid'].split(), 'cap': status['CapBnd'].strip(),\n\
         'env': len(os.environ), 'keys': [k for k in os.environ if 'KEY' in k or 'TOKEN' in k],\n\
         'fds': sorted(map(int, os.listdir('/proc/self/fd'))), 'sid': os.getsid(0) == os.getpid(),\n\
         'umask': status['Umask'].strip(), 'mode': os.stat('.').st_mode & 0o777,\n\
         'files': os.listdir('.'), 'oom': open('/proc/self/oom_score_adj').read().strip()}))",
    );
    let report: serde_json::Value = serde_json::from_str(&outcome.run().stdout).unwrap();
    let root = nix::unistd::Uid::effective().is_root();
    if root {
        let uid: u32 = report["uid"][0].as_str().unwrap().parse().unwrap();
        assert!((61_184..=65_519).contains(&uid), "{report}");
        assert_eq!(report["cap"], "0000000000000000");
    }
    let uids = report["uid"].as_array().unwrap();
    assert!(uids.iter().all(|u| *u == uids[0] && *u != "0"), "{report}");
    assert!(report["env"].as_u64().unwrap() <= 12, "{report}");
    assert_eq!(report["keys"], serde_json::json!([]));
    // The standard streams, the report, the output folder, and the descriptor that lists them.
    assert!(report["fds"].as_array().unwrap().len() <= 6, "{report}");
    assert_eq!(report["sid"], true);
    assert_eq!(report["umask"], "0077");
    assert_eq!(report["mode"], 0o700);
    assert_eq!(report["files"], serde_json::json!([]));
    assert_eq!(report["oom"], "1000");
    let layers = &outcome.isolation().layers;
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
fn a_cpu_limit_names_its_signal() {
    if !available(TIER) {
        return;
    }
    let outcome = run_spec(spec(
        "while True: pass",
        policy_with_limits(|l| l.cpu_s = 1),
    ));
    assert_eq!(outcome.run().exit, Exit::Signal("SIGXCPU".to_owned()));
}

#[test]
fn an_output_flood_is_cut_counted_and_streamed_in_bounded_notes() {
    if !available(TIER) {
        return;
    }
    let outcome = run_spec(spec(
        "import os\nwhile True: os.write(1, '€'.encode() * 1000)",
        policy_with_limits(|l| l.output_bytes = 100_000),
    ));
    let run = outcome.run();
    assert!(run.stdout_truncated && !run.stderr_truncated);
    assert!(run.stdout_bytes > 100_000);
    assert_eq!(run.stdout.len(), 99_999);
    assert_eq!(outcome.streamed(StreamName::Stdout), run.stdout);
    assert!(outcome.notes.len() < 60, "{}", outcome.notes.len());
}

#[test]
fn many_processes_together_meet_the_memory_limit_too() {
    if !available(TIER) {
        return;
    }
    let mut policy = policy_with_limits(|l| l.memory_mb = 64);
    policy.limits.file_size_mb = 4;
    let outcome = run_spec(spec(
        "import os, time\n\
         for i in range(60):\n\
         \x20   if os.fork() == 0:\n\
         \x20       x = bytearray(b'x') * (50 << 20)\n\
         \x20       time.sleep(60)\n\
         print(os.WTERMSIG(os.wait()[1]))",
        policy,
    ));
    assert_lost_to_memory(&outcome);
}

/// Passes if no control group can be made.
fn assert_lost_to_memory(outcome: &Outcome) {
    let run = outcome.run();
    let grouped = run.isolation.layers.iter().any(|layer| layer == "cgroup");
    if !is_given_to_root(grouped, "control group can be made") {
        return;
    }
    // The kernel kills the preferred victims first: a child, or the first process.
    assert!(
        ["", "9\n", "ended well\n"].contains(&run.stdout.as_str()),
        "{run:?}"
    );
    assert_eq!(run.limit, Some(LimitKind::Memory), "{run:?}");
    let error = run.error.as_ref().unwrap();
    assert_eq!(error.kind, RunErrorKind::MemoryLimit, "{run:?}");
    assert!(error.message.contains("the kernel ended"), "{run:?}");
}

/// The first process waits for its children, ignores how they ended, and prints.
#[test]
fn a_run_that_lost_forks_to_the_memory_limit_did_not_succeed() {
    if !available(TIER) {
        return;
    }
    let mut policy = policy_with_limits(|l| l.memory_mb = 96);
    policy.limits.file_size_mb = 4;
    let outcome = run_spec(spec(
        "import os\n\
         for i in range(12):\n\
         \x20   if os.fork() == 0:\n\
         \x20       x = bytearray(b'x') * (80 << 20)\n\
         \x20       import time; time.sleep(1)\n\
         \x20       os._exit(0)\n\
         for i in range(12): os.wait()\n\
         print('ended well')",
        policy,
    ));
    assert_lost_to_memory(&outcome);
}

/// A child that was killed and that its parent never waits for.
#[test]
fn a_run_that_lost_a_child_it_did_not_wait_for_did_not_succeed() {
    if !available(TIER) {
        return;
    }
    let outcome = run_spec(spec(
        "import os\n\
         inside, outside = os.pipe()\n\
         if os.fork() == 0:\n\
         \x20   while True: pass\n\
         os.close(outside)\n\
         os.read(inside, 1)\n\
         import time; time.sleep(0.5)\n\
         print('ended well')",
        policy_with_limits(|l| l.cpu_s = 2),
    ));
    let run = outcome.run();
    assert_eq!(run.stdout, "ended well\n", "{run:?}");
    assert_eq!(run.limit, Some(LimitKind::Cpu), "{run:?}");
}

/// An orphan that only pid 1 waits for, or the helper if there is no pid 1.
#[test]
fn a_run_that_lost_an_orphan_to_the_limit_of_processor_time_did_not_succeed() {
    if !available(TIER) {
        return;
    }
    let outcome = run_spec(spec(
        "import os\n\
         inside, outside = os.pipe()\n\
         if os.fork() == 0:\n\
         \x20   if os.fork() == 0:\n\
         \x20       while True: pass\n\
         \x20   os._exit(0)\n\
         os.wait()\n\
         os.close(outside)\n\
         os.read(inside, 1)\n\
         import time; time.sleep(0.5)\n\
         print('ended well')",
        policy_with_limits(|l| l.cpu_s = 2),
    ));
    let run = outcome.run();
    assert_eq!(run.stdout, "ended well\n", "{run:?}");
    assert_eq!(run.limit, Some(LimitKind::Cpu), "{run:?}");
    let error = run.error.as_ref().unwrap();
    assert!(
        error.message.contains("ended 1 process of the run"),
        "{run:?}"
    );
}
