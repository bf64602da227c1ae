//! What broker and helper say to each other, over a SOCK_SEQPACKET pair that is the helper's
//! standard input: one JSON message a packet, descriptors beside the first one only.
//!
//! Nothing of a run goes through argv or the environment, where other processes could read it.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::PathBuf;

use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, UnixAddr, recvmsg, sendmsg};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::model::{Digest, Limits, Tier};

use super::raw;
use super::refusal::Refusal;

/// The largest message; an order with long paths stays far below it.
const MESSAGE_MAX: usize = 128 * 1024;

/// SCM_MAX_FD of the kernel: the most descriptors one message carries.
pub const DESCRIPTORS_MAX: usize = 253;

/// What the helper is to do. All of it comes from the user's own configuration and policy:
/// whatever an agent brought is in sealed files that the helper only hashes and passes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    pub tier: Tier,
    /// The interpreter's real path.
    pub executable: PathBuf,
    /// Files and folders the interpreter needs, the executable's own included.
    pub needs: Vec<PathBuf>,
    /// The run's own folder, empty, 0700, made by the broker.
    pub scratch: PathBuf,
    pub limits: Limits,
    /// Of the code that was shown.
    pub code: Digest,
    pub purpose: Purpose,
}

/// What a helper is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// One run.
    Run,
    /// Nothing is run: our own binary takes the interpreter's place, to be looked at.
    Probe,
    /// A zygote, and the runs that are forked from it. Job and code of the order are empty.
    Zygote,
}

/// Broker → helper of a zygote, on the socket of a place that waits, with the run's descriptors:
/// stdout, stderr, report, job, code and the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Take {
    /// Of the code that was shown.
    pub code: Digest,
    /// Bytes of inputs that the payload maps and that do not count as its own memory.
    pub mapped: u64,
}

/// The descriptors that go with an [`Order`], in this order.
pub struct Descriptors<T> {
    /// Its end of file means that the dashboard is gone.
    pub lifeline: T,
    pub stdout: T,
    pub stderr: T,
    pub report: T,
    pub setup: T,
    pub bundle: T,
    pub job: T,
    pub code: T,
    pub inputs: Vec<T>,
}

impl Lost {
    /// Counts a process that ended so (the status word of wait(2)), if a limit did it. `cpu_s`: the
    /// seconds of processor time that each process has. Both signals can be sent by the snippet too:
    /// then it says of itself what is not so, and fails.
    pub fn count(&mut self, status: i32, cpu: std::time::Duration, cpu_s: u64) {
        match status & 0x7f {
            nix::libc::SIGXCPU if cpu.as_secs() >= cpu_s / 2 => self.cpu += 1,
            nix::libc::SIGXFSZ => self.files += 1,
            _ => {}
        }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            cpu: self.cpu.saturating_add(other.cpu),
            files: self.files.saturating_add(other.files),
        }
    }
}

impl<T> Descriptors<T> {
    /// How many there are besides the inputs.
    const FIXED: usize = 8;

    fn from_list(list: Vec<T>) -> Option<Self> {
        let mut it = list.into_iter();
        Some(Self {
            lifeline: it.next()?,
            stdout: it.next()?,
            stderr: it.next()?,
            report: it.next()?,
            setup: it.next()?,
            bundle: it.next()?,
            job: it.next()?,
            code: it.next()?,
            inputs: it.collect(),
        })
    }

    /// The most inputs a run can have.
    pub const fn inputs_max() -> usize {
        DESCRIPTORS_MAX - Self::FIXED
    }
}

impl Descriptors<OwnedFd> {
    fn raw(&self) -> Vec<RawFd> {
        [
            &self.lifeline,
            &self.stdout,
            &self.stderr,
            &self.report,
            &self.setup,
            &self.bundle,
            &self.job,
            &self.code,
        ]
        .into_iter()
        .chain(&self.inputs)
        .map(AsRawFd::as_raw_fd)
        .collect()
    }
}

/// Broker → helper, after the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Command {
    /// Let the held payload read its snippet; the wall clock starts.
    Release,
    /// End everything.
    Kill,
}

/// Helper → broker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "lowercase")]
pub enum Says {
    /// The payload is confined; look at this process from outside. `layers` are those that
    /// nobody can read there. With it comes the descriptor of the run's output folder.
    Started { pid: i32, layers: Vec<String> },
    /// From a zygote's helper: a place for a run waits; its socket comes with this.
    Slot,
    /// It could not be made.
    Refused(Refusal),
    /// The payload ended and nothing of it is left running. Its folder is removed once the broker
    /// has closed its end.
    Ended(Ending),
}

/// How the payload ended, as its supervisor saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// The status word of wait(2).
    pub status: i32,
    pub by: EndedBy,
    /// Processor time of the payload and of the children it waited for.
    pub cpu_us: u64,
    /// Kibibytes in memory at its peak, of the payload or the child of its that had most. Libraries
    /// that are loaded count, and 0 is unknown.
    pub peak_kib: u64,
    /// Set if the kernel ended processes because the run's control group had no memory left.
    pub out_of_memory: Option<OutOfMemory>,
    /// Processes that a limit of their own ended, other than the payload.
    pub lost: Lost,
    /// Whether every process of the run is gone.
    pub clean: bool,
}

/// What a control group without memory came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutOfMemory {
    /// The most bytes that the group had, or 0 where the kernel does not say.
    pub peak: u64,
    /// Processes that the kernel ended.
    pub killed: u64,
}

/// How many processes each limit of a single process ended, as the run's pid 1 reaped them. Those that
/// their own parent waited for are not among them: the parent knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// By SIGXCPU, after at least half of the processor time that the policy gives.
    pub cpu: u32,
    /// By SIGXFSZ.
    pub files: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndedBy {
    Itself,
    Wall,
    Command,
}

/// Sends the order with its descriptors.
pub fn send_order(
    socket: BorrowedFd<'_>,
    order: &Order,
    descriptors: &Descriptors<OwnedFd>,
) -> io::Result<()> {
    let fds = descriptors.raw();
    if fds.len() > DESCRIPTORS_MAX {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "too many descriptors for one message",
        ));
    }
    send_with(socket, order, &fds)
}

/// Receives the order with its descriptors; they are close-on-exec.
pub fn receive_order(socket: BorrowedFd<'_>) -> io::Result<(Order, Descriptors<OwnedFd>)> {
    let mut control = nix::cmsg_space!([RawFd; DESCRIPTORS_MAX]);
    let (order, fds) = receive_with(socket, Some(&mut control))?
        .ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
    let descriptors = Descriptors::from_list(fds)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "descriptors are missing"))?;
    Ok((order, descriptors))
}

/// Sends one message with the folder that the run leaves its files in.
pub fn send_folder(
    socket: impl AsFd,
    message: &impl Serialize,
    folder: &OwnedFd,
) -> io::Result<()> {
    send_fds(socket, message, &[folder.as_raw_fd()])
}

/// Receives one message and a descriptor, where one came with it; `None` when the other side is
/// gone.
pub fn receive_folder<T: DeserializeOwned>(
    socket: impl AsFd,
) -> io::Result<Option<(T, Option<OwnedFd>)>> {
    let mut control = nix::cmsg_space!([RawFd; 1]);
    let got = receive_with(socket.as_fd(), Some(&mut control))?;
    Ok(got.map(|(message, fds)| (message, fds.into_iter().next())))
}

/// Sends one message with these descriptors.
pub fn send_fds(socket: impl AsFd, message: &impl Serialize, fds: &[RawFd]) -> io::Result<()> {
    send_with(socket.as_fd(), message, fds)
}

/// Receives one message with its descriptors; `None` when the other side is gone.
pub fn receive_fds<T: DeserializeOwned>(
    socket: impl AsFd,
) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut control = nix::cmsg_space!([RawFd; DESCRIPTORS_MAX]);
    receive_with(socket.as_fd(), Some(&mut control))
}

/// Sends one message without descriptors.
pub fn send(socket: impl AsFd, message: &impl Serialize) -> io::Result<()> {
    send_with(socket.as_fd(), message, &[])
}

/// Receives one message; `None` when the other side is gone.
pub fn receive<T: DeserializeOwned>(socket: impl AsFd) -> io::Result<Option<T>> {
    Ok(receive_with(socket.as_fd(), None)?.map(|(message, _)| message))
}

fn send_with(socket: BorrowedFd<'_>, message: &impl Serialize, fds: &[RawFd]) -> io::Result<()> {
    let text = serde_json::to_vec(message)?;
    if text.len() > MESSAGE_MAX {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the message is too long",
        ));
    }
    let rights = [ControlMessage::ScmRights(fds)];
    let control = if fds.is_empty() { &[][..] } else { &rights[..] };
    // A helper that died must give an error here, never a SIGPIPE.
    sendmsg::<UnixAddr>(
        socket.as_raw_fd(),
        &[IoSlice::new(&text)],
        control,
        MsgFlags::MSG_NOSIGNAL,
        None,
    )?;
    Ok(())
}

fn receive_with<T: DeserializeOwned>(
    socket: BorrowedFd<'_>,
    mut control: Option<&mut [u8]>,
) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut buffer = vec![0u8; MESSAGE_MAX];
    let mut parts = [IoSliceMut::new(&mut buffer)];
    let mut reset = false;
    let (length, flags, fds) = loop {
        match recvmsg::<UnixAddr>(
            socket.as_raw_fd(),
            &mut parts,
            control.as_deref_mut(),
            MsgFlags::MSG_CMSG_CLOEXEC,
        ) {
            Ok(got) => {
                let mut fds = Vec::new();
                for message in got.cmsgs()? {
                    if let ControlMessageOwned::ScmRights(list) = message {
                        fds.extend(list.into_iter().map(raw::adopt));
                    }
                }
                break (got.bytes, got.flags, fds);
            }
            Err(nix::errno::Errno::EINTR) => {}
            // The other side left without reading our last word; its own may still be here.
            Err(nix::errno::Errno::ECONNRESET) if !reset => reset = true,
            Err(e) => return Err(e.into()),
        }
    };
    if length == 0 {
        return Ok(None);
    }
    if flags.intersects(MsgFlags::MSG_TRUNC | MsgFlags::MSG_CTRUNC) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the message was cut",
        ));
    }
    Ok(Some((serde_json::from_slice(&buffer[..length])?, fds)))
}
