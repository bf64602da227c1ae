//! Evaluation of names, bindings and expressions, with memoization and limits.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::scopes::{ScopeId, ScopeKind, Scopes, address};
use super::value::{ByAddress, Set, Val, Vals};
use crate::analysis::fold::fold;
use crate::analysis::library::{Library, is_builtin, is_telling, library};
use crate::analysis::parse::ast::{self, Constant, Expr, Ranged};
use crate::analysis::walk::Bound;
use crate::policy::Policy;

/// The limit on evaluation steps; no ordinary snippet needs more.
const STEPS: usize = 400_000;
const DEPTH: usize = 6_000;

/// An expression (by its address) and the scope in which it is evaluated.
pub(super) type Key = (usize, ScopeId);

/// The state of an evaluation.
enum Known<'a> {
    /// In progress at this depth, with the values known so far.
    UnderWay(usize, Vals<'a>),
    /// Part of a cycle whose head, at this depth or above, is in progress; found in this round.
    InRound(u32, usize, Vals<'a>),
    Vals(Vals<'a>),
}

/// Evaluates expressions over the scopes of one snippet.
pub struct Resolver<'a> {
    pub scopes: Scopes<'a>,
    pub policy: &'a Policy,
    pub(super) library: &'static Library,
    memo: RefCell<HashMap<Key, Known<'a>>>,
    /// The shallowest evaluation in progress that a cycle returned to.
    low: Cell<usize>,
    /// Expressions evaluated in cycles whose heads are in progress.
    cyclic: RefCell<Vec<Key>>,
    /// Whether the round found anything new, its number, and the last number assigned.
    learnt: Cell<bool>,
    round: Cell<u32>,
    rounds: Cell<u32>,
    steps: Cell<usize>,
    depth: Cell<usize>,
    exhausted: Cell<bool>,
    unknown: Vals<'a>,
    presets: &'static [(&'static str, &'static str)],
}

impl<'a> Resolver<'a> {
    pub fn new(scopes: Scopes<'a>, policy: &'a Policy) -> Self {
        use crate::policy::Contract;
        let presets: &[(&str, &str)] = match policy.contract {
            Contract::Analysis | Contract::Feature => &[("pd", "pandas"), ("np", "numpy")],
            Contract::Chart | Contract::Scoped | Contract::Walled | Contract::Script => &[],
        };
        Self {
            scopes,
            policy,
            library: library(),
            memo: RefCell::default(),
            low: Cell::new(usize::MAX),
            cyclic: RefCell::default(),
            learnt: Cell::new(false),
            round: Cell::new(0),
            rounds: Cell::new(0),
            steps: Cell::new(0),
            depth: Cell::new(0),
            exhausted: Cell::new(false),
            unknown: Rc::new(vec![Val::Unknown]),
            presets,
        }
    }

    /// Whether the snippet was too tangled to follow; its resolved values are then unusable.
    pub fn exhausted(&self) -> bool {
        self.exhausted.get()
    }

    /// The possible values of `e`, evaluated in `scope`.
    ///
    /// Circular evaluations (`x = x.y`, parameters of a recursive function) are repeated in rounds,
    /// each expression once per round, until a round adds nothing.
    pub fn eval(&self, e: &'a Expr, scope: ScopeId) -> Vals<'a> {
        let key = (address(e), scope);
        let so_far = match self.memo.borrow().get(&key) {
            Some(Known::Vals(vals)) => return Rc::clone(vals),
            Some(Known::UnderWay(depth, vals)) => {
                self.low.set(self.low.get().min(*depth));
                return Rc::clone(vals);
            }
            Some(Known::InRound(round, low, vals)) if *round == self.round.get() => {
                self.low.set(self.low.get().min(*low));
                return Rc::clone(vals);
            }
            Some(Known::InRound(_, _, vals)) => Rc::clone(vals),
            None => Rc::new(Vec::new()),
        };
        let depth = self.depth.get();
        // The verdict is already certain, so the values no longer matter.
        if depth > DEPTH || self.exhausted.get() {
            self.exhausted.set(true);
            return Rc::clone(&self.unknown);
        }
        self.depth.set(depth + 1);
        let outer = self.low.replace(usize::MAX);
        let vals = self.rounds(e, key, so_far, depth);
        self.depth.set(depth);
        self.low.set(self.low.get().min(outer));
        vals
    }

    /// Evaluates the expression, and repeats it while it is the head of a cycle that finds new
    /// values.
    fn rounds(&self, e: &'a Expr, key: Key, mut so_far: Vals<'a>, depth: usize) -> Vals<'a> {
        let (round, learnt) = (self.round.get(), self.learnt.replace(false));
        let first = self.cyclic.borrow().len();
        loop {
            self.steps.set(self.steps.get() + 1);
            if self.steps.get() > STEPS {
                self.exhausted.set(true);
                self.memo.borrow_mut().remove(&key);
                return Rc::clone(&self.unknown);
            }
            let under_way = Known::UnderWay(depth, Rc::clone(&so_far));
            self.memo.borrow_mut().insert(key, under_way);
            let mut out = Set::default();
            out.all(&so_far);
            self.fill(e, key.1, &mut out);
            let vals = out.finish(&self.exhausted);
            if vals.len() > so_far.len() {
                self.learnt.set(true);
            }
            so_far = vals;
            let low = self.low.get();
            if low < depth {
                let known = Known::InRound(round, low, Rc::clone(&so_far));
                self.memo.borrow_mut().insert(key, known);
                self.cyclic.borrow_mut().push(key);
                self.learnt.set(self.learnt.get() || learnt);
                return so_far;
            }
            if low > depth || !self.learnt.replace(false) || self.exhausted.get() {
                break;
            }
            self.low.set(usize::MAX);
            self.rounds.set(self.rounds.get() + 1);
            self.round.set(self.rounds.get());
        }
        // No evaluation in this cycle depends on one further up.
        let mut memo = self.memo.borrow_mut();
        for inner in self.cyclic.borrow_mut().drain(first..) {
            if let Some(known) = memo.get_mut(&inner)
                && let Known::InRound(_, _, vals) = known
            {
                *known = Known::Vals(Rc::clone(vals));
            }
        }
        memo.insert(key, Known::Vals(Rc::clone(&so_far)));
        self.low.set(usize::MAX);
        self.round.set(round);
        self.learnt.set(learnt);
        so_far
    }

    fn fill(&self, e: &'a Expr, scope: ScopeId, out: &mut Set<'a>) {
        match e {
            Expr::Name(name) => self.name(name, scope, out),
            Expr::Attribute(x) => {
                let attr = fold(x.attr.as_str());
                for base in self.eval(&x.value, scope).iter() {
                    self.attribute(base, &attr, out);
                }
            }
            Expr::Call(call) if self.is_written_dict(call, scope) => {
                out.add(Val::Items(ByAddress(e), scope));
            }
            Expr::Call(call) => self.call(call, scope, out),
            Expr::Constant(c) => match &c.value {
                Constant::Str(text) => out.add(Val::Text(text.as_str().into())),
                Constant::Tuple(_)
                | Constant::None
                | Constant::Bool(_)
                | Constant::Bytes(_)
                | Constant::Int(_)
                | Constant::Float(_)
                | Constant::Complex { .. }
                | Constant::Ellipsis => out.add(Val::Unknown),
            },
            Expr::JoinedStr(joined) => out.add(self.joined(joined, scope)),
            Expr::FormattedValue(_) => out.add(Val::ComputedText),
            Expr::BinOp(x) => self.binary(x, scope, out),
            Expr::BoolOp(x) => x.values.iter().for_each(|e| out.all(&self.eval(e, scope))),
            Expr::IfExp(x) => {
                out.all(&self.eval(&x.body, scope));
                out.all(&self.eval(&x.orelse, scope));
            }
            Expr::NamedExpr(x) => out.all(&self.eval(&x.value, scope)),
            Expr::Await(x) => out.all(&self.eval(&x.value, scope)),
            Expr::Lambda(x) => match self.scopes.of.get(&address(&*x.args)) {
                Some(id) => out.add(Val::Function(*id)),
                None => out.add(Val::Unknown),
            },
            Expr::Subscript(x) => {
                for base in self.eval(&x.value, scope).iter() {
                    match base {
                        Val::Text(_) | Val::ComputedText => out.add(Val::ComputedText),
                        Val::Items(e, inner) => self.item(*e, *inner, &x.slice, scope, out),
                        other => self.element(other, out),
                    }
                }
            }
            Expr::Starred(x) => {
                for base in self.eval(&x.value, scope).iter() {
                    self.element(base, out);
                }
            }
            Expr::List(_)
            | Expr::Tuple(_)
            | Expr::Set(_)
            | Expr::Dict(_)
            | Expr::ListComp(_)
            | Expr::SetComp(_)
            | Expr::DictComp(_)
            | Expr::GeneratorExp(_) => out.add(Val::Items(ByAddress(e), scope)),
            Expr::UnaryOp(_)
            | Expr::Compare(_)
            | Expr::Yield(_)
            | Expr::YieldFrom(_)
            | Expr::Slice(_) => out.add(Val::Unknown),
        }
    }

    fn name(&self, name: &'a ast::ExprName, scope: ScopeId, out: &mut Set<'a>) {
        let folded = fold(name.id.as_str());
        let found = self.scopes.lookup(&folded, scope);
        for (bindings, _) in &found.bindings {
            for binding in *bindings {
                self.bound(&folded, &binding.to, binding.scope, out);
            }
        }
        if !found.may_be_builtin(name.range().start().to_usize()) {
            return;
        }
        for module in &self.scopes.stars {
            if self.library.has_member(module, &folded) {
                out.add(Val::Member(format!("{module}.{folded}").into()));
                return;
            }
        }
        if found.bindings.is_empty()
            && let Some((_, module)) = self.presets.iter().find(|(n, _)| *n == folded)
        {
            out.add(Val::Module((*module).into()));
        } else if is_builtin(&folded) {
            out.add(Val::Builtin(folded.as_ref().into()));
        } else if found.bindings.is_empty() && is_telling(&folded) {
            out.add(Val::Module(folded.as_ref().into()));
        } else if found.bindings.is_empty() {
            out.add(Val::Unknown);
        }
    }

    pub(super) fn bound(&self, name: &str, to: &Bound<'a>, scope: ScopeId, out: &mut Set<'a>) {
        match to {
            Bound::Value(e) | Bound::With(e) => out.all(&self.eval(e, scope)),
            Bound::ElementOf(e) => {
                for base in self.eval(e, scope).iter() {
                    self.element(base, out);
                }
            }
            Bound::Part(e, way) => self.part(e, way.steps(), scope, out),
            Bound::Within(e) => self.within(e, scope, out),
            Bound::Gains(e) => {
                if self
                    .eval(e, scope)
                    .iter()
                    .any(|v| matches!(v, Val::Text(_) | Val::ComputedText))
                {
                    out.add(Val::ComputedText);
                }
                out.add(Val::Holds(ByAddress(e), scope));
            }
            Bound::Module(path) => out.add(Val::Module((*fold(path)).into())),
            Bound::Member { module, name } => {
                out.add(self.child(&fold(module), &fold(name)).0);
            }
            Bound::Function(arguments) => match self.scopes.of.get(&address(*arguments)) {
                Some(id) => out.add(Val::Function(*id)),
                None => out.add(Val::Unknown),
            },
            Bound::Class(class) => match self.scopes.of.get(&address(*class)) {
                Some(id) => out.add(Val::Class(*id)),
                None => out.add(Val::Unknown),
            },
            Bound::Parameter {
                function,
                index,
                default,
            } => {
                if let Some(default) = default {
                    out.all(&self.eval(default, scope));
                }
                self.arguments(name, function, *index, out);
                out.add(Val::Unknown);
            }
            Bound::Rest(function) => {
                for (call, scope, _) in self.calls_of(function) {
                    for e in &call.args {
                        out.add(Val::Holds(ByAddress(e), scope));
                    }
                    for keyword in &call.keywords {
                        out.add(Val::Holds(ByAddress(&keyword.value), scope));
                    }
                }
                out.add(Val::Unknown);
            }
            Bound::Exception => out.add(Val::Exception),
            Bound::Capture(e) => {
                self.within(e, scope, out);
                out.add(Val::Unknown);
            }
            Bound::Something => out.add(Val::Unknown),
            Bound::Deleted => {}
        }
    }

    /// The possible values of a parameter if every call of its function is visible; `None` if a
    /// call may be hidden or the name is no parameter.
    pub fn handed_to(&self, e: &'a Expr, scope: ScopeId) -> Option<Vals<'a>> {
        let Expr::Name(name) = e else { return None };
        let folded = fold(name.id.as_str());
        let found = self.scopes.lookup(&folded, scope);
        let [(bindings, at)] = found.bindings.as_slice() else {
            return None;
        };
        let mut out = Set::default();
        for binding in *bindings {
            let Bound::Parameter {
                function,
                index,
                default,
            } = binding.to
            else {
                return None;
            };
            let name = self.scopes.function_names.get(&address(function))?;
            let bound = self.scopes.all.iter().filter_map(|s| s.names.get(name));
            let method = self.scopes.all[self.scopes.all[*at].parent].kind == ScopeKind::Class;
            if method
                || self.scopes.handed_on.contains(name)
                || bound.map(Vec::len).sum::<usize>() != 1
            {
                return None;
            }
            if let Some(default) = default {
                out.all(&self.eval(default, binding.scope));
            }
            self.arguments(&folded, function, index, &mut out);
        }
        Some(out.finish(&self.exhausted))
    }

    /// The values that calls of a function pass to one of its parameters.
    fn arguments(
        &self,
        parameter: &str,
        function: &'a ast::Arguments,
        index: Option<usize>,
        out: &mut Set<'a>,
    ) {
        for (call, scope, bound) in self.calls_of(function) {
            // The object of a method is not among the call's arguments.
            let index = if bound {
                index.and_then(|i| i.checked_sub(1))
            } else {
                index
            };
            if let Some(e) = index.and_then(|i| call.args.get(i)) {
                out.all(&self.eval(e, scope));
            }
            for keyword in &call.keywords {
                if keyword
                    .arg
                    .as_ref()
                    .is_none_or(|a| fold(a.as_str()) == parameter)
                {
                    out.all(&self.eval(&keyword.value, scope));
                }
            }
            for starred in call.args.iter().filter(|e| e.is_starred_expr()) {
                out.all(&self.eval(starred, scope));
            }
        }
    }

    /// The calls of a function on the spot, by its name, or of the class for which it creates
    /// objects, each with its scope and whether the first parameter is the object.
    fn calls_of(&self, function: &'a ast::Arguments) -> Vec<(&'a ast::ExprCall, ScopeId, bool)> {
        let key = address(function);
        let direct = self.scopes.direct.get(&key);
        let mut found: Vec<_> = direct
            .map(|(call, at)| (*call, *at, false))
            .into_iter()
            .collect();
        let (Some(name), Some(id)) = (
            self.scopes.function_names.get(&key),
            self.scopes.of.get(&key),
        ) else {
            return found;
        };
        let class = self.scopes.all[*id].parent;
        let method = self.scopes.all[class].kind == ScopeKind::Class;
        let calls = self.scopes.calls.get(name).into_iter().flatten();
        found.extend(calls.map(|(call, at)| (*call, *at, method && call.func.is_attribute_expr())));
        if method && name == "__init__" {
            found.extend(self.made(class).map(|(call, at)| (call, at, true)));
        }
        found
    }

    /// The calls that create objects of a class of the snippet.
    pub(super) fn made(
        &self,
        class: ScopeId,
    ) -> impl Iterator<Item = (&'a ast::ExprCall, ScopeId)> + '_ {
        let name = self.scopes.class_names.get(&class);
        let calls = name.and_then(|name| self.scopes.calls.get(name));
        calls.into_iter().flatten().copied()
    }
}
