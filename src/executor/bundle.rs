//! The Python files of `assets/runner` as one file for the child: their text, or, once an
//! environment has compiled them, its byte code, which saves every cold start the compiling.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::Digest;
use crate::runtime::{self, PythonEnv};

use super::memfd;

/// Every file of the runner by its module name. Standard library only; one duty a file.
const MODULES: &[(&str, &str)] = &[
    ("boot", include_str!("../../assets/runner/boot.py")),
    ("main", include_str!("../../assets/runner/main.py")),
    ("spec", include_str!("../../assets/runner/spec.py")),
    ("hold", include_str!("../../assets/runner/hold.py")),
    ("errors", include_str!("../../assets/runner/errors.py")),
    ("rules", include_str!("../../assets/runner/rules.py")),
    ("mangle", include_str!("../../assets/runner/mangle.py")),
    ("check", include_str!("../../assets/runner/check.py")),
    ("facts", include_str!("../../assets/runner/facts.py")),
    ("rewrite", include_str!("../../assets/runner/rewrite.py")),
    ("gates", include_str!("../../assets/runner/gates.py")),
    ("imports", include_str!("../../assets/runner/imports.py")),
    ("report", include_str!("../../assets/runner/report.py")),
    ("events", include_str!("../../assets/runner/events.py")),
    ("limits", include_str!("../../assets/runner/limits.py")),
    ("watch", include_str!("../../assets/runner/watch.py")),
    ("stop", include_str!("../../assets/runner/stop.py")),
    ("guard", include_str!("../../assets/runner/guard.py")),
    ("hooks", include_str!("../../assets/runner/hooks.py")),
    ("narrow", include_str!("../../assets/runner/narrow.py")),
    ("evaluated", include_str!("../../assets/runner/evaluated.py")),
    ("lookups", include_str!("../../assets/runner/lookups.py")),
    ("memory", include_str!("../../assets/runner/memory.py")),
    (
        "positions",
        include_str!("../../assets/runner/positions.py"),
    ),
    ("reach", include_str!("../../assets/runner/reach.py")),
    ("patterns", include_str!("../../assets/runner/patterns.py")),
    ("modules", include_str!("../../assets/runner/modules.py")),
    ("names", include_str!("../../assets/runner/names.py")),
    ("files", include_str!("../../assets/runner/files.py")),
    ("opened", include_str!("../../assets/runner/opened.py")),
    ("inputs", include_str!("../../assets/runner/inputs.py")),
    ("frames", include_str!("../../assets/runner/frames.py")),
    ("convert", include_str!("../../assets/runner/convert.py")),
    ("values", include_str!("../../assets/runner/values.py")),
    ("zone", include_str!("../../assets/runner/zone.py")),
    ("loaded", include_str!("../../assets/runner/loaded.py")),
    ("figures", include_str!("../../assets/runner/figures.py")),
    ("canvas", include_str!("../../assets/runner/canvas.py")),
    ("display", include_str!("../../assets/runner/display.py")),
    ("certify", include_str!("../../assets/runner/certify.py")),
    ("columns", include_str!("../../assets/runner/columns.py")),
    ("lift", include_str!("../../assets/runner/lift.py")),
    ("redact", include_str!("../../assets/runner/redact.py")),
    ("accesses", include_str!("../../assets/runner/accesses.py")),
    ("scopes", include_str!("../../assets/runner/scopes.py")),
    ("plain", include_str!("../../assets/runner/plain.py")),
    ("shared", include_str!("../../assets/runner/shared.py")),
    ("shown", include_str!("../../assets/runner/shown.py")),
    ("nearest", include_str!("../../assets/runner/nearest.py")),
    ("threads", include_str!("../../assets/runner/threads.py")),
    ("served", include_str!("../../assets/runner/served.py")),
    ("virtual", include_str!("../../assets/runner/virtual.py")),
    ("zygote", include_str!("../../assets/runner/zygote.py")),
    ("quick", include_str!("../../assets/runner/quick.py")),
    ("warmup", include_str!("../../assets/runner/warmup.py")),
    ("rehearse", include_str!("../../assets/runner/rehearse.py")),
    ("nest", include_str!("../../assets/runner/nest.py")),
    ("channel", include_str!("../../assets/runner/channel.py")),
    ("restrict", include_str!("../../assets/runner/restrict.py")),
    ("syscalls", include_str!("../../assets/runner/syscalls.py")),
    ("fresh", include_str!("../../assets/runner/fresh.py")),
    ("job", include_str!("../../assets/runner/job.py")),
    (
        "contracts.__init__",
        include_str!("../../assets/runner/contracts/__init__.py"),
    ),
    (
        "contracts.base",
        include_str!("../../assets/runner/contracts/base.py"),
    ),
    (
        "contracts.analysis",
        include_str!("../../assets/runner/contracts/analysis.py"),
    ),
    (
        "contracts.chart",
        include_str!("../../assets/runner/contracts/chart.py"),
    ),
    (
        "contracts.feature",
        include_str!("../../assets/runner/contracts/feature.py"),
    ),
    (
        "contracts.walled",
        include_str!("../../assets/runner/contracts/walled.py"),
    ),
    (
        "contracts.scoped",
        include_str!("../../assets/runner/contracts/scoped.py"),
    ),
    (
        "contracts.script",
        include_str!("../../assets/runner/contracts/script.py"),
    ),
];

/// What the interpreter is started with: finds the first file and lets it find the others.
pub const FIRST: &str = include_str!("../../assets/runner/first.py");

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
    let modules: BTreeMap<&str, &str> = MODULES.iter().copied().collect();
    Ok(serde_json::to_vec(&modules)?)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::test_bench;
    use super::*;
    use crate::model::Tier;

    #[test]
    fn every_file_of_the_runner_is_in_the_bundle() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/runner");
        let mut files = modules(&folder, "");
        files.sort();
        let mut listed: Vec<&str> = MODULES.iter().map(|(name, _)| *name).collect();
        listed.push("first");
        listed.sort_unstable();
        assert_eq!(files, listed);
    }

    fn modules(folder: &Path, prefix: &str) -> Vec<String> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = format!("{prefix}{}", path.file_stem().unwrap().to_str().unwrap());
            if path.extension().is_some_and(|x| x == "py") {
                found.push(name);
            } else if path.is_dir() && !name.starts_with("__") {
                found.extend(modules(&path, &format!("{name}.")));
            }
        }
        found
    }

    #[test]
    fn what_an_environment_compiled_is_what_its_children_run() {
        let env = test_bench::python();
        compile(&env);
        assert!(code_of(env.digest).is_some_and(|code| code[0] == MARKED));
        let told = test_bench::run_spec(test_bench::spec(
            "print(6 * 7)",
            test_bench::raw_policy(Tier::Process),
        ));
        assert_eq!(told.run().stdout, "42\n");
    }

    /// Each takes as long to load as several files of ours; whoever needs one loads it by itself.
    #[test]
    fn a_start_loads_nothing_that_takes_long_and_few_runs_need() {
        let code = "import sys\n\
            slow = 'typing hashlib importlib.abc pathlib tempfile decimal datetime inspect socket'\n\
            print([name for name in slow.split() if name in sys.modules])";
        let told = test_bench::run_spec(test_bench::spec(
            code,
            test_bench::raw_policy(Tier::Process),
        ));
        assert_eq!(told.run().stdout, "[]\n");
    }

    #[test]
    fn an_interpreter_that_answers_something_else_is_not_believed() {
        let env = PythonEnv {
            executable: "/bin/echo".into(),
            digest: Digest::of(b"echo"),
            ..(*test_bench::python()).clone()
        };
        compile(&env);
        assert_eq!(code_of(env.digest), None);
    }
}
