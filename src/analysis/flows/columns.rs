//! What columns of tables are made of, by their names.

use super::value::{SINGLE, Value, WHOLE};
use super::{Pass, stmts};
use crate::analysis::parse::ast::{self, Expr};

impl<'a> Pass<'a> {
    /// A value as a column holds it.
    pub(super) fn column(value: &Value<'a>) -> Value<'a> {
        let held = value.held().without(SINGLE);
        match held.as_is.is_empty() && held.order.is_empty() {
            // Sums can be summed up again.
            true => held.with(WHOLE),
            false => held,
        }
    }

    /// Notes what a column of a table is made of that had other columns before.
    pub(super) fn stores(&mut self, name: &'a str, value: &Value<'a>) {
        self.changed |= self.stored.insert(name);
        self.derive(name, value);
    }

    /// Notes what a column of this name is made of.
    pub(super) fn derive(&mut self, name: &'a str, value: &Value<'a>) {
        let held = Self::column(value);
        match self.derived.get_mut(name) {
            Some(known) => self.changed |= known.join(&held),
            None => {
                self.changed |= self.missed.contains(name);
                self.derived.insert(name, held);
            }
        }
    }

    /// Notes what a column of a table of groups is made of.
    pub(super) fn results_in(&mut self, name: &'a str, value: &Value<'a>) {
        let held = Self::column(value);
        match self.results.get_mut(name) {
            Some(known) => self.changed |= known.join(&held),
            None => {
                self.changed |= self.missed.contains(name);
                self.results.insert(name, held);
            }
        }
    }

    /// Whether a column of this name is known.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
            || self.derived.contains_key(name)
            || self.results.contains_key(name)
    }

    /// Notes a column that a table gets.
    pub(super) fn mixes(&mut self, value: &Value<'a>) {
        let mixed = value.is_bare() && !value.is_even();
        self.changed |= mixed && !self.mixed;
        self.mixed |= mixed;
    }

    pub(super) fn derive_any(&mut self, value: &Value<'a>) {
        let held = Self::column(value);
        self.changed |= self.derived_any.join(&held);
    }

    /// `name="c"`: a column of this name is made of the rest.
    pub(super) fn named_by(&mut self, x: &'a ast::ExprCall, all: &Value<'a>) {
        for keyword in &x.keywords {
            if keyword
                .arg
                .as_ref()
                .is_some_and(|a| super::words::NAMING.contains(&a.as_str()))
            {
                match stmts::literal(&keyword.value) {
                    Some(names) => names.iter().for_each(|name| self.stores(name, all)),
                    None if matches!(keyword.value, Expr::Constant(_)) => {}
                    None => self.derive_any(all),
                }
            }
        }
    }

    /// A table that a method changes in place.
    pub(super) fn in_place(
        &mut self,
        on: &Value<'a>,
        method: &str,
        x: &ast::ExprCall,
        value: Value<'a>,
    ) -> Value<'a> {
        let inplace = x
            .keywords
            .iter()
            .any(|k| k.arg.as_ref().is_none_or(|a| a.as_str() == "inplace"));
        if inplace {
            if !super::words::IN_PLACE.contains(&method) {
                self.opens();
            }
            self.put(&on.sites, &value);
        }
        value
    }
}
