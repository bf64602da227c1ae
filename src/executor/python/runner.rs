//! The child's side: how its interpreter is started, and what it is told.

use std::io;
use std::path::Path;

use serde::Serialize;

use crate::model::{BoundInput, CodeFacts, Digest, Tier};
use crate::policy::Policy;
use crate::runtime::PythonEnv;

use crate::executor::python::libraries::{self, has_tables, shape};
use crate::executor::spec::{REPORT_MAX, RunSpec};
use crate::sandbox::helper;
use crate::sandbox::interpreter::{FD_CODE, FD_GATE, FD_INPUTS, FD_JOB, FD_REPORT};

/// What the runner reads before it is released. None of it comes from an agent.
#[derive(Serialize)]
struct Setup<'a> {
    /// None where no snippet runs.
    policy: Option<&'a Policy>,
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

/// What is done with one data set where no snippet runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// It is described, and written as Arrow where that has at most so many bytes.
    Convert { frame_max: u64 },
    /// The values of a private data set are counted.
    Values,
}

/// For a run. `mapped`: bytes of inputs that are mapped and do not count as the snippet's memory.
pub fn setup(spec: &RunSpec, mapped: u64) -> io::Result<Vec<u8>> {
    let given = if spec.handed.is_none() {
        libraries::of_run(spec)
    } else {
        libraries::of_policy(&spec.policy, &spec.env, has_tables(&spec.inputs))
    };
    let usual = setup_of(&spec.policy, &spec.env, given);
    Ok(serde_json::to_vec(&Setup {
        code: spec.digest,
        certify: spec.handed.is_some(),
        memory: usual.memory.saturating_add(mapped),
        filter: filter(spec.tier)?,
        ..usual
    })?)
}

/// For the converter of a data set, which runs no snippet. `memory`: bytes that it may add to the interpreter.
pub fn task_setup(task: Task, env: &PythonEnv, tier: Tier, memory: u64) -> io::Result<Vec<u8>> {
    let convert = match task {
        Task::Values => 0,
        Task::Convert { frame_max } => frame_max,
    };
    Ok(serde_json::to_vec(&Setup {
        convert,
        values: task == Task::Values,
        memory,
        filter: filter(tier)?,
        ..nothing(env, libraries::of_tables(env))
    })?)
}

fn filter(tier: Tier) -> io::Result<Option<String>> {
    match tier {
        Tier::Process => Ok(None),
        _ => helper::last_program().map(Some),
    }
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
        policy: Some(policy),
        memory: policy.limits.memory_mb.saturating_mul(1024 * 1024),
        ..nothing(env, preload)
    }
}

/// With nothing to do.
fn nothing<'a>(env: &'a PythonEnv, preload: Vec<&'static str>) -> Setup<'a> {
    Setup {
        policy: None,
        code: Digest::of(b""),
        sys_path: env.sys_path.iter().map(AsRef::as_ref).collect(),
        preload,
        memory: 0,
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
        .map(|(at, (one, fd))| {
            let frame = frames.get(at) == Some(&true);
            Input {
                kind: if frame { "frame" } else { shape(one.format()) },
                ..input(one, fd)
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

/// For the converter: the one data set.
pub fn task_job(one: &BoundInput) -> io::Result<Vec<u8>> {
    Ok(serde_json::to_vec(&Job {
        inputs: vec![input(one, FD_INPUTS)],
        facts: None,
    })?)
}

/// As its own file.
fn input(one: &BoundInput, fd: i32) -> Input<'_> {
    let format = one.format();
    Input {
        name: &one.name,
        kind: shape(format),
        format: format.as_str(),
        fd,
        sha256: one.sha256,
        private: one.is_private(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_run_starts_without_the_libraries_its_code_does_not_name() {
        use crate::executor::tests::bench::{pandas, profile, spec};
        let spec = RunSpec {
            env: pandas(),
            ..spec("print(1)", profile("analysis"))
        };
        let certifies = RunSpec {
            handed: Some([].into()),
            ..spec.clone()
        };
        let preload = |setup: io::Result<Vec<u8>>| {
            let setup: serde_json::Value = serde_json::from_slice(&setup.unwrap()).unwrap();
            setup["preload"].as_array().unwrap().len()
        };
        let task = |task| task_setup(task, &spec.env, Tier::Process, 1);
        assert_eq!(preload(setup(&spec, 0)), 0);
        assert_eq!(preload(task(Task::Values)), 2);
        assert_eq!(preload(task(Task::Convert { frame_max: 1 })), 2);
        assert_eq!(preload(setup(&certifies, 0)), 2);
        let warm = zygote_setup(&spec.policy, &spec.env, false).unwrap();
        let warm: serde_json::Value = serde_json::from_slice(&warm).unwrap();
        assert_eq!(warm["preload"].as_array().unwrap().len(), 2);
    }
}
