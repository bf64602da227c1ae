//! What surely happens in a run: what fails there fails the run. A branch may not be taken, a function may
//! not be called, and an error may be caught.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use crate::analysis::fold::fold;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Constant, ExceptHandler, Expr, Ranged, Stmt};
use crate::analysis::walk::{Bound, ExprPlace, Visitor, body};

/// From one byte up to another.
type Stretch = (usize, usize);

/// The stretches of a snippet that need not run, or whose errors need not end it.
#[derive(Default)]
pub(super) struct Course<'a> {
    skipped: Vec<Stretch>,
    /// Bodies of `try`, with the names of what is caught; none: whatever it is.
    caught: Vec<(Stretch, Vec<&'a str>)>,
    /// Bodies of `try` with a handler that names nothing.
    bare: Vec<Stretch>,
    functions: Vec<(Cow<'a, str>, Stretch)>,
    /// Bodies that a call does not run: of generators and coroutines.
    late: Vec<bool>,
    /// Where the special methods of classes begin that run with every object, and the classes' names.
    makers: HashMap<usize, &'a str>,
    exits: Exits<'a>,
    empty: Empty<'a>,
    /// Names and attributes that are read, and where.
    read: Vec<(Cow<'a, str>, usize)>,
    /// Which functions are surely called, by the narrowest class of the errors that end them.
    called: RefCell<HashMap<String, Vec<bool>>>,
}

/// Special methods that run with every object of their class.
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
        course.ends(statements);
        body(&mut course, statements);
        course
    }

    /// Whether the code at `at` surely runs, and nothing catches an error of one of these classes there
    /// or where its function is called.
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

    /// Whether a handler that names the error, or nothing at all, stands around it.
    pub fn expects(&self, at: usize, errors: &[&str]) -> bool {
        let named = |by: &[&str]| by.iter().any(|name| errors.contains(name));
        let caught = |(stretch, by): &(Stretch, Vec<&str>)| is_within(at, *stretch) && named(by);
        self.caught.iter().any(caught) || self.bare.iter().any(|s| is_within(at, *s))
    }

    /// Whether nothing in its own function skips it or catches these errors.
    fn is_plain(&self, at: usize, errors: &[&str]) -> bool {
        let caught = |names: &[&str]| names.is_empty() || names.iter().any(|n| errors.contains(n));
        !self.skipped.iter().any(|s| is_within(at, *s))
            && !self
                .caught
                .iter()
                .any(|(s, by)| is_within(at, *s) && caught(by))
    }

    /// The functions that it stands in.
    fn around(&self, at: usize) -> impl Iterator<Item = usize> {
        let all = self.functions.iter().enumerate();
        all.filter(move |(_, (_, s))| is_within(at, *s))
            .map(|(i, _)| i)
    }

    /// The functions that are called, or handed to what may call them, where the code surely runs, outside of
    /// themselves.
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

    /// What stands behind a statement that nothing goes on from.
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

    /// `__init__` runs where an object is made.
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
        if generators.iter().any(|g| self.empty.is(&g.iter)) {
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

/// The classes that a handler names; none where one of them could be anything.
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

/// What ends a run with success: the names of `sys`, of `sys.exit`, and of functions that call it.
#[derive(Default)]
struct Exits<'a> {
    sys: HashSet<&'a str>,
    exit: HashSet<&'a str>,
}

impl<'a> Exits<'a> {
    fn of(statements: &'a [Stmt]) -> Self {
        let mut exits = Self::default();
        exits.exit.extend(["exit", "quit"]);
        body(&mut exits, statements);
        let functions = statements.iter().filter_map(|s| match s {
            Stmt::FunctionDef(x) => Some(x),
            _ => None,
        });
        let leaving = functions.filter(|x| x.body.iter().any(|s| exits.exits(s)));
        let leaving: Vec<&str> = leaving.map(|x| x.name.as_str()).collect();
        exits.exit.extend(leaving);
        exits
    }

    /// Whether nothing behind a statement may run: it returns, ends the round of a loop or the run, or may.
    /// An error that is raised may be caught further out, so it counts as well.
    fn may_leave(&self, statement: &Stmt, in_loop: bool) -> bool {
        let any = |all: &[Stmt], in_loop: bool| all.iter().any(|s| self.may_leave(s, in_loop));
        match statement {
            Stmt::Return(_) => true,
            Stmt::Break(_) | Stmt::Continue(_) => !in_loop,
            Stmt::If(x) => any(&x.body, in_loop) || any(&x.orelse, in_loop),
            Stmt::For(x) => any(&x.body, true) || any(&x.orelse, in_loop),
            Stmt::While(x) => {
                let endless = is_true(&x.test) && !x.body.iter().any(breaks);
                endless || any(&x.body, true) || any(&x.orelse, in_loop)
            }
            Stmt::With(x) => any(&x.body, in_loop),
            Stmt::Try(x) => {
                let handlers = x.handlers.iter();
                any(&x.body, in_loop)
                    || any(&x.orelse, in_loop)
                    || any(&x.finalbody, in_loop)
                    || handlers
                        .into_iter()
                        .any(|ExceptHandler::ExceptHandler(h)| any(&h.body, in_loop))
            }
            Stmt::Match(x) => x.cases.iter().any(|case| any(&case.body, in_loop)),
            Stmt::Raise(_) => true,
            Stmt::Assert(x) => {
                matches!(&*x.test, Expr::Constant(c) if c.value == Constant::Bool(false))
            }
            other => self.exits(other),
        }
    }

    /// `sys.exit()`, `raise SystemExit`, or a call of what does so.
    fn exits(&self, statement: &Stmt) -> bool {
        match statement {
            Stmt::Expr(x) => match &*x.value {
                Expr::Call(call) => match &*call.func {
                    Expr::Attribute(exit) => {
                        let of_sys = matches!(&*exit.value, Expr::Name(n) if self.sys.contains(n.id.as_str()));
                        of_sys && exit.attr.as_str() == "exit"
                    }
                    Expr::Name(exit) => self.exit.contains(exit.id.as_str()),
                    _ => false,
                },
                _ => false,
            },
            Stmt::Raise(x) => x.exc.as_deref().is_some_and(|e| {
                let class = match e {
                    Expr::Call(call) => &*call.func,
                    e => e,
                };
                matches!(class, Expr::Name(n) if n.id.as_str() == "SystemExit")
            }),
            Stmt::If(x) => x.body.iter().chain(&x.orelse).any(|s| self.exits(s)),
            _ => false,
        }
    }
}

impl<'a> Visitor<'a> for Exits<'a> {
    fn bind(&mut self, name: &'a str, _at: TextRange, to: Bound<'a>) {
        match to {
            Bound::Module("sys") => drop(self.sys.insert(name)),
            Bound::Member {
                module: "sys",
                name: "exit",
            } => drop(self.exit.insert(name)),
            _ => {}
        }
    }
}

/// Whether it leaves the loop that it stands in.
fn breaks(statement: &Stmt) -> bool {
    match statement {
        Stmt::Break(_) => true,
        Stmt::If(x) => x.body.iter().chain(&x.orelse).any(breaks),
        Stmt::With(x) => x.body.iter().any(breaks),
        Stmt::Try(x) => {
            let handlers = x.handlers.iter();
            let mut handled = handlers.flat_map(|ExceptHandler::ExceptHandler(h)| &h.body);
            x.body
                .iter()
                .chain(&x.orelse)
                .chain(&x.finalbody)
                .any(breaks)
                || handled.any(breaks)
        }
        Stmt::Match(x) => x.cases.iter().any(|case| case.body.iter().any(breaks)),
        Stmt::For(x) => x.orelse.iter().any(breaks),
        Stmt::While(x) => x.orelse.iter().any(breaks),
        _ => false,
    }
}

/// `[]`, `range(0)`: nothing goes through it.
fn is_empty(e: &Expr) -> bool {
    match e {
        Expr::List(x) => x.elts.is_empty(),
        Expr::Tuple(x) => x.elts.is_empty(),
        Expr::Dict(x) => x.values.is_empty(),
        Expr::Constant(c) => c.value.as_str().is_some_and(String::is_empty),
        Expr::Call(call) => {
            let range = matches!(&*call.func, Expr::Name(n) if n.id.as_str() == "range");
            let zero = |e: &Expr| matches!(e, Expr::Constant(c) if matches!(&c.value, Constant::Int(n) if u8::try_from(n) == Ok(0)));
            range && matches!(call.args.as_slice(), [end] if zero(end))
        }
        _ => false,
    }
}

/// Names that never hold anything: each binding is empty, and nothing could put something in.
#[derive(Default)]
struct Empty<'a> {
    bound: HashMap<Cow<'a, str>, bool>,
    used: HashSet<Cow<'a, str>>,
    /// Where a name is only gone through or looked at.
    harmless: HashSet<usize>,
}

impl<'a> Empty<'a> {
    fn of(statements: &'a [Stmt]) -> Self {
        let mut empty = Self::default();
        body(&mut empty, statements);
        empty
    }

    fn is(&self, e: &Expr) -> bool {
        let Expr::Name(name) = e else {
            return is_empty(e);
        };
        let name = fold(name.id.as_str());
        self.bound.get(&name).copied().unwrap_or_default() && !self.used.contains(&name)
    }

    fn passes(&mut self, e: &Expr) {
        if let Expr::Name(name) = e {
            self.harmless.insert(bytes(name.range()).0);
        }
    }
}

impl<'a> Visitor<'a> for Empty<'a> {
    fn statement(&mut self, statement: &'a Stmt) {
        if let Stmt::For(x) = statement {
            self.passes(&x.iter);
        }
    }

    fn expression(&mut self, e: &'a Expr, place: ExprPlace<'a>) {
        let generators: &[ast::Comprehension] = match e {
            Expr::ListComp(x) => &x.generators,
            Expr::SetComp(x) => &x.generators,
            Expr::DictComp(x) => &x.generators,
            Expr::GeneratorExp(x) => &x.generators,
            _ => &[],
        };
        generators.iter().for_each(|g| self.passes(&g.iter));
        match e {
            Expr::Call(call) => {
                if matches!(&*call.func, Expr::Name(n) if LOOKS.contains(&n.id.as_str())) {
                    call.args.iter().for_each(|e| self.passes(e));
                }
            }
            Expr::Name(name) if name.ctx == ast::ExprContext::Load => {
                let harmless = self.harmless.contains(&bytes(name.range()).0);
                if !harmless && !matches!(place, ExprPlace::Compared) {
                    self.used.insert(fold(name.id.as_str()));
                }
            }
            _ => {}
        }
    }

    fn bind(&mut self, name: &'a str, _at: TextRange, to: Bound<'a>) {
        let empty = matches!(to, Bound::Value(e) if is_empty(e));
        let all = self.bound.entry(fold(name)).or_insert(true);
        *all &= empty;
    }
}

/// Builtins that call nothing of what they are given.
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

/// Whether a function that is named there may be called for it.
fn calls_there(place: ExprPlace<'_>) -> bool {
    match place {
        ExprPlace::Called | ExprPlace::Decorator => true,
        ExprPlace::Argument(call) | ExprPlace::Keyword(call) => {
            !matches!(&*call.func, Expr::Name(n) if LOOKS.contains(&n.id.as_str()))
        }
        _ => false,
    }
}

/// `__name__ == "__main__"`, which it is.
fn is_main(test: &Expr) -> bool {
    let Expr::Compare(x) = test else { return false };
    let name = |e: &Expr| matches!(e, Expr::Name(n) if n.id.as_str() == "__name__");
    name(&x.left) && matches!(x.ops.as_slice(), [ast::CmpOp::Eq])
}

fn is_true(test: &Expr) -> bool {
    matches!(test, Expr::Constant(c) if matches!(&c.value, Constant::Bool(true) | Constant::Int(_)))
}

/// `with suppress(…):`
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
                if self.empty.is(&x.iter) {
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
            // Said only where the assertion fails.
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
            // `a < b < c`, where nothing looks at c if a is not below b.
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
        // Evaluated late or never, as the version and the scope have it.
        if let ExprPlace::Annotation = place {
            self.skipped.push(bytes(e.range()));
        }
    }

    /// `f = lambda: …`, which may never be called either.
    fn bind(&mut self, name: &'a str, _at: TextRange, to: Bound<'a>) {
        if let Bound::Value(Expr::Lambda(lambda)) = to {
            self.functions
                .push((fold(name), bytes(lambda.body.range())));
            self.late.push(false);
        }
    }
}
