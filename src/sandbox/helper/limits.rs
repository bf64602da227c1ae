//! Resource limits of the payload (setrlimit(2)), set before it runs anything.

use std::io;

use nix::sys::resource::{Resource, setrlimit};

use crate::model::Limits;

use super::super::procfs;
use super::layer::{Layer, on};
use super::{Attempt, Refusal, Step};

const MIB: u64 = 1024 * 1024;

/// Address space that the interpreter and libraries may map before the snippet's own allowance
/// counts. The runner lowers the limit to what they took plus the allowance before release, and the
/// broker verifies that from outside. The space is reserved, not used: allocators and OpenBLAS map
/// far more than they touch.
const BASELINE_MIB: u64 = 4096;

/// Maximum of pending signals. The kernel counts them by user, who may be the dashboard's own user:
/// the pending signals of a run reduce what other programs have for signals and timers.
pub const SIGNALS_MAX: u64 = 256;

/// Bytes of address space before the runner lowers the limit.
pub fn address_space_max(limits: &Limits) -> u64 {
    BASELINE_MIB
        .saturating_add(limits.memory_mb)
        .saturating_mul(MIB)
}

/// Sets every limit except that of processes, which is set once the user is the run's own.
pub fn set(limits: &Limits) -> Result<(), Refusal> {
    set_common(limits)?;
    set_all(counted(limits))
}

/// Sets the limits that a zygote has too and that its forks inherit.
pub fn set_common(limits: &Limits) -> Result<(), Refusal> {
    set_all([
        (
            Layer::Memory,
            Resource::RLIMIT_AS,
            both(address_space_max(limits)),
        ),
        (
            Layer::Size,
            Resource::RLIMIT_FSIZE,
            both(limits.file_size_mb.saturating_mul(MIB)),
        ),
        (Layer::Core, Resource::RLIMIT_CORE, both(0)),
        (Layer::Memlock, Resource::RLIMIT_MEMLOCK, both(0)),
        (Layer::Msgqueue, Resource::RLIMIT_MSGQUEUE, both(0)),
        (
            Layer::Signals,
            Resource::RLIMIT_SIGPENDING,
            both(SIGNALS_MAX),
        ),
        (Layer::Nocaps, Resource::RLIMIT_NICE, both(0)),
        (Layer::Nocaps, Resource::RLIMIT_RTPRIO, both(0)),
    ])
}

type Limit = (Layer, Resource, (u64, u64));

/// Limits of the payload alone: a zygote runs long and holds descriptors for its forks.
fn counted(limits: &Limits) -> [Limit; 2] {
    [
        // The kernel sends SIGXCPU one second before the SIGKILL.
        (
            Layer::Cpu,
            Resource::RLIMIT_CPU,
            (limits.cpu_s, limits.cpu_s + 1),
        ),
        (
            Layer::Files,
            Resource::RLIMIT_NOFILE,
            both(limits.open_files),
        ),
    ]
}

fn set_all(list: impl IntoIterator<Item = Limit>) -> Result<(), Refusal> {
    for (layer, resource, (soft, hard)) in list {
        if on(layer) {
            set_at_most(resource, soft, hard).step(Step::SetLimits)?;
        }
    }
    Ok(())
}

/// The limits that a fork of a zygote sets itself, as resource, soft and hard value. The limit of
/// processes includes the pid 1 of its user namespace.
pub fn of_fork(limits: &Limits) -> Vec<(i32, u64, u64)> {
    let processes = both(limits.processes.max(1).saturating_add(1));
    counted(limits)
        .into_iter()
        .map(|(_, resource, limit)| (resource, limit))
        .chain([(Resource::RLIMIT_NPROC, processes)])
        .map(|(resource, (soft, hard))| (resource as i32, soft, hard))
        .collect()
}

/// Limits processes and threads. `shared` is the number that the user already has, if the user is
/// not the run's own: the kernel counts by user.
pub fn set_processes(limits: &Limits, shared: u64) -> Result<(), Refusal> {
    let allowed = limits.processes.max(1).saturating_add(shared);
    if !on(Layer::Processes) {
        return Ok(());
    }
    set_at_most(Resource::RLIMIT_NPROC, allowed, allowed).step(Step::SetLimits)
}

/// Counts the threads of all processes of this user.
pub fn threads_of(uid: u32) -> io::Result<u64> {
    Ok(procfs::pids()?
        .into_iter()
        .filter_map(|pid| procfs::Status::read(pid).ok())
        .filter(|status| status.uids().is_some_and(|uids| uids[0] == uid))
        .filter_map(|status| status.get("Threads").parse::<u64>().ok())
        .sum())
}

const fn both(value: u64) -> (u64, u64) {
    (value, value)
}

/// Keeps the dashboard's own limit if that is lower.
fn set_at_most(resource: Resource, soft: u64, hard: u64) -> nix::Result<()> {
    let (_, ceiling) = nix::sys::resource::getrlimit(resource)?;
    setrlimit(resource, soft.min(ceiling), hard.min(ceiling))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits::DISTINCT;

    #[test]
    fn a_fork_has_the_limits_of_its_policy_in_numbers() {
        let limit = |resource: Resource, soft, hard| (resource as i32, soft, hard);
        let with_pid_1 = [
            limit(Resource::RLIMIT_CPU, 3, 4),
            limit(Resource::RLIMIT_NOFILE, 11, 11),
            limit(Resource::RLIMIT_NPROC, 8, 8),
        ];
        assert_eq!(of_fork(&LIMITS), with_pid_1);
        // A run is a process itself.
        let none = Limits {
            processes: 0,
            ..LIMITS
        };
        assert_eq!(of_fork(&none)[2], limit(Resource::RLIMIT_NPROC, 2, 2));
    }

    #[test]
    fn a_start_may_map_four_gibibytes_more_than_the_snippet() {
        assert_eq!(address_space_max(&LIMITS), 4_300_210_176);
        let endless = Limits {
            memory_mb: u64::MAX,
            ..LIMITS
        };
        assert_eq!(address_space_max(&endless), u64::MAX);
    }

    #[test]
    fn the_threads_of_a_user_are_counted() {
        let uid = nix::unistd::getuid().as_raw();
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || stopped.recv());
        assert!(threads_of(uid).unwrap() >= 2);
        drop(stop);
        let _ = thread.join();
        assert_eq!(threads_of(u32::MAX - 7).unwrap(), 0);
    }
}
