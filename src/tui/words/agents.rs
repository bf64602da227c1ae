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

/// What the kernel says of an agent that is one process.
pub fn one_process(agent: &AgentId, connected: bool) -> String {
    let connected = if connected { "connected" } else { AWAY };
    format!("{} · {connected}", agent.process(" · "))
}

/// The same of several. `key` gives each a row.
pub fn processes(uid: u32, all: usize, connected: usize, key: &str) -> String {
    format!(
        "uid {uid} · {} processes under this name, {} connected, {key} shows each",
        number(all as u64),
        number(connected as u64)
    )
}

/// In a column: the uid of several processes.
pub fn uid_of(uid: u32, processes: usize) -> String {
    format!("{uid} ×{}", number(processes as u64))
}

/// A row that is several processes is not denied or paused as one.
pub fn unfold_first(processes: usize, key: &str) -> String {
    format!(
        "{} processes have this name: {key} shows each, then choose one",
        number(processes as u64)
    )
}

/// What the kernel and the log say of an agent. `process`: [`one_process`] or [`processes`].
///
/// `ever`: granted and denied; `None` while the log is still read.
pub fn agent_facts(process: &str, ever: Option<[u32; 2]>) -> String {
    let ever = ever.map_or_else(
        || "the log is still read".to_owned(),
        |[granted, denied]| {
            let (granted, denied) = (number(granted.into()), number(denied.into()));
            format!("in the log under this name {granted} granted, {denied} denied")
        },
    );
    format!("{process} · {ever}")
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

/// `whom`: the agent's name as it is drawn. `others`: the names that the pause covers too.
pub fn now_paused(whom: &str, others: &[String], waiting: usize) -> String {
    let others = also(others);
    match waiting {
        0 => format!("{whom} is paused{others}; new proposals are refused, none waits"),
        1 => format!("{whom} is paused{others}; 1 waiting stays, new ones are refused"),
        more => format!(
            "{whom} is paused{others}; {} waiting stay, new ones are refused",
            number(more as u64)
        ),
    }
}

/// `others`: the names that are free again too.
pub fn resumed(whom: &str, others: &[String], waiting: usize) -> String {
    let wait = match waiting {
        0 => "none waits".to_owned(),
        1 => "1 waits".to_owned(),
        more => format!("{} wait", number(more as u64)),
    };
    format!("{whom} may propose again{}; {wait}", also(others))
}

/// More names than these are counted.
const NAMES: usize = 6;

fn also(others: &[String]) -> String {
    if others.is_empty() {
        return String::new();
    }
    let named = others.len().min(NAMES);
    let more = match others.len() - named {
        0 => String::new(),
        more => format!(" and {}", super::count(more, "more name")),
    };
    format!(", also as {}{more}", others[..named].join(", "))
}

pub fn paused_already(whom: &str) -> String {
    format!("{whom} is paused already")
}

pub fn not_paused(whom: &str) -> String {
    format!("{whom} is not paused")
}

/// Before more than one proposal is denied.
pub fn ask_all(count: usize, whom: &str) -> String {
    format!("Deny all {} of {whom}?", number(count as u64))
}

/// The keys of that question.
pub fn ask_all_keys(confirm: &str, paused: bool) -> String {
    let turns = if paused { "resumes" } else { "pauses" };
    format!("{confirm} goes on  Tab {turns}  Esc back")
}

/// Proposals that came while the reason was typed.
pub fn came_later(count: usize, whom: &str) -> String {
    let wait = if count == 1 { "waits" } else { "wait" };
    format!("{} of {whom} came later and {wait}", number(count as u64))
}

/// The field of a reason.
pub fn deny_reason(whom: &str) -> String {
    format!("deny, reason for {whom}")
}

/// The same where there is little room.
pub fn short_deny_reason(whom: &str) -> String {
    format!("deny {whom}")
}

/// The field of the reason for all proposals of an agent.
pub fn deny_all(count: usize, whom: &str) -> String {
    match count {
        0 => format!("nothing of {whom} waits"),
        1 => format!("deny the only one of {whom}"),
        count => format!("deny all {} of {whom}", number(count as u64)),
    }
}

/// Nothing of an agent waits, but of other processes of its name.
pub fn nothing_but(namesakes: usize, whom: &str, pid: i32) -> String {
    let wait = match namesakes {
        1 => "1 of another process waits".to_owned(),
        n => format!("{} of other processes wait", number(n as u64)),
    };
    format!("nothing of {whom} (pid {pid}) waits, but {wait}")
}

/// The keys of that field. `earlier`: whether there are earlier reasons.
pub fn deny_all_keys(any: bool, paused: bool, earlier: bool) -> String {
    let up = if earlier { "↑ earlier  " } else { "" };
    match (any, paused) {
        (true, false) => format!("{up}Enter sends  Tab pauses  Esc back"),
        (true, true) => format!("{up}Enter sends  Tab resumes  Esc back"),
        (false, false) => "Tab pauses it  Esc goes back".to_owned(),
        (false, true) => "Tab resumes it  Esc goes back".to_owned(),
    }
}

/// The keys of the field for one proposal's reason.
pub const fn deny_keys(earlier: bool) -> &'static str {
    match earlier {
        true => "↑ earlier  Enter sends  Esc goes back",
        false => "Enter sends  Esc goes back",
    }
}

/// `Enter` in the middle of the typing that denied another proposal.
pub const DENY_AGAIN: &str = "denied one just now: Enter again sends";
