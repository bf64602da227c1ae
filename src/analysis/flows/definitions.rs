//! Definitions of functions and classes.

use super::Pass;
use super::functions::Body;
use super::value::{PLAIN, TABLE, Value};
use crate::analysis::parse::ast::{self, Expr, Stmt};

impl<'a> Pass<'a> {
    pub(super) fn definition(
        &mut self,
        range: crate::analysis::parse::TextRange,
        name: &'a ast::Identifier,
        args: &'a ast::Arguments,
        body: &'a [Stmt],
        decorators: &'a [Expr],
    ) {
        let at = range.start().to_usize();
        let id = self.function(at, args, Body::Statements(body));
        let value = Value {
            funcs: vec![id],
            ..Value::default()
        };
        let value = self.decorated(value, decorators, at);
        self.bind_name(name.as_str(), value);
    }

    pub(super) fn class(&mut self, x: &'a ast::StmtClassDef) {
        let mut value = Value::default();
        for e in x.bases.iter().chain(x.keywords.iter().map(|k| &k.value)) {
            let base = self.eval(e);
            value = value.and(&base);
        }
        self.own_any = true;
        self.frames.push(super::functions::Frame {
            inner: true,
            ..Default::default()
        });
        self.body(&x.body);
        let frame = self.frames.pop().unwrap_or_default();
        let names: Vec<(&str, bool)> = frame
            .names
            .iter()
            .map(|(name, bound)| (&**name, !bound.funcs.is_empty()))
            .collect();
        self.implicit(x, &names);
        let site = super::number(x.range.start().to_usize());
        self.classes.insert(site);
        for (name, bound) in frame.names {
            self.of_classes.extend(&bound.funcs);
            self.put(&[site], &bound.held().without(PLAIN | TABLE));
            if &*name == "__init__" || &*name == "__post_init__" {
                value.funcs.extend(&bound.funcs);
                self.makers.extend(&bound.funcs);
            }
            if !bound.funcs.is_empty() {
                self.methods
                    .entry(name.clone())
                    .or_default()
                    .extend(&bound.funcs);
            }
            self.store_attr(name, &bound);
        }
        let value = value.and(&Self::made(x.range.start().to_usize()));
        let value = self.decorated(value, &x.decorator_list, site as usize);
        self.bind_name(x.name.as_str(), value);
    }
}
