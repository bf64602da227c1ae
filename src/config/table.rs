//! Typed reading of one TOML table; errors name the line.

use std::ops::{Range, RangeInclusive};
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, Origin};
use crate::model::did_you_mean;

/// Where a text comes from.
#[derive(Clone, Copy)]
pub(super) enum SourceKind<'a> {
    File(&'a Path),
    /// The environment variable of this name, translated into an equivalent line of a file.
    Variable(&'a str),
}

/// A text and its source, to turn spans into lines.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub place: SourceKind<'a>,
    pub text: &'a str,
}

impl Source<'_> {
    fn line(&self, span: &Range<usize>) -> usize {
        let end = span.start.min(self.text.len());
        self.text.as_bytes()[..end]
            .iter()
            .filter(|b| **b == b'\n')
            .count()
            + 1
    }

    /// Where the character at a byte of a text's value stands, in words: its column in a file that has the value as it
    /// is, else its number within the value. `span`: of the value.
    pub fn place_in(&self, span: &Range<usize>, value: &str, at: usize) -> String {
        let count = |text: &str| text.chars().count() + 1;
        let written = self.text.get(span.clone()).and_then(|raw| raw.find(value));
        if let (SourceKind::File(_), Some(quote)) = (self.place, written)
            && let Some(before) = self.text.get(..span.start + quote + at)
        {
            let line = before.rsplit('\n').next().unwrap_or_default();
            return format!("column {}", count(line));
        }
        format!("character {}", count(value.get(..at).unwrap_or_default()))
    }

    pub fn origin(&self, span: &Range<usize>) -> Origin {
        match self.place {
            SourceKind::File(path) => Origin::File {
                path: path.to_owned(),
                line: self.line(span),
            },
            SourceKind::Variable(name) => Origin::Variable(name.to_owned()),
        }
    }

    pub fn error(&self, span: &Range<usize>, message: impl Into<String>) -> ConfigError {
        ConfigError::value(self.origin(span), message)
    }
}

/// A value and where it was set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Set<T> {
    pub value: T,
    pub origin: Origin,
}

impl<T> Set<T> {
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Set<U> {
        Set {
            value: f(self.value),
            origin: self.origin,
        }
    }
}

/// One table. `name` is its path in the file, empty for the top level.
pub(super) struct Table<'a> {
    pub source: Source<'a>,
    pub name: String,
    entries: &'a DeTable<'a>,
}

impl<'a> Table<'a> {
    pub fn new(source: Source<'a>, name: impl Into<String>, entries: &'a DeTable<'a>) -> Self {
        Self {
            source,
            name: name.into(),
            entries,
        }
    }

    /// The full name of a key, for messages.
    pub fn full(&self, key: &str) -> String {
        if self.name.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.name)
        }
    }

    /// Refuses the first key that is not among `known`.
    pub fn only(&self, known: &[&str]) -> Result<(), ConfigError> {
        let unknown = self
            .entries
            .keys()
            .filter(|key| !known.contains(&key.get_ref().as_ref()))
            .min_by_key(|key| key.span().start);
        let Some(key) = unknown else { return Ok(()) };
        let name: &str = key.get_ref();
        Err(self.source.error(
            &key.span(),
            format!(
                "unknown key `{}`{}; the keys {} are {}",
                self.full(name).escape_debug(),
                did_you_mean(name, known.iter().copied()),
                if self.name.is_empty() {
                    "here".to_owned()
                } else {
                    format!("of [{}]", self.name)
                },
                known.join(", ")
            ),
        ))
    }

    pub fn entries(
        &self,
    ) -> impl Iterator<
        Item = (
            &'a Spanned<toml::de::DeString<'a>>,
            &'a Spanned<DeValue<'a>>,
        ),
    > {
        self.entries.iter()
    }

    /// The span of the key itself, for messages that do not concern its value.
    pub fn key_span(&self, key: &str) -> Option<Range<usize>> {
        self.entries
            .keys()
            .find(|k| k.get_ref() == key)
            .map(Spanned::span)
    }

    fn get(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.entries.get(key)
    }

    fn wrong_type(&self, key: &str, value: &Spanned<DeValue<'_>>, wanted: &str) -> ConfigError {
        self.source.error(
            &value.span(),
            format!(
                "`{}` must be {wanted}, not {}",
                self.full(key),
                article(value.get_ref().type_str())
            ),
        )
    }

    pub fn string(&self, key: &str) -> Result<Option<Set<String>>, ConfigError> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        match value.get_ref() {
            DeValue::String(text) => Ok(Some(Set {
                value: text.clone().into_owned(),
                origin: self.source.origin(&value.span()),
            })),
            _ => Err(self.wrong_type(key, value, "a string")),
        }
    }

    /// The span of a key's value.
    pub fn value_span(&self, key: &str) -> Option<Range<usize>> {
        self.get(key).map(Spanned::span)
    }

    /// A non-empty string.
    pub fn filled(&self, key: &str) -> Result<Option<Set<String>>, ConfigError> {
        let set = self.string(key)?;
        match set {
            Some(set) if set.value.is_empty() => Err(ConfigError::value(
                set.origin,
                format!("`{}` is empty; leave it out instead", self.full(key)),
            )),
            set => Ok(set),
        }
    }

    pub fn boolean(&self, key: &str) -> Result<Option<Set<bool>>, ConfigError> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        match value.get_ref() {
            DeValue::Boolean(flag) => Ok(Some(Set {
                value: *flag,
                origin: self.source.origin(&value.span()),
            })),
            _ => Err(self.wrong_type(key, value, "true or false")),
        }
    }

    /// A whole number within `range`.
    pub fn integer(
        &self,
        key: &str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<Set<u64>>, ConfigError> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let wanted = format!("a whole number from {} to {}", range.start(), range.end());
        let DeValue::Integer(number) = value.get_ref() else {
            return Err(self.wrong_type(key, value, &wanted));
        };
        match u64::from_str_radix(number.as_str(), number.radix()) {
            Ok(n) if range.contains(&n) => Ok(Some(Set {
                value: n,
                origin: self.source.origin(&value.span()),
            })),
            _ => Err(self.source.error(
                &value.span(),
                format!("`{}` must be {wanted}, not {number}", self.full(key)),
            )),
        }
    }

    /// A list, each element with its own line.
    pub fn list<T>(
        &self,
        key: &str,
        wanted: &str,
        mut element: impl FnMut(&DeValue<'_>) -> Option<T>,
    ) -> Result<Option<Set<Vec<Set<T>>>>, ConfigError> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        let DeValue::Array(array) = value.get_ref() else {
            return Err(self.wrong_type(key, value, wanted));
        };
        let mut list = Vec::with_capacity(array.len());
        for item in array {
            let Some(parsed) = element(item.get_ref()) else {
                return Err(self.wrong_type(key, item, wanted));
            };
            list.push(Set {
                value: parsed,
                origin: self.source.origin(&item.span()),
            });
        }
        Ok(Some(Set {
            value: list,
            origin: self.source.origin(&value.span()),
        }))
    }

    pub fn table(&self, key: &str) -> Result<Option<Table<'a>>, ConfigError> {
        let Some(value) = self.get(key) else {
            return Ok(None);
        };
        match value.get_ref() {
            DeValue::Table(entries) => Ok(Some(Table::new(self.source, self.full(key), entries))),
            _ => Err(self.wrong_type(key, value, "a table")),
        }
    }
}

fn article(noun: &str) -> String {
    let vowel = noun.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {noun}", if vowel { "an" } else { "a" })
}
