//! The limit of open files: as high as it goes for the dashboard, as it was for other people's programs.

use std::process::Child;
use std::sync::OnceLock;

use rustix::io;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit, setrlimit};

/// As it was before it was raised.
static BEFORE: OnceLock<Rlimit> = OnceLock::new();

/// How many files this process may have open, now and at most. `u64::MAX`: any number.
pub fn open_files() -> (u64, u64) {
    let limit = getrlimit(Resource::Nofile);
    let number = |limit: Option<u64>| limit.unwrap_or(u64::MAX);
    (number(limit.current), number(limit.maximum))
}

/// Lets this process have as many files open as it ever may. Programs that it starts get back what there
/// was.
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

/// Gives a program that was just started the limit that this one was started with.
pub(super) fn give_back(child: &Child) {
    if let Some(before) = BEFORE.get() {
        limit(child, before);
    }
}

/// One that has ended needs none.
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
    fn a_program_gets_the_limit_that_there_was() {
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
