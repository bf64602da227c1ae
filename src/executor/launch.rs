//! Starting the helper: its own binary through a held descriptor, the order and the files over
//! its standard input.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};

use crate::model::RunEvent;

use super::cells::Cells;
use super::cgroup::Owner;
use super::control::Switch;
use super::datasets::Sources;
use super::given::{Given, doing, file, pipe};
use super::handover::{self, Descriptors, Order, Says, Take};
use super::spec::{Fault, RunSpec};
use super::zygote::{Keeper, Place};
use super::{bundle, leftovers, raw, runner, scratch};

/// The hidden subcommand that is the helper.
pub const ROLE: &str = "__sandbox";

/// A started run and the broker's ends of what it was given.
pub struct Launched {
    pub host: Host,
    /// To the helper.
    pub socket: OwnedFd,
    pub stdout: Option<OwnedFd>,
    pub stderr: Option<OwnedFd>,
    pub report: Option<OwnedFd>,
    /// Bytes of inputs that the payload maps.
    pub mapped: u64,
    /// What of private data sets is hidden from what comes back.
    pub cells: Arc<Cells>,
    /// What the person is told of private data sets.
    pub noted: Vec<RunEvent>,
}

/// How many processes stand between a helper of the run's own and the payload: pid 1 of the jail, or
/// in tier `process` the other half of the helper.
pub const BETWEEN: usize = 1;

/// Who looks after the run.
pub enum Host {
    /// A helper of its own: a cold start.
    Own {
        helper: Child,
        /// Closing it ends the run; so does the end of this process.
        lifeline: OwnedFd,
        scratch: PathBuf,
    },
    /// The helper of a zygote: a warm start. Closing the run's socket ends the run.
    Zygote(Arc<Keeper>),
}

impl Host {
    pub fn helper(&self) -> i32 {
        match self {
            Self::Own { helper, .. } => helper.id() as i32,
            Self::Zygote(keeper) => keeper.pid(),
        }
    }

    /// How many processes stand between the helper and the payload.
    pub const fn between(&self) -> usize {
        match self {
            Self::Own { .. } => BETWEEN,
            // Pid 1 of the zygote's jail and pid 1 of the run's place in it.
            Self::Zygote(_) => 2,
        }
    }
}

/// A cold start: makes everything the run is given and starts its helper.
pub fn launch(
    spec: &RunSpec,
    exe: BorrowedFd<'_>,
    sources: &Sources,
    switch: &Switch,
) -> Result<Launched, Fault> {
    let given = Given::make(spec, sources, switch)?;
    let [lifeline_read, lifeline] = pipe()?;
    let [stdout, stdout_write] = given.stdout;
    let [stderr, stderr_write] = given.stderr;
    let [report, report_write] = given.report;
    let descriptors = Descriptors {
        lifeline: lifeline_read,
        stdout: stdout_write,
        stderr: stderr_write,
        report: report_write,
        setup: file(
            "setup",
            runner::setup(spec, runner::Task::Run, given.mapped),
        )?,
        bundle: bundle::file(&spec.env).map_err(doing("make the run's files"))?,
        job: given.job,
        code: given.code,
        inputs: given.inputs,
    };
    let scratch = scratch::make().map_err(no_folder)?;
    let order = spec.order(scratch.clone());
    match start(exe, &order, &descriptors) {
        Ok((helper, socket)) => Ok(Launched {
            host: Host::Own {
                helper,
                lifeline,
                scratch,
            },
            socket,
            stdout: Some(stdout),
            stderr: Some(stderr),
            report: Some(report),
            mapped: given.mapped,
            cells: given.cells,
            noted: given.noted,
        }),
        Err(fault) => {
            let _ = std::fs::remove_dir(&scratch);
            Err(fault)
        }
    }
}

/// The one thing of a run that needs room on a disk of this machine's.
fn no_folder(e: io::Error) -> Fault {
    let why = match e.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "is full: free some space",
        _ => "cannot be used: mend it",
    };
    Fault::new(
        format!(
            "could not make the run's folder: the folder for temporary files {why}, or name another \
             one with TMPDIR"
        ),
        e,
    )
}

/// A warm start: hands everything to a place that waits.
pub fn launch_in(
    place: Place,
    spec: &RunSpec,
    sources: &Sources,
    switch: &Switch,
) -> Result<Launched, Fault> {
    let given = Given::make(spec, sources, switch)?;
    let [stdout, stdout_write] = given.stdout;
    let [stderr, stderr_write] = given.stderr;
    let [report, report_write] = given.report;
    let fds: Vec<RawFd> = [
        &stdout_write,
        &stderr_write,
        &report_write,
        &given.job,
        &given.code,
    ]
    .into_iter()
    .chain(&given.inputs)
    .map(AsRawFd::as_raw_fd)
    .collect();
    let take = Take {
        code: spec.digest,
        mapped: given.mapped,
    };
    handover::send_fds(&place.socket, &take, &fds).map_err(doing("hand the run over"))?;
    Ok(Launched {
        host: Host::Zygote(place.keeper),
        socket: place.socket,
        stdout: Some(stdout),
        stderr: Some(stderr),
        report: Some(report),
        mapped: given.mapped,
        cells: given.cells,
        noted: given.noted,
    })
}

/// Starts a helper and gives it its order.
pub fn start(
    exe: BorrowedFd<'_>,
    order: &Order,
    descriptors: &Descriptors<OwnedFd>,
) -> Result<(Child, OwnedFd), Fault> {
    let (helper, socket) = start_helper(exe).map_err(doing("start the sandbox helper"))?;
    order_to(helper, socket, order, descriptors)
}

/// Sends the order. Where the helper is gone already, what it said on its way out is the error.
fn order_to(
    helper: Child,
    socket: OwnedFd,
    order: &Order,
    descriptors: &Descriptors<OwnedFd>,
) -> Result<(Child, OwnedFd), Fault> {
    let Err(e) = handover::send_order(socket.as_fd(), order, descriptors) else {
        return Ok((helper, socket));
    };
    // Refused because nobody reads any more: this does not wait.
    let said = match handover::receive::<Says>(&socket) {
        Ok(Some(Says::Refused { message, detail })) => Fault { message, detail },
        _ => Fault::new("the sandbox helper cannot be started", e),
    };
    drop(socket);
    dismiss(helper);
    Err(said)
}

/// Starts our own binary through the descriptor that was opened at start-up: a binary replaced
/// since then is not what runs. No `pre_exec`, nothing in argv or environment but the role.
fn start_helper(exe: BorrowedFd<'_>) -> io::Result<(Child, OwnedFd)> {
    let (ours, theirs) = socketpair(
        AddressFamily::Unix,
        SockType::SeqPacket,
        None,
        SockFlag::SOCK_CLOEXEC,
    )?;
    let helper = Command::new(format!("/proc/self/fd/{}", exe.as_raw_fd()))
        .arg(ROLE)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    Ok((helper, ours))
}

/// How long a helper may take to kill and to clean up before it is killed itself.
pub const HELPER_MAX: Duration = Duration::from_secs(20);

/// Waits for a helper whose lifeline has ended, and reaps it.
pub fn dismiss(mut helper: Child) {
    // Until it is reaped, its number means nobody else.
    let owner = Owner::of(helper.id() as i32);
    let gone = raw::pidfd_open(helper.id() as i32).is_ok_and(|pidfd| {
        let mut fds = [PollFd::new(pidfd.as_fd(), PollFlags::POLLIN)];
        let patience = PollTimeout::try_from(HELPER_MAX).unwrap_or(PollTimeout::MAX);
        poll(&mut fds, patience).is_ok_and(|n| n > 0)
    });
    if !gone {
        tracing::error!("the sandbox helper had to be killed");
        let _ = helper.kill();
    }
    let well = helper.wait().is_ok_and(|status| status.success());
    if let (false, Ok(owner)) = (well, owner) {
        leftovers::remove_of(owner);
    }
}
