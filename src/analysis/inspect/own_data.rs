//! Attributes that are data of the snippet's own objects, though a table has a method of that name:
//! `url.query`.

use super::Inspector;
use super::sources::{Item, Source, Spot};
use crate::analysis::fold::fold;
use crate::analysis::methods;
use crate::analysis::parse::ast::{self, Expr};
use crate::analysis::resolve::{ScopeId, Val};
use crate::analysis::walk::Bound;

/// The nesting limit; no ordinary value comes through more names.
const DEPTH: usize = 6;

impl<'a> Inspector<'a> {
    /// Whether the expression reads an attribute that is data of every object that it may be read
    /// from.
    pub(super) fn is_data_of_own(&self, e: &'a Expr) -> bool {
        let Expr::Attribute(x) = e else { return false };
        let attr = fold(x.attr.as_str());
        !self.stores_method(&attr) && self.holds_data((&x.value, self.here()), &attr, 0)
    }

    fn holds_data(&self, (e, scope): Spot<'a>, attr: &str, depth: usize) -> bool {
        if depth > DEPTH {
            return false;
        }
        let inner = |at: Spot<'a>| self.holds_data(at, attr, depth + 1);
        let element = |at: Spot<'a>| {
            self.items(at).is_some_and(|items| {
                items.into_iter().all(|item| match item {
                    Item::Of(at) => inner(at),
                    Item::Listed(..) => false,
                })
            })
        };
        match e {
            Expr::Name(name) => {
                let class = self.r.class_of_self(&fold(name.id.as_str()), scope);
                if class.is_some_and(|class| self.has_data(class, attr)) {
                    return true;
                }
                self.sources(name, scope).is_some_and(|sources| {
                    sources.into_iter().all(|source| match source {
                        Source::Whole(at) => inner(at),
                        Source::Element(at) => element(at),
                        Source::Added(_) => false,
                    })
                })
            }
            Expr::Subscript(x) => element((&x.value, scope)),
            Expr::Call(call) => {
                let vals = self.r.eval(&call.func, scope);
                let class = |v: &Val<'a>| matches!(v, Val::Class(id) if self.has_data(*id, attr));
                (!vals.is_empty() && vals.iter().all(class))
                    || self.makes_record(&call.func, scope, attr)
            }
            _ => false,
        }
    }

    /// Whether objects of the class have data under the attribute: the class or one of its methods
    /// stores it there, and no library adds to the class.
    fn has_data(&self, class: ScopeId, attr: &str) -> bool {
        let scopes = &self.r.scopes;
        let own = |v: &Val<'a>| match v {
            Val::Class(base) => *base != class,
            Val::Builtin(name) => &**name == "object",
            Val::Member(path) => {
                matches!(&**path, "abc.ABC" | "typing.NamedTuple" | "typing.Generic")
            }
            _ => false,
        };
        let plain = scopes.bases(class).iter().all(|base| {
            let vals = self.r.eval(base, scopes.all[class].parent);
            !vals.is_empty() && vals.iter().all(own)
        });
        let defined = scopes.all[class].names.get(attr);
        plain
            && match defined {
                Some(bindings) => bindings
                    .iter()
                    .all(|b| matches!(b.to, Bound::Value(_) | Bound::Something)),
                None => {
                    scopes.annotated.contains(&(class, attr.into()))
                        || scopes.fields.contains_key(attr)
                }
            }
    }

    /// Whether anything stores a method of a library, or something unclear, under the attribute.
    fn stores_method(&self, attr: &str) -> bool {
        let scopes = &self.r.scopes;
        let method = |e: &'a Expr, scope: ScopeId| {
            self.r.eval(e, scope).iter().any(|v| match v {
                Val::Method(name) => methods::is_known(name),
                Val::Member(_) => true,
                _ => false,
            })
        };
        let stored = scopes.fields.get(attr).into_iter().flatten();
        let stored = stored.map(|(to, scope)| (*to, *scope));
        let classes = scopes.classes.get(attr).into_iter().flatten();
        let named = classes.filter_map(|class| scopes.all[*class].names.get(attr));
        let named = named.flatten().map(|b| (b.to, b.scope));
        stored.chain(named).any(|(to, scope)| match to {
            Bound::Value(e) | Bound::With(e) => method(e, scope),
            Bound::Something | Bound::Parameter { .. } => false,
            _ => true,
        })
    }

    /// Whether the callee is a named tuple with that field.
    fn makes_record(&self, func: &'a Expr, scope: ScopeId, attr: &str) -> bool {
        let Expr::Name(name) = func else { return false };
        let Some(sources) = self.sources(name, scope) else {
            return false;
        };
        let [Source::Whole((Expr::Call(made), scope))] = sources.as_slice() else {
            return false;
        };
        self.makes(&made.func, *scope, &["collections.namedtuple"])
            && self.names_field(made, *scope, attr)
    }

    fn names_field(&self, made: &'a ast::ExprCall, scope: ScopeId, attr: &str) -> bool {
        let [_, fields] = made.args.as_slice() else {
            return false;
        };
        let is_field = |text: &str| {
            text.split([',', ' ', '\n'])
                .any(|field| fold(field.trim()) == attr)
        };
        match fields {
            Expr::List(ast::ExprList { elts, .. }) | Expr::Tuple(ast::ExprTuple { elts, .. }) => {
                let mut texts = elts.iter().filter_map(|e| self.one_text(e, scope));
                texts.any(|text| is_field(&text))
            }
            e => self.one_text(e, scope).is_some_and(|text| is_field(&text)),
        }
    }
}
