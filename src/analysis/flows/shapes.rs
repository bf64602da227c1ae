//! Numbers that are bent before they are summed up, and conditions that leave few rows.

use super::Pass;
use super::tables::word;
use super::value::{BENT, FRAME, MASK, SQUARE, TAIL, Value};
use crate::analysis::parse::ast::{self, Constant, Expr, Operator};

/// Functions of numpy that bend.
const BENDING: &[&str] = &["exp", "exp2", "expm1", "float_power", "power"];
/// Methods that count.
const COUNTING: &[&str] = &[
    "all",
    "any",
    "count",
    "count_nonzero",
    "len",
    "ngroups",
    "nunique",
    "size",
];

impl<'a> Pass<'a> {
    /// What an operator makes of the columns on both sides: `s ** 60`, `1000 ** s`, `s // 5`, `s * s * s`.
    pub(super) fn bends(op: Operator, left: &Value<'a>, right: &Value<'a>, by: &Expr) -> u32 {
        let flags = left.flags | right.flags;
        let of_itself = left.as_is.meets(right.as_is.bits());
        match op {
            Operator::FloorDiv | Operator::Mod | Operator::LShift | Operator::RShift => BENT,
            Operator::Pow if is_small(by) && flags & (SQUARE | BENT) == 0 => SQUARE,
            Operator::Pow => BENT,
            Operator::Mult if of_itself && flags & (SQUARE | BENT) != 0 => BENT,
            Operator::Mult if of_itself => SQUARE,
            _ => 0,
        }
    }

    /// The same for methods of tables.
    pub(super) fn bends_by(value: Value<'a>, method: &str, x: &ast::ExprCall) -> Value<'a> {
        let first = x.args.first();
        match method {
            "pow" if value.flags & (SQUARE | BENT) == 0 && first.is_some_and(is_small) => {
                value.with(SQUARE)
            }
            "pow" => value.with(BENT),
            "round" if !x.args.iter().all(Expr::is_constant_expr) => value.with(BENT),
            _ => value,
        }
    }

    /// Whether a function of numpy bends what it is given.
    pub(super) fn bends_all(name: &str) -> u32 {
        if BENDING.contains(&name) { BENT } else { 0 }
    }

    /// The columns whose sums are none, for they were bent before.
    pub(super) fn bent(&self, on: &Value<'a>, method: &str) -> Vec<usize> {
        if COUNTING.contains(&method) || on.has(MASK) {
            return Vec::new();
        }
        let made = |id: usize| {
            let mut made = self.derived.values();
            on.has(FRAME) && made.any(|made| made.has(BENT) && made.as_is.has(id))
        };
        let ids = on.as_is.iter().filter(|id| !on.index.has(*id));
        ids.filter(|id| on.has(BENT | TAIL) || made(*id)).collect()
    }

    /// Whether a comparison is one with a sum of the same column: it may leave the largest value alone.
    pub(super) fn is_tail(left: &Value<'a>, right: &Value<'a>) -> bool {
        let one = |values: &Value<'a>, sum: &Value<'a>| {
            sum.as_is.is_empty() && values.as_is.meets(&sum.summed)
        };
        one(left, right) || one(right, left)
    }

    /// The same for methods: `s.ge(s.quantile(0.99))`, and for those that leave one row of each kind.
    pub(super) fn tails(
        value: Value<'a>,
        on: &Value<'a>,
        method: &str,
        x: &ast::ExprCall,
        given: &Value<'a>,
    ) -> Value<'a> {
        let all = word(x, "keep").is_some_and(super::whole::is_false);
        let told = x.args.len() + x.keywords.len() > 0 || !on.has(FRAME);
        let tail = match method {
            "drop_duplicates" | "duplicated" => told && !all,
            "between" | "eq" | "ge" | "gt" | "isin" | "le" | "lt" | "ne" => {
                Self::is_tail(on, given)
            }
            _ => false,
        };
        match tail {
            true => value.with(TAIL),
            false => value,
        }
    }
}

/// A power that statistics have: a square, a root, a cube.
fn is_small(e: &Expr) -> bool {
    match e {
        Expr::Constant(x) => match &x.value {
            Constant::Int(n) => matches!(n.to_string().as_str(), "0" | "1" | "2" | "3"),
            Constant::Float(n) => (0.0..=3.0).contains(n),
            _ => false,
        },
        _ => false,
    }
}
