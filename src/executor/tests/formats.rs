//! Every profile with a data set of every format, public and private, through real children.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

use crate::executor::DatasetSource;
use crate::executor::bind_with;
use crate::executor::spec::RunSpec;
use crate::executor::tests::bench::*;
use crate::executor::warm::Pool;
use crate::model::{DataFormat, RunErrorKind, Sensitivity, Tier};
use crate::policy::Policy;

/// Code that reads the rows of the data set in each profile.
const PROFILES: &[(&str, &str)] = &[
    ("analysis", "print(len(df))"),
    ("chart", "print(len(data['df']))"),
    ("feature", "df['n'] = df['pay'] * 2.0"),
    (
        "scoped",
        "print(len(system.inputs['df'] if 'df' in system.inputs else private.df))",
    ),
    ("script", "print(len(df))"),
    ("walled", "print(len(df))"),
];

#[test]
fn each_profile_accepts_each_format_or_says_which_it_does_not_accept() {
    let json = "[{\"who\": \"Ann\", \"pay\": 1.5}, {\"who\": \"Bo\", \"pay\": 2.5}]";
    let jsonl = "{\"who\": \"Ann\", \"pay\": 1.5}\n{\"who\": \"Bo\", \"pay\": 2.5}\n";
    let formats = [
        (DataFormat::Csv, b"who,pay\nAnn,1.5\nBo,2.5\n".to_vec()),
        (DataFormat::Tsv, b"who\tpay\nAnn\t1.5\nBo\t2.5\n".to_vec()),
        (DataFormat::Json, json.into()),
        (DataFormat::Jsonl, jsonl.into()),
        (
            DataFormat::Parquet,
            parquet("df = pd.DataFrame({'who': ['Ann', 'Bo'], 'pay': [1.5, 2.5]})"),
        ),
    ];
    // Warm where that is possible: most of a cold run's time is its start.
    let tier = match available(Tier::Kernel) {
        true => Tier::Kernel,
        false => Tier::Process,
    };
    let pools: BTreeMap<&str, Arc<Pool>> = PROFILES
        .iter()
        .filter(|_| tier == Tier::Kernel)
        .map(|(name, _)| (*name, Arc::new(Pool::new(exe()))))
        .collect();
    let mut failures = Vec::new();
    for (format, content) in &formats {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pay");
        std::fs::write(&path, content).unwrap();
        for sensitivity in [Sensitivity::Public, Sensitivity::Private] {
            let source = DatasetSource {
                path: path.clone(),
                format: *format,
                sensitivity,
            };
            let sources = converting(BTreeMap::from([("pay".to_owned(), source)]), tier);
            let requests = serde_json::from_value(json!({"df": {"dataset": "pay"}})).unwrap();
            let inputs = bind_with(&requests, &sources).unwrap();
            for (name, code) in PROFILES {
                let policy = Policy {
                    tier,
                    ..profile(name)
                };
                let spec = RunSpec {
                    env: pandas(),
                    ..with_inputs(code, policy, inputs.clone())
                };
                let pool = pools.get(name).cloned();
                if let Some(pool) = &pool {
                    pool.await_slot(&spec);
                }
                let outcome = begin_all(exe(), pool, spec, sources.clone()).finish();
                let run = outcome.run();
                let fits = match &run.error {
                    None => *name == "feature" || run.stdout == "2\n",
                    Some(error) => {
                        // The only binary format here, in the profile without a library that reads
                        // it.
                        (*name, *format) == ("walled", DataFormat::Parquet)
                            && error.kind == RunErrorKind::ContractViolation
                            && error.message.contains(format.as_str())
                    }
                };
                if !fits {
                    let error = run.error.as_ref().map(|error| (error.kind, &error.message));
                    failures.push(format!(
                        "{name} {format:?} {sensitivity:?}: {error:?} {:?}",
                        run.stdout
                    ));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
