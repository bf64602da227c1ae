//! The key map: which key does what, from the defaults of protocol.md §7 and `[keys]`.
//!
//! The help screen and the footer are generated from it. Modifiers must match exactly. Text fields
//! (the deny reason, the search, the sheet's digits) handle `Enter`, `Esc` and `Backspace`
//! themselves; the key map does not cover them.

use std::collections::BTreeMap;
use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::charset::is_ascii;

/// One key with its modifiers, normalised: an upper-case letter has no shift modifier, and
/// Shift-Tab is Tab with shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    code: KeyCode,
    modifiers: KeyModifiers,
}

impl Key {
    pub(super) const ENTER: Self = Self {
        code: KeyCode::Enter,
        modifiers: KeyModifiers::NONE,
    };
    /// The line break of a paste.
    pub(super) const LINE_FEED: Self = Self::control('j');
    /// In a text field: clears it, and takes the last word away, as shells have it.
    pub(super) const CLEARS: Self = Self::control('u');
    pub(super) const TAKES_A_WORD: Self = Self::control('w');

    const fn control(c: char) -> Self {
        Self {
            code: KeyCode::Char(c),
            modifiers: KeyModifiers::CONTROL,
        }
    }

    pub fn of(event: &KeyEvent) -> Self {
        Self::new(event.code, event.modifiers)
    }

    fn new(code: KeyCode, mut modifiers: KeyModifiers) -> Self {
        let code = match code {
            KeyCode::BackTab => {
                modifiers |= KeyModifiers::SHIFT;
                KeyCode::Tab
            }
            // Some terminals report Shift-a as `a` with shift: treat it as `A`, never as `a`.
            KeyCode::Char(c) if modifiers.contains(KeyModifiers::SHIFT) && c.is_alphabetic() => {
                let mut upper = c.to_uppercase();
                match (upper.next(), upper.next()) {
                    (Some(one), None) => {
                        modifiers -= KeyModifiers::SHIFT;
                        KeyCode::Char(one)
                    }
                    _ => KeyCode::Char(c),
                }
            }
            other => other,
        };
        Self { code, modifiers }
    }

    /// The character that the key types, if any.
    pub fn typed(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if self.modifiers.is_empty() => Some(c),
            _ => None,
        }
    }

    /// Whether this is the given key without modifiers.
    pub fn is(self, code: KeyCode) -> bool {
        self.code == code && self.modifiers.is_empty()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (modifier, name) in MODIFIERS {
            if self.modifiers.contains(modifier) {
                write!(f, "{name}-")?;
            }
        }
        match self.code {
            KeyCode::Up if is_ascii() => return f.write_str("Up"),
            KeyCode::Down if is_ascii() => return f.write_str("Down"),
            KeyCode::Left if is_ascii() => return f.write_str("Left"),
            KeyCode::Right if is_ascii() => return f.write_str("Right"),
            _ => {}
        }
        if let Some((_, name, _)) = NAMED.iter().find(|(code, ..)| *code == self.code) {
            return f.write_str(name);
        }
        match self.code {
            KeyCode::Char(c) => write!(f, "{c}"),
            KeyCode::F(n) => write!(f, "F{n}"),
            other => write!(f, "{other:?}"),
        }
    }
}

const MODIFIERS: [(KeyModifiers, &str); 3] = [
    (KeyModifiers::CONTROL, "Ctrl"),
    (KeyModifiers::ALT, "Alt"),
    (KeyModifiers::SHIFT, "Shift"),
];

/// Code, the name shown, the name in `config.toml`.
const NAMED: [(KeyCode, &str, &str); 16] = [
    (KeyCode::Char(' '), "Space", "space"),
    (KeyCode::Enter, "Enter", "enter"),
    (KeyCode::Esc, "Esc", "esc"),
    (KeyCode::Tab, "Tab", "tab"),
    (KeyCode::Backspace, "Backspace", "backspace"),
    (KeyCode::Delete, "Del", "delete"),
    (KeyCode::Insert, "Ins", "insert"),
    (KeyCode::Up, "↑", "up"),
    (KeyCode::Down, "↓", "down"),
    (KeyCode::Left, "←", "left"),
    (KeyCode::Right, "→", "right"),
    (KeyCode::Home, "Home", "home"),
    (KeyCode::End, "End", "end"),
    (KeyCode::PageUp, "PgUp", "pageup"),
    (KeyCode::PageDown, "PgDn", "pagedown"),
    (KeyCode::Null, "Null", "null"),
];

/// One key, or a sequence of two keys without modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chord {
    first: Key,
    second: Option<Key>,
}

impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.second {
            None => write!(f, "{}", self.first),
            Some(second) => write!(f, "{} {second}", self.first),
        }
    }
}

impl Chord {
    /// `a`, `G`, `gg`, `ctrl-c`, `shift-tab`, `pagedown`, `f5`.
    fn parse(text: &str) -> Option<Self> {
        Self::single(text).or_else(|| {
            let mut chars = text.chars();
            match (chars.next(), chars.next(), chars.next()) {
                (Some(a), Some(b), None) => {
                    let plain = |c| Key::new(KeyCode::Char(c), KeyModifiers::NONE);
                    Some(Self {
                        first: plain(a),
                        second: Some(plain(b)),
                    })
                }
                _ => None,
            }
        })
    }

    fn single(text: &str) -> Option<Self> {
        let mut modifiers = KeyModifiers::NONE;
        let mut rest = text;
        while let Some((modifier, after)) = MODIFIERS.iter().find_map(|(m, name)| {
            let (head, tail) = rest.split_at_checked(name.len())?;
            let tail = tail.strip_prefix('-').filter(|t| !t.is_empty())?;
            head.eq_ignore_ascii_case(name).then_some((*m, tail))
        }) {
            modifiers |= modifier;
            rest = after;
        }
        let mut chars = rest.chars();
        let code = match (chars.next(), chars.next()) {
            (Some(c), None) => KeyCode::Char(c),
            _ => {
                let named = NAMED
                    .iter()
                    .find(|(.., name)| rest.eq_ignore_ascii_case(name))
                    .map(|(code, ..)| *code);
                named.or_else(|| {
                    let n = rest.strip_prefix(['f', 'F'])?.parse().ok()?;
                    (1..=24).contains(&n).then_some(KeyCode::F(n))
                })?
            }
        };
        Some(Self {
            first: Key::new(code, modifiers),
            second: None,
        })
    }

    /// Whether pressing one chord would also press the other, or would wait for its second key.
    fn clashes(&self, other: &Self) -> bool {
        self.first == other.first
            && match (self.second, other.second) {
                (Some(a), Some(b)) => a == b,
                _ => true,
            }
    }
}

macro_rules! commands {
    ($($command:ident = $name:literal, $keys:literal, $words:literal;)*) => {
        /// A command that a key can trigger.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Command { $($command),* }

        impl Command {
            pub const ALL: &'static [Command] = &[$(Command::$command),*];

            /// The command's name in `[keys]` of `config.toml`.
            pub const fn name(self) -> &'static str {
                match self { $(Command::$command => $name),* }
            }

            /// The default keys, separated by spaces.
            const fn default_keys(self) -> &'static str {
                match self { $(Command::$command => $keys),* }
            }

            /// The description in the help.
            pub const fn words(self) -> &'static str {
                match self { $(Command::$command => $words),* }
            }
        }
    };
}

commands! {
    Down = "down", "j down", "down in the focused pane";
    Up = "up", "k up", "up in the focused pane";
    Left = "left", "left", "scroll left, with wrapping off; in the queue, close a group";
    Right = "right", "right", "scroll right, with wrapping off; in the queue, open a group";
    NextPane = "next-pane", "tab", "next pane; on the page of a proposal, its next part";
    PreviousPane = "previous-pane", "shift-tab", "previous pane; on the page of a proposal, the part before";
    Open = "open", "enter", "open: the code, what is condensed, a proposal of the log, there its output; never grants";
    PageCode = "page-code", "space", "next unseen row, or a page down, from any pane";
    PageDown = "page-down", "pagedown", "page down in the focused pane";
    PageUp = "page-up", "pageup", "page up in the focused pane";
    Top = "top", "home gg", "to the top";
    Bottom = "bottom", "end G", "to the end";
    Inputs = "inputs", "p", "data: the next input that the agent brought, then GIVEN; on a page of the log, INPUTS";
    NextPoint = "next-finding", "]", "the next finding or effect, with its line";
    PreviousPoint = "previous-finding", "[", "the previous finding or effect";
    Details = "details", "i", "details: limits, layers, digests, environment, peer; on a page of the log, its records";
    Diff = "diff", "v", "diff with the last granted code, then with earlier ones; never counts as seen; on a page of the log, DIFF";
    Wrap = "wrap", "w", "wrap long lines, or not";
    Zoom = "zoom", "z", "the focused pane on the whole screen, or not";
    AsDrawn = "as-drawn", "m", "marked text as the terminal draws it, below, or not";
    OpenOutside = "open-outside", "o", "open a file of the run outside, as a picture or as text; on a page of the log, OUTPUT";
    Save = "save", "S", "save the files of the run into a folder";
    Copy = "copy", "c", "copy the focused pane's text as it is shown, through the terminal";
    Order = "order", "s", "order of the queue: arrival, deadline, severity, agent";
    Filter = "filter", "f", "show only the rows of the queue that say these words";
    Alike = "alike", "=", "open or close a group: proposals that differ in numbers only";
    Urgent = "urgent", "u", "the next waiting one: what expires first";
    TimeLeft = "time-left", "l", "say the time left of the selected proposal";
    Grant = "grant", "a", "ask to grant: opens the sheet";
    Confirm = "confirm", "y", "on the sheet and the quit question: yes";
    Deny = "deny", "d", "deny: asks for a reason the agent will get";
    Edit = "edit", "e", "edit the code in your editor; what comes back is analysed and read anew";
    DenyAll = "deny-all", "D", "deny all that this agent has pending, with one reason; asks first; Tab there pauses it";
    Pause = "pause", "", "pause this agent: its new proposals are refused, what waits stays";
    Resume = "resume", "", "let a paused agent propose again";
    Kill = "kill", "x", "kill the running child";
    Queue = "queue", "1", "the queue";
    Audit = "audit", "2", "the audit log";
    Facets = "facets", "F", "on the audit log: how its rows divide; Enter narrows the query";
    Export = "export", "E", "on the audit log: write its rows into a folder";
    Statistics = "statistics", "B", "on the audit log: statistics of its rows, as bars";
    Policies = "policies", "3", "policies and agents";
    Palette = "palette", ":", "every command by name";
    Redraw = "redraw", "ctrl-l", "draw the whole screen anew";
    Search = "search", "/", "search; on the list of the audit log, a query as for `audit list`";
    SearchNext = "search-next", "n", "next match";
    SearchPrevious = "search-previous", "N", "previous match";
    Theme = "theme", "t", "next theme, and the list of all";
    Help = "help", "?", "this help";
    Back = "back", "esc", "back: closes what is open, decides nothing";
    Suspend = "suspend", "ctrl-z", "suspend; what is pending goes on expiring";
    Quit = "quit", "q ctrl-c", "quit; asks when something is pending or running";
}

impl Command {
    /// Whether it moves within whatever has the keys.
    pub const fn scrolls(self) -> bool {
        matches!(
            self,
            Self::Up
                | Self::Down
                | Self::PageUp
                | Self::PageDown
                | Self::PageCode
                | Self::Top
                | Self::Bottom
        )
    }
}

/// Why a key map is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeymapError {
    #[error("[keys] has no action `{name}`; the nearest is `{nearest}`")]
    UnknownAction { name: String, nearest: String },
    #[error(
        "[keys] {action} = \"{key}\": not a key; write one character, two characters pressed after \
         each other, or a name such as `enter`, `space`, `pagedown`, `f5`, `ctrl-x`, `shift-tab`"
    )]
    BadKey { action: String, key: String },
    #[error("[keys] `{key}` is given to both `{first}` and `{second}`; one needs another key")]
    Conflict {
        key: String,
        first: String,
        second: String,
    },
}

impl KeymapError {
    /// The actions whose keys are invalid.
    pub fn actions(&self) -> Vec<&str> {
        match self {
            Self::UnknownAction { name, .. } => vec![name],
            Self::BadKey { action, .. } => vec![action],
            Self::Conflict { first, second, .. } => vec![first, second],
        }
    }
}

/// Which key does what.
#[derive(Clone, Debug)]
pub struct Keymap {
    bound: Vec<(Chord, Command)>,
}

impl Default for Keymap {
    fn default() -> Self {
        let mut bound = Vec::new();
        for command in Command::ALL {
            for text in command.default_keys().split_whitespace() {
                bound.extend(Chord::parse(text).map(|chord| (chord, *command)));
            }
        }
        Self { bound }
    }
}

/// What a key press means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    Does(Command),
    /// The first key of a two-key chord.
    Begins,
    Nothing,
}

impl Keymap {
    /// The action names that `[keys]` accepts.
    pub fn actions() -> Vec<&'static str> {
        Command::ALL.iter().map(|c| c.name()).collect()
    }

    /// Reads `[keys]` of `config.toml`: action name → one key, or several separated by spaces. An
    /// action named there loses its default keys.
    pub fn from_config(config: &BTreeMap<String, String>) -> Result<Self, KeymapError> {
        let mut map = Self::default();
        for (name, keys) in config {
            let Some(command) = Command::ALL.iter().find(|c| c.name() == name) else {
                return Err(KeymapError::UnknownAction {
                    name: name.clone(),
                    nearest: crate::model::closest(name, Command::ALL.iter().map(|c| c.name()))
                        .to_owned(),
                });
            };
            map.bound.retain(|(_, c)| c != command);
            let mut any = false;
            // A lone space is the space key, as a person would write it.
            let texts = if keys == " " { "space" } else { keys };
            for text in texts.split_whitespace() {
                any = true;
                let chord = Chord::parse(text).ok_or_else(|| KeymapError::BadKey {
                    action: name.clone(),
                    key: text.to_owned(),
                })?;
                map.bound.push((chord, *command));
            }
            if !any {
                return Err(KeymapError::BadKey {
                    action: name.clone(),
                    key: keys.clone(),
                });
            }
        }
        for (i, (a, first)) in map.bound.iter().enumerate() {
            if let Some((_, second)) = map.bound[i + 1..]
                .iter()
                .find(|(b, second)| a.clashes(b) && first != second)
            {
                return Err(KeymapError::Conflict {
                    key: a.to_string(),
                    first: first.name().to_owned(),
                    second: second.name().to_owned(),
                });
            }
        }
        map.bound.sort_by_key(|(_, command)| *command);
        Ok(map)
    }

    /// The meaning of this press; `before` is the first key of a chord, if one was begun.
    pub fn meaning(&self, before: Option<Key>, key: Key) -> Meaning {
        if let Some(first) = before
            && let Some((_, command)) = self
                .bound
                .iter()
                .find(|(c, _)| c.first == first && c.second == Some(key))
        {
            return Meaning::Does(*command);
        }
        let mut begins = false;
        for (chord, command) in &self.bound {
            if chord.first == key {
                match chord.second {
                    None => return Meaning::Does(*command),
                    Some(_) => begins = true,
                }
            }
        }
        if begins {
            Meaning::Begins
        } else {
            Meaning::Nothing
        }
    }

    /// Chords that begin with this key.
    pub fn beginning(&self, key: Key) -> Vec<(String, Command)> {
        let chords = self.bound.iter();
        let begun = chords.filter(|(chord, _)| chord.first == key && chord.second.is_some());
        begun
            .map(|(chord, command)| (chord.to_string(), *command))
            .collect()
    }

    /// The same keys, but only of these commands; the others have none.
    pub(super) fn only(mut self, has: impl Fn(Command) -> bool) -> Self {
        self.bound.retain(|(_, command)| has(*command));
        self
    }

    /// The first key of a command, for the footer.
    pub fn first(&self, command: Command) -> String {
        self.bound
            .iter()
            .find(|(_, c)| *c == command)
            .map(|(chord, _)| chord.to_string())
            .unwrap_or_default()
    }

    /// All keys of a command, for the help.
    pub fn all(&self, command: Command) -> String {
        let keys: Vec<String> = self
            .bound
            .iter()
            .filter(|(_, c)| *c == command)
            .map(|(chord, _)| chord.to_string())
            .collect();
        match keys.is_empty() {
            true => self.by_name(command),
            false => keys.join("  "),
        }
    }

    /// How a command without a key is reached: `:pause`.
    fn by_name(&self, command: Command) -> String {
        let palette = |(_, bound): &&(Chord, Command)| *bound == Command::Palette;
        let chord = self.bound.iter().find(palette);
        chord.map_or_else(String::new, |(chord, _)| {
            format!("{chord}{}", command.name())
        })
    }
}

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
