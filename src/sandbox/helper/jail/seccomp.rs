//! Seccomp: which system calls the payload has. An allow-list, made from what Python, numpy and
//! pandas use; everything else is EPERM, so that a library finds another way or reports an error.
//!
//! Left out, with reasons: sockets except pairs (network, `AF_VSOCK`, netlink, the dashboard's own
//! socket), `memfd_create` (memory that no limit counts), `unshare`, `setns` and namespace flags (a
//! fresh set of capabilities, and the kernel code behind them), mounts, `ptrace`, `process_vm_*`,
//! `pidfd_getfd`, io_uring, keyrings, bpf, perf, userfaultfd, modules, landlock (nothing to add),
//! System V and POSIX queues, memory and semaphores.
//!
//! There are two programs. One decides by number (see `numbers`): it allows the list, kills
//! on numbers of the x32 ABI, and answers `clone3` with ENOSYS (its flags are behind a pointer, and
//! the C library then uses `clone`). The other is seccompiler's: it refuses some arguments of
//! listed calls, and kills on calls of another architecture, whose numbers mean something else. The
//! interpreter starts by an exec and then installs a third program, which takes back everything
//! that was only needed until then, including exec and the right to install another program. Code
//! that runs afterwards cannot start a program, not even its own interpreter.

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::super::{Reason, Refusal, Step};
use super::numbers;

/// The compiled programs, in the order in which they are installed.
pub struct Programs(Vec<BpfProgram>);

impl Programs {
    /// For a payload until its interpreter is up. Compiled before any fork, so that a mistake can
    /// still be reported.
    pub fn compile() -> Result<Self, Refusal> {
        programs(STARTING_CALLS, Some(STARTING_OPTIONS)).map_err(|e| no_filter(&e))
    }

    /// For a zygote: also allows the calls that its forks use to restrict themselves. The forks
    /// inherit these programs and add [`last`].
    pub fn of_zygote() -> Result<Self, Refusal> {
        programs(ZYGOTE_CALLS, None).map_err(|e| no_filter(&e))
    }

    /// Installs the programs. Afterwards only listed calls are allowed.
    pub fn install(&self) -> Result<(), Refusal> {
        for program in &self.0 {
            seccompiler::apply_filter(program).map_err(|e| Refusal::new(Step::InstallFilter, e))?;
        }
        Ok(())
    }
}

/// Number of programs of a payload whose interpreter is up.
pub const PROGRAMS: usize = 3;

/// The last program to be installed, as the kernel reads it: an array of `struct sock_filter`. It
/// has only a few steps, because every warm start installs it; it only takes back what the other
/// programs allowed for the start.
pub fn last() -> Result<Vec<u8>, Refusal> {
    let steps = taken_back().map_err(|e| no_filter(&e))?;
    Ok(steps
        .iter()
        .flat_map(|step| {
            let mut bytes = [0u8; 8];
            bytes[..2].copy_from_slice(&step.code.to_ne_bytes());
            bytes[2..4].copy_from_slice(&[step.jt, step.jf]);
            bytes[4..].copy_from_slice(&step.k.to_ne_bytes());
            bytes
        })
        .collect())
}

type Failure = Box<dyn std::error::Error>;

fn no_filter(e: &Failure) -> Refusal {
    Refusal::new(Reason::FilterNotMade, e)
}

/// `more` are calls allowed in addition to the list. `options` are prctl(2) options allowed in
/// addition to the usual ones; `None` allows any.
fn programs(more: &[i64], options: Option<&[libc::c_int]>) -> Result<Programs, Failure> {
    let listed: Vec<i64> = [CALLS, OLD_CALLS, RESTRICTED_CALLS, more].concat();
    let mut rules = arguments()?;
    if let Some(options) = options {
        rules.push((
            libc::SYS_prctl,
            vec![none_of(0, &[OPTIONS, options].concat())?],
        ));
    }
    // The program by number comes last, because it does not allow installing another.
    Ok(Programs(vec![refusing(rules)?, numbers::program(&listed)?]))
}

/// Refuses everything that a start was allowed in addition to the list.
fn taken_back() -> Result<BpfProgram, Failure> {
    let mut rules: SyscallRules = [STARTING_CALLS, ZYGOTE_CALLS]
        .concat()
        .into_iter()
        .map(|call| (call, Vec::new()))
        .collect();
    rules.push((libc::SYS_prctl, vec![none_of(0, OPTIONS)?]));
    refusing(rules)
}

/// Calls with the rules that make them EPERM. A call without rules is always EPERM.
type SyscallRules = Vec<(i64, Vec<SeccompRule>)>;

fn refusing(rules: SyscallRules) -> Result<BpfProgram, Failure> {
    let program = SeccompFilter::new(
        rules.into_iter().collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM as u32),
        TargetArch::try_from(std::env::consts::ARCH)?,
    )?;
    Ok(program.try_into()?)
}

/// Matches if this argument is none of the values.
fn none_of(argument: u8, values: &[libc::c_int]) -> Result<SeccompRule, seccompiler::BackendError> {
    let other = |value: &libc::c_int| {
        SeccompCondition::new(
            argument,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::Ne,
            u64::from(*value as u32),
        )
    };
    SeccompRule::new(values.iter().map(other).collect::<Result<_, _>>()?)
}

/// Arguments that are refused although their call is listed.
fn arguments() -> Result<SyscallRules, seccompiler::BackendError> {
    use SeccompCmpArgLen::{Dword, Qword};
    use SeccompCmpOp::{Eq, MaskedEq};
    let when = |argument, size, operator, value| {
        SeccompRule::new(vec![SeccompCondition::new(
            argument, size, operator, value,
        )?])
    };
    // Processes and threads are allowed, new namespaces are not.
    let namespaces = NAMESPACES
        .iter()
        .map(|flag| when(0, Qword, MaskedEq(*flag), *flag))
        .collect::<Result<_, _>>()?;
    // Injecting terminal input, and the ioctl for the console's selection.
    let terminal = [TIOCSTI, TIOCLINUX]
        .into_iter()
        .map(|request| when(1, Dword, Eq, request))
        .collect::<Result<_, _>>()?;
    let programs = SOCKET_PROGRAMS
        .iter()
        .map(|option| {
            SeccompRule::new(vec![
                SeccompCondition::new(1, Dword, Eq, u64::from(libc::SOL_SOCKET as u32))?,
                SeccompCondition::new(2, Dword, Eq, u64::from(*option as u32))?,
            ])
        })
        .collect::<Result<_, _>>()?;
    Ok(vec![
        (libc::SYS_clone, namespaces),
        (libc::SYS_ioctl, terminal),
        (libc::SYS_socketpair, vec![none_of(0, &[libc::AF_UNIX])?]),
        (libc::SYS_fcntl, vec![none_of(1, FILE_COMMANDS)?]),
        (libc::SYS_setsockopt, programs),
        // Limits of other processes, such as pid 1 of the jail.
        (libc::SYS_prlimit64, vec![none_of(0, &[0])?]),
    ])
}

/// The prctl(2) options that a snippet may use.
const OPTIONS: &[libc::c_int] = &[
    libc::PR_SET_NAME,
    libc::PR_GET_NAME,
    libc::PR_GET_DUMPABLE,
    libc::PR_SET_PDEATHSIG,
    libc::PR_GET_PDEATHSIG,
    libc::PR_SET_VMA,
];

const NAMESPACES: &[u64] = &[
    libc::CLONE_NEWUSER as u32 as u64,
    libc::CLONE_NEWPID as u32 as u64,
    libc::CLONE_NEWNET as u32 as u64,
    libc::CLONE_NEWIPC as u32 as u64,
    libc::CLONE_NEWUTS as u32 as u64,
    libc::CLONE_NEWNS as u32 as u64,
    libc::CLONE_NEWCGROUP as u32 as u64,
];

/// The fcntl(2) commands that a snippet may use. Others keep state of a file in the kernel, without
/// a limit or to the harm of other processes: open file description locks, leases and delegations
/// (an open elsewhere waits for them), notifications; and kernels add new ones.
/// [`numbers::program`] explains the answer to traditional locks.
const FILE_COMMANDS: &[libc::c_int] = &[
    libc::F_DUPFD,
    libc::F_DUPFD_CLOEXEC,
    libc::F_GETFD,
    libc::F_SETFD,
    libc::F_GETFL,
    libc::F_SETFL,
    libc::F_GETLK,
    libc::F_SETLK,
    libc::F_SETLKW,
    libc::F_OFD_GETLK,
    libc::F_GETLEASE,
    libc::F_GETOWN,
    libc::F_SETOWN,
    F_GETSIG,
    F_SETSIG,
    libc::F_GETPIPE_SZ,
    libc::F_SETPIPE_SZ,
    libc::F_GET_SEALS,
    libc::F_ADD_SEALS,
];

/// From include/uapi/asm-generic/fcntl.h.
const F_SETSIG: libc::c_int = 10;
const F_GETSIG: libc::c_int = 11;

/// Socket options (socket(7)) that load a BPF program.
const SOCKET_PROGRAMS: &[libc::c_int] = &[
    libc::SO_ATTACH_FILTER,
    libc::SO_ATTACH_BPF,
    libc::SO_ATTACH_REUSEPORT_CBPF,
    libc::SO_ATTACH_REUSEPORT_EBPF,
];

const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;

/// Listed calls of which some arguments are refused.
const RESTRICTED_CALLS: &[i64] = &[
    libc::SYS_clone,
    libc::SYS_ioctl,
    libc::SYS_socketpair,
    libc::SYS_prctl,
    libc::SYS_fcntl,
    libc::SYS_setsockopt,
    libc::SYS_prlimit64,
];

/// The call that starts the interpreter.
const STARTING_CALLS: &[i64] = &[libc::SYS_execve];

/// The prctl options for installing [`last`], for the repeated no-new-privileges of seccompiler,
/// and for keeping other processes of the user from reading the interpreter, which nothing may take
/// back.
const STARTING_OPTIONS: &[libc::c_int] = &[
    libc::PR_SET_SECCOMP,
    libc::PR_SET_NO_NEW_PRIVS,
    libc::PR_SET_DUMPABLE,
];

/// Calls with which the forks of a zygote make the folder of a run and confine themselves. Mounts
/// and namespaces only work for a process that has or makes a user namespace; the zygote itself has
/// no capability.
const ZYGOTE_CALLS: &[i64] = &[
    libc::SYS_execve,
    libc::SYS_unshare,
    libc::SYS_mount,
    libc::SYS_capset,
    libc::SYS_landlock_create_ruleset,
    libc::SYS_landlock_add_rule,
    libc::SYS_landlock_restrict_self,
];

/// On every architecture.
const CALLS: &[i64] = &[
    // Files by descriptor.
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_lseek,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_fstat,
    libc::SYS_flock,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_pipe2,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_fadvise64,
    libc::SYS_fchmod,
    libc::SYS_fchdir,
    libc::SYS_fstatfs,
    libc::SYS_getdents64,
    libc::SYS_sendfile,
    libc::SYS_copy_file_range,
    // Files by name.
    libc::SYS_openat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_fchmodat,
    libc::SYS_utimensat,
    libc::SYS_truncate,
    libc::SYS_getcwd,
    libc::SYS_chdir,
    libc::SYS_umask,
    // Memory.
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_msync,
    libc::SYS_mincore,
    libc::SYS_membarrier,
    // Processes and threads of this program only.
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getppid,
    libc::SYS_getpgid,
    libc::SYS_setpgid,
    libc::SYS_getsid,
    libc::SYS_setsid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getresuid,
    libc::SYS_getresgid,
    libc::SYS_getgroups,
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_rseq,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_getpriority,
    libc::SYS_getcpu,
    libc::SYS_getrlimit,
    libc::SYS_setrlimit,
    libc::SYS_getrusage,
    libc::SYS_times,
    // Signals.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigsuspend,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_rt_sigpending,
    libc::SYS_sigaltstack,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_restart_syscall,
    // Time.
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_gettimeofday,
    libc::SYS_getitimer,
    libc::SYS_setitimer,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime,
    // Waiting.
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_eventfd2,
    // Socket pairs, which multiprocessing and asyncio use.
    libc::SYS_sendto,
    libc::SYS_recvfrom,
    libc::SYS_sendmsg,
    libc::SYS_recvmsg,
    libc::SYS_getsockopt,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_shutdown,
    // Visible properties of the machine.
    libc::SYS_getrandom,
    libc::SYS_uname,
    libc::SYS_sysinfo,
];

/// Calls that newer architectures no longer have.
#[cfg(target_arch = "x86_64")]
const OLD_CALLS: &[i64] = &[
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_link,
    libc::SYS_symlink,
    libc::SYS_chmod,
    libc::SYS_dup2,
    libc::SYS_pipe,
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_getpgrp,
    libc::SYS_arch_prctl,
    libc::SYS_alarm,
    libc::SYS_pause,
    libc::SYS_time,
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_epoll_create,
    libc::SYS_epoll_wait,
    libc::SYS_eventfd,
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_CALLS: &[i64] = &[];

#[cfg(test)]
#[path = "seccomp_tests.rs"]
mod tests;
