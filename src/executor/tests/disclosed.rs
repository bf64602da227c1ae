//! Private data sets under a policy that discloses their values, and under one that hides them.

use std::sync::Arc;

use serde_json::json;

use crate::executor::Sources;
use crate::executor::bind_with;
use crate::executor::spec::RunSpec;
use crate::executor::tests::bench::*;
use crate::executor::warm::Pool;
use crate::model::{Sensitivity, StreamName, Tier};
use crate::policy::{Policy, PrivateValues};

const TABLE: &str = "who,city,pay\nAnn Ferrer,Oslo,51234.5\nBo Lindqvist,Oslo,48010.25\n\
    Cy Nakamura,Oslo,60123.0\nDi Okonkwo,Oslo,47001.5\nEd Petrov,Oslo,52222.25\n";

/// How a run starts.
#[derive(Clone, Copy, Debug)]
struct Start {
    tier: Tier,
    warm: bool,
}

const COLD: Start = Start {
    tier: Tier::Process,
    warm: false,
};

const STARTS: [Start; 3] = [
    COLD,
    Start {
        tier: Tier::Kernel,
        warm: false,
    },
    Start {
        tier: Tier::Kernel,
        warm: true,
    },
];

/// A run over the private table, and the sources it used.
fn run(start: Start, name: &str, private: PrivateValues, code: &str) -> (Outcome, Arc<Sources>) {
    let folder = tempfile::tempdir().unwrap();
    let datasets = csv_dataset(folder.path(), "pay", TABLE, Sensitivity::Private);
    let sources = converting(datasets, start.tier);
    let requests = serde_json::from_value(json!({"df": {"dataset": "pay"}})).unwrap();
    let inputs = bind_with(&requests, &sources).unwrap();
    let policy = Policy {
        private,
        tier: start.tier,
        ..profile(name)
    };
    let spec = RunSpec {
        env: pandas(),
        ..with_inputs(code, policy, inputs)
    };
    let pool = start.warm.then(|| Arc::new(Pool::new(exe())));
    if let Some(pool) = &pool {
        assert!(pool.await_slot(&spec), "no slot for the run");
    }
    let live = begin_all(exe(), pool.clone(), spec.clone(), sources.clone());
    let outcome = live.finish();
    assert_eq!(
        pool.map_or(0, |pool| pool.runs(&spec)),
        u32::from(start.warm)
    );
    (outcome, sources)
}

#[test]
fn values_are_returned_only_where_the_policy_discloses_them() {
    let code = "import matplotlib.pyplot as plt\n\
        print(df['who'].iloc[0], df['pay'].sum())\n\
        df.to_csv('out.csv')\n\
        plt.plot(df['pay'])\nplt.show()\ndf";
    for start in STARTS.into_iter().filter(|start| available(start.tier)) {
        let (outcome, sources) = run(start, "analysis", PrivateValues::Tell, code);
        let finished = outcome.run();
        assert_eq!(finished.error, None, "{start:?} {finished:?}");
        assert_eq!(finished.stdout.lines().next(), Some("Ann Ferrer 258591.5"));
        assert!(outcome.streamed(StreamName::Stdout).contains("Ann Ferrer"));
        assert_eq!(finished.result["value"]["rows"][0][2], 51234.5, "{start:?}");
        let names: Vec<_> = finished.artifacts.iter().map(|a| a.name.as_str()).collect();
        assert_eq!(names, ["fig1.png", "out.csv"], "{start:?}");
        let csv = String::from_utf8_lossy(&outcome.left()[1].bytes);
        assert!(csv.contains("Bo Lindqvist"), "{start:?} {csv}");
        assert_eq!(sources.converters.counted(), 0, "no data set was counted");

        let (outcome, sources) = run(start, "analysis", PrivateValues::Hide, code);
        let finished = outcome.run();
        assert_eq!(finished.error, None, "{start:?} {finished:?}");
        assert_eq!(finished.stdout.lines().next(), Some("[REDACTED] 258591.5"));
        assert_eq!(finished.result["value"]["rows"][0][2], "[REDACTED]");
        assert!(finished.artifacts.is_empty() && outcome.left().is_empty());
        assert_eq!(finished.artifacts_left_out, 2, "{start:?}");
        assert_eq!(
            finished.notes_on_files(),
            ["2 files were thrown away: files of runs on private data are."]
        );
        assert_eq!(sources.converters.counted(), 1);
    }
}

#[test]
fn names_of_files_are_withheld_with_the_files_however_many_there_are() {
    // More files than are kept, each named after a person.
    let code = "for n, who in enumerate(df['who']):\n    for copy in range(9):\n        \
                open(f\"{who.replace(' ', '.')}-{n}-{copy}.txt\", 'w').close()\n";
    for start in STARTS.into_iter().filter(|start| available(start.tier)) {
        let (outcome, _) = run(start, "analysis", PrivateValues::Hide, code);
        let run = outcome.run();
        assert!(run.artifacts.is_empty() && outcome.left().is_empty());
        assert!(run.artifacts_unkept.is_empty(), "{start:?}");
        assert!(run.artifacts_withheld > 20, "{start:?} {run:?}");
        assert!(!format!("{run:?}").contains("Ferrer"), "{start:?}");
    }
}

/// Values that contain private data, in every form that is returned as JSON.
const FORMS: &[&str] = &[
    "df.set_index('who')['pay']",
    "df['pay'].max()",
    "df['who'].tolist()",
    "dict(zip(df['who'], df['pay']))",
    "{('x', who): {pay} for who, pay in zip(df['who'], df['pay'])}",
    "df.pivot_table(index='city', columns='who', values='pay')",
    "df.to_numpy()",
    "df.assign(note=[' ' * 990 + who for who in df['who']])",
    "' ' * 9990 + df['who'].iloc[0]",
];

#[test]
fn private_data_is_returned_in_no_form_of_a_value() {
    let all_forms = format!("[{}]", FORMS.join(", "));
    for start in STARTS.into_iter().filter(|start| available(start.tier)) {
        // The last one exceeds the output limit of a run.
        for value in ["df", all_forms.as_str(), "[df['who'].iloc[0]] * 20000"] {
            let (outcome, _) = run(start, "analysis", PrivateValues::Hide, value);
            let finished = outcome.run();
            let all = format!("{}{}{:?}", finished.stdout, finished.result, finished.error);
            assert!(all.contains("[REDACTED]"), "{start:?} {value}");
            for hidden in ["Ann", "Ferr", "Lindq", "51234", "48010", "60123"] {
                assert!(!all.contains(hidden), "{start:?} {value}: {hidden}");
            }
        }
    }
}

/// Code that fails, and the name that may be suggested for the missing one.
const MEANT: &[(&str, Option<&str>)] = &[
    ("df['pai']", Some("pay")),
    ("by = {'Oslo': 1, 'Bergen': 2}\nby['Olso']", None),
    ("df.Pay", Some("pay")),
    // A table whose columns are values: none is named.
    (
        "wide = df.pivot_table(columns='city', values='pay')\nwide['a place of no such name']",
        None,
    ),
    ("df['pay'].meen()", Some("mean")),
    (
        "wide = df.pivot_table(columns='city', values='pay')\nwide['Olso']",
        None,
    ),
    ("df.set_index('city').loc['Olso']", None),
    ("df['city'].value_counts()['Olso']", None),
    (
        "class Box: pass\nbox = Box()\nsetattr(box, df['city'].iloc[0], 1)\nbox.Olso",
        None,
    ),
];

#[test]
fn a_hint_names_known_columns_and_no_value() {
    for start in STARTS.into_iter().filter(|start| available(start.tier)) {
        // The tier does not affect most of them.
        let rows = if start.tier == COLD.tier {
            MEANT.len()
        } else {
            2
        };
        for (code, meant) in &MEANT[..rows] {
            let (outcome, _) = run(start, "analysis", PrivateValues::Hide, code);
            let run = outcome.run();
            let message = &run.error.as_ref().unwrap().message;
            let hint = meant.map(|name| format!("; did you mean `{name}`?"));
            let all = format!("{message}{}", run.stderr);
            assert!(
                message.ends_with(hint.as_deref().unwrap_or_default()),
                "{code}: {message}"
            );
            assert_eq!(
                all.contains("did you mean"),
                hint.is_some(),
                "{code}: {all}"
            );
            assert!(!all.contains("Oslo"), "{start:?} {code}: {all}");
        }
    }
}

#[test]
fn columns_charts_and_errors_follow_the_policy_too() {
    let (outcome, _) = run(
        COLD,
        "feature",
        PrivateValues::Tell,
        "df['n'] = df['pay'] * 2",
    );
    let finished = outcome.run();
    assert_eq!(finished.error, None, "{finished:?}");
    assert!(finished.result.get("withheld").is_none() && finished.result["arrow"].is_string());
    assert_eq!(finished.artifacts[0].name, "columns.arrow");

    let code =
        "result = {'chart': {'data': [{'type': 'bar', 'y': [r['pay'] for r in data['df']]}]}}";
    let (outcome, _) = run(COLD, "chart", PrivateValues::Tell, code);
    let finished = outcome.run();
    assert_eq!(
        finished.result["chart"]["data"][0]["y"][0], 51234.5,
        "{finished:?}"
    );
    let json = String::from_utf8_lossy(&outcome.left()[0].bytes);
    assert!(json.contains("51234.5"), "{json}");

    let code = "raise ValueError(df['who'].iloc[0])";
    let (outcome, _) = run(COLD, "analysis", PrivateValues::Tell, code);
    let error = outcome.run().error.clone().unwrap();
    assert_eq!(error.message, "Ann Ferrer");
}

#[test]
fn values_in_the_scope_private_leave_no_run_under_any_policy() {
    let code = "t = private.df\nprint(len(t))\nprint(t.to_csv())\nlog(t['who'].iloc[0])";
    for private in [PrivateValues::Hide, PrivateValues::Tell] {
        let (outcome, sources) = run(COLD, "scoped", private, code);
        let run = outcome.run();
        assert_eq!(run.error, None, "{run:?}");
        let all = format!("{}{}{}", run.stdout, run.stderr, run.result);
        assert!(run.stdout.starts_with("5\n"), "{all}");
        for value in ["Ferrer", "Lindqvist", "51234", "48010"] {
            assert!(!all.contains(value), "{value} in {all}");
        }
        // The broker checks too, because the child's report is a claim.
        assert_eq!(sources.converters.counted(), 1, "{private:?}");
    }
}
