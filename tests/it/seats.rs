//! People who vote from terminals of their own, each as another user, and what root keeps about them.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use nix::unistd::User;
use tempfile::TempDir;

use crate::common::dash::{Dash, Options, PATIENCE};
use crate::common::given::{is_given, is_given_to_root};

/// A policy that asks two people who have the role `data`.
pub const GRAVE: &str =
    "name = \"grave\"\nextends = \"analysis\"\n[grant]\nquorum = 2\nroles = [\"data\"]\n";

/// The uids of these users, if people can vote as them here. `ssh-keygen` signs for users that the system knows.
pub fn users<const N: usize>(names: [&str; N]) -> Option<[u32; N]> {
    let there = Command::new("setpriv").arg("--version").output().is_ok();
    if !is_given_to_root(
        nix::unistd::geteuid().is_root() && there,
        "root and setpriv",
    ) || !is_given(Command::new("ssh-keygen").output().is_ok(), "ssh-keygen")
    {
        return None;
    }
    let uid = |name: &str| User::from_name(name).ok().flatten().map(|u| u.uid.as_raw());
    let found: Option<Vec<u32>> = names.iter().map(|name| uid(name)).collect();
    is_given_to_root(found.is_some(), "users daemon, bin and sys");
    found?.try_into().ok()
}

/// The key pair of a person: the private file's text and the public line.
pub fn key_pair(person: &str) -> (String, String) {
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
pub fn offices(people: &[(&str, u32, &str)]) -> TempDir {
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
        let login = person.split_once('@').map_or(*person, |(name, _)| name);
        members.push_str(&format!(
            "[people.\"{person}\"]\nroles = [\"data\"]\nuids = [{uid}]\nlogins = [\"rev_{login}\"]\n"
        ));
    }
    write("allowed_signers", &signers);
    write("people.toml", &members);
    write("revoked_keys", "");
    dir
}

/// The configuration of a host whose people these are.
pub fn config(offices: &Path) -> String {
    let at = |name: &str| offices.join(name).display().to_string();
    format!(
        "profile = \"grave\"\nprofiles = [\"grave\"]\n[desk]\nname = \"lab-1\"\nsigners = {:?}\npeople = {:?}\n\
         revoked = {:?}\nsocket = {:?}\n",
        at("allowed_signers"),
        at("people.toml"),
        at("revoked_keys"),
        at("desk.sock")
    )
}

/// The line that names the host in a seat's file.
pub fn hosts(state: &Path) -> String {
    let key = std::fs::read_to_string(state.join("desk/host_key.pub")).unwrap();
    format!("lab-1 {key}")
}

/// A seat of this user, whose key and file of hosts are theirs.
pub fn seat(offices: &Path, hosts: &str, uid: u32, (private, public): &(String, String)) -> Dash {
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
pub fn grants(seat: &mut Dash, voted: impl Fn() -> bool) {
    seat.open_sheet();
    let until = Instant::now() + PATIENCE;
    while !voted() {
        assert!(Instant::now() < until, "no vote came:\n{}", seat.text());
        seat.confirm();
        seat.wait_while(Instant::now() + Duration::from_millis(200), |_| !voted());
    }
}

/// Denies the most urgent proposal.
pub fn denies(seat: &mut Dash, title: &str, reason: &str) {
    seat.wait_text(title);
    seat.go_to_urgent();
    seat.press("d");
    seat.wait_text("reason for");
    seat.keys(reason);
    seat.press("\r");
}
