//! Starting a child: our own binary through a held descriptor, with the order and the files over its standard
//! input; or a slot of a zygote, which gets the files.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::process::{Child, Command, Stdio};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::unistd::pipe2;

use crate::model::Digest;
use crate::sandbox::protocol::{self, Descriptors, Order, Says, Take};
use crate::sandbox::scratch;

use super::alive::Alive;
use super::confinement::Confinement;
use super::fault::{Fault, Why};
use super::host::{Helper, Host};
use super::states::Launched;

/// The hidden subcommand that is the helper.
pub const ROLE: &str = "__sandbox";

/// The sealed files of a cold start. The helper hashes the code and passes everything on.
pub struct Files {
    /// What the runner reads before its release.
    pub setup: OwnedFd,
    /// The runner itself.
    pub bundle: OwnedFd,
    pub handed: Handed,
}

/// The sealed files that are one child's own, which it reads after its release.
pub struct Handed {
    pub job: OwnedFd,
    pub code: OwnedFd,
    /// Of the code that was shown.
    pub digest: Digest,
    pub inputs: Vec<OwnedFd>,
}

/// A payload of a zygote that has closed itself in and waits for what it is to run. It serves once.
pub struct Slot {
    socket: OwnedFd,
    host: Box<dyn Host>,
}

impl Slot {
    pub fn new(socket: OwnedFd, host: Box<dyn Host>) -> Self {
        Self { socket, host }
    }
}

/// A cold start. `exe`: our own binary, opened at start-up.
pub(crate) fn cold(
    exe: BorrowedFd<'_>,
    confinement: Confinement,
    files: Files,
) -> Result<Launched, Fault> {
    let [stdout, stdout_write] = output_pipe()?;
    let [stderr, stderr_write] = output_pipe()?;
    let [report, report_write] = output_pipe()?;
    let outputs = [stdout_write, stderr_write, report_write];
    let (host, socket) = helper(exe, &confinement, files, outputs)?;
    Ok(Launched::new(Alive::new(
        socket,
        [stdout, stderr, report],
        Box::new(host),
        confinement,
    )))
}

/// A warm start: hands everything to a slot that waits.
pub(crate) fn warm(
    slot: Slot,
    confinement: Confinement,
    files: &Handed,
) -> Result<Launched, Fault> {
    let [stdout, stdout_write] = output_pipe()?;
    let [stderr, stderr_write] = output_pipe()?;
    let [report, report_write] = output_pipe()?;
    let fds: Vec<RawFd> = [
        &stdout_write,
        &stderr_write,
        &report_write,
        &files.job,
        &files.code,
    ]
    .into_iter()
    .chain(&files.inputs)
    .map(AsRawFd::as_raw_fd)
    .collect();
    let take = Take {
        code: files.digest,
        mapped: confinement.mapped,
    };
    protocol::send_fds(&slot.socket, &take, &fds).map_err(|e| Fault::new(Why::NotHandedOver, e))?;
    Ok(Launched::new(Alive::new(
        slot.socket,
        [stdout, stderr, report],
        slot.host,
        confinement,
    )))
}

/// Starts a helper and gives it its order. The value is the helper with the socket to it; `outputs`: stdout,
/// stderr and report as the payload has them.
pub(crate) fn helper(
    exe: BorrowedFd<'_>,
    confinement: &Confinement,
    files: Files,
    outputs: [OwnedFd; 3],
) -> Result<(Helper, OwnedFd), Fault> {
    let [lifeline_read, lifeline] = pipe()?;
    let [stdout, stderr, report] = outputs;
    let descriptors = Descriptors {
        lifeline: lifeline_read,
        stdout,
        stderr,
        report,
        setup: files.setup,
        bundle: files.bundle,
        job: files.handed.job,
        code: files.handed.code,
        inputs: files.handed.inputs,
    };
    let scratch = scratch::make().map_err(no_folder)?;
    let order = confinement.order(files.handed.digest, scratch.clone());
    let (process, socket) = start_process(exe).map_err(|e| {
        let _ = std::fs::remove_dir(&scratch);
        Fault::new(Why::NotLaunched, e)
    })?;
    // From here on the host's end is the end of everything that was made for it.
    let host = Helper::new(process, lifeline, scratch);
    send_order(&socket, &order, &descriptors)?;
    Ok((host, socket))
}

/// Where the helper is gone already, what it said on its way out is the error.
fn send_order(
    socket: &OwnedFd,
    order: &Order,
    descriptors: &Descriptors<OwnedFd>,
) -> Result<(), Fault> {
    let Err(e) = protocol::send_order(socket.as_fd(), order, descriptors) else {
        return Ok(());
    };
    // Refused because nobody reads any more: this does not wait.
    match protocol::receive::<Says>(socket) {
        Ok(Some(Says::Refused(refusal))) => Err(refusal.into()),
        _ => Err(Fault::new(Why::NotLaunched, e)),
    }
}

/// Starts our own binary through the descriptor that was opened at start-up: a binary replaced
/// since then is not what runs. No `pre_exec`, nothing in argv or environment but the role.
fn start_process(exe: BorrowedFd<'_>) -> io::Result<(Child, OwnedFd)> {
    let (ours, theirs) = socketpair(
        AddressFamily::Unix,
        SockType::SeqPacket,
        None,
        SockFlag::SOCK_CLOEXEC,
    )?;
    let process = Command::new(format!("/proc/self/fd/{}", exe.as_raw_fd()))
        .arg(ROLE)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    Ok((process, ours))
}

/// A folder is the one thing of a child that needs room on a disk of this machine.
fn no_folder(e: io::Error) -> Fault {
    let why = match e.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Why::FolderFull,
        _ => Why::NoFolder,
    };
    Fault::new(why, e)
}

pub(crate) fn pipe() -> Result<[OwnedFd; 2], Fault> {
    let (read, write) = pipe2(OFlag::O_CLOEXEC).map_err(|e| Fault::new(Why::NoPipe, e))?;
    Ok([read, write])
}

/// For what a child prints and reports. Reading never waits: who may write to a pipe may often open it
/// for reading too, by `/proc/self/fd`, and take back what was there a moment before.
pub(crate) fn output_pipe() -> Result<[OwnedFd; 2], Fault> {
    let [read, write] = pipe()?;
    fcntl(&read, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map_err(|e| Fault::new(Why::NoPipe, e))?;
    Ok([read, write])
}
