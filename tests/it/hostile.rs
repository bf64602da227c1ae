//! Text made to crash or stall its readers, and bytes that are not quite text, given to the real
//! worker process: each costs at most its own verdict and one worker.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::asking;
use crate::texts;

use std::path::PathBuf;

use asking::{gave_up, judge};
use countersign::analysis::Analyser;
use countersign::model::{Verdict, VerdictKind};
use countersign::policy::builtin;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use texts::{encodings, hostile, seeds};

/// The sizes in bytes of the longest snippet that a profile accepts, and of the longest frame.
const SIZES: [usize; 2] = [64 * 1024, 1024 * 1024];

fn analyser() -> Analyser {
    Analyser::new(
        PathBuf::from(env!("CARGO_BIN_EXE_countersign")),
        builtin().unwrap(),
    )
}

/// The verdict on an ordinary snippet.
fn ordinary(analyser: &mut Analyser, code: &str) -> VerdictKind {
    judge(analyser, code.as_bytes(), "analysis").verdict
}

/// The snippet's verdict. Checks that the next snippets are still judged correctly.
fn assert_costs_only_its_verdict(analyser: &mut Analyser, name: &str, code: &[u8]) -> Verdict {
    assert_eq!(
        ordinary(analyser, "1\n"),
        VerdictKind::Clear,
        "before {name}"
    );
    let before = analyser.worker_pid();
    let started = std::time::Instant::now();
    let verdict = analyser.verdict(code, "analysis");
    let took = started.elapsed();
    // Allows for a debug build on a busy machine: the client gives up after half a second of work,
    // or four seconds in all.
    assert!(took.as_secs() < 60, "{name} took {took:?}");
    assert_eq!(verdict.source.bytes, code.len() as u64, "{name}");
    if analyser.worker_pid() != before {
        assert_eq!(verdict.verdict, VerdictKind::Unanalyzable, "{name}");
        assert!(gave_up(&verdict), "{name}: a worker ended without a report");
    }
    assert_eq!(
        ordinary(analyser, "print(1 + 1)\n"),
        VerdictKind::Clear,
        "after {name}"
    );
    assert_eq!(
        ordinary(analyser, "import subprocess\n"),
        VerdictKind::Blocked,
        "after {name}"
    );
    verdict
}

#[test]
fn hostile_text_costs_at_most_its_own_verdict() {
    let mut analyser = analyser();
    for size in SIZES {
        for (name, code) in hostile(size) {
            let verdict = assert_costs_only_its_verdict(&mut analyser, name, &code);
            if code.len() > SIZES[0] {
                assert_eq!(
                    verdict.verdict,
                    VerdictKind::Unanalyzable,
                    "{name} of {size} bytes"
                );
            }
        }
    }
}

#[test]
fn no_encoding_hides_what_runs() {
    let mut analyser = analyser();
    let mut failures = Vec::new();
    for (name, code, expected) in encodings() {
        // Alone, and followed by as many empty lines as a snippet and a frame can hold.
        let mut verdict = assert_costs_only_its_verdict(&mut analyser, name, &code);
        if gave_up(&verdict) {
            verdict = judge(&mut analyser, &code, "analysis");
        }
        if gave_up(&verdict) || !expected.contains(&verdict.verdict) {
            failures.push(format!(
                "{name}: {} instead of {expected:?}",
                verdict.verdict
            ));
        }
        for size in SIZES {
            let mut long = code.clone();
            long.extend(std::iter::repeat_n(b'\n', size.saturating_sub(code.len())));
            let longer = assert_costs_only_its_verdict(&mut analyser, name, &long);
            let fine = expected.contains(&VerdictKind::Clear) && size == SIZES[0];
            if longer.verdict == VerdictKind::Clear && !fine {
                failures.push(format!("{name} in {size} bytes: clear"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// No seed of the fuzzers and no input that they found may cost a worker.
#[test]
fn every_seed_of_the_fuzzers_gets_a_verdict_of_its_own() {
    let mut analyser = analyser();
    for target in ["parse", "text", "walk"] {
        let seeds = seeds(target);
        assert!(seeds.len() >= 20, "{target} has {} seeds", seeds.len());
        for (path, code) in seeds {
            let name = path.display().to_string();
            let verdict = assert_costs_only_its_verdict(&mut analyser, &name, &code);
            let again = analyser.verdict(&code, "analysis");
            assert!(gave_up(&again) || gave_up(&verdict) || again.findings == verdict.findings);
        }
    }
}

#[test]
fn text_that_is_not_python_in_utf8_is_unanalyzable() {
    let mut analyser = analyser();
    for code in [
        &b"x = '\0'"[..],
        b"\xef\xbb\xbfx = 1",
        b"\xff\xfe",
        b"f() = 1",
        b"(",
        b"x = = 1",
        b"x = '",
        b"\t if",
    ] {
        let verdict = analyser.verdict(code, "analysis");
        assert_eq!(verdict.verdict, VerdictKind::Unanalyzable, "{code:?}");
        assert!(!verdict.findings.is_empty());
    }
}

/// A worker killed while idle costs no verdict.
#[test]
fn a_killed_worker_is_replaced() {
    let mut analyser = analyser();
    assert_eq!(ordinary(&mut analyser, "1"), VerdictKind::Clear);
    for signal in [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGABRT] {
        let before = pid_of(&analyser);
        kill(before, signal).unwrap();
        await_end(before);
        assert_judged_or_late(&analyser.verdict(b"2", "analysis"), VerdictKind::Clear);
        assert_eq!(
            ordinary(&mut analyser, "import subprocess\n"),
            VerdictKind::Blocked
        );
        assert_ne!(pid_of(&analyser), before);
    }
}

/// A worker killed while it reads a snippet may have been killed for any reason, so the snippet
/// gets another try.
#[test]
fn a_worker_killed_while_it_reads_is_replaced_and_another_is_asked() {
    let mut analyser = analyser();
    assert_eq!(ordinary(&mut analyser, "1"), VerdictKind::Clear);
    let pid = stop(&analyser);
    let waits = format!("/proc/self/task/{}/stat", nix::unistd::gettid());
    let killer = std::thread::spawn(move || {
        // The other thread sleeps only while it waits for the answer.
        while !std::fs::read_to_string(&waits).unwrap().contains(") S ") {
            std::thread::yield_now();
        }
        kill(pid, Signal::SIGKILL).unwrap();
    });
    let verdict = analyser.verdict(b"import subprocess\n", "analysis");
    killer.join().unwrap();
    assert_ne!(pid_of(&analyser), pid);
    assert_judged_or_late(&verdict, VerdictKind::Blocked);
}

/// A snippet that ended two workers is not given to a third one.
#[test]
fn a_snippet_on_which_two_workers_end_is_unanalyzable_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let (exe, pids) = (dir.path().join("worker"), dir.path().join("pids"));
    // Written by another process: a file that is still open for writing cannot be executed.
    let script = format!(
        "printf '#!/bin/sh\\necho $$ >> {pids}\\nkill -STOP $$\\n' > {exe} && chmod 700 {exe}",
        pids = pids.display(),
        exe = exe.display()
    );
    let output = std::process::Command::new("/bin/sh")
        .args(["-c", &script])
        .status();
    assert!(output.unwrap().success());
    let over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stop = over.clone();
    let killer = std::thread::spawn(move || {
        let mut killed = 0;
        while !stop.load(std::sync::atomic::Ordering::SeqCst) {
            let text = std::fs::read_to_string(&pids).unwrap_or_default();
            // An incomplete line is read the next time.
            for line in text.split_inclusive('\n').skip(killed) {
                if let Some(pid) = line.strip_suffix('\n') {
                    kill(Pid::from_raw(pid.parse().unwrap()), Signal::SIGKILL).unwrap();
                    killed += 1;
                }
            }
            std::thread::yield_now();
        }
        killed
    });
    let mut analyser = Analyser::new(exe, builtin().unwrap());
    let verdict = analyser.verdict(b"print(1)\n", "analysis");
    over.store(true, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(killer.join().unwrap(), 2, "one try, and one more");
    assert_eq!(verdict.verdict, VerdictKind::Unanalyzable);
    assert_eq!(verdict.findings[0].rule, "PARSE004");
    assert_eq!(
        verdict.findings[0].message,
        "two workers ended on this snippet, the last one by SIGKILL: the analyser gave no answer"
    );
    assert_eq!(analyser.worker_pid(), None);
}

fn pid_of(analyser: &Analyser) -> Pid {
    Pid::from_raw(i32::try_from(analyser.worker_pid().unwrap()).unwrap())
}

/// Waits for the process to end: on a busy machine a signal may arrive after the next request.
fn await_end(pid: Pid) {
    let alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat
            .rsplit_once(") ")
            .and_then(|(_, rest)| rest.chars().next());
        state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
    };
    while alive() {
        std::thread::yield_now();
    }
}

/// Asserts this verdict. On a busy machine the client may give up on a live worker; then asserts
/// that the finding says so.
fn assert_judged_or_late(verdict: &Verdict, kind: VerdictKind) {
    if gave_up(verdict) {
        let message = &verdict.findings[0].message;
        assert_eq!(message, "out of time: the analyser gave no answer");
    } else {
        assert_eq!(verdict.verdict, kind, "{verdict:?}");
    }
}

#[test]
fn the_worker_is_limited_in_memory_stack_and_everything_else() {
    let mut analyser = analyser();
    assert_eq!(ordinary(&mut analyser, "1"), VerdictKind::Clear);
    let pid = analyser.worker_pid().unwrap();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let field = |name: &str| {
        let line = status.lines().find(|l| l.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!(field("NoNewPrivs:"), "1");
    assert_eq!(field("Seccomp:"), "2");
    // Only root can read this file of another process.
    let Ok(limits) = std::fs::read_to_string(format!("/proc/{pid}/limits")) else {
        assert!(!nix::unistd::geteuid().is_root());
        return;
    };
    let limit = |name: &str| {
        let line = limits.lines().find(|l| l.starts_with(name)).unwrap();
        line[name.len()..]
            .split_whitespace()
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!(limit("Max file size"), "0");
    assert_eq!(limit("Max core file size"), "0");
    assert_eq!(limit("Max open files"), "3");
    // Its memory at the start, one stack of 128 MiB, and 256 MiB to work with.
    let memory: u64 = limit("Max address space").parse().unwrap();
    assert!(memory > 384 << 20, "{memory}");
    assert!(memory < 2 << 30, "{memory}");
    let used: u64 = field("VmPeak:").parse::<u64>().unwrap() * 1024;
    assert!(used <= memory, "{used} of {memory}");
    let threads = std::fs::read_dir(format!("/proc/{pid}/task"))
        .unwrap()
        .count();
    assert_eq!(threads, 2, "one thread waits and one works");
}

/// Stops the worker and returns once all its threads stand. One thread takes the signal and then
/// stops the others, which work on until it gets the processor.
fn stop(analyser: &Analyser) -> Pid {
    let pid = i32::try_from(analyser.worker_pid().unwrap()).unwrap();
    kill(Pid::from_raw(pid), Signal::SIGSTOP).unwrap();
    let stands = |task: std::io::Result<std::fs::DirEntry>| {
        let stat = std::fs::read_to_string(task.unwrap().path().join("stat")).unwrap();
        stat.rsplit_once(") ").unwrap().1.starts_with('T')
    };
    while !std::fs::read_dir(format!("/proc/{pid}/task"))
        .unwrap()
        .all(stands)
    {
        std::thread::yield_now();
    }
    Pid::from_raw(pid)
}

#[test]
fn a_stopped_worker_is_a_time_out_not_a_wait() {
    let mut analyser = analyser();
    assert_eq!(ordinary(&mut analyser, "1"), VerdictKind::Clear);
    stop(&analyser);
    assert_eq!(
        analyser
            .verdict(&vec![b'#'; 1024 * 1024], "analysis")
            .verdict,
        VerdictKind::Unanalyzable
    );
    assert_eq!(ordinary(&mut analyser, "3"), VerdictKind::Clear);
}

/// A worker's half second is processor time, not wall time.
#[test]
fn a_worker_that_does_not_get_the_processor_is_waited_for() {
    let mut analyser = analyser();
    // This thread too may have to wait for the processor.
    let waited_for = (0..10).any(|_| {
        assert_eq!(ordinary(&mut analyser, "1"), VerdictKind::Clear);
        let pid = stop(&analyser);
        let started = std::time::Instant::now();
        let waker = std::thread::spawn(move || {
            while started.elapsed().as_millis() < 800 {
                std::thread::yield_now();
            }
            let _ = kill(pid, Signal::SIGCONT);
        });
        let verdict = analyser.verdict(b"2", "analysis").verdict;
        let took = started.elapsed();
        waker.join().unwrap();
        assert!(took.as_millis() >= 800 || verdict == VerdictKind::Unanalyzable);
        verdict == VerdictKind::Clear
    });
    assert!(waited_for);
}

#[test]
fn a_verdict_without_a_working_analyser_is_unanalyzable() {
    for exe in ["/bin/true", "/bin/cat", "/nonexistent"] {
        let mut analyser = Analyser::new(PathBuf::from(exe), builtin().unwrap());
        let verdict = analyser.verdict(b"1", "analysis");
        assert_eq!(verdict.verdict, VerdictKind::Unanalyzable, "{exe}");
    }
    let verdict = analyser().verdict(b"1", "no such profile");
    assert_eq!(verdict.verdict, VerdictKind::Unanalyzable);
}
