//! Checks many files at once: one worker process for each core, results in the order of the files.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use super::super::out;
use super::{Checked, check};
use crate::analysis::Analyser;
use crate::policy::Policy;

/// Fewer files than this are not worth a second worker.
const SEVERAL: usize = 8;

/// The verdicts on all files, in their order. Shows progress on a terminal.
pub(super) fn check_all(
    files: &[PathBuf],
    policies: &[Arc<Policy>],
    profile: &str,
) -> Vec<Checked> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(files.len()));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let workers = if files.len() < SEVERAL {
        1
    } else {
        cores.min(8)
    };
    let work = || {
        let mut analyser = Analyser::new(PathBuf::from("/proc/self/exe"), policies.to_vec());
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(index) else { break };
            let checked = check(file, &mut analyser, profile);
            // Nothing panics while it holds the lock; even if something did, the list would be
            // intact.
            let mut done = done
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            done.push((index, checked));
            progress(done.len(), files.len());
        }
    };
    thread::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(work);
        }
        work();
    });
    let mut done = done
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, checked)| checked).collect()
}

/// One line that overwrites itself and is gone at the end; only on a terminal.
fn progress(done: usize, all: usize) {
    if all < SEVERAL {
        return;
    }
    if done == all {
        out::progress("");
    } else {
        out::progress(&format!("checked {done} of {all}"));
    }
}
