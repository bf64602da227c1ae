//! Columns whose values the code replaces. What only changes a column's type is not told.

use std::collections::{BTreeSet, HashMap};

use super::misnamed::{is_arithmetic, is_named, is_whole};
use super::results::FILLING;
use super::same::{Key, is_column, keeps, mentions};
use super::tables::word;
use super::value::{COLUMN, FRAME, GROUPED, LIST, MASK, PLAIN, TABLE, Value};
use super::{Pass, stmts};
use crate::analysis::parse::ast::{self, Constant, Expr, Ranged};
use crate::analysis::source::Source;
use crate::analysis::table::is_table_attribute;
use crate::analysis::text;
use crate::model::{Alteration, Altered, Change, How};

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

/// What was found so far.
#[derive(Default)]
pub(super) struct Alters<'a> {
    found: BTreeSet<(Altered, usize)>,
    /// Where columns of this name were given values, and of which variable.
    given: HashMap<&'a str, Vec<(usize, Option<&'a str>)>>,
    /// How, by the place.
    pub hows: HashMap<usize, Vec<How>>,
    /// Names of columns that tables of the snippet's own have.
    pub made_up: BTreeSet<&'a str>,
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
            let how = self.altering.hows.get(at).cloned().unwrap_or_default();
            let same = |one: &&mut Alteration| {
                one.what == *what && (one.how == how || one.lines.contains(&line))
            };
            let more = out.len() < MOST;
            match out.iter_mut().find(same) {
                Some(known) if known.lines == [line] && known.how.is_empty() => known.how = how,
                Some(known) if known.lines.contains(&line) => {}
                Some(known) => known.lines.push(line),
                None if more => out.push(Alteration {
                    what: what.clone(),
                    how,
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
        self.tells_how(target, from, at);
        match target {
            Expr::Attribute(x) => {
                let name = x.attr.as_str();
                let on = self.base(&x.value);
                let of_index = matches!(&*x.value, Expr::Attribute(by)
                    if matches!(by.attr.as_str(), "columns" | "index"));
                if !is_table(&on) || of_index {
                    return;
                }
                if matches!(name, "name" | "names") && !on.has(FRAME) {
                    // The name of a column, or of what groups came to.
                    if let Some(new) = from.and_then(stmts::one_literal) {
                        self.named_for(new, &on, None, at);
                    }
                } else if on.has(COLUMN)
                    && !on.has(FRAME)
                    && !is_table_attribute(name)
                    && self.is_replacement(&x.value, from)
                {
                    self.values(&on, &x.value, at);
                } else if self.by_name.contains_key(name) || self.is_derived(name) {
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
                let value = from.map(|e| self.eval(e)).unwrap_or_default();
                if !on.is_bare() && self.is_own(table, &on, &[given.clone(), value]) {
                    return;
                }
                if on.is_bare() || !is_table(&on) && !given.has(MASK) {
                    self.item_replaced(&on, x, from, again);
                    if let (None, Some(name), Some(e)) =
                        (by, key.and_then(stmts::one_literal), from)
                        && on.has(FRAME)
                    {
                        let value = self.eval(e);
                        match value.is_bare() {
                            true => self.makes_up(name, &value),
                            false => self.named_for(name, &value, from, at),
                        }
                    }
                    return;
                }
                let item = stmts::one_literal(&x.slice).is_some();
                let other = from.is_some_and(Expr::is_constant_expr)
                    || item && (again || self.is_replacement(table, from));
                if by.is_none() && on.has(COLUMN) && !on.has(FRAME) && other {
                    return self.values(&on, table, at);
                }
                let masks = given.has(MASK);
                match (by, key) {
                    (Some("iloc" | "iat"), _) => self.values(&on, table, at),
                    // `t.loc["total"] = ...` makes a row.
                    (Some(_), None) => {
                        let constant = from.is_some_and(Expr::is_constant_expr);
                        let other = item && self.is_replacement(table, from);
                        if masks || constant || other || stmts::literal(&x.slice).is_none() {
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
    pub(super) fn keyed(
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
        if let Some(e) = from.filter(|_| self.knows_beside(name, on)) {
            let value = self.eval(e);
            let value = self.applied(&value, on);
            self.named_for(name, &value, from, at);
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

    /// Notes how an assignment changes what it replaces.
    fn tells_how(&mut self, target: &'a Expr, from: Option<&'a Expr>, at: usize) {
        let (table, key) = match target {
            Expr::Attribute(x) => (&*x.value, Some(Key::Text(x.attr.as_str()))),
            Expr::Subscript(x) => {
                let (table, key) = stmts::place(x);
                let key = key.map(|key| match stmts::one_literal(key) {
                    Some(name) => Key::Text(name),
                    _ => Key::Computed(key),
                });
                (table, key)
            }
            _ => return,
        };
        let root = root(table);
        let of = move |e: &Expr| match key {
            Some(Key::Text(name)) => is_named(e, name),
            Some(key) => is_column(e, key, root),
            None => false,
        };
        let mut hows = from.map_or_else(Vec::new, |e| self.how_changed(e, &of));
        if let Expr::Subscript(x) = target {
            hows.extend(self.how_picked(x));
        }
        self.explains(at, hows);
    }

    /// Values that the code replaces without a column's name.
    pub(super) fn values(&mut self, on: &Value<'a>, table: &'a Expr, at: usize) {
        // Later rounds know less of what is in it.
        if self.altering.found.iter().any(|(_, known)| *known == at) {
            return;
        }
        let mut held = on.as_is.iter().filter(|id| !on.index.has(*id)).peekable();
        let ids: Vec<usize> = match held.peek() {
            Some(_) => held.collect(),
            None => on.summed.iter().collect(),
        };
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
        self.joins(x, on, method);
        self.writes_into(x, on, method, table);
        if on.is_bare() || !is_table(on) {
            return;
        }
        let at = f.range.end().to_usize();
        let inplace = word(x, "inplace").is_some_and(|e| !is_false(e));
        let first = x.args.first();
        if let ("rename_categories" | "replace", Some(Expr::Dict(dict)), false) =
            (method, first, inplace)
        {
            self.relabels(on, table, dict);
        }
        match method {
            "assign" => {
                for keyword in &x.keywords {
                    let at = keyword.range.start().to_usize();
                    match (&keyword.arg, &keyword.value) {
                        (Some(name), e) => {
                            self.tells_moved(name.as_str(), e, at);
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
                        self.tells_text(rest, at);
                        let key = (Key::Text(name.trim()), None);
                        self.replaced(on, table, key, at, false);
                    }
                }
            }
            "insert" if x.args.len() > 2 => {
                if let Some(name) = stmts::one_literal(&x.args[1]) {
                    let moved = self.eval(&x.args[2]);
                    let moved = x.args[2].is_name_expr() && !moved.is_bare();
                    let from = Some(&x.args[2]);
                    match moved {
                        true => {
                            let value = self.eval(&x.args[2]);
                            self.named_for(name, &value, from, at);
                        }
                        false => {
                            self.tells_moved(name, &x.args[2], at);
                            self.replaced(on, table, (Key::Text(name), from), at, false);
                        }
                    }
                }
            }
            "rename" => {
                for e in ["columns", "index", "mapper"]
                    .into_iter()
                    .filter_map(|w| word(x, w))
                    .chain(first)
                {
                    match e {
                        Expr::Dict(dict) => {
                            self.renames(on, dict);
                            self.relabels(on, table, dict);
                        }
                        e => {
                            if let Some(name) = stmts::one_literal(e) {
                                self.named_for(name, on, None, at);
                            }
                        }
                    }
                }
            }
            "reset_index" | "to_frame" => {
                let name = word(x, "name").or(first.filter(|_| method == "to_frame"));
                if let Some(name) = name.and_then(stmts::one_literal) {
                    self.named_for(name, on, None, at);
                }
            }
            "set_axis" => {
                if let Some(names) = first {
                    match word(x, "axis").or_else(|| x.args.get(1)) {
                        Some(axis) if !super::applies::is_down(axis) => {
                            self.columns_named(on, table, names);
                        }
                        _ => self.index_named(on, table, names),
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
            _ if is_arithmetic(method) => self.scales_by(x, on, method, table),
            "apply" | "applymap" | "map" | "transform" if is_whole(on) && !on.has(GROUPED) => {
                self.scales_each(x, on, table, at);
            }
            _ if FILLING.contains(&method) => self.fills(x, on, table, at),
            _ if OTHERS.contains(&method) => {
                let whole = on.has(PLAIN) && on.index.is_empty() && on.as_is.iter().count() > 1;
                let accessor = matches!(table, Expr::Attribute(of) if of.attr.as_str() == "str");
                let several = match table {
                    Expr::Subscript(of) => stmts::literal(&of.slice).is_some_and(|n| n.len() > 1),
                    _ => true,
                };
                if whole && !accessor && several {
                    self.values(on, table, at);
                }
            }
            _ => {}
        }
    }

    /// What stands before a method: a table, or a column by its name.
    pub(super) fn of_call(&mut self, on: &Value<'a>, table: &'a Expr, at: usize) {
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
        if let Some(Expr::Name(out)) = word(x, "out")
            && x.args
                .iter()
                .any(|e| matches!(e, Expr::Name(n) if n.id == out.id))
            && let Some(into) = word(x, "out")
        {
            let on = self.eval(into);
            let at = x.range.start().to_usize();
            self.explains(at, vec![self.how(Change::Is, &x.func)]);
            if !on.is_bare() {
                self.values(&on, into, at);
            }
        }
        let writes = INTO.contains(&name) || name.ends_with(".at");
        let Some(into) = x.args.first().filter(|_| writes) else {
            return;
        };
        let on = self.eval(into);
        let put: Vec<Value<'a>> = x.args.iter().skip(1).map(|e| self.eval(e)).collect();
        if !on.is_bare() && !self.is_own(into, &on, &put) {
            self.values(&on, into, x.range.start().to_usize());
        }
    }
}

fn is_table(on: &Value<'_>) -> bool {
    on.has(TABLE) && !on.has(LIST)
}

fn is_false(e: &Expr) -> bool {
    matches!(e, Expr::Constant(x) if x.value == Constant::Bool(false))
}

/// The name that an expression begins with.
pub(super) fn root(e: &Expr) -> Option<&str> {
    match e {
        Expr::Name(x) => Some(x.id.as_str()),
        Expr::Attribute(x) => root(&x.value),
        Expr::Subscript(x) => root(&x.value),
        Expr::Call(x) => root(&x.func),
        _ => None,
    }
}
