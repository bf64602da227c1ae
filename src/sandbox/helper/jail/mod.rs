//! The jail of tier `kernel`: namespaces, a root file system with only what is needed, a pid 1 that
//! only reaps, and a payload that gives up its remaining rights itself.
//!
//! Each layer has its own file with the reasons for its rules: `namespaces` (what the payload
//! cannot see), `root` (which files exist), `init` (pid 1), `landlock_rules` (what it may do with
//! the files), `seccomp` and `numbers` (which system calls it has).

pub mod init;
pub mod landlock_rules;
pub mod namespaces;
mod numbers;
pub mod root;
pub mod seccomp;

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::unistd::pipe2;

use super::super::protocol::{self, Order};
use super::super::{procfs, raw, scratch};
use super::identity::Identity;
use super::layer::{Layer, on};
use super::payload::{Plan, Started, await_exec, report_failure};
use super::{Attempt, Reason, Refusal, Step};

/// What a jail contains: the payload of a run, or a zygote.
pub trait Tenant {
    /// Runs in the child of pid 1, whose pid is `init`. Becomes the interpreter, or writes the
    /// reason to `failure` if that is impossible.
    fn move_in(&self, init: i32, failure: File) -> !;

    /// Whether the jail stays after its tenant has ended.
    fn is_outlived(&self) -> bool {
        false
    }
}

impl Tenant for Plan {
    fn move_in(&self, init: i32, failure: File) -> ! {
        self.become_payload(super::payload::PayloadRoot::Jail, init, failure)
    }
}

/// Makes the jail and its tenant, and waits until the interpreter has taken over.
pub fn start(
    order: &Order,
    tenant: &dyn Tenant,
    identity: Option<&Identity>,
    lifeline: &OwnedFd,
) -> Result<Started, Refusal> {
    let (failure_read, failure) = pipe2(OFlag::O_CLOEXEC).step(Step::MakePipe)?;
    let (mapped, map) = pipe2(OFlag::O_CLOEXEC).step(Step::MakePipe)?;
    let (exit_read, exit) = pipe2(OFlag::O_CLOEXEC).step(Step::MakePipe)?;
    let (folder_read, folder) = socketpair(
        AddressFamily::Unix,
        SockType::SeqPacket,
        None,
        SockFlag::SOCK_CLOEXEC,
    )
    .step(Step::MakeSocket)?;
    let user = namespaces::User::new(identity)?;
    let channels = Channels {
        failure,
        mapped,
        exit,
        folder,
    };
    let (init, pidfd) = match namespaces::enter()? {
        (raw::Side::Child, _) => {
            drop((failure_read, map, exit_read, folder_read));
            inside(order, tenant, user, channels)
        }
        (raw::Side::Parent(pid), pidfd) => (pid, pidfd),
    };
    drop(channels);
    user.map(init)?;
    (&File::from(map.try_clone().step(Step::MakePipe)?))
        .write_all(b"m")
        .step(Step::StartJail)?;
    let layers = await_exec(failure_read, lifeline)?;
    let payload = procfs::only_child(init)
        .step(Step::FindPayload)?
        .ok_or_else(|| Refusal::new(Reason::PythonEnded, "no payload"))?;
    // While pid 1 waits for the mapping, the end of this pipe means that the helper is gone. So it
    // stays open until here.
    drop(map);
    // Pid 1 sends it before it forks the payload, so it has arrived.
    let output = protocol::receive_folder::<()>(&folder_read)
        .step(Step::OpenFolder)?
        .and_then(|((), folder)| folder)
        .ok_or_else(|| Refusal::new(Step::OpenFolder, "no descriptor"))?;
    Ok(Started {
        pid: init,
        pidfd,
        payload,
        layers,
        exit: Some(exit_read),
        output,
    })
}

/// The ends of the helper's channels that pid 1 holds.
struct Channels {
    failure: OwnedFd,
    mapped: OwnedFd,
    exit: OwnedFd,
    /// Sends the helper the output folder, which exists only in the mounts of pid 1.
    folder: OwnedFd,
}

/// Runs inside the namespaces and never returns.
fn inside(order: &Order, tenant: &dyn Tenant, user: namespaces::User, channels: Channels) -> ! {
    let Channels {
        failure,
        mapped,
        exit,
        folder,
    } = channels;
    let failure = File::from(failure);
    if let Err(refusal) = become_init(order, user, &mapped).and_then(|()| hand_out(&folder)) {
        report_failure(failure, &refusal);
        raw::exit_now(1);
    }
    // This is 1 in a new pid namespace.
    let init = std::process::id() as i32;
    match raw::fork() {
        Err(e) => {
            report_failure(failure, &Refusal::new(Step::Fork, e));
            raw::exit_now(1)
        }
        Ok(raw::Side::Child) => tenant.move_in(init, failure),
        Ok(raw::Side::Parent(payload)) => {
            if let Err(refusal) = init::give_up() {
                report_failure(failure, &refusal);
                raw::exit_now(1);
            }
            drop(failure);
            if tenant.is_outlived() {
                init::reap_for_good(exit)
            }
            init::reap_for(payload, order.limits.cpu_s, exit)
        }
    }
}

fn hand_out(channel: &OwnedFd) -> Result<(), Refusal> {
    const DOING: Step = Step::OpenFolder;
    let output = scratch::output(Path::new(root::SCRATCH)).step(DOING)?;
    protocol::send_folder(channel, &(), &output).step(DOING)
}

fn become_init(order: &Order, user: namespaces::User, mapped: &OwnedFd) -> Result<(), Refusal> {
    let mut byte = [0u8];
    if nix::unistd::read(mapped, &mut byte).step(Step::WaitForHelper)? != 1 {
        return Err(Refusal::new(Reason::HelperGone, "no mapping"));
    }
    user.become_it()?;
    // Must follow the change of user, which clears the setting. The helper has one thread.
    if on(Layer::ParentDeath) {
        prctl::set_pdeathsig(Signal::SIGKILL).step(Step::SetParentDeathSignal)?;
    }
    let mut fds = [PollFd::new(mapped.as_fd(), PollFlags::POLLIN)];
    if poll(&mut fds, PollTimeout::ZERO).step(Step::WaitForHelper)? != 0 {
        return Err(Refusal::new(Reason::HelperGone, "end of its pipe"));
    }
    nix::unistd::setsid().step(Step::LeaveSession)?;
    root::make(order)?;
    if on(Layer::Utsns) {
        nix::unistd::sethostname("countersign").step(Step::SetHostName)?;
    }
    Ok(())
}
