//! Resource smells: literals that ask for too much, loops without a way out. Flagged only: the
//! limits are enforced when the snippet runs.

use super::Inspector;
use super::calls::Arguments;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{
    self, CmpOp, Constant, ExceptHandler, Expr, Operator, Ranged, Stmt, UnaryOp,
};
use crate::analysis::resolve::Val;
use crate::analysis::rules;

/// Bits of an integer that take noticeable time to make or print.
const BITS: f64 = 131_072.0;
/// Elements of a list or characters of a text.
const ELEMENTS: f64 = 1e8;
/// Steps of a loop.
const STEPS: f64 = 1e9;

impl<'a> Inspector<'a> {
    pub(super) fn arithmetic(&mut self, x: &'a ast::ExprBinOp) {
        let huge = match x.op {
            Operator::Pow => match (number(&x.left), number(&x.right)) {
                (Some(base), Some(exponent)) => {
                    base.abs() > 1.0 && base.abs().log2() * exponent > BITS
                }
                _ => false,
            },
            Operator::LShift => number(&x.right).is_some_and(|n| n > BITS),
            Operator::Mult => {
                let repeated =
                    |sequence: &Expr, times: &Expr| match (length(sequence), number(times)) {
                        (Some(length), Some(times)) => length.max(1.0) * times > ELEMENTS,
                        _ => false,
                    };
                repeated(&x.left, &x.right) || repeated(&x.right, &x.left)
            }
            Operator::Add
            | Operator::Sub
            | Operator::MatMult
            | Operator::Div
            | Operator::Mod
            | Operator::RShift
            | Operator::BitOr
            | Operator::BitXor
            | Operator::BitAnd
            | Operator::FloorDiv => false,
        };
        if huge {
            self.add(&rules::DOS_LITERAL, x.range(), "");
        }
    }

    pub(super) fn sized_builtin(&mut self, name: &str, arguments: Arguments<'a>, at: TextRange) {
        let first = arguments.positional(0).and_then(number);
        let huge = match name {
            "bytes" | "bytearray" => first.is_some_and(|n| n > ELEMENTS),
            "range" => {
                let last = arguments.positional(1).and_then(number).or(first);
                last.is_some_and(|n| n > STEPS)
            }
            "list" | "tuple" | "set" | "sorted" | "sum" => arguments
                .positional(0)
                .is_some_and(|e| range_length(e).is_some_and(|n| n > ELEMENTS)),
            "pow" if arguments.count() == 2 => {
                match (first, arguments.positional(1).and_then(number)) {
                    (Some(base), Some(exponent)) => {
                        base.abs() > 1.0 && base.abs().log2() * exponent > BITS
                    }
                    _ => false,
                }
            }
            _ => false,
        };
        if huge {
            self.add(&rules::DOS_LITERAL, at, name.to_owned());
        }
    }

    /// Arrays whose literal shape exceeds the memory the policy gives, at eight bytes a number.
    pub(super) fn sized_member(&mut self, path: &str, arguments: Arguments<'a>, at: TextRange) {
        #[allow(clippy::cast_precision_loss)]
        let most = self.policy.limits.memory_mb as f64 * 131_072.0;
        let shape = |e: Option<&'a Expr>| e.and_then(product);
        let elements = match path {
            "numpy.zeros" | "numpy.ones" | "numpy.empty" | "numpy.full" | "numpy.ndarray" => shape(
                arguments
                    .positional(0)
                    .or_else(|| arguments.keyword(&["shape"])),
            ),
            "numpy.arange" | "numpy.random.permutation" => arguments
                .positional(1)
                .or_else(|| arguments.positional(0))
                .and_then(number),
            "numpy.eye" | "numpy.identity" => {
                arguments.positional(0).and_then(number).map(|n| n * n)
            }
            "numpy.linspace" | "numpy.logspace" | "numpy.geomspace" => arguments
                .positional(2)
                .or_else(|| arguments.keyword(&["num"]))
                .and_then(number),
            "numpy.random.rand" | "numpy.random.randn" => {
                let dimensions: Option<Vec<f64>> = arguments.call.args.iter().map(number).collect();
                dimensions.map(|d| d.iter().product())
            }
            "numpy.repeat" | "numpy.tile" => shape(arguments.positional(1)),
            "time.sleep" => {
                let n = arguments.positional(0).and_then(number);
                if n.is_some_and(|n| n > 3_600.0) {
                    self.add(&rules::DOS_LITERAL, at, path.to_owned());
                }
                None
            }
            "itertools.product" => {
                let n = arguments.keyword(&["repeat"]).and_then(number);
                if n.is_some_and(|n| n > 20.0) {
                    self.add(&rules::DOS_LITERAL, at, path.to_owned());
                }
                None
            }
            "math.factorial" | "math.perm" => {
                let n = arguments.positional(0).and_then(number);
                if n.is_some_and(|n| n > 20_000.0) {
                    self.add(&rules::DOS_LITERAL, at, path.to_owned());
                }
                None
            }
            _ if path.starts_with("numpy.random.") => shape(arguments.keyword(&["size"])),
            _ => None,
        };
        if elements.is_some_and(|n| n > most) {
            self.add(&rules::DOS_LITERAL, at, path.to_owned());
        }
    }

    /// Padding a text to a literal width.
    pub(super) fn padded(&mut self, method: &str, arguments: Arguments<'a>, at: TextRange) {
        if matches!(
            method,
            "zfill" | "ljust" | "rjust" | "center" | "expandtabs"
        ) && arguments
            .positional(0)
            .and_then(number)
            .is_some_and(|n| n > ELEMENTS)
        {
            self.add(&rules::DOS_LITERAL, at, method.to_owned());
        }
    }

    /// A comprehension over what never ends.
    pub(super) fn comprehension(&mut self, generators: &'a [ast::Comprehension], at: TextRange) {
        if generators.iter().any(|g| self.endless(&g.iter)) {
            self.add(&rules::DOS_LOOP, at, "comprehension");
        }
    }

    pub(super) fn while_loop(&mut self, x: &'a ast::StmtWhile) {
        if always(&x.test) && !leaves(&x.body, true) {
            let (start, _) = self.place(x.range());
            self.facts
                .add(&rules::DOS_LOOP, (start, start + 5), "while");
        }
    }

    pub(super) fn for_loop(&mut self, x: &'a ast::StmtFor) {
        let endless = self.endless(&x.iter);
        if endless && !leaves(&x.body, true) {
            let (start, _) = self.place(x.range());
            self.facts.add(&rules::DOS_LOOP, (start, start + 3), "for");
        }
    }

    /// Whether iterating this never ends by itself.
    fn endless(&self, iter: &'a Expr) -> bool {
        let Expr::Call(call) = iter else { return false };
        self.r
            .eval(&call.func, self.here())
            .iter()
            .any(|v| match v {
                Val::Member(p) => match &**p {
                    "itertools.count" | "itertools.cycle" => true,
                    "itertools.repeat" => call.args.len() == 1 && call.keywords.is_empty(),
                    _ => false,
                },
                Val::Builtin(name) => &**name == "iter" && call.args.len() == 2,
                _ => false,
            })
    }
}

/// The value of a literal number or of arithmetic on some; infinite where it is beyond f64.
fn number(e: &Expr) -> Option<f64> {
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
        Expr::UnaryOp(x) => match x.op {
            UnaryOp::USub => number(&x.operand).map(|n| -n),
            UnaryOp::UAdd => number(&x.operand),
            UnaryOp::Invert | UnaryOp::Not => None,
        },
        Expr::BinOp(x) => {
            let (a, b) = (number(&x.left)?, number(&x.right)?);
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
                call.args.first().and_then(number)
            }
            _ => None,
        },
        _ => None,
    }
}

/// The length of a literal sequence.
fn length(e: &Expr) -> Option<f64> {
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
        Expr::BinOp(x) if x.op == Operator::Mult => match (length(&x.left), number(&x.right)) {
            (Some(n), Some(times)) => Some(n * times),
            _ => match (number(&x.left), length(&x.right)) {
                (Some(times), Some(n)) => Some(n * times),
                _ => None,
            },
        },
        _ => None,
    }
}

/// The product of a literal shape.
fn product(e: &Expr) -> Option<f64> {
    match e {
        Expr::Tuple(x) => x.elts.iter().map(number).product(),
        Expr::List(x) => x.elts.iter().map(number).product(),
        other => number(other),
    }
}

fn range_length(e: &Expr) -> Option<f64> {
    let Expr::Call(call) = e else { return None };
    match &*call.func {
        Expr::Name(f) if f.id.as_str() == "range" => match call.args.as_slice() {
            [end] => number(end),
            [start, end, ..] => Some(number(end)? - number(start)?),
            [] => None,
        },
        _ => None,
    }
}

/// Whether a test is always true.
fn always(e: &Expr) -> bool {
    match e {
        Expr::Constant(c) => match &c.value {
            Constant::Bool(b) => *b,
            Constant::Int(_) | Constant::Float(_) => number(e).is_some_and(|n| n != 0.0),
            Constant::Str(text) => !text.is_empty(),
            Constant::Bytes(bytes) => !bytes.is_empty(),
            Constant::Ellipsis => true,
            Constant::None | Constant::Tuple(_) | Constant::Complex { .. } => false,
        },
        Expr::UnaryOp(x) if x.op == UnaryOp::Not => match &*x.operand {
            Expr::Constant(c) => match &c.value {
                Constant::Bool(b) => !b,
                Constant::None => true,
                Constant::Int(_) => number(&x.operand) == Some(0.0),
                Constant::Str(text) => text.is_empty(),
                _ => false,
            },
            _ => false,
        },
        Expr::Compare(x) => match (number(&x.left), x.ops.as_slice(), x.comparators.as_slice()) {
            (Some(a), [op], [right]) => number(right).is_some_and(|b| match op {
                CmpOp::Eq | CmpOp::Is => (a - b).abs() < f64::EPSILON,
                CmpOp::NotEq | CmpOp::IsNot => (a - b).abs() > f64::EPSILON,
                CmpOp::Lt => a < b,
                CmpOp::LtE => a <= b,
                CmpOp::Gt => a > b,
                CmpOp::GtE => a >= b,
                CmpOp::In | CmpOp::NotIn => false,
            }),
            _ => false,
        },
        Expr::List(x) => !x.elts.is_empty(),
        Expr::Tuple(x) => !x.elts.is_empty(),
        Expr::BoolOp(x) => match x.op {
            ast::BoolOp::And => x.values.iter().all(always),
            ast::BoolOp::Or => x.values.iter().any(always),
        },
        _ => false,
    }
}

/// Whether a loop's body has a way out: `break` of this loop, `return`, `raise`, or a `yield`
/// (then the consumer decides).
fn leaves(body: &[Stmt], own: bool) -> bool {
    body.iter().any(|s| match s {
        Stmt::Break(_) => own,
        Stmt::Return(_) | Stmt::Raise(_) => true,
        Stmt::If(x) => leaves(&x.body, own) || leaves(&x.orelse, own),
        Stmt::With(x) => leaves(&x.body, own),
        Stmt::AsyncWith(x) => leaves(&x.body, own),
        Stmt::For(x) => leaves(&x.body, false) || leaves(&x.orelse, own),
        Stmt::AsyncFor(x) => leaves(&x.body, false) || leaves(&x.orelse, own),
        Stmt::While(x) => leaves(&x.body, false) || leaves(&x.orelse, own),
        Stmt::Match(x) => x.cases.iter().any(|c| leaves(&c.body, own)),
        Stmt::Try(x) => {
            leaves(&x.body, own)
                || x.handlers.iter().any(|h| {
                    let ExceptHandler::ExceptHandler(h) = h;
                    leaves(&h.body, own)
                })
                || leaves(&x.orelse, own)
                || leaves(&x.finalbody, own)
        }
        Stmt::TryStar(x) => {
            leaves(&x.body, own) || leaves(&x.orelse, own) || leaves(&x.finalbody, own)
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

fn yields(e: &Expr) -> bool {
    e.is_yield_expr() || e.is_yield_from_expr() || e.is_await_expr()
}
