//! The test binary as its own helper, so that layers can be left off, which the product cannot do.
//!
//! A helper must be single-threaded, and the test harness is not. So this code runs before the
//! harness, through the list of functions that the loader calls before `main`. The first argument
//! names the layers to leave off; the script of `exe_without` sets it, and nothing else reads
//! arguments.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

use nix::libc;

use crate::child;
use crate::sandbox::helper::layer::switched::leave_off;
use crate::sandbox::roles;

const WITHOUT: &str = "without:";

#[used]
// The loader's list of functions; the standard library reads its arguments in an earlier entry.
#[allow(unsafe_code)]
#[unsafe(link_section = ".init_array")]
static ENTRY: extern "C" fn() = enter;

extern "C" fn enter() {
    let mut args = std::env::args_os().skip(1);
    let Some(first) = args.next() else {
        return;
    };
    let Some(off) = first.to_str().and_then(|arg| arg.strip_prefix(WITHOUT)) else {
        return;
    };
    if args.next_back().as_deref() != Some(OsStr::new(child::ROLE)) {
        return;
    }
    leave_off(off);
    ignore_broken_pipes();
    crate::sandbox::raw::exit_now(i32::from(roles::sandbox_main()));
}

/// The standard library does this before `main`.
#[allow(unsafe_code)]
fn ignore_broken_pipes() {
    // SAFETY: no handler of ours is installed, only the signal ignored.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}

/// A helper that leaves these layers off: a one-line script that names this binary.
pub fn exe_without(off: &[&str]) -> Arc<OwnedFd> {
    static SCRIPTS: Mutex<BTreeMap<String, Arc<OwnedFd>>> = Mutex::new(BTreeMap::new());
    let mut off = off.to_vec();
    off.sort_unstable();
    let off = off.join(",");
    let mut scripts = SCRIPTS.lock().unwrap();
    scripts
        .entry(off.clone())
        .or_insert_with(|| Arc::new(script(&off)))
        .clone()
}

fn script(off: &str) -> OwnedFd {
    // The kernel reads at most 255 bytes of the line, so a short link replaces a path that may be
    // long.
    let folder = tempfile::Builder::new()
        .prefix("cs-helper-")
        .tempdir()
        .unwrap();
    let link = folder.path().join("helper");
    std::os::unix::fs::symlink(std::env::current_exe().unwrap(), &link).unwrap();
    let path = folder.path().join("script");
    let mut file = std::fs::File::create(&path).unwrap();
    writeln!(file, "#!{} {WITHOUT}{off}", link.display()).unwrap();
    let everybody = std::fs::Permissions::from_mode(0o755);
    file.set_permissions(everybody).unwrap();
    drop(file);
    // The link must exist as long as the test runs.
    let _ = folder.keep();
    let file = std::fs::File::open(&path).unwrap();
    // A process that another test is starting may hold the file for writing a moment longer, and
    // then it cannot be executed. The kernel grants a lease only when no process does.
    while lease(&file, libc::F_RDLCK).is_err() {
        std::thread::yield_now();
    }
    lease(&file, libc::F_UNLCK).unwrap();
    OwnedFd::from(file)
}

#[allow(unsafe_code)]
fn lease(file: &std::fs::File, kind: libc::c_int) -> std::io::Result<()> {
    // SAFETY: plain integers on a descriptor that is open.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, kind) } {
        0 => Ok(()),
        _ => Err(std::io::Error::last_os_error()),
    }
}
