//! Kinds of values: what stays a number, and what may become a text.

use super::Pass;
use super::value::{KIND, NUMERIC, Value};
use crate::analysis::parse::ast::{self, Constant, Expr};

impl<'a> Pass<'a> {
    /// The result of a method of tables, of the kind that it has.
    pub(super) fn kinds(
        &mut self,
        value: Value<'a>,
        method: &str,
        x: &'a ast::ExprCall,
    ) -> Value<'a> {
        let given = x.args.iter().chain(x.keywords.iter().map(|k| &k.value));
        match method {
            "astype" => match x.args.first() {
                Some(Expr::Dict(x)) if x.values.iter().all(is_type_of_numbers) => value,
                Some(e) if is_type_of_numbers(e) => value.with(NUMERIC),
                _ => value.without(NUMERIC | KIND),
            },
            "fillna" | "mask" | "replace" | "where" => {
                match given
                    .collect::<Vec<_>>()
                    .into_iter()
                    .all(|e| self.is_number(e))
                {
                    true => value,
                    false => value.without(NUMERIC | KIND),
                }
            }
            "explode" => value.without(NUMERIC | KIND),
            _ => value,
        }
    }

    /// Whether a value can only be a number or a condition, or columns of these.
    pub(super) fn is_number(&mut self, e: &'a Expr) -> bool {
        match e {
            Expr::Constant(x) => !matches!(x.value, Constant::Str(_) | Constant::Bytes(_)),
            Expr::UnaryOp(x) => self.is_number(&x.operand),
            Expr::List(x) => x.elts.iter().all(|e| self.is_number(e)),
            Expr::Dict(x) => x.values.iter().all(|e| self.is_number(e)),
            Expr::Attribute(_) if self.path(e).is_some_and(|path| is_no_number(&path)) => true,
            e => {
                let value = self.eval(e);
                let numbers = || {
                    let mut ids = value.as_is.iter();
                    value.has(KIND) && ids.all(|id| !self.columns[id].text)
                };
                !value.is_bare() && (value.has(NUMERIC) || numbers())
            }
        }
    }

    /// Whether a function of a library leaves each value what it is.
    pub(super) fn keeps_kind(&self, x: &ast::ExprCall, top: &str, name: &str) -> bool {
        let plain = x.keywords.is_empty();
        match top {
            "numpy" => plain && x.args.len() == 1 && matches!(name, "array" | "asarray" | "round"),
            "pandas" => plain && matches!(name, "DataFrame" | "Series" | "concat" | "merge"),
            _ => false,
        }
    }
}

/// What stands for a value that is missing or without end.
fn is_no_number(path: &str) -> bool {
    let known = [
        "numpy.nan",
        "numpy.inf",
        "pandas.NA",
        "pandas.NaT",
        "math.nan",
        "math.inf",
    ];
    known.contains(&path)
}

fn is_type_of_numbers(e: &Expr) -> bool {
    let known = |name: &str| {
        let number = ["int", "float", "bool", "Int", "Float", "uint"];
        let sized = |kind: &&str| {
            let rest = name.strip_prefix(*kind);
            rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
        };
        number.iter().any(sized)
    };
    match e {
        Expr::Name(x) => known(x.id.as_str()),
        Expr::Attribute(x) => {
            matches!(&*x.value, Expr::Name(n) if n.id.as_str() == "np") && known(x.attr.as_str())
        }
        e => super::stmts::literal(e).is_some_and(|names| names.iter().all(|n| known(n))),
    }
}
