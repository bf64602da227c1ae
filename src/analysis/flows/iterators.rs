//! Iterators: what is left of one says how far it was drawn, and so what it was drawn for.

use super::Pass;
use super::functions::Given;
use super::value::{DRAWN, FIGURES, MASK, PLAIN, SINGLE, TABLE, Value, WHOLE};
use crate::analysis::parse::ast::{self, Expr};
use crate::analysis::walk::{ExprPlace, Visitor, expression};

/// Functions of Python that make iterators.
pub(super) const ITERATORS: &[&str] = &["enumerate", "filter", "iter", "map", "reversed", "zip"];
/// Methods that do.
pub(super) const ITERATING: &[&str] = &[
    "finditer",
    "glob",
    "imap",
    "iterdir",
    "iterrows",
    "items",
    "itertuples",
    "map",
    "rglob",
    "scandir",
];

impl<'a> Pass<'a> {
    /// `v in it`: it is drawn until the value comes.
    pub(super) fn draws_until(&mut self, it: &Value<'a>, value: &Value<'a>) {
        if it.is_drawn() && !value.is_bare() {
            self.put(&it.reached(), &value.drawing());
        }
    }

    /// A call that is given iterators draws them as often as another argument is long. `until`: what functions that it
    /// calls gave back.
    pub(super) fn draws_with(&mut self, given: &Given<'a>, until: &Value<'a>) {
        let words = given.keywords.iter().map(|(_, v)| v);
        let each = given.positional.iter().chain(words).chain(&given.rest);
        let each: Vec<&Value<'a>> = each.collect();
        if !each.iter().any(|v| v.is_drawn()) {
            return;
        }
        let mut by = until.clone();
        for value in each.iter().filter(|v| v.has(SINGLE) && !v.is_bare()) {
            by = by.and(&value.held());
        }
        if by.is_bare() {
            return;
        }
        let drawn = each.iter().filter(|v| v.is_drawn() && !v.covers(&by));
        let sites: Vec<u32> = drawn.flat_map(|v| v.reached()).collect();
        self.put(&sites, &by.drawing());
    }

    /// What a generator does beside its values is done as often as these say.
    pub(super) fn ends_by(
        &mut self,
        until: &Value<'a>,
        generators: &'a [ast::Comprehension],
        value: &'a Expr,
    ) {
        let tests = || generators.iter().flat_map(|part| &part.ifs);
        if until.is_bare() || !(acts(value) || tests().any(acts)) {
            return;
        }
        self.counting(until, |pass| {
            tests().for_each(|test| drop(pass.eval(test)));
            pass.eval(value);
        });
    }

    /// An iterator that draws from others.
    pub(super) fn looks_at(&mut self, value: Value<'a>, drawn: &[u32], at: usize) -> Value<'a> {
        let site = super::number(at);
        let known = self.views.entry(site).or_default();
        for of in drawn.iter().filter(|of| **of != site) {
            if !known.contains(of) {
                known.push(*of);
            }
        }
        value.with(DRAWN)
    }

    /// Something is drawn: functions among it are called for labels and ticks, with what the figure holds.
    pub(super) fn draws_by(&mut self, all: &Value<'a>) {
        let mut put = all.held().without(PLAIN);
        put.funcs.clone_from(&all.funcs);
        if !all.funcs.is_empty() {
            let reached = self.whole(&Self::figures()).and(&all.held());
            let gives = self.hand_over(all, &reached.held());
            put = put.and(&gives.held().without(PLAIN));
        }
        self.put(&[FIGURES], &put);
    }
}

impl Value<'_> {
    /// Whether it may be an iterator.
    pub(super) fn is_drawn(&self) -> bool {
        self.has(DRAWN) || !self.files.is_empty()
    }

    /// The same, as what an iterator was drawn for.
    pub(super) fn drawing(&self) -> Self {
        let out = self.told().held();
        out.without(PLAIN | TABLE | MASK | WHOLE).single()
    }
}

/// Whether an expression may do more than give a value.
fn acts(e: &Expr) -> bool {
    struct Search(bool);
    impl<'a> Visitor<'a> for Search {
        fn expression(&mut self, e: &'a Expr, _place: ExprPlace<'a>) {
            self.0 |= e.is_call_expr() || e.is_named_expr_expr();
        }
    }
    let mut search = Search(false);
    expression(&mut search, e, ExprPlace::Plain);
    search.0
}
