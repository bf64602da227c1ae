//! Columns that are picked: `t["c"]`, `t[names]`, `t.loc[:, "c"]`, `t.c`.

use super::unseen::{hides, reaches};
use super::value::{
    BOUND, CAME, CHANGER, COLUMN, COPIED, FIXED, FRAME, GROUPED, KIND, LIST, MASK, MODEL, NAMES,
    NUMERIC, ORIGIN, PLAIN, PRINTS, SINGLE, TABLE, TAIL, Value, WHOLE,
};
use super::words::{DATA, SHAPES, STATISTICS, TEXTS, is_count, is_unseen};
use super::{Pass, exprs, fold, stmts};
use crate::analysis::parse::ast::{self, Expr, Ranged};
use crate::analysis::table::is_table_attribute;
use crate::policy::Contract;

impl<'a> Pass<'a> {
    /// What the columns of these names hold.
    pub(super) fn narrow(&mut self, v: &Value<'a>, names: &[&'a str], at: usize) -> Value<'a> {
        let sites = self.copied(v, at, names.len() == 1);
        let mut out = Value {
            as_is: v.index.clone(),
            index: v.index.clone(),
            order: v.order.clone(),
            order_summed: v.order_summed.clone(),
            // The key of a part of groups.
            labels: match v.has(FRAME) {
                true => Default::default(),
                false => v.labels.clone(),
            },
            sites: sites.clone(),
            funcs: v.funcs.clone(),
            files: v.files.clone(),
            flags: v.flags & !(LIST | FRAME),
            ..Value::default()
        };
        let mut all = false;
        for name in names {
            let stem = name.strip_suffix("_x").or(name.strip_suffix("_y"));
            let ids = self
                .by_name
                .get(name)
                .or(stem.and_then(|s| self.by_name.get(s)));
            let mut found = false;
            for id in ids.into_iter().flatten() {
                if v.as_is.has(*id) {
                    out.as_is.set_like(*id, &v.as_is);
                }
                if v.summed.has(*id) {
                    out.summed.set(*id);
                }
                if !v.has(GROUPED) {
                    out.index.clear(*id);
                }
                if v.as_is.has(*id) || v.summed.has(*id) {
                    self.picked.insert((*id, at));
                    found = true;
                }
            }
            // Only tables of groups have columns that `agg` made.
            let groups = self.results.get(name).filter(|_| !v.has(KIND));
            let made: Vec<Value<'a>> = self
                .derived
                .get(name)
                .into_iter()
                .chain(groups)
                .cloned()
                .collect();
            if made.is_empty() {
                self.missed.insert(name);
            }
            for made in made {
                // A table holds everything that its columns hold.
                let made = made.within(v);
                self.picks(&made, at);
                out.join(&made);
                found = true;
            }
            all |= !found;
        }
        out.join(&self.derived_any.within(v));
        if all || self.open || !v.has(PLAIN) {
            let mut whole = v.clone().without(FRAME);
            whole.texts = None;
            whole.sites = sites;
            if self.mixed {
                whole = whole.without(WHOLE);
            }
            return whole;
        }
        out.with(v.flags & (PLAIN | TABLE))
    }

    /// Notes that columns made of these are picked.
    fn picks(&mut self, made: &Value<'a>, at: usize) {
        let ids: Vec<usize> = made.as_is.iter().chain(made.summed.iter()).collect();
        if ids.len() <= 4 {
            self.picked.extend(ids.into_iter().map(|id| (id, at)));
        }
    }

    /// Notes that columns are picked by a computed name.
    pub(super) fn picks_unknown(&mut self, v: &Value<'a>, at: usize) {
        let of: Vec<usize> = v.as_is.iter().map(|id| self.columns[id].input).collect();
        self.computed
            .extend(of.into_iter().map(|input| (input, at)));
    }

    /// The columns that an argument names, or everything.
    pub(super) fn named(&mut self, v: &Value<'a>, key: &'a Expr) -> Value<'a> {
        let at = key.range().start().to_usize();
        if let Some(names) = stmts::literal(key) {
            return self.narrow(v, &names, at);
        }
        let given = self.eval(key);
        match given.texts {
            Some(names) if !names.is_empty() => self.narrow(v, &names, at),
            _ if !given.is_bare() && matches!(key, Expr::Attribute(_) | Expr::Subscript(_)) => {
                // `groupby(t["c"])`.
                given
            }
            _ => {
                self.picks_unknown(v, at);
                v.clone()
            }
        }
    }

    pub(super) fn subscript(&mut self, x: &'a ast::ExprSubscript) -> Value<'a> {
        let at = x.range.start().to_usize();
        if let Expr::Attribute(by) = &*x.value
            && matches!(by.attr.as_str(), "loc" | "at" | "iloc" | "iat")
        {
            let v = self.base(&by.value);
            let (rows, columns) = match &*x.slice {
                Expr::Tuple(pair) => match pair.elts.as_slice() {
                    [rows, columns] => (rows, Some(columns)),
                    _ => (&*x.slice, None),
                },
                rows => (rows, None),
            };
            let mut given = self.eval(rows);
            let gives = self.hand_over(&given, &v);
            if !given.funcs.is_empty() {
                given = gives;
            }
            let v = Self::found_by(v, rows, &given);
            return match columns {
                None => v,
                Some(columns) if columns.is_slice_expr() => v,
                Some(columns) if matches!(by.attr.as_str(), "iloc" | "iat") => {
                    let given = self.eval(columns);
                    self.picks_unknown(&v, at);
                    let v = match self.mixed {
                        true => v.without(WHOLE),
                        false => v,
                    };
                    Self::said_by(v.without(FRAME), &given)
                }
                Some(columns) => self.item(&v, columns, at),
            };
        }
        let v = self.base(&x.value);
        if v.has(TABLE) && matches!(&*x.value, Expr::Attribute(by) if by.attr.as_str() == "str") {
            // A part of each text.
            let given = self.eval(&x.slice);
            let v = v.without(ORIGIN);
            return match given.is_bare() {
                true => v,
                false => v.and(&given).without(WHOLE),
            };
        }
        let out = self.item(&v, &x.slice, at);
        match v.has(SINGLE) {
            true => out.without(ORIGIN),
            false => out,
        }
    }

    /// What is found under a key: the key says which, and a mask only says whether.
    fn found_by(mut v: Value<'a>, key: &Expr, given: &Value<'a>) -> Value<'a> {
        let one = !given.has(MASK)
            && !matches!(key, Expr::Slice(_) | Expr::List(_) | Expr::Compare(_))
            && !v.is_bare();
        if one {
            v = v.with(SINGLE).without(FRAME);
        }
        let all = matches!(key, Expr::Slice(x) if x.lower.is_none() && x.upper.is_none() && x.step.is_none());
        if !(all || given.has(MASK) && given.has(WHOLE)) {
            // Rows that positions pick may be one row.
            v = v.without(WHOLE);
        }
        if given.has(MASK) && given.has(TAIL) {
            v = v.with(TAIL);
        }
        Self::said_by(v, given)
    }

    /// The value with what the key says, unless it is a mask.
    fn said_by(mut v: Value<'a>, given: &Value<'a>) -> Value<'a> {
        if given.is_bare() || given.has(MASK) && !v.is_bare() {
            return v;
        }
        if v.has(TABLE) && !given.has(MASK) {
            let given = given.told();
            v.order.add(&given.as_is);
            v.order_summed.add(&given.summed);
            return v;
        }
        let found = Value {
            sites: v.sites.clone(),
            ..v.and(given)
        };
        found.without(MASK).single()
    }

    fn item(&mut self, v: &Value<'a>, key: &'a Expr, at: usize) -> Value<'a> {
        // A list of names picks a table, a name a column.
        let listed = v.flags & if key.is_list_expr() { FRAME } else { 0 };
        if let Some(names) = stmts::literal(key) {
            return match v.has(PLAIN) {
                true => {
                    let one = v.has(TABLE) && !key.is_list_expr();
                    let out = self.narrow(v, &names, at).with(listed);
                    if one { out.with(COLUMN) } else { out }
                }
                false if v.has(TABLE) => Value {
                    flags: v.flags & !(LIST | FRAME | COLUMN) | listed,
                    texts: None,
                    ..v.clone()
                },
                // A term by its name.
                false if v.has(MODEL) => Value {
                    labels: Default::default(),
                    ..Self::element(v)
                },
                false => Self::element(v),
            };
        }
        let mut given = self.eval(key);
        let gives = self.hand_over(&given, v);
        if !given.funcs.is_empty() {
            given = gives;
        }
        if !v.has(PLAIN) {
            let mut out = Self::element(v);
            if out.sites.is_empty() {
                out.sites = vec![super::number(key.range().end().to_usize())];
            }
            out.texts = out.texts.filter(|_| given.texts.is_none());
            if given.has(MASK) || matches!(key, Expr::Slice(_) | Expr::Compare(_)) {
                let kept = SINGLE | WHOLE;
                out.flags = (out.flags & !kept) | (v.flags & kept);
            }
            let out = Self::found_by(out, key, &given);
            return match v.has(GROUPED) {
                true => out.with(GROUPED),
                false => out,
            };
        }
        if given.texts.as_ref().is_some_and(|names| !names.is_empty()) {
            let names = given.texts.clone().unwrap_or_default();
            let listed = v.flags & if given.has(LIST) { FRAME } else { listed };
            let out = self.narrow(v, &names, at).with(listed);
            return Self::said_by(out, &given);
        }
        let out = match (&given.texts, key) {
            (_, Expr::Slice(_) | Expr::Constant(_) | Expr::Compare(_) | Expr::UnaryOp(_)) => {
                let mut out = v.clone();
                out.texts = out.texts.filter(|_| v.has(LIST));
                out
            }
            _ if given.has(MASK) => v.clone(),
            _ if !given.is_bare() => v.clone().without(FRAME),
            _ => {
                self.picks_unknown(v, at);
                let mut out = v.clone().without(FRAME).with(listed);
                out.texts = None;
                out
            }
        };
        let out = match out.has(TABLE) {
            true => out,
            false => out.opened(),
        };
        // A name of a column picks no row.
        let position = matches!(key, Expr::Slice(_) | Expr::Compare(_) | Expr::Constant(_));
        match given.is_bare() && !position {
            true if self.mixed || !given.is_even() || given.has(NUMERIC | LIST) => {
                out.without(WHOLE)
            }
            true => out,
            false => Self::found_by(out, key, &given),
        }
    }

    pub(super) fn attribute(&mut self, x: &'a ast::ExprAttribute) -> Value<'a> {
        if let Some(path) = self.path_of(x) {
            if exprs::prints(&path) {
                return Value::default().with(PRINTS);
            }
            if path.contains("rcParams") {
                return Self::figures();
            }
            // What the snippet stored there.
            let stored = self.attrs.get(x.attr.as_str());
            let constant = || Value::default().with(FIXED);
            let value = stored.map_or_else(constant, |stored| self.whole(stored));
            return Self::member(value, &path);
        }
        let attr = fold(x.attr.as_str());
        if self.contract == Contract::Scoped
            && let Expr::Name(scope) = &*x.value
            && scope.id.as_str() == "private"
            && let Some(at) = self.inputs.iter().position(|name| *name == &*attr)
        {
            return self.input(at);
        }
        let v = self.base(&x.value);
        if is_unseen(&attr) && !(v.has(TABLE) && attr == "eval") {
            self.opens();
        }
        if reaches(&attr) {
            self.loses_all(x.range.start().to_usize());
        } else if hides(&attr) {
            self.loses_sight(x.range.start().to_usize());
        }
        let known = !self.own_any && !self.own.contains(&attr) && !self.open;
        let part = matches!(&*x.value, Expr::Attribute(by) if matches!(by.attr.as_str(), "dt" | "str" | "cat"));
        let of_index = matches!(&*x.value, Expr::Attribute(by) if by.attr.as_str() == "index");
        let name = x.attr.as_str();
        match &*attr {
            _ if v.has(PLAIN) && !is_table_attribute(name) && self.knows(name) => {
                let column = v.has(TABLE);
                let out = self.narrow(&v, &[name], x.range.start().to_usize());
                if column { out.with(COLUMN) } else { out }
            }
            "columns" if v.has(PLAIN) && known && v.labels.is_empty() => {
                Value::default().with(NAMES)
            }
            "dtypes" | "dtype" if v.has(PLAIN) && known && !self.typed => Value::default(),
            "index" if v.has(PLAIN) && known => Value {
                as_is: v.index.clone(),
                order: v.order.clone(),
                order_summed: v.order_summed.clone(),
                flags: PLAIN
                    | TABLE
                    | if self.indexed || v.index.is_empty() {
                        0
                    } else {
                        v.flags & WHOLE
                    },
                ..Value::default()
            },
            "T" => v.without(PLAIN | WHOLE | FRAME | ORIGIN),
            name if SHAPES.contains(&name) && known && !v.has(SINGLE) => Value::default(),
            name if STATISTICS.contains(&name) && known && v.has(MODEL) => {
                let mut out = super::sums::summed_up(&v).with(MODEL);
                if !super::words::is_of_terms(name) {
                    out.labels = Default::default();
                }
                out
            }
            _ => {
                let v = v.without(FRAME);
                let mut out = match &*attr {
                    "values" => v,
                    "dt" | "str" => v.without(MASK | KIND | NUMERIC),
                    _ if (part || of_index) && is_count(name) => {
                        let of = v.without(MASK).with(NUMERIC);
                        self.part_of_time(of.clone(), &of, name, x.range.end().to_usize())
                    }
                    _ if part => v.without(MASK),
                    name if DATA.contains(&name) => v.without(MASK | WHOLE),
                    // A method of a type.
                    name if v.is_void() && !TEXTS.contains(&name) => v.with(CHANGER),
                    _ => v.without(MASK | WHOLE).with(BOUND),
                };
                out.texts = None;
                out = out.opened();
                match &*attr {
                    "dt" | "str" | "values" => {}
                    _ if part && is_count(name) => out = out.without(CAME),
                    _ => out = out.without(ORIGIN),
                }
                if let Some(stored) = self.attrs.get(&attr) {
                    let stored = self.whole(stored);
                    out = out.and(&stored);
                }
                out
            }
        }
    }

    /// Where a part of this value may have been made. A view is changed with what it looks at.
    pub(super) fn copied(&mut self, v: &Value<'a>, at: usize, view: bool) -> Vec<u32> {
        if !v.has(TABLE) {
            return v.reached();
        }
        // No other value is made at the same place.
        let site = super::number(at) ^ COPIED;
        if view {
            let known = self.views.entry(site).or_default();
            for of in v.sites.iter().filter(|of| **of != site) {
                if !known.contains(of) {
                    known.push(*of);
                }
            }
        }
        vec![site]
    }
}
