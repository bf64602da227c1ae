//! The share of agents' snippets that is served: `cargo bench --bench served`.
//!
//! Each snippet in `snippets/` (named after its kind of task) first runs under plain Python of the
//! managed environment, in an empty folder. If it succeeds there, it is proposed, granted by keys
//! in a real dashboard, and must print the same. The snippets were written without regard to the
//! guard, and none is removed for not being served; `reasons.toml` must explain each that is not,
//! or the bench fails. With `--doctests`, the libraries' docstring examples replace the snippets,
//! and `doctests.toml` has the reasons by class.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../../tests/common/mod.rs"]
mod common;
mod doctests;
mod ends;
mod report;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;

use countersign::runtime::PythonEnv;

use common::python;
use ends::Snippet;

const USAGE: &str = "\
cargo bench --bench served [-- [--desks N] [PART]]
cargo bench --bench served -- --doctests [--every N] [--desks N] [LIBRARY]

Proposes every snippet of benches/served/snippets, or those whose name contains PART, and grants them.

  --doctests   the examples of the docstrings of pandas, numpy, scipy, sklearn, seaborn, statsmodels,
               matplotlib and plotly instead, or of one LIBRARY: 60 of each, drawn with a fixed seed
  --every N    each Nth of all of them, instead of 60
  --desks N    dashboards that run at the same time (4)
  -h, --help   this text";

/// Reasons why code is not served: by snippet name, or for docstrings by class.
const REASONS: &str = include_str!("reasons.toml");
const CLASSES: &str = include_str!("doctests.toml");

/// The most examples per library, unless all are requested.
const MOST: usize = 60;

/// Tables as wide as in a run: one of the few intended differences from plain Python.
const WIDE: &str = "\
import runpy, sys, pandas
for name, value in {'width': 160, 'max_columns': 50, 'max_colwidth': 50, 'expand_frame_repr': False}.items():
    pandas.set_option('display.' + name, value)
runpy.run_path(sys.argv[1], run_name='__main__')
";

struct Arguments {
    doctests: bool,
    every: Option<usize>,
    desks: usize,
    part: String,
}

fn main() -> ExitCode {
    let Some(arguments) = arguments() else {
        println!("{USAGE}");
        return ExitCode::SUCCESS;
    };
    python::ready();
    let env = python::managed_env();
    let tried = match arguments.doctests {
        true => examples(&env, &arguments),
        false => snippets(&env, &arguments.part, arguments.desks),
    };
    let ends = ends::ends(&tried, arguments.desks);
    report::table(&ends);
    let unexplained = match arguments.doctests {
        true => report::unexplained_by_class(&ends, CLASSES),
        false => report::unexplained_by_name(&ends, REASONS),
    };
    ExitCode::from(u8::from(unexplained))
}

fn arguments() -> Option<Arguments> {
    let mut arguments = Arguments {
        doctests: false,
        every: None,
        desks: 4,
        part: String::new(),
    };
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    while let Some(arg) = args.next() {
        let mut number = || {
            let given = args.next().and_then(|n| n.parse().ok());
            given.filter(|n| *n > 0).expect("a number above 0")
        };
        match arg.as_str() {
            "--doctests" => arguments.doctests = true,
            "--every" => arguments.every = Some(number()),
            "--desks" => arguments.desks = number(),
            "-h" | "--help" => return None,
            part => arguments.part = part.to_owned(),
        }
    }
    Some(arguments)
}

fn examples(env: &PythonEnv, arguments: &Arguments) -> Vec<Snippet> {
    let (most, every) = match arguments.every {
        Some(every) => (0, every),
        None => (MOST, 1),
    };
    let expected = doctests::LIBRARIES
        .into_iter()
        .filter(|library| arguments.part.is_empty() || *library == arguments.part);
    let drawn: Vec<Snippet> = expected
        .flat_map(|library| doctests::of(env, library, most, every))
        .collect();
    let known = doctests::LIBRARIES.join(", ");
    assert!(!drawn.is_empty(), "the libraries are {known}");
    drawn
}

fn snippets(env: &PythonEnv, part: &str, desks: usize) -> Vec<Snippet> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/served/snippets");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.retain(|path| path.file_stem().unwrap().to_str().unwrap().contains(part));
    let next = Mutex::new(paths.iter());
    let tried = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..desks {
            scope.spawn(|| {
                loop {
                    let Some(path) = next.lock().unwrap().next() else {
                        return;
                    };
                    tried.lock().unwrap().extend(snippet(env, path));
                }
            });
        }
    });
    let mut tried = tried.into_inner().unwrap();
    tried.sort_by(|a, b| a.name.cmp(&b.name));
    tried
}

fn snippet(env: &PythonEnv, path: &Path) -> Option<Snippet> {
    let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
    let code = std::fs::read_to_string(path).unwrap();
    let Some(printed) = plain_output(env, &code) else {
        eprintln!("{name}: fails under plain Python");
        return None;
    };
    let kind = name.rsplit_once('-').map_or(&*name, |(kind, _)| kind);
    Some(Snippet {
        row: kind.to_owned(),
        name,
        code,
        printed,
    })
}

/// The output of plain Python in a separate folder; `None` if it fails.
fn plain_output(env: &PythonEnv, code: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    // Run from a file, because some snippets read their own source.
    let script = folder.path().join("snippet.py");
    std::fs::write(&script, code).unwrap();
    let work = folder.path().join("work");
    std::fs::create_dir(&work).unwrap();
    let mut command = Command::new(&env.executable);
    plain_environment(&mut command, env, folder.path());
    let output = command
        .args(["-B", "-W", "ignore", "-c", WIDE])
        .arg(&script)
        .current_dir(&work)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then_some(printed)
}

/// Gives the command the environment's packages and nothing else of the machine.
fn plain_environment(command: &mut Command, env: &PythonEnv, home: &Path) {
    command
        .env_clear()
        .env("PYTHONPATH", std::env::join_paths(&env.sys_path).unwrap())
        .env("MPLBACKEND", "Agg")
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .env("PLOTLY_RENDERER", "json");
}
