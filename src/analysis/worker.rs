//! The worker's side: a process that reads snippets and answers verdicts, and can do nothing else.
//!
//! It limits itself before the first untrusted byte: memory, no new files, no core, no bytes to
//! a file, no new privileges, hardly a system call. A snippet that crashes or stalls it costs that snippet's verdict;
//! the client kills and replaces it.

use std::io::{stdin, stdout};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use nix::sys::resource::{Resource, setrlimit};
use nix::unistd::{alarm, geteuid};

use super::{STACK, Stack, confine, frames, rules};
use crate::model::{Setting, Verdict};
use crate::policy::Policy;

/// Seconds after which it ends itself, should its client be gone and nobody kill it.
const LAST_RESORT_S: u32 = 5;

/// Runs the role until its input ends. The value is the exit code.
pub fn main() -> u8 {
    // Panics are answered, not printed: nothing of a snippet goes to the terminal.
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
    // Here, where this thread has been made and its filter has not: it is the last one, and the
    // filter, which holds for every thread, would refuse the call.
    if !geteuid().is_root() {
        setrlimit(Resource::RLIMIT_NPROC, 0, 0)?;
    }
    let (mut input, mut output) = (stdin().lock(), stdout().lock());
    let Some(first) = frames::read(&mut input)? else {
        return Ok(());
    };
    let policies: Vec<Policy> = serde_json::from_slice(&first)?;
    // Lists and tables are made now, not at the cost of the first snippet.
    if let Some(policy) = policies.first() {
        let first = b"import math\nprint(math.pi)\n";
        super::judged(first, policy, &Setting::default(), Stack::Large);
    }
    // Where the kernel has no such filter the limits above still hold; this program is not in
    // the snippet's hands to begin with.
    let _ = confine::system_calls();
    frames::write(&mut output, b"")?;
    while let Some(frame) = frames::read(&mut input)? {
        alarm::set(LAST_RESORT_S);
        let verdict = answer(&frame, &policies)?;
        let answer = serde_json::to_vec(&(&verdict, verdict.facts))?;
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
