//! Arguments behind `*` and `**`, as far as they are written out: `f(**dict(formula="y ~ x"))`.

use super::Inspector;
use super::calls::Arguments;
use super::sources::Spot;
use crate::analysis::fold::fold;
use crate::analysis::methods::Entry;
use crate::analysis::parse::ast::{self, Expr};
use crate::analysis::resolve::{ScopeId, Val};
use crate::analysis::walk::Bound;

/// The nesting limit; no ordinary call is nested deeper.
const DEPTH: usize = 4;

/// The arguments of a call with `*` or `**`.
#[derive(Default)]
pub(super) struct Spread<'a> {
    positional: Vec<Spot<'a>>,
    keywords: Vec<(String, Spot<'a>)>,
    /// Whether more may come from `*` than is known.
    more_positional: bool,
    /// Whether more may come from `**` than is known.
    pub more_keywords: bool,
}

/// The argument that decides how a call is judged.
pub(super) enum Decided<'a> {
    Given(Spot<'a>),
    Absent,
    /// `*` or `**` may hold it.
    Hidden,
}

impl<'a> Spread<'a> {
    /// The values of the keywords that `**` gives or that stand in the call.
    pub fn keyword<'s>(&'s self, names: &'s [&str]) -> impl Iterator<Item = Spot<'a>> + 's {
        let named = self.keywords.iter();
        named
            .filter(|(name, _)| names.contains(&name.as_str()))
            .map(|(_, at)| *at)
    }

    pub fn deciding(&self, entry: Entry) -> Decided<'a> {
        let given = self.keyword(entry.names).next();
        let given = given.or_else(|| self.positional.get(entry.index).copied());
        match given {
            Some(at) => Decided::Given(at),
            None if self.more_positional || self.more_keywords => Decided::Hidden,
            None => Decided::Absent,
        }
    }
}

impl<'a> Inspector<'a> {
    pub(super) fn spread(&self, arguments: Arguments<'a>) -> Spread<'a> {
        let mut spread = Spread::default();
        let here = self.here();
        for e in &arguments.call.args {
            match e {
                _ if spread.more_positional => {}
                Expr::Starred(x) => {
                    if self
                        .row(&x.value, here, 0, &mut spread.positional)
                        .is_none()
                    {
                        spread.more_positional = true;
                    }
                }
                e => spread.positional.push((e, here)),
            }
        }
        // With `partial(f, *rest)`, what `skip` leaves out may come from `*` as well.
        let skip = arguments.skip.min(spread.positional.len());
        spread.positional.drain(..skip);
        self.named_pairs(&arguments.call.keywords, here, 0, &mut spread);
        spread
    }

    /// The elements of a written sequence.
    fn row(
        &self,
        e: &'a Expr,
        scope: ScopeId,
        depth: usize,
        out: &mut Vec<Spot<'a>>,
    ) -> Option<()> {
        let elements = match e {
            Expr::List(x) => &x.elts,
            Expr::Tuple(x) => &x.elts,
            Expr::Name(name) if depth < DEPTH => {
                let (held, scope) = self.written(name, scope)?;
                return self.row(held, scope, depth + 1, out);
            }
            _ => return None,
        };
        for e in elements {
            match e {
                Expr::Starred(x) if depth < DEPTH => self.row(&x.value, scope, depth + 1, out)?,
                Expr::Starred(_) => return None,
                e => out.push((e, scope)),
            }
        }
        Some(())
    }

    /// The pairs of keywords, and those of written dicts behind `**`.
    fn named_pairs(
        &self,
        keywords: &'a [ast::Keyword],
        scope: ScopeId,
        depth: usize,
        out: &mut Spread<'a>,
    ) {
        for keyword in keywords {
            match &keyword.arg {
                Some(name) => {
                    let name = fold(name.as_str()).into_owned();
                    out.keywords.push((name, (&keyword.value, scope)));
                }
                None => self.dict(&keyword.value, scope, depth, out),
            }
        }
    }

    fn dict(&self, e: &'a Expr, scope: ScopeId, depth: usize, out: &mut Spread<'a>) {
        match e {
            _ if depth > DEPTH => out.more_keywords = true,
            Expr::Dict(x) => {
                for (key, value) in x.keys.iter().zip(&x.values) {
                    let Some(key) = key else {
                        self.dict(value, scope, depth + 1, out);
                        continue;
                    };
                    let keys = self.r.eval(key, scope);
                    out.more_keywords |= keys.is_empty();
                    for key in keys.iter() {
                        match key {
                            Val::Text(name) => {
                                out.keywords.push((fold(name).into_owned(), (value, scope)));
                            }
                            _ => out.more_keywords = true,
                        }
                    }
                }
            }
            Expr::Call(call) if self.makes_dict(call, scope) => {
                call.args
                    .iter()
                    .for_each(|e| self.dict(e, scope, depth + 1, out));
                self.named_pairs(&call.keywords, scope, depth + 1, out);
            }
            Expr::BinOp(x) if x.op == ast::Operator::BitOr => {
                self.dict(&x.left, scope, depth + 1, out);
                self.dict(&x.right, scope, depth + 1, out);
            }
            Expr::Name(name) => match self.written(name, scope) {
                Some((held, scope)) => self.dict(held, scope, depth + 1, out),
                None => out.more_keywords = true,
            },
            _ => out.more_keywords = true,
        }
    }

    fn makes_dict(&self, call: &'a ast::ExprCall, scope: ScopeId) -> bool {
        matches!(self.r.eval(&call.func, scope).as_slice(), [Val::Builtin(name)] if &**name == "dict")
    }

    /// What a name holds that is bound once and only unpacked, so that nothing changes it.
    fn written(&self, name: &ast::ExprName, scope: ScopeId) -> Option<Spot<'a>> {
        let id = fold(name.id.as_str());
        let found = self.r.scopes.lookup(&id, scope);
        let [(bindings, _)] = found.bindings.as_slice() else {
            return None;
        };
        let [only] = bindings.as_slice() else {
            return None;
        };
        match only.to {
            Bound::Value(e) if self.r.scopes.counts.is_only_unpacked(&id) => Some((e, only.scope)),
            _ => None,
        }
    }
}
