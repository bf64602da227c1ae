//! What CPython's compiler refuses although the parser takes it: never run, so never clear.

use std::collections::HashSet;

use super::Inspector;
use crate::analysis::fold::fold;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{Arguments, Expr, Ranged, Stmt};
use crate::analysis::rules;

impl<'a> Inspector<'a> {
    /// An assignment to what is no target.
    pub(super) fn target(&mut self, e: &'a Expr) {
        match e {
            Expr::Name(_)
            | Expr::Attribute(_)
            | Expr::Subscript(_)
            | Expr::Starred(_)
            | Expr::Tuple(_)
            | Expr::List(_) => {}
            Expr::BoolOp(_)
            | Expr::NamedExpr(_)
            | Expr::BinOp(_)
            | Expr::UnaryOp(_)
            | Expr::Lambda(_)
            | Expr::IfExp(_)
            | Expr::Dict(_)
            | Expr::Set(_)
            | Expr::ListComp(_)
            | Expr::SetComp(_)
            | Expr::DictComp(_)
            | Expr::GeneratorExp(_)
            | Expr::Await(_)
            | Expr::Yield(_)
            | Expr::YieldFrom(_)
            | Expr::Compare(_)
            | Expr::Call(_)
            | Expr::FormattedValue(_)
            | Expr::JoinedStr(_)
            | Expr::Constant(_)
            | Expr::Slice(_) => {
                self.add(
                    &rules::REFUSED_BY_CPYTHON,
                    e.range(),
                    "assigns to an expression",
                );
            }
        }
    }

    /// A starred target stands in a list or tuple.
    pub(super) fn targets(&mut self, targets: &'a [Expr]) {
        for target in targets.iter().filter(|e| e.is_starred_expr()) {
            self.add(
                &rules::REFUSED_BY_CPYTHON,
                target.range(),
                "a starred target alone",
            );
        }
    }

    /// `return` and `yield` belong in functions.
    pub(super) fn inside_function(&mut self, what: &str, at: TextRange) {
        if self.text.is_none() && !self.r.scopes.in_function(self.here()) {
            self.add(
                &rules::REFUSED_BY_CPYTHON,
                at,
                format!("{what} outside a function"),
            );
        }
    }

    /// Each parameter has a name of its own.
    pub(super) fn parameters(&mut self, arguments: &'a Arguments) {
        let mut seen = HashSet::new();
        let plain = arguments
            .posonlyargs
            .iter()
            .chain(&arguments.args)
            .chain(&arguments.kwonlyargs)
            .map(|a| &a.def);
        let rest = [&arguments.vararg, &arguments.kwarg].into_iter().flatten();
        for argument in plain.chain(rest.map(|a| &**a)) {
            if !seen.insert(fold(argument.arg.as_str())) {
                let name = argument.arg.to_string();
                self.add(
                    &rules::REFUSED_BY_CPYTHON,
                    argument.range(),
                    format!("two parameters `{name}`"),
                );
            }
        }
    }

    /// `break` and `continue` belong in loops.
    pub(super) fn jumps(&mut self, body: &'a [Stmt], looped: bool) {
        for s in body {
            match s {
                Stmt::Break(_) | Stmt::Continue(_) if !looped => {
                    self.add(&rules::REFUSED_BY_CPYTHON, s.range(), "outside a loop");
                }
                Stmt::If(x) => {
                    self.jumps(&x.body, looped);
                    self.jumps(&x.orelse, looped);
                }
                Stmt::With(x) => self.jumps(&x.body, looped),
                Stmt::Try(x) => {
                    self.jumps(&x.body, looped);
                    self.jumps(&x.orelse, looped);
                    self.jumps(&x.finalbody, looped);
                }
                Stmt::For(x) => self.jumps(&x.orelse, looped),
                Stmt::While(x) => self.jumps(&x.orelse, looped),
                Stmt::FunctionDef(x) => self.jumps(&x.body, false),
                Stmt::ClassDef(x) => self.jumps(&x.body, false),
                _ => {}
            }
        }
    }
}
