//! Two people for one grant: a dashboard whose policy asks for them, and two others who vote from terminals of their own,
//! each as another user.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use nix::unistd::User;
use serde_json::json;
use tempfile::TempDir;

use crate::common::dash::{Dash, Options};
use crate::common::given::{is_given, is_given_to_root};

const GRAVE: &str =
    "name = \"grave\"\nextends = \"analysis\"\n[grant]\nquorum = 2\nroles = [\"data\"]\n";

/// The key pair of a person: the private file's text and the public line.
fn key_pair(person: &str) -> (String, String) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("key");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", person, "-f"])
        .arg(&path)
        .status()
        .unwrap();
    assert!(made.success());
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    (read(&path), read(&path.with_extension("pub")))
}

/// What root keeps: who may vote, and a folder for the socket that everybody can enter.
fn offices(people: &[(&str, u32, &str)]) -> TempDir {
    let dir = tempfile::Builder::new()
        .permissions(std::fs::Permissions::from_mode(0o755))
        .tempdir()
        .unwrap();
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    };
    let mut signers = String::new();
    let mut members = "[agents]\nuids = [0]\n".to_owned();
    for (person, uid, public) in people {
        signers.push_str(&format!(
            "{person} namespaces=\"grant@countersign\" {public}"
        ));
        members.push_str(&format!(
            "[people.{person}]\nroles = [\"data\"]\nuids = [{uid}]\n"
        ));
    }
    write("allowed_signers", &signers);
    write("people.toml", &members);
    write("revoked_keys", "");
    dir
}

fn host(offices: &Path) -> Dash {
    let at = |name: &str| offices.join(name).display().to_string();
    let config = format!(
        "profile = \"grave\"\nprofiles = [\"grave\"]\n[desk]\nname = \"lab-1\"\nsigners = {:?}\npeople = {:?}\n\
         revoked = {:?}\nsocket = {:?}\n",
        at("allowed_signers"),
        at("people.toml"),
        at("revoked_keys"),
        at("desk.sock")
    );
    Dash::with(&Options {
        config: &config,
        policies: &[("grave.toml", GRAVE)],
        ..Options::default()
    })
}

/// A seat of this user, whose key and file of hosts are theirs.
fn seat(offices: &Path, hosts: &str, uid: u32, (private, public): &(String, String)) -> Dash {
    let socket = offices.join("desk.sock").display().to_string();
    Dash::launch(&Options {
        config: "[desk]\nhosts = \"hosts\"\nkey = \"key\"\n",
        files: &[("hosts", hosts), ("key", private), ("key.pub", public)],
        args: &["review", &socket],
        size: (100, 30),
        uid: Some(uid),
        ..Options::default()
    })
}

/// Reads all of it, opens the sheet and confirms it.
fn grants(seat: &mut Dash, voted: impl Fn() -> bool) {
    seat.open_sheet();
    while !voted() {
        let text = seat.text();
        if text.contains("of this sheet not seen") {
            seat.press(" ");
        } else if text.contains("GRANT?") {
            seat.keys(" ");
            seat.press("y");
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

#[test]
fn two_people_at_terminals_of_their_own_grant_and_one_of_them_denies() {
    let there = Command::new("setpriv").arg("--version").output().is_ok();
    if !is_given_to_root(
        nix::unistd::geteuid().is_root() && there,
        "root and setpriv",
    ) || !is_given(Command::new("ssh-keygen").output().is_ok(), "ssh-keygen")
    {
        return;
    }
    // `ssh-keygen` signs for users that the system knows.
    let uid = |name: &str| User::from_name(name).ok().flatten().map(|u| u.uid.as_raw());
    let (Some(one), Some(two), Some(three)) = (uid("daemon"), uid("bin"), uid("sys")) else {
        is_given_to_root(false, "users daemon, bin and sys");
        return;
    };
    let (ben, cyd) = (key_pair("ben"), key_pair("cyd"));
    let offices = offices(&[("ben", one, &ben.1), ("cyd", two, &cyd.1)]);
    let host = host(offices.path());
    let host_key = std::fs::read_to_string(host.state.join("desk/host_key.pub")).unwrap();
    let hosts = format!("lab-1 {host_key}");
    let mut agent = host.agent();
    let first = agent.propose(json!({"code": "print(6 * 7)\n", "title": "a sum"}));
    let voted = |n: usize| host.log_text().matches("\"kind\":\"voted\"").count() == n;

    let mut ben = seat(offices.path(), &hosts, one, &ben);
    ben.wait_text("a sum");
    grants(&mut ben, || voted(1));
    assert_eq!(agent.state(&first["id"]), "pending");
    let mut cyd = seat(offices.path(), &hosts, two, &cyd);
    cyd.wait_text("a sum");
    assert!(
        !cyd.text().contains("ben"),
        "Ben's vote is shown before Cyd's:\n{}",
        cyd.text()
    );
    grants(&mut cyd, || voted(2));
    let outcome = agent.outcome(&first["id"]);
    assert_eq!(outcome["state"], "succeeded", "{outcome}");
    assert_eq!(outcome["run"]["stdout"], "42\n");
    let log = host.log_text();
    assert!(log.contains("\"votes\":{\"by\":[\"ben\",\"cyd\"]"), "{log}");
    // Nothing of who they are reaches the agent.
    assert!(!outcome.to_string().contains("ben"));

    let second = agent.propose(json!({"code": "print(1)\n", "title": "another"}));
    cyd.wait_text("another");
    cyd.go_to_urgent();
    cyd.press("d");
    cyd.wait_text("reason for");
    cyd.keys("not today");
    cyd.press("\r");
    let outcome = agent.outcome(&second["id"]);
    assert_eq!(outcome["state"], "denied", "{outcome}");
    assert_eq!(outcome["decision"]["reason"], "not today");

    // Somebody whom the host does not know is told so, and sees nothing.
    let stranger = key_pair("eve");
    let mut eve = seat(offices.path(), &hosts, three, &stranger);
    assert_ne!(eve.wait_exit().exit_code(), 0);
    eve.wait_text(&format!("uid {three} is nobody's"));
    let verified = host.cli(&["audit", "verify"]);
    assert!(verified.status.success(), "{verified:?}");
}
