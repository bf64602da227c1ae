//! Data sets are described and converted in a jail and mapped by their runs, with the same result
//! as reading them there.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::json;

use super::TIER;
use crate::executor::data::datasets::{frame_of, frame_with};
use crate::executor::tests::bench::*;
use crate::executor::{DatasetSource, Sources, bind_with, describe};
use crate::model::{BoundInput, DataFormat, InputKind, InputRequest};
use crate::policy::Policy;

const CSV: &str =
    "region,n,rate,ok,gap,note\nN,1,0.5,True,1,a\nS,2,1.0,False,,\"b\nc\"\nS,3,,True,,\n";

fn datasets_of(folder: &Path, files: &[(&str, &[u8])]) -> BTreeMap<String, DatasetSource> {
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

fn requests_for(names: &[&str]) -> BTreeMap<String, InputRequest> {
    names
        .iter()
        .map(|name| {
            let request = serde_json::from_value(json!({"dataset": name})).unwrap();
            ((*name).to_owned(), request)
        })
        .collect()
}

fn run(code: &str, inputs: Vec<BoundInput>, sources: &std::sync::Arc<Sources>) -> Outcome {
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
        datasets_of(
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
    let described = describe(&sources);
    let formats = described.iter().map(|d| (d.name.as_str(), d.format));
    assert!(
        formats
            .clone()
            .all(|(name, format)| sources.datasets[name].format == format)
    );
    assert!(
        formats
            .into_iter()
            .any(|(_, format)| format == DataFormat::Jsonl)
    );
    let outcome: BTreeMap<_, _> = described
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
    let described = |name: &str| (outcome[name].0, outcome[name].1.as_str());
    assert_eq!(
        described("sales"),
        (
            3,
            "region object, n int64, rate float64, ok bool, gap float64, note object"
        )
    );
    assert_eq!(described("tabs"), (1, "a int64, b object"));
    assert_eq!(described("one"), (1, "a int64, b object"));
    assert_eq!(described("many"), (2, "a float64, c bool"));
    assert_eq!(described("table"), (2, "a int64, t datetime64[ns]"));
}

/// Prints a table so that every difference shows.
const SHOWN: &str = "def show(df):\n\
    \x20   print(dict(df.dtypes.astype(str)), df.index)\n\
    \x20   print([[('None' if v is None else type(v).__name__, str(v)) for v in row] for row in df.itertuples(index=False, name=None)])\n";

#[test]
fn a_converted_table_equals_the_table_read_from_the_file() {
    let dir = tempfile::tempdir().unwrap();
    // No other test uses these contents, because conversions are cached by content.
    let table = parquet(&format!(
        "df = pd.DataFrame({{'a': [1, 2], 'f': [0.5, np.nan], 's': ['{TIER:?}', None], \
         't': pd.to_datetime(['2020', None]), 'c': pd.Categorical(['u', 'v'])}}, index=['p', 'q'])"
    ));
    let text = CSV.replace('a', &format!("{TIER:?}"));
    let files: &[(&str, &[u8])] = &[("sales.csv", text.as_bytes()), ("table.parquet", &table)];
    let datasets = datasets_of(dir.path(), files);
    let sources = converting(datasets.clone(), TIER);
    let inputs = bind_with(&requests_for(&["sales", "table"]), &sources).unwrap();
    let code = format!("{SHOWN}show(sales)\nshow(table)");
    let converted = run(&code, inputs.clone(), &sources);
    assert_eq!(converted.run().error, None, "{:?}", converted.run());
    for (input, source) in inputs.iter().zip(datasets.values()) {
        assert!(frame_of(source, input.sha256).is_some());
        crate::executor::data::datasets::forget(input.sha256);
        assert!(frame_with(source.format, input.sha256).is_none());
    }
    let unconverted = std::sync::Arc::new(self::sources(datasets));
    let read = run(&code, inputs, &unconverted);
    assert_eq!(converted.run().stdout, read.run().stdout);
    assert!(converted.run().stdout.contains("('float', 'nan')"));
}

#[test]
fn a_changed_frame_is_unchanged_for_the_next_run() {
    let dir = tempfile::tempdir().unwrap();
    let sources = converting(
        datasets_of(dir.path(), &[("sales.csv", CSV.as_bytes())]),
        TIER,
    );
    let inputs = bind_with(&requests_for(&["sales"]), &sources).unwrap();
    let code = "print(sales['n'].tolist(), sales['rate'].sum())\n\
         sales.loc[0, 'n'] = 99\nsales['n'] += 1\nsales['n'].to_numpy()[1] = 7\n\
         sales.iloc[2, 1] = 5\nsales['rate'] *= 2\nsales['region'] = sales['region'].str.lower()\n\
         sales.sort_values('n', inplace=True)\nsales['new'] = 1\n\
         sales.dropna(inplace=True)\nprint(len(sales))";
    for _ in 0..2 {
        let outcome = run(code, inputs.clone(), &sources);
        assert_eq!(outcome.run().error, None, "{:?}", outcome.run());
        assert_eq!(outcome.run().stdout, "[1, 2, 3] 1.5\n1\n");
    }
}

#[test]
fn unreadable_data_is_an_error_before_anything_runs() {
    let dir = tempfile::tempdir().unwrap();
    let sources = converting(
        datasets_of(
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
        let error = bind_with(&requests_for(&[name]), &sources).unwrap_err();
        let start = format!("data set `{name}` cannot be read: it {said}");
        assert!(error.starts_with(&start), "{error}");
        assert!(!error.contains('/'), "{error}");
    }
    assert_eq!(describe(&sources).len(), 0);
}

/// pandas adds `"1"` and `"2"` up to 12, and a group without its few texts has a mean.
#[test]
fn only_columns_that_no_sum_of_cells_turns_into_a_number_are_said_to_be_text() {
    let dir = tempfile::tempdir().unwrap();
    let text = "word,date,sparse,few,digits,letters,flag,n,greek\n\
                east,2024-01-01,a,x,1_0,nan1,True,1,\u{3b1}\n\
                tiny!,2024-01-02,b,1-2,2e5,infinity,,2,\u{3b2}\n\
                b,2024-01-03,c,1-2,\u{664}-,1j,False,3,\u{3b3}\n\
                c,2024-01-04,,1-2,-7-,(1+2j),True,4,\u{3b4}\n";
    let datasets = datasets_of(dir.path(), &[("sales.csv", text.as_bytes())]);
    let sources = converting(datasets, TIER);
    let inputs = bind_with(&requests_for(&["sales"]), &sources).unwrap();
    let value = crate::model::Value::of(&inputs[0]).unwrap();
    let texts: Vec<&str> = value.texts.iter().map(String::as_str).collect();
    assert_eq!(texts, ["date", "greek", "word"]);
    let objects = value.columns.iter().filter(|c| c.dtype == "object");
    assert_eq!(objects.count(), 8, "{value:?}");
    // Agents and the log see names and types alone.
    let seen = serde_json::to_string(&(&inputs, describe(&sources))).unwrap();
    assert!(!seen.contains("texts"), "{seen}");
}

#[test]
fn a_data_set_that_changed_after_its_conversion_ends_the_run_before_it_starts() {
    let dir = tempfile::tempdir().unwrap();
    let sources = converting(
        datasets_of(dir.path(), &[("sales.csv", CSV.as_bytes())]),
        TIER,
    );
    let inputs = bind_with(&requests_for(&["sales"]), &sources).unwrap();
    let InputKind::Dataset { rows, .. } = &inputs[0].kind else {
        panic!("{inputs:?}");
    };
    assert_eq!(*rows, 3);
    std::fs::write(dir.path().join("sales.csv"), CSV.replace('N', "M")).unwrap();
    let outcome = run("print('ran')", inputs, &sources);
    assert!(outcome.failure().contains("changed since it was shown"));
}

/// The cache knows the second table by its content, but not by its file.
#[test]
fn a_merely_touched_file_is_not_converted_again() {
    let dir = tempfile::tempdir().unwrap();
    // No other test uses this content: conversions are known to the whole process.
    let text = format!("a,b\n1,{TIER:?} touched\n");
    let datasets = datasets_of(dir.path(), &[("sales.csv", text.as_bytes())]);
    let sources = converting(datasets.clone(), TIER);
    let inputs = bind_with(&requests_for(&["sales"]), &sources).unwrap();
    let source = &datasets["sales"];
    let inode = |frame: Option<(std::os::fd::OwnedFd, u64)>| {
        nix::sys::stat::fstat(frame.unwrap().0).unwrap().st_ino
    };
    let first = inode(frame_of(source, inputs[0].sha256));
    std::fs::write(&source.path, &text).unwrap();
    assert!(frame_of(source, inputs[0].sha256).is_none());
    assert_eq!(inode(frame_with(source.format, inputs[0].sha256)), first);
    // The run and the next request both find it by its content.
    let outcome = run("print(sales['a'].tolist())", inputs.clone(), &sources);
    assert_eq!(outcome.run().stdout, "[1]\n", "{outcome:?}");
    let again = bind_with(&requests_for(&["sales"]), &sources).unwrap();
    assert_eq!(inode(frame_of(source, again[0].sha256)), first);
}

/// All ways to change the content of a file without changing its size and time.
#[test]
fn a_rewrite_that_keeps_size_and_time_is_noticed() {
    use std::os::unix::fs::FileExt;
    type Rewrite = fn(&Path, &Path);
    let ways: [(&str, Rewrite); 4] = [
        ("in place", |path, _| {
            let file = std::fs::File::options().write(true).open(path).unwrap();
            file.write_all_at(b"9", 4).unwrap();
        }),
        ("through a mapping", |path, _| {
            let script = "import mmap, sys\nf = open(sys.argv[1], 'r+b')\nm = mmap.mmap(f.fileno(), 0)\n\
                m[4:5] = b'9'\nm.flush()";
            let status = std::process::Command::new(&python().executable)
                .args(["-c", script])
                .arg(path)
                .status();
            assert!(status.unwrap().success());
        }),
        ("another file in its place", |path, folder| {
            let other = folder.join("other");
            std::fs::write(&other, "a,b\n9,2\n").unwrap();
            std::fs::rename(other, path).unwrap();
        }),
        ("a link in its place", |path, folder| {
            let other = folder.join("linked");
            std::fs::write(&other, "a,b\n9,2\n").unwrap();
            std::fs::remove_file(path).unwrap();
            std::os::unix::fs::symlink(other, path).unwrap();
        }),
    ];
    for (way, rewrite) in ways {
        let dir = tempfile::tempdir().unwrap();
        let datasets = datasets_of(dir.path(), &[("sales.csv", b"a,b\n1,2\n")]);
        let path = &datasets["sales"].path;
        let sources = converting(datasets.clone(), TIER);
        // Follows immediately: without the wait, it would be within the same tick of the kernel's
        // clock.
        let inputs = bind_with(&requests_for(&["sales"]), &sources).unwrap();
        let before = std::fs::metadata(path).unwrap();
        rewrite(path, dir.path());
        std::fs::File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(before.modified().unwrap())
            .unwrap();
        let now = std::fs::metadata(path).unwrap();
        assert_eq!(now.modified().unwrap(), before.modified().unwrap(), "{way}");
        assert_eq!(now.len(), before.len(), "{way}");
        let outcome = run("print('ran')", inputs.clone(), &sources);
        let expected = "data set sales changed since it was shown";
        assert_eq!(outcome.failure(), expected, "{way}");
        let again = bind_with(&requests_for(&["sales"]), &sources).unwrap();
        assert_ne!(again[0].sha256, inputs[0].sha256, "{way}");
        let outcome = run("print(sales['a'].tolist())", again, &sources);
        assert_eq!(outcome.run().stdout, "[9]\n", "{way}: {outcome:?}");
    }
}

#[test]
fn a_table_too_large_to_be_handed_over_is_described_and_read_by_its_run() {
    let dir = tempfile::tempdir().unwrap();
    let rows: String = (0..1000).map(|i| format!("{i},{TIER:?} large\n")).collect();
    let text = format!("a,b\n{rows}");
    let datasets = datasets_of(dir.path(), &[("sales.csv", text.as_bytes())]);
    let converter = crate::executor::data::convert::Converter::new(exe(), pandas(), TIER);
    let sources = self::sources(datasets.clone());
    sources.converters.set(converter.at_most(4096));
    let sources = std::sync::Arc::new(sources);
    let inputs = bind_with(&requests_for(&["sales"]), &sources).unwrap();
    let InputKind::Dataset { rows, columns, .. } = &inputs[0].kind else {
        panic!("{inputs:?}");
    };
    assert_eq!((*rows, columns.len()), (1000, 2));
    assert!(frame_of(&datasets["sales"], inputs[0].sha256).is_none());
    let outcome = run("print(sales['a'].sum())", inputs, &sources);
    assert_eq!(outcome.run().stdout, "499500\n", "{outcome:?}");
}

/// Permissions do not restrict root, so the next test runs this one as another user.
#[test]
fn a_data_set_that_may_not_be_read_is_an_error_before_anything_runs() {
    use std::os::unix::fs::PermissionsExt;
    if nix::unistd::Uid::effective().is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let datasets = datasets_of(dir.path(), &[("sales.csv", b"a,b\n1,2\n")]);
    let bound = crate::executor::bind(&requests_for(&["sales"]), &datasets).unwrap();
    let no_permissions = std::fs::Permissions::from_mode(0o000);
    std::fs::set_permissions(&datasets["sales"].path, no_permissions).unwrap();
    let error = crate::executor::bind(&requests_for(&["sales"]), &datasets).unwrap_err();
    assert_eq!(
        error,
        "data set `sales` cannot be read: permission denied: the dashboard's user may not read it"
    );
    // A file that was shown and then closed.
    let sources = std::sync::Arc::new(sources(datasets));
    let outcome = begin_with(with_inputs("print(1)", policy(TIER), bound), sources).finish();
    assert_eq!(outcome.failure(), "data set sales cannot be read any more");
    assert_eq!(outcome.notes.len(), 1, "{outcome:?}");
}

#[test]
fn the_suite_passes_as_an_ordinary_user() {
    let (_, module) = module_path!().split_once("::").unwrap();
    as_an_ordinary_user(&[&format!(
        "{module}::a_data_set_that_may_not_be_read_is_an_error_before_anything_runs"
    )]);
}

/// The summaries of data sets in these files, by name.
fn summaries(
    files: &[(&str, &[u8])],
    sensitivity: crate::model::Sensitivity,
) -> BTreeMap<String, crate::model::Summary> {
    let dir = tempfile::tempdir().unwrap();
    let mut datasets = datasets_of(dir.path(), files);
    for source in datasets.values_mut() {
        source.sensitivity = sensitivity;
    }
    let names: Vec<String> = datasets.keys().cloned().collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let sources = converting(datasets.clone(), TIER);
    let inputs = bind_with(&requests_for(&names), &sources).unwrap();
    let summary = |input: BoundInput| match input.kind {
        InputKind::Dataset { summary, .. } => (input.name, (*summary.unwrap()).clone()),
        other => panic!("{other:?}"),
    };
    inputs.into_iter().map(summary).collect()
}

#[test]
fn a_data_set_is_summarised_where_it_is_converted() {
    let text = format!(
        "region,n,when\n{TIER:?},1,x\nS,3,\nS,,y\n{TIER:?}{},2,z\n",
        "long ".repeat(20)
    );
    let json = format!(
        "[{{\"a\": 5, \"b\": [1, 2], \"c\": \"{TIER:?}\"}}, {{\"a\": null}}, {{\"a\": -3}}]"
    );
    let found = summaries(
        &[
            ("sales.csv", text.as_bytes()),
            ("records.json", json.as_bytes()),
        ],
        Default::default(),
    );
    let sales = &found["sales"];
    let [region, n, when] = &sales.columns[..] else {
        panic!("{sales:?}")
    };
    assert_eq!(
        (region.distinct, region.missing, &region.least),
        (Some(3), 0, &None)
    );
    assert_eq!(
        (n.missing, n.least.as_deref(), n.greatest.as_deref()),
        (1, Some("1.0"), Some("3.0"))
    );
    assert_eq!(when.missing, 1);
    assert_eq!(
        sales.head[1],
        [Some("S".to_owned()), Some("3.0".to_owned()), None]
    );
    let long = sales.head[3][0].as_deref().unwrap();
    assert!(long.ends_with('…') && long.chars().count() == 40, "{long}");
    let records = &found["records"];
    assert_eq!(records.columns[0].least.as_deref(), Some("-3"));
    assert_eq!(records.columns[0].missing, 1);
    assert_eq!(records.head[0][1].as_deref(), Some("list of 2"));
}

#[test]
fn no_value_of_private_data_leaves_the_converter() {
    let text = format!("name,age\nSECRET{TIER:?},41\nOTHER,77\n");
    let json = format!("[{{\"name\": \"SECRET{TIER:?}\", \"age\": 77}}]");
    let found = summaries(
        &[
            ("people.csv", text.as_bytes()),
            ("records.json", json.as_bytes()),
        ],
        crate::model::Sensitivity::Private,
    );
    for (name, summary) in found {
        assert_eq!(summary, summary.masked(), "{name}");
        assert!(
            summary
                .columns
                .iter()
                .all(|column| column.distinct.is_some()),
            "{name}"
        );
    }
}

#[test]
fn hostile_data_is_summarised_or_refused_and_never_more() {
    let wide = format!(
        "{}\n{}\n",
        vec!["c"; 3_000].join(","),
        vec!["1"; 3_000].join(",")
    );
    let deep = format!("[{{\"a\": {}1{}}}]", "[".repeat(200), "]".repeat(200));
    let half = format!(
        "[{{\"a\": \"\\ud800{TIER:?}\", \"b\": {}}}]",
        "9".repeat(400)
    );
    let odd = format!("a,a,\u{202e}\n\x1b[2J{TIER:?},\u{0},=1+1\n");
    let huge = format!("a\n\"{}{TIER:?}\"\n", "x".repeat(2_000_000));
    let found = summaries(
        &[
            ("wide.csv", wide.as_bytes()),
            ("deep.json", deep.as_bytes()),
            ("half.json", half.as_bytes()),
            ("odd.csv", odd.as_bytes()),
            ("huge.csv", huge.as_bytes()),
        ],
        Default::default(),
    );
    assert_eq!(found["wide"].columns.len(), crate::model::Summary::COLUMNS);
    for (name, summary) in found {
        assert!(summary.is_sound(), "{name}");
    }
}
