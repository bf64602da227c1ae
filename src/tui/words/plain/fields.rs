//! What text fields and questions say of their keys.

const FILTER: &str = "filter, only proposals that say these words: Enter keeps it, Esc goes back.";

/// The keys of a field for a reason. `earlier`: whether there are any. `paused`: whether the agent is, if the field is
/// about all of its proposals.
pub fn reason_keys(earlier: bool, paused: Option<bool>) -> String {
    let up = if earlier {
        "Up offers earlier reasons, "
    } else {
        ""
    };
    let tab = match paused {
        None => "",
        Some(false) => "Tab pauses the agent, ",
        Some(true) => "Tab lets the agent propose again, ",
    };
    format!("Enter sends, {up}{tab}Esc goes back.")
}

/// The keys before more than one proposal is denied.
pub fn ask_all_keys(confirm: &str, paused: bool) -> String {
    let turns = match paused {
        true => "lets the agent propose again",
        false => "pauses the agent",
    };
    format!("{confirm} goes on to the reason, Tab {turns}, Esc goes back.")
}

/// The keys where nothing can be denied.
pub const fn pause_keys(paused: bool) -> &'static str {
    match paused {
        true => "Tab lets the agent propose again, Esc goes back.",
        false => "Tab pauses the agent, Esc goes back.",
    }
}

/// The field of a folder. `has`: what it begins with.
pub fn save_keys(has: &str) -> String {
    let home = if has == "~/" {
        " (your home folder)"
    } else {
        ""
    };
    format!(
        "The field begins with \"{has}\"{home}: type on behind it, or Ctrl-u clears it. Enter saves, Esc goes back."
    )
}

/// The field of a file's number. `has`: what it begins with.
pub fn open_keys(has: &str) -> String {
    format!("The field begins with {has}: Enter opens, Ctrl-u clears it, Esc goes back.")
}

/// Before the text of a field that an arrow changed. `earlier`: whether it is an earlier reason.
pub const fn in_field(earlier: bool) -> &'static str {
    match earlier {
        true => "an earlier reason stands in the field: ",
        false => "in the field: ",
    }
}

/// The field of the filter. `has`: what it begins with.
pub fn filter_keys(has: &str) -> String {
    match has {
        "" => FILTER.to_owned(),
        has => format!(
            "{FILTER} The field begins with \"{has}\": type on behind it, or Ctrl-u clears it."
        ),
    }
}

pub fn quit_keys(key: &str) -> String {
    format!("{key} quits, any other key stays.")
}

/// The field of a question about the log. `has`: what it begins with.
pub fn query_keys(has: &str) -> String {
    let begins = match has {
        "" => String::new(),
        has => format!(" The field begins with \"{has}\": type on behind it, or Ctrl-u clears it."),
    };
    format!(
        "query, such as state:denied agent:etl* since:7d: Enter asks, Tab completes and tells the keys, Esc goes back.{begins}"
    )
}
