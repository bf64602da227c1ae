//! Methods that leave whole columns.

use super::tables::word;
use super::value::{MASK, Value, WHOLE};
use super::{Pass, stmts};
use crate::analysis::parse::ast::{self, Expr};

/// Methods that leave each row, or the rows that a condition names.
const EVEN: &[&str] = &[
    "abs",
    "add",
    "astype",
    "between",
    "clip",
    "convert_dtypes",
    "copy",
    "div",
    "divide",
    "drop_duplicates",
    "dropna",
    "duplicated",
    "eq",
    "fillna",
    "ge",
    "gt",
    "infer_objects",
    "isin",
    "isna",
    "isnull",
    "le",
    "lt",
    "mask",
    "mul",
    "multiply",
    "ne",
    "notna",
    "notnull",
    "pow",
    "query",
    "replace",
    "round",
    "sort_index",
    "sort_values",
    "sub",
    "subtract",
    "truediv",
    "where",
];

impl<'a> Pass<'a> {
    /// Whether storing into a part of a table leaves other values in some rows than a condition says.
    pub(super) fn thins_by(
        &mut self,
        x: &'a ast::ExprSubscript,
        given: &Value<'a>,
        value: &Value<'a>,
    ) -> bool {
        let by = match &*x.value {
            Expr::Attribute(by) if matches!(by.attr.as_str(), "at" | "iat" | "iloc" | "loc") => by,
            // `t[mask] = ...`
            _ => {
                return (given.has(MASK) || x.slice.is_slice_expr())
                    && !(given.has(WHOLE) && value.is_even());
            }
        };
        let on = self.base(&by.value);
        let rows = match &*x.slice {
            Expr::Tuple(pair) => pair.elts.first(),
            rows => Some(rows),
        };
        let all = |e: &Expr| matches!(e, Expr::Slice(s) if s.lower.is_none() && s.upper.is_none());
        if rows.is_some_and(all) || on.as_is.iter().all(|id| on.index.has(id)) {
            return false;
        }
        let rows = rows.map(|e| self.eval(e)).unwrap_or_default();
        !(rows.has(MASK) && rows.has(WHOLE) && value.is_even())
    }

    /// Whether a method leaves whole columns, for its arguments.
    pub(super) fn leaves_whole(&mut self, method: &str, x: &'a ast::ExprCall) -> bool {
        if !EVEN.contains(&method) {
            return false;
        }
        match method {
            "query" => {
                let texts = x.args.first().and_then(stmts::literal);
                texts.is_some_and(|texts| {
                    !texts.iter().any(|t| t.contains('@') || t.contains("index"))
                })
            }
            // Rows go by what the snippet's own column lacks.
            "dropna" | "drop_duplicates" if self.mixed && word(x, "subset").is_none() => false,
            "where" | "mask" => {
                let given = x.args.first().or_else(|| word(x, "cond"));
                let test = given.map(|e| self.eval(e)).unwrap_or_default();
                let other = x.args.get(1).or_else(|| word(x, "other"));
                let other = other.map(|e| self.eval(e)).unwrap_or_default();
                test.has(MASK) && test.has(WHOLE) && other.is_even()
            }
            "isin" | "replace" | "astype" | "round" | "sort_values" => true,
            _ => {
                let given = x.args.iter().chain(x.keywords.iter().map(|k| &k.value));
                given.collect::<Vec<_>>().into_iter().all(|e| {
                    stmts::literal(e).is_some() || e.is_list_expr() || self.eval(e).is_even()
                })
            }
        }
    }
}
