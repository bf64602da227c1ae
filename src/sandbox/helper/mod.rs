//! The helper: our own binary, started again for one run. It confines the payload, waits for it,
//! kills what is left of it, removes its folder and exits.
//!
//! It has one thread and only the descriptors that the broker sent. It hashes the bytes that came
//! from an agent and never interprets them.

mod cgroup;
mod identity;
mod jail;
pub(crate) mod layer;
mod limits;
mod mounts;
mod pair;
mod payload;
mod supervise;
mod tree;
mod view;
mod zygote;

use std::io;
use std::os::fd::{AsFd, IntoRawFd, OwnedFd};
use std::sync::OnceLock;

use nix::sys::prctl;
use nix::sys::stat::{Mode, umask};

use crate::model::{Digest, Limits, Tier};

use super::protocol::{self, Descriptors, Order, Purpose, Says};
use super::refusal::{Attempt, Reason, Refusal, Step};
use super::{memfd, raw, scratch};
use layer::{Layer, on};

/// The folder that the payload of a jail may write to, and the devices it has.
pub(crate) const SCRATCH: &str = jail::root::SCRATCH;
pub(crate) const DEVICES: &[&str] = jail::root::DEVICES;

/// Mount option of the jail's `/proc`.
pub(crate) const PROCESSES_ONLY: &str = jail::root::PROCESSES_ONLY;

/// The maximum total size of the files of a run in bytes.
pub(crate) fn scratch_bytes(limits: &Limits) -> u64 {
    view::scratch_bytes(limits)
}

/// The real paths that exist in the jail.
pub(crate) fn bound(
    executable: &std::path::Path,
    needs: &[std::path::PathBuf],
) -> Vec<std::path::PathBuf> {
    jail::root::bound(executable, needs)
}

pub(crate) use limits::SIGNALS_MAX;

/// Number of seccomp programs of a jailed payload that can no longer start a program.
pub(crate) const PROGRAMS: usize = jail::seccomp::PROGRAMS;

/// The last of these programs, which the runner installs, as hex digits.
pub(crate) fn last_program() -> io::Result<String> {
    static MADE: OnceLock<String> = OnceLock::new();
    if let Some(made) = MADE.get() {
        return Ok(made.clone());
    }
    let program = jail::seccomp::last().map_err(|refusal| io::Error::other(refusal.detail))?;
    Ok(MADE.get_or_init(|| hex(&program)).clone())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The payload's address space limit in bytes before its runner lowers it.
pub(crate) fn address_space_max(limits: &Limits) -> u64 {
    limits::address_space_max(limits)
}

/// Runs the helper. Nobody reads the exit code: everything is reported on the socket.
pub(crate) fn main() -> u8 {
    let socket = raw::adopt(0);
    let started = start(&socket).and_then(|(order, descriptors)| {
        let held = scratch::Held::open(&order.scratch).step(Step::OpenFolder)?;
        Ok((order, descriptors, held))
    });
    let (order, descriptors, held) = match started {
        Ok(started) => started,
        Err(refusal) => {
            refuse(&socket, refusal);
            return 1;
        }
    };
    let result = match order.purpose {
        Purpose::Zygote => zygote::keep(&socket, &order, descriptors, &held),
        Purpose::Run | Purpose::Probe => {
            prepare(&order, descriptors).and_then(|(prepared, lifeline)| {
                supervise::run(&socket, &lifeline, &order, prepared, &held)
            })
        }
    };
    match result {
        Ok(()) => 0,
        Err(refusal) => {
            // A mount over the folder goes with this process's namespace. If removing fails until
            // then, the broker removes the folder.
            let _ = held.remove();
            refuse(&socket, refusal);
            1
        }
    }
}

fn refuse(socket: &OwnedFd, refusal: Refusal) {
    // Fails only if the broker is gone, which then needs no report.
    let _ = protocol::send(socket, &Says::Refused(refusal));
}

/// Takes over: keeps no inherited descriptor but the socket, starts its own session and makes
/// itself unreadable from outside.
fn start(socket: &OwnedFd) -> Result<(Order, Descriptors<OwnedFd>), Refusal> {
    if on(Layer::Descriptors) {
        raw::close_from(1).step(Step::CloseRange)?;
    }
    // Opens descriptors 1 and 2, the lowest free ones, and keeps them open. The standard library
    // prints panics to 2, which must never be a file of a run.
    for _ in [1, 2] {
        let null = std::fs::File::options()
            .read(true)
            .write(true)
            .open("/dev/null")
            .step(Step::OpenDevNull)?;
        let _: i32 = null.into_raw_fd();
    }
    umask(Mode::from_bits_truncate(0o077));
    prctl::set_dumpable(false).step(Step::KeepHelperUnread)?;
    prctl::set_child_subreaper(true).step(Step::BecomeReaper)?;
    nix::unistd::setsid().step(Step::LeaveSession)?;
    protocol::receive_order(socket.as_fd()).step(Step::ReceiveOrder)
}

/// Everything that is prepared before the fork.
struct Prepared {
    identity: Option<identity::Identity>,
    cgroup: cgroup::Cgroup,
    view: view::View,
    payload: payload::Plan,
}

fn prepare(
    order: &Order,
    descriptors: Descriptors<OwnedFd>,
) -> Result<(Prepared, OwnedFd), Refusal> {
    check_files(order, &descriptors)?;
    let identity = identity::of_run()?;
    // Must come before the view becomes read-only.
    let cgroup = cgroup::Cgroup::make(&order.limits, 0);
    // Must come before the view: it opens `/proc` while that is still writable.
    let (payload, lifeline) = payload::Plan::new(order, descriptors)?;
    let view = match order.tier {
        Tier::Process => view::View::make(order, identity.as_ref())?,
        Tier::Kernel => view::View::reachable(order, identity.as_ref())?,
        tier => {
            return Err(Refusal::new(Reason::TierIncomplete(tier), tier));
        }
    };
    Ok((
        Prepared {
            identity,
            cgroup,
            view,
            payload,
        },
        lifeline,
    ))
}

/// Checks that the files are sealed and that the code has the digest in the order: only the code
/// that was shown is passed on.
fn check_files(order: &Order, descriptors: &Descriptors<OwnedFd>) -> Result<(), Refusal> {
    check_sealed([&descriptors.setup, &descriptors.bundle, &descriptors.job])?;
    check_sealed(&descriptors.inputs)?;
    check_code(&descriptors.code, order.code)
}

fn check_sealed<'a>(files: impl IntoIterator<Item = &'a OwnedFd>) -> Result<(), Refusal> {
    if files.into_iter().all(memfd::is_sealed) {
        Ok(())
    } else {
        Err(Refusal::new(Reason::FileNotSealed, "seals"))
    }
}

fn check_code(code: &OwnedFd, shown: Digest) -> Result<(), Refusal> {
    check_sealed([code])?;
    let digest = memfd::digest(code.try_clone().step(Step::ReadCode)?).step(Step::ReadCode)?;
    if digest != shown {
        return Err(Refusal::new(
            Reason::OtherCode,
            format!("{digest} is not {shown}"),
        ));
    }
    Ok(())
}
