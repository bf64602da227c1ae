//! Secrets by the names that they are given to: one reading of `name = value` for code, JSON, YAML, markup, shells and
//! addresses.
//!
//! A text is searched once for parts of names that tell. Around each the name is read, behind it what separates it from
//! its value, and then the value; each of these is bounded, so time is in proportion to the text.

mod around;
mod calls;
mod columns;
mod judge;
mod literal;
mod markup;
mod name;
mod tables;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use aho_corasick::AhoCorasick;

pub(super) use columns::QUESTIONS;
pub(super) use judge::{is_random, stands_for_another};

use super::scan;
use judge::{Bare, Written, is_secret};
use literal::{Quote, before, byte, closes, elements, opens, skip, string, strings};
use name::{LONGEST, Meant, Name, TELLING};

/// The kind of a password.
pub(super) const PASSWORD: &str = "password";
/// First words of functions that return what their names say.
const GIVES: [&str; 5] = ["get", "load", "fetch", "read", "find"];
/// The kind of a token or a key.
pub(super) const SECRET: &str = "secret";
/// The kind of what a header says of who asks.
pub(super) const AUTHORIZATION: &str = "authorization";

static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(TELLING)
        .ok()
});

static KINDS: LazyLock<[Arc<str>; 3]> =
    LazyLock::new(|| [PASSWORD, SECRET, AUTHORIZATION].map(Arc::from));

pub(super) fn find(text: &str, add: &mut impl FnMut(Range<usize>, &Arc<str>)) {
    let Some(words) = &*WORDS else { return };
    let mut done = 0;
    let mut tells = Vec::new();
    // The same names come again and again.
    let mut names: HashMap<&str, Option<Name>> = HashMap::new();
    scan::read(text.len());
    for word in words.find_iter(text) {
        if word.start() < done {
            continue;
        }
        let (at, whole) = around(text, word.range(), done);
        done = at.end.max(word.end());
        if !whole {
            continue;
        }
        // A heading may have more words: `api key`.
        tells.push(at.start);
        let written = text.get(at.clone()).unwrap_or_default();
        let name = names
            .entry(written)
            .or_insert_with(|| Name::of(written))
            .clone();
        let defined = text[..at.start].ends_with("def ");
        let name = match name {
            None if defined => written
                .split_once('_')
                .filter(|(verb, _)| GIVES.contains(verb))
                .and_then(|(_, name)| Name::of(name)),
            name => name,
        };
        let Some(name) = name else { continue };
        let meant = name.meant;
        let place = Place { text, at, name };
        // `auth = …` without brackets is no pair.
        let meant = match meant {
            Meant::Pair if !place.is_pair() => Meant::Secret,
            other => other,
        };
        if defined {
            place.returned(&mut |found| add(found, kind(meant)));
        }
        place.values(&mut |found| add(found, kind(meant)));
    }
    tables::find(text, &tells, |found, meant| add(found, kind(meant)));
    tables::inserted(text, |found, meant| add(found, kind(meant)));
    calls::find(text, |found, meant| add(found, kind(meant)));
}

fn kind(meant: Meant) -> &'static Arc<str> {
    let [password, secret, authorization] = &*KINDS;
    match meant {
        Meant::Password | Meant::Pass | Meant::Pair => password,
        Meant::Secret => secret,
        Meant::Authorization => authorization,
    }
}

/// The name around a word that tells, and whether it is no longer than names are.
fn around(text: &str, word: Range<usize>, from: usize) -> (Range<usize>, bool) {
    let is_part = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let bytes = text.as_bytes();
    let begin = text.ceil_char_boundary(
        from.max(word.start.saturating_sub(LONGEST + 4))
            .min(word.start),
    );
    let first = text[begin..word.start].rfind(|c| !is_part(c));
    let before = first.map_or(word.start - begin, |at| {
        let c = text[begin + at..].chars().next();
        word.start - begin - at - c.map_or(1, char::len_utf8)
    });
    // Longer ones are read to their end, so that they are read once.
    let behind = text[word.end..].find(|c| !is_part(c));
    let behind = behind.unwrap_or(text.len() - word.end);
    scan::read(before + behind + 2);
    let whole = before <= LONGEST && behind <= LONGEST;
    let (mut start, mut end) = (word.start - before, word.end + behind);
    if !whole {
        return (start..end, false);
    }
    while start < word.start && matches!(bytes[start], b'-' | b'.') {
        start += 1;
    }
    // `\npassword`
    let slashes = scan::behind(text, start, 9, |b| b == b'\\');
    if slashes % 2 == 1 && start < word.start && b"nrt".contains(&bytes[start]) {
        start += 1;
    }
    while end > word.end && matches!(bytes[end - 1], b'-' | b'.') {
        end -= 1;
    }
    (start..end, true)
}

/// A name that tells and where it stands.
struct Place<'a> {
    text: &'a str,
    at: Range<usize>,
    name: Name,
}

/// What stands between a name and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Between {
    /// `=`, with or without blanks before the value.
    Equals,
    Colon,
    /// The blank behind `--password`.
    Flag,
}

impl<'a> Place<'a> {
    /// What stands in the place of a secret, whatever it is called.
    fn alone(text: &'a str, meant: Meant) -> Self {
        let name = Name {
            meant,
            more: false,
            many: false,
            capitals: false,
            sets: false,
        };
        Self {
            text,
            at: 0..0,
            name,
        }
    }
}

impl Place<'_> {
    fn byte(&self, at: usize) -> u8 {
        byte(self.text, at)
    }

    fn says(&self, at: usize, what: &str) -> bool {
        self.text
            .as_bytes()
            .get(at..)
            .is_some_and(|rest| rest.starts_with(what.as_bytes()))
    }

    fn is(&self, at: &Range<usize>, written: Written) -> bool {
        self.text
            .get(at.clone())
            .is_some_and(|value| is_secret(&self.name, written, value))
    }

    /// The dashes of `--password` belong to it.
    fn start(&self) -> usize {
        self.at.start - scan::behind(self.text, self.at.start, 2, |b| b == b'-')
    }

    fn quote(&self) -> Option<(Quote, usize)> {
        let quote = before(self.text, self.start())?;
        closes(self.text, self.at.end, quote).map(|end| (quote, end))
    }

    /// Hands out each value of the name that is a secret.
    fn values(&self, add: &mut impl FnMut(Range<usize>)) {
        let quote = self.quote();
        let mut at = quote.map_or(self.at.end, |(_, end)| end);
        self.compared(quote, add);
        if quote.is_none() && self.of_several(add) {
            return;
        }
        while self.byte(at) == b']' || self.byte(at) == b')' && quote.is_some() {
            at += 1;
        }
        let near = skip(self.text, at, false);
        match (self.byte(near), self.byte(near + 1)) {
            (b'=' | b'!', b'=') if self.selects_rows(quote) => {}
            (b'=' | b'!', b'=') => {
                let third = usize::from(self.byte(near + 2) == b'=');
                self.value(near + 2 + third, Between::Equals, add);
            }
            (b'=' | b'-', b'>') | (b':' | b'+' | b'?', b'=') => {
                self.value(near + 2, Between::Colon, add);
            }
            (b'|', b'|') if self.byte(near + 2) == b'=' => {
                self.value(near + 3, Between::Colon, add);
            }
            (b'=', _) => self.value(near + 1, Between::Equals, add),
            (b':', _) if quote.is_some() && self.is_in_table() => {}
            (b':', _) => self.colon(near + 1, quote.is_some(), add),
            (b'(', _) => self.called(near + 1, add),
            (b',', _) => self.paired(near + 1, quote, add),
            (b'<', b'/') => self.next_element(near, add),
            (b'\n', _) => self.named_value(near, add),
            _ if self.markup(at, quote, add) => {}
            _ if near > at => self.blank(near, quote, add),
            _ => {}
        }
    }

    /// What is directly before the name's quote, or the name.
    fn before(&self, quote: Option<(Quote, usize)>) -> usize {
        self.start() - quote.map_or(0, |(quote, _)| quote.slashes + 1)
    }

    /// `password: str = "…"`, `"password": "…"`, YAML.
    fn colon(&self, at: usize, quoted: bool, add: &mut impl FnMut(Range<usize>)) {
        let near = skip(self.text, at, false);
        let is_type = |b: u8| b.is_ascii_alphanumeric() || b"_.[]|, '\"".contains(&b);
        let rest = self.text.as_bytes().get(near..).unwrap_or_default();
        let kind = scan::ahead(self.text, near, 80, is_type);
        let begins = rest.first().is_some_and(|b| b.is_ascii_alphabetic());
        let typed =
            !quoted && begins && rest.get(kind) == Some(&b'=') && rest.get(kind + 1) != Some(&b'=');
        // The end of base64 before a quote is no assignment.
        let is_plain = |b: &u8| !b.is_ascii_digit() && *b != b' ';
        let tight = typed
            && rest.iter().take(kind).all(is_plain)
            && opens(self.text, near + kind + 1).is_some();
        let spaced = typed && (rest[kind - 1] == b' ' || tight);
        if spaced && strings(self.text, near, false).is_none() {
            return self.value(near + kind + 1, Between::Equals, add);
        }
        if !quoted && let Some((_, end)) = string(self.text, near) {
            let equals = skip(self.text, end, false);
            if self.byte(equals) == b'=' && self.byte(equals + 1) != b'=' {
                return self.value(equals + 1, Between::Equals, add);
            }
        }
        // The block of YAML, or a value on the next line.
        let mark = usize::from(matches!(self.byte(near), b'|' | b'>'));
        let chomps = usize::from(mark == 1 && matches!(self.byte(near + 1), b'-' | b'+'));
        let line_end = skip(self.text, near + mark + chomps, false);
        if matches!(self.byte(line_end), b'\n' | b'\r') {
            let next = skip(self.text, line_end, true);
            if string(self.text, next).is_some() {
                return self.value(next, Between::Colon, add);
            }
            let length = scan::ahead(self.text, next, judge::LONGEST + 1, |b| b != b'\n');
            if let Some(line) = self.text.get(next..next + length).map(str::trim_end)
                && line.len() <= judge::LONGEST
                && next > line_end + 1
                && !line.trim_end().ends_with(':')
                && !line.trim().contains([' ', '('])
                && !line.trim().trim_end_matches('=').contains('=')
            {
                let bare = Bare {
                    tight: false,
                    flag: false,
                    argument: false,
                };
                let value = next..next + line.trim_end().len();
                if self.is(&value, Written::Bare(bare)) {
                    add(value);
                }
            }
            return;
        }
        self.value(at, Between::Colon, add);
    }

    /// The value that stands here.
    fn value(&self, at: usize, between: Between, add: &mut impl FnMut(Range<usize>)) {
        let mut here = skip(self.text, at, false);
        let mut open = 0;
        while self.byte(here) == b'(' && open < 8 {
            open += 1;
            here = skip(self.text, here + 1, true);
        }
        let lists = open > 0 || matches!(self.byte(here), b'[' | b'{');
        if matches!(self.byte(here), b'[' | b'{') && between != Between::Flag {
            return self.list(here + 1, add);
        }
        if let Some((all, end)) = strings(self.text, here, open > 0) {
            let next = skip(self.text, end, open > 0);
            if open > 0 && self.byte(next) == b',' {
                return self.list(here, add);
            }
            // `"…" if here else "…"`
            if self.says(end, " if ") {
                self.otherwise(end, add);
            }
            return self.quoted(&all, Written::Quoted, add);
        }
        if lists {
            return;
        }
        self.bare(here, here == at, between, add);
    }

    /// A string, or several that are one.
    fn quoted(&self, all: &[Range<usize>], written: Written, add: &mut impl FnMut(Range<usize>)) {
        let text = |at: Range<usize>| match self.name.meant {
            Meant::Authorization => self.credentials(at),
            _ => at,
        };
        if let [one] = all {
            let one = text(one.clone());
            if self.is(&one, written) {
                add(one);
            }
            return;
        }
        let joined: String = all
            .iter()
            .filter_map(|at| self.text.get(at.clone()))
            .collect();
        if is_secret(&self.name, written, &joined) {
            all.iter()
                .filter(|at| !at.is_empty())
                .cloned()
                .for_each(add);
        }
    }

    /// Behind the scheme of a header: `Bearer …`.
    fn credentials(&self, at: Range<usize>) -> Range<usize> {
        let text = self.text.get(at.clone()).unwrap_or_default();
        let scheme = text.split_once(' ').filter(|(scheme, _)| {
            scheme.len() <= 16
                && scheme
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '-')
        });
        at.start
            + scheme.map_or(0, |(scheme, rest)| {
                scheme.len() + 1 + rest.len() - rest.trim_start().len()
            })..at.end
    }

    /// Names and values of several, or the one password of a pair.
    fn list(&self, at: usize, add: &mut impl FnMut(Range<usize>)) {
        let (all, end) = elements(self.text, at, true);
        // `{"dev": "…"}.get(name, "…")`
        if self.says(end, "}.get(") {
            self.fallback(end + "}.get(".len(), "get", add);
        }
        if self.is_pair() {
            if let [user, password] = all.as_slice()
                && user.strings.len() == 1
            {
                let place = Place::alone(self.text, Meant::Password);
                place.quoted(&password.strings, Written::Listed, add);
            }
            return;
        }
        for one in all
            .iter()
            .filter(|one| !one.names && !one.strings.is_empty())
        {
            self.quoted(&one.strings, Written::Listed, add);
        }
    }

    fn is_pair(&self) -> bool {
        let signs = scan::ahead(self.text, self.at.end, 16, |b| b" =\"'".contains(&b));
        self.name.meant == Meant::Pair && self.byte(self.at.end + signs) == b'('
    }

    /// A value without quotes.
    fn bare(&self, at: usize, tight: bool, between: Between, add: &mut impl FnMut(Range<usize>)) {
        let mut at = at;
        if self.name.meant == Meant::Authorization {
            let line = scan::ahead(self.text, at, 600, |b| !b"\n\r\"'`\\,;})]".contains(&b));
            at = self.credentials(at..at + line).start;
        }
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        let is_env =
            tight && between == Between::Equals && self.name.capitals && self.begins_line();
        let ends = |b: u8| match is_env {
            true => b.is_ascii_whitespace() || is_sign(b),
            false => {
                b.is_ascii_whitespace()
                    || is_sign(b)
                    || b"\\(){}<>[];,".contains(&b)
                    || b"&|".contains(&b) && between != Between::Colon
            }
        };
        let length = scan::ahead(self.text, at, judge::LONGEST + 1, |b| !ends(b));
        let behind = rest.get(length).copied().unwrap_or(b' ');
        if !is_env && b"([{".contains(&behind) {
            return self.wrapped(at + length, add);
        }
        let value = at..at + length;
        let written = Written::Bare(Bare {
            tight: tight && between == Between::Equals,
            flag: between == Between::Flag,
            argument: b",)".contains(&behind),
        });
        if self.is(&value, written) {
            return add(value);
        }
        // `password = x = "…"`
        let equals = skip(self.text, at + length, false);
        if self.byte(equals) == b'=' && self.byte(equals + 1) != b'=' {
            let next = skip(self.text, equals + 1, false);
            if let Some((all, _)) = strings(self.text, next, false) {
                return self.quoted(&all, Written::Quoted, add);
            }
        }
        // `os.environ.get("X") or "…"`
        if length <= judge::LONGEST {
            self.otherwise(at + length, add);
        }
    }

    /// `set_password("…")`, `HTTPBasicAuth("ana", "…")`.
    fn called(&self, at: usize, add: &mut impl FnMut(Range<usize>)) {
        if self.is_pair() {
            return self.list(at, add);
        }
        let (all, _) = elements(self.text, at, true);
        match all.as_slice() {
            [one] => self.quoted(&one.strings, Written::Listed, add),
            // `keyring.set_password("service", "ana", "…")`
            [.., last] if self.name.sets => self.quoted(&last.strings, Written::Listed, add),
            _ => {}
        }
    }
}

const fn is_sign(b: u8) -> bool {
    matches!(b, b'"' | b'\'' | b'`')
}
