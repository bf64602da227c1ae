//! How the end of a run is reported, for facts that the tests construct.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::executor::fault::{Fault, Why};
use crate::executor::report::Claim;
use crate::executor::run::collect::Collected;
use crate::executor::run::ending::{Facts, run};
use crate::executor::run::output::{Captured, Redactor};
use crate::model::{Isolation, LimitKind, Limits, Run, RunErrorKind, Tier, Timing};
use crate::policy::Contract;
use crate::sandbox::protocol::{EndedBy, Ending, Lost, OutOfMemory};

/// A run with output, this end, and a claim of the child.
fn outcome(ending: Ending, collected: Collected) -> Run {
    run(Facts {
        ending,
        held_kib: 0,
        mapped: false,
        cancelled: false,
        claim: Ok(Claim {
            error: None,
            limit: None,
            errno: None,
            result: Value::from("claimed"),
            manifest: None,
            figures_unkept: 0,
        }),
        stopped: None,
        events: Vec::new(),
        accesses: BTreeMap::new(),
        stdout: Captured {
            text: "printed\n".to_owned(),
            bytes: 8,
            truncated: false,
        },
        stderr: Captured {
            text: String::new(),
            bytes: 0,
            truncated: false,
        },
        duration_ms: 1,
        timing: Timing {
            grant_to_start: 1,
            grant_to_first_output: None,
            grant_to_exit: 2,
        },
        isolation: Isolation {
            tier: Tier::Kernel,
            layers: Vec::new(),
        },
        limits: &Limits {
            cpu_s: 10,
            ..Limits::default()
        },
        contract: Contract::Script,
        paths: &Redactor::default(),
        collected,
    })
}

const BY_ITSELF: Ending = Ending {
    status: 0,
    by: EndedBy::Itself,
    cpu_us: 0,
    peak_kib: 0,
    out_of_memory: None,
    lost: Lost { cpu: 0, files: 0 },
    clean: true,
};

fn error(run: &Run) -> (RunErrorKind, &str) {
    let error = run.error.as_ref().unwrap();
    (error.kind, &error.message)
}

#[test]
fn a_run_with_surviving_processes_did_not_succeed() {
    assert_eq!(outcome(BY_ITSELF, Collected::default()).error, None);
    let ending = Ending {
        clean: false,
        ..BY_ITSELF
    };
    let run = outcome(ending, Collected::default());
    let (kind, message) = error(&run);
    assert_eq!(kind, RunErrorKind::SandboxError);
    assert!(message.contains("could be ended"), "{message}");
    assert_eq!(
        (run.result, run.stdout.as_str()),
        (Value::Null, "printed\n")
    );
}

#[test]
fn a_run_with_an_unreadable_folder_is_reported_with_its_output() {
    let fault = Fault::new(Why::FolderUnread, "detail");
    let run = outcome(BY_ITSELF, Collected::unread(fault));
    let expected = "the run's folder could not be read";
    assert_eq!(error(&run), (RunErrorKind::SandboxError, expected));
    assert_eq!(run.stdout, "printed\n");
}

/// SIGXCPU is 24.
#[test]
fn the_signal_of_a_limit_counts_only_if_the_time_was_used() {
    let signalled = |cpu_us| {
        let ending = Ending {
            status: 24,
            cpu_us,
            ..BY_ITSELF
        };
        outcome(ending, Collected::default())
    };
    for cpu_us in [9_000, 4_900_000] {
        let run = signalled(cpu_us);
        let expected = "the child was ended by SIGXCPU";
        assert_eq!(error(&run), (RunErrorKind::SandboxError, expected));
        assert_eq!(run.limit, None);
    }
    for (cpu_us, said) in [(9_700_000, "used 9.7 s"), (10_400_000, "used 10.4 s")] {
        let run = signalled(cpu_us);
        assert_eq!(run.limit, Some(LimitKind::Cpu));
        let (kind, message) = error(&run);
        assert_eq!(kind, RunErrorKind::Timeout);
        assert!(message.starts_with(said), "{message}");
    }
}

/// Holds for every end of the first process and every claim.
#[test]
fn a_run_that_lost_a_process_to_a_limit_reports_it() {
    let run_with = |out_of_memory, lost, status| {
        let ending = Ending {
            status,
            out_of_memory,
            lost,
            ..BY_ITSELF
        };
        outcome(ending, Collected::default())
    };
    let met = OutOfMemory {
        peak: 900 << 20,
        killed: 3,
    };
    // Exit code 0, exit code 1, and SIGKILL.
    for status in [0, 1 << 8, 9] {
        let run = run_with(Some(met), Lost::default(), status);
        assert_eq!(run.limit, Some(LimitKind::Memory));
        let (kind, message) = error(&run);
        assert_eq!(kind, RunErrorKind::MemoryLimit);
        assert!(message.contains("at 900 MB"), "{message}");
        assert!(
            message.contains("the kernel ended 3 processes"),
            "{message}"
        );
    }
    let lost = |cpu, files| Lost { cpu, files };
    for (lost, limit, kind, said) in [
        (
            lost(1, 0),
            LimitKind::Cpu,
            RunErrorKind::Timeout,
            "1 process of the run",
        ),
        (
            lost(0, 2),
            LimitKind::Files,
            RunErrorKind::SnippetError,
            "2 processes of the run",
        ),
    ] {
        let run = run_with(None, lost, 0);
        assert_eq!((run.limit, error(&run).0), (Some(limit), kind));
        assert!(error(&run).1.contains(said), "{:?}", run.error);
    }
    assert_eq!(run_with(None, Lost::default(), 0).limit, None);
}

/// SIGXCPU is 24, SIGXFSZ 25.
#[test]
fn an_orphan_counts_as_lost_only_where_the_signal_is_a_limits() {
    let mut lost = Lost::default();
    let seconds = std::time::Duration::from_secs;
    for (status, used) in [(24, 4), (25, 0), (9, 20), (0, 20), (24 << 8, 20), (24, 9)] {
        lost.count(status, seconds(used), 10);
    }
    assert_eq!(lost, Lost { cpu: 1, files: 1 });
}
