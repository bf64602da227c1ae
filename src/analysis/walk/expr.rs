//! Expressions.

use super::target::bind;
use super::{Block, Bound, ExprPlace, Scope, TargetOf, Visitor};
use crate::analysis::parse::TextRange;
use crate::analysis::parse::ast::{
    self, Arguments, BoolOp, CmpOp, Comprehension, Expr, ExprContext, Operator, Ranged, UnaryOp,
};
use crate::policy::NodeKind;

/// Walks one expression and everything in it.
pub fn expression<'a, V: Visitor<'a> + ?Sized>(v: &mut V, e: &'a Expr, place: ExprPlace<'a>) {
    v.expression(e, place);
    let at = e.range();
    match e {
        Expr::BoolOp(x) => {
            v.node(NodeKind::BoolOp, at);
            v.node(bool_op(x.op), at);
            x.values
                .iter()
                .for_each(|e| expression(v, e, ExprPlace::Plain));
        }
        Expr::NamedExpr(x) => {
            v.node(NodeKind::NamedExpr, at);
            expression(v, &x.target, ExprPlace::Target);
            expression(v, &x.value, ExprPlace::Assigned);
            bind(v, &x.target, TargetOf::Assign, Bound::Value(&x.value));
        }
        Expr::BinOp(x) => {
            v.node(NodeKind::BinOp, at);
            v.node(operator(x.op), at);
            expression(v, &x.left, ExprPlace::Plain);
            expression(v, &x.right, ExprPlace::Plain);
        }
        Expr::UnaryOp(x) => {
            v.node(NodeKind::UnaryOp, at);
            v.node(unary_op(x.op), at);
            expression(v, &x.operand, ExprPlace::Plain);
        }
        Expr::Lambda(x) => {
            v.node(NodeKind::Lambda, at);
            outer_arguments(v, &x.args);
            v.enter(Scope::Function(&x.args));
            inner_arguments(v, &x.args);
            v.returns(&x.body);
            expression(v, &x.body, ExprPlace::Plain);
            v.leave();
        }
        Expr::IfExp(x) => {
            v.node(NodeKind::IfExp, at);
            expression(v, &x.test, ExprPlace::Compared);
            expression(v, &x.body, ExprPlace::Plain);
            expression(v, &x.orelse, ExprPlace::Plain);
        }
        Expr::Dict(x) => {
            v.node(NodeKind::Dict, at);
            for key in x.keys.iter().flatten() {
                expression(v, key, ExprPlace::Plain);
            }
            elements(v, &x.values, held(place));
        }
        Expr::Set(x) => {
            v.node(NodeKind::Set, at);
            elements(v, &x.elts, held(place));
        }
        Expr::ListComp(x) => {
            v.node(NodeKind::ListComp, at);
            comprehension(v, &x.generators, &[&x.elt], false);
        }
        Expr::SetComp(x) => {
            v.node(NodeKind::SetComp, at);
            comprehension(v, &x.generators, &[&x.elt], false);
        }
        Expr::DictComp(x) => {
            v.node(NodeKind::DictComp, at);
            comprehension(v, &x.generators, &[&x.key, &x.value], false);
        }
        Expr::GeneratorExp(x) => {
            v.node(NodeKind::GeneratorExp, at);
            comprehension(v, &x.generators, &[&x.elt], true);
        }
        Expr::Await(x) => {
            v.node(NodeKind::Await, at);
            expression(v, &x.value, ExprPlace::Plain);
        }
        Expr::Yield(x) => {
            v.node(NodeKind::Yield, at);
            if let Some(value) = &x.value {
                expression(v, value, ExprPlace::Plain);
            }
        }
        Expr::YieldFrom(x) => {
            v.node(NodeKind::YieldFrom, at);
            expression(v, &x.value, ExprPlace::Plain);
        }
        Expr::Compare(x) => {
            v.node(NodeKind::Compare, at);
            x.ops.iter().for_each(|op| v.node(cmp_op(*op), at));
            expression(v, &x.left, ExprPlace::Compared);
            for e in &x.comparators {
                expression(v, e, ExprPlace::Compared);
            }
        }
        Expr::Call(x) => {
            v.node(NodeKind::Call, at);
            expression(v, &x.func, ExprPlace::Called);
            for e in &x.args {
                expression(v, e, ExprPlace::Argument(x));
            }
            keywords(v, &x.keywords, ExprPlace::Keyword(x));
        }
        Expr::FormattedValue(x) => {
            v.node(NodeKind::FormattedValue, at);
            expression(v, &x.value, ExprPlace::Plain);
            if let Some(spec) = &x.format_spec {
                expression(v, spec, ExprPlace::Plain);
            }
        }
        Expr::JoinedStr(x) => {
            v.node(NodeKind::JoinedStr, at);
            x.values
                .iter()
                .for_each(|e| expression(v, e, ExprPlace::Plain));
        }
        Expr::Constant(_) => v.node(NodeKind::Constant, at),
        Expr::Attribute(x) => {
            v.node(NodeKind::Attribute, at);
            v.node(context(x.ctx), at);
            expression(v, &x.value, ExprPlace::AttributeOf);
        }
        Expr::Subscript(x) => {
            v.node(NodeKind::Subscript, at);
            v.node(context(x.ctx), at);
            // The parts of an annotation such as `dict[str, type]` are annotations too.
            let literal = last_name(&x.value) == Some("Literal");
            let inner = match place {
                ExprPlace::Annotation if !literal => ExprPlace::Annotation,
                ExprPlace::Annotation
                | ExprPlace::Plain
                | ExprPlace::Assigned
                | ExprPlace::AttributeOf
                | ExprPlace::Called
                | ExprPlace::Argument(_)
                | ExprPlace::Keyword(_)
                | ExprPlace::Decorator
                | ExprPlace::Base
                | ExprPlace::Target
                | ExprPlace::Compared => ExprPlace::Plain,
            };
            expression(v, &x.value, inner);
            expression(v, &x.slice, inner);
        }
        Expr::Starred(x) => {
            v.node(NodeKind::Starred, at);
            expression(v, &x.value, place);
        }
        Expr::Name(x) => {
            v.node(NodeKind::Name, at);
            v.node(context(x.ctx), at);
        }
        Expr::List(x) => {
            v.node(NodeKind::List, at);
            elements(v, &x.elts, place);
        }
        Expr::Tuple(x) => {
            v.node(NodeKind::Tuple, at);
            elements(v, &x.elts, place);
        }
        Expr::Slice(x) => {
            v.node(NodeKind::Slice, at);
            for e in [&x.lower, &x.upper, &x.step].into_iter().flatten() {
                expression(v, e, ExprPlace::Plain);
            }
        }
    }
}

/// Walks the keyword arguments.
pub(super) fn keywords<'a, V: Visitor<'a> + ?Sized>(
    v: &mut V,
    keywords: &'a [ast::Keyword],
    place: ExprPlace<'a>,
) {
    for keyword in keywords {
        v.node(NodeKind::keyword, keyword.range());
        if let Some(name) = &keyword.arg {
            v.keyword(name.as_str(), keyword.range());
        }
        expression(v, &keyword.value, place);
    }
}

/// Elements of a list or tuple inherit its place: target, annotation, or operand of a comparison.
/// `isinstance(x, (int, str))` also passes on its place as an argument.
fn elements<'a, V: Visitor<'a> + ?Sized>(v: &mut V, elements: &'a [Expr], place: ExprPlace<'a>) {
    let inner = match place {
        ExprPlace::Target
        | ExprPlace::Annotation
        | ExprPlace::Compared
        | ExprPlace::Argument(_)
        | ExprPlace::Assigned => place,
        ExprPlace::Plain
        | ExprPlace::AttributeOf
        | ExprPlace::Called
        | ExprPlace::Keyword(_)
        | ExprPlace::Decorator
        | ExprPlace::Base => ExprPlace::Plain,
    };
    elements.iter().for_each(|e| expression(v, e, inner));
}

/// The last name of `a.b.c`.
fn last_name(e: &Expr) -> Option<&str> {
    match e {
        Expr::Name(x) => Some(x.id.as_str()),
        Expr::Attribute(x) => Some(x.attr.as_str()),
        _ => None,
    }
}

/// The values in a dict or set that is assigned count as assigned.
fn held(place: ExprPlace<'_>) -> ExprPlace<'_> {
    if let ExprPlace::Assigned = place {
        place
    } else {
        ExprPlace::Plain
    }
}

fn comprehension<'a, V: Visitor<'a> + ?Sized>(
    v: &mut V,
    generators: &'a [Comprehension],
    results: &[&'a Expr],
    lazy: bool,
) {
    // The first iterable belongs to the enclosing scope.
    let Some(first) = generators.first() else {
        return;
    };
    iterable(v, &first.iter);
    v.enter(Scope::Comprehension {
        target: &first.target,
        waits: generators.iter().any(|g| g.is_async),
        lazy,
    });
    for (i, generator) in generators.iter().enumerate() {
        v.node(NodeKind::comprehension, generator.range());
        if i > 0 {
            iterable(v, &generator.iter);
        }
        super::target::target(
            v,
            &generator.target,
            TargetOf::Comprehension,
            Bound::ElementOf(&generator.iter),
        );
        for condition in &generator.ifs {
            expression(v, condition, ExprPlace::Compared);
        }
    }
    for result in results {
        expression(v, result, ExprPlace::Plain);
    }
    v.leave();
}

fn iterable<'a, V: Visitor<'a> + ?Sized>(v: &mut V, e: &'a Expr) {
    v.begin(Block::Iterable);
    expression(v, e, ExprPlace::Plain);
    v.end();
}

/// Walks an annotation, which Python may keep as text.
pub(super) fn annotation<'a, V: Visitor<'a> + ?Sized>(v: &mut V, e: &'a Expr, block: Block) {
    v.begin(block);
    expression(v, e, ExprPlace::Annotation);
    v.end();
}

/// Walks defaults and annotations, which are evaluated where the function is defined.
pub(super) fn outer_arguments<'a, V: Visitor<'a> + ?Sized>(v: &mut V, arguments: &'a Arguments) {
    v.node(NodeKind::arguments, arguments.range);
    let plain = arguments
        .posonlyargs
        .iter()
        .chain(&arguments.args)
        .chain(&arguments.kwonlyargs);
    for argument in plain {
        v.node(NodeKind::arg, argument.def.range());
        if let Some(e) = &argument.def.annotation {
            annotation(v, e, Block::Signature);
        }
        if let Some(default) = &argument.default {
            expression(v, default, ExprPlace::Assigned);
        }
    }
    for argument in [&arguments.vararg, &arguments.kwarg].into_iter().flatten() {
        v.node(NodeKind::arg, argument.range());
        if let Some(e) = &argument.annotation {
            annotation(v, e, Block::Signature);
        }
    }
}

/// Binds the parameters inside the function.
pub(super) fn inner_arguments<'a, V: Visitor<'a> + ?Sized>(v: &mut V, arguments: &'a Arguments) {
    let positional = arguments.posonlyargs.iter().chain(&arguments.args);
    for (index, argument) in positional.enumerate() {
        let to = Bound::Parameter {
            function: arguments,
            index: Some(index),
            default: argument.default.as_deref(),
        };
        v.bind(argument.def.arg.as_str(), argument.def.range(), to);
    }
    for argument in &arguments.kwonlyargs {
        let to = Bound::Parameter {
            function: arguments,
            index: None,
            default: argument.default.as_deref(),
        };
        v.bind(argument.def.arg.as_str(), argument.def.range(), to);
    }
    for argument in [&arguments.vararg, &arguments.kwarg].into_iter().flatten() {
        let to = Bound::Rest(arguments);
        v.bind(argument.arg.as_str(), argument.range(), to);
    }
}

fn bool_op(op: BoolOp) -> NodeKind {
    match op {
        BoolOp::And => NodeKind::And,
        BoolOp::Or => NodeKind::Or,
    }
}

/// CPython's name for a binary operator.
pub(super) fn operator(op: Operator) -> NodeKind {
    match op {
        Operator::Add => NodeKind::Add,
        Operator::Sub => NodeKind::Sub,
        Operator::Mult => NodeKind::Mult,
        Operator::MatMult => NodeKind::MatMult,
        Operator::Div => NodeKind::Div,
        Operator::Mod => NodeKind::Mod,
        Operator::Pow => NodeKind::Pow,
        Operator::LShift => NodeKind::LShift,
        Operator::RShift => NodeKind::RShift,
        Operator::BitOr => NodeKind::BitOr,
        Operator::BitXor => NodeKind::BitXor,
        Operator::BitAnd => NodeKind::BitAnd,
        Operator::FloorDiv => NodeKind::FloorDiv,
    }
}

fn unary_op(op: UnaryOp) -> NodeKind {
    match op {
        UnaryOp::Invert => NodeKind::Invert,
        UnaryOp::Not => NodeKind::Not,
        UnaryOp::UAdd => NodeKind::UAdd,
        UnaryOp::USub => NodeKind::USub,
    }
}

fn cmp_op(op: CmpOp) -> NodeKind {
    match op {
        CmpOp::Eq => NodeKind::Eq,
        CmpOp::NotEq => NodeKind::NotEq,
        CmpOp::Lt => NodeKind::Lt,
        CmpOp::LtE => NodeKind::LtE,
        CmpOp::Gt => NodeKind::Gt,
        CmpOp::GtE => NodeKind::GtE,
        CmpOp::Is => NodeKind::Is,
        CmpOp::IsNot => NodeKind::IsNot,
        CmpOp::In => NodeKind::In,
        CmpOp::NotIn => NodeKind::NotIn,
    }
}

fn context(context: ExprContext) -> NodeKind {
    match context {
        ExprContext::Load => NodeKind::Load,
        ExprContext::Store => NodeKind::Store,
        ExprContext::Del => NodeKind::Del,
    }
}

/// Walks type parameters (PEP 695), whose bounds are evaluated lazily.
pub(super) fn type_parameters<'a, V: Visitor<'a> + ?Sized>(
    v: &mut V,
    parameters: &'a [ast::TypeParam],
) {
    for parameter in parameters {
        let at: TextRange = parameter.range();
        match parameter {
            ast::TypeParam::TypeVar(p) => {
                v.node(NodeKind::TypeVar, at);
                v.bind(p.name.as_str(), at, Bound::Something);
                if let Some(bound) = &p.bound {
                    expression(v, bound, ExprPlace::Annotation);
                }
            }
            ast::TypeParam::ParamSpec(p) => {
                v.node(NodeKind::ParamSpec, at);
                v.bind(p.name.as_str(), at, Bound::Something);
            }
            ast::TypeParam::TypeVarTuple(p) => {
                v.node(NodeKind::TypeVarTuple, at);
                v.bind(p.name.as_str(), at, Bound::Something);
            }
        }
    }
}
