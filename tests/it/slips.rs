//! Small mistakes in configurations and proposals, made with a real dashboard: each is reported
//! with the correction, before a run depends on it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use common::dash::{Dash, Options};

#[test]
fn a_missing_data_set_is_reported_at_the_start_and_by_doctor() {
    let dash = Dash::with(&Options {
        config: "[datasets.gone]\npath = \"gone.csv\"\n[datasets.sales]\npath = \"sales.csv\"\n",
        files: &[("sales.csv", "a\n1\n")],
        size: (200, 40),
        ..Options::default()
    });
    let text = dash.wait_text("could not be read at the start");
    assert!(text.contains("gone.csv: there is no such file)"), "{text}");
    assert!(!text.contains("sales ("), "{text}");
    let doctor = dash.cli(&["doctor"]);
    let stdout = String::from_utf8(doctor.stdout).unwrap();
    assert_eq!(doctor.status.code(), Some(1), "{stdout}");
    let line = stdout.lines().find(|l| l.contains("data sets")).unwrap();
    assert!(
        line.starts_with("MISSING")
            && line.contains("1 of 2 cannot be read")
            && line.contains("gone ("),
        "{line}"
    );
}

#[test]
fn an_unknown_name_is_a_usage_error_with_the_nearest_name() {
    let dash = Dash::with(&Options {
        config: "[datasets.sales]\npath = \"sales.csv\"\n",
        files: &[("sales.csv", "a\n1\n"), ("x.py", "print(1)\n")],
        ..Options::default()
    });
    let file = dash.root().join("config/x.py");
    let file = file.to_str().unwrap();
    for (args, words) in [
        (
            &["--profile", "analisys"][..],
            "unknown profile `analisys`; did you mean `analysis`? (-32003)",
        ),
        (
            &["--input", "x=salse"],
            "unknown data set `salse`; did you mean `sales`? (-32003)",
        ),
        (&["--ttl", "99999999"], "1 to 28800"),
        (
            &["--ttl", "0"],
            "a whole number of seconds from 1 to what `ttl_max_s`",
        ),
        (
            &["--profile", "feature"],
            "takes one table, and 0 are given",
        ),
    ] {
        let output = dash.cli(&[&["submit", file], args].concat());
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains(words), "{args:?}: {text}");
    }
    let show = dash.cli(&["policy", "show"]);
    let text = String::from_utf8(show.stdout).unwrap();
    assert!(
        text.lines().all(|line| line.contains("tier kernel")) && text.contains("chart"),
        "what runs have: {text}"
    );
    let process = dash.cli(&["--tier", "process", "policy", "show", "chart"]);
    let text = String::from_utf8(process.stdout).unwrap();
    assert!(text.contains("tier = \"process\"\n\n[data]"), "{text}");
    let kernel = dash.cli(&["policy", "show", "chart"]);
    let text = String::from_utf8(kernel.stdout).unwrap();
    assert!(
        text.contains("tier = \"process\"\n# runs have kernel here"),
        "{text}"
    );
}

#[test]
fn r5_code_is_kept_as_a_file_unless_that_is_switched_off() {
    let mut dash = Dash::with(&Options {
        config: "[audit]\nkeep_code = false\n",
        ..Options::default()
    });
    let mut agent = dash.agent();
    let proposal = agent.code("print('not a file')\n");
    dash.grant(&mut agent, &proposal);
    assert_eq!(agent.outcome(&proposal["id"])["state"], "succeeded");
    drop(agent);
    dash.keys("q");
    dash.wait_exit();
    let kept = std::fs::read_dir(dash.state.join("kept")).map_or(0, |files| files.count());
    assert_eq!(kept, 0);
    let shown = dash.cli(&["audit", "show", proposal["id"].as_str().unwrap()]);
    let stdout = String::from_utf8(shown.stdout).unwrap();
    assert!(stdout.contains("not a file"), "the log has it: {stdout}");
}
