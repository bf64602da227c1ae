//! Columns whose values the code replaces. What only changes a column's type is not told.

use std::collections::{BTreeSet, HashMap};

use super::formats::{is_plain, is_template};
use super::tables::word;
use super::value::{LIST, MASK, PLAIN, TABLE, Value};
use super::{Pass, stmts};
use crate::analysis::parse::ast::{self, Constant, Expr, Ranged};
use crate::analysis::source::Source;
use crate::analysis::text;
use crate::analysis::walk::{ExprPlace, Visitor, expression};
use crate::model::{Alteration, Altered};

/// Rows that are told of one snippet.
const MOST: usize = 64;
/// Methods that replace values of what they are called on, with `inplace`.
const REPLACING: &[&str] = &[
    "bfill",
    "clip",
    "ffill",
    "fillna",
    "interpolate",
    "mask",
    "replace",
    "where",
];
/// Methods that give a table with other values under the same names.
const OTHERS: &[&str] = &["clip", "mask", "replace", "where"];
/// Functions of numpy that write into their first argument.
const INTO: &[&str] = &["copyto", "place", "put", "put_along_axis", "putmask"];
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

/// What was found so far.
#[derive(Default)]
pub(super) struct Alters<'a> {
    found: BTreeSet<(Altered, usize)>,
    /// Where columns of this name were given values, and of which variable.
    given: HashMap<&'a str, Vec<(usize, Option<&'a str>)>>,
}

/// What names a column.
#[derive(Clone, Copy)]
enum Key<'a> {
    Text(&'a str),
    Computed(&'a Expr),
}

impl<'a> Pass<'a> {
    pub(super) fn alters(&mut self, what: Altered, at: usize) {
        self.altering.found.insert((what, at));
    }

    /// What is altered, in the order of the text.
    pub(super) fn altered(&self, source: &Source<'_>) -> Vec<Alteration> {
        let mut found: Vec<&(Altered, usize)> = self.altering.found.iter().collect();
        found.sort_by_key(|(_, at)| *at);
        let mut out: Vec<Alteration> = Vec::new();
        for (what, at) in found {
            let line = source.line(*at);
            match out.iter().position(|one| one.what == *what) {
                Some(known) if out[known].lines.contains(&line) => {}
                Some(known) => out[known].lines.push(line),
                None if out.len() < MOST => out.push(Alteration {
                    what: what.clone(),
                    lines: vec![line],
                }),
                None => {}
            }
        }
        out
    }

    /// Notes what an assignment replaces. `from`: its value, if it is no part of a larger one; `again`: whether the
    /// target has a value already.
    pub(super) fn overwrites(&mut self, target: &'a Expr, from: Option<&'a Expr>, again: bool) {
        let at = target.range().start().to_usize();
        match target {
            Expr::Attribute(x) => {
                let name = x.attr.as_str();
                let on = self.base(&x.value);
                if is_table(&on) && (self.by_name.contains_key(name) || self.is_derived(name)) {
                    self.replaced(&on, &x.value, (Key::Text(name), from), at, again);
                }
            }
            Expr::Subscript(x) => {
                let by = match &*x.value {
                    Expr::Attribute(by) => Some(by.attr.as_str()),
                    _ => None,
                }
                .filter(|by| matches!(*by, "loc" | "at" | "iloc" | "iat"));
                let (table, key) = stmts::place(x);
                let on = self.base(table);
                let given = self.eval(&x.slice);
                if on.is_bare() || !is_table(&on) && !given.has(MASK) {
                    return;
                }
                let masks = given.has(MASK);
                match (by, key) {
                    (Some("iloc" | "iat"), _) => self.values(&on, table, at),
                    // `t.loc["total"] = ...` makes a row.
                    (Some(_), None) => {
                        let constant = from.is_some_and(Expr::is_constant_expr);
                        if masks || constant || stmts::literal(&x.slice).is_none() {
                            self.values(&on, table, at);
                        }
                    }
                    (None, Some(key)) if self.eval(key).has(MASK) => self.values(&on, table, at),
                    (_, Some(key)) => {
                        self.keyed(&on, table, (key, from), at, again || by.is_some());
                    }
                    (None, None) => {}
                }
            }
            _ => {}
        }
    }

    /// Columns that an expression names.
    fn keyed(
        &mut self,
        on: &Value<'a>,
        table: &'a Expr,
        (key, from): (&'a Expr, Option<&'a Expr>),
        at: usize,
        again: bool,
    ) {
        if let Some(names) = stmts::literal(key) {
            for name in names {
                self.replaced(on, table, (Key::Text(name), from), at, again);
            }
            return;
        }
        let key_value = self.eval(key);
        let computed = Key::Computed(key);
        match key_value.texts {
            Some(texts) => {
                let (root, kept) = (
                    root(table),
                    from.is_some_and(|e| keeps(e, computed, root(table))),
                );
                for name in texts {
                    if kept {
                        self.notes(name, at, root);
                    } else {
                        let own = from.is_some_and(|e| mentions(e, computed, root));
                        self.replaced(on, table, (Key::Text(name), from), at, again || own);
                    }
                }
            }
            None => {
                let own = from.is_some_and(|e| mentions(e, computed, root(table)));
                let kept = from.is_some_and(|e| keeps(e, computed, root(table)));
                // A name that is put together is most often a new one.
                let new = key.is_joined_str_expr() || key.is_bin_op_expr();
                if !kept && (again || own || !new) {
                    self.values(on, table, at);
                }
            }
        }
    }

    /// A column of this name gets a value.
    fn replaced(
        &mut self,
        on: &Value<'a>,
        table: &'a Expr,
        (key, from): (Key<'a>, Option<&'a Expr>),
        at: usize,
        again: bool,
    ) {
        let Key::Text(name) = key else { return };
        let root = root(table);
        if from.is_some_and(|e| keeps(e, key, root)) {
            self.notes(name, at, root);
            return;
        }
        let ids = self.by_name.get(name).into_iter().flatten();
        let of = ids.filter(|id| on.as_is.has(**id));
        let of: Vec<usize> = of.map(|id| self.columns[*id].input).collect();
        for input in &of {
            let what = Altered::Column {
                name: text::shown(name),
                of: self.inputs[*input].to_owned(),
                own: false,
            };
            self.alters(what, at);
        }
        if !of.is_empty() {
            return;
        }
        let own = from.is_some_and(|e| mentions(e, key, root));
        if own || self.has_value(name, at, root, again) {
            let what = Altered::Column {
                name: text::shown(name),
                of: text::shown(root.unwrap_or_default()),
                own: true,
            };
            self.alters(what, at);
        }
        self.notes(name, at, root);
    }

    /// Whether a column that the snippet made had a value before this place was reached first.
    fn has_value(&self, name: &str, at: usize, root: Option<&str>, again: bool) -> bool {
        let given = self.altering.given.get(name).map_or(&[][..], |all| all);
        let own = given.iter().position(|(other, _)| *other == at);
        let before = own.map_or(given, |own| &given[..own]);
        match (before, own) {
            // By another way than an assignment.
            ([], None) => self.is_derived(name),
            ([], Some(_)) => false,
            _ => again || before.iter().any(|(_, of)| *of == root),
        }
    }

    fn is_derived(&self, name: &str) -> bool {
        let made = [self.derived.get(name), self.results.get(name)];
        made.into_iter().flatten().any(|made| !made.is_bare())
    }

    fn notes(&mut self, name: &'a str, at: usize, root: Option<&'a str>) {
        let given = self.altering.given.entry(name).or_default();
        if !given.contains(&(at, root)) {
            given.push((at, root));
        }
    }

    /// Values that the code replaces without a column's name.
    fn values(&mut self, on: &Value<'a>, table: &'a Expr, at: usize) {
        // Later rounds know less of what is in it.
        if self.altering.found.iter().any(|(_, known)| *known == at) {
            return;
        }
        let ids: Vec<usize> = on.as_is.iter().collect();
        let input = ids.first().map(|id| self.columns[*id].input);
        let one = ids.iter().all(|id| Some(self.columns[*id].input) == input);
        let what = match (ids.as_slice(), input) {
            ([id], Some(input)) if self.columns[*id].name.is_some() => Altered::Column {
                name: text::shown(self.columns[*id].name.unwrap_or_default()),
                of: self.inputs[input].to_owned(),
                own: false,
            },
            (_, Some(input)) if one => Altered::Values {
                of: self.inputs[input].to_owned(),
            },
            _ => Altered::Values {
                of: text::shown(root(table).unwrap_or_default()),
            },
        };
        self.alters(what, at);
    }

    /// Notes what a method of a table replaces.
    pub(super) fn alters_by(&mut self, x: &'a ast::ExprCall, on: &Value<'a>, method: &str) {
        let Expr::Attribute(f) = &*x.func else { return };
        let table = &*f.value;
        if on.is_bare() || !is_table(on) {
            return;
        }
        let at = f.range.end().to_usize();
        let inplace = word(x, "inplace").is_some_and(|e| !is_false(e));
        let first = x.args.first();
        match method {
            "assign" => {
                for keyword in &x.keywords {
                    let at = keyword.range.start().to_usize();
                    match (&keyword.arg, &keyword.value) {
                        (Some(name), e) => {
                            let key = (Key::Text(name.as_str()), Some(e));
                            self.replaced(on, table, key, at, false);
                        }
                        (None, Expr::Dict(dict)) => {
                            for (key, e) in dict.keys.iter().zip(&dict.values) {
                                if let Some(key) = key {
                                    self.keyed(on, table, (key, Some(e)), at, false);
                                }
                            }
                        }
                        (None, _) => self.values(on, table, at),
                    }
                }
            }
            "eval" => {
                let texts = first.and_then(stmts::literal).unwrap_or_default();
                for line in texts.iter().flat_map(|text| text.lines()) {
                    if let Some((name, rest)) = line.split_once('=')
                        && !rest.starts_with('=')
                    {
                        let key = (Key::Text(name.trim()), None);
                        self.replaced(on, table, key, at, false);
                    }
                }
            }
            "update" if on.has(PLAIN) && x.args.len() == 1 && x.keywords.is_empty() => {
                self.values(on, table, at);
            }
            _ if inplace && REPLACING.contains(&method) => match first {
                Some(Expr::Dict(dict)) if method != "clip" => {
                    let keys = dict.keys.iter().flatten();
                    let keys: Vec<&Expr> = keys.collect();
                    let columns = |key: &&&'a Expr| {
                        stmts::literal(key)
                            .is_some_and(|names| names.iter().all(|n| self.by_name.contains_key(n)))
                    };
                    match keys.iter().all(|key| columns(&key)) {
                        true => keys
                            .into_iter()
                            .for_each(|key| self.keyed(on, table, (key, None), at, true)),
                        false => self.of_call(on, table, at),
                    }
                }
                _ => self.of_call(on, table, at),
            },
            _ if OTHERS.contains(&method) => {
                let whole = on.has(PLAIN) && on.index.is_empty() && on.as_is.iter().count() > 1;
                let accessor = matches!(table, Expr::Attribute(of) if of.attr.as_str() == "str");
                if whole && !accessor && !table.is_subscript_expr() {
                    self.values(on, table, at);
                }
            }
            _ => {}
        }
    }

    /// What stands before a method: a table, or a column by its name.
    fn of_call(&mut self, on: &Value<'a>, table: &'a Expr, at: usize) {
        match table {
            Expr::Subscript(x) => {
                let (inner, key) = stmts::place(x);
                let of = self.base(inner);
                match key {
                    Some(key) => self.keyed(&of, inner, (key, None), at, true),
                    None => self.values(on, table, at),
                }
            }
            _ => self.values(on, table, at),
        }
    }

    /// Notes what a function of numpy writes into.
    pub(super) fn alters_into(&mut self, x: &'a ast::ExprCall, path: &str) {
        let name = path.strip_prefix("numpy.").unwrap_or_default();
        let Some(into) = x.args.first().filter(|_| INTO.contains(&name)) else {
            return;
        };
        let on = self.eval(into);
        if !on.is_bare() {
            self.values(&on, into, x.range.start().to_usize());
        }
    }
}

fn is_table(on: &Value<'_>) -> bool {
    on.has(TABLE) && !on.has(LIST)
}

/// The type of truth values: as these, all numbers are one.
fn is_truth(e: &Expr) -> bool {
    matches!(e, Expr::Name(x) if x.id.as_str() == "bool")
        || stmts::literal(e).is_some_and(|t| t.iter().any(|t| t.contains("bool")))
}

fn is_false(e: &Expr) -> bool {
    matches!(e, Expr::Constant(x) if x.value == Constant::Bool(false))
}

/// The name that an expression begins with.
fn root(e: &Expr) -> Option<&str> {
    match e {
        Expr::Name(x) => Some(x.id.as_str()),
        Expr::Attribute(x) => root(&x.value),
        Expr::Subscript(x) => root(&x.value),
        Expr::Call(x) => root(&x.func),
        _ => None,
    }
}

fn is_key(e: &Expr, key: Key<'_>) -> bool {
    match (key, e) {
        (Key::Text(name), e) => stmts::literal(e).is_some_and(|names| names == [name]),
        (Key::Computed(Expr::Name(a)), Expr::Name(b)) => a.id == b.id,
        _ => false,
    }
}

/// Whether this picks the column of the table.
fn is_column(e: &Expr, key: Key<'_>, of: Option<&str>) -> bool {
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
fn mentions(e: &Expr, key: Key<'_>, of: Option<&str>) -> bool {
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
fn keeps(e: &Expr, key: Key<'_>, of: Option<&str>) -> bool {
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
            let kind = written
                || TYPES.contains(&name) && !truth
                || accessor && SPELLING.contains(&name) && !signs
                || name == "map" && x.args.len() == 1 && first.is_some_and(is_plain);
            kind && keeps(&f.value, key, of)
        }
        _ => false,
    }
}
