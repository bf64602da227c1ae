//! The libraries' docstring examples, turned into scripts by `doctests.py`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use countersign::runtime::PythonEnv;
use serde::Deserialize;

use super::ends::Snippet;

pub const LIBRARIES: [&str; 8] = [
    "matplotlib",
    "numpy",
    "pandas",
    "plotly",
    "scipy",
    "seaborn",
    "sklearn",
    "statsmodels",
];

const SEED: &str = "countersign";

#[derive(Deserialize)]
struct Example {
    name: String,
    code: String,
    printed: String,
}

/// The examples that print the same in two processes with different string hash seeds.
pub fn of(env: &PythonEnv, library: &str, most: usize, every: usize) -> Vec<Snippet> {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let started: Vec<Child> = ["1", "2"]
        .iter()
        .zip(&folders)
        .map(|(hashes, folder)| start(env, library, [most, every], hashes, folder.path()))
        .collect();
    let mut drawn = started.into_iter().map(|child| {
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{library}: {error}");
        let lines = String::from_utf8(output.stdout).unwrap();
        let examples = lines.lines().map(|line| {
            let one: Example = serde_json::from_str(line).unwrap();
            (one.name.clone(), one)
        });
        examples.collect::<BTreeMap<String, Example>>()
    });
    let (first, again) = (drawn.next().unwrap(), drawn.next().unwrap());
    let same = |one: &Example| {
        let other = again.get(&one.name)?;
        (super::ends::plain(&other.printed) == super::ends::plain(&one.printed)).then_some(())
    };
    let steady = first.into_values().filter(|one| same(one).is_some());
    let snippets = steady.map(|one| Snippet {
        row: library.to_owned(),
        name: one.name,
        code: one.code,
        printed: one.printed,
    });
    snippets.collect()
}

fn start(
    env: &PythonEnv,
    library: &str,
    [most, every]: [usize; 2],
    hashes: &str,
    folder: &Path,
) -> Child {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/served/doctests.py");
    let mut command = Command::new(&env.executable);
    super::plain_environment(&mut command, env, folder);
    command
        .env("PYTHONHASHSEED", hashes)
        .args(["-B", "-W", "ignore"])
        .arg(script)
        .args([library, SEED, &most.to_string(), &every.to_string()])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}
