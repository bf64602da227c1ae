//! A value that was found once is a secret at its other places too: in its text, and in the texts of its proposal.

use std::collections::BTreeMap;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, MatchKind};

use super::ordinary::is_ordinary;
use super::{SPAN, Span, scan};
use crate::model::file_name::plain;

/// The kind of a word that is cut.
pub(super) const CUT: &str = "cut";
/// Most values that are looked for again, and most bytes of them.
const VALUES: usize = 1_000;
const BYTES: usize = 64 * 1024;
/// Fewest bytes of a value that is looked for again.
const SHORTEST: usize = 4;
/// Fewest characters of one that is looked for outside of quotes.
const UNQUOTED: usize = 6;
/// The fewest bytes that tell something of a secret.
pub(super) const TELLING: usize = 8;

/// Values that were found, and their kinds.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats {
    values: BTreeMap<String, Arc<str>>,
    bytes: usize,
}

/// Where a repetition of a value is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    Anywhere,
    /// No letter and no digit stands beside it.
    Word,
    /// Nothing else stands in its quotes.
    Quotes,
}

impl Reach {
    /// Ordinary words stand in code for what they mean: as names of functions, columns and files.
    fn of(value: &str) -> Self {
        let has = |is: fn(char) -> bool| value.contains(is);
        let mixed = has(|c| c.is_ascii_digit()) && has(char::is_alphabetic);
        if value.chars().count() < UNQUOTED {
            Self::Quotes
        } else if !is_ordinary(value) {
            Self::Anywhere
        } else if mixed || value.matches('-').count() > 1 && has(char::is_alphabetic) {
            Self::Word
        } else {
            Self::Quotes
        }
    }

    fn fits(self, before: &str, behind: &str) -> bool {
        let (last, next) = (before.chars().next_back(), behind.chars().next());
        let is_quote = |c: Option<char>| c.is_some_and(|c| "\"'`".contains(c));
        match self {
            Self::Anywhere => true,
            Self::Word => ![last, next]
                .into_iter()
                .flatten()
                .any(char::is_alphanumeric),
            Self::Quotes => is_quote(last) && (is_quote(next) || behind.starts_with("\\\"")),
        }
    }
}

impl Repeats {
    /// Remembers what was found in a text.
    pub fn add(&mut self, text: &str, found: &[Span]) {
        for Span { at, kind } in found {
            let value = text.get(at.clone()).unwrap_or_default().trim();
            let sound = (SHORTEST..=SPAN).contains(&value.len())
                && !value.contains(['\n', '\r'])
                && !value.starts_with("-----");
            let room = self.values.len() < VALUES && self.bytes + value.len() <= BYTES;
            if sound && room && !self.values.contains_key(value) {
                self.bytes += value.len();
                self.values.insert(value.to_owned(), kind.clone());
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// With each value also as it stands in the plain name of a file.
    pub fn with_plain(&self) -> Self {
        let mut all = self.clone();
        for (value, kind) in self.values.iter().filter(|(value, _)| is_telling(value)) {
            let name = plain(value);
            let name = name.trim_matches('_');
            if name.len() >= TELLING && !all.values.contains_key(name) {
                all.values.insert(name.to_owned(), kind.clone());
            }
        }
        all
    }

    /// The values as they stand in a text.
    pub fn whole(&self, text: &str) -> Vec<Span> {
        let values = self.values.iter().filter(|(_, kind)| &***kind != CUT);
        let values: Vec<_> = values
            .map(|(value, kind)| (value, kind, Reach::of(value)))
            .collect();
        let Some(search) = search(values.iter().map(|(value, ..)| value.as_str())) else {
            return Vec::new();
        };
        scan::read(text.len() + self.bytes);
        let found = search.find_iter(text).filter_map(|one| {
            let (_, kind, reach) = values.get(one.pattern().as_usize())?;
            let fits = reach.fits(&text[..one.start()], &text[one.end()..]);
            fits.then(|| Span {
                at: one.range(),
                kind: Arc::clone(kind),
            })
        });
        found.collect()
    }

    /// The values in what is said of a proposal, whole or their beginnings.
    pub fn begun(&self, text: &str) -> Vec<Span> {
        let values = self.values.iter().filter(|(value, _)| is_telling(value));
        let values: Vec<_> = values.collect();
        let mut found = self.whole(text);
        let Some(begins) = search(values.iter().map(|(value, _)| text_start(value))) else {
            return found;
        };
        for begin in begins.find_iter(text) {
            let Some((value, kind)) = values.get(begin.pattern().as_usize()) else {
                continue;
            };
            let same = text[begin.start()..].chars().zip(value.chars());
            let same = same.take_while(|(a, b)| a == b);
            let end = begin.start() + same.map(|(c, _)| c.len_utf8()).sum::<usize>();
            found.push(Span {
                at: begin.start()..end,
                kind: Arc::clone(kind),
            });
        }
        found
    }
}

/// A search for all of these at once, if there are any.
fn search<'a>(values: impl Iterator<Item = &'a str>) -> Option<AhoCorasick> {
    let mut values = values.peekable();
    values.peek()?;
    let mut builder = AhoCorasick::builder();
    builder
        .match_kind(MatchKind::LeftmostLongest)
        .build(values)
        .ok()
}

/// Whether a value is no word that may stand anywhere.
fn is_telling(value: &str) -> bool {
    let has_digit = value.bytes().any(|b| b.is_ascii_digit());
    value.len() >= TELLING || has_digit
}

/// What a repetition of a value begins with.
fn text_start(value: &str) -> &str {
    &value[..value.ceil_char_boundary(value.len().min(TELLING))]
}
