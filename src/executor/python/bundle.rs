//! Bundles the Python files of `assets/runner` into one file for the child: as text, or as byte
//! code once an environment has compiled them, which saves every cold start the compilation.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::Digest;
use crate::runtime::{self, PythonEnv};

use crate::sandbox::memfd;

/// Lists files below `assets/runner` and includes their text.
macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../assets/runner/", $name, ".py"))),)*]
    };
}

/// Every file of the runner by its path. Files use only the standard library, and each has one
/// duty.
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
    "mapped"
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
    "computes"
    "lookups"
    "layout"
    "memory"
    "streams"
    "ufuncs"
    "arrow"
    "believed"
    "copies"
    "lent"
    "positions"
    "reach"
    "sequences"
    "data"
    "patterns"
    "modules"
    "names"
    "files"
    "opened"
    "inputs"
    "frames"
    "convert"
    "summary"
    "values"
    "rounded"
    "zone"
    "loaded"
    "figures"
    "canvas"
    "display"
    "certify"
    "columns"
    "lift"
    "redact"
    "records"
    "accesses"
    "scopes"
    "plain"
    "shared"
    "shown"
    "once"
    "kinds"
    "nearest"
    "lacking"
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

/// Reads module → source as JSON from standard input and writes module → byte code to standard
/// output.
const COMPILE: &str = "\
import json, marshal, sys
sources = json.load(sys.stdin.buffer)
code = {
    name: marshal.dumps(compile(text, f'<runner>/{name}.py', 'exec', dont_inherit=True))
    for name, text in sources.items()
}
sys.stdout.buffer.write(marshal.dumps(code))
";

/// The first byte of `marshal.dumps` of a dictionary, without and with the reference flag
/// (CPython's marshal.c).
const DICTIONARIES: [u8; 2] = [b'{', b'{' | 0x80];

/// Byte code by the digest of the environment that made it: useless to another one, and the same
/// for every run in it. It is a list because it has few entries.
static COMPILED: Mutex<Vec<(Digest, Arc<Vec<u8>>)>> = Mutex::new(Vec::new());

/// Number of environments to remember: one is in use, another may be about to replace it.
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

/// Has the environment compile the files, outside of any jail, like the probe: no data of an agent
/// is involved. If this fails, the text is used.
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
        return Err("the interpreter's answer is not byte code".into());
    }
    Ok([&[MARKED], &code[..]].concat())
}

/// The first byte of byte code in the bundle, which JSON never starts with.
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
        let mut files = names_in_folder(&folder, "");
        files.sort();
        let mut listed: Vec<String> = modules().map(|(name, _)| name).collect();
        listed.push("first".to_owned());
        listed.sort_unstable();
        assert_eq!(files, listed);
    }

    fn names_in_folder(folder: &Path, prefix: &str) -> Vec<String> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{prefix}{}", path.file_stem().unwrap().to_str().unwrap());
            if path.extension().is_some_and(|x| x == "py") {
                found.push(name);
            } else if path.is_dir() && !name.starts_with("__") {
                found.extend(names_in_folder(&path, &format!("{name}.")));
            }
        }
        found
    }

    #[test]
    fn children_run_the_byte_code_their_environment_compiled() {
        let env = bench::python();
        compile(&env);
        assert!(code_of(env.digest).is_some_and(|code| code[0] == MARKED));
        let outcome = bench::run_spec(bench::spec(
            "print(6 * 7)",
            bench::raw_policy(Tier::Process),
        ));
        assert_eq!(outcome.run().stdout, "42\n");
    }

    /// Each of these modules takes as long to load as several files of ours; code that needs one
    /// loads it itself.
    #[test]
    fn a_start_loads_no_slow_module_that_few_runs_need() {
        let code = "import sys\n\
            slow = 'typing hashlib importlib.abc pathlib tempfile decimal datetime inspect socket'\n\
            print([name for name in slow.split() if name in sys.modules])";
        let outcome = bench::run_spec(bench::spec(code, bench::raw_policy(Tier::Process)));
        assert_eq!(outcome.run().stdout, "[]\n");
    }

    #[test]
    fn an_interpreter_with_an_invalid_answer_is_not_believed() {
        let env = PythonEnv {
            executable: "/bin/echo".into(),
            digest: Digest::of(b"echo"),
            ..(*bench::python()).clone()
        };
        compile(&env);
        assert_eq!(code_of(env.digest), None);
    }
}
