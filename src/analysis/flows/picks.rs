//! Columns that are picked: `t["c"]`, `t[names]`, `t.loc[:, "c"]`, `t.c`.

use super::value::{GROUPED, LIST, MODEL, PLAIN, PRINTS, TABLE, Value};
use super::words::{SHAPES, STATISTICS, is_unseen};
use super::{Pass, exprs, fold, stmts};
use crate::analysis::parse::ast::{self, Expr, Ranged};
use crate::analysis::table::is_table_attribute;
use crate::policy::Contract;

impl<'a> Pass<'a> {
    /// What the columns of these names hold.
    pub(super) fn narrow(&mut self, v: &Value<'a>, names: &[&'a str], at: usize) -> Value<'a> {
        let mut out = Value {
            as_is: v.index.clone(),
            index: v.index.clone(),
            sites: copied(v, at),
            funcs: v.funcs.clone(),
            files: v.files.clone(),
            flags: v.flags & !LIST,
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
                    out.as_is.set(*id);
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
            match self.derived.get(name) {
                Some(made) => {
                    // A table holds everything that its columns hold.
                    let made = made.within(v);
                    self.picks(&made, at);
                    out.join(&made);
                    found = true;
                }
                None => {
                    self.missed.insert(name);
                }
            }
            all |= !found;
        }
        out.join(&self.derived_any.within(v));
        if all || self.open || !v.has(PLAIN) {
            let mut whole = v.clone();
            whole.texts = None;
            whole.sites = copied(v, at);
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
            let v = self.eval(&by.value);
            let Expr::Tuple(pair) = &*x.slice else {
                self.eval(&x.slice);
                return v;
            };
            let [rows, columns] = pair.elts.as_slice() else {
                return v;
            };
            self.eval(rows);
            if columns.is_slice_expr() {
                return v;
            }
            if matches!(by.attr.as_str(), "iloc" | "iat") {
                self.eval(columns);
                self.picks_unknown(&v, at);
                return v;
            }
            return self.item(&v, columns, at);
        }
        let v = self.eval(&x.value);
        self.item(&v, &x.slice, at)
    }

    fn item(&mut self, v: &Value<'a>, key: &'a Expr, at: usize) -> Value<'a> {
        if let Some(names) = stmts::literal(key) {
            return match v.has(PLAIN) {
                true => self.narrow(v, &names, at),
                false => Self::element(v),
            };
        }
        let given = self.eval(key);
        if !v.has(PLAIN) {
            let mut out = Self::element(v);
            out.texts = out.texts.filter(|_| given.texts.is_none());
            return match v.has(GROUPED) {
                true => out.with(GROUPED),
                false => out,
            };
        }
        match (&given.texts, key) {
            (Some(names), _) if !names.is_empty() => self.narrow(v, names, at),
            (_, Expr::Slice(_) | Expr::Constant(_) | Expr::Compare(_) | Expr::UnaryOp(_)) => {
                let mut out = v.clone();
                out.texts = out.texts.filter(|_| v.has(LIST));
                out
            }
            _ if !given.is_bare() => v.clone(),
            _ => {
                self.picks_unknown(v, at);
                let mut out = v.clone();
                out.texts = None;
                out
            }
        }
    }

    pub(super) fn attribute(&mut self, x: &'a ast::ExprAttribute) -> Value<'a> {
        if let Some(path) = self.path_of(x) {
            return match exprs::prints(&path) {
                true => Value::default().with(PRINTS),
                false => Value::default(),
            };
        }
        let attr = fold(x.attr.as_str());
        if self.contract == Contract::Scoped
            && let Expr::Name(scope) = &*x.value
            && scope.id.as_str() == "private"
            && let Some(at) = self.inputs.iter().position(|name| *name == &*attr)
        {
            return self.input(at);
        }
        let v = self.eval(&x.value);
        if is_unseen(&attr) && !(v.has(TABLE) && attr == "eval") {
            self.opens();
        }
        let known = !self.own_any && !self.own.contains(&attr) && !self.open;
        let name = x.attr.as_str();
        match &*attr {
            _ if v.has(PLAIN)
                && !is_table_attribute(name)
                && (self.by_name.contains_key(name) || self.derived.contains_key(name)) =>
            {
                self.narrow(&v, &[name], x.range.start().to_usize())
            }
            "columns" | "dtypes" | "dtype" if v.has(PLAIN) && known => Value::default(),
            "index" if v.has(PLAIN) && known => Value {
                as_is: v.index.clone(),
                flags: PLAIN | TABLE,
                ..Value::default()
            },
            "T" => v.without(PLAIN),
            name if SHAPES.contains(&name) && known => Value::default(),
            name if STATISTICS.contains(&name) && known && v.has(MODEL) => {
                super::tables::summed_up(&v).with(MODEL)
            }
            _ => {
                let mut out = v;
                out.texts = None;
                if let Some(stored) = self.attrs.get(&attr) {
                    let stored = self.whole(stored);
                    out = out.and(&stored);
                }
                out
            }
        }
    }
}

/// Where a part of this value may have been made.
pub(super) fn copied(v: &Value<'_>, at: usize) -> Vec<u32> {
    match v.has(TABLE) {
        true => vec![super::number(at)],
        false => v.sites.clone(),
    }
}
