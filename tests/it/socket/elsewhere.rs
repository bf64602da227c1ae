//! Agents on another machine and in a container: the kernel names who connects here, and nobody takes the agent's word.

use std::process::{Child, Command, Stdio};

use nix::unistd::User;

use super::*;
use crate::common::dash::environment;
use crate::common::given::is_handy;

/// The peers that the core heard of, in order.
fn peers(events: &[Event]) -> Vec<Peer> {
    let connected = events.iter().filter_map(|event| match event {
        Event::Connected { peer, .. } => Some(peer.clone()),
        _ => None,
    });
    connected.collect()
}

/// A process that ends with its test.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn an_agent_in_a_container_is_the_uid_and_the_process_that_the_host_knows() {
    let inside = [
        "--user",
        "--map-user=4242",
        "--map-group=4242",
        "--keep-caps",
        "--mount",
        "--pid",
        "--fork",
    ];
    let mut trial = Command::new("unshare");
    let trial = trial
        .args(inside)
        .arg("true")
        .stderr(Stdio::null())
        .status();
    if !is_handy(
        trial.is_ok_and(|status| status.success()),
        "user namespaces by `unshare`",
    ) {
        return;
    }
    let server = start_server().await;
    let folder = server.path.parent().unwrap().to_owned();
    let root = folder.parent().unwrap().to_owned();
    let mounted = root.join("mounted");
    for new in [&mounted, &root.join("config")] {
        std::fs::create_dir(new).unwrap();
    }
    let script = "id -u; echo $$; mount --bind \"$1\" \"$2\"; echo 1 | exec \"$3\" --socket \"$2/agent.sock\" submit -";
    let mut agent = Command::new("unshare");
    agent.args(inside).args(["sh", "-c", script, "sh"]);
    agent
        .args([&folder, &mounted])
        .arg(env!("CARGO_BIN_EXE_countersign"));
    agent
        .env_clear()
        .envs(environment(&root))
        .env_remove("COUNTERSIGN_CONFIG");
    let output = tokio::task::spawn_blocking(move || agent.output().unwrap());
    let output = output.await.unwrap();
    let (said, errors) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    // The scripted core answers with what it was asked.
    assert!(errors.contains("Propose"), "{said}{errors}");
    assert!(said.starts_with("4242\n1\n"), "{said}{errors}");
    let heard = peers(&server.heard.lock().unwrap());
    let [peer] = &heard[..] else {
        panic!("{heard:?}");
    };
    assert_eq!(peer.uid, geteuid().as_raw());
    assert!(peer.pid > 1, "{peer:?}");
    assert_eq!(peer.exe.as_deref(), Some("countersign"));
}

/// The server's program, if it can serve this user here.
fn sshd() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&folders).collect();
    folders.push("/usr/sbin".into());
    let mut found = folders.into_iter().map(|folder| folder.join("sshd"));
    // Started by root it wants this folder.
    let serves = !geteuid().is_root() || Path::new("/run/sshd").is_dir();
    found.find(|path| path.is_file()).filter(|_| serves)
}

fn key(at: &Path) {
    let mut made = Command::new("ssh-keygen");
    made.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(at);
    assert!(made.status().unwrap().success());
}

#[tokio::test]
async fn an_agent_behind_ssh_is_the_process_that_forwards_it() {
    let Some(sshd) = sshd() else {
        is_handy(false, "sshd");
        return;
    };
    let server = start_server().await;
    let folder = server.path.parent().unwrap();
    let at = |name: &str| folder.join(name);
    key(&at("host"));
    key(&at("key"));
    let config = format!(
        "HostKey {0}/host\nAuthorizedKeysFile {0}/key.pub\nStrictModes no\nUsePAM no\nPidFile none\n\
         AllowStreamLocalForwarding yes\nPasswordAuthentication no\n",
        folder.display()
    );
    std::fs::write(at("config"), config).unwrap();
    let user = User::from_uid(geteuid()).unwrap().unwrap().name;
    // Over a pipe: no port, and nobody else reaches it.
    let proxy = format!(
        "ProxyCommand={} -i -f {}",
        sshd.display(),
        at("config").display()
    );
    let forward = |name: &str| format!("{}:{}", at(name).display(), server.path.display());
    let mut ssh = Command::new("ssh");
    ssh.args([
        "-F",
        "none",
        "-N",
        "-o",
        "BatchMode=yes",
        "-o",
        "IdentitiesOnly=yes",
    ]);
    ssh.args([
        "-o",
        "StrictHostKeyChecking=no",
        "-o",
        "UserKnownHostsFile=/dev/null",
    ]);
    ssh.args(["-o", "ExitOnForwardFailure=yes", "-o", &proxy, "-i"])
        .arg(at("key"));
    ssh.args(["-L", &forward("here.sock"), "-R", &forward("there.sock")]);
    ssh.arg(format!("{user}@dashboard"))
        .stdin(Stdio::null())
        .stderr(Stdio::piped());
    let mut ssh = Killed(ssh.spawn().unwrap());
    let forwarder = ssh.0.id() as i32;
    for (name, exe) in [("here.sock", "sshd"), ("there.sock", "ssh")] {
        let ready = async {
            while !at(name).exists() {
                if let Some(status) = ssh.0.try_wait().unwrap() {
                    let mut said = String::new();
                    let errors = ssh.0.stderr.as_mut().unwrap();
                    std::io::Read::read_to_string(errors, &mut said).unwrap();
                    panic!("ssh ended: {status}\n{said}");
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, ready)
            .await
            .expect("ssh forwards in time");
        let stream = UnixStream::connect(at(name)).await.unwrap();
        let mut agent = Raw {
            stream: BufReader::new(stream),
        };
        assert_eq!(agent.status(1).await["result"]["state"], "pending");
        let heard = peers(&server.heard.lock().unwrap());
        let peer = heard.last().unwrap();
        assert_eq!(peer.uid, geteuid().as_raw());
        assert_ne!(peer.pid, getpid().as_raw(), "the agent is this process");
        let shown = peer.exe.as_deref().unwrap_or_default();
        assert!(shown.starts_with(exe), "{name}: {peer:?}");
        if exe == "ssh" {
            assert_eq!((peer.pid, shown), (forwarder, "ssh"));
        }
    }
}
