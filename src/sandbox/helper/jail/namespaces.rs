//! Namespaces: what of the machine exists for the payload.
//!
//! - user: its capabilities mean nothing outside; its processes are counted apart.
//! - pid: it sees and signals its own processes only, and all of them die with pid 1.
//! - net: no interface, no abstract socket, no netlink of the machine's.
//! - ipc: no System V object or message queue of the machine's, and its own end with it.
//! - uts, cgroup: neither the machine's name nor its place in the cgroups.
//! - mount: a root of its own (see `root`).

use std::io;
use std::os::fd::OwnedFd;

use nix::libc;
use nix::sys::prctl;
use nix::unistd::{Gid, Uid, setgroups, setresgid, setresuid};

use super::super::identity::Identity;
use super::super::layer::{Layer, on};
use super::super::{Attempt, Reason, Refusal, Step};
use crate::sandbox::raw::{self, Side};

/// Every kind, each with the layer it is.
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
        // The mounts stay apart even where the root is left as it is.
        .filter(|(layer, _)| *layer == Layer::Root || on(*layer))
        .fold(0, |all, (_, flag)| all | flag)
}

/// Forks into new namespaces; the child is their pid 1, with every capability in them and none
/// outside. The parent has its pidfd.
pub fn enter() -> Result<(Side, Option<OwnedFd>), Refusal> {
    // The files that map its users belong to root while it may not be dumped.
    prctl::set_dumpable(true).step(Step::MakeNamespaces)?;
    let made = raw::fork_into(flags());
    if !matches!(made, Ok((Side::Child, _))) {
        prctl::set_dumpable(false).step(Step::MakeNamespaces)?;
    }
    made.map_err(|e| Refusal::new(Reason::Namespaces, e))
}

/// Who the payload is, inside as outside: under root the run's own user, else this one.
#[derive(Clone, Copy)]
pub struct User {
    uid: u32,
    gid: u32,
    /// Whether the helper is root and the payload has to change to it.
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
                // Inside, changing groups is denied for good.
                setgroups(&[]).step(Step::LeaveGroups)?;
                Ok(Self {
                    uid: identity.uid,
                    gid: identity.uid,
                    change: true,
                })
            }
        }
    }

    /// From outside: this user and group are the only ones there are in the jail.
    pub fn map(self, init: i32) -> Result<(), Refusal> {
        let write = |file: &str, text: &str| -> io::Result<()> {
            std::fs::write(format!("/proc/{init}/{file}"), text)
        };
        if !on(Layer::Userns) {
            return Ok(());
        }
        // Without it a process could leave a group that is denied something.
        write("setgroups", "deny").step(Step::MapUsers)?;
        write("uid_map", &format!("{0} {0} 1", self.uid)).step(Step::MapUsers)?;
        write("gid_map", &format!("{0} {0} 1", self.gid)).step(Step::MapUsers)
    }

    /// From inside, under root: gives root up for good. What is left are capabilities in the jail.
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
        // Changing the user made this undumpable, and its own `/proc` files root's again.
        prctl::set_dumpable(true).step(Step::ChangeUser)
    }
}
