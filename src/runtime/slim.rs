//! Removes what no snippet needs from a new environment, because each grant looks at every
//! remaining file.

use std::fs;
use std::io;
use std::path::Path;

/// Packages whose folders named `tests` contain only their own tests and are imported by nothing
/// else. Folders of that name in other packages stay.
const TESTED: [&str; 8] = [
    "matplotlib",
    "mpl_toolkits",
    "numpy",
    "pandas",
    "pyarrow",
    "scipy",
    "sklearn",
    "statsmodels",
];

/// Removes the tests of the libraries in `site`.
pub(super) fn without_tests(site: &Path) -> io::Result<()> {
    for name in TESTED {
        match clear(&site.join(name)) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            done => done?,
        }
    }
    Ok(())
}

fn clear(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_type()?.is_dir() {
            continue;
        }
        if entry.file_name() == "tests" {
            fs::remove_dir_all(entry.path())?;
        } else {
            clear(&entry.path())?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::testing::managed_env;

    fn folders(folder: &Path, name: &str, found: &mut Vec<std::path::PathBuf>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                if entry.file_name() == name {
                    found.push(entry.path());
                }
                folders(&entry.path(), name, found);
            }
        }
    }

    #[test]
    fn the_environment_has_no_tests_of_libraries_and_no_installer() {
        let env = managed_env();
        let site = env.sys_path.iter().find(|p| p.join("pandas").is_dir());
        let site = site.unwrap();
        for name in TESTED {
            let mut found = Vec::new();
            folders(&site.join(name), "tests", &mut found);
            assert!(found.is_empty(), "{found:?}");
        }
        assert!(site.join("pandas/__pycache__").is_dir(), "not compiled");
        for name in ["pip", "setuptools"] {
            assert!(!site.join(name).exists(), "{name}");
        }
    }

    #[test]
    fn only_folders_of_that_name_are_removed_and_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (site, outside) = (dir.path().join("site"), dir.path().join("outside"));
        for folder in [
            "pandas/tests/a",
            "pandas/io/tests",
            "pandas/testing",
            "other/tests",
        ] {
            fs::create_dir_all(site.join(folder)).unwrap();
        }
        fs::create_dir_all(outside.join("tests")).unwrap();
        fs::write(site.join("pandas/io/tests.py"), "").unwrap();
        std::os::unix::fs::symlink(&outside, site.join("pandas/link")).unwrap();
        without_tests(&site).unwrap();
        for kept in [
            "pandas/io/tests.py",
            "pandas/testing",
            "other/tests",
            "pandas/link/tests",
        ] {
            assert!(site.join(kept).exists(), "{kept}");
        }
        for removed in ["pandas/tests", "pandas/io/tests"] {
            assert!(!site.join(removed).exists(), "{removed}");
        }
    }
}
