use std::fs::{self, File, FileTimes};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::*;

/// An environment of a few files: interpreter, standard library, packages.
struct Tree {
    dir: tempfile::TempDir,
}

impl Tree {
    fn new() -> Self {
        let tree = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        for (path, text) in [
            ("base/bin/python", "ELF"),
            ("base/lib/python3.11/os.py", "import sys\n"),
            ("base/lib/python3.11/__pycache__/os.cpython-311.pyc", "code"),
            (
                "base/lib/python3.11/site-packages/other/__init__.py",
                "somebody else's\n",
            ),
            (
                "env/lib/python3.11/site-packages/pkg/__init__.py",
                "answer = 1\n",
            ),
            (
                "env/lib/python3.11/site-packages/pkg/fast.so",
                "machine code",
            ),
            (
                "env/lib/python3.11/site-packages/pkg/data/table.csv",
                "a,b\n",
            ),
            (
                "env/lib/python3.11/site-packages/pkg_old/__init__.py",
                "answer = 2\n",
            ),
        ] {
            tree.write(path, text);
        }
        symlink("pkg/data", tree.site("shortcut")).unwrap();
        tree
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn site(&self, path: &str) -> PathBuf {
        self.at("env/lib/python3.11/site-packages").join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    fn env(&self) -> PythonEnv {
        PythonEnv {
            executable: self.at("base/bin/python"),
            version: (3, 11, 0),
            base_prefix: self.at("base"),
            prefix: self.at("env"),
            sys_path: vec![
                self.at("base/lib/python3.11"),
                self.at("env/lib/python3.11/site-packages"),
            ],
            distributions: Vec::new(),
            digest: Digest::of(b"asked"),
        }
    }

    fn cache(&self) -> PathBuf {
        self.at("cache")
    }

    /// Reads its current contents.
    fn measured(&self) -> Measured {
        Measured::of(self.env(), &self.cache(), &mut |_| {}).unwrap()
    }
}

impl Measured {
    /// Whether the next answer comes from the watch, without looking at every file.
    fn is_watched(&self) -> bool {
        self.last.lock().unwrap().holds()
    }
}

/// Measures the tree, applies the change, and returns the named change and whether the new contents
/// have another digest.
fn measure_change(change: impl FnOnce(&Tree)) -> (Option<String>, bool) {
    let tree = Tree::new();
    let before = tree.measured();
    assert_eq!(before.change(), None);
    change(&tree);
    let named = before.change().map(|change| change.to_string());
    (named, tree.measured().env.digest != before.env.digest)
}

fn assert_named(name: &str, change: impl FnOnce(&Tree)) {
    assert_eq!(measure_change(change), (Some(name.to_owned()), true));
}

#[test]
fn a_changed_file_with_its_old_size_and_time_is_detected() {
    assert_named(
        "lib/python3.11/site-packages/pkg/__init__.py was changed",
        |tree| {
            let path = tree.site("pkg/__init__.py");
            let modified = fs::metadata(&path).unwrap().modified().unwrap();
            fs::write(&path, "answer = 7\n").unwrap();
            let times = FileTimes::new().set_modified(modified);
            File::options()
                .write(true)
                .open(&path)
                .unwrap()
                .set_times(times)
                .unwrap();
            assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), modified);
        },
    );
}

#[test]
fn a_replaced_library_is_detected() {
    assert_named(
        "lib/python3.11/site-packages/pkg/fast.so was changed",
        |tree| {
            let new = tree.site("pkg/new");
            fs::write(&new, "machine evil").unwrap();
            fs::rename(new, tree.site("pkg/fast.so")).unwrap();
        },
    );
}

#[test]
fn any_new_file_is_detected() {
    for (path, name) in [
        (
            "numpy.py",
            "lib/python3.11/site-packages/numpy.py was added",
        ),
        ("x.pth", "lib/python3.11/site-packages/x.pth was added"),
        (
            "pkg/__pycache__/__init__.cpython-311.pyc",
            "lib/python3.11/site-packages/pkg/__pycache__/__init__.cpython-311.pyc was added, \
             lib/python3.11/site-packages/pkg/__pycache__ was added",
        ),
    ] {
        assert_named(name, |tree| {
            fs::create_dir_all(tree.site(path).parent().unwrap()).unwrap();
            fs::write(tree.site(path), "x").unwrap();
        });
    }
}

#[test]
fn a_removed_file_is_detected() {
    assert_named("lib/python3.11/os.py is gone", |tree| {
        fs::remove_file(tree.at("base/lib/python3.11/os.py")).unwrap();
    });
}

/// The watch follows names, and this name is not watched.
#[test]
fn a_change_through_another_name_is_detected() {
    let tree = Tree::new();
    let other = tree.at("other-name.py");
    fs::hard_link(tree.site("pkg/__init__.py"), &other).unwrap();
    let before = tree.measured();
    assert_eq!(before.change(), None);
    assert!(before.is_watched());
    fs::write(&other, "answer = 7\n").unwrap();
    assert_eq!(
        before.change().unwrap().to_string(),
        "lib/python3.11/site-packages/pkg/__init__.py was changed"
    );
}

#[test]
fn a_swapped_environment_is_detected() {
    let tree = Tree::new();
    for path in ["env", "env/lib/python3.11"] {
        let before = tree.measured();
        assert_eq!(before.change(), None);
        assert!(before.is_watched());
        let (original, moved) = (tree.at(path), tree.at("away"));
        fs::rename(&original, &moved).unwrap();
        assert!(before.change().unwrap().to_string().contains("is gone"));
        fs::rename(&moved, &original).unwrap();
    }
}

/// One look at every file is enough for the next minute, but not longer.
#[test]
fn an_untouched_environment_is_checked_once() {
    let tree = Tree::new();
    let before = tree.measured();
    assert!(!before.is_watched(), "reading alone must not start a watch");
    assert_eq!(before.look(), None);
    assert!(before.is_watched());
    // Reading is not a change.
    fs::read(tree.site("pkg/__init__.py")).unwrap();
    fs::read_dir(tree.site("pkg")).unwrap().for_each(drop);
    assert!(before.is_watched());
    // Changes and restores the file; only its change time differs, which nobody can set.
    let mode = fs::metadata(tree.site("pkg")).unwrap().permissions();
    fs::set_permissions(tree.site("pkg"), mode).unwrap();
    assert!(!before.is_watched());
    assert_eq!(
        before.change(),
        None,
        "the mode of a folder is not compared"
    );
    assert!(before.is_watched());
    let Last::Watched(then, watch) =
        std::mem::replace(&mut *before.last.lock().unwrap(), Last::None)
    else {
        unreachable!()
    };
    let old = then.checked_sub(LOOK_HOLDS).unwrap();
    assert!(!Last::Watched(old, watch).holds());
}

#[test]
fn an_unwatchable_environment_is_checked_each_time() {
    let tree = Tree::new();
    let before = tree.measured();
    *before.last.lock().unwrap() = Last::Unwatchable;
    assert_eq!((before.look(), before.change()), (None, None));
    assert!(!before.is_watched());
    fs::write(tree.site("pkg/__init__.py"), "answer = 7\n").unwrap();
    assert!(before.change().is_some());
    // This file system is synthetic and reports no changes.
    let table = walk(&Places {
        roots: vec!["/proc/self/fdinfo".into()],
        imported: Vec::new(),
        libraries: Vec::new(),
    });
    let error = Watch::over(&before.places, &table.unwrap()).unwrap_err();
    assert!(error.contains("fdinfo cannot be watched"), "{error}");
}

/// No file in them was touched, but their names now refer to other files.
#[test]
fn swapped_folders_are_detected() {
    assert_named(
        "lib/python3.11/site-packages/pkg/__init__.py was changed, \
         lib/python3.11/site-packages/pkg/data/table.csv is gone, \
         lib/python3.11/site-packages/pkg/fast.so is gone, and 5 more",
        |tree| {
            let (one, other, aside) = (tree.site("pkg"), tree.site("pkg_old"), tree.site("aside"));
            fs::rename(&one, &aside).unwrap();
            fs::rename(&other, &one).unwrap();
            fs::rename(&aside, &other).unwrap();
        },
    );
}

#[test]
fn a_retargeted_link_is_detected() {
    assert_named(
        "lib/python3.11/site-packages/shortcut was changed",
        |tree| {
            fs::remove_file(tree.site("shortcut")).unwrap();
            symlink("pkg_old", tree.site("shortcut")).unwrap();
        },
    );
}

#[test]
fn a_change_behind_a_link_is_detected() {
    let tree = Tree::new();
    tree.write("elsewhere/real.py", "x = 1\n");
    symlink(tree.at("elsewhere/real.py"), tree.site("linked.py")).unwrap();
    let before = tree.measured();
    assert_eq!(before.change(), None);
    tree.write("elsewhere/real.py", "x = 2\n");
    assert_eq!(before.change().unwrap().to_string(), "real.py was changed");
    assert_ne!(before.env.digest, tree.measured().env.digest);
}

#[test]
fn a_changed_interpreter_is_detected() {
    assert_named("bin/python was changed", |tree| {
        fs::write(tree.at("base/bin/python"), "FLE").unwrap();
    });
}

#[test]
fn packages_that_are_not_imported_are_not_part_of_the_environment() {
    let (named, digest) = measure_change(|tree| {
        tree.write("base/lib/python3.11/site-packages/other/__init__.py", "x\n");
        tree.write("base/lib/python3.11/site-packages/more.py", "x\n");
    });
    assert_eq!((named, digest), (None, false));
    // They belong to an interpreter that is used without an environment.
    let tree = Tree::new();
    let mut env = tree.env();
    env.prefix.clone_from(&env.base_prefix);
    env.sys_path[1] = tree.at("base/lib/python3.11/site-packages");
    let before = Measured::of(env, &tree.cache(), &mut |_| {}).unwrap();
    tree.write("base/lib/python3.11/site-packages/other/__init__.py", "x\n");
    assert_eq!(
        before.change().unwrap().to_string(),
        "lib/python3.11/site-packages/other/__init__.py was changed"
    );
}

#[test]
fn equal_contents_have_equal_digests_and_a_seen_change_stays() {
    let tree = Tree::new();
    let before = tree.measured();
    let path = tree.site("pkg/__init__.py");
    let text = fs::read(&path).unwrap();
    fs::write(&path, "answer = 3\n").unwrap();
    fs::write(&path, text).unwrap();
    let change = before.change().unwrap();
    assert_eq!(before.change(), Some(change));
    let now = tree.measured();
    assert_eq!((now.env.digest, now.change()), (before.env.digest, None));
}

#[test]
fn a_shown_name_contains_no_terminal_control() {
    let (name, _) = measure_change(|tree| {
        fs::write(tree.site("\x1b[2J\u{202e}x.py"), "x").unwrap();
    });
    let name = name.unwrap();
    assert!(name.contains("x.py was added"), "{name}");
    assert!(!name.contains(['\x1b', '\u{202e}']), "{name}");
}

/// A cache entry decides about files with equal stamps, so the cache must be this user's own.
#[test]
fn a_cache_is_used_only_if_it_is_whole_and_this_users() {
    let tree = Tree::new();
    let first = tree.measured();
    let path = tree.cache();
    let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    let reads = || {
        let table = walk(&places(&tree.env())).unwrap();
        let mut cache = Cache::open(&path);
        let files = table.values().filter(|entry| entry.kind == EntryKind::File);
        files
            .filter(|entry| cache.known(&entry.stamp).is_none())
            .count()
    };
    assert_eq!(reads(), 0);
    let whole = fs::read(&path).unwrap();
    let again = |bytes: &[u8]| {
        fs::remove_file(&path).unwrap();
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    };
    let lie = |bytes: &mut Vec<u8>| {
        // The offset of the sum in the first record.
        let at = 16 + 5 * 8;
        bytes[at] ^= 1;
    };
    let mut changed = whole.clone();
    lie(&mut changed);
    for bytes in [&whole[..whole.len() - 1], &whole[..16], &[], &changed] {
        again(bytes);
        assert!(reads() > 0);
        assert_eq!(tree.measured().env.digest, first.env.digest);
    }
    // The file is complete, but others could have written it, or it is a link to a file that others
    // wrote.
    again(&whole);
    assert_eq!(reads(), 0);
    for mode in [0o644, 0o620, 0o606] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        assert!(reads() > 0, "{mode:o}");
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    let real = tree.at("real");
    fs::rename(&path, &real).unwrap();
    symlink(&real, &path).unwrap();
    assert!(reads() > 0);
    fs::remove_file(&path).unwrap();
    fs::hard_link(&real, &path).unwrap();
    assert!(reads() > 0);
    fs::remove_file(&real).unwrap();
    assert_eq!(reads(), 0);
    fs::set_permissions(tree.dir.path(), fs::Permissions::from_mode(0o777)).unwrap();
    assert!(reads() > 0);
}

#[test]
fn a_pipe_in_place_of_a_file_does_not_block() {
    let tree = Tree::new();
    nix::unistd::mkfifo(&tree.site("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let before = tree.measured();
    fs::remove_file(tree.site("pipe")).unwrap();
    assert_eq!(
        before.change().unwrap().to_string(),
        "lib/python3.11/site-packages/pipe is gone"
    );
}

#[test]
fn a_real_interpreter_is_measured_with_all_that_it_imports() {
    let env = crate::runtime::find_python(None).unwrap();
    let (library, executable) = (env.sys_path.clone(), env.executable.clone());
    let cache = crate::runtime::testing::data_dir().join("environment-files");
    let measured = Measured::of(env, &cache, &mut |_| {}).unwrap();
    assert_eq!(measured.change(), None);
    let has = |path: &Path| measured.table.contains_key(path.as_os_str());
    assert!(has(&executable));
    assert!(library.iter().any(|folder| has(&folder.join("os.py"))));
    assert!(measured.entries() > 500, "{}", measured.entries());
}
