//! Data: the columns read and written, if the text names them.

use super::Inspector;
use super::calls::Arguments;
use crate::analysis::fold::fold;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{self, Constant, Expr, ExprContext, Ranged};
use crate::analysis::resolve::{Set, Val, Vals};
use crate::analysis::rules;
use crate::analysis::table::is_table_attribute;
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

    /// Columns named by common methods: `groupby("region")`, `assign(rate=…)`.
    pub(super) fn column_call(&mut self, x: &'a ast::ExprAttribute, arguments: Arguments<'a>) {
        let at = x.range();
        let method = x.attr.as_str();
        if matches!(
            method,
            "agg"
                | "aggregate"
                | "rename"
                | "insert"
                | "pop"
                | "get"
                | "filter"
                | "plot"
                | "scatter"
                | "line"
                | "bar"
        ) {
            let base = self.r.eval(&x.value, self.here());
            if tabular(&base) {
                self.further_columns(method, arguments, at);
            }
            return;
        }
        let reads = matches!(
            method,
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
            for keyword in arguments.call.keywords.iter().filter(|k| k.arg.is_none()) {
                if let Expr::Dict(dict) = &keyword.value {
                    for key in dict.keys.iter().flatten() {
                        self.columns(key, Capability::DataWrite, at);
                    }
                }
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

    fn further_columns(&mut self, method: &str, arguments: Arguments<'a>, at: TextRange) {
        let (read, write) = (Capability::DataRead, Capability::DataWrite);
        match method {
            "agg" | "aggregate" => {
                if let Some(Expr::Dict(dict)) = arguments.positional(0) {
                    for key in dict.keys.iter().flatten() {
                        self.columns(key, read, at);
                    }
                }
                for keyword in &arguments.call.keywords {
                    if let Expr::Tuple(pair) = &keyword.value
                        && let Some(first) = pair.elts.first()
                    {
                        self.columns(first, read, at);
                    }
                }
            }
            "rename" => {
                if let Some(Expr::Dict(dict)) = arguments.keyword(&["columns"]) {
                    for key in dict.keys.iter().flatten() {
                        self.columns(key, read, at);
                    }
                    for value in &dict.values {
                        self.columns(value, write, at);
                    }
                }
            }
            "insert" if arguments.count() > 2 => {
                if let Some(e) = arguments.positional(1) {
                    self.columns(e, write, at);
                }
            }
            "pop" | "get" => {
                if let Some(e) = arguments.positional(0) {
                    self.columns(e, read, at);
                }
            }
            "filter" => {
                if let Some(e) = arguments.keyword(&["items"]) {
                    self.columns(e, read, at);
                }
            }
            _ => self.plotted(arguments, at),
        }
    }

    /// Columns named by a plot: `x="height"`.
    pub(super) fn plotted(&mut self, arguments: Arguments<'a>, at: TextRange) {
        const AXES: &[&str] = &[
            "x",
            "y",
            "z",
            "hue",
            "color",
            "size",
            "style",
            "symbol",
            "col",
            "row",
            "facet_col",
            "facet_row",
            "names",
            "values",
            "path",
            "hover_name",
            "animation_frame",
            "vars",
            "x_vars",
            "y_vars",
            "dimensions",
            "weights",
            "units",
            "c",
            "s",
        ];
        let ours = [
            "x",
            "y",
            "names",
            "values",
            "data",
            "data_frame",
            "vars",
            "dimensions",
        ];
        // `color="red"` alone names no column.
        if arguments.keyword(&ours).is_none() {
            return;
        }
        for axis in AXES {
            if let Some(e) = arguments.keyword(&[axis]) {
                self.columns(e, Capability::DataRead, at);
            }
        }
    }

    /// Whether the profile or the proposal binds the name to data. Every use of such a name reads
    /// the data, even if no column is named. Rules apply only to columns, because the proposal was
    /// given its inputs to use them.
    pub(super) fn is_table(&self, id: &str) -> bool {
        match self.policy.contract {
            Contract::Feature => id == "df",
            Contract::Chart => id == "data",
            contract => contract
                .inputs_bound(self.setting.inputs.as_ref())
                .is_some_and(|mut inputs| inputs.any(|name| name == id)),
        }
    }

    /// Inputs under the contract `scoped`: `private.people`, `system.inputs`.
    fn scoped_input(&mut self, scope: &str, attr: &str, at: TextRange) {
        let inputs = self.setting.inputs.as_ref();
        let read = match scope {
            "private" => inputs.is_some_and(|inputs| inputs.contains(attr)),
            "system" => attr == "inputs" && inputs.is_none_or(|inputs| !inputs.is_empty()),
            _ => false,
        };
        if read && self.policy.contract == Contract::Scoped {
            self.uses(Capability::DataRead, at, attr);
        }
    }

    /// A column read as an attribute of a given table: `df.amount`.
    pub(super) fn attribute_column(&mut self, receiver: &'a Expr, attr: &str, at: TextRange) {
        let Expr::Name(name) = receiver else { return };
        let id = fold(name.id.as_str());
        self.scoped_input(&id, attr, at);
        if id.as_ref() == "self" || self.r.scopes.lookup(&id, self.here()).is_bound() {
            return;
        }
        let vals = self.r.eval(receiver, self.here());
        if vals.as_slice() == [Val::Unknown]
            && matches!(self.policy.contract, Contract::Analysis | Contract::Feature)
            && !is_table_attribute(attr)
            && !attr.starts_with('_')
        {
            self.column(attr, Capability::DataRead, at);
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

    /// Under the contract `scoped`, the scope `system` is read-only.
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
            Expr::Name(_) => {
                // `df[column]` where the name can only be a literal.
                let vals = self.r.eval(key, self.here());
                let mut texts = Vec::new();
                for val in vals.iter() {
                    match val {
                        Val::Text(text) => texts.push(text.to_string()),
                        Val::Items(..) => {
                            let mut set = Set::default();
                            self.r.element(val, &mut set);
                            texts.extend(set.into_vec().into_iter().filter_map(|v| match v {
                                Val::Text(text) => Some(text.to_string()),
                                _ => None,
                            }));
                        }
                        _ => {}
                    }
                }
                for text in texts {
                    self.column(&text, capability, at);
                }
            }
            _ => {}
        }
    }

    pub(super) fn column(&mut self, name: &str, capability: Capability, at: TextRange) {
        let mut name: String = name.chars().take(60).collect();
        // An invisible name is still a name, so show it escaped.
        if name.trim().is_empty() || name.contains(char::is_control) {
            name = format!("{name:?}");
        }
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

/// Whether the value may be a table, i.e. is not known to be something else.
fn tabular(base: &Vals<'_>) -> bool {
    base.iter().all(|v| {
        matches!(
            v,
            Val::Unknown | Val::Result(_) | Val::Method(_) | Val::Holds(..) | Val::Styler
        )
    })
}
