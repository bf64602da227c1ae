//! Methods of tables.

use super::value::{
    COLUMN, FIGURES, FRAME, GROUPED, KIND, LIST, MASK, NUMERIC, PLAIN, SHAPED, TABLE, Value, WHOLE,
    WINDOW,
};
use super::words::{KEEPING, MASKS, NUMBERS, SORTING, SUMMING};
use super::{Pass, stmts};
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
            let asks = self.asks(method, x);
            let given = self.union(x.args.iter().chain(x.keywords.iter().map(|k| &k.value)));
            let value = match asks {
                true => on.clone().without(GROUPED | WHOLE),
                false => self.sums(on, method, x),
            };
            return Some(match given.is_bare() {
                true => value,
                false => value.and(&super::sums::summed_up(&given)),
            });
        }
        match method {
            "groupby" => Some(self.grouped(on, x)),
            "rolling" | "expanding" | "ewm" => Some(on.clone().with(WINDOW)),
            "resample" => Some(self.resampled(on, x)),
            "unstack" => Some(Self::unstacked(on).without(COLUMN)),
            "agg" | "aggregate" => Some(self.aggregated(on, x)),
            "transform" | "apply" | "map" | "applymap" | "pipe" => self.handed(on, method, x),
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
                        Some(name) => self.stores(name.as_str(), &value),
                        None => self.derive_any(&value),
                    }
                    let value = value.held().without(SHAPED);
                    out.join(&match value.has(PLAIN) || value.is_bare() {
                        true => value.with(FRAME | KIND),
                        false => value.with(PLAIN | TABLE | FRAME | KIND),
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
                            .for_each(|name| self.stores(name, &held));
                    }
                    Some(e) if !matches!(e, Expr::Constant(_)) => {
                        return Some(on.clone().without(PLAIN));
                    }
                    _ => {}
                }
                let mut out = on.clone().without(GROUPED | COLUMN);
                out.index = Default::default();
                Some(out)
            }
            "set_index" => {
                let by = first.or_else(|| word(x, "keys"))?;
                let keys = self.named(on, by);
                self.indexes(on, by);
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
                // A table of the snippet's own leaves the rows that it names.
                let own = other.is_bare();
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
                Some(match own {
                    true => out.without(WHOLE),
                    false => out,
                })
            }
            "filter" => {
                let given = x.args.iter().chain(x.keywords.iter().map(|k| &k.value));
                let given = self.union(given);
                if !given.funcs.is_empty() || on.has(GROUPED) {
                    return None;
                }
                let items = word(x, "items").or_else(|| x.args.first());
                let columns = on.has(FRAME) && x.keywords.len() + x.args.len() == 1;
                Some(match items.filter(|_| columns) {
                    Some(items) => self.named(on, items),
                    // Rows by their labels.
                    None => on.clone().without(WHOLE | GROUPED).and(&given.held()),
                })
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
                    Some(names) => names.iter().for_each(|name| self.stores(name, &value)),
                    None => self.derive_any(&value),
                }
                let put = value.held().without(SHAPED);
                self.put(&on.sites, &put.with(PLAIN | TABLE | FRAME | KIND));
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
                out = self.kinds(out, method, x);
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
                if !self.leaves_whole(on, method, x) {
                    out = out.without(WHOLE);
                }
                out = Self::bends_by(out, method, x);
                out = Self::tails(out, on, method, x, &more);
                if MASKS.contains(&method) {
                    out = self.asked(out, on, x, &more);
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
                                new.iter().for_each(|name| self.stores(name, &held));
                            }
                            _ => out = out.without(PLAIN),
                        }
                    }
                }
                e => match stmts::literal(e) {
                    // A series by its name.
                    Some(names) => {
                        let held = on.clone();
                        names.iter().for_each(|name| self.stores(name, &held));
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
