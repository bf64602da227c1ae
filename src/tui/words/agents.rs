//! What is said of agents: their counts and quotas, their pauses, and the denial of everything of one.

use crate::broker::QuotaUse;
use crate::model::AgentId;

use super::{AWAY, number};

/// Behind the heading of screen 3. `forgotten`: agents of which nothing is kept any more.
pub fn agents(count: usize, connections: usize, forgotten: u64) -> String {
    let mut said = format!(
        "  {}, {}",
        number(count as u64),
        super::count(connections, "connection")
    );
    if forgotten > 0 {
        said.push_str(&format!("; {} quiet ones forgotten", number(forgotten)));
    }
    said
}

/// What the kernel and the log say of an agent.
pub fn agent_facts(agent: &AgentId, connected: bool, granted: u32, denied: u32) -> String {
    format!(
        "uid {} · pid {} · {} · in the log under this name {} granted, {} denied",
        agent.uid,
        agent.pid,
        if connected { "connected" } else { AWAY },
        number(granted.into()),
        number(denied.into())
    )
}

/// What a process used of its quotas.
pub fn quotas(u: &QuotaUse) -> String {
    let n = |n: usize| number(n as u64);
    let mib = |bytes: u64| {
        let tenths = bytes * 10 / (1024 * 1024);
        format!("{}.{}", number(tenths / 10), tenths % 10)
    };
    let seconds = |us: u64| format!("{}.{:02}", us / 1_000_000, us / 10_000 % 100);
    format!(
        "quotas of its process: {} of {} undecided · log {} of {} MiB · analysis {} of {} s",
        n(u.pending.0),
        n(u.pending.1),
        mib(u.log_bytes.0),
        mib(u.log_bytes.1),
        seconds(u.analysis_us.0),
        seconds(u.analysis_us.1)
    )
}

/// `whom`: the agent's name as it is drawn.
pub fn now_paused(whom: &str) -> String {
    format!("{whom} is paused; its new proposals are refused")
}

pub fn resumed(whom: &str) -> String {
    format!("{whom} may propose again")
}

pub fn paused_already(whom: &str) -> String {
    format!("{whom} is paused already")
}

pub fn not_paused(whom: &str) -> String {
    format!("{whom} is not paused")
}

/// The field of the reason for all proposals of an agent.
pub fn deny_all(count: usize, whom: &str) -> String {
    match count {
        0 => format!("nothing of {whom} waits"),
        count => format!("deny all {} of {whom}", number(count as u64)),
    }
}

/// The keys of that field.
pub const fn deny_all_keys(any: bool, paused: bool) -> &'static str {
    match (any, paused) {
        (true, false) => "Enter sends  Tab pauses  Esc back",
        (true, true) => "Enter sends  Tab resumes  Esc back",
        (false, false) => "Tab pauses it  Esc goes back",
        (false, true) => "Tab resumes it  Esc goes back",
    }
}
