//! Statements.

use super::expr::{
    annotation, expression, inner_arguments, keywords, operator, outer_arguments, type_parameters,
};
use super::pattern::pattern;
use super::target::{bind, target};
use super::{Block, Bound, ExprPlace, Scope, TargetOf, Visitor};
use crate::analysis::parse::ast::{
    self, Arguments, ExceptHandler, Expr, Ranged, Stmt, TypeParam, WithItem,
};
use crate::policy::NodeKind;

/// Walks a body.
pub fn body<'a, V: Visitor<'a> + ?Sized>(v: &mut V, statements: &'a [Stmt]) {
    statements.iter().for_each(|s| statement(v, s));
}

fn statement<'a, V: Visitor<'a> + ?Sized>(v: &mut V, s: &'a Stmt) {
    v.statement(s);
    let at = s.range();
    match s {
        Stmt::FunctionDef(x) => {
            v.node(NodeKind::FunctionDef, at);
            let parts = Function {
                scope: Scope::Function,
                name: &x.name,
                decorators: &x.decorator_list,
                type_params: &x.type_params,
                args: &x.args,
                returns: x.returns.as_deref(),
                body: &x.body,
            };
            function(v, s, &parts);
        }
        Stmt::AsyncFunctionDef(x) => {
            v.node(NodeKind::AsyncFunctionDef, at);
            let parts = Function {
                scope: Scope::Async,
                name: &x.name,
                decorators: &x.decorator_list,
                type_params: &x.type_params,
                args: &x.args,
                returns: x.returns.as_deref(),
                body: &x.body,
            };
            function(v, s, &parts);
        }
        Stmt::ClassDef(x) => {
            v.node(NodeKind::ClassDef, at);
            for decorator in &x.decorator_list {
                expression(v, decorator, ExprPlace::Decorator);
            }
            v.bind(x.name.as_str(), at, Bound::Class(x));
            let generic = enter_parameters(v, &x.type_params);
            x.bases
                .iter()
                .for_each(|e| expression(v, e, ExprPlace::Base));
            keywords(v, &x.keywords, ExprPlace::Base);
            v.enter(Scope::Class(x));
            body(v, &x.body);
            v.leave();
            if generic {
                v.leave();
            }
        }
        Stmt::Return(x) => {
            v.node(NodeKind::Return, at);
            if let Some(value) = &x.value {
                v.returns(value);
                expression(v, value, ExprPlace::Plain);
            }
        }
        Stmt::Delete(x) => {
            v.node(NodeKind::Delete, at);
            for e in &x.targets {
                target(v, e, TargetOf::Delete, Bound::Deleted);
            }
        }
        Stmt::Assign(x) => {
            v.node(NodeKind::Assign, at);
            expression(v, &x.value, ExprPlace::Assigned);
            for e in &x.targets {
                target(v, e, TargetOf::Assign, Bound::Value(&x.value));
            }
        }
        Stmt::TypeAlias(x) => {
            v.node(NodeKind::TypeAlias, at);
            target(v, &x.name, TargetOf::Assign, Bound::Value(&x.value));
            let generic = enter_parameters(v, &x.type_params);
            expression(v, &x.value, ExprPlace::Annotation);
            if generic {
                v.leave();
            }
        }
        Stmt::AugAssign(x) => {
            v.node(NodeKind::AugAssign, at);
            v.node(operator(x.op), at);
            expression(v, &x.value, ExprPlace::Plain);
            target(v, &x.target, TargetOf::Augmented, Bound::Gains(&x.value));
        }
        Stmt::AnnAssign(x) => {
            v.node(NodeKind::AnnAssign, at);
            annotation(v, &x.annotation, Block::Variable);
            match &x.value {
                Some(value) => {
                    expression(v, value, ExprPlace::Assigned);
                    target(v, &x.target, TargetOf::Annotated, Bound::Value(value));
                }
                None => {
                    expression(v, &x.target, ExprPlace::Target);
                    if let Expr::Name(name) = &*x.target {
                        v.annotate(name.id.as_str(), name.range());
                    }
                }
            }
        }
        Stmt::For(x) => {
            v.node(NodeKind::For, at);
            looped(v, &x.target, &x.iter, &x.body, &x.orelse);
        }
        Stmt::AsyncFor(x) => {
            v.node(NodeKind::AsyncFor, at);
            looped(v, &x.target, &x.iter, &x.body, &x.orelse);
        }
        Stmt::While(x) => {
            v.node(NodeKind::While, at);
            expression(v, &x.test, ExprPlace::Compared);
            repeated(v, &x.body);
            body(v, &x.orelse);
        }
        Stmt::If(x) => {
            v.node(NodeKind::If, at);
            expression(v, &x.test, ExprPlace::Compared);
            body(v, &x.body);
            body(v, &x.orelse);
        }
        Stmt::With(x) => {
            v.node(NodeKind::With, at);
            x.items.iter().for_each(|item| with_item(v, item));
            body(v, &x.body);
        }
        Stmt::AsyncWith(x) => {
            v.node(NodeKind::AsyncWith, at);
            x.items.iter().for_each(|item| with_item(v, item));
            body(v, &x.body);
        }
        Stmt::Match(x) => {
            v.node(NodeKind::Match, at);
            expression(v, &x.subject, ExprPlace::Plain);
            for case in &x.cases {
                v.node(NodeKind::match_case, case.range());
                pattern(v, &case.pattern, &x.subject);
                if let Some(guard) = &case.guard {
                    expression(v, guard, ExprPlace::Compared);
                }
                body(v, &case.body);
            }
        }
        Stmt::Raise(x) => {
            v.node(NodeKind::Raise, at);
            for e in [&x.exc, &x.cause].into_iter().flatten() {
                expression(v, e, ExprPlace::Plain);
            }
        }
        Stmt::Try(x) => {
            v.node(NodeKind::Try, at);
            body(v, &x.body);
            handlers(v, &x.handlers);
            body(v, &x.orelse);
            body(v, &x.finalbody);
        }
        Stmt::TryStar(x) => {
            v.node(NodeKind::TryStar, at);
            body(v, &x.body);
            v.begin(Block::Group);
            handlers(v, &x.handlers);
            v.end();
            body(v, &x.orelse);
            body(v, &x.finalbody);
        }
        Stmt::Assert(x) => {
            v.node(NodeKind::Assert, at);
            expression(v, &x.test, ExprPlace::Compared);
            if let Some(message) = &x.msg {
                expression(v, message, ExprPlace::Plain);
            }
        }
        Stmt::Import(x) => {
            v.node(NodeKind::Import, at);
            for alias in &x.names {
                v.node(NodeKind::alias, alias.range());
                let path = alias.name.as_str();
                match &alias.asname {
                    Some(name) => v.bind(name.as_str(), alias.range(), Bound::Module(path)),
                    None => {
                        let top = path.split('.').next().unwrap_or(path);
                        v.bind(top, alias.range(), Bound::Module(top));
                    }
                }
            }
        }
        Stmt::ImportFrom(x) => {
            v.node(NodeKind::ImportFrom, at);
            for alias in &x.names {
                v.node(NodeKind::alias, alias.range());
                let to = Bound::Member {
                    module: x.module.as_ref().map_or("", ast::Identifier::as_str),
                    name: alias.name.as_str(),
                };
                let name = alias.asname.as_ref().unwrap_or(&alias.name);
                v.bind(name.as_str(), alias.range(), to);
            }
        }
        Stmt::Global(x) => {
            v.node(NodeKind::Global, at);
            x.names.iter().for_each(|n| v.declare(n.as_str(), true, at));
        }
        Stmt::Nonlocal(x) => {
            v.node(NodeKind::Nonlocal, at);
            x.names
                .iter()
                .for_each(|n| v.declare(n.as_str(), false, at));
        }
        Stmt::Expr(x) => {
            v.node(NodeKind::Expr, at);
            expression(v, &x.value, ExprPlace::Plain);
        }
        Stmt::Pass(_) => v.node(NodeKind::Pass, at),
        Stmt::Break(_) => v.node(NodeKind::Break, at),
        Stmt::Continue(_) => v.node(NodeKind::Continue, at),
    }
}

struct Function<'a> {
    /// `Scope::Function` or `Scope::Async`.
    scope: fn(&'a Arguments) -> Scope<'a>,
    name: &'a ast::Identifier,
    decorators: &'a [Expr],
    type_params: &'a [TypeParam],
    args: &'a Arguments,
    returns: Option<&'a Expr>,
    body: &'a [Stmt],
}

fn function<'a, V: Visitor<'a> + ?Sized>(v: &mut V, s: &'a Stmt, f: &Function<'a>) {
    for decorator in f.decorators {
        expression(v, decorator, ExprPlace::Decorator);
    }
    v.bind(f.name.as_str(), s.range(), Bound::Function(f.args));
    let generic = enter_parameters(v, f.type_params);
    outer_arguments(v, f.args);
    if let Some(returns) = f.returns {
        annotation(v, returns, Block::Signature);
    }
    v.enter((f.scope)(f.args));
    inner_arguments(v, f.args);
    body(v, f.body);
    v.leave();
    if generic {
        v.leave();
    }
}

/// Enters the scope of type parameters; most definitions have none.
fn enter_parameters<'a, V: Visitor<'a> + ?Sized>(v: &mut V, parameters: &'a [TypeParam]) -> bool {
    if parameters.is_empty() {
        return false;
    }
    v.enter(Scope::TypeParameters);
    type_parameters(v, parameters);
    true
}

fn looped<'a, V: Visitor<'a> + ?Sized>(
    v: &mut V,
    element: &'a Expr,
    iter: &'a Expr,
    main: &'a [Stmt],
    orelse: &'a [Stmt],
) {
    expression(v, iter, ExprPlace::Plain);
    target(v, element, TargetOf::Loop, Bound::ElementOf(iter));
    repeated(v, main);
    body(v, orelse);
}

fn repeated<'a, V: Visitor<'a> + ?Sized>(v: &mut V, main: &'a [Stmt]) {
    v.begin(Block::Loop);
    body(v, main);
    v.end();
}

fn with_item<'a, V: Visitor<'a> + ?Sized>(v: &mut V, item: &'a WithItem) {
    v.node(NodeKind::withitem, item.range());
    expression(v, &item.context_expr, ExprPlace::Plain);
    if let Some(variables) = &item.optional_vars {
        expression(v, variables, ExprPlace::Target);
        bind(
            v,
            variables,
            TargetOf::With,
            Bound::With(&item.context_expr),
        );
    }
}

fn handlers<'a, V: Visitor<'a> + ?Sized>(v: &mut V, handlers: &'a [ExceptHandler]) {
    for handler in handlers {
        let ExceptHandler::ExceptHandler(handler) = handler;
        v.node(NodeKind::ExceptHandler, handler.range());
        if let Some(kind) = &handler.type_ {
            expression(v, kind, ExprPlace::Compared);
        }
        if let Some(name) = &handler.name {
            v.bind(name.as_str(), handler.range(), Bound::Exception);
        }
        body(v, &handler.body);
        if let Some(name) = &handler.name {
            // Python deletes the name at the end of the handler.
            v.bind(name.as_str(), handler.range(), Bound::Deleted);
        }
    }
}
