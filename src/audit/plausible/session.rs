//! What the dashboard that wrote a record said of itself when it opened the log, and what commands write.

use std::collections::BTreeSet;

use super::super::error::{Damage, Named};
use super::super::line::Record;
use crate::model::{LogEvent, Preflight, ProposalId, Reviewer, State, Tier};

/// Whether a dashboard opened the log before.
#[derive(Debug, Default)]
enum Opened {
    /// Nobody asks: single proposals, or a log whose beginning is not there.
    #[default]
    Unknown,
    /// Not yet: the records so far that only a dashboard writes, and the first ones.
    Not(Named),
    Yes,
}

/// The dashboard that has the log open.
#[derive(Debug)]
struct Here {
    /// The record `opened`.
    seq: u64,
    by: Reviewer,
    tier: Tier,
    preflight: Vec<Preflight>,
    /// Proposals that came since, and have no end.
    open: BTreeSet<ProposalId>,
    /// Since when it closes: the record that left one of them undecided.
    closes: Option<u64>,
    /// A record of a command, which needs the lock that this dashboard has.
    command: Option<Damage>,
}

#[derive(Debug, Default)]
pub(super) struct Session {
    opened: Opened,
    here: Option<Here>,
    /// What dashboards before left without an end: killed, or closed before they had read the whole log.
    left: BTreeSet<ProposalId>,
}

/// What each run in tier kernel has had in every version.
const OF_KERNEL: [&str; 13] = [
    "userns",
    "pidns",
    "netns",
    "ipcns",
    "utsns",
    "mntns",
    "cgroupns",
    "nocaps",
    "bounding",
    "no_new_privs",
    "seccomp",
    "rlimits",
    "landlock",
];

/// What a list of layers cannot be. One that is unknown may be of a later version.
fn layers(kind: &str, tier: Tier, layers: &[String]) -> Option<String> {
    // `landlock:7` has its version behind it.
    let names = layers.iter().filter_map(|layer| layer.split(':').next());
    let mut all = BTreeSet::new();
    for name in names {
        if !all.insert(name) {
            return Some(format!("`{kind}` names the layer {name} twice"));
        }
    }
    let required: &[&str] = match tier {
        Tier::Kernel => &OF_KERNEL,
        Tier::Process => &["rlimits"],
        Tier::Container | Tier::Microvm => &[],
    };
    let lacking = required.iter().find(|name| !all.contains(*name))?;
    Some(format!(
        "`{kind}` has tier {tier} without {lacking}, which is required for it"
    ))
}

/// What a dashboard cannot have found.
fn found(preflight: &[Preflight]) -> Option<String> {
    let mut tiers = BTreeSet::new();
    preflight.iter().find_map(|found| {
        if !tiers.insert(found.tier) {
            return Some(format!("`opened` names tier {} twice", found.tier));
        }
        layers("opened", found.tier, &found.layers)
    })
}

/// Layers that are read where they can be, and that no tier requires.
const OPTIONAL: [&str; 3] = ["cgroup", "descriptors", "environment"];

impl Session {
    pub fn of_log() -> Self {
        Self {
            opened: Opened::Not(Named::default()),
            here: None,
            left: BTreeSet::new(),
        }
    }

    /// Records that are not read may say who has the log open, and what ended.
    pub fn unknown(&mut self) {
        self.here = None;
        self.left.clear();
    }

    /// What the next record says against the opening, and earlier records that it contradicts.
    pub fn read(
        &mut self,
        record: &Record,
        damage: &dyn Fn(String) -> Damage,
    ) -> (Option<String>, Named) {
        let mut before = self.opens(record, damage);
        if let LogEvent::Opened {
            by,
            tier,
            preflight,
            ..
        } = &record.event
        {
            if let Some(killed) = self.here.take() {
                self.left.extend(killed.open);
            }
            self.here = Some(Here {
                seq: record.seq,
                by: by.clone(),
                tier: *tier,
                preflight: preflight.clone(),
                open: BTreeSet::new(),
                closes: None,
                command: None,
            });
            return (found(preflight), before);
        }
        let started = match &record.event {
            LogEvent::Started { isolation, .. } => {
                layers("started", isolation.tier, &isolation.layers)
            }
            _ => None,
        };
        if let Some(resumed) = self.resumes(&record.event) {
            return (Some(resumed), before);
        }
        let Some(here) = &mut self.here else {
            return (started, before);
        };
        match &record.event {
            LogEvent::Closed => {
                let left = here.open.first().map(|id| {
                    format!(
                        "`closed` while {id} had no end: a dashboard waits for it, or leaves it"
                    )
                });
                self.here = None;
                return (left, before);
            }
            LogEvent::Recovered { .. } => self.unknown(),
            LogEvent::Pruned { .. } | LogEvent::Erased { .. } | LogEvent::Replicated { .. } => {
                let kind = record.event.kind();
                here.command.get_or_insert_with(|| {
                    damage(format!(
                        "`{kind}` while the dashboard of seq {} had the log open",
                        here.seq
                    ))
                });
            }
            event => {
                if let Some(command) = here.command.take() {
                    before.add(command);
                }
                let late = here.lives(record.seq, event);
                return (here.contradicts(event).or(late).or(started), before);
            }
        }
        (None, before)
    }

    /// What a dashboard that was killed left open, the next one ends, and nothing of it goes on.
    fn resumes(&mut self, event: &LogEvent) -> Option<String> {
        let id = event.id().filter(|id| self.left.contains(id))?;
        match event.state() {
            Some(State::Unattended | State::Error) => {
                self.left.remove(&id);
                None
            }
            // What an erasure or a copy says of it is nothing that goes on.
            None if !matches!(event, LogEvent::Killed { .. }) => None,
            _ => {
                self.left.remove(&id);
                let kind = event.kind();
                Some(format!(
                    "`{kind}` of a proposal that an earlier dashboard left without an end: a start ends all of them"
                ))
            }
        }
    }

    fn opens(&mut self, record: &Record, damage: &dyn Fn(String) -> Damage) -> Named {
        let Opened::Not(before) = &mut self.opened else {
            return Named::default();
        };
        match &record.event {
            LogEvent::Opened { .. } => {
                let before = std::mem::take(before);
                self.opened = Opened::Yes;
                return before;
            }
            // The bytes in quarantine may have it.
            LogEvent::Recovered { .. } => self.opened = Opened::Unknown,
            _ if record.seq == 1 || before.count > 0 => {
                let kind = record.event.kind();
                before.add(damage(format!(
                    "`{kind}` before a dashboard opened the log"
                )));
            }
            // The beginning was removed.
            _ => self.opened = Opened::Unknown,
        }
        Named::default()
    }
}

impl Here {
    /// What is open. A dashboard leaves proposals undecided only when it closes, and then nobody decides any more.
    fn lives(&mut self, seq: u64, event: &LogEvent) -> Option<String> {
        let kind = event.kind();
        let id = event.id()?;
        match event.state() {
            Some(state) if state.is_final() => {
                let own = self.open.remove(&id);
                if own && state == State::Unattended {
                    self.closes.get_or_insert(seq);
                }
            }
            _ if matches!(event, LogEvent::Proposed(_)) => {
                self.open.insert(id);
            }
            _ => {}
        }
        let decides = matches!(
            event,
            LogEvent::Granted(_) | LogEvent::Edited(_) | LogEvent::Denied { .. }
        );
        let closes = self.closes.filter(|_| decides)?;
        Some(format!(
            "`{kind}` after the dashboard left a proposal undecided (seq {closes}), which it does only when it closes"
        ))
    }

    fn contradicts(&self, event: &LogEvent) -> Option<String> {
        let (kind, seq) = (event.kind(), self.seq);
        if let Some(field) = by(event).and_then(|by| other(by, &self.by)) {
            return Some(format!(
                "`{kind}` by another than who opened the dashboard (seq {seq}): another {field}"
            ));
        }
        match event {
            LogEvent::Granted(g) if g.tier < self.tier => Some(format!(
                "`granted` for tier {}, and the dashboard runs nothing below {} (seq {seq})",
                g.tier, self.tier
            )),
            LogEvent::Granted(g) if !self.preflight.is_empty() && self.found(g.tier).is_none() => {
                Some(format!(
                    "`granted` for tier {}, which the dashboard did not find here (seq {seq})",
                    g.tier
                ))
            }
            LogEvent::Started { isolation, .. } => {
                let found = self.found(isolation.tier)?.layers.iter();
                let mut lacking = found.filter(|layer| {
                    !OPTIONAL.contains(&layer.as_str()) && !isolation.layers.contains(*layer)
                });
                let layer = lacking.next()?;
                Some(format!(
                    "`started` without {layer}, which tier {} has here (seq {seq})",
                    isolation.tier
                ))
            }
            _ => None,
        }
    }

    fn found(&self, tier: Tier) -> Option<&Preflight> {
        self.preflight.iter().find(|found| found.tier == tier)
    }
}

/// Who sits at the dashboard, as a record of what they did there says.
fn by(event: &LogEvent) -> Option<&Reviewer> {
    match event {
        LogEvent::Edited(e) => Some(&e.by),
        LogEvent::Granted(g) => Some(&g.by),
        LogEvent::Drilled(d) => d.by.as_ref(),
        LogEvent::Denied { by, .. }
        | LogEvent::Paused { by, .. }
        | LogEvent::Resumed { by, .. } => Some(by),
        LogEvent::Killed { by, .. } => by.as_ref(),
        _ => None,
    }
}

/// The first field in which they differ.
fn other(a: &Reviewer, b: &Reviewer) -> Option<&'static str> {
    let Reviewer {
        uid,
        login,
        loginuid,
        host,
        tty,
        ssh,
    } = a;
    [
        ("uid", *uid == b.uid),
        ("login", *login == b.login),
        ("loginuid", *loginuid == b.loginuid),
        ("host", *host == b.host),
        ("tty", *tty == b.tty),
        ("ssh", *ssh == b.ssh),
    ]
    .into_iter()
    .find_map(|(name, same)| (!same).then_some(name))
}
