//! Selects the libraries that an interpreter imports before it is released: those that its snippet
//! is given or will most likely import.

use std::collections::HashSet;
use std::path::Path;

use crate::model::{BoundInput, DataFormat};
use crate::policy::{Contract, Policy};
use crate::runtime::PythonEnv;

use crate::executor::spec::RunSpec;

const TABLES: &[&str] = &["numpy", "pandas"];

/// Libraries that a zygote for data analysis loads beside the tables: figures, and the ones that
/// show tables as Markdown and HTML. Loading figures after a grant takes half a second. seaborn and
/// statsmodels would more than double the memory of a zygote, so only snippets that name them load
/// them.
const SHOWING: &[&str] = &["matplotlib.pyplot", "jinja2", "tabulate", "tqdm"];

/// Names of libraries that are available without an import.
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

/// Whether one of the inputs becomes a table.
pub fn has_tables(inputs: &[BoundInput]) -> bool {
    inputs.iter().any(|i| shape(i.format()) == "table")
}

/// The libraries for any run of this policy. `tables` is the result of [`has_tables`] for its
/// inputs.
pub fn of_policy(policy: &Policy, env: &PythonEnv, tables: bool) -> Vec<&'static str> {
    let names = match policy.contract {
        Contract::Analysis if policy.guard => TABLES,
        // Its columns are returned as Arrow.
        Contract::Feature => &["numpy", "pandas", "pyarrow"],
        // Its wall limit is short, and loading these would take half of it.
        Contract::Chart => &["numpy", "pandas", "plotly.graph_objects", "plotly.express"],
        // Its tables are lists of rows.
        Contract::Walled => &[],
        // Plain Python starts without libraries it may not use, but a table needs one.
        _ if tables => TABLES,
        _ => &[],
    };
    installed(env, names)
}

/// The libraries for the converter of a data set.
pub fn of_tables(env: &PythonEnv) -> Vec<&'static str> {
    installed(env, TABLES)
}

/// The libraries for this run: none if its code names no library and no input becomes a table,
/// which saves most of a cold start.
pub fn of_run(spec: &RunSpec) -> Vec<&'static str> {
    let tables = has_tables(&spec.inputs);
    // The runner turns the inputs of a feature into a table itself.
    let needed = tables || spec.policy.contract == Contract::Feature;
    if !needed && !names_a_library(&spec.code, &spec.env) {
        return Vec::new();
    }
    of_policy(&spec.policy, &spec.env, tables)
}

/// Libraries that a zygote imports in addition: its snippets will use them without the cost of
/// loading.
pub fn beside(policy: &Policy, env: &PythonEnv) -> Vec<&'static str> {
    match policy.contract {
        Contract::Walled => Vec::new(),
        Contract::Analysis if policy.guard => installed(env, &[TABLES, SHOWING].concat()),
        _ => installed(env, TABLES),
    }
}

/// Those of the names whose distribution the environment has.
fn installed(env: &PythonEnv, names: &[&'static str]) -> Vec<&'static str> {
    let has = |name: &str| {
        let top = name.split('.').next().unwrap_or(name);
        env.distributions.iter().any(|(have, _)| have == top)
    };
    names.iter().copied().filter(|name| has(name)).collect()
}

/// Whether a word of the text is the name of a module outside the standard library, or one of the
/// short names. If in doubt, true: an unneeded library costs time, and a missing one is imported by
/// the statement that names it.
fn names_a_library(code: &str, env: &PythonEnv) -> bool {
    if !code.is_ascii() {
        // Identifiers that look different may be equal (PEP 3131).
        return true;
    }
    let words: HashSet<&str> = code
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        // An empty word would match hidden files, whose names start with a dot.
        .filter(|word| !word.is_empty())
        .collect();
    SHORT.iter().any(|name| words.contains(name))
        || env
            .sys_path
            .iter()
            .filter(|folder| !is_standard(folder))
            .any(|folder| holds_one_of(folder, &words))
}

/// Whether this folder or archive belongs to the standard library.
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
        let selected = |profile_name, code: &str| {
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
            // A comment counts too, because the text is not parsed.
            ("1 # pandas", true),
            // Python normalises this to `pd`.
            ("\u{ff50}\u{ff44}.DataFrame()", true),
        ] {
            assert_eq!(!selected("analysis", code).is_empty(), needs, "{code}");
            assert_eq!(!selected("chart", code).is_empty(), needs, "{code}");
        }
        assert!(selected("walled", "import numpy").is_empty());
        assert!(!selected("feature", "df['n'] = df['a'] * 2").is_empty());
    }

    #[test]
    fn a_zygote_loads_figures_if_wanted_and_nothing_larger() {
        let selected = |profile_name| beside(&profile(profile_name), &pandas());
        assert_eq!(selected("analysis"), [TABLES, SHOWING].concat());
        for name in ["feature", "chart", "scoped", "script"] {
            assert_eq!(selected(name), TABLES, "{name}");
        }
        assert!(selected("walled").is_empty());
        let mut env = PythonEnv::clone(&pandas());
        env.distributions.retain(|(name, _)| name != "matplotlib");
        let without = beside(&profile("analysis"), &env);
        assert!(without.contains(&"jinja2") && !without.contains(&"matplotlib.pyplot"));
    }

    #[test]
    fn an_unreadable_folder_may_contain_any_module() {
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
