//! Numbers and lengths that the text shows: literals, arithmetic on literals, names bound to them
//! once.

use super::Inspector;
use crate::analysis::fold::fold;
use crate::analysis::parse::ast::{self, Constant, Expr, Operator, UnaryOp};
use crate::analysis::resolve::Val;
use crate::analysis::walk::Bound;

/// The limit on names followed one after another.
const HOPS: usize = 6;

impl<'a> Inspector<'a> {
    /// The value of a number; infinite if it exceeds f64.
    pub(super) fn number(&self, e: &'a Expr) -> Option<f64> {
        self.number_after(e, 0)
    }

    fn number_after(&self, e: &'a Expr, hops: usize) -> Option<f64> {
        match e {
            Expr::Constant(c) => match &c.value {
                Constant::Int(n) => n.to_string().parse().ok(),
                Constant::Float(n) => Some(*n),
                Constant::Bool(b) => Some(f64::from(*b)),
                Constant::None
                | Constant::Str(_)
                | Constant::Bytes(_)
                | Constant::Tuple(_)
                | Constant::Complex { .. }
                | Constant::Ellipsis => None,
            },
            Expr::Name(_) if hops < HOPS => self.number_after(self.only_value(e)?, hops + 1),
            Expr::NamedExpr(x) => self.number_after(&x.value, hops),
            // The larger of the two possible values.
            Expr::IfExp(x) => self.largest(&mut [&*x.body, &*x.orelse].into_iter(), hops),
            Expr::UnaryOp(x) => {
                let n = self.number_after(&x.operand, hops)?;
                match x.op {
                    UnaryOp::USub => Some(-n),
                    UnaryOp::UAdd => Some(n),
                    UnaryOp::Invert => Some(-n - 1.0),
                    UnaryOp::Not => None,
                }
            }
            Expr::BinOp(x) => {
                let a = self.number_after(&x.left, hops)?;
                let b = self.number_after(&x.right, hops)?;
                Some(match x.op {
                    Operator::Add => a + b,
                    Operator::Sub => a - b,
                    Operator::Mult => a * b,
                    Operator::Pow => a.powf(b),
                    Operator::LShift => a * b.min(4096.0).exp2(),
                    Operator::RShift => a / b.clamp(0.0, 4096.0).exp2(),
                    Operator::Div | Operator::FloorDiv => a / b,
                    Operator::Mod => a.rem_euclid(b),
                    // An approximation: only the magnitude counts.
                    Operator::BitOr | Operator::BitXor => a.max(b),
                    Operator::BitAnd => a.min(b),
                    Operator::MatMult => return None,
                })
            }
            Expr::Subscript(x) => match (&*x.value, self.number_after(&x.slice, hops)) {
                (
                    Expr::List(ast::ExprList { elts, .. })
                    | Expr::Tuple(ast::ExprTuple { elts, .. }),
                    Some(_),
                ) => self.largest(&mut elts.iter(), hops),
                _ => None,
            },
            Expr::Call(call) => self.called_number(call, hops),
            _ => None,
        }
    }

    /// The result of a common function of literals.
    fn called_number(&self, call: &'a ast::ExprCall, hops: usize) -> Option<f64> {
        let first = call.args.first()?;
        let at = |i: usize| call.args.get(i).and_then(|e| self.number_after(e, hops));
        let callee = self.r.eval(&call.func, self.here());
        let [Val::Builtin(name) | Val::Member(name)] = callee.as_slice() else {
            return None;
        };
        match &**name {
            "int" | "float" => match first {
                Expr::Constant(c) if call.args.len() == 1 => match &c.value {
                    Constant::Str(text) => text.trim().replace('_', "").parse().ok(),
                    _ => at(0),
                },
                _ => at(0),
            },
            "round" | "abs" | "math.floor" | "math.ceil" | "math.trunc" | "math.fabs"
            | "operator.index" | "fractions.Fraction" | "numpy.int64" => at(0).map(f64::abs),
            "pow" | "math.pow" | "operator.pow" if call.args.len() == 2 => {
                Some(at(0)?.powf(at(1)?))
            }
            "operator.mul" => Some(at(0)? * at(1)?),
            "operator.add" => Some(at(0)? + at(1)?),
            "operator.lshift" => Some(at(0)? * at(1)?.min(4096.0).exp2()),
            "math.factorial" => {
                at(0).map(|n| (2..=170).map(f64::from).take_while(|k| *k <= n).product())
            }
            "len" => self.length(first),
            "ord" => {
                Some(f64::from(u32::from(char::MAX))).filter(|_| self.length(first) == Some(1.0))
            }
            "max" | "sum" | "math.prod" | "min" => match first {
                Expr::List(ast::ExprList { elts, .. })
                | Expr::Tuple(ast::ExprTuple { elts, .. })
                    if call.args.len() == 1 =>
                {
                    self.largest(&mut elts.iter(), hops)
                }
                _ => self.largest(&mut call.args.iter(), hops),
            },
            "divmod" => at(0),
            _ => None,
        }
    }

    /// The largest known value.
    fn largest(&self, of: &mut dyn Iterator<Item = &'a Expr>, hops: usize) -> Option<f64> {
        of.filter_map(|e| self.number_after(e, hops))
            .reduce(f64::max)
    }

    /// The value of a name that is bound in a single place and never changed.
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
                several if several.iter().any(|v| matches!(v, Val::Items(..))) => Some(1.0),
                _ => None,
            },
            Expr::Call(_) => match self.r.eval(e, self.here()).as_slice() {
                [Val::Result(path)] if matches!(&**path, "array.array" | "collections.deque") => {
                    Some(1.0)
                }
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

    /// The product of a literal shape, including `(n,) * k`.
    pub(super) fn product(&self, e: &'a Expr) -> Option<f64> {
        match e {
            Expr::Tuple(x) => x.elts.iter().map(|e| self.number(e)).product(),
            Expr::List(x) => x.elts.iter().map(|e| self.number(e)).product(),
            Expr::BinOp(x)
                if x.op == Operator::Mult && (x.left.is_tuple_expr() || x.left.is_list_expr()) =>
            {
                Some(self.product(&x.left)?.powf(self.number(&x.right)?))
            }
            Expr::Name(_) => match self.only_value(e) {
                Some(value @ (Expr::Tuple(_) | Expr::List(_))) => self.product(value),
                _ => self.number(e),
            },
            other => self.number(other),
        }
    }

    /// The number of iterations: of a range, or of an `itertools` function with a count.
    pub(super) fn range_length(&self, e: &'a Expr) -> Option<f64> {
        match e {
            Expr::Call(call) => self.counted(call),
            _ => None,
        }
    }

    pub(super) fn counted(&self, call: &'a ast::ExprCall) -> Option<f64> {
        let number = |i: usize| call.args.get(i).and_then(|e| self.number(e));
        let callee = self.r.eval(&call.func, self.here());
        let [Val::Builtin(name) | Val::Member(name)] = callee.as_slice() else {
            return None;
        };
        match (&**name, call.args.len()) {
            ("range", 1) => number(0),
            ("range", 2) => Some(number(1)? - number(0)?),
            ("range", 3) => Some(((number(1)? - number(0)?) / number(2)?).abs()),
            ("itertools.repeat", 2) => number(1),
            ("itertools.repeat", 1) => {
                let times = call.keywords.iter().find(|k| k.arg.is_some())?;
                self.number(&times.value)
            }
            ("itertools.islice", 2) => number(1),
            ("itertools.islice", 3 | 4) => Some(number(2)? - number(1).unwrap_or(0.0)),
            ("enumerate" | "reversed" | "iter", _) => self.range_length(call.args.first()?),
            ("map" | "filter", _) => self.range_length(call.args.get(1)?),
            _ => None,
        }
    }
}
