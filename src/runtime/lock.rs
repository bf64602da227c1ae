//! The contents of the managed environment: exact versions with the SHA-256 of every file.

use crate::model::Digest;

/// Made by `uv pip compile --universal --generate-hashes`; pip and uv refuse any other content.
pub(super) const TEXT: &str = include_str!("../../assets/python/requirements.lock");

/// What is downloaded, on x86_64 for Python 3.11; other Pythons and machines take about the same.
pub(super) const DOWNLOAD_MB: u64 = 175;

/// The input of the lock file.
const REQUIREMENTS: &str = include_str!("../../assets/python/requirements.in");

/// How the packages are processed; an environment with another recipe is replaced too.
const RECIPE: &str = "# without the libraries' tests and the installer, compiled\n";

/// Identifies the contents of an environment: the lock file and the recipe.
pub(super) fn digest() -> Digest {
    Digest::of([TEXT, RECIPE].concat().as_bytes())
}

/// Number of letters of the digest in the folder name of an environment.
const LETTERS: usize = 12;

/// The folder name of an environment with this lock file and this Python.
pub(super) fn folder((a, b, c): (u32, u32, u32)) -> String {
    format!("{}-{a}.{b}.{c}", digest().short(LETTERS))
}

/// Whether this is the folder name of an environment with another lock file.
pub(super) fn is_of_another(folder: &str) -> bool {
    folder.split_once('-').is_some_and(|(lock, python)| {
        lock.len() == LETTERS
            && lock.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
            && lock != digest().short(LETTERS)
            && python.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    })
}

/// The normalised names (PEP 503) of the locked packages, without duplicates. An entry with a
/// condition is for some Pythons only, but every name has an entry for each Python.
pub fn packages() -> Vec<&'static str> {
    let mut names: Vec<&str> = TEXT
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_alphanumeric()))
        .filter_map(|line| Some(line.split_once("==")?.0))
        .collect();
    names.dedup();
    names
}

/// The names of the requested packages; the others in [`packages`] are their dependencies.
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
    fn only_environments_of_other_lock_files_are_recognised_as_such() {
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

    /// Name, versions and licence of each package in the documentation.
    fn documented() -> Vec<(&'static str, BTreeSet<&'static str>, &'static str)> {
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
    fn the_package_table_matches_the_lock_and_has_no_gpl_package() {
        let mut locked: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for line in TEXT.lines().filter(|line| !line.starts_with([' ', '#'])) {
            if let Some((name, rest)) = line.split_once("==") {
                let version = rest.split(' ').next().unwrap();
                locked.entry(name).or_default().insert(version);
            }
        }
        let documented = documented();
        assert_eq!(documented.len(), locked.len());
        for (name, versions, licence) in documented {
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
        for expected in [
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
            assert!(names.contains(&expected), "{expected}");
            assert!(libraries().contains(&expected), "{expected}");
        }
        assert_eq!(libraries().len(), 14);
        assert!(!TEXT.contains("://"), "the lock file names a host");
        assert!(
            !TEXT.lines().any(|l| l.starts_with('-')),
            "the lock file contains an option"
        );
        // A condition on the machine would make the package missing on others.
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
