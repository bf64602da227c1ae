//! Whether a value is the column that it replaces, or is made of it.

use super::alters::root;
use super::formats::{is_plain, is_template};
use super::stmts;
use crate::analysis::parse::ast::{Constant, Expr};
use crate::analysis::walk::{ExprPlace, Visitor, expression};

/// Functions and methods that give a column another type.
const TYPING: &[&str] = &["to_datetime", "to_numeric", "to_timedelta"];
const TYPES: &[&str] = &[
    "astype",
    "convert_dtypes",
    "copy",
    "infer_objects",
    "to_list",
    "to_numpy",
    "tolist",
];
/// Methods of texts and times that leave what they say.
const SPELLING: &[&str] = &[
    "capitalize",
    "casefold",
    "lower",
    "lstrip",
    "normalize",
    "rstrip",
    "strip",
    "title",
    "to_period",
    "to_timestamp",
    "tz_convert",
    "tz_localize",
    "upper",
];

/// What names a column.
#[derive(Clone, Copy)]
pub(super) enum Key<'a> {
    Text(&'a str),
    Computed(&'a Expr),
}

/// The type of truth values: as these, all numbers are one.
fn is_truth(e: &Expr) -> bool {
    matches!(e, Expr::Name(x) if x.id.as_str() == "bool")
        || stmts::literal(e).is_some_and(|t| t.iter().any(|t| t.contains("bool")))
}

/// Whether digits behind the point are left.
fn is_digit(e: &Expr) -> bool {
    let Expr::Constant(x) = e else { return false };
    matches!(&x.value, Constant::Int(n) if n.to_string() != "0")
}

fn is_key(e: &Expr, key: Key<'_>) -> bool {
    match (key, e) {
        (Key::Text(name), e) => stmts::literal(e).is_some_and(|names| names == [name]),
        (Key::Computed(Expr::Name(a)), Expr::Name(b)) => a.id == b.id,
        _ => false,
    }
}

/// Whether this picks the column of the table.
pub(super) fn is_column(e: &Expr, key: Key<'_>, of: Option<&str>) -> bool {
    match e {
        Expr::Subscript(x) => {
            let (table, picked) = stmts::place(x);
            root(table) == of && picked.is_some_and(|e| is_key(e, key))
        }
        Expr::Attribute(x) => {
            // `t["date"].dt.year` is no column.
            let direct = x.value.is_name_expr() && root(&x.value) == of;
            direct && matches!(key, Key::Text(name) if name == x.attr.as_str())
        }
        _ => false,
    }
}

/// Whether a value is made of the column that it replaces.
pub(super) fn mentions(e: &Expr, key: Key<'_>, of: Option<&str>) -> bool {
    struct Search<'k> {
        key: Key<'k>,
        of: Option<&'k str>,
        found: bool,
    }
    impl<'a> Visitor<'a> for Search<'_> {
        fn expression(&mut self, e: &'a Expr, _place: ExprPlace<'a>) {
            self.found |= is_column(e, self.key, self.of);
        }
    }
    let mut search = Search {
        key,
        of,
        found: false,
    };
    expression(&mut search, e, ExprPlace::Plain);
    search.found
}

/// Whether a value is the column that it replaces, of another type at most.
pub(super) fn keeps(e: &Expr, key: Key<'_>, of: Option<&str>) -> bool {
    match e {
        // Other rows or another order are other values.
        Expr::Subscript(x) => x.value.is_name_expr() && is_column(e, key, of),
        Expr::Attribute(_) if is_column(e, key, of) => true,
        Expr::Lambda(x) => {
            let mut names = x.args.posonlyargs.iter().chain(&x.args.args);
            let name = names.next().map(|a| a.def.arg.as_str());
            name.is_some() && keeps(&x.body, key, name)
        }
        Expr::Attribute(x) => {
            let part = matches!(x.attr.as_str(), "dt" | "str" | "values");
            let of_times = matches!(&*x.value, Expr::Attribute(t) if t.attr.as_str() == "dt");
            (part || of_times) && keeps(&x.value, key, of)
        }
        Expr::Call(x) => {
            let Expr::Attribute(f) = &*x.func else {
                return false;
            };
            let name = f.attr.as_str();
            let accessor = matches!(&*f.value, Expr::Attribute(by)
                if matches!(by.attr.as_str(), "dt" | "str"));
            let first = x.args.first();
            let pandas = matches!(&*f.value, Expr::Name(x) if x.id.as_str() == "pd");
            if pandas && TYPING.contains(&name) {
                return first.is_some_and(|e| keeps(e, key, of));
            }
            let signs = name.ends_with("strip") && !x.args.is_empty();
            let truth = first.is_some_and(is_truth);
            let written = accessor && name == "strftime" && first.is_some_and(is_template);
            // Digits behind the point.
            let rounded = name == "round" && x.keywords.is_empty() && first.is_some_and(is_digit);
            let kind = written
                || rounded
                || TYPES.contains(&name) && !truth
                || accessor && SPELLING.contains(&name) && !signs
                || name == "map" && x.args.len() == 1 && first.is_some_and(is_plain);
            kind && keeps(&f.value, key, of)
        }
        _ => false,
    }
}
