//! The administrator's folder beside a user's.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::sync::Arc;

use countersign::policy::{Places, Policy, PrivateValues, SetBy, load_file};
use nix::unistd::geteuid;

use super::given::{is_given, is_given_to_root};
use super::{TELL, write};

/// An administrator's folder with one policy, and a user's.
struct Folders {
    dir: tempfile::TempDir,
    places: Places,
}

/// `None` if the test does not run as root and cannot act as the administrator.
fn under_administrator(corp: &str) -> Option<Folders> {
    let dir = tempfile::tempdir().unwrap();
    let places = Places {
        admin: dir.path().join("admin"),
        user: dir.path().join("user"),
    };
    fs::create_dir(&places.admin).unwrap();
    fs::create_dir(&places.user).unwrap();
    write(&places.admin, "corp", corp);
    if geteuid().is_root() {
        return Some(Folders { dir, places });
    }
    let error = countersign::policy::load(&places).unwrap_err().to_string();
    assert!(error.contains("it must belong to root"), "{error}");
    is_given_to_root(false, "root to play the administrator");
    None
}

impl Folders {
    fn load(&self) -> Result<Vec<Arc<Policy>>, String> {
        countersign::policy::load(&self.places).map_err(|e| e.to_string())
    }

    fn user(&self, name: &str, text: &str) -> Result<Vec<Arc<Policy>>, String> {
        write(&self.places.user, name, text);
        let loaded = self.load();
        let alone = load_file(&self.places.user.join(format!("{name}.toml")), &self.places);
        assert_eq!(
            loaded.as_ref().err(),
            alone.map_err(|e| e.to_string()).as_ref().err(),
            "a file by itself is judged as in its folder"
        );
        loaded
    }
}

const CORP: &str = "name = \"corp\"\nextends = \"analysis\"\n[widen.imports]\nlifelines = [\"*\"]\n\
                    [limits]\nwall_s = 20\n[capabilities]\nFS_WRITE = \"block\"\n";

#[test]
fn the_administrators_policies_stand_beside_the_built_in_ones() {
    let Some(two) = under_administrator(CORP) else {
        return;
    };
    let all = two.load().unwrap();
    let corp = all.iter().find(|p| p.name == "corp").unwrap();
    assert_eq!(
        (all.len(), corp.label().as_str()),
        (7, "corp (analysis + 1)")
    );
    assert_eq!(corp.set_by, SetBy::Administrator);
    assert!(all[..6].iter().all(|p| p.set_by == SetBy::Program));
    let path = two.places.admin.join("corp.toml");
    let alone = load_file(&path, &two.places).unwrap();
    assert_eq!(&alone, corp);
    // An administrator's file cannot extend a user's.
    write(
        &two.places.user,
        "mine",
        "name = \"mine\"\nextends = \"analysis\"\n",
    );
    write(
        &two.places.admin,
        "up",
        "name = \"up\"\nextends = \"mine\"\n",
    );
    let error = two.load().unwrap_err();
    assert!(error.contains("no policy `mine`"), "{error}");
}

#[test]
fn a_users_file_neither_replaces_nor_loosens_an_administrators() {
    let own = "name = \"corp\"\ncontract = \"script\"\nguard = false\n";
    let team = "name = \"team\"\nextends = \"corp\"\n";
    for (name, text, says) in [
        (
            "corp",
            own.to_owned(),
            "corp.toml:1: `name`: the administrator's",
        ),
        (
            "team",
            format!("{team}[widen.imports]\nos = [\"*\"]\n"),
            "team.toml:3: `widen.imports`: `corp` is the administrator's",
        ),
        (
            "team",
            format!("{team}[limits]\nwall_s = 21\n"),
            "`limits.wall_s`: more than the 20 of `corp`",
        ),
        (
            "team",
            format!("{team}[capabilities]\nFS_WRITE = \"note\"\n"),
            "`capabilities.FS_WRITE`",
        ),
        ("team", format!("guard = false\n{team}"), "`guard`"),
        (
            "team",
            format!("{team}[data]\nprivate = \"tell\"\n"),
            "team.toml:4: `data.private`: `corp` hides",
        ),
    ] {
        let Some(two) = under_administrator(CORP) else {
            return;
        };
        let error = two.user(name, &text).unwrap_err();
        assert!(error.contains(says), "{text}: {error}");
    }
    let Some(two) = under_administrator(CORP) else {
        return;
    };
    let tight = two
        .user("team", &format!("{team}[limits]\nwall_s = 5\n"))
        .unwrap();
    let tight = tight.iter().find(|p| p.name == "team").unwrap();
    assert_eq!((tight.limits.wall_s, tight.set_by), (5, SetBy::User));
    // An administrator's own rules may let private values be told; files that extend them may hide
    // them again.
    let Some(open) = under_administrator(&TELL.replace("open", "corp")) else {
        return;
    };
    let hides = format!("{team}[data]\nprivate = \"hide\"\n");
    let all = open.user("team", &hides).unwrap();
    let private = |name: &str| all.iter().find(|p| p.name == name).unwrap().private;
    assert_eq!(
        (private("corp"), private("team")),
        (PrivateValues::Tell, PrivateValues::Hide)
    );
    // A file in between cannot do so either.
    let error = two
        .user(
            "further",
            "name = \"further\"\nextends = \"team\"\n[widen.imports]\nos = [\"*\"]\n",
        )
        .unwrap_err();
    assert!(error.contains("`corp` is the administrator's"), "{error}");
}

#[test]
fn an_administrators_file_that_is_not_roots_alone_stops_everything() {
    let Some(two) = under_administrator(CORP) else {
        return;
    };
    let path = two.places.admin.join("corp.toml");
    let assert_says = |what: &str| {
        let error = two.load().unwrap_err();
        assert!(error.contains(what), "{error}");
    };
    std::os::unix::fs::chown(&path, Some(12345), None).unwrap();
    assert_says("owned by uid 12345; it must belong to root");
    std::os::unix::fs::chown(&path, Some(0), None).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
    assert_says("mode 0664");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(&two.places.admin, fs::Permissions::from_mode(0o777)).unwrap();
    assert_says("admin: others can write this folder (mode 0777)");
    fs::set_permissions(&two.places.admin, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(two.load().is_ok());
    write(
        &two.places.admin,
        "broken",
        "name = \"broken\"\nextends = \"analisis\"\n",
    );
    assert_says("broken.toml:2: `extends`");
    drop(two.dir);
}

/// Uses the real `/etc/countersign`, in a mount namespace where the test can fill it.
#[test]
fn every_command_reads_the_administrators_folder_and_no_flag_moves_it() {
    let dir = tempfile::tempdir().unwrap();
    let user = dir.path().join("user");
    fs::create_dir(&user).unwrap();
    fs::write(dir.path().join("corp.toml"), CORP).unwrap();
    let script = "mount -t tmpfs -o mode=755 none /etc || exit 77\n\
                  mkdir -p /etc/countersign/policies && cp \"$1\" /etc/countersign/policies || exit 77\n\
                  shift; exec \"$@\"";
    let run = |args: &[&str]| {
        let mut command = Command::new("unshare");
        command
            .args(["-Urm", "sh", "-c", script, "sh"])
            .arg(dir.path().join("corp.toml"))
            .arg(env!("CARGO_BIN_EXE_countersign"))
            .args(["--policy-dir", user.to_str().unwrap()])
            .args(args)
            .env("HOME", dir.path());
        let out = command.output().ok()?;
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Some((out.status.code()?, text(out.stdout), text(out.stderr))).filter(|o| o.0 != 77)
    };
    let Some((_, out, err)) = run(&["policy", "show"]).filter(|o| !o.2.contains("unshare")) else {
        is_given(false, "mounts of one's own: unshare -Urm");
        return;
    };
    let line = out
        .lines()
        .find(|l| l.starts_with("corp (analysis + 1)"))
        .expect(&err);
    assert!(line.ends_with("set by the administrator"), "{line}");
    let (code, out, _) = run(&["policy", "show", "corp"]).unwrap();
    assert!(
        code == 0 && out.contains("# set by the administrator\n") && out.contains("wall_s = 20")
    );
    let snippet = dir.path().join("x.py");
    fs::write(&snippet, "import lifelines\n").unwrap();
    let (code, out, err) = run(&["check", "--profile", "corp", snippet.to_str().unwrap()]).unwrap();
    assert!(code == 0 && out.contains("x.py: clear"), "{out}{err}");
    let mine = write(
        &user,
        "corp",
        "name = \"corp\"\ncontract = \"script\"\nguard = false\n",
    );
    let (code, _, err) = run(&["check", "--profile", "corp", snippet.to_str().unwrap()]).unwrap();
    assert!(
        code == 2 && err.contains("/etc/countersign/policies/corp.toml has this name"),
        "{err}"
    );
    for command in ["check", "diff"] {
        let (code, _, err) = run(&["policy", command, mine.to_str().unwrap()]).unwrap();
        assert!(code == 1 && err.contains("the administrator's"), "{err}");
    }
}
