//! Namespaces: which parts of the machine exist for the payload.
//!
//! - user: its capabilities have no effect outside; its processes are counted separately.
//! - pid: it sees and signals only its own processes, and all of them die with pid 1.
//! - net: none of the machine's interfaces, abstract sockets or netlink.
//! - ipc: none of the machine's System V objects or message queues; its own are removed with it.
//! - uts, cgroup: it sees neither the machine's name nor its own position in the cgroups.
//! - mount: its own root (see `root`).

use std::io;
use std::os::fd::OwnedFd;

use nix::libc;
use nix::sys::prctl;
use nix::unistd::{Gid, Uid, setgroups, setresgid, setresuid};

use super::super::identity::Identity;
use super::super::layer::{Layer, on};
use super::super::{Attempt, Reason, Refusal, Step};
use crate::sandbox::raw::{self, Side};

/// Every namespace flag with its layer.
const KINDS: [(Layer, libc::c_int); 7] = [
    (Layer::Userns, libc::CLONE_NEWUSER),
    (Layer::Pidns, libc::CLONE_NEWPID),
    (Layer::Netns, libc::CLONE_NEWNET),
    (Layer::Ipcns, libc::CLONE_NEWIPC),
    (Layer::Utsns, libc::CLONE_NEWUTS),
    (Layer::Root, libc::CLONE_NEWNS),
    (Layer::Cgroupns, libc::CLONE_NEWCGROUP),
];

fn flags() -> libc::c_int {
    KINDS
        .into_iter()
        // The mount namespace is always separate, even if the layer `Root` is off.
        .filter(|(layer, _)| *layer == Layer::Root || on(*layer))
        .fold(0, |all, (_, flag)| all | flag)
}

/// Forks into new namespaces. The child is pid 1 there, with every capability inside and none
/// outside. The parent gets its pidfd.
pub fn enter() -> Result<(Side, Option<OwnedFd>), Refusal> {
    // Root owns the files that map users while the process is not dumpable.
    prctl::set_dumpable(true).step(Step::MakeNamespaces)?;
    let forked = raw::fork_into(flags());
    if !matches!(forked, Ok((Side::Child, _))) {
        prctl::set_dumpable(false).step(Step::MakeNamespaces)?;
    }
    forked.map_err(|e| Refusal::new(Reason::Namespaces, e))
}

/// The payload's user, the same inside and outside: the run's own user under root, otherwise the
/// current user.
#[derive(Clone, Copy)]
pub struct User {
    uid: u32,
    gid: u32,
    /// Whether the helper is root and the payload has to change its user.
    change: bool,
}

impl User {
    pub fn new(identity: Option<&Identity>) -> Result<Self, Refusal> {
        match identity {
            None => Ok(Self {
                uid: Uid::effective().as_raw(),
                gid: Gid::effective().as_raw(),
                change: false,
            }),
            Some(identity) => {
                // The jail denies setgroups for good, so the groups are left here.
                setgroups(&[]).step(Step::LeaveGroups)?;
                Ok(Self {
                    uid: identity.uid,
                    gid: identity.uid,
                    change: true,
                })
            }
        }
    }

    /// Called from outside: makes this user and group the only ones in the jail.
    pub fn map(self, init: i32) -> Result<(), Refusal> {
        let write = |file: &str, text: &str| -> io::Result<()> {
            std::fs::write(format!("/proc/{init}/{file}"), text)
        };
        if !on(Layer::Userns) {
            return Ok(());
        }
        // Without this, a process could leave a group whose members are denied something.
        write("setgroups", "deny").step(Step::MapUsers)?;
        write("uid_map", &format!("{0} {0} 1", self.uid)).step(Step::MapUsers)?;
        write("gid_map", &format!("{0} {0} 1", self.gid)).step(Step::MapUsers)
    }

    /// Called from inside: under root, gives root up for good. Only capabilities in the jail
    /// remain.
    pub fn become_it(self) -> Result<(), Refusal> {
        if !self.change {
            return Ok(());
        }
        let (user, group) = (Uid::from_raw(self.uid), Gid::from_raw(self.gid));
        setresgid(group, group, group).step(Step::ChangeGroup)?;
        #[cfg(test)]
        if !on(Layer::Userns) {
            super::super::layer::switched::keep_capabilities().step(Step::KeepRoot)?;
        }
        setresuid(user, user, user).step(Step::ChangeUser)?;
        #[cfg(test)]
        if !on(Layer::Userns) {
            super::super::layer::switched::use_capabilities().step(Step::KeepRoot)?;
        }
        // The change of user made this process undumpable and gave its `/proc` files to root again.
        prctl::set_dumpable(true).step(Step::ChangeUser)
    }
}
