//! The time to read an environment and to check it again before a run, compared with system tools
//! on the same files: `cargo bench --bench environment`.
//!
//! Measures a generated tree of 25,000 files, and the managed environment with its interpreter.
//! Reading is compared with `sha256sum` on as many processors, checking with `find -printf` of the
//! same five numbers; each alternates with its peer.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../tests/common/mod.rs"]
mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::python;
use countersign::model::Digest;
use countersign::runtime::{Measured, PythonEnv};

const FOLDERS: usize = 500;
const FILES: usize = 50;
/// Bytes per file: the average size of Python files.
const BYTES: usize = 9_000;
const LOOKS: usize = 41;
const READS: usize = 5;

/// The target for checking again: the person who granted waits that long.
const ENOUGH: Duration = Duration::from_millis(100);

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let tree = tree(&dir.path().join("tree"));
    let look = measure(
        "25,000 files",
        &tree,
        std::slice::from_ref(&tree.prefix),
        dir.path(),
    );
    let env = {
        python::ready();
        python::managed_env()
    };
    let roots = [env.base_prefix.clone(), env.prefix.clone()];
    measure(
        "the managed environment and its interpreter",
        &env,
        &roots,
        dir.path(),
    );
    assert!(look <= ENOUGH, "looking at 25,000 files took {look:?}");
}

/// An environment of that many files, without Python.
fn tree(folder: &Path) -> PythonEnv {
    for at in 0..FOLDERS {
        let below = folder.join(format!("site-packages/package{:02}/part{at:03}", at % 50));
        fs::create_dir_all(&below).unwrap();
        for file in 0..FILES {
            let text = format!("# {at} {file}\n").repeat(BYTES / 10);
            fs::write(below.join(format!("module_{file:02}.py")), text).unwrap();
        }
    }
    PythonEnv {
        executable: folder.to_owned(),
        version: (3, 11, 0),
        base_prefix: folder.to_owned(),
        prefix: folder.to_owned(),
        sys_path: vec![folder.join("site-packages")],
        distributions: Vec::new(),
        digest: Digest::of(b"tree"),
    }
}

/// Prints one table. Returns the median time of checking again.
fn measure(name: &str, env: &PythonEnv, roots: &[PathBuf], dir: &Path) -> Duration {
    let cache = dir.join("cache");
    let measured = |cache: &Path| Measured::of(env.clone(), cache, &mut |_| {}).unwrap();
    let (mut fresh, mut sums, mut again) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..READS {
        let _ = fs::remove_file(&cache);
        fresh.push(timed(|| drop(measured(&cache))));
        sums.push(timed(|| sha256sum(roots)));
        again.push(timed(|| drop(measured(&cache))));
    }
    let whole = measured(&cache);
    let (mut looks, mut finds) = (Vec::new(), Vec::new());
    for _ in 0..LOOKS {
        looks.push(timed(|| assert_eq!(whole.change(), None)));
        finds.push(timed(|| find(roots)));
    }
    let (fresh, sums, again) = (middle(&mut fresh), middle(&mut sums), middle(&mut again));
    let (look, found) = (middle(&mut looks), middle(&mut finds));
    println!("{name}: {} entries", whole.entries());
    println!(
        "  read all          {fresh:>9.1?}   sha256sum -P {sums:>9.1?}   ratio {}",
        ratio(fresh, sums)
    );
    println!("  read with a cache {again:>9.1?}");
    println!(
        "  look again        {look:>9.1?}   find -printf {found:>9.1?}   ratio {}   slowest {:.1?}",
        ratio(look, found),
        looks.last().unwrap()
    );
    look
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn middle(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn ratio(ours: Duration, theirs: Duration) -> String {
    format!("{:.2}", ours.as_secs_f64() / theirs.as_secs_f64())
}

fn sha256sum(roots: &[PathBuf]) {
    let processors = std::thread::available_parallelism().unwrap();
    let mut find = Command::new("find")
        .args(roots)
        .args(["-type", "f", "-print0"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let status = Command::new("xargs")
        .args([
            "-0",
            "-n",
            "500",
            "-P",
            &processors.to_string(),
            "sha256sum",
        ])
        .stdin(find.stdout.take().unwrap())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success() && find.wait().unwrap().success());
}

fn find(roots: &[PathBuf]) {
    let status = Command::new("find")
        .args(roots)
        .args(["-printf", "%D %i %s %T@ %C@ %p\n"])
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
}
