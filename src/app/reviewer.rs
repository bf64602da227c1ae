//! Who sits at the terminal, as far as the system knows. For the audit log only.

use nix::unistd::{Uid, User, gethostname, ttyname};

use crate::model::Reviewer;

/// The kernel's value for "no login uid was set" (`(uid_t)-1`, proc(5)).
const NO_LOGINUID: u32 = u32::MAX;

/// Reads uid, login name, login uid, host, terminal and ssh connection of this process.
pub fn here() -> Reviewer {
    let uid = Uid::current();
    Reviewer {
        uid: uid.as_raw(),
        login: User::from_uid(uid).ok().flatten().map(|u| u.name),
        loginuid: std::fs::read_to_string("/proc/self/loginuid")
            .ok()
            .and_then(|text| text.trim().parse().ok())
            .filter(|id| *id != NO_LOGINUID),
        host: gethostname().ok().and_then(|h| h.into_string().ok()),
        tty: ttyname(std::io::stdin())
            .ok()
            .map(|p| p.display().to_string()),
        ssh: std::env::var("SSH_CONNECTION")
            .ok()
            .filter(|s| !s.is_empty()),
    }
}
