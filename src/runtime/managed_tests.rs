use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicU32, Ordering};

use super::super::testing::{data_dir, executable, managed_env};
use super::*;

/// A base with a real `venv` and this shell script as pip, where `$REQ` is the lock file and `$ENV`
/// the new environment.
fn base(dir: &Path, pip: &str) -> Probed {
    let mut probed = find_base().unwrap();
    let real = probed.env.executable.display().to_string();
    let script = dir.join("python3");
    let text = format!(
        "#!/bin/sh\n\
         case \"$*\" in\n\
         *'-m venv'*) exec {real} \"$@\" ;;\n\
         *'-m pip'*) for REQ; do :; done; ENV=${{REQ%/*}}\n{pip}\n;;\n\
         esac\n"
    );
    executable(&script, &text);
    probed.env.executable = script;
    // Makes the base's pip do the work.
    probed.can.ensurepip = false;
    // No test needs the machine's uv.
    probed.uv = None;
    probed
}

/// Leaves the same traces of each package as an installation, without the packages.
const INSTALLS: &str = "
echo 'Installing collected packages: all'
sed -n 's/^\\([a-z0-9][^=]*\\)==\\([^ ]*\\).*/\\1 \\2/p' $REQ | while read name version; do
  info=$(echo $ENV/lib/python3*/site-packages)/$name-$version.dist-info
  mkdir -p $info
  printf 'Name: %s\\nVersion: %s\\n' $name $version > $info/METADATA
done";

/// The same base with this shell script as uv.
fn with_uv(dir: &Path, uv: &str, pip: &str) -> Probed {
    let mut probed = base(dir, pip);
    let script = dir.join("uv");
    executable(
        &script,
        &format!("#!/bin/sh\necho \"uv $*\"\nfor REQ; do :; done; ENV=${{REQ%/*}}\n{uv}\n"),
    );
    probed.uv = Some(script);
    probed
}

fn entries(dir: &Path) -> Vec<String> {
    fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn the_environment_is_made_once_reused_and_contains_the_locked_packages() {
    let env = managed_env();
    assert_eq!(missing(&env), None);
    assert!(env.sys_path.iter().any(|p| p.join("os.py").is_file()));
    assert!(env.sys_path.iter().any(|p| p.join("pandas").is_dir()));
    let managed = Managed::at(&data_dir());
    assert_eq!(managed.ready().as_ref(), Some(&env));
    let mut steps = 0;
    assert_eq!(managed.make(&mut |_| steps += 1).unwrap(), env);
    assert_eq!(steps, 0, "the environment was made again");
    // The stamp agrees with the interpreter.
    assert_eq!(examine(&env.prefix.join("bin/python")).unwrap().env, env);
}

#[test]
fn no_package_declares_the_gpl() {
    let env = managed_env();
    let folder = env.sys_path.iter().find(|p| p.join("pandas").is_dir());
    let folder = folder.unwrap();
    let mut looked_at = 0;
    for name in entries(folder) {
        let Ok(text) = fs::read_to_string(folder.join(&name).join("METADATA")) else {
            continue;
        };
        looked_at += 1;
        let headers = text.lines().take_while(|line| !line.is_empty());
        let mut licences = headers.filter(|line| {
            ["License:", "License-Expression:", "Classifier: License ::"]
                .iter()
                .any(|key| line.starts_with(key))
        });
        let is_gpl = |line: &str| line.contains("GPL") || line.contains("General Public License");
        assert_eq!(licences.find(|line| is_gpl(line)), None, "{name}");
    }
    assert!(looked_at >= lock::packages().len(), "{looked_at}");
}

#[test]
fn concurrent_setups_make_one_environment() {
    let dir = tempfile::tempdir().unwrap();
    let count = AtomicU32::new(0);
    let managed = Managed::at(&dir.path().join("data"));
    let one = || {
        managed
            .make_with(&mut |_| {}, || {
                count.fetch_add(1, Ordering::SeqCst);
                Ok(base(dir.path(), INSTALLS))
            })
            .unwrap()
    };
    let (a, b) = std::thread::scope(|s| {
        let other = s.spawn(one);
        (one(), other.join().unwrap())
    });
    assert_eq!(a, b);
    assert_eq!(count.load(Ordering::SeqCst), 1);
    assert_eq!(managed.ready(), Some(a));
    assert!(!entries(&managed.root).iter().any(|n| n.starts_with('.')));
}

#[test]
fn an_environment_that_changed_is_not_ready_and_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let managed = Managed::at(dir.path());
    let make = || {
        managed
            .make_with(&mut |_| {}, || Ok(base(dir.path(), INSTALLS)))
            .unwrap()
    };
    let env = make();
    let site = env.sys_path.last().unwrap();
    let stamp = env.prefix.join("countersign.json");
    let whole = fs::read(&stamp).unwrap();
    let root = fs::Permissions::from_mode(0o755);
    let changes: [(&str, &dyn Fn()); 5] = [
        ("a package more", &|| {
            fs::create_dir(site.join("evil-1.dist-info")).unwrap();
        }),
        ("no stamp", &|| fs::remove_file(&stamp).unwrap()),
        ("half a stamp", &|| {
            fs::write(&stamp, &whole[..whole.len() / 2]).unwrap();
        }),
        ("another lock file", &|| {
            let text = String::from_utf8(whole.clone()).unwrap();
            let other = text.replace(&lock::digest().hex(), &"0".repeat(64));
            fs::write(&stamp, other).unwrap();
        }),
        ("a stamp anybody can write", &|| {
            fs::set_permissions(&stamp, fs::Permissions::from_mode(0o666)).unwrap();
        }),
    ];
    for (what, change) in changes {
        assert!(managed.ready().is_some(), "before {what}");
        change();
        assert_eq!(managed.ready(), None, "{what}");
        make();
    }
    fs::set_permissions(&managed.root, fs::Permissions::from_mode(0o775)).unwrap();
    assert_eq!(managed.ready(), None, "a folder that others can write");
    fs::set_permissions(&managed.root, root).unwrap();
    assert!(managed.ready().is_some());
}

#[test]
fn leftovers_of_an_interrupted_setup_are_removed_and_never_used() {
    let dir = tempfile::tempdir().unwrap();
    let managed = Managed::at(dir.path());
    let environment = managed
        .make_with(&mut |_| {}, || Ok(base(dir.path(), INSTALLS)))
        .unwrap();
    let leftover = managed.root.join(".making-1");
    fs::rename(&environment.prefix, &leftover).unwrap();
    assert_eq!(managed.ready(), None);
    managed
        .make_with(&mut |_| {}, || Ok(base(dir.path(), INSTALLS)))
        .unwrap();
    assert!(!leftover.exists());
}

/// An environment as another version of this program left it.
fn make_other_version(managed: &Managed, dir: &Path) -> PathBuf {
    let current = managed
        .make_with(&mut |_| {}, || Ok(base(dir, INSTALLS)))
        .unwrap();
    let name = current.prefix.file_name().unwrap().to_str().unwrap();
    let old = managed
        .root
        .join(name.replace(&lock::digest().short(12), "0123456789ab"));
    fs::rename(&current.prefix, &old).unwrap();
    let stamp = old.join("countersign.json");
    let text = fs::read_to_string(&stamp).unwrap();
    let (here, there) = (current.prefix.to_str().unwrap(), old.to_str().unwrap());
    let text = text
        .replace(&lock::digest().hex(), &"0".repeat(64))
        .replace(here, there)
        .replace("\"openpyxl\"", "\"xlrd\"");
    fs::write(&stamp, text).unwrap();
    old
}

#[test]
fn an_environment_of_another_version_is_replaced_unless_it_is_in_use() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().canonicalize().unwrap();
    let managed = Managed::at(&data);
    let old = make_other_version(&managed, dir.path());
    let broken = managed.root.join("ffffffffffff-3.11.7");
    fs::create_dir(&broken).unwrap();
    let unrelated = managed.root.join("mine");
    fs::create_dir(&unrelated).unwrap();
    assert_eq!(managed.ready(), None);
    let other = managed.other().unwrap();
    assert_eq!(other.prefix, old);

    // An environment in use stays; several users may hold it.
    let held = [
        Managed::hold(&other).unwrap(),
        Managed::hold(&other).unwrap(),
    ];
    let mut steps = Vec::new();
    let make = |steps: &mut Vec<String>| {
        managed
            .make_with(&mut |p| steps.push(p.step), || {
                Ok(base(dir.path(), INSTALLS))
            })
            .unwrap()
    };
    let new = make(&mut steps);
    assert!(steps[0].contains("another version"), "{steps:?}");
    assert!(old.is_dir() && !broken.exists() && unrelated.is_dir());
    assert_eq!(managed.ready().as_ref(), Some(&new));

    drop(held);
    fs::remove_file(new.prefix.join("countersign.json")).unwrap();
    let new = make(&mut steps);
    assert!(!old.exists() && unrelated.is_dir());
    assert_eq!((managed.other(), managed.ready()), (None, Some(new)));
    assert!(!entries(&managed.root).iter().any(|n| n.starts_with('.')));
}

#[test]
fn the_old_environment_stays_without_a_network_and_the_error_names_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().canonicalize().unwrap();
    let managed = Managed::at(&data);
    let old = make_other_version(&managed, dir.path());
    let offline = "echo 'NewConnectionError' >&2; exit 1";
    let error = managed
        .make_with(&mut |_| {}, || Ok(base(dir.path(), offline)))
        .unwrap_err()
        .to_string();
    let python = old.join("bin/python");
    for expected in [
        "lacks openpyxl.",
        "cannot be downloaded",
        &format!("--python {}", python.display()),
    ] {
        assert!(error.contains(expected), "{expected}: {error}");
    }
    assert!(examine(&python).is_ok());
    assert!(managed.other().is_some());
}

#[test]
fn a_failure_names_its_remedy_keeps_pip_s_output_and_leaves_nothing_behind() {
    for (pip, expected) in [
        (
            "echo 'OSError: [Errno 28] No space left on device' >&2; exit 1",
            "free some space",
        ),
        (
            "echo 'THESE PACKAGES DO NOT MATCH THE HASHES' >&2; exit 1",
            "SHA-256 differs",
        ),
        ("echo 'NewConnectionError' >&2; exit 1", "HTTPS_PROXY"),
        (
            "echo '  Using cached cycler-1.whl'; echo 'No matching distribution found for numpy==2.4.6'; exit 1",
            "prebuilt package of numpy",
        ),
        ("printf 'oh \\033[31mno\\n'; kill -9 $$", "signal SIGKILL"),
        ("exit 0", "pip config list"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let managed = Managed::at(dir.path());
        let error = managed
            .make_with(&mut |_| {}, || Ok(base(dir.path(), pip)))
            .unwrap_err();
        let text = error.to_string();
        assert!(text.contains(expected), "{pip}: {text}");
        assert!(!text.contains('\x1b'), "{text:?}");
        if !matches!(error, RuntimeError::DiskFull { .. }) {
            let log = managed.root.join("setup.log");
            assert!(text.contains(&log.display().to_string()), "{text}");
            assert!(log.is_file());
        }
        assert_eq!(managed.ready(), None);
        let remaining = entries(&managed.root);
        assert!(
            remaining.iter().all(|n| n == "lock" || n == "setup.log"),
            "{remaining:?}"
        );
    }
}

#[test]
fn uv_installs_where_it_is_there_and_pip_where_uv_fails() {
    let cached = format!("mkdir -p $ENV/.uv-cache/x; {INSTALLS}");
    for (uv, pip, installed_by) in [
        (cached.as_str(), "exit 1", Some("uv")),
        (
            "echo 'error: Failed to fetch' >&2; exit 2",
            INSTALLS,
            Some("pip"),
        ),
        ("kill -9 $$", INSTALLS, Some("pip")),
        // Nobody asks pip for a package that was not the locked one.
        (
            "echo 'Hash mismatch for `numpy`' >&2; exit 1",
            INSTALLS,
            None,
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let managed = Managed::at(&dir.path().join("data"));
        let mut steps = Vec::new();
        let made = managed.make_with(&mut |p| steps.push(p), || Ok(with_uv(dir.path(), uv, pip)));
        let log = fs::read_to_string(managed.root.join("setup.log")).unwrap();
        assert!(log.contains("--require-hashes"), "{uv}: {log}");
        let changed = steps.iter().any(|p| p.step.contains("pip installs"));
        assert!(
            steps.windows(2).all(|w| w[0].done <= w[1].done),
            "{steps:?}"
        );
        match installed_by {
            Some(by) => {
                let env = made.unwrap();
                assert_eq!(changed, by == "pip", "{uv}: {steps:?}");
                assert_eq!(log.contains("; pip installs"), by == "pip", "{log}");
                assert!(!env.prefix.join(".uv-cache").exists());
                assert!(fs::read_to_string(env.prefix.join("requirements.lock")).is_ok());
            }
            None => {
                let error = made.unwrap_err();
                assert!(matches!(error, RuntimeError::Hash { .. }), "{error}");
                assert!(!changed, "{steps:?}");
            }
        }
    }
}

#[test]
fn a_folder_that_others_can_write_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let managed = Managed::at(dir.path());
    fs::create_dir(&managed.root).unwrap();
    fs::set_permissions(&managed.root, fs::Permissions::from_mode(0o777)).unwrap();
    let error = managed.make(&mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("could change what runs"), "{error}");
    fs::remove_dir(&managed.root).unwrap();
    fs::write(&managed.root, "").unwrap();
    let error = managed.make(&mut |_| {}).unwrap_err().to_string();
    assert!(error.contains("cannot be created"), "{error}");
}
