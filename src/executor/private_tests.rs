//! Data sets marked private: their values do not come back, whatever the contract.

use std::collections::BTreeMap;

use serde_json::json;

use super::spec::RunSpec;
use super::test_bench::*;
use super::{DatasetSource, bind};
use crate::broker::StreamName;
use crate::model::{DataFormat, Sensitivity};

const TABLE: &str = "who,city,pay\nAnn Ferrer,Oslo,51234.5\nBo Lindqvist,Oslo,48010.25\n\
    Cy Nakamura,Oslo,60123.0\nDi Okonkwo,Oslo,47001.5\nEd Petrov,Oslo,52222.25\n";

fn run(profile_name: &str, sensitivity: Sensitivity, code: &str) -> Told {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pay.csv");
    std::fs::write(&path, TABLE).unwrap();
    let source = DatasetSource {
        path,
        format: DataFormat::Csv,
        sensitivity,
    };
    let sources = BTreeMap::from([("pay".to_owned(), source)]);
    let requests = serde_json::from_value(json!({"df": {"dataset": "pay"}})).unwrap();
    let inputs = bind(&requests, &sources).unwrap();
    let spec = RunSpec {
        env: pandas(),
        ..with_inputs(code, profile(profile_name), inputs)
    };
    begin(spec, sources).finish()
}

const CODE: &str = "print(df)\n\
    print(df['pay'].iloc[0], df['who'].tolist(), df['city'].unique().tolist())\n\
    print('mean', round(df['pay'].mean(), 1), 'rows', len(df))\n\
    for c in df['who'].iloc[0]: print(c, end='')\n\
    print()\ndf";

#[test]
fn a_private_data_sets_values_come_back_nowhere() {
    let told = run("analysis", Sensitivity::Private, CODE);
    let run_ = told.run();
    assert_eq!(run_.error, None, "{run_:?}");
    let all = format!(
        "{}{}{}{}",
        run_.stdout,
        run_.result,
        run_.stderr,
        told.streamed(StreamName::Stdout)
    );
    for value in ["Ferrer", "Lindqvist", "51234", "48010", "Nakamura", "52222"] {
        assert!(!all.contains(value), "{value} in {all}");
    }
    assert!(all.contains("[REDACTED]"), "{all}");
    // What all rows share is a category, and a number over them an aggregate.
    assert!(run_.stdout.contains("['Oslo']"), "{all}");
    assert!(run_.stdout.contains("mean 51718.3 rows 5"), "{all}");
    assert_eq!(run_.result["value"]["rows"][0][0], "[REDACTED]");
    assert_eq!(run_.result["value"]["rows"][0][2], "[REDACTED]");
    // The same data set, where it is public.
    let told = run("analysis", Sensitivity::Public, CODE);
    assert!(told.run().stdout.contains("Ann Ferrer"), "{:?}", told.run());
    assert_eq!(told.run().result["value"]["rows"][0][2], 51234.5);
}

#[test]
fn a_private_value_is_hidden_in_errors_too() {
    let told = run(
        "analysis",
        Sensitivity::Private,
        "raise ValueError(df['who'][0])",
    );
    let error = told.run().error.clone().unwrap();
    assert_eq!(error.message, "[REDACTED]");
    assert!(!told.run().stderr.contains("Ferrer"), "{:?}", told.run());
}

#[test]
fn columns_made_from_a_private_data_set_are_not_handed_back() {
    let told = run("feature", Sensitivity::Private, "df['n'] = df['pay'] * 1.0");
    let result = &told.run().result;
    assert_eq!(
        result["withheld"], "made from a private data set",
        "{result}"
    );
    assert!(result["arrow"].is_null());
    assert_eq!(result["columns"][0]["name"], "n");
}

#[test]
fn a_private_data_sets_chart_is_left_without_its_values() {
    let told = run(
        "chart",
        Sensitivity::Private,
        "rows = data['df']\n\
         result = {'chart': {'data': [{'type': 'bar', 'x': [r['who'] for r in rows],\n\
          'y': [r['pay'] for r in rows]}], 'layout': {'title': rows[0]['who']}}}",
    );
    let run = told.run();
    assert_eq!(run.error, None, "{run:?}");
    assert_eq!(run.artifacts.len(), 2);
    let json = String::from_utf8_lossy(&told.left()[0].bytes);
    assert!(json.contains("[REDACTED]"), "{json}");
    assert!(
        !json.contains("Ferrer") && !json.contains("51234"),
        "{json}"
    );
    // The picture is drawn of the same: bars without a size have no colour.
    let bare = crate::chart::draw(&serde_json::from_str(&json).unwrap()).unwrap();
    assert_eq!(*told.left()[1].bytes, bare[..]);
}

#[test]
fn d2_a_private_data_set_is_in_the_private_scope() {
    let told = run(
        "scoped",
        Sensitivity::Private,
        "t = private.df\nprint(len(t), 'df' in system.inputs)\nprint(t.to_csv())",
    );
    let run = told.run();
    assert!(run.stdout.starts_with("5 False\n"), "{run:?}");
    assert!(
        !run.stdout.contains("Ferrer") && !run.stdout.contains("51234"),
        "{run:?}"
    );
}
