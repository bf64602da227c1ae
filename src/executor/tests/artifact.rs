//! Files that runs leave: which are collected, which are not, and how a false list is detected.

use super::TIER;
use crate::executor::tests::bench::*;
use crate::model::{LimitKind, Run, RunErrorKind};
use crate::policy::Policy;

fn files_of(outcome: &Outcome) -> Vec<(&str, &[u8])> {
    let blobs = outcome.left();
    let artifacts = &outcome.run().artifacts;
    assert_eq!(blobs.len(), artifacts.len());
    std::iter::zip(artifacts, blobs)
        .map(|(artifact, blob)| {
            assert_eq!(artifact.sha256, blob.sha256.hex());
            assert_eq!(artifact.bytes, blob.bytes.len() as u64);
            (artifact.name.as_str(), &*blob.bytes)
        })
        .collect()
}

fn run_plain(code: &str) -> Outcome {
    run_spec(spec(code, raw_policy(TIER)))
}

/// Runs the code under the guard, with the libraries.
fn run_guarded(code: &str) -> Outcome {
    let mut spec = spec(
        code,
        Policy {
            limits: crate::model::Limits {
                memory_mb: 1024,
                ..policy(TIER).limits
            },
            ..policy(TIER)
        },
    );
    spec.env = pandas();
    run_spec(spec)
}

fn artifact_names(run: &Run) -> Vec<&str> {
    run.artifacts.iter().map(|a| a.name.as_str()).collect()
}

#[test]
fn files_still_open_at_the_end_are_flushed() {
    let code = "f = open('a.csv', 'w')\nf.write('one\\n' * 3)\ng = open('b', 'w+b')\ng.write(b'two')\n\
                held = [open('c', 'ab')]\nheld[0].write(b'three')";
    for outcome in [run_plain(code), run_guarded(code)] {
        let all = files_of(&outcome);
        let expected: [(&str, &[u8]); 3] = [
            ("a.csv", b"one\none\none\n"),
            ("b", b"two"),
            ("c", b"three"),
        ];
        assert_eq!(all, expected, "{:?}", outcome.run());
        assert_eq!(outcome.run().error, None);
    }
    // The same after an error of the snippet.
    let outcome = run_guarded(&format!("{code}\n1 / 0"));
    assert_eq!(files_of(&outcome).len(), 3);
    assert_eq!(files_of(&outcome)[0].1, b"one\none\none\n");
}

#[test]
fn files_in_the_output_folder_are_collected_and_links_are_not_followed() {
    let outcome = run_plain(
        "import os, socket\n\
         open('a.txt', 'w').write('one')\n\
         open('b.json', 'w').write('{}')\n\
         os.symlink('/etc/passwd', 'link')\n\
         os.symlink('a.txt', 'own')\n\
         os.link('b.json', 'hard')\n\
         try: os.mkfifo('pipe')\n\
         except PermissionError: os.symlink('b', 'pipe')\n\
         os.makedirs('folder/inner')\n\
         open('folder/c.txt', 'w').write('three')\n\
         open('odd name', 'w').write('four')\n\
         open('odd\\tname', 'w').write('five')\n\
         os.chmod('folder', 0)\n\
         print(os.getcwd() != '/')",
    );
    let run = outcome.run();
    assert_eq!(run.error, None, "{run:?}");
    // The second name of `b.json` excludes both.
    assert_eq!(
        files_of(&outcome),
        [
            ("a.txt", b"one".as_slice()),
            ("folder/c.txt", b"three".as_slice()),
            ("odd_name", b"four".as_slice())
        ]
    );
    assert_eq!(run.artifacts[0].media_type, "text/plain");
    assert_eq!((run.artifacts_left_out, run.artifacts_withheld), (6, 0));
    let notes = run.notes_on_files();
    assert_eq!(
        notes[0],
        "Kept under plain names: `odd name` as `odd_name`."
    );
    assert_eq!(
        notes[1],
        "`odd\\tname` is not collected: a name has at most 100 characters, without control characters and backslashes."
    );
    assert!(
        notes[2].starts_with("`b.json`, `hard`, `link`") && notes[2].contains("links are not"),
        "{notes:?}"
    );
}

/// The result and the output of a run have names that no file of it can take.
#[test]
fn a_file_named_like_the_result_is_not_collected_and_is_reported() {
    let code = "import os\nopen('result', 'w').write('fake')\nos.makedirs('stdout')\n\
                open('stdout/a.txt', 'w').write('x')\nopen('real.txt', 'w').write('x')\n{'real': 1}\n";
    let outcome = run_guarded(code);
    let run = outcome.run();
    assert_eq!(run.error, None, "{run:?}");
    assert_eq!(run.result["value"], serde_json::json!({"real": 1}));
    assert_eq!(artifact_names(run), ["real.txt"]);
    assert_eq!(
        run.notes_on_files(),
        [
            "`result` and `stdout/a.txt` are not collected: the names `result` and `stdout` are the run's own \
             result and output; write it under another name."
        ]
    );
}

#[test]
fn a_rejected_file_name_is_reported_with_the_rule_and_a_better_name() {
    for (path, message) in [
        (
            "total\\n.csv",
            "'total\\n.csv' has '\\n' in it: a name has at most 100 characters, without control characters and \
             backslashes, and stands behind at most three folders of such names, such as 'total_.csv'",
        ),
        ("out\\\\ä.csv", "'out\\\\ä.csv' has '\\\\' in it"),
        (
            "/work/x.csv",
            "'/work/x.csv' is an absolute path: use a plain file name, such as 'x.csv'",
        ),
        ("a/../x.csv", "'a/../x.csv' has '..' in it"),
        ("a/b/c/d/x.csv", "'a/b/c/d/x.csv' has 4 folders: a name has"),
        ("a//x.csv", "'a//x.csv' is no name of a file: a name has"),
        ("s3://a/x.csv", "'s3://a/x.csv' is an address"),
    ] {
        let outcome = run_guarded(&format!("open('{path}', 'w')"));
        let error = outcome.run().error.clone().unwrap();
        let whole = format!("files are kept in the output folder, and {message}");
        assert!(error.message.starts_with(&whole), "{path}: {error:?}");
    }
    // Also for libraries, including files they open in C++.
    for write in ["to_csv", "to_parquet"] {
        let outcome = run_guarded(&format!(
            "pd.DataFrame({{'a': [1]}}).{write}('Total\\tAmount.x')"
        ));
        let message = outcome.run().error.clone().unwrap().message;
        assert!(
            message.contains(r"'Total\tAmount.x' has '\t' in it"),
            "{message}"
        );
    }
    let outcome = run_guarded(&format!("open('{}.csv', 'w')", "x".repeat(120)));
    let message = outcome.run().error.clone().unwrap().message;
    assert!(
        message.contains("has a name of 124 characters: a name has"),
        "{message}"
    );
    let outcome = run_guarded("open(['x'], 'w')");
    let message = outcome.run().error.clone().unwrap().message;
    assert!(
        message.ends_with("a file is named by a text, not by a list"),
        "{message}"
    );
}

#[test]
fn files_of_a_run_that_was_killed_are_collected_after_the_kill() {
    // Increases the wall limit: on a busy machine the snippet may not run in the first second.
    let ended = [1, 5, 30].into_iter().map(|wall_s| {
        let mut policy = raw_policy(TIER);
        policy.limits.wall_s = wall_s;
        run_spec(spec(
            "open('a.txt', 'w').write('one')\nprint('on')\nwhile True: pass",
            policy,
        ))
    });
    let outcome = { ended }
        .find(|outcome| outcome.run().stdout == "on\n")
        .unwrap();
    assert_eq!(outcome.run().limit, Some(LimitKind::Wall));
    assert_eq!(files_of(&outcome), [("a.txt", b"one".as_slice())]);
}

#[test]
fn too_many_or_too_large_files_are_their_own_limit_with_what_was_reached() {
    let mut policy = raw_policy(TIER);
    policy.limits.artifacts = 2;
    policy.limits.artifact_bytes = 1000;
    let exceeded = |code: &str| {
        let outcome = run_spec(spec(code, policy.clone()));
        let run = outcome.run().clone();
        assert_eq!(run.limit, Some(LimitKind::Files), "{run:?}");
        assert!(run.artifacts.is_empty());
        let error = run.error.unwrap();
        assert_eq!(error.kind, RunErrorKind::ContractViolation);
        error.message
    };
    let outcome = run_spec(spec("for n in 'abc': open(n, 'w').close()", policy.clone()));
    let run = outcome.run();
    assert_eq!((&run.error, run.limit), (&None, None), "{run:?}");
    assert_eq!(
        (artifact_names(run).len(), run.artifacts_unkept.len()),
        (2, 1)
    );
    assert_eq!(
        exceeded("open('a', 'wb').truncate(1001)"),
        "a has 1001 bytes; at most 1000 of a file are collected"
    );
}

/// A run that replaces the runner's list of files by one of its own. Only code without the guard
/// can do that; the contract is the one that keeps a list.
fn run_with_manifest(manifest: &str) -> Run {
    let code = format!(
        "from _countersign import files\n\
         open('a.txt', 'w').write('one')\n\
         files.manifest = lambda: {manifest}"
    );
    let mut policy = raw_policy(TIER);
    policy.contract = crate::policy::Contract::Analysis;
    run_spec(spec(&code, policy)).run().clone()
}

#[test]
fn a_false_manifest_is_a_violation() {
    let correct = run_with_manifest("[{'name': 'a.txt', 'bytes': 3}]");
    assert_eq!(
        (correct.error.as_ref(), artifact_names(&correct)),
        (None, vec!["a.txt"])
    );
    for (manifest, message) in [
        (
            "[{'name': 'a.txt', 'bytes': 3}, {'name': 'b.txt', 'bytes': 1}]",
            "no such file",
        ),
        ("[{'name': 'a.txt', 'bytes': 4}]", "says it left 4 bytes"),
        ("[]", "does not say so"),
        (
            "[{'name': 'a.txt', 'bytes': 3}, {'name': '../a.txt', 'bytes': 3}]",
            "no such file",
        ),
    ] {
        let run = run_with_manifest(manifest);
        let error = run.error.unwrap();
        assert_eq!(
            error.kind,
            RunErrorKind::ContractViolation,
            "{manifest}: {error:?}"
        );
        assert!(error.message.contains(message), "{error:?}");
    }
    let run = run_with_manifest("[{'name': 'a.txt'}]");
    assert_eq!(run.error.unwrap().kind, RunErrorKind::SandboxError);
}

#[test]
fn writers_of_pandas_stay_in_the_output_folder() {
    let outcome = run_guarded(
        "import io\n\
         df = pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})\n\
         df.to_csv('t.csv', index=False)\n\
         df.to_json('t.json', orient='records')\n\
         df.to_json('t.jsonl', orient='records', lines=True)\n\
         df.to_parquet('t.parquet')\n\
         df.to_feather('t.feather')\n\
         df.to_html('t.html')\n\
         np.savetxt('t.txt', df[['a']])\n\
         with open('note.md', 'w') as f:\n\
         \x20   f.write('# note')\n\
         print(pd.read_parquet('t.parquet').equals(df), pd.read_csv('t.csv').equals(df))\n\
         import pyarrow.parquet as pq\n\
         print(pq.read_table('t.parquet').num_rows)\n\
         pq.write_table(pq.read_table('t.parquet'), 'u.parquet')",
    );
    let run = outcome.run();
    assert_eq!(run.error, None, "{run:?}");
    assert_eq!(run.stdout, "True True\n2\n");
    let kinds: Vec<_> = run
        .artifacts
        .iter()
        .map(|a| (a.name.as_str(), a.media_type.as_str()))
        .collect();
    assert_eq!(
        kinds,
        [
            ("note.md", "text/plain"),
            ("t.csv", "text/csv"),
            ("t.feather", "application/vnd.apache.arrow.file"),
            ("t.html", "text/plain"),
            ("t.json", "application/json"),
            ("t.jsonl", "application/jsonl"),
            ("t.parquet", "application/vnd.apache.parquet"),
            ("t.txt", "text/plain"),
            ("u.parquet", "application/vnd.apache.parquet"),
        ]
    );
}

#[test]
fn no_library_reads_or_writes_elsewhere() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.csv");
    std::fs::write(&secret, "a\n1\n").unwrap();
    let open_to_all = |path: &std::path::Path, mode| {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open_to_all(outside.path(), 0o777);
    open_to_all(&secret, 0o666);
    let place = outside.path().display();
    let attempts: &[&str] = &[
        "pd.read_csv(P + '/secret.csv')",
        "pd.read_csv('file://' + P + '/secret.csv')",
        "pd.read_csv('..' + P + '/secret.csv')",
        "np.loadtxt(P + '/secret.csv', skiprows=1)",
        "pa.memory_map(P + '/secret.csv')",
        "pa.OSFile(P + '/secret.csv')",
        "pq.read_table(P + '/secret.csv')",
        "pq.ParquetFile(P + '/secret.csv')",
        "ds.dataset(P)",
        "pacsv.read_csv(P + '/secret.csv')",
        "df.to_csv(P + '/x')",
        "df.to_csv('../x')",
        "df.to_parquet(P + '/x')",
        "df.to_parquet(P, partition_cols=['a'])",
        "df.to_feather(P + '/x')",
        "pq.write_table(pa.table(df), P + '/x')",
        "pq.write_to_dataset(pa.table(df), P)",
        "pq.ParquetWriter(P + '/x', pa.table(df).schema)",
        "pacsv.write_csv(pa.table(df), P + '/x')",
        "pa.output_stream(P + '/x')",
        "pa.OSFile(P + '/x', 'wb')",
        "np.save(P + '/x', np.arange(3))",
        "np.arange(3).tofile(P + '/x')",
        "np.memmap(P + '/x', mode='w+', shape=(3,))",
        "plt.figure().savefig(P + '/x.png')",
        "open(P + '/x', 'w')",
    ];
    let mut code = format!(
        "import pyarrow as pa, pyarrow.parquet as pq, pyarrow.csv as pacsv\n\
         import pyarrow.dataset as ds\nimport matplotlib.pyplot as plt\n\
         P = ''.join(['{place}'])\ndf = pd.DataFrame({{'a': [1]}})\n"
    );
    for attempt in attempts {
        code.push_str(&format!(
            "try: {attempt}\nexcept Exception as e: print('refused', type(e).__name__)\n\
             else: print('let through:', {attempt:?})\n"
        ));
    }
    let outcome = run_guarded(&code);
    let run = outcome.run();
    assert_eq!(run.error, None, "{run:?}");
    let lines: Vec<_> = run.stdout.lines().collect();
    assert_eq!(lines.len(), attempts.len());
    for (attempt, line) in std::iter::zip(attempts, &lines) {
        // If the jail has no such file, its absence may be noticed first.
        let refused = line.starts_with("refused ");
        assert!(refused, "{attempt}: {line}");
        if TIER == crate::model::Tier::Process {
            // The opener of `file:` URLs wraps every refusal in its own error.
            let url = *line == "refused URLError" && attempt.contains("file:");
            assert!(
                url || *line == "refused PermissionError",
                "{attempt}: {line}"
            );
        }
    }
    let found: Vec<_> = std::fs::read_dir(outside.path()).unwrap().collect();
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn figures_saved_shown_or_left_open_are_collected_once() {
    let outcome = run_guarded(
        "import matplotlib.pyplot as plt\n\
         plt.plot([1, 2])\n\
         plt.savefig('named.png')\n\
         plt.figure(); plt.plot([2, 1]); plt.show()\n\
         plt.figure(); plt.plot([3, 1])\n\
         fig, ax = plt.subplots(); ax.bar([1], [2])",
    );
    let run = outcome.run();
    assert_eq!(run.error, None, "{run:?}");
    assert_eq!(
        artifact_names(run),
        ["fig1.png", "fig2.png", "fig3.png", "named.png"]
    );
    assert!(run.artifacts.iter().all(|a| a.media_type == "image/png"));
    assert_eq!(run.stderr, "");

    let outcome = run_guarded(
        "import matplotlib.pyplot as plt\nimport warnings\nwarnings.simplefilter('ignore')\n\
         for n in range(23): plt.figure()",
    );
    // The first ones are kept, the others named.
    let run = outcome.run();
    assert_eq!((&run.error, run.artifacts.len()), (&None, 20), "{run:?}");
    let said = [21, 22, 23].map(|n| format!("figure {n} is not kept: at most 20 files are\n"));
    assert_eq!(run.stderr, said.concat());
    assert_eq!(
        run.notes_on_files(),
        [
            "3 figures are not kept: a run keeps no more figures than the policy keeps files; draw several into one \
             with `plt.subplots`."
        ]
    );
}

#[test]
fn r8_plotlys_figures_are_collected_as_json_when_shown_or_written() {
    let outcome = run_guarded(
        "import plotly.graph_objects as go, plotly.express as px, plotly.io as pio\n\
         import matplotlib.pyplot as plt\n\
         fig = go.Figure(go.Bar(x=['a', 'b'], y=np.array([1.5, np.nan])), layout={'title': 'T'})\n\
         fig.show()\n\
         fig.show(renderer='browser')\n\
         pio.renderers.default = 'browser'\n\
         pio.show(px.line(y=[1, 2]), 'png')\n\
         plt.plot([1, 2]); plt.show()\n\
         fig.write_json('w.json'); pio.write_json(fig, 'x.json')\n\
         fig.write_html('page.html')\n\
         print(pio.from_json(open('fig1.json').read()).layout.title.text)",
    );
    let run = outcome.run();
    assert_eq!(run.error, None, "{run:?}");
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("T\n", ""));
    let kinds: Vec<_> = run
        .artifacts
        .iter()
        .map(|a| (a.name.as_str(), a.media_type.as_str()))
        .collect();
    let json = "application/json";
    assert_eq!(
        kinds,
        [
            ("fig1.json", json),
            ("fig2.json", json),
            ("fig3.json", json),
            ("fig4.png", "image/png"),
            ("page.html", "text/html"),
            ("w.json", json),
            ("x.json", json),
        ]
    );
    let shown: serde_json::Value = serde_json::from_slice(files_of(&outcome)[0].1).unwrap();
    assert_eq!(shown["data"][0]["y"], serde_json::json!([1.5, null]));
    for code in [
        "fig.write_json('/tmp/x.json')",
        "fig.write_html('../x.html')",
        "pio.write_json(fig, '/tmp/x.json')",
        "from openpyxl import Workbook\nWorkbook().save('/tmp/x.xlsx')",
    ] {
        let outcome = run_guarded(&format!(
            "import plotly.graph_objects as go, plotly.io as pio\nfig = go.Figure()\n{code}"
        ));
        let error = outcome.run().error.clone().unwrap();
        let message = error.message;
        assert!(
            message.contains("files are kept in the output folder"),
            "{code}: {message}"
        );
    }
}
