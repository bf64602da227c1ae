//! The programs the benches compare with, in a separate environment under `target/`.
//!
//! The environment is created once, from the versions in `requirements.txt`; only this step needs
//! the network.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio, exit};

use countersign::model::Digest;
use countersign::runtime::PythonEnv;

const REQUIREMENTS: &str = include_str!("requirements.txt");

/// An environment with the peers installed.
pub struct Peers {
    folder: PathBuf,
}

// Each bench uses only a part of this module.
#[allow(dead_code)]
impl Peers {
    /// Creates the environment with the interpreter of `env`, or reuses it. Ends the bench with a
    /// reason on failure, because a table without its peers is useless.
    pub fn ready(env: &PythonEnv) -> Self {
        Self::of(env, REQUIREMENTS)
    }

    /// Like [`Self::ready`], with another list of packages.
    pub fn of(env: &PythonEnv, requirements: &str) -> Self {
        let (a, b, c) = env.version;
        let key = Digest::of(requirements.as_bytes()).short(12);
        let folder =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("peers-{key}-{a}.{b}.{c}"));
        let peers = Self { folder };
        if peers.folder.join("complete").exists() {
            return peers;
        }
        eprintln!("installing the peers (once; needs the network) …");
        let list = peers.folder.join("requirements.txt");
        let _ = fs::remove_dir_all(&peers.folder);
        run(
            "make an environment for the peers",
            Command::new(&env.executable)
                .args(["-m", "venv"])
                .arg(&peers.folder),
        );
        fs::write(&list, requirements).unwrap();
        run(
            "install the peers",
            Command::new(peers.python())
                .args(["-m", "pip", "install", "--quiet", "--no-deps"])
                .args([
                    "--disable-pip-version-check",
                    "--only-binary",
                    ":all:",
                    "-r",
                ])
                .arg(&list),
        );
        fs::write(peers.folder.join("complete"), "").unwrap();
        peers
    }

    pub fn python(&self) -> PathBuf {
        self.folder.join("bin/python")
    }

    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join("bin").join(name)
    }

    /// The pinned version of a peer.
    pub fn version(name: &str) -> &'static str {
        REQUIREMENTS
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix("=="))
            .unwrap()
    }

    /// A package's source archive as its publisher released it; downloaded once, not built.
    pub fn source(&self, package: &str, version: &str) -> PathBuf {
        let folder = self.folder.join("sources");
        let archive = folder.join(format!("{package}-{version}.tar.gz"));
        if archive.exists() {
            return archive;
        }
        eprintln!("downloading the sources of {package} {version} (once; needs the network) …");
        let backend = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/sources");
        run(
            "download the sources that hold the examples",
            Command::new(self.python())
                .args(["-B", "-m", "pip", "download", "--quiet", "--no-deps"])
                .args(["--disable-pip-version-check", "--no-build-isolation"])
                .args(["--no-binary", package, "--dest"])
                .arg(&folder)
                .arg(format!("{package}=={version}"))
                .env("PYTHONPATH", backend)
                .env("PYTHONDONTWRITEBYTECODE", "1"),
        );
        archive
    }
}

/// Runs an installation step. On failure, prints the output and ends the bench.
fn run(what: &str, command: &mut Command) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    if output.status.success() {
        return;
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last = stderr.lines().rev().find(|line| line.contains("rror"));
    eprintln!(
        "cannot {what}: {}\nThe package index has to be reachable the first time a bench runs, or \
         pip's configuration has to name one that is.",
        last.unwrap_or("pip gave no reason")
    );
    exit(1);
}
