//! `countersign policy`: show, diff and check.

use std::path::Path;
use std::process::Command;

use super::{TELL, write};

pub fn command(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_countersign"))
        .args(["--policy-dir", dir.to_str().unwrap(), "policy"])
        .args(args)
        .output()
        .unwrap();
    (
        out.status.code().unwrap(),
        String::from_utf8(out.stdout).unwrap(),
        String::from_utf8(out.stderr).unwrap(),
    )
}

#[test]
fn the_command_shows_diffs_and_checks() {
    let dir = tempfile::tempdir().unwrap();
    let path = write(
        dir.path(),
        "team",
        "name = \"team\"\nextends = \"analysis\"\n[widen.imports]\nlifelines = [\"*\"]\n[limits]\nwall_s = 9\n",
    );
    let path = path.to_str().unwrap();
    let (code, out, _) = command(dir.path(), &["show"]);
    assert!(code == 0 && out.contains("analysis + 1") && out.contains("script"));
    let (code, out, _) = command(dir.path(), &["show", "team"]);
    assert!(code == 0 && out.contains("wall_s = 9") && out.contains("\"lifelines\" = [\"*\"]"));
    let (code, out, _) = command(dir.path(), &["show", "team", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(code == 0 && json["limits"]["wall_s"] == 9);
    let (code, out, _) = command(dir.path(), &["diff", path]);
    assert!(code == 0 && out.contains("+ imports lifelines") && out.contains("~ wall_s 300 → 9"));
    let (code, out, _) = command(dir.path(), &["check", path]);
    assert!(code == 0 && out.contains("sound; team (analysis + 1)"));
    assert!(out.contains("private values hidden"), "{out}");
    let open = write(dir.path(), "open", TELL);
    let open = open.to_str().unwrap();
    let (_, out, _) = command(dir.path(), &["show"]);
    let tells = |line: &&str| line.ends_with("  tells private values");
    let lines: Vec<_> = out.lines().filter(tells).collect();
    assert!(
        lines.len() == 1 && lines[0].starts_with("open (own rules)"),
        "{out}"
    );
    let (_, out, _) = command(dir.path(), &["show", "open"]);
    assert!(out.ends_with("[data]\nprivate = \"tell\"\n"), "{out}");
    let (_, out, _) = command(dir.path(), &["show", "open", "--json"]);
    assert!(out.contains("\"private\":\"tell\""), "{out}");
    let (_, out, _) = command(dir.path(), &["diff", open]);
    assert!(out.contains("~ private values hide → tell\n"), "{out}");
    let (_, out, _) = command(dir.path(), &["check", open]);
    assert!(out.contains("private values told"), "{out}");
    let (code, _, err) = command(dir.path(), &["show", "taem"]);
    assert!(code == 2 && err.contains("did you mean `team`"), "{err}");
    let elsewhere = tempfile::tempdir().unwrap();
    let invalid = write(
        elsewhere.path(),
        "bad",
        "name = \"bad\"\nextends = \"analysis\"\nguard = false\n",
    );
    let (code, _, err) = command(dir.path(), &["check", invalid.to_str().unwrap()]);
    assert!(code == 1 && err.contains(":3: `guard`"), "{err}");
}

/// `policy check` compares the rules with the people and keys of this machine.
#[test]
fn a_file_whose_rules_no_votes_can_meet_is_told_so() {
    let dir = tempfile::tempdir().unwrap();
    let grave = |roles: &str| {
        let text = format!("name = \"grave\"\nextends = \"analysis\"\n[grant]\n{roles}");
        write(dir.path(), "grave", &text).display().to_string()
    };
    let path = grave("quorum = 2\nroles = [\"law\"]\n");
    let check = |desk: Option<&str>| {
        let file = dir.path().join("desk.conf");
        std::fs::write(&file, desk.unwrap_or_default()).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(&file, mode).unwrap();
        let out = Command::new(env!("CARGO_BIN_EXE_countersign"))
            .args(["--config", file.to_str().unwrap()])
            .args(["--policy-dir", dir.path().to_str().unwrap()])
            .args(["policy", "check", &path])
            .output()
            .unwrap();
        assert!(out.status.success(), "{out:?}");
        String::from_utf8(out.stdout).unwrap()
    };
    let said = check(None);
    assert!(said.contains("\n  grant: 2 people of law\n"), "{said}");
    assert!(
        said.contains("\n  not compared with people: config.toml has no [desk]\n"),
        "{said}"
    );
    if !crate::common::given::is_given_to_root(nix::unistd::geteuid().is_root(), "root") {
        return;
    }
    let ana = crate::seats::key_pair("ana");
    let offices = crate::seats::offices(&[("ana", 1, &ana.1)]);
    let config = crate::seats::config(offices.path());
    let desk = &config[config.find("[desk]").unwrap()..];
    let said = check(Some(desk));
    let warning = "\n  warning: no votes can meet `2 people of law`: 2 people of law have to grant, and there are 0\n";
    assert!(said.contains(warning), "{said}");
    assert!(
        said.contains("grave.toml: sound, with 1 warning; grave,"),
        "{said}"
    );
    grave("");
    let said = check(Some(desk));
    assert!(said.contains("grave.toml: sound; grave,"), "{said}");
    assert!(
        said.contains("names no role: everybody with a key counts\n"),
        "{said}"
    );
    assert!(said.contains("what the own agents of ana ask"), "{said}");
}
