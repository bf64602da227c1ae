//! Whether agents have a uid of their own, and could reach the socket that is for them.

use nix::unistd::{Gid, Group, Uid, User, getegid, getgrouplist};

use crate::config::SocketSection;

use super::Check;

const NAME: &str = "agents";

pub fn check(socket: &SocketSection) -> Check {
    let uids = &socket.allow_uids;
    if uids.is_empty() {
        return Check::note(
            NAME,
            "agents share your uid: an unconfined process of it can type into your terminal",
            "run agents under another uid and list it in [socket] allow_uids",
        );
    }
    let group = match &socket.group {
        None => Ok(getegid()),
        Some(name) => match Group::from_name(name) {
            Ok(Some(group)) => Ok(group.gid),
            Ok(None) => Err(format!("[socket] group `{name}`: there is no such group")),
            Err(e) => Err(format!("[socket] group `{name}`: {e}")),
        },
    };
    let group = match group {
        Ok(group) => group,
        Err(why) => return Check::missing(NAME, why, "make that group, or name another one"),
    };
    let outside: Vec<u32> = uids
        .iter()
        .copied()
        .filter(|uid| is_outside(*uid, group))
        .collect();
    if outside.is_empty() {
        return Check::ok(NAME, format!("also uid {uids:?} by a second socket"));
    }
    let name = match Group::from_gid(group) {
        Ok(Some(group)) => group.name,
        Ok(None) | Err(_) => group.to_string(),
    };
    Check::note(
        NAME,
        format!(
            "uid {outside:?} cannot enter the socket's folder, which is for the group `{name}`: connecting would fail with `Permission denied`"
        ),
        "set [socket] group to one in which these users and you are",
    )
}

/// Whether that user is surely not in this group: of a uid without an entry nobody can tell.
fn is_outside(uid: u32, group: Gid) -> bool {
    let uid = Uid::from_raw(uid);
    if uid.is_root() {
        return false;
    }
    let Ok(Some(user)) = User::from_uid(uid) else {
        return false;
    };
    let Ok(name) = std::ffi::CString::new(user.name) else {
        return false;
    };
    getgrouplist(&name, user.gid).is_ok_and(|groups| !groups.contains(&group))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A user who is in one group at most, and a group that they are not in.
    fn stranger() -> (User, Group) {
        let user = User::from_name("nobody").unwrap().unwrap();
        let group = Group::from_gid(Gid::from_raw(0)).unwrap().unwrap();
        (user, group)
    }

    #[test]
    fn agents_outside_the_sockets_group_are_named() {
        let (user, group) = stranger();
        let own = Group::from_gid(user.gid).unwrap().unwrap();
        let mut socket = SocketSection::default();
        let said = |socket: &SocketSection| format!("{:?}", check(socket));
        assert!(said(&socket).contains("agents share your uid"));
        socket.allow_uids = vec![user.uid.as_raw()];
        socket.group = Some(group.name);
        let outside = format!("uid [{}] cannot enter", user.uid);
        assert!(said(&socket).contains(&outside), "{}", said(&socket));
        socket.group = Some(own.name);
        assert!(said(&socket).contains("by a second socket"));
        socket.group = Some("no-such-group-here".to_owned());
        assert!(said(&socket).contains("there is no such group"));
        // Root goes everywhere.
        socket.allow_uids = vec![0];
        socket.group = None;
        assert!(said(&socket).contains("by a second socket"));
    }
}
