//! Shared code of the executor's tests: a real Python, the real binary as helper, complete runs.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::time::Duration;

use serde::Deserialize;

use crate::broker::ExecNote;
use crate::clock::Now;
use crate::model::{
    Blob, BoundInput, DataFormat, Digest, Isolation, Limits, Run, Sensitivity, StreamName, Tier,
};
use crate::policy::{Contract, Policy};
use crate::runtime::PythonEnv;

use crate::given::{OF_A_USER, VARIABLE};
pub use crate::given::{is_given, is_given_to_root};

use crate::executor::Control;
use crate::executor::DatasetSource;
use crate::executor::Sources;
use crate::executor::spec::RunSpec;
use crate::executor::start;
use crate::executor::warm::Pool;

/// The binary beside the test binary; `cargo test` builds it for the integration tests.
pub fn binary() -> PathBuf {
    let me = std::env::current_exe().unwrap();
    let path = me.parent().unwrap().parent().unwrap().join("countersign");
    assert!(
        path.exists(),
        "{} is not built: run `cargo build` first",
        path.display()
    );
    path
}

pub fn exe() -> Arc<OwnedFd> {
    static EXE: OnceLock<Arc<OwnedFd>> = OnceLock::new();
    // The reason of a failure is only in the log, so it is shown with the test.
    let _ = tracing_subscriber::fmt().with_test_writer().try_init();
    EXE.get_or_init(|| Arc::new(OwnedFd::from(std::fs::File::open(binary()).unwrap())))
        .clone()
}

/// Whether this machine provides the tier.
#[track_caller]
pub fn available(tier: Tier) -> bool {
    static KERNEL: OnceLock<Result<(), String>> = OnceLock::new();
    if tier == Tier::Process {
        return true;
    }
    let look = || match crate::executor::preflight::look(tier, exe().as_fd()) {
        Ok(_) => Ok(()),
        Err(e) => Err(e.to_string()),
    };
    match KERNEL.get_or_init(look) {
        Ok(()) => true,
        Err(e) => is_given(false, e),
    }
}

/// `CS_TEST_PYTHON`, or the first Python ≥ 3.11 that answers.
pub fn python() -> Arc<PythonEnv> {
    static PYTHON: OnceLock<Arc<PythonEnv>> = OnceLock::new();
    PYTHON
        .get_or_init(|| {
            let named = std::env::var("CS_TEST_PYTHON").ok();
            named
                .iter()
                .map(String::as_str)
                .chain([
                    "python3",
                    "python3.13",
                    "python3.12",
                    "python3.11",
                    "/usr/bin/python3",
                ])
                .find_map(ask)
                .expect("a Python of at least 3.11: set CS_TEST_PYTHON")
        })
        .clone()
}

/// The managed environment, which has pandas.
pub fn pandas() -> Arc<PythonEnv> {
    static PANDAS: OnceLock<Arc<PythonEnv>> = OnceLock::new();
    PANDAS
        .get_or_init(|| Arc::new(crate::runtime::testing::managed_env()))
        .clone()
}

/// The Python of [`python`] without ctypes, while the folder exists.
pub fn without_ctypes() -> (tempfile::TempDir, Arc<PythonEnv>) {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    let path = folder.path().join("ctypes.py");
    std::fs::write(&path, "raise ImportError('none here')").unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    let mut env = PythonEnv::clone(&python());
    env.sys_path.insert(0, folder.path().to_path_buf());
    (folder, Arc::new(env))
}

fn ask(python: &str) -> Option<Arc<PythonEnv>> {
    const QUESTION: &str = "import json, os, sys\n\
        from importlib.metadata import distributions\n\
        print(json.dumps({'executable': os.path.realpath(sys.executable),\n\
        'version': sys.version_info[:3], 'base_prefix': os.path.realpath(sys.base_prefix),\n\
        'prefix': os.path.realpath(sys.prefix), 'sys_path': [os.path.realpath(p) for p in sys.path],\n\
        'distributions': [(d.name.lower(), d.version) for d in distributions()]}))";
    #[derive(Deserialize)]
    struct Answer {
        executable: PathBuf,
        version: (u32, u32, u32),
        base_prefix: PathBuf,
        prefix: PathBuf,
        sys_path: Vec<PathBuf>,
        distributions: Vec<(String, String)>,
    }
    let output = Command::new(python)
        .args(["-I", "-c", QUESTION])
        .output()
        .ok()?;
    let a: Answer = serde_json::from_slice(&output.stdout).ok()?;
    (a.version >= (3, 11, 0)).then(|| {
        Arc::new(PythonEnv {
            digest: Digest::of(a.executable.as_os_str().as_encoded_bytes()),
            executable: a.executable,
            version: a.version,
            base_prefix: a.base_prefix,
            prefix: a.prefix,
            sys_path: a.sys_path,
            distributions: a.distributions,
        })
    })
}

/// The built-in profile `analysis` with limits that are short enough for tests.
pub fn policy(tier: Tier) -> Policy {
    let all = crate::policy::builtin().unwrap();
    let built_in = all.iter().find(|policy| policy.name == "analysis").unwrap();
    let mut policy = Policy::clone(built_in);
    policy.tier = tier;
    policy.limits = Limits {
        wall_s: 120,
        cpu_s: 120,
        memory_mb: 256,
        ..Limits::default()
    };
    policy
}

/// A built-in profile in the process tier, with enough time for a busy machine.
pub fn profile(name: &str) -> Policy {
    let all = crate::policy::builtin().unwrap();
    let mut policy = Policy::clone(all.iter().find(|policy| policy.name == name).unwrap());
    policy.tier = Tier::Process;
    policy.limits.wall_s = 180;
    policy.limits.cpu_s = 180;
    policy
}

/// Runs code under a profile with the managed environment and inputs from an agent.
pub fn run_profile(policy: Policy, code: &str, inputs: serde_json::Value) -> Outcome {
    let requests = serde_json::from_value(inputs).unwrap();
    let inputs = crate::executor::bind(&requests, &BTreeMap::new()).unwrap();
    run_spec(RunSpec {
        env: pandas(),
        ..with_inputs(code, policy, inputs)
    })
}

/// Like [`policy`] without the guard: for attacks on layers outside the interpreter.
pub fn raw_policy(tier: Tier) -> Policy {
    Policy {
        guard: false,
        contract: Contract::Script,
        ..policy(tier)
    }
}

pub fn spec(code: &str, policy: Policy) -> RunSpec {
    RunSpec {
        code: code.into(),
        digest: Digest::of(code.as_bytes()),
        inputs: Arc::from([]),
        tier: policy.tier,
        policy: Arc::new(policy),
        env: python(),
        measured: None,
        facts: crate::analysis::outline::facts_of(code),
        granted_at: Now::read().boot,
        handed: None,
    }
}

/// The notes of a finished run.
#[derive(Debug, Default)]
pub struct Outcome {
    pub notes: Vec<ExecNote>,
}

impl Outcome {
    pub fn run(&self) -> &Run {
        match self.notes.last() {
            Some(ExecNote::Ended(run)) => run,
            other => panic!("the outcome is not a run: {other:?}"),
        }
    }

    /// The contents of the files that the run left.
    pub fn left(&self) -> &[Blob] {
        let left = self.notes.iter().find_map(|note| match note {
            ExecNote::Left(blobs) => Some(&blobs[..]),
            _ => None,
        });
        left.unwrap_or_default()
    }

    pub fn failure(&self) -> &str {
        match self.notes.last() {
            Some(ExecNote::Failed { message }) => message,
            other => panic!("the run did not fail: {other:?}"),
        }
    }

    pub fn isolation(&self) -> &Isolation {
        self.notes
            .iter()
            .find_map(|note| match note {
                ExecNote::Prepared(isolation) => Some(isolation),
                _ => None,
            })
            .unwrap()
    }

    pub fn streamed(&self, which: StreamName) -> String {
        self.notes
            .iter()
            .filter_map(|note| match note {
                ExecNote::Output { stream, text } if *stream == which => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }
}

/// A parquet file that pandas writes.
pub fn parquet(code: &str) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.parquet");
    let code =
        format!("import sys\nimport pandas as pd, numpy as np\n{code}\ndf.to_parquet(sys.argv[1])");
    let env = pandas();
    let path_of = std::env::join_paths(&env.sys_path).unwrap();
    let status = Command::new(&env.executable)
        .env("PYTHONPATH", path_of)
        .args(["-c", &code])
        .arg(&path)
        .status()
        .unwrap();
    assert!(status.success());
    std::fs::read(path).unwrap()
}

/// A run whose notes can be read one by one.
pub struct Live {
    pub control: Control,
    pub notes: mpsc::Receiver<ExecNote>,
}

/// Sources with these data sets and no files of earlier runs.
pub fn sources(datasets: BTreeMap<String, DatasetSource>) -> Sources {
    Sources {
        datasets,
        left: Box::new(|_| Err("it is missing".to_owned())),
        converters: Default::default(),
    }
}

/// A data set of this name, from a csv file that is written into the folder.
pub fn csv_dataset(
    folder: &std::path::Path,
    name: &str,
    text: &str,
    sensitivity: Sensitivity,
) -> BTreeMap<String, DatasetSource> {
    let path = folder.join(format!("{name}.csv"));
    std::fs::write(&path, text).unwrap();
    let source = DatasetSource {
        path,
        format: DataFormat::Csv,
        sensitivity,
    };
    BTreeMap::from([(name.to_owned(), source)])
}

/// Sources with these data sets, described and converted in the managed environment.
pub fn converting(datasets: BTreeMap<String, DatasetSource>, tier: Tier) -> Arc<Sources> {
    let sources = sources(datasets);
    let converter = crate::executor::data::convert::Converter::new(exe(), pandas(), tier);
    sources.converters.set(converter);
    Arc::new(sources)
}

pub fn begin(spec: RunSpec, datasets: BTreeMap<String, DatasetSource>) -> Live {
    begin_through(exe(), spec, datasets)
}

pub fn begin_with(spec: RunSpec, sources: Arc<Sources>) -> Live {
    begin_all(exe(), None, spec, sources)
}

/// Starts a run through a helper other than the product's, which leaves layers off.
pub fn begin_through(
    exe: Arc<OwnedFd>,
    spec: RunSpec,
    datasets: BTreeMap<String, DatasetSource>,
) -> Live {
    begin_all(exe, None, spec, Arc::new(sources(datasets)))
}

/// Starts a run with a pool: warm if a slot waits.
pub fn begin_in(
    pool: Option<Arc<Pool>>,
    spec: RunSpec,
    datasets: BTreeMap<String, DatasetSource>,
) -> Live {
    begin_all(exe(), pool, spec, Arc::new(sources(datasets)))
}

pub fn begin_all(
    exe: Arc<OwnedFd>,
    pool: Option<Arc<Pool>>,
    spec: RunSpec,
    sources: Arc<Sources>,
) -> Live {
    let (send, notes) = mpsc::channel();
    let send = Mutex::new(send);
    let control = start(
        exe,
        pool,
        sources,
        Ok(spec),
        Box::new(move |note| {
            let _ = send.lock().unwrap().send(note);
        }),
    );
    Live { control, notes }
}

impl Live {
    /// The next note that is no measurement.
    pub fn next(&self) -> ExecNote {
        loop {
            match self.next_of_all() {
                ExecNote::Used(_) => {}
                other => return other,
            }
        }
    }

    /// The next note. A run without a note for this long hangs.
    pub fn next_of_all(&self) -> ExecNote {
        self.notes
            .recv_timeout(Duration::from_secs(400))
            .expect("the run reports in time")
    }

    /// Releases and waits for the end.
    pub fn finish(self) -> Outcome {
        let mut outcome = Outcome::default();
        // Takes effect later if the child is not ready yet.
        self.control.release();
        loop {
            let note = self.next_of_all();
            let last = matches!(note, ExecNote::Ended(_) | ExecNote::Failed { .. });
            outcome.notes.push(note);
            if last {
                return outcome;
            }
        }
    }
}

pub fn run_spec(spec: RunSpec) -> Outcome {
    begin(spec, BTreeMap::new()).finish()
}

pub fn with_inputs(code: &str, policy: Policy, inputs: Vec<BoundInput>) -> RunSpec {
    RunSpec {
        inputs: inputs.into(),
        ..spec(code, policy)
    }
}

/// Returns a mark and code that names its processes by it. Forks inherit the name and anybody may
/// read it.
pub fn marked(code: &str) -> (String, String) {
    let mut random = [0u8; 5];
    getrandom::fill(&mut random).unwrap();
    let mark = format!("cs-{}", &Digest::of(&random).hex()[..10]);
    let code =
        format!("import ctypes, os\nctypes.CDLL(None).prctl(15, b'{mark}', 0, 0, 0)\n{code}");
    (mark, code)
}

/// Waits until no process carries the mark: the kernel needs a moment to end a process.
pub fn gone(mark: &str) {
    let deadline = std::time::Instant::now() + Duration::from_secs(120);
    while !processes_marked(mark).is_empty() {
        assert!(std::time::Instant::now() < deadline, "{mark} does not end");
        std::thread::yield_now();
    }
}

/// The processes between a payload and its dashboard, from the payload upwards.
pub fn helpers_of(payload: i32, dashboard: i32) -> Vec<i32> {
    let parent = |pid| crate::sandbox::procfs::stat(pid).unwrap().parent;
    let mut found = Vec::new();
    let mut pid = parent(payload);
    while pid != dashboard {
        assert!(pid > 1, "{payload} is not below {dashboard}");
        found.push(pid);
        pid = parent(pid);
    }
    found
}

/// The one of these processes that the dashboard started.
pub fn helper_of(payload: i32, dashboard: i32) -> i32 {
    helpers_of(payload, dashboard).pop().unwrap()
}

/// Processes that carry the mark.
pub fn processes_marked(mark: &str) -> Vec<i32> {
    crate::sandbox::procfs::pids()
        .unwrap()
        .into_iter()
        .filter(|pid| {
            // Compares the end of the name, because a run may put something before it.
            std::fs::read(format!("/proc/{pid}/comm"))
                .is_ok_and(|name| name.trim_ascii_end().ends_with(mark.as_bytes()))
        })
        .collect()
}

/// The targets of attacks, with a descriptor that stays open across an exec as a careless library
/// in the broker would leave it. Children of other tests may have it too, which is intended.
pub fn targets() -> crate::executor::tests::attack_table::Targets {
    static LEFT: OnceLock<i32> = OnceLock::new();
    let mut targets = crate::executor::tests::attack_table::Targets::new(std::process::id());
    targets.leaked = *LEFT.get_or_init(|| {
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        // Above every number that the helper and the payload use.
        nix::fcntl::fcntl(file, nix::fcntl::FcntlArg::F_DUPFD(700)).unwrap()
    });
    targets
}

/// Runs tests of this binary again as an unprivileged user. Only root can do that.
pub fn as_an_ordinary_user(tests: &[&str]) {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    // Without root, the suite already runs as an ordinary user.
    if !nix::unistd::Uid::effective().is_root() {
        return;
    }
    // Copies the binaries to where that user can reach them, next to each other as the build has
    // them.
    let folder = tempfile::Builder::new()
        .prefix("cs-user-")
        .tempdir()
        .unwrap();
    let all = std::fs::Permissions::from_mode(0o755);
    let deps = folder.path().join("deps");
    std::fs::create_dir(&deps).unwrap();
    let tests_binary = deps.join("tests");
    // Another process copies them: a file that this process has open for writing may still be open
    // in a child of another thread, and then it cannot be executed.
    for (from, to) in [
        (std::env::current_exe().unwrap(), tests_binary.clone()),
        (binary(), folder.path().join("countersign")),
    ] {
        let copied = Command::new("cp").arg(from).arg(to).status().unwrap();
        assert!(copied.success());
    }
    let temporary = folder.path().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    for path in [folder.path(), &deps] {
        std::fs::set_permissions(path, all.clone()).unwrap();
    }
    // A uid that nobody else uses, so that only its processes are counted.
    static USERS: AtomicU32 = AtomicU32::new(0);
    let user = std::process::id() * 4 + USERS.fetch_add(1, Ordering::Relaxed);
    let uid = 30_000 + user % 20_000;
    std::os::unix::fs::chown(&temporary, Some(uid), Some(uid)).unwrap();
    let output = Command::new(&tests_binary)
        .arg("--exact")
        .args(tests)
        // The tests share a user, and one of them uses up its processes.
        .args(["--nocapture", "--test-threads=1"])
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("TMPDIR", &temporary)
        .envs(std::env::var_os(VARIABLE).map(|_| (VARIABLE, OF_A_USER)))
        .current_dir("/")
        .uid(uid)
        .gid(uid)
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "as uid {uid}: {stdout}\n{stderr}");
    let passed = format!("{} passed", tests.len());
    assert!(stdout.contains(&passed), "as uid {uid}: {stdout}\n{stderr}");
    for line in stderr.lines().filter(|line| line.starts_with("skipped")) {
        crate::given::say(&format!("as uid {uid}: {line}"));
    }
}
