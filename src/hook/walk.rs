//! The one walk over a command's words: what the program's row says of each is judged as that.

use super::language::Language;
use super::rows::{BEHIND, Place, Program, Value};
use super::shell::{Scan, Stdin, is_assignment};
use super::tables::{self, base};
use super::words::{HIDDEN, Word};

/// Parts of the names of options whose value is a program.
const STARTING: [&str; 9] = [
    "exec", "-program", "command", "filter", "rsh", "tool", "-pack", "preproc", "-cmd",
];

/// What was seen of a command so far.
#[derive(Default)]
struct Seen {
    /// An option gave the program its text.
    coded: bool,
    /// A file option reads standard input.
    input: Option<Language>,
    opens: bool,
    /// It only tells something of itself, or where something is.
    asks: bool,
    entry: Option<Word>,
    operands: usize,
    /// The name of a Python stands among the words before the command.
    python: bool,
    /// One of them is a Python.
    interpreter: bool,
}

impl Scan<'_, '_> {
    pub(super) fn walk(&mut self, row: &Program, rest: &[Word], appended: bool) -> Stdin {
        let mut seen = Seen::default();
        let mut options = true;
        let mut at = 0;
        while let Some(word) = rest.get(at) {
            let text = word.text.as_str();
            if options && text == "--" {
                options = false;
                at += 1;
                if row.before == BEHIND {
                    return self.behind(row, &rest[at..], &mut seen, appended);
                }
                continue;
            }
            if options && row.is_option(text) {
                let option = row.option(text);
                seen.asks |= option.asks;
                seen.opens |= option.opens;
                at += 1;
                let from = at;
                let takes_rest = matches!(option.value, Value::Next);
                let joined;
                let value = match option.value {
                    Value::None => None,
                    Value::Joined(value) => {
                        joined = Word {
                            text: value.to_owned(),
                            name: word.name.clone(),
                            ..word.clone()
                        };
                        Some(&joined)
                    }
                    Value::Next => {
                        let next = rest.get(at);
                        // Where a row takes a switch for more than that, the next option is read as one all the same.
                        at += usize::from(
                            next.is_none_or(|w| w.text.len() < 2 || !w.text.starts_with('-')),
                        );
                        next
                    }
                };
                match (option.place, value) {
                    (Some(Place::Command), _) if takes_rest => {
                        return self.command(rest.get(from..).unwrap_or_default(), appended);
                    }
                    (Some(Place::Split), Some(value)) => {
                        self.text_of_commands(&value.text);
                        self.unclear("`env -S` is not read to its end");
                        return Stdin::Other;
                    }
                    (Some(Place::Closed), _) => self.place(row, Place::Closed, word, &mut seen),
                    (Some(Place::Python), None) => self.python(row.first_name()),
                    (Some(place), Some(value)) => self.place(row, place, value, &mut seen),
                    (None, _) if !option.known => self.unlisted(text, rest.get(at)),
                    (Some(_), None) if appended => {
                        self.unclear("the command is what comes on standard input");
                    }
                    _ => {}
                }
                continue;
            }
            if let Some(sub) = row.sub(text).filter(|_| seen.operands == 0) {
                return self.walk(sub, &rest[at + 1..], appended);
            }
            if row.before != BEHIND && seen.operands >= row.before {
                if seen.asks {
                    self.looked_up(&rest[at..]);
                    return Stdin::Data;
                }
                match row.then {
                    Place::Command if text == "-" => {
                        at += 1;
                        continue;
                    }
                    Place::Command if is_assignment(text) => {
                        self.assigned(word);
                        at += 1;
                        continue;
                    }
                    Place::Command | Place::Commands | Place::Typed => {
                        return self.behind(row, &rest[at..], &mut seen, appended);
                    }
                    Place::Unknown if row.reads == Stdin::Data => {
                        self.others(&rest[at..]);
                        return Stdin::Other;
                    }
                    Place::Setting => {
                        let value = rest.get(at + 1).map_or("", |w| w.text.as_str());
                        self.setting(text, value);
                    }
                    // Its first word is text, unless an option was.
                    Place::Code(language) if !seen.coded || language == Language::Sql => {
                        self.code(language, text);
                        seen.coded = true;
                    }
                    Place::File(_) if !seen.coded => {
                        self.place(row, row.then, word, &mut seen);
                        break;
                    }
                    Place::Code(_) | Place::File(_) => {}
                    place => self.place(row, place, word, &mut seen),
                }
            } else {
                seen.python |= word.looked || tables::names_python(text, self.found());
                seen.interpreter |= word.looked || tables::is_interpreter(base(text));
            }
            seen.operands += 1;
            at += 1;
        }
        self.ended(row, &seen, appended)
    }

    /// From the command on.
    fn behind(&mut self, row: &Program, rest: &[Word], seen: &mut Seen, appended: bool) -> Stdin {
        if rest.is_empty() {
            return self.ended(row, seen, appended);
        }
        if seen.interpreter || seen.python && row.before == BEHIND {
            self.unclear("a Python is named, and nobody knows what starts there");
        }
        match row.then {
            Place::Command => match seen.entry.take() {
                Some(entry) => {
                    let words: Vec<Word> = std::iter::once(&entry).chain(rest).cloned().collect();
                    self.command(&words, appended)
                }
                None => self.command(rest, appended),
            },
            Place::Typed => {
                self.typed(rest.iter().map(|w| w.text.as_str()));
                Stdin::Data
            }
            _ => {
                let texts: Vec<&str> = rest.iter().map(|w| w.text.as_str()).collect();
                self.text_of_commands(&texts.join(" "));
                Stdin::Other
            }
        }
    }

    /// No word says what is to run.
    fn ended(&mut self, row: &Program, seen: &Seen, appended: bool) -> Stdin {
        if seen.asks {
            return Stdin::Data;
        }
        if row.then == Place::Closed {
            self.place(row, Place::Closed, &Word::default(), &mut Seen::default());
        }
        if let Some(entry) = &seen.entry {
            return self.command(std::slice::from_ref(entry), appended);
        }
        if let Some(language) = seen.input {
            return Stdin::Code(language);
        }
        let commands = matches!(row.then, Place::Command | Place::Commands);
        if commands && appended {
            self.unclear("the command is what comes on standard input");
        }
        if commands && seen.python {
            self.unclear("a Python is named, and nobody knows what starts there");
        }
        if seen.opens {
            return Stdin::Commands;
        }
        if seen.coded || commands && seen.operands < row.before && row.before != BEHIND {
            return Stdin::Data;
        }
        row.reads
    }

    fn place(&mut self, row: &Program, place: Place, word: &Word, seen: &mut Seen) {
        let text = word.text.as_str();
        match place {
            Place::Data | Place::Split => {}
            Place::Command | Place::Commands | Place::Each => self.text_of_commands(text),
            Place::Piped => {
                if let Some(text) = text.trim_start().strip_prefix('|') {
                    self.text_of_commands(text);
                }
            }
            Place::Typed => self.typed(std::iter::once(text)),
            Place::Entry => seen.entry = Some(word.clone()),
            Place::Code(language) => {
                seen.coded = true;
                self.code(language, text);
            }
            Place::File(language) => {
                seen.coded = true;
                let input = ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];
                if input.contains(&text) {
                    seen.input = Some(language);
                } else if word.process {
                    self.unclear("what it runs comes from elsewhere");
                } else if tables::is_file_of_python(base(text)) && language.takes_python() {
                    self.python(base(text));
                }
            }
            Place::Python => self.python(row.first_name()),
            Place::Pair(parts) => {
                let Some((key, value)) = text.split_once(['=', ' ']) else {
                    return;
                };
                let key = key.to_lowercase();
                if parts.split(' ').any(|part| key.contains(part)) {
                    let quotes = |c: char| c.is_whitespace() || "\"'[],".contains(c);
                    self.text_of_commands(value.trim_matches(quotes));
                }
            }
            Place::Setting => {
                let (key, value) = text.split_once('=').unwrap_or((text, ""));
                self.setting(key, value);
            }
            Place::Assigned => {
                if is_assignment(text) {
                    self.assigned(word);
                }
            }
            Place::Parted => self.text_of_commands(&text.replace(',', " ")),
            Place::Address => {
                let lower = text.to_lowercase();
                let starts = ["exec:", "system:", "shell:", "exec-", "system-"];
                if starts.iter().any(|s| lower.starts_with(s)) {
                    let (_, command) = text.split_once(':').unwrap_or(("", text));
                    self.text_of_commands(&command.replace(',', " "));
                }
            }
            Place::Copied => self.copied(word),
            Place::Looked => self.looked_up(std::slice::from_ref(word)),
            Place::Remote => {
                if let Some(text) = text.strip_prefix("ext::") {
                    self.text_of_commands(text);
                }
            }
            Place::Closed => {
                self.unclear(format!(
                    "what `{}` runs there is not read",
                    row.first_name()
                ));
            }
            Place::Unknown => self.others(std::slice::from_ref(word)),
        }
    }

    /// A long option that is in no row, whose name says that it starts something.
    fn unlisted(&mut self, text: &str, next: Option<&Word>) {
        let (name, value) = match (text.split_once('='), next) {
            (Some((name, value)), _) => (name, value),
            (None, Some(next)) => (text, next.text.as_str()),
            (None, None) => return,
        };
        let starts = name.starts_with("--") && STARTING.iter().any(|part| name.contains(part));
        let first = value.split_whitespace().next().unwrap_or("");
        if starts && (tables::is_interpreter(base(first)) || tables::is_file_of_python(base(first)))
        {
            self.unclear("a Python behind an option that may start it");
        }
    }

    /// Programs of which nothing is known: a Python, a shell or a file of Python among their words may be started by them.
    pub(super) fn others(&mut self, rest: &[Word]) {
        let mut first = true;
        let mut starts = false;
        for (at, word) in rest.iter().enumerate() {
            let text = word.text.as_str();
            if word.looked || tables::names_python(text, self.found()) {
                return self
                    .unclear("a Python is named, and nobody knows what the program does with it");
            }
            if tables::SHELLS.contains(&base(text)) {
                // A shell behind a program that may start it.
                let used = self.command(&rest[at..], false);
                if used == Stdin::Commands {
                    self.unclear("a shell that reads commands from elsewhere");
                }
                return;
            }
            let option = text.starts_with('-');
            let (name, value) = match text.split_once('=') {
                Some((name, value)) if option => (name, value),
                _ => (text, text),
            };
            let value = value.split_whitespace().next().unwrap_or("");
            let path = ["./", "../", "~/"].iter().any(|p| value.starts_with(p));
            let named = option && tables::names_start(name);
            if tables::is_file_of_python(base(value))
                && (first && !option || starts || path || named)
            {
                return self.unclear("a file of Python stands where a command may stand");
            }
            starts = tables::names_start(name);
            let plain = text
                .chars()
                .all(|c| c.is_ascii_digit() || ".smhd%".contains(c));
            first &= option || plain || starts || is_assignment(text);
        }
    }

    /// A file that gets another name.
    fn copied(&mut self, word: &Word) {
        let text = word.text.as_str();
        let name = base(&word.name);
        let folder = &word.name[..word.name.len() - name.len()];
        let programs = folder.contains("bin/");
        let named = tables::is_interpreter(base(text)) && programs;
        if word.looked || named || name.contains(HIDDEN) && tables::may_be_interpreter(name, folder)
        {
            self.unclear("a Python gets another name");
        }
    }

    /// Names whose files are looked up: what a substitution makes of them may be a Python's.
    pub(super) fn looked_up(&mut self, rest: &[Word]) {
        let python = |w: &Word| {
            let name = base(&w.name);
            let hidden = name.contains(HIDDEN) && !w.is_hidden();
            tables::is_interpreter(base(&w.text))
                || hidden && tables::may_be_interpreter(name, "/bin/")
        };
        if self.substituted > 0 && rest.iter().any(python) {
            self.found().looked += 1;
        }
    }

    /// Keys for a terminal: names of keys stand between them.
    pub(super) fn typed<'w>(&mut self, keys: impl Iterator<Item = &'w str>) {
        let mut text = String::new();
        for key in keys {
            match key {
                "Enter" | "enter" | "RETURN" | "Return" | "C-m" | "KPEnter" | "C-j" | "<Enter>"
                | "\\n" => {
                    text.push('\n');
                }
                "Space" => text.push(' '),
                _ => text.push_str(key),
            }
        }
        let text = text
            .replace(['\r', '\u{4}'], "\n")
            .replace("\\n", "\n")
            .replace("^M", "\n");
        let typed: String = text
            .chars()
            .filter(|c| *c == '\n' || *c == '\t' || !c.is_control() || *c == HIDDEN)
            .collect();
        self.text_of_commands(&typed);
    }
}
