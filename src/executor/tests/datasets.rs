use super::*;
use serde_json::json;

fn source(path: &Path) -> DatasetSource {
    DatasetSource {
        path: path.to_path_buf(),
        format: DataFormat::Csv,
        sensitivity: Sensitivity::Public,
    }
}

fn sources(text: &[u8]) -> (tempfile::TempDir, BTreeMap<String, DatasetSource>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sales.csv");
    std::fs::write(&path, text).unwrap();
    let map = [("sales".to_owned(), source(&path))].into();
    (folder, map)
}

fn request_for(name: &str, request: serde_json::Value) -> BTreeMap<String, InputRequest> {
    [(name.to_owned(), serde_json::from_value(request).unwrap())].into()
}

#[test]
fn a_data_set_is_counted_typed_and_hashed() {
    let text = b"region,n,rate,ok,gap,note\nN,1,0.5,true,1,a\nS,2,1,false,,\"b\nc\"\n";
    let (_folder, map) = sources(text);
    let bound = bind(&request_for("df", json!({"dataset": "sales"})), &map).unwrap();
    let InputKind::Dataset { rows, columns, .. } = &bound[0].kind else {
        panic!("{bound:?}");
    };
    assert_eq!(*rows, 2);
    let dtypes: Vec<&str> = columns.iter().map(|c| c.dtype.as_str()).collect();
    assert_eq!(
        dtypes,
        ["object", "int64", "float64", "bool", "float64", "object"]
    );
    assert_eq!(bound[0].sha256, Digest::of(text));
    assert_eq!(bound[0].bytes, text.len() as u64);
}

#[test]
fn inputs_of_an_agent_are_bound_byte_for_byte() {
    let map = BTreeMap::new();
    let bound = bind(
        &request_for("cfg", json!({"json": {"b": [1, 2.5], "a": "é"}})),
        &map,
    )
    .unwrap();
    let text = bound[0].brought().unwrap();
    assert_eq!(bound[0].sha256, Digest::of(text.as_bytes()));
    let bound = bind(
        &request_for("t", json!({"text": "a\tb\n", "format": "tsv"})),
        &map,
    )
    .unwrap();
    assert_eq!(bound[0].brought(), Some("a\tb\n"));
}

#[test]
fn names_that_mislead_are_refused() {
    for name in ["", "1a", "a b", "_x", "__x__", "pd", "class", "ｄf", "a.b"] {
        let error = bind(&request_for(name, json!({"json": 1})), &BTreeMap::new()).unwrap_err();
        assert!(error.contains("cannot name an input"), "{name}: {error}");
    }
}

#[test]
fn a_file_of_another_format_than_its_name_says_is_refused_without_its_path() {
    let (folder, map) = sources(b"\xff\xfe,\x00\n");
    let error = bind(&request_for("df", json!({"dataset": "sales"})), &map).unwrap_err();
    assert!(error.contains("not UTF-8"), "{error}");
    for text in [&b""[..], b"a,b\n1\n"] {
        let (_f, map) = sources(text);
        bind(&request_for("df", json!({"dataset": "sales"})), &map).unwrap_err();
    }
    std::fs::remove_file(&map["sales"].path).unwrap();
    let error = bind(&request_for("df", json!({"dataset": "sales"})), &map).unwrap_err();
    assert!(error.contains("not there"), "{error}");
    assert!(!error.contains(folder.path().to_str().unwrap()));
    assert!(describe_all(&map, None).is_empty());
}

#[test]
fn a_pipe_in_a_data_sets_place_is_refused_without_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sales.csv");
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    assert!(read(&source(&path), None).is_err());
    assert!(read(&source(folder.path()), None).is_err());
}

#[test]
fn the_description_of_a_data_set_has_no_path() {
    let (folder, map) = sources(b"a,b\n1,x\n");
    let text = serde_json::to_string(&describe_all(&map, None)).unwrap();
    assert!(text.contains("\"rows\":1"), "{text}");
    assert!(!text.contains(folder.path().to_str().unwrap()));
}

#[test]
fn a_table_does_not_wait_for_packages_that_are_being_downloaded() {
    let (_folder, datasets) = sources(b"region\nN\n");
    let sources = crate::executor::tests::bench::sources(datasets);
    sources.converters.expect(false);
    let start = std::time::Instant::now();
    let bound = bind_with(&request_for("df", json!({"dataset": "sales"})), &sources).unwrap();
    assert_eq!(bound[0].bytes, 9);
    assert_eq!(describe(&sources).len(), 1);
    let long = PATIENCE * 10;
    let got = |formats: &[DataFormat], patience| {
        let formats = formats.iter().copied();
        sources.converters.get_for(formats, patience).is_some()
    };
    assert!(!got(&[DataFormat::Csv, DataFormat::Tsv], long) && !got(&[], long));
    assert!(start.elapsed() < PATIENCE, "it waited");
    // What only Python reads waits, and so does everything once a Python can be there soon.
    let short = Duration::from_millis(10);
    let waits = |formats: &[DataFormat]| {
        let start = std::time::Instant::now();
        !got(formats, short) && start.elapsed() >= short
    };
    assert!(waits(&[DataFormat::Csv, DataFormat::Parquet]));
    sources.converters.expect(true);
    assert!(waits(&[DataFormat::Csv]));
}
