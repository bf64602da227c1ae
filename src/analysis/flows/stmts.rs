//! Statements.

use super::value::{
    FIXED, FRAME, GROUPED, KIND, LIST, NUMERIC, ORIGIN, PLAIN, PRINTS, SINGLE, TABLE, Value,
};
use super::{Pass, fold};
use crate::analysis::parse::ast::{self, Constant, Expr, Pattern, Ranged, Stmt};
use crate::model::Way;
use crate::policy::Contract;

impl<'a> Pass<'a> {
    pub(super) fn body(&mut self, body: &'a [Stmt]) {
        let top = self.frames.len() == 1 && self.weak == 0;
        for (at, statement) in body.iter().enumerate() {
            if !self.step() {
                return;
            }
            let last = top && at + 1 == body.len();
            self.statement(statement, last);
        }
    }

    fn statement(&mut self, s: &'a Stmt, last: bool) {
        self.here = s.range().start().to_usize();
        match s {
            Stmt::Expr(x) => {
                let value = self.eval(&x.value);
                let shown = matches!(self.contract, Contract::Analysis | Contract::Chart);
                if last && shown && !self.shows(&x.value) {
                    self.leaves(Way::Value, x.range.start().to_usize(), "last value", &value);
                }
            }
            Stmt::Assign(x) => {
                let value = self.eval(&x.value);
                for target in &x.targets {
                    self.assign(target, &value, Some(&x.value));
                }
            }
            Stmt::AnnAssign(x) => {
                let annotation = self.eval(&x.annotation);
                if !annotation.is_bare() {
                    self.loses_sight(x.range.start().to_usize());
                }
                if let Some(e) = &x.value {
                    let value = self.eval(e);
                    self.assign(&x.target, &value, Some(e));
                }
            }
            Stmt::AugAssign(x) => {
                let mut hows = self.how_augmented(x.op, &x.value);
                if let Expr::Subscript(target) = &*x.target {
                    hows.extend(self.how_picked(target));
                }
                self.explains(x.target.range().start().to_usize(), hows);
                self.overwrites(&x.target, None, true);
                let before = self.eval(&x.target);
                let value = self.eval(&x.value);
                self.scales(x, &before);
                let (lists, texts) = match (&before.texts, &value.texts) {
                    (Some(a), Some(b)) => (
                        before.has(LIST) && value.has(LIST),
                        Some([a.clone(), b.clone()].concat()),
                    ),
                    _ => (false, None),
                };
                let bent = Self::bends(x.op, &before, &value, &x.value);
                let mut all = before.and(&value).without(ORIGIN);
                if !all.is_bare() {
                    all = all.with(bent);
                }
                all.texts = texts.filter(|_| lists);
                self.adding(x, |pass| pass.assign(&x.target, &all, None));
                // A list grows in place.
                self.put(&all.sites.clone(), &value);
            }
            Stmt::For(x) => self.repeat(&x.target, &x.iter, &x.body, &x.orelse),
            Stmt::AsyncFor(x) => self.repeat(&x.target, &x.iter, &x.body, &x.orelse),
            Stmt::While(x) => {
                self.sweeps += 1;
                let ended = self.looped(|pass| {
                    let test = pass.eval(&x.test);
                    pass.counting(&test, |pass| {
                        pass.round(x.range.start().to_usize(), |pass| pass.body(&x.body));
                    });
                });
                self.sweeps -= 1;
                self.choosing(ended, |pass| pass.branch(&x.orelse));
            }
            Stmt::If(x) => self.branches(x),
            Stmt::With(x) => {
                self.with(&x.items);
                self.body(&x.body);
            }
            Stmt::AsyncWith(x) => {
                self.with(&x.items);
                self.body(&x.body);
            }
            Stmt::Try(x) => self.attempt(&x.body, &x.handlers, &x.orelse, &x.finalbody),
            Stmt::TryStar(x) => self.attempt(&x.body, &x.handlers, &x.orelse, &x.finalbody),
            Stmt::Match(x) => self.cases(x),
            Stmt::FunctionDef(x) => {
                self.definition(x.range, &x.name, &x.args, &x.body, &x.decorator_list);
            }
            Stmt::AsyncFunctionDef(x) => {
                self.definition(x.range, &x.name, &x.args, &x.body, &x.decorator_list);
            }
            Stmt::ClassDef(x) => self.class(x),
            Stmt::Return(x) => {
                if let Some(e) = &x.value {
                    let value = self.eval(e);
                    self.give(&value);
                }
            }
            Stmt::Raise(x) => {
                for e in [&x.exc, &x.cause].into_iter().flatten() {
                    let value = self.eval(e);
                    self.leaves(Way::Output, x.range.start().to_usize(), "raise", &value);
                }
            }
            Stmt::Assert(x) => {
                let test = self.eval(&x.test);
                self.jumps_by(&test);
                if let Some(e) = &x.msg {
                    let value = self.eval(e);
                    self.leaves(Way::Output, x.range.start().to_usize(), "assert", &value);
                }
            }
            Stmt::Global(x) => self.declared(&x.names),
            Stmt::Nonlocal(x) => self.declared(&x.names),
            Stmt::Import(x) => {
                for alias in &x.names {
                    let path = alias.name.as_str();
                    let (name, path) = match &alias.asname {
                        Some(name) => (name.as_str(), path),
                        None => {
                            let top = path.split('.').next().unwrap_or(path);
                            (top, top)
                        }
                    };
                    self.imported(name, path.to_owned(), alias.range.start().to_usize());
                }
            }
            Stmt::ImportFrom(x) => {
                let module = x.module.as_ref().map_or("", |m| m.as_str());
                for alias in &x.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name);
                    let path = format!("{module}.{}", alias.name.as_str());
                    self.imported(name.as_str(), path, alias.range.start().to_usize());
                }
            }
            Stmt::TypeAlias(x) => {
                let value = self.eval(&x.value);
                if !value.is_bare() {
                    self.loses_sight(x.range.start().to_usize());
                }
            }
            Stmt::Delete(x) => x.targets.iter().for_each(|target| self.deleted(target)),
            Stmt::Pass(_) | Stmt::Break(_) | Stmt::Continue(_) => {}
        }
    }

    fn imported(&mut self, name: &'a str, path: String, at: usize) {
        // Objects of these may have any names.
        if ["types", "collections", "dataclasses", "typing"]
            .contains(&path.split('.').next().unwrap_or(""))
        {
            self.own_any = true;
        }
        let member = path.rsplit('.').next().unwrap_or(&path);
        let stored = self.attrs.get(member).is_some_and(|v| !v.is_nothing());
        if stored || super::unseen::hides(member) {
            self.loses_sight(at);
        }
        self.imports.insert(fold(name), path);
    }

    fn declared(&mut self, names: &'a [ast::Identifier]) {
        if let Some(frame) = self.frames.last_mut() {
            frame
                .outer
                .extend(names.iter().map(|name| fold(name.as_str())));
        }
    }

    pub(super) fn branch(&mut self, body: &'a [Stmt]) {
        self.weak += 1;
        self.body(body);
        self.weak -= 1;
    }

    /// Goes through a part until nothing changes any more.
    pub(super) fn again(&mut self, mut part: impl FnMut(&mut Self)) {
        self.weak += 1;
        self.loops += 1;
        let (mut grew, mut changed) = (self.grew, self.changed);
        loop {
            (self.grew, self.changed) = (false, false);
            part(self);
            let more = self.grew || self.changed;
            grew |= self.grew;
            changed |= self.changed;
            if !more || !self.step() {
                break;
            }
        }
        (self.grew, self.changed) = (grew, changed);
        self.loops -= 1;
        self.weak -= 1;
    }

    fn repeat(&mut self, target: &'a Expr, iter: &'a Expr, body: &'a [Stmt], orelse: &'a [Stmt]) {
        let ended = self.looped(|pass| {
            let value = pass.eval(iter);
            pass.assign_element(target, iter, &value);
            let sweeps = usize::from(value.sweeps());
            pass.sweeps += sweeps;
            let length = match value.has(SINGLE) {
                true => value,
                false => {
                    // An iterator goes on where the loop ended.
                    if !pass.counted.is_empty() || value.is_drawn() && !iter.is_call_expr() {
                        pass.put(&value.sites, &Value::default());
                    }
                    Value::default()
                }
            };
            pass.counting(&length, |pass| {
                pass.counts(iter, body, |pass, body| {
                    pass.round(iter.range().start().to_usize(), |pass| pass.body(body));
                });
            });
            pass.sweeps -= sweeps;
        });
        self.choosing(ended, |pass| pass.branch(orelse));
    }

    /// Whether an expression leaves no value: a call that only shows something, a name that is not bound.
    fn shows(&mut self, e: &'a Expr) -> bool {
        if let Expr::Name(x) = e {
            // Nothing binds it: an error.
            return self.look_up(&fold(x.id.as_str())).is_none();
        }
        let Expr::Call(call) = e else { return false };
        let path = self.path(&call.func);
        let plain = matches!(&*call.func, Expr::Name(_));
        if matches!(&*call.func, Expr::Attribute(f) if f.attr.as_str() == "show") {
            return true;
        }
        path.is_some_and(|path| super::exprs::prints(&path))
            || plain && self.base(&call.func).has(PRINTS)
    }

    fn attempt(
        &mut self,
        body: &'a [Stmt],
        handlers: &'a [ast::ExceptHandler],
        orelse: &'a [Stmt],
        last: &'a [Stmt],
    ) {
        let read = self.tried(body);
        self.counting(&read, |pass| pass.handled(body, handlers, orelse, last));
    }

    fn handled(
        &mut self,
        body: &'a [Stmt],
        handlers: &'a [ast::ExceptHandler],
        orelse: &'a [Stmt],
        last: &'a [Stmt],
    ) {
        self.branch(body);
        for handler in handlers {
            let ast::ExceptHandler::ExceptHandler(x) = handler;
            if let Some(name) = &x.name {
                // An error's text can have any value of the body.
                let all = self.everything();
                self.weak += 1;
                self.bind_name(name.as_str(), all);
                self.weak -= 1;
            }
            self.branch(&x.body);
        }
        self.branch(orelse);
        self.branch(last);
    }

    fn with(&mut self, items: &'a [ast::WithItem]) {
        for item in items {
            let value = self.eval(&item.context_expr);
            if let Some(target) = &item.optional_vars {
                self.assign(target, &value, None);
            }
        }
    }

    pub(super) fn pattern(&mut self, p: &'a Pattern, subject: &Value<'a>) {
        match p {
            Pattern::MatchSequence(x) => x.patterns.iter().for_each(|p| self.pattern(p, subject)),
            Pattern::MatchMapping(x) => {
                x.patterns.iter().for_each(|p| self.pattern(p, subject));
                if let Some(name) = &x.rest {
                    self.bind_name(name.as_str(), subject.clone());
                }
            }
            Pattern::MatchClass(x) => {
                x.patterns
                    .iter()
                    .chain(&x.kwd_patterns)
                    .for_each(|p| self.pattern(p, subject));
            }
            Pattern::MatchStar(x) => {
                if let Some(name) = &x.name {
                    self.bind_name(name.as_str(), subject.clone());
                }
            }
            Pattern::MatchAs(x) => {
                if let Some(p) = &x.pattern {
                    self.pattern(p, subject);
                }
                if let Some(name) = &x.name {
                    self.bind_name(name.as_str(), subject.clone());
                }
            }
            Pattern::MatchOr(x) => x.patterns.iter().for_each(|p| self.pattern(p, subject)),
            Pattern::MatchValue(_) | Pattern::MatchSingleton(_) => {}
        }
    }

    /// Gives a target an element: a key and the rows of its group, of a `groupby`.
    pub(super) fn assign_element(&mut self, target: &'a Expr, iter: &'a Expr, over: &Value<'a>) {
        let few = self.goes_through_few(iter, over);
        let mut part = Self::element(over);
        if over.has(GROUPED) {
            // The parts stand in the order of their keys.
            part.labels.add(&over.index);
        }
        if few && part.is_bare() && part.funcs.is_empty() {
            part = part.immutable().with(FIXED);
        }
        let keys = match iter {
            Expr::Call(x) if x.args.is_empty() => match &*x.func {
                Expr::Attribute(f) if f.attr.as_str() == "items" => {
                    let on = self.base(&f.value);
                    on.texts.filter(|_| on.flags & LIST != 0)
                }
                _ => None,
            },
            _ => None,
        };
        let numbered = match iter {
            Expr::Call(x) if !over.has(SINGLE) => match &*x.func {
                Expr::Name(f) => {
                    f.id.as_str() == "enumerate" && self.look_up(&fold("enumerate")).is_none()
                }
                _ => false,
            },
            _ => false,
        };
        match target {
            Expr::Tuple(pair) if keys.is_some() && pair.elts.len() == 2 => {
                let key = Value {
                    texts: keys,
                    ..Value::default()
                };
                self.assign(&pair.elts[0], &key, None);
                self.assign(&pair.elts[1], &part, None);
            }
            Expr::Tuple(pair) if numbered && pair.elts.len() == 2 => {
                self.assign(&pair.elts[0], &Value::default(), None);
                let part = self.as_numbered(iter, part);
                self.assign(&pair.elts[1], &part, None);
            }
            Expr::Tuple(pair) if over.has(GROUPED) && pair.elts.len() == 2 => {
                let key = Value {
                    as_is: over.index.clone(),
                    ..Value::default()
                };
                self.assign(&pair.elts[0], &key, None);
                self.assign(&pair.elts[1], &part, None);
            }
            Expr::Name(x) if part.has(FIXED) => self.bind_name(x.id.as_str(), part),
            target => self.assign(target, &part, None),
        }
    }

    /// Gives a target a value. `from`: the expression that it is, if it is no part of it.
    pub(super) fn assign(&mut self, target: &'a Expr, value: &Value<'a>, from: Option<&'a Expr>) {
        match target {
            Expr::Name(x) => {
                self.rebinds(x.id.as_str(), from, value, x.range.start().to_usize());
                let value = self.bound(value.clone(), from);
                self.bind_name(x.id.as_str(), value);
            }
            Expr::Starred(x) => self.assign(&x.value, value, None),
            Expr::Tuple(ast::ExprTuple { elts, .. }) | Expr::List(ast::ExprList { elts, .. }) => {
                let parts = match from {
                    Some(Expr::Tuple(x)) if x.elts.len() == elts.len() => Some(&x.elts),
                    _ => None,
                };
                let starred = elts.iter().any(Expr::is_starred_expr);
                match parts.filter(|p| !starred && !p.iter().any(Expr::is_starred_expr)) {
                    Some(parts) => {
                        let values: Vec<Value<'a>> = parts.iter().map(|e| self.eval(e)).collect();
                        for ((target, value), e) in elts.iter().zip(&values).zip(parts) {
                            self.assign(target, value, Some(e));
                        }
                    }
                    None => {
                        let part = Self::element(value);
                        elts.iter()
                            .for_each(|target| self.assign(target, &part, None));
                    }
                }
            }
            Expr::Subscript(x) => {
                self.overwrites(target, from, false);
                self.store_item(x, value);
            }
            Expr::Attribute(x) => {
                self.overwrites(target, from, false);
                if let Some(e) = from {
                    self.prints_with(x.attr.as_str(), e);
                }
                let attr = fold(x.attr.as_str());
                if matches!(&*x.value, Expr::Name(n) if n.id.as_str() == "public")
                    && self.contract == Contract::Scoped
                {
                    self.leaves(Way::Public, x.range.start().to_usize(), &attr, value);
                }
                let object = self.base(&x.value);
                if let Some(e) = from.filter(|_| object.has(TABLE)) {
                    match &*attr {
                        "columns" => self.columns_named(&object, &x.value, e),
                        "index" => self.index_named(&object, &x.value, e),
                        _ => {}
                    }
                }
                // Tables that no name of a column is believed of.
                let own = object.has(TABLE) && !object.sites.is_empty();
                let own = own && object.sites.iter().all(|s| self.unnamed.contains(s));
                if matches!(&*attr, "columns" | "names" | "values" | "T")
                    && !(own && &*attr == "columns")
                {
                    self.opens();
                }
                let raw = object.as_is.iter().any(|id| !object.index.has(id));
                if &*attr == "index" && raw && !value.has(super::value::WHOLE) {
                    self.changed |= !self.indexed;
                    self.indexed = true;
                }
                let path = self.path_of(x);
                let kept = !(value.is_bare() && value.funcs.is_empty());
                if super::unseen::hides(&attr)
                    || path.is_some_and(|path| kept || super::exprs::prints(&path))
                {
                    self.loses_sight(x.range.start().to_usize());
                }
                if object.has(super::value::FIGURE) {
                    self.draws_by(value);
                }
                let kept = object.flags & if own { TABLE | FRAME } else { 0 };
                let put = value.clone().without(PLAIN).enclosed().with(kept);
                self.put(&object.sites, &put);
                // `t.index.name = ...` changes the table.
                if let Expr::Attribute(part) = &*x.value {
                    let table = self.base(&part.value);
                    self.put(&table.sites, &value.clone().without(PLAIN | TABLE));
                }
                self.store_attr(attr, value);
            }
            _ => {}
        }
    }

    fn store_item(&mut self, x: &'a ast::ExprSubscript, value: &Value<'a>) {
        let (table, key) = place(x);
        let base = self.base(table);
        let mut put = value.clone().without(SINGLE);
        if base.has(TABLE) {
            put = put.without(super::value::BOUND | super::value::SHAPED);
        }
        put.texts = None;
        let given = self.eval(&x.slice);
        self.hand_over(&given, &base);
        // Places of a list or an array are no rows that a condition names.
        let placed = !base.has(TABLE | PLAIN) && !base.is_bare();
        if placed || base.has(TABLE) && self.thins_by(x, &given, value) {
            self.thins(&base.sites);
        }

        if base.has(TABLE) {
            self.mixes(value);
        }
        if base.sites.is_empty() && !(value.is_nothing() && given.is_bare()) {
            // It is kept where the pass does not look.
            self.loses_sight(x.range.start().to_usize());
        }
        let names = key.map(|key| self.eval(key));
        match key.and_then(literal) {
            Some(names) => {
                for name in names {
                    self.stores(name, value);
                }
            }
            None if key.is_some_and(Expr::is_slice_expr) => {}
            None => match names.and_then(|n| n.texts) {
                Some(texts) => texts.iter().for_each(|name| self.stores(name, value)),
                None => self.derive_any(value),
            },
        }
        let table_of_inputs = base.has(PLAIN) && !base.is_bare();
        let mask = table_of_inputs && given.has(NUMERIC);
        if !mask && !given.is_bare() {
            // A dictionary keeps its keys.
            put = put.and(&given).without(PLAIN);
        } else if base.has(PLAIN) {
            put = put.with(PLAIN | (base.flags & (TABLE | FRAME | KIND)));
        }
        if base.has(ORIGIN) && key.is_some_and(|key| literal(key).is_some()) {
            self.changed |= !self.widened;
            self.widened = true;
            put = put.with(base.flags & ORIGIN);
        }
        self.put(&base.sites, &put.enclosed());
    }
}

/// The table of a subscript, and what names its columns.
pub(super) fn place(x: &ast::ExprSubscript) -> (&Expr, Option<&Expr>) {
    match (&*x.value, &*x.slice) {
        (Expr::Attribute(by), Expr::Tuple(pair)) if matches!(by.attr.as_str(), "loc" | "at") => {
            (&*by.value, pair.elts.last())
        }
        (Expr::Attribute(by), Expr::Tuple(_)) if matches!(by.attr.as_str(), "iloc" | "iat") => {
            (&*by.value, None)
        }
        (Expr::Attribute(by), _) if matches!(by.attr.as_str(), "loc" | "at" | "iloc" | "iat") => {
            (&*by.value, None)
        }
        (base, key) => (base, Some(key)),
    }
}

/// The one literal text that an expression is.
pub(super) fn one_literal(e: &Expr) -> Option<&str> {
    match literal(e)?[..] {
        [text] => Some(text),
        _ => None,
    }
}

/// The literal texts of a key.
pub(super) fn literal(e: &Expr) -> Option<Vec<&str>> {
    fn own(e: &Expr) -> Option<&str> {
        match e {
            Expr::Constant(ast::ExprConstant {
                value: Constant::Str(t),
                ..
            }) => Some(t.as_str()),
            _ => None,
        }
    }
    match e {
        Expr::List(x) if !x.elts.is_empty() => x.elts.iter().map(own).collect(),
        e => own(e).map(|text| vec![text]),
    }
}
