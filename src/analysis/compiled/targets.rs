//! Checks of assignment targets, starred expressions, arguments and parameters.

use std::collections::HashSet;

use super::Compiler;
use crate::analysis::fold::fold;
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{
    Arguments, Expr, ExprContext, ExprStarred, Keyword, Ranged, StmtAnnAssign, StmtAugAssign,
};

impl<'a> Compiler<'a, '_> {
    /// Refuses an assignment to an expression that is no target.
    pub(super) fn target(&mut self, e: &'a Expr) {
        match e {
            Expr::Name(_)
            | Expr::Attribute(_)
            | Expr::Subscript(_)
            | Expr::Starred(_)
            | Expr::Tuple(_)
            | Expr::List(_) => {}
            Expr::BoolOp(_)
            | Expr::NamedExpr(_)
            | Expr::BinOp(_)
            | Expr::UnaryOp(_)
            | Expr::Lambda(_)
            | Expr::IfExp(_)
            | Expr::Dict(_)
            | Expr::Set(_)
            | Expr::ListComp(_)
            | Expr::SetComp(_)
            | Expr::DictComp(_)
            | Expr::GeneratorExp(_)
            | Expr::Await(_)
            | Expr::Yield(_)
            | Expr::YieldFrom(_)
            | Expr::Compare(_)
            | Expr::Call(_)
            | Expr::FormattedValue(_)
            | Expr::JoinedStr(_)
            | Expr::Constant(_)
            | Expr::Slice(_) => self.refuse(e.range(), "assigns to an expression"),
        }
    }

    /// Augmented assignments such as `+=` must have a single target.
    pub(super) fn augmented(&mut self, x: &'a StmtAugAssign) {
        if several(&x.target) {
            self.refuse(
                x.target.range(),
                "an assignment such as += to several targets",
            );
        }
    }

    /// An annotation must have a single target.
    pub(super) fn annotated(&mut self, x: &'a StmtAnnAssign) {
        match &*x.target {
            // In parentheses it is no plain name: `(x): int` binds nothing.
            Expr::Name(name) if name.range().start() == x.range().start() => {
                self.annotated_name(name);
            }
            Expr::Attribute(attribute) if x.value.is_none() => {
                self.debug(attribute.attr.as_str(), attribute.range());
            }
            target if several(target) => {
                self.refuse(target.range(), "an annotation of several targets");
            }
            _ => {}
        }
    }

    /// Checks a list or tuple, which may contain starred expressions; as a target, only one.
    pub(super) fn elements(&mut self, elements: &'a [Expr], context: ExprContext) {
        self.room(elements);
        let mut stars = elements.iter().filter(|e| e.is_starred_expr());
        if context == ExprContext::Store
            && let Some(second) = stars.nth(1)
        {
            self.refuse(second.range(), "two starred targets");
        }
    }

    /// Allows each starred expression among these elements.
    pub(super) fn room(&mut self, elements: &'a [Expr]) {
        self.stars += elements.iter().filter(|e| e.is_starred_expr()).count();
    }

    pub(super) fn starred(&mut self, x: &'a ExprStarred) {
        if x.ctx == ExprContext::Del {
            self.refuse(x.range(), "deletes what is starred");
        }
        match self.stars.checked_sub(1) {
            Some(left) => self.stars = left,
            None if self.inside().skipped => {}
            None => self.refuse(x.range(), "a starred expression alone"),
        }
    }

    /// Checks the arguments of a call or the bases of a class: each name at most once, and a bare
    /// generator only among at most `alone` arguments.
    pub(super) fn arguments(
        &mut self,
        plain: &'a [Expr],
        keywords: &'a [Keyword],
        around: TextRange,
        alone: usize,
    ) {
        // The parser compares names as written, Python compares them normalized.
        let mut names = keywords.iter().filter_map(|k| k.arg.as_ref());
        if names.any(|name| !name.is_ascii()) {
            let mut seen = HashSet::new();
            for keyword in keywords {
                if let Some(name) = &keyword.arg
                    && !seen.insert(fold(name.as_str()))
                {
                    self.refuse(keyword.range(), format!("two arguments `{name}`"));
                }
            }
        }
        for e in plain.iter().filter(|e| e.is_generator_exp_expr()) {
            let written = self.text.get(std::ops::Range::<usize>::from(e.range()));
            let bare = written.is_some_and(|text| !text.starts_with('(') || !text.ends_with(')'));
            let behind = usize::from(e.range().end())..usize::from(around.end());
            let comma = self.text.get(behind).unwrap_or_default().trim_start();
            if bare && (plain.len() + keywords.len() > alone || comma.starts_with(',')) {
                self.refuse(
                    e.range(),
                    "a generator beside other arguments, without brackets",
                );
            }
        }
    }

    /// Refuses `def f(*, **k)`, whose `*` precedes no parameter. The tree omits the `*`, so search
    /// the text.
    fn bare_star(&mut self, arguments: &'a Arguments) {
        let (Some(kwarg), None, []) = (&arguments.kwarg, &arguments.vararg, &*arguments.kwonlyargs)
        else {
            return;
        };
        let plain = arguments.posonlyargs.iter().chain(&arguments.args).last();
        let start = plain.map_or(arguments.range.start(), |a| {
            let last = a.default.as_ref().or(a.def.annotation.as_ref());
            last.map_or(a.def.range().end(), |e| e.range().end())
        });
        let gap = usize::from(start)..usize::from(kwarg.range().start());
        let gap = self.text.get(gap).unwrap_or_default();
        let stars: usize = uncommented(gap).map(|part| part.matches('*').count()).sum();
        // Two of them belong to `**k` itself.
        if stars > 2 {
            self.refuse(kwarg.range(), "a bare `*` without a parameter behind it");
        }
    }

    /// Refuses duplicate parameters.
    pub(super) fn parameters(&mut self, arguments: &'a Arguments) {
        let mut seen = HashSet::new();
        let plain = arguments
            .posonlyargs
            .iter()
            .chain(&arguments.args)
            .chain(&arguments.kwonlyargs)
            .map(|a| &a.def);
        let rest = [&arguments.vararg, &arguments.kwarg].into_iter().flatten();
        for argument in plain.chain(rest.map(|a| &**a)) {
            if !seen.insert(fold(argument.arg.as_str())) {
                let name = argument.arg.to_string();
                self.refuse(argument.range(), format!("two parameters `{name}`"));
            }
        }
        self.bare_star(arguments);
        let rest = arguments
            .vararg
            .iter()
            .filter_map(|a| a.annotation.as_deref());
        self.stars += rest.filter(|e| e.is_starred_expr()).count();
    }
}

/// The text without its comments.
fn uncommented(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(|line| line.split('#').next().unwrap_or(line))
}

/// Whether the target unpacks the value into parts.
fn several(target: &Expr) -> bool {
    target.is_tuple_expr() || target.is_list_expr() || target.is_starred_expr()
}
