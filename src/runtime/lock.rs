//! What the managed environment holds: exact versions with the SHA-256 of every file.

use crate::model::Digest;

/// Made by `uv pip compile --universal --generate-hashes`; pip refuses any other content.
pub(super) const TEXT: &str = include_str!("../../assets/python/requirements.lock");

/// What the lock file was made from.
const REQUIREMENTS: &str = include_str!("../../assets/python/requirements.in");

/// Names a lock file's content.
pub(super) fn digest() -> Digest {
    Digest::of(TEXT.as_bytes())
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
    use super::*;

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
        ] {
            assert!(names.contains(&wanted), "{wanted}");
            assert!(libraries().contains(&wanted), "{wanted}");
        }
        assert_eq!(libraries().len(), 6);
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
