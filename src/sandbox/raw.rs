//! Safe functions for the system calls that nix does not wrap.
//!
//! Each function makes one call and returns its result; the callers document when and why. Process
//! creation is here too, because it is only sound in the single-threaded helper.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use nix::libc;

fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// Closes every descriptor from `first` on (close_range(2), Linux 5.9).
#[allow(unsafe_code)]
pub fn close_from(first: u32) -> io::Result<()> {
    // SAFETY: plain integers; callers do this where no object owns a descriptor in the range.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) }).map(drop)
}

/// Takes ownership of a descriptor that the caller knows to be open and owned by nobody else.
#[allow(unsafe_code)]
pub fn adopt(fd: RawFd) -> OwnedFd {
    // SAFETY: by this function's contract; used for fd 0 of a fresh process and for descriptors
    // that recvmsg(2) has just made.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Borrows a descriptor that the caller keeps open while it is used.
#[allow(unsafe_code)]
pub fn borrow(fd: RawFd) -> BorrowedFd<'static> {
    // SAFETY: by this function's contract; used where a process owns its whole table and nothing
    // closes the descriptor in between.
    unsafe { BorrowedFd::borrow_raw(fd) }
}

/// Duplicates `fd` to the number `target` and closes what was there; kept across exec unless
/// `cloexec`.
#[allow(unsafe_code)]
pub fn place(fd: BorrowedFd<'_>, target: RawFd, cloexec: bool) -> io::Result<()> {
    let flags = if cloexec { libc::O_CLOEXEC } else { 0 };
    // SAFETY: plain integers; the payload owns its whole descriptor table at this point.
    check(unsafe { libc::dup3(fd.as_raw_fd(), target, flags) }.into()).map(drop)
}

/// Drops a capability from the bounding set; `false` when the kernel has no such capability.
#[allow(unsafe_code)]
pub fn drop_bounding(capability: u32) -> io::Result<bool> {
    // SAFETY: prctl with plain integers.
    let result = unsafe {
        libc::prctl(
            libc::PR_CAPBSET_DROP,
            libc::c_ulong::from(capability),
            0 as libc::c_ulong,
            0 as libc::c_ulong,
            0 as libc::c_ulong,
        )
    };
    if result == 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EINVAL) => Ok(false),
        _ => Err(error),
    }
}

/// Sets effective, permitted and inheritable capabilities of this thread to `set`.
#[allow(unsafe_code)]
pub fn set_capabilities(set: u64) -> io::Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Data {
        effective: u32,
        permitted: u32,
        inheritable: u32,
    }
    // _LINUX_CAPABILITY_VERSION_3: two words of each set.
    let header = Header {
        version: 0x2008_0522,
        pid: 0,
    };
    let word = |bits: u64| Data {
        effective: bits as u32,
        permitted: bits as u32,
        inheritable: 0,
    };
    let data = [word(set & 0xffff_ffff), word(set >> 32)];
    // SAFETY: both structures have the kernel's layout and live until the call returns.
    check(unsafe { libc::syscall(libc::SYS_capset, &raw const header, data.as_ptr()) }).map(drop)
}

/// Sets mount attributes of `path` and, where `recursive`, of every mount below it
/// (mount_setattr(2), Linux 5.12).
#[allow(unsafe_code)]
pub fn set_mount_attributes(path: &std::ffi::CStr, set: u64, recursive: bool) -> io::Result<()> {
    let flags = if recursive { libc::AT_RECURSIVE } else { 0 };
    let attr = libc::mount_attr {
        attr_set: set,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the path is NUL-terminated, the structure has the kernel's layout and the size
    // passed is its own.
    check(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const attr,
            size_of::<libc::mount_attr>(),
        )
    })
    .map(drop)
}

/// The kernel's Landlock version; an error if it has none or Landlock is off.
#[allow(unsafe_code)]
pub fn landlock_version() -> io::Result<i32> {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with this flag the pointer must be null and the size zero; nothing is made.
    let version = check(unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0usize,
            VERSION,
        )
    })?;
    Ok(version as i32)
}

/// A descriptor for a process that never refers to another one.
#[allow(unsafe_code)]
pub fn pidfd_open(pid: i32) -> io::Result<OwnedFd> {
    // SAFETY: plain integers; the result is a new descriptor that nobody else owns.
    let fd = check(unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) })?;
    Ok(adopt(fd as RawFd))
}

/// Sends a signal through a pidfd.
#[allow(unsafe_code)]
pub fn pidfd_signal(pidfd: BorrowedFd<'_>, signal: nix::sys::signal::Signal) -> io::Result<()> {
    // SAFETY: plain integers and a null siginfo, which means the same as kill(2).
    check(unsafe {
        libc::syscall(
            libc::SYS_pidfd_send_signal,
            pidfd.as_raw_fd(),
            signal as libc::c_int,
            std::ptr::null::<libc::siginfo_t>(),
            0,
        )
    })
    .map(drop)
}

/// How a process ended, with the resources that it and its reaped children used.
#[derive(Clone, Copy, Debug)]
pub struct Reaped {
    pub pid: i32,
    /// The status word of wait(2).
    pub status: i32,
    pub cpu: Duration,
    /// Peak resident memory in kibibytes, of whichever process had most (getrusage(2)).
    pub peak_kib: u64,
}

/// Whether to wait for a child to end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    No,
    Block,
}

/// Reaps one ended child. `Ok(None)` means that children live but none has ended; the error is
/// ECHILD if there is no child.
#[allow(unsafe_code)]
pub fn reap(wait: Wait) -> io::Result<Option<Reaped>> {
    let flags = if wait == Wait::No { libc::WNOHANG } else { 0 };
    let mut status = 0;
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are to live, writable memory of the right type.
    let pid = unsafe { libc::wait4(-1, &raw mut status, flags, usage.as_mut_ptr()) };
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    if pid == 0 {
        return Ok(None);
    }
    // SAFETY: zeroed above and filled by wait4; every bit pattern is a valid rusage.
    let usage = unsafe { usage.assume_init() };
    let time = |t: libc::timeval| {
        Duration::from_secs(t.tv_sec.unsigned_abs())
            + Duration::from_micros(t.tv_usec.unsigned_abs())
    };
    Ok(Some(Reaped {
        pid,
        status,
        cpu: time(usage.ru_utime) + time(usage.ru_stime),
        peak_kib: usage.ru_maxrss.unsigned_abs(),
    }))
}

/// Which side of a fork this is.
pub enum Side {
    Parent(i32),
    Child,
}

/// Forks. Only for the single-threaded helper: elsewhere the child could find locks held that
/// nobody will release.
#[allow(unsafe_code)]
pub fn fork() -> io::Result<Side> {
    // SAFETY: the helper is single-threaded, so the child may go on like any program.
    match unsafe { nix::unistd::fork() }? {
        nix::unistd::ForkResult::Parent { child } => Ok(Side::Parent(child.as_raw())),
        nix::unistd::ForkResult::Child => Ok(Side::Child),
    }
}

/// Forks into the new namespaces in `flags` and returns the child's pidfd to the parent. Like
/// [`fork`], for the helper only.
///
/// Uses clone(2), which supports CLONE_PIDFD since Linux 5.2 just like clone3(2). The seccomp
/// filters of containers answer clone3 with ENOSYS, because they cannot read its flags.
#[allow(unsafe_code)]
pub fn fork_into(flags: libc::c_int) -> io::Result<(Side, Option<OwnedFd>)> {
    let flags = libc::c_long::from(flags | libc::CLONE_PIDFD | libc::SIGCHLD);
    let null = std::ptr::null::<libc::c_void>();
    let mut pidfd: libc::c_int = -1;
    // SAFETY: without CLONE_VM and with a null stack the child goes on in a copy of this memory,
    // as after fork; the helper is single-threaded. The third argument is a live, writable int
    // for the pidfd; the null pointers are unused without their flags.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, null, &raw mut pidfd, null, null) };
    match check(pid)? {
        0 => Ok((Side::Child, None)),
        pid => Ok((Side::Parent(pid as i32), Some(adopt(pidfd)))),
    }
}

/// Exits at once: runs no destructor and no handler, flushes no buffer.
#[allow(unsafe_code)]
pub fn exit_now(code: i32) -> ! {
    // SAFETY: _exit does not return and touches no memory of ours.
    unsafe { libc::_exit(code) }
}

/// Resets every signal to its default action.
#[allow(unsafe_code)]
pub fn default_signals() {
    for number in 1..=libc::SIGRTMAX() {
        // SAFETY: SIG_DFL is always a valid action; the two that cannot be set, and the ones
        // the C library keeps for itself, answer EINVAL, which changes nothing.
        unsafe { libc::signal(number, libc::SIG_DFL) };
    }
}
