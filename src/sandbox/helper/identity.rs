//! Gives a run its own user under a root dashboard, and drops to that user for good.
//!
//! A uid that nobody else has makes RLIMIT_NPROC count only this run, keeps the payload from
//! signalling other processes, and lets the supervisor kill the whole run with one call.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;

use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, bind, socket};
use nix::unistd::{Gid, Uid, getresgid, getresuid, setgroups, setresgid, setresuid};

use super::super::{procfs, raw};
use super::layer::{Layer, on};
use super::{Attempt, Reason, Refusal, Step};

/// The range that systemd's "Users, Groups, UIDs and GIDs" sets aside for users that exist only
/// while a service runs.
const RANGE: std::ops::RangeInclusive<u32> = 61_184..=65_519;

/// A uid and gid reserved for this run while the value lives.
#[derive(Debug)]
pub struct Identity {
    pub uid: u32,
    /// An abstract socket named after the uid: two dashboards cannot take the same uid, and the
    /// kernel releases it even if this process is killed.
    _reservation: OwnedFd,
}

/// A user of the run's own under root. Otherwise `None`: only root can change users.
pub fn of_run() -> Result<Option<Identity>, Refusal> {
    (Uid::effective().is_root() && on(Layer::Uid))
        .then(reserve)
        .transpose()
}

/// Takes a uid of the range that has no passwd entry and no process.
fn reserve() -> Result<Identity, Refusal> {
    let named = named_uids();
    let mut seed = [0u8; 2];
    getrandom::fill(&mut seed).map_err(|e| Refusal::new(Step::DrawNumber, e))?;
    for uid in all_from(u16::from_le_bytes(seed)) {
        if named.contains(&uid) {
            continue;
        }
        let Some(reservation) = take(uid) else {
            continue;
        };
        // Checked after the reservation, so that no other dashboard can start to use the uid in
        // between.
        if has_processes(uid).step(Step::ReadUsers)? {
            continue;
        }
        return Ok(Identity {
            uid,
            _reservation: reservation,
        });
    }
    Err(Refusal::new(
        Reason::NoUserId,
        format!("{RANGE:?} is used up"),
    ))
}

/// Every uid of the range once, beginning at a place that `seed` gives.
fn all_from(seed: u16) -> impl Iterator<Item = u32> {
    RANGE.cycle().skip(seed.into()).take(RANGE.count())
}

fn take(uid: u32) -> Option<OwnedFd> {
    let fd = socket(
        AddressFamily::Unix,
        SockType::Datagram,
        SockFlag::SOCK_CLOEXEC,
        None,
    )
    .ok()?;
    let name = format!("countersign-run-uid-{uid}");
    let address = UnixAddr::new_abstract(name.as_bytes()).ok()?;
    bind(std::os::fd::AsRawFd::as_raw_fd(&fd), &address).ok()?;
    Some(fd)
}

/// Parses the file itself: the name service could wait for a directory server.
fn named_uids() -> BTreeSet<u32> {
    std::fs::read_to_string("/etc/passwd")
        .unwrap_or_default()
        .lines()
        .filter_map(|line| line.split(':').nth(2)?.parse().ok())
        .collect()
}

fn has_processes(uid: u32) -> std::io::Result<bool> {
    Ok(procfs::pids()?
        .into_iter()
        .filter_map(procfs::uids)
        .any(|uids| uids.contains(&uid)))
}

/// Gives up every privilege for good and checks that there is no way back.
pub fn drop_to(uid: u32) -> Result<(), Refusal> {
    drop_bounding()?;
    setgroups(&[]).step(Step::LeaveGroups)?;
    let (user, group) = (Uid::from_raw(uid), Gid::from_raw(uid));
    setresgid(group, group, group).step(Step::ChangeGroup)?;
    setresuid(user, user, user).step(Step::ChangeUser)?;
    drop_capabilities()?;
    let users = getresuid().step(Step::ReadUserId)?;
    let groups = getresgid().step(Step::ReadGroupId)?;
    let changed = [users.real, users.effective, users.saved] == [user; 3]
        && [groups.real, groups.effective, groups.saved] == [group; 3];
    let root = Uid::from_raw(0);
    if !changed || setresuid(root, root, root).is_ok() || nix::unistd::setuid(root).is_ok() {
        return Err(Refusal::new(Reason::RootKept, uid));
    }
    Ok(())
}

/// Empties the bounding set.
fn drop_bounding() -> Result<(), Refusal> {
    #[cfg(test)]
    if !on(Layer::Nocaps) {
        super::layer::switched::hand_on_capabilities().step(Step::DropCapabilities)?;
    }
    if !on(Layer::Bounding) {
        return Ok(());
    }
    // Numbers above the kernel's last capability give EINVAL.
    for capability in 0..64 {
        if !raw::drop_bounding(capability).step(Step::DropCapabilities)? {
            break;
        }
    }
    Ok(())
}

/// Empties every capability set, including the bounding set. For a process that has all
/// capabilities.
pub fn drop_all_capabilities() -> Result<(), Refusal> {
    drop_bounding()?;
    drop_capabilities()
}

/// Empties the capability sets of this process. The kernel empties the ambient set with the inheritable one
/// (capabilities(7)).
pub fn drop_capabilities() -> Result<(), Refusal> {
    if !on(Layer::Nocaps) {
        return Ok(());
    }
    raw::set_capabilities(0).step(Step::DropCapabilities)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reserved_uid_is_of_the_range_and_nobody_elses() {
        let all: Vec<Identity> = (0..8).map(|_| reserve().unwrap()).collect();
        let uids: BTreeSet<u32> = all.iter().map(|one| one.uid).collect();
        assert_eq!(uids.len(), all.len());
        let named = named_uids();
        for uid in uids {
            assert!((61_184..=65_519).contains(&uid), "{uid}");
            assert!(!named.contains(&uid) && !has_processes(uid).unwrap());
            assert!(take(uid).is_none(), "{uid} is taken");
        }
    }

    #[test]
    fn every_uid_of_the_range_is_tried_wherever_the_search_begins() {
        let range: BTreeSet<u32> = (61_184..=65_519).collect();
        for (seed, first) in [
            (0, 61_184),
            (4_335, 65_519),
            (4_336, 61_184),
            (u16::MAX, 61_679),
        ] {
            let tried: Vec<u32> = all_from(seed).collect();
            assert_eq!((tried[0], tried.len()), (first, range.len()), "{seed}");
            assert_eq!(tried.into_iter().collect::<BTreeSet<_>>(), range, "{seed}");
        }
    }

    #[test]
    fn a_reservation_ends_with_its_value() {
        // A number that no run takes.
        let uid = 4_000_000_000 + std::process::id();
        let reservation = take(uid).unwrap();
        assert!(take(uid).is_none());
        drop(reservation);
        assert!(take(uid).is_some());
    }

    #[test]
    fn a_user_with_a_name_or_a_process_is_known() {
        assert!(named_uids().contains(&0));
        assert!(has_processes(Uid::current().as_raw()).unwrap());
        assert!(!has_processes(u32::MAX - 7).unwrap());
    }
}
