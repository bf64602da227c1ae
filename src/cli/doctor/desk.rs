//! Whether votes could be counted here, and a host could start.

use crate::app::Written;
use crate::config::Config;
use crate::tui::TerminalCaps;

use super::Check;

/// `None` where nothing has to do with votes, or the row of the configuration says what is wrong.
pub fn check(config: &Config) -> Option<Check> {
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
    Some(match can_host {
        Ok(()) => Check::ok(NAME, format!("{may}`countersign host` can start")),
        Err(e) => Check::note(
            NAME,
            format!("{may}`countersign host` would not start"),
            e.to_string(),
        ),
    })
}
