//! The table of attacks (`tests/data/sandbox_attacks.toml`): reads it, turns it into Python, and
//! compares it with the results. Shared by the suites of the executor and of the finished binary.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;

use nix::libc;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub attack: Vec<Attack>,
    pub run: Vec<Run>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attack {
    pub name: String,
    pub asks: String,
    pub code: String,
    pub arch: Option<String>,
    /// `inside`: needs a setup that only a suite inside the crate can make.
    pub only: Option<String>,
    pub kernel: Meets,
    pub process: Meets,
    pub user: Option<Meets>,
    #[serde(default)]
    pub proof: Vec<Proof>,
}

/// The expected result of an attack.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Meets {
    /// Stopped by this layer, with one of these results.
    Stopped { meets: Vec<String>, by: String },
    /// Not stopped; the tier documents this gap.
    Open { leaves: String },
    /// Not tried, and why.
    Skipped { skip: String },
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    pub by: String,
    #[serde(default)]
    pub without: Vec<String>,
    /// The result with this layer alone; defaults to the result in the whole tier.
    pub meets: Option<Vec<String>>,
    /// The result when nothing stops it; defaults to `DONE`.
    pub open: Option<Vec<String>>,
    /// The Landlock version that it needs, if not every version is enough.
    pub abi: Option<i32>,
    /// `root`: only a root dashboard can leave these layers off.
    #[serde(rename = "as")]
    pub as_user: Option<String>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    pub name: String,
    pub asks: String,
    pub code: String,
    #[serde(default)]
    pub limits: BTreeMap<String, u64>,
    /// As in the outcome; `any` if it depends on chance.
    pub limit: Option<String>,
    pub error: Option<String>,
    pub says: Option<String>,
    pub by: String,
    /// The layer in tier `process`, if different.
    pub process: Option<String>,
    pub leaves: Option<String>,
    /// Also tried through the finished binary, where each attack takes as long as a person.
    #[serde(default)]
    pub product: bool,
}

pub fn table() -> Table {
    let text = include_str!("../data/sandbox_attacks.toml");
    toml::from_str(text).unwrap_or_else(|e| panic!("sandbox_attacks.toml: {e}"))
}

impl Attack {
    /// Whether the attack is possible on this processor.
    pub fn applies(&self) -> bool {
        self.arch
            .as_ref()
            .is_none_or(|arch| arch == std::env::consts::ARCH)
    }
}

/// Targets for the payload, set up on the machine by a suite.
pub struct Targets {
    folder: tempfile::TempDir,
    abstract_name: String,
    port: u16,
    shm_key: i32,
    shm: i32,
    dashboard: u32,
    /// A descriptor of the dashboard that survives exec, if the suite left one.
    pub leaked: i32,
    _held: Vec<OwnedFd>,
}

impl Targets {
    /// `dashboard`: the process that a payload would attack.
    pub fn new(dashboard: u32) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("cs-attack-")
            .tempdir()
            .unwrap();
        let at = |name: &str| folder.path().join(name);
        let mode = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        // Open to everybody, so that a layer and not a file mode has to stop the attack.
        mode(folder.path(), 0o755);
        std::fs::write(at("secret"), "s").unwrap();
        mode(&at("secret"), 0o644);
        std::fs::create_dir(at("open")).unwrap();
        mode(&at("open"), 0o777);
        std::fs::create_dir(at(".ssh")).unwrap();
        std::fs::write(at(".ssh/id_ed25519"), "k").unwrap();
        mode(&at(".ssh/id_ed25519"), 0o600);
        mode(&at(".ssh"), 0o700);
        // Copied by another process: a child forked meanwhile would inherit our descriptor, open
        // for writing, and the file could not be executed.
        let copied = std::process::Command::new("cp")
            .arg("/usr/bin/id")
            .arg(at("id"))
            .status();
        assert!(copied.unwrap().success());
        mode(&at("id"), 0o4755);
        let socket = UnixListener::bind(at("agent.sock")).unwrap();
        mode(&at("agent.sock"), 0o777);
        let mut random = [0u8; 8];
        getrandom::fill(&mut random).unwrap();
        let number = u64::from_le_bytes(random);
        let abstract_name = format!("cs-attack-{number:x}");
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let hidden = UnixListener::bind_addr(&address).unwrap();
        let loopback = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = loopback.local_addr().unwrap().port();
        let shm_key = (number >> 33) as i32 | 1;
        Self {
            shm: segment(shm_key),
            folder,
            abstract_name,
            port,
            shm_key,
            dashboard,
            leaked: -1,
            _held: vec![socket.into(), hidden.into(), loopback.into()],
        }
    }

    /// The values that the payload gets.
    fn values(&self) -> Value {
        let at = |name: &str| self.folder.path().join(name).display().to_string();
        let calls: BTreeMap<&str, i64> = CALLS.iter().copied().collect();
        let link = |path: &str| std::fs::read_link(path).unwrap().display().to_string();
        json!({
            "calls": calls,
            "dashboard": self.dashboard,
            "socket": at("agent.sock"),
            "secret": at("secret"),
            "key": at(".ssh/id_ed25519"),
            "open_folder": at("open"),
            "setuid": at("id"),
            "abstract": self.abstract_name,
            "port": self.port,
            "shm_key": self.shm_key,
            "hostname": nix::unistd::gethostname().unwrap().to_string_lossy(),
            "cgroup_namespace": link("/proc/self/ns/cgroup"),
            "leaked": self.leaked,
        })
    }

    /// A snippet that tries each attack in its own fork and prints the results as JSON.
    pub fn snippet(&self, attacks: &[&Attack]) -> String {
        let rows: Vec<&str> = attacks.iter().map(|a| a.code.as_str()).collect();
        let targets = serde_json::to_string(&self.values()).unwrap();
        let rows = serde_json::to_string(&rows).unwrap();
        // JSON's string syntax is valid Python too.
        format!(
            "H, ROWS = {targets}, {rows}\n{}",
            include_str!("../data/sandbox_attacks.py")
        )
    }
}

impl Drop for Targets {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: removes the segment that `new` made; no memory of ours is involved.
        unsafe { libc::shmctl(self.shm, libc::IPC_RMID, std::ptr::null_mut()) };
    }
}

/// A System V shared memory segment that anybody may open.
#[allow(unsafe_code)]
fn segment(key: i32) -> i32 {
    // SAFETY: plain integers.
    let id = unsafe { libc::shmget(key, 4096, libc::IPC_CREAT | libc::IPC_EXCL | 0o666) };
    assert!(id >= 0, "shmget: {}", std::io::Error::last_os_error());
    id
}

/// The result of each attack, in order.
pub fn met(stdout: &str) -> Vec<String> {
    serde_json::from_str(stdout).unwrap_or_else(|e| panic!("{e} in {stdout:?}"))
}

/// Compares the results with the table and lists every difference.
pub fn compare(
    attacks: &[&Attack],
    met: &[String],
    mut expected: impl FnMut(&Attack) -> Vec<String>,
) -> Vec<String> {
    assert_eq!(attacks.len(), met.len(), "{met:?}");
    attacks
        .iter()
        .zip(met)
        .filter_map(|(attack, met)| {
            let wanted = expected(attack);
            (!wanted.contains(met)).then(|| format!("{}: {met}, not {wanted:?}", attack.name))
        })
        .collect()
}

const CALLS: &[(&str, i64)] = &[
    ("add_key", libc::SYS_add_key),
    ("bpf", libc::SYS_bpf),
    ("clock_settime", libc::SYS_clock_settime),
    ("clone", libc::SYS_clone),
    ("clone3", libc::SYS_clone3),
    ("fsopen", libc::SYS_fsopen),
    ("init_module", libc::SYS_init_module),
    ("io_uring_setup", libc::SYS_io_uring_setup),
    ("ioctl", libc::SYS_ioctl),
    #[cfg(target_arch = "x86_64")]
    ("iopl", libc::SYS_iopl),
    ("kexec_load", libc::SYS_kexec_load),
    ("keyctl", libc::SYS_keyctl),
    ("landlock_add_rule", libc::SYS_landlock_add_rule),
    ("landlock_create_ruleset", libc::SYS_landlock_create_ruleset),
    ("memfd_create", libc::SYS_memfd_create),
    ("mount", libc::SYS_mount),
    ("mq_open", libc::SYS_mq_open),
    ("msgget", libc::SYS_msgget),
    ("open_by_handle_at", libc::SYS_open_by_handle_at),
    ("open_tree", libc::SYS_open_tree),
    ("perf_event_open", libc::SYS_perf_event_open),
    ("personality", libc::SYS_personality),
    ("pidfd_getfd", libc::SYS_pidfd_getfd),
    ("pidfd_open", libc::SYS_pidfd_open),
    ("pivot_root", libc::SYS_pivot_root),
    ("prctl", libc::SYS_prctl),
    ("process_vm_readv", libc::SYS_process_vm_readv),
    ("ptrace", libc::SYS_ptrace),
    ("reboot", libc::SYS_reboot),
    ("seccomp", libc::SYS_seccomp),
    ("semget", libc::SYS_semget),
    ("setns", libc::SYS_setns),
    ("shmget", libc::SYS_shmget),
    ("socketpair", libc::SYS_socketpair),
    ("unshare", libc::SYS_unshare),
    ("userfaultfd", libc::SYS_userfaultfd),
];
