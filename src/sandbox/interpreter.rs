//! Starts a payload's interpreter: descriptor numbers, arguments and environment.

use std::ffi::OsString;
use std::path::Path;

use super::scratch;

/// The payload's descriptors, as `helper::payload` places them. The runner has the numbers of
/// [`FD_SETUP`] and [`FD_BUNDLE`] in its text and is given the others; `assets/runner/first.py` and
/// `spec.py` have the same numbers. Inputs come last.
pub const FD_GATE: i32 = 3;
pub const FD_REPORT: i32 = 4;
/// Used only in a test, which compares it with the number in the runner's first files.
#[cfg(test)]
pub const FD_SETUP: i32 = 5;
#[cfg(test)]
pub const FD_BUNDLE: i32 = 6;
pub const FD_JOB: i32 = 7;
pub const FD_CODE: i32 = 8;
pub const FD_INPUTS: i32 = 9;

/// The program that the interpreter is started with: it loads the first file of the bundle, which
/// loads the others.
pub const FIRST: &str = include_str!("../../assets/runner/first.py");

/// Isolated (no PYTHON* variables, no user folder, no script folder), without `site` (so that no
/// `.pth` file runs) and without writing byte code.
pub const ARGUMENTS: &[&str] = &["-I", "-S", "-B", "-c", FIRST];

/// The payload's complete environment, built from nothing: at most twelve variables (protocol.md
/// §6).
pub fn environment(scratch: &Path) -> Vec<(&'static str, OsString)> {
    // Caches are not output, so they have a folder beside the working directory.
    let home = scratch.join(scratch::HOME).into_os_string();
    vec![
        ("PATH", "/usr/bin:/bin".into()),
        ("LANG", "C.UTF-8".into()),
        ("LC_ALL", "C.UTF-8".into()),
        ("TZ", "UTC".into()),
        ("HOME", home.clone()),
        ("TMPDIR", home.clone()),
        // One thread each: more would count against the limits of a run that did not ask for them,
        // and a process with a thread pool cannot be forked.
        ("OPENBLAS_NUM_THREADS", "1".into()),
        ("OMP_NUM_THREADS", "1".into()),
        ("MKL_NUM_THREADS", "1".into()),
        // Each thread's arena takes 64 MiB of address space, which the memory limit counts.
        ("MALLOC_ARENA_MAX", "2".into()),
        ("MPLBACKEND", "Agg".into()),
        ("MPLCONFIGDIR", home),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runner_uses_the_placed_descriptor_numbers() {
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
            "descriptor numbers must follow the three streams without a gap"
        );
    }

    #[test]
    fn the_environment_has_at_most_twelve_variables() {
        assert!(environment(Path::new("/x")).len() <= 12);
    }
}
