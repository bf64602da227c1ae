//! Classes with metaclasses, however these are chosen.

use super::calls::Arguments;
use super::{Inspector, is_dunder};
use crate::analysis::fold::fold;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Constant, Expr, Ranged};
use crate::analysis::resolve::Val;
use crate::analysis::rules;

impl<'a> Inspector<'a> {
    pub(super) fn class(&mut self, class: &'a ast::StmtClassDef) {
        for keyword in &class.keywords {
            let name = keyword.arg.as_ref().map(|n| fold(n.as_str()));
            // `**kwargs` may contain a metaclass.
            if name.as_ref().is_some_and(|n| n != "metaclass") {
                continue;
            }
            let vals = self.r.eval(&keyword.value, self.here());
            let known = |v: &Val<'_>| matches!(v, Val::Member(p) if matches!(&**p, "abc.ABCMeta" | "enum.EnumMeta" | "enum.EnumType"));
            if name.is_none() || vals.is_empty() || !vals.iter().all(known) {
                self.add(&rules::DYN_METACLASS, keyword.range(), class.name.as_str());
            }
        }
        for base in &class.bases {
            let vals = self.r.eval(base, self.here());
            let meta = vals.iter().any(|v| match v {
                Val::Member(p) => matches!(&**p, "abc.ABCMeta" | "enum.EnumMeta" | "enum.EnumType"),
                Val::TypeOf(_) => true,
                // The plain name `type` is judged where it is loaded.
                Val::Builtin(name) => {
                    &**name == "type"
                        && !matches!(base, Expr::Name(n) if fold(n.id.as_str()) == "type")
                }
                _ => false,
            });
            if meta {
                self.add(&rules::DYN_METACLASS, base.range(), class.name.as_str());
            }
        }
    }

    /// Judges `Enum("E", {…})`: the names become attributes of a class.
    pub(super) fn members_of_enum(&mut self, arguments: Arguments<'a>, at: TextRange) {
        let Some(e) = arguments.given(1, &["names"]) else {
            return;
        };
        let names: Vec<&Expr> = match e {
            Expr::Dict(x) => x.keys.iter().flatten().collect(),
            Expr::List(x) => x.elts.iter().map(first).collect(),
            Expr::Tuple(x) => x.elts.iter().map(first).collect(),
            other => vec![other],
        };
        let special = names.iter().any(|e| {
            matches!(e, Expr::Constant(c) if matches!(&c.value, Constant::Str(text)
                if text.split([' ', ',']).any(is_dunder)))
        });
        if special {
            self.add(&rules::DYN_TYPE, at, "Enum");
        }
    }
}

/// The name of a `(name, value)` pair.
fn first(e: &Expr) -> &Expr {
    match e {
        Expr::Tuple(x) => x.elts.first().unwrap_or(e),
        other => other,
    }
}
