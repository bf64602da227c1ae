//! The possible sources of a name's or attribute's value, and the elements of a list.

use super::Inspector;
use crate::analysis::fold::fold;
use crate::analysis::parse::ast::{self, Expr};
use crate::analysis::resolve::{ScopeId, Val, address};
use crate::analysis::walk::Bound;

/// An expression and the scope in which it is evaluated.
pub(super) type Spot<'a> = (&'a Expr, ScopeId);

pub(super) enum Source<'a> {
    Whole(Spot<'a>),
    /// An element of the expression, or a part of an element.
    Element(Spot<'a>),
    /// `name += x`
    Added(Spot<'a>),
}

/// An element of a list.
pub(super) enum Item<'a> {
    Of(Spot<'a>),
    /// A file or folder listed by this call.
    Listed(&'a ast::ExprCall, ScopeId),
}

/// The nesting limit; no ordinary list is nested deeper.
const DEPTH: usize = 6;

/// Functions that list files below their first argument.
const LISTS: &[&str] = &["glob.glob", "glob.iglob", "os.listdir", "os.walk"];

impl<'a> Inspector<'a> {
    /// Every possible source of a name; `None` if unknown.
    pub(super) fn sources(&self, name: &ast::ExprName, scope: ScopeId) -> Option<Vec<Source<'a>>> {
        let id = fold(name.id.as_str());
        let found = self.r.scopes.lookup(&id, scope);
        let bindings = found.bindings.iter().flat_map(|(all, _)| all.iter());
        self.all_sources(bindings.map(|b| (b.to, b.scope)), &id)
    }

    /// The same for an attribute of the snippet's own objects.
    pub(super) fn stored(
        &self,
        x: &'a ast::ExprAttribute,
        scope: ScopeId,
    ) -> Option<Vec<Source<'a>>> {
        let stored = self.r.stored_in(x, scope)?;
        self.all_sources(stored.into_iter(), x.attr.as_str())
    }

    fn all_sources(
        &self,
        bindings: impl Iterator<Item = (Bound<'a>, ScopeId)>,
        name: &str,
    ) -> Option<Vec<Source<'a>>> {
        let mut all = Vec::new();
        for (to, scope) in bindings {
            match to {
                Bound::Value(e) | Bound::With(e) => all.push(Source::Whole((e, scope))),
                Bound::ElementOf(e) | Bound::Part(e, _) | Bound::Within(e) => {
                    all.push(Source::Element((e, scope)));
                }
                Bound::Gains(e) => all.push(Source::Added((e, scope))),
                Bound::Parameter { .. } => {
                    let given = self.r.given_to(&to, name)?;
                    all.extend(given.into_iter().map(Source::Whole));
                }
                Bound::Deleted => {}
                _ => return None,
            }
        }
        Some(all).filter(|all| !all.is_empty())
    }

    /// The elements of a list built in the snippet; `None` if unknown.
    pub(super) fn items(&self, (e, scope): Spot<'a>) -> Option<Vec<Item<'a>>> {
        let mut items = Vec::new();
        self.items_in(e, scope, 0, &mut items)?;
        Some(items).filter(|items| !items.is_empty())
    }

    fn items_in(
        &self,
        e: &'a Expr,
        scope: ScopeId,
        depth: usize,
        items: &mut Vec<Item<'a>>,
    ) -> Option<()> {
        if depth > DEPTH {
            return None;
        }
        let of_comprehension = |elt: &'a Expr, generators: &'a [ast::Comprehension]| {
            let first = generators.first()?;
            let inner = self.r.scopes.of.get(&address(&first.target))?;
            Some(Item::Of((elt, *inner)))
        };
        match e {
            Expr::List(ast::ExprList { elts, .. })
            | Expr::Tuple(ast::ExprTuple { elts, .. })
            | Expr::Set(ast::ExprSet { elts, .. }) => {
                if elts.iter().any(Expr::is_starred_expr) {
                    return None;
                }
                items.extend(elts.iter().map(|e| Item::Of((e, scope))));
            }
            Expr::ListComp(x) => items.push(of_comprehension(&x.elt, &x.generators)?),
            Expr::SetComp(x) => items.push(of_comprehension(&x.elt, &x.generators)?),
            Expr::GeneratorExp(x) => items.push(of_comprehension(&x.elt, &x.generators)?),
            Expr::BinOp(x) if x.op == ast::Operator::Add => {
                self.items_in(&x.left, scope, depth + 1, items)?;
                self.items_in(&x.right, scope, depth + 1, items)?;
            }
            Expr::Call(call) if self.lists(call, scope) => items.push(Item::Listed(call, scope)),
            Expr::Call(call) if self.goes_through(&call.func, scope) => {
                for argument in &call.args {
                    self.items_in(argument, scope, depth + 1, items)?;
                }
            }
            Expr::Name(_) | Expr::Attribute(_) => {
                let sources = match e {
                    Expr::Name(name) => self.sources(name, scope)?,
                    Expr::Attribute(x) => self.stored(x, scope)?,
                    _ => return None,
                };
                for source in sources {
                    match source {
                        Source::Whole((e, scope)) => self.items_in(e, scope, depth + 1, items)?,
                        Source::Added((e, scope)) => match e {
                            Expr::List(_) | Expr::Tuple(_) | Expr::ListComp(_) => {
                                self.items_in(e, scope, depth + 1, items)?;
                            }
                            e => items.push(Item::Of((e, scope))),
                        },
                        Source::Element(_) => return None,
                    }
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// Whether a call lists files.
    pub(super) fn lists(&self, call: &'a ast::ExprCall, scope: ScopeId) -> bool {
        let method = matches!(&*call.func, Expr::Attribute(x)
            if matches!(&*fold(x.attr.as_str()), "glob" | "rglob" | "iterdir"));
        method || self.makes(&call.func, scope, LISTS)
    }

    /// Whether the elements of the result are those of the arguments, or numbers: `sorted(names)`,
    /// `enumerate(names)`.
    fn goes_through(&self, func: &'a Expr, scope: ScopeId) -> bool {
        let vals = self.r.eval(func, scope);
        let through = |v: &Val<'a>| matches!(v, Val::Builtin(name) if matches!(&**name, "enumerate" | "iter" | "list" | "reversed" | "set" | "sorted" | "tuple" | "zip"));
        !vals.is_empty() && vals.iter().all(through)
    }
}
