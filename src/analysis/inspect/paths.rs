//! File names built from literals, loop variables, times and names of temporary folders.

use std::cell::Cell;

use super::Inspector;
use super::files::{PathKind, text_kind};
use super::sources::{Item, Source, Spot};
use crate::analysis::fold::fold;
use crate::analysis::parse::ast::{self, Constant, Expr};
use crate::analysis::resolve::{ScopeId, Val};
use crate::analysis::walk::Bound;

/// The position of a piece in a computed name.
#[derive(Clone, Copy, Debug, PartialEq)]
enum PiecePlace {
    /// The name may begin with the piece.
    First,
    Later,
}

/// The kind of one literal piece of a computed name.
fn piece_kind(text: &str, place: PiecePlace, in_memory: bool) -> PathKind {
    let up = text.split('/').any(|s| s == "..");
    let odd = text.contains(['\\', '\0']) || (up && !in_memory);
    match place {
        PiecePlace::First if text_kind(text) == PathKind::Url => PathKind::Url,
        PiecePlace::First if text.starts_with(['/', '~']) => PathKind::Outside,
        _ if odd => PathKind::Outside,
        // No path leads out of the files in memory, but this one may fail.
        _ if up => PathKind::Computed,
        _ => PathKind::Plain,
    }
}

/// Functions that create a temporary file or folder, which belongs to the run.
const TEMPORARY: &[&str] = &[
    "tempfile.NamedTemporaryFile",
    "tempfile.TemporaryDirectory",
    "tempfile.gettempdir",
    "tempfile.mkdtemp",
];

/// Functions that return a date or time, which consists of digits in every format.
const TIMES: &[&str] = &[
    "datetime.date",
    "datetime.date.today",
    "datetime.datetime",
    "datetime.datetime.now",
    "datetime.datetime.today",
    "datetime.datetime.utcnow",
    "pandas.Timestamp",
    "pandas.Timestamp.now",
    "pandas.Timestamp.today",
    "time.strftime",
    "time.time",
    "time.time_ns",
    "uuid.uuid4",
];

/// Functions that return the run's own folder.
const OWN_FOLDER: &[&str] = &["os.getcwd", "pathlib.Path.cwd"];

/// Functions whose result leads nowhere else than their argument.
const KEEPS: &[&str] = &["os.path.abspath", "os.path.basename", "os.path.splitext"];

/// Attributes of paths and times that lead nowhere else.
const PARTS: &[&str] = &[
    "day", "hex", "hour", "minute", "month", "name", "parent", "second", "stem", "suffix", "year",
];

/// The nesting limit; no ordinary name is nested deeper.
const DEPTH: usize = 12;

/// The limit on pieces; no ordinary name has more.
const STEPS: usize = 4_000;

/// Follows one name through the snippet.
struct Trail<'i, 'a> {
    i: &'i Inspector<'a>,
    steps: Cell<usize>,
}

impl<'a> Inspector<'a> {
    /// The kind of a computed name: outside or a URL if a literal piece makes it so, `Followed` if
    /// all other pieces are loop variables and numbers, and `Computed` otherwise.
    pub(super) fn computed_kind(&self, e: &'a Expr) -> PathKind {
        let steps = Cell::new(0);
        let trail = Trail { i: self, steps };
        let at = (e, self.here());
        match trail.pieces(at, PiecePlace::First, 0) {
            PathKind::Outside => PathKind::Outside,
            PathKind::Url => PathKind::Url,
            PathKind::Plain if trail.followed(at, Share::All, 0) => PathKind::Followed,
            _ => PathKind::Computed,
        }
    }

    pub(super) fn is_literal(&self, (e, scope): Spot<'a>) -> bool {
        let vals = self.r.eval(e, scope);
        !vals.is_empty() && vals.iter().all(|v| matches!(v, Val::Text(_)))
    }

    /// The expressions bound to a name of this scope, if nothing else binds it.
    pub(super) fn held(&self, name: &ast::ExprName, here: ScopeId) -> Option<Vec<&'a Expr>> {
        let found = self.r.scopes.lookup(&fold(name.id.as_str()), here);
        let bindings = found.bindings.iter().flat_map(|(all, _)| all.iter());
        let held = bindings.map(|b| match b.to {
            Bound::Value(e) | Bound::With(e) if b.scope == here => Some(e),
            _ => None,
        });
        held.collect::<Option<Vec<_>>>()
            .filter(|held| !held.is_empty())
    }

    /// Whether the callee is one of these builtins.
    fn calls_builtin(&self, func: &'a Expr, scope: ScopeId, names: &[&str]) -> bool {
        let vals = self.r.eval(func, scope);
        let known = |v: &Val<'a>| matches!(v, Val::Builtin(b) if names.contains(&&**b));
        !vals.is_empty() && vals.iter().all(known)
    }

    /// Whether the callee is one of these members.
    pub(super) fn makes(&self, func: &'a Expr, scope: ScopeId, members: &[&str]) -> bool {
        let vals = self.r.eval(func, scope);
        let made = |v: &Val<'a>| matches!(v, Val::Member(path) if members.contains(&&**path));
        !vals.is_empty() && vals.iter().all(made)
    }

    /// Whether the callee is `os.path.join` or `pathlib.Path`.
    pub(super) fn is_path_maker(&self, func: &'a Expr, scope: ScopeId) -> bool {
        let vals = self.r.eval(func, scope);
        let makes = |v: &Val<'a>| matches!(v, Val::Member(path) if crate::analysis::resolve::makes_path(path));
        !vals.is_empty() && vals.iter().all(makes)
    }

    /// Whether only loops bind the name.
    pub(super) fn is_of_loop(&self, name: &ast::ExprName, scope: ScopeId) -> bool {
        let found = self.r.scopes.lookup(&fold(name.id.as_str()), scope);
        let mut bindings = found
            .bindings
            .iter()
            .flat_map(|(all, _)| all.iter())
            .peekable();
        bindings.peek().is_some()
            && bindings.all(|b| {
                matches!(
                    b.to,
                    Bound::ElementOf(_) | Bound::Part(..) | Bound::Within(_)
                )
            })
    }
}

/// How much of a name the expression makes up.
#[derive(Clone, Copy, PartialEq)]
enum Share {
    /// The whole name: for a literal list, each element is one.
    All,
    /// A piece next to literals.
    Some,
}

impl<'a> Trail<'_, 'a> {
    fn is_lost(&self, depth: usize) -> bool {
        self.steps.set(self.steps.get() + 1);
        depth > DEPTH || self.steps.get() > STEPS
    }

    /// The worst kind of the literal pieces of a computed name. Arguments of a method are no pieces
    /// (`name.replace("/", "_")`), except if they fill gaps or can start a new path.
    fn pieces(&self, (e, scope): Spot<'a>, place: PiecePlace, depth: usize) -> PathKind {
        if self.is_lost(depth) {
            return PathKind::Computed;
        }
        let memory = self.i.files_in_memory();
        let piece = |e: &'a Expr, place: PiecePlace| self.pieces((e, scope), place, depth + 1);
        let row = |all: &'a [Expr]| {
            let (first, rest) = (all.iter().take(1), all.iter().skip(1));
            first
                .map(|e| piece(e, place))
                .chain(rest.map(|e| piece(e, PiecePlace::Later)))
                .max()
                .unwrap_or(PathKind::None)
        };
        let anew = |all: &'a [Expr]| {
            let kinds = all.iter().map(|e| piece(e, PiecePlace::First));
            kinds.max().unwrap_or(PathKind::None)
        };
        let whole = |all: Vec<Spot<'a>>| {
            let kinds = all.into_iter().map(|at| self.pieces(at, place, depth + 1));
            kinds.max().unwrap_or(PathKind::None)
        };
        match e {
            Expr::Constant(c) => match &c.value {
                Constant::Str(text) => piece_kind(text, place, memory),
                _ => PathKind::None,
            },
            Expr::JoinedStr(x) => row(&x.values),
            Expr::FormattedValue(x) => {
                let spec = x.format_spec.as_deref();
                let spec = spec.map_or(PathKind::None, |spec| piece(spec, place));
                piece(&x.value, place).max(spec)
            }
            Expr::Tuple(x) => anew(&x.elts),
            Expr::List(x) => anew(&x.elts),
            Expr::BoolOp(x) => x
                .values
                .iter()
                .map(|e| piece(e, place))
                .max()
                .unwrap_or(PathKind::None),
            Expr::IfExp(x) => piece(&x.body, place).max(piece(&x.orelse, place)),
            Expr::NamedExpr(x) => piece(&x.value, place),
            // `Path("out") / "/etc"` and `"%s" % "/etc"` both give `/etc`.
            Expr::BinOp(x) => {
                let right = match x.op {
                    ast::Operator::Add => PiecePlace::Later,
                    _ => PiecePlace::First,
                };
                piece(&x.left, place).max(piece(&x.right, right))
            }
            Expr::Call(call) => match &*call.func {
                func if self.i.is_path_maker(func, scope) => anew(&call.args),
                func if self.i.makes(func, scope, TEMPORARY) => PathKind::Plain,
                func if self.i.makes(func, scope, TIMES) || self.is_number(func, scope) => {
                    PathKind::None
                }
                func if self.i.makes(func, scope, OWN_FOLDER) => PathKind::None,
                Expr::Attribute(x) if !self.i.makes(&call.func, scope, KEEPS) => {
                    let filled = match &*fold(x.attr.as_str()) {
                        "format" | "join" | "joinpath" => anew(&call.args),
                        _ => PathKind::None,
                    };
                    piece(&x.value, place).max(filled)
                }
                func => row(&call.args)
                    .max(self.i.r.returned(func, scope).map_or(PathKind::None, whole)),
            },
            Expr::Name(name) => {
                let vals = self.i.r.eval(e, scope);
                let kinds = vals.iter().map(|v| match v {
                    Val::Text(text) => piece_kind(text, place, memory),
                    _ => PathKind::None,
                });
                let known = kinds.max().unwrap_or(PathKind::None);
                known.max(self.of_sources(self.i.sources(name, scope), place, depth))
            }
            Expr::Attribute(x) => {
                let stored = self.of_sources(self.i.stored(x, scope), place, depth);
                let part = match PARTS.contains(&x.attr.as_str()) {
                    true => piece(&x.value, place),
                    false => PathKind::None,
                };
                stored.max(part)
            }
            Expr::Subscript(x) => match &*x.value {
                Expr::Call(call) if self.i.makes(&call.func, scope, KEEPS) => {
                    piece(&x.value, place)
                }
                list if self.lists_all((list, scope), depth) => PathKind::Plain,
                _ => PathKind::None,
            },
            _ => PathKind::None,
        }
    }

    fn of_sources(
        &self,
        sources: Option<Vec<Source<'a>>>,
        place: PiecePlace,
        depth: usize,
    ) -> PathKind {
        let kind = |source: Source<'a>| match source {
            Source::Whole(at) => self.pieces(at, place, depth + 1),
            Source::Added(at) => self.pieces(at, PiecePlace::Later, depth + 1),
            Source::Element(at) => {
                let items = self.i.items(at).unwrap_or_default().into_iter();
                let kinds = items.map(|item| match item {
                    Item::Of(at) => self.pieces(at, place, depth + 1),
                    Item::Listed(call, scope) => match self.lists_own(call, scope, depth + 1) {
                        true => PathKind::Plain,
                        false => PathKind::Computed,
                    },
                });
                kinds.max().unwrap_or(PathKind::None)
            }
        };
        let kinds = sources.into_iter().flatten().map(kind);
        kinds.max().unwrap_or(PathKind::None)
    }

    /// Whether every piece is a literal, a number or the variable of a loop.
    fn followed(&self, (e, scope): Spot<'a>, share: Share, depth: usize) -> bool {
        if self.is_lost(depth) {
            return false;
        }
        let inner = |e: &'a Expr| self.followed((e, scope), Share::Some, depth + 1);
        let same = |e: &'a Expr| self.followed((e, scope), share, depth + 1);
        let part = match has_literal(e) {
            true => Share::Some,
            false => share,
        };
        let part = |e: &'a Expr| self.followed((e, scope), part, depth + 1);
        match e {
            Expr::Constant(c) => matches!(
                c.value,
                Constant::Str(_) | Constant::Int(_) | Constant::Float(_) | Constant::None
            ),
            Expr::JoinedStr(x) => x.values.iter().all(part),
            Expr::FormattedValue(x) => {
                let spec = x.format_spec.as_deref();
                spec.is_some_and(formats_number) || (same(&x.value) && spec.is_none_or(inner))
            }
            Expr::BoolOp(x) => x.values.iter().all(same),
            Expr::IfExp(x) => same(&x.body) && same(&x.orelse),
            Expr::NamedExpr(x) => same(&x.value),
            Expr::BinOp(x) => part(&x.left) && part(&x.right),
            Expr::Tuple(x) => x.elts.iter().all(inner),
            Expr::Name(name) => {
                self.i.is_literal((e, scope))
                    || self.all_followed(self.i.sources(name, scope), share, depth)
            }
            // An attribute of a temporary file, or a column of a row in a loop.
            Expr::Attribute(x) => {
                let of_loop = |e: &Expr| matches!(e, Expr::Name(n) if self.i.is_of_loop(n, scope));
                of_loop(&x.value)
                    || self.all_followed(self.i.stored(x, scope), share, depth)
                    || (PARTS.contains(&x.attr.as_str()) && same(&x.value))
            }
            // A part of a group's key, or a column of a row.
            Expr::Subscript(x) => {
                let literal = matches!(&*x.slice, Expr::Constant(_));
                let of_loop = matches!(&*x.value, Expr::Name(n) if self.i.is_of_loop(n, scope));
                let split = |e: &'a Expr| matches!(e, Expr::Call(call) if self.i.makes(&call.func, scope, KEEPS));
                (literal && (of_loop || (split(&x.value) && same(&x.value))))
                    // One of the files listed in a folder of the run.
                    || self.lists_all((&x.value, scope), depth)
            }
            Expr::Call(call) => self.call_followed(call, scope, share, depth),
            _ => false,
        }
    }

    fn call_followed(
        &self,
        call: &'a ast::ExprCall,
        scope: ScopeId,
        share: Share,
        depth: usize,
    ) -> bool {
        let func = &*call.func;
        let i = self.i;
        let inner = |e: &'a Expr| self.followed((e, scope), Share::Some, depth + 1);
        if [TEMPORARY, TIMES, OWN_FOLDER].iter().any(|members| i.makes(func, scope, members))
            // The result is a number, whatever the argument is.
            || self.is_number(func, scope)
        {
            return true;
        }
        if let Some(returned) = i.r.returned(func, scope) {
            let mut returned = returned.into_iter();
            return returned.all(|at| self.followed(at, share, depth + 1));
        }
        if !call.keywords.is_empty() {
            return false;
        }
        // A single argument is the whole name.
        let one = match call.args.as_slice() {
            [one] => self.followed((one, scope), share, depth + 1),
            all => all.iter().all(inner),
        };
        match func {
            func if i.is_path_maker(func, scope) || i.makes(func, scope, KEEPS) => one,
            func if i.calls_builtin(func, scope, &["open", "round", "str"]) => one,
            Expr::Attribute(x) => {
                self.followed((&x.value, scope), share, depth + 1)
                    && call.args.iter().all(inner)
                    && self.leads_nowhere(&call.args, scope)
            }
            _ => false,
        }
    }

    fn all_followed(&self, sources: Option<Vec<Source<'a>>>, share: Share, depth: usize) -> bool {
        let followed = |source: Source<'a>| match source {
            Source::Whole(at) => self.followed(at, share, depth + 1),
            Source::Added(at) => self.followed(at, Share::Some, depth + 1),
            Source::Element(_) if share == Share::Some => true,
            Source::Element(at) => self.i.items(at).is_none_or(|items| {
                items.into_iter().all(|item| match item {
                    Item::Of(at) => self.followed(at, share, depth + 1),
                    Item::Listed(call, scope) => self.lists_own(call, scope, depth + 1),
                })
            }),
        };
        sources.is_some_and(|all| all.into_iter().all(followed))
    }

    /// Whether every element of the list is a file listed in a folder of the run.
    fn lists_all(&self, at: Spot<'a>, depth: usize) -> bool {
        self.i.items(at).is_some_and(|items| {
            items.into_iter().all(|item| match item {
                Item::Of(_) => false,
                Item::Listed(call, scope) => self.lists_own(call, scope, depth + 1),
            })
        })
    }

    /// Whether the call lists files in a folder of the run.
    fn lists_own(&self, call: &'a ast::ExprCall, scope: ScopeId, depth: usize) -> bool {
        let named = |e: &'a Expr| {
            self.followed((e, scope), Share::All, depth + 1)
                && self.pieces((e, scope), PiecePlace::First, depth + 1) == PathKind::Plain
        };
        let own = |e: &'a Expr| {
            let Expr::Call(made) = e else { return named(e) };
            let here = self.i.makes(&made.func, scope, OWN_FOLDER)
                || (made.args.is_empty() && self.i.is_path_maker(&made.func, scope));
            here && made.keywords.is_empty() || named(e)
        };
        let plain = call.keywords.iter().all(|k| {
            k.arg
                .as_ref()
                .is_some_and(|arg| arg.as_str() == "recursive")
        });
        let method = |x: &ast::ExprAttribute| {
            matches!(x.attr.as_str(), "glob" | "rglob" | "iterdir")
                && !self.i.makes(&call.func, scope, &["glob.glob"])
        };
        plain
            && call.args.iter().all(own)
            && match &*call.func {
                Expr::Attribute(x) if method(x) => own(&x.value),
                _ => true,
            }
    }

    /// Whether the text that a method inserts (its last argument) leads to no other folder.
    fn leads_nowhere(&self, arguments: &'a [Expr], scope: ScopeId) -> bool {
        let put = arguments.last();
        put.is_none_or(|e| self.pieces((e, scope), PiecePlace::First, 0) <= PathKind::Plain)
    }

    /// Whether the callee returns a number: `len(x)`, `int(x)`.
    fn is_number(&self, func: &'a Expr, scope: ScopeId) -> bool {
        self.i.calls_builtin(func, scope, &["len", "int", "float"])
    }
}

/// Whether the expression contains literal text.
fn has_literal(e: &Expr) -> bool {
    match e {
        Expr::Constant(c) => c.value.as_str().is_some_and(|text| !text.is_empty()),
        Expr::JoinedStr(x) => x.values.iter().any(has_literal),
        Expr::BinOp(x) => has_literal(&x.left) || has_literal(&x.right),
        _ => false,
    }
}

/// Whether only a number accepts the format: `:02d`, `:.1f`.
fn formats_number(spec: &Expr) -> bool {
    let Expr::JoinedStr(x) = spec else {
        return false;
    };
    let [Expr::Constant(c)] = x.values.as_slice() else {
        return false;
    };
    c.value
        .as_str()
        .is_some_and(|spec| !spec.contains('%') && spec.ends_with(['d', 'e', 'f', 'g']))
}
