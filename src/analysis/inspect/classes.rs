//! Classes: metaclasses, however they are chosen.

use super::Inspector;
use crate::analysis::fold::fold;
use crate::analysis::parse::ast::{self, Ranged};
use crate::analysis::resolve::Val;
use crate::analysis::rules;

impl<'a> Inspector<'a> {
    pub(super) fn class(&mut self, class: &'a ast::StmtClassDef) {
        for keyword in &class.keywords {
            let name = keyword.arg.as_ref().map(|n| fold(n.as_str()));
            // `**kwargs` may carry one.
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
                Val::Builtin(name) => &**name == "type" && !base.is_name_expr(),
                _ => false,
            });
            if meta {
                self.add(&rules::DYN_METACLASS, base.range(), class.name.as_str());
            }
        }
    }
}
