//! Finds processes of a dashboard's runs among the machine's processes.

use std::collections::HashMap;

/// Payloads of runs that have begun: the kernel kills them first when memory runs out, and their
/// stdout is a pipe.
pub fn runs(dashboard: u32) -> Vec<u32> {
    payloads(dashboard, |out| out.starts_with("pipe:"))
}

/// Payloads that wait for a run: their stdout is `/dev/null`.
pub fn places(dashboard: u32) -> Vec<u32> {
    payloads(dashboard, |out| out == "/dev/null")
}

/// Kills a dashboard's zygotes, as the kernel does when memory runs out. Their children end with
/// them.
pub fn kill_zygotes(dashboard: u32) {
    for (pid, parent) in parents() {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if parent == dashboard && line.ends_with(b"\0__sandbox\0") {
            let pid = nix::unistd::Pid::from_raw(pid as i32);
            nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).unwrap();
        }
    }
}

fn payloads(dashboard: u32, out: impl Fn(&str) -> bool) -> Vec<u32> {
    let read = |pid: u32, name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).ok();
    let parents = parents();
    let below = |pid: u32| {
        std::iter::successors(Some(pid), |one| parents.get(one).copied())
            .take(100)
            .any(|one| one == dashboard)
    };
    parents
        .keys()
        .copied()
        .filter(|pid| below(*pid))
        .filter(|pid| read(*pid, "oom_score_adj").is_some_and(|adj| adj.trim() == "1000"))
        .filter(|pid| {
            std::fs::read_link(format!("/proc/{pid}/fd/1"))
                .is_ok_and(|link| out(&link.to_string_lossy()))
        })
        .collect()
}

/// The parent of every process.
fn parents() -> HashMap<u32, u32> {
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| {
            let pid = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
            let parent = status.lines().find_map(|l| l.strip_prefix("PPid:"))?;
            Some((pid, parent.trim().parse().ok()?))
        })
        .collect()
}
