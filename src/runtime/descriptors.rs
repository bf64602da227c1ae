//! Manages the limit of open files: raised as far as possible for the dashboard, unchanged for the
//! programs it starts.

use std::process::Child;
use std::sync::OnceLock;

use rustix::io;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};

/// The limit before it was raised.
static BEFORE: OnceLock<Rlimit> = OnceLock::new();

/// The soft and hard limit of open files of this process. `u64::MAX` means no limit.
pub fn open_files() -> (u64, u64) {
    let limit = getrlimit(Resource::Nofile);
    let number = |limit: Option<u64>| limit.unwrap_or(u64::MAX);
    (number(limit.current), number(limit.maximum))
}

/// Raises the soft limit of this process to its hard limit. Programs that it starts get the
/// original limit.
pub fn raise_open_files() -> io::Result<()> {
    let before = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: before.maximum,
        maximum: before.maximum,
    };
    setrlimit(Resource::Nofile, raised)?;
    let _ = BEFORE.set(before);
    Ok(())
}

/// Restores the original limit for a program that was just started.
pub fn give_back(child: &Child) {
    if let Some(before) = BEFORE.get() {
        limit(child, before);
    }
}

/// Ignores errors: a program that has ended needs no limit.
fn limit(child: &Child, limit: &Rlimit) {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = prlimit(Some(pid), Resource::Nofile, *limit);
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_program_gets_the_original_limit() {
        let mut child = Command::new("sh")
            .args([
                "-c",
                "until [ \"$(ulimit -Sn)\" = 61 ]; do :; done; ulimit -Hn",
            ])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let (_, hard) = open_files();
        let before = Rlimit {
            current: Some(61),
            maximum: Some(hard),
        };
        limit(&child, &before);
        assert!(child.wait().unwrap().success());
    }
}
