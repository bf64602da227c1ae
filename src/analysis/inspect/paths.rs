//! Names of files that are put together: from literals, loop variables, the time, a temporary folder's name.

use super::Inspector;
use super::files::{Kind, text_kind};
use crate::analysis::fold::fold;
use crate::analysis::parse::ast::{self, Constant, Expr};
use crate::analysis::resolve::{Val, address};
use crate::analysis::walk::Bound;

/// Where a piece of a computed name stands.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    /// The name may begin with it.
    First,
    Later,
}

/// The same for one literal piece of a computed name.
fn piece_kind(text: &str, place: Place, in_memory: bool) -> Kind {
    let up = text.split('/').any(|s| s == "..");
    let odd = text.contains(['\\', '\0']) || (up && !in_memory);
    match place {
        Place::First if text_kind(text) == Kind::Url => Kind::Url,
        Place::First if text.starts_with(['/', '~']) => Kind::Outside,
        _ if odd => Kind::Outside,
        // No path leads out of the files in memory; this one may end with an error.
        _ if up => Kind::Computed,
        _ => Kind::Plain,
    }
}

/// What makes a temporary file or folder, which is the run's own.
const TEMPORARY: &[&str] = &[
    "tempfile.NamedTemporaryFile",
    "tempfile.TemporaryDirectory",
    "tempfile.gettempdir",
    "tempfile.mkdtemp",
];

/// What says which time it is: digits, however it is formatted.
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
];

impl<'a> Inspector<'a> {
    /// A computed name is what its literal pieces say, and to be looked at where anything else than loop
    /// variables and numbers is among the others.
    pub(super) fn computed_kind(&self, e: &'a Expr) -> Kind {
        match self.pieces(e, Place::First, 0) {
            Kind::Outside => Kind::Outside,
            Kind::Url => Kind::Url,
            Kind::Plain if self.followed(e, 0) => Kind::Followed,
            _ => Kind::Computed,
        }
    }

    /// The worst of the literal pieces of a computed name. What a method is given is no piece of it
    /// (`name.replace("/", "_")`), but for what fills gaps or begins the path anew.
    fn pieces(&self, e: &'a Expr, place: Place, depth: usize) -> Kind {
        if depth > 8 {
            return Kind::Computed;
        }
        let piece = |e: &'a Expr, place: Place| self.pieces(e, place, depth + 1);
        let row = |all: &'a [Expr]| {
            let (first, rest) = (all.iter().take(1), all.iter().skip(1));
            first
                .map(|e| piece(e, place))
                .chain(rest.map(|e| piece(e, Place::Later)))
                .max()
                .unwrap_or(Kind::None)
        };
        let anew = |all: &'a [Expr]| {
            let kinds = all.iter().map(|e| piece(e, Place::First));
            kinds.max().unwrap_or(Kind::None)
        };
        match e {
            Expr::Constant(c) => match &c.value {
                Constant::Str(text) => piece_kind(text, place, self.files_in_memory()),
                _ => Kind::None,
            },
            Expr::JoinedStr(x) => row(&x.values),
            Expr::FormattedValue(x) => {
                let spec = x.format_spec.as_deref();
                let spec = spec.map_or(Kind::None, |spec| piece(spec, place));
                piece(&x.value, place).max(spec)
            }
            Expr::Tuple(x) => anew(&x.elts),
            Expr::List(x) => anew(&x.elts),
            // `Path("out") / "/etc"` is `/etc`, and `"%s" % "/etc"` too.
            Expr::BinOp(x) => {
                let right = match x.op {
                    ast::Operator::Add => Place::Later,
                    _ => Place::First,
                };
                piece(&x.left, place).max(piece(&x.right, right))
            }
            Expr::Call(call) => match &*call.func {
                func if self.is_path_maker(func) => anew(&call.args),
                func if self.makes(func, TEMPORARY) => Kind::Plain,
                func if self.makes(func, TIMES) || self.is_count(func) => Kind::None,
                Expr::Attribute(x) => {
                    let filled = match &*fold(x.attr.as_str()) {
                        "format" | "join" | "joinpath" => anew(&call.args),
                        _ => Kind::None,
                    };
                    piece(&x.value, place).max(filled)
                }
                _ => row(&call.args),
            },
            Expr::Name(name) => {
                let vals = self.r.eval(e, self.here());
                let kinds = vals.iter().map(|v| match v {
                    Val::Text(text) => piece_kind(text, place, self.files_in_memory()),
                    _ => Kind::None,
                });
                let held = self.held(name).unwrap_or_default();
                let held = held.into_iter().map(|e| piece(e, place));
                kinds.chain(held).max().unwrap_or(Kind::None)
            }
            Expr::Attribute(x) if x.attr.as_str() == "name" => piece(&x.value, place),
            _ => Kind::None,
        }
    }

    /// Whether everything in it is a literal, a number or what a loop goes through.
    fn followed(&self, e: &'a Expr, depth: usize) -> bool {
        if depth > 8 {
            return false;
        }
        let inner = |e: &'a Expr| self.followed(e, depth + 1);
        match e {
            Expr::Constant(c) => matches!(
                c.value,
                Constant::Str(_) | Constant::Int(_) | Constant::Float(_)
            ),
            Expr::JoinedStr(x) => x.values.iter().all(inner),
            Expr::FormattedValue(x) => {
                inner(&x.value) && x.format_spec.as_deref().is_none_or(inner)
            }
            Expr::BinOp(x) => inner(&x.left) && inner(&x.right),
            Expr::Tuple(x) => x.elts.iter().all(inner),
            Expr::Name(name) => {
                let held = || {
                    self.held(name)
                        .is_some_and(|held| held.into_iter().all(inner))
                };
                self.is_of_loop(name)
                    || self.is_literal(e)
                    || held()
                    || self.is_handed_literals(name)
            }
            // A temporary file's own, and a column of a row that a loop goes through.
            Expr::Attribute(x) => {
                let of_loop = |e: &Expr| matches!(e, Expr::Name(n) if self.is_of_loop(n));
                of_loop(&x.value) || (x.attr.as_str() == "name" && inner(&x.value))
            }
            // A part of a group's key, a column of a row.
            Expr::Subscript(x) => {
                let literal = matches!(&*x.slice, Expr::Constant(_));
                literal && matches!(&*x.value, Expr::Name(n) if self.is_of_loop(n))
            }
            Expr::Call(call)
                if self.makes(&call.func, TEMPORARY) || self.makes(&call.func, TIMES) =>
            {
                true
            }
            // A number, whatever is counted.
            Expr::Call(call) if self.is_count(&call.func) => true,
            Expr::Call(call) if call.keywords.is_empty() && call.args.iter().all(inner) => {
                match &*call.func {
                    func if self.is_path_maker(func) => true,
                    Expr::Attribute(x) => inner(&x.value) && self.leads_nowhere(&call.args),
                    func => {
                        let vals = self.r.eval(func, self.here());
                        let known = |v: &Val<'a>| matches!(v, Val::Builtin(b) if matches!(&**b, "str" | "int" | "round" | "open"));
                        !vals.is_empty() && vals.iter().all(known)
                    }
                }
            }
            _ => false,
        }
    }

    /// Whether what a method puts into a name, its last argument, leads to no other folder.
    fn leads_nowhere(&self, arguments: &'a [Expr]) -> bool {
        let put = arguments.last();
        put.is_none_or(|e| self.pieces(e, Place::First, 0) <= Kind::Plain)
    }

    pub(super) fn is_literal(&self, e: &'a Expr) -> bool {
        let vals = self.r.eval(e, self.here());
        !vals.is_empty() && vals.iter().all(|v| matches!(v, Val::Text(_)))
    }

    /// The expressions that a name of this very scope is bound to, where nothing else binds it.
    pub(super) fn held(&self, name: &ast::ExprName) -> Option<Vec<&'a Expr>> {
        let here = self.here();
        let found = self.r.scopes.lookup(&fold(name.id.as_str()), here);
        let bindings = found.bindings.iter().flat_map(|(all, _)| all.iter());
        let held = bindings.map(|b| match b.to {
            Bound::Value(e) | Bound::With(e) if b.scope == here => Some(e),
            _ => None,
        });
        held.collect::<Option<Vec<_>>>()
            .filter(|held| !held.is_empty())
    }

    /// Whether it is a parameter that every call of its function gives a literal.
    fn is_handed_literals(&self, name: &ast::ExprName) -> bool {
        let scopes = &self.r.scopes;
        let found = scopes.lookup(&fold(name.id.as_str()), self.here());
        let mut bindings = found
            .bindings
            .iter()
            .flat_map(|(all, _)| all.iter())
            .peekable();
        bindings.peek().is_some()
            && bindings.all(|b| {
                let Bound::Parameter {
                    function,
                    index: Some(index),
                    default,
                } = b.to
                else {
                    return false;
                };
                let of = scopes.function_names.get(&address(function));
                let calls = of.and_then(|of| scopes.calls.get(of));
                calls.is_some_and(|calls| {
                    calls.iter().all(|(call, scope)| {
                        let named = call.keywords.iter().find(|k| {
                            k.arg
                                .as_ref()
                                .is_some_and(|arg| arg.as_str() == name.id.as_str())
                        });
                        let given = call.args.get(index).or(named.map(|k| &k.value)).or(default);
                        let is_text = |e| {
                            let vals = self.r.eval(e, *scope);
                            !vals.is_empty() && vals.iter().all(|v| matches!(v, Val::Text(_)))
                        };
                        given.is_some_and(is_text)
                    })
                })
            })
    }

    fn is_count(&self, func: &'a Expr) -> bool {
        let vals = self.r.eval(func, self.here());
        let counts = |v: &Val<'a>| matches!(v, Val::Builtin(b) if &**b == "len");
        !vals.is_empty() && vals.iter().all(counts)
    }

    /// Whether a call of it is one of these members.
    fn makes(&self, func: &'a Expr, members: &[&str]) -> bool {
        let vals = self.r.eval(func, self.here());
        let made = |v: &Val<'a>| matches!(v, Val::Member(path) if members.contains(&&**path));
        !vals.is_empty() && vals.iter().all(made)
    }

    /// `os.path.join` and `pathlib.Path`.
    fn is_path_maker(&self, func: &'a Expr) -> bool {
        let vals = self.r.eval(func, self.here());
        let makes = |v: &Val<'a>| matches!(v, Val::Member(path) if crate::analysis::resolve::makes_path(path));
        !vals.is_empty() && vals.iter().all(makes)
    }

    /// A name that only loops bind.
    pub(super) fn is_of_loop(&self, name: &ast::ExprName) -> bool {
        let found = self.r.scopes.lookup(&fold(name.id.as_str()), self.here());
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
