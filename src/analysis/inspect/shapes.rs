//! Shapes of arrays and tables, as far as the text shows them: a combination of two can be much
//! larger than both. The estimate gives up (`None`) instead of guessing.

use super::Inspector;
use super::calls::Arguments;
use crate::analysis::fold::fold;
use crate::analysis::parse::ast::{self, Constant, Expr, Operator, Ranged};
use crate::analysis::resolve::Val;
use crate::analysis::rules;

/// The limit on expressions examined for one answer.
const LOOKS: usize = 96;

/// The length of each side; empty for a number.
pub(super) type Shape = Vec<f64>;

/// The number of expressions that may still be examined.
pub(super) struct Looks(usize);

impl Looks {
    pub(super) const fn new() -> Self {
        Self(LOOKS)
    }

    /// Counts one more expression; `None` if the limit is reached.
    pub(super) fn spend(&mut self) -> Option<()> {
        self.0 = self.0.checked_sub(1)?;
        Some(())
    }
}

impl<'a> Inspector<'a> {
    /// The number of elements that fit into the policy's memory limit, at eight bytes per number.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn most(&self) -> f64 {
        self.policy.limits.memory_mb as f64 * 131_072.0
    }

    /// Reports two arrays that fit into memory but whose combination does not.
    pub(super) fn combined(&mut self, e: &'a Expr) {
        let (left, right) = match e {
            Expr::BinOp(x) => (&*x.left, &*x.right),
            Expr::Compare(x) => match x.comparators.as_slice() {
                [right] => (&*x.left, right),
                _ => return,
            },
            _ => return,
        };
        let large = |e| {
            let shape = self.shape(e, &mut Looks::new());
            shape.is_some_and(|shape| elements(&shape) > self.most())
        };
        if large(e) && !large(left) && !large(right) {
            self.add(&rules::DOS_LITERAL, e.range(), "");
        }
    }

    /// Judges the result of an array's or table's method: `a.reshape(-1, 1).copy()`,
    /// `df.merge(df, how="cross")`.
    pub(super) fn sized_method(&mut self, x: &'a ast::ExprAttribute, call: Arguments<'a>) {
        // Functions of a library are judged under their own names.
        if !matches!(
            self.r.eval(call.call.func.as_ref(), self.here()).as_slice(),
            [Val::Member(_)]
        ) && self
            .method(x, call, &mut Looks::new())
            .is_some_and(|shape| elements(&shape) > self.most())
        {
            let name = fold(x.attr.as_str()).into_owned();
            self.add(&rules::DOS_LITERAL, call.call.range(), name);
        }
    }

    pub(super) fn shape(&self, e: &'a Expr, looks: &mut Looks) -> Option<Shape> {
        looks.spend()?;
        match e {
            Expr::Name(_) => self.shape(self.only_value(e)?, looks),
            Expr::Constant(c) => matches!(
                c.value,
                Constant::Int(_)
                    | Constant::Float(_)
                    | Constant::Bool(_)
                    | Constant::Complex { .. }
            )
            .then(Vec::new),
            Expr::List(ast::ExprList { elts, .. }) | Expr::Tuple(ast::ExprTuple { elts, .. }) => {
                self.sequence(elts, looks)
            }
            Expr::UnaryOp(x) => self.shape(&x.operand, looks),
            Expr::BinOp(x) => self.operation(x, looks),
            Expr::Compare(x) => {
                let left = self.shape(&x.left, looks);
                broadcast(left, self.shape(x.comparators.first()?, looks))
            }
            Expr::Subscript(x) => {
                let of = self.shape(&x.value, looks)?;
                self.indexed(&of, &x.slice)
            }
            Expr::Attribute(x) => {
                let mut of = self.shape(&x.value, looks)?;
                match &*fold(x.attr.as_str()) {
                    "T" => of.reverse(),
                    "values" => {}
                    _ => return None,
                }
                Some(of)
            }
            Expr::Call(call) => {
                let arguments = Arguments { call, skip: 0 };
                match (self.r.eval(&call.func, self.here()).as_slice(), &*call.func) {
                    ([Val::Member(path) | Val::Builtin(path)], _) => {
                        self.made(path, arguments, looks)
                    }
                    (_, Expr::Attribute(x)) => self.method(x, arguments, looks),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The shape of a literal sequence; its first element stands for all of them.
    fn sequence(&self, elts: &'a [Expr], looks: &mut Looks) -> Option<Shape> {
        #[allow(clippy::cast_precision_loss)]
        let mut shape = vec![elts.len() as f64];
        if let Some(first) = elts.first() {
            let first = self.shape(first, looks);
            // `df = pd.concat([df, …])` is circular: every pass would multiply the size.
            looks.spend()?;
            shape.extend(first.unwrap_or_default());
        }
        Some(shape)
    }

    fn operation(&self, x: &'a ast::ExprBinOp, looks: &mut Looks) -> Option<Shape> {
        let repeated = |list: &'a Expr, times: &'a Expr, looks: &mut Looks| {
            let mut shape = match list {
                Expr::List(_) | Expr::Tuple(_) => self.shape(list, looks)?,
                _ => return None,
            };
            *shape.first_mut()? *= self.number(times)?;
            Some(shape)
        };
        if x.op == Operator::Mult
            && let Some(shape) =
                repeated(&x.left, &x.right, looks).or_else(|| repeated(&x.right, &x.left, looks))
        {
            return Some(shape);
        }
        let (left, right) = (self.shape(&x.left, looks), self.shape(&x.right, looks));
        if x.op == Operator::MatMult {
            return multiplied(&left?, &right?);
        }
        broadcast(left, right)
    }

    /// The shape of `a[:, None]`, `a[:10]`, `a[3]`; unknown for other indexes.
    fn indexed(&self, of: &[f64], index: &'a Expr) -> Option<Shape> {
        let items: &'a [Expr] = match index {
            Expr::Tuple(several) => &several.elts,
            one => std::slice::from_ref(one),
        };
        let is_new = |e: &'a Expr| {
            matches!(e, Expr::Constant(c) if c.value.is_none())
                || matches!(self.r.eval(e, self.here()).as_slice(),
                    [Val::Member(path)] if &**path == "numpy.newaxis")
        };
        let is_rest = |e: &Expr| matches!(e, Expr::Constant(c) if c.value.is_ellipsis());
        let taken = items.iter().filter(|e| !is_new(e) && !is_rest(e)).count();
        let mut rest = of.iter().copied();
        let mut shape = Vec::new();
        for item in items {
            if is_new(item) {
                shape.push(1.0);
            } else if is_rest(item) {
                shape.extend(rest.by_ref().take(of.len().checked_sub(taken)?));
            } else if let Expr::Slice(x) = item {
                let side = rest.next()?;
                let bound = |e: &'a Option<Box<Expr>>| e.as_deref().map(|e| self.number(e));
                shape.push(match (bound(&x.lower), bound(&x.upper), bound(&x.step)) {
                    (None, None, None) => side,
                    (None, Some(Some(end)), None) if end >= 0.0 => side.min(end),
                    _ => return None,
                });
            } else {
                self.number(item)?;
                rest.next()?;
            }
        }
        shape.extend(rest);
        Some(shape)
    }

    /// The shape of a method's result.
    fn method(
        &self,
        x: &'a ast::ExprAttribute,
        arguments: Arguments<'a>,
        looks: &mut Looks,
    ) -> Option<Shape> {
        let name = fold(x.attr.as_str());
        let other = |looks: &mut Looks| self.shape(arguments.positional(0)?, looks);
        if &*name == "outer" {
            // `np.multiply.outer` and the like.
            let (left, right) = (other(looks)?, self.shape(arguments.positional(1)?, looks)?);
            return Some([left, right].concat());
        }
        let known = matches!(
            &*name,
            "reshape"
                | "copy"
                | "astype"
                | "to_numpy"
                | "ravel"
                | "flatten"
                | "transpose"
                | "dot"
                | "merge"
                | "join"
                | "repeat"
                | "tolist"
                | "to_list"
                | "to_series"
                | "to_frame"
        );
        if !known {
            return None;
        }
        let of = self.shape(&x.value, looks)?;
        Some(match &*name {
            "reshape" => {
                let sides = match arguments.call.args.as_slice() {
                    [one] => self.sides(one)?,
                    several => several
                        .iter()
                        .map(|e| self.number(e))
                        .collect::<Option<_>>()?,
                };
                reshaped(elements(&of), sides)
            }
            "ravel" | "flatten" => vec![elements(&of)],
            "transpose" => of.into_iter().rev().collect(),
            "dot" => multiplied(&of, &other(looks)?)?,
            "repeat" => vec![elements(&of) * self.number(arguments.positional(0)?)?],
            "merge" | "join" if self.is_crossed(arguments) => crossed(&of, &other(looks)?)?,
            "merge" | "join" => return None,
            _ => of,
        })
    }

    /// Whether a merge combines every row with every row.
    pub(super) fn is_crossed(&self, arguments: Arguments<'a>) -> bool {
        arguments.keyword(&["how"]).is_some_and(|e| {
            matches!(self.r.eval(e, self.here()).as_slice(), [Val::Text(how)] if &**how == "cross")
        })
    }

    /// A literal shape: one number or several, including `(n,) * k`.
    pub(super) fn sides(&self, e: &'a Expr) -> Option<Shape> {
        match e {
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                elts.iter().map(|e| self.number(e)).collect()
            }
            Expr::Name(_) => match self.only_value(e) {
                Some(value @ (Expr::Tuple(_) | Expr::List(_))) => self.sides(value),
                _ => Some(vec![self.number(e)?]),
            },
            other => Some(vec![self.product(other)?]),
        }
    }
}

pub(super) fn elements(shape: &[f64]) -> f64 {
    shape.iter().product()
}

/// The shape of an element-wise combination of two shapes. If one is unknown, the other is the
/// lower bound.
pub(super) fn broadcast(left: Option<Shape>, right: Option<Shape>) -> Option<Shape> {
    let (Some(mut long), Some(mut short)) = (left.clone(), right.clone()) else {
        return left.or(right);
    };
    if long.len() < short.len() {
        std::mem::swap(&mut long, &mut short);
    }
    let from = long.len() - short.len();
    for (side, other) in long.iter_mut().skip(from).zip(short) {
        *side = side.max(other);
    }
    Some(long)
}

/// The shape of a matrix product.
pub(super) fn multiplied(left: &[f64], right: &[f64]) -> Option<Shape> {
    let mut shape = left.split_last()?.1.to_vec();
    if right.len() > 1 {
        shape.extend(right.last());
    }
    Some(shape)
}

pub(super) fn crossed(left: &[f64], right: &[f64]) -> Option<Shape> {
    Some(vec![left.first()? * right.first()?])
}

/// Replaces a side of -1 by the length that remains for it.
fn reshaped(all: f64, mut sides: Shape) -> Shape {
    let known: f64 = sides.iter().filter(|side| **side > 0.0).product();
    for side in &mut sides {
        if *side < 0.0 {
            *side = all / known;
        }
    }
    sides
}
