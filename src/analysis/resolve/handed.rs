//! The values that reach a parameter or an attribute, if every place they can come from is visible.

use super::eval::Resolver;
use super::scopes::{ScopeId, ScopeKind, address};
use super::value::Val;
use crate::analysis::fold::fold;
use crate::analysis::parse::ast::{self, Expr};
use crate::analysis::walk::Bound;

/// Functions that call methods or store attributes by names that need not occur in the text.
const BY_NAME: &[&str] = &["getattr", "methodcaller", "setattr", "vars"];

impl<'a> Resolver<'a> {
    /// Every expression passed to a parameter of the function; `None` if a call may be hidden.
    pub fn given_to(&self, parameter: &Bound<'a>, name: &str) -> Option<Vec<(&'a Expr, ScopeId)>> {
        let Bound::Parameter {
            function,
            index,
            default,
        } = *parameter
        else {
            return None;
        };
        let scopes = &self.scopes;
        let called = scopes.function_names.get(&address(function))?;
        let own = *scopes.of.get(&address(function))?;
        let class = scopes.all[own].parent;
        let method = scopes.all[class].kind == ScopeKind::Class;
        let makes = method && called == "__init__";
        let called = match makes {
            true => scopes.class_names.get(&class)?,
            false => called,
        };
        let special = called.starts_with("__");
        let unseen = scopes.handed_on.contains(called) || scopes.is_decorated(class);
        let by_name = method && (scopes.attributes_read.contains(called) || self.names(BY_NAME));
        let by_class = makes && (scopes.chained || self.names(&["cls", "__class__"]));
        if special || unseen || by_name || by_class {
            return None;
        }
        let mut given = Vec::new();
        for (call, scope) in scopes.calls.get(called).into_iter().flatten() {
            let on_object = call.func.is_attribute_expr();
            // A method of something else with the same name as the function.
            if method != on_object && !makes {
                continue;
            }
            let open = call.args.iter().any(Expr::is_starred_expr)
                || call.keywords.iter().any(|k| k.arg.is_none());
            // `A.save(a, name)`: the object is among the arguments.
            if open || (!makes && self.is_on_class(call, *scope)) {
                return None;
            }
            let index = match method {
                true => index.map(|i| i.checked_sub(1)),
                false => index.map(Some),
            };
            let positional = match index {
                Some(None) => return None,
                Some(Some(i)) => call.args.get(i),
                None => None,
            };
            let keyword = call.keywords.iter().find(|k| {
                let keyword = k.arg.as_ref().map(|arg| fold(arg.as_str()));
                keyword.is_some_and(|keyword| keyword == name)
            });
            match (positional.or(keyword.map(|k| &k.value)), default) {
                (Some(e), _) => given.push((e, *scope)),
                (None, Some(default)) => given.push((default, own)),
                // The argument is missing: the call fails or calls another function of the same
                // name.
                (None, None) => {}
            }
        }
        Some(given).filter(|given| !given.is_empty())
    }

    /// Every binding of an attribute of the snippet's own objects; `None` if another may be hidden.
    pub fn stored_in(
        &self,
        x: &'a ast::ExprAttribute,
        scope: ScopeId,
    ) -> Option<Vec<(Bound<'a>, ScopeId)>> {
        let attr = fold(x.attr.as_str());
        let receiver = match &*x.value {
            Expr::Name(name) => self.scopes.is_receiver(&fold(name.id.as_str()), scope),
            _ => false,
        };
        let own = || {
            let base = self.eval(&x.value, scope);
            !base.is_empty() && base.iter().all(|v| matches!(v, Val::Instance(_)))
        };
        if !(receiver || own()) || self.scopes.untold.contains(&attr) || self.names(BY_NAME) {
            return None;
        }
        let mut stored = self.scopes.fields.get(&attr).cloned().unwrap_or_default();
        for class in self.scopes.classes.get(&attr).into_iter().flatten() {
            // Attributes of data classes and derived classes may be set elsewhere.
            if self.scopes.is_decorated(*class) || !self.scopes.bases(*class).is_empty() {
                return None;
            }
            let bindings = self.scopes.all[*class].names.get(&attr);
            let bindings = bindings.into_iter().flatten();
            stored.extend(bindings.map(|b| (b.to, b.scope)));
        }
        Some(stored).filter(|stored| !stored.is_empty())
    }

    /// The expressions that a function of the snippet returns; `None` if the callee may be anything
    /// else.
    pub fn returned(&self, func: &'a Expr, scope: ScopeId) -> Option<Vec<(&'a Expr, ScopeId)>> {
        let Expr::Name(name) = func else { return None };
        if self.scopes.handed_on.contains(&fold(name.id.as_str())) {
            return None;
        }
        let mut all = Vec::new();
        for val in self.eval(func, scope).iter() {
            let Val::Function(id) = val else { return None };
            all.extend(self.scopes.all[*id].returns.iter().map(|e| (*e, *id)));
        }
        Some(all).filter(|all| !all.is_empty())
    }

    /// The class whose object the name is: the first parameter of a method that is neither decorated
    /// nor called on the class.
    pub fn class_of_self(&self, name: &str, scope: ScopeId) -> Option<ScopeId> {
        let scopes = &self.scopes;
        let found = scopes.lookup(name, scope);
        let [(bindings, _)] = found.bindings.as_slice() else {
            return None;
        };
        let [binding] = bindings.as_slice() else {
            return None;
        };
        let Bound::Parameter {
            function, index, ..
        } = binding.to
        else {
            return None;
        };
        let method = scopes.function_names.get(&address(function))?;
        let class = scopes.all[*scopes.of.get(&address(function))?].parent;
        let mut calls = scopes.calls.get(method).into_iter().flatten();
        let own = index == Some(0)
            && scopes.all[class].kind == ScopeKind::Class
            && !scopes.handed_on.contains(method)
            && !scopes.attributes_read.contains(method)
            && !calls.any(|(call, at)| self.is_on_class(call, *at));
        own.then_some(class)
    }

    /// Whether the snippet calls something with one of these names.
    fn names(&self, names: &[&str]) -> bool {
        names
            .iter()
            .any(|name| self.scopes.calls.contains_key(*name))
    }

    fn is_on_class(&self, call: &'a ast::ExprCall, scope: ScopeId) -> bool {
        let Expr::Attribute(x) = &*call.func else {
            return false;
        };
        let base = self.eval(&x.value, scope);
        base.iter()
            .any(|v| matches!(v, Val::Class(_) | Val::TypeOf(_)))
    }
}
