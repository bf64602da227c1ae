//! Growth in a loop: texts and lists that double, numbers that are squared, nested loops.

use super::Inspector;
use crate::analysis::parse::ast::{self, Constant, Expr, Operator, Ranged, Stmt};
use crate::analysis::resolve::Val;
use crate::analysis::rules;
use crate::analysis::walk::Bound;

/// The number of doublings after which memory is exhausted.
const DOUBLINGS: f64 = 27.0;
/// The number of squarings after which a number has too many bits to print.
const SQUARINGS: f64 = 17.0;
/// The limit on raising a number to itself.
const TOWERS: f64 = 4.0;

impl<'a> Inspector<'a> {
    /// The iterations of a loop times those of the longest loop inside it, as far as the text shows
    /// them.
    pub(super) fn steps(&self, x: &'a ast::StmtFor) -> f64 {
        let own = self.range_length(&x.iter).unwrap_or(1.0).max(1.0);
        let inner = x.body.iter().map(|s| match s {
            Stmt::For(inner) => self.steps(inner),
            _ => 1.0,
        });
        own * inner.fold(1.0, f64::max)
    }

    /// Judges `for _ in range(60): x += x`.
    pub(super) fn growth(&mut self, x: &'a ast::StmtFor) {
        let Some(rounds) = self.range_length(&x.iter) else {
            return;
        };
        for s in &x.body {
            let found = match s {
                Stmt::AugAssign(step) => match &*step.target {
                    Expr::Name(name) => Some((name, step.op, &*step.target, &*step.value)),
                    _ => None,
                },
                Stmt::Assign(step) => match (step.targets.as_slice(), &*step.value) {
                    ([Expr::Name(name)], Expr::BinOp(sum)) => {
                        Some((name, sum.op, &*sum.left, &*sum.right))
                    }
                    _ => None,
                },
                _ => None,
            };
            let Some((name, op, left, right)) = found else {
                continue;
            };
            let own = |e: &Expr| matches!(e, Expr::Name(n) if n.id == name.id);
            if !own(left) {
                continue;
            }
            let (twice, factor) = (own(right), self.number(right).unwrap_or(1.0));
            let most = match op {
                Operator::Add if twice && self.is_sequence(left) => DOUBLINGS,
                Operator::Mult if factor >= 2.0 && self.is_sequence(left) => {
                    DOUBLINGS / factor.log2()
                }
                Operator::Mult if twice && self.starts_whole(left) => SQUARINGS,
                Operator::Pow if twice && self.starts_whole(left) => TOWERS,
                Operator::Pow if factor >= 2.0 && self.starts_whole(left) => {
                    SQUARINGS / factor.log2()
                }
                _ => continue,
            };
            if rounds >= most {
                self.add(&rules::DOS_LITERAL, s.range(), "grows with every round");
            }
        }
    }

    fn is_sequence(&self, e: &'a Expr) -> bool {
        self.r
            .eval(e, self.here())
            .iter()
            .any(|v| matches!(v, Val::Text(_) | Val::ComputedText | Val::Items(..)))
    }

    /// Whether some binding of the name is an integer above one.
    fn starts_whole(&self, e: &'a Expr) -> bool {
        let Expr::Name(name) = e else { return false };
        let found = self.r.scopes.lookup(name.id.as_str(), self.here());
        found.bindings.iter().any(|(bindings, _)| {
            bindings.iter().any(|b| {
                matches!(b.to, Bound::Value(Expr::Constant(c)) if matches!(c.value, Constant::Int(_)))
                    && matches!(b.to, Bound::Value(value) if self.number(value).is_some_and(|n| n > 1.0))
            })
        })
    }
}
