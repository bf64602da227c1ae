//! What the screen is told beside the verdict: texts that are evaluated, variables that are read, folders that are
//! listed, and files that such a list found. Judges nothing.

use super::Inspector;
use super::sources::{Source, Spot};
use crate::analysis::fold::fold;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Constant, Expr, Operator, Ranged};
use crate::analysis::resolve::{Set, Val};

/// What stands for a part of a text that only the run knows.
const GAP: &str = "{…}";
/// Expressions in expressions, and parts of one text.
const DEPTH: usize = 8;
const PARTS: usize = 64;
/// Variables that are named.
const NAMES: usize = 12;
/// Methods that list what is in a folder.
const LISTING: &[&str] = &["glob", "iterdir", "rglob", "walk"];

impl<'a> Inspector<'a> {
    pub(super) fn told_call(&mut self, call: &'a ast::ExprCall) {
        let Expr::Attribute(x) = &*call.func else {
            return;
        };
        let attr = fold(x.attr.as_str());
        if LISTING.contains(&&*attr) && self.r.eval(&x.value, self.here()).iter().all(of_files) {
            let of = call
                .args
                .first()
                .and_then(|e| self.text_at((e, self.here()), 0));
            let at = self.place(call.range());
            let text = of.map_or_else(String::new, |text| text.chars().take(80).collect());
            self.facts.listings.insert(at.0, (attr.to_string(), text));
        }
        if matches!(&*attr, "get" | "getenv" | "pop")
            && self.r.eval(&call.func, self.here()).iter().any(|v| {
                matches!(v, Val::Member(p) if matches!(&**p, "os.environ.get" | "os.getenv" | "os.environ.pop"))
            })
            && let Some(e) = call.args.first()
        {
            self.variable(e, call.range());
        }
    }

    /// A variable of the environment that is read by this name.
    fn variable(&mut self, e: &'a Expr, at: TextRange) {
        let mut texts = Set::default();
        for val in self.r.eval(e, self.here()).iter() {
            match val {
                Val::Items(..) => self.r.element(val, &mut texts),
                other => texts.add(other.clone()),
            }
        }
        let at = self.place(at);
        let names = self.facts.variables.entry(at.0).or_default();
        for val in texts.into_vec() {
            if let Val::Text(text) = val
                && names.len() < NAMES
            {
                names.insert(text.chars().take(80).collect());
            }
        }
    }

    /// `os.environ["X"]`.
    pub(super) fn told_item(&mut self, x: &'a ast::ExprSubscript) {
        let environ = |v: &Val<'a>| matches!(v, Val::Member(p) if &**p == "os.environ");
        if self.r.eval(&x.value, self.here()).iter().any(environ) {
            self.variable(&x.slice, x.range());
        }
    }

    /// Tells the text that is evaluated, as far as it is known. `known`: the text that was judged.
    pub(super) fn told_text(
        &mut self,
        spot: Spot<'a>,
        subject: &str,
        at: TextRange,
        known: Option<&String>,
    ) {
        let text = self.text_at(spot, 0).or_else(|| known.cloned());
        if let Some(text) = text {
            let at = self.place(at);
            self.facts.evaluates(at.0, subject, &text);
        }
    }

    /// Notes that a file which a list found is named.
    pub(super) fn told_found(&mut self, e: &'a Expr, at: TextRange) {
        let Some((by, from)) = self.found_by((e, self.here()), 0) else {
            return;
        };
        let at = self.place(at);
        self.facts.found_by.insert(at.0, (by, from));
    }

    /// The call whose list has this file: its name and offset.
    fn found_by(&self, (e, scope): Spot<'a>, depth: usize) -> Option<(String, usize)> {
        if depth > DEPTH {
            return None;
        }
        match e {
            Expr::Name(name) => {
                let sources = self.sources(name, scope)?;
                sources.into_iter().find_map(|source| match source {
                    Source::Whole(spot) => self.found_by(spot, depth + 1),
                    Source::Element(spot) => self.listed(spot, depth + 1),
                    Source::Added(_) => None,
                })
            }
            Expr::Call(call) => call
                .args
                .iter()
                .find_map(|e| self.found_by((e, scope), depth + 1)),
            Expr::BinOp(x) => [&x.left, &x.right]
                .into_iter()
                .find_map(|e| self.found_by((e, scope), depth + 1)),
            Expr::JoinedStr(x) => x
                .values
                .iter()
                .find_map(|e| self.found_by((e, scope), depth + 1)),
            Expr::FormattedValue(x) => self.found_by((&x.value, scope), depth + 1),
            _ => None,
        }
    }

    fn listed(&self, (e, scope): Spot<'a>, depth: usize) -> Option<(String, usize)> {
        if depth > DEPTH {
            return None;
        }
        match e {
            Expr::Call(call) if self.lists(call, scope) => {
                let name = match &*call.func {
                    Expr::Attribute(x) => x.attr.to_string(),
                    Expr::Name(x) => x.id.to_string(),
                    _ => return None,
                };
                Some((name, call.range().end().to_usize().saturating_sub(1)))
            }
            Expr::Call(call) => call
                .args
                .iter()
                .find_map(|e| self.listed((e, scope), depth + 1)),
            Expr::Name(name) => {
                let sources = self.sources(name, scope)?;
                sources.into_iter().find_map(|source| match source {
                    Source::Whole(spot) | Source::Element(spot) => self.listed(spot, depth + 1),
                    Source::Added(_) => None,
                })
            }
            Expr::ListComp(x) => x
                .generators
                .first()
                .and_then(|g| self.listed((&g.iter, scope), depth + 1)),
            _ => None,
        }
    }

    /// The text, with gaps for what only the run knows; `None` if nothing of it is known.
    fn text_at(&self, spot: Spot<'a>, depth: usize) -> Option<String> {
        let text = self.parts(spot, depth);
        (text.replace(GAP, "").chars().any(|c| !c.is_whitespace())).then_some(text)
    }

    fn parts(&self, (e, scope): Spot<'a>, depth: usize) -> String {
        let inner = |e: &'a Expr| self.parts((e, scope), depth + 1);
        if depth > DEPTH {
            return GAP.to_owned();
        }
        let text = match e {
            Expr::Constant(c) => match &c.value {
                Constant::Str(text) => Some(text.clone()),
                Constant::Int(n) => Some(n.to_string()),
                Constant::Float(n) => Some(n.to_string()),
                _ => None,
            },
            Expr::JoinedStr(x) => Some(x.values.iter().take(PARTS).map(inner).collect()),
            Expr::FormattedValue(x) if x.conversion.is_none() => Some(inner(&x.value)),
            Expr::BinOp(x) if x.op == Operator::Add => Some(inner(&x.left) + &inner(&x.right)),
            Expr::Name(name) => self
                .sources(name, scope)
                .and_then(|sources| match &sources[..] {
                    [Source::Whole(spot)] => Some(self.parts(*spot, depth + 1)),
                    _ => None,
                }),
            Expr::Call(call) => self.made_text(call, scope, depth),
            _ => None,
        };
        text.map_or_else(|| GAP.to_owned(), |text| text.chars().take(500).collect())
    }

    /// `" * ".join(parts)`, `text.format(…)`.
    fn made_text(&self, call: &'a ast::ExprCall, scope: usize, depth: usize) -> Option<String> {
        let Expr::Attribute(x) = &*call.func else {
            return None;
        };
        let base = self.parts((&x.value, scope), depth + 1);
        match (x.attr.as_str(), call.args.as_slice()) {
            ("join", [of]) => {
                let parts = self.joined((of, scope), depth + 1)?;
                Some(parts.join(&base))
            }
            ("format", _) => Some(filled(&base)),
            ("strip" | "lstrip" | "rstrip", []) => Some(base),
            _ => None,
        }
    }

    fn joined(&self, (e, scope): Spot<'a>, depth: usize) -> Option<Vec<String>> {
        if depth > DEPTH {
            return None;
        }
        let each = |all: &'a [Expr]| {
            let all = all.iter().take(PARTS);
            Some(all.map(|e| self.parts((e, scope), depth + 1)).collect())
        };
        match e {
            Expr::List(x) => each(&x.elts),
            Expr::Tuple(x) => each(&x.elts),
            Expr::Dict(x) => each(&x.values),
            Expr::Name(name) => match &self.sources(name, scope)?[..] {
                [Source::Whole(spot)] => self.joined(*spot, depth + 1),
                _ => None,
            },
            Expr::Call(call) => match &*call.func {
                Expr::Attribute(x) if x.attr.as_str() == "values" => {
                    self.joined((&x.value, scope), depth + 1)
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// A template after `format`.
fn filled(template: &str) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        out.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        if let Some(more) = after.strip_prefix(&rest[at..=at]) {
            out.push_str(&rest[at..=at]);
            rest = more;
        } else if let Some(end) = after.find('}').filter(|_| rest[at..].starts_with('{')) {
            out.push_str(GAP);
            rest = &after[end + 1..];
        } else {
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// Whether the value may be a path or a module that lists files.
fn of_files(val: &Val<'_>) -> bool {
    matches!(
        val,
        Val::Text(_)
            | Val::ComputedText
            | Val::Module(_)
            | Val::Member(_)
            | Val::Result(_)
            | Val::Unknown
            | Val::Holds(..)
    )
}
