//! The Python files of `assets/runner` as one file for the child: their text, or, once an
//! environment has compiled them, its byte code, which saves every cold start the compiling.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::Digest;
use crate::runtime::{self, PythonEnv};

use crate::sandbox::memfd;

/// Names files below `assets/runner`, and takes their text in.
macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../assets/runner/", $name, ".py"))),)*]
    };
}

/// Every file of the runner by its path. Standard library only; one duty a file.
const FILES: &[(&str, &str)] = files! {
    "boot"
    "main"
    "task"
    "spec"
    "hold"
    "errors"
    "failure"
    "rules"
    "mangle"
    "check"
    "facts"
    "rewrite"
    "gates"
    "imports"
    "report"
    "events"
    "limits"
    "watch"
    "stop"
    "guard"
    "hooks"
    "narrow"
    "evaluated"
    "lookups"
    "memory"
    "arrow"
    "lent"
    "positions"
    "reach"
    "sequences"
    "patterns"
    "modules"
    "names"
    "files"
    "opened"
    "inputs"
    "frames"
    "convert"
    "values"
    "zone"
    "loaded"
    "figures"
    "canvas"
    "display"
    "certify"
    "columns"
    "lift"
    "redact"
    "accesses"
    "scopes"
    "plain"
    "shared"
    "shown"
    "nearest"
    "threads"
    "served"
    "virtual"
    "zygote"
    "quick"
    "warmup"
    "rehearse"
    "slot"
    "channel"
    "restrict"
    "syscalls"
    "fresh"
    "job"
    "contracts/__init__"
    "contracts/base"
    "contracts/analysis"
    "contracts/chart"
    "contracts/feature"
    "contracts/walled"
    "contracts/scoped"
    "contracts/script"
};

/// Standard input as JSON, module → source; standard output the same as byte code.
const COMPILE: &str = "\
import json, marshal, sys
sources = json.load(sys.stdin.buffer)
code = {
    name: marshal.dumps(compile(text, f'<runner>/{name}.py', 'exec', dont_inherit=True))
    for name, text in sources.items()
}
sys.stdout.buffer.write(marshal.dumps(code))
";

/// What `marshal.dumps` of a dictionary begins with, reference flag or not (CPython's marshal.c).
const DICTIONARIES: [u8; 2] = [b'{', b'{' | 0x80];

/// Byte code by the digest of the environment that made it: of no use to another, and the same
/// for every run in it. Few, so a list.
static COMPILED: Mutex<Vec<(Digest, Arc<Vec<u8>>)>> = Mutex::new(Vec::new());

/// Environments that are remembered: one is in use, another may be about to replace it.
const REMEMBERED: usize = 4;

/// The sealed file for a child in this environment.
pub fn file(env: &PythonEnv) -> io::Result<OwnedFd> {
    match code_of(env.digest) {
        Some(code) => memfd::of_bytes("bundle", &code),
        None => memfd::of_bytes("bundle", &sources()?),
    }
}

fn code_of(environment: Digest) -> Option<Arc<Vec<u8>>> {
    let compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    let found = compiled.iter().find(|(digest, _)| *digest == environment)?;
    Some(found.1.clone())
}

/// Has the environment compile the files, outside of any jail, as it is asked about itself: nothing
/// of an agent's is near. Without an answer the text serves as well.
pub fn compile(env: &PythonEnv) {
    match compiled(env) {
        Ok(code) => {
            let mut list = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
            list.retain(|(digest, _)| *digest != env.digest);
            if list.len() >= REMEMBERED {
                list.remove(0);
            }
            list.push((env.digest, Arc::new(code)));
        }
        Err(e) => tracing::warn!("every start compiles the runner: {e}"),
    }
}

fn compiled(env: &PythonEnv) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let input = memfd::of_bytes("runner", &sources()?)?;
    let code = runtime::answer(env, COMPILE, Stdio::from(input))?;
    if !code
        .first()
        .is_some_and(|first| DICTIONARIES.contains(first))
    {
        return Err("the interpreter said something else than byte code".into());
    }
    Ok([&[MARKED], &code[..]].concat())
}

/// What byte code begins with here, and JSON does not.
const MARKED: u8 = b'm';

/// One JSON object, module → source.
fn sources() -> io::Result<Vec<u8>> {
    let modules: BTreeMap<String, &str> = modules().collect();
    Ok(serde_json::to_vec(&modules)?)
}

/// The files by the names of their modules.
fn modules() -> impl Iterator<Item = (String, &'static str)> {
    FILES
        .iter()
        .map(|(path, text)| (path.replace('/', "."), *text))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::executor::tests::bench;
    use crate::model::Tier;

    #[test]
    fn every_file_of_the_runner_is_in_the_bundle() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/runner");
        let mut files = lying_in(&folder, "");
        files.sort();
        let mut listed: Vec<String> = modules().map(|(name, _)| name).collect();
        listed.push("first".to_owned());
        listed.sort_unstable();
        assert_eq!(files, listed);
    }

    fn lying_in(folder: &Path, prefix: &str) -> Vec<String> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{prefix}{}", path.file_stem().unwrap().to_str().unwrap());
            if path.extension().is_some_and(|x| x == "py") {
                found.push(name);
            } else if path.is_dir() && !name.starts_with("__") {
                found.extend(lying_in(&path, &format!("{name}.")));
            }
        }
        found
    }

    #[test]
    fn what_an_environment_compiled_is_what_its_children_run() {
        let env = bench::python();
        compile(&env);
        assert!(code_of(env.digest).is_some_and(|code| code[0] == MARKED));
        let told = bench::run_spec(bench::spec(
            "print(6 * 7)",
            bench::raw_policy(Tier::Process),
        ));
        assert_eq!(told.run().stdout, "42\n");
    }

    /// Each takes as long to load as several files of ours; whoever needs one loads it by itself.
    #[test]
    fn a_start_loads_nothing_that_takes_long_and_few_runs_need() {
        let code = "import sys\n\
            slow = 'typing hashlib importlib.abc pathlib tempfile decimal datetime inspect socket'\n\
            print([name for name in slow.split() if name in sys.modules])";
        let told = bench::run_spec(bench::spec(code, bench::raw_policy(Tier::Process)));
        assert_eq!(told.run().stdout, "[]\n");
    }

    #[test]
    fn an_interpreter_that_answers_something_else_is_not_believed() {
        let env = PythonEnv {
            executable: "/bin/echo".into(),
            digest: Digest::of(b"echo"),
            ..(*bench::python()).clone()
        };
        compile(&env);
        assert_eq!(code_of(env.digest), None);
    }
}
