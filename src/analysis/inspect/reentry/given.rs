//! Functions that compiled code calls under names of its own: the one given to `cmp_to_key`, those
//! registered with a `singledispatch`, the factory of a `defaultdict`, and the properties and
//! methods that inherited operators of Python's classes read.

use std::collections::HashSet;

use super::words::{COMPUTES, INHERITED, WRAPS};
use super::{Name, Names};
use crate::analysis::fold::fold;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Expr, Ranged, Stmt};
use crate::analysis::walk::{Bound, ExprPlace, TargetOf, Visitor, body};

const COMPARER: &str = "cmp_to_key";
/// The argument of `to_json` with a function.
const HANDLER: &str = "default_handler";

/// What the snippet gives, found in one walk after its names are known.
pub(super) struct Given<'n, 'a> {
    names: &'n Names<'a>,
    /// Expressions that compiled code runs as a special method, with a name to report.
    pub(super) run: Vec<(Name<'a>, &'a Expr)>,
    /// Names of functions that it runs as such.
    pub(super) run_by_name: HashSet<Name<'a>>,
    /// Definitions that inherited operators read.
    pub(super) inherited: Vec<TextRange>,
    /// Reading or calling the name runs the expression.
    pub(super) behind: Vec<(Name<'a>, &'a Expr)>,
    /// Calling the first runs the second, a function.
    pub(super) registered: Vec<(Name<'a>, Name<'a>)>,
    /// Classes with operators written in Python.
    computing: HashSet<Name<'a>>,
    /// Classes made from `defaultdict`.
    defaulting: HashSet<Name<'a>>,
    /// `cmp_to_key` may be called with any function.
    compares_any: bool,
    lambdas: Vec<&'a Expr>,
}

pub(super) fn given<'n, 'a>(names: &'n Names<'a>, statements: &'a [Stmt]) -> Given<'n, 'a> {
    let mut found = Given {
        names,
        run: Vec::new(),
        run_by_name: HashSet::new(),
        inherited: Vec::new(),
        behind: Vec::new(),
        registered: Vec::new(),
        computing: HashSet::new(),
        defaulting: HashSet::new(),
        compares_any: false,
        lambdas: Vec::new(),
    };
    body(&mut found, statements);
    if found.compares_any {
        found.run_by_name.extend(names.functions.iter().cloned());
        let lambdas = std::mem::take(&mut found.lambdas);
        lambdas.into_iter().for_each(|e| found.handed(e, COMPARER));
    }
    found
}

/// The last name of `a.b.c`.
pub(super) fn last_name(e: &Expr) -> Option<Name<'_>> {
    match e {
        Expr::Name(x) => Some(fold(x.id.as_str())),
        Expr::Attribute(x) => Some(fold(x.attr.as_str())),
        Expr::Subscript(x) => last_name(&x.value),
        _ => None,
    }
}

/// The `f` of `f.register` and `f.register(int)`.
fn registry(e: &Expr) -> Option<Name<'_>> {
    match e {
        Expr::Attribute(x) if x.attr.as_str() == "register" => last_name(&x.value),
        Expr::Call(call) => registry(&call.func),
        _ => None,
    }
}

fn values(call: &ast::ExprCall) -> impl Iterator<Item = &Expr> {
    call.args
        .iter()
        .chain(call.keywords.iter().map(|k| &k.value))
}

impl<'a> Given<'_, 'a> {
    /// Whether the expression is this member of a library, under any name.
    fn is(&self, e: &Expr, member: &str) -> bool {
        let known = |name: &str| {
            let mut members = self.names.members.iter();
            members.any(|(bound, is)| *bound == name && *is == member)
        };
        match e {
            Expr::Name(_) | Expr::Attribute(_) => {
                last_name(e).is_some_and(|name| *name == *member || known(&name))
            }
            _ => false,
        }
    }

    fn is_defaulting(&self, e: &Expr) -> bool {
        self.is(e, "defaultdict") || last_name(e).is_some_and(|n| self.defaulting.contains(&n))
    }

    /// A function that is handed to compiled code by `way`.
    fn handed(&mut self, e: &'a Expr, way: &'static str) {
        let name = last_name(e).unwrap_or(Name::Borrowed(way));
        let names = self.names;
        let known = |name| names.functions.contains(name) || names.imported.contains(name);
        self.compares_any |= e.is_name_expr() && !known(&name);
        self.run.push((name, e));
    }

    fn function(&mut self, name: &'a ast::Identifier, decorators: &'a [Expr]) {
        for decorator in decorators {
            let name = fold(name.as_str());
            if self.is(decorator, COMPARER) {
                self.run_by_name.insert(name);
            } else if let Some(of) = registry(decorator) {
                self.registered.push((of, name));
            }
        }
    }

    fn class(&mut self, class: &'a ast::StmtClassDef) {
        let base = |e: &Expr| {
            last_name(e).is_some_and(|name| {
                let mut members = self.names.members.iter();
                let is = members.find(|(bound, _)| *bound == name);
                COMPUTES.contains(&is.map_or(&*name, |(_, is)| is))
                    || self.computing.contains(&name)
            })
        };
        let computes = class.bases.iter().any(base);
        let defaults = class.bases.iter().any(|e| self.is_defaulting(e));
        if defaults {
            self.defaulting.insert(fold(class.name.as_str()));
        }
        if computes {
            self.computing.insert(fold(class.name.as_str()));
        }
        if class.bases.is_empty() && class.decorator_list.is_empty() {
            return;
        }
        for statement in &class.body {
            match statement {
                Stmt::FunctionDef(x) => {
                    let mut wrapped = x.decorator_list.iter().filter_map(last_name);
                    let is_read = wrapped.any(|name| WRAPS.contains(&&*name));
                    if is_read || (computes && INHERITED.contains(&x.name.as_str())) {
                        self.inherited.push(x.range());
                    }
                }
                Stmt::Assign(x) => {
                    let Expr::Call(call) = &*x.value else {
                        continue;
                    };
                    let wraps = last_name(&call.func).is_some_and(|name| WRAPS.contains(&&*name));
                    let name = x.targets.first().and_then(last_name);
                    self.run
                        .extend(name.filter(|_| wraps).map(|name| (name, &*x.value)));
                }
                _ => {}
            }
        }
    }

    fn call(&mut self, call: &'a ast::ExprCall) {
        if self.is(&call.func, COMPARER) {
            values(call).for_each(|e| self.handed(e, COMPARER));
        }
        // pandas' writer of JSON calls it while it goes through a list.
        for keyword in &call.keywords {
            if keyword
                .arg
                .as_ref()
                .is_some_and(|arg| arg.as_str() == HANDLER)
            {
                self.handed(&keyword.value, HANDLER);
            }
        }
        let factory =
            self.is_defaulting(&call.func) || call.args.iter().any(|e| self.is_defaulting(e));
        if factory {
            let made = values(call).map(|e| (Name::Borrowed("__missing__"), e));
            self.behind.extend(made);
        }
        if let Some(of) = registry(&call.func) {
            self.behind.extend(values(call).map(|e| (of.clone(), e)));
        }
    }
}

impl<'a> Visitor<'a> for Given<'_, 'a> {
    fn statement(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(x) => self.function(&x.name, &x.decorator_list),
            Stmt::ClassDef(x) => self.class(x),
            _ => {}
        }
    }

    fn expression(&mut self, e: &'a Expr, place: ExprPlace<'a>) {
        match e {
            Expr::Call(call) => self.call(call),
            Expr::Lambda(_) => self.lambdas.push(e),
            Expr::Dict(x) => {
                for (key, value) in x.keys.iter().zip(&x.values) {
                    let named = |key: &Expr| matches!(key, Expr::Constant(c) if c.value.as_str().is_some_and(|text| text == HANDLER));
                    if key.as_ref().is_some_and(named) {
                        self.handed(value, HANDLER);
                    }
                }
            }
            // Whoever gets it may call it with any function.
            Expr::Name(_) | Expr::Attribute(_)
                if !matches!(place, ExprPlace::Called | ExprPlace::Decorator) =>
            {
                if self.is(e, COMPARER) {
                    self.compares_any = true;
                } else if let Some(of) = registry(e) {
                    let all = self.names.functions.iter();
                    let all = all.map(|name| (of.clone(), name.clone()));
                    self.registered.extend(all);
                }
            }
            _ => {}
        }
    }

    fn store_attribute(&mut self, target: &'a ast::ExprAttribute, _of: TargetOf, to: Bound<'a>) {
        if let Bound::Value(value) = to
            && target.attr.as_str() == "default_factory"
        {
            self.behind.push((Name::Borrowed("__missing__"), value));
        }
    }
}
