//! What a run uses is read from outside while it runs.

use super::{TIER, run_spec};
use crate::broker::ExecNote;
use crate::executor::tests::bench::*;
use crate::model::Usage;

fn measured(code: &str) -> Vec<Usage> {
    let outcome = run_spec(spec(code, raw_policy(TIER)));
    let all = outcome.notes.iter().filter_map(|note| match note {
        ExecNote::Used(usage) => Some(*usage),
        _ => None,
    });
    all.collect()
}

#[test]
fn a_run_is_measured_from_outside_and_once_more_at_its_end() {
    if !available(TIER) {
        return;
    }
    let found = measured(
        "import time\n\
         print('x' * 4999)\n\
         held = b'x' * (100 << 20)\n\
         while time.process_time() < 1.5: pass\n\
         time.sleep(1.5)",
    );
    let (last, before) = found.split_last().unwrap();
    // Its memory may be on its way out when it is measured last.
    let most = before.iter().map(|used| used.memory_kib).max().unwrap();
    let running = before.last().unwrap();
    assert!(running.cpu_ms >= 1_400, "{found:?}");
    assert!((90 << 10..200 << 10).contains(&most), "{found:?}");
    assert_eq!((running.processes, running.output_bytes), (1, 5_000));
    assert!(
        last.cpu_ms >= 1_400 && last.peak_kib >= 90 << 10,
        "{found:?}"
    );
    assert_eq!((last.memory_kib, last.output_bytes), (0, 5_000));
}

#[test]
fn what_an_orphan_of_the_run_uses_counts() {
    if !available(TIER) {
        return;
    }
    let found = measured(
        "import os, time\n\
         if os.fork() == 0:\n\
         \x20   if os.fork() == 0:\n\
         \x20       held = b'x' * (100 << 20)\n\
         \x20       time.sleep(60)\n\
         \x20   os._exit(0)\n\
         os.wait()\n\
         time.sleep(2.5)",
    );
    let running = &found[..found.len() - 1];
    let most = running.iter().map(|used| used.memory_kib).max();
    assert!(most >= Some(90 << 10), "{found:?}");
    assert!(running.iter().any(|used| used.processes == 2), "{found:?}");
}
