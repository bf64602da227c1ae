//! The settings and the job of a child's runner.

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

/// Read by the runner before its release. None of it comes from an agent.
#[derive(Serialize)]
struct Setup<'a> {
    /// `None` if no snippet runs.
    policy: Option<&'a Policy>,
    code: Digest,
    sys_path: Vec<&'a Path>,
    /// Modules imported before the release, so that the start after it is short.
    preload: Vec<&'static str>,
    /// Bytes that the snippet may add to the address space.
    memory: u64,
    /// Maximum size of the report in bytes.
    report: usize,
    /// No snippet runs: the last input, which another child handed over, is checked.
    certify: bool,
    /// For the converter of a data set: the maximum size of the Arrow output in bytes; 0 otherwise.
    convert: u64,
    values: bool,
    fds: Fds,
    /// In a jail: the seccomp program, as hex digits, that forbids starting programs. A zygote
    /// receives it in another way.
    filter: Option<String>,
    /// Only for a zygote: modules to import in addition to `preload`.
    warm: Option<Vec<&'static str>>,
}

#[derive(Serialize)]
struct Fds {
    gate: i32,
    report: i32,
    job: i32,
    code: i32,
}

/// Read by the runner after its release.
#[derive(Serialize)]
struct Job<'a> {
    inputs: Vec<Input<'a>>,
    /// The facts that the analyser found in the code. If CPython reads the code differently,
    /// nothing runs.
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
    /// Whether it is a data set whose cell values must not be disclosed.
    private: bool,
}

/// A task on one data set, without a snippet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Describes it, and writes it as Arrow if that has at most this many bytes.
    Convert { frame_max: u64 },
    /// Counts the values of a private data set.
    Values,
}

/// The setup of a run. `mapped` is the size of mapped inputs in bytes, which do not count as the
/// snippet's memory.
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

/// The setup of a converter, which runs no snippet. `memory` is the number of bytes that it may add
/// to the interpreter.
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

/// The setup of a zygote. Its forks receive the digest of their code, and how much they map, with
/// the grant. `tables` is the result of [`has_tables`] for its runs.
pub fn zygote_setup(policy: &Policy, env: &PythonEnv, tables: bool) -> io::Result<Vec<u8>> {
    let given = libraries::of_policy(policy, env, tables);
    Ok(serde_json::to_vec(&Setup {
        warm: Some(libraries::beside(policy, env)),
        ..setup_of(policy, env, given)
    })?)
}

/// A setup that only runs snippets, without code.
fn setup_of<'a>(policy: &'a Policy, env: &'a PythonEnv, preload: Vec<&'static str>) -> Setup<'a> {
    Setup {
        policy: Some(policy),
        memory: policy.limits.memory_mb.saturating_mul(1024 * 1024),
        ..nothing(env, preload)
    }
}

/// A setup without a task.
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

/// The job of a run. `frames` tells which of the inputs are handed over as converted tables.
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

/// The job of the converter with its data set.
pub fn task_job(one: &BoundInput) -> io::Result<Vec<u8>> {
    Ok(serde_json::to_vec(&Job {
        inputs: vec![input(one, FD_INPUTS)],
        facts: None,
    })?)
}

/// An input as its own file.
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
