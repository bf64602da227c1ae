//! Texts that are put together from literals: of their gaps it is known whether numbers fill them.
//!
//! A query whose gaps are numbers is the query that is written around them. One whose gaps are texts of a
//! loop or of a literal list is for a person to look at; the child judges each text when it is compiled.

use super::Inspector;
use crate::analysis::fold::fold;
use crate::analysis::parse::ast::{Constant, Expr};
use crate::analysis::resolve::Val;

/// What fills the gaps of such a text; the order is the strength.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gaps {
    Numbers,
    Texts,
}

/// Deeper than any honest text is put together.
const DEPTH: usize = 8;

/// Methods of tables that give a number, or a table of them.
const NUMBERS: &[&str] = &[
    "count", "max", "mean", "median", "min", "nunique", "quantile", "std", "sum", "var",
];

impl<'a> Inspector<'a> {
    /// What fills the gaps of a text with gaps; `None` where anything could.
    pub(super) fn gaps(&self, e: &'a Expr) -> Option<Gaps> {
        self.gaps_in(e, 0)
    }

    /// The text with a number in each gap, as it stands in the source: a formatted literal only.
    pub(super) fn with_numbers(&self, e: &'a Expr) -> Option<String> {
        let Expr::JoinedStr(x) = self.literal_of(e) else {
            return None;
        };
        let piece = |e: &Expr| match e {
            Expr::Constant(c) => c.value.as_str().cloned(),
            _ => Some("0".to_owned()),
        };
        x.values.iter().map(piece).collect()
    }

    /// What a name of this scope is bound to, where that is one formatted literal.
    fn literal_of(&self, e: &'a Expr) -> &'a Expr {
        match e {
            Expr::Name(name) => match self.held(name).as_deref() {
                Some(&[held @ Expr::JoinedStr(_)]) => held,
                _ => e,
            },
            _ => e,
        }
    }

    fn gaps_in(&self, e: &'a Expr, depth: usize) -> Option<Gaps> {
        if depth > DEPTH {
            return None;
        }
        let inner = |e: &'a Expr| self.gaps_in(e, depth + 1);
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
            // Whatever it looks like, a number stays digits, points and signs.
            Expr::FormattedValue(x) => self.gap(&x.value, depth),
            Expr::BinOp(x) => Some(inner(&x.left)?.max(inner(&x.right)?)),
            Expr::List(x) => all(&x.elts),
            Expr::Tuple(x) => all(&x.elts),
            Expr::ListComp(x) => self.each(&x.elt, depth),
            Expr::GeneratorExp(x) => self.each(&x.elt, depth),
            // A name that stands for the whole text is not written around anything.
            Expr::Name(name) if self.is_of_loop(name) => None,
            Expr::Name(_) => self.gap(e, depth),
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

    /// An element of a comprehension.
    fn each(&self, e: &'a Expr, depth: usize) -> Option<Gaps> {
        self.gaps_in(e, depth + 1).map(|g| g.max(Gaps::Texts))
    }

    /// What one gap is filled with.
    fn gap(&self, e: &'a Expr, depth: usize) -> Option<Gaps> {
        if self.is_number(e, depth) {
            return Some(Gaps::Numbers);
        }
        match e {
            Expr::Name(name) if self.is_of_loop(name) || self.is_literal(e) => Some(Gaps::Texts),
            Expr::Name(name) => {
                let held = self.held(name)?;
                let mut gaps = held.into_iter().map(|e| self.gaps_in(e, depth + 1));
                gaps.try_fold(Gaps::Texts, |g, one| Some(g.max(one?)))
            }
            Expr::Constant(c) if c.value.is_str() => Some(Gaps::Texts),
            Expr::Call(_) | Expr::JoinedStr(_) => {
                self.gaps_in(e, depth + 1).map(|g| g.max(Gaps::Texts))
            }
            _ => None,
        }
    }

    /// Whether its value is a number whatever happens.
    fn is_number(&self, e: &'a Expr, depth: usize) -> bool {
        if depth > DEPTH {
            return false;
        }
        let inner = |e: &'a Expr| self.is_number(e, depth + 1);
        match e {
            Expr::Constant(c) => matches!(c.value, Constant::Int(_) | Constant::Float(_)),
            Expr::UnaryOp(x) => inner(&x.operand),
            Expr::BinOp(x) => inner(&x.left) && inner(&x.right),
            Expr::Name(name) => self
                .held(name)
                .is_some_and(|held| held.into_iter().all(inner)),
            Expr::Call(call) => match &*call.func {
                Expr::Attribute(x) => NUMBERS.contains(&&*fold(x.attr.as_str())),
                func => {
                    let vals = self.r.eval(func, self.here());
                    let counts = |v: &Val<'a>| matches!(v, Val::Builtin(b) if matches!(&**b, "len" | "int" | "float" | "round"));
                    !vals.is_empty() && vals.iter().all(counts)
                }
            },
            _ => false,
        }
    }
}
