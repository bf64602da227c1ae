//! Finds a Python on PATH.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::probe::{Probed, examine};
use super::{PythonEnv, RuntimeError, uv};

/// In order of preference: the versions tested with the lock file, then any.
const NAMES: [&str; 6] = [
    "python3.13",
    "python3.12",
    "python3.11",
    "python3.14",
    "python3",
    "python",
];

/// The Python at `explicit`, or else the first on PATH that is 3.11 or later and can make
/// environments.
///
/// # Errors
/// If there is none; the error names what was tried, or what the best candidate lacks.
pub fn find_python(explicit: Option<&Path>) -> Result<PythonEnv, RuntimeError> {
    match explicit {
        Some(python) => examine(python),
        None => find_base(),
    }
    .map(|p| p.env)
}

/// A Python that can make environments, and the uv that may fill them.
pub(super) fn find_base() -> Result<Probed, RuntimeError> {
    let path: Vec<PathBuf> = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
    let uv = uv::find(&path);
    find_in(path).map(|base| Probed { uv, ..base })
}

fn find_in(path: Vec<PathBuf>) -> Result<Probed, RuntimeError> {
    let mut lacking: Option<Probed> = None;
    let mut tried = Vec::new();
    let mut seen = BTreeSet::new();
    for name in NAMES {
        for dir in path.iter().filter(|d| d.is_absolute()) {
            let python = dir.join(name);
            // Many names are links to one file. A shim behaves differently by name.
            let Ok(real) = fs::canonicalize(&python) else {
                continue;
            };
            if !seen.insert((real, python.file_name().map(ToOwned::to_owned))) {
                continue;
            }
            match examine(&python) {
                Ok(probed) if probed.can.make_environments() => return Ok(probed),
                Ok(probed) => {
                    lacking.get_or_insert(probed);
                }
                Err(RuntimeError::TooOld { version, .. }) => {
                    tried.push(format!("{} is {version}", python.display()));
                }
                Err(_) => tried.push(format!("{} does not work", python.display())),
            }
        }
    }
    if let Some(probed) = lacking {
        return Err(no_venv(&probed));
    }
    if tried.is_empty() {
        tried.push("there is no Python at all".to_owned());
    }
    tried.truncate(6);
    Err(RuntimeError::NotFound {
        tried: tried.join(", "),
    })
}

/// The error that names this system's package with the missing module.
pub(super) fn no_venv(probed: &Probed) -> RuntimeError {
    let (a, b, _) = probed.env.version;
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let remedy = match family(&release) {
        Family::Debian => format!("install it with: apt install python{a}.{b}-venv"),
        Family::Fedora => format!("install it with: dnf install python{a}.{b} python3-pip"),
        Family::Suse => format!("install it with: zypper install python{a}{b}-pip"),
        Family::Alpine => "install it with: apk add py3-pip".to_owned(),
        Family::Other => {
            "install your system's package of Python's venv and pip, or another Python".to_owned()
        }
    };
    RuntimeError::NoVenv {
        python: probed.env.executable.clone(),
        missing: if probed.can.venv { "ensurepip" } else { "venv" },
        remedy,
    }
}

#[derive(Debug, PartialEq)]
enum Family {
    Debian,
    Fedora,
    Suse,
    Alpine,
    Other,
}

/// The family of distributions that an os-release(5) file names.
fn family(release: &str) -> Family {
    let words: BTreeSet<&str> = release
        .lines()
        .filter_map(|l| l.strip_prefix("ID=").or_else(|| l.strip_prefix("ID_LIKE=")))
        .flat_map(|v| v.trim_matches('"').split_whitespace())
        .collect();
    let is = |names: &[&str]| names.iter().any(|n| words.contains(n));
    if is(&["debian", "ubuntu"]) {
        Family::Debian
    } else if is(&["fedora", "rhel", "centos"]) {
        Family::Fedora
    } else if is(&["suse", "opensuse", "sles"]) {
        Family::Suse
    } else if is(&["alpine"]) {
        Family::Alpine
    } else {
        Family::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script(dir: &Path, name: &str, text: &str) {
        super::super::testing::executable(&dir.join(name), text);
    }

    #[test]
    fn broken_and_old_pythons_are_skipped_and_named_if_there_is_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let (broken, good) = (dir.path().join("broken"), dir.path().join("good"));
        fs::create_dir(&broken).unwrap();
        fs::create_dir(&good).unwrap();
        script(&broken, "python3.13", "#!/bin/sh\nexit 127\n");
        script(
            &broken,
            "python3",
            "#!/bin/sh\necho '{\"implementation\":\"cpython\",\"version\":[3,8,1],\
             \"full_version\":\"\",\"executable\":\"/x\"}'\n",
        );
        let error = find_in(vec![broken.clone()]).unwrap_err().to_string();
        assert!(error.contains("python3.13 does not work"), "{error}");
        assert!(error.contains("python3 is 3.8.1"), "{error}");
        assert!(error.contains("--python"), "{error}");
        let none = find_in(vec![good.clone()]).unwrap_err().to_string();
        assert!(none.contains("no Python at all"), "{none}");

        let real = find_base().unwrap().env.executable;
        script(
            &good,
            "python3",
            &format!("#!/bin/sh\nexec {} \"$@\"\n", real.display()),
        );
        let found = find_in(vec![broken, good]).unwrap();
        assert_eq!(found.env.executable, real);
    }

    #[test]
    fn a_python_without_venv_names_the_package_to_install() {
        let dir = tempfile::tempdir().unwrap();
        let mut probed = find_base().unwrap();
        probed.can.ensurepip = false;
        let error = no_venv(&probed).to_string();
        assert!(error.contains("ensurepip module is missing"), "{error}");
        assert!(error.contains("install"), "{error}");
        drop(dir);
        assert_eq!(family("ID=ubuntu\nID_LIKE=debian\n"), Family::Debian);
        assert_eq!(
            family("ID=\"rocky\"\nID_LIKE=\"rhel fedora\""),
            Family::Fedora
        );
        assert_eq!(family("ID=alpine"), Family::Alpine);
        assert_eq!(family("ID=gentoo"), Family::Other);
        assert_eq!(
            family("ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\""),
            Family::Suse
        );
    }
}
