use std::time::Instant;

use super::*;

/// The first usable Python on PATH; a machine that runs the tests has one.
fn any_python() -> PathBuf {
    ["python3", "python3.11", "python3.12", "python3.13"]
        .iter()
        .find_map(|name| {
            std::env::split_paths(&std::env::var_os("PATH")?)
                .map(|dir| dir.join(name))
                .find(|p| p.is_file() && probe(p).is_ok())
        })
        .expect("a Python 3.11 or later on PATH")
}

fn script(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    super::super::testing::executable(&path, text);
    path
}

#[test]
fn a_python_describes_itself_by_real_paths() {
    let env = probe(&any_python()).unwrap();
    assert_eq!(env.executable, env.executable.canonicalize().unwrap());
    assert!((env.version.0, env.version.1) >= OLDEST);
    assert!(env.sys_path.iter().any(|p| p.join("os.py").is_file()));
    assert!(env.sys_path.iter().any(|p| p.ends_with("lib-dynload")));
    // An ELF file, not a script.
    let head = std::fs::read(&env.executable).unwrap();
    assert_eq!(&head[..4], b"\x7fELF");
    assert_eq!(probe(&env.executable).unwrap().version, env.version);
}

#[test]
fn a_shim_leads_to_the_interpreter_itself() {
    let dir = tempfile::tempdir().unwrap();
    let real = probe(&any_python()).unwrap();
    let shim = script(
        dir.path(),
        "python3",
        &format!("#!/bin/sh\nexec {} \"$@\"\n", real.executable.display()),
    );
    assert_eq!(probe(&shim).unwrap(), probe(&real.executable).unwrap());
}

/// Distributions change where packages are, and an environment must be found under each.
#[test]
fn every_python_of_this_machine_finds_its_environment_s_packages() {
    let dir = tempfile::tempdir().unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for python in std::env::split_paths(&path)
        .flat_map(|d| ["python3", "python3.11", "python3.12", "python3.13"].map(|n| d.join(n)))
        .filter(|p| p.is_file())
    {
        let Ok(base) = probe(&python) else { continue };
        if !seen.insert(base.executable.clone()) {
            continue;
        }
        let venv = dir.path().join(seen.len().to_string());
        let created = Command::new(&base.executable)
            .args(["-I", "-m", "venv", "--without-pip"])
            .arg(&venv)
            .output()
            .unwrap();
        if !created.status.success() {
            continue;
        }
        let env = probe(&venv.join("bin/python")).unwrap();
        let answer = Command::new(venv.join("bin/python"))
            .args(["-I", "-c", "import sys; print(sys.path[-1])"])
            .output()
            .unwrap();
        let last = String::from_utf8(answer.stdout).unwrap();
        let last = Path::new(last.trim()).canonicalize().unwrap();
        assert_eq!(env.sys_path.last(), Some(&last), "{}", python.display());
        assert_eq!(env.distributions, [], "{}", python.display());
    }
    assert!(!seen.is_empty());
}

#[test]
fn a_relative_path_is_resolved_and_a_bare_name_is_searched() {
    let python = any_python();
    let folder = std::env::current_dir().unwrap();
    let up: PathBuf = folder.components().skip(1).map(|_| "..").collect();
    let relative = up.join(python.strip_prefix("/").unwrap());
    assert_eq!(probe(&relative).unwrap(), probe(&python).unwrap());
    let name = PathBuf::from(python.file_name().unwrap());
    assert_eq!(probe(&name).unwrap(), probe(&python).unwrap());
}

#[test]
fn an_environment_is_probed_through_its_link_without_running_its_code() {
    let dir = tempfile::tempdir().unwrap();
    let real = probe(&any_python()).unwrap();
    let venv = dir.path().join("env");
    let created = Command::new(&real.executable)
        .args(["-I", "-m", "venv", "--without-pip"])
        .arg(&venv)
        .status()
        .unwrap();
    assert!(created.success());
    let (a, b, _) = real.version;
    let site = venv.join(format!("lib/python{a}.{b}/site-packages"));
    let trace = dir.path().join("ran");
    std::fs::write(
        site.join("evil.pth"),
        format!("import os; open({:?}, 'w')\n", trace.display().to_string()),
    )
    .unwrap();
    let info = site.join("My_Thing-1.2.dist-info");
    std::fs::create_dir(&info).unwrap();
    std::fs::write(info.join("METADATA"), "Name: My_Thing\nVersion: 1.2\n").unwrap();

    let env = probe(&venv.join("bin/python")).unwrap();
    assert_eq!(env.executable, real.executable);
    assert_eq!(env.base_prefix, real.base_prefix);
    assert_eq!(env.prefix, venv.canonicalize().unwrap());
    assert_eq!(env.sys_path.last().unwrap(), &site.canonicalize().unwrap());
    assert_eq!(
        env.distributions,
        [("my-thing".to_owned(), "1.2".to_owned())]
    );
    assert!(!trace.exists(), "a .pth file ran");

    // The digest covers the installed distributions and their installers' records.
    std::fs::write(info.join("RECORD"), "my_thing.py,sha256=abc,1\n").unwrap();
    assert_ne!(probe(&venv.join("bin/python")).unwrap().digest, env.digest);
}

#[test]
fn an_unusable_python_is_refused_with_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let answer = r#"{"implementation":"cpython","version":[3,9,1],"full_version":"x","executable":"/bin/true"}"#;
    let pypy = answer.replace("cpython", "pypy");
    let own = dir.path().join("python3").display().to_string();
    let wrapper = serde_json::json!({
        "implementation": "cpython", "version": [3, 12, 1], "full_version": "x", "executable": own,
        "base_prefix": "/usr", "prefix": "/usr", "sys_path": ["/usr"], "site_packages": [],
        "distributions": [], "venv": true, "ensurepip": true, "pip": true,
    });
    let cut = answer.replace("[3,9,1]", "[3,12,1]");
    for (body, expected) in [
        ("kill -SEGV $$".to_owned(), "signal SIGSEGV"),
        (
            "echo 'no module named encodings' >&2; exit 1".to_owned(),
            "encodings",
        ),
        ("echo hello".to_owned(), "it said: hello"),
        (
            "printf 'a\\033]0;x\\007'".to_owned(),
            "did not answer as Python",
        ),
        ("true".to_owned(), "it said nothing"),
        ("yes".to_owned(), "does not stop talking"),
        (format!("echo '{answer}'"), "is Python 3.9.1; 3.11 or later"),
        (format!("echo '{pypy}'"), "CPython 3.11 or later"),
        (format!("echo '{cut}'"), "lacks a part"),
        (format!("echo '{wrapper}'"), "is a script"),
    ] {
        let python = script(dir.path(), "python3", &format!("#!/bin/sh\n{body}\n"));
        let error = probe(&python).unwrap_err().to_string();
        assert!(error.contains(expected), "{body}: {error}");
        assert!(!error.contains('\x1b'), "raw escape: {error:?}");
    }
    let absent = probe(&dir.path().join("none")).unwrap_err().to_string();
    assert!(absent.contains("cannot be started") && absent.contains("--python"));
    let folder = probe(dir.path()).unwrap_err().to_string();
    assert!(folder.contains("cannot be started"), "{folder}");
}

#[test]
fn a_python_that_hangs_is_killed_with_its_children() {
    let dir = tempfile::tempdir().unwrap();
    let pid_file = dir.path().join("pid");
    // One keeps its output open, one closes it, one leaves a child that keeps it open.
    for body in [
        "echo $$ > PID; sleep 1000",
        "echo $$ > PID; exec >&- 2>&-; sleep 1000",
        "sleep 1000 & echo $! > PID; exit 0",
    ] {
        let body = body.replace("PID", &pid_file.display().to_string());
        let python = script(dir.path(), "python3", &format!("#!/bin/sh\n{body}\n"));
        // Retries until the script had time to write its pid: a busy machine may need a second try.
        let pid = [600, 5_000, 30_000].into_iter().find_map(|patience| {
            let error = examine_within(&python, Duration::from_millis(patience)).unwrap_err();
            assert!(matches!(error, RuntimeError::TimedOut { .. }), "{error}");
            let text = std::fs::read_to_string(&pid_file).ok()?;
            text.ends_with('\n').then_some(text)
        });
        let pid = pid.expect("the pid is written within half a minute");
        std::fs::remove_file(&pid_file).unwrap();
        // A killed grandchild does not die at once.
        let deadline = Instant::now() + Duration::from_secs(120);
        while is_running(pid.trim()) {
            assert!(Instant::now() < deadline, "the process still runs: {body}");
            std::thread::yield_now();
        }
    }
}

/// Whether the process exists and is not a zombie.
fn is_running(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|s| !s.contains(" Z "))
}
