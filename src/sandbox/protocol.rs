//! The protocol of broker and helper over a SOCK_SEQPACKET pair that is the helper's standard
//! input: one JSON message per packet. The first message carries the descriptors.
//!
//! No data of a run goes through argv or the environment, where other processes could read it.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::PathBuf;

use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, UnixAddr, recvmsg, sendmsg};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::model::{Digest, Limits, Tier};

use super::raw;
use super::refusal::Refusal;

/// The maximum size of a message; an order with long paths stays far below it.
const MESSAGE_MAX: usize = 128 * 1024;

/// The kernel's SCM_MAX_FD: the maximum number of descriptors in one message.
pub const DESCRIPTORS_MAX: usize = 253;

/// The helper's task. All of it comes from the user's own configuration and policy; everything from
/// an agent is in sealed files that the helper only hashes and passes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    pub tier: Tier,
    /// The interpreter's real path.
    pub executable: PathBuf,
    /// Files and folders that the interpreter needs, including the executable.
    pub needs: Vec<PathBuf>,
    /// The run's own empty folder with mode 0700, made by the broker.
    pub scratch: PathBuf,
    pub limits: Limits,
    /// Digest of the code that was shown.
    pub code: Digest,
    pub purpose: Purpose,
}

/// The purpose of a helper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// One run.
    Run,
    /// Runs no code: our own binary takes the interpreter's place and waits to be looked at.
    Probe,
    /// A zygote and the runs forked from it. The order's job and code are empty.
    Zygote,
}

/// Broker → helper of a zygote, on the socket of a waiting slot, with the run's descriptors:
/// stdout, stderr, report, job, code and the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Take {
    /// Digest of the code that was shown.
    pub code: Digest,
    /// Bytes of inputs that the payload maps; they do not count as its own memory.
    pub mapped: u64,
}

/// The descriptors sent with an [`Order`], in this order.
pub struct Descriptors<T> {
    /// End of file on it means that the dashboard is gone.
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
    /// Counts a process with this end (the status word of wait(2)) if a limit killed it. `cpu_s` is
    /// the limit of processor time of each process in seconds. A snippet can send both signals
    /// itself; then its run fails with a wrong reason, which harms only the snippet.
    pub fn count(&mut self, status: i32, cpu: std::time::Duration, cpu_s: u64) {
        match status & 0x7f {
            nix::libc::SIGXCPU if cpu.as_secs() >= cpu_s / 2 => self.cpu += 1,
            nix::libc::SIGXFSZ => self.files += 1,
            _ => {}
        }
    }

    /// The sum of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            cpu: self.cpu.saturating_add(other.cpu),
            files: self.files.saturating_add(other.files),
        }
    }
}

impl<T> Descriptors<T> {
    /// Number of descriptors without the inputs.
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

    /// The maximum number of inputs of a run.
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
    /// Lets the held payload read its snippet and starts the wall clock.
    Release,
    /// Kills everything.
    Kill,
}

/// Helper → broker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "says", rename_all = "lowercase")]
pub enum Says {
    /// The payload is confined and can be examined from outside. `layers` are those that cannot be
    /// read from outside. The descriptor of the run's output folder comes with it.
    Started { pid: i32, layers: Vec<String> },
    /// From a zygote's helper: a slot waits for a run; its socket comes with this message.
    Slot,
    /// The payload could not be made.
    Refused(Refusal),
    /// The payload ended and no process of it is left. The helper removes its folder once the
    /// broker has closed its end.
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
    /// Peak resident memory in kibibytes, of the payload or of its largest child. It includes
    /// loaded libraries; 0 means unknown.
    pub peak_kib: u64,
    /// Set if the kernel killed processes because the run's control group was out of memory.
    pub out_of_memory: Option<OutOfMemory>,
    /// Processes other than the payload that their own limit killed.
    pub lost: Lost,
    /// Whether every process of the run is gone.
    pub clean: bool,
}

/// The effect of a control group running out of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutOfMemory {
    /// Peak memory of the group in bytes, or 0 if the kernel does not report it.
    pub peak: u64,
    /// Number of processes that the kernel killed.
    pub killed: u64,
}

/// How many processes were killed by each limit of a single process, as counted by the run's pid 1.
/// It does not see processes whose own parent waited for them: the parent knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// Killed by SIGXCPU after at least half of the policy's processor time.
    pub cpu: u32,
    /// Killed by SIGXFSZ.
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

/// Sends one message with the descriptor of the run's output folder.
pub fn send_folder(
    socket: impl AsFd,
    message: &impl Serialize,
    folder: &OwnedFd,
) -> io::Result<()> {
    send_fds(socket, message, &[folder.as_raw_fd()])
}

/// Receives one message and the descriptor sent with it, if any; `None` if the other side is gone.
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

/// Receives one message with its descriptors; `None` if the other side is gone.
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

/// Receives one message; `None` if the other side is gone.
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
    // A dead helper must cause an error here, never a SIGPIPE.
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
            // The other side closed without reading our last message; its own last message may
            // still be here.
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

#[cfg(test)]
mod tests {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};

    use super::*;

    fn pair() -> (OwnedFd, OwnedFd) {
        let flags = SockFlag::SOCK_CLOEXEC;
        socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags).unwrap()
    }

    #[test]
    fn a_message_has_at_most_its_greatest_length() {
        let (one, other) = pair();
        // A text in JSON has two quotes.
        let longest = "a".repeat(131_072 - 2);
        send(&one, &longest).unwrap();
        assert_eq!(receive::<String>(&other).unwrap(), Some(longest.clone()));
        let error = send(&one, &format!("{longest}a")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        drop(one);
        assert_eq!(receive::<String>(&other).unwrap(), None);
    }

    #[test]
    fn a_message_brings_as_many_descriptors_as_the_kernel_takes() {
        let (one, other) = pair();
        send_fds(&one, &"many", &[one.as_raw_fd(); 253]).unwrap();
        let (message, fds) = receive_fds::<String>(&other).unwrap().unwrap();
        assert_eq!((message.as_str(), fds.len()), ("many", 253));
        drop((one, fds));
        assert!(receive_fds::<String>(&other).unwrap().is_none());
    }

    #[test]
    fn a_message_whose_descriptors_were_cut_off_is_an_error() {
        let (one, other) = pair();
        send_fds(&one, &"one", &[one.as_raw_fd()]).unwrap();
        assert!(
            receive_folder::<String>(&other)
                .unwrap()
                .unwrap()
                .1
                .is_some()
        );
        // Room is made in whole steps, so one more descriptor might fit.
        send_fds(&one, &"many", &[one.as_raw_fd(); 16]).unwrap();
        assert!(receive_folder::<String>(&other).is_err());
    }

    #[test]
    fn an_order_with_more_descriptors_than_a_message_takes_is_not_sent() {
        let (one, other) = pair();
        let (many, order) = (
            |inputs: usize| {
                let file = || OwnedFd::from(std::fs::File::open("/dev/null").unwrap());
                let list = (0..8 + inputs).map(|_| file()).collect();
                Descriptors::from_list(list).unwrap()
            },
            Order {
                tier: Tier::Process,
                executable: PathBuf::from("/bin/sh"),
                needs: Vec::new(),
                scratch: PathBuf::from("/tmp"),
                limits: Limits::default(),
                code: Digest::of(b""),
                purpose: Purpose::Run,
            },
        );
        assert_eq!(Descriptors::<OwnedFd>::inputs_max(), 245);
        send_order(one.as_fd(), &order, &many(245)).unwrap();
        let (_, received) = receive_order(other.as_fd()).unwrap();
        assert_eq!(received.inputs.len(), 245);
        let error = send_order(one.as_fd(), &order, &many(246)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
