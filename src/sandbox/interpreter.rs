//! How a payload's interpreter is started: its descriptors by number, its arguments, its environment.

use std::ffi::OsString;
use std::path::Path;

use super::scratch;

/// The payload's descriptors, as `helper::payload` places them. The runner knows [`FD_SETUP`] and
/// [`FD_BUNDLE`] by itself and is told of the others; `assets/runner/first.py` and `spec.py` have the same
/// numbers. Inputs are the last.
pub const FD_GATE: i32 = 3;
pub const FD_REPORT: i32 = 4;
/// Only named here: the runner's first files have the numbers in their text, and a test compares.
#[cfg(test)]
pub const FD_SETUP: i32 = 5;
#[cfg(test)]
pub const FD_BUNDLE: i32 = 6;
pub const FD_JOB: i32 = 7;
pub const FD_CODE: i32 = 8;
pub const FD_INPUTS: i32 = 9;

/// What the interpreter is started with: finds the first file of the bundle and lets it find the others.
pub const FIRST: &str = include_str!("../../assets/runner/first.py");

/// Isolated (no PYTHON* variables, no user folder, no script folder), without `site` (so that no
/// `.pth` file runs) and without writing byte code. The program only finds the rest.
pub const ARGUMENTS: &[&str] = &["-I", "-S", "-B", "-c", FIRST];

/// The payload's whole environment: twelve variables at most (protocol.md §6), built from nothing.
pub fn environment(scratch: &Path) -> Vec<(&'static str, OsString)> {
    // Caches are no output: the working directory is the folder beside this one.
    let home = scratch.join(scratch::HOME).into_os_string();
    vec![
        ("PATH", "/usr/bin:/bin".into()),
        ("LANG", "C.UTF-8".into()),
        ("LC_ALL", "C.UTF-8".into()),
        ("TZ", "UTC".into()),
        ("HOME", home.clone()),
        ("TMPDIR", home.clone()),
        // One thread each: more would count against the limits of a run that did not ask for
        // them, and a pool cannot be forked.
        ("OPENBLAS_NUM_THREADS", "1".into()),
        ("OMP_NUM_THREADS", "1".into()),
        ("MKL_NUM_THREADS", "1".into()),
        // Arenas are 64 MiB of address space a thread, which the memory limit counts.
        ("MALLOC_ARENA_MAX", "2".into()),
        ("MPLBACKEND", "Agg".into()),
        ("MPLCONFIGDIR", home),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runner_opens_the_numbers_that_are_placed() {
        let spec = include_str!("../../assets/runner/spec.py");
        assert!(spec.contains(&format!("\nFD_SETUP = {FD_SETUP}\n")));
        for used in [
            format!("posix.pread({FD_BUNDLE},"),
            format!("posix.close({FD_BUNDLE})"),
        ] {
            assert!(FIRST.contains(&used), "{used}");
        }
        let all = [
            FD_GATE, FD_REPORT, FD_SETUP, FD_BUNDLE, FD_JOB, FD_CODE, FD_INPUTS,
        ];
        assert!(
            all.iter().copied().eq(3..10),
            "after the three streams, without a gap"
        );
    }

    #[test]
    fn the_environment_has_at_most_twelve_variables() {
        assert!(environment(Path::new("/x")).len() <= 12);
    }
}
