//! Loops without an exit, and endless iterables. They are only flagged, because the time of a run
//! is limited.

use super::Inspector;
use super::calls::Arguments;
use crate::analysis::fold::fold;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{
    self, BoolOp, CmpOp, Constant, ExceptHandler, Expr, Ranged, Stmt, UnaryOp,
};
use crate::analysis::resolve::Val;
use crate::analysis::rules;

/// The limit on steps of a loop.
pub(super) const STEPS: f64 = 1e9;

impl<'a> Inspector<'a> {
    /// Judges a comprehension over an endless or too long iterable.
    pub(super) fn comprehension(&mut self, generators: &'a [ast::Comprehension], at: TextRange) {
        self.generator(generators);
        if generators.iter().any(|g| self.endless(&g.iter, 0)) {
            self.add(&rules::DOS_LOOP, at, "comprehension");
        }
        if generators.len() > 1 {
            let steps: Option<f64> = generators
                .iter()
                .map(|g| self.range_length(&g.iter))
                .product();
            if steps.is_some_and(|n| n > STEPS) {
                self.add(&rules::DOS_LITERAL, at, "comprehension");
            }
        }
    }

    pub(super) fn generator(&mut self, generators: &'a [ast::Comprehension]) {
        for generator in generators {
            self.looped_over(&generator.iter);
        }
    }

    pub(super) fn while_loop(&mut self, x: &'a ast::StmtWhile) {
        if self.truth(&x.test) == Some(true) && !self.leaves(&x.body, true) {
            let (start, _) = self.place(x.range());
            self.facts
                .add(&rules::DOS_LOOP, (start, start + 5), "while");
        } else if self.counts_far(x) {
            self.add(&rules::DOS_LITERAL, x.test.range(), "while");
        }
    }

    /// Judges `while i < 10**10: i += 1`.
    fn counts_far(&self, x: &'a ast::StmtWhile) -> bool {
        let Expr::Compare(test) = &*x.test else {
            return false;
        };
        let ([_], [right]) = (test.ops.as_slice(), test.comparators.as_slice()) else {
            return false;
        };
        let bound = |e: &'a Expr| self.number(e).map(f64::abs);
        let Some(end) = bound(right).or_else(|| bound(&test.left)) else {
            return false;
        };
        x.body.iter().any(|s| {
            matches!(s, Stmt::AugAssign(step)
                if matches!(step.op, ast::Operator::Add | ast::Operator::Sub)
                    && matches!((&*step.target, &*test.left, right),
                        (Expr::Name(a), Expr::Name(b), _) | (Expr::Name(a), _, Expr::Name(b))
                            if a.id == b.id)
                    && self.number(&step.value).is_some_and(|n| end / n.abs() > STEPS))
        })
    }

    pub(super) fn for_loop(&mut self, x: &'a ast::StmtFor) {
        if self.leaves(&x.body, true) {
            return;
        }
        if self.endless(&x.iter, 0) || grows(&x.iter, &x.body) {
            let (start, _) = self.place(x.range());
            self.facts.add(&rules::DOS_LOOP, (start, start + 3), "for");
        }
        if x.body.iter().any(Stmt::is_for_stmt) && self.steps(x) > STEPS {
            self.add(
                &rules::DOS_LITERAL,
                x.iter.range(),
                "loops inside each other",
            );
        }
        self.growth(x);
    }

    /// Judges collecting an endless iterable: `list(itertools.count())`.
    pub(super) fn collects(&mut self, name: &str, arguments: Arguments<'a>, at: TextRange) {
        let collects = matches!(
            name,
            "list"
                | "tuple"
                | "set"
                | "frozenset"
                | "sorted"
                | "sum"
                | "max"
                | "min"
                | "dict"
                | "collections.Counter"
                | "functools.reduce"
                | "numpy.fromiter"
                | "statistics.mean"
        ) || (name == "collections.deque"
            && arguments.count() == 1
            && arguments.call.keywords.is_empty());
        if collects && arguments.call.args.iter().any(|e| self.endless(e, 0)) {
            self.add(&rules::DOS_LOOP, at, name.to_owned());
        }
    }

    /// Judges unpacking an endless iterable: `[*itertools.repeat(1)]`.
    pub(super) fn unpacks(&mut self, parts: &'a [Expr], at: TextRange) {
        let endless = parts
            .iter()
            .any(|e| matches!(e, Expr::Starred(x) if self.endless(&x.value, 0)));
        if endless {
            self.add(&rules::DOS_LOOP, at, "unpacking");
        }
    }

    /// Whether iterating over the expression never ends by itself.
    pub(super) fn endless(&self, iter: &'a Expr, depth: usize) -> bool {
        if depth > 4 {
            return false;
        }
        match iter {
            Expr::Name(_) => self
                .only_value(iter)
                .is_some_and(|value| self.endless(value, depth + 1)),
            Expr::GeneratorExp(x) => x
                .generators
                .iter()
                .any(|g| self.endless(&g.iter, depth + 1)),
            Expr::Call(call) => {
                self.r
                    .eval(&call.func, self.here())
                    .iter()
                    .any(|v| match v {
                        Val::Member(p) => match &**p {
                            "itertools.count" | "itertools.cycle" => true,
                            "itertools.repeat" => call.args.len() == 1 && call.keywords.is_empty(),
                            "itertools.chain" | "itertools.accumulate" => {
                                call.args.iter().any(|e| self.endless(e, depth + 1))
                            }
                            _ => false,
                        },
                        Val::Builtin(name) => match &**name {
                            // `iter(int, 1)` is endless; a function that reads something may reach
                            // its end.
                            "iter" => {
                                call.args.len() == 2
                                    && matches!(&call.args[0], Expr::Name(f) if matches!(
                                        &*fold(f.id.as_str()),
                                        "int" | "float" | "str" | "list" | "dict" | "tuple" | "set" | "object" | "bool"
                                    ))
                            }
                            "map" | "zip" => {
                                let mut sources =
                                    call.args.iter().skip(usize::from(&**name == "map")).peekable();
                                sources.peek().is_some()
                                    && sources.all(|e| self.endless(e, depth + 1))
                            }
                            "filter" | "enumerate" => {
                                call.args.iter().any(|e| self.endless(e, depth + 1))
                            }
                            _ => false,
                        },
                        _ => false,
                    })
            }
            _ => false,
        }
    }

    /// Whether the test is always true or always false, if the text shows it.
    fn truth(&self, e: &'a Expr) -> Option<bool> {
        match e {
            Expr::Constant(c) => Some(match &c.value {
                Constant::Bool(b) => *b,
                Constant::Int(_) | Constant::Float(_) => self.number(e)? != 0.0,
                Constant::Str(text) => !text.is_empty(),
                Constant::Bytes(bytes) => !bytes.is_empty(),
                Constant::Ellipsis => true,
                Constant::None => false,
                Constant::Tuple(_) | Constant::Complex { .. } => return None,
            }),
            Expr::Name(_) => match self.only_value(e) {
                Some(value @ Expr::Constant(_)) => self.truth(value),
                Some(_) => None,
                None => match self.r.eval(e, self.here()).as_slice() {
                    [Val::Builtin(_) | Val::Function(_) | Val::Class(_)] => Some(true),
                    _ => None,
                },
            },

            Expr::UnaryOp(x) if x.op == UnaryOp::Not => self.truth(&x.operand).map(|b| !b),
            Expr::UnaryOp(_) | Expr::BinOp(_) => self.number(e).map(|n| n != 0.0),
            Expr::Compare(x) => {
                let ([op], [right]) = (x.ops.as_slice(), x.comparators.as_slice()) else {
                    return None;
                };
                let none = |e: &Expr| matches!(e, Expr::Constant(c) if c.value == Constant::None);
                let text = |e: &'a Expr| match e {
                    Expr::Constant(c) => c.value.as_str(),
                    _ => None,
                };
                let same = matches!((text(&x.left), text(right)), (Some(a), Some(b)) if a == b)
                    || matches!((&*x.left, right), (Expr::Name(a), Expr::Name(b)) if a.id == b.id);
                if (none(&x.left) && none(right)) || same {
                    return Some(matches!(
                        op,
                        CmpOp::Eq | CmpOp::Is | CmpOp::LtE | CmpOp::GtE
                    ));
                }
                let (a, b) = (self.number(&x.left)?, self.number(right)?);
                Some(match op {
                    CmpOp::Eq | CmpOp::Is => (a - b).abs() < f64::EPSILON,
                    CmpOp::NotEq | CmpOp::IsNot => (a - b).abs() > f64::EPSILON,
                    CmpOp::Lt => a < b,
                    CmpOp::LtE => a <= b,
                    CmpOp::Gt => a > b,
                    CmpOp::GtE => a >= b,
                    CmpOp::In | CmpOp::NotIn => return None,
                })
            }
            Expr::List(x) => Some(!x.elts.is_empty()),
            Expr::Tuple(x) => Some(!x.elts.is_empty()),
            Expr::Set(x) => Some(!x.elts.is_empty()),
            Expr::Dict(x) => Some(!x.values.is_empty()),
            Expr::Lambda(_) => Some(true),
            Expr::NamedExpr(x) => self.truth(&x.value),
            Expr::JoinedStr(x) => x
                .values
                .iter()
                .any(|e| e.is_constant_expr())
                .then_some(true),
            Expr::Call(call) => match (&*call.func, call.args.as_slice()) {
                (Expr::Name(f), [only])
                    if matches!(f.id.as_str(), "bool" | "int" | "len" | "str" | "float") =>
                {
                    self.truth(only)
                }
                _ => None,
            },
            Expr::BoolOp(x) => {
                let mut all = x.values.iter().map(|e| self.truth(e));
                match x.op {
                    BoolOp::And => all.all(|b| b == Some(true)).then_some(true),
                    BoolOp::Or => all.any(|b| b == Some(true)).then_some(true),
                }
            }
            _ => None,
        }
    }

    /// Whether the body of a loop has an exit: a `break` of this loop, `return`, `raise`, or a
    /// `yield` (the consumer then decides).
    pub(super) fn leaves(&self, body: &'a [Stmt], own: bool) -> bool {
        body.iter().any(|s| match s {
            Stmt::Break(_) => own,
            Stmt::Return(_) | Stmt::Raise(_) => true,
            Stmt::If(x) => {
                (self.truth(&x.test) != Some(false) && self.leaves(&x.body, own))
                    || self.leaves(&x.orelse, own)
            }
            Stmt::With(x) => self.leaves(&x.body, own),
            Stmt::AsyncWith(x) => self.leaves(&x.body, own),
            Stmt::For(x) => self.leaves(&x.body, false) || self.leaves(&x.orelse, own),
            Stmt::AsyncFor(x) => self.leaves(&x.body, false) || self.leaves(&x.orelse, own),
            Stmt::While(x) => self.leaves(&x.body, false) || self.leaves(&x.orelse, own),
            Stmt::Match(x) => x.cases.iter().any(|c| self.leaves(&c.body, own)),
            Stmt::Try(x) => {
                self.leaves(&x.body, own)
                    || x.handlers.iter().any(|h| {
                        let ExceptHandler::ExceptHandler(h) = h;
                        self.leaves(&h.body, own)
                    })
                    || self.leaves(&x.orelse, own)
                    || self.leaves(&x.finalbody, own)
            }
            Stmt::TryStar(x) => {
                self.leaves(&x.body, own)
                    || self.leaves(&x.orelse, own)
                    || self.leaves(&x.finalbody, own)
            }
            Stmt::Expr(x) => yields(&x.value),
            Stmt::Assign(x) => yields(&x.value),
            Stmt::FunctionDef(_)
            | Stmt::AsyncFunctionDef(_)
            | Stmt::ClassDef(_)
            | Stmt::Delete(_)
            | Stmt::TypeAlias(_)
            | Stmt::AugAssign(_)
            | Stmt::AnnAssign(_)
            | Stmt::Assert(_)
            | Stmt::Import(_)
            | Stmt::ImportFrom(_)
            | Stmt::Global(_)
            | Stmt::Nonlocal(_)
            | Stmt::Pass(_)
            | Stmt::Continue(_) => false,
        })
    }
}

fn yields(e: &Expr) -> bool {
    e.is_yield_expr() || e.is_yield_from_expr() || e.is_await_expr()
}

/// Whether the loop extends what it iterates over, at the top level of its body:
/// `for i in x: x.append(i)`.
fn grows(iter: &Expr, body: &[Stmt]) -> bool {
    let Expr::Name(source) = iter else {
        return false;
    };
    body.iter().any(|s| {
        matches!(s, Stmt::Expr(x) if matches!(&*x.value, Expr::Call(call)
            if matches!(&*call.func, Expr::Attribute(f)
                if f.attr.as_str() == "append"
                    && matches!(&*f.value, Expr::Name(n) if n.id == source.id))))
    })
}
