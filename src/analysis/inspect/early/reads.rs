//! The names that expressions, targets and patterns read and bind.

use super::{All, Frame, Later};
use crate::analysis::fold::fold;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{Comprehension, Expr, ExprContext, Pattern};

impl<'a> Frame<'a> {
    pub(super) fn target(&mut self, all: &mut All<'a>, e: &'a Expr) {
        match e {
            Expr::Name(name) => self.bind(name.id.as_str(), name.range, Later::Assigned),
            Expr::Tuple(x) => x.elts.iter().for_each(|e| self.target(all, e)),
            Expr::List(x) => x.elts.iter().for_each(|e| self.target(all, e)),
            Expr::Starred(x) => self.target(all, &x.value),
            Expr::Attribute(x) => self.expression(all, &x.value),
            Expr::Subscript(x) => {
                self.expression(all, &x.value);
                self.expression(all, &x.slice);
            }
            e => self.expression(all, e),
        }
    }

    pub(super) fn pattern(&mut self, all: &mut All<'a>, p: &'a Pattern) {
        match p {
            Pattern::MatchValue(x) => self.expression(all, &x.value),
            Pattern::MatchSingleton(_) => {}
            Pattern::MatchSequence(x) => x.patterns.iter().for_each(|p| self.pattern(all, p)),
            Pattern::MatchMapping(x) => {
                self.all(all, &x.keys);
                x.patterns.iter().for_each(|p| self.pattern(all, p));
                if let Some(rest) = &x.rest {
                    self.bind(rest.as_str(), x.range, Later::Assigned);
                }
            }
            Pattern::MatchClass(x) => {
                self.expression(all, &x.cls);
                let parts = x.patterns.iter().chain(&x.kwd_patterns);
                parts.for_each(|p| self.pattern(all, p));
            }
            Pattern::MatchStar(x) => {
                if let Some(name) = &x.name {
                    self.bind(name.as_str(), x.range, Later::Assigned);
                }
            }
            Pattern::MatchAs(x) => {
                if let Some(inner) = &x.pattern {
                    self.pattern(all, inner);
                }
                if let Some(name) = &x.name {
                    self.bind(name.as_str(), x.range, Later::Assigned);
                }
            }
            Pattern::MatchOr(x) => x.patterns.iter().for_each(|p| self.pattern(all, p)),
        }
    }

    pub(super) fn all(&mut self, all: &mut All<'a>, expressions: &'a [Expr]) {
        expressions.iter().for_each(|e| self.expression(all, e));
    }

    pub(super) fn some(&mut self, all: &mut All<'a>, e: Option<&'a Expr>) {
        if let Some(e) = e {
            self.expression(all, e);
        }
    }

    pub(super) fn expression(&mut self, all: &mut All<'a>, e: &'a Expr) {
        match e {
            Expr::Name(name) if name.ctx == ExprContext::Load => {
                self.read(name.id.as_str(), name.range);
            }
            Expr::Name(_) | Expr::Constant(_) => {}
            Expr::BoolOp(x) => {
                if let Some((first, later)) = x.values.split_first() {
                    self.expression(all, first);
                    self.branch(|f| f.all(all, later));
                }
            }
            Expr::NamedExpr(x) => {
                self.expression(all, &x.value);
                self.target(all, &x.target);
            }
            Expr::BinOp(x) => {
                self.expression(all, &x.left);
                self.expression(all, &x.right);
            }
            Expr::UnaryOp(x) => self.expression(all, &x.operand),
            // The body runs only when the lambda is called.
            Expr::Lambda(x) => self.defaults(all, &x.args),
            Expr::IfExp(x) => {
                self.expression(all, &x.test);
                self.branch(|f| {
                    f.expression(all, &x.body);
                    f.expression(all, &x.orelse);
                });
            }
            Expr::Dict(x) => {
                for (key, value) in x.keys.iter().zip(&x.values) {
                    self.some(all, key.as_ref());
                    self.expression(all, value);
                }
            }
            Expr::Set(x) => self.all(all, &x.elts),
            Expr::List(x) => self.all(all, &x.elts),
            Expr::Tuple(x) => self.all(all, &x.elts),
            Expr::ListComp(x) => self.comprehension(all, &x.generators, &[&x.elt], x.range, false),
            Expr::SetComp(x) => self.comprehension(all, &x.generators, &[&x.elt], x.range, false),
            Expr::DictComp(x) => {
                self.comprehension(all, &x.generators, &[&x.key, &x.value], x.range, false);
            }
            Expr::GeneratorExp(x) => {
                self.comprehension(all, &x.generators, &[&x.elt], x.range, true);
            }
            Expr::Await(x) => self.expression(all, &x.value),
            Expr::Yield(x) => self.some(all, x.value.as_deref()),
            Expr::YieldFrom(x) => self.expression(all, &x.value),
            Expr::Compare(x) => {
                self.expression(all, &x.left);
                if let Some((first, later)) = x.comparators.split_first() {
                    self.expression(all, first);
                    self.branch(|f| f.all(all, later));
                }
            }
            Expr::Call(x) => {
                self.expression(all, &x.func);
                self.all(all, &x.args);
                x.keywords
                    .iter()
                    .for_each(|k| self.expression(all, &k.value));
            }
            Expr::FormattedValue(x) => {
                self.expression(all, &x.value);
                self.some(all, x.format_spec.as_deref());
            }
            Expr::JoinedStr(x) => self.all(all, &x.values),
            Expr::Attribute(x) => self.expression(all, &x.value),
            Expr::Subscript(x) => {
                self.expression(all, &x.value);
                self.expression(all, &x.slice);
            }
            Expr::Starred(x) => self.expression(all, &x.value),
            Expr::Slice(x) => {
                for part in [&x.lower, &x.upper, &x.step] {
                    self.some(all, part.as_deref());
                }
            }
        }
    }

    fn comprehension(
        &mut self,
        all: &mut All<'a>,
        generators: &'a [Comprehension],
        results: &[&'a Expr],
        at: TextRange,
        lazy: bool,
    ) {
        let Some(first) = generators.first() else {
            return;
        };
        self.expression(all, &first.iter);
        let shadows = self.shadows.len();
        // A generator runs only when it is iterated.
        self.quietly(lazy, |f| {
            f.round(at, |f| {
                f.passed = f.loops.len();
                // A comprehension's target is local in the whole comprehension.
                generators.iter().for_each(|g| f.shadow(&g.target));
                for (i, generator) in generators.iter().enumerate() {
                    if i > 0 {
                        f.expression(all, &generator.iter);
                    }
                    f.all(all, &generator.ifs);
                }
                results.iter().for_each(|e| f.expression(all, e));
            });
        });
        self.shadows.truncate(shadows);
    }

    fn shadow(&mut self, e: &'a Expr) {
        match e {
            Expr::Name(name) => self.shadows.push(fold(name.id.as_str())),
            Expr::Tuple(x) => x.elts.iter().for_each(|e| self.shadow(e)),
            Expr::List(x) => x.elts.iter().for_each(|e| self.shadow(e)),
            Expr::Starred(x) => self.shadow(&x.value),
            _ => {}
        }
    }
}
