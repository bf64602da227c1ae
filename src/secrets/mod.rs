//! Finds secrets in texts, and replaces them in what the log keeps.
//!
//! Found are the formats of [`table`], private keys ([`keys`]), what is given to names that say so, to calls and under
//! headings ([`assign`]), arguments of programs ([`commands`]), values of the environment ([`values`]) and patterns of the
//! configuration. Whatever looks around a place does it by [`scan`]: each look is bounded, nothing is read again from its
//! beginning, and so a search takes time in proportion to its text, whatever the text is. A replacement must not hide anything else: it covers at
//! most [`SPAN`] bytes of one line (a private key: a bounded block), and the record counts it by its kind. What runs and
//! what the screen shows is never replaced.

mod assign;
mod beside;
mod carriers;
mod coding;
mod commands;
mod formats;
mod issuers;
mod keys;
mod literals;
mod ordinary;
mod pattern;
mod python;
mod record;
mod redacted;
mod repeats;
mod salt;
mod scan;
mod statements;
mod table;
mod values;
mod views;
mod writer;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

pub use beside::Beside;
pub use pattern::{Fault, Pattern};
pub use redacted::{Kept, Redacted, Redactor, Salts};
pub use salt::{Salt, salted};

/// Longest replaced text but for private keys, in bytes.
pub const SPAN: usize = 512;

/// The kind of a value of the environment.
const ENVIRONMENT: &str = "environment";
/// The kind of a private key.
const PRIVATE_KEY: &str = "private-key";

/// The kind of a password in a command.
static PASSWORD: LazyLock<Arc<str>> = LazyLock::new(|| assign::PASSWORD.into());

/// The kinds of all that is found without a pattern.
pub fn kinds() -> BTreeSet<&'static str> {
    let named = [assign::PASSWORD, assign::SECRET, assign::AUTHORIZATION];
    formats::kinds()
        .chain(named)
        .chain([ENVIRONMENT, PRIVATE_KEY])
        .collect()
}

/// How many secrets were replaced, by kind.
pub type Counts = BTreeMap<String, u64>;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Bytes of the text.
    pub at: Range<usize>,
    pub kind: Arc<str>,
}

/// What is looked for. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    values: Arc<values::Values>,
    patterns: Arc<[Pattern]>,
}

impl Secrets {
    /// The formats, the values of these variables and these patterns.
    pub fn of(
        variables: impl IntoIterator<Item = (String, String)>,
        patterns: impl IntoIterator<Item = Pattern>,
    ) -> Self {
        Self {
            values: Arc::new(values::Values::of(variables)),
            patterns: patterns.into_iter().collect(),
        }
    }

    /// The formats, the values of this process's environment and these patterns.
    pub fn here(patterns: impl IntoIterator<Item = Pattern>) -> Self {
        let text = |value: std::ffi::OsString| value.to_string_lossy().into_owned();
        let variables = std::env::vars_os().map(|(name, value)| (text(name), text(value)));
        Self::of(variables, patterns)
    }

    /// The secrets of a text in their order. They do not overlap.
    pub fn find(&self, text: &str) -> Vec<Span> {
        let (direct, again) = self.all(text);
        joined([direct, again].concat())
    }

    /// The secrets of Python code: nothing of what it does is one.
    pub fn find_in_code(&self, text: &str) -> Vec<Span> {
        let (direct, again) = self.all(text);
        joined(match python::Python::of(text) {
            Some(code) => [code.direct(direct), code.again(again)].concat(),
            None => [direct, again].concat(),
        })
    }

    /// What looks like a secret where it stands, and what does because of its value.
    fn all(&self, text: &str) -> (Vec<Span>, Vec<Span>) {
        let mut found = self.searched(text);
        let mut repeats = repeats::Repeats::default();
        repeats.add(text, &found);
        let strings = [views::joined(text), literals::literals(text)];
        let strings: Vec<_> = strings.into_iter().flatten().collect();
        let views = views::views(text);
        for view in &strings {
            let all = self.searched(&view.text);
            repeats.add(&view.text, &all);
            from_strings(view, all, &mut found);
        }
        for view in &views {
            let all = self.searched(&view.text);
            repeats.add(&view.text, &all);
            from_view(view, all, &mut found);
        }
        let mut again = Vec::new();
        if !repeats.is_empty() {
            again.extend(repeats.whole(text));
            for view in &strings {
                from_strings(view, repeats.whole(&view.text), &mut again);
            }
            for view in &views {
                from_view(view, repeats.whole(&view.text), &mut again);
            }
        }
        (found, again)
    }

    fn searched(&self, text: &str) -> Vec<Span> {
        let mut found = Vec::new();
        self.search(text, &mut |at: Range<usize>, kind: &Arc<str>| {
            let kind = kind.clone();
            found.push(Span { at, kind });
        });
        found
    }

    fn search(&self, text: &str, add: &mut impl FnMut(Range<usize>, &Arc<str>)) {
        self.values.find(text, add);
        formats::find(text, add);
        assign::find(text, add);
        commands::find(text, |at| add(at, &PASSWORD));
        for pattern in self.patterns.iter() {
            for one in pattern.regex.find_iter(text) {
                pieces(text, one.range(), |piece| add(piece, &pattern.kind));
            }
        }
    }

    /// A writer that replaces secrets in each text that is written at once.
    pub fn writer<W: std::io::Write>(self, inner: W) -> impl std::io::Write {
        writer::Without {
            secrets: self,
            inner,
        }
    }

    /// The text as the log keeps it.
    pub fn redact<'a>(&self, text: &'a str, counts: &mut Counts) -> Cow<'a, str> {
        Self::replaced(text, &self.find(text), counts)
    }

    /// The code as the log keeps it.
    pub fn redact_code<'a>(&self, code: &'a str, counts: &mut Counts) -> Cow<'a, str> {
        Self::replaced(code, &self.find_in_code(code), counts)
    }

    /// The text with these secrets of it replaced.
    fn replaced<'a>(text: &'a str, found: &[Span], counts: &mut Counts) -> Cow<'a, str> {
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut kept = String::with_capacity(text.len());
        let mut from = 0;
        for Span { at, kind } in found {
            kept.push_str(&text[from..at.start]);
            kept.push_str(&replacement(kind));
            // The lines after a private key keep their numbers.
            kept.extend(text[at.clone()].matches('\n'));
            from = at.end;
            *counts.entry(kind.to_string()).or_default() += 1;
        }
        kept.push_str(&text[from..]);
        Cow::Owned(kept)
    }
}

/// The places of what was found in strings.
fn from_strings(view: &views::View, all: Vec<Span>, found: &mut Vec<Span>) {
    for Span { at, kind } in all {
        view.parts(at, |at| {
            let kind = kind.clone();
            found.push(Span { at, kind });
        });
    }
}

/// The places of what was found in what a text says to a reader.
fn from_view(view: &views::View, all: Vec<Span>, found: &mut Vec<Span>) {
    for Span { at, kind } in all {
        // A key in PEM has lines; what else is found is bounded as in the text itself.
        let most = match view.text[at.clone()].contains('\n') {
            true => keys::LONGEST,
            false => SPAN,
        };
        view.origins(at, most, |at| {
            let kind = kind.clone();
            found.push(Span { at, kind });
        });
    }
}

/// The kinds whose marks a text has, each once.
pub fn kinds_in(text: &str) -> BTreeSet<&str> {
    let marks = text.split("[REDACTED:").skip(1);
    marks
        .filter_map(|mark| mark.split_once(']'))
        .map(|(kind, _)| kind)
        .collect()
}

/// What stands in the place of a secret.
pub fn replacement(kind: &str) -> String {
    format!("[REDACTED:{kind}]")
}

/// Where bytes of a text stand after secrets of it were replaced: for each secret, where it stood and where its mark ends.
#[derive(Clone, Debug, Default)]
struct Moved(Vec<(Range<u64>, u64)>);

impl Moved {
    fn of(text: &str, found: &[Span]) -> Self {
        let (mut was, mut now) = (0, 0);
        let moved = found.iter().map(|Span { at, kind }| {
            let lines = text[at.clone()].matches('\n').count();
            let mark = replacement(kind).len() + lines;
            now += at.start as u64 - was + mark as u64;
            was = at.end as u64;
            (at.start as u64..was, now)
        });
        Self(moved.collect())
    }

    /// Within a secret: behind its mark.
    fn now(&self, at: u64) -> u64 {
        let before = self.0.partition_point(|(was, _)| was.start < at);
        let last = before.checked_sub(1).and_then(|last| self.0.get(last));
        last.map_or(at, |(was, now)| now + at.saturating_sub(was.end))
    }
}

/// Cuts a match into parts of one line and of at most [`SPAN`] bytes each.
fn pieces(text: &str, all: Range<usize>, mut add: impl FnMut(Range<usize>)) {
    let mut start = all.start;
    for line in text[all].split_inclusive(['\n', '\r']) {
        let end = start + line.trim_end_matches(['\n', '\r']).len();
        let mut from = start;
        while from < end {
            let to = text.floor_char_boundary(end.min(from + SPAN));
            add(from..to);
            from = to;
        }
        start += line.len();
    }
}

/// Sorts spans. Where two overlap, the first one grows over the other.
fn joined(mut found: Vec<Span>) -> Vec<Span> {
    found.sort_by(|a, b| (a.at.start, b.at.end).cmp(&(b.at.start, a.at.end)));
    let mut all: Vec<Span> = Vec::with_capacity(found.len());
    for span in found {
        match all.last_mut() {
            Some(last) if span.at.start < last.at.end => {
                last.at.end = last.at.end.max(span.at.end);
            }
            _ => all.push(span),
        }
    }
    all
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod corpus;

#[cfg(test)]
mod linear_tests;

#[cfg(test)]
mod values_tests;
