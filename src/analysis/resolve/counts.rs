//! How often names are read, and how often of that behind `*` or `**` of a call.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::analysis::fold::fold;
use crate::analysis::parse::ast::{self, Expr};

#[derive(Default)]
pub struct Counts<'a> {
    reads: HashMap<Cow<'a, str>, (usize, usize)>,
}

impl<'a> Counts<'a> {
    pub(super) fn read(&mut self, name: &'a str) {
        self.reads.entry(fold(name)).or_default().0 += 1;
    }

    pub(super) fn unpacked_by(&mut self, call: &'a ast::ExprCall) {
        let starred = call.args.iter().filter_map(|e| match e {
            Expr::Starred(x) => Some(&*x.value),
            _ => None,
        });
        let doubly = call.keywords.iter().filter(|k| k.arg.is_none());
        for unpacked in starred.chain(doubly.map(|k| &k.value)) {
            if let Expr::Name(name) = unpacked {
                self.reads.entry(fold(name.id.as_str())).or_default().1 += 1;
            }
        }
    }

    /// Whether every read of the name unpacks it into a call: nothing else sees what it holds.
    pub fn is_only_unpacked(&self, name: &str) -> bool {
        let reads = self.reads.get(name);
        reads.is_some_and(|(all, unpacked)| all == unpacked)
    }
}
