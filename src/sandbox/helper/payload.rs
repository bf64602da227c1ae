//! Makes the payload: forks, confines the child and execs the interpreter. The payload then waits
//! at the gate.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::prctl;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use nix::sys::stat::Mode;
use nix::unistd::{AccessFlags, Uid, access, execve, getppid, pipe2};

use crate::model::{Limits, Tier};

use super::super::events::Events;
use super::super::protocol::{Descriptors, Order, Purpose};
use super::super::raw::{self, Side};
use super::super::{interpreter, scratch};
use super::identity::{self, Identity};
use super::jail::{landlock_rules, root, seccomp};
use super::layer::{Layer, on};
use super::{Attempt, Reason, Refusal, Step, limits};

/// Sources are first moved above this number, so that placing one never closes another.
const STAGING: RawFd = 300;

/// Arguments that make our own binary the probe, which only waits to be looked at.
const PROBE_ARGUMENTS: &[&str] = &["__sandbox", "probe"];

/// Everything the fork needs, made while errors can still be reported.
pub struct Plan {
    executable: CString,
    args: Vec<CString>,
    env: Vec<CString>,
    output: PathBuf,
    /// Paths that the interpreter must be able to read, as the payload sees them.
    needs: Vec<PathBuf>,
    limits: Limits,
    /// In the order of the payload's descriptors.
    placed: Vec<OwnedFd>,
    gate: OwnedFd,
    /// `/proc`, opened before the payload's view became read-only.
    proc: OwnedFd,
    /// Tier `kernel` only.
    filter: Option<seccomp::Programs>,
}

/// A payload that waits at the gate.
pub struct Started {
    /// The helper's child: the payload itself or pid 1 of its jail.
    pub pid: i32,
    /// The pidfd of the jail's pid 1. Killing that process kills everything in the jail.
    pub pidfd: Option<OwnedFd>,
    pub payload: i32,
    /// Layers that cannot be read from outside; the payload reports them before its exec.
    pub layers: Vec<String>,
    /// The pipe on which pid 1 of a jail reports how the payload ended.
    pub exit: Option<OwnedFd>,
    /// The folder for the payload's output files, opened by the process that made it.
    pub output: OwnedFd,
}

/// The surroundings in which the payload starts.
#[derive(Clone, Copy)]
pub enum PayloadRoot<'a> {
    /// Tier `process`: the machine itself, under root as another user.
    Machine(Option<&'a Identity>),
    /// Tier `kernel`: namespaces with their own root.
    Jail,
}

impl Plan {
    /// Also returns the lifeline, which the payload must not have.
    pub fn new(
        order: &Order,
        descriptors: Descriptors<OwnedFd>,
    ) -> Result<(Self, OwnedFd), Refusal> {
        let text =
            |bytes: &[u8]| CString::new(bytes).map_err(|e| Refusal::new(Reason::PathWithNul, e));
        let executable = text(order.executable.as_os_str().as_encoded_bytes())?;
        is_interpreter(&order.executable)?;
        let jailed = order.tier != Tier::Process;
        let (scratch, needs, filter) = if jailed {
            (
                PathBuf::from(root::SCRATCH),
                root::bound(&order.executable, &order.needs),
                Some(seccomp::Programs::compile()?),
            )
        } else {
            (order.scratch.clone(), order.needs.clone(), None)
        };
        let mut args = vec![executable.clone()];
        let arguments = if order.purpose == Purpose::Probe {
            PROBE_ARGUMENTS
        } else {
            interpreter::ARGUMENTS
        };
        for arg in arguments {
            args.push(text(arg.as_bytes())?);
        }
        let env = interpreter::environment(&scratch)
            .into_iter()
            .map(|(name, value)| text(&[name.as_bytes(), b"=", value.as_encoded_bytes()].concat()))
            .collect::<Result<_, _>>()?;
        #[cfg(test)]
        let env = with_the_parents(env);
        let (gate_read, gate) = pipe2(OFlag::O_CLOEXEC).step(Step::MakePipe)?;
        let null = File::open("/dev/null").step(Step::OpenDevNull)?;
        let Descriptors {
            lifeline,
            stdout,
            stderr,
            report,
            setup,
            bundle,
            job,
            code,
            inputs,
        } = descriptors;
        let fds = [
            null.into(),
            stdout,
            stderr,
            gate_read,
            report,
            setup,
            bundle,
            job,
            code,
        ];
        let placed = fds
            .into_iter()
            .chain(inputs)
            .map(staged)
            .collect::<Result<Vec<_>, _>>()?;
        let needed = placed.len() as u64 + 16;
        if order.limits.open_files < needed {
            let limit = order.limits.open_files;
            return Err(Refusal::new(
                Reason::TooFewFiles { limit, needed },
                "limits.open_files",
            ));
        }
        let proc = nix::fcntl::open(
            "/proc",
            OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC,
            Mode::empty(),
        )
        .step(Step::OpenProc)?;
        let plan = Self {
            executable,
            args,
            env,
            output: scratch.join(scratch::OUTPUT),
            needs,
            limits: order.limits,
            placed,
            gate,
            proc: staged(proc)?,
            filter,
        };
        Ok((plan, lifeline))
    }

    /// Tier `process`: forks and waits until the child has become the interpreter; the error names
    /// the step that failed.
    pub fn start(
        &self,
        identity: Option<&Identity>,
        lifeline: &OwnedFd,
    ) -> Result<Started, Refusal> {
        let (failure_read, failure) = pipe2(OFlag::O_CLOEXEC).step(Step::MakePipe)?;
        let parent = std::process::id() as i32;
        let output = nix::fcntl::open(
            &self.output,
            OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC,
            Mode::empty(),
        )
        .step(Step::OpenFolder)?;
        match raw::fork().step(Step::Fork)? {
            Side::Child => {
                drop(failure_read);
                self.become_payload(PayloadRoot::Machine(identity), parent, File::from(failure))
            }
            Side::Parent(pid) => {
                drop(failure);
                Ok(Started {
                    pid,
                    pidfd: None,
                    payload: pid,
                    layers: await_exec(failure_read, lifeline)?,
                    exit: None,
                    output,
                })
            }
        }
    }

    /// Opens the gate: the payload waits there for one byte.
    pub fn release(&self) -> std::io::Result<()> {
        nix::unistd::write(&self.gate, b"r")?;
        Ok(())
    }

    /// Runs in the child: confines it and becomes the interpreter, or reports why it cannot.
    pub fn become_payload(&self, place: PayloadRoot<'_>, parent: i32, failure: File) -> ! {
        let mut failure = failure;
        let refusal = match self.confine(place, parent, &mut failure) {
            Err(refusal) => refusal,
            Ok(()) => start(&self.executable, &self.args, &self.env),
        };
        report_failure(failure, &refusal);
        raw::exit_now(127)
    }

    fn confine(
        &self,
        place: PayloadRoot<'_>,
        parent: i32,
        failure: &mut File,
    ) -> Result<(), Refusal> {
        leave_parent()?;
        self.raise_oom_score(place)?;
        let next = place_all(&self.placed, failure)?;
        if on(Layer::Descriptors) {
            raw::close_from(next).step(Step::CloseDescriptors)?;
        }

        limits::set(&self.limits)?;
        let shared = match place {
            PayloadRoot::Machine(Some(identity)) => {
                identity::drop_to(identity.uid)?;
                0
            }
            PayloadRoot::Machine(None) => {
                identity::drop_capabilities()?;
                limits::threads_of(Uid::current().as_raw()).step(Step::CountProcesses)?
            }
            PayloadRoot::Jail => {
                identity::drop_all_capabilities()?;
                // Pid 1 of the jail has the same user and counts too.
                1
            }
        };
        limits::set_processes(&self.limits, shared)?;

        // Must follow the change of user, which clears the setting. The parent has one thread.
        if on(Layer::ParentDeath) {
            prctl::set_pdeathsig(Signal::SIGKILL).step(Step::SetParentDeathSignal)?;
        }
        if getppid().as_raw() != parent {
            return Err(Refusal::new(Reason::HelperGone, "parent changed"));
        }
        if on(Layer::NoNewPrivs) {
            prctl::set_no_new_privs().step(Step::GiveUpPrivileges)?;
        }
        are_reachable(&self.needs)?;
        nix::unistd::chdir(&self.output).step(Step::EnterFolder)?;
        if let Some(filter) = &self.filter {
            if on(Layer::Landlock) {
                let layer = landlock_rules::restrict(&self.needs)?;
                // This layer cannot be read from outside, so our own code reports it before any
                // other code runs.
                writeln!(failure, "+{layer}").step(Step::RestrictFiles)?;
            }
            if on(Layer::Seccomp) {
                filter.install()?;
            }
        }
        Ok(())
    }

    /// Makes the payload the kernel's first victim when memory runs out. Raising the score needs no
    /// privilege, but root owns its file while the process is not dumpable; the exec makes the
    /// process dumpable anyway.
    fn raise_oom_score(&self, place: PayloadRoot<'_>) -> Result<(), Refusal> {
        const DOING: Step = Step::RaiseOomScore;
        prctl::set_dumpable(true).step(DOING)?;
        let flags = OFlag::O_WRONLY | OFlag::O_CLOEXEC;
        let score = match place {
            PayloadRoot::Machine(_) => {
                nix::fcntl::openat(&self.proc, "self/oom_score_adj", flags, Mode::empty())
            }
            PayloadRoot::Jail => nix::fcntl::open("/proc/self/oom_score_adj", flags, Mode::empty()),
        };
        nix::unistd::write(score.step(DOING)?, b"1000").step(DOING)?;
        Ok(())
    }
}

/// Runs in a child: drops what it inherited from its parent, except descriptors.
pub fn leave_parent() -> Result<(), Refusal> {
    raw::default_signals();
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None).step(Step::ResetSignals)?;
    nix::unistd::setsid().step(Step::LeaveSession)?;
    Ok(())
}

/// Runs in a child: moves each descriptor to the number that is its index in the list, and the
/// failure pipe to the next number. Returns the number after that; descriptors from there on can be
/// closed.
pub fn place_all(placed: &[OwnedFd], failure: &mut File) -> Result<u32, Refusal> {
    // Moves the pipe above the numbers that are placed; the assignment closes the old descriptor.
    *failure = File::from(staged(
        failure.try_clone().step(Step::PlaceDescriptors)?.into(),
    )?);
    for (target, fd) in placed.iter().enumerate() {
        raw::place(fd.as_fd(), target as RawFd, false).step(Step::PlaceDescriptors)?;
    }
    let last = placed.len() as RawFd;
    raw::place(failure.as_fd(), last, true).step(Step::PlaceDescriptors)?;
    *failure = File::from(raw::adopt(last));
    Ok(last as u32 + 1)
}

/// Runs in a confined child: becomes the interpreter, or returns why it cannot.
pub fn start(executable: &CStr, args: &[CString], env: &[CString]) -> Refusal {
    match execve(executable, args, env) {
        Err(e) => Refusal::new(Reason::InterpreterNotStarted, e),
        Ok(never) => match never {},
    }
}

/// Checks the paths with the payload's own rights, so that an obstacle (modes, access lists,
/// mounts) is found here and not as an import error later.
pub fn are_reachable(needs: &[PathBuf]) -> Result<(), Refusal> {
    for path in needs {
        if let Err(e) = access(path, AccessFlags::R_OK | AccessFlags::X_OK)
            && let Err(e) = access(path, AccessFlags::R_OK).map_err(|_| e)
        {
            return Err(Refusal::new(
                Reason::EnvironmentUnreadable,
                format!("{}: {e}", path.display()),
            ));
        }
    }
    Ok(())
}

/// Runs in a child: reports over its pipe why it cannot become the payload.
pub fn report_failure(mut channel: File, refusal: &Refusal) {
    let text = serde_json::to_string(refusal).unwrap_or_default();
    // If the helper is gone, nobody reads this.
    let _ = channel.write_all(format!("-{text}\n").as_bytes());
}

/// Parses a line of [`report_failure`].
fn read_failure(line: &str) -> Refusal {
    serde_json::from_str(line).unwrap_or_else(|_| Refusal::new(Reason::Unknown, line))
}

/// What can be read before the exec.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    Payload,
    Lifeline,
}

/// Runs in the helper: waits until the exec has closed the child's pipe. Returns the layers that
/// the child applied, or the failure that it reported. Gives up at the end of the lifeline, so that
/// a file system that hangs cannot block the helper.
pub fn await_exec(channel: OwnedFd, lifeline: &OwnedFd) -> Result<Vec<String>, Refusal> {
    let mut channel = File::from(channel);
    let mut said = Vec::new();
    loop {
        let events = Events::new()
            .on(Said::Payload, channel.as_fd())
            .on(Said::Lifeline, lifeline.as_fd());
        let happened = events.wait(None).step(Step::StartPython)?;
        if happened.has(Said::Lifeline) {
            return Err(Refusal::new(Reason::DashboardGone, "lifeline"));
        }
        if !happened.has(Said::Payload) {
            continue;
        }
        let mut buffer = [0u8; 4096];
        match channel.read(&mut buffer).step(Step::StartPython)? {
            0 => break,
            n => said.extend_from_slice(&buffer[..n]),
        }
    }
    let said = String::from_utf8_lossy(&said);
    let mut layers = Vec::new();
    for line in said.lines() {
        if let Some(layer) = line.strip_prefix('+') {
            layers.push(layer.to_owned());
        } else {
            return Err(read_failure(line.trim_start_matches('-')));
        }
    }
    Ok(layers)
}

/// The same file at a number above the payload's descriptors.
pub fn staged(fd: OwnedFd) -> Result<OwnedFd, Refusal> {
    fcntl(&fd, FcntlArg::F_DUPFD_CLOEXEC(STAGING))
        .map(raw::adopt)
        .step(Step::HoldDescriptor)
}

/// Refuses the shell shim of a version manager: it would run a shell with files from the user's
/// home before any Python.
pub fn is_interpreter(path: &Path) -> Result<(), Refusal> {
    let mut magic = [0u8; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    match read {
        Ok(()) if &magic == b"\x7fELF" => Ok(()),
        Ok(()) => Err(Refusal::new(Reason::InterpreterIsScript, path.display())),
        Err(e) => Err(Refusal::new(
            Reason::InterpreterUnreadable,
            format!("{}: {e}", path.display()),
        )),
    }
}

/// Used when a test leaves the layer off: adds the parent's variables.
#[cfg(test)]
fn with_the_parents(mut env: Vec<CString>) -> Vec<CString> {
    if !on(Layer::Environment) {
        env.extend(super::layer::switched::parents_environment());
    }
    env
}

const _: () = assert!(STAGING > 253 + 16);
