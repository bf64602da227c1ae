//! The worker's side: a process that reads snippets, answers with verdicts, and can do nothing
//! else.
//!
//! It restricts itself before the first untrusted byte: memory, file size, open files, core dumps,
//! privileges and system calls. A snippet that crashes or stalls the worker only loses its own
//! verdict; the client kills and replaces the worker.

use std::io::{stdin, stdout};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use nix::sys::resource::{Resource, setrlimit};
use nix::unistd::{alarm, geteuid};

use super::{STACK, Stack, confine, frames, rules};
use crate::model::{Setting, Verdict};
use crate::policy::Policy;

/// Seconds after which the worker ends itself, in case its client is gone.
const LAST_RESORT_S: u32 = 5;

/// Runs the worker until its input ends; returns the exit code.
pub fn main() -> u8 {
    // Panics are answered, not printed, so that no part of a snippet reaches the terminal.
    std::panic::set_hook(Box::new(|_| {}));
    if confine::limits(STACK).is_err() {
        return 1;
    }
    let worker = thread::Builder::new().stack_size(STACK).spawn(serve);
    match worker.map(thread::JoinHandle::join) {
        Ok(Ok(Ok(()))) => 0,
        Ok(Ok(Err(_)) | Err(_)) | Err(_) => 1,
    }
}

fn serve() -> std::io::Result<()> {
    // Set the limit after this thread was created, because it is the last one, and before the
    // system call filter, which would refuse the call.
    if !geteuid().is_root() {
        setrlimit(Resource::RLIMIT_NPROC, 0, 0)?;
    }
    let (mut input, mut output) = (stdin().lock(), stdout().lock());
    let Some(first) = frames::read(&mut input)? else {
        return Ok(());
    };
    let policies: Vec<Policy> = serde_json::from_slice(&first)?;
    // Initialize lists and tables now, so that the first snippet does not pay for them.
    if let Some(policy) = policies.first() {
        let first = b"import math\nprint(math.pi)\n";
        super::judged(first, policy, &Setting::default(), Stack::Large);
    }
    // If the kernel lacks such filters, the limits above still apply. Besides, a snippet does not
    // control this program in the first place.
    let _ = confine::system_calls();
    frames::write(&mut output, b"")?;
    while let Some(frame) = frames::read(&mut input)? {
        alarm::set(LAST_RESORT_S);
        let verdict = answer(&frame, &policies)?;
        let answer =
            serde_json::to_vec(&(&verdict, verdict.facts, &verdict.places, &verdict.flows))?;
        alarm::cancel();
        frames::write(&mut output, &answer)?;
    }
    Ok(())
}

fn answer(frame: &[u8], policies: &[Policy]) -> std::io::Result<Verdict> {
    let fault = || std::io::Error::from(std::io::ErrorKind::InvalidData);
    let (profile, setting, code) = frames::read_request(frame).ok_or_else(fault)?;
    let policy = policies
        .iter()
        .find(|p| p.name == profile)
        .ok_or_else(fault)?;
    let started = std::time::Instant::now();
    let mut verdict = catch_unwind(AssertUnwindSafe(|| {
        super::judged(code, policy, &setting, Stack::Large)
    }))
    .unwrap_or_else(|_| super::unanalyzable(code, policy, &rules::NO_ANSWER, ""));
    verdict.elapsed_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    Ok(verdict)
}
