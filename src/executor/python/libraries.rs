//! Which libraries an interpreter has imported before it is released: what its snippet is given, or
//! is most likely to import.

use std::collections::HashSet;
use std::path::Path;

use crate::model::{BoundInput, DataFormat};
use crate::policy::{Contract, Policy};
use crate::runtime::PythonEnv;

use crate::executor::spec::RunSpec;

const TABLES: &[&str] = &["numpy", "pandas"];

/// What a zygote for the analysis of data has beside the tables: figures, and what shows tables as
/// Markdown and HTML. Loaded after a grant, the first takes half a second. seaborn and statsmodels would
/// more than double what a zygote holds, and are loaded by those who name them.
const SHOWING: &[&str] = &["matplotlib.pyplot", "jinja2", "tabulate", "tqdm"];

/// The names under which libraries are given without an import.
const SHORT: [&str; 2] = ["np", "pd"];

/// How the child reads a data set, by its format.
pub const fn shape(format: DataFormat) -> &'static str {
    match format {
        DataFormat::Csv | DataFormat::Tsv | DataFormat::Parquet | DataFormat::Arrow => "table",
        DataFormat::Json | DataFormat::Jsonl => "data",
        DataFormat::Text => "text",
        DataFormat::Bytes => "bytes",
    }
}

/// Whether one of the inputs is to be a table.
pub fn has_tables(inputs: &[BoundInput]) -> bool {
    inputs.iter().any(|i| shape(i.format()) == "table")
}

/// For any run of this policy. `tables`: as [`has_tables`] says of its inputs.
pub fn of_policy(policy: &Policy, env: &PythonEnv, tables: bool) -> Vec<&'static str> {
    let names = match policy.contract {
        Contract::Analysis if policy.guard => TABLES,
        // Its columns are handed over as Arrow.
        Contract::Feature => &["numpy", "pandas", "pyarrow"],
        // Its wall limit is short, and half of it would go into these.
        Contract::Chart => &["numpy", "pandas", "plotly.graph_objects", "plotly.express"],
        // Its tables are lists of rows.
        Contract::Walled => &[],
        // Plain Python starts without what it may not use, but a table needs a library to be one.
        _ if tables => TABLES,
        _ => &[],
    };
    installed(env, names)
}

/// For the converter of a data set.
pub fn of_tables(env: &PythonEnv) -> Vec<&'static str> {
    installed(env, TABLES)
}

/// For this run alone: nothing where its code names no library and nothing becomes a table, which saves
/// most of a cold start.
pub fn of_run(spec: &RunSpec) -> Vec<&'static str> {
    let tables = has_tables(&spec.inputs);
    // The runner itself makes a table of whatever a feature is made of.
    let needed = tables || spec.policy.contract == Contract::Feature;
    if !needed && !names_a_library(&spec.code, &spec.env) {
        return Vec::new();
    }
    of_policy(&spec.policy, &spec.env, tables)
}

/// What a zygote imports beside that: its snippets will, and pay nothing for it.
pub fn beside(policy: &Policy, env: &PythonEnv) -> Vec<&'static str> {
    match policy.contract {
        Contract::Walled => Vec::new(),
        Contract::Analysis if policy.guard => installed(env, &[TABLES, SHOWING].concat()),
        _ => installed(env, TABLES),
    }
}

/// Those whose distribution the environment has.
fn installed(env: &PythonEnv, names: &[&'static str]) -> Vec<&'static str> {
    let has = |name: &str| {
        let top = name.split('.').next().unwrap_or(name);
        env.distributions.iter().any(|(have, _)| have == top)
    };
    names.iter().copied().filter(|name| has(name)).collect()
}

/// Whether a word of the text is the name of something that lies beside the standard library, or
/// one of the short names. In doubt it does: a library too many costs time, and one that is missing
/// is imported by the statement that names it.
fn names_a_library(code: &str, env: &PythonEnv) -> bool {
    if !code.is_ascii() {
        // Identifiers that look different can be the same (PEP 3131).
        return true;
    }
    let words: HashSet<&str> = code
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        // So does the name of a hidden file begin.
        .filter(|word| !word.is_empty())
        .collect();
    SHORT.iter().any(|name| words.contains(name))
        || env
            .sys_path
            .iter()
            .filter(|folder| !is_standard(folder))
            .any(|folder| holds_one_of(folder, &words))
}

/// Whether the folder, or the archive of this name, is a part of the standard library.
fn is_standard(path: &Path) -> bool {
    path.ends_with("lib-dynload") || path.join("os.py").is_file() || !path.exists()
}

fn holds_one_of(folder: &Path, words: &HashSet<&str>) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return true;
    };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        words.contains(name.split('.').next().unwrap_or(&name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::tests::bench::{pandas, profile, spec};

    #[test]
    fn a_snippet_that_names_no_library_starts_without_them() {
        let of = |profile_name, code: &str| {
            of_run(&RunSpec {
                env: pandas(),
                ..spec(code, profile(profile_name))
            })
        };
        for (code, needs) in [
            ("print(sum(range(10)))", false),
            ("import statistics\nstatistics.mean([1])", false),
            ("number = 'np_pd'", false),
            ("", false),
            ("pd.DataFrame()", true),
            ("x = np .arange(3)", true),
            ("import numpy.linalg", true),
            ("from sklearn import svm", true),
            ("import scipy", true),
            ("import math,plotly", true),
            // A comment counts: nobody parses here.
            ("1 # pandas", true),
            // Folded to `pd` by Python.
            ("\u{ff50}\u{ff44}.DataFrame()", true),
        ] {
            assert_eq!(!of("analysis", code).is_empty(), needs, "{code}");
            assert_eq!(!of("chart", code).is_empty(), needs, "{code}");
        }
        assert!(of("walled", "import numpy").is_empty());
        assert!(!of("feature", "df['n'] = df['a'] * 2").is_empty());
    }

    #[test]
    fn a_zygote_has_figures_where_they_are_wanted_and_nothing_larger() {
        let of = |profile_name| beside(&profile(profile_name), &pandas());
        assert_eq!(of("analysis"), [TABLES, SHOWING].concat());
        for name in ["feature", "chart", "scoped", "script"] {
            assert_eq!(of(name), TABLES, "{name}");
        }
        assert!(of("walled").is_empty());
        let mut env = PythonEnv::clone(&pandas());
        env.distributions.retain(|(name, _)| name != "matplotlib");
        let without = beside(&profile("analysis"), &env);
        assert!(without.contains(&"jinja2") && !without.contains(&"matplotlib.pyplot"));
    }

    #[test]
    fn what_cannot_be_looked_into_may_hold_anything() {
        let folder = tempfile::tempdir().unwrap();
        let archive = folder.path().join("packages.zip");
        std::fs::write(&archive, "").unwrap();
        let mut env = PythonEnv::clone(&pandas());
        env.sys_path.retain(|path| is_standard(path));
        assert!(!names_a_library("import numpy", &env));
        env.sys_path.push(folder.path().join("absent.zip"));
        assert!(!names_a_library("import numpy", &env));
        let hidden = folder.path().join("hidden");
        std::fs::create_dir(&hidden).unwrap();
        std::fs::write(hidden.join(".nfs0001"), "").unwrap();
        env.sys_path.push(hidden);
        assert!(!names_a_library("print(1)", &env));
        env.sys_path.push(archive);
        assert!(names_a_library("1", &env));
    }
}
