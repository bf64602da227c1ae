//! One zygote from the broker's side: its helper, and the slots that the helper offers.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::child::{self, Confinement, Files, Handed, Helper, Host, Slot};
use crate::model::Digest;
use crate::sandbox::events::Events;
use crate::sandbox::protocol::{self, Purpose, Says};
use crate::sandbox::{memfd, procfs, raw};

use crate::executor::fault::{Fault, Why};
use crate::executor::python::{bundle, runner};

use super::ZygoteKind;

/// A zygote that lives as long as this value; runs hold it too.
#[derive(Debug)]
pub struct Keeper {
    /// Receives offers. Closed when no more runs are wanted; running ones go on.
    offers: Mutex<Option<OwnedFd>>,
    /// The zygote's output, which explains its end.
    output: Mutex<File>,
    helper: Helper,
}

/// The host of a warm start.
struct Shared(Arc<Keeper>);

impl Host for Shared {
    fn helper(&self) -> i32 {
        self.0.pid()
    }

    fn between(&self) -> usize {
        // Pid 1 of the zygote's jail and pid 1 of the run's slot in it.
        2
    }

    fn start(&self) -> &'static str {
        "warm"
    }

    fn folder(&self) -> Option<&PathBuf> {
        None
    }
}

/// The result of asking for a slot.
pub enum Offer {
    /// The socket of a slot.
    Slot(OwnedFd),
    /// No slot yet.
    Nothing,
    /// The zygote ended, with the reason for the local log.
    Gone(String),
}

impl Keeper {
    /// Starts the helper. The zygote then still has to load its libraries.
    pub fn start(exe: BorrowedFd<'_>, kind: &ZygoteKind) -> Result<Self, Fault> {
        let file = |name: &str, bytes: io::Result<Vec<u8>>| {
            bytes
                .and_then(|bytes| memfd::of_bytes(name, &bytes))
                .map_err(Fault::of(Why::Files))
        };
        let [output, say] = child::output_pipe()?;
        let copy = || say.try_clone().map_err(Fault::of(Why::Files));
        let outputs = [copy()?, copy()?, copy()?];
        let setup = runner::zygote_setup(&kind.policy, &kind.env, kind.tables);
        let files = Files {
            setup: file("setup", setup)?,
            bundle: bundle::file(&kind.env).map_err(Fault::of(Why::Files))?,
            handed: Handed {
                job: file("job", Ok(Vec::new()))?,
                code: file("code", Ok(Vec::new()))?,
                digest: Digest::of(b""),
                inputs: Vec::new(),
            },
        };
        let confinement = Confinement {
            tier: kind.tier,
            executable: kind.env.executable.clone(),
            needs: kind.env.needs(),
            limits: kind.policy.limits,
            mapped: 0,
            inputs: 0,
            purpose: Purpose::Zygote,
        };
        let (helper, offers) = child::helper(exe, &confinement, files, outputs)?;
        Ok(Self {
            helper,
            offers: Mutex::new(Some(offers)),
            output: Mutex::new(output.into()),
        })
    }

    /// The helper's number.
    pub const fn pid(&self) -> i32 {
        self.helper.number()
    }

    /// Wraps a socket of this zygote as a slot.
    pub fn slot(self: &Arc<Self>, socket: OwnedFd) -> Slot {
        Slot::new(socket, Box::new(Shared(self.clone())))
    }

    /// A slot, if one is available within `patience`.
    pub fn take(&self, patience: Duration) -> Offer {
        let offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(socket) = offers.as_ref() else {
            return Offer::Gone("let go".to_owned());
        };
        if !is_there(socket, patience) {
            return Offer::Nothing;
        }
        match protocol::receive_fds::<Says>(socket) {
            Ok(Some((Says::Slot, mut fds))) if fds.len() == 1 => {
                fds.pop().map_or(Offer::Nothing, Offer::Slot)
            }
            Ok(Some((Says::Refused(refusal), _))) => Offer::Gone(format!(
                "{}: {} {}",
                refusal.reason,
                refusal.detail,
                self.output()
            )),
            _ => Offer::Gone(format!("end of socket {}", self.output())),
        }
    }

    #[cfg(test)]
    pub fn folder(&self) -> PathBuf {
        self.helper.scratch().clone()
    }

    /// Whether a slot is available, without taking it; `None` if that is not known within
    /// `patience`.
    #[cfg(test)]
    pub fn offers(&self, patience: Duration) -> Option<bool> {
        use nix::sys::socket::{MsgFlags, recv};
        use std::os::fd::AsRawFd;
        let offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(socket) = offers.as_ref() else {
            return Some(false);
        };
        if !is_there(socket, patience) {
            return None;
        }
        let mut buffer = [0u8; 256];
        let n = recv(socket.as_raw_fd(), &mut buffer, MsgFlags::MSG_PEEK).unwrap_or(0);
        Some(serde_json::from_slice::<Says>(&buffer[..n]).is_ok_and(|says| says == Says::Slot))
    }

    /// Calls `then` in a new thread once the helper has ended. If the kernel or the limits provide
    /// no pidfd or thread, that is an error, and the end is noticed when the next slot is
    /// requested.
    pub fn when_ended(&self, then: impl FnOnce() + Send + 'static) -> io::Result<()> {
        // The helper is not reaped while this value exists, so its pid is not reused.
        let pidfd = raw::pidfd_open(self.pid())?;
        std::thread::Builder::new()
            .name("zygote".to_owned())
            .spawn(move || {
                let ended = || Events::new().on((), pidfd.as_fd()).wait(None);
                while ended().is_ok_and(|happened| happened.is_empty()) {}
                then();
            })
            .map(drop)
    }

    /// Whether the helper has ended, by itself or killed.
    pub fn is_gone(&self) -> bool {
        procfs::stat(self.pid()).is_ok_and(|now| matches!(now.state, 'Z' | 'X'))
    }

    /// Stops requesting slots. Running runs hold this value and keep the helper.
    pub fn let_go(&self) {
        self.offers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }

    fn output(&self) -> String {
        let mut buffer = [0u8; 4096];
        let mut file = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let length = file.read(&mut buffer).unwrap_or(0);
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    }
}

/// Whether the socket becomes readable within `patience`.
fn is_there(socket: &OwnedFd, patience: Duration) -> bool {
    let until = Instant::now() + patience;
    let happened = Events::new().on((), socket.as_fd()).wait(Some(until));
    happened.is_ok_and(|happened| !happened.is_empty())
}
