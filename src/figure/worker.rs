//! The worker's side: a process that reads one PNG, writes one small picture, and can do nothing
//! else. It restricts itself before the first byte.

use std::io::{Read, Write, stdin, stdout};
use std::panic::{AssertUnwindSafe, catch_unwind};

use nix::sys::resource::{Resource, setrlimit};
use nix::unistd::{alarm, geteuid};

use super::{BYTES_MAX, Size, Undrawn, decode, written};
use crate::analysis::confine;

/// Seconds of processor time, and until the worker ends itself, in case its client is gone.
const SECONDS: u32 = 6;

/// Room on the stack beside what is in use.
const STACK: usize = 1024 * 1024;

/// Runs the worker; returns the exit code.
pub fn main() -> u8 {
    let size = std::env::args().nth(2);
    let Some(size) = size.as_deref().and_then(Size::of_name) else {
        return Undrawn::Failed.code();
    };
    // Panics are not printed, so that nothing of a picture reaches the terminal.
    std::panic::set_hook(Box::new(|_| {}));
    if restrict().is_none() {
        return Undrawn::Failed.code();
    }
    let small = catch_unwind(AssertUnwindSafe(|| {
        let mut file = Vec::new();
        let most = BYTES_MAX as u64 + 1;
        let read = stdin().lock().take(most).read_to_end(&mut file);
        match read {
            Ok(_) if file.len() > BYTES_MAX => Err(Undrawn::TooLong),
            Ok(_) => decode::picture(&file, size),
            Err(_) => Err(Undrawn::Failed),
        }
    }));
    match small {
        Ok(Ok(small)) => {
            let sent = stdout().lock().write_all(&written(&small));
            u8::from(sent.is_err())
        }
        Ok(Err(why)) => why.code(),
        Err(_) => Undrawn::Failed.code(),
    }
}

/// Every restriction is required: without a picture nothing is missing that a decision needs.
fn restrict() -> Option<()> {
    confine::limits(STACK).ok()?;
    let seconds = u64::from(SECONDS);
    setrlimit(Resource::RLIMIT_CPU, seconds, seconds).ok()?;
    if !geteuid().is_root() {
        setrlimit(Resource::RLIMIT_NPROC, 0, 0).ok()?;
    }
    alarm::set(SECONDS);
    confine::system_calls().ok()
}
