//! Installs the locked packages with uv where it is on PATH: it downloads and unpacks in parallel. pip does it where there is
//! no uv, or where uv fails.
//!
//! uv believes what it unpacked before: it takes a package from its cache without hashing it again, and every process of this
//! user can write there. So it gets a cache of its own, which is empty and goes afterwards: each package is downloaded and its
//! SHA-256 compared, as pip does.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::unistd::{AccessFlags, access};

/// The first uv in these folders.
pub(super) fn find(path: &[PathBuf]) -> Option<PathBuf> {
    path.iter()
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join("uv"))
        .find(|uv| uv.is_file() && access(uv, AccessFlags::X_OK).is_ok())
}

/// Installs `requirements` into the environment `folder`. Mirrors, proxies and certificates of the user apply.
pub(super) fn install(uv: &Path, folder: &Path, requirements: &Path, cache: &Path) -> Command {
    let mut command = Command::new(uv);
    for (name, _) in env::vars_os() {
        if misleads(&name) {
            command.env_remove(name);
        }
    }
    command
        .args(["pip", "install", "--require-hashes", "--no-deps"])
        .args(["--only-binary", ":all:", "--link-mode", "hardlink"])
        .args(["--no-python-downloads", "--color", "never"])
        .arg("--python")
        .arg(folder.join("bin/python"))
        .arg("--cache-dir")
        .arg(cache)
        .arg("--requirements")
        .arg(requirements)
        // Settings of a project in which an agent works are no settings of this user.
        .current_dir(folder);
    command
}

/// Variables of uv that are not about where packages come from, and those that mislead every Python.
fn misleads(name: &OsStr) -> bool {
    const KEPT: [&str; 18] = [
        "CONCURRENT_DOWNLOADS",
        "CONCURRENT_INSTALLS",
        "CONFIG_FILE",
        "DEFAULT_INDEX",
        "EXTRA_INDEX_URL",
        "FIND_LINKS",
        "HTTP_RETRIES",
        "HTTP_TIMEOUT",
        "INDEX",
        "INDEX_STRATEGY",
        "INDEX_URL",
        "INSECURE_HOST",
        "KEYRING_PROVIDER",
        "NATIVE_TLS",
        "NO_CONFIG",
        "OFFLINE",
        "REQUEST_TIMEOUT",
        "SYSTEM_CERTS",
    ];
    // UV_INDEX_NAME_USERNAME and UV_INDEX_NAME_PASSWORD.
    let login = |option: &str| {
        option.starts_with("INDEX_")
            && (option.ends_with("_USERNAME") || option.ends_with("_PASSWORD"))
    };
    name.to_str().is_some_and(|name| {
        name.starts_with("PYTHON")
            || name == "VIRTUAL_ENV"
            || name == "CONDA_PREFIX"
            || name
                .strip_prefix("UV_")
                .is_some_and(|option| !KEPT.contains(&option) && !login(option))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::testing::executable;

    #[test]
    fn only_variables_about_the_source_of_packages_reach_uv() {
        for name in [
            "UV_NO_VERIFY_HASHES",
            "UV_LINK_MODE",
            "UV_TARGET",
            "UV_CACHE_DIR",
            "PYTHONPATH",
        ] {
            assert!(misleads(OsStr::new(name)), "{name}");
        }
        for name in [
            "UV_DEFAULT_INDEX",
            "UV_INDEX_OURS_PASSWORD",
            "SSL_CERT_FILE",
            "HTTPS_PROXY",
            "HOME",
        ] {
            assert!(!misleads(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn only_a_program_in_an_absolute_folder_is_taken() {
        let dir = tempfile::tempdir().unwrap();
        let folder = |name: &str| dir.path().join(name);
        for name in ["text", "program", "folder/uv"] {
            std::fs::create_dir_all(folder(name)).unwrap();
        }
        std::fs::write(folder("text/uv"), "").unwrap();
        executable(&folder("program/uv"), "#!/bin/sh\n");
        let path = ["relative".into(), folder("folder"), folder("text")];
        assert_eq!(find(&path), None);
        let path = [&path[..], &[folder("program")]].concat();
        assert_eq!(find(&path), Some(folder("program/uv")));
    }
}
