//! The terminal's capabilities, from its environment and from one query before the event stream
//! starts.

use std::collections::BTreeMap;
use std::time::Duration;

/// How many colours may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Depth {
    None,
    Sixteen,
    Palette,
    True,
}

/// The brightness of the terminal's background.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Background {
    Dark,
    Light,
    /// The terminal did not say.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalCaps {
    pub depth: Depth,
    pub background: Background,
}

impl TerminalCaps {
    /// The longest wait for the terminal's answer.
    pub const QUERY: Duration = Duration::from_millis(50);

    /// From the environment alone.
    pub fn from_env(env: &BTreeMap<String, String>) -> Self {
        Self {
            depth: depth(env),
            background: Background::Unknown,
        }
    }

    /// From the environment and the terminal's answer to OSC 11. Must run before anything else
    /// reads the terminal's input.
    pub fn detect(env: &BTreeMap<String, String>) -> Self {
        let mut caps = Self::from_env(env);
        if caps.depth != Depth::None {
            caps.background = background();
        }
        caps
    }
}

/// `NO_COLOR` (any value but empty) first, then `COLORTERM`, then `TERM`.
fn depth(env: &BTreeMap<String, String>) -> Depth {
    let get = |name: &str| env.get(name).map_or("", String::as_str);
    let term = get("TERM");
    if !get("NO_COLOR").is_empty() || matches!(term, "" | "dumb" | "vt100" | "vt220") {
        return Depth::None;
    }
    if matches!(get("COLORTERM"), "truecolor" | "24bit") || term.ends_with("-direct") {
        return Depth::True;
    }
    if term.contains("256") {
        return Depth::Palette;
    }
    Depth::Sixteen
}

fn background() -> Background {
    let mut options = terminal_colorsaurus::QueryOptions::default();
    options.timeout = TerminalCaps::QUERY;
    match terminal_colorsaurus::theme_mode(options) {
        Ok(terminal_colorsaurus::ThemeMode::Dark) => Background::Dark,
        Ok(terminal_colorsaurus::ThemeMode::Light) => Background::Light,
        Err(_) => Background::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_depth_follows_the_environment() {
        for (env, expected) in [
            (
                &[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")][..],
                Depth::True,
            ),
            (&[("TERM", "xterm-256color")], Depth::Palette),
            (&[("TERM", "xterm")], Depth::Sixteen),
            (&[("TERM", "linux")], Depth::Sixteen),
            (&[("TERM", "xterm-direct")], Depth::True),
            (&[("TERM", "dumb"), ("COLORTERM", "truecolor")], Depth::None),
            (&[], Depth::None),
            (
                &[("TERM", "xterm-256color"), ("NO_COLOR", "1")],
                Depth::None,
            ),
            (
                &[("TERM", "xterm-256color"), ("NO_COLOR", "")],
                Depth::Palette,
            ),
        ] {
            let env = env
                .iter()
                .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
                .collect();
            assert_eq!(TerminalCaps::from_env(&env).depth, expected, "{env:?}");
        }
    }
}
