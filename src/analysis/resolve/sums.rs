//! Texts that grow statement by statement: `q = "a > 1"`, then `q += " and b > 2"`.

use super::scopes::{ScopeId, Scopes, address};
use crate::analysis::parse::ast::Expr;
use crate::analysis::walk::Bound;

impl<'a> Scopes<'a> {
    /// The expressions whose sum the name has at `offset`: the last value it got, and what `+=` added
    /// to it since. `None` if a branch, a loop or another scope has a say.
    pub fn sum_at(&self, name: &str, scope: ScopeId, offset: usize) -> Option<Vec<&'a Expr>> {
        let found = self.lookup(name, scope);
        let [(bindings, home)] = found.bindings.as_slice() else {
            return None;
        };
        let mut sum = Vec::new();
        for binding in *bindings {
            let end = binding.straight?;
            if *home != scope || binding.scope != scope {
                return None;
            }
            let (e, adds) = match binding.to {
                Bound::Value(e) => (e, false),
                Bound::Gains(e) if self.added.contains(&address(e)) => (e, true),
                _ => return None,
            };
            match adds {
                _ if end > offset => continue,
                // What is added to nothing is no whole value.
                true if sum.is_empty() => return None,
                true => {}
                false => sum.clear(),
            }
            sum.push(e);
        }
        Some(sum).filter(|sum| !sum.is_empty())
    }
}
