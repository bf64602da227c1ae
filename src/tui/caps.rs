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
    /// The longest wait for the terminal's answer. Answers that come later are no keys: see
    /// [`super::answers`].
    pub const QUERY: Duration = Duration::from_millis(200);

    /// A terminal that draws nothing.
    pub const NONE: Self = Self {
        depth: Depth::None,
        background: Background::Unknown,
    };

    /// From the environment alone.
    pub fn from_env(env: &BTreeMap<String, String>) -> Self {
        let depth = depth(env);
        let background = match depth {
            Depth::None => Background::Unknown,
            _ => told_background(env),
        };
        Self { depth, background }
    }

    /// From the terminal's answer to OSC 11, else from the environment. Must run before anything
    /// else reads the terminal's input.
    pub fn detect(env: &BTreeMap<String, String>) -> Self {
        let mut caps = Self::from_env(env);
        if caps.depth != Depth::None {
            caps.background = match asked_background() {
                Background::Unknown => caps.background,
                known => known,
            };
        }
        caps
    }
}

/// Parts of the names in `TERM` of terminals that draw 24-bit colours and may not say so in
/// `COLORTERM`, which ssh does not hand on.
const TRUE: [&str; 7] = [
    "-direct",
    "truecolor",
    "kitty",
    "alacritty",
    "foot",
    "wezterm",
    "ghostty",
];
/// The same in `TERM_PROGRAM`.
const TRUE_PROGRAMS: [&str; 4] = ["iTerm.app", "WezTerm", "vscode", "ghostty"];

/// `NO_COLOR` (any value but empty) first, then `COLORTERM`, then `TERM` and what terminals call
/// themselves.
fn depth(env: &BTreeMap<String, String>) -> Depth {
    let get = |name: &str| env.get(name).map_or("", String::as_str);
    let term = get("TERM");
    let without = matches!(term, "" | "dumb" | "unknown")
        || term.starts_with("vt")
        || term.ends_with("-m")
        || term.ends_with("-mono");
    if !get("NO_COLOR").is_empty() || without {
        return Depth::None;
    }
    // GNU screen takes the parts of a 24-bit colour for attributes. tmux, which may have the same
    // name, turns it into a colour that its terminal has.
    let screen = term.starts_with("screen") && get("TMUX").is_empty();
    let says = matches!(get("COLORTERM"), "truecolor" | "24bit");
    let known = TRUE.iter().any(|name| term.contains(name))
        || TRUE_PROGRAMS.contains(&get("TERM_PROGRAM"))
        || !get("WT_SESSION").is_empty();
    if !screen && (says || known) {
        return Depth::True;
    }
    if term.contains("256") || (screen && says) {
        return Depth::Palette;
    }
    Depth::Sixteen
}

/// `COLORFGBG`, as rxvt and Konsole set it: the last number is the background's of the sixteen
/// colours.
fn told_background(env: &BTreeMap<String, String>) -> Background {
    let last = env.get("COLORFGBG").and_then(|v| v.rsplit(';').next());
    match last.and_then(|number| number.parse::<u8>().ok()) {
        Some(0..=6 | 8) => Background::Dark,
        Some(7 | 9..=15) => Background::Light,
        _ => Background::Unknown,
    }
}

fn asked_background() -> Background {
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

    fn caps(env: &[(&str, &str)]) -> TerminalCaps {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        TerminalCaps::from_env(&env.iter().map(pair).collect())
    }

    #[test]
    fn colour_depth_follows_the_environment() {
        for (env, expected) in [
            (
                &[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")][..],
                Depth::True,
            ),
            (&[("TERM", "xterm-256color")], Depth::Palette),
            (&[("TERM", "xterm")], Depth::Sixteen),
            (&[("TERM", "xterm-16color")], Depth::Sixteen),
            (&[("TERM", "linux")], Depth::Sixteen),
            (&[("TERM", "xterm-direct")], Depth::True),
            (&[("TERM", "xterm-kitty")], Depth::True),
            (&[("TERM", "foot")], Depth::True),
            (
                &[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")],
                Depth::True,
            ),
            (
                &[
                    ("TERM", "xterm-256color"),
                    ("TERM_PROGRAM", "Apple_Terminal"),
                ],
                Depth::Palette,
            ),
            (
                &[("TERM", "xterm-256color"), ("WT_SESSION", "1")],
                Depth::True,
            ),
            (&[("TERM", "dumb"), ("COLORTERM", "truecolor")], Depth::None),
            (&[("TERM", "vt102")], Depth::None),
            (&[("TERM", "xterm-mono")], Depth::None),
            (&[], Depth::None),
            (
                &[("TERM", "xterm-256color"), ("NO_COLOR", "1")],
                Depth::None,
            ),
            (
                &[("TERM", "xterm-256color"), ("NO_COLOR", "")],
                Depth::Palette,
            ),
            // GNU screen, and tmux under the same name.
            (
                &[("TERM", "screen"), ("COLORTERM", "truecolor")],
                Depth::Palette,
            ),
            (
                &[
                    ("TERM", "screen"),
                    ("COLORTERM", "truecolor"),
                    ("TMUX", "/tmp/x,1,0"),
                ],
                Depth::True,
            ),
            (&[("TERM", "screen.xterm-256color")], Depth::Palette),
        ] {
            assert_eq!(caps(env).depth, expected, "{env:?}");
        }
    }

    #[test]
    fn a_background_that_the_environment_names_is_known() {
        for (value, expected) in [
            ("15;0", Background::Dark),
            ("12;8", Background::Dark),
            ("0;15", Background::Light),
            ("0;default;7", Background::Light),
            ("0;default", Background::Unknown),
            ("", Background::Unknown),
            ("0;99", Background::Unknown),
        ] {
            let env = [("TERM", "rxvt"), ("COLORFGBG", value)];
            assert_eq!(caps(&env).background, expected, "{value}");
        }
        assert_eq!(
            caps(&[("COLORFGBG", "0;15")]).background,
            Background::Unknown
        );
    }
}
