//! What counts, ends of loops and conditions within them give away.

use super::Pass;
use super::held::Held;
use super::value::{LIST, MASK, NAMES, PLAIN, SINGLE, TABLE, Value, WHOLE};
use crate::analysis::parse::ast::{self, Expr, Stmt};

impl<'a> Pass<'a> {
    /// Goes through a part that is repeated as often as a value says: what it counts carries the value.
    pub(super) fn counting<T>(&mut self, by: &Value<'a>, part: impl FnOnce(&mut Self) -> T) -> T {
        if by.is_bare() {
            return part(self);
        }
        let by = by.told().held().without(PLAIN | TABLE | MASK | WHOLE);
        self.counted.push(by.with(SINGLE));
        let out = part(self);
        self.counted.pop();
        out
    }

    /// A condition. Within a loop over numbers, `(s == i).any()` finds out each value.
    pub(super) fn condition(&mut self, e: &'a Expr) -> Value<'a> {
        let test = self.eval(e);
        match self.sweeps > 0 && asks(e) {
            true => test.bared(),
            false => test,
        }
    }

    /// Notes that a condition may end a round or the loop.
    pub(super) fn jumps_by(&mut self, test: &Value<'a>) {
        if self.sweeps > 0 && !test.is_bare() {
            let held = test.told().held();
            self.grew |= self.jumped.join(&held);
        }
    }

    /// Goes through a loop until nothing changes any more. What it leaves says how far it went.
    pub(super) fn looped(&mut self, mut part: impl FnMut(&mut Self)) -> Held {
        let around = std::mem::take(&mut self.jumped);
        let ended = self.ended_by_rows(|pass| {
            pass.again(|pass| {
                let by = pass.jumped.clone();
                pass.counting(&by, |pass| pass.ending(&mut part));
            });
        });
        self.jumped = around;
        ended
    }

    /// What the errors of a part depend on, if they may count: all that it reads.
    pub(super) fn tried(&mut self, body: &'a [Stmt]) -> Value<'a> {
        if self.sweeps == 0 && !body.iter().any(loops) {
            return Value::default();
        }
        let before = std::mem::take(&mut self.touched);
        self.sweeps += 1;
        self.branch(body);
        self.sweeps -= 1;
        let read = std::mem::replace(&mut self.touched, before);
        self.touched.join(&read);
        self.jumps_by(&read);
        read
    }

    /// `del l[:n]`: what is left says what was taken away.
    pub(super) fn deleted(&mut self, target: &'a Expr) {
        match target {
            Expr::Subscript(x) => {
                let base = self.base(&x.value);
                let key = self.eval(&x.slice).held().without(PLAIN | TABLE);
                self.put(&base.sites, &key.single());
                if !base.is_bare() && super::stmts::literal(&x.slice).is_none() {
                    self.thins(&base.sites);
                }
            }
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                elts.iter().for_each(|e| self.deleted(e));
            }
            _ => {}
        }
    }
}

impl Value<'_> {
    /// Whether a loop over it goes through values of the snippet's own, and not through rows or names.
    pub(super) fn sweeps(&self) -> bool {
        let named = self.texts.is_some() && self.has(LIST);
        self.is_bare() && !named && !self.has(NAMES)
    }
}

/// Whether a condition calls something with a comparison of rows.
fn asks(e: &Expr) -> bool {
    fn compares(e: &Expr) -> bool {
        match e {
            Expr::Compare(_) => true,
            Expr::Attribute(x) => compares(&x.value),
            Expr::Subscript(x) => compares(&x.value) || compares(&x.slice),
            Expr::BinOp(x) => compares(&x.left) || compares(&x.right),
            Expr::UnaryOp(x) => compares(&x.operand),
            Expr::Call(x) => compares(&x.func) || x.args.iter().any(compares),
            _ => false,
        }
    }
    match e {
        Expr::Call(_) => compares(e),
        Expr::Compare(x) => asks(&x.left) || x.comparators.iter().any(asks),
        Expr::BoolOp(x) => x.values.iter().any(asks),
        Expr::UnaryOp(x) => asks(&x.operand),
        _ => false,
    }
}

/// Whether a loop goes on until an error ends it, or through numbers.
fn loops(s: &Stmt) -> bool {
    match s {
        Stmt::While(_) => true,
        Stmt::For(x) => {
            matches!(&*x.iter, Expr::Call(_) | Expr::Name(_)) || x.body.iter().any(loops)
        }
        Stmt::If(x) => x.body.iter().chain(&x.orelse).any(loops),
        Stmt::With(x) => x.body.iter().any(loops),
        Stmt::Try(x) => x.body.iter().any(loops),
        _ => false,
    }
}

/// Whether a part may end the round, the loop or the function.
pub(super) fn jumps(body: &[Stmt]) -> bool {
    body.iter().any(|s| match s {
        Stmt::Break(_) | Stmt::Continue(_) | Stmt::Return(_) | Stmt::Raise(_) => true,
        Stmt::If(x) => jumps(&x.body) || jumps(&x.orelse),
        Stmt::With(x) => jumps(&x.body),
        Stmt::Try(x) => {
            let handlers = x.handlers.iter().map(|h| match h {
                ast::ExceptHandler::ExceptHandler(h) => &h.body,
            });
            jumps(&x.body) || handlers.into_iter().any(|body| jumps(body)) || jumps(&x.orelse)
        }
        Stmt::Match(x) => x.cases.iter().any(|case| jumps(&case.body)),
        _ => false,
    })
}
