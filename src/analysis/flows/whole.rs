//! Methods that leave whole columns.

use super::tables::word;
use super::value::{FIXED, FRAME, MASK, NUMERIC, PLAIN, Value, WHOLE};
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
    "select_dtypes",
    "sort_index",
    "sort_values",
    "sub",
    "subtract",
    "truediv",
    "where",
];

/// Numbers that a loop may go through and still not stand for every value.
const ROUNDS: usize = 12;

impl<'a> Pass<'a> {
    /// Whether the code may come by here more than once.
    pub(super) fn repeated(&self) -> bool {
        self.loops > 0 || self.frames.iter().any(|f| f.later || f.comprehension)
    }

    /// Whether a value may be compared or combined with each row of a column, and the column stays whole: another
    /// whole column, a sum, or what is the same each time.
    pub(super) fn is_set(&self, value: &Value<'a>) -> bool {
        value.is_even() && (!value.is_bare() || value.has(FIXED) || !self.repeated())
    }

    /// The same for a list of values.
    fn is_set_of(&mut self, e: &'a Expr) -> bool {
        let value = self.eval(e);
        let list = value.is_bare() && value.funcs.is_empty();
        list && (value.has(FIXED) || !self.repeated()) || self.is_set(&value)
    }

    /// What a name gets: a value that changes from one time to the next is not fixed.
    pub(super) fn bound(&self, value: Value<'a>, from: Option<&Expr>) -> Value<'a> {
        let constant = |e: &Expr| e.is_constant_expr() || e.is_unary_op_expr();
        let written = match from {
            Some(Expr::Tuple(x)) => x.elts.iter().all(constant),
            Some(e) => constant(e),
            None => false,
        };
        match (self.repeated(), value.is_void()) {
            (false, true) => value.with(FIXED),
            _ if written => value,
            _ => value.without(FIXED),
        }
    }

    /// Whether a loop goes through a few values that the text has.
    pub(super) fn goes_through_few(&self, iter: &Expr, over: &Value<'a>) -> bool {
        let loops = self.loops + self.frames.iter().filter(|f| f.comprehension).count();
        match iter {
            Expr::Call(x) if loops <= 1 && over.is_bare() && x.keywords.is_empty() => {
                let number = |e: &Expr| match e {
                    Expr::Constant(ast::ExprConstant {
                        value: ast::Constant::Int(n),
                        ..
                    }) => n.to_string().parse::<usize>().ok(),
                    _ => None,
                };
                let bounds: Option<Vec<usize>> = x.args.iter().map(number).collect();
                let range = matches!(&*x.func, Expr::Name(f) if f.id.as_str() == "range");
                let count = match bounds.as_deref() {
                    Some([to]) => Some(*to),
                    Some([from, to]) => Some(to.saturating_sub(*from)),
                    _ => None,
                };
                range && count.is_some_and(|count| count <= ROUNDS)
            }
            // A list that a name has may have grown.
            Expr::List(_) | Expr::Tuple(_) | Expr::Name(_) => over.has(FIXED),
            _ => false,
        }
    }

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
    pub(super) fn leaves_whole(
        &mut self,
        on: &Value<'a>,
        method: &str,
        x: &'a ast::ExprCall,
    ) -> bool {
        if !EVEN.contains(&method) {
            return false;
        }
        match method {
            "query" => {
                let texts = x.args.first().and_then(stmts::literal);
                texts.is_some_and(|texts| {
                    let places = ["@", "index", "ilevel"];
                    let by_place = |t: &&str| places.iter().any(|place| t.contains(place));
                    !texts.iter().any(|t| by_place(t) || calls(t) || picks(t))
                })
            }
            // All rows whose value is not the only one.
            "duplicated" if word(x, "keep").is_some_and(is_false) => true,
            "drop_duplicates" | "duplicated"
                if x.args.len() + x.keywords.len() > 0 || !on.has(FRAME) =>
            {
                let by = x.args.first().or_else(|| word(x, "subset"));
                let names = by.and_then(stmts::literal).unwrap_or_default();
                on.has(PLAIN) && !on.has(MASK | NUMERIC) && names.iter().all(|n| self.is_raw(on, n))
            }
            // Rows go by what the snippet's own column lacks.
            "dropna" | "drop_duplicates" if self.mixed && word(x, "subset").is_none() => false,
            "where" | "mask" => {
                let given = x.args.first().or_else(|| word(x, "cond"));
                let test = given.map(|e| self.eval(e)).unwrap_or_default();
                let other = x.args.get(1).or_else(|| word(x, "other"));
                let other = other.map(|e| self.eval(e)).unwrap_or_default();
                test.has(MASK) && test.has(WHOLE) && self.is_set(&other)
            }
            "astype" | "round" | "sort_values" => true,
            "isin" => x
                .args
                .iter()
                .all(|e| !self.eval(e).is_bare() || self.is_set_of(e)),
            "replace" => x.args.iter().all(|e| self.is_set_of(e)),
            _ => {
                let given = x.args.iter().chain(x.keywords.iter().map(|k| &k.value));
                given.collect::<Vec<_>>().into_iter().all(|e| {
                    stmts::literal(e).is_some()
                        || e.is_list_expr() && self.is_set_of(e)
                        || self.eval(e).texts.is_some() && self.is_set_of(e)
                        || {
                            let value = self.eval(e);
                            self.is_set(&value)
                        }
                })
            }
        }
    }
}

pub(super) fn is_false(e: &Expr) -> bool {
    matches!(e, Expr::Constant(x) if x.value == ast::Constant::Bool(false))
}

/// Whether a condition picks a value by its place: `emp_id[3]`.
fn picks(text: &str) -> bool {
    text.match_indices('[').any(|(at, _)| {
        let before = text[..at].trim_end();
        let mut words = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_');
        match words.next().unwrap_or_default() {
            "" => before.ends_with([')', ']', '`']),
            word => word != "in",
        }
    })
}

/// Whether a condition calls a function.
fn calls(text: &str) -> bool {
    text.match_indices('(').any(|(at, _)| {
        let before = text[..at].trim_end();
        let mut words = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_');
        let name = words.next().unwrap_or_default();
        !matches!(name, "" | "and" | "in" | "not" | "or")
    })
}
