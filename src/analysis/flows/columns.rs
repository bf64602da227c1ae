//! What columns of tables are made of, by their names.

use super::Pass;
use super::value::{SINGLE, Value, WHOLE};

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
}
