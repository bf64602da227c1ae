//! Data sets: described and converted in a jail, mapped by their runs, the same as if read there.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::TIER;
use crate::executor::test_bench::*;
use crate::executor::{DatasetSource, Sources, bind_with, describe};
use crate::model::{BoundInput, DataFormat, InputKind, InputRequest};
use crate::policy::Policy;

const CSV: &str =
    "region,n,rate,ok,gap,note\nN,1,0.5,True,1,a\nS,2,1.0,False,,\"b\nc\"\nS,3,,True,,\n";

fn data(folder: &Path, files: &[(&str, &[u8])]) -> BTreeMap<String, DatasetSource> {
    files
        .iter()
        .map(|(file, bytes)| {
            let (name, extension) = file.split_once('.').unwrap();
            let path = folder.join(file);
            std::fs::write(&path, bytes).unwrap();
            let mut known = DataFormat::DATASETS.into_iter();
            let source = DatasetSource {
                path,
                format: known.find(|f| f.as_str() == extension).unwrap(),
                sensitivity: Default::default(),
            };
            (name.to_owned(), source)
        })
        .collect()
}

/// A parquet file as pandas writes it.
fn parquet(code: &str) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    let code =
        format!("import sys\nimport pandas as pd, numpy as np\n{code}\ndf.to_parquet(sys.argv[1])");
    let env = pandas();
    let path_of = std::env::join_paths(&env.sys_path).unwrap();
    let status = Command::new(&env.executable)
        .env("PYTHONPATH", path_of)
        .args(["-c", &code])
        .arg(&path)
        .status()
        .unwrap();
    assert!(status.success());
    std::fs::read(path).unwrap()
}

fn ask(names: &[&str]) -> BTreeMap<String, InputRequest> {
    names
        .iter()
        .map(|name| {
            let request = serde_json::from_value(json!({"dataset": name})).unwrap();
            ((*name).to_owned(), request)
        })
        .collect()
}

fn run(code: &str, inputs: Vec<BoundInput>, sources: &std::sync::Arc<Sources>) -> Told {
    let mut policy = policy(TIER);
    policy.limits.memory_mb = 1024;
    let mut spec = with_inputs(code, Policy { ..policy }, inputs);
    spec.env = pandas();
    begin_with(spec, sources.clone()).finish()
}

#[test]
fn every_format_is_described_as_pandas_reads_it() {
    let dir = tempfile::tempdir().unwrap();
    let table = parquet("df = pd.DataFrame({'a': [1, 2], 't': pd.to_datetime(['2020', None])})");
    let sources = converting(
        data(
            dir.path(),
            &[
                ("sales.csv", CSV.as_bytes()),
                ("tabs.tsv", b"a\tb\n1\tx\n"),
                ("one.json", b"{\"a\": 1, \"b\": [1]}"),
                ("many.jsonl", b"{\"a\": 1}\n{\"a\": null, \"c\": true}\n"),
                ("table.parquet", &table),
            ],
        ),
        TIER,
    );
    let told: BTreeMap<_, _> = describe(&sources)
        .into_iter()
        .map(|d| {
            let columns: Vec<_> = d
                .columns
                .iter()
                .map(|c| format!("{} {}", c.name, c.dtype))
                .collect();
            (d.name, (d.rows, columns.join(", ")))
        })
        .collect();
    let of = |name: &str| (told[name].0, told[name].1.as_str());
    assert_eq!(
        of("sales"),
        (
            3,
            "region object, n int64, rate float64, ok bool, gap float64, note object"
        )
    );
    assert_eq!(of("tabs"), (1, "a int64, b object"));
    assert_eq!(of("one"), (1, "a int64, b object"));
    assert_eq!(of("many"), (2, "a float64, c bool"));
    assert_eq!(of("table"), (2, "a int64, t datetime64[ns]"));
}

/// What pandas makes of a file, in words that show every difference.
const SHOWN: &str = "def show(df):\n\
    \x20   print(dict(df.dtypes.astype(str)), df.index)\n\
    \x20   print([[('None' if v is None else type(v).__name__, str(v)) for v in row] for row in df.itertuples(index=False, name=None)])\n";

#[test]
fn a_table_that_is_handed_over_is_the_table_that_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let table = parquet(
        "df = pd.DataFrame({'a': [1, 2], 'f': [0.5, np.nan], 's': ['x', None], \
         't': pd.to_datetime(['2020', None]), 'c': pd.Categorical(['u', 'v'])}, index=['p', 'q'])",
    );
    let files: &[(&str, &[u8])] = &[("sales.csv", CSV.as_bytes()), ("table.parquet", &table)];
    let sources = converting(data(dir.path(), files), TIER);
    let inputs = bind_with(&ask(&["sales", "table"]), &sources).unwrap();
    let code = format!("{SHOWN}show(sales)\nshow(table)");
    let handed = run(&code, inputs.clone(), &sources);
    assert_eq!(handed.run().error, None, "{:?}", handed.run());
    // The same files under other paths: nothing of them was converted.
    let other = tempfile::tempdir().unwrap();
    let unread = std::sync::Arc::new(self::sources(data(other.path(), files)));
    let read = run(&code, inputs, &unread);
    assert_eq!(handed.run().stdout, read.run().stdout);
    assert!(handed.run().stdout.contains("('float', 'nan')"));
}

#[test]
fn a_frame_can_be_changed_and_the_next_run_sees_it_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let sources = converting(data(dir.path(), &[("sales.csv", CSV.as_bytes())]), TIER);
    let inputs = bind_with(&ask(&["sales"]), &sources).unwrap();
    let code = "print(sales['n'].tolist(), sales['rate'].sum())\n\
         sales.loc[0, 'n'] = 99\nsales['n'] += 1\nsales['n'].to_numpy()[1] = 7\n\
         sales.iloc[2, 1] = 5\nsales['rate'] *= 2\nsales['region'] = sales['region'].str.lower()\n\
         sales.sort_values('n', inplace=True)\nsales['new'] = 1\n\
         sales.dropna(inplace=True)\nprint(len(sales))";
    for _ in 0..2 {
        let told = run(code, inputs.clone(), &sources);
        assert_eq!(told.run().error, None, "{:?}", told.run());
        assert_eq!(told.run().stdout, "[1, 2, 3] 1.5\n1\n");
    }
}

#[test]
fn what_cannot_be_read_is_an_error_before_anything_runs() {
    let dir = tempfile::tempdir().unwrap();
    let sources = converting(
        data(
            dir.path(),
            &[
                ("ragged.csv", b"a,b\n1,2\n1,2,3\n"),
                ("empty.csv", b""),
                ("bytes.csv", b"a\n\xff\xfe\n"),
                ("cut.json", b"{\"a\": "),
                ("lines.jsonl", b"{}\nno\n"),
                ("garbage.parquet", b"PAR1 and no more PAR1"),
            ],
        ),
        TIER,
    );
    for (name, said) in [
        ("ragged", "is no csv: "),
        ("empty", "is no csv: "),
        ("bytes", "is no csv: "),
        ("cut", "is no json: "),
        ("lines", "is no jsonl: "),
        ("garbage", "is no parquet: "),
    ] {
        let error = bind_with(&ask(&[name]), &sources).unwrap_err();
        let start = format!("data set `{name}` cannot be read: it {said}");
        assert!(error.starts_with(&start), "{error}");
        assert!(!error.contains('/'), "{error}");
    }
    assert_eq!(describe(&sources).len(), 0);
}

#[test]
fn a_data_set_that_changed_after_its_conversion_ends_the_run_before_it_starts() {
    let dir = tempfile::tempdir().unwrap();
    let sources = converting(data(dir.path(), &[("sales.csv", CSV.as_bytes())]), TIER);
    let inputs = bind_with(&ask(&["sales"]), &sources).unwrap();
    let InputKind::Dataset { rows, .. } = &inputs[0].kind else {
        panic!("{inputs:?}");
    };
    assert_eq!(*rows, 3);
    std::fs::write(dir.path().join("sales.csv"), CSV.replace('N', "M")).unwrap();
    let told = run("print('ran')", inputs, &sources);
    assert!(told.failure().contains("changed since it was shown"));
}
