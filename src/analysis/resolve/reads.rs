//! Attributes and elements: the possible results of reading from a value, and of combining texts.

use std::rc::Rc;

use super::calls::joined_path;
use super::eval::Resolver;
use super::parts::{Unpacked, literal, row};
use super::scopes::{ScopeId, address};
use super::value::{ByAddress, Set, Val, Vals};
use crate::analysis::fold::fold;
use crate::analysis::methods;
use crate::analysis::parse::ast::{self, Expr, Operator};
use crate::analysis::walk::Bound;

/// The limit on the bytes of a repeated text; no template or name is longer.
const REPEATED: usize = 4_096;

/// The text as often as the literal says.
fn repeated(text: &str, times: &Expr) -> Option<String> {
    let times = literal(times)?;
    let fits = text
        .len()
        .checked_mul(times)
        .is_some_and(|length| length <= REPEATED);
    fits.then(|| text.repeat(times))
}

impl<'a> Resolver<'a> {
    /// The possible values of `base.attr`.
    pub fn attribute(&self, base: &Val<'a>, attr: &str, out: &mut Set<'a>) {
        match base {
            Val::Module(path) => out.add(self.child(path, attr).0),
            // plotly's layouts expose the module `re`.
            Val::Member(path) if attr == "re" && path.ends_with(".Layout") => {
                out.add(Val::Module("re".into()));
            }
            // A chain that repeats a name comes from a cycle (`x = x.next`) and would never end.
            Val::Member(path) if path.split('.').skip(1).any(|part| part == attr) => {
                self.method(attr, out);
            }
            Val::Member(path) => out.add(Val::Member(format!("{path}.{attr}").into())),
            Val::Text(_) | Val::ComputedText => out.add(Val::TextMethod(attr.into())),
            Val::Styler => {
                let known = (attr.starts_with("to_") && methods::is_known(attr))
                    || attr == "from_custom_template";
                out.add(if known {
                    Val::Method(attr.into())
                } else {
                    Val::Styler
                });
            }
            Val::Class(scope) | Val::Instance(scope) => {
                if let Some(bindings) = self.scopes.all[*scope].names.get(attr) {
                    for binding in bindings {
                        self.bound(attr, &binding.to, binding.scope, out);
                    }
                }
                self.fields(attr, out);
                // An attribute of a data class or named tuple has the value passed when the object
                // was created.
                for (call, at) in self.made(*scope) {
                    for keyword in &call.keywords {
                        if keyword
                            .arg
                            .as_ref()
                            .is_some_and(|a| fold(a.as_str()) == attr)
                        {
                            out.all(&self.eval(&keyword.value, at));
                        }
                    }
                }
                if !self.scopes.all[*scope].names.contains_key(attr) {
                    self.method(attr, out);
                }
            }
            Val::Items(e, scope) | Val::Holds(e, scope)
                if matches!(
                    attr,
                    "get" | "pop" | "values" | "items" | "copy" | "setdefault"
                ) =>
            {
                out.add(Val::Holds(*e, *scope));
            }
            // The value of an enumeration member.
            Val::Items(..) | Val::Holds(..) if attr == "value" => out.add(base.clone()),
            // The members of an exception group.
            Val::Exception if attr == "exceptions" => out.add(Val::Exception),
            Val::Exception | Val::File | Val::Memory => {
                self.fields(attr, out);
                out.add(Val::Unknown);
            }
            // This method takes a figure; the file is that of the `PdfPages` object.
            Val::Result(path) if attr == "savefig" && path.ends_with(".PdfPages") => {
                out.add(Val::Unknown);
            }
            Val::Result(_)
            | Val::Builtin(_)
            | Val::TextMethod(_)
            | Val::Function(_)
            | Val::TypeOf(_)
            | Val::Items(..)
            | Val::Holds(..)
            | Val::Method(_)
            | Val::Unknown => {
                self.fields(attr, out);
                self.method(attr, out);
            }
        }
    }

    fn method(&self, attr: &str, out: &mut Set<'a>) {
        if attr == "style" {
            out.add(Val::Styler);
        } else if methods::is_known(attr) {
            out.add(Val::Method(attr.into()));
        } else {
            out.add(Val::Unknown);
        }
    }

    /// Every value stored under this attribute of any object or class.
    fn fields(&self, attr: &str, out: &mut Set<'a>) {
        if let Some(stored) = self.scopes.fields.get(attr) {
            for (to, scope) in stored {
                self.bound(attr, to, *scope, out);
            }
        }
        for class in self.scopes.classes.get(attr).into_iter().flatten() {
            let bindings = self.scopes.all[*class].names.get(attr);
            for binding in bindings.into_iter().flatten() {
                if matches!(
                    binding.to,
                    Bound::Value(_)
                        | Bound::ElementOf(_)
                        | Bound::Part(..)
                        | Bound::Within(_)
                        | Bound::Module(_)
                        | Bound::Member { .. }
                ) {
                    self.bound(attr, &binding.to, binding.scope, out);
                }
            }
        }
    }

    /// The possible elements of `base`.
    pub fn element(&self, base: &Val<'a>, out: &mut Set<'a>) {
        self.element_once(base, out, &mut Unpacked::new());
    }

    pub(super) fn element_once(&self, base: &Val<'a>, out: &mut Set<'a>, unpacked: &mut Unpacked) {
        match base {
            Val::Items(ByAddress(e), scope) => self.items(e, *scope, out, unpacked),
            Val::Holds(ByAddress(e), scope) => {
                // Either the held value itself or its elements.
                for held in self.eval(e, *scope).iter() {
                    out.add(held.clone());
                    if let Val::Items(ByAddress(inner), scope) = held {
                        self.items(inner, *scope, out, unpacked);
                    }
                    // `list(map(…))`: the elements of the inner iterable.
                    if let Val::Holds(ByAddress(inner), scope) = held
                        && !std::ptr::eq(*inner, *e)
                    {
                        for inner in self.eval(inner, *scope).iter() {
                            out.add(inner.clone());
                            if let Val::Items(ByAddress(inner), scope) = inner {
                                self.items(inner, *scope, out, unpacked);
                            }
                        }
                    }
                }
            }
            Val::Text(_) | Val::ComputedText | Val::File => out.add(Val::ComputedText),
            Val::Exception => {
                out.add(Val::Exception);
                out.add(Val::Unknown);
            }
            Val::Module(_)
            | Val::Member(_)
            | Val::Result(_)
            | Val::Builtin(_)
            | Val::TextMethod(_)
            | Val::Function(_)
            | Val::Class(_)
            | Val::Instance(_)
            | Val::Memory
            | Val::Styler
            | Val::TypeOf(_)
            | Val::Method(_)
            | Val::Unknown => out.add(Val::Unknown),
        }
    }

    pub(super) fn items(
        &self,
        e: &'a Expr,
        scope: ScopeId,
        out: &mut Set<'a>,
        unpacked: &mut Unpacked,
    ) {
        let each = |elements: &'a [Expr], out: &mut Set<'a>| {
            for element in elements {
                out.all(&self.eval(element, scope));
            }
        };
        match e {
            Expr::List(x) => each(&x.elts, out),
            Expr::Tuple(x) => each(&x.elts, out),
            Expr::Set(x) => each(&x.elts, out),
            Expr::Dict(x) => {
                // Iterating yields keys, subscripting yields values: include both.
                for key in x.keys.iter().flatten() {
                    out.all(&self.eval(key, scope));
                }
                for (key, value) in x.keys.iter().zip(&x.values) {
                    self.dict_value(key.as_ref(), value, scope, out, unpacked);
                }
            }
            // The elements belong to the comprehension's own scope.
            Expr::ListComp(x) => self.comprehended(&x.elt, &x.generators, scope, out),
            Expr::SetComp(x) => self.comprehended(&x.elt, &x.generators, scope, out),
            Expr::GeneratorExp(x) => self.comprehended(&x.elt, &x.generators, scope, out),
            Expr::DictComp(x) => {
                self.comprehended(&x.key, &x.generators, scope, out);
                self.comprehended(&x.value, &x.generators, scope, out);
            }
            Expr::Call(call) => {
                for keyword in &call.keywords {
                    if let Some(name) = &keyword.arg {
                        out.add(Val::Text(name.as_str().into()));
                    }
                    out.all(&self.eval(&keyword.value, scope));
                }
            }
            _ => out.add(Val::Unknown),
        }
    }

    fn comprehended(
        &self,
        element: &'a Expr,
        generators: &'a [ast::Comprehension],
        scope: ScopeId,
        out: &mut Set<'a>,
    ) {
        // The scope is found by the address of the first target, which the walk recorded.
        let inner = generators
            .first()
            .and_then(|g| self.scopes.of.get(&address(&g.target)))
            .copied()
            .unwrap_or(scope);
        out.all(&self.eval(element, inner));
    }

    pub(super) fn joined(&self, joined: &'a ast::ExprJoinedStr, scope: ScopeId) -> Val<'a> {
        let mut text = String::new();
        for part in &joined.values {
            let part = match part {
                Expr::FormattedValue(f) if f.format_spec.is_none() && f.conversion.is_none() => {
                    &f.value
                }
                other => other,
            };
            let vals = self.eval(part, scope);
            match vals.as_slice() {
                [Val::Text(t)] => text.push_str(t),
                _ => return Val::ComputedText,
            }
        }
        Val::Text(text.into())
    }

    /// `"".join(["a", "b"])` and `"".join(["a"] * 3)`: the text, if every part is written out.
    pub(super) fn joined_list(&self, call: &'a ast::ExprCall, scope: ScopeId) -> Option<String> {
        let (Expr::Attribute(x), [list]) = (&*call.func, call.args.as_slice()) else {
            return None;
        };
        if x.attr.as_str() != "join" {
            return None;
        }
        let between = self.only_text(&x.value, scope)?;
        let (elements, times) = match list {
            Expr::BinOp(x) if x.op == Operator::Mult => (&*x.left, literal(&x.right)?),
            list => (list, 1),
        };
        let elements = row(elements)?;
        let texts = elements.iter().map(|e| self.only_text(e, scope));
        let texts = texts.collect::<Option<Vec<_>>>()?;
        let length: usize = texts.iter().map(|t| t.len() + between.len()).sum();
        let fits = length
            .checked_mul(times)
            .is_some_and(|length| length <= REPEATED);
        fits.then(|| vec![texts.join(&*between); times].join(&*between))
    }

    fn only_text(&self, e: &'a Expr, scope: ScopeId) -> Option<Rc<str>> {
        match self.eval(e, scope).as_slice() {
            [Val::Text(text)] => Some(Rc::clone(text)),
            _ => None,
        }
    }

    pub(super) fn binary(&self, x: &'a ast::ExprBinOp, scope: ScopeId, out: &mut Set<'a>) {
        let (left, right) = (self.eval(&x.left, scope), self.eval(&x.right, scope));
        let texts = |vals: &Vals<'a>| {
            vals.iter()
                .any(|v| matches!(v, Val::Text(_) | Val::ComputedText))
        };
        match x.op {
            Operator::Add => {
                if let ([Val::Text(a)], [Val::Text(b)]) = (left.as_slice(), right.as_slice()) {
                    out.add(Val::Text(format!("{a}{b}").into()));
                } else if texts(&left) || texts(&right) {
                    out.add(Val::ComputedText);
                } else {
                    out.all(&left);
                    out.all(&right);
                }
            }
            Operator::Mult if texts(&left) || texts(&right) => {
                let repeated = match (left.as_slice(), right.as_slice()) {
                    ([Val::Text(text)], _) => repeated(text, &x.right),
                    (_, [Val::Text(text)]) => repeated(text, &x.left),
                    _ => None,
                };
                out.add(repeated.map_or(Val::ComputedText, |text| Val::Text(text.into())));
            }
            Operator::Mod if texts(&left) || texts(&right) => {
                out.add(Val::ComputedText);
            }
            // `Path("out") / name`: no other text can be divided.
            Operator::Div if texts(&left) || texts(&right) => {
                if let ([Val::Text(a)], [Val::Text(b)]) = (left.as_slice(), right.as_slice()) {
                    let mut whole = a.to_string();
                    joined_path(&mut whole, b);
                    out.add(Val::Text(whole.into()));
                } else {
                    out.add(Val::ComputedText);
                }
            }
            // Unions of dicts and sets, and repeated lists.
            Operator::BitOr
            | Operator::BitAnd
            | Operator::BitXor
            | Operator::Sub
            | Operator::Mult => {
                out.all(&left);
                out.all(&right);
            }
            Operator::Mod
            | Operator::MatMult
            | Operator::Div
            | Operator::Pow
            | Operator::LShift
            | Operator::RShift
            | Operator::FloorDiv => out.add(Val::Unknown),
        }
    }
}
