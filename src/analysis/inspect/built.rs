//! Texts built from literals, and whether numbers fill their gaps.
//!
//! A query whose gaps are numbers is the query written around them. A query whose gaps are literal
//! texts is each of the resulting queries. If the gaps are other texts of a loop or a list, a
//! person has to review it; the child judges each text when it is compiled.

use super::Inspector;
use super::sources::{Item, Spot};
use crate::analysis::fold::fold;
use crate::analysis::parse::ast::{self, Constant, Expr};
use crate::analysis::resolve::{Val, address};

/// What fills the gaps of a text; a later variant outweighs an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gaps {
    Numbers,
    Texts,
}

/// The nesting limit; no ordinary text is nested deeper.
const DEPTH: usize = 8;

/// The limit on texts; no ordinary query has more variants.
const MOST: usize = 64;

/// Separators between whole conditions or sums, so that each part is an expression of its own.
const BETWEEN: &[&str] = &["&", "|", "+", "and", "or"];

/// Table methods that return a number or a table of numbers.
const NUMBERS: &[&str] = &[
    "count", "max", "mean", "median", "min", "nunique", "quantile", "std", "sum", "var",
];

impl<'a> Inspector<'a> {
    /// What fills the gaps of a text; `None` if anything could.
    pub(super) fn gaps(&self, e: &'a Expr) -> Option<Gaps> {
        self.gaps_in((e, self.here()), 0)
    }

    /// The texts that an expression may evaluate to, with one digit in each gap for a number;
    /// `None` if it may be another text.
    pub(super) fn spelled(&self, e: &'a Expr) -> Option<Vec<String>> {
        self.spelled_in((e, self.here()), 0)
    }

    fn spelled_in(&self, (e, scope): Spot<'a>, depth: usize) -> Option<Vec<String>> {
        if depth > DEPTH {
            return None;
        }
        let inner = |e: &'a Expr| self.spelled_in((e, scope), depth + 1);
        let vals = self.r.eval(e, scope);
        let texts = vals.iter().map(|v| match v {
            Val::Text(text) => Some(text.to_string()),
            _ => None,
        });
        let texts: Option<Vec<String>> = texts.collect();
        if let Some(texts) = texts.filter(|texts| !texts.is_empty()) {
            return Some(texts);
        }
        match e {
            Expr::JoinedStr(x) => {
                let mut all = vec![String::new()];
                for part in &x.values {
                    all = put_after(&all, &inner(part)?)?;
                }
                Some(all)
            }
            // In any format, a number consists of digits, points and signs.
            Expr::FormattedValue(x) if self.is_number((&x.value, scope), depth) => {
                Some(vec!["0".to_owned()])
            }
            Expr::FormattedValue(x) if x.format_spec.is_none() && x.conversion.is_none() => {
                inner(&x.value)
            }
            Expr::BinOp(x) if x.op == ast::Operator::Add => {
                put_after(&inner(&x.left)?, &inner(&x.right)?)
            }
            Expr::Name(name) => match self.held(name, scope)?.as_slice() {
                [held] => inner(held),
                _ => None,
            },
            Expr::Call(call) => self.joined_in(call, (e, scope), depth),
            _ => None,
        }
    }

    /// `" and ".join(f"{c} > 1" for c in columns)`: each part alone, and all of them together.
    fn joined_in(
        &self,
        call: &'a ast::ExprCall,
        (_, scope): Spot<'a>,
        depth: usize,
    ) -> Option<Vec<String>> {
        let (Expr::Attribute(x), [list]) = (&*call.func, call.args.as_slice()) else {
            return None;
        };
        if &*fold(x.attr.as_str()) != "join" {
            return None;
        }
        let [between] =
            <[String; 1]>::try_from(self.spelled_in((&x.value, scope), depth + 1)?).ok()?;
        if !BETWEEN.contains(&between.trim()) {
            return None;
        }
        let mut all = Vec::new();
        for item in self.items((list, scope))? {
            let Item::Of(at) = item else { return None };
            all.extend(self.spelled_in(at, depth + 1)?);
        }
        let whole = all.join(&between);
        all.push(whole);
        (all.len() <= MOST).then_some(all)
    }

    fn gaps_in(&self, (e, scope): Spot<'a>, depth: usize) -> Option<Gaps> {
        if depth > DEPTH {
            return None;
        }
        let inner = |e: &'a Expr| self.gaps_in((e, scope), depth + 1);
        let all = |all: &'a [Expr]| {
            all.iter()
                .try_fold(Gaps::Numbers, |g, e| Some(g.max(inner(e)?)))
        };
        match e {
            Expr::Constant(c) => match &c.value {
                Constant::Str(_) | Constant::Int(_) | Constant::Float(_) => Some(Gaps::Numbers),
                _ => None,
            },
            Expr::JoinedStr(x) => all(&x.values),
            // In any format, a number consists of digits, points and signs.
            Expr::FormattedValue(x) => self.gap((&x.value, scope), depth),
            Expr::BinOp(x) => Some(inner(&x.left)?.max(inner(&x.right)?)),
            Expr::List(x) => all(&x.elts),
            Expr::Tuple(x) => all(&x.elts),
            Expr::ListComp(x) => self.each(&x.elt, &x.generators, depth),
            Expr::GeneratorExp(x) => self.each(&x.elt, &x.generators, depth),
            // A loop variable that is the whole text has no literal text around it.
            Expr::Name(name) if self.is_of_loop(name, scope) => None,
            Expr::Name(_) => self.gap((e, scope), depth),
            // `" + ".join(columns)`
            Expr::Call(call) => match &*call.func {
                Expr::Attribute(x) if matches!(&*fold(x.attr.as_str()), "join" | "format") => {
                    let given = all(&call.args)?;
                    Some(inner(&x.value)?.max(given).max(Gaps::Texts))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The gaps in an element of a comprehension.
    fn each(
        &self,
        e: &'a Expr,
        generators: &'a [ast::Comprehension],
        depth: usize,
    ) -> Option<Gaps> {
        let first = generators.first()?;
        let inner = *self.r.scopes.of.get(&address(&first.target))?;
        let gaps = self.gaps_in((e, inner), depth + 1);
        gaps.map(|g| g.max(Gaps::Texts))
    }

    /// What fills one gap.
    fn gap(&self, (e, scope): Spot<'a>, depth: usize) -> Option<Gaps> {
        if self.is_number((e, scope), depth) {
            return Some(Gaps::Numbers);
        }
        match e {
            Expr::Name(name) if self.is_of_loop(name, scope) || self.is_literal((e, scope)) => {
                Some(Gaps::Texts)
            }
            Expr::Subscript(_) if self.is_literal((e, scope)) => Some(Gaps::Texts),
            Expr::Name(name) => {
                let held = self.held(name, scope)?;
                let mut gaps = held
                    .into_iter()
                    .map(|e| self.gaps_in((e, scope), depth + 1));
                gaps.try_fold(Gaps::Texts, |g, one| Some(g.max(one?)))
            }
            Expr::Constant(c) if c.value.is_str() => Some(Gaps::Texts),
            Expr::Call(_) | Expr::JoinedStr(_) => self
                .gaps_in((e, scope), depth + 1)
                .map(|g| g.max(Gaps::Texts)),
            _ => None,
        }
    }

    /// Whether the value is always a number.
    fn is_number(&self, (e, scope): Spot<'a>, depth: usize) -> bool {
        if depth > DEPTH {
            return false;
        }
        let inner = |e: &'a Expr| self.is_number((e, scope), depth + 1);
        match e {
            Expr::Constant(c) => matches!(c.value, Constant::Int(_) | Constant::Float(_)),
            Expr::UnaryOp(x) => inner(&x.operand),
            Expr::BinOp(x) => inner(&x.left) && inner(&x.right),
            Expr::Name(name) => self
                .held(name, scope)
                .is_some_and(|held| held.into_iter().all(inner)),
            Expr::Call(call) => match &*call.func {
                Expr::Attribute(x) => NUMBERS.contains(&&*fold(x.attr.as_str())),
                func => {
                    let vals = self.r.eval(func, scope);
                    let counts = |v: &Val<'a>| matches!(v, Val::Builtin(b) if matches!(&**b, "len" | "int" | "float" | "round"));
                    !vals.is_empty() && vals.iter().all(counts)
                }
            },
            _ => false,
        }
    }
}

/// Every text of `before` followed by every text of `behind`.
fn put_after(before: &[String], behind: &[String]) -> Option<Vec<String>> {
    let few = before.len().saturating_mul(behind.len()) <= MOST;
    let each = |a: &String| {
        behind
            .iter()
            .map(move |b| format!("{a}{b}"))
            .collect::<Vec<_>>()
    };
    few.then(|| before.iter().flat_map(each).collect())
}
