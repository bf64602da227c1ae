//! Functions of the snippet: each call goes through the body with what it gives.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::value::{FIXED, TABLE, Value};
use super::{Pass, fold};
use crate::analysis::parse::ast::{self, Expr, Stmt};

/// Calls in calls that are followed.
const NESTED: usize = 32;

/// The names of one scope.
#[derive(Default)]
pub(super) struct Frame<'a> {
    pub names: HashMap<Cow<'a, str>, Value<'a>>,
    /// `global` and `nonlocal`.
    pub outer: HashSet<Cow<'a, str>>,
    /// What the function returns.
    pub gives: Value<'a>,
    /// Whether the scope around it is the one that the text has around it.
    pub inner: bool,
    /// Whether it may run later than it stands: functions, generators.
    pub later: bool,
    pub comprehension: bool,
    /// Loops of the function around what is looked at.
    pub rounds: usize,
}

pub(super) struct Func<'a> {
    at: usize,
    pub args: &'a ast::Arguments,
    pub body: Body<'a>,
    called: bool,
    busy: bool,
    /// Whether it calls itself, as a loop.
    recurs: bool,
    /// What recursive calls gave.
    again: Value<'a>,
    gives: Value<'a>,
}

#[derive(Clone, Copy)]
pub(super) enum Body<'a> {
    Statements(&'a [Stmt]),
    Expression(&'a Expr),
}

/// What a call gives.
#[derive(Default)]
pub(super) struct Given<'a> {
    pub positional: Vec<Value<'a>>,
    pub keywords: Vec<(&'a str, Value<'a>)>,
    /// What any parameter may get.
    pub rest: Option<Value<'a>>,
}

impl<'a> Given<'a> {
    /// Every parameter may get this.
    pub fn all(value: Value<'a>) -> Self {
        Self {
            rest: Some(value),
            ..Self::default()
        }
    }

    pub fn one(value: Value<'a>) -> Self {
        Self {
            positional: vec![value],
            ..Self::default()
        }
    }

    /// The same behind the object that the method belongs to.
    pub fn of(mut self, object: Value<'a>) -> Self {
        self.positional.insert(0, object);
        self
    }

    /// The same, as values that change from call to call.
    fn unfixed(&self) -> Self {
        let each = |v: &Value<'a>| v.clone().without(FIXED);
        Self {
            positional: self.positional.iter().map(each).collect(),
            keywords: self
                .keywords
                .iter()
                .map(|(word, v)| (*word, each(v)))
                .collect(),
            rest: self.rest.as_ref().map(each),
        }
    }

    /// Where the result may have been made, if it may be or hold what is given.
    pub fn sites(&self, on: &Value<'a>, at: usize) -> Vec<u32> {
        let mut out = Value {
            sites: vec![super::number(at)],
            ..Value::default()
        };
        let given = self
            .positional
            .iter()
            .chain(self.keywords.iter().map(|(_, v)| v));
        for value in given.chain(&self.rest).chain([on]) {
            // A table is copied, its cells are not.
            let sites = match value.has(TABLE) {
                true => value.inner.clone(),
                false => value.reached(),
            };
            out.join(&Value {
                sites,
                ..Value::default()
            });
        }
        out.sites
    }

    /// The same, if the result may hold, but not be a part of what is given.
    pub fn own_sites(&self, at: usize) -> Vec<u32> {
        let given = self
            .positional
            .iter()
            .chain(self.keywords.iter().map(|(_, v)| v));
        let mut out = Value {
            sites: vec![super::number(at)],
            ..Value::default()
        };
        for value in given.chain(&self.rest).filter(|v| !v.has(TABLE)) {
            out.join(&Value {
                sites: value.sites.clone(),
                ..Value::default()
            });
        }
        out.sites
    }

    /// Everything in it.
    pub fn union(&self) -> Value<'a> {
        let mut all = Value::default();
        let given = self
            .positional
            .iter()
            .chain(self.keywords.iter().map(|(_, v)| v));
        given
            .chain(&self.rest)
            .for_each(|v| all = std::mem::take(&mut all).and(v));
        all
    }
}

impl<'a> Pass<'a> {
    /// The function that the text has at this offset.
    pub(super) fn function(&mut self, at: usize, args: &'a ast::Arguments, body: Body<'a>) -> u32 {
        if let Some(id) = self.func_at.get(&at) {
            return *id;
        }
        let id = super::number(self.funcs.len());
        self.func_at.insert(at, id);
        self.funcs.push(Func {
            at,
            args,
            body,
            called: false,
            busy: false,
            recurs: false,
            again: Value::default(),
            gives: Value::default(),
        });
        id
    }

    /// What a call of the function gives back.
    pub(super) fn call_function(&mut self, id: u32, given: &Given<'a>) -> Value<'a> {
        let at = id as usize;
        let Some(func) = self.funcs.get_mut(at) else {
            return Value::default();
        };
        func.called = true;
        if func.busy {
            self.changed |= !func.recurs;
            func.recurs = true;
            let all = given.union();
            self.changed |= func.again.join(&all);
            return func.gives.clone().and(&all);
        }
        let (args, body) = (func.args, func.body);
        self.tangled |= self.frames.len() > NESTED;
        if !self.step() {
            return given.union();
        }
        self.funcs[at].busy = true;
        let weak = std::mem::take(&mut self.weak);
        let sweeps = usize::from(self.funcs[at].recurs);
        self.sweeps += sweeps;
        let again = self.funcs[at].again.clone();
        self.frames.push(Frame {
            later: true,
            ..Frame::default()
        });
        match self.funcs[at].recurs {
            true => self.parameters(args, &given.unfixed(), &again),
            false => self.parameters(args, given, &again),
        }
        let around = self.enters(self.funcs[at].at);
        match body {
            Body::Statements(body) => self.body(body),
            Body::Expression(e) => {
                let value = self.eval(e);
                self.give(&value);
            }
        }
        self.goes_out(around);
        self.weak = weak;
        self.sweeps -= sweeps;
        let frame = self.frames.pop().unwrap_or_default();
        for (name, value) in frame.names {
            if value.is_void() {
                continue;
            }
            match self.left.get_mut(&name) {
                Some(known) => {
                    known.join(&value);
                }
                None => drop(self.left.insert(name, value)),
            }
        }
        let func = &mut self.funcs[at];
        func.busy = false;
        let grew = func.gives.join(&frame.gives);
        self.changed |= grew && !func.again.is_nothing();
        frame.gives
    }

    fn parameters(&mut self, args: &'a ast::Arguments, given: &Given<'a>, again: &Value<'a>) {
        let rest = given.rest.clone().unwrap_or_default().and(again);
        let plain = args.posonlyargs.iter().chain(&args.args);
        let mut taken = 0;
        for (at, one) in plain.enumerate() {
            let name = one.def.arg.as_str();
            let keyword = given.keywords.iter().find(|(word, _)| *word == name);
            let value = given
                .positional
                .get(at)
                .or(keyword.map(|(_, v)| v))
                .cloned();
            self.parameter(one, value, &rest);
            taken = at + 1;
        }
        for one in &args.kwonlyargs {
            let name = one.def.arg.as_str();
            let keyword = given.keywords.iter().find(|(word, _)| *word == name);
            self.parameter(one, keyword.map(|(_, v)| v.clone()), &rest);
        }
        if let Some(one) = &args.vararg {
            let mut all = rest.clone();
            let more = given.positional.iter().skip(taken);
            more.for_each(|v| all = std::mem::take(&mut all).and(v));
            self.bind_name(one.arg.as_str(), all);
        }
        if let Some(one) = &args.kwarg {
            let mut all = rest;
            let more = given.keywords.iter();
            more.for_each(|(_, v)| all = std::mem::take(&mut all).and(v));
            self.bind_name(one.arg.as_str(), all);
        }
    }

    fn parameter(
        &mut self,
        one: &'a ast::ArgWithDefault,
        given: Option<Value<'a>>,
        rest: &Value<'a>,
    ) {
        let mut value = match (given, &one.default) {
            (Some(value), _) => value,
            (None, Some(default)) => self.eval(default),
            (None, None) => Value::default(),
        };
        if !rest.is_void() {
            match value.is_void() {
                true => value = rest.clone(),
                false => {
                    value.join(rest);
                }
            }
        }
        self.bind_name(one.def.arg.as_str(), value);
    }

    /// What the function at hand gives back.
    pub(super) fn give(&mut self, value: &Value<'a>) {
        let value = &self.counted(value.clone());
        if let Some(frame) = self.frames.iter_mut().rev().find(|f| !f.inner) {
            match frame.gives.is_nothing() && frame.gives.texts.is_none() {
                true => frame.gives = value.clone(),
                false => {
                    frame.gives.join(value);
                }
            }
        }
    }

    /// Functions that nothing calls by name may be called with anything.
    pub(super) fn uncalled(&mut self) {
        let mut at = 0;
        while at < self.funcs.len() {
            if !self.funcs[at].called {
                let all = self.everything();
                self.call_function(super::number(at), &Given::all(all));
            }
            at += 1;
        }
    }

    /// Whether functions of the snippet have this name as methods.
    pub(super) fn methods_of(&self, name: &str) -> Vec<u32> {
        match self.methods.is_empty() {
            true => Vec::new(),
            false => self.methods.get(&*fold(name)).cloned().unwrap_or_default(),
        }
    }
}
