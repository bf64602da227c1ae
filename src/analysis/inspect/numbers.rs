//! Numbers and lengths that the text tells: literals, arithmetic on them, names bound to them once.

use super::Inspector;
use crate::analysis::fold::fold;
use crate::analysis::parse::ast::{Constant, Expr, Operator, UnaryOp};
use crate::analysis::resolve::Val;
use crate::analysis::walk::Bound;

/// Names followed in a row.
const HOPS: usize = 6;

impl<'a> Inspector<'a> {
    /// The value of a number; infinite where it is beyond f64.
    pub(super) fn number(&self, e: &'a Expr) -> Option<f64> {
        self.number_after(e, 0)
    }

    fn number_after(&self, e: &'a Expr, hops: usize) -> Option<f64> {
        match e {
            Expr::Constant(c) => match &c.value {
                Constant::Int(n) => n.to_string().parse().ok(),
                Constant::Float(n) => Some(*n),
                Constant::None
                | Constant::Bool(_)
                | Constant::Str(_)
                | Constant::Bytes(_)
                | Constant::Tuple(_)
                | Constant::Complex { .. }
                | Constant::Ellipsis => None,
            },
            Expr::Name(_) if hops < HOPS => self.number_after(self.only_value(e)?, hops + 1),
            Expr::UnaryOp(x) => match x.op {
                UnaryOp::USub => self.number_after(&x.operand, hops).map(|n| -n),
                UnaryOp::UAdd => self.number_after(&x.operand, hops),
                UnaryOp::Invert | UnaryOp::Not => None,
            },
            Expr::BinOp(x) => {
                let a = self.number_after(&x.left, hops)?;
                let b = self.number_after(&x.right, hops)?;
                Some(match x.op {
                    Operator::Add => a + b,
                    Operator::Sub => a - b,
                    Operator::Mult => a * b,
                    Operator::Pow => a.powf(b),
                    Operator::LShift => a * b.min(4096.0).exp2(),
                    Operator::Div | Operator::FloorDiv => a / b,
                    Operator::MatMult
                    | Operator::Mod
                    | Operator::RShift
                    | Operator::BitOr
                    | Operator::BitXor
                    | Operator::BitAnd => return None,
                })
            }
            Expr::Call(call) => match &*call.func {
                Expr::Name(f) if matches!(f.id.as_str(), "int" | "float") => {
                    call.args.first().and_then(|e| self.number_after(e, hops))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// What a name stands for, when it is bound in one place only and never changed.
    pub(super) fn only_value(&self, e: &'a Expr) -> Option<&'a Expr> {
        let Expr::Name(name) = e else { return None };
        let found = self.r.scopes.lookup(&fold(name.id.as_str()), self.here());
        match found.bindings.as_slice() {
            [(bindings, _)] => match bindings.as_slice() {
                [only] => match only.to {
                    Bound::Value(value) => Some(value),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    /// The length of a literal sequence.
    pub(super) fn length(&self, e: &'a Expr) -> Option<f64> {
        #[allow(clippy::cast_precision_loss)]
        let counted = |n: usize| Some(n as f64);
        match e {
            Expr::List(x) => counted(x.elts.len()),
            Expr::Tuple(x) => counted(x.elts.len()),
            Expr::JoinedStr(_) => Some(1.0),
            Expr::Constant(c) => match &c.value {
                Constant::Str(text) => counted(text.len()),
                Constant::Bytes(bytes) => counted(bytes.len()),
                _ => None,
            },
            Expr::Name(_) => match self.r.eval(e, self.here()).as_slice() {
                [Val::Text(text)] => counted(text.len()),
                [Val::Items(..)] => Some(1.0),
                _ => None,
            },
            Expr::BinOp(x) if x.op == Operator::Mult => {
                match (self.length(&x.left), self.number(&x.right)) {
                    (Some(n), Some(times)) => Some(n * times),
                    _ => match (self.number(&x.left), self.length(&x.right)) {
                        (Some(times), Some(n)) => Some(n * times),
                        _ => None,
                    },
                }
            }
            _ => None,
        }
    }

    /// The product of a literal shape, `(n,) * k` included.
    pub(super) fn product(&self, e: &'a Expr) -> Option<f64> {
        match e {
            Expr::Tuple(x) => x.elts.iter().map(|e| self.number(e)).product(),
            Expr::List(x) => x.elts.iter().map(|e| self.number(e)).product(),
            Expr::BinOp(x) if x.op == Operator::Mult && x.left.is_tuple_expr() => {
                Some(self.product(&x.left)?.powf(self.number(&x.right)?))
            }
            Expr::Name(_) => match self.only_value(e) {
                Some(value @ (Expr::Tuple(_) | Expr::List(_))) => self.product(value),
                _ => self.number(e),
            },
            other => self.number(other),
        }
    }

    pub(super) fn range_length(&self, e: &'a Expr) -> Option<f64> {
        let Expr::Call(call) = e else { return None };
        match &*call.func {
            Expr::Name(f) if f.id.as_str() == "range" => match call.args.as_slice() {
                [end] => self.number(end),
                [start, end] => Some(self.number(end)? - self.number(start)?),
                [start, end, step, ..] => {
                    Some(((self.number(end)? - self.number(start)?) / self.number(step)?).abs())
                }
                [] => None,
            },
            _ => None,
        }
    }
}
