//! What counts, means and the like leave.

use super::value::{COLUMN, FRAME, GROUPED, KIND, NUMERIC, PLAIN, TABLE, Value, WHOLE, WINDOW};
use super::{Pass, stmts};
use crate::analysis::parse::ast::{self, Expr};

/// Arguments that change nothing about what is summed up.
const PLAIN_WORDS: &[&str] = &[
    "bias",
    "ddof",
    "dropna",
    "exclude",
    "include",
    "interpolation",
    "method",
    "min_count",
    "min_periods",
    "nan_policy",
    "normalize",
    "numeric_only",
    "skipna",
];

impl<'a> Pass<'a> {
    /// Whether a call that sums up asks for single values or for another function.
    pub(super) fn asks(&mut self, method: &str, x: &'a ast::ExprCall) -> bool {
        let mut asks = false;
        for keyword in &x.keywords {
            let Some(name) = &keyword.arg else {
                return true;
            };
            let allowed = match (name.as_str(), method) {
                ("interpolation", _) => &["linear", "midpoint"][..],
                ("method", _) => &["kendall", "pearson", "single", "spearman"],
                ("include" | "exclude", _) => &["number"],
                _ => continue,
            };
            let e = &keyword.value;
            let texts = stmts::literal(e).or_else(|| self.eval(e).texts);
            let number = |e: &Expr| self.path(e).is_some_and(|path| path == "numpy.number");
            let numbers = match e {
                Expr::List(x) => x.elts.iter().all(number),
                e => number(e),
            };
            asks |= !texts.map_or(numbers, |all| all.iter().all(|t| allowed.contains(t)));
            asks |= name.as_str() == "exclude";
        }
        // Another column is summed up with it, if it is whole.
        let pairs = matches!(method, "autocorr" | "corr" | "corrwith" | "cov");
        asks || pairs
            && x.args
                .iter()
                .any(|e| stmts::literal(e).is_none() && !self.eval(e).is_even())
            || x.args
                .iter()
                .chain(x.keywords.iter().map(|k| &k.value))
                .any(|e| !self.eval(e).funcs.is_empty())
    }

    /// A call that sums up, unless its arguments ask for single values.
    pub(super) fn sums(&self, on: &Value<'a>, method: &str, x: &ast::ExprCall) -> Value<'a> {
        let number = |e: &Expr| is_inside(e, 1.0);
        let plain = |k: &ast::Keyword| {
            let name = k.arg.as_ref().map(|a| a.as_str());
            match (method, name) {
                ("describe", Some("percentiles")) => number(&k.value),
                (_, name) => name.is_some_and(|name| PLAIN_WORDS.contains(&name)),
            }
        };
        let words = x.keywords.iter().all(plain);
        let single = match method {
            "quantile" => {
                !x.args.iter().all(number)
                    || x.keywords.iter().any(|k| {
                        let q = k.arg.as_ref().is_some_and(|a| a.as_str() == "q");
                        !(plain(k) || q && number(&k.value))
                    })
            }
            "corr" | "corrwith" | "cov" | "autocorr" => !words,
            _ if x.func.is_attribute_expr() && self.path(&x.func).is_none() => {
                !words || !x.args.is_empty()
            }
            _ => !words,
        };
        match single || self.own_any && !on.has(PLAIN) && !on.has(NUMERIC) {
            true => on.clone().without(GROUPED | WHOLE),
            false => self.sum_named(on, method),
        }
    }

    /// Whether the table has a text that is made of this column.
    fn may_be_text(&self, on: &Value<'a>, id: usize) -> bool {
        let text = |made: &Value<'a>| made.as_is.has(id) && !made.has(KIND | NUMERIC);
        self.columns[id].text || on.has(FRAME) && self.derived.values().any(text)
    }

    pub(super) fn sum_named(&self, on: &Value<'a>, method: &str) -> Value<'a> {
        let counts = matches!(method, "size" | "ngroups") && on.has(GROUPED);
        let mut out = match counts && !on.has(WHOLE) {
            true => summed_up(&on.clone().with(WHOLE)),
            false => summed_up(on),
        };
        self.bent(on, method)
            .into_iter()
            .for_each(|id| out.as_is.set(id));
        match method {
            // Texts become one text.
            "sum" | "prod" if !on.has(NUMERIC) => {
                let texts = on.as_is.iter().filter(|id| {
                    !on.index.has(*id) && (!on.has(KIND) || self.may_be_text(on, *id))
                });
                texts.for_each(|id| out.as_is.set(id));
            }
            // Rows are counted, not values.
            "size" | "ngroups" => out.summed = on.summed.clone(),
            "describe" => {
                // Of texts, it names the most frequent one; of a table, it leaves texts out beside numbers.
                let mut number = on.as_is.iter().map(|id| !self.columns[id].text);
                let numbers = match on.has(FRAME | GROUPED) {
                    true => number.any(|number| number),
                    false => number.all(|number| number),
                };
                if !(on.has(NUMERIC) || on.has(KIND) && numbers) {
                    out.as_is.add(&on.as_is);
                }
                out = out.without(PLAIN);
            }
            _ => {}
        }
        out
    }
}

/// Whether these are a few parts of the whole, and not nearly its least or its greatest value.
pub(super) fn is_inside(e: &Expr, whole: f64) -> bool {
    match e {
        Expr::Constant(x) => match &x.value {
            ast::Constant::Float(value) => *value >= 0.01 * whole && *value <= 0.99 * whole,
            ast::Constant::Int(n) => n
                .to_string()
                .parse()
                .is_ok_and(|n: f64| n >= 0.01 * whole && n <= 0.99 * whole),
            _ => false,
        },
        Expr::List(x) => {
            x.elts.len() < 10
                && x.elts
                    .iter()
                    .all(|e| !e.is_list_expr() && is_inside(e, whole))
        }
        _ => false,
    }
}

/// What is left when values are summed up: the groups as they are, the rest summed up.
pub(super) fn summed_up<'a>(on: &Value<'a>) -> Value<'a> {
    if !on.has(WHOLE) || on.has(WINDOW) || !on.funcs.is_empty() {
        return on.clone().without(GROUPED | WHOLE);
    }
    let mut out = Value {
        labels: on.labels.clone(),
        flags: (on.flags
            & (PLAIN
                | TABLE
                | if on.has(GROUPED) && !on.has(FRAME) {
                    COLUMN
                } else {
                    0
                }))
            | NUMERIC
            | WHOLE,
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
