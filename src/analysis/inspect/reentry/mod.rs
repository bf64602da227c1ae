//! Special methods that change other objects. Compiled code calls such methods in the middle of its
//! work without holding references to the objects it works on (numpy's loops over objects, an
//! `OrderedDict` comparing keys). An object that the method frees there is used after it was freed.
//!
//! A method is judged by its own text and by the text of every function of the snippet that it
//! mentions.

mod bare;
mod given;
mod own;
mod words;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::Inspector;
use crate::analysis::fold::fold;
use crate::analysis::library::is_builtin;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Constant, Expr, Ranged, Stmt};
use crate::analysis::rules;
use crate::analysis::walk::{Bound, ExprPlace, TargetOf, Visitor, body, expression};

use given::last_name;
use own::{Own, is_new, is_own, root, steps};
use words::{
    ANSWERS, CALLED, CHANGES, ENTERED, FORMATTED, GONE_THROUGH, HANDED, LAZY, LOOKED_IN, PLAIN,
    RUNS, WRAPS,
};

type Name<'a> = Cow<'a, str>;

/// A function of the snippet.
struct Function<'a> {
    name: Name<'a>,
    at: TextRange,
    /// For a method: the number of arguments required besides the object.
    method: Option<usize>,
    doing: Doing<'a>,
}

impl<'a> Function<'a> {
    /// An expression that stands for a function, outside every function.
    fn made(names: &Names<'a>, name: &Name<'a>, made: &'a Expr) -> Self {
        let mut effects = Effects::alone(names);
        expression(&mut effects, made, ExprPlace::Plain);
        Self {
            name: name.clone(),
            at: made.range(),
            method: None,
            doing: effects.doing,
        }
    }
}

/// The effects of one function, read from its text.
#[derive(Default)]
struct Doing<'a> {
    changes: bool,
    mentions: HashSet<Name<'a>>,
}

/// A `def`.
struct Defined<'a> {
    name: &'a ast::Identifier,
    at: TextRange,
    body: &'a [Stmt],
    arguments: &'a ast::Arguments,
    decorators: &'a [Expr],
}

/// Every named thing in the snippet.
#[derive(Default)]
struct Names<'a> {
    functions: HashSet<Name<'a>>,
    classes: HashSet<Name<'a>>,
    class_bodies: Vec<TextRange>,
    /// Classes whose new objects hold only what they were given, and new objects: the fewest steps
    /// to what they were given.
    bare: HashMap<Name<'a>, usize>,
    imported: HashSet<Name<'a>>,
    /// Names of members of libraries, with the member's own name.
    members: Vec<(Name<'a>, &'a str)>,
    /// Names and attributes holding objects that run code when iterated.
    lazy: HashSet<Name<'a>>,
    /// Attributes that are assigned somewhere.
    fields: HashSet<Name<'a>>,
    /// Every `def`, and lambdas with a name.
    defined: Vec<Defined<'a>>,
    lambdas: Vec<(Name<'a>, TextRange, &'a ast::ExprLambda)>,
    /// Names and attributes holding a function or an object that runs one, with the expression
    /// assigned.
    holders: Vec<(Name<'a>, &'a Expr)>,
    /// The names used as decorators.
    decorators: HashSet<Name<'a>>,
    /// Special methods that are not defined by a `def`.
    other: Vec<(Name<'a>, TextRange)>,
}

impl<'a> Inspector<'a> {
    /// Runs after the whole snippet has been inspected, only if the policy allows a library with
    /// loops over objects.
    pub(super) fn reentry(&mut self, statements: &'a [Stmt]) {
        if !self.policy.imports.contains_key("numpy") || self.policy.imports.contains_key("*") {
            return;
        }
        let mut names = Names::default();
        body(&mut names, statements);
        let mut functions: Vec<Function<'a>> = Vec::new();
        for one in &names.defined {
            let mut effects = Effects::new(&names, one.body, one.arguments);
            body(&mut effects, one.body);
            for decorator in one.decorators {
                expression(&mut effects, decorator, ExprPlace::Decorator);
            }
            functions.push(Function {
                name: fold(one.name.as_str()),
                at: one.at,
                method: Some(needed(one.arguments))
                    .filter(|_| names.class_bodies.iter().any(|body| within(*body, one.at))),
                doing: effects.doing,
            });
        }
        let mut made_of: Vec<Function<'a>> = Vec::new();
        for (name, at, lambda) in &names.lambdas {
            let mut effects = Effects::new(&names, &[], &lambda.args);
            expression(&mut effects, &lambda.body, ExprPlace::Plain);
            functions.push(Function {
                name: name.clone(),
                at: *at,
                method: Some(needed(&lambda.args)),
                doing: effects.doing,
            });
        }
        let given = given::given(&names, statements);
        for (name, made) in names.holders.iter().chain(&given.behind) {
            made_of.push(Function::made(&names, name, made));
        }
        let registered = given.registered.iter().map(|(of, name)| Function {
            name: of.clone(),
            at: TextRange::default(),
            method: None,
            doing: Doing {
                changes: false,
                mentions: HashSet::from([name.clone()]),
            },
        });
        made_of.extend(registered);
        let run = given.run.iter();
        let run: Vec<Function<'a>> = run
            .map(|(name, e)| Function::made(&names, name, e))
            .collect();
        let changing = changing(functions.iter().chain(&made_of).collect());
        let answers = |f: &&Function<'_>| {
            let takes = |needs: usize| f.method.is_none_or(|method| method == needs);
            ANSWERS
                .iter()
                .any(|(name, needs)| *name == f.name && takes(*needs))
        };
        let called = |f: &&Function<'_>| {
            CALLED.contains(&&*f.name)
                || (f.method.is_some() && answers(f))
                || given.run_by_name.contains(&f.name)
                || given.inherited.contains(&f.at)
        };
        let held = made_of.iter().filter(answers);
        let found: Vec<(TextRange, String)> = functions
            .iter()
            .filter(called)
            .chain(held)
            .chain(&run)
            .filter(|f| does(&f.doing, &changing))
            .map(|f| (f.at, f.name.to_string()))
            .chain(names.other.iter().map(|(name, at)| (*at, name.to_string())))
            .collect();
        for (at, name) in found {
            let (start, end) = self.place(at);
            let end = end.min(start + name.len() + 4);
            self.facts.add(&rules::NATIVE_REENTRY, (start, end), name);
        }
    }
}

/// The number of arguments without a default, not counting the first.
fn needed(arguments: &ast::Arguments) -> usize {
    let all = arguments.posonlyargs.iter().chain(&arguments.args);
    all.filter(|a| a.default.is_none())
        .count()
        .saturating_sub(1)
}

fn within(outer: TextRange, inner: TextRange) -> bool {
    outer.start() <= inner.start() && inner.end() <= outer.end()
}

fn does(doing: &Doing<'_>, changing: &HashSet<String>) -> bool {
    doing.changes || doing.mentions.iter().any(|m| changing.contains(&**m))
}

/// The names of the functions that change something, directly or through functions they mention.
fn changing(functions: Vec<&Function<'_>>) -> HashSet<String> {
    let mut changing = HashSet::new();
    loop {
        let more: Vec<String> = functions
            .iter()
            .filter(|f| !changing.contains(&*f.name) && does(&f.doing, &changing))
            .map(|f| f.name.to_string())
            .collect();
        if more.is_empty() {
            return changing;
        }
        changing.extend(more);
    }
}

impl<'a> Names<'a> {
    /// Whether the call is in a decorator that calls its parameter, i.e. the function it decorates.
    fn is_decorated(&self, name: &str, at: TextRange) -> bool {
        self.defined.iter().any(|one| {
            let mut parameters = one.arguments.posonlyargs.iter().chain(&one.arguments.args);
            within(one.at, at)
                && self.decorators.contains(&fold(one.name.as_str()))
                && parameters.any(|a| a.def.arg.as_str() == name)
        })
    }

    /// Whether a value is a function or runs one when read.
    fn holds_function(&self, value: &Expr) -> bool {
        match value {
            Expr::Name(_) => true,
            Expr::Attribute(x) => CHANGES.contains(&x.attr.as_str()),
            Expr::Call(call) => match &*call.func {
                Expr::Name(f) => WRAPS.contains(&f.id.as_str()),
                Expr::Attribute(f) => WRAPS.contains(&f.attr.as_str()),
                _ => false,
            },
            _ => false,
        }
    }

    fn define(
        &mut self,
        name: &'a ast::Identifier,
        at: TextRange,
        body: &'a [Stmt],
        arguments: &'a ast::Arguments,
        decorators: &'a [Expr],
    ) {
        self.functions.insert(fold(name.as_str()));
        self.defined.push(Defined {
            name,
            at,
            body,
            arguments,
            decorators,
        });
    }

    fn holds_lazily(&self, value: &Expr) -> bool {
        match value {
            Expr::GeneratorExp(_) => true,
            Expr::Call(call) => match &*call.func {
                Expr::Name(f) => {
                    let name = fold(f.id.as_str());
                    LAZY.contains(&&*name) || self.functions.contains(&name)
                }
                _ => false,
            },
            _ => false,
        }
    }
}

impl<'a> Visitor<'a> for Names<'a> {
    fn statement(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(x) => {
                self.define(&x.name, x.range(), &x.body, &x.args, &x.decorator_list);
            }
            Stmt::AsyncFunctionDef(x) => {
                self.define(&x.name, x.range(), &x.body, &x.args, &x.decorator_list);
            }
            Stmt::ClassDef(x) => {
                self.class_bodies.push(x.range());
                self.classes.insert(fold(x.name.as_str()));
                if let Some(steps) = self.bare_steps(x) {
                    self.bare.insert(fold(x.name.as_str()), steps);
                }
            }
            _ => {}
        }
    }

    fn expression(&mut self, e: &'a Expr, place: ExprPlace<'a>) {
        if let (ExprPlace::Decorator, Expr::Name(name)) = (place, e) {
            self.decorators.insert(fold(name.id.as_str()));
        }
    }

    fn bind(&mut self, name: &'a str, at: TextRange, to: Bound<'a>) {
        let name = fold(name);
        let special = CALLED.contains(&&*name);
        match to {
            Bound::Module(_) => drop(self.imported.insert(name.clone())),
            Bound::Member { name: member, .. } => {
                self.imported.insert(name.clone());
                self.members.push((name.clone(), member));
            }
            Bound::Value(Expr::Lambda(lambda)) => {
                self.functions.insert(name.clone());
                self.lambdas.push((name, at, lambda));
                return;
            }
            Bound::Value(value) if self.holds_lazily(value) => drop(self.lazy.insert(name.clone())),
            Bound::Value(value) if self.holds_function(value) => {
                self.holders.push((name.clone(), value));
                let other = match value {
                    Expr::Name(other) => Some(fold(other.id.as_str())),
                    _ => None,
                };
                let member = other.and_then(|o| self.members.iter().find(|(bound, _)| *bound == o));
                if let Some((_, member)) = member {
                    self.members.push((name.clone(), member));
                }
            }
            Bound::Value(Expr::Attribute(x)) => self.members.push((name.clone(), x.attr.as_str())),
            _ => {}
        }
        // Harmless: `__radd__ = __add__`, `__hash__ = None`.
        let plain = match to {
            Bound::Function(_) => true,
            Bound::Value(Expr::Name(other)) => CALLED.contains(&other.id.as_str()),
            Bound::Value(Expr::Constant(_)) => true,
            _ => false,
        };
        if special && !plain {
            self.other.push((name, at));
        }
    }

    fn store_attribute(&mut self, target: &'a ast::ExprAttribute, _of: TargetOf, to: Bound<'a>) {
        let name = fold(target.attr.as_str());
        if let Bound::Value(value) = to
            && self.holds_lazily(value)
        {
            self.lazy.insert(name.clone());
        }
        match to {
            Bound::Value(Expr::Lambda(lambda)) => {
                self.lambdas.push((name.clone(), target.range(), lambda));
            }
            Bound::Value(value) if self.holds_function(value) => {
                self.holders.push((name.clone(), value));
            }
            _ => {}
        }
        self.fields.insert(name);
    }
}

/// Collects the effects of one function.
struct Effects<'n, 'a> {
    names: &'n Names<'a>,
    doing: Doing<'a>,
    /// The name of the object itself (`self`).
    receiver: Option<Name<'a>>,
    parameters: HashSet<Name<'a>>,
    /// Names bound only to objects that the function itself created.
    fresh: HashSet<Name<'a>>,
    /// The fewest steps from those to an object that may be another's.
    steps: HashMap<Name<'a>, usize>,
    /// Those that may be of a class of the snippet.
    made: HashSet<Name<'a>>,
    local: HashSet<Name<'a>>,
}

impl<'n, 'a> Effects<'n, 'a> {
    fn new(names: &'n Names<'a>, statements: &'a [Stmt], arguments: &'a ast::Arguments) -> Self {
        let mut own = Own::new(names);
        body(&mut own, statements);
        let plain = arguments
            .posonlyargs
            .iter()
            .chain(&arguments.args)
            .chain(&arguments.kwonlyargs)
            .map(|a| fold(a.def.arg.as_str()));
        let rest = [&arguments.vararg, &arguments.kwarg].into_iter().flatten();
        let parameters: HashSet<Name<'a>> =
            plain.chain(rest.map(|a| fold(a.arg.as_str()))).collect();
        let first = arguments.posonlyargs.iter().chain(&arguments.args).next();
        own.other.extend(own.declared.iter().cloned());
        let fresh = own.fresh.difference(&own.other);
        let fresh: HashSet<Name<'a>> = fresh
            .filter(|n| !parameters.contains(*n))
            .cloned()
            .collect();
        let local = own.fresh.union(&own.other);
        let local = local
            .filter(|n| !own.declared.contains(*n))
            .cloned()
            .collect();
        Self {
            names,
            doing: Doing::default(),
            receiver: first.map(|a| fold(a.def.arg.as_str())),
            parameters,
            fresh,
            steps: own.steps,
            made: own.made,
            local,
        }
    }

    /// For an expression outside every function.
    fn alone(names: &'n Names<'a>) -> Self {
        Self {
            names,
            doing: Doing::default(),
            receiver: None,
            parameters: HashSet::new(),
            fresh: HashSet::new(),
            steps: HashMap::new(),
            made: HashSet::new(),
            local: HashSet::new(),
        }
    }

    /// Whether the object was created by the function itself.
    fn is_fresh(&self, e: &Expr) -> bool {
        let (root, taken) = root(e);
        if let Expr::Name(name) = root {
            let name = fold(name.id.as_str());
            let most = self.steps.get(&name).copied().unwrap_or(usize::MAX);
            return self.fresh.contains(&name) && taken < most;
        }
        is_new(self.names, root) && (taken == 0 || taken < steps(self.names, root))
    }

    /// Whether the object's methods are those of a list, a text, an array.
    fn is_builtin(&self, e: &Expr) -> bool {
        let own = match e {
            Expr::Name(name) => self.made.contains(&fold(name.id.as_str())),
            Expr::Call(call) => last_name(&call.func).is_none_or(|name| is_own(self.names, &name)),
            other => root(other).1 > 0,
        };
        !own && self.is_fresh(e)
    }

    fn runs(&mut self, methods: &'static [&'static str]) {
        let mentions = &mut self.doing.mentions;
        mentions.extend(methods.iter().map(|name| Cow::Borrowed(*name)));
    }

    fn call(&mut self, call: &'a ast::ExprCall) {
        let changed = call.keywords.iter().any(|k| {
            let name = k.arg.as_ref().map(ast::Identifier::as_str);
            matches!(name, Some("out" | "inplace"))
        });
        self.doing.changes |= changed;
        match &*call.func {
            Expr::Name(f) => {
                let name = fold(f.id.as_str());
                let names = self.names;
                let mine = self.parameters.contains(&name)
                    || (self.local.contains(&name) && !names.functions.contains(&name));
                let known = names.functions.contains(&name)
                    || names.classes.contains(&name)
                    || names.imported.contains(&name)
                    || is_builtin(&name);
                let changes = CHANGES.contains(&&*name) && names.imported.contains(&name);
                let runs = (mine || !known) && !names.is_decorated(&name, call.range());
                self.doing.changes |= runs || changes || RUNS.contains(&&*name);
                if !PLAIN.contains(&&*name) {
                    self.runs(GONE_THROUGH);
                }
                let file = |k: &ast::Keyword| k.arg.as_ref().is_none_or(|a| a.as_str() == "file");
                if names.imported.contains(&name) || call.keywords.iter().any(file) {
                    self.runs(HANDED);
                }
            }
            Expr::Attribute(f) => {
                let name = fold(f.attr.as_str());
                let changes = CHANGES.contains(&&*name) && !self.is_fresh(&f.value);
                let held =
                    self.names.fields.contains(&name) && !self.names.functions.contains(&name);
                self.doing.changes |= changes || held;
                // A library's function uses what it gets.
                let given = !call.args.is_empty() || !call.keywords.is_empty();
                if given && !self.names.functions.contains(&name) {
                    self.runs(GONE_THROUGH);
                    self.runs(HANDED);
                }
            }
            // `type(self)(…)` creates another object of the same class.
            Expr::Call(inner) => {
                let kind = matches!(&*inner.func, Expr::Name(f) if f.id.as_str() == "type");
                self.doing.changes |= !kind;
            }
            _ => self.doing.changes = true,
        }
    }
}

impl<'a> Visitor<'a> for Effects<'_, 'a> {
    fn statement(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::For(_) | Stmt::AsyncFor(_) => self.runs(GONE_THROUGH),
            Stmt::With(_) | Stmt::AsyncWith(_) => self.runs(ENTERED),
            Stmt::Assign(x)
                if x.targets
                    .iter()
                    .any(|e| e.is_tuple_expr() || e.is_list_expr()) =>
            {
                self.runs(GONE_THROUGH);
            }
            // A pattern reads attributes and items.
            Stmt::Match(_) => {
                self.runs(GONE_THROUGH);
                let names = self.names;
                self.doing.mentions.extend(names.functions.iter().cloned());
            }
            // `+=` extends a list in place.
            Stmt::AugAssign(x) => {
                let counts = matches!(&*x.value, Expr::Constant(c)
                    if matches!(c.value, Constant::Int(_) | Constant::Float(_)));
                let of_others = match &*x.target {
                    Expr::Name(name) => !self.local.contains(&fold(name.id.as_str())),
                    Expr::Attribute(target) => !self.is_fresh(&target.value),
                    _ => false,
                };
                self.doing.changes |= of_others && !counts;
            }
            _ => {}
        }
    }

    fn expression(&mut self, e: &'a Expr, place: ExprPlace<'a>) {
        match e {
            Expr::Call(call) => self.call(call),
            Expr::Name(name) => {
                let name = fold(name.id.as_str());
                self.doing.changes |= self.names.lazy.contains(&name);
                self.doing.mentions.insert(name);
            }
            Expr::Attribute(x) => {
                let name = fold(x.attr.as_str());
                // A method passed as a value: `map(a.fill, …)`.
                let handed = !matches!(place, ExprPlace::Called)
                    && CHANGES.contains(&&*name)
                    && !self.names.fields.contains(&name)
                    && !self.is_fresh(&x.value);
                self.doing.changes |= handed || self.names.lazy.contains(&name);
                // The function's own lists and texts have methods of the same names, which run no
                // code of the snippet.
                if !self.is_builtin(&x.value) {
                    self.doing.mentions.insert(name);
                }
                self.doing.mentions.insert(Cow::Borrowed("__getattr__"));
            }
            Expr::Compare(x) if x.ops.iter().any(looks_in) => self.runs(LOOKED_IN),
            Expr::JoinedStr(_) => self.runs(FORMATTED),
            Expr::BinOp(x) if x.op == ast::Operator::Mod => self.runs(GONE_THROUGH),
            Expr::Dict(x) if x.keys.iter().any(Option::is_none) => {
                self.runs(GONE_THROUGH);
                self.runs(HANDED);
            }
            Expr::Subscript(_)
            | Expr::ListComp(_)
            | Expr::SetComp(_)
            | Expr::DictComp(_)
            | Expr::GeneratorExp(_)
            | Expr::Starred(_) => self.runs(GONE_THROUGH),
            _ => {}
        }
    }

    fn store_item(&mut self, target: &'a ast::ExprSubscript, _of: TargetOf, _to: Bound<'a>) {
        self.doing.changes |= !self.is_fresh(&target.value);
    }

    fn store_attribute(&mut self, target: &'a ast::ExprAttribute, of: TargetOf, _to: Bound<'a>) {
        self.doing.mentions.insert(fold(target.attr.as_str()));
        let own = match &*target.value {
            Expr::Name(name) => {
                let name = fold(name.id.as_str());
                Some(&name) == self.receiver.as_ref() || self.names.classes.contains(&name)
            }
            _ => false,
        };
        let own = own && of != TargetOf::Delete;
        self.doing.changes |= !own && !self.is_fresh(&target.value);
    }
}

fn looks_in(op: &ast::CmpOp) -> bool {
    matches!(op, ast::CmpOp::In | ast::CmpOp::NotIn)
}
