//! Calling a person who does not look: the bell, a notification, the window's title. The texts are fixed or counts:
//! nothing of an agent's reaches the terminal this way.

use std::collections::BTreeMap;

use crate::model::grouped;

/// How this terminal notifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notice {
    /// `[notify] bell = false`.
    Off,
    /// Only the bell: a console, or a multiplexer that swallows the rest.
    Bell,
    /// OSC 9 (iTerm2, and most that took it over).
    Osc9,
    /// OSC 777 (rxvt-unicode, foot, VTE).
    Osc777,
}

/// What the terminal is told by OSC 7501 (Program Status Protocol, revision 0.4), and only if it said that it takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Idle,
    Working,
    Blocked,
}

impl Status {
    const fn of(pending: usize, running: usize) -> Self {
        match (pending, running) {
            (1.., _) => Self::Blocked,
            (0, 1..) => Self::Working,
            (0, 0) => Self::Idle,
        }
    }

    const fn report(self) -> &'static str {
        match self {
            Self::Idle => "\x1b]7501;state=idle:app=countersign\x1b\\",
            Self::Working => "\x1b]7501;state=working:app=countersign\x1b\\",
            Self::Blocked => "\x1b]7501;state=blocked:kind=permission:app=countersign\x1b\\",
        }
    }
}

/// What is sent to the terminal, and the last title.
#[derive(Clone, Debug)]
pub struct Calls {
    notice: Notice,
    titles: bool,
    title: String,
    clipboard: Clipboard,
    /// Whether the terminal answered [`Self::STATUS_QUERY`].
    takes_status: bool,
    status: Option<Status>,
}

/// How this terminal takes copies (OSC 52).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clipboard {
    None,
    Direct,
    /// tmux takes it itself (`set-clipboard on`) or hands it through (`allow-passthrough on`).
    Tmux,
    /// GNU screen hands it through.
    Screen,
}

impl Calls {
    /// xterm's window operations: keep the title, and give it back.
    pub const KEEP_TITLE: &str = "\x1b[22;2t";
    pub const GIVE_TITLE_BACK: &str = "\x1b[23;2t";
    /// A terminal that takes OSC 7501 answers with the same bytes.
    pub const STATUS_QUERY: &str = "\x1b]7501;?\x1b\\";
    pub const CLEAR_STATUS: &str = "\x1b]7501;state=clear\x1b\\";

    /// `env`: the process's variables. `on`: `[notify] bell`.
    pub fn detect(env: &BTreeMap<String, String>, on: bool) -> Self {
        let get = |name: &str| env.get(name).map_or("", String::as_str);
        let term = get("TERM");
        // Consoles end an OSC in other ways, or print it.
        let console =
            term.is_empty() || term == "linux" || term == "dumb" || term.starts_with("vt");
        let through = term.starts_with("screen") || term.starts_with("tmux");
        let by_777 = term.starts_with("rxvt") || term.starts_with("foot");
        let notice = if !on {
            Notice::Off
        } else if console || through {
            Notice::Bell
        } else if by_777 || !get("VTE_VERSION").is_empty() {
            Notice::Osc777
        } else {
            Notice::Osc9
        };
        let clipboard = if !get("TMUX").is_empty() || term.starts_with("tmux") {
            Clipboard::Tmux
        } else if through {
            Clipboard::Screen
        } else if console {
            Clipboard::None
        } else {
            Clipboard::Direct
        };
        Self {
            notice,
            titles: on && !console,
            title: String::new(),
            clipboard,
            takes_status: false,
            status: None,
        }
    }

    /// The bytes that copy `base64`, which is nothing but that; `None` if the terminal takes none.
    pub fn copy(&self, base64: &str) -> Option<String> {
        let direct = format!("\x1b]52;c;{base64}\x07");
        match self.clipboard {
            Clipboard::None => None,
            Clipboard::Direct => Some(direct),
            Clipboard::Tmux => {
                let through = direct.replace('\x1b', "\x1b\x1b");
                Some(format!("{direct}\x1bPtmux;{through}\x1b\\"))
            }
            Clipboard::Screen => Some(format!("\x1bP{direct}\x1b\\")),
        }
    }

    /// Hears a string that the terminal sent. True if it says that it takes OSC 7501, which may be asked only where
    /// titles are used.
    pub fn hear(&mut self, text: &str) -> bool {
        let takes = self.titles && text == "7501;?";
        self.takes_status |= takes;
        takes
    }

    /// The report of what this program waits for, if the terminal takes it and it changed.
    pub fn status(&mut self, pending: usize, running: usize) -> Option<&'static str> {
        let status = Some(Status::of(pending, running));
        if !self.takes_status || self.status == status {
            return None;
        }
        self.status = status;
        status.map(Status::report)
    }

    /// For a terminal that gets lines only: the bell, no title and no copies.
    #[must_use]
    pub fn in_lines(mut self) -> Self {
        if self.notice != Notice::Off {
            self.notice = Notice::Bell;
        }
        self.titles = false;
        self.clipboard = Clipboard::None;
        self
    }

    /// Whether the window's title is used.
    pub const fn titles(&self) -> bool {
        self.titles
    }

    /// The bytes that call.
    pub const fn call(&self) -> &'static [u8] {
        match self.notice {
            Notice::Off => b"",
            Notice::Bell => b"\x07",
            Notice::Osc9 => b"\x07\x1b]9;countersign: a proposal waits\x1b\\",
            Notice::Osc777 => b"\x07\x1b]777;notify;countersign;a proposal waits\x1b\\",
        }
    }

    /// The bytes that set the title, if it changed.
    pub fn title(&mut self, pending: usize, running: usize) -> Option<String> {
        let mut title = "countersign".to_owned();
        if pending > 0 {
            title.push_str(&format!(": {} pending", grouped(pending as u64)));
        }
        if running > 0 {
            let sign = if pending > 0 { ", " } else { ": " };
            title.push_str(&format!("{sign}{} running", grouped(running as u64)));
        }
        if !self.titles || title == self.title {
            return None;
        }
        self.title.clone_from(&title);
        Some(format!("\x1b]2;{title}\x1b\\"))
    }

    /// Another program may have set the title and the status meanwhile.
    pub fn forget(&mut self) {
        self.title.clear();
        self.status = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(on: bool, env: &[(&str, &str)]) -> Calls {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Calls::detect(&env.iter().map(pair).collect(), on)
    }

    #[test]
    fn each_terminal_is_called_in_its_own_way() {
        for (env, notice, titles) in [
            (&[("TERM", "xterm-256color")][..], Notice::Osc9, true),
            (
                &[("TERM", "xterm-256color"), ("VTE_VERSION", "7600")],
                Notice::Osc777,
                true,
            ),
            (&[("TERM", "rxvt-unicode-256color")], Notice::Osc777, true),
            (&[("TERM", "foot")], Notice::Osc777, true),
            (&[("TERM", "tmux-256color")], Notice::Bell, true),
            (&[("TERM", "linux")], Notice::Bell, false),
            (&[("TERM", "dumb")], Notice::Bell, false),
            (&[], Notice::Bell, false),
        ] {
            let found = calls(true, env);
            assert_eq!((found.notice, found.titles()), (notice, titles), "{env:?}");
            let off = calls(false, env);
            assert!(off.call().is_empty() && !off.titles(), "{env:?}");
        }
    }

    #[test]
    fn a_copy_goes_through_a_multiplexer() {
        let copy = |env: &[(&str, &str)]| calls(true, env).copy("eA==");
        let direct = "\x1b]52;c;eA==\x07";
        assert_eq!(copy(&[("TERM", "xterm")]).unwrap(), direct);
        assert_eq!(
            copy(&[("TERM", "tmux-256color")]).unwrap(),
            format!("{direct}\x1bPtmux;\x1b\x1b]52;c;eA==\x07\x1b\\")
        );
        assert_eq!(
            copy(&[("TERM", "screen")]).unwrap(),
            format!("\x1bP{direct}\x1b\\")
        );
        assert_eq!(copy(&[("TERM", "linux")]), None);
    }

    #[test]
    fn a_status_is_reported_only_to_a_terminal_that_said_it_takes_it() {
        let mut calls = calls(true, &[("TERM", "xterm")]);
        assert_eq!(calls.status(1, 0), None);
        for other in ["", "7501", "7501;state=idle", "11;rgb:0/0/0", "7501;? "] {
            assert!(!calls.hear(other), "{other}");
        }
        assert_eq!(calls.status(1, 0), None);
        assert!(calls.hear("7501;?"));
        let blocked = "\x1b]7501;state=blocked:kind=permission:app=countersign\x1b\\";
        assert_eq!(calls.status(1, 0), Some(blocked));
        // Only changes are told.
        assert_eq!(calls.status(7, 2), None);
        assert!(calls.status(0, 2).unwrap().contains("state=working"));
        assert!(calls.status(0, 0).unwrap().contains("state=idle"));
        calls.forget();
        assert!(calls.status(0, 0).is_some());
        let mut off = self::calls(false, &[("TERM", "xterm")]);
        assert!(!off.hear("7501;?"));
        assert_eq!(off.status(1, 0), None);
    }

    #[test]
    fn a_title_is_set_once_for_each_change() {
        let mut calls = calls(true, &[("TERM", "xterm")]);
        let text =
            |title: Option<String>| title.unwrap().replace("\x1b]2;", "").replace("\x1b\\", "");
        assert_eq!(text(calls.title(0, 0)), "countersign");
        assert_eq!(calls.title(0, 0), None);
        assert_eq!(text(calls.title(1_200, 0)), "countersign: 1,200 pending");
        assert_eq!(text(calls.title(3, 1)), "countersign: 3 pending, 1 running");
        assert_eq!(text(calls.title(0, 2)), "countersign: 2 running");
        calls.forget();
        assert_eq!(text(calls.title(0, 2)), "countersign: 2 running");
    }
}
