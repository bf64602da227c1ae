//! Attacks that only tier `kernel` stops, and code that must keep working in it.

use super::{TIER, run_spec};
use crate::executor::spec::RunSpec;
use crate::executor::tests::bench::*;

/// Evaluates each Python expression and prints its result on one line.
fn evaluate(setup: &str, expressions: &[&str]) -> Vec<String> {
    let list: String = expressions
        .iter()
        .map(|e| format!("tried(lambda: {e})\n"))
        .collect();
    let outcome = run_spec(spec(
        &format!(
            "import ctypes, errno, os, signal, socket, sys\n\
             C = ctypes.CDLL(None, use_errno=True)\n\
             def call(number, *args):\n\
             \x20   if C.syscall(number, *args) < 0:\n\
             \x20       raise OSError(ctypes.get_errno(), 'x')\n\
             def tried(f):\n\
             \x20   try:\n\
             \x20       f()\n\
             \x20       print('DONE')\n\
             \x20   except OSError as e:\n\
             \x20       print(errno.errorcode.get(e.errno, e.errno))\n\
             {setup}\n{list}"
        ),
        raw_policy(TIER),
    ));
    let run = outcome.run();
    assert_eq!(run.error, None, "{run:?}");
    run.stdout.lines().map(str::to_owned).collect()
}

/// Both may be read in one turn; nothing comes afterwards that a wait would end with.
#[test]
fn nobody_waits_for_a_runner_that_is_known_to_be_ready() {
    if !available(TIER) {
        return;
    }
    let spec = spec("print(1)", raw_policy(TIER));
    let waits = crate::executor::tests::look::waits_for_known_readiness(&spec, &exe());
    assert_eq!(waits.unwrap(), 0);
}

#[test]
fn every_layer_is_on() {
    if !available(TIER) {
        return;
    }
    let outcome = run_spec(spec("print(1)", raw_policy(TIER)));
    let layers = &outcome.isolation().layers;
    for layer in [
        "userns",
        "pidns",
        "netns",
        "ipcns",
        "utsns",
        "mntns",
        "cgroupns",
        "nocaps",
        "bounding",
        "no_new_privs",
        "seccomp",
        "rlimits",
    ] {
        assert!(
            layers.iter().any(|have| have == layer),
            "{layer}: {layers:?}"
        );
    }
    assert!(
        layers.iter().any(|l| l.starts_with("landlock:")),
        "{layers:?}"
    );
    // The page of a proposal has words for these.
    for layer in layers {
        let name = layer.split(':').next().unwrap_or_default();
        assert!(crate::child::LAYERS.contains(&name), "{layer}");
    }
}

#[test]
fn the_jail_contains_only_what_a_run_needs() {
    if !available(TIER) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "s").unwrap();
    let listener = std::os::unix::net::UnixListener::bind(folder.path().join("sock")).unwrap();
    let results = evaluate(
        &format!("secret = {secret:?}"),
        &[
            "open('/etc/passwd')",
            "open('/etc/shadow')",
            "open(secret)",
            "open('/root/.bash_history')",
            "open('/home')",
            "open('/run/x', 'w')",
            "open('/tmp/x', 'w')",
            "open('/var/tmp/x', 'w')",
            "open('/x', 'w')",
            "os.mkdir('/scratch2')",
            "os.mkdir('/dev/x')",
            "open('/dev/tty')",
            "open('/dev/kmsg')",
            "open('/dev/mem')",
            "open('/sys/kernel/mm')",
            "open('/proc/sys/kernel/core_pattern', 'w')",
            "open('/proc/sysrq-trigger', 'w')",
            "open('/proc/kcore', 'rb').read(1)",
            "open('/proc/1/environ', 'rb').read(1)",
            "open('/proc/1/mem', 'rb').read(1)",
            "os.listdir('/proc/1/fd')",
            "os.execv('/bin/sh', ['sh', '-c', 'true'])",
            "os.execv('/usr/bin/env', ['env'])",
            "os.open(sys.executable, os.O_WRONLY)",
            "open(os.path.dirname(os.__file__) + '/x.py', 'w')",
            "os.mknod('dev', 0o20600, os.makedev(1, 1))",
            "os.chown('.', 0, 0)",
        ],
    );
    drop(listener);
    for (at, result) in results.iter().enumerate() {
        assert!(
            ["ENOENT", "EACCES", "EPERM", "EROFS", "ENOTDIR"].contains(&result.as_str()),
            "number {at}: {result}"
        );
    }
}

/// The jail lacks what libraries read in `/proc` and `/sys`; they find another answer.
#[test]
fn libraries_that_measure_the_machine_work_in_the_jail() {
    if !available(TIER) {
        return;
    }
    let mut policy = raw_policy(TIER);
    policy.limits.memory_mb = 1024;
    let code = "import os, sys, multiprocessing, warnings\n\
        warnings.simplefilter('error')\n\
        print(os.cpu_count() == len(os.sched_getaffinity(0)) == multiprocessing.cpu_count())\n\
        import numpy as np, pandas as pd, scipy.linalg, sklearn, joblib, threadpoolctl, pyarrow\n\
        from sklearn.cluster import KMeans\n\
        x = np.arange(40.0).reshape(20, 2)\n\
        print(len(set(KMeans(2, n_init=1, random_state=0).fit_predict(x))))\n\
        print(joblib.cpu_count() >= 1, len(threadpoolctl.threadpool_info()) > 0, pyarrow.cpu_count() >= 1)\n\
        print(joblib.Parallel(2, backend='threading')(joblib.delayed(abs)(i) for i in (-1, -2)))\n\
        print(pd.Series([1.0, 2.0]).rolling(2).mean().iloc[1], scipy.linalg.det(np.eye(3)))\n\
        print(multiprocessing.get_context('fork').Value('i', 7).value)";
    let outcome = run_spec(RunSpec {
        env: pandas(),
        ..spec(code, policy)
    });
    let run = outcome.run();
    assert_eq!(
        run.stdout, "True\n2\nTrue True True\n[1, 2]\n1.5 1.0\n7\n",
        "{run:?}"
    );
}

#[test]
fn other_processes_cannot_be_seen_or_signalled() {
    if !available(TIER) {
        return;
    }
    let own_pid = std::process::id();
    let outcome = run_spec(spec(
        &format!(
            "import os, signal\n\
             pids = sorted(int(p) for p in os.listdir('/proc') if p.isdigit())\n\
             print(pids, os.getpid(), os.getppid())\n\
             signal.signal(15, signal.SIG_IGN)\n\
             for pid, number in (1, 9), (-1, 15), ({own_pid}, 0):\n\
             \x20   try: os.kill(pid, number)\n\
             \x20   except OSError as e: print(type(e).__name__)\n\
             print(os.uname().nodename)"
        ),
        raw_policy(TIER),
    ));
    let stdout: Vec<&str> = outcome.run().stdout.lines().collect();
    assert_eq!(stdout[0], "[1, 2] 2 1", "{outcome:?}");
    // Pid 1 ignores signals from inside; with Landlock scopes it cannot be reached either.
    assert_eq!(
        stdout[stdout.len() - 2],
        "ProcessLookupError",
        "{outcome:?}"
    );
    assert_eq!(stdout[stdout.len() - 1], "countersign");
}

#[test]
fn processes_are_counted_for_the_run_alone_and_exactly() {
    if !available(TIER) {
        return;
    }
    let mut policy = raw_policy(TIER);
    policy.limits.processes = 5;
    let outcome = run_spec(spec(
        "import os, time\n\
         n = 1\n\
         try:\n\
         \x20   while os.fork(): n += 1\n\
         \x20   time.sleep(60)\n\
         except OSError: print(n)",
        policy,
    ));
    assert_eq!(outcome.run().stdout, "5\n", "{outcome:?}");
}

#[test]
fn written_data_is_bounded_in_total() {
    if !available(TIER) {
        return;
    }
    let mut policy = raw_policy(TIER);
    policy.limits.file_size_mb = 8;
    let outcome = run_spec(spec(
        "for i in range(999):\n    with open(f'f{i}', 'wb') as f: f.write(bytes(4 << 20))",
        policy.clone(),
    ));
    let run = outcome.run();
    assert_eq!(run.limit, Some(crate::model::LimitKind::Files), "{run:?}");
    let outcome = run_spec(spec(
        "for i in range(99999): open(f'f{i}', 'w').close()",
        policy,
    ));
    let error = outcome.run().error.clone().unwrap();
    assert!(error.message.contains("No space left"), "{error:?}");
}

#[test]
fn a_payload_starts_no_program_not_even_its_own() {
    if !available(TIER) {
        return;
    }
    let outcome = run_spec(spec(
        "import errno, os, subprocess, sys\n\
         own = [sys.executable, '-c', '0']\n\
         held = os.open(sys.executable, os.O_RDONLY)\n\
         for start in (\n\
         \x20   lambda: os.execv(sys.executable, own),\n\
         \x20   lambda: os.execve(held, own, {}),\n\
         \x20   lambda: os.posix_spawn(sys.executable, own, {}),\n\
         \x20   lambda: subprocess.run(own),\n\
         ):\n\
         \x20   try: start()\n\
         \x20   except OSError as e: print(errno.errorcode[e.errno])",
        raw_policy(TIER),
    ));
    assert_eq!(outcome.run().stdout, "EPERM\n".repeat(4), "{outcome:?}");
    assert!(has_noexec(&outcome), "{:?}", outcome.isolation());
}

fn has_noexec(outcome: &Outcome) -> bool {
    outcome
        .isolation()
        .layers
        .iter()
        .any(|layer| layer == "noexec")
}

/// The runner installs the last program through ctypes.
#[test]
fn a_python_without_ctypes_lacks_noexec_but_confines_what_it_starts() {
    if !available(TIER) {
        return;
    }
    let (_folder, env) = without_ctypes();
    let mut spec = spec(
        "import os, sys\n\
         os.execv(sys.executable, [sys.executable, '-I', '-S', '-c',\n\
         'import socket\\ntry: socket.socket()\\nexcept OSError as e: print(e.errno)\\n'\n\
         'print([l for l in open(\"/proc/self/status\") if l.startswith((\"Seccomp:\", \"CapEff\"))])'])",
        raw_policy(TIER),
    );
    spec.env = env;
    let outcome = run_spec(spec);
    assert_eq!(
        outcome.run().stdout,
        "1\n['CapEff:\\t0000000000000000\\n', 'Seccomp:\\t2\\n']\n",
        "{outcome:?}"
    );
    assert!(!has_noexec(&outcome), "{:?}", outcome.isolation());
}

#[test]
fn figures_work() {
    if !available(TIER) {
        return;
    }
    let env = pandas();
    let mut policy = raw_policy(TIER);
    policy.limits.memory_mb = 1024;
    let mut spec = spec(
        "import matplotlib.pyplot as plt\n\
         figure, axes = plt.subplots()\n\
         axes.plot([1, 3, 2])\n\
         axes.set_title('figure')\n\
         figure.savefig('figure.png')\n\
         print(open('figure.png', 'rb').read(8))",
        policy,
    );
    spec.env = env;
    let outcome = run_spec(spec);
    let run = outcome.run();
    assert_eq!(run.error, None, "{}", run.stderr);
    assert_eq!(run.stdout, "b'\\x89PNG\\r\\n\\x1a\\n'\n");
}

#[test]
fn pandas_works() {
    if !available(TIER) {
        return;
    }
    let env = pandas();
    let mut policy = raw_policy(TIER);
    policy.limits.memory_mb = 1024;
    let mut spec = spec(
        "import numpy as np, pandas as pd\n\
         df = pd.DataFrame({'g': list('ab') * 5000, 'v': np.arange(10000)})\n\
         print(df.groupby('g')['v'].sum().to_dict())\n\
         print(np.linalg.inv(np.eye(3)).trace(), np.dot(np.ones((500, 500)), np.ones((500, 500))).sum())\n\
         df.to_csv('x.csv'); print(len(pd.read_csv('x.csv')))\n\
         print(pd.date_range('2024-01-01', periods=2, tz='Europe/Berlin')[0])",
        policy,
    );
    spec.env = env;
    let outcome = run_spec(spec);
    let run = outcome.run();
    assert_eq!(run.error, None, "{}", run.stderr);
    assert_eq!(
        run.stdout,
        "{'a': 24995000, 'b': 25000000}\n3.0 125000000.0\n10000\n2024-01-01 00:00:00+01:00\n"
    );
}

#[test]
fn a_guarded_snippet_has_its_table() {
    if !available(TIER) {
        return;
    }
    let env = pandas();
    let requests = serde_json::from_value(serde_json::json!({
        "df": {"text": "g,v\na,1\nb,2\na,3\n", "format": "csv"}
    }))
    .unwrap();
    let inputs = crate::executor::bind(&requests, &Default::default()).unwrap();
    let mut policy = policy(TIER);
    policy.limits.memory_mb = 1024;
    let mut spec = with_inputs("df.groupby('g')['v'].sum().reset_index()", policy, inputs);
    spec.env = env;
    let outcome = run_spec(spec);
    let run = outcome.run();
    assert_eq!(run.error, None, "{run:?}");
    assert_eq!(
        run.result["value"],
        serde_json::json!({"kind": "DataFrame", "shape": [2, 2], "index": [0, 1],
            "index_names": [null], "columns": ["g", "v"], "rows": [["a", 4], ["b", 2]]})
    );
}
