//! Loops that surely, or possibly, have no iterations.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::{LOOKS, bytes};
use crate::analysis::fold::fold;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Constant, Expr, Ranged, Stmt};
use crate::analysis::walk::{Bound, ExprPlace, Visitor, body};

/// Whether iterating over it gives nothing: `[]`, `range(0)`.
fn is_empty(e: &Expr) -> bool {
    match e {
        Expr::List(x) => x.elts.is_empty(),
        Expr::Tuple(x) => x.elts.is_empty(),
        Expr::Dict(x) => x.values.is_empty(),
        Expr::Constant(c) => c.value.as_str().is_some_and(String::is_empty),
        Expr::Call(call) => {
            let range = matches!(&*call.func, Expr::Name(n) if n.id.as_str() == "range");
            let zero = |e: &Expr| matches!(e, Expr::Constant(c) if matches!(&c.value, Constant::Int(n) if u8::try_from(n) == Ok(0)));
            range && matches!(call.args.as_slice(), [end] if zero(end))
        }
        _ => false,
    }
}

/// Names that always stay empty: every binding is empty, and nothing could add an element.
#[derive(Default)]
pub(super) struct Empty<'a> {
    bound: HashMap<Cow<'a, str>, bool>,
    used: HashSet<Cow<'a, str>>,
    /// Positions where a name is only iterated over or inspected.
    harmless: HashSet<usize>,
}

impl<'a> Empty<'a> {
    pub(super) fn of(statements: &'a [Stmt]) -> Self {
        let mut empty = Self::default();
        body(&mut empty, statements);
        empty
    }

    pub(super) fn is(&self, e: &Expr) -> bool {
        let Expr::Name(name) = e else {
            return is_empty(e);
        };
        let name = fold(name.id.as_str());
        self.bound.get(&name).copied().unwrap_or_default() && !self.used.contains(&name)
    }

    fn passes(&mut self, e: &Expr) {
        if let Expr::Name(name) = e {
            self.harmless.insert(bytes(name.range()).0);
        }
    }
}

impl<'a> Visitor<'a> for Empty<'a> {
    fn statement(&mut self, statement: &'a Stmt) {
        if let Stmt::For(x) = statement {
            self.passes(&x.iter);
        }
    }

    fn expression(&mut self, e: &'a Expr, place: ExprPlace<'a>) {
        let generators: &[ast::Comprehension] = match e {
            Expr::ListComp(x) => &x.generators,
            Expr::SetComp(x) => &x.generators,
            Expr::DictComp(x) => &x.generators,
            Expr::GeneratorExp(x) => &x.generators,
            _ => &[],
        };
        generators.iter().for_each(|g| self.passes(&g.iter));
        match e {
            Expr::Call(call) => {
                if matches!(&*call.func, Expr::Name(n) if LOOKS.contains(&n.id.as_str())) {
                    call.args.iter().for_each(|e| self.passes(e));
                }
            }
            Expr::Name(name) if name.ctx == ast::ExprContext::Load => {
                let harmless = self.harmless.contains(&bytes(name.range()).0);
                if !harmless && !matches!(place, ExprPlace::Compared) {
                    self.used.insert(fold(name.id.as_str()));
                }
            }
            _ => {}
        }
    }

    fn bind(&mut self, name: &'a str, _at: TextRange, to: Bound<'a>) {
        let empty = matches!(to, Bound::Value(e) if is_empty(e));
        let all = self.bound.entry(fold(name)).or_insert(true);
        *all &= empty;
    }
}

/// Names bound only to the file names of a folder, which may be empty.
#[derive(Default)]
pub(super) struct OfFiles<'a>(HashMap<Cow<'a, str>, bool>);

impl OfFiles<'_> {
    pub(super) fn is(&self, e: &Expr) -> bool {
        match e {
            Expr::Name(name) => {
                let known = self.0.get(&fold(name.id.as_str()));
                known.copied().unwrap_or_default()
            }
            Expr::ListComp(x) => x.generators.iter().any(|g| self.is(&g.iter)),
            Expr::GeneratorExp(x) => x.generators.iter().any(|g| self.is(&g.iter)),
            Expr::Call(call) => match &*call.func {
                Expr::Name(f) if LISTS.contains(&f.id.as_str()) => true,
                Expr::Name(f) if KEEPS.contains(&f.id.as_str()) => {
                    call.args.iter().any(|e| self.is(e))
                }
                Expr::Attribute(f) => LISTS.contains(&f.attr.as_str()),
                _ => false,
            },
            _ => false,
        }
    }
}

impl<'a> Visitor<'a> for OfFiles<'a> {
    fn bind(&mut self, name: &'a str, _at: TextRange, to: Bound<'a>) {
        let is = matches!(to, Bound::Value(e) if self.is(e));
        let all = self.0.entry(fold(name)).or_insert(true);
        *all &= is;
    }
}

/// Functions that list the files of a folder.
const LISTS: &[&str] = &["glob", "iglob", "iterdir", "listdir", "rglob", "walk"];
/// Builtins whose result is empty if their argument is.
const KEEPS: &[&str] = &[
    "enumerate",
    "filter",
    "iter",
    "list",
    "map",
    "reversed",
    "set",
    "sorted",
    "tuple",
    "zip",
];
