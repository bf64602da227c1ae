//! Statements after which execution does not continue.

use std::collections::HashSet;

use super::is_true;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{Constant, ExceptHandler, Expr, Stmt};
use crate::analysis::walk::{Bound, Visitor, body};

/// How a run ends successfully: the names of `sys`, of `sys.exit`, and of functions that call it.
#[derive(Default)]
pub(super) struct Exits<'a> {
    sys: HashSet<&'a str>,
    exit: HashSet<&'a str>,
}

impl<'a> Exits<'a> {
    pub(super) fn of(statements: &'a [Stmt]) -> Self {
        let mut exits = Self::default();
        exits.exit.extend(["exit", "quit"]);
        body(&mut exits, statements);
        let functions = statements.iter().filter_map(|s| match s {
            Stmt::FunctionDef(x) => Some(x),
            _ => None,
        });
        let leaving = functions.filter(|x| x.body.iter().any(|s| exits.exits(s)));
        let leaving: Vec<&str> = leaving.map(|x| x.name.as_str()).collect();
        exits.exit.extend(leaving);
        exits
    }

    /// Whether the code after a statement may not run: the statement returns, ends an iteration or
    /// the run, or may do so. A raised error counts too, because it may be caught further out.
    pub(super) fn may_leave(&self, statement: &Stmt, in_loop: bool) -> bool {
        let any = |all: &[Stmt], in_loop: bool| all.iter().any(|s| self.may_leave(s, in_loop));
        match statement {
            Stmt::Return(_) => true,
            Stmt::Break(_) | Stmt::Continue(_) => !in_loop,
            Stmt::If(x) => any(&x.body, in_loop) || any(&x.orelse, in_loop),
            Stmt::For(x) => any(&x.body, true) || any(&x.orelse, in_loop),
            Stmt::While(x) => {
                let endless = is_true(&x.test) && !x.body.iter().any(breaks);
                endless || any(&x.body, true) || any(&x.orelse, in_loop)
            }
            Stmt::With(x) => any(&x.body, in_loop),
            Stmt::Try(x) => {
                let handlers = x.handlers.iter();
                any(&x.body, in_loop)
                    || any(&x.orelse, in_loop)
                    || any(&x.finalbody, in_loop)
                    || handlers
                        .into_iter()
                        .any(|ExceptHandler::ExceptHandler(h)| any(&h.body, in_loop))
            }
            Stmt::Match(x) => x.cases.iter().any(|case| any(&case.body, in_loop)),
            Stmt::Raise(_) => true,
            Stmt::Assert(x) => {
                matches!(&*x.test, Expr::Constant(c) if c.value == Constant::Bool(false))
            }
            other => self.exits(other),
        }
    }

    /// Whether the statement is `sys.exit()`, `raise SystemExit`, or calls a function that exits.
    fn exits(&self, statement: &Stmt) -> bool {
        match statement {
            Stmt::Expr(x) => match &*x.value {
                Expr::Call(call) => match &*call.func {
                    Expr::Attribute(exit) => {
                        let of_sys = matches!(&*exit.value, Expr::Name(n) if self.sys.contains(n.id.as_str()));
                        of_sys && exit.attr.as_str() == "exit"
                    }
                    Expr::Name(exit) => self.exit.contains(exit.id.as_str()),
                    _ => false,
                },
                _ => false,
            },
            Stmt::Raise(x) => x.exc.as_deref().is_some_and(|e| {
                let class = match e {
                    Expr::Call(call) => &*call.func,
                    e => e,
                };
                matches!(class, Expr::Name(n) if n.id.as_str() == "SystemExit")
            }),
            Stmt::If(x) => x.body.iter().chain(&x.orelse).any(|s| self.exits(s)),
            _ => false,
        }
    }
}

impl<'a> Visitor<'a> for Exits<'a> {
    fn bind(&mut self, name: &'a str, _at: TextRange, to: Bound<'a>) {
        match to {
            Bound::Module("sys") => drop(self.sys.insert(name)),
            Bound::Member {
                module: "sys",
                name: "exit",
            } => drop(self.exit.insert(name)),
            _ => {}
        }
    }
}

/// Whether the statement leaves the enclosing loop.
fn breaks(statement: &Stmt) -> bool {
    match statement {
        Stmt::Break(_) => true,
        Stmt::If(x) => x.body.iter().chain(&x.orelse).any(breaks),
        Stmt::With(x) => x.body.iter().any(breaks),
        Stmt::Try(x) => {
            let handlers = x.handlers.iter();
            let mut handled = handlers.flat_map(|ExceptHandler::ExceptHandler(h)| &h.body);
            x.body
                .iter()
                .chain(&x.orelse)
                .chain(&x.finalbody)
                .any(breaks)
                || handled.any(breaks)
        }
        Stmt::Match(x) => x.cases.iter().any(|case| case.body.iter().any(breaks)),
        Stmt::For(x) => x.orelse.iter().any(breaks),
        Stmt::While(x) => x.orelse.iter().any(breaks),
        _ => false,
    }
}
