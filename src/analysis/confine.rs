//! The restrictions that a worker imposes on itself before the first untrusted byte.

use std::collections::BTreeMap;

use nix::libc;
use nix::sys::prctl;
use nix::sys::resource::{Resource, rlim_t, setrlimit};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter_all_threads};

/// The memory limit, in addition to the stack and the memory in use at the start.
const MEMORY: u64 = 256 * 1024 * 1024;

/// Sets resource limits. The worker has no children to inherit them, so any failure is fatal.
pub fn limits(stack: usize) -> nix::Result<()> {
    prctl::set_no_new_privs()?;
    prctl::set_dumpable(false)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    setrlimit(Resource::RLIMIT_FSIZE, 0, 0)?;
    let has = mapped_bytes().unwrap_or(512 * 1024 * 1024);
    let most = has + stack as u64 + MEMORY;
    setrlimit(Resource::RLIMIT_AS, most as rlim_t, most as rlim_t)?;
    // Only standard input, output and error may be open.
    setrlimit(Resource::RLIMIT_NOFILE, 3, 3)
}

/// The bytes of address space in use (proc(5), statm).
fn mapped_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').next()?.parse().ok()?;
    let page = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok()??;
    Some(pages * u64::try_from(page).ok()?)
}

/// Allows only reading, writing, memory management and exiting; all other system calls fail with
/// EPERM, in every thread.
pub fn system_calls() -> Result<(), seccompiler::Error> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(seccompiler::Error::Backend)?;
    let rules: BTreeMap<i64, Vec<seccompiler::SeccompRule>> =
        ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Errno(libc::EPERM as u32),
        SeccompAction::Allow,
        arch,
    )
    .map_err(seccompiler::Error::Backend)?;
    let program = BpfProgram::try_from(filter).map_err(seccompiler::Error::Backend)?;
    apply_filter_all_threads(&program)
}

const ALLOWED: &[i64] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_getrandom,
    libc::SYS_clock_gettime,
    libc::SYS_setitimer,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_alarm,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
    // For `abort` only, which signals the process itself.
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_tgkill,
];
