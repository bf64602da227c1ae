//! What an outcome says of an end, from facts that are put together here.

use serde_json::Value;

use super::collect::Collected;
use super::ending::{Facts, run};
use super::handover::{EndedBy, Ending};
use super::output::{Captured, Redactor};
use super::report::Claim;
use super::spec::Fault;
use crate::model::{Isolation, LimitKind, Limits, Run, RunErrorKind, Tier, Timing};
use crate::policy::Contract;

/// A run that printed something, with this end, and what its child claims.
fn told(ending: Ending, collected: Collected) -> Run {
    run(Facts {
        ending,
        held_kib: 0,
        mapped: false,
        cancelled: false,
        claim: Ok(Claim {
            error: None,
            limit: None,
            result: Value::from("claimed"),
            manifest: None,
        }),
        stopped: None,
        events: Vec::new(),
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
    clean: true,
};

fn error(run: &Run) -> (RunErrorKind, &str) {
    let error = run.error.as_ref().unwrap();
    (error.kind, &error.message)
}

#[test]
fn a_run_of_which_something_is_left_did_not_succeed() {
    assert_eq!(told(BY_ITSELF, Collected::default()).error, None);
    let ending = Ending {
        clean: false,
        ..BY_ITSELF
    };
    let run = told(ending, Collected::default());
    let (kind, message) = error(&run);
    assert_eq!(kind, RunErrorKind::SandboxError);
    assert!(message.contains("could be ended"), "{message}");
    assert_eq!(
        (run.result, run.stdout.as_str()),
        (Value::Null, "printed\n")
    );
}

#[test]
fn a_run_whose_folder_cannot_be_read_is_told_with_what_it_printed() {
    let fault = Fault::new("the run's folder could not be read", "detail");
    let run = told(BY_ITSELF, Collected::unread(fault));
    let want = "the run's folder could not be read";
    assert_eq!(error(&run), (RunErrorKind::SandboxError, want));
    assert_eq!(run.stdout, "printed\n");
}

/// SIGXCPU is 24.
#[test]
fn the_signal_of_a_limit_is_one_only_where_the_time_was_used() {
    let signalled = |cpu_us| {
        let ending = Ending {
            status: 24,
            cpu_us,
            ..BY_ITSELF
        };
        told(ending, Collected::default())
    };
    for cpu_us in [9_000, 4_900_000] {
        let run = signalled(cpu_us);
        let want = "the child was ended by SIGXCPU";
        assert_eq!(error(&run), (RunErrorKind::SandboxError, want));
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
