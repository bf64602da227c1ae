//! Calls of what modules have.

use super::exprs::prints;
use super::functions::Given;
use super::sums::is_inside;
use super::value::{
    BOUND, CHANGER, DRAWN, FIXED, FRAME, KIND, MADE_ANEW, MASK, MODEL, NUMERIC, OUTSIDE, PLAIN,
    PRINTS, ROWED, SINGLE, TABLE, Value, WHOLE,
};
use super::words::{DRAWING, HANDING, MANY, MASKS, READING, SUMMING, WRITTEN};
use super::{Pass, stmts};
use crate::analysis::inspect::names_in;
use crate::analysis::parse::ast;
use crate::model::Way;

/// Functions that make one moment.
const MOMENTS: &[&str] = &[
    "Timedelta",
    "Timestamp",
    "now",
    "to_datetime",
    "to_timedelta",
    "today",
];
/// Functions whose result has a row for each row.
const EACH: &[&str] = &[
    "abs",
    "array",
    "asarray",
    "exp",
    "isfinite",
    "isin",
    "isna",
    "isnan",
    "isnull",
    "log",
    "log10",
    "log1p",
    "notna",
    "notnull",
    "round",
    "sqrt",
    "to_datetime",
    "to_numeric",
    "add_constant",
];
/// Libraries whose functions change no argument.
const QUIET: &[&str] = &[
    "datetime",
    "math",
    "numpy",
    "pandas",
    "re",
    "scipy",
    "sklearn",
    "statistics",
    "statsmodels",
];
/// Functions of theirs that do.
const CHANGING: &[&str] = &[
    "at",
    "copyto",
    "fill_diagonal",
    "place",
    "put",
    "put_along_axis",
    "putmask",
    "shuffle",
];
/// Functions of pandas whose result has the columns of the arguments.
const COMBINING: &[&str] = &[
    "DataFrame",
    "Series",
    "concat",
    "cut",
    "merge",
    "qcut",
    "to_datetime",
    "to_numeric",
];

impl<'a> Pass<'a> {
    /// A call of a member of a module.
    pub(super) fn library(
        &mut self,
        x: &'a ast::ExprCall,
        path: &str,
        name: &str,
        given: &Given<'a>,
        all: Value<'a>,
    ) -> Value<'a> {
        let at = x.range.start().to_usize();
        let top = path.split('.').next().unwrap_or(path);
        if top == "traceback" || path == "sys.exc_info" {
            return self.everything();
        }
        if top == "tqdm" {
            // A bar shows what it is called.
            let shown = given
                .keywords
                .iter()
                .filter(|(word, _)| !matches!(*word, "iterable" | "total" | "disable" | "file"));
            let mut all = Value::default();
            shown.for_each(|(_, v)| all = std::mem::take(&mut all).and(v));
            let more = given.positional.iter().skip(1);
            more.for_each(|v| all = std::mem::take(&mut all).and(v));
            self.leaves(Way::Output, at, name, &all);
        }
        if draws(path) {
            self.draws_by(&all);
            return Self::figures();
        }
        let args = given
            .positional
            .iter()
            .chain(given.keywords.iter().map(|(_, v)| v));
        let fixed = given.rest.is_none() && all.is_bare() && args.clone().all(Value::is_even);
        if fixed && (matches!(top, "datetime" | "math") || MOMENTS.contains(&name)) {
            // One number or moment.
            let mut each = given.positional.iter().map(|v| v.flags & FIXED);
            let fixed = given.keywords.is_empty() && each.all(|flag| flag != 0);
            return Value::default().with(if fixed { FIXED } else { 0 });
        }
        self.kept(path, name, &all, at);
        let all = match super::texts::evaluates(path, name) {
            true => {
                let words = ["expr", "formula", "formula_like"];
                let word = words.iter().find_map(|name| super::tables::word(x, name));
                let text = x.args.first().or(word);
                let mut named = self.formula(text, at);
                if path.starts_with("statsmodels.") {
                    // Terms are called by values.
                    named.labels.add(&named.as_is.clone());
                }
                let all = all.and(&named);
                if path == "pandas.eval" {
                    self.change(given, &all);
                }
                all
            }
            false => all,
        };
        let typed = ["Categorical", "CategoricalDtype", "cut", "qcut"].contains(&name)
            || x.keywords.iter().any(|k| {
                k.arg.as_ref().is_some_and(|a| a.as_str() == "dtype")
                    && stmts::literal(&k.value).is_some_and(|names| names == ["category"])
            });
        self.changed |= typed && !self.typed;
        self.typed |= typed;
        for (word, value) in &given.keywords {
            self.derive(word, value);
        }
        if top == "pandas"
            && matches!(name, "pivot_table" | "crosstab")
            && let Some(table) = x.args.first()
            && name == "pivot_table"
        {
            let table = self.eval(table);
            return self.pivoted(&table, x, 1);
        }
        let mut out = Self::made(at).and(&all);
        out.sites = match HANDING.contains(&top) {
            true => given.sites(&Value::default(), at),
            false => given.own_sites(at),
        };
        if top == "numpy" || super::tables::word(x, "copy").is_some() {
            // An array may be a view of a table.
            let of = args.clone().filter(|v| v.has(TABLE));
            let of: Vec<u32> = of.flat_map(|v| v.sites.clone()).collect();
            let known = self.views.entry(super::number(at)).or_default();
            known.extend(of.into_iter().filter(|site| *site != super::number(at)));
            known.dedup();
        }
        if super::unseen::keeps(name) {
            out.sites.push(OUTSIDE);
        }
        out.flags = all.flags & !(PLAIN | MADE_ANEW);
        if !HANDING.contains(&top) {
            out = out.without(BOUND | CHANGER);
        }
        if path.starts_with("operator.") && name.ends_with(['r']) && !all.is_bare() {
            out = out.with(CHANGER);
        }
        let reads = READING.iter().any(|(one, _)| *one == name);
        let long = match x.args.first() {
            Some(ast::Expr::Dict(x)) if top == "pandas" && !all.is_bare() => x
                .values
                .iter()
                .any(|e| !e.is_list_expr() && self.eval(e).has(SINGLE)),
            _ => false,
        };
        if long || !(MANY.contains(&name) || top == "numpy" && reads) {
            out = out.single();
        }
        let mut until = Value::default();
        for id in all.funcs.clone() {
            let mut rest = all.clone();
            rest.funcs.retain(|f| *f != id);
            let gives = self.call_function(id, &Given::all(Self::element(&rest)));
            until = until.and(&gives.held());
            out = out.and(&gives);
        }
        self.draws_with(given, &until);
        if !QUIET.contains(&top) || name.contains("iter") {
            out = out.with(DRAWN);
        }
        let names = ["columns", "keys", "axis", "names"];
        let renamed = x.keywords.iter().any(|k| match &k.arg {
            Some(a) if a.as_str() == "columns" => match stmts::literal(&k.value) {
                Some(names) => {
                    let held = all.clone();
                    names.iter().for_each(|name| self.derive(name, &held));
                    false
                }
                None => true,
            },
            Some(a) => names.contains(&a.as_str()),
            None => true,
        });
        match top {
            "pandas" if COMBINING.contains(&name) && all.has(PLAIN) && !renamed => {
                out = out.with(PLAIN | (all.flags & TABLE));
            }
            "numpy" if all.has(PLAIN) && x.args.len() == 1 => {
                out = out.with(PLAIN | (all.flags & TABLE));
            }
            _ => {}
        }
        let each = given
            .positional
            .iter()
            .chain(given.keywords.iter().map(|(_, v)| v));
        let even = given.rest.is_none() && each.clone().all(Value::is_even) && all.has(WHOLE);
        let one = x.args.len() == 1;
        let rows = match top {
            "numpy" => {
                one && EACH.contains(&name)
                    || name == "where" && given.positional.first().is_some_and(|v| v.has(MASK))
            }
            "pandas" => one && (EACH.contains(&name) || name == "DataFrame"),
            // Models; what else it has may leave other rows.
            "statsmodels" => {
                !name.to_lowercase().contains("quant")
                    && (path.starts_with("statsmodels.formula.")
                        || name.starts_with(|c: char| c.is_ascii_uppercase()))
            }
            _ => false,
        };
        let bins = matches!(name, "cut" | "qcut")
            && given.positional.first().is_some_and(|v| v.has(WHOLE))
            && self.has_few_classes(x);
        if (even && rows || bins) && !all.is_bare() {
            out = out.with(WHOLE);
        }
        if matches!(path, "pandas.to_datetime" | "pandas.to_numeric") && one && even {
            out.flags |= all.flags & ROWED;
        }
        if top == "pandas" && all.funcs.is_empty() {
            out = self.classed(out, name, x);
        }
        if top == "numpy" && !out.is_bare() {
            out = out.with(Self::bends_all(name));
        }
        if path == "pandas.to_numeric"
            || (top == "numpy"
                && matches!(name, "abs" | "exp" | "log" | "log10" | "log1p" | "sqrt"))
        {
            out = out.with(NUMERIC);
        }
        if top == "pandas" && matches!(name, "DataFrame" | "Series" | "concat" | "merge") {
            out = out.with(TABLE);
        }
        if path == "pandas.concat" || path == "pandas.merge" {
            self.joins(x, &Value::default(), name);
        }
        if path == "pandas.DataFrame" {
            if let Some(ast::Expr::Dict(dict)) = x.args.first() {
                self.columns_of(dict);
            }
            let names =
                |key: &Option<ast::Expr>| key.as_ref().is_some_and(|e| stmts::literal(e).is_some());
            let named = |e: &ast::Expr| e.as_dict_expr().is_some_and(|x| x.keys.iter().all(names));
            if x.keywords.is_empty() && matches!(&x.args[..], [e] if named(e)) {
                out = out.with(PLAIN);
            }
            out = out.with(FRAME);
            // Columns of a dictionary have their kinds by name.
            if out.has(PLAIN) && x.args.first().is_some_and(ast::Expr::is_dict_expr) {
                out = out.with(KIND);
            }
        }
        if self.keeps_kind(x, top, name) {
            out.flags |= all.flags & KIND;
        }
        if path == "numpy.where" && x.args.iter().skip(1).all(|e| self.is_number(e)) {
            out = out.with(NUMERIC);
        }
        self.named_by(x, &all);
        if let Some(value) = self.metric(path, given, &all) {
            self.keep_bound(given, &all);
            return Value {
                sites: vec![super::number(at)],
                ..value
            };
        }
        if matches!(top, "numpy" | "statistics" | "scipy") && SUMMING.contains(&name) {
            let axis = x
                .keywords
                .iter()
                .any(|k| k.arg.as_ref().is_some_and(|a| a.as_str() == "axis"));
            // It has the least and the greatest value.
            let range = top == "scipy" && name == "describe";
            if x.args.len() == 1 && !axis && !range {
                return self.sums(&all, name, x);
            }
        }
        let parts = match name {
            "nanpercentile" | "percentile" => Some(100.0),
            "nanquantile" | "quantile" => Some(1.0),
            _ => None,
        };
        if let ("numpy", Some(parts), [_, of], []) = (top, parts, &x.args[..], &x.keywords[..])
            && let Some(column) = given.positional.first().filter(|v| v.has(WHOLE))
            && is_inside(of, parts)
        {
            return self.sum_named(column, "quantile");
        }
        if top == "scipy" {
            out = out.with(MODEL);
        }
        if prints(path) {
            out = out.with(PRINTS);
        }
        if MASKS.contains(&name) && matches!(top, "numpy" | "pandas") {
            out = out.with(MASK | NUMERIC).without(SINGLE);
        }
        let known = READING.iter().find(|(one, _)| *one == name);
        let only = known.map_or(1, |(_, count)| *count);
        let fills = top == "numpy" && (given.positional.len() > only || given.rest.is_some());
        let into = given
            .keywords
            .iter()
            .any(|(word, _)| WRITTEN.contains(word));
        self.keep_bound(given, &all);
        if fills || into || changes(path) {
            self.change(given, &all);
        }
        if matches!(top, "heapq" | "numpy" | "random") {
            let first = given.positional.first().filter(|_| changes(path));
            let words = given.keywords.iter();
            let words = words.filter(|(word, _)| WRITTEN.contains(word));
            let changed = first.into_iter().chain(words.map(|(_, v)| v));
            let changed = changed.filter(|v| !v.is_bare());
            let sites: Vec<u32> = changed.flat_map(|v| v.sites.clone()).collect();
            self.thins(&sites);
        }
        out
    }

    /// The columns that a drawing call names, if it names any.
    pub(super) fn drawn(&mut self, x: &'a ast::ExprCall) -> Option<Value<'a>> {
        let word = |words: &[&str]| {
            let named = x
                .keywords
                .iter()
                .find(|k| k.arg.as_ref().is_some_and(|a| words.contains(&a.as_str())));
            named.map(|k| &k.value)
        };
        let data = word(&["data", "data_frame"]).or_else(|| {
            let path = self.path(&x.func)?;
            (path.starts_with("plotly.") || path.starts_with("seaborn.")).then(|| x.args.first())?
        })?;
        let table = self.eval(data);
        if !table.has(PLAIN) {
            return None;
        }
        if self
            .path(&x.func)
            .is_some_and(|path| path.starts_with("statsmodels.formula."))
        {
            let formula = x.args.first().or_else(|| word(&["formula"]));
            let [formula] = stmts::literal(formula?)?[..] else {
                return None;
            };
            let names: Vec<&str> = names_in(formula).into_iter().map(|n| n.text).collect();
            let known = |n: &&str| self.knows(n);
            let names: Vec<&'a str> = names.into_iter().filter(known).collect();
            return (!names.is_empty()).then(|| {
                let at = x.range.start().to_usize();
                let mut out = self.narrow(&table, &names, at);
                for name in names {
                    let one = self.narrow(&table, &[name], at);
                    if one.is_bare() && self.mixed {
                        out = out.without(WHOLE);
                    }
                    // Terms are called by the values of a column.
                    let number = one.has(NUMERIC)
                        || one.has(KIND) && one.as_is.iter().all(|id| !self.columns[id].text);
                    if !number || formula.contains(&format!("C({name}")) {
                        out.labels.add(&one.as_is);
                    }
                }
                out
            });
        }
        let others = x.args.iter().chain(x.keywords.iter().map(|k| &k.value));
        let mut names = Vec::new();
        for e in others.filter(|e| !std::ptr::eq(*e, data)) {
            if e.is_starred_expr() {
                return None;
            }
            if let Some(texts) = stmts::literal(e) {
                let columns = texts.into_iter().filter(|t| self.knows(t));
                names.extend(columns);
            } else if self.eval(e).texts.is_some() {
                return None;
            }
        }
        (!names.is_empty()).then(|| self.narrow(&table, &names, x.range.start().to_usize()))
    }
}

/// Whether a function of a library may change what it is given.
pub(super) fn changes(path: &str) -> bool {
    let mut parts = path.split('.');
    let top = parts.next().unwrap_or(path);
    let name = parts.next_back().unwrap_or(top);
    let class = parts.next_back().unwrap_or_default();
    let of_class = class.starts_with(char::is_uppercase) || class == "ndarray";
    !QUIET.contains(&top)
        || CHANGING.contains(&name)
        || of_class && !name.starts_with("from") && top != "datetime"
}

pub(super) fn draws(path: &str) -> bool {
    DRAWING.contains(&path.split('.').next().unwrap_or(path))
}
