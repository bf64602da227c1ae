//! Names that are read before they are bound, checked scope by scope in the order in which Python
//! runs the code.
//!
//! A name counts as bound as soon as any path may have bound it, so a reported read always fails
//! when it is reached.

mod reads;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::analysis::fold::fold;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Arguments, Constant, ExceptHandler, Expr, Ranged, Stmt};

type Name<'a> = Cow<'a, str>;

/// How the name is bound later.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Later {
    Assigned,
    /// Only by augmented assignments such as `+=`.
    Added,
    Imported,
    Defined,
    Deleted,
}

/// The outer scope that also binds a name local to a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outer {
    Nothing,
    Module,
    Function,
}

/// A read that comes before every binding in its scope.
pub(super) struct Early<'a> {
    pub name: Name<'a>,
    pub at: TextRange,
    pub later: Later,
    /// The function in which the name is local.
    pub local: Option<(&'a str, Outer)>,
}

/// Every early read of a snippet.
pub(super) fn early(body: &[Stmt]) -> Vec<Early<'_>> {
    let mut all = All::default();
    let mut module = Frame::default();
    module.block(&mut all, body);
    let mut outer: Vec<HashSet<Name<'_>>> = vec![module.names()];
    module.finish(None, &[], &mut all);
    // Functions are visited after the surrounding code, so that the outer bindings are known.
    while let Some(function) = all.functions.pop() {
        outer.truncate(function.depth);
        let mut frame = Frame {
            depth: function.depth,
            ..Frame::default()
        };
        frame.parameters(function.arguments);
        frame.block(&mut all, function.body);
        let names = frame.names();
        frame.finish(Some(function.name), &outer, &mut all);
        outer.push(names);
    }
    let All {
        mut found,
        elsewhere,
        ..
    } = all;
    found.retain(|early| !elsewhere.contains(&early.name) && !early.name.starts_with("__"));
    found
}

/// State shared by all scopes.
#[derive(Default)]
struct All<'a> {
    found: Vec<Early<'a>>,
    functions: Vec<Function<'a>>,
    /// Names bound in other scopes through `global` and `nonlocal`.
    elsewhere: HashSet<Name<'a>>,
}

struct Function<'a> {
    name: &'a str,
    arguments: &'a Arguments,
    body: &'a [Stmt],
    depth: usize,
}

struct Read<'a> {
    name: Name<'a>,
    at: TextRange,
    /// The outermost loop that may skip this read in its first iteration.
    within: Option<TextRange>,
    gone: bool,
}

/// One scope: the module or a function.
#[derive(Default)]
struct Frame<'a> {
    depth: usize,
    /// Names that may be bound at this point.
    bound: HashSet<Name<'a>>,
    gone: HashSet<Name<'a>>,
    /// Where and how each name is bound.
    bindings: HashMap<Name<'a>, Vec<(TextRange, Later)>>,
    declared: HashSet<Name<'a>>,
    reads: Vec<Read<'a>>,
    loops: Vec<TextRange>,
    /// The number of enclosing loops that may reach this place only after their first iteration.
    passed: usize,
    /// Whether a statement left the iteration or the enclosing block.
    left: bool,
    /// The number of enclosing branches, loops and `try` bodies.
    branches: usize,
    /// If positive, nothing is reported: the code may not run, or its error is expected.
    quiet: usize,
    /// Targets of the enclosing comprehensions.
    shadows: Vec<Name<'a>>,
    /// Names bound by the enclosing class bodies.
    classes: Vec<HashSet<Name<'a>>>,
}

impl<'a> Frame<'a> {
    fn names(&self) -> HashSet<Name<'a>> {
        let mut names: HashSet<Name<'a>> = self.bindings.keys().cloned().collect();
        names.extend(self.bound.iter().cloned());
        names
    }

    fn finish(self, function: Option<&'a str>, outer: &[HashSet<Name<'a>>], all: &mut All<'a>) {
        for read in self.reads {
            let Some(bindings) = self.bindings.get(&read.name) else {
                continue;
            };
            let brought = |at: &TextRange| {
                read.within
                    .is_some_and(|w| w.start() <= at.start() && at.end() <= w.end())
            };
            // `+=` does not bind a name that was unbound.
            let plain = |(at, later): &(TextRange, Later)| *later != Later::Added && brought(at);
            if self.declared.contains(&read.name) || bindings.iter().any(plain) {
                continue;
            }
            let later = match bindings.iter().find(|(_, l)| *l != Later::Added) {
                _ if read.gone => Later::Deleted,
                Some((_, later)) => *later,
                None => Later::Added,
            };
            let local = function.map(|function| {
                let inner = outer.iter().skip(1).any(|o| o.contains(&read.name));
                let module = outer.first().is_some_and(|o| o.contains(&read.name));
                let outer = match (inner, module) {
                    (true, _) => Outer::Function,
                    (_, true) => Outer::Module,
                    _ => Outer::Nothing,
                };
                (function, outer)
            });
            all.found.push(Early {
                name: read.name,
                at: read.at,
                later,
                local,
            });
        }
    }

    fn parameters(&mut self, arguments: &'a Arguments) {
        let plain = arguments
            .posonlyargs
            .iter()
            .chain(&arguments.args)
            .chain(&arguments.kwonlyargs)
            .map(|a| &a.def);
        let rest = [&arguments.vararg, &arguments.kwarg].into_iter().flatten();
        for argument in plain.chain(rest.map(|a| &**a)) {
            self.bound.insert(fold(argument.arg.as_str()));
        }
    }

    fn read(&mut self, name: &'a str, at: TextRange) {
        let name = fold(name);
        let known = self.bound.contains(&name)
            || self.shadows.contains(&name)
            || self.classes.last().is_some_and(|c| c.contains(&name));
        if known || self.quiet > 0 {
            return;
        }
        let within = self.loops.first().copied().filter(|_| self.passed > 0);
        let gone = self.gone.contains(&name);
        self.reads.push(Read {
            name,
            at,
            within,
            gone,
        });
    }

    fn bind(&mut self, name: &'a str, at: TextRange, later: Later) {
        let name = fold(name);
        if let Some(class) = self.classes.last_mut()
            && !self.declared.contains(&name)
        {
            class.insert(name);
            return;
        }
        // A failing `+=` binds nothing.
        if later != Later::Added || self.branches == 0 {
            self.bound.insert(name.clone());
        }
        self.bindings.entry(name).or_default().push((at, later));
    }

    /// Visits code that may be skipped or that first runs in a later iteration of a loop.
    fn branch(&mut self, inside: impl FnOnce(&mut Self)) {
        let passed = std::mem::replace(&mut self.passed, self.loops.len());
        self.branches += 1;
        inside(self);
        self.branches -= 1;
        self.passed = passed;
    }

    fn quietly(&mut self, quiet: bool, inside: impl FnOnce(&mut Self)) {
        self.quiet += usize::from(quiet);
        inside(self);
        self.quiet -= usize::from(quiet);
    }

    /// Visits a loop body: code in it runs before the loop repeats.
    fn round(&mut self, at: TextRange, inside: impl FnOnce(&mut Self)) {
        self.branch(|f| {
            f.loops.push(at);
            inside(f);
            f.loops.pop();
        });
    }

    fn block(&mut self, all: &mut All<'a>, statements: &'a [Stmt]) {
        for statement in statements {
            let left = std::mem::take(&mut self.left);
            self.statement(all, statement);
            if self.left {
                self.passed = self.loops.len();
            }
            self.left |= left;
            if matches!(
                statement,
                Stmt::Return(_) | Stmt::Raise(_) | Stmt::Break(_) | Stmt::Continue(_)
            ) {
                self.left = true;
                // The code that follows never runs but still makes its names local.
                self.quiet += 1;
                let at = statement.range().end();
                for rest in statements.iter().filter(|s| s.range().start() >= at) {
                    self.statement(all, rest);
                }
                self.quiet -= 1;
                return;
            }
        }
    }

    fn statement(&mut self, all: &mut All<'a>, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(x) => {
                self.all(all, &x.decorator_list);
                self.function(all, &x.name, &x.args, &x.body, x.range);
            }
            Stmt::AsyncFunctionDef(x) => {
                self.all(all, &x.decorator_list);
                self.function(all, &x.name, &x.args, &x.body, x.range);
            }
            Stmt::ClassDef(x) => self.class(all, x),
            Stmt::Return(x) => self.some(all, x.value.as_deref()),
            Stmt::Delete(x) => x.targets.iter().for_each(|e| self.delete(all, e)),
            Stmt::Assign(x) => {
                self.expression(all, &x.value);
                x.targets.iter().for_each(|e| self.target(all, e));
            }
            Stmt::TypeAlias(x) => self.target(all, &x.name),
            Stmt::AugAssign(x) => {
                if let Expr::Name(name) = &*x.target {
                    self.read(name.id.as_str(), name.range);
                    self.expression(all, &x.value);
                    self.bind(name.id.as_str(), name.range, Later::Added);
                } else {
                    self.target(all, &x.target);
                    self.expression(all, &x.value);
                }
            }
            Stmt::AnnAssign(x) => match &x.value {
                Some(value) => {
                    self.expression(all, value);
                    self.target(all, &x.target);
                }
                None if !matches!(&*x.target, Expr::Name(_)) => self.target(all, &x.target),
                None => {}
            },
            Stmt::For(x) => self.for_loop(all, (&x.target, &x.iter), &x.body, &x.orelse, x.range),
            Stmt::AsyncFor(x) => {
                self.for_loop(all, (&x.target, &x.iter), &x.body, &x.orelse, x.range);
            }
            Stmt::While(x) => {
                self.round(x.range, |f| {
                    f.expression(all, &x.test);
                    f.quietly(is_never(&x.test), |f| f.block(all, &x.body));
                });
                self.branch(|f| f.block(all, &x.orelse));
            }
            Stmt::If(x) => {
                self.expression(all, &x.test);
                self.branch(|f| f.quietly(is_never(&x.test), |f| f.block(all, &x.body)));
                self.branch(|f| f.block(all, &x.orelse));
            }
            Stmt::With(x) => self.with(all, &x.items, &x.body),
            Stmt::AsyncWith(x) => self.with(all, &x.items, &x.body),
            Stmt::Match(x) => {
                self.expression(all, &x.subject);
                for case in &x.cases {
                    self.branch(|f| {
                        f.pattern(all, &case.pattern);
                        f.some(all, case.guard.as_deref());
                        f.block(all, &case.body);
                    });
                }
            }
            Stmt::Try(x) => {
                self.attempt(all, &x.body, &x.handlers, &x.orelse);
                self.branch(|f| f.block(all, &x.finalbody));
            }
            Stmt::TryStar(x) => {
                self.attempt(all, &x.body, &x.handlers, &x.orelse);
                self.branch(|f| f.block(all, &x.finalbody));
            }
            Stmt::Raise(x) => {
                self.some(all, x.exc.as_deref());
                self.some(all, x.cause.as_deref());
            }
            Stmt::Assert(x) => {
                self.expression(all, &x.test);
                self.branch(|f| f.some(all, x.msg.as_deref()));
            }
            Stmt::Import(x) => {
                for alias in &x.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
                    let name = name.split('.').next().unwrap_or(name);
                    self.bind(name, alias.range, Later::Imported);
                }
            }
            Stmt::ImportFrom(x) => {
                for alias in &x.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
                    self.bind(name, alias.range, Later::Imported);
                }
            }
            Stmt::Global(x) => self.declare(all, &x.names),
            Stmt::Nonlocal(x) => self.declare(all, &x.names),
            Stmt::Expr(x) => self.expression(all, &x.value),
            Stmt::Break(_) | Stmt::Continue(_) | Stmt::Pass(_) => {}
        }
    }

    fn declare(&mut self, all: &mut All<'a>, names: &'a [ast::Identifier]) {
        for name in names {
            let name = fold(name.as_str());
            all.elsewhere.insert(name.clone());
            self.declared.insert(name);
        }
    }

    fn function(
        &mut self,
        all: &mut All<'a>,
        name: &'a ast::Identifier,
        arguments: &'a Arguments,
        body: &'a [Stmt],
        at: TextRange,
    ) {
        self.defaults(all, arguments);
        self.bind(name.as_str(), at, Later::Defined);
        // Unreachable functions are visited too, because their `global` and `nonlocal` declarations
        // count.
        all.functions.push(Function {
            name: name.as_str(),
            arguments,
            body,
            depth: self.depth + 1,
        });
    }

    fn defaults(&mut self, all: &mut All<'a>, arguments: &'a Arguments) {
        let plain = arguments
            .posonlyargs
            .iter()
            .chain(&arguments.args)
            .chain(&arguments.kwonlyargs);
        for argument in plain {
            self.some(all, argument.default.as_deref());
        }
    }

    /// A class body runs at once; its unbound reads continue in the enclosing scope.
    fn class(&mut self, all: &mut All<'a>, class: &'a ast::StmtClassDef) {
        self.all(all, &class.decorator_list);
        // Type parameters have a scope between the class and its surroundings.
        self.quietly(!class.type_params.is_empty(), |f| {
            f.all(all, &class.bases);
            class
                .keywords
                .iter()
                .for_each(|k| f.expression(all, &k.value));
        });
        let before = self.reads.len();
        self.classes.push(HashSet::new());
        self.quietly(!class.type_params.is_empty(), |f| f.block(all, &class.body));
        let own = self.classes.pop().unwrap_or_default();
        let reads = self.reads.split_off(before);
        let outside = reads.into_iter().filter(|read| !own.contains(&read.name));
        self.reads.extend(outside);
        self.bind(class.name.as_str(), class.range, Later::Defined);
    }

    fn for_loop(
        &mut self,
        all: &mut All<'a>,
        (target, iter): (&'a Expr, &'a Expr),
        body: &'a [Stmt],
        orelse: &'a [Stmt],
        at: TextRange,
    ) {
        self.expression(all, iter);
        self.round(at, |f| {
            f.target(all, target);
            f.block(all, body);
        });
        self.branch(|f| f.block(all, orelse));
    }

    fn with(&mut self, all: &mut All<'a>, items: &'a [ast::WithItem], body: &'a [Stmt]) {
        for item in items {
            self.expression(all, &item.context_expr);
            if let Some(target) = &item.optional_vars {
                self.target(all, target);
            }
        }
        let quiet = items.iter().any(|i| is_expecting(&i.context_expr));
        // The context manager may suppress an error of its body.
        self.branch(|f| f.quietly(quiet, |f| f.block(all, body)));
    }

    fn attempt(
        &mut self,
        all: &mut All<'a>,
        body: &'a [Stmt],
        handlers: &'a [ExceptHandler],
        orelse: &'a [Stmt],
    ) {
        let caught = handlers.iter().any(|ExceptHandler::ExceptHandler(h)| {
            h.type_.as_deref().is_none_or(takes_name_errors)
        });
        self.branch(|f| f.quietly(caught, |f| f.block(all, body)));
        for ExceptHandler::ExceptHandler(handler) in handlers {
            self.branch(|f| {
                f.some(all, handler.type_.as_deref());
                let name = handler.name.as_ref().map(|n| n.as_str());
                if let Some(name) = name {
                    let known = f.bound.contains(&fold(name));
                    f.bind(name, handler.range, Later::Assigned);
                    f.block(all, &handler.body);
                    // Python deletes the name at the end of the handler.
                    if !known && f.classes.is_empty() {
                        f.bound.remove(&fold(name));
                        f.gone.insert(fold(name));
                    }
                } else {
                    f.block(all, &handler.body);
                }
            });
        }
        self.branch(|f| f.block(all, orelse));
    }

    fn delete(&mut self, all: &mut All<'a>, e: &'a Expr) {
        match e {
            Expr::Name(name) => {
                self.read(name.id.as_str(), name.range);
                let id = fold(name.id.as_str());
                if self.branches == 0 && self.classes.is_empty() && self.quiet == 0 {
                    self.bound.remove(&id);
                    self.gone.insert(id.clone());
                }
            }
            Expr::Tuple(x) => x.elts.iter().for_each(|e| self.delete(all, e)),
            Expr::List(x) => x.elts.iter().for_each(|e| self.delete(all, e)),
            e => self.target(all, e),
        }
    }
}

/// Whether the branch never runs: `if False:`, `if TYPE_CHECKING:`.
fn is_never(test: &Expr) -> bool {
    match test {
        Expr::Name(name) => name.id.as_str() == "TYPE_CHECKING",
        Expr::Attribute(x) => x.attr.as_str() == "TYPE_CHECKING",
        Expr::Constant(c) => match &c.value {
            Constant::Bool(value) => !value,
            Constant::Int(n) => u8::try_from(n) == Ok(0),
            Constant::None => true,
            _ => false,
        },
        _ => false,
    }
}

/// Whether a handler for these classes may catch the error.
fn takes_name_errors(e: &Expr) -> bool {
    match e {
        Expr::Name(name) => matches!(
            name.id.as_str(),
            "NameError" | "UnboundLocalError" | "Exception" | "BaseException"
        ),
        Expr::Tuple(x) => x.elts.iter().any(takes_name_errors),
        Expr::Attribute(_) => false,
        _ => true,
    }
}

/// Whether an error in the `with` body is expected: `suppress(…)`, `pytest.raises(…)`.
fn is_expecting(e: &Expr) -> bool {
    let Expr::Call(call) = e else { return false };
    match &*call.func {
        Expr::Name(name) => matches!(name.id.as_str(), "suppress" | "raises"),
        Expr::Attribute(x) => {
            matches!(x.attr.as_str(), "suppress" | "raises") || x.attr.starts_with("assertRaises")
        }
        _ => false,
    }
}
