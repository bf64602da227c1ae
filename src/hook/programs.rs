//! One command: what its program is, and the few programs whose words no row of the tables describes.

use super::rows::has;
use super::shell::{Scan, Stdin};
use super::tables::{self, Kind, base};
use super::words::{HIDDEN, Word};

/// What only asks a program for itself.
const ASKING: &str = "--version -V -VV --help -h";

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
        let asks = !appended && matches!(rest, [only] if has(ASKING, &only.text));
        if tables::is_interpreter(name) {
            if !asks {
                self.interpreter(name, rest);
            }
            return Stdin::Data;
        }
        if tables::is_file_of_python(name) {
            self.python(name);
            return Stdin::Data;
        }
        let odd = |c: char| c == HIDDEN || c.is_control() || c.is_whitespace();
        if name.is_empty() || name.contains(odd) || name == "{}" {
            if self.is_known_variable(first) {
                self.others(rest);
            } else if !(words.len() == 1 && first.text.is_empty()) {
                // Nothing at all is no command.
                self.unclear("the name of a command is not written out");
            }
            return Stdin::Other;
        }
        if name.starts_with('-') {
            // A row took an option for a word.
            self.unclear("the name of a command is not written out");
        }
        self.sets_variables(name, rest);
        match name {
            "eval" => self.evaluated(rest),
            "." | "source" => self.sourced(rest),
            "trap" | "alias" => self.texts(rest),
            "su" | "runuser" | "script" => return self.with_text(rest, appended),
            "find" | "gfind" => self.find(rest),
            "fd" | "fdfind" => self.behind_flag(rest, &["-x", "-X", "--exec", "--exec-batch"]),
            "xargs" | "gxargs" => self.xargs(rest),
            "parallel" | "rush" => self.parallel(rest),
            "tmux" | "byobu" => self.terminals(rest, appended),
            _ => match tables::kind(name) {
                Some(Kind::Runner) if asks && !tables::LOADING.contains(&name) => {}
                Some(Kind::Runner) => self.python(name),
                Some(Kind::Manager(harmless)) => self.manager(name, rest, harmless),
                Some(Kind::Shell) => return self.shell(name, rest, appended),
                Some(Kind::Row(row)) => return self.walk(row, rest, appended),
                None if tables::is_runner(name) => self.python(name),
                // Its body was read.
                None if self.found().functions.contains(name) => self.named_among(rest),
                None => {
                    self.others(rest);
                    return Stdin::Other;
                }
            },
        }
        Stdin::Data
    }

    fn named_among(&mut self, rest: &[Word]) {
        if rest
            .iter()
            .any(|w| w.looked || tables::names_python(&w.text, self.found()))
        {
            self.unclear("a Python is named, and nobody knows what the program does with it");
        }
    }

    fn interpreter(&mut self, name: &str, rest: &[Word]) {
        match rest {
            [option, module, ..] if option.text == "-m" => {
                self.python(&format!("{name} -m {}", module.text));
            }
            _ => self.python(name),
        }
    }

    fn manager(&mut self, name: &str, rest: &[Word], harmless: &str) {
        let quiet = "-q -v --quiet --verbose --offline --no-color --json -y";
        let mut rest = rest.iter().map(|w| w.text.as_str());
        let first = rest.find(|text| !has(quiet, text)).unwrap_or("");
        let both = format!("{first} {}", rest.next().unwrap_or(""));
        let known = |text: &str| harmless.split('|').any(|h| h == text);
        if !(first.is_empty() || has(ASKING, first) || known(first) || known(&both)) {
            self.python(&format!("{name} {first}"));
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

    /// `find … -exec COMMAND ;`: `{}` is a file that nobody sees.
    fn find(&mut self, rest: &[Word]) {
        if self.substituted > 0 {
            self.looked_up(rest);
        }
        let mut at = 0;
        while let Some(word) = rest.get(at) {
            at += 1;
            if !has("-exec -execdir -ok -okdir", &word.text) {
                continue;
            }
            let from = at;
            while rest.get(at).is_some_and(|w| w.text != ";" && w.text != "+") {
                at += 1;
            }
            self.started(&replaced(&rest[from..at], &["{}"]));
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
            return self.started(&replaced(
                &rest[at + 1..],
                &["{}", "{.}", "{/}", "{//}", "{/.}"],
            ));
        }
        let joined = |w: &&Word| {
            w.text.starts_with("--exec") || w.text.starts_with("-x") || w.text.starts_with("-X")
        };
        if rest.iter().any(|w| joined(&w)) {
            self.unclear("a command that is joined to its option is not read");
        }
    }

    /// `xargs -I MARK COMMAND`: the mark is a word that nobody sees.
    fn xargs(&mut self, rest: &[Word]) {
        let mut mark = None;
        for (at, word) in rest.iter().enumerate() {
            let text = word.text.as_str();
            let next = || rest.get(at + 1).map_or("", |w| w.text.as_str());
            mark = match text.strip_prefix("-I").or_else(|| text.strip_prefix("-J")) {
                Some("") => Some(next()),
                Some(joined) => Some(joined),
                None if text == "-i" || text == "--replace" => Some("{}"),
                None => text.strip_prefix("--replace=").or(text.strip_prefix("-i")),
            };
            if mark.is_some()
                || !text.starts_with('-') && at > 0 && !rest[at - 1].text.starts_with('-')
            {
                break;
            }
        }
        let words = match mark.filter(|mark| !mark.is_empty()) {
            Some(mark) => replaced(rest, &[mark]),
            None => rest.to_vec(),
        };
        let Some(Kind::Row(row)) = tables::kind("xargs") else {
            return;
        };
        // Without a command it prints.
        let prints = row.is_only_options(&words);
        if !prints && self.walk(row, &words, true) == Stdin::Commands {
            self.unclear("a shell that reads commands from elsewhere");
        }
    }

    /// GNU parallel: the command up to `:::`, or a command in each word behind it.
    fn parallel(&mut self, rest: &[Word]) {
        let end = rest
            .iter()
            .position(|w| w.text.starts_with(":::"))
            .unwrap_or(rest.len());
        let marks = [
            "{}", "{.}", "{/}", "{//}", "{/.}", "{1}", "{2}", "{3}", "{#}",
        ];
        let words = replaced(&rest[..end], &marks);
        let valued = "-j -a -S -P -N -n -L -I -C -d -E --jobs --arg-file --sshlogin --colsep --delay --joblog --results --timeout --max-args \
                      --delimiter --retries --workdir --tmpdir --load --memfree --nice --env --basefile --tagstring --wd";
        let mut at = 0;
        while let Some(word) = words.get(at).filter(|w| w.text.starts_with('-')) {
            at += 1 + usize::from(has(valued, &word.text));
        }
        let command = words.get(at..).unwrap_or_default();
        if !command.is_empty() {
            let marked = command.iter().any(Word::is_hidden);
            let mut texts: Vec<&str> = command.iter().map(|w| w.text.as_str()).collect();
            if !marked {
                // What it adds: the name of a program behind `env` and its like.
                texts.push("\0");
            }
            return self.text_of_commands(&texts.join(" "));
        }
        if rest.get(end).is_none_or(|w| w.text != ":::") {
            self.unclear("the command is what comes on standard input");
        }
        for word in rest.get(end + 1..).unwrap_or_default() {
            self.text_of_commands(&word.text);
        }
    }

    /// tmux takes several commands, with `;` as a word between them.
    fn terminals(&mut self, rest: &[Word], appended: bool) {
        let Some(Kind::Row(row)) = tables::kind("tmux") else {
            return;
        };
        for command in rest.split(|w| w.text == ";") {
            if self.walk(row, command, appended) == Stdin::Commands {
                self.unclear("a shell that reads commands from elsewhere");
            }
        }
    }
}

/// The words with what only the program will know in place of its marks.
fn replaced(words: &[Word], marks: &[&str]) -> Vec<Word> {
    let hide = |text: &str| {
        marks.iter().fold(text.to_owned(), |text, mark| {
            if text.contains(mark) {
                text.replace(mark, "\0")
            } else {
                text
            }
        })
    };
    let word = |word: &Word| Word {
        text: hide(&word.text),
        name: hide(&word.name),
        ..word.clone()
    };
    words.iter().map(word).collect()
}
