//! Functions of each value that do not show the value: classes, conditions, lengths, parts of a time, hashes.
//!
//! The code may come by at a place more than once, with other numbers each time, and so show all of a value bit by bit.
//! There, only values of the data as they came count, and what they are compared with has to stand in the text.

use super::held::Held;
use super::value::{CAME, COLUMN, FIXED, ORIGIN, ROWED, Value};
use super::{Pass, fold};
use crate::analysis::parse::ast::{self, Expr};

/// Parts of a time that have at most 31 values.
const PARTS: &[&str] = &[
    "day_name",
    "day_of_week",
    "dayofweek",
    "hour",
    "month",
    "month_name",
    "quarter",
    "weekday",
];
const HASHES: &[&str] = &[
    "blake2b", "blake2s", "md5", "sha1", "sha224", "sha256", "sha384", "sha3_224", "sha3_256",
    "sha3_384", "sha3_512", "sha512",
];
/// Methods that spell a whole text another way.
const SPELLING: &[&str] = &["casefold", "encode", "lower", "strip", "upper"];
/// Methods that leave the values of a column what they are, or leave rows out.
const KEEPING: &[&str] = &[
    "copy",
    "dropna",
    "drop",
    "drop_duplicates",
    "groupby",
    "head",
    "query",
    "reset_index",
    "sample",
    "sort_index",
    "sort_values",
    "tail",
];

impl<'a> Pass<'a> {
    /// The value as what a coarse function at this place made of each of its values.
    pub(super) fn coarse(mut value: Value<'a>, at: usize) -> Value<'a> {
        if !value.as_is.is_empty() {
            let beside = value.index.clone();
            value.as_is.coarsen(super::number(at), &beside);
        }
        value
    }

    /// Whether a coarse function gets one value for each row of the data, and no more.
    pub(super) fn is_of_rows(&self, value: &Value<'a>) -> bool {
        let rowed = value.has(ROWED) && value.has(COLUMN) && !self.repeated();
        value.is_bare() || self.came(value) || rowed
    }

    /// Whether a value is columns of the data as they came.
    fn came(&self, value: &Value<'a>) -> bool {
        value.has(CAME) && (value.has(COLUMN) || !self.widened)
    }

    /// Whether what stands in a comparison is a single number that stays the same, or rows of the data.
    pub(super) fn is_fixed_beside(&self, value: &Value<'a>, e: &Expr, listed: bool) -> bool {
        if !value.is_bare() {
            return value.summed.is_empty();
        }
        let list = e.is_list_expr() || e.is_tuple_expr() || e.is_set_expr();
        is_written(e) && (listed || !list)
            || value.is_void() && value.has(FIXED) && !self.repeated()
    }

    /// A part of each time: `s.dt.month`.
    pub(super) fn part_of_time(
        &self,
        value: Value<'a>,
        of: &Value<'a>,
        name: &str,
        at: usize,
    ) -> Value<'a> {
        match PARTS.contains(&name) && self.is_of_rows(of) {
            true => Self::coarse(value, at),
            false => value,
        }
    }

    /// What a method of each text or time gives: its length, a condition, a part.
    pub(super) fn of_each(
        &self,
        value: Value<'a>,
        on: &Value<'a>,
        method: &str,
        x: &ast::ExprCall,
    ) -> Value<'a> {
        let fixed = is_fixed(x);
        let at = x.range.end().to_usize();
        match method {
            // A text that the code made may be as long as a value says.
            "len" if self.came(on) && fixed => Self::coarse(value, at),
            "day_name" | "month_name" => self.part_of_time(value, on, method, at),
            "contains" | "endswith" | "fullmatch" | "match" | "startswith"
                if fixed && self.is_of_rows(on) =>
            {
                Self::coarse(value, at)
            }
            _ => value,
        }
    }

    /// A method of tables that gives truth values.
    pub(super) fn asked(
        &self,
        value: Value<'a>,
        on: &Value<'a>,
        x: &ast::ExprCall,
        given: &Value<'a>,
    ) -> Value<'a> {
        let alone = given.as_is.is_empty() && given.order.is_empty() && given.labels.is_empty();
        match alone && is_fixed(x) && self.is_of_rows(on) {
            true => Self::coarse(value, x.range.end().to_usize()),
            false => value,
        }
    }

    /// Classes: `pd.cut(s, [0, 10, 20])`.
    pub(super) fn classed(
        &mut self,
        value: Value<'a>,
        name: &str,
        x: &'a ast::ExprCall,
    ) -> Value<'a> {
        if !matches!(name, "cut" | "qcut") || !self.has_few_classes(x) {
            return value;
        }
        let Some(first) = x.args.first().filter(|e| !e.is_starred_expr()) else {
            return value;
        };
        let more = x.args.iter().skip(1);
        let mut bare = x.keywords.iter().all(|k| k.arg.is_some());
        for e in more.chain(x.keywords.iter().map(|k| &k.value)) {
            bare &= self.eval(e).is_nothing();
        }
        let of = self.eval(first);
        let fixed = !self.repeated() || is_fixed_after(x);
        match bare && fixed && self.is_of_rows(&of) {
            true => Self::coarse(value, x.range.end().to_usize()),
            false => value,
        }
    }

    /// `hashlib.sha256(text.encode()).hexdigest()`: of a whole value, not of its parts.
    pub(super) fn hashed(&mut self, value: Value<'a>, x: &'a ast::ExprCall) -> Value<'a> {
        let Expr::Attribute(f) = &*x.func else {
            return value;
        };
        let Expr::Call(made) = &*f.value else {
            return value;
        };
        let known = self
            .path(&made.func)
            .and_then(|path| Some(HASHES.contains(&path.strip_prefix("hashlib.")?)));
        let [text] = made.args.as_slice() else {
            return value;
        };
        let plain = known == Some(true) && made.keywords.is_empty() && x.args.is_empty();
        match plain && self.is_whole_text(text) {
            true => Self::coarse(value, x.range.end().to_usize()),
            false => value,
        }
    }

    /// Whether a text has whole values of the data, and otherwise nothing of it.
    fn is_whole_text(&mut self, e: &'a Expr) -> bool {
        match e {
            Expr::Constant(_) => true,
            Expr::Name(_) => {
                let value = self.eval(e);
                value.is_nothing() || self.came(&value) && value.funcs.is_empty()
            }
            Expr::BinOp(x) => {
                x.op == ast::Operator::Add
                    && self.is_whole_text(&x.left)
                    && self.is_whole_text(&x.right)
            }
            Expr::JoinedStr(x) => x.values.iter().all(|e| match e {
                Expr::FormattedValue(x) => x.format_spec.is_none() && self.is_whole_text(&x.value),
                e => e.is_constant_expr(),
            }),
            Expr::Call(x) => match &*x.func {
                Expr::Attribute(f) => {
                    SPELLING.contains(&f.attr.as_str())
                        && x.keywords.is_empty()
                        && x.args.iter().all(|e| super::stmts::literal(e).is_some())
                        && (f.attr.as_str() == "encode" || x.args.is_empty())
                        && self.methods_of(f.attr.as_str()).is_empty()
                        && self.is_whole_text(&f.value)
                }
                Expr::Name(f) => {
                    f.id.as_str() == "str"
                        && self.look_up(&fold("str")).is_none()
                        && matches!(x.args.as_slice(), [one] if self.is_whole_text(one))
                        && x.keywords.is_empty()
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// Columns of which one exit shows one function, and another exit another one.
    pub(super) fn shown_twice(&self) -> Held {
        let mut all = Held::default();
        let mut twice = Held::default();
        for (_, value) in self.exits.values() {
            for id in value.as_is.iter() {
                let place = value.as_is.place(id);
                match (place, all.place(id)) {
                    (None, _) => {}
                    (Some(_), None) if !all.has(id) => all.set_like(id, &value.as_is),
                    (a, b) if a == b => {}
                    _ => twice.set(id),
                }
            }
        }
        twice
    }
}

/// The result of a method of a table, as a column of the data if the method leaves it one.
pub(super) fn came_through<'a>(value: Value<'a>, method: &str, x: &ast::ExprCall) -> Value<'a> {
    let text = |e: &Expr| match e {
        Expr::Name(x) => x.id.as_str() == "str",
        e => super::stmts::literal(e).is_some_and(|t| t == ["str"] || t == ["string"]),
    };
    match method {
        "astype" if matches!(x.args.as_slice(), [e] if text(e)) => value,
        "abs" | "astype" | "round" => value.without(CAME),
        method if KEEPING.contains(&method) => value,
        _ => value.without(ORIGIN),
    }
}

/// Whether a value stands in the text.
pub(super) fn is_written(e: &Expr) -> bool {
    match e {
        Expr::Constant(_) => true,
        Expr::UnaryOp(x) => is_written(&x.operand),
        Expr::List(ast::ExprList { elts, .. })
        | Expr::Tuple(ast::ExprTuple { elts, .. })
        | Expr::Set(ast::ExprSet { elts, .. }) => elts.iter().all(is_written),
        _ => false,
    }
}

pub(super) fn is_fixed(x: &ast::ExprCall) -> bool {
    x.args.iter().all(is_written) && is_fixed_after(x)
}

/// The same but for the first argument.
fn is_fixed_after(x: &ast::ExprCall) -> bool {
    let words = |k: &ast::Keyword| k.arg.is_some() && is_written(&k.value);
    x.args.iter().skip(1).all(is_written) && x.keywords.iter().all(words)
}
