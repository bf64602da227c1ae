//! Classes of the snippet whose new objects hold nothing but what their call was given, and new
//! objects.

use std::collections::HashSet;

use super::Names;
use super::given::last_name;
use super::own::steps;
use super::words::{EMPTY, FRESH};
use crate::analysis::fold::fold;
use crate::analysis::parse::ast::{self, Expr, Stmt};

impl<'a> Names<'a> {
    /// The fewest steps from a new object to what its call was given; nothing if the class shows
    /// that it may hold other objects. A base may do anything.
    pub(super) fn bare_steps(&self, class: &'a ast::StmtClassDef) -> Option<usize> {
        let copies = class.decorator_list.is_empty() && self.is_bare(class, false);
        match copies {
            true => Some(2),
            false => self.is_bare(class, true).then_some(1),
        }
    }

    /// `keeps`: a parameter may become an attribute.
    fn is_bare(&self, class: &'a ast::StmtClassDef, keeps: bool) -> bool {
        class.bases.is_empty()
            && class.body.iter().all(|statement| match statement {
                Stmt::FunctionDef(x) if x.name.as_str() == "__init__" => {
                    let given = &x.args;
                    let all = given.posonlyargs.iter().chain(&given.args);
                    let all: Vec<_> = all.chain(&given.kwonlyargs).collect();
                    let parameters: HashSet<_> = all
                        .iter()
                        .filter(|_| keeps)
                        .map(|a| fold(a.def.arg.as_str()))
                        .collect();
                    let defaults = all.iter().filter_map(|a| a.default.as_deref());
                    let new = |e: &Expr| self.is_given(e, &parameters);
                    defaults.into_iter().all(|e| steps(self, e) > 0) && sets(&x.body, &new)
                }
                Stmt::Assign(x) => steps(self, &x.value) > 0,
                Stmt::AnnAssign(x) => x.value.as_deref().is_none_or(|e| self.is_field(e)),
                _ => true,
            })
    }

    /// A parameter, a new object, or one of both.
    fn is_given(&self, e: &Expr, parameters: &HashSet<super::Name<'_>>) -> bool {
        match e {
            Expr::Name(x) => parameters.contains(&fold(x.id.as_str())),
            Expr::BoolOp(x) => x.values.iter().all(|e| self.is_given(e, parameters)),
            Expr::IfExp(x) => {
                self.is_given(&x.body, parameters) && self.is_given(&x.orelse, parameters)
            }
            other => steps(self, other) > 0,
        }
    }

    /// A default of a data class.
    fn is_field(&self, e: &Expr) -> bool {
        let Expr::Call(call) = e else {
            return steps(self, e) > 0;
        };
        let makes = |e: &Expr| match e {
            Expr::Lambda(x) => steps(self, &x.body) > 0,
            Expr::Name(x) => {
                let name = fold(x.id.as_str());
                EMPTY.contains(&&*name) || FRESH.contains(&&*name)
            }
            other => steps(self, other) > 0,
        };
        last_name(&call.func).is_some_and(|name| name == "field")
            && call.args.is_empty()
            && call.keywords.iter().all(|k| makes(&k.value))
    }
}

/// Whether the statements set attributes and names to such values only.
fn sets(statements: &[Stmt], new: &dyn Fn(&Expr) -> bool) -> bool {
    statements.iter().all(|statement| match statement {
        Stmt::Assign(x) => new(&x.value),
        Stmt::AnnAssign(x) => x.value.as_deref().is_none_or(new),
        Stmt::If(x) => sets(&x.body, new) && sets(&x.orelse, new),
        Stmt::Expr(x) => matches!(&*x.value, Expr::Constant(_)),
        Stmt::Raise(_) | Stmt::Assert(_) | Stmt::Pass(_) => true,
        _ => false,
    })
}
