//! One slot as the helper sees it: requested in advance, offered to the broker, taken by a grant,
//! released, ended.
//!
//! It has two sockets. One goes to the broker's thread of the run, which uses the protocol of a
//! cold start's helper. The other goes to the slot's pid 1; the kernel tells who sent a message on
//! it.

use std::io::{IoSlice, IoSliceMut, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::sys::signal::Signal;
use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, UnixAddr,
    UnixCredentials, recvmsg, sendmsg, setsockopt, socketpair, sockopt,
};
use nix::unistd::pipe2;

use crate::model::Limits;

use super::super::cgroup::Cgroup;
use super::super::{Attempt, Reason, Refusal, Step, check_code, check_sealed};
use crate::sandbox::protocol::{self, Command, EndedBy, Ending, Lost, Says, Take};
use crate::sandbox::raw;

/// How long a slot may take to get ready.
const MAKING_MAX: Duration = Duration::from_secs(20);

/// The longest message of pid 1 or the payload.
const WORD_MAX: usize = 1024;

/// Start of the only message to the payload (`slot.py`).
const MAGIC: &[u8; 8] = b"csgrant1";

/// Number of descriptors of a run without its inputs, as the broker sends them.
const FIXED: usize = 5;

pub struct Slot {
    run: OwnedFd,
    /// Closed when pid 1 reports nothing more.
    door: Option<OwnedFd>,
    init: Option<Init>,
    payload: Option<Payload>,
    cgroup: Option<Cgroup>,
    stage: Stage,
    deadline: Option<Instant>,
    by: EndedBy,
    /// How the payload ended, as pid 1 reported it.
    exit: Option<Exit>,
}

/// Pid 1 as seen from the machine.
struct Init {
    pid: i32,
    pidfd: OwnedFd,
    /// The folder for the output files of its run.
    output: OwnedFd,
}

/// The payload's report of itself, sent before it received anything of its run.
struct Payload {
    pid: i32,
    /// The layer that cannot be read from outside.
    layer: String,
    /// Processor time in microseconds used before the run, which does not count for the run.
    cpu_us: u64,
}

#[derive(Clone, Copy)]
struct Exit {
    /// The status word of wait(2).
    status: i32,
    /// Processor time in microseconds of the run alone.
    cpu_us: u64,
    peak_kib: u64,
    lost: Lost,
}

enum Stage {
    /// `offer` is the broker's end of `run`. First pid 1 gets ready, then the payload.
    Making { offer: OwnedFd },
    /// The payload is confined and waits for its run.
    Waiting,
    /// `gate` releases the payload; `None` after the release.
    Taken { gate: Option<OwnedFd> },
}

/// One message from pid 1 or the payload.
struct Word {
    text: Vec<u8>,
    /// The sender as the kernel reports it.
    pid: i32,
    fd: Option<OwnedFd>,
}

impl Slot {
    /// Asks the zygote for a slot.
    pub fn ask(control: &OwnedFd) -> Result<Self, Refusal> {
        let pair = || {
            socketpair(
                AddressFamily::Unix,
                SockType::SeqPacket,
                None,
                SockFlag::SOCK_CLOEXEC,
            )
            .step(Step::MakeSocket)
        };
        let (run, offer) = pair()?;
        let (door, theirs) = pair()?;
        setsockopt(&door, sockopt::PassCred, &true).step(Step::MakeSocket)?;
        send_raw(control.as_fd(), b"n", &[theirs.as_raw_fd()]).step(Step::AskZygote)?;
        Ok(Self {
            run,
            door: Some(door),
            init: None,
            payload: None,
            cgroup: None,
            stage: Stage::Making { offer },
            deadline: Some(Instant::now() + MAKING_MAX),
            by: EndedBy::Itself,
            exit: None,
        })
    }

    pub fn is_making(&self) -> bool {
        matches!(self.stage, Stage::Making { .. })
    }

    pub fn is_waiting(&self) -> bool {
        matches!(self.stage, Stage::Waiting)
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    pub fn run(&self) -> BorrowedFd<'_> {
        self.run.as_fd()
    }

    pub fn door(&self) -> Option<BorrowedFd<'_>> {
        self.door.as_ref().map(AsFd::as_fd)
    }

    pub fn pidfd(&self) -> Option<BorrowedFd<'_>> {
        self.init.as_ref().map(|init| init.pidfd.as_fd())
    }

    /// Whether the slot can no longer become ready.
    pub fn is_lost(&self) -> bool {
        self.door.is_none() && self.init.is_none()
    }

    /// Handles a message of pid 1 or the payload. A ready slot is offered to the broker over
    /// `offer_to`.
    pub fn hear_door(
        &mut self,
        offer_to: &OwnedFd,
        limits: &Limits,
        serial: u64,
    ) -> Result<(), Refusal> {
        let Some(door) = &self.door else {
            return Ok(());
        };
        let Some(word) = receive_word(door.as_fd()).step(Step::ReceiveRun)? else {
            self.door = None;
            return Ok(());
        };
        match (&self.stage, &self.init) {
            (Stage::Making { .. }, None) if word.text == b"ready" => {
                self.settle(word, limits, serial)
            }
            (Stage::Making { .. }, Some(init)) if init.pid != word.pid => {
                self.offer(&word, offer_to)
            }
            (Stage::Taken { .. }, _) => {
                self.pass_on(&word);
                Ok(())
            }
            (Stage::Making { .. } | Stage::Waiting, _) => Err(Refusal::new(
                Reason::SlotUnexpected,
                String::from_utf8_lossy(&word.text),
            )),
        }
    }

    /// Handles the first message of pid 1: puts it into its control group and lets it make the
    /// payload.
    fn settle(&mut self, word: Word, limits: &Limits, serial: u64) -> Result<(), Refusal> {
        let pid = word.pid;
        let output = word
            .fd
            .ok_or_else(|| Refusal::new(Reason::SlotWithoutFolder, "no descriptor"))?;
        let pidfd = raw::pidfd_open(pid).step(Step::HoldSlot)?;
        self.init = Some(Init { pid, pidfd, output });
        let cgroup = Cgroup::make(limits, serial);
        cgroup.take(pid).step(Step::PutIntoControlGroup)?;
        self.cgroup = Some(cgroup);
        match &self.door {
            Some(door) => send_raw(door.as_fd(), b"f", &[]).step(Step::FillSlot),
            None => Ok(()),
        }
    }

    /// Handles the payload's report that it is confined, or why it is not. Offers a confined one.
    fn offer(&mut self, word: &Word, offer_to: &OwnedFd) -> Result<(), Refusal> {
        let report = word
            .text
            .strip_prefix(b"+")
            .and_then(|report| report.split_first_chunk::<8>());
        let Some((cpu_us, layer)) = report else {
            let said = String::from_utf8_lossy(&word.text);
            return Err(Refusal::new(Reason::NotConfined, said));
        };
        self.payload = Some(Payload {
            pid: word.pid,
            layer: String::from_utf8_lossy(layer).into_owned(),
            cpu_us: u64::from_ne_bytes(*cpu_us),
        });
        let Stage::Making { offer } = std::mem::replace(&mut self.stage, Stage::Waiting) else {
            return Ok(());
        };
        self.deadline = None;
        protocol::send_fds(offer_to, &Says::Slot, &[offer.as_raw_fd()]).step(Step::OfferSlot)
    }

    /// Handles a message during the run: pid 1's report of the end.
    fn pass_on(&mut self, word: &Word) {
        let from_init = self.init.as_ref().is_some_and(|init| init.pid == word.pid);
        if from_init
            && let Some((status, rest)) = word.text.split_first_chunk::<4>()
            && let Some((cpu, rest)) = rest.split_first_chunk::<8>()
            && let Some((peak, rest)) = rest.split_first_chunk::<8>()
            && let Some((cpu_lost, rest)) = rest.split_first_chunk::<4>()
            && let Ok(files_lost) = rest.try_into()
        {
            let before = self.payload.as_ref().map_or(0, |payload| payload.cpu_us);
            self.exit = Some(Exit {
                status: i32::from_ne_bytes(*status),
                cpu_us: u64::from_ne_bytes(*cpu).saturating_sub(before),
                peak_kib: u64::from_ne_bytes(*peak),
                lost: Lost {
                    cpu: u32::from_ne_bytes(*cpu_lost),
                    files: u32::from_ne_bytes(files_lost),
                },
            });
        }
    }

    /// Handles a request of the broker.
    pub fn hear_run(&mut self, wall: Duration) {
        match &self.stage {
            Stage::Waiting => match protocol::receive_fds::<Take>(&self.run) {
                Ok(Some((take, fds))) => {
                    if let Err(refusal) = self.take(take, fds) {
                        self.refuse(refusal);
                    }
                }
                Ok(None) | Err(_) => self.kill(EndedBy::Command),
            },
            Stage::Making { .. } | Stage::Taken { .. } => {
                match protocol::receive::<Command>(&self.run) {
                    Ok(Some(Command::Release)) => self.release(wall),
                    Ok(Some(Command::Kill) | None) | Err(_) => self.kill(EndedBy::Command),
                }
            }
        }
    }

    /// Hands the granted run over with one fixed-size message to the payload.
    fn take(&mut self, take: Take, fds: Vec<OwnedFd>) -> Result<(), Refusal> {
        if fds.len() < FIXED {
            return Err(Refusal::new(Reason::DescriptorsMissing, fds.len()));
        }
        let (fixed, inputs) = fds.split_at(FIXED);
        let [stdout, stderr, report, job, code] = fixed else {
            return Err(Refusal::new(Reason::DescriptorsMissing, fixed.len()));
        };
        check_sealed(std::iter::once(job).chain(inputs))?;
        check_code(code, take.code)?;
        let (gate_read, gate) = pipe2(OFlag::O_CLOEXEC).step(Step::MakePipe)?;
        let mut text = Vec::with_capacity(52);
        text.extend_from_slice(MAGIC);
        text.extend_from_slice(take.code.as_bytes());
        text.extend_from_slice(&(inputs.len() as u32).to_ne_bytes());
        text.extend_from_slice(&take.mapped.to_ne_bytes());
        let handed: Vec<RawFd> = [stdout, stderr, &gate_read, report, job, code]
            .into_iter()
            .chain(inputs)
            .map(AsRawFd::as_raw_fd)
            .collect();
        let door = self
            .door()
            .ok_or_else(|| Refusal::new(Reason::SlotGone, "door"))?;
        send_raw(door, &text, &handed).step(Step::HandRunOver)?;
        self.stage = Stage::Taken { gate: Some(gate) };
        if let (Some(init), Some(payload)) = (&self.init, &self.payload) {
            let started = Says::Started {
                pid: payload.pid,
                layers: vec![payload.layer.clone()],
            };
            // A broker that is gone has nobody to tell.
            let _ = protocol::send_folder(&self.run, &started, &init.output);
        }
        Ok(())
    }

    fn release(&mut self, wall: Duration) {
        if let Stage::Taken { gate } = &mut self.stage
            && let Some(gate) = gate.take()
        {
            let now = Instant::now();
            // The clock cannot represent a policy's largest number of seconds, which is as good as
            // no limit.
            self.deadline = Some(
                now.checked_add(wall)
                    .unwrap_or(now + Duration::from_secs(u64::from(u32::MAX))),
            );
            // If the payload has already ended, pid 1 reports it.
            let _ = std::fs::File::from(gate).write_all(b"r");
        }
    }

    /// Handles a missed deadline of the slot or of the run.
    pub fn overdue(&mut self) {
        self.deadline = None;
        if self.init.is_none() {
            // A pid 1 that never reported ends when its socket closes.
            self.door = None;
        }
        self.kill(EndedBy::Wall);
    }

    /// Kills pid 1, and with it everything in its pid namespace.
    fn kill(&mut self, by: EndedBy) {
        if self.by == EndedBy::Itself {
            self.by = by;
        }
        match &self.init {
            // A pid 1 that has already ended shows on its pidfd.
            Some(init) => drop(raw::pidfd_signal(init.pidfd.as_fd(), Signal::SIGKILL)),
            None => self.door = None,
        }
    }

    fn refuse(&mut self, refusal: Refusal) {
        self.say(&Says::Refused(refusal));
        self.kill(EndedBy::Command);
    }

    /// Called when pid 1, and with it the run, has ended. Returns whether the slot had been taken.
    pub fn end(mut self) -> bool {
        // Reads the last messages of pid 1.
        while let Some(Ok(Some(word))) = self.door().map(receive_word) {
            if matches!(self.stage, Stage::Taken { .. }) {
                self.pass_on(&word);
            }
        }
        if !matches!(self.stage, Stage::Taken { .. }) {
            return false;
        }
        // A killed pid 1 reported nothing.
        let exit = self.exit.unwrap_or(Exit {
            status: nix::libc::SIGKILL,
            cpu_us: 0,
            peak_kib: 0,
            lost: Lost::default(),
        });
        self.say(&Says::Ended(Ending {
            status: exit.status,
            // If the run ended before the kill, that end is its own.
            by: if self.exit.is_some() {
                EndedBy::Itself
            } else {
                self.by
            },
            cpu_us: exit.cpu_us,
            peak_kib: exit.peak_kib,
            out_of_memory: self.cgroup.as_ref().and_then(Cgroup::out_of_memory),
            lost: exit.lost,
            clean: true,
        }));
        true
    }

    fn say(&self, says: &Says) {
        // A broker that is gone has nobody to tell.
        let _ = protocol::send(&self.run, says);
    }
}

/// Receives one message with the pid of its sender; `None` at the end.
fn receive_word(door: BorrowedFd<'_>) -> nix::Result<Option<Word>> {
    let mut buffer = [0u8; WORD_MAX];
    let mut control = nix::cmsg_space!(UnixCredentials, [RawFd; 1]);
    let mut parts = [IoSliceMut::new(&mut buffer)];
    let got = recvmsg::<UnixAddr>(
        door.as_raw_fd(),
        &mut parts,
        Some(&mut control),
        MsgFlags::MSG_CMSG_CLOEXEC,
    );
    let mut pid = 0;
    let mut fd = None;
    let length = match got {
        Ok(got) => {
            for message in got.cmsgs()? {
                match message {
                    ControlMessageOwned::ScmCredentials(from) => pid = from.pid(),
                    ControlMessageOwned::ScmRights(fds) => {
                        fd = fds.into_iter().map(raw::adopt).next_back();
                    }
                    _ => {}
                }
            }
            got.bytes
        }
        // The other side closed without reading our last message.
        Err(nix::errno::Errno::ECONNRESET) => 0,
        Err(e) => return Err(e),
    };
    Ok((length > 0).then(|| Word {
        text: buffer[..length].to_vec(),
        pid,
        fd,
    }))
}

fn send_raw(socket: BorrowedFd<'_>, text: &[u8], fds: &[RawFd]) -> nix::Result<()> {
    let rights = [ControlMessage::ScmRights(fds)];
    sendmsg::<UnixAddr>(
        socket.as_raw_fd(),
        &[IoSlice::new(text)],
        if fds.is_empty() { &[] } else { &rights },
        MsgFlags::MSG_NOSIGNAL,
        None,
    )
    .map(drop)
}
