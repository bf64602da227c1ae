//! Command lines of POSIX shells, read without running anything: which commands they would start. Where the shells differ, or the
//! text is not understood, the answer is "unclear".

use std::collections::HashSet;

use super::Answer;
use super::language::Language;
use super::streams::{Document, Feed, Simple};
use super::tables;
use super::words::{HIDDEN, Word, is_blank};

/// A longer command line is unclear.
const TEXT_MAX: usize = 256 << 10;
/// How deep substitutions, groups and shells in shells may nest.
const DEPTH_MAX: usize = 32;

/// What was found so far, and how much work it took.
pub(super) struct Found {
    python: Option<String>,
    unclear: Option<String>,
    pub(super) steps: usize,
    steps_max: usize,
    /// How often a substitution looked up where a Python is.
    pub(super) looked: usize,
    /// A variable that may stand for a compiler got a value that was not read.
    pub(super) set: bool,
    /// Functions whose bodies were read.
    pub(super) functions: HashSet<String>,
}

impl Found {
    pub(super) fn new(length: usize) -> Self {
        Self {
            python: None,
            unclear: None,
            steps: 0,
            steps_max: steps_max(length),
            looked: 0,
            set: false,
            functions: HashSet::new(),
        }
    }

    /// Counts work; beyond what is allowed, the answer is unclear.
    pub(super) fn step(&mut self, count: usize) -> bool {
        self.steps += count;
        if self.steps > self.steps_max {
            self.unclear("the command is too involved to be read");
        }
        self.steps <= self.steps_max
    }

    pub(super) fn unclear(&mut self, why: impl Into<String>) {
        self.unclear.get_or_insert_with(|| why.into());
    }

    pub(super) fn python(&mut self, what: &str) {
        self.python.get_or_insert_with(|| super::call::short(what));
    }

    fn answer(self) -> Answer {
        match (self.python, self.unclear) {
            (Some(what), _) => Answer::Python(what),
            (None, Some(why)) => Answer::Unclear(why),
            (None, None) => Answer::Silent,
        }
    }
}

/// The most steps that a command of this length may take.
pub(super) fn steps_max(length: usize) -> usize {
    length.saturating_mul(64).saturating_add(4096)
}

pub(super) fn judge(text: &str) -> Answer {
    judged(text).answer()
}

pub(super) fn judged(text: &str) -> Found {
    let mut found = Found::new(text.len());
    if text.len() > TEXT_MAX {
        found.unclear(format!("the command is longer than {TEXT_MAX} bytes"));
    } else if text.contains(HIDDEN) {
        found.unclear("the command has a null byte");
    } else {
        Scan::new(text, &mut found).list(End::Text);
    }
    found
}

/// The same of a command that is a list of words already.
pub(super) fn judge_words(words: &[&str]) -> Answer {
    let length = words.iter().map(|w| w.len()).sum();
    let mut found = Found::new(length);
    if length > TEXT_MAX || words.iter().any(|w| w.contains(HIDDEN)) {
        found.unclear("the command is too long or has a null byte");
        return found.answer();
    }
    // No shell reads these: a pattern in a name is part of the name.
    let words: Vec<Word> = words
        .iter()
        .map(|w| Word {
            quoted: true,
            ..Word::plain(w)
        })
        .collect();
    let mut scan = Scan::new("", &mut found);
    let uses = scan.command(&words, false);
    if uses == Stdin::Commands {
        scan.unclear("a shell that reads commands from elsewhere");
    }
    found.answer()
}

/// The same of what is typed into a terminal, with the names of keys in between.
pub(super) fn judge_typed(keys: &[&str]) -> Answer {
    let length = keys.iter().map(|k| k.len()).sum();
    let mut found = Found::new(length);
    if length > TEXT_MAX || keys.iter().any(|k| k.contains(HIDDEN)) {
        found.unclear("what is typed is too long or has a null byte");
    } else {
        Scan::new("", &mut found).typed(keys.iter().copied());
    }
    found.answer()
}

/// What a command does with its standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stdin {
    /// It is data.
    Data,
    /// It is commands of a shell.
    Commands,
    /// It is text of this language, where something is given to it.
    Code(Language),
    /// Nobody knows: the name of a Python in it is one too many.
    Other,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Text,
    Parenthesis,
}

/// Which words are no commands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Command,
    /// Behind `for` or `select`.
    For,
    /// Behind `case`, up to `in`.
    Case,
    Pattern,
    /// Inside `[[ … ]]`; the flag is set behind an operator of other shells.
    Condition(bool),
    /// Behind `function`.
    Name,
}

pub(super) struct Scan<'t, 'f> {
    pub(super) bytes: &'t [u8],
    pub(super) at: usize,
    pub(super) found: &'f mut Found,
    depth: usize,
    /// Inside how many substitutions.
    pub(super) substituted: usize,
    /// Inside arithmetic, where `<<` is no here-document.
    pub(super) counting: usize,
    pub(super) documents: Vec<Document>,
    /// What comes through a pipe to the command that is read.
    pub(super) feed: Feed,
    /// The same for every command of a group.
    pub(super) group_feed: Feed,
}

impl<'t, 'f> Scan<'t, 'f> {
    fn new(text: &'t str, found: &'f mut Found) -> Self {
        Self {
            bytes: text.as_bytes(),
            at: 0,
            found,
            depth: 0,
            substituted: 0,
            counting: 0,
            documents: Vec::new(),
            feed: Feed::None,
            group_feed: Feed::None,
        }
    }

    pub(super) fn found(&mut self) -> &mut Found {
        self.found
    }

    pub(super) fn unclear(&mut self, why: impl Into<String>) {
        self.found.unclear(why);
    }

    pub(super) fn python(&mut self, what: &str) {
        self.found.python(what);
    }

    pub(super) fn at(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.at(0)
    }

    pub(super) fn take(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.skip(1);
        Some(byte)
    }

    pub(super) fn skip(&mut self, count: usize) {
        self.at = (self.at + count).min(self.bytes.len());
        if !self.found.step(count) {
            self.at = self.bytes.len();
        }
    }

    /// Whether the work has to end here.
    pub(super) fn is_over(&self) -> bool {
        self.found.steps > self.found.steps_max
    }

    pub(super) fn enter(&mut self) -> bool {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            self.unclear("the command nests too deeply");
            self.at = self.bytes.len();
            self.depth -= 1;
            return false;
        }
        true
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Text that a shell would run, as part of what is read here.
    pub(super) fn text_of_commands(&mut self, text: &str) {
        self.inner(text, |scan| scan.list(End::Text));
    }

    pub(super) fn inner(&mut self, text: &str, read: impl FnOnce(&mut Scan<'_, '_>)) {
        if !self.enter() {
            return;
        }
        let mut scan = Scan::new(text, self.found);
        scan.depth = self.depth;
        scan.substituted = self.substituted;
        read(&mut scan);
        self.leave();
    }

    pub(super) fn within_substitution(&mut self, read: impl FnOnce(&mut Self)) {
        self.substituted += 1;
        read(self);
        self.substituted -= 1;
    }

    /// Behind `$(` or `<(`, up to its end.
    pub(super) fn substitution(&mut self) {
        let outer = std::mem::take(&mut self.documents);
        let counting = std::mem::take(&mut self.counting);
        let feeds = (
            std::mem::take(&mut self.feed),
            std::mem::take(&mut self.group_feed),
        );
        self.within_substitution(Self::group);
        if !self.documents.is_empty() {
            self.unclear("a here-document is not in the parentheses it begins in");
        }
        self.counting = counting;
        self.documents = outer;
        (self.feed, self.group_feed) = feeds;
    }

    /// Behind `(`, up to its end.
    pub(super) fn group(&mut self) {
        if self.enter() {
            self.fed_as_a_group();
            self.list(End::Parenthesis);
            self.leave();
        }
    }

    /// Behind `((`. It is read as commands, because some shells take it so; where it ends as arithmetic does, only a Python in it
    /// counts.
    pub(super) fn arithmetic(&mut self, substituted: bool) {
        let before = self.found.unclear.clone();
        self.counting += 1;
        self.substituted += usize::from(substituted);
        self.group();
        if self.peek() == Some(b')') {
            self.take();
            if !self.is_over() {
                self.found.unclear = before;
            }
        } else if self.enter() {
            self.list(End::Parenthesis);
            self.leave();
        }
        self.substituted -= usize::from(substituted);
        self.counting -= 1;
    }

    /// Commands up to an end.
    pub(super) fn list(&mut self, end: End) {
        let mut now = Simple::default();
        let mut mode = Mode::Command;
        let mut cases = 0_usize;
        while !self.is_over() {
            let Some(byte) = self.peek() else {
                self.finish(&mut now);
                if end == End::Parenthesis {
                    self.unclear("a parenthesis is not closed");
                } else if !self.documents.is_empty() {
                    self.unclear("a here-document does not end");
                }
                if mode != Mode::Command {
                    self.unclear("a `case`, `for` or `[[` does not end");
                }
                return;
            };
            match byte {
                byte if is_blank(byte) => self.skip(1),
                b'\\' if self.at(1) == Some(b'\n') => self.skip(2),
                b'\n' => {
                    self.finish(&mut now);
                    self.skip(1);
                    self.bodies();
                    if matches!(mode, Mode::For | Mode::Name) {
                        mode = Mode::Command;
                    }
                }
                b'#' if self.counting == 0 => {
                    while self.peek().is_some_and(|b| b != b'\n') {
                        self.skip(1);
                    }
                }
                b';' => {
                    self.finish(&mut now);
                    self.skip(1);
                    let ends = matches!(self.peek(), Some(b';' | b'&'));
                    while matches!(self.peek(), Some(b';' | b'&')) {
                        self.skip(1);
                    }
                    match mode {
                        Mode::Case | Mode::Pattern => self.unclear("a `case` that is not read"),
                        _ => mode = Mode::Command,
                    }
                    if ends && cases > 0 {
                        mode = Mode::Pattern;
                    }
                }
                b'&' if self.at(1) == Some(b'>') => {
                    self.skip(2);
                    if self.peek() == Some(b'>') {
                        self.skip(1);
                    }
                    self.target();
                }
                b'&' | b'|' => {
                    let double = self.at(1) == Some(byte);
                    self.skip(if double { 2 } else { 1 });
                    match mode {
                        Mode::Pattern if byte == b'|' && !double => {}
                        Mode::Condition(_) => mode = Mode::Condition(true),
                        Mode::Case | Mode::Pattern => self.unclear("a `case` that is not read"),
                        _ => {
                            if byte == b'|' && !double && self.peek() == Some(b'&') {
                                self.skip(1);
                            }
                            let pipes = byte == b'|' && !double;
                            self.finish_into(&mut now, pipes);
                            mode = Mode::Command;
                        }
                    }
                }
                b'(' => self.open(&mut now, mode),
                b')' => {
                    self.skip(1);
                    match mode {
                        Mode::Pattern => mode = Mode::Command,
                        Mode::Condition(_) => {}
                        _ if end == End::Parenthesis => {
                            self.finish(&mut now);
                            if mode != Mode::Command {
                                self.unclear("a `case` or `for` does not end");
                            }
                            return;
                        }
                        _ => self.unclear("a parenthesis closes nothing"),
                    }
                }
                b'<' | b'>' if self.at(1) != Some(b'(') => match mode {
                    Mode::Condition(_) if self.at(1) != Some(b'<') => self.skip(1),
                    Mode::Pattern => {
                        self.unclear("a `case` that is not read");
                        self.skip(1);
                    }
                    _ => self.redirect(&mut now),
                },
                _ => {
                    let word = self.word();
                    self.put(word, &mut now, &mut mode, &mut cases);
                }
            }
        }
    }

    fn open(&mut self, now: &mut Simple, mode: Mode) {
        // A list behind `declare -a name=`.
        let joined = self.at > 0 && self.bytes[self.at - 1] == b'=';
        self.skip(1);
        if joined && mode == Mode::Command && !now.words.is_empty() {
            return self.array();
        }
        match mode {
            Mode::Pattern | Mode::Condition(_) => {}
            Mode::For if self.peek() == Some(b'(') => {
                self.skip(1);
                self.arithmetic(false);
            }
            Mode::Command if now.words.is_empty() && !now.assigned => {
                if self.peek() == Some(b'(') {
                    self.skip(1);
                    self.arithmetic(false);
                } else {
                    self.group();
                }
            }
            Mode::Command | Mode::Name => {
                while self.peek().is_some_and(is_blank) {
                    self.skip(1);
                }
                if self.peek() == Some(b')') {
                    // A function: its body follows as commands.
                    self.skip(1);
                    self.found
                        .functions
                        .extend(now.words.drain(..).map(|w| w.text));
                } else if self.counting == 0 {
                    self.unclear("a parenthesis that is not read");
                } else {
                    self.group();
                }
            }
            _ => self.unclear("a parenthesis that is not read"),
        }
    }

    /// A word in its place.
    fn put(&mut self, word: Word, now: &mut Simple, mode: &mut Mode, cases: &mut usize) {
        let text = word.text.as_str();
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let open = text
            .rsplit_once('[')
            .is_some_and(|(name, rest)| name.ends_with(part) && !rest.contains(']'));
        if open && !word.quoted {
            // Shells read on to the bracket, past blanks and operators.
            self.unclear("a bracket is not closed in its word");
        }
        if text.contains("[$(") || text.contains("[`") {
            // As the name of a variable it would be run.
            self.unclear("a command stands in brackets");
        }
        // The number of a file, or a variable for one.
        if matches!(self.peek(), Some(b'<' | b'>')) && self.at(1) != Some(b'(') {
            let text = word.text.trim_start_matches('{').trim_end_matches('}');
            let braced = word.text.len() == text.len() + 2;
            let number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            let named = braced && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            if !word.quoted && (number || named) {
                return;
            }
        }
        match *mode {
            Mode::Name => {
                self.found.functions.insert(word.text);
                *mode = Mode::Command;
            }
            Mode::For if word.is("do") || word.is("{") => *mode = Mode::Command,
            Mode::For => self.sets_variables("for", std::slice::from_ref(&word)),
            Mode::Case if word.is("in") => {
                *mode = Mode::Pattern;
                *cases += 1;
            }
            Mode::Case => {}
            Mode::Pattern if word.is("esac") => {
                *mode = Mode::Command;
                *cases = cases.saturating_sub(1);
            }
            Mode::Pattern => {}
            Mode::Condition(_) if word.is("]]") => *mode = Mode::Command,
            Mode::Condition(behind) => {
                if behind && tables::is_interpreter(tables::base(&word.text)) {
                    self.unclear("the name of a Python behind an operator in `[[`");
                }
                *mode = Mode::Condition(false);
            }
            Mode::Command if now.words.is_empty() => self.first(word, now, mode, cases),
            Mode::Command => now.words.push(word),
        }
    }

    /// The first word of a command: perhaps one that the shell itself knows.
    fn first(&mut self, word: Word, now: &mut Simple, mode: &mut Mode, cases: &mut usize) {
        if !word.quoted && !now.assigned {
            match word.text.as_str() {
                "while" | "until" | "if" | "{" if self.feed != Feed::None => {
                    return self.fed_as_a_group();
                }
                "if" | "then" | "elif" | "else" | "while" | "until" | "do" | "{" | "!" | "fi"
                | "done" | "}" => return,
                "for" | "select" | "foreach" => {
                    self.fed_as_a_group();
                    return *mode = Mode::For;
                }
                "case" => return *mode = Mode::Case,
                "function" => return *mode = Mode::Name,
                "[[" => return *mode = Mode::Condition(false),
                "esac" if *cases > 0 => return *cases -= 1,
                "coproc" => return self.unclear("`coproc` is not read"),
                _ => {}
            }
        }
        if !is_assignment(&word.text) {
            return now.words.push(word);
        }
        now.assigned = true;
        self.assigned(&word);
        if word.text.ends_with('=') && self.peek() == Some(b'(') {
            self.skip(1);
            self.array();
        }
    }

    fn array(&mut self) {
        loop {
            match self.peek() {
                Some(b')') => return self.skip(1),
                Some(byte) if is_blank(byte) || byte == b'\n' => self.skip(1),
                Some(b'<' | b'>') if self.at(1) == Some(b'(') => drop(self.word()),
                Some(b';' | b'&' | b'|' | b'<' | b'>' | b'(') | None => {
                    return self.unclear("a list that is not read");
                }
                Some(b'#') => return self.unclear("a comment in a list is not read"),
                Some(_) => {
                    let word = self.word();
                    self.assigned(&word);
                }
            }
            if self.is_over() {
                return;
            }
        }
    }
}

/// `NAME=…`, `NAME+=…`, `NAME[…]=…`.
pub(super) fn is_assignment(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
