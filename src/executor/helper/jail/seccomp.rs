//! Seccomp: which system calls the payload has. An allow-list, made from what Python, numpy and
//! pandas use; everything else is EPERM, so that a library finds another way or says so.
//!
//! What is left out, and why: sockets but pairs (network, `AF_VSOCK`, netlink, the dashboard's
//! own socket), `memfd_create` (memory that no limit counts), `unshare`, `setns` and namespace
//! flags (a fresh set of capabilities, and the kernel code behind them), mounts, `ptrace`,
//! `process_vm_*`, `pidfd_getfd`, io_uring, keyrings, bpf, perf, userfaultfd, modules, landlock
//! (nothing to add), System V and POSIX queues, memory and semaphores.
//!
//! Three programs, because seccompiler has one action for each: numbers of the x32 ABI kill,
//! `clone3` is ENOSYS (its flags are behind a pointer, and the C library then uses `clone`), and
//! the list. The interpreter starts by an exec and then installs the list once more, without exec and
//! without the right to install another: what runs afterwards starts no program, its own interpreter
//! included.

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

use super::super::Refusal;

/// The compiled programs, in the order in which they are installed.
pub struct Programs(Vec<BpfProgram>);

impl Programs {
    /// For a payload until its interpreter is up. Compiled before anything is forked: a mistake
    /// shows while it can still be told.
    pub fn compile() -> Result<Self, Refusal> {
        programs(&[libc::SYS_execve], &[libc::PR_SET_SECCOMP])
    }

    /// For a zygote: what its forks restrict themselves with is allowed too. They inherit these,
    /// and add [`last`].
    pub fn of_zygote() -> Result<Self, Refusal> {
        programs(ZYGOTE_CALLS, &[])
    }

    /// Installs them. Only listed calls are left afterwards.
    pub fn install(&self) -> Result<(), Refusal> {
        for program in &self.0 {
            seccompiler::apply_filter(program)
                .map_err(|e| Refusal::new("could not install the system call filter", e))?;
        }
        Ok(())
    }
}

/// How many programs a payload has when its interpreter is up.
pub const PROGRAMS: usize = if cfg!(target_arch = "x86_64") { 4 } else { 3 };

/// The list that is the last one in, as the kernel reads it: `struct sock_filter`, one after the
/// other.
pub fn last() -> Result<Vec<u8>, Refusal> {
    let steps = list(&[], &[]).map_err(|e| no_filter(&e))?;
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
    Refusal::new("could not make the system call filter", e)
}

/// `more`: calls that are allowed with any argument beside the list; `options`: of prctl(2).
fn programs(more: &[i64], options: &[libc::c_int]) -> Result<Programs, Refusal> {
    compile(more, options).map_err(|e| no_filter(&e))
}

fn compile(more: &[i64], options: &[libc::c_int]) -> Result<Programs, Failure> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    let mut programs = Vec::new();
    if cfg!(target_arch = "x86_64") {
        programs.push(x32_kills());
    }
    let no_clone3 = SeccompFilter::new(
        [(libc::SYS_clone3, Vec::new())].into(),
        SeccompAction::Allow,
        SeccompAction::Errno(libc::ENOSYS as u32),
        arch,
    )?;
    programs.push(no_clone3.try_into()?);
    programs.push(list(more, options)?);
    Ok(Programs(programs))
}

fn list(more: &[i64], options: &[libc::c_int]) -> Result<BpfProgram, Failure> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)?;
    // `clone3` passes here to keep the other program's answer: the stricter of two counts.
    let mut rules: std::collections::BTreeMap<i64, Vec<SeccompRule>> = CALLS
        .iter()
        .chain(OLD_CALLS)
        .chain(&[libc::SYS_clone3])
        .map(|call| (*call, Vec::new()))
        .collect();
    rules.extend(conditional(options)?);
    rules.extend(more.iter().map(|call| (*call, Vec::new())));
    let list = SeccompFilter::new(
        rules,
        SeccompAction::Errno(libc::EPERM as u32),
        SeccompAction::Allow,
        arch,
    )?;
    Ok(list.try_into()?)
}

type Rules = Vec<(i64, Vec<SeccompRule>)>;

/// Calls that are allowed with some arguments only. `options`: of prctl(2), beside the usual ones.
fn conditional(options: &[libc::c_int]) -> Result<Rules, seccompiler::BackendError> {
    use SeccompCmpArgLen::{Dword, Qword};
    use SeccompCmpOp::{Eq, MaskedEq, Ne};
    let when = |conditions: Vec<SeccompCondition>| SeccompRule::new(conditions);
    let is = SeccompCondition::new;
    let prctl = [
        libc::PR_SET_NAME,
        libc::PR_GET_NAME,
        libc::PR_SET_DUMPABLE,
        libc::PR_GET_DUMPABLE,
        libc::PR_SET_PDEATHSIG,
        libc::PR_GET_PDEATHSIG,
        libc::PR_SET_VMA,
    ]
    .iter()
    .chain(options)
    .map(|option| when(vec![is(0, Dword, Eq, *option as u64)?]))
    .collect::<Result<_, _>>()?;
    Ok(vec![
        // Processes and threads, in no new namespace.
        (
            libc::SYS_clone,
            vec![when(vec![is(0, Qword, MaskedEq(NAMESPACES), 0)?])?],
        ),
        // Typing into a terminal, and what its selection does.
        (
            libc::SYS_ioctl,
            vec![when(vec![
                is(1, Dword, Ne, TIOCSTI)?,
                is(1, Dword, Ne, TIOCLINUX)?,
            ])?],
        ),
        (
            libc::SYS_socketpair,
            vec![when(vec![is(0, Dword, Eq, libc::AF_UNIX as u64)?])?],
        ),
        (libc::SYS_prctl, prctl),
    ])
}

const NAMESPACES: u64 = (libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP) as u32 as u64;

const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;

/// x32 calls come with the same architecture and bit 30 of the number set; a list by number would
/// answer EPERM, but nothing honest makes one.
fn x32_kills() -> BpfProgram {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const JUMP: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![
        step(LOAD, 0, 0, 0),
        step(JUMP, 0, 1, 0x4000_0000),
        step(RETURN, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

/// What a zygote's forks need to make a run's place and to close themselves in. Mounts and
/// namespaces are of use only to who has, or makes, a user namespace; the zygote itself has no
/// capability.
const ZYGOTE_CALLS: &[i64] = &[
    libc::SYS_execve,
    libc::SYS_unshare,
    libc::SYS_mount,
    libc::SYS_prctl,
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
    libc::SYS_fcntl,
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
    // Processes and threads, of this program only.
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
    libc::SYS_prlimit64,
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
    // Pairs of sockets, which multiprocessing and asyncio talk through.
    libc::SYS_sendto,
    libc::SYS_recvfrom,
    libc::SYS_sendmsg,
    libc::SYS_recvmsg,
    libc::SYS_getsockopt,
    libc::SYS_setsockopt,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    libc::SYS_shutdown,
    // The machine, as far as it is visible.
    libc::SYS_getrandom,
    libc::SYS_uname,
    libc::SYS_sysinfo,
];

/// Calls that newer architectures do not have any more.
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
mod tests {
    use super::*;

    #[test]
    fn the_programs_compile_and_the_dangerous_calls_are_not_listed() {
        assert_eq!(Programs::compile().unwrap().0.len() + 1, PROGRAMS);
        assert!(Programs::of_zygote().is_ok() && last().is_ok());
        for call in [
            libc::SYS_socket,
            libc::SYS_connect,
            libc::SYS_bind,
            libc::SYS_memfd_create,
            libc::SYS_unshare,
            libc::SYS_setns,
            libc::SYS_mount,
            libc::SYS_ptrace,
            libc::SYS_process_vm_readv,
            libc::SYS_pidfd_getfd,
            libc::SYS_io_uring_setup,
            libc::SYS_keyctl,
            libc::SYS_bpf,
            libc::SYS_perf_event_open,
            libc::SYS_userfaultfd,
            libc::SYS_landlock_create_ruleset,
            libc::SYS_shmget,
            libc::SYS_semget,
            libc::SYS_msgget,
            libc::SYS_mq_open,
            libc::SYS_seccomp,
            libc::SYS_execve,
            libc::SYS_execveat,
        ] {
            assert!(
                !CALLS.contains(&call) && !OLD_CALLS.contains(&call),
                "{call}"
            );
        }
    }
}
