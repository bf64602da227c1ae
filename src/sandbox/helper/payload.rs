//! Making the payload: fork, confine, exec the interpreter. Held at the gate afterwards.

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

/// Sources are moved above this first, so that placing one never closes another.
const STAGING: RawFd = 300;

/// The role in which our own binary waits to be looked at.
const PROBE_ARGUMENTS: &[&str] = &["__sandbox", "probe"];

/// Everything the fork needs, made while failing is still easy to tell.
pub struct Plan {
    executable: CString,
    args: Vec<CString>,
    env: Vec<CString>,
    output: PathBuf,
    /// What the interpreter must be able to read, as the payload sees it.
    needs: Vec<PathBuf>,
    limits: Limits,
    /// In the order of the payload's descriptors.
    placed: Vec<OwnedFd>,
    gate: OwnedFd,
    /// `/proc` as it was before the payload's view became read-only.
    proc: OwnedFd,
    /// Tier `kernel` only.
    filter: Option<seccomp::Programs>,
}

/// A payload that waits at the gate.
pub struct Started {
    /// The helper's own child: the payload, or pid 1 of its jail.
    pub pid: i32,
    /// Of pid 1 of its jail, whose end is the end of everything in it.
    pub pidfd: Option<OwnedFd>,
    pub payload: i32,
    /// Layers that cannot be read from outside, as the payload put them on before its exec.
    pub layers: Vec<String>,
    /// Where pid 1 of a jail tells how the payload ended.
    pub exit: Option<OwnedFd>,
    /// The folder in which the payload leaves files, held by its maker.
    pub output: OwnedFd,
}

/// Where the payload is when it becomes one.
#[derive(Clone, Copy)]
pub enum PayloadRoot<'a> {
    /// Tier `process`: on the machine itself, under root as another user.
    Machine(Option<&'a Identity>),
    /// Tier `kernel`: in namespaces, with a root of its own.
    Jail,
}

impl Plan {
    /// Also hands the lifeline back, which the payload must not have.
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

    /// Tier `process`: forks and waits until the interpreter has replaced the child, or says
    /// which step failed.
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

    /// Opens the gate: the payload reads one byte and goes on.
    pub fn release(&self) -> std::io::Result<()> {
        nix::unistd::write(&self.gate, b"r")?;
        Ok(())
    }

    /// In the child: confines itself and becomes the interpreter, or says why not.
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
        self.be_first_to_go(place)?;
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
                // Pid 1, which is of the same user.
                1
            }
        };
        limits::set_processes(&self.limits, shared)?;

        // After the change of user, which clears it. The parent has one thread.
        if on(Layer::ParentDeath) {
            prctl::set_pdeathsig(Signal::SIGKILL).step(Step::FollowIntoDeath)?;
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
                // A layer nobody can read from outside: told by our own code, before any other
                // runs.
                writeln!(failure, "+{layer}").step(Step::RestrictFiles)?;
            }
            if on(Layer::Seccomp) {
                filter.install()?;
            }
        }
        Ok(())
    }

    /// First in line when memory runs out. Raising the score needs no privilege, but its file is
    /// root's while the process may not be dumped; the exec makes it dumpable in any case.
    fn be_first_to_go(&self, place: PayloadRoot<'_>) -> Result<(), Refusal> {
        const DOING: Step = Step::BeFirstToGo;
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

/// In a child: leaves what it has of its parent, but for descriptors.
pub fn leave_parent() -> Result<(), Refusal> {
    raw::default_signals();
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None).step(Step::ResetSignals)?;
    nix::unistd::setsid().step(Step::LeaveSession)?;
    Ok(())
}

/// In a child: puts the descriptors at their numbers, which are their places in the list, and its pipe
/// at the next. The number after that, from which on nothing is needed.
pub fn place_all(placed: &[OwnedFd], failure: &mut File) -> Result<u32, Refusal> {
    // Out of the way of the numbers that are placed; the old one is closed by the move.
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

/// In a child that is confined: becomes the interpreter, or comes back with what keeps it from that.
pub fn start(executable: &CStr, args: &[CString], env: &[CString]) -> Refusal {
    match execve(executable, args, env) {
        Err(e) => Refusal::new(Reason::InterpreterNotStarted, e),
        Ok(never) => match never {},
    }
}

/// Looks with the payload's own eyes: whatever keeps it out (modes, access lists, mounts) is found
/// here and not as an import error later.
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

/// In a child: says over its pipe why it does not become the payload.
pub fn report_failure(mut channel: File, refusal: &Refusal) {
    let text = serde_json::to_string(refusal).unwrap_or_default();
    // Nobody reads any more when the helper is gone.
    let _ = channel.write_all(format!("-{text}\n").as_bytes());
}

/// What [`report_failure`] wrote.
fn read_failure(line: &str) -> Refusal {
    serde_json::from_str(line).unwrap_or_else(|_| Refusal::new(Reason::Unknown, line))
}

/// Who may speak until the exec.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Said {
    Payload,
    Lifeline,
}

/// In the helper: waits until the exec has closed the child's pipe. The layers that it put on
/// before, or what it said went wrong. Gives up when the lifeline ends: a file system that does
/// not answer must not keep this.
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

/// The same file, out of the way of the payload's descriptors.
pub fn staged(fd: OwnedFd) -> Result<OwnedFd, Refusal> {
    fcntl(&fd, FcntlArg::F_DUPFD_CLOEXEC(STAGING))
        .map(raw::adopt)
        .step(Step::HoldDescriptor)
}

/// A version manager's shell shim is no interpreter: it would run a shell with files of the
/// user's home before any Python.
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

/// The test build's way to leave the layer off.
#[cfg(test)]
fn with_the_parents(mut env: Vec<CString>) -> Vec<CString> {
    if !on(Layer::Environment) {
        env.extend(super::layer::switched::parents_environment());
    }
    env
}

const _: () = assert!(STAGING > 253 + 16);
