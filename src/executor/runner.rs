//! The child's side: how its interpreter is started, and what it is told.

use std::ffi::OsString;
use std::io;
use std::path::Path;

use serde::Serialize;

use crate::model::{CodeFacts, Digest, Tier};
use crate::policy::Policy;
use crate::runtime::PythonEnv;

use super::libraries::{self, has_tables, shape};
use super::spec::{REPORT_MAX, RunSpec};
use super::{bundle, helper, scratch};

/// The payload's descriptors, as `helper::payload` places them: 5 is the setup and 6 the bundle,
/// which the runner knows by itself; the inputs are the last.
pub const FD_GATE: i32 = 3;
const FD_REPORT: i32 = 4;
const FD_JOB: i32 = 7;
const FD_CODE: i32 = 8;
const FD_INPUTS: i32 = 9;

/// Isolated (no PYTHON* variables, no user folder, no script folder), without `site` (so that no
/// `.pth` file runs) and without writing byte code. The program only finds the rest.
pub const ARGUMENTS: &[&str] = &["-I", "-S", "-B", "-c", bundle::FIRST];

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

/// What the runner reads before it is released. None of it comes from an agent.
#[derive(Serialize)]
struct Setup<'a> {
    policy: &'a Policy,
    code: Digest,
    sys_path: Vec<&'a Path>,
    /// Imported before release, so that the start after it is short.
    preload: Vec<&'static str>,
    /// Bytes the snippet may add to the address space.
    memory: u64,
    /// Bytes its report may have.
    report: usize,
    /// Nothing is run: what another child handed over, the last input, is looked at.
    certify: bool,
    /// For the converter of a data set, which has no code: the bytes of Arrow it may write. Else 0.
    convert: u64,
    values: bool,
    fds: Fds,
    /// In a jail: the seccomp program, in hex digits, after which no program is started any more. A
    /// zygote is told of it otherwise.
    filter: Option<String>,
    /// Only for a zygote: what it imports beside `preload`.
    warm: Option<Vec<&'static str>>,
}

#[derive(Serialize)]
struct Fds {
    gate: i32,
    report: i32,
    job: i32,
    code: i32,
}

/// What it reads after its release.
#[derive(Serialize)]
struct Job<'a> {
    inputs: Vec<Input<'a>>,
    /// What the analyser read of the code: where CPython reads something else, nothing runs.
    facts: Option<CodeFacts>,
}

#[derive(Serialize)]
struct Input<'a> {
    name: &'a str,
    /// `table` for a DataFrame, `data` for plain data, `text` for a `str`, `bytes`.
    kind: &'static str,
    format: &'static str,
    fd: i32,
    sha256: Digest,
    /// Of a data set whose cell values are not to be told.
    private: bool,
}

/// What the runner is started for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Task {
    Run,
    /// Describing a data set, and writing it as Arrow where it has at most so many bytes.
    Convert {
        frame_max: u64,
    },
    /// Counts the values of a private data set.
    Values,
}

/// `mapped`: bytes of inputs that are mapped and do not count as the snippet's memory.
pub fn setup(spec: &RunSpec, task: Task, mapped: u64) -> io::Result<Vec<u8>> {
    let given = match task {
        Task::Run if spec.handed.is_none() => libraries::of_run(spec),
        _ => libraries::of_policy(&spec.policy, &spec.env, has_tables(&spec.inputs)),
    };
    let usual = setup_of(&spec.policy, &spec.env, given);
    Ok(serde_json::to_vec(&Setup {
        code: spec.digest,
        certify: spec.handed.is_some(),
        convert: match task {
            Task::Run | Task::Values => 0,
            Task::Convert { frame_max } => frame_max,
        },
        values: task == Task::Values,
        memory: usual.memory.saturating_add(mapped),
        filter: match spec.tier {
            Tier::Process => None,
            _ => Some(helper::last_program()?),
        },
        ..usual
    })?)
}

/// For a zygote: its forks learn the digest of their code, and how much they map, with the grant.
/// `tables`: as [`has_tables`] says of its runs.
pub fn zygote_setup(policy: &Policy, env: &PythonEnv, tables: bool) -> io::Result<Vec<u8>> {
    let given = libraries::of_policy(policy, env, tables);
    Ok(serde_json::to_vec(&Setup {
        warm: Some(libraries::beside(policy, env)),
        ..setup_of(policy, env, given)
    })?)
}

/// Without code, and nothing else than a snippet to run.
fn setup_of<'a>(policy: &'a Policy, env: &'a PythonEnv, preload: Vec<&'static str>) -> Setup<'a> {
    Setup {
        policy,
        code: Digest::of(b""),
        sys_path: env.sys_path.iter().map(AsRef::as_ref).collect(),
        preload,
        memory: policy.limits.memory_mb.saturating_mul(1024 * 1024),
        report: REPORT_MAX,
        certify: false,
        convert: 0,
        values: false,
        fds: Fds {
            gate: FD_GATE,
            report: FD_REPORT,
            job: FD_JOB,
            code: FD_CODE,
        },
        filter: None,
        warm: None,
    }
}

/// `frames`: which of the inputs, by place, are handed over as converted tables.
pub fn job(spec: &RunSpec, frames: &[bool]) -> io::Result<Vec<u8>> {
    let mut inputs: Vec<Input<'_>> = spec
        .inputs
        .iter()
        .zip(FD_INPUTS..)
        .enumerate()
        .map(|(at, (input, fd))| {
            let format = input.format();
            Input {
                name: &input.name,
                kind: match frames.get(at) {
                    Some(true) => "frame",
                    _ => shape(format),
                },
                format: format.as_str(),
                fd,
                sha256: input.sha256,
                private: input.is_private(),
            }
        })
        .collect();
    if let (Some(handed), Ok(count)) = (&spec.handed, i32::try_from(inputs.len())) {
        inputs.push(Input {
            name: "",
            kind: "handed",
            format: "arrow",
            fd: FD_INPUTS + count,
            sha256: Digest::of(handed),
            private: false,
        });
    }
    Ok(serde_json::to_vec(&Job {
        inputs,
        facts: spec.facts,
    })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_run_starts_without_the_libraries_its_code_does_not_name() {
        use crate::executor::test_bench::{pandas, profile, spec};
        let spec = RunSpec {
            env: pandas(),
            ..spec("print(1)", profile("analysis"))
        };
        let certifies = RunSpec {
            handed: Some([].into()),
            ..spec.clone()
        };
        let preload = |spec: &RunSpec, task| {
            let setup = setup(spec, task, 0).unwrap();
            let setup: serde_json::Value = serde_json::from_slice(&setup).unwrap();
            setup["preload"].as_array().unwrap().len()
        };
        assert_eq!(preload(&spec, Task::Run), 0);
        assert_eq!(preload(&spec, Task::Values), 2);
        assert_eq!(preload(&spec, Task::Convert { frame_max: 1 }), 2);
        assert_eq!(preload(&certifies, Task::Run), 2);
        let warm = zygote_setup(&spec.policy, &spec.env, false).unwrap();
        let warm: serde_json::Value = serde_json::from_slice(&warm).unwrap();
        assert_eq!(warm["preload"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn the_environment_has_at_most_twelve_variables() {
        assert!(environment(Path::new("/x")).len() <= 12);
    }
}
