//! Calls: the possible results of a callee.

use std::rc::Rc;

use super::eval::Resolver;
use super::scopes::ScopeId;
use super::value::{ByAddress, Set, Val};
use crate::analysis::fold::fold;
use crate::analysis::parse::ast;

impl<'a> Resolver<'a> {
    pub(super) fn call(&self, call: &'a ast::ExprCall, scope: ScopeId, out: &mut Set<'a>) {
        if self.chosen(call, scope, out) || self.taken(call, scope, out) {
            return;
        }
        if let Some(text) = self.joined_list(call, scope) {
            out.add(Val::Text(text.into()));
            return;
        }
        for callee in self.eval(&call.func, scope).iter() {
            match callee {
                Val::Builtin(name) => self.builtin_call(name, call, scope, out),
                Val::Member(path) => match &**path {
                    "io.StringIO" | "io.BytesIO" => out.add(Val::Memory),
                    "pandas.ExcelFile"
                    | "pandas.ExcelWriter"
                    | "pandas.HDFStore"
                    | "tempfile.SpooledTemporaryFile"
                    | "tempfile.TemporaryFile" => out.add(Val::File),
                    "functools.partial"
                    | "copy.copy"
                    | "copy.deepcopy"
                    | "copy.replace"
                    | "functools.lru_cache"
                    | "functools.cache"
                    | "functools.wraps"
                    | "contextlib.nullcontext"
                    | "contextlib.closing"
                    | "typing.cast"
                    | "operator.itemgetter"
                    | "operator.getitem" => {
                        for argument in &call.args {
                            let vals = self.eval(argument, scope);
                            out.all(&vals);
                            vals.iter().for_each(|v| self.element(v, out));
                        }
                    }
                    path if makes_path(path) => out.add(self.path_of(&call.args, scope)),
                    "operator.call" => {
                        out.add(Val::Unknown);
                    }
                    _ => out.add(Val::Result(Rc::clone(path))),
                },
                Val::Function(id) => {
                    for value in &self.scopes.all[*id].returns {
                        out.all(&self.eval(value, *id));
                    }
                    out.add(Val::Unknown);
                }
                Val::Class(id) => out.add(Val::Instance(*id)),
                Val::TextMethod(name) => out.add(match &**name {
                    "encode" | "find" | "count" | "index" | "isdigit" | "startswith"
                    | "endswith" => Val::Unknown,
                    _ => Val::ComputedText,
                }),
                Val::Styler => out.add(Val::Styler),
                Val::Holds(e, scope) => {
                    self.element(&Val::Holds(*e, *scope), out);
                    out.add(Val::Holds(*e, *scope));
                }
                Val::Module(_)
                | Val::Result(_)
                | Val::Text(_)
                | Val::ComputedText
                | Val::Instance(_)
                | Val::Exception
                | Val::Memory
                | Val::File
                | Val::TypeOf(_)
                | Val::Items(..)
                | Val::Method(_)
                | Val::Unknown => out.add(Val::Unknown),
            }
        }
        if out.is_empty() {
            out.add(Val::Unknown);
        }
    }

    /// `{…}.pop("key")` and `{…}.get("key", default)`, if nothing else was put into the dict. Returns
    /// whether the call is of this kind.
    fn taken(&self, call: &'a ast::ExprCall, scope: ScopeId, out: &mut Set<'a>) -> bool {
        let (ast::Expr::Attribute(x), [key, default @ ..]) = (&*call.func, call.args.as_slice())
        else {
            return false;
        };
        if !matches!(x.attr.as_str(), "get" | "pop") || !call.keywords.is_empty() {
            return false;
        }
        let base = self.eval(&x.value, scope);
        let written = |v: &Val<'a>| matches!(v, Val::Items(ByAddress(e), _) if e.is_dict_expr() || e.is_call_expr());
        if base.is_empty() || !base.iter().all(written) {
            return false;
        }
        for val in base.iter() {
            if let Val::Items(e, inner) = val {
                self.item(*e, *inner, key, scope, out);
            }
        }
        for e in default {
            out.all(&self.eval(e, scope));
        }
        true
    }

    /// The result of a random choice is one of the given values; a parsed command line holds texts
    /// and numbers. Returns whether the call is of this kind.
    fn chosen(&self, call: &'a ast::ExprCall, scope: ScopeId, out: &mut Set<'a>) -> bool {
        let ast::Expr::Attribute(x) = &*call.func else {
            return false;
        };
        let base = self.eval(&x.value, scope);
        let made = |makers: &[&str]| {
            let known = |v: &Val<'a>| matches!(v, Val::Result(p) if makers.contains(&&**p));
            !base.is_empty() && base.iter().all(known)
        };
        let module = |name: &str| matches!(base.as_slice(), [Val::Module(p)] if **p == *name);
        match x.attr.as_str() {
            "choice" if module("random") || module("numpy.random") || made(GENERATORS) => {
                let Some(given) = call.args.first() else {
                    return false;
                };
                for val in self.eval(given, scope).iter() {
                    self.element(val, out);
                }
                !out.is_empty()
            }
            // A file inside an archive, which was itself opened by name.
            "open" if made(&["zipfile.ZipFile"]) => {
                out.add(Val::File);
                true
            }
            "parse_args" if made(&["argparse.ArgumentParser"]) => {
                out.add(Val::Result(PARSED.into()));
                true
            }
            _ => false,
        }
    }

    /// The path made from the parts; an absolute part discards those before it.
    fn path_of(&self, parts: &'a [ast::Expr], scope: ScopeId) -> Val<'a> {
        let mut whole = String::new();
        for part in parts {
            match self.eval(part, scope).as_slice() {
                [Val::Text(text)] => joined_path(&mut whole, text),
                _ => return Val::ComputedText,
            }
        }
        Val::Text(whole.into())
    }

    fn builtin_call(&self, name: &str, call: &'a ast::ExprCall, scope: ScopeId, out: &mut Set<'a>) {
        let argument = |i: usize| call.args.get(i).map(|e| self.eval(e, scope));
        match name {
            "getattr" => {
                if let (Some(base), Some(names)) = (argument(0), argument(1)) {
                    for name in names.iter() {
                        match name {
                            Val::Text(attr) => {
                                for base in base.iter() {
                                    self.attribute(base, &fold(attr), out);
                                }
                            }
                            _ => out.add(Val::Unknown),
                        }
                    }
                }
                if let Some(default) = argument(2) {
                    out.all(&default);
                }
            }
            "type" if call.args.len() == 1 => {
                let callable = argument(0).is_some_and(|vals| {
                    vals.iter().any(|v| {
                        matches!(
                            v,
                            Val::Function(_)
                                | Val::Module(_)
                                | Val::Method(_)
                                | Val::TextMethod(_)
                                | Val::Builtin(_)
                                | Val::Member(_)
                                | Val::TypeOf(_)
                                | Val::Class(_)
                        )
                    })
                });
                let generator = call
                    .args
                    .first()
                    .is_some_and(|e| e.is_generator_exp_expr() || e.is_lambda_expr());
                // `type(self)(…)` creates another object of the snippet's own class.
                let own = matches!(call.args.first(), Some(ast::Expr::Name(n))
                    if self.scopes.is_receiver(&fold(n.id.as_str()), scope));
                out.add(if own && !callable {
                    Val::Unknown
                } else {
                    Val::TypeOf(callable || generator)
                });
            }
            "open" => out.add(Val::File),
            "memoryview" => out.add(Val::Result(BUFFER.into())),
            "str" | "repr" | "chr" | "ascii" | "format" | "bin" | "hex" | "oct" => {
                match argument(0).as_deref().map(Vec::as_slice) {
                    Some([Val::Text(text)]) if name == "str" => out.add(Val::Text(Rc::clone(text))),
                    _ => out.add(Val::ComputedText),
                }
            }
            "list" | "tuple" | "set" | "frozenset" | "sorted" | "reversed" | "iter" | "dict"
            | "zip" | "enumerate" | "filter" | "map" | "slice" => {
                for argument in &call.args {
                    out.add(Val::Holds(ByAddress(argument), scope));
                }
                for keyword in &call.keywords {
                    out.add(Val::Holds(ByAddress(&keyword.value), scope));
                }
                out.add(Val::Unknown);
            }
            "next" | "max" | "min" | "anext" => {
                for argument in &call.args {
                    let vals = self.eval(argument, scope);
                    out.all(&vals);
                    vals.iter().for_each(|v| self.element(v, out));
                }
            }
            "property" | "classmethod" | "staticmethod" => {
                if let Some(vals) = argument(0) {
                    out.all(&vals);
                }
            }
            "globals" | "locals" | "vars" | "__import__" => out.add(Val::Unknown),
            _ => out.add(Val::Unknown),
        }
    }
}

/// Functions that create random number generators.
const GENERATORS: &[&str] = &[
    "numpy.random.default_rng",
    "numpy.random.Generator",
    "numpy.random.RandomState",
    "random.Random",
];

/// A view of bytes, whose attribute `format` is a text.
pub const BUFFER: &str = "builtins.memoryview";

/// The result of parsing a command line.
pub const PARSED: &str = "argparse.Namespace";

/// Whether calling the member builds a path.
pub fn makes_path(member: &str) -> bool {
    matches!(
        member,
        "os.path.join"
            | "pathlib.Path"
            | "pathlib.PurePath"
            | "pathlib.PosixPath"
            | "pathlib.PurePosixPath"
    )
}

/// Appends a part like `os.path.join`.
pub(super) fn joined_path(whole: &mut String, part: &str) {
    if part.starts_with('/') {
        whole.clear();
    } else if !whole.is_empty() && !whole.ends_with('/') {
        whole.push('/');
    }
    whole.push_str(part);
}
