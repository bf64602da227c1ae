//! Programs that start the command in their arguments: `sudo`, `env`, `xargs`, `timeout` and their like.

use super::shell::{Scan, Stdin, is_assignment};
use super::words::Word;

/// A program, its options that take a value, and how many words stand before the command.
struct Wrapper {
    name: &'static str,
    short: &'static str,
    long: &'static [&'static str],
    before: usize,
}

const fn wrapper(
    name: &'static str,
    short: &'static str,
    long: &'static [&'static str],
    before: usize,
) -> Wrapper {
    Wrapper {
        name,
        short,
        long,
        before,
    }
}

/// An option that is missing here makes its value the command, and then the command an argument of a program of which nothing is
/// known: unclear.
const WRAPPERS: &[Wrapper] = &[
    wrapper("env", "uCS", &["unset", "chdir", "split-string"], 0),
    wrapper(
        "sudo",
        "ughpCTUDRrtc",
        &[
            "user", "group", "host", "prompt", "chdir", "chroot", "role", "type",
        ],
        0,
    ),
    wrapper("doas", "uC", &[], 0),
    wrapper("nohup", "", &[], 0),
    wrapper("nice", "n", &["adjustment"], 0),
    wrapper("ionice", "cnpPu", &["class", "classdata"], 0),
    wrapper("stdbuf", "ioe", &["input", "output", "error"], 0),
    wrapper("setsid", "", &[], 0),
    wrapper("time", "fo", &["format", "output"], 0),
    wrapper("timeout", "sk", &["signal", "kill-after"], 1),
    wrapper("gtimeout", "sk", &["signal", "kill-after"], 1),
    wrapper(
        "xargs",
        "nPILsdaE",
        &[
            "max-args",
            "max-procs",
            "delimiter",
            "arg-file",
            "max-chars",
        ],
        0,
    ),
    wrapper("exec", "a", &[], 0),
    wrapper("command", "", &[], 0),
    wrapper("builtin", "", &[], 0),
    wrapper("noglob", "", &[], 0),
    wrapper("nocorrect", "", &[], 0),
    wrapper("busybox", "", &[], 0),
    wrapper("toybox", "", &[], 0),
    wrapper("strace", "oepsuEaIOSXPb", &[], 0),
    wrapper("ltrace", "oepsuaA", &[], 0),
    wrapper("watch", "n", &["interval"], 0),
    wrapper("chrt", "TPD", &[], 1),
    wrapper("taskset", "", &[], 1),
    wrapper("flock", "wE", &["timeout", "conflict-exit-code"], 1),
    wrapper("caffeinate", "tw", &[], 0),
    wrapper("unbuffer", "", &[], 0),
    wrapper("rlwrap", "", &[], 0),
    wrapper("setarch", "", &[], 1),
    wrapper("chronic", "", &[], 0),
];

fn row(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|w| w.name == name)
}

pub(super) fn is_wrapper(name: &str) -> bool {
    row(name).is_some()
}

impl Scan<'_, '_> {
    pub(super) fn wrapped(&mut self, name: &str, rest: &[Word], appended: bool) -> Stdin {
        let Some(row) = row(name) else {
            return Stdin::Other;
        };
        let mut at = 0;
        // A shell without a command reads its input.
        let mut opens = false;
        while let Some(word) = rest.get(at) {
            let text = word.text.as_str();
            if text == "--" {
                at += 1;
                break;
            }
            if let Some(long) = text.strip_prefix("--") {
                if name == "env" && long.starts_with("split-string") {
                    return self.split(long.split_once('=').map(|(_, t)| t), rest.get(at + 1));
                }
                opens |= long == "login" || long == "shell";
                at += 1 + usize::from(row.long.contains(&long));
            } else if let Some(short) = text.strip_prefix('-').filter(|s| !s.is_empty()) {
                if name == "command" && short.contains(['v', 'V']) {
                    self.looked_up(rest);
                    return Stdin::Data;
                }
                let valued = short.find(|c| row.short.contains(c));
                let flags = &short[..valued.unwrap_or(short.len())];
                opens |= ["sudo", "doas"].contains(&name) && flags.contains(['s', 'i']);
                if let (true, Some(place)) = (name == "env", short.find('S')) {
                    let joined = &short[place + 1..];
                    return self.split(Some(joined).filter(|t| !t.is_empty()), rest.get(at + 1));
                }
                at += 1 + usize::from(valued.is_some_and(|place| place + 1 == short.len()));
            } else if ["env", "sudo", "doas"].contains(&name) && is_assignment(text) {
                if super::tables::names_python(text, self.found()) {
                    self.unclear("a variable holds the name of a Python");
                }
                at += 1;
            } else {
                break;
            }
        }
        at += row.before;
        let command = rest.get(at..).unwrap_or_default();
        match name {
            "flock"
                if command
                    .first()
                    .is_some_and(|w| w.text == "-c" || w.text == "--command") =>
            {
                match command.get(1) {
                    Some(text) => self.text_of_commands(&text.text),
                    None => self.unclear("what a shell runs comes from elsewhere"),
                }
                return Stdin::Other;
            }
            // It hands its arguments to a shell.
            "watch" => {
                let texts: Vec<&str> = command.iter().map(|w| w.text.as_str()).collect();
                self.text_of_commands(&texts.join(" "));
                return Stdin::Data;
            }
            _ if opens && command.is_empty() => return Stdin::Commands,
            // Without a command it prints.
            "xargs" if command.is_empty() => return Stdin::Data,
            _ => {}
        }
        let appended = appended || name == "xargs";
        let used = self.command(command, appended);
        match (name, used) {
            ("xargs", Stdin::Commands) => {
                self.unclear("a shell that reads commands from elsewhere");
                Stdin::Data
            }
            ("xargs", _) => Stdin::Data,
            (_, used) => used,
        }
    }

    /// `env -S TEXT`.
    fn split(&mut self, joined: Option<&str>, next: Option<&Word>) -> Stdin {
        match joined.or(next.map(|w| w.text.as_str())) {
            Some(text) => self.text_of_commands(text),
            None => self.unclear("`env -S` of nothing"),
        }
        // What follows is added to it.
        self.unclear("`env -S` is not read to its end");
        Stdin::Other
    }

    fn looked_up(&mut self, rest: &[Word]) {
        if self.substituted > 0
            && rest
                .iter()
                .any(|w| super::tables::is_interpreter(super::tables::base(&w.text)))
        {
            self.unclear("where a Python is, is looked up for something else");
        }
    }
}
