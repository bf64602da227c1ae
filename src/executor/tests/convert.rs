//! Data sets: described and converted in a jail, mapped by their runs, the same as if read there.

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
    // Contents of no other test: what was converted is found again by its content.
    let table = parquet(&format!(
        "df = pd.DataFrame({{'a': [1, 2], 'f': [0.5, np.nan], 's': ['{TIER:?}', None], \
         't': pd.to_datetime(['2020', None]), 'c': pd.Categorical(['u', 'v'])}}, index=['p', 'q'])"
    ));
    let text = CSV.replace('a', &format!("{TIER:?}"));
    let files: &[(&str, &[u8])] = &[("sales.csv", text.as_bytes()), ("table.parquet", &table)];
    let datasets = data(dir.path(), files);
    let sources = converting(datasets.clone(), TIER);
    let inputs = bind_with(&ask(&["sales", "table"]), &sources).unwrap();
    let code = format!("{SHOWN}show(sales)\nshow(table)");
    let handed = run(&code, inputs.clone(), &sources);
    assert_eq!(handed.run().error, None, "{:?}", handed.run());
    for (input, source) in inputs.iter().zip(datasets.values()) {
        assert!(frame_of(source, input.sha256).is_some());
        crate::executor::data::datasets::forget(input.sha256);
        assert!(frame_with(source.format, input.sha256).is_none());
    }
    let unread = std::sync::Arc::new(self::sources(datasets));
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

/// The second table is in the cache by its content already, and not by its file.
#[test]
fn a_file_that_was_only_touched_is_not_converted_again() {
    let dir = tempfile::tempdir().unwrap();
    // Of no other test: what was converted is known to the whole process.
    let text = format!("a,b\n1,{TIER:?} touched\n");
    let datasets = data(dir.path(), &[("sales.csv", text.as_bytes())]);
    let sources = converting(datasets.clone(), TIER);
    let inputs = bind_with(&ask(&["sales"]), &sources).unwrap();
    let source = &datasets["sales"];
    let inode = |frame: Option<(std::os::fd::OwnedFd, u64)>| {
        nix::sys::stat::fstat(frame.unwrap().0).unwrap().st_ino
    };
    let first = inode(frame_of(source, inputs[0].sha256));
    std::fs::write(&source.path, &text).unwrap();
    assert!(frame_of(source, inputs[0].sha256).is_none());
    assert_eq!(inode(frame_with(source.format, inputs[0].sha256)), first);
    // The run finds it by the content, and so does whoever asks next.
    let told = run("print(sales['a'].tolist())", inputs.clone(), &sources);
    assert_eq!(told.run().stdout, "[1]\n", "{told:?}");
    let again = bind_with(&ask(&["sales"]), &sources).unwrap();
    assert_eq!(inode(frame_of(source, again[0].sha256)), first);
}

/// Every way to put another content where the file was that leaves its size and its time.
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
        let datasets = data(dir.path(), &[("sales.csv", b"a,b\n1,2\n")]);
        let path = &datasets["sales"].path;
        let sources = converting(datasets.clone(), TIER);
        // At once after the file was made: within one tick of the kernel's clock, were it not waited for.
        let inputs = bind_with(&ask(&["sales"]), &sources).unwrap();
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
        let told = run("print('ran')", inputs.clone(), &sources);
        let want = "data set sales changed since it was shown";
        assert_eq!(told.failure(), want, "{way}");
        let again = bind_with(&ask(&["sales"]), &sources).unwrap();
        assert_ne!(again[0].sha256, inputs[0].sha256, "{way}");
        let told = run("print(sales['a'].tolist())", again, &sources);
        assert_eq!(told.run().stdout, "[9]\n", "{way}: {told:?}");
    }
}

#[test]
fn a_table_too_large_to_be_handed_over_is_described_and_read_by_its_run() {
    let dir = tempfile::tempdir().unwrap();
    let rows: String = (0..1000).map(|i| format!("{i},{TIER:?} large\n")).collect();
    let text = format!("a,b\n{rows}");
    let datasets = data(dir.path(), &[("sales.csv", text.as_bytes())]);
    let converter = crate::executor::data::convert::Converter::new(exe(), pandas(), TIER);
    let sources = self::sources(datasets.clone());
    sources.converters.set(converter.at_most(4096));
    let sources = std::sync::Arc::new(sources);
    let inputs = bind_with(&ask(&["sales"]), &sources).unwrap();
    let InputKind::Dataset { rows, columns, .. } = &inputs[0].kind else {
        panic!("{inputs:?}");
    };
    assert_eq!((*rows, columns.len()), (1000, 2));
    assert!(frame_of(&datasets["sales"], inputs[0].sha256).is_none());
    let told = run("print(sales['a'].sum())", inputs, &sources);
    assert_eq!(told.run().stdout, "499500\n", "{told:?}");
}

/// Permissions are nothing to root: the next test runs this one as somebody else.
#[test]
fn a_data_set_that_may_not_be_read_is_an_error_before_anything_runs() {
    use std::os::unix::fs::PermissionsExt;
    if nix::unistd::Uid::effective().is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let datasets = data(dir.path(), &[("sales.csv", b"a,b\n1,2\n")]);
    let bound = crate::executor::bind(&ask(&["sales"]), &datasets).unwrap();
    let closed = std::fs::Permissions::from_mode(0o000);
    std::fs::set_permissions(&datasets["sales"].path, closed).unwrap();
    let error = crate::executor::bind(&ask(&["sales"]), &datasets).unwrap_err();
    assert_eq!(
        error,
        "data set `sales` cannot be read: permission denied: the dashboard's user may not read it"
    );
    // One that was shown and then closed.
    let sources = std::sync::Arc::new(sources(datasets));
    let told = begin_with(with_inputs("print(1)", policy(TIER), bound), sources).finish();
    assert_eq!(told.failure(), "data set sales cannot be read any more");
    assert_eq!(told.notes.len(), 1, "{told:?}");
}

#[test]
fn the_same_as_an_ordinary_user() {
    let (_, module) = module_path!().split_once("::").unwrap();
    as_an_ordinary_user(&[&format!(
        "{module}::a_data_set_that_may_not_be_read_is_an_error_before_anything_runs"
    )]);
}
