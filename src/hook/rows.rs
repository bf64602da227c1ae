//! What a row of the tables says of a program: which of its options and words are commands, code or data.

mod speakers;
mod starters;
mod tools;

use super::language::Language;
use super::shell::Stdin;
use super::words::Word;

/// What a word is, or the words from it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Nothing of it is run.
    Data,
    /// A command, with its arguments behind it.
    Command,
    /// Text of a shell; several words are joined.
    Commands,
    /// The same if it begins with `|`.
    Piped,
    /// Keys that are typed into a terminal.
    Typed,
    /// The program that the command's words are arguments of.
    Entry,
    /// Text that the program reads in its own language.
    Code(Language),
    /// A file of such text.
    File(Language),
    /// Python, or a file of Python.
    Python,
    /// `NAME=VALUE`, where names with one of these parts hold a command.
    Pair(&'static str),
    /// A setting of git.
    Setting,
    /// Files that are copied: a Python among them gets another name.
    Copied,
    /// Names of programs that are looked up.
    Looked,
    /// Where git gets something from: `ext::COMMAND`.
    Remote,
    /// `NAME=VALUE`: a variable.
    Assigned,
    /// Every word is text of a shell by itself.
    Each,
    /// Words that commas part.
    Parted,
    /// An address of socat: `EXEC:COMMAND`.
    Address,
    /// `env -S`: words of a command, and what follows is added to them.
    Split,
    /// Not read at all.
    Closed,
    /// Nobody knows.
    Unknown,
}

/// The command stands behind `--`, whatever stands before it.
pub(super) const BEHIND: usize = usize::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    pub(super) names: &'static str,
    /// Options with a value that is data. One that is missing here makes its value the command, and the command an argument of a
    /// program of which nothing is known.
    valued: &'static str,
    /// Letters whose value is data and always joined.
    joined: &'static str,
    /// Options of several letters without a value.
    flags: &'static str,
    /// A long option has one dash, and no letters are joined.
    single: bool,
    /// Options whose value is more than data.
    runs: &'static [(&'static str, Place)],
    /// With these options nothing is run.
    pub(super) asks: &'static str,
    /// With these options it opens a shell.
    pub(super) opens: &'static str,
    /// So many words stand before the place.
    pub(super) before: usize,
    pub(super) then: Place,
    /// What it reads where no word and no option says what to run.
    pub(super) reads: Stdin,
    pub(super) subs: &'static [Program],
}

pub(super) const fn of(names: &'static str) -> Program {
    Program {
        names,
        valued: "",
        joined: "",
        flags: "",
        single: false,
        runs: &[],
        asks: "",
        opens: "",
        before: 0,
        then: Place::Data,
        reads: Stdin::Data,
        subs: &[],
    }
}

impl Program {
    pub(super) const fn valued(mut self, options: &'static str) -> Self {
        self.valued = options;
        self
    }

    pub(super) const fn joined(mut self, letters: &'static str) -> Self {
        self.joined = letters;
        self
    }

    pub(super) const fn flags(mut self, options: &'static str) -> Self {
        self.flags = options;
        self
    }

    pub(super) const fn single(mut self) -> Self {
        self.single = true;
        self
    }

    pub(super) const fn runs(mut self, options: &'static [(&'static str, Place)]) -> Self {
        self.runs = options;
        self
    }

    pub(super) const fn asks(mut self, options: &'static str) -> Self {
        self.asks = options;
        self
    }

    pub(super) const fn opens(mut self, options: &'static str) -> Self {
        self.opens = options;
        self
    }

    pub(super) const fn then(mut self, before: usize, place: Place) -> Self {
        self.before = before;
        self.then = place;
        self
    }

    pub(super) const fn reads(mut self, stdin: Stdin) -> Self {
        self.reads = stdin;
        self
    }

    pub(super) const fn subs(mut self, subs: &'static [Program]) -> Self {
        self.subs = subs;
        self
    }

    pub(super) fn first_name(&self) -> &'static str {
        self.names.split(' ').next().unwrap_or("")
    }

    pub(super) fn sub(&self, name: &str) -> Option<&'static Program> {
        self.subs.iter().find(|sub| has(sub.names, name))
    }

    fn place(&self, option: &str) -> Option<Place> {
        let row = self.runs.iter().find(|(names, _)| has(names, option));
        row.map(|(_, place)| *place)
    }

    /// Reads an option as this program would: joined letters, `--name=value`, and long names that are cut short.
    pub(super) fn option<'w>(&self, text: &'w str) -> Opt<'w> {
        let (name, joined) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let value = joined.map_or(Value::Next, Value::Joined);
        let mut option = Opt {
            place: self.place(name),
            value: Value::None,
            known: true,
            opens: has(self.opens, name),
            asks: has(self.asks, name),
        };
        if option.place.is_some() || has(self.valued, name) {
            option.value = value;
            return option;
        }
        option.known = false;
        if has(self.flags, text) {
            return option;
        }
        if text.starts_with("--") {
            let long = |names: &str| names.split(' ').any(|n| n.starts_with(name));
            if name.len() > 4 {
                let row = self.runs.iter().find(|(names, _)| long(names));
                option.place = row.map(|(_, place)| *place);
            }
            if option.place.is_some() {
                option.value = value;
            }
            return option;
        }
        if let Some(rest) = text.strip_prefix('+') {
            option.place = self.place("+");
            option.value = Value::Joined(rest);
            return option;
        }
        if self.single {
            return option;
        }
        for (at, letter) in text.char_indices().skip(1) {
            let end = at + letter.len_utf8();
            let mut flag = String::from('-');
            flag.push(letter);
            option.opens |= has(self.opens, &flag);
            option.asks |= has(self.asks, &flag);
            if has(self.joined, &flag) {
                option.value = Value::Joined(&text[end..]);
                return option;
            }
            option.place = self.place(&flag);
            if option.place.is_some() || has(self.valued, &flag) {
                option.value = match &text[end..] {
                    "" => Value::Next,
                    joined => Value::Joined(joined),
                };
                return option;
            }
        }
        option
    }

    /// Whether nothing but options stands here.
    pub(super) fn is_only_options(&self, words: &[Word]) -> bool {
        let mut at = 0;
        while let Some(word) = words.get(at) {
            if !self.is_option(&word.text) {
                return false;
            }
            at += 1 + usize::from(matches!(self.option(&word.text).value, Value::Next));
        }
        true
    }

    /// Whether a word of this form is an option of it at all.
    pub(super) fn is_option(&self, text: &str) -> bool {
        text.len() > 1
            && (text.starts_with('-') || text.starts_with('+') && self.place("+").is_some())
    }
}

/// An option as it was read.
pub(super) struct Opt<'w> {
    pub(super) place: Option<Place>,
    pub(super) value: Value<'w>,
    /// It stands in the row with its whole name.
    pub(super) known: bool,
    pub(super) opens: bool,
    pub(super) asks: bool,
}

pub(super) enum Value<'w> {
    None,
    Joined(&'w str),
    /// The next word.
    Next,
}

/// Whether a list of words has this one.
pub(super) fn has(list: &str, word: &str) -> bool {
    !list.is_empty() && list.split_ascii_whitespace().any(|w| w == word)
}

/// All rows.
pub(super) fn all() -> impl Iterator<Item = &'static Program> {
    let tables = [starters::STARTERS, speakers::SPEAKERS, tools::TOOLS];
    tables.into_iter().flatten()
}
