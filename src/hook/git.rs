//! Settings and variables that name a program: of git, and of the environment.

use super::shell::Scan;
use super::tables::{self, base};
use super::words::{HIDDEN, Word};

/// Settings of git whose value is a command; `*` stands for any beginning.
const SETTINGS: &str = "core.fsmonitor core.pager core.editor core.sshcommand core.askpass core.gitproxy \
    sequence.editor diff.external interactive.difffilter uploadpack.packobjectshook *.command *.textconv *.driver *.cmd *.clean \
    *.smudge *.process *.program *.receivepack *.uploadpack *.update *.tocmd *.cccmd *.helper *.sendmailcmd *.proxycommand *.defaultkeycommand";

/// Variables whose value is a command; `*` stands for any beginning or end.
const VARIABLES: &str = "GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_ASKPASS \
    GIT_PROXY_COMMAND GIT_CONFIG_VALUE_* SSH_ASKPASS PAGER *_PAGER EDITOR *_EDITOR VISUAL MANPAGER BROWSER LESSOPEN LESSCLOSE \
    BASH_ENV ENV PROMPT_COMMAND *_WRAPPER *_RUNNER *_LINKER RUSTC RUSTDOC CC CXX CPP LD AR AS NM STRIP MAKE CARGO GO NODE \
    RSYNC_RSH SHELL CVS_RSH SUDO_ASKPASS FZF_DEFAULT_COMMAND TERMINAL npm_config_script_shell npm_config_shell npm_config_git";

/// Variables that may stand in the place of a command.
const KNOWN: &str = "CC CXX CPP LD AR AS NM STRIP MAKE CARGO RUSTC GO NODE EDITOR VISUAL PAGER";

/// Variables that hold more than one command, or change what a shell reads.
const CLOSED: &str = "GIT_CONFIG_PARAMETERS BASH_ALIASES BASH_CMDS";

impl Scan<'_, '_> {
    /// `git -c KEY=VALUE`, `git config KEY VALUE`.
    pub(super) fn setting(&mut self, key: &str, value: &str) {
        let key = key.to_lowercase();
        let value = value.trim();
        let command = value.strip_prefix('!');
        let path = value.starts_with(['/', '.', '~', HIDDEN]);
        if key.starts_with("alias.") {
            match command {
                Some(text) => self.text_of_commands(text),
                None => self.text_of_commands(&format!("git {value}")),
            }
        } else if key.starts_with("pager.") || any(SETTINGS, &key) {
            match command {
                Some(text) => self.text_of_commands(text),
                // A name without a path is one of git's own helpers.
                None if key.ends_with(".helper") && !path => {}
                None if key.ends_with(".update") || value.is_empty() => {}
                None => self.text_of_commands(value),
            }
        } else if let Some(text) = command {
            self.text_of_commands(text);
        }
    }

    /// `NAME=VALUE` before a command, of `export`, of `env`.
    pub(super) fn assigned(&mut self, word: &Word) {
        let text = word.text.as_str();
        if word.looked || tables::names_python(text, self.found) {
            self.unclear("a variable holds the name of a Python");
        }
        let Some((name, value)) = text.split_once('=') else {
            return;
        };
        let name = name.trim_end_matches('+');
        let name = name.split_once('[').map_or(name, |(name, _)| name);
        if tables::is_in(CLOSED, name) {
            self.unclear(format!("`{name}` changes what is run"));
        } else if any(VARIABLES, name) {
            let value = value.trim_start_matches(['|', '-', '!', ' ']);
            if !value.is_empty() && !tables::SHELLS.contains(&base(value)) {
                self.text_of_commands(value);
            }
        } else if ["PS1", "PS4", "PS0"].contains(&name) && value.contains(['`', '(']) {
            self.text_of_commands(&format!("echo {value}"));
        }
    }

    /// `$CC -c x.c`: a variable that by its name holds a compiler or an editor. Where the text sets it, the value was read.
    pub(super) fn is_known_variable(&self, word: &Word) -> bool {
        let name = word.variable.as_deref();
        name.is_some_and(|name| tables::is_in(KNOWN, name)) && !self.found.set
    }

    /// Notes what gives such a variable a value that is not read.
    pub(super) fn sets_variables(&mut self, name: &str, rest: &[Word]) {
        const SETTING: &str =
            "read printf mapfile readarray getopts declare typeset local let export readonly for";
        let known = |word: &Word| tables::is_in(KNOWN, &word.text);
        if tables::is_in(SETTING, name) && rest.iter().any(known) {
            self.found().set = true;
        }
    }
}

/// Whether a list of names and patterns has this name.
fn any(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|pattern| {
        if let Some(end) = pattern.strip_prefix('*') {
            name.len() > end.len() && name.ends_with(end)
        } else if let Some(start) = pattern.strip_suffix('*') {
            name.starts_with(start)
        } else {
            name == pattern
        }
    })
}
