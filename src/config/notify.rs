//! `[notify]`: how people are called who do not look: the terminal's bell, and a command that tells those who have to vote.

use crate::model::NoticeEvent;

use super::error::{ConfigError, Origin};
use super::file::command;
use super::keys;
use super::merge::fixed;
use super::table::{Set, Table};

/// The longest that a command may take, in seconds.
const WITHIN_MAX: u64 = 300;
const WITHIN: u64 = 20;
/// The longest that may be between two notices, in seconds.
const EVERY_MAX: u64 = 24 * 3600;
const EVERY: u64 = 60;

/// `[notify]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotifySection {
    /// Whether the terminal is asked to call a person who does not look at it.
    pub bell: bool,
    /// A program, by its whole path, and its arguments, which tell people that a vote is asked of them; empty for none.
    pub command: Vec<String>,
    /// Seconds that the command may take.
    pub within_s: u64,
    /// Seconds between two notices to one person, at least.
    pub every_s: u64,
    /// What is told at all.
    pub events: Vec<NoticeEvent>,
}

/// `[notify]` of one file.
#[derive(Clone, Debug, Default)]
pub(super) struct NotifyLayer {
    bell: Option<Set<bool>>,
    command: Option<Set<Vec<String>>>,
    within_s: Option<Set<u64>>,
    every_s: Option<Set<u64>>,
    events: Option<Set<Vec<NoticeEvent>>>,
}

impl NotifyLayer {
    pub fn read(top: &Table<'_>) -> Result<Self, ConfigError> {
        let Some(notify) = top.table("notify")? else {
            return Ok(Self::default());
        };
        notify.only(&keys::in_table("notify"))?;
        let command = command(&notify, "command")?;
        if let Some(set) = &command
            && let Some(program) = set.value.first().filter(|p| !p.starts_with('/'))
        {
            return Err(ConfigError::value(
                set.origin.clone(),
                format!(
                    "`notify.command` names the program `{}`; write its whole path, as in [\"/usr/local/bin/desk-mail\"]",
                    program.escape_debug()
                ),
            ));
        }
        Ok(Self {
            bell: notify.boolean("bell")?,
            command,
            within_s: notify.integer("within_s", 1..=WITHIN_MAX)?,
            every_s: notify.integer("every_s", 1..=EVERY_MAX)?,
            events: events(&notify)?,
        })
    }

    pub fn over(below: Self, above: Self) -> Self {
        Self {
            bell: above.bell.or(below.bell),
            command: above.command.or(below.command),
            within_s: above.within_s.or(below.within_s),
            every_s: above.every_s.or(below.every_s),
            events: above.events.or(below.events),
        }
    }

    /// `votes`: whether there is a `[desk]`. `note` hears where the command was set.
    pub fn merge(
        admin: Self,
        mine: Self,
        votes: bool,
        note: &mut impl FnMut(&str, Option<&Origin>),
    ) -> Result<NotifySection, ConfigError> {
        let own = mine.command.as_ref().filter(|set| !set.value.is_empty());
        if let (false, Some(set)) = (votes, own) {
            return Err(ConfigError::value(
                set.origin.clone(),
                "`notify.command` tells people that votes are asked of them, and there is no [desk]; add one, or leave \
                 `command` out",
            ));
        }
        let command = fixed("notify.command", &admin.command, &mine.command, |command| {
            format!("{command:?}")
        })?;
        note("notify.command", command.as_ref().map(|set| &set.origin));
        let rest = Self::over(admin, mine);
        Ok(NotifySection {
            bell: rest.bell.is_none_or(|set| set.value),
            command: command.map(|set| set.value).unwrap_or_default(),
            within_s: rest.within_s.map_or(WITHIN, |set| set.value),
            every_s: rest.every_s.map_or(EVERY, |set| set.value),
            events: rest
                .events
                .map_or_else(|| NoticeEvent::ALL.into(), |set| set.value),
        })
    }
}

/// `events`: each of them once, at least one.
fn events(notify: &Table<'_>) -> Result<Option<Set<Vec<NoticeEvent>>>, ConfigError> {
    let wanted = "a list of \"waits\", \"escalated\" and \"ended\"";
    let of = |name: &str| NoticeEvent::ALL.into_iter().find(|e| e.as_str() == name);
    let Some(list) = notify.list("events", wanted, |v| v.as_str().map(str::to_owned))? else {
        return Ok(None);
    };
    let refuse = |origin: &Origin, what: String| Err(ConfigError::value(origin.clone(), what));
    if list.value.is_empty() {
        return refuse(
            &list.origin,
            format!("`notify.events` is empty, so `command` would never run; it is {wanted}"),
        );
    }
    let mut events = Vec::new();
    for item in &list.value {
        let name = item.value.escape_debug();
        match of(&item.value) {
            Some(event) if events.contains(&event) => {
                return refuse(
                    &item.origin,
                    format!("`notify.events` has \"{name}\" twice"),
                );
            }
            Some(event) => events.push(event),
            None => {
                return refuse(
                    &item.origin,
                    format!("`notify.events` is {wanted}; it has \"{name}\""),
                );
            }
        }
    }
    Ok(Some(list.map(|_| events)))
}
