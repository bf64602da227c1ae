//! Parts of values, as taken by unpacking, subscripts and common kinds of loops.

use std::collections::HashSet;

use super::eval::{Key, Resolver};
use super::scopes::{ScopeId, address};
use super::value::{ByAddress, Set, Val};
use crate::analysis::fold::fold;
use crate::analysis::parse::ast::{self, Constant, Expr, UnaryOp};
use crate::analysis::walk::Step;

/// The limit on nested containers.
const DEPTH: usize = 4;

/// Values already unpacked by `**`.
pub(super) type Unpacked = HashSet<Key>;

impl<'a> Resolver<'a> {
    /// The parts that the steps lead to, starting from the values of `e`.
    pub(super) fn part(&self, e: &'a Expr, steps: &[Step], scope: ScopeId, out: &mut Set<'a>) {
        if let [Step::Element, Step::Index(index), rest @ ..] = steps
            && let Expr::Call(call) = e
            && let Some(vals) = self.paired(call, *index, scope)
        {
            self.walked(vals, rest, out);
            return;
        }
        self.walked(self.eval(e, scope).to_vec(), steps, out);
    }

    fn walked(&self, mut vals: Vec<Val<'a>>, steps: &[Step], out: &mut Set<'a>) {
        for step in steps {
            let mut next = Set::default();
            for val in &vals {
                match step {
                    Step::Element => self.element(val, &mut next),
                    Step::Index(index) => self.at(val, *index, &mut next),
                }
            }
            vals = next.into_vec();
        }
        vals.into_iter().for_each(|v| out.add(v));
    }

    /// The values at one position in the elements of `zip(…)`, `enumerate(…)` or `….items()`.
    fn paired(
        &self,
        call: &'a ast::ExprCall,
        index: usize,
        scope: ScopeId,
    ) -> Option<Vec<Val<'a>>> {
        let mut out = Set::default();
        if let Expr::Attribute(x) = &*call.func {
            if x.attr.as_str() != "items" || !call.args.is_empty() || index > 1 {
                return None;
            }
            for base in self.eval(&x.value, scope).iter() {
                let Val::Items(ByAddress(Expr::Dict(dict)), inner) = base else {
                    return None;
                };
                for (key, value) in dict.keys.iter().zip(&dict.values) {
                    match (key, index) {
                        (Some(key), 0) => out.all(&self.eval(key, *inner)),
                        (Some(_), _) => out.all(&self.eval(value, *inner)),
                        (None, _) => return None,
                    }
                }
            }
            return Some(out.into_vec());
        }
        if call.args.iter().any(Expr::is_starred_expr) {
            return None;
        }
        let callee = self.eval(&call.func, scope);
        let [Val::Builtin(name)] = callee.as_slice() else {
            return None;
        };
        let source = match (&**name, index) {
            ("zip", index) => call.args.get(index)?,
            ("enumerate", 0) => return Some(vec![Val::Unknown]),
            ("enumerate", 1) => call.args.first()?,
            _ => return None,
        };
        for base in self.eval(source, scope).iter() {
            self.element(base, &mut out);
        }
        Some(out.into_vec())
    }

    /// The element at an index.
    fn at(&self, base: &Val<'a>, index: usize, out: &mut Set<'a>) {
        if let Val::Items(ByAddress(e), scope) = base
            && let Some(elements) = row(e)
            && let Some(element) = elements.get(index)
        {
            out.all(&self.eval(element, *scope));
            return;
        }
        let mut set = Set::default();
        self.element(base, &mut set);
        for val in set.into_vec() {
            // If the value is not known to be a row, its parts may be nested deeper.
            if matches!(val, Val::Items(..) | Val::Holds(..)) {
                self.element(&val, out);
            }
            out.add(val);
        }
    }

    /// The values of `e` and everything inside them.
    pub(super) fn within(&self, e: &'a Expr, scope: ScopeId, out: &mut Set<'a>) {
        let mut vals = self.eval(e, scope).to_vec();
        for _ in 0..DEPTH {
            let mut inner = Set::default();
            for val in vals {
                if matches!(val, Val::Items(..) | Val::Holds(..)) {
                    self.element(&val, &mut inner);
                }
                out.add(val);
            }
            vals = inner.into_vec();
        }
        vals.into_iter().for_each(|v| out.add(v));
    }

    /// The values of `{…}[key]` and similar reads from a literal container.
    pub(super) fn item(
        &self,
        of: ByAddress<'a>,
        inner: ScopeId,
        key: &'a Expr,
        scope: ScopeId,
        out: &mut Set<'a>,
    ) {
        let ByAddress(e) = of;
        match (e, key) {
            (_, Expr::Slice(_)) => out.add(Val::Holds(of, inner)),
            (Expr::Dict(dict), _) => {
                let keys = self.eval(key, scope);
                let asked = match keys.as_slice() {
                    [Val::Text(text)] => Some(&**text),
                    _ => None,
                };
                let mut unpacked = Unpacked::new();
                for (key, value) in dict.keys.iter().zip(&dict.values) {
                    let other = matches!((asked, key), (Some(asked), Some(Expr::Constant(c)))
                        if !matches!(&c.value, Constant::Str(text) if text == asked));
                    if !other {
                        self.dict_value(key.as_ref(), value, inner, out, &mut unpacked);
                    }
                }
                if out.is_empty() {
                    out.add(Val::Unknown);
                }
            }
            (Expr::Call(call), _) => {
                let keys = self.eval(key, scope);
                for keyword in &call.keywords {
                    let name = keyword.arg.as_ref().map(|n| fold(n.as_str()));
                    let other = matches!((keys.as_slice(), &name), ([Val::Text(asked)], Some(name))
                        if **asked != **name);
                    if !other {
                        out.all(&self.eval(&keyword.value, inner));
                    }
                }
                if out.is_empty() {
                    out.add(Val::Unknown);
                }
            }
            (Expr::Tuple(x), _) => match index(key, x.elts.len()).and_then(|i| row(e)?.get(i)) {
                Some(element) => out.all(&self.eval(element, inner)),
                None => self.items(e, inner, out, &mut Unpacked::new()),
            },
            _ => self.items(e, inner, out, &mut Unpacked::new()),
        }
    }

    /// Whether the call is `dict(title="…", file="…")`, which is as good as a literal.
    pub(super) fn is_written_dict(&self, call: &'a ast::ExprCall, scope: ScopeId) -> bool {
        call.args.is_empty()
            && call.keywords.iter().all(|k| k.arg.is_some())
            && matches!(&*call.func, Expr::Name(f) if f.id.as_str() == "dict")
            && matches!(self.eval(&call.func, scope).as_slice(),
                [Val::Builtin(name)] if &**name == "dict")
    }

    /// The value of a key, or what `**` adds; unpacked only once, since `d = {**d, "a": 1}`
    /// contains itself.
    pub(super) fn dict_value(
        &self,
        key: Option<&'a Expr>,
        value: &'a Expr,
        scope: ScopeId,
        out: &mut Set<'a>,
        unpacked: &mut Unpacked,
    ) {
        let vals = self.eval(value, scope);
        if key.is_some() {
            out.all(&vals);
        } else if unpacked.insert((address(value), scope)) {
            for val in vals.iter() {
                self.element_once(val, out, unpacked);
            }
        }
    }
}

/// The elements of a literal, if each of them has a fixed index.
pub(super) fn row(e: &Expr) -> Option<&[Expr]> {
    let elements = match e {
        Expr::Tuple(x) => &x.elts,
        Expr::List(x) => &x.elts,
        _ => return None,
    };
    (!elements.iter().any(Expr::is_starred_expr)).then_some(elements)
}

/// A literal number that is not negative.
pub(super) fn literal(e: &Expr) -> Option<usize> {
    match e {
        Expr::Constant(c) => match &c.value {
            Constant::Int(n) => usize::try_from(n).ok(),
            _ => None,
        },
        _ => None,
    }
}

/// A literal index; a negative one counts from the end.
fn index(key: &Expr, length: usize) -> Option<usize> {
    match key {
        Expr::UnaryOp(x) if x.op == UnaryOp::USub => length.checked_sub(literal(&x.operand)?),
        other => literal(other),
    }
}
