//! The test binary as its own helper: so that a layer can be left off, which the product cannot.
//!
//! A helper has to be single-threaded, and the test harness is not: this runs before it, by way of
//! the list of functions that the loader calls before `main`. Which layers are off is in the first
//! argument, put there by the script that `exe_without` makes; nothing else reads arguments.

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
// The loader's own list; the standard library reads its arguments in an earlier entry of it.
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

/// As the standard library does before `main`.
#[allow(unsafe_code)]
fn ignore_broken_pipes() {
    // SAFETY: no handler of ours is installed, only the signal ignored.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
}

/// A helper that leaves these layers off: a script of one line that names this binary.
pub fn exe_without(off: &[&str]) -> Arc<OwnedFd> {
    static MADE: Mutex<BTreeMap<String, Arc<OwnedFd>>> = Mutex::new(BTreeMap::new());
    let mut off = off.to_vec();
    off.sort_unstable();
    let off = off.join(",");
    let mut made = MADE.lock().unwrap();
    made.entry(off.clone())
        .or_insert_with(|| Arc::new(script(&off)))
        .clone()
}

fn script(off: &str) -> OwnedFd {
    // The line has room for 255 bytes: a short name for a path that may be long.
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
    // The link is needed for as long as the test runs.
    let _ = folder.keep();
    let file = std::fs::File::open(&path).unwrap();
    // A process that another test is starting may hold the file for writing for a moment longer,
    // and what is written to is not executed; a lease is only given when nobody does.
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
