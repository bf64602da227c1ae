//! Functions that methods of tables are given: `agg`, `apply`, `map`.

use std::borrow::Cow;

use super::functions::Given;
use super::tables::word;
use super::value::{
    BOUND, BY_COLUMN, COLUMN, FRAME, GROUPED, KIND, LIST, MASK, NUMERIC, PLAIN, TABLE, Value, WHOLE,
};
use super::words::SUMMING;
use super::{Pass, fold, stmts};
use crate::analysis::parse::ast::{self, Expr};

/// Arguments that change nothing about what the functions get.
const NEUTRAL: &[&str] = &[
    "arg",
    "axis",
    "by_row",
    "convert_dtype",
    "engine",
    "engine_kwargs",
    "func",
    "include_groups",
    "na_action",
    "numeric_only",
    "result_type",
];

/// What a function gets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A column, a group, a table.
    Whole,
    /// One value, or a row.
    Value,
}

/// What the functions of a method get.
#[derive(Clone, Copy)]
pub(super) struct Gets {
    /// Functions of the snippet.
    own: Part,
    /// Functions that pandas knows, `np.mean`.
    known: Part,
    /// The same in a list or a dictionary.
    listed: Part,
}

impl Gets {
    pub const WHOLE: Self = Self {
        own: Part::Whole,
        known: Part::Whole,
        listed: Part::Whole,
    };

    const fn nested(self) -> Self {
        Self {
            own: self.listed,
            ..self
        }
    }
}

impl<'a> Pass<'a> {
    /// What a method hands to the functions that it is given: of which value, and which part.
    fn parts(on: &Value<'a>, method: &str, x: &ast::ExprCall) -> (Value<'a>, Gets) {
        let aggregates = method == "agg";
        let names = aggregates && x.args.is_empty() && word(x, "func").is_none();
        let neutral = |k: &ast::Keyword| {
            let name = k.arg.as_ref().map(|a| a.as_str());
            match name {
                Some("axis") => is_down(&k.value),
                Some(name) => names || NEUTRAL.contains(&name),
                None => false,
            }
        };
        let each = matches!(method, "map" | "applymap");
        let straight = each || x.args.len() < 2 && x.keywords.iter().all(neutral);
        let on = match straight {
            true => on.clone(),
            false => on.clone().without(WHOLE),
        };
        let part = |whole: bool| if whole { Part::Whole } else { Part::Value };
        let groups = on.has(GROUPED) && !each;
        let gets = Gets {
            own: part(groups || on.has(FRAME) && matches!(method, "agg" | "apply")),
            known: part(groups || aggregates || on.has(FRAME) && method == "apply"),
            // A column hands its values on one by one, if the function takes them.
            listed: part(groups),
        };
        match method {
            "pipe" => (on, Gets::WHOLE),
            // Functions of a table get its columns.
            "apply" if on.has(GROUPED) => (on, gets),
            _ => (on.without(FRAME), gets),
        }
    }

    /// A method that hands its values to a function.
    pub(super) fn handed(
        &mut self,
        on: &Value<'a>,
        method: &str,
        x: &'a ast::ExprCall,
    ) -> Option<Value<'a>> {
        let first = x.args.first();
        let how = first
            .or_else(|| word(x, "func"))
            .or_else(|| word(x, "arg"))?;
        if let ("map", Expr::Dict(names)) = (method, how) {
            return Some(self.named_anew(on, names));
        }
        if method == "map" && how.is_name_expr() {
            let names = self.eval(how);
            if names.is_bare() && names.funcs.is_empty() && !names.sites.is_empty() {
                let mut out = on.clone().without(LIST | FRAME | MASK | NUMERIC | KIND);
                out.texts = None;
                return Some(out);
            }
        }
        let others = x.args.iter().skip(1);
        let more = self.union(others.chain(x.keywords.iter().map(|k| &k.value)));
        let (on, gets) = Self::parts(on, method, x);
        let mut value = self.aggregate(&on, how, gets);
        if !(more.is_bare() && more.sites.is_empty() && more.inner.is_empty()) {
            let gives = self.gives_beside(how, &on, &more);
            value = value.and(&more).and(&gives);
        }
        Some(value)
    }

    /// What functions give back that get more than the values: `s.apply(f, args=(a,))`, `g.agg(f, a)`.
    fn gives_beside(&mut self, how: &'a Expr, on: &Value<'a>, more: &Value<'a>) -> Value<'a> {
        let to = self.eval(how);
        let mut out = self.hand_over(&to, &on.clone().and(more));
        let given = Given {
            positional: vec![on.clone().without(GROUPED)],
            rest: Some(more.clone().opened()),
            ..Given::default()
        };
        for id in to.funcs.clone() {
            let gives = self.call_function(id, &given);
            out = out.and(&gives);
        }
        out
    }

    /// Values by other names: `t["c"].map({"N": "North"})`.
    fn named_anew(&mut self, on: &Value<'a>, names: &'a ast::ExprDict) -> Value<'a> {
        let keys = names.keys.iter().flatten();
        let given = self.union(keys.chain(&names.values));
        let numbers = names.values.iter().all(|e| self.is_number(e));
        let mut out = on.clone().without(LIST | FRAME | MASK | NUMERIC | KIND);
        out.texts = None;
        if numbers {
            out = out.with(NUMERIC);
        }
        match given.is_bare() {
            true => out,
            false => out.and(&given).without(WHOLE),
        }
    }

    /// The name of a known function that reduces what it is given.
    fn reducer(&self, how: &Expr) -> Option<Cow<'a, str>> {
        if let Some(path) = self.path(how) {
            let (module, name) = path.rsplit_once('.')?;
            let known = ["numpy", "statistics", "pandas.Series", "pandas.DataFrame"];
            return known.contains(&module).then(|| Cow::Owned(name.to_owned()));
        }
        match how {
            Expr::Name(x) => Some(Cow::Owned(fold(x.id.as_str()).into_owned())),
            _ => None,
        }
    }

    /// Functions in a value, called with a table.
    pub(super) fn applied(&mut self, value: &Value<'a>, on: &Value<'a>) -> Value<'a> {
        if value.funcs.is_empty() {
            return value.clone();
        }
        let mut out = value.held();
        let mut given = Given::one(on.clone().without(GROUPED));
        // What else `functools.partial` gives them.
        if !(value.sites.is_empty() && value.inner.is_empty()) {
            let mut rest = value.clone().opened();
            rest.funcs.clear();
            given.rest = Some(rest);
        }
        for id in value.funcs.clone() {
            let gives = self.call_function(id, &given);
            out.join(&gives);
        }
        out
    }

    pub(super) fn aggregated(&mut self, on: &Value<'a>, x: &'a ast::ExprCall) -> Value<'a> {
        let mut out = Value::default().with(PLAIN);
        let how = x.args.first().or_else(|| word(x, "func"));
        let (on, gets) = Self::parts(on, "agg", x);
        let on = &on;
        if let Some(how) = how {
            let value = self.aggregate(on, how, gets);
            out = out.and(&value);
            let more = self.union(x.args.iter().skip(1));
            if !more.is_void() {
                let gives = self.gives_beside(how, on, &more);
                out = out.and(&more).and(&gives);
            }
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
                    self.aggregate(&column, &pair.elts[1], gets.nested())
                }
                Expr::Call(call) if call.args.len() == 2 && !call.func.is_name_expr() => {
                    let column = self.named(on, &call.args[0]);
                    self.aggregate(&column, &call.args[1], gets.nested())
                }
                how => self.aggregate(on, how, gets.nested()),
            };
            let mut made = value.clone();
            made.index = Default::default();
            self.named_for(
                name.as_str(),
                &value,
                None,
                keyword.range.start().to_usize(),
            );
            self.results_in(name.as_str(), &made);
            out = out.and(&value);
        }
        if on.has(GROUPED) {
            out.as_is.add(&on.index);
            out.index.add(&on.index);
        }
        // The table is a new one.
        out = match on.has(TABLE) {
            true => out.enclosed(),
            false => out,
        };
        let named = how.is_none() && on.has(PLAIN);
        if !how.is_some_and(Expr::is_constant_expr) {
            out = out.without(COLUMN);
        }
        let table = on.flags & (TABLE | if on.has(GROUPED) { WHOLE } else { 0 });
        out.without(GROUPED | KIND)
            .with(table | if named { PLAIN } else { 0 })
    }

    /// The table after one function: a name, a list of names, a function of the snippet.
    pub(super) fn aggregate(&mut self, on: &Value<'a>, how: &'a Expr, gets: Gets) -> Value<'a> {
        match how {
            Expr::List(x) => self.each(on, &x.elts, gets.nested()),
            Expr::Tuple(x) => self.each(on, &x.elts, gets.nested()),
            Expr::Dict(x) => {
                let mut out = Value::default();
                for (key, how) in x.keys.iter().zip(&x.values) {
                    let part = match key {
                        Some(key) => self.named(on, key),
                        None => on.clone(),
                    };
                    let one = self.aggregate(&part, how, gets.nested());
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
                    let part = match gets.own {
                        Part::Value => Self::element(on),
                        Part::Whole => on.clone(),
                    };
                    let mut out = self.applied(&value, &part);
                    if on.has(GROUPED) {
                        out.as_is.add(&on.index);
                        out.index.add(&on.index);
                    }
                    return out;
                }
                let names: Vec<Cow<'a, str>> = match (&value.texts, how) {
                    (Some(texts), _) => texts.iter().map(|t| Cow::Borrowed(*t)).collect(),
                    (None, how) if value.is_nothing() && gets.known == Part::Whole => {
                        self.reducer(how).into_iter().collect()
                    }
                    _ => Vec::new(),
                };
                let summing = |name: &Cow<'a, str>| {
                    (SUMMING.contains(&&**name) || **name == *"len") && !self.own.contains(name)
                };
                if names.is_empty() || !names.iter().all(summing) {
                    let kept = match on.has(BY_COLUMN) && names.iter().all(|n| is_pick(n)) {
                        true => WHOLE,
                        false => 0,
                    };
                    let out = on
                        .clone()
                        .without(GROUPED | (WHOLE & !kept) | NUMERIC | KIND);
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

    fn each(&mut self, on: &Value<'a>, all: &'a [Expr], gets: Gets) -> Value<'a> {
        let mut out = Value::default();
        for how in all {
            let one = self.aggregate(on, how, gets);
            for name in stmts::literal(how).into_iter().flatten() {
                let mut made = one.clone();
                made.index = Default::default();
                self.results_in(name, &made);
            }
            out = out.and(&one);
        }
        out
    }
}

/// Whether a function takes one value of each group.
fn is_pick(name: &str) -> bool {
    matches!(name, "first" | "last" | "max" | "min")
}

/// Whether an axis is the one along the rows.
pub(super) fn is_down(e: &Expr) -> bool {
    match e {
        Expr::Constant(x) => match &x.value {
            ast::Constant::Int(n) => n.to_string() == "0",
            ast::Constant::Str(t) => matches!(t.as_str(), "index" | "rows"),
            _ => false,
        },
        _ => false,
    }
}
