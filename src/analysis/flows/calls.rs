//! Calls: what they give back, what they change, and what leaves by them.

use super::coarse::came_through;
use super::exprs::prints;
use super::functions::Given;
use super::iterators::{ITERATING, ITERATORS};
use super::library::draws;
use super::puts::{VIEWING, contains, mutates};
use super::unseen::{configures, describes, hides, lists_back, reads_back};
use super::value::{
    BOUND, CHANGER, DRAWN, FIGURE, FIXED, KIND, LIST, MADE_ANEW, MASK, MODEL, NUMERIC, ORIGIN,
    PLAIN, PRINTS, SINGLE, TABLE, Value, WHOLE,
};
use super::words::{
    EACH_ROW, ELEMENTS, HANDING, MANY, MASKS, NUMBERS, PURE, SHOWING, SILENT, TEXTS, WRITTEN,
};
use super::{Pass, fold, stmts};
use crate::analysis::parse::ast::{self, Expr};
use crate::model::Way;

/// Methods of arrays that may write into an argument.
const FILLING: &[&str] = &[
    "all", "any", "argmax", "argmin", "choose", "clip", "compress", "cumprod", "cumsum", "dot",
    "max", "mean", "min", "prod", "ptp", "round", "std", "sum", "take", "trace", "var",
];

impl<'a> Pass<'a> {
    pub(super) fn call(&mut self, x: &'a ast::ExprCall) -> Value<'a> {
        let value = self.called(x);
        let name = match &*x.func {
            Expr::Attribute(f) => f.attr.as_str(),
            Expr::Name(f) => f.id.as_str(),
            _ => return value,
        };
        // `open("a.txt", "w")` reads nothing.
        let mode = x.args.get(1).and_then(stmts::literal);
        let only = mode.is_some_and(|mode| !mode.iter().any(|m| m.contains(['r', '+'])));
        match name {
            "open" if only => value,
            name if reads_back(name) && !self.written.is_bare() => value.and(&self.written),
            name if lists_back(name) && !self.named.is_bare() => value.and(&self.named),
            _ => value,
        }
    }

    /// `len(t)` and the like: it says nothing of the values, unless a length does.
    fn silent(&mut self, x: &'a ast::ExprCall) -> Option<Value<'a>> {
        let (Expr::Name(f), [one]) = (&*x.func, x.args.as_slice()) else {
            return None;
        };
        let name = f.id.as_str();
        let plain = SILENT.contains(&name) && x.keywords.is_empty() && !one.is_starred_expr();
        if !plain || self.look_up(&fold(name)).is_some() {
            return None;
        }
        let one = self.base(one);
        if name != "len" || !one.has(SINGLE) {
            return Some(Value::default());
        }
        self.touches(&one);
        Some(
            one.held()
                .without(PLAIN | TABLE | MASK)
                .with(NUMERIC | SINGLE),
        )
    }

    fn called(&mut self, x: &'a ast::ExprCall) -> Value<'a> {
        if let Some(value) = self.silent(x) {
            return value;
        }
        let at = x.range.start().to_usize();
        self.prints_by(x);
        let path = self.path(&x.func);
        if let Some(path) = &path {
            self.alters_into(x, path);
        }
        let (on, method) = match &*x.func {
            Expr::Attribute(f) if path.is_none() => {
                (self.base(&f.value), Some(fold(f.attr.as_str())))
            }
            func => (self.eval(func), None),
        };
        if let Some(method) = &method {
            self.alters_by(x, &on, method);
            if hides(method) {
                self.loses_sight(at);
            }
            let text = x.args.first().or_else(|| super::tables::word(x, "expr"));
            if let ("eval" | "query", Some(text)) = (&**method, text) {
                let named = self.evaluated(text, at);
                // The rows that are left of a table of the snippet's own say what the condition was.
                if (**method == *"eval" || on.is_bare()) && !named.is_bare() {
                    let all = named.and(&on).without(PLAIN | MASK | WHOLE);
                    self.put(&on.sites, &all);
                    return all;
                }
            }
            let eval =
                on.has(TABLE) && **method == *"eval" && super::tables::word(x, "inplace").is_none();
            if super::words::is_unseen(method) && !eval {
                self.opens();
            }
            let word = |k: &ast::Keyword| {
                let name = k.arg.as_ref().map(|a| a.as_str());
                name.is_some_and(|name| WRITTEN.contains(&name))
            };
            if x.keywords.iter().any(word) || x.args.len() > 1 && FILLING.contains(&&**method) {
                let given = self.given(x);
                let all = given.union().and(&on);
                self.change(&given, &all);
            }
            if self.methods_of(method).is_empty()
                && !on.has(PRINTS)
                && on.files.is_empty()
                && !self.writes_at(x, method)
                && let Some(mut value) = self.table_call(&on, method, x)
            {
                if value.sites.is_empty() {
                    let site = super::number(x.range.end().to_usize());
                    value.sites = vec![site];
                    if matches!(&**method, "pivot_table" | "unstack") {
                        self.unnamed.insert(site);
                    }
                }
                value = came_through(value, method, x);
                return self.in_place(&on, method, x, value.without(BOUND | CHANGER));
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
        let to_print = on.has(PRINTS) || path.as_deref().is_some_and(prints);
        if to_print && configures(&name) {
            self.configured(&given, at);
        }
        let mut all = given.union();
        if let Some(drawn) = self.drawn(x) {
            all = drawn;
        }
        let draws_here = on.has(FIGURE) || path.as_deref().is_some_and(draws);
        let nothing = name == "show" && draws_here;
        // `logging.getLogger("a")`, `logging.StreamHandler()`.
        if path.as_deref().is_some_and(prints)
            && name.starts_with(|c: char| c == 'g' || c.is_ascii_uppercase())
        {
            return all.held().with(PRINTS);
        }
        if nothing || method.is_none() && on.has(PRINTS) && on.funcs.is_empty() {
            return Value::default();
        }
        let written = self.writes_at(x, &name);
        let to_name = match (x.args.first(), given.positional.first()) {
            (Some(e), Some(v)) => stmts::literal(e).is_some() || v.is_immutable(),
            _ => false,
        };
        if written && (to_name || name.starts_with("write")) {
            // Nothing or an open file.
            return Value {
                files: vec![super::number(at)],
                ..Self::made(at)
            };
        }
        let dumps = path.is_some() && name == "dump";
        if dumps {
            self.change(&given, &all);
        }
        if dumps || (!on.files.is_empty() && name.starts_with("write")) {
            return Value::default();
        }
        let value = match (&path, &method) {
            (Some(path), _) => self.library(x, path, &name, &given, all),
            (None, None) => self.plain_call(x, &on, &name, &given, all),
            (None, Some(method)) => {
                let value = self.method(x, &on, method, &given, all);
                match &**method {
                    "digest" | "hexdigest" => self.hashed(value, x),
                    _ => value,
                }
            }
        };
        let value = match self.makes_text(x, &on) {
            true => value.immutable(),
            false => value,
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
                self.put(&file.reached(), &all.held());
                file.has(PRINTS)
            }
            _ => called.has(PRINTS) || all.has(PRINTS) || by_path,
        };
        // An error's text can have any value.
        let error = by_path && matches!(name, "exception" | "print_exc" | "print_exception");
        if error || by_path && given.keywords.iter().any(|(word, _)| *word == "exc_info") {
            all = all.and(&self.everything());
        }
        if printed || is_method && SHOWING.contains(&name) {
            self.leaves(Way::Output, at, name, &all);
        }
        if self.writes_at(x, name) {
            let mut all = all.clone();
            if self.path(&x.func).is_some_and(|path| draws(&path)) {
                all = all.and(&Self::figures());
            }
            self.leaves(Way::File, at, name, &all);
            let named = match name.starts_with("write") {
                true => on.held(),
                false => given.positional.first().cloned().unwrap_or_default(),
            };
            self.changed |= self.named.join(&named.held().without(PLAIN | TABLE));
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
            let kept = on.sites.iter().any(|site| self.caches.contains(site));
            if kept {
                self.put(&on.sites, &all.held().without(PLAIN));
            }
            let mut out = if kept { Value::default() } else { on.held() };
            for id in on.funcs.clone() {
                if self.of_classes.contains(&id) && !self.makers.contains(&id) {
                    // A method that was taken from its object.
                    let bound = Given {
                        positional: given.positional.clone(),
                        keywords: given.keywords.clone(),
                        rest: given.rest.clone(),
                    };
                    let gives = self.call_function(id, &bound.of(on.clone()));
                    out.join(&gives);
                }
                let gives = match self.makers.contains(&id) {
                    true => {
                        let object = Self::made(at).and(&all).and(&on.held());
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
        let known = match &*x.func {
            Expr::Name(f) => self.look_up(&fold(f.id.as_str())).is_none(),
            _ => false,
        };
        if known && (describes(name) || hides(name) || name == "type" && x.args.len() > 1) {
            self.loses_sight(at);
        }
        if !known {
            // A method that was taken from its object, or a function that was made of others.
            let held = all.held().without(PLAIN);
            self.put(&on.reached(), &held);
        }
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
            let rows = self.number_of_rows(x, &all);
            return rows.unwrap_or_else(|| self.sums(&all, "sum", x));
        }
        let mut out = Self::made(at).and(&all).and(on);
        out.sites = given.sites(on, at);
        out.flags = all.flags & !MADE_ANEW;
        let made = known && !HANDING.contains(&name);
        if made || known && !given.positional.iter().any(|v| v.has(BOUND | CHANGER)) {
            out = out.without(BOUND | CHANGER);
        }
        if !(known && MANY.contains(&name)) {
            out = out.single();
        }
        if !(known && (ELEMENTS.contains(&name) || name == "dict" && x.args.is_empty())) {
            out = out.without(PLAIN);
        }
        if known && ELEMENTS.contains(&name) && x.args.len() == 1 {
            out.texts
                .clone_from(&given.positional.first().and_then(|v| v.texts.clone()));
            out = out.with(LIST);
        }
        if known && name == "range" {
            out = out.with(NUMERIC);
        }
        if known && matches!(name, "int" | "float" | "bool" | "abs" | "round") {
            out = Value {
                sites: Vec::new(),
                inner: Vec::new(),
                ..out
            }
            .with(NUMERIC);
        }
        if known && matches!(name, "enumerate" | "zip") {
            // Texts stand beside numbers and other texts.
            out.texts = None;
        }
        let often = match all.has(SINGLE) {
            true => all.held(),
            false => Value::default(),
        };
        let mut until = Value::default();
        for id in all.funcs.clone() {
            let mut rest = all.clone();
            rest.funcs.retain(|f| *f != id);
            let rest = Given::all(Self::element(&rest));
            let gives = self.counting(&often, |pass| pass.call_function(id, &rest));
            until = until.and(&gives.held());
            out = out.and(&gives);
        }
        self.draws_with(given, &until);
        if known && ITERATORS.contains(&name) {
            out = out.with(DRAWN);
        }
        self.keep_bound(given, &all);
        if !(known && PURE.contains(&name)) {
            self.change(given, &all.clone().and(on));
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
        self.named_by(x, &all.clone().and(on));
        if on.has(FIGURE) {
            self.draws_by(&all);
            return Self::figures();
        }
        if !contains(name) {
            self.draws_with(given, &on.held());
        }
        let out = self.method_of(x, on, name, given, all);
        match ITERATING.contains(&name) && !on.has(LIST) {
            true => out.with(DRAWN),
            false => out,
        }
    }

    fn method_of(
        &mut self,
        x: &'a ast::ExprCall,
        on: &Value<'a>,
        name: &str,
        given: &Given<'a>,
        all: Value<'a>,
    ) -> Value<'a> {
        let at = x.range.start().to_usize();
        for (word, value) in &given.keywords {
            self.derive(word, value);
        }
        let mut out = Self::made(at).and(on).and(&all);
        let text = on.is_nothing() && on.sites.is_empty() && TEXTS.contains(&name);
        out.sites = match text {
            // A text is never changed.
            true => Vec::new(),
            false => given.sites(on, at),
        };
        if on.has(TABLE) && matches!(name, "update" | "isetitem") || mutates(name) && !on.is_bare()
        {
            self.thins(&on.sites.clone());
        }
        if on.has(TABLE) && VIEWING.contains(&name) {
            let view = self.copied(on, x.range.end().to_usize(), true);
            out.sites.extend(view);
        }
        let (table, mask) = (on.has(TABLE), on.flags & MASK);
        out.flags &= !(PLAIN | MADE_ANEW);
        if !HANDING.contains(&name) {
            out = out.without(BOUND | CHANGER);
        }
        let each = table
            && matches!(&*x.func, Expr::Attribute(f) if matches!(&*f.value, Expr::Attribute(by)
                if matches!(by.attr.as_str(), "str" | "dt")));
        if each {
            out = out.with(TABLE);
        } else if MANY.contains(&name) {
            out = out.with(LIST | mask);
        } else {
            out = out.single();
        }
        if each && EACH_ROW.contains(&name) || matches!(name, "to_numpy" | "tolist" | "to_list") {
            let set = |v: &Value<'a>| !each || self.is_set(v) || v.has(FIXED);
            let words = given.keywords.iter().map(|(_, v)| v);
            let set = all.is_bare() && given.positional.iter().chain(words).all(set);
            out.flags |= on.flags & if set { WHOLE } else { 0 };
            if !each && x.args.is_empty() && x.keywords.is_empty() {
                out.flags |= on.flags & (KIND | NUMERIC | ORIGIN);
            }
        }
        if name == "fit" && all.is_bare() {
            out.flags |= on.flags & WHOLE;
        }
        if on.has(MODEL) && all.is_bare() {
            out.flags |= on.flags & WHOLE;
            out = match name {
                "conf_int" | "summary" if !self.own_any => super::sums::summed_up(&out),
                _ => out,
            };
            out = out.with(MODEL);
        }
        let own = self.methods_of(name);
        if table && own.is_empty() && MASKS.contains(&name) {
            out = out.with(MASK);
        }
        if each && own.is_empty() {
            out = self.of_each(out, on, name, x);
        }
        let mut given_back = Value::default();
        for id in own.iter().chain(&on.funcs).copied().collect::<Vec<u32>>() {
            let given = Given {
                positional: given.positional.clone(),
                keywords: given.keywords.clone(),
                rest: given.rest.clone(),
            };
            let gives = match own.contains(&id) {
                true => {
                    // `A.f(x)` has no object.
                    let bare = self.call_function(id, &given);
                    let bound = self.call_function(id, &given.of(on.clone()));
                    bare.and(&bound)
                }
                false => self.call_function(id, &given),
            };
            out = out.and(&gives);
        }
        for id in all.funcs.clone() {
            let mut rest = all.clone().and(on);
            rest.funcs.retain(|f| *f != id);
            let gives = self.call_function(id, &Given::all(Self::element(&rest)));
            given_back = given_back.and(&gives.held());
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
        let given_back = all.clone().and(&given_back);
        self.keeps(on, name, given, &all, given_back);
        out
    }
}
