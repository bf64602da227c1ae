//! What counts, means and the like leave.

use super::Pass;
use super::value::{GROUPED, NUMERIC, PLAIN, TABLE, Value, WINDOW};
use crate::analysis::parse::ast::{self, Expr};

impl<'a> Pass<'a> {
    /// A call that sums up, unless its arguments ask for single values.
    pub(super) fn sums(&self, on: &Value<'a>, method: &str, x: &ast::ExprCall) -> Value<'a> {
        let number = |e: &Expr| match e {
            Expr::Constant(_) => true,
            Expr::List(x) => x.elts.len() < 10 && x.elts.iter().all(Expr::is_constant_expr),
            _ => false,
        };
        let asks = |k: &ast::Keyword| {
            k.arg
                .as_ref()
                .is_none_or(|a| matches!(a.as_str(), "axis" | "percentiles"))
        };
        let single = match method {
            "quantile" => {
                !x.args.iter().all(number) || !x.keywords.iter().all(|k| number(&k.value))
            }
            "describe" => !x.args.is_empty() || x.keywords.iter().any(asks),
            "mean" | "median" | "sum" | "std" | "var" | "prod" | "sem" | "any" | "all"
                if x.func.is_attribute_expr()
                    && x.args
                        .first()
                        .is_some_and(|e| matches!(e, Expr::Constant(_))) =>
            {
                true
            }
            _ => x.keywords.iter().any(asks),
        };
        match single || self.own_any && !on.has(PLAIN) && !on.has(NUMERIC) {
            true => on.clone().without(GROUPED),
            false => self.sum_named(on, method),
        }
    }

    pub(super) fn sum_named(&self, on: &Value<'a>, method: &str) -> Value<'a> {
        let mut out = summed_up(on);
        match method {
            // Texts become one text.
            "sum" | "prod" if !on.has(NUMERIC) => {
                let texts = on
                    .as_is
                    .iter()
                    .filter(|id| !on.index.has(*id) && self.columns[*id].text);
                texts.for_each(|id| out.as_is.set(id));
            }
            // Rows are counted, not values.
            "size" | "ngroups" => out.summed = on.summed.clone(),
            "describe" => out = out.without(PLAIN),
            _ => {}
        }
        out
    }
}

/// What is left when values are summed up: the groups as they are, the rest summed up.
pub(super) fn summed_up<'a>(on: &Value<'a>) -> Value<'a> {
    if on.has(WINDOW) || !on.funcs.is_empty() {
        return on.clone().without(GROUPED);
    }
    let mut out = Value {
        flags: (on.flags & (PLAIN | TABLE)) | NUMERIC,
        ..Value::default()
    };
    // What is counted has no index any more.
    let values = on.as_is.iter().filter(|id| !on.index.has(*id));
    values.for_each(|id| out.summed.set(id));
    out.summed.add(&on.summed);
    if on.has(GROUPED) {
        out.as_is.clone_from(&on.index);
        out.index.clone_from(&on.index);
    }
    out
}
