//! Asks an interpreter about itself.
//!
//! The probe runs with `-I -S` and an almost empty environment, and imports only the standard
//! library. So it never runs a `.pth` file or other code of the probed environment.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::command::{self, Trouble};
use super::{PythonEnv, RuntimeError};
use crate::model::Digest;

/// The Python program that asks.
const PROBE: &str = include_str!("../../assets/python/probe.py");
/// The oldest Python whose `ast` and import system the child's guard supports.
pub(super) const OLDEST: (u32, u32) = (3, 11);
/// Time-out; a cold interpreter on a slow disk takes about a second.
const PATIENCE: Duration = Duration::from_secs(20);
/// Maximum size of an answer, far above that of an environment with a thousand distributions.
const ANSWER_CAP: usize = 4 * 1024 * 1024;

/// The answer of an interpreter, and what it can be used for.
#[derive(Clone, Debug)]
pub(super) struct Probed {
    pub env: PythonEnv,
    /// The folders of `env.sys_path` that hold installed distributions.
    pub site_packages: Vec<PathBuf>,
    pub can: Can,
    /// A uv that may install packages; only [`super::find::find_base`] looks for one.
    pub uv: Option<PathBuf>,
}

/// The available modules of those that making an environment needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Can {
    pub venv: bool,
    pub ensurepip: bool,
    pub pip: bool,
}

impl Can {
    /// Whether this Python can make an environment.
    pub fn make_environments(self) -> bool {
        self.venv && (self.ensurepip || self.pip)
    }
}

#[derive(Deserialize)]
struct Answer {
    implementation: String,
    version: (u32, u32, u32),
    full_version: String,
    executable: Option<PathBuf>,
    #[serde(flatten)]
    rest: Option<Rest>,
}

#[derive(Deserialize)]
struct Rest {
    base_prefix: PathBuf,
    prefix: PathBuf,
    sys_path: Vec<PathBuf>,
    site_packages: Vec<PathBuf>,
    /// Name, version, and SHA-256 of the installer's record.
    distributions: Vec<(String, String, String)>,
    venv: bool,
    ensurepip: bool,
    pip: bool,
}

/// Asks `python` about itself. A shim that passes its arguments on to an interpreter is fine: the
/// answer names the interpreter.
///
/// # Errors
/// If it cannot be started, crashes, hangs (20 s), gives another answer, or is older than 3.11.
pub fn probe(python: &Path) -> Result<PythonEnv, RuntimeError> {
    examine(python).map(|p| p.env)
}

/// [`probe`], with what [`PythonEnv`] does not keep.
pub(super) fn examine(python: &Path) -> Result<Probed, RuntimeError> {
    examine_within(python, PATIENCE)
}

fn examine_within(python: &Path, patience: Duration) -> Result<Probed, RuntimeError> {
    let answer = ask(python, patience)?;
    let version = answer.version;
    if answer.implementation != "cpython" {
        return Err(RuntimeError::NotCPython {
            python: python.to_owned(),
            implementation: crate::model::visible(&answer.implementation).into_owned(),
        });
    }
    if (version.0, version.1) < OLDEST {
        return Err(RuntimeError::TooOld {
            python: python.to_owned(),
            version: format!("{}.{}.{}", version.0, version.1, version.2),
        });
    }
    let garbage = |why: &str| RuntimeError::Garbage {
        python: python.to_owned(),
        why: why.to_owned(),
    };
    let executable = answer
        .executable
        .filter(|p| p.is_absolute())
        .ok_or_else(|| garbage("it does not know where it lies"))?;
    let rest = answer
        .rest
        .ok_or_else(|| garbage("its answer lacks a part"))?;
    let identity = Identity::of(&executable)?;
    if !is_elf(&executable) {
        return Err(garbage("the interpreter it names is a script"));
    }
    let mut sys_path = rest.sys_path;
    for site in &rest.site_packages {
        if !sys_path.contains(site) {
            sys_path.push(site.clone());
        }
    }
    if sys_path.iter().any(|p| !p.is_absolute()) {
        return Err(garbage("its module path has relative entries"));
    }
    if !sys_path
        .iter()
        .any(|p| p.join("os.py").is_file() || p.is_file())
    {
        return Err(garbage("its standard library is missing"));
    }
    let digest = digest(
        &answer.full_version,
        &executable,
        identity,
        &sys_path,
        &rest.distributions,
    );
    Ok(Probed {
        env: PythonEnv {
            executable,
            version,
            base_prefix: rest.base_prefix,
            prefix: rest.prefix,
            sys_path,
            distributions: rest
                .distributions
                .into_iter()
                .map(|(name, version, _)| (name, version))
                .collect(),
            digest,
        },
        site_packages: rest.site_packages,
        can: Can {
            venv: rest.venv,
            ensurepip: rest.ensurepip,
            pip: rest.pip,
        },
        uv: None,
    })
}

fn ask(python: &Path, patience: Duration) -> Result<Answer, RuntimeError> {
    let output = output_of(python, PROBE, Stdio::null(), patience)?;
    serde_json::from_slice(&output).map_err(|_| {
        let output = command::tail(&output, 1);
        RuntimeError::Garbage {
            python: python.to_owned(),
            why: if output.is_empty() {
                "it said nothing".to_owned()
            } else {
                format!("it said: {}", output.chars().take(80).collect::<String>())
            },
        }
    })
}

/// The standard output of one of our programs, run isolated and without `site`.
///
/// # Errors
/// If the interpreter cannot be started, crashes, hangs (20 s) or prints more than 4 MiB.
pub fn answer(env: &PythonEnv, program: &str, input: Stdio) -> Result<Vec<u8>, RuntimeError> {
    output_of(&env.executable, program, input, PATIENCE)
}

fn output_of(
    python: &Path,
    program: &str,
    input: Stdio,
    patience: Duration,
) -> Result<Vec<u8>, RuntimeError> {
    let python = python.to_owned();
    let mut command = isolated(&python);
    // The probe must not change the environment, so it writes no byte code.
    command.args(["-S", "-B", "-c", program]);
    let ran = match command::run(&mut command, input, patience, ANSWER_CAP) {
        Ok(ran) => ran,
        Err(Trouble::Start(source)) => return Err(RuntimeError::Start { python, source }),
        Err(Trouble::Read(source)) => {
            return Err(RuntimeError::Unreadable {
                path: python,
                source,
            });
        }
        Err(Trouble::TimedOut) => {
            return Err(RuntimeError::TimedOut {
                python,
                seconds: patience.as_secs(),
            });
        }
        Err(Trouble::TooMuch) => {
            return Err(RuntimeError::Garbage {
                python,
                why: "it does not stop talking".to_owned(),
            });
        }
    };
    if !ran.status.success() {
        return Err(RuntimeError::Crashed {
            python,
            status: command::describe(ran.status),
            stderr: command::tail(&ran.stderr, 3),
        });
    }
    Ok(ran.stdout)
}

/// `python -I` with only PATH and HOME of our environment; a shim may need the home to find its
/// interpreter.
pub(super) fn isolated(python: &Path) -> Command {
    // A name without a slash is searched on PATH. A relative path is resolved here, because the
    // child starts in the root folder, so that no file of ours decides which Python a shim picks.
    let python = match std::path::absolute(python) {
        Ok(absolute) if python.components().count() > 1 => absolute,
        _ => python.to_owned(),
    };
    let mut command = Command::new(python);
    command.env_clear().current_dir("/").arg("-I");
    for name in ["PATH", "HOME"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command
}

/// Whether the kernel can start the file without another program.
fn is_elf(path: &Path) -> bool {
    let mut magic = [0; 4];
    std::fs::File::open(path)
        .and_then(|mut f| std::io::Read::read_exact(&mut f, &mut magic))
        .is_ok_and(|()| &magic == b"\x7fELF")
}

/// Distinguishes files of the same name without reading them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, Deserialize)]
pub(super) struct Identity {
    pub bytes: u64,
    /// Modification time in nanoseconds since the epoch.
    pub modified_ns: i64,
}

impl Identity {
    pub fn of(path: &Path) -> Result<Self, RuntimeError> {
        let meta = std::fs::metadata(path).map_err(|source| RuntimeError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        Ok(Self {
            bytes: meta.len(),
            modified_ns: meta
                .mtime()
                .saturating_mul(1_000_000_000)
                .saturating_add(meta.mtime_nsec()),
        })
    }
}

/// SHA-256 over a labelled, length-prefixed list of everything that a snippet would find.
fn digest(
    full_version: &str,
    executable: &Path,
    identity: Identity,
    sys_path: &[PathBuf],
    distributions: &[(String, String, String)],
) -> Digest {
    let mut hash = Sha256::new();
    let mut put = |label: &str, value: &[u8]| {
        for part in [label.as_bytes(), value] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    };
    put("format", b"countersign python 1");
    put("version", full_version.as_bytes());
    put("executable", executable.as_os_str().as_encoded_bytes());
    put("executable bytes", &identity.bytes.to_le_bytes());
    put("executable time", &identity.modified_ns.to_le_bytes());
    for path in sys_path {
        put("path", path.as_os_str().as_encoded_bytes());
    }
    for (name, version, record) in distributions {
        put("distribution", name.as_bytes());
        put("its version", version.as_bytes());
        put("its record", record.as_bytes());
    }
    Digest::from_bytes(hash.finalize().into())
}

#[cfg(test)]
#[path = "probe_tests.rs"]
mod tests;
