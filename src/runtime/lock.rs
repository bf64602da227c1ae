//! What the managed environment holds: exact versions with the SHA-256 of every file.

use crate::model::Digest;

/// Made by `uv pip compile --universal --generate-hashes`; pip refuses any other content.
pub(super) const TEXT: &str = include_str!("../../assets/python/requirements.lock");

/// What the lock file was made from.
const REQUIREMENTS: &str = include_str!("../../assets/python/requirements.in");

/// What is done with the packages: one that was made otherwise is replaced too.
const RECIPE: &str = "# without the libraries' tests and the installer, compiled\n";

/// Names what an environment is made of: the lock file's content, and the recipe.
pub(super) fn digest() -> Digest {
    Digest::of([TEXT, RECIPE].concat().as_bytes())
}

/// Letters of a digest in the name of an environment's folder.
const LETTERS: usize = 12;

/// The folder of an environment of this lock file and that Python.
pub(super) fn folder((a, b, c): (u32, u32, u32)) -> String {
    format!("{}-{a}.{b}.{c}", digest().short(LETTERS))
}

/// Whether a folder of this name is an environment of another lock file.
pub(super) fn is_of_another(folder: &str) -> bool {
    folder.split_once('-').is_some_and(|(lock, python)| {
        lock.len() == LETTERS
            && lock.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
            && lock != digest().short(LETTERS)
            && python.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    })
}

/// Names of the locked packages, normalised (PEP 503), each once. An entry with a condition is for
/// some Pythons only, but every name has one for each.
pub fn packages() -> Vec<&'static str> {
    let mut names: Vec<&str> = TEXT
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_alphanumeric()))
        .filter_map(|line| Some(line.split_once("==")?.0))
        .collect();
    names.dedup();
    names
}

/// Names of the packages that were asked for; the others of [`packages`] came with them.
pub fn libraries() -> Vec<&'static str> {
    REQUIREMENTS
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_alphanumeric()))
        .filter_map(|line| line.split(['>', '=', '<', ' ']).next())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    #[test]
    fn only_environments_of_other_lock_files_are_taken_for_such() {
        assert!(is_of_another("20278ea5ff25-3.11.7"));
        for name in [
            folder((3, 11, 7)).as_str(),
            "20278ea5ff25-3.11.7.old",
            "20278ea5ff25",
            "20278EA5FF25-3.11.7",
            ".making-17",
            "lock",
            "mine-3.11.7",
        ] {
            assert!(!is_of_another(name), "{name}");
        }
    }

    /// Name, versions, licence.
    fn told() -> Vec<(&'static str, BTreeSet<&'static str>, &'static str)> {
        include_str!("../../assets/python/packages.md")
            .lines()
            .filter_map(|line| line.strip_prefix("| "))
            .skip(1)
            .map(|row| {
                let cells: Vec<&str> = row.split(" | ").collect();
                let versions = cells[1].trim_end_matches(" from Python 3.12 on");
                (cells[0], versions.split(", ").collect(), cells[2])
            })
            .collect()
    }

    #[test]
    fn the_table_of_packages_is_of_this_lock_and_none_is_under_the_gpl() {
        let mut locked: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for line in TEXT.lines().filter(|line| !line.starts_with([' ', '#'])) {
            if let Some((name, rest)) = line.split_once("==") {
                let version = rest.split(' ').next().unwrap();
                locked.entry(name).or_default().insert(version);
            }
        }
        let told = told();
        assert_eq!(told.len(), locked.len());
        for (name, versions, licence) in told {
            assert_eq!(locked.get(name), Some(&versions), "{name}");
            assert!(
                !licence.is_empty() && !licence.contains("GPL"),
                "{name}: {licence}"
            );
        }
    }

    #[test]
    fn every_package_is_locked_with_hashes_and_nothing_names_a_host() {
        let names = packages();
        for wanted in [
            "numpy",
            "pandas",
            "pyarrow",
            "plotly",
            "matplotlib",
            "scikit-learn",
            "seaborn",
            "statsmodels",
            "patsy",
            "openpyxl",
            "xlsxwriter",
            "tabulate",
            "jinja2",
            "tqdm",
        ] {
            assert!(names.contains(&wanted), "{wanted}");
            assert!(libraries().contains(&wanted), "{wanted}");
        }
        assert_eq!(libraries().len(), 14);
        assert!(!TEXT.contains("://"), "a host in the lock");
        assert!(!TEXT.lines().any(|l| l.starts_with('-')), "an option in it");
        // A package for some machines only would be missed on the others.
        assert!(
            TEXT.lines()
                .filter_map(|l| Some(l.split_once(" ; ")?.1))
                .all(|c| c.starts_with("python_full_version"))
        );
        // Each entry is followed by at least one hash before the next begins.
        let mut hashes = 1;
        for line in TEXT.lines().filter(|l| !l.trim_start().starts_with('#')) {
            if line.contains("==") {
                assert!(hashes > 0, "no hash before {line}");
                hashes = 0;
            } else if line.trim_start().starts_with("--hash=sha256:") {
                hashes += 1;
            }
        }
        assert!(hashes > 0);
    }
}
