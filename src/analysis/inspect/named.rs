//! Methods called by a name in a text: `df.agg("mean")`.

use super::Inspector;
use super::calls::Arguments;
use crate::analysis::fold::fold;
use crate::analysis::methods::{self, Effect, Entry};
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Expr};
use crate::analysis::resolve::{Set, Val};
use crate::analysis::rules;
use crate::analysis::walk::Bound;

impl<'a> Inspector<'a> {
    /// `df.agg("name")` calls the method of that name.
    pub(super) fn by_name(&mut self, entry: Entry, arguments: Arguments<'a>, at: TextRange) {
        let mut named = Named::default();
        if let Some(e) = arguments.deciding(entry) {
            self.names_in(e, &mut named);
        }
        // Named aggregation: `agg(total=("amount", "sum"))`.
        for keyword in &arguments.call.keywords {
            if let Expr::Tuple(pair) = &keyword.value
                && let Some(last) = pair.elts.last()
            {
                self.names_in(last, &mut named);
            }
        }
        self.judge_names(named, at);
    }

    /// Judges a keyword that names a method in every call.
    pub(super) fn by_keyword(&mut self, e: &'a Expr, at: TextRange) {
        let mut named = Named::default();
        self.names_in(e, &mut named);
        named.computed = false;
        self.judge_names(named, at);
    }

    fn judge_names(&mut self, named: Named, at: TextRange) {
        for name in named.texts {
            let harmless =
                methods::method(&name).is_none_or(|e| e.effect == Effect::ByName || name == "load");
            let attributes = &self.policy.attributes;
            if !harmless || name.starts_with('_') || attributes.deny.contains(&name) {
                self.add(&rules::DYN_BY_NAME, at, name);
            }
        }
        if named.computed {
            self.add(&rules::DYN_BY_COMPUTED_NAME, at, "");
        }
    }

    fn names_in(&self, e: &'a Expr, out: &mut Named) {
        match e {
            Expr::List(x) => x.elts.iter().for_each(|e| self.names_in(e, out)),
            Expr::Tuple(x) => x.elts.iter().for_each(|e| self.names_in(e, out)),
            Expr::Dict(x) => x.values.iter().for_each(|e| self.names_in(e, out)),
            other => {
                for val in self.r.eval(other, self.here()).iter() {
                    match val {
                        Val::Text(text) => out.texts.push(fold(text).into_owned()),
                        Val::ComputedText => out.computed = true,
                        Val::Items(..) | Val::Holds(..) => {
                            let mut set = Set::default();
                            self.r.element(val, &mut set);
                            for held in set.into_vec() {
                                if let Val::Text(text) = held {
                                    out.texts.push(fold(&text).into_owned());
                                }
                            }
                        }
                        _ => {}
                    }
                }
            }
        }
    }

    /// A query or a formula computes: the guard refuses there what reads, writes or sets anything else.
    pub(super) fn leaves_text(
        &mut self,
        entry: Entry,
        subject: &str,
        arguments: Arguments<'a>,
        at: TextRange,
    ) {
        let computes = self.text.as_ref().is_none_or(|text| text.is_annotation());
        if !computes && entry.effect != Effect::ByName && !self.own_method(arguments.call, subject)
        {
            self.add(&rules::DYN_BY_NAME, at, subject);
        }
    }

    /// Whether the call is a method that a class of the snippet defines.
    pub(super) fn own_method(&self, call: &'a ast::ExprCall, name: &str) -> bool {
        call.func.is_attribute_expr()
            && self.r.scopes.all.iter().any(|scope| {
                scope.names.get(name).is_some_and(|bindings| {
                    bindings.iter().any(|b| matches!(b.to, Bound::Function(_)))
                })
            })
    }
}

/// The names that a text argument may contain.
#[derive(Default)]
struct Named {
    texts: Vec<String>,
    computed: bool,
}
