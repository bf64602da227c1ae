//! Starts a child. A cold start runs our own binary through an open descriptor and sends it the
//! order and the files over its standard input; a warm start sends the files to a slot of a zygote.

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

/// The hidden subcommand of the helper.
pub const ROLE: &str = "__sandbox";

/// The sealed files of a cold start. The helper hashes the code and passes everything on.
pub struct Files {
    /// Read by the runner before its release.
    pub setup: OwnedFd,
    /// The runner itself.
    pub bundle: OwnedFd,
    pub handed: Handed,
}

/// The sealed files of one child, which it reads after its release.
pub struct Handed {
    pub job: OwnedFd,
    pub code: OwnedFd,
    /// Digest of the code that was shown.
    pub digest: Digest,
    pub inputs: Vec<OwnedFd>,
}

/// A payload of a zygote that has confined itself and waits for a run. It serves once.
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

/// A warm start: hands everything to a waiting slot.
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

/// Starts a helper and sends its order. Returns the helper and the socket to it. `outputs` are the
/// payload's ends of stdout, stderr and report.
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
    // From here on, dropping the host removes everything made for it.
    let host = Helper::new(process, lifeline, scratch);
    send_order(&socket, &order, &descriptors)?;
    Ok((host, socket))
}

/// Sends the order. If the helper is gone already, its last message becomes the error.
fn send_order(
    socket: &OwnedFd,
    order: &Order,
    descriptors: &Descriptors<OwnedFd>,
) -> Result<(), Fault> {
    let Err(e) = protocol::send_order(socket.as_fd(), order, descriptors) else {
        return Ok(());
    };
    // Sending failed because the helper is gone, so receiving does not wait.
    match protocol::receive::<Says>(socket) {
        Ok(Some(Says::Refused(refusal))) => Err(refusal.into()),
        _ => Err(Fault::new(Why::NotLaunched, e)),
    }
}

/// Starts our own binary through the descriptor opened at start-up, so that a binary replaced since
/// then does not run. Uses no `pre_exec`; argv and environment contain nothing but the role.
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

/// The error for a folder that cannot be made: only that needs disk space.
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

/// A pipe for the output and the report of a child. Reading never blocks: a writer can often open
/// the pipe for reading too, by `/proc/self/fd`, and take bytes that were there a moment before.
pub(crate) fn output_pipe() -> Result<[OwnedFd; 2], Fault> {
    let [read, write] = pipe()?;
    fcntl(&read, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map_err(|e| Fault::new(Why::NoPipe, e))?;
    Ok([read, write])
}
