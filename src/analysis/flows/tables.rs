//! Methods of tables.

use std::borrow::Cow;

use super::functions::Given;
use super::value::{
    BOUND, FIGURES, GROUPED, LIST, MASK, NUMERIC, PLAIN, TABLE, Value, WHOLE, WINDOW,
};
use super::words::{KEEPING, MASKS, NUMBERS, SORTING, SUMMING};
use super::{Pass, fold, stmts};
use crate::analysis::parse::ast::{self, Expr};

/// Pictures that `t.plot` has as methods.
const PLOTS: &[&str] = &[
    "area", "bar", "barh", "box", "density", "hexbin", "hist", "kde", "line", "pie", "scatter",
];

impl<'a> Pass<'a> {
    /// What a method of a table gives back; `None` if the pass does not know it.
    pub(super) fn table_call(
        &mut self,
        on: &Value<'a>,
        method: &str,
        x: &'a ast::ExprCall,
    ) -> Option<Value<'a>> {
        if on.is_bare() || self.own.contains(method) || !on.funcs.is_empty() {
            return None;
        }
        let first = x.args.first();
        let plots = matches!(&*x.func, Expr::Attribute(f)
            if matches!(&*f.value, Expr::Attribute(plot) if plot.attr.as_str() == "plot"));
        if (plots && PLOTS.contains(&method)) || matches!(method, "plot" | "hist" | "boxplot") {
            return Some(self.plotted(on, x));
        }
        if SUMMING.contains(&method) {
            let given = self.union(x.args.iter().chain(x.keywords.iter().map(|k| &k.value)));
            let value = self.sums(on, method, x);
            return Some(match given.is_bare() {
                true => value,
                false => value.and(&super::sums::summed_up(&given)),
            });
        }
        match method {
            "groupby" => {
                let by = first.or_else(|| word(x, "by"));
                let keys = match by {
                    Some(by) => self.keys(on, by),
                    None => on.clone(),
                };
                let mut out = on.clone();
                out.texts = None;
                out.as_is.add(&keys.as_is);
                // Groups by the number of the row are rows.
                let numbered = match by {
                    Some(_) => keys.is_bare(),
                    None => on.index.is_empty(),
                };
                if numbered {
                    out = out.without(WHOLE);
                }
                out.index.add(&keys.as_is);
                Some(out.with(GROUPED))
            }
            "rolling" | "expanding" | "ewm" => Some(on.clone().with(WINDOW)),
            "resample" => {
                let mut out = on.clone().with(GROUPED);
                match word(x, "on") {
                    Some(by) => {
                        let keys = self.keys(on, by);
                        out.as_is.add(&keys.as_is);
                        out.index.add(&keys.as_is);
                    }
                    None if on.index.is_empty() => out = out.without(WHOLE),
                    None => {}
                }
                Some(out)
            }
            "agg" | "aggregate" => Some(self.aggregated(on, x)),
            "transform" | "apply" | "map" | "applymap" | "pipe" => {
                let how = first
                    .or_else(|| word(x, "func"))
                    .or_else(|| word(x, "arg"))?;
                let more = self.union(
                    x.args
                        .iter()
                        .skip(1)
                        .chain(x.keywords.iter().map(|k| &k.value)),
                );
                let mut value = self.aggregate(on, how);
                if !more.is_bare() {
                    let to = self.eval(how);
                    let gives = self.hand_over(&to, &on.clone().and(&more));
                    value = value.and(&more).and(&gives);
                }
                Some(value)
            }
            "pivot_table" => Some(self.pivoted(on, x, 0)),
            "drop" => Some(self.dropped(on, x)),
            "assign" if x.args.is_empty() => {
                let mut out = on.clone();
                out.texts = None;
                for keyword in &x.keywords {
                    let value = self.eval(&keyword.value);
                    let value = self.applied(&value, on);
                    self.mixes(&value);
                    match &keyword.arg {
                        Some(name) => self.derive(name.as_str(), &value),
                        None => self.derive_any(&value),
                    }
                    let value = value.held();
                    out.join(&match value.has(PLAIN) || value.is_bare() {
                        true => value,
                        false => value.with(PLAIN | TABLE),
                    });
                }
                Some(out)
            }
            "rename" => Some(self.renamed(on, x)),
            "to_frame" | "reset_index" => {
                let names = first
                    .or_else(|| word(x, "name"))
                    .or_else(|| word(x, "names"));
                match names {
                    Some(e) if stmts::literal(e).is_some() => {
                        let held = on.clone();
                        stmts::literal(e)
                            .into_iter()
                            .flatten()
                            .for_each(|name| self.derive(name, &held));
                    }
                    Some(e) if !matches!(e, Expr::Constant(_)) => {
                        return Some(on.clone().without(PLAIN));
                    }
                    _ => {}
                }
                let mut out = on.clone().without(GROUPED);
                out.index = Default::default();
                Some(out)
            }
            "set_index" => {
                let keys = first.or_else(|| word(x, "keys"))?;
                let keys = self.named(on, keys);
                let mut out = on.clone();
                out.as_is.add(&keys.as_is);
                out.index.add(&keys.as_is);
                Some(out)
            }
            "merge" | "join" if on.has(PLAIN) => {
                let other = first
                    .or_else(|| word(x, "right"))
                    .or_else(|| word(x, "other"))?;
                let other = self.eval(other);
                self.mixes(&other);
                self.union(
                    x.args
                        .iter()
                        .skip(1)
                        .chain(x.keywords.iter().map(|k| &k.value)),
                );
                let mut out = on.clone();
                out.texts = None;
                out.join(&Value {
                    sites: Vec::new(),
                    inner: Vec::new(),
                    ..other
                });
                Some(out)
            }
            "filter" if word(x, "items").is_some() => {
                let items = word(x, "items")?;
                Some(self.named(on, items))
            }
            "get" | "pop"
                if on.has(PLAIN) && first.is_some_and(|e| stmts::literal(e).is_some()) =>
            {
                let names = stmts::literal(first?)?;
                let more = self.union(x.args.iter().skip(1));
                let value = self.narrow(on, &names, x.range.start().to_usize());
                Some(value.and(&more))
            }
            "insert" if x.args.len() > 2 && on.has(PLAIN) => {
                let value = self.eval(&x.args[2]);
                self.mixes(&value);
                match stmts::literal(&x.args[1]) {
                    Some(names) => names.iter().for_each(|name| self.derive(name, &value)),
                    None => self.derive_any(&value),
                }
                self.put(&on.sites, &value.held().with(PLAIN | TABLE));
                Some(Value::default())
            }
            "to_dict" => {
                let records = first
                    .or_else(|| word(x, "orient"))
                    .is_none_or(|e| stmts::literal(e).is_some_and(|names| names == ["records"]));
                let out = on.clone().without(GROUPED | LIST);
                Some(if records { out } else { out.without(PLAIN) })
            }
            method if KEEPING.contains(&method) => {
                let more = self.union(x.args.iter().chain(x.keywords.iter().map(|k| &k.value)));
                let keys = self.named_columns(on, method, x);
                let gives = self.hand_over(&more, on);
                let more = more.and(&gives);
                let mut out = on.clone();
                out.texts = None;
                if SORTING.contains(&method) {
                    let keys = keys.unwrap_or_else(|| on.clone()).told();
                    out.order_summed.add(&keys.summed);
                    out.order.add(&keys.as_is);
                } else if method == "sort_index" {
                    out.order = Default::default();
                    out.order_summed = Default::default();
                }
                if method == "astype" {
                    self.types(x);
                }
                // What is stored in a copy is not in this one; a view is none.
                let view = matches!(method, "head" | "tail" | "truncate")
                    || word(x, "copy").or(word(x, "deep")).is_some();
                out.sites = self.copied(on, x.range.end().to_usize(), view);
                if NUMBERS.contains(&method) {
                    out = out.with(NUMERIC);
                }
                if MASKS.contains(&method) {
                    out = out.with(MASK);
                } else if !matches!(method, "copy" | "fillna") {
                    out = out.without(MASK);
                }
                if !self.leaves_whole(method, x) {
                    out = out.without(WHOLE);
                }
                Some(match more.is_bare() {
                    true => out,
                    false => {
                        let plain = out.flags & (PLAIN | GROUPED | TABLE | MASK);
                        out.and(&Value {
                            sites: Vec::new(),
                            inner: Vec::new(),
                            ..more
                        })
                        .with(plain)
                    }
                })
            }
            _ => None,
        }
    }

    /// Notes a type that may name values.
    fn types(&mut self, x: &'a ast::ExprCall) {
        fn plain(e: &Expr) -> bool {
            match e {
                Expr::Dict(x) => x.values.iter().all(plain),
                Expr::Name(x) => matches!(x.id.as_str(), "int" | "float" | "str" | "bool"),
                Expr::Attribute(x) => matches!(&*x.value, Expr::Name(n) if n.id.as_str() == "np"),
                e => stmts::literal(e).is_some_and(|names| !names.contains(&"category")),
            }
        }
        let given = x.args.iter().chain(x.keywords.iter().map(|k| &k.value));
        if !given
            .into_iter()
            .all(|e| plain(e) || e.is_constant_expr() && stmts::literal(e).is_none())
        {
            self.changed |= !self.typed;
            self.typed = true;
        }
    }

    /// The columns that arguments name, if they do.
    fn named_columns(
        &mut self,
        on: &Value<'a>,
        method: &str,
        x: &'a ast::ExprCall,
    ) -> Option<Value<'a>> {
        let words = ["by", "subset", "on", "columns"];
        let position = usize::from(matches!(method, "nlargest" | "nsmallest"));
        let positional = matches!(
            method,
            "sort_values" | "drop_duplicates" | "nlargest" | "nsmallest" | "duplicated"
        );
        let at = x.range.start().to_usize();
        let given = x.args.get(position).filter(|_| positional);
        let given = given
            .into_iter()
            .chain(words.into_iter().filter_map(|w| word(x, w)));
        let mut keys: Option<Value<'a>> = None;
        for e in given.collect::<Vec<_>>() {
            let names = match stmts::literal(e) {
                Some(names) => Some(names),
                None => self.eval(e).texts,
            };
            let key = match names {
                Some(names) => self.narrow(on, &names, at),
                None => on.clone(),
            };
            keys = Some(keys.unwrap_or_default().and(&key));
        }
        keys
    }

    /// What `groupby` groups by.
    fn keys(&mut self, on: &Value<'a>, by: &'a Expr) -> Value<'a> {
        match by {
            Expr::List(list) if stmts::literal(by).is_none() => {
                let mut out = Value::default();
                for e in &list.elts {
                    let one = self.keys(on, e);
                    out = out.and(&one);
                }
                out
            }
            Expr::List(_) | Expr::Constant(_) => self.named(on, by),
            by => {
                let value = self.eval(by);
                self.hand_over(&value, on);
                match value.texts.is_none() && !value.is_bare() {
                    true => value,
                    false => self.named(on, by),
                }
            }
        }
    }

    /// Functions in a value, called with a table.
    fn applied(&mut self, value: &Value<'a>, on: &Value<'a>) -> Value<'a> {
        if value.funcs.is_empty() {
            return value.clone();
        }
        let mut out = value.held();
        for id in value.funcs.clone() {
            let gives = self.call_function(id, &Given::one(on.clone().without(GROUPED)));
            out.join(&gives);
        }
        out
    }

    fn aggregated(&mut self, on: &Value<'a>, x: &'a ast::ExprCall) -> Value<'a> {
        let mut out = Value::default().with(PLAIN);
        let how = x.args.first().or_else(|| word(x, "func"));
        if let Some(how) = how {
            let value = self.aggregate(on, how);
            out = out.and(&value);
        }
        for keyword in &x.keywords {
            let Some(name) = &keyword.arg else {
                self.derive_any(on);
                return on.clone().without(PLAIN);
            };
            if matches!(name.as_str(), "func" | "axis" | "engine" | "engine_kwargs") {
                continue;
            }
            let value = match &keyword.value {
                Expr::Tuple(pair) if pair.elts.len() == 2 => {
                    let column = self.named(on, &pair.elts[0]);
                    self.aggregate(&column, &pair.elts[1])
                }
                Expr::Call(call) if call.args.len() == 2 && !call.func.is_name_expr() => {
                    let column = self.named(on, &call.args[0]);
                    self.aggregate(&column, &call.args[1])
                }
                how => self.aggregate(on, how),
            };
            let mut made = value.clone();
            made.index = Default::default();
            self.derive(name.as_str(), &made);
            out = out.and(&value);
        }
        if on.has(GROUPED) {
            out.as_is.add(&on.index);
            out.index.add(&on.index);
        }
        let named = how.is_none() && on.has(PLAIN);
        let table = on.flags & (TABLE | if on.has(GROUPED) { WHOLE } else { 0 });
        out.without(GROUPED)
            .with(table | if named { PLAIN } else { 0 })
    }

    /// The table after one function: a name, a list of names, a function of the snippet.
    fn aggregate(&mut self, on: &Value<'a>, how: &'a Expr) -> Value<'a> {
        match how {
            Expr::List(x) => self.each(on, &x.elts),
            Expr::Tuple(x) => self.each(on, &x.elts),
            Expr::Dict(x) => {
                let mut out = Value::default();
                for (key, how) in x.keys.iter().zip(&x.values) {
                    let part = match key {
                        Some(key) => self.named(on, key),
                        None => on.clone(),
                    };
                    let one = self.aggregate(&part, how);
                    out = out.and(&one);
                }
                match on.has(PLAIN) {
                    true => out.with(PLAIN),
                    false => out,
                }
            }
            how => {
                let value = self.eval(how);
                if value.has(BOUND) {
                    self.put(&value.reached(), &on.held().without(PLAIN));
                }
                if !value.funcs.is_empty() {
                    let mut out = self.applied(&value, on);
                    if on.has(GROUPED) {
                        out.as_is.add(&on.index);
                        out.index.add(&on.index);
                    }
                    return out;
                }
                let names: Vec<Cow<'a, str>> = match (&value.texts, how) {
                    (Some(texts), _) => texts.iter().map(|t| Cow::Borrowed(*t)).collect(),
                    (None, Expr::Name(x)) if value.is_nothing() => vec![fold(x.id.as_str())],
                    (None, Expr::Attribute(x)) if value.is_nothing() => vec![fold(x.attr.as_str())],
                    _ => Vec::new(),
                };
                let summing = |name: &Cow<'a, str>| {
                    (SUMMING.contains(&&**name) || **name == *"len") && !self.own.contains(name)
                };
                if names.is_empty() || !names.iter().all(summing) {
                    let out = on.clone().without(GROUPED);
                    return if value.is_bare() {
                        out
                    } else {
                        out.and(&value)
                    };
                }
                let mut out: Option<Value<'a>> = None;
                for name in &names {
                    let name = if **name == *"len" { "size" } else { &**name };
                    let one = self.sum_named(on, name);
                    out = Some(match out {
                        Some(all) => all.and(&one),
                        None => one,
                    });
                }
                out.unwrap_or_default()
            }
        }
    }

    fn each(&mut self, on: &Value<'a>, all: &'a [Expr]) -> Value<'a> {
        let mut out = Value::default();
        for how in all {
            let one = self.aggregate(on, how);
            for name in stmts::literal(how).into_iter().flatten() {
                let mut made = one.clone();
                made.index = Default::default();
                self.derive(name, &made);
            }
            out = out.and(&one);
        }
        out
    }

    pub(super) fn pivoted(
        &mut self,
        on: &Value<'a>,
        x: &'a ast::ExprCall,
        from: usize,
    ) -> Value<'a> {
        let argument = |at: usize, name: &str| x.args.get(at + from).or_else(|| word(x, name));
        let (values, index, columns) = (
            argument(0, "values"),
            argument(1, "index"),
            argument(2, "columns"),
        );
        let mut keys = Value::default();
        for e in [index, columns].into_iter().flatten() {
            let one = self.keys(on, e);
            keys = keys.and(&one);
        }
        let part = match values {
            Some(e) => self.named(on, e),
            None => on.clone(),
        };
        let mut out = match argument(3, "aggfunc") {
            Some(how) => self.aggregate(&part, how),
            None => self.sum_named(&part, "mean"),
        };
        out.as_is.add(&keys.as_is);
        out.index.add(&keys.as_is);
        out.without(PLAIN | GROUPED)
    }

    fn dropped(&mut self, on: &Value<'a>, x: &'a ast::ExprCall) -> Value<'a> {
        let across = word(x, "axis").is_some();
        let names = word(x, "columns").or_else(|| x.args.first().filter(|_| across));
        let mut out = on.clone();
        let Some(names) = names.and_then(stmts::literal) else {
            self.union(x.args.iter().chain(x.keywords.iter().map(|k| &k.value)));
            return out.without(WHOLE);
        };
        let at = x.range.start().to_usize();
        for name in names {
            for id in self.by_name.get(name).cloned().unwrap_or_default() {
                self.picked.insert((id, at));
                // Another column may be made of it.
                let made = self.derived.values().chain([&self.derived_any]);
                let mut made = made.filter(|v| v.as_is.has(id) || v.summed.has(id));
                if on.has(PLAIN) && !self.open && made.next().is_none() && !on.index.has(id) {
                    out.as_is.clear(id);
                    out.summed.clear(id);
                }
            }
        }
        out.sites = self.copied(on, x.range.end().to_usize(), false);
        out
    }

    fn renamed(&mut self, on: &Value<'a>, x: &'a ast::ExprCall) -> Value<'a> {
        let at = x.range.start().to_usize();
        let mut out = on.clone();
        out.texts = None;
        for e in x.args.iter().chain(
            x.keywords
                .iter()
                .filter(|k| {
                    k.arg.as_ref().is_none_or(|a| {
                        !matches!(a.as_str(), "inplace" | "errors" | "axis" | "copy")
                    })
                })
                .map(|k| &k.value),
        ) {
            match e {
                Expr::Dict(dict) => {
                    for (key, value) in dict.keys.iter().zip(&dict.values) {
                        let old = key.as_ref().and_then(stmts::literal);
                        match (old, stmts::literal(value)) {
                            (Some(old), Some(new)) => {
                                let held = self.narrow(on, &old, at);
                                new.iter().for_each(|name| self.derive(name, &held));
                            }
                            _ => out = out.without(PLAIN),
                        }
                    }
                }
                e => match stmts::literal(e) {
                    // A series by its name.
                    Some(names) => {
                        let held = on.clone();
                        names.iter().for_each(|name| self.derive(name, &held));
                    }
                    None => out = out.without(PLAIN),
                },
            }
        }
        out
    }

    fn plotted(&mut self, on: &Value<'a>, x: &'a ast::ExprCall) -> Value<'a> {
        let mut drawn = Value::default();
        let mut named = false;
        for keyword in &x.keywords {
            let axis = keyword
                .arg
                .as_ref()
                .is_some_and(|a| matches!(a.as_str(), "x" | "y" | "column" | "by" | "c" | "s"));
            if axis {
                let value = self.named(on, &keyword.value);
                drawn = drawn.and(&value);
                named |= keyword
                    .arg
                    .as_ref()
                    .is_some_and(|a| matches!(a.as_str(), "y" | "column"));
            } else {
                let value = self.eval(&keyword.value);
                drawn = drawn.and(&value);
            }
        }
        let more = self.union(x.args.iter());
        drawn = drawn.and(&more);
        if !named {
            drawn = drawn.and(on);
        }
        self.put(&[FIGURES], &drawn.held().without(PLAIN));
        Self::figures()
    }
}

pub(super) fn word<'e>(x: &'e ast::ExprCall, name: &str) -> Option<&'e Expr> {
    let named = |k: &&ast::Keyword| k.arg.as_ref().is_some_and(|a| a.as_str() == name);
    x.keywords.iter().find(named).map(|k| &k.value)
}
