//! Counting a private data set takes time before its run is held; a kill ends that too.

use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::Arc;

use serde_json::json;

use crate::broker::ExecNote;
use crate::executor::DatasetSource;
use crate::executor::Sources;
use crate::executor::bind;
use crate::executor::bind_with;
use crate::executor::control::Switch;
use crate::executor::run::drive;
use crate::executor::spec::RunSpec;
use crate::executor::tests::bench::*;
use crate::executor::warm::Pool;
use crate::model::{DataFormat, Exit, RunErrorKind, Sensitivity, Tier};

/// Two private data sets: one is counted at once, the other takes seconds because of its many
/// values.
struct TwoDatasets {
    _folder: tempfile::TempDir,
    datasets: BTreeMap<String, DatasetSource>,
}

impl TwoDatasets {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let many = format!("[{}1]", "1,".repeat(5_000_000));
        let files = [
            ("a", DataFormat::Csv, "n\n1\n"),
            ("b", DataFormat::Json, many.as_str()),
        ];
        let datasets = files.into_iter().map(|(name, format, text)| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            let source = DatasetSource {
                path,
                format,
                sensitivity: Sensitivity::Private,
            };
            (name.to_owned(), source)
        });
        Self {
            datasets: datasets.collect(),
            _folder: folder,
        }
    }

    fn run(&self, tier: Tier) -> (RunSpec, Arc<Sources>) {
        let sources = converting(self.datasets.clone(), tier);
        let requests = json!({"a": {"dataset": "a"}, "b": {"dataset": "b"}});
        let inputs = bind_with(&serde_json::from_value(requests).unwrap(), &sources).unwrap();
        let mut policy = profile("analysis");
        policy.tier = tier;
        let spec = RunSpec {
            env: pandas(),
            ..with_inputs("print(len(b))", policy, inputs)
        };
        (spec, sources)
    }
}

/// Checks that the run ended like one killed before its release, with no other report.
fn assert_cancelled(outcome: &Outcome) {
    let run = outcome.run();
    assert_eq!(outcome.notes.len(), 1, "{outcome:?}");
    assert_eq!(run.error.as_ref().unwrap().kind, RunErrorKind::Cancelled);
    assert_eq!(run.exit, Exit::Signal("SIGKILL".to_owned()));
    assert_eq!(run.stdout, "");
}

#[test]
fn a_kill_ends_the_counting_of_a_private_data_set() {
    let datasets = TwoDatasets::new();
    for (tier, warm) in [
        (Tier::Process, false),
        (Tier::Kernel, false),
        (Tier::Kernel, true),
    ] {
        if !available(tier) {
            continue;
        }
        let (spec, sources) = datasets.run(tier);
        let pool = warm.then(|| Arc::new(Pool::new(exe())));
        if let Some(pool) = &pool {
            assert!(pool.await_slot(&spec), "no slot for the run");
        }
        let live = begin_all(exe(), pool, spec, sources.clone());
        while sources.converters.counted() == 0 {
            std::thread::yield_now();
        }
        live.control.kill();
        assert_cancelled(&live.finish());
        assert_eq!(sources.converters.counted(), 1, "{tier} {warm}");
    }
}

/// The switch is thrown before the run's thread checks it for the first time.
#[test]
fn a_kill_before_the_counting_prevents_it() {
    let datasets = TwoDatasets::new();
    for tier in [Tier::Process, Tier::Kernel] {
        if !available(tier) {
            continue;
        }
        let (spec, sources) = datasets.run(tier);
        let switch = Switch::new();
        switch.throw_kill();
        let unexpected = |note| panic!("a note of a run that never began: {note:?}");
        let last = drive::drive(&spec, exe().as_fd(), None, &sources, &switch, &unexpected);
        assert_cancelled(&Outcome { notes: vec![last] });
        assert_eq!(sources.converters.counted(), 0, "{tier}");
    }
}

/// Released before the counting, as a certifying child is; the counting must still complete.
#[test]
fn a_release_during_the_counting_is_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    std::fs::write(&path, "n\n1\n2\n").unwrap();
    let source = DatasetSource {
        path,
        format: DataFormat::Csv,
        sensitivity: Sensitivity::Private,
    };
    let datasets = BTreeMap::from([("a".to_owned(), source)]);
    let requests = serde_json::from_value(json!({"a": {"dataset": "a"}})).unwrap();
    let inputs = bind(&requests, &datasets).unwrap();
    let spec = RunSpec {
        env: pandas(),
        ..with_inputs("print(len(a))", profile("analysis"), inputs)
    };
    let sources = converting(datasets, Tier::Process);
    let live = begin_with(spec, sources.clone());
    live.control.release();
    assert!(matches!(live.next(), ExecNote::Prepared(_)));
    assert_eq!(sources.converters.counted(), 1);
    assert_eq!(live.finish().run().stdout, "2\n");
}

/// No Python is available yet for the counting.
#[test]
fn a_kill_ends_the_waiting_for_a_python_too() {
    let datasets = TwoDatasets::new();
    let (spec, _) = datasets.run(Tier::Process);
    let live = begin_with(spec, Arc::new(sources(datasets.datasets.clone())));
    live.control.kill();
    assert_cancelled(&live.finish());
}
