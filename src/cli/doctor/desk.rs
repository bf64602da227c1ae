//! Whether votes could be counted here, and a host could start.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;

use crate::app::{Written, vain as vainly};
use crate::config::Config;
use crate::tui::TerminalCaps;

use super::{Check, State};

/// What has to be right so that a host could grant something, by the names of the rows before.
const NEEDED: [&str; 4] = ["engine", "file of hosts", "log of this host", GRANTS];
const GRANTS: &str = "grants";

/// `None` where nothing has to do with votes, or the row of the configuration says what is wrong.
pub fn check(config: &Config, before: &[Check]) -> Option<Check> {
    const NAME: &str = "votes";
    let written = Written::of(config, TerminalCaps::NONE).ok()?;
    let can_host = written.can_host(config);
    let people = match (written.voters(config), &config.desk) {
        (Ok(None), None) => return None,
        (Ok(people), _) => people,
        (Err(e), _) => {
            let remedy = "fix that; neither the dashboard nor a host starts before";
            return Some(Check::missing(NAME, e.to_string(), remedy));
        }
    };
    let may = people.map_or_else(String::new, |n| format!("people who may vote: {n}; "));
    let lacks = before.iter().filter(|check| check.state == State::Missing);
    let lacks: BTreeSet<&str> = lacks.map(|check| check.name).collect();
    let lacks: Vec<&str> = NEEDED
        .into_iter()
        .filter(|name| lacks.contains(name))
        .collect();
    Some(match can_host {
        Ok(()) if !lacks.is_empty() => Check::note(
            NAME,
            format!("{may}`countersign host` would start, and not all could be granted there"),
            format!("see above: {}", lacks.join(", ")),
        ),
        Ok(()) => Check::ok(NAME, format!("{may}`countersign host` can start")),
        Err(e) => Check::note(
            NAME,
            format!("{may}`countersign host` would not start"),
            e.to_string(),
        ),
    })
}

/// What no votes can grant, as the people and keys are.
pub fn vain(config: &Config) -> Vec<Check> {
    const NAME: &str = GRANTS;
    let Ok(written) = Written::of(config, TerminalCaps::NONE) else {
        return Vec::new();
    };
    // The row of votes says what is wrong with the files.
    let Some(Ok(electorate)) = vainly::electorate(config) else {
        return Vec::new();
    };
    let remedy = "change the rule, or give people the role, and keys of the kind that it asks for";
    let mut checks = Vec::new();
    for policy in written.in_force() {
        let (never, notes) = vainly::sentences(policy, &electorate, config);
        let said = |sentence: &String| format!("profile `{}`: {sentence}", policy.name);
        let never = never.iter().map(said);
        checks.extend(never.map(|found| Check::missing(NAME, found, remedy)));
        let notes = notes.iter().map(said);
        checks.extend(notes.map(|found| Check::note(NAME, found, "")));
    }
    checks
}

/// Whether the command that tells people could be run.
pub fn notices(config: &Config) -> Option<Check> {
    const NAME: &str = "notices";
    let program = config.notify.command.first()?;
    let named = crate::model::visible(program);
    config.desk.as_ref()?;
    let found = std::fs::metadata(program);
    Some(match found {
        Ok(file) if file.is_file() && file.permissions().mode() & 0o111 != 0 => {
            Check::ok(NAME, named.to_string())
        }
        Ok(_) => Check::note(
            NAME,
            format!("{named} is no program: nobody is told that votes are asked for"),
            format!("chmod +x {named}, or change `notify.command`"),
        ),
        Err(e) => Check::note(
            NAME,
            format!("{named}: {e}; nobody is told that votes are asked for"),
            "install it, or change `notify.command`",
        ),
    })
}
