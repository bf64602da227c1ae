//! Data: columns read and written, where the text tells which.

use super::Inspector;
use super::calls::Arguments;
use crate::analysis::fold::fold;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Constant, Expr, ExprContext, Ranged};
use crate::analysis::resolve::{Val, Vals};
use crate::analysis::rules;
use crate::analysis::walk::{Bound, TargetOf};
use crate::model::{Action, Capability};
use crate::policy::Contract;

impl<'a> Inspector<'a> {
    pub(super) fn subscript(&mut self, x: &'a ast::ExprSubscript) {
        if x.ctx != ExprContext::Load {
            return;
        }
        let base = self.r.eval(&x.value, self.here());
        if tabular(&base) {
            self.columns(&x.slice, Capability::DataRead, x.range());
        }
    }

    /// Columns that common methods name: `groupby("region")`, `assign(rate=…)`.
    pub(super) fn column_call(&mut self, x: &'a ast::ExprAttribute, arguments: Arguments<'a>) {
        let at = x.range();
        let reads = matches!(
            x.attr.as_str(),
            "groupby"
                | "sort_values"
                | "set_index"
                | "drop_duplicates"
                | "dropna"
                | "merge"
                | "pivot_table"
                | "pivot"
                | "melt"
                | "nlargest"
                | "nsmallest"
                | "value_counts"
        );
        let writes = x.attr.as_str() == "assign";
        if !reads && !writes {
            return;
        }
        let base = self.r.eval(&x.value, self.here());
        if !tabular(&base) {
            return;
        }
        if writes {
            for name in arguments
                .call
                .keywords
                .iter()
                .filter_map(|k| k.arg.as_ref())
            {
                self.column(&fold(name.as_str()), Capability::DataWrite, at);
            }
            return;
        }
        let positional = usize::from(matches!(
            x.attr.as_str(),
            "nlargest" | "nsmallest" | "merge"
        ));
        if let Some(e) = arguments
            .positional(positional)
            .filter(|_| x.attr.as_str() != "merge")
        {
            self.columns(e, Capability::DataRead, at);
        }
        for key in [
            "by",
            "keys",
            "subset",
            "on",
            "left_on",
            "right_on",
            "index",
            "columns",
            "values",
            "id_vars",
            "value_vars",
        ] {
            if let Some(e) = arguments.keyword(&[key]) {
                self.columns(e, Capability::DataRead, at);
            }
        }
    }

    pub(super) fn item_store(
        &mut self,
        target: &'a ast::ExprSubscript,
        of: TargetOf,
        to: Bound<'a>,
    ) {
        let at = target.range();
        self.system_scope(&target.value, at);
        let base = self.r.eval(&target.value, self.here());
        if tabular(&base) {
            self.columns(&target.slice, Capability::DataWrite, at);
            if of == TargetOf::Augmented {
                self.columns(&target.slice, Capability::DataRead, at);
            }
        }
        let settings = base
            .iter()
            .any(|v| matches!(v, Val::Member(p) if p.ends_with(".rcParams")));
        if settings {
            self.setting(&target.slice, to, at);
        }
    }

    /// The scope `system` of the contract `scoped` is read only.
    pub(super) fn system_scope(&mut self, holder: &'a Expr, at: TextRange) {
        if self.policy.contract == Contract::Scoped
            && let Expr::Name(name) = holder
            && fold(name.id.as_str()) == "system"
        {
            self.add(&rules::EXEC_CHANGES, at, "system").hint =
                Some("system is read only; write to local, private or public".to_owned());
        }
    }

    fn columns(&mut self, key: &'a Expr, capability: Capability, at: TextRange) {
        match key {
            Expr::Constant(c) => {
                if let Constant::Str(name) = &c.value {
                    self.column(name, capability, at);
                }
            }
            Expr::List(list) => {
                for e in &list.elts {
                    if let Expr::Constant(c) = e
                        && let Constant::Str(name) = &c.value
                    {
                        self.column(name, capability, at);
                    }
                }
            }
            // `df.loc[rows, "column"]`
            Expr::Tuple(tuple) => {
                if let Some(last) = tuple.elts.last() {
                    self.columns(last, capability, at);
                }
            }
            _ => {}
        }
    }

    fn column(&mut self, name: &str, capability: Capability, at: TextRange) {
        let name: String = name.chars().take(60).filter(|c| !c.is_control()).collect();
        self.uses(capability, at, &name);
        if self.policy.action(capability) > Action::Note {
            let rule = match capability {
                Capability::DataWrite => &rules::DATA_WRITE,
                _ => &rules::DATA_READ,
            };
            self.add(rule, at, name);
        }
    }
}

/// Whether something may be a table: anything that is not known to be something else.
fn tabular(base: &Vals<'_>) -> bool {
    base.iter().all(|v| {
        matches!(
            v,
            Val::Unknown | Val::Result(_) | Val::Method(_) | Val::Holds(..) | Val::Styler
        )
    })
}
