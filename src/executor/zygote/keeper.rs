//! One zygote from the broker's side: its helper, and the places that the helper offers.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::Child;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::model::Digest;

use super::super::handover::{self, Descriptors, Order, Purpose, Says};
use super::super::spec::{Fault, needs};
use super::super::{bundle, given, launch, memfd, procfs, raw, runner, scratch};
use super::Kind;

/// A zygote that lives as long as this value: runs hold it too.
#[derive(Debug)]
pub struct Keeper {
    helper: Option<Child>,
    /// Offers come here. Closed when no more runs are wanted; those that go on are not touched.
    offers: Mutex<Option<OwnedFd>>,
    /// What the zygote printed, which is why it ended.
    said: Mutex<File>,
    lifeline: Option<OwnedFd>,
    /// Its folder, which the helper removes unless it is killed.
    scratch: PathBuf,
}

/// What there was to take.
pub enum Offer {
    /// The socket of a place.
    Place(OwnedFd),
    /// Not yet.
    Nothing,
    /// The zygote is gone; why, for the local log.
    Gone(String),
}

impl Keeper {
    /// Starts the helper. The zygote has still to load its libraries.
    pub fn start(exe: BorrowedFd<'_>, kind: &Kind) -> Result<Self, Fault> {
        let doing = |e: std::io::Error| Fault::new("could not start a zygote", e);
        let file = |name: &str, bytes: std::io::Result<Vec<u8>>| {
            bytes
                .and_then(|bytes| memfd::of_bytes(name, &bytes))
                .map_err(doing)
        };
        let [lifeline_read, lifeline] = given::pipe()?;
        let [said, say] = given::output_pipe()?;
        let descriptors = Descriptors {
            lifeline: lifeline_read,
            stdout: say.try_clone().map_err(doing)?,
            report: say.try_clone().map_err(doing)?,
            stderr: say,
            setup: file(
                "setup",
                runner::zygote_setup(&kind.policy, &kind.env, kind.tables),
            )?,
            bundle: bundle::file(&kind.env).map_err(doing)?,
            job: file("job", Ok(Vec::new()))?,
            code: file("code", Ok(Vec::new()))?,
            inputs: Vec::new(),
        };
        let order = Order {
            tier: kind.tier,
            executable: kind.env.executable.clone(),
            needs: needs(&kind.env),
            scratch: scratch::make().map_err(doing)?,
            limits: kind.policy.limits,
            code: Digest::of(b""),
            purpose: Purpose::Zygote,
        };
        match launch::start(exe, &order, &descriptors) {
            Ok((helper, offers)) => Ok(Self {
                helper: Some(helper),
                offers: Mutex::new(Some(offers)),
                said: Mutex::new(said.into()),
                lifeline: Some(lifeline),
                scratch: order.scratch,
            }),
            Err(fault) => {
                let _ = std::fs::remove_dir(&order.scratch);
                Err(fault)
            }
        }
    }

    /// The helper's number.
    pub fn pid(&self) -> i32 {
        self.helper.as_ref().map_or(0, |helper| helper.id() as i32)
    }

    /// A place, if one is there within `patience`.
    pub fn take(&self, patience: Duration) -> Offer {
        let offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(socket) = offers.as_ref() else {
            return Offer::Gone("let go".to_owned());
        };
        let mut fds = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
        let patience = PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX);
        if !poll(&mut fds, patience).is_ok_and(|n| n > 0) {
            return Offer::Nothing;
        }
        match handover::receive_fds::<Says>(socket) {
            Ok(Some((Says::Place, mut fds))) if fds.len() == 1 => {
                fds.pop().map_or(Offer::Nothing, Offer::Place)
            }
            Ok(Some((Says::Refused { message, detail }, _))) => {
                Offer::Gone(format!("{message}: {detail} {}", self.said()))
            }
            _ => Offer::Gone(format!("end of socket {}", self.said())),
        }
    }

    #[cfg(test)]
    pub fn folder(&self) -> PathBuf {
        self.scratch.clone()
    }

    /// Whether a place is there; none where that is not known within `patience`. Takes nothing.
    #[cfg(test)]
    pub fn offers(&self, patience: Duration) -> Option<bool> {
        use nix::sys::socket::{MsgFlags, recv};
        use std::os::fd::AsRawFd;
        let offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(socket) = offers.as_ref() else {
            return Some(false);
        };
        let mut fds = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
        let patience = PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX);
        if !poll(&mut fds, patience).is_ok_and(|n| n > 0) {
            return None;
        }
        let mut buffer = [0u8; 256];
        let n = recv(socket.as_raw_fd(), &mut buffer, MsgFlags::MSG_PEEK).unwrap_or(0);
        Some(serde_json::from_slice::<Says>(&buffer[..n]).is_ok_and(|says| says == Says::Place))
    }

    /// Calls `then` once the helper has ended, from a thread of its own. An error where the kernel or
    /// this machine's limits give none: then its end is seen when a place is asked for.
    pub fn when_ended(&self, then: impl FnOnce() + Send + 'static) -> io::Result<()> {
        // Not reaped while this value is there, so the number means nobody else.
        let pidfd = raw::pidfd_open(self.pid())?;
        std::thread::Builder::new()
            .name("zygote".to_owned())
            .spawn(move || {
                let mut fds = [PollFd::new(pidfd.as_fd(), PollFlags::POLLIN)];
                while poll(&mut fds, PollTimeout::NONE) == Err(Errno::EINTR) {}
                then();
            })
            .map(drop)
    }

    /// Whether its helper has ended, by itself or killed.
    pub fn is_gone(&self) -> bool {
        procfs::stat(self.pid()).is_ok_and(|now| matches!(now.state, 'Z' | 'X'))
    }

    /// No more places are wanted. Runs that go on hold this, and keep the helper.
    pub fn let_go(&self) {
        self.offers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
    }

    fn said(&self) -> String {
        let mut buffer = [0u8; 4096];
        let mut file = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let length = file.read(&mut buffer).unwrap_or(0);
        String::from_utf8_lossy(&buffer[..length]).into_owned()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.let_go();
        self.lifeline.take();
        if let Some(helper) = self.helper.take() {
            launch::dismiss(helper);
        }
        // Empty on this side of the helper's mounts; gone already after a helper that was let go.
        let _ = std::fs::remove_dir(&self.scratch);
    }
}
