//! One command: whether its program runs Python, or something of its arguments.

use super::shell::{Scan, Stdin};
use super::tables::{self, base};
use super::words::{HIDDEN, Word};

/// Parts of options of harmless programs whose value is a program.
const STARTING: [&str; 9] = [
    "exec", "pre=", "-program", "command=", "filter", "rsh", "tool", "-pack=", "preproc",
];

impl Scan<'_, '_> {
    /// Judges a command. `appended`: whoever starts it adds arguments that nobody sees.
    pub(super) fn command(&mut self, words: &[Word], appended: bool) -> Stdin {
        let Some(first) = words.first() else {
            if appended {
                self.unclear("the command is what comes on standard input");
            }
            return Stdin::Data;
        };
        if !self.enter() {
            return Stdin::Other;
        }
        self.found().step(first.text.len());
        let used = self.named(first, words, appended);
        self.leave();
        used
    }

    fn named(&mut self, first: &Word, words: &[Word], appended: bool) -> Stdin {
        // A folder may be a variable; the program itself has to be written out.
        let name = base(&first.name).trim_start_matches('=').to_lowercase();
        let name = name.as_str();
        let rest = &words[1..];
        if tables::is_interpreter(name)
            || tables::is_runner(name)
            || tables::is_file_of_python(name)
        {
            self.python(name);
            return Stdin::Data;
        }
        let odd = |c: char| c == HIDDEN || c.is_control() || c.is_whitespace();
        if name.is_empty() || name.contains(odd) || name == "{}" {
            // Nothing at all is no command.
            if !(words.len() == 1 && first.text.is_empty()) {
                self.unclear("the name of a command is not written out");
            }
            return Stdin::Other;
        }
        if let Some((_, harmless)) = tables::MANAGERS.iter().find(|(n, _)| is_numbered(name, n)) {
            self.manager(name, rest, harmless);
            return Stdin::Data;
        }
        if tables::SHELLS.contains(&name) {
            return self.shell(name, rest, appended);
        }
        match name {
            "eval" => self.evaluated(rest),
            "." | "source" => self.sourced(rest),
            "trap" | "alias" => self.texts(rest),
            "su" | "runuser" | "script" => return self.with_text(rest, appended),
            "find" => self.find(rest),
            "fd" | "fdfind" => self.behind_flag(rest, &["-x", "-X", "--exec", "--exec-batch"]),
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(rest),
            "sed" | "gsed" => self.sed(rest),
            "git" => self.git(rest),
            "chroot" | "unshare" | "nsenter" | "newgrp" | "sg" | "fakeroot" | "nix-shell" => {
                self.unclear("it starts a shell that is not read");
            }
            "at" | "batch" | "crontab" if !rest.iter().any(|w| w.text == "-l") => {
                self.unclear("what is planned for later is not read");
            }
            "ssh" | "parallel" if !rest.iter().skip(1).any(|w| w.text.len() > 1) => {
                self.unclear("the command is what comes on standard input");
            }
            _ if super::wrapped::is_wrapper(name) => return self.wrapped(name, rest, appended),
            _ if tables::takes_data(name) => {
                self.data(name, rest);
                return Stdin::Data;
            }
            _ => {
                self.others(rest);
                return Stdin::Other;
            }
        }
        Stdin::Data
    }

    /// Programs of which nothing is known.
    fn others(&mut self, rest: &[Word]) {
        for (at, word) in rest.iter().enumerate() {
            if tables::names_python(&word.text, self.found()) {
                return self
                    .unclear("a Python is named, and nobody knows what the program does with it");
            }
            if tables::SHELLS.contains(&base(&word.text)) {
                // A shell behind a program that may start it.
                let used = self.command(&rest[at..], false);
                if used == Stdin::Commands {
                    self.unclear("a shell that reads commands from elsewhere");
                }
                return;
            }
        }
    }

    fn data(&mut self, name: &str, rest: &[Word]) {
        let looks = ["which", "type", "whereis"].contains(&name);
        let copies = ["cp", "ln", "mv"].contains(&name);
        for word in rest {
            let text = word.text.as_str();
            let path = text.contains("bin/") && tables::is_interpreter(base(text));
            let option = text.starts_with("--") && STARTING.iter().any(|part| text.contains(part));
            if copies && path {
                return self.unclear("a Python gets another name");
            }
            if (self.substituted > 0 && looks || option) && tables::names_python(text, self.found())
            {
                return self.unclear("where a Python is, is looked up for something else");
            }
        }
        // `rg --pre COMMAND`
        if rest.iter().any(|w| w.text == "--pre") {
            self.others(rest);
        }
    }

    fn manager(&mut self, name: &str, rest: &[Word], harmless: &[&str]) {
        let [first, second] = [0, 1].map(|at| rest.get(at).map_or("", |w| w.text.as_str()));
        let both = format!("{first} {second}");
        let is_conda = name.ends_with("conda") || name.ends_with("mamba");
        match first {
            "" => {}
            "run" => self.python(&format!("{name} run")),
            _ if harmless.contains(&first) || harmless.contains(&both.as_str()) => {}
            _ if is_conda => self.unclear(format!("what `{name}` does there is not known")),
            _ => self.python(&format!("{name} {first}")),
        }
    }

    fn shell(&mut self, name: &str, rest: &[Word], appended: bool) -> Stdin {
        if tables::is_another_language(name) {
            // Their options and their syntax differ.
            let named = rest
                .iter()
                .any(|w| tables::names_python(&w.text, self.found()));
            let hidden = rest
                .iter()
                .any(|w| w.is_hidden() || w.text.to_lowercase().starts_with("-e"));
            if named || hidden {
                self.unclear("a shell of another language is not read");
            }
        }
        let mut at = 0;
        let mut text = false;
        while let Some(word) = rest.get(at) {
            let option = word.text.as_str();
            if option == "--version" || option == "--help" {
                return Stdin::Data;
            }
            if option == "--" || option == "-" {
                at += 1;
                break;
            }
            if word.is_hidden() && !text {
                break;
            }
            if let Some(long) = option.strip_prefix("--") {
                match long {
                    "rcfile" | "init-file" => {
                        self.unclear("a shell with a start file of its own");
                        at += 1;
                    }
                    "command" => text = true,
                    _ if long.starts_with("command=") => self.text_of_commands(&long[8..]),
                    _ => {}
                }
            } else if let Some(short) = option.strip_prefix(['-', '+']).filter(|s| !s.is_empty()) {
                text |= option.starts_with('-')
                    && (short.contains('c') || short.eq_ignore_ascii_case("command"));
                if short.contains('s') && !short.contains('c') {
                    return Stdin::Commands;
                }
                at += usize::from(short.ends_with(['o', 'O']));
            } else {
                break;
            }
            at += 1;
        }
        match rest.get(at) {
            Some(word) if text => {
                // Arguments that are added come behind the text.
                self.text_of_commands(&word.text);
                Stdin::Other
            }
            None if text || appended => {
                self.unclear("what a shell runs comes from elsewhere");
                Stdin::Other
            }
            Some(word) => {
                self.file_of_commands(word);
                Stdin::Other
            }
            None => Stdin::Commands,
        }
    }

    fn file_of_commands(&mut self, word: &Word) {
        let text = word.text.as_str();
        if text.contains(char::is_whitespace)
            || word.is_hidden() && base(&word.name).contains(HIDDEN)
            || text == "-"
            || text.starts_with("/dev/")
            || text.starts_with("/proc/")
        {
            self.unclear("what a shell runs comes from elsewhere");
        } else if tables::is_interpreter(base(text)) || tables::is_file_of_python(base(text)) {
            self.unclear("a shell is to read what is a Python's");
        }
    }

    fn evaluated(&mut self, rest: &[Word]) {
        let texts: Vec<&str> = rest.iter().map(|w| w.text.as_str()).collect();
        let text = texts.join(" ");
        if text.contains(HIDDEN) {
            self.unclear("`eval` of what is not written out");
        }
        self.text_of_commands(&text);
    }

    fn sourced(&mut self, rest: &[Word]) {
        if let Some(word) = rest.first() {
            self.file_of_commands(word);
        }
    }

    /// Texts that will be commands: of a trap, or behind the name of an alias.
    fn texts(&mut self, rest: &[Word]) {
        for word in rest {
            let text = word.text.as_str();
            let text = text.split_once('=').map_or(text, |(_, text)| text);
            if text.contains(HIDDEN) {
                self.unclear("a command for later is not written out");
            }
            self.text_of_commands(text);
        }
    }

    /// `su -c TEXT`, `script -c TEXT`.
    fn with_text(&mut self, rest: &[Word], appended: bool) -> Stdin {
        let at = rest.iter().position(|w| {
            let short =
                w.text.starts_with('-') && !w.text.starts_with("--") && w.text.ends_with('c');
            short || w.text == "--command"
        });
        let joined = rest.iter().find_map(|w| w.text.strip_prefix("--command="));
        match (at.and_then(|at| rest.get(at + 1)), joined) {
            (Some(word), _) => self.text_of_commands(&word.text),
            (None, Some(text)) => self.text_of_commands(text),
            _ if appended => self.unclear("what a shell runs comes from elsewhere"),
            _ => return Stdin::Commands,
        }
        self.others(rest);
        Stdin::Other
    }

    fn find(&mut self, rest: &[Word]) {
        let mut at = 0;
        while let Some(word) = rest.get(at) {
            at += 1;
            if !["-exec", "-execdir", "-ok", "-okdir"].contains(&word.text.as_str()) {
                continue;
            }
            let from = at;
            while rest.get(at).is_some_and(|w| w.text != ";" && w.text != "+") {
                at += 1;
            }
            self.started(&rest[from..at]);
        }
    }

    /// A command that gets arguments from elsewhere.
    fn started(&mut self, words: &[Word]) {
        if self.command(words, true) == Stdin::Commands {
            self.unclear("a shell that reads commands from elsewhere");
        }
    }

    fn behind_flag(&mut self, rest: &[Word], flags: &[&str]) {
        if let Some(at) = rest.iter().position(|w| flags.contains(&w.text.as_str())) {
            return self.started(&rest[at + 1..]);
        }
        let joined = |w: &&Word| {
            w.text.starts_with("--exec") || w.text.starts_with("-x") || w.text.starts_with("-X")
        };
        if rest.iter().any(|w| joined(&w)) {
            self.unclear("a command that is joined to its option is not read");
        }
    }

    fn awk(&mut self, rest: &[Word]) {
        for word in rest {
            let text = word.text.as_str();
            let pipes = text.contains('|')
                && text.contains('"')
                && (text.contains("|\"") || text.contains("| \"") || text.contains("getline"));
            if text.contains("system") && text.contains('(') || pipes {
                return self.unclear("what awk starts is not read");
            }
        }
    }

    fn sed(&mut self, rest: &[Word]) {
        for word in rest.iter().filter(|w| !w.text.starts_with("--")) {
            let text = word.text.as_str();
            for part in text.split(['\n', ';']) {
                let part = part.trim_start_matches(|c: char| {
                    c.is_ascii_digit() || matches!(c, '$' | ',' | ' ')
                });
                let runs = part == "e" || part.starts_with("e ");
                let flags = part
                    .rsplit(|c: char| !c.is_ascii_alphanumeric())
                    .next()
                    .unwrap_or("");
                let replaces = part.starts_with('s')
                    && part.len() > 3
                    && part[1..].starts_with(|c: char| c.is_ascii_punctuation());
                let known = flags
                    .chars()
                    .all(|c| c.is_ascii_digit() || "gpIimMew".contains(c));
                if runs || replaces && known && flags.contains('e') {
                    return self.unclear("what sed starts is not read");
                }
            }
        }
    }

    fn git(&mut self, rest: &[Word]) {
        let texts: Vec<&str> = rest.iter().map(|w| w.text.as_str()).collect();
        if texts
            .iter()
            .any(|t| t.starts_with("-c") || t.starts_with("--config-env") || *t == "config")
        {
            return self.others(rest);
        }
        let sub = texts.iter().position(|t| !t.starts_with('-'));
        match sub.map(|at| texts[at]) {
            Some("bisect") => {
                if let Some(at) = texts.iter().position(|t| *t == "run") {
                    self.started(&rest[at + 1..]);
                }
            }
            Some("rebase") => {
                if let Some(at) = texts.iter().position(|t| *t == "-x" || *t == "--exec") {
                    match rest.get(at + 1) {
                        Some(word) => self.text_of_commands(&word.text),
                        None => self.unclear("`--exec` of nothing"),
                    }
                }
                self.data("git", rest);
            }
            Some("submodule" | "filter-branch" | "difftool" | "mergetool" | "for-each-repo") => {
                self.others(rest);
                if let Some(at) = texts.iter().position(|t| *t == "foreach") {
                    self.evaluated(&rest[at + 1..]);
                }
            }
            _ => self.data("git", rest),
        }
    }
}

/// `pip3.12` for `pip`.
fn is_numbered(name: &str, wanted: &str) -> bool {
    let rest = name.strip_prefix(wanted);
    rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '.'))
}
