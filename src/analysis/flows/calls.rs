//! Calls: what they give back, what they change, and what leaves by them.

use super::exprs::prints;
use super::functions::Given;
use super::value::{
    FIGURE, FIGURES, GROUPED, LIST, MODEL, NUMERIC, PLAIN, PRINTS, TABLE, Value, WINDOW,
};
use super::words::{DRAWING, ELEMENTS, NUMBERS, PURE, SILENT, SUMMING};
use super::{Pass, fold, stmts};
use crate::analysis::inspect::names_in;
use crate::analysis::parse::ast::{self, Expr};
use crate::model::Way;

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
    "copyto",
    "fill_diagonal",
    "place",
    "put",
    "put_along_axis",
    "putmask",
    "shuffle",
];
/// Methods of texts.
const TEXTS: &[&str] = &[
    "capitalize",
    "casefold",
    "center",
    "format",
    "join",
    "ljust",
    "lower",
    "lstrip",
    "replace",
    "rjust",
    "rstrip",
    "strip",
    "title",
    "upper",
    "zfill",
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
    pub(super) fn call(&mut self, x: &'a ast::ExprCall) -> Value<'a> {
        let path = self.path(&x.func);
        let (on, method) = match &*x.func {
            Expr::Attribute(f) if path.is_none() => {
                (self.eval(&f.value), Some(fold(f.attr.as_str())))
            }
            func => (self.eval(func), None),
        };
        if let Some(method) = &method {
            let eval =
                on.has(TABLE) && **method == *"eval" && super::tables::word(x, "inplace").is_none();
            if super::words::is_unseen(method) && !eval {
                self.opens();
            }
            if self.methods_of(method).is_empty()
                && !on.has(PRINTS)
                && on.files.is_empty()
                && !self.writes_at(x, method)
                && let Some(value) = self.table_call(&on, method, x)
            {
                return self.in_place(&on, method, x, value);
            }
        }
        let given = self.given(x);
        let name = match (&method, &path) {
            (Some(method), _) => method.to_string(),
            (None, Some(path)) => path.rsplit('.').next().unwrap_or(path).to_owned(),
            (None, None) => match &*x.func {
                Expr::Name(f) => f.id.to_string(),
                _ => String::new(),
            },
        };
        self.out_of(x, &on, method.is_some(), &name, &given);
        let mut all = given.union();
        if let Some(drawn) = self.drawn(x) {
            all = drawn;
        }
        let draws_here = on.has(FIGURE) || path.as_deref().is_some_and(draws);
        let nothing = name == "show" && draws_here;
        if nothing || method.is_none() && on.has(PRINTS) && on.funcs.is_empty() {
            return Value::default();
        }
        if path.as_deref().is_some_and(prints) {
            return Value::default().with(PRINTS);
        }
        let at = x.range.start().to_usize();
        let written = self.writes_at(x, &name);
        let to_name = x
            .args
            .first()
            .is_some_and(|e| stmts::literal(e).is_some() || e.is_joined_str_expr());
        if written && (to_name || name.starts_with("write")) {
            // Nothing or an open file.
            return Value {
                files: vec![super::number(at)],
                ..Self::made(at)
            };
        }
        let dumps = path.is_some() && name == "dump";
        if dumps || (!on.files.is_empty() && name.starts_with("write")) {
            return Value::default();
        }
        let value = match (&path, &method) {
            (Some(path), _) => self.library(x, path, &name, &given, all),
            (None, None) => self.plain_call(x, &on, &name, &given, all),
            (None, Some(method)) => self.method(x, &on, method, &given, all),
        };
        match written {
            true => Value {
                files: vec![super::number(at)],
                ..value
            },
            false => value,
        }
    }

    fn writes_at(&self, x: &ast::ExprCall, name: &str) -> bool {
        let at = x.range.start().to_usize();
        let known = self.writes.get(&at);
        known.is_some_and(|wanted| wanted == name || x.func.is_name_expr())
    }

    /// Everything that a call gives.
    fn given(&mut self, x: &'a ast::ExprCall) -> Given<'a> {
        let mut given = Given::default();
        let mut rest: Option<Value<'a>> = None;
        for e in &x.args {
            let value = self.eval(e);
            match e.is_starred_expr() {
                true => rest = Some(rest.unwrap_or_default().and(&Self::element(&value))),
                false => given.positional.push(value),
            }
        }
        for keyword in &x.keywords {
            let value = self.eval(&keyword.value);
            match &keyword.arg {
                Some(name) => given.keywords.push((name.as_str(), value)),
                None => {
                    if !value.is_bare() {
                        self.own_any = true;
                    }
                    rest = Some(rest.unwrap_or_default().and(&value));
                }
            }
        }
        given.rest = rest;
        given
    }

    /// What leaves by this call.
    fn out_of(
        &mut self,
        x: &'a ast::ExprCall,
        on: &Value<'a>,
        is_method: bool,
        name: &str,
        given: &Given<'a>,
    ) {
        let at = x.range.start().to_usize();
        let mut all = given.union();
        if is_method {
            all = all.and(on);
        }
        let called = if is_method {
            Value::default()
        } else {
            on.clone()
        };
        let file = given
            .keywords
            .iter()
            .find(|(word, _)| *word == "file")
            .map(|(_, v)| v.clone());
        let by_path = self.path(&x.func).is_some_and(|path| prints(&path));
        let printed = match file {
            Some(file)
                if called.has(PRINTS) && !(file.files.is_empty() && file.sites.is_empty()) =>
            {
                self.put(&file.sites, &all.held());
                file.has(PRINTS)
            }
            _ => called.has(PRINTS) || all.has(PRINTS) || by_path,
        };
        if printed {
            self.leaves(Way::Output, at, name, &all);
        }
        if self.writes_at(x, name) {
            let mut all = all.clone();
            if self.path(&x.func).is_some_and(|path| draws(&path)) {
                all = all.and(&Self::figures());
            }
            self.leaves(Way::File, at, name, &all);
        }
        for file in all.files.clone().into_iter().chain(called.files.clone()) {
            self.leaves(Way::File, file as usize, name, &all);
        }
        let figure = all.has(FIGURE) || self.path(&x.func).is_some_and(|path| draws(&path));
        if figure && name == "show" {
            let all = all.and(&Self::figures());
            self.leaves(Way::Figure, at, name, &all);
        }
    }

    /// The columns that a drawing call names, if it names any.
    fn drawn(&mut self, x: &'a ast::ExprCall) -> Option<Value<'a>> {
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
            let known = |n: &&str| self.by_name.contains_key(n) || self.derived.contains_key(n);
            let names: Vec<&'a str> = names.into_iter().filter(known).collect();
            return (!names.is_empty())
                .then(|| self.narrow(&table, &names, x.range.start().to_usize()));
        }
        let others = x.args.iter().chain(x.keywords.iter().map(|k| &k.value));
        let mut names = Vec::new();
        for e in others.filter(|e| !std::ptr::eq(*e, data)) {
            if e.is_starred_expr() {
                return None;
            }
            if let Some(texts) = stmts::literal(e) {
                let columns = texts
                    .into_iter()
                    .filter(|t| self.by_name.contains_key(t) || self.derived.contains_key(t));
                names.extend(columns);
            } else if self.eval(e).texts.is_some() {
                return None;
            }
        }
        (!names.is_empty()).then(|| self.narrow(&table, &names, x.range.start().to_usize()))
    }

    /// A call of a member of a module.
    fn library(
        &mut self,
        x: &'a ast::ExprCall,
        path: &str,
        name: &str,
        given: &Given<'a>,
        all: Value<'a>,
    ) -> Value<'a> {
        let at = x.range.start().to_usize();
        let top = path.split('.').next().unwrap_or(path);
        if top == "traceback" {
            return self.everything();
        }
        if draws(path) {
            let mut put = all.held().without(PLAIN);
            put.funcs.clone_from(&all.funcs);
            self.put(&[FIGURES], &put);
            return Self::figures();
        }
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
        out.sites = given.sites(&Value::default(), at);
        out.flags = all.flags & !(PLAIN | GROUPED | LIST | WINDOW | MODEL | NUMERIC | TABLE);
        for id in all.funcs.clone() {
            let mut rest = all.clone();
            rest.funcs.retain(|f| *f != id);
            let gives = self.call_function(id, &Given::all(Self::element(&rest)));
            out = out.and(&gives);
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
        if path == "pandas.to_numeric"
            || (top == "numpy"
                && matches!(name, "abs" | "exp" | "log" | "log10" | "log1p" | "sqrt"))
        {
            out = out.with(NUMERIC);
        }
        self.named_by(x, &all);
        if matches!(top, "numpy" | "statistics" | "scipy") && SUMMING.contains(&name) {
            let axis = x
                .keywords
                .iter()
                .any(|k| k.arg.as_ref().is_some_and(|a| a.as_str() == "axis"));
            if x.args.len() == 1 && !axis {
                return self.sums(&all, name, x);
            }
        }
        if top == "scipy" {
            out = out.with(MODEL);
        }
        if prints(path) {
            out = out.with(PRINTS);
        }
        if !QUIET.contains(&top) || CHANGING.contains(&name) {
            self.change(given, &all);
        }
        out
    }

    /// Any argument may be put into any other one.
    fn change(&mut self, given: &Given<'a>, all: &Value<'a>) {
        let held = all.held().without(PLAIN);
        let each = given
            .positional
            .iter()
            .chain(given.keywords.iter().map(|(_, v)| v));
        let sites = each
            .filter(|v| !v.covers(all))
            .flat_map(|v| v.sites.clone());
        self.put(&sites.collect::<Vec<u32>>(), &held);
    }

    /// A call of a function of Python or of the snippet.
    fn plain_call(
        &mut self,
        x: &'a ast::ExprCall,
        on: &Value<'a>,
        name: &str,
        given: &Given<'a>,
        all: Value<'a>,
    ) -> Value<'a> {
        let at = x.range.start().to_usize();
        if !on.funcs.is_empty() {
            let mut out = on.held();
            for id in on.funcs.clone() {
                let gives = match self.makers.contains(&id) {
                    true => {
                        let object = Self::made(at).and(&all);
                        let given = Given {
                            positional: given.positional.clone(),
                            keywords: given.keywords.clone(),
                            rest: given.rest.clone(),
                        };
                        self.call_function(id, &given.of(object.clone()));
                        object
                    }
                    false => self.call_function(id, given),
                };
                out.join(&gives);
                if out.texts.is_none() && out.is_bare() {
                    out.texts.clone_from(&gives.texts);
                }
            }
            return out;
        }
        let known = self.look_up(&fold(name)).is_none() && x.func.is_name_expr();
        for (word, value) in &given.keywords {
            self.derive(word, value);
            if known && name == "type" {
                self.own_any = true;
            }
        }
        if known && SILENT.contains(&name) {
            return Value::default();
        }
        if known && name == "sum" && x.args.len() == 1 {
            return self.sums(&all, "sum", x);
        }
        let mut out = Self::made(at).and(&all).and(on);
        out.sites = given.sites(on, at);
        out.flags = all.flags & !(GROUPED | WINDOW | NUMERIC | LIST | MODEL | TABLE);
        if !(known && (ELEMENTS.contains(&name) || name == "dict" && x.args.is_empty())) {
            out = out.without(PLAIN);
        }
        if known && ELEMENTS.contains(&name) && x.args.len() == 1 {
            out.texts
                .clone_from(&given.positional.first().and_then(|v| v.texts.clone()));
            out = out.with(LIST);
        }
        if known && matches!(name, "int" | "float" | "bool" | "abs" | "round") {
            out = Value {
                sites: Vec::new(),
                ..out
            }
            .with(NUMERIC);
        }
        if known && matches!(name, "enumerate" | "zip") {
            // Texts stand beside numbers and other texts.
            out.texts = None;
        }
        for id in all.funcs.clone() {
            let mut rest = all.clone();
            rest.funcs.retain(|f| *f != id);
            let gives = self.call_function(id, &Given::all(Self::element(&rest)));
            out = out.and(&gives);
        }
        if !(known && PURE.contains(&name)) {
            self.change(given, &all);
        }
        out
    }

    /// A call of a method that the pass does not know.
    fn method(
        &mut self,
        x: &'a ast::ExprCall,
        on: &Value<'a>,
        name: &str,
        given: &Given<'a>,
        all: Value<'a>,
    ) -> Value<'a> {
        let at = x.range.start().to_usize();
        self.named_by(x, &all.clone().and(on));
        if on.has(FIGURE) {
            self.put(&[FIGURES], &all.held().without(PLAIN));
            return Self::figures();
        }
        for (word, value) in &given.keywords {
            self.derive(word, value);
        }
        let mut out = Self::made(at).and(on).and(&all);
        out.sites = match on.is_nothing() && TEXTS.contains(&name) {
            // A text is never changed.
            true => Vec::new(),
            false => given.sites(on, at),
        };
        out.flags &= !(PLAIN | GROUPED | LIST | WINDOW | NUMERIC | MODEL | TABLE);
        if on.has(MODEL) && all.is_bare() {
            out = match name {
                "conf_int" | "summary" if !self.own_any => super::tables::summed_up(&out),
                _ => out,
            };
            out = out.with(MODEL);
        }
        let own = self.methods_of(name);
        for id in own.iter().chain(&on.funcs).copied().collect::<Vec<u32>>() {
            let given = Given {
                positional: given.positional.clone(),
                keywords: given.keywords.clone(),
                rest: given.rest.clone(),
            };
            let gives = match own.contains(&id) {
                true => self.call_function(id, &given.of(on.clone())),
                false => self.call_function(id, &given),
            };
            out = out.and(&gives);
        }
        for id in all.funcs.clone() {
            let mut rest = all.clone().and(on);
            rest.funcs.retain(|f| *f != id);
            let gives = self.call_function(id, &Given::all(Self::element(&rest)));
            out = out.and(&gives);
        }
        if NUMBERS.contains(&name) {
            out = out.with(NUMERIC);
        }
        if name == "fit" && !self.own_any {
            out = out.with(MODEL);
        }
        if name == "keys" && on.has(LIST) {
            out.texts.clone_from(&on.texts);
            out = out.with(LIST);
        }
        // What is given may be kept in the object, and the object may be written into what is given.
        let mut put = all.clone().without(PLAIN);
        put.texts = given.positional.last().and_then(|v| v.texts.clone());
        self.put(&on.sites, &put);
        if !on.is_bare() {
            let held = on.held().without(PLAIN);
            let each = given
                .positional
                .iter()
                .chain(given.keywords.iter().map(|(_, v)| v));
            let others: Vec<u32> = each
                .filter(|v| !v.has(PLAIN) && !v.covers(on))
                .flat_map(|v| v.sites.clone())
                .collect();
            self.put(&others, &held);
        }
        out
    }

    /// `name="c"`: a column of this name is made of the rest.
    fn named_by(&mut self, x: &'a ast::ExprCall, all: &Value<'a>) {
        for keyword in &x.keywords {
            if keyword
                .arg
                .as_ref()
                .is_some_and(|a| super::words::NAMING.contains(&a.as_str()))
            {
                match stmts::literal(&keyword.value) {
                    Some(names) => names.iter().for_each(|name| self.derive(name, all)),
                    None if matches!(keyword.value, Expr::Constant(_)) => {}
                    None => self.derive_any(all),
                }
            }
        }
    }

    /// A table that a method changes in place.
    fn in_place(
        &mut self,
        on: &Value<'a>,
        method: &str,
        x: &ast::ExprCall,
        value: Value<'a>,
    ) -> Value<'a> {
        let inplace = x
            .keywords
            .iter()
            .any(|k| k.arg.as_ref().is_none_or(|a| a.as_str() == "inplace"));
        if inplace {
            if !super::words::IN_PLACE.contains(&method) {
                self.opens();
            }
            self.put(&on.sites, &value);
        }
        value
    }
}

fn draws(path: &str) -> bool {
    DRAWING.contains(&path.split('.').next().unwrap_or(path))
}
