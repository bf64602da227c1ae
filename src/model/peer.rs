//! The process at the other end of a connection, and the agent in it.

use serde::{Deserialize, Serialize};

use super::Digest;

/// A connected process as reported by the kernel (SO_PEERCRED). `exe` is only a hint, since any program can
/// imitate it. Quotas count per peer, that is, per uid and pid, and per uid.
///
/// What comes over the engine has the login of a gateway instead, by the engine's word; `uid` is then a number that stands for the
/// login and is no user's here.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Peer {
    pub uid: u32,
    pub gid: u32,
    pub pid: i32,
    /// Base name of `/proc/<pid>/exe`, if readable.
    pub exe: Option<String>,
    /// The login of the engine by which it asks, if it is elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<String>,
}

/// Numbers of gateways begin here, above those that systems give to users and containers.
const GATEWAYS: u32 = 0xFFF0_0000;

impl Peer {
    /// What asks over the engine by this login.
    pub fn of_gateway(login: &str) -> Self {
        let digest = Digest::of(login.as_bytes());
        let drawn = digest.as_bytes().iter().take(3);
        let drawn = drawn.fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
        // The last number is no uid at all.
        let uid = GATEWAYS + drawn % 0xF_FFFF;
        Self {
            uid,
            gid: uid,
            pid: 0,
            exe: None,
            gateway: Some(login.to_owned()),
        }
    }

    /// `uid 1000`, or `gateway gate_x`.
    pub fn account(&self) -> String {
        account(self.uid, self.gateway.as_deref())
    }

    /// `uid 1000, pid 17`, or `gateway gate_x`, with this in between.
    pub fn process(&self, between: &str) -> String {
        match &self.gateway {
            None => format!("uid {}{between}pid {}", self.uid, self.pid),
            Some(_) => self.account(),
        }
    }

    /// Who vouches for [`Self::process`].
    pub const fn voucher(&self) -> &'static str {
        match self.gateway {
            None => "kernel",
            Some(_) => "engine",
        }
    }
}

fn account(uid: u32, gateway: Option<&str>) -> String {
    gateway.map_or_else(|| format!("uid {uid}"), |login| format!("gateway {login}"))
}

/// An agent as people tell agents apart: the kernel's uid and pid, and the name shown for it, which is a claim.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AgentId {
    pub uid: u32,
    pub pid: i32,
    pub name: String,
    /// As in [`Peer::gateway`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<String>,
}

impl AgentId {
    /// `uid 1000`, or `gateway gate_x`.
    pub fn account(&self) -> String {
        account(self.uid, self.gateway.as_deref())
    }

    /// `uid 1000, pid 17`, or `gateway gate_x`, with this in between.
    pub fn process(&self, between: &str) -> String {
        match &self.gateway {
            None => format!("uid {}{between}pid {}", self.uid, self.pid),
            Some(_) => self.account(),
        }
    }

    /// Whether this is the same process, or the same name under the same uid.
    pub fn covers(&self, uid: u32, pid: i32, name: &str) -> bool {
        self.uid == uid && (self.pid == pid || self.name == name)
    }
}
