//! Runs `venv`, and uv or pip, and turns their output into progress and errors.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::command::{describe, tail};
use super::fault::{Fault, classify};
use super::managed::Progress;
use super::meter::{By, Meter};
use super::probe::Probed;
use super::{RuntimeError, descriptors, lock, slim, uv};

/// How often to look at the folder while pip prints nothing.
const LOOK: Duration = Duration::from_millis(250);
/// A longer line is cut; pip writes none.
const LINE_CAP: usize = 4096;

/// The parameters of an installation.
pub(super) struct Install<'a> {
    pub base: &'a Probed,
    /// The folder in which the environment is made.
    pub folder: &'a Path,
    /// The log file for all output of `venv` and the installers.
    pub log: PathBuf,
    /// The file whose lock keeps other setups out. It is empty and serves as standard input of the
    /// child processes: if this process dies, they hold the lock until they end too.
    pub lock: &'a File,
}

impl Install<'_> {
    /// Makes the environment and installs the locked packages.
    pub fn run(&self, progress: &mut dyn FnMut(Progress)) -> Result<(), RuntimeError> {
        let by = self.base.uv.as_ref().map_or(By::Pip, |_| By::Uv);
        let mut meter = Meter::new(by, progress);
        let mut log =
            File::create(&self.log).map_err(|e| RuntimeError::folder(&self.log, "written", &e))?;
        let installed = match &self.base.uv {
            Some(uv) => self.with_uv(uv, &mut log, &mut meter)?,
            None => false,
        };
        if !installed {
            self.with_pip(&mut log, &mut meter)?;
        }
        let site = self.site_packages();
        slim::without_tests(&site)
            .map_err(|e| RuntimeError::folder(self.folder, "made smaller", &e))?;
        self.compile(&site, &mut log, &mut meter)?;
        meter.checking();
        Ok(())
    }

    /// Whether uv installed the packages. If it could not, the folder is gone, and pip's own settings may lead further.
    fn with_uv(
        &self,
        uv: &Path,
        log: &mut File,
        meter: &mut Meter<'_>,
    ) -> Result<bool, RuntimeError> {
        self.venv(false, log)?;
        meter.made();
        let requirements = self.requirements()?;
        let cache = self.folder.join(".uv-cache");
        let command = uv::install(uv, self.folder, &requirements, &cache);
        let site = self.site_packages();
        let since = self.written();
        let ended = self.follow(command, log, |line| match line {
            Some(line) => meter.line(line),
            None => meter.installed(&site),
        });
        let why = match ended {
            Ok(status) if status.success() => {
                fs::remove_dir_all(&cache)
                    .map_err(|e| RuntimeError::folder(&cache, "removed", &e))?;
                return Ok(true);
            }
            // A package that is not the locked one is nothing to try again, and neither is a full disk.
            Ok(status) => match self.failure("uv pip install", status, since) {
                error @ (RuntimeError::Hash { .. } | RuntimeError::DiskFull { .. }) => {
                    return Err(error);
                }
                _ => describe(status),
            },
            Err(RuntimeError::Start { source, .. }) => source.to_string(),
            Err(error) => return Err(error),
        };
        meter.change(By::Pip);
        let note = format!("{} failed ({why}); pip installs\n", uv.display());
        log.write_all(note.as_bytes())
            .map_err(|e| RuntimeError::folder(&self.log, "written", &e))?;
        fs::remove_dir_all(self.folder)
            .map_err(|e| RuntimeError::folder(self.folder, "removed", &e))?;
        Ok(false)
    }

    fn with_pip(&self, log: &mut File, meter: &mut Meter<'_>) -> Result<(), RuntimeError> {
        let own_pip = self.base.can.ensurepip;
        self.venv(own_pip, log)?;
        meter.made();
        let requirements = self.requirements()?;
        let python = self.folder.join("bin/python");
        let mut pip = if own_pip {
            let mut pip = self.python(&python);
            pip.args(["-m", "pip"]);
            pip
        } else {
            let mut pip = self.python(&self.base.env.executable);
            pip.args(["-m", "pip", "--python"]).arg(&python);
            pip
        };
        pip.args(["install", "--require-hashes", "--no-deps", "--no-input"])
            .args([
                "--only-binary",
                ":all:",
                "--no-color",
                "--progress-bar",
                "off",
            ])
            .args(["--disable-pip-version-check", "--no-compile", "-r"])
            .arg(&requirements);
        let site = self.site_packages();
        let since = self.written();
        let status = self.follow(pip, log, |line| match line {
            Some(line) => meter.line(line),
            None => meter.installed(&site),
        })?;
        if !status.success() {
            return Err(self.failure("pip install", status, since));
        }
        if own_pip {
            self.without_pip(&python, log)?;
        }
        Ok(())
    }

    fn venv(&self, with_pip: bool, log: &mut File) -> Result<(), RuntimeError> {
        let mut venv = self.python(&self.base.env.executable);
        venv.args(["-m", "venv"]);
        if !with_pip {
            venv.arg("--without-pip");
        }
        venv.arg(self.folder);
        let since = self.written();
        let status = self.follow(venv, log, |_| {})?;
        if !status.success() {
            return Err(self.failure("python -m venv", status, since));
        }
        Ok(())
    }

    fn requirements(&self) -> Result<PathBuf, RuntimeError> {
        let requirements = self.folder.join("requirements.lock");
        fs::write(&requirements, lock::TEXT)
            .map_err(|e| RuntimeError::folder(&requirements, "written", &e))?;
        Ok(requirements)
    }

    /// Compiles the libraries on every processor. A file that this Python cannot compile is not loaded by a library, so
    /// errors do not matter.
    fn compile(
        &self,
        site: &Path,
        log: &mut File,
        meter: &mut Meter<'_>,
    ) -> Result<(), RuntimeError> {
        let python = self.folder.join("bin/python");
        // Without semaphores Python starts no workers and compiles nothing. A second look at what is compiled takes a moment.
        for workers in ["0", "1"] {
            let mut compile = self.python(&python);
            compile
                .args(["-m", "compileall", "-q", "-j", workers])
                .arg(site);
            if self
                .follow(compile, log, |_| meter.compiled(site))?
                .success()
            {
                break;
            }
        }
        Ok(())
    }

    /// Removes the installer and its helpers: no snippet may use them.
    fn without_pip(&self, python: &Path, log: &mut File) -> Result<(), RuntimeError> {
        let mut pip = self.python(python);
        pip.args(["-m", "pip", "uninstall", "--yes", "--no-input"])
            .args(["--disable-pip-version-check", "setuptools", "pip"]);
        let since = self.written();
        let status = self.follow(pip, log, |_| {})?;
        if !status.success() {
            return Err(self.failure("pip uninstall", status, since));
        }
        Ok(())
    }

    fn site_packages(&self) -> PathBuf {
        let (a, b, _) = self.base.env.version;
        self.folder.join(format!("lib/python{a}.{b}/site-packages"))
    }

    /// An interpreter with the user's environment, so that proxies, mirrors and certificates apply,
    /// but without the variables that would make Python or pip install something else or elsewhere.
    fn python(&self, python: &Path) -> Command {
        let mut command = Command::new(python);
        command.arg("-I");
        for (name, _) in std::env::vars_os() {
            if misleads(&name) {
                command.env_remove(name);
            }
        }
        command.env("PIP_USER", "0").env("PYTHONUNBUFFERED", "1");
        command
    }

    /// Runs a command to its end, writes its output to the log and passes each line to `each`,
    /// which also gets `None` from time to time while there is no output.
    fn follow(
        &self,
        mut command: Command,
        log: &mut File,
        mut each: impl FnMut(Option<&str>),
    ) -> Result<ExitStatus, RuntimeError> {
        let started = |source| RuntimeError::Start {
            python: PathBuf::from(command.get_program()),
            source,
        };
        let (reader, writer) = io::pipe().map_err(started)?;
        let both = writer
            .try_clone()
            .and_then(|w| Ok((w, self.lock.try_clone()?)));
        let (second, lock) = both.map_err(|source| RuntimeError::Start {
            python: PathBuf::from(command.get_program()),
            source,
        })?;
        command
            .stdin(Stdio::from(lock))
            .stdout(Stdio::from(writer))
            .stderr(Stdio::from(second));
        let spawned = command.spawn();
        let program = PathBuf::from(command.get_program());
        // The command owns our write ends of the pipe; without dropping them, reading would never
        // end.
        drop(command);
        let mut child = spawned.map_err(|source| RuntimeError::Start {
            python: program,
            source,
        })?;
        descriptors::give_back(&child);
        let read = read_lines(reader, log, &mut each);
        if read.is_err() {
            let _ = child.kill();
        }
        let status = child.wait();
        read.and(status)
            .map_err(|e| RuntimeError::folder(&self.log, "written", &e))
    }

    /// The length of the log.
    fn written(&self) -> usize {
        fs::metadata(&self.log).map_or(0, |log| log.len() as usize)
    }

    /// The error, as far as the output of this step explains it, which begins there in the log.
    fn failure(&self, step: &'static str, status: ExitStatus, since: usize) -> RuntimeError {
        let output = fs::read(&self.log).unwrap_or_default();
        let output = output.get(since..).unwrap_or_default();
        let text = String::from_utf8_lossy(output);
        let log = self.log.clone();
        match classify(&text) {
            Fault::Disk => RuntimeError::DiskFull {
                folder: self.folder.to_owned(),
            },
            Fault::Hash => RuntimeError::Hash { log },
            Fault::Network(why) => RuntimeError::Network { why, log },
            Fault::Wheel(package) => {
                let (a, b, c) = self.base.env.version;
                RuntimeError::NoWheel {
                    python: self.base.env.executable.clone(),
                    version: format!("{a}.{b}.{c}"),
                    package,
                    log,
                }
            }
            Fault::Other => RuntimeError::Step {
                step,
                status: describe(status),
                last: tail(output, 6),
                log,
            },
        }
    }
}

/// Variables that change what is installed, where, or what pip prints.
fn misleads(name: &OsStr) -> bool {
    const PIP: [&str; 19] = [
        "TARGET",
        "PREFIX",
        "ROOT",
        "USER",
        "PYTHON",
        "REQUIREMENT",
        "CONSTRAINT",
        "EDITABLE",
        "QUIET",
        "VERBOSE",
        "DRY_RUN",
        "NO_BINARY",
        "ONLY_BINARY",
        "PLATFORM",
        "PYTHON_VERSION",
        "IMPLEMENTATION",
        "ABI",
        "NO_COMPILE",
        "REQUIRE_VIRTUALENV",
    ];
    name.to_str().is_some_and(|name| {
        name.starts_with("PYTHON")
            || name == "VIRTUAL_ENV"
            || name == "__PYVENV_LAUNCHER__"
            || name
                .strip_prefix("PIP_")
                .is_some_and(|option| PIP.contains(&option))
    })
}

fn read_lines(
    mut reader: PipeReader,
    log: &mut File,
    each: &mut impl FnMut(Option<&str>),
) -> io::Result<()> {
    let mut line = Vec::new();
    let mut chunk = [0u8; 8192];
    let patience = PollTimeout::try_from(LOOK).unwrap_or(PollTimeout::MAX);
    loop {
        let mut fds = [PollFd::new(reader.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, patience) {
            Ok(0) => {
                each(None);
                continue;
            }
            Ok(_) => {}
            Err(Errno::EINTR) => continue,
            Err(e) => return Err(e.into()),
        }
        let n = match reader.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        log.write_all(&chunk[..n])?;
        for byte in &chunk[..n] {
            if *byte == b'\n' {
                each(Some(&String::from_utf8_lossy(&line)));
                line.clear();
            } else if line.len() < LINE_CAP {
                line.push(*byte);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_would_install_elsewhere_do_not_reach_pip() {
        for name in [
            "PYTHONPATH",
            "PYTHONHOME",
            "PIP_TARGET",
            "PIP_USER",
            "VIRTUAL_ENV",
        ] {
            assert!(misleads(OsStr::new(name)), "{name}");
        }
        for name in [
            "HTTPS_PROXY",
            "PIP_INDEX_URL",
            "PIP_CERT",
            "PIP_FIND_LINKS",
            "HOME",
        ] {
            assert!(!misleads(OsStr::new(name)), "{name}");
        }
    }
}
