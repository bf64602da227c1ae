//! Code that surely runs, so that a failure in it fails the run. A branch may not be taken, a
//! function may not be called, and an error may be caught.

mod empty;
mod exits;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use crate::analysis::fold::fold;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Constant, ExceptHandler, Expr, Ranged, Stmt};
use crate::analysis::walk::{Bound, ExprPlace, Visitor, body};
use empty::{Empty, OfFiles};
use exits::Exits;

/// Byte offsets: start, and end (exclusive).
type Stretch = (usize, usize);

/// The stretches of a snippet that may not run, or whose errors may not end the run.
#[derive(Default)]
pub(super) struct Course<'a> {
    skipped: Vec<Stretch>,
    /// Bodies of `try`, with the names of the caught classes; an empty list catches everything.
    caught: Vec<(Stretch, Vec<&'a str>)>,
    /// Bodies of `try` with a bare `except`.
    bare: Vec<Stretch>,
    functions: Vec<(Cow<'a, str>, Stretch)>,
    /// For each function, whether calling it does not run its body (generators and coroutines).
    late: Vec<bool>,
    /// The start of each special method that runs when an object is created, with the name of its
    /// class.
    makers: HashMap<usize, &'a str>,
    exits: Exits<'a>,
    empty: Empty<'a>,
    of_files: OfFiles<'a>,
    /// The names of the snippet's functions and classes. Whether they call a function passed to
    /// them is not examined.
    own: HashSet<Cow<'a, str>>,
    /// Bodies of lambdas that are assigned, directly or inside another value.
    held: Vec<Stretch>,
    /// Names and attributes that are read, with their positions.
    read: Vec<(Cow<'a, str>, usize)>,
    /// Which functions are surely called, keyed by the narrowest class of the error in question.
    called: RefCell<HashMap<String, Vec<bool>>>,
}

/// Special methods that run whenever an object of their class is created.
const MAKERS: &[&str] = &["__init__", "__new__", "__post_init__"];

fn is_within(at: usize, (from, to): Stretch) -> bool {
    from <= at && at < to
}

impl<'a> Course<'a> {
    pub fn of(statements: &'a [Stmt]) -> Self {
        let mut course = Self {
            exits: Exits::of(statements),
            empty: Empty::of(statements),
            ..Self::default()
        };
        body(&mut course.of_files, statements);
        body(&mut Functions(&mut course.own), statements);
        course.ends(statements);
        body(&mut course, statements);
        let named: HashSet<Stretch> = course.functions.iter().map(|(_, s)| *s).collect();
        let held = std::mem::take(&mut course.held);
        course
            .skipped
            .extend(held.into_iter().filter(|s| !named.contains(s)));
        course
    }

    /// Whether the code at `at` surely runs and an error of these classes is caught neither there
    /// nor at the calls of its function.
    pub fn reaches(&self, at: usize, errors: &[&str]) -> bool {
        let first = errors.first().copied().unwrap_or_default();
        let known = self.called.borrow().get(first).cloned();
        let called = known.unwrap_or_else(|| {
            let called = self.surely_called(errors);
            let mut all = self.called.borrow_mut();
            all.insert(first.to_owned(), called.clone());
            called
        });
        self.is_plain(at, errors) && self.around(at).all(|function| called[function])
    }

    /// Whether the code is inside a `try` whose handler names the error or is bare.
    pub fn expects(&self, at: usize, errors: &[&str]) -> bool {
        let named = |by: &[&str]| by.iter().any(|name| errors.contains(name));
        let caught = |(stretch, by): &(Stretch, Vec<&str>)| is_within(at, *stretch) && named(by);
        self.caught.iter().any(caught) || self.bare.iter().any(|s| is_within(at, *s))
    }

    /// Whether nothing in the same function skips the code or catches these errors.
    fn is_plain(&self, at: usize, errors: &[&str]) -> bool {
        let caught = |names: &[&str]| names.is_empty() || names.iter().any(|n| errors.contains(n));
        !self.skipped.iter().any(|s| is_within(at, *s))
            && !self
                .caught
                .iter()
                .any(|(s, by)| is_within(at, *s) && caught(by))
    }

    /// The functions that contain the position.
    fn around(&self, at: usize) -> impl Iterator<Item = usize> {
        let all = self.functions.iter().enumerate();
        all.filter(move |(_, (_, s))| is_within(at, *s))
            .map(|(i, _)| i)
    }

    /// The functions that are called, or passed to code that may call them, outside themselves and
    /// where the code surely runs.
    fn surely_called(&self, errors: &[&str]) -> Vec<bool> {
        let mut named: HashMap<&str, Vec<usize>> = HashMap::new();
        for (function, (name, _)) in self.functions.iter().enumerate() {
            named.entry(name).or_default().push(function);
        }
        let reads = self.read.iter().filter_map(|(name, at)| {
            let of = named.get(&**name)?;
            let around: Vec<usize> = self.around(*at).collect();
            self.is_plain(*at, errors).then_some((of, *at, around))
        });
        let reads: Vec<_> = reads.collect();
        let mut called = vec![false; self.functions.len()];
        loop {
            let mut more = false;
            for (of, at, around) in &reads {
                if !around.iter().all(|one| called[*one]) {
                    continue;
                }
                for function in *of {
                    let late = self.late.get(*function).copied().unwrap_or_default();
                    if !called[*function] && !late && !is_within(*at, self.functions[*function].1) {
                        called[*function] = true;
                        more = true;
                    }
                }
            }
            if !more {
                return called;
            }
        }
    }

    /// Marks the statements after one that never continues.
    fn ends(&mut self, statements: &'a [Stmt]) {
        let last = statements
            .iter()
            .position(|s| self.exits.may_leave(s, false));
        if let Some(last) = last {
            self.skip(&statements[last + 1..]);
        }
    }

    fn skip(&mut self, statements: &'a [Stmt]) {
        self.skipped.extend(stretch(statements));
    }

    fn attempted(&mut self, statements: &'a [Stmt], handlers: &'a [ExceptHandler]) {
        self.ends(statements);
        for ExceptHandler::ExceptHandler(handler) in handlers {
            self.skip(&handler.body);
            self.ends(&handler.body);
            if handler.type_.is_none() {
                self.bare.extend(stretch(statements));
            }
            let by = handler.type_.as_deref().map_or_else(Vec::new, classes);
            self.caught.extend(stretch(statements).map(|s| (s, by)));
        }
    }

    fn function(&mut self, name: &'a ast::Identifier, statements: &'a [Stmt], late: bool) {
        self.ends(statements);
        if let Some(stretch) = stretch(statements) {
            let class = self.makers.get(&stretch.0).copied();
            self.functions
                .push((fold(class.unwrap_or(name.as_str())), stretch));
            self.late.push(late);
        }
    }

    /// `__init__` runs where an object is created.
    fn class(&mut self, class: &'a ast::StmtClassDef) {
        for statement in &class.body {
            if let Stmt::FunctionDef(x) = statement
                && MAKERS.contains(&x.name.as_str())
                && let Some((start, _)) = stretch(&x.body)
            {
                self.makers.insert(start, class.name.as_str());
            }
        }
    }

    fn comprehended(&mut self, elements: &[&Expr], generators: &[ast::Comprehension]) {
        let none = |g: &ast::Comprehension| self.empty.is(&g.iter) || self.of_files.is(&g.iter);
        if generators.iter().any(none) {
            self.skipped
                .extend(elements.iter().map(|e| bytes(e.range())));
        }
    }
}

fn bytes(range: TextRange) -> Stretch {
    (range.start().to_usize(), range.end().to_usize())
}

fn stretch(statements: &[Stmt]) -> Option<Stretch> {
    let (first, last) = (statements.first()?, statements.last()?);
    Some((bytes(first.range()).0, bytes(last.range()).1))
}

/// The classes that a handler names; empty if one of them is unknown.
fn classes(e: &Expr) -> Vec<&str> {
    fn one(e: &Expr) -> Option<&str> {
        match e {
            Expr::Name(name) => Some(name.id.as_str()),
            Expr::Attribute(x) => Some(x.attr.as_str()),
            _ => None,
        }
    }
    let found: Option<Vec<&str>> = match e {
        Expr::Tuple(x) => x.elts.iter().map(one).collect(),
        e => one(e).map(|name| vec![name]),
    };
    let wide = |name: &&str| matches!(*name, "Exception" | "BaseException");
    found
        .filter(|names| !names.iter().any(wide))
        .unwrap_or_default()
}

/// Collects the names of all functions and classes.
struct Functions<'s, 'a>(&'s mut HashSet<Cow<'a, str>>);

impl<'a> Visitor<'a> for Functions<'_, 'a> {
    fn bind(&mut self, name: &'a str, _at: TextRange, to: Bound<'a>) {
        if matches!(to, Bound::Function(_) | Bound::Class(_)) {
            self.0.insert(fold(name));
        }
    }
}

/// Callees that store a function for later use, which may never come.
const LATER: &[&str] = &[
    "Thread",
    "defaultdict",
    "field",
    "partial",
    "property",
    "register",
    "setdefault",
    "submit",
];

/// Builtins that do not call their arguments.
const LOOKS: &[&str] = &[
    "callable",
    "id",
    "isinstance",
    "len",
    "print",
    "repr",
    "str",
    "type",
];

impl Course<'_> {
    /// Whether a `lambda` at this place is called, possibly by the function it is passed to.
    fn runs_at_once(&self, place: ExprPlace<'_>) -> bool {
        match place {
            ExprPlace::Called => true,
            ExprPlace::Argument(call) | ExprPlace::Keyword(call) => {
                let name = match &*call.func {
                    Expr::Name(f) => f.id.as_str(),
                    Expr::Attribute(f) => f.attr.as_str(),
                    _ => return false,
                };
                !LOOKS.contains(&name) && !LATER.contains(&name) && !self.own.contains(&fold(name))
            }
            _ => false,
        }
    }
}

/// Whether a function named at this place may be called there.
fn calls_there(place: ExprPlace<'_>) -> bool {
    match place {
        ExprPlace::Called | ExprPlace::Decorator => true,
        ExprPlace::Argument(call) | ExprPlace::Keyword(call) => {
            !matches!(&*call.func, Expr::Name(n) if LOOKS.contains(&n.id.as_str()))
        }
        _ => false,
    }
}

/// Whether the test is `__name__ == "__main__"`, which is true in a run.
fn is_main(test: &Expr) -> bool {
    let Expr::Compare(x) = test else { return false };
    let name = |e: &Expr| matches!(e, Expr::Name(n) if n.id.as_str() == "__name__");
    name(&x.left) && matches!(x.ops.as_slice(), [ast::CmpOp::Eq])
}

fn is_true(test: &Expr) -> bool {
    matches!(test, Expr::Constant(c) if matches!(&c.value, Constant::Bool(true) | Constant::Int(_)))
}

/// Whether the `with` item suppresses errors: `with suppress(…):`.
fn suppresses(item: &ast::WithItem) -> bool {
    let Expr::Call(call) = &item.context_expr else {
        return false;
    };
    match &*call.func {
        Expr::Name(name) => name.id.as_str() == "suppress",
        Expr::Attribute(x) => matches!(x.attr.as_str(), "suppress" | "raises"),
        _ => false,
    }
}

impl<'a> Visitor<'a> for Course<'a> {
    fn statement(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::If(x) => {
                if is_main(&x.test) {
                    self.ends(&x.body);
                } else {
                    self.skip(&x.body);
                }
                self.skip(&x.orelse);
            }
            Stmt::While(x) => {
                if is_true(&x.test) {
                    self.ends(&x.body);
                } else {
                    self.skip(&x.body);
                }
                self.skip(&x.orelse);
            }
            Stmt::For(x) => {
                if self.empty.is(&x.iter) || self.of_files.is(&x.iter) {
                    self.skip(&x.body);
                }
                self.ends(&x.body);
                self.skip(&x.orelse);
            }
            Stmt::AsyncFor(x) => {
                self.ends(&x.body);
                self.skip(&x.orelse);
            }
            Stmt::Match(x) => x.cases.iter().for_each(|case| self.skip(&case.body)),
            Stmt::Try(x) => self.attempted(&x.body, &x.handlers),
            Stmt::TryStar(x) => self.attempted(&x.body, &x.handlers),
            // The message is evaluated only if the assertion fails.
            Stmt::Assert(x) => self.skipped.extend(x.msg.iter().map(|e| bytes(e.range()))),
            Stmt::With(x) if x.items.iter().any(suppresses) => self.skip(&x.body),
            Stmt::With(x) => self.ends(&x.body),
            Stmt::FunctionDef(x) => self.function(&x.name, &x.body, false),
            Stmt::ClassDef(x) => self.class(x),
            Stmt::AsyncFunctionDef(x) => self.function(&x.name, &x.body, true),
            Stmt::AsyncWith(_)
            | Stmt::Return(_)
            | Stmt::Delete(_)
            | Stmt::Assign(_)
            | Stmt::TypeAlias(_)
            | Stmt::AugAssign(_)
            | Stmt::AnnAssign(_)
            | Stmt::Raise(_)
            | Stmt::Import(_)
            | Stmt::ImportFrom(_)
            | Stmt::Global(_)
            | Stmt::Nonlocal(_)
            | Stmt::Expr(_)
            | Stmt::Pass(_)
            | Stmt::Break(_)
            | Stmt::Continue(_) => {}
        }
    }

    fn expression(&mut self, e: &'a Expr, place: ExprPlace<'a>) {
        match e {
            Expr::Name(name) if name.ctx == ast::ExprContext::Load && calls_there(place) => {
                let at = bytes(e.range()).0;
                self.read.push((fold(name.id.as_str()), at));
            }
            Expr::Attribute(x) => {
                let at = bytes(e.range()).1;
                self.read.push((fold(x.attr.as_str()), at));
            }
            Expr::IfExp(x) => {
                self.skipped.push(bytes(x.body.range()));
                self.skipped.push(bytes(x.orelse.range()));
            }
            // In `a < b < c`, `c` is not evaluated if `a < b` is false.
            Expr::Compare(x) => {
                let later = x.comparators.iter().skip(1);
                self.skipped.extend(later.map(|e| bytes(e.range())));
            }
            Expr::BoolOp(x) => {
                let later = x.values.iter().skip(1);
                self.skipped.extend(later.map(|e| bytes(e.range())));
            }
            Expr::ListComp(x) => self.comprehended(&[&x.elt], &x.generators),
            Expr::SetComp(x) => self.comprehended(&[&x.elt], &x.generators),
            Expr::DictComp(x) => self.comprehended(&[&x.key, &x.value], &x.generators),
            Expr::GeneratorExp(x) => {
                self.comprehended(&[&x.elt], &x.generators);
                if !matches!(place, ExprPlace::Argument(_)) {
                    self.skipped.push(bytes(x.elt.range()));
                }
            }
            Expr::Lambda(x) if matches!(place, ExprPlace::Assigned) => {
                self.held.push(bytes(x.body.range()));
            }
            Expr::Lambda(x) if !self.runs_at_once(place) => {
                self.skipped.push(bytes(x.body.range()));
            }
            Expr::Yield(_) | Expr::YieldFrom(_) => {
                let at = bytes(e.range()).0;
                let innermost = self.around(at).max_by_key(|i| self.functions[*i].1.0);
                if let Some(late) = innermost.and_then(|i| self.late.get_mut(i)) {
                    *late = true;
                }
            }
            Expr::Name(_)
            | Expr::NamedExpr(_)
            | Expr::BinOp(_)
            | Expr::UnaryOp(_)
            | Expr::Lambda(_)
            | Expr::Dict(_)
            | Expr::Set(_)
            | Expr::Await(_)
            | Expr::Call(_)
            | Expr::FormattedValue(_)
            | Expr::JoinedStr(_)
            | Expr::Constant(_)
            | Expr::Subscript(_)
            | Expr::Starred(_)
            | Expr::List(_)
            | Expr::Tuple(_)
            | Expr::Slice(_) => {}
        }
        // Annotations may be evaluated late or never, depending on the Python version and the
        // scope.
        if let ExprPlace::Annotation = place {
            self.skipped.push(bytes(e.range()));
        }
    }

    /// `f = lambda: …` may never be called either.
    fn bind(&mut self, name: &'a str, _at: TextRange, to: Bound<'a>) {
        if let Bound::Value(Expr::Lambda(lambda)) = to {
            self.functions
                .push((fold(name), bytes(lambda.body.range())));
            self.late.push(false);
        }
    }
}
