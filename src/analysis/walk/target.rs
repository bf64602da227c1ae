//! Targets: what an assignment, loop, `with` or walrus binds.

use super::expr::expression;
use super::{Bound, ExprPlace, Step, TargetOf, Visitor, Way};
use crate::analysis::parse::ast::{Expr, Ranged};

/// Walks a target and binds the names in it.
pub(super) fn target<'a, V: Visitor<'a> + ?Sized>(
    v: &mut V,
    target: &'a Expr,
    of: TargetOf,
    to: Bound<'a>,
) {
    expression(v, target, ExprPlace::Target);
    bind(v, target, of, to);
}

/// Binds the names in a target without walking it again.
pub(super) fn bind<'a, V: Visitor<'a> + ?Sized>(
    v: &mut V,
    target: &'a Expr,
    of: TargetOf,
    to: Bound<'a>,
) {
    match target {
        Expr::Name(name) => v.bind(name.id.as_str(), name.range(), to),
        Expr::Attribute(attribute) => v.store_attribute(attribute, of, to),
        Expr::Subscript(subscript) => v.store_item(subscript, of, to),
        Expr::Starred(starred) => bind(v, &starred.value, of, to),
        Expr::Tuple(tuple) => each(v, &tuple.elts, of, to),
        Expr::List(list) => each(v, &list.elts, of, to),
        // The parser accepts these as targets, CPython refuses them.
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
        | Expr::Slice(_) => {}
    }
}

fn each<'a, V: Visitor<'a> + ?Sized>(v: &mut V, targets: &'a [Expr], of: TargetOf, to: Bound<'a>) {
    // `a, b = x, y` is paired up; otherwise each name gets a part of the value.
    if let Bound::Value(Expr::Tuple(values)) = to
        && values.elts.len() == targets.len()
        && !targets
            .iter()
            .chain(&values.elts)
            .any(Expr::is_starred_expr)
    {
        for (target, value) in targets.iter().zip(&values.elts) {
            bind(v, target, of, Bound::Value(value));
        }
        return;
    }
    let starred = targets.iter().position(Expr::is_starred_expr);
    for (index, target) in targets.iter().enumerate() {
        // Targets after a starred one have no fixed index.
        let known = starred.is_none_or(|at| index < at);
        bind(v, target, of, part(to, known.then_some(index)));
    }
}

/// The part of a value that one of several targets gets: the element at its index, if known.
fn part(to: Bound<'_>, index: Option<usize>) -> Bound<'_> {
    let (value, way) = match to {
        Bound::Value(value) | Bound::With(value) => (value, index.map(Step::Index).map(Way::new)),
        Bound::ElementOf(value) => {
            let element = Way::new(Step::Element);
            (value, index.and_then(|i| element.then(Step::Index(i))))
        }
        Bound::Part(value, way) => (value, index.and_then(|i| way.then(Step::Index(i)))),
        Bound::Within(value) | Bound::Capture(value) => (value, None),
        Bound::Deleted => return Bound::Deleted,
        Bound::Gains(_)
        | Bound::Module(_)
        | Bound::Member { .. }
        | Bound::Function(_)
        | Bound::Class(_)
        | Bound::Parameter { .. }
        | Bound::Rest(_)
        | Bound::Exception
        | Bound::Something => return Bound::Something,
    };
    way.map_or(Bound::Within(value), |way| Bound::Part(value, way))
}
