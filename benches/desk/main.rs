//! What the desk costs, beside bare SQL on the same server and beside votes on one machine: `cargo bench --bench desk`.
//!
//! Takes PostgreSQL's server programs and `ssh-keygen`. The server runs without `fsync`, so its disk is not measured.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod across;
#[allow(dead_code)]
#[path = "../../tests/it/desk/cluster.rs"]
mod cluster;
#[path = "../../tests/common/mod.rs"]
mod common;
mod load;

use std::time::Duration;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    for hosts in [1, 10, 100] {
        runtime.block_on(load::measure(hosts));
    }
    runtime.block_on(load::million());
    across::measure(&runtime);
}

/// The middle and the 99th of a hundred.
fn shown(times: &mut [Duration]) -> String {
    times.sort_unstable();
    let at = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)];
    format!("p50 {:>8.2?}  p99 {:>8.2?}", at(50), at(99))
}
