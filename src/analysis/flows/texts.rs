//! Texts that a library evaluates: they name columns, and names of the snippet.

use std::borrow::Cow;

use super::value::Value;
use super::{Pass, stmts};
use crate::analysis::parse::ast::Expr;

/// Calls in a formula that only name columns or change numbers.
const IN_FORMULAS: &[&str] = &["C", "I", "Q", "center", "isin", "log", "standardize"];

impl<'a> Pass<'a> {
    /// The texts that an argument can only be. If they are not known, any name may be in them. `numbers`: parts that are
    /// computed count as numbers.
    fn known_texts(&mut self, text: &'a Expr, at: usize, numbers: bool) -> Vec<String> {
        if let Some(texts) = stmts::literal(text) {
            return texts.into_iter().map(str::to_owned).collect();
        }
        let value = self.eval(text);
        let told = self.evaluated.get(&at).map(|(_, text)| text.as_str());
        let whole = |text: &str| match numbers && value.as_is.is_empty() {
            true => text != "{…}" && !text.contains("@{…}"),
            false => !text.contains('…'),
        };
        match (&value.texts, told) {
            (Some(texts), _) => texts.iter().map(|text| (*text).to_owned()).collect(),
            (None, Some(text)) if whole(text) => vec![text.replace("{…}", "0")],
            _ => {
                self.loses_all(at);
                Vec::new()
            }
        }
    }

    /// What the names in a text hold.
    fn read_by<'t>(&mut self, names: impl Iterator<Item = &'t str>, at: usize) -> Value<'a> {
        let mut out = Value::default();
        for name in names.collect::<Vec<_>>() {
            if let Some(value) = self.look_up(&Cow::Owned(name.to_owned())) {
                if !value.funcs.is_empty() {
                    self.loses_sight(at);
                }
                self.touches(&value);
                out = out.and(&value.held());
            }
        }
        out
    }

    /// What the text of `t.query` or `t.eval` takes from the names around it.
    pub(super) fn evaluated(&mut self, text: &'a Expr, at: usize) -> Value<'a> {
        let mut out = Value::default();
        for text in self.known_texts(text, at, true) {
            if !text.contains('@') {
                continue;
            }
            if calls(&text).any(|name| !IN_FORMULAS.contains(&name)) {
                self.loses_sight(at);
            }
            let named: Vec<&str> = names(&text)
                .filter(|(_, local)| *local)
                .map(|n| n.0)
                .collect();
            for name in &named {
                if self.look_up(&Cow::Owned((*name).to_owned())).is_none() {
                    self.loses_sight(at);
                }
            }
            let value = self.read_by(named.into_iter(), at);
            out = out.and(&value);
        }
        out
    }

    /// What the text of `pd.eval` or a formula takes: any name that it has.
    pub(super) fn formula(&mut self, text: Option<&'a Expr>, at: usize) -> Value<'a> {
        let Some(text) = text else {
            return Value::default();
        };
        let mut out = Value::default();
        for text in self.known_texts(text, at, false) {
            let own = |name: &str| !IN_FORMULAS.contains(&name) && !name.starts_with("np.");
            if calls(&text).any(own) {
                self.loses_sight(at);
            }
            let value = self.read_by(names(&text).map(|n| n.0), at);
            out = out.and(&value);
        }
        out
    }
}

/// Whether a function of a library evaluates the text that it is given.
pub(super) fn evaluates(path: &str, name: &str) -> bool {
    path == "pandas.eval"
        || path.starts_with("statsmodels.formula.")
        || path.starts_with("patsy.")
        || name == "from_formula"
}

/// The names of a text that are no attributes, and whether an `@` stands before them. Those in quotes count too: a
/// formula evaluates them (`Q("x")`).
fn names(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        loop {
            let start = rest + text[rest..].find(|c: char| c.is_alphabetic() || c == '_')?;
            let after = |c: char| !(c.is_alphanumeric() || c == '_');
            let end = text[start..].find(after).map_or(text.len(), |i| start + i);
            rest = end;
            match text[..start].chars().next_back() {
                Some(c) if c == '.' || c.is_ascii_digit() => {}
                before => return Some((&text[start..end], before == Some('@'))),
            }
        }
    })
}

/// The names that a text calls, with their modules.
fn calls(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('(').filter_map(|(at, _)| {
        let before = text[..at].trim_end();
        let start = before.rfind(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.'));
        let skip = start.map_or(0, |i| {
            i + before[i..].chars().next().map_or(1, char::len_utf8)
        });
        let name = &before[skip..];
        let word = name.chars().next().is_some_and(|c| !c.is_ascii_digit());
        (word && !matches!(name, "and" | "or" | "not" | "in")).then_some(name)
    })
}
